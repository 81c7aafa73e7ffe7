/* derive.c -- one note among many changes: what is made again, and what that costs. [C22] [Q11]
 *
 * Trees of 1,000 to 100,000 files with four levels of at most ten directories each and 100 files in
 * each of the innermost; a note on a file of each of these, and frames on every directory, made of
 * them. An operation changes a note and regenerates everything: five directories. Q11 is
 * about an edited file: what comes behind the scan, until all is as it should be. */
#define VLS_ALLOW_MALLOC
#include <sys/stat.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include <valise/workspace.h>

#define FILES_PER_DIR 100u
#define SIZES 3u

typedef struct garden {
    char dir[256];
    valise *v;
    size_t files, dirs;
    uint64_t next;
} garden;

static garden *gardens[SIZES]; /* this program is the only one that uses them */

static void run(garden *g, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    if (valise_dispatch(&reply, g->v, type, payload, NULL, &err) < 0)
        raw_die(__FILE__, __LINE__, err.message);
    valise_reply_release(&reply);
}

/* Innermost directory number d: three digits, three levels. */
static void path_of(char *out, size_t room, size_t d)
{
    (void)snprintf(out, room, "a%zu/b%zu/c%zu", d / 100 % 10, d / 10 % 10, d % 10);
}

static void make_files(const garden *g)
{
    char path[512], rel[64];

    for (size_t d = 0; d < g->dirs; d++) {
        path_of(rel, sizeof(rel), d);
        for (char *slash = strchr(rel, '/'); slash; slash = strchr(slash + 1, '/')) {
            (void)snprintf(path, sizeof(path), "%s/%.*s", g->dir, (int)(slash - rel), rel);
            (void)mkdir(path, 0700);
        }
        (void)snprintf(path, sizeof(path), "%s/%s", g->dir, rel);
        MUST(mkdir(path, 0700) == 0);
        for (size_t f = 0; f < FILES_PER_DIR; f++) {
            FILE *file;
            (void)snprintf(path, sizeof(path), "%s/%s/f%02zu.c", g->dir, rel, f);
            file = fopen(path, "w");
            MUST(file && fprintf(file, "%zu %zu\n", d, f) > 0 && fclose(file) == 0);
        }
    }
}

static void note(garden *g, size_t d, uint64_t n)
{
    char payload[300], rel[64];

    path_of(rel, sizeof(rel), d);
    (void)snprintf(payload, sizeof(payload),
                   "{\"node\":\"%s/f00.c\",\"content\":\"%08llu\",\"noScan\":true}", rel,
                   (unsigned long long)(n % 100000000));
    run(g, "frame:put", payload);
}

static void *plant(size_t files)
{
    char name[32];
    garden *g;
    size_t at = 0;

    for (; at < SIZES && gardens[at]; at++) {
        if (gardens[at]->files == files)
            return gardens[at];
    }
    g = calloc(1, sizeof(*g));
    MUST(g && at < SIZES);
    g->files = files;
    g->dirs = files / FILES_PER_DIR;
    (void)snprintf(name, sizeof(name), "derive-%zu", files);
    raw_make_dir(g->dir, name);
    make_files(g);
    g->v = raw_open_workspace(g->dir, false, NULL);
    run(g, "tree:scan", "{}");
    for (size_t d = 0; d < g->dirs; d++)
        note(g, d, d);
    run(g, "context:synthesize", "{\"recursive\":true}");
    gardens[at] = g;
    return g;
}

static void keep(void *arg)
{
    (void)arg;
}

static void change(void *arg, size_t times)
{
    garden *g = arg;

    for (size_t i = 0; i < times; i++) {
        uint64_t n = g->next++;
        note(g, (size_t)(n * UINT64_C(2654435761) % g->dirs), 1000000 + n);
        run(g, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
    }
}

static void put_alone(void *arg, size_t times)
{
    garden *g = arg;

    for (size_t i = 0; i < times; i++) {
        uint64_t n = g->next++;
        note(g, (size_t)(n * UINT64_C(2654435761) % g->dirs), 1000000 + n);
    }
    run(g, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
}

static void edit(const garden *g, size_t d, uint64_t n)
{
    char path[512], rel[64];
    FILE *file;

    path_of(rel, sizeof(rel), d);
    (void)snprintf(path, sizeof(path), "%s/%s/f00.c", g->dir, rel);
    file = fopen(path, "w");
    MUST(file && fprintf(file, "edited %llu\n", (unsigned long long)n) > 0 && fclose(file) == 0);
}

static double now_ms(void)
{
    struct timespec t;

    MUST(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Q11: after an edit, what comes behind the scan. The median of some. */
static double beyond_the_scan_ms(garden *g)
{
    enum { TIMES = 21 };
    double took[TIMES];

    for (size_t i = 0; i < TIMES; i++) {
        uint64_t n = g->next++;
        size_t d = (size_t)(n * UINT64_C(2654435761) % g->dirs), at = i;
        double begin, ms;
        edit(g, d, n);
        run(g, "tree:scan", "{}");
        begin = now_ms();
        note(g, d, 1000000 + n);
        run(g, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
        ms = now_ms() - begin;
        for (; at > 0 && took[at - 1] > ms; at--)
            took[at] = took[at - 1];
        took[at] = ms;
    }
    return took[TIMES / 2];
}

static void nothing(void *arg, size_t times)
{
    for (size_t i = 0; i < times; i++)
        run(arg, "context:regenerate", "{\"noScan\":true,\"recursive\":true}");
}

BENCH(derive)
{
    static const struct {
        const char *name;
        bench_fn *fn;
    } rows[] = {{"a note put", put_alone},
                {"a note put, all above it made again", change},
                {"regenerate, nothing changed", nothing}};
    bool quick = bench_is_quick(b);

    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        bench_growth(b, &(bench_growth_row){.name = rows[i].name,
                                            .setup = plant,
                                            .teardown = keep,
                                            .fn = rows[i].fn,
                                            .sizes = {1000, 10000, quick ? 30000 : 100000},
                                            .promised = 0,
                                            .cpu = true});
    for (size_t i = 0; i < SIZES && gardens[i]; i++) {
        char name[80];
        (void)snprintf(name, sizeof(name), "%zu files, one edited: beyond the scan",
                       gardens[i]->files);
        bench_fact(b, name, beyond_the_scan_ms(gardens[i]), "ms", 10);
    }
    for (size_t i = 0; i < SIZES && gardens[i]; i++) {
        valise_close(gardens[i]->v);
        raw_remove_dir(gardens[i]->dir);
        free(gardens[i]);
        gardens[i] = NULL;
    }
}
