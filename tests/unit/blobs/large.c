/* large.c -- see large.h. [W11] [K18] */
#include "blobs/large.h"

#include <fcntl.h>
#include <unistd.h>

#include "blobs/kit.h"

#define MEMORY_MAX_KIB (64 * 1024)

int large_file(off_t size)
{
    const char *path = test_format("%s/large", test_tmpdir());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, ftruncate(fd, size));
    CHECK_INT(1, (int)pwrite(fd, "x", 1, size - 1));
    return fd;
}

void vls_auto_large_file(int *fd)
{
    (void)close(*fd);
}

/* The most memory that this process had at once, since it was forgotten last. */
static long peak_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    CHECK(f);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    (void)fclose(f);
    CHECK(kib > 0);
    return kib;
}

static void forget_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (!f)
        return; /* then the peak so far counts too, which is what is taken off */
    (void)fputs("5", f);
    (void)fclose(f);
}

void large_check(test *t, off_t size)
{
    valise *v = desk_open(t);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    VLS_AUTO(large_file) int fd = large_file(size);
    valise_blob_reader *reader = NULL;
    int64_t bytes = 0;
    char room[65536];
    size_t len = 0;
    long before;

    (void)desk_register(t, v, "warm", NULL);
    forget_peak();
    before = peak_kib();
    CHECK_OK(valise_blob_register_fd(&told, v, fd, NULL, NULL, &t->err));
    CHECK(told.bytes == size);
    CHECK_OK(valise_blob_open(&reader, v, &told.sha256, NULL, &t->err));
    do {
        CHECK_OK(valise_blob_read(&len, reader, room, sizeof(room), &t->err));
        bytes += (int64_t)len;
    } while (len > 0);
    valise_blob_close(reader);
    CHECK(bytes == size);
    CHECK_MSG(peak_kib() - before < MEMORY_MAX_KIB, "%ld KiB more", peak_kib() - before);
    CHECK_INT(1, desk_release(v, &told.sha256, NULL, NULL, &t->err));
}
