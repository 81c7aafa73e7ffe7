/* blob_file.c -- blobs as files: layout, damage, foreign files, failing disks, kill -9 and power
 * cuts. [K18] [W11] */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "blob_kit.h"

#include "harness/fault.h"
#include "harness/kill.h"

static mode_t mode_of(const char *path)
{
    struct stat st;

    CHECK_MSG(lstat(path, &st) == 0, "%s", path);
    return st.st_mode;
}

static const char *in_blobs(const char *name)
{
    return test_format("%s/blobs/%s", test_tmpdir(), name);
}

static const char *a_temporary(unsigned number)
{
    return in_blobs(test_format("tmp-%032x", number));
}

/* How many names there are in the folder itself that begin with tmp-. */
static size_t temporaries(const char *dir)
{
    DIR *d = opendir(test_format("%s/blobs", dir));
    size_t count = 0;

    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        count += strncmp(e->d_name, "tmp-", 4) == 0;
    (void)closedir(d);
    return count;
}

/* ---- layout ---- */

TEST(blob_file, is_at_its_place_and_for_its_owner_only)
{
    mode_t old = umask(0);
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, VLS_STR("abc"));
    (void)umask(old);
    CHECK_STR(VLS_STR("abc"),
              test_read_file(
                  in_blobs("ba/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")));
    CHECK_INT(S_IFREG | 0600, mode_of(path_of(test_tmpdir(), &id)));
    CHECK_INT(S_IFDIR | 0700, mode_of(in_blobs("ba")));
    CHECK_INT(S_IFDIR | 0700, mode_of(in_blobs("")));
    CHECK_INT(0, temporaries(test_tmpdir()));
    stop(&w);
    start(t, &w); /* and is found again */
    check_has(t, &w, &id, VLS_STR("abc"));
    stop(&w);
}

TEST(blob_file, open_says_what_is_wrong)
{
    const char *dir = test_tmpdir();
    world w;

    CHECK_RC(VALISE_E_NOT_FOUND, try_start(&w, t->env, "file", dir, 0, &t->err));
    CHECK_TEXT(
        test_format("cannot open the folder of blobs %s/blobs: No such file or directory", dir),
        t->err.message);
    CHECK_RC(VALISE_E_NOT_FOUND,
             try_start(&w, t->env, "file", dir,
                       VALISE_BLOB_STORE_CREATE | VALISE_BLOB_STORE_READ_ONLY, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, try_start(&w, t->env, "file", test_format("%s/no", dir),
                                           VALISE_BLOB_STORE_CREATE, &t->err));

    vls_blobs *blobs = NULL;
    vls_blobs_options options = {.env = t->env, .ops = valise_blob_store_file()};
    CHECK_RC(VALISE_E_INVALID, vls_blobs_open(&blobs, &options, &t->err));
    CHECK_TEXT("blobs in files need a folder", t->err.message);

    /* A link to a folder is not a folder of ours. */
    CHECK(mkdir(test_format("%s/elsewhere", dir), 0700) == 0);
    CHECK(symlink("elsewhere", test_format("%s/blobs", dir)) == 0);
    CHECK(try_start(&w, t->env, "file", dir, VALISE_BLOB_STORE_CREATE, &t->err) < 0);
    CHECK(!blobs);
}

/* ---- damage ---- */

static void expect_corrupt(test *t, world *w, const valise_id *id)
{
    valise_blob *blob = NULL;

    CHECK_RC(VALISE_E_CORRUPT, vls_blobs_get(&blob, w->blobs, id, SIZE_MAX, &t->err));
    CHECK(strstr(t->err.message, vls_id_hex(id).s));
    CHECK(!blob);
}

/* [W11] Also: to put the same bytes again is how a damaged blob is repaired. */
TEST(blob_file, damage_is_found_and_a_put_repairs_it)
{
    valise_str bytes = content(3000, 4);
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, bytes);
    const char *path = path_of(test_tmpdir(), &id);
    for (unsigned way = 0; way < 5; way++) {
        char *damaged = test_alloc(3001);
        memcpy(damaged, bytes.ptr, 3000);
        damaged[way == 0 ? 0 : 2999] ^= way < 2 ? 0x40 : 0;
        test_write_file(path, vls_str(damaged, way == 2   ? 2999
                                               : way == 3 ? 3001
                                               : way == 4 ? 0
                                                          : 3000));
        expect_corrupt(t, &w, &id);
        put_ok(t, &w, bytes);
        check_has(t, &w, &id, bytes);
    }
    stop(&w);
}

TEST(blob_file, an_empty_blob_is_verified_too)
{
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, VLS_STR("")), other = put_ok(t, &w, VLS_STR("x"));
    test_write_file(path_of(test_tmpdir(), &id), VLS_STR("x"));
    test_write_file(path_of(test_tmpdir(), &other), VLS_STR(""));
    expect_corrupt(t, &w, &id);
    expect_corrupt(t, &w, &other);
    stop(&w);
}

/* It shrinks while it is read. */
TEST(blob_file, a_file_that_ends_early)
{
    vls_blob_reader *reader = NULL;
    char room[1000];
    size_t len;
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, content(3000, 4));
    CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
    CHECK_OK(vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
    CHECK(truncate(path_of(test_tmpdir(), &id), 500) == 0);
    CHECK_RC(VALISE_E_CORRUPT, vls_blob_reader_read(&len, reader, room, sizeof(room), &t->err));
    CHECK_TEXT(test_format("blob %s is damaged: 2000 of 3000 bytes are missing", vls_id_hex(&id).s),
               t->err.message);
    vls_blob_reader_close(reader);
    stop(&w);
}

/* ---- what others put into the folder ---- */

/* A link, a folder, a pipe and a socket's kind under the name of a blob: neither followed, nor
 * waited for, nor listed. */
TEST(blob_file, what_is_no_file_is_no_blob)
{
    valise_id id = id_of(VLS_STR("abc"));
    const char *path = path_of(test_tmpdir(), &id), *outside;
    uint64_t size;
    world w;

    start(t, &w);
    put_ok(t, &w, VLS_STR("abc"));
    outside = test_format("%s/outside", test_tmpdir());
    test_write_file(outside, VLS_STR("abc"));
    for (unsigned way = 0; way < 3; way++) {
        test_remove(path);
        if (way == 0)
            CHECK(symlink(outside, path) == 0);
        else if (way == 1)
            CHECK(mkdir(path, 0700) == 0);
        else
            CHECK(mkfifo(path, 0600) == 0);
        expect_corrupt(t, &w, &id);
        CHECK_TEXT(test_format("blob %s is not a regular file", vls_id_hex(&id).s), t->err.message);
        CHECK_RC(VALISE_E_CORRUPT, vls_blobs_size(&size, w.blobs, &id, &t->err));
        CHECK_INT(0, count_blobs(t, &w));
    }
    test_remove(path);
    CHECK(symlink(outside, path) == 0);
    put_ok(t, &w, VLS_STR("abc")); /* replaces the link, not what it points to */
    CHECK_INT(S_IFREG | 0600, mode_of(path));
    test_remove(path);
    CHECK(symlink(outside, path) == 0);
    CHECK_OK(vls_blobs_remove(w.blobs, &id, &t->err));
    CHECK_STR(VLS_STR("abc"), test_read_file(outside));
    stop(&w);
}

TEST(blob_file, a_shelf_that_is_a_link_is_not_entered)
{
    const char *outside = test_format("%s/outside", test_tmpdir());
    valise_id id = id_of(VLS_STR("abc")), put;
    valise_blob *blob = NULL;
    world w;

    start(t, &w);
    CHECK(mkdir(outside, 0700) == 0);
    test_write_file(test_format("%s/%s", outside, vls_id_hex(&id).s), VLS_STR("abc"));
    CHECK(symlink(outside, in_blobs("ba")) == 0);
    CHECK(vls_blobs_get(&blob, w.blobs, &id, SIZE_MAX, &t->err) < 0);
    CHECK(vls_blobs_remove(w.blobs, &id, &t->err) < 0);
    CHECK(vls_blobs_list(w.blobs, NULL, NULL, &t->err) < 0); /* fn is not reached */
    test_remove(test_format("%s/%s", outside, vls_id_hex(&id).s));
    CHECK(vls_blobs_put_bytes(&put, w.blobs, VLS_STR("abc"), &t->err) < 0);
    CHECK(access(test_format("%s/%s", outside, vls_id_hex(&id).s), F_OK) != 0);
    CHECK_INT(0, temporaries(test_tmpdir()));
    stop(&w);
}

TEST(blob_file, foreign_names_are_left_alone)
{
    valise_id id = id_of(VLS_STR("abc"));
    const char *wrong_shelf = test_format("bb/%s", vls_id_hex(&id).s);
    const char *const names[] = {
        "notes.txt",
        "ba/notes.txt",
        "ba/BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        wrong_shelf,
        "tmp-",
        "tmp-0123",
        "tmp-0123456789abcdef0123456789abcdeg",
        "tmp-0123456789abcdef0123456789abcdef0"};
    uint64_t removed = 7;
    world w;

    start(t, &w);
    put_ok(t, &w, VLS_STR("abc"));
    CHECK(mkdir(in_blobs("bb"), 0700) == 0 && mkdir(in_blobs("zz"), 0700) == 0);
    CHECK(mkdir(a_temporary(1), 0700) == 0); /* not a file */
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        test_write_file(in_blobs(names[i]), VLS_STR("mine"));
    CHECK_INT(1, count_blobs(t, &w));
    CHECK_OK(vls_blobs_clean(&removed, w.blobs, -1000000000, &t->err));
    CHECK_INT(0, removed);
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        CHECK_STR(VLS_STR("mine"), test_read_file(in_blobs(names[i])));
    stop(&w);
}

typedef struct stray_list {
    unsigned temporary, foreign;
    const char *names;
    int result;
} stray_list;

static int add_stray(void *arg, const char *name, int temporary, valise_error *err)
{
    stray_list *list = arg;

    (void)err;
    list->temporary += temporary != 0;
    list->foreign += temporary == 0;
    list->names = test_format("%s%s|", list->names, name);
    return list->result;
}

/* [K22] Whatever is no blob is told, and nothing is done to it. */
TEST(blob_file, strays_are_told)
{
    valise_id id = id_of(VLS_STR("abc"));
    const char *const names[] = {"notes.txt", "ba/notes.txt",
                                 test_format("bb/%s", vls_id_hex(&id).s), "tmp-0123"};
    stray_list list = {.names = "|"};
    world w;

    start(t, &w);
    put_ok(t, &w, VLS_STR("abc"));
    CHECK(mkdir(in_blobs("bb"), 0700) == 0 && mkdir(in_blobs("zz"), 0700) == 0);
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        test_write_file(in_blobs(names[i]), VLS_STR("mine"));
    test_write_file(a_temporary(1), VLS_STR("half of a blo"));
    CHECK_OK(vls_blobs_strays(w.blobs, add_stray, &list, &t->err));
    CHECK_INT(1, list.temporary);
    CHECK_INT(VLS_COUNT(names) + 1, list.foreign); /* and zz */
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        CHECK(strstr(list.names, test_format("|%s|", names[i])));
    list = (stray_list){.names = "", .result = VALISE_E_CANCELLED};
    CHECK_RC(VALISE_E_CANCELLED, vls_blobs_strays(w.blobs, add_stray, &list, &t->err));
    stop(&w);
}

/* ---- what was left behind ---- */

TEST(blob_file, clean_removes_what_is_old)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    uint64_t removed = 7;
    world w;

    start(t, &w);
    valise_id id = put_ok(t, &w, VLS_STR("abc"));
    for (unsigned i = 0; i < 5; i++)
        test_write_file(a_temporary(i), VLS_STR("half of a blo"));
    CHECK(utimensat(AT_FDCWD, a_temporary(1), old, 0) == 0);
    CHECK(utimensat(AT_FDCWD, a_temporary(3), old, 0) == 0);
    CHECK_OK(vls_blobs_clean(&removed, w.blobs, INT64_C(3600) * 1000000000, &t->err));
    CHECK_INT(2, removed);
    CHECK_INT(3, temporaries(test_tmpdir()));
    CHECK(access(a_temporary(1), F_OK) != 0 && access(a_temporary(3), F_OK) != 0);
    CHECK_OK(vls_blobs_clean(&removed, w.blobs, -1000000000, &t->err));
    CHECK_INT(3, removed);
    check_has(t, &w, &id, VLS_STR("abc"));
    stop(&w);
}

/* ---- an environment that breaks down ---- */

static int no_random(void *self, void *bytes, size_t len)
{
    (void)self;
    (void)bytes;
    (void)len;
    return -1;
}

static int same_random(void *self, void *bytes, size_t len)
{
    (void)self;
    memset(bytes, 0, len);
    return 0;
}

TEST(blob_file, names_that_cannot_be_drawn)
{
    valise_env env = *t->env;
    valise_id id;
    world w;

    start(t, &w);
    stop(&w);
    env.random = no_random;
    CHECK_OK(try_start(&w, &env, "file", test_tmpdir(), 0, &t->err));
    CHECK_RC(VALISE_E_IO, vls_blobs_put_bytes(&id, w.blobs, VLS_STR("abc"), &t->err));
    CHECK_TEXT("the environment gives no random bytes for a file name", t->err.message);
    stop(&w);

    /* A name that is taken is not taken over, and there is an end to trying. */
    env.random = same_random;
    test_write_file(a_temporary(0), VLS_STR("another put"));
    CHECK_OK(try_start(&w, &env, "file", test_tmpdir(), 0, &t->err));
    CHECK_RC(VALISE_E_EXISTS, vls_blobs_put_bytes(&id, w.blobs, VLS_STR("abc"), &t->err));
    CHECK_STR(VLS_STR("another put"), test_read_file(a_temporary(0)));
    stop(&w);
}

/* ---- sizes ---- */

static int sparse_file(uint64_t size)
{
    const char *path = test_format("%s/sparse", test_tmpdir());
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    CHECK(pwrite(fd, "end", 3, (off_t)size - 3) == 3);
    return fd;
}

/* [K18] A 4 GiB file in constant memory; a smaller one unless there is time. */
TEST(blob_file, a_large_file_in_constant_memory)
{
    uint64_t size = test_is_long() ? UINT64_C(4) << 30 : UINT64_C(40) << 20, stored = 0, read = 0;
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    struct statvfs disk;
    struct rusage before, after;
    char *room = test_alloc(PIECE);
    size_t len = 1;
    valise_id id;
    world w;

    CHECK(statvfs(test_tmpdir(), &disk) == 0);
    if ((uint64_t)disk.f_bavail * disk.f_frsize < size + (size >> 2))
        SKIP("no room for %ju bytes in %s", (uintmax_t)size, test_tmpdir());
    start(t, &w);
    int fd = sparse_file(size);
    CHECK(getrusage(RUSAGE_SELF, &before) == 0);
    CHECK_OK(vls_blobs_put_fd(&id, &stored, w.blobs, fd, NO_LIMIT, &t->err));
    CHECK(stored == size);
    CHECK_OK(vls_blob_reader_open(&reader, w.blobs, &id, &t->err));
    while (len > 0) {
        CHECK_OK(vls_blob_reader_read(&len, reader, room, PIECE, &t->err));
        read += len;
    }
    CHECK(read == size);
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK_MSG(after.ru_maxrss - before.ru_maxrss < 8 << 10, "%ld KiB more",
              after.ru_maxrss - before.ru_maxrss);
    vls_blob_reader_close(VLS_TAKE(reader));
    CHECK_INT(0, close(fd));
    stop(&w);
}

/* ---- a failing disk ---- */

/* Put, get, remove and list; then look, with a disk that works again: an old blob that is not
 * touched is there, the new one whole or not at all, the one that is removed there or not. */
static int work_once(fault *f, void *arg)
{
    valise_str kept = content(2000, 1), fresh = content(PIECE + 100, 2), gone = content(500, 3);
    valise_id id, kept_id, gone_id, fresh_id = id_of(fresh);
    valise_blob *blob = NULL;
    bool exists;
    uint64_t removed;
    world w;
    int rc;

    (void)arg;
    fault_off(f);
    CHECK_INT(0, try_start(&w, f->env, "file", f->dir, VALISE_BLOB_STORE_CREATE, &f->err));
    CHECK_INT(0, vls_blobs_put_bytes(&kept_id, w.blobs, kept, &f->err));
    CHECK_INT(0, vls_blobs_put_bytes(&gone_id, w.blobs, gone, &f->err));
    stop(&w);
    fault_on(f);
    rc = try_start(&w, f->env, "file", f->dir, VALISE_BLOB_STORE_CREATE, &f->err);
    bool open = rc == 0;
    if (rc == 0)
        rc = vls_blobs_put_bytes(&id, w.blobs, fresh, &f->err);
    bool put = rc == 0;
    if (rc == 0)
        rc = vls_blobs_get(&blob, w.blobs, &fresh_id, SIZE_MAX, &f->err);
    if (rc == 0)
        rc = vls_blobs_remove(w.blobs, &gone_id, &f->err);
    if (rc == 0)
        rc = vls_blobs_exists(&exists, w.blobs, &kept_id, &f->err);
    if (rc == 0)
        rc = vls_blobs_clean(&removed, w.blobs, 0, &f->err);
    fault_off(f);
    CHECK(rc == 0 || f->err.message[0]);
    CHECK(!blob || vls_str_equal(fresh, valise_blob_bytes(blob)));
    (void)valise_blob_unref(blob);
    if (open)
        stop(&w);

    test *t = f->t;
    CHECK_OK(try_start(&w, f->env, "file", f->dir, 0, &t->err));
    check_has(t, &w, &kept_id, kept);
    CHECK_OK(vls_blobs_exists(&exists, w.blobs, &fresh_id, &t->err));
    CHECK(exists || !put);
    CHECK(count_blobs(t, &w) <= 3); /* and all that are listed are whole */
    CHECK_INT(0, temporaries(f->dir));
    put_ok(t, &w, fresh); /* the next one works */
    stop(&w);
    return rc;
}

TEST(blob_file, with_a_failing_disk)
{
    unsigned kinds = FAULT_ALL & ~(unsigned)FAULT_CLOSE;

    fault_each_io(t, kinds, EIO, work_once, NULL);
    fault_each_io(t, kinds, EACCES, work_once, NULL);
    fault_each_io(t, FAULT_OPEN, EMFILE, work_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = EIO},
                    work_once, NULL);
}

TEST(blob_file, with_a_disk_that_fails_when_it_was_done)
{
    fault_each_plan(
        t,
        &(fault_io_plan){.kinds = FAULT_WRITE | FAULT_SYNC | FAULT_RENAME | FAULT_UNLINK,
                         .how = FAULT_AFTER,
                         .error = EIO},
        work_once, NULL);
}

TEST(blob_file, interrupted_calls_are_made_again)
{
    fault_each_io(t, FAULT_ALL & ~(unsigned)FAULT_CLOSE, EINTR, work_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_READ | FAULT_WRITE, .how = FAULT_SHORT},
                    work_once, NULL);
}

static int close_once(fault *f, void *arg)
{
    int rc = work_once(f, arg);

    f->recovered = true; /* what matters was synced before */
    CHECK_INT(0, rc);
    return rc;
}

TEST(blob_file, a_close_that_fails_loses_nothing)
{
    fault_each_io(t, FAULT_CLOSE, EIO, close_once, NULL);
}

static int fill_once(fault *f, void *arg)
{
    int rc = work_once(f, arg);

    if (rc < 0) {
        CHECK_INT(VALISE_E_IO, rc);
        CHECK_MSG(strstr(f->err.message, "No space left on device"), "%s", f->err.message);
        CHECK_TEXT("make room on the disk and try again; nothing was changed", f->err.hint);
    }
    return rc;
}

TEST(blob_file, with_a_full_disk)
{
    fault_each_plan(t, &(fault_io_plan){.limited = true}, fill_once, NULL);
}

static int ignore(void *arg, const valise_id *id, uint64_t size_bytes, valise_error *err)
{
    (void)arg;
    (void)id;
    (void)size_bytes;
    (void)err;
    return 0;
}

/* A list is complete or fails: gc and validate must not take half of it for all. */
static int list_once(fault *f, void *arg)
{
    valise_id id;
    world w;

    (void)arg;
    fault_off(f);
    CHECK_INT(0, try_start(&w, f->env, "file", f->dir, VALISE_BLOB_STORE_CREATE, &f->err));
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(0, vls_blobs_put_bytes(&id, w.blobs, content(10, i), &f->err));
    test_write_file(test_format("%s/blobs/tmp-%032x", f->dir, 1), VLS_STR("old"));
    fault_on(f);
    int rc = vls_blobs_list(w.blobs, ignore, NULL, &f->err);
    if (rc == 0)
        rc = vls_blobs_clean(NULL, w.blobs, -1000000000, &f->err);
    if (rc == 0)
        rc = vls_blobs_strays(w.blobs, add_stray, &(stray_list){.names = ""}, &f->err);
    if (rc == 0) {
        int64_t time;
        rc = vls_blobs_time(&time, w.blobs, &id, &f->err);
        rc = rc < 0 ? rc : 0;
    }
    fault_off(f);
    stop(&w);
    return rc;
}

TEST(blob_file, lists_with_a_failing_disk)
{
    /* Of the names of 256 shelves the system is asked one by one. */
    unsigned kinds = FAULT_OPEN | FAULT_READ | FAULT_STAT | FAULT_UNLINK;

    CHECK(fault_each_io(t, kinds, EIO, list_once, NULL) > 256);
    fault_each_io(t, kinds, EINTR, list_once, NULL);
}

/* ---- kill -9 and power cuts ---- */

enum { KILL_BLOBS = 3 };

static valise_str kill_content(size_t i)
{
    return content(i * 700, 100 + i);
}

static void put_some(kill_run *run, void *arg)
{
    valise_id id;
    world w;

    (void)arg;
    CHECK_INT(
        0, try_start(&w, valise_env_default(), "file", run->dir, VALISE_BLOB_STORE_CREATE, NULL));
    for (size_t i = 0; i < KILL_BLOBS; i++) {
        CHECK_INT(0, vls_blobs_put_bytes(&id, w.blobs, kill_content(i), NULL));
        kill_ack(run, "put %zu", i);
    }
    CHECK_INT(0, vls_blobs_put_bytes(&id, w.blobs, kill_content(0), NULL)); /* once more */
    kill_ack(run, "again");
    valise_id gone = id_of(kill_content(1));
    CHECK_INT(0, vls_blobs_remove(w.blobs, &gone, NULL));
    kill_ack(run, "removed");
    stop(&w);
}

/* Whatever was acknowledged is there, whatever is there is whole, and what was left behind can be
 * cleaned up. */
static void nothing_half(test *t, const kill_run *run, void *arg)
{
    valise_id gone = id_of(kill_content(1));
    size_t put = VLS_MIN(run->acked, KILL_BLOBS);
    bool exists;
    world w;

    (void)arg;
    CHECK_OK(try_start(&w, t->env, "file", run->dir, VALISE_BLOB_STORE_CREATE, &t->err));
    for (size_t i = 0; i < put; i++) {
        valise_id id = id_of(kill_content(i));
        if (i != 1 || run->acked < KILL_BLOBS + 1)
            check_has(t, &w, &id, kill_content(i));
    }
    if (run->acked == KILL_BLOBS + 2) {
        CHECK_OK(vls_blobs_exists(&exists, w.blobs, &gone, &t->err));
        CHECK(!exists);
    }
    CHECK(count_blobs(t, &w) <= KILL_BLOBS);
    CHECK_OK(vls_blobs_clean(NULL, w.blobs, -1000000000, &t->err));
    CHECK_INT(0, temporaries(run->dir));
    stop(&w);
}

TEST(blob_file, survives_kill)
{
    long long points = kill_each_io(t, FAULT_CHANGES, put_some, nothing_half, NULL);

    CHECK(points > 20);
}

TEST(blob_file, survives_power_cuts)
{
    kill_each_power_cut(t, FAULT_CHANGES, put_some, nothing_half, NULL);
}
