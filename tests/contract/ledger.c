/* ledger.c -- what every ledger does: items, versions, states, forks, differences. */
#include "kit/ledger_kit.h"

TEST_PARAMS(ledger, LEDGER_PARAMS)

static int64_t put(const opened *o, const ledger_write *w)
{
    return ledger_put(&o->ledger, o->env, w);
}

static int64_t pack(const opened *o, const char *key, const char *value)
{
    return ledger_pack(&o->ledger, o->env, key, value);
}

static int64_t del(const opened *o, const char *key)
{
    return ledger_delete(&o->ledger, o->env, key);
}

/* ---- items ---- */

TEST(ledger, begins_empty)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger_head head = ledger_head(&o.ledger);

    CHECK_TEXT("", ledger_items(&o.ledger));
    CHECK_TEXT("", ledger_newest(&o.ledger, "a"));
    CHECK_INT(0, head.last);
    CHECK_INT(0, head.edge);
    CHECK_INT(0, head.last_time);
    CHECK(head.lenient && !head.taint);
}

/* [B2] versions go on over a delete, and seqs count from 1. */
TEST(ledger, keeps_the_newest_commit_of_each_key)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};

    CHECK_INT(1, pack(&o, "b", "1"));
    CHECK_INT(2, pack(&o, "a", "2"));
    CHECK_INT(3, pack(&o, "b", "3"));
    CHECK_TEXT("a@2=2 b@3=3 ", ledger_items(&o.ledger));
    CHECK_INT(4, del(&o, "b"));
    CHECK_TEXT("a@2=2 ", ledger_items(&o.ledger));
    CHECK_TEXT("b@4- ", ledger_newest(&o.ledger, "b"));
    pack(&o, "b", "5");
    CHECK_TEXT("b@5=5 b@4- b@3=3 b@1=1 ", ledger_versions(&o.ledger, "b"));
    CHECK_TEXT("b@1=1 a@2=2 b@3=3 b@4- b@5=5 ", ledger_commits(&o.ledger));

    ledger_text_init(&text, t->env, true);
    ledger_show_newest(&text, &o.ledger, "b");
    CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"version\":4")) < text.buf.len);
    CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"previous\":4")) < text.buf.len);
}

/* Everything a commit can have comes back as it was. */
TEST(ledger, keeps_every_member_of_a_commit)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    valise_str tags[] = {VLS_STR("pii"), VLS_STR("x")}, nodes[] = {VLS_STR("n1"), VLS_STR("n2")};
    const valise_taint one = {.tag = VLS_STR("pii"), .seq = 3};
    const valise_taint two = {.tag = VLS_STR("secret"), .seq = 9, .backpack = {{0x42}}};
    const valise_taint *taints[] = {&one, &two};
    valise_commit commit = {.time = 11,
                            .action = VALISE_ACTION_QUARANTINE,
                            .key = VLS_STR("k"),
                            .version = INT64_C(5000000000),
                            .previous = 7,
                            .previous_value = {{1, 2, 3}},
                            .node_id = VLS_STR("id"),
                            .node_name = VLS_STR("name"),
                            .namespace_name = VLS_STR("a.b"),
                            .run = INT64_C(6000000000),
                            .tags = {tags, 2},
                            .read = {nodes, 2},
                            .write = {nodes, 0},
                            .taints = {taints, 2},
                            .declassified = {tags, 1},
                            .reason = VLS_STR("why"),
                            .error = VLS_STR("{\"code\":1}"),
                            .entry = 4,
                            .outcome = VALISE_NONE};
    valise_commit back;

    o.ledger.ops->enter(o.ledger.self);
    CHECK_OK(o.ledger.ops->append(o.ledger.self, &commit, NULL, &t->err));
    CHECK_INT(1, o.ledger.ops->newest(&back, o.ledger.self, VLS_STR("k"), &t->err));
    CHECK_INT(1, commit.seq);
    CHECK(memcmp(&commit.id, &back.id, sizeof(back.id)) == 0);
    CHECK(memcmp(&commit.previous_value, &back.previous_value, 32) == 0);
    CHECK(back.write.items && back.write.count == 0);
    o.ledger.ops->leave(o.ledger.self);
    ledger_text_init(&text, t->env, true);
    ledger_show_newest(&text, &o.ledger, "k");
    ledger_show_commit(&text, &commit);
    valise_str a, b, rest;
    (void)vls_str_cut(&a, &rest, vls_buf_str(&text.buf), '\n');
    (void)vls_str_cut(&b, &rest, rest, '\n');
    CHECK_STR(b, a);
}

/* [B5] a value outlives everything; [B9] it is the same whoever has it. */
TEST(ledger, hands_out_values_that_stay)
{
    VLS_AUTO(blob) valise_blob *one = NULL;
    VLS_AUTO(blob) valise_blob *two = NULL;

    {
        VLS_AUTO(opened) opened o = ledger_open(t);
        valise_commit a, b;
        pack(&o, "a", "\"same\"");
        pack(&o, "b", "\"same\"");
        o.ledger.ops->enter(o.ledger.self);
        CHECK_INT(1, o.ledger.ops->newest(&a, o.ledger.self, VLS_STR("a"), &t->err));
        CHECK_INT(1, o.ledger.ops->newest(&b, o.ledger.self, VLS_STR("b"), &t->err));
        CHECK_OK(o.ledger.ops->value(&one, o.ledger.self, &a, &t->err));
        CHECK_OK(o.ledger.ops->value(&two, o.ledger.self, &b, &t->err));
        /* A workspace has it once; each reader gets bytes of its own from there. */
        CHECK(one == two || strncmp(t->param, "rows", 4) == 0);
        o.ledger.ops->leave(o.ledger.self);
        del(&o, "a");
        del(&o, "b");
    }
    CHECK_STR(VLS_STR("\"same\""), valise_blob_bytes(one));
}

TEST(ledger, knows_no_value_of_what_has_none)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    valise_commit commit = {.key = VLS_STR("k"), .value = {{9, 9}}};
    valise_blob *blob = NULL;

    o.ledger.ops->enter(o.ledger.self);
    CHECK_RC(VALISE_E_NOT_FOUND, o.ledger.ops->value(&blob, o.ledger.self, &commit, &t->err));
    CHECK(!blob);
    o.ledger.ops->leave(o.ledger.self);
}

/* Keys are ordered by bytes. */
TEST(ledger, lists_items_in_order)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};

    for (int i = 299; i >= 0; i--)
        pack(&o, test_format("k%03d", i), "1");
    pack(&o, "k2981", "2");
    ledger_text_init(&text, t->env, false);
    ledger_show_items(&text, &o.ledger);
    CHECK(vls_str_starts(vls_buf_str(&text.buf), VLS_STR("k000@300=1 k001@299=1 ")));
    CHECK(vls_str_ends(vls_buf_str(&text.buf), VLS_STR(" k298@2=1 k2981@301=2 k299@1=1 ")));
}

/* [B24] */
TEST(ledger, finds_items_by_namespace)
{
    VLS_AUTO(opened) opened o = ledger_open(t);

    put(&o, &(ledger_write){.key = "c", .value = "1", .space = "sales.chat"});
    put(&o, &(ledger_write){.key = "a", .value = "2", .space = "sales.web"});
    put(&o, &(ledger_write){.key = "b", .value = "3", .space = "sales.chat"});
    put(&o, &(ledger_write){.key = "d", .value = "4", .space = "sales.web.deep"});
    put(&o, &(ledger_write){.key = "e", .value = "5", .space = "sales"});
    put(&o, &(ledger_write){.key = "f", .value = "6"});
    put(&o, &(ledger_write){.key = "g", .value = "7", .space = "salesx"});
    CHECK_TEXT("b@3=3 c@1=1 ", ledger_named(&o.ledger, "sales.chat"));
    CHECK_TEXT("a@2=2 b@3=3 c@1=1 ", ledger_named(&o.ledger, "sales.*"));
    CHECK_TEXT("a@2=2 b@3=3 c@1=1 d@4=4 e@5=5 ", ledger_named(&o.ledger, "sales.**"));
    CHECK_TEXT("b@3=3 c@1=1 ", ledger_named(&o.ledger, "*.chat"));
    CHECK_TEXT("", ledger_named(&o.ledger, "none.*"));
    CHECK_TEXT("e@5=5 g@7=7 ", ledger_named(&o.ledger, "*"));

    /* A key moves to another namespace, and out of all. */
    put(&o, &(ledger_write){.key = "c", .value = "8", .space = "sales.web"});
    put(&o, &(ledger_write){.key = "b", .value = "9"});
    del(&o, "a");
    CHECK_TEXT("", ledger_named(&o.ledger, "sales.chat"));
    CHECK_TEXT("c@8=8 ", ledger_named(&o.ledger, "sales.web"));
}

/* ---- commits ---- */

TEST(ledger, finds_commits_by_number)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    valise_uuid id = ledger_uuid(1), stranger = ledger_uuid(9);

    pack(&o, "a", "1");
    pack(&o, "a", "2");
    ledger_text_init(&text, t->env, false);
    CHECK_INT(1, ledger_show_at(&text, &o.ledger, &id, 1));
    CHECK_STR(VLS_STR("a@1=1 "), vls_buf_str(&text.buf));
    CHECK_INT(0, ledger_show_at(&text, &o.ledger, &id, 3));
    CHECK_INT(0, ledger_show_at(&text, &o.ledger, &id, 0));
    CHECK_INT(0, ledger_show_at(&text, &o.ledger, &stranger, 1));
}

TEST(ledger, walks_commits_both_ways)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};

    for (int i = 0; i < 700; i++)
        pack(&o, "k", test_format("%d", i));
    ledger_text_init(&text, t->env, false);
    ledger_show_commits(&text, &o.ledger, 698, 900, false);
    ledger_show_commits(&text, &o.ledger, 2, 3, true);
    ledger_show_commits(&text, &o.ledger, 5, 4, true);
    CHECK_STR(VLS_STR("k@698=697 k@699=698 k@700=699 k@3=2 k@2=1 "), vls_buf_str(&text.buf));
}

static int stop_at_two(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)commit;
    (void)err;
    return ++*(int *)arg == 2 ? 17 : 0;
}

TEST(ledger, ends_a_walk_when_the_callback_says_so)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    const vls_ledger_ops *ops = o.ledger.ops;
    void *self = o.ledger.self;
    int calls = 0;

    for (int i = 0; i < 5; i++)
        put(&o, &(ledger_write){.key = test_format("k%d", i), .value = "1", .space = "s"});
    pack(&o, "k0", "2");
    pack(&o, "k0", "3");
    CHECK_INT(17, ops->each_item(self, stop_at_two, &calls, &t->err));
    calls = 0;
    CHECK_INT(17, ops->each_named(self, VLS_STR("s"), stop_at_two, &calls, &t->err));
    calls = 0;
    CHECK_INT(17, ops->each_version(self, VLS_STR("k0"), stop_at_two, &calls, &t->err));
    calls = 0;
    CHECK_INT(17, ops->each_commit(self, 0, 100, true, stop_at_two, &calls, &t->err));
    CHECK_INT(2, calls);
}

typedef struct changer {
    const opened *o;
    int calls;
} changer;

static int change_meanwhile(void *arg, const valise_commit *commit, valise_error *err)
{
    changer *c = arg;

    (void)err;
    CHECK(commit->key.len == 2);
    if (c->calls++ < 20)
        pack(c->o, test_format("x%d", c->calls), "0");
    return 0;
}

/* No lock is held while a callback runs. */
TEST(ledger, may_be_changed_by_a_callback)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    changer c = {.o = &o};

    for (int i = 0; i < 5; i++)
        pack(&o, test_format("k%d", i), "1");
    CHECK_OK(o.ledger.ops->each_item(o.ledger.self, change_meanwhile, &c, &t->err));
    CHECK_INT(5, c.calls);
}

/* ---- states ---- */

/* [B14] */
TEST(ledger, shows_states_of_the_past)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger at[6];

    pack(&o, "a", "1");
    put(&o, &(ledger_write){.key = "b", .value = "2", .space = "s"});
    pack(&o, "a", "3");
    del(&o, "b");
    pack(&o, "c", "5");
    for (int64_t i = 0; i <= 5; i++)
        at[i] = ledger_freeze(&o.ledger, i);
    CHECK_TEXT("", ledger_items(&at[0]));
    CHECK_TEXT("a@1=1 ", ledger_items(&at[1]));
    CHECK_TEXT("a@1=1 b@2=2 ", ledger_items(&at[2]));
    CHECK_TEXT("a@3=3 b@2=2 ", ledger_items(&at[3]));
    CHECK_TEXT("a@3=3 ", ledger_items(&at[4]));
    CHECK_TEXT("a@3=3 c@5=5 ", ledger_items(&at[5]));
    CHECK_TEXT("b@4- ", ledger_newest(&at[4], "b"));
    CHECK_TEXT("b@2=2 ", ledger_named(&at[3], "s"));
    CHECK_TEXT("", ledger_named(&at[4], "s"));
    CHECK_TEXT("a@1=1 ", ledger_versions(&at[2], "a"));
    CHECK_TEXT("a@1=1 b@2=2 a@3=3 ", ledger_commits(&at[3]));
    CHECK_INT(3, ledger_head(&at[3]).last);
    CHECK_INT(ledger_head(&o.ledger).last_time, ledger_head(&at[3]).last_time);

    /* They do not change. */
    for (int i = 0; i < 200; i++)
        pack(&o, i % 2 ? "a" : "d", test_format("%d", i));
    CHECK_TEXT("a@3=3 b@2=2 ", ledger_items(&at[3]));
    for (int i = 0; i <= 5; i++)
        ledger_release_frozen(&at[i]);
}

TEST(ledger, shows_today_beside_the_past)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    vls_ledger old;

    pack(&o, "a", "1");
    old = ledger_freeze(&o.ledger, 1);
    pack(&o, "a", "2");
    ledger_text_init(&text, t->env, false);
    ledger_show_newest(&text, &old, "a");
    ledger_show_present(&text, &old, "a");
    ledger_show_present(&text, &old, "none");
    CHECK_STR(VLS_STR("a@1=1 a@2=2 "), vls_buf_str(&text.buf));
    ledger_release_frozen(&old);
}

TEST(ledger, freezes_what_is_frozen)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger a, b, c;

    pack(&o, "a", "1");
    pack(&o, "a", "2");
    pack(&o, "a", "3");
    a = ledger_freeze(&o.ledger, 2);
    b = ledger_freeze(&a, 1);
    c = ledger_freeze(&a, 2);
    ledger_release_frozen(&a);
    CHECK_TEXT("a@1=1 ", ledger_items(&b));
    CHECK_TEXT("a@2=2 ", ledger_items(&c));
    ledger_release_frozen(&b);
    ledger_release_frozen(&c);
}

/* Every state of a long history, in an order that goes both ways. */
TEST(ledger, finds_any_state_of_a_long_history)
{
    VLS_AUTO(opened) opened o = ledger_open(t);

    for (int i = 1; i <= 300; i++)
        pack(&o, i % 3 ? "a" : "b", test_format("%d", i));
    for (int i = 0; i < 60; i++) {
        int64_t upto = 3 + (i * 83) % 298;
        vls_ledger s = ledger_freeze(&o.ledger, upto);
        int64_t b = upto / 3 * 3, a = upto % 3 ? upto : upto - 1;
        CHECK_TEXT(test_format("a@%lld=%lld b@%lld=%lld ", (long long)a, (long long)a, (long long)b,
                               (long long)b),
                   ledger_items(&s));
        ledger_release_frozen(&s);
    }
}

/* ---- differences ---- */

TEST(ledger, tells_what_differs)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger a, b;

    pack(&o, "a", "1");
    pack(&o, "b", "2");
    pack(&o, "c", "3");
    a = ledger_freeze(&o.ledger, 3);
    pack(&o, "b", "4");
    del(&o, "c");
    pack(&o, "d", "5");
    b = ledger_freeze(&o.ledger, 6);
    CHECK_TEXT("b@2 -> b@4 ; c@3 -> c@5- ; -> d@6 ; ", ledger_difference(&a, &b));
    CHECK_TEXT("b@4 -> b@2 ; c@5- -> c@3 ; d@6 -> ; ", ledger_difference(&b, &a));
    CHECK_TEXT("b@2 -> b@4 ; c@3 -> c@5- ; -> d@6 ; ", ledger_difference(&a, &o.ledger));
    CHECK_TEXT("", ledger_difference(&b, &o.ledger));
    CHECK_TEXT("", ledger_difference(&a, &a));
    ledger_release_frozen(&a);
    ledger_release_frozen(&b);
}

/* ---- forks ---- */

TEST(ledger, forks_a_state)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger_head head;
    vls_ledger old;

    put(&o, &(ledger_write){.key = "a", .value = "1", .space = "s"});
    put(&o, &(ledger_write){.key = "b", .value = "2", .space = "s"});
    pack(&o, "c", "3");
    old = ledger_freeze(&o.ledger, 2);
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, &old);
        head = ledger_head(&f.ledger);
        CHECK_INT(0, head.last);
        CHECK_INT(2, head.origin_seq);
        CHECK_TEXT("a@1=1 b@2=2 ", ledger_items(&f.ledger));
        CHECK_INT(1, put(&f, &(ledger_write){.key = "a", .value = "9", .space = "t"}));
        del(&f, "b");
        pack(&f, "d", "4");
        CHECK_TEXT("a@1=9 d@3=4 ", ledger_items(&f.ledger));
        CHECK_TEXT("a@1=9 a@1=1 ", ledger_versions(&f.ledger, "a"));
        CHECK_TEXT("b@2- ", ledger_newest(&f.ledger, "b"));
        CHECK_TEXT("", ledger_named(&f.ledger, "s"));
        CHECK_TEXT("a@1=9 ", ledger_named(&f.ledger, "*"));
        CHECK_TEXT("a@1=9 b@2- d@3=4 ", ledger_commits(&f.ledger));
        CHECK_TEXT("a@1 -> a@1 ; b@2 -> b@2- ; -> d@3 ; ", ledger_difference(&old, &f.ledger));
        CHECK_TEXT("a@1=1 b@2=2 c@3=3 ", ledger_items(&o.ledger));
    }
    ledger_release_frozen(&old);
}

/* Commits of the origin are found through the fork, and its versions go on. [B2] */
TEST(ledger, forks_know_their_origin)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    valise_uuid origin = ledger_uuid(1), own = ledger_uuid(2);

    pack(&o, "a", "1");
    pack(&o, "a", "2");
    pack(&o, "b", "3");
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, &o.ledger);
        VLS_AUTO(ledger_text) ledger_text text = {0};
        vls_ledger empty = ledger_freeze(&f.ledger, 0);
        pack(&o, "a", "4"); /* the fork does not see it */
        ledger_text_init(&text, t->env, true);
        CHECK_INT(1, ledger_show_at(&text, &f.ledger, &origin, 1));
        CHECK_INT(0, ledger_show_at(&text, &f.ledger, &origin, 4));
        CHECK_INT(0, ledger_show_at(&text, &f.ledger, &own, 1));
        pack(&f, "a", "5");
        CHECK_INT(1, ledger_show_at(&text, &f.ledger, &own, 1));
        ledger_text_clear(&text);
        ledger_show_newest(&text, &f.ledger, "a");
        CHECK(vls_str_find(vls_buf_str(&text.buf), VLS_STR("\"version\":3")) < text.buf.len);
        CHECK_TEXT("a@1=5 a@2=2 a@1=1 ", ledger_versions(&f.ledger, "a"));
        CHECK_TEXT("a@2=2 b@3=3 ", ledger_items(&empty));
        ledger_release_frozen(&empty);
    }
}

/* ---- restoring ---- */

TEST(ledger, restores_under_the_same_numbers)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    valise_uuid id = ledger_uuid(1);

    put(&o, &(ledger_write){.key = "a", .value = "1", .seq = 3, .version = 2});
    put(&o, &(ledger_write){.key = "b", .value = "2", .seq = 7, .version = 1});
    o.ledger.ops->enter(o.ledger.self);
    CHECK_OK(o.ledger.ops->set_edge(o.ledger.self, 9, &t->err));
    o.ledger.ops->leave(o.ledger.self);
    CHECK_INT(9, ledger_head(&o.ledger).edge);
    CHECK_INT(9, ledger_head(&o.ledger).last);
    CHECK_TEXT("", ledger_commits(&o.ledger));
    CHECK_INT(10, put(&o, &(ledger_write){.key = "a", .value = "3", .seq = 10, .version = 3}));
    CHECK_INT(11, pack(&o, "c", "4"));
    CHECK_TEXT("a@10=3 b@7=2 c@11=4 ", ledger_items(&o.ledger));
    CHECK_TEXT("a@10=3 a@3=1 ", ledger_versions(&o.ledger, "a"));
    CHECK_TEXT("a@10=3 c@11=4 ", ledger_commits(&o.ledger));
    vls_ledger edge = ledger_freeze(&o.ledger, 9);
    CHECK_TEXT("a@3=1 b@7=2 ", ledger_items(&edge));
    ledger_release_frozen(&edge);

    /* What the state at the edge needs is found by its number. */
    ledger_text_init(&text, t->env, false);
    CHECK_INT(1, ledger_show_at(&text, &o.ledger, &id, 7));
    CHECK_INT(1, ledger_show_at(&text, &o.ledger, &id, 3));
    CHECK_INT(0, ledger_show_at(&text, &o.ledger, &id, 8));
    CHECK_STR(VLS_STR("b@7=2 a@3=1 "), vls_buf_str(&text.buf));
}
