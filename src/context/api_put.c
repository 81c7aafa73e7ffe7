/* api_put.c -- the C function that says something about a node. */
#include <valise/context.h>

#include "base/hex.h"
#include "base/sized.h"
#include "base/str.h"
#include "bus/command.h"
#include "context/api.h"
#include "context/ops.h"
#include "json/json.h"

static int take_options(valise_frame_options *out, const valise_frame_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_frame_options)VALISE_FRAME_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_frame_options, media_type),
                        "valise_frame_options", err);
    if (rc == 0 && out->metadata.len > 0 && !out->metadata.ptr)
        rc = vls_fail(err, VALISE_E_INVALID, "metadata has a length, but no bytes");
    if (rc == 0 && (out->flags & ~(unsigned)VALISE_FRAME_NO_SCAN))
        rc = vls_fail(err, VALISE_E_INVALID, "valise_frame_options has unknown flags 0x%x",
                      out->flags);
    return rc;
}

/* A head that is expected, as frame:put compares it. */
typedef struct expected {
    char text[sizeof(vls_id_text) + 2];
} expected;

static int take_call(valise_call *out, expected *room, const valise_call *call,
                     const valise_id *expect, valise_error *err)
{
    int rc = vls_call_read(out, call, err);

    if (rc < 0 || !expect)
        return rc;
    if (out->expect.len > 0)
        return vls_fail(
            err, VALISE_E_INVALID,
            "give what is expected in valise_frame_options or in valise_call, not in both");
    (void)snprintf(room->text, sizeof(room->text), "\"%s\"", vls_id_hex(expect).s);
    out->expect = vls_id_is_none(expect) ? VLS_STR("null") : valise_str_of(room->text);
    return 0;
}

static void give(valise_placed *out, const vls_frame_put_result *result)
{
    const valise_placed ours = {.frame = result->frame_id,
                                .previous_head = result->previous_head,
                                .node = result->node_id,
                                .seq = result->seq,
                                .frame_set_root = result->frame_set_root,
                                .context_root = result->context_root,
                                .existed = result->existed,
                                .head = result->head,
                                .ambiguous = result->ambiguous_count};

    if (out)
        vls_sized_give(out, &ours, sizeof(ours));
}

static int run(valise_placed *out, const vls_runner *runner, vls_frame_put_args *args,
               const valise_frame_options *o, const valise_call *call, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *metadata = NULL;
    vls_frame_put_result result;
    vls_id_text basis;
    valise_call own;
    expected room;
    int rc = take_call(&own, &room, call, o->expect, err);

    if (rc == 0 && o->metadata.len > 0) {
        rc = vls_json_canonical(&metadata, runner->env, o->metadata, err);
        if (rc == 0)
            args->metadata = vls_blob_bytes(metadata);
        else
            vls_error_prepend(err, "metadata");
    }
    if (rc < 0)
        return rc;
    if (o->basis) {
        basis = vls_id_hex(o->basis);
        args->basis = valise_str_of(basis.s);
    }
    rc = vls_runner_run(runner, &vls_op_context_frame_put, args, &result, NULL, &own, NULL, err);
    if (rc == 0)
        give(out, &result);
    return rc;
}

int vls_frame_put_by(valise_placed *out, const vls_runner *runner, const char *node,
                     valise_str content, const valise_frame_options *options,
                     const valise_call *call, valise_error *err)
{
    valise_frame_options o;
    vls_frame_put_args args = {.recipe = {.size = VALISE_NONE}};
    int rc;

    VLS_ARG(node && (content.ptr || content.len == 0), err);
    rc = take_options(&o, options, err);
    if (rc == 0 && out)
        rc = vls_sized_check(out, offsetof(valise_placed, previous_head), "valise_placed", err);
    if (rc < 0)
        return rc;
    args.node = valise_str_of(node);
    args.content.bytes = content.ptr ? content : VLS_STR("");
    args.type = vls_str_or_none(o.type);
    args.media_type = vls_str_or_none(o.media_type);
    args.no_scan = o.flags & VALISE_FRAME_NO_SCAN;
    if (o.recipe.ptr)
        args.recipe = (valise_content){.bytes = o.recipe};
    if (o.frame_id)
        args.frame_id = *o.frame_id;
    return run(out, runner, &args, &o, call, err);
}

int valise_frame_put(valise_placed *out, valise *v, const char *node, valise_str content,
                     const valise_frame_options *options, const valise_call *call,
                     valise_error *err)
{
    vls_runner runner;

    VLS_ARG(v && node && (content.ptr || content.len == 0), err);
    runner = vls_runner_of(v);
    return vls_frame_put_by(out, &runner, node, content, options, call, err);
}
