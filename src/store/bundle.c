/* bundle.c -- what writers and readers of bundles share. */
#include "store/bundle.h"

#include "store/refs.h"

#define FIELD(member, name, type, flags, text, ...)                                                \
    VALISE_FIELD_AS_WITH(vls_bundle_header, member, name, type, flags, text, __VA_ARGS__)

static const valise_field root_item = {.type = VALISE_T_STR, .min = 1, .max = 4096};

const valise_field vls_bundle_header_fields[] = {
    FIELD(format, "format", INT, VALISE_REQUIRED, "Format of rows and entries.", .min = 1,
          .max = INT64_MAX),
    FIELD(workspace, "workspace", UUID, VALISE_REQUIRED, "Where it comes from.", .max = 0),
    FIELD(whole, "whole", BOOL, VALISE_REQUIRED, "Everything, or a part.", .max = 0),
    FIELD(roots, "roots", LIST, 0, "The places of a part.", .more = &root_item,
          .max = VLS_BUNDLE_ROOTS_MAX),
    FIELD(base_seq, "baseSeq", INT, 0, "The last entry that has expired.", .max = INT64_MAX),
    FIELD(base_hash, "baseHash", ID, VALISE_NULLABLE, "Its hash.", .max = 0),
    FIELD(tip_seq, "tipSeq", INT, 0, "The last entry.", .max = INT64_MAX),
    FIELD(tip_hash, "tipHash", ID, VALISE_NULLABLE, "Its hash.", .max = 0),
    FIELD(state, "state", ID, VALISE_NULLABLE, "The state hash.", .max = 0),
    VALISE_FIELD_END,
};

bool vls_bundle_is_local(const char *const *local, const vls_coll *coll)
{
    for (; local && *local; local++) {
        if (strcmp(*local, coll->desc->name) == 0)
            return true;
    }
    return false;
}

/* ---- the blobs of a row ---- */

typedef struct blob_walk {
    vls_bundle_blob_fn *fn;
    void *arg;
    valise_error *err;
} blob_walk;

static int nested_blob(void *arg, const valise_field *field, void *member)
{
    const blob_walk *walk = arg;

    return vls_names_blob(field) ? walk->fn(walk->arg, member, walk->err) : 0;
}

/* Lists, structs and unions are text in a row: decode it. */
static int walk_nested(vls_arena *arena, const vls_coll *coll, const valise_cell *row,
                       blob_walk *walk)
{
    vls_arena_mark mark = vls_arena_here(arena);
    void *decoded = NULL;
    int rc = vls_row_of_cells(&decoded, coll, row, arena, walk->err);

    if (rc == 0)
        rc = vls_fields_each_ref(decoded, coll->desc->fields, nested_blob, walk);
    vls_arena_rewind(arena, mark);
    return rc;
}

int vls_bundle_row_blobs(vls_arena *arena, const vls_coll *coll, const valise_cell *row,
                         vls_bundle_blob_fn *fn, void *arg, valise_error *err)
{
    blob_walk walk = {fn, arg, err};

    for (uint16_t i = 0; i < coll->field_count; i++) {
        if (vls_field_has_parts(&coll->desc->fields[i]))
            return walk_nested(arena, coll, row, &walk);
    }
    for (uint16_t i = 0; i < coll->field_count; i++) {
        int rc;
        if (!vls_names_blob(&coll->desc->fields[i]) || row[i].type != VALISE_CELL_BLOB ||
            row[i].as.bytes.len != sizeof(valise_id))
            continue;
        rc = fn(arg, (const valise_id *)row[i].as.bytes.ptr, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}
