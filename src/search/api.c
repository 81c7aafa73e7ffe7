/* api.c -- the C function of valise/search.h. */
#include <valise/search.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/held.h"
#include "search/search.h"

#define TOPICS_MAX 64u

typedef struct held {
    valise_hits hits; /* first: what the caller has */
    vls_held own;
    vls_vec(const valise_hit *) list; /* in the arena */
} held;

void valise_hits_free(valise_hits *hits)
{
    held *h = (held *)hits;

    if (h)
        vls_held_free(h, &h->own);
}

static void vls_auto_held(held **h)
{
    valise_hits_free((valise_hits *)*h);
}

/* ---- arguments ---- */

static int take_options(valise_search_options *out, const valise_search_options *options,
                        valise_error *err)
{
    int rc;

    *out = (valise_search_options)VALISE_SEARCH_OPTIONS_INIT;
    rc = vls_sized_take(out, sizeof(*out), options, offsetof(valise_search_options, topics),
                        "valise_search_options", err);
    if (rc == 0 && out->kinds >> VLS_SEARCH_KINDS != 0)
        rc = vls_fail(err, VALISE_E_INVALID, "there are no kinds 0x%x of hits", out->kinds);
    return rc;
}

static size_t take_kinds(int64_t kinds[VLS_SEARCH_KINDS], unsigned bits)
{
    size_t count = 0;

    for (int kind = 0; kind < VLS_SEARCH_KINDS; kind++) {
        if (bits & (1u << kind))
            kinds[count++] = kind;
    }
    return count;
}

/* ---- hits ---- */

static int copy(valise_str *out, held *h, valise_str text, valise_error *err)
{
    *out = text;
    return text.ptr ? vls_arena_dup(out, &h->own.arena, text, err) : 0;
}

static int copy_lists(valise_hit *hit, held *h, const vls_search_hit *from, valise_error *err)
{
    const valise_str *texts = from->topics.items;
    valise_str *topics = vls_arena_array(&h->own.arena, from->topics.count, sizeof(*topics));
    int64_t *marks = vls_arena_array(&h->own.arena, from->marks.count, sizeof(*marks));
    int rc = 0;

    if (!topics || !marks)
        return vls_arena_fail(&h->own.arena, err);
    for (size_t i = 0; rc == 0 && i < from->topics.count; i++)
        rc = copy(&topics[i], h, texts[i], err);
    if (from->marks.count > 0)
        memcpy(marks, from->marks.items, from->marks.count * sizeof(*marks));
    hit->topics = topics;
    hit->topic_count = from->topics.count;
    hit->marks = marks;
    hit->mark_count = from->marks.count;
    return rc;
}

static int add_hit(void *arg, const void *row, valise_error *err)
{
    const vls_search_hit *from = row;
    held *h = arg;
    valise_hit *hit = vls_arena_zalloc(&h->own.arena, sizeof(*hit));
    int rc;

    if (!hit)
        return vls_arena_fail(&h->own.arena, err);
    hit->kind = (int)from->kind;
    hit->time = from->time;
    hit->seq = from->seq;
    hit->score = from->score;
    rc = copy(&hit->place, h, from->place, err);
    if (rc == 0)
        rc = copy(&hit->ref, h, from->ref, err);
    if (rc == 0)
        rc = copy(&hit->key, h, from->key, err);
    if (rc == 0)
        rc = copy(&hit->path, h, from->path, err);
    if (rc == 0)
        rc = copy(&hit->type, h, from->type, err);
    if (rc == 0)
        rc = copy(&hit->snippet, h, from->snippet, err);
    if (rc == 0)
        rc = copy_lists(hit, h, from, err);
    if (rc == 0 && !vls_vec_push_in(&h->list, &h->own.arena, hit))
        rc = vls_arena_fail(&h->own.arena, err);
    return rc;
}

int valise_search(valise_hits **out, valise *v, const char *query,
                  const valise_search_options *options, const valise_call *call, valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    valise_search_options o;
    valise_reply reply = VALISE_REPLY_INIT;
    int64_t kinds[VLS_SEARCH_KINDS];
    vls_search_args args = {0};
    int rc;

    VLS_ARG(out && v && query, err);
    rc = take_options(&o, options, err);
    if (rc == 0)
        rc = vls_sized_list(&args.topics, o.topics, o.topic_count, TOPICS_MAX, "topics", err);
    if (rc < 0)
        return rc;
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    args.query = valise_str_of(query);
    args.kinds = (valise_list){kinds, take_kinds(kinds, o.kinds)};
    args.session = vls_str_or_none(o.session);
    args.limit = o.limit == 0 ? VALISE_NONE : o.limit;
    args.offset = o.offset;
    const vls_run_more more = {.emit = add_hit, .emit_arg = h, .reply = &reply};
    rc = vls_run(v, &vls_op_search_search_query, &args, NULL, NULL, call, &more, err);
    h->hits = (valise_hits){.items = h->list.ptr, .count = h->list.len, .seq = reply.seq};
    valise_reply_release(&reply);
    if (rc < 0)
        return rc;
    *out = &h->hits;
    h = NULL;
    return 0;
}
