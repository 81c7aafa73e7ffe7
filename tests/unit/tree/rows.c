/* tests/unit/tree/rows.c -- trees as rows. [C4] */
#include "kit/grove.h"

#include "base/hex.h"
#include "store/validate.h"

TEST_PARAMS(tree_rows, "memory", "sqlite")

static void compare_all(grove *g)
{
    vls_tree_row tree;

    grove_look(g, -1);
    tree = grove_head(g);
    CHECK_INT(g->version, tree.version);
    for (int64_t v = 1; v <= g->version; v++)
        grove_compare(g, &tree, v);
    grove_end(g);
    grove_check(g);
}

TEST(tree_rows, a_workspace_begins_without_a_tree)
{
    grove g;
    vls_tree_row tree = {.version = 7};

    grove_open(&g, t, t->param);
    grove_look(&g, -1);
    CHECK_RC(0, vls_tree_head(&tree, &g.view, &t->err));
    CHECK_INT(0, tree.version);
    grove_end(&g);
    grove_close(&g);
}

/* [C1] [C4] */
TEST(tree_rows, versions_stay_queryable)
{
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "");
    grove_grow(&g, "a.c=1 a/x=2 a/y*=2 ln>a.c bad! empty/ z=");
    grove_grow(&g, "a.c=2 a/x=2 a/y=2 ln>b bad=1 empty/ z!");
    grove_grow(&g, "a.c=1 a/x=2 a/y*=2 ln>a.c bad! empty/ z=");
    grove_grow(&g, "q/r/s/t=1");
    compare_all(&g);
    grove_close(&g);
}

TEST(tree_rows, directories_go_and_come_back_without_their_past)
{
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "d/a=1 d/sub/b=2 d/sub/deep/c=3 keep=1");
    grove_grow(&g, "keep=1");
    grove_grow(&g, "d/new=1 keep=1");
    grove_grow(&g, "d/new=1 d/sub/b=2 keep=1");
    grove_grow(&g, "d/a=1 d/sub/b=2 d/sub/deep/c=3 keep=1");
    compare_all(&g);
    grove_close(&g);
}

TEST(tree_rows, files_become_directories_and_the_reverse)
{
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "x=1 y/a/b=1 y/c=1");
    grove_grow(&g, "x/a=1 x/b/c=1 y=1");
    grove_grow(&g, "x>y y!");
    grove_grow(&g, "x/a=1 x/b/c=1 y/a/b=1 y/c=1");
    grove_grow(&g, "x=1 y/a/b=1 y/c=1");
    compare_all(&g);
    grove_close(&g);
}

/* A list in pieces is the same as one. */
TEST(tree_rows, lists_come_in_pieces)
{
    grove g;

    grove_open(&g, t, t->param);
    for (size_t most = 1; most < 5; most++) {
        grove_grow_to(&g, grove_read("a/b/c=1 a/b/d=2 a/e=3 f=4 g/"), most);
        grove_grow_to(&g, grove_read("a/b=1 a/e/x=3 f=4 h/i/j>k"), most);
    }
    compare_all(&g);
    grove_close(&g);
}

/* Names are bytes. */
TEST(tree_rows, names_are_bytes)
{
    const char *words[] = {"\xff\xfe=1", "new\nline=2", "a:b/c\\d=3", "\xc3\xa9/\x80=4", " =5"};
    grove g;

    grove_open(&g, t, t->param);
    grove_grow_to(&g, grove_of(words, VLS_COUNT(words)), 0);
    grove_grow_to(&g, grove_of(words, 3), 0);
    compare_all(&g);
    grove_close(&g);
}

/* 500 levels, with no recursion. */
TEST(tree_rows, deep_trees)
{
    char path[1100] = "";
    const char *words[1] = {path};
    grove g;

    for (size_t i = 0; i < 500; i++)
        memcpy(path + 2 * i, "d/", 3);
    memcpy(path + 1000, "x=1", 4);
    grove_open(&g, t, t->param);
    grove_grow_to(&g, grove_of(words, 1), 0);
    grove_grow(&g, "e=1");
    grove_look(&g, -1);
    {
        vls_tree_row tree = grove_head(&g);
        vls_tree_found found;
        path[1001] = '\0';
        CHECK_RC(1, vls_tree_get(&found, &g.view, &tree, 1, valise_str_of(path), &t->err));
        CHECK_RC(0, vls_tree_get(&found, &g.view, &tree, 2, valise_str_of(path), &t->err));
    }
    grove_end(&g);
    grove_check(&g);
    grove_close(&g);
}

static int count_nodes(void *arg, const vls_tree_found *found, valise_error *err)
{
    (void)found, (void)err;
    return ++*(int *)arg == 3 ? 42 : 0;
}

TEST(tree_rows, walks_begin_anywhere_and_end_when_they_are_told)
{
    grove g;
    vls_tree_row tree;
    int count = 0;

    grove_open(&g, t, t->param);
    grove_grow(&g, "a/b/c=1 a/b/d=1 a.c=1 z=1");
    grove_look(&g, -1);
    tree = grove_head(&g);
    CHECK_RC(42, vls_tree_walk(&g.view, &tree, 1, VLS_STR("a"), count_nodes, &count, &t->err));
    count = 0;
    CHECK_RC(0, vls_tree_walk(&g.view, &tree, 1, VLS_STR("z"), count_nodes, &count, &t->err));
    CHECK_INT(1, count);
    CHECK_RC(0, vls_tree_walk(&g.view, &tree, 1, VLS_STR("no"), count_nodes, &count, &t->err));
    CHECK_INT(1, count);
    count = 0;
    CHECK_RC(42, vls_tree_children(&g.view, &tree, 1, VLS_STR(""), count_nodes, &count, &t->err));
    count = 0;
    CHECK_RC(0, vls_tree_children(&g.view, &tree, 1, VLS_STR("z"), count_nodes, &count, &t->err));
    CHECK_INT(0, count);
    grove_end(&g);
    grove_close(&g);
}

/* The state of the workspace as of an earlier entry has the tree of then. */
TEST(tree_rows, the_past_of_the_workspace_has_the_tree_of_then)
{
    grove g;
    vls_tree_row tree;
    int64_t seq;

    grove_open(&g, t, t->param);
    grove_grow(&g, "a=1 d/x=1");
    grove_look(&g, -1);
    seq = g.txn.tip.seq;
    grove_end(&g);
    grove_grow(&g, "a=2 e/x=1");
    grove_look(&g, seq);
    tree = grove_head(&g);
    CHECK_INT(1, tree.version);
    grove_compare(&g, &tree, 1);
    grove_end(&g);
    grove_close(&g);
}

/* ---- versions and ids ---- */

TEST(tree_rows, versions_by_root_and_number)
{
    grove g;
    vls_tree_row tree;
    vls_tree_version_row row;
    vls_id_text first, second;

    grove_open(&g, t, t->param);
    grove_grow(&g, "a=1");
    grove_grow(&g, "a=2 b/c=1");
    grove_grow(&g, "a=1");
    first = vls_id_hex(&grove_get(&g.states[1], "")->id);
    second = vls_id_hex(&grove_get(&g.states[2], "")->id);
    grove_look(&g, -1);
    tree = grove_head(&g);
    CHECK_TEXT(first.s, vls_id_hex(&tree.root).s);
    CHECK_RC(1, vls_tree_version_of(&row, &g.view, &tree, valise_str_of(first.s), &t->err));
    CHECK_INT(3, row.version); /* the newest with this root */
    CHECK_RC(1, vls_tree_version_of(&row, &g.view, &tree, vls_str(second.s, 4), &t->err));
    CHECK_INT(2, row.version);
    CHECK_INT(2, row.counts.files);
    CHECK_INT(1, row.counts.dirs);
    CHECK_RC(1, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("v1"), &t->err));
    CHECK_INT(1, row.version);
    CHECK_RC(0, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("v4"), &t->err));
    CHECK_RC(0, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("v0"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("v1x"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("abc"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("ABCD"), &t->err));
    second.s[5] = second.s[5] == '0' ? '1' : '0';
    CHECK_RC(0, vls_tree_version_of(&row, &g.view, &tree, valise_str_of(second.s), &t->err));
    tree.edge = 2;
    CHECK_RC(VALISE_E_LIMIT, vls_tree_version_of(&row, &g.view, &tree, VLS_STR("v1"), &t->err));
    grove_end(&g);
    grove_close(&g);
}

/* Two names whose ids begin alike are found by trying. */
static void find_twins(char names[2][32], size_t digits)
{
    static unsigned seen[65536];
    vls_node node = {.kind = VLS_NODE_UNREADABLE};

    CHECK(digits == 4);
    vls_node_hash(&node);
    memset(seen, 0, sizeof(seen));
    for (unsigned i = 1; i < 65536; i++) {
        char name[32];
        unsigned short start;
        valise_id id;
        (void)snprintf(name, sizeof(name), "f%u", i);
        vls_node_id(&id, valise_str_of(name), &node.object);
        start = (unsigned short)(id.bytes[0] << 8 | id.bytes[1]);
        if (seen[start]) {
            (void)snprintf(names[0], 32, "f%u", seen[start]);
            (void)snprintf(names[1], 32, "f%u", i);
            return;
        }
        seen[start] = i;
    }
    CHECK(false);
}

TEST(tree_rows, ids_that_begin_alike_are_told)
{
    char names[2][32], one[64], both[128];
    vls_tree_row tree;
    vls_tree_found found;
    vls_id_text id;
    grove g;

    find_twins(names, 4);
    (void)snprintf(one, sizeof(one), "%s!", names[0]);
    (void)snprintf(both, sizeof(both), "%s! %s!", names[0], names[1]);
    grove_open(&g, t, t->param);
    grove_grow(&g, both);
    grove_grow(&g, one);
    grove_grow(&g, "");
    id = vls_id_hex(&grove_get(&g.states[1], names[0])->id);
    grove_look(&g, -1);
    tree = grove_head(&g);
    CHECK_RC(VALISE_E_CONFLICT,
             vls_tree_find(&found, &g.view, &tree, 1, vls_str(id.s, 4), &t->err));
    /* By id: who asks may not be one who may hear of the paths. */
    for (int i = 0; i < 2; i++) {
        vls_id_text twin = vls_id_hex(&grove_get(&g.states[1], names[i])->id);
        twin.s[16] = '\0';
        CHECK(strstr(t->err.message, twin.s));
    }
    CHECK(!strchr(t->err.message, '('));
    CHECK(strstr(t->err.hint, "more digits"));
    CHECK_RC(1, vls_tree_find(&found, &g.view, &tree, 2, vls_str(id.s, 4), &t->err));
    CHECK_STR(valise_str_of(names[0]), found.path);
    CHECK_RC(VALISE_E_CONFLICT,
             vls_tree_find(&found, &g.view, &tree, 3, vls_str(id.s, 4), &t->err));
    CHECK_RC(2, vls_tree_find(&found, &g.view, &tree, 3, vls_str(id.s, 64), &t->err));
    CHECK_RC(0, vls_tree_find(&found, &g.view, &tree, 3, VLS_STR("0000000000000000"), &t->err));
    CHECK_RC(0, vls_tree_find(&found, &g.view, &tree, 3, VLS_STR("00000"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_tree_find(&found, &g.view, &tree, 3, VLS_STR("00"), &t->err));
    tree.edge = 2;
    CHECK_RC(VALISE_E_LIMIT, vls_tree_find(&found, &g.view, &tree, 1, VLS_STR("0000"), &t->err));
    CHECK_RC(VALISE_E_LIMIT, vls_tree_get(&found, &g.view, &tree, 1, VLS_STR(""), &t->err));
    grove_end(&g);
    grove_close(&g);
}

/* ---- what does not fit ---- */

static vls_tree_change change_of(const char *path, vls_node_kind kind)
{
    return (vls_tree_change){valise_str_of(path), {.kind = kind}};
}

static int try_changes(grove *g, const vls_tree_change *changes, size_t count, valise_error *err)
{
    vls_tree_changes_writer *writer = test_alloc(sizeof(*writer));
    VLS_AUTO(buf) vls_buf list = {0};
    vls_tree_row tree;
    int rc;

    vls_buf_init(&list, g->t->env, SIZE_MAX);
    vls_tree_changes_begin(writer, &list);
    for (size_t i = 0; i < count; i++)
        vls_tree_changes_add(writer, &changes[i]);
    grove_begin(g, true);
    rc = vls_tree_own(&tree, &g->view, err);
    if (rc == 0)
        rc = vls_tree_apply(&g->view, &tree, vls_buf_str(&list), err);
    grove_drop(g);
    return rc;
}

TEST(tree_rows, changes_that_do_not_fit_are_refused)
{
    vls_tree_change root = change_of("", VLS_NODE_DIR);
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "a=1 d/x=1");
    {
        vls_tree_change c[] = {root, change_of("b", VLS_NODE_GONE)};
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c, 2, &t->err));
        c[1] = change_of("a", VLS_NODE_GONE);
        CHECK_RC(0, try_changes(&g, c, 2, &t->err));
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c + 1, 1, &t->err)); /* without the root */
        c[1] = change_of("d/x", VLS_NODE_GONE);                          /* without d */
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c, 2, &t->err));
        c[0] = change_of("", VLS_NODE_UNREADABLE);
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c, 1, &t->err));
    }
    {
        vls_tree_change c[] = {root, change_of("a", VLS_NODE_UNREADABLE),
                               change_of("a/b", VLS_NODE_UNREADABLE)};
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c, 3, &t->err));
        c[1] = change_of("d", VLS_NODE_GONE);
        c[2] = change_of("d/x", VLS_NODE_GONE);
        CHECK_RC(VALISE_E_CONFLICT, try_changes(&g, c, 3, &t->err));
    }
    grove_begin(&g, true);
    {
        vls_tree_row tree = grove_head(&g);
        vls_tree_version_row about = {.object = tree.object};
        CHECK_RC(VALISE_E_CORRUPT,
                 vls_tree_apply(&g.view, &tree, VLS_STR("valise changes 2\n"), &t->err));
        CHECK_RC(VALISE_E_CONFLICT, vls_tree_commit(&tree, &g.view, &about, &t->err));
        CHECK_INT(1, tree.version);
    }
    grove_drop(&g);
    compare_all(&g);
    grove_close(&g);
}

TEST(tree_rows, a_version_must_have_the_root_it_says)
{
    grove_state to = grove_read("a=2");
    vls_tree_version_row about = {.counts = grove_counts(&to)};
    vls_tree_row tree;
    vls_buf list;
    grove g;

    grove_open(&g, t, t->param);
    grove_grow(&g, "a=1");
    CHECK_INT(1, grove_changes(&list, 1, t->env, &g.states[1], &to, 0));
    grove_begin(&g, true);
    tree = grove_head(&g);
    CHECK_OK(vls_tree_apply(&g.view, &tree, vls_buf_str(&list), &t->err));
    about.object = tree.object;
    CHECK_RC(VALISE_E_CONFLICT, vls_tree_commit(&tree, &g.view, &about, &t->err));
    grove_drop(&g);
    vls_buf_release(&list);
    grove_close(&g);
}

/* ---- validate ---- */

/* One more row that does not belong there; its node id is right unless it says otherwise. */
typedef struct spoiled {
    const char *parent, *name;
    int64_t version;
    vls_node_kind kind;
    int64_t size, wrong8;
    const char *problem;
} spoiled;

static int look_for(void *arg, const vls_finding *finding, valise_error *err)
{
    const char **text = arg;

    (void)err;
    *text = test_format("%s%s\n", *text, finding->problem);
    return 0;
}

static void check_spoiled(test *t, const spoiled *how)
{
    vls_tree_node_row row = {.parent = valise_str_of(how->parent),
                             .name = valise_str_of(how->name),
                             .version = how->version,
                             .kind = (int64_t)how->kind,
                             .size = how->size};
    vls_node node = {.kind = how->kind};
    const char *path = test_format("%s%s%s", how->parent, *how->parent ? "/" : "", how->name);
    const char *found = "";
    vls_validation result;
    vls_progress p;
    valise_id id;
    grove g;

    if (how->kind != VLS_NODE_DIR)
        vls_node_hash(&node);
    vls_node_id(&id, valise_str_of(path), &node.object);
    for (size_t i = 0; i < 8; i++)
        row.node8 = (int64_t)((uint64_t)row.node8 << 8 | id.bytes[i]);
    row.node8 += how->wrong8;
    grove_open(&g, t, t->param);
    grove_grow(&g, "a=1 d/x=1");
    grove_grow(&g, "a=2 d/x=1");
    grove_begin(&g, true);
    row.tree = grove_head(&g).id;
    CHECK_OK(valise_view_put(&g.view, &vls_tree_nodes, &row, &t->err));
    grove_end(&g);
    vls_progress_init(&p, t->env, NULL);
    CHECK_OK(vls_validate(&result, g.store, &p, look_for, &found, &t->err));
    CHECK_MSG(strstr(found, how->problem), "no '%s' in: %s", how->problem, found);
    grove_close(&g);
}

TEST(tree_rows, validate_finds_wrong_nodes)
{
    static const spoiled all[] = {
        {"d", "new", 2, VLS_NODE_UNREADABLE, 0, 1, "its node id is"},
        {"", "d", 2, VLS_NODE_DIR, 7, 0, "it has 1 entries, but records 7"},
        {"", "d", 2, VLS_NODE_DIR, 1, 0, "its object id does not match its entries"},
        {"a", "new", 2, VLS_NODE_UNREADABLE, 0, 0, "it is in no directory"},
        {"no", "new", 2, VLS_NODE_UNREADABLE, 0, 0, "it is in no directory"},
        {"d", "x/..", 2, VLS_NODE_UNREADABLE, 0, 0, "its path is invalid"},
        {"d", "", 2, VLS_NODE_UNREADABLE, 0, 0, "its path is invalid"},
        {"", "new", 1, VLS_NODE_UNREADABLE, 0, 0, "it has 3 entries, but records 2"},
    };

    for (size_t i = 0; i < VLS_COUNT(all); i++)
        check_spoiled(t, &all[i]);
}

TEST(tree_rows, validate_finds_wrong_heads_and_versions)
{
    for (unsigned i = 0; i < 6; i++) {
        vls_tree_row tree;
        grove g;
        grove_open(&g, t, t->param);
        grove_grow(&g, "a=1 d/x=1 l>a u!");
        grove_begin(&g, true);
        tree = grove_head(&g);
        if (i < 4) {
            tree.counts.files += i == 0;
            tree.edge += i == 1 ? 5 : 0;
            tree.version += i == 2;
            tree.object.bytes[0] ^= i == 3;
            CHECK_OK(valise_view_put(&g.view, &vls_trees, &tree, &t->err));
        } else if (i == 4) {
            vls_tree_version_row row = {
                .tree = tree.id, .version = 2, .object = tree.object, .root = tree.object};
            CHECK_OK(valise_view_put(&g.view, &vls_tree_versions, &row, &t->err));
        } else {
            vls_tree_here_row here = {.id = 2, .tree = tree.id};
            CHECK_OK(valise_view_put(&g.view, &vls_tree_heres, &here, &t->err));
        }
        grove_end(&g);
        CHECK(grove_problems(&g) > 0);
        grove_close(&g);
    }
}

/* ---- costs ---- */

static int64_t rows_read;

static int count_next(valise_cell *row, void *scan, valise_error *err)
{
    rows_read++;
    return valise_store_memory()->scan_next(row, scan, err);
}

/* A listing costs names, not versions. */
TEST(tree_rows, versions_of_a_name_cost_nothing)
{
    valise_store_ops ops = *valise_store_memory();
    vls_tree_row tree;
    vls_tree_found found;
    grove g;
    int count = -100;

    ops.scan_next = count_next;
    grove_open_store(&g, t, &ops);
    for (int i = 0; i < 50; i++)
        grove_grow(&g, test_format("a=0 hot=%d z=0", i));
    grove_look(&g, -1);
    tree = grove_head(&g);
    rows_read = 0;
    CHECK_OK(vls_tree_children(&g.view, &tree, 50, VLS_STR(""), count_nodes, &count, &t->err));
    CHECK_INT(-97, count);
    CHECK_MSG(rows_read < 16, "%lld rows were read", (long long)rows_read);
    rows_read = 0;
    CHECK_RC(1, vls_tree_get(&found, &g.view, &tree, 25, VLS_STR("hot"), &t->err));
    CHECK_INT(1, rows_read);
    /* What is gone does not stand in the way of ids that begin with zeros. */
    grove_end(&g);
    grove_grow(&g, "");
    grove_look(&g, -1);
    tree = grove_head(&g);
    rows_read = 0;
    CHECK_RC(0, vls_tree_find(&found, &g.view, &tree, 51, VLS_STR("00000000"), &t->err));
    CHECK_MSG(rows_read < 3, "%lld rows were read", (long long)rows_read);
    grove_end(&g);
    grove_close(&g);
}
