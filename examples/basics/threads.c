/* threads.c -- many threads, one handle, and a counter that ends up right.
 *
 * Each thread reads the counter, adds one and packs it, if it is still the version that was read;
 * who comes second gets VALISE_E_CONFLICT and looks again. Nothing is lost, and nobody holds a
 * lock. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include <valise.h>

enum { THREADS = 8, EACH = 25 };

typedef struct worker {
    valise_backpack *bag;
    valise_error err; /* its own: an error belongs to no thread */
} worker;

typedef struct counter {
    long value;
    int64_t version; /* 0: there is none */
} counter;

static int read_counter(void *arg, const valise_item *item, valise_error *err)
{
    counter *c = arg;
    char digits[24];

    (void)err;
    snprintf(digits, sizeof(digits), "%s", valise_blob_text(item->value));
    c->value = strtol(digits, NULL, 10);
    c->version = item->commit->version;
    return 1;
}

static int add_one(worker *w)
{
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    char digits[24];
    int rc;

    do {
        counter now = {0, 0};
        rc = valise_item_get(w->bag, "counter", read_counter, &now, &w->err);
        if (rc < 0)
            return rc;
        options.expect = now.version; /* ... and not whatever it is by then */
        snprintf(digits, sizeof(digits), "%ld", now.value + 1);
        rc = valise_pack(NULL, w->bag, "counter", digits, &options, &w->err);
    } while (rc == VALISE_E_CONFLICT);
    return rc;
}

static int work(void *arg)
{
    worker *w = arg;
    int rc = 0;

    for (int i = 0; i < EACH && rc == 0; i++)
        rc = add_one(w);
    return rc;
}

static int run(valise_backpack *bag, valise_error *err)
{
    worker workers[THREADS];
    thrd_t threads[THREADS];
    int started = 0, rc = 0;

    for (; started < THREADS; started++) {
        workers[started] = (worker){bag, VALISE_ERROR_INIT};
        if (thrd_create(&threads[started], work, &workers[started]) != thrd_success)
            break;
    }
    for (int i = 0; i < started; i++) {
        int result = 0;
        thrd_join(threads[i], &result);
        if (result < 0) {
            *err = workers[i].err;
            rc = result;
        }
    }
    if (rc == 0)
        printf("%d threads added %d each\n", started, EACH);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise_blob *sum = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "shared", NULL, &err);
    if (rc == 0)
        rc = run(bag, &err);
    if (rc == 0)
        rc = valise_unpack_required(&sum, bag, "counter", &err);
    if (rc == 0)
        printf("the counter is %s\n", valise_blob_text(sum));
    else
        fprintf(stderr, "%s\n", err.message);
    valise_blob_unref(sum);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
