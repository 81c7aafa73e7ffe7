/* command.c -- what a durable command costs, beside SQLite writing the same rows by hand. [Q7]
 *
 * One command is an entry of the log, a value of 300 bytes and the update of a row of 170 bytes
 * among 1,000. The baseline writes rows of the same sizes into the same tables (our own file, made
 * by our own code) with prepared statements and the same settings, and reads and hashes nothing.
 * Rates are compared: a bar of 0.7 of the rate is one of 1 / 0.7 of the time.
 *
 * The files lie in VALISE_BENCH_DIR, else in /var/tmp: on a real disk, or FULL means nothing. */
#define VLS_ALLOW_MALLOC
#include <ftw.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"

#include "base/str.h"

#include <valise/sys/extension.h>
#include <valise/workspace.h>

#define ROWS 1000u
#define THREADS 16u
#define PER_THREAD 20u /* commands of each thread in one operation */
#define BATCH 1000u

#define MUST(ok)                                                                                   \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            die(__LINE__, #ok);                                                                    \
    } while (0)

static void die(int line, const char *what)
{
    (void)fprintf(stderr, "bench/command.c:%d: %s\n", line, what);
    abort();
}

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

/* What the raw side writes: rows of the sizes that ours have. */
typedef struct raw {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *log, *object, *session;
    int64_t seq, object_number;
    int payload_len, result_len, changes_len, body_len;
} raw;

typedef struct state {
    char dir[256], raw_dir[256];
    valise *v;
    raw raw;
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
        die(__LINE__, err.message);
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
            die(__LINE__, err.message);
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
            die(__LINE__, err.message);
    }
}

/* ---- by hand ---- */

static void exec(sqlite3 *db, const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        die(__LINE__, why);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        die(__LINE__, sqlite3_errmsg(db));
    return stmt;
}

static int number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    int n;

    MUST(sqlite3_step(stmt) == SQLITE_ROW);
    n = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

static void open_raw(raw *r, const char *dir, bool full)
{
    char path[300];
    int on = 1;

    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", dir);
    MUST(sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
         SQLITE_OK);
    exec(r->db, "PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY;"
                "PRAGMA wal_autocheckpoint=16000; PRAGMA cache_size=-32768");
    exec(r->db, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    sqlite3_file_control(r->db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
    r->begin = prepare(r->db, "BEGIN IMMEDIATE");
    r->commit = prepare(r->db, "COMMIT");
    r->log =
        prepare(r->db, "INSERT INTO log(seq,id8,id,time,actor,cause,type,commitment,hash,"
                       "nonce,payload,result,changes,sum) VALUES(?,?,?,?,?,NULL,?,?,?,?,?,?,?,?)");
    r->object = prepare(r->db, "INSERT INTO object(number,h8,hash,kind,size,time,body,sum) "
                               "VALUES(?,?,?,?,?,?,?,?)");
    r->session = prepare(r->db, "UPDATE bench_session SET label=?,role=?,head=?,value=?,meta=?,"
                                "count=?,created=?,updated=?,from_seq=?,sum=? WHERE id=?");
    r->seq = number_of(r->db, "SELECT max(seq) FROM log");
    r->object_number = number_of(r->db, "SELECT max(number) FROM object");
    r->payload_len = number_of(r->db, "SELECT length(payload) FROM log ORDER BY seq DESC LIMIT 1");
    r->result_len = number_of(r->db, "SELECT length(result) FROM log ORDER BY seq DESC LIMIT 1");
    r->changes_len = number_of(r->db, "SELECT length(changes) FROM log ORDER BY seq DESC LIMIT 1");
    r->body_len = number_of(r->db, "SELECT length(body) FROM object ORDER BY number DESC LIMIT 1");
}

static void close_raw(raw *r)
{
    sqlite3_stmt *all[] = {r->begin, r->commit, r->log, r->object, r->session};

    for (size_t i = 0; i < VLS_COUNT(all); i++)
        sqlite3_finalize(all[i]);
    MUST(sqlite3_close(r->db) == SQLITE_OK);
}

static void step(raw *r, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        die(__LINE__, sqlite3_errmsg(r->db));
    sqlite3_reset(stmt);
}

static void bind_text(sqlite3_stmt *stmt, int at, const char *text, int len)
{
    sqlite3_bind_text(stmt, at, text, len, SQLITE_STATIC);
}

static void bind_blob(sqlite3_stmt *stmt, int at, const void *bytes, int len)
{
    sqlite3_bind_blob(stmt, at, bytes, len, SQLITE_STATIC);
}

static void write_log(raw *r, const char *text, const uint64_t *mix, int64_t now)
{
    bind_text(r->log, 5, "local", 5);
    bind_text(r->log, 6, "bench:put", 9);
    sqlite3_bind_int64(r->log, 1, ++r->seq);
    sqlite3_bind_int64(r->log, 2, now + r->seq); /* append-like, as UUIDv7 makes it */
    bind_blob(r->log, 3, mix, 16);
    sqlite3_bind_int64(r->log, 4, now);
    bind_blob(r->log, 7, mix, 32);
    bind_blob(r->log, 8, mix + 1, 32);
    bind_blob(r->log, 9, mix, 16);
    bind_text(r->log, 10, text, r->payload_len);
    bind_text(r->log, 11, text, r->result_len);
    bind_blob(r->log, 12, text, r->changes_len);
    sqlite3_bind_int64(r->log, 13, (int64_t)mix[0]);
    step(r, r->log);
}

static void write_object(raw *r, const char *text, const uint64_t *mix, int64_t now)
{
    sqlite3_bind_int64(r->object, 1, ++r->object_number);
    sqlite3_bind_int64(r->object, 2, (int64_t)mix[0]);
    bind_blob(r->object, 3, mix, 32);
    bind_text(r->object, 4, "value", 5);
    sqlite3_bind_int64(r->object, 5, r->body_len);
    sqlite3_bind_int64(r->object, 6, now);
    bind_blob(r->object, 7, text, r->body_len);
    sqlite3_bind_int64(r->object, 8, (int64_t)mix[1]);
    step(r, r->object);
}

static void write_session(raw *r, const uint64_t *mix, int64_t now, uint64_t n)
{
    uint8_t id[16] = {0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80, 0};
    char digits[16];

    (void)snprintf(digits, sizeof(digits), "%012u", (unsigned)(n * 617 % ROWS));
    for (int i = 0; i < 6; i++)
        id[10 + i] = (uint8_t)((digits[2 * i] - '0') << 4 | (digits[2 * i + 1] - '0'));
    bind_text(r->session, 1, "a label of some thirty characters", 33);
    bind_text(r->session, 2, "assistant", 9);
    bind_blob(r->session, 3, mix, 16);
    bind_blob(r->session, 4, mix, 32);
    bind_text(r->session, 5, "{\"color\":\"green\",\"model\":\"some\"}", 32);
    sqlite3_bind_int64(r->session, 6, (int64_t)n);
    sqlite3_bind_int64(r->session, 7, now);
    sqlite3_bind_int64(r->session, 8, now);
    sqlite3_bind_int64(r->session, 9, r->seq);
    sqlite3_bind_int64(r->session, 10, (int64_t)mix[2]);
    bind_blob(r->session, 11, id, 16);
    step(r, r->session);
    MUST(sqlite3_changes(r->db) == 1);
}

static void raw_command(state *s)
{
    raw *r = &s->raw;
    uint64_t n = next_number(s);
    uint64_t mix[5];
    payloads p;
    int64_t now = valise_env_default()->now_ns(NULL);

    (void)payload_of(&p, n);
    for (size_t i = 0; i < VLS_COUNT(mix); i++)
        mix[i] = (n + i) * UINT64_C(0x9E3779B97F4A7C15);
    write_object(r, p.text, mix, now);
    write_session(r, mix, now, n);
    write_log(r, p.text, mix, now);
}

static void raw_group(state *s, size_t count)
{
    step(&s->raw, s->raw.begin);
    for (size_t i = 0; i < count; i++)
        raw_command(s);
    step(&s->raw, s->raw.commit);
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

static void make_dir(char out[256], const char *name)
{
    const char *root = getenv("VALISE_BENCH_DIR");

    (void)snprintf(out, 256, "%s/valise-bench-%ld-%s", root ? root : "/var/tmp", (long)getpid(),
                   name);
    MUST(mkdir(out, 0700) == 0);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static void remove_dir(const char *dir)
{
    MUST(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Two files with the same 1,000 rows, one for each side. The second batch changes what the first
 * one made: from then on entries hold the rows as they were before, and the raw side takes the
 * sizes of what it writes from the last of them. */
static void run_at(bench *b, bool full, const bench_row *rows, size_t count)
{
    state s = {.next = 0};

    make_dir(s.dir, "ours");
    make_dir(s.raw_dir, "raw");
    open_ours(&s, s.raw_dir, full);
    ours_batch(&s, 2);
    close_ours(&s);
    open_raw(&s.raw, s.raw_dir, full);
    s.next = 0;
    open_ours(&s, s.dir, full);
    ours_batch(&s, 2);
    for (size_t i = 0; i < count; i++) {
        bench_row row = rows[i];
        row.arg = &s;
        bench_compare(b, &row);
    }
    close_ours(&s);
    close_raw(&s.raw);
    remove_dir(s.dir);
    remove_dir(s.raw_dir);
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
