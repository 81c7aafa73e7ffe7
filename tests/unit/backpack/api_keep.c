/* api_keep.c -- durable backpacks: write-behind, crashes, processes, replay, erasure, dropping. */
#include <dirent.h>

#include "api_kit.h"
#include "base/hex.h"
#include "harness/kill.h"
#include "harness/process.h"
#include "kit/replayed.h"

TEST_PARAMS(api_keep, "memory", "sqlite")

static valise_backpack *behind(desk *d, const char *name)
{
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_WRITE_BEHIND);

    return bag_with(d, name, &o);
}

static int64_t log_seq(desk *d)
{
    valise_reply reply = VALISE_REPLY_INIT;
    int64_t seq;

    CHECK_INT(0, valise_dispatch(&reply, d->v, "backpack:list", "{}", NULL, NULL));
    seq = reply.seq;
    valise_reply_release(&reply);
    return seq;
}

/* ---- write-behind ---- */

TEST(api_keep, packs_wait_for_the_flush) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *other = bag_of(d, "run-1");
    valise_packed packed;
    int64_t seq = log_seq(d);

    memset(&packed, 0x55, sizeof(packed));
    for (int i = 0; i < 10; i++)
        CHECK_OK(valise_pack(&packed, bag, test_format("k%d", i), "1", NULL, &t->err));
    CHECK(packed.applied && packed.seq == 0 && packed.version == 0);
    CHECK_INT(seq, log_seq(d));
    CHECK_TEXT("", items(other));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_INT(seq + 10, log_seq(d));
    CHECK_TEXT("k0 k1 k2 k3 k4 k5 k6 k7 k8 k9", keys(other));
    CHECK_OK(valise_backpack_flush(bag, &t->err)); /* nothing waits */
    CHECK_INT(seq + 10, log_seq(d));
    CHECK_OK(valise_backpack_flush(other, &t->err));
}

/* Whatever else is done with it, through any of its handles, sees what was packed. */
TEST(api_keep, nobody_who_uses_it_can_tell) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *state = NULL, *node, *fork = NULL, *base;
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_WRITE_BEHIND);
    valise_usage usage = VALISE_USAGE_INIT;
    int64_t count;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_TEXT("1", got(bag, "a"));
    CHECK_OK(pack(bag, "a", "2", &t->err));
    CHECK_TEXT("1 pack a v1 by unknown; 2 pack a v2 by unknown", all_history(bag));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_OK(valise_snapshot_at_seq(&state, bag, 3, &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_TEXT("~b=1>2", differs(state, bag));
    CHECK_OK(pack(bag, "c", "1", &t->err));
    CHECK_INT(1, removal(bag, "c", &t->err));
    CHECK_OK(pack(bag, "c", "2", &t->err));
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK_INT(7, usage.commits);
    node = node_of(d, bag, "n", "", NULL);
    CHECK_OK(pack(node, "n", "1", &t->err));
    CHECK_OK(pack(bag, "m", "1", &t->err));
    CHECK_TEXT("1", got(node, "m"));
    CHECK_STR(VLS_STR("n"), item_of(bag, "n").node_id);
    base = at_point(d, bag, "now");
    CHECK_OK(valise_backpack_fork(&fork, bag, "run-2", &o, &t->err));
    close_later(fork);
    CHECK_OK(pack(fork, "theirs", "1", &t->err)); /* waits, and is merged all the same */
    CHECK_OK(pack(bag, "ours", "1", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    valise_backpack_close(state);
}

TEST(api_keep, closing_flushes_and_so_does_the_end_of_a_run) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_WRITE_BEHIND);
    const valise_node n = {.size = sizeof(n), .id = VLS_STR("n")};
    valise_backpack *bag = NULL, *node = NULL, *state, *other = bag_of(d, "run-1");

    CHECK_OK(valise_backpack_open(&bag, d->v, "run-1", &o, &t->err));
    CHECK_OK(valise_backpack_node(&node, bag, &n, &t->err));
    CHECK_OK(pack(node, "a", "1", &t->err));
    CHECK_TEXT("", items(other));
    valise_backpack_close(node);
    CHECK_TEXT("a=1", items(other));
    CHECK_TEXT("a=1", items(at_point(d, other, "after:n")));
    state = at_point(d, bag, "0"); /* holds the handle */
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_TEXT("a=1", items(other));
    valise_backpack_close(bag);
    CHECK_TEXT("a=1 b=1", items(other));
    CHECK_TEXT("", items(state));
}

/* An item that only this node may write. */
static void pack_for(desk *d, valise_backpack *bag, const char *key, const char *node)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.write = names_of((const char *const[]){node, NULL});
    CHECK_INT(0, valise_pack(NULL, bag, key, "0", &o, d->err));
    CHECK_INT(0, valise_backpack_flush(bag, d->err));
}

/* What a node expects is asked for without anything being read. [B22] [B29] [K8] */
TEST(api_keep, a_node_that_can_be_tainted_expects_a_version)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_pack_options expects = VALISE_PACK_OPTIONS_INIT;

    for (int way = 0; way < 2; way++) {
        valise_backpack *bag, *node;
        o.flags |= way ? VALISE_BACKPACK_WRITE_BEHIND : 0;
        bag = bag_with(d, way ? "behind" : "run-1", &o);
        node = node_of(d, bag, "n", "", NULL);
        expects.expect = 0;
        CHECK_OK(valise_pack(NULL, node, "a", "1", &expects, &t->err));
        expects.expect = 1;
        CHECK_OK(valise_pack(NULL, node, "a", "2", &expects, &t->err));
        CHECK_OK(valise_backpack_flush(bag, &t->err));
        CHECK_TEXT("a=2", items(bag));
    }
}

/* What is refused is refused by the flush, which keeps nothing: that one is gone, the others are
 * kept by the next. */
TEST(api_keep, one_that_is_refused_does_not_hold_up_the_others) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *other = bag_of(d, "run-1");
    valise_backpack *node = node_of(d, bag, "n", "", NULL), *m = node_of(d, bag, "m", "", NULL);
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    int64_t seq;

    pack_for(d, bag, "theirs", "m");
    seq = log_seq(d);
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(node, "theirs", "1", &t->err));
    CHECK_OK(pack(m, "b", "1", &t->err));
    o.expect = 7;
    CHECK_OK(valise_pack(NULL, bag, "a", "2", &o, &t->err));
    CHECK_OK(pack(bag, "c", "1", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_flush(bag, &t->err));
    CHECK(strstr(t->err.message, "node 'n' may not write 'theirs'"));
    CHECK_TEXT("[1]", t->err.path);
    CHECK_INT(seq, log_seq(d));
    CHECK_TEXT("theirs=0", items(other));
    CHECK_RC(VALISE_E_CONFLICT, valise_permit(bag, "n", NULL, &t->err));
    CHECK_OK(valise_permit(bag, "n", NULL, &t->err));
    CHECK_TEXT("a=1 b=1 c=1 theirs=0", items(other));
    CHECK_TEXT("1", got(m, "a"));
    CHECK_TEXT("pack theirs denied by n", accesses(bag, "n", true)); /* once */
}

/* A node's view goes without a word: what others packed is kept, its run ends, and who flushes next
 * is told what was refused. */
TEST(api_keep, closing_keeps_what_is_not_refused) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_WRITE_BEHIND);
    const valise_node n = {.size = sizeof(n), .id = VLS_STR("n")};
    valise_backpack *bag = NULL, *node = NULL, *other = bag_of(d, "run-1");

    CHECK_OK(valise_backpack_open(&bag, d->v, "run-1", &o, &t->err));
    CHECK_OK(valise_backpack_node(&node, bag, &n, &t->err));
    pack_for(d, bag, "theirs", "m");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(node, "theirs", "1", &t->err));
    CHECK_OK(pack(node, "theirs", "2", &t->err));
    CHECK_OK(pack(node, "b", "1", &t->err));
    valise_backpack_close(node);
    CHECK_TEXT("a=1 b=1 theirs=0", items(other));
    CHECK_TEXT("a=1 b=1 theirs=0", items(at_point(d, other, "after:n")));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_flush(bag, &t->err));
    CHECK(strstr(t->err.message, "theirs"));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    node = NULL;
    CHECK_OK(valise_backpack_node(&node, bag, &n, &t->err));
    CHECK_OK(pack(node, "theirs", "3", &t->err));
    CHECK_OK(pack(bag, "c", "1", &t->err));
    valise_backpack_close(bag);
    valise_backpack_close(node);
    CHECK_TEXT("a=1 b=1 c=1 theirs=0", items(other));
}

static int refuse_for_now(void *self, valise_pass *pass, valise_error *err)
{
    const int *code = self;

    (void)pass;
    if (*code == 0)
        return 0;
    err->code = *code;
    (void)snprintf(err->message, sizeof(err->message), "not now");
    return *code;
}

/* A guard may refuse with any code: what will be refused again does not hold up the others. */
TEST(api_keep, what_is_not_supported_is_refused) /* [B29] */
{
    int code = 0;
    const valise_middleware m = {
        .size = sizeof(m), .name = "m", .self = &code, .before = refuse_for_now};
    const valise_middleware *const list[] = {&m, NULL};
    valise_options how = VALISE_OPTIONS_INIT;
    valise_backpack *bag;
    desk *d;

    how.middleware = list;
    d = desk_open_with(t, &how);
    bag = behind(d, "run-1");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    code = VALISE_E_UNSUPPORTED;
    CHECK_RC(VALISE_E_UNSUPPORTED, valise_backpack_flush(bag, &t->err));
    code = 0;
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_TEXT("b=1", items(bag));
}

/* What has nothing to do with the command is worth another try. */
TEST(api_keep, what_fails_for_now_keeps_all_waiting) /* [B29] */
{
    static const int codes[] = {VALISE_E_IO, VALISE_E_BUSY, VALISE_E_NO_MEMORY, VALISE_E_CORRUPT};
    int code = 0;
    const valise_middleware m = {
        .size = sizeof(m), .name = "m", .self = &code, .before = refuse_for_now};
    const valise_middleware *const list[] = {&m, NULL};
    valise_options how = VALISE_OPTIONS_INIT;
    desk *d;
    valise_backpack *bag, *other;

    how.middleware = list;
    d = desk_open_with(t, &how);
    bag = behind(d, "run-1");
    other = bag_of(d, "run-1");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    for (size_t i = 0; i < VLS_COUNT(codes); i++) {
        code = codes[i];
        CHECK_RC(code, valise_backpack_flush(bag, &t->err));
    }
    code = 0;
    CHECK_TEXT("", items(other));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_TEXT("a=1 b=1", items(other));
}

/* What its permissions do not allow a node is said at once, and recorded once. */
TEST(api_keep, what_a_node_may_not_write_does_not_wait) /* [B29] [B19] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *other = bag_of(d, "run-1");
    const valise_permissions p = {.deny = NAMES("secret")}, q = {.namespace_write = NAMES("x")};
    valise_backpack *node = node_of(d, bag, "n", "", &p), *in_x = node_of(d, bag, "x", "x", &q);
    valise_backpack *in_y = node_of(d, bag, "y", "y", &q);
    listener *l = listen_to(d, "BACKPACK_DENIED"), *refusals = listen_to(d, "access:denied");

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(node, "secret", "1", &t->err));
    CHECK_TEXT("node 'n' may not write 'secret'", t->err.message);
    CHECK(strstr(heard(l), "secret"));
    CHECK_TEXT("", heard(l));
    CHECK(strstr(heard(refusals), "backpack:pack"));
    CHECK_TEXT("", heard(refusals));
    CHECK_TEXT("", items(other)); /* the others wait on */
    CHECK_OK(pack(in_x, "b", "1", &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(in_y, "c", "1", &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_TEXT("a=1 b=1", items(other));
    CHECK_TEXT("pack secret denied by n", accesses(bag, "n", true));
    CHECK_OK(valise_permit(other, "n", NULL, &t->err)); /* now it may */
    CHECK_OK(pack(node, "secret", "1", &t->err));
    CHECK_TEXT("a=1 b=1 secret=1", items(bag));
    CHECK_OK(valise_permit(other, "n", &p, &t->err)); /* and the view has not looked yet */
    CHECK_OK(pack(node, "secret", "2", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_flush(bag, &t->err));
    CHECK_TEXT("a=1 b=1 secret=1", items(bag));
}

TEST(api_keep, a_lenient_one_says_at_once_what_it_does_not_do) /* [B29] [B20] */
{
    desk *d = desk_open(t);
    valise_backpack_options o =
        desk_options(d, VALISE_BACKPACK_WRITE_BEHIND | VALISE_BACKPACK_LENIENT);
    valise_backpack *bag = bag_with(d, "run-1", &o);
    const valise_permissions p = {.deny = NAMES("secret")};
    valise_backpack *node = node_of(d, bag, "n", "", &p);
    valise_packed packed = {.applied = true};

    CHECK_OK(valise_pack(&packed, node, "secret", "1", NULL, &t->err));
    CHECK(!packed.applied);
    CHECK_OK(valise_pack(&packed, node, "a", "1", NULL, &t->err));
    CHECK(packed.applied);
    CHECK_TEXT("a=1", items(bag));
    CHECK_TEXT("pack secret denied by n; 1 pack a v1 by n", accesses(bag, "n", true));
}

/* What is wrong whatever the state is said at once, and does not spoil the others. */
TEST(api_keep, what_cannot_be_packed_does_not_wait) /* [B29] [B11] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1");
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "", "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "k", "{", &t->err));
    o.tags = NAMES("");
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o = (valise_pack_options)VALISE_PACK_OPTIONS_INIT;
    o.node_id = VLS_STR("\x01");
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o.node_id = VLS_STR("n");
    o.node_name = VLS_STR("\x01");
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    CHECK_TEXT("a=1", items(bag));
}

/* A queue does not grow without end. */
TEST(api_keep, many_that_wait_are_flushed)
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *other = bag_of(d, "run-1");
    valise_backpack *node = node_of(d, bag, "n", "", NULL);
    int64_t size, seq;
    int rc = 0, waiting = 0;

    for (int i = 0; i < 2500; i++)
        CHECK_OK(pack(bag, test_format("k%d", i), "1", &t->err));
    CHECK_OK(valise_backpack_size(&size, other, &t->err));
    CHECK_INT(2000, size);
    CHECK_OK(valise_backpack_size(&size, bag, &t->err));
    CHECK_INT(2500, size);
    pack_for(d, bag, "theirs", "m");
    seq = log_seq(d);
    for (int i = 0; i < 1500 && rc == 0; i++, waiting++)
        rc = pack(node, i == 0 ? "theirs" : "k", "1", &t->err);
    CHECK_INT(VALISE_E_DENIED, rc); /* the flush is what failed */
    CHECK_INT(1001, waiting);
    CHECK_INT(seq, log_seq(d));
    CHECK_OK(pack(bag, "new", "1", &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_INT(seq + 1000, log_seq(d));
}

typedef struct echo {
    valise_backpack *bag;
    int calls;
    int rc;
} echo;

static int pack_and_look(void *arg, const valise_event *event, valise_error *err)
{
    echo *e = arg;

    (void)event;
    if (e->calls++ > 2)
        return 0;
    e->rc |= pack(e->bag, test_format("echo%d", e->calls), "1", err);
    CHECK_TEXT("1", seen(e->bag, test_format("echo%d", e->calls))); /* flushes in the middle */
    return 0;
}

/* Whoever is told of a pack that was flushed may pack again, and look. */
TEST(api_keep, who_is_told_of_a_flush_may_use_the_backpack) /* [B29] [K15] */
{
    static const char *const types[] = {"BACKPACK_PACK", NULL};
    desk *d = desk_open(t);
    echo e = {.bag = behind(d, "run-1")};
    valise_subscription *s = NULL;
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .fn = pack_and_look,
                                  .arg = &e};

    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    CHECK_OK(pack(e.bag, "a", "1", &t->err));
    CHECK_OK(pack(e.bag, "b", "1", &t->err));
    CHECK_INT(0, e.calls); /* events follow the flush */
    CHECK_OK(valise_backpack_flush(e.bag, &t->err));
    valise_unsubscribe(s);
    CHECK_INT(0, e.rc);
    CHECK_INT(5, e.calls);
    CHECK_TEXT("a b echo1 echo2 echo3", keys(e.bag));
    CHECK_TEXT("1 pack a v1 by unknown; 2 pack b v1 by unknown; 3 pack echo1 v1 by unknown; "
               "4 pack echo2 v1 by unknown; 5 pack echo3 v1 by unknown",
               all_history(e.bag));
}

static int pack_what_is_refused(void *arg, const valise_event *event, valise_error *err)
{
    echo *e = arg;

    (void)event;
    (void)err;
    if (e->calls++ > 0)
        return 0;
    e->rc |= pack(e->bag, "fine", "1", NULL);
    e->rc |= pack(e->bag, "theirs", "1", NULL);
    CHECK_INT(VALISE_E_DENIED, valise_backpack_flush(e->bag, NULL));
    e->rc |= pack(e->bag, "theirs-2", "1", NULL);
    CHECK_INT(VALISE_E_DENIED, valise_backpack_flush(e->bag, NULL));
    e->rc |= valise_backpack_flush(e->bag, NULL);
    return 0;
}

/* One that was refused inside a flush stands there until that is over, and is not counted among
 * those that are tried again: else the wrong one would be taken out. */
TEST(api_keep, who_is_told_of_a_flush_may_be_refused_twice) /* [B29] [K15] */
{
    static const char *const types[] = {"BACKPACK_PACK", NULL};
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1");
    echo e = {.bag = node_of(d, bag, "n", "", NULL)};
    valise_subscription *s = NULL;
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .fn = pack_what_is_refused,
                                  .arg = &e};

    pack_for(d, bag, "theirs", "m");
    pack_for(d, bag, "theirs-2", "m");
    CHECK_OK(valise_subscribe(&s, d->v, &follow, &t->err));
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    valise_unsubscribe(s);
    CHECK_INT(0, e.rc);
    CHECK_TEXT("a=1 fine=1 theirs=0 theirs-2=0", items(bag));
}

static int look(void *self, valise_pass *pass, valise_error *err)
{
    echo *e = self;
    valise_blob *value = NULL;

    (void)pass;
    (void)err;
    if (e->bag)
        e->rc = valise_peek(&value, e->bag, "a", NULL);
    valise_blob_unref(value);
    return 0;
}

/* A middleware that looks into what waits would wait for itself. */
TEST(api_keep, a_middleware_cannot_use_what_is_written_behind)
{
    echo e = {.bag = NULL};
    const valise_middleware m = {.size = sizeof(m), .name = "m", .self = &e, .before = look};
    const valise_middleware *const list[] = {&m, NULL};
    valise_options how = VALISE_OPTIONS_INIT;
    desk *d;
    valise_backpack *bag;

    how.middleware = list;
    d = desk_open_with(t, &how);
    bag = behind(d, "run-1");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    e.bag = bag;
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_INT(VALISE_E_INVALID, e.rc);
    e.bag = NULL;
}

/* ---- crashes ---- */

static void pack_until_killed(kill_run *run, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;

    (void)arg;
    o.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND;
    CHECK_INT(0, desk_try(&v, "sqlite", run->dir, NULL, &err));
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &err));
    for (int i = 1; i <= 40; i++) {
        for (int k = 0; k < 5; k++)
            CHECK_INT(0, pack(bag, test_format("k%d", k), test_format("%d", i), &err));
        if (i % 4 == 0)
            CHECK_INT(0, jail(bag, "k0", "bad", &err));
        CHECK_INT(0, valise_backpack_flush(bag, &err));
        kill_ack(run, "%d", i);
    }
    valise_backpack_close(bag);
    valise_close(v);
}

/* Everything up to the last flush that returned is there, whole: a batch is in or out. */
static void nothing_flushed_is_lost(test *t, const kill_run *run, void *arg)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_usage usage = VALISE_USAGE_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    int64_t acked = (int64_t)run->acked;

    (void)arg;
    CHECK_OK(desk_try(&v, "sqlite", run->dir, NULL, &t->err));
    o.flags = VALISE_BACKPACK_DURABLE;
    CHECK_OK(valise_backpack_open(&bag, v, "run-1", &o, &t->err));
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK(usage.commits >= 5 * acked + acked / 4); /* 5 a round, and one more each fourth */
    if (usage.commits > 0) {
        const char *value = seen(bag, "k4");
        int64_t round = 0;
        for (int k = 1; k < 5; k++)
            CHECK_TEXT(value, seen(bag, test_format("k%d", k)));
        CHECK(vls_str_to_i64(&round, valise_str_of(value)));
        CHECK(round >= acked);
        CHECK(usage.quarantined == round / 4 ||
              (round % 4 == 0 && usage.quarantined == round / 4 - 1));
    }
    valise_backpack_close(bag);
    valise_close(v);
}

TEST(keep, survives_kill) /* [B29] [K33] */
{
    kill_loop(t, 12, pack_until_killed, nothing_flushed_is_lost, NULL);
}

TEST(api_keep, reopening_gives_the_same) /* [B29] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag = NULL;
    const char *before[5];

    if (!d->dir)
        SKIP("a workspace in memory is gone with its handle");
    CHECK_OK(valise_backpack_open(&bag, d->v, "run-1", &o, &t->err));
    CHECK_OK(pack_as(bag, "a", "k", "1", &t->err));
    CHECK_OK(pack_as(bag, "b", "k", "2", &t->err));
    CHECK_OK(jail(bag, "k", "bad", &t->err));
    CHECK_OK(pack_as(bag, "c", "z", "[1]", &t->err));
    CHECK_TEXT("[1]", got(bag, "z"));
    before[0] = items(bag);
    before[1] = jailed(bag);
    before[2] = all_history(bag);
    before[3] = accesses(bag, "unknown", false);
    before[4] = exported(bag, -1);
    valise_backpack_close(bag);
    desk_reopen(d);
    bag = bag_of(d, "run-1");
    CHECK_TEXT(before[0], items(bag));
    CHECK_TEXT(before[1], jailed(bag));
    CHECK_TEXT(before[2], all_history(bag));
    CHECK_TEXT(before[3], accesses(bag, "unknown", false));
    CHECK_TEXT(before[4], exported(bag, -1));
    CHECK_OK(pack(bag, "k", "3", &t->err));
    CHECK_INT(3, item_of(bag, "k").version);
}

/* ---- processes ---- */

static int pack_many(size_t index, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    const valise_node node = {.size = sizeof(node), .id = valise_str_of(index ? "p1" : "p0")};
    valise *v = NULL;
    valise_backpack *bag = NULL, *view = NULL;

    o.flags = VALISE_BACKPACK_DURABLE | (index ? VALISE_BACKPACK_WRITE_BEHIND : 0u);
    CHECK_INT(0, desk_try(&v, "sqlite", arg, NULL, &err));
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &err));
    CHECK_INT(0, valise_backpack_node(&view, bag, &node, &err));
    for (int i = 0; i < 50; i++) {
        CHECK_INT(0, pack(view, test_format("%zu-%d", index, i), "1", &err));
        CHECK_INT(0, pack(view, "shared", test_format("%d", i), &err));
    }
    valise_backpack_close(view);
    valise_backpack_close(bag);
    valise_close(v);
    return 0;
}

TEST(keep, two_processes_on_one_backpack) /* [K33] [B29] */
{
    const char *dir = test_format("%s/ws", test_tmpdir());
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_usage usage = VALISE_USAGE_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_commit shared;

    CHECK_OK(desk_try(&v, "sqlite", dir, NULL, &t->err));
    valise_close(v);
    process_all(NULL, 2, pack_many, (void *)(uintptr_t)dir);
    CHECK_OK(desk_try(&v, "sqlite", dir, NULL, &t->err));
    o.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    CHECK_OK(valise_backpack_open(&bag, v, "run-1", &o, &t->err));
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK_INT(101, usage.items);
    CHECK_INT(200, usage.commits);
    CHECK_INT(200, usage.last_seq);
    shared = item_of(bag, "shared");
    CHECK_INT(100, shared.version); /* each pack followed another */
    valise_backpack_close(bag);
    valise_close(v);
}

static int taint_in_child(size_t index, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise *v = NULL;
    valise_backpack *bag = NULL, *view = NULL;

    (void)index;
    o.flags = VALISE_BACKPACK_DURABLE;
    CHECK_INT(0, desk_try(&v, "sqlite", arg, NULL, &err));
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &err));
    CHECK_INT(0, valise_backpack_node(&view, bag, &node, &err));
    CHECK_TEXT("1", seen(view, "email"));
    valise_backpack_close(view);
    valise_backpack_close(bag);
    valise_close(v);
    return 0;
}

TEST(keep, taint_crosses_processes) /* [B22] */
{
    const char *dir = test_format("%s/ws", test_tmpdir());
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("n")};
    valise *v = NULL;
    valise_backpack *bag = NULL, *view = NULL;

    o.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_TAINT;
    tagged.tags = NAMES("pii");
    CHECK_OK(desk_try(&v, "sqlite", dir, NULL, &t->err));
    CHECK_OK(valise_backpack_open(&bag, v, "run-1", &o, &t->err));
    CHECK_OK(valise_pack(NULL, bag, "email", "1", &tagged, &t->err));
    CHECK_OK(valise_backpack_node(&view, bag, &node, &t->err));
    process_all(NULL, 1, taint_in_child, (void *)(uintptr_t)dir);
    CHECK_OK(pack(view, "out", "1", &t->err));
    CHECK_INT(1, item_of(bag, "out").tags.count);
    valise_backpack_close(view);
    valise_backpack_close(bag);
    valise_close(v);
}

/* ---- the log ---- */

/* Whatever is done through handles is in the log: replaying it gives the same state. */
TEST(api_keep, replaying_the_log_gives_the_same_state) /* [K33] [B29] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT | VALISE_BACKPACK_LENIENT);
    valise_backpack *bag, *fork, *base, *node, *mem;
    valise_permissions p = {.deny = NAMES("x")};
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    int64_t count;

    tagged.tags = NAMES("pii");
    o.items = VLS_STR("{\"a\":1}");
    bag = bag_with(d, "run-1", &o);
    mem = bag_with(d, "in-memory", NULL);
    CHECK_OK(pack(mem, "k", "1", &t->err));
    CHECK_OK(valise_pack(NULL, bag, "email", "1", &tagged, &t->err));
    node = node_of(d, bag, "n", "a.b", &p);
    CHECK_TEXT("1", got(node, "email"));
    CHECK_OK(pack(node, "k", "2", &t->err));
    CHECK_OK(pack(node, "x", "2", &t->err)); /* denied, and in the log as such */
    CHECK_OK(jail(bag, "k", "bad", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    base = at_point(d, bag, "now");
    fork = fork_of(d, base, "run-2");
    CHECK_OK(pack(fork, "f", "1", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_OK(valise_release(NULL, bag, "k", 0, &t->err));
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-2\"}");
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
}

/* ---- erasing and dropping ---- */

static bool holds(const char *dir, valise_str secret)
{
    DIR *open = opendir(dir);
    bool found = false;

    CHECK(open);
    for (struct dirent *e; !found && (e = readdir(open));) {
        const char *path = test_format("%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' && (e->d_name[1] == '\0' || e->d_name[1] == '.'))
            continue;
        if (e->d_type == DT_DIR) {
            found = holds(path, secret);
        } else if (e->d_type == DT_REG) {
            valise_str bytes = test_read_file(path);
            found = memmem(bytes.ptr, bytes.len, secret.ptr, secret.len) != NULL;
        }
    }
    (void)closedir(open);
    return found;
}

TEST(keep, an_erased_item_is_in_no_file) /* [B25] [K20] */
{
    const char *dir = test_format("%s/ws", test_tmpdir());
    valise_str secret = VLS_STR("correct-horse-battery-staple");
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL;
    valise_blob *value = NULL;
    valise_error *err = &t->err;

    o.flags = VALISE_BACKPACK_DURABLE;
    CHECK_OK(desk_try(&v, "sqlite", dir, NULL, err));
    CHECK_OK(valise_backpack_open(&bag, v, "run-1", &o, err));
    CHECK_OK(pack(bag, "password", "\"correct-horse-battery-staple\"", err));
    CHECK_OK(pack(bag, "password", "1", err));
    CHECK_OK(pack(bag, "other", "2", err));
    CHECK(holds(dir, secret));
    CHECK_OK(valise_dispatch(NULL, v, "backpack:erase",
                             "{\"backpack\":\"run-1\",\"key\":\"password\"}", NULL, err));
    CHECK_TEXT("(not found)", seen(bag, "password"));
    CHECK_TEXT("2", seen(bag, "other"));
    CHECK_INT(1, valise_has(bag, "password", err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_unpack(&value, bag, "password", err));
    CHECK(strstr(err->message, "the value of 'password' was erased") && !value);
    CHECK(strstr(err->hint, "erasure list"));
    CHECK_OK(jail(bag, "password", "why", err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_release(NULL, bag, "password", 0, err));
    CHECK(strstr(err->message, "was erased"));
    CHECK_INT(0, valise_has(bag, "password", err));
    CHECK_OK(valise_dispatch(NULL, v, "workspace:gc", "{}", NULL, err));
    valise_backpack_close(bag);
    valise_close(v);
    CHECK(!holds(dir, secret));
}

/* Whoever shows items shows one without a value. */
TEST(keep, an_erased_item_is_shown_without_its_value) /* [B4] [K20] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag;
    const char *state;

    o.flags = VALISE_BACKPACK_DURABLE;
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(pack(bag, "a", "\"gone\"", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    run_op(d, "backpack:erase", "{\"backpack\":\"run-1\",\"key\":\"a\"}");
    state = run_op(d, "backpack:snapshot", "{\"backpack\":\"run-1\",\"point\":\"now\"}");
    CHECK_MSG(strstr(state, "\"key\":\"a\"") && strstr(state, "\"key\":\"b\""), "%s", state);
    CHECK(!strstr(state, "gone"));
    CHECK(strstr(run_op(d, "backpack:ls", "{\"backpack\":\"run-1\",\"values\":true}"),
                 "\"key\":\"a\""));
    CHECK(strstr(run_op(d, "backpack:bisect",
                        "{\"backpack\":\"run-1\",\"rule\":{\"==\":[{\"var\":\"b\"},2]}}"),
                 "\"seq\":2"));
    CHECK(strstr(run_op(d, "backpack:diff", "{\"backpack\":\"run-1\",\"from\":\"0\"}"),
                 "\"key\":\"a\""));
}

/* A backpack goes in steps; nobody needs it, or it stays. */
TEST(api_keep, dropping_one)
{
    desk *d = desk_open(t);
    valise_backpack *bag = behind(d, "run-1"), *again;
    valise_list nobody = NOBODY;
    const char *answer;

    for (int i = 0; i < 2300; i++)
        CHECK_OK(pack(bag, test_format("k%d", i % 50), test_format("%d", i), &t->err));
    CHECK_OK(jail(bag, "k1", "x", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    CHECK_OK(valise_tag_rule(bag, "t", &nobody, NULL, &t->err));
    CHECK_OK(valise_permit(bag, "n", &(valise_permissions){.deny = nobody}, &t->err));
    fork_of(d, bag, "run-2");
    CHECK_RC(VALISE_E_CONFLICT, run_as(d, "local", "backpack:drop", "{\"backpack\":\"run-1\"}"));
    CHECK(strstr(t->err.message, "run-2"));
    CHECK_TEXT("2299", seen(bag, "k49"));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-2\"}");
    let_in(d, "ann", "writer", "");
    CHECK_RC(VALISE_E_DENIED, run_as(d, "ann", "backpack:drop", "{\"backpack\":\"run-1\"}"));
    answer = run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    CHECK_TEXT("{\"ephemeral\":false,\"removed\":2306}", answer); /* 2301, 1 + 1 + 2 runs, 1 + 1 */
    CHECK_TEXT("{\"items\":[]}", run_op(d, "backpack:list", "{}"));
    again = bag_of(d, "run-1");
    CHECK_TEXT("", all_history(again));
    run_op(d, "workspace:gc", "{}");
    CHECK_TEXT("{\"items\":[]}", run_op(d, "workspace:validate", "{}"));
}
