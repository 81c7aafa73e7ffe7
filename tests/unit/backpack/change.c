/* change.c -- what changes a backpack: pack, quarantine, release, clear, runs, checkpoints. */
#include "kit.h"

static int count_done(void *arg, const vls_done *done, valise_error *err)
{
    (void)err;
    CHECK_INT(VALISE_ACTION_DELETE, done->commit.action);
    if (done->denied) {
        CHECK(!done->packed.applied && done->commit.seq == 0);
        CHECK_STR(VLS_STR("k5"), done->commit.key);
        return 0;
    }
    CHECK(done->packed.applied);
    ++*(int *)arg;
    return 0;
}

static int clear(bag *b, vls_scope *scope, const char *tag, const char *pattern, int *count)
{
    static const valise_str none = {NULL, 0};
    vls_change_call call = {.now = b->now++, .arena = &b->arena};

    *count = 0;
    return vls_bag_clear(&b->ledger, scope, valise_str_of(tag), valise_str_of(pattern), none, none,
                         &call, count_done, count, b->err);
}

/* ---- pack ---- */

/* [B2] [B7] */
TEST(change, a_commit_has_all_that_it_should)
{
    bag *b = bag_open(t, NULL);
    valise_commit c;

    CHECK_OK(
        put_with(b, b->owner, "k", "\"one\"",
                 (vls_pack_args){PACK_ARGS, .node_id = VLS_STR("n1"), .node_name = VLS_STR("Chat"),
                                 .namespace_name = VLS_STR("sales.chat"),
                                 .tags = NAMES("z", "a", "z"), .read = NAMES("y", "x")}));
    CHECK_OK(put(b, b->owner, "k", "2"));
    c = commit_of(t, b, 1);
    CHECK_STR(VLS_STR("n1"), c.node_id);
    CHECK_STR(VLS_STR("Chat"), c.node_name);
    CHECK_STR(VLS_STR("sales.chat"), c.namespace_name);
    CHECK_STR(VLS_STR("\"one\""), c.summary);
    CHECK_INT(5, c.value_size);
    CHECK_INT(1000, c.time);
    CHECK_INT(2, c.tags.count);
    CHECK_STR(VLS_STR("a"), ((const valise_str *)c.tags.items)[0]);
    CHECK_STR(VLS_STR("x"), ((const valise_str *)c.read.items)[0]);
    CHECK(!c.write.items);
    CHECK_INT(0, c.previous);
    c = commit_of(t, b, 2);
    CHECK_STR(VLS_STR("unknown"), c.node_id);
    CHECK_STR(VLS_STR("unknown"), c.node_name);
    CHECK(!c.namespace_name.ptr); /* where it was packed now */
    CHECK_INT(2, c.tags.count);   /* these stay */
    CHECK_INT(2, c.read.count);
    CHECK_INT(1, c.previous);
    CHECK_INT(2, c.version);
    CHECK_INT(1, drop(b, b->owner, "k"));
    c = commit_of(t, b, 3);
    CHECK_INT(0, c.value_size);
    CHECK(!c.summary.ptr);
    CHECK_INT(2, c.version);
    /* Gone with the item. */
    CHECK_OK(put(b, b->owner, "k", "3"));
    c = commit_of(t, b, 4);
    CHECK_INT(0, c.tags.count);
    CHECK(!c.read.items);
    CHECK_INT(3, c.version);
    CHECK_INT(3, c.previous);
}

/* [B1] */
TEST(change, lists_that_are_too_long)
{
    bag *b = bag_open(t, NULL);
    const char *names[66] = {0};
    valise_list many;

    for (int i = 0; i < 65; i++)
        names[i] = test_format("%d", i);
    many = names_of(names);
    CHECK_RC(VALISE_E_LIMIT,
             put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .tags = many}));
    CHECK_RC(VALISE_E_LIMIT,
             put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .declassify = many}));
    many.count = 1001;
    CHECK_RC(VALISE_E_LIMIT,
             put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .read = many}));
    CHECK_RC(VALISE_E_LIMIT,
             put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .write = many}));
    CHECK_RC(VALISE_E_INVALID, put_with(b, b->owner, "k", "1",
                                        (vls_pack_args){PACK_ARGS, .node_name = VLS_STR("\x7f")}));
    CHECK_TEXT("", all_history(b, b->owner));
}

/* A blob that is there already is shared. [B5] */
TEST(change, a_blob_is_not_copied)
{
    bag *b = bag_open(t, NULL);
    valise_blob *blob = NULL, *back = NULL;

    CHECK_OK(vls_blob_new(&blob, t->env, VLS_STR("1"), &t->err));
    CHECK_OK(put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .blob = blob}));
    CHECK_INT(1, vls_bag_get(&back, &b->ledger, b->owner, VLS_STR("k"), &(vls_look){0}, &t->err));
    CHECK(back == blob);
    valise_blob_unref(back);
    valise_blob_unref(blob);
}

/* ---- quarantine ---- */

/* [B25] */
TEST(change, quarantine_with_error_and_without_trace)
{
    bag *b = bag_open(t, NULL);
    vls_change_call call = {.now = 2000, .arena = &b->arena};
    vls_quarantine_args args = {.key = VLS_STR("k"),
                                .reason = VLS_STR("retry failed"),
                                .error = VLS_STR("{\"code\":500}"),
                                .node_id = VLS_STR("n"),
                                .node_name = VLS_STR("N")};
    valise_commit c;

    CHECK_OK(
        put_with(b, b->owner, "k", "\"v\"",
                 (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.b"), .tags = NAMES("x")}));
    CHECK_OK(vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
    c = commit_of(t, b, 2);
    CHECK_INT(VALISE_ACTION_QUARANTINE, c.action);
    CHECK_STR(VLS_STR("retry failed"), c.reason);
    CHECK_STR(VLS_STR("{\"code\":500}"), c.error);
    CHECK_STR(VLS_STR("n"), c.node_id);
    CHECK_STR(VLS_STR("a.b"), c.namespace_name);
    CHECK_STR(VLS_STR("\"v\""), c.summary);
    CHECK_INT(1, c.tags.count);
    CHECK_INT(1, c.version);
    CHECK_OK(put(b, b->owner, "k", "\"w\""));
    args.forget = true;
    CHECK_OK(vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
    c = commit_of(t, b, 4);
    static const valise_id none;
    CHECK(vls_id_equal(&none, &c.value) && vls_id_equal(&none, &c.previous_value));
    CHECK(!c.summary.ptr && c.value_size == 0);
    CHECK_TEXT("2:k=\"v\"(retry failed)", jailed(b, &b->ledger, b->owner));
    CHECK_RC(VALISE_E_NOT_FOUND, unjail(b, b->owner, "k", 4));
    args.reason = VLS_STR("");
    CHECK_RC(VALISE_E_INVALID,
             vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
    args.reason = VLS_STR("\xff");
    CHECK_RC(VALISE_E_INVALID,
             vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
    args.reason = VLS_STR("x");
    args.error.len = VLS_BAG_ERROR_MAX + 1;
    CHECK_RC(VALISE_E_LIMIT,
             vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
    args.key = VLS_STR("");
    CHECK_RC(VALISE_E_INVALID,
             vls_bag_quarantine(&b->done, &b->ledger, b->owner, &args, &call, &t->err));
}

/* [B25] */
TEST(change, release_brings_the_item_back_as_it_was)
{
    bag *b = bag_open(t, NULL);
    valise_commit c;

    CHECK_OK(
        put_with(b, b->owner, "k", "1",
                 (vls_pack_args){PACK_ARGS, .namespace_name = VLS_STR("a.b"), .tags = NAMES("x"),
                                 .read = NAMES("r"), .write = NAMES("w")}));
    CHECK_OK(jail(b, b->owner, "k", "why"));
    CHECK_OK(put_as(b, "n", "k", "2"));
    CHECK_OK(jail(b, b->owner, "k", "again"));
    CHECK_OK(jail(b, b->owner, "k", "nothing there"));
    /* The newest that has an item. */
    CHECK_OK(unjail(b, b->owner, "k", 0));
    CHECK_TEXT("2", peek(b, b->owner, "k"));
    CHECK_INT(4, b->done.commit.entry);
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_OK(unjail(b, b->owner, "k", 0));
    c = commit_of(t, b, b->done.commit.seq);
    CHECK_INT(VALISE_ACTION_RELEASE, c.action);
    CHECK_STR(VLS_STR("a.b"), c.namespace_name);
    CHECK_INT(1, c.tags.count);
    CHECK_STR(VLS_STR("r"), ((const valise_str *)c.read.items)[0]);
    CHECK_STR(VLS_STR("w"), ((const valise_str *)c.write.items)[0]);
    CHECK_STR(VLS_STR("1"), c.summary);
    CHECK_INT(4, c.version);
    CHECK_INT(1, drop(b, b->owner, "k"));
    CHECK_TEXT("5:k=?(nothing there)", jailed(b, &b->ledger, b->owner));
    CHECK_RC(VALISE_E_NOT_FOUND, unjail(b, b->owner, "k", 0));
    CHECK_RC(VALISE_E_NOT_FOUND, unjail(b, b->owner, "k", 2));
    CHECK_RC(VALISE_E_NOT_FOUND, unjail(b, b->owner, "other", 0));
    CHECK_RC(VALISE_E_NOT_FOUND, unjail(b, b->owner, "k", -1));
    CHECK_RC(VALISE_E_INVALID, unjail(b, b->owner, "", 0));
}

/* A release is a write of what was put away. [B18] */
TEST(change, release_asks_for_the_item_that_is_held)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);

    CHECK_OK(put_with(b, b->owner, "k", "1", (vls_pack_args){PACK_ARGS, .write = NAMES("w")}));
    CHECK_OK(jail(b, b->owner, "k", "why"));
    CHECK_RC(VALISE_E_DENIED, unjail(b, n, "k", 0));
    CHECK_OK(put(b, b->owner, "l", "1"));
    CHECK_OK(jail(b, n, "l", "why"));
    CHECK_OK(unjail(b, n, "l", 0));
}

/* What was put away before the edge is still there. [B8] [B25] */
TEST(change, quarantine_is_held_beyond_history)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(jail(b, b->owner, "k", "why"));
    CHECK_OK(put(b, b->owner, "x", "1"));
    naive_set_edge(b->n, 3);
    CHECK_TEXT("2:k=1(why)", jailed(b, &b->ledger, b->owner));
    CHECK_OK(unjail(b, b->owner, "k", 0));
    CHECK_TEXT("k=1 x=1", items(b, &b->ledger, b->owner, NULL));
}

/* ---- clear ---- */

static bag *with_tags(test *t, bool lenient)
{
    naive_options options = {.id = {{3}}, .name = VLS_STR("c"), .lenient = lenient};
    bag *b = bag_open(t, &options);

    for (int i = 0; i < 6; i++)
        CHECK_OK(put_with(b, b->owner, test_format("k%d", i), "1",
                          (vls_pack_args){PACK_ARGS, .tags = i % 2 ? NAMES("odd") : NAMES("even"),
                                          .namespace_name = i < 3 ? VLS_STR("a.x") : VLS_STR("b.x"),
                                          .write = i == 5 ? NAMES("w") : UNSAID}));
    return b;
}

/* [B6] */
TEST(change, clear_by_tag_and_namespace)
{
    bag *b = with_tags(t, false);
    int count;

    CHECK_RC(VALISE_E_INVALID, clear(b, b->owner, "", "", &count));
    CHECK_RC(VALISE_E_INVALID, clear(b, b->owner, "", "a..b", &count));
    CHECK_OK(clear(b, b->owner, "nothing", "", &count));
    CHECK_INT(0, count);
    CHECK_OK(clear(b, b->owner, "odd", "a.*", &count));
    CHECK_INT(1, count);
    CHECK_TEXT("k0=1 k2=1 k3=1 k4=1 k5=1", items(b, &b->ledger, b->owner, NULL));
    CHECK_OK(clear(b, b->owner, "", "a.**", &count));
    CHECK_INT(2, count);
    CHECK_OK(clear(b, b->owner, "odd", "", &count));
    CHECK_INT(2, count);
    CHECK_TEXT("k4=1", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("7 delete k1 v1 by unknown; 8 delete k0 v1 by unknown; 9 delete k2 v1 by unknown; "
               "10 delete k3 v1 by unknown; 11 delete k5 v1 by unknown",
               history(b, &b->ledger, b->owner,
                       (valise_history){.actions = 1u << VALISE_ACTION_DELETE,
                                        .oldest_first = true,
                                        .since = VALISE_NONE,
                                        .until = VALISE_NONE}));
}

/* Strict: all or nothing. Lenient: what may not be removed stays. [B20] */
TEST(change, clear_what_is_denied)
{
    bag *b = with_tags(t, false);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    int count;

    CHECK_RC(VALISE_E_DENIED, clear(b, n, "odd", "", &count));
    CHECK(strstr(t->err.message, "k5"));
    CHECK_INT(0, count);
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("n"), &(valise_permissions){.deny = NAMES("k5")},
                            &t->err));
    CHECK_RC(VALISE_E_DENIED, clear(b, n, "odd", "", &count));
    CHECK(!strstr(t->err.message, "k5")); /* it may not even know the name */
    b = with_tags(t, true);
    n = bag_node(t, b, "n", "", NULL);
    CHECK_OK(clear(b, n, "odd", "", &count));
    CHECK_INT(2, count);
    CHECK_TEXT("k0=1 k2=1 k4=1 k5=1", items(b, &b->ledger, b->owner, NULL));
    CHECK_TEXT("delete k5 denied by n; 7 delete k1 v1 by n; 8 delete k3 v1 by n",
               access_log(b, b->owner, "n", true));
}

/* ---- runs ---- */

/* [B12] */
TEST(change, runs_outside_of_flows_start_with_another_node)
{
    bag *b = bag_open(t, NULL);

    CHECK_OK(put_as(b, "a", "k", "1"));
    CHECK_OK(put_as(b, "a", "k", "2"));
    CHECK_OK(put_as(b, "b", "k", "3"));
    CHECK_OK(put_as(b, "a", "k", "4"));
    CHECK_INT(1, commit_of(t, b, 1).run);
    CHECK_INT(1, commit_of(t, b, 2).run);
    CHECK_INT(2, commit_of(t, b, 3).run);
    CHECK_INT(3, commit_of(t, b, 4).run);
    CHECK_INT(0, point(b, &b->ledger, "before:a"));
    CHECK_INT(2, point(b, &b->ledger, "after:a"));
    CHECK_INT(3, point(b, &b->ledger, "before:a#2"));
    CHECK_INT(3, point(b, &b->ledger, "before:a#-1"));
    CHECK_INT(0, point(b, &b->ledger, "before:a#-2"));
    CHECK_INT(4, point(b, &b->ledger, "after:a#2"));
    CHECK_INT(2, point(b, &b->ledger, "before:b"));
    CHECK_INT(3, point(b, &b->ledger, "after:b"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "before:a#3"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "before:a#-3"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "before:nobody"));
    CHECK_INT(VALISE_E_INVALID, point(b, &b->ledger, "before:a#0"));
    naive_set_edge(b->n, 3);
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, "before:a"));
    CHECK_INT(3, point(b, &b->ledger, "before:a#2"));
}

/* Runs that are started have their commits however others write in between. [B12] [B31] */
TEST(change, runs_that_are_started)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL), *m = bag_node(t, b, "m", "", NULL);
    int64_t first = 0, second = 0;

    CHECK_OK(put(b, b->owner, "x", "0"));
    CHECK_OK(vls_bag_run_start(&first, &b->ledger, n, &t->err));
    CHECK_OK(vls_bag_run_start(&second, &b->ledger, m, &t->err));
    CHECK_INT(2, first);
    CHECK_INT(3, second);
    CHECK_OK(put(b, n, "x", "1"));
    CHECK_OK(put(b, m, "x", "2"));
    CHECK_OK(put(b, n, "x", "3"));
    CHECK_INT(first, commit_of(t, b, 2).run);
    CHECK_INT(second, commit_of(t, b, 3).run);
    CHECK_INT(first, commit_of(t, b, 4).run);
    CHECK_INT(3, point(b, &b->ledger, "after:m")); /* not said yet: its last commit */
    CHECK_OK(vls_bag_run_end(&b->ledger, m, second, &t->err));
    CHECK_INT(4, point(b, &b->ledger, "after:m"));
    CHECK_INT(1, point(b, &b->ledger, "before:n"));
    CHECK_INT(0, vls_scope_run(m));
    CHECK_RC(VALISE_E_INVALID, vls_bag_run_end(&b->ledger, m, first, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_bag_run_end(&b->ledger, m, 9, &t->err));
    CHECK_OK(vls_bag_run_end(&b->ledger, n, first, &t->err));
    /* A run that is over gets no more commits, though the same node goes on. */
    CHECK_OK(put(b, n, "x", "4"));
    CHECK_INT(4, b->done.commit.run);
    CHECK_INT(4, point(b, &b->ledger, "before:n#2"));
    /* One that writes nothing. */
    CHECK_OK(vls_bag_run_start(&first, &b->ledger, m, &t->err));
    CHECK_INT(5, point(b, &b->ledger, "after:m#2"));
}

/* Where there is no commit yet, the state that it left is 0: it is over all the same. [B12] */
TEST(change, a_run_that_ends_before_the_first_commit)
{
    bag *b = bag_open(t, NULL);
    vls_scope *n = bag_node(t, b, "n", "", NULL);
    int64_t run = 0;

    CHECK_OK(vls_bag_run_start(&run, &b->ledger, n, &t->err));
    CHECK_OK(vls_bag_run_resume(&b->ledger, n, run, &t->err));
    CHECK_OK(vls_bag_run_end(&b->ledger, n, run, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_bag_run_resume(&b->ledger, n, run, &t->err));
    CHECK_OK(put(b, n, "x", "1"));
    CHECK_INT(run + 1, b->done.commit.run);
    CHECK_INT(0, point(b, &b->ledger, "after:n#1"));
    CHECK_INT(1, point(b, &b->ledger, "after:n#2"));
}

/* ---- checkpoints ---- */

/* [B12] */
TEST(change, checkpoints_have_names_that_are_nothing_else)
{
    static const char *const bad[] = {
        "now",    "42",   "before:n",     "after:n#2", "2026-01-02T03:04:05Z",
        "c0ffee", "beef", "2026-01-02Tx", "",          "01970100-0000-7000-8000-000000000000",
        "a\nb",   NULL};
    static const char *const good[] = {"deploy",     "v1.0",   "bee", "Beef",  "c0ffee!",
                                       "2026-01-02", "before", "a:b", "12-34", NULL};
    bag *b = bag_open(t, NULL);
    int64_t seq = -1;

    CHECK_OK(put(b, b->owner, "k", "1"));
    for (size_t i = 0; bad[i]; i++) {
        test_context("%s", bad[i]);
        CHECK_RC(VALISE_E_INVALID, vls_bag_checkpoint(&seq, &b->ledger, valise_str_of(bad[i]),
                                                      VLS_STR("me"), 5, &t->err));
    }
    for (size_t i = 0; good[i]; i++) {
        test_context("%s", good[i]);
        CHECK_OK(vls_bag_checkpoint(&seq, &b->ledger, valise_str_of(good[i]), VLS_STR("me"), 5,
                                    &t->err));
        CHECK_INT(1, seq);
        CHECK_INT(1, point(b, &b->ledger, good[i]));
    }
}

/* [B12] */
TEST(change, checkpoints_hold_their_state)
{
    bag *b = bag_open(t, NULL);
    vls_ledger state;

    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("first"), VLS_STR("me"), 5, &t->err));
    CHECK_OK(vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("first"), VLS_STR("me"), 6, &t->err));
    CHECK_OK(put(b, b->owner, "k", "2"));
    CHECK_RC(VALISE_E_EXISTS,
             vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("first"), VLS_STR("me"), 7, &t->err));
    CHECK_OK(put(b, b->owner, "l", "3"));
    naive_set_edge(b->n, 3);
    state = at(t, b, "first");
    CHECK_TEXT("k=1", items(b, &state, b->owner, NULL));
    CHECK_INT(1, point(b, &b->ledger, "1")); /* held as well, by its number */
    CHECK_INT(VALISE_E_LIMIT, point(b, &b->ledger, "2"));
    CHECK_INT(VALISE_E_NOT_FOUND, point(b, &b->ledger, "second"));
    CHECK(strstr(t->err.hint, "before:NODE"));
}
