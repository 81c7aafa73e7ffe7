/* behind.c -- write-behind: packs wait, and are kept together.
 *
 * What waits are commands, in the order they came; flush dispatches them as one batch, all or none.
 * Whatever else is done through the backpack flushes first, so nobody who uses it can tell the
 * difference, except in what a crash takes away and in when an error shows: a pack that is refused
 * is refused by the flush. That one is taken out, for trying again would refuse it again and hold
 * up all who share the queue. What could not be kept for another reason waits on;
 * valise_backpack_close drops it.
 *
 *     list     [ a b c | d e ]      `sent` of them are being dispatched, by one thread, without
 *                ^sent                the lock: whoever is told of them may pack again
 *
 * Another thread that flushes waits for that one. The thread itself, called back by an event of
 * what it has just kept, goes on behind it.
 *
 * The end of a node's run goes along with what waits, in the same transaction: one command more,
 * and those of the engine that belong to it. They never wait themselves: where the flush fails
 * nothing is left of them. */
#include <pthread.h>

#include "backpack/handle.h"

#include "base/mem.h"
#include "base/vec.h"

#define FLUSH_COUNT 1000u
#define FLUSH_BYTES ((size_t)8 << 20)
#define MOSTLY_BYTES ((size_t)1 << 10) /* of the arguments of one */

/* One that waits; the texts stand behind it, in the same block. */
typedef struct waiting {
    size_t size; /* of the block */
    bool over;   /* it was kept, or refused */
    valise_command command;
    valise_call call;
    char texts[];
} waiting;

struct vls_behind {
    const valise_env *env;
    valise *v;
    valise_str name;      /* of the backpack */
    pthread_mutex_t lock; /* over the rest */
    pthread_cond_t done;  /* a flush is over */
    vls_vec(waiting *) list;
    size_t bytes;
    size_t sent; /* of list, by: */
    pthread_t flusher;
    unsigned depth;      /* flushes of that thread, one inside the other; 0: nobody flushes */
    valise_error untold; /* a refusal that nobody has heard of; code 0: none */
};

int vls_behind_new(struct vls_behind **out, valise_backpack *bag, valise_error *err)
{
    struct vls_behind *behind = vls_mem_zalloc(bag->env, sizeof(*behind));

    if (!behind)
        return vls_fail_memory(err);
    behind->env = bag->env;
    behind->v = bag->v;
    behind->name = bag->name;
    behind->untold = (valise_error)VALISE_ERROR_INIT;
    (void)pthread_mutex_init(&behind->lock, NULL);
    (void)pthread_cond_init(&behind->done, NULL);
    *out = behind;
    return 0;
}

/* Those that are over go, or all. */
static void forget(struct vls_behind *b, bool all)
{
    size_t left = 0;

    for (size_t i = 0; i < b->list.len; i++) {
        waiting *w = b->list.ptr[i];
        if (!w->over && !all) {
            b->list.ptr[left++] = w;
            continue;
        }
        b->bytes -= w->size;
        vls_mem_free(b->env, w, w->size);
    }
    b->list.len = left;
}

void vls_behind_free(struct vls_behind *behind)
{
    const valise_env *env;

    if (!behind)
        return;
    env = behind->env;
    assert(behind->depth == 0);
    forget(behind, true);
    vls_vec_release(&behind->list, env);
    (void)pthread_cond_destroy(&behind->done);
    (void)pthread_mutex_destroy(&behind->lock);
    vls_mem_free(env, behind, sizeof(*behind));
}

/* ---- flushing ---- */

/* What goes along, behind what waits: the last command, and those of the engine. */
typedef struct rider {
    const waiting *last;
    const vls_run_item *more;
    size_t count;
    valise_call call; /* of the engine's */
} rider;

/* Dispatch what is not over of list[first, end): the commands stay where they are, whatever is
 * added meanwhile. rider: NULL, or what goes along. */
static int send(struct vls_behind *b, size_t first, size_t end, const rider *along,
                valise_error *err)
{
    size_t count = 0, size = (end - first + 1) * sizeof(valise_command);
    valise_command *commands = vls_mem_alloc(b->env, size);
    int rc;

    if (!commands)
        return vls_fail_memory(err);
    for (size_t i = first; i < end; i++) {
        waiting *w = b->list.ptr[i];
        if (w->over)
            continue;
        commands[count] = w->command;
        commands[count++].call = &w->call;
    }
    if (along) {
        commands[count] = along->last->command;
        commands[count++].call = &along->last->call;
    }
    (void)pthread_mutex_unlock(&b->lock);
    rc = along ? vls_dispatch_with(b->v, commands, count, along->more, along->count, &along->call,
                                   err)
               : valise_dispatch_batch(NULL, b->v, commands, count, NULL, err);
    (void)pthread_mutex_lock(&b->lock);
    vls_mem_free(b->env, commands, size);
    return rc;
}

/* Was it decided, so that the same command would fail again? Else the disk, or memory, or another
 * process was in the way, of whichever. */
static bool is_decision(int rc)
{
    switch (rc) {
    case VALISE_E_DENIED:
    case VALISE_E_CONFLICT:
    case VALISE_E_INVALID:
    case VALISE_E_NOT_FOUND:
    case VALISE_E_EXISTS:
    case VALISE_E_LIMIT:
    case VALISE_E_TOO_LARGE:
    case VALISE_E_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}

/* "[3].key": the fourth of the batch. */
static bool read_index(size_t *out, const char *path)
{
    const char *end = path[0] == '[' ? strchr(path, ']') : NULL;
    int64_t index;

    if (!end || !vls_str_to_i64(&index, vls_str(path + 1, (size_t)(end - path) - 1)) || index < 0)
        return false;
    *out = (size_t)index;
    return true;
}

/* A batch of list[first, end) failed: the command that was refused, if it was one, is over. */
static bool take_out(struct vls_behind *b, size_t first, size_t end, int rc,
                     const valise_error *why)
{
    size_t index;

    if (!is_decision(rc) || !read_index(&index, why->path))
        return false;
    for (size_t i = first; i < end; i++) {
        waiting *w = b->list.ptr[i];
        if (w->over || index-- > 0)
            continue;
        w->over = true;
        return true;
    }
    return false;
}

static int check_outside(const struct vls_behind *b, valise_error *err)
{
    if (!vls_bus_is_inside(b->v))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "backpack '%.*s' is written behind: a command or middleware cannot use it",
                   VALISE_STR_ARG(b->name));
    vls_hint(err, "read through the view");
    return VALISE_E_INVALID;
}

/* Lock held. *refused: one was, and is gone; the others wait on. */
static int flush(bool *refused, struct vls_behind *b, const rider *along, valise_error *err)
{
    size_t first, end;
    valise_error why = VALISE_ERROR_INIT;
    int rc = check_outside(b, err);

    *refused = false;
    if (rc < 0)
        return rc;
    while (b->depth > 0 && !pthread_equal(b->flusher, pthread_self()))
        (void)pthread_cond_wait(&b->done, &b->lock);
    first = b->sent; /* by a flush that this one stands in */
    end = b->list.len;
    if (first == end && !along)
        return 0;
    b->flusher = pthread_self();
    b->depth++;
    b->sent = end;
    rc = send(b, first, end, along, &why);
    b->depth--;
    b->sent = first;
    for (size_t i = first; i < end && rc == 0; i++)
        b->list.ptr[i]->over = true;
    if (rc < 0)
        *refused = take_out(b, first, end, rc, &why);
    if (rc < 0 && err)
        *err = why;
    while (b->sent < b->list.len && b->list.ptr[b->sent]->over && b->depth > 0)
        b->sent++; /* they stay where they are until the outermost flush is over */
    if (b->depth == 0) {
        forget(b, false);
        (void)pthread_cond_broadcast(&b->done);
    }
    return rc;
}

/* Lock held. */
static int tell_untold(struct vls_behind *b, valise_error *err)
{
    int rc = b->untold.code;

    if (rc == 0)
        return 0;
    if (err)
        *err = b->untold;
    b->untold = (valise_error)VALISE_ERROR_INIT;
    return rc;
}

/* Lock held. */
static int flush_and_tell(struct vls_behind *b, valise_error *err)
{
    bool refused;
    int rc = flush(&refused, b, NULL, err);

    return rc < 0 ? rc : tell_untold(b, err);
}

int vls_behind_flush(struct vls_behind *behind, valise_error *err)
{
    int rc;

    (void)pthread_mutex_lock(&behind->lock);
    rc = flush_and_tell(behind, err);
    (void)pthread_mutex_unlock(&behind->lock);
    return rc;
}

void vls_behind_settle(struct vls_behind *behind)
{
    bool refused = true;

    (void)pthread_mutex_lock(&behind->lock);
    while (refused) { /* each time there is one less */
        valise_error why = VALISE_ERROR_INIT;
        (void)flush(&refused, behind, NULL, &why);
        if (refused && behind->untold.code == 0)
            behind->untold = why;
    }
    (void)pthread_mutex_unlock(&behind->lock);
}

/* ---- adding ---- */

static valise_str put_text(char **at, valise_str text)
{
    valise_str copy = {*at, text.len};

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len + 1; /* zeroed: it ends in NUL */
    return copy;
}

static int make(waiting **out, const valise_env *env, const valise_op *op, const void *args,
                const valise_call *call, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    waiting *w;
    size_t size;
    char *at;
    int rc;

    vls_buf_init(&text, env, VLS_JSON_MAX_BYTES);
    (void)vls_buf_reserve(&text, MOSTLY_BYTES); /* what it could not, it remembers */
    rc = vls_fields_write(&text, args, op->in, VLS_FIELD_INPUT, 0, err);
    if (rc < 0)
        return rc;
    size = sizeof(*w) + text.len + call->actor.len + call->expect.len + 3;
    w = vls_mem_zalloc(env, size);
    if (!w)
        return vls_fail_memory(err);
    at = w->texts;
    w->size = size;
    w->call = *call;
    w->command = (valise_command){valise_str_of(op->name), put_text(&at, vls_buf_str(&text)), NULL};
    w->call.actor = put_text(&at, call->actor);
    w->call.expect = put_text(&at, call->expect);
    *out = w;
    return 0;
}

static int add(struct vls_behind *b, waiting *w, valise_error *err)
{
    int rc = 0;

    if (b->list.len - b->sent >= FLUSH_COUNT || b->bytes >= FLUSH_BYTES)
        rc = flush_and_tell(b, err);
    if (rc == 0 && !vls_vec_push(&b->list, b->env, w))
        rc = vls_fail_memory(err);
    if (rc == 0)
        b->bytes += w->size;
    return rc;
}

int vls_behind_add(struct vls_behind *behind, const valise_op *op, const void *args,
                   const valise_call *call, valise_error *err)
{
    waiting *w = NULL;
    int rc = make(&w, behind->env, op, args, call, err);

    if (rc < 0)
        return rc;
    (void)pthread_mutex_lock(&behind->lock);
    rc = add(behind, w, err);
    (void)pthread_mutex_unlock(&behind->lock);
    if (rc < 0)
        vls_mem_free(behind->env, w, w->size);
    return rc;
}

/* ---- what goes along ---- */

/* What was refused before is told first: then nothing is done, and the caller comes again. */
static int flush_along(struct vls_behind *b, const rider *along, valise_error *err)
{
    bool refused;
    int rc = tell_untold(b, err);

    return rc < 0 ? rc : flush(&refused, b, along, err);
}

/* Nothing can wait: as if the queue were empty. */
static int send_alone(valise *v, const rider *along, valise_error *err)
{
    valise_command last = along->last->command;

    last.call = &along->last->call;
    return vls_dispatch_with(v, &last, 1, along->more, along->count, &along->call, err);
}

int vls_behind_flush_with(valise_backpack *bag, const valise_op *op, const void *args,
                          const vls_run_item *more, size_t count, const valise_call *call,
                          valise_error *err)
{
    struct vls_behind *behind = vls_handle_behind(bag);
    rider along = {.more = more, .count = count, .call = *call};
    waiting *last = NULL;
    int rc = make(&last, bag->env, op, args, call, err);

    if (rc < 0)
        return rc;
    along.last = last;
    if (behind) {
        (void)pthread_mutex_lock(&behind->lock);
        rc = flush_along(behind, &along, err);
        (void)pthread_mutex_unlock(&behind->lock);
    } else {
        rc = send_alone(bag->v, &along, err);
    }
    vls_mem_free(bag->env, last, last->size);
    return rc;
}
