/* json.c -- `valise json ...`: the JSON that Valise stores, at hand in a shell.
 *
 * The same parser, canonical form, pointer, patch, diff, schema and logic that the engine uses,
 * so that a script can make the bytes that will be hashed, and see why something is refused. */
#include "cli/cli.h"

#include "json/diff.h"
#include "json/logic.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "json/schema.h"

static int print_value(cli *c, vls_json v, bool pretty)
{
    valise_error err = VALISE_ERROR_INIT;

    return cli_print_json(c, v, pretty, &err) < 0 ? cli_fail(c, &err) : CLI_DONE;
}

static int run_canonical(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json v;

    if (cli_read_json(&v, c, operands[0], &err) < 0)
        return cli_fail(c, &err);
    return print_value(c, v, false);
}

static int run_pretty(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json v;

    if (cli_read_json(&v, c, operands[0], &err) < 0)
        return cli_fail(c, &err);
    return print_value(c, v, true);
}

static int run_get(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_pointer pointer;
    const vls_json *found;
    vls_json v;

    if (cli_read_json(&v, c, operands[0], &err) < 0 ||
        vls_pointer_parse(&pointer, &c->arena, valise_str_of(operands[1]), &err) < 0 ||
        vls_pointer_get(&found, &v, &pointer, &err) < 0)
        return cli_fail(c, &err);
    return print_value(c, *found, false);
}

static int run_patch(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json v, patch, result;

    if (cli_read_json(&v, c, operands[0], &err) < 0 ||
        cli_read_json(&patch, c, operands[1], &err) < 0 ||
        vls_json_patch(&result, &c->arena, v, patch, NULL, &err) < 0)
        return cli_fail(c, &err);
    return print_value(c, result, false);
}

/* ---- diff ---- */

typedef struct change_list {
    cli *c;
    size_t count;
    valise_error err;
} change_list;

/* "- /path  old" and "+ /path  new", as people know it from diff. */
static int print_change(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    change_list *list = arg;
    const vls_json *sides[] = {before, after};
    int rc = 0;

    list->count++;
    for (int i = 0; i < 2 && rc == 0; i++) {
        if (!sides[i])
            continue;
        vls_buf_add(&list->c->out, i == 0 ? VLS_STR("- ") : VLS_STR("+ "));
        vls_buf_add(&list->c->out, path.len ? path : VLS_STR("(whole value)"));
        vls_buf_add(&list->c->out, VLS_STR("  "));
        rc = cli_print_json(list->c, *sides[i], false, &list->err);
    }
    return rc;
}

static int run_diff(cli *c, char **operands)
{
    vls_diff_options options = {.flags = c->tests ? VLS_DIFF_WITH_TESTS : 0};
    change_list list = {.c = c, .err = VALISE_ERROR_INIT};
    vls_json a, b, patch;
    int status = CLI_DONE;

    if (cli_read_json(&a, c, operands[0], &list.err) < 0 ||
        cli_read_json(&b, c, operands[1], &list.err) < 0)
        return cli_fail(c, &list.err);
    if (c->json) {
        if (vls_json_diff(&patch, &c->arena, a, b, &options, &list.err) < 0)
            return cli_fail(c, &list.err);
        status = print_value(c, patch, false);
    } else if (vls_json_changes(&c->arena, a, b, NULL, print_change, &list, &list.err) < 0) {
        return cli_fail(c, &list.err);
    }
    if (status == CLI_DONE && c->exit_code && !vls_json_equal(a, b))
        status = CLI_DIFFERENT;
    return status;
}

/* ---- validate ---- */

typedef struct finding_list {
    cli *c;
    vls_json_builder json;
} finding_list;

/* Slices of a finding live during the call only. */
static void add_text(finding_list *list, valise_str key, valise_str text)
{
    valise_str kept = {NULL, 0};

    vls_json_add_key(&list->json, key);
    if (vls_arena_dup(&kept, &list->c->arena, text, &list->json.error) == 0)
        vls_json_add(&list->json, vls_json_string(kept));
}

static int take_finding(void *arg, const vls_schema_finding *finding)
{
    finding_list *list = arg;
    vls_buf *out = &list->c->out;

    if (list->c->json) {
        vls_json_open(&list->json, VLS_JSON_OBJECT);
        add_text(list, VLS_STR("instancePath"), finding->instance_path);
        add_text(list, VLS_STR("keyword"), finding->keyword);
        add_text(list, VLS_STR("reason"), finding->reason);
        add_text(list, VLS_STR("schemaPath"), finding->schema_path);
        add_text(list, VLS_STR("schemaUri"), finding->schema_uri);
        vls_json_close(&list->json);
        return 0;
    }
    vls_buf_add(out,
                finding->instance_path.len ? finding->instance_path : VLS_STR("(whole value)"));
    vls_buf_add(out, VLS_STR(": "));
    vls_buf_add(out, finding->reason);
    vls_buf_add(out, VLS_STR("\n"));
    return 0;
}

static int check_with(cli *c, const vls_schema *schema, vls_json v)
{
    valise_error err = VALISE_ERROR_INIT;
    finding_list list = {.c = c};
    vls_schema_report report = {.found = take_finding, .arg = &list, .max_findings = 1000};
    vls_json result;
    int rc;

    vls_json_builder_init(&list.json, &c->arena);
    vls_json_open(&list.json, VLS_JSON_OBJECT);
    vls_json_add_key(&list.json, VLS_STR("findings"));
    vls_json_open(&list.json, VLS_JSON_ARRAY);
    rc = vls_schema_check(schema, v, &report, &err);
    vls_json_close(&list.json);
    vls_json_add_key(&list.json, VLS_STR("valid"));
    vls_json_add(&list.json, vls_json_bool(rc == 0));
    vls_json_close(&list.json);
    if (rc < 0 && rc != VALISE_E_INVALID) {
        vls_json_builder_release(&list.json);
        return cli_fail(c, &err);
    }
    if (vls_json_builder_finish(&result, &list.json, &err) < 0)
        return cli_fail(c, &err);
    if (!c->json && rc == 0)
        vls_buf_add_text(&c->out, "valid\n");
    int status = c->json ? print_value(c, result, false) : CLI_DONE;
    return status != CLI_DONE ? status : valise_error_exit_code(rc);
}

static int run_validate(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    VLS_AUTO(schema) vls_schema *schema = NULL;
    vls_json v, text;

    if (cli_read_json(&v, c, operands[0], &err) < 0 ||
        cli_read_json(&text, c, operands[1], &err) < 0 ||
        vls_schema_compile(&schema, c->env, text, NULL, NULL, &err) < 0)
        return cli_fail(c, &err);
    return check_with(c, schema, v);
}

static int run_logic(cli *c, char **operands)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_json rule, data, result;

    if (cli_read_json(&rule, c, operands[0], &err) < 0 ||
        cli_read_json(&data, c, operands[1], &err) < 0 ||
        vls_logic_apply(&result, &c->arena, rule, data, NULL, &err) < 0)
        return cli_fail(c, &err);
    return print_value(c, result, false);
}

static const cli_option diff_options[] = {
    {"--exit-code", "exit with 8 when the values differ", offsetof(cli, exit_code)},
    {"--tests", "with --json: guard each change with a test of the old value",
     offsetof(cli, tests)},
    {NULL, NULL, 0},
};

const cli_command cli_json_commands[] = {
    {"json canonical", "VALUE", 1,
     "Print the canonical form: the bytes that are hashed and stored.",
     "RFC 8785, except that integers keep all their digits. A key that stands twice, a number\n"
     "that no double can hold and text that is not UTF-8 are refused, with the byte they are at.",
     "valise json canonical '{\"b\": 1.0, \"a\": 9007199254740993}'", NULL, run_canonical},
    {"json pretty", "VALUE", 1, "Print a value over several lines, for people.", NULL,
     "valise json pretty @answer.json", NULL, run_pretty},
    {"json get", "VALUE POINTER", 2, "Print the part of a value that a JSON Pointer names.", NULL,
     "valise json get '{\"turns\": [{\"role\": \"user\"}]}' /turns/0/role", NULL, run_get},
    {"json diff", "A B", 2, "Show what changed from A to B.",
     "With --json the answer is a JSON Patch (RFC 6902) that turns A into B.",
     "valise json diff '{\"a\": 1}' '{\"a\": 2, \"b\": 3}'", diff_options, run_diff},
    {"json patch", "VALUE PATCH", 2, "Apply a JSON Patch, all of it or nothing.", NULL,
     "valise json patch '{\"a\": 1}' '[{\"op\": \"add\", \"path\": \"/b\", \"value\": 2}]'", NULL,
     run_patch},
    {"json validate", "VALUE SCHEMA", 2, "Check a value against a JSON Schema (draft 2020-12).",
     "Exits with 6 when the value is not valid. References are followed inside the schema and to\n"
     "the draft's own metaschemas, never over the network.",
     "valise json validate '{\"n\": 3}' '{\"properties\": {\"n\": {\"maximum\": 2}}}'", NULL,
     run_validate},
    {"json logic", "RULE DATA", 2, "Evaluate a JSON Logic rule on data.", NULL,
     "valise json logic '{\">\": [{\"var\": \"score\"}, 0.8]}' '{\"score\": 0.9}'", NULL,
     run_logic},
};

const size_t cli_json_command_count = VLS_COUNT(cli_json_commands);
