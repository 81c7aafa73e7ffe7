/* op_flow_check.c -- flow:check, all that is wrong with a flow. [F6] [F15] */
#include "bus/bus.h"
#include "flow/load.h"
#include "flow/ops.h"
#include "json/make.h"

typedef struct check_args {
    valise_str file;
    valise_content flow;
} check_args;

static const valise_field check_in[] = {
    VALISE_FIELD_WITH(check_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow.", .min = 1, .max = 4096),
    VALISE_FIELD(check_args, flow, VALUE, VALISE_NULLABLE, "The flow itself, instead of a file."),
    VALISE_FIELD_END,
};

typedef struct check_finding {
    valise_str path, message, hint;
} check_finding;

static const valise_field finding_fields[] = {
    VALISE_FIELD(check_finding, path, STR, 0, "Where: nodes[3].params.model."),
    VALISE_FIELD(check_finding, message, STR, VALISE_REQUIRED, "What is wrong."),
    VALISE_FIELD(check_finding, hint, STR, VALISE_NULLABLE, "The way out."),
    VALISE_FIELD_END,
};
static const valise_struct finding_struct = {sizeof(check_finding), finding_fields};
static const valise_field finding_item = {
    .name = "finding", .type = VALISE_T_STRUCT, .more = &finding_struct};

typedef struct check_result {
    bool valid, more;
    valise_list errors, warnings;
} check_result;

static const valise_field check_out[] = {
    VALISE_FIELD(check_result, valid, BOOL, VALISE_REQUIRED, "It can be run."),
    VALISE_FIELD_WITH(check_result, errors, LIST, VALISE_REQUIRED, "What keeps it from running.",
                      .more = &finding_item),
    VALISE_FIELD_WITH(check_result, warnings, LIST, VALISE_REQUIRED,
                      "What is probably not as it was meant.", .more = &finding_item),
    VALISE_FIELD(check_result, more, BOOL, 0, "There is more than is told here."),
    VALISE_FIELD_END,
};

static int take_list(valise_list *out, vls_arena *arena, vls_json list, valise_error *err)
{
    const check_finding **items = vls_arena_array(arena, list.len + (size_t)1, sizeof(*items));
    check_finding *all = vls_arena_array(arena, list.len + (size_t)1, sizeof(*all));

    if (!items || !all)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < list.len; i++) {
        all[i].path = vls_text_of(list.items[i], "path");
        all[i].message = vls_text_of(list.items[i], "message");
        all[i].hint = vls_text_of(list.items[i], "hint");
        items[i] = &all[i];
    }
    *out = (valise_list){items, list.len};
    return 0;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const check_args *args = in;
    check_result *out = result;
    VLS_AUTO(blob) valise_blob *report = NULL;
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    vls_flow_text text = {.text = {NULL, 0}};
    vls_json json = vls_json_null();
    valise_str bytes = {NULL, 0};
    int valid = 0;
    int rc = vls_flow_text_given(&text, &view->arena, vls_view_bus(view), args->file,
                                 args->flow.bytes, err);

    if (rc < 0)
        return rc;
    options.folder = text.folder.ptr;
    valid = valise_flow_check(&report, vls_view_bus(view), text.text, &options, err);
    if (valid < 0)
        return valid;
    rc = vls_arena_dup(&bytes, &view->arena, vls_blob_bytes(report), err);
    if (rc == 0)
        rc = vls_json_parse(&json, &view->arena, bytes, NULL, err);
    if (rc == 0)
        rc = take_list(&out->errors, &view->arena, vls_member_of(json, "errors"), err);
    if (rc == 0)
        rc = take_list(&out->warnings, &view->arena, vls_member_of(json, "warnings"), err);
    out->valid = valid > 0;
    out->more = vls_truth_of(json, "more");
    return rc;
}

const valise_op vls_op_flow_flow_check = {
    .size = sizeof(valise_op),
    .name = "flow:check",
    .brief = "Check a flow and list everything wrong with it.",
    .help = "Every problem is reported at once, with its place in the configuration. Warnings do "
            "not keep a flow from running: they tell of nodes that nothing leads to, actions that "
            "a type never chooses, and nodes that share a namespace. It needs no workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = check_in,
    .in_size = sizeof(check_args),
    .out = check_out,
    .out_size = sizeof(check_result),
    .query = query,
    .example = "{\"flow\":{\"nodes\":[{\"id\":\"say\",\"type\":\"SetNode\","
               "\"params\":{\"values\":{\"greeting\":\"hello\"}}}]}}",
};
