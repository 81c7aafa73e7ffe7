/* wreck.c -- conversations and their blobs under kill -9, power cuts and file calls that fail: what
 * was acknowledged is there, nothing is half there, and once a deletion has come to its end no file
 * has what was said. [W4] [W5] [W10] [K20] [Q26] */
#include <errno.h>

#include "bundle_kit.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "kit/talk.h"

#define SESSIONS 6

static const char *id_of(int i)
{
    return test_format("018f2c4e-7b1a-7c3d-9e4f-%012d", i + 1);
}

/* "hunter2-p" and three bytes of its own. */
static const char *picture(int i)
{
    static const char *const ends[SESSIONS] = {"YWFh", "YmJi", "Y2Nj", "ZGRk", "ZWVl", "ZmZm"};

    return test_format("aHVudGVyMi1w%s", ends[i]);
}

static bool is_left(const char *dir, int i)
{
    return files_with(dir, test_format("hunter2-text-%d", i)) +
               files_with(dir, test_format("hunter2-p%c%c%c", 'a' + i, 'a' + i, 'a' + i)) >
           0;
}

/* A session whose second and third turn say what must not be found; the ref of the second. */
static const char *talk_of_it(talk *k, int i)
{
    const char *ref;

    (void)talk_run(k, "session:create", "{\"id\":\"%s\"}", id_of(i));
    (void)talk_say(k, id_of(i), "user", "hello");
    ref = talk_member(
        k,
        talk_run(k, "turn:add",
                 "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":"
                 "\"text\",\"text\":\"hunter2-text-%d\"},{\"type\":\"image\",\"data\":\"%s\"}]}}",
                 id_of(i), i, picture(i)),
        "ref");
    (void)talk_say(k, id_of(i), "assistant", test_format("hunter2-text-%d", i));
    return ref;
}

/* Even ones lose the turn and what was said after it, odd ones go whole. */
static int take_away(talk *k, int i, const char *ref)
{
    return i % 2 == 0 ? talk_try(k, "turn:delete",
                                 "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"recursive\":true}",
                                 id_of(i), ref)
                      : talk_try(k, "session:erase", "{\"sessionId\":\"%s\"}", id_of(i));
}

/* ---- killed while it deletes ---- */

static void delete_all(kill_run *run, void *arg)
{
    test *t = arg;
    talk k;

    talk_open_at(&k, t, t->env, test_format("%s/ws", run->dir));
    for (int i = 0; i < SESSIONS; i++) {
        const char *ref = talk_of_it(&k, i);
        kill_ack(run, "%s", ref);
        CHECK_OK(take_away(&k, i, ref));
        kill_ack(run, "done");
    }
    valise_close(k.v);
}

static void is_deleted(test *t, const kill_run *run, void *arg)
{
    const char *dir = test_format("%s/ws", run->dir);
    talk k;

    (void)arg;
    for (size_t i = 0; i < run->acked / 2; i++)
        CHECK(!is_left(dir, (int)i));
    talk_open_at(&k, t, t->env, dir);
    talk_check(&k, false);
    for (size_t i = 0; 2 * i < run->acked; i++) { /* once more, and it comes to its end */
        int rc = take_away(&k, (int)i, run->acks[2 * i]);
        CHECK(rc == 0 || rc == VALISE_E_NOT_FOUND);
    }
    if (run->acked % 2 == 0 && run->acked < 2 * SESSIONS) /* it was killed while it spoke */
        (void)talk_try(&k, "session:erase", "{\"sessionId\":\"%s\"}", id_of((int)run->acked / 2));
    talk_check(&k, false);
    (void)talk_run(&k, "workspace:gc", "{\"grace\":\"0s\"}");
    talk_check(&k, false);
    for (int i = 0; i < SESSIONS; i++)
        CHECK(!is_left(dir, i));
    for (size_t i = 0; 2 * i < run->acked; i += 2)
        CHECK_TEXT("hello", session_text(t, k.v, id_of((int)i)));
    valise_close(k.v);
}

TEST(chat_wreck, killed_while_it_deletes_and_erases)
{
    kill_loop(t, 16, delete_all, is_deleted, t);
}

/* ---- killed while it imports ---- */

#define TALK "one|two|?|four"

/* The id of the session that both have. */
static const char *make_bundles(test *t)
{
    valise *v = place_open(t, "from");
    const char *s = session_new(t, v, 1), *other = session_new(t, v, 2);

    (void)session_say(t, v, s, "one");
    (void)session_say(t, v, s, "two");
    (void)place_run(t, v, "turn:add",
                    "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":"
                    "\"image\",\"data\":\"%s\"}]}}",
                    s, picture(0));
    (void)session_say(t, v, s, "four");
    for (int i = 0; i < 100; i++)
        (void)session_say(t, v, other, "something else");
    place_export(t, v, s, "part");
    (void)place_run(t, v, "workspace:export", "{\"file\":\"%s\"}", bundle_path("whole"));
    return s;
}

typedef struct importing {
    test *t;
    const char *session;
} importing;

static void import_both(kill_run *run, void *arg)
{
    static const char *const names[] = {"part", "whole"};
    test *t = ((const importing *)arg)->t;
    talk k;

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        talk_open_at(&k, t, t->env, test_format("%s/%s", run->dir, names[i]));
        kill_ack(run, "open");
        (void)place_import(t, k.v, names[i]);
        kill_ack(run, "imported");
        valise_close(k.v);
    }
}

static void is_imported(test *t, const kill_run *run, void *arg)
{
    static const char *const names[] = {"part", "whole"};
    const char *session = ((const importing *)arg)->session;

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        bool acked = run->acked >= 2 * i + 2;
        talk k;
        talk_open_at(&k, t, t->env, test_format("%s/%s", run->dir, names[i]));
        talk_check(&k, false);
        if (acked)
            CHECK_TEXT(TALK, session_text(t, k.v, session));
        (void)place_import(t, k.v, names[i]);
        CHECK_TEXT(TALK, session_text(t, k.v, session));
        talk_check(&k, false);
        (void)talk_run(&k, "workspace:gc", "{\"grace\":\"0s\"}");
        talk_check(&k, false);
        valise_close(k.v);
    }
}

TEST(chat_wreck, killed_while_it_imports)
{
    importing i = {t, make_bundles(t)};

    kill_loop(t, 12, import_both, is_imported, &i);
}

/* ---- power cuts ---- */

static void add_fork_delete(kill_run *run, void *arg)
{
    test *t = arg;
    const char *ref;
    talk k;

    fault_io_pause();
    talk_open_at(&k, t, t->env, test_format("%s/ws", run->dir));
    ref = talk_of_it(&k, 0);
    fault_io_resume();
    (void)talk_run(&k, "turn:add",
                   "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":"
                   "\"image\",\"data\":\"%s\"}]}}",
                   id_of(0), picture(1));
    kill_ack(run, "%s", ref);
    (void)talk_run(&k, "session:fork", "{\"sessionId\":\"%s\",\"id\":\"%s\"}", id_of(0), id_of(1));
    kill_ack(run, "forked");
    (void)talk_run(&k, "session:delete", "{\"sessionId\":\"%s\"}", id_of(1));
    kill_ack(run, "fork deleted");
    CHECK_OK(take_away(&k, 0, ref));
    kill_ack(run, "deleted");
    valise_close(k.v);
}

static void is_as_acknowledged(test *t, const kill_run *run, void *arg)
{
    const char *dir = test_format("%s/ws", run->dir), *said;
    talk k;

    (void)arg;
    talk_open_at(&k, t, t->env, dir);
    talk_check(&k, false);
    said = session_text(t, k.v, id_of(0));
    if (run->acked >= 1 && run->acked < 3)
        CHECK_TEXT("hello|hunter2-text-0|hunter2-text-0|?", said);
    if (run->acked == 2)
        CHECK_TEXT(said, session_text(t, k.v, id_of(1)));
    if (run->acked == 4)
        CHECK_TEXT("hello", said);
    if (run->acked > 0) {
        int rc;
        (void)talk_try(&k, "session:delete", "{\"sessionId\":\"%s\"}", id_of(1));
        rc = take_away(&k, 0, run->acks[0]);
        CHECK(rc == 0 || rc == VALISE_E_NOT_FOUND);
    }
    (void)talk_run(&k, "workspace:gc", "{\"grace\":\"0s\"}");
    talk_check(&k, false);
    if (run->acked > 0) {
        CHECK_TEXT("hello", session_text(t, k.v, id_of(0)));
        CHECK(!is_left(dir, 0));
    }
    valise_close(k.v);
}

TEST(chat_wreck, power_cuts) /* [Q16] */
{
    CHECK(kill_each_power_cut(t, FAULT_SYNC, add_fork_delete, is_as_acknowledged, t) > 0);
}

/* ---- file calls that fail ---- */

typedef struct deed {
    const char *type, *payload; /* payload NULL: take_away */
} deed;

static int once(fault *f, void *arg)
{
    const deed *d = arg;
    const char *dir = test_format("%s/ws", f->dir), *ref, *said;
    test here = *f->t;
    talk k;
    int rc;

    fault_off(f);
    talk_open_at(&k, &here, f->env, dir);
    ref = talk_of_it(&k, 0);
    fault_on(f);
    rc = d->payload ? talk_try(&k, d->type, "%s", d->payload) : take_away(&k, 0, ref);
    fault_off(f);
    f->err = here.err;
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* what follows a commit may wait */
    valise_close(k.v);
    talk_open_at(&k, &here, f->env, dir);
    talk_check(&k, false);
    said = session_text(&here, k.v, id_of(0));
    CHECK(d->payload ? strncmp(said, "hello|hunter2-text-0", 20) == 0 : *said == 'h');
    (void)talk_say(&k, id_of(0), "user", "it goes on");
    if (!d->payload) {
        int again = take_away(&k, 0, ref);
        CHECK(again == 0 || again == VALISE_E_NOT_FOUND);
        (void)talk_run(&k, "workspace:gc", "{\"grace\":\"0s\"}");
        talk_check(&k, false);
        CHECK(!is_left(dir, 0));
    }
    valise_close(k.v);
    fault_on(f);
    return rc;
}

static void each_fault(test *t, const char *type, const char *payload)
{
    deed d = {type, payload};

    CHECK(fault_each_io(t, FAULT_CHANGES, EIO, once, &d) > 0);
}

TEST(chat_wreck, turn_add_on_a_bad_disk) /* [Q18] */
{
    each_fault(t, "turn:add",
               test_format("{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{"
                           "\"type\":\"image\",\"data\":\"%s\"}]}}",
                           id_of(0), picture(1)));
}

TEST(chat_wreck, session_fork_on_a_bad_disk) /* [Q18] */
{
    each_fault(t, "session:fork",
               test_format("{\"sessionId\":\"%s\",\"id\":\"%s\"}", id_of(0), id_of(1)));
}

TEST(chat_wreck, turn_delete_on_a_bad_disk) /* [Q18] */
{
    each_fault(t, "turn:delete", NULL);
}
