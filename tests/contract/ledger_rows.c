/* ledger_rows.c -- the small rows of every ledger, and its log of reads. */
#include "kit/ledger_kit.h"

TEST_PARAMS(ledger_rows, LEDGER_PARAMS)

static valise_uuid own(void)
{
    return ledger_uuid(1);
}

static void put(test *t, const opened *o, const valise_coll *coll, const void *row)
{
    o->ledger.ops->enter(o->ledger.self);
    CHECK_OK(o->ledger.ops->row_put(o->ledger.self, coll, row, &t->err));
    o->ledger.ops->leave(o->ledger.self);
}

static int remove_row(test *t, const opened *o, const valise_coll *coll, const void *row)
{
    int rc;

    o->ledger.ops->enter(o->ledger.self);
    rc = o->ledger.ops->row_delete(o->ledger.self, coll, row, &t->err);
    o->ledger.ops->leave(o->ledger.self);
    return rc;
}

static const char *rows(test *t, const vls_ledger *ledger, const valise_coll *coll)
{
    VLS_AUTO(ledger_text) ledger_text text = {0};

    ledger_text_init(&text, t->env, true);
    ledger_show_rows(&text, ledger, coll);
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text.buf)));
}

TEST(ledger_rows, come_back_as_they_were)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    valise_str keys[] = {VLS_STR("a*"), VLS_STR("b")}, none[1];
    vls_permission_row permission = {
        .backpack = own(),
        .node_id = VLS_STR("n"),
        .allow = {.read = {keys, 2}, .write = {none, 0}, .namespace_read = {keys, 1}}};
    vls_permission_row back = {.backpack = own(), .node_id = VLS_STR("n")};

    put(t, &o, &vls_bag_permissions, &permission);
    o.ledger.ops->enter(o.ledger.self);
    CHECK_INT(1, o.ledger.ops->row_get(&back, o.ledger.self, &vls_bag_permissions, &t->err));
    CHECK_INT(2, back.allow.read.count);
    CHECK_STR(keys[1], ((const valise_str *)back.allow.read.items)[1]);
    CHECK(back.allow.write.items && back.allow.write.count == 0);
    CHECK(!back.allow.deny.items);
    back.node_id = VLS_STR("other");
    CHECK_INT(0, o.ledger.ops->row_get(&back, o.ledger.self, &vls_bag_permissions, &t->err));
    o.ledger.ops->leave(o.ledger.self);
}

TEST(ledger_rows, are_replaced_and_deleted)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_run_row run = {.backpack = own(), .number = 2, .node_id = VLS_STR("n"), .start = 5};
    const char *text;

    put(t, &o, &vls_bag_runs, &run);
    run.end = 9;
    put(t, &o, &vls_bag_runs, &run);
    run.number = 1;
    put(t, &o, &vls_bag_runs, &run);
    CHECK_INT(2, ledger_head(&o.ledger).last_run);
    text = rows(t, &o.ledger, &vls_bag_runs);
    CHECK(strstr(text, "\"number\":1,") < strstr(text, "\"number\":2,"));
    CHECK_INT(1, remove_row(t, &o, &vls_bag_runs, &run));
    CHECK_INT(0, remove_row(t, &o, &vls_bag_runs, &run));
    CHECK(!strstr(rows(t, &o.ledger, &vls_bag_runs), "\"number\":1,"));
}

/* Who remembers permissions knows when to ask again. */
TEST(ledger_rows, change_the_generation_where_they_grant_access)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    uint64_t first = ledger_head(&o.ledger).generation, second, third;
    vls_rule_row rule = {.tag = VLS_STR("pii")};
    vls_taint_row taint = {
        .backpack = own(), .node_id = VLS_STR("n"), .source = {.tag = VLS_STR("pii")}};

    put(t, &o, &vls_bag_taints, &taint);
    CHECK(first == ledger_head(&o.ledger).generation);
    put(t, &o, &vls_bag_rules, &rule);
    second = ledger_head(&o.ledger).generation;
    CHECK(second != first);
    CHECK_INT(1, remove_row(t, &o, &vls_bag_rules, &rule));
    third = ledger_head(&o.ledger).generation;
    CHECK(third != second); /* it may be the first again: so are the permissions and rules */
}

TEST(ledger_rows, of_access_go_with_a_fork)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    valise_str node = VLS_STR("n");
    vls_rule_row rule = {.backpack = own(), .tag = VLS_STR("pii"), .read = {&node, 1}};
    vls_rule_row workspace = {.tag = VLS_STR("secret"), .write = {&node, 1}};
    vls_permission_row permission = {.backpack = own(), .node_id = node};

    put(t, &o, &vls_bag_rules, &rule);
    put(t, &o, &vls_bag_rules, &workspace);
    put(t, &o, &vls_bag_permissions, &permission);
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, &o.ledger);
        vls_rule_row back = {.backpack = ledger_uuid(2), .tag = VLS_STR("pii")};
        CHECK_INT(1, remove_row(t, &o, &vls_bag_rules, &rule));
        f.ledger.ops->enter(f.ledger.self);
        CHECK_INT(1, f.ledger.ops->row_get(&back, f.ledger.self, &vls_bag_rules, &t->err));
        CHECK_INT(1, back.read.count);
        f.ledger.ops->leave(f.ledger.self);
        const char *text = rows(t, &f.ledger, &vls_bag_rules);
        CHECK(strstr(text, "secret") && strstr(text, "secret") < strstr(text, "pii"));
        CHECK(strstr(rows(t, &f.ledger, &vls_bag_permissions), "\"nodeId\":\"n\""));
    }
}

/* A quarantined item is held, whatever becomes of its key. */
TEST(ledger_rows, of_quarantine_hold_the_item)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    int64_t entry, released;

    ledger_pack(&o.ledger, t->env, "a", "\"bad\"");
    entry = ledger_quarantine(&o.ledger, t->env, "a");
    CHECK_TEXT("", ledger_items(&o.ledger));
    CHECK_TEXT("a@2! ", ledger_newest(&o.ledger, "a"));
    ledger_pack(&o.ledger, t->env, "a", "\"good\"");
    CHECK_INT(0, ledger_release(&o.ledger, t->env, entry)); /* the key is live */
    ledger_delete(&o.ledger, t->env, "a");
    released = ledger_release(&o.ledger, t->env, entry);
    CHECK_INT(5, released);
    CHECK_TEXT("a@5=\"bad\" ", ledger_items(&o.ledger));
    CHECK_INT(0, ledger_release(&o.ledger, t->env, entry)); /* once only */
}

TEST(ledger_rows, hold_the_state_of_a_checkpoint)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger s;

    ledger_pack(&o.ledger, t->env, "a", "1");
    ledger_checkpoint(&o.ledger, "here", 1);
    ledger_pack(&o.ledger, t->env, "a", "2");
    s = ledger_freeze(&o.ledger, 1);
    CHECK_TEXT("a@1=1 ", ledger_items(&s));
    ledger_release_frozen(&s);
}

TEST(ledger_rows, log_reads_newest_first)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    VLS_AUTO(ledger_text) ledger_text text = {0};
    valise_str tags[] = {VLS_STR("pii"), VLS_STR("x")};
    vls_ledger_read read = {.node_id = VLS_STR("n"),
                            .node_name = VLS_STR("Node"),
                            .namespace_name = VLS_STR("s"),
                            .key = VLS_STR("a"),
                            .action = VALISE_ACTION_UNPACK,
                            .seq = 1,
                            .version = 1,
                            .outcome = VALISE_READ_FOUND,
                            .time = 8,
                            .tags = {tags, 2}};

    ledger_pack(&o.ledger, t->env, "a", "1");
    o.ledger.ops->enter(o.ledger.self);
    o.ledger.ops->read_add(o.ledger.self, &read);
    read = (vls_ledger_read){.node_id = VLS_STR("m"),
                             .key = VLS_STR("none"),
                             .action = VALISE_ACTION_PACK,
                             .outcome = VALISE_READ_DENIED,
                             .time = 9};
    o.ledger.ops->read_add(o.ledger.self, &read);
    o.ledger.ops->leave(o.ledger.self);
    ledger_text_init(&text, t->env, true);
    ledger_show_reads(&text, &o.ledger);
    CHECK_STR(VLS_STR("m/  none 0 0 v0 2 t9\nn/Node s a 6 1 v1 0 t8 #pii #x\n"),
              vls_buf_str(&text.buf));
}

/* [B33] */
TEST(ledger_rows, count_what_is_there)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    valise_usage usage = {0};

    ledger_pack(&o.ledger, t->env, "a", "\"12345678\"");
    ledger_pack(&o.ledger, t->env, "a", "\"1\"");
    ledger_pack(&o.ledger, t->env, "b", "\"1\"");
    ledger_quarantine(&o.ledger, t->env, "b");
    CHECK_OK(o.ledger.ops->usage(&usage, o.ledger.self, &t->err));
    CHECK_INT(1, usage.items);
    CHECK_INT(4, usage.commits);
    CHECK_INT(1, usage.quarantined);
    CHECK_INT(1, usage.first_seq);
    CHECK_INT(4, usage.last_seq);
    /* Four commits, and one value that only history has: the item has the other. [B8] */
    CHECK_INT(4 * 128 + 10, usage.history_bytes);
    CHECK_INT(3, usage.state_bytes);
    CHECK_INT(0, usage.held_bytes);
}

static int ran(test *t, const vls_ledger *ledger, const char *node)
{
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->ran(ledger->self, valise_str_of(node), &t->err);
    ledger->ops->leave(ledger->self);
    return rc;
}

TEST(ledger_rows, say_which_nodes_ran)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_run_row run = {.backpack = own(), .number = 1, .node_id = VLS_STR("a/chat"), .end = 0};
    vls_ledger past;

    CHECK_INT(0, ran(t, &o.ledger, "a/chat"));
    put(t, &o, &vls_bag_runs, &run);
    CHECK_INT(1, ran(t, &o.ledger, "a/chat"));
    CHECK_INT(0, ran(t, &o.ledger, "chat")); /* no part of an id, and nothing longer */
    CHECK_INT(0, ran(t, &o.ledger, "a/cha"));
    CHECK_INT(0, ran(t, &o.ledger, "a/chat2"));
    CHECK_INT(0, ran(t, &o.ledger, ""));
    CHECK_OK(o.ledger.ops->freeze(&past, o.ledger.self, 0, &t->err));
    CHECK_INT(1, ran(t, &past, "a/chat"));
    past.ops->release(past.self);
    CHECK_INT(1, remove_row(t, &o, &vls_bag_runs, &run));
    CHECK_INT(0, ran(t, &o.ledger, "a/chat"));
}
