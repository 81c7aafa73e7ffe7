/* queue.c -- see queue.h. A binary heap. */
#include "derive/queue.h"

#include "base/str.h"
#include "tree/node.h"

static bool is_task(const void *item, const void *key)
{
    const vls_task *a = item, *b = key;

    return vls_str_equal(a->path, b->path) && vls_str_equal(a->type, b->type);
}

uint64_t vls_task_hash(valise_str path, valise_str type)
{
    return vls_str_hash(path, vls_str_hash(type, 0));
}

void vls_queue_init(vls_queue *queue, const valise_env *env, vls_arena *arena)
{
    *queue = (vls_queue){.env = env, .arena = arena};
    vls_map_init(&queue->seen, env, is_task);
}

void vls_queue_release(vls_queue *queue)
{
    if (!queue->env)
        return;
    vls_map_release(&queue->seen);
    vls_vec_release(&queue->heap, queue->env);
    queue->env = NULL;
}

/* Does a come before b? */
static bool is_first(const vls_task *a, const vls_task *b)
{
    int order = vls_path_compare(a->path, b->path);

    return order != 0 ? order > 0 : vls_str_compare(a->type, b->type) < 0;
}

static void swap(vls_queue *queue, size_t a, size_t b)
{
    vls_task *kept = queue->heap.ptr[a];

    queue->heap.ptr[a] = queue->heap.ptr[b];
    queue->heap.ptr[b] = kept;
}

int vls_queue_add(vls_queue *queue, valise_str path, valise_str type, valise_error *err)
{
    vls_task key = {path, type}, *task;
    uint64_t hash = vls_task_hash(path, type);
    size_t at = queue->heap.len;
    int rc;

    if (vls_map_get(&queue->seen, hash, &key))
        return 0;
    task = vls_arena_alloc(queue->arena, sizeof(*task));
    if (!task)
        return vls_arena_fail(queue->arena, err);
    rc = vls_arena_dup(&task->path, queue->arena, path, err);
    if (rc == 0)
        rc = vls_arena_dup(&task->type, queue->arena, type, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push(&queue->heap, queue->env, task))
        return vls_fail_memory(err);
    if (vls_map_put(NULL, &queue->seen, hash, &key, task) < 0) {
        queue->heap.len--;
        return vls_fail_memory(err);
    }
    for (; at > 0 && is_first(task, queue->heap.ptr[(at - 1) / 2]); at = (at - 1) / 2)
        swap(queue, at, (at - 1) / 2);
    return 0;
}

const vls_task *vls_queue_take(vls_queue *queue)
{
    vls_task *first;
    size_t at = 0, last;

    if (queue->heap.len == 0)
        return NULL;
    first = queue->heap.ptr[0];
    last = --queue->heap.len;
    queue->heap.ptr[0] = queue->heap.ptr[last];
    for (;;) {
        size_t next = at, left = 2 * at + 1;
        for (size_t child = left; child < left + 2 && child < last; child++) {
            if (is_first(queue->heap.ptr[child], queue->heap.ptr[next]))
                next = child;
        }
        if (next == at)
            return first;
        swap(queue, at, next);
        at = next;
    }
}
