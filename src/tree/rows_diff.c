/* rows_diff.c -- see rows_diff.h.
 *
 * Two cursors (rows_walk.c) stand in the same directory, one for each version; a version without
 * that directory has no names in it. To go down or up both enter another directory: like a walk, it
 * holds one path, at any depth. */
#include "tree/rows_diff.h"

#include "base/str.h"
#include "tree/rows_impl.h"

/* One version. */
typedef struct side {
    vls_tree_names names; /* view NULL: there is no such version */
    bool have;            /* names.row is the next one */
    bool end;             /* of the directory */
} side;

typedef struct comparing {
    vls_tree_diff *diff;
    side was, is;
    vls_buf dir, path;
} comparing;

static void vls_auto_comparing(comparing *c)
{
    vls_tree_names_release(&c->was.names);
    vls_tree_names_release(&c->is.names);
    vls_buf_release(&c->dir);
    vls_buf_release(&c->path);
}

static int open_side(side *s, const vls_tree_diff *diff, int64_t version, valise_error *err)
{
    const vls_tree_at at = {diff->view, diff->tree->id, version, 0};
    int rc = version > 0 ? vls_tree_sees(diff->tree, version, err) : 0;

    s->end = version == 0;
    if (rc == 0 && version > 0)
        vls_tree_names_init(&s->names, &at);
    return rc;
}

static int enter_side(side *s, valise_str dir, valise_str behind, valise_error *err)
{
    s->have = false;
    s->end = !s->names.at.view;
    return s->end ? 0 : vls_tree_names_enter(&s->names, dir, behind, err);
}

/* Into a directory, behind a name. dir is a part of c->path or c->dir. */
static int enter(comparing *c, valise_str dir, valise_str behind, valise_error *err)
{
    int rc = enter_side(&c->was, dir, behind, err);

    if (rc == 0)
        rc = enter_side(&c->is, dir, behind, err);
    return rc;
}

static int advance(comparing *c, side *s, valise_error *err)
{
    int rc;

    if (s->have || s->end)
        return 0;
    rc = vls_tree_names_next(&s->names, err);
    s->have = rc > 0;
    s->end = rc == 0;
    c->diff->rows += rc > 0;
    return vls_settle(rc);
}

/* The name that comes next, and whose it is. */
static valise_str next_name(comparing *c, const vls_tree_node_row **was,
                            const vls_tree_node_row **is)
{
    int order = c->was.have ? -1 : 1;

    if (c->was.have && c->is.have)
        order = vls_str_compare(c->was.names.row.name, c->is.names.row.name);
    *was = order <= 0 ? &c->was.names.row : NULL;
    *is = order >= 0 ? &c->is.names.row : NULL;
    c->was.have = c->was.have && !*was;
    c->is.have = c->is.have && !*is;
    return *was ? (*was)->name : (*is)->name;
}

static int set_path(comparing *c, valise_str name, valise_error *err)
{
    vls_buf_clear(&c->path);
    vls_path_below(&c->path, vls_buf_str(&c->dir), name);
    return vls_buf_check(&c->path, err);
}

/* Down, where one of them is a directory that matters. */
static int go_down(comparing *c, const vls_difference *d, valise_error *err)
{
    const vls_tree_diff *diff = c->diff;
    bool dir = (d->was && d->was->kind == VLS_NODE_DIR) || (d->is && d->is->kind == VLS_NODE_DIR);
    int rc;

    if (!dir || (diff->enters && !diff->enters(diff->arg, d->path)))
        return 0;
    vls_buf_clear(&c->dir);
    vls_buf_add(&c->dir, d->path);
    rc = vls_buf_check(&c->dir, err);
    return rc < 0 ? rc : enter(c, d->path, VLS_STR(""), err);
}

static int compare_rows(comparing *c, const vls_tree_node_row *was, const vls_tree_node_row *is,
                        vls_difference_fn *fn, void *arg, valise_error *err)
{
    vls_tree_found old = {.version = 0}, new = {.version = 0};
    vls_difference d = {.path = vls_buf_str(&c->path)};
    int rc = 0;

    if (was && is && was->version == is->version)
        return 0; /* one row */
    if (was)
        vls_tree_found_of(&old, was, d.path);
    if (is)
        vls_tree_found_of(&new, is, d.path);
    if (was && is &&
        old.node.kind == new.node.kind &&vls_id_equal(&old.node.object, &new.node.object))
        return 0;
    d.was = was ? &old.node : NULL;
    d.is = is ? &new.node : NULL;
    rc = fn(arg, &d, err);
    return rc != 0 ? rc : go_down(c, &d, err);
}

/* Out of the directory, and on behind it. */
static int go_up(comparing *c, valise_error *err)
{
    int rc;

    vls_buf_clear(&c->path);
    vls_buf_add(&c->path, vls_buf_str(&c->dir));
    rc = vls_buf_check(&c->path, err);
    if (rc < 0)
        return rc;
    vls_buf_clear(&c->dir);
    vls_buf_add(&c->dir, vls_path_parent(vls_buf_str(&c->path)));
    rc = vls_buf_check(&c->dir, err);
    return rc < 0 ? rc
                  : enter(c, vls_path_parent(vls_buf_str(&c->path)),
                          vls_path_name(vls_buf_str(&c->path)), err);
}

static int compare_all(comparing *c, vls_difference_fn *fn, void *arg, valise_error *err)
{
    const vls_tree_node_row *was, *is;
    valise_str name;
    int rc;

    for (;;) {
        rc = advance(c, &c->was, err);
        if (rc == 0)
            rc = advance(c, &c->is, err);
        if (rc < 0 || (c->was.end && c->is.end && c->dir.len == 0))
            return rc;
        if (c->was.end && c->is.end) {
            rc = go_up(c, err);
        } else {
            name = next_name(c, &was, &is);
            rc = set_path(c, name, err);
            if (rc == 0)
                rc = compare_rows(c, was, is, fn, arg, err);
        }
        if (rc != 0)
            return rc;
    }
}

static int get_root(vls_tree_found *out, const vls_tree_diff *diff, int64_t version,
                    valise_error *err)
{
    return version > 0 ? vls_tree_get(out, diff->view, diff->tree, version, VLS_STR(""), err) : 0;
}

int vls_tree_diff_each(vls_tree_diff *diff, vls_difference_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(comparing) comparing c = {.diff = diff};
    vls_tree_found was = {.version = 0}, is = {.version = 0};
    vls_difference d = {.path = VLS_STR("")};
    int rc = get_root(&was, diff, diff->was, err);

    if (rc < 0)
        return rc;
    d.was = rc > 0 ? &was.node : NULL;
    rc = get_root(&is, diff, diff->is, err);
    d.is = rc > 0 ? &is.node : NULL;
    if (rc < 0 || (!d.was && !d.is) ||
        (d.was && d.is && vls_id_equal(&was.node.object, &is.node.object)))
        return vls_settle(rc);
    vls_buf_init(&c.dir, diff->view->arena.env, VLS_PATH_MAX);
    vls_buf_init(&c.path, diff->view->arena.env, VLS_PATH_MAX);
    rc = fn(arg, &d, err);
    if (rc == 0)
        rc = open_side(&c.was, diff, diff->was, err);
    if (rc == 0)
        rc = open_side(&c.is, diff, diff->is, err);
    if (rc == 0)
        rc = enter(&c, VLS_STR(""), VLS_STR(""), err);
    return rc != 0 ? rc : compare_all(&c, fn, arg, err);
}
