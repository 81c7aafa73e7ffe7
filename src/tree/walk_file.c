/* walk_file.c -- one entry of a directory: what it is now; see walk.h.
 *
 * Between the stat of a name, the open and the read anything may happen to it. What is not the same
 * before and after is looked at again, three times in all. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tree/walk_impl.h"

#define NS_PER_S INT64_C(1000000000)
#define COARSE_NS (2 * NS_PER_S)

enum { DONE = 0, AGAIN = 1 };

/* ---- stat ---- */

int64_t vls_walk_ns(struct timespec t)
{
    int64_t ns;

    if (__builtin_mul_overflow((int64_t)t.tv_sec, NS_PER_S, &ns) ||
        __builtin_add_overflow(ns, (int64_t)t.tv_nsec, &ns))
        return t.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

bool vls_walk_is_settled(int64_t time_ns, int64_t clock_ns)
{
    int64_t step = time_ns % NS_PER_S == 0 ? COARSE_NS : 1;

    return clock_ns > INT64_MIN + COARSE_NS && time_ns <= clock_ns - step;
}

void vls_walk_set_stat(vls_cache_entry *e, int64_t clock_ns, int64_t mtime_ns, int64_t ctime_ns,
                       uint64_t inode, uint64_t device)
{
    bool sure = vls_walk_is_settled(mtime_ns, clock_ns) && vls_walk_is_settled(ctime_ns, clock_ns);

    e->unsure = !sure;
    e->mtime_ns = sure ? mtime_ns : 0;
    e->ctime_ns = sure ? ctime_ns : 0;
    e->inode = sure ? inode : 0;
    e->device = sure ? device : 0;
}

static void set_stat(const vls_walk_worker *w, vls_cache_entry *e, const struct stat *st)
{
    vls_walk_set_stat(e, w->queue->walk->clock_ns, vls_walk_ns(st->st_mtim),
                      vls_walk_ns(st->st_ctim), st->st_ino, st->st_dev);
}

static bool same_stat(const vls_cache_entry *e, const struct stat *st)
{
    return !e->unsure && e->size == (int64_t)st->st_size &&
           e->mtime_ns == vls_walk_ns(st->st_mtim) && e->ctime_ns == vls_walk_ns(st->st_ctim) &&
           e->inode == st->st_ino && e->device == st->st_dev;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mode == b->st_mode && a->st_ino == b->st_ino &&
           a->st_dev == b->st_dev && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* ---- what cannot be read ---- */

int vls_walk_set_unreadable(vls_walk_worker *w, const vls_walk_dir *dir, vls_walk_entry *entry,
                            const valise_error *why, valise_error *err)
{
    entry->e = (vls_cache_entry){.kind = VLS_NODE_UNREADABLE,
                                 .unsure = 1,
                                 .name_len = entry->e.name_len,
                                 .object = w->queue->unreadable};
    entry->dir = NULL;
    return vls_walk_problem(w, dir, entry->name, why, err);
}

/* After a call on the name has failed. */
static int failed(vls_walk_worker *w, vls_walk_inside *d, vls_walk_entry *entry, const char *what,
                  valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int error = errno;

    if (error == ENOENT) { /* it was there when the names were read */
        entry->e.kind = VLS_NODE_GONE;
        return DONE;
    }
    if (vls_walk_is_shortage(error))
        return vls_fail_errno(err, what, vls_str(entry->name, entry->e.name_len));
    (void)vls_report_errno(&why, what, vls_str(entry->name, entry->e.name_len));
    return vls_walk_set_unreadable(w, &d->dir, entry, &why, err);
}

/* ---- files ---- */

/* The SHA-256 of as many bytes as the file had (*left); *left: how many did not come. AGAIN with
 * errno: it cannot be read. */
static int hash_bytes(valise_id *out, int64_t *left, vls_walk_worker *w, int fd, valise_error *err)
{
    vls_hasher hasher;
    uint64_t told = 0;

    vls_hash_begin(&hasher);
    while (*left > 0) {
        ssize_t got = vls_fd_read(fd, w->buffer, VLS_WALK_BUFFER);
        if (got < 0)
            return AGAIN;
        if (got == 0 || got > *left)
            break;
        vls_hash_update(&hasher, vls_str(w->buffer, (size_t)got));
        *left -= got;
        told += (uint64_t)got;
        if (told >= (uint64_t)VLS_WALK_LARGE) {
            int rc;
            vls_walk_tell(w, 0, told);
            told = 0;
            rc = vls_walk_tick(w, err);
            if (rc < 0)
                return rc;
        }
    }
    vls_walk_tell(w, 0, told);
    vls_hash_end(out, &hasher);
    return 0;
}

static int set_file(vls_walk_worker *w, vls_walk_entry *entry, const valise_id *content,
                    const struct stat *st)
{
    vls_node node = {.kind = VLS_NODE_FILE,
                     .exec = (st->st_mode & S_IXUSR) != 0,
                     .size = (int64_t)st->st_size,
                     .content = *content};
    const vls_cache_entry *old = entry->old;

    if (old && old->kind == VLS_NODE_FILE && old->exec == node.exec &&
        vls_id_equal(&old->content, content))
        node.object = old->object;
    else
        vls_node_hash(&node);
    entry->e.kind = VLS_NODE_FILE;
    entry->e.exec = node.exec;
    entry->e.size = node.size;
    entry->e.content = *content;
    entry->e.object = node.object;
    set_stat(w, &entry->e, st);
    w->counts.hashed++;
    return DONE;
}

static int read_file(vls_walk_worker *w, vls_walk_inside *d, int dir_fd, vls_walk_entry *entry,
                     const struct stat *st, valise_error *err)
{
    VLS_AUTO(fd)
    int fd = vls_fd_open_at(dir_fd, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    int64_t left = (int64_t)st->st_size;
    struct stat after;
    valise_id content;
    int rc;

    if (fd < 0 && (errno == ELOOP || errno == ENXIO))
        return AGAIN; /* a link or a socket by now */
    if (fd < 0)
        return failed(w, d, entry, "open", err);
    rc = hash_bytes(&content, &left, w, fd, err);
    if (rc == AGAIN)
        return errno == EISDIR || errno == EAGAIN ? AGAIN : failed(w, d, entry, "read", err);
    if (rc < 0)
        return rc;
    if (vls_walk_stat(fd, &after) < 0)
        return failed(w, d, entry, "stat", err);
    if (left > 0 || !is_unchanged(st, &after))
        return AGAIN;
    return set_file(w, entry, &content, st);
}

static int look_at_file(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry,
                        const struct stat *st, bool large, valise_error *err)
{
    const vls_cache_entry *old = entry->old;
    vls_walk_job job = {
        .dir = d, .from = (uint32_t)(entry - d->dir.entries), .kind = VLS_WALK_FILE};

    if (old && old->kind == VLS_NODE_FILE && !w->queue->force && same_stat(old, st)) {
        entry->e = *old;
        return DONE;
    }
    if (!large && w->queue->walk->options->to_read)
        atomic_fetch_add_explicit(w->queue->walk->options->to_read, (uint64_t)st->st_size,
                                  memory_order_relaxed);
    if (large || w->queue->workers_len < 2 || st->st_size < VLS_WALK_LARGE)
        return read_file(w, d, fd, entry, st, err);
    job.to = job.from + 1;
    if (!vls_vec_push(&w->fresh, w->queue->env, job))
        return vls_fail_memory(err);
    atomic_fetch_add_explicit(&d->users, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->pending, 1, memory_order_relaxed);
    return DONE;
}

/* ---- links ---- */

static int look_at_link(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry,
                        const struct stat *st, valise_error *err)
{
    const vls_cache_entry *old = entry->old;
    vls_node node = {.kind = VLS_NODE_LINK};
    struct stat after;
    ssize_t len;
    int rc;

    if (old && old->kind == VLS_NODE_LINK && same_stat(old, st)) {
        entry->e = *old;
        entry->target = vls_cache_text(d->dir.old) + old->ref;
        return DONE;
    }
    do
        len = readlinkat(fd, entry->name, w->buffer, VLS_WALK_BUFFER);
    while (vls_fd_again(len));
    if (len < 0 && errno == EINVAL)
        return AGAIN;
    if (len < 0)
        return failed(w, d, entry, "read the link", err);
    rc = vls_arena_dup(&node.target, &w->arena, vls_str(w->buffer, (size_t)len), err);
    if (rc < 0)
        return rc;
    vls_node_hash(&node);
    entry->target = node.target.ptr;
    entry->e.kind = VLS_NODE_LINK;
    entry->e.size = (int64_t)node.target.len;
    entry->e.object = node.object;
    if (vls_walk_stat_at(fd, entry->name, &after) < 0)
        return failed(w, d, entry, "stat", err);
    if (!is_unchanged(st, &after))
        return AGAIN;
    set_stat(w, &entry->e, st);
    return DONE;
}

/* ---- directories, and which of these it is ---- */

static int begin_dir(vls_walk_worker *w, vls_walk_inside *d, vls_walk_entry *entry,
                     valise_error *err)
{
    vls_walk_inside *child = NULL;
    int rc = vls_walk_new_dir(&child, w, d, entry, err);

    if (rc < 0)
        return rc;
    if (!vls_vec_push(&w->fresh, w->queue->env, (vls_walk_job){.dir = child, .kind = VLS_WALK_DIR}))
        return vls_fail_memory(err);
    atomic_fetch_add_explicit(&d->users, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->pending, 1, memory_order_relaxed);
    return DONE;
}

static int look_at(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry,
                   const struct stat *st, bool large, valise_error *err)
{
    if (S_ISREG(st->st_mode))
        return look_at_file(w, d, fd, entry, st, large, err);
    if (S_ISLNK(st->st_mode))
        return look_at_link(w, d, fd, entry, st, err);
    if (S_ISDIR(st->st_mode))
        return begin_dir(w, d, entry, err);
    entry->e.kind = VLS_NODE_GONE;
    w->counts.skipped++;
    return DONE;
}

int vls_walk_look(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry, bool large,
                  valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    if (entry->type == DT_DIR)
        return begin_dir(w, d, entry, err);
    for (unsigned tries = 0; tries < VLS_WALK_TRIES; tries++) {
        struct stat st;
        int rc;
        if (vls_walk_stat_at(fd, entry->name, &st) < 0)
            return failed(w, d, entry, "stat", err);
        rc = look_at(w, d, fd, entry, &st, large, err);
        if (rc != AGAIN)
            return rc;
    }
    (void)vls_fail(&why, VALISE_E_BUSY, "it changed while it was read, %u times in a row",
                   VLS_WALK_TRIES);
    return vls_walk_set_unreadable(w, &d->dir, entry, &why, err);
}
