/* api_threads.c -- many threads say and read something through one handle. */
#include <valise.h>

#include "base/hash.h"
#include "base/str.h"
#include "harness/test.h"

#define THREADS 8
#define ROUNDS 10

typedef struct crowd {
    valise *v;
    valise_frames *shared; /* read by all */
} crowd;

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise *open_here(test *t)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&v, test_format("%s/ws", test_tmpdir()), &o, &t->err));
    test_defer(close_it, v);
    for (int i = 0; i < THREADS; i++)
        test_write_file(test_format("%s/ws/f%d", test_tmpdir(), i), VLS_STR("x"));
    CHECK_OK(valise_tree_scan(NULL, v, NULL, NULL, &t->err));
    return v;
}

static void say_and_read(size_t index, void *arg)
{
    const crowd *c = arg;
    const char *own = test_format("f%zu", index), *text;
    valise_error err = VALISE_ERROR_INIT;
    valise_placed placed = VALISE_PLACED_INIT;
    valise_roots roots = VALISE_ROOTS_INIT;

    for (int i = 0; i < ROUNDS; i++) {
        valise_frames *f = NULL;
        text = test_format("%zu says %d", index, i);
        CHECK_INT(0, valise_frame_put(&placed, c->v, own, valise_str_of(text), NULL, NULL, &err));
        CHECK_INT(1, valise_head_get(&f, c->v, own, "notes", 0, NULL, &err));
        CHECK_STR(valise_str_of(text), f->items[0]->content); /* its own, whoever else writes */
        CHECK(vls_id_equal(&placed.frame, &f->items[0]->id));
        valise_frames_free(f);
        f = NULL;
        CHECK_INT(0, valise_frame_put(NULL, c->v, "f0", valise_str_of(text),
                                      &(valise_frame_options){.size = sizeof(valise_frame_options),
                                                              .type = VLS_STR("shared")},
                                      NULL, &err));
        CHECK_INT(0, valise_node_get(&f, c->v, "f0", "history", NULL, NULL, &err));
        CHECK(f->total > i);
        valise_frames_free(f);
        CHECK_INT(0, valise_roots_get(&roots, c->v, NULL, &err));
        CHECK_STR(VLS_STR("first"), c->shared->items[0]->content);
    }
}

TEST(api_threads, say_and_read)
{
    crowd c = {.v = open_here(t)};
    valise_roots roots = VALISE_ROOTS_INIT;

    CHECK_OK(valise_frame_put(NULL, c.v, ".", VLS_STR("first"), NULL, NULL, &t->err));
    CHECK_RC(1, valise_head_get(&c.shared, c.v, ".", "notes", 0, NULL, &t->err));
    test_threads(THREADS, say_and_read, &c);
    valise_frames_free(c.shared);
    CHECK_OK(valise_roots_get(&roots, c.v, NULL, &t->err));
    CHECK_INT(1 + THREADS * ROUNDS * 2, roots.frames); /* none was lost, none is there twice */
    CHECK_INT(2 + THREADS, roots.slots);
}

/* One scans, the others read and free on threads of their own. */
static void scan_or_read(size_t index, void *arg)
{
    const crowd *c = arg;
    valise_error err = VALISE_ERROR_INIT;

    for (int i = 0; i < ROUNDS; i++) {
        valise_frames *f = NULL;
        if (index == 0) {
            test_write_file(test_format("%s/ws/new%d", test_tmpdir(), i), VLS_STR("x"));
            CHECK_INT(0, valise_tree_scan(NULL, c->v, NULL, NULL, &err));
        }
        CHECK_INT(0, valise_node_get(&f, c->v, ".", NULL, NULL, NULL, &err));
        CHECK_INT(f->node->size, f->node->children.count);
        CHECK(f->node->size >= THREADS && f->node->size == THREADS + f->version - 1);
        valise_frames_free(f);
    }
}

TEST(api_threads, scan_and_read)
{
    crowd c = {.v = open_here(t)};

    test_threads(THREADS, scan_or_read, &c);
}
