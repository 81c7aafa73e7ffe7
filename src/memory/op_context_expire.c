/* op_context_expire.c -- context:expire, the rows of entries whose time is over. [W13]
 *
 * `gc` has it run until there are none. Which ones is decided by the time of the command, so that a
 * replay takes the same. */
#include "bus/bus.h"
#include "memory/entry.h"

#define AT_ONCE 1000

static const valise_field expire_out[] = {
    VALISE_FIELD(vls_entry_expired, more, BOOL, VALISE_REQUIRED, "There are others."),
    VALISE_FIELD(vls_entry_expired, count, INT, VALISE_REQUIRED, "How many went."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    vls_entry_expired *out = result;
    int64_t now = valise_view_stamp(view)->time;
    vls_context_entry_row row = {.expires = INT64_MIN + 1}; /* behind those without one */
    const valise_select select = {.index = "expires", .row = &row, .from = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_context_entries, &select, err);

    (void)in;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0 && row.expires <= now) {
        out->more = out->count == AT_ONCE;
        if (out->more)
            break;
        rc = vls_entry_remove(view, &row, err);
        out->count++;
    }
    valise_scan_close(scan);
    return vls_settle(rc);
}

const valise_op vls_op_memory_context_expire = {
    .size = sizeof(valise_op),
    .name = "context:expire",
    .brief = "Take the entries whose time is over.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "memory:write",
    .out = expire_out,
    .out_size = sizeof(vls_entry_expired),
    .decide = decide,
    .example = "{}",
};

int vls_entries_collect(valise *v, valise_error *err)
{
    return vls_run_rounds(v, &vls_op_memory_context_expire, NULL, err);
}
