/* remember.c -- what was merged is noted in rows; those that no later merge asks for go.
 *
 * There is one for each merge, and a backpack may live for long: a row goes once its state is older
 * than the history, and a later row says more, or what was merged was dropped and nobody else has
 * anything of it. */
#include "backpack/merging.h"

#include "base/uuid.h"
#include "base/vec.h"

typedef struct trimming {
    vls_merge_uses *uses;
    const valise_env *env;
    valise_uuid ours;
    int64_t edge;
    vls_vec(vls_merge_row) old; /* at or before the edge */
    vls_vec(int64_t) held;      /* seqs of states that checkpoints and forks hold */
} trimming;

static int note_old(void *arg, const void *row, valise_error *err)
{
    const vls_merge_row *merge = row;
    trimming *t = arg;

    if (merge->seq > t->edge)
        return 1; /* they come in the order of seqs */
    return vls_vec_push(&t->old, t->env, *merge) ? 0 : vls_fail_memory(err);
}

/* ---- others ---- */

/* Another backpack has this one up to a commit: it was forked from it, or merged it. Stored ones
 * are found for what is stored, those in memory for what is there. */
typedef int other_fn(trimming *t, bool forked, int64_t upto, valise_error *err);

static int each_stored_fork(trimming *t, const valise_uuid *of, other_fn *fn, valise_error *err)
{
    const vls_bag_row probe = {.origin = *of};
    const valise_select select = {.index = "origin", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row row;
    int rc = valise_view_scan(&scan, t->uses->ours.view, &vls_bags, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = fn(t, true, row.origin_seq, err);
    return rc;
}

static int each_stored_merge(trimming *t, const valise_uuid *of, other_fn *fn, valise_error *err)
{
    const vls_merge_row probe = {.theirs = *of};
    const valise_select select = {.index = "theirs", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_merge_row row;
    int rc = valise_view_scan(&scan, t->uses->ours.view, &vls_bag_merges, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = vls_uuid_equal(&row.backpack, &t->ours) ? 0 : fn(t, false, row.upto, err);
    return rc;
}

typedef struct ring_merges {
    trimming *t;
    const valise_uuid *of;
    other_fn *fn;
} ring_merges;

static int tell_ring_merge(void *arg, const void *row, valise_error *err)
{
    const vls_merge_row *merge = row;
    const ring_merges *m = arg;

    return vls_uuid_equal(&merge->theirs, m->of) ? m->fn(m->t, false, merge->upto, err) : 0;
}

static int tell_ring(trimming *t, const vls_ledger *ledger, const valise_uuid *of, other_fn *fn,
                     valise_error *err)
{
    ring_merges m = {t, of, fn};
    vls_ledger_head head;
    int rc = vls_look_head(&head, ledger, err);

    if (rc < 0 || vls_uuid_equal(&head.id, &t->ours))
        return rc;
    if (vls_uuid_equal(&head.origin, of))
        rc = fn(t, true, head.origin_seq, err);
    return rc != 0 ? rc
                   : ledger->ops->each_row(ledger->self, &vls_bag_merges, tell_ring_merge, &m, err);
}

static int each_ring(trimming *t, const valise_uuid *of, other_fn *fn, valise_error *err)
{
    valise *v = vls_view_bus(t->uses->ours.view);
    vls_ephemeral **list = NULL;
    size_t count = 0;
    int rc = vls_ephemeral_list(&list, &count, v, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const vls_ledger ledger = vls_ring_ledger(list[i]->ring);
        rc = tell_ring(t, &ledger, of, fn, err);
    }
    vls_ephemeral_list_free(list, count, v);
    return rc;
}

/* 0, or the first result of fn that is not. */
static int each_other(trimming *t, const valise_uuid *of, other_fn *fn, valise_error *err)
{
    int rc;

    if (t->uses->ours.memory)
        return each_ring(t, of, fn, err);
    rc = each_stored_fork(t, of, fn, err);
    return rc == 0 ? each_stored_merge(t, of, fn, err) : rc;
}

/* ---- what is held ---- */

static int note_held(trimming *t, bool forked, int64_t seq, valise_error *err)
{
    return !forked || seq > t->edge || vls_vec_push(&t->held, t->env, seq) ? 0
                                                                           : vls_fail_memory(err);
}

static int note_checkpoint(void *arg, const void *row, valise_error *err)
{
    return note_held(arg, true, ((const vls_bag_checkpoint_row *)row)->seq, err);
}

/* Where one alone is old, it makes no difference what is held. */
static int gather_held(trimming *t, valise_error *err)
{
    const vls_ledger *ledger = &t->uses->ours.ledger;
    int rc;

    if (t->old.len < 2)
        return 0;
    rc = ledger->ops->each_row(ledger->self, &vls_bag_checkpoints, note_checkpoint, t, err);
    if (rc < 0)
        return rc;
    return t->uses->ours.memory ? each_ring(t, &t->ours, note_held, err)
                                : each_stored_fork(t, &t->ours, note_held, err);
}

/* Is there a state that is held with first <= seq < end? */
static bool is_held(const trimming *t, int64_t first, int64_t end)
{
    for (size_t i = 0; i < t->held.len; i++) {
        if (t->held.ptr[i] >= first && t->held.ptr[i] < end)
            return true;
    }
    return false;
}

/* ---- trimming ---- */

static int is_there(trimming *t, bool forked, int64_t upto, valise_error *err)
{
    (void)t;
    (void)forked;
    (void)upto;
    (void)err;
    return 1;
}

/* Does a state that can be seen need it? Not when a later one says more, and no state between them
 * is held; nor when it was dropped, unless somebody else has something of it: what both have must
 * be known as such. 1, 0. */
static int is_needed(trimming *t, size_t at, valise_error *err)
{
    const vls_merge_row *merge = &t->old.ptr[at];
    VLS_AUTO(use) vls_use use = {0};
    int rc;

    for (size_t i = at + 1; i < t->old.len; i++) {
        const vls_merge_row *later = &t->old.ptr[i];
        if (vls_uuid_equal(&later->theirs, &merge->theirs) && later->upto >= merge->upto &&
            !is_held(t, merge->seq, later->seq))
            return 0;
    }
    rc = vls_use_begin_id(&use, t->uses->ours.view, &merge->theirs, err);
    if (rc == VALISE_E_NOT_FOUND)
        return each_other(t, &merge->theirs, is_there, err);
    return rc < 0 ? rc : 1;
}

static int trim(vls_merge_uses *uses, const vls_ledger_head *ours, valise_error *err)
{
    const vls_ledger *ledger = &uses->ours.ledger;
    trimming t = {
        .uses = uses, .env = uses->ours.view->arena.env, .ours = ours->id, .edge = ours->edge};
    int rc = ledger->ops->each_row(ledger->self, &vls_bag_merges, note_old, &t, err);

    if (rc >= 0)
        rc = gather_held(&t, err);
    for (size_t i = 0; i < t.old.len && rc >= 0; i++) {
        rc = is_needed(&t, i, err);
        if (rc != 0)
            continue;
        ledger->ops->enter(ledger->self);
        rc = ledger->ops->row_delete(ledger->self, &vls_bag_merges, &t.old.ptr[i], err);
        ledger->ops->leave(ledger->self);
    }
    vls_vec_release(&t.old, t.env);
    vls_vec_release(&t.held, t.env);
    return rc < 0 ? rc : 0;
}

/* Between enter and leave. */
static int put_rows(vls_merge_uses *uses, const vls_ledger_head *ours, valise_error *err)
{
    const vls_ledger *ledger = &uses->ours.ledger;
    int rc = 0;

    for (size_t i = 0; i < uses->brought.len && rc == 0; i++) {
        vls_merge_row *row = &uses->brought.ptr[i];
        row->backpack = ours->id;
        row->seq = ours->last;
        rc = ledger->ops->row_put(ledger->self, &vls_bag_merges, row, err);
    }
    return rc;
}

int vls_merge_remember(vls_merge_uses *uses, valise_error *err)
{
    const vls_ledger *ledger = &uses->ours.ledger;
    vls_ledger_head ours = {.edge = 0};
    int rc;

    if (uses->brought.len == 0)
        return 0;
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&ours, ledger->self, err);
    if (rc == 0)
        rc = put_rows(uses, &ours, err);
    ledger->ops->leave(ledger->self);
    if (rc == 0)
        rc = trim(uses, &ours, err);
    /* What was merged into memory stays. Without room for this a later merge asks about changes
     * that it could have known. */
    return rc == VALISE_E_NO_MEMORY && uses->ours.memory ? 0 : rc;
}
