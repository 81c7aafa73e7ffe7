/* op_log_list.c -- log:list, who did what, the newest first. */
#include "base/str.h"
#include "bus/sight.h"
#include "kernel/kernel.h"
#include "store/log.h"
#include "store/view.h"

typedef struct log_args {
    int64_t since, until, limit;
    valise_str actor, type;
    bool reverse;
} log_args;

static const valise_field log_in[] = {
    VALISE_FIELD_WITH(log_args, since, INT, 0, "From this seq on.", .ref = "log", .max = INT64_MAX),
    VALISE_FIELD_WITH(log_args, until, INT, 0, "Up to this seq.", .ref = "log", .max = INT64_MAX),
    VALISE_FIELD_WITH(log_args, limit, INT, 0, "At most this many.", .max = INT64_MAX),
    VALISE_FIELD(log_args, actor, STR, 0, "Only commands of this actor."),
    VALISE_FIELD(log_args, type, STR, 0, "Only commands of this type, such as pin:add."),
    VALISE_FIELD(log_args, reverse, BOOL, 0, "Oldest first."),
    VALISE_FIELD_END,
};

typedef struct log_row {
    int64_t seq, time;
    valise_uuid id, cause;
    valise_str actor, type, payload;
    valise_id hash;
} log_row;

static const valise_field log_out[] = {
    VALISE_FIELD(log_row, seq, INT, 0, "Place in the log."),
    VALISE_FIELD(log_row, time, TIME, 0, "When."),
    VALISE_FIELD(log_row, actor, STR, 0, "Who."),
    VALISE_FIELD(log_row, type, STR, 0, "What."),
    VALISE_FIELD(log_row, id, UUID, 0, "Id of the command."),
    VALISE_FIELD(log_row, cause, UUID, VALISE_NULLABLE, "Id of the command that led to it."),
    VALISE_FIELD(
        log_row, payload, JSON, VALISE_NULLABLE,
        "Its arguments; none once erased, and none of an area that the actor may not read."),
    VALISE_FIELD(log_row, hash, ID, 0, "What the next entry is chained to."),
    VALISE_FIELD_END,
};

static bool is_wanted(const log_args *args, const vls_entry *entry)
{
    return (args->actor.len == 0 || vls_str_equal(args->actor, entry->actor)) &&
           (args->type.len == 0 || vls_str_equal(args->type, entry->type));
}

static int emit(valise_view *view, const vls_entry *entry, valise_error *err)
{
    int visible = vls_sight_payload(view, entry->type, err);
    log_row row = {.seq = entry->seq,
                   .time = entry->time,
                   .id = entry->id,
                   .cause = entry->cause,
                   .actor = entry->actor,
                   .type = entry->type,
                   .payload = entry->payload,
                   .hash = entry->hash};

    if (visible < 0)
        return visible;
    if (!visible)
        row.payload = (valise_str){NULL, 0};
    return valise_view_emit(view, &row, err);
}

static int log_query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const log_args *args = in;
    int64_t first = VLS_MAX(args->since, 1), last = view->at, count = 0;
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc;

    (void)result;
    if (args->until > 0 && args->until < last)
        last = args->until;
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, view->txn, args->reverse ? first : last, !args->reverse, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        if (entry.seq < first || entry.seq > last || (args->limit > 0 && count == args->limit))
            return 0;
        rc = 0;
        if (is_wanted(args, &entry)) {
            rc = emit(view, &entry, err);
            count++;
        }
        vls_arena_reset(&arena);
    }
    return rc;
}

const valise_op vls_op_kernel_log_list = {
    .size = sizeof(valise_op),
    .name = "log:list",
    .alias = "log",
    .brief = "Show who did what, newest first.",
    .help = "Arguments of a command are shown to those who may read its area: those of pin:add "
            "need pin:read.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "log:read",
    .in = log_in,
    .in_size = sizeof(log_args),
    .out = log_out,
    .out_size = sizeof(log_row),
    .query = log_query,
    .example = "{\"limit\":10}",
};
