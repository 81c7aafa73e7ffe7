/* prune.c -- what may go of versions and slots, and what never does. [C30] */
#include <valise.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "context/kit.h"
#include "context/ops_prune.h"
#include "harness/fault.h"
#include "kit/replayed.h"

TEST_PARAMS(prune, "memory", "sqlite")

/* ---- a workspace whose clock is the test's ---- */

#define DAY (INT64_C(86400) * 1000000000)

static int64_t now; /* of the one test that runs */

static int64_t read_now(void *self)
{
    (void)self;
    return ++now;
}

static void close_it(void *arg)
{
    valise_close(arg);
}

static yard *open_yard(test *t)
{
    valise_env *env = test_alloc(sizeof(*env));
    yard *y;

    *env = *t->env;
    env->now_ns = read_now;
    now = 1000 * DAY;
    y = yard_open_with(t, env);
    test_defer(close_it, y->v);
    return y;
}

static int64_t number(yard *y, const char *json, const char *member)
{
    return strtoll(yard_member(y, json, member), NULL, 10);
}

static int64_t seq_of(yard *y)
{
    return number(y, yard_run(y, "workspace:hash", "{}"), "seq");
}

static const char *root_of(yard *y)
{
    return yard_member(y, yard_run(y, "node:get", "{\"node\":\".\",\"noScan\":true}"),
                       "contextRoot");
}

/* All but whether it was a dry run. */
static const char *told(yard *y, const char *report)
{
    static const char *const members[] = {"oldest", "versions", "nodes",  "heldVersions", "slots",
                                          "closed", "entries",  "frames", "heldSlots",    "which"};
    const char *all = "";

    for (size_t i = 0; i < VLS_COUNT(members); i++)
        all = test_format("%s%s=%s ", all, members[i], yard_member(y, report, members[i]));
    return all;
}

/* The report of a dry run is that of the real one; a second run writes nothing. */
static const char *prune(yard *y, const char *limits)
{
    int64_t before = seq_of(y), after;
    const char *dry = yard_run(y, "context:prune", test_format("{%s,\"dryRun\":true}", limits)),
               *real, *again;

    CHECK_INT(before, seq_of(y));
    real = yard_run(y, "context:prune", test_format("{%s}", limits));
    CHECK_TEXT(told(y, dry), told(y, real));
    after = seq_of(y);
    again = yard_run(y, "context:prune", test_format("{%s}", limits));
    CHECK_INT(after, seq_of(y));
    CHECK_INT(0, number(y, again, "versions") + number(y, again, "nodes") +
                     number(y, again, "slots") + number(y, again, "frames"));
    CHECK_INT(number(y, real, "oldest"), number(y, again, "oldest"));
    yard_check(y);
    return real;
}

static int try_at(yard *y, int64_t at, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    y->t->err = (valise_error)VALISE_ERROR_INIT;
    call.at = valise_str_of(test_format("%lld", (long long)at));
    rc = valise_dispatch(&reply, y->v, type, payload, &call, &y->t->err);
    valise_reply_release(&reply);
    return rc;
}

/* ---- versions ---- */

TEST(prune, the_newest_versions_stay)
{
    yard *y = open_yard(t);
    const char *old, *before, *answer;

    yard_grow(y, "a=1 d/x=1 d/y=1", "");
    old =
        yard_member(y, yard_run(y, "node:get", "{\"node\":\"a\",\"noScan\":true}"), "node.nodeId");
    yard_grow(y, "a=2 d/x=1 d/y=1", "");
    yard_grow(y, "a=3 d/x=1", "");
    yard_grow(y, "a=4 d/x=1 e=1", "");
    before = yard_run(y, "tree:ls", "{\"path\":\".\",\"at\":\"v3\"}");
    answer = prune(y, "\"versions\":2");
    CHECK_INT(3, number(y, answer, "oldest"));
    CHECK_INT(2, number(y, answer, "versions"));
    /* a, the root and d of two versions, and both rows of d/y: what it was, and that it went */
    CHECK_INT(2 + 2 + 1 + 2, number(y, answer, "nodes"));
    CHECK_TEXT(before, yard_run(y, "tree:ls", "{\"path\":\".\",\"at\":\"v3\"}"));
    CHECK_RC(VALISE_E_LIMIT, yard_try(y, NULL, "tree:ls", "{\"path\":\".\",\"at\":\"v2\"}", NULL));
    CHECK_TEXT("version 2 of the tree was pruned: 3 is the oldest", t->err.message);
    CHECK_RC(VALISE_E_NOT_FOUND, yard_try(y, NULL, "tree:ls", "{\"at\":\"v7\"}", NULL));
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "node:get", test_format("{\"node\":\"%s\"}", old), NULL));
    CHECK_MSG(strstr(t->err.message, "pruned") || strstr(t->err.hint, "pruned"), "%s", t->err.hint);
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try_put(y, NULL, "a", "notes", "old", test_format(",\"basis\":\"%s\"", old)));
    CHECK_MSG(strstr(t->err.message, "pruned") || strstr(t->err.hint, "pruned"), "%s", t->err.hint);
    /* It goes on from there. */
    yard_grow(y, "a=5 d/x=1 e=1", "");
    CHECK_INT(5, number(y, prune(y, "\"versions\":1"), "oldest"));
    CHECK_RC(VALISE_E_INVALID, yard_try(y, NULL, "context:prune", "{\"versions\":0}", NULL));
}

TEST(prune, versions_go_by_age)
{
    yard *y = open_yard(t);

    yard_grow(y, "a=1", "");
    now += 10 * DAY;
    yard_grow(y, "a=2", "");
    now += 10 * DAY;
    yard_grow(y, "a=3", "");
    CHECK_INT(1, number(y, prune(y, "\"olderThan\":\"30d\""), "oldest"));
    CHECK_INT(2, number(y, prune(y, "\"olderThan\":\"15d\""), "oldest"));
    now += 100 * DAY;
    CHECK_INT(3, number(y, prune(y, "\"olderThan\":\"15d\""), "oldest"));
    /* What any of the limits says may go, goes. */
    yard_grow(y, "a=4", "");
    yard_grow(y, "a=5", "");
    CHECK_INT(5, number(y, prune(y, "\"olderThan\":\"15d\",\"versions\":1"), "oldest"));
}

TEST(prune, a_state_of_the_past_says_that_it_was_pruned)
{
    yard *y = open_yard(t);
    int64_t first, second, third;

    yard_grow(y, "a=1 b=1", "");
    (void)yard_put(y, NULL, "b", "notes", "about b", "");
    first = seq_of(y);
    yard_grow(y, "a=2 b=1", "");
    (void)yard_put(y, NULL, "a", "notes", "about a", "");
    second = seq_of(y);
    yard_grow(y, "a=2", "");
    third = seq_of(y);
    (void)prune(y, "\"versions\":2,\"orphans\":true");
    /* The tree of then cannot be seen. */
    CHECK_RC(VALISE_E_LIMIT, try_at(y, first, "node:get", "{\"node\":\"b\"}"));
    CHECK_TEXT("version 1 of the tree was pruned: 2 is the oldest", t->err.message);
    CHECK_RC(VALISE_E_LIMIT, try_at(y, first, "context:report", "{}"));
    /* The tree can, what was known about b not. */
    CHECK_RC(0, try_at(y, second, "node:get", "{\"node\":\"a\"}"));
    CHECK_RC(0, try_at(y, second, "head:get", "{\"node\":\"a\"}"));
    CHECK_RC(VALISE_E_LIMIT, try_at(y, second, "node:get", "{\"node\":\"b\"}"));
    CHECK_TEXT("what was known about 'b' (notes) then was pruned since", t->err.message);
    CHECK_RC(VALISE_E_LIMIT, try_at(y, second, "head:get", "{\"node\":\"b\"}"));
    CHECK_RC(VALISE_E_LIMIT, try_at(y, second, "frame:list", "{\"node\":\"b\"}"));
    CHECK_RC(VALISE_E_LIMIT, try_at(y, second, "context:report", "{}"));
    CHECK_RC(VALISE_E_LIMIT, try_at(y, second, "node:compose", "{\"node\":\"a\"}"));
    CHECK_RC(0, try_at(y, third, "node:get", "{\"node\":\"a\"}"));
}

/* ---- slots ---- */

TEST(prune, orphans_go_with_what_only_they_have)
{
    yard *y = open_yard(t);
    const char *answer, *shared, *own, *kept, *root;

    yard_grow(y, "a=1 b=1 c=1 k=1 dir/x=1", "");
    shared = yard_member(y, yard_put(y, NULL, "a", "notes", "the same", ""), "frameId");
    (void)yard_put(y, NULL, "b", "notes", "the same", "");
    own = yard_member(y, yard_put(y, NULL, "a", "notes", "about a", ""), "frameId");
    (void)yard_put(y, NULL, "c", "notes", "about c", "");
    (void)yard_put(y, NULL, "c", "summary", "about c", "");
    kept = yard_member(y, yard_put(y, NULL, "k", "notes", "stays", ""), "frameId");
    root = root_of(y);
    answer = prune(y, "\"orphans\":true");
    CHECK_INT(0, number(y, answer, "slots"));
    CHECK_TEXT(root, root_of(y));
    yard_grow(y, "b=1 k=1 dir/x=1", "");
    CHECK_TEXT(root, root_of(y));
    answer = prune(y, "\"orphans\":true");
    CHECK_INT(3, number(y, answer, "slots"));
    CHECK_INT(4, number(y, answer, "entries"));
    CHECK_INT(3, number(y, answer, "frames"));
    CHECK_INT(0, number(y, answer, "versions"));
    CHECK_TEXT("a", yard_member(y, answer, "which.0.path"));
    CHECK_TEXT("summary", yard_member(y, answer, "which.2.type"));
    CHECK(strcmp(root, root_of(y)) != 0);
    CHECK_RC(0, yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", shared), NULL));
    CHECK_RC(0, yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", kept), NULL));
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", own), NULL));
    CHECK_MSG(strstr(t->err.hint, "pruned"), "%s", t->err.hint);
    /* The other one that had the shared frame. */
    yard_grow(y, "k=1 dir/x=1", "");
    CHECK_INT(1, number(y, prune(y, "\"orphans\":true"), "frames"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", shared), NULL));
    /* What comes back begins anew, and says the same with the same id. */
    yard_grow(y, "a=1 k=1 dir/x=1", "");
    CHECK_TEXT(own, yard_member(y, yard_put(y, NULL, "a", "notes", "about a", ""), "frameId"));
    yard_check(y);
}

/* The root of what is known is that of one who never knew what went. */
TEST(prune, what_is_left_is_as_if_it_had_been_alone)
{
    yard *y = open_yard(t);
    const char *root;

    yard_grow(y, "k=1", "");
    (void)yard_put(y, NULL, "k", "notes", "stays", "");
    root = root_of(y);
    yard_grow(y, "k=1 d/a=1 d/b=1", "");
    for (int i = 0; i < 40; i++)
        (void)yard_put(y, NULL, i % 2 ? "d/a" : "d/b", test_format("t%d", i % 7),
                       test_format("words %d", i), "");
    (void)yard_put(y, NULL, "d", "notes", "a directory", "");
    CHECK(strcmp(root, root_of(y)) != 0);
    yard_grow(y, "k=1", "");
    (void)prune(y, "\"orphans\":true");
    CHECK_TEXT(root, root_of(y));
}

TEST(prune, closed_slots_and_such_without_a_head_go_too)
{
    yard *y = open_yard(t);
    const char *answer, *old;

    yard_grow(y, "c=1 d=1 k=1", "");
    old =
        yard_member(y, yard_run(y, "node:get", "{\"node\":\"d\",\"noScan\":true}"), "node.nodeId");
    (void)yard_put(y, NULL, "c", "notes", "a file", "");
    (void)yard_put(y, NULL, "k", "notes", "stays", "");
    yard_grow(y, "c/x=1 d=2 k=1", "");
    (void)yard_put(y, NULL, "c", "notes", "a directory", ""); /* closes the other one */
    (void)yard_put(y, NULL, "d", "past", "as it was", test_format(",\"basis\":\"%s\"", old));
    yard_grow(y, "c/x=1 k=1", "");
    answer = prune(y, "\"orphans\":true");
    CHECK_INT(2, number(y, answer, "slots"));
    CHECK_INT(1, number(y, answer, "closed"));
    CHECK_INT(2, number(y, answer, "frames"));
    CHECK_TEXT("fresh", yard_state(y, "c", "notes"));
    /* One that is orphaned since something of another kind lies there, and nobody closed it. */
    yard_grow(y, "c=1 k=1", "");
    CHECK_INT(1, number(y, prune(y, "\"orphans\":true"), "slots"));
}

TEST(prune, orphans_by_age_and_number)
{
    yard *y = open_yard(t);
    const char *answer;

    yard_grow(y, "a=1 b=1 c=1 k=1", "");
    (void)yard_put(y, NULL, "a", "notes", "1", "");
    (void)yard_put(y, NULL, "b", "notes", "2", "");
    (void)yard_put(y, NULL, "c", "notes", "3", "");
    now += 100 * DAY;
    yard_grow(y, "b=1 c=1 k=1", "");
    now += 10 * DAY;
    yard_grow(y, "c=1 k=1", "");
    now += 10 * DAY;
    yard_grow(y, "k=1", "");
    CHECK_INT(0, number(y, prune(y, "\"orphans\":true,\"olderThan\":\"30d\""), "slots"));
    answer = prune(y, "\"orphans\":true,\"olderThan\":\"15d\"");
    CHECK_INT(1, number(y, answer, "slots"));
    CHECK_INT(0, number(y, answer, "versions"));
    CHECK_TEXT("a", yard_member(y, answer, "which.0.path"));
    (void)yard_run(y, "retention:set", "{\"kind\":\"orphans\",\"keepLatest\":1}");
    (void)yard_run(y, "workspace:gc", "{}");
    answer = prune(y, "\"orphans\":true");
    CHECK_INT(1, number(y, answer, "slots"));
    CHECK_TEXT("c", yard_member(y, answer, "which.0.path"));
}

/* Since when one is an orphan is known even where the version that says so went before. */
TEST(prune, orphans_remember_since_when)
{
    yard *y = open_yard(t);

    yard_grow(y, "a/b=1 k=1", "");
    (void)yard_put(y, NULL, "a/b", "notes", "1", "");
    (void)yard_put(y, NULL, "a", "notes", "1", "");
    now += 100 * DAY;
    yard_grow(y, "k=1", "");
    for (int i = 2; i < 12; i++) { /* each is pruned when it is ten days old */
        now += 10 * DAY;
        yard_grow(y, test_format("k=%d", i), "");
        (void)prune(y, "\"versions\":1");
        CHECK_INT(i < 10 ? 0 : 2, number(y,
                                         yard_run(y, "context:prune",
                                                  "{\"orphans\":true,\"olderThan\":\"85d\","
                                                  "\"dryRun\":true}"),
                                         "slots"));
    }
    CHECK_INT(2, number(y, prune(y, "\"orphans\":true,\"olderThan\":\"85d\""), "slots"));
}

/* [C30] "--older-than" alone is about everything. */
TEST(prune, older_than_means_both)
{
    yard *y = open_yard(t);
    const char *answer;

    yard_grow(y, "a=1 k=1", "");
    (void)yard_put(y, NULL, "a", "notes", "1", "");
    yard_grow(y, "k=1", "");
    now += DAY;
    yard_grow(y, "k=2", "");
    answer = prune(y, "\"olderThan\":\"1h\"");
    CHECK_INT(2, number(y, answer, "versions"));
    CHECK_INT(1, number(y, answer, "slots"));
    /* Moved and pruned: its slot went with it, and is none of these. */
    (void)yard_put(y, NULL, "k", "notes", "1", "");
    yard_grow(y, "m=2", "k>m");
    now += DAY;
    yard_grow(y, "m=2 n=1", "");
    CHECK_INT(0, number(y, prune(y, "\"olderThan\":\"1h\""), "slots"));
    CHECK_TEXT("fresh", yard_state(y, "m", "notes"));
}

/* ---- what holds ---- */

TEST(prune, pins_hold_what_they_hold)
{
    yard *y = open_yard(t);
    const char *answer;
    int64_t seq;

    yard_grow(y, "a=1 b=1 k=1", "");
    (void)yard_put(y, NULL, "a", "notes", "pinned", "");
    yard_grow(y, "a=2 b=1 k=1", "");
    seq = seq_of(y);
    (void)yard_run(y, "pin:add",
                   test_format("{\"name\":\"p\",\"target\":\"%lld\"}", (long long)seq));
    yard_grow(y, "a=3 b=1 k=1", "");
    (void)yard_put(y, NULL, "b", "notes", "later", "");
    yard_grow(y, "k=1", "");
    answer = prune(y, "\"versions\":1,\"orphans\":true");
    CHECK_INT(2, number(y, answer, "oldest"));
    CHECK_INT(2, number(y, answer, "heldVersions"));
    CHECK_INT(1, number(y, answer, "slots"));
    CHECK_TEXT("b", yard_member(y, answer, "which.0.path"));
    CHECK_INT(1, number(y, answer, "heldSlots"));
    CHECK_RC(0, try_at(y, seq, "node:get", "{\"node\":\"a\"}"));
    (void)yard_run(y, "pin:remove", "{\"name\":\"p\"}");
    answer = prune(y, "\"versions\":1,\"orphans\":true");
    CHECK_INT(4, number(y, answer, "oldest"));
    CHECK_INT(1, number(y, answer, "slots"));
}

/* A frame that is pinned as a row stays, whatever becomes of the slots it is in later. */
TEST(prune, a_pinned_frame_stays)
{
    yard *y = open_yard(t);
    const char *frame;

    yard_grow(y, "a=1 b=1 k=1", "");
    frame = yard_member(y, yard_put(y, NULL, "a", "notes", "x", ""), "frameId");
    (void)yard_run(y, "pin:add", test_format("{\"name\":\"p\",\"target\":\"frame/%s\"}", frame));
    (void)yard_put(y, NULL, "b", "notes", "x", "");
    yard_grow(y, "k=1", "");
    CHECK_INT(0, number(y, prune(y, "\"orphans\":true"), "frames"));
    CHECK_RC(0, yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", frame), NULL));
}

/* Rows of anybody's collections: what a prompt or a session will be. */
typedef struct mention_row {
    int64_t id;
    valise_id frame;
    valise_list frames; /* of valise_id */
} mention_row;

static const valise_field frame_item = {.name = "frame", .type = VALISE_T_ID, .ref = "frame"};
static const valise_field mention_fields[] = {
    VALISE_FIELD(mention_row, id, INT, VALISE_REQUIRED | VALISE_KEY, "Its number."),
    VALISE_FIELD_WITH(mention_row, frame, ID, VALISE_NULLABLE, "A frame.", .ref = "frame"),
    VALISE_FIELD_WITH(mention_row, frames, LIST, 0, "Frames.", .more = &frame_item),
    VALISE_FIELD_END,
};
static const valise_coll mentions = {.size = sizeof(valise_coll),
                                     .name = "toy.mention",
                                     .help = "It speaks of frames.",
                                     .fields = mention_fields,
                                     .row_size = sizeof(mention_row),
                                     .needs = "toy:read"};

static int mention(valise_view *view, const void *in, void *out, valise_error *err)
{
    (void)out;
    return valise_view_put(view, &mentions, in, err);
}

static const valise_op mention_op = {.size = sizeof(valise_op),
                                     .name = "toy:mention",
                                     .brief = "Speak of frames.",
                                     .kind = VALISE_COMMAND,
                                     .needs = "toy:write",
                                     .in = mention_fields,
                                     .in_size = sizeof(mention_row),
                                     .decide = mention,
                                     .example = "{\"frames\":[],\"id\":1}"};
static const valise_op *const toy_ops[] = {&mention_op, NULL};
static const valise_coll *const toy_colls[] = {&mentions, NULL};
static const valise_extension toy = {.size = sizeof(valise_extension),
                                     .abi = VALISE_EXTENSION_ABI,
                                     .name = "toy",
                                     .version = "1",
                                     .collections = toy_colls,
                                     .operations = toy_ops};

TEST(prune, whatever_refers_to_a_frame_holds_it)
{
    static const valise_extension *const extensions[] = {&toy, NULL};
    yard *y = test_alloc(sizeof(*y));
    valise_options o = VALISE_OPTIONS_INIT;
    const char *one, *two, *three;

    *y = (yard){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&y->v, ":memory:", &o, &t->err));
    test_defer(close_it, y->v);
    yard_grow(y, "a=1 k=1", "");
    one = yard_member(y, yard_put(y, NULL, "a", "notes", "one", ""), "frameId");
    two = yard_member(y, yard_put(y, NULL, "a", "notes", "two", ""), "frameId");
    three = yard_member(y, yard_put(y, NULL, "a", "notes", "three", ""), "frameId");
    (void)yard_run(y, "toy:mention",
                   test_format("{\"id\":1,\"frame\":\"%s\",\"frames\":[\"%s\"]}", one, two));
    yard_grow(y, "k=1", "");
    CHECK_INT(1, number(y, yard_run(y, "context:prune", "{\"orphans\":true}"), "frames"));
    CHECK_RC(0, yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", one), NULL));
    CHECK_RC(0, yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", two), NULL));
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "frame:show", test_format("{\"frame\":\"%s\"}", three), NULL));
    CHECK_MSG(!strstr(yard_run(y, "workspace:validate", NULL), "problem"), "damaged");
}

/* An orphan is looked at again in the command that drops it. */
TEST(prune, a_file_that_is_back_keeps_its_slot)
{
    yard *y = open_yard(t);
    const vls_run_more internal = {.internal = true};
    vls_slot_drop_result result = {.slots = 7};
    const char *found;
    vls_orphan one = {.path = VLS_STR("a"), .type = VLS_STR("notes")};
    const vls_orphan *list[] = {&one};
    const vls_slot_drop_args args = {.slots = {list, 1}};

    yard_grow(y, "a=1 k=1", "");
    found = yard_put(y, NULL, "a", "notes", "x", "");
    found = yard_run(y, "event:list", "{\"types\":[\"head.moved\"]}");
    CHECK_OK(vls_uuid_parse(&one.id, valise_str_of(yard_member(y, found, "items.0.payload.slot")),
                            &t->err));
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_drop, &args, &result, NULL, NULL, &internal, &t->err));
    CHECK_INT(0, result.slots);
    yard_grow(y, "k=1", "");
    (void)yard_run(y, "pin:add", "{\"name\":\"p\"}"); /* a pin that came meanwhile */
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_drop, &args, &result, NULL, NULL, &internal, &t->err));
    CHECK_INT(0, result.slots);
    (void)yard_run(y, "pin:remove", "{\"name\":\"p\"}");
    one.id.bytes[15] ^= 1; /* another slot at the same place */
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_drop, &args, &result, NULL, NULL, &internal, &t->err));
    CHECK_INT(0, result.slots);
    one.id.bytes[15] ^= 1;
    CHECK_OK(
        vls_run(y->v, &vls_op_context_slot_drop, &args, &result, NULL, NULL, &internal, &t->err));
    CHECK_INT(1, result.slots);
    yard_check(y);
}

/* Nobody knows what lies in it; the tree shows nothing there. */
TEST(prune, what_cannot_be_read_now_is_not_gone)
{
    yard *y = open_yard(t);
    const char *answer;

    yard_grow(y, "d/a=1 d/e/b=1 f=1 g/c=1", "");
    (void)yard_put(y, NULL, "d/a", "notes", "of a", "");
    (void)yard_put(y, NULL, "d/e/b", "notes", "of b", "");
    (void)yard_put(y, NULL, "f", "notes", "of f", "");
    (void)yard_put(y, NULL, "d", "notes", "of d", "");
    (void)yard_put(y, NULL, "g/c", "notes", "of c", "");
    yard_grow(y, "d! f!", "");
    CHECK_TEXT("stale node-changed", yard_state(y, "d/a", "notes"));
    CHECK_TEXT("stale node-changed", yard_state(y, "d/e/b", "notes"));
    CHECK_TEXT("orphaned", yard_state(y, "g/c", "notes"));
    answer = prune(y, "\"orphans\":true");
    CHECK_INT(1, number(y, answer, "slots"));
    CHECK_TEXT("g/c", yard_member(y, answer, "which.0.path"));
    (void)prune(y, "\"versions\":1,\"orphans\":true");
    yard_grow(y, "d/a=1 d/e/b=1 f=1", "");
    CHECK_TEXT("fresh", yard_state(y, "d/a", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "d/e/b", "notes"));
    CHECK_TEXT("fresh", yard_state(y, "f", "notes"));
    yard_grow(y, "d! f=1", "");
    yard_grow(y, "f=1", ""); /* now it is */
    CHECK_INT(3, number(y, prune(y, "\"orphans\":true"), "slots"));
}

/* ---- the keep policy ---- */

TEST(prune, limits_are_those_of_retention)
{
    yard *y = open_yard(t);
    const char *answer;

    yard_grow(y, "a=1 k=1", "");
    (void)yard_put(y, NULL, "a", "notes", "x", "");
    yard_grow(y, "k=1", "");
    for (int i = 2; i < 10; i++)
        yard_grow(y, test_format("k=%d", i), "");
    CHECK_RC(VALISE_E_INVALID, yard_try(y, NULL, "context:prune", "{}", NULL));
    CHECK_MSG(strstr(t->err.hint, "retention set tree"), "%s", t->err.hint);
    (void)yard_run(y, "retention:set", "{\"kind\":\"tree\",\"keepLatest\":6}");
    answer = yard_run(y, "context:prune", "{\"dryRun\":true}");
    CHECK_INT(5, number(y, answer, "oldest"));
    CHECK_INT(0, number(y, answer, "slots"));
    answer = yard_run(y, "workspace:gc", "{}");
    CHECK(number(y, answer, "rows") > 0);
    CHECK_INT(0, number(y, yard_run(y, "context:prune", "{}"), "versions"));
    CHECK_INT(0, number(y, yard_run(y, "workspace:gc", "{}"), "rows"));
    CHECK_RC(VALISE_E_LIMIT, yard_try(y, NULL, "tree:ls", "{\"at\":\"v4\"}", NULL));
    CHECK_RC(0, yard_try(y, NULL, "tree:ls", "{\"at\":\"v5\"}", NULL));
    (void)yard_run(y, "retention:set", "{\"kind\":\"orphans\",\"age\":\"1d\"}");
    CHECK_INT(0, number(y, yard_run(y, "context:prune", "{}"), "slots"));
    now += 2 * DAY;
    CHECK_INT(1, number(y, yard_run(y, "context:prune", "{\"dryRun\":true}"), "slots"));
    CHECK_INT(3, number(y, yard_run(y, "workspace:gc", "{}"), "rows")); /* slot, entry, frame */
    CHECK_RC(VALISE_E_INVALID,
             yard_try(y, NULL, "retention:set", "{\"kind\":\"tree\",\"bytes\":1000}", NULL));
    CHECK_TEXT("bytes are not counted for the history tree", t->err.message);
    CHECK_RC(VALISE_E_NOT_FOUND,
             yard_try(y, NULL, "retention:set", "{\"kind\":\"nothing\",\"age\":\"1d\"}", NULL));
    CHECK_MSG(strstr(t->err.hint, "orphans") && strstr(t->err.hint, "tree"), "%s", t->err.hint);
    yard_check(y);
}

/* ---- telling ---- */

TEST(prune, followers_hear_of_it)
{
    yard *y = open_yard(t);
    const char *list, *moved;

    yard_grow(y, "a=1 k=1 f=1", "");
    (void)yard_put(y, NULL, "a", "notes", "x", "");
    (void)yard_put(y, NULL, "f", "notes", "y", "");
    yard_grow(y, "b=1 k=1 f/x=1", "a>b");
    (void)yard_put(y, NULL, "f", "notes", "z", ""); /* closes one */
    yard_grow(y, "k=1", "");
    (void)prune(y, "\"versions\":1,\"orphans\":true");
    list = yard_run(y, "event:list", "{\"types\":[\"tree.pruned\"]}");
    CHECK_INT(3, number(y, list, "items.0.payload.oldest"));
    CHECK_INT(2, number(y, list, "items.0.payload.versions"));
    CHECK_TEXT("", yard_member(y, list, "items.1.type"));
    list = yard_run(y, "event:list", "{\"types\":[\"slot.pruned\"]}");
    CHECK_TEXT("b", yard_member(y, list, "items.0.payload.path"));
    CHECK_TEXT("f", yard_member(y, list, "items.1.payload.path"));
    CHECK_INT(1, number(y, list, "items.0.payload.frames"));
    CHECK_TEXT("",
               yard_member(y, list, "items.2.type")); /* neither the move nor the close is one */
    moved = yard_run(y, "event:list", "{\"types\":[\"tree.changed\"]}");
    CHECK_INT(2, number(y, moved, "items.1.payload.version"));
}

/* ---- copies ---- */

TEST(prune, a_pruned_workspace_travels)
{
    yard *y = open_yard(t);
    const char *file = test_format("%s/pruned.vb", test_tmpdir()), *hash;

    yard_grow(y, "a=1 k=1 d/e=1", "");
    (void)yard_put(y, NULL, "a", "notes", "x", "");
    (void)yard_put(y, NULL, "k", "notes", "y", "");
    yard_grow(y, "k=1 d/e=1", "");
    yard_grow(y, "k=2 d/e=1", "");
    yard_grow(y, "k=3 d/e=1", "");
    (void)prune(y, "\"versions\":2,\"orphans\":true");
    hash = yard_member(y, yard_run(y, "workspace:hash", "{}"), "hash");
    (void)yard_run(y, "workspace:export", test_format("{\"file\":\"%s\"}", file));
    {
        valise_options o = VALISE_OPTIONS_INIT;
        yard copy = {.t = t, .state = y->state, .version = y->version};
        o.env = t->env;
        o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
        CHECK_OK(valise_open(&copy.v, ":memory:", &o, &t->err));
        test_defer(close_it, copy.v);
        (void)yard_run(&copy, "workspace:import", test_format("{\"file\":\"%s\"}", file));
        CHECK_TEXT(hash, yard_member(&copy, yard_run(&copy, "workspace:hash", "{}"), "hash"));
        CHECK_RC(VALISE_E_LIMIT, yard_try(&copy, NULL, "tree:ls", "{\"at\":\"v2\"}", NULL));
        CHECK_RC(0, yard_try(&copy, NULL, "tree:ls", "{\"at\":\"v3\"}", NULL));
        yard_check(&copy);
        CHECK_INT(0, number(&copy, yard_run(&copy, "context:prune", "{\"versions\":2}"), "nodes"));
        CHECK_INT(4, number(&copy, yard_run(&copy, "context:prune", "{\"versions\":1}"), "oldest"));
        yard_check(&copy);
    }
}

TEST(prune, a_workspace_without_a_tree)
{
    yard *y = open_yard(t);
    const char *answer = yard_run(y, "context:prune", "{\"versions\":1,\"orphans\":true}");

    CHECK_INT(0, number(y, answer, "oldest"));
    CHECK_INT(0, number(y, answer, "slots"));
}

/* ---- when there is no memory ---- */

static int prune_once(fault *f, void *arg)
{
    valise_reply reply = VALISE_REPLY_INIT;
    test local = *f->t;
    yard *y;
    int rc;

    (void)arg;
    fault_off(f);
    y = yard_open_with(&local, f->env);
    y->t = f->t;
    yard_grow(y, "a=1 k=1 d/e=1", "");
    (void)yard_put(y, NULL, "a", "notes", "x", "");
    yard_grow(y, "k=1", "");
    yard_grow(y, "k=2", "");
    fault_on(f);
    rc = valise_dispatch(&reply, y->v, "context:prune", "{\"versions\":1,\"orphans\":true}", NULL,
                         &f->err);
    fault_off(f);
    valise_reply_release(&reply);
    yard_check(y);
    (void)yard_run(y, "context:prune", "{\"versions\":1,\"orphans\":true}");
    CHECK_INT(VALISE_E_LIMIT, yard_try(y, NULL, "tree:ls", "{\"at\":\"v2\"}", NULL));
    yard_check(y);
    f->recovered = rc == 0; /* caches do without */
    valise_close(y->v);
    fault_on(f);
    return rc;
}

TEST(prune, no_memory)
{
    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    fault_each_alloc(t, 0, prune_once, NULL);
}
