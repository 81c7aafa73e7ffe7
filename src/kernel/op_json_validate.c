/* op_json_validate.c -- json:validate, check a value against a JSON Schema. */
#include "kernel/json.h"

#include "json/schema.h"

#define FINDINGS_MAX 1000u

typedef struct validate_args {
    valise_content value, schema;
} validate_args;

static const valise_field validate_in[] = {
    VALISE_FIELD(validate_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "The value to check."),
    VALISE_FIELD(validate_args, schema, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A JSON Schema."),
    VALISE_FIELD_END,
};

typedef struct validate_finding {
    valise_str instance_path, keyword, reason, schema_path, schema_uri;
} validate_finding;

typedef struct validate_result {
    valise_list findings;
    bool valid;
} validate_result;

#define TEXT_FIELD(member, json_name, text)                                                        \
    VALISE_FIELD_AS(validate_finding, member, json_name, STR, VALISE_NULLABLE, text)

static const valise_field finding_fields[] = {
    TEXT_FIELD(instance_path, "instancePath", "JSON Pointer of what is wrong in the value."),
    TEXT_FIELD(keyword, "keyword", "The keyword that it breaks."),
    TEXT_FIELD(reason, "reason", "What is wrong."),
    TEXT_FIELD(schema_path, "schemaPath", "JSON Pointer of the keyword in the schema."),
    TEXT_FIELD(schema_uri, "schemaUri", "The schema, where it has a name."),
    VALISE_FIELD_END,
};
static const valise_struct finding_struct = {sizeof(validate_finding), finding_fields};
static const valise_field finding_item = {
    .name = "finding", .help = "One finding.", .type = VALISE_T_STRUCT, .more = &finding_struct};

static const valise_field validate_out[] = {
    VALISE_FIELD_WITH(validate_result, findings, LIST, 0, "What is wrong, 1,000 at most.",
                      .more = &finding_item),
    VALISE_FIELD(validate_result, valid, BOOL, 0, "Whether nothing is."),
    VALISE_FIELD_END,
};

typedef struct finding_list {
    valise_view *view;
    const validate_finding **items;
    size_t count;
    valise_error err;
} finding_list;

/* Slices of a finding live during the call only. */
static int take_finding(void *arg, const vls_schema_finding *finding)
{
    finding_list *list = arg;
    vls_arena *arena = vls_json_arena(list->view);
    validate_finding *item = NULL;
    int rc = 0;

    if (list->count == FINDINGS_MAX)
        return 1;
    item = vls_arena_zalloc(arena, sizeof(*item));
    if (!item)
        return vls_arena_fail(arena, &list->err);
    const valise_str from[] = {finding->instance_path, finding->keyword, finding->reason,
                               finding->schema_path, finding->schema_uri};
    valise_str *to[] = {&item->instance_path, &item->keyword, &item->reason, &item->schema_path,
                        &item->schema_uri};
    for (size_t i = 0; i < VLS_COUNT(to) && rc == 0; i++)
        rc = vls_arena_dup(to[i], arena, from[i], &list->err);
    if (rc == 0)
        list->items[list->count++] = item;
    return rc;
}

static int check_value(validate_result *out, valise_view *view, const vls_schema *schema,
                       vls_json value, valise_error *err)
{
    finding_list list = {.view = view, .err = VALISE_ERROR_INIT};
    vls_schema_report report = {.found = take_finding, .arg = &list, .max_findings = FINDINGS_MAX};
    int rc;

    list.items = vls_arena_array(vls_json_arena(view), FINDINGS_MAX, sizeof(*list.items));
    if (!list.items)
        return vls_arena_fail(vls_json_arena(view), err);
    rc = vls_schema_check(schema, value, &report, err);
    if (list.err.code < 0) {
        if (err)
            *err = list.err;
        return list.err.code;
    }
    if (rc < 0 && rc != VALISE_E_INVALID)
        return rc;
    out->valid = rc == 0;
    out->findings = (valise_list){list.items, list.count};
    return 0;
}

static int validate_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const validate_args *a = args;
    VLS_AUTO(schema) vls_schema *schema = NULL;
    vls_json value = vls_json_null(), text;
    int rc = vls_json_argument(&value, view, &a->value, err);

    if (rc == 0)
        rc = vls_json_argument(&text, view, &a->schema, err);
    if (rc == 0)
        rc = vls_schema_compile(&schema, vls_json_arena(view)->env, text, NULL, err);
    return rc < 0 ? rc : check_value(result, view, schema, value, err);
}

const valise_op vls_op_kernel_json_validate = {
    .size = sizeof(valise_op),
    .name = "json:validate",
    .brief = "Check a value against a JSON Schema (draft 2020-12).",
    .help = "On the command line it exits with 6 when the value is not valid. References are\n"
            "followed inside the schema and to the draft's own metaschemas, never over the "
            "network.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = validate_in,
    .in_size = sizeof(validate_args),
    .out = validate_out,
    .out_size = sizeof(validate_result),
    .query = validate_query,
    .example = "{\"value\":{\"n\":3},\"schema\":{\"properties\":{\"n\":{\"maximum\":2}}}}",
};
