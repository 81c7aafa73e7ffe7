/* document.c -- the tables of a backpack as JSON. Rows are those of the collections, without the
 * backpack, which is the same for all. */
#include "backpack/document.h"

static const valise_struct checkpoint_struct = {sizeof(vls_bag_checkpoint_row),
                                                vls_checkpoint_fields + 1};
static const valise_struct commit_struct = {sizeof(valise_commit), vls_commit_record};
static const valise_struct merge_struct = {sizeof(vls_merge_row), vls_merge_fields + 1};
static const valise_struct permission_struct = {sizeof(vls_permission_row),
                                                vls_permission_fields + 1};
/* What an origin's commit put there is a commit of the document. */
static const valise_field quarantine_fields[] = {
    VALISE_FIELD(vls_quarantine_row, seq, INT, VALISE_REQUIRED, "The commit that put it there."),
    VALISE_FIELD(vls_quarantine_row, key, STR, 0, "Key of the item."),
    VALISE_FIELD_AS(vls_quarantine_row, item_backpack, "itemBackpack", UUID, VALISE_NULLABLE,
                    "The backpack whose commit is held."),
    VALISE_FIELD(vls_quarantine_row, item, INT, 0, "The commit that is held: the item as it was."),
    VALISE_FIELD(vls_quarantine_row, released, INT, 0, "The commit that brought it back."),
    VALISE_FIELD_END,
};
static const valise_struct quarantine_struct = {sizeof(vls_quarantine_row), quarantine_fields};
static const valise_struct rule_struct = {sizeof(vls_rule_row), vls_rule_fields + 1};
static const valise_struct run_struct = {sizeof(vls_run_row), vls_run_fields + 1};

static const valise_field checkpoint = {
    .name = "checkpoint", .type = VALISE_T_STRUCT, .more = &checkpoint_struct};
static const valise_field commit = {
    .name = "commit", .type = VALISE_T_STRUCT, .more = &commit_struct};
static const valise_field merge = {.name = "merge", .type = VALISE_T_STRUCT, .more = &merge_struct};
static const valise_field permission = {
    .name = "permission", .type = VALISE_T_STRUCT, .more = &permission_struct};
static const valise_field quarantine = {
    .name = "quarantine", .type = VALISE_T_STRUCT, .more = &quarantine_struct};
static const valise_field rule = {.name = "rule", .type = VALISE_T_STRUCT, .more = &rule_struct};
static const valise_field run = {.name = "run", .type = VALISE_T_STRUCT, .more = &run_struct};

static const valise_field options_fields[] = {
    VALISE_FIELD(vls_document_options, lenient, BOOL, 0, "Denied access fails silently."),
    VALISE_FIELD_AS_WITH(vls_document_options, max_bytes, "maxBytes", INT, 0,
                         "Bytes that history may take.", .min = 0, .max = INT64_MAX),
    VALISE_FIELD_AS_WITH(vls_document_options, max_commits, "maxCommits", INT, 0,
                         "Commits that history keeps.", .min = 0, .max = INT64_MAX),
    VALISE_FIELD_WITH(vls_document_options, sticky, LIST, VALISE_NULLABLE, "Tags that spread.",
                      .more = &vls_name_item, .max = VLS_BAG_LIST_MAX),
    VALISE_FIELD(vls_document_options, taint, BOOL, 0, "Sticky tags spread."),
    VALISE_FIELD_END,
};
static const valise_struct options_struct = {sizeof(vls_document_options), options_fields};

static const valise_field origin_fields[] = {
    VALISE_FIELD(vls_document_origin, id, UUID, VALISE_REQUIRED, "The backpack it came from."),
    VALISE_FIELD(vls_document_origin, seq, INT, VALISE_REQUIRED, "The state it starts with."),
    VALISE_FIELD_END,
};
static const valise_struct origin_struct = {sizeof(vls_document_origin), origin_fields};

#define ROWS(member, item, flags, limit, text)                                                     \
    VALISE_FIELD_WITH(vls_document, member, LIST, flags, text, .more = &(item), .max = (limit))

const valise_field vls_document_fields[] = {
    ROWS(checkpoints, checkpoint, 0, VLS_DOCUMENT_ROWS_MAX, "States that are held."),
    VALISE_FIELD_WITH(vls_document, edge, INT, VALISE_REQUIRED, "The commit that `items` is after.",
                      .min = 0, .max = INT64_MAX),
    VALISE_FIELD(vls_document, format, STR, VALISE_REQUIRED, VLS_DOCUMENT_FORMAT "."),
    ROWS(history, commit, VALISE_REQUIRED, VLS_DOCUMENT_ITEMS_MAX, "The commits after the edge."),
    VALISE_FIELD(vls_document, id, UUID, VALISE_REQUIRED, "Id of the backpack."),
    ROWS(items, commit, VALISE_REQUIRED, VLS_DOCUMENT_ITEMS_MAX, "The state at the edge."),
    ROWS(merges, merge, 0, VLS_DOCUMENT_ROWS_MAX, "What was merged into it."),
    VALISE_FIELD_WITH(vls_document, name, STR, VALISE_REQUIRED, "Its name.", .min = 1,
                      .max = VLS_BAG_NAME_MAX),
    VALISE_FIELD_WITH(vls_document, options, STRUCT, VALISE_REQUIRED, "How it works.",
                      .more = &options_struct),
    VALISE_FIELD_WITH(vls_document, origin, STRUCT, VALISE_NULLABLE, "Where it came from.",
                      .more = &origin_struct),
    VALISE_FIELD(vls_document, partial, BOOL, 0, "Only what one node may see."),
    ROWS(permissions, permission, 0, VLS_DOCUMENT_ROWS_MAX, "What nodes may do."),
    ROWS(quarantine, quarantine, 0, VLS_DOCUMENT_ROWS_MAX, "What was taken out."),
    ROWS(rules, rule, 0, VLS_DOCUMENT_ROWS_MAX, "Who may see what has a tag."),
    ROWS(runs, run, 0, VLS_DOCUMENT_ROWS_MAX, "Runs of nodes."),
    VALISE_FIELD_END,
};
