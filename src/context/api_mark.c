/* api_mark.c -- the C functions that say whether something holds. */
#include <valise/derive.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/bus.h"
#include "context/ops.h"

int valise_invalidate(valise_invalidated *out, valise *v, const char *node,
                      const valise_invalidate_options *options, const valise_call *call,
                      valise_error *err)
{
    valise_invalidate_options o = VALISE_INVALIDATE_OPTIONS_INIT;
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_slot_invalidate_args args = {.no_scan = false};
    vls_slot_invalidate_result r;
    valise_invalidated ours;
    int rc;

    VLS_ARG(v && node, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_invalidate_options, type),
                        "valise_invalidate_options", err);
    if (rc == 0 && (o.flags & ~(unsigned)(VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_NO_SCAN)))
        rc = vls_fail(err, VALISE_E_INVALID, "valise_invalidate_options has unknown flags 0x%x",
                      o.flags);
    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_invalidated, already), "valise_invalidated", err);
    if (rc < 0)
        return rc;
    args.node = valise_str_of(node);
    args.type = vls_str_or_none(o.type);
    args.reason = vls_str_or_none(o.reason);
    args.recursive = o.flags & VALISE_DERIVE_RECURSIVE;
    args.no_scan = o.flags & VALISE_DERIVE_NO_SCAN;
    rc = vls_run(v, &vls_op_context_slot_invalidate, &args, &r, &memory, call, NULL, err);
    if (rc < 0)
        return rc;
    ours = (valise_invalidated){
        .marked = r.marked, .already = r.already, .context_root = r.context_root};
    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}

int valise_reaffirm(valise_reaffirmed *out, valise *v, const char *node, const char *type,
                    unsigned flags, const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_slot_reaffirm_args args = {.no_scan = flags & VALISE_DERIVE_NO_SCAN};
    vls_slot_reaffirm_result r;
    valise_reaffirmed ours;
    int rc = 0;

    VLS_ARG(v && node, err);
    if (flags & ~(unsigned)VALISE_DERIVE_NO_SCAN)
        return vls_fail(err, VALISE_E_INVALID, "there are no flags 0x%x for reaffirming", flags);
    if (out)
        rc = vls_sized_check(out, offsetof(valise_reaffirmed, previous_head), "valise_reaffirmed",
                             err);
    if (rc < 0)
        return rc;
    args.node = valise_str_of(node);
    args.type = valise_str_of(type);
    rc = vls_run(v, &vls_op_context_slot_reaffirm, &args, &r, &memory, call, NULL, err);
    if (rc < 0)
        return rc;
    ours = (valise_reaffirmed){.frame = r.frame_id,
                               .previous_head = r.previous_head,
                               .changed = r.changed,
                               .context_root = r.context_root};
    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}
