/* tests/unit/context/scan.c -- scans of a workspace, and looks at one path. [C2] [C5] [C6] [C10] */
#include <sys/stat.h>
#include <unistd.h>

#include <valise.h>

#include "context/outside.h"
#include "context/scan_batch.h"
#include "harness/fault.h"
#include "harness/test.h"
#include "kit/replayed.h"
#include "tree/stat_cache.h"

/* ---- an operation that looks at a path before it is queued ---- */

typedef struct look_args {
    valise_str path;
} look_args;

static const valise_field look_in[] = {
    VALISE_FIELD(look_args, path, PATH, VALISE_REQUIRED | VALISE_POSITIONAL, "Path."),
    VALISE_FIELD_END,
};

typedef struct look_result {
    bool there;
    int64_t version, size;
} look_result;

static const valise_field look_out[] = {
    VALISE_FIELD(look_result, there, BOOL, VALISE_REQUIRED, "There is something."),
    VALISE_FIELD(look_result, version, INT, VALISE_REQUIRED, "Of the tree."),
    VALISE_FIELD(look_result, size, INT, VALISE_REQUIRED, "Of the node."),
    VALISE_FIELD_END,
};

/* What happens between a look and the command it is for; of the one test that runs. */
static struct {
    void (*fn)(void *arg);
    void *arg;
} meanwhile;

static int look_prepare(valise_prepare *prepare, const void *args, valise_error *err)
{
    int rc = vls_outside_look(prepare, ((const look_args *)args)->path, true, err);

    if (rc == 0 && meanwhile.fn)
        meanwhile.fn(meanwhile.arg);
    return rc;
}

static int look_decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const look_args *args = in;
    look_result *result = out;
    vls_tree_row tree;
    vls_tree_found found;
    int rc = vls_tree_head(&tree, view, err);

    if (rc > 0)
        rc = vls_tree_get(&found, view, &tree, tree.version, args->path, err);
    result->there = rc > 0;
    result->version = tree.version;
    result->size = rc > 0 ? found.node.size : -1;
    return VLS_MIN(rc, 0);
}

static const valise_op look_op = {
    .size = sizeof(valise_op),
    .name = "look:at",
    .brief = "Look at a path.",
    .kind = VALISE_COMMAND,
    .needs = "look:write",
    .in = look_in,
    .in_size = sizeof(look_args),
    .out = look_out,
    .out_size = sizeof(look_result),
    .decide = look_decide,
    .example = "{\"path\":\"a\"}",
    .prepare = look_prepare,
};

static const valise_op *const ops[] = {&look_op, NULL};
static const valise_extension look_extension = {.size = sizeof(valise_extension),
                                                .abi = VALISE_EXTENSION_ABI,
                                                .name = "look",
                                                .version = "1",
                                                .operations = ops};

/* ---- a workspace ---- */

static const char *in_ws(const char *name)
{
    return test_format("%s/ws/%s", test_tmpdir(), name);
}

static int open_ws(valise **out, const valise_env *env, const char *path, valise_error *err)
{
    static const valise_extension *const extensions[] = {&look_extension, NULL};
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    return valise_open(out, path, &o, err);
}

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_here(test *t)
{
    valise *v = NULL;

    CHECK_OK(open_ws(&v, t->env, test_format("%s/ws", test_tmpdir()), &t->err));
    test_defer(close_it, v);
    return v;
}

static void put(const char *name, const char *text)
{
    test_write_file(in_ws(name), valise_str_of(text));
}

static const char *run(test *t, valise *v, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, v, type, payload, NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static int64_t number(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":", name));

    CHECK_MSG(at, "no %s in %s", name, json);
    return (int64_t)strtoll(at + strlen(name) + 3, NULL, 10);
}

static int64_t seq_of(test *t, valise *v)
{
    return number(run(t, v, "workspace:status", "{}"), "seq");
}

static void check_valid(test *t, valise *v)
{
    CHECK(!strstr(run(t, v, "workspace:validate", "{}"), "\"kind\":\"problem\""));
}

/* Files whose times are old enough to be trusted. */
static void some_files(void)
{
    CHECK(mkdir(in_ws("d"), 0700) == 0 && mkdir(in_ws("d/e"), 0700) == 0);
    put("a", "1");
    put("d/b", "22");
    put("d/e/c", "333");
    (void)usleep(20000);
}

/* ---- scans ---- */

TEST(context_scan, the_log_alone_gives_the_tree_again)
{
    valise *v = open_here(t);

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "changed");
    CHECK(unlink(in_ws("d/b")) == 0);
    run(t, v, "tree:scan", "{}");
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    check_valid(t, v);
}

TEST(context_scan, nothing_new_writes_nothing) /* [C6] */
{
    valise *v = open_here(t);
    const char *first, *second;
    int64_t seq;

    some_files();
    first = run(t, v, "tree:scan", "{}");
    seq = seq_of(t, v);
    second = run(t, v, "tree:scan", "{}");
    CHECK_INT(0, number(second, "added") + number(second, "changed") + number(second, "removed"));
    CHECK_INT(number(first, "version"), number(second, "version"));
    CHECK_INT(seq, seq_of(t, v));
    run(t, v, "tree:scan", "{\"force\":true}");
    CHECK_INT(seq, seq_of(t, v));
}

TEST(context_scan, the_first_changes_are_listed)
{
    valise *v = open_here(t);
    const char *found;

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "2");
    put("new", "x");
    CHECK(unlink(in_ws("d/e/c")) == 0);
    found = run(t, v, "tree:scan", "{}");
    CHECK(strstr(found, "\"changes\":[{\"change\":\"changed\",\"path\":\"a\"},"
                        "{\"change\":\"removed\",\"path\":\"d/e/c\"},"
                        "{\"change\":\"added\",\"path\":\"new\"}]"));
}

TEST(context_scan, in_memory_there_is_no_folder)
{
    valise *v = NULL;
    const char *found;

    CHECK_OK(open_ws(&v, t->env, ":memory:", &t->err));
    test_defer(close_it, v);
    CHECK_RC(VALISE_E_UNSUPPORTED, valise_dispatch(NULL, v, "tree:scan", "{}", NULL, &t->err));
    CHECK(strstr(t->err.hint, "dir"));
    CHECK(mkdir(in_ws(""), 0700) == 0);
    some_files();
    found = run(t, v, "tree:scan", test_format("{\"dir\":\"%s\"}", in_ws("")));
    CHECK_INT(5, number(found, "added"));
    CHECK(strstr(run(t, v, "look:at", "{\"path\":\"a\"}"), "\"there\":true"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_dispatch(NULL, v, "tree:scan", "{\"dir\":\"/no/such/folder\"}", NULL, &t->err));
}

/* ---- others who scan meanwhile ---- */

typedef struct rival {
    test *t;
    valise *v;
    int times; /* to be faster */
    int calls;
    const char *after; /* a file that changes once more when it is done; NULL: none */
} rival;

static int be_faster(void *arg, const valise_progress_state *state)
{
    rival *r = arg;

    if (strcmp(state->stage, "scan") != 0 || r->times == 0)
        return 0;
    r->times--;
    r->calls++;
    put(test_format("rival%d", r->calls), "x");
    run(r->t, r->v, "tree:scan", test_format("{\"path\":\"rival%d\"}", r->calls));
    return 0;
}

TEST(context_scan, who_is_overtaken_compares_again)
{
    valise *v = open_here(t), *other = open_here(t);
    rival r = {t, other, 2, 0, NULL};
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    some_files();
    call.progress = (valise_progress){be_faster, &r};
    CHECK_OK(valise_dispatch(&reply, v, "tree:scan", "{}", &call, &t->err));
    CHECK_INT(2, r.calls);
    valise_reply_release(&reply);
    check_valid(t, v);
    CHECK_INT(0, number(run(t, v, "tree:scan", "{}"), "added"));
}

/* ---- the slower one ---- */

static int64_t size_of(test *t, valise *v, const char *path)
{
    return number(run(t, v, "node:get", test_format("{\"node\":\"%s\"}", path)), "size");
}

/* What a scan saw before another one recorded something newer never takes its place. [C2] */
TEST(context_scan, a_slow_one_does_not_take_the_tree_back)
{
    valise *v = open_here(t), *other = open_here(t);
    VLS_AUTO(outside) vls_outside slow = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_scan_batch batch = {.arena = &arena};
    vls_scan scan;

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "old");
    CHECK_OK(vls_outside_open(&slow, v, VLS_STR(""), &t->err));
    CHECK_OK(vls_tree_scan(&scan, &slow.options, &t->err));
    CHECK_INT(1, scan.changed);
    put("a", "newest"); /* it has looked at everything, and is slow to say so */
    run(t, other, "tree:scan", "{}");
    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_scan_batch_fill(&batch, &scan, slow.tree.version, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, vls_run_many(v, batch.items.ptr, batch.items.len, NULL, &t->err));
    CHECK(strstr(t->err.message, "version 2, no longer at 1"));
    /* Nor does the cache that it leaves. */
    CHECK_OK(vls_tree_scan_keep(&scan, slow.tree.version + 1, &t->err));
    vls_tree_scan_release(&scan);
    CHECK_INT(6, size_of(t, v, "a"));
    CHECK_INT(2, number(run(t, v, "tree:scan", "{}"), "version"));
    CHECK_INT(6, size_of(t, v, "a"));
    check_valid(t, v);
}

TEST(context_scan, who_is_overtaken_time_and_again_has_patience) /* [K10 K11] */
{
    valise *v = open_here(t), *other = open_here(t);
    rival r = {t, other, 9, 0, NULL};
    valise_call call = VALISE_CALL_INIT;

    some_files();
    run(t, v, "tree:scan", "{}");
    call.progress = (valise_progress){be_faster, &r};
    put("mine", "1");
    CHECK_OK(valise_dispatch(NULL, v, "tree:scan", "{}", &call, &t->err));
    CHECK_INT(9, r.calls);
    check_valid(t, v);
    CHECK_INT(0, number(run(t, v, "tree:scan", "{}"), "added"));
}

TEST(context_scan, what_was_compared_with_another_version_is_refused)
{
    valise *v = open_here(t);
    vls_tree_record_args record = {.base = 7, .changes = {.bytes = VLS_STR("valise changes 1\n")}};
    vls_tree_commit_args commit = {.base = 7, .object = {{1}}};
    vls_run_item items[2] = {{&vls_op_context_tree_record, &record, NULL},
                             {&vls_op_context_tree_commit, &commit, NULL}};

    CHECK_RC(VALISE_E_CONFLICT, vls_run_many(v, items, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, vls_run_many(v, items + 1, 1, NULL, &t->err));
    record.base = commit.base = 0;
    CHECK_RC(VALISE_E_CONFLICT, vls_run_many(v, items, 2, NULL, &t->err));
    CHECK(strstr(t->err.message, "root did not change"));
}

static int cancel(void *arg, const valise_progress_state *state)
{
    (void)arg, (void)state;
    return 1;
}

TEST(context_scan, one_that_is_cancelled_leaves_nothing)
{
    valise *v = open_here(t);
    valise_call call = VALISE_CALL_INIT;
    int64_t seq = seq_of(t, v);

    some_files();
    call.progress.fn = cancel;
    CHECK_RC(VALISE_E_CANCELLED, valise_dispatch(NULL, v, "tree:scan", "{}", &call, &t->err));
    CHECK_INT(seq, seq_of(t, v));
    run(t, v, "tree:scan", "{}");
    check_valid(t, v);
}

/* ---- one path ---- */

static int state_at(test *t, valise *v, const char *path)
{
    int state = -1;

    CHECK_OK(vls_outside_state(&state, v, valise_str_of(path), &t->err));
    return state;
}

TEST(context_look, says_whether_a_path_is_as_the_tree_has_it) /* [C10] */
{
    valise *v = open_here(t);

    some_files();
    CHECK_INT(VLS_OUTSIDE_UNKNOWN, state_at(t, v, "a")); /* no tree */
    run(t, v, "tree:scan", "{}");
    CHECK_INT(VLS_OUTSIDE_SAME, state_at(t, v, "a"));
    CHECK_INT(VLS_OUTSIDE_NOTHING, state_at(t, v, "nothing"));
    put("a", "22");
    put("new", "something new");
    CHECK_INT(VLS_OUTSIDE_OUTDATED, state_at(t, v, "a"));
    CHECK_INT(VLS_OUTSIDE_OUTDATED, state_at(t, v, "new"));
    CHECK(unlink(in_ws("d/b")) == 0);
    CHECK_INT(VLS_OUTSIDE_OUTDATED, state_at(t, v, "d/b"));
    CHECK_INT(VLS_OUTSIDE_SAME, state_at(t, v, "d/e/c"));
}

TEST(context_look, what_is_different_is_recorded_in_front) /* [C5] [C10] */
{
    valise *v = open_here(t);
    int64_t seq;

    some_files();
    /* Nothing was scanned: everything is looked at. */
    CHECK_TEXT("{\"size\":1,\"there\":true,\"version\":1}",
               run(t, v, "look:at", "{\"path\":\"a\"}"));
    seq = seq_of(t, v);
    CHECK_TEXT("{\"size\":1,\"there\":true,\"version\":1}",
               run(t, v, "look:at", "{\"path\":\"a\"}"));
    CHECK_INT(seq + 1, seq_of(t, v)); /* only the command itself */
    put("a", "22");
    put("d/b", "4444"); /* not looked at */
    CHECK_TEXT("{\"size\":2,\"there\":true,\"version\":2}",
               run(t, v, "look:at", "{\"path\":\"a\"}"));
    CHECK_INT(seq + 4, seq_of(t, v));
    CHECK_TEXT("{\"size\":4,\"there\":true,\"version\":3}",
               run(t, v, "look:at", "{\"path\":\"d/b\"}"));
    CHECK(unlink(in_ws("d/e/c")) == 0);
    CHECK_TEXT("{\"size\":-1,\"there\":false,\"version\":4}",
               run(t, v, "look:at", "{\"path\":\"d/e/c\"}"));
    check_valid(t, v);
    CHECK_INT(0, number(run(t, v, "tree:scan", "{}"), "changed"));
    CHECK_INT(4, number(run(t, v, "tree:scan", "{}"), "version"));
}

TEST(context_look, in_a_batch_what_is_seen_is_recorded_by_itself) /* [C10] */
{
    valise *v = open_here(t);
    valise_command commands[3] = {{VLS_STR("look:at"), VLS_STR("{\"path\":\"a\"}"), NULL},
                                  {VLS_STR("look:at"), VLS_STR("{\"path\":\"d/b\"}"), NULL},
                                  {VLS_STR("look:at"), VLS_STR("{\"path\":\"d/e\"}"), NULL}};
    valise_call call = VALISE_CALL_INIT;
    int64_t seq;

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "22");
    seq = seq_of(t, v);
    call.flags = VALISE_CALL_DRY_RUN;
    CHECK_OK(valise_dispatch_batch(NULL, v, commands, 2, &call, &t->err));
    CHECK_INT(seq, seq_of(t, v));
    put("d/b", "4444");
    put("d/e/new", "1");
    CHECK_OK(valise_dispatch_batch(NULL, v, commands, 3, NULL, &t->err));
    CHECK_INT(seq + 9, seq_of(t, v));
    CHECK_TEXT("{\"size\":2,\"there\":true,\"version\":4}",
               run(t, v, "look:at", "{\"path\":\"d/e\"}"));
    check_valid(t, v);
    CHECK_TEXT(state_of(t, v), replayed(t, v));
}

/* What a batch saw is true although the batch fails. [C10] [K7] */
TEST(context_look, a_batch_that_fails_leaves_what_it_saw)
{
    valise *v = open_here(t);
    const valise_command commands[] = {
        {VLS_STR("look:at"), VLS_STR("{\"path\":\"a\"}"), NULL},
        {VLS_STR("frame:put"), VLS_STR("{\"node\":\"d/b\",\"content\":\"eA==\"}"), NULL},
        {VLS_STR("frame:put"), VLS_STR("{\"node\":\"nothing\",\"content\":\"eA==\"}"), NULL}};
    const char *state;

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "22");
    put("d/b", "4444");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch_batch(NULL, v, commands, 3, NULL, &t->err));
    CHECK_TEXT("[2]", t->err.path);
    CHECK_INT(2, size_of(t, v, "a"));
    CHECK_INT(4, size_of(t, v, "d/b"));
    CHECK_INT(0, number(run(t, v, "node:get", "{\"node\":\"d/b\"}"), "total"));
    state = state_of(t, v);
    CHECK_INT(3, number(run(t, v, "tree:scan", "{}"), "version")); /* a version for each look */
    CHECK_TEXT(state, state_of(t, v));
    check_valid(t, v);
    CHECK_TEXT(state, replayed(t, v));
}

static void change_and_scan(void *arg)
{
    rival *r = arg;

    if (r->times == 0)
        return;
    r->times--;
    r->calls++;
    put("a", test_format("newest %d", r->calls));
    run(r->t, r->v, "tree:scan", "{}");
    if (r->after)
        put(r->after, test_format("still newer, %d", r->calls));
}

static void nothing_happens(void *arg)
{
    (void)arg;
    meanwhile.fn = NULL;
}

/* The same for a look at one path. */
TEST(context_look, a_look_that_is_overtaken_is_done_again) /* [C10] */
{
    valise *v = open_here(t), *other = open_here(t);
    rival r = {t, other, 2, 0, NULL};

    test_defer(nothing_happens, NULL);
    some_files();
    run(t, v, "tree:scan", "{}");
    meanwhile.fn = change_and_scan;
    meanwhile.arg = &r;
    put("a", "old");
    CHECK_TEXT("{\"size\":8,\"there\":true,\"version\":3}",
               run(t, v, "look:at", "{\"path\":\"a\"}"));
    CHECK_INT(2, r.calls);
    /* In front of the third try nothing was left to record: the other one had. Who finds something
     * new each time, and is overtaken each time, goes on until there is nobody else. */
    put("a", "older");
    r = (rival){t, other, 9, 2, "a"};
    CHECK_OK(valise_dispatch(NULL, v, "look:at", "{\"path\":\"a\"}", NULL, &t->err));
    CHECK_INT(11, r.calls);
    check_valid(t, v);
}

/* ---- what reads and puts say of it ---- */

static const char *read_as(test *t, valise *v, const char *type, const char *node, const char *more)
{
    return run(t, v, type, test_format("{%s%s}", node, more));
}

static bool says_outdated(const char *answer)
{
    return strstr(answer, "\"tree\":\"outdated\"") != NULL;
}

static bool says_earlier(const char *answer)
{
    return strstr(answer, "\"tree\":\"earlier\"") != NULL;
}

static const char *member_of(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":\"", name));

    CHECK_MSG(at, "no %s in %s", name, json);
    at += strlen(name) + 4;
    return test_format("%.*s", (int)strcspn(at, "\""), at);
}

/* Each of them, by path, by id and by the first digits of one. [C10] */
TEST(context_look, every_read_says_that_the_tree_is_outdated)
{
    static const char *const reads[][2] = {
        {"node:get", ""},    {"frame:list", ""},
        {"head:get", ""},    {"head:get", ",\"type\":\"none\""},
        {"frame:proof", ""}, {"frame:show", ""},
    };
    valise *v = open_here(t);
    const char *ways[4], *id, *frame;

    some_files();
    run(t, v, "tree:scan", "{}");
    frame = member_of(run(t, v, "frame:put", "{\"node\":\"a\",\"content\":\"eA==\"}"), "frameId");
    id = member_of(run(t, v, "node:get", "{\"node\":\"a\"}"), "nodeId");
    ways[0] = "\"node\":\"a\"";
    ways[1] = test_format("\"node\":\"%s\"", id);
    ways[2] = test_format("\"node\":\"%.12s\"", id);
    ways[3] = test_format("\"frame\":\"%s\"", frame);
    for (int changed = 0; changed <= 2; changed++) {
        for (size_t i = 0; i < VLS_COUNT(reads); i++) {
            bool shows = strcmp(reads[i][0], "frame:show") == 0;
            for (int way = shows ? 3 : 0; way < (shows ? 4 : 3); way++) {
                /* 1: the file has changed; 2: that was scanned: only the id is old now. */
                bool is = changed == 1, old = changed == 2 && (way == 1 || way == 2);
                const char *none = test_format("%s,\"noScan\":true", reads[i][1]);
                CHECK_MSG(says_outdated(read_as(t, v, reads[i][0], ways[way], reads[i][1])) == is,
                          "%d %s %s%s", changed, reads[i][0], ways[way], reads[i][1]);
                CHECK(says_earlier(read_as(t, v, reads[i][0], ways[way], reads[i][1])) == old);
                CHECK(!says_outdated(read_as(t, v, reads[i][0], ways[way], none)));
            }
        }
        put("a", "changed");
        if (changed == 1)
            run(t, v, "tree:scan", "{}");
    }
}

/* Which version the stat cache is of. */
static int64_t cache_version(const valise *v)
{
    valise_str bytes = test_read_file(test_format("%s/tree-cache", v->place.folder));
    vls_cache_header head;

    CHECK(bytes.len >= sizeof(head));
    memcpy(&head, bytes.ptr, sizeof(head));
    return head.version;
}

/* A put given an id finds out by itself that it is not what lies there any more. [C10] */
TEST(context_look, a_put_by_id_looks_at_the_file)
{
    valise *v = open_here(t);
    const char *id, *by_id, *now;
    int64_t seq, cache;

    some_files();
    run(t, v, "tree:scan", "{}");
    cache = cache_version(v);
    id = member_of(run(t, v, "node:get", "{\"node\":\"d/b\"}"), "nodeId");
    by_id = test_format("\"node\":\"%s\",\"content\":\"eA==\"", id);
    run(t, v, "frame:put", test_format("{%s}", by_id));
    seq = seq_of(t, v);
    run(t, v, "frame:put", test_format("{%s}", by_id)); /* [C8]: looked at, and nothing is new */
    run(t, v, "frame:put", "{\"node\":\"d/b\",\"content\":\"eA==\"}");
    CHECK_INT(seq, seq_of(t, v));
    put("d/b", "4444");
    for (int digits = 64; digits >= 12; digits -= 52) {
        const char *put_it = test_format("{\"node\":\"%.*s\",\"content\":\"eQ==\"}", digits, id);
        CHECK_RC(VALISE_E_CONFLICT, valise_dispatch(NULL, v, "frame:put", put_it, NULL, &t->err));
        CHECK(strstr(t->err.message, id) && strstr(t->err.message, "'d/b'"));
        CHECK(strstr(t->err.hint, "--basis"));
    }
    CHECK_INT(seq, seq_of(t, v)); /* who is refused leaves nothing, nor a cache of what never was */
    CHECK_INT(VLS_OUTSIDE_SAME, state_at(t, v, "d/e/c"));
    CHECK_INT(cache, cache_version(v));
    /* Without looking it is about what the tree has. */
    run(t, v, "frame:put", test_format("{%s,\"noScan\":true,\"type\":\"other\"}", by_id));
    run(t, v, "frame:put", "{\"node\":\"d/b\",\"content\":\"eQ==\"}");
    now = member_of(run(t, v, "node:get", "{\"node\":\"d/b\"}"), "nodeId");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, v, "frame:put", test_format("{%s}", by_id), NULL, &t->err));
    CHECK(strstr(t->err.message, now)); /* the one it named before, too */
    CHECK_OK(valise_dispatch(NULL, v, "frame:put",
                             test_format("{\"node\":\"%s\",\"content\":\"eg==\"}", now), NULL,
                             &t->err));
    /* Gone, and nobody scanned: there is nothing it could be about. */
    CHECK(unlink(in_ws("d/b")) == 0);
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_dispatch(NULL, v, "frame:put",
                             test_format("{\"node\":\"%s\",\"content\":\"eg==\"}", now), NULL,
                             &t->err));
    check_valid(t, v);
}

/* An id that nobody knows is the same error, looked at or not. */
TEST(context_look, a_put_on_nothing_says_so)
{
    valise *v = open_here(t);
    const char *id = "0000000000000000000000000000000000000000000000000000000000000001";
    const char *put_it = test_format("{\"node\":\"%s\",\"content\":\"eA==\"}", id);

    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch(NULL, v, "frame:put", put_it, NULL, &t->err));
    CHECK_TEXT("run 'valise scan'", t->err.hint);
    some_files();
    run(t, v, "tree:scan", "{}");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_dispatch(NULL, v, "frame:put", put_it, NULL, &t->err));
    CHECK(strstr(t->err.message, id));
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(NULL, v, "frame:put", "{\"node\":\"../x\",\"content\":\"eA==\"}", NULL,
                             &t->err));
}

TEST(context_look, nobody_may_leaves_the_tree_as_it_is)
{
    valise *v = open_here(t);
    valise_call call = VALISE_CALL_INIT;
    int64_t seq;

    some_files();
    run(t, v, "tree:scan", "{}");
    put("a", "22");
    seq = seq_of(t, v);
    call.actor = VLS_STR("stranger");
    CHECK_RC(VALISE_E_DENIED,
             valise_dispatch(NULL, v, "look:at", "{\"path\":\"a\"}", &call, &t->err));
    CHECK_INT(seq, seq_of(t, v));
}

/* ---- status ---- */

/* What status says of the context area: "name=value" words of those asked for, "-": not told. */
static const char *told_at(test *t, valise *v, const char *at_seq, const char *payload,
                           const char *const *names)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *json, *all = "";

    call.at = valise_str_of(at_seq);
    CHECK_OK(valise_dispatch(&reply, v, "workspace:status", payload, &call, &t->err));
    json = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    for (size_t i = 0; names[i]; i++) {
        const char *at = strstr(json, test_format("\"name\":\"%s\",\"value\":", names[i]));
        const char *value = at ? strstr(at, "\"value\":") + 8 : "-";
        all = test_format("%s%s%.*s", all, i ? " " : "", (int)strcspn(value, "}"), value);
    }
    return all;
}

static const char *told(test *t, valise *v, const char *payload, const char *const *names)
{
    return told_at(t, v, "", payload, names);
}

static void say(test *t, valise *v, const char *node)
{
    run(t, v, "frame:put", test_format("{\"node\":\"%s\",\"content\":\"eA==\"}", node));
}

static const char *const counters[] = {"slots", "heads", "heads marked", "frames", NULL};
static const char *const checked[] = {"tree differs",      "heads fresh",    "heads stale",
                                      "heads invalidated", "heads orphaned", NULL};

TEST(context_status, tells_from_counters_and_checks_when_asked) /* [L2] */
{
    valise *v = open_here(t);
    const char *state, *seq;

    CHECK_TEXT("- - - -", told(t, v, "{\"check\":true}", counters)); /* nothing was scanned */
    some_files();
    run(t, v, "tree:scan", "{}");
    CHECK_TEXT("0 0 - 0", told(t, v, "{}", counters));
    CHECK_TEXT("0 0 0 - 0", told(t, v, "{\"check\":true}", checked));
    say(t, v, "a");
    say(t, v, "d/b");
    run(t, v, "frame:put", "{\"node\":\"a\",\"type\":\"other\",\"content\":\"eA==\"}");
    run(t, v, "frame:put", "{\"node\":\"a\",\"content\":\"eQ==\"}");
    CHECK_TEXT("3 3 - 4", told(t, v, "{}", counters));
    CHECK_TEXT("- - - - -", told(t, v, "{}", checked));
    CHECK_TEXT("0 3 0 - 0", told(t, v, "{\"check\":true}", checked));
    put("a", "another text");
    put("new", "something new");
    CHECK(unlink(in_ws("d/b")) == 0);
    state = state_of(t, v);
    for (int i = 0; i < 2; i++) /* it records nothing: the second time it is the same */
        CHECK_TEXT("3 0 2 - 1", told(t, v, "{\"check\":true}", checked));
    CHECK_TEXT(state, state_of(t, v));
    seq = test_format("%lld", (long long)seq_of(t, v));
    run(t, v, "tree:scan", "{}");
    CHECK_TEXT("0 0 2 - 1", told(t, v, "{\"check\":true}", checked));
    CHECK_TEXT("3 3 - 4", told(t, v, "{}", counters));
    /* The past has its tree, and no files. */
    CHECK_TEXT("- 3 0 - 0", told_at(t, v, seq, "{\"check\":true}", checked));
}

/* ---- rules ---- */

TEST(context_ignore, each_path_has_its_rule) /* [C3] */
{
    valise *v = open_here(t);

    some_files();
    put(".gitignore", "*.o\n!keep.o\n");
    put("d/.valiseignore", "# \nx/\n");
    CHECK_TEXT(
        "{\"ignored\":3,\"paths\":["
        "{\"ignored\":true,\"line\":1,\"path\":\"a.o\",\"pattern\":\"*.o\","
        "\"source\":\".gitignore\"},"
        "{\"ignored\":false,\"line\":2,\"path\":\"keep.o\",\"pattern\":\"!keep.o\","
        "\"source\":\".gitignore\"},"
        "{\"ignored\":true,\"line\":2,\"path\":\"./d/x/\",\"pattern\":\"x/\","
        "\"source\":\"d/.valiseignore\"},"
        "{\"ignored\":false,\"path\":\"d/x\"},{\"ignored\":false,\"path\":\".\"},"
        "{\"ignored\":true,\"path\":\".valise\",\"pattern\":\".valise\",\"source\":\"built-in\"}]}",
        run(t, v, "tree:check-ignore",
            "{\"paths\":[\"a.o\",\"keep.o\",\"./d/x/\",\"d/x\",\".\",\".valise\"]}"));
    CHECK_RC(VALISE_E_INVALID, valise_dispatch(NULL, v, "tree:check-ignore",
                                               "{\"paths\":[\"../x\"]}", NULL, &t->err));
}

/* ---- no memory ---- */

typedef struct attempt {
    const char *type, *payload;
} attempt;

static int once(fault *f, void *arg)
{
    const attempt *a = arg;
    const char *root = test_format("%s/ws", f->dir);
    valise *v = NULL;
    int rc;

    fault_off(f);
    CHECK_INT(0, open_ws(&v, f->env, root, &f->err));
    CHECK(mkdir(test_format("%s/d", root), 0700) == 0);
    test_write_file(test_format("%s/a", root), VLS_STR("1"));
    test_write_file(test_format("%s/d/b", root), VLS_STR("1"));
    CHECK_INT(0, valise_dispatch(NULL, v, "tree:scan", "{}", NULL, &f->err));
    CHECK_INT(0, valise_dispatch(NULL, v, "frame:put", "{\"node\":\"d/b\",\"content\":\"eA==\"}",
                                 NULL, &f->err));
    test_write_file(test_format("%s/a", root), VLS_STR("222"));
    CHECK(rename(test_format("%s/d/b", root), test_format("%s/c", root)) == 0);
    fault_on(f);
    rc = valise_dispatch(NULL, v, a->type, a->payload, NULL, &f->err);
    fault_off(f);
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* the cache is not worth a failure */
    valise_close(v);
    return rc;
}

TEST(context_fault, no_memory)
{
    static const attempt attempts[] = {
        {"tree:scan", "{}"},
        {"look:at", "{\"path\":\"a\"}"},
        {"tree:ls", "{}"},
        {"tree:list", "{}"},
        {"workspace:status", "{\"check\":true}"},
        {"tree:check-ignore", "{\"paths\":[\"a\",\".git\"]}"},
        {"frame:put", "{\"node\":\"a\",\"content\":\"eA==\"}"},
        {"head:get", "{\"node\":\"a\",\"type\":\"x\"}"},
    };

    for (size_t i = 0; i < VLS_COUNT(attempts); i++) {
        test_note("%s", attempts[i].type);
        CHECK(fault_each_alloc(t, 0, once, (void *)(uintptr_t)&attempts[i]) > 0);
    }
}
