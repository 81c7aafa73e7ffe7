/* crash.c -- kill -9 between commit and purge, and several processes at once. [W10] */
#include "blobs/kit.h"
#include "harness/kill.h"
#include "harness/process.h"

#define CONTENTS 6
#define HOLDS 4

static valise *open_in(test *t, const char *dir)
{
    return desk_open_at(t, dir, NULL);
}

static const char *content(unsigned i)
{
    return test_format("content %u %0200d", i, 1);
}

/* Never a row without its file; what is left over is what gc takes, and counts are rows. */
static void check_all(test *t, valise *v)
{
    size_t held = 0;

    desk_validate(t, v);
    for (unsigned i = 0; i < CONTENTS; i++) {
        valise_id id = desk_hash(valise_str_of(content(i)));
        bool any = desk_count(t, v, &id) > 0;
        if (any)
            CHECK(desk_has_file(t, v, &id));
        held += any;
    }
    (void)desk_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK_INT((int)held, (int)desk_count_files(t, v));
    desk_validate(t, v);
}

/* ---- one process, killed ---- */

static void take_and_release(kill_run *run, void *arg)
{
    test t = {.env = NULL, .err = VALISE_ERROR_INIT};
    unsigned state = (unsigned)run->round * 7919u + 1;
    valise *v = open_in(&t, run->dir);

    (void)arg;
    for (int i = 0; i < 80; i++) {
        const char *hold, *text;
        state = state * 1103515245u + 12345u;
        text = content(state >> 16 & 0xff ? (state >> 8) % CONTENTS : 0);
        hold = test_format("h%u", (state >> 20) % HOLDS);
        if (state >> 28 & 1) {
            valise_id id = desk_hash(valise_str_of(text));
            CHECK(desk_release(v, &id, hold, NULL, &t.err) >= 0);
        } else {
            (void)desk_register(&t, v, text, hold);
        }
        kill_ack(run, "%d", i);
    }
    valise_close(v);
}

static void nothing_is_missing(test *t, const kill_run *run, void *arg)
{
    valise *v = open_in(t, run->dir);

    (void)arg;
    check_all(t, v);
    valise_close(v);
}

TEST(blob_crash, killed_at_any_moment_no_file_is_missing)
{
    kill_loop(t, 20, take_and_release, nothing_is_missing, NULL);
}

/* At the very call that removes the file: before it, and after it. */
static void release_one(kill_run *run, void *arg)
{
    test t = {.env = NULL, .err = VALISE_ERROR_INIT};
    valise *v;
    valise_id id;

    (void)arg;
    fault_io_pause();
    v = open_in(&t, run->dir);
    id = desk_register(&t, v, content(0), NULL);
    (void)desk_register(&t, v, content(1), NULL);
    fault_io_resume();
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t.err));
    kill_ack(run, "released");
    fault_io_pause();
    valise_close(v);
}

static void released_or_not(test *t, const kill_run *run, void *arg)
{
    valise *v = open_in(t, run->dir);
    valise_id other = desk_hash(valise_str_of(content(1)));

    CHECK(desk_has_file(t, v, &other));
    nothing_is_missing(t, run, arg);
    valise_close(v);
}

TEST(blob_crash, killed_between_commit_and_purge)
{
    CHECK(kill_each_io(t, FAULT_CHANGES, release_one, released_or_not, NULL) > 0);
}

/* ---- several at once ---- */

typedef struct crowd {
    const char *dir;
    int rounds;
} crowd;

static int register_and_release(size_t index, void *arg)
{
    const crowd *c = arg;
    test t = {.env = NULL, .err = VALISE_ERROR_INIT};
    valise *v = open_in(&t, c->dir);
    const char *hold = test_format("p%zu", index);

    for (int i = 0; i < c->rounds; i++) {
        valise_id id = desk_register(&t, v, content(0), hold);
        CHECK(desk_has_file(&t, v, &id));
        CHECK_INT(1, desk_release(v, &id, hold, NULL, &t.err));
        /* The same with bytes that come along with a command. */
        (void)desk_run(&t, v, "desk:write",
                       test_format("{\"name\":\"%s\",\"blocks\":[{\"type\":\"image\",\"data\":"
                                   "\"aGVsbG8K\"}]}",
                                   hold));
        (void)desk_run(&t, v, "desk:clear", test_format("{\"name\":\"%s\"}", hold));
    }
    valise_close(v);
    return 0;
}

TEST(blob_crash, processes_that_register_and_release_the_same)
{
    crowd c = {desk_path(), 40};
    valise *v = desk_open(t);

    process_all(NULL, 4, register_and_release, &c);
    CHECK(strstr(desk_run(t, v, "blob:list", NULL), "\"items\":[]"));
    check_all(t, v);
    CHECK_INT(0, (int)desk_count_files(t, v));
}
