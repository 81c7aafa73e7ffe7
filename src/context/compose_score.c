/* compose_score.c -- how relevant a frame is, and which of two comes first; see compose.h. */
#include "base/str.h"
#include "context/compose_impl.h"
#include "context/lens_impl.h"
#include "tree/node.h"

enum {
    TYPE_MOST = 200,
    AGENT_MOST = 100,
    FRESH = 150,
    STALE = 50,
    WORD = 40,
    WORD_AGAIN = 10,
    WORD_AGAIN_MAX = 3,
    QUERY_MOST = 400,
    QUERY_BYTES = 65536,
};

int64_t vls_compose_weight(int64_t relation, int64_t steps)
{
    static const int64_t weights[] = {
        [VALISE_RELATION_NODE] = 1000,   [VALISE_RELATION_RELATED] = 800,
        [VALISE_RELATION_PARENT] = 600,  [VALISE_RELATION_CHILD] = 500,
        [VALISE_RELATION_SIBLING] = 400, [VALISE_RELATION_ANCESTOR] = 300,
    };
    int64_t weight = weights[relation];

    if (relation == VALISE_RELATION_ANCESTOR)
        weight = VLS_MAX(weight - 20 * (steps - 2), 100);
    return weight;
}

/* Which of the patterns is the first that fits; their number: none. */
static size_t rank_in(const vls_lens_globs *globs, valise_str name)
{
    size_t at = 0;

    while (at < globs->count && !vls_glob_match(&vls_glob_flat, globs->globs[at], name))
        at++;
    return at;
}

static int64_t points(int64_t most, size_t rank, size_t count)
{
    return rank < count ? most * (int64_t)(count - rank) / (int64_t)count : 0;
}

static void sum_up(valise_score *s)
{
    s->total = s->relation + s->type + s->agent + s->freshness + s->query;
}

void vls_compose_score_cheap(vls_candidate *c)
{
    const vls_compose_policy *policy = c->request->policy;

    c->type_rank = rank_in(&policy->types, c->type);
    c->agent_rank = rank_in(&policy->agents, c->agent);
    c->score = (valise_score){
        .relation = vls_compose_weight(c->relation, c->steps),
        .type = points(TYPE_MOST, c->type_rank, policy->types.count),
        .agent = points(AGENT_MOST, c->agent_rank, policy->agents.count),
    };
    sum_up(&c->score);
}

/* ---- words ---- */

static int64_t overlap(const vls_compose_words *words, valise_str text)
{
    unsigned counts[VLS_COMPOSE_WORDS_MAX] = {0};
    valise_str rest = vls_str_head(text, QUERY_BYTES), word;
    int64_t sum = 0;

    while ((word = vls_compose_next_word(&rest)).ptr) {
        int which = vls_compose_find_word(words, word);
        if (which >= 0)
            counts[which]++;
    }
    for (size_t i = 0; i < words->count; i++) {
        if (counts[i] > 0)
            sum += WORD + (int64_t)WORD_AGAIN * VLS_MIN(counts[i] - 1, (unsigned)WORD_AGAIN_MAX);
    }
    return VLS_MIN(sum, (int64_t)QUERY_MOST);
}

void vls_compose_score(vls_candidate *c, int64_t state, valise_str content)
{
    c->score.freshness = state == VLS_STATE_FRESH ? FRESH : state == VLS_STATE_STALE ? STALE : 0;
    c->score.query = content.ptr ? overlap(&c->request->policy->query, content) : 0;
    sum_up(&c->score);
}

/* ---- order ---- */

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ranks(size_t a, size_t b, valise_str x, valise_str y)
{
    int order = compare_numbers((int64_t)a, (int64_t)b);

    return order ? order : vls_str_compare(x, y);
}

static int compare_first(const vls_candidate *a, const vls_candidate *b)
{
    const valise_order *custom = a->request->order;

    switch (a->request->policy->order) {
    case VLS_COMPOSE_BY_RECENCY:
        return compare_numbers(b->seq, a->seq);
    case VLS_COMPOSE_BY_TYPE:
        return compare_ranks(a->type_rank, b->type_rank, a->type, b->type);
    case VLS_COMPOSE_BY_AGENT:
        return compare_ranks(a->agent_rank, b->agent_rank, a->agent, b->agent);
    case VLS_COMPOSE_BY_CUSTOM:
        if (a->seen && b->seen)
            return custom->compare(custom->self, a->seen, b->seen);
        break;
    default:
        break;
    }
    return compare_numbers(b->score.total, a->score.total);
}

int vls_compose_compare(const vls_candidate *a, const vls_candidate *b)
{
    int order = compare_first(a, b);

    if (order == 0)
        order = vls_path_compare(a->path, b->path);
    if (order == 0)
        order = vls_str_compare(a->type, b->type);
    return order ? order : vls_id_compare(&a->head, &b->head);
}
