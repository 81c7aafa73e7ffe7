/* prune.c -- see prune.h. Start reading at vls_tree_sweep_rows. */
#include "tree/prune.h"

#include "base/vec.h"
#include "tree/rows_impl.h"

#define STRIDE 4u /* rows behind the edge that are read before the rest is jumped over */

/* ---- versions ---- */

int vls_tree_each_version(valise_view *view, const valise_uuid *tree, int64_t from,
                          vls_tree_version_fn *fn, void *arg, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, &vls_tree_versions);
    const vls_tree_version_row probe = {.tree = *tree, .version = from};
    const valise_select select = {.row = &probe, .equal = 1, .from = 1, .flags = VLS_SCAN_BELOW};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    const valise_cell *cells;
    vls_tree_version_row row;
    int64_t from_seq;
    int rc = valise_view_scan(&scan, view, &vls_tree_versions, &select, err);

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    while (rc == 0 && (rc = vls_scan_next_cells(&cells, &from_seq, scan, err)) > 0) {
        row = (vls_tree_version_row){.version = 0};
        rc = vls_row_from_cells(&row, vls_tree_versions.fields, sizeof(row), cells,
                                coll->field_count, &arena, err);
        if (rc == 0)
            rc = fn(arg, &row, from_seq, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

static int take_version(void *arg, const vls_tree_version_row *row, int64_t from_seq,
                        valise_error *err)
{
    (void)from_seq, (void)err;
    *(int64_t *)arg = row->version;
    return 1;
}

int vls_tree_oldest(int64_t *out, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    return vls_tree_each_version(view, &tree->id, 0, take_version, out, err);
}

int vls_tree_since(int64_t *time, valise_view *view, const vls_tree_row *tree, valise_str path,
                   valise_error *err)
{
    const vls_tree_at at = {view, tree->id, tree->version, 0};
    vls_tree_version_row version = {.tree = tree->id};
    vls_tree_node_row row = {.version = 0};
    int rc =
        vls_tree_seek(&row, &at, vls_path_parent(path), vls_path_name(path), &view->arena, err);

    if (rc < 0)
        return rc;
    version.version = VLS_MAX(row.version, tree->edge);
    rc = valise_view_get(&version, view, &vls_tree_versions, err);
    if (rc < 0)
        return rc;
    *time = rc > 0 ? version.time : tree->time;
    return rc > 0 && row.version >= tree->edge;
}

/* ---- nodes ---- */

/* One row of a name. */
typedef struct step {
    int64_t version, kind;
} step;

typedef struct sweeping {
    valise_view *view;
    const vls_tree_sweep *sweep;
    vls_tree_gone_fn *fn;
    void *arg;

    vls_buf dir, behind; /* where it stands: all names up to here are done */
    vls_buf name;        /* that is looked at */
    vls_vec(step) steps; /* its rows up to the edge, the oldest first */
    valise_scan *scan;
    bool have_ahead;
    vls_tree_node_row ahead; /* the next row of the scan */
    int64_t looked, gone;
} sweeping;

static void close_scan(sweeping *s)
{
    valise_scan_close(s->scan);
    s->scan = NULL;
    s->have_ahead = false;
}

static void vls_auto_sweeping(sweeping *s)
{
    if (!s->view)
        return;
    close_scan(s);
    vls_buf_release(&s->dir);
    vls_buf_release(&s->behind);
    vls_buf_release(&s->name);
    vls_vec_release(&s->steps, s->view->arena.env);
}

/* The text of a buffer, which is never none. */
static valise_str text_of(const vls_buf *buf)
{
    return buf->len > 0 ? vls_buf_str(buf) : VLS_STR("");
}

static int set(vls_buf *buf, valise_str text, valise_error *err)
{
    vls_buf_clear(buf);
    vls_buf_add(buf, text);
    return vls_buf_check(buf, err);
}

static bool is_spent(const sweeping *s)
{
    return (s->sweep->max_gone > 0 && s->gone >= s->sweep->max_gone) ||
           (s->sweep->max_looked > 0 && s->looked >= s->sweep->max_looked);
}

/* Does anything from the edge on need this row of the name? */
static bool is_needed(const sweeping *s, size_t at)
{
    return at + 1 == s->steps.len && s->steps.ptr[at].kind != VLS_NODE_GONE;
}

/* Let go of what is not needed of the name whose rows are known: 1; 0: not all of it, it has been
 * enough. The newest goes last, since it tells that the name changed. */
static int let_go(sweeping *s, valise_str parent, valise_str name, valise_error *err)
{
    for (size_t i = 0; i < s->steps.len; i++) {
        const vls_tree_node_row row = {.tree = s->sweep->tree,
                                       .parent = parent,
                                       .name = name,
                                       .version = s->steps.ptr[i].version,
                                       .kind = s->steps.ptr[i].kind};
        int rc;
        if (is_needed(s, i))
            break;
        if (is_spent(s))
            return 0;
        rc = s->fn(s->arg, &row, err);
        if (rc < 0)
            return rc;
        s->gone++;
    }
    return 1;
}

static int add_step(sweeping *s, const vls_tree_node_row *row, valise_error *err)
{
    const step one = {row->version, row->kind};

    s->looked++;
    if (row->version > s->sweep->edge || vls_vec_push(&s->steps, s->view->arena.env, one))
        return 0;
    return vls_fail_memory(err);
}

/* ---- a directory whose names are all done ---- */

/* Its own rows; of the root too, which lies in itself. */
static int finish_dir(sweeping *s, valise_error *err)
{
    valise_str path = text_of(&s->dir);
    const vls_tree_node_row probe = {
        .tree = s->sweep->tree, .parent = vls_path_parent(path), .name = vls_path_name(path)};
    const valise_select select = {.row = &probe, .equal = 3, .flags = VLS_SCAN_BELOW};
    vls_tree_node_row row;
    int rc = valise_view_scan(&s->scan, s->view, &vls_tree_nodes, &select, err);

    s->steps.len = 0;
    while (rc == 0 && (rc = valise_scan_next(&row, s->scan, err)) > 0 &&
           row.version <= s->sweep->edge)
        rc = add_step(s, &row, err);
    close_scan(s);
    return rc < 0 ? rc : let_go(s, probe.parent, probe.name, err);
}

/* Out of it, and on behind it in the one above. */
static int go_up(sweeping *s, valise_error *err)
{
    int rc = set(&s->name, text_of(&s->dir), err);

    if (rc == 0)
        rc = set(&s->behind, vls_path_name(text_of(&s->name)), err);
    return rc < 0 ? rc : set(&s->dir, vls_path_parent(text_of(&s->name)), err);
}

/* ---- the names of a directory ---- */

static int open_scan(sweeping *s, valise_error *err)
{
    const vls_tree_node_row probe = {
        .tree = s->sweep->tree, .parent = text_of(&s->dir), .name = text_of(&s->behind)};
    const valise_select select = {
        .row = &probe, .equal = 2, .from = 1, .flags = VALISE_SCAN_AFTER | VLS_SCAN_BELOW};

    return valise_view_scan(&s->scan, s->view, &vls_tree_nodes, &select, err);
}

static int read_ahead(sweeping *s, valise_error *err)
{
    int rc;

    if (s->have_ahead)
        return 1;
    rc = valise_scan_next(&s->ahead, s->scan, err);
    s->have_ahead = rc > 0;
    return rc;
}

/* The rows of the next name: 1; 0: there is none. */
static int read_name(sweeping *s, valise_error *err)
{
    unsigned later = 0;
    int rc = s->scan ? 0 : open_scan(s, err);

    if (rc == 0)
        rc = read_ahead(s, err);
    if (rc <= 0)
        return rc;
    s->steps.len = 0;
    rc = set(&s->name, s->ahead.name, err);
    if (rc < 0)
        return rc;
    while (vls_str_equal(s->ahead.name, text_of(&s->name))) {
        later += s->ahead.version > s->sweep->edge;
        rc = add_step(s, &s->ahead, err);
        s->have_ahead = false;
        if (rc == 0 && later > STRIDE) {
            close_scan(s); /* it begins again behind the name */
            break;
        }
        if (rc == 0)
            rc = read_ahead(s, err);
        if (rc <= 0)
            break;
    }
    return rc < 0 ? rc : 1;
}

/* Is there something under it, or was there, that changed? */
static bool is_to_enter(const sweeping *s)
{
    bool dir = false;

    for (size_t i = 0; i < s->steps.len; i++)
        dir = dir || s->steps.ptr[i].kind == VLS_NODE_DIR;
    return dir && s->steps.ptr[s->steps.len - 1].version > s->sweep->from;
}

static int enter(sweeping *s, valise_error *err)
{
    int rc;

    close_scan(s);
    if (s->dir.len > 0)
        vls_buf_add_byte(&s->dir, '/');
    vls_buf_add(&s->dir, text_of(&s->name));
    rc = vls_buf_check(&s->dir, err);
    return rc < 0 ? rc : set(&s->behind, VLS_STR(""), err);
}

/* One name, or the end of a directory: 1; 0: it has been enough; 2: all is done. */
static int sweep_next(sweeping *s, valise_error *err)
{
    int rc = read_name(s, err);

    if (rc == 0) {
        bool root = s->dir.len == 0;
        close_scan(s);
        rc = finish_dir(s, err);
        if (rc <= 0 || root)
            return rc > 0 ? 2 : rc;
        rc = go_up(s, err);
        return rc < 0 ? rc : 1;
    }
    if (rc < 0)
        return rc;
    if (is_to_enter(s)) {
        rc = enter(s, err);
        return rc < 0 ? rc : 1;
    }
    rc = let_go(s, text_of(&s->dir), text_of(&s->name), err);
    if (rc <= 0)
        return rc;
    rc = set(&s->behind, text_of(&s->name), err);
    return rc < 0 ? rc : 1;
}

int vls_tree_sweep_rows(vls_tree_swept *out, valise_view *view, const vls_tree_sweep *sweep,
                        vls_tree_gone_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(sweeping) sweeping s = {.sweep = sweep, .fn = fn, .arg = arg};
    vls_tree_swept swept = {.gone = 0};
    int rc;

    s.view = view;
    vls_buf_init(&s.dir, view->arena.env, VLS_PATH_MAX);
    vls_buf_init(&s.behind, view->arena.env, VLS_PATH_MAX);
    vls_buf_init(&s.name, view->arena.env, VLS_PATH_MAX);
    rc = set(&s.dir, sweep->dir, err);
    if (rc == 0)
        rc = set(&s.behind, sweep->behind, err);
    do {
        rc = rc < 0 ? rc : is_spent(&s) ? 0 : sweep_next(&s, err);
    } while (rc == 1);
    if (rc < 0)
        return rc;
    swept.gone = s.gone;
    swept.done = rc == 2;
    rc = vls_arena_dup(&swept.dir, &view->arena, text_of(&s.dir), err);
    if (rc == 0)
        rc = vls_arena_dup(&swept.behind, &view->arena, text_of(&s.behind), err);
    if (rc == 0)
        *out = swept;
    return rc;
}
