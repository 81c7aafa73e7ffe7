/* tests/unit/tree/rows_model.c -- trees as rows against maps from path to node. [C4] [C12] [C30] */
#include "kit/grove.h"
#include "tree/prune.h"

TEST_PARAMS(tree_rows_model, "memory", "sqlite")

enum { NAMES = 5, PLACES = 40, VERSIONS = 16, RUNS = 6 };

/* Directories and files, with names that sort around the slash. */
static const char *const names[NAMES] = {"a", "a.c", "a0", "b", "\xff"};

/* What is at each place, as words of grove.h; "" nothing. */
typedef struct world {
    test_rng rng;
    char words[PLACES][64];
} world;

static unsigned pick(world *w, unsigned n)
{
    return (unsigned)(test_random(&w->rng) % n);
}

static void make_word(char *out, size_t size, world *w)
{
    char path[48] = "";
    unsigned depth = 1 + pick(w, 4);
    static const char *const ends[] = {"=1", "=2", "*=1", ">x", ">yy", "!", "/"};

    for (unsigned i = 0; i < depth; i++) {
        size_t len = strlen(path);
        (void)snprintf(path + len, sizeof(path) - len, "%s%s", i > 0 ? "/" : "",
                       names[pick(w, NAMES)]);
    }
    (void)snprintf(out, size, "%s%s", path, ends[pick(w, VLS_COUNT(ends))]);
}

static size_t path_len(const char *word)
{
    size_t len = strcspn(word, "=*>!");

    return len > 0 && word[len - 1] == '/' ? len - 1 : len;
}

/* Would the two need the same path to be a directory and something else? */
static bool collide(const char *a, const char *b)
{
    valise_str x = vls_str(a, path_len(a)), y = vls_str(b, path_len(b));
    bool x_dir = a[x.len] == '/', y_dir = b[y.len] == '/';

    if (vls_str_equal(x, y))
        return !(x_dir && y_dir);
    return (!x_dir && vls_path_is_under(y, x)) || (!y_dir && vls_path_is_under(x, y));
}

static void change(world *w)
{
    unsigned times = 1 + pick(w, 8);

    for (unsigned n = 0; n < times; n++) {
        char *word = w->words[pick(w, PLACES)];
        word[0] = '\0';
        if (pick(w, 3) == 0)
            continue;
        make_word(word, sizeof(w->words[0]), w);
        for (size_t i = 0; i < PLACES; i++)
            if (w->words[i] != word && w->words[i][0] && collide(word, w->words[i]))
                w->words[i][0] = '\0';
    }
}

static grove_state state_of(const world *w)
{
    const char *list[PLACES];
    size_t count = 0;

    for (size_t i = 0; i < PLACES; i++)
        if (w->words[i][0])
            list[count++] = w->words[i];
    return grove_of(list, count);
}

static bool is_new(const grove *g, const grove_state *s)
{
    return g->version == 0 || !vls_id_equal(&grove_get(s, "")->node.object,
                                            &grove_get(&g->states[g->version], "")->node.object);
}

TEST(tree_rows_model, versions_are_maps)
{
    for (unsigned run = 0; run < RUNS; run++) {
        world w = {.rng = test_rng_new(test_seed() + run)};
        grove *g = test_alloc(sizeof(*g));
        vls_tree_row tree;
        grove_open(g, t, t->param);
        for (unsigned i = 0; i < VERSIONS; i++) {
            grove_state s;
            change(&w);
            s = state_of(&w);
            if (is_new(g, &s))
                grove_grow_to(g, s, pick(&w, 4));
        }
        grove_look(g, -1);
        tree = grove_head(g);
        for (int64_t v = 1; v <= g->version; v++)
            grove_compare(g, &tree, v);
        grove_end(g);
        grove_check(g);
        grove_close(g);
    }
}

/* ---- pruning ---- */

/* Rows of versions behind a number. */
static size_t count_rows(grove *g, int64_t behind)
{
    test *t = g->t;
    valise_scan *scan = NULL;
    vls_tree_node_row row;
    size_t count = 0;

    grove_look(g, -1);
    CHECK_OK(valise_view_scan(&scan, &g->view, &vls_tree_nodes, NULL, &t->err));
    while (valise_scan_next(&row, scan, &t->err) > 0)
        count += row.version > behind;
    valise_scan_close(scan);
    grove_end(g);
    return count;
}

static int drop_node(void *arg, const vls_tree_node_row *row, valise_error *err)
{
    return valise_view_delete(arg, &vls_tree_nodes, row, err) == 1 ? 0 : -1;
}

static int drop_version(void *arg, const vls_tree_version_row *row, int64_t from_seq,
                        valise_error *err)
{
    const vls_tree_version_row copy = *row;
    valise_view *view = ((void **)arg)[0];

    (void)from_seq;
    if (row->version >= *(int64_t *)((void **)arg)[1])
        return 1;
    return valise_view_delete(view, &vls_tree_versions, &copy, err) == 1 ? 0 : -1;
}

static void move_edge(grove *g, int64_t edge)
{
    test *t = g->t;
    vls_tree_row tree;

    grove_begin(g, true);
    tree = grove_head(g);
    tree.edge = edge;
    CHECK_OK(valise_view_put(&g->view, &vls_trees, &tree, &t->err));
    grove_end(g);
}

/* Every version that can be seen is as it was; no other one can. */
static void compare_seen(grove *g)
{
    test *t = g->t;
    vls_tree_version_row row;
    vls_tree_found found;
    vls_tree_row tree;

    grove_look(g, -1);
    tree = grove_head(g);
    for (int64_t v = 1; v <= g->version; v++) {
        if (v >= tree.edge) {
            grove_compare(g, &tree, v);
            continue;
        }
        CHECK_RC(VALISE_E_LIMIT, vls_tree_get(&found, &g->view, &tree, v, VLS_STR(""), &t->err));
        CHECK_RC(VALISE_E_LIMIT,
                 vls_tree_version_of(&row, &g->view, &tree,
                                     valise_str_of(test_format("v%lld", (long long)v)), &t->err));
    }
    grove_end(g);
    grove_check(g);
}

/* A piece of a sweep; true: it was the last. */
static bool sweep_some(grove *g, vls_tree_sweep *sweep)
{
    test *t = g->t;
    void *pair[] = {&g->view, &sweep->edge};
    vls_tree_swept swept;

    grove_begin(g, true);
    g->view.expiring = true;
    sweep->tree = grove_head(g).id;
    CHECK_OK(vls_tree_sweep_rows(&swept, &g->view, sweep, drop_node, &g->view, &t->err));
    if (swept.done)
        CHECK(vls_tree_each_version(&g->view, &sweep->tree, 0, drop_version, pair, &t->err) >= 0);
    sweep->dir = valise_str_of(test_format("%.*s", VALISE_STR_ARG(swept.dir)));
    sweep->behind = valise_str_of(test_format("%.*s", VALISE_STR_ARG(swept.behind)));
    CHECK(swept.gone <= sweep->max_gone);
    grove_end(g);
    return swept.done;
}

/* In pieces, some of which are begun anew, as after a kill. */
static void prune(grove *g, world *w, int64_t edge)
{
    test *t = g->t;
    size_t later = count_rows(g, edge), pieces = 0;
    vls_tree_sweep sweep = {.edge = edge, .dir = VLS_STR(""), .behind = VLS_STR("")};
    vls_tree_row tree;

    grove_look(g, -1);
    tree = grove_head(g);
    CHECK_RC(1, vls_tree_oldest(&sweep.from, &g->view, &tree, &t->err));
    grove_end(g);
    move_edge(g, edge);
    compare_seen(g);
    do {
        sweep.max_gone = 1 + pick(w, 6);
        if (pick(w, 4) == 0)
            sweep.dir = sweep.behind = VLS_STR("");
        if (pick(w, 6) == 0)
            compare_seen(g);
        CHECK(++pieces < 2000);
    } while (!sweep_some(g, &sweep));
    compare_seen(g);
    CHECK_INT((int64_t)(later + g->states[edge].count), (int64_t)count_rows(g, 0));
}

/* [C30] Of each name one row is left up to the edge, where there is something; and every version
 * from there on reads as before. */
TEST(tree_rows_model, prunes_take_what_nobody_sees)
{
    for (unsigned run = 0; run < RUNS; run++) {
        world w = {.rng = test_rng_new(test_seed() + 100 + run)};
        grove *g = test_alloc(sizeof(*g));
        int64_t edge = 1;
        grove_open(g, t, t->param);
        for (unsigned i = 0; i < VERSIONS; i++) {
            grove_state s;
            change(&w);
            s = state_of(&w);
            if (is_new(g, &s))
                grove_grow_to(g, s, pick(&w, 4));
            if (g->version > 0 && pick(&w, 4) == 0) {
                edge += pick(&w, (unsigned)(g->version - edge) + 1);
                prune(g, &w, edge);
            }
        }
        prune(g, &w, g->version);
        grove_close(g);
    }
}
