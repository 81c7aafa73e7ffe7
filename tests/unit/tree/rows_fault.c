/* tests/unit/tree/rows_fault.c -- trees as rows, when there is no memory. */
#include "harness/fault.h"
#include "kit/grove.h"

#include "base/hex.h"

typedef struct attempt {
    const char *name;
    bool writing;
    int (*run)(grove *g, fault *f);
} attempt;

static int nothing(void *arg, const vls_tree_found *found, valise_error *err)
{
    (void)arg, (void)found, (void)err;
    return 0;
}

static int settle(int rc)
{
    return rc < 0 ? rc : 0;
}

static int op_head(grove *g, fault *f)
{
    vls_tree_row tree;

    return settle(vls_tree_head(&tree, &g->view, &f->err));
}

static int op_get(grove *g, fault *f)
{
    vls_tree_row tree;
    vls_tree_found found;
    int rc = vls_tree_head(&tree, &g->view, &f->err);

    return rc < 0 ? rc : settle(vls_tree_get(&found, &g->view, &tree, 1, VLS_STR("d/ln"), &f->err));
}

static int op_find(grove *g, fault *f)
{
    vls_id_text id = vls_id_hex(&grove_get(&g->states[1], "d/ln")->id);
    vls_tree_row tree;
    vls_tree_found found;
    int rc = vls_tree_head(&tree, &g->view, &f->err);

    return rc < 0 ? rc
                  : settle(vls_tree_find(&found, &g->view, &tree, 1, vls_str(id.s, 6), &f->err));
}

static int op_version(grove *g, fault *f)
{
    vls_tree_row tree;
    vls_tree_version_row row;
    int rc = vls_tree_head(&tree, &g->view, &f->err);

    return rc < 0 ? rc
                  : settle(vls_tree_version_of(&row, &g->view, &tree,
                                               vls_str(vls_id_hex(&tree.root).s, 8), &f->err));
}

static int op_walk(grove *g, fault *f)
{
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, &g->view, &f->err);

    if (rc > 0)
        rc = vls_tree_walk(&g->view, &tree, 6, VLS_STR(""), nothing, NULL, &f->err);
    if (rc == 0)
        rc = vls_tree_children(&g->view, &tree, 6, VLS_STR("d"), nothing, NULL, &f->err);
    return rc;
}

/* A directory goes, a link comes, and the version is made. */
static int op_grow(grove *g, fault *f)
{
    grove_state to = grove_read("a=9 d>a e/f=1");
    vls_tree_version_row about = {.counts = grove_counts(&to),
                                  .object = grove_get(&to, "")->node.object};
    vls_tree_row tree;
    vls_buf list;
    int rc;

    fault_off(f);
    CHECK_INT(1, grove_changes(&list, 1, f->t->env, &g->states[g->version], &to, 0));
    fault_on(f);
    rc = vls_tree_own(&tree, &g->view, &f->err);
    if (rc == 0)
        rc = vls_tree_apply(&g->view, &tree, vls_buf_str(&list), &f->err);
    if (rc == 0)
        rc = vls_tree_commit(&tree, &g->view, &about, &f->err);
    vls_buf_release(&list);
    return rc;
}

static int once(fault *f, void *arg)
{
    static const char *const states[] = {"a=1 d/ln>x d/s/t=1", "a=2 d/ln>y d/s/t=1",
                                         "a=3 d/ln>z d/s/t=1", "a=4 d/ln>x d/s/t=1",
                                         "a=5 d/ln>y d/s/t=1", "a=6 d/ln>z d/s/t=1"};
    const attempt *a = arg;
    grove *g = test_alloc(sizeof(*g));
    int rc;

    fault_off(f);
    grove_open_in(g, f->t, "memory", f->env);
    for (size_t i = 0; i < VLS_COUNT(states); i++)
        grove_grow(g, states[i]);
    grove_begin(g, a->writing);
    fault_on(f);
    rc = a->run(g, f);
    fault_off(f);
    grove_drop(g);
    grove_close(g);
    return rc;
}

/* The first tree of a workspace. */
static int make_once(fault *f, void *arg)
{
    grove *g = test_alloc(sizeof(*g));
    vls_tree_row tree;
    int rc;

    (void)arg;
    fault_off(f);
    grove_open_in(g, f->t, "memory", f->env);
    grove_begin(g, true);
    fault_on(f);
    rc = vls_tree_own(&tree, &g->view, &f->err);
    fault_off(f);
    grove_drop(g);
    grove_close(g);
    return rc;
}

TEST(tree_rows_fault, no_memory)
{
    static const attempt attempts[] = {{"head", false, op_head}, {"get", false, op_get},
                                       {"find", false, op_find}, {"version", false, op_version},
                                       {"walk", false, op_walk}, {"grow", true, op_grow}};

    for (size_t i = 0; i < VLS_COUNT(attempts); i++) {
        test_note("%s", attempts[i].name);
        CHECK(fault_each_alloc(t, FAULT_OR_NONE, once, (void *)(uintptr_t)&attempts[i]) >= 0);
        CHECK(fault_each_alloc(t, FAULT_OR_NONE | FAULT_ONWARD, once,
                               (void *)(uintptr_t)&attempts[i]) >= 0);
    }
    CHECK(fault_each_alloc(t, 0, make_once, NULL) > 0);
}
