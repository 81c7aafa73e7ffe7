/* tests/unit/tree/rows_model.c -- trees as rows against maps from path to node. [C4] [C12] */
#include "kit/grove.h"

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
