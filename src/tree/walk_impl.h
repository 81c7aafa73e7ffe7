/* walk_impl.h -- shared by the files of the walk.
 *
 * Threads: a worker is single. A directory belongs first to the job that reads its names, then to
 * the jobs of its entries (each to its own entry), and at last to whoever completes it. The queue
 * is shared. */
#ifndef VLS_TREE_WALK_IMPL_H
#define VLS_TREE_WALK_IMPL_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/hash.h"
#include "tree/walk.h"

#define VLS_WALK_BUFFER ((size_t)128 * 1024) /* to read with */
#define VLS_WALK_RANGE 512u                  /* entries of one job */
#define VLS_WALK_LARGE ((int64_t)1 << 20)    /* a file that is a job of its own */
#define VLS_WALK_MAX_OPEN 64u                /* directories that stay open */

/* How directories are opened: never through a link. */
#define VLS_WALK_DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* What a directory has while it is walked. */
typedef struct vls_walk_inside {
    vls_walk_dir dir;
    struct vls_walk_inside *next; /* of those that its worker made */
    vls_ignore *rules;            /* in it */
    int fd;                       /* -1: open it again */
    atomic_uint users;            /* of fd: jobs that will need it */
    atomic_uint pending;          /* what has to be over before the directory is */
    bool partial;                 /* some entries are looked at; the others are as they were */
    bool left_out;                /* something in it was, by a rule */
    unsigned tries;
    int64_t mtime_ns, ctime_ns;
    uint64_t inode, device;
} vls_walk_inside;

typedef enum vls_walk_kind { VLS_WALK_DIR, VLS_WALK_RANGE_OF, VLS_WALK_FILE } vls_walk_kind;

typedef struct vls_walk_job {
    vls_walk_inside *dir;
    uint32_t from, to; /* entries */
    vls_walk_kind kind;
} vls_walk_job;

/* A name as the directory gives it. */
typedef struct vls_walk_name {
    uint64_t key; /* its first 8 bytes, big endian: most comparisons end here */
    size_t at;    /* in the text */
    uint8_t len, type;
} vls_walk_name;

typedef struct vls_walk_worker {
    struct vls_walk_queue *queue;
    pthread_t thread;
    bool is_caller;
    vls_arena arena; /* of what the walk found; nothing in it goes before the walk does */
    vls_walk_inside *dirs;
    char *buffer;
    vls_vec(vls_walk_name) names;
    vls_buf text, path, rules[2];
    vls_vec(vls_walk_job) fresh; /* jobs to put on the stack */
    vls_vec(vls_scan_problem) problems;
    vls_walk_counts counts;
    atomic_uint_fast64_t entries, bytes; /* for step */
} vls_walk_worker;

typedef struct vls_walk_queue {
    vls_walk *walk;
    const valise_env *env;
    int root_fd;
    bool has_store, force;
    dev_t store_device;
    ino_t store_inode;
    valise_id unreadable; /* object */
    vls_ignore *rules;    /* of the workspace */
    atomic_uint open;     /* directories */
    atomic_bool stop;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work;
    vls_vec(vls_walk_job) jobs;
    vls_vec(valise_str) wider; /* partial directories that have no entries any more */
    unsigned busy, idle;
    int code;
    valise_error error;

    uint64_t told_entries, told_bytes; /* to step */
    unsigned workers_len;              /* a thread each, the caller included */
    vls_walk_worker *workers;
} vls_walk_queue;

static inline int vls_walk_stat(int fd, struct stat *st)
{
    int rc;

    do
        rc = fstat(fd, st);
    while (vls_fd_again(rc));
    return rc;
}

/* Of a link, not of what it leads to. */
static inline int vls_walk_stat_at(int fd, const char *name, struct stat *st)
{
    int rc;

    do
        rc = fstatat(fd, name, st, AT_SYMLINK_NOFOLLOW);
    while (vls_fd_again(rc));
    return rc;
}

/* ---- walk.c ---- */

static inline bool vls_walk_stopped(const vls_walk_worker *w)
{
    return atomic_load_explicit(&w->queue->stop, memory_order_relaxed);
}

static inline void vls_walk_tell(vls_walk_worker *w, uint64_t entries, uint64_t bytes)
{
    atomic_fetch_add_explicit(&w->entries, entries, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->bytes, bytes, memory_order_relaxed);
}

/* Do what is fresh, and all that comes of it. */
int vls_walk_run_jobs(vls_walk *walk, valise_error *err);

/* Now and then within long work: VALISE_E_CANCELLED when it shall end. */
int vls_walk_tick(vls_walk_worker *w, valise_error *err);

/* Put what is fresh on the stack. */
int vls_walk_push(vls_walk_worker *w, valise_error *err);

/* What could not be read. dir, and a name in it or NULL. */
int vls_walk_problem(vls_walk_worker *w, const vls_walk_dir *dir, const char *name,
                     const valise_error *why, valise_error *err);

/* Whether errno says that the process lacks something, not the file. */
bool vls_walk_is_shortage(int error);

/* ---- walk_dir.c ---- */

/* The directory at a path below one that is open, name by name: none of them may have become a
 * link. "": top itself. -1 with errno. */
int vls_walk_open_below(int top, valise_str path);

/* Is it the folder that is left out? */
bool vls_walk_is_store(const vls_walk_queue *q, const struct stat *st);

/* Tell who wants to know, before its names are read. */
void vls_walk_enter(const vls_walk_worker *w, const vls_walk_inside *d, int fd);

/* A directory that an entry is; the root's has no parent. */
int vls_walk_new_dir(vls_walk_inside **out, vls_walk_worker *w, vls_walk_inside *parent,
                     vls_walk_entry *entry, valise_error *err);
int vls_walk_do_dir(vls_walk_worker *w, vls_walk_inside *d, valise_error *err);
int vls_walk_do_range(vls_walk_worker *w, vls_walk_inside *d, uint32_t from, uint32_t to,
                      bool large, valise_error *err);

/* The bytes of a rule file. 1, errno: it is there and cannot be read. A link, or what is no plain
 * file, has no rules. */
int vls_walk_read_rule_file(vls_buf *out, int dir_fd, const char *name, valise_error *err);

/* Rules in a directory that is open, from its files and from those above. */
int vls_walk_read_rules(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_ignore *above,
                        bool has_git, bool has_own, valise_error *err);

/* Whether a name is to be looked at: no rule leaves it out, its path is not too long, it is no
 * socket. type: DT_UNKNOWN becomes what it is. 1, 0. */
int vls_walk_admit(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_str name, uint8_t *type,
                   bool *left_out, valise_error *err);

/* One job that may use the directory's descriptor is over. */
void vls_walk_leave(vls_walk_worker *w, vls_walk_inside *d);

/* ---- walk_file.c ---- */

/* Fill an entry. A directory becomes a fresh job; with large, a file is read whatever its size. */
int vls_walk_look(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry, bool large,
                  valise_error *err);
int vls_walk_set_unreadable(vls_walk_worker *w, const vls_walk_dir *dir, vls_walk_entry *entry,
                            const valise_error *why, valise_error *err);
int64_t vls_walk_ns(struct timespec t);
void vls_walk_set_stat(vls_cache_entry *e, int64_t clock_ns, int64_t mtime_ns, int64_t ctime_ns,
                       uint64_t inode, uint64_t device);

/* ---- walk_end.c ---- */

/* One thing of the directory is over; if it was the last, finish it, and those above. */
int vls_walk_over(vls_walk_worker *w, vls_walk_inside *d, valise_error *err);

#endif
