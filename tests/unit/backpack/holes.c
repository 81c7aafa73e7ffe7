/* holes.c -- the holes of the first specification's algorithms, one test each: S1 to S33, without
 * those of flows. Each fails with the algorithm as it was written there, and each runs over every
 * kind of ledger. */
#include "kit.h"

#include <valise/event.h>

#include "base/buf.h"

TEST_PARAMS(hole, LEDGER_PARAMS)

/* deny was asked last, when nothing was left to deny. [B18] */
TEST(hole, s1_deny_comes_first)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n =
        bag_node(t, b, "n", "",
                 &(valise_permissions){
                     .read = NAMES("key", "other"), .write = NAMES("*"), .deny = NAMES("key")});

    CHECK_OK(put(b, b->owner, "key", "1"));
    CHECK_OK(put(b, b->owner, "other", "2"));
    CHECK_TEXT("(denied)", get(b, n, "key"));
    CHECK_RC(VALISE_E_DENIED, put(b, n, "key", "3"));
    CHECK_TEXT("2", get(b, n, "other"));
}

/* What was not there could be made by anybody. [B18] */
TEST(hole, s2_a_key_that_is_not_there_is_denied_too)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", &(valise_permissions){.write = NAMES("mine.*")});

    CHECK_RC(VALISE_E_DENIED, put(b, n, "evil", "1"));
    CHECK_TEXT("(denied)", get(b, n, "evil"));
    CHECK_RC(VALISE_E_DENIED, drop(b, n, "evil"));
    CHECK_RC(VALISE_E_DENIED, jail(b, n, "evil", "x"));
    CHECK_RC(VALISE_E_DENIED, unjail(b, n, "evil", 0));
    CHECK_OK(put(b, n, "mine.x", "1"));
    CHECK_TEXT("mine.x=1", items(b, &b->ledger, b->owner, NULL));
}

/* pack asked nobody, and the namespace was only the stored one. [B18] */
TEST(hole, s3_both_namespaces_count)
{
    bag *b = bag_open(t, NULL);
    valise_permissions summary = {.namespace_write = NAMES("summary.*")};
    vls_scope *inside = bag_node(t, b, "a", "summary.a", &summary);
    vls_scope *outside = bag_node(t, b, "b", "research.b", &summary);
    vls_scope *nowhere = bag_node(t, b, "c", "", &summary);

    CHECK_OK(put_with(b, b->owner, "research", "1",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("research.web")}));
    CHECK_OK(put_with(b, b->owner, "bare", "1", (vls_pack_args){PACK_ARGS}));
    CHECK_RC(VALISE_E_DENIED, put(b, inside, "research", "2"));
    CHECK_RC(VALISE_E_DENIED, put(b, inside, "bare", "2"));
    CHECK_RC(VALISE_E_DENIED, drop(b, inside, "research"));
    CHECK_OK(put(b, inside, "new", "2"));
    CHECK_OK(put(b, inside, "new", "3"));
    CHECK_RC(VALISE_E_DENIED, put(b, outside, "new", "4"));
    CHECK_RC(VALISE_E_DENIED, put(b, outside, "newer", "4"));
    CHECK_RC(VALISE_E_DENIED, put(b, nowhere, "newer", "4"));
    CHECK_INT(1, drop(b, inside, "new"));
    CHECK_OK(put(b, inside, "new", "5")); /* it is gone: only the new one counts */
}

/* What is false to a script was "unavailable", and what was large a reference. [B9] */
TEST(hole, s4_every_value_comes_back)
{
    static const char *const values[] = {"0", "false", "\"\"", "null", "[]", "{\"_ref\":1}", NULL};
    bag *b = bag_open(t, NULL);
    size_t len = 200000;
    char *large = test_alloc(len + 3);
    vls_ledger state;

    memset(large, 'x', len + 2);
    large[0] = large[len + 1] = '"';
    for (size_t i = 0; values[i]; i++)
        CHECK_OK(put(b, b->owner, test_format("k%zu", i), values[i]));
    CHECK_OK(put(b, b->owner, "large", large));
    for (size_t i = 0; values[i]; i++)
        CHECK_OK(put(b, b->owner, test_format("k%zu", i), "1"));
    CHECK_OK(put(b, b->owner, "large", "1"));
    state = at(t, b, "6");
    CHECK_TEXT("k0=0 k1=false k2=\"\" k3=null k4=[] k5={\"_ref\":1}",
               items(b, &state, b->owner, NULL));
    state = at(t, b, "7");
    valise_blob *value = NULL;
    CHECK_INT(1, vls_bag_get(&value, &state, b->owner, VLS_STR("large"), &(vls_look){0}, &t->err));
    CHECK_STR(valise_str_of(large), vls_blob_bytes(value));
    valise_blob_unref(value);
}

/* The second replay restored the value before. [B12] */
TEST(hole, s5_the_state_after_a_commit_is_its_value)
{
    bag *b = bag_open(t, NULL);
    vls_ledger one, two;

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(put(b, b->owner, "k", "2"));
    one = at(t, b, "1");
    two = at(t, b, "2");
    CHECK_TEXT("k=1", items(b, &one, b->owner, NULL));
    CHECK_TEXT("k=2", items(b, &two, b->owner, NULL));
}

/* What was dropped from history was missing from every state. [B8] */
TEST(hole, s6_states_behind_the_edge_are_whole)
{
    bag *b = bag_open(t, NULL);
    vls_ledger state;

    for (int i = 0; i < 5; i++)
        CHECK_OK(put(b, b->owner, test_format("k%d", i), "1"));
    bag_forget(b, 2);
    state = at(t, b, "3");
    CHECK_TEXT("k0=1 k1=1 k2=1", items(b, &state, b->owner, NULL));
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, "1"));
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, "1970-01-01T00:00:00Z"));
    CHECK(strstr(t->err.message, "the oldest state is that after commit 2"));
}

/* Reads and writes shared one list. [B8] */
TEST(hole, s7_reads_have_a_log_of_their_own)
{
    bag *b = bag_open(t, NULL);
    valise_usage usage;

    CHECK_OK(put(b, b->owner, "k", "1"));
    for (int i = 0; i < 60; i++)
        CHECK_TEXT("1", get(b, b->owner, "k"));
    CHECK_TEXT("1 pack k v1 by unknown", all_history(b, b->owner));
    CHECK_OK(b->ledger.ops->usage(&usage, b->ledger.self, &t->err));
    CHECK_INT(1, usage.commits);
    CHECK_INT(60, usage.reads);
    CHECK_INT(128, usage.history_bytes);
}

/* The count forgot to take off what it dropped; and each value was counted twice. [B8] [B33] */
TEST(hole, s8_s9_s29_values_count_once_and_only_while_history_alone_has_them)
{
    bag *b = bag_open(t, NULL);
    valise_commit first, last;
    valise_usage usage;

    CHECK_OK(put(b, b->owner, "a", "\"0123456789\""));
    CHECK_OK(put(b, b->owner, "b", "\"0123456789\""));
    CHECK_OK(put(b, b->owner, "a", "1"));
    CHECK_OK(b->ledger.ops->usage(&usage, b->ledger.self, &t->err));
    CHECK_INT(3 * 128, usage.history_bytes);
    CHECK_OK(put(b, b->owner, "b", "2"));
    CHECK_OK(b->ledger.ops->usage(&usage, b->ledger.self, &t->err));
    CHECK_INT(4 * 128 + 12, usage.history_bytes);
    first = commit_of(t, b, 2);
    last = commit_of(t, b, 4);
    CHECK(vls_id_equal(&first.value, &last.previous_value));
    CHECK_INT(1, last.value_size);
    bag_forget(b, 2);
    CHECK_OK(b->ledger.ops->usage(&usage, b->ledger.self, &t->err));
    CHECK_INT(2 * 128, usage.history_bytes);
}

/* Who kept a reference could change the past. [B5] */
TEST(hole, s10_values_are_nobodys_to_change)
{
    bag *b = bag_open(t, NULL);
    char json[] = "\"before\"";
    valise_blob *held = NULL;
    vls_ledger state;

    CHECK_OK(put(b, b->owner, "k", json));
    memcpy(json, "\"behind\"", sizeof(json) - 1);
    CHECK_INT(1, vls_bag_get(&held, &b->ledger, b->owner, VLS_STR("k"), &(vls_look){0}, &t->err));
    CHECK_OK(put(b, b->owner, "k", "2"));
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_STR(VLS_STR("\"before\""), vls_blob_bytes(held));
    state = at(t, b, "1");
    CHECK_TEXT("k=\"before\"", items(b, &state, b->owner, NULL));
    valise_blob_unref(held);
}

/* Milliseconds chose commits; a clock that was set back chose nonsense. [B12] */
TEST(hole, s11_commits_are_ordered_by_number_and_times_never_decrease)
{
    bag *b = bag_open(t, NULL);
    int64_t second = INT64_C(1000000000);

    b->now = 10 * second;
    CHECK_OK(put(b, b->owner, "a", "1"));
    b->now = 10 * second;
    CHECK_OK(put(b, b->owner, "a", "2"));
    b->now = 3 * second; /* the clock was set back */
    CHECK_OK(put(b, b->owner, "a", "3"));
    CHECK_INT(10 * second, commit_of(t, b, 3).time);
    b->now = 20 * second;
    CHECK_OK(put(b, b->owner, "a", "4"));
    CHECK_INT(3, point(b, &b->ledger, "1970-01-01T00:00:10Z"));
    CHECK_INT(3, point(b, &b->ledger, "1970-01-01T00:00:19.999999999Z"));
    CHECK_INT(0, point(b, &b->ledger, "1970-01-01T00:00:09.999999999Z"));
    CHECK_INT(4, point(b, &b->ledger, "1970-01-01T00:00:20Z"));
    CHECK_INT(1, point(b, &b->ledger, "1"));
}

/* Quarantine was in no replay, kept one entry a key, and ignored keys that were never packed. [B25]
 */
TEST(hole, s12_quarantine_is_a_commit_with_entries)
{
    bag *b = bag_open(t, NULL);
    vls_ledger before, after;

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(jail(b, b->owner, "k", "first"));
    CHECK_OK(put(b, b->owner, "k", "2"));
    CHECK_INT(2, b->done.packed.version);
    CHECK_OK(jail(b, b->owner, "k", "second"));
    CHECK_OK(jail(b, b->owner, "retry_0", "never packed"));
    CHECK_TEXT("2:k=1(first) 4:k=2(second) 5:retry_0=?(never packed)",
               jailed(b, &b->ledger, b->owner));
    before = at(t, b, "1");
    after = at(t, b, "2");
    CHECK_TEXT("k=1", items(b, &before, b->owner, NULL));
    CHECK_TEXT("", jailed(b, &before, b->owner));
    CHECK_TEXT("", items(b, &after, b->owner, NULL));
    CHECK_TEXT("2:k=1(first)", jailed(b, &after, b->owner));
    CHECK_OK(unjail(b, b->owner, "k", 2));
    CHECK_INT(3, b->done.packed.version);
    CHECK_TEXT("k=1", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("4:k=2(second) 5:retry_0=?(never packed)", jailed(b, &b->ledger, b->owner));
    CHECK_TEXT("2:k=1(first)", jailed(b, &after, b->owner));
    CHECK_RC(VALISE_E_EXISTS, unjail(b, b->owner, "k", 0));
    CHECK_OK(put(b, b->owner, "retry_0", "1"));
    CHECK_INT(1, b->done.packed.version);
}

/* BACKPACK_BACKPACK_PACK by 'backpack-instance'. [B28] */
TEST(hole, s13_events_have_their_type_and_their_node)
{
    bag *b = bag_open(t, NULL);
    valise_event event = {0};
    vls_scope *n = bag_node(t, b, "chat-1", "sales.chat", NULL);

    CHECK_OK(put(b, n, "k", "1"));
    CHECK_OK(vls_commit_event(&event, &b->done.commit, VLS_STR("run-1"), &b->arena, &t->err));
    CHECK_STR(VLS_STR("BACKPACK_PACK"), event.type);
    CHECK_STR(VLS_STR("chat-1"), event.node_id);
    CHECK_STR(VLS_STR("sales.chat"), event.namespace_name);
    CHECK_OK(jail(b, n, "k", "x"));
    CHECK_OK(vls_commit_event(&event, &b->done.commit, VLS_STR("run-1"), &b->arena, &t->err));
    CHECK_STR(VLS_STR("BACKPACK_QUARANTINE"), event.type);
}

/* The index was only ever added to. [B24] */
TEST(hole, s14_a_namespace_loses_what_moves)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put_with(b, b->owner, "k", "1",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.x")}));
    CHECK_OK(put_with(b, b->owner, "k", "2",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("b.x")}));
    CHECK_TEXT("", items(b, &b->ledger, b->owner, "a.*"));
    CHECK_TEXT("k=2", items(b, &b->ledger, b->owner, "b.*"));
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_TEXT("", items(b, &b->ledger, b->owner, "b.*"));
}

/* The last 1000 commits without the state before them. [B27] */
TEST(hole, s17_an_export_of_the_last_commits_has_the_whole_state)
{
    bag *b = bag_open(t, NULL), *c;
    naive_options same = {.id = {{0x01, 0x97, 1}}, .name = VLS_STR("run-1")};
    const char *json;

    for (int i = 0; i < 15; i++)
        CHECK_OK(put(b, b->owner, test_format("k%02d", i), test_format("%d", i)));
    json = exported(b, &b->ledger, b->owner, 10);
    c = bag_open(t, &same);
    CHECK_OK(vls_bag_import(&c->ledger, valise_str_of(json), 1, t->env, &t->err));
    CHECK_TEXT(items(b, &b->ledger, b->owner, NULL), items(c, &c->ledger, c->owner, NULL));
    vls_ledger x = at(t, b, "7"), y = at(t, c, "7");
    CHECK_TEXT(items(b, &x, b->owner, NULL), items(c, &y, c->owner, NULL));
    CHECK_INT(VALISE_E_LIMIT, point(c, &c->ledger, "4"));
}

/* A value that is "undefined" was not found. [B3] */
TEST(hole, s18_what_is_there_is_found_whatever_it_is)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put(b, b->owner, "k", "null"));
    CHECK_TEXT("null", need(b, b->owner, "k"));
    CHECK_TEXT("null", get(b, b->owner, "k"));
}

/* "Not found" where it was denied, and nothing on record. [B20] */
TEST(hole, s19_what_is_denied_is_denied_and_on_record)
{
    naive_options lenient = {.id = {{1}}, .name = VLS_STR("l"), .lenient = true};
    bag *b = bag_open(t, &lenient);
    vls_scope *n = bag_node(t, b, "n", "", &(valise_permissions){.deny = NAMES("key")});

    CHECK_OK(put(b, b->owner, "key", "1"));
    CHECK_TEXT("(absent)", get(b, n, "key"));
    CHECK_TEXT("(denied)", need(b, n, "key"));
    CHECK_OK(put(b, n, "key", "2"));
    CHECK(b->done.denied && !b->done.packed.applied && b->done.commit.seq == 0);
    CHECK_INT(0, drop(b, n, "key"));
    CHECK(b->done.denied);
    CHECK_TEXT("key=1", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("unpack key denied by n; unpack key denied by n",
               access_log(b, b->owner, "n", false));
    CHECK_TEXT("pack key denied by n; delete key denied by n", access_log(b, b->owner, "n", true));
}

/* Characters that regular expressions obey; characters counted as bytes. [B7] [B23] */
TEST(hole, s20_texts_are_bytes_and_patterns_are_no_expressions)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n =
        bag_node(t, b, "n", "", &(valise_permissions){.read = NAMES("a(b+", "[*]", "x.y")});
    char json[303] = "";

    for (int i = 0; i < 302; i++)
        json[i] = i == 0 || i == 301 ? '"' : i % 2 == 1 ? '\xc3' : '\xa4';
    CHECK_OK(put(b, b->owner, "a(b+", "1"));
    CHECK_OK(put(b, b->owner, "[anything]", json));
    CHECK_OK(put(b, b->owner, "xzy", "3"));
    CHECK_TEXT("1", get(b, n, "a(b+"));
    CHECK_TEXT(json, get(b, n, "[anything]"));
    CHECK_TEXT("(denied)", get(b, n, "xzy"));
    CHECK_INT(302, commit_of(t, b, 2).value_size);
    CHECK_INT(199, commit_of(t, b, 2).summary.len); /* not half a character */
}

/* Tool errors are for the model to see; what is quarantined is not. [B25] */
TEST(hole, s21_errors_that_are_packed_are_seen_those_in_quarantine_not)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "chat", "", NULL);

    CHECK_OK(put(b, b->owner, "toolResult", "{\"success\":false}"));
    CHECK_OK(put(b, b->owner, "validationError", "\"bad\""));
    CHECK_OK(jail(b, b->owner, "validationError", "flow control"));
    CHECK_TEXT("toolResult={\"success\":false}", items(b, &b->ledger, n, NULL));
    CHECK_TEXT("(absent)", get(b, n, "validationError"));
    CHECK_TEXT("(denied)", jailed(b, &b->ledger, n));
}

/* The item was set before what could fail. [B11] */
TEST(hole, s22_a_pack_that_fails_changes_nothing)
{
    bag *b = bag_open(t, NULL);
    char *long_key = test_alloc(1026);

    memset(long_key, 'k', 1025);
    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_RC(VALISE_E_INVALID, put(b, b->owner, "", "2"));
    CHECK_RC(VALISE_E_INVALID, put(b, b->owner, "a\nb", "2"));
    CHECK_RC(VALISE_E_INVALID, put(b, b->owner, long_key, "2"));
    CHECK_RC(VALISE_E_INVALID,
             put_with(b, b->owner, "k", "2", (vls_pack_args){PACK_ARGS, .tags = NAMES("a", "")}));
    CHECK_RC(VALISE_E_INVALID,
             put_with(b, b->owner, "k", "2", (vls_pack_args){PACK_ARGS, .read = NAMES("a\n")}));
    CHECK_RC(VALISE_E_INVALID, put_with(b, b->owner, "k", "2",
                                        (vls_pack_args){PACK_ARGS, .node_id = VLS_STR("\x01")}));
    CHECK_RC(VALISE_E_CONFLICT, put_with(b, b->owner, "k", "2", (vls_pack_args){.expect = 7}));
    CHECK(strstr(t->err.message, "version 1"));
    CHECK_RC(VALISE_E_CONFLICT, put_with(b, b->owner, "k", "2", (vls_pack_args){.expect = 0}));
    CHECK_TEXT("1 pack k v1 by unknown", all_history(b, b->owner));
    CHECK_OK(put_with(b, b->owner, "k", "2", (vls_pack_args){.expect = 1}));
    CHECK_OK(put_with(b, b->owner, "new", "2", (vls_pack_args){.expect = 0}));
}

/* Anybody could pass any id, or none; most ways to read asked for none. [B31] [B21] */
TEST(hole, s23_every_way_to_read_is_checked)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", &(valise_permissions){.deny = NAMES("secret*")});
    vls_ledger old;
    VLS_AUTO(buf) vls_buf report = {0};

    CHECK_OK(put_with(b, b->owner, "secret", "\"s3cr3t\"",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.b")}));
    CHECK_OK(put_with(b, b->owner, "open", "1",
                      (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.b")}));
    old = at(t, b, "0");
    CHECK_TEXT("(denied)", get(b, n, "secret"));
    CHECK_TEXT("(denied)", peek(b, n, "secret"));
    CHECK_TEXT("(denied)", need(b, n, "secret"));
    CHECK_TEXT("open=1", items(b, &b->ledger, n, NULL));
    CHECK_TEXT("open=1", items(b, &b->ledger, n, "a.*"));
    CHECK_TEXT("2 pack open v1 by unknown", all_history(b, n));
    CHECK_TEXT("(denied)", blamed(b, n, "secret"));
    CHECK_TEXT("+open=1 by unknown@2", diff(b, &old, &b->ledger, n));
    CHECK_TEXT("-open=1", diff(b, &b->ledger, &old, n));
    CHECK(!strstr(exported(b, &b->ledger, n, -1), "s3cr3t"));
    CHECK(!strstr(exported(b, &b->ledger, n, 0), "secret"));
    vls_ledger now = at(t, b, "now");
    CHECK_TEXT("open=1", items(b, &now, n, NULL));
    vls_buf_init(&report, t->env, 10000);
    CHECK_INT(0, vls_bag_validate(&report, &b->ledger, n, VLS_STR(""),
                                  VLS_STR("{\"required\":[\"secret\"]}"), 1, &t->err));
    /* The identity is the scope's: what the arguments say is not asked. */
    CHECK_OK(put_with(
        b, n, "mine", "1",
        (vls_pack_args){PACK_ARGS, .node_id = VLS_STR("admin"), .namespace_name = VLS_STR("x.y")}));
    CHECK_STR(VLS_STR("n"), b->done.commit.node_id);
    CHECK(!b->done.commit.namespace_name.ptr);
}

/* Texts were compared, with their spaces and the order of their members. [B15] */
TEST(hole, s28_equal_values_are_no_difference)
{
    bag *b = bag_open(t, NULL);
    vls_ledger old;

    CHECK_OK(put(b, b->owner, "same", "{\"a\":1,\"b\":2}"));
    CHECK_OK(put(b, b->owner, "other", "1"));
    old = at(t, b, "now");
    CHECK_OK(put_as(b, "x", "same", "{\"a\":1,\"b\":2}"));
    CHECK_OK(put_as(b, "x", "other", "null"));
    CHECK_TEXT("~other=1>null by x@4", diff(b, &old, &b->ledger, b->owner));
}

/* Nobody said which mode was the usual one. [B20] */
TEST(hole, s30_strict_is_the_usual_mode)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", &(valise_permissions){.read = NOBODY});

    CHECK_TEXT("(denied)", get(b, n, "k"));
    CHECK_RC(VALISE_E_DENIED, put(b, n, "k", "1"));
}

/* Tags and lists of nodes had no meaning. [B19] */
TEST(hole, s31_lists_of_nodes_and_rules_of_tags_take_away)
{
    bag *b = bag_open(t, NULL);
    vls_scope *all =
        bag_node(t, b, "all", "", &(valise_permissions){.read = NAMES("*"), .write = NAMES("*")});

    CHECK_OK(put_with(b, b->owner, "k", "1",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii"), .read = NAMES("x", "all"),
                                      .write = NAMES("x")}));
    CHECK_TEXT("1", get(b, all, "k"));
    CHECK_RC(VALISE_E_DENIED, put(b, all, "k", "2"));
    CHECK_RC(VALISE_E_DENIED, drop(b, all, "k"));
    CHECK_RC(VALISE_E_DENIED, jail(b, all, "k", "x"));
    /* Not given: they stay. */
    CHECK_OK(put(b, b->owner, "k", "2"));
    CHECK_RC(VALISE_E_DENIED, put(b, all, "k", "3"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT("(denied)", get(b, all, "k"));
    /* Given and empty: they are gone. */
    CHECK_OK(put_with(b, b->owner, "k", "4",
                      (vls_pack_args){PACK_ARGS, .tags = NOBODY, .write = NOBODY}));
    CHECK_TEXT("4", get(b, all, "k"));
    CHECK_OK(put(b, all, "k", "5"));
}

/* A key that a script's objects swallow. [B24] */
TEST(hole, s32_any_key_is_a_key)
{
    bag *b = bag_open(t, NULL);
    vls_ledger old = at(t, b, "0");

    CHECK_OK(put(b, b->owner, "__proto__", "1"));
    CHECK_OK(put(b, b->owner, "constructor", "2"));
    CHECK_TEXT("__proto__=1 constructor=2", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("+__proto__=1 by unknown@1 +constructor=2 by unknown@2",
               diff(b, &old, &b->ledger, b->owner));
}

/* Names without a meaning: replay, validate, the log of accesses. [B13] [B26] [B10] */
TEST(hole, s33_replay_validate_and_access_log_mean_something)
{
    bag *b = bag_open(t, NULL), *fork;
    vls_ledger before;
    VLS_AUTO(buf) vls_buf report = {0};

    CHECK_OK(put_as(b, "a", "k", "1"));
    CHECK_OK(put_as(b, "b", "k", "\"bad\""));
    before = at(t, b, "before:b");
    fork = bag_fork(t, b, &before);
    CHECK_OK(put(fork, fork->owner, "k", "3"));
    CHECK_INT(2, fork->done.packed.version);
    CHECK_TEXT("k=3", items(fork, &fork->ledger, fork->owner, NULL));
    CHECK_TEXT("k=\"bad\"", items(b, &b->ledger, b->owner, NULL));
    vls_buf_init(&report, t->env, 10000);
    CHECK_INT(0, vls_bag_validate(&report, &b->ledger, b->owner, VLS_STR(""),
                                  VLS_STR("{\"properties\":{\"k\":{\"type\":\"integer\"}},"
                                          "\"required\":[\"x\"]}"),
                                  1, &t->err));
    CHECK_STR(VLS_STR("[{\"instancePath\":\"\",\"keyword\":\"required\",\"reason\":"
                      "\"must have the property \\\"x\\\"\",\"schemaPath\":\"/required\"},"
                      "{\"instancePath\":\"/k\",\"keyword\":\"type\",\"reason\":"
                      "\"must be an integer, is \\\"bad\\\"\",\"schemaPath\":"
                      "\"/properties/k/type\"}]"),
              vls_buf_str(&report));
    CHECK_TEXT("2 pack k v2 by b", access_log(b, b->owner, "b", true));
}
