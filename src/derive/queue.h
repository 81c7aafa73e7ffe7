/* queue.h -- slots to be looked at, each once, those of deeper paths first.
 *
 * The order is that of vls_path_compare backwards: everything under a directory comes before it.
 * What is added while the queue runs lies above what was taken last, so nothing comes too late.
 *
 * Threads: single. */
#ifndef VLS_DERIVE_QUEUE_H
#define VLS_DERIVE_QUEUE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

typedef struct vls_task {
    valise_str path, type;
} vls_task;

typedef struct vls_queue {
    const valise_env *env;
    vls_arena *arena; /* of the tasks */
    vls_map seen;
    vls_vec(vls_task *) heap;
} vls_queue;

void vls_queue_init(vls_queue *queue, const valise_env *env, vls_arena *arena);
void vls_queue_release(vls_queue *queue); /* a zeroed one is fine */

/* One that was in it before is not taken again. */
int vls_queue_add(vls_queue *queue, valise_str path, valise_str type, valise_error *err);

/* The next one, or NULL. */
const vls_task *vls_queue_take(vls_queue *queue);

uint64_t vls_task_hash(valise_str path, valise_str type);

#endif
