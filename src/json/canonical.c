/* canonical.c -- is a text its own canonical form, or is it but for the order of its keys?
 *
 * Most values are: a program wrote them. Then nothing needs to be parsed and written anew. One pass
 * over the text, without memory. What would need more than a look is left to the parser: keys that
 * are not ASCII or have escapes (their order is that of UTF-16 units), \u escapes, numbers of many
 * digits or with an exponent, deep nesting.
 *
 * Many programs write keys as they come. Then the same pass goes over a copy, knows where members
 * begin, and moves those of an object once it ends: objects within it have the length they had.
 *
 * Why so few digits: up to 15 of them survive the way through a double, so the shortest text that
 * gives the same double is the one that is there. */
#include "json/scan.h" /* first: see there */

#include "base/utf8.h"
#include "base/vec.h"
#include "json/json.h"
#include "json/sort.h"

#define NESTS_MAX 64u
#define PARSED_MAX ((size_t)1 << 30) /* memory of a text that is parsed */
#define MOVES_MAX 8 /* times its length that a text is moved: each level moves what it holds */
#define DIGITS_MAX 15
#define ZEROS_MAX 5 /* behind the point; with more of them the canonical text has an exponent */

typedef struct nest {
    bool is_object;
    bool is_mixed;  /* some key is not behind the one before it */
    valise_str key; /* of an object: the last one; ptr NULL: none yet */
    size_t first;   /* of the sorter's members, where there is a sorter */
} nest;

typedef struct member {
    const char *at; /* its key's first quote */
    size_t key_len;
} member;

/* What it takes to move members. */
typedef struct sorter {
    const valise_env *env;
    char *text;           /* that is walked */
    vls_vec(member) open; /* of the objects that have not ended */
    vls_vec(vls_member) members;
    vls_vec(char) spare;
    size_t left; /* bytes that may still be moved */
} sorter;

typedef struct walk {
    const char *end;
    sorter *sorter; /* NULL: keys stay where they are */
    bool is_mixed;  /* without one: some key is not in order, and all before it is canonical */
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

/* ---- keys ---- */

/* The key of the innermost object that begins at p. */
static bool take_key(walk *w, const char *p, valise_str key)
{
    nest *n = &w->nests[w->depth - 1];
    sorter *s = w->sorter;
    bool behind = !n->key.ptr || vls_str_compare(n->key, key) < 0;

    n->key = key;
    n->is_mixed = n->is_mixed || !behind;
    if (s)
        return vls_vec_push(&s->open, s->env, (member){p, key.len});
    w->is_mixed = !behind;
    return behind;
}

/* As the sort wants them: the value of each is the text from its key to the next. */
static vls_member *make_members(sorter *s, const member *open, size_t count, const char *end)
{
    vls_member *m = vls_vec_reserve(&s->members, s->env, count) ? s->members.ptr : NULL;

    for (size_t i = 0; m && i < count; i++) {
        const char *next = i + 1 < count ? open[i + 1].at - 1 : end;
        m[i].key = vls_json_string(vls_str(open[i].at + 1, open[i].key_len));
        m[i].value = vls_json_string(vls_str(open[i].at, (size_t)(next - open[i].at)));
    }
    return m;
}

/* The object whose members are these ends at `end`. */
static bool sort_members(sorter *s, const member *open, size_t count, const char *end)
{
    char *start = s->text + (open[0].at - s->text), *at;
    size_t size = (size_t)(end - start), twice;
    vls_member *m = size <= s->left ? make_members(s, open, count, end) : NULL;

    if (!m || !vls_vec_reserve(&s->spare, s->env, size + 1) ||
        !vls_json_sort_members(&twice, m, count, s->env))
        return false;
    s->left -= size;
    at = s->spare.ptr;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, m[i].value.text, m[i].value.len);
        at += m[i].value.len;
        *at++ = ',';
    }
    memcpy(start, s->spare.ptr, size);
    return true;
}

/* p at the end of the innermost object. */
static bool end_members(walk *w, const char *p)
{
    const nest *n = &w->nests[w->depth - 1];
    sorter *s = w->sorter;
    bool ok;

    if (!s || n->first == s->open.len)
        return true;
    ok = !n->is_mixed || sort_members(s, s->open.ptr + n->first, s->open.len - n->first, p);
    s->open.len = n->first;
    return ok;
}

/* A key and its colon. */
static const char *pass_key(walk *w, const char *p)
{
    const char *quote;

    if (p == w->end || *p != '"')
        return NULL;
    quote = vls_scan_text(p + 1, w->end);
    if (w->end - quote < 2 || quote[0] != '"' || quote[1] != ':')
        return NULL;
    return take_key(w, p, vls_str(p + 1, (size_t)(quote - p - 1))) ? quote + 2 : NULL;
}

/* ---- values ---- */

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
    w->nests[w->depth++] =
        (nest){.is_object = is_object, .first = w->sorter ? w->sorter->open.len : 0};
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
        else if (*p++ == (in_object ? '}' : ']') && (!in_object || end_members(w, p - 1)))
            w->depth--;
        else
            p = NULL;
    }
    return p;
}

/* Is all of it canonical, or made so by the sorter? */
static bool pass_text(walk *w, valise_str text)
{
    const char *p = text.ptr;
    bool whole, more = true;

    w->is_mixed = false;
    if (text.len == 0 || text.len > VLS_JSON_MAX_BYTES)
        return false;
    w->end = text.ptr + text.len;
    w->depth = 0;
    while (p && more) {
        p = pass_value(w, p, &whole);
        if (p && whole)
            p = pass_ends(w, p, &more);
    }
    return p == w->end;
}

bool vls_json_is_canonical(valise_str text)
{
    walk w; /* large: what is needed of it is set */

    w.sorter = NULL;
    return pass_text(&w, text);
}

/* A copy of the text with its keys in order; false where that, or memory, is not enough. */
static bool sort_text(valise_blob **out, const valise_env *env, valise_str text)
{
    VLS_AUTO(blob) valise_blob *copy = NULL;
    sorter s = {.env = env, .left = MOVES_MAX * text.len};
    walk w;
    bool ok;

    if (vls_blob_new_draft(&copy, env, text.len, NULL) < 0)
        return false;
    s.text = vls_blob_draft(copy);
    memcpy(s.text, text.ptr, text.len);
    w.sorter = &s;
    ok = pass_text(&w, vls_str(s.text, text.len));
    vls_vec_release(&s.open, env);
    vls_vec_release(&s.members, env);
    vls_vec_release(&s.spare, env);
    if (!ok)
        return false;
    vls_blob_seal(copy);
    *out = VLS_TAKE(copy);
    return true;
}

int vls_json_canonical(valise_blob **out, const valise_env *env, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    walk w;
    int rc;

    w.sorter = NULL;
    if (pass_text(&w, text))
        return vls_blob_new(out, env, text, err);
    if (w.is_mixed && sort_text(out, env, text))
        return 0;
    vls_buf_init(&buf, env, VLS_JSON_MAX_BYTES);
    vls_arena_init(&arena, env, PARSED_MAX);
    rc = vls_json_parse(&value, &arena, text, NULL, err);
    if (rc == 0) {
        (void)vls_buf_reserve(&buf, text.len); /* most canonical texts are about as long */
        rc = vls_json_write(&buf, value, err);
    }
    return rc < 0 ? rc : vls_blob_new(out, env, vls_buf_str(&buf), err);
}
