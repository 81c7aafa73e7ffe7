/* op_json_diff.c -- json:diff, what changed from one value to another.
 *
 * The answer has both forms: changes for people, and a patch that a program can apply. */
#include "kernel/json.h"

#include "base/vec.h"
#include "json/diff.h"

typedef struct diff_args {
    valise_content before, after;
    bool tests;
} diff_args;

static const valise_field diff_in[] = {
    VALISE_FIELD(diff_args, before, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL, "The old value."),
    VALISE_FIELD(diff_args, after, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL, "The new value."),
    VALISE_FIELD(diff_args, tests, BOOL, 0,
                 "In the patch, guard each change with a test of the old value."),
    VALISE_FIELD_END,
};

typedef struct diff_change {
    valise_str path, before, after;
} diff_change;

typedef struct diff_result {
    valise_list changes;
    valise_str patch;
} diff_result;

static const valise_field change_fields[] = {
    VALISE_FIELD(diff_change, path, STR, VALISE_NULLABLE, "JSON Pointer of what changed."),
    VALISE_FIELD(diff_change, before, JSON, VALISE_NULLABLE, "What was there; absent: nothing."),
    VALISE_FIELD(diff_change, after, JSON, VALISE_NULLABLE, "What is there; absent: nothing."),
    VALISE_FIELD_END,
};
static const valise_struct change_struct = {sizeof(diff_change), change_fields};
static const valise_field change_item = {
    .name = "change", .help = "One change.", .type = VALISE_T_STRUCT, .more = &change_struct};

static const valise_field diff_out[] = {
    VALISE_FIELD_WITH(diff_result, changes, LIST, 0, "What changed, in the order of the document.",
                      .more = &change_item),
    VALISE_FIELD(diff_result, patch, JSON, 0, "The JSON Patch (RFC 6902) that makes the change."),
    VALISE_FIELD_END,
};

typedef struct change_list {
    valise_view *view;
    vls_vec(const diff_change *) changes;
    valise_error err;
} change_list;

static int note_change(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    change_list *list = arg;
    vls_arena *arena = vls_json_arena(list->view);
    diff_change *change = vls_arena_zalloc(arena, sizeof(*change));
    int rc;

    if (!change)
        return vls_arena_fail(arena, &list->err);
    rc = vls_arena_dup(&change->path, arena, path, &list->err);
    if (rc == 0 && before)
        rc = vls_json_shown(&change->before, list->view, *before, &list->err);
    if (rc == 0 && after)
        rc = vls_json_shown(&change->after, list->view, *after, &list->err);
    if (rc == 0 && !vls_vec_push(&list->changes, arena->env, change))
        rc = vls_fail_memory(&list->err);
    return rc;
}

static int list_changes(valise_list *out, valise_view *view, vls_json a, vls_json b,
                        valise_error *err)
{
    change_list list = {.view = view, .err = VALISE_ERROR_INIT};
    vls_arena *arena = vls_json_arena(view);
    const diff_change **items = NULL;
    int rc = vls_json_changes(arena, a, b, NULL, note_change, &list, err);

    if (rc < 0 && list.err.code < 0 && err)
        *err = list.err;
    if (rc == 0 && list.changes.len > 0) {
        items = vls_arena_array(arena, list.changes.len, sizeof(*items));
        if (items)
            memcpy(items, list.changes.ptr, list.changes.len * sizeof(*items));
        else
            rc = vls_arena_fail(arena, err);
    }
    if (rc == 0)
        *out = (valise_list){items, list.changes.len};
    vls_vec_release(&list.changes, arena->env);
    return rc;
}

static int diff_query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const diff_args *a = args;
    diff_result *out = result;
    vls_diff_options options = {.flags = a->tests ? VLS_DIFF_WITH_TESTS : 0};
    vls_json before = vls_json_null(), after = vls_json_null(), patch = vls_json_null();
    int rc = vls_json_argument(&before, view, &a->before, err);

    if (rc == 0)
        rc = vls_json_argument(&after, view, &a->after, err);
    if (rc == 0)
        rc = list_changes(&out->changes, view, before, after, err);
    if (rc == 0)
        rc = vls_json_diff(&patch, vls_json_arena(view), before, after, &options, err);
    return rc < 0 ? rc : vls_json_shown(&out->patch, view, patch, err);
}

const valise_op vls_op_kernel_json_diff = {
    .size = sizeof(valise_op),
    .name = "json:diff",
    .brief = "Compare two JSON values.",
    .help = "On the command line --json prints the patch alone, which `valise json patch` applies.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE | VALISE_OP_IDEMPOTENT,
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_result),
    .query = diff_query,
    .example = "{\"before\":{\"a\":1},\"after\":{\"a\":2,\"b\":3}}",
};
