/* kill.c -- kill -9 in checkpoints and restores: nothing is lost, and run again it is whole. [C31]
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/kit.h"
#include "harness/fault.h"
#include "harness/kill.h"

/* ---- a small tree, and a wrecked one ---- */

static void make_tree(shed *s)
{
    shed_write(s, ".git/config", "[core]", 0600);
    shed_write(s, "src/a.c", "one", 0644);
    shed_write(s, "src/b.c", "two", 0600);
    shed_write(s, "was/dir", "three", 0755);
    shed_write(s, "same", "same", 0644);
    shed_link(s, "link", "src/a.c");
    shed_dir(s, "empty", 0750);
}

static void wreck(shed *s)
{
    shed_write(s, "src/a.c", "my edit", 0640);
    shed_remove(s, "src/b.c");
    shed_remove(s, "was");
    shed_write(s, "was", "a file now", 0600);
    shed_link(s, "link", "same");
    shed_remove(s, "empty");
    shed_write(s, "new", "to be deleted", 0644);
}

/* A workspace as a child has it, without what the harness defers. */
static valise *open_ws(const char *dir)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    int rc;

    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    rc = valise_open(&v, dir, &o, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    return v;
}

static const char *run(valise *v, const char *op, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error err = VALISE_ERROR_INIT;
    const char *text;
    int rc = valise_dispatch(&reply, v, op, payload, NULL, &err);

    CHECK_MSG(rc == 0, "%s: %s", op, err.message);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

#define RESTORE "{\"checkpoint\":\"one\",\"delete\":true}"

static const char *ws_of(const kill_run *run_)
{
    return test_format("%s/ws", run_->dir);
}

static const char *file_of(const kill_run *run_, const char *name)
{
    return test_format("%s/%s", run_->dir, name);
}

static void restoring(kill_run *run_, void *arg)
{
    shed s = {.dir = ws_of(run_)};
    valise *v;

    (void)arg;
    fault_io_pause();
    (void)mkdir(s.dir, 0700);
    v = open_ws(s.dir);
    make_tree(&s);
    (void)run(v, "tree:checkpoint", "{\"name\":\"one\"}");
    test_write_file(file_of(run_, "before"), valise_str_of(shed_text(s.dir)));
    wreck(&s);
    test_write_file(file_of(run_, "after"), valise_str_of(shed_text(s.dir)));
    fault_io_resume();
    (void)run(v, "tree:restore", RESTORE);
    kill_ack(run_, "restored");
    fault_io_pause();
    valise_close(v);
}

/* What a restore saved first, of all that there are by now. */
static const char *first_saved(const char *list)
{
    const char *last = NULL;

    for (const char *at = list; (at = strstr(at, "before-restore-")); at++)
        last = at; /* the oldest comes last */
    return last ? test_format("%.*s", (int)strcspn(last, "\""), last) : NULL;
}

/* Run again it is whole; and every file there was can be had back. */
static void can_go_on(test *t, const kill_run *run_, void *arg)
{
    const char *ws = ws_of(run_), *found, *saved;
    valise *v;

    (void)t, (void)arg;
    if (access(file_of(run_, "after"), F_OK) != 0)
        return;
    v = open_ws(ws);
    found = run(v, "workspace:validate", "{}");
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    found = run(v, "tree:restore", RESTORE);
    CHECK_STR(test_read_file(file_of(run_, "before")), valise_str_of(shed_text(ws)));
    CHECK_MSG(strstr(found, "\"found\":[]"), "%s", found);
    CHECK_MSG(strstr(found, "\"inTheWayCount\":0"), "%s", found);
    found = run(v, "workspace:validate", "{}");
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    saved = first_saved(run(v, "checkpoint:list", "{}"));
    CHECK(saved);
    (void)run(v, "tree:restore", test_format("{\"checkpoint\":\"%s\",\"delete\":true}", saved));
    CHECK_STR(test_read_file(file_of(run_, "after")), valise_str_of(shed_text(ws)));
    CHECK_INT(0, rmdir(test_format("%s/.valise/restore", ws)));
    valise_close(v);
}

TEST(kill, a_restore_at_every_file_call)
{
    unsigned usual = FAULT_RENAME | FAULT_UNLINK | FAULT_MKDIR | FAULT_TRUNCATE;

    CHECK(kill_each_io(t, test_is_long() ? FAULT_CHANGES : usual, restoring, can_go_on, NULL) >=
          10);
}

/* ---- a restore that is killed while somebody edits ---- */

#define LATE "LATE EDIT"
#define LATE_HASH "155b46dff1af4759e1e2bea3c842c789cea37618470a41565c9ce1f2c7446d5b"

/* Behind "compare" everything is planned and saved, and nothing is done yet. */
static int edit_late(void *arg, const valise_progress_state *state)
{
    if (strcmp(state->stage, "compare") == 0) {
        fault_io_pause();
        shed_write(arg, "src/a.c", LATE, 0644);
        shed_link(arg, "link", "late");
        fault_io_resume();
    }
    return 0;
}

static void restoring_late(kill_run *run_, void *arg)
{
    shed s = {.dir = ws_of(run_)};
    valise_call call = VALISE_CALL_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v;
    int rc;

    (void)arg;
    fault_io_pause();
    (void)mkdir(s.dir, 0700);
    v = open_ws(s.dir);
    make_tree(&s);
    (void)run(v, "tree:checkpoint", "{\"name\":\"one\"}");
    wreck(&s);
    test_write_file(file_of(run_, "after"), VLS_STR(""));
    call.progress = (valise_progress){edit_late, &s};
    fault_io_resume();
    rc = valise_dispatch(NULL, v, "tree:restore", RESTORE, &call, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    kill_ack(run_, "restored");
    fault_io_pause();
    valise_close(v);
}

static bool some_checkpoint_has(valise *v, const char *what)
{
    const char *list = run(v, "checkpoint:list", "{}");

    for (const char *at = list; (at = strstr(at, "\"name\":\"")); at++) {
        const char *name = test_format("%.*s", (int)strcspn(at + 8, "\""), at + 8);
        if (strstr(run(v, "checkpoint:show", test_format("{\"checkpoint\":\"%s\"}", name)), what))
            return true;
    }
    return false;
}

/* Wherever it was killed: once the edit was made it is in its place, put aside, or in a
 * checkpoint; also when it is run again. */
static void late_is_not_lost(test *t, const kill_run *run_, void *arg)
{
    const char *ws = ws_of(run_), *stage = test_format("%s/.valise/restore", ws), *seen;
    bool edited, linked;
    valise *v;

    (void)t, (void)arg;
    if (access(file_of(run_, "after"), F_OK) != 0)
        return;
    v = open_ws(ws);
    seen = shed_text(ws);
    edited = strstr(seen, "src/a.c 9 ") || strstr(shed_text(stage), " 9 ") ||
             some_checkpoint_has(v, LATE_HASH);
    linked = strstr(seen, "link -> late") || strstr(shed_text(stage), " -> late");
    (void)run(v, "tree:restore", RESTORE);
    (void)run(v, "tree:restore", RESTORE);
    seen = shed_text(stage);
    CHECK(!edited || some_checkpoint_has(v, LATE_HASH) || strstr(seen, " 9 "));
    CHECK(!linked || some_checkpoint_has(v, "\"late\"") || strstr(seen, " -> late"));
    CHECK(run_->acked == 0 || (edited && linked));
    valise_close(v);
}

TEST(kill, a_late_edit_is_not_lost)
{
    unsigned usual = FAULT_RENAME | FAULT_UNLINK | FAULT_SYNC;

    CHECK(kill_each_io(t, test_is_long() ? FAULT_CHANGES : usual, restoring_late, late_is_not_lost,
                       NULL) >= 10);
}

/* ---- checkpoints ---- */

static void keeping(kill_run *run_, void *arg)
{
    shed s = {.dir = ws_of(run_)};
    valise *v;

    (void)arg;
    fault_io_pause();
    (void)mkdir(s.dir, 0700);
    v = open_ws(s.dir);
    make_tree(&s);
    test_write_file(file_of(run_, "before"), valise_str_of(shed_text(s.dir)));
    fault_io_resume();
    (void)run(v, "tree:checkpoint", "{\"name\":\"one\"}");
    kill_ack(run_, "kept");
    fault_io_pause();
    valise_close(v);
}

static void is_whole_or_not_there(test *t, const kill_run *run_, void *arg)
{
    shed s = {.dir = ws_of(run_)};
    const char *found;
    valise *v;

    (void)t, (void)arg;
    if (access(file_of(run_, "before"), F_OK) != 0)
        return;
    v = open_ws(s.dir);
    found = run(v, "workspace:validate", "{}");
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    if (!strstr(run(v, "checkpoint:list", "{}"), "\"one\"")) {
        CHECK_INT(0, (int64_t)run_->acked);
        (void)run(v, "tree:checkpoint", "{\"name\":\"one\"}");
    }
    wreck(&s);
    (void)run(v, "tree:restore", RESTORE);
    CHECK_STR(test_read_file(file_of(run_, "before")), valise_str_of(shed_text(s.dir)));
    valise_close(v);
}

TEST(kill, a_checkpoint_at_every_file_call)
{
    CHECK(kill_each_io(t, FAULT_WRITE | FAULT_SYNC, keeping, is_whole_or_not_there, NULL) >= 10);
}

/* ---- calls that fail, memory that is missing ---- */

/* Whatever fails, the files are those before, those after, or both in part; run again, it is
 * whole. */
static int restore_once(fault *f, void *arg)
{
    shed s = {.dir = test_format("%s/ws", f->dir)};
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    const char *before;
    int rc;

    (void)arg;
    fault_off(f);
    (void)mkdir(s.dir, 0700);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    rc = valise_open(&v, s.dir, &o, &f->err);
    CHECK_MSG(rc == 0, "%s", f->err.message);
    make_tree(&s);
    (void)run(v, "tree:checkpoint", "{\"name\":\"one\"}");
    before = shed_text(s.dir);
    wreck(&s);
    fault_on(f);
    rc = valise_dispatch(NULL, v, "tree:restore", RESTORE, NULL, &f->err);
    fault_off(f);
    f->recovered = rc == 0;
    if (rc < 0)
        (void)run(v, "tree:restore", RESTORE);
    CHECK_TEXT(before, shed_text(s.dir));
    valise_close(v);
    return rc;
}

TEST(faults, a_restore_on_a_disk_that_fails)
{
    fault_each_io(t, FAULT_RENAME | FAULT_UNLINK | FAULT_MKDIR | FAULT_TRUNCATE, EIO, restore_once,
                  NULL);
}

/* One that cannot exchange, or cannot tell whether something is there: it goes on another way. */
TEST(faults, a_restore_on_a_disk_that_can_less)
{
    fault_each_io(t, FAULT_RENAME, EINVAL, restore_once, NULL);
}

/* Or one whose folders lie on different ones. */
TEST(faults, a_restore_across_disks)
{
    fault_each_io(t, FAULT_RENAME, EXDEV, restore_once, NULL);
}

TEST(faults, a_restore_on_a_full_disk)
{
    fault_each_io(t, FAULT_WRITE, ENOSPC, restore_once, NULL);
}

TEST(faults, a_restore_without_memory)
{
    if (!test_is_long())
        SKIP("takes minutes: VALISE_TEST_LONG=1");
    fault_each_alloc(t, 0, restore_once, NULL);
}
