/* look.c -- what is read: history by filter, points, differences, bisect. */
#include "kit.h"

#include "base/hex.h"

/* ---- history ---- */

static bag *eventful(test *t)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put_with(b, b->owner, "a", "1",
                      (vls_pack_args){PACK_ARGS, .node_id = VLS_STR("x"),
                                      .namespace_name = VLS_STR("s.one"), .tags = NAMES("t")}));
    CHECK_OK(put_as(b, "y", "b", "1"));
    CHECK_OK(put_as(b, "x", "a", "2"));
    CHECK_INT(1, drop(b, b->owner, "b"));
    CHECK_OK(put_as(b, "y", "c", "1"));
    return b;
}

static const char *by(bag *b, valise_history f)
{
    f.size = sizeof(f);
    if (f.since == 0)
        f.since = VALISE_NONE;
    if (f.until == 0)
        f.until = VALISE_NONE;
    return history(b, &b->ledger, b->owner, f);
}

/* [B10] */
TEST(look, history_by_filter)
{
    bag *b = eventful(t);

    CHECK_TEXT("5 pack c v1 by y; 4 delete b v1 by unknown; 3 pack a v2 by x; 2 pack b v1 by y; "
               "1 pack a v1 by x",
               by(b, (valise_history){0}));
    CHECK_TEXT("1 pack a v1 by x; 3 pack a v2 by x",
               by(b, (valise_history){.node_id = VLS_STR("x"), .oldest_first = true}));
    CHECK_TEXT("4 delete b v1 by unknown; 2 pack b v1 by y",
               by(b, (valise_history){.key = VLS_STR("b")}));
    CHECK_TEXT("2 pack b v1 by y; 4 delete b v1 by unknown",
               by(b, (valise_history){.key = VLS_STR("b"), .oldest_first = true}));
    CHECK_TEXT("3 pack a v2 by x; 1 pack a v1 by x", by(b, (valise_history){.tag = VLS_STR("t")}));
    CHECK_TEXT("1 pack a v1 by x", by(b, (valise_history){.namespace_pattern = VLS_STR("s.*")}));
    CHECK_TEXT("4 delete b v1 by unknown",
               by(b, (valise_history){.actions = 1u << VALISE_ACTION_DELETE}));
    CHECK_TEXT("4 delete b v1 by unknown; 3 pack a v2 by x",
               by(b, (valise_history){.first = 3, .last = 4}));
    CHECK_TEXT("3 pack a v2 by x; 2 pack b v1 by y",
               by(b, (valise_history){.since = 1001, .until = 1002}));
    CHECK_TEXT("5 pack c v1 by y; 4 delete b v1 by unknown", by(b, (valise_history){.limit = 2}));
    CHECK_TEXT("3 pack a v2 by x", by(b, (valise_history){.key = VLS_STR("a"), .limit = 1}));
    CHECK_TEXT("(invalid input)", by(b, (valise_history){.limit = -1}));
    CHECK_TEXT("(invalid input)", by(b, (valise_history){.namespace_pattern = VLS_STR(".")}));
    naive_set_edge(b->n, 2);
    CHECK_TEXT("3 pack a v2 by x", by(b, (valise_history){.key = VLS_STR("a")}));
}

/* Reads go between the commits by their time. [B10] */
TEST(look, history_with_reads)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);
    valise_history all = VALISE_HISTORY_INIT;

    get(b, n, "k");
    CHECK_OK(put(b, b->owner, "k", "1"));
    get(b, n, "k");
    get(b, m, "k");
    peek(b, n, "k");
    CHECK_OK(put(b, b->owner, "k", "2"));
    all.actions = ~0u;
    CHECK_TEXT("2 pack k v2 by unknown; unpack k found by m; unpack k found by n; "
               "1 pack k v1 by unknown; unpack k absent by n",
               history(b, &b->ledger, b->owner, all));
    all.limit = 2;
    CHECK_TEXT("2 pack k v2 by unknown; unpack k found by m",
               history(b, &b->ledger, b->owner, all));
    all.limit = 0;
    all.oldest_first = true;
    CHECK_TEXT("unpack k absent by n; 1 pack k v1 by unknown; unpack k found by n; "
               "2 pack k v2 by unknown",
               history(b, &b->ledger, n, all)); /* not what others read */
    all.actions = 1u << VALISE_ACTION_UNPACK;
    all.node_id = VLS_STR("m");
    CHECK_TEXT("unpack k found by m", history(b, &b->ledger, b->owner, all));
}

static int stop(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)commit, (void)err;
    return --*(int *)arg == 0 ? 7 : 0;
}

static int stop_item(void *arg, const valise_item *item, valise_error *err)
{
    return stop(arg, item->commit, err);
}

static int stop_change(void *arg, const valise_change *change, valise_error *err)
{
    (void)change, (void)err;
    return --*(int *)arg == 0 ? VALISE_E_UNSUPPORTED : 0;
}

/* Whoever says so ends the walk, and gets what they said. */
TEST(look, callbacks_end_walks)
{
    bag *b = eventful(t);
    valise_history all = VALISE_HISTORY_INIT;
    vls_ledger none = at(t, b, "0");
    int left = 2;

    CHECK_INT(7, vls_bag_history(&b->ledger, b->owner, &all, stop, &left, &t->err));
    left = 1;
    CHECK_INT(7, vls_bag_blame(&b->ledger, b->owner, VLS_STR("a"), 1, stop, &left, &t->err));
    left = 1;
    CHECK_INT(7, vls_bag_each(&b->ledger, b->owner, (valise_str){NULL, 0}, true, stop_item, &left,
                              &t->err));
    left = 2;
    CHECK_INT(VALISE_E_UNSUPPORTED,
              vls_bag_diff(&(vls_scoped){&none, b->owner}, &(vls_scoped){&b->ledger, b->owner},
                           false, stop_change, &left, &t->err));
    CHECK_INT(0, left); /* and is not called again */
    CHECK_OK(jail(b, b->owner, "a", "x"));
    left = 1;
    CHECK_INT(7, vls_bag_quarantined(&b->ledger, b->owner, stop_item, &left, &t->err));
}

/* [B16] */
TEST(look, blame_goes_back_to_where_the_item_began)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put_as(b, "a", "k", "1"));
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_OK(put_as(b, "b", "k", "2"));
    CHECK_OK(jail(b, b->owner, "k", "x"));
    CHECK_OK(unjail(b, b->owner, "k", 0));
    CHECK_TEXT("5 release k v3 by unknown; 4 quarantine k v2 by unknown; 3 pack k v2 by b",
               blamed(b, b->owner, "k"));
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_TEXT("(not found)", blamed(b, b->owner, "k"));
    CHECK_TEXT("(invalid input)", blamed(b, b->owner, ""));
}

/* An item's copy and the outcome, for who wants them. [B4] */
TEST(look, an_item_with_what_made_it)
{
    bag *b = bag_open(t, NULL);
    valise_commit commit = {0};
    vls_look look = {.arena = &b->arena, .commit = &commit};
    valise_blob *value = NULL;

    CHECK_OK(put_as(b, "n", "k", "1"));
    CHECK_INT(1, vls_bag_get(&value, &b->ledger, b->owner, VLS_STR("k"), &look, &t->err));
    valise_blob_unref(value);
    CHECK_INT(VALISE_READ_FOUND, look.outcome);
    CHECK_STR(VLS_STR("n"), commit.node_id);
    CHECK_INT(0, vls_bag_get(&value, &b->ledger, b->owner, VLS_STR("x"), &look, &t->err));
    CHECK_INT(VALISE_READ_ABSENT, look.outcome);
    CHECK_RC(VALISE_E_INVALID,
             vls_bag_get(&value, &b->ledger, b->owner, VLS_STR("\t"), &look, &t->err));
}

/* What does not fit is said to be too much, not that there is no memory. */
TEST(look, a_commit_that_does_not_fit)
{
    bag *b = bag_open(t, NULL);
    valise_commit commit = {0};
    vls_arena small = {0};

    CHECK_OK(put_as(b, "n", "a-key-of-some-length-that-is-longer-than-the-arena-may-be", "1"));
    vls_arena_init(&small, b->env, 16);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_bag_commit(&commit, &b->ledger, b->owner, 1, &small, &t->err));
    vls_arena_release(&small);
}

/* ---- points ---- */

/* [B12] */
TEST(look, points_by_commit)
{
    bag *b = bag_open(t, NULL);
    const char *ids[300];

    for (int i = 0; i < 300; i++) {
        CHECK_OK(put(b, b->owner, "k", "1"));
        ids[i] = test_format("%s", vls_uuid_text(&b->done.packed.commit).s);
    }
    for (int i = 0; i < 300; i++) {
        CHECK_INT(i + 1, point(b, &b->ledger, ids[i]));
        CHECK_INT(i + 1, point(b, &b->ledger, ids[i] + 36 - 12));
        if (strspn(ids[i] + 32, "0123456789") < 4) /* else it is a number first */
            CHECK_INT(i + 1, point(b, &b->ledger, ids[i] + 36 - 4));
        CHECK_INT(i + 1, point(b, &b->ledger, ids[i] + 36 - 17));
        CHECK_INT(i + 1, point(b, &b->ledger, ids[i] + 1));
    }
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "01970100-0000-7000-8000-00000000000a"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "301"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "abcdefabcdef"));
    CHECK_INT(300, point(b, &b->ledger, "now"));
    CHECK_INT(0, point(b, &b->ledger, "0"));
    vls_ledger early = at(t, b, "10");
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &early, "11"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &early, ids[10]));
    naive_set_edge(b->n, 100);
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, ids[50]));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, ids[50] + 24));
    CHECK_INT(101, point(b, &b->ledger, ids[100]));
    CHECK_INT(100, point(b, &b->ledger, ids[99])); /* it is the item: its id is known still */
    CHECK_INT(VALISE_E_INVALID, point(b, &b->ledger, "2026-13-02T03:04:05Z"));
    CHECK_INT(VALISE_E_INVALID, point(b, &b->ledger, ""));
    CHECK_INT(VALISE_E_INVALID, point(b, &b->ledger, "before:"));
}

/* Two ids that end alike. [B12] */
TEST(look, an_ending_of_two_commits)
{
    naive_options options = {.id = {{0}}, .name = VLS_STR("e")};
    bag *b = bag_open(t, &options);
    valise_commit commit = {.key = VLS_STR("k"), .node_id = VLS_STR("n"), .version = 1};
    vls_point p = {.kind = VLS_POINT_ENDING};
    int64_t seq = -1;

    /* Endings repeat after 16^n commits: restore two that lie so far apart. */
    b->ledger.ops->enter(b->ledger.self);
    commit.seq = 5;
    CHECK_OK(b->ledger.ops->append(b->ledger.self, &commit, NULL, &t->err));
    const char *id = test_format("%s", vls_uuid_text(&commit.id).s);
    commit.seq = 5 + 65536;
    commit.key = VLS_STR("l");
    CHECK_OK(b->ledger.ops->append(b->ledger.self, &commit, NULL, &t->err));
    b->ledger.ops->leave(b->ledger.self);
    p.text = valise_str_of(id + 32);
    CHECK_RC(VALISE_E_CONFLICT, vls_point_resolve(&seq, &b->ledger, b->owner, &p, &t->err));
    CHECK(strstr(t->err.message, id) && strstr(t->err.message, vls_uuid_text(&commit.id).s));
    CHECK_INT(-1, seq);
    p.text = valise_str_of(id + 28);
    CHECK_OK(vls_point_resolve(&seq, &b->ledger, b->owner, &p, &t->err));
    CHECK_INT(5, seq);
}

/* An ending of digits alone. */
TEST(look, an_ending_that_looks_like_a_number)
{
    bag *b = bag_open(t, NULL);
    bool found = false;

    for (int i = 0; i < 400 && !found; i++) {
        const char *id;
        CHECK_OK(put(b, b->owner, "k", "1"));
        id = test_format("%s", vls_uuid_text(&b->done.packed.commit).s);
        found = strspn(id + 32, "0123456789") == 4 && id[32] != '0';
        if (found)
            CHECK_INT(i + 1, point(b, &b->ledger, id + 32));
    }
    CHECK(found);
}

/* ---- differences ---- */

/* Both ways to compare say the same. [B15] */
TEST(look, differences_both_ways)
{
    for (int way = 0; way < 2; way++) {
        naive_options options = {.id = {{9}}, .name = VLS_STR("d"), .no_difference = way == 1};
        bag *b = bag_open(t, &options);
        vls_ledger old;
        CHECK_OK(put_as(b, "n", "changed", "1"));
        CHECK_OK(put_as(b, "n", "gone", "2"));
        CHECK_OK(put_as(b, "n", "jailed", "3"));
        CHECK_OK(put_as(b, "n", "same", "4"));
        CHECK_OK(put_as(b, "n", "back", "5"));
        old = at(t, b, "now");
        CHECK_OK(put_as(b, "x", "added", "6"));
        CHECK_OK(put_as(b, "y", "changed", "7"));
        CHECK_INT(1, drop(b, b->owner, "gone"));
        CHECK_OK(jail(b, b->owner, "jailed", "x"));
        CHECK_OK(put_as(b, "z", "back", "8"));
        CHECK_OK(put_as(b, "z", "back", "5"));
        CHECK_OK(put_as(b, "z", "short", "1"));
        CHECK_INT(1, drop(b, b->owner, "short"));
        CHECK_TEXT("+added=6 by x@6 ~changed=1>7 by y@7 -gone=2 by unknown@8 "
                   "-jailed=3 by unknown@9",
                   diff(b, &old, &b->ledger, b->owner));
        CHECK_TEXT("-added=6 ~changed=7>1 +gone=2 +jailed=3", diff(b, &b->ledger, &old, b->owner));
        CHECK_TEXT("", diff(b, &old, &old, b->owner));
        CHECK_TEXT("", diff(b, &b->ledger, &b->ledger, b->owner));
    }
}

/* Between forks: who made it, as far as that is the other side's doing. [B15] */
TEST(look, differences_between_forks)
{
    bag *b = bag_open(t, NULL), *f;
    vls_ledger one;

    CHECK_OK(put_as(b, "n", "a", "1"));
    CHECK_OK(put_as(b, "n", "b", "1"));
    one = at(t, b, "1");
    f = bag_fork(t, b, &one);
    CHECK_OK(put_as(f, "f", "a", "2"));
    CHECK_TEXT("~a=1>2 by f@1 -b=1", diff(b, &b->ledger, &f->ledger, b->owner));
    CHECK_TEXT("~a=2>1 +b=1 by n@2", diff(f, &f->ledger, &b->ledger, f->owner));
    CHECK_TEXT("~a=1>2 by f@1", diff(b, &one, &f->ledger, b->owner));
}

/* ---- bisect ---- */

typedef struct trial {
    bag *b;
    int calls;
} trial;

static int is_bad(void *arg, int64_t seq, valise_error *err)
{
    trial *tr = arg;
    vls_ledger state = {0};
    bool bad;

    tr->calls++;
    CHECK_INT(0, tr->b->ledger.ops->freeze(&state, tr->b->ledger.self, seq, err));
    bad = strstr(items(tr->b, &state, tr->b->owner, NULL), "bad") != NULL;
    state.ops->release(state.self);
    return bad;
}

static int fails(void *arg, int64_t seq, valise_error *err)
{
    (void)arg, (void)seq;
    return vls_fail(err, VALISE_E_IO, "no");
}

/* [B16] */
TEST(look, bisect)
{
    bag *b = bag_open(t, NULL);
    trial tr = {b, 0};
    int64_t seq = -1;

    for (int i = 1; i <= 100; i++)
        CHECK_OK(put(b, b->owner, "k", i >= 37 ? "\"bad\"" : "1"));
    CHECK_OK(vls_bisect(&seq, 0, 100, is_bad, &tr, &t->err));
    CHECK_INT(37, seq);
    CHECK(tr.calls <= 9); /* both ends, and log2 of what is between */
    CHECK_RC(VALISE_E_INVALID, vls_bisect(&seq, 40, 90, is_bad, &tr, &t->err));
    CHECK_OK(vls_bisect(&seq, 36, 37, is_bad, &tr, &t->err));
    CHECK_INT(37, seq);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_bisect(&seq, 0, 36, is_bad, &tr, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_bisect(&seq, 36, 36, is_bad, &tr, &t->err));
    CHECK_RC(VALISE_E_IO, vls_bisect(&seq, 0, 100, fails, NULL, &t->err));
}
