/* ring_order.c -- things in order, sorted when somebody asks.
 *
 * Adding is a push, removing leaves a hole. Who wants them in order pays for what came since: the
 * tail is sorted and merged into what was sorted before. Holes go then, or when they are more than
 * half. */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_order order;
typedef vls_ring_order_ops order_ops;

#define HOLES 16 /* so many are never too many */

void vls_ring_order_release(order *o, const valise_env *env)
{
    vls_vec_release(o, env);
    *o = (order){0};
}

bool vls_ring_order_reserve(order *o, const valise_env *env)
{
    return o->len < UINT32_MAX && vls_vec_reserve(o, env, o->len + 1);
}

static void place(order *o, const order_ops *ops, size_t at, void *item)
{
    o->ptr[at] = item;
    *ops->at(item) = (uint32_t)at;
}

void vls_ring_order_add(order *o, const order_ops *ops, void *item)
{
    assert(o->len < o->cap);
    /* One that comes behind the last keeps all of them sorted: keys are often counted up. */
    if (o->sorted == o->len && o->holes == 0 &&
        (o->len == 0 || vls_str_compare(ops->name(o->ptr[o->len - 1]), ops->name(item)) < 0))
        o->sorted++;
    place(o, ops, o->len++, item);
}

static void close_holes(order *o, const order_ops *ops)
{
    size_t kept = 0, sorted = 0;

    for (size_t i = 0; i < o->len; i++) {
        void *item = o->ptr[i];
        if (!item)
            continue;
        if (i < o->sorted)
            sorted++;
        if (kept != i)
            place(o, ops, kept, item);
        kept++;
    }
    o->len = kept;
    o->sorted = sorted;
    o->holes = 0;
}

void vls_ring_order_remove(order *o, const order_ops *ops, void *item)
{
    size_t at = *ops->at(item);

    assert(at < o->len && o->ptr[at] == item);
    o->ptr[at] = NULL;
    o->holes++;
    if (at + 1 == o->len) { /* the last one leaves no hole */
        o->len--;
        o->holes--;
        o->sorted = VLS_MIN(o->sorted, o->len);
    } else if (o->holes > HOLES && o->holes > o->len / 2) {
        close_holes(o, ops);
    }
}

static int compare(const void *a, const void *b, void *arg)
{
    const order_ops *ops = *(const order_ops *const *)arg;

    return vls_str_compare(ops->name(*(void *const *)a), ops->name(*(void *const *)b));
}

/* Merge the tail, of which there is a copy, into what is sorted, from behind. */
static void merge(order *o, const order_ops *ops, void **tail, size_t tail_len)
{
    size_t from = o->sorted, to = o->len;

    while (tail_len > 0) {
        if (from > 0 &&
            vls_str_compare(ops->name(o->ptr[from - 1]), ops->name(tail[tail_len - 1])) > 0)
            place(o, ops, --to, o->ptr[--from]);
        else
            place(o, ops, --to, tail[--tail_len]);
    }
    o->sorted = o->len;
}

int vls_ring_order_tidy(order *o, const order_ops *ops, const valise_env *env)
{
    size_t tail_len;
    void **tail;

    if (o->holes > 0)
        close_holes(o, ops);
    tail_len = o->len - o->sorted;
    if (tail_len == 0)
        return 0;
    tail = vls_mem_alloc(env, tail_len * sizeof(*tail));
    if (!tail)
        return VALISE_E_NO_MEMORY;
    memcpy(tail, o->ptr + o->sorted, tail_len * sizeof(*tail));
    qsort_r(tail, tail_len, sizeof(*tail), compare, &ops);
    merge(o, ops, tail, tail_len);
    vls_mem_free(env, tail, tail_len * sizeof(*tail));
    return 0;
}
