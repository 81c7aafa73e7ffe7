/* keeping_files.c -- what lasts when files go, processes are killed and disks are full.
 * [K32] [K33] [C2] [C10] */
#include <errno.h>
#include <sys/stat.h>

#include <valise.h>

#include "base/base64.h"
#include "base/str.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "harness/test.h"
#include "kit/replayed.h"

#define FILES 3

/* ---- a workspace with files ---- */

static int open_at(valise **out, const valise_env *env, const char *dir, valise_error *err)
{
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    return valise_open(out, dir, &o, err);
}

/* Its answer, or NULL. */
static const char *run(int *rc, valise *v, const char *type, const char *payload, valise_error *err)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text = NULL;

    *rc = valise_dispatch(&reply, v, type, payload, NULL, err);
    if (*rc == 0)
        text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static int scan(valise *v, valise_error *err)
{
    int rc;

    (void)run(&rc, v, "tree:scan", "{}", err);
    return rc;
}

/* About file number i: its text is part of what is said, so that each edit has a frame. */
static const char *put(int *rc, valise *v, int i, int edit, valise_error *err)
{
    VLS_AUTO(buf) vls_buf data = {0};
    const char *text = test_format("about %d, edit %d", i, edit);

    vls_buf_init(&data, valise_env_default(), 4096);
    vls_base64_encode(&data, valise_str_of(text));
    return run(rc, v, "frame:put",
               test_format("{\"node\":\"src/%d.c\",\"content\":\"%.*s\"}", i,
                           VALISE_STR_ARG(vls_buf_str(&data))),
               err);
}

static void edit(const char *dir, int i, int number)
{
    test_write_file(test_format("%s/src/%d.c", dir, i),
                    valise_str_of(test_format("file %d, edit %d\n", i, number)));
}

static void make_files(const char *dir)
{
    (void)mkdir(dir, 0700);
    CHECK_INT(0, mkdir(test_format("%s/src", dir), 0700));
    for (int i = 0; i < FILES; i++)
        edit(dir, i, 0);
}

static void check_valid(test *t, valise *v)
{
    int rc;
    const char *found = run(&rc, v, "workspace:validate", "{}", &t->err);

    CHECK_MSG(rc == 0 && !strstr(found, "\"kind\":\"problem\""), "%s", found ? found : "");
}

/* ---- the log alone ---- */

/* Looks at files are in the log as what they found: nobody looks again. [K32] */
TEST(keeping_files, a_replay_needs_no_files)
{
    const char *dir = test_format("%s/ws", test_tmpdir()), *before;
    valise *v = NULL;
    int rc;

    make_files(dir);
    CHECK_OK(open_at(&v, t->env, dir, &t->err));
    CHECK_OK(scan(v, &t->err));
    (void)put(&rc, v, 0, 0, &t->err);
    CHECK_INT(0, rc);
    edit(dir, 0, 1);
    edit(dir, 1, 1);
    (void)put(&rc, v, 0, 1, &t->err); /* looks, and records one of the two */
    CHECK_INT(0, rc);
    CHECK_INT(0, rename(test_format("%s/src", dir), test_format("%s/lib", dir)));
    CHECK_OK(scan(v, &t->err));
    before = state_of(t, v);
    test_remove(test_format("%s/lib", dir));
    test_write_file(test_format("%s/other.c", dir), VLS_STR("something else"));
    CHECK_TEXT(before, replayed(t, v));
    CHECK_TEXT(before, state_of(t, v));
    valise_close(v);
}

/* What a look did not follow is told once, to who put: a replay, which does not look, finds the
 * same answers as the log has. [C12] [K32] */
TEST(keeping_files, a_replay_knows_nothing_of_what_was_told_in_passing)
{
    const char *dir = test_format("%s/ws", test_tmpdir()), *answer;
    valise *v = NULL;
    int rc;

    make_files(dir);
    CHECK_OK(open_at(&v, t->env, dir, &t->err));
    CHECK_OK(scan(v, &t->err));
    (void)put(&rc, v, 0, 0, &t->err);
    CHECK_INT(0, rc);
    CHECK_INT(0, rename(test_format("%s/src/0.c", dir), test_format("%s/src/100.c", dir)));
    test_write_file(test_format("%s/src/101.c", dir), VLS_STR("file 0, edit 0\n"));
    answer = put(&rc, v, 100, 0, &t->err);
    CHECK_MSG(rc == 0 && strstr(answer, "\"ambiguousCount\":1"), "%s", answer ? answer : "");
    CHECK(strstr(answer, "{\"path\":\"src/0.c\","));
    answer = put(&rc, v, 101, 0, &t->err);
    CHECK(rc == 0 && !strstr(answer, "ambiguous"));
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    valise_close(v);
}

/* ---- kill -9 ---- */

static void put_until_killed(kill_run *run_, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    const char *dir = test_format("%s/ws", run_->dir);
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_io_pause();
    make_files(dir);
    CHECK_INT(0, open_at(&v, NULL, dir, &err));
    fault_io_resume();
    for (int number = 0; number < 4; number++) {
        fault_io_pause();
        for (int i = 0; i < FILES; i++)
            edit(dir, i, number);
        fault_io_resume();
        CHECK_INT(0, scan(v, &err));
        kill_ack(run_, "scan %d", number);
        for (int i = 0; i < FILES; i++) {
            (void)put(&rc, v, i, number, &err);
            CHECK_INT(0, rc);
            kill_ack(run_, "put %d %d", i, number);
        }
    }
    valise_close(v);
}

/* What was acknowledged is there, the store is sound, and a second run finishes the work. */
static void nothing_is_lost(test *t, const kill_run *run_, void *arg)
{
    const char *dir = test_format("%s/ws", run_->dir);
    valise *v = NULL;
    int rc;

    (void)arg;
    CHECK_OK(open_at(&v, t->env, dir, &t->err));
    check_valid(t, v);
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    for (size_t i = 0; i < run_->acked; i++) {
        int file, number;
        const char *list;
        if (sscanf(run_->acks[i], "put %d %d", &file, &number) != 2)
            continue;
        list =
            run(&rc, v, "node:get",
                test_format("{\"node\":\"src/%d.c\",\"view\":\"history\",\"noScan\":true}", file),
                &t->err);
        CHECK_INT(0, rc);
        CHECK_MSG(strstr(list, test_format("about %d, edit %d\"", file, number)), "%s", list);
    }
    for (int i = 0; i < FILES; i++)
        edit(dir, i, 3);
    CHECK_OK(scan(v, &t->err));
    for (int i = 0; i < FILES; i++) {
        (void)put(&rc, v, i, 3, &t->err);
        CHECK_INT(0, rc);
        CHECK(strstr(run(&rc, v, "head:get", test_format("{\"node\":\"src/%d.c\"}", i), &t->err),
                     "\"state\":\"fresh\""));
    }
    check_valid(t, v);
    valise_close(v);
}

TEST(keeping_files, survive_kill) /* [K33] */
{
    kill_loop(t, 6, put_until_killed, nothing_is_lost, NULL);
}

/* ---- one scan and one put, and everything that can happen to them ---- */

static void once_until_killed(kill_run *run_, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    const char *dir = test_format("%s/ws", run_->dir);
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_io_pause();
    make_files(dir);
    CHECK_INT(0, open_at(&v, NULL, dir, &err));
    CHECK_INT(0, scan(v, &err));
    (void)put(&rc, v, 0, 0, &err);
    CHECK_INT(0, rc);
    kill_ack(run_, "put 0 0");
    edit(dir, 0, 1);
    edit(dir, 1, 1);
    fault_io_resume();
    (void)put(&rc, v, 0, 1, &err); /* with a look at the file */
    CHECK_INT(0, rc);
    kill_ack(run_, "put 0 1");
    CHECK_INT(0, scan(v, &err));
    kill_ack(run_, "scan 1");
    fault_io_pause();
    valise_close(v);
}

/* Each write: tests/contract does that for all that the store is. */
TEST(keeping_files, survive_kill_at_every_sync) /* [K33] */
{
    long long points =
        kill_each_io(t, FAULT_SYNC | FAULT_RENAME, once_until_killed, nothing_is_lost, NULL);

    CHECK(points > 4);
}

/* ---- no room ---- */

static int once_without_room(fault *f, void *arg)
{
    const char *dir = test_format("%s/ws", f->dir);
    test *t = f->t;
    valise *v = NULL;
    int rc, again;

    (void)arg;
    fault_off(f);
    make_files(dir);
    CHECK_OK(open_at(&v, f->env, dir, &t->err));
    CHECK_OK(scan(v, &t->err));
    (void)put(&rc, v, 0, 0, &t->err);
    CHECK_INT(0, rc);
    edit(dir, 0, 1);
    edit(dir, 1, 1);
    fault_on(f);
    (void)put(&rc, v, 0, 1, &f->err);
    if (rc == 0)
        rc = scan(v, &f->err);
    fault_off(f);
    if (rc < 0)
        CHECK_MSG(strstr(f->err.message, "disk") || strstr(f->err.message, "space") ||
                      strstr(f->err.message, "No "),
                  "%s", f->err.message);
    else if (fault_has_hit(f))
        f->recovered = true; /* the stat cache need not be written */
    /* With the same handle, and then with another one. */
    CHECK(strstr(run(&again, v, "node:get",
                     "{\"node\":\"src/0.c\",\"view\":\"history\",\"noScan\":true}", &t->err),
                 "about 0, edit 0\""));
    CHECK_OK(scan(v, &t->err));
    (void)put(&again, v, 0, 1, &t->err);
    CHECK_INT(0, again);
    valise_close(v);
    CHECK_OK(open_at(&v, f->env, dir, &t->err));
    check_valid(t, v);
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    valise_close(v);
    return rc;
}

TEST(keeping_files, survive_a_full_disk) /* [K33] */
{
    fault_each_plan(t, &(fault_io_plan){.limited = true}, once_without_room, NULL);
    fault_each_io(t, FAULT_WRITE, ENOSPC, once_without_room, NULL);
}
