/* kill.c -- kill -9 in an import: each conversation is there whole or not at all, and run again it
 * is what it would have been. [W20] */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/kit.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "kit/replayed.h"

static valise *open_ws(const valise_env *env, const char *dir)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    (void)mkdir(dir, 0700);
    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    rc = valise_open(&v, dir, &o, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    return v;
}

static const char *import(valise *v, const char *file)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error err = VALISE_ERROR_INIT;
    const char *text;
    int rc = valise_dispatch(&reply, v, "session:import",
                             test_format("{\"path\":\"%s\"}", desk_data(file)), NULL, &err);

    CHECK_MSG(rc == 0, "%s", err.message);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static void importing(kill_run *run, void *arg)
{
    valise *v;

    (void)arg;
    fault_io_pause();
    v = open_ws(NULL, test_format("%s/ws", run->dir));
    fault_io_resume();
    (void)import(v, "conversations.json");
    kill_ack(run, "imported");
    fault_io_pause();
    valise_close(v);
}

/* Whole conversations, and all of them once it is run again. */
static void is_whole(test *t, const kill_run *run, void *arg)
{
    desk d = {.t = t};
    const char *answer;
    long there;

    (void)arg;
    if (access(test_format("%s/ws", run->dir), F_OK) != 0)
        return;
    d.v = open_ws(t->env, test_format("%s/ws", run->dir));
    desk_check(&d);
    answer = import(d.v, "conversations.json");
    there = desk_number(answer, "there");
    CHECK_MSG(there == 0 || there == 11 || there == 14, "%s", answer);
    CHECK_INT(14 - there, desk_number(answer, "turns"));
    CHECK(run->acked == 0 || there == 14);
    CHECK(strstr(desk_export(&d, "\"sessionId\":\"Weather é\""), "Sunny"));
    desk_check(&d);
    valise_close(d.v);
}

TEST(kill, an_import_at_every_file_call)
{
    unsigned usual = FAULT_SYNC | FAULT_RENAME | FAULT_UNLINK;

    CHECK(kill_each_io(t, test_is_long() ? FAULT_CHANGES : usual, importing, is_whole, NULL) >= 4);
}

/* ---- memory that is missing, disks that are full ---- */

static int import_once(fault *f, void *arg)
{
    const char *dir = test_format("%s/ws", f->dir);
    desk d = {.t = arg};
    int rc;

    fault_off(f);
    d.v = open_ws(f->env, dir);
    fault_on(f);
    rc = valise_dispatch(NULL, d.v, "session:import",
                         test_format("{\"path\":\"%s\"}", desk_data("claude-code.jsonl")), NULL,
                         &f->err);
    fault_off(f);
    (void)import(d.v, "claude-code.jsonl");
    CHECK_INT(10, desk_number(import(d.v, "claude-code.jsonl"), "there"));
    valise_close(d.v);
    return rc;
}

TEST(faults, an_import_on_a_full_disk)
{
    fault_each_io(t, FAULT_WRITE, ENOSPC, import_once, t);
}

TEST(faults, an_import_without_memory)
{
    if (!test_is_long())
        SKIP("takes minutes: VALISE_TEST_LONG=1");
    fault_each_alloc(t, 0, import_once, t);
}
