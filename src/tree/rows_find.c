/* rows_find.c -- a node by its id, or the beginning of it.
 *
 * The index has the first eight bytes of ids as numbers, so digits are a range of it. What is
 * found there is hashed again and compared as a whole. */
#include "tree/rows_impl.h"

#include "base/hex.h"
#include "base/text.h"
#include "base/vec.h"

#define CANDIDATES_MAX 256u /* different ids of other versions that are remembered */
#define LISTED_MAX 5u       /* that a message names */

typedef struct candidate {
    vls_tree_found found;
    bool live; /* in the version that is asked for */
} candidate;

typedef struct search {
    valise_view *view;
    const vls_tree_row *tree;
    int64_t version;
    valise_str digits;
    vls_arena arena; /* of candidates */
    vls_vec(candidate) list;
} search;

static void vls_auto_search(search *s)
{
    if (!s->view)
        return;
    vls_vec_release(&s->list, s->view->arena.env);
    vls_arena_release(&s->arena);
}

/* Is it the newest row of its path up to a version? */
static int is_live(bool *out, search *s, const vls_tree_node_row *row, int64_t version,
                   valise_error *err)
{
    const vls_tree_at at = {s->view, s->tree->id, version, 0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_tree_node_row newest;
    int rc;

    *out = false;
    if (row->version > version)
        return 0;
    vls_arena_init(&arena, s->view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_tree_seek(&newest, &at, row->parent, row->name, &arena, err);
    *out = rc > 0 && newest.version == row->version;
    return rc < 0 ? rc : 0;
}

/* One more row that may have the id: the newest of each is kept, or the one that is live. */
static int consider(search *s, const vls_tree_found *found, bool live, valise_error *err)
{
    candidate new = {.found = *found, .live = live};
    int rc;

    for (size_t i = 0; i < s->list.len; i++) {
        candidate *c = &s->list.ptr[i];
        if (!vls_id_equal(&c->found.id, &found->id))
            continue;
        if (live || (!c->live && found->version > c->found.version))
            c->found.version = found->version;
        c->live = c->live || live;
        return 0;
    }
    if (s->list.len >= CANDIDATES_MAX && !live)
        return 0;
    rc = vls_arena_dup(&new.found.path, &s->arena, found->path, err);
    if (rc == 0 && found->node.target.ptr)
        rc = vls_arena_dup(&new.found.node.target, &s->arena, found->node.target, err);
    if (rc == 0 && !vls_vec_push(&s->list, s->view->arena.env, new))
        rc = vls_fail_memory(err);
    return rc;
}

static int consider_row(search *s, const vls_tree_node_row *row, valise_error *err)
{
    char room[2 * VLS_PATH_MAX + 2];
    vls_buf path = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    vls_tree_found found;
    bool live;
    int rc;

    vls_path_below(&path, row->parent, row->name);
    if (row->kind == VLS_NODE_GONE || path.failed)
        return 0;
    vls_tree_found_of(&found, row, vls_buf_str(&path));
    if (!vls_tree_has_digits(&found.id, s->digits))
        return 0;
    /* One that was pruned, and that a sweep has not come to yet, is gone. */
    live = true;
    rc = row->version < s->tree->edge ? is_live(&live, s, row, s->tree->edge, err) : 0;
    if (rc < 0 || !live)
        return rc;
    rc = is_live(&live, s, row, s->version, err);
    return rc < 0 ? rc : consider(s, &found, live, err);
}

/* Rows whose id begins with the digits, as far as eight bytes can say. */
static int gather(search *s, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_tree_node_row probe = {.tree = s->tree->id}, row;
    valise_select select = {.index = "node", .row = &probe, .equal = 1, .from = 1};
    uint64_t first, span = 0;
    valise_id floor;
    int rc;

    vls_tree_digits_floor(&floor, s->digits);
    first = (uint64_t)vls_tree_node8(&floor);
    if (s->digits.len < 16)
        span = UINT64_MAX >> (4 * s->digits.len);
    probe.node8 = (int64_t)first;
    if (first == 0)
        select.flags = VALISE_SCAN_AFTER; /* what is gone has the number 0 */
    rc = valise_view_scan(&scan, s->view, &vls_tree_nodes, &select, err);
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if ((uint64_t)row.node8 - first > span)
            return 0;
        rc = consider_row(s, &row, err);
    }
    return rc;
}

/* Ids alone: whoever asks may not be one who may hear of the paths. */
static int fail_ambiguous(const search *s, bool live, valise_error *err)
{
    char list[400] = "";
    unsigned listed = 0;

    for (size_t i = 0; i < s->list.len; i++) {
        const candidate *c = &s->list.ptr[i];
        size_t len = strlen(list);
        if (live && !c->live)
            continue;
        if (listed++ == LISTED_MAX) {
            (void)snprintf(list + len, sizeof(list) - len, ", ...");
            break;
        }
        (void)snprintf(list + len, sizeof(list) - len, "%s%.16s", len > 0 ? ", " : "",
                       vls_id_hex(&c->found.id).s);
    }
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' is ambiguous: %s", VALISE_STR_ARG(s->digits),
                   list);
    vls_hint(err, "give more digits, or the path");
    return VALISE_E_CONFLICT;
}

/* The one that is meant, or NULL. */
static const candidate *choose(const search *s, bool live, size_t *count)
{
    const candidate *chosen = NULL;

    *count = 0;
    for (size_t i = 0; i < s->list.len; i++)
        if (!live || s->list.ptr[i].live) {
            chosen = &s->list.ptr[i];
            ++*count;
        }
    return chosen;
}

int vls_tree_find(vls_tree_found *out, valise_view *view, const vls_tree_row *tree, int64_t version,
                  valise_str digits, valise_error *err)
{
    VLS_AUTO(search) search s = {0};
    const candidate *chosen;
    vls_tree_found found;
    size_t count;
    bool live = true;
    int rc = vls_tree_sees(tree, version, err);

    if (rc < 0)
        return rc;
    if (!vls_tree_is_digits(digits)) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the id of a node",
                       vls_text_short(digits).s);
        vls_hint(err, "give at least 4 of its digits");
        return VALISE_E_INVALID;
    }
    s = (search){.view = view, .tree = tree, .version = version, .digits = digits};
    vls_arena_init(&s.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = gather(&s, err);
    if (rc < 0)
        return rc;
    chosen = choose(&s, live, &count);
    if (!chosen)
        chosen = choose(&s, live = false, &count);
    if (count > 1)
        return fail_ambiguous(&s, live, err);
    if (!chosen)
        return 0;
    found = chosen->found;
    rc = vls_arena_dup(&found.path, &view->arena, found.path, err);
    if (rc == 0 && found.node.target.ptr)
        rc = vls_arena_dup(&found.node.target, &view->arena, found.node.target, err);
    if (rc < 0)
        return rc;
    *out = found;
    return live ? 1 : 2;
}

/* ---- what became of one ---- */

static int seq_of(int64_t *out, valise_view *view, const vls_tree_row *tree, int64_t version,
                  valise_error *err)
{
    vls_tree_version_row row = {.tree = tree->id, .version = version};
    int rc = valise_view_get(&row, view, &vls_tree_versions, err);

    *out = rc > 0 ? row.seq : 0;
    return vls_settle(rc);
}

int vls_tree_went(int64_t *after, int64_t *until, valise_view *view, const vls_tree_row *tree,
                  const vls_tree_found *found, valise_error *err)
{
    const vls_tree_node_row probe = {.tree = tree->id,
                                     .parent = vls_path_parent(found->path),
                                     .name = vls_path_name(found->path),
                                     .version = found->version};
    const valise_select later = {.row = &probe, .equal = 3, .from = 1, .flags = VALISE_SCAN_AFTER};
    bool dir = found->node.kind == VLS_NODE_DIR;
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_tree_node_row row = {.version = 0};
    int rc = valise_view_scan(&scan, view, &vls_tree_nodes, &later, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (row.version > tree->version)
            return 0;
        if (row.kind == VLS_NODE_GONE || (row.kind == VLS_NODE_DIR) != dir)
            break;
        rc = 0;
    }
    if (rc <= 0)
        return rc;
    rc = seq_of(after, view, tree, row.version - 1, err);
    if (rc == 0)
        rc = seq_of(until, view, tree, row.version, err);
    return rc < 0 ? rc : 1;
}
