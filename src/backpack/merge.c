/* merge.c -- bring what one fork changed into another.
 *
 *     diff(base, ours)     all of it: what a node may not see must not be written over either
 *     diff(base, theirs)   what it may read there: each backpack says that for itself
 *
 * Both come in the order of keys and are joined. A key that only theirs changed is taken over, with
 * who did it; one that both changed to the same item needs nothing; any other is a conflict, and
 * then nothing at all is merged. What theirs put into quarantine goes there in ours, unless ours
 * has such an entry, or had: of one that is older than its history a base does not tell.
 *
 * Where merges crossed, several states are the newest that both have in common. Of a key in which
 * these differ nobody knows who changed it since: taking one of them for the base, what one side
 * took back would come again. Such a key is a *doubt*, and a conflict unless both have the same. */
#include "backpack/decide_impl.h"
#include "backpack/look_impl.h"

#include "base/hash.h"
#include "base/vec.h"

#include <stdlib.h>

typedef struct change {
    valise_str key;
    bool has_before, has_after, has_end;
    valise_commit before, after; /* copies */
    valise_commit end;           /* what took it away */
    valise_blob *value;          /* of after, or of what is in quarantine; once it was fetched */
    int64_t entry; /* ours has it in quarantine, and theirs brought it back; 0: not so */
    bool entered;  /* ours has or had the same entry in quarantine */
} change;

typedef struct side {
    vls_arena *arena;
    vls_vec(change) changes;
} side;

typedef struct merge {
    vls_scoped ours, base, theirs;
    valise_list doubts;
    const vls_change_call *call;
    side our_side, their_side;
    int64_t last;   /* of ours, when it was compared */
    size_t allowed; /* of their changes */
    bool partial;   /* some of them the node did not see, or may not write */
    vls_vec(vls_done) done;
} merge;

/* ---- comparing ---- */

static int collect(void *arg, const valise_change *c, valise_error *err)
{
    side *s = arg;
    change copy = {.has_before = c->before != NULL, .has_after = c->after != NULL};
    int rc = vls_arena_dup(&copy.key, s->arena, c->key, err);

    if (rc == 0 && c->before)
        rc = vls_commit_copy(&copy.before, c->before, s->arena, err);
    if (rc == 0 && c->after)
        rc = vls_commit_copy(&copy.after, c->after, s->arena, err);
    copy.has_end = !c->after && c->by;
    if (rc == 0 && copy.has_end)
        rc = vls_commit_copy(&copy.end, c->by, s->arena, err);
    if (rc == 0 && !vls_vec_push(&s->changes, s->arena->env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

/* A value that a node may not read there it does not bring along; nor that it is gone, where it
 * would not see that. */
static int collect_seen(void *arg, const valise_change *c, valise_error *err)
{
    merge *m = arg;
    const vls_scoped *from = c->after ? &m->theirs : &m->base;
    const valise_commit *item = c->after ? c->after : c->before;
    int rc = item ? vls_look_show(NULL, NULL, from->ledger, from->scope, item, err) : 1;

    if (rc == 1 && !c->after && c->by)
        rc = vls_look_show(NULL, NULL, m->theirs.ledger, m->theirs.scope, c->by, err);
    m->partial |= rc == 0;
    return rc <= 0 ? rc : collect(&m->their_side, c, err);
}

static int compare(merge *m, valise_error *err)
{
    VLS_AUTO(scope) vls_scope *owner = NULL;
    vls_ledger_head head;
    int rc = vls_look_head(&head, m->ours.ledger, err);

    if (rc < 0)
        return rc;
    m->last = head.last;
    m->our_side.arena = m->their_side.arena = m->call->arena;
    rc = vls_scope_new(&owner, vls_scope_env(m->ours.scope), m->ours.ledger, NULL, err);
    if (rc == 0)
        rc = vls_bag_diff(&(vls_scoped){m->base.ledger, owner},
                          &(vls_scoped){m->ours.ledger, owner}, true, collect, &m->our_side, err);
    if (rc == 0)
        rc = vls_bag_diff(&(vls_scoped){m->base.ledger, owner},
                          &(vls_scoped){m->theirs.ledger, owner}, true, collect_seen, m, err);
    return rc;
}

static bool is_quarantined(const change *c)
{
    return c->has_end && c->end.action == VALISE_ACTION_QUARANTINE;
}

/* An entry of the quarantine about what was no item before changes none. */
static bool is_change(const change *c)
{
    return c->has_before || c->has_after;
}

static int compare_key(const void *key, const void *item)
{
    return vls_str_compare(*(const valise_str *)key, ((const change *)item)->key);
}

/* Is an entry of ours what theirs has in quarantine? */
static int note_entry(void *arg, const void *row, valise_error *err)
{
    const vls_quarantine_row *entry = row;
    merge *m = arg;
    const vls_ledger *ours = m->ours.ledger;
    change *c = bsearch(&entry->key, m->their_side.changes.ptr, m->their_side.changes.len,
                        sizeof(*c), compare_key);
    valise_commit put;
    int rc;

    if (!c || !is_quarantined(c))
        return 0;
    ours->ops->enter(ours->self);
    rc = ours->ops->commit(&put, ours->self, vls_entry_backpack(entry), vls_entry_seq(entry), err);
    c->entered |= rc == 1 && vls_id_equal(&put.value, &c->end.value) &&
                  vls_str_equal(put.reason, c->end.reason) &&
                  vls_str_equal(put.error, c->end.error);
    ours->ops->leave(ours->self);
    return rc < 0 ? rc : 0;
}

/* Those that are in ours, and about no item of the base, are no changes of theirs. */
static int drop_entered(merge *m, valise_error *err)
{
    const vls_ledger *ours = m->ours.ledger;
    change *theirs = m->their_side.changes.ptr;
    size_t first = 0, kept = 0;
    int rc;

    while (first < m->their_side.changes.len && !is_quarantined(&theirs[first]))
        first++;
    if (first == m->their_side.changes.len)
        return 0;
    rc = ours->ops->each_row(ours->self, &vls_bag_quarantines, note_entry, m, err);
    for (size_t i = 0; i < m->their_side.changes.len; i++) {
        if (is_change(&theirs[i]) || !theirs[i].entered)
            theirs[kept++] = theirs[i];
    }
    m->their_side.changes.len = kept;
    return rc;
}

static bool same_end(const change *a, const change *b)
{
    if (!a->has_after || !b->has_after)
        return a->has_after == b->has_after;
    return vls_commit_same_item(&a->after, &b->after);
}

/* The value and the commit of one side of a conflict, as far as they may be seen. */
static int show_side(valise_blob **value, const valise_commit **commit, valise_commit *shown,
                     const vls_scoped *from, bool has, const valise_commit *given,
                     valise_error *err)
{
    int rc = has ? vls_look_show(value, shown, from->ledger, from->scope, given, err) : 0;

    if (rc == 1)
        *commit = shown;
    return rc < 0 ? rc : 0;
}

/* Who made a side what it is, as far as that may be seen. */
static int show_change(const valise_commit **out, valise_commit *shown, const vls_scoped *from,
                       const change *c, valise_error *err)
{
    return show_side(NULL, out, shown, from, c->has_after || c->has_end,
                     c->has_after ? &c->after : &c->end, err);
}

static int tell_conflict(const merge *m, const change *ours, const change *theirs,
                         valise_conflict_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *base_value = NULL;
    VLS_AUTO(blob) valise_blob *our_value = NULL;
    VLS_AUTO(blob) valise_blob *their_value = NULL;
    valise_commit shown[5];
    valise_conflict conflict = {.key = theirs->key};
    int rc = show_side(&base_value, &conflict.base, &shown[0], &m->base, ours->has_before,
                       &ours->before, err);

    if (rc == 0)
        rc = show_side(&our_value, &conflict.ours, &shown[1], &m->ours, ours->has_after,
                       &ours->after, err);
    if (rc == 0)
        rc = show_side(&their_value, &conflict.theirs, &shown[2], &m->theirs, theirs->has_after,
                       &theirs->after, err);
    if (rc == 0)
        rc = show_change(&conflict.our_change, &shown[3], &m->ours, ours, err);
    if (rc == 0)
        rc = show_change(&conflict.their_change, &shown[4], &m->theirs, theirs, err);
    if (rc < 0)
        return rc;
    conflict.base_value = base_value;
    conflict.our_value = our_value;
    conflict.their_value = their_value;
    return fn ? fn(arg, &conflict, err) : 0;
}

/* The other side of a change that only one side made. */
static change unchanged(const change *c)
{
    return (change){.key = c->key,
                    .has_before = c->has_before,
                    .has_after = c->has_before,
                    .before = c->before,
                    .after = c->before};
}

/* Who is told of conflicts, and how many there are. */
typedef struct clashes {
    int64_t *count;
    valise_conflict_fn *fn;
    void *arg;
} clashes;

static int clash(const merge *m, const clashes *c, const change *ours, const change *theirs,
                 valise_error *err)
{
    ++*c->count;
    return tell_conflict(m, ours, theirs, c->fn, c->arg, err);
}

/* Only ours changed it. */
static int join_ours(const merge *m, const clashes *c, const change *ours, valise_error *err)
{
    change theirs = unchanged(ours);

    return is_change(ours) && vls_bag_has_name(m->doubts, ours->key)
               ? clash(m, c, ours, &theirs, err)
               : 0;
}

/* Only theirs changed it: *take says whether it is taken over. */
static int join_theirs(bool *take, const merge *m, const clashes *c, const change *theirs,
                       valise_error *err)
{
    change ours = unchanged(theirs);

    *take = !is_change(theirs) || !vls_bag_has_name(m->doubts, theirs->key);
    return *take ? 0 : clash(m, c, &ours, theirs, err);
}

static int join_both(bool *take, const merge *m, const clashes *c, const change *ours,
                     const change *theirs, valise_error *err)
{
    if (!is_change(ours))
        return join_theirs(take, m, c, theirs, err);
    if (is_quarantined(theirs) && !ours->has_after) {
        *take = !theirs->entered; /* it is no item either way: their entry comes along */
        return 0;
    }
    return same_end(ours, theirs) ? 0 : clash(m, c, ours, theirs, err);
}

/* Join both sides: conflicts are told and counted, the rest of their changes stays in the list. */
static int join(merge *m, int64_t *conflicts, valise_conflict_fn *fn, void *arg, valise_error *err)
{
    const change *ours = m->our_side.changes.ptr;
    change *theirs = m->their_side.changes.ptr;
    const clashes c = {conflicts, fn, arg};
    size_t i = 0, end = m->our_side.changes.len, kept = 0;
    int rc = drop_entered(m, err);

    for (size_t k = 0; k < m->their_side.changes.len && rc == 0; k++) {
        bool take = false;
        for (; rc == 0 && i < end && vls_str_compare(ours[i].key, theirs[k].key) < 0; i++)
            rc = join_ours(m, &c, &ours[i], err);
        if (rc != 0)
            break;
        if (i < end && vls_str_equal(ours[i].key, theirs[k].key))
            rc = join_both(&take, m, &c, &ours[i++], &theirs[k], err);
        else
            rc = join_theirs(&take, m, &c, &theirs[k], err);
        if (take)
            theirs[kept++] = theirs[k];
    }
    for (; rc == 0 && i < end; i++)
        rc = join_ours(m, &c, &ours[i], err);
    m->their_side.changes.len = kept;
    return rc;
}

/* ---- taking over ---- */

static int64_t action_of(const change *c)
{
    if (c->has_after)
        return VALISE_ACTION_MERGE;
    return is_quarantined(c) ? VALISE_ACTION_QUARANTINE : VALISE_ACTION_DELETE;
}

/* Those that may be written come first, in their order: m->allowed of them. */
static int check_all(merge *m, vls_write *w, valise_error *err)
{
    change *theirs = m->their_side.changes.ptr;
    int rc = 0;

    for (size_t k = 0; k < m->their_side.changes.len && rc >= 0; k++) {
        change c = theirs[k];
        rc = vls_write_find(w, c.key, action_of(&c), err);
        if (rc < 0 || (!c.has_after && !w->live && !is_quarantined(&c)))
            continue;
        rc = vls_write_check(w, "merge", w->live ? &w->newest : NULL,
                             c.has_after ? c.after.namespace_name
                             : w->live   ? w->newest.namespace_name
                                         : c.end.namespace_name,
                             err);
        if (rc == 1) {
            theirs[k] = theirs[m->allowed];
            theirs[m->allowed++] = c;
        }
        m->partial |= rc == 0;
    }
    return rc < 0 ? rc : 0;
}

/* Make an item of what theirs has, or had when it was put into quarantine. */
static int bring_item(vls_write *w, const change *c, const valise_commit *item, valise_error *err)
{
    const vls_ledger *ledger = w->ledger;
    vls_quarantine_row before, entry = {.backpack = w->head.id, .seq = c->entry};
    valise_commit tagged = *item;
    int rc = 0;

    /* The commit will be one of the node that released it: not its marks, then. */
    if (!vls_commit_gives_value(item))
        tagged.taints = (valise_list){NULL, 0};
    w->commit.namespace_name = item->namespace_name;
    w->commit.read = item->read;
    w->commit.write = item->write;
    w->commit.value = item->value;
    w->commit.entry = item->seq;
    rc = vls_write_taint(w, &tagged, (valise_list){NULL, 0}, (valise_list){NULL, 0}, err);
    if (rc == 0)
        rc = vls_arena_dup(&w->commit.summary, w->call->arena,
                           vls_commit_summary(vls_blob_bytes(c->value), w->commit.tags), err);
    if (rc < 0 || c->entry == 0 || w->live)
        return rc < 0 ? rc : vls_write_append(w, c->value, err);
    /* What theirs released is released here too. */
    rc = ledger->ops->row_get(&entry, ledger->self, &vls_bag_quarantines, err);
    before = entry;
    entry.released = w->head.last + 1;
    if (rc == 1)
        rc = ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &entry, err);
    if (rc < 0)
        return rc;
    rc = vls_write_append(w, c->value, err);
    if (rc < 0)
        (void)ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &before, NULL);
    return rc;
}

/* With the item that theirs put there: where ours has another one, that one comes first. */
static int quarantine(merge *m, vls_write *w, const change *c, valise_error *err)
{
    static const valise_uuid said = {{0}};
    vls_quarantine_args args = {.key = c->key,
                                .reason = c->end.reason,
                                .error = c->end.error,
                                .taints = c->end.taints,
                                .forget = c->has_before && vls_id_is_none(&c->end.value)};
    int rc = 0;

    if (args.forget && !w->live)
        return 0;
    rc = vls_taints_move(&args.taints, &c->end.backpack, &said, w->call->arena, err);
    if (rc < 0)
        return rc;
    if (c->value && !(w->live && vls_id_equal(&w->newest.value, &c->end.value))) {
        w->commit.action = VALISE_ACTION_MERGE;
        w->commit.version += 1;
        rc = bring_item(w, c, &c->end, err);
        if (rc == 0)
            vls_write_done(&m->done.ptr[m->done.len++], w);
        if (rc == 0)
            rc = vls_write_find(w, c->key, VALISE_ACTION_QUARANTINE, err);
    }
    return rc < 0 ? rc : vls_write_quarantine(w, &args, err);
}

static int take_over(merge *m, vls_write *w, const change *c, valise_error *err)
{
    const valise_commit *by = c->has_after ? &c->after : &c->end;
    int rc;

    if (c->has_after || c->has_end)
        vls_write_as(w, by->node_id, by->node_name);
    else
        vls_write_as(w, vls_scope_node_id(w->scope), vls_scope_node_name(w->scope));
    rc = vls_write_find(w, c->key, action_of(c), err);
    if (rc < 0)
        return rc;
    if (c->has_after)
        return bring_item(w, c, &c->after, err);
    if (is_quarantined(c))
        return quarantine(m, w, c, err);
    rc = vls_write_keep_item(w, &w->newest, err);
    return rc < 0 ? rc : vls_write_append(w, NULL, err);
}

/* An item of theirs whose value was erased cannot be taken over; an entry goes without it. */
static int get_value(change *c, const vls_ledger *theirs, valise_error *err)
{
    int rc;

    theirs->ops->enter(theirs->self);
    rc = vls_look_value(&c->value, theirs, c->has_after ? &c->after : &c->end, err);
    theirs->ops->leave(theirs->self);
    if (rc < 0 || c->value || !c->has_after)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the value of '%.*s' was erased on the other side",
                   VALISE_STR_ARG(c->key));
    vls_hint(err, "remove the item there, and merge again");
    return VALISE_E_NOT_FOUND;
}

/* What must be known of either side before ours is entered: two ledgers are never entered at once.
 */
static int get_values(merge *m, valise_error *err)
{
    int rc = 0;

    for (size_t k = 0; k < m->their_side.changes.len && rc >= 0; k++) {
        change *c = &m->their_side.changes.ptr[k];
        if (c->has_after || is_quarantined(c))
            rc = get_value(c, m->theirs.ledger, err);
        if (rc == 0 && c->has_after && c->after.action == VALISE_ACTION_RELEASE)
            rc = vls_entry_newest(&c->entry, m->ours.ledger, c->key, err);
    }
    return rc < 0 ? rc : 0;
}

static int write_all(merge *m, vls_write *w, valise_error *err)
{
    int rc;

    if (w->head.last != m->last)
        return vls_fail(err, VALISE_E_BUSY,
                        "the backpack was changed while it was being compared: try again");
    rc = check_all(m, w, err);
    if (rc == 0 && !vls_vec_reserve(&m->done, m->call->arena->env, 2 * m->allowed))
        rc = vls_fail_memory(err);
    for (size_t k = 0; k < m->allowed && rc == 0; k++) {
        rc = take_over(m, w, &m->their_side.changes.ptr[k], err);
        if (rc == 0 && w->commit.seq > 0)
            vls_write_done(&m->done.ptr[m->done.len++], w);
    }
    return rc;
}

static int bring_in(merge *m, valise_error *err)
{
    static const valise_str none = {NULL, 0};
    vls_write w;
    int rc = get_values(m, err);

    if (rc == 0)
        rc = vls_write_begin(&w, m->ours.ledger, m->ours.scope, none, none, m->call, err);
    if (rc < 0)
        return rc;
    rc = write_all(m, &w, err);
    vls_write_end(&w);
    return rc;
}

static void release(merge *m)
{
    const valise_env *env = m->call->arena->env;

    for (size_t k = 0; k < m->their_side.changes.len; k++)
        valise_blob_unref(m->their_side.changes.ptr[k].value);
    vls_vec_release(&m->our_side.changes, env);
    vls_vec_release(&m->their_side.changes, env);
    vls_vec_release(&m->done, env);
}

int vls_bag_merge(vls_merge_outcome *out, const vls_scoped *ours, const vls_scoped *base,
                  const vls_scoped *theirs, valise_list doubts, const vls_change_call *call,
                  vls_done_fn *fn, valise_conflict_fn *conflict, void *arg, valise_error *err)
{
    merge m = {.ours = *ours, .base = *base, .theirs = *theirs, .doubts = doubts, .call = call};
    int64_t count = 0;
    int rc = compare(&m, err);

    if (rc == 0)
        rc = join(&m, &count, conflict, arg, err);
    if (rc == 0 && count > 0) {
        rc = vls_fail(err, VALISE_E_CONFLICT,
                      "both sides changed %lld of the keys: nothing was "
                      "merged",
                      (long long)count);
        vls_hint(err, "make the values of one side equal to the other's and merge again");
    }
    if (rc == 0)
        rc = bring_in(&m, err);
    *out = (vls_merge_outcome){count, !m.partial};
    for (size_t i = 0; i < m.done.len; i++) {
        int told = fn ? fn(arg, &m.done.ptr[i], rc == 0 ? err : NULL) : 0;
        rc = rc == 0 ? told : rc;
    }
    release(&m);
    return rc;
}

int vls_bag_conflicts(const vls_scoped *ours, const vls_scoped *base, const vls_scoped *theirs,
                      valise_list doubts, vls_arena *arena, valise_conflict_fn *fn, void *arg,
                      valise_error *err)
{
    const vls_change_call call = {.arena = arena};
    merge m = {.ours = *ours, .base = *base, .theirs = *theirs, .doubts = doubts, .call = &call};
    int64_t count = 0;
    int rc = compare(&m, err);

    if (rc == 0)
        rc = join(&m, &count, fn, arg, err);
    release(&m);
    return rc;
}
