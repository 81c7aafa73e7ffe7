/* ini_scan.c -- one character after the other, as git does it.
 *
 * next_char() hides line ends: CR LF and the end of the text are a newline. Every error is about
 * the character read last. Start reading at vls_ini_scan_next(). */
#include "base/ini_scan.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"

#define BOM VLS_STR("\xEF\xBB\xBF")

static int fail_here(vls_ini_scan *scan, valise_error *err, const char *reason)
{
    return vls_fail_at(err, VALISE_E_INVALID, scan->last_at, "%s:%u: %s",
                       vls_text_short(scan->file).s, scan->last_line, reason);
}

/* The same for a character that should not be there; c is the one read last. */
static int fail_at_char(vls_ini_scan *scan, valise_error *err, char c, const char *reason)
{
    char found[32];

    if (scan->ended)
        (void)snprintf(found, sizeof(found), "the end of the file");
    else if (c == '\n')
        (void)snprintf(found, sizeof(found), "the end of the line");
    else
        (void)snprintf(found, sizeof(found), "%s", vls_byte_text(c).s);
    return vls_fail_at(err, VALISE_E_INVALID, scan->last_at, "%s:%u: %s, not %s",
                       vls_text_short(scan->file).s, scan->last_line, reason, found);
}

/* ---- limits ---- */

static int check_lines(valise_str file, valise_str text, valise_error *err)
{
    uint32_t line = 1;

    for (size_t at = 0; at < text.len; line++) {
        valise_str rest = vls_str_from(text, at);
        size_t len = vls_str_find_byte(rest, '\n');
        size_t nul = vls_str_find_byte(vls_str_head(rest, len), '\0');
        if (nul < len)
            return vls_fail_at(err, VALISE_E_INVALID, at + nul,
                               "%s:%u: a byte of value 0: this is not a text file",
                               vls_text_short(file).s, line);
        if (len > VLS_INI_MAX_LINE_BYTES)
            return vls_fail_at(err, VALISE_E_TOO_LARGE, at,
                               "%s:%u: the line has more than %zu bytes", vls_text_short(file).s,
                               line, VLS_INI_MAX_LINE_BYTES);
        at += len + 1;
    }
    return 0;
}

int vls_ini_scan_init(vls_ini_scan *scan, const valise_env *env, valise_str file, valise_str text,
                      valise_error *err)
{
    *scan = (vls_ini_scan){.file = file, .text = text, .line = 1, .last_line = 1};
    vls_buf_init(&scan->name, env, VLS_INI_MAX_BYTES);
    vls_buf_init(&scan->value, env, VLS_INI_MAX_BYTES);
    if (text.len > VLS_INI_MAX_BYTES)
        return vls_fail(err, VALISE_E_TOO_LARGE, "%s: the file has more than %zu bytes",
                        vls_text_short(file).s, VLS_INI_MAX_BYTES);
    if (vls_str_starts(text, BOM))
        scan->at = BOM.len;
    return check_lines(file, text, err);
}

void vls_ini_scan_release(vls_ini_scan *scan)
{
    vls_buf_release(&scan->name);
    vls_buf_release(&scan->value);
}

/* ---- characters ---- */

static char next_char(vls_ini_scan *scan)
{
    scan->last_at = scan->at;
    scan->last_line = scan->line;
    scan->ended = scan->at == scan->text.len;
    if (scan->ended)
        return '\n';

    char c = scan->text.ptr[scan->at++];
    if (c == '\r' && scan->at < scan->text.len && scan->text.ptr[scan->at] == '\n')
        c = scan->text.ptr[scan->at++];
    if (c == '\n')
        scan->line++;
    return c;
}

/* ---- headers ---- */

/* Behind the white space that follows the section's name: "subsection"] */
static int scan_subsection(vls_ini_scan *scan, char c, valise_error *err)
{
    while (c != '\n' && vls_ini_is_space(c))
        c = next_char(scan);
    if (c != '"')
        return fail_at_char(scan, err, c,
                            "the name of a section must be followed by ']' or a quote");
    vls_buf_add_byte(&scan->name, '.');

    while ((c = next_char(scan)) != '"') {
        if (c == '\\')
            c = next_char(scan);
        if (c == '\n')
            return fail_here(scan, err, "the quote of the subsection is not closed");
        vls_buf_add_byte(&scan->name, c);
    }
    c = next_char(scan);
    if (c != ']')
        return fail_at_char(scan, err, c, "a subsection must be followed by ']'");
    return 0;
}

/* Behind '['. */
static int scan_header(vls_ini_scan *scan, valise_error *err)
{
    size_t start = scan->at;
    int rc = 0;
    char c;

    vls_buf_clear(&scan->name);
    while ((c = next_char(scan)) != ']') {
        if (vls_ini_is_space(c)) {
            rc = scan_subsection(scan, c, err);
            break;
        }
        if (!vls_ini_is_name_char(c) && c != '.')
            return fail_at_char(scan, err, c,
                                "the name of a section may have only letters, digits, '-' and '.'");
        vls_buf_add_byte(&scan->name, vls_to_lower(c));
    }
    if (rc == 0 && scan->last_at == start)
        return fail_here(scan, err, "the section has no name");
    vls_buf_add_byte(&scan->name, '.');
    scan->stem_len = scan->name.len;
    /* Like git, take the first dot for the end of the section, wherever it came from. */
    scan->section_len = vls_str_find_byte(vls_buf_str(&scan->name), '.');
    return rc;
}

/* ---- entries ---- */

/* What stands for the escape \c, or 0 when there is no such escape. */
static char unescape(char c)
{
    static const char escapes[] = "t\tn\nb\b\\\\\"\"";

    for (size_t i = 0; i + 1 < sizeof(escapes); i += 2) {
        if (escapes[i] == c)
            return escapes[i + 1];
    }
    return '\0';
}

/* Behind a backslash in a value. */
static int scan_escape(vls_ini_item *item, vls_ini_scan *scan, valise_error *err)
{
    char c = next_char(scan), meant = unescape(c);

    if (c == '\n') {
        item->missing_newlines = scan->ended; /* one more than the value's own end needs */
        return 0;
    }
    if (meant == '\0')
        return fail_at_char(scan, err, c, "an escape is \\\\, \\\", \\n, \\t or \\b");
    vls_buf_add_byte(&scan->value, meant);
    return 0;
}

/* Skip the rest of a line whose comment has begun. */
static void skip_comment(vls_ini_scan *scan)
{
    while (next_char(scan) != '\n')
        ;
}

/* Behind '=', up to and with the newline. */
static int scan_value(vls_ini_item *item, vls_ini_scan *scan, valise_error *err)
{
    bool quoted = false, any = false;
    size_t trimmed = 0; /* the length without the blanks at the end; 0: there are none */
    int rc = 0;
    char c;

    item->value_start = item->value_end = scan->at;
    while (rc == 0 && (c = next_char(scan)) != '\n') {
        if (vls_ini_is_space(c) && !quoted) {
            if (trimmed == 0)
                trimmed = scan->value.len;
            if (scan->value.len > 0) /* blanks before the value are none of its own */
                vls_buf_add_byte(&scan->value, c);
            continue;
        }
        if ((c == '#' || c == ';') && !quoted) {
            skip_comment(scan);
            break;
        }
        trimmed = 0;
        if (!any)
            item->value_start = scan->last_at;
        any = true;
        if (c == '\\')
            rc = scan_escape(item, scan, err);
        else if (c == '"')
            quoted = !quoted;
        else
            vls_buf_add_byte(&scan->value, c);
        item->value_end = scan->at;
    }
    if (rc == 0 && quoted)
        return fail_here(scan, err, "the quote in the value is not closed");
    if (trimmed > 0)
        scan->value.len = trimmed;
    return rc;
}

/* first is the letter the key begins with, already read. */
static int scan_entry(vls_ini_item *item, vls_ini_scan *scan, char first, valise_error *err)
{
    char c;
    int rc = 0;

    item->start = scan->last_at;
    item->entry.line = scan->last_line;
    scan->name.len = scan->stem_len;
    vls_buf_clear(&scan->value);
    vls_buf_add_byte(&scan->name, vls_to_lower(first));
    while (vls_ini_is_name_char(c = next_char(scan)))
        vls_buf_add_byte(&scan->name, vls_to_lower(c));
    item->key_end = item->value_start = item->value_end = scan->last_at;

    while (c == ' ' || c == '\t')
        c = next_char(scan);
    item->alone = c != '=';
    if (!item->alone) {
        rc = scan_value(item, scan, err);
        item->entry.value = scan->value.len > 0 ? vls_buf_str(&scan->value) : VLS_STR("");
    } else if (c != '\n') {
        rc = fail_at_char(scan, err, c, "a key must be followed by '=' or the end of the line");
    }
    item->missing_newlines += scan->ended;
    return rc;
}

/* ---- items ---- */

/* Point the names of the item into "section.subsection.key". */
static void split_name(vls_ini_item *item, const vls_ini_scan *scan)
{
    valise_str name = vls_buf_str(&scan->name);
    vls_ini_entry *entry = &item->entry;

    entry->file = scan->file;
    entry->name.key = vls_str_from(name, scan->stem_len);
    entry->full_name = name;
    entry->name.section = vls_str_head(name, scan->section_len);
    if (scan->section_len + 1 < scan->stem_len)
        entry->name.subsection =
            vls_str(name.ptr + scan->section_len + 1, scan->stem_len - scan->section_len - 2);
}

int vls_ini_scan_next(vls_ini_item *out, vls_ini_scan *scan, valise_error *err)
{
    vls_ini_item item = {.kind = VLS_INI_END, .start = scan->text.len, .end = scan->text.len};
    char c = next_char(scan);
    int rc = 0;

    while (!scan->ended && (vls_ini_is_space(c) || c == '#' || c == ';')) {
        if (c == '#' || c == ';')
            skip_comment(scan);
        c = next_char(scan);
    }
    if (scan->ended) {
        *out = item;
        return 0;
    }
    if (c == '[') {
        item.kind = VLS_INI_HEADER;
        item.start = scan->last_at;
        rc = scan_header(scan, err);
    } else if (vls_is_letter(c)) {
        item.kind = VLS_INI_ENTRY;
        rc = scan_entry(&item, scan, c, err);
    } else {
        rc = fail_at_char(scan, err, c, "a line must begin with '[', a letter, '#' or ';'");
    }
    if (rc == 0)
        rc = vls_buf_check(&scan->name, err);
    if (rc == 0)
        rc = vls_buf_check(&scan->value, err);
    if (rc < 0)
        return rc;
    item.end = scan->at;
    split_name(&item, scan);
    *out = item;
    return 0;
}
