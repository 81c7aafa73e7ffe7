/* api_read.c -- the C functions that read nodes and frames.
 *
 * A result is one block of the caller's: the structs, and the memory of the operation that
 * answered, in which their strings lie. Nothing of the handle is needed any more. */
#include <valise/context.h>

#include "base/hex.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/vec.h"
#include "bus/held.h"
#include "context/api.h"
#include "context/ops.h"

/* What the public enumerations say is what the rows have. */
_Static_assert((int)VALISE_FRAME_EXTERNAL == VLS_FRAME_EXTERNAL, "kinds of frames");
_Static_assert((int)VALISE_FRAME_DERIVED == VLS_FRAME_DERIVED, "kinds of frames");
_Static_assert((int)VALISE_STATE_FRESH == VLS_STATE_FRESH, "states");
_Static_assert((int)VALISE_STATE_STALE == VLS_STATE_STALE, "states");
_Static_assert((int)VALISE_STATE_INVALIDATED == VLS_STATE_INVALIDATED, "states");
_Static_assert((int)VALISE_STATE_ORPHANED == VLS_STATE_ORPHANED, "states");
_Static_assert((int)VALISE_REASON_NODE_CHANGED == VLS_NODE_CHANGED, "reasons");
_Static_assert((int)VALISE_REASON_CHILD_CHANGED == VLS_CHILD_CHANGED, "reasons");
_Static_assert((int)VALISE_REASON_CHILD_MISSING == VLS_CHILD_MISSING, "reasons");
_Static_assert((int)VALISE_REASON_RECIPE_CHANGED == VLS_RECIPE_CHANGED, "reasons");
_Static_assert((int)VALISE_PART_NODE == VLS_DEP_NODE, "parts");
_Static_assert((int)VALISE_PART_SAID == VLS_DEP_SAID, "parts");
_Static_assert((int)VALISE_PART_RECIPE == VLS_DEP_RECIPE, "parts");
_Static_assert((int)VALISE_NODE_FILE == VLS_NODE_FILE, "kinds of nodes");
_Static_assert((int)VALISE_NODE_DIR == VLS_NODE_DIR, "kinds of nodes");
_Static_assert((int)VALISE_NODE_LINK == VLS_NODE_LINK, "kinds of nodes");
_Static_assert((int)VALISE_NODE_UNREADABLE == VLS_NODE_UNREADABLE, "kinds of nodes");

typedef struct held {
    valise_frames frames; /* first: what the caller has */
    vls_held own;
    vls_vec(const valise_frame *) list;
} held;

static int hold(held **out, const valise_env *env, valise_error *err)
{
    held *h = vls_held_new(env, sizeof(*h), offsetof(held, own));

    if (!h)
        return vls_fail_memory(err);
    *out = h;
    return 0;
}

void valise_frames_free(valise_frames *frames)
{
    held *h = (held *)frames;

    if (h)
        vls_held_free(h, &h->own);
}

static void vls_auto_held(held **h)
{
    valise_frames_free((valise_frames *)*h);
}

static int add(held *h, const valise_frame *frame, valise_error *err)
{
    valise_frame *copy = vls_arena_alloc(&h->own.arena, sizeof(*copy));

    if (!copy || !vls_vec_push_in(&h->list, &h->own.arena, copy))
        return vls_arena_fail(&h->own.arena, err);
    *copy = *frame;
    return 0;
}

static int add_shown(held *h, const vls_shown *shown, valise_error *err)
{
    const valise_frame frame = vls_shown_frame(shown);

    h->frames.outdated |= shown->meta->tree.ptr != NULL;
    return add(h, &frame, err);
}

/* A row of a list; it lies in the memory that is kept. One that says that there is no frame is none
 * here. */
static int take_row(void *arg, const void *row, valise_error *err)
{
    const vls_shown *shown = row;

    return shown->state.state == VLS_STATE_EMPTY ? 0 : add_shown(arg, shown, err);
}

static int run(held *h, const vls_runner *runner, const valise_op *op, const void *args,
               void *result, const valise_call *call, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const vls_run_more more = {.emit = take_row, .emit_arg = h, .reply = &reply};
    int rc = vls_runner_run(runner, op, args, result, &h->own.memory, call, &more, err);

    h->frames.seq = reply.seq;
    valise_reply_release(&reply);
    return rc;
}

static void give(valise_frames **out, held **h)
{
    valise_frames *frames = &(*h)->frames;

    frames->items = (*h)->list.ptr;
    frames->count = (*h)->list.len;
    *h = NULL;
    *out = frames;
}

/* ---- slots ---- */

static int check_flags(unsigned flags, valise_error *err)
{
    if (flags & ~(unsigned)VALISE_NODE_NO_SCAN)
        return vls_fail(err, VALISE_E_INVALID, "there are no flags 0x%x for reading nodes", flags);
    return 0;
}

static int list(held **out, valise *v, const valise_op *op, const vls_frames_args *args,
                unsigned flags, const valise_call *call, valise_error *err)
{
    const vls_runner runner = vls_runner_of(v);
    int rc = check_flags(flags, err);

    if (rc == 0)
        rc = hold(out, v->env, err);
    return rc < 0 ? rc : run(*out, &runner, op, args, NULL, call, err);
}

static vls_frames_args args_of(const char *node, const char *type, unsigned flags)
{
    return (vls_frames_args){.node = valise_str_of(node),
                             .type = valise_str_of(type),
                             .no_scan = flags & VALISE_NODE_NO_SCAN};
}

int valise_head_get(valise_frames **out, valise *v, const char *node, const char *type,
                    unsigned flags, const valise_call *call, valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    const vls_frames_args args = args_of(node, type, flags);
    int rc;

    VLS_ARG(out && v && node, err);
    rc = list(&h, v, &vls_op_context_head_get, &args, flags, call, err);
    if (rc < 0 || h->list.len == 0)
        return rc;
    give(out, &h);
    return 1;
}

int valise_frame_list(valise_frames **out, valise *v, const char *node, const char *type,
                      unsigned flags, const valise_call *call, valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    const vls_frames_args args = args_of(node, type, flags);
    int rc;

    VLS_ARG(out && v && node, err);
    rc = list(&h, v, &vls_op_context_frame_list, &args, flags, call, err);
    if (rc == 0)
        give(out, &h);
    return rc;
}

/* ---- one frame ---- */

/* The frame alone, or as it lies in each of its slots. */
static int fill_shown(held *h, const vls_frame_show_result *r, valise_error *err)
{
    const vls_shown *const *slots = r->slots.items;
    const valise_frame alone = {.id = r->frame_id,
                                .type = r->type,
                                .agent = r->agent,
                                .kind = r->kind,
                                .basis = r->basis,
                                .recipe = r->recipe,
                                .bytes = r->size,
                                .erased = r->erased,
                                .content = r->text.ptr ? r->text : r->data,
                                .made_of = r->made_of};
    int rc = r->slots.count == 0 ? add(h, &alone, err) : 0;

    for (size_t i = 0; rc == 0 && i < r->slots.count; i++) {
        valise_frame frame = vls_shown_frame(slots[i]);
        frame.erased = alone.erased;
        frame.content = alone.content;
        frame.made_of = alone.made_of;
        rc = add(h, &frame, err);
    }
    h->frames.total = r->slot_count;
    return rc;
}

int valise_frame_get(valise_frames **out, valise *v, const valise_id *frame,
                     const valise_call *call, valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    vls_frame_show_args args = {.no_scan = true};
    vls_id_text hex;
    vls_frame_show_result result;
    vls_runner runner;
    int rc;

    VLS_ARG(out && v && frame, err);
    runner = vls_runner_of(v);
    hex = vls_id_hex(frame);
    args.frame = valise_str_of(hex.s);
    rc = hold(&h, v->env, err);
    if (rc == 0)
        rc = run(h, &runner, &vls_op_context_frame_show, &args, &result, call, err);
    if (rc == 0)
        rc = fill_shown(h, &result, err);
    if (rc == 0)
        give(out, &h);
    return rc;
}

int valise_frame_content(valise_blob **out, valise *v, const valise_id *frame,
                         const valise_call *call, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    vls_frame_show_args args = {.no_scan = true};
    vls_id_text hex;
    vls_frame_show_result r;
    int rc;

    VLS_ARG(out && v && frame, err);
    hex = vls_id_hex(frame);
    args.frame = valise_str_of(hex.s);
    rc = vls_run(v, &vls_op_context_frame_show, &args, &r, &memory, call, NULL, err);
    if (rc < 0 || r.erased)
        return rc;
    rc = vls_blob_new(out, v->env, r.text.ptr ? r.text : r.data, err);
    return rc < 0 ? rc : 1;
}

/* ---- a node ---- */

static int take_options(valise_node_options *out, const valise_node_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_node_options)VALISE_NODE_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_node_options, tree),
                        "valise_node_options", err);
    return rc < 0 ? rc : check_flags(out->flags, err);
}

static int fill(held *h, const vls_node_get_result *r, valise_error *err)
{
    const vls_shown *const *shown = r->frames.items;
    valise_frames *frames = &h->frames;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->frames.count; i++)
        rc = add_shown(h, shown[i], err);
    frames->node = r->node;
    frames->total = r->total;
    frames->matched = r->matched;
    frames->version = r->meta->version;
    frames->outdated = r->meta->tree.ptr != NULL;
    frames->tree_root = r->tree_root;
    frames->context_root = r->context_root;
    frames->view_hash = r->view_hash;
    frames->frame_set_root = r->meta->frame_set_root;
    return rc;
}

int vls_node_get_by(valise_frames **out, const vls_runner *runner, const char *node,
                    const char *view, const valise_node_options *options, const valise_call *call,
                    valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    valise_node_options o;
    vls_node_get_args args = {.no_scan = false};
    vls_node_get_result result;
    int rc;

    VLS_ARG(out && node, err);
    rc = take_options(&o, options, err);
    if (rc == 0)
        rc = hold(&h, runner->env, err);
    if (rc != 0)
        return rc;
    args.node = valise_str_of(node);
    args.view = valise_str_of(view);
    args.at = vls_str_or_none(o.tree);
    args.no_scan = o.flags & VALISE_NODE_NO_SCAN;
    rc = run(h, runner, &vls_op_context_node_get, &args, &result, call, err);
    if (rc == 0)
        rc = fill(h, &result, err);
    if (rc == 0)
        give(out, &h);
    return rc;
}

int valise_node_get(valise_frames **out, valise *v, const char *node, const char *view,
                    const valise_node_options *options, const valise_call *call, valise_error *err)
{
    vls_runner runner;

    VLS_ARG(v, err);
    runner = vls_runner_of(v);
    return vls_node_get_by(out, &runner, node, view, options, call, err);
}
