/* memory.c -- the memory indexes with 100,000 sessions: point and prefix queries, counts. [W16]
 *
 * An extension puts the sessions, many in one command. The baseline of a query is the least that
 * any program could do for it: one prepared SELECT by key on a store that is in the cache. */
#define VLS_ALLOW_MALLOC
#include <sqlite3.h>

#include <valise/sys/extension.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "bus/bus.h"
#include "chat/rows.h"

#define AT_ONCE 10000u

typedef struct crowd_args {
    int64_t from, count;
} crowd_args;

static const valise_field crowd_in[] = {
    VALISE_FIELD(crowd_args, from, INT, VALISE_REQUIRED, "The first."),
    VALISE_FIELD(crowd_args, count, INT, VALISE_REQUIRED, "How many."),
    VALISE_FIELD_END,
};

static valise_uuid id_of(size_t i)
{
    valise_uuid id = {{0}};

    id.bytes[6] = 0x70;
    id.bytes[8] = 0x80;
    for (int b = 0; b < 4; b++)
        id.bytes[15 - b] = (uint8_t)(i >> (8 * b));
    return id;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    static const valise_str topics[] = {{"all", 3}, {"tenth", 5}};
    const crowd_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    int rc = 0;

    (void)result;
    for (int64_t i = args->from; rc == 0 && i < args->from + args->count; i++) {
        vls_session_row row = {.id = id_of((size_t)i),
                               .label = {"a conversation", 14},
                               .topics = {topics, i % 10 == 0 ? 2 : 1},
                               .created = stamp->time,
                               .updated = stamp->time,
                               .actor = stamp->actor};
        rc = valise_view_put(view, &vls_sessions, &row, err);
    }
    return rc;
}

static const valise_op crowd_op = {
    .size = sizeof(valise_op),
    .name = "crowd:sessions",
    .brief = "Put many sessions.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = crowd_in,
    .in_size = sizeof(crowd_args),
    .decide = decide,
    .example = "{\"from\":1,\"count\":2}",
};
static const valise_op *const crowd_ops[] = {&crowd_op, NULL};
static const valise_extension crowd = {.size = sizeof(valise_extension),
                                       .abi = VALISE_EXTENSION_ABI,
                                       .name = "crowd",
                                       .version = "1",
                                       .operations = crowd_ops};

typedef struct hall {
    char dir[256];
    valise *v;
    size_t sessions, next;
    sqlite3 *db;
    sqlite3_stmt *get;
} hall;

static void run(hall *h, const char *op, const char *json)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    if (valise_dispatch(&reply, h->v, op, json, NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    bench_use(reply.json);
    valise_reply_release(&reply);
}

static void *make(size_t sessions)
{
    static int made; /* they have names of their own */
    hall *h = calloc(1, sizeof(*h));
    char name[64], json[128], path[300];

    MUST(h);
    h->sessions = sessions;
    (void)snprintf(name, sizeof(name), "memory-%d", made++);
    raw_make_dir(h->dir, name);
    h->v = raw_open_workspace(h->dir, false, &crowd);
    for (size_t at = 0; at < sessions; at += AT_ONCE) {
        size_t count = VLS_MIN(sessions - at, (size_t)AT_ONCE);
        (void)snprintf(json, sizeof(json), "{\"from\":%zu,\"count\":%zu}", at, count);
        run(h, "crowd:sessions", json);
    }
    /* A read looks at the newest entry: it is to be one of the usual size. */
    run(h, "role:add", "{\"name\":\"r\"}");
    run(h, "index:count", "{\"name\":\"sessions\"}"); /* loaded */
    run(h, "index:count", "{\"name\":\"topics\"}");
    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", h->dir);
    MUST(sqlite3_open_v2(path, &h->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(h->db, "SELECT * FROM session WHERE id = ?1", -1, &h->get, NULL) ==
         SQLITE_OK);
    return h;
}

static void close_hall(void *arg)
{
    hall *h = arg;

    sqlite3_finalize(h->get);
    sqlite3_close(h->db);
    valise_close(h->v);
    raw_remove_dir(h->dir);
    free(h);
}

static size_t draw(hall *h)
{
    h->next = (h->next * 48271 + 11) % 2147483647;
    return h->next % h->sessions;
}

static void point(void *arg, size_t times)
{
    hall *h = arg;
    char json[160];

    for (size_t i = 0; i < times; i++) {
        (void)snprintf(json, sizeof(json),
                       "{\"name\":\"sessions\",\"prefix\":\"00000000-0000-7000-8000-%012zx\"}",
                       draw(h));
        run(h, "index:query", json);
    }
}

static void select_one(void *arg, size_t times)
{
    hall *h = arg;

    for (size_t i = 0; i < times; i++) {
        valise_uuid id = id_of(draw(h));
        MUST(sqlite3_bind_blob(h->get, 1, id.bytes, sizeof(id.bytes), SQLITE_TRANSIENT) ==
             SQLITE_OK);
        MUST(sqlite3_step(h->get) == SQLITE_ROW);
        bench_use(sqlite3_column_blob(h->get, 0));
        MUST(sqlite3_reset(h->get) == SQLITE_OK);
    }
}

static void prefix(void *arg, size_t times)
{
    hall *h = arg;
    char json[160];

    for (size_t i = 0; i < times; i++) {
        (void)snprintf(json, sizeof(json),
                       "{\"name\":\"sessions\",\"prefix\":\"00000000-0000-7000-8000-%011zx\"}",
                       draw(h) / 16);
        run(h, "index:query", json);
    }
}

static void count(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "index:count", "{\"name\":\"topics\",\"prefix\":\"tenth/session/\"}");
}

static void list_topics(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "topic:list", "{}");
}

static void load(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "workspace:sync", "{}");
}

BENCH(memory)
{
    size_t most = bench_is_quick(b) ? 10000 : 100000;
    hall *h = make(most);

    bench_compare(b, &(bench_row){.name = "a session by id, from the index, as JSON",
                                  .against = "SELECT by key, prepared",
                                  .requires = "W16",
                                  .ours = point,
                                  .baseline = select_one,
                                  .arg = h,
                                  .cpu = true});
    close_hall(h);
    const struct {
        const char *name;
        bench_fn *fn;
        double promised;
    } rows[] = {{"index: a session by id, by sessions", point, 0},
                {"index: 16 sessions by prefix, by sessions", prefix, 0},
                {"index: how many sessions have a topic, by sessions", count, 0},
                {"topic:list of 2 topics, by sessions", list_topics, 0},
                {"workspace:sync, by sessions", load, 1}};
    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        bench_growth(b, &(bench_growth_row){.name = rows[i].name,
                                            .setup = make,
                                            .teardown = close_hall,
                                            .fn = rows[i].fn,
                                            .sizes = {1000, 10000, most > 10000 ? most : 0},
                                            .promised = rows[i].promised,
                                            .cpu = true});
}
