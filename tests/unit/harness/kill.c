/* kill.c -- kill loops and power cuts: right code survives, each planted bug is caught. */
#include "bodies.h"
#include "victim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/power.h"

static unsigned no_bugs = 0;

TEST(kill, right_code_survives_every_point)
{
    /* 3 saves of open, write, fsync, rename, open, fsync: before and after each, and 3 torn. */
    CHECK_INT(18 + 18 + 3, kill_each_io(t, FAULT_CHANGES, save_three, verify_versions, &no_bugs));
}

TEST(kill, right_code_survives_power_cuts)
{
    CHECK_INT(3 * 18, kill_each_power_cut(t, FAULT_CHANGES, save_three, verify_versions, &no_bugs));
}

static void save_many(kill_run *run, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;

    (void)arg;
    for (int i = 1; i <= 9; i++) {
        const char *text = test_format("version %d", i);
        CHECK(sample_save(valise_env_default(), run->dir, valise_str_of(text), 0, &err) == 0);
        kill_ack(run, "%d", i);
    }
}

TEST(kill, right_code_survives_random_kills)
{
    kill_loop(t, 20, save_many, verify_versions, NULL);
}

TEST(kill, bugs_are_caught)
{
    test_unwatched(); /* those tests are not run there */
    victim_must_fail("kills.in_place", "half a file: ");
    victim_must_fail("kills.in_place", "killed before write ");
    victim_must_fail("kills.acknowledges_too_early", "was acknowledged, version");
    victim_must_fail("kills.power_in_place", "power cut");
    victim_must_fail("kills.power_rename_first", "half a file: \"\"\n# in round ");
    victim_must_fail("kills.power_rename_first", "power cut (names are kept, data is lost) before");
    victim_must_fail("kills.power_no_dir_sync", "version 1 was acknowledged, version 0 is there");
    victim_must_fail("kills.no_file_calls", "the child made no file call in");
}

TEST(kill, children_that_hang_or_fail_are_reported)
{
    victim_must_fail("kills.hangs", "the child: timed out, in state S");
    victim_must_fail("kills.child_fails", "the child found a problem");
}

static void ack_from_threads(size_t index, void *arg)
{
    for (int i = 0; i < 50; i++)
        kill_ack(arg, "%zu %d", index, i);
}

static void many_acks(kill_run *run, void *arg)
{
    (void)arg;
    test_threads(4, ack_from_threads, run);
}

static void verify_acks(test *t, const kill_run *run, void *arg)
{
    int next[4] = {0};

    (void)t;
    (void)arg;
    CHECK(!run->finished || run->acked == 200);
    for (size_t i = 0; i < run->acked; i++) {
        size_t thread = 9;
        int n = -1;
        CHECK_INT(2, sscanf(run->acks[i], "%zu %d", &thread, &n));
        CHECK(thread < 4 && n == next[thread]++);
    }
}

TEST(kill, acknowledgements_come_from_all_threads_and_whole)
{
    kill_loop(t, 20, many_acks, verify_acks, NULL);
}

/* ---- what a power cut leaves ---- */

static void put(int dir, const char *name, const char *text, bool sync)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(strlen(text), write(fd, text, strlen(text)));
    CHECK(!sync || fsync(fd) == 0);
    close(fd);
}

/* A little of everything; returns the directory. */
static const char *busy_directory(const char *name)
{
    const char *path = test_format("%s/%s", test_tmpdir(), name);

    CHECK_INT(0, mkdir(path, 0700));
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put(dir, "before", "before", false);
    put(dir, "removed", "removed", false);
    fault_io_begin(&(fault_io_plan){.dir = path, .record = true});
    put(dir, "synced", "synced", true);
    CHECK_INT(0, mkdirat(dir, "sub", 0700));
    CHECK_INT(0, fsync(dir));
    put(dir, "sub/lost", "lost", true);
    put(dir, "unsynced", "unsynced", false);
    put(dir, "synced", "longer", false);
    CHECK_INT(0, unlinkat(dir, "removed", 0));
    CHECK_INT(0, renameat(dir, "before", dir, "renamed"));
    fault_io_end();
    close(dir);
    return path;
}

static bool there(const char *dir, const char *name)
{
    return access(test_format("%s/%s", dir, name), F_OK) == 0;
}

static const char *text_of(const char *dir, const char *name)
{
    return test_read_file(test_format("%s/%s", dir, name)).ptr;
}

TEST(power, loses_all_that_was_not_synced)
{
    const char *dir = busy_directory("lose");
    test_rng rng = test_rng_new(1);

    power_cut(dir, POWER_LOSE_ALL, &rng);
    CHECK_TEXT("before", text_of(dir, "before"));
    CHECK_TEXT("removed", text_of(dir, "removed"));
    CHECK_TEXT("synced", text_of(dir, "synced"));
    CHECK(there(dir, "sub") && !there(dir, "sub/lost"));
    CHECK(!there(dir, "unsynced") && !there(dir, "renamed"));
}

TEST(power, keeps_names_without_their_data)
{
    const char *dir = busy_directory("keep");
    test_rng rng = test_rng_new(1);

    power_cut(dir, POWER_KEEP_NAMES, &rng);
    CHECK_TEXT("before", text_of(dir, "renamed"));
    CHECK_TEXT("synced", text_of(dir, "synced"));
    CHECK_TEXT("lost", text_of(dir, "sub/lost"));
    CHECK_TEXT("", text_of(dir, "unsynced"));
    CHECK(!there(dir, "removed") && !there(dir, "before"));
}

TEST(power, tears_by_sectors)
{
    const char *dir = test_format("%s/tear", test_tmpdir());
    char old[4096], new[4096];
    int kept = 0, replaced = 0;
    test_rng rng = test_rng_new(1);

    memset(old, 'o', sizeof(old));
    memset(new, 'n', sizeof(new));
    CHECK_INT(0, mkdir(dir, 0700));
    test_write_file(test_format("%s/file", dir), vls_str(old, sizeof(old)));
    fault_io_begin(&(fault_io_plan){.dir = dir, .record = true});
    int fd = open(test_format("%s/file", dir), O_WRONLY | O_CLOEXEC);
    CHECK_INT(sizeof(new), pwrite(fd, new, sizeof(new), 0));
    close(fd);
    fault_io_end();
    power_cut(dir, POWER_TEAR, &rng);
    valise_str now = test_read_file(test_format("%s/file", dir));
    CHECK_INT(4096, now.len);
    for (size_t i = 0; i < 4096; i += 512) {
        CHECK(memcmp(now.ptr + i, old, 512) == 0 || memcmp(now.ptr + i, new, 512) == 0);
        *(now.ptr[i] == 'o' ? &kept : &replaced) += 1;
    }
    CHECK(kept > 0 && replaced > 0);
}

TEST(power, tears_what_grew)
{
    const char *dir = test_format("%s/grew", test_tmpdir());
    char old[512], new[1024];
    size_t sizes[3] = {0}; /* of 512, 1024 and 1536 bytes */

    memset(old, 'o', sizeof(old));
    memset(new, 'n', sizeof(new));
    for (uint64_t seed = 0; seed < 20; seed++) {
        test_rng rng = test_rng_new(seed);
        CHECK_INT(0, mkdir(dir, 0700));
        test_write_file(test_format("%s/file", dir), vls_str(old, sizeof(old)));
        fault_io_begin(&(fault_io_plan){.dir = dir, .record = true});
        int fd = open(test_format("%s/file", dir), O_WRONLY | O_CLOEXEC);
        CHECK_INT(sizeof(new), pwrite(fd, new, sizeof(new), 512));
        close(fd);
        fault_io_end();
        power_cut(dir, POWER_TEAR, &rng);
        valise_str now = test_read_file(test_format("%s/file", dir));
        CHECK(now.len % 512 == 0 && now.len >= 512 && now.len <= 1536);
        CHECK(memcmp(now.ptr, old, 512) == 0);
        sizes[now.len / 512 - 1]++;
        test_remove(dir);
    }
    CHECK(sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0);
}

static void remove_dir(void *path)
{
    test_remove(path);
    test_remove(test_format("%s.safe", (char *)path));
}

/* O_TMPFILE has the bit of O_DIRECTORY in it: who opens a folder makes no new file. */
TEST(power, a_directory_that_is_opened_stays_safe)
{
    const char *dir = test_format("%s/opened", test_tmpdir());
    test_rng rng = test_rng_new(1);

    CHECK_INT(0, mkdir(dir, 0700));
    CHECK_INT(0, mkdir(test_format("%s/sub", dir), 0700));
    test_write_file(test_format("%s/sub/file", dir), VLS_STR("safe"));
    fault_io_begin(&(fault_io_plan){.dir = dir, .record = true});
    int fd = open(test_format("%s/sub", dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    close(fd);
    fault_io_end();
    power_cut(dir, POWER_LOSE_ALL, &rng);
    CHECK_TEXT("safe", text_of(dir, "sub/file"));
}

/* On a disk: memory file systems do not use inode numbers again. */
TEST(power, a_new_file_does_not_inherit_what_its_inode_held)
{
    char dir[] = "/var/tmp/valise-test-XXXXXX";
    struct stat first, last;
    test_rng rng = test_rng_new(1);

    CHECK(mkdtemp(dir) != NULL);
    test_defer(remove_dir, (void *)(uintptr_t)test_format("%s", dir));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fault_io_begin(&(fault_io_plan){.dir = dir, .record = true});
    put(fd, "file", "old", true);
    CHECK_INT(0, fstatat(fd, "file", &first, 0));
    CHECK_INT(0, unlinkat(fd, "file", 0));
    put(fd, "file", "new", false);
    CHECK_INT(0, fstatat(fd, "file", &last, 0));
    fault_io_end();
    close(fd);
    if (first.st_ino != last.st_ino)
        SKIP("this file system gives a new file a new inode");
    power_cut(dir, POWER_KEEP_NAMES, &rng);
    CHECK_TEXT("", text_of(dir, "file"));
}

TEST(power, nor_does_a_new_directory)
{
    char dir[] = "/var/tmp/valise-test-XXXXXX";
    struct stat first, last;
    test_rng rng = test_rng_new(1);

    CHECK(mkdtemp(dir) != NULL);
    test_defer(remove_dir, (void *)(uintptr_t)test_format("%s", dir));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fault_io_begin(&(fault_io_plan){.dir = dir, .record = true});
    CHECK_INT(0, mkdirat(fd, "sub", 0700));
    put(fd, "sub/file", "old", true);
    int sub = openat(fd, "sub", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(0, fsync(sub) | fstat(sub, &first));
    close(sub);
    CHECK_INT(0, unlinkat(fd, "sub/file", 0) | unlinkat(fd, "sub", AT_REMOVEDIR));
    CHECK_INT(0, mkdirat(fd, "sub", 0700));
    CHECK_INT(0, fstatat(fd, "sub", &last, 0) | fsync(fd));
    fault_io_end();
    close(fd);
    if (first.st_ino != last.st_ino)
        SKIP("this file system gives a new directory a new inode");
    power_cut(dir, POWER_LOSE_ALL, &rng);
    CHECK(there(dir, "sub") && !there(dir, "sub/file"));
}

/* ---- where exactly a kill falls ---- */

static int write_and_rename(size_t how, void *arg)
{
    const char *dir = arg;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    fault_io_begin(&(fault_io_plan){.dir = dir,
                                    .kinds = how == FAULT_KILL_TORN ? FAULT_WRITE : FAULT_RENAME,
                                    .nth = 1,
                                    .how = (fault_how)how});
    put(fd, "from", "12345678", false);
    return renameat(fd, "from", fd, "to");
}

TEST(kill, falls_before_after_or_into_the_call)
{
    for (int how = FAULT_KILL_BEFORE; how <= FAULT_KILL_TORN; how++) {
        const char *dir = test_format("%s/%d", test_tmpdir(), how);
        process_result r;
        process p;
        CHECK_INT(0, mkdir(dir, 0700));
        process_start(&p, write_and_rename, (size_t)how, (void *)(uintptr_t)dir);
        process_wait(&r, &p, 0);
        CHECK_INT(SIGKILL, r.signal);
        CHECK_INT(how == FAULT_KILL_AFTER, there(dir, "to"));
        CHECK_TEXT(how == FAULT_KILL_TORN ? "1234" : "12345678",
                   text_of(dir, how == FAULT_KILL_AFTER ? "to" : "from"));
    }
}
