/* set.c -- see set.h. */
#include "watch/set.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tree/node.h"

#define MASK                                                                                       \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE |            \
     IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

#define BESIDE_MASK (IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)

/* One block: the path is behind it. */
typedef struct watch_item {
    struct watch_item *next; /* of those that go */
    int number;
    uint64_t generation;
    size_t path_len;
    char path[];
} watch_item;

static bool has_number(const void *item, const void *key)
{
    return ((const watch_item *)item)->number == *(const int *)key;
}

static uint64_t hash_of(int number)
{
    uint64_t x = (uint64_t)(unsigned)number * UINT64_C(0x9e3779b97f4a7c15);

    return x ^ x >> 32;
}

static watch_item *find(const vls_watch_set *set, int number)
{
    return vls_map_get(&set->by_number, hash_of(number), &number);
}

static valise_str path_of(const watch_item *item)
{
    return vls_str(item->path, item->path_len);
}

static void free_item(const vls_watch_set *set, watch_item *item)
{
    if (item)
        vls_mem_free(set->env, item, sizeof(*item) + item->path_len);
}

static void drop_items(vls_watch_set *set, watch_item *first)
{
    while (first) {
        watch_item *item = first;
        int number = item->number;
        first = item->next;
        (void)vls_map_remove(&set->by_number, hash_of(number), &number);
        (void)inotify_rm_watch(set->fd, number);
        free_item(set, item);
    }
}

void vls_watch_set_init(vls_watch_set *set, const valise_env *env, size_t limit)
{
    *set = (vls_watch_set){.env = env, .limit = limit};
    set->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (set->fd < 0)
        set->shortage = errno;
    vls_map_init(&set->by_number, env, has_number);
    (void)pthread_mutex_init(&set->lock, NULL);
}

void vls_watch_set_release(vls_watch_set *set)
{
    size_t at = 0;
    watch_item *item;

    while ((item = vls_map_next(&set->by_number, &at)) != NULL)
        free_item(set, item);
    vls_map_release(&set->by_number);
    set->fd = vls_fd_close(set->fd);
    (void)pthread_mutex_destroy(&set->lock);
}

/* ---- while a walk goes on ---- */

/* -1 with errno. By the descriptor: a path could be a link by now. */
static int add_watch(const vls_watch_set *set, int fd)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    return inotify_add_watch(set->fd, name, MASK);
}

static bool put(vls_watch_set *set, int number, valise_str path)
{
    watch_item *item = vls_mem_alloc(set->env, sizeof(*item) + path.len);
    void *old = NULL;

    if (!item)
        return false;
    *item = (watch_item){.number = number, .generation = set->generation, .path_len = path.len};
    if (path.len > 0)
        memcpy(item->path, path.ptr, path.len);
    if (vls_map_put(&old, &set->by_number, hash_of(number), &number, item) < 0) {
        free_item(set, item);
        return false;
    }
    free_item(set, old);
    return true;
}

static void enter(vls_watch_set *set, valise_str path, int fd)
{
    int number = add_watch(set, fd);
    watch_item *item = number >= 0 ? find(set, number) : NULL;

    if (number < 0) {
        if (errno != ENOENT && errno != ENOTDIR) /* it is not there any more: somebody heard */
            set->shortage = errno;
        return;
    }
    if (!item && set->limit > 0 && set->by_number.len >= set->limit) {
        (void)inotify_rm_watch(set->fd, number);
        set->shortage = ENOSPC;
        return;
    }
    if (item && vls_str_equal(path_of(item), path)) {
        item->generation = set->generation;
    } else if (!put(set, number, path)) {
        (void)inotify_rm_watch(set->fd, number);
        set->shortage = ENOMEM;
    }
}

void vls_watch_set_enter(vls_watch_set *set, valise_str path, int fd)
{
    if (set->fd < 0)
        return;
    (void)pthread_mutex_lock(&set->lock);
    enter(set, path, fd);
    (void)pthread_mutex_unlock(&set->lock);
}

void vls_watch_set_begin(vls_watch_set *set)
{
    set->generation++;
    if (set->fd >= 0)
        set->shortage = 0;
}

void vls_watch_set_sweep(vls_watch_set *set)
{
    size_t at = 0;
    watch_item *item, *first = NULL;

    while ((item = vls_map_next(&set->by_number, &at)) != NULL) {
        if (item->generation == set->generation)
            continue;
        item->next = first;
        first = item;
    }
    drop_items(set, first);
}

int vls_watch_set_beside(const vls_watch_set *set, const char *folder)
{
    return set->fd < 0 ? -1 : inotify_add_watch(set->fd, folder, BESIDE_MASK);
}

/* ---- what the kernel says ---- */

bool vls_watch_set_path(valise_str *out, const vls_watch_set *set, int number)
{
    const watch_item *item = find(set, number);

    if (item)
        *out = path_of(item);
    return item != NULL;
}

void vls_watch_set_forget(vls_watch_set *set, int number)
{
    free_item(set, vls_map_remove(&set->by_number, hash_of(number), &number));
}

void vls_watch_set_drop(vls_watch_set *set, valise_str path)
{
    size_t at = 0;
    watch_item *item, *first = NULL;

    while ((item = vls_map_next(&set->by_number, &at)) != NULL) {
        if (!vls_path_is_under(path_of(item), path))
            continue;
        item->next = first;
        first = item;
    }
    drop_items(set, first);
}
