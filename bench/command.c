/* command.c -- what a durable command costs, beside SQLite writing the same rows by hand. [Q7]
 *
 * One command is an entry of the log, a value of 300 bytes and the update of a row of 170 bytes
 * among 1,000. The baseline writes the same rows (raw.h). Rates are compared: a bar of 0.7 of the
 * rate is one of 1 / 0.7 of the time. */
#include <pthread.h>
#include <stdatomic.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/str.h"

#include <valise/sys/extension.h>
#include <valise/workspace.h>

#define ROWS 1000u
#define THREADS 16u
#define PER_THREAD 20u /* commands of each thread in one operation */
#define BATCH 1000u

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

typedef struct payloads {
    char text[512];
} payloads;

typedef struct state {
    char dir[256], raw_dir[256];
    valise *v;
    raw raw;
    raw_row *log, *object, *session;
    _Atomic uint64_t next;
} state;

/* A whole workspace: access is checked, and indexes and subscribers follow. */
static void open_ours(state *s, const char *dir, bool full)
{
    static const valise_extension *const extensions[] = {&package, NULL};
    valise_options options = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;

    options.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    options.durability = full ? VALISE_DURABILITY_FULL : VALISE_DURABILITY_NORMAL;
    options.extensions = extensions;
    if (valise_open(&s->v, dir, &options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void close_ours(state *s)
{
    valise_close(s->v);
}

static uint64_t next_number(state *s)
{
    return atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
}

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

static void ours_one(void *arg, size_t times)
{
    state *s = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (size_t i = 0; i < times; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        payloads p;
        valise_str payload = payload_of(&p, next_number(s));
        if (valise_dispatch_str(&reply, s->v, VLS_STR("bench:put"), payload, NULL, &err) < 0)
            raw_die(__FILE__, __LINE__, err.message);
        valise_reply_release(&reply);
    }
}

static void *ours_thread(void *arg)
{
    ours_one(arg, PER_THREAD);
    return NULL;
}

static void ours_threads(void *arg, size_t times)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < times; i++) {
        for (size_t k = 0; k < THREADS; k++)
            MUST(pthread_create(&threads[k], NULL, ours_thread, arg) == 0);
        for (size_t k = 0; k < THREADS; k++)
            pthread_join(threads[k], NULL);
    }
}

static void ours_batch(void *arg, size_t times)
{
    static payloads texts[BATCH];
    static valise_command commands[BATCH];
    state *s = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (size_t i = 0; i < times; i++) {
        for (size_t k = 0; k < BATCH; k++)
            commands[k] =
                (valise_command){VLS_STR("bench:put"), payload_of(&texts[k], next_number(s)), NULL};
        if (valise_dispatch_batch(NULL, s->v, commands, BATCH, NULL, &err) < 0)
            raw_die(__FILE__, __LINE__, err.message);
    }
}

/* ---- by hand ---- */

static void open_raw(state *s, bool full)
{
    raw_open(&s->raw, s->raw_dir, full);
    s->log = raw_row_like(&s->raw, "log", "seq");
    s->object = raw_row_like(&s->raw, "object", "number");
    s->session = raw_row_like(&s->raw, "bench_session", "id");
}

static void raw_command(state *s)
{
    uint64_t n = next_number(s), mix[5];
    uint8_t id[16] = {0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80, 0};
    char digits[16];
    int64_t now = valise_env_default()->now_ns(NULL), seq = raw_get_int(s->log, "seq") + 1;

    for (size_t i = 0; i < VLS_COUNT(mix); i++)
        mix[i] = (n + i) * UINT64_C(0x9E3779B97F4A7C15);
    raw_set_int(s->object, "number", raw_get_int(s->object, "number") + 1);
    raw_set_int(s->object, "h8", (int64_t)mix[0]);
    raw_set_bytes(s->object, "hash", mix);
    raw_insert(s->object);

    (void)snprintf(digits, sizeof(digits), "%012u", (unsigned)(n * 617 % ROWS));
    for (int i = 0; i < 6; i++)
        id[10 + i] = (uint8_t)((digits[2 * i] - '0') << 4 | (digits[2 * i + 1] - '0'));
    raw_set_bytes(s->session, "id", id);
    raw_set_bytes(s->session, "value", mix);
    raw_set_int(s->session, "count", (int64_t)n);
    raw_set_int(s->session, "updated", now);
    raw_set_int(s->session, "from_seq", seq);
    raw_update(s->session);

    raw_set_int(s->log, "seq", seq);
    raw_set_int(s->log, "id8", now + seq); /* append-like, as UUIDv7 makes it */
    raw_set_int(s->log, "time", now);
    raw_set_bytes(s->log, "hash", mix + 1);
    raw_insert(s->log);
}

static void raw_group(state *s, size_t count)
{
    raw_begin(&s->raw);
    for (size_t i = 0; i < count; i++)
        raw_command(s);
    raw_commit(&s->raw);
}

static void raw_one(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        raw_group(arg, 1);
}

static void raw_groups(void *arg, size_t times)
{
    for (size_t i = 0; i < times * PER_THREAD; i++)
        raw_group(arg, THREADS);
}

static void raw_batch(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        raw_group(arg, BATCH);
}

/* ---- running ---- */

/* Two files with the same 1,000 rows, one for each side. The second batch changes what the first
 * one made: from then on entries hold the rows as they were before, and the raw side takes the
 * sizes of what it writes from the last of them. */
static void run_at(bench *b, bool full, const bench_row *rows, size_t count)
{
    state s = {.next = 0};

    raw_make_dir(s.dir, "ours");
    raw_make_dir(s.raw_dir, "raw");
    open_ours(&s, s.raw_dir, full);
    ours_batch(&s, 2);
    close_ours(&s);
    open_raw(&s, full);
    s.next = 0;
    open_ours(&s, s.dir, full);
    ours_batch(&s, 2);
    for (size_t i = 0; i < count; i++) {
        bench_row row = rows[i];
        row.arg = &s;
        bench_compare(b, &row);
    }
    close_ours(&s);
    raw_close(&s.raw);
    raw_remove_dir(s.dir);
    raw_remove_dir(s.raw_dir);
}

BENCH(command)
{
    static const bench_row normal[] = {
        {.name = "a command at NORMAL",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_one,
         .baseline = raw_one,
         .at_most = 1 / 0.7},
        {.name = "a batch of 1,000 at NORMAL",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_batch,
         .baseline = raw_batch,
         .at_most = 1 / 0.6},
    };
    static const bench_row full[] = {
        {.name = "a command at FULL",
         .against = "the same rows by hand",
         .requires = "Q7",
         .ours = ours_one,
         .baseline = raw_one,
         .at_most = 1 / 0.9},
        {.name = "16 threads at FULL, 20 commands each",
         .against = "20 groups of 16 by hand",
         .requires = "Q7",
         .ours = ours_threads,
         .baseline = raw_groups,
         .at_most = 1 / 0.6},
    };

    run_at(b, false, normal, VLS_COUNT(normal));
    run_at(b, true, full, VLS_COUNT(full));
}
