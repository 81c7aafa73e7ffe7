/* fd.c -- descriptors: interrupted calls, short transfers, and what close leaves of errno. */
#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include "harness/fault.h"

static int copy_once(fault *f, void *arg)
{
    const char *path = test_format("%s/file", f->dir);
    VLS_AUTO(fd) int fd = vls_fd_open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
    char room[100];
    size_t got = 0;
    ssize_t len = 1;

    (void)arg;
    if (fd < 0 || vls_fd_write_all(fd, VLS_STR("0123456789")) < 0 || vls_fd_sync(fd) < 0 ||
        lseek(fd, 0, SEEK_SET) != 0)
        return vls_fail_errno(&f->err, "cannot write", valise_str_of(path));
    while (len > 0) {
        len = vls_fd_read(fd, room + got, sizeof(room) - got);
        if (len < 0)
            return vls_fail_errno(&f->err, "cannot read", valise_str_of(path));
        got += (size_t)len;
    }
    CHECK_STR(VLS_STR("0123456789"), vls_str(room, got));
    return 0;
}

TEST(fd, goes_on_after_interruptions_and_short_transfers)
{
    unsigned kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_SYNC;

    CHECK_INT(5, fault_each_io(t, kinds, EINTR, copy_once, NULL)); /* with the read of the end */
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_READ | FAULT_WRITE, .how = FAULT_SHORT},
                    copy_once, NULL);
}

TEST(fd, passes_failures_on)
{
    unsigned kinds = FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_SYNC;

    fault_each_io(t, kinds, EIO, copy_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = EIO},
                    copy_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.limited = true}, copy_once, NULL);
}

TEST(fd, is_not_inherited)
{
    int fd = vls_fd_open_at(AT_FDCWD, "/dev/null", O_RDONLY, 0);

    CHECK(fd >= 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    errno = ENOSPC;
    CHECK_INT(-1, vls_fd_close(fd));
    CHECK(fcntl(fd, F_GETFD) < 0);
    errno = ENOSPC;
    CHECK_INT(-1, vls_fd_close(fd)); /* a close that fails */
    CHECK_INT(ENOSPC, errno);
    CHECK_INT(-1, vls_fd_close(-1));
    CHECK_INT(ENOSPC, errno);
}

static int list_once(fault *f, void *arg)
{
    struct dirent *entry;
    size_t count = 0;

    (void)arg;
    fault_off(f);
    test_write_file(test_format("%s/one", f->dir), VLS_STR("1"));
    test_write_file(test_format("%s/two", f->dir), VLS_STR("2"));
    DIR *folder = opendir(f->dir);
    CHECK(folder);
    fault_on(f);
    errno = EEXIST; /* of something before */
    while ((entry = vls_fd_next_entry(folder)))
        count += entry->d_name[0] != '.';
    int why = errno;
    fault_off(f);
    (void)closedir(folder);
    errno = why;
    if (why)
        return vls_fail_errno(&f->err, "cannot list", valise_str_of(f->dir));
    CHECK_INT(2, count);
    return 0;
}

TEST(fd, entries_end_or_fail)
{
    fault_each_io(t, FAULT_READ, EINTR, list_once, NULL);
    fault_each_io(t, FAULT_READ, EIO, list_once, NULL);
}
