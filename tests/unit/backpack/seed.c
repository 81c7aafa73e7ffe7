/* seed.c -- the unit tests that the first specification names (section 8), and its success criteria
 * as far as they need no flow. Each runs over every kind of ledger. */
#include "kit.h"

TEST_PARAMS(seed_pack_unpack, LEDGER_PARAMS)
TEST_PARAMS(seed_access_control, LEDGER_PARAMS)
TEST_PARAMS(seed_history, LEDGER_PARAMS)
TEST_PARAMS(seed_namespace_queries, LEDGER_PARAMS)
TEST_PARAMS(success, LEDGER_PARAMS)

/* ---- pack/unpack ---- */

/* [B1] [B3] */
TEST(seed_pack_unpack, should_store_and_retrieve_data)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put(b, b->owner, "query", "\"What is AI?\""));
    CHECK(b->done.packed.applied);
    CHECK_INT(1, b->done.packed.seq);
    CHECK_TEXT("\"What is AI?\"", get(b, b->owner, "query"));
    CHECK_TEXT("\"What is AI?\"", peek(b, b->owner, "query"));
    CHECK_OK(put(b, b->owner, "query", "null"));
    CHECK_TEXT("null", get(b, b->owner, "query"));
    CHECK_INT(1, drop(b, b->owner, "query"));
    CHECK_TEXT("(absent)", get(b, b->owner, "query"));
    CHECK_INT(0, drop(b, b->owner, "query"));
}

/* [B3] */
TEST(seed_pack_unpack, should_return_undefined_for_missing_keys)
{
    bag *b = bag_open(t, NULL);

    CHECK_TEXT("(absent)", get(b, b->owner, "nothing"));
    CHECK_TEXT("(absent)", peek(b, b->owner, "nothing"));
    CHECK_TEXT("(absent)", get(b, bag_node(t, b, "n", "", NULL), "nothing"));
}

/* [B3] */
TEST(seed_pack_unpack, should_throw_on_unpackRequired_for_missing_keys)
{
    bag *b = bag_open(t, NULL);

    CHECK_TEXT("(not found)", need(b, b->owner, "userQuery"));
    CHECK(strstr(t->err.message, "userQuery"));
    CHECK_OK(put(b, b->owner, "userQuery", "1"));
    CHECK_TEXT("1", need(b, b->owner, "userQuery"));
}

/* [B2] */
TEST(seed_pack_unpack, should_track_version_numbers)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_INT(1, b->done.packed.version);
    CHECK_OK(put(b, b->owner, "k", "2"));
    CHECK_INT(2, b->done.packed.version);
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_INT(2, b->done.packed.version);
    CHECK_OK(put(b, b->owner, "k", "3"));
    CHECK_INT(3, b->done.packed.version);
    CHECK_OK(jail(b, b->owner, "k", "bad"));
    CHECK_OK(put(b, b->owner, "k", "4"));
    CHECK_INT(4, b->done.packed.version);
    CHECK_OK(put(b, b->owner, "other", "1"));
    CHECK_INT(1, b->done.packed.version);
}

/* ---- Access Control ---- */

/* [B18] */
TEST(seed_access_control, should_allow_access_with_correct_permissions)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "summary", "",
                            &(valise_permissions){.read = NAMES("researchResults", "user*"),
                                                  .write = NAMES("summary")});

    CHECK_OK(put(b, b->owner, "researchResults", "1"));
    CHECK_OK(put(b, b->owner, "user.query", "2"));
    CHECK_TEXT("1", get(b, n, "researchResults"));
    CHECK_TEXT("2", get(b, n, "user.query"));
    CHECK_OK(put(b, n, "summary", "3"));
}

/* [B18] [B20] */
TEST(seed_access_control, should_deny_access_without_permissions)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(
        t, b, "summary", "",
        &(valise_permissions){.read = NAMES("researchResults"), .deny = NAMES("validationError")});

    CHECK_OK(put(b, b->owner, "validationError", "1"));
    CHECK_TEXT("(denied)", get(b, n, "validationError"));
    CHECK(strstr(t->err.message, "summary") && strstr(t->err.message, "validationError"));
    CHECK_TEXT("(denied)", get(b, n, "anything"));
    CHECK_RC(VALISE_E_DENIED, put(b, n, "researchResults", "2"));
    CHECK_TEXT("validationError=1", items(b, &b->ledger, b->owner, NULL));
}

/* [B18] [B23] */
TEST(seed_access_control, should_support_namespace_wildcards)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "summary.x",
                            &(valise_permissions){.namespace_read = NAMES("research.*"),
                                                  .namespace_write = NAMES("summary.*")});

    CHECK_OK(put_with(b, b->owner, "a", "1",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("research.web")}));
    CHECK_OK(put_with(b, b->owner, "b", "2",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("research.web.deep")}));
    CHECK_TEXT("1", get(b, n, "a"));
    CHECK_TEXT("(denied)", get(b, n, "b"));
    CHECK_OK(put(b, n, "mine", "3"));
    CHECK_RC(VALISE_E_DENIED, put(b, n, "a", "4"));
}

/* ---- History ---- */

/* [B7] [B10] */
TEST(seed_history, should_record_all_pack_unpack_operations)
{
    bag *b = bag_open(t, NULL);
    valise_history all = VALISE_HISTORY_INIT;

    all.actions = ~0u;
    all.oldest_first = true;
    CHECK_OK(put_as(b, "chat", "a", "1"));
    CHECK_TEXT("1", get(b, b->owner, "a"));
    CHECK_TEXT("(absent)", get(b, b->owner, "b"));
    CHECK_INT(1, drop(b, b->owner, "a"));
    CHECK_TEXT("1 pack a v1 by chat; unpack a found by unknown; unpack b absent by unknown; "
               "2 delete a v1 by unknown",
               history(b, &b->ledger, b->owner, all));
    CHECK_TEXT("1 pack a v1 by chat; 2 delete a v1 by unknown", all_history(b, b->owner));
    CHECK_TEXT("unpack a found by unknown; unpack b absent by unknown",
               access_log(b, b->owner, "unknown", false));
    CHECK_TEXT("1 pack a v1 by chat", access_log(b, b->owner, "chat", true));
}

/* [B8]: the bound itself is the ledger's; what is left is exact. */
TEST(seed_history, should_limit_history_to_maxHistorySize)
{
    bag *b = bag_open(t, NULL);
    vls_ledger state;

    for (int i = 0; i < 10; i++)
        CHECK_OK(put(b, b->owner, test_format("k%d", i % 5), test_format("%d", i)));
    bag_forget(b, 8);
    CHECK_TEXT("9 pack k3 v2 by unknown; 10 pack k4 v2 by unknown", all_history(b, b->owner));
    state = at(t, b, "8");
    CHECK_TEXT("k0=5 k1=6 k2=7 k3=3 k4=4", items(b, &state, b->owner, NULL));
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, "7"));
    CHECK(strstr(t->err.message, "8"));
}

/* [B12] */
TEST(seed_history, should_support_time_travel_via_getSnapshot)
{
    bag *b = bag_open(t, NULL);
    vls_ledger one, none;

    b->now = INT64_C(1700000000000000000);
    CHECK_OK(put(b, b->owner, "a", "1"));
    b->now = INT64_C(1700000060000000000);
    CHECK_OK(put(b, b->owner, "a", "2"));
    CHECK_OK(put(b, b->owner, "b", "3"));
    one = at(t, b, "2023-11-14T22:13:30Z");
    none = at(t, b, "2023-11-14T22:13:19Z");
    CHECK_TEXT("a=1", items(b, &one, b->owner, NULL));
    CHECK_TEXT("", items(b, &none, b->owner, NULL));
    CHECK_TEXT("a=2 b=3", items(b, &b->ledger, b->owner, NULL));
}

/* ---- Namespace Queries ---- */

static bag *with_namespaces(test *t)
{
    static const char *const names[] = {"sales.chat", "sales.research.web", "hr.chat", "sales",
                                        NULL};
    bag *b = bag_open(t, NULL);

    for (size_t i = 0; names[i]; i++)
        CHECK_OK(put_with(b, b->owner, test_format("k%zu", i), test_format("%zu", i),
                          (vls_pack_args){PACK_ARGS, .namespace_name = valise_str_of(names[i])}));
    CHECK_OK(put(b, b->owner, "plain", "9"));
    return b;
}

/* [B24] */
TEST(seed_namespace_queries, should_match_exact_namespaces)
{
    bag *b = with_namespaces(t);

    CHECK_TEXT("k0=0", items(b, &b->ledger, b->owner, "sales.chat"));
    CHECK_TEXT("k3=3", items(b, &b->ledger, b->owner, "sales"));
    CHECK_TEXT("", items(b, &b->ledger, b->owner, "sales.cha"));
}

/* [B23] */
TEST(seed_namespace_queries, should_match_wildcard_patterns)
{
    bag *b = with_namespaces(t);

    CHECK_TEXT("k0=0", items(b, &b->ledger, b->owner, "sales.*"));
    CHECK_TEXT("k0=0 k2=2", items(b, &b->ledger, b->owner, "*.chat"));
    CHECK_TEXT("k0=0 k1=1 k3=3", items(b, &b->ledger, b->owner, "sales.**"));
    CHECK_TEXT("k0=0 k1=1 k2=2 k3=3", items(b, &b->ledger, b->owner, "**"));
}

/* [B23] */
TEST(seed_namespace_queries, should_handle_edge_cases)
{
    bag *b = with_namespaces(t);

    CHECK_TEXT("(invalid input)", items(b, &b->ledger, b->owner, ""));
    CHECK_TEXT("(invalid input)", items(b, &b->ledger, b->owner, "sales..chat"));
    CHECK_TEXT("", items(b, &b->ledger, b->owner, "sales.(*"));
    CHECK_TEXT("k0=0 k1=1 k2=2 k3=3 plain=9", items(b, &b->ledger, b->owner, NULL));
    CHECK_RC(VALISE_E_INVALID,
             put_with(b, b->owner, "x", "1",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.*")}));
}

/* ---- success criteria ---- */

/* SC-2: which node added the wrong data? [B30] [B16] */
TEST(success, sc_2_source_tracing)
{
    bag *b = bag_open(t, NULL);
    vls_ledger before;

    CHECK_OK(put_as(b, "research-1", "context", "\"good\""));
    CHECK_OK(put_as(b, "research-2", "context", "\"bad\""));
    CHECK_OK(put_as(b, "chat-1", "response", "\"wrong\""));
    CHECK_TEXT("1 pack context v1 by research-1; 2 pack context v2 by research-2; "
               "3 pack response v1 by chat-1",
               all_history(b, b->owner));
    CHECK_TEXT("2 pack context v2 by research-2; 1 pack context v1 by research-1",
               blamed(b, b->owner, "context"));
    before = at(t, b, "before:research-2");
    CHECK_TEXT("~context=\"good\">\"bad\" by research-2@2 +response=\"wrong\" by chat-1@3",
               diff(b, &before, &b->ledger, b->owner));
}

/* SC-3: the exact state of any point, whatever came later. [B30] [B12] */
TEST(success, sc_3_time_travel)
{
    bag *b = bag_open(t, NULL);
    const char *expected[41];
    test_rng rng = test_rng_new(test_seed());

    expected[0] = "";
    for (int i = 1; i <= 40; i++) {
        const char *key = test_format("k%d", (int)test_random_below(&rng, 6));
        if (strcmp(peek(b, b->owner, key), "(absent)") != 0 && test_random_below(&rng, 3) == 0)
            CHECK(test_random_below(&rng, 2) ? drop(b, b->owner, key) == 1
                                             : jail(b, b->owner, key, "x") == 0);
        else
            CHECK_OK(put(b, b->owner, key, test_format("%d", i)));
        expected[i] = items(b, &b->ledger, b->owner, NULL);
    }
    for (int i = 0; i <= 40; i++) {
        vls_ledger state = at(t, b, test_format("%d", i));
        CHECK_TEXT(expected[i], items(b, &state, b->owner, NULL));
    }
}

/* SC-4: a node that may not reads a key tagged pii. [B30] [B19] */
TEST(success, sc_4_access_control)
{
    bag *b = bag_open(t, NULL);
    vls_scope *chat = bag_node(t, b, "chat-node-123", "", NULL);
    vls_scope *auth = bag_node(t, b, "authentication-node", "", NULL);

    CHECK_OK(put_with(b, b->owner, "userEmail", "\"user@example.com\"",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    CHECK_TEXT("\"user@example.com\"", get(b, chat, "userEmail"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("authentication-node"), UNSAID,
                              &b->arena, &t->err));
    CHECK_TEXT("(denied)", get(b, chat, "userEmail"));
    CHECK_TEXT("\"user@example.com\"", get(b, auth, "userEmail"));
    CHECK_STR(VLS_STR("[redacted]"), commit_of(t, b, 1).summary);
    CHECK_OK(put_with(b, b->owner, "mail", "1",
                      (vls_pack_args){PACK_ARGS, .read = NAMES("authentication-node"),
                                      .write = NAMES("authentication-node")}));
    CHECK_TEXT("(denied)", get(b, chat, "mail"));
    CHECK_RC(VALISE_E_DENIED, put(b, chat, "mail", "2"));
    CHECK_OK(put(b, auth, "mail", "2"));
}
