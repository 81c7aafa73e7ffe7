/* op_context_report.c -- context:report, how much is known and how much of it holds. [C28] */
#include "base/str.h"
#include "context/context.h"
#include "context/ops.h"
#include "context/report.h"
#include "store/view.h"

#define DOCUMENT_MAX ((size_t)64 << 20)

static const char *const formats[] = {"text", "json", "markdown", "junit", NULL};

typedef vls_report_args report_args;
typedef vls_report_result report_result;

static const valise_field kind_item = {
    .name = "failOn", .type = VALISE_T_ENUM, .more = vls_report_kinds};

static const valise_field report_in[] = {
    VALISE_FIELD_WITH(report_args, path, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Only this file or directory and what is below it.", .max = VLS_PATH_MAX,
                      .ref = "tree.path"),
    VALISE_FIELD_WITH(report_args, format, ENUM, VALISE_NULLABLE, "The output format.",
                      .more = formats),
    VALISE_FIELD_AS_WITH(report_args, fail_on, "failOn", LIST, 0,
                         "Exit with 8 if there is one of these.", .more = &kind_item,
                         .max = VLS_REPORT_KINDS),
    VALISE_FIELD_END,
};

static const valise_field line_fields[] = {
    VALISE_FIELD(vls_report_line, name, STR, VALISE_REQUIRED, "The type or agent."),
    VALISE_FIELD(vls_report_line, heads, INT, VALISE_REQUIRED, "Heads of it."),
    VALISE_FIELD(vls_report_line, fresh, INT, VALISE_REQUIRED, "That hold."),
    VALISE_FIELD(vls_report_line, stale, INT, VALISE_REQUIRED, "That do not any more."),
    VALISE_FIELD(vls_report_line, invalidated, INT, VALISE_REQUIRED, "That somebody marked."),
    VALISE_FIELD(vls_report_line, orphaned, INT, VALISE_REQUIRED, "About what is gone."),
    VALISE_FIELD(vls_report_line, files, INT, VALISE_REQUIRED, "Files with one that holds."),
    VALISE_FIELD(vls_report_line, dirs, INT, VALISE_REQUIRED, "Directories with one that holds."),
    VALISE_FIELD_END,
};
static const valise_struct line_struct = {sizeof(vls_report_line), line_fields};
static const valise_field line_item = {
    .name = "line", .type = VALISE_T_STRUCT, .more = &line_struct};

static const valise_field item_fields[] = {
    VALISE_FIELD(vls_report_item, path, PATH, VALISE_REQUIRED, "Path of the node."),
    VALISE_FIELD(vls_report_item, type, STR, VALISE_REQUIRED, "Type of the frame."),
    VALISE_FIELD_AS(vls_report_item, frame_id, "frameId", ID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_report_item, agent, STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD_WITH(vls_report_item, state, ENUM, VALISE_NULLABLE, "Its state.",
                      .more = vls_state_names),
    VALISE_FIELD_END,
};
static const valise_struct item_struct = {sizeof(vls_report_item), item_fields};
static const valise_field item_item = {
    .name = "frame", .type = VALISE_T_STRUCT, .more = &item_struct};

static const valise_field kind_fields[] = {
    VALISE_FIELD(vls_report_kind, count, INT, VALISE_REQUIRED, "How many there are."),
    VALISE_FIELD_WITH(vls_report_kind, first, LIST, VALISE_REQUIRED, "The first 100, by path.",
                      .more = &item_item),
    VALISE_FIELD_END,
};
static const valise_struct kind_struct = {sizeof(vls_report_kind), kind_fields};

#define KIND_FIELD(kind_, name_, brief_)                                                           \
    VALISE_FIELD_AS_WITH(report_result, report.kinds[kind_], name_, STRUCT, VALISE_REQUIRED,       \
                         brief_, .more = &kind_struct)

static const valise_field report_out[] = {
    VALISE_FIELD_AS(report_result, report.files, "files", INT, VALISE_REQUIRED,
                    "Files (and links) of the tree."),
    VALISE_FIELD_AS(report_result, report.dirs, "dirs", INT, VALISE_REQUIRED,
                    "Directories of the tree."),
    VALISE_FIELD_AS(report_result, report.covered_files, "coveredFiles", INT, VALISE_REQUIRED,
                    "Files with a head that holds."),
    VALISE_FIELD_AS(report_result, report.covered_dirs, "coveredDirs", INT, VALISE_REQUIRED,
                    "Directories with a head that holds."),
    VALISE_FIELD_AS(report_result, report.heads, "heads", INT, VALISE_REQUIRED, "Heads there are."),
    VALISE_FIELD_AS(report_result, report.fresh, "fresh", INT, VALISE_REQUIRED, "That hold."),
    KIND_FIELD(VLS_REPORT_STALE, "stale", "What does not hold any more."),
    KIND_FIELD(VLS_REPORT_INVALIDATED, "invalidated", "What somebody marked."),
    KIND_FIELD(VLS_REPORT_ORPHANED, "orphaned", "What is about something that is gone."),
    KIND_FIELD(VLS_REPORT_NEEDS_AUTHOR, "needsAuthor",
               "What was written, is stale or invalidated, and only its author can renew."),
    KIND_FIELD(VLS_REPORT_CORRUPT, "corrupt", "What is damaged, so that nobody can tell."),
    VALISE_FIELD_AS_WITH(report_result, report.types, "types", LIST, VALISE_REQUIRED,
                         "The same for each type.", .more = &line_item),
    VALISE_FIELD_AS_WITH(report_result, report.agents, "agents", LIST, VALISE_REQUIRED,
                         "The same for each agent.", .more = &line_item),
    VALISE_FIELD(report_result, failed, BOOL, VALISE_REQUIRED, "There is something of failOn."),
    VALISE_FIELD(report_result, document, STR, VALISE_NULLABLE, "The report as Markdown or XML."),
    VALISE_FIELD_AS(report_result, tree_root, "treeRoot", ID, VALISE_REQUIRED, "Root of the tree."),
    VALISE_FIELD_AS(report_result, context_root, "contextRoot", ID, VALISE_REQUIRED,
                    "Root of all heads."),
    VALISE_FIELD_END,
};

static unsigned fails_of(const valise_list *list)
{
    const int64_t *kinds = list->items;
    unsigned fails = 0;

    for (size_t i = 0; i < list->count; i++)
        fails |= 1u << kinds[i];
    return fails;
}

static int write_document(report_result *out, valise_view *view, const report_args *args,
                          unsigned fails, valise_error *err)
{
    vls_buf text;

    if (args->format != VALISE_REPORT_MARKDOWN && args->format != VALISE_REPORT_JUNIT)
        return 0;
    vls_buf_init_in(&text, &view->arena, DOCUMENT_MAX);
    if (args->format == VALISE_REPORT_MARKDOWN)
        vls_report_markdown(&text, &out->report);
    else
        vls_report_junit(&text, &out->report, fails);
    return vls_buf_keep(&out->document, &text, err);
}

/* What is at the path does not matter: what was known about something that is gone is a part of it.
 */
static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const report_args *args = in;
    report_result *result = out;
    unsigned fails = fails_of(&args->fail_on);
    vls_context_row context = {.slots = 0};
    vls_place place;
    int rc =
        vls_place_find(&place, view, args->path.ptr ? args->path : VLS_STR("."), VLS_STR(""), err);

    if (rc == 0 && place.path.len > 0)
        rc = vls_place_allows(&place, view, "context:read", VLS_STR(""), err);
    if (rc == 0)
        rc = vls_report_make(&result->report, view, &place.tree, place.path, false, err);
    if (rc == 0 && !place.there && result->report.heads == 0)
        rc = vls_place_explain(&place, view, err);
    if (rc == 0)
        rc = vls_context_get(&context, view, &place.tree.id, err);
    if (rc == 0)
        rc = write_document(result, view, args, fails, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < VLS_REPORT_KINDS; i++)
        result->failed = result->failed || (fails & 1u << i && result->report.kinds[i]->count > 0);
    result->tree_root = place.tree.root;
    result->context_root = context.root;
    return 0;
}

const valise_op vls_op_context_context_report = {
    .size = sizeof(valise_op),
    .name = "context:report",
    .alias = "report",
    .brief = "Report how much is known about the files and what is out of date.",
    .help =
        "Counts heads by type and agent, and lists those that are stale, invalidated, "
        "orphaned,\nor need their author. A file is covered when one of its heads is fresh. Damage "
        "that\nthe report meets is counted as corrupt; `valise validate` checks "
        "everything.\n\n--format junit is XML for programs that show test results: what --fail-on "
        "names is a\nfailure, the rest is skipped. --format json is the same as --json.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_ASKS,
    .needs = "context:read",
    .in = report_in,
    .in_size = sizeof(report_args),
    .out = report_out,
    .out_size = sizeof(report_result),
    .query = query,
    .example = "{\"failOn\":[\"stale\",\"orphaned\"],\"format\":\"junit\"}",
};
