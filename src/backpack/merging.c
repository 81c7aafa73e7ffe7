/* merging.c -- see merging.h. */
#include "backpack/merging.h"

#include "base/uuid.h"
#include "base/vec.h"

const valise_field vls_merge_in[] = {
    VLS_WHO_FIELDS(vls_merge_args),
    VALISE_FIELD_WITH(vls_merge_args, theirs, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The backpack to merge from.", .min = 1, .max = VLS_BAG_NAME_MAX,
                      .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_WITH(vls_merge_args, base, STR, 0,
                      "The backpack both started from; found by itself when not given.",
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_AS(vls_merge_args, base_point, "basePoint", STR, 0, "The state of the base."),
    VALISE_FIELD_AS(vls_merge_args, theirs_point, "theirsPoint", STR, 0,
                    "The state to merge from; the newest when not given."),
    VALISE_FIELD_AS(vls_merge_args, theirs_id, "theirsId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,
                    "The name must still be that of this backpack."),
    VALISE_FIELD_AS(vls_merge_args, base_id, "baseId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,
                    "The name must still be that of this backpack."),
    VALISE_FIELD_END,
};

/* ---- the common past ---- */

/* One step of a past: a backpack up to a commit. */
typedef struct step {
    valise_uuid backpack;
    int64_t upto;
    valise_str name;
} step;

typedef struct past {
    const valise_env *env;
    vls_vec(step) steps;
} past;

/* upto: INT64_MAX for what the ledger shows. *origin: what comes next, its name not known yet. */
static int add_step(past *out, step *origin, valise_view *view, const vls_ledger *ledger,
                    int64_t upto, valise_error *err)
{
    step here;
    vls_ledger_head head;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc == 0)
        rc = vls_arena_dup(&here.name, &view->arena, head.name, err);
    ledger->ops->leave(ledger->self);
    if (rc < 0)
        return rc;
    here.backpack = head.id;
    here.upto = VLS_MIN(head.last, upto);
    *origin = (step){.backpack = head.origin, .upto = head.origin_seq};
    return vls_vec_push(&out->steps, out->env, here) ? 0 : vls_fail_memory(err);
}

/* The backpack itself, what it was forked from, and so on as far as these can be found. Nothing of
 * them is shown yet: the actor is asked for the one that is. */
static int gather(past *out, valise_view *view, const vls_ledger *ledger, valise_error *err)
{
    VLS_AUTO(use) vls_use use = {0};
    static const valise_uuid none;
    step next;
    int rc = add_step(out, &next, view, ledger, INT64_MAX, err);

    while (rc == 0 && out->steps.len < VLS_BAG_DEPTH_MAX &&
           !vls_uuid_equal(&next.backpack, &none)) {
        vls_use_end(&use);
        rc = vls_use_begin_id(&use, view, &next.backpack, err);
        if (rc == VALISE_E_NOT_FOUND)
            return 0;
        if (rc == 0)
            rc = add_step(out, &next, view, &use.ledger, next.upto, err);
    }
    return rc;
}

/* The first step of b that a has as well: up to where both have it. */
static bool meet(step *out, const past *a, const past *b)
{
    for (size_t i = 0; i < b->steps.len; i++) {
        for (size_t k = 0; k < a->steps.len; k++) {
            const step *x = &a->steps.ptr[k], *y = &b->steps.ptr[i];
            if (!vls_uuid_equal(&x->backpack, &y->backpack))
                continue;
            *out = (step){x->backpack, VLS_MIN(x->upto, y->upto), x->name};
            return true;
        }
    }
    return false;
}

static int find_base(vls_merge_uses *uses, valise_view *view, valise_str node, valise_error *err)
{
    vls_who base = {.node = node};
    past ours = {.env = view->arena.env}, theirs = {.env = view->arena.env};
    step at;
    int rc = gather(&ours, view, &uses->ours.ledger, err);

    if (rc == 0)
        rc = gather(&theirs, view, &uses->theirs.ledger, err);
    if (rc == 0 && !meet(&at, &ours, &theirs)) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "the two backpacks have no past in common");
        vls_hint(err, "say with --base and --base-point what both started from");
    }
    if (rc == 0) {
        base.backpack = at.name;
        base.id = at.backpack;
        rc = vls_use_begin_other(&uses->base, view, &base, "base", err);
    }
    if (rc == 0)
        rc = vls_use_seq(&uses->base, at.upto, err);
    vls_vec_release(&ours.steps, ours.env);
    vls_vec_release(&theirs.steps, theirs.env);
    return rc;
}

/* ---- the three ---- */

/* From here on the use shows what a handle holds, or the state at the point. */
static int take_state(vls_use *use, const vls_ledger *held, valise_str point, valise_error *err)
{
    vls_ledger state = {NULL, NULL, false};
    vls_ledger_head head;
    int rc;

    if (!held)
        return vls_use_point(use, point, err);
    rc = vls_look_head(&head, held, err);
    if (rc == 0)
        rc = held->ops->freeze(&state, held->self, head.last, err);
    if (rc == 0)
        use->ledger = state;
    return rc;
}

int vls_merge_begin(vls_merge_uses *out, valise_view *view, const vls_merge_args *args,
                    valise_error *err)
{
    valise_str node = args->who.node;
    const vls_who base = {.backpack = args->base, .node = node, .id = args->base_id};
    const vls_who theirs = {.backpack = args->theirs, .node = node, .id = args->theirs_id};
    int rc = vls_use_begin(&out->ours, view, &args->who, err);

    if (rc == 0)
        rc = vls_use_begin_other(&out->theirs, view, &theirs, "theirs", err);
    if (rc == 0)
        rc = take_state(&out->theirs, args->held_theirs, args->theirs_point, err);
    if (rc < 0)
        return rc;
    if (args->base.len == 0)
        return find_base(out, view, node, err);
    rc = vls_use_begin_other(&out->base, view, &base, "base", err);
    return rc < 0 ? rc : take_state(&out->base, args->held_base, args->base_point, err);
}

void vls_merge_end(vls_merge_uses *uses)
{
    vls_use_end(&uses->theirs);
    vls_use_end(&uses->base);
    vls_use_end(&uses->ours);
}
