/* grove.c -- see grove.h. */
#include "kit/grove.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/hex.h"
#include "store/validate.h"

static const valise_coll *const collections[] = {&vls_tree_heres, &vls_trees, &vls_tree_versions,
                                                 &vls_tree_nodes, NULL};

/* ---- naive states ---- */

static char *copy(const char *text, size_t len)
{
    char *out = test_alloc(len + 1);

    memcpy(out, text, len);
    out[len] = '\0';
    return out;
}

static grove_node *find(const grove_state *s, const char *path)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->nodes[i].path, path) == 0)
            return &s->nodes[i];
    return NULL;
}

const grove_node *grove_get(const grove_state *s, const char *path)
{
    return find(s, path);
}

static grove_node *add(grove_state *s, const char *path, size_t len, vls_node_kind kind)
{
    char *name = copy(path, len);
    grove_node *known = find(s, name), *room;

    if (known)
        return known;
    room = test_alloc((s->count + 1) * sizeof(*room));
    if (s->count > 0)
        memcpy(room, s->nodes, s->count * sizeof(*room));
    s->nodes = room;
    s->nodes[s->count] = (grove_node){.path = name, .node = {.kind = kind}};
    return &s->nodes[s->count++];
}

static void add_word(grove_state *s, const char *word)
{
    size_t len = strcspn(word, "=*>!");
    const char *rest = word + len;
    bool dir = len > 0 && word[len - 1] == '/';
    grove_node *n;

    for (size_t i = 0; i < len; i++)
        if (word[i] == '/')
            (void)add(s, word, i, VLS_NODE_DIR);
    if (dir)
        return;
    n = add(s, word, len, VLS_NODE_FILE);
    if (*rest == '!')
        n->node = (vls_node){.kind = VLS_NODE_UNREADABLE};
    else if (*rest == '>') {
        valise_str target = valise_str_of(copy(rest + 1, strlen(rest + 1)));
        n->node = (vls_node){.kind = VLS_NODE_LINK, .target = target, .size = (int64_t)target.len};
    } else {
        valise_str bytes = valise_str_of(strchr(rest, '=') + 1);
        n->node =
            (vls_node){.kind = VLS_NODE_FILE, .exec = *rest == '*', .size = (int64_t)bytes.len};
        vls_hash_bytes(&n->node.content, bytes);
    }
}

static int compare(const void *a, const void *b)
{
    return vls_path_compare(valise_str_of(((const grove_node *)a)->path),
                            valise_str_of(((const grove_node *)b)->path));
}

static bool is_child(const char *path, const char *dir)
{
    valise_str p = valise_str_of(path);

    return p.len > 0 && vls_str_equal(vls_path_parent(p), valise_str_of(dir));
}

/* Object ids from the back: what is in a directory stands behind it. */
static void hash_all(grove_state *s)
{
    vls_hasher hasher;

    for (size_t i = s->count; i-- > 0;) {
        grove_node *n = &s->nodes[i];
        if (n->node.kind == VLS_NODE_DIR) {
            n->node.size = 0;
            for (size_t j = 0; j < s->count; j++)
                n->node.size += is_child(s->nodes[j].path, n->path);
            vls_dir_hash_begin(&hasher, (size_t)n->node.size);
            for (size_t j = 0; j < s->count; j++)
                if (is_child(s->nodes[j].path, n->path))
                    vls_dir_hash_entry(&hasher, vls_path_name(valise_str_of(s->nodes[j].path)),
                                       s->nodes[j].node.kind, &s->nodes[j].node.object);
            vls_dir_hash_end(&n->node.object, &hasher);
        } else {
            vls_node_hash(&n->node);
        }
        vls_node_id(&n->id, valise_str_of(n->path), &n->node.object);
    }
}

grove_state grove_of(const char *const *words, size_t count)
{
    grove_state s = {.count = 0};

    (void)add(&s, "", 0, VLS_NODE_DIR);
    for (size_t i = 0; i < count; i++)
        add_word(&s, words[i]);
    qsort(s.nodes, s.count, sizeof(*s.nodes), compare);
    hash_all(&s);
    return s;
}

grove_state grove_read(const char *words)
{
    const char *list[256];
    size_t count = 0;
    char *text = copy(words, strlen(words));

    for (char *save = NULL, *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        CHECK(count < VLS_COUNT(list));
        list[count++] = w;
    }
    return grove_of(list, count);
}

vls_tree_counts grove_counts(const grove_state *s)
{
    vls_tree_counts c = {0};

    for (size_t i = 0; i < s->count; i++) {
        const vls_node *n = &s->nodes[i].node;
        c.files += n->kind == VLS_NODE_FILE;
        c.dirs += n->kind == VLS_NODE_DIR && s->nodes[i].path[0]; /* not the root */
        c.links += n->kind == VLS_NODE_LINK;
        c.unreadable += n->kind == VLS_NODE_UNREADABLE;
        c.bytes += n->kind == VLS_NODE_FILE ? n->size : 0;
    }
    return c;
}

/* ---- differences ---- */

/* Does something above it go, or stop being a directory? */
static bool goes_with_parent(const grove_state *to, const char *path)
{
    valise_str p = valise_str_of(path);

    while (p.len > 0) {
        const grove_node *n;
        p = vls_path_parent(p);
        n = find(to, copy(p.ptr, p.len));
        if (!n || n->node.kind != VLS_NODE_DIR)
            return true;
    }
    return false;
}

size_t grove_changes(vls_buf *lists, size_t room, const valise_env *env, const grove_state *from,
                     const grove_state *to, size_t most)
{
    vls_tree_changes_writer *writer = test_alloc(sizeof(*writer));
    grove_state all = {.count = 0};
    size_t used = 0, in_list = 0;

    for (size_t i = 0; i < to->count; i++) {
        const grove_node *n = &to->nodes[i], *old = from ? find(from, n->path) : NULL;
        if (!old || old->node.kind != n->node.kind ||
            !vls_id_equal(&old->node.object, &n->node.object))
            add(&all, n->path, strlen(n->path), VLS_NODE_FILE)->node = n->node;
    }
    for (size_t i = 0; from && i < from->count; i++) {
        const char *path = from->nodes[i].path;
        if (!find(to, path) && !goes_with_parent(to, path))
            (void)add(&all, path, strlen(path), VLS_NODE_GONE);
    }
    if (all.count > 0)
        qsort(all.nodes, all.count, sizeof(*all.nodes), compare);
    for (size_t i = 0; i < all.count; i++) {
        const vls_tree_change change = {valise_str_of(all.nodes[i].path), all.nodes[i].node};
        if (in_list == 0) {
            CHECK(used < room);
            vls_buf_init(&lists[used], env, SIZE_MAX);
            vls_tree_changes_begin(writer, &lists[used++]);
        }
        vls_tree_changes_add(writer, &change);
        in_list = most > 0 && in_list + 1 == most ? 0 : in_list + 1;
    }
    return used;
}

/* ---- the store ---- */

/* A folder of its own for each. */
static const char *new_folder(void)
{
    const char *path;
    unsigned n = 0;

    do {
        path = test_format("%s/grove%u", test_tmpdir(), n++);
    } while (mkdir(path, 0700) < 0 && errno == EEXIST);
    return path;
}

static void open_with(grove *g, test *t, const valise_store_ops *ops, const char *where,
                      const valise_env *env)
{
    vls_store_options options = {.env = env,
                                 .ops = ops,
                                 .where = where,
                                 .flags = VALISE_STORE_CREATE,
                                 .busy_timeout_ns = INT64_C(10000000000),
                                 .colls = collections};

    *g = (grove){.t = t, .env = env, .now = 1000};
    CHECK_OK(vls_store_open(&g->store, &options, &t->err));
}

void grove_open_in(grove *g, test *t, const char *backend, const valise_env *env)
{
    if (strcmp(backend, "sqlite") == 0)
        open_with(g, t, valise_store_sqlite(), new_folder(), env);
    else
        open_with(g, t, valise_store_memory(), NULL, env);
}

void grove_open_store(grove *g, test *t, const valise_store_ops *ops)
{
    open_with(g, t, ops, NULL, t->env);
}

void grove_open(grove *g, test *t, const char *backend)
{
    grove_open_in(g, t, backend, t->env);
}

void grove_close(grove *g)
{
    vls_store_close(g->store);
    g->store = NULL;
}

void grove_begin(grove *g, bool writing)
{
    test *t = g->t;

    g->writing = writing;
    CHECK_OK(
        vls_txn_begin(&g->txn, g->store, writing ? VALISE_TXN_WRITE : VALISE_TXN_READ, &t->err));
    vls_view_init(&g->view, &g->txn, g->env);
    if (!writing)
        return;
    g->view.changing = true;
    g->view.stamp =
        (valise_stamp){.seq = g->txn.tip.seq + 1,
                       .time = g->now++,
                       .command = {{(uint8_t)(g->txn.tip.seq >> 8), (uint8_t)g->txn.tip.seq, 1}},
                       .actor = VLS_STR("tester")};
}

void grove_look(grove *g, int64_t at)
{
    test *t = g->t;

    grove_begin(g, false);
    if (at >= 0)
        CHECK_OK(vls_view_go_to(&g->view, at, &t->err));
}

void grove_drop(grove *g)
{
    vls_view_release(&g->view);
    vls_txn_rollback(&g->txn);
}

void grove_end(grove *g)
{
    test *t = g->t;
    vls_entry entry = {.id = g->view.stamp.command,
                       .time = g->view.stamp.time,
                       .actor = VLS_STR("tester"),
                       .type = VLS_STR("grove:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};

    if (g->writing)
        CHECK_OK(vls_view_apply(&entry, &g->view, &t->err));
    vls_view_release(&g->view);
    if (g->writing)
        CHECK_OK(vls_txn_commit(&g->txn, &t->err));
    vls_txn_rollback(&g->txn);
}

void grove_grow_to(grove *g, grove_state state, size_t most)
{
    const grove_state *old = g->version > 0 ? &g->states[g->version] : NULL;
    vls_tree_version_row about = {.counts = grove_counts(&state),
                                  .object = grove_get(&state, "")->node.object};
    test *t = g->t;
    vls_buf *lists = test_alloc(256 * sizeof(*lists));
    size_t count = grove_changes(lists, 256, t->env, old, &state, most);
    vls_tree_row tree;

    CHECK((size_t)g->version + 1 < VLS_COUNT(g->states));
    for (size_t i = 0; i < count; i++) {
        grove_begin(g, true);
        CHECK_OK(vls_tree_own(&tree, &g->view, &t->err));
        CHECK_OK(vls_tree_apply(&g->view, &tree, vls_buf_str(&lists[i]), &t->err));
        grove_end(g);
        vls_buf_release(&lists[i]);
    }
    grove_begin(g, true);
    CHECK_OK(vls_tree_own(&tree, &g->view, &t->err));
    CHECK_OK(vls_tree_commit(&tree, &g->view, &about, &t->err));
    CHECK_INT(g->version + 1, tree.version);
    grove_end(g);
    g->states[++g->version] = state;
}

void grove_grow(grove *g, const char *words)
{
    grove_grow_to(g, grove_read(words), 0);
}

vls_tree_row grove_head(grove *g)
{
    test *t = g->t;
    vls_tree_row tree;

    CHECK_RC(1, vls_tree_head(&tree, &g->view, &t->err));
    return tree;
}

/* ---- comparing ---- */

typedef struct comparing {
    const grove_state *state;
    const char *children_of; /* NULL: all */
    size_t at;
} comparing;

static void check_node(const grove_node *expected, const vls_tree_found *found)
{
    const vls_node *a = &expected->node, *b = &found->node;

    CHECK_STR(valise_str_of(expected->path), found->path);
    CHECK_TEXT(vls_node_kinds[a->kind], vls_node_kinds[b->kind]);
    CHECK_INT(a->exec, b->exec);
    CHECK_INT(a->size, b->size);
    CHECK(vls_id_equal(&a->content, &b->content));
    CHECK(vls_id_equal(&a->object, &b->object));
    CHECK(vls_id_equal(&expected->id, &found->id));
    CHECK_STR(a->target, b->target);
}

static int check_next(void *arg, const vls_tree_found *found, valise_error *err)
{
    comparing *c = arg;

    (void)err;
    while (c->children_of && c->at < c->state->count &&
           !is_child(c->state->nodes[c->at].path, c->children_of))
        c->at++;
    CHECK_MSG(c->at < c->state->count, "'%.*s' should not be there", VALISE_STR_ARG(found->path));
    check_node(&c->state->nodes[c->at++], found);
    return 0;
}

static void check_children(grove *g, const vls_tree_row *tree, int64_t version, const char *dir)
{
    comparing c = {&g->states[version], dir, 0};
    test *t = g->t;

    CHECK_OK(
        vls_tree_children(&g->view, tree, version, valise_str_of(dir), check_next, &c, &t->err));
    for (; c.at < c.state->count; c.at++)
        CHECK(!is_child(c.state->nodes[c.at].path, dir));
}

/* By its id, as digits of some length. */
static void check_find(grove *g, const vls_tree_row *tree, int64_t version, const grove_node *n)
{
    vls_id_text id = vls_id_hex(&n->id);
    vls_tree_found found;
    test *t = g->t;

    CHECK_RC(1, vls_tree_find(&found, &g->view, tree, version, valise_str_of(id.s), &t->err));
    check_node(n, &found);
    CHECK_RC(1, vls_tree_find(&found, &g->view, tree, version, vls_str(id.s, 12), &t->err));
    check_node(n, &found);
}

/* Does a version that can be seen have it? */
static bool is_seen(const grove *g, const vls_tree_row *tree, const grove_node *n)
{
    for (int64_t v = tree->edge; v <= tree->version; v++) {
        const grove_node *there = find(&g->states[v], n->path);
        if (there && vls_id_equal(&there->id, &n->id))
            return true;
    }
    return false;
}

/* What other versions have is not there, but known; unless they were pruned. */
static void check_others(grove *g, const vls_tree_row *tree, int64_t version)
{
    const grove_state *s = &g->states[version];
    vls_tree_found found;
    test *t = g->t;

    for (int64_t v = 1; v <= tree->version; v++) {
        const grove_state *other = &g->states[v];
        for (size_t i = 0; i < other->count; i++) {
            const grove_node *n = &other->nodes[i], *here = find(s, n->path);
            vls_id_text id = vls_id_hex(&n->id);
            if (!here)
                CHECK_RC(0, vls_tree_get(&found, &g->view, tree, version, valise_str_of(n->path),
                                         &t->err));
            if (here && vls_id_equal(&here->id, &n->id))
                continue;
            if (!is_seen(g, tree, n)) {
                CHECK_RC(0, vls_tree_find(&found, &g->view, tree, version, valise_str_of(id.s),
                                          &t->err));
                continue;
            }
            CHECK_RC(2,
                     vls_tree_find(&found, &g->view, tree, version, valise_str_of(id.s), &t->err));
            check_node(n, &found);
        }
    }
}

void grove_compare(grove *g, const vls_tree_row *tree, int64_t version)
{
    const grove_state *s = &g->states[version];
    comparing c = {s, NULL, 0};
    test *t = g->t;

    CHECK_OK(vls_tree_walk(&g->view, tree, version, VLS_STR(""), check_next, &c, &t->err));
    CHECK_INT(s->count, c.at);
    for (size_t i = 0; i < s->count; i++) {
        vls_tree_found found;
        CHECK_RC(1, vls_tree_get(&found, &g->view, tree, version, valise_str_of(s->nodes[i].path),
                                 &t->err));
        check_node(&s->nodes[i], &found);
        check_find(g, tree, version, &s->nodes[i]);
        if (s->nodes[i].node.kind == VLS_NODE_DIR)
            check_children(g, tree, version, s->nodes[i].path);
    }
    check_others(g, tree, version);
}

/* ---- validating ---- */

static int print(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg, (void)err;
    (void)fprintf(stderr, "# %s: %s\n", finding->place, finding->problem);
    return 0;
}

int64_t grove_problems(grove *g)
{
    test *t = g->t;
    vls_validation found;
    vls_progress p;

    vls_progress_init(&p, g->env, NULL);
    CHECK_OK(vls_validate(&found, g->store, &p, print, NULL, &t->err));
    return found.problems;
}

void grove_check(grove *g)
{
    CHECK_INT(0, grove_problems(g));
}
