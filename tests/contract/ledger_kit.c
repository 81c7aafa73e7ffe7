/* ledger_kit.c -- see ledger_kit.h. */
#include "ledger_kit.h"

#include "backpack/ring.h"
#include "kit/laid.h"
#include "kit/naive.h"

static void open_ring(opened *out, const valise_env *env, const valise_uuid *id)
{
    vls_ring_options options = {.id = *id, .name = VLS_STR("bag"), .lenient = true};
    vls_ring *ring = NULL;
    valise_error err = {0};

    CHECK_INT(0, vls_ring_new(&ring, env, &options, &err));
    out->self = ring;
    out->ledger = vls_ring_ledger(ring);
}

static void fork_ring(opened *out, const vls_ledger *from, const valise_env *env,
                      const valise_uuid *id)
{
    vls_ring_options options = {.id = *id, .name = VLS_STR("fork")};
    vls_ring *ring = NULL;
    valise_error err = {0};

    (void)env;
    CHECK_INT(0, vls_ring_fork(&ring, from, &options, &err));
    out->self = ring;
    out->ledger = vls_ring_ledger(ring);
}

static void close_ring(void *self)
{
    vls_ring_unref(self);
}

static void open_naive(opened *out, const valise_env *env, const valise_uuid *id)
{
    naive_options options = {.id = *id, .name = VLS_STR("bag"), .lenient = true};
    naive *n = NULL;
    valise_error err = {0};

    CHECK_INT(0, naive_new(&n, env, &options, &err));
    out->self = n;
    out->ledger = naive_ledger(n);
}

static void fork_naive(opened *out, const vls_ledger *from, const valise_env *env,
                       const valise_uuid *id)
{
    naive_options options = {.id = *id, .name = VLS_STR("fork")};
    naive *n = NULL;
    valise_error err = {0};

    (void)env;
    CHECK_INT(0, naive_fork(&n, from, &options, &err));
    out->self = n;
    out->ledger = naive_ledger(n);
}

static void close_naive(void *self)
{
    naive_free(self);
}

static void open_rows(opened *out, const valise_env *env, const char *backend,
                      const valise_uuid *id)
{
    laid *l = laid_open(env, backend, id);

    out->self = l;
    out->ledger = laid_ledger(l);
}

static void open_rows_memory(opened *out, const valise_env *env, const valise_uuid *id)
{
    open_rows(out, env, "memory", id);
}

static void open_rows_sqlite(opened *out, const valise_env *env, const valise_uuid *id)
{
    open_rows(out, env, "sqlite", id);
}

static void fork_rows(opened *out, const vls_ledger *from, const valise_env *env,
                      const valise_uuid *id)
{
    laid *l = laid_fork(from, id);

    (void)env;
    out->self = l;
    out->ledger = laid_ledger(l);
}

static void close_rows(void *self)
{
    laid_close(self);
}

const ledger_kind ledger_kinds[] = {
    {"ring", open_ring, fork_ring, close_ring},
    {"naive", open_naive, fork_naive, close_naive},
    {"rows-memory", open_rows_memory, fork_rows, close_rows},
    {"rows-sqlite", open_rows_sqlite, fork_rows, close_rows},
    {NULL, NULL, NULL, NULL},
};

static opened make(test *t, const vls_ledger *from, unsigned number)
{
    opened out = {.env = t->env};
    valise_uuid id = ledger_uuid(number);

    for (const ledger_kind *k = ledger_kinds; k->name; k++) {
        if (strcmp(k->name, t->param) != 0)
            continue;
        if (from)
            k->fork(&out, from, t->env, &id);
        else
            k->open(&out, t->env, &id);
        out.kind = k;
    }
    CHECK_MSG(out.kind, "no ledger is called %s", t->param);
    return out;
}

opened ledger_open(test *t)
{
    return make(t, NULL, 1);
}

opened ledger_fork(test *t, const vls_ledger *from)
{
    return make(t, from, 2);
}
