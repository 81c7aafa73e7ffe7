/* schema_uri.c -- what a URI reference means seen from a base (RFC 3986).
 *
 *     https://example.com/schemas/turn.json?v=2
 *     scheme  authority   path              query
 *
 * Only what references between schemas need: taking apart, resolving (5.2.2), dot segments
 * (5.2.4) and %XX. Nothing is normalised beyond that, so "HTTP://A/" and "http://a/" are two. */
#include "json/schema_impl.h"

typedef struct uri {
    valise_str scheme, authority, path, query;
    bool has_scheme, has_authority, has_query;
} uri;

static bool is_alpha(char c)
{
    return vls_is_letter(c);
}

/* The length of a scheme in front of its colon, or 0. */
static size_t scheme_len(valise_str s)
{
    size_t i = 0;

    while (i < s.len && (is_alpha(s.ptr[i]) || (i > 0 && s.ptr[i] >= '0' && s.ptr[i] <= '9') ||
                         (i > 0 && (s.ptr[i] == '+' || s.ptr[i] == '-' || s.ptr[i] == '.'))))
        i++;
    return i < s.len && s.ptr[i] == ':' ? i : 0;
}

static uri take_apart(valise_str s)
{
    uri u = {.has_scheme = false};
    size_t len = scheme_len(s);

    s = vls_str_head(s, vls_str_find_byte(s, '#'));
    if (len > 0) {
        u.has_scheme = true;
        u.scheme = vls_str_head(s, len);
        s = vls_str_from(s, len + 1);
    }
    u.has_query = vls_str_cut(&s, &u.query, s, '?');
    if (vls_str_starts(s, VLS_STR("//"))) {
        s = vls_str_from(s, 2);
        len = vls_str_find_byte(s, '/');
        u.has_authority = true;
        u.authority = vls_str_head(s, len);
        s = vls_str_from(s, len);
    }
    u.path = s;
    return u;
}

/* Take the last segment off what was written of a path that starts at byte `start`. */
static void drop_segment(vls_buf *out, size_t start)
{
    while (out->len > start && out->ptr[out->len - 1] != '/')
        out->len--;
    if (out->len > start)
        out->len--;
}

/* Append segments to a path that starts at byte `start`, without "." and "..". The last of them
 * may be the last of the path: a dot segment there still names the directory it is in. */
static void add_segments(vls_buf *out, size_t start, bool rooted, valise_str segments, bool ends)
{
    bool more = true;

    while (more && out->failed == 0) {
        valise_str segment;
        more = vls_str_cut(&segment, &segments, segments, '/');
        bool up = vls_str_equal(segment, VLS_STR(".."));
        bool slash = rooted || out->len > start;
        if (up)
            drop_segment(out, start);
        if (up || vls_str_equal(segment, VLS_STR("."))) {
            if (!more && ends && (rooted || out->len > start))
                vls_buf_add_byte(out, '/');
            continue;
        }
        if (slash)
            vls_buf_add_byte(out, '/');
        vls_buf_add(out, segment);
    }
}

static void add_path(vls_buf *out, valise_str path)
{
    bool rooted = path.len > 0 && path.ptr[0] == '/';

    if (path.len > 0)
        add_segments(out, out->len, rooted, vls_str_from(path, rooted ? 1 : 0), true);
}

/* The base's path up to its last slash, with the reference's path behind it (5.2.3). */
static void add_merged(vls_buf *out, const uri *base, valise_str path)
{
    size_t start = out->len, keep = base->path.len;
    bool rooted = base->path.len > 0 ? base->path.ptr[0] == '/' : base->has_authority;

    while (keep > 0 && base->path.ptr[keep - 1] != '/')
        keep--;
    if (keep > 1) {
        valise_str directory = vls_str_head(base->path, keep - 1);
        add_segments(out, start, rooted, vls_str_from(directory, rooted ? 1 : 0), false);
    }
    add_segments(out, start, rooted, path, true);
}

void vls_uri_resolve(vls_buf *out, valise_str base_text, valise_str reference)
{
    uri base = take_apart(base_text), ref = take_apart(reference);
    const uri *origin = ref.has_scheme || ref.has_authority ? &ref : &base;
    bool keeps_path = origin == &base && ref.path.len == 0;
    valise_str scheme = ref.has_scheme ? ref.scheme : base.scheme;

    if (ref.has_scheme || base.has_scheme) {
        vls_buf_add(out, scheme);
        vls_buf_add_byte(out, ':');
    }
    if (origin->has_authority) {
        vls_buf_add(out, VLS_STR("//"));
        vls_buf_add(out, origin->authority);
    }
    if (keeps_path)
        vls_buf_add(out, base.path);
    else if (origin == &ref || ref.path.ptr[0] == '/')
        add_path(out, ref.path);
    else
        add_merged(out, &base, ref.path);

    const uri *asker = keeps_path && !ref.has_query ? &base : &ref;
    if (asker->has_query) {
        vls_buf_add_byte(out, '?');
        vls_buf_add(out, asker->query);
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool vls_uri_decode(vls_buf *out, valise_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '%') {
            vls_buf_add_byte(out, s.ptr[i]);
            continue;
        }
        int high = i + 2 < s.len ? hex_digit(s.ptr[i + 1]) : -1;
        int low = i + 2 < s.len ? hex_digit(s.ptr[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        vls_buf_add_byte(out, (char)(high * 16 + low));
        i += 2;
    }
    return true;
}
