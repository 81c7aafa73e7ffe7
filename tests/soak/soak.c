/* soak.c -- much of everything for a long time: memory, descriptors and files keep their level, and
 * what has no limits grows as it is written. An hour in the long run, minutes of it where a
 * sanitizer watches, else seconds; VALISE_SOAK_SECONDS says how long. [Q23] */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/process.h"
#include "load.h"

#define THREADS 2u
#define VISITORS 1u
#define SAMPLES 60u /* the first third is for caches and files to fill up */
#define TIDIED_MS 2000
#define SHORT_SECONDS 4
#define LONG_SECONDS 3600
#define WATCHED_SECONDS 120 /* where a sanitizer keeps what was freed, a level says nothing */

typedef struct level {
    size_t heap, resident, files; /* bytes */
    size_t fds;
} level;

/* ---- measuring ---- */

static size_t count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    CHECK(folder != NULL);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count - 3; /* ".", "..", and that of the folder */
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;

    CHECK(file != NULL);
    CHECK_INT(1, fscanf(file, "%*u %llu", &pages));
    (void)fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Files come and go meanwhile. */
static size_t folder_bytes(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    size_t bytes = 0;

    while (folder && (entry = readdir(folder))) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        bytes += S_ISDIR(st.st_mode) ? folder_bytes(fd, entry->d_name) : (size_t)st.st_size;
    }
    if (folder)
        (void)closedir(folder);
    return bytes;
}

static void raise_to(size_t *most, size_t value)
{
    *most = VLS_MAX(*most, value);
}

static level highest(const level *samples, size_t from, size_t to)
{
    level most = {0};

    for (size_t i = from; i < to; i++) {
        raise_to(&most.heap, samples[i].heap);
        raise_to(&most.resident, samples[i].resident);
        raise_to(&most.files, samples[i].files);
        raise_to(&most.fds, samples[i].fds);
    }
    return most;
}

/* ---- who works ---- */

typedef struct soak {
    test *t;
    valise *v;
    const char *folder, *store;
    int64_t until_ms;
    level samples[SAMPLES];
    uint64_t done, refused;
    uint64_t seed; /* drawn once, before there are threads and another process */
} soak;

static valise *open_at(const valise_env *env, const char *folder)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.durability = VALISE_DURABILITY_NORMAL;
    CHECK_MSG(valise_open(&v, folder, &o, &err) == 0, "%s", err.message);
    return v;
}

static worker *hire(valise *v, const char *folder, uint64_t seed, size_t number)
{
    worker *w = test_alloc(sizeof(*w));

    w->v = v;
    w->folder = folder;
    w->number = (unsigned)number;
    w->rng = test_rng_new(seed + number);
    return w;
}

static int ignore(void *arg, const valise_event *event, valise_error *err)
{
    (void)event;
    (void)err;
    ++*(uint64_t *)arg;
    return 0;
}

/* A process of its own that comes and goes, and listens while it is there. */
static int visit(size_t index, void *arg)
{
    const soak *s = arg;
    worker *w = hire(NULL, s->folder, s->seed, THREADS + index);
    size_t fds = 0;

    for (unsigned visits = 0; process_now_ms() < s->until_ms; visits++) {
        uint64_t heard = 0, steps = 0;
        valise_subscription *events = NULL;
        valise_error err = VALISE_ERROR_INIT;
        const valise_follow follow = {.size = sizeof(follow),
                                      .filter = {.size = sizeof(valise_filter)},
                                      .fn = ignore,
                                      &heard};

        w->v = open_at(valise_env_default(), s->folder);
        CHECK(valise_subscribe(&events, w->v, &follow, &err) == 0);
        for (; steps < 200 && process_now_ms() < s->until_ms; steps++)
            load_step(w);
        CHECK(valise_poll(w->v, 0, &err) >= 0);
        CHECK(heard > 0 || steps < 200);
        valise_unsubscribe(events);
        valise_close(w->v);
        fds = visits == 0 ? count_fds() : fds;
        CHECK_INT(fds, count_fds());
    }
    return 0;
}

/* Thread 0 looks at the others and lets go of what is old. */
static void look_on(soak *s)
{
    int64_t begun = process_now_ms(), all = s->until_ms - begun, tidied = begun, now;
    worker *w = hire(s->v, s->folder, s->seed, 99);

    while ((now = process_now_ms()) < s->until_ms) {
        level *sample = &s->samples[VLS_MIN((now - begun) * SAMPLES / all, SAMPLES - 1)];

        if (now - tidied >= VLS_MIN(TIDIED_MS, all / 10)) {
            load_tidy(w);
            tidied = now;
        }
        raise_to(&sample->heap, test_bytes_in_use(s->t));
        raise_to(&sample->resident, resident_bytes());
        raise_to(&sample->files, folder_bytes(AT_FDCWD, s->store));
        raise_to(&sample->fds, count_fds());
        process_sleep_us(20000);
    }
}

static void work(size_t index, void *arg)
{
    soak *s = arg;
    worker *w;

    if (index == 0) {
        look_on(s);
        return;
    }
    w = hire(s->v, s->folder, s->seed, index - 1);
    while (process_now_ms() < s->until_ms)
        load_step(w);
    __atomic_fetch_add(&s->done, w->done, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->refused, w->refused, __ATOMIC_RELAXED);
}

static uint64_t seconds(void)
{
    uint64_t usual = !test_is_long()     ? SHORT_SECONDS
                     : test_is_watched() ? WATCHED_SECONDS
                                         : LONG_SECONDS;

    return test_setting("VALISE_SOAK_SECONDS", usual);
}

/* In seconds caches are still filling. */
static size_t allowed(size_t before, size_t slack)
{
    return seconds() < 600 ? 3 * before + slack : before + before / 10 + slack;
}

static void check_levels(const soak *s)
{
    level before = highest(s->samples, SAMPLES / 3, 2 * SAMPLES / 3),
          after = highest(s->samples, 2 * SAMPLES / 3, SAMPLES);

    test_note("%llu operations, %llu of them refused; in the middle, at the end: heap %zu %zu, "
              "resident %zu %zu, files %zu %zu, descriptors %zu %zu",
              (unsigned long long)s->done, (unsigned long long)s->refused, before.heap, after.heap,
              before.resident, after.resident, before.files, after.files, before.fds, after.fds);
    CHECK(after.heap <= allowed(before.heap, (size_t)1 << 20));
    CHECK(after.resident <= allowed(before.resident, (size_t)16 << 20));
    CHECK(after.files <= allowed(before.files, (size_t)8 << 20));
    CHECK(after.fds <= before.fds + 8);
}

TEST(soak, keeps_its_level) /* [Q23] */
{
    soak *s = test_alloc(sizeof(*s));
    process visitors[VISITORS];
    size_t fds, heap;
    worker *last;
    valise *v;

    *s = (soak){.t = t, .folder = test_format("%s/soak", test_tmpdir()), .seed = test_seed()};
    s->store = test_format("%s/.valise", s->folder);
    CHECK_INT(0, mkdir(s->folder, 0700));
    v = open_at(t->env, s->folder);
    load_begin(v);
    valise_close(v);
    heap = test_bytes_in_use(t);
    fds = count_fds();
    s->until_ms = process_now_ms() + (int64_t)seconds() * 1000;
    for (size_t i = 0; i < VISITORS; i++)
        process_start(&visitors[i], visit, i, s);
    s->v = open_at(t->env, s->folder);
    test_threads(1 + THREADS, work, s);
    for (size_t i = 0; i < VISITORS; i++) {
        process_result r;

        process_wait(&r, &visitors[i], process_timeout_ms());
        CHECK_MSG(r.exit_code == 0, "the other process: %s", process_describe(&r));
    }
    last = hire(s->v, s->folder, s->seed, 0);
    load_tidy(last);
    (void)snprintf(last->payload, sizeof(last->payload), "{}");
    CHECK_OK(valise_dispatch(NULL, s->v, "workspace:validate", "{}", NULL, &t->err));
    valise_close(s->v);
    check_levels(s);
    CHECK_INT(heap, test_bytes_in_use(t));
    CHECK_INT(fds, count_fds());
}

/* What each thousand commands add, once the first are in, is what all later ones do. */
TEST(soak, grows_as_it_is_written) /* [Q23] */
{
    const size_t rounds = 10, each = test_is_long() ? 100000 : test_many(2000);
    const char *folder = test_format("%s/growing", test_tmpdir());
    const char *store = test_format("%s/.valise", folder);
    size_t first, predicted, last = 0, begun = 0;
    worker *w;

    CHECK_INT(0, mkdir(folder, 0700));
    w = hire(NULL, folder, test_seed(), 0);
    for (size_t i = 0; i <= rounds; i++) {
        w->v = open_at(t->env, folder);
        for (size_t n = 0; n < each; n++)
            load_pack(w, "all");
        valise_close(w->v); /* so that all of it is in the database */
        last = folder_bytes(AT_FDCWD, store);
        if (i == 0)
            begun = last;
        if (i == rounds / 2)
            first = last;
    }
    predicted = first + (first - begun);
    test_note("%zu commands: %zu bytes each, then %zu; files %zu, predicted %zu", each * rounds,
              (first - begun) / (each * rounds / 2), (last - first) / (each * rounds / 2), last,
              predicted);
    CHECK(last > predicted - predicted / 8 && last < predicted + predicted / 8);
}
