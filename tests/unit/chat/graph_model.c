/* graph_model.c -- graphs by chance, against sets of ancestors and a walk that recurs. [W7] [W8]
 * [P1] */
#include "chat/graph_kit.h"

TEST_PARAMS(graph_model, "memory", "sqlite")

#define MOST 48

/* The naive graph: numbers of parents, and all ancestors as bits. */
typedef struct tangle {
    test *t;
    bed *b;
    test_rng rng;
    size_t count, sessions;
    vls_turn_row rows[MOST];
    size_t parents[MOST][4];
    size_t parent_count[MOST];
    uint64_t before[MOST]; /* itself too */
    size_t heads[MOST], tips[MOST];
} tangle;

static size_t chance(tangle *g, size_t limit)
{
    return (size_t)test_random_below(&g->rng, limit);
}

/* ---- making ---- */

static void choose_parents(tangle *g, size_t i)
{
    size_t wanted = i == 0 ? 0 : chance(g, 12) == 0 ? 0 : chance(g, 4) == 0 ? 1 + chance(g, 4) : 1;

    g->before[i] = UINT64_C(1) << i;
    while (g->parent_count[i] < wanted) {
        /* Mostly the last one: long lanes. */
        size_t p = g->parent_count[i] == 0 && chance(g, 3) ? i - 1 : chance(g, i);
        bool twice = false;
        for (size_t k = 0; k < g->parent_count[i]; k++)
            twice |= g->parents[i][k] == p;
        if (twice) {
            wanted--;
            continue;
        }
        g->parents[i][g->parent_count[i]++] = p;
        g->before[i] |= g->before[p];
    }
}

static void grow(tangle *g, uint64_t base)
{
    int64_t versions[MOST] = {0};

    for (size_t i = 0; i < g->count; i++) {
        const vls_turn_row *more[4];
        size_t id = i > 0 && chance(g, 5) == 0 ? chance(g, i) : i;
        shoot s = {.id = base + id, .version = ++versions[id], .crowd = chance(g, 4) == 0};
        choose_parents(g, i);
        for (size_t k = 1; k < g->parent_count[i]; k++)
            more[k - 1] = &g->rows[g->parents[i][k]];
        if (g->parent_count[i] > 0)
            s.first = &g->rows[g->parents[i][0]];
        if (g->parent_count[i] > 1) {
            s.more = more;
            s.more_count = g->parent_count[i] - 1;
        }
        g->rows[i] = shrub_put(g->b, &s);
    }
    for (size_t i = 0; i < g->sessions; i++) {
        g->heads[i] = chance(g, g->count);
        g->tips[i] = chance(g, g->count);
        (void)shrub_session(g->b, base + i, NULL, &g->rows[g->heads[i]]);
        shrub_tip(g->b, base + i, &g->rows[g->tips[i]]);
    }
}

/* ---- the naive answers ---- */

typedef struct path {
    size_t at[MOST];
    size_t count;
} path;

static void walk(path *out, const tangle *g, size_t i, uint64_t *met, bool first_only)
{
    if (*met >> i & 1)
        return;
    *met |= UINT64_C(1) << i;
    for (size_t k = 0; k < (first_only ? VLS_MIN(g->parent_count[i], 1) : g->parent_count[i]); k++)
        walk(out, g, g->parents[i][k], met, first_only);
    out->at[out->count++] = i;
}

static const char *text_of(const tangle *g, const path *p)
{
    const char *out = "";

    for (size_t i = 0; i < p->count; i++)
        out = test_format("%s%s%s", out, i > 0 ? " " : "", shrub_name(&g->rows[p->at[i]].ref));
    return out;
}

static path naive(const tangle *g, size_t head, uint64_t met, bool first_only)
{
    path p = {.count = 0};

    walk(&p, g, head, &met, first_only);
    return p;
}

/* ---- comparing ---- */

static void check_pairs(tangle *g)
{
    test *t = g->t;

    for (size_t i = 0; i < g->count; i++) {
        for (size_t k = 0; k < g->count; k++)
            CHECK_INT(g->before[k] >> i & 1,
                      vls_turn_is_before(&g->b->view, &g->rows[i], &g->rows[k], &t->err));
    }
}

static void check_up(tangle *g)
{
    test *t = g->t;

    for (size_t i = 0; i < g->count; i++) {
        path p = naive(g, i, 0, true);
        CHECK_INT(p.count, g->rows[i].place.depth + 1);
        for (size_t d = 0; d < p.count; d++) {
            vls_turn_row at = {0};
            CHECK_OK(vls_turn_up(&at, &g->b->view, &g->rows[i], (int64_t)d, &t->err));
            CHECK(vls_turn_ref_equal(&at.ref, &g->rows[p.at[d]].ref));
        }
    }
}

static void check_walks(tangle *g)
{
    test *t = g->t;

    for (size_t i = 0; i < g->count; i++) {
        size_t other = chance(g, g->count);
        path all = naive(g, i, 0, false);
        path only = naive(g, i, 0, true);
        path rest = naive(g, i, g->before[other], false);
        path rest_only = naive(g, i, g->before[other], true);
        size_t from = chance(g, all.count + 1);
        vls_trail trail = {.env = NULL};
        path part = {.count = 0};

        CHECK_OK(vls_trail_make(&trail, &g->b->view, &g->rows[i], NULL, false, &t->err));
        CHECK_INT(all.count, trail.count);
        CHECK_TEXT(text_of(g, &all), shrub_text(g->b, &trail, 0, false));
        for (size_t k = from; k < all.count; k++)
            part.at[part.count++] = all.at[k];
        CHECK_TEXT(text_of(g, &part), shrub_text(g->b, &trail, (int64_t)from, false));
        part.count = 0;
        for (size_t k = all.count - from; k > 0; k--)
            part.at[part.count++] = all.at[k - 1];
        CHECK_TEXT(text_of(g, &part), shrub_text(g->b, &trail, (int64_t)from, true));
        vls_trail_release(&trail);
        CHECK_TEXT(text_of(g, &only), shrub_walk(g->b, &g->rows[i], NULL, true));
        CHECK_TEXT(text_of(g, &rest), shrub_walk(g->b, &g->rows[i], &g->rows[other], false));
        CHECK_TEXT(text_of(g, &rest_only), shrub_walk(g->b, &g->rows[i], &g->rows[other], true));
    }
}

static void check_diffs(tangle *g)
{
    test *t = g->t;

    for (size_t n = 0; n < g->count; n++) {
        size_t i = chance(g, g->count), k = chance(g, g->count);
        path all = naive(g, i, 0, false);
        path a = naive(g, i, g->before[k], false);
        path b = naive(g, k, g->before[i], false);
        size_t common = MOST;
        vls_turn_diff diff;
        for (size_t j = 0; j < all.count; j++) {
            if (g->before[k] >> all.at[j] & 1)
                common = all.at[j];
        }
        CHECK_OK(vls_turn_diff_make(&diff, &g->b->view, &g->rows[i], &g->rows[k], &t->err));
        CHECK_INT(common < MOST, diff.related);
        if (diff.related)
            CHECK_TEXT(shrub_name(&g->rows[common].ref), shrub_name(&diff.common.ref));
        CHECK_TEXT(text_of(g, &a), shrub_text(g->b, &diff.only_a, 0, false));
        CHECK_TEXT(text_of(g, &b), shrub_text(g->b, &diff.only_b, 0, false));
        vls_turn_diff_release(&diff);
    }
}

/* Numbers of sessions as bits: heads, and tips behind them. */
typedef struct holders {
    uint64_t base, bits;
} holders;

static int add_holder(void *arg, const vls_session_row *session, const vls_tip_row *tip,
                      valise_error *err)
{
    holders *h = arg;
    uint64_t number = 0, bit;

    (void)err;
    for (int i = 8; i < 16; i++)
        number = number << 8 | session->id.bytes[i];
    bit = UINT64_C(1) << (number - h->base + (tip ? 32 : 0));
    CHECK(!(h->bits & bit)); /* each once */
    h->bits |= bit;
    return 0;
}

typedef struct kid_set {
    const tangle *g;
    uint64_t bits;
} kid_set;

static int add_kid(void *arg, const vls_turn_row *turn, valise_error *err)
{
    kid_set *k = arg;

    (void)err;
    for (size_t i = 0; i < k->g->count; i++) {
        if (vls_turn_ref_equal(&k->g->rows[i].ref, &turn->ref))
            k->bits |= UINT64_C(1) << i;
    }
    return 0;
}

static void check_below(tangle *g, uint64_t base)
{
    test *t = g->t;

    for (size_t i = 0; i < g->count; i++) {
        holders found = {base, 0}, wanted = {base, 0};
        kid_set kids = {g, 0};
        uint64_t children = 0;
        vls_turn_ref *parents = NULL;
        size_t count = 0;

        for (size_t s = 0; s < g->sessions; s++) {
            if (g->before[g->heads[s]] >> i & 1)
                wanted.bits |= UINT64_C(1) << s;
            if (g->before[g->tips[s]] >> i & 1)
                wanted.bits |= UINT64_C(1) << (s + 32);
        }
        CHECK_OK(vls_below_each(&g->b->view, &g->rows[i], add_holder, &found, &t->err));
        CHECK_INT(wanted.bits, found.bits);
        for (size_t k = 0; k < g->count; k++) {
            for (size_t p = 0; p < g->parent_count[k]; p++)
                children |= g->parents[k][p] == i ? UINT64_C(1) << k : 0;
        }
        CHECK_OK(vls_turn_each_child(&g->b->view, &g->rows[i], add_kid, &kids, &t->err));
        CHECK_INT(children, kids.bits);
        CHECK_OK(vls_turn_parents(&parents, &count, &g->b->view, &g->rows[i], &t->err));
        CHECK_INT(g->parent_count[i], count);
        for (size_t k = 0; k < count; k++)
            CHECK(vls_turn_ref_equal(&parents[k], &g->rows[g->parents[i][k]].ref));
    }
}

static void try_one(test *t, bed *b, uint64_t seed, uint64_t base)
{
    tangle g = {.t = t, .b = b, .rng = test_rng_new(seed), .sessions = 6};

    g.count = 2 + chance(&g, chance(&g, 4) == 0 ? MOST - 1 : 12);
    bed_begin(b, true);
    grow(&g, base);
    bed_end(b);
    bed_begin(b, false);
    check_pairs(&g);
    check_up(&g);
    check_walks(&g);
    check_diffs(&g);
    check_below(&g, base);
    bed_end(b);
}

TEST(graph_model, agrees_with_sets_of_ancestors)
{
    bool sqlite = strcmp(t->param, "sqlite") == 0;
    uint64_t rounds = test_setting("VALISE_GRAPH_ROUNDS", test_is_long() ? 4000
                                                          : sqlite       ? 40
                                                                         : 200);
    uint64_t seed = test_seed();
    bed b;

    shrub_open(&b, t, t->param);
    for (uint64_t i = 0; i < rounds; i++) {
        test_context("in the graph of seed %llu", (unsigned long long)(seed + i));
        try_one(t, &b, seed + i, (i + 1) << 16);
        test_context_end();
    }
    bed_close(&b);
}
