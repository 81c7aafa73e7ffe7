/* schema_apply.c -- schemas applied to the same value: references, alternatives, conditions. */
#include "json/schema_impl.h"

/* ---- references ---- */

/* The outermost resource of the dynamic scope that has the anchor wins. */
static int find_dynamic(const vls_schema_node **out, vls_schema_run *run, const vls_schema_ref *ref)
{
    uint64_t looked = 0;

    *out = ref->node;
    if (!ref->dynamic.ptr)
        return 0;
    for (size_t i = 0; i < run->scope.len; i++) {
        const vls_schema_anchor *anchor = run->scope.ptr[i]->dynamic;
        for (; anchor; anchor = anchor->next, looked++) {
            if (vls_str_equal(anchor->name, ref->dynamic)) {
                *out = anchor->node;
                return vls_schema_spend(run, looked / 4);
            }
        }
    }
    return vls_schema_spend(run, looked / 4);
}

static int check_refs(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_apply *apply = f->node->apply;
    const vls_schema_node *target;
    int bad = 0, verdict;

    if (apply->ref.node)
        bad = vls_schema_visit(run, f, apply->ref.node, VLS_WAY_REF, 0, seen);
    if (vls_schema_ends(run, bad) || !apply->dynamic_ref.node)
        return bad;
    verdict = find_dynamic(&target, run, &apply->dynamic_ref);
    if (verdict == 0)
        verdict = vls_schema_visit(run, f, target, VLS_WAY_REF, 0, seen);
    return vls_schema_both(bad, verdict);
}

/* ---- alternatives ---- */

/* Go through failed alternatives once more for what is wrong with the one that was meant, which
 * is then in run->nearest. Only for messages, not within each other, and for at most half of the
 * steps that are left: the verdict stands without it. */
static int probe(vls_schema_run *run, const vls_schema_frame *f, const vls_schema_list *list)
{
    uint64_t kept = run->steps / 2;
    int verdict = 0;

    vls_buf_clear(&run->nearest);
    if (run->mode != VLS_MODE_LOUD)
        return 0;
    run->mode = VLS_MODE_PROBE;
    run->probe = f;
    run->nearest_score = -1;
    run->steps -= kept;
    for (uint32_t i = 0; verdict >= 0 && i < list->count; i++)
        verdict = vls_schema_visit(run, f, list->nodes[i], VLS_WAY_SAME, 0, NULL);
    run->steps += kept;
    run->mode = VLS_MODE_LOUD;
    if (verdict == VALISE_E_LIMIT)
        vls_buf_clear(&run->nearest);
    return verdict < 0 && verdict != VALISE_E_LIMIT ? verdict : 0;
}

static int bad_alternatives(vls_schema_run *run, const vls_schema_frame *f, const char *keyword,
                            const vls_schema_list *list)
{
    int rc;

    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    rc = probe(run, f, list);
    if (rc < 0)
        return rc;
    vls_buf_clear(&run->reason);
    vls_buf_printf(&run->reason, "matches none of %u alternatives", list->count);
    if (run->nearest.len > 0)
        vls_buf_printf(&run->reason, "; nearest: %.*s", VALISE_STR_ARG(vls_buf_str(&run->nearest)));
    return vls_schema_bad_finish(run, f, keyword);
}

static int check_all_of(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_list *list = &f->node->apply->all_of;
    int bad = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        int verdict = vls_schema_visit(run, f, list->nodes[i], VLS_WAY_SAME, 0, seen);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}

static int check_any_of(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_list *list = &f->node->apply->any_of;
    uint32_t matched = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        int verdict = vls_schema_try(run, f, list->nodes[i], VLS_WAY_SAME, 0, seen);
        if (verdict < 0)
            return verdict;
        matched += verdict == 0;
        if (matched > 0 && !seen)
            break;
    }
    return list->count > 0 && matched == 0 ? bad_alternatives(run, f, "anyOf", list) : 0;
}

static int check_one_of(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_list *list = &f->node->apply->one_of;
    uint32_t first = 0, matched = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        int verdict = vls_schema_try(run, f, list->nodes[i], VLS_WAY_SAME, 0, seen);
        if (verdict < 0)
            return verdict;
        if (verdict > 0)
            continue;
        if (++matched == 2)
            return vls_schema_bad(run, f, "oneOf", NULL,
                                  "must match exactly one of %u alternatives, matches %u and %u",
                                  list->count, first, i);
        first = i;
    }
    return list->count > 0 && matched == 0 ? bad_alternatives(run, f, "oneOf", list) : 0;
}

static int check_not(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_node *node = f->node->apply->not_;
    int verdict = vls_schema_try(run, f, node, VLS_WAY_SAME, 0, NULL);

    if (verdict < 0)
        return verdict;
    return verdict > 0
               ? 0
               : vls_schema_bad(run, f, "not", f->instance, "must not be what \"not\" describes");
}

static int check_if(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_apply *apply = f->node->apply;
    const vls_schema_node *next;
    int verdict;

    if (!apply->then_ && !apply->else_ && !seen)
        return 0;
    verdict = vls_schema_try(run, f, apply->if_, VLS_WAY_SAME, 0, seen);
    if (verdict < 0)
        return verdict;
    next = verdict == 0 ? apply->then_ : apply->else_;
    return next ? vls_schema_visit(run, f, next, VLS_WAY_SAME, 0, seen) : 0;
}

int vls_schema_check_apply(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_apply *apply = f->node->apply;
    int bad = check_refs(run, f, seen);

    if (!vls_schema_ends(run, bad) && apply->all_of.count > 0)
        bad = vls_schema_both(bad, check_all_of(run, f, seen));
    if (!vls_schema_ends(run, bad) && apply->any_of.count > 0)
        bad = vls_schema_both(bad, check_any_of(run, f, seen));
    if (!vls_schema_ends(run, bad) && apply->one_of.count > 0)
        bad = vls_schema_both(bad, check_one_of(run, f, seen));
    if (!vls_schema_ends(run, bad) && apply->not_)
        bad = vls_schema_both(bad, check_not(run, f));
    if (!vls_schema_ends(run, bad) && apply->if_)
        bad = vls_schema_both(bad, check_if(run, f, seen));
    return bad;
}
