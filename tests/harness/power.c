/* power.c -- remembering what was synced.
 *
 * Beside the directory DIR stands DIR.safe, with one entry per inode that is safe on disk:
 *
 *     DIR.safe/123      the content of file 123 when it was last synced
 *     DIR.safe/123.d    the names in directory 123 when it was last synced, as lines
 *                       "f 456 name" (a file) or "d 789 name" (a directory)
 *
 * Entries are renamed into place, so that a process killed in the middle leaves a whole one. An
 * inode number may be used again by a new file: power_created() forgets what was known. */
#include "harness/power.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/internal.h"

#define SECTOR 512
#define MAX_DEPTH 16

static char root[PATH_MAX]; /* the directory that is recorded */

const char *power_loss_name(power_loss loss)
{
    static const char *const names[] = {"nothing unsynced is left", "names are kept, data is lost",
                                        "data is torn"};

    return names[loss];
}

/* Recording happens inside the calls of the tested code: no test_fail() here, and no memory. */
static void must(bool ok, const char *step)
{
    if (!ok) {
        fprintf(stderr, "power: %s: %s\n", step, strerror(errno));
        abort();
    }
}

static int copy_file(const char *to, int from)
{
    char bytes[8192];
    ssize_t got;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    must(fd >= 0, to);
    for (off_t at = 0; (got = pread(from, bytes, sizeof(bytes), at)) > 0; at += got)
        must(pwrite(fd, bytes, (size_t)got, at) == got, to);
    must(got == 0, "read");
    return close(fd);
}

static int write_names(const char *to, DIR *dir)
{
    FILE *file = fopen(to, "we");
    struct dirent *entry;
    struct stat st;

    must(file != NULL, to);
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))
            fprintf(file, "%c %ju %s\n", S_ISDIR(st.st_mode) ? 'd' : 'f', (uintmax_t)st.st_ino,
                    entry->d_name);
    }
    return fclose(file);
}

static void save(const char *opened)
{
    char part[PATH_MAX + 64], whole[PATH_MAX + 64];
    struct stat st;
    int fd = open(opened, O_RDONLY | O_CLOEXEC);

    must(fd >= 0 && fstat(fd, &st) == 0, opened);
    (void)snprintf(part, sizeof(part), "%s.safe/part-%ld", root, (long)syscall(SYS_gettid));
    (void)snprintf(whole, sizeof(whole), "%s.safe/%ju%s", root, (uintmax_t)st.st_ino,
                   S_ISDIR(st.st_mode) ? ".d" : "");
    if (S_ISDIR(st.st_mode)) {
        DIR *dir = fdopendir(fd);
        must(dir && write_names(part, dir) == 0, "list");
        (void)closedir(dir);
    } else {
        must(copy_file(part, fd) == 0, "copy");
        (void)close(fd);
    }
    must(rename(part, whole) == 0, whole);
}

void power_synced(int fd)
{
    char opened[64];

    (void)snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
    save(opened);
}

void power_created(int fd, const char *path)
{
    char known[PATH_MAX + 64];
    struct stat st;

    if (fstatat(fd, path ? path : "", &st, path ? 0 : AT_EMPTY_PATH) != 0)
        return;
    (void)snprintf(known, sizeof(known), "%s.safe/%ju%s", root, (uintmax_t)st.st_ino,
                   S_ISDIR(st.st_mode) ? ".d" : "");
    (void)unlink(known);
}

static void save_all(const char *path, int depth)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char below[PATH_MAX];

    must(dir != NULL && depth < MAX_DEPTH, path);
    while ((entry = readdir(dir))) {
        (void)snprintf(below, sizeof(below), "%s/%.255s", path, entry->d_name);
        if (entry->d_type == DT_REG)
            save(below);
        else if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
                 strcmp(entry->d_name, "..") != 0)
            save_all(below, depth + 1);
    }
    (void)closedir(dir);
    save(path);
}

void power_begin(const char *dir)
{
    char safe[PATH_MAX + 8];

    (void)snprintf(root, sizeof(root), "%s", dir);
    (void)snprintf(safe, sizeof(safe), "%s.safe", root);
    test_remove(safe);
    must(mkdir(safe, 0700) == 0, safe);
    save_all(root, 0);
}

/* ---- after the cut ---- */

/* One file: the safe content, or sectors of it and of what it was (-1: not there). */
static void restore_file(const char *to, int safe, int was, power_loss loss, test_rng *rng)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool tear = loss == POWER_TEAR;
    off_t at = 0;

    NEED(fd >= 0, "%s: %s", to, strerror(errno));
    for (bool more = true; more; at += SECTOR) {
        char old[SECTOR] = {0}, new[SECTOR] = {0};
        ssize_t olds = safe >= 0 ? pread(safe, old, SECTOR, at) : 0;
        ssize_t news = was >= 0 && tear ? pread(was, new, SECTOR, at) : 0;
        bool take_new = tear && test_random_below(rng, 2) == 1;
        ssize_t len = take_new ? news : olds;
        more = olds > 0 || news > 0;
        if (len > 0)
            NEED(pwrite(fd, take_new ? new : old, (size_t)len, at) == len, "%s", to);
    }
    (void)close(fd);
}

static void restore(const char *to, const char *names, const char *now, power_loss loss,
                    test_rng *rng, int depth);

static void restore_entry(const char *to, const char *safe_dir, const char *line, const char *now,
                          power_loss loss, test_rng *rng, int depth)
{
    uintmax_t inode;
    char type, name[256];

    NEED(sscanf(line, "%c %ju %255[^\n]", &type, &inode, name) == 3, "%s", line);
    const char *to_name = test_format("%s/%s", to, name);
    const char *now_name = test_format("%s/%s", now, name);
    const char *safe = test_format("%s/%ju%s", safe_dir, inode, type == 'd' ? ".d" : "");
    if (type == 'd') {
        restore(to_name, safe, now_name, loss, rng, depth + 1);
        return;
    }
    int old_fd = open(safe, O_RDONLY | O_CLOEXEC);
    int now_fd = open(now_name, O_RDONLY | O_CLOEXEC);
    restore_file(to_name, old_fd, now_fd, loss, rng);
    if (old_fd >= 0)
        (void)close(old_fd);
    if (now_fd >= 0)
        (void)close(now_fd);
}

/* names: the safe ones; now: the directory as it stands. */
static void restore(const char *to, const char *names, const char *now, power_loss loss,
                    test_rng *rng, int depth)
{
    const char *safe_dir = test_format("%.*s", (int)(strrchr(names, '/') - names), names);
    char line[512];

    NEED(depth < MAX_DEPTH && mkdir(to, 0700) == 0, "%s: %s", to, strerror(errno));
    if (loss != POWER_LOSE_ALL) {
        DIR *dir = opendir(now);
        names = test_format("%s.names", to);
        NEED(dir && write_names(names, dir) == 0, "%s: %s", now, strerror(errno));
        (void)closedir(dir);
    }
    FILE *file = fopen(names, "re");
    while (file && fgets(line, sizeof(line), file))
        restore_entry(to, safe_dir, line, now, loss, rng, depth);
    if (file)
        fclose(file);
    if (loss != POWER_LOSE_ALL)
        (void)unlink(names);
}

void power_cut(const char *dir, power_loss loss, test_rng *rng)
{
    const char *cut = test_format("%s.cut", dir);
    struct stat st;

    NEED(stat(dir, &st) == 0, "%s: %s", dir, strerror(errno));
    restore(cut, test_format("%s.safe/%ju.d", dir, (uintmax_t)st.st_ino), dir, loss, rng, 0);
    test_remove(dir);
    NEED(rename(cut, dir) == 0, "%s: %s", dir, strerror(errno));
}
