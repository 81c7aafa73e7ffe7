/* request.h -- what one caller wants to write at once: a command, a batch, or a transaction.
 *
 * Threads: single; passed from the caller to the leader and back. */
#ifndef VLS_REQUEST_H
#define VLS_REQUEST_H

#include "bus/command.h"

typedef struct vls_bus_request {
    vls_group_item item; /* first, so that an item is its request */
    vls_command *commands;
    size_t count;
    vls_txn_fn *fn; /* instead of commands */
    void *arg;
    bool dry_run;
    bool lazy; /* fn writes what is not worth waiting for (vls_with_lazy_txn) */

    int rc; /* of this request */
    valise_error err;
    size_t failed; /* the command that failed */
    bool kept;     /* it changed something */
} vls_bus_request;

/* Queue it, and return when it is done. VALISE_E_INVALID within a decider or middleware. */
int vls_bus_request_submit(vls_bus_request *request, valise *v, valise_error *err);

/* The group's function (commit.c). */
void vls_commit_group(void *self, vls_group_item *first, size_t count);

#endif
