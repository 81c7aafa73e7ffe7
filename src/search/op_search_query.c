/* op_search_query.c -- search:query, what was said and is known, by its words. */
#include "chat/rows.h"
#include "search/search.h"

#define TRIES 100

static const valise_field kind_item = {
    .name = "kind", .help = "What is looked for.", .type = VALISE_T_ENUM, .more = vls_search_kinds};
static const valise_field mark_item = {
    .name = "mark", .help = "A byte of the snippet.", .type = VALISE_T_INT};

static const valise_field query_in[] = {
    VALISE_FIELD_WITH(vls_search_args, query, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Words that must all be there, \"a phrase\", or the beginning of a word*.",
                      .min = 1, .max = VLS_SEARCH_QUERY_MAX),
    VALISE_FIELD_WITH(vls_search_args, kinds, LIST, 0,
                      "Only these kinds: turn, context (entries), frame (current frames).",
                      .more = &kind_item, .max = VLS_SEARCH_KINDS),
    VALISE_FIELD_WITH(vls_search_args, topics, LIST, 0,
                      "Only hits with one of these topics; turns have those of their sessions.",
                      .more = &vls_topic_item, .max = 64),
    VALISE_FIELD_WITH(vls_search_args, session, STR, VALISE_NULLABLE,
                      "Only turns of this session: its id, the end of it, or its label.", .min = 1,
                      .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(vls_search_args, limit, INT, VALISE_NULLABLE, "How many hits (default: 20).",
                      .min = 1, .max = VLS_SEARCH_LIMIT_MAX),
    VALISE_FIELD_WITH(vls_search_args, offset, INT, 0, "Skip this many of the best hits.", .min = 0,
                      .max = VLS_SEARCH_OFFSET_MAX),
    VALISE_FIELD_END,
};

static const valise_field query_out[] = {
    VALISE_FIELD_WITH(vls_search_hit, kind, ENUM, 0, "Its kind.", .more = vls_search_kinds),
    VALISE_FIELD(vls_search_hit, place, STR, VALISE_REQUIRED, "Where, as 'valise show' takes it."),
    VALISE_FIELD(vls_search_hit, ref, STR, VALISE_NULLABLE, "The turn, ID@VERSION."),
    VALISE_FIELD(vls_search_hit, key, STR, VALISE_NULLABLE, "Key of the context entry."),
    VALISE_FIELD(vls_search_hit, path, PATH, VALISE_NULLABLE, "What the frame is about."),
    VALISE_FIELD(vls_search_hit, type, STR, VALISE_NULLABLE, "Type of the frame."),
    VALISE_FIELD_WITH(vls_search_hit, topics, LIST, 0, "Its topics.", .more = &vls_topic_item),
    VALISE_FIELD(vls_search_hit, time, TIME, VALISE_NULLABLE, "When it was said."),
    VALISE_FIELD(vls_search_hit, seq, INT, 0, "The entry of the log that brought it."),
    VALISE_FIELD(vls_search_hit, score, REAL, 0, "How well it fits; the higher the better."),
    VALISE_FIELD(vls_search_hit, snippet, STR, 0, "Of its text, where the words are."),
    VALISE_FIELD_WITH(vls_search_hit, marks, LIST, 0,
                      "Where in the snippet: pairs of the first byte and the one behind the last.",
                      .more = &mark_item),
    VALISE_FIELD_END,
};

typedef struct asking {
    vls_search *s;
    vls_search_args args;
    vls_arena arena; /* of the hits */
    const vls_search_hit *hits;
    size_t count;
    vls_search_state ahead;
} asking;

/* 0: the hits are there; 1: a newer view is needed. */
static int find(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    int rc = vls_search_follow(a->s, view, &a->ahead, err);

    if (rc != 0)
        return rc;
    rc = vls_search_run(a->s, VLS_SEARCH_BEGIN, err);
    if (rc == 0)
        rc = vls_search_is_current(a->s, view, err);
    if (rc >= 0)
        rc = rc > 0 ? 0 : 1;
    if (rc == 0)
        rc = vls_search_find(&a->hits, &a->count, a->s, view, &a->args, &a->arena, err);
    vls_search_end(a->s);
    return rc;
}

typedef struct both {
    asking *a;
    valise_view *view;
} both;

/* Others may bring the index further than this view while it is asked: then a newer one is taken,
 * as if the question had come a moment later. */
static int ask(void *arg, vls_search *s, valise_error *err)
{
    const both *b = arg;
    asking *a = b->a;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    a->s = s;
    a->ahead = (vls_search_state){0};
    vls_arena_reset(&a->arena);
    call.actor = b->view->stamp.actor;
    rc = find(a, b->view, err);
    for (int i = 0; rc > 0 && i < TRIES; i++)
        rc = vls_with_view(s->v, &call, find, a, err);
    if (rc > 0) {
        rc = vls_fail(err, VALISE_E_BUSY, "others keep changing the search index");
        vls_hint(err, "ask again");
    }
    return rc;
}

static int refuse_past(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "the past cannot be searched, only the current state");
    vls_hint(err, "leave out --at; for the past use 'valise log', or 'valise show' with --at");
    return VALISE_E_UNSUPPORTED;
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    asking a = {.args = *(const vls_search_args *)in};
    both b = {&a, view};
    int rc = 0;

    (void)out;
    if (view->at != view->txn->tip.seq)
        return refuse_past(err);
    if (a.args.limit == VALISE_NONE)
        a.args.limit = 20;
    vls_arena_init(&a.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_search_with(vls_view_bus(view), NULL, ask, &b, err);
    for (size_t i = 0; rc == 0 && i < a.count; i++)
        rc = valise_view_emit(view, &a.hits[i], err);
    vls_arena_release(&a.arena);
    return rc;
}

const valise_op vls_op_search_search_query = {
    .size = sizeof(valise_op),
    .name = "search:query",
    .alias = "search",
    .brief = "Search turns, context entries and frames for words.",
    .help = "Searches turns (texts, thoughts, summaries, names, arguments and results of tools, "
            "documents), context entries and the heads of slots. All words must be there, in any "
            "order, with any case and accents; \"two words\" in quotes must follow each other, and "
            "word* matches any word that begins so. There is no other syntax. In scripts without "
            "spaces each character counts as a word, and a row of them as a phrase.\n\nHits are "
            "sorted by rank (BM25, in which a word of a key or path counts twice and one of a "
            "topic four times as much as one of the text), then the newest first, then by kind and "
            "place. What the actor may not read is left out: turns need session:read, entries "
            "memory:read, frames context:read. For an actor who lacks one of these, or has it only "
            "narrowed, all words weigh the same, since scores would reveal how often a word "
            "occurs. Only the first 4 MiB of a text are searched.\n\nOnly the current state can be "
            "searched: --at is refused. The index is a file of its own, search.db; each search "
            "brings it up to date, and rebuilds it if it is missing or damaged.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "search:read",
    .in = query_in,
    .in_size = sizeof(vls_search_args),
    .out = query_out,
    .out_size = sizeof(vls_search_hit),
    .query = query,
    .example = "{\"query\":\"milk choc*\",\"limit\":5}",
};
