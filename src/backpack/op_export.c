/* op_export.c -- backpack:export, a whole backpack as JSON. */
#include "backpack/use.h"

typedef struct export_args {
    vls_who who;
    valise_str point;
    int64_t commits;
    bool all;
} export_args;

static const valise_field export_in[] = {
    VLS_WHO_FIELDS(export_args),
    VLS_POINT_FIELD(export_args, point),
    VALISE_FIELD_WITH(export_args, commits, INT, VALISE_NULLABLE,
                      "How many of the newest commits to include (default: 1000).",
                      .max = INT64_MAX),
    VALISE_FIELD(export_args, all, BOOL, 0, "Include the whole history."),
    VALISE_FIELD_END,
};

typedef struct export_result {
    valise_str data;
} export_result;

static const valise_field export_out[] = {
    VALISE_FIELD(export_result, data, JSON, VALISE_NULLABLE,
                 "The backpack (docs/formats.md, \"A backpack as JSON\")."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const export_args *args = in;
    export_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    int64_t commits = args->commits == VALISE_NONE ? 1000 : args->commits;
    int rc = vls_use_begin(&use, view, &args->who, err);

    vls_buf_init(&text, view->arena.env, VLS_REPLY_MAX);
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    if (rc == 0)
        rc = vls_bag_export(&text, &use.ledger, use.scope, args->all ? -1 : commits, err);
    return rc < 0 ? rc : vls_arena_dup(&result->data, &view->arena, vls_buf_str(&text), err);
}

const valise_op vls_op_backpack_export = {
    .size = sizeof(valise_op),
    .name = "backpack:export",
    .brief = "Print a whole backpack as JSON.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = export_in,
    .in_size = sizeof(export_args),
    .out = export_out,
    .out_size = sizeof(export_result),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"all\":true}",
};
