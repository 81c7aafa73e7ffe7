/* told.c -- see told.h. */
#include "bus/told.h"

#include "base/mem.h"
#include "base/uuid.h"
#include "bus/follow.h"

bool vls_bus_listens(const valise *v)
{
    const vls_feed *feed = v ? vls_feed_of(v) : NULL;

    return feed && atomic_load_explicit(&feed->listeners, memory_order_relaxed) > 0;
}

struct vls_after {
    struct vls_after *next;
    vls_after_fn *fn;
    void (*free_arg)(void *arg);
    void *arg;
};

void vls_told_release(vls_told *told)
{
    for (size_t i = 0; i < told->events.len; i++)
        vls_events_unref(told->events.ptr[i]);
    if (told->env)
        vls_vec_release(&told->events, told->env);
    while (told->env && told->after) {
        struct vls_after *after = told->after;
        told->after = after->next;
        after->free_arg(after->arg);
        vls_mem_free(told->env, after, sizeof(*after));
    }
    *told = (vls_told){.env = NULL};
}

int vls_told_publish(vls_told *told, valise *v, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    size_t count = told->events.len;
    int rc = 0;

    for (struct vls_after *a = told->after; a && rc == 0; a = a->next)
        rc = a->fn(v, a->arg, err);

    for (size_t i = 0; feed && i < count; i++)
        vls_live_tell(feed, told->events.ptr[i]);
    vls_told_release(told);
    if (feed && count > 0)
        vls_feed_publish(feed);
    return rc;
}

int vls_view_after(valise_view *view, vls_after_fn *fn, void *arg, void (*free_arg)(void *arg),
                   valise_error *err)
{
    vls_told *told = view->told;
    struct vls_after *after = NULL;

    if (!told || (!view->apart && !vls_uuid_is_none(&view->stamp.command))) {
        free_arg(arg);
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "this operation cannot leave anything for later");
    }
    told->env = view->bus->env;
    after = vls_mem_zalloc(told->env, sizeof(*after));
    if (!after) {
        free_arg(arg);
        return vls_fail_memory(err);
    }
    *after = (struct vls_after){told->after, fn, free_arg, arg};
    told->after = after;
    return 0;
}

void vls_view_then(valise_view *view, const valise_op *op)
{
    vls_told *told = view->told;

    for (size_t i = 0; told && i < VLS_THEN_MAX; i++) {
        if (told->then[i] && told->then[i] != op)
            continue;
        told->then[i] = op;
        return;
    }
}

void vls_told_follow(vls_told *told, valise *v, valise_str actor)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = actor;
    for (size_t i = 0; i < VLS_THEN_MAX && told->then[i]; i++)
        (void)vls_run_rounds(v, told->then[i], &call, NULL);
}

void vls_view_tell(valise_view *view, const valise_event *event)
{
    VLS_AUTO(events) vls_events *live = NULL;
    vls_told *told = view->told;

    if (!told || told->events.len >= VLS_TOLD_MAX || !vls_bus_listens(view->bus))
        return;
    told->env = view->bus->env;
    if (vls_live_make(&live, view->bus, view->stamp.actor, event, NULL) < 0)
        return;
    if (vls_vec_push(&told->events, told->env, live))
        live = NULL; /* it is the list's */
}
