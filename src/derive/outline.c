/* outline.c -- lines make paragraphs, and paragraphs are cut into sentences. */
#include "derive/outline.h"

#include "base/utf8.h"
#include "derive/policy_impl.h"

typedef struct reader {
    vls_arena *arena;
    vls_outline outline;
    char *room;                /* as large as the text: what is written is never longer */
    size_t begin, end;         /* the paragraph so far, in room */
    valise_str heading, first; /* lines of the text, ptr NULL until one comes */
    char fence;                /* what closes the one we are in; 0: in none */
} reader;

/* ---- characters ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_word(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

bool vls_outline_word(valise_str *out, size_t *at, valise_str sentence)
{
    size_t from = *at, to;

    while (from < sentence.len && !is_word(sentence.ptr[from]))
        from++;
    for (to = from; to < sentence.len && is_word(sentence.ptr[to]);)
        to++;
    *at = to;
    *out = vls_str(sentence.ptr + from, to - from);
    return to > from;
}

static bool has_word(valise_str s)
{
    valise_str word;
    size_t at = 0;

    return vls_outline_word(&word, &at, s);
}

static valise_str trim(valise_str s)
{
    while (s.len > 0 && is_space(s.ptr[s.len - 1]))
        s.len--;
    while (s.len > 0 && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    return s;
}

/* Copy with single spaces; s has none at its ends. Returns the length, at most that of s. */
static size_t squeeze(char *to, valise_str s)
{
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!is_space(s.ptr[i]))
            to[len++] = s.ptr[i];
        else if (!is_space(s.ptr[i - 1]))
            to[len++] = ' ';
    }
    return len;
}

/* ---- sentences ---- */

/* The length of a full stop of another script at p, or 0. */
static size_t wide_stop(const char *p, size_t len)
{
    static const char stops[][4] = {"\xe3\x80\x82", "\xef\xbc\x81", "\xef\xbc\x9f"};

    for (size_t i = 0; i < VLS_COUNT(stops); i++) {
        if (len >= 3 && memcmp(p, stops[i], 3) == 0)
            return 3;
    }
    return 0;
}

/* Where the sentence that begins at `from` ends. */
static size_t sentence_end(valise_str p, size_t from)
{
    for (size_t i = from; i < p.len; i++) {
        size_t end = i + wide_stop(p.ptr + i, p.len - i);
        if (end > i)
            return end;
        if (p.ptr[i] != '.' && p.ptr[i] != '!' && p.ptr[i] != '?')
            continue;
        end = i + 1;
        while (end < p.len && p.ptr[end] != ' ' && strchr(".!?\"')]*_`", p.ptr[end]))
            end++;
        /* "e.g. this" goes on. A paragraph does not end in a space. */
        if (end == p.len || (p.ptr[end] == ' ' && !is_lower(p.ptr[end + 1])))
            return end;
        i = end - 1;
    }
    return p.len;
}

static int end_paragraph(reader *r, valise_error *err)
{
    valise_str p = vls_str(r->room + r->begin, r->end - r->begin);

    for (size_t at = 0; at < p.len;) {
        size_t end = sentence_end(p, at);
        valise_str one = trim(vls_str(p.ptr + at, end - at));
        at = end;
        if (!has_word(one) || r->outline.sentences.len >= VLS_OUTLINE_SENTENCES_MAX)
            continue;
        if (!vls_vec_push_in(&r->outline.sentences, r->arena, one))
            return vls_arena_fail(r->arena, err);
    }
    r->begin = r->end;
    return 0;
}

/* ---- lines ---- */

/* The text of a heading line, or ptr NULL. */
static valise_str heading_text(valise_str line)
{
    size_t marks = 0;

    while (marks < line.len && line.ptr[marks] == '#')
        marks++;
    if (marks < 1 || marks > 6 || marks == line.len || !is_space(line.ptr[marks]))
        return (valise_str){NULL, 0};
    return trim(vls_str_from(line, marks));
}

/* How much of a line is the mark of a list item: 0 for others. */
static size_t item_mark(valise_str line)
{
    size_t digits = 0;

    if (line.len > 2 && strchr("-*+", line.ptr[0]) && is_space(line.ptr[1]))
        return 2;
    while (digits < 9 && digits < line.len && is_digit(line.ptr[digits]))
        digits++;
    if (digits > 0 && digits + 2 < line.len && strchr(".)", line.ptr[digits]) &&
        is_space(line.ptr[digits + 1]))
        return digits + 2;
    return 0;
}

static bool is_fence(valise_str line)
{
    return vls_str_starts(line, VLS_STR("```")) || vls_str_starts(line, VLS_STR("~~~"));
}

static int add_line(reader *r, valise_str line, valise_error *err)
{
    size_t mark = item_mark(line);
    int rc = 0;

    if (mark > 0 || line.ptr[0] == '|')
        rc = end_paragraph(r, err);
    if (r->end > r->begin)
        r->room[r->end++] = ' ';
    r->end += squeeze(r->room + r->end, trim(vls_str_from(line, mark)));
    return rc;
}

/* A line without white space at its ends. */
static int read_line(reader *r, valise_str line, valise_error *err)
{
    valise_str heading = heading_text(line);

    if (is_fence(line)) {
        if (r->fence == 0)
            r->fence = line.ptr[0];
        else if (r->fence == line.ptr[0])
            r->fence = 0;
        return end_paragraph(r, err);
    }
    if (line.len == 0 || vls_policy_is_own(line))
        return end_paragraph(r, err);
    if (!r->first.ptr)
        r->first = line;
    if (r->fence != 0)
        return 0;
    if (heading.ptr && has_word(heading) && !r->heading.ptr)
        r->heading = heading;
    if (heading.ptr || !has_word(line))
        return end_paragraph(r, err);
    return add_line(r, line, err);
}

/* ---- the whole ---- */

static int set_title(reader *r, valise_error *err)
{
    static const valise_str dots = {"...", 3};
    valise_str from = r->heading;
    char *room;

    if (!from.ptr && r->outline.sentences.len > 0) {
        from = r->outline.sentences.ptr[0];
        r->outline.led = true;
    }
    if (!from.ptr)
        from = r->first;
    if (!from.ptr)
        return 0;
    room = vls_arena_alloc(r->arena, from.len + 1);
    if (!room)
        return vls_arena_fail(r->arena, err);
    from.len = squeeze(room, from);
    from.ptr = room;
    if (from.len > VLS_OUTLINE_TITLE_MAX) {
        from.len = trim(vls_utf8_head(from, VLS_OUTLINE_TITLE_MAX - dots.len)).len;
        memcpy(room + from.len, dots.ptr, dots.len);
        from.len += dots.len;
    }
    r->outline.title = from;
    return 0;
}

int vls_outline_read(vls_outline *out, vls_arena *arena, valise_str text, valise_error *err)
{
    reader r = {.arena = arena};
    int rc = 0;

    r.room = vls_arena_alloc(arena, text.len + 1);
    if (!r.room)
        return vls_arena_fail(arena, err);
    while (rc == 0 && text.len > 0 && r.outline.sentences.len < VLS_OUTLINE_SENTENCES_MAX) {
        valise_str line;
        (void)vls_str_cut(&line, &text, text, '\n');
        rc = read_line(&r, trim(line), err);
    }
    if (rc == 0)
        rc = end_paragraph(&r, err);
    if (rc == 0)
        rc = set_title(&r, err);
    if (rc == 0)
        *out = r.outline;
    return rc;
}
