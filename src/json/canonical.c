/* canonical.c -- is a text its own canonical form?
 *
 * Most values are: a program wrote them. Then nothing needs to be parsed and written anew. One pass
 * over the text, without memory. What would need more than a look is left to the parser: keys that
 * are not ASCII or have escapes (their order is that of UTF-16 units), \u escapes, numbers of many
 * digits or with an exponent, deep nesting.
 *
 * Why so few digits: up to 15 of them survive the way through a double, so the shortest text that
 * gives the same double is the one that is there. */
#include "json/scan.h" /* first: see there */

#include "base/utf8.h"
#include "json/json.h"

#define NESTS_MAX 64u
#define PARSED_MAX ((size_t)1 << 30) /* memory of a text that is parsed */
#define DIGITS_MAX 15
#define ZEROS_MAX 5 /* behind the point; with more of them the canonical text has an exponent */

typedef struct nest {
    bool is_object;
    valise_str key; /* of an object: the last one; ptr NULL: none yet */
} nest;

typedef struct walk {
    const char *end;
    size_t depth;
    nest nests[NESTS_MAX];
} walk;

/* As in read.c: these take the place they start at and return the place behind what they passed, or
 * NULL where it is not canonical, or not known to be. */

static const char *pass_odd(const char *p, const char *end)
{
    uint32_t ignored;
    size_t used;

    if (*p == '\\')
        return end - p >= 2 && p[1] && strchr("\"\\bfnrt", p[1]) ? p + 2 : NULL;
    if ((unsigned char)*p < 0x20)
        return NULL;
    used = vls_utf8_decode(&ignored, p, (size_t)(end - p));
    return used ? p + used : NULL;
}

/* p behind the opening quote. */
static const char *pass_string(const char *p, const char *end)
{
    while (p) {
        p = vls_scan_text(p, end);
        if (p == end)
            return NULL;
        if (*p == '"')
            return p + 1;
        p = pass_odd(p, end);
    }
    return NULL;
}

/* A key and its colon. */
static const char *pass_key(walk *w, const char *p)
{
    nest *n = &w->nests[w->depth - 1];
    const char *quote;
    valise_str key;

    if (p == w->end || *p != '"')
        return NULL;
    quote = vls_scan_text(p + 1, w->end);
    if (w->end - quote < 2 || quote[0] != '"' || quote[1] != ':')
        return NULL;
    key = vls_str(p + 1, (size_t)(quote - p - 1));
    if (n->key.ptr && vls_str_compare(n->key, key) >= 0)
        return NULL;
    n->key = key;
    return quote + 2;
}

static const char *pass_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The digits behind a point: some, and the last is no zero. */
static const char *pass_fraction(const char *p, const char *end, bool is_under_one)
{
    const char *last = pass_digits(p, end), *first = p;

    while (first < last && *first == '0')
        first++;
    if (first == last || last[-1] == '0' || (is_under_one && first - p > ZEROS_MAX))
        return NULL;
    return last;
}

static const char *pass_number(const char *p, const char *end)
{
    const char *first = p + (*p == '-'), *point = pass_digits(first, end);
    bool is_zero = first < end && *first == '0';

    if (point == first || (is_zero && point - first > 1))
        return NULL;
    if (point < end && *point == '.')
        p = pass_fraction(point + 1, end, is_zero);
    else
        p = is_zero && *p == '-' ? NULL : point;
    if (!p || p - first > DIGITS_MAX || (p < end && (*p == 'e' || *p == 'E')))
        return NULL;
    return p;
}

static const char *pass_word(const char *p, const char *end, const char *word, size_t len)
{
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0 ? p + len : NULL;
}

/* p at '{' or '['. *whole: it is empty. */
static const char *open_container(walk *w, const char *p, bool *whole)
{
    bool is_object = *p++ == '{';

    *whole = p < w->end && *p == (is_object ? '}' : ']');
    if (*whole)
        return p + 1;
    if (w->depth == NESTS_MAX)
        return NULL;
    w->nests[w->depth++] = (nest){.is_object = is_object};
    return is_object ? pass_key(w, p) : p;
}

/* *whole is false when a container was opened: then its first value is next. */
static const char *pass_value(walk *w, const char *p, bool *whole)
{
    *whole = true;
    if (p == w->end)
        return NULL;
    switch (*p) {
    case '"':
        return pass_string(p + 1, w->end);
    case '{':
    case '[':
        return open_container(w, p, whole);
    case 't':
        return pass_word(p, w->end, "true", 4);
    case 'f':
        return pass_word(p, w->end, "false", 5);
    case 'n':
        return pass_word(p, w->end, "null", 4);
    default:
        return pass_number(p, w->end);
    }
}

/* Behind a value: close what ends here. *more says that another value follows. */
static const char *pass_ends(walk *w, const char *p, bool *more)
{
    *more = false;
    while (p && w->depth > 0 && !*more) {
        bool in_object = w->nests[w->depth - 1].is_object;
        if (p == w->end)
            return NULL;
        *more = *p == ',';
        if (*more)
            p = in_object ? pass_key(w, p + 1) : p + 1;
        else if (*p++ == (in_object ? '}' : ']'))
            w->depth--;
        else
            p = NULL;
    }
    return p;
}

bool vls_json_is_canonical(valise_str text)
{
    walk w; /* large: what is needed of it is set */
    const char *p = text.ptr;
    bool whole, more = true;

    if (text.len == 0 || text.len > VLS_JSON_MAX_BYTES)
        return false;
    w.end = text.ptr + text.len;
    w.depth = 0;
    while (p && more) {
        p = pass_value(&w, p, &whole);
        if (p && whole)
            p = pass_ends(&w, p, &more);
    }
    return p == w.end;
}

int vls_json_canonical(valise_blob **out, const valise_env *env, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    if (vls_json_is_canonical(text))
        return vls_blob_new(out, env, text, err);
    vls_buf_init(&buf, env, VLS_JSON_MAX_BYTES);
    vls_arena_init(&arena, env, PARSED_MAX);
    rc = vls_json_parse(&value, &arena, text, NULL, err);
    if (rc == 0) {
        (void)vls_buf_reserve(&buf, text.len); /* most canonical texts are about as long */
        rc = vls_json_write(&buf, value, err);
    }
    return rc < 0 ? rc : vls_blob_new(out, env, vls_buf_str(&buf), err);
}
