/* rows.c -- the head of a tree, its versions, and one node by its path.
 *
 * Directories are in rows_walk.c, ids in rows_find.c, what commands change in rows_apply.c. */
#include "tree/rows_impl.h"

#include "base/hex.h"
#include "base/text.h"

#define DIGITS_MIN 4u
#define DIGITS_MAX 64u
#define HERE 1 /* the id of the one row */

int64_t vls_tree_node8(const valise_id *id)
{
    uint64_t number = 0;

    for (size_t i = 0; i < 8; i++)
        number = number << 8 | id->bytes[i];
    return (int64_t)number;
}

/* ---- the head ---- */

/* Rows that were pruned are gone from the states of the past as well: what can be seen of them is
 * what the newest state says. */
static int see_edge(vls_tree_row *tree, valise_view *view, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, &vls_trees);
    vls_tree_row now = {.id = tree->id};
    valise_cell key;
    vls_seen seen = {0};
    int rc;

    if (view->at >= view->txn->tip.seq)
        return 0;
    rc = vls_field_to_cell(&key, &now, &vls_trees.fields[0], &view->arena, err);
    if (rc == 0)
        rc = vls_view_see_now(&seen, view, coll, &key, err);
    if (rc < 0 || !seen.row)
        return rc;
    rc = vls_row_from_cells(&now, vls_trees.fields, sizeof(now), seen.row, coll->field_count,
                            &view->arena, err);
    if (rc == 0)
        tree->edge = VLS_MAX(tree->edge, now.edge);
    return rc;
}

/* The row of the workspace's tree, which may have no version yet: 1; 0: there is none. */
static int find_own(vls_tree_row *out, valise_view *view, valise_error *err)
{
    vls_tree_here_row here = {.id = HERE};
    vls_tree_row tree;
    int rc = valise_view_get(&here, view, &vls_tree_heres, err);

    if (rc <= 0)
        return rc;
    tree = (vls_tree_row){.id = here.tree};
    rc = valise_view_get(&tree, view, &vls_trees, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "the workspace's tree %s is missing",
                        vls_uuid_text(&here.tree).s);
    if (rc > 0)
        *out = tree;
    return rc;
}

int vls_tree_head(vls_tree_row *out, valise_view *view, valise_error *err)
{
    vls_tree_row tree = {.version = 0};
    int rc = find_own(&tree, view, err);

    if (rc > 0 && tree.version > 0) {
        rc = see_edge(&tree, view, err);
        if (rc < 0)
            return rc;
        *out = tree;
        return 1;
    }
    if (rc >= 0)
        *out = (vls_tree_row){.version = 0};
    return vls_settle(rc);
}

int vls_tree_own(vls_tree_row *out, valise_view *view, valise_error *err)
{
    vls_tree_here_row here = {.id = HERE};
    vls_tree_row tree = {.version = 0};
    int rc = find_own(out, view, err);

    if (rc != 0)
        return vls_settle(rc);
    rc = valise_view_uuid(&tree.id, view, err);
    if (rc == 0) {
        tree.time = valise_view_stamp(view)->time;
        here.tree = tree.id;
        rc = valise_view_put(view, &vls_trees, &tree, err);
    }
    if (rc == 0)
        rc = valise_view_put(view, &vls_tree_heres, &here, err);
    if (rc == 0)
        *out = tree;
    return rc;
}

int vls_tree_sees(const vls_tree_row *tree, int64_t version, valise_error *err)
{
    if (version >= tree->edge)
        return 0;
    (void)vls_fail(err, VALISE_E_LIMIT, "version %lld of the tree was pruned: %lld is the oldest",
                   (long long)version, (long long)tree->edge);
    vls_hint(err, "'valise tree list' shows the versions there are");
    return VALISE_E_LIMIT;
}

/* ---- versions ---- */

/* "v12": 1 and the number. */
static int version_number(int64_t *out, valise_str given)
{
    int64_t number = 0;

    if (given.len < 2 || given.len > 18 || given.ptr[0] != 'v')
        return 0;
    for (size_t i = 1; i < given.len; i++) {
        if (given.ptr[i] < '0' || given.ptr[i] > '9')
            return 0;
        number = number * 10 + (given.ptr[i] - '0');
    }
    *out = number;
    return 1;
}

bool vls_tree_is_digits(valise_str given)
{
    for (size_t i = 0; i < given.len; i++)
        if (!strchr("0123456789abcdef", given.ptr[i]) || given.ptr[i] == '\0')
            return false;
    return given.len >= DIGITS_MIN && given.len <= DIGITS_MAX;
}

void vls_tree_digits_floor(valise_id *out, valise_str digits)
{
    *out = (valise_id){{0}};
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        unsigned value = (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        out->bytes[i / 2] |= (uint8_t)(i % 2 == 0 ? value << 4 : value);
    }
}

bool vls_tree_has_digits(const valise_id *id, valise_str digits)
{
    vls_id_text text = vls_id_hex(id);

    return memcmp(text.s, digits.ptr, digits.len) == 0;
}

typedef struct candidates {
    unsigned count; /* different roots */
    bool found;
    vls_tree_version_row newest; /* of the last root */
    char list[200];
} candidates;

static void add_candidate(candidates *c, const vls_tree_version_row *row)
{
    size_t len = strlen(c->list);

    if (!c->found || !vls_id_equal(&row->root, &c->newest.root)) {
        c->count++;
        if (len < sizeof(c->list))
            (void)snprintf(c->list + len, sizeof(c->list) - len, "%s%.16s (v%lld)",
                           len > 0 ? ", " : "", vls_id_hex(&row->root).s, (long long)row->version);
    }
    c->found = true;
    c->newest = *row; /* those of one root come with the oldest first */
}

/* The versions whose root begins with these digits. */
static int gather(candidates *out, valise_view *view, const vls_tree_row *tree, valise_str digits,
                  valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_tree_version_row probe = {.tree = tree->id}, row;
    const valise_select select = {.index = "root", .row = &probe, .equal = 1, .from = 1};
    int rc;

    vls_tree_digits_floor(&probe.root, digits);
    rc = valise_view_scan(&scan, view, &vls_tree_versions, &select, err);
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!vls_tree_has_digits(&row.root, digits))
            return 0;
        /* Of those before the edge not all may be left: they are as if they were gone. */
        if (row.version >= tree->edge && row.version <= tree->version)
            add_candidate(out, &row);
    }
    return rc;
}

int vls_tree_version_of(vls_tree_version_row *out, valise_view *view, const vls_tree_row *tree,
                        valise_str given, valise_error *err)
{
    candidates found = {.count = 0};
    vls_tree_version_row row = {.tree = tree->id};
    int rc;

    if (version_number(&row.version, given)) {
        if (row.version >= 1 &&
            row.version < tree->edge) /* there was one, whatever is left of it */
            return vls_tree_sees(tree, row.version, err);
        rc = valise_view_get(&row, view, &vls_tree_versions, err);
        found.found = rc > 0 && row.version <= tree->version;
        found.newest = row;
    } else if (vls_tree_is_digits(given)) {
        rc = gather(&found, view, tree, given, err);
    } else {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the root of a tree",
                       vls_text_short(given).s);
        vls_hint(err, "give at least 4 digits of its id, a version such as v12, a seq or a time");
        return VALISE_E_INVALID;
    }
    if (rc < 0)
        return rc;
    if (found.count > 1)
        return vls_fail(err, VALISE_E_CONFLICT, "'%.*s' is ambiguous: %s", VALISE_STR_ARG(given),
                        found.list);
    if (!found.found)
        return 0;
    *out = found.newest;
    return 1;
}

/* ---- one node ---- */

int vls_tree_seek(vls_tree_node_row *out, const vls_tree_at *at, valise_str parent, valise_str name,
                  vls_arena *arena, valise_error *err)
{
    const vls_tree_node_row probe = {
        .tree = at->tree, .parent = parent, .name = name, .version = at->version};
    const valise_select select = {
        .row = &probe, .equal = 3, .from = 1, .flags = VALISE_SCAN_REVERSE | at->flags};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_tree_node_row row = {0};
    int rc = valise_view_scan(&scan, at->view, &vls_tree_nodes, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc <= 0)
        return rc;
    rc = vls_arena_dup(&row.parent, arena, row.parent, err);
    if (rc == 0)
        rc = vls_arena_dup(&row.name, arena, row.name, err);
    if (rc == 0 && row.target.ptr)
        rc = vls_arena_dup(&row.target, arena, row.target, err);
    if (rc < 0)
        return rc;
    *out = row;
    return 1;
}

void vls_tree_found_of(vls_tree_found *out, const vls_tree_node_row *row, valise_str path)
{
    vls_tree_found found = {.path = path,
                            .node = {.kind = (vls_node_kind)row->kind,
                                     .exec = row->exec,
                                     .size = row->size,
                                     .target = row->target},
                            .version = row->version};

    assert(row->kind != VLS_NODE_GONE);
    if (row->kind == VLS_NODE_DIR)
        found.node.object = row->hash;
    else {
        found.node.content = row->hash;
        vls_node_hash(&found.node);
    }
    vls_node_id(&found.id, path, &found.node.object);
    *out = found;
}

int vls_tree_get(vls_tree_found *out, valise_view *view, const vls_tree_row *tree, int64_t version,
                 valise_str path, valise_error *err)
{
    const vls_tree_at at = {view, tree->id, version, 0};
    vls_tree_node_row row = {.kind = VLS_NODE_GONE};
    valise_str kept;
    int rc = vls_tree_sees(tree, version, err);

    if (rc == 0)
        rc =
            vls_tree_seek(&row, &at, vls_path_parent(path), vls_path_name(path), &view->arena, err);
    if (rc <= 0 || row.kind == VLS_NODE_GONE)
        return rc < 0 ? rc : 0;
    rc = vls_arena_dup(&kept, &view->arena, path, err);
    if (rc < 0)
        return rc;
    vls_tree_found_of(out, &row, kept);
    return 1;
}
