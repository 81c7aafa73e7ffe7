/* api.c -- the C functions that make frames of frames: each runs an operation with structs. See
 * valise/derive.h. */
#include "derive/api.h"

#include "base/sized.h"
#include "base/str.h"
#include "bus/held.h"
#include "derive/answer.h"
#include "derive/ops.h"
#include "json/json.h"

/* What the public enumeration says is what the rows have. */
_Static_assert((int)VALISE_DERIVED_MADE == VLS_RUN_MADE, "outcomes");
_Static_assert((int)VALISE_DERIVED_UNCHANGED == VLS_RUN_UNCHANGED, "outcomes");
_Static_assert((int)VALISE_DERIVED_NEEDS_AUTHOR == VLS_RUN_NEEDS_AUTHOR, "outcomes");
_Static_assert((int)VALISE_DERIVED_NEEDS_RUN == VLS_RUN_NEEDS_RUN, "outcomes");
_Static_assert((int)VALISE_DERIVED_UNKNOWN == VLS_RUN_UNKNOWN, "outcomes");
_Static_assert((int)VALISE_DERIVED_ORPHANED == VLS_RUN_ORPHANED, "outcomes");
_Static_assert((int)VALISE_DERIVED_OUT_OF_SCOPE == VLS_RUN_OUT_OF_SCOPE, "outcomes");
_Static_assert((int)VALISE_DERIVED_MISSING == VLS_RUN_MISSING, "outcomes");
_Static_assert((int)VALISE_DERIVED_FAILED == VLS_RUN_FAILED, "outcomes");
_Static_assert((int)VALISE_DERIVED_STALE == VLS_RUN_STALE, "outcomes");

typedef struct held {
    valise_derived derived; /* first: what the caller has */
    vls_held own;
} held;

void valise_derived_free(valise_derived *derived)
{
    held *h = (held *)derived;

    if (h)
        vls_held_free(h, &h->own);
}

static void fill(valise_derived *out, const vls_run_answer *r)
{
    *out = (valise_derived){.items = r->slots.items,
                            .count = r->slots.count,
                            .made = r->made,
                            .unchanged = r->unchanged,
                            .needs_author = r->needs_author,
                            .needs_run = r->needs_run,
                            .unknown = r->unknown,
                            .orphaned = r->orphaned,
                            .out_of_scope = r->out_of_scope,
                            .missing = r->missing,
                            .stale = r->stale,
                            .failed = r->failed,
                            .frame = r->frame_id,
                            .context_root = r->context_root};
}

/* The block is there before anything is done. */
static int run(valise_derived **out, const vls_runner *runner, const valise_op *op,
               const void *args, const valise_call *call, valise_error *err)
{
    held *h = vls_held_new(runner->env, sizeof(*h), offsetof(held, own));
    vls_run_answer answer;
    int rc;

    if (!h)
        return vls_fail_memory(err);
    rc = vls_runner_run(runner, op, args, &answer, &h->own.memory, call, NULL, err);
    if (rc < 0 || !out) {
        valise_derived_free(&h->derived);
        return rc;
    }
    fill(&h->derived, &answer);
    *out = &h->derived;
    return 0;
}

static int check_flags(unsigned flags, unsigned known, const char *what, valise_error *err)
{
    if (flags & ~known)
        return vls_fail(err, VALISE_E_INVALID, "%s has unknown flags 0x%x", what, flags & ~known);
    return 0;
}

/* ---- synthesis ---- */

static int take_synthesis(vls_synthesize_args *args, valise_blob **params, const vls_runner *runner,
                          const valise_synthesize_options *options, valise_error *err)
{
    valise_synthesize_options o = VALISE_SYNTHESIZE_OPTIONS_INIT;
    int rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_synthesize_options, type),
                            "valise_synthesize_options", err);

    if (rc == 0)
        rc = check_flags(o.flags,
                         VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_DRY_RUN | VALISE_DERIVE_NO_SCAN |
                             VALISE_DERIVE_STRICT | VALISE_DERIVE_REPLACE | VALISE_DERIVE_FRESH |
                             VALISE_DERIVE_VERIFY,
                         "valise_synthesize_options", err);
    if (rc == 0 && o.params.len > 0) {
        rc = vls_json_canonical(params, runner->env, o.params, err);
        if (rc < 0)
            vls_error_prepend(err, "params");
        else
            args->params = vls_blob_bytes(*params);
    }
    if (rc < 0)
        return rc;
    args->type = vls_str_or_none(o.type);
    args->output = vls_str_or_none(o.output);
    args->policy = vls_str_or_none(o.policy);
    args->program = vls_str_or_none(o.program);
    args->name = vls_str_or_none(o.name);
    args->by_agent = vls_str_or_none(o.by_agent);
    args->max_size = o.max_size;
    args->limit = o.limit;
    args->fresh = o.flags & VALISE_DERIVE_FRESH;
    args->recursive = o.flags & VALISE_DERIVE_RECURSIVE;
    args->strict = o.flags & VALISE_DERIVE_STRICT;
    args->replace = o.flags & VALISE_DERIVE_REPLACE;
    args->verify = o.flags & VALISE_DERIVE_VERIFY;
    args->dry_run = o.flags & VALISE_DERIVE_DRY_RUN;
    args->no_scan = o.flags & VALISE_DERIVE_NO_SCAN;
    return 0;
}

int vls_synthesize_by(valise_derived **out, const vls_runner *runner, const char *node,
                      const valise_synthesize_options *options, const valise_call *call,
                      valise_error *err)
{
    VLS_AUTO(blob) valise_blob *params = NULL;
    vls_synthesize_args args = {.limit = 0};
    int rc;

    VLS_ARG(node, err);
    args.node = valise_str_of(node);
    rc = take_synthesis(&args, &params, runner, options, err);
    return rc < 0 ? rc : run(out, runner, &vls_op_derive_synthesize, &args, call, err);
}

int valise_synthesize(valise_derived **out, valise *v, const char *node,
                      const valise_synthesize_options *options, const valise_call *call,
                      valise_error *err)
{
    vls_runner runner;

    VLS_ARG(v, err);
    runner = vls_runner_of(v);
    return vls_synthesize_by(out, &runner, node, options, call, err);
}

/* ---- regeneration ---- */

int valise_regenerate(valise_derived **out, valise *v, const char *node,
                      const valise_regenerate_options *options, const valise_call *call,
                      valise_error *err)
{
    valise_regenerate_options o = VALISE_REGENERATE_OPTIONS_INIT;
    vls_regenerate_args args = {.up = 0};
    vls_runner runner;
    int rc;

    VLS_ARG(v && node, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_regenerate_options, up),
                        "valise_regenerate_options", err);
    if (rc == 0)
        rc = check_flags(o.flags,
                         VALISE_DERIVE_RECURSIVE | VALISE_DERIVE_DRY_RUN | VALISE_DERIVE_NO_SCAN |
                             VALISE_DERIVE_RUN | VALISE_DERIVE_ONLY_NEW,
                         "valise_regenerate_options", err);
    if (rc < 0)
        return rc;
    args = (vls_regenerate_args){.node = valise_str_of(node),
                                 .recursive = o.flags & VALISE_DERIVE_RECURSIVE,
                                 .up = o.up,
                                 .run = o.flags & VALISE_DERIVE_RUN,
                                 .only_new = o.flags & VALISE_DERIVE_ONLY_NEW,
                                 .dry_run = o.flags & VALISE_DERIVE_DRY_RUN,
                                 .no_scan = o.flags & VALISE_DERIVE_NO_SCAN};
    runner = vls_runner_of(v);
    return run(out, &runner, &vls_op_derive_regenerate, &args, call, err);
}
