/* op_slot_mark.c -- slot:mark, a part of what slot:invalidate marks. [C24]
 *
 * What one command changes is limited (store/log.h). Where there is more under a directory, the
 * command has such as this one put in front of it, in the same transaction: each marks the next
 * `count` heads from a slot on. */
#include "base/str.h"
#include "base/vec.h"
#include "context/ops.h"
#include "context/slot.h"
#include "store/view.h"

static const valise_field mark_in[] = {
    VALISE_FIELD_WITH(vls_slot_mark_args, path, PATH, 0, "Path of a directory.",
                      .max = VLS_PATH_MAX),
    VALISE_FIELD_AS_WITH(vls_slot_mark_args, from_path, "fromPath", PATH, 0,
                         "Path of the first slot.", .max = VLS_PATH_MAX),
    VALISE_FIELD_AS_WITH(vls_slot_mark_args, from_type, "fromType", STR, VALISE_REQUIRED,
                         "Its type.", .min = 1, .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD_WITH(vls_slot_mark_args, count, INT, VALISE_REQUIRED, "Heads at most.", .min = 1,
                      .max = INT32_MAX),
    VALISE_FIELD_WITH(vls_slot_mark_args, type, STR, VALISE_NULLABLE, "Only such slots.", .min = 1,
                      .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD_WITH(vls_slot_mark_args, reason, STR, VALISE_NULLABLE, "The reason.",
                      .max = VLS_SLOT_REASON_MAX),
    VALISE_FIELD_END,
};

bool vls_slot_is_markable(const vls_slot_row *slot, valise_str type)
{
    return vls_slot_has_head(slot) && !slot->marked &&
           (!type.ptr || vls_str_equal(slot->type, type));
}

typedef vls_vec(vls_slot_row) slot_list;

/* Collected first: what is marked meanwhile must not be seen by the scan. */
static int gather(slot_list *out, valise_view *view, const valise_uuid *tree,
                  const vls_slot_mark_args *args, valise_error *err)
{
    const vls_slot_row probe = {.tree = *tree, .path = args->from_path, .type = args->from_type};
    const valise_select from = {.row = &probe, .equal = 1, .from = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    int rc = valise_view_scan(&scan, view, &vls_slots, &from, err);

    while (rc == 0 && (int64_t)out->len < args->count &&
           (rc = valise_scan_next(&slot, scan, err)) > 0) {
        if (!vls_path_is_under(slot.path, args->path))
            return 0;
        rc = 0;
        if (!vls_slot_is_markable(&slot, args->type))
            continue;
        rc = vls_slot_stay(&slot, view, err);
        if (rc == 0 && !vls_vec_push_in(out, &view->arena, slot))
            rc = vls_arena_fail(&view->arena, err);
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_slot_mark_args *args = in;
    slot_list list = VLS_VEC_INIT;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    (void)out;
    if (rc <= 0)
        return rc;
    rc = gather(&list, view, &tree.id, args, err);
    for (size_t i = 0; rc >= 0 && i < list.len; i++)
        rc = vls_slot_invalidate(view, &list.ptr[i], args->reason, err);
    return vls_settle(rc);
}

const valise_op vls_op_context_slot_mark = {
    .size = sizeof(valise_op),
    .name = "slot:mark",
    .brief = "Mark a part of what is said about what lies under a directory.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "context:invalidate",
    .in = mark_in,
    .in_size = sizeof(vls_slot_mark_args),
    .decide = decide,
    .example = "{\"count\":1000,\"fromPath\":\"lib/date.c\",\"fromType\":\"notes\","
               "\"path\":\"lib\"}",
};
