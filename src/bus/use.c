/* use.c -- middleware that comes to a handle that is open. */
#include "base/mem.h"
#include "base/vec.h"
#include "bus/bus.h"

/* The list of the handle, with what was added; it takes the place of the one it was opened with. */
typedef struct users {
    const valise_env *env;
    vls_vec(const valise_middleware *) list; /* ends in NULL */
} users;

static const char users_key;

static void free_users(void *self)
{
    users *u = self;

    vls_vec_release(&u->list, u->env);
    vls_mem_free(u->env, u, sizeof(*u));
}

static int make_users(void **out, valise *v, valise_error *err)
{
    users *u = vls_mem_zalloc(v->env, sizeof(*u));

    if (!u)
        return vls_fail_memory(err);
    u->env = v->env;
    for (size_t i = 0; i < v->middleware_count; i++) {
        if (!vls_vec_push(&u->list, u->env, v->middleware[i])) {
            free_users(u);
            return vls_fail_memory(err);
        }
    }
    *out = u;
    return 0;
}

static int check(const valise *v, const valise_middleware *m, valise_error *err)
{
    if (m->size < offsetof(valise_middleware, before) || !m->name || !m->name[0])
        return vls_fail(err, VALISE_E_INVALID, "a middleware has a size and a name");
    for (size_t i = 0; i < v->middleware_count; i++) {
        if (strcmp(v->middleware[i]->name, m->name) == 0)
            return vls_fail(err, VALISE_E_EXISTS, "a middleware %s already exists", m->name);
    }
    return 0;
}

int valise_use(valise *v, const valise_middleware *middleware, valise_error *err)
{
    void *kept = NULL;
    users *u;
    int rc;

    VLS_ARG(v && middleware, err);
    if (vls_bus_is_inside(v))
        return vls_fail(err, VALISE_E_INVALID, "a middleware cannot be added during a command");
    rc = check(v, middleware, err);
    if (rc == 0)
        rc = vls_bus_keep(&kept, v, &users_key, make_users, free_users, err);
    if (rc < 0)
        return rc;
    assert(kept);
    u = kept;
    if (!vls_vec_reserve(&u->list, u->env, u->list.len + 2))
        return vls_fail_memory(err);
    u->list.ptr[u->list.len++] = middleware;
    u->list.ptr[u->list.len] = NULL;
    v->middleware = u->list.ptr;
    v->middleware_count = u->list.len;
    return 0;
}
