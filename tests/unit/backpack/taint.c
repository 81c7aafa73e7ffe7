/* taint.c -- sticky tags follow what was read. [B22] */
#include "kit.h"

#include "base/buf.h"

static const naive_options tainting = {.id = {{0x01, 0x97, 2}}, .name = {"t", 1}, .taint = true};

/* "pii@1 secret@3" of the last commit, and its tags. */
static const char *taints(bag *b)
{
    const valise_taint *const *taint = b->done.commit.taints.items;
    const valise_str *tag = b->done.commit.tags.items;
    const char *text = "";

    for (size_t i = 0; i < b->done.commit.taints.count; i++)
        text = test_format("%s%.*s@%lld ", text, VALISE_STR_ARG(taint[i]->tag),
                           (long long)taint[i]->seq);
    for (size_t i = 0; i < b->done.commit.tags.count; i++)
        text = test_format("%s#%.*s ", text, VALISE_STR_ARG(tag[i]));
    return text;
}

static bag *start(test *t, const naive_options *options)
{
    bag *b = bag_open(t, options ? options : &tainting);

    CHECK_OK(put_with(b, b->owner, "mail", "\"a@b\"",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii", "x")}));
    CHECK_OK(put_with(b, b->owner, "open", "1", (vls_pack_args){PACK_ARGS}));
    CHECK_OK(
        put_with(b, b->owner, "key", "\"k\"", (vls_pack_args){PACK_ARGS, .tags = NAMES("secret")}));
    return b;
}

TEST(taint, what_is_packed_after_a_read_carries_the_tag)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);

    CHECK_TEXT("1", get(b, n, "open"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("", taints(b));
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "2"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_STR(VLS_STR("[redacted]"), b->done.commit.summary);
    CHECK_TEXT("\"k\"", peek(b, n, "key"));
    CHECK_OK(put_with(b, n, "more", "3", (vls_pack_args){PACK_ARGS, .tags = NAMES("z", "pii")}));
    CHECK_TEXT("pii@1 secret@3 #pii #secret #z ", taints(b));
    /* The owner is nobody's node. */
    CHECK_TEXT("\"a@b\"", get(b, b->owner, "mail"));
    CHECK_OK(put(b, b->owner, "free", "1"));
    CHECK_TEXT("", taints(b));
}

TEST(taint, only_where_it_is_enabled)
{
    naive_options off = tainting;
    bag *b;
    vls_scope *n;

    off.taint = false;
    b = start(t, &off);
    n = bag_node(t, b, "n", "", NULL);
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("", taints(b));
}

TEST(taint, sticky_tags_can_be_others)
{
    naive_options others = tainting;
    bag *b;
    vls_scope *n;

    others.sticky = NAMES("x");
    b = start(t, &others);
    n = bag_node(t, b, "n", "", NULL);
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("x@1 #x ", taints(b));
}

/* A run outside of flows ends when another node writes. */
TEST(taint, is_over_with_the_run)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "a", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put(b, n, "b", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put(b, m, "c", "1"));
    CHECK_TEXT("", taints(b));
    CHECK_OK(put(b, n, "d", "1"));
    CHECK_TEXT("", taints(b));
    /* Read between two runs: it counts for the next. */
    CHECK_OK(put(b, m, "e", "1"));
    CHECK_TEXT("\"k\"", get(b, n, "key"));
    CHECK_OK(put(b, m, "e", "2"));
    CHECK_OK(put(b, n, "f", "1"));
    CHECK_TEXT("secret@3 #secret ", taints(b));
    /* Read again after the last write of a run: the same. */
    CHECK_TEXT("\"k\"", get(b, n, "key"));
    CHECK_OK(put(b, m, "e", "3"));
    CHECK_OK(put(b, n, "g", "1"));
    CHECK_TEXT("secret@3 #secret ", taints(b));
}

/* What one handle of a node reads counts for another: the ledger knows. */
TEST(taint, is_the_nodes_not_the_handles)
{
    bag *b = start(t, NULL);
    vls_scope *one = bag_node(t, b, "n", "", NULL), *two = bag_node(t, b, "n", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, one, "mail"));
    CHECK_OK(put(b, two, "out", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put_as(b, "other", "x", "1"));
    CHECK_OK(put(b, one, "out2", "1"));
    CHECK_TEXT("", taints(b));
}

TEST(taint, of_a_run_that_was_started)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);
    int64_t run = 0;

    CHECK_TEXT("\"k\"", get(b, n, "key")); /* before it */
    CHECK_OK(put(b, m, "x", "1"));
    CHECK_OK(vls_bag_run_start(&run, &b->ledger, n, &t->err));
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "a", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put(b, m, "x", "2")); /* somebody else writes in the middle of it */
    CHECK_OK(put(b, n, "b", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_INT(run, b->done.commit.run);
    CHECK_OK(vls_bag_run_end(&b->ledger, n, run, &t->err));
    CHECK_OK(vls_bag_run_start(&run, &b->ledger, n, &t->err));
    CHECK_OK(put(b, n, "c", "1"));
    CHECK_TEXT("", taints(b));
}

static int ignore_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)arg, (void)item, (void)err;
    return 0;
}

/* Each way to see something of the value. */
TEST(taint, by_every_way_to_read)
{
    naive_options sticky = tainting;

    sticky.sticky = NAMES("x"); /* whose summaries are not redacted */
    for (int way = 0; way < 11; way++) {
        bag *b = bag_open(t, &sticky);
        CHECK_OK(put_with(b, b->owner, "mail", "\"a@b\"",
                          (vls_pack_args){PACK_ARGS, .tags = NAMES("x")}));
        vls_scope *n = bag_node(t, b, "n", "", NULL);
        vls_ledger now = at(t, b, "now"), none = at(t, b, "0");
        VLS_AUTO(buf) vls_buf report = {0};
        vls_buf_init(&report, t->env, 100000);
        test_context("way %d", way);
        if (way == 0)
            get(b, n, "mail");
        else if (way == 1)
            peek(b, n, "mail");
        else if (way == 2)
            items(b, &b->ledger, n, NULL);
        else if (way == 3)
            items(b, &now, n, NULL);
        else if (way == 4)
            all_history(b, n);
        else if (way == 5)
            blamed(b, n, "mail");
        else if (way == 6)
            diff(b, &none, &now, n);
        else if (way == 7)
            diff(b, &now, &none, n);
        else if (way == 8)
            exported(b, &b->ledger, n, -1);
        else if (way == 9)
            CHECK_INT(1, vls_bag_validate(&report, &b->ledger, n, VLS_STR(""), VLS_STR("true"), 1,
                                          &t->err));
        else
            CHECK_OK(vls_bag_each(&b->ledger, n, (valise_str){NULL, 0}, false, ignore_item, NULL,
                                  &t->err));
        CHECK_OK(put(b, n, "out", "1"));
        CHECK_TEXT("x@1 #x ", taints(b));
    }
}

/* Where the ledger cannot be changed the scope itself remembers, and hands the marks on. */
TEST(taint, marks_that_the_ledger_cannot_have)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    vls_ledger old = at(t, b, "1");
    valise_list marks = {0};
    const vls_taint_row *row;
    int64_t run;

    CHECK_TEXT("mail=\"a@b\"", items(b, &old, n, NULL));
    CHECK_TEXT("mail=\"a@b\"", items(b, &old, n, NULL));
    CHECK_OK(vls_scope_new_marks(&marks, n, &b->arena, &t->err));
    CHECK_INT(1, marks.count);
    row = marks.items;
    CHECK_STR(VLS_STR("pii"), row->source.tag);
    CHECK_STR(VLS_STR("n"), row->node_id);
    CHECK_INT(1, row->source.seq);
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put_as(b, "other", "x", "1"));
    CHECK_OK(put(b, n, "out2", "1"));
    CHECK_TEXT("", taints(b));
    /* In a run that was started, what a snapshot shows counts as well. */
    CHECK_OK(vls_bag_run_start(&run, &b->ledger, n, &t->err));
    CHECK_TEXT("mail=\"a@b\"", items(b, &old, n, NULL));
    CHECK_OK(put(b, n, "out3", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    vls_scope_marks_kept(n, 1);
    CHECK_OK(vls_scope_new_marks(&marks, n, &b->arena, &t->err));
    CHECK_INT(0, marks.count);
}

TEST(taint, marks_in_a_query_stay_with_the_scope)
{
    naive_options query = tainting;
    bag *b;
    vls_scope *n;
    valise_list marks = {0};

    b = start(t, &query);
    n = bag_node(t, b, "n", "", NULL);
    naive_allow_rows(b->n, false);
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_INT(0, t->err.code);
    CHECK_OK(vls_scope_new_marks(&marks, n, &b->arena, &t->err));
    CHECK_INT(1, marks.count);
    naive_allow_rows(b->n, true);
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
}

TEST(taint, can_be_declassified)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    vls_pack_args without = {PACK_ARGS, .declassify = NAMES("pii")};

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_RC(VALISE_E_DENIED, put_with(b, n, "out", "2", without));
    b->may_declassify = true;
    CHECK_OK(put_with(b, n, "out", "2", without));
    CHECK_TEXT("", taints(b));
    CHECK_INT(1, b->done.commit.declassified.count);
    CHECK_INT(1, commit_of(t, b, b->done.commit.seq).declassified.count);
    CHECK_STR(VLS_STR("2"), b->done.commit.summary);
    CHECK_OK(put(b, n, "out", "3")); /* the mark itself stays */
    CHECK_TEXT("pii@1 #pii ", taints(b));
}

/* The packing node may read its own output; the rule holds for all others. */
TEST(taint, a_node_may_read_its_own_output)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT("(denied)", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_TEXT("1", get(b, n, "out"));
    CHECK_TEXT("(denied)", get(b, m, "out"));
    /* A tag that it gave itself is no such output. */
    CHECK_OK(put_with(b, m, "own", "1", (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    CHECK_TEXT("(denied)", get(b, m, "own"));
}

/* Who may put an item away and bring it back has not made its value. [B19] [B22] */
TEST(taint, a_release_is_no_output_of_its_node)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("n"), UNSAID, &b->arena, &t->err));
    CHECK_TEXT("(denied)", get(b, m, "out"));
    CHECK_OK(jail(b, m, "out", "x"));
    CHECK_OK(unjail(b, m, "out", 0));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_TEXT("(denied)", get(b, m, "out"));
    CHECK_TEXT("1", get(b, n, "out"));
}

/* So does what the node said when it put something away. */
TEST(taint, a_reason_carries_the_tag)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(jail(b, n, "open", "a@b said no"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_STR(VLS_STR("[redacted]"), b->done.commit.summary);
    /* Who reads it has read that. */
    CHECK_TEXT("4 quarantine open v1 by n; 3 pack key v1 by unknown; 2 pack open v1 by unknown; "
               "1 pack mail v1 by unknown",
               history(b, &b->ledger, m, (valise_history)VALISE_HISTORY_INIT));
    CHECK_OK(put(b, m, "out", "1"));
    CHECK_TEXT("pii@4 #pii ", taints(b));
    /* The item itself comes back as it was. */
    CHECK_OK(unjail(b, b->owner, "open", 0));
    CHECK_TEXT("", taints(b));
    /* Who may not read the tag does not learn it. */
    CHECK_OK(vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("n"), UNSAID, &b->arena, &t->err));
    m = bag_node(t, b, "k", "", NULL);
    CHECK_TEXT("6 release open v2 by unknown; 3 pack key v1 by unknown; 2 pack open v1 by unknown",
               history(b, &b->ledger, m, (valise_history)VALISE_HISTORY_INIT));
}

/* Tags that stay with an item keep where they came from. */
TEST(taint, stays_with_the_item)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);

    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_OK(put(b, n, "out", "1"));
    CHECK_OK(put(b, b->owner, "out", "2"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put_with(b, b->owner, "out", "3", (vls_pack_args){PACK_ARGS, .tags = NOBODY}));
    CHECK_TEXT("", taints(b));
}

/* Too many tags are refused, not cut. */
TEST(taint, that_does_not_fit_is_refused)
{
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    const char *many[65] = {0};

    for (int i = 0; i < 64; i++)
        many[i] = test_format("t%d", i);
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    CHECK_RC(VALISE_E_LIMIT,
             put_with(b, n, "out", "1", (vls_pack_args){PACK_ARGS, .tags = names_of(many)}));
    CHECK_TEXT("(absent)", peek(b, b->owner, "out"));
}

/* ---- marks that cannot be changed ---- */

TEST_PARAMS(taint_stuck, LEDGER_PARAMS)

static const vls_ledger_ops *real;

static int no_put(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    return coll == &vls_bag_taints ? vls_fail_memory(err) : real->row_put(self, coll, row, err);
}

static int no_delete(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    return coll == &vls_bag_taints ? vls_fail_memory(err) : real->row_delete(self, coll, row, err);
}

/* Whoever replays a command has memory: one that was committed without changing a mark would be
 * another one then. A ring cannot take its commit back, and errs on the safe side. [B22] [K9] */
TEST(taint_stuck, fails_the_command_that_can_be_undone)
{
    const bool undone = strncmp(t->param, "rows", 4) == 0;
    bag *b = start(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);
    vls_ledger_ops stuck = *b->ledger.ops;

    real = b->ledger.ops;
    stuck.row_put = no_put;
    stuck.row_delete = no_delete;
    CHECK_TEXT("\"a@b\"", get(b, n, "mail"));
    b->ledger.ops = &stuck;
    CHECK_RC(undone ? VALISE_E_NO_MEMORY : 0, put(b, n, "out", "1"));
    b->ledger.ops = real;
    CHECK_OK(put(b, n, "out", "2"));
    CHECK_TEXT("pii@1 #pii ", taints(b));
    CHECK_OK(put(b, m, "x", "1"));
    b->ledger.ops = &stuck; /* the mark was used by a run that is over: it goes */
    CHECK_RC(undone ? VALISE_E_NO_MEMORY : 0, put(b, n, "out", "3"));
    b->ledger.ops = real;
}
