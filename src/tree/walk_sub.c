/* walk_sub.c -- walk some paths: the directories above them are taken from the old tree; see
 * walk.h.
 *
 * From the root down, as far as both the old tree and the disk have directories that no rule leaves
 * out, each becomes a partial directory: a copy of the old entries, of which those are looked at
 * that lead to one of the paths. Where that ends, or at the path itself, lies what is walked. So a
 * path whose directory is new, gone or ignored since makes the walk wider, up to what has really
 * changed; and so does the last entry of a directory when it goes.
 *
 * The paths are in order, so those below a directory are a range of them. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "tree/walk_impl.h"

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

/* Paths of the list that lie in a directory: what is left of each is behind `skip` bytes. */
typedef struct part {
    vls_walk_inside *d;
    vls_ignore *above;
    size_t from, to, skip;
} part;

typedef struct descent {
    vls_walk_worker *w;
    const valise_str *subs;
    vls_vec(part) parts;
} descent;

/* The name in the directory that leads to a path. */
static valise_str name_at(const descent *s, const part *p, size_t i)
{
    valise_str sub = s->subs[i], left;

    assert(p->skip < sub.len); /* it goes on within the directory */
    left = (valise_str){sub.ptr + p->skip, sub.len - p->skip};
    return vls_str_head(left, vls_str_find_byte(left, '/'));
}

/* The end of those that begin with the same name. */
static size_t end_of_name(const descent *s, const part *p, size_t i)
{
    valise_str name = name_at(s, p, i);

    while (i < p->to && vls_str_equal(name_at(s, p, i), name))
        i++;
    return i;
}

static int add_target(vls_walk_entry *to, vls_walk_worker *w, const vls_cache_record *old,
                      uint32_t place, valise_str name, valise_error *err)
{
    valise_str copy;
    int rc = vls_arena_dup(&copy, &w->arena, name, err);

    if (rc < 0)
        return rc;
    *to = (vls_walk_entry){
        .e = {.name_len = (uint8_t)name.len}, .name = copy.ptr, .type = DT_UNKNOWN, .wanted = true};
    if (place < old->count && vls_str_equal(vls_cache_name(old, &old->entries[place]), name))
        to->old = &old->entries[place];
    return 0;
}

/* The old entries of the directory, and those that are wanted to be filled. */
static int copy_old(descent *s, const part *p, valise_error *err)
{
    const vls_cache_record *old = p->d->dir.old;
    vls_walk_entry *entries =
        vls_arena_array(&s->w->arena, old->count + (p->to - p->from), sizeof(*entries));
    uint32_t at = 0, count = 0;

    if (!entries)
        return vls_arena_fail(&s->w->arena, err);
    for (size_t i = p->from; i < p->to; i = end_of_name(s, p, i)) {
        valise_str name = name_at(s, p, i);
        uint32_t place = place_of(old, name);
        int rc;
        while (at < place)
            copy_entry(&entries[count++], old, &old->entries[at++]);
        rc = add_target(&entries[count], s->w, old, place, name, err);
        if (rc < 0)
            return rc;
        at += entries[count++].old != NULL;
    }
    while (at < old->count)
        copy_entry(&entries[count++], old, &old->entries[at++]);
    p->d->dir.entries = entries;
    p->d->dir.count = count;
    p->d->partial = true;
    return 0;
}

/* ---- down to the path ---- */

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
    *fd = vls_fd_open_at(dir_fd, entry->name, VLS_WALK_DIR_FLAGS, 0);
    if (*fd < 0)
        return vls_walk_is_shortage(errno) ? vls_fail_errno(err, "open", d->dir.path) : 0;
    if (vls_walk_stat(*fd, &st) < 0 || vls_walk_is_store(w->queue, &st))
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

/* One wanted entry: a directory that leads further, or where the walk begins. */
static int go_on(descent *s, const part *p, vls_walk_entry *entry, size_t from, size_t to,
                 valise_error *err)
{
    vls_walk_worker *w = s->w;
    vls_walk_inside *child = NULL;
    part next = {.from = from, .to = to, .skip = p->skip + entry->e.name_len + 1u};
    int fd = -1, rc = 0;

    if (s->subs[from].len >= next.skip)
        rc = go_down(&fd, w, p->d, p->d->fd, entry, err);
    if (rc < 0)
        return rc;
    if (fd < 0) {
        atomic_fetch_add_explicit(&p->d->users, 1, memory_order_relaxed);
        return begin_at(w, p->d, p->d->fd, entry, err);
    }
    rc = vls_walk_new_dir(&child, w, p->d, entry, err);
    if (rc < 0) {
        (void)vls_fd_close(fd);
        return rc;
    }
    child->fd = fd;
    atomic_fetch_add_explicit(&w->queue->open, 1, memory_order_relaxed);
    next.d = child;
    next.above = p->d->rules;
    return vls_vec_push(&s->parts, w->queue->env, next) ? 0 : vls_fail_memory(err);
}

/* One directory: its descriptor is given back when the jobs in it are done. */
static int split(descent *s, const part *p, valise_error *err)
{
    vls_walk_inside *d = p->d;
    unsigned wanted = 0;
    size_t i = p->from;
    int rc;

    vls_walk_enter(s->w, d, d->fd);
    rc = enter_rules(s->w, d, d->fd, p->above, err);
    if (rc == 0)
        rc = copy_old(s, p, err);
    for (uint32_t k = 0; rc == 0 && k < d->dir.count; k++) {
        size_t end;
        if (!d->dir.entries[k].wanted)
            continue;
        end = end_of_name(s, p, i);
        rc = go_on(s, p, &d->dir.entries[k], i, end, err);
        i = end;
        wanted++;
    }
    if (rc < 0)
        return rc;
    assert(wanted > 0 && i == p->to);
    atomic_fetch_add_explicit(&d->pending, wanted - 1, memory_order_relaxed);
    vls_walk_leave(s->w, d);
    return 0;
}

int vls_walk_run_subs(vls_walk *walk, const valise_str *subs, size_t count, valise_error *err)
{
    vls_walk_queue *q = walk->queue;
    descent s = {.w = &q->workers[0], .subs = subs};
    part first = {.above = q->rules, .to = count};
    int rc;

    assert(walk->old->bytes && count > 0);
    rc = vls_walk_new_dir(&first.d, s.w, NULL, &walk->root, err);
    if (rc < 0)
        return rc;
    walk->root.old = &vls_cache_head(walk->old)->root;
    first.d->dir.old = vls_cache_root(walk->old);
    first.d->fd = q->root_fd;
    if (!vls_vec_push(&s.parts, q->env, first))
        return vls_fail_memory(err);
    while (rc == 0 && s.parts.len > 0) {
        part p = s.parts.ptr[--s.parts.len];
        rc = split(&s, &p, err);
    }
    vls_vec_release(&s.parts, q->env);
    if (rc == 0)
        rc = vls_walk_run_jobs(walk, err);
    return rc < 0 ? rc : q->wider.len > 0;
}
