/* compare.c -- see compare.h. */
#include "tree/compare.h"

/* ---- side by side ---- */

/* A directory in one of the trees or both, and how far it is. */
typedef struct frame {
    const vls_cache_record *old; /* NULL: there was none */
    const vls_walk_dir *dir;     /* NULL: there is none */
    uint32_t old_at, at;
    size_t path_len;
} frame;

typedef struct pair {
    const vls_cache_entry *old;
    const vls_walk_entry *entry;
    valise_str name;
} pair;

typedef struct comparing {
    const valise_env *env;
    vls_vec(frame) frames;
    vls_buf path;
} comparing;

/* The next name of either; false when there is none. */
static bool next_pair(pair *out, frame *f)
{
    const vls_cache_entry *old =
        f->old && f->old_at < f->old->count ? &f->old->entries[f->old_at] : NULL;
    const vls_walk_entry *entry = f->dir && f->at < f->dir->count ? &f->dir->entries[f->at] : NULL;
    int order = old ? -1 : 1;

    if (!old && !entry)
        return false;
    if (old && entry)
        order =
            vls_str_compare(vls_cache_name(f->old, old), vls_str(entry->name, entry->e.name_len));
    *out = (pair){.old = NULL};
    if (old && order <= 0) {
        out->old = old;
        out->name = vls_cache_name(f->old, old);
        f->old_at++;
    }
    if (entry && order >= 0) {
        out->entry = entry;
        out->name = vls_str(entry->name, entry->e.name_len);
        f->at++;
    }
    return true;
}

static vls_node node_of(const vls_walk_entry *entry)
{
    const vls_cache_entry *e = &entry->e;

    return (vls_node){.kind = (vls_node_kind)e->kind,
                      .exec = e->exec,
                      .size = e->size,
                      .content = e->content,
                      .target = {e->kind == VLS_NODE_LINK ? entry->target : NULL,
                                 e->kind == VLS_NODE_LINK ? (size_t)e->size : 0},
                      .object = e->object};
}

static int push(comparing *c, const vls_cache_record *old, const vls_walk_dir *dir,
                valise_error *err)
{
    frame f = {.old = old, .dir = dir, .path_len = c->path.len};

    return vls_vec_push(&c->frames, c->env, f) ? 0 : vls_fail_memory(err);
}

/* One pair of the innermost frame, and a frame for what is in it. */
static int compare_pair(comparing *c, const pair *p, const vls_cache_record *record, bool inside,
                        vls_difference_fn *fn, void *arg, valise_error *err)
{
    vls_node was, is;
    vls_difference difference = {.inside = inside};
    const vls_cache_record *old = NULL;
    const vls_walk_dir *dir = NULL;
    int rc;

    if (p->old && p->entry && p->old->kind == p->entry->e.kind &&
        vls_id_equal(&p->old->object, &p->entry->e.object))
        return 0;
    if (p->old) {
        was = vls_cache_node(record, p->old);
        difference.was = &was;
        old = p->old->kind == VLS_NODE_DIR ? vls_cache_child(record, p->old) : NULL;
    }
    if (p->entry) {
        is = node_of(p->entry);
        difference.is = &is;
        dir = p->entry->dir;
    }
    if (c->path.len > 0)
        vls_buf_add_byte(&c->path, '/');
    vls_buf_add(&c->path, p->name);
    rc = vls_buf_check(&c->path, err);
    if (rc < 0)
        return rc;
    difference.path = vls_buf_str(&c->path);
    rc = fn(arg, &difference, err);
    if (rc != 0 || (!old && !dir))
        return rc;
    return push(c, old, dir, err);
}

static int compare_frames(comparing *c, vls_difference_fn *fn, void *arg, valise_error *err)
{
    while (c->frames.len > 0) {
        frame *f = &c->frames.ptr[c->frames.len - 1];
        pair p;
        int rc;
        c->path.len = f->path_len;
        if (!next_pair(&p, f)) {
            c->frames.len--;
            continue;
        }
        rc = compare_pair(c, &p, f->old, !f->dir, fn, arg, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int vls_compare_each(const vls_walk *walk, vls_difference_fn *fn, void *arg, valise_error *err)
{
    const vls_cache_entry *old = walk->root.old;
    comparing c = {.env = walk->options->env};
    vls_node was, is = node_of(&walk->root);
    vls_difference difference = {.path = VLS_STR(""), .is = &is};
    int rc;

    if (old && vls_id_equal(&old->object, &walk->root.e.object))
        return 0;
    if (old) {
        was = vls_cache_node(vls_cache_root(walk->old), old);
        difference.was = &was;
    }
    rc = fn(arg, &difference, err);
    if (rc != 0)
        return rc;
    vls_buf_init(&c.path, c.env, VLS_PATH_MAX);
    rc = push(&c, old ? vls_cache_root(walk->old) : NULL, walk->root.dir, err);
    if (rc == 0)
        rc = compare_frames(&c, fn, arg, err);
    vls_vec_release(&c.frames, c.env);
    vls_buf_release(&c.path);
    return rc;
}

/* ---- counts and lists of changes ---- */

typedef struct listing {
    vls_scan *out;
    vls_buf buf;
    vls_tree_changes_writer writer;
} listing;

/* The root is the tree: nobody adds it, changes it or counts it as a directory. */
static void count(listing *l, const vls_difference *d)
{
    if (d->path.len == 0)
        return;
    if (d->was)
        vls_tree_count(&l->out->counts, d->was->kind, d->was->size, -1);
    if (d->is)
        vls_tree_count(&l->out->counts, d->is->kind, d->is->size, 1);
    if (d->was && d->is && vls_difference_is_kept(d)) {
        l->out->changed += d->was->kind != VLS_NODE_DIR || d->is->kind != VLS_NODE_DIR;
        return;
    }
    l->out->removed += d->was != NULL;
    l->out->added += d->is != NULL;
}

/* What was written so far is a list. */
static int end_list(listing *l, valise_error *err)
{
    valise_str list;
    int rc = vls_buf_check(&l->buf, err);

    if (rc == 0)
        rc = vls_arena_dup(&list, &l->out->arena, vls_buf_str(&l->buf), err);
    if (rc < 0)
        return rc;
    vls_buf_clear(&l->buf);
    return vls_vec_push_in(&l->out->changes, &l->out->arena, list)
               ? 0
               : vls_arena_fail(&l->out->arena, err);
}

static int list_difference(void *arg, const vls_difference *d, valise_error *err)
{
    listing *l = arg;
    vls_tree_change change = {.path = d->path};

    count(l, d);
    if (d->inside)
        return 0; /* goes along with the directory it was in */
    if (d->is)
        change.node = *d->is;
    if (l->buf.len == 0)
        vls_tree_changes_begin(&l->writer, &l->buf);
    vls_tree_changes_add(&l->writer, &change);
    return l->buf.len >= VLS_CHANGES_SPLIT ? end_list(l, err) : 0;
}

int vls_compare(vls_scan *out, const vls_walk *walk, valise_error *err)
{
    listing l = {.out = out};
    int rc;

    if (walk->old->bytes)
        out->counts = vls_cache_head(walk->old)->counts;
    vls_buf_init(&l.buf, walk->options->env, SIZE_MAX / 2);
    rc = vls_compare_each(walk, list_difference, &l, err);
    if (rc == 0)
        rc = vls_buf_check(&l.buf, err); /* what failed at the first byte has none to show */
    if (rc == 0 && l.buf.len > 0)
        rc = end_list(&l, err);
    vls_buf_release(&l.buf);
    /* What moved is gone and new; what took the place of another has changed, and is gone or has
     * taken another's. */
    if (rc == 0 && ((out->added > 0 && out->removed > 0) ||
                    (out->changed > 0 && out->changed + out->removed > 1)))
        rc = vls_compare_moves(out, walk, err);
    return rc;
}
