/* search.c -- words are looked for among 100,000 entries: against FTS5 alone, over the same texts,
 * with snippets. And what it costs to follow. [W14] [Q14]
 *
 * Both rank by BM25, but not quite alike: ours takes the length of a text from 8 bits of its id
 * (src/search/rank.c), where FTS5 reads a row for each match. So where lengths are all that tells
 * texts apart, as here, the orders differ. Times may be compared, hits may not. */
#define VLS_ALLOW_MALLOC
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/str.h"

#include <valise/search.h>
#include <valise/workspace.h>

#define BATCH 1000u
#define TEXT_MAX 900
#define VOCABULARY 20000u

typedef struct library {
    char dir[256];
    valise *v;
    sqlite3 *db;
    sqlite3_stmt *find;
    const char *query; /* of both */
    size_t count, added;
} library;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Some sixty words; most are common ones, as in any language. twentieth: in one entry of twenty,
 * fortieth: in half of these, half: in every other, rare: in one of a thousand. */
static void write_text(char out[TEXT_MAX], size_t n)
{
    uint64_t state = n * 77 + 5;
    int len = snprintf(out, TEXT_MAX, "entry %s%s%s%s", n % 40 == 0 ? "fortieth " : "",
                       n % 20 == 0 ? "twentieth " : "", n % 2 == 0 ? "half " : "",
                       n % 1000 == 0 ? "rare " : "");

    for (int i = 0; i < 60 && len < TEXT_MAX - 16; i++) {
        double u = (double)next(&state) / 2147483648.0;
        len += snprintf(out + len, (size_t)(TEXT_MAX - len), "w%u ",
                        (unsigned)(VOCABULARY * u * u * u));
    }
}

static void put_entries(library *l, size_t from, size_t to)
{
    static char payloads[BATCH][TEXT_MAX + 100];
    static valise_command commands[BATCH];
    valise_error err = VALISE_ERROR_INIT;

    for (size_t done = from; done < to;) {
        size_t now = VLS_MIN(to - done, (size_t)BATCH);
        for (size_t i = 0; i < now; i++) {
            char text[TEXT_MAX];
            write_text(text, done + i);
            int len = snprintf(payloads[i], sizeof(payloads[i]),
                               "{\"key\":\"k%zu\",\"text\":\"%s\"}", done + i, text);
            commands[i] = (valise_command){.type = VLS_STR("context:add"),
                                           .payload = vls_str(payloads[i], (size_t)len)};
        }
        must(valise_dispatch_batch(NULL, l->v, commands, now, NULL, &err), &err);
        done += now;
    }
}

static void sql(library *l, const char *text)
{
    MUST(sqlite3_exec(l->db, text, NULL, NULL, NULL) == SQLITE_OK);
}

static double put_raw(library *l)
{
    char path[300];
    sqlite3_stmt *put = NULL;
    double began;

    (void)snprintf(path, sizeof(path), "%s/raw.db", l->dir);
    MUST(sqlite3_open(path, &l->db) == SQLITE_OK);
    sql(l, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16384");
    sql(l, "CREATE VIRTUAL TABLE fts USING fts5(text, tokenize='unicode61 remove_diacritics 2')");
    MUST(sqlite3_prepare_v2(l->db, "INSERT INTO fts VALUES (?1)", -1, &put, NULL) == SQLITE_OK);
    began = now_s();
    for (size_t i = 0; i < l->count; i++) {
        char text[TEXT_MAX];
        if (i % BATCH == 0)
            sql(l, "BEGIN");
        write_text(text, i);
        (void)sqlite3_bind_text(put, 1, text, -1, SQLITE_STATIC);
        MUST(sqlite3_step(put) == SQLITE_DONE && sqlite3_reset(put) == SQLITE_OK);
        if (i % BATCH == BATCH - 1)
            sql(l, "COMMIT");
    }
    began = now_s() - began;
    (void)sqlite3_finalize(put);
    MUST(sqlite3_prepare_v2(l->db,
                            "SELECT rowid, rank, snippet(fts, 0, '[', ']', '...', 24) FROM fts "
                            "WHERE fts MATCH ?1 ORDER BY rank LIMIT 20",
                            -1, &l->find, NULL) == SQLITE_OK);
    return began;
}

static void find_ours(void *arg, size_t times)
{
    library *l = arg;

    for (size_t i = 0; i < times; i++) {
        valise_error err = VALISE_ERROR_INIT;
        valise_hits *hits = NULL;
        must(valise_search(&hits, l->v, l->query, NULL, NULL, &err), &err);
        MUST(hits->count == 20);
        valise_hits_free(hits);
    }
}

static void find_raw(void *arg, size_t times)
{
    library *l = arg;

    for (size_t i = 0; i < times; i++) {
        size_t rows = 0;
        (void)sqlite3_bind_text(l->find, 1, l->query, -1, SQLITE_STATIC);
        while (sqlite3_step(l->find) == SQLITE_ROW) {
            bench_use(sqlite3_column_text(l->find, 2));
            rows++;
        }
        MUST(rows == 20 && sqlite3_reset(l->find) == SQLITE_OK);
    }
}

/* One more entry, and a look for it. */
static void follow(void *arg, size_t times)
{
    library *l = arg;

    l->query = "rare";
    for (size_t i = 0; i < times; i++) {
        size_t n = l->count + l->added++;
        put_entries(l, n, n + 1);
        find_ours(l, 1);
    }
}

static double ms_of(library *l, size_t times)
{
    double began = now_s();

    find_ours(l, times);
    return (now_s() - began) * 1000 / (double)times;
}

static void measure(bench *b, library *l)
{
    static const struct {
        const char *name, *query;
        double most_ms;
    } rows[] = {
        {"search, a word in 0.1 %", "rare", 10},
        {"search, a word in 5 %", "twentieth", 10},
        {"search, two words in 5 % and 2.5 %", "twentieth fortieth", 10},
        {"search, a word in half", "half", 0},
        {"search, two words", "twentieth half", 0},
        {"search, a phrase", "\"twentieth half\"", 0},
        {"search, a beginning", "w1234*", 10},
    };

    for (size_t i = 0; i < VLS_COUNT(rows); i++) {
        char name[80];
        l->query = rows[i].query;
        bench_compare(b, &(bench_row){.name = rows[i].name,
                                      .against = "FTS5, ranked, snippets",
                                      .requires = "Q14",
                                      .ours = find_ours,
                                      .baseline = find_raw,
                                      .arg = l,
                                      .at_most = 1.2});
        (void)snprintf(name, sizeof(name), "%s: time", rows[i].name);
        bench_fact(b, name, ms_of(l, 20), "ms", rows[i].most_ms);
    }
}

BENCH(search)
{
    library *l = calloc(1, sizeof(*l));
    double raw_s, ours_s, began;

    MUST(l);
    l->count = bench_is_quick(b) ? 20000 : 100000;
    raw_make_dir(l->dir, "search");
    l->v = raw_open_workspace(l->dir, false, NULL);
    put_entries(l, 0, l->count);
    raw_s = put_raw(l);
    l->query = "rare";
    began = now_s();
    find_ours(l, 1);
    ours_s = now_s() - began;
    bench_fact(b, "search, building the index, per entry", ours_s * 1e6 / (double)l->count, "us",
               0);
    bench_fact(b, "search, building, against FTS5 alone", ours_s / raw_s, "x", 0);
    measure(b, l);
    began = now_s();
    follow(l, 200);
    bench_fact(b, "search, one entry more and a search", (now_s() - began) * 1e6 / 200, "us", 0);
    (void)sqlite3_finalize(l->find);
    (void)sqlite3_close(l->db);
    valise_close(l->v);
    raw_remove_dir(l->dir);
    free(l);
}
