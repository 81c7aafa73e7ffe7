/* scan.c -- scans of a large tree against the least that any program has to do, and against git.
 * [Q10]
 *
 * 100,000 files of 460 MB together, made anew in VALISE_BENCH_DIR (else /var/tmp), a tenth of it
 * with
 * --quick; VALISE_BENCH_FILES=n says how many. "walk" rows are the walk, the hashes and the stat
 * cache alone; the others are tree:scan, with the rows it writes, in a workspace that lies
 * elsewhere. */
#define VLS_ALLOW_MALLOC
#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/mem.h"
#include "base/str.h"
#include "tree/scan.h"

#include <valise/workspace.h>

#define FILES_PER_DIR 10u
#define DIRS_PER_DIR 20u
#define MEAN_SIZE 4600u
#define THREADS 2

extern char **environ;

typedef struct bed {
    char dir[256], root[512], store[512], cache[640], git[512], edited[1024];
    vls_scan_options options;
    unsigned files;
    size_t bytes;
    unsigned edits;
    char workspace[600]; /* what it has in root */
    valise *v;
} bed;

/* ---- the tree ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void make_file(const char *path, size_t size, uint64_t *state)
{
    static char text[2 * MEAN_SIZE + 8];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    for (size_t i = 0; i < size; i += 8) {
        uint64_t r = next_random(state) << 32 | next_random(state);
        memcpy(text + i, &r, sizeof(r));
    }
    MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size && close(fd) == 0);
}

static void make_tree(bed *b)
{
    char path[1024];
    uint64_t state = 1;
    unsigned dirs = b->files / FILES_PER_DIR;

    MUST(mkdir(b->root, 0755) == 0 && mkdir(b->store, 0755) == 0);
    for (unsigned d = 0; d < dirs; d++) {
        unsigned top = d / (DIRS_PER_DIR * DIRS_PER_DIR), middle = d / DIRS_PER_DIR % DIRS_PER_DIR;
        (void)snprintf(path, sizeof(path), "%s/module-%u", b->root, top);
        (void)mkdir(path, 0755);
        (void)snprintf(path, sizeof(path), "%s/module-%u/part-%u", b->root, top, middle);
        (void)mkdir(path, 0755);
        int len = snprintf(path, sizeof(path), "%s/module-%u/part-%u/folder-%u", b->root, top,
                           middle, d % DIRS_PER_DIR);
        MUST(mkdir(path, 0755) == 0);
        for (unsigned f = 0; f < FILES_PER_DIR; f++) {
            size_t size = 1 + next_random(&state) % (2 * MEAN_SIZE);
            (void)snprintf(path + len, sizeof(path) - (size_t)len, "/source-file-%u.c", f);
            make_file(path, size, &state);
            b->bytes += size;
        }
        if (d == dirs / 2)
            (void)snprintf(b->edited, sizeof(b->edited), "%s", path);
    }
}

/* ---- ours ---- */

static void scan_once(bed *b, bool keep)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_scan scan;

    if (vls_tree_scan(&scan, &b->options, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    MUST(scan.counts.files == (int64_t)b->files);
    if (keep) {
        if (!vls_id_equal(&scan.old_object, &scan.object))
            b->options.version++;
        b->options.object = scan.object;
        MUST(vls_tree_scan_keep(&scan, b->options.version, &err) == 0);
    }
    vls_tree_scan_release(&scan);
}

static void first_scan(void *arg, size_t times)
{
    bed *b = arg;

    for (size_t i = 0; i < times; i++) {
        b->options.version = 0;
        (void)unlink(b->cache);
        scan_once(b, true);
    }
}

static void rescan(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        scan_once(arg, true);
}

static void edit(bed *b)
{
    char text[64];
    int fd = open(b->edited, O_WRONLY | O_TRUNC | O_CLOEXEC);
    int len = snprintf(text, sizeof(text), "edit %u\n", b->edits++);

    MUST(fd >= 0 && write(fd, text, (size_t)len) == len && close(fd) == 0);
}

static void edited_rescan(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        edit(arg);
        scan_once(arg, true);
    }
}

/* ---- ours, with rows ---- */

static void run_scan(bed *b)
{
    valise_error err = VALISE_ERROR_INIT;

    if (valise_dispatch(NULL, b->v, "tree:scan", "{}", NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
}

static void first_scan_run(void *arg, size_t times)
{
    bed *b = arg;

    for (size_t i = 0; i < times; i++) {
        valise_close(b->v);
        if (b->v)
            raw_remove_dir(b->workspace);
        b->v = raw_open_workspace(b->root, false, NULL);
        run_scan(b);
    }
}

static void rescan_run(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run_scan(arg);
}

static void edited_rescan_run(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        edit(arg);
        run_scan(arg);
    }
}

/* ---- raw ---- */

typedef struct raw_walk {
    pthread_mutex_t lock;
    pthread_cond_t more;
    char **dirs;
    size_t count, cap, busy, seen;
    bool hash;
} raw_walk;

static void push_dir(raw_walk *w, const char *path)
{
    char *copy = strdup(path);

    MUST(copy);
    (void)pthread_mutex_lock(&w->lock);
    if (w->count == w->cap) {
        w->cap = w->cap * 2 + 64;
        w->dirs = realloc(w->dirs, w->cap * sizeof(*w->dirs));
        MUST(w->dirs);
    }
    w->dirs[w->count++] = copy;
    (void)pthread_cond_signal(&w->more);
    (void)pthread_mutex_unlock(&w->lock);
}

static void hash_file(int dir, const char *name, EVP_MD_CTX *ctx, const EVP_MD *md, char *room)
{
    unsigned char id[32];
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    MUST(fd >= 0 && EVP_DigestInit_ex2(ctx, md, NULL) == 1);
    while ((got = read(fd, room, 65536)) > 0)
        (void)EVP_DigestUpdate(ctx, room, (size_t)got);
    MUST(EVP_DigestFinal_ex(ctx, id, NULL) == 1 && close(fd) == 0);
    bench_use(id);
}

static void walk_dir(raw_walk *w, const char *path, EVP_MD_CTX *ctx, const EVP_MD *md, char *room)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    char below[1024];
    struct stat st;
    size_t seen = 0;

    MUST(dir);
    while ((e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        if (e->d_type == DT_DIR) {
            (void)snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
            push_dir(w, below);
            continue;
        }
        seen++;
        if (w->hash)
            hash_file(dirfd(dir), e->d_name, ctx, md, room);
        else
            MUST(fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0);
    }
    closedir(dir);
    (void)pthread_mutex_lock(&w->lock);
    w->seen += seen;
    (void)pthread_mutex_unlock(&w->lock);
}

static void *raw_thread(void *arg)
{
    raw_walk *w = arg;
    EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    char *room = malloc(65536);

    MUST(md && ctx && room);
    (void)pthread_mutex_lock(&w->lock);
    while (w->count > 0 || w->busy > 0) {
        if (w->count == 0) {
            (void)pthread_cond_wait(&w->more, &w->lock);
            continue;
        }
        char *path = w->dirs[--w->count];
        w->busy++;
        (void)pthread_mutex_unlock(&w->lock);
        walk_dir(w, path, ctx, md, room);
        free(path);
        (void)pthread_mutex_lock(&w->lock);
        w->busy--;
    }
    (void)pthread_cond_broadcast(&w->more);
    (void)pthread_mutex_unlock(&w->lock);
    EVP_MD_CTX_free(ctx);
    EVP_MD_free(md);
    free(room);
    return NULL;
}

static void walk_raw(const bed *b, bool hash, int threads)
{
    raw_walk w = {.hash = hash};
    pthread_t others[THREADS];

    (void)pthread_mutex_init(&w.lock, NULL);
    (void)pthread_cond_init(&w.more, NULL);
    push_dir(&w, b->root);
    for (int i = 1; i < threads; i++)
        MUST(pthread_create(&others[i], NULL, raw_thread, &w) == 0);
    (void)raw_thread(&w);
    for (int i = 1; i < threads; i++)
        (void)pthread_join(others[i], NULL);
    MUST(w.seen == b->files);
    free(w.dirs);
}

static void raw_hash(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        walk_raw(arg, true, THREADS);
}

static void raw_stat(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        walk_raw(arg, false, THREADS);
}

static void raw_stat_alone(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        walk_raw(arg, false, 1);
}

/* ---- git ---- */

static bool run_git(const bed *b, const char *const *words)
{
    char git_dir[600], work_tree[600];
    const char *argv[16] = {"git", git_dir, work_tree};
    posix_spawn_file_actions_t actions;
    int status = 0;
    pid_t pid;

    (void)snprintf(git_dir, sizeof(git_dir), "--git-dir=%s", b->git);
    (void)snprintf(work_tree, sizeof(work_tree), "--work-tree=%s", b->root);
    for (int i = 0; words[i]; i++)
        argv[3 + i] = words[i];
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool ok =
        posix_spawnp(&pid, "git", &actions, NULL, (char *const *)(uintptr_t)argv, environ) == 0 &&
        waitpid(pid, &status, 0) == pid && status == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    return ok;
}

static void git_status(void *arg, size_t times)
{
    static const char *const words[] = {"status", "--porcelain", NULL};

    for (size_t i = 0; i < times; i++)
        MUST(run_git(arg, words));
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool measure_git_add(bench *b, const bed *it)
{
    static const char *const init[] = {"init", NULL}, *const add[] = {"add", "-A", NULL};
    char path[600];
    FILE *exclude;
    double began;

    if (!run_git(it, init)) {
        (void)fprintf(stderr, "scan: there is no git; not compared\n");
        return false;
    }
    (void)snprintf(path, sizeof(path), "%s/info/exclude", it->git);
    exclude = fopen(path, "w");
    MUST(exclude && fputs(".valise\n", exclude) > 0 && fclose(exclude) == 0);
    began = now_s();
    MUST(run_git(it, add));
    bench_fact(b, "git add -A, once", now_s() - began, "s", 0);
    return true;
}

/* ---- all of it ---- */

static void open_bed(bed *b, bool quick)
{
    const char *files = getenv("VALISE_BENCH_FILES");
    uint64_t count = quick ? 10000 : 100000;

    if (files)
        MUST(vls_str_to_u64(&count, valise_str_of(files)) && count >= FILES_PER_DIR);
    b->files = (unsigned)(count / FILES_PER_DIR * FILES_PER_DIR);
    raw_make_dir(b->dir, "scan");
    (void)snprintf(b->root, sizeof(b->root), "%s/tree", b->dir);
    (void)snprintf(b->store, sizeof(b->store), "%s/store", b->dir);
    (void)snprintf(b->cache, sizeof(b->cache), "%s/stat", b->store);
    (void)snprintf(b->git, sizeof(b->git), "%s/git", b->dir);
    (void)snprintf(b->workspace, sizeof(b->workspace), "%s/.valise", b->root);
    make_tree(b);
    b->options = (vls_scan_options){.env = valise_env_default(),
                                    .root = b->root,
                                    .store = b->store,
                                    .cache = b->cache,
                                    .threads = THREADS};
    (void)nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static void compare_walks(bench *b, bed *it)
{
    bench_compare(b, &(bench_row){.name = "first walk, no rows",
                                  .against = "walk, read, SHA-256, 2 threads",
                                  .ours = first_scan,
                                  .baseline = raw_hash,
                                  .arg = it,
                                  .bytes = it->bytes});
    bench_compare(b, &(bench_row){.name = "walk, nothing changed",
                                  .against = "stat walk, 2 threads",
                                  .ours = rescan,
                                  .baseline = raw_stat,
                                  .arg = it});
    bench_compare(b, &(bench_row){.name = "walk, nothing changed",
                                  .against = "stat walk, 1 thread",
                                  .ours = rescan,
                                  .baseline = raw_stat_alone,
                                  .arg = it});
    bench_compare(b, &(bench_row){.name = "walk, one file edited",
                                  .against = "walk, nothing changed",
                                  .ours = edited_rescan,
                                  .baseline = rescan,
                                  .arg = it});
}

static void compare_scans(bench *b, bed *it)
{
    bench_compare(b, &(bench_row){.name = "first scan",
                                  .against = "walk, read, SHA-256, 2 threads",
                                  .requires = "Q10",
                                  .ours = first_scan_run,
                                  .baseline = raw_hash,
                                  .arg = it,
                                  .at_most = 3,
                                  .bytes = it->bytes});
    bench_compare(b, &(bench_row){.name = "scan, nothing changed",
                                  .against = "stat walk, 2 threads",
                                  .requires = "Q10",
                                  .ours = rescan_run,
                                  .baseline = raw_stat,
                                  .arg = it,
                                  .at_most = 2});
    bench_compare(b, &(bench_row){.name = "scan, one file edited",
                                  .against = "scan, nothing changed",
                                  .requires = "Q10",
                                  .ours = edited_rescan_run,
                                  .baseline = rescan_run,
                                  .arg = it,
                                  .at_most = 1.1});
    if (measure_git_add(b, it))
        bench_compare(b, &(bench_row){.name = "scan, nothing changed",
                                      .against = "git status",
                                      .requires = "Q10",
                                      .ours = rescan_run,
                                      .baseline = git_status,
                                      .arg = it,
                                      .at_most = 1});
}

BENCH(scan)
{
    static bed it;

    open_bed(&it, bench_is_quick(b));
    compare_walks(b, &it);
    compare_scans(b, &it);
    valise_close(it.v);
    raw_remove_dir(it.dir);
}
