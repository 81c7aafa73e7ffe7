/* registry_check.c -- what is checked of an operation and of a collection by themselves.
 *
 * Messages begin with what it is about, "operation pin:add: ..."; err->path then leads to the
 * field, "pin:add.in.target". */
#include "bus/registry_check.h"

#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"
#include "field/field.h"

#define BRIEF_MAX 100u
#define HELP_MAX ((size_t)32 << 10)
#define STRUCT_MAX ((size_t)64 << 10)
#define ALIAS_WORDS_MAX 3u
#define NAME_PARTS_MAX 4u
#define INDEXES_MAX 16u

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool vls_name_is_word(valise_str name, const char *more)
{
    if (name.len == 0 || name.len > VLS_NAME_MAX || !is_lower(name.ptr[0]))
        return false;
    for (size_t i = 1; i < name.len; i++) {
        char c = name.ptr[i];
        if (!is_lower(c) && !(c >= '0' && c <= '9') && (c == '\0' || !strchr(more, c)))
            return false;
    }
    return true;
}

/* Words with separators between them, from `min` to `max` of them. */
static bool is_words(valise_str name, char separator, size_t min, size_t max)
{
    size_t count = 0;
    bool more;

    if (name.len > VLS_NAME_MAX)
        return false;
    do {
        valise_str word;
        more = vls_str_cut(&word, &name, name, separator);
        if (!vls_name_is_word(word, "-"))
            return false;
        count++;
    } while (more);
    return count >= min && count <= max;
}

/* "admin" or "area:verb": what one capability is called where it is asked for. */
static bool is_capability(valise_str name)
{
    return vls_str_equal(name, VLS_STR("admin")) || is_words(name, ':', 2, 2);
}

/* One line of text that ends in a period. */
static bool is_sentence(valise_str text)
{
    if (text.len < 2 || text.len > BRIEF_MAX || text.ptr[text.len - 1] != '.')
        return false;
    return vls_str_find_byte(text, '\n') == text.len && vls_utf8_valid(text);
}

/* ---- operations ---- */

#define BAD_OP(...) vls_fail(err, VALISE_E_INVALID, "operation " __VA_ARGS__)

static int check_texts(const valise_op *op, valise_error *err)
{
    valise_str help = valise_str_of(op->help);

    if (!op->brief || !is_sentence(valise_str_of(op->brief)))
        return BAD_OP("%s: its brief must be one line of at most %u bytes that ends in a period",
                      op->name, BRIEF_MAX);
    if (help.len > HELP_MAX || !vls_utf8_valid(help))
        return BAD_OP("%s: its help must be UTF-8 of at most %zu bytes", op->name, HELP_MAX);
    if (op->alias && !is_words(valise_str_of(op->alias), ' ', 1, ALIAS_WORDS_MAX))
        return BAD_OP("%s: its alias \"%s\" is not a command line: words of a-z, 0-9 and '-'",
                      op->name, vls_text_short(valise_str_of(op->alias)).s);
    return 0;
}

static int check_functions(const valise_op *op, valise_error *err)
{
    static const char *const names[] = {"", "command", "query", "job"};
    bool fits = (op->kind == VALISE_COMMAND && op->decide && !op->query && !op->job) ||
                (op->kind == VALISE_QUERY && op->query && !op->decide && !op->job) ||
                (op->kind == VALISE_JOB && op->job && !op->decide && !op->query);

    if (op->kind < VALISE_COMMAND || op->kind > VALISE_JOB)
        return BAD_OP("%s: there is no kind %u", op->name, (unsigned)op->kind);
    if (!fits)
        return BAD_OP("%s: a %s has exactly one function, `%s`", op->name, names[op->kind],
                      op->kind == VALISE_COMMAND ? "decide" : names[op->kind]);
    if (op->apart && op->kind != VALISE_COMMAND)
        return BAD_OP("%s: only a command can be `apart`", op->name);
    if ((op->prepare || op->receive) && op->kind != VALISE_COMMAND)
        return BAD_OP("%s: only a command can be prepared", op->name);
    if (op->current && op->kind != VALISE_COMMAND)
        return BAD_OP("%s: only a command takes `expect`", op->name);
    if ((op->current != NULL) != (op->expect_help != NULL))
        return BAD_OP("%s: `current` and `expect_help` come together", op->name);
    return 0;
}

static int check_flags(const valise_op *op, valise_error *err)
{
    const uint32_t known = VALISE_OP_IDEMPOTENT | VALISE_OP_DESTRUCTIVE | VALISE_OP_LIST |
                           VALISE_OP_NO_WORKSPACE | VALISE_OP_INTERNAL | VALISE_OP_READ_ONLY |
                           VALISE_OP_ASKS;

    if (op->flags & ~known)
        return BAD_OP("%s: it has flags that this library does not know (0x%x)", op->name,
                      (unsigned)(op->flags & ~known));
    if ((op->flags & VALISE_OP_LIST) && (op->kind == VALISE_COMMAND || !op->out))
        return BAD_OP("%s: only a query or job with an `out` answers with a list", op->name);
    if ((op->flags & VALISE_OP_NO_WORKSPACE) && op->kind != VALISE_QUERY)
        return BAD_OP("%s: only a query can do without a workspace", op->name);
    if ((op->flags & VALISE_OP_READ_ONLY) && op->kind != VALISE_JOB)
        return BAD_OP("%s: the flag READ_ONLY is for jobs", op->name);
    if ((op->flags & VALISE_OP_DESTRUCTIVE) && op->kind == VALISE_QUERY)
        return BAD_OP("%s: a query destroys nothing", op->name);
    return 0;
}

static int check_needs(const valise_op *op, valise_error *err)
{
    if (!op->needs && (op->flags & VALISE_OP_NO_WORKSPACE))
        return 0;
    if (!op->needs)
        return BAD_OP("%s: it does not say which capability it needs", op->name);
    if (!is_capability(valise_str_of(op->needs)))
        return BAD_OP("%s: \"%s\" is not a capability: it is \"admin\" or like \"pin:write\"",
                      op->name, vls_text_short(valise_str_of(op->needs)).s);
    return 0;
}

/* A table of the arguments or of the answer. */
static int check_table(const valise_op *op, const char *which, const valise_field *fields,
                       size_t size, valise_error *err)
{
    int rc;

    if (!fields && size != 0)
        return BAD_OP("%s: %s_size is %zu, but there is no table", op->name, which, size);
    if (!fields)
        return 0;
    if (size == 0 || size > STRUCT_MAX)
        return BAD_OP("%s: %s_size is %zu; 1 to %zu are possible", op->name, which, size,
                      STRUCT_MAX);
    rc = vls_fields_check(fields, size, err);
    if (rc < 0)
        vls_error_prepend(err, "%s.%s", op->name, which);
    return rc;
}

/* The command line can only be understood one way: operands that may be missing come last, and of
 * a list nobody could say where it ends. */
static int check_operands(const valise_op *op, valise_error *err)
{
    const valise_field *open = NULL;

    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        if (!(f->flags & VALISE_POSITIONAL))
            continue;
        if (f->flags & VALISE_SECRET)
            return BAD_OP("%s: `%s` is secret and must not stand on a command line", op->name,
                          f->name);
        if (open && ((f->flags & VALISE_REQUIRED) || open->type == VALISE_T_LIST))
            return BAD_OP("%s: no operand can follow `%s`, which is a list or may be missing",
                          op->name, open->name);
        if (!(f->flags & VALISE_REQUIRED) || f->type == VALISE_T_LIST)
            open = f;
    }
    return 0;
}

/* A field of the table, or of one inside of it, that is a content or what a collection says is one;
 * or NULL. Tables were checked, so they end. */
static const valise_field *find_content(const valise_field *fields);

static const valise_field *find_content_in(const valise_field *f)
{
    if (f->flags & VALISE_CONTENT)
        return f;
    switch (f->type) {
    case VALISE_T_VALUE:
    case VALISE_T_TEXT:
    case VALISE_T_DATA:
        return f;
    case VALISE_T_LIST:
        return find_content_in(f->more);
    case VALISE_T_STRUCT:
        return find_content(((const valise_struct *)f->more)->fields);
    case VALISE_T_UNION:
        for (const valise_case *c = ((const valise_union *)f->more)->cases; c->name; c++) {
            const valise_field *found = find_content(c->type->fields);
            if (found)
                return found;
        }
        return NULL;
    default:
        return NULL;
    }
}

static const valise_field *find_content(const valise_field *fields)
{
    for (const valise_field *f = fields; f && f->type != VALISE_T_END; f++) {
        const valise_field *found = find_content_in(f);
        if (found)
            return found;
    }
    return NULL;
}

static int check_result(const valise_op *op, valise_error *err)
{
    const valise_field *content = op->kind == VALISE_COMMAND ? find_content(op->out) : NULL;

    if (content)
        return BAD_OP(
            "%s: `%s` of its answer is content, which would be kept in the log and told in "
            "events: answer with an id or a size",
            op->name, content->name ? content->name : "an item");
    return 0;
}

static int check_example(const valise_op *op, vls_arena *arena, valise_error *err)
{
    static const valise_field nothing[] = {VALISE_FIELD_END};
    size_t size = op->in ? op->in_size : 1;
    void *args;
    vls_json v;
    int rc;

    if (!op->example && op->in)
        return BAD_OP("%s: it takes arguments and has no example", op->name);
    if (!op->example)
        return 0;
    args = vls_arena_zalloc(arena, size);
    if (!args)
        return vls_arena_fail(arena, err);
    rc = vls_json_parse(&v, arena, valise_str_of(op->example), NULL, err);
    if (rc == 0)
        rc = vls_fields_decode(args, op->in ? op->in : nothing, size, v, VLS_FIELD_INPUT, arena,
                               err);
    if (rc < 0)
        vls_error_prepend(err, "%s.example", op->name);
    return rc;
}

int vls_op_check(const valise_op *op, vls_arena *arena, valise_error *err)
{
    int rc;

    if (!op->name || !is_words(valise_str_of(op->name), ':', 2, NAME_PARTS_MAX))
        return BAD_OP("\"%s\": a name is like \"pin:add\", words of a-z, 0-9 and '-'",
                      vls_text_short(valise_str_of(op->name)).s);
    rc = check_texts(op, err);
    if (rc == 0)
        rc = check_functions(op, err);
    if (rc == 0)
        rc = check_flags(op, err);
    if (rc == 0)
        rc = check_needs(op, err);
    if (rc == 0)
        rc = check_table(op, "in", op->in, op->in_size, err);
    if (rc == 0)
        rc = check_table(op, "out", op->out, op->out_size, err);
    if (rc == 0)
        rc = check_operands(op, err);
    if (rc == 0)
        rc = check_result(op, err);
    return rc < 0 ? rc : check_example(op, arena, err);
}

/* ---- collections ---- */

#define BAD_COLL(...) vls_fail(err, VALISE_E_INVALID, "collection " __VA_ARGS__)

static int check_index(const valise_coll *coll, const valise_coll_index *index, valise_error *err)
{
    size_t count = 0;

    if (!vls_name_is_word(valise_str_of(index->name), "_"))
        return BAD_COLL("%s: \"%s\" is not a name for an index", coll->name,
                        vls_text_short(valise_str_of(index->name)).s);
    for (const valise_coll_index *other = coll->indexes; other < index; other++) {
        if (strcmp(other->name, index->name) == 0)
            return BAD_COLL("%s: there are two indexes %s", coll->name, index->name);
    }
    for (; index->fields && index->fields[count]; count++) {
        if (!vls_fields_find(coll->fields, valise_str_of(index->fields[count])))
            return BAD_COLL("%s: index %s is over `%s`, which is not a field", coll->name,
                            index->name, vls_text_short(valise_str_of(index->fields[count])).s);
        if (count == VLS_FIELDS_MAX)
            return BAD_COLL("%s: index %s has too many fields", coll->name, index->name);
    }
    if (count == 0)
        return BAD_COLL("%s: index %s is over no field", coll->name, index->name);
    return 0;
}

static int check_coll_flags(const valise_coll *coll, valise_error *err)
{
    const uint32_t known =
        VALISE_COLL_EXEMPT | VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE | VALISE_COLL_WITNESS;

    if (coll->flags & ~known)
        return BAD_COLL("%s: it has flags that this library does not know (0x%x)", coll->name,
                        (unsigned)(coll->flags & ~known));
    if ((coll->flags & VALISE_COLL_QUIET) && !(coll->flags & VALISE_COLL_IMMUTABLE))
        return BAD_COLL("%s: QUIET is for IMMUTABLE rows only", coll->name);
    return 0;
}

/* Functions that nobody would call are a mistake of who wrote them. */
static int check_coll_calls(const valise_coll *coll, valise_error *err)
{
    bool contents = false;

    if ((coll->flags & VALISE_COLL_EXEMPT) &&
        (coll->leads || coll->meet || coll->arrive || coll->restored))
        return BAD_COLL("%s: rows that are EXEMPT are in no bundle: they neither lead, meet nor "
                        "arrive, and none are restored",
                        coll->name);
    if (coll->size >= offsetof(valise_coll, expired) + sizeof(coll->expired) && coll->expired &&
        !((coll->flags & VALISE_COLL_QUIET) && coll->event))
        return BAD_COLL("%s: `expired` is for rows that are QUIET and have events", coll->name);
    for (const valise_field *f = coll->fields; f->type != VALISE_T_END; f++)
        contents = contents || (f->flags & VALISE_CONTENT);
    if (coll->erased && !contents)
        return BAD_COLL("%s: `erased` is for rows with CONTENT", coll->name);
    return 0;
}

int vls_coll_check(const valise_coll *coll, valise_error *err)
{
    size_t indexes = 0;
    int rc = 0;

    if (!coll->name || !vls_name_is_word(valise_str_of(coll->name), "_."))
        return BAD_COLL("\"%s\": a name is lower-case letters, digits and '_'",
                        vls_text_short(valise_str_of(coll->name)).s);
    if (!coll->help || !is_sentence(valise_str_of(coll->help)))
        return BAD_COLL("%s: its help must be one line of at most %u bytes that ends in a period",
                        coll->name, BRIEF_MAX);
    if (!coll->fields || coll->row_size == 0 || coll->row_size > STRUCT_MAX)
        return BAD_COLL("%s: it needs a table and a row_size of 1 to %zu", coll->name, STRUCT_MAX);
    if (coll->needs && !is_capability(valise_str_of(coll->needs)))
        return BAD_COLL(
            "%s: to see its rows needs \"%s\", which is not a capability such as area:verb",
            coll->name, vls_text_short(valise_str_of(coll->needs)).s);
    rc = check_coll_flags(coll, err);
    if (rc < 0)
        return rc;
    rc = vls_fields_check(coll->fields, coll->row_size, err);
    if (rc < 0) {
        vls_error_prepend(err, "%s", coll->name);
        return rc;
    }
    if (coll->fields->type == VALISE_T_END || !(coll->fields->flags & VALISE_KEY))
        return BAD_COLL("%s: its first field must be a KEY", coll->name);
    rc = check_coll_calls(coll, err);
    for (const valise_coll_index *i = coll->indexes; rc == 0 && i && i->name; i++) {
        if (++indexes > INDEXES_MAX)
            return BAD_COLL("%s: it has over %u indexes", coll->name, INDEXES_MAX);
        rc = check_index(coll, i, err);
    }
    return rc;
}
