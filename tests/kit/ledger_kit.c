/* ledger_kit.c -- see ledger_kit.h. */
#include "kit/ledger_kit.h"

#include "backpack/ring_impl.h"
#include "kit/laid.h"
#include "kit/naive.h"

/* ---- ring ---- */

static vls_ring_options ring_options(const vls_bag_row *bag)
{
    return (vls_ring_options){.id = bag->id,
                              .name = bag->name,
                              .lenient = bag->lenient,
                              .taint = bag->taint,
                              .sticky = bag->sticky};
}

static void open_ring(opened *out, const valise_env *env, const vls_bag_row *bag)
{
    vls_ring_options options = ring_options(bag);
    vls_ring *ring = NULL;
    valise_error err = {0};

    CHECK_INT(0, vls_ring_new(&ring, env, &options, &err));
    out->self = ring;
    out->ledger = vls_ring_ledger(ring);
}

static void fork_ring(opened *out, const vls_ledger *from, const vls_bag_row *bag)
{
    vls_ring_options options = ring_options(bag);
    vls_ring *ring = NULL;
    valise_error err = {0};

    CHECK_INT(0, vls_ring_fork(&ring, from, &options, &err));
    out->self = ring;
    out->ledger = vls_ring_ledger(ring);
}

static void close_ring(void *self)
{
    vls_ring_unref(self);
}

static void forget_ring(void *self, int64_t edge)
{
    vls_ring_lock(self);
    vls_ring_prune_to(self, edge);
    vls_ring_unlock(self);
}

/* ---- naive ---- */

static naive_options options_of(const vls_bag_row *bag)
{
    return (naive_options){.id = bag->id,
                           .name = bag->name,
                           .lenient = bag->lenient,
                           .taint = bag->taint,
                           .sticky = bag->sticky};
}

static void open_naive(opened *out, const valise_env *env, const vls_bag_row *bag)
{
    naive_options options = options_of(bag);
    naive *n = NULL;
    valise_error err = {0};

    CHECK_INT(0, naive_new(&n, env, &options, &err));
    out->self = n;
    out->ledger = naive_ledger(n);
}

static void fork_naive(opened *out, const vls_ledger *from, const vls_bag_row *bag)
{
    naive_options options = options_of(bag);
    naive *n = NULL;
    valise_error err = {0};

    CHECK_INT(0, naive_fork(&n, from, &options, &err));
    out->self = n;
    out->ledger = naive_ledger(n);
}

static void close_naive(void *self)
{
    naive_free(self);
}

static void forget_naive(void *self, int64_t edge)
{
    naive_set_edge(self, edge);
}

/* ---- rows ---- */

static void open_rows(opened *out, const valise_env *env, const char *backend,
                      const vls_bag_row *bag)
{
    laid *l = laid_open(env, backend, bag);

    out->self = l;
    out->ledger = laid_ledger(l);
}

static void open_rows_memory(opened *out, const valise_env *env, const vls_bag_row *bag)
{
    open_rows(out, env, "memory", bag);
}

static void open_rows_sqlite(opened *out, const valise_env *env, const vls_bag_row *bag)
{
    open_rows(out, env, "sqlite", bag);
}

static void fork_rows(opened *out, const vls_ledger *from, const vls_bag_row *bag)
{
    laid *l = laid_fork(from, bag);

    out->self = l;
    out->ledger = laid_ledger(l);
}

static void close_rows(void *self)
{
    laid_close(self);
}

static void forget_rows(void *self, int64_t edge)
{
    laid_forget(self, edge);
}

/* ---- by their names ---- */

const ledger_kind ledger_kinds[] = {
    {"ring", open_ring, fork_ring, close_ring, forget_ring},
    {"naive", open_naive, fork_naive, close_naive, forget_naive},
    {"rows-memory", open_rows_memory, fork_rows, close_rows, forget_rows},
    {"rows-sqlite", open_rows_sqlite, fork_rows, close_rows, forget_rows},
    {NULL, NULL, NULL, NULL, NULL},
};

static opened none_of(test *t)
{
    const char *name = t->param ? t->param : "naive";
    const ledger_kind *k = ledger_kinds;

    while (k->name && strcmp(k->name, name) != 0)
        k++;
    CHECK_MSG(k->name, "no ledger is called %s", name);
    return (opened){.env = t->env, .kind = k};
}

opened ledger_open_with(test *t, const vls_bag_row *bag)
{
    opened out = none_of(t);

    out.kind->open(&out, t->env, bag);
    return out;
}

opened ledger_fork_with(test *t, const vls_ledger *from, const vls_bag_row *bag)
{
    opened out = none_of(t);

    out.kind->fork(&out, from, bag);
    return out;
}

opened ledger_open(test *t)
{
    return ledger_open_with(
        t, &(vls_bag_row){.id = ledger_uuid(1), .name = VLS_STR("bag"), .lenient = true});
}

opened ledger_fork(test *t, const vls_ledger *from)
{
    return ledger_fork_with(t, from, &(vls_bag_row){.id = ledger_uuid(2), .name = VLS_STR("fork")});
}
