/* scan_keep.c -- the cache that a scan leaves, in a file or in memory; see scan.h.
 *
 * A file is written anew, with the pieces of directories that did not change as they were. In
 * memory only the records of directories that changed are written, behind what is there: they name
 * those that did not by how far back they are, wherever that is. */
#include "tree/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tree/scan_impl.h"

#define STALE_S 60 /* how old a file is that somebody who was killed has left */
#define TIDY_FROM ((size_t)1 << 20)

typedef struct vls_stat_cache state;

/* ---- records ---- */

typedef struct frame {
    const vls_walk_dir *dir;
    uint32_t at;
    uint64_t first;     /* where the first record that belongs to it begins */
    size_t first_start; /* of its directories in starts */
    bool scattered;     /* some record that belongs to it lies elsewhere */
} frame;

typedef struct keeping {
    const valise_env *env;
    const vls_tree_cache
        *onto; /* what is written comes behind that; NULL: it is a file of its own */
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
    own = vls_cache_write_dir_end(&k->w, f->scattered ? k->w.start + k->w.size : f->first);
    k->starts.len = f->first_start;
    k->starts.ptr[k->starts.len++] = own; /* there is room: see push_frame */
}

static bool push_frame(keeping *k, const vls_walk_dir *dir)
{
    frame f = {.dir = dir, .first = k->w.pos, .first_start = k->starts.len};

    return vls_vec_reserve(&k->starts, k->env, k->starts.len + 1) &&
           vls_vec_push(&k->frames, k->env, f);
}

/* What did not change: where its record begins. */
static uint64_t write_old(keeping *k, const vls_cache_record *record)
{
    if (k->onto)
        return (uint64_t)((const char *)record - k->onto->bytes);
    return vls_cache_write_piece(&k->w, record);
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
                          write_old(k, vls_cache_child(f->dir->old, entry->old))))
            return false;
        f->scattered |= k->onto != NULL;
    }
    write_record(k, f);
    k->frames.len--;
    if (k->frames.len > 0)
        k->frames.ptr[k->frames.len - 1].scattered |= f->scattered;
    return true;
}

/* All that is known, with a writer that has begun. Gives the root's start, and the header. */
static int write_all(uint64_t *start, vls_cache_header *head, keeping *k, const state *s,
                     int64_t version, valise_error *err)
{
    bool ok;

    *head = (vls_cache_header){.version = version,
                               .clock_ns = s->walk.clock_ns,
                               .counts = s->counts,
                               .root = s->walk.root.e};
    if (s->walk.root.dir)
        ok = push_frame(k, s->walk.root.dir);
    else
        ok = vls_vec_push(&k->starts, k->env, write_old(k, vls_cache_root(&s->old)));
    while (ok && k->frames.len > 0 && k->w.error == 0)
        ok = write_next(k);
    if (!ok)
        return vls_fail_memory(err);
    *start = k->starts.len > 0 ? k->starts.ptr[0] : 0;
    return 0;
}

static void release(keeping *k)
{
    vls_cache_write_release(&k->w);
    vls_vec_release(&k->frames, k->env);
    vls_vec_release(&k->starts, k->env);
}

/* ---- files ---- */

typedef int write_fn(const void *arg, int fd, valise_error *err);

typedef struct scanned {
    const state *s;
    int64_t version;
} scanned;

static int write_scan(const void *arg, int fd, valise_error *err)
{
    const scanned *it = arg;
    keeping k = {.env = it->s->options.env};
    vls_cache_header head;
    uint64_t start;
    int rc;

    vls_cache_write_begin(&k.w, k.env, fd);
    rc = write_all(&start, &head, &k, it->s, it->version, err);
    if (rc == 0)
        rc = vls_cache_write_end(&k.w, &head, start, err);
    release(&k);
    return rc;
}

static int write_held(const void *arg, int fd, valise_error *err)
{
    VLS_AUTO(cache_writer) vls_cache_writer w = {0};
    const vls_tree_cache *cache = arg;

    vls_cache_write_begin(&w, cache->env, fd);
    return vls_cache_write_whole(&w, cache, err);
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
    /* One from the future is of a clock that was set back since. */
    stale = lstat(path, &st) == 0 && clock_gettime(CLOCK_REALTIME, &now.st_mtim) == 0 &&
            (st.st_mtim.tv_sec < now.st_mtim.tv_sec - STALE_S ||
             st.st_mtim.tv_sec > now.st_mtim.tv_sec + STALE_S);
    if (!stale)
        return vls_fail(err, VALISE_E_BUSY, "somebody else is writing %s", path);
    (void)unlink(path);
    fd = vls_fd_open_at(AT_FDCWD, path, flags, 0600);
    return fd >= 0 ? fd : vls_fail_errno(err, "make", valise_str_of(path));
}

static void keep_time(int fd, const char *path)
{
    struct stat st = {.st_mtim = {0, 0}};
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0, 0}};

    if (lstat(path, &st) == 0)
        times[1] = st.st_mtim;
    (void)futimens(fd, times);
}

/* Write a new file, and put it in the place of the old one. */
static int replace_file(const valise_env *env, const char *file, write_fn *write, const void *arg,
                        valise_error *err)
{
    VLS_AUTO(buf) vls_buf name = {0};
    VLS_AUTO(fd) int fd = -1;
    const char *path;
    int rc;

    vls_buf_init(&name, env, SIZE_MAX / 2);
    vls_buf_printf(&name, "%s.tmp", file);
    path = vls_buf_cstr(&name);
    if (!path)
        return vls_buf_check(&name, err);
    fd = make_file(path, err);
    if (fd < 0)
        return fd;
    rc = write(arg, fd, err);
    keep_time(fd, file);
    if (rc == 0 && rename(path, file) < 0)
        rc = vls_fail_errno(err, "rename", valise_str_of(path));
    if (rc < 0)
        (void)unlink(path);
    return rc;
}

/* ---- memory ---- */

/* What is different comes behind what is there. Where that moves, the walk is of no use any more.
 */
static int grow(vls_tree_cache *cache, state *s, int64_t version, valise_error *err)
{
    keeping k = {.env = cache->env, .onto = cache};
    vls_cache_header head;
    uint64_t start;
    int rc;

    vls_cache_write_behind(&k.w, cache);
    rc = write_all(&start, &head, &k, s, version, err);
    if (rc == 0)
        rc = vls_cache_write_end_behind(&k.w, cache, &head, start, err);
    release(&k);
    return rc;
}

/* Now and then what lies there for nothing goes. */
static int tidy(vls_scan_memory *memory, valise_error *err)
{
    VLS_AUTO(cache_writer) vls_cache_writer w = {0};
    vls_tree_cache *cache = &memory->cache;
    int rc;

    if (cache->size / 2 <= memory->whole + TIDY_FROM)
        return 0;
    vls_cache_write_begin(&w, cache->env, -1);
    rc = vls_cache_write_whole(&w, cache, err);
    if (rc < 0)
        return rc;
    vls_cache_release(cache);
    *cache = vls_cache_written(&w);
    memory->whole = cache->size;
    return 0;
}

static int keep_in_memory(state *s, vls_scan_memory *memory, int64_t version, valise_error *err)
{
    int rc;

    if (!s->is_held) { /* what the scan has is newer */
        vls_cache_release(&memory->cache);
        memory->cache = s->old;
        memory->cache.env = s->options.env;
        memory->whole = s->old.size;
        memory->unsaved = !s->is_file;
        s->is_held = true;
    }
    rc = grow(&memory->cache, s, version, err);
    vls_walk_release(&s->walk);
    s->old.bytes = NULL;
    if (rc < 0)
        return rc;
    memory->unsaved = true;
    if (memory->whole == 0)
        memory->whole = memory->cache.size;
    (void)tidy(memory, NULL);
    return 0;
}

int vls_tree_scan_save(vls_scan_memory *memory, const char *file, valise_error *err)
{
    int rc;

    if (!memory->unsaved || !memory->cache.bytes)
        return 0;
    rc = replace_file(memory->cache.env, file, write_held, &memory->cache, err);
    memory->unsaved = rc < 0;
    return rc;
}

void vls_scan_memory_release(vls_scan_memory *memory)
{
    vls_cache_release(&memory->cache);
    *memory = (vls_scan_memory){.whole = 0};
}

/* ---- either ---- */

/* Whether all that the scan knows is there already. */
static bool is_kept(const state *s, int64_t version)
{
    const vls_cache_entry *old = s->walk.root.old, *now = &s->walk.root.e;

    return (s->is_file || s->is_held) && vls_cache_head(&s->old)->version == version &&
           !s->walk.root.dir && old->unsure == now->unsure && old->mtime_ns == now->mtime_ns &&
           old->ctime_ns == now->ctime_ns && old->inode == now->inode && old->device == now->device;
}

int vls_tree_scan_keep(vls_scan *scan, int64_t version, valise_error *err)
{
    state *s = scan->cache;
    vls_scan_memory *memory = s->options.memory;

    if (memory && !(s->is_held && is_kept(s, version)))
        return keep_in_memory(s, memory, version, err);
    if (memory || !s->options.cache || is_kept(s, version))
        return 0;
    return replace_file(scan->env, s->options.cache, write_scan, &(scanned){s, version}, err);
}
