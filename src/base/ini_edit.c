/* ini_edit.c -- changing one value of a configuration file and nothing else.
 *
 * One pass finds the place (survey), then the text before it, the new piece and the text behind
 * it are appended to the output, and the result is read once more: that finds a line that has
 * become too long, and asserts that the value is the one that was asked for. */
#include "base/ini.h"

#include "base/hex.h"
#include "base/ini_scan.h"
#include "base/str.h"
#include "base/text.h"

/* ---- names ---- */

static bool equal_ignoring_case(valise_str a, valise_str b)
{
    size_t i = 0;

    while (i < a.len && i < b.len && vls_to_lower(a.ptr[i]) == vls_to_lower(b.ptr[i]))
        i++;
    return i == a.len && i == b.len;
}

static bool same_section(const vls_ini_name *a, const vls_ini_name *b)
{
    if (!equal_ignoring_case(a->section, b->section))
        return false;
    if (!a->subsection.ptr || !b->subsection.ptr)
        return a->subsection.ptr == b->subsection.ptr;
    return vls_str_equal(a->subsection, b->subsection);
}

static int check_word(valise_str word, const char *what, valise_error *err)
{
    if (word.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "the %s of a setting is empty", what);
    for (size_t i = 0; i < word.len; i++) {
        if (!vls_ini_is_name_char(word.ptr[i]))
            return vls_fail(err, VALISE_E_INVALID,
                            "%s \"%s\": only letters, digits and '-' are allowed, not %s", what,
                            vls_text_short(word).s, vls_byte_text(word.ptr[i]).s);
    }
    return 0;
}

static int check_name(const vls_ini_name *name, valise_error *err)
{
    int rc = check_word(name->section, "section", err);

    if (rc == 0)
        rc = check_word(name->key, "key", err);
    if (rc < 0)
        return rc;
    if (!vls_is_letter(name->key.ptr[0]))
        return vls_fail(err, VALISE_E_INVALID, "key \"%s\" does not begin with a letter",
                        vls_text_short(name->key).s);
    for (size_t i = 0; i < name->subsection.len; i++) {
        if (name->subsection.ptr[i] == '\n' || name->subsection.ptr[i] == '\0')
            return vls_fail(err, VALISE_E_INVALID,
                            "subsection \"%s\" has a newline or a byte of value 0",
                            vls_text_short(name->subsection).s);
    }
    return 0;
}

/* ---- writing ---- */

static bool needs_quotes(valise_str value)
{
    if (value.len == 0 || value.ptr[0] == ' ' || value.ptr[value.len - 1] == ' ')
        return true;
    for (size_t i = 0; i < value.len; i++) {
        /* Outside of quotes a CR is white space, and may be half of a line's end. */
        if (value.ptr[i] == '#' || value.ptr[i] == ';' || value.ptr[i] == '\r')
            return true;
    }
    return false;
}

static void add_value(vls_buf *out, valise_str value)
{
    bool quotes = needs_quotes(value);

    if (quotes)
        vls_buf_add_byte(out, '"');
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        char escaped = (char)(c == '\n' ? 'n' : c == '\t' ? 't' : c == '\b' ? 'b' : c);
        if (escaped != c || c == '\\' || c == '"')
            vls_buf_add_byte(out, '\\');
        vls_buf_add_byte(out, escaped);
    }
    if (quotes)
        vls_buf_add_byte(out, '"');
}

static void add_header(vls_buf *out, const vls_ini_name *name)
{
    vls_buf_add_byte(out, '[');
    vls_buf_add(out, name->section);
    if (name->subsection.ptr) {
        vls_buf_add(out, VLS_STR(" \""));
        for (size_t i = 0; i < name->subsection.len; i++) {
            if (name->subsection.ptr[i] == '\\' || name->subsection.ptr[i] == '"')
                vls_buf_add_byte(out, '\\');
            vls_buf_add_byte(out, name->subsection.ptr[i]);
        }
        vls_buf_add_byte(out, '"');
    }
    vls_buf_add_byte(out, ']');
}

/* ---- finding the place ---- */

/* A walk over the items that knows which of them are meant. */
typedef struct walk {
    vls_ini_scan scan;
    vls_ini_item item;
    const vls_ini_name *name;
    bool inside; /* the section of that name */
    bool match;  /* the item is an entry of that name */
} walk;

static int walk_init(walk *w, const valise_env *env, valise_str file, valise_str text,
                     const vls_ini_name *name, valise_error *err)
{
    *w = (walk){.item = {.kind = VLS_INI_HEADER}, .name = name};
    return vls_ini_scan_init(&w->scan, env, file, text, err);
}

static int walk_next(walk *w, valise_error *err)
{
    int rc = vls_ini_scan_next(&w->item, &w->scan, err);

    if (rc < 0)
        return rc;
    if (w->item.kind == VLS_INI_HEADER)
        w->inside = same_section(&w->item.entry.name, w->name);
    w->match = w->inside && w->item.kind == VLS_INI_ENTRY &&
               equal_ignoring_case(w->item.entry.name.key, w->name->key);
    return 0;
}

static void vls_auto_walk(walk *w)
{
    vls_ini_scan_release(&w->scan);
}

/* The places in it outlive the walk; the names and values its items borrowed do not. */
typedef struct survey {
    bool has_entry, has_section, section_has_entry;
    vls_ini_item entry;         /* the last one of that name */
    vls_ini_item section;       /* the last header of that section */
    vls_ini_item section_entry; /* the last entry under it, whatever its key */
    uint32_t missing_newlines;  /* to add before anything can follow the text */
    valise_str newline;         /* how lines end: as the first one does */
} survey;

static valise_str newline_of(valise_str text)
{
    size_t at = vls_str_find_byte(text, '\n');

    return at < text.len && at > 0 && text.ptr[at - 1] == '\r' ? VLS_STR("\r\n") : VLS_STR("\n");
}

static int survey_text(survey *out, const valise_env *env, valise_str file, valise_str text,
                       const vls_ini_name *name, valise_error *err)
{
    VLS_AUTO(walk) walk w = {0};
    survey s = {.newline = newline_of(text),
                .missing_newlines = text.len > 0 && text.ptr[text.len - 1] != '\n'};
    int rc = walk_init(&w, env, file, text, name, err);

    while (rc == 0 && w.item.kind != VLS_INI_END && (rc = walk_next(&w, err)) == 0) {
        if (w.inside && w.item.kind == VLS_INI_HEADER) {
            s.section = w.item;
            s.has_section = true;
            s.section_has_entry = false;
        } else if (w.inside && w.item.kind == VLS_INI_ENTRY) {
            s.section_entry = w.item;
            s.section_has_entry = true;
        }
        if (w.match) {
            s.entry = w.item;
            s.has_entry = true;
        }
        s.missing_newlines = VLS_MAX(s.missing_newlines, w.item.missing_newlines);
    }
    if (rc < 0)
        return rc;
    *out = s;
    return 0;
}

/* Where the line of this place begins. */
static size_t line_start(valise_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n')
        at--;
    return at;
}

/* Whether only white space stands between the beginning of the line and this place. */
static bool begins_line(valise_str text, size_t at)
{
    return vls_str_trim(vls_str(text.ptr + line_start(text, at), at - line_start(text, at))).len ==
           0;
}

/* Where a line can be added behind a header without entries: after the rest of its line, or
 * right behind it when another header follows there. */
static size_t behind_header(valise_str text, const vls_ini_item *header)
{
    valise_str rest = vls_str_from(text, header->end);
    valise_str line = vls_str_head(rest, vls_str_find_byte(rest, '\n'));
    valise_str content = vls_str_trim(line);

    if (content.len > 0 && content.ptr[0] != '#' && content.ptr[0] != ';')
        return header->end;
    return header->end + line.len + (line.len < rest.len);
}

/* ---- set ---- */

static void replace_value(vls_buf *out, valise_str text, const survey *s, valise_str value)
{
    const vls_ini_item *entry = &s->entry;
    bool empty = entry->value_start == entry->value_end;

    vls_buf_add(out, vls_str_head(text, entry->value_start));
    if (entry->alone)
        vls_buf_add(out, VLS_STR(" ="));
    if (empty)
        vls_buf_add_byte(out, ' ');
    add_value(out, value);

    valise_str rest = vls_str_from(text, entry->value_end);
    if (empty && rest.len > 0 && !vls_ini_is_space(rest.ptr[0]))
        vls_buf_add_byte(out, ' ');
    vls_buf_add(out, rest);
}

/* A line of its own, indented like the entry before it, or like git does it. */
static void add_line(vls_buf *out, valise_str text, const survey *s, const vls_ini_name *name,
                     valise_str value)
{
    valise_str indent = VLS_STR("\t");

    if (s->section_has_entry && begins_line(text, s->section_entry.start)) {
        size_t start = line_start(text, s->section_entry.start);
        indent = vls_str(text.ptr + start, s->section_entry.start - start);
    }
    vls_buf_add(out, indent);
    vls_buf_add(out, name->key);
    vls_buf_add(out, VLS_STR(" = "));
    add_value(out, value);
    vls_buf_add(out, s->newline);
}

static void insert_entry(vls_buf *out, valise_str text, const survey *s, const vls_ini_name *name,
                         valise_str value)
{
    size_t at = text.len;

    if (s->section_has_entry)
        at = s->section_entry.end;
    else if (s->has_section)
        at = behind_header(text, &s->section);

    uint32_t newlines = at == text.len ? s->missing_newlines : text.ptr[at - 1] != '\n';

    vls_buf_add(out, vls_str_head(text, at));
    for (; newlines > 0; newlines--)
        vls_buf_add(out, s->newline);
    if (!s->has_section) {
        add_header(out, name);
        vls_buf_add(out, s->newline);
    }
    add_line(out, text, s, name, value);
    vls_buf_add(out, vls_str_from(text, at));
}

/* The result must be readable, within the limits, and say what was asked for. */
static int check_result(const valise_env *env, valise_str file, valise_str text,
                        const vls_ini_name *name, const valise_str *value, valise_error *err)
{
    VLS_AUTO(walk) walk w = {0};
    bool found = false, right = false;
    int rc = walk_init(&w, env, file, text, name, err);

    while (rc == 0 && w.item.kind != VLS_INI_END && (rc = walk_next(&w, err)) == 0) {
        if (w.match) {
            found = true;
            right = value && vls_str_equal(w.item.entry.value, *value);
        }
    }
    assert(rc < 0 || (value ? found && right : !found));
    assert(rc != VALISE_E_INVALID);
    (void)found;
    (void)right;
    return rc;
}

int vls_ini_set(vls_buf *out, valise_str file, valise_str text, const vls_ini_name *name,
                valise_str value, valise_error *err)
{
    size_t start = out->len;
    survey s = {.has_entry = false};
    int rc = check_name(name, err);

    if (rc == 0 && vls_str_find_byte(value, '\0') < value.len)
        rc = vls_fail(err, VALISE_E_INVALID, "the value of %s has a byte of value 0",
                      vls_text_short(name->key).s);
    if (rc == 0)
        rc = survey_text(&s, out->env, file, text, name, err);
    if (rc < 0)
        return rc;
    if (s.has_entry)
        replace_value(out, text, &s, value);
    else
        insert_entry(out, text, &s, name, value);
    rc = vls_buf_check(out, err);
    if (rc == 0)
        rc = check_result(out->env, file, vls_str_from(vls_buf_str(out), start), name, &value, err);
    if (rc < 0)
        out->len = start;
    return rc;
}

/* ---- unset ---- */

/* What goes with an entry: whole lines, or where it stands behind a header what follows that. */
static void removed_part(size_t *from, size_t *to, valise_str text, const vls_ini_item *entry)
{
    *to = entry->end;
    if (begins_line(text, entry->start)) {
        *from = line_start(text, entry->start);
        return;
    }
    *from = entry->start;
    while (vls_ini_is_space(text.ptr[*from - 1]))
        (*from)--;
    if (text.ptr[*to - 1] == '\n')
        *to -= *to - 1 > *from && text.ptr[*to - 2] == '\r' ? 2 : 1;
}

static int copy_without(vls_buf *out, valise_str file, valise_str text, const vls_ini_name *name,
                        valise_error *err)
{
    VLS_AUTO(walk) walk w = {0};
    size_t copied = 0, from, to;
    int rc = walk_init(&w, out->env, file, text, name, err);

    while (rc == 0 && w.item.kind != VLS_INI_END && (rc = walk_next(&w, err)) == 0) {
        if (w.match) {
            removed_part(&from, &to, text, &w.item);
            vls_buf_add(out, vls_str(text.ptr + copied, from - copied));
            copied = to;
        }
    }
    if (rc == 0 && copied == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "%s: there is no %s in section %s",
                        vls_text_short(file).s, vls_text_short(name->key).s,
                        vls_text_short(name->section).s);
    vls_buf_add(out, vls_str_from(text, copied));
    return rc < 0 ? rc : vls_buf_check(out, err);
}

int vls_ini_unset(vls_buf *out, valise_str file, valise_str text, const vls_ini_name *name,
                  valise_error *err)
{
    size_t start = out->len;
    int rc = check_name(name, err);

    if (rc == 0)
        rc = copy_without(out, file, text, name, err);
    if (rc == 0)
        rc = check_result(out->env, file, vls_str_from(vls_buf_str(out), start), name, NULL, err);
    if (rc < 0)
        out->len = start;
    return rc;
}
