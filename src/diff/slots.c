/* slots.c -- see slots.h. Start reading at vls_slots_diff. */
#include "diff/slots.h"

#include "base/map.h"
#include "base/str.h"
#include "base/uuid.h"
#include "context/slot.h"
#include "context/state.h"
#include "store/view.h"

/* A slot that may differ. */
typedef struct spot {
    valise_str path, type;
} spot;

typedef struct pair {
    const vls_slot_row *was, *is;
} pair;

/* One state. */
typedef struct side {
    valise_view own;   /* of a state that is not the view's */
    valise_view *view; /* NULL: nothing was known yet */
    int64_t version;
} side;

typedef struct comparing {
    valise_view *view;
    const vls_tree_row *tree;
    side was, is;
    vls_map spots; /* of spot */
    uint64_t seed;
    vls_vec(spot *) list;
    vls_vec(pair) pairs;
    vls_slot_row row; /* that changed, as the log tells it */
} comparing;

static void vls_auto_comparing(comparing *c)
{
    vls_map_release(&c->spots);
    vls_view_release(&c->was.own);
    vls_view_release(&c->is.own);
}

static int open_side(side *s, valise_view *view, const vls_diff_point *point, valise_error *err)
{
    s->version = point->version;
    if (point->version == 0)
        return 0;
    s->view = view;
    if (point->seq == view->at)
        return 0;
    vls_view_init(&s->own, view->txn, view->arena.env);
    s->view = &s->own;
    return vls_view_go_to(&s->own, point->seq, err);
}

/* ---- which slots may differ ---- */

static bool spot_is(const void *item, const void *key)
{
    const spot *a = item, *b = key;

    return vls_str_equal(a->path, b->path) && vls_str_equal(a->type, b->type);
}

static int add_spot(comparing *c, valise_str path, valise_str type, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    spot key = {path, type}, *s;
    uint64_t hash = vls_str_hash(path, vls_str_hash(type, c->seed));
    int rc;

    if (vls_map_get(&c->spots, hash, &key))
        return 0;
    s = vls_arena_zalloc(arena, sizeof(*s));
    if (!s || !vls_vec_push_in(&c->list, arena, s))
        return vls_arena_fail(arena, err);
    rc = vls_arena_dup(&s->path, arena, path, err);
    if (rc == 0)
        rc = vls_arena_dup(&s->type, arena, type, err);
    if (rc == 0 && vls_map_put(NULL, &c->spots, hash, s, s) < 0)
        rc = vls_fail_memory(err);
    return rc;
}

static int add_changed(void *arg, int64_t seq, valise_error *err)
{
    comparing *c = arg;

    (void)seq;
    if (!vls_uuid_equal(&c->row.tree, &c->tree->id))
        return 0;
    return add_spot(c, c->row.path, c->row.type, err);
}

static int add_slot(void *arg, const vls_slot_row *slot, valise_error *err)
{
    return add_spot(arg, slot->path, slot->type, err);
}

/* What came, went, or is a directory now and was none may have slots that lost what they are about,
 * or got it back. */
static int add_node(void *arg, const vls_difference *d, valise_error *err)
{
    comparing *c = arg;

    if (d->was && d->is && (d->was->kind == VLS_NODE_DIR) == (d->is->kind == VLS_NODE_DIR))
        return 0;
    return vls_slot_each(c->is.view, &c->tree->id, d->path, add_slot, c, err);
}

static int add_all(comparing *c, valise_view *view, valise_error *err)
{
    int rc = vls_slot_each(view, &c->tree->id, VLS_STR(""), add_slot, c, err);

    return rc < 0 ? rc : vls_slot_each_below(view, &c->tree->id, VLS_STR(""), add_slot, c, err);
}

static int gather(comparing *c, vls_tree_diff *nodes, const vls_diff_point *was,
                  const vls_diff_point *is, valise_error *err)
{
    int64_t first = VLS_MIN(was->seq, is->seq), last = VLS_MAX(was->seq, is->seq);
    vls_context_row known = {.slots = 0};
    int rc = 0;

    if (!c->was.view || !c->is.view) {
        valise_view *only = c->was.view ? c->was.view : c->is.view;
        return only ? add_all(c, only, err) : 0;
    }
    if (first < last)
        rc = vls_view_each_changed(&c->row, c->view, &vls_slots, first, last, add_changed, c, err);
    if (rc == 0)
        rc = vls_context_get(&known, c->is.view, &c->tree->id, err);
    if (rc == 0 && known.slots > 0)
        rc = vls_tree_diff_each(nodes, add_node, c, err);
    return rc;
}

/* ---- what they were and are ---- */

/* A row that lives as long as the view, or NULL. */
static int get_row(const vls_slot_row **out, const comparing *c, const side *s, const spot *at,
                   valise_error *err)
{
    vls_slot_row row, *kept;
    int rc;

    *out = NULL;
    if (!s->view)
        return 0;
    rc = vls_slot_get(&row, s->view, &c->tree->id, at->path, at->type, err);
    if (rc <= 0)
        return rc;
    kept = vls_arena_zalloc(&c->view->arena, sizeof(*kept));
    if (!kept)
        return vls_arena_fail(&c->view->arena, err);
    *kept = row;
    kept->path = at->path;
    kept->type = at->type;
    kept->moved_from = (valise_str){NULL, 0};
    *out = kept;
    return 0;
}

static int push_pair(comparing *c, const vls_slot_row *was, const vls_slot_row *is,
                     valise_error *err)
{
    if (!was && !is)
        return 0;
    return vls_vec_push_in(&c->pairs, &c->view->arena, (pair){was, is})
               ? 0
               : vls_arena_fail(&c->view->arena, err);
}

/* Two slots that followed each other at a path are none that changed. */
static int make_pairs(comparing *c, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->list.len; i++) {
        const vls_slot_row *was = NULL, *is = NULL;
        rc = get_row(&was, c, &c->was, c->list.ptr[i], err);
        if (rc == 0)
            rc = get_row(&is, c, &c->is, c->list.ptr[i], err);
        if (rc < 0)
            return rc;
        if (was && is && vls_uuid_equal(&was->id, &is->id)) {
            rc = push_pair(c, was, is, err);
        } else {
            rc = push_pair(c, was, NULL, err);
            if (rc == 0)
                rc = push_pair(c, NULL, is, err);
        }
    }
    return rc;
}

static const valise_uuid *id_of(const pair *p)
{
    return p->was ? &p->was->id : &p->is->id;
}

static int by_id(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    int order = memcmp(id_of(x), id_of(y), sizeof(valise_uuid));

    return order ? order : (x->was == NULL) - (y->was == NULL);
}

/* What went at one path and came at another is one that moved. */
static void join_moved(comparing *c)
{
    size_t kept = 0;

    if (c->pairs.len > 1)
        qsort(c->pairs.ptr, c->pairs.len, sizeof(pair), by_id);
    for (size_t i = 0; i < c->pairs.len; i++) {
        pair p = c->pairs.ptr[i];
        if (kept > 0 && vls_uuid_equal(id_of(&c->pairs.ptr[kept - 1]), id_of(&p)) &&
            !c->pairs.ptr[kept - 1].is && !p.was)
            c->pairs.ptr[kept - 1].is = p.is;
        else
            c->pairs.ptr[kept++] = p;
    }
    c->pairs.len = kept;
}

static int by_place(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    const vls_slot_row *s = x->is ? x->is : x->was, *t = y->is ? y->is : y->was;
    int order = vls_path_compare(s->path, t->path);

    if (order == 0)
        order = vls_str_compare(s->type, t->type);
    /* What went before what came. */
    return order ? order : (x->is != NULL) - (y->is != NULL);
}

/* ---- what became of them ---- */

static int is_orphaned(bool *out, const comparing *c, const side *s, const vls_slot_row *slot,
                       valise_error *err)
{
    int rc = slot ? vls_state_is_orphan(c->view, c->tree, s->version, slot, err) : 0;

    *out = rc > 0;
    return vls_settle(rc);
}

/* -1: nothing did. */
static int judge(const vls_slot_difference *d)
{
    const vls_slot_row *was = d->was, *is = d->is;

    if (!was || !is)
        return is ? VLS_SLOT_ADDED : VLS_SLOT_REMOVED;
    if (!vls_str_equal(was->path, is->path))
        return VLS_SLOT_MOVED;
    if (!vls_id_equal(&was->head, &is->head))
        return VLS_SLOT_CHANGED;
    if (was->marked != is->marked)
        return is->marked ? VLS_SLOT_INVALIDATED : VLS_SLOT_REAFFIRMED;
    if (d->was_orphaned != d->is_orphaned)
        return d->is_orphaned ? VLS_SLOT_ORPHANED : VLS_SLOT_FOUND;
    return -1;
}

static int tell(comparing *c, vls_slot_difference_fn *fn, void *arg, valise_error *err)
{
    int rc = 0;

    if (c->pairs.len > 1)
        qsort(c->pairs.ptr, c->pairs.len, sizeof(pair), by_place);
    for (size_t i = 0; rc == 0 && i < c->pairs.len; i++) {
        vls_slot_difference d = {.was = c->pairs.ptr[i].was, .is = c->pairs.ptr[i].is};
        rc = is_orphaned(&d.was_orphaned, c, &c->was, d.was, err);
        if (rc == 0)
            rc = is_orphaned(&d.is_orphaned, c, &c->is, d.is, err);
        if (rc < 0)
            return rc;
        d.change = judge(&d);
        if (d.change >= 0)
            rc = fn(arg, &d, err);
    }
    return rc;
}

int vls_slots_diff(valise_view *view, vls_tree_diff *nodes, const vls_diff_point *was,
                   const vls_diff_point *is, vls_slot_difference_fn *fn, void *arg,
                   valise_error *err)
{
    VLS_AUTO(comparing) comparing c = {.view = view, .tree = nodes->tree};
    int rc = open_side(&c.was, view, was, err);

    vls_map_init(&c.spots, view->arena.env, spot_is);
    c.seed = view->past.seed;
    if (rc == 0)
        rc = open_side(&c.is, view, is, err);
    if (rc == 0)
        rc = gather(&c, nodes, was, is, err);
    if (rc == 0)
        rc = make_pairs(&c, err);
    if (rc < 0)
        return rc;
    join_moved(&c);
    return tell(&c, fn, arg, err);
}
