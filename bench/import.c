/* import.c -- bytes and conversations that come in from files: a blob is registered, an OpenAI file
 * imported.
 *
 * A blob is compared with what any program must do to keep a file by its hash: read it, SHA-256,
 * write it, fsync, rename, fsync of the folder. An import with the rows it makes, written by hand:
 * the turns, and the objects that hold their blocks and records, each conversation in a transaction
 * of its own. */
#define VLS_ALLOW_MALLOC
#include <fcntl.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <valise/api.h>
#include <valise/workspace.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/hex.h"
#include "base/str.h"

#define TALKS 100u
#define TURNS 100u /* of each */

typedef struct state {
    char dir[256], file[300], kept[300];
    valise *v;
    raw raw;
    raw_row *turn, *object;
    size_t objects; /* that one import adds */
    size_t size;
    uint64_t next;
} state;

static void run(const state *s, const char *type)
{
    valise_error err = VALISE_ERROR_INIT;
    char payload[400];

    (void)snprintf(payload, sizeof(payload), "{\"path\":\"%s\"}", s->file);
    if (valise_dispatch_str(NULL, s->v, valise_str_of(type), valise_str_of(payload), NULL, &err) <
        0)
        raw_die(__FILE__, __LINE__, err.message);
}

/* ---- blobs ---- */

/* A file that nobody has seen before. */
static void write_file(state *s)
{
    char *bytes = calloc(1, s->size);
    int fd = open(s->file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    MUST(bytes && fd >= 0);
    s->next++;
    memcpy(bytes, &s->next, sizeof(s->next));
    MUST(write(fd, bytes, s->size) == (ssize_t)s->size);
    (void)close(fd);
    free(bytes);
}

static void register_ours(void *arg, size_t times)
{
    while (times--) {
        write_file(arg);
        run(arg, "blob:register");
    }
}

static void sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY);

    MUST(fd >= 0 && fsync(fd) == 0);
    (void)close(fd);
}

static void register_by_hand(void *arg, size_t times)
{
    state *s = arg;
    char *bytes = calloc(1, s->size), to[400];
    valise_id id;
    unsigned len = 0;
    int fd;

    MUST(bytes);
    while (times--) {
        write_file(s);
        fd = open(s->file, O_RDONLY);
        MUST(fd >= 0 && read(fd, bytes, s->size) == (ssize_t)s->size);
        (void)close(fd);
        MUST(EVP_Digest(bytes, s->size, id.bytes, &len, EVP_sha256(), NULL));
        fd = open(s->kept, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        MUST(fd >= 0 && write(fd, bytes, s->size) == (ssize_t)s->size && fsync(fd) == 0);
        (void)close(fd);
        (void)snprintf(to, sizeof(to), "%s/%s", s->dir, vls_id_hex(&id).s);
        MUST(rename(s->kept, to) == 0);
        sync_dir(s->dir);
    }
    free(bytes);
}

static void compare_blobs(bench *b, size_t size, const char *name)
{
    state s = {.size = size};

    raw_make_dir(s.dir, "blob");
    (void)snprintf(s.file, sizeof(s.file), "%s/bytes", s.dir);
    (void)snprintf(s.kept, sizeof(s.kept), "%s/kept", s.dir);
    s.v = raw_open_workspace(s.dir, false, NULL);
    bench_compare(b, &(bench_row){.name = name,
                                  .against = "read, SHA-256, write, fsync",
                                  .ours = register_ours,
                                  .baseline = register_by_hand,
                                  .arg = &s,
                                  .bytes = size});
    valise_close(s.v);
    raw_remove_dir(s.dir);
}

BENCH(blob)
{
    compare_blobs(b, 4096, "a file of 4 KiB registered");
    compare_blobs(b, 1u << 20, "a file of 1 MiB registered");
}

/* ---- conversations ---- */

static void write_talks(state *s)
{
    FILE *f = fopen(s->file, "w");

    MUST(f);
    s->next++;
    for (unsigned i = 0; i < TALKS; i++) {
        (void)fprintf(f, "{\"messages\":[");
        for (unsigned k = 0; k < TURNS; k++)
            (void)fprintf(f, "%s{\"role\":\"%s\",\"content\":\"%u in %u of %llu: %0200u\"}",
                          k > 0 ? "," : "", k % 2 ? "assistant" : "user", k, i,
                          (unsigned long long)s->next, k);
        (void)fprintf(f, "]}\n");
    }
    MUST(fclose(f) == 0);
}

static void import_ours(void *arg, size_t times)
{
    while (times--) {
        write_talks(arg);
        run(arg, "session:import");
    }
}

static void write_rows(state *s)
{
    uint64_t mix[4];

    for (size_t i = 0; i < s->objects / TALKS; i++) {
        s->next++;
        for (size_t k = 0; k < VLS_COUNT(mix); k++)
            mix[k] = (s->next + k) * UINT64_C(0x9E3779B97F4A7C15);
        raw_set_int(s->object, "number", raw_get_int(s->object, "number") + 1);
        raw_set_int(s->object, "h8", (int64_t)mix[0]);
        raw_set_bytes(s->object, "hash", mix);
        raw_insert(s->object);
    }
    for (size_t i = 0; i < TURNS; i++) {
        uint64_t id[2] = {++s->next << 32, 7};
        raw_set_bytes(s->turn, "id", id);
        raw_set_int(s->turn, "depth", raw_get_int(s->turn, "depth") + 1);
        raw_insert(s->turn);
    }
}

static void import_by_hand(void *arg, size_t times)
{
    state *s = arg;

    for (size_t i = 0; i < times * TALKS; i++) {
        raw_begin(&s->raw);
        write_rows(s);
        raw_commit(&s->raw);
    }
}

static size_t count_objects(const state *s)
{
    char path[300];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    size_t count;

    (void)snprintf(path, sizeof(path), "%s/.valise/valise.db", s->dir);
    MUST(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(db, "SELECT count(*) FROM object", -1, &stmt, NULL) == SQLITE_OK);
    MUST(sqlite3_step(stmt) == SQLITE_ROW);
    count = (size_t)sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return count;
}

BENCH(import)
{
    state s = {.next = 0}, by_hand = {.next = 0};

    raw_make_dir(s.dir, "import");
    raw_make_dir(by_hand.dir, "by-hand");
    (void)snprintf(s.file, sizeof(s.file), "%s/talks.jsonl", s.dir);
    memcpy(by_hand.file, s.file, sizeof(s.file));
    by_hand.v = raw_open_workspace(by_hand.dir, false, NULL);
    import_ours(&by_hand, 1);
    valise_close(by_hand.v);
    s.objects = count_objects(&by_hand);
    raw_open(&s.raw, by_hand.dir, false);
    s.turn = raw_row_like(&s.raw, "turn", "from_seq");
    s.object = raw_row_like(&s.raw, "object", "number");
    s.v = raw_open_workspace(s.dir, false, NULL);
    bench_compare(b, &(bench_row){.name = "10,000 turns imported (OpenAI)",
                                  .against = "their rows and objects by hand",
                                  .ours = import_ours,
                                  .baseline = import_by_hand,
                                  .arg = &s,
                                  .cpu = true});
    valise_close(s.v);
    raw_close(&s.raw);
    raw_remove_dir(s.dir);
    raw_remove_dir(by_hand.dir);
}
