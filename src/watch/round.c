/* round.c -- look at what is pending, record what is different, tell it; see watch.h. */
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/text.h"
#include "bus/bus.h"
#include "bus/patience.h"
#include "context/outside.h"
#include "context/scan_batch.h"
#include "watch/tell.h"
#include "watch/watch.h"

#define LOOKS 3u        /* for the other side of a move */
#define OTHER_SIDE_MS 2 /* until the other side of a move is heard */
#define BATCH_MAX ((size_t)1 << 30)

typedef struct looking {
    valise_watch *w;
    vls_outside outside;
    vls_scan scan;
    vls_tree_commit_result done;
    bool full;
} looking;

static void vls_auto_looking(looking *l)
{
    vls_tree_scan_release(&l->scan);
    vls_outside_release(&l->outside);
}

/* ---- may it? ---- */

static int check_actor(void *arg, valise_view *view, valise_error *err)
{
    const valise_watch *w = arg;
    const vls_bus_access *access = &w->v->access;

    return access->allows(access->self, view, w->actor ? w->call.actor : w->v->actor, "tree:write",
                          NULL, err);
}

/* The folder itself: one lost mount must not empty the tree. */
static int check_root(valise_watch *w, const char *root, valise_error *err)
{
    struct stat st;

    if (!w->gone && stat(root, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (w->root_inode == 0) {
            w->root_device = st.st_dev;
            w->root_inode = st.st_ino;
        }
        if (st.st_dev == w->root_device && st.st_ino == w->root_inode)
            return 0;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "the folder '%s' is gone",
                   vls_text_short(valise_str_of(root)).s);
    vls_hint(err, "it was moved, removed or unmounted; this was not recorded");
    return VALISE_E_NOT_FOUND;
}

/* ---- looking ---- */

static int step(void *self, uint64_t entries, uint64_t bytes, valise_error *err)
{
    const looking *l = self;

    (void)bytes;
    return vls_progress_step(&l->w->progress, entries, err);
}

static void enter(void *self, valise_str path, int fd)
{
    const looking *l = self;

    vls_watch_set_enter(&l->w->set, path, fd);
}

static int look_once(looking *l, valise_error *err)
{
    valise_watch *w = l->w;
    const vls_tree_counts *c = &l->outside.tree.counts;
    vls_scan_options options = l->outside.options;
    int rc;

    l->full = w->full;
    options.step = step;
    options.enter = enter;
    options.self = l;
    options.memory = &w->memory;
    options.threads = l->full ? 0 : 1;
    options.subs = l->full ? NULL : w->pending.ptr;
    options.sub_count = l->full ? 0 : w->pending.len;
    if (l->full)
        vls_watch_set_begin(&w->set);
    vls_progress_begin(&w->progress, "scan", "entries",
                       l->full ? (uint64_t)(c->files + c->dirs + c->links + c->unreadable) : 0);
    rc = vls_tree_scan(&l->scan, &options, err);
    return rc == 0 && l->full ? vls_progress_end(&w->progress, err) : rc;
}

/* Whether more was heard since the look began. What was looked at already may have changed again:
 * that counts, since nobody will say it once more. */
static int hear_more(bool *out, valise_watch *w, valise_error *err)
{
    struct pollfd waiting = {.fd = w->set.fd, .events = POLLIN};
    uint64_t before = w->heard;
    int rc;

    *out = false;
    if (w->set.fd < 0 || poll(&waiting, 1, OTHER_SIDE_MS) <= 0)
        return 0;
    rc = vls_watch_read(w, err);
    *out = w->heard > before;
    return rc;
}

/* What was said about a file goes along when it moves. So where something came or went, the other
 * side is looked at together with it: what somebody moves right now is heard in a moment, and what
 * lies in directories that are not watched is found by looking at everything. */
static int look(looking *l, valise_error *err)
{
    valise_watch *w = l->w;
    int rc = look_once(l, err);

    for (unsigned i = 1; rc == 0 && i < LOOKS; i++) {
        bool more = !l->full && w->set.shortage != 0;
        if (l->scan.added + l->scan.removed == 0 || (!more && !l->outside.told))
            break;
        w->full |= more;
        if (!more)
            rc = hear_more(&more, w, err);
        if (rc < 0 || !more)
            break;
        vls_tree_scan_release(&l->scan);
        rc = look_once(l, err);
    }
    return rc;
}

/* ---- recording ---- */

static int record(looking *l, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_scan_batch batch = {.arena = &arena};
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.actor = l->w->call.actor;
    call.cause = l->w->call.cause;
    vls_arena_init(&arena, l->w->env, BATCH_MAX);
    rc = vls_scan_batch_fill(&batch, &l->scan, l->outside.tree.version, &l->done, err);
    return rc < 0 ? rc : vls_run_many(l->w->v, batch.items.ptr, batch.items.len, &call, err);
}

/* VALISE_E_CONFLICT: somebody else was faster. */
static int attempt(looking *l, valise_error *err)
{
    int rc = look(l, err);

    if (rc < 0)
        return rc;
    l->done = (vls_tree_commit_result){l->outside.tree.version, l->outside.tree.root};
    if (l->scan.changes.len > 0)
        rc = record(l, err);
    return rc;
}

static int attempts(looking *l, valise_error *err)
{
    vls_patience patience;
    int rc;

    vls_patience_init(&patience, l->w->v);
    rc = attempt(l, err);
    while (rc == VALISE_E_CONFLICT) {
        if (!vls_patience_again(&patience, l->outside.tree.version))
            return vls_patience_fail(&patience, rc, "the tree", err);
        vls_tree_scan_release(&l->scan);
        rc = vls_outside_refresh(&l->outside, err);
        if (rc == 0)
            rc = attempt(l, err);
    }
    return rc;
}

/* ---- afterwards ---- */

static void say_shortage(valise_watch *w)
{
    bool is_short = w->set.shortage != 0;
    char text[256];

    if (is_short == w->said_short)
        return;
    w->said_short = is_short;
    if (!is_short) {
        vls_watch_note(w, VALISE_WATCH_ENOUGH, "all directories are watched again");
        return;
    }
    (void)snprintf(text, sizeof(text),
                   "not all directories can be watched (%s): everything is looked at every %lld s; "
                   "fs.inotify.max_user_watches is the limit",
                   w->set.shortage == ENOSPC ? "there are no watches left"
                                             : strerror(w->set.shortage),
                   (long long)(w->options.rescan_ns / 1000000000));
    vls_watch_note(w, VALISE_WATCH_SHORT, text);
}

static int finish(looking *l, valise_error *err)
{
    valise_watch *w = l->w;
    int64_t version = l->outside.tree.version + (l->scan.changes.len > 0);
    vls_watch_counts counts = {0};
    int rc, others;

    if (l->full) {
        vls_watch_set_sweep(&w->set);
        w->full_ns = vls_watch_now(w);
        w->full = false;
    }
    vls_watch_clear(w);
    say_shortage(w);
    if (w->told == 0)
        w->told_root = l->outside.tree.root;
    rc = others = vls_watch_catch_up(&counts, w, &l->outside.tree, err);
    if (rc >= 0 && l->scan.changes.len > 0)
        rc = vls_watch_tell(w, &l->scan, !l->full, err);
    if (rc >= 0 && (others > 0 || l->scan.changes.len > 0))
        rc = vls_watch_tell_version(w, &l->scan, &counts, &l->done, err);
    w->told = version;
    w->told_root = l->done.root;
    (void)vls_tree_scan_keep(&l->scan, version, NULL);
    if (l->full)
        vls_outside_scanned(&l->outside);
    w->kept_ns = vls_watch_now(w);
    if (w->memory.unsaved && w->unsaved_ns == 0)
        w->unsaved_ns = w->kept_ns;
    return rc < 0 ? rc : others > 0 || version > l->outside.tree.version;
}

static int run(looking *l, valise_error *err)
{
    valise_watch *w = l->w;
    int rc = vls_outside_open(&l->outside, w->v, VLS_STR(""), err);

    if (rc == 0)
        rc = check_root(w, l->outside.options.root, err);
    if (rc == 0)
        rc = vls_with_view(w->v, &w->call, check_actor, w, err);
    if (rc < 0)
        return rc;
    rc = attempts(l, err);
    return rc < 0 ? rc : finish(l, err);
}

int vls_watch_round(valise_watch *w, valise_error *err)
{
    VLS_AUTO(looking) looking l = {.w = w};
    int rc;

    vls_progress_init(&w->progress, w->env, &w->call.progress);
    rc = run(&l, err);
    if (rc < 0)
        w->full = true; /* nobody knows how far it came */
    return rc;
}
