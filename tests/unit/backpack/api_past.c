/* api_past.c -- states of the past: who may see them, which there are, and what goes on from them.
 */
#include "api_kit.h"

TEST_PARAMS(api_past, ALL_KINDS)

/* A query as of an entry of the workspace's log; its answer, or a code in parentheses. */
static const char *ask_at(desk *d, const char *at, const char *actor, const char *type,
                          const char *payload)
{
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;
    int rc;

    call.at = valise_str_of(at);
    call.actor = valise_str_of(actor);
    rc = valise_dispatch(&reply, d->v, type, payload, &call, d->err);
    text = rc < 0 ? test_format("(%s)", valise_error_name(rc))
                  : test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

/* The newest entry of the log. */
static const char *log_now(desk *d)
{
    const char *seq = strstr(run_op(d, "workspace:status", "{}"), "\"seq\":");

    CHECK(seq != NULL);
    return test_format("%lld", strtoll(seq + 6, NULL, 10));
}

#define AS_N "{\"backpack\":\"run-1\",\"node\":\"n\""

static void check_hidden(desk *d, const char *at, const char *actor)
{
    static const char *const all[][2] = {
        {"backpack:ls", AS_N ",\"values\":true}"},
        {"backpack:snapshot", AS_N ",\"point\":\"now\"}"},
        {"backpack:history", AS_N "}"},
        {"backpack:export", AS_N "}"},
    };

    CHECK_TEXT("(DENIED)", ask_at(d, at, actor, "backpack:unpack", AS_N ",\"key\":\"k\"}"));
    CHECK_TEXT("(DENIED)", ask_at(d, at, actor, "backpack:peek", AS_N ",\"key\":\"k\"}"));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const char *answer = ask_at(d, at, actor, all[i][0], all[i][1]);
        CHECK_MSG(!strstr(answer, "s3"), "%s shows %s", all[i][0], answer);
        CHECK_MSG(answer[0] == '{', "%s: %s", all[i][0], answer);
    }
}

/* What a node may see of an old state is decided with the permissions of today. */
TEST(api_past, is_seen_under_the_permissions_of_today) /* [B19] [B31] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_permissions no = {.deny = NAMES("k")};
    const char *before;

    CHECK_OK(pack(bag, "k", "\"s3\"", &t->err));
    let_in(d, "ann", "none", "\"backpack:read backpack=run-1\",\"backpack:as-node node=n\"");
    before = log_now(d);
    CHECK(strstr(ask_at(d, before, "", "backpack:unpack", AS_N ",\"key\":\"k\"}"), "s3"));
    CHECK_OK(valise_permit(bag, "n", &no, &t->err));
    check_hidden(d, before, "");
    check_hidden(d, before, "ann");
    CHECK(strstr(ask_at(d, before, "", "backpack:unpack", "{\"backpack\":\"run-1\",\"key\":\"k\"}"),
                 "s3")); /* the owner */
    if (d->durable)      /* what the permissions were is still there to see */
        CHECK(!strstr(ask_at(d, before, "", "backpack:permissions", "{\"backpack\":\"run-1\"}"),
                      "deny"));
}

/* The same of rules: the backpack's, and the workspace's. */
TEST(api_past, is_seen_under_the_rules_of_today) /* [B19] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    const char *before;

    tagged.tags = NAMES("internal");
    CHECK_OK(valise_pack(NULL, bag, "k", "\"s3\"", &tagged, &t->err));
    CHECK_OK(pack(bag, "open", "1", &t->err));
    let_in(d, "bob", "reader", ""); /* so that there is an entry before */
    before = log_now(d);
    CHECK(strstr(ask_at(d, before, "", "backpack:unpack", AS_N ",\"key\":\"k\"}"), "s3"));
    run_op(d, "backpack:rule", "{\"backpack\":\"\",\"tag\":\"internal\",\"read\":[\"other\"]}");
    check_hidden(d, before, "");
    run_op(d, "backpack:rule", "{\"backpack\":\"\",\"tag\":\"internal\"}");
    CHECK(strstr(ask_at(d, before, "", "backpack:unpack", AS_N ",\"key\":\"k\"}"), "s3"));
    run_op(d, "backpack:rule",
           "{\"backpack\":\"run-1\",\"tag\":\"internal\",\"read\":[\"other\"]}");
    check_hidden(d, before, "");
}

/* The item of today has a list of nodes: that holds for what it was, too. */
TEST(api_past, is_seen_under_the_items_list_of_today) /* [B19] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    const char *before;

    CHECK_OK(pack(bag, "k", "\"s3\"", &t->err));
    let_in(d, "bob", "reader", "");
    before = log_now(d);
    options.read = NAMES("other");
    CHECK_OK(valise_pack(NULL, bag, "k", "2", &options, &t->err));
    check_hidden(d, before, "");
    CHECK_INT(1, removal(bag, "k", &t->err));
    if (d->durable) /* a deletion keeps the list */
        check_hidden(d, before, "");
}

#define RUN_1 "{\"backpack\":\"run-1\""

/* What was removed is gone from all states: what is left would be a false answer. */
TEST(api_past, of_a_dropped_backpack_is_gone) /* [B19] [B31] */
{
    desk *d = desk_open(t);
    const char *before;

    if (!d->durable)
        SKIP("what is in memory has no past in the log");
    CHECK_OK(pack(bag_of(d, "base"), "k", "1", &t->err));
    run_op(d, "backpack:fork", "{\"backpack\":\"base\",\"name\":\"run-1\"}");
    run_op(d, "backpack:pack", RUN_1 ",\"key\":\"k\",\"value\":2}");
    before = log_now(d);
    CHECK(strstr(ask_at(d, before, "", "backpack:unpack", RUN_1 ",\"key\":\"k\"}"), "2"));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    CHECK_TEXT("(NOT_FOUND)", ask_at(d, before, "", "backpack:unpack", RUN_1 ",\"key\":\"k\"}"));
    CHECK(strstr(t->err.message, "'run-1' was dropped since"));
    CHECK(t->err.hint[0]);
    CHECK_TEXT("(NOT_FOUND)", ask_at(d, before, "", "backpack:ls", RUN_1 "}"));
    CHECK_TEXT("(NOT_FOUND)", ask_at(d, before, "", "backpack:usage", RUN_1 "}"));
    CHECK_TEXT("(NOT_FOUND)", ask_at(d, before, "", "backpack:ls", AS_N "}"));
    CHECK(strstr(t->err.message, "'run-1' was dropped since"));
    CHECK(strstr(ask_at(d, before, "", "backpack:list", "{}"), "\"run-1\"")); /* that it was */
}

/* The state of that time is exact from today's edge on. */
TEST(api_past, before_what_is_kept_has_expired) /* [B19] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    const char *after[6], *answer;

    if (!d->durable)
        SKIP("what is in memory has no past in the log");
    for (int i = 1; i <= 5; i++) {
        CHECK_OK(pack(bag, "k", test_format("%d", 10 + i), &t->err));
        after[i] = log_now(d);
    }
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":2}");
    run_op(d, "workspace:gc", "{}");
    for (int i = 1; i <= 2; i++) {
        CHECK_TEXT("(LIMIT)", ask_at(d, after[i], "", "backpack:unpack", RUN_1 ",\"key\":\"k\"}"));
        CHECK(strstr(t->err.message, "the state of backpack 'run-1' at that time has expired"));
        CHECK(strstr(t->err.message, "after commit 3"));
        CHECK(t->err.hint[0]);
        CHECK_TEXT("(LIMIT)", ask_at(d, after[i], "", "backpack:ls", RUN_1 "}"));
        CHECK_TEXT("(LIMIT)", ask_at(d, after[i], "", "backpack:ls", AS_N "}"));
        CHECK(strstr(ask_at(d, after[i], "", "backpack:list", "{}"), "\"run-1\""));
    }
    for (int i = 3; i <= 5; i++) {
        answer = ask_at(d, after[i], "", "backpack:unpack", RUN_1 ",\"key\":\"k\"}");
        CHECK_MSG(strstr(answer, test_format("1%d", i)), "%d: %s", i, answer);
    }
    /* Nor is what was before the edge there for who looks back from then. */
    CHECK_TEXT("(LIMIT)", ask_at(d, after[4], "", "backpack:snapshot", RUN_1 ",\"point\":\"2\"}"));
    answer = ask_at(d, after[4], "", "backpack:history", RUN_1 "}");
    CHECK_MSG(strstr(answer, "\"seq\":4"), "%s", answer);
    CHECK_MSG(!strstr(answer, "\"seq\":3"), "%s", answer);
}

/* What held a state then and does so no more cannot show it. */
TEST(api_past, of_a_checkpoint_lasts_as_long_as_it) /* [B19] [B25] */
{
    static const char *const at_cp = RUN_1 ",\"point\":\"cp\"}";
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    const char *then;

    if (!d->durable)
        SKIP("what is in memory has no past in the log");
    CHECK_OK(pack(bag, "k", "77", &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    for (int i = 1; i <= 4; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    then = log_now(d);
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":1}");
    run_op(d, "workspace:gc", "{}");
    CHECK(strstr(ask_at(d, then, "", "backpack:snapshot", at_cp), "77"));
    CHECK_OK(valise_checkpoint_remove(bag, "cp", &t->err));
    run_op(d, "workspace:gc", "{}");
    CHECK_TEXT("(LIMIT)", ask_at(d, then, "", "backpack:snapshot", at_cp));
    CHECK(strstr(t->err.message, "checkpoint 'cp'"));
}

/* A fork holds what it needs of its origin, whatever expires there. */
TEST(api_past, of_a_fork_outlives_its_origins) /* [B13] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "base");
    const char *then;

    if (!d->durable)
        SKIP("what is in memory has no past in the log");
    CHECK_OK(pack(bag, "k", "77", &t->err));
    run_op(d, "backpack:fork", "{\"backpack\":\"base\",\"name\":\"run-1\"}");
    then = log_now(d);
    for (int i = 1; i <= 4; i++)
        CHECK_OK(pack(bag, "k", test_format("%d", i), &t->err));
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":1}");
    run_op(d, "workspace:gc", "{}");
    CHECK(strstr(ask_at(d, then, "", "backpack:unpack", RUN_1 ",\"key\":\"k\"}"), "77"));
    CHECK_TEXT("(LIMIT)",
               ask_at(d, then, "", "backpack:unpack", "{\"backpack\":\"base\",\"key\":\"k\"}"));
}

/* ---- versions ---- */

static valise_backpack *bounded(desk *d, const char *name)
{
    valise_backpack_options o = desk_options(d, 0);

    o.max_commits = d->durable ? 0 : 100;
    return bag_with(d, name, &o);
}

/* All commits so far go, but for what somebody holds. */
static void crowd_out(desk *d, valise_backpack *bag)
{
    int count = d->durable ? 4 : 400;

    for (int i = 0; i < count; i++)
        CHECK_INT(0, pack(bag, "z", test_format("%d", i), d->err));
    if (!d->durable)
        return;
    run_op(d, "retention:set", "{\"kind\":\"backpack\",\"keepLatest\":2}");
    run_op(d, "workspace:gc", "{}");
}

static int64_t packed_version(valise_backpack *bag, const char *key, valise_error *err)
{
    valise_packed packed = {0};

    CHECK_INT(0, valise_pack(&packed, bag, key, "99", NULL, err));
    return packed.version;
}

static void pack_five(desk *d, valise_backpack *bag, const char *key)
{
    for (int i = 1; i <= 5; i++)
        CHECK_INT(0, pack(bag, key, test_format("%d", i), d->err));
}

/* What the quarantine and checkpoints hold of a key is kept: its versions count on. */
TEST(api_past, versions_count_on_while_anything_of_the_key_is_kept) /* [B2] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bounded(d, "run-1");
    valise_packed packed = {0};

    pack_five(d, bag, "jailed");
    pack_five(d, bag, "freed");
    pack_five(d, bag, "marked");
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    pack_five(d, bag, "gone");
    CHECK_OK(jail(bag, "jailed", "x", &t->err));
    CHECK_OK(jail(bag, "freed", "x", &t->err));
    CHECK_INT(1, removal(bag, "marked", &t->err));
    CHECK_INT(1, removal(bag, "gone", &t->err));
    crowd_out(d, bag);
    CHECK_INT(6, packed_version(bag, "jailed", &t->err));
    CHECK_INT(6, packed_version(bag, "marked", &t->err));
    CHECK_INT(1, packed_version(bag, "gone", &t->err)); /* nothing is left of it */
    CHECK_OK(valise_release(&packed, bag, "freed", 0, &t->err));
    CHECK_INT(6, packed.version);
    CHECK_TEXT("5", got(bag, "freed"));
    CHECK_TEXT("freed=5 gone=99 jailed=99 marked=99 z=", test_format("%.*s", 38, items(bag)));
}

/* Until nobody holds anything of it any more. */
TEST(api_past, versions_begin_anew_when_nothing_is_kept) /* [B2] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bounded(d, "run-1");

    pack_five(d, bag, "k");
    CHECK_OK(jail(bag, "k", "x", &t->err));
    crowd_out(d, bag);
    CHECK_OK(valise_release(NULL, bag, "k", 0, &t->err)); /* v6 */
    CHECK_INT(1, removal(bag, "k", &t->err));
    crowd_out(d, bag);
    crowd_out(d, bag);
    CHECK_INT(1, packed_version(bag, "k", &t->err));
}

static valise_backpack *copy_of(desk *d, valise_backpack *bag, int64_t commits, const char *name)
{
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *copy = NULL;
    const char *json = exported(bag, commits);

    CHECK_INT(0, valise_backpack_from_json(&copy, d->v, name, valise_str_of(json), &o, d->err));
    CHECK_MSG(copy, "%s: %s in %s", d->err->path, d->err->message, json);
    close_later(copy);
    return copy;
}

/* A copy counts on where the backpack does. */
TEST(api_past, versions_go_with_an_export) /* [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork, *second, *copy;

    pack_five(d, bag, "k");
    pack_five(d, bag, "j");
    CHECK_INT(1, removal(bag, "k", &t->err));
    CHECK_OK(jail(bag, "j", "x", &t->err));
    pack_five(d, bag, "z");
    copy = copy_of(d, bag, 2, "copy");
    CHECK_TEXT("z=5", items(copy));
    CHECK_TEXT("12:j=5(x)", jailed(copy));
    CHECK_INT(6, packed_version(copy_of(d, copy, -1, "again"), "k", &t->err));
    CHECK_INT(6, packed_version(copy, "k", &t->err));
    CHECK_INT(6, packed_version(copy, "j", &t->err));
    CHECK_INT(6, packed_version(bag, "k", &t->err));

    CHECK_INT(1, removal(bag, "k", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "k", "7", &t->err));
    CHECK_INT(1, removal(fork, "k", &t->err));
    second = fork_of(d, fork, "second");
    CHECK_OK(pack(second, "other", "1", &t->err));
    copy = copy_of(d, second, -1, "copy2");
    CHECK_TEXT(items(second), items(copy));
    CHECK_INT(8, packed_version(copy, "k", &t->err));
    CHECK_INT(8, packed_version(second, "k", &t->err));
}

/* Who was forked before anything happened has an origin too. */
TEST(api_past, of_an_empty_origin_is_exported) /* [B13] [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *fork = fork_of(d, bag_of(d, "run-1"), "fork");

    CHECK(strstr(exported(fork, -1), "\"origin\":{\"id\":"));
    CHECK(!strstr(exported(bag_of(d, "run-2"), -1), "\"origin\""));
}

/* The history of the older shape leads to its items, in every kind of backpack. */
TEST(api_past, history_of_the_older_shape_is_read) /* [B27] */
{
    static const char json[] =
        "{\"items\":[[\"k\",{\"key\":\"k\",\"value\":2,\"metadata\":{\"sourceNodeId\":\"n\","
        "\"timestamp\":1700000000003,\"version\":2}}]],\"history\":["
        "{\"commitId\":\"1\",\"timestamp\":1700000000001,\"nodeId\":\"n\",\"action\":\"pack\","
        "\"key\":\"k\",\"newValue\":1,\"metadata\":{\"version\":1}},"
        "{\"commitId\":\"2\",\"timestamp\":1700000000001,\"nodeId\":\"n\",\"action\":\"pack\","
        "\"key\":\"l\",\"newValue\":5,\"metadata\":{\"version\":1}},"
        "{\"commitId\":\"3\",\"timestamp\":1700000000002,\"nodeId\":\"m\",\"action\":\"unpack\","
        "\"key\":\"k\"},"
        "{\"commitId\":\"4\",\"timestamp\":1700000000002,\"nodeId\":\"m\",\"action\":\"delete\","
        "\"key\":\"l\"},"
        "{\"commitId\":\"5\",\"timestamp\":1700000000003,\"nodeId\":\"n\",\"action\":\"pack\","
        "\"key\":\"k\",\"previousValue\":1,\"newValue\":2,\"metadata\":{\"version\":2}}],"
        "\"permissions\":{\"m\":{\"read\":[\"k\"]}}}";
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag = NULL;

    CHECK_OK(valise_backpack_from_json(&bag, d->v, "old", valise_str_of(json), &o, &t->err));
    close_later(bag);
    CHECK_TEXT("k=2", items(bag));
    CHECK_TEXT("1 pack k v1 by n; 2 pack l v1 by n; 3 delete l v1 by m; 4 pack k v2 by n",
               all_history(bag));
    CHECK_TEXT("k=1 l=5", items(at_point(d, bag, "2023-11-14T22:13:20.001Z")));
    CHECK_TEXT("~k=1>2 -l=5", differs(at_point(d, bag, "2"), bag));
    CHECK_INT(2, packed_version(bag, "l", &t->err));
}

/* ---- numbers from outside ---- */

/* Whatever was accepted goes on. */
static void use_all(desk *d, valise_backpack *bag, const char *key)
{
    test *t = d->t;
    valise_backpack *fork = NULL;

    CHECK_OK(pack(bag, key, "1", &t->err));
    CHECK_OK(pack_as(bag, "somebody", key, "2", &t->err));
    CHECK_OK(jail(bag, key, "x", &t->err));
    CHECK_OK(valise_release(NULL, bag, key, 0, &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, test_format("here-%s", key), &t->err));
    CHECK_INT(1, removal(bag, key, &t->err));
    CHECK_OK(valise_backpack_fork(&fork, bag, "fork", NULL, &t->err));
    CHECK_OK(pack(fork, key, "3", &t->err));
    CHECK(strstr(exported(fork, -1), "valise.backpack.1"));
    valise_backpack_close(fork);
    if (d->durable)
        run_op(d, "backpack:drop", "{\"backpack\":\"fork\"}");
}

/* Its own document is no stranger's. */
static void read_again(desk *d, valise_backpack *bag)
{
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *again = NULL;
    const char *json = exported(bag, -1);
    int rc = valise_backpack_from_json(&again, d->v, "again", valise_str_of(json), &o, d->err);

    CHECK_MSG(rc == 0, "%s: %s in %s", d->err->path, d->err->message, json);
    valise_backpack_close(again);
    if (d->durable)
        run_op(d, "backpack:drop", "{\"backpack\":\"again\"}");
}

/* The text with the number that stands at `at` replaced. */
static const char *with_number(const char *json, const char *at, const char *number)
{
    size_t len = strspn(at, "-0123456789");

    return test_format("%.*s%s%s", (int)(at - json), json, number, at + len);
}

static void try_numbers(desk *d, const char *json)
{
    static const char *const numbers[] = {"9223372036854775807",
                                          "9223372036854775806",
                                          "9007199254740992",
                                          "9007199254740993",
                                          "4503599627370496",
                                          "4503599627370497",
                                          "-9223372036854775808",
                                          "-1",
                                          "0"};
    valise_backpack_options o = desk_options(d, 0);

    for (const char *at = json; (at = strstr(at, "\":")) != NULL; at++) {
        if (strspn(at + 2, "-0123456789") == 0)
            continue;
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
            const char *bad = with_number(json, at + 2, numbers[i]);
            valise_backpack *copy = NULL;
            int rc = valise_backpack_from_json(&copy, d->v, "copy", valise_str_of(bad), &o, d->err);
            if (rc < 0) {
                CHECK_MSG(rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT, "%d for %s", rc, bad);
                continue;
            }
            use_all(d, copy, "k");
            use_all(d, copy, "new");
            read_again(d, copy);
            valise_backpack_close(copy);
            if (d->durable)
                run_op(d, "backpack:drop", "{\"backpack\":\"copy\"}");
        }
    }
}

TEST(api_past, numbers_of_an_import_can_be_counted_on_from) /* [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;

    if (strcmp(t->param, "sqlite") == 0 || strcmp(t->param, "watched") == 0)
        SKIP("the same as the other one");
    tagged.tags = NAMES("pii");
    CHECK_OK(valise_pack(NULL, bag, "k", "\"1\"", &tagged, &t->err));
    CHECK_OK(jail(bag, "k", "x", &t->err));
    CHECK_OK(valise_release(NULL, bag, "k", 0, &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    CHECK_OK(pack(bag, "l", "\"2\"", &t->err));
    try_numbers(d, exported(bag, -1));
    try_numbers(d, exported(bag, 2));
    try_numbers(d,
                "{\"items\":[[\"k\",{\"key\":\"k\",\"value\":\"x\",\"metadata\":"
                "{\"timestamp\":1700000000000,\"version\":3}}]],\"history\":[{\"commitId\":\"c\","
                "\"timestamp\":1600000000000,\"nodeId\":\"n\",\"action\":\"pack\",\"key\":\"k\","
                "\"valueSummary\":\"\",\"newValue\":\"y\",\"valueSize\":3,"
                "\"metadata\":{\"version\":2}}],\"permissions\":{}}");
}

/* ---- forks ---- */

TEST(api_past, quarantine_goes_with_a_fork) /* [B13] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bounded(d, "run-1"), *fork, *second;
    valise_packed packed = {0};

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_OK(jail(bag, "a", "bad", &t->err));
    CHECK_OK(jail(bag, "b", "bad", &t->err));
    CHECK_OK(valise_release(NULL, bag, "b", 0, &t->err));
    CHECK_OK(valise_checkpoint(NULL, bag, "cp", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_TEXT("-1:a=1(bad)", jailed(fork));
    CHECK_TEXT("b=2", items(fork));
    CHECK_OK(pack(fork, "c", "3", &t->err));
    CHECK_OK(pack(fork, "x", "4", &t->err));
    CHECK_OK(jail(fork, "c", "too", &t->err)); /* its own third commit */
    CHECK_TEXT("-1:a=1(bad) 3:c=3(too)", jailed(fork));
    second = fork_of(d, fork, "second");
    CHECK_TEXT("-2:a=1(bad) -1:c=3(too)", jailed(second));

    crowd_out(d, bag);
    CHECK_OK(valise_release(&packed, fork, "a", -1, &t->err));
    CHECK_INT(2, packed.version);
    CHECK_INT(-1, item_of(fork, "a").entry);
    CHECK_TEXT("1", got(fork, "a"));
    CHECK_TEXT("3:c=3(too)", jailed(fork));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_release(NULL, fork, "a", -1, &t->err));
    CHECK_TEXT("3:a=1(bad)", jailed(bag)); /* the origin has its own */
    CHECK_TEXT("-2:a=1(bad) -1:c=3(too)", jailed(second));
    CHECK_TEXT("-1:a=1(bad) 3:c=3(too)", jailed(at_point(d, fork, "3")));
    CHECK_OK(valise_release(NULL, bag, "a", 0, &t->err));
    CHECK_OK(valise_release(NULL, second, "c", 0, &t->err));
    CHECK_OK(valise_release(NULL, second, "a", 0, &t->err));
    CHECK_TEXT("a=1 b=2 c=3 x=4", items(second));
    CHECK_TEXT("", jailed(second));
}

/* One number means one entry, also where the origin and the fork have quarantined the same key with
 * commits of the same number. */
TEST(api_past, entries_of_a_fork_have_numbers_of_their_own) /* [B13] [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork;
    const char *listed;

    CHECK_OK(pack(bag, "k", "\"old\"", &t->err));
    CHECK_OK(jail(bag, "k", "one", &t->err));
    CHECK_OK(pack(bag, "k", "\"older\"", &t->err));
    CHECK_OK(jail(bag, "k", "two", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "k", "\"new\"", &t->err));
    CHECK_OK(jail(fork, "k", "three", &t->err));
    CHECK_TEXT("-2:k=\"old\"(one) -1:k=\"older\"(two) 2:k=\"new\"(three)", jailed(fork));
    listed = run_op(d, "backpack:ls", "{\"backpack\":\"fork\",\"quarantined\":true}");
    CHECK(strstr(listed, "\"seq\":-2") && strstr(listed, "\"seq\":-1"));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_release(NULL, fork, "k", 4, &t->err));
    run_op(d, "backpack:release", "{\"backpack\":\"fork\",\"key\":\"k\",\"entry\":-2}");
    CHECK_TEXT("\"old\"", got(fork, "k"));
    CHECK_INT(1, removal(fork, "k", &t->err));
    CHECK_OK(valise_release(NULL, fork, "k", 2, &t->err));
    CHECK_TEXT("\"new\"", got(fork, "k"));
    CHECK_INT(1, removal(fork, "k", &t->err));
    CHECK_OK(valise_release(NULL, fork, "k", 0, &t->err));
    CHECK_TEXT("\"older\"", got(fork, "k"));
    CHECK_TEXT("", jailed(fork));
}

/* Entries of the origin become the copy's own. */
TEST(api_past, inherited_quarantine_goes_with_an_export) /* [B25] [B27] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork, *copy;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_OK(jail(bag, "a", "bad", &t->err));
    CHECK_OK(jail(bag, "b", "worse", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "c", "3", &t->err));
    CHECK_OK(jail(fork, "c", "too", &t->err));
    CHECK_OK(valise_release(NULL, fork, "b", 0, &t->err));
    copy = copy_of(d, fork, -1, "copy");
    CHECK_TEXT("b=2", items(copy));
    CHECK_TEXT("3:a=1(bad) 6:c=3(too)", jailed(copy));
    CHECK_TEXT("3:a=1(bad) 4:b=2(worse) 6:c=3(too)", jailed(at_point(d, copy, "6")));
    CHECK_OK(valise_release(NULL, copy, "a", 0, &t->err));
    CHECK_TEXT("a=1 b=2", items(copy));
    CHECK_TEXT("-2:a=1(bad) 2:c=3(too)", jailed(fork));
}

/* [B12] */
TEST(api_past, before_a_fork_began_is_an_error)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork, *none = NULL;

    CHECK_TEXT("", items(at_point(d, bag, "2000-01-01T00:00:00Z"))); /* before anything */
    CHECK_OK(pack(bag, "a", "1", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_RC(VALISE_E_LIMIT,
             valise_snapshot_at(&none, fork, VLS_STR("2000-01-01T00:00:00Z"), &t->err));
    CHECK(strstr(t->err.message, "2000-01-01"));
    CHECK(strstr(t->err.message, "origin"));
    CHECK(t->err.hint[0]);
    CHECK_TEXT("a=1 b=2", items(at_point(d, fork, "2199-01-01T00:00:00Z")));
    CHECK_TEXT("a=1", items(at_point(d, fork, "0")));
}

static int note_by(void *arg, const valise_change *change, valise_error *err)
{
    const char **out = arg;

    (void)err;
    *out = change->by ? test_format("%.*s@%lld", VALISE_STR_ARG(change->by->node_id),
                                    (long long)change->by->seq)
                      : "nobody";
    return 0;
}

/* Who made the one difference. */
static const char *changed_by(desk *d, valise_backpack *a, valise_backpack *b)
{
    const char *by = "nothing";

    CHECK_INT(0, valise_backpack_diff(a, b, note_by, &by, d->err));
    return by;
}

/* A commit that both have changed nothing between them, however many forks lie in between. */
TEST(api_past, forks_of_forks_know_what_they_began_with) /* [B15] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *first, *second;

    CHECK_OK(pack_as(bag, "orig", "k", "1", &t->err));
    first = fork_of(d, bag, "first");
    second = fork_of(d, first, "second");
    CHECK_OK(pack_as(second, "late", "k", "2", &t->err));
    CHECK_TEXT("nobody", changed_by(d, second, first));
    CHECK_TEXT("nobody", changed_by(d, second, bag));
    CHECK_TEXT("late@1", changed_by(d, bag, second));
}

/* What a fork's first commit of a key changed. */
TEST(api_past, show_has_the_value_that_a_fork_began_with) /* [B13] [L3] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork;
    const char *shown;

    CHECK_OK(pack(bag, "k", "\"one\"", &t->err));
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "k", "\"two\"", &t->err));
    shown = run_op(d, "backpack:show", "{\"backpack\":\"fork\",\"commit\":\"1\"}");
    CHECK(strstr(shown, "\"two\""));
    CHECK_MSG(strstr(shown, "\"one\""), "%s", shown);
    CHECK_OK(valise_permit(fork, "n", &(valise_permissions){.deny = NAMES("k")}, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, run_as(d, "local", "backpack:show",
                                        "{\"backpack\":\"fork\",\"commit\":\"1\",\"node\":\"n\"}"));
}
