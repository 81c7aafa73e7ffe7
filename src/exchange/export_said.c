/* export_said.c -- what was said, within a document in Markdown: it is Markdown itself mostly, and
 * must not end, hide or forge what stands around it.
 *
 *     a fence that is open at the end      is closed
 *     <, where a tag could begin           \<
 *     ## user, ...                         \## user, ...
 *     a fence that its lines do not keep   all of it in a fence of ours
 *
 * A fence and what is in backticks on one line stay as they are. */
#include "chat/rows.h"
#include "exchange/export.h"

typedef struct fence {
    size_t indent, len; /* len 0: there is none */
    char mark;
} fence;

static size_t run_of(valise_str s, size_t at, char c)
{
    size_t len = 0;

    while (at + len < s.len && s.ptr[at + len] == c)
        len++;
    return len;
}

static fence fence_at(valise_str line)
{
    fence f = {.indent = run_of(line, 0, ' ')};

    if (f.indent < line.len && (line.ptr[f.indent] == '`' || line.ptr[f.indent] == '~'))
        f.mark = line.ptr[f.indent];
    f.len = f.mark ? run_of(line, f.indent, f.mark) : 0;
    if (f.len < 3 ||
        (f.mark == '`' &&
         vls_str_find_byte(vls_str_from(line, f.indent + f.len), '`') + f.indent + f.len <
             line.len))
        f.len = 0;
    return f;
}

static bool closes(valise_str line, const fence *open)
{
    fence f = fence_at(line);

    return f.len >= open->len && f.mark == open->mark &&
           vls_str_trim(vls_str_from(line, f.indent + f.len)).len == 0;
}

/* Does a line leave a list that the fence may be in? Then nobody knows what is in the fence. */
static bool leaves(valise_str line, const fence *open)
{
    return run_of(line, 0, ' ') < open->indent && vls_str_trim(line).len > 0;
}

static bool is_heading_of_ours(valise_str line)
{
    valise_str rest = vls_str_from(line, run_of(line, 0, ' '));

    if (!vls_str_starts(rest, VLS_STR("## ")))
        return false;
    rest = vls_str_trim(vls_str_from(rest, 3));
    for (size_t i = 0; vls_turn_roles[i]; i++) {
        valise_str role = valise_str_of(vls_turn_roles[i]);
        if (vls_str_starts(rest, role) && rest.len > role.len && rest.ptr[role.len] == ',')
            return true;
    }
    return false;
}

static bool begins_tag(valise_str line, size_t at)
{
    char next = at + 1 < line.len ? line.ptr[at + 1] : ' ';

    return line.ptr[at] == '<' &&
           (vls_is_letter(next) || next == '/' || next == '!' || next == '?');
}

/* Behind what stands in backticks from here on; `at` where it is not closed on this line. */
static size_t behind_code(valise_str line, size_t at)
{
    size_t len = run_of(line, at, '`'), other;

    for (size_t i = at + len; i < line.len; i += other) {
        other = run_of(line, i, '`');
        if (other == len)
            return i + len;
        other = other > 0 ? other : 1;
    }
    return at;
}

static void add_line(vls_buf *out, valise_str line)
{
    size_t at = 0;

    if (is_heading_of_ours(line)) {
        at = run_of(line, 0, ' ');
        vls_buf_add(out, vls_str(line.ptr, at));
        vls_buf_add_byte(out, '\\');
    }
    while (at < line.len) {
        size_t end = at + 1;
        if (line.ptr[at] == '`') {
            end = behind_code(line, at);
            end = end > at ? end : at + run_of(line, at, '`');
        } else if (line.ptr[at] == '\\' && end < line.len) {
            end++;
        } else if (begins_tag(line, at)) {
            vls_buf_add_byte(out, '\\');
        }
        vls_buf_add(out, vls_str(line.ptr + at, end - at));
        at = end;
    }
}

/* false: it has a fence that may be none. */
static bool add_lines(vls_buf *out, valise_str text)
{
    fence open = {.len = 0};
    valise_str line, rest = text;

    while (rest.len > 0) {
        bool more = vls_str_cut(&line, &rest, rest, '\n');
        if (open.len > 0 && leaves(line, &open))
            return false;
        if (open.len > 0) {
            vls_buf_add(out, line);
            if (closes(line, &open))
                open.len = 0;
        } else {
            open = fence_at(line);
            if (open.len > 0)
                vls_buf_add(out, line);
            else
                add_line(out, line);
        }
        if (more)
            vls_buf_add_byte(out, '\n');
    }
    if (open.len == 0)
        return true;
    vls_buf_add_byte(out, '\n');
    for (size_t i = 0; i < open.indent; i++)
        vls_buf_add_byte(out, ' ');
    for (size_t i = 0; i < open.len; i++)
        vls_buf_add_byte(out, open.mark);
    return true;
}

int vls_export_said(valise_str *out, bool *tame, vls_arena *arena, valise_str text,
                    valise_error *err)
{
    vls_buf lines;

    vls_buf_init_in(&lines, arena, UINT32_MAX);
    *tame = add_lines(&lines, text);
    return vls_buf_keep(out, &lines, err);
}
