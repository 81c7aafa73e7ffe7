/* op_log_reads.c -- log:reads, who read what and who was refused, the newest first. */
#include "bus/read.h"
#include "bus/read_log.h"
#include "kernel/kernel.h"
#include "store/view.h"

typedef struct reads_args {
    valise_str actor;
    int64_t limit;
    bool denied;
} reads_args;

static const valise_field reads_in[] = {
    VALISE_FIELD(reads_args, actor, STR, VALISE_POSITIONAL, "Only what this actor did."),
    VALISE_FIELD_WITH(reads_args, limit, INT, 0, "At most this many; 0 for all.", .max = INT64_MAX),
    VALISE_FIELD(reads_args, denied, BOOL, 0, "Only what was refused."),
    VALISE_FIELD_END,
};

typedef struct reads_row {
    int64_t number, time;
    valise_str actor, type, place, outcome;
} reads_row;

static const valise_field reads_out[] = {
    VALISE_FIELD(reads_row, number, INT, 0, "Place in the read log; 0: not written yet."),
    VALISE_FIELD(reads_row, time, TIME, 0, "When."),
    VALISE_FIELD(reads_row, actor, STR, 0, "Who."),
    VALISE_FIELD(reads_row, type, STR, 0, "The operation."),
    VALISE_FIELD(reads_row, place, STR, 0, "What was read."),
    VALISE_FIELD(reads_row, outcome, STR, 0, "OK, or the code of the refusal."),
    VALISE_FIELD_END,
};

typedef struct listing {
    valise_view *view;
    const reads_args *args;
    int64_t count;
} listing;

static int list_row(void *arg, const vls_read_row *r, valise_error *err)
{
    listing *l = arg;
    const reads_args *args = l->args;
    reads_row row = {.number = r->number,
                     .time = r->time,
                     .actor = r->actor,
                     .type = r->type,
                     .place = r->place,
                     .outcome = valise_str_of(valise_error_name((int)r->outcome))};
    int rc;

    if ((args->actor.len > 0 && !vls_str_equal(args->actor, r->actor)) ||
        (args->denied && r->outcome == 0))
        return 0;
    rc = valise_view_emit(l->view, &row, err);
    return rc < 0 ? rc : args->limit > 0 && ++l->count >= args->limit;
}

static int reads_query(valise_view *view, const void *in, void *result, valise_error *err)
{
    listing l = {.view = view, .args = in};
    int rc = vls_read_log_waiting(vls_reading_of(view)->bus, list_row, &l, err);

    (void)result;
    if (rc == 0)
        rc = vls_read_log_each(view->txn, list_row, &l, err);
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_kernel_log_reads = {
    .size = sizeof(valise_op),
    .name = "log:reads",
    .brief = "Show who read what and who was refused, newest first.",
    .help = "The read log is bounded and written in batches: it may lack the newest reads of other "
            "processes, and the oldest reads are dropped.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "log:read",
    .in = reads_in,
    .in_size = sizeof(reads_args),
    .out = reads_out,
    .out_size = sizeof(reads_row),
    .query = reads_query,
    .example = "{\"actor\":\"local\",\"limit\":10}",
};
