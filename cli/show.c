/* show.c -- values for people. */
#include "cli/print.h"

#include "base/hex.h"
#include "base/text.h"
#include "blob/ops.h"
#include "chat/rows.h"
#include "cli/paths.h"
#include "cli/turns.h"

#define SHORT_ID 8u
#define TEXT_MAX ((size_t)128 << 20)

/* ---- members of rows ---- */

valise_str cli_text_of(vls_json row, const char *name)
{
    const vls_json *member = vls_json_get(row, valise_str_of(name));

    return member && member->type == VLS_JSON_STRING ? vls_json_str(*member) : VLS_STR("");
}

int64_t cli_number_of(vls_json row, const char *name)
{
    const vls_json *member = vls_json_get(row, valise_str_of(name));

    return member && member->type == VLS_JSON_INT ? member->integer : 0;
}

int cli_keep_json(vls_json *out, vls_arena *arena, valise_str json, valise_error *err)
{
    valise_str copy;
    int rc = vls_arena_dup(&copy, arena, json, err);

    return rc < 0 ? rc
                  : vls_json_parse(out, arena, copy,
                                   &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, err);
}

void cli_add_count(vls_buf *out, int64_t count, const char *one, const char *many)
{
    vls_buf_printf(out, "%lld %s", (long long)count, count == 1 ? one : many);
}

void cli_add_some(vls_buf *out, int64_t count, const char *one, const char *many)
{
    if (count <= 0)
        return;
    vls_buf_add_text(out, ", ");
    cli_add_count(out, count, one, many);
}

/* ---- values ---- */

void cli_show_size(vls_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    uint64_t tenths = bytes, rest = 0;

    if (bytes < 1024) {
        vls_buf_printf(out, "%llu B", (unsigned long long)bytes);
        return;
    }
    for (; tenths >= 1024; tenths /= 1024, unit++)
        rest = tenths % 1024;
    vls_buf_printf(out, "%llu.%llu %s", (unsigned long long)tenths,
                   (unsigned long long)(rest * 10 / 1024), units[unit]);
}

/* Numbers of bytes are known by their names. */
static bool is_size(const valise_field *field)
{
    valise_str name = valise_str_of(field->name);

    return field->type == VALISE_T_INT &&
           (vls_str_equal(name, VLS_STR("size")) || vls_str_equal(name, VLS_STR("bytes")) ||
            vls_str_equal(name, VLS_STR("freed")) || vls_str_ends(name, VLS_STR("Size")) ||
            vls_str_ends(name, VLS_STR("Bytes")));
}

static void show_json(vls_buf *out, vls_json value)
{
    /* What came from a parser is not too deep; the buffer remembers the rest. */
    (void)vls_json_write_around(out, value, NULL);
}

static void show_list(vls_buf *out, const valise_field *item, vls_json list)
{
    for (uint32_t i = 0; i < list.len; i++) {
        if (i > 0)
            vls_buf_add_text(out, ", ");
        if (item)
            cli_show(out, item, list.items[i]);
        else
            show_json(out, list.items[i]);
    }
}

static void show_path(vls_buf *out, vls_json value)
{
    VLS_AUTO(buf) vls_buf bytes = {0};

    vls_buf_init(&bytes, out->env, TEXT_MAX);
    cli_add_path_bytes(&bytes, value);
    cli_add_quoted_name(out, vls_buf_str(&bytes));
}

void cli_show(vls_buf *out, const valise_field *field, vls_json value)
{
    if (field->type == VALISE_T_PATH) {
        show_path(out, value);
        return;
    }
    if (value.type == VLS_JSON_ARRAY && field->type == VALISE_T_LIST) {
        show_list(out, field->more, value);
        return;
    }
    if (value.type == VLS_JSON_INT && value.integer >= 0 && is_size(field)) {
        cli_show_size(out, (uint64_t)value.integer);
        return;
    }
    if (value.type != VLS_JSON_STRING || field->type == VALISE_T_JSON ||
        field->type == VALISE_T_VALUE) {
        show_json(out, value);
        return;
    }
    valise_str text = vls_json_str(value);
    size_t fraction = vls_str_find_byte(text, '.');
    if (field->type == VALISE_T_TIME && fraction < text.len) {
        vls_buf_add(out, vls_str_head(text, fraction)); /* to the second, which is RFC 3339 too */
        vls_buf_add_byte(out, 'Z');
        return;
    }
    if (field->type == VALISE_T_ID)
        text = vls_str_head(text, SHORT_ID);
    else if (field->type == VALISE_T_UUID && text.len > SHORT_ID)
        text = vls_str_from(text, text.len - SHORT_ID);
    else if (field->ref && strcmp(field->ref, VLS_REF_TURN) == 0)
        text = cli_short_ref(text);
    else if (field->ref && strcmp(field->ref, VLS_REF_HOLDER) == 0 &&
             vls_str_starts(text, VLS_STR("turn/"))) {
        vls_buf_add_text(out, "turn/");
        text = cli_short_ref(vls_str_from(text, 5));
    }
    vls_buf_add(out, text);
}

void cli_add_id(cli *c, vls_json row, const char *name)
{
    static const valise_field field = {.name = "id", .type = VALISE_T_ID};
    vls_json id = vls_member_of(row, name);

    if (id.type != VLS_JSON_NULL)
        cli_show(&c->out->text, &field, id);
}

bool cli_is_erased(vls_json row)
{
    return cli_number_of(row, "valueSize") > 0 && !vls_json_get(row, VLS_STR("valueId"));
}

bool cli_is_cut(vls_json row)
{
    const vls_json *summary = vls_json_get(row, VLS_STR("valueSummary"));

    return summary && summary->type == VLS_JSON_STRING &&
           !vls_str_equal(vls_json_str(*summary), VLS_STR("[redacted]")) &&
           cli_number_of(row, "valueSize") > (int64_t)summary->len;
}

static bool is_bare(valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == '"' || s.ptr[i] == '=')
            return false;
    }
    return s.len > 0;
}

/* What looks like an id is one that can be given back in short. */
static valise_str short_id(valise_str text)
{
    valise_str id = vls_str_head(text, vls_str_find_byte(text, '@')); /* of a version of a turn */
    valise_uuid uuid;
    valise_id hash;

    if (vls_id_parse(&hash, text, NULL) == 0)
        return vls_str_head(text, SHORT_ID);
    return vls_uuid_parse(&uuid, id, NULL) == 0 ? cli_short_ref(text) : text;
}

void cli_show_summary(vls_buf *out, vls_json value, vls_json row)
{
    size_t count = 0;

    if (value.type != VLS_JSON_OBJECT) {
        show_json(out, value);
        return;
    }
    for (uint32_t i = 0; i < value.len; i++) {
        const vls_member *member = &value.members[i];
        const vls_json *same = vls_json_get(row, vls_json_str(member->key));
        if (same && vls_json_equal(*same, member->value))
            continue;
        if (count++ > 0)
            vls_buf_add_byte(out, ' ');
        vls_buf_add(out, vls_json_str(member->key));
        vls_buf_add_byte(out, '=');
        if (member->value.type == VLS_JSON_STRING && is_bare(vls_json_str(member->value)))
            vls_buf_add(out, short_id(vls_json_str(member->value)));
        else
            show_json(out, member->value);
    }
}

/* ---- objects ---- */

static void add_indent(cli_out *out, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        vls_buf_add_byte(&out->text, ' ');
}

static void add_label(cli_out *out, const valise_field *field, size_t indent)
{
    vls_field_name words = vls_field_words(field->name, ' ');

    add_indent(out, indent);
    cli_style_begin(out, CLI_BOLD);
    vls_buf_add_text(&out->text, words.s);
    vls_buf_add_byte(&out->text, ':');
    cli_style_end(out, CLI_BOLD);
}

static const valise_field *fields_of(const valise_field *field)
{
    return field->type == VALISE_T_STRUCT ? ((const valise_struct *)field->more)->fields : NULL;
}

/* Is it shown below its label: an object, or several of them? */
static bool is_nested(const valise_field *field, vls_json value)
{
    if (field->type == VALISE_T_LIST && value.type == VLS_JSON_ARRAY)
        return field->more && fields_of(field->more) && value.len > 0;
    return fields_of(field) && value.type == VLS_JSON_OBJECT;
}

static int show_nested(cli *c, const valise_field *field, vls_json value, size_t indent,
                       valise_error *err)
{
    const valise_field *fields = fields_of(value.type == VLS_JSON_OBJECT ? field : field->more);
    int rc = 0;

    assert(fields); /* is_nested() saw them */
    vls_buf_add_byte(&c->out->text, '\n');
    if (value.type == VLS_JSON_OBJECT)
        return cli_show_object(c, fields, value, indent + 2, err);
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        if (i > 0)
            vls_buf_add_byte(&c->out->text, '\n');
        rc = cli_show_object(c, fields, value.items[i], indent + 2, err);
    }
    return rc;
}

/* Behind the label and so many blanks; a text of several lines begins below, each indented. */
static void show_text(cli_out *out, valise_str text, size_t blanks, size_t indent)
{
    valise_str line;
    bool more = vls_str_find_byte(text, '\n') < text.len;

    if (!more) {
        add_indent(out, text.len > 0 ? blanks : 0);
        cli_add_data(out, text, 0);
        vls_buf_add_byte(&out->text, '\n');
        return;
    }
    vls_buf_add_byte(&out->text, '\n');
    while (more || text.len > 0) {
        more = vls_str_cut(&line, &text, text, '\n');
        if (!more && line.len == 0)
            break;
        add_indent(out, indent + 2);
        cli_add_data(out, line, 0);
        vls_buf_add_byte(&out->text, '\n');
        if (!more)
            break;
    }
}

/* A list of nothing is nothing to show. */
static bool is_shown(const valise_field *field, vls_json value)
{
    return !(field->flags & VALISE_HIDDEN) &&
           !(field->type == VALISE_T_LIST && value.type == VLS_JSON_ARRAY && value.len == 0);
}

static size_t label_width(const valise_field *fields, vls_json value)
{
    size_t width = 0;

    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        size_t len = strlen(vls_field_words(f->name, ' ').s);
        if (v && is_shown(f, *v) && !is_nested(f, *v) && len > width)
            width = len;
    }
    return width;
}

int cli_show_object(cli *c, const valise_field *fields, vls_json value, size_t indent,
                    valise_error *err)
{
    size_t width = label_width(fields, value);
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = 0;

    vls_buf_init(&text, c->env, TEXT_MAX);
    for (const valise_field *f = fields; f->type != VALISE_T_END && rc == 0; f++) {
        const vls_json *v = vls_json_get(value, valise_str_of(f->name));
        if (!v || !is_shown(f, *v))
            continue;
        bool nested = is_nested(f, *v);
        size_t len = strlen(vls_field_words(f->name, ' ').s);
        add_label(c->out, f, indent);
        if (nested && indent < (size_t)2 * VLS_FIELDS_MAX_DEPTH) {
            rc = show_nested(c, f, *v, indent, err);
            continue;
        }
        vls_buf_clear(&text);
        cli_show(&text, f, *v);
        show_text(c->out, vls_buf_str(&text), width + 1 - VLS_MIN(width, len), indent);
        rc = vls_buf_check(&text, err);
    }
    return rc;
}
