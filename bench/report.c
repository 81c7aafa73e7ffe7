/* report.c -- a report over all slots: with doubts, and with every state computed. [C28]
 *
 * Directories with ten files each, a note on all of them, and frames on all directories, made of
 * these. Nothing has changed: nobody doubts anything. */
#define VLS_ALLOW_MALLOC
#include <sys/stat.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "bus/bus.h"
#include "context/report.h"

#define FILES_PER_DIR 10u

typedef struct shelf {
    char dir[256];
    valise *v;
} shelf;

typedef struct asking {
    bool compute;
    int64_t fresh, heads;
} asking;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static void run(const shelf *s, const char *type, const char *payload)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    must(valise_dispatch(&reply, s->v, type, payload, NULL, &err), &err);
    valise_reply_release(&reply);
}

static void *make(size_t slots)
{
    static int made; /* they have names of their own */
    shelf *s = calloc(1, sizeof(*s));
    char name[64], path[512];

    MUST(s);
    (void)snprintf(name, sizeof(name), "report-%d", made++);
    raw_make_dir(s->dir, name);
    s->v = raw_open_workspace(s->dir, false, NULL);
    for (size_t d = 0; d < slots / (FILES_PER_DIR + 1); d++) {
        (void)snprintf(path, sizeof(path), "%s/%zu", s->dir, d);
        MUST(mkdir(path, 0700) == 0);
        for (size_t f = 0; f < FILES_PER_DIR; f++) {
            FILE *file;
            (void)snprintf(path, sizeof(path), "%s/%zu/%zu", s->dir, d, f);
            file = fopen(path, "w");
            MUST(file && fprintf(file, "%zu %zu", d, f) > 0 && fclose(file) == 0);
        }
    }
    run(s, "tree:scan", "{}");
    for (size_t i = 0; i < slots / (FILES_PER_DIR + 1) * FILES_PER_DIR; i++) {
        (void)snprintf(path, sizeof(path),
                       "{\"node\":\"%zu/%zu\",\"content\":\"%08zu\",\"noScan\":true}",
                       i / FILES_PER_DIR, i % FILES_PER_DIR, i);
        run(s, "frame:put", path);
    }
    run(s, "context:synthesize", "{\"noScan\":true,\"recursive\":true}");
    return s;
}

static void close_shelf(void *arg)
{
    shelf *s = arg;

    valise_close(s->v);
    raw_remove_dir(s->dir);
    free(s);
}

static int ask(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_context_report report;
    vls_tree_row tree;
    int rc = vls_tree_head(&tree, view, err);

    if (rc > 0)
        rc = vls_report_make(&report, view, &tree, VLS_STR(""), a->compute, err);
    if (rc == 0) {
        a->fresh = report.fresh;
        a->heads = report.heads;
    }
    return rc;
}

static void report(const shelf *s, bool compute, size_t times)
{
    valise_error err = VALISE_ERROR_INIT;
    asking a = {.compute = compute};

    for (size_t i = 0; i < times; i++) {
        must(vls_with_view(s->v, NULL, ask, &a, &err), &err);
        MUST(a.heads > 0 && a.fresh == a.heads);
    }
}

static void by_doubts(void *arg, size_t times)
{
    report(arg, false, times);
}

static void computed(void *arg, size_t times)
{
    report(arg, true, times);
}

BENCH(report)
{
    shelf *s = make(2200);

    bench_compare(b, &(bench_row){.name = "report, 2,200 slots, none is doubted",
                                  .against = "the state of each computed",
                                  .ours = by_doubts,
                                  .baseline = computed,
                                  .arg = s,
                                  .at_most = 1,
                                  .cpu = true});
    close_shelf(s);
    bench_growth(b, &(bench_growth_row){.name = "report, by slots, none is doubted",
                                        .setup = make,
                                        .teardown = close_shelf,
                                        .fn = by_doubts,
                                        .sizes = {1100, 5500, bench_is_quick(b) ? 0 : 22000},
                                        .promised = 1,
                                        .cpu = true});
}
