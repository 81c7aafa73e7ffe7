/* op_head_get.c -- head:get, what counts about a node: the head of each of its slots. */
#include "base/str.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/shown.h"
#include "store/view.h"

typedef vls_frames_args head_args;

static const valise_field head_in[] = {
    VLS_NODE_FIELD(head_args),
    VALISE_FIELD_WITH(head_args, type, STR, VALISE_NULLABLE, "Only the head of this type.",
                      .max = VLS_FRAME_TYPE_MAX, .ref = "frame:list.type"),
    VLS_NO_SCAN_FIELD(head_args),
    VALISE_FIELD_END,
};

/* There is no frame of the type that was asked for. */
static int emit_empty(valise_view *view, const vls_place *place, valise_str type, valise_error *err)
{
    vls_shown empty;
    int rc = vls_shown_empty(&empty, view, place, type, err);

    return rc < 0 ? rc : valise_view_emit(view, &empty, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const head_args *args = in;
    vls_shown_list list = {0};
    vls_place place;
    int rc = vls_shown_list_of(&list, &place, view, in, "heads,type", true, err);

    (void)out;
    for (size_t i = 0; rc == 0 && i < list.count; i++)
        rc = valise_view_emit(view, list.frames[i], err);
    if (rc == 0 && list.count == 0 && args->type.ptr)
        rc = emit_empty(view, &place, args->type, err);
    return rc;
}

const valise_op vls_op_context_head_get = {
    .size = sizeof(valise_op),
    .name = "head:get",
    .alias = "get-head",
    .brief = "Show the current frame of each type for a file or directory.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST | VALISE_OP_ASKS,
    .needs = "context:read",
    .in = head_in,
    .in_size = sizeof(head_args),
    .out = vls_shown_fields,
    .out_size = sizeof(vls_shown),
    .query = query,
    .example = "{\"node\":\"lib/date.c\",\"type\":\"summary\"}",
};
