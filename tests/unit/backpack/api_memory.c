/* api_memory.c -- ephemeral backpacks: bounds, archives, and operations on them. */
#include <inttypes.h>

#include "api_kit.h"

/* "ephemeral" takes the short way, "watched" has a middleware: every pack is a command. */
TEST_PARAMS(api_memory, "ephemeral", "watched")

static valise_backpack *archive_of(desk *d)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    o.flags = VALISE_BACKPACK_DURABLE;
    return bag_with(d, "archive", &o);
}

static valise_backpack *archived(desk *d, int64_t max_commits)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    o.archive = VLS_STR("archive");
    o.max_commits = max_commits;
    return bag_with(d, "run-1", &o);
}

static int64_t commits_of(valise_backpack *bag)
{
    valise_usage usage = VALISE_USAGE_INIT;

    CHECK_INT(0, valise_backpack_usage(&usage, bag, NULL));
    return usage.commits;
}

static int take_previous(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    *(int64_t *)arg = commit->previous;
    return 0;
}

static int64_t previous_of(valise_backpack *bag, int64_t seq)
{
    valise_history one = VALISE_HISTORY_INIT;
    int64_t previous = -1;

    one.first = one.last = seq;
    CHECK_INT(0, valise_history_each(bag, &one, take_previous, &previous, NULL));
    return previous;
}

/* Nothing is missing, nothing is there twice, whichever handle packs. */
TEST(api_memory, an_archive_gets_what_is_dropped) /* [B8] */
{
    desk *d = desk_open(t);
    valise_backpack *archive = archive_of(d), *bag = archived(d, 150), *other, *node;
    int64_t kept;

    other = bag_of(d, "run-1"); /* knows nothing of an archive */
    node = node_of(d, bag, "n", "", NULL);
    for (int i = 1; i <= 900; i++) {
        valise_backpack *who = i % 3 == 0 ? bag : i % 3 == 1 ? other : node;
        CHECK_OK(pack(who, test_format("k%d", i % 10), test_format("%d", i), &t->err));
        if (i % 90 == 0)
            CHECK_INT(1, removal(who, test_format("k%d", (i + 1) % 10), &t->err));
    }
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    kept = commits_of(bag);
    CHECK(kept <= 150 && kept >= 100);
    CHECK_INT(910, kept + commits_of(archive));
    for (int i = 1; i <= 400; i += 57) { /* the first 400 are long gone */
        valise_history h = VALISE_HISTORY_INIT;
        h.first = h.last = i;
        CHECK(strncmp(history(archive, &h), test_format("%d ", i), 2) == 0);
    }
}

TEST(api_memory, an_archive_that_fails_loses_nothing_for_a_while) /* [B8] */
{
    desk *d = desk_open(t);
    valise_backpack *archive = archive_of(d), *bag = archived(d, 120), *none = NULL;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    run_op(d, "backpack:drop", "{\"backpack\":\"archive\"}");
    CHECK_TEXT("(not found)", items(archive));
    for (int i = 1; i <= 200; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err)); /* packing goes on */
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_flush(bag, &t->err));
    archive = archive_of(d);
    for (int i = 0; i < 1024 && commits_of(archive) == 0; i++) /* it is tried again, now and then */
        CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK(commits_of(archive) > 80);
    CHECK_INT(0, previous_of(archive, 1)); /* the first one is there */
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    o.archive = VLS_STR("nobody");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    o.archive = VLS_STR("run-1"); /* not durable */
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    let_in(d, "ann", "none", "\"backpack:read\",\"backpack:write backpack=run-2\"");
    o.archive = VLS_STR("archive");
    o.actor = VLS_STR("ann");
    CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    CHECK(!none);
}

/* As many wait as history may hold; who flushes is told how many did not get through. */
TEST(api_memory, an_archive_that_goes_on_failing_loses_the_oldest) /* [B8] */
{
    desk *d = desk_open(t);
    valise_backpack *archive = archive_of(d), *bag = archived(d, 120);
    int64_t kept, lost = 0;

    run_op(d, "backpack:drop", "{\"backpack\":\"archive\"}");
    for (int i = 1; i <= 1000; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_flush(bag, &t->err)); /* it still does */
    archive = archive_of(d);
    kept = commits_of(bag);
    CHECK_RC(VALISE_E_LIMIT, valise_backpack_flush(bag, &t->err));
    CHECK_INT(1,
              sscanf(t->err.message, "%" SCNd64 " commits are lost: the archive 'archive'", &lost));
    CHECK_INT(120, commits_of(archive));
    CHECK_INT(1000, kept + 120 + lost);
    CHECK_OK(valise_backpack_flush(bag, &t->err)); /* said once */
    for (int i = 1; i <= 100; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_INT(1100, commits_of(bag) + commits_of(archive) + lost);
}

/* The document of the archive can be read, and says the same. */
static void check_document(desk *d, valise_backpack *archive)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *copy = NULL;
    const char *json = exported(archive, -1);
    int rc = valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(json), &o, d->err);

    CHECK_MSG(rc == 0, "%s: %s", d->err->path, d->err->message);
    CHECK_TEXT(items(archive), items(copy));
    CHECK_TEXT(all_history(archive), all_history(copy));
    valise_backpack_close(copy);
}

static int64_t runs_of(valise_backpack *bag)
{
    int64_t count = 0;

    for (const char *at = exported(bag, -1); (at = strstr(at, "\"nth\":")) != NULL; at++)
        count++;
    return count;
}

/* Its commits have runs, versions and what was before as those of any backpack. */
TEST(api_memory, an_archive_can_be_exported_and_read) /* [B8] [B12] [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *archive = archive_of(d), *bag = archived(d, 100);

    for (int i = 0; i < 60; i++)
        CHECK_OK(pack_as(bag, i < 50 ? "n" : "m", "k", test_format("%d", i), &t->err));
    CHECK_OK(pack_as(bag, "n", "j", "1", &t->err));
    CHECK_OK(jail(bag, "j", "x", &t->err));
    CHECK_OK(valise_release(NULL, bag, "j", 0, &t->err));
    CHECK_INT(1, removal(bag, "j", &t->err));
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack_as(bag, "n", "z", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK(commits_of(archive) > 100);
    CHECK_INT(5, runs_of(archive)); /* n, m, n, who jails and releases, n */
    check_document(d, archive);

    /* Another backpack of that name begins anew; the archive goes on. */
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    bag = archived(d, 100);
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack_as(bag, "n", "z", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    check_document(d, archive);
}

/* What was lost on the way leaves gaps that its document may have. */
TEST(api_memory, an_archive_that_lost_commits_can_be_read) /* [B8] [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *archive = archive_of(d), *bag = archived(d, 100);

    CHECK_OK(pack(bag, "gone", "1", &t->err));
    CHECK_OK(pack(bag, "back", "1", &t->err));
    CHECK_OK(pack(bag, "z", "1", &t->err));
    for (int i = 0; i < 120; i++)
        CHECK_OK(pack(bag, "y", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    run_op(d, "backpack:drop", "{\"backpack\":\"archive\"}");
    archive = archive_of(d); /* it has nothing of them any more */
    CHECK_INT(1, removal(bag, "gone", &t->err));
    CHECK_OK(jail(bag, "back", "x", &t->err));
    for (int i = 0; i < 200; i++)
        CHECK_OK(pack(bag, "z", test_format("%d", i), &t->err));
    CHECK_OK(valise_release(NULL, bag, "back", 0, &t->err));
    for (int i = 0; i < 200; i++)
        CHECK_OK(pack(bag, "y", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK(strstr(all_history(archive), "release back v2"));
    CHECK(!strstr(all_history(archive), "delete gone"));
    check_document(d, archive);
}

/* What its origin has of the key is no commit of the archive. */
TEST(api_memory, an_archive_that_is_a_fork) /* [B8] [B13] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *base, *bag;

    o.flags = VALISE_BACKPACK_DURABLE;
    base = bag_with(d, "base", &o);
    CHECK_OK(pack(base, "x", "0", &t->err));
    CHECK_OK(pack(base, "k", "0", &t->err));
    fork_of(d, base, "archive");
    bag = archived(d, 100);
    for (int i = 1; i <= 105; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_INT(3, previous_of(archive_of(d), 4));
    CHECK_INT(0, previous_of(archive_of(d), 1));
}

TEST(api_memory, who_listens_hears_of_a_prune) /* [B8] [B28] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    listener *l = listen_to(d, "BACKPACK_PRUNE");
    valise_backpack *bag;

    o.max_commits = 100;
    bag = bag_with(d, "run-1", &o);
    for (int i = 0; i < 100; i++)
        CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_TEXT("", heard(l));
    run_op(d, "backpack:pack", "{\"backpack\":\"run-1\",\"key\":\"k\",\"value\":2}");
    CHECK(strstr(heard(l), "\"edge\":1}"));
    CHECK_OK(pack(bag, "k", "3", &t->err));
    CHECK(strstr(heard(l), "\"edge\":2}"));
}

/* An entry keeps why, however long ago. */
TEST(api_memory, quarantine_outlives_the_history) /* [B25] [B8] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag;

    o.max_commits = 100;
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_OK(jail(bag, "k", "why", &t->err));
    for (int i = 0; i < 300; i++)
        CHECK_OK(pack(bag, "other", test_format("%d", i), &t->err));
    CHECK_TEXT("2:k=1(why)", jailed(bag));
    CHECK_OK(valise_release(NULL, bag, "k", 0, &t->err));
    CHECK_TEXT("1", got(bag, "k"));
}

TEST(api_memory, operations_find_it_and_leave_no_log)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    const char *state = run_op(d, "workspace:hash", "{}");
    valise_call call = VALISE_CALL_INIT;

    run_op(d, "backpack:pack",
           "{\"backpack\":\"run-1\",\"key\":\"k\",\"value\":{\"b\":1,\"a\":2}}");
    CHECK_TEXT("k={\"a\":2,\"b\":1}", items(bag));
    CHECK(strstr(run_op(d, "backpack:unpack", "{\"backpack\":\"run-1\",\"key\":\"k\"}"),
                 "\"found\":true"));
    CHECK(strstr(run_op(d, "backpack:ls", "{\"backpack\":\"run-1\"}"), "\"key\":\"k\""));
    call.expect = VLS_STR("2");
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, d->v, "backpack:pack",
                             "{\"backpack\":\"run-1\",\"key\":\"k\",\"value\":3}", &call, &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, d->v, "backpack:rm", "{\"backpack\":\"run-1\",\"key\":\"k\"}",
                             &call, &t->err));
    call.expect = VLS_STR("1");
    CHECK_OK(valise_dispatch(NULL, d->v, "backpack:rm", "{\"backpack\":\"run-1\",\"key\":\"k\"}",
                             &call, &t->err));
    run_op(d, "backpack:fork", "{\"backpack\":\"run-1\",\"name\":\"run-2\",\"point\":\"1\"}");
    CHECK_TEXT("k={\"a\":2,\"b\":1}", items(bag_of(d, "run-2")));
    CHECK_TEXT(state, run_op(d, "workspace:hash", "{}"));
}

TEST(api_memory, backpack_create_list_and_drop)
{
    desk *d = desk_open(t);
    valise_backpack *bag;
    valise_backpack_options known = VALISE_BACKPACK_OPTIONS_INIT;
    const char *list;

    known.flags = VALISE_BACKPACK_KNOWN;
    archive_of(d);
    run_op(d, "backpack:create",
           "{\"name\":\"mem\",\"ephemeral\":true,\"items\":{\"a\":1},\"lenient\":true,"
           "\"maxCommits\":100,\"archive\":\"archive\"}");
    CHECK_RC(VALISE_E_EXISTS,
             run_as(d, "local", "backpack:create", "{\"name\":\"mem\",\"ephemeral\":true}"));
    CHECK_RC(VALISE_E_EXISTS,
             run_as(d, "local", "backpack:create", "{\"name\":\"archive\",\"ephemeral\":true}"));
    CHECK_RC(VALISE_E_INVALID,
             run_as(d, "local", "backpack:create", "{\"name\":\"x\",\"maxCommits\":100}"));
    CHECK_RC(VALISE_E_NOT_FOUND, run_as(d, "local", "backpack:create",
                                        "{\"name\":\"x\",\"ephemeral\":true,\"archive\":\"zz\"}"));
    CHECK_RC(VALISE_E_INVALID, run_as(d, "local", "backpack:create",
                                      "{\"name\":\"x\",\"ephemeral\":true,\"items\":{\"\":1}}"));
    bag = bag_with(d, "mem", &known);
    CHECK_TEXT("a=1", items(bag));
    list = run_op(d, "backpack:list", "{}");
    CHECK(strstr(list, "\"name\":\"archive\"") < strstr(list, "\"name\":\"mem\""));
    CHECK(strstr(list, "\"ephemeral\":true") > strstr(list, "\"ephemeral\":false"));
    CHECK(!strstr(list, "\"name\":\"x\""));
    run_op(d, "backpack:create", "{\"name\":\"zzz\"}");
    CHECK(strstr(run_op(d, "backpack:list", "{}"), "zzz"));
    valise_backpack_close(NULL);
    CHECK_TEXT("{\"ephemeral\":true,\"removed\":0}",
               run_op(d, "backpack:drop", "{\"backpack\":\"mem\"}"));
    CHECK_TEXT("(not found)", items(bag));
    CHECK(!strstr(run_op(d, "backpack:list", "{}"), "\"mem\""));
}

/* The last handle takes it along, unless an operation made it. */
TEST(api_memory, lives_as_long_as_somebody_has_it_open)
{
    desk *d = desk_open(t);
    valise_backpack *a = NULL, *b = NULL;
    valise_backpack_options known = VALISE_BACKPACK_OPTIONS_INIT;

    known.flags = VALISE_BACKPACK_KNOWN;
    CHECK_OK(valise_backpack_open(&a, d->v, "run-1", NULL, &t->err));
    CHECK_OK(pack(a, "k", "1", &t->err));
    CHECK_OK(valise_backpack_open(&b, d->v, "run-1", &known, &t->err));
    valise_backpack_close(a);
    CHECK_TEXT("k=1", items(b));
    valise_backpack_close(b);
    b = NULL;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_open(&b, d->v, "run-1", &known, &t->err));
    run_op(d, "backpack:create", "{\"name\":\"run-1\",\"ephemeral\":true}");
    CHECK_OK(valise_backpack_open(&b, d->v, "run-1", &known, &t->err));
    valise_backpack_close(b);
    b = NULL;
    CHECK_OK(valise_backpack_open(&b, d->v, "run-1", &known, &t->err));
    valise_backpack_close(b);
}

/* One name is not two backpacks. */
TEST(api_memory, names_are_shared_with_durable_ones)
{
    desk *d = desk_open(t);
    valise_backpack_options durable = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag = bag_of(d, "run-1"), *stored, *none = NULL;

    durable.flags = VALISE_BACKPACK_DURABLE;
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_open(&none, d->v, "run-1", &durable, &t->err));
    stored = bag_with(d, "run-2", &durable);
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_open(&none, d->v, "run-2", NULL, &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_fork(&none, bag, "run-2", NULL, &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_fork(&none, stored, "run-1", NULL, &t->err));
    CHECK_TEXT(test_format("(%d)", VALISE_E_UNSUPPORTED), differs(bag, stored));
    CHECK_RC(VALISE_E_UNSUPPORTED,
             valise_backpack_merge(NULL, stored, stored, bag, NULL, NULL, &t->err));
    /* Somebody else made one of that name all the same: each handle keeps to its own. */
    run_op(d, "backpack:create", "{\"name\":\"run-1\"}");
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_INT(1, removal(bag, "k", &t->err));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}"); /* that is the one in memory */
    CHECK_TEXT("(not found)", items(bag));
    stored = bag_with(d, "run-1", &durable);
    CHECK_TEXT("", all_history(stored));
    CHECK(!none);
}

/* Nothing is stored: a workspace that is open for reading only will do. */
TEST(api_memory, works_where_nothing_can_be_written)
{
    valise_options how = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL, *none = NULL;
    valise_backpack_options durable = VALISE_BACKPACK_OPTIONS_INIT;
    const char *dir = test_format("%s/ws", test_tmpdir());

    how.env = t->env;
    CHECK_OK(desk_try(&v, "sqlite", dir, &how, &t->err));
    valise_close(v);
    how.flags = VALISE_OPEN_READ_ONLY;
    CHECK_OK(desk_try(&v, "sqlite", dir, &how, &t->err));
    CHECK_OK(valise_backpack_open(&bag, v, "run-1", NULL, &t->err));
    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_INT(1, removal(bag, "k", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "x", &t->err));
    durable.flags = VALISE_BACKPACK_DURABLE;
    CHECK_RC(VALISE_E_DENIED, valise_backpack_open(&none, v, "run-2", &durable, &t->err));
    valise_backpack_close(bag);
    valise_close(v);
    CHECK_OK(valise_open(&v, NULL, NULL, &t->err)); /* and none at all will not */
    CHECK(valise_backpack_open(&none, v, "run-1", NULL, &t->err) < 0);
    CHECK(valise_backpack_open(&none, v, "run-1", &durable, &t->err) < 0);
    CHECK(!none);
    valise_close(v);
}
