/* split.c -- see split.h. */
#include "exchange/split.h"

#include "base/str.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- bytes ---- */

static int fill(vls_splitter *s, valise_error *err)
{
    size_t len = 0;
    int rc;

    if (s->at > 0 && s->at == s->len)
        s->at = s->len = 0;
    if (s->ended || s->len == sizeof(s->room))
        return 0;
    rc = s->source(&len, s->arg, s->room + s->len, sizeof(s->room) - s->len, err);
    if (rc < 0)
        return rc;
    s->len += len;
    s->ended = len == 0;
    return 0;
}

/* 1 when there is a byte, 0 at the end. */
static int peek(char *out, vls_splitter *s, valise_error *err)
{
    while (s->at == s->len) {
        int rc = fill(s, err);
        if (rc < 0)
            return rc;
        if (s->at == s->len && s->ended)
            return 0;
    }
    *out = s->room[s->at];
    return 1;
}

static void pass(vls_splitter *s)
{
    if (s->room[s->at] == '\n')
        s->line++;
    s->at++;
    s->offset++;
}

static void keep(vls_splitter *s, char c)
{
    if (s->over)
        return;
    if (s->text.len >= s->text.max)
        s->over = true;
    else
        vls_buf_add_byte(&s->text, c);
}

/* ---- which form ---- */

/* Records of one program begin with the same key. */
static bool begins_alike(const vls_splitter *s, size_t at)
{
    const char *first = s->room + s->at, *other = s->room + at;
    size_t most = s->len - at, len = 0;

    while (len < most && first[len] == other[len] && first[len] != ':' && first[len] != '\n')
        len++;
    return len < most && first[len] == ':' && other[len] == ':';
}

/* Is the first line torn, which ends before `at`, so that what begins there is the next record?
 * Behind anything but these three no value can begin. */
static bool is_torn(const vls_splitter *s, size_t at, char last)
{
    return at < s->len && s->room[at] == '{' &&
           (begins_alike(s, at) || (last != ':' && last != ',' && last != '['));
}

/* A value that is not over where its first line is goes on over several lines; or it is torn. */
static int form_of(const vls_splitter *s)
{
    size_t at = s->at, depth = 0;
    bool quoted = false;
    char last = 0; /* of the line, but for blanks */

    if (s->room[at] == '[')
        return VLS_SPLIT_ARRAY;
    for (; at < s->len; at++) {
        char c = s->room[at];
        if (quoted) {
            at += c == '\\';
            quoted = c != '"';
        } else if (c == '\n') {
            return depth > 0 && !is_torn(s, at + 1, last) ? VLS_SPLIT_VALUES : VLS_SPLIT_LINES;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
        last = is_space(c) ? last : c;
    }
    return VLS_SPLIT_LINES;
}

int vls_split_begin(vls_splitter *s, const valise_env *env, vls_split_source *source, void *arg,
                    size_t piece_max, valise_error *err)
{
    char c = 0;
    int rc = 0;

    s->source = source;
    s->arg = arg;
    s->form = VLS_SPLIT_EMPTY;
    s->ended = s->closed = s->over = false;
    s->at = s->len = 0;
    s->offset = 0;
    s->line = 1;
    vls_buf_init(&s->text, env, piece_max);
    while (rc == 0 && !s->ended && s->len < sizeof(s->room))
        rc = fill(s, err);
    if (rc == 0 && s->len >= 3 && memcmp(s->room, "\xEF\xBB\xBF", 3) == 0)
        s->at = s->offset = 3;
    while (rc == 0 && (rc = peek(&c, s, err)) > 0 && is_space(c)) {
        pass(s);
        rc = 0;
    }
    if (rc <= 0)
        return rc;
    s->form = form_of(s);
    if (s->form == VLS_SPLIT_ARRAY)
        pass(s);
    return 0;
}

void vls_split_end(vls_splitter *s)
{
    vls_buf_release(&s->text);
}

/* ---- pieces ---- */

static void begin_piece(vls_split_piece *out, vls_splitter *s)
{
    vls_buf_clear(&s->text);
    s->over = false;
    *out = (vls_split_piece){.offset = s->offset, .line = s->line, .what = VLS_PIECE_WHOLE};
}

static int end_piece(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    int rc = vls_buf_check(&s->text, err);

    if (rc < 0)
        return rc;
    if (s->over)
        out->what = VLS_PIECE_TOO_LARGE;
    else
        out->text = vls_str_trim(vls_buf_str(&s->text));
    return 1;
}

static int skip_space(vls_splitter *s, bool commas, valise_error *err)
{
    char c = 0;
    int rc;

    while ((rc = peek(&c, s, err)) > 0 && (is_space(c) || (commas && c == ',')))
        pass(s);
    return rc;
}

static int next_line(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    char c = 0;
    int rc = skip_space(s, false, err);

    if (rc <= 0)
        return rc;
    begin_piece(out, s);
    while ((rc = peek(&c, s, err)) > 0) {
        pass(s);
        if (c == '\n')
            break;
        keep(s, c);
    }
    if (rc == 0)
        out->what = VLS_PIECE_LAST;
    return rc < 0 ? rc : end_piece(out, s, err);
}

/* Until the brackets are closed. 1: they are; 0: the file ended before. What ends with the file and
 * has its brackets closed is whole, whatever is missing behind it. */
static int keep_value(vls_splitter *s, valise_error *err)
{
    bool array = s->form == VLS_SPLIT_ARRAY, quoted = false, escaped = false, closed = false;
    uint64_t depth = 0;
    char c = 0;
    int rc;

    while ((rc = peek(&c, s, err)) > 0) {
        if (quoted) {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if (depth == 0 && array && (c == ',' || c == ']')) {
            return 1;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
            closed = depth == 0;
            if (depth == 0 && !array) {
                keep(s, c);
                pass(s);
                return 1;
            }
        }
        keep(s, c);
        pass(s);
    }
    return rc == 0 && closed && depth == 0 && !quoted ? 1 : rc;
}

/* Where a value should be and is none: the rest of the line. */
static int next_stray(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    int rc = next_line(out, s, err);

    if (rc > 0 && out->what != VLS_PIECE_TOO_LARGE)
        out->what = VLS_PIECE_STRAY;
    return rc;
}

static int next_value(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    int rc;

    begin_piece(out, s);
    rc = keep_value(s, err);
    if (rc == 0)
        out->what = VLS_PIECE_CUT;
    return rc < 0 ? rc : end_piece(out, s, err);
}

static int next_element(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    char c = 0;
    int rc = skip_space(s, !s->closed, err);

    if (rc < 0)
        return rc;
    if (s->closed)
        return rc == 0 ? 0 : next_stray(out, s, err);
    if (rc == 0) {
        s->closed = true;
        begin_piece(out, s);
        out->what = VLS_PIECE_CUT;
        return 1;
    }
    (void)peek(&c, s, err);
    if (c == ']') {
        pass(s);
        s->closed = true;
        return next_element(out, s, err);
    }
    rc = next_value(out, s, err);
    if (rc > 0 && out->what == VLS_PIECE_CUT)
        s->closed = true;
    return rc;
}

int vls_split_next(vls_split_piece *out, vls_splitter *s, valise_error *err)
{
    char c = 0;
    int rc;

    switch (s->form) {
    case VLS_SPLIT_LINES:
        return next_line(out, s, err);
    case VLS_SPLIT_ARRAY:
        return next_element(out, s, err);
    case VLS_SPLIT_VALUES:
        rc = skip_space(s, true, err);
        if (rc <= 0)
            return rc;
        (void)peek(&c, s, err);
        return c == '{' || c == '[' ? next_value(out, s, err) : next_stray(out, s, err);
    default:
        return 0;
    }
}
