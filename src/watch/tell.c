/* tell.c -- what a round recorded, change by change; see valise/watch.h.
 *
 * What moved is told once, and not as something that went and came; a directory that is gone is
 * told, what was in it is not. */
#include "tree/compare.h"
#include "watch/watch.h"
#include "watch/tell.h"

typedef struct telling {
    valise_watch *w;
    const vls_scan *scan;
    bool part;             /* not everything was looked at */
    valise_str *from, *to; /* of moves, each in order */
} telling;

int vls_watch_sort_moves(valise_str **from, valise_str **to, const vls_scan *scan, vls_arena *arena,
                         valise_error *err)
{
    size_t count = scan->moves.len;

    if (count == 0)
        return 0;
    *from = vls_arena_array(arena, count, sizeof(valise_str));
    *to = vls_arena_array(arena, count, sizeof(valise_str));
    if (!*from || !*to)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++) {
        (*from)[i] = scan->moves.ptr[i].from;
        (*to)[i] = scan->moves.ptr[i].to;
    }
    qsort(*from, count, sizeof(valise_str), vls_path_order);
    qsort(*to, count, sizeof(valise_str), vls_path_order);
    return 0;
}

/* Is the path one of them, or below one? */
static bool is_within(const valise_str *paths, size_t count, valise_str path)
{
    while (count > 0 && path.len > 0) {
        if (bsearch(&path, paths, count, sizeof(valise_str), vls_path_order))
            return true;
        path = vls_path_parent(path);
    }
    return false;
}

int vls_watch_tell_change(const valise_watch *w, const valise_tree_change *change,
                          valise_error *err)
{
    int rc;

    if (!w->options.changed)
        return 0;
    rc = w->options.changed(w->options.arg, change, err);
    return rc > 0 ? vls_fail(err, VALISE_E_CANCELLED,
                             "stopped by the function that was told of a change")
                  : rc;
}

static int tell(const valise_watch *w, int kind, valise_str path, valise_str from,
                valise_str reason, valise_error *err)
{
    const valise_tree_change change = {.kind = kind, .path = path, .from = from, .reason = reason};

    return vls_watch_tell_change(w, &change, err);
}

int vls_watch_kind_of(const vls_difference *d, const valise_str *from, const valise_str *to,
                      size_t moves)
{
    bool went, came;

    if (d->path.len == 0 || d->inside ||
        (d->was && d->is && d->was->kind == VLS_NODE_DIR && d->is->kind == VLS_NODE_DIR))
        return -1;
    went = d->was && !is_within(from, moves, d->path);
    came = d->is && !is_within(to, moves, d->path);
    if (d->was && d->is && vls_difference_is_kept(d))
        went = came = true;
    if (!went && !came)
        return -1;
    return went && came ? VALISE_TREE_CHANGED : came ? VALISE_TREE_ADDED : VALISE_TREE_REMOVED;
}

static int tell_difference(void *arg, const vls_difference *d, valise_error *err)
{
    const telling *t = arg;
    int kind = vls_watch_kind_of(d, t->from, t->to, t->scan->moves.len);

    if (kind < 0)
        return 0;
    if (t->part && kind == VALISE_TREE_CHANGED)
        vls_watch_was_busy(t->w, d->path, vls_watch_now(t->w));
    return tell(t->w, kind, d->path, VLS_STR(""), VLS_STR(""), err);
}

static int tell_problems(const valise_watch *w, int kind, const vls_scan_problem *problems,
                         size_t count, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = tell(w, kind, problems[i].path, VLS_STR(""), problems[i].message, err);
    return rc;
}

int vls_watch_tell_version(const valise_watch *w, const vls_scan *scan,
                           const vls_watch_counts *others, const vls_tree_commit_result *done,
                           valise_error *err)
{
    const valise_tree_scanned scanned = {.size = sizeof(scanned),
                                         .old_tree_root = w->told_root,
                                         .tree_root = done->root,
                                         .version = done->version,
                                         .added = scan->added + others->added,
                                         .changed = scan->changed + others->changed,
                                         .removed = scan->removed + others->removed,
                                         .moved = scan->moved + others->moved,
                                         .ambiguous = (int64_t)scan->ambiguous.len,
                                         .errors = (int64_t)scan->errors.len,
                                         .hashed = scan->hashed,
                                         .skipped = scan->skipped,
                                         .ignored = scan->ignored,
                                         .files = scan->counts.files,
                                         .dirs = scan->counts.dirs,
                                         .links = scan->counts.links,
                                         .unreadable = scan->counts.unreadable,
                                         .bytes = scan->counts.bytes};
    int rc;

    if (!w->options.recorded)
        return 0;
    rc = w->options.recorded(w->options.arg, &scanned, err);
    return rc > 0 ? vls_fail(err, VALISE_E_CANCELLED,
                             "stopped by the function that was told of a version")
                  : rc;
}

int vls_watch_tell(valise_watch *w, const vls_scan *scan, bool part, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    telling t = {.w = w, .scan = scan, .part = part};
    int rc;

    vls_arena_init(&arena, w->env, SIZE_MAX / 2);
    rc = vls_watch_sort_moves(&t.from, &t.to, scan, &arena, err);
    if (rc == 0)
        rc = vls_tree_scan_each(scan, tell_difference, &t, err);
    for (size_t i = 0; rc == 0 && i < scan->moves.len; i++)
        rc = tell(w, VALISE_TREE_MOVED, scan->moves.ptr[i].to, scan->moves.ptr[i].from, VLS_STR(""),
                  err);
    if (rc == 0)
        rc = tell_problems(w, VALISE_TREE_AMBIGUOUS, scan->ambiguous.ptr, scan->ambiguous.len, err);
    if (rc == 0)
        rc = tell_problems(w, VALISE_TREE_ERROR, scan->errors.ptr, scan->errors.len, err);
    return rc;
}
