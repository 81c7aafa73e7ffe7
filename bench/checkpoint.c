/* checkpoint.c -- checkpoints against reading, hashing and writing the same bytes; restores against
 * cp -a. [C31]
 *
 * 4,000 files of 18 MB together in VALISE_BENCH_DIR (else /var/tmp), a quarter of it with --quick.
 * Both sides of "restore" begin with an empty folder, which is removed with what is in it: that
 * time is in both. */
#include <fcntl.h>
#include <openssl/evp.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/mem.h"

#include <valise/workspace.h>

#define FILES_PER_DIR 10u
#define MEAN_SIZE 4600u

extern char **environ;

typedef struct bed {
    char dir[256], root[512], files[600], workspace[600], copy[600], raw[600];
    unsigned count;
    size_t bytes;
    valise *v;
} bed;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void path_of(char out[800], const bed *b, unsigned file, bool dir)
{
    int len = snprintf(out, 800, "%s/folder-%u", b->files, file / FILES_PER_DIR);

    if (!dir)
        (void)snprintf(out + len, 800 - (size_t)len, "/file-%u", file % FILES_PER_DIR);
}

static void make_files(bed *b)
{
    static char text[2 * MEAN_SIZE + 8];
    uint64_t state = 1;
    char path[800];

    MUST(mkdir(b->root, 0755) == 0 && mkdir(b->files, 0755) == 0);
    for (unsigned i = 0; i < b->count; i++) {
        size_t size = (size_t)(next_random(&state) % (2 * MEAN_SIZE));
        if (i % FILES_PER_DIR == 0) {
            path_of(path, b, i, true);
            MUST(mkdir(path, 0755) == 0);
        }
        for (size_t at = 0; at < size; at += 8) {
            uint64_t r = next_random(&state) << 32 | next_random(&state);
            memcpy(text + at, &r, sizeof(r));
        }
        path_of(path, b, i, false);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size && close(fd) == 0);
        b->bytes += size;
    }
}

static void open_bed(bed *b, unsigned files)
{
    *b = (bed){.count = files};
    raw_make_dir(b->dir, "checkpoint");
    (void)snprintf(b->root, sizeof(b->root), "%s/root", b->dir);
    (void)snprintf(b->files, sizeof(b->files), "%s/files", b->root);
    (void)snprintf(b->workspace, sizeof(b->workspace), "%s/.valise", b->root);
    (void)snprintf(b->copy, sizeof(b->copy), "%s/copy", b->dir);
    (void)snprintf(b->raw, sizeof(b->raw), "%s/raw", b->dir);
    make_files(b);
    b->v = raw_open_workspace(b->root, false, NULL);
}

static void close_bed(bed *b)
{
    valise_close(b->v);
    raw_remove_dir(b->dir);
}

static void run(bed *b, const char *op, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;

    if (valise_dispatch(NULL, b->v, op, payload, NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

/* ---- ours ---- */

/* The first one of a workspace that was just made: a scan, and all bytes are new. */
static void keep_first(void *arg, size_t times)
{
    bed *b = arg;

    for (size_t i = 0; i < times; i++) {
        valise_close(b->v);
        raw_remove_dir(b->workspace);
        b->v = raw_open_workspace(b->root, false, NULL);
        run(b, "tree:checkpoint", "{\"name\":\"one\"}");
    }
}

static void keep_again(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "tree:checkpoint", "{}");
}

static void scan_again(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "tree:scan", "{}");
}

static void restore(void *arg, size_t times)
{
    bed *b = arg;

    for (size_t i = 0; i < times; i++) {
        raw_remove_dir(b->files);
        run(b, "tree:restore", "{\"checkpoint\":\"one\"}");
    }
}

static void restore_nothing(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "tree:restore", "{\"checkpoint\":\"one\"}");
}

/* ---- raw ---- */

static void read_hash_write(const bed *b, EVP_MD_CTX *ctx, const EVP_MD *md)
{
    static char room[2 * MEAN_SIZE + 8];
    unsigned char id[32];
    char path[800];
    int out = open(b->raw, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(out >= 0);
    for (unsigned i = 0; i < b->count; i++) {
        path_of(path, b, i, false);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = read(fd, room, sizeof(room));
        MUST(got >= 0 && close(fd) == 0);
        MUST(EVP_DigestInit_ex2(ctx, md, NULL) == 1 &&
             EVP_DigestUpdate(ctx, room, (size_t)got) == 1 &&
             EVP_DigestFinal_ex(ctx, id, NULL) == 1);
        MUST(write(out, id, sizeof(id)) == sizeof(id) && write(out, room, (size_t)got) == got);
    }
    MUST(fsync(out) == 0 && close(out) == 0);
}

static void raw_keep(void *arg, size_t times)
{
    EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    MUST(md && ctx);
    for (size_t i = 0; i < times; i++)
        read_hash_write(arg, ctx, md);
    EVP_MD_CTX_free(ctx);
    EVP_MD_free(md);
}

static void copy_all(bed *b)
{
    char cp[] = "cp", a[] = "-a";
    char *argv[] = {cp, a, b->files, b->copy, NULL};
    int status = 0;
    pid_t pid;

    MUST(posix_spawnp(&pid, "cp", NULL, NULL, argv, environ) == 0);
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void raw_copy(void *arg, size_t times)
{
    bed *b = arg;

    for (size_t i = 0; i < times; i++) {
        int fd;
        raw_remove_dir(b->copy);
        copy_all(b);
        fd = open(b->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* as restores do */
        MUST(fd >= 0 && syncfs(fd) == 0 && close(fd) == 0);
    }
}

/* ---- growth ---- */

static void *grow(size_t size)
{
    static bed it;

    open_bed(&it, (unsigned)size);
    return &it;
}

static void grown(void *arg)
{
    close_bed(arg);
}

BENCH(checkpoint)
{
    static bed it;

    open_bed(&it, bench_is_quick(b) ? 1000 : 4000);
    MUST(mkdir(it.copy, 0755) == 0);
    bench_compare(b, &(bench_row){.name = "first checkpoint",
                                  .against = "read, SHA-256, write, fsync",
                                  .ours = keep_first,
                                  .baseline = raw_keep,
                                  .arg = &it,
                                  .bytes = it.bytes,
                                  .at_most = 6});
    bench_compare(b, &(bench_row){.name = "checkpoint, nothing changed",
                                  .against = "scan, nothing changed",
                                  .ours = keep_again,
                                  .baseline = scan_again,
                                  .arg = &it,
                                  .at_most = 4});
    bench_compare(b, &(bench_row){.name = "restore of everything",
                                  .against = "cp -a, syncfs",
                                  .ours = restore,
                                  .baseline = raw_copy,
                                  .arg = &it,
                                  .bytes = it.bytes,
                                  .at_most = 3});
    bench_compare(b, &(bench_row){.name = "restore, nothing to do",
                                  .against = "scan, nothing changed",
                                  .ours = restore_nothing,
                                  .baseline = scan_again,
                                  .arg = &it,
                                  .at_most = 8});
    close_bed(&it);
    bench_growth(b, &(bench_growth_row){.name = "first checkpoint, files",
                                        .setup = grow,
                                        .teardown = grown,
                                        .fn = keep_first,
                                        .sizes = {100, 1000, bench_is_quick(b) ? 0 : 10000},
                                        .promised = 1});
}
