/* diff.c -- what is different between two states.
 *
 * Where both are of the same kind of ledger, it knows which keys to look at, and the cost goes with
 * those. Else the items of both are walked through side by side. */
#include "backpack/look_impl.h"

#include "base/hash.h"
#include "base/vec.h"

typedef struct diff {
    vls_scoped a, b;
    bool labels;
    bool begun; /* a key was looked at */
    valise_change_fn *fn;
    void *arg;
    /* Item by item: those of a, sorted as they came. */
    vls_arena arena;
    vls_vec(valise_commit) items;
    size_t next;
} diff;

static const valise_commit *item_of(const valise_commit *commit)
{
    return commit && vls_commit_is_live(commit) ? commit : NULL;
}

/* Does the history that led to a have this commit? */
static bool knows(const vls_ledger *a, const valise_commit *commit)
{
    bool known;

    a->ops->enter(a->self);
    known = a->ops->includes(a->self, &commit->backpack, commit->seq);
    a->ops->leave(a->self);
    return known;
}

/* Both sides as far as they may be seen: what may not is as if it were not there. */
static int tell(diff *d, valise_str key, const valise_commit *before, const valise_commit *after,
                const valise_commit *by, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *old_value = NULL;
    VLS_AUTO(blob) valise_blob *new_value = NULL;
    const vls_scoped *b = &d->b;
    valise_commit old, new, last;
    valise_change change = {.key = key};
    int rc = 0;

    if (before)
        rc = vls_look_show(d->labels ? NULL : &old_value, &old, d->a.ledger, d->a.scope, before,
                           err);
    if (rc == 1)
        change.before = &old;
    if (rc >= 0)
        rc = after ? vls_look_show(d->labels ? NULL : &new_value, &new, b->ledger, b->scope, after,
                                   err)
                   : 0;
    if (rc == 1)
        change.after = &new;
    if (rc < 0 || ((before || after) && !change.before && !change.after))
        return rc < 0 ? rc : 0;
    if (by && by != after)
        rc = vls_look_show(NULL, &last, b->ledger, b->scope, by, err);
    if (rc < 0)
        return rc;
    if (by && !knows(d->a.ledger, by) && (by == after ? change.after != NULL : rc == 1))
        change.by = by == after ? &new : &last;
    if (!before && !after && !change.by)
        return 0;
    change.kind = !change.after    ? VALISE_CHANGE_DELETED
                  : !change.before ? VALISE_CHANGE_ADDED
                                   : VALISE_CHANGE_MODIFIED;
    change.old_value = old_value;
    change.new_value = new_value;
    return d->fn(d->arg, &change, err);
}

bool vls_commit_same_item(const valise_commit *a, const valise_commit *b)
{
    return vls_id_equal(&a->value, &b->value) && !a->namespace_name.ptr == !b->namespace_name.ptr &&
           vls_str_equal(a->namespace_name, b->namespace_name) &&
           vls_bag_same_names(a->read, b->read) && vls_bag_same_names(a->write, b->write) &&
           (a->tags.count == 0 ? b->tags.count == 0 : vls_bag_same_names(a->tags, b->tags));
}

static bool is_same(const diff *d, const valise_commit *before, const valise_commit *after)
{
    return d->labels ? vls_commit_same_item(before, after)
                     : vls_id_equal(&before->value, &after->value);
}

/* Neither is an item: what b has in quarantine is new, unless a has the same there. */
static bool is_new_entry(const valise_commit *in_a, const valise_commit *in_b)
{
    if (!in_b || in_b->action != VALISE_ACTION_QUARANTINE)
        return false;
    return !in_a || in_a->action != VALISE_ACTION_QUARANTINE ||
           !vls_id_equal(&in_a->value, &in_b->value) ||
           !vls_str_equal(in_a->reason, in_b->reason) || !vls_str_equal(in_a->error, in_b->error);
}

/* The newest commits of a key on both sides, items or not. */
static int compare(void *arg, const valise_commit *in_a, const valise_commit *in_b,
                   valise_error *err)
{
    diff *d = arg;
    const valise_commit *before = item_of(in_a), *after = item_of(in_b);

    d->begun = true;
    if (!before && !after)
        return d->labels && is_new_entry(in_a, in_b) ? tell(d, in_b->key, NULL, NULL, in_b, err)
                                                     : 0;
    if (before && after && is_same(d, before, after))
        return 0;
    return tell(d, before ? before->key : after->key, before, after, in_b, err);
}

/* ---- item by item ---- */

static int keep(void *arg, const valise_commit *commit, valise_error *err)
{
    diff *d = arg;
    valise_commit copy = {0};
    int rc = vls_commit_copy(&copy, commit, &d->arena, err);

    if (rc == 0 && !vls_vec_push(&d->items, d->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

/* An item of a that b does not have: the newest commit of the key in b took it away. */
static int tell_gone(diff *d, const valise_commit *before, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const vls_ledger *b = d->b.ledger;
    valise_commit by = {0};
    int rc;

    vls_arena_init(&arena, vls_scope_env(d->b.scope), SIZE_MAX);
    b->ops->enter(b->self);
    rc = b->ops->newest(&by, b->self, before->key, err);
    if (rc == 1) {
        rc = vls_commit_copy(&by, &by, &arena, err);
        rc = rc < 0 ? rc : 1;
    }
    b->ops->leave(b->self);
    return rc < 0 ? rc : tell(d, before->key, before, NULL, rc == 1 ? &by : NULL, err);
}

static int pass_gone(diff *d, const valise_str *up_to, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && d->next < d->items.len &&
           (!up_to || vls_str_compare(d->items.ptr[d->next].key, *up_to) < 0))
        rc = tell_gone(d, &d->items.ptr[d->next++], err);
    return rc;
}

static int join(void *arg, const valise_commit *commit, valise_error *err)
{
    diff *d = arg;
    const valise_commit *before = NULL;
    int rc = pass_gone(d, &commit->key, err);

    if (rc != 0)
        return rc;
    if (d->next < d->items.len && vls_str_equal(d->items.ptr[d->next].key, commit->key))
        before = &d->items.ptr[d->next++];
    return compare(d, before, commit, err);
}

static int by_items(diff *d, valise_error *err)
{
    const vls_ledger *a = d->a.ledger, *b = d->b.ledger;
    int rc;

    vls_arena_init(&d->arena, vls_scope_env(d->a.scope), SIZE_MAX);
    rc = a->ops->each_item(a->self, keep, d, err);
    if (rc == 0)
        rc = b->ops->each_item(b->self, join, d, err);
    if (rc == 0)
        rc = pass_gone(d, NULL, err);
    vls_vec_release(&d->items, d->arena.env);
    vls_arena_release(&d->arena);
    return rc;
}

int vls_bag_diff(const vls_scoped *a, const vls_scoped *b, bool labels, valise_change_fn *fn,
                 void *arg, valise_error *err)
{
    diff d = {.a = *a, .b = *b, .labels = labels, .fn = fn, .arg = arg};
    const vls_ledger_ops *ops = a->ledger->ops;
    valise_error cannot = VALISE_ERROR_INIT;
    int rc;

    if (ops->each_difference != b->ledger->ops->each_difference)
        return by_items(&d, err);
    rc = ops->each_difference(a->ledger->self, b->ledger->self, compare, &d, &cannot);
    if (rc == VALISE_E_UNSUPPORTED && !d.begun)
        return by_items(&d, err);
    if (rc < 0 && err)
        *err = cannot;
    return rc;
}
