/* meanwhile.c -- what others do at any moment of a round. [C27]
 *
 * The watch asks for the time now and then: each time is a moment at which something can happen. A
 * test does it at the first, then at the second, and so on. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch/kit.h"

#define MOMENTS 24

typedef struct moment {
    valise_env env;
    const valise_env *real;
    bed *b;
    int left; /* moments until it happens; 0: it does not */
    int n;
    int allocations; /* so many until it happens; 0: moments are the questions for the time */
    void (*happen)(struct moment *m);
} moment;

static void *resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    moment *m = self;

    if (m->allocations > 0 && --m->allocations == 0)
        m->happen(m);
    return m->real->resize(m->real->self, ptr, old_size, new_size);
}

static int64_t now_ns(void *self)
{
    const moment *m = self;

    return m->real->now_ns(m->real->self);
}

static int64_t ticks_ns(void *self)
{
    moment *m = self;

    if (m->left > 0 && --m->left == 0)
        m->happen(m);
    return m->real->ticks_ns(m->real->self);
}

static int random_bytes(void *self, void *bytes, size_t len)
{
    const moment *m = self;

    return m->real->random(m->real->self, bytes, len);
}

/* From now on the watch's time is ours. */
static moment *take_time(bed *b, void (*happen)(moment *m))
{
    moment *m = test_alloc(sizeof(*m));

    *m = (moment){.env = {.size = sizeof(valise_env),
                          .self = m,
                          .resize = resize,
                          .now_ns = now_ns,
                          .ticks_ns = ticks_ns,
                          .random = random_bytes},
                  .real = b->watch->env,
                  .b = b,
                  .happen = happen};
    b->watch->env = &m->env;
    return m;
}

static void give_back(const moment *m)
{
    m->b->watch->env = m->real;
}

/* It happens at the n-th moment, or afterwards; then all of it is waited for. */
static void wait_through(moment *m)
{
    m->left = m->n;
    bed_settle(m->b);
    if (m->left > 0)
        m->happen(m);
    m->left = 0;
    bed_wait(m->b);
}

/* ---- moves ---- */

static const char *name_of(const moment *m, const char *what)
{
    return test_format("d/%s%d", what, m->n);
}

static void move_it(moment *m)
{
    bed_rename(m->b, name_of(m, "from"), test_format("e/to%d", m->n));
}

TEST(meanwhile, a_file_moves_while_it_is_looked_at)
{
    bed *b = bed_new(t);
    moment *m;

    bed_dir(b, "e");
    for (int i = 1; i <= MOMENTS; i++)
        bed_file(b, test_format("d/from%d", i), test_format("text %d", i));
    bed_watch(b, NULL);
    for (int i = 1; i <= MOMENTS; i++)
        CHECK_OK(valise_frame_put(NULL, b->v, test_format("d/from%d", i), VLS_STR("said"), NULL,
                                  NULL, &t->err));
    m = take_time(b, move_it);
    for (m->n = 1; m->n <= MOMENTS; m->n++) {
        valise_frames *known = NULL;
        CHECK(utimensat(AT_FDCWD, bed_path(b, name_of(m, "from")), NULL, 0) == 0);
        wait_through(m);
        CHECK_INT(1, valise_head_get(&known, b->v, test_format("e/to%d", m->n), "notes", 0, NULL,
                                     &t->err));
        valise_frames_free(known);
    }
    give_back(m);
}

/* ---- what changes again ---- */

static void edit_it(moment *m)
{
    bed_file(m->b, name_of(m, "new"), test_format("and then all of it %d", m->n));
}

/* From the beginning, and for the whole workspace: its memory is ours too. */
static moment *take_memory(test *t, void (*happen)(moment *m))
{
    test ours = *t;
    moment *m = test_alloc(sizeof(*m));

    *m = (moment){.env = {.size = sizeof(valise_env),
                          .self = m,
                          .resize = resize,
                          .now_ns = now_ns,
                          .ticks_ns = ticks_ns,
                          .random = random_bytes},
                  .real = t->env,
                  .happen = happen};
    ours.env = &m->env;
    m->b = bed_new(&ours);
    m->b->t = t;
    return m;
}

/* A file that came is looked at once more, for its other side; and what is heard of it then is the
 * last that anybody says about it. It changes at any moment of that: at the first allocation of
 * memory, at the fifth, and so on. */
TEST(meanwhile, a_file_that_came_changes_again)
{
    moment *m = take_memory(t, edit_it);
    bed *b = m->b;
    int most = 2000;

    bed_file(b, "d/a", "1");
    bed_watch(b, NULL);
    CHECK_OK(valise_frame_put(NULL, b->v, "d/a", VLS_STR("said"), NULL, NULL, &t->err));
    for (m->n = 1; m->n < most; m->n += 5) {
        bed_file(b, name_of(m, "new"), "half of it");
        m->allocations = m->n;
        bed_settle(b);
        if (m->allocations > 0)
            most = 0; /* it was over before that */
        m->allocations = 0;
        bed_wait(b);
    }
    CHECK(m->n > 100);
}

static int edit_at_the_end(void *arg, const valise_progress_state *state)
{
    moment *m = arg;

    if (m->left > 0 && state->done > 0)
        m->happen(m);
    m->left = 0;
    return 0;
}

/* The same of a look at everything: when it is over, and before that is recorded. */
TEST(meanwhile, a_file_changes_when_everything_was_looked_at)
{
    bed *b = bed_new(t);
    moment m = {.b = b, .left = 1, .happen = edit_it};

    bed_file(b, "d/a", "1");
    bed_watch(b, NULL);
    CHECK_OK(valise_frame_put(NULL, b->v, "d/a", VLS_STR("said"), NULL, NULL, &t->err));
    b->watch->call.progress = (valise_progress){edit_at_the_end, &m};
    bed_file(b, name_of(&m, "new"), "half of it");
    b->watch->full = true;
    bed_wait(b);
    CHECK_INT(0, m.left);
}

/* ---- versions ---- */

static void scan_it(moment *m)
{
    test *t = m->b->t;
    valise_tree_scan_options o = VALISE_TREE_SCAN_OPTIONS_INIT;

    o.path = VLS_STR("d/other");
    bed_file(m->b, "d/other", test_format("other %d", m->n));
    CHECK_OK(valise_tree_scan(NULL, m->b->other, &o, NULL, &t->err));
}

TEST(meanwhile, somebody_else_records_a_version)
{
    bed *b = bed_new(t);
    moment *m;

    bed_file(b, "d/a", "1");
    bed_file(b, "d/other", "1");
    bed_watch(b, NULL);
    m = take_time(b, scan_it);
    for (m->n = 1; m->n <= MOMENTS; m->n++) {
        bed_file(b, test_format("d/a%d", m->n), "edited");
        wait_through(m);
    }
    give_back(m);
}

/* ---- directories ---- */

static void swap_them(moment *m)
{
    bed_rename(m->b, "x", "tmp");
    bed_rename(m->b, "y", "x");
    bed_rename(m->b, "tmp", "y");
    bed_file(m->b, test_format("x/deep/n%d", m->n), "1");
    bed_file(m->b, test_format("new%d/sub/f", m->n), "1");
}

TEST(meanwhile, directories_move_while_they_are_looked_at)
{
    bed *b = bed_new(t);
    moment *m;

    bed_file(b, "x/a", "1");
    bed_file(b, "x/deep/b", "2");
    bed_file(b, "y/c", "3");
    bed_file(b, "y/deep/d", "4");
    bed_watch(b, NULL);
    m = take_time(b, swap_them);
    for (m->n = 1; m->n <= MOMENTS; m->n++) {
        bed_file(b, test_format("x/deep/e%d", m->n), "edited");
        wait_through(m);
        bed_file(b, test_format("x/deep/again%d", m->n), "heard where it is now");
        bed_file(b, test_format("new%d/sub/f", m->n), "heard");
        bed_wait(b);
    }
    give_back(m);
}

/* ---- the system ---- */

TEST(meanwhile, the_root_gets_other_rights)
{
    bed *b = bed_new(t);

    bed_file(b, "a", "1");
    bed_watch(b, NULL);
    CHECK(chmod(b->root, 0711) == 0);
    bed_wait(b);
    CHECK_TEXT("", b->told);
    CHECK(chmod(b->root, 0755) == 0);
    bed_wait(b);
}

TEST(meanwhile, without_inotify_everything_is_looked_at_now_and_then)
{
    bed *b = bed_new(t);

    bed_file(b, "d/a", "1");
    bed_watch(b, NULL);
    (void)close(b->watch->set.fd); /* as if the system had had none */
    b->watch->set.fd = -1;
    b->watch->set.shortage = EMFILE;
    bed_file(b, "d/a", "2");
    bed_wait(b);
    CHECK_TEXT("changed d/a\n", b->told);
    CHECK_TEXT("short ", b->noted);
    CHECK_INT(-1, valise_watch_fd(b->watch));
}
