/* op_erasure_list.c -- erasure:list, what was erased, by whom and why. */
#include "kernel/kernel.h"
#include "store/place.h"

typedef struct list_args {
    valise_str place;
} list_args;

static const valise_field list_in[] = {
    VALISE_FIELD_WITH(list_args, place, STR, VALISE_POSITIONAL,
                      "Only erasures of this place, written out in full.",
                      .max = VLS_PLACE_MAX_BYTES),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const list_args *args = in;
    vls_erasure row = {.place = args->place};
    const valise_select one = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_erasures, args->place.len > 0 ? &one : NULL, err);

    (void)result;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = valise_view_emit(view, &row, err);
    valise_scan_close(scan);
    return rc;
}

const valise_op vls_op_kernel_erasure_list = {
    .size = sizeof(valise_op),
    .name = "erasure:list",
    .brief = "List what was erased, by whom, when and why.",
    .help = "Sorted by place. Contents that were erased by their id are listed as object/ID, too. "
            "The record of an erasure is kept for good; it holds no contents.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "log:read",
    .in = list_in,
    .in_size = sizeof(list_args),
    .out = vls_erasure_fields,
    .out_size = sizeof(vls_erasure),
    .query = query,
    .example = "{\"place\":\"notes.note/milk\"}",
};
