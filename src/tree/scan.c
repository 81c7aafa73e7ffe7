/* scan.c -- the parts of a scan put together, and the cache it leaves; see scan.h. */
#include "tree/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tree/compare.h"
#include "tree/walk_impl.h"

#define STALE_S 60 /* how old a file is that somebody who was killed has left */

/* What a scan keeps for the cache. */
typedef struct vls_stat_cache {
    vls_scan_options options;
    vls_cache old;
    bool is_file; /* old is what the file has */
    bool whole;
    vls_walk walk;
    vls_cache_counts counts;
} state;

/* ---- the tree as it was ---- */

static int add_node(void *arg, valise_str path, const vls_node *node, valise_error *err)
{
    return vls_cache_build_add(arg, path, node, err);
}

static int build_old(vls_cache *out, const vls_scan_options *options, const vls_cache *stats,
                     valise_error *err)
{
    VLS_AUTO(cache_builder) vls_cache_builder builder = {0};
    int rc;

    vls_cache_build_begin(&builder, options->env, stats);
    rc = options->old(options->self, add_node, &builder, err);
    if (rc > 0)
        rc = vls_fail(err, VALISE_E_CANCELLED, "the scan was cancelled");
    return rc < 0 ? rc : vls_cache_build_end(out, &builder, err);
}

static int load_old(state *s, valise_error *err)
{
    VLS_AUTO(cache) vls_cache file = {.env = s->options.env};
    const vls_scan_options *options = &s->options;
    int rc = 0;

    if (options->version == 0)
        return 0;
    if (options->cache)
        rc = vls_cache_load(&file, options->env, options->cache, err);
    if (rc < 0)
        return rc;
    if (rc > 0 && vls_cache_head(&file)->version == options->version &&
        vls_id_equal(&vls_cache_head(&file)->root.object, &options->object)) {
        s->old = file;
        s->is_file = true;
        file.bytes = NULL;
        return 0;
    }
    return options->old ? build_old(&s->old, options, &file, err) : 0;
}

/* ---- the clock of the file system ---- */

/* The time that a file gets which is written now; INT64_MIN when none can be. */
static int64_t read_clock(const vls_scan_options *options)
{
    VLS_AUTO(fd) int fd = -1;
    VLS_AUTO(buf) vls_buf name = {0};
    int64_t clock_ns = INT64_MIN;
    struct stat st;
    int rc;

    if (!options->cache)
        return clock_ns;
    vls_buf_init(&name, options->env, SIZE_MAX / 2);
    vls_buf_printf(&name, "%s.clock", options->cache);
    if (!vls_buf_cstr(&name))
        return clock_ns;
    fd = vls_fd_open_at(AT_FDCWD, vls_buf_cstr(&name), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
                        0600);
    if (fd < 0)
        return clock_ns;
    do
        rc = futimens(fd, NULL);
    while (vls_fd_again(rc));
    if (rc == 0 && vls_walk_stat(fd, &st) == 0)
        clock_ns = vls_walk_ns(st.st_mtim);
    (void)unlink(vls_buf_cstr(&name));
    return clock_ns;
}

/* ---- the scan ---- */

/* From the path on upwards, until what is walked is all that matters. */
static int walk(state *s, int64_t clock_ns, valise_error *err)
{
    VLS_AUTO(buf) vls_buf sub = {0};
    int rc;

    vls_buf_init(&sub, s->options.env, VLS_PATH_MAX);
    if (s->old.bytes)
        vls_buf_add(&sub, s->options.sub);
    rc = vls_buf_check(&sub, err);
    while (rc == 0) {
        valise_str wider = {NULL, 0};
        rc = vls_walk_init(&s->walk, &s->options, &s->old, clock_ns, err);
        if (rc < 0)
            return rc;
        s->whole = sub.len == 0;
        if (s->whole)
            return vls_walk_run(&s->walk, err);
        rc = vls_walk_run_sub(&wider, &s->walk, vls_buf_str(&sub), err);
        if (rc <= 0)
            return rc;
        assert(wider.len < sub.len);
        sub.len = wider.len; /* it is what the path begins with */
        vls_walk_release(&s->walk);
        rc = 0;
    }
    return rc;
}

static void release_state(state *s)
{
    if (!s)
        return;
    vls_walk_release(&s->walk);
    vls_cache_release(&s->old);
    vls_mem_free(s->options.env, s, sizeof(*s));
}

static int fill(vls_scan *out, state *s, valise_error *err)
{
    const vls_walk *w = &s->walk;
    int rc;

    if (s->old.bytes)
        out->old_object = vls_cache_head(&s->old)->root.object;
    out->object = w->root.e.object;
    out->skipped = w->counts.skipped;
    out->ignored = w->counts.ignored;
    out->hashed = w->counts.hashed;
    out->whole = s->whole;
    rc = vls_compare(out, w, err);
    if (rc == 0)
        rc = vls_walk_problems(out, w, err);
    s->counts = (vls_cache_counts){out->files, out->dirs, out->links, out->unreadable, out->bytes};
    return rc;
}

int vls_tree_scan(vls_scan *out, const vls_scan_options *options, valise_error *err)
{
    vls_scan scan = {.env = options->env};
    state *s;
    int64_t clock_ns;
    int rc = vls_path_check(options->sub, err);

    if (rc < 0)
        return rc;
    s = vls_mem_zalloc(options->env, sizeof(*s));
    if (!s)
        return vls_fail_memory(err);
    s->options = *options;
    s->old.env = options->env;
    scan.cache = s;
    vls_arena_init(&scan.arena, options->env, SIZE_MAX / 2);
    rc = load_old(s, err);
    clock_ns = read_clock(options);
    if (rc == 0)
        rc = walk(s, clock_ns, err);
    if (rc == 0)
        rc = fill(&scan, s, err);
    if (rc < 0) {
        vls_tree_scan_release(&scan);
        return rc;
    }
    *out = scan;
    return 0;
}

void vls_tree_scan_release(vls_scan *scan)
{
    if (!scan->env)
        return;
    release_state(scan->cache);
    vls_arena_release(&scan->arena);
    *scan = (vls_scan){.env = NULL};
}

/* ---- keeping ---- */

typedef struct frame {
    const vls_walk_dir *dir;
    uint32_t at;
    uint64_t first;     /* where the first record that belongs to it begins */
    size_t first_start; /* of its directories in starts */
} frame;

typedef struct keeping {
    const valise_env *env;
    vls_cache_writer w;
    vls_vec(frame) frames;
    vls_vec(uint64_t) starts; /* of directories that are written, and not yet said where they are */
} keeping;

static void write_record(keeping *k, const frame *f)
{
    size_t start = f->first_start;
    uint64_t text_len = 0, own;

    for (uint32_t i = 0; i < f->dir->count; i++) {
        const vls_walk_entry *entry = &f->dir->entries[i];
        text_len += entry->e.name_len;
        text_len += entry->e.kind == VLS_NODE_LINK ? (uint64_t)entry->e.size : 0;
    }
    if (text_len > UINT32_MAX) {
        k->w.error = EFBIG;
        return;
    }
    vls_cache_write_dir(&k->w, f->dir->count, (uint32_t)text_len);
    for (uint32_t i = 0; i < f->dir->count; i++) {
        const vls_walk_entry *entry = &f->dir->entries[i];
        bool is_dir = entry->e.kind == VLS_NODE_DIR, is_link = entry->e.kind == VLS_NODE_LINK;
        vls_cache_write_entry(&k->w, &entry->e, vls_str(entry->name, entry->e.name_len),
                              vls_str(entry->target, is_link ? (size_t)entry->e.size : 0),
                              is_dir ? k->starts.ptr[start++] : 0);
    }
    own = vls_cache_write_dir_end(&k->w, f->first);
    k->starts.len = f->first_start;
    k->starts.ptr[k->starts.len++] = own; /* there is room: see push_frame */
}

static bool push_frame(keeping *k, const vls_walk_dir *dir)
{
    frame f = {.dir = dir, .first = k->w.pos, .first_start = k->starts.len};

    return vls_vec_reserve(&k->starts, k->env, k->starts.len + 1) &&
           vls_vec_push(&k->frames, k->env, f);
}

/* The next directory in the innermost one, or that one itself. False: out of memory. */
static bool write_next(keeping *k)
{
    frame *f = &k->frames.ptr[k->frames.len - 1];

    while (f->at < f->dir->count) {
        const vls_walk_entry *entry = &f->dir->entries[f->at++];
        if (entry->e.kind != VLS_NODE_DIR)
            continue;
        if (entry->dir)
            return push_frame(k, entry->dir);
        if (!vls_vec_push(&k->starts, k->env,
                          vls_cache_write_piece(&k->w, vls_cache_child(f->dir->old, entry->old))))
            return false;
    }
    write_record(k, f);
    k->frames.len--;
    return true;
}

static int write_cache(state *s, int fd, int64_t version, valise_error *err)
{
    keeping k = {.env = s->options.env};
    vls_cache_header head = {.version = version,
                             .clock_ns = s->walk.clock_ns,
                             .counts = s->counts,
                             .root = s->walk.root.e};
    bool ok = true;
    int rc;

    vls_cache_write_begin(&k.w, k.env, fd);
    if (s->walk.root.dir)
        ok = push_frame(&k, s->walk.root.dir);
    else
        ok = vls_vec_push(&k.starts, k.env, vls_cache_write_piece(&k.w, vls_cache_root(&s->old)));
    while (ok && k.frames.len > 0 && k.w.error == 0)
        ok = write_next(&k);
    if (ok)
        rc = vls_cache_write_end(&k.w, &head, k.starts.ptr[0], err);
    else
        rc = vls_fail_memory(err);
    vls_cache_write_release(&k.w);
    vls_vec_release(&k.frames, k.env);
    vls_vec_release(&k.starts, k.env);
    return rc;
}

/* A new file of that name: what somebody who was killed has left goes, what somebody writes right
 * now stays. */
static int make_file(const char *path, valise_error *err)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = vls_fd_open_at(AT_FDCWD, path, flags, 0600);
    struct stat st, now;
    bool stale;

    if (fd >= 0 || errno != EEXIST)
        return fd >= 0 ? fd : vls_fail_errno(err, "make", valise_str_of(path));
    stale = lstat(path, &st) == 0 && clock_gettime(CLOCK_REALTIME, &now.st_mtim) == 0 &&
            now.st_mtim.tv_sec - st.st_mtim.tv_sec > STALE_S;
    if (!stale)
        return vls_fail(err, VALISE_E_BUSY, "somebody else writes %s", path);
    (void)unlink(path);
    fd = vls_fd_open_at(AT_FDCWD, path, flags, 0600);
    return fd >= 0 ? fd : vls_fail_errno(err, "make", valise_str_of(path));
}

/* Whether the file has all that the scan knows. */
static bool is_kept(const state *s, int64_t version)
{
    const vls_cache_entry *old = s->walk.root.old, *now = &s->walk.root.e;

    return s->is_file && vls_cache_head(&s->old)->version == version && !s->walk.root.dir &&
           old->unsure == now->unsure && old->mtime_ns == now->mtime_ns &&
           old->ctime_ns == now->ctime_ns && old->inode == now->inode && old->device == now->device;
}

static void keep_time(int fd, const char *path)
{
    struct stat st = {.st_mtim = {0, 0}};
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0, 0}};

    if (lstat(path, &st) == 0)
        times[1] = st.st_mtim;
    (void)futimens(fd, times);
}

int vls_tree_scan_keep(vls_scan *scan, int64_t version, valise_error *err)
{
    VLS_AUTO(buf) vls_buf name = {0};
    VLS_AUTO(fd) int fd = -1;
    state *s = scan->cache;
    const char *path;
    int rc;

    if (!s->options.cache || is_kept(s, version))
        return 0;
    vls_buf_init(&name, scan->env, SIZE_MAX / 2);
    vls_buf_printf(&name, "%s.tmp", s->options.cache);
    path = vls_buf_cstr(&name);
    if (!path)
        return vls_buf_check(&name, err);
    fd = make_file(path, err);
    if (fd < 0)
        return fd;
    rc = write_cache(s, fd, version, err);
    keep_time(fd, s->options.cache);
    if (rc == 0 && rename(path, s->options.cache) < 0)
        rc = vls_fail_errno(err, "rename", valise_str_of(path));
    if (rc < 0)
        (void)unlink(path);
    return rc;
}
