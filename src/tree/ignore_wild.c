/* ignore_wild.c -- patterns with more than one star: compiled to code, and the code run.
 *
 * The code is a list of words. A word below 256 is a byte that must stand there; the others are
 * below. A set of bytes is OP_SET and 8 words, a bit for each byte.
 *
 *     src/a?[0-9]*.c       's' 'r' 'c' '/' 'a' ANY SET ........ STAR '.' 'c' END
 *     ** / x / y           DIRS 'x' '/' 'y' END      (spaces only for the sake of this comment)
 *     x / **               'x' '/' REST END
 *
 * Time. When something does not fit, only the last STAR can help, by taking one byte more: were a
 * match possible with more for an earlier one, the last could take what is between. It takes no
 * slash, and once a slash of the pattern has been matched, the stars before it are settled: they
 * ended where that slash is. If the last STAR has nothing left to take, the last DIRS takes a
 * directory more, by the same reasoning. So a part of the pattern between two slashes meets each
 * part of the path once, each byte of the one each byte of the other at most once: pattern times
 * path, whatever the pattern. */
#include "tree/ignore_impl.h"

#include "base/str.h"

enum {
    OP_END = 256, /* the text must end here */
    OP_ANY,       /* one byte, no slash */
    OP_SET,       /* one byte of a set, which has no slash */
    OP_STAR,      /* any bytes, no slash */
    OP_DIRS,      /* nothing, or anything up to a slash and that slash */
    OP_SOME_DIRS, /* anything up to a slash and that slash */
    OP_REST,      /* all that is left */
};

#define SET_WORDS 8

typedef struct set {
    uint32_t words[SET_WORDS];
} set;

/* ---- compiling ---- */

/* A pattern on the way through it. */
typedef struct scan {
    const unsigned char *begin, *at, *end;
} scan;

static void set_add(set *s, unsigned from, unsigned to)
{
    for (unsigned c = from; c <= to; c++)
        s->words[c / 32] |= UINT32_C(1) << c % 32;
}

/* [:name:]; false when there is no such class. */
static bool set_add_class(set *s, valise_str name)
{
    static const struct {
        const char *name;
        const char *ranges; /* first and last byte of each */
    } classes[] = {
        {"alnum", "09AZaz"},   {"alpha", "AZaz"},
        {"blank", "\t\t  "},   {"cntrl", "\1\37\177\177"},
        {"digit", "09"},       {"graph", "!~"},
        {"lower", "az"},       {"print", " ~"},
        {"punct", "!/:@[`{~"}, {"space", "\t\n\r\r  "},
        {"upper", "AZ"},       {"xdigit", "09AFaf"},
    };

    for (size_t i = 0; i < VLS_COUNT(classes); i++) {
        if (!vls_str_equal(name, valise_str_of(classes[i].name)))
            continue;
        for (const char *r = classes[i].ranges; *r; r += 2)
            set_add(s, (unsigned char)r[0], (unsigned char)r[1]);
        return true;
    }
    return false;
}

/* The byte behind a backslash; false at the end of the pattern. */
static bool read_escaped(unsigned char *c, scan *in)
{
    if (in->at == in->end)
        return false;
    *c = *in->at++;
    return true;
}

/* in is behind "[" of "[:"; what follows is either a class, which is added and skipped, or it is
 * not, and the bracket is a byte like any other (*is_class false). False: malformed. */
static bool read_class(set *s, bool *is_class, scan *in)
{
    const unsigned char *name = in->at + 1;
    const unsigned char *close = memchr(name, ']', (size_t)(in->end - name));

    if (!close)
        return false;
    *is_class = close > name && close[-1] == ':';
    if (!*is_class)
        return true;
    in->at = close + 1;
    return set_add_class(s, vls_str(name, (size_t)(close - 1 - name)));
}

/* One member of a set that begins with c: a byte, a range (*before is its first byte, 0 when none
 * can begin there) or a class. False: malformed. */
static bool read_member(set *s, unsigned char *before, unsigned char c, scan *in)
{
    bool is_class = false;

    if (c == '-' && *before && in->at < in->end && *in->at != ']') {
        c = *in->at++;
        if (c == '\\' && !read_escaped(&c, in))
            return false;
        set_add(s, *before, c);
        *before = 0;
        return true;
    }
    if (c == '[' && in->at < in->end && *in->at == ':' && !read_class(s, &is_class, in))
        return false;
    if (c == '\\' && !read_escaped(&c, in))
        return false;
    if (!is_class)
        set_add(s, c, c);
    *before = is_class ? 0 : c;
    return true;
}

/* in is behind "["; afterwards behind the "]" that ends the set. False: malformed. */
static bool read_set(set *out, scan *in)
{
    set s = {{0}};
    unsigned char before = 0;
    bool negated = in->at < in->end && (*in->at == '!' || *in->at == '^');

    in->at += negated;
    for (bool first = true;; first = false) {
        if (in->at == in->end)
            return false;
        unsigned char c = *in->at++;
        if (c == ']' && !first)
            break;
        if (!read_member(&s, &before, c, in))
            return false;
    }
    for (size_t i = 0; negated && i < SET_WORDS; i++)
        s.words[i] = ~s.words[i];
    s.words['/' / 32] &= ~(UINT32_C(1) << '/' % 32);
    *out = s;
    return true;
}

/* in is behind a star; skips the stars that follow, and the slash where that is a part of it. */
static uint32_t read_stars(scan *in, bool is_path)
{
    const unsigned char *first = in->at - 1;

    while (in->at < in->end && *in->at == '*')
        in->at++;
    size_t left = (size_t)(in->end - in->at);
    if (!is_path)
        return left ? OP_STAR : OP_REST;
    if (in->at - first < 2 || (first > in->begin && first[-1] != '/'))
        return OP_STAR;
    if (left == 0)
        return OP_REST;
    if (in->at[0] == '/') {
        in->at++;
        return OP_DIRS;
    }
    if (left >= 2 && in->at[0] == '\\' && in->at[1] == '/') {
        in->at += 2;
        return OP_SOME_DIRS;
    }
    return OP_STAR;
}

/* The next thing of a pattern: a byte or an OP. False: malformed. */
static bool read_op(uint32_t *op, set *s, scan *in, bool is_path)
{
    unsigned char c = *in->at++;

    switch (c) {
    case '[':
        *op = OP_SET;
        return read_set(s, in);
    case '?':
        *op = OP_ANY;
        return true;
    case '*':
        *op = read_stars(in, is_path);
        return true;
    case '\\':
        if (!read_escaped(&c, in))
            return false;
        break;
    default:
        break;
    }
    *op = c;
    return true;
}

/* There is room for it. */
static void push_op(vls_code *code, uint32_t op, const set *s)
{
    code->ptr[code->len++] = op;
    if (op == OP_SET) {
        memcpy(code->ptr + code->len, s->words, sizeof(s->words));
        code->len += SET_WORDS;
    }
}

int vls_wild_compile(vls_code *code, int16_t *last, bool *valid, const valise_env *env,
                     valise_str pattern, bool is_path, valise_error *err)
{
    const unsigned char *begin = (const unsigned char *)pattern.ptr;
    scan in = {begin, begin, begin + pattern.len};
    size_t start = code->len;
    uint32_t op = OP_END;
    set s = {{0}};

    /* A set, the longest there is, is 9 words and at least 3 bytes of the pattern. */
    if (!vls_vec_reserve(code, env, start + 3 * pattern.len + 1))
        return vls_fail_memory(err);
    while (in.at < in.end) {
        if (!read_op(&op, &s, &in, is_path)) {
            code->len = start;
            *valid = false;
            return 0;
        }
        push_op(code, op, &s);
    }
    push_op(code, OP_END, NULL);
    *last = op < 256 ? (int16_t)op : VLS_RULE_ANY_LAST;
    *valid = true;
    return 0;
}

/* ---- running ---- */

/* Behind the next slash from `at` on, or NULL. */
static const char *behind_slash(const char *at, const char *end)
{
    const char *slash = memchr(at, '/', (size_t)(end - at));

    return slash ? slash + 1 : NULL;
}

/* Whether an op that stands for one byte fits c; *op is then behind it. */
static bool match_byte(const uint32_t **op, unsigned char c)
{
    const uint32_t *at = *op;

    if (*at < 256) {
        *op = at + 1;
        return *at == c;
    }
    if (*at == OP_ANY) {
        *op = at + 1;
        return c != '/';
    }
    if (*at == OP_SET) {
        *op = at + 1 + SET_WORDS;
        return at[1 + c / 32] >> c % 32 & 1;
    }
    return false;
}

bool vls_wild_match(const uint32_t *op, valise_str text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;
    const uint32_t *star = NULL, *dirs = NULL;     /* behind the last of each that can take more */
    const char *star_end = NULL, *dirs_end = NULL; /* where what they took ends */

    for (;;) {
        if (*op == OP_STAR) {
            star = ++op;
            star_end = at;
        } else if (*op == OP_DIRS || *op == OP_SOME_DIRS) {
            at = *op == OP_DIRS ? at : behind_slash(at, end);
            if (!at)
                return false; /* with more for those before it, no slash is left either */
            star = NULL;
            dirs = ++op;
            dirs_end = at;
        } else if (*op == OP_REST || (*op == OP_END && at == end)) {
            return true;
        } else if (at < end && match_byte(&op, (unsigned char)*at)) {
            if (*at++ == '/')
                star = NULL;
        } else if (star && star_end < end && *star_end != '/') {
            at = ++star_end;
            op = star;
        } else {
            dirs_end = dirs ? behind_slash(dirs_end, end) : NULL;
            if (!dirs_end)
                return false;
            star = NULL;
            at = dirs_end;
            op = dirs;
        }
    }
}
