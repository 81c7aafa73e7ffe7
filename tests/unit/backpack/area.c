/* area.c -- durable backpacks in a workspace: made, listed, told of, expired, erased, replayed.
 * [B1] [B28] [K14] [K20] [K30] */
#include "backpack/rows.h"

#include "backpack/backpack.h"
#include "backpack/decide.h"
#include "base/hex.h"
#include "bus/bus.h"
#include "bus/read_log.h"
#include "kernel/kit.h"

TEST_PARAMS(backpack, "memory", "sqlite")

/* ---- a command that packs, until there is one ---- */

typedef struct pack_args {
    valise_str backpack, key, namespace_name;
    valise_content value;
    valise_list tags;
    int64_t what;
} pack_args;

enum { PACK, REMOVE, QUARANTINE, RELEASE, CHECKPOINT, FORK, READ };
static const char *const whats[] = {"pack",       "remove", "quarantine", "release",
                                    "checkpoint", "fork",   "read",       NULL};
static const valise_field tag_item = {.name = "tag", .type = VALISE_T_STR};

static const valise_field pack_in[] = {
    VALISE_FIELD(pack_args, backpack, STR, VALISE_REQUIRED, "Backpack."),
    VALISE_FIELD(pack_args, key, STR, VALISE_REQUIRED, "Key."),
    VALISE_FIELD_AS(pack_args, namespace_name, "namespace", STR, VALISE_NULLABLE, "Namespace."),
    VALISE_FIELD(pack_args, value, VALUE, VALISE_NULLABLE, "Value."),
    VALISE_FIELD_WITH(pack_args, tags, LIST, VALISE_NULLABLE, "Tags.", .more = &tag_item),
    VALISE_FIELD_WITH(pack_args, what, ENUM, 0, "What.", .more = whats),
    VALISE_FIELD_END,
};

static int act(valise_view *view, const pack_args *args, const vls_ledger *ledger, vls_scope *scope,
               valise_error *err)
{
    const vls_change_call call = {.now = view->stamp.time, .arena = &view->arena};
    const vls_pack_args pack = {.key = args->key,
                                .value = args->value,
                                .namespace_name = args->namespace_name,
                                .tags = args->tags,
                                .expect = VALISE_NONE};
    const vls_quarantine_args hold = {.key = args->key, .reason = VLS_STR("bad")};
    valise_str nobody = {NULL, 0};
    vls_bag_row fork;
    vls_done done;
    int64_t seq;

    switch (args->what) {
    case PACK:
        return vls_bag_pack(&done, ledger, scope, &pack, &call, err);
    case REMOVE:
        return vls_bag_remove(&done, ledger, scope, args->key, VALISE_NONE, nobody, nobody, &call,
                              err);
    case QUARANTINE:
        return vls_bag_quarantine(&done, ledger, scope, &hold, &call, err);
    case RELEASE:
        return vls_bag_release(&done, ledger, scope, args->key, 0, nobody, nobody, &call, err);
    case CHECKPOINT:
        return vls_bag_checkpoint(&seq, ledger, args->key, view->stamp.actor, call.now, err);
    default:
        return vls_rows_fork(&fork, ledger, args->key, err);
    }
}

static int pack_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const pack_args *args = in;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger;
    vls_scope *scope = NULL;
    int rc = vls_rows_open(&rows, view, args->backpack, err);

    (void)out;
    if (rc < 0)
        return rc;
    ledger = vls_rows_ledger(&rows);
    rc = vls_scope_new(&scope, view->arena.env, &ledger, NULL, err);
    if (rc == 0)
        rc = act(view, args, &ledger, scope, err);
    vls_scope_free(scope);
    return rc < 0 ? rc : 0;
}

static const valise_op pack_op = {
    .size = sizeof(valise_op),
    .name = "stuff:do",
    .brief = "Change a backpack.",
    .kind = VALISE_COMMAND,
    .needs = "stuff:write",
    .in = pack_in,
    .in_size = sizeof(pack_args),
    .decide = pack_decide,
    .example = "{\"backpack\":\"run\",\"key\":\"a\",\"value\":1}",
};
static const valise_op *const stuff_ops[] = {&pack_op, NULL};
static const valise_extension stuff = {.size = sizeof(valise_extension),
                                       .abi = VALISE_EXTENSION_ABI,
                                       .name = "stuff",
                                       .version = "1",
                                       .operations = stuff_ops};

/* ---- a workspace ---- */

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_bag(test *t)
{
    static const valise_extension *const extensions[] = {&stuff, NULL};
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(
        valise_open(&v, strcmp(t->param, "memory") == 0 ? ":memory:" : ws_path(), &o, &t->err));
    test_defer(close_it, v);
    return v;
}

static void is_sound(test *t, valise *v)
{
    const char *found = ws_run(t, v, "workspace:validate", NULL);

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
}

/* Keys of the backpack's items, and their values. */
typedef struct looking {
    valise_str name;
    int64_t upto; /* -1: the newest */
    const char *checkpoint;
    char text[1024];
    const vls_ledger *ledger;
} looking;

static int add_item(void *arg, const valise_commit *commit, valise_error *err)
{
    looking *l = arg;
    size_t used = strlen(l->text);
    VLS_AUTO(blob) valise_blob *value = NULL;
    int rc = l->ledger->ops->value(&value, l->ledger->self, commit, NULL);

    (void)err;
    (void)snprintf(l->text + used, sizeof(l->text) - used, "%.*s=%.*s ",
                   VALISE_STR_ARG(commit->key), rc < 0 ? 1 : (int)vls_blob_bytes(value).len,
                   rc < 0 ? "?" : vls_blob_bytes(value).ptr);
    return 0;
}

static int look_into(void *arg, valise_view *view, valise_error *err)
{
    looking *l = arg;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_ledger ledger, state;
    vls_bag_checkpoint_row held = {0};
    int rc = vls_rows_open(&rows, view, l->name, err);

    if (rc < 0)
        return rc;
    ledger = vls_rows_ledger(&rows);
    held = (vls_bag_checkpoint_row){.backpack = rows.bag.id};
    if (l->checkpoint) {
        held.name = valise_str_of(l->checkpoint);
        CHECK_INT(1, valise_view_get(&held, view, &vls_bag_checkpoints, err));
    }
    CHECK_INT(0, ledger.ops->freeze(&state, &rows,
                                    l->checkpoint  ? held.seq
                                    : l->upto >= 0 ? l->upto
                                                   : INT64_MAX,
                                    err));
    l->ledger = &state;
    rc = state.ops->each_item(state.self, add_item, l, err);
    state.ops->release(state.self);
    return rc;
}

static const char *items_of(test *t, valise *v, const char *name, int64_t upto)
{
    looking l = {.name = valise_str_of(name), .upto = upto};

    CHECK_OK(vls_with_view(v, NULL, look_into, &l, &t->err));
    return test_format("%s", l.text);
}

static const char *items_held(test *t, valise *v, const char *name, const char *checkpoint)
{
    looking l = {.name = valise_str_of(name), .upto = -1, .checkpoint = checkpoint};

    CHECK_OK(vls_with_view(v, NULL, look_into, &l, &t->err));
    return test_format("%s", l.text);
}

static int count_row(void *arg, valise_view *view, valise_error *err)
{
    void **pair = arg;
    valise_scan *scan = NULL;
    char row[1024];
    int rc = valise_view_scan(&scan, view, pair[0], NULL, err);

    CHECK(((const valise_coll *)pair[0])->row_size <= sizeof(row));
    while (rc == 0 && (rc = valise_scan_next(row, scan, err)) > 0) {
        ++*(int *)pair[1];
        rc = 0;
    }
    valise_scan_close(scan);
    return rc;
}

static int rows_of(test *t, valise *v, const valise_coll *coll)
{
    int count = 0;
    const void *pair[] = {coll, &count};

    CHECK_OK(vls_with_view(v, NULL, count_row, (void *)pair, &t->err));
    return count;
}

static void fill(test *t, valise *v, int packs)
{
    (void)ws_run(t, v, "backpack:create", "{\"name\":\"run\"}");
    for (int i = 1; i <= packs; i++)
        (void)ws_run(t, v, "stuff:do",
                     test_format("{\"backpack\":\"run\",\"key\":\"k%d\",\"value\":%d}", i % 3, i));
}

/* ---- making and listing ---- */

TEST(backpack, create_and_list)
{
    valise *v = open_bag(t);
    const char *made = ws_run(t, v, "backpack:create",
                              "{\"items\":{\"b\":[1,2],\"a\":\"x\"},\"name\":\"run-1\","
                              "\"taint\":true}");
    const char *list = ws_run(t, v, "backpack:list", NULL);

    CHECK_MSG(strstr(made, "\"seq\":2"), "%s", made);
    CHECK_MSG(strstr(list, "\"name\":\"run-1\"") && strstr(list, "\"commits\":2"), "%s", list);
    CHECK(strstr(list, "\"taint\":true") && strstr(list, "\"lenient\":false"));
    CHECK_TEXT("a=\"x\" b=[1,2] ", items_of(t, v, "run-1", -1));
    ws_fails(t, v, VALISE_E_EXISTS, "backpack:create", "{\"name\":\"run-1\"}");
    ws_fails(t, v, VALISE_E_INVALID, "backpack:create", "{\"items\":[1],\"name\":\"x\"}");
    ws_fails(t, v, VALISE_E_INVALID, "backpack:create", "{\"items\":{\"\":1},\"name\":\"x\"}");
    ws_fails(t, v, VALISE_E_INVALID, "backpack:create", "{\"name\":\"x\",\"sticky\":[\"\"]}");
    CHECK_TEXT(list, ws_run(t, v, "backpack:list", NULL)); /* nothing of it was kept */
    (void)ws_run(t, v, "backpack:create", "{\"name\":\"a\",\"sticky\":[\"z\",\"y\",\"z\"]}");
    CHECK_INT(2, rows_of(t, v, &vls_bags));
    is_sound(t, v);
}

/* ---- events ---- */

TEST(backpack, commits_make_events_until_they_expire) /* [B28] [B32] [K14] */
{
    valise *v = open_bag(t);
    const char *events;

    (void)ws_run(t, v, "backpack:create", "{\"name\":\"run\"}");
    (void)ws_run(t, v, "stuff:do",
                 "{\"backpack\":\"run\",\"key\":\"a\",\"namespace\":\"s.x\",\"tags\":[\"pii\"],"
                 "\"value\":\"hidden\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"a\",\"what\":\"remove\"}");
    events = ws_run(t, v, "event:list", NULL);
    CHECK_MSG(strstr(events, "BACKPACK_PACK") && strstr(events, "BACKPACK_DELETE"), "%s", events);
    CHECK(strstr(events, "[redacted]") && !strstr(events, "hidden"));
    CHECK(strstr(events, "\"namespace\":\"s.x\""));
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"b\",\"value\":1}");
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":1,\"kind\":\"backpack\"}");
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"rows\":2"));
    events = ws_run(t, v, "event:list", NULL);
    CHECK(!strstr(events, "BACKPACK_DELETE"));
    CHECK(strstr(events, "BACKPACK_PRUNE") && strstr(events, "\"edge\":2"));
    is_sound(t, v);
}

/* ---- expiry ---- */

TEST(backpack, retention_keeps_the_state_at_the_edge) /* [K30] [B8] */
{
    valise *v = open_bag(t);

    fill(t, v, 30);
    CHECK_TEXT("k0=12 k1=13 k2=14 ", items_of(t, v, "run", 14));
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":16,\"kind\":\"backpack\"}");
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"rows\":11"));
    CHECK_INT(19, rows_of(t, v, &vls_bag_commits)); /* 16, and three of the state at the edge */
    CHECK_TEXT("k0=12 k1=13 k2=14 ", items_of(t, v, "run", 14));
    CHECK_TEXT("k0=30 k1=28 k2=29 ", items_of(t, v, "run", -1));
    CHECK(strstr(ws_run(t, v, "backpack:list", NULL), "\"edge\":14"));
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"rows\":0"));
    is_sound(t, v);
}

TEST(backpack, what_somebody_holds_does_not_expire) /* [K30] [B12] [B13] [B25] */
{
    valise *v = open_bag(t);

    fill(t, v, 6); /* k1 k2 k0 k1 k2 k0 */
    (void)ws_run(t, v, "stuff:do",
                 "{\"backpack\":\"run\",\"key\":\"held\",\"what\":\"checkpoint\"}");
    for (int i = 7; i <= 9; i++)
        (void)ws_run(t, v, "stuff:do",
                     test_format("{\"backpack\":\"run\",\"key\":\"k%d\",\"value\":%d}", i % 3, i));
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"fork\",\"what\":\"fork\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k1\",\"what\":\"quarantine\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k2\",\"what\":\"remove\"}");
    for (int i = 0; i < 5; i++)
        (void)ws_run(t, v, "stuff:do",
                     test_format("{\"backpack\":\"run\",\"key\":\"k0\",\"value\":%d}", 100 + i));
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":1,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK_TEXT("k0=6 k1=4 k2=5 ", items_held(t, v, "run", "held"));
    CHECK_TEXT("k0=9 k1=7 k2=8 ", items_of(t, v, "fork", -1));
    CHECK_TEXT("k0=104 ", items_of(t, v, "run", -1));
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k1\",\"what\":\"release\"}");
    CHECK_TEXT("k0=104 k1=7 ", items_of(t, v, "run", -1));
    is_sound(t, v);
}

static int find_run(void *arg, valise_view *view, valise_error *err)
{
    vls_bag_row row;
    int rc = vls_rows_find(&row, view, VLS_STR("run"), err);

    *(valise_uuid *)arg = row.id;
    return VLS_MIN(rc, 0);
}

static int64_t seq_of(test *t, valise *v)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int64_t seq;

    CHECK_OK(valise_dispatch(&reply, v, "pin:list", NULL, NULL, &t->err));
    seq = reply.seq;
    valise_reply_release(&reply);
    return seq;
}

static bool shows_at(test *t, valise *v, int64_t seq, const char *what)
{
    const char *text = test_format("%lld", (long long)seq);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    bool found = false;

    call.at = valise_str_of(text);
    if (valise_dispatch(&reply, v, "backpack:ls", "{\"backpack\":\"run\"}", &call, &t->err) == 0)
        found = strstr(valise_blob_bytes(reply.json).ptr, what) != NULL;
    valise_reply_release(&reply);
    return found;
}

static void more(test *t, valise *v, int packs)
{
    for (int i = 1; i <= packs; i++)
        (void)ws_run(t, v, "stuff:do",
                     test_format("{\"backpack\":\"run\",\"key\":\"k%d\",\"value\":%d}", i % 3, i));
}

TEST(backpack, what_a_pin_holds_does_not_expire) /* [K30] [K35] */
{
    valise *v = open_bag(t);
    valise_uuid id;
    int64_t before, held;

    fill(t, v, 2); /* k1 k2 */
    before = seq_of(t, v);
    more(t, v, 3); /* k1 k2 k0 */
    held = seq_of(t, v);
    (void)ws_run(t, v, "pin:add",
                 test_format("{\"name\":\"p\",\"target\":\"%lld\"}", (long long)held));
    more(t, v, 6);
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":1,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK(shows_at(t, v, held, "\"k2\""));
    CHECK(shows_at(t, v, held, "\"version\":2"));
    CHECK(!shows_at(t, v, before, "\"k2\"")); /* it had expired, though what it showed is there */
    is_sound(t, v);
    /* One of a state that is gone holds nothing; a commit that is pinned itself stays. */
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"p\"}");
    CHECK_OK(vls_with_view(v, NULL, find_run, &id, &t->err));
    (void)ws_run(t, v, "pin:add",
                 test_format("{\"name\":\"p\",\"target\":\"%lld\"}", (long long)before));
    (void)ws_run(
        t, v, "pin:add",
        test_format("{\"name\":\"c\",\"target\":\"backpack_commit/%s/7\"}", vls_uuid_text(&id).s));
    more(t, v, 6);
    (void)ws_run(t, v, "workspace:gc", NULL);
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"c\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK(!shows_at(t, v, held, "\"k2\""));
    CHECK_INT(3 + 1, rows_of(t, v, &vls_bag_commits));
    is_sound(t, v);
}

static void let_go(test *t, valise *v, const char *name);

TEST(backpack, what_a_checkpoint_held_goes_with_the_next_gc) /* [K30] */
{
    valise *v = open_bag(t);

    fill(t, v, 3);
    (void)ws_run(t, v, "stuff:do",
                 "{\"backpack\":\"run\",\"key\":\"held\",\"what\":\"checkpoint\"}");
    for (int i = 4; i <= 9; i++)
        (void)ws_run(t, v, "stuff:do",
                     test_format("{\"backpack\":\"run\",\"key\":\"k%d\",\"value\":%d}", i % 3, i));
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":1,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK_INT(3 + 3 + 1, rows_of(t, v, &vls_bag_commits));
    let_go(t, v, "held");
    CHECK(strstr(ws_run(t, v, "workspace:gc", NULL), "\"rows\":3"));
    CHECK_INT(3 + 1, rows_of(t, v, &vls_bag_commits));
    is_sound(t, v);
}

static int drop_checkpoint(valise_view *view, const void *in, void *out, valise_error *err);
static const valise_field drop_in[] = {VALISE_FIELD(pack_args, key, STR, VALISE_REQUIRED, "Name."),
                                       VALISE_FIELD_END};
static const valise_op drop_op = {.size = sizeof(valise_op),
                                  .name = "stuff:drop",
                                  .brief = "Let go of a checkpoint.",
                                  .kind = VALISE_COMMAND,
                                  .needs = "stuff:write",
                                  .in = drop_in,
                                  .in_size = sizeof(pack_args),
                                  .decide = drop_checkpoint,
                                  .example = "{\"key\":\"a\"}"};

static int drop_checkpoint(valise_view *view, const void *in, void *out, valise_error *err)
{
    const pack_args *args = in;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_bag_checkpoint_row row = {.name = args->key};
    int rc = vls_rows_open(&rows, view, VLS_STR("run"), err);

    (void)out;
    row.backpack = rows.bag.id;
    if (rc == 0)
        rc = valise_view_delete(view, &vls_bag_checkpoints, &row, err);
    return rc < 0 ? rc : 0;
}

static void let_go(test *t, valise *v, const char *name)
{
    pack_args args = {.key = valise_str_of(name)};

    CHECK_OK(vls_run(v, &drop_op, &args, NULL, NULL, NULL, NULL, &t->err));
}

TEST(backpack, limits_by_bytes_and_age) /* [K30] */
{
    valise *v = open_bag(t);

    fill(t, v, 20);
    (void)ws_run(t, v, "retention:set", "{\"bytes\":1300,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK(strstr(ws_run(t, v, "backpack:list", NULL), "\"edge\":10")); /* ten of 129 or 130 */
    (void)ws_run(t, v, "retention:set", "{\"age\":\"1000d\",\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK(strstr(ws_run(t, v, "backpack:list", NULL), "\"edge\":10"));
    (void)ws_run(t, v, "retention:set", "{\"age\":\"0s\",\"bytes\":1200,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    /* Bytes alone would stop at 11; the newest stays. */
    CHECK(strstr(ws_run(t, v, "backpack:list", NULL), "\"edge\":19"));
    CHECK_TEXT("k0=18 k1=19 k2=20 ", items_of(t, v, "run", -1));
    ws_fails(t, v, VALISE_E_INVALID, "retention:set", "{\"keepOneIn\":2,\"kind\":\"backpack\"}");
    ws_fails(t, v, VALISE_E_DENIED, "backpack:expire",
             "{\"backpack\":\"018f2c4e-7b1a-7c3d-9e4f-000000000001\",\"upto\":1}");
    is_sound(t, v);
}

TEST(backpack, entries_of_the_quarantine_that_were_released_go) /* [B25] [K30] */
{
    valise *v = open_bag(t);

    fill(t, v, 3);
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k1\",\"what\":\"quarantine\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k1\",\"what\":\"release\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k2\",\"what\":\"quarantine\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k0\",\"value\":9}");
    CHECK_INT(2, rows_of(t, v, &vls_bag_quarantines));
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":1,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    CHECK_INT(1, rows_of(t, v, &vls_bag_quarantines));
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"k2\",\"what\":\"release\"}");
    CHECK_TEXT("k0=9 k1=1 k2=2 ", items_of(t, v, "run", -1));
    is_sound(t, v);
}

/* ---- reads ---- */

static int count_read(void *arg, const void *row, valise_error *err)
{
    (void)row, (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int64_t waiting_reads(valise *v)
{
    int64_t count = 0;

    return vls_read_log_rows(v, &vls_bag_reads, count_read, &count, NULL) < 0 ? -1 : count;
}

/* [Q13] Who reads does not wait for who writes, and what could not be written is not lost. */
TEST(backpack, reads_wait_in_memory_while_others_write)
{
    vls_txn txn = {0};
    valise *v, *other;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody else can have it open");
    v = ws_open(t);
    other = ws_open_at(t, ws_path());
    (void)ws_run(t, v, "backpack:create", "{\"name\":\"run\",\"items\":{\"k\":1}}");
    CHECK_OK(vls_txn_begin(&txn, other->store, VALISE_TXN_WRITE, &t->err));
    for (unsigned i = 0; i < VLS_READ_LOG_BATCH + 1; i++)
        (void)ws_run(t, v, "backpack:unpack", "{\"backpack\":\"run\",\"key\":\"k\"}");
    CHECK_INT(VLS_READ_LOG_BATCH + 1, waiting_reads(v));
    vls_txn_rollback(&txn);
    for (unsigned i = 1; i < VLS_READ_LOG_BATCH; i++)
        (void)ws_run(t, v, "backpack:unpack", "{\"backpack\":\"run\",\"key\":\"k\"}");
    CHECK_INT(0, waiting_reads(v));
    valise_close(other);
}

/* ---- erasure ---- */

TEST(backpack, erase_takes_every_version) /* [K20] */
{
    valise *v = open_bag(t);
    const char *answer;

    (void)ws_run(t, v, "backpack:create", "{\"name\":\"run\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"a\",\"value\":\"secret-1\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"a\",\"value\":\"secret-2\"}");
    (void)ws_run(t, v, "stuff:do", "{\"backpack\":\"run\",\"key\":\"b\",\"value\":\"secret-1\"}");
    answer = ws_run(t, v, "backpack:erase",
                    "{\"backpack\":\"run\",\"key\":\"a\",\"reason\":\"asked for\"}");
    CHECK_MSG(strstr(answer, "\"objects\":1") && strstr(answer, "\"entries\":2"), "%s", answer);
    CHECK(strstr(strstr(answer, "\"others\""), "/3\"")); /* b holds one of them */
    CHECK_TEXT("a=? b=\"secret-1\" ", items_of(t, v, "run", -1));
    CHECK(!strstr(ws_run(t, v, "event:list", NULL), "secret-2"));
    ws_fails(t, v, VALISE_E_NOT_FOUND, "backpack:erase", "{\"backpack\":\"run\",\"key\":\"z\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "backpack:erase", "{\"backpack\":\"ran\",\"key\":\"a\"}");
    CHECK(strstr(t->err.hint, "'run'"));
    CHECK(strstr(ws_run(t, v, "backpack:erase", "{\"backpack\":\"run\",\"key\":\"b\"}"),
                 "\"objects\":1"));
    CHECK_TEXT("a=? b=? ", items_of(t, v, "run", -1));
    is_sound(t, v);
}

/* ---- the same from the log ---- */

TEST(backpack, bundles_carry_it_all) /* [K36] */
{
    static const valise_extension *const extensions[] = {&stuff, NULL};
    valise *v = open_bag(t), *copy = NULL;
    valise_options o = VALISE_OPTIONS_INIT;
    const char *file = test_format("%s/bundle", test_tmpdir());

    fill(t, v, 10);
    (void)ws_run(t, v, "retention:set", "{\"keepLatest\":4,\"kind\":\"backpack\"}");
    (void)ws_run(t, v, "workspace:gc", NULL);
    (void)ws_run(t, v, "workspace:export", test_format("{\"file\":\"%s\"}", file));
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&copy, ":memory:", &o, &t->err));
    test_defer(close_it, copy);
    (void)ws_run(t, copy, "workspace:import", test_format("{\"file\":\"%s\"}", file));
    CHECK_TEXT(ws_run(t, v, "workspace:hash", NULL), ws_run(t, copy, "workspace:hash", NULL));
    CHECK_TEXT(items_of(t, v, "run", -1), items_of(t, copy, "run", -1));
    CHECK_TEXT(items_of(t, v, "run", 6), items_of(t, copy, "run", 6));
    is_sound(t, copy);
}
