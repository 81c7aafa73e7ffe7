/* fault.c -- the fault loops: right code passes, each planted bug is caught. */
#include "bodies.h"
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness/counting_env.h"

static unsigned no_bugs = 0;

/* ---- right code ---- */

TEST(fault, right_code_passes_with_every_allocation_failing)
{
    CHECK_INT(2, fault_each_alloc(t, 0, save_once, &no_bugs));
    CHECK_INT(2, fault_each_alloc(t, FAULT_ONWARD, save_once, &no_bugs));
}

TEST(fault, right_code_passes_with_every_file_call_failing)
{
    static const int errors[] = {EIO, ENOSPC, EACCES, EMFILE};
    unsigned kinds = FAULT_ALL & ~(FAULT_CLOSE | FAULT_UNLINK);

    /* open, write, fsync, rename, open, fsync */
    for (size_t i = 0; i < VLS_COUNT(errors); i++)
        CHECK_INT(6, fault_each_io(t, kinds, errors[i], save_once, &no_bugs));
    CHECK_INT(6, fault_each_io(t, kinds, EINTR, save_once, &no_bugs));
}

TEST(fault, right_code_passes_every_kind_of_plan)
{
    unsigned most = FAULT_ALL & ~(FAULT_CLOSE | FAULT_UNLINK);

    CHECK_INT(64, fault_each_plan(t, &(fault_io_plan){.limited = true}, save_once, &no_bugs));
    CHECK_INT(1, fault_each_plan(t, &(fault_io_plan){.kinds = most, .how = FAULT_SHORT}, save_once,
                                 &no_bugs));
    CHECK_INT(1,
              fault_each_plan(t, &(fault_io_plan){.kinds = most, .how = FAULT_TORN, .error = EIO},
                              save_once, &no_bugs));
    CHECK_INT(4,
              fault_each_plan(t, &(fault_io_plan){.kinds = most, .how = FAULT_AFTER, .error = EIO},
                              save_once, &no_bugs));
    CHECK_INT(6, fault_each_plan(t, &(fault_io_plan){.kinds = most, .onward = true, .error = EIO},
                                 save_once, &no_bugs));
}

TEST(fault, one_allocation_or_all_that_follow)
{
    counting_env c;

    counting_env_init(&c);
    counting_env_fail_at(&c, 1);
    CHECK(!counting_env_count(&c) && counting_env_count(&c) && !counting_env_count(&c));
    counting_env_fail_from(&c, 1);
    CHECK(!counting_env_count(&c) && counting_env_count(&c) && counting_env_count(&c));
    atomic_store(&c.paused, true);
    CHECK(!counting_env_count(&c));
    CHECK_INT(6, c.calls);
}

static int recovers(fault *f, void *arg)
{
    void *cache = vls_mem_alloc(f->env, 64);

    (void)arg;
    f->recovered = cache == NULL && fault_has_hit(f); /* works without, only slower */
    vls_mem_free(f->env, cache, 64);
    return 0;
}

TEST(fault, a_body_may_recover)
{
    CHECK_INT(1, fault_each_alloc(t, 0, recovers, NULL));
}

/* A library that asks before it allocates. */
static int use_library(fault *f, void *arg)
{
    int *seen = arg;
    bool fails = fault_alloc_fails();

    CHECK(fails == fault_has_hit(f));
    *seen += fails;
    return fails ? VALISE_E_NO_MEMORY : 0;
}

TEST(fault, allocations_of_libraries_fail_too)
{
    int seen = 0;

    CHECK_INT(1, fault_each_alloc(t, FAULT_LIBRARIES, use_library, &seen));
    CHECK_INT(1, seen);
}

/* ---- bugs ---- */

TEST(fault, bugs_with_memory_are_caught)
{
    victim_must_fail("faults.leak", "bytes in 1 blocks were not freed after NO_MEMORY\n"
                                    "# while allocation 2 fails");
    victim_must_fail("faults.wrong_code", "the body returned INVALID (-2): no path");
    victim_must_fail("faults.swallow_memory", "neither as before nor as after");
    victim_must_fail("faults.swallow_unseen", "the fault was swallowed: the body returned OK\n"
                                              "# while allocation 1 fails");
    victim_must_fail("faults.broken_without_faults",
                     "without any fault the body returned CONFLICT: cannot work at all");
    victim_must_fail("faults.nothing_to_fail", "the body met no fault");
    victim_must_fail("faults.never_ends", "still another fault after 300:");
}

TEST(fault, bugs_with_files_are_caught)
{
    victim_must_fail("faults.swallow_enospc", "neither as before nor as after");
    victim_must_fail("faults.swallow_enospc", "# after a fault in write ");
    victim_must_fail("faults.disk_full", "neither as before nor as after");
    victim_must_fail("faults.no_repeat", "the call should have been repeated");
    victim_must_fail("faults.no_repeat", "while write ");
    victim_must_fail("faults.short_write", "neither as before nor as after");
    victim_must_fail("faults.torn_in_place", "neither as before nor as after");
    victim_must_fail("faults.leak_file", "after IO a descriptor was not closed: ");
}

/* ---- the file calls themselves ---- */

static int open_new(const char *name)
{
    int fd = open(test_format("%s/%s", test_tmpdir(), name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK_MSG(fd >= 0, "open: %s", strerror(errno));
    return fd;
}

static void begin(unsigned kinds, long long nth, fault_how how, int error)
{
    fault_io_begin(&(fault_io_plan){
        .dir = test_tmpdir(), .kinds = kinds, .nth = nth, .how = how, .error = error});
}

TEST(fault_io, only_the_nth_call_of_its_kind_fails)
{
    int fd = open_new("file");

    begin(FAULT_WRITE, 2, FAULT_ERROR, ENOSPC);
    CHECK_INT(3, write(fd, "abc", 3));
    CHECK_INT(0, fsync(fd));
    errno = 0;
    CHECK_INT(-1, write(fd, "def", 3));
    CHECK_INT(ENOSPC, errno);
    CHECK_INT(3, pwrite(fd, "ghi", 3, 3));
    fault_io_end();
    CHECK_INT(3, fault_io_count(FAULT_WRITE));
    CHECK_INT(1, fault_io_count(FAULT_SYNC));
    CHECK_HAS(valise_str_of(fault_io_what()), "write /");
    CHECK_HAS(valise_str_of(fault_io_what()), "/file (call 2)");
    CHECK_STR(VLS_STR("abcghi"), test_read_file(test_format("%s/file", test_tmpdir())));
    close(fd);
}

TEST(fault_io, files_elsewhere_are_left_alone)
{
    const char *inside = test_format("%s/in", test_tmpdir());
    const char *beside = test_format("%s/in-beside", test_tmpdir());
    int out = open_new("outside"), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    CHECK_INT(0, mkdir(inside, 0700));
    fault_io_begin(&(fault_io_plan){
        .dir = inside, .kinds = FAULT_ALL, .nth = 1, .onward = true, .error = EIO});
    CHECK_INT(1, write(out, "x", 1));
    CHECK_INT(1, write(null, "x", 1));
    CHECK_INT(0, mkdir(beside, 0700));
    CHECK_INT(-1, rmdir(inside));
    CHECK_INT(-1, open(test_format("%s/../in/file", inside), O_CREAT | O_RDWR, 0600));
    CHECK_INT(EIO, errno);
    fault_io_end();
    CHECK_INT(2, fault_io_count(FAULT_ALL));
    close(out);
    close(null);
}

TEST(fault_io, relative_paths_and_directory_descriptors_are_followed)
{
    int dir = open(test_tmpdir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    begin(FAULT_OPEN | FAULT_MKDIR | FAULT_RENAME | FAULT_UNLINK, 0, FAULT_ERROR, EIO);
    CHECK_INT(0, mkdirat(dir, "sub", 0700));
    CHECK_INT(0, renameat(dir, "sub", dir, "sub2"));
    CHECK_INT(0, fchdir(dir));
    CHECK_INT(0, rename("sub2", "./sub3"));
    CHECK_INT(0, unlinkat(dir, "sub3", AT_REMOVEDIR));
    int fd = openat(dir, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0640);
    CHECK(fd >= 0);
    CHECK_INT(0, unlink("file"));
    fault_io_end();
    CHECK_INT(0, fchdir(here));
    CHECK_INT(1, fault_io_count(FAULT_MKDIR));
    CHECK_INT(2, fault_io_count(FAULT_RENAME));
    CHECK_INT(2, fault_io_count(FAULT_UNLINK));
    CHECK_INT(1, fault_io_count(FAULT_OPEN));
    close(fd);
    close(dir);
    close(here);
}

TEST(fault_io, short_and_torn_transfers)
{
    int fd = open_new("file");
    struct iovec iov[2] = {{(char[]){"abcd"}, 4}, {(char[]){"efgh"}, 4}};
    char buf[8];

    begin(FAULT_WRITE | FAULT_READ, 1, FAULT_SHORT, 0);
    CHECK_INT(4, write(fd, "abcdefgh", 8));
    CHECK_INT(4, write(fd, "efgh", 4));
    fault_io_end();
    begin(FAULT_READ, 1, FAULT_SHORT, 0);
    CHECK_INT(4, pread(fd, buf, 8, 0));
    CHECK_INT(8, pread(fd, buf, 8, 0));
    fault_io_end();
    CHECK_INT(0, ftruncate(fd, 0));
    begin(FAULT_WRITE, 1, FAULT_TORN, EIO);
    CHECK_INT(-1, pwrite(fd, "abcdefgh", 8, 0));
    CHECK_INT(EIO, errno);
    fault_io_end();
    CHECK_INT(4, lseek(fd, 0, SEEK_END));
    begin(FAULT_WRITE, 1, FAULT_SHORT, 0);
    CHECK_INT(4, pwritev(fd, iov, 2, 0));
    CHECK_INT(8, pwritev(fd, iov, 2, 0));
    fault_io_end();
    close(fd);
}

TEST(fault_io, a_full_disk_takes_what_fits)
{
    int fd = open_new("file");

    fault_io_begin(&(fault_io_plan){.dir = test_tmpdir(), .limited = true, .space_bytes = 5});
    CHECK_INT(3, write(fd, "abc", 3));
    CHECK_INT(2, write(fd, "def", 3));
    CHECK_INT(-1, write(fd, "f", 1));
    CHECK_INT(ENOSPC, errno);
    CHECK_INT(ENOSPC, posix_fallocate(fd, 0, 100));
    fault_io_end();
    close(fd);
}

TEST(fault_io, close_and_after_happen_all_the_same)
{
    int fd = open_new("file");
    const char *from = test_format("%s/file", test_tmpdir());
    const char *to = test_format("%s/other", test_tmpdir());

    begin(FAULT_CLOSE, 1, FAULT_ERROR, EIO);
    CHECK_INT(-1, close(fd));
    CHECK_INT(EIO, errno);
    fault_io_end();
    CHECK_INT(-1, fcntl(fd, F_GETFD));
    begin(FAULT_RENAME, 1, FAULT_AFTER, EIO);
    CHECK_INT(-1, rename(from, to));
    fault_io_end();
    CHECK_INT(0, access(to, F_OK));
}

TEST(fault_io, the_rest_of_the_calls_can_fail)
{
    int fd = open_new("file");
    struct stat st;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    begin(FAULT_STAT | FAULT_LOCK | FAULT_TRUNCATE | FAULT_OPEN, 1, FAULT_ERROR, EIO);
    CHECK_INT(-1, fstat(fd, &st));
    CHECK_INT(0, fstat(fd, &st));
    fault_io_end();
    fault_io_begin(&(fault_io_plan){
        .dir = test_tmpdir(), .kinds = FAULT_ALL, .nth = 1, .onward = true, .error = EIO});
    CHECK_INT(-1, fcntl(fd, F_SETLK, &lock));
    CHECK(fcntl(fd, F_GETFD) >= 0);
    CHECK_INT(-1, ftruncate(fd, 7));
    CHECK_INT(-1, access(test_tmpdir(), F_OK));
    CHECK_INT(-1, open(test_tmpdir(), O_RDONLY));
    CHECK_INT(-1, link("/nowhere", test_format("%s/x", test_tmpdir())));
    CHECK_INT(EIO, errno);
    fault_io_pause();
    CHECK_INT(0, ftruncate(fd, 7));
    fault_io_resume();
    CHECK_INT(-1, fdatasync(fd));
    fault_io_end();
    close(fd);
}

static void write_many(size_t index, void *arg)
{
    atomic_int *failed = arg;
    int fd = open_new(test_format("file-%zu", index));

    for (int i = 0; i < 100; i++)
        atomic_fetch_add(failed, write(fd, "x", 1) < 0);
    close(fd);
}

TEST(fault_io, one_call_of_all_threads_fails)
{
    atomic_int failed = 0;

    begin(FAULT_WRITE, 333, FAULT_ERROR, EIO);
    test_threads(8, write_many, &failed);
    fault_io_end();
    CHECK_INT(1, failed);
    CHECK_INT(800, fault_io_count(FAULT_WRITE));
}
