/* watch.c -- from an edit to the version that has it, in trees of 1,000 to 100,000 files. [C27]
 *
 * One file is written, then the watch is asked until it has recorded that; it does not wait for
 * quiet (which is what 50 ms of every reaction are otherwise). Files take turns. The same with all
 * that depends on the edit made again (--regenerate): a note on a file of each directory, frames on
 * all directories, made of what holds; so an edit takes a note out or brings it back, and four
 * frames are made. The baseline is
 * the least that any program has to do: hear of the name, stat it, hash the file, and one commit
 * with rows like ours, of the log and of the file and the directories above it. */
#define VLS_ALLOW_MALLOC
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include <valise/watch.h>

#define FILES_PER_DIR 10u
#define DIRS_PER_DIR 20u
#define LEVELS 5 /* a file, three directories, the root */

typedef struct meadow {
    char dir[256], root[512];
    size_t files;
    uint64_t edits;
    valise *v;
    valise_watch *watch;
    int64_t versions; /* after which all was made again */
    /* by hand */
    raw raw;
    raw_row *log, *node;
    int inotify;
    EVP_MD_CTX *ctx;
    EVP_MD *md;
    int64_t seq, version;
} meadow;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static void path_of(char out[1024], const meadow *m, size_t n, int level)
{
    size_t d = n / FILES_PER_DIR;
    unsigned parts[3] = {(unsigned)(d / (DIRS_PER_DIR * DIRS_PER_DIR)),
                         (unsigned)(d / DIRS_PER_DIR % DIRS_PER_DIR), (unsigned)(d % DIRS_PER_DIR)};
    int len = snprintf(out, 1024, "%s", m->root);

    for (int i = 0; i < 3 && i < level; i++)
        len += snprintf(out + len, 1024 - (size_t)len, "/part-%u", parts[i]);
    if (level > 3)
        (void)snprintf(out + len, 1024 - (size_t)len, "/file-%u.c", (unsigned)(n % FILES_PER_DIR));
}

static void write_file(const meadow *m, size_t n, uint64_t edit)
{
    char path[1024], text[64];
    int len = snprintf(text, sizeof(text), "file %zu, edit %llu\n", n, (unsigned long long)edit);
    int fd;

    path_of(path, m, n, 4);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    MUST(fd >= 0 && write(fd, text, (size_t)len) == len && close(fd) == 0);
}

static meadow *make(size_t files)
{
    static int made; /* they have names of their own */
    meadow *m = calloc(1, sizeof(*m));
    char path[1024];

    MUST(m);
    m->files = files;
    m->inotify = -1;
    (void)snprintf(path, sizeof(path), "watch-%d", made++);
    raw_make_dir(m->dir, path);
    (void)snprintf(m->root, sizeof(m->root), "%s/tree", m->dir);
    MUST(mkdir(m->root, 0755) == 0);
    for (size_t n = 0; n < files; n++) {
        for (int level = 1; n % FILES_PER_DIR == 0 && level < 4; level++) {
            path_of(path, m, n, level);
            (void)mkdir(path, 0755);
        }
        write_file(m, n, 0);
    }
    return m;
}

static void *open_watch(size_t files)
{
    meadow *m = make(files);
    valise_watch_options options = VALISE_WATCH_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;

    options.quiet_ns = 0;
    m->v = raw_open_workspace(m->root, false, NULL);
    must(valise_watch_open(&m->watch, m->v, &options, NULL, &err), &err);
    return m;
}

/* ---- with all that depends on it ---- */

static void run(valise *v, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    must(valise_dispatch(&reply, v, type, payload, NULL, &err), &err);
    valise_reply_release(&reply);
}

static int make_again(void *arg, const valise_tree_scanned *scanned, valise_error *err)
{
    meadow *m = arg;
    valise_reply reply = VALISE_REPLY_INIT;
    int rc = valise_dispatch(&reply, m->v, "context:regenerate",
                             "{\"noScan\":true,\"onlyNew\":true,\"recursive\":true}", NULL, err);

    (void)scanned;
    m->versions++;
    valise_reply_release(&reply);
    return rc;
}

static void *open_regenerating(size_t files)
{
    meadow *m = make(files);
    valise_watch_options options = VALISE_WATCH_OPTIONS_INIT;
    valise_frame_options unseen = VALISE_FRAME_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    char path[1024];

    m->v = raw_open_workspace(m->root, false, NULL);
    run(m->v, "tree:scan", "{}");
    unseen.flags = VALISE_FRAME_NO_SCAN;
    for (size_t n = 0; n < files; n += FILES_PER_DIR) {
        path_of(path, m, n, 4);
        must(valise_frame_put(NULL, m->v, path + strlen(m->root) + 1,
                              (valise_str){"about this file", 15}, &unseen, NULL, &err),
             &err);
    }
    run(m->v, "context:synthesize",
        "{\"fresh\":true,\"noScan\":true,\"params\":{\"budget\":1024},\"recursive\":true}");
    options.quiet_ns = 0;
    options.recorded = make_again;
    options.arg = m;
    must(valise_watch_open(&m->watch, m->v, &options, NULL, &err), &err);
    return m;
}

/* Edit a file that has a note, or take that back. */
static void react_and_make(void *arg, size_t times)
{
    meadow *m = arg;
    valise_error err = VALISE_ERROR_INIT;
    size_t dirs = m->files / FILES_PER_DIR;

    for (size_t i = 0; i < times; i++) {
        int64_t before = m->versions;
        uint64_t edit = m->edits++;
        write_file(m, (size_t)(edit % dirs * 7919 % dirs) * FILES_PER_DIR, (edit / dirs + 1) % 2);
        while (m->versions == before)
            must(valise_watch_step(m->watch, INT64_C(10000000000), &err), &err);
    }
}

static void close_watch(void *arg)
{
    meadow *m = arg;

    valise_watch_close(m->watch);
    valise_close(m->v);
    if (m->log)
        raw_close(&m->raw);
    if (m->inotify >= 0)
        (void)close(m->inotify);
    EVP_MD_CTX_free(m->ctx);
    EVP_MD_free(m->md);
    raw_remove_dir(m->dir);
    free(m);
}

/* Far from one another, and each comes again only after all the others. */
static size_t next_file(meadow *m)
{
    return (size_t)(++m->edits * 7919 % m->files);
}

static void react(void *arg, size_t times)
{
    meadow *m = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (size_t i = 0; i < times; i++) {
        int rc = 0;
        size_t n = next_file(m);
        write_file(m, n, m->edits);
        while (rc == 0)
            rc = valise_watch_step(m->watch, INT64_C(10000000000), &err);
        must(rc, &err);
    }
}

/* ---- by hand ---- */

static void open_raw(meadow *m)
{
    char path[1024];

    raw_open(&m->raw, m->root, false);
    m->log = raw_row_like(&m->raw, "log", "seq");
    m->node = raw_row_like(&m->raw, "tree_node", "version");
    m->seq = raw_get_int(m->log, "seq");
    m->version = raw_get_int(m->node, "version");
    m->inotify = inotify_init1(IN_CLOEXEC);
    m->md = EVP_MD_fetch(NULL, "SHA256", NULL);
    m->ctx = EVP_MD_CTX_new();
    MUST(m->inotify >= 0 && m->md && m->ctx);
    for (size_t n = 0; n < m->files; n += FILES_PER_DIR) {
        path_of(path, m, n, 3);
        MUST(inotify_add_watch(m->inotify, path, IN_CLOSE_WRITE) >= 0);
    }
}

static void react_raw(void *arg, size_t times)
{
    meadow *m = arg;
    unsigned char id[32];
    char path[1024], room[4096];

    for (size_t i = 0; i < times; i++) {
        size_t n = next_file(m);
        struct stat st;
        ssize_t got;
        int fd;
        write_file(m, n, m->edits);
        MUST(read(m->inotify, room, sizeof(room)) > 0);
        path_of(path, m, n, 4);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        MUST(fd >= 0 && fstat(fd, &st) == 0 && EVP_DigestInit_ex2(m->ctx, m->md, NULL) == 1);
        while ((got = read(fd, room, sizeof(room))) > 0)
            (void)EVP_DigestUpdate(m->ctx, room, (size_t)got);
        MUST(EVP_DigestFinal_ex(m->ctx, id, NULL) == 1 && close(fd) == 0);
        raw_begin(&m->raw);
        for (int k = 0; k < 2; k++) {
            uint64_t some[2] = {(uint64_t)++m->seq * UINT64_C(0x9e3779b97f4a7c15), 1};
            raw_set_int(m->log, "seq", m->seq);
            raw_set_bytes(m->log, "id", some);
            raw_insert(m->log);
        }
        for (int k = 0; k < LEVELS; k++) {
            raw_set_int(m->node, "version", ++m->version);
            raw_insert(m->node);
        }
        raw_commit(&m->raw);
    }
}

typedef struct both {
    meadow *ours, *by_hand;
} both;

static void react_ours(void *arg, size_t times)
{
    react(((both *)arg)->ours, times);
}

static void react_by_hand(void *arg, size_t times)
{
    react_raw(((both *)arg)->by_hand, times);
}

BENCH(watch)
{
    both it = {open_watch(1000), open_watch(1000)};

    react(it.by_hand, 1); /* rows to be like */
    valise_watch_close(it.by_hand->watch);
    valise_close(it.by_hand->v);
    it.by_hand->watch = NULL;
    it.by_hand->v = NULL;
    open_raw(it.by_hand);
    bench_compare(b, &(bench_row){.name = "one edit, 1,000 files",
                                  .against = "inotify, stat, SHA-256, a commit",
                                  .ours = react_ours,
                                  .baseline = react_by_hand,
                                  .arg = &it});
    close_watch(it.by_hand);
    close_watch(it.ours);
    bench_growth(b, &(bench_growth_row){.name = "one edit, by files in the tree",
                                        .setup = open_watch,
                                        .teardown = close_watch,
                                        .fn = react,
                                        .sizes = {1000, 10000, bench_is_quick(b) ? 0 : 100000}});
    bench_growth(b, &(bench_growth_row){.name = "one edit, four frames made again",
                                        .setup = open_regenerating,
                                        .teardown = close_watch,
                                        .fn = react_and_make,
                                        .sizes = {1000, 10000, bench_is_quick(b) ? 0 : 100000}});
}
