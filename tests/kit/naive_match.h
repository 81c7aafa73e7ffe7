/* naive_match.h -- patterns of namespaces, and sorted keys, for naive.c.
 *
 * Threads: pure functions. */
#ifndef KIT_NAIVE_MATCH_H
#define KIT_NAIVE_MATCH_H

#include "base/str.h"
#include "base/vec.h"

/* Patterns of namespaces, written once more: a star is one or more characters of a segment, two are
 * any number of segments. */
static bool segment_matches(valise_str p, valise_str s)
{
    if (p.len == 0)
        return s.len == 0;
    if (p.ptr[0] != '*')
        return s.len > 0 && p.ptr[0] == s.ptr[0] &&
               segment_matches(vls_str_from(p, 1), vls_str_from(s, 1));
    for (size_t n = 1; n <= s.len; n++) {
        if (segment_matches(vls_str_from(p, 1), vls_str_from(s, n)))
            return true;
    }
    return false;
}

static bool namespace_matches(valise_str pattern, valise_str name)
{
    valise_str p, p_rest, s, s_rest;
    bool more_p, more_s;

    if (!name.ptr || name.len == 0)
        return false;
    more_p = vls_str_cut(&p, &p_rest, pattern, '.');
    if (vls_str_equal(p, VLS_STR("**"))) {
        if (!more_p)
            return true;
        if (namespace_matches(p_rest, name))
            return true;
        return vls_str_cut(&s, &s_rest, name, '.') && namespace_matches(pattern, s_rest);
    }
    more_s = vls_str_cut(&s, &s_rest, name, '.');
    if (!segment_matches(p, s))
        return false;
    if (!more_s && more_p) /* what is left may be nothing */
        return vls_str_equal(p_rest, VLS_STR("**"));
    return more_p == more_s && (!more_p || namespace_matches(p_rest, s_rest));
}

static int compare_texts(const void *a, const void *b)
{
    return vls_str_compare(*(const valise_str *)a, *(const valise_str *)b);
}

typedef vls_vec(valise_str) texts;

/* Every key that any commit has, sorted, each once. The texts stay: nothing that was copied in is
 * ever given back. */
static void sort_keys(texts *keys)
{
    size_t kept = 0;

    if (keys->len == 0)
        return;
    qsort(keys->ptr, keys->len, sizeof(valise_str), compare_texts);
    for (size_t i = 0; i < keys->len; i++) {
        if (kept == 0 || !vls_str_equal(keys->ptr[kept - 1], keys->ptr[i]))
            keys->ptr[kept++] = keys->ptr[i];
    }
    keys->len = kept;
}

#endif
