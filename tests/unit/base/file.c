/* file.c -- whole files: there in one piece or not at all; paths; locked folders. */
#include "base/file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "harness/fault.h"

/* ---- paths ---- */

TEST(file, joins_paths)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *path = NULL;

    vls_arena_init(&arena, t->env, 4096);
    CHECK_OK(vls_path_join(&path, &arena, "/a", "b", &t->err));
    CHECK_TEXT("/a/b", path);
    CHECK_OK(vls_path_join(&path, &arena, "/", "b", &t->err));
    CHECK_TEXT("/b", path);
}

TEST(file, a_path_has_no_nul_byte)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *path = NULL;

    vls_arena_init(&arena, t->env, 4096);
    CHECK_OK(vls_path_text(&path, &arena, vls_str("/a/bc", 4), &t->err));
    CHECK_TEXT("/a/b", path);
    CHECK_OK(vls_path_text(&path, &arena, VLS_STR(""), &t->err));
    CHECK_TEXT("", path);
    CHECK_RC(VALISE_E_INVALID, vls_path_text(&path, &arena, vls_str("/a\0b", 4), &t->err));
    CHECK_TEXT("", path);
}

/* ---- written piece by piece ---- */

static const char *file_in(const char *dir)
{
    return test_format("%s/out", dir);
}

static int write_file(fault *f, void *arg)
{
    const bool *force = arg;
    const char *path = file_in(f->dir);
    valise_str before = VLS_STR("");
    vls_file_out out = {.fd = -1};
    struct stat st;
    int rc;

    fault_off(f);
    if (*force)
        test_write_file(path, before = VLS_STR("old"));
    fault_on(f);
    rc = vls_file_out_open(&out, f->env, path, *force, &f->err);
    if (rc == 0)
        rc = vls_file_out_write(&out, VLS_STR("new"), &f->err);
    if (rc == 0)
        rc = vls_file_out_commit(&out, &f->err);
    vls_file_out_abort(&out);
    fault_off(f);
    if (lstat(path, &st) == 0 && !(*force && st.st_size == 3 && rc < 0))
        CHECK_INT(0600, st.st_mode & 0777);
    fault_check_state(f, rc, before, VLS_STR("new"),
                      lstat(path, &st) == 0 ? test_read_file(path) : VLS_STR(""));
    return rc;
}

TEST(file, is_there_when_it_is_whole)
{
    bool force = false;

    for (int i = 0; i < 2; i++, force = true) {
        fault_each_io(t, FAULT_ALL & ~(FAULT_CLOSE | FAULT_UNLINK | FAULT_STAT), EIO, write_file,
                      &force);
        fault_each_io(t, FAULT_OPEN | FAULT_WRITE | FAULT_SYNC | FAULT_RENAME, EINTR, write_file,
                      &force);
        fault_each_plan(t, &(fault_io_plan){.limited = true}, write_file, &force);
    }
}

TEST(file, replaces_none_that_came_meanwhile)
{
    const char *path = file_in(test_tmpdir());
    vls_file_out out = {.fd = -1};

    CHECK_OK(vls_file_out_open(&out, t->env, path, false, &t->err));
    CHECK_OK(vls_file_out_write(&out, VLS_STR("new"), &t->err));
    test_write_file(path, VLS_STR("theirs"));
    CHECK_RC(VALISE_E_EXISTS, vls_file_out_commit(&out, &t->err));
    vls_file_out_abort(&out);
    CHECK(access(out.beside, F_OK) < 0);
    CHECK_STR(VLS_STR("theirs"), test_read_file(path));
    CHECK_RC(VALISE_E_EXISTS, vls_file_out_open(&out, t->env, path, false, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_file_out_open(&out, t->env, test_tmpdir(), true, &t->err));
    vls_file_out_abort(&out);
}

/* ---- folders ---- */

TEST(file, a_folder_is_locked_by_one)
{
    int fd = -1, other = -1;

    CHECK_OK(vls_folder_lock(&fd, t->env, test_tmpdir(), 0, &t->err));
    CHECK_RC(VALISE_E_BUSY, vls_folder_lock(&other, t->env, test_tmpdir(), 20000000, &t->err));
    CHECK_INT(0, close(fd));
    CHECK_OK(vls_folder_lock(&other, t->env, test_tmpdir(), 0, &t->err));
    CHECK_INT(0, close(other));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_folder_lock(&other, t->env, test_format("%s/none", test_tmpdir()), 0, &t->err));
}
