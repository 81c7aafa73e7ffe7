/* api_travel.c -- other states: snapshots, forks, merges, JSON. */
#include "api_kit.h"

TEST_PARAMS(api_travel, ALL_KINDS)

/* Before and after each of these the state is exact, however the point is written. */
TEST(api_travel, sc_3_time_travel_debugging) /* [B12] [B13] [B30] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *s = NULL;
    valise_uuid id;
    int64_t seq;

    CHECK_OK(pack_as(bag, "research-1", "context", "\"Paris\"", &t->err));
    CHECK_OK(pack_as(bag, "research-2", "context", "\"Lyon\"", &t->err));
    CHECK_OK(pack_as(bag, "research-2", "note", "1", &t->err));
    CHECK_OK(pack_as(bag, "chat-1", "response", "\"Lyon\"", &t->err));
    CHECK_OK(pack_as(bag, "research-2", "context", "\"Nice\"", &t->err));
    CHECK_OK(valise_snapshot_before_node(&s, bag, "research-2", 1, &t->err));
    CHECK_TEXT("context=\"Paris\"", items(s));
    valise_backpack_close(s);
    CHECK_OK(valise_snapshot_after_node(&s, bag, "research-2", 1, &t->err));
    CHECK_TEXT("context=\"Lyon\" note=1", items(s));
    valise_backpack_close(s);
    CHECK_OK(valise_snapshot_before_node(&s, bag, "research-2", -1, &t->err));
    CHECK_TEXT("context=\"Lyon\" note=1 response=\"Lyon\"", items(s));
    valise_backpack_close(s);
    id = commit_id(bag, 1);
    CHECK_OK(valise_snapshot_at_commit(&s, bag, &id, &t->err));
    CHECK_TEXT("context=\"Paris\"", items(s));
    valise_backpack_close(s);
    s = NULL;
    CHECK_OK(valise_checkpoint(&seq, bag, "end", &t->err));
    CHECK_INT(5, seq);
    CHECK_OK(valise_checkpoint(NULL, bag, "end", &t->err)); /* the same state */
    CHECK_OK(pack(bag, "x", "1", &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_checkpoint(NULL, bag, "end", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_checkpoint(NULL, bag, "42", &t->err));
    CHECK_OK(valise_snapshot_named(&s, bag, "end", &t->err));
    CHECK_TEXT("context=\"Nice\" note=1 response=\"Lyon\"", items(s));
    CHECK_RC(VALISE_E_INVALID, valise_checkpoint(NULL, s, "x", &t->err));
    valise_backpack_close(s);
    s = NULL;
    CHECK_OK(valise_checkpoint_remove(bag, "end", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_checkpoint_remove(bag, "end", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_named(&s, bag, "end", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_before_node(&s, bag, "nobody", 1, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_before_node(&s, bag, "chat-1", 2, &t->err));
    id.bytes[15] ^= 0xff;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_at_commit(&s, bag, &id, &t->err));
    CHECK(!s);
}

/* Before 1970, too, there was nothing. */
TEST(api_travel, a_time_before_the_first_commit) /* [B12] */
{
    static const int64_t times[] = {VALISE_NONE, -1, 0};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *s = NULL;

    CHECK_OK(pack(bag, "x", "1", &t->err));
    for (size_t i = 0; i < VLS_COUNT(times); i++) {
        CHECK_OK(valise_snapshot(&s, bag, times[i], &t->err));
        CHECK_TEXT("", items(s));
        valise_backpack_close(s);
    }
}

TEST(api_travel, snapshots_of_snapshots_and_views_of_both) /* [B13] [B21] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_permissions only_a = {.read = NAMES("a*")};
    valise_backpack *s, *ss, *view, *of_view, *none = NULL;
    int64_t size;

    for (int i = 1; i <= 4; i++) {
        CHECK_OK(pack(bag, "a", test_format("%d", i), &t->err));
        CHECK_OK(pack(bag, "b", test_format("%d", i), &t->err));
    }
    s = at_point(d, bag, "6");
    ss = at_point(d, s, "2");
    view = node_of(d, s, "n", "", &only_a); /* holds for this view alone */
    of_view = at_point(d, view, "4");
    CHECK_OK(pack(bag, "a", "9", &t->err));
    CHECK_TEXT("a=3 b=3", items(s));
    CHECK_TEXT("a=1 b=1", items(ss));
    CHECK_TEXT("a=3", items(view));
    CHECK_TEXT("a=2", items(of_view));
    CHECK_TEXT("(denied)", seen(of_view, "b"));
    CHECK_TEXT("a=9 b=4", items(node_of(d, bag, "n", "", NULL)));
    CHECK_OK(valise_backpack_size(&size, of_view, &t->err));
    CHECK_INT(1, size);
    CHECK_TEXT("~a=1>3 ~b=1>3", differs(ss, s));
    CHECK_TEXT("~a=1>3", differs(ss, view)); /* only what the node may see */
    CHECK_TEXT("~a=3>1", differs(view, ss));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_at_seq(&none, s, 7, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_backpack_node(&none, view,
                                  &(valise_node){.size = sizeof(valise_node), .id = VLS_STR("m")},
                                  &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_backpack_fork(&none, view, "x", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(view, "a", "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_permit(s, "n", NULL, &t->err));
    CHECK_TEXT("a=1 b=1", items(fork_of(d, ss, "forked")));
    CHECK(!none);
}

TEST(api_travel, sc_2_source_tracing) /* [B2] [B16] [B30] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_backpack *one = node_of(d, bag, "research-1", "research", NULL);
    valise_backpack *two = node_of(d, bag, "research-2", "research", NULL);

    CHECK_OK(pack(one, "fact", "1", &t->err));
    CHECK_OK(pack(two, "other", "1", &t->err));
    CHECK_OK(pack(two, "fact", "2", &t->err));
    CHECK_OK(pack(one, "other", "2", &t->err)); /* they take turns */
    CHECK_STR(VLS_STR("research-2"), item_of(bag, "fact").node_id);
    CHECK_STR(VLS_STR("research"), item_of(bag, "fact").namespace_name);
    CHECK_TEXT("3 pack fact v2 by research-2; 1 pack fact v1 by research-1", blamed(bag, "fact"));
    CHECK_INT(item_of(at_point(d, bag, "1"), "fact").run, item_of(bag, "other").run);
    CHECK(item_of(bag, "fact").run != item_of(bag, "other").run);
    CHECK_TEXT("(not found)", blamed(bag, "zz"));
}

TEST(api_travel, forks_go_their_own_way_and_are_merged) /* [B13] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *base, *fork, *deeper, *none = NULL;
    int64_t count = -1;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    base = at_point(d, bag, "now");
    fork = fork_of(d, base, "run-2");
    deeper = fork_of(d, fork, "run-3");
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "new", "2", &t->err));
    CHECK_INT(1, removal(fork, "b", &t->err));
    CHECK_OK(pack(bag, "c", "3", &t->err));
    CHECK_INT(2, item_of(fork, "a").version);
    CHECK_TEXT("a=2 new=2", items(fork));
    CHECK_TEXT("a=1 b=1 c=3", items(bag));
    CHECK_TEXT("a=1 b=1", items(deeper));
    CHECK_TEXT("~a=1>2 -b=1 +new=2", differs(base, fork));
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_INT(3, count);
    CHECK_TEXT("a=2 c=3 new=2", items(bag));
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_fork(&none, bag, "run-2", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_fork(&none, bag, "", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_backpack_merge(&count, base, base, fork, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_backpack_merge(&count, bag, base, node_of(d, fork, "n", "", NULL), NULL, NULL,
                                   &t->err));
    CHECK(!none);
}

/* What theirs took away or brought back, whatever ours has of the key; and who did it. */
TEST(api_travel, merges_bring_quarantine_labels_and_authors) /* [B2] [B17] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *base, *fork;
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    int64_t count = -1;

    CHECK_OK(pack(bag, "x", "1", &t->err));
    CHECK_OK(pack(bag, "gone", "1", &t->err));
    CHECK_OK(pack(bag, "back", "1", &t->err));
    CHECK_OK(pack(bag, "same", "1", &t->err));
    CHECK_OK(jail(bag, "back", "not sure", &t->err));
    base = at_point(d, bag, "now");
    fork = fork_of(d, base, "run-2");
    CHECK_OK(pack(fork, "x", "5", &t->err));
    CHECK_OK(jail(fork, "x", "is 5", &t->err));
    CHECK_OK(pack(fork, "new", "7", &t->err));
    CHECK_OK(jail(fork, "new", "bad", &t->err));
    CHECK_OK(jail(fork, "gone", "odd", &t->err));
    CHECK_OK(valise_release(NULL, fork, "back", 0, &t->err));
    tagged.tags = NAMES("draft");
    tagged.node_id = VLS_STR("tagger");
    CHECK_OK(valise_pack(NULL, fork, "same", "1", &tagged, &t->err));
    CHECK_OK(pack(fork, "later", "2", &t->err));
    CHECK_OK(jail(bag, "later", "never there", &t->err)); /* an entry is no change of an item */
    CHECK_INT(1, removal(bag, "gone", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_INT(6, count);
    CHECK_TEXT("back=1 later=2 same=1", items(bag));
    CHECK_STR(VLS_STR("tagger"), item_of(bag, "same").node_id);
    CHECK_INT(1, item_of(bag, "same").tags.count);
    CHECK(strstr(jailed(bag), "x=5(is 5)"));
    CHECK(strstr(jailed(bag), "new=7(bad)"));
    CHECK(strstr(jailed(bag), "gone=1(odd)"));
    CHECK(!strstr(jailed(bag), "not sure"));
    CHECK_OK(valise_release(NULL, bag, "x", 0, &t->err));
    CHECK_TEXT("5", got(bag, "x"));
    CHECK_INT(3, item_of(bag, "x").version);
}

/* A handle holds its state, whatever history drops meanwhile. */
TEST(api_travel, merges_from_what_a_snapshot_holds) /* [B17] [B14] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag, *base, *named, *fork, *state, *of_n, *n;
    int64_t count = -1;

    o.max_commits = d->durable ? 0 : 100;
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    base = at_point(d, bag, "now");
    fork = fork_of(d, base, "run-2");
    n = node_of(d, bag, "n", "", NULL);
    of_n = node_of(d, base, "n", "", NULL);
    CHECK_OK(pack(fork, "a", "2", &t->err));
    state = at_point(d, fork, "now");
    for (int i = 0; i < 300; i++) {
        CHECK_OK(pack(bag, "c", test_format("%d", i), &t->err));
        CHECK_OK(pack(fork, "c", "299", &t->err));
    }
    named = at_point(d, bag, "cp");
    CHECK_TEXT("~a=1>2", differs(base, state));
    CHECK_OK(valise_backpack_merge(&count, bag, base, state, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=2 b=1 c=299", items(bag));
    CHECK_OK(pack(fork, "b", "3", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, named, fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=2 b=3 c=299", items(bag));
    CHECK_OK(pack(fork, "e", "4", &t->err));
    CHECK_OK(valise_backpack_merge(&count, n, of_n, fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=2 b=3 c=299 e=4", items(bag));
}

static int on_conflict(void *arg, const valise_conflict *c, valise_error *err)
{
    vls_buf *out = arg;

    (void)err;
    vls_buf_printf(out, "%.*s: %.*s %.*s %.*s;", VALISE_STR_ARG(c->key),
                   VALISE_STR_ARG(valise_blob_bytes(c->base_value)),
                   VALISE_STR_ARG(valise_blob_bytes(c->our_value)),
                   VALISE_STR_ARG(valise_blob_bytes(c->their_value)));
    return 0;
}

TEST(api_travel, conflicts_are_listed_and_nothing_is_merged) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *base, *fork;
    VLS_AUTO(buf) vls_buf list = {0};
    int64_t count = -1;

    vls_buf_init(&list, t->env, 10000);
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    base = at_point(d, bag, "now");
    fork = fork_of(d, base, "run-2");
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_OK(pack(bag, "a", "3", &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_backpack_merge(&count, bag, base, fork, on_conflict, &list, &t->err));
    CHECK_STR(VLS_STR("a: 1 3 2;"), vls_buf_str(&list));
    CHECK(strstr(t->err.message, "both changed 1 key: a"));
    CHECK_INT(-1, count);
    CHECK_TEXT("a=3 b=1", items(bag));
    CHECK_RC(VALISE_E_CONFLICT, valise_backpack_merge(NULL, bag, base, fork, NULL, NULL, &t->err));
}

static int64_t number_in(valise_str digits)
{
    int64_t n = 0;

    CHECK(vls_str_to_i64(&n, digits));
    return n;
}

static int is_bad(void *arg, valise_backpack *snapshot, valise_error *err)
{
    valise_blob *value = NULL;
    int rc = valise_peek(&value, snapshot, "k", err);
    bool bad = rc == 1 && number_in(valise_blob_bytes(value)) >= 37;

    ++*(int *)arg;
    valise_blob_unref(value);
    return rc < 0 ? rc : bad;
}

static int take_seq(void *arg, const valise_commit *c, valise_error *err)
{
    (void)err;
    *(int64_t *)arg = c->seq;
    return 0;
}

TEST(api_travel, bisect_finds_the_first_bad_commit) /* [B16] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    int64_t found = 0;
    int asked = 0;

    for (int i = 1; i <= 64; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    CHECK_OK(valise_bisect(bag, 0, 64, is_bad, &asked, take_seq, &found, &t->err));
    CHECK_INT(37, found);
    CHECK(asked <= 8);
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_bisect(bag, 0, 36, is_bad, &asked, take_seq, &found, &t->err));
}

TEST(api_travel, replay_from_commit_is_a_fork_from_there) /* [B13] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *again = NULL, *none = NULL;
    valise_uuid id;

    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_OK(pack(bag, "k", "2", &t->err));
    id = commit_id(bag, 1);
    CHECK_OK(valise_replay_from_commit(&again, bag, &id, "run-2", &t->err));
    close_later(again);
    CHECK_TEXT("k=1", items(again));
    CHECK_OK(pack(again, "k", "3", &t->err));
    CHECK_TEXT("k=2", items(bag));
    CHECK(strstr(run_op(d, "backpack:list", "{}"), "\"originSeq\":1"));
    CHECK_RC(VALISE_E_EXISTS, valise_replay_from_commit(&none, bag, &id, "run-2", &t->err));
    id.bytes[0] ^= 1;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_replay_from_commit(&none, bag, &id, "run-3", &t->err));
    CHECK(!none);
}

/* A fork is as its origin, and its own options are its bounds. */
TEST(api_travel, forks_are_lenient_and_tainting_as_their_origin) /* [B13] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_LENIENT | VALISE_BACKPACK_TAINT);
    valise_backpack *bag, *fork = NULL, *none = NULL;
    valise_permissions p = {.deny = NAMES("k")};

    o.sticky = NAMES("own");
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(valise_permit(bag, "n", &p, &t->err));
    CHECK_OK(pack(bag, "k", "1", &t->err));
    o = desk_options(d, 0);
    if (!d->durable)
        o.max_commits = 500;
    o.items = VLS_STR("{\"more\":1}");
    CHECK_OK(valise_backpack_fork(&fork, bag, "run-2", &o, &t->err));
    close_later(fork);
    CHECK_TEXT("(absent)", got(node_of(d, fork, "n", "", NULL), "k"));
    CHECK_TEXT("k=1 more=1", items(fork));
    CHECK(strstr(exported(fork, 0), "\"sticky\":[\"own\"]"));
    o = desk_options(d, 0);
    o.flags ^= VALISE_BACKPACK_DURABLE;
    CHECK_RC(VALISE_E_UNSUPPORTED, valise_backpack_fork(&none, bag, "run-3", &o, &t->err));
    CHECK(!none);
}

/* ---- runs that are long gone ---- */

/* One that keeps about 100 commits; tidy it to have it do so. */
static valise_backpack *short_one(desk *d)
{
    valise_backpack_options o = desk_options(d, 0);

    if (!d->durable)
        o.max_commits = 100;
    else
        run_op(d, "retention:set", "{\"keepLatest\":100,\"kind\":\"backpack\"}");
    return bag_with(d, "run-1", &o);
}

static void tidy(desk *d)
{
    if (d->durable)
        run_op(d, "workspace:gc", "{}");
}

static int count_runs(desk *d)
{
    const char *at = run_op(d, "backpack:points", "{\"backpack\":\"run-1\"}");
    int count = 0;

    while ((at = strstr(at, "\"before\"")) != NULL) {
        count++;
        at++;
    }
    return count;
}

static int at_gone(valise_backpack *bag, const char *point, valise_error *err)
{
    valise_backpack *state = NULL;

    return valise_snapshot_at(&state, bag, valise_str_of(point), err);
}

/* Commit i packs i, odd ones by a, the others by b: run n of a is commit 2n - 1. */
TEST(api_travel, runs_go_with_their_commits_and_keep_their_numbers) /* [B8] [B12] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_one(d), *first, *copy = NULL;
    valise_backpack_options o = desk_options(d, 0);

    CHECK_OK(pack_as(bag, "once", "x", "0", &t->err));
    first = node_of(d, bag, "open", "", NULL);
    CHECK_OK(pack(first, "y", "0", &t->err));
    for (int i = 3; i <= 600; i++)
        CHECK_OK(pack_as(bag, i % 2 ? "a" : "b", "k", test_format("%d", i), &t->err));
    tidy(d);
    CHECK_MSG(count_runs(d) <= 100 + 4, "%d runs", count_runs(d));
    CHECK_TEXT("596", seen(at_point(d, bag, "before:a#298"), "k"));
    CHECK_TEXT("597", seen(at_point(d, bag, "after:a#298"), "k"));
    CHECK_TEXT("598", seen(at_point(d, bag, "before:a#-1"), "k"));
    CHECK_TEXT("520", seen(at_point(d, bag, "after:b#259"), "k"));
    CHECK_RC(VALISE_E_LIMIT, at_gone(bag, "before:a", &t->err));
    CHECK_RC(VALISE_E_LIMIT, at_gone(bag, "after:b#2", &t->err));
    CHECK_RC(VALISE_E_LIMIT, at_gone(bag, "after:once", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, at_gone(bag, "after:a#300", &t->err));
    CHECK(strstr(t->err.message, "299 times"));
    CHECK_OK(pack(first, "y", "1", &t->err)); /* its run is not over yet */
    CHECK_TEXT("1", seen(at_point(d, bag, "after:open"), "y"));
    CHECK_OK(pack_as(bag, "once", "x", "2", &t->err));
    CHECK_TEXT("0", seen(at_point(d, bag, "before:once#2"), "x"));
    o.flags |= VALISE_BACKPACK_NEW;
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(exported(bag, -1)), &o,
                                       &t->err));
    close_later(copy);
    CHECK_TEXT("596", seen(at_point(d, copy, "before:a#298"), "k"));
    CHECK_RC(VALISE_E_LIMIT, at_gone(copy, "after:a#2", &t->err));
    CHECK_OK(pack_as(copy, "a", "k", "602", &t->err));
    CHECK_TEXT("600", seen(at_point(d, copy, "before:a#300"), "k"));
}

/* A node that only reads runs too, and leaves no commit that could push its run out. */
TEST(api_travel, runs_without_commits_are_bounded) /* [B8] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_one(d), *node = NULL;
    const valise_node reader = {.size = sizeof(reader), .id = VLS_STR("reader")};

    if (d->durable)
        SKIP("what is kept in files has no bound of its own");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    for (int i = 0; i < 500; i++) {
        CHECK_OK(valise_backpack_node(&node, bag, &reader, &t->err));
        CHECK_TEXT("1", got(node, "k"));
        valise_backpack_close(node);
    }
    CHECK_MSG(count_runs(d) <= 200 + 50 + 4, "%d runs", count_runs(d));
    CHECK_TEXT("1", seen(at_point(d, bag, "before:reader#500"), "k"));
    CHECK_RC(VALISE_E_LIMIT, at_gone(bag, "before:reader#1", &t->err));
    for (int i = 0; i < 500; i++) /* and so are nodes that run once */
        CHECK_OK(pack_as(bag, test_format("n%d", i), "k", "2", &t->err));
    CHECK_MSG(count_runs(d) <= 200 + 50 + 4, "%d runs", count_runs(d));
    CHECK_OK(pack_as(bag, "n499", "k", "3", &t->err));
    CHECK_TEXT("3", seen(at_point(d, bag, "after:n499"), "k"));
}

static void fill(valise_backpack *bag, test *t)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    valise_permissions p = {.deny = NAMES("x"), .namespace_read = NAMES("a.*")};
    valise_list nodes = NAMES("auth");

    o.node_id = VLS_STR("n");
    o.namespace_name = VLS_STR("a.b");
    o.tags = NAMES("pii");
    o.read = NAMES("auth", "n");
    CHECK_OK(valise_pack(NULL, bag, "email", "\"me\"", &o, &t->err));
    CHECK_OK(pack_as(bag, "m", "k", "{\"a\":[1,null]}", &t->err));
    CHECK_OK(pack_as(bag, "m", "k", "2", &t->err));
    CHECK_OK(jail(bag, "k", "bad", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "mark", &t->err));
    CHECK_OK(pack_as(bag, "n", "k", "3", &t->err));
    CHECK_INT(1, removal(bag, "k", &t->err));
    CHECK_OK(pack_as(bag, "n", "z", "4", &t->err));
    CHECK_OK(valise_permit(bag, "p", &p, &t->err));
    CHECK_OK(valise_tag_rule(bag, "pii", &nodes, NULL, &t->err));
}

static void check_same(desk *d, valise_backpack *a, valise_backpack *b)
{
    CHECK_TEXT(items(a), items(b));
    CHECK_TEXT(jailed(a), jailed(b));
    CHECK_TEXT(all_history(a), all_history(b));
    CHECK_TEXT(items(at_point(d, a, "mark")), items(at_point(d, b, "mark")));
    CHECK_TEXT(items(at_point(d, a, "before:n#2")), items(at_point(d, b, "before:n#2")));
    CHECK_TEXT("(denied)", got(node_of(d, b, "m", "", NULL), "email"));
    CHECK_TEXT("(denied)", got(node_of(d, b, "p", "", NULL), "x"));
}

/* From either kind to either kind, and back: the same. */
TEST(api_travel, to_json_and_from_json) /* [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *same = NULL, *other = NULL, *none = NULL;
    valise_backpack_options o = desk_options(d, 0);
    const char *json;

    fill(bag, t);
    json = exported(bag, -1);
    CHECK_OK(valise_backpack_from_json(&same, d->v, "run-2", valise_str_of(json), &o, &t->err));
    close_later(same);
    check_same(d, bag, same);
    o.flags ^= VALISE_BACKPACK_DURABLE;
    CHECK_OK(valise_backpack_from_json(&other, d->v, "run-3", valise_str_of(exported(same, -1)), &o,
                                       &t->err));
    close_later(other);
    check_same(d, bag, other);
    CHECK_OK(pack(other, "k", "5", &t->err)); /* versions go on */
    CHECK_INT(4, item_of(other, "k").version);
    CHECK_RC(VALISE_E_EXISTS,
             valise_backpack_from_json(&none, d->v, "run-3", valise_str_of(json), &o, &t->err));
    o.flags ^= VALISE_BACKPACK_DURABLE;
    CHECK_RC(VALISE_E_EXISTS,
             valise_backpack_from_json(&none, d->v, "run-3", valise_str_of(json), &o, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_backpack_from_json(&none, d->v, "run-4",
                                                         VLS_STR("{\"items\":7}"), &o, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_backpack_from_json(&none, d->v, "run-4", VLS_STR("{"), &o, &t->err));
    CHECK_RC(VALISE_E_INVALID,
             valise_backpack_from_json(&none, d->v, "run-4",
                                       valise_str_of(exported(node_of(d, bag, "p", "", NULL), 0)),
                                       &o, &t->err));
    CHECK(!none);
    CHECK(!strstr(run_op(d, "backpack:list", "{}"), "run-4"));
}

TEST(api_travel, json_has_the_options) /* [B27] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_LENIENT | VALISE_BACKPACK_TAINT);
    valise_backpack *bag, *copy = NULL;

    o.sticky = NAMES("own");
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(pack(bag, "k", "1", &t->err));
    o = desk_options(d, 0);
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "run-2", valise_str_of(exported(bag, 0)), &o,
                                       &t->err));
    close_later(copy);
    CHECK(strstr(exported(copy, 0), "\"lenient\":true"));
    CHECK(strstr(exported(copy, 0), "\"sticky\":[\"own\"]"));
    CHECK(strstr(exported(copy, 0), "\"taint\":true"));
}

/* What options say counts, what they leave open is as the JSON says: for both kinds. */
TEST(api_travel, json_and_options_together) /* [B23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *copy = NULL;
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_LENIENT | VALISE_BACKPACK_TAINT);
    const char *json;

    CHECK_OK(pack(bag, "k", "1", &t->err));
    json = exported(bag, -1);
    o.sticky = NAMES("z", "a", "z");
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(json), &o, &t->err));
    close_later(copy);
    json = exported(copy, -1);
    CHECK(strstr(json, "\"lenient\":true"));
    CHECK(strstr(json, "\"taint\":true"));
    CHECK(strstr(json, "\"sticky\":[\"a\",\"z\"]"));
    /* And what the document says stays. */
    copy = NULL;
    o = desk_options(d, 0);
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "again", valise_str_of(json), &o, &t->err));
    close_later(copy);
    json = exported(copy, -1);
    CHECK(strstr(json, "\"lenient\":true"));
    CHECK(strstr(json, "\"taint\":true"));
    CHECK(strstr(json, "\"sticky\":[\"a\",\"z\"]"));
    o.sticky = NAMES("");
    copy = NULL;
    CHECK_RC(VALISE_E_INVALID,
             valise_backpack_from_json(&copy, d->v, "bad", valise_str_of(json), &o, &t->err));
    CHECK(!copy);
}

/* Sticky tags come in any order; what is declassified is sorted all the same. */
TEST(api_travel, sticky_tags_are_sorted_and_checked) /* [B22] [B23] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_pack_options p = VALISE_PACK_OPTIONS_INIT;
    valise_backpack *bag, *node, *copy = NULL;

    o.sticky = NAMES("z", "m", "a");
    bag = bag_with(d, "run-1", &o);
    node = node_of(d, bag, "n", "", NULL);
    p.tags = NAMES("a", "m", "z");
    CHECK_OK(valise_pack(NULL, bag, "in", "1", &p, &t->err));
    CHECK_TEXT("1", got(node, "in"));
    p = (valise_pack_options)VALISE_PACK_OPTIONS_INIT;
    p.declassify = NAMES("z", "a");
    CHECK_OK(valise_pack(NULL, node, "out", "1", &p, &t->err));
    CHECK(strstr(exported(bag, -1), "\"declassified\":[\"a\",\"z\"]"));
    o = desk_options(d, 0);
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(exported(bag, -1)), &o,
                                       &t->err));
    close_later(copy);
    o.sticky = NAMES("");
    copy = NULL;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&copy, d->v, "bad", &o, &t->err));
    CHECK(!copy);
}

/* Also of runs that nobody ended: what they left so far. [B12] */
TEST(api_travel, points_have_commits)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *n;
    const char *points;

    CHECK_OK(pack_as(bag, "a", "k", "1", &t->err));
    CHECK_OK(pack_as(bag, "a", "k", "2", &t->err));
    n = node_of(d, bag, "n", "", NULL);
    CHECK_OK(pack(n, "x", "3", &t->err));
    CHECK_OK(pack_as(bag, "a", "k", "4", &t->err));
    CHECK_OK(pack(n, "x", "5", &t->err));
    CHECK_OK(pack_as(bag, "b", "k", "6", &t->err));
    points = run_op(d, "backpack:points", "{\"backpack\":\"run-1\"}");
    CHECK(strstr(points, "\"point\":\"after:a\",\"seq\":2}"));
    CHECK(strstr(points, "\"point\":\"before:n\",\"seq\":2}"));
    CHECK(strstr(points, "\"point\":\"after:n\",\"seq\":5}"));
    CHECK(strstr(points, "\"point\":\"after:a#2\",\"seq\":4}"));
    CHECK(strstr(points, "\"point\":\"after:b\",\"seq\":6}"));
    CHECK_TEXT("2", got(at_point(d, bag, "after:a"), "k"));
    CHECK_TEXT("5", got(at_point(d, bag, "after:n"), "x"));
}

/* How many commits are kept is not the number of the newest. [B33] */
TEST(api_travel, list_and_points_know_the_edge)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *copy = NULL;
    valise_backpack_options o = desk_options(d, 0);
    const char *list, *points;

    for (int i = 1; i <= 4; i++)
        CHECK_OK(pack_as(bag, i < 3 ? "a" : "b", "k", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(exported(bag, 1)), &o,
                                       &t->err));
    close_later(copy);
    list = run_op(d, "backpack:list", "{}");
    CHECK(strstr(list, "\"commits\":1"));
    CHECK(strstr(list, "\"edge\":3"));
    CHECK(strstr(list, "\"commits\":4"));
    CHECK(strstr(list, "\"lastSeq\":4"));
    points = run_op(d, "backpack:points", "{\"backpack\":\"copy\"}");
    CHECK(!strstr(points, "\"before:"));
    CHECK(strstr(points, "\"point\":\"after:b\",\"seq\":4}"));
}
