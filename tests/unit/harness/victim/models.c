/* models.c -- broken structures whose shortest failure is known. Run by unit/harness/model.c. */
#include "harness/model.h"

#include <unistd.h>

#include "base/mem.h"

typedef struct state {
    test *t;
    /* a list of distinct keys, and the same as flags */
    uint64_t list[64];
    size_t len;
    bool model[64];
    uint64_t total;
    void *block;
} state;

static void *start(test *t, const char *dir)
{
    state *s = test_alloc(sizeof(state));

    (void)dir;
    s->t = t;
    return s;
}

static void stop(void *arg)
{
    state *s = arg;

    (void)s;
}

static size_t find(const state *s, uint64_t key)
{
    size_t i = 0;

    while (i < s->len && s->list[i] != key)
        i++;
    return i;
}

static void put(void *arg, model_args *a)
{
    state *s = arg;
    uint64_t key = model_below(a, "key", 64);

    if (find(s, key) == s->len)
        s->list[s->len++] = key;
    s->model[key] = true;
}

/* Off by one: the last element is not moved. Seen when the first of two is removed. */
static void remove_key(void *arg, model_args *a)
{
    state *s = arg;
    uint64_t key = model_below(a, "key", 64);
    size_t at = find(s, key);

    if (at < s->len) {
        size_t behind = s->len - at - 1;
        memmove(&s->list[at], &s->list[at + 1], (behind ? behind - 1 : 0) * sizeof(uint64_t));
        s->len--;
    }
    s->model[key] = false;
}

static void nothing(void *arg, model_args *a)
{
    (void)arg;
    (void)model_below(a, "whatever", 1000);
}

static void compare(void *arg)
{
    state *s = arg;

    for (uint64_t key = 0; key < 64; key++)
        CHECK_MSG((find(s, key) < s->len) == s->model[key], "key %ju", (uintmax_t)key);
}

TEST(models, off_by_one)
{
    static const model m = {
        .start = start,
        .check = compare,
        .stop = stop,
        .ops = {{"put", 3, put}, {"nothing", 3, nothing}, {"remove", 2, remove_key}},
    };

    model_test(t, &m);
}

/* Wrong from 100 on: the smallest parameter that fails is known. */
static void add(void *arg, model_args *a)
{
    state *s = arg;

    (void)model_below(a, "unused", 9);
    CHECK(model_below(a, "amount", 100000) < 100);
    s->total++;
}

TEST(models, limit)
{
    static const model m = {.start = start, .stop = stop, .ops = {{"add", 1, add}}};

    model_test(t, &m);
}

static void crash(void *arg, model_args *a)
{
    if (model_below(a, "x", 8) == 7)
        abort();
    (void)arg;
}

TEST(models, crash)
{
    static const model m = {
        .start = start, .stop = stop, .ops = {{"nothing", 5, nothing}, {"crash", 1, crash}}};

    model_test(t, &m);
}

static void hang(void *arg, model_args *a)
{
    (void)arg;
    while (model_below(a, "x", 8) == 7)
        (void)pause();
}

TEST(models, hang)
{
    static const model m = {
        .start = start, .stop = stop, .ops = {{"nothing", 5, nothing}, {"hang", 1, hang}}};

    model_test(t, &m);
}

static void leak(void *arg, model_args *a)
{
    state *s = arg;

    (void)a;
    s->block = vls_mem_alloc(s->t->env, 10);
}

TEST(models, leak)
{
    static const model m = {
        .start = start, .stop = stop, .ops = {{"nothing", 5, nothing}, {"leak", 1, leak}}};

    model_test(t, &m);
}
