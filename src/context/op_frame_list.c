/* op_frame_list.c -- frame:list, all frames about a node. */
#include "base/str.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/shown.h"
#include "store/view.h"

typedef vls_frames_args list_args;

static const valise_field list_in[] = {
    VLS_NODE_FIELD(list_args),
    VALISE_FIELD_WITH(list_args, type, STR, VALISE_NULLABLE, "Only frames of this type.",
                      .max = VLS_FRAME_TYPE_MAX, .ref = "frame:list.type"),
    VLS_NO_SCAN_FIELD(list_args),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    vls_shown_list list = {0};
    vls_place place;
    int rc = vls_shown_list_of(&list, &place, view, in, "history,recency", false, err);

    (void)out;
    for (size_t i = 0; rc == 0 && i < list.count; i++)
        rc = valise_view_emit(view, list.frames[i], err);
    return rc;
}

const valise_op vls_op_context_frame_list = {
    .size = sizeof(valise_op),
    .name = "frame:list",
    .alias = "list-frames",
    .brief = "List the frames about a file or directory, newest first.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST | VALISE_OP_ASKS,
    .needs = "context:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = vls_shown_fields,
    .out_size = sizeof(vls_shown),
    .query = query,
    .example = "{\"node\":\"lib/date.c\",\"type\":\"summary\"}",
};
