/* watch.c -- changes of files, of all sorts, as they are heard; after each the tree is what a scan
 * of everything gives. [C27] */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/str.h"
#include "watch/kit.h"

static bed *some_files(test *t)
{
    bed *b = bed_new(t);

    bed_file(b, "a", "1");
    bed_file(b, "d/b", "22");
    bed_file(b, "d/e/c", "333");
    bed_file(b, "d/e/f", "4");
    bed_link(b, "l", "a");
    bed_watch(b, NULL);
    return b;
}

TEST(watch, begins_with_a_scan_of_everything)
{
    bed *b = some_files(t);

    CHECK_TEXT("added a\nadded d\nadded d/b\nadded d/e\nadded d/e/c\nadded d/e/f\nadded l\n",
               b->told);
    CHECK_INT(1, b->versions);
    CHECK_INT(3, b->watch->set.by_number.len);
    bed_check(b);
}

TEST(watch, create_edit_and_delete)
{
    bed *b = some_files(t);

    bed_file(b, "d/e/new", "x");
    bed_wait(b);
    CHECK_TEXT("added d/e/new\n", b->told);
    bed_file(b, "d/e/new", "y");
    bed_wait(b);
    CHECK_TEXT("changed d/e/new\n", b->told);
    bed_remove(b, "d/e/new");
    bed_remove(b, "a");
    bed_wait(b);
    CHECK_TEXT("removed a\nremoved d/e/new\n", b->told);
    bed_file(b, "d/b", "22"); /* as it was */
    bed_wait(b);
    CHECK_TEXT("", b->told);
}

TEST(watch, an_edit_is_one_version)
{
    bed *b = some_files(t);

    bed_file(b, "a", "2");
    bed_file(b, "d/e/c", "2");
    bed_file(b, "d/new", "2");
    bed_wait(b);
    CHECK_INT(2, b->versions);
}

TEST(watch, renames_are_moves)
{
    bed *b = some_files(t);

    bed_rename(b, "d/b", "d/b2");
    bed_wait(b);
    CHECK_TEXT("moved d/b2 from d/b\n", b->told);
    bed_rename(b, "d/e", "moved");
    bed_wait(b);
    CHECK_TEXT("moved moved from d/e\n", b->told);
    bed_file(b, "moved/c", "it is heard under the name it has now");
    bed_wait(b);
    CHECK_TEXT("changed moved/c\n", b->told);
    bed_file(b, "tmp", "as editors save");
    bed_rename(b, "tmp", "a");
    bed_wait(b);
    CHECK_TEXT("changed a\n", b->told);
    CHECK_INT(3, b->watch->set.by_number.len);
}

TEST(watch, what_is_said_moves_along)
{
    bed *b = some_files(t);
    valise_frames *known = NULL;

    CHECK_OK(valise_frame_put(NULL, b->v, "d/e/c", VLS_STR("said"), NULL, NULL, &t->err));
    bed_rename(b, "d/e/c", "d/e/k");
    bed_wait(b);
    CHECK_INT(1, valise_head_get(&known, b->v, "d/e/k", "notes", 0, NULL, &t->err));
    valise_frames_free(known);
    bed_rename(b, "d", "n/d");
    bed_wait(b);
    CHECK_INT(1, valise_head_get(&known, b->v, "n/d/e/k", "notes", 0, NULL, &t->err));
    CHECK(!known->outdated);
    valise_frames_free(known);
}

TEST(watch, directories_that_come_with_contents)
{
    bed *b = some_files(t);

    bed_file(b, "n1/n2/n3/deep", "1");
    bed_file(b, "n1/x", "2");
    bed_wait(b);
    CHECK_TEXT("added n1\nadded n1/n2\nadded n1/n2/n3\nadded n1/n2/n3/deep\nadded n1/x\n", b->told);
    bed_file(b, "n1/n2/n3/deep", "edited");
    bed_wait(b);
    CHECK_TEXT("changed n1/n2/n3/deep\n", b->told);
    bed_remove(b, "n1");
    bed_wait(b);
    CHECK_TEXT("removed n1\n", b->told);
    CHECK_INT(3, b->watch->set.by_number.len);
    bed_dir(b, "empty");
    bed_wait(b);
    CHECK_TEXT("added empty\n", b->told);
}

TEST(watch, directories_that_move_in_and_out)
{
    bed *b = some_files(t);
    const char *outside = test_format("%s/outside", test_tmpdir());

    CHECK(rename(bed_path(b, "d/e"), outside) == 0);
    bed_wait(b);
    CHECK_TEXT("removed d/e\n", b->told);
    CHECK_INT(2, b->watch->set.by_number.len);
    test_write_file(test_format("%s/c", outside), VLS_STR("nobody hears that"));
    bed_wait(b);
    CHECK_TEXT("", b->told);
    CHECK(rename(outside, bed_path(b, "back")) == 0);
    bed_wait(b);
    CHECK_TEXT("added back\nadded back/c\nadded back/f\n", b->told);
    bed_file(b, "back/c", "heard");
    bed_wait(b);
    CHECK_TEXT("changed back/c\n", b->told);
}

TEST(watch, two_directories_that_change_places)
{
    bed *b = some_files(t);

    bed_file(b, "o/x", "other");
    bed_wait(b);
    bed_rename(b, "d", "tmp");
    bed_rename(b, "o", "d");
    bed_rename(b, "tmp", "o");
    bed_wait(b);
    bed_file(b, "d/x", "1");
    bed_file(b, "o/b", "1");
    bed_file(b, "o/e/f", "1");
    bed_wait(b);
    CHECK_TEXT("changed d/x\nchanged o/b\nchanged o/e/f\n", b->told);
}

TEST(watch, the_bit_that_makes_a_program)
{
    bed *b = some_files(t);

    CHECK(chmod(bed_path(b, "d/b"), 0755) == 0);
    bed_wait(b);
    CHECK_TEXT("changed d/b\n", b->told);
    CHECK(chmod(bed_path(b, "d/b"), 0700) == 0); /* nothing that the tree knows */
    bed_wait(b);
    CHECK_TEXT("", b->told);
}

TEST(watch, links_are_not_followed)
{
    bed *b = some_files(t);
    const char *outside = test_format("%s/outside", test_tmpdir());

    CHECK(mkdir(outside, 0755) == 0);
    bed_link(b, "out", outside);
    bed_link(b, "loop", ".");
    bed_wait(b);
    CHECK_TEXT("added loop\nadded out\n", b->told);
    CHECK_INT(3, b->watch->set.by_number.len);
    test_write_file(test_format("%s/x", outside), VLS_STR("1"));
    bed_remove(b, "l");
    bed_link(b, "l", "d");
    bed_wait(b);
    CHECK_TEXT("changed l\n", b->told);
    bed_remove(b, "d");
    bed_link(b, "d", outside); /* where a directory was */
    bed_wait(b);
    test_write_file(test_format("%s/x", outside), VLS_STR("2"));
    bed_wait(b);
    CHECK_TEXT("", b->told);
}

TEST(watch, what_becomes_something_else)
{
    bed *b = some_files(t);

    bed_remove(b, "d/e");
    bed_file(b, "d/e", "a file now");
    bed_remove(b, "a");
    bed_file(b, "a/x", "a directory now");
    bed_wait(b);
    bed_file(b, "a/x", "heard");
    bed_remove(b, "d/b");
    CHECK(mkfifo(bed_path(b, "d/b"), 0600) == 0);
    bed_wait(b);
    CHECK_TEXT("changed a/x\nremoved d/b\n", b->told);
}

/* ---- rules ---- */

TEST(watch, rule_files)
{
    bed *b = some_files(t);

    bed_file(b, ".gitignore", "d/\n");
    bed_wait(b);
    CHECK_TEXT("added .gitignore\nremoved d\n", b->told);
    CHECK_INT(1, b->watch->set.by_number.len); /* what is ignored is not watched */
    bed_file(b, "d/e/unheard", "1");
    bed_wait(b);
    CHECK_TEXT("", b->told);
    bed_file(b, ".gitignore", "f\n");
    bed_wait(b);
    CHECK_INT(3, b->watch->set.by_number.len);
    bed_file(b, "d/e/unheard", "heard");
    bed_file(b, "d/e/f", "ignored");
    bed_wait(b);
    CHECK_TEXT("changed d/e/unheard\n", b->told);
    bed_file(b, "d/.valiseignore", "e\n");
    bed_wait(b);
    CHECK_TEXT("added d/.valiseignore\nremoved d/e\n", b->told);
    bed_remove(b, "d/.valiseignore");
    bed_remove(b, ".gitignore");
    bed_wait(b);
    CHECK_INT(3, b->watch->set.by_number.len);
}

TEST(watch, rules_of_the_settings)
{
    bed *b = some_files(t);

    bed_file(b, ".valise/config", "[tree]\n\tignore = e\n");
    bed_wait(b);
    CHECK_TEXT("removed d/e\n", b->told);
    CHECK_INT(2, b->watch->set.by_number.len);
    bed_file(b, ".valise/config.new", "[tree]\n\tignore = l\n"); /* the same size */
    bed_rename(b, ".valise/config.new", ".valise/config");
    bed_wait(b);
    CHECK_TEXT("added d/e\nadded d/e/c\nadded d/e/f\nremoved l\n", b->told);
    bed_file(b, ".valise/config", "[tree]\n\tignore = a\n"); /* in place */
    bed_wait(b);
    CHECK_TEXT("removed a\nadded l\n", b->told);
    bed_file(b, ".valise/config", "[tree\n"); /* what is no setting changes none */
    bed_file(b, "d/b", "edited");
    bed_wait(b);
    CHECK_TEXT("changed d/b\n", b->told);
    bed_remove(b, ".valise/config");
    bed_wait(b);
    CHECK_TEXT("added a\n", b->told);
}

TEST(watch, directories_with_nothing_that_counts)
{
    bed *b = bed_new(t);

    bed_file(b, ".gitignore", "*.o\n");
    bed_file(b, "out/deep/x.o", "1");
    bed_watch(b, NULL);
    CHECK_TEXT("added .gitignore\n", b->told);
    bed_file(b, "out/deep/x.c", "a good one");
    bed_wait(b);
    CHECK_TEXT("added out\nadded out/deep\nadded out/deep/x.c\n", b->told);
    bed_remove(b, "out/deep/x.c");
    bed_wait(b);
    CHECK_TEXT("removed out\n", b->told);
    bed_file(b, "out/y.c", "another");
    bed_wait(b);
    CHECK_TEXT("added out\nadded out/y.c\n", b->told);
}

TEST(watch, what_is_never_watched)
{
    bed *b = some_files(t);
    size_t watches = b->watch->set.by_number.len;

    bed_file(b, ".git/objects/x", "1");
    bed_file(b, ".valise/anything", "1");
    bed_wait(b);
    CHECK_TEXT("", b->told);
    CHECK_INT(watches, b->watch->set.by_number.len);
}

/* ---- too much ---- */

TEST(watch, ten_thousand_files_at_once)
{
    const vls_watch_limits limits = {.events = 500};
    bed *b = bed_new(t);
    int rc;

    test_unwatched();
    for (int i = 0; i < 100; i++)
        bed_dir(b, test_format("d%d", i));
    bed_watch(b, &limits);
    b->watch->options.changed = NULL; /* no need to write all that down */
    for (int i = 0; i < 10000; i++)
        bed_file(b, test_format("d%d/f%d", i / 100, i), "x");
    bed_hear(b, &b->noted, "overflow");
    while ((rc = valise_watch_step(b->watch, INT64_C(2000000000), &t->err)) > 0)
        continue;
    CHECK_INT(0, rc);
    bed_check(b);
    CHECK_TEXT("overflow ", b->noted); /* said once */
    CHECK_INT(101, b->watch->set.by_number.len);
    bed_unwatch(b);
    bed_watch(b, &limits);
    for (int i = 0; i < 10000; i += 100)
        bed_remove(b, test_format("d%d", i / 100));
    bed_wait(b);
    CHECK_INT(1, b->watch->set.by_number.len);
}

TEST(watch, directories_that_moved_while_the_queue_was_full)
{
    const vls_watch_limits limits = {.events = 3};
    bed *b = bed_new(t);
    const char *outside = test_format("%s/outside", test_tmpdir());

    bed_file(b, "d/e/f", "1");
    bed_file(b, "k/x", "1");
    bed_watch(b, &limits);
    for (int i = 0; i < 5; i++)
        bed_file(b, test_format("f%d", i), "1");
    CHECK(rename(bed_path(b, "k"), outside) == 0);
    bed_rename(b, "d", "d2");
    bed_file(b, "new/dir/x", "1");
    bed_wait(b);
    CHECK_INT(5, b->watch->set.by_number.len); /* root, d2, d2/e, new, new/dir */
    b->watch->limits.events = 0;
    test_write_file(test_format("%s/x", outside), VLS_STR("2"));
    bed_file(b, "d2/e/f", "heard");
    bed_file(b, "new/dir/x", "heard");
    bed_wait(b);
    CHECK_TEXT("changed d2/e/f\nchanged new/dir/x\n", b->told);
}

TEST(watch, when_there_are_no_watches_left)
{
    const vls_watch_limits limits = {.watches = 2};
    bed *b = bed_new(t);

    bed_file(b, "d/e/f", "1");
    bed_watch(b, &limits);
    CHECK_TEXT("short ", b->noted);
    bed_file(b, "d/e/f", "seen by looking at everything");
    bed_hear(b, &b->told, "changed d/e/f\n");
    bed_file(b, "one/more/x", "1");
    bed_hear(b, &b->told, "added one/more/x\n");
    bed_check(b);
    bed_rename(b, "d/e", "one/e");
    bed_hear(b, &b->told, "one/e from d/e\n");
    bed_check(b);
    CHECK_TEXT("short ", b->noted); /* said once */
    b->watch->set.limit = 0;
    bed_hear(b, &b->noted, "enough");
    CHECK_INT(5, b->watch->set.by_number.len);
    bed_wait(b);
}

TEST(watch, a_name_that_changes_all_the_time_waits)
{
    bed *b = some_files(t);
    const valise_str path = VLS_STR("a");
    int64_t now = 1;

    for (int i = 0; i < 8; i++) {
        CHECK(!vls_watch_must_wait(b->watch, path, now));
        vls_watch_was_busy(b->watch, path, now);
        now += 1000000000;
    }
    CHECK(!vls_watch_must_wait(b->watch, path, now));
    for (int seconds = 2; seconds < 200; seconds *= 2) {
        int64_t wait = VLS_MIN(seconds, 60) * INT64_C(1000000000);
        vls_watch_was_busy(b->watch, path, now);
        CHECK(vls_watch_waits_until(b->watch) == INT64_MAX); /* nothing to look at yet */
        CHECK(vls_watch_must_wait(b->watch, path, now + wait - 1));
        CHECK_INT(now + wait, vls_watch_waits_until(b->watch));
        CHECK(!vls_watch_must_wait(b->watch, VLS_STR("another"), now));
        CHECK_OK(vls_watch_wake(b->watch, now + wait - 1, &t->err));
        CHECK_INT(0, b->watch->pending.len);
        CHECK_OK(vls_watch_wake(b->watch, now + wait, &t->err));
        CHECK_INT(1, b->watch->pending.len);
        vls_watch_clear(b->watch);
        now += wait + 1000000000;
    }
    now += INT64_C(10000000000);
    vls_watch_was_busy(b->watch, path, now); /* it was quiet for a while */
    CHECK(!vls_watch_must_wait(b->watch, path, now));
    for (int i = 0; i < 200; i++) /* there is room for some of them only */
        vls_watch_was_busy(b->watch, valise_str_of(test_format("n%d", i)), now);
    bed_file(b, "a", "changed");
    bed_wait(b);
    CHECK_TEXT("changed a\n", b->told);
}

TEST(watch, a_name_that_waits_and_moves)
{
    bed *b = some_files(t);
    int64_t now = b->watch->env->ticks_ns(b->watch->env->self);
    valise_frames *known = NULL;

    CHECK_OK(valise_frame_put(NULL, b->v, "a", VLS_STR("said"), NULL, NULL, &t->err));
    for (int i = 0; i < 14; i++)
        vls_watch_was_busy(b->watch, VLS_STR("a"), now + i);
    bed_file(b, "a", "it waits");
    bed_settle(b);
    CHECK(vls_watch_waits_until(b->watch) < INT64_MAX);
    bed_file(b, "a", "1");
    bed_rename(b, "a", "d/e/moved");
    bed_wait(b);
    CHECK_TEXT("moved d/e/moved from a\n", b->told);
    CHECK_INT(1, valise_head_get(&known, b->v, "d/e/moved", "notes", 0, NULL, &t->err));
    valise_frames_free(known);
}

/* ---- the folder itself ---- */

TEST(watch, a_root_that_moves)
{
    bed *b = some_files(t);
    const char *elsewhere = test_format("%s/elsewhere", test_tmpdir());

    CHECK(rename(b->root, elsewhere) == 0);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    CHECK(strstr(t->err.message, "is gone"));
    CHECK(mkdir(b->root, 0755) == 0); /* another folder of that name */
    CHECK_RC(VALISE_E_NOT_FOUND, valise_watch_step(b->watch, 0, &t->err));
    CHECK(rmdir(b->root) == 0);
    CHECK(rename(elsewhere, b->root) == 0);
    bed_unwatch(b);
    bed_check(b);
}

TEST(watch, a_root_that_is_removed)
{
    bed *b = bed_new(t);
    const char *kept = test_format("%s/kept", test_tmpdir());

    bed_file(b, "a", "1");
    bed_watch(b, NULL);
    CHECK(rename(bed_path(b, ".valise"), kept) == 0);
    bed_remove(b, "a");
    CHECK(rmdir(b->root) == 0);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    CHECK(mkdir(b->root, 0755) == 0);
    CHECK(rename(kept, bed_path(b, ".valise")) == 0);
}

TEST(watch, a_workspace_without_a_folder)
{
    valise_watch *watch = NULL;
    valise *v = NULL;
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    CHECK_RC(VALISE_E_UNSUPPORTED, valise_watch_open(&watch, v, NULL, NULL, &t->err));
    valise_close(v);
    CHECK(watch == NULL);
}

/* ---- who is told ---- */

TEST(watch, who_is_told_can_stop_it)
{
    bed *b = some_files(t);

    b->stop = 1;
    bed_file(b, "a", "changed");
    bed_file(b, "d/b", "changed");
    b->told = "";
    CHECK_RC(VALISE_E_CANCELLED, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    CHECK_TEXT("changed a\n", b->told);
    b->stop = VALISE_E_BUSY;
    bed_file(b, "a", "changed again");
    CHECK_RC(VALISE_E_BUSY, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    b->stop = 0;
    bed_wait(b); /* all of it was recorded */
    CHECK_TEXT("", b->told);
}

static int cancel(void *arg, const valise_progress_state *state)
{
    (void)state;
    return *(int *)arg;
}

TEST(watch, progress_can_stop_it)
{
    bed *b = bed_new(t);
    valise_call call = VALISE_CALL_INIT;
    int stop = 1;

    call.progress = (valise_progress){cancel, &stop};
    bed_file(b, "a", "1");
    CHECK_RC(VALISE_E_CANCELLED, valise_watch_open(&b->watch, b->v, NULL, &call, &t->err));
    CHECK(b->watch == NULL);
    stop = 0;
    CHECK_OK(valise_watch_open(&b->watch, b->v, NULL, &call, &t->err));
    bed_check(b);
}

TEST(watch, only_for_who_may_write_the_tree)
{
    bed *b = bed_new(t);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    CHECK_OK(valise_dispatch(&reply, b->v, "agent:add", "{\"id\":\"r\",\"role\":\"reader\"}", NULL,
                             &t->err));
    valise_reply_release(&reply);
    call.actor = VLS_STR("r");
    CHECK_RC(VALISE_E_DENIED, valise_watch_open(&b->watch, b->v, NULL, &call, &t->err));
}

TEST(watch, options_are_checked)
{
    bed *b = bed_new(t);
    valise_watch_options o = VALISE_WATCH_OPTIONS_INIT;

    o.flags = 1;
    CHECK_RC(VALISE_E_INVALID, valise_watch_open(&b->watch, b->v, &o, NULL, &t->err));
    o.flags = 0;
    o.full_ns = 0;
    CHECK_RC(VALISE_E_INVALID, valise_watch_open(&b->watch, b->v, &o, NULL, &t->err));
    o.full_ns = o.save_ns = o.quiet_ns = INT64_MAX; /* for ever */
    CHECK_OK(valise_watch_open(&b->watch, b->v, &o, NULL, &t->err));
    CHECK_INT(0, valise_watch_step(b->watch, 0, &t->err));
    bed_unwatch(b);
    o.size = 3;
    CHECK_RC(VALISE_E_INVALID, valise_watch_open(&b->watch, b->v, &o, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_watch_step(NULL, 0, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_watch_open(NULL, b->v, NULL, NULL, &t->err));
    valise_watch_close(NULL);
}

/* ---- waiting ---- */

TEST(watch, nothing_happens)
{
    bed *b = some_files(t);

    CHECK_INT(0, valise_watch_step(b->watch, 0, &t->err));
    CHECK_INT(0, valise_watch_step(b->watch, 1000000, &t->err));
    CHECK(valise_watch_fd(b->watch) >= 0);
    CHECK(valise_watch_wait_ns(b->watch) > 0);
    bed_file(b, "a", "2");
    CHECK_INT(0, valise_watch_step(b->watch, 0, &t->err)); /* heard, and not quiet yet */
    CHECK(valise_watch_wait_ns(b->watch) <= 1000000000);
    bed_wait(b);
}

static void no_more(int number)
{
    (void)number;
}

TEST(watch, a_signal_ends_the_wait)
{
    bed *b = some_files(t);
    struct sigaction act = {.sa_handler = no_more}, before;
    struct itimerval soon = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}};
    struct itimerval never = {.it_value = {.tv_usec = 0}};

    CHECK(sigaction(SIGALRM, &act, &before) == 0);
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    CHECK_INT(0, valise_watch_step(b->watch, -1, &t->err));
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
}

TEST(watch, now_and_then_everything_is_looked_at)
{
    bed *b = some_files(t);

    b->watch->options.full_ns = 1;
    CHECK_INT(0, valise_watch_step(b->watch, 1000000, &t->err));
    b->watch->options.full_ns = INT64_C(600000000000);
    vls_watch_set_drop(&b->watch->set, VLS_STR("d")); /* as if something had been missed */
    bed_file(b, "d/b", "changed");
    b->told = "";
    CHECK_INT(0, valise_watch_step(b->watch, 20000000, &t->err));
    b->watch->options.full_ns = 1;
    bed_hear(b, &b->told, "changed");
    CHECK_TEXT("changed d/b\n", b->told);
    CHECK_INT(3, b->watch->set.by_number.len);
}

/* ---- others ---- */

TEST(watch, somebody_else_records_what_was_heard)
{
    bed *b = some_files(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;

    bed_file(b, "a", "2");
    CHECK_OK(valise_tree_scan(&s, b->other, NULL, NULL, &t->err));
    CHECK_INT(1, s.changed);
    bed_wait(b);
    CHECK_TEXT("changed a\n", b->told);
    bed_wait(b);
    CHECK_TEXT("", b->told); /* once */
}

/* All that a round of one's own would have told, and in one version. */
TEST(watch, all_kinds_of_changes_that_others_recorded)
{
    bed *b = some_files(t);

    bed_file(b, "gone/x/1", "1");
    bed_file(b, "gone/x/2", "2");
    bed_file(b, "moves/1", "something to move");
    bed_file(b, "kind", "a file");
    bed_wait(b);
    bed_remove(b, "gone");
    bed_rename(b, "moves", "moved");
    bed_remove(b, "kind");
    bed_file(b, "kind/now", "in a directory");
    bed_file(b, "new/1", "something new");
    CHECK_OK(valise_tree_scan(NULL, b->other, NULL, NULL, &t->err));
    bed_file(b, "a", "3"); /* and one of its own */
    bed_wait(b);
    CHECK_TEXT("removed gone\nchanged kind\nadded kind/now\nadded new\nadded new/1\n"
               "moved moved from moves\nchanged a\n",
               b->told);
}

/* What it was is not known any more: that there is another version is told all the same. */
TEST(watch, versions_of_others_that_were_pruned)
{
    bed *b = some_files(t);
    int64_t before;

    bed_wait(b);
    before = b->versions;
    bed_file(b, "a", "2");
    CHECK_OK(valise_tree_scan(NULL, b->other, NULL, NULL, &t->err));
    bed_file(b, "a", "3");
    CHECK_OK(valise_tree_scan(NULL, b->other, NULL, NULL, &t->err));
    CHECK_OK(valise_dispatch(NULL, b->other, "context:prune", "{\"versions\":1}", NULL, &t->err));
    bed_wait(b);
    CHECK_TEXT("", b->told);
    CHECK(b->versions > before);
    bed_file(b, "a", "4");
    bed_wait(b);
    CHECK_TEXT("changed a\n", b->told);
}

TEST(watch, others_record_versions_meanwhile)
{
    bed *b = some_files(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;

    for (int i = 0; i < 5; i++) {
        bed_file(b, "a", test_format("by somebody else %d", i));
        CHECK_OK(valise_tree_scan(&s, b->other, NULL, NULL, &t->err));
        bed_file(b, "d/b", test_format("by us %d", i));
        bed_wait(b);
        CHECK_TEXT("changed a\nchanged d/b\n", b->told);
    }
}

TEST(watch, the_cache_is_saved_when_it_is_quiet_and_at_the_end)
{
    bed *b = some_files(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;
    const char *cache = bed_path(b, ".valise/tree-cache");

    CHECK(access(cache, F_OK) < 0);
    b->watch->options.save_ns = 0;
    CHECK_INT(0, valise_watch_step(b->watch, 1000000, &t->err));
    CHECK(access(cache, F_OK) == 0);
    CHECK(unlink(cache) == 0);
    b->watch->options.save_ns = INT64_C(600000000000);
    bed_file(b, "a", "2");
    bed_settle(b);
    CHECK(access(cache, F_OK) < 0);
    b->watch->unsaved_ns -= 13 * b->watch->options.save_ns; /* as if it had never been quiet */
    CHECK_INT(0, valise_watch_step(b->watch, 1000000, &t->err));
    CHECK(access(cache, F_OK) == 0);
    CHECK_INT(0, b->watch->unsaved_ns);
    CHECK(unlink(cache) == 0);
    bed_file(b, "a", "3");
    bed_settle(b);
    CHECK(b->watch->unsaved_ns > 0);
    CHECK(access(cache, F_OK) < 0);
    bed_unwatch(b);
    CHECK(access(cache, F_OK) == 0);
    CHECK_OK(valise_tree_scan(&s, b->other, NULL, NULL, &t->err));
    CHECK_INT(0, s.added + s.changed + s.removed);
}

static bool is_outdated(test *t, bed *b, const char *node)
{
    valise_frames *known = NULL;
    bool outdated;

    CHECK_INT(1, valise_head_get(&known, b->other, node, "notes", 0, NULL, &t->err));
    outdated = known->outdated;
    valise_frames_free(known);
    return outdated;
}

TEST(watch, a_cache_that_is_behind_makes_nothing_outdated)
{
    bed *b = some_files(t);

    CHECK_OK(valise_frame_put(NULL, b->v, "a", VLS_STR("said"), NULL, NULL, &t->err));
    b->watch->options.save_ns = 0;
    bed_settle(b);
    CHECK_INT(0, valise_watch_step(b->watch, 20000000, &t->err));
    CHECK(!is_outdated(t, b, "a"));
    b->watch->options.save_ns = INT64_C(600000000000);
    bed_file(b, "a", "longer than it was");
    CHECK(is_outdated(t, b, "a")); /* nobody has looked yet */
    bed_settle(b);
    CHECK(!is_outdated(t, b, "a"));
    bed_file(b, "a", "LONGER than it was"); /* and the cache knows nothing of the one before */
    CHECK(is_outdated(t, b, "a"));
    bed_settle(b);
    CHECK(!is_outdated(t, b, "a"));
    CHECK(utimensat(AT_FDCWD, bed_path(b, "a"), NULL, 0) == 0); /* that changes nothing */
    CHECK(!is_outdated(t, b, "a"));
    CHECK(unlink(bed_path(b, ".valise/tree-cache")) == 0);
    CHECK(!is_outdated(t, b, "a"));
    bed_file(b, "a", "Longer than it was");
    CHECK(is_outdated(t, b, "a"));
}

TEST(watch, a_watch_that_was_killed_leaves_a_scan_that_is_right)
{
    bed *b = some_files(t);
    valise_tree_scanned s = VALISE_TREE_SCANNED_INIT;

    bed_file(b, "a", "2");
    bed_settle(b);
    b->watch->memory.unsaved = false; /* it does not come to that */
    bed_unwatch(b);
    bed_file(b, "d/b", "while nobody watched");
    CHECK_OK(valise_tree_scan(&s, b->other, NULL, NULL, &t->err));
    CHECK_INT(1, s.changed);
    bed_check(b);
}
