/* apart.c -- commands on what lives in the memory of a handle alone.
 *
 * They take the same steps as others, on the caller's own thread, with a view of the newest state.
 * There is no group, no transaction that writes, no entry and no seq; what changes, the decider
 * changes itself.
 *
 * Only one runs at a time, and where there is middleware not beside a group either: middleware is
 * promised that it is alone. */
#include "bus/command.h"

bool vls_bus_is_inside(valise *v)
{
    return vls_group_is_leader(&v->group) ||
           atomic_load_explicit(&v->aside_thread, memory_order_relaxed) == (uint64_t)pthread_self();
}

int vls_apart_refuse(const vls_command *command, const char *how, valise_error *err)
{
    const valise_op *op = command->op;

    if (!op->apart || !op->apart(command->bus, command->args))
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                   "%s is about something that is only in memory: it cannot be %s", op->name, how);
    vls_hint(err, "run it by itself");
    return VALISE_E_UNSUPPORTED;
}

static int run(vls_command *command, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, command->bus->store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_pipeline_apart(command, &txn, err);
    command->view.txn = NULL; /* it is over */
    return rc;
}

int vls_apart_run(vls_command *command, valise_error *err)
{
    valise *v = command->bus;
    int rc;

    (void)pthread_mutex_lock(&v->aside);
    atomic_store_explicit(&v->aside_thread, (uint64_t)pthread_self(), memory_order_relaxed);
    rc = run(command, err);
    atomic_store_explicit(&v->aside_thread, 0, memory_order_relaxed);
    (void)pthread_mutex_unlock(&v->aside);
    return rc;
}
