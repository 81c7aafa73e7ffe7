/* patch.c -- reading the operations of a patch and running them, one after the other.
 *
 * An operation runs on a vls_edit (edit.h), which never changes what the document shares with
 * others; when one fails, the edit is dropped and nothing has happened. Failures are reported as
 * plain reasons and get the operation's name in front in one place, name_op().
 *
 * Start reading at vls_json_patch(). */
#include "json/patch.h"

#include "json/diff.h"
#include "json/edit.h"
#include "json/pointer.h"

typedef enum op_kind { OP_ADD, OP_REMOVE, OP_REPLACE, OP_MOVE, OP_COPY, OP_TEST } op_kind;

typedef struct op_rule {
    const char *name;
    bool has_value, has_from;
} op_rule;

static const op_rule rules[] = {
    [OP_ADD] = {"add", true, false},         [OP_REMOVE] = {"remove", false, false},
    [OP_REPLACE] = {"replace", true, false}, [OP_MOVE] = {"move", false, true},
    [OP_COPY] = {"copy", false, true},       [OP_TEST] = {"test", true, false},
};

typedef struct op {
    op_kind kind;
    vls_pointer path, from;
    vls_json value;
} op;

/* ---- reading ---- */

/* 5, "abc", or "an array of 12 items" where the text would be long. */
typedef struct short_text {
    char s[64];
} short_text;

static short_text describe(vls_json v, const valise_env *env)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    short_text out;

    vls_buf_init(&buf, env, sizeof(out.s) - 1);
    if (vls_json_write(&buf, v, NULL) == 0)
        (void)snprintf(out.s, sizeof(out.s), "%.*s", VALISE_STR_ARG(vls_buf_str(&buf)));
    else if (v.type == VLS_JSON_ARRAY)
        (void)snprintf(out.s, sizeof(out.s), "an array of %u items", v.len);
    else if (v.type == VLS_JSON_OBJECT)
        (void)snprintf(out.s, sizeof(out.s), "an object of %u members", v.len);
    else if (v.type == VLS_JSON_STRING)
        (void)snprintf(out.s, sizeof(out.s), "a string of %u bytes", v.len);
    else
        (void)snprintf(out.s, sizeof(out.s), "of type %s", vls_json_type_name(v));
    return out;
}

static int read_kind(op *o, vls_json source, const valise_env *env, valise_error *err)
{
    const vls_json *name = vls_json_get(source, VLS_STR("op"));

    if (!name)
        return vls_fail(err, VALISE_E_INVALID, "\"op\" is missing");
    if (name->type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "\"op\" is not a string, its type is %s",
                        vls_json_type_name(*name));
    for (size_t i = 0; i < VLS_COUNT(rules); i++) {
        if (vls_str_equal(vls_json_str(*name), valise_str_of(rules[i].name))) {
            o->kind = (op_kind)i;
            return 0;
        }
    }
    (void)vls_fail(err, VALISE_E_INVALID, "unknown operation %s", describe(*name, env).s);
    vls_hint(err, "the operations are add, remove, replace, move, copy and test");
    return VALISE_E_INVALID;
}

static int read_pointer(vls_pointer *out, const char *name, vls_json source, const char *member,
                        vls_edit *edit, vls_arena *scratch, valise_error *err)
{
    const vls_json *text = vls_json_get(source, valise_str_of(member));

    if (!text)
        return vls_fail(err, VALISE_E_INVALID, "%s without \"%s\"", name, member);
    if (text->type != VLS_JSON_STRING)
        return vls_fail(err, VALISE_E_INVALID, "\"%s\" of %s is not a string, its type is %s",
                        member, name, vls_json_type_name(*text));
    int rc = vls_edit_charge(edit, text->len, err);
    return rc < 0 ? rc : vls_pointer_parse(out, scratch, vls_json_str(*text), err);
}

/* Read one operation. Where it is wrong, *member is the member it is about. */
static int read_op(op *o, const char **member, vls_json source, vls_edit *edit, vls_arena *scratch,
                   valise_error *err)
{
    *member = "";
    if (source.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "an operation is an object, this is of type %s",
                        vls_json_type_name(source));
    *member = "op";
    int rc = read_kind(o, source, edit->arena->env, err);
    if (rc < 0)
        return rc;
    const op_rule *rule = &rules[o->kind];
    *member = "path";
    rc = read_pointer(&o->path, rule->name, source, *member, edit, scratch, err);
    if (rc == 0 && rule->has_from) {
        *member = "from";
        rc = read_pointer(&o->from, rule->name, source, *member, edit, scratch, err);
    }
    if (rc < 0 || !rule->has_value)
        return rc;
    *member = "value";
    const vls_json *value = vls_json_get(source, VLS_STR("value"));
    if (!value)
        return vls_fail(err, VALISE_E_INVALID, "%s without \"value\"", rule->name);
    o->value = *value;
    return 0;
}

/* ---- running ---- */

/* How many levels of containers a value may have that is put there. */
static size_t levels_at(const vls_pointer *path)
{
    return VLS_JSON_MAX_DEPTH - path->count;
}

static int get_from(vls_json *out, const vls_edit *edit, const op *o, valise_error *err)
{
    valise_error reason = VALISE_ERROR_INIT;
    const vls_json *found;
    int rc = vls_pointer_get(&found, &edit->root, &o->from, &reason);

    if (rc < 0)
        return vls_fail(err, rc, "from %s: %s", vls_pointer_brief(o->from.text).s, reason.message);
    *out = *found;
    return 0;
}

static int run_move(vls_edit *edit, const op *o, valise_error *err)
{
    vls_json value;
    int rc = get_from(&value, edit, o, err);

    if (rc < 0)
        return rc;
    if (vls_pointer_is_below(&o->path, &o->from))
        return vls_fail(err, VALISE_E_INVALID, "%s cannot be moved into itself",
                        vls_pointer_brief(o->from.text).s);
    if (vls_str_equal(o->path.text, o->from.text))
        return 0;
    if (o->path.count > o->from.count)
        rc = vls_edit_measure(edit, value, levels_at(&o->path), err);
    if (rc == 0)
        rc = vls_edit_remove(edit, &o->from, err);
    return rc < 0 ? rc : vls_edit_add(edit, &o->path, value, err);
}

static int run_copy(vls_edit *edit, const op *o, valise_error *err)
{
    vls_json value;
    int rc = get_from(&value, edit, o, err);

    if (rc < 0)
        return rc;
    /* All of it is charged though nothing is copied: see vls_patch_budget. */
    rc = vls_edit_measure(edit, value, levels_at(&o->path), err);
    if (rc < 0)
        return rc;
    vls_edit_share(edit, value);
    return vls_edit_add(edit, &o->path, value, err);
}

typedef struct first_change {
    const op *op;
    const valise_env *env;
    char what[2 * sizeof(vls_pointer_quote)]; /* "value", or the path inside it */
    short_text is, expected;
} first_change;

/* The first difference is the message; then stop. */
static int note_change(void *arg, valise_str path, const vls_json *before, const vls_json *after)
{
    first_change *first = arg;
    valise_str tested = first->op->path.text;

    if (path.len > 0)
        (void)snprintf(first->what, sizeof(first->what), "%s%s",
                       tested.len > 0 ? vls_pointer_brief(tested).s : "",
                       vls_pointer_brief(path).s);
    first->is = before ? describe(*before, first->env) : (short_text){"missing"};
    first->expected = after ? describe(*after, first->env) : (short_text){"none"};
    return 1;
}

static int run_test(vls_edit *edit, const op *o, valise_error *err)
{
    const valise_env *env = edit->arena->env;
    first_change first = {o, env, "value", {"another"}, {"what the patch says"}};
    const vls_json *value = NULL;
    int rc = vls_edit_measure(edit, o->value, VLS_JSON_MAX_DEPTH, err);

    if (rc == 0)
        rc = vls_pointer_get(&value, &edit->root, &o->path, err);
    if (rc != 0 || vls_json_equal(*value, o->value))
        return rc;
    /* Item by item, with nothing spent on finding what moved. Its own failure, out of memory,
     * only makes the message poorer. */
    (void)vls_json_changes(edit->arena, *value, o->value, &(vls_diff_options){.max_work = 1},
                           note_change, &first, NULL);
    (void)vls_fail(err, VALISE_E_CONFLICT, "%s is %s, expected %s", first.what, first.is.s,
                   first.expected.s);
    vls_hint(err, "the patch was made for another document");
    return VALISE_E_CONFLICT;
}

static int run_op(vls_edit *edit, const op *o, valise_error *err)
{
    int rc = 0;

    switch (o->kind) {
    case OP_ADD:
        rc = vls_edit_measure(edit, o->value, levels_at(&o->path), err);
        return rc < 0 ? rc : vls_edit_add(edit, &o->path, o->value, err);
    case OP_REMOVE:
        return vls_edit_remove(edit, &o->path, err);
    case OP_REPLACE:
        rc = vls_edit_measure(edit, o->value, levels_at(&o->path), err);
        return rc < 0 ? rc : vls_edit_replace(edit, &o->path, o->value, err);
    case OP_MOVE:
        return run_move(edit, o, err);
    case OP_COPY:
        return run_copy(edit, o, err);
    case OP_TEST:
        return run_test(edit, o, err);
    }
    return rc;
}

/* Put "patch[3]" and, where o is not NULL, "test /a/b" in front of the reason in err, and the
 * field in front of its path. */
static void name_op(size_t index, const op *o, const char *member, valise_error *err)
{
    valise_error reason;

    if (!err)
        return;
    reason = *err;
    if (o)
        (void)vls_fail(err, reason.code, "patch[%zu] %s %s: %s", index, rules[o->kind].name,
                       vls_pointer_brief(o->path.text).s, reason.message);
    else
        (void)vls_fail(err, reason.code, "patch[%zu]: %s", index, reason.message);
    err->offset = reason.offset;
    vls_hint(err, "%s", reason.hint);
    vls_error_prepend(err, "%s", member);
    vls_error_prepend(err, "[%zu]", index);
}

static int run_all(vls_edit *edit, vls_arena *scratch, vls_json patch, valise_error *err)
{
    for (size_t i = 0; i < patch.len; i++) {
        const char *member;
        op o = {.kind = OP_ADD};

        vls_arena_reset(scratch);
        int rc = read_op(&o, &member, patch.items[i], edit, scratch, err);
        if (rc < 0) {
            name_op(i, NULL, member, err);
            return rc;
        }
        rc = run_op(edit, &o, err);
        if (rc < 0) {
            name_op(i, &o, "", err);
            return rc;
        }
    }
    return 0;
}

int vls_json_patch(vls_json *out, vls_arena *arena, vls_json document, vls_json patch,
                   vls_patch_budget *budget, valise_error *err)
{
    vls_patch_budget whole = {0, 0};
    vls_arena_mark mark = vls_arena_here(arena);
    VLS_AUTO(arena) vls_arena scratch = {0};
    vls_edit edit;

    vls_arena_init(&scratch, arena->env, arena->max);
    if (patch.type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID,
                        "a patch is an array of operations, this is of type %s",
                        vls_json_type_name(patch));
    if (!budget)
        budget = &whole;
    if (budget->max_bytes == 0)
        budget->max_bytes = VLS_PATCH_MAX_WORK_BYTES;
    vls_edit_init(&edit, arena, document, budget);
    int rc = run_all(&edit, &scratch, patch, err);
    if (rc < 0)
        vls_arena_rewind(arena, mark);
    else
        *out = edit.root;
    vls_edit_release(&edit);
    return rc;
}
