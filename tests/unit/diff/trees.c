/* trees.c -- two versions of a tree: the differences are right, and cost what differs. [C28] */
#include "tree/rows_diff.h"

#include "kit/grove.h"
#include "tree/compare.h"

TEST_PARAMS(trees, "memory", "sqlite")

#define NODES_MAX 400u

/* A state as text, a line for each node but directories that something is in. */
typedef struct listing {
    const char *path[NODES_MAX];
    vls_node node[NODES_MAX];
    size_t count;
} listing;

static size_t find(const listing *l, valise_str path)
{
    for (size_t i = 0; i < l->count; i++)
        if (vls_str_equal(valise_str_of(l->path[i]), path))
            return i;
    return l->count;
}

static void list_state(listing *out, const grove_state *s)
{
    out->count = 0;
    for (size_t i = 0; s && i < s->count; i++) {
        CHECK(out->count < NODES_MAX);
        out->path[out->count] = s->nodes[i].path;
        out->node[out->count++] = s->nodes[i].node;
    }
}

typedef struct applying {
    listing *l;
    const char *last;
    size_t told;
} applying;

/* Apply one to the older state: what it says was there must be there. */
static int apply(void *arg, const vls_difference *d, valise_error *err)
{
    applying *a = arg;
    listing *l = a->l;
    size_t at = find(l, d->path);

    (void)err;
    CHECK(!a->last || vls_path_compare(valise_str_of(a->last), d->path) < 0);
    a->last = test_format("%.*s", VALISE_STR_ARG(d->path));
    a->told++;
    CHECK(d->was || d->is);
    CHECK((at < l->count) == (d->was != NULL));
    if (d->was) {
        CHECK(l->node[at].kind == d->was->kind);
        CHECK(vls_id_equal(&l->node[at].object, &d->was->object));
    }
    if (d->was && d->is)
        CHECK(d->was->kind != d->is->kind || !vls_id_equal(&d->was->object, &d->is->object));
    if (!d->is) {
        l->path[at] = l->path[l->count - 1];
        l->node[at] = l->node[--l->count];
        return 0;
    }
    CHECK(l->count < NODES_MAX);
    l->path[at] = a->last;
    l->node[at] = *d->is;
    l->count += !d->was;
    return 0;
}

static void check_same(const listing *a, const listing *b)
{
    CHECK_INT(b->count, a->count);
    for (size_t i = 0; i < b->count; i++) {
        size_t at = find(a, valise_str_of(b->path[i]));
        CHECK_MSG(at < a->count, "'%s' is missing", b->path[i]);
        CHECK(vls_id_equal(&a->node[at].object, &b->node[i].object));
    }
}

static size_t check_pair(grove *g, const vls_tree_row *tree, int64_t was, int64_t is)
{
    vls_tree_diff diff = {.view = &g->view, .tree = tree, .was = was, .is = is};
    listing *from = test_alloc(sizeof(*from)), *to = test_alloc(sizeof(*to));
    applying a = {.l = from};
    test *t = g->t;

    list_state(from, was > 0 ? &g->states[was] : NULL);
    list_state(to, is > 0 ? &g->states[is] : NULL);
    CHECK_OK(vls_tree_diff_each(&diff, apply, &a, &t->err));
    check_same(from, to);
    return a.told;
}

static const char *random_words(test_rng *rng)
{
    static const char *const dirs[] = {"", "a/", "a/b/", "a.b/", "c/", "c/d/e/"};
    const char *words = "";

    for (size_t i = 0; i < 6; i++) {
        for (unsigned k = 0; k < 3; k++) {
            if (test_random_below(rng, 3) == 0)
                continue;
            switch (test_random_below(rng, 6)) {
            case 0:
                words = test_format("%s %sf%u>x%u", words, dirs[i], k,
                                    (unsigned)test_random_below(rng, 3));
                break;
            case 1:
                words = test_format("%s %sf%u*=%u", words, dirs[i], k,
                                    (unsigned)test_random_below(rng, 4));
                break;
            case 2:
                words = test_format("%s %sf%u/in=%u", words, dirs[i], k,
                                    (unsigned)test_random_below(rng, 4));
                break;
            default:
                words = test_format("%s %sf%u=%u", words, dirs[i], k,
                                    (unsigned)test_random_below(rng, 4));
            }
        }
    }
    return words;
}

/* diff(A, B) applied to A gives B, for any two of them; diff(A, A) is empty; diff(B, A) has as
 * many.
 */
TEST(trees, random_versions_against_each_other)
{
    test_rng rng = test_rng_new(test_seed());
    grove g;
    vls_tree_row tree;
    int64_t last = test_is_long() ? 24 : 10;

    grove_open(&g, t, t->param);
    for (int64_t i = 0; i < last; i++)
        grove_grow(&g, random_words(&rng));
    last = g.version;
    grove_begin(&g, false);
    tree = grove_head(&g);
    for (int64_t a = 0; a <= last; a++)
        for (int64_t b = a; b <= last; b++) {
            size_t there = check_pair(&g, &tree, a, b);
            CHECK_INT(there, check_pair(&g, &tree, b, a));
            CHECK(a != b || there == 0);
        }
    grove_drop(&g);
    grove_close(&g);
}

static int count(void *arg, const vls_difference *d, valise_error *err)
{
    (void)d, (void)err;
    ++*(size_t *)arg;
    return 0;
}

/* Ten directories of ten files each, and one file of one of them changes: the rest is not read. */
TEST(trees, the_cost_goes_with_what_differs)
{
    const char *words = "", *more = "";
    vls_tree_diff diff;
    vls_tree_row tree;
    size_t told = 0;
    grove g;

    for (unsigned i = 0; i < 100; i++)
        words = test_format("%s d%u/f%u=1", words, i / 10, i);
    more = test_format("%s d5/f55=2 d5/new=1", words);
    /* the later word counts: so the older one goes */
    char *at = strstr((char *)(uintptr_t)more, " d5/f55=1");
    CHECK(at);
    memset(at, ' ', 9);
    grove_open(&g, t, t->param);
    grove_grow(&g, words);
    grove_grow(&g, more);
    grove_begin(&g, false);
    tree = grove_head(&g);
    diff = (vls_tree_diff){.view = &g.view, .tree = &tree, .was = 1, .is = 2};
    CHECK_OK(vls_tree_diff_each(&diff, count, &told, &t->err));
    CHECK_INT(4, told); /* the root, d5, and two in it */
    /* Both sides: the names of the root, once more behind d5, and those of d5. */
    CHECK_MSG(diff.rows <= 2 * (10 + 10 + 11), "%lld rows", (long long)diff.rows);
    grove_drop(&g);
    grove_close(&g);
}

static bool only_a(void *arg, valise_str dir)
{
    return vls_path_is_under(dir, valise_str_of(arg));
}

TEST(trees, a_part_of_it_and_an_early_end)
{
    vls_tree_diff diff;
    vls_tree_row tree;
    size_t told = 0;
    grove g;
    char a[] = "a";

    grove_open(&g, t, t->param);
    grove_grow(&g, "a/x=1 b/y=1");
    grove_grow(&g, "a/x=2 b/y=2 b/z=1");
    grove_begin(&g, false);
    tree = grove_head(&g);
    diff = (vls_tree_diff){
        .view = &g.view, .tree = &tree, .was = 1, .is = 2, .enters = only_a, .arg = a};
    CHECK_OK(vls_tree_diff_each(&diff, count, &told, &t->err));
    CHECK_INT(4, told); /* the root, a, a/x, b */
    tree.edge = 2;
    CHECK_RC(VALISE_E_LIMIT, vls_tree_diff_each(&diff, count, &told, &t->err));
    grove_drop(&g);
    grove_close(&g);
}

TEST(trees, moves_are_told_as_a_scan_does)
{
    vls_scan found = {.added = 0};
    vls_tree_diff diff;
    vls_tree_row tree;
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "old/x=1 old/y=2 one=3 two=4 same=5");
    grove_grow(&g, "new/x=1 new/y=2 uno=3 two=6 same=5 more=7");
    grove_begin(&g, false);
    tree = grove_head(&g);
    diff = (vls_tree_diff){.view = &g.view, .tree = &tree, .was = 1, .is = 2};
    vls_arena_init(&found.arena, t->env, (size_t)1 << 20);
    CHECK_OK(vls_tree_diff_moves(&found, &diff, &t->err));
    CHECK_INT(2, found.moved);
    CHECK_INT(1, found.added);
    CHECK_INT(0, found.removed);
    CHECK_INT(1, found.changed);
    CHECK_STR(VLS_STR("old"), found.moves.ptr[0].from);
    CHECK_STR(VLS_STR("new"), found.moves.ptr[0].to);
    CHECK_STR(VLS_STR("uno"), found.moves.ptr[1].to);
    vls_arena_release(&found.arena);
    grove_drop(&g);
    grove_close(&g);
}
