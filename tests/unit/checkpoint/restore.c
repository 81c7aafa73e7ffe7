/* restore.c -- checkpoint and restore: everything comes back, and nothing else is touched. [C31] */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "checkpoint/kit.h"

TEST_PARAMS(restore, "memory", "sqlite", "user")

/* Some of everything. */
static shed *fill(test *t)
{
    shed *s = shed_open(t);

    shed_write(s, ".gitignore", "*.o\nbuild/\n", 0644);
    shed_write(s, "src/a.c", "one", 0644);
    shed_write(s, "src/b.c", "two", 0600);
    shed_write(s, "src/deep/run.sh", "#!/bin/sh\n", 0755);
    shed_write(s, "src/a.o", "object", 0644);
    shed_write(s, "build/x", "built", 0644);
    shed_write(s, ".git/config", "[core]\n", 0644);
    shed_dir(s, "empty", 0750);
    shed_link(s, "link", "src/a.c");
    shed_link(s, "dangling", "/nowhere/at/all");
    shed_write(s, "nothing", "", 0444);
    return s;
}

static const char *restore(shed *s, const char *members)
{
    return shed_run(s, "tree:restore", test_format("\"checkpoint\":\"one\"%s", members));
}

static void checkpoint(shed *s)
{
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
}

/* ---- keeping ---- */

TEST(restore, a_second_checkpoint_of_the_same_writes_nothing)
{
    shed *s = fill(t);
    const char *answer = shed_run(s, "tree:checkpoint", ""), *name = shed_member(answer, "name");
    const char *before, *again;

    CHECK_TEXT("5", shed_member(answer, "stored"));
    CHECK_TEXT("5", shed_member(answer, "files"));
    CHECK_TEXT("false", shed_member(answer, "existed"));
    CHECK_MSG(strncmp(name, "checkpoint-", 11) == 0, "%s", name);
    before = shed_run(s, "workspace:hash", "");
    again = shed_run(s, "tree:checkpoint", "");
    CHECK_TEXT("true", shed_member(again, "existed"));
    CHECK_TEXT(name, shed_member(again, "name"));
    CHECK_TEXT("0", shed_member(again, "stored"));
    CHECK_TEXT(before, shed_run(s, "workspace:hash", ""));
    /* A mode alone is something new; so is a name. */
    CHECK_INT(0, chmod(shed_path(s, "src/a.c"), 0640));
    again = shed_run(s, "tree:checkpoint", "");
    CHECK_TEXT("false", shed_member(again, "existed"));
    CHECK_TEXT("0", shed_member(again, "stored"));
    again = shed_run(s, "tree:checkpoint", "\"name\":\"named\"");
    CHECK_TEXT("named", shed_member(again, "name"));
    CHECK_RC(VALISE_E_EXISTS, shed_try(s, "tree:checkpoint", "\"name\":\"named\""));
    CHECK_RC(VALISE_E_INVALID, shed_try(s, "tree:checkpoint", "\"name\":\"list\""));
    CHECK_RC(VALISE_E_INVALID, shed_try(s, "tree:checkpoint", "\"name\":\"a b\""));
    shed_check(s);
}

TEST(restore, a_dry_run_keeps_nothing)
{
    shed *s = fill(t);
    const char *answer;

    (void)shed_run(s, "tree:scan", "");
    answer = shed_run(s, "workspace:hash", "");
    CHECK_TEXT("5", shed_member(shed_run(s, "tree:checkpoint", "\"dryRun\":true"), "stored"));
    CHECK_TEXT(answer, shed_run(s, "workspace:hash", ""));
    CHECK_TEXT("{\"items\":[]}", shed_run(s, "checkpoint:list", ""));
}

TEST(restore, a_checkpoint_has_many_names)
{
    shed *s = fill(t);
    const char *root;

    checkpoint(s);
    root = shed_member(shed_run(s, "checkpoint:list", ""), "treeRoot");
    shed_write(s, "src/a.c", "changed", 0644);
    CHECK_RC(0, shed_try(s, "tree:restore", "\"checkpoint\":\"v1\",\"dryRun\":true"));
    CHECK_RC(0, shed_try(s, "tree:restore",
                         test_format("\"checkpoint\":\"%.8s\",\"dryRun\":true", root)));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "tree:restore", "\"checkpoint\":\"v2\""));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "tree:restore", "\"checkpoint\":\"two\""));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "checkpoint:show", "\"checkpoint\":\"ffffffff\""));
}

/* ---- bringing back ---- */

TEST(restore, everything_comes_back)
{
    shed *s = fill(t);
    const char *before = shed_text(s->dir), *answer;

    checkpoint(s);
    shed_write(s, "src/a.c", "changed", 0600);
    shed_remove(s, "src/b.c");
    shed_remove(s, "src/deep");
    shed_remove(s, "empty");
    shed_remove(s, "nothing");
    shed_link(s, "link", "src/b.c");
    shed_remove(s, "dangling");
    answer = restore(s, "");
    CHECK_TEXT(before, shed_text(s->dir));
    CHECK_TEXT("8", shed_member(answer, "restored"));
    CHECK_TEXT("0", shed_member(answer, "deleted"));
    /* The workspace knows already. */
    CHECK_TEXT("0", shed_member(shed_run(s, "tree:scan", ""), "changed"));
    answer = restore(s, "");
    CHECK_TEXT("0", shed_member(answer, "restored"));
    CHECK_TEXT("", shed_member(answer, "saved"));
    shed_check(s);
}

TEST(restore, kinds_change_in_all_directions)
{
    static const char *const kinds[] = {"file", "dir", "full", "link", "none", NULL};
    shed *s = fill(t);

    for (int from = 0; kinds[from]; from++) {
        for (int to = 0; kinds[to]; to++) {
            const char *before = "", *after, *answer, *name = test_format("c-%d-%d", from, to);
            for (int step = 0; step < 2; step++) {
                const char *kind = kinds[step == 0 ? from : to];
                test_remove(shed_path(s, "thing"));
                if (strcmp(kind, "file") == 0)
                    shed_write(s, "thing", name, 0640);
                if (strcmp(kind, "dir") == 0)
                    shed_dir(s, "thing", 0711);
                if (strcmp(kind, "full") == 0)
                    shed_write(s, "thing/in/it", name, 0604);
                if (strcmp(kind, "link") == 0)
                    shed_link(s, "thing", "src");
                if (step > 0)
                    break;
                before = shed_text(s->dir);
                (void)shed_run(s, "tree:checkpoint", test_format("\"name\":\"%s\"", name));
            }
            after = shed_text(s->dir);
            answer = shed_run(s, "tree:restore",
                              test_format("\"checkpoint\":\"%s\",\"delete\":true", name));
            test_context("%s to %s: %s", kinds[to], kinds[from], answer);
            CHECK_TEXT(before, shed_text(s->dir));
            /* And back, by what was saved. */
            if (shed_member(answer, "saved")[0]) {
                (void)shed_run(s, "tree:restore",
                               test_format("\"checkpoint\":\"%s\",\"delete\":true",
                                           shed_member(answer, "saved")));
                CHECK_TEXT(after, shed_text(s->dir));
            }
            test_context_end();
        }
    }
    shed_check(s);
}

TEST(restore, what_is_overwritten_can_be_had_back)
{
    shed *s = fill(t);
    const char *answer, *wrecked, *saved;

    checkpoint(s);
    shed_write(s, "src/a.c", "my edit", 0640);
    shed_write(s, "src/new.c", "never kept", 0600);
    shed_remove(s, "src/b.c");
    wrecked = shed_text(s->dir);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("1", shed_member(answer, "deleted"));
    saved = shed_member(answer, "saved");
    CHECK_MSG(strncmp(saved, "before-restore-", 15) == 0, "%s", saved);
    (void)shed_run(s, "tree:restore", test_format("\"checkpoint\":\"%s\"", saved));
    CHECK(strstr(shed_text(s->dir), "src/b.c")); /* what it does not have stays */
    answer =
        shed_run(s, "tree:restore", test_format("\"checkpoint\":\"%s\",\"delete\":true", saved));
    CHECK_TEXT(wrecked, shed_text(s->dir));
    shed_check(s);
}

/* What it ignored itself it never had, whatever the rules are now. [C31] */
TEST(restore, files_that_the_checkpoint_ignores_stay)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, ".gitignore", "/.env\nbuilt/\n*.log\n", 0644);
    shed_write(s, "src/.gitignore", "!keep.log\n", 0644);
    shed_write(s, ".env", "key", 0600);
    shed_write(s, "built/deep/x", "x", 0644);
    checkpoint(s);
    shed_remove(s, ".gitignore");
    shed_write(s, "src/other.log", "x", 0644);
    shed_write(s, "src/keep.log", "x", 0644);
    shed_write(s, "new", "x", 0644);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("2", shed_member(answer, "deleted")); /* new, src/keep.log */
    CHECK(strstr(shed_text(s->dir), ".env"));
    CHECK(strstr(shed_text(s->dir), "built/deep/x"));
    CHECK(strstr(shed_text(s->dir), "src/other.log"));
    CHECK(!strstr(shed_text(s->dir), "keep.log"));
    shed_check(s);
}

TEST(restore, only_what_is_named)
{
    shed *s = fill(t);
    const char *before = shed_text(s->dir);

    checkpoint(s);
    shed_remove(s, "src");
    shed_remove(s, "empty");
    shed_write(s, "other", "stays", 0644);
    CHECK_TEXT("3", shed_member(restore(s, ",\"paths\":[\"src/deep/run.sh\"],\"delete\":true"),
                                "restored")); /* with its directories */
    CHECK(strstr(shed_text(s->dir), "src/deep/run.sh"));
    CHECK(strstr(shed_text(s->dir), "other"));
    CHECK(!strstr(shed_text(s->dir), "src/b.c"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             shed_try(s, "tree:restore", "\"checkpoint\":\"one\",\"paths\":[\"src\",\"no\"]"));
    CHECK(!strstr(shed_text(s->dir), "src/b.c"));
    shed_write(s, "src/a.o", "object", 0644);
    (void)restore(s, ",\"paths\":[\"./src//\",\"empty\"]");
    shed_remove(s, "other");
    CHECK_TEXT(before, shed_text(s->dir));
}

TEST(restore, a_dry_run_does_nothing)
{
    shed *s = fill(t);
    const char *wrecked, *answer, *state;

    checkpoint(s);
    shed_write(s, "src/a.c", "changed", 0644);
    CHECK_INT(0, chmod(shed_path(s, "src/b.c"), 0644));
    shed_remove(s, "link");
    shed_write(s, "new", "new", 0644);
    (void)shed_run(s, "tree:scan", "");
    wrecked = shed_text(s->dir);
    state = shed_run(s, "workspace:hash", "");
    answer = restore(s, ",\"delete\":true,\"dryRun\":true");
    CHECK(strstr(answer, "{\"change\":\"replace\",\"path\":\"src/a.c\"}"));
    CHECK(strstr(answer, "{\"change\":\"mode\",\"path\":\"src/b.c\"}"));
    CHECK(strstr(answer, "{\"change\":\"create\",\"path\":\"link\"}"));
    CHECK(strstr(answer, "{\"change\":\"delete\",\"path\":\"new\"}"));
    CHECK_TEXT("3", shed_member(answer, "restored"));
    CHECK_TEXT(wrecked, shed_text(s->dir));
    CHECK_TEXT(state, shed_run(s, "workspace:hash", ""));
}

/* ---- what must not be touched ---- */

TEST(restore, ignored_files_stay_and_are_listed_where_they_are_in_the_way)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "src/gen", "kept once", 0644);
    checkpoint(s);
    shed_remove(s, "src/gen");
    shed_write(s, "src/gen/x.o", "ignored", 0644);
    shed_remove(s, "src/deep");
    shed_write(s, "src/deep/keep.o", "ignored too", 0600);
    shed_write(s, "top.o", "ignored three", 0600);
    answer = restore(s, ",\"delete\":true");
    CHECK(strstr(answer, "\"path\":\"src/gen\""));
    CHECK_TEXT("1", shed_member(answer, "inTheWayCount"));
    CHECK(strstr(shed_text(s->dir), "src/gen/x.o"));
    CHECK(strstr(shed_text(s->dir), "src/deep/keep.o"));
    CHECK(strstr(shed_text(s->dir), "src/deep/run.sh"));
    CHECK(strstr(shed_text(s->dir), "top.o"));
    CHECK(strstr(shed_text(s->dir), "build/x"));
    /* Rules count as they are: what is ignored now is not ours. */
    shed_write(s, ".gitignore", "*.c\n*.o\nbuild/\n", 0644);
    shed_write(s, "src/a.c", "private now", 0644);
    answer = restore(s, "");
    CHECK(strstr(answer, "\"path\":\"src/a.c\""));
    CHECK_TEXT("private now",
               test_format("%.*s", VALISE_STR_ARG(test_read_file(shed_path(s, "src/a.c")))));
}

/* With files of the tree beside what is ignored: those stay as well, it is in the way as a whole.
 */
TEST(restore, a_directory_that_cannot_make_room_keeps_all_it_has)
{
    shed *s = fill(t);
    const char *answer, *wrecked;

    shed_write(s, "gen", "a file once", 0644);
    checkpoint(s);
    shed_remove(s, "gen");
    shed_write(s, "gen/sub/x.o", "ignored", 0644);
    shed_write(s, "gen/sub/code", "of the tree", 0644);
    shed_write(s, "gen/more", "too", 0644);
    wrecked = shed_text(s->dir);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("1", shed_member(answer, "inTheWayCount"));
    CHECK_TEXT(wrecked, shed_text(s->dir));
}

static void make_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (strlen(path) >= sizeof(a.sun_path))
        SKIP("the path is too long for a socket");
    (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    CHECK_INT(0, bind(fd, (struct sockaddr *)&a, sizeof(a)));
    (void)close(fd);
}

TEST(restore, sockets_are_in_the_way)
{
    shed *s = fill(t);
    const char *answer;

    checkpoint(s);
    shed_remove(s, "src/a.c");
    make_socket(shed_path(s, "src/a.c"));
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("1", shed_member(answer, "inTheWayCount"));
    CHECK(strstr(shed_text(s->dir), "else src/a.c"));
}

TEST(restore, a_repository_in_the_tree_keeps_its_git)
{
    shed *s = fill(t);
    const char *git;

    checkpoint(s);
    shed_write(s, "sub/.git/HEAD", "ref: x", 0600);
    shed_write(s, "sub/.git/objects/aa", "loose", 0444);
    shed_write(s, "sub/code.c", "new", 0644);
    shed_write(s, "sub/.GIT/x", "looks like one", 0644);
    git = shed_text(shed_path(s, "sub/.git"));
    (void)restore(s, ",\"delete\":true");
    CHECK_TEXT(git, shed_text(shed_path(s, "sub/.git")));
    CHECK(strstr(shed_text(s->dir), "sub/.GIT/x"));
    CHECK(!strstr(shed_text(s->dir), "sub/code.c"));
    /* And a checkpoint of it leaves out what only looks like one. */
    CHECK(strstr(shed_run(s, "tree:checkpoint", ""), "\"path\":\"sub/.GIT\""));
    shed_check(s);
}

TEST(restore, nothing_is_written_through_a_link)
{
    shed *s = fill(t);
    const char *outside = test_format("%s/outside", test_tmpdir()), *before, *was;

    before = shed_text(s->dir);
    checkpoint(s);
    CHECK_INT(0, mkdir(outside, 0700));
    test_write_file(test_format("%s/a.c", outside), VLS_STR("not yours"));
    was = shed_text(outside);
    CHECK_INT(0, rename(shed_path(s, "src/a.o"), shed_path(s, "a.o")));
    shed_remove(s, "src");
    shed_link(s, "src", outside);
    (void)restore(s, "");
    CHECK_INT(0, rename(shed_path(s, "a.o"), shed_path(s, "src/a.o")));
    CHECK_TEXT(before, shed_text(s->dir));
    CHECK_TEXT(was, shed_text(outside));
    /* A link in its place that a rule ignores stays, and nothing goes through it. */
    CHECK_INT(0, rename(shed_path(s, "src/a.o"), shed_path(s, "a.o")));
    shed_remove(s, "src");
    shed_link(s, "src", outside);
    shed_write(s, ".gitignore", "*.o\nbuild/\nsrc\n", 0644);
    CHECK_TEXT("5", shed_member(restore(s, ""), "inTheWayCount"));
    CHECK_TEXT(was, shed_text(outside));
}

TEST(restore, hard_links_are_broken_and_not_written_through)
{
    shed *s = fill(t);
    const char *outside = test_format("%s/outside", test_tmpdir());

    checkpoint(s);
    shed_write(s, "src/a.c", "edited", 0644);
    CHECK_INT(0, link(shed_path(s, "src/a.c"), outside));
    (void)restore(s, "");
    CHECK_STR(VLS_STR("edited"), test_read_file(outside));
    CHECK_STR(VLS_STR("one"), test_read_file(shed_path(s, "src/a.c")));
}

TEST(restore, directories_that_nobody_may_write_to)
{
    shed *s = fill(t);
    const char *before;

    CHECK_INT(0, chmod(shed_path(s, "src/deep"), 0555));
    CHECK_INT(0, chmod(shed_path(s, "empty"), 0));
    before = shed_text(s->dir);
    checkpoint(s);
    CHECK_INT(0, chmod(shed_path(s, "src/deep"), 0755));
    shed_write(s, "src/deep/run.sh", "changed", 0400);
    shed_write(s, "src/deep/more", "more", 0400);
    CHECK_INT(0, chmod(shed_path(s, "src/deep"), 0111));
    CHECK_INT(0, chmod(shed_path(s, "src"), 0500));
    (void)restore(s, ",\"delete\":true");
    CHECK_TEXT(before, shed_text(s->dir));
}

/* Somebody took away the right to read: what is there is compared once it can be. */
TEST(restore, what_nobody_may_read)
{
    shed *s = fill(t);
    const char *before = shed_text(s->dir), *answer;

    checkpoint(s);
    shed_write(s, "src/b.c", "edited", 0600);
    CHECK_INT(0, chmod(shed_path(s, "src/b.c"), 0));
    CHECK_INT(0, chmod(shed_path(s, "src/deep/run.sh"), 0));
    CHECK_INT(0, chmod(shed_path(s, "src/deep"), 0));
    CHECK_INT(0, chmod(shed_path(s, "src/a.c"), 0200));
    answer = restore(s, "");
    CHECK_TEXT(before, shed_text(s->dir));
    CHECK_TEXT("0", shed_member(answer, "inTheWayCount"));
    if (strcmp(t->param, "user") == 0) {
        answer = strstr(answer, "\"late\":[\"") + 9; /* the edit was saved when it could be read */
        (void)shed_run(s, "tree:restore",
                       test_format("\"checkpoint\":\"%.*s\"", (int)strcspn(answer, "\""), answer));
        CHECK_STR(VLS_STR("edited"), test_read_file(shed_path(s, "src/b.c")));
    }
}

/* What was opened up to be emptied must not give its mode to what comes in its place. */
TEST(restore, a_directory_that_is_opened_up_and_makes_room)
{
    shed *s = fill(t);
    const char *before, *wrecked, *answer;

    shed_write(s, "thing", "file", 0644);
    before = shed_text(s->dir);
    checkpoint(s);
    shed_remove(s, "thing");
    shed_write(s, "thing/in/it", "x", 0400);
    CHECK_INT(0, chmod(shed_path(s, "thing/in"), 0500));
    CHECK_INT(0, chmod(shed_path(s, "thing"), 0500));
    wrecked = shed_text(s->dir);
    answer = restore(s, "");
    CHECK_TEXT(before, shed_text(s->dir));
    (void)shed_run(
        s, "tree:restore",
        test_format("\"checkpoint\":\"%s\",\"delete\":true", shed_member(answer, "saved")));
    CHECK_TEXT(wrecked, shed_text(s->dir));
}

/* ---- what cannot be kept ---- */

static void make_sparse(shed *s, const char *path, long long size)
{
    int fd = open(shed_path(s, path), O_WRONLY | O_CREAT, 0644);

    CHECK_INT(0, ftruncate(fd, size));
    (void)close(fd);
}

TEST(restore, a_file_over_the_cap_is_left_out_and_left_alone)
{
    shed *s = fill(t);
    const char *answer;

    make_sparse(s, "disk.img", 65LL << 20);
    answer = shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK(strstr(answer, "\"path\":\"disk.img\""));
    CHECK(strstr(shed_run(s, "checkpoint:show", "\"checkpoint\":\"one\",\"path\":\"disk.img\""),
                 "checkpoint.max-file"));
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK(strstr(shed_text(s->dir), "disk.img"));
    /* What would have to go and cannot be saved: nothing is done at all. */
    shed_remove(s, "src/a.c");
    make_sparse(s, "src/a.c", 65LL << 20);
    shed_remove(s, "src/b.c");
    CHECK_RC(VALISE_E_CONFLICT, shed_try(s, "tree:restore", "\"checkpoint\":\"one\""));
    CHECK(strstr(t->err.message, "src/a.c"));
    CHECK(!strstr(shed_text(s->dir), "src/b.c"));
    (void)restore(s, ",\"force\":true");
    CHECK_STR(VLS_STR("one"), test_read_file(shed_path(s, "src/a.c")));
    shed_check(s);
}

TEST(restore, large_files_are_blobs_and_come_back)
{
    shed *s = fill(t);
    const char *before;
    int fd;

    make_sparse(s, "large", (20LL << 20) + 7);
    fd = open(shed_path(s, "large"), O_WRONLY);
    CHECK_INT(3, pwrite(fd, "end", 3, (20 << 20) + 4));
    CHECK_INT(3, pwrite(fd, "mid", 3, 1 << 20));
    (void)close(fd);
    before = shed_text(s->dir);
    checkpoint(s);
    shed_remove(s, "large");
    (void)restore(s, "");
    CHECK_TEXT(before, shed_text(s->dir));
    make_sparse(s, "large", (30LL << 20));
    (void)restore(s, "");
    CHECK_TEXT(before, shed_text(s->dir));
    shed_check(s);
}
