/* merge.c -- three-way merges of forks. [B17] */
#include "kit.h"

typedef struct log {
    char text[1000];
} log;

static const char *name_of(const valise_commit *commit, const valise_blob *value)
{
    return commit ? test_format("%.*s", VALISE_STR_ARG(vls_blob_bytes(value))) : "-";
}

static int on_conflict(void *arg, const valise_conflict *c, valise_error *err)
{
    log *l = arg;
    size_t len = strlen(l->text);

    (void)err;
    (void)snprintf(l->text + len, sizeof(l->text) - len, "%.*s: %s %s %s; ", VALISE_STR_ARG(c->key),
                   name_of(c->base, c->base_value), name_of(c->ours, c->our_value),
                   name_of(c->theirs, c->their_value));
    return 0;
}

static int on_done(void *arg, const vls_done *done, valise_error *err)
{
    log *l = arg;
    size_t len = strlen(l->text);

    (void)err;
    (void)snprintf(l->text + len, sizeof(l->text) - len, "%s %.*s v%lld; ",
                   done->commit.action == VALISE_ACTION_MERGE ? "merge" : "delete",
                   VALISE_STR_ARG(done->commit.key), (long long)done->commit.version);
    return 0;
}

/* The same node, or the owner, in each of the three. */
typedef struct eyes {
    vls_scope *ours, *base, *theirs;
} eyes;

static int merge(bag *ours, const vls_ledger *base, bag *theirs, eyes e, log *l, int64_t *conflicts)
{
    vls_change_call call = {.now = ours->now++, .arena = &ours->arena};

    vls_merge_outcome outcome = {.conflicts = -1};
    int rc;

    *l = (log){""};
    rc = vls_bag_merge(&outcome, &(vls_scoped){&ours->ledger, e.ours}, &(vls_scoped){base, e.base},
                       &(vls_scoped){&theirs->ledger, e.theirs}, UNSAID, &call, on_done,
                       on_conflict, l, ours->err);
    *conflicts = outcome.conflicts;
    ours->whole = outcome.whole;
    return rc;
}

typedef struct forks {
    bag *b, *ours, *theirs;
    vls_ledger base;
} forks;

static forks split(test *t)
{
    forks f = {.b = bag_open(t, NULL)};

    CHECK_OK(put_as(f.b, "n", "a", "1"));
    CHECK_OK(put_as(f.b, "n", "b", "1"));
    CHECK_OK(put_as(f.b, "n", "c", "1"));
    CHECK_OK(put_as(f.b, "n", "d", "1"));
    f.base = at(t, f.b, "now");
    f.ours = bag_fork(t, f.b, &f.base);
    f.b->now++;
    f.theirs = bag_fork(t, f.b, &f.base);
    return f;
}

static eyes owner_of(const forks *f)
{
    return (eyes){f->ours->owner, f->b->owner, f->theirs->owner};
}

/* A node that has these permissions everywhere, as forks have those of their origin. */
static eyes node_of(test *t, const forks *f, const char *id, const valise_permissions *permissions)
{
    return (eyes){bag_node(t, f->ours, id, "", permissions), bag_node(t, f->b, id, "", permissions),
                  bag_node(t, f->theirs, id, "", permissions)};
}

TEST(merge, takes_over_what_only_they_changed)
{
    forks f = split(t);
    log l;
    int64_t conflicts;
    valise_commit c;

    CHECK_OK(put(f.ours, f.ours->owner, "a", "2"));
    CHECK_OK(put_with(f.theirs, f.theirs->owner, "b", "3",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("t"), .read = NAMES("r"),
                                      .namespace_name = VLS_STR("x.y")}));
    CHECK_INT(1, drop(f.theirs, f.theirs->owner, "c"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "new", "4"));
    CHECK_OK(put(f.ours, f.ours->owner, "d", "5")); /* both to the same value */
    CHECK_OK(put(f.theirs, f.theirs->owner, "d", "5"));
    CHECK_OK(merge(f.ours, &f.base, f.theirs, owner_of(&f), &l, &conflicts));
    CHECK_TEXT("merge b v2; delete c v1; merge new v1; ", l.text);
    CHECK_INT(0, conflicts);
    CHECK_TEXT("a=2 b=3 d=5 new=4", items(f.ours, &f.ours->ledger, f.ours->owner, NULL));
    c = commit_of(t, f.ours, 3);
    CHECK_INT(VALISE_ACTION_MERGE, c.action);
    CHECK_INT(1, c.entry);
    CHECK_INT(1, c.tags.count);
    CHECK_INT(1, c.read.count);
    CHECK_STR(VLS_STR("x.y"), c.namespace_name);
    CHECK_STR(VLS_STR("3"), c.summary);
    /* Again: nothing is left to do. */
    CHECK_OK(merge(f.ours, &f.base, f.theirs, owner_of(&f), &l, &conflicts));
    CHECK_TEXT("", l.text);
}

TEST(merge, conflicts_are_told_and_nothing_is_merged)
{
    forks f = split(t);
    log l;
    int64_t conflicts;

    CHECK_OK(put(f.ours, f.ours->owner, "a", "2"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "a", "3"));
    CHECK_INT(1, drop(f.ours, f.ours->owner, "b"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "b", "3"));
    CHECK_OK(put(f.ours, f.ours->owner, "c", "2"));
    CHECK_INT(1, drop(f.theirs, f.theirs->owner, "c"));
    CHECK_OK(put(f.ours, f.ours->owner, "new", "2"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "new", "3"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "fine", "3"));
    CHECK_RC(VALISE_E_CONFLICT, merge(f.ours, &f.base, f.theirs, owner_of(&f), &l, &conflicts));
    CHECK_TEXT("a: 1 2 3; b: 1 - 3; c: 1 2 -; new: - 2 3; ", l.text);
    CHECK_INT(4, conflicts);
    CHECK_TEXT("a=2 c=2 d=1 new=2", items(f.ours, &f.ours->ledger, f.ours->owner, NULL));
}

TEST(merge, asks_for_each_key)
{
    forks f = split(t);
    eyes n;
    log l;
    int64_t conflicts;

    CHECK_OK(put(f.theirs, f.theirs->owner, "a", "3"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "b", "3"));
    n = node_of(t, &f, "n", &(valise_permissions){.read = NAMES("*"), .write = NAMES("a")});
    CHECK_RC(VALISE_E_DENIED, merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("", l.text);
    CHECK_TEXT("a=1 b=1 c=1 d=1", items(f.ours, &f.ours->ledger, f.ours->owner, NULL));
    /* What it may not read it does not merge; what it may, it does. */
    n = node_of(t, &f, "m", &(valise_permissions){.deny = NAMES("b")});
    CHECK_OK(merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("merge a v2; ", l.text);
    CHECK_STR(VLS_STR("m"), commit_of(t, f.ours, 1).node_id);
}

/* What a node may not see in ours is not written over for that. [B17] */
TEST(merge, hidden_changes_are_conflicts_too)
{
    forks f = split(t);
    eyes n;
    log l;
    int64_t conflicts;

    CHECK_OK(
        put_with(f.ours, f.ours->owner, "a", "2", (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    CHECK_OK(put(f.theirs, f.theirs->owner, "a", "3"));
    CHECK_OK(put_with(f.ours, f.ours->owner, "new", "2",
                      (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    CHECK_OK(put(f.theirs, f.theirs->owner, "new", "3"));
    n = node_of(t, &f, "n", NULL);
    CHECK_RC(VALISE_E_CONFLICT, merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("a: 1 - 3; new: - - 3; ", l.text); /* and it does not see it here either */
}

/* What a node released there is no output of that node here. [B19] [B22] */
TEST(merge, what_was_released_stays_hidden_from_who_did)
{
    static const naive_options tainting = {.id = {{1}}, .name = {"b", 1}, .taint = true};
    bag *theirs = bag_open(t, &tainting), *ours;
    vls_scope *n = bag_node(t, theirs, "n", "", NULL), *m = bag_node(t, theirs, "m", "", NULL);
    vls_ledger base = at(t, theirs, "now");
    int64_t conflicts;
    log l;

    ours = bag_fork(t, theirs, &base);
    CHECK_OK(put_with(theirs, theirs->owner, "mail", "1",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
    CHECK_TEXT("1", get(theirs, n, "mail"));
    CHECK_OK(put(theirs, n, "mine", "2"));
    CHECK_OK(put(theirs, n, "out", "3"));
    CHECK_OK(jail(theirs, m, "out", "x"));
    CHECK_OK(unjail(theirs, m, "out", 0));
    CHECK_OK(merge(ours, &base, theirs, (eyes){ours->owner, theirs->owner, theirs->owner}, &l,
                   &conflicts));
    CHECK_OK(
        vls_bag_tag_rule(&ours->ledger, VLS_STR("pii"), NAMES("x"), UNSAID, &ours->arena, &t->err));
    n = bag_node(t, ours, "n", "", NULL);
    m = bag_node(t, ours, "m", "", NULL);
    CHECK_TEXT("2", get(ours, n, "mine"));
    CHECK_TEXT("(denied)", get(ours, m, "out"));
}

TEST(merge, lenient_leaves_out_what_is_denied)
{
    naive_options options = {.id = {{7}}, .name = VLS_STR("l"), .lenient = true};
    bag *ours = bag_open(t, &options), *theirs;
    vls_ledger base;
    eyes n;
    log l;
    int64_t conflicts;

    CHECK_OK(put(ours, ours->owner, "a", "1"));
    base = at(t, ours, "now");
    theirs = bag_fork(t, ours, &base);
    CHECK_OK(put(theirs, theirs->owner, "a", "2"));
    CHECK_OK(put(theirs, theirs->owner, "b", "2"));
    n.ours =
        bag_node(t, ours, "n", "", &(valise_permissions){.read = NAMES("*"), .write = NAMES("b")});
    n.base = n.ours;
    n.theirs = bag_node(t, theirs, "n", "", NULL);
    CHECK_OK(merge(ours, &base, theirs, n, &l, &conflicts));
    CHECK_TEXT("merge b v1; ", l.text);
    CHECK_TEXT("merge a denied by n; 2 merge b v1 by n", access_log(ours, ours->owner, "n", true));
}

static int write_more(void *arg, const valise_conflict *c, valise_error *err)
{
    (void)arg, (void)c, (void)err;
    return 9;
}

TEST(merge, whoever_is_told_can_end_it)
{
    forks f = split(t);
    const vls_scoped ours = {&f.ours->ledger, f.ours->owner}, base = {&f.base, f.b->owner},
                     theirs = {&f.theirs->ledger, f.theirs->owner};
    vls_merge_outcome outcome;
    vls_change_call call = {.now = 1, .arena = &f.ours->arena};

    CHECK_OK(put(f.ours, f.ours->owner, "a", "2"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "a", "3"));
    CHECK_INT(9, vls_bag_merge(&outcome, &ours, &base, &theirs, UNSAID, &call, NULL, write_more,
                               NULL, &t->err));
    CHECK_RC(VALISE_E_CONFLICT, vls_bag_merge(&outcome, &ours, &base, &theirs, UNSAID, &call, NULL,
                                              NULL, NULL, &t->err));
}

/* What a node may read is what the backpack says that it lies in. [B17] [B31] */
TEST(merge, each_backpack_has_its_own_rights)
{
    const valise_permissions no_a = {.deny = NAMES("a")};
    forks f = split(t);
    eyes n = node_of(t, &f, "n", NULL);
    log l;
    int64_t conflicts;

    CHECK_OK(put(f.theirs, f.theirs->owner, "a", "3"));
    CHECK_OK(put(f.theirs, f.theirs->owner, "b", "3"));
    n.theirs = bag_node(t, f.theirs, "n", "", &no_a);
    CHECK_OK(merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("merge b v2; ", l.text);
    /* Nor is it shown where both changed it. */
    CHECK_OK(put(f.theirs, f.theirs->owner, "c", "3"));
    CHECK_OK(put(f.ours, f.ours->owner, "c", "4"));
    n.theirs = bag_node(t, f.theirs, "n", "", NULL);
    n.base = bag_node(t, f.b, "n", "", &(valise_permissions){.deny = NAMES("c")});
    n.ours = bag_node(t, f.ours, "n", "", &(valise_permissions){.deny = NAMES("c")});
    CHECK_RC(VALISE_E_CONFLICT, merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("c: - - 3; ", l.text);
}

/* What is hidden there is not gone: nothing is deleted for it. */
TEST(merge, what_a_node_does_not_see_is_not_deleted)
{
    forks f = split(t);
    eyes n = node_of(t, &f, "n", NULL);
    log l;
    int64_t conflicts;

    CHECK_OK(put_with(f.theirs, f.theirs->owner, "a", "3",
                      (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    /* Nor does it see that this one is. */
    CHECK_OK(put_with(f.theirs, f.theirs->owner, "b", "3",
                      (vls_pack_args){PACK_ARGS, .read = NAMES("x")}));
    CHECK_INT(1, drop(f.theirs, f.theirs->owner, "b"));
    CHECK_INT(1, drop(f.theirs, f.theirs->owner, "c"));
    CHECK_OK(merge(f.ours, &f.base, f.theirs, n, &l, &conflicts));
    CHECK_TEXT("delete c v1; ", l.text);
    CHECK_TEXT("a=1 b=1 d=1", items(f.ours, &f.ours->ledger, f.ours->owner, NULL));
}

/* Who took it away is not known there: whoever changed the key before it did not. */
TEST(merge, a_deletion_of_nobody_is_of_nobody)
{
    forks f = split(t);
    log l;
    int64_t conflicts;

    f.theirs = bag_open(t, NULL);
    CHECK_OK(put_as(f.theirs, "x", "a", "9"));
    CHECK_OK(merge(f.ours, &f.base, f.theirs, owner_of(&f), &l, &conflicts));
    CHECK_TEXT("merge a v2; delete b v1; delete c v1; delete d v1; ", l.text);
    CHECK_TEXT("1 merge a v2 by x; 2 delete b v1 by unknown; 3 delete c v1 by unknown; "
               "4 delete d v1 by unknown",
               all_history(f.ours, f.ours->owner));
}
