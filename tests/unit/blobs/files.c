/* files.c -- files of blobs: large ones, damaged ones, a full disk. [W11] [K18] */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blobs/kit.h"
#include "blobs/large.h"
#include "harness/fault.h"

/* ---- damage ---- */

static void damage(const char *path, bool shorten)
{
    valise_str bytes = test_read_file(path);
    char *copy = test_alloc(bytes.len);

    CHECK(bytes.len > 10);
    memcpy(copy, bytes.ptr, bytes.len);
    copy[bytes.len / 2] ^= 1;
    CHECK_INT(0, chmod(path, 0600));
    test_write_file(path, vls_str(copy, shorten ? bytes.len - 5 : bytes.len));
}

static int read_all(test *t, valise *v, const valise_id *id)
{
    valise_blob_reader *reader = NULL;
    char room[1000];
    size_t len = 0;
    int rc;

    CHECK_OK(valise_blob_open(&reader, v, id, NULL, &t->err));
    do
        rc = valise_blob_read(&len, reader, room, sizeof(room), &t->err);
    while (rc == 0 && len > 0);
    valise_blob_close(reader);
    return rc;
}

/* A byte that was flipped, and a file that was cut: found on read, by every way, with the id; and
 * registering the same bytes again mends it. */
TEST(blob_files, an_altered_or_truncated_blob_is_found_on_read)
{
    valise *v = desk_open(t);
    const char *text = test_format("%05000d", 7);
    valise_id id = desk_register(t, v, text, NULL);
    const char *out = test_format("%s/out", test_tmpdir());
    const char *payload = test_format("{\"blob\":\"%s\"}", vls_id_hex(&id).s);

    for (int shorten = 0; shorten < 2; shorten++) {
        test_context("shorten %d", shorten);
        CHECK_INT(0, read_all(t, v, &id));
        damage(desk_file_of(desk_path(), &id), shorten == 1);
        CHECK_RC(VALISE_E_CORRUPT, read_all(t, v, &id));
        CHECK(strstr(t->err.message, vls_id_hex(&id).s));
        CHECK(strstr(t->err.hint, "register the same file again"));
        desk_fails(t, v, VALISE_E_CORRUPT, "blob:get", payload);
        CHECK(strstr(t->err.message, vls_id_hex(&id).s));
        desk_fails(t, v, VALISE_E_CORRUPT, "blob:get",
                   test_format("{\"blob\":\"%s\",\"output\":\"%s\"}", vls_id_hex(&id).s, out));
        CHECK(access(out, F_OK) != 0); /* it has its name when all was verified */
        desk_fails(t, v, VALISE_E_CORRUPT, "workspace:validate", NULL);
        (void)desk_register(t, v, text, NULL);
    }
    CHECK_INT(0, read_all(t, v, &id));
    desk_run(t, v, "blob:get",
             test_format("{\"blob\":\"%s\",\"output\":\"%s\"}", vls_id_hex(&id).s, out));
    CHECK_TEXT(text, test_read_file(out).ptr);
    desk_fails(t, v, VALISE_E_EXISTS, "blob:get",
               test_format("{\"blob\":\"%s\",\"output\":\"%s\"}", vls_id_hex(&id).s, out));
    desk_validate(t, v);
}

TEST(blob_files, a_row_whose_file_is_missing)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, "gone", NULL);
    valise_blob_reader *reader = NULL;

    CHECK_INT(0, unlink(desk_file_of(desk_path(), &id)));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_blob_open(&reader, v, &id, NULL, &t->err));
    desk_fails(t, v, VALISE_E_CORRUPT, "workspace:validate", NULL);
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err)); /* no file: nothing to purge */
    desk_validate(t, v);
}

/* ---- answers ---- */

TEST(blob_files, an_answer_holds_small_ones_only)
{
    valise *v = desk_open(t);
    valise_blob_registered told = VALISE_BLOB_REGISTERED_INIT;
    VLS_AUTO(large_file) int fd = large_file(((off_t)16 << 20) + 1);

    CHECK_OK(valise_blob_register_fd(&told, v, fd, NULL, NULL, &t->err));
    desk_fails(t, v, VALISE_E_TOO_LARGE, "blob:get",
               test_format("{\"blob\":\"%s\"}", vls_id_hex(&told.sha256).s));
    CHECK(strstr(t->err.hint, "--output"));
}

TEST(blob_files, bad_arguments)
{
    valise *v = desk_open(t);

    desk_fails(t, v, VALISE_E_INVALID, "blob:register", "{}");
    desk_fails(t, v, VALISE_E_INVALID, "blob:register", "{\"path\":\"a\",\"data\":\"aGE=\"}");
    desk_fails(t, v, VALISE_E_NOT_FOUND, "blob:register", "{\"path\":\"/no/where\"}");
    desk_fails(t, v, VALISE_E_INVALID, "blob:register", "{\"path\":\"/\"}");
    desk_fails(t, v, VALISE_E_INVALID, "blob:retain", "{\"blob\":\"12\"}");
    CHECK_RC(VALISE_E_INVALID,
             valise_blob_register_bytes(NULL, v, (valise_str){NULL, 9}, NULL, NULL, &t->err));
    CHECK_INT(0, (int)desk_count_files(t, v));
    /* An empty file is one as well. */
    CHECK(strstr(desk_run(t, v, "blob:register", "{\"data\":\"\"}"), "\"size\":0"));
    desk_validate(t, v);
}

/* ---- the disk ---- */

/* As before, or as after: never a row without its file, never half of one under its name. */
static int register_once(fault *f, void *arg)
{
    static const valise_extension *const extensions[] = {&desk_extension, NULL};
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;
    valise_id id;
    test here = *f->t;
    int rc;

    (void)arg;
    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_INT(0, valise_open(&v, f->dir, &o, &err));
    id = desk_hash(VLS_STR("some bytes"));
    fault_on(f);
    rc = valise_blob_register_bytes(NULL, v, VLS_STR("some bytes"), NULL, NULL, &f->err);
    fault_off(f);
    if (rc == 0) {
        CHECK(desk_has_file(&here, v, &id));
        f->recovered = true;
    }
    if (desk_count(&here, v, &id) > 0)
        CHECK(desk_has_file(&here, v, &id));
    fault_on(f);
    if (rc == 0)
        rc = desk_release(v, &id, NULL, NULL, &f->err);
    fault_off(f);
    if (desk_count(&here, v, &id) > 0)
        CHECK(desk_has_file(&here, v, &id));
    desk_validate(&here, v);
    (void)desk_run(&here, v, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(desk_has_file(&here, v, &id) == (desk_count(&here, v, &id) > 0));
    valise_close(v);
    fault_on(f);
    return VLS_MIN(rc, 0);
}

TEST(blob_files, every_allocation_fails)
{
    fault_each_alloc(t, 0, register_once, NULL);
}

TEST(blob_files, every_file_call_fails)
{
    fault_each_io(t, FAULT_CHANGES, EIO, register_once, NULL);
}

TEST(blob_files, a_full_disk)
{
    fault_each_plan(t, &(fault_io_plan){.limited = true}, register_once, NULL);
}

TEST(blob_files, a_full_disk_says_so_and_leaves_nothing)
{
    valise *v = desk_open(t);
    VLS_AUTO(large_file) int fd = large_file((off_t)4 << 20);

    fault_io_begin(&(fault_io_plan){.dir = desk_path(), .limited = true, .space_bytes = 1 << 20});
    CHECK_RC(VALISE_E_IO, valise_blob_register_fd(NULL, v, fd, NULL, NULL, &t->err));
    fault_io_end();
    CHECK(strstr(t->err.hint, "make room on the disk"));
    CHECK_INT(0, (int)desk_count_files(t, v));
    CHECK(strstr(desk_run(t, v, "workspace:gc", "{\"grace\":\"0s\"}"), "\"strays\":0"));
    CHECK(strstr(desk_run(t, v, "blob:list", NULL), "\"items\":[]"));
    CHECK_INT(0, (int)lseek(fd, 0, SEEK_SET));
    CHECK_OK(valise_blob_register_fd(NULL, v, fd, NULL, NULL, &t->err));
}

TEST(blob_files, read_only)
{
    static const valise_extension *const extensions[] = {&desk_extension, NULL};
    valise *v = desk_open(t), *reader = NULL;
    valise_options o = VALISE_OPTIONS_INIT;
    valise_id id = desk_register(t, v, "bytes", NULL);

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_READ_ONLY;
    o.extensions = extensions;
    CHECK_OK(valise_open(&reader, desk_path(), &o, &t->err));
    CHECK_INT(0, read_all(t, reader, &id));
    CHECK_RC(VALISE_E_DENIED,
             valise_blob_register_bytes(NULL, reader, VLS_STR("x"), NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_DENIED, desk_release(reader, &id, NULL, NULL, &t->err));
    CHECK_INT(1, (int)desk_count_files(t, v));
    valise_close(reader);
}

/* A reader that has it open reads to the end, though it is purged meanwhile. */
TEST(blob_files, who_reads_reads_on)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, "some bytes", NULL);
    valise_blob_reader *reader = NULL;
    char bytes[32];
    size_t len = 0;

    CHECK_OK(valise_blob_open(&reader, v, &id, NULL, &t->err));
    CHECK_INT(10, (int)valise_blob_size(reader));
    CHECK_OK(valise_blob_read(&len, reader, bytes, 4, &t->err));
    CHECK_INT(1, desk_release(v, &id, NULL, NULL, &t->err));
    CHECK(!desk_has_file(t, v, &id));
    CHECK_OK(valise_blob_read(&len, reader, bytes, sizeof(bytes), &t->err));
    CHECK_INT(6, (int)len);
    CHECK_OK(valise_blob_read(&len, reader, bytes, sizeof(bytes), &t->err));
    CHECK_INT(0, (int)len);
    valise_blob_close(reader);
}

/* ---- constant memory ---- */

/* After fork(), the descriptor of a reader belongs to two processes. */
TEST(blob_files, who_reads_in_a_child_takes_nothing_from_the_parent)
{
    valise *v = desk_open(t);
    valise_id id = desk_register(t, v, "hello", NULL);
    valise_blob_reader *reader = NULL;
    char room[8];
    size_t len = 0;
    pid_t child;

    CHECK_OK(valise_blob_open(&reader, v, &id, NULL, &t->err));
    child = fork();
    if (child == 0)
        _exit(valise_blob_read(&len, reader, room, sizeof(room), NULL) < 0);
    CHECK_INT(child, waitpid(child, NULL, 0));
    CHECK_OK(valise_blob_read(&len, reader, room, sizeof(room), &t->err));
    CHECK_STR(VLS_STR("hello"), vls_str(room, len));
    valise_blob_close(reader);
}

TEST(blob_files, a_large_file_takes_no_memory)
{
    large_check(t, (off_t)256 << 20);
}
