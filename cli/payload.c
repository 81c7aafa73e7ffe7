/* payload.c -- what was given, as the JSON object that the operation takes. */
#include "cli/help.h"
#include "cli/paths.h"
#include "cli/words.h"

#include "base/text.h"

static int usage_error(const cli *c, const cli_words *words, const char *hint, valise_error *err,
                       const char *format, ...) VALISE_PRINTF(5, 6);

/* "'valise pin add' FORMAT" */
static int usage_error(const cli *c, const cli_words *words, const char *hint, valise_error *err,
                       const char *format, ...)
{
    VLS_AUTO(buf) vls_buf text = {0};
    va_list args;

    vls_buf_init(&text, c->env, 4096);
    vls_buf_printf(&text, "'valise %s' ", words->name.s);
    va_start(args, format);
    vls_buf_vprintf(&text, format, args);
    va_end(args);
    vls_report(err, CLI_E_USAGE, -1, "%.*s", (int)text.len, text.ptr);
    vls_hint(err, "%s", hint);
    return CLI_E_USAGE;
}

/* ---- operands ---- */

static bool is_given(const cli_words *words, const valise_field *field)
{
    for (size_t i = 0; i < words->given_count; i++) {
        if (words->given[i].path[0] == field)
            return true;
    }
    return false;
}

static bool is_operand(const valise_field *field)
{
    return field->flags & VALISE_POSITIONAL && !(field->flags & VALISE_SECRET);
}

static void add_operand(cli_words *words, const valise_field *field, const char *word)
{
    words->given[words->given_count++] =
        (cli_given){.path = {field}, .depth = 1, .how = CLI_AS_TEXT, .word = word};
}

/* "NAME [TARGET]" in the order of the table. */
static void add_operand_names(vls_buf *out, const valise_field *fields, bool only_required)
{
    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        if (!is_operand(f) || (only_required && !(f->flags & VALISE_REQUIRED)))
            continue;
        if (out->len)
            vls_buf_add_byte(out, ' ');
        vls_buf_add_text(out, cli_operand_name(f).s);
    }
}

static void add_example_hint(vls_buf *out, const cli *c, const cli_words *words,
                             const char *advice);

static int refuse_operand(const cli *c, const cli_words *words, const char *word, valise_error *err)
{
    VLS_AUTO(buf) vls_buf names = {0};
    VLS_AUTO(buf) vls_buf hint = {0};

    for (size_t i = 0; i < words->given_count; i++) {
        if (words->given[i].how == CLI_AS_PLAIN)
            return usage_error(c, words, "give the one or the other", err,
                               "has its %s from --text, and '%s' is one too many",
                               cli_operand_name(words->given[i].path[0]).s,
                               vls_text_short(valise_str_of(word)).s);
    }
    vls_buf_init(&names, c->env, 4096);
    add_operand_names(&names, words->command->op->in, false);
    if (names.len == 0)
        return usage_error(c, words, "leave it out", err, "takes no operands, not even '%s'",
                           vls_text_short(valise_str_of(word)).s);
    vls_buf_init(&hint, c->env, 4096);
    if (cli_takes_program(words->command->op))
        vls_buf_add_text(&hint, "put a program and its arguments after --");
    else
        add_example_hint(&hint, c, words, "put JSON and text with spaces into quotes; ");
    return usage_error(c, words, vls_buf_cstr(&hint) ? vls_buf_cstr(&hint) : "", err,
                       "takes only %.*s, and '%s' is one too many", (int)names.len, names.ptr,
                       vls_text_short(valise_str_of(word)).s);
}

/* Paths that follow operands which may be left out: behind "--" there are only paths. */
static bool takes_paths(const valise_op *op)
{
    bool before = false;

    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (is_operand(f) && f->type == VALISE_T_LIST && cli_is_tree_path(f))
            return before;
        before = before || (is_operand(f) && !(f->flags & VALISE_REQUIRED));
    }
    return false;
}

/* Operands go to the POSITIONAL fields that no option has filled; a LIST takes all that are left.
 * Those of a program stand behind "--", and nothing else does. */
static int assign_operands(cli *c, cli_words *words, valise_error *err)
{
    const valise_field *field = words->command->op->in;
    size_t next = 0, end = words->operand_count;

    bool paths = takes_paths(words->command->op);

    if (paths || cli_takes_program(words->command->op))
        end = words->dashes_at;
    for (; field && field->type != VALISE_T_END; field++) {
        bool program = field->type == VALISE_T_LIST && cli_is_program(field->more);
        if (program && next < end)
            break; /* one too many before the "--" */
        if (program || (paths && field->type == VALISE_T_LIST && cli_is_tree_path(field)))
            end = words->operand_count;
        if (next == end || !is_operand(field) || is_given(words, field))
            continue;
        add_operand(words, field, words->operands[next++]);
        while (field->type == VALISE_T_LIST && next < end)
            add_operand(words, field, words->operands[next++]);
    }
    if (next < words->operand_count)
        return refuse_operand(c, words, words->operands[next], err);
    return 0;
}

/* A command line that works, where there is room for it, behind what else there is to say. */
static void add_example_hint(vls_buf *out, const cli *c, const cli_words *words, const char *advice)
{
    cli_name name = words->name;

    vls_buf_printf(out, "%sfor example: ", advice);
    size_t before = out->len;
    cli_add_example(out, c, words->command->op, &name);
    if (out->len > before && out->len < sizeof(((valise_error *)NULL)->hint) &&
        !memchr(out->ptr, '\n', out->len)) {
        vls_buf_add_byte(out, '\0');
        return;
    }
    vls_buf_clear(out);
    vls_buf_printf(out, "%ssee 'valise %s --help'", advice, words->name.s);
    vls_buf_add_byte(out, '\0');
}

static int check_required(const cli *c, const cli_words *words, valise_error *err)
{
    const valise_op *op = words->command->op;
    VLS_AUTO(buf) vls_buf names = {0};
    VLS_AUTO(buf) vls_buf hint = {0};

    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (!(f->flags & VALISE_REQUIRED) || f->flags & VALISE_SECRET || is_given(words, f))
            continue;
        vls_buf_init(&hint, c->env, 4096);
        add_example_hint(&hint, c, words, "");
        if (vls_buf_check(&hint, err) < 0)
            return vls_fail_memory(err);
        if (!is_operand(f))
            return usage_error(c, words, hint.ptr, err, "needs: --%s %s", cli_option_name(f).s,
                               cli_value_name(f));
        vls_buf_init(&names, c->env, 4096);
        add_operand_names(&names, op->in, true);
        return usage_error(c, words, hint.ptr, err, "needs: %.*s", (int)names.len, names.ptr);
    }
    return 0;
}

/* ---- the object ---- */

typedef struct maker {
    cli *c;
    const cli_words *words;
    vls_json_builder json;
} maker;

/* The field at this depth of what is given, where the path leads through `outer`. */
static bool is_under(const cli_given *given, const valise_field *const *outer, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (given->path[i] != outer[i])
            return false;
    }
    return given->depth > depth;
}

static int given_value(vls_json *out, cli *c, const cli_given *given, valise_error *err)
{
    const valise_field *field = given->path[given->depth - 1];

    if (given->how == CLI_AS_TRUE || given->how == CLI_AS_FALSE) {
        *out = vls_json_bool(given->how == CLI_AS_TRUE);
        return 0;
    }
    if (given->how == CLI_AS_SECRET_FILE) {
        valise_str text = {NULL, 0};
        int rc = cli_read_secret(&text, c, field->name, given->word, err);
        if (rc == 0)
            *out = vls_json_string(text);
        return rc;
    }
    if (given->how == CLI_AS_PLAIN) {
        valise_field text = *field;
        text.type = VALISE_T_TEXT;
        return cli_value(out, c, &text, given->word, err);
    }
    if (field->type == VALISE_T_LIST) {
        /* An item has no name of its own. */
        valise_field item = *(const valise_field *)field->more;
        item.name = field->name;
        return cli_value(out, c, &item, given->word, err);
    }
    return cli_value(out, c, field, given->word, err);
}

static int refuse_twice(const valise_field *field, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'--%s' is given twice", vls_field_words(field->name, '-').s);
    vls_hint(err, "only lists may be given more than once");
    return CLI_E_USAGE;
}

static int refuse_empty(const valise_field *field, valise_error *err)
{
    vls_report(err, CLI_E_USAGE, -1, "'--no-%s' means an empty list",
               vls_field_words(field->name, '-').s);
    vls_hint(err, "leave it out, or leave out '--%s'", cli_option_name(field).s);
    return CLI_E_USAGE;
}

/* How often the field itself is given, and how often something inside it. */
static void count_given(size_t *whole, size_t *inside, const cli_words *words,
                        const valise_field *const *path, size_t depth)
{
    *whole = *inside = 0;
    for (size_t i = 0; i < words->given_count; i++) {
        if (is_under(&words->given[i], path, depth))
            (*inside)++;
        else if (is_under(&words->given[i], path, depth - 1) &&
                 words->given[i].path[depth - 1] == path[depth - 1])
            (*whole)++;
    }
}

static int add_whole(maker *m, const valise_field *const *path, size_t depth, size_t count,
                     valise_error *err)
{
    const valise_field *field = path[depth - 1];
    int rc = 0;

    if (field->type == VALISE_T_LIST)
        vls_json_open(&m->json, VLS_JSON_ARRAY);
    for (size_t i = 0; i < m->words->given_count && rc == 0; i++) {
        const cli_given *given = &m->words->given[i];
        vls_json value = vls_json_null();
        if (given->depth != depth || !is_under(given, path, depth - 1) ||
            given->path[depth - 1] != field)
            continue;
        if (given->how == CLI_AS_EMPTY && count > 1)
            return refuse_empty(field, err);
        if (given->how == CLI_AS_EMPTY)
            break;
        rc = given_value(&value, m->c, given, err);
        if (rc == 0)
            vls_json_add(&m->json, value);
        else if (err && err->path[0] == '\0' && rc != CLI_E_USAGE && rc != VALISE_E_CANCELLED)
            vls_error_prepend(err, "%s", field->name);
    }
    if (field->type == VALISE_T_LIST && rc == 0)
        vls_json_close(&m->json);
    return rc;
}

static int add_secret(maker *m, const valise_field *field, valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = cli_read_secret(&text, m->c, field->name, NULL, err);

    if (rc < 0)
        return rc;
    if (text.ptr) {
        vls_json_add_text(&m->json, valise_str_of(field->name), text);
        return 0;
    }
    if (!(field->flags & VALISE_REQUIRED))
        return 0;
    vls_report(err, CLI_E_USAGE, -1, "the secret '%s' is missing", field->name);
    vls_hint(err, "set %s, or put it into a file that only you can read and give --%s-file FILE",
             cli_secret_variable(field->name).s, vls_field_words(field->name, '-').s);
    return CLI_E_USAGE;
}

/* The members of one table; path[0 .. depth) leads to it. */
static int add_members(maker *m, const valise_field *fields, const valise_field **path,
                       size_t depth, valise_error *err)
{
    size_t whole, inside;
    int rc = 0;

    vls_json_open(&m->json, VLS_JSON_OBJECT);
    for (const valise_field *f = fields; f && f->type != VALISE_T_END && rc == 0; f++) {
        path[depth] = f;
        count_given(&whole, &inside, m->words, path, depth + 1);
        if (whole + inside == 0) {
            if (f->flags & VALISE_SECRET)
                rc = add_secret(m, f, err);
            continue;
        }
        if ((whole > 1 && f->type != VALISE_T_LIST) || (whole > 0 && inside > 0))
            return refuse_twice(f, err);
        vls_json_add_key(&m->json, valise_str_of(f->name));
        if (whole > 0)
            rc = add_whole(m, path, depth + 1, whole, err);
        else
            rc = add_members(m, ((const valise_struct *)f->more)->fields, path, depth + 1, err);
    }
    if (rc == 0)
        vls_json_close(&m->json);
    return rc;
}

int cli_words_payload(vls_json *out, cli *c, const cli_words *words, valise_error *err)
{
    const valise_field *path[VLS_FIELDS_MAX_DEPTH + 1] = {NULL};
    cli_words all = *words;
    maker m = {.c = c, .words = &all};
    int rc;

    rc = assign_operands(c, &all, err);
    if (rc == 0)
        rc = check_required(c, &all, err);
    if (rc < 0)
        return rc;
    c->one_value = all.given_count == 1;
    vls_json_builder_init(&m.json, &c->arena);
    rc = add_members(&m, words->command->op->in, path, 0, err);
    if (rc < 0) {
        vls_json_builder_release(&m.json);
        return rc;
    }
    return vls_json_builder_finish(out, &m.json, err);
}
