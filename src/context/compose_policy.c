/* compose_policy.c -- see compose_policy.h. */
#include "context/compose_policy.h"

#include "base/str.h"
#include "context/lens_impl.h"

const char *const vls_relation_names[] = {"node",  "parent",  "ancestor", "sibling",
                                          "child", "related", NULL};

static const char *const orders[] = {"relevance", "recency", "type", "agent", NULL};

/* As people write them, each at the place of its relation. */
static const char *const sources[] = {"node", "parent", "ancestors", "siblings", "children", NULL};

static const char hint[] =
    "parts are relevance, recency, type, agent, custom=NAME, sources=, types=, agents=, query=, "
    "max=N, max_bytes=N, max_tokens=N, type=, agent=, path=, state=, seq=A..B, time=A..B";

/* ---- words ---- */

static bool is_letter(char c)
{
    return vls_is_alnum(c) || (unsigned char)c >= 0x80;
}

valise_str vls_compose_next_word(valise_str *rest)
{
    valise_str s = *rest, word;
    size_t at = 0, end;

    while (at < s.len && !is_letter(s.ptr[at]))
        at++;
    for (end = at; end < s.len && is_letter(s.ptr[end]);)
        end++;
    word = at < s.len ? vls_str(s.ptr + at, end - at) : (valise_str){NULL, 0};
    *rest = vls_str_from(s, end);
    return word;
}

/* Order of a word, folded, and one that is. */
static int compare_folded(valise_str word, valise_str folded)
{
    size_t len = VLS_MIN(word.len, folded.len);

    for (size_t i = 0; i < len; i++) {
        unsigned char a = (unsigned char)vls_to_lower(word.ptr[i]),
                      b = (unsigned char)folded.ptr[i];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return word.len == folded.len ? 0 : word.len < folded.len ? -1 : 1;
}

/* Where it is, or where it would be. */
static size_t place_of(bool *found, const vls_compose_words *words, valise_str word)
{
    size_t low = 0, high = words->count;

    *found = false;
    while (low < high && !*found) {
        size_t middle = (low + high) / 2;
        int order = compare_folded(word, words->words[middle]);
        *found = order == 0;
        if (order < 0)
            high = middle;
        else if (order > 0)
            low = middle + 1;
        else
            low = middle;
    }
    return low;
}

int vls_compose_find_word(const vls_compose_words *words, valise_str word)
{
    bool found;
    size_t at = place_of(&found, words, word);

    return found ? (int)at : -1;
}

/* What is wrong with it, or NULL. */
static const char *take_words(vls_compose_words *out, valise_str text)
{
    size_t used = 0, at;
    valise_str word;
    bool found;

    out->count = 0;
    if (text.len > sizeof(out->room))
        return "is too long";
    while ((word = vls_compose_next_word(&text)).ptr) {
        if (word.len > VLS_COMPOSE_WORD_MAX)
            return "has a word of over 64 bytes";
        at = place_of(&found, out, word);
        if (found)
            continue;
        if (out->count == VLS_COMPOSE_WORDS_MAX)
            return "has over 32 words";
        for (size_t i = 0; i < word.len; i++)
            out->room[used + i] = vls_to_lower(word.ptr[i]);
        memmove(&out->words[at + 1], &out->words[at], (out->count - at) * sizeof(out->words[0]));
        out->words[at] = vls_str(out->room + used, word.len);
        out->count++;
        used += word.len;
    }
    return out->count == 0 ? "has no word" : NULL;
}

/* ---- reading ---- */

bool vls_compose_is_word(valise_str word)
{
    return vls_lens_word(orders, word) >= 0;
}

static int read_order(vls_lens_reading *r)
{
    vls_compose_policy *p = r->arg;
    int which = vls_lens_word(orders, r->part);

    if (which < 0)
        return vls_lens_refuse(r, r->part.len == 0 ? "is an empty part" : "is not known");
    p->order = which;
    return vls_lens_once(r, VLS_LENS_ONCE_ORDER, "is a second order");
}

static int read_custom(vls_lens_reading *r)
{
    vls_compose_policy *p = r->arg;

    if (r->value.len == 0)
        return vls_lens_refuse(r, "does not name an order");
    p->order = VLS_COMPOSE_BY_CUSTOM;
    p->custom = r->value;
    return vls_lens_once(r, VLS_LENS_ONCE_ORDER, "is a second order");
}

/* The first part says that it is not all of them. */
static int read_sources(vls_lens_reading *r)
{
    vls_compose_policy *p = r->arg;
    valise_str word, rest = r->value;
    bool more = true;

    if (!(r->seen & VLS_LENS_ONCE_SOURCES))
        p->sources = 0;
    r->seen |= VLS_LENS_ONCE_SOURCES;
    while (more) {
        int which;
        more = vls_str_cut(&word, &rest, rest, '+');
        which = vls_lens_word(sources, word);
        if (which < 0)
            return vls_lens_refuse(r, "must be of node, parent, ancestors, siblings, children");
        p->sources |= 1u << which;
    }
    if (p->sources & 1u << VALISE_RELATION_ANCESTOR)
        p->sources |= 1u << VALISE_RELATION_PARENT;
    return 0;
}

/* In the order that is given; what is there twice counts where it is first. */
static int read_ranks(vls_lens_reading *r, vls_lens_globs *out)
{
    valise_str glob, rest = r->value;
    bool more = true;

    while (more) {
        size_t at = 0;
        int rc;
        more = vls_str_cut(&glob, &rest, rest, '+');
        rc = vls_lens_check_glob(r, &vls_glob_flat, glob);
        if (rc < 0)
            return rc;
        while (at < out->count && !vls_str_equal(out->globs[at], glob))
            at++;
        if (at == VLS_LENS_GLOBS_MAX)
            return vls_lens_refuse(r, "is too long a list");
        if (at == out->count)
            out->globs[out->count++] = glob;
    }
    return 0;
}

static int read_query(vls_lens_reading *r)
{
    vls_compose_policy *p = r->arg;
    const char *why = take_words(&p->query, r->value);

    return why ? vls_lens_refuse(r, why) : vls_lens_once(r, VLS_LENS_ONCE_QUERY, "is there twice");
}

static int read_part(vls_lens_reading *r)
{
    vls_compose_policy *p = r->arg;

    if (!r->value.ptr)
        return read_order(r);
    if (vls_str_equal(r->name, VLS_STR("custom")))
        return read_custom(r);
    if (vls_str_equal(r->name, VLS_STR("sources")))
        return read_sources(r);
    if (vls_str_equal(r->name, VLS_STR("types")))
        return read_ranks(r, &p->types);
    if (vls_str_equal(r->name, VLS_STR("agents")))
        return read_ranks(r, &p->agents);
    if (vls_str_equal(r->name, VLS_STR("query")))
        return read_query(r);
    return vls_lens_read_filter(r);
}

int vls_compose_parse(vls_compose_policy *out, valise_str text, valise_str query, valise_error *err)
{
    vls_lens_reading r = {.lens = &out->lens,
                          .what = "policy",
                          .hint = hint,
                          .read = read_part,
                          .arg = out,
                          .text = text,
                          .err = err};
    const char *why;
    int rc;

    *out = (vls_compose_policy){.sources = VLS_COMPOSE_SOURCES, .lens = vls_lens_usual()};
    out->lens.max_bytes = VLS_COMPOSE_BYTES_USUAL;
    rc = vls_lens_read(&r);
    if (rc < 0 || !query.ptr)
        return rc;
    why = take_words(&out->query, query);
    return why ? vls_fail(err, VALISE_E_INVALID, "the query %s", why) : 0;
}

/* ---- writing ---- */

static void write_sources(vls_buf *out, unsigned which)
{
    char before = '=';

    vls_buf_add_text(out, ",sources");
    for (int i = 0; sources[i]; i++) {
        bool said = i == VALISE_RELATION_PARENT && which & 1u << VALISE_RELATION_ANCESTOR;
        if (!(which & 1u << i) || said)
            continue;
        vls_buf_add_byte(out, before);
        vls_buf_add_text(out, sources[i]);
        before = '+';
    }
}

static void write_list(vls_buf *out, const char *name, const valise_str *items, size_t count,
                       char between)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0)
            vls_buf_printf(out, ",%s=", name);
        else
            vls_buf_add_byte(out, between);
        vls_buf_add(out, items[i]);
    }
}

void vls_compose_write(vls_buf *out, const vls_compose_policy *policy)
{
    if (policy->order == VLS_COMPOSE_BY_CUSTOM) {
        vls_buf_add_text(out, "custom=");
        vls_buf_add(out, policy->custom);
    } else {
        vls_buf_add_text(out, orders[policy->order]);
    }
    write_sources(out, policy->sources);
    vls_lens_write_filters(out, &policy->lens);
    write_list(out, "types", policy->types.globs, policy->types.count, '+');
    write_list(out, "agents", policy->agents.globs, policy->agents.count, '+');
    write_list(out, "query", policy->query.words, policy->query.count, ' ');
}

int vls_compose_hash(valise_id *out, vls_buf *text, const vls_compose_policy *policy,
                     valise_error *err)
{
    vls_hasher hasher;
    int rc;

    vls_compose_write(text, policy);
    rc = vls_buf_check(text, err);
    if (rc < 0)
        return rc;
    vls_hash_begin_tagged(&hasher, VLS_COMPOSE_TAG);
    vls_hash_field(&hasher, vls_buf_str(text));
    vls_hash_end(out, &hasher);
    return 0;
}
