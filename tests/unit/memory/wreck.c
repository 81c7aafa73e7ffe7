/* wreck.c -- kill -9, full disks and missing memory in changes of roles, preferences and entries:
 * each is made or not, and all of it. [W12] [W13] */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/fault.h"
#include "harness/kill.h"
#include "memory/kit.h"

static const struct {
    const char *op, *json;
} steps[] = {
    {"role:add", "{\"name\":\"r\",\"persona\":\"p\",\"constraints\":{\"model\":\"m\"}}"},
    {"preference:add", "{\"id\":\"01a1e410-7146-7261-a0e0-7f52ef793de6\",\"content\":\"c\","
                       "\"scope\":\"role\",\"of\":\"r\",\"topics\":[\"t\"]}"},
    {"context:add", "{\"key\":\"k\",\"text\":\"one\",\"metadata\":{\"a\":1}}"},
    {"role:update", "{\"name\":\"r\",\"label\":\"l\",\"topics\":[\"t\"]}"},
    {"preference:update", "{\"id\":\"01a1e410-7146-7261-a0e0-7f52ef793de6\",\"content\":\"d\"}"},
    {"context:update", "{\"key\":\"k\",\"value\":[1]}"},
    {"topic:merge", "{\"from\":[\"t\"],\"to\":\"u\"}"},
};

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

/* What the lists say, without times. */
static const char *told(den *d)
{
    const char *role = den_run(d, "role:list", "{}"), *preference, *entry;

    preference = den_run(d, "preference:list", "{}");
    entry = den_run(d, "context:list", "{}");
    return test_format("%s %s %s|%s %s %s|%s %s %s", den_member(role, "name"),
                       den_member(role, "version"), strstr(role, "\"u\"") ? "u" : "-",
                       den_member(preference, "content"), den_member(preference, "version"),
                       strstr(preference, "\"u\"") ? "u" : "-", den_member(entry, "key"),
                       den_member(entry, "type"), den_member(entry, "version"));
}

/* After each step. */
static const char *after(size_t done)
{
    static const char *const states[] = {
        "  -|  -|  ",           "r 1 -|  -|  ",
        "r 1 -|c 1 -|  ",       "r 1 -|c 1 -|k text 1",
        "r 2 -|c 1 -|k text 1", "r 2 -|d 2 -|k text 1",
        "r 2 -|d 2 -|k json 2", "", /* asked for below */
    };

    return states[done];
}

/* ---- kill -9 ---- */

static void change(kill_run *run, void *arg)
{
    valise *v;

    (void)arg;
    fault_io_pause();
    v = open_ws(NULL, test_format("%s/ws", run->dir));
    fault_io_resume();
    for (size_t i = 0; i < VLS_COUNT(steps); i++) {
        valise_error err = VALISE_ERROR_INIT;
        int rc = valise_dispatch(NULL, v, steps[i].op, steps[i].json, NULL, &err);
        CHECK_MSG(rc == 0, "%s: %s", steps[i].op, err.message);
        kill_ack(run, "%s", steps[i].op);
    }
    fault_io_pause();
    valise_close(v);
}

static void is_whole(test *t, const kill_run *run, void *arg)
{
    den d = {.t = t, .dir = run->dir};
    const char *now;

    (void)arg;
    if (access(test_format("%s/ws", run->dir), F_OK) != 0)
        return;
    d.v = open_ws(t->env, test_format("%s/ws", run->dir));
    now = told(&d);
    if (run->acked >= VLS_COUNT(steps) - 1)
        CHECK_MSG(strncmp(now, "r ", 2) == 0 && strstr(now, "k json 2"), "%s", now);
    else
        CHECK_MSG(strcmp(now, after(run->acked)) == 0 || strcmp(now, after(run->acked + 1)) == 0,
                  "%zu: %s", (size_t)run->acked, now);
    den_check(&d);
    valise_close(d.v);
}

TEST(kill, changes_at_every_file_call)
{
    unsigned usual = FAULT_SYNC | FAULT_RENAME | FAULT_UNLINK;

    CHECK(kill_each_io(t, test_is_long() ? FAULT_CHANGES : usual, change, is_whole, NULL) >= 4);
}

/* ---- faults ---- */

typedef struct trial {
    test *t;
    size_t step;
} trial;

static int change_once(fault *f, void *arg)
{
    const trial *it = arg;
    test *t = it->t;
    den d = {.t = t};
    const char *now;
    int rc = 0;

    fault_off(f);
    d.v = open_ws(f->env, test_format("%s/ws", f->dir));
    for (size_t i = 0; i < it->step; i++)
        CHECK_OK(valise_dispatch(NULL, d.v, steps[i].op, steps[i].json, NULL, &f->err));
    fault_on(f);
    rc = valise_dispatch(NULL, d.v, steps[it->step].op, steps[it->step].json, NULL, &f->err);
    fault_off(f);
    now = told(&d);
    if (it->step + 1 < VLS_COUNT(steps))
        CHECK_MSG(strcmp(now, after(it->step + (rc == 0))) == 0, "%d: %s", rc, now);
    valise_close(d.v);
    return rc;
}

TEST(faults, a_change_without_memory)
{
    for (size_t i = 0; i < VLS_COUNT(steps); i++)
        if (test_is_long() || i == 1 || i == 3)
            fault_each_alloc(t, 0, change_once, &(trial){t, i});
}

TEST(faults, a_change_on_a_full_disk)
{
    for (size_t i = 0; i < VLS_COUNT(steps); i++)
        fault_each_io(t, FAULT_WRITE, ENOSPC, change_once, &(trial){t, i});
}

static int list_once(fault *f, void *arg)
{
    static const char *const asks[][2] = {
        {"role:list", "{}"},
        {"role:history", "{\"name\":\"r\"}"},
        {"preference:list", "{}"},
        {"preference:history", "{\"id\":\"01a1e410-7146-7261-a0e0-7f52ef793de6\"}"},
        {"context:list", "{}"},
        {"context:history", "{\"key\":\"k\"}"}};
    test *t = arg;
    valise *v;
    int rc = 0;

    fault_off(f);
    v = open_ws(f->env, test_format("%s/ws", f->dir));
    for (size_t i = 0; i < VLS_COUNT(steps); i++)
        CHECK_OK(valise_dispatch(NULL, v, steps[i].op, steps[i].json, NULL, &f->err));
    fault_on(f);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(asks); i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        rc = valise_dispatch(&reply, v, asks[i][0], asks[i][1], NULL, &f->err);
        valise_reply_release(&reply);
    }
    fault_off(f);
    valise_close(v);
    return rc;
}

TEST(faults, lists_and_histories_without_memory)
{
    fault_each_alloc(t, 0, list_once, t);
}
