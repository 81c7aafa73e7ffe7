/* op_show.c -- backpack:show, one commit with its value. */
#include "backpack/use.h"

typedef struct show_args {
    vls_who who;
    valise_str commit;
} show_args;

static const valise_field show_in[] = {
    VLS_WHO_FIELDS(show_args),
    VALISE_FIELD_WITH(show_args, commit, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Its seq, its id or the end of it.", .min = 1, .max = VLS_POINT_MAX,
                      .ref = "backpack:history.seq"),
    VALISE_FIELD_END,
};

typedef struct show_result {
    valise_commit *commit;
    valise_content value, previous;
} show_result;

static const valise_struct commit_struct = {sizeof(valise_commit), vls_commit_fields};

static const valise_field show_out[] = {
    VALISE_FIELD_WITH(show_result, commit, STRUCT, VALISE_NULLABLE, "The commit.",
                      .more = &commit_struct),
    VALISE_FIELD(show_result, value, VALUE, VALISE_NULLABLE, "The value it left."),
    VALISE_FIELD(show_result, previous, VALUE, VALISE_NULLABLE, "The value before it."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const show_args *args = in;
    show_result *result = out;
    VLS_AUTO(use) vls_use use = {0};
    valise_commit *commit = vls_arena_zalloc(&view->arena, sizeof(*commit));
    int rc;

    if (!commit)
        return vls_arena_fail(&view->arena, err);
    rc = vls_use_begin(&use, view, &args->who, err);
    if (rc == 0)
        rc = vls_bag_show(commit, &result->value, &result->previous, &use.ledger, use.scope,
                          args->commit, &view->arena, err);
    if (rc < 0)
        return rc;
    vls_commit_out(commit);
    result->commit = commit;
    return 0;
}

const valise_op vls_op_backpack_show = {
    .size = sizeof(valise_op),
    .name = "backpack:show",
    .brief = "Show one commit and the value it left.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = show_in,
    .in_size = sizeof(show_args),
    .out = show_out,
    .out_size = sizeof(show_result),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"commit\":\"3\"}",
};
