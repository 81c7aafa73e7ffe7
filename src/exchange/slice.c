/* slice.c -- where the values of a record stand in its text: each is kept as it came, byte for
 * byte.
 *
 * The text was parsed before and is JSON, so brackets and quotes are enough to go by. */
#include "exchange/foreign.h"

#include "base/str.h"

/* The members of an object, or the elements of an array. */
typedef struct walk {
    valise_str text;
    size_t at;
    bool object;
} walk;

static size_t skip_space(valise_str s, size_t at)
{
    while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == '\t' || s.ptr[at] == '\n' ||
                          s.ptr[at] == '\r' || s.ptr[at] == ',' || s.ptr[at] == ':'))
        at++;
    return at;
}

/* From its first quote to behind its last. */
static size_t skip_string(valise_str s, size_t at)
{
    for (at++; at < s.len && s.ptr[at] != '"'; at++)
        at += s.ptr[at] == '\\';
    return VLS_MIN(at + 1, s.len);
}

static size_t skip_value(valise_str s, size_t at)
{
    size_t depth = 0;

    while (at < s.len) {
        char c = s.ptr[at];
        if (c == '"') {
            at = skip_string(s, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return at;
            depth--;
            at++;
        } else if (depth == 0) { /* a number, or a word */
            while (at < s.len && !strchr(" \t\r\n,]}", s.ptr[at]))
                at++;
        } else {
            at++;
            continue;
        }
        if (depth == 0)
            return at;
    }
    return at;
}

static void walk_into(walk *w, valise_str text)
{
    size_t at = skip_space(text, 0);

    *w = (walk){.text = text, .at = at + 1};
    w->object = at < text.len && text.ptr[at] == '{';
}

/* key: with its quotes. */
static bool walk_on(walk *w, valise_str *key, valise_str *value)
{
    size_t at = skip_space(w->text, w->at), end;

    if (at >= w->text.len || w->text.ptr[at] == '}' || w->text.ptr[at] == ']')
        return false;
    *key = (valise_str){NULL, 0};
    if (w->object) {
        end = skip_string(w->text, at);
        *key = vls_str(w->text.ptr + at, end - at);
        at = skip_space(w->text, end);
    }
    end = skip_value(w->text, at);
    *value = vls_str(w->text.ptr + at, end - at);
    w->at = end;
    return end > at;
}

/* What a key says, of which text is how it is written. */
static int read_key(valise_str *out, vls_translation *r, valise_str text, valise_error *err)
{
    vls_json value = vls_json_null();
    int rc;

    *out = (valise_str){NULL, 0};
    if (!text.ptr || text.len < 2)
        return 0;
    *out = vls_str(text.ptr + 1, text.len - 2);
    if (vls_str_find_byte(text, '\\') == text.len)
        return 0;
    rc = vls_foreign_parse(&value, r, text, err);
    if (rc == 0 && value.type == VLS_JSON_STRING)
        *out = vls_json_str(value);
    return rc;
}

int vls_foreign_slices(vls_foreign_slice **out, size_t *count, vls_translation *r,
                       const char *member, valise_error *err)
{
    vls_vec(vls_foreign_slice) list = VLS_VEC_INIT;
    valise_str key = {NULL, 0}, value = {NULL, 0}, within = {"", 0};
    walk w;
    int rc = 0;

    walk_into(&w, r->text);
    while (rc == 0 && walk_on(&w, &key, &value)) {
        rc = read_key(&key, r, key, err);
        if (rc == 0 && vls_str_equal(key, valise_str_of(member)))
            within = value; /* of several the last holds */
    }
    walk_into(&w, within);
    while (rc == 0 && walk_on(&w, &key, &value)) {
        vls_foreign_slice slice = {.text = value};
        rc = read_key(&slice.key, r, key, err);
        if (rc == 0 && !vls_vec_push_in(&list, r->arena, slice))
            rc = vls_arena_fail(r->arena, err);
    }
    *out = list.ptr;
    *count = list.len;
    return rc;
}
