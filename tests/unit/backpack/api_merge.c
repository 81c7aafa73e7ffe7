/* api_merge.c -- merges of forks: where they start from, who did it, and where tags came from. */
#include "api_kit.h"

TEST_PARAMS(api_merge, ALL_KINDS)

/* How many keys, or a code in parentheses: from where both were last the same. */
static const char *merged(valise_backpack *ours, valise_backpack *theirs)
{
    int64_t count = -1;
    int rc = valise_backpack_merge(&count, ours, NULL, theirs, NULL, NULL, NULL);

    return rc < 0 ? test_format("(%s)", valise_error_name(rc))
                  : test_format("%lld", (long long)count);
}

static valise_backpack *start(desk *d)
{
    valise_backpack *bag = bag_of(d, "main");
    test *t = d->t;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    return bag;
}

/* ---- where they start from ---- */

TEST(api_merge, the_second_starts_where_the_first_ended) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=3 b=1", items(bag));
    /* What ours did since stays. */
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(fork, "b", "5", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=1 b=5", items(bag));
    CHECK_TEXT("0", merged(bag, fork));
    /* Where both changed it since, it is a conflict still. */
    CHECK_OK(pack(bag, "b", "6", &t->err));
    CHECK_OK(pack(fork, "b", "7", &t->err));
    CHECK_TEXT("(CONFLICT)", merged(bag, fork));
    CHECK_OK(pack(bag, "b", "7", &t->err));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_OK(pack(fork, "b", "8", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=1 b=8", items(bag));
}

TEST(api_merge, both_directions_count) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_OK(pack(bag, "a", "3", &t->err));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("a=3 b=1", items(fork));
    CHECK_OK(pack(fork, "a", "4", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=4 b=2", items(bag));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("a=4 b=2", items(fork));
    CHECK_TEXT("0", merged(bag, fork));
}

/* What came by way of another is there all the same. */
TEST(api_merge, by_way_of_others) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *one = fork_of(d, bag, "one"), *two = fork_of(d, bag, "two");
    valise_backpack *three, *old;

    CHECK_OK(pack(two, "b", "2", &t->err));
    CHECK_TEXT("1", merged(one, two));
    CHECK_OK(pack(one, "a", "2", &t->err));
    CHECK_TEXT("2", merged(bag, one));
    CHECK_OK(pack(bag, "b", "3", &t->err)); /* after two's */
    CHECK_OK(pack(two, "c", "1", &t->err));
    CHECK_TEXT("1", merged(bag, two));
    CHECK_TEXT("a=2 b=3 c=1", items(bag));

    /* A fork has what was merged into its origin by then, and nothing else. */
    three = fork_of(d, bag, "three");
    old = fork_of(d, at_point(d, bag, "2"), "old");
    CHECK_OK(pack(three, "c", "2", &t->err));
    CHECK_OK(pack(two, "d", "1", &t->err));
    CHECK_TEXT("1", merged(three, two));
    CHECK_TEXT("a=2 b=3 c=2 d=1", items(three));
    CHECK_OK(pack(old, "c", "9", &t->err));
    CHECK_TEXT("(CONFLICT)", merged(old, two));
}

TEST(api_merge, an_older_state_of_theirs) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_TEXT("1", merged(bag, at_point(d, fork, "1")));
    CHECK_TEXT("2", merged(bag, fork));
    CHECK_OK(pack(bag, "a", "9", &t->err));
    CHECK_TEXT("0", merged(bag, at_point(d, fork, "2"))); /* it is in there */
    CHECK_TEXT("a=9 b=2", items(bag));
}

/* A base that is given is taken. What ours has of it counts; else it was a piece of theirs. */
TEST(api_merge, a_base_that_is_given) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");
    int64_t count = -1;

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, at_point(d, fork, "1"), fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=1 b=2", items(bag));
    CHECK_OK(valise_backpack_merge(&count, bag, at_point(d, bag, "2"), fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=2 b=2", items(bag));
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_RC(VALISE_E_CONFLICT, valise_backpack_merge(&count, bag, at_point(d, bag, "2"),
                                                      at_point(d, fork, "1"), NULL, NULL, &t->err));
}

/* What a node left out, another merge brings. */
TEST(api_merge, what_is_not_all_does_not_count) /* [B17] [B31] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork, *n, *there;
    const valise_permissions few = {.read = NAMES("a"), .write = NAMES("a")};

    CHECK_OK(valise_permit(bag, "n", &few, &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    n = node_of(d, bag, "n", "", NULL);
    there = node_of(d, fork, "n", "", NULL);
    CHECK_TEXT("1", merged(n, there));
    CHECK_TEXT("a=2 b=1", items(bag));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=2", items(bag));
    /* Where it sees all there is, its merges count as any. */
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_TEXT("1", merged(n, there));
    CHECK_OK(pack(bag, "a", "4", &t->err));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_TEXT("a=4 b=2", items(bag));
}

static int on_conflict(void *arg, const valise_conflict *c, valise_error *err)
{
    const char **text = arg;

    (void)err;
    *text = test_format("%s%.*s: %.*s %.*s %.*s;", *text, VALISE_STR_ARG(c->key),
                        VALISE_STR_ARG(valise_blob_bytes(c->base_value)),
                        VALISE_STR_ARG(valise_blob_bytes(c->our_value)),
                        VALISE_STR_ARG(valise_blob_bytes(c->their_value)));
    return 0;
}

TEST(api_merge, conflicts_are_those_since_then) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");
    const char *text = "";

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_TEXT("2", merged(bag, fork));
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_OK(pack(fork, "b", "3", &t->err));
    CHECK_OK(pack(bag, "a", "4", &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_backpack_merge(NULL, bag, NULL, fork, on_conflict, &text, &t->err));
    CHECK_TEXT("a: 2 4 3;", text);
    CHECK(strstr(run_op(d, "backpack:conflicts", "{\"backpack\":\"main\",\"theirs\":\"fork\"}"),
                 "\"base\":2"));
}

/* The state that both have in common was dropped: no other is taken in its place. */
TEST(api_merge, a_base_that_is_not_kept) /* [B17] [B8] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag = start(d), *fork = NULL;
    valise_backpack *base;
    int64_t count = -1;

    o.max_commits = d->durable ? 0 : 100;
    CHECK_OK(valise_backpack_fork(&fork, bag, "fork", d->durable ? NULL : &o, &t->err));
    close_later(fork);
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    base = at_point(d, fork, "now");
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(fork, "c", test_format("%d", i), &t->err));
    if (d->durable) {
        run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":100}");
        run_op(d, "workspace:gc", "{}");
    }
    CHECK_RC(VALISE_E_LIMIT, valise_backpack_merge(NULL, bag, NULL, fork, NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, "'fork' after commit 1"));
    CHECK(strstr(t->err.hint, "--base-point"));
    if (d->durable) /* the handle holds nothing */
        base = at_point(d, bag, "now");
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_OK(pack(fork, "c", "-1", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=1 c=-1", items(bag));
}

/* A copy knows what was merged into it. */
TEST(api_merge, copies_know_of_it) /* [B17] [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *copy = NULL, *other = NULL;
    valise_backpack_options o = desk_options(d, 0);
    const char *text;

    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    text = exported(bag, -1);
    CHECK(strstr(text, "\"merges\":[{\"seq\":3,"));
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(text), &o, &t->err));
    close_later(copy);
    CHECK(strstr(exported(copy, -1), "\"merges\":[{\"seq\":3,"));
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_TEXT("1", merged(copy, fork));
    CHECK_TEXT("a=3 b=1", items(copy));
    CHECK_TEXT("1", merged(copy, bag));
    CHECK_TEXT("a=3 b=2", items(copy));
    /* A copy of a fork knows where that began. */
    fork = fork_of(d, bag, "fork-2");
    CHECK_OK(pack(fork, "c", "1", &t->err));
    CHECK_OK(valise_backpack_from_json(&other, d->v, "other", valise_str_of(exported(fork, -1)), &o,
                                       &t->err));
    close_later(other);
    CHECK_OK(pack(bag, "a", "7", &t->err));
    CHECK_TEXT("1", merged(bag, other));
    CHECK_TEXT("a=7 b=2 c=1", items(bag));
}

TEST(api_merge, the_log_has_all_of_it) /* [K9] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    if (strcmp(t->param, "sqlite") != 0)
        SKIP("what is in a log comes again after a restart");
    CHECK_OK(pack(fork, "a", "2", &t->err));
    run_op(d, "backpack:merge", "{\"backpack\":\"main\",\"theirs\":\"fork\"}");
    CHECK_OK(pack(fork, "a", "3", &t->err));
    CHECK_TEXT("{\"merged\":1}",
               run_op(d, "backpack:merge", "{\"backpack\":\"main\",\"theirs\":\"fork\"}"));
    CHECK_TEXT("a=3 b=1", items(bag));
}

/* Merges from forks that were dropped since are forgotten with the history that had them. */
TEST(api_merge, what_is_remembered_is_bounded) /* [B8] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag;
    const char *text;

    if (d->durable)
        SKIP("history has no bound of its own");
    o.max_commits = 100;
    bag = bag_with(d, "main", &o);
    for (int i = 0; i < 300; i++) {
        valise_backpack *fork = NULL;
        CHECK_OK(valise_backpack_fork(&fork, bag, "fork", NULL, &t->err));
        CHECK_OK(pack(fork, "k", test_format("%d", i), &t->err));
        CHECK_TEXT("1", merged(bag, fork));
        valise_backpack_close(fork);
    }
    text = exported(bag, 1);
    for (int i = 0; (text = strstr(text, "\"theirs\":")); i++, text++)
        CHECK(i < 130);
}

/* What is in quarantine on both sides does not go back and forth. */
TEST(api_merge, quarantine_settles) /* [B17] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    CHECK_OK(jail(fork, "a", "bad", &t->err));
    CHECK_OK(pack(fork, "new", "1", &t->err));
    CHECK_OK(jail(fork, "new", "worse", &t->err));
    CHECK_TEXT("2", merged(bag, fork));
    CHECK_TEXT("3:a=1(bad) 5:new=1(worse)", jailed(bag));
    CHECK_TEXT("0", merged(fork, bag));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_TEXT("1:a=1(bad) 3:new=1(worse)", jailed(fork));
    /* Released on one side, it comes back on the other. */
    CHECK_OK(valise_release(NULL, fork, "a", 0, &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=1 b=1", items(bag));
    CHECK_TEXT("5:new=1(worse)", jailed(bag));
    CHECK_OK(jail(bag, "a", "again", &t->err));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("3:new=1(worse) 5:a=1(again)", jailed(fork));
    CHECK_TEXT("0", merged(bag, fork));
}

/* A bag whose history is cut after some hundred commits: by itself in memory, else by age(). */
static valise_backpack *short_lived(desk *d)
{
    valise_backpack_options o = desk_options(d, 0);

    o.max_commits = d->durable ? 0 : 100;
    return bag_with(d, "main", &o);
}

static void age(desk *d, valise_backpack *bag)
{
    test *t = d->t;

    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(bag, "last", test_format("%d", i), &t->err));
    if (!d->durable)
        return;
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":100}");
    run_op(d, "workspace:gc", "{}");
}

/* An entry that came from ours does not come back to it, though it is older than the history: nor
 * is it a conflict with what was packed since. */
TEST(api_merge, an_entry_older_than_the_history) /* [B8] [B17] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_lived(d), *fork;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(jail(bag, "a", "bad", &t->err));
    CHECK_OK(jail(bag, "b", "bad", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "held", &t->err));
    CHECK_TEXT("2", merged(fork, bag));
    age(d, bag);
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_TEXT("3:a=1(bad) 4:b=1(bad)", jailed(bag));
    CHECK_TEXT("b=2 last=299", items(bag));
    /* For another reason it is another one. */
    CHECK_OK(pack(fork, "a", "1", &t->err));
    CHECK_OK(jail(fork, "a", "worse", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
}

/* Two states are the same, since each was merged into the other: one of them is kept. */
TEST(api_merge, the_same_state_of_another) /* [B8] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_lived(d), *fork;
    const char *text = "";

    CHECK_OK(pack(bag, "a", "1", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("0", merged(bag, fork));
    age(d, bag);
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=1 last=299", items(bag));
    age(d, bag);
    CHECK_OK(pack(bag, "a", "3", &t->err));
    CHECK_OK(pack(fork, "a", "4", &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_backpack_merge(NULL, bag, NULL, fork, on_conflict, &text, &t->err));
    CHECK(strstr(text, "a: "));
}

/* One that the actor may not read is not taken for it: what is missing is told, not that. */
TEST(api_merge, the_same_state_of_one_that_is_not_for_everybody) /* [B17] [K23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_lived(d), *fork, *one, *two;
    const char *merge = "{\"backpack\":\"one\",\"theirs\":\"two\"}";

    CHECK_OK(pack(bag, "a", "1", &t->err));
    fork = fork_of(d, bag, "fork");
    one = fork_of(d, bag, "one");
    two = fork_of(d, bag, "two");
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_TEXT("1", merged(one, bag));
    CHECK_TEXT("1", merged(two, bag));
    age(d, bag);
    CHECK_OK(pack(two, "a", "2", &t->err));
    let_in(d, "ann", "none",
           "\"backpack:write\",\"backpack:read backpack=one\",\"backpack:read backpack=two\","
           "\"backpack:read backpack=main\"");
    CHECK_RC(VALISE_E_LIMIT, run_as(d, "ann", "backpack:merge", merge));
    CHECK_INT(VALISE_E_LIMIT, t->err.code);
    CHECK(strstr(t->err.message, "'main' after commit"));
    run_op(d, "backpack:merge", merge);
    CHECK_TEXT("a=2 b=1", items(one));
}

/* The same item for the same reason, but another error: theirs is told here too, once. */
TEST(api_merge, an_entry_with_another_error) /* [B17] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");
    valise_quarantine_options o = {
        .size = sizeof(o), .reason = VLS_STR("bad"), .error = VLS_STR("{\"line\":1}")};

    CHECK_OK(valise_quarantine(NULL, bag, "a", &o, &t->err));
    CHECK_OK(valise_quarantine(NULL, fork, "a", &o, &t->err));
    CHECK_OK(valise_quarantine(NULL, bag, "b", &o, &t->err));
    o.error = VLS_STR("{\"line\":2}");
    CHECK_OK(valise_quarantine(NULL, fork, "b", &o, &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("3:a=1(bad) 4:b=1(bad) 6:b=1(bad)", jailed(bag));
    CHECK_TEXT("0", merged(bag, fork));
}

/* Where merges crossed, two states are the newest: what they agree on. */
TEST(api_merge, merges_that_crossed) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *ours, *theirs;

    CHECK_OK(pack(bag, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    ours = at_point(d, bag, "now");
    theirs = at_point(d, fork, "now");
    CHECK_TEXT("1", merged(bag, theirs));
    CHECK_TEXT("1", merged(fork, ours));
    CHECK_OK(pack(fork, "c", "3", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=2 c=3", items(bag));
}

/* A checkpoint holds what was merged last, whatever history drops; its seq is enough to find it. */
TEST(api_merge, a_base_that_is_held) /* [B14] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag, *fork = NULL, *held, *none = NULL;

    o.max_commits = d->durable ? 0 : 100;
    bag = bag_with(d, "main", &o);
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(valise_backpack_fork(&fork, bag, "fork", d->durable ? NULL : &o, &t->err));
    close_later(fork);
    CHECK_OK(pack(bag, "a", "2", &t->err));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(bag, "c", test_format("%d", i), &t->err));
    if (d->durable) {
        run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":100}");
        run_op(d, "workspace:gc", "{}");
    }
    CHECK_TEXT("a=2", items(at_point(d, bag, "2")));
    CHECK_RC(VALISE_E_LIMIT, valise_snapshot_at_seq(&none, bag, 1, &t->err));
    held = fork_of(d, at_point(d, bag, "cp"), "held");
    CHECK_TEXT("a=2", items(held));
    CHECK_TEXT("1", merged(fork, bag));
    CHECK_TEXT("a=2 c=299", items(fork));
}

/* What a checkpoint and a fork hold goes on knowing what was merged into it, though later merges
 * say more: else a change that ours took back would come again. */
TEST(api_merge, held_states_know_what_was_merged) /* [B8] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag, *fork, *other, *held;

    o.max_commits = d->durable ? 0 : 100;
    bag = bag_with(d, "main", &o);
    CHECK_OK(pack(bag, "a", "0", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "a", "1", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_OK(pack(bag, "a", "0", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    other = fork_of(d, bag, "other");
    CHECK_OK(pack(fork, "c", "1", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(bag, "d", test_format("%d", i), &t->err));
    if (d->durable) {
        run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":100}");
        run_op(d, "workspace:gc", "{}");
    }
    CHECK_OK(pack(fork, "e", "1", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("2", merged(other, fork));
    CHECK_TEXT("a=0 b=1 c=1 e=1", items(other));
    held = fork_of(d, at_point(d, bag, "cp"), "held");
    CHECK_TEXT("2", merged(held, fork));
    CHECK_TEXT("a=0 c=1 e=1", items(held));
}

/* Of a key in which those differ nobody knows who changed it since: what one side took back does
 * not come again, nor does it get lost. */
TEST(api_merge, crossed_and_taken_back) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *ours, *theirs;
    const char *text = "";

    CHECK_OK(pack(bag, "a", "2", &t->err));
    CHECK_OK(pack(fork, "b", "2", &t->err));
    ours = at_point(d, bag, "now");
    theirs = at_point(d, fork, "now");
    CHECK_TEXT("1", merged(bag, theirs));
    CHECK_TEXT("1", merged(fork, ours));
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_backpack_merge(NULL, bag, NULL, fork, on_conflict, &text, &t->err));
    CHECK(strstr(text, "a: ") && strstr(text, " 1 2;"));
    CHECK_TEXT("(CONFLICT)", merged(fork, bag));
    CHECK(strstr(run_op(d, "backpack:conflicts", "{\"backpack\":\"fork\",\"theirs\":\"main\"}"),
                 "\"key\":\"a\""));
    CHECK_OK(pack(fork, "a", "1", &t->err));
    CHECK_TEXT("0", merged(bag, fork));
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=2", items(bag));
}

/* However many forks both have merged, the newest state is found. */
TEST(api_merge, many_states_in_common) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork");

    for (int i = 0; i < 40; i++) {
        const char *name = test_format("g%d", i);
        valise_backpack *one = fork_of(d, at_point(d, bag, "2"), name);
        CHECK_OK(pack(one, name, "1", &t->err));
        CHECK_TEXT("1", merged(bag, one));
        CHECK_TEXT("1", merged(fork, one));
    }
    CHECK_OK(pack(fork, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_OK(pack(fork, "a", "1", &t->err));
    CHECK_TEXT("0", merged(fork, bag));
    CHECK(strstr(items(fork), "a=1 b=1"));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK(strstr(items(bag), "a=1 b=1"));
}

/* A piece of theirs was merged, from a base that ours never had: the rest comes later. */
TEST(api_merge, a_piece_does_not_count) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *base;
    int64_t count = -1;

    CHECK_OK(pack(fork, "a", "2", &t->err));
    base = at_point(d, fork, "now");
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    CHECK_TEXT("a=1 b=2", items(bag));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=2 b=2", items(bag));
}

/* What came by way of one that was dropped since is there all the same, and is not brought again
 * where it was taken back. */
TEST(api_merge, by_way_of_one_that_was_dropped) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *one = fork_of(d, bag, "one"), *two = fork_of(d, bag, "two");
    valise_backpack *three = fork_of(d, two, "three"), *four = fork_of(d, bag, "four");

    CHECK_OK(pack(three, "a", "2", &t->err));
    CHECK_OK(pack(two, "b", "2", &t->err));
    CHECK_TEXT("1", merged(two, three));
    CHECK_TEXT("2", merged(one, two)); /* three by way of two */
    CHECK_OK(pack(four, "c", "4", &t->err));
    CHECK_TEXT("1", merged(one, four));
    CHECK_TEXT("3", merged(bag, one));
    CHECK_OK(pack(three, "d", "3", &t->err)); /* of this main has nothing */
    run_op(d, "backpack:drop", "{\"backpack\":\"one\"}");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "1", &t->err));
    CHECK_INT(1, removal(bag, "c", &t->err));
    CHECK_TEXT("0", merged(bag, two));
    CHECK_TEXT("0", merged(bag, four));
    CHECK_TEXT("1", merged(bag, three));
    CHECK_TEXT("a=1 b=1 d=3", items(bag));
    /* What it had itself is in nothing that both have. */
    CHECK_OK(pack(four, "c", "5", &t->err));
    CHECK_TEXT("(CONFLICT)", merged(bag, four));
}

static const char *id_in(const char *json, const char *member)
{
    const char *at = strstr(json, member);

    CHECK(at);
    return test_format("%.36s", at + strlen(member));
}

/* Both merged one that was dropped since. What one of them took back would come again from an older
 * state, or get lost: none is taken in its place, unless it has all that the dropped one had. */
TEST(api_merge, a_base_that_was_dropped) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *one = fork_of(d, bag, "one");
    valise_backpack *base = at_point(d, bag, "now"), *later;
    const char *id = id_in(exported(one, 0), "\"id\":\"");
    int64_t count = -1;

    CHECK_OK(pack(one, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, one));
    CHECK_TEXT("1", merged(fork, one));
    run_op(d, "backpack:drop", "{\"backpack\":\"one\"}");
    later = fork_of(d, bag, "later");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_RC(VALISE_E_LIMIT, valise_backpack_merge(&count, bag, NULL, fork, NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, id));
    CHECK(strstr(t->err.hint, "--base"));
    CHECK_TEXT("(LIMIT)", merged(fork, bag));
    CHECK_TEXT("a=1 b=1", items(bag));
    CHECK_TEXT("a=2 b=1", items(fork));
    /* What later was forked from has it too. */
    CHECK_OK(pack(later, "c", "1", &t->err));
    CHECK_TEXT("1", merged(bag, later));
    CHECK_TEXT("a=1 b=1 c=1", items(bag));
    /* And so has fork, once it was merged with a base that is given. */
    CHECK_OK(valise_backpack_merge(&count, bag, base, fork, NULL, NULL, &t->err));
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(fork, "d", "1", &t->err));
    CHECK_TEXT("1", merged(bag, fork));
    CHECK_TEXT("a=1 b=1 c=1 d=1", items(bag));
}

/* That ours has something of it is not forgotten with the history, as long as another has it too.
 */
TEST(api_merge, a_dropped_base_older_than_the_history) /* [B8] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = short_lived(d), *fork, *one, *two;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    fork = fork_of(d, bag, "fork");
    one = fork_of(d, bag, "one");
    CHECK_OK(pack(one, "a", "2", &t->err));
    CHECK_TEXT("1", merged(bag, one));
    CHECK_TEXT("1", merged(fork, one));
    run_op(d, "backpack:drop", "{\"backpack\":\"one\"}");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    age(d, bag);
    two = fork_of(d, bag, "two");
    CHECK_OK(pack(two, "b", "1", &t->err));
    CHECK_TEXT("1", merged(bag, two)); /* what is not asked for goes */
    CHECK_TEXT("(LIMIT)", merged(bag, fork));
    CHECK_TEXT("a=1 b=1 last=299", items(bag));
}

/* The same where ours had it by way of another, which was dropped after it. */
TEST(api_merge, a_base_that_was_dropped_before) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *one = fork_of(d, bag, "one");
    valise_backpack *two = fork_of(d, bag, "two");

    CHECK_OK(pack(one, "a", "2", &t->err));
    CHECK_TEXT("1", merged(two, one));
    CHECK_TEXT("1", merged(fork, one));
    run_op(d, "backpack:drop", "{\"backpack\":\"one\"}");
    CHECK_TEXT("1", merged(bag, two));
    run_op(d, "backpack:drop", "{\"backpack\":\"two\"}");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_TEXT("(LIMIT)", merged(bag, fork));
    CHECK_TEXT("(LIMIT)", merged(fork, bag));
}

/* The state that both have was dropped, but one of them was forked from it: it is held, whichever
 * of the two that is. */
TEST(api_merge, a_base_that_one_side_holds) /* [B8] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag, *early, *fork, *other;

    if (!d->durable)
        SKIP("a fork holds nothing of its origin in memory");
    bag = bag_of(d, "main");
    early = fork_of(d, bag, "early");
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_TEXT("1", merged(early, bag));
    fork = fork_of(d, bag, "fork");
    other = fork_of(d, bag, "other");
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(bag, "c", test_format("%d", i), &t->err));
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":100}");
    run_op(d, "workspace:gc", "{}");
    CHECK_OK(pack(early, "b", "1", &t->err));
    CHECK_OK(pack(other, "d", "1", &t->err));
    CHECK_TEXT("1", merged(fork, early));
    CHECK_TEXT("a=1 b=1", items(fork));
    CHECK_TEXT("1", merged(early, other));
    CHECK_TEXT("a=1 b=1 d=1", items(early));
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those behind the ones that are looked at might have a newer state: it is not guessed. */
TEST(api_merge, too_many_in_one_past) /* [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *copy = NULL;
    valise_backpack_options o = desk_options(d, 0);
    VLS_AUTO(buf) vls_buf text = {0};
    const char *json = exported(bag, -1), *merges = strstr(json, "\"merges\":[");
    const char *ids[1001];
    int64_t count = -1;

    if (strcmp(t->param, "sqlite") == 0)
        SKIP("it is slow, and no other than in memory");
    CHECK(merges);
    for (int i = 0; i < 1001; i++) {
        valise_backpack *one = fork_of(d, bag, test_format("f%d", i));
        ids[i] = id_in(exported(one, 0), "\"id\":\"");
    }
    qsort(ids, VLS_COUNT(ids), sizeof(*ids), compare_texts);
    vls_buf_init(&text, t->env, (size_t)1 << 20);
    merges += strlen("\"merges\":[");
    vls_buf_add(&text, vls_str(json, (size_t)(merges - json)));
    for (int i = 0; i < 1001; i++)
        vls_buf_printf(&text, "%s{\"seq\":2,\"theirs\":\"%s\",\"upto\":0}", i ? "," : "", ids[i]);
    vls_buf_add_text(&text, merges);
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", vls_buf_str(&text), &o, &t->err));
    close_later(copy);
    CHECK_OK(pack(copy, "c", "1", &t->err));
    CHECK_RC(VALISE_E_LIMIT, valise_backpack_merge(&count, copy, NULL, fork, NULL, NULL, &t->err));
    CHECK(strstr(t->err.message, "more than 1000 backpacks") && strstr(t->err.message, "'copy'"));
    CHECK(strstr(t->err.hint, "--base"));
    CHECK_RC(VALISE_E_LIMIT, valise_backpack_merge(&count, fork, NULL, copy, NULL, NULL, &t->err));
    CHECK_OK(valise_backpack_merge(&count, fork, bag, copy, NULL, NULL, &t->err));
    CHECK_INT(1, count);
    /* Those that were dropped are not looked at. */
    for (int i = 0; i < 10; i++)
        run_op(d, "backpack:drop", test_format("{\"backpack\":\"f%d\"}", i));
    CHECK_TEXT("0", merged(copy, fork));
}

/* ---- who did it ---- */

TEST(api_merge, authors_stay_but_their_runs_do_not_come_along) /* [B2] [B12] [B17] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = start(d), *fork = fork_of(d, bag, "fork"), *none = NULL, *n;

    CHECK_OK(pack_as(bag, "r", "c", "0", &t->err));
    CHECK_OK(pack_as(fork, "r", "a", "2", &t->err));
    CHECK_OK(pack_as(fork, "s", "b", "2", &t->err));
    CHECK_INT(1, removal(fork, "b", &t->err));
    CHECK_TEXT("2", merged(bag, fork));
    CHECK_STR(VLS_STR("r"), item_of(bag, "a").node_id);
    CHECK_INT(0, item_of(bag, "a").run);
    CHECK(strstr(blamed(bag, "a"), "by r"));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_before_node(&none, bag, "s", 1, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_snapshot_before_node(&none, bag, "r", 2, &t->err));
    CHECK_TEXT("a=1 b=1 c=0", items(at_point(d, bag, "after:r")));
    /* What the node does here is a run of its own, the second one. */
    CHECK_OK(pack_as(bag, "r", "a", "3", &t->err));
    CHECK_TEXT("a=2 c=0", items(at_point(d, bag, "before:r#2")));
    CHECK_TEXT("a=3 c=0", items(at_point(d, bag, "after:r#2")));
    /* A node that merges has run here. */
    CHECK_OK(pack_as(fork, "s", "a", "3", &t->err));
    CHECK_OK(pack_as(fork, "s", "e", "1", &t->err));
    n = node_of(d, bag, "m", "", NULL);
    CHECK_TEXT("1", merged(n, fork));
    CHECK(item_of(bag, "e").run > 0);
    CHECK_TEXT("a=3 c=0", items(at_point(d, bag, "before:m")));
}

/* ---- where tags came from ---- */

static valise_taint taint_of(valise_backpack *bag, const char *key)
{
    valise_commit c = item_of(bag, key);

    CHECK_INT(1, c.taints.count);
    return *((const valise_taint *const *)c.taints.items)[0];
}

static bool is_zero(const valise_uuid *id)
{
    static const valise_uuid zero;

    return memcmp(id, &zero, sizeof(zero)) == 0;
}

static valise_backpack *tainting(desk *d)
{
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise_backpack *bag = bag_with(d, "main", &o);
    test *t = d->t;

    tagged.tags = NAMES("pii");
    CHECK_OK(pack(bag, "x", "0", &t->err));
    CHECK_OK(valise_pack(NULL, bag, "mail", "1", &tagged, &t->err));
    return bag;
}

TEST(api_merge, taints_name_the_backpack_they_came_from) /* [B22] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d), *fork, *n, *copy = NULL;
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_TAINT);
    valise_uuid main_id = item_of(bag, "mail").backpack, fork_id;
    valise_taint taint;

    n = node_of(d, bag, "n", "", NULL);
    CHECK_TEXT("1", got(n, "mail"));
    CHECK_OK(pack(n, "out", "1", &t->err));
    taint = taint_of(bag, "out");
    CHECK(taint.seq == 2 && is_zero(&taint.backpack));

    /* Read in the fork, but packed in its origin. */
    fork = fork_of(d, bag, "fork");
    n = node_of(d, fork, "m", "", NULL);
    CHECK_TEXT("1", got(n, "mail"));
    CHECK_OK(pack(n, "y", "1", &t->err));
    fork_id = item_of(fork, "y").backpack;
    taint = taint_of(fork, "y");
    CHECK(taint.seq == 2 && memcmp(&taint.backpack, &main_id, sizeof(main_id)) == 0);

    /* What stays with the item stays that commit's; what was packed in the fork is the fork's. */
    CHECK_OK(pack(fork, "out", "2", &t->err));
    taint = taint_of(fork, "out");
    CHECK(taint.seq == 2 && memcmp(&taint.backpack, &main_id, sizeof(main_id)) == 0);
    n = node_of(d, fork, "k", "", NULL);
    CHECK_TEXT("1", got(n, "y"));
    CHECK_OK(pack(n, "z", "1", &t->err));
    taint = taint_of(fork, "z");
    CHECK(taint.seq == 1 && is_zero(&taint.backpack));

    /* Merged: those of main are main's own now, the other one is the fork's. */
    CHECK_TEXT("3", merged(bag, fork));
    taint = taint_of(bag, "y");
    CHECK(taint.seq == 2 && is_zero(&taint.backpack));
    taint = taint_of(bag, "z");
    CHECK(taint.seq == 1 && memcmp(&taint.backpack, &fork_id, sizeof(fork_id)) == 0);
    CHECK(strstr(run_op(d, "backpack:show", "{\"backpack\":\"main\",\"commit\":\"6\"}"),
                 "\"backpack\":") != NULL);

    /* Released from what the fork began with. */
    CHECK_OK(jail(bag, "out", "bad", &t->err));
    fork = fork_of(d, bag, "fork-2");
    CHECK_OK(valise_release(NULL, fork, "out", 0, &t->err));
    taint = taint_of(fork, "out");
    CHECK(taint.seq == 2 && memcmp(&taint.backpack, &main_id, sizeof(main_id)) == 0);

    /* A copy of a fork stands alone: mail is commit 2 of what it began with. */
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(exported(fork, -1)), &o,
                                       &t->err));
    close_later(copy);
    taint = taint_of(copy, "out");
    CHECK(taint.seq == item_of(copy, "mail").seq && is_zero(&taint.backpack));
    taint = taint_of(copy, "z");
    CHECK(taint.seq == 1 && memcmp(&taint.backpack, &fork_id, sizeof(fork_id)) == 0);
}

/* What a node has read and not yet answered goes with a fork of that state, and no other. */
TEST(api_merge, what_was_read_goes_with_a_fork) /* [B13] [B22] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = tainting(d), *n = node_of(d, bag, "n", "", NULL), *fork, *old;

    CHECK_TEXT("1", got(n, "mail"));
    fork = fork_of(d, bag, "fork");
    old = fork_of(d, at_point(d, bag, "1"), "old");
    CHECK_OK(pack(node_of(d, old, "n", "", NULL), "out", "1", &t->err));
    CHECK_INT(0, item_of(old, "out").taints.count);
    CHECK_OK(pack(node_of(d, fork, "n", "", NULL), "out", "1", &t->err));
    CHECK_INT(2, taint_of(fork, "out").seq);
    CHECK_OK(pack(n, "out", "1", &t->err));
    CHECK_INT(1, item_of(bag, "out").taints.count);
    fork = fork_of(d, bag, "later");
    CHECK_OK(pack(node_of(d, fork, "n", "", NULL), "out2", "1", &t->err));
    CHECK_INT(0, item_of(fork, "out2").taints.count);
}
