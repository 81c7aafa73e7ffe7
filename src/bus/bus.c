/* bus.c -- the handle: opening, closing, and the transactions of those who run no operation. */
#include "bus/bus.h"

#include "base/mem.h"
#include "base/str.h"
#include "bus/read.h"
#include "bus/request.h"
#include "bus/told.h"

static size_t count_middleware(const valise_middleware *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

int vls_bus_open(valise **out, const vls_bus_options *options, valise_error *err)
{
    valise_str actor = options->actor.len ? options->actor : VLS_STR("local");
    valise *v;

    assert(options->access.check && options->access.allows);
    if (actor.len > VLS_ACTOR_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "the name of an actor has at most %u bytes",
                        VLS_ACTOR_MAX);
    v = vls_mem_zalloc(options->env, sizeof(*v));
    if (!v)
        return vls_fail_memory(err);
    v->env = options->env;
    v->store = options->store;
    v->blobs = options->blobs;
    v->registry = options->registry;
    v->access = options->access;
    v->middleware = options->middleware;
    v->middleware_count = count_middleware(options->middleware);
    v->engine = options->engine;
    v->place = options->place;
    v->read_only_hint = options->read_only_hint;
    v->upkeep = options->upkeep;
    memcpy(v->actor_text, actor.ptr, actor.len);
    v->actor = vls_str(v->actor_text, actor.len);
    vls_uuid_gen_init(&v->ids, v->env);
    vls_clock_init(&v->clock, v->env);
    vls_group_init(&v->group, v->env, vls_commit_group, v, options->full_sync);
    (void)pthread_mutex_init(&v->keeping, NULL);
    (void)pthread_mutex_init(&v->aside, NULL);
    *out = v;
    return 0;
}

void vls_bus_close(valise *v)
{
    if (!v)
        return;
    for (size_t i = v->kept.len; i-- > 0;)
        v->kept.ptr[i].free_fn(v->kept.ptr[i].self);
    vls_vec_release(&v->kept, v->env);
    (void)pthread_mutex_destroy(&v->keeping);
    (void)pthread_mutex_destroy(&v->aside);
    vls_group_release(&v->group);
    vls_uuid_gen_release(&v->ids);
    vls_vec_release(&v->commits, v->env);
    vls_arena_release(&v->spare);
    vls_mem_free(v->env, v, sizeof(*v));
}

void vls_bus_follow(valise *v, const vls_feed_ops *feed, void *self)
{
    v->feed = feed;
    v->feed_self = self;
}

/* ---- what areas keep ---- */

static void *find_kept(const valise *v, const void *key)
{
    for (size_t i = 0; i < v->kept.len; i++) {
        if (v->kept.ptr[i].key == key)
            return v->kept.ptr[i].self;
    }
    return NULL;
}

void *vls_bus_kept(valise *v, const void *key)
{
    void *self;

    (void)pthread_mutex_lock(&v->keeping);
    self = find_kept(v, key);
    (void)pthread_mutex_unlock(&v->keeping);
    return self;
}

static int keep(void **out, valise *v, const void *key, vls_keep_fn *make,
                void (*free_fn)(void *self), valise_error *err)
{
    void *self = find_kept(v, key);
    int rc;

    if (!self) {
        if (!vls_vec_reserve(&v->kept, v->env, v->kept.len + 1))
            return vls_fail_memory(err);
        rc = make(&self, v, err);
        if (rc < 0)
            return rc;
        v->kept.ptr[v->kept.len++] = (vls_kept){key, self, free_fn};
    }
    *out = self;
    return 0;
}

int vls_bus_keep(void **out, valise *v, const void *key, vls_keep_fn *make,
                 void (*free_fn)(void *self), valise_error *err)
{
    int rc;

    (void)pthread_mutex_lock(&v->keeping);
    rc = keep(out, v, key, make, free_fn, err);
    (void)pthread_mutex_unlock(&v->keeping);
    return rc;
}

void vls_memory_release(vls_memory *memory)
{
    vls_view_release(&memory->view);
    vls_arena_release(&memory->arena);
}

int vls_with_view(valise *v, const valise_call *call, vls_view_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(told) vls_told told = {0};
    VLS_AUTO(reading) vls_reading reading = {0};
    valise_call how;
    int after, rc = vls_call_read(&how, call, err);

    if (rc == 0)
        rc = vls_reading_begin(&reading, v, &how, true, err);
    if (rc < 0)
        return rc;
    reading.view.told = &told;
    rc = fn(arg, &reading.view, err);
    vls_reading_end(&reading);
    reading = (vls_reading){0};
    after = vls_told_publish(&told, v, rc < 0 ? NULL : err);
    return rc < 0 || after == 0 ? rc : after;
}

int vls_with_txn(valise *v, vls_txn_fn *fn, void *arg, valise_error *err)
{
    vls_bus_request request = {.item = {.commands = 1}, .fn = fn, .arg = arg};

    return vls_bus_request_submit(&request, v, err);
}

int vls_with_lazy_txn(valise *v, vls_txn_fn *fn, void *arg, valise_error *err)
{
    vls_bus_request request = {.item = {.commands = 1}, .fn = fn, .arg = arg, .lazy = true};

    if (vls_group_is_led(&v->group))
        return vls_fail(err, VALISE_E_BUSY, "another thread is writing");
    return vls_bus_request_submit(&request, v, err);
}
