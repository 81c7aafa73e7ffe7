/* ledger_keep.c -- what every ledger keeps of keys that are no items, and hands on to forks. */
#include "kit/ledger_kit.h"

#include "base/uuid.h"

TEST_PARAMS(ledger_keep, LEDGER_PARAMS)

static int64_t version_of(test *t, const vls_ledger *ledger, const char *key)
{
    int64_t version = -1;

    ledger->ops->enter(ledger->self);
    CHECK_OK(ledger->ops->version(&version, ledger->self, valise_str_of(key), &t->err));
    ledger->ops->leave(ledger->self);
    return version;
}

static int note(void *arg, const valise_commit *commit, valise_error *err)
{
    const char **text = arg;

    (void)err;
    *text = test_format("%s%.*s@%lld v%lld ", *text, VALISE_STR_ARG(commit->key),
                        (long long)commit->seq, (long long)commit->version);
    return 0;
}

static const char *gone(test *t, const vls_ledger *ledger)
{
    const char *text = "";

    CHECK_OK(ledger->ops->each_gone(ledger->self, note, &text, &t->err));
    return text;
}

/* [B2] [B27] What was restored before the edge is not shown, but counts. */
TEST(ledger_keep, the_version_of_a_deletion_that_was_restored)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    const vls_ledger *l = &o.ledger;

    ledger_put(l, o.env, &(ledger_write){.key = "a", .value = "1", .seq = 1, .version = 4});
    ledger_put(l, o.env,
               &(ledger_write){.key = "a", .action = VALISE_ACTION_DELETE, .seq = 2, .version = 4});
    ledger_put(l, o.env,
               &(ledger_write){.key = "c", .action = VALISE_ACTION_DELETE, .seq = 5, .version = 7});
    ledger_put(l, o.env, &(ledger_write){.key = "b", .value = "2", .seq = 7, .version = 1});
    l->ops->enter(l->self);
    CHECK_OK(l->ops->set_edge(l->self, 9, &t->err));
    l->ops->leave(l->self);
    CHECK_TEXT("b@7=2 ", ledger_items(l));
    CHECK_TEXT("", ledger_newest(l, "a"));
    CHECK_TEXT("", ledger_newest(l, "c"));
    CHECK_INT(4, version_of(t, l, "a"));
    CHECK_INT(7, version_of(t, l, "c"));
    CHECK_INT(0, version_of(t, l, "never"));
    CHECK_TEXT("a@2 v4 c@5 v7 ", gone(t, l));
    CHECK_INT(10, ledger_pack(l, o.env, "a", "3"));
    CHECK_TEXT("c@5 v7 ", gone(t, l));
    ledger_delete(l, o.env, "b");
    CHECK_TEXT("b@11 v2 c@5 v7 ", gone(t, l));
    {
        vls_ledger s = ledger_freeze(l, 9);
        CHECK_TEXT("a@2 v4 c@5 v7 ", gone(t, &s));
        ledger_release_frozen(&s);
    }
}

typedef struct entries {
    test *t;
    const vls_ledger *ledger;
    const char *text;
} entries;

static int note_entry(void *arg, const void *row, valise_error *err)
{
    entries *e = arg;
    const vls_quarantine_row *q = row;
    valise_commit put, item;

    e->ledger->ops->enter(e->ledger->self);
    CHECK_INT(1, e->ledger->ops->commit(&put, e->ledger->self, vls_entry_backpack(q),
                                        vls_entry_seq(q), err));
    CHECK_INT(1, e->ledger->ops->commit(&item, e->ledger->self, &q->item_backpack, q->item, err));
    CHECK_STR(put.key, item.key);
    e->ledger->ops->leave(e->ledger->self);
    e->text = test_format("%s%.*s@%lld%s ", e->text, VALISE_STR_ARG(q->key), (long long)q->seq,
                          q->released ? "+" : "");
    return 0;
}

static const char *quarantine(test *t, const vls_ledger *ledger)
{
    entries e = {t, ledger, ""};

    CHECK_OK(ledger->ops->each_row(ledger->self, &vls_bag_quarantines, note_entry, &e, &t->err));
    return e.text;
}

/* Two items, both quarantined, the second released again. */
static void quarantine_two(const opened *o)
{
    int64_t entry;

    ledger_pack(&o->ledger, o->env, "a", "1");
    ledger_pack(&o->ledger, o->env, "b", "2");
    ledger_quarantine(&o->ledger, o->env, "a");
    entry = ledger_quarantine(&o->ledger, o->env, "b");
    CHECK_INT(5, ledger_release(&o->ledger, o->env, entry));
}

/* [B13] [B25] */
TEST(ledger_keep, the_quarantine_that_a_fork_begins_with)
{
    VLS_AUTO(opened) opened o = ledger_open(t);

    quarantine_two(&o);
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, &o.ledger);
        CHECK_TEXT("a@-1 ", quarantine(t, &f.ledger));
        ledger_quarantine(&f.ledger, f.env, "b");
        CHECK_TEXT("a@-1 b@1 ", quarantine(t, &f.ledger));
        CHECK_TEXT("a@3 b@4+ ", quarantine(t, &o.ledger));
    }
}

TEST(ledger_keep, the_quarantine_of_the_state_that_is_forked)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    vls_ledger s;

    quarantine_two(&o);
    s = ledger_freeze(&o.ledger, 4);
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, &s);
        CHECK_TEXT("a@-2 b@-1 ", quarantine(t, &f.ledger));
    }
    ledger_release_frozen(&s);
}

/* [B15] Which commits led to a state, kept or not. */
TEST(ledger_keep, the_lineage_of_a_state)
{
    VLS_AUTO(opened) opened o = ledger_open(t);
    const vls_ledger *l = &o.ledger;
    valise_uuid origin = ledger_uuid(1), own = ledger_uuid(2), other = ledger_uuid(3);

    ledger_pack(l, o.env, "a", "1");
    ledger_pack(l, o.env, "a", "2");
    {
        VLS_AUTO(opened) opened f = ledger_fork(t, l);
        ledger_pack(l, o.env, "a", "3");
        ledger_pack(&f.ledger, f.env, "a", "4");
        f.ledger.ops->enter(f.ledger.self);
        CHECK(f.ledger.ops->includes(f.ledger.self, &own, 1));
        CHECK(f.ledger.ops->includes(f.ledger.self, &origin, 2));
        CHECK(!f.ledger.ops->includes(f.ledger.self, &origin, 3));
        CHECK(!f.ledger.ops->includes(f.ledger.self, &other, 1));
        f.ledger.ops->leave(f.ledger.self);
        l->ops->enter(l->self);
        CHECK(l->ops->includes(l->self, &origin, 3));
        CHECK(!l->ops->includes(l->self, &own, 1));
        l->ops->leave(l->self);
        CHECK(ledger_head(&f.ledger).origin_time > 0);
        CHECK_INT(0, ledger_head(l).origin_time);
    }
}
