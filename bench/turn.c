/* turn.c -- conversations: a turn is added [Q7], a session forked [Q8], a transcript read [Q9].
 *
 * A turn that is added is an entry of the log, its blocks (300 bytes), the turn, and the session,
 * whose head moves. A transcript is compared with plain SQLite that has the keys of all turns at
 * hand, and reads each row, and the blocks it names, by key. */
#define VLS_ALLOW_MALLOC
#include <sqlite3.h>

#include "bench/durable.h"

#include "base/str.h"
#include "bus/bus.h"
#include "chat/graph.h"

#define PAYLOAD_MAX 1024
#define SAID_BYTES 260u
#define TURNS 10000u
#define SESSION "018f0000-0000-7000-8000-000000000001" /* its id, as programs have it */

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static void run_one(valise *v, const char *type, valise_str payload)
{
    valise_error err = VALISE_ERROR_INIT;

    must(valise_dispatch_str(NULL, v, valise_str_of(type), payload, NULL, &err), &err);
}

/* ---- adding ---- */

static void *open_side(const char *dir, bool full)
{
    valise *v = raw_open_workspace(dir, full, NULL);

    run_one(v, "session:create", VLS_STR("{\"id\":\"" SESSION "\",\"label\":\"bench\"}"));
    return v;
}

static void close_side(void *self)
{
    valise_close(self);
}

/* The n-th turn, as the payload of a command. */
static valise_str payload_of(char out[PAYLOAD_MAX], uint64_t n)
{
    char said[SAID_BYTES + 1];
    int len;

    memset(said, 'x', SAID_BYTES);
    said[SAID_BYTES] = '\0';
    len = snprintf(said, sizeof(said), "turn %llu", (unsigned long long)n);
    said[len] = ' ';
    len = snprintf(out, PAYLOAD_MAX,
                   "{\"sessionId\":\"" SESSION "\",\"turn\":{\"role\":\"%s\",\"blocks\":"
                   "[{\"type\":\"text\",\"text\":\"%s\"}]}}",
                   n % 2 ? "assistant" : "user", said);
    return vls_str(out, (size_t)len);
}

static void add_one(void *self, uint64_t n)
{
    char payload[PAYLOAD_MAX];

    run_one(self, "turn:add", payload_of(payload, n));
}

static void add_many(void *self, uint64_t first)
{
    static char payloads[DURABLE_MANY][PAYLOAD_MAX];
    static valise_command commands[DURABLE_MANY];
    valise_error err = VALISE_ERROR_INIT;

    for (uint64_t i = 0; i < DURABLE_MANY; i++)
        commands[i] = (valise_command){.type = VLS_STR("turn:add"),
                                       .payload = payload_of(payloads[i], first + i)};
    must(valise_dispatch_batch(NULL, self, commands, DURABLE_MANY, NULL, &err), &err);
}

static void write_turn(raw_row *row, const durable_rows *rows)
{
    uint64_t id[2] = {rows->n << 32, rows->mix[0]}; /* append-like, as UUIDv7 makes it */

    raw_set_bytes(row, "id", id);
    raw_set_bytes(row, "blocks", rows->mix);
    raw_set_int(row, "depth", raw_get_int(row, "depth") + 1);
    raw_set_int(row, "time", rows->now);
    raw_set_int(row, "from_seq", rows->seq);
    raw_insert(row);
}

static void write_session(raw_row *row, const durable_rows *rows)
{
    raw_set_bytes(row, "head", rows->mix);
    raw_set_int(row, "head_depth", raw_get_int(row, "head_depth") + 1);
    raw_set_int(row, "updated", rows->now);
    raw_set_int(row, "from_seq", rows->seq);
    raw_update(row);
}

BENCH(turn)
{
    durable_compare(b, &(durable_command){.one = "a turn added at NORMAL",
                                          .many = "1,000 turns added in a batch",
                                          .one_full = "a turn added at FULL",
                                          .threads = "16 threads at FULL, 20 turns each",
                                          .open = open_side,
                                          .close = close_side,
                                          .run = add_one,
                                          .run_many = add_many,
                                          .table = "turn",
                                          .key = "from_seq",
                                          .write = write_turn,
                                          .more = {{"session", "id", write_session}}});
}

/* ---- a conversation of some length ---- */

typedef struct talk {
    char dir[256];
    valise *v;
    sqlite3 *db; /* the same file, for who reads by hand */
    sqlite3_stmt *turn, *object;
    valise_uuid *ids;
    size_t count;
    int64_t read; /* versions, and bytes of blocks */
    int64_t bytes;
} talk;

static void *make_talk(size_t turns)
{
    static int made; /* they have names of their own */
    talk *k = calloc(1, sizeof(*k));
    char name[64];

    MUST(k);
    (void)snprintf(name, sizeof(name), "talk-%d", made++);
    raw_make_dir(k->dir, name);
    k->v = open_side(k->dir, false);
    for (size_t i = 0; i < turns; i++) {
        if (turns - i >= DURABLE_MANY) {
            add_many(k->v, i);
            i += DURABLE_MANY - 1;
        } else {
            add_one(k->v, i);
        }
    }
    return k;
}

static void close_talk(void *arg)
{
    talk *k = arg;

    (void)sqlite3_finalize(k->turn);
    (void)sqlite3_finalize(k->object);
    (void)sqlite3_close(k->db);
    valise_close(k->v);
    raw_remove_dir(k->dir);
    free(k->ids);
    free(k);
}

/* ---- forking ---- */

static void fork_it(void *arg, size_t times)
{
    const talk *k = arg;

    while (times--)
        run_one(k->v, "session:fork", VLS_STR("{\"sessionId\":\"bench\"}"));
}

static double file_bytes(const talk *k)
{
    char path[300];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    double bytes;

    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", k->dir);
    MUST(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(db,
                            "SELECT (SELECT * FROM pragma_page_count) * (SELECT * FROM "
                            "pragma_page_size)",
                            -1, &stmt, NULL) == SQLITE_OK);
    MUST(sqlite3_step(stmt) == SQLITE_ROW);
    bytes = sqlite3_column_double(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return bytes;
}

/* What one fork adds to the file, from the pages that a thousand take. */
static double fork_bytes(size_t turns)
{
    talk *k = make_talk(turns);
    double before = file_bytes(k), bytes;

    fork_it(k, 1000);
    bytes = (file_bytes(k) - before) / 1000;
    close_talk(k);
    return bytes;
}

BENCH(fork)
{
    size_t many = bench_is_quick(b) ? 10000 : 1000000;

    bench_growth(b, &(bench_growth_row){.name = "a session is forked [Q8]",
                                        .setup = make_talk,
                                        .teardown = close_talk,
                                        .fn = fork_it,
                                        .sizes = {10, many / 100, many},
                                        .promised = 0});
    bench_fact(b, "a fork of a session of 10 turns", fork_bytes(10), "bytes", 1024);
    bench_fact(b, "a fork of a long one", fork_bytes(many), "bytes", 1024);
}

/* ---- reading ---- */

typedef struct seeing {
    talk *k;
    bool blocks;
    valise_view *view;
} seeing;

static int see_all(void *arg, const vls_turn_row *turn, valise_error *err)
{
    seeing *s = arg;
    valise_blob *blob = NULL;
    int rc;

    s->k->read++;
    if (!s->blocks)
        return 0;
    rc = vls_view_blob(&blob, s->view, &turn->blocks, err);
    if (rc == 0)
        s->k->bytes += (int64_t)valise_blob_bytes(blob).len;
    (void)valise_blob_unref(blob);
    return rc;
}

static int read_path(void *arg, valise_view *view, valise_error *err)
{
    seeing *s = arg;
    vls_session_row session;
    vls_turn_row head;
    vls_trail trail = {0};
    int rc = vls_session_find(&session, view, VLS_STR("bench"), err);

    s->view = view;
    if (rc == 0)
        rc = vls_turn_get(&head, view, &session.head, err) > 0 ? 0 : VALISE_E_NOT_FOUND;
    if (rc == 0)
        rc = vls_trail_make(&trail, view, &head, NULL, false, err);
    if (rc == 0)
        rc = vls_trail_each(&trail, view, 0, false, see_all, s, err);
    vls_trail_release(&trail);
    return rc;
}

static void read_ours(talk *k, bool blocks, size_t times)
{
    valise_error err = VALISE_ERROR_INIT;

    while (times--) {
        seeing s = {.k = k, .blocks = blocks};
        k->read = k->bytes = 0;
        must(vls_with_view(k->v, NULL, read_path, &s, &err), &err);
        MUST((size_t)k->read == k->count);
    }
}

static void rows_ours(void *arg, size_t times)
{
    read_ours(arg, false, times);
}

static void all_ours(void *arg, size_t times)
{
    read_ours(arg, true, times);
}

static int64_t h8_of(const unsigned char *hash)
{
    uint64_t bits = 0;

    for (int i = 0; i < 8; i++)
        bits = bits << 8 | hash[i];
    bits ^= UINT64_C(1) << 63;
    return (int64_t)bits;
}

static void read_object(talk *k, const unsigned char *hash)
{
    sqlite3_bind_int64(k->object, 1, h8_of(hash));
    MUST(sqlite3_step(k->object) == SQLITE_ROW);
    bench_use(sqlite3_column_blob(k->object, 2));
    k->bytes += sqlite3_column_bytes(k->object, 2);
    (void)sqlite3_reset(k->object);
}

static void read_by_key(talk *k, bool blocks, size_t times)
{
    while (times--) {
        k->read = k->bytes = 0;
        MUST(sqlite3_exec(k->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
        for (size_t i = 0; i < k->count; i++) {
            sqlite3_bind_blob(k->turn, 1, &k->ids[i], sizeof(k->ids[i]), SQLITE_STATIC);
            MUST(sqlite3_step(k->turn) == SQLITE_ROW);
            for (int c = 0; c < sqlite3_column_count(k->turn); c++) {
                if (sqlite3_column_type(k->turn, c) == SQLITE_INTEGER)
                    k->read += sqlite3_column_int64(k->turn, c) != 0;
                else
                    bench_use(sqlite3_column_blob(k->turn, c));
            }
            if (blocks)
                read_object(k, sqlite3_column_blob(k->turn, 3));
            (void)sqlite3_reset(k->turn);
        }
        MUST(sqlite3_exec(k->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    }
}

static void rows_by_key(void *arg, size_t times)
{
    read_by_key(arg, false, times);
}

static void all_by_key(void *arg, size_t times)
{
    read_by_key(arg, true, times);
}

static int take_id(void *arg, const vls_turn_row *turn, valise_error *err)
{
    talk *k = arg;

    (void)err;
    MUST(k->count < TURNS);
    k->ids[k->count++] = turn->ref.id;
    return 0;
}

static int list_ids(void *arg, valise_view *view, valise_error *err)
{
    vls_session_row session;
    vls_turn_row head;
    vls_trail trail = {0};
    int rc = vls_session_find(&session, view, VLS_STR("bench"), err);

    if (rc == 0)
        rc = vls_turn_get(&head, view, &session.head, err) > 0 ? 0 : VALISE_E_NOT_FOUND;
    if (rc == 0)
        rc = vls_trail_make(&trail, view, &head, NULL, false, err);
    if (rc == 0)
        rc = vls_trail_each(&trail, view, 0, false, take_id, arg, err);
    vls_trail_release(&trail);
    return rc;
}

static void open_by_hand(talk *k)
{
    valise_error err = VALISE_ERROR_INIT;
    char path[300];

    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", k->dir);
    k->ids = calloc(TURNS, sizeof(*k->ids));
    MUST(k->ids);
    must(vls_with_view(k->v, NULL, list_ids, k, &err), &err);
    MUST(k->count == TURNS);
    MUST(sqlite3_open_v2(path, &k->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(k->db, "SELECT * FROM turn WHERE id = ?1 AND version = 1", -1, &k->turn,
                            NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(k->db, "SELECT hash, kind, body FROM object WHERE h8 = ?1", -1,
                            &k->object, NULL) == SQLITE_OK);
}

BENCH(transcript)
{
    talk *k = make_talk(TURNS);

    open_by_hand(k);
    bench_compare(b, &(bench_row){.name = "10,000 turns of a path",
                                  .against = "their rows by key",
                                  .requires = "Q9",
                                  .ours = rows_ours,
                                  .baseline = rows_by_key,
                                  .arg = k,
                                  .at_most = 1.5,
                                  .cpu = true});
    bench_compare(b, &(bench_row){.name = "10,000 turns with what they say",
                                  .against = "rows and blocks by key",
                                  .requires = "Q9",
                                  .ours = all_ours,
                                  .baseline = all_by_key,
                                  .arg = k,
                                  .at_most = 1.5,
                                  .cpu = true});
    close_talk(k);
}
