/* api_travel.c -- the C functions that go to other states: snapshots, checkpoints, forks, bisect.
 */
#include "backpack/handle.h"

/* ---- snapshots ---- */

typedef struct travelling {
    vls_point point;
    int64_t seq;
    vls_ledger frozen; /* of a ring */
    bool freeze;
} travelling;

static int travel(void *arg, const vls_glance *at, valise_error *err)
{
    travelling *t = arg;
    const vls_ledger *ledger = at->seen->ledger;
    int rc = vls_point_resolve(&t->seq, ledger, at->seen->scope, &t->point, err);

    if (rc == 0 && t->freeze)
        rc = ledger->ops->freeze(&t->frozen, ledger->self, t->seq, err);
    return rc;
}

static int snapshot_quietly(valise_backpack **out, valise_backpack *bag, const vls_point *point,
                            valise_error *err)
{
    travelling t = {.point = *point, .freeze = bag->ring != NULL};
    valise_backpack *child = NULL;
    int rc = vls_handle_child(&child, bag, err);

    if (rc < 0)
        return rc;
    rc = vls_handle_read(bag, travel, &t, err);
    child->snapshot = true;
    child->upto = t.seq;
    child->frozen = t.frozen;
    /* The same node, under the same permissions: what it reads here it has read. The parent
     * outlives the child. */
    child->node = bag->node;
    child->who = bag->who;
    child->scope = bag->scope;
    child->lent = true;
    if (rc < 0)
        valise_backpack_close(child);
    else
        *out = child;
    return rc;
}

static int snapshot(valise_backpack **out, valise_backpack *bag, const vls_point *point,
                    valise_error *err)
{
    int rc = snapshot_quietly(out, bag, point, err);

    if (rc == 0)
        vls_handle_tell_snapshot(*out);
    return rc;
}

int valise_snapshot(valise_backpack **out, valise_backpack *bag, int64_t time, valise_error *err)
{
    VLS_ARG(out && bag, err);
    return snapshot(out, bag, &(vls_point){.kind = VLS_POINT_TIME, .number = time}, err);
}

int valise_snapshot_named(valise_backpack **out, valise_backpack *bag, const char *checkpoint,
                          valise_error *err)
{
    VLS_ARG(out && bag && checkpoint, err);
    return snapshot(out, bag,
                    &(vls_point){.kind = VLS_POINT_NAME, .text = valise_str_of(checkpoint)}, err);
}

int valise_snapshot_at_commit(valise_backpack **out, valise_backpack *bag,
                              const valise_uuid *commit, valise_error *err)
{
    VLS_ARG(out && bag && commit, err);
    return snapshot(out, bag, &(vls_point){.kind = VLS_POINT_COMMIT, .commit = *commit}, err);
}

int valise_snapshot_at_seq(valise_backpack **out, valise_backpack *bag, int64_t seq,
                           valise_error *err)
{
    VLS_ARG(out && bag && seq >= 0, err);
    return snapshot(out, bag, &(vls_point){.kind = VLS_POINT_SEQ, .number = seq}, err);
}

int valise_snapshot_before_node(valise_backpack **out, valise_backpack *bag, const char *node_id,
                                int64_t n, valise_error *err)
{
    VLS_ARG(out && bag && node_id && n != 0, err);
    return snapshot(
        out, bag,
        &(vls_point){.kind = VLS_POINT_BEFORE, .number = n, .text = valise_str_of(node_id)}, err);
}

int valise_snapshot_after_node(valise_backpack **out, valise_backpack *bag, const char *node_id,
                               int64_t n, valise_error *err)
{
    VLS_ARG(out && bag && node_id && n != 0, err);
    return snapshot(
        out, bag,
        &(vls_point){.kind = VLS_POINT_AFTER, .number = n, .text = valise_str_of(node_id)}, err);
}

int valise_snapshot_at(valise_backpack **out, valise_backpack *bag, valise_str text,
                       valise_error *err)
{
    vls_point point;
    int rc;

    VLS_ARG(out && bag && text.ptr, err);
    rc = vls_point_parse(&point, text, err);
    return rc < 0 ? rc : snapshot(out, bag, &point, err);
}

/* ---- checkpoints ---- */

static int checkpoint(int64_t *seq, valise_backpack *bag, const char *name, bool remove,
                      valise_error *err)
{
    vls_checkpoint_args args = {.name = valise_str_of(name), .remove = remove};
    vls_checkpoint_result result = {0};
    int rc = vls_handle_run(bag, &vls_op_backpack_checkpoint, &args, &result, NULL, err);

    if (rc == 0 && seq)
        *seq = result.seq;
    return rc;
}

int valise_checkpoint(int64_t *seq, valise_backpack *bag, const char *name, valise_error *err)
{
    VLS_ARG(bag && name, err);
    return checkpoint(seq, bag, name, false, err);
}

int valise_checkpoint_remove(valise_backpack *bag, const char *name, valise_error *err)
{
    VLS_ARG(bag && name, err);
    return checkpoint(NULL, bag, name, true, err);
}

/* ---- bisect ---- */

typedef struct searching {
    valise_backpack *bag;
    int64_t found;
    valise_bisect_fn *holds;
    void *arg;
    valise_commit_fn *fn;
    void *fn_arg;
} searching;

/* Each state is a snapshot of its own, so that the predicate may use all functions. */
static int ask(void *arg, int64_t seq, valise_error *err)
{
    searching *s = arg;
    valise_backpack *state = NULL;
    int rc =
        snapshot_quietly(&state, s->bag, &(vls_point){.kind = VLS_POINT_SEQ, .number = seq}, err);

    if (rc == 0)
        rc = s->holds(s->arg, state, err);
    valise_backpack_close(state);
    return rc;
}

static int report(void *arg, const vls_glance *at, valise_error *err)
{
    const searching *s = arg;
    valise_history one = VALISE_HISTORY_INIT;

    one.first = one.last = s->found;
    return vls_bag_history(at->seen->ledger, at->seen->scope, &one, s->fn, s->fn_arg, err);
}

int valise_bisect(valise_backpack *bag, int64_t from, int64_t to, valise_bisect_fn *holds,
                  void *arg, valise_commit_fn *found, void *found_arg, valise_error *err)
{
    searching s = {bag, 0, holds, arg, found, found_arg};
    int rc;

    VLS_ARG(bag && holds && found && from >= 0 && to >= from, err);
    rc = vls_bisect(&s.found, from, to, ask, &s, err);
    return rc < 0 ? rc : vls_handle_read(bag, report, &s, err);
}

/* ---- merging ---- */

typedef struct listing {
    valise_conflict_fn *fn;
    void *arg;
    const valise_env *env;
    valise_list doubts;
} listing;

static int list_conflicts(void *arg, const vls_glance *at, valise_error *err)
{
    const listing *l = arg;
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, l->env, VLS_VIEW_MAX_BYTES);
    return vls_bag_conflicts(&at->seen[0], &at->seen[1], &at->seen[2], l->doubts, &arena, l->fn,
                             l->arg, err);
}

/* A node merges what it may see; nobody merges through the view of another. What waits in any of
 * them must be there. */
static int check_merge(valise_backpack *const *bags, size_t count, valise_error *err)
{
    int rc = vls_handle_check(bags, count, err);

    for (size_t i = 0; i < count && rc == 0; i++) {
        if (bags[i]->node &&
            (!bags[0]->node || !vls_str_equal(bags[i]->who.node, bags[0]->who.node)))
            return vls_fail(err, VALISE_E_DENIED,
                            "'%.*s' is the view of node '%.*s': merge with the owner's handle",
                            VALISE_STR_ARG(bags[i]->name), VALISE_STR_ARG(bags[i]->who.node));
        rc = vls_handle_flush(bags[i], err);
    }
    return rc;
}

/* A handle of the base that a merge has found. */
static int open_base(valise_backpack **out, valise_backpack *ours, const vls_merge_base *base,
                     valise_error *err)
{
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    valise_backpack *bag = NULL;
    int rc;

    o.flags = VALISE_BACKPACK_KNOWN | (ours->ring ? 0u : VALISE_BACKPACK_DURABLE);
    o.actor = ours->actor;
    rc = valise_backpack_open(&bag, ours->v, base->name, &o, err);
    if (rc == 0)
        rc = snapshot_quietly(out, bag, &(vls_point){.kind = VLS_POINT_SEQ, .number = base->seq},
                              err);
    valise_backpack_close(bag);
    return rc;
}

/* What keeps them from being merged; base NULL: what the merge has found. */
static int tell_conflicts(valise_backpack *ours, valise_backpack *base, valise_backpack *theirs,
                          const vls_merge_base *found, listing *l, valise_error *err)
{
    valise_backpack *opened = NULL;
    int rc = base ? 0 : open_base(&opened, ours, found, err);

    if (rc == 0)
        rc = vls_handle_read_many((valise_backpack *[]){ours, base ? base : opened, theirs}, 3,
                                  list_conflicts, l, err);
    valise_backpack_close(opened);
    return rc;
}

/* args: with what is not said by the handles. */
static int merge(int64_t *count, vls_merge_args args, valise_backpack *ours, valise_backpack *base,
                 valise_backpack *theirs, valise_conflict_fn *fn, void *arg, valise_error *err)
{
    char base_digits[VLS_U64_DIGITS], their_digits[VLS_U64_DIGITS];
    vls_merge_result result = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_merge_base found = {.seq = -1, .arena = &arena};
    valise_backpack *const three[] = {ours, theirs, base};
    valise_error why = VALISE_ERROR_INIT;
    int64_t before = 0;
    int rc;

    rc = check_merge(three, base ? 3 : 2, err);
    if (rc == 0)
        rc = vls_handle_seen_from(&before, ours, err);
    if (rc < 0)
        return rc;
    vls_arena_init(&arena, ours->env, VLS_VIEW_MAX_BYTES);
    args.theirs = theirs->name;
    args.theirs_id = theirs->id;
    args.held_theirs = vls_handle_held(theirs);
    args.found = &found;
    if (theirs->snapshot)
        args.theirs_point = vls_u64_digits(their_digits, (uint64_t)theirs->upto);
    if (base) {
        args.base = base->name;
        args.base_id = base->id;
        args.held_base = vls_handle_held(base);
    }
    if (base && base->snapshot)
        args.base_point = vls_u64_digits(base_digits, (uint64_t)base->upto);
    rc = vls_handle_run(ours, &vls_op_backpack_merge, &args, &result, NULL, &why);
    if (rc == VALISE_E_CONFLICT && fn && (base || found.seq >= 0)) {
        listing l = {.fn = fn, .arg = arg, .env = ours->env, .doubts = found.doubts};
        int listed = tell_conflicts(ours, base, theirs, &found, &l, err);
        if (listed < 0)
            return listed;
    }
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        vls_handle_seen_since(ours, before);
    if (rc == 0 && count)
        *count = result.merged;
    return rc;
}

int valise_backpack_merge(int64_t *count, valise_backpack *ours, valise_backpack *base,
                          valise_backpack *theirs, valise_conflict_fn *fn, void *arg,
                          valise_error *err)
{
    VLS_ARG(ours && theirs, err);
    return merge(count, (vls_merge_args){.passing = false}, ours, base, theirs, fn, arg, err);
}

int vls_handle_merge_passing(valise_backpack *ours, valise_backpack *base, valise_backpack *theirs,
                             valise_conflict_fn *fn, void *arg, valise_error *err)
{
    return merge(NULL, (vls_merge_args){.passing = true}, ours, base, theirs, fn, arg, err);
}
