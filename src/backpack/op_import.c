/* op_import.c -- backpack:import, a new backpack from what backpack:export printed. */
#include "backpack/ops.h"

static const valise_field import_in[] = {
    VALISE_FIELD_AS_WITH(vls_import_args, who.backpack, "backpack", STR,
                         VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the new backpack.", .min = 1,
                         .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD(
        vls_import_args, data, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
        "The output of backpack:export, or a snapshot with items, history and permissions."),
    VALISE_FIELD(vls_import_args, lenient, BOOL, VALISE_HIDDEN,
                 "Make it lenient, whatever the document says."),
    VALISE_FIELD(vls_import_args, taint, BOOL, VALISE_HIDDEN,
                 "Let sticky tags spread, whatever the document says."),
    VALISE_FIELD_WITH(vls_import_args, sticky, LIST, VALISE_NULLABLE | VALISE_HIDDEN,
                      "Which tags are sticky, instead of those in the document.",
                      .more = &vls_name_item, .max = VLS_BAG_TAGS_MAX),
    VALISE_FIELD_END,
};

static const valise_field import_out[] = {
    VALISE_FIELD(vls_import_result, id, UUID, 0, "Id of the new backpack."),
    VALISE_FIELD(vls_import_result, items, INT, 0, "How many items it has."),
    VALISE_FIELD(vls_import_result, commits, INT, 0, "How many commits."),
    VALISE_FIELD_END,
};

static int fill(vls_import_result *result, const vls_ledger *ledger, valise_view *view,
                const vls_import_args *args, valise_error *err)
{
    valise_usage usage = {.size = sizeof(usage)};
    int rc = vls_bag_import(ledger, args->data.bytes, view->stamp.time, view->arena.env, err);

    if (rc == 0)
        rc = ledger->ops->usage(&usage, ledger->self, err);
    if (rc < 0)
        return rc;
    result->items = usage.items;
    result->commits = usage.commits;
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_import_args *args = in;
    vls_import_result *result = out;
    VLS_AUTO(rows) vls_rows rows = {0};
    vls_bag_row row = {.name = args->who.backpack};
    vls_ledger_head head = {.edge = 0};
    vls_ledger ledger;
    int rc = vls_bag_import_head(&head, args->data.bytes, &view->arena, err);

    row.lenient = args->lenient || head.lenient;
    row.taint = args->taint || head.taint;
    if (rc == 0)
        rc = vls_bag_take_tags(&row.sticky, args->sticky.items ? args->sticky : head.sticky,
                               &view->arena, err);
    if (rc == 0)
        rc = vls_rows_make(&row, view, err);
    if (rc == 0)
        rc = vls_rows_open_id(&rows, view, &row.id, err);
    if (rc < 0)
        return rc;
    result->id = row.id;
    ledger = vls_rows_ledger(&rows);
    return fill(result, &ledger, view, args, err);
}

const valise_op vls_op_backpack_import = {
    .size = sizeof(valise_op),
    .name = "backpack:import",
    .brief = "Create a backpack from an export.",
    .help = "Reads the output of `bp export`, or a snapshot of the form {items: [[key, item]...], "
            "history, permissions}. Everything is checked before anything is created.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = import_in,
    .in_size = sizeof(vls_import_args),
    .out = import_out,
    .out_size = sizeof(vls_import_result),
    .decide = decide,
    .example = "{\"backpack\":\"run-2\",\"data\":{\"items\":[],\"history\":[],\"permissions\":{}}}",
};
