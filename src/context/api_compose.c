/* api_compose.c -- the C function that composes; see api_read.c. */
#include <valise/context.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/held.h"
#include "context/ops.h"

typedef struct held {
    valise_composition composition; /* first: what the caller has */
    vls_held own;
} held;

void valise_composition_free(valise_composition *composition)
{
    held *h = (held *)composition;

    if (h)
        vls_held_free(h, &h->own);
}

static void vls_auto_held(held **h)
{
    valise_composition_free((valise_composition *)*h);
}

static int fill_items(held *h, const vls_composition *known, valise_error *err)
{
    const vls_composed *const *entries = known->entries.items;
    size_t count = known->entries.count;
    const valise_composed **items;
    valise_composed *all;

    if (count == 0)
        return 0;
    items = vls_arena_array(&h->own.arena, count, sizeof(*items));
    all = vls_arena_array(&h->own.arena, count, sizeof(*all));
    if (!items || !all)
        return vls_arena_fail(&h->own.arena, err);
    for (size_t i = 0; i < count; i++) {
        all[i] = (valise_composed){.frame = vls_shown_frame(&entries[i]->shown),
                                   .relation = entries[i]->relation,
                                   .tokens = entries[i]->tokens,
                                   .score = *entries[i]->score};
        items[i] = &all[i];
    }
    h->composition.items = items;
    h->composition.count = count;
    return 0;
}

static void fill(valise_composition *out, const vls_node_compose_result *r)
{
    const vls_composition *known = &r->known;

    out->bytes = known->bytes;
    out->tokens = known->tokens;
    out->candidates = known->candidates;
    out->considered = known->considered;
    out->cut = known->cut.list;
    out->missing = known->missing.list;
    out->corrupt = known->corrupt.list;
    out->cut_count = known->cut.count;
    out->missing_count = known->missing.count;
    out->corrupt_count = known->corrupt.count;
    out->path = r->path;
    out->node = r->node_id;
    out->tree_root = r->tree_root;
    out->context_root = r->context_root;
    out->policy_hash = r->policy_hash;
    out->policy = r->policy;
    out->version = r->meta->version;
    out->outdated = r->meta->tree.ptr != NULL;
}

static int take_options(valise_compose_options *out, const valise_compose_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_compose_options)VALISE_COMPOSE_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_compose_options, related),
                        "valise_compose_options", err);
    if (rc == 0 && out->flags & ~(unsigned)VALISE_NODE_NO_SCAN)
        rc = vls_fail(err, VALISE_E_INVALID, "there are no flags 0x%x for composing", out->flags);
    return rc;
}

static int run(held *h, valise *v, vls_node_compose_args *args, const valise_call *call,
               valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const vls_run_more more = {.reply = &reply};
    vls_node_compose_result result;
    int rc =
        vls_run(v, &vls_op_context_node_compose, args, &result, &h->own.memory, call, &more, err);

    if (rc == 0) {
        fill(&h->composition, &result);
        h->composition.seq = reply.seq;
        rc = fill_items(h, &result.known, err);
    }
    valise_reply_release(&reply);
    return rc;
}

int valise_compose(valise_composition **out, valise *v, const char *node, const char *policy,
                   const valise_compose_options *options, const valise_call *call,
                   valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    vls_node_compose_args args = {.explain = true};
    valise_compose_options o;
    int rc;

    VLS_ARG(out && v && node, err);
    rc = take_options(&o, options, err);
    if (rc == 0)
        rc = vls_sized_list(&args.related, o.related, o.related_count, VLS_COMPOSE_RELATED_MAX,
                            "related nodes", err);
    if (rc < 0)
        return rc;
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    args.node = valise_str_of(node);
    args.policy = valise_str_of(policy);
    args.query = vls_str_or_none(o.query);
    args.no_scan = o.flags & VALISE_NODE_NO_SCAN;
    rc = run(h, v, &args, call, err);
    if (rc < 0)
        return rc;
    *out = &h->composition;
    h = NULL;
    return 0;
}
