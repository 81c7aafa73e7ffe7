/* rows_walk.c -- what lies in a directory, and everything under one.
 *
 * The versions of a name stand together, the newest last. A walk reads them one by one as long as
 * they are few and jumps over them where they are not: then a name costs two seeks, however often
 * it changed. To go down into a directory ends the scan of the one above, which begins anew behind
 * that name later: a walk holds one scan and one path, at any depth. */
#include "tree/rows_impl.h"

#define STRIDE 4u /* versions of a name that are read before the rest is jumped over */

/* ---- from name to name ---- */

void vls_tree_names_init(vls_tree_names *names, const vls_tree_at *at)
{
    const valise_env *env = at->view->arena.env;

    *names = (vls_tree_names){.at = *at};
    vls_buf_init(&names->dir, env, VLS_PATH_MAX);
    vls_buf_init(&names->name, env, VLS_PATH_MAX);
    vls_arena_init(&names->arena, env, VLS_VIEW_MAX_BYTES);
}

static void close_scan(vls_tree_names *names)
{
    valise_scan_close(names->scan);
    names->scan = NULL;
    names->have_ahead = false;
}

void vls_tree_names_release(vls_tree_names *names)
{
    if (!names->at.view)
        return;
    close_scan(names);
    vls_buf_release(&names->dir);
    vls_buf_release(&names->name);
    vls_arena_release(&names->arena);
    names->at.view = NULL;
}

int vls_tree_names_enter(vls_tree_names *names, valise_str dir, valise_str behind,
                         valise_error *err)
{
    int rc;

    assert((dir.ptr || dir.len == 0) && (behind.ptr || behind.len == 0));
    close_scan(names);
    vls_buf_clear(&names->dir);
    vls_buf_add(&names->dir, dir);
    vls_buf_clear(&names->name);
    vls_buf_add(&names->name, behind);
    rc = vls_buf_check(&names->dir, err);
    return rc < 0 ? rc : vls_buf_check(&names->name, err);
}

/* The text of a buffer, which is never none. */
static valise_str text_of(const vls_buf *buf)
{
    if (buf->len == 0)
        return VLS_STR("");
    assert(buf->ptr);
    return vls_buf_str(buf);
}

/* Behind names->name: the root's own row has the name "", and is not in itself. */
static int open_scan(vls_tree_names *names, valise_error *err)
{
    const vls_tree_node_row probe = {
        .tree = names->at.tree, .parent = text_of(&names->dir), .name = text_of(&names->name)};
    const valise_select select = {
        .row = &probe, .equal = 2, .from = 1, .flags = VALISE_SCAN_AFTER | names->at.flags};

    return valise_view_scan(&names->scan, names->at.view, &vls_tree_nodes, &select, err);
}

static int read_ahead(vls_tree_names *names, valise_error *err)
{
    int rc;

    if (names->have_ahead)
        return 1;
    rc = valise_scan_next(&names->ahead, names->scan, err);
    names->have_ahead = rc > 0;
    return rc;
}

/* ahead becomes row: its strings go with the next call. */
static int take_ahead(vls_tree_names *names, valise_error *err)
{
    vls_tree_node_row row = names->ahead;
    int rc = 0;

    vls_arena_reset(&names->arena);
    row.parent = text_of(&names->dir);
    row.name = text_of(&names->name);
    if (row.target.ptr)
        rc = vls_arena_dup(&row.target, &names->arena, row.target, err);
    if (rc == 0)
        names->row = row;
    return rc;
}

/* The newest version of names->name, from above. */
static int jump(vls_tree_names *names, valise_error *err)
{
    close_scan(names);
    vls_arena_reset(&names->arena);
    return vls_tree_seek(&names->row, &names->at, text_of(&names->dir), text_of(&names->name),
                         &names->arena, err);
}

/* The versions of names->name, of which the first is ahead: 1, or 0 when all are newer. */
static int take_name(vls_tree_names *names, valise_error *err)
{
    int rc, found = 0;

    for (unsigned n = 0; (rc = read_ahead(names, err)) > 0; n++) {
        if (!vls_str_equal(names->ahead.name, text_of(&names->name)))
            break;
        if (n == STRIDE)
            return jump(names, err);
        if (names->ahead.version <= names->at.version) {
            rc = take_ahead(names, err);
            if (rc < 0)
                return rc;
            found = 1;
        }
        names->have_ahead = false;
    }
    return rc < 0 ? rc : found;
}

int vls_tree_names_next(vls_tree_names *names, valise_error *err)
{
    int rc;

    do {
        rc = names->scan ? 0 : open_scan(names, err);
        if (rc == 0)
            rc = read_ahead(names, err);
        if (rc <= 0)
            return rc;
        vls_buf_clear(&names->name);
        vls_buf_add(&names->name, names->ahead.name);
        rc = vls_buf_check(&names->name, err);
        if (rc == 0)
            rc = take_name(names, err);
    } while (rc == 0 || (rc > 0 && names->row.kind == VLS_NODE_GONE));
    return rc;
}

/* ---- everything under a directory ---- */

static int join(vls_buf *out, const vls_tree_names *names, valise_error *err)
{
    vls_buf_clear(out);
    vls_path_below(out, text_of(&names->dir), text_of(&names->name));
    return vls_buf_check(out, err);
}

/* Out of the directory, and on behind it in the one above. path: room to copy it. */
static int go_up(vls_tree_names *names, vls_buf *path, valise_error *err)
{
    int rc;

    vls_buf_clear(path);
    vls_buf_add(path, text_of(&names->dir));
    rc = vls_buf_check(path, err);
    return rc < 0 ? rc
                  : vls_tree_names_enter(names, vls_path_parent(vls_buf_str(path)),
                                         vls_path_name(vls_buf_str(path)), err);
}

int vls_tree_each_row(const vls_tree_at *at, valise_str dir, vls_tree_row_fn *fn, void *arg,
                      valise_error *err)
{
    VLS_AUTO(tree_names) vls_tree_names names = {0};
    VLS_AUTO(buf) vls_buf path = {0};
    int rc;

    vls_tree_names_init(&names, at);
    vls_buf_init(&path, at->view->arena.env, VLS_PATH_MAX);
    rc = vls_tree_names_enter(&names, dir, VLS_STR(""), err);
    while (rc == 0) {
        rc = vls_tree_names_next(&names, err);
        if (rc == 0 && names.dir.len == dir.len)
            break;
        if (rc == 0) {
            rc = go_up(&names, &path, err);
            continue;
        }
        if (rc > 0)
            rc = join(&path, &names, err);
        if (rc == 0)
            rc = fn(arg, vls_buf_str(&path), &names.row, err);
        if (rc == 0 && names.row.kind == VLS_NODE_DIR)
            rc = vls_tree_names_enter(&names, vls_buf_str(&path), VLS_STR(""), err);
    }
    return rc;
}

/* ---- as nodes ---- */

typedef struct telling {
    vls_tree_fn *fn;
    void *arg;
} telling;

static int tell(void *self, valise_str path, const vls_tree_node_row *row, valise_error *err)
{
    const telling *t = self;
    vls_tree_found found;

    vls_tree_found_of(&found, row, path);
    return t->fn(t->arg, &found, err);
}

int vls_tree_children(valise_view *view, const vls_tree_row *tree, int64_t version, valise_str dir,
                      vls_tree_fn *fn, void *arg, valise_error *err)
{
    const vls_tree_at at = {view, tree->id, version, 0};
    telling t = {.fn = fn, .arg = arg};
    VLS_AUTO(tree_names) vls_tree_names names = {0};
    VLS_AUTO(buf) vls_buf path = {0};
    int rc = vls_tree_sees(tree, version, err);

    if (rc < 0)
        return rc;
    vls_tree_names_init(&names, &at);
    vls_buf_init(&path, view->arena.env, VLS_PATH_MAX);
    rc = vls_tree_names_enter(&names, dir, VLS_STR(""), err);
    while (rc == 0 && (rc = vls_tree_names_next(&names, err)) > 0) {
        rc = join(&path, &names, err);
        if (rc == 0)
            rc = tell(&t, vls_buf_str(&path), &names.row, err);
    }
    return rc;
}

int vls_tree_walk(valise_view *view, const vls_tree_row *tree, int64_t version, valise_str dir,
                  vls_tree_fn *fn, void *arg, valise_error *err)
{
    const vls_tree_at at = {view, tree->id, version, 0};
    telling t = {.fn = fn, .arg = arg};
    vls_tree_found top;
    int rc = vls_tree_get(&top, view, tree, version, dir, err);

    if (rc <= 0)
        return rc;
    rc = fn(arg, &top, err);
    if (rc != 0 || top.node.kind != VLS_NODE_DIR)
        return rc;
    return vls_tree_each_row(&at, dir, tell, &t, err);
}
