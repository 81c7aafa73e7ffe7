/* catch_up.c -- versions that somebody else recorded since the last one that was told: a scan,
 * another watch, or who said something about a file that had just changed. See valise/watch.h. */
#include "bus/bus.h"
#include "store/view.h"
#include "tree/rows_diff.h"
#include "watch/tell.h"
#include "watch/watch.h"

#define MEMORY_MAX ((size_t)1 << 30)

typedef struct catching {
    valise_watch *w;
    int64_t until;
    vls_scan between; /* moves and counts; its arena has all of this */
    vls_vec(valise_tree_change) list;
    valise_str *from, *to; /* of moves, each in order */
    valise_str gone;       /* the last directory that went */
    bool pruned;           /* nobody knows any more what it was */
} catching;

static int add(catching *c, int kind, valise_str path, valise_error *err)
{
    valise_tree_change change = {.kind = kind, .from = VLS_STR(""), .reason = VLS_STR("")};
    int rc = vls_arena_dup(&change.path, &c->between.arena, path, err);

    return rc < 0 ? rc
           : vls_vec_push_in(&c->list, &c->between.arena, change)
               ? 0
               : vls_arena_fail(&c->between.arena, err);
}

/* What was in a directory that is gone is not told. */
static int add_difference(void *arg, const vls_difference *d, valise_error *err)
{
    catching *c = arg;
    int kind;

    if (c->gone.ptr && vls_path_is_under(d->path, c->gone) && !d->is)
        return 0;
    kind = vls_watch_kind_of(d, c->from, c->to, c->between.moves.len);
    if (kind < 0)
        return 0;
    if (d->was && d->was->kind == VLS_NODE_DIR) {
        int rc = vls_arena_dup(&c->gone, &c->between.arena, d->path, err);
        if (rc < 0)
            return rc;
    }
    return add(c, kind, d->path, err);
}

static int compare(void *arg, valise_view *view, valise_error *err)
{
    catching *c = arg;
    vls_tree_row tree;
    vls_tree_diff diff = {.view = view, .tree = &tree, .was = c->w->told, .is = c->until};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_tree_head(&tree, view, err);

    if (rc <= 0)
        return rc;
    rc = vls_tree_diff_moves(&c->between, &diff, &why);
    if (rc == 0)
        rc = vls_watch_sort_moves(&c->from, &c->to, &c->between, &c->between.arena, &why);
    if (rc == 0)
        rc = vls_tree_diff_each(&diff, add_difference, c, &why);
    c->pruned = rc == VALISE_E_LIMIT;
    if (rc < 0 && !c->pruned && err)
        *err = why;
    return c->pruned ? 0 : rc;
}

static int tell(const catching *c, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->list.len; i++)
        rc = vls_watch_tell_change(c->w, &c->list.ptr[i], err);
    for (size_t i = 0; rc == 0 && i < c->between.moves.len; i++) {
        const vls_scan_move *move = &c->between.moves.ptr[i];
        const valise_tree_change change = {
            .kind = VALISE_TREE_MOVED, .path = move->to, .from = move->from, .reason = VLS_STR("")};
        rc = vls_watch_tell_change(c->w, &change, err);
    }
    return rc;
}

int vls_watch_catch_up(vls_watch_counts *out, valise_watch *w, const vls_tree_row *tree,
                       valise_error *err)
{
    catching c = {.w = w, .until = tree->version};
    int rc;

    if (w->told == 0 || tree->version <= w->told)
        return 0;
    vls_arena_init(&c.between.arena, w->env, MEMORY_MAX);
    rc = vls_with_view(w->v, &w->call, compare, &c, err);
    if (rc == 0 && !c.pruned)
        rc = tell(&c, err);
    *out =
        (vls_watch_counts){c.between.added, c.between.changed, c.between.removed, c.between.moved};
    vls_arena_release(&c.between.arena);
    return rc < 0 ? rc : 1;
}
