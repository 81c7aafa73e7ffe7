/* late.c -- somebody edits while a restore is at work: what they wrote is saved, not lost. [C31] */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/kit.h"
#include "harness/fault_io.h"

TEST_PARAMS(late, "memory", "sqlite")

/* The end of a stage is told before the next one begins: behind "compare" everything is planned and
 * saved, and nothing is done yet. */
typedef struct meanwhile {
    shed *s;
    const char *stage;
    void (*fn)(shed *s);
    int calls;
} meanwhile;

static int told(void *arg, const valise_progress_state *state)
{
    meanwhile *m = arg;

    if (strcmp(state->stage, m->stage) == 0 && m->calls++ == 0)
        m->fn(m->s);
    return 0;
}

static const char *run_while(shed *s, const char *op, const char *stage, void (*fn)(shed *s),
                             const char *members)
{
    test *t = s->t;
    meanwhile m = {s, stage, fn, 0};
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    call.progress = (valise_progress){told, &m};
    CHECK_OK(valise_dispatch(
        &reply, s->v, op,
        test_format("{%s%s}", members, s->memory ? test_format(",\"dir\":\"%s\"", s->dir) : ""),
        &call, &t->err));
    CHECK(m.calls > 0);
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

static const char *restore_while(shed *s, const char *stage, void (*fn)(shed *s),
                                 const char *members)
{
    return run_while(s, "tree:restore", stage, fn,
                     test_format("\"checkpoint\":\"one\"%s", members));
}

static shed *fill(test *t)
{
    shed *s = shed_open(t);

    shed_write(s, "a", "one", 0644);
    shed_write(s, "b", "two", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    return s;
}

static const char *text_of(shed *s, const char *path)
{
    return test_format("%.*s", VALISE_STR_ARG(test_read_file(shed_path(s, path))));
}

static void edit_a(shed *s)
{
    shed_write(s, "a", "LATE", 0640);
}

TEST(late, an_edit_before_the_exchange)
{
    shed *s = fill(t);
    const char *answer, *late;

    shed_write(s, "a", "EDIT", 0644); /* as long as the late one */
    answer = restore_while(s, "compare", edit_a, "");
    CHECK_TEXT("one", text_of(s, "a"));
    late = strstr(answer, "\"late\":[\"") + 9;
    late = test_format("%.*s", (int)strcspn(late, "\""), late);
    (void)shed_run(s, "tree:restore", test_format("\"checkpoint\":\"%s\"", late));
    CHECK_TEXT("LATE", text_of(s, "a"));
    (void)shed_run(s, "tree:restore",
                   test_format("\"checkpoint\":\"%s\"", shed_member(answer, "saved")));
    CHECK_TEXT("EDIT", text_of(s, "a"));
    shed_check(s);
}

TEST(late, an_edit_before_it_is_deleted)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "a", "one", 0644);
    (void)shed_run(s, "checkpoint:list", "");
    shed_write(s, "new", "first", 0644);
    answer = restore_while(s, "compare", edit_a, ",\"delete\":true");
    CHECK(strstr(answer, "\"late\":[]")); /* a was not to be touched */
    CHECK_TEXT("LATE", text_of(s, "a"));
}

static void edit_new(shed *s)
{
    shed_write(s, "new", "LATE", 0600);
}

TEST(late, what_is_deleted_was_edited)
{
    shed *s = fill(t);
    const char *answer, *late;

    shed_write(s, "new", "first", 0644);
    answer = restore_while(s, "compare", edit_new, ",\"delete\":true");
    CHECK(access(shed_path(s, "new"), F_OK) != 0);
    late = strstr(answer, "\"late\":[\"") + 9;
    (void)shed_run(s, "tree:restore",
                   test_format("\"checkpoint\":\"%.*s\"", (int)strcspn(late, "\""), late));
    CHECK_TEXT("LATE", text_of(s, "new"));
}

static void come_back(shed *s)
{
    shed_write(s, "a", "came back", 0644);
}

static void go(shed *s)
{
    shed_remove(s, "a");
}

static void become_dir(shed *s)
{
    shed_remove(s, "a");
    shed_write(s, "a/in", "in it", 0644);
}

static void become_link(shed *s)
{
    shed_link(s, "a", "b");
}

TEST(late, something_comes_where_nothing_was)
{
    shed *s = fill(t);
    const char *answer;

    shed_remove(s, "a");
    answer = restore_while(s, "compare", come_back, "");
    CHECK_TEXT("1", shed_member(answer, "inTheWayCount"));
    CHECK_TEXT("came back", text_of(s, "a"));
}

TEST(late, it_goes_or_becomes_another_thing)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "a", "edit", 0644);
    (void)restore_while(s, "compare", go, "");
    CHECK_TEXT("one", text_of(s, "a"));
    shed_write(s, "a", "edit", 0644);
    answer = restore_while(s, "compare", become_link, "");
    CHECK_TEXT("one", text_of(s, "a"));
    CHECK(strstr(answer, "/found-")); /* it is put aside */
    shed_write(s, "a", "edit", 0644);
    answer = restore_while(s, "compare", become_dir, "");
    CHECK_TEXT("one", text_of(s, "a"));
    answer = shed_text(shed_path(s, ".valise/restore")); /* so is the directory */
    CHECK_MSG(strstr(answer, "/in 5 "), "%s", answer);
    CHECK_MSG(strstr(answer, " -> b"), "%s", answer);
}

/* Between the scan and the look at modes: it is seen, and looked at again. */
TEST(late, an_edit_while_it_is_looked_at)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "a", "edit", 0644);
    answer = restore_while(s, "scan", edit_a, "");
    CHECK(strstr(answer, "\"late\":[]"));
    CHECK_TEXT("one", text_of(s, "a"));
    (void)shed_run(s, "tree:restore",
                   test_format("\"checkpoint\":\"%s\"", shed_member(answer, "saved")));
    CHECK_TEXT("LATE", text_of(s, "a"));
}

/* Behind the look nothing tells but the hash of what is read. */
TEST(late, an_edit_before_it_is_kept)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "a", "EDIT", 0640);
    answer = run_while(s, "tree:checkpoint", "look", edit_a, "\"name\":\"two\"");
    CHECK_TEXT("0", shed_member(answer, "lackingCount"));
    shed_check(s);
    shed_remove(s, "a");
    (void)shed_run(s, "tree:restore", "\"checkpoint\":\"two\"");
    CHECK_TEXT("LATE", text_of(s, "a"));
}

static int edit_always(void *arg, const valise_progress_state *state)
{
    static int count;
    shed *s = arg;

    if (strcmp(state->stage, "look") == 0)
        shed_write(s, "a", test_format("%04d", count++ % 10000), 0644);
    return 0;
}

/* What never holds still is lacking, and the rest is kept. */
TEST(late, a_file_that_changes_all_the_time)
{
    shed *s = fill(t);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *answer;

    shed_write(s, "a", "edit", 0644);
    shed_write(s, "c", "kept", 0644);
    call.progress = (valise_progress){edit_always, s};
    CHECK_OK(valise_dispatch(&reply, s->v, "tree:checkpoint",
                             s->memory ? test_format("{\"name\":\"two\",\"dir\":\"%s\"}", s->dir)
                                       : "{\"name\":\"two\"}",
                             &call, &t->err));
    answer = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    CHECK_MSG(strstr(answer, "\"reason\":\"it changed while it was read\""), "%s", answer);
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK_TEXT("2", shed_member(answer, "files"));
    shed_check(s);
    /* And what it lacks is not deleted. */
    (void)shed_run(s, "tree:restore", "\"checkpoint\":\"two\",\"delete\":true");
    CHECK(access(shed_path(s, "a"), F_OK) == 0);
}

/* ---- what is cancelled, two at once ---- */

static int stop(void *arg, const valise_progress_state *state)
{
    return strcmp(state->stage, arg) == 0;
}

TEST(late, a_restore_that_is_stopped_can_be_run_again)
{
    static char stages[][8] = {"scan", "look", "compare"};
    shed *s = fill(t);
    valise_call call = VALISE_CALL_INIT;

    for (size_t i = 0; i < VLS_COUNT(stages); i++) {
        shed_write(s, "a", "edit", 0644);
        shed_remove(s, "b");
        call.progress = (valise_progress){stop, stages[i]};
        CHECK_RC(VALISE_E_CANCELLED,
                 valise_dispatch(
                     NULL, s->v, "tree:restore",
                     s->memory ? test_format("{\"checkpoint\":\"one\",\"dir\":\"%s\"}", s->dir)
                               : "{\"checkpoint\":\"one\"}",
                     &call, &t->err));
        (void)shed_run(s, "tree:restore", "\"checkpoint\":\"one\"");
        CHECK_TEXT("one", text_of(s, "a"));
        CHECK_TEXT("two", text_of(s, "b"));
    }
}

TEST(late, of_two_restores_at_once_one_waits_for_its_turn)
{
    shed *s = fill(t);
    const char *stage = shed_path(s, ".valise/restore");
    int fd;

    (void)mkdir(shed_path(s, ".valise"), 0700);
    CHECK_INT(0, mkdir(stage, 0700));
    fd = open(stage, O_RDONLY | O_DIRECTORY);
    CHECK_INT(0, flock(fd, LOCK_EX));
    shed_write(s, "a", "edit", 0644);
    CHECK_RC(VALISE_E_BUSY, shed_try(s, "tree:restore", "\"checkpoint\":\"one\""));
    CHECK_TEXT("edit", text_of(s, "a"));
    (void)close(fd);
    CHECK_RC(0, shed_try(s, "tree:restore", "\"checkpoint\":\"one\""));
    CHECK_TEXT("one", text_of(s, "a"));
}

/* What a restore that was killed left: what is known goes, anything else is put aside. */
TEST(late, leftovers)
{
    shed *s = fill(t);
    const char *answer, *stage = shed_path(s, ".valise/restore");

    (void)mkdir(shed_path(s, ".valise"), 0700);
    CHECK_INT(0, mkdir(stage, 0700));
    test_write_file(test_format("%s/new-1", stage), VLS_STR("half"));
    test_write_file(test_format("%s/swap-2", stage), VLS_STR("one"));
    test_write_file(test_format("%s/swap-3", stage), VLS_STR("nobody has this"));
    shed_write(s, "b", "changed", 0644);
    answer = shed_run(s, "tree:restore", "\"checkpoint\":\"one\"");
    CHECK(strstr(answer, "/found-1\"]"));
    CHECK_TEXT("file 644 found-1 15 ", test_format("%.20s", shed_text(stage)));
    CHECK_TEXT("two", text_of(s, "b"));
}

/* ---- an edit, and a disk that fails ---- */

static void fail_reads(shed *s)
{
    edit_a(s);
    fault_io_begin(&(fault_io_plan){.dir = shed_path(s, ".valise/restore"),
                                    .kinds = FAULT_READ,
                                    .nth = 1,
                                    .onward = true,
                                    .error = EIO});
}

/* What came back cannot be read, so nobody knows whether it is saved: it must not go. */
TEST(late, what_came_back_cannot_be_looked_at)
{
    shed *s = fill(t);
    meanwhile m = {s, "compare", fail_reads, 0};
    valise_call call = VALISE_CALL_INIT;
    const char *answer;

    shed_write(s, "a", "EDIT", 0644);
    (void)mkdir(shed_path(s, ".valise"), 0700);
    (void)mkdir(shed_path(s, ".valise/restore"), 0700);
    call.progress = (valise_progress){told, &m};
    CHECK(valise_dispatch(NULL, s->v, "tree:restore",
                          s->memory ? test_format("{\"checkpoint\":\"one\",\"dir\":\"%s\"}", s->dir)
                                    : "{\"checkpoint\":\"one\"}",
                          &call, &t->err) < 0);
    fault_io_end();
    CHECK_MSG(strstr(t->err.hint, "in checkpoint before-restore-"), "%s", t->err.hint);
    answer = shed_run(s, "tree:restore", "\"checkpoint\":\"one\"");
    CHECK_TEXT("one", text_of(s, "a"));
    CHECK_MSG(strstr(answer, "/found-"), "%s", answer);
    CHECK_MSG(strstr(shed_text(shed_path(s, ".valise/restore")), " 4 "), "%s", answer);
}
