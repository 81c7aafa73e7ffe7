/* api_item.c -- items through the public functions, for every kind of backpack. */
#include "api_kit.h"

TEST_PARAMS(api_item, ALL_KINDS)

/* ---- the unit tests that the technical specification names ---- */

/* Both kinds answer with the same members. [B4] [B24] */
TEST(api_item, lists_have_tags_though_there_are_none)
{
    static const char *const lists[][2] = {
        {"backpack:ls", "{\"backpack\":\"run-1\"}"},
        {"backpack:ls", "{\"backpack\":\"run-1\",\"quarantined\":true}"},
        {"backpack:snapshot", "{\"backpack\":\"run-1\",\"point\":\"now\"}"}};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");

    CHECK_OK(pack(bag, "k", "1", &t->err));
    CHECK_OK(pack(bag, "j", "1", &t->err));
    CHECK_OK(jail(bag, "j", "x", &t->err));
    for (size_t i = 0; i < VLS_COUNT(lists); i++)
        CHECK(strstr(run_op(d, lists[i][0], lists[i][1]), "\"tags\":[]"));
}

TEST(api_item, should_store_and_retrieve_data) /* [B1] [B3] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");

    CHECK_OK(pack(bag, "userQuery", "{ \"b\" : 1, \"a\": \"What is AI?\" }", &t->err));
    CHECK_TEXT("{\"a\":\"What is AI?\",\"b\":1}", got(bag, "userQuery"));
    CHECK_TEXT("{\"a\":\"What is AI?\",\"b\":1}", seen(bag, "userQuery"));
}

TEST(api_item, should_return_undefined_for_missing_keys) /* [B3] [B4] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_blob *value = (valise_blob *)&value;

    CHECK_INT(0, valise_unpack(&value, bag, "missing", &t->err));
    CHECK(value == (valise_blob *)&value); /* untouched */
    CHECK_TEXT("(absent)", seen(bag, "missing"));
    CHECK_INT(0, valise_has(bag, "missing", &t->err));
    CHECK_INT(0, removal(bag, "missing", &t->err));
}

TEST(api_item, should_throw_on_unpack_required_for_missing_keys) /* [B3] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_blob *value = NULL;

    CHECK_RC(VALISE_E_NOT_FOUND, valise_unpack_required(&value, bag, "missing", &t->err));
    CHECK(strstr(t->err.message, "missing"));
    CHECK(!value);
    CHECK_OK(pack(bag, "there", "null", &t->err));
    CHECK_TEXT("null", needed(bag, "there"));
}

TEST(api_item, should_track_version_numbers) /* [B2] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_packed packed;

    for (int i = 1; i <= 3; i++) {
        CHECK_OK(valise_pack(&packed, bag, "k", test_format("%d", i), NULL, &t->err));
        CHECK_INT(i, packed.version);
        CHECK_INT(i, packed.seq);
        CHECK(packed.applied);
    }
    CHECK_INT(1, removal(bag, "k", &t->err));
    CHECK_OK(valise_pack(&packed, bag, "k", "4", NULL, &t->err));
    CHECK_INT(4, packed.version);
    CHECK_INT(4, item_of(bag, "k").version);
    CHECK_TEXT("1 pack k v1 by unknown; 2 pack k v2 by unknown; 3 pack k v3 by unknown; "
               "4 delete k v3 by unknown; 5 pack k v4 by unknown",
               all_history(bag));
}

TEST(api_item, should_allow_access_with_correct_permissions) /* [B18] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_permissions p = {.read = NAMES("research*"), .write = NAMES("summary")};
    valise_backpack *node = node_of(d, bag, "summary-node", "", &p);

    CHECK_OK(pack(bag, "research.1", "1", &t->err));
    CHECK_TEXT("1", got(node, "research.1"));
    CHECK_OK(pack(node, "summary", "2", &t->err));
    CHECK_TEXT("2", got(bag, "summary"));
    CHECK_STR(VLS_STR("summary-node"), item_of(bag, "summary").node_id);
}

TEST(api_item, should_deny_access_without_permissions) /* [B18] [B20] [B31] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_permissions p = {.read = NAMES("research*"), .write = NAMES("summary")};
    valise_backpack *node = node_of(d, bag, "n", "", &p);
    valise_pack_options as_owner = VALISE_PACK_OPTIONS_INIT;

    CHECK_OK(pack(bag, "secret", "1", &t->err));
    CHECK_TEXT("(denied)", got(node, "secret"));
    CHECK_TEXT("(denied)", seen(node, "secret"));
    CHECK_TEXT("(denied)", needed(node, "secret"));
    CHECK_TEXT("(denied)", got(node, "not.there"));
    CHECK_RC(VALISE_E_DENIED, pack(node, "secret", "2", &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(node, "research.1", "2", &t->err));
    CHECK_RC(VALISE_E_DENIED, removal(node, "secret", &t->err));
    CHECK_RC(VALISE_E_DENIED, jail(node, "secret", "x", &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_release(NULL, node, "secret", 0, &t->err));
    as_owner.node_id = VLS_STR("unknown");
    CHECK_RC(VALISE_E_DENIED, valise_pack(NULL, node, "secret", "2", &as_owner, &t->err));
    CHECK_TEXT("", items(node));
    CHECK_TEXT("secret=1", items(bag));
    CHECK_TEXT("unpack secret denied by n; unpack secret denied by n; unpack secret denied by n; "
               "unpack not.there denied by n",
               accesses(bag, "n", false));
    CHECK_TEXT("pack secret denied by n; pack research.1 denied by n; delete secret denied by n; "
               "quarantine secret denied by n; release secret denied by n; pack secret denied by n",
               accesses(bag, "n", true));
}

static int pack_in(valise_backpack *bag, const char *space, const char *key, const char *json,
                   valise_error *err)
{
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.namespace_name = valise_str_of(space);
    return valise_pack(NULL, bag, key, json, &o, err);
}

static valise_backpack *with_spaces(desk *d)
{
    test *t = d->t;
    valise_backpack *bag = bag_of(d, "run-1");

    CHECK_OK(pack_in(bag, "sales.chat", "a", "1", &t->err));
    CHECK_OK(pack_in(bag, "sales.research.web", "b", "2", &t->err));
    CHECK_OK(pack_in(bag, "support.chat", "c", "3", &t->err));
    CHECK_OK(pack_in(bag, "", "d", "4", &t->err));
    return bag;
}

TEST(api_item, should_support_namespace_wildcards) /* [B18] [B24] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = with_spaces(d);
    valise_permissions p = {.namespace_read = NAMES("sales.*"),
                            .namespace_write = NAMES("sales.*")};
    valise_backpack *node = node_of(d, bag, "n", "sales.n", &p);

    CHECK_TEXT("1", got(node, "a"));
    CHECK_TEXT("(denied)", got(node, "b"));
    CHECK_TEXT("a=1", items_in(node, "**"));
    CHECK_OK(pack(node, "a", "9", &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(node, "c", "9", &t->err));
}

TEST(api_item, should_record_all_pack_unpack_operations) /* [B7] [B10] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_backpack *node = node_of(d, bag, "n", "", NULL);
    valise_history reads = VALISE_HISTORY_INIT;

    CHECK_OK(pack_as(bag, "a", "k", "1", &t->err));
    CHECK_TEXT("1", got(node, "k"));
    CHECK_TEXT("(absent)", got(node, "z"));
    CHECK_TEXT("1", seen(node, "k")); /* leaves no trace */
    CHECK_OK(pack(node, "k", "2", &t->err));
    CHECK_TEXT("1 pack k v1 by a; 2 pack k v2 by n", all_history(bag));
    CHECK_TEXT("unpack k found by n; unpack z absent by n", accesses(bag, "n", false));
    CHECK_TEXT("2 pack k v2 by n", accesses(bag, "n", true));
    reads.actions = 1u << VALISE_ACTION_UNPACK;
    reads.oldest_first = true;
    CHECK_TEXT("unpack k found by n; unpack z absent by n", history(bag, &reads));
}

TEST(api_item, should_limit_history_to_max_history_size) /* [B8] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_usage usage = VALISE_USAGE_INIT;
    valise_backpack *bag, *state = NULL;

    if (d->durable)
        SKIP("a durable backpack has no bound of its own");
    o.max_commits = 200;
    bag = bag_with(d, "run-1", &o);
    for (int i = 0; i < 1000; i++)
        CHECK_OK(pack(bag, test_format("k%d", i % 7), test_format("%d", i), &t->err));
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK(usage.commits <= 200 && usage.commits >= 100);
    CHECK_INT(7, usage.items);
    CHECK_INT(1000, usage.last_seq);
    CHECK_RC(VALISE_E_LIMIT, valise_snapshot_at_seq(&state, bag, 5, &t->err));
    CHECK(!state);
    state = at_point(d, bag, test_format("%lld", (long long)usage.first_seq));
    CHECK_TEXT(test_format("%d", (int)usage.first_seq - 1),
               seen(state, test_format("k%d", (int)(usage.first_seq - 1) % 7)));
}

TEST(api_item, should_support_time_travel_via_get_snapshot) /* [B12] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *state = NULL;
    int64_t time;

    CHECK_OK(pack(bag, "k", "1", &t->err));
    time = item_of(bag, "k").time;
    while (item_of(bag, "k").time <= time)
        CHECK_OK(pack(bag, "k", "2", &t->err));
    CHECK_OK(valise_snapshot(&state, bag, time, &t->err));
    close_later(state);
    CHECK_TEXT("k=1", items(state));
    CHECK_TEXT("k=2", items(bag));
    CHECK_RC(VALISE_E_INVALID, pack(state, "k", "3", &t->err));
    CHECK(strstr(t->err.message, "fork"));
}

TEST(api_item, should_match_exact_namespaces) /* [B23] [B24] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = with_spaces(d);

    CHECK_TEXT("a=1", items_in(bag, "sales.chat"));
    CHECK_TEXT("", items_in(bag, "sales"));
    CHECK_TEXT("", items_in(bag, "sales.cha"));
}

TEST(api_item, should_match_wildcard_patterns) /* [B23] [B24] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = with_spaces(d);
    valise_blob *object = NULL;

    CHECK_TEXT("a=1", items_in(bag, "sales.*"));
    CHECK_TEXT("a=1 c=3", items_in(bag, "*.chat"));
    CHECK_TEXT("a=1 b=2", items_in(bag, "sales.**"));
    CHECK_OK(valise_unpack_by_namespace(&object, bag, VLS_STR("**"), &t->err));
    CHECK_STR(VLS_STR("{\"a\":1,\"b\":2,\"c\":3}"), valise_blob_bytes(object));
    valise_blob_unref(object);
}

TEST(api_item, should_handle_edge_cases_no_namespace_invalid_pattern) /* [B23] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = with_spaces(d);

    CHECK(!item_of(bag, "d").namespace_name.ptr);
    CHECK_TEXT("a=1 b=2 c=3", items_in(bag, "**")); /* d has none */
    CHECK_TEXT("(invalid)", items_in(bag, ""));
    CHECK_TEXT("(invalid)", items_in(bag, "sales..chat"));
}

/* ---- the rest ---- */

static int64_t size_of(test *t, valise_backpack *bag)
{
    int64_t size = -1;

    CHECK_OK(valise_backpack_size(&size, bag, &t->err));
    return size;
}

TEST(api_item, counts_what_can_be_seen)
{
    desk *d = desk_open(t);
    valise_quarantine_options why = VALISE_QUARANTINE_OPTIONS_INIT;
    valise_backpack *bag = bag_of(d, "run-1");

    CHECK_INT(0, size_of(t, bag));
    for (const char *key = "abcd"; *key; key++)
        CHECK_OK(valise_pack_str(NULL, bag, vls_str(key, 1), VLS_STR("1"), NULL, &t->err));
    CHECK_INT(4, size_of(t, bag));
    why.reason = VLS_STR("wrong");
    CHECK_OK(valise_quarantine(NULL, bag, "a", &why, &t->err));
    CHECK_OK(valise_remove(NULL, bag, "b", &t->err));
    CHECK_INT(2, size_of(t, bag));
}

/* In memory it does not look at each of them: that would take a minute here. */
TEST(api_item, counts_many_at_once)
{
    desk *d = desk_open(t);
    valise_backpack *bag;
    int64_t start;

    if (d->durable)
        return;
    bag = bag_of(d, "run-1");
    for (int i = 0; i < 5000; i++)
        CHECK_OK(valise_pack(NULL, bag, test_format("k%d", i), "1", NULL, &t->err));
    start = t->env->ticks_ns(t->env->self);
    for (int i = 0; i < 10000; i++)
        CHECK_INT(5000, size_of(t, bag));
    CHECK(t->env->ticks_ns(t->env->self) - start < INT64_C(10000000000));
}

TEST(api_item, begins_with_the_members_of_an_object) /* [B1] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_NEW);
    valise_backpack *bag, *none = NULL;
    int64_t size;

    o.items = VLS_STR("{\"b\":[1, 2],\"a\":\"x\"}");
    bag = bag_with(d, "run-1", &o);
    CHECK_TEXT("a=\"x\" b=[1,2]", items(bag));
    CHECK_TEXT("a b", keys(bag));
    CHECK_STR(VLS_STR("system"), item_of(bag, "a").node_id);
    CHECK_OK(valise_backpack_size(&size, bag, &t->err));
    CHECK_INT(2, size);
    CHECK_RC(VALISE_E_EXISTS, valise_backpack_open(&none, d->v, "run-1", &o, &t->err));
    o.items = VLS_STR("[1]");
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    o.items = VLS_STR("{\"a\":1,");
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    o.items = VLS_STR("{\"a\":1,\"\":2}");
    CHECK_RC(VALISE_E_INVALID, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    o.flags = (o.flags & ~(unsigned)VALISE_BACKPACK_NEW) | VALISE_BACKPACK_KNOWN;
    o.items = VLS_STR("");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_backpack_open(&none, d->v, "run-2", &o, &t->err));
    CHECK(!none); /* nothing half is left */
}

TEST(api_item, refuses_what_is_no_item_and_changes_nothing) /* [B1] [B11] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    char long_key[1026];

    memset(long_key, 'k', sizeof(long_key) - 1);
    long_key[sizeof(long_key) - 1] = '\0';
    CHECK_RC(VALISE_E_INVALID, pack(bag, "", "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "a\tb", "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, long_key, "1", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "k", "{\"a\":}", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "k", "1 2", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "k", "", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(bag, "k", "\"a\nb\"", &t->err));
    o.tags = NAMES("ok", "");
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o = (valise_pack_options)VALISE_PACK_OPTIONS_INIT;
    o.expect = -7;
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o.expect = VALISE_NONE;
    o.namespace_name = VLS_STR("a..b");
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    CHECK_TEXT("", items(bag));
    CHECK_TEXT("", all_history(bag));
    CHECK_TEXT("(invalid)", got(bag, ""));
    CHECK_RC(VALISE_E_INVALID, removal(bag, "", &t->err));
}

TEST(api_item, expects_a_version) /* [B1] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.expect = 1;
    CHECK_RC(VALISE_E_CONFLICT, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o.expect = 0;
    CHECK_OK(valise_pack(NULL, bag, "k", "1", &o, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_pack(NULL, bag, "k", "2", &o, &t->err));
    o.expect = 1;
    CHECK_OK(valise_pack(NULL, bag, "k", "2", &o, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_pack(NULL, bag, "k", "3", &o, &t->err));
    CHECK_TEXT("k=2", items(bag));
    CHECK_INT(1, removal(bag, "k", &t->err));
    o.expect = 0; /* there is none now, whatever the count is */
    CHECK_OK(valise_pack(NULL, bag, "k", "3", &o, &t->err));
}

TEST(api_item, carries_who_when_and_tags) /* [B2] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    valise_commit c;

    o.node_id = VLS_STR("n-1");
    o.node_name = VLS_STR("Node");
    o.namespace_name = VLS_STR("a.b");
    o.tags = NAMES("z", "pii", "a", "z");
    CHECK_OK(valise_pack(NULL, bag, "k", "\"secret\"", &o, &t->err));
    c = item_of(bag, "k");
    CHECK_STR(VLS_STR("n-1"), c.node_id);
    CHECK_STR(VLS_STR("Node"), c.node_name);
    CHECK_STR(VLS_STR("a.b"), c.namespace_name);
    CHECK_STR(VLS_STR("[redacted]"), c.summary); /* [B7] */
    CHECK_INT(3, c.tags.count);
    CHECK_STR(VLS_STR("a"), ((const valise_str *)c.tags.items)[0]);
    CHECK_INT(8, c.value_size);
    CHECK(c.time > 0);
    CHECK(d->durable ? c.log_seq > 0 : c.log_seq == 0);
}

TEST(api_item, values_outlive_the_backpack) /* [B5] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag = NULL;
    valise_blob *value = NULL;

    CHECK_OK(valise_backpack_open(&bag, d->v, "run-1", &o, &t->err));
    CHECK_OK(pack(bag, "k", "\"before\"", &t->err));
    CHECK_INT(1, valise_unpack(&value, bag, "k", &t->err));
    CHECK_OK(pack(bag, "k", "2", &t->err));
    CHECK_INT(1, removal(bag, "k", &t->err));
    valise_backpack_close(bag);
    run_op(d, "workspace:gc", "{}");
    valise_close(d->v);
    d->v = NULL;
    CHECK_STR(VLS_STR("\"before\""), valise_blob_bytes(value));
    valise_blob_unref(value);
}

TEST(api_item, clears_by_tag_and_namespace) /* [B6] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = with_spaces(d);
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    int64_t count = -1;

    o.tags = NAMES("tmp");
    CHECK_OK(valise_pack(NULL, bag, "x", "1", &o, &t->err));
    CHECK_OK(valise_pack(NULL, bag, "y", "1", &o, &t->err));
    CHECK_OK(valise_clear(&count, bag, VLS_STR("tmp"), VLS_STR(""), &t->err));
    CHECK_INT(2, count);
    CHECK_OK(valise_clear(&count, bag, VLS_STR(""), VLS_STR("*.chat"), &t->err));
    CHECK_INT(2, count);
    CHECK_TEXT("b=2 d=4", items(bag));
    CHECK_RC(VALISE_E_INVALID, valise_clear(&count, bag, VLS_STR(""), VLS_STR(""), &t->err));
    CHECK_OK(valise_clear(NULL, bag, VLS_STR("nothing"), VLS_STR(""), &t->err));
    CHECK_TEXT("7 delete x v1 by unknown; 8 delete y v1 by unknown; 9 delete a v1 by unknown; "
               "10 delete c v1 by unknown",
               strstr(all_history(bag), "7 delete"));
}

TEST(api_item, quarantine_and_release) /* [B25] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_quarantine_options o = {
        .size = sizeof(o), .reason = VLS_STR("bad"), .node_id = VLS_STR("q")};
    valise_packed packed;
    int64_t first;

    CHECK_OK(pack(bag, "k", "1", &t->err));
    o.error = VLS_STR("{ \"code\": 7 }");
    CHECK_OK(valise_quarantine(&packed, bag, "k", &o, &t->err));
    first = packed.seq;
    CHECK_TEXT("(absent)", got(bag, "k"));
    CHECK_TEXT("2:k=1(bad)", jailed(bag));
    CHECK_OK(pack(bag, "k", "2", &t->err));
    CHECK_RC(VALISE_E_EXISTS, valise_release(NULL, bag, "k", 0, &t->err));
    CHECK_OK(jail(bag, "k", "worse", &t->err));
    CHECK_OK(jail(bag, "retry_0", "never packed", &t->err));
    CHECK_TEXT("2:k=1(bad) 4:k=2(worse) 5:retry_0(never packed)", jailed(bag));
    CHECK_OK(valise_release(&packed, bag, "k", first, &t->err));
    CHECK_INT(3, packed.version);
    CHECK_TEXT("k=1", items(bag));
    CHECK_TEXT("4:k=2(worse) 5:retry_0(never packed)", jailed(bag));
    CHECK_TEXT("2:k=1(bad)", jailed(at_point(d, bag, "2")));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_release(NULL, bag, "zz", 0, &t->err));
    o.reason = VLS_STR("");
    CHECK_RC(VALISE_E_INVALID, valise_quarantine(NULL, bag, "k", &o, &t->err));
    o.reason = VLS_STR("bad");
    o.error = VLS_STR("{");
    CHECK_RC(VALISE_E_INVALID, valise_quarantine(NULL, bag, "k", &o, &t->err));
    o.error = VLS_STR("");
    o.forget = true;
    CHECK_OK(valise_quarantine(NULL, bag, "k", &o, &t->err));
    CHECK_TEXT("4:k=2(worse) 5:retry_0(never packed)", jailed(bag));
}

TEST(api_item, lenient_backpacks_say_absent_and_not_applied) /* [B20] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_LENIENT);
    valise_backpack *bag = bag_with(d, "run-1", &o);
    valise_permissions p = {.deny = NAMES("k*")};
    valise_backpack *node = node_of(d, bag, "n", "", &p);
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise_packed packed;
    int64_t count;

    tagged.tags = NAMES("t");
    CHECK_OK(valise_pack(NULL, bag, "k", "1", &tagged, &t->err));
    CHECK_TEXT("(absent)", got(node, "k"));
    CHECK_TEXT("(denied)", needed(node, "k"));
    memset(&packed, 0x55, sizeof(packed));
    CHECK_OK(valise_pack(&packed, node, "k", "2", NULL, &t->err));
    CHECK(!packed.applied && packed.seq == 0 && packed.version == 0);
    CHECK(packed.commit.bytes[0] == 0 && packed.value.bytes[0] == 0);
    CHECK_INT(0, removal(node, "k", &t->err));
    CHECK(strstr(run_op(d, "backpack:rm", "{\"backpack\":\"run-1\",\"node\":\"n\",\"key\":\"k\"}"),
                 "\"applied\":false"));
    memset(&packed, 0x55, sizeof(packed));
    CHECK_OK(
        valise_quarantine(&packed, node, "k",
                          &(valise_quarantine_options){.size = sizeof(valise_quarantine_options),
                                                       .reason = VLS_STR("x")},
                          &t->err));
    CHECK(!packed.applied && packed.seq == 0);
    CHECK_OK(valise_clear(&count, node, VLS_STR("t"), VLS_STR(""), &t->err));
    CHECK_INT(0, count);
    CHECK_TEXT("k=1", items(bag));
    CHECK_TEXT("pack k denied by n; delete k denied by n; delete k denied by n; "
               "quarantine k denied by n; delete k denied by n",
               accesses(bag, "n", true));
}

static const char *take_report(valise_blob *report)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(report)));

    valise_blob_unref(report);
    return text;
}

TEST(api_item, validates_against_a_schema) /* [B26] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_blob *report = NULL;

    CHECK_OK(pack(bag, "n", "\"text\"", &t->err));
    CHECK_INT(
        0, valise_backpack_validate(&report, bag, "n", VLS_STR("{\"type\":\"integer\"}"), &t->err));
    CHECK(strstr(take_report(report), "schemaPath"));
    report = NULL;
    CHECK_INT(
        1, valise_backpack_validate(&report, bag, "", VLS_STR("{\"required\":[\"n\"]}"), &t->err));
    CHECK_TEXT("{\"errors\":[],\"valid\":true}", take_report(report));
    report = NULL;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_validate(&report, bag, NULL, VLS_STR("{"), &t->err));
    CHECK(!report);
}

TEST(api_item, usage_is_true) /* [B33] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_usage usage = VALISE_USAGE_INIT;
    struct {
        size_t size;
        int64_t items, commits, reads, quarantined, beyond;
    } old = {offsetof(valise_usage, state_bytes), 0, 0, 0, 0, 77};

    CHECK_OK(pack(bag, "a", "\"0123456789\"", &t->err));
    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(pack(bag, "b", "\"0123456789\"", &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_OK(jail(bag, "a", "x", &t->err));
    got(bag, "b");
    got(bag, "zz");
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK_INT(1, usage.items);
    CHECK_INT(1, usage.quarantined);
    CHECK_INT(5, usage.commits);
    CHECK_INT(2, usage.reads);
    CHECK_INT(1, usage.first_seq);
    CHECK_INT(5, usage.last_seq);
    CHECK_INT(5 * 128 + 12, usage.history_bytes); /* one distinct value that only history holds */
    CHECK_INT(2, usage.state_bytes);              /* of b, and of what is in quarantine */
    CHECK_INT(0, usage.held_bytes);
    CHECK_OK(valise_backpack_usage((valise_usage *)(void *)&old, bag, &t->err));
    CHECK_INT(1, old.items);
    CHECK_INT(77, old.beyond);
    old.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_usage((valise_usage *)(void *)&old, bag, &t->err));
    CHECK_RC(VALISE_E_DENIED,
             valise_backpack_usage(&usage, node_of(d, bag, "n", "", NULL), &t->err));
}

/* What is counted, and as what, does not depend on the kind. [B33] */
TEST(api_item, usage_is_the_same_in_both_kinds)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_blob *all = NULL;
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *copy = NULL, *fork = NULL;
    valise_usage usage = VALISE_USAGE_INIT;

    CHECK_OK(pack(bag, "a", "\"one\"", &t->err));   /* 1: at the edge, superseded */
    CHECK_OK(pack(bag, "b", "\"three\"", &t->err)); /* 2: an item from before the edge */
    CHECK_OK(pack(bag, "c", "\"jail\"", &t->err));  /* 3 */
    CHECK_OK(jail(bag, "c", "x", &t->err));         /* 4 */
    CHECK_OK(pack(bag, "a", "\"two\"", &t->err));   /* 5: history */
    CHECK_OK(pack(bag, "a", "\"four\"", &t->err));  /* 6: an item */
    CHECK_OK(valise_backpack_usage(&usage, bag, &t->err));
    CHECK_INT(7 + 6 + 6, usage.state_bytes);
    CHECK_INT(6 * 128 + 5 + 5, usage.history_bytes);
    CHECK_INT(0, usage.held_bytes);

    /* Two commits of history: the edge is 4. */
    CHECK_OK(valise_backpack_to_json(&all, bag, 2, &t->err));
    CHECK_OK(valise_backpack_from_json(&copy, d->v, "copy", valise_blob_bytes(all), &o, &t->err));
    close_later(copy);
    valise_blob_unref(all);
    CHECK_OK(valise_backpack_usage(&usage, copy, &t->err));
    CHECK_INT(2, usage.commits);
    CHECK_INT(2 * 128 + 5, usage.history_bytes);
    CHECK_INT(4 * 128 + 5 + 7 + 6 + 6, usage.state_bytes);
    CHECK_INT(0, usage.held_bytes);

    /* What a fork began with is its origin's. */
    fork = fork_of(d, bag, "fork");
    CHECK_OK(pack(fork, "a", "\"five\"", &t->err));
    CHECK_OK(valise_backpack_usage(&usage, fork, &t->err));
    CHECK_INT(2, usage.items);
    CHECK_INT(6, usage.state_bytes);
    CHECK_INT(128, usage.history_bytes);
}

/* ---- texts ---- */

static const char *text_in(valise_backpack *bag, const char *key, valise_error *err)
{
    valise_blob *text = NULL;
    int rc = valise_unpack_text(&text, bag, key, err);
    const char *copy = rc > 0   ? test_format("%s", valise_blob_text(text))
                       : rc < 0 ? test_format("(%s)", valise_error_name(rc))
                                : "(absent)";

    CHECK(!text == (rc <= 0));
    valise_blob_unref(text);
    return copy;
}

TEST(api_item, a_text_that_is_too_large_belongs_into_a_blob)
{
    const size_t len = (size_t)65 << 20;
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    char *text = test_alloc(len);

    memset(text, 'a', len);
    CHECK_RC(VALISE_E_TOO_LARGE,
             valise_pack_text_str(NULL, bag, VLS_STR("big"), vls_str(text, len), NULL, &t->err));
    CHECK_TEXT("the text is too large: a value has at most 64 MiB", t->err.message);
    CHECK(strstr(t->err.hint, "valise_blob_register_bytes"));
    CHECK_TEXT("", keys(bag));
}

TEST(api_item, texts_go_in_and_come_out_without_quotes) /* [B1] [B3] */
{
    static const char nasty[] = "She said: \"50%\",\n\\ and \xc3\xa9\x01";
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_packed packed = {.applied = false};

    CHECK_OK(valise_pack_text(&packed, bag, "query", nasty, NULL, &t->err));
    CHECK(packed.applied);
    CHECK_TEXT(nasty, text_in(bag, "query", &t->err));
    CHECK_TEXT("\"She said: \\\"50%\\\",\\n\\\\ and \xc3\xa9\\u0001\"", got(bag, "query"));
    CHECK_OK(valise_pack_text(NULL, bag, "query", "", NULL, &t->err));
    CHECK_TEXT("", text_in(bag, "query", &t->err));
    CHECK_OK(
        valise_pack_text_str(NULL, bag, VLS_STR("slice"), (valise_str){"abc", 2}, NULL, &t->err));
    CHECK_TEXT("ab", text_in(bag, "slice", &t->err));
    CHECK_OK(
        valise_pack_text_str(NULL, bag, VLS_STR("slice"), (valise_str){NULL, 0}, NULL, &t->err));
    CHECK_TEXT("\"\"", got(bag, "slice"));
    CHECK_TEXT("(absent)", text_in(bag, "missing", &t->err));
    CHECK_OK(pack(bag, "number", "7", &t->err));
    CHECK_TEXT("(INVALID)", text_in(bag, "number", &t->err));
    CHECK(strstr(t->err.message, "number"));
    CHECK_OK(pack(bag, "nothing", "null", &t->err));
    CHECK_TEXT("(INVALID)", text_in(bag, "nothing", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_pack_text(NULL, bag, "k", "\xff", NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_pack_text(NULL, bag, "k", NULL, NULL, &t->err));
    CHECK_TEXT("(absent)", seen(bag, "k"));
}

/* So that `if (rc == 0)` leads from one step to the next. */
TEST(api_item, what_is_done_answers_0_and_what_is_asked_1) /* [B3] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_blob *value = NULL;
    bool removed = false;

    CHECK_INT(0, valise_pack_text(NULL, bag, "k", "x", NULL, &t->err));
    CHECK_INT(0, valise_unpack_required(&value, bag, "k", &t->err));
    value = valise_blob_unref(value);
    CHECK_INT(1, valise_peek(&value, bag, "k", &t->err));
    value = valise_blob_unref(value);
    CHECK_INT(1, valise_has(bag, "k", &t->err));
    CHECK_INT(0, valise_remove(&removed, bag, "k", &t->err));
    CHECK(removed);
    CHECK_INT(0, valise_remove(&removed, bag, "k", &t->err));
    CHECK(!removed);
    CHECK_INT(0, valise_remove(NULL, bag, "k", &t->err));
    CHECK_INT(0, valise_has(bag, "k", &t->err));
}

/* A slice of a host's list with a length and no bytes. [B1] [B18] */
TEST(api_item, a_name_without_bytes_is_refused)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *none = NULL;
    const valise_str nothing[] = {{"a", 1}, {NULL, 3}};
    const valise_list list = {nothing, 2};
    valise_permissions allow = {.read = list};
    valise_node node = VALISE_NODE_INIT;
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;

    o.tags = list;
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    o.tags = UNSAID;
    o.read = list;
    CHECK_RC(VALISE_E_INVALID, valise_pack(NULL, bag, "k", "1", &o, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tag_rule(bag, "pii", &list, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_permit(bag, "n", &allow, &t->err));
    node.id = VLS_STR("n");
    node.permissions = &allow;
    CHECK_RC(VALISE_E_INVALID, valise_backpack_node(&none, bag, &node, &t->err));
    CHECK(!none);
    CHECK_TEXT("(absent)", got(bag, "k"));
}
