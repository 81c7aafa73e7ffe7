/* op_ls.c -- backpack:ls, the items and where they came from. */
#include "backpack/use.h"

typedef struct ls_args {
    vls_who who;
    valise_str point, namespace_name, tag;
    bool values, quarantined;
} ls_args;

static const valise_field ls_in[] = {
    VLS_WHO_FIELDS(ls_args),
    VLS_POINT_FIELD(ls_args, point),
    VALISE_FIELD_AS_WITH(ls_args, namespace_name, "namespace", STR, VALISE_NULLABLE,
                         "Only items whose namespace matches, such as sales.*",
                         .max = VLS_BAG_NAMESPACE_MAX),
    VALISE_FIELD_WITH(ls_args, tag, STR, 0, "Only items that carry this tag.",
                      .max = VLS_BAG_TAG_MAX),
    VALISE_FIELD(ls_args, values, BOOL, 0, "Include values."),
    VALISE_FIELD(ls_args, quarantined, BOOL, 0, "List what is in quarantine instead."),
    VALISE_FIELD_END,
};

typedef struct listing {
    valise_view *view;
    const ls_args *args;
} listing;

static int emit(void *arg, const valise_item *item, valise_error *err)
{
    const listing *l = arg;
    valise_str value = {NULL, 0};
    vls_item_out row;

    if (l->args->tag.len > 0 && !vls_bag_has_name(item->commit->tags, l->args->tag))
        return 0;
    if (item->value && l->args->values)
        value = vls_blob_bytes(item->value);
    vls_item_out_fill(&row, item->commit, value);
    if (l->args->quarantined)
        row.seq = item->commit->entry;
    return valise_view_emit(l->view, &row, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const ls_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    listing l = {view, args};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc == 0)
        rc = vls_use_point(&use, args->point, err);
    if (rc < 0)
        return rc;
    if (args->quarantined)
        return vls_bag_quarantined(&use.ledger, use.scope, emit, &l, err);
    return vls_bag_each(&use.ledger, use.scope, args->namespace_name, args->values, emit, &l, err);
}

const valise_op vls_op_backpack_ls = {
    .size = sizeof(valise_op),
    .name = "backpack:ls",
    .brief = "List the items of a backpack and where they came from.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = ls_in,
    .in_size = sizeof(ls_args),
    .out = vls_item_out_fields,
    .out_size = sizeof(vls_item_out),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"namespace\":\"sales.*\"}",
};
