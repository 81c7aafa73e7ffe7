/* compose.c -- what is known about a file and around it is composed: with more and more slots
 * elsewhere in the tree, which must cost nothing, and in the same directory. [C25] [Q15] */
#define VLS_ALLOW_MALLOC
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/raw.h"

#include "base/str.h"

#include <valise/context.h>
#include <valise/workspace.h>

#define BESIDE 20u /* slots in the directory, where they are not what grows */
#define BATCH 1000u
#define PAYLOAD_MAX 160

typedef struct field {
    char dir[256];
    valise *v;
} field;

static void must(int rc, const valise_error *err)
{
    if (rc < 0)
        raw_die(__FILE__, __LINE__, err->message);
}

static void make_files(const char *dir, const char *folder, size_t count)
{
    for (size_t i = 0; i <= count; i++) {
        char path[320];
        int fd, len = snprintf(path, sizeof(path), "%s/%s/f%06zu", dir, folder, i);
        if (i == 0) {
            (void)snprintf(path, sizeof(path), "%s/%s", dir, folder);
            MUST(mkdir(path, 0700) == 0);
            continue;
        }
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        MUST(fd >= 0 && write(fd, path, (size_t)len) == len && close(fd) == 0);
    }
}

/* A summary of each file, "A date is parsed here ...", some of which say more about dates. */
static void say(valise *v, const char *folder, size_t count)
{
    static char payloads[BATCH][PAYLOAD_MAX];
    static valise_command commands[BATCH];
    valise_error err = VALISE_ERROR_INIT;

    for (size_t done = 0; done < count;) {
        size_t now = VLS_MIN(count - done, (size_t)BATCH);
        for (size_t i = 0; i < now; i++) {
            int len = snprintf(payloads[i], PAYLOAD_MAX,
                               "{\"content\":\"QSBkYXRlIGlzIHBhcnNlZCBoZXJlLgo=\",\"type\":"
                               "\"summary\",\"noScan\":true,\"node\":\"%s/f%06zu\"}",
                               folder, done + i + 1);
            commands[i] = (valise_command){.type = VLS_STR("frame:put"),
                                           .payload = vls_str(payloads[i], (size_t)len)};
        }
        must(valise_dispatch_batch(NULL, v, commands, now, NULL, &err), &err);
        done += now;
    }
}

static field *plant(size_t beside, size_t elsewhere)
{
    field *f = calloc(1, sizeof(*f));
    valise_error err = VALISE_ERROR_INIT;

    MUST(f);
    raw_make_dir(f->dir, "compose");
    f->v = raw_open_workspace(f->dir, false, NULL);
    make_files(f->dir, "here", beside);
    make_files(f->dir, "there", elsewhere);
    must(valise_tree_scan(NULL, f->v, NULL, NULL, &err), &err);
    say(f->v, "here", beside);
    say(f->v, "there", elsewhere);
    return f;
}

static void *plant_elsewhere(size_t size)
{
    return plant(BESIDE, size);
}

static void *plant_beside(size_t size)
{
    return plant(size, BESIDE);
}

/* Directories whose summaries are made of those of more and more files: nothing changed, so nobody
 * compares them. */
static void *plant_derived(size_t size)
{
    field *f = plant(BESIDE, 0);
    valise_error err = VALISE_ERROR_INIT;

    for (unsigned i = 0; i < BESIDE; i++) {
        char folder[32];
        (void)snprintf(folder, sizeof(folder), "here/d%02u", i);
        make_files(f->dir, folder, size / BESIDE);
    }
    must(valise_tree_scan(NULL, f->v, NULL, NULL, &err), &err);
    for (unsigned i = 0; i < BESIDE; i++) {
        char folder[32];
        (void)snprintf(folder, sizeof(folder), "here/d%02u", i);
        say(f->v, folder, size / BESIDE);
    }
    must(valise_dispatch(
             NULL, f->v, "context:synthesize",
             "{\"node\":\"here\",\"type\":\"summary\",\"recursive\":true,\"noScan\":true}", NULL,
             &err),
         &err);
    return f;
}

static void fell(void *arg)
{
    field *f = arg;

    valise_close(f->v);
    raw_remove_dir(f->dir);
    free(f);
}

static void compose(void *arg, size_t times, const char *policy)
{
    field *f = arg;

    for (size_t i = 0; i < times; i++) {
        valise_error err = VALISE_ERROR_INIT;
        valise_composition *c = NULL;
        must(valise_compose(&c, f->v, "here/f000007", policy, NULL, NULL, &err), &err);
        MUST(c->count >= 20);
        valise_composition_free(c);
    }
}

static void compose_usual(void *arg, size_t times)
{
    compose(arg, times, "max=20");
}

static void compose_query(void *arg, size_t times)
{
    compose(arg, times, "max=20,query=date parsing");
}

static void compose_newest(void *arg, size_t times)
{
    compose(arg, times, "recency,max=20");
}

BENCH(compose)
{
    static const struct {
        const char *name;
        void *(*setup)(size_t size);
        bench_fn *fn;
        double promised;
    } rows[] = {
        {"compose, slots elsewhere", plant_elsewhere, compose_usual, 0},
        {"compose, siblings", plant_beside, compose_usual, 1},
        {"compose with a query, siblings", plant_beside, compose_query, 1},
        {"compose the newest, siblings", plant_beside, compose_newest, 1},
        {"compose, files under derived siblings", plant_derived, compose_usual, 0},
    };
    size_t most = bench_is_quick(b) ? 10000 : 100000;

    for (size_t i = 0; i < VLS_COUNT(rows); i++)
        bench_growth(b, &(bench_growth_row){.name = rows[i].name,
                                            .setup = rows[i].setup,
                                            .teardown = fell,
                                            .fn = rows[i].fn,
                                            .sizes = {most / 100, most / 10, most},
                                            .promised = rows[i].promised,
                                            .cpu = true});
}
