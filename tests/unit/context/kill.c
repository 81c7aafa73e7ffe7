/* kill.c -- kill -9 in the middle of scans and puts: all of it is there, or nothing. [C2] [C10]
 * [C11] [Q16] */
#include <sys/stat.h>
#include <unistd.h>

#include <valise/workspace.h>

#include "harness/kill.h"
#include "harness/test.h"
#include "kit/replayed.h"

/* ---- a workspace with files ---- */

static void check_rc(int rc, const valise_error *err)
{
    CHECK_MSG(rc == 0, "%d: %s", rc, err->message);
}

static valise *open_in(const char *dir)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    check_rc(valise_open(&v, dir, &o, &err), &err);
    return v;
}

static const char *run(valise *v, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error err = VALISE_ERROR_INIT;
    const char *text;

    check_rc(valise_dispatch(&reply, v, type, payload, NULL, &err), &err);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

/* The text behind "name":, up to the next comma or brace. */
static const char *member(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":", name));

    CHECK_MSG(at, "no %s in %s", name, json);
    at += strlen(name) + 3;
    return test_format("%.*s", (int)strcspn(at, ",}]"), at);
}

static void make_files(const char *dir, int dirs, int files, int salt)
{
    for (int d = 0; d < dirs; d++) {
        (void)mkdir(test_format("%s/d%d", dir, d), 0700);
        for (int f = 0; f < files; f++)
            test_write_file(test_format("%s/d%d/f%d", dir, d, f),
                            valise_str_of(test_format("%d %d %d", d, f, f % 3 ? 0 : salt)));
    }
}

/* ---- scans ---- */

typedef struct size {
    int dirs, files;
} size;

/* Two scans, with changes and a move between them. */
static void scan_twice(kill_run *run_, void *arg)
{
    const size *s = arg;
    const char *ws;
    valise *v;

    fault_io_pause();
    ws = test_format("%s/ws", run_->dir);
    v = open_in(ws);
    make_files(ws, s->dirs, s->files, 0);
    fault_io_resume();
    kill_ack(run_, "%s", member(run(v, "tree:scan", "{}"), "treeRoot"));
    fault_io_pause();
    make_files(ws, s->dirs, s->files, 1);
    CHECK_INT(0, rename(test_format("%s/d0", ws), test_format("%s/moved", ws)));
    fault_io_resume();
    kill_ack(run_, "%s", member(run(v, "tree:scan", "{}"), "treeRoot"));
    valise_close(v);
}

/* Versions are whole and the acknowledged ones are there; the next scan finds what one in a
 * workspace that knows nothing finds. */
static void trees_are_whole(test *t, const kill_run *run_, void *arg)
{
    const char *ws = test_format("%s/ws", run_->dir), *versions, *found, *anew;
    valise *v, *fresh;

    (void)arg;
    if (access(test_format("%s/d0", ws), F_OK) != 0 &&
        access(test_format("%s/moved", ws), F_OK) != 0) {
        CHECK_INT(0, (int64_t)run_->acked);
        return; /* it came to nothing */
    }
    v = open_in(ws);
    found = run(v, "workspace:validate", NULL);
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    versions = run(v, "tree:list", "{}");
    for (size_t i = 0; i < run_->acked; i++)
        CHECK_MSG(strstr(versions, run_->acks[i]), "%s not in %s", run_->acks[i], versions);
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    (void)unlink(test_format("%s/d1/f1", ws)); /* else half a scan would be made whole */
    found = member(run(v, "tree:scan", "{}"), "treeRoot");
    fresh = open_in(":memory:");
    anew = run(fresh, "tree:scan", test_format("{\"dir\":\"%s\"}", ws));
    CHECK_TEXT(member(anew, "treeRoot"), found);
    CHECK_TEXT(found, member(run(v, "tree:scan", "{\"force\":true}"), "treeRoot"));
    found = run(v, "workspace:validate", NULL);
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    valise_close(fresh);
    valise_close(v);
}

TEST(kill, scans_at_random)
{
    static size many = {30, 10};

    kill_loop(t, 12, scan_twice, trees_are_whole, &many);
}

/* The second of the two alone: the first is made without being counted. */
static void scan_again(kill_run *run_, void *arg)
{
    const char *ws;
    valise *v;

    (void)arg;
    fault_io_pause();
    ws = test_format("%s/ws", run_->dir);
    v = open_in(ws);
    make_files(ws, 2, 1, 0);
    kill_ack(run_, "%s", member(run(v, "tree:scan", "{}"), "treeRoot"));
    make_files(ws, 2, 2, 1);
    fault_io_resume();
    kill_ack(run_, "%s", member(run(v, "tree:scan", "{}"), "treeRoot"));
    fault_io_pause();
    valise_close(v);
}

/* Between any two writes: who records a scan in more than one transaction is found here. */
TEST(kill, scans_at_every_file_call)
{
    unsigned usual = FAULT_WRITE | FAULT_SYNC | FAULT_RENAME;

    CHECK(kill_each_io(t, test_is_long() ? FAULT_CHANGES : usual, scan_again, trees_are_whole,
                       NULL) >= 10);
}

/* ---- frames ---- */

enum { PUTS = 25 };

/* Puts by path of a file that changes each time: frame, head, set, roots and tree in one. */
static void put_many(kill_run *run_, void *arg)
{
    const char *ws = test_format("%s/ws", run_->dir);
    valise *v = open_in(ws);

    (void)arg;
    for (int i = 0; i < PUTS; i++) {
        const char *answer;
        test_write_file(test_format("%s/a", ws), valise_str_of(test_format("version %d", i)));
        answer =
            run(v, "frame:put",
                test_format("{\"node\":\"a\",\"content\":\"%c%cA=\"}", 'a' + i / 26, 'a' + i % 26));
        kill_ack(run_, "%s", member(answer, "frameId"));
    }
    valise_close(v);
}

/* "Frame append updates heads correctly (atomic head updates)": every acknowledged frame is there
 * in its order, at most one more, the last is the head, and sets and roots agree. */
static void heads_are_last(test *t, const kill_run *run_, void *arg)
{
    const char *ws = test_format("%s/ws", run_->dir), *found, *at;
    valise *v = open_in(ws);
    valise_error err = VALISE_ERROR_INIT;
    size_t total;

    (void)arg;
    found = run(v, "workspace:validate", NULL);
    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    CHECK_TEXT(state_of(t, v), replayed(t, v));
    if (valise_dispatch(NULL, v, "head:get", "{\"node\":\"a\"}", NULL, &err) < 0) {
        CHECK_INT(0, (int64_t)run_->acked);
        valise_close(v);
        return;
    }
    found = run(v, "node:get",
                "{\"node\":\"a\",\"view\":\"history,recency,max=1000\",\"noScan\":true}");
    total = (size_t)strtoull(member(found, "total"), NULL, 10);
    CHECK_MSG(total == run_->acked || total == run_->acked + 1, "%zu of %zu", total, run_->acked);
    at = found;
    for (size_t i = run_->acked; i-- > 0;) { /* the newest first */
        at = strstr(at, run_->acks[i]);
        CHECK_MSG(at, "frame %zu is not in its place", i);
    }
    if (total > 0)
        CHECK_TEXT(member(run(v, "head:get", "{\"node\":\"a\"}"), "frameId"),
                   member(strstr(found, "\"frames\":"), "frameId"));
    valise_close(v);
}

TEST(kill, frames_and_heads)
{
    kill_loop(t, 10, put_many, heads_are_last, NULL);
}
