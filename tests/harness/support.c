/* support.c -- seeds, memory, threads, files and golden files of the running test. */
#define VLS_ALLOW_MALLOC
#include "harness/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

typedef struct leftover {
    struct leftover *next;
    _Alignas(16) char bytes[];
} leftover;

typedef struct deferred {
    struct deferred *next;
    void (*fn)(void *arg);
    void *arg;
} deferred;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the three below */
static leftover *leftovers;
static deferred *deferreds;
static char tmpdir[4096];

static uint64_t seed;
static bool seed_known, seed_noted;

/* ---- memory and clean-up ---- */

void *test_alloc(size_t size)
{
    leftover *l = calloc(1, sizeof(leftover) + size + 1);

    if (!l)
        abort();
    pthread_mutex_lock(&lock);
    l->next = leftovers;
    leftovers = l;
    pthread_mutex_unlock(&lock);
    return l->bytes;
}

const char *test_format(const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = test_alloc((size_t)len + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void test_defer(void (*fn)(void *arg), void *arg)
{
    deferred *d = test_alloc(sizeof(deferred));

    pthread_mutex_lock(&lock);
    *d = (deferred){deferreds, fn, arg};
    deferreds = d;
    pthread_mutex_unlock(&lock);
}

void test_support_end(void)
{
    while (deferreds) {
        deferred *d = deferreds;
        deferreds = d->next; /* first: fn may fail, and must not be called again */
        d->fn(d->arg);
    }
    if (tmpdir[0]) {
        char gone[sizeof(tmpdir)];
        memcpy(gone, tmpdir, sizeof(gone));
        tmpdir[0] = '\0'; /* first: it may fail, and must not be tried again */
        test_remove(gone);
    }
    while (leftovers) {
        leftover *l = leftovers;
        leftovers = l->next;
        free(l);
    }
    seed_noted = false;
}

/* ---- threads ---- */

typedef struct crew {
    pthread_barrier_t start;
    void (*body)(size_t index, void *arg);
    void *arg;
    atomic_size_t next;
} crew;

static void *crew_member(void *shared)
{
    crew *c = shared;
    size_t index = atomic_fetch_add(&c->next, 1);

    pthread_barrier_wait(&c->start);
    c->body(index, c->arg);
    return NULL;
}

void test_threads(size_t count, void (*body)(size_t index, void *arg), void *arg)
{
    crew c = {.body = body, .arg = arg, .next = 0};
    pthread_t *threads = test_alloc(count * sizeof(pthread_t));

    if (pthread_barrier_init(&c.start, NULL, (unsigned)count) != 0)
        test_fail(__FILE__, __LINE__, "no barrier for %zu threads", count);
    for (size_t i = 0; i < count; i++) {
        /* Those already there wait in vain at the barrier: nothing but the end is left. */
        if (pthread_create(&threads[i], NULL, crew_member, &c) != 0)
            abort();
    }
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_barrier_destroy(&c.start);
    test_rethrow();
}

/* ---- randomness and settings ---- */

void test_support_seed(uint64_t value)
{
    seed = value;
    seed_known = true;
}

uint64_t test_seed(void)
{
    if (!seed_known) {
        (void)valise_env_default()->random(NULL, &seed, sizeof(seed));
        test_support_seed(seed & 0xffffffff);
    }
    if (!seed_noted)
        test_note("seed %ju (repeat with VALISE_TEST_SEED=%ju)", (uintmax_t)seed, (uintmax_t)seed);
    seed_noted = true;
    return seed;
}

test_rng test_rng_new(uint64_t start)
{
    return (test_rng){start};
}

uint64_t test_random(test_rng *rng)
{
    /* splitmix64 */
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t test_random_below(test_rng *rng, uint64_t limit)
{
    return test_random(rng) % limit;
}

uint64_t test_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t value = otherwise;

    if (text && text[0] && !vls_str_to_u64(&value, valise_str_of(text)))
        test_fail(__FILE__, __LINE__, "%s=%s is no number", name, text);
    return value;
}

bool test_is_long(void)
{
    return test_setting("VALISE_TEST_LONG", 0) != 0;
}

bool test_is_watched(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

void test_unwatched(void)
{
    if (test_is_watched() && !test_is_long())
        SKIP("in build/release, and in make test-long");
}

size_t test_many(size_t all)
{
    return test_is_watched() && !test_is_long() ? VLS_MAX(all / 10, (size_t)1) : all;
}

/* ---- files ---- */

valise_str test_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st = {0};

    if (!file)
        test_fail(__FILE__, __LINE__, "cannot read %s: %s", path, strerror(errno));
    (void)fstat(fileno(file), &st);
    char *bytes = test_alloc(S_ISREG(st.st_mode) ? (size_t)st.st_size : 0);
    size_t got = fread(bytes, 1, (size_t)st.st_size, file);
    fclose(file);
    if (!S_ISREG(st.st_mode) || got != (size_t)st.st_size)
        test_fail(__FILE__, __LINE__, "cannot read all of %s", path);
    return (valise_str){bytes, got};
}

void test_write_file(const char *path, valise_str content)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(content.ptr ? content.ptr : "", 1, content.len, file) == content.len;

    if (!file || fclose(file) != 0 || !ok)
        test_fail(__FILE__, __LINE__, "cannot write %s: %s", path, strerror(errno));
}

static int unlock_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type == FTW_D || type == FTW_DNR)
        (void)chmod(path, (st->st_mode & 07777) | S_IRWXU);
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    (void)remove(path);
    return 0;
}

void test_remove(const char *path)
{
    struct stat st;

    /* Tests of read-only folders leave them behind. */
    (void)nftw(path, unlock_entry, 16, FTW_PHYS);
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (lstat(path, &st) == 0)
        test_fail(__FILE__, __LINE__, "cannot remove %s", path);
}

/* Memory is faster than a disk by far, where there is enough of it. */
static const char *tmpdir_base(void)
{
    const char *base = getenv("TMPDIR");
    struct statvfs st;

    if (base && base[0])
        return base;
    return statvfs("/dev/shm", &st) == 0 && access("/dev/shm", W_OK | X_OK) == 0 &&
                   (uint64_t)st.f_bavail * st.f_frsize >= (1u << 30)
               ? "/dev/shm"
               : "/tmp";
}

const char *test_tmpdir(void)
{
    bool ok = true;

    pthread_mutex_lock(&lock);
    if (!tmpdir[0]) {
        (void)snprintf(tmpdir, sizeof(tmpdir), "%s/valise-test-XXXXXX", tmpdir_base());
        ok = mkdtemp(tmpdir) != NULL;
    }
    pthread_mutex_unlock(&lock);
    if (!ok)
        test_fail(__FILE__, __LINE__, "mkdtemp %s: %s", tmpdir, strerror(errno));
    return tmpdir;
}

void test_list_files(test_files *out)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    size_t at = 0;
    char target[256], self[16];

    *out = (test_files){.count = 0};
    (void)snprintf(self, sizeof(self), "%d", dir ? dirfd(dir) : -1);
    while (dir && (entry = readdir(dir))) {
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
        if (len < 0 || strcmp(entry->d_name, self) == 0)
            continue;
        target[len] = '\0';
        out->count++;
        if (at < sizeof(out->names))
            at += (size_t)snprintf(out->names + at, sizeof(out->names) - at, "%s -> %s\n",
                                   entry->d_name, target);
    }
    if (dir)
        closedir(dir);
}

const char *test_left_open(const test_files *before)
{
    test_files now;
    valise_str rest, line;

    test_list_files(&now);
    if (now.count <= before->count)
        return NULL;
    for (rest = valise_str_of(now.names); vls_str_cut(&line, &rest, rest, '\n');) {
        const char *entry = test_format("%.*s\n", VALISE_STR_ARG(line));
        if (!strstr(before->names, entry))
            return test_format("%.*s", VALISE_STR_ARG(line));
    }
    return "more than before";
}

/* ---- golden files and conformance data ---- */

static const char *source_root(void)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");

    return root && root[0] ? root : ".";
}

const char *test_data(const char *name)
{
    const char *path = test_format("%s/../shared/data/%s", source_root(), name);

    if (access(path, R_OK) != 0)
        test_skip("conformance data %s is not beside this clone", name);
    return path;
}

static void make_parents(const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
        (void)mkdir(test_format("%.*s", (int)(slash - path), path), 0777);
}

/* Both from the first line on in which they differ. */
static void fail_golden(const char *path, valise_str expected, valise_str actual)
{
    valise_str want, have;
    int line = 0;

    do {
        line++;
        (void)vls_str_cut(&want, &expected, expected, '\n');
        (void)vls_str_cut(&have, &actual, actual, '\n');
    } while (vls_str_equal(want, have) && (expected.len > 0 || actual.len > 0));
    if (vls_str_equal(want, have))
        test_fail(path, line, "differs in the newline at its end");
    test_fail(path, line, "differs (VALISE_UPDATE_GOLDEN=1 rewrites it)\n- %.*s\n+ %.*s",
              VALISE_STR_ARG(vls_str_head(want, 1200)), VALISE_STR_ARG(vls_str_head(have, 1200)));
}

void test_golden(const char *path, valise_str actual)
{
    const char *full = test_format("%s/tests/%s", source_root(), path);
    const char *update = getenv("VALISE_UPDATE_GOLDEN");
    bool exists = access(full, F_OK) == 0;

    test_count_check();
    if (exists && vls_str_equal(test_read_file(full), actual))
        return;
    if (update && strcmp(update, "1") == 0) {
        make_parents(full);
        test_write_file(full, actual);
        test_note("wrote %s", full);
        return;
    }
    if (!exists)
        test_fail(full, 1, "is not there (VALISE_UPDATE_GOLDEN=1 writes it)");
    fail_golden(full, test_read_file(full), actual);
}
