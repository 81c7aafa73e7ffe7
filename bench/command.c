/* command.c -- one durable command of the smallest kind: an entry of the log, a value of 300 bytes
 * and the update of a row of 170 bytes among 1,000. [Q7] */
#include "bench/durable.h"

#include "base/str.h"

#include <valise/sys/extension.h>
#include <valise/workspace.h>

#define ROWS 1000u

/* ---- the operation ---- */

typedef struct session_row {
    valise_uuid id;
    valise_str label, role;
    valise_uuid head;
    valise_id value;
    valise_str meta;
    int64_t count, created, updated;
} session_row;

static const valise_field session_fields[] = {
    VALISE_FIELD(session_row, id, UUID, VALISE_KEY, "Id."),
    VALISE_FIELD(session_row, label, STR, 0, "Label."),
    VALISE_FIELD(session_row, role, STR, 0, "Role."),
    VALISE_FIELD(session_row, head, UUID, 0, "Head."),
    VALISE_FIELD_WITH(session_row, value, ID, VALISE_NULLABLE, "Value.", .ref = "object"),
    VALISE_FIELD(session_row, meta, JSON, VALISE_NULLABLE, "Metadata."),
    VALISE_FIELD(session_row, count, INT, 0, "Count."),
    VALISE_FIELD(session_row, created, TIME, 0, "Created."),
    VALISE_FIELD(session_row, updated, TIME, 0, "Updated."),
    VALISE_FIELD_END,
};

static const valise_coll sessions = {.size = sizeof(valise_coll),
                                     .name = "bench.session",
                                     .help = "A session.",
                                     .fields = session_fields,
                                     .row_size = sizeof(session_row)};

typedef struct put_args {
    valise_uuid id;
    valise_content value;
} put_args;

static const valise_field put_in[] = {
    VALISE_FIELD(put_args, id, UUID, VALISE_REQUIRED, "Id."),
    VALISE_FIELD(put_args, value, VALUE, VALISE_REQUIRED, "Value."),
    VALISE_FIELD_END,
};

typedef struct put_result {
    valise_uuid turn;
    int64_t count;
} put_result;

static const valise_field put_out[] = {
    VALISE_FIELD(put_result, turn, UUID, 0, "Turn."),
    VALISE_FIELD(put_result, count, INT, 0, "Count."),
    VALISE_FIELD_END,
};

static int put_decide(valise_view *view, const void *arguments, void *result, valise_error *err)
{
    const put_args *args = arguments;
    put_result *out = result;
    session_row row = {.id = args->id};
    int rc = valise_view_get(&row, view, &sessions, err);

    if (rc == 0) {
        row.label = VLS_STR("a label of some thirty characters");
        row.role = VLS_STR("assistant");
        row.meta = VLS_STR("{\"color\":\"green\",\"model\":\"some\"}");
        row.created = valise_view_stamp(view)->time;
    }
    if (rc >= 0)
        rc = valise_view_uuid(&row.head, view, err);
    row.value = args->value.id;
    row.updated = valise_view_stamp(view)->time;
    row.count++;
    out->turn = row.head;
    out->count = row.count;
    return rc < 0 ? rc : valise_view_put(view, &sessions, &row, err);
}

static const valise_op put_op = {.size = sizeof(valise_op),
                                 .name = "bench:put",
                                 .brief = "Put a value.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "bench:write",
                                 .in = put_in,
                                 .in_size = sizeof(put_args),
                                 .out = put_out,
                                 .out_size = sizeof(put_result),
                                 .decide = put_decide,
                                 .example = "{\"id\":\"019b0000-0000-7000-8000-000000000001\","
                                            "\"value\":1}"};

static const valise_coll *const colls[] = {&sessions, NULL};
static const valise_op *const ops[] = {&put_op, NULL};
static const valise_extension package = {.size = sizeof(package),
                                         .abi = VALISE_EXTENSION_ABI,
                                         .name = "bench",
                                         .version = "1",
                                         .collections = colls,
                                         .operations = ops};

/* ---- ours ---- */

static void *open_side(const char *dir, bool full)
{
    return raw_open_workspace(dir, full, &package);
}

static void close_side(void *self)
{
    valise_close(self);
}

typedef struct payloads {
    char text[512];
} payloads;

/* A payload with a value of 300 bytes that was not there before. */
static valise_str payload_of(payloads *out, uint64_t n)
{
    static const char filler[] =
        "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123"
        "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123"
        "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123"
        "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123";
    int len = snprintf(out->text, sizeof(out->text),
                       "{\"id\":\"019b0000-0000-7000-8000-%012u\",\"value\":{\"n\":%010llu,"
                       "\"text\":\"%s\"}}",
                       (unsigned)(n * 617 % ROWS), (unsigned long long)n + 1000000000, filler);

    return vls_str(out->text, (size_t)len);
}

static void run(void *self, uint64_t n)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    payloads p;

    if (valise_dispatch_str(&reply, self, VLS_STR("bench:put"), payload_of(&p, n), NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    valise_reply_release(&reply);
}

static void run_many(void *self, uint64_t first)
{
    static payloads texts[DURABLE_MANY];
    static valise_command commands[DURABLE_MANY];
    valise_error err = VALISE_ERROR_INIT;

    for (size_t k = 0; k < DURABLE_MANY; k++)
        commands[k] =
            (valise_command){VLS_STR("bench:put"), payload_of(&texts[k], first + k), NULL};
    if (valise_dispatch_batch(NULL, self, commands, DURABLE_MANY, NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

/* ---- by hand ---- */

static void write_session(raw_row *row, const durable_rows *rows)
{
    uint8_t id[16] = {0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80, 0};
    char digits[16];

    (void)snprintf(digits, sizeof(digits), "%012u", (unsigned)(rows->n * 617 % ROWS));
    for (int i = 0; i < 6; i++)
        id[10 + i] = (uint8_t)((digits[2 * i] - '0') << 4 | (digits[2 * i + 1] - '0'));
    raw_set_bytes(row, "id", id);
    raw_set_bytes(row, "value", rows->mix);
    raw_set_int(row, "count", (int64_t)rows->n);
    raw_set_int(row, "updated", rows->now);
    raw_set_int(row, "from_seq", rows->seq);
    raw_update(row);
}

BENCH(command)
{
    durable_compare(b, &(durable_command){.one = "a command at NORMAL",
                                          .many = "a batch of 1,000 at NORMAL",
                                          .one_full = "a command at FULL",
                                          .threads = "16 threads at FULL, 20 commands each",
                                          .open = open_side,
                                          .close = close_side,
                                          .run = run,
                                          .run_many = run_many,
                                          .table = "bench_session",
                                          .key = "id",
                                          .write = write_session});
}
