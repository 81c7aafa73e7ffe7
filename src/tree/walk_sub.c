/* walk_sub.c -- walk one path: the directories above it are taken from the old tree; see walk.h.
 *
 * From the root down, as far as both the old tree and the disk have directories that no rule leaves
 * out, each becomes a partial directory: a copy of the old entries, one of which is looked at.
 * Where that ends, or at the path itself, lies what is walked. So a path whose directory is new,
 * gone or ignored since makes the walk wider, up to what has really changed; and so does the last
 * entry of a directory when it goes, and a rule file, which speaks of all that is beside it. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tree/walk_impl.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* ---- partial directories ---- */

/* Where the name is or belongs among the old entries. */
static uint32_t place_of(const vls_cache_record *old, valise_str name)
{
    uint32_t low = 0, high = old->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (vls_str_compare(vls_cache_name(old, &old->entries[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void copy_entry(vls_walk_entry *to, const vls_cache_record *old, const vls_cache_entry *e)
{
    *to = (vls_walk_entry){.e = *e, .old = e, .name = vls_cache_name(old, e).ptr};
    if (e->kind == VLS_NODE_LINK)
        to->target = vls_cache_text(old) + e->ref;
}

/* The old entries of the directory, and the one with that name to be filled. */
static int copy_old(vls_walk_entry **out, vls_walk_worker *w, vls_walk_inside *d, valise_str name,
                    valise_error *err)
{
    const vls_cache_record *old = d->dir.old;
    uint32_t place = place_of(old, name);
    const vls_cache_entry *same =
        place < old->count && vls_str_equal(vls_cache_name(old, &old->entries[place]), name)
            ? &old->entries[place]
            : NULL;
    uint32_t count = old->count + (same == NULL);
    vls_walk_entry *entries = vls_arena_array(&w->arena, count, sizeof(*entries));
    valise_str copy;
    int rc;

    if (!entries)
        return vls_arena_fail(&w->arena, err);
    rc = vls_arena_dup(&copy, &w->arena, name, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < place; i++)
        copy_entry(&entries[i], old, &old->entries[i]);
    entries[place] = (vls_walk_entry){
        .e = {.name_len = (uint8_t)name.len}, .old = same, .name = copy.ptr, .type = DT_UNKNOWN};
    for (uint32_t i = place + 1; i < count; i++)
        copy_entry(&entries[i], old, &old->entries[i - (same == NULL)]);
    d->dir.entries = entries;
    d->dir.count = count;
    d->partial = true;
    *out = &entries[place];
    return 0;
}

/* ---- down to the path ---- */

static bool is_rule_file(valise_str name)
{
    return vls_str_equal(name, VLS_STR(".gitignore")) ||
           vls_str_equal(name, VLS_STR(".valiseignore"));
}

/* Whether the entry is a directory in which one can go on: then it is opened, else *fd is -1. */
static int go_down(int *fd, vls_walk_worker *w, vls_walk_inside *d, int dir_fd,
                   vls_walk_entry *entry, valise_error *err)
{
    uint8_t type = DT_DIR;
    bool left_out = false;
    struct stat st;
    int rc;

    *fd = -1;
    if (!entry->old || entry->old->kind != VLS_NODE_DIR)
        return 0;
    rc = vls_walk_admit(w, d, dir_fd, vls_str(entry->name, entry->e.name_len), &type, &left_out,
                        err);
    if (left_out)
        w->counts.ignored--; /* it is counted when it is looked at */
    if (rc <= 0)
        return rc;
    *fd = vls_fd_open_at(dir_fd, entry->name, DIR_FLAGS, 0);
    if (*fd < 0)
        return vls_walk_is_shortage(errno) ? vls_fail_errno(err, "open", d->dir.path) : 0;
    if (vls_walk_stat(*fd, &st) < 0 || (w->queue->has_store && st.st_ino == w->queue->store_inode &&
                                        st.st_dev == w->queue->store_device))
        *fd = vls_fd_close(*fd);
    return 0;
}

/* What the walk begins with: the entry itself. */
static int begin_at(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_walk_entry *entry,
                    valise_error *err)
{
    vls_walk_job job = {
        .dir = d, .from = (uint32_t)(entry - d->dir.entries), .kind = VLS_WALK_RANGE_OF};
    struct stat st;
    int rc = 0;

    entry->e.kind = VLS_NODE_GONE;
    if (vls_walk_stat_at(fd, entry->name, &st) == 0)
        rc = vls_walk_admit(w, d, fd, vls_str(entry->name, entry->e.name_len), &entry->type,
                            &entry->left_out, err);
    else if (errno != ENOENT)
        rc = 1; /* the look will say why */
    if (rc < 0)
        return rc;
    job.to = job.from + (rc > 0);
    return vls_vec_push(&w->fresh, w->queue->env, job) ? 0 : vls_fail_memory(err);
}

/* The rules of a directory that is open, whichever files it has. */
static int enter_rules(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_ignore *above,
                       valise_error *err)
{
    struct stat st;

    return vls_walk_read_rules(w, d, fd, above, vls_walk_stat_at(fd, ".gitignore", &st) == 0,
                               vls_walk_stat_at(fd, ".valiseignore", &st) == 0, err);
}

/* From the directory that is open as fd on. It takes the descriptor. */
static int descend(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_str path,
                   valise_error *err)
{
    vls_ignore *above = w->queue->rules;

    while (true) {
        size_t slash = vls_str_find_byte(path, '/');
        vls_walk_entry *entry = NULL;
        vls_walk_inside *child = NULL;
        int next = -1, rc;

        assert(path.ptr); /* what is left of a path, which does not end in a slash */
        d->fd = fd;       /* given back when the one job in it is done */
        rc = enter_rules(w, d, fd, above, err);
        if (rc == 0)
            rc = copy_old(&entry, w, d, vls_str_head(path, slash), err);
        if (rc == 0 && slash < path.len)
            rc = go_down(&next, w, d, fd, entry, err);
        if (rc < 0)
            return rc;
        assert(entry);
        if (next < 0)
            return begin_at(w, d, fd, entry, err);
        rc = vls_walk_new_dir(&child, w, d, entry, err);
        if (rc < 0) {
            (void)vls_fd_close(next);
            return rc;
        }
        vls_walk_leave(w, d);
        above = d->rules;
        d = child;
        fd = next;
        atomic_fetch_add_explicit(&w->queue->open, 1, memory_order_relaxed);
        path = vls_str_from(path, slash + 1);
    }
}

int vls_walk_run_sub(valise_str *wider, vls_walk *walk, valise_str sub, valise_error *err)
{
    vls_walk_queue *q = walk->queue;
    vls_walk_worker *w = &q->workers[0];
    vls_walk_inside *root = NULL;
    int rc;

    assert(walk->old->bytes && sub.len > 0);
    if (is_rule_file(vls_path_name(sub))) {
        *wider = vls_path_parent(sub);
        return 1;
    }
    rc = vls_walk_new_dir(&root, w, NULL, &walk->root, err);
    if (rc < 0)
        return rc;
    walk->root.old = &vls_cache_head(walk->old)->root;
    root->dir.old = vls_cache_root(walk->old);
    rc = descend(w, root, q->root_fd, sub, err);
    if (rc == 0)
        rc = vls_walk_run_jobs(walk, err);
    if (rc == 0 && q->wider.ptr) {
        *wider = q->wider;
        rc = 1;
    }
    return rc;
}
