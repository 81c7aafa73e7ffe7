/* op_workspace_status.c -- workspace:status, what there is, answered without counting anything. */
#include "base/str.h"
#include "bus/bus.h"
#include "kernel/kernel.h"
#include "store/log.h"
#include "store/store.h"
#include "store/view.h"

typedef struct status {
    valise_uuid workspace;
    valise_str store;
    int64_t seq, oldest, time, bytes, format;
    int64_t pinned; /* NULLABLE */
    int64_t actors, pins;
} status;

static const valise_field status_out[] = {
    VALISE_FIELD(status, workspace, UUID, 0, "Id of the workspace."),
    VALISE_FIELD(status, store, STR, 0, "The kind of store it is in."),
    VALISE_FIELD(status, format, INT, 0, "The store's format."),
    VALISE_FIELD(status, bytes, INT, 0, "What the store takes on disk."),
    VALISE_FIELD(status, seq, INT, 0, "The newest log entry."),
    VALISE_FIELD(status, time, TIME, VALISE_NULLABLE, "When that was written."),
    VALISE_FIELD(status, oldest, INT, 0, "The oldest state that can be seen."),
    VALISE_FIELD(status, pinned, INT, VALISE_NULLABLE, "The oldest state that a pin holds."),
    VALISE_FIELD(status, pins, INT, 0, "How many pins there are."),
    VALISE_FIELD(status, actors, INT, 0, "How many actors are known."),
    VALISE_FIELD_END,
};

static int count_pins(status *out, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        out->pins++;
        if (vls_pin_holds_log(&pin) && (out->pinned == VALISE_NONE || pin.seq < out->pinned))
            out->pinned = pin.seq;
    }
    valise_scan_close(scan);
    return rc;
}

static int count_actors(status *out, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_actor_row actor;
    int rc = valise_view_scan(&scan, view, &vls_actor_coll, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&actor, scan, err)) > 0)
        out->actors++;
    valise_scan_close(scan);
    return rc;
}

/* When the newest entry of the state was written; NONE where it expired, or there is none. */
static int find_time(status *out, valise_view *view, valise_error *err)
{
    vls_entry entry;
    int rc;

    if (view->at == view->txn->tip.seq) {
        out->time = view->at > 0 ? view->txn->tip.time : VALISE_NONE;
        return 0;
    }
    rc = vls_log_get(&entry, view->txn, view->at, &view->arena, err);
    out->time = rc > 0 ? entry.time : VALISE_NONE;
    return rc < 0 ? rc : 0;
}

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    status *out = result;
    vls_txn *txn = view->txn;
    void *self;
    const valise_store_ops *ops = vls_store_ops(txn->store, &self);
    int rc;

    (void)args;
    *out = (status){.workspace = txn->meta.workspace,
                    .store = valise_str_of(ops->name),
                    .format = VLS_FORMAT,
                    .seq = view->at,
                    .oldest = txn->tip.base_seq,
                    .pinned = VALISE_NONE};
    rc = find_time(out, view, err);
    if (rc == 0 && ops->maintain)
        rc = ops->maintain(&out->bytes, self, VALISE_MAINTAIN_SIZE, err);
    if (rc == 0)
        rc = count_pins(out, view, err);
    return rc < 0 ? rc : count_actors(out, view, err);
}

const valise_op vls_op_kernel_workspace_status = {
    .size = sizeof(valise_op),
    .name = "workspace:status",
    .alias = "status",
    .brief = "Show what there is, at a glance.",
    .kind = VALISE_QUERY,
    .needs = "log:read",
    .out = status_out,
    .out_size = sizeof(status),
    .query = query,
    .example = "{}",
};
