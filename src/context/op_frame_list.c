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
    const list_args *args = in;
    vls_lens lens;
    vls_place place;
    vls_shown_list list = {0};
    int rc = vls_lens_parse(&lens, VLS_STR("history,recency"), err);

    (void)out;
    lens.max_frames = INT64_MAX;
    if (rc == 0)
        rc = vls_place_find(&place, view, args->node, VLS_STR(""), err);
    if (rc == 0)
        rc = vls_place_allows(&place, view, "context:read", args->type, err);
    if (rc == 0 && args->type.ptr)
        rc = vls_frame_type_check(args->type, err);
    if (rc == 0)
        rc = vls_place_look(&place, view, args->no_scan, err);
    if (rc == 0)
        vls_place_go(&place);
    if (rc == 0 && args->type.ptr) {
        lens.types.globs[0] = args->type;
        lens.types.count = 1;
    }
    if (rc == 0)
        rc = vls_shown_choose(&list, view, &place, &lens, false, err);
    if (rc == 0 && list.total == 0 && !place.there)
        rc = vls_place_explain(&place, view, err);
    for (size_t i = 0; rc == 0 && i < list.count; i++)
        rc = valise_view_emit(view, list.frames[i], err);
    return rc;
}

const valise_op vls_op_context_frame_list = {
    .size = sizeof(valise_op),
    .name = "frame:list",
    .alias = "list-frames",
    .brief = "List all frames about a file or directory, the newest first.",
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
