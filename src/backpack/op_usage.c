/* op_usage.c -- backpack:usage, how much a backpack holds. */
#include "backpack/use.h"

static const valise_field usage_out[] = {
    VALISE_FIELD(valise_usage, items, INT, 0, "Items in the active state."),
    VALISE_FIELD(valise_usage, quarantined, INT, 0, "Entries in quarantine."),
    VALISE_FIELD(valise_usage, commits, INT, 0, "Commits that history keeps."),
    VALISE_FIELD(valise_usage, reads, INT, 0, "Reads that are kept."),
    VALISE_FIELD_AS(valise_usage, first_seq, "firstSeq", INT, 0, "The oldest commit."),
    VALISE_FIELD_AS(valise_usage, last_seq, "lastSeq", INT, 0, "The newest commit."),
    VALISE_FIELD_AS(valise_usage, state_bytes, "stateBytes", INT, 0, "Bytes of the active state."),
    VALISE_FIELD_AS(valise_usage, history_bytes, "historyBytes", INT, 0,
                    "Bytes of the history beyond that."),
    VALISE_FIELD_AS(valise_usage, read_bytes, "readBytes", INT, 0, "Bytes of the log of reads."),
    VALISE_FIELD_AS(valise_usage, held_bytes, "heldBytes", INT, 0,
                    "Bytes that only checkpoints, snapshots and forks need."),
    VALISE_FIELD_AS(valise_usage, overhead_bytes, "overheadBytes", INT, 0,
                    "Bytes of tables and indexes."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_who_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    if (rc == 0)
        rc = vls_scope_owner_only(use.scope, "see the usage", err);
    return rc < 0 ? rc : use.ledger.ops->usage(out, use.ledger.self, err);
}

const valise_op vls_op_backpack_usage = {
    .size = sizeof(valise_op),
    .name = "backpack:usage",
    .brief = "Show the size of a backpack and its history.",
    .kind = VALISE_QUERY,
    .needs = "backpack:read",
    .in = vls_owner_in,
    .in_size = sizeof(vls_who_args),
    .out = usage_out,
    .out_size = sizeof(valise_usage),
    .query = query,
    .example = "{\"backpack\":\"run-1\"}",
};
