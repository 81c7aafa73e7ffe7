/* hold.c -- who holds a blob, and what becomes of it. [W9] [W10] */
#include <errno.h>
#include <unistd.h>

#include "blobs/kit.h"
#include "harness/fault_io.h"
#include "kit/replayed.h"

TEST_PARAMS(blob_hold, "memory", "sqlite")

#define HELLO "hello\n"
#define HELLO_ID "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

static const char *of(const valise_id *id, const char *hold)
{
    return test_format("{\"blob\":\"%s\",\"hold\":\"%s\"}", vls_id_hex(id).s, hold);
}

/* register: hash, create or count up; the id is what sha256sum prints. [K1] */
TEST(blob_hold, register_makes_a_record_or_counts_up)
{
    valise *v = desk_open(t);
    const char *answer =
        desk_run(t, v, "blob:register", "{\"data\":\"aGVsbG8K\",\"filename\":\"hello.txt\"}");

    CHECK_TEXT("{\"count\":1,\"filename\":\"hello.txt\",\"mediaType\":\"text/plain\",\"sha256\":"
               "\"" HELLO_ID "\",\"size\":6,\"taken\":true}",
               answer);
    answer = desk_run(t, v, "blob:register", "{\"data\":\"aGVsbG8K\"}"); /* the same hold */
    CHECK(strstr(answer, "\"count\":1") && strstr(answer, "\"taken\":false"));
    answer = desk_run(t, v, "blob:register", "{\"data\":\"aGVsbG8K\",\"hold\":\"b\"}");
    CHECK(strstr(answer, "\"count\":2") && strstr(answer, "\"taken\":true"));
    CHECK_INT(1, (int)desk_count_files(t, v));
    answer = desk_run(t, v, "blob:list", NULL);
    CHECK(strstr(answer, "\"count\":2") && strstr(answer, "\"filename\":\"hello.txt\"") &&
          strstr(answer, "\"mediaType\":\"text/plain\"") && strstr(answer, "\"size\":6"));
    desk_validate(t, v);
}

/* retain and release act on the caller's hold, `manual` where none is named, once per hold; the
 * file goes with the last. */
TEST(blob_hold, release_counts_down_and_purges_at_zero)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, HELLO, NULL);
    const char *plain = test_format("{\"blob\":\"%s\"}", HELLO_ID);

    CHECK(strstr(desk_run(t, v, "blob:retain", plain), "\"taken\":false"));
    CHECK(strstr(desk_run(t, v, "blob:retain", of(&id, "b")), "\"count\":2"));
    CHECK(strstr(desk_run(t, v, "blob:retain", of(&id, "b")), "\"taken\":false"));
    CHECK(strstr(desk_run(t, v, "blob:show", plain), "\"holders\":[\"hold/b\",\"hold/manual\"]"));
    CHECK(strstr(desk_run(t, v, "blob:release", plain), "\"count\":1,\"released\":true"));
    CHECK(strstr(desk_run(t, v, "blob:release", plain), "\"count\":1,\"released\":false"));
    CHECK(desk_has_file(t, v, &id));
    CHECK(strstr(desk_run(t, v, "blob:release", of(&id, "b")), "\"count\":0,\"released\":true"));
    CHECK(!desk_has_file(t, v, &id));
    CHECK(strstr(desk_run(t, v, "blob:release", of(&id, "b")), "\"released\":false"));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:show", plain);
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:get", plain);
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:retain", plain);
    CHECK(strstr(t->err.message, HELLO_ID) && strstr(t->err.hint, "blob register"));
    CHECK(strstr(desk_run(t, v, "blob:list", NULL), "\"items\":[]"));
    desk_validate(t, v);
}

/* The same 5 MB manual with 100 holders is stored once, and goes with the last of them. */
TEST(blob_hold, a_hundred_holders_of_a_manual_store_it_once)
{
    valise *v = desk_open(t);
    char *bytes = test_alloc(MANUAL_BYTES);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    valise_blob_options o = VALISE_BLOB_OPTIONS_INIT;

    for (size_t i = 0; i < MANUAL_BYTES; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    for (int i = 0; i < 100; i++) {
        o.hold = test_format("session-%d", i);
        if (i < 3) /* with its bytes; then by its id */
            CHECK_OK(valise_blob_register_bytes(&told, v, vls_str(bytes, MANUAL_BYTES), &o, NULL,
                                                &t->err));
        else
            CHECK_INT(1, desk_hold(v, &told.sha256, o.hold, NULL, &t->err));
    }
    CHECK_INT(1, (int)desk_count_files(t, v));
    CHECK_INT(100, (int)desk_count(t, v, &told.sha256));
    for (int i = 0; i < 100; i++) {
        CHECK(desk_has_file(t, v, &told.sha256));
        CHECK_INT(1, desk_release(v, &told.sha256, test_format("session-%d", i), NULL, &t->err));
    }
    CHECK_INT(0, (int)desk_count_files(t, v));
    desk_validate(t, v);
}

/* A hash alone holds nothing: neither what nobody registered, nor a file that only a checkpoint
 * needs, or one that was put and not named. */
TEST(blob_hold, a_hash_opens_nobody_elses_file)
{
    valise *v = desk_open(t);
    valise_id id;

    CHECK_OK(vls_blobs_put_bytes(&id, v->blobs, VLS_STR("of a checkpoint"), &t->err));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:retain", of(&id, "mine"));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:get",
               test_format("{\"blob\":\"%s\"}", vls_id_hex(&id).s));
    /* Nor does what a caller says of it. */
    desk_fails(t, v, VALISE_E_NOT_FOUND, "desk:write",
               test_format("{\"name\":\"a\",\"blocks\":[{\"type\":\"image\",\"blob\":\"%s\"}],"
                           "\"blobs\":[{\"sha256\":\"%s\",\"size\":15}]}",
                           vls_id_hex(&id).s, vls_id_hex(&id).s));
    CHECK(desk_has_file(t, v, &id));
}

TEST(blob_hold, lists_are_filtered)
{
    valise *v = desk_open(t);

    desk_run(t, v, "blob:register",
             "{\"data\":\"JVBERi0xLjQK\",\"filename\":\"a.pdf\",\"hold\":\"x\"}");
    desk_run(t, v, "blob:register", "{\"data\":\"aGVsbG8K\",\"filename\":\"b.txt\"}");
    CHECK(!strstr(desk_run(t, v, "blob:list", "{\"mediaType\":\"application/*\"}"), "b.txt"));
    CHECK(strstr(desk_run(t, v, "blob:list", "{\"mediaType\":\"application/*\"}"), "a.pdf"));
    CHECK(!strstr(desk_run(t, v, "blob:list", "{\"filename\":\"*.txt\"}"), "a.pdf"));
    CHECK(!strstr(desk_run(t, v, "blob:list", "{\"hold\":\"x\"}"), "b.txt"));
    CHECK(strstr(desk_run(t, v, "blob:list", "{\"hold\":\"y\"}"), "\"items\":[]"));
}

TEST(blob_hold, providers_names_stay_with_the_record)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, HELLO, NULL);
    const char *answer;

    desk_run(t, v, "blob:record-file-id",
             test_format("{\"blob\":\"%s\",\"provider\":\"openai\",\"fileId\":\"f1\",\"expires\":"
                         "\"2027-01-02T03:04:05Z\"}",
                         HELLO_ID));
    desk_run(t, v, "blob:record-file-id",
             test_format("{\"blob\":\"%s\",\"provider\":\"other\",\"fileId\":\"f2\"}", HELLO_ID));
    desk_run(t, v, "blob:record-file-id",
             test_format("{\"blob\":\"%s\",\"provider\":\"openai\",\"fileId\":\"f3\"}", HELLO_ID));
    answer = desk_run(t, v, "blob:show", test_format("{\"blob\":\"%s\"}", HELLO_ID));
    CHECK_MSG(strstr(answer, "\"fileIds\":{\"openai\":{\"fileId\":\"f3\"},\"other\":{\"fileId\":"
                             "\"f2\"}}"),
              "%s", answer);
    desk_register(t, v, HELLO, "again"); /* keeps what is known */
    CHECK(strstr(desk_run(t, v, "blob:show", test_format("{\"blob\":\"%s\"}", HELLO_ID)), "f3"));
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err));
    CHECK_INT(1, desk_release(v, &id, "again", NULL, &t->err));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:record-file-id",
               test_format("{\"blob\":\"%s\",\"provider\":\"p\",\"fileId\":\"f\"}", HELLO_ID));
}

/* ---- purging: all ways on which a command runs ---- */

TEST(blob_hold, a_batch_purges_and_a_dry_run_does_not)
{
    valise *v = desk_open(t);
    valise_id a = desk_register(t, v, "a", NULL), b = desk_register(t, v, "b", NULL);
    valise_call dry = VALISE_CALL_INIT;
    const char *payloads[2] = {of(&a, "manual"), of(&b, "manual")};
    valise_command both[2] = {{VLS_STR("blob:release"), valise_str_of(payloads[0]), NULL},
                              {VLS_STR("blob:release"), valise_str_of(payloads[1]), NULL}};

    dry.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_dispatch_batch(NULL, v, both, 2, &dry, &t->err));
    CHECK_OK(valise_dispatch(NULL, v, "blob:release", payloads[0], &dry, &t->err));
    CHECK_INT(2, (int)desk_count_files(t, v));
    CHECK_OK(valise_dispatch_batch(NULL, v, both, 2, NULL, &t->err));
    CHECK_INT(0, (int)desk_count_files(t, v));
}

/* What one command of a batch lets go of and another one takes stays. */
TEST(blob_hold, what_is_taken_again_in_the_same_transaction_stays)
{
    valise *v = desk_open(t);
    valise_id a = desk_register(t, v, "a", NULL);
    const char *payloads[3] = {of(&a, "b"), of(&a, "manual"), of(&a, "b")};
    valise_command all[2] = {{VLS_STR("blob:retain"), valise_str_of(payloads[0]), NULL},
                             {VLS_STR("blob:release"), valise_str_of(payloads[1]), NULL}};

    CHECK_OK(valise_dispatch_batch(NULL, v, all, 2, NULL, &t->err));
    CHECK(desk_has_file(t, v, &a));
    CHECK_INT(1, (int)desk_count(t, v, &a));
    /* And a batch that fails purges nothing. */
    all[0] = (valise_command){VLS_STR("blob:release"), valise_str_of(payloads[2]), NULL};
    all[1] = (valise_command){VLS_STR("blob:retain"), valise_str_of(payloads[1]), NULL};
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch_batch(NULL, v, all, 2, NULL, &t->err));
    CHECK(desk_has_file(t, v, &a));
    desk_validate(t, v);
}

static int release_too(void *self, valise_pass *pass, valise_error *err)
{
    const valise_id *id = self;
    const char *payload = of(id, "manual");

    if (strcmp(valise_pass_op(pass)->name, "desk:write") != 0)
        return 0;
    return valise_pass_add(pass, true, "blob:release", valise_str_of(payload), VLS_STR(""), err);
}

TEST(blob_hold, what_middleware_adds_purges_too)
{
    valise_id id = {{0}};
    const valise_middleware m = {
        .size = sizeof(m), .name = "m", .before = release_too, .self = &id};
    const valise_middleware *const list[] = {&m, NULL};
    bool memory = strcmp(t->param, "memory") == 0;
    valise *v = desk_open_at(t, memory ? ":memory:" : desk_path(), list);

    id = desk_register(t, v, "a", NULL);
    CHECK(desk_has_file(t, v, &id));
    desk_run(t, v, "desk:write", "{\"name\":\"x\",\"blocks\":[{\"type\":\"text\",\"text\":\"\"}]}");
    CHECK(!desk_has_file(t, v, &id));
    valise_close(v);
}

/* The row of a checkpoint, or of any other collection, keeps the file. */
TEST(blob_hold, a_file_that_another_row_names_is_never_purged)
{
    valise *v;
    valise_id id;
    const char *big = test_format("%s/workspace/big.bin", test_tmpdir());
    FILE *f;

    if (strcmp(t->param, "memory") == 0)
        SKIP("checkpoints are of folders");
    v = desk_open(t);
    f = fopen(big, "w");
    CHECK(f);
    CHECK_INT(0, ftruncate(fileno(f), ((off_t)16 << 20) + 1)); /* larger ones are blobs */
    CHECK_INT(0, fclose(f));
    CHECK_OK(valise_tree_checkpoint(NULL, v, "one", NULL, NULL, &t->err));
    CHECK_INT(1, (int)desk_count_files(t, v));
    desk_run(t, v, "blob:register", test_format("{\"path\":\"%s\"}", big));
    CHECK_INT(1, (int)desk_count_files(t, v));
    desk_run(t, v, "blob:list", NULL);
    f = fopen(big, "r");
    CHECK(f);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    CHECK_OK(valise_blob_register_fd(&told, v, fileno(f), NULL, NULL, &t->err));
    CHECK_INT(0, fclose(f));
    id = told.sha256;
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err));
    CHECK(desk_has_file(t, v, &id)); /* the checkpoint's */
    CHECK(strstr(desk_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "\"blobs\":0"));
    CHECK_INT(0, unlink(big));
    CHECK_OK(valise_tree_restore(NULL, v, "one", NULL, NULL, &t->err));
    CHECK_INT(0, access(big, F_OK));
    desk_validate(t, v);
}

/* The purge fails: the command does not, those who listen hear of it, and gc takes the file. */
typedef struct heard {
    int count;
} heard;

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    heard *h = arg;

    (void)err;
    h->count += event->type.len == strlen("blob.left") &&
                memcmp(event->type.ptr, "blob.left", event->type.len) == 0;
    return 0;
}

TEST(blob_hold, a_file_that_cannot_go_is_left_to_gc)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, HELLO, NULL);
    valise_subscription *s = NULL;
    heard h = {0};
    valise_follow follow = {.size = sizeof(follow), .live = true, .fn = hear, .arg = &h};

    if (strcmp(t->param, "memory") == 0)
        SKIP("memory goes in any case");
    follow.filter.size = sizeof(follow.filter);
    CHECK_OK(valise_subscribe(&s, v, &follow, &t->err));
    fault_io_begin(&(fault_io_plan){
        .dir = desk_path(), .kinds = FAULT_UNLINK, .nth = 1, .onward = true, .error = EIO});
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err));
    fault_io_end();
    CHECK_INT(1, h.count);
    valise_unsubscribe(s);
    CHECK(desk_has_file(t, v, &id));
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:show", test_format("{\"blob\":\"%s\"}", HELLO_ID));
    desk_validate(t, v);
    CHECK(strstr(desk_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "\"blobs\":1"));
    CHECK(!desk_has_file(t, v, &id));
}

/* ---- the past ---- */

/* After a purge: the log is replayed to the same state, states of the past are seen without the
 * file, a bundle of everything is made and restored. */
TEST(blob_hold, the_past_of_a_blob_that_is_gone)
{
    valise *v = desk_open(t), *other;
    valise_id id = desk_register(t, v, HELLO, NULL), kept = desk_register(t, v, "kept", NULL);
    const char *bundle = test_format("%s/all.valise", test_tmpdir());
    valise_call then = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err));
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    then.at = VLS_STR("HEAD~1");
    reply = (valise_reply)VALISE_REPLY_INIT;
    then.at = VLS_STR("2");
    CHECK_OK(valise_dispatch(&reply, v, "blob:list", NULL, &then, &t->err));
    valise_reply_release(&reply);
    desk_run(t, v, "workspace:export", test_format("{\"file\":\"%s\"}", bundle));
    other = desk_open_at(t, test_format("%s/other", test_tmpdir()), NULL);
    desk_run(t, other, "workspace:import", test_format("{\"file\":\"%s\"}", bundle));
    CHECK_TEXT(state_of(t, v), state_of(t, other));
    CHECK(desk_has_file(t, other, &kept) && !desk_has_file(t, other, &id));
    desk_validate(t, other);
    CHECK_INT(1, desk_release(other, &kept, NULL, NULL, &t->err));
    CHECK(!desk_has_file(t, other, &kept));
    valise_close(other);
}

/* A clock that a progress callback is due at each step of. */
static int64_t hurry(void *self)
{
    static int64_t ticks;

    (void)self;
    return ticks += 1000000000;
}

/* Lets go of a blob in the middle of a stage, as another process may. */
typedef struct meddler {
    valise *v;
    valise_id id;
    const char *stage;
    int times;
    valise_error err;
} meddler;

static int meddle(void *arg, const valise_progress_state *state)
{
    meddler *m = arg;

    if (m->times > 0 && strcmp(state->stage, m->stage) == 0) {
        m->times--;
        CHECK_INT(1, desk_release(m->v, &m->id, NULL, NULL, &m->err));
    }
    return 0;
}

static void run_beside(test *t, meddler *m, const char *type, const char *payload)
{
    valise_call call = VALISE_CALL_INIT;

    call.progress = (valise_progress){meddle, m};
    CHECK_OK(valise_dispatch(NULL, m->v, type, payload, &call, &t->err));
    CHECK_INT(0, m->times);
    CHECK_TEXT("", t->err.message);
}

/* A blob that goes while a bundle is written is in none: it begins again. [K36] */
TEST(blob_hold, export_while_a_blob_goes)
{
    valise *v = desk_open(t),
           *other = desk_open_at(t, test_format("%s/other", test_tmpdir()), NULL);
    valise_id kept = desk_register(t, v, "kept", NULL);
    meddler m = {v, desk_register(t, v, HELLO, NULL), "look for what is needed", 1, {0}};
    const char *file = test_format("{\"file\":\"%s/all.valise\"}", test_tmpdir());

    run_beside(t, &m, "workspace:export", file);
    desk_run(t, other, "workspace:import", file);
    CHECK_TEXT(state_of(t, v), state_of(t, other));
    CHECK(desk_has_file(t, other, &kept) && !desk_has_file(t, other, &m.id));
    valise_close(other);
}

/* Nor does `validate` miss it. [K28] */
TEST(blob_hold, validate_while_a_blob_goes)
{
    const valise_env *usual = t->env;
    static valise_env hasty; /* as long as the handle */
    meddler m = {.stage = "look for blobs", .times = 1};

    hasty = *usual;
    hasty.ticks_ns = hurry;
    t->env = &hasty;
    m.v = desk_open(t);
    m.id = desk_register(t, m.v, HELLO, NULL);
    run_beside(t, &m, "workspace:validate", NULL);
    CHECK(!desk_has_file(t, m.v, &m.id));
    t->env = usual;
}

/* validate finds a record without a hold, and a hold without a record. */
static int drop_record(void *arg, vls_txn *txn, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_named(txn->store, VLS_STR("blob_hold"));
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc;

    (void)arg;
    rc = vls_txn_scan_open(&scan, txn, coll, (valise_range){.index = -1}, err);
    if (rc == 0)
        rc = vls_txn_scan_next(row, &scan, err);
    rc = rc > 0 ? vls_txn_del(txn, coll, row, err) : rc;
    return VLS_MIN(rc, 0);
}

TEST(blob_hold, validate_recounts)
{
    valise *v = desk_open(t);

    (void)desk_register(t, v, HELLO, NULL);
    desk_validate(t, v);
    CHECK_OK(vls_with_txn(v, drop_record, NULL, &t->err));
    CHECK_RC(VALISE_E_CORRUPT, valise_dispatch(NULL, v, "workspace:validate", NULL, NULL, &t->err));
    desk_run(t, v, "blob:retain", test_format("{\"blob\":\"%s\"}", HELLO_ID)); /* as it says */
    CHECK(!strstr(desk_run(t, v, "blob:show", test_format("{\"blob\":\"%s\"}", HELLO_ID)),
                  "\"count\":0"));
}

/* A reader may read: no more. */
TEST(blob_hold, rights)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, HELLO, NULL);
    valise_call call = VALISE_CALL_INIT;
    size_t files;

    desk_run(t, v, "agent:add", "{\"id\":\"eve\",\"role\":\"reader\"}");
    call.actor = VLS_STR("eve");
    CHECK_OK(valise_dispatch(NULL, v, "blob:list", NULL, &call, &t->err));
    files = desk_count_files(t, v);
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, v, "blob:register", "{\"data\":\"aGE=\"}", &call, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, v, "blob:release", of(&id, "manual"), &call, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, v, "desk:write",
                             "{\"name\":\"a\",\"blocks\":[{\"type\":\"image\",\"data\":\"aGE=\"}]}",
                             &call, &t->err));
    CHECK_INT((int)files, (int)desk_count_files(t, v)); /* nothing was written for eve */
}

/* As every callback. */
static int take_first(void *arg, const valise_blob_info *info, valise_error *err)
{
    int *says = arg;

    (void)info;
    return *says < 0 ? vls_fail(err, *says, "not this one") : *says;
}

TEST(blob_hold, who_gets_a_list_can_end_it)
{
    valise *v = desk_open(t);
    int found = 4, fails = VALISE_E_LIMIT;

    CHECK_OK(valise_blob_register_bytes(NULL, v, VLS_STR("a"), NULL, NULL, &t->err));
    CHECK_INT(4, valise_blob_list(v, NULL, take_first, &found, NULL, &t->err));
    CHECK_RC(VALISE_E_LIMIT, valise_blob_list(v, NULL, take_first, &fails, NULL, &t->err));
    CHECK_TEXT("not this one", t->err.message);
}

TEST(blob_hold, what_changes_nothing_says_so)
{
    valise *v = desk_open(t);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    bool changed = false;

    CHECK_OK(valise_blob_register_bytes(&told, v, VLS_STR("a"), NULL, NULL, &t->err));
    CHECK_INT(0, valise_blob_hold(&changed, v, &told.sha256, "mine", NULL, &t->err));
    CHECK(changed);
    CHECK_INT(0, valise_blob_hold(&changed, v, &told.sha256, "mine", NULL, &t->err));
    CHECK(!changed);
    CHECK_INT(0, valise_blob_release(&changed, v, &told.sha256, "mine", NULL, &t->err));
    CHECK(changed);
    CHECK_INT(0, valise_blob_release(&changed, v, &told.sha256, "mine", NULL, &t->err));
    CHECK(!changed);
    CHECK_INT(0, valise_blob_release(NULL, v, &told.sha256, NULL, NULL, &t->err));
}
