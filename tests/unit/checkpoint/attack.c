/* attack.c -- what could cost a user a byte: leftovers, damaged copies, disks and owners that
 * refuse, checkpoints that somebody made up. [C31] */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "checkpoint/kit.h"
#include "checkpoint/manifest.h"
#include "checkpoint/ops.h"
#include "harness/fault_io.h"

TEST_PARAMS(attack, "memory", "sqlite", "user")

static shed *fill(test *t)
{
    shed *s = shed_open(t);

    shed_write(s, "a", "one", 0644);
    shed_write(s, "b", "two", 0644);
    shed_link(s, "link", "b");
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    return s;
}

static const char *restore(shed *s, const char *members)
{
    return shed_run(s, "tree:restore", test_format("\"checkpoint\":\"one\"%s", members));
}

static const char *text_of(shed *s, const char *path)
{
    return test_format("%.*s", VALISE_STR_ARG(test_read_file(shed_path(s, path))));
}

/* ---- the stage ---- */

static const char *make_stage(shed *s)
{
    const char *stage = shed_path(s, ".valise/restore");

    (void)mkdir(shed_path(s, ".valise"), 0700);
    CHECK_INT(0, mkdir(stage, 0700));
    return stage;
}

/* What a restore has not made is not its to remove. */
TEST(attack, files_in_the_stage_that_are_not_its_own)
{
    shed *s = fill(t);
    const char *stage = make_stage(s), *seen;

    test_write_file(test_format("%s/notes", stage), VLS_STR("mine"));
    test_write_file(test_format("%s/swap-list", stage), VLS_STR("mine too"));
    shed_write(s, "a", "edit", 0644);
    (void)restore(s, "");
    seen = shed_text(stage);
    CHECK_MSG(strstr(seen, "notes 4 "), "%s", seen);
    CHECK_MSG(strstr(seen, "swap-list 8 "), "%s", seen);
}

/* Somebody put a directory in the place of a file, and the restore was killed just then. */
TEST(attack, a_directory_that_was_left)
{
    shed *s = fill(t);
    const char *stage = make_stage(s), *answer, *seen;

    CHECK_INT(0, mkdir(test_format("%s/swap-1", stage), 0755));
    test_write_file(test_format("%s/swap-1/in", stage), VLS_STR("precious"));
    shed_write(s, "a", "edit", 0644);
    shed_remove(s, "b");
    answer = restore(s, "");
    CHECK_MSG(strstr(answer, "/found-"), "%s", answer);
    seen = shed_text(stage);
    CHECK_MSG(strstr(seen, "/in 8 ") && !strstr(seen, "swap-"), "%s", seen);
    CHECK_TEXT("one", text_of(s, "a"));
    CHECK_TEXT("two", text_of(s, "b"));
}

/* A link that some checkpoint has goes; one that nobody knows is put aside. */
TEST(attack, links_that_were_left)
{
    shed *s = fill(t);
    const char *stage = make_stage(s), *seen;

    CHECK_INT(0, symlink("b", test_format("%s/swap-1", stage)));
    CHECK_INT(0, symlink("nobody/knows", test_format("%s/swap-2", stage)));
    shed_write(s, "a", "edit", 0644);
    CHECK(strstr(restore(s, ""), "/found-"));
    seen = shed_text(stage);
    CHECK_MSG(strstr(seen, " -> nobody/knows") && !strstr(seen, " -> b"), "%s", seen);
}

/* A tree can come with a link in the place of the folder that a stage is made in. */
TEST(attack, a_stage_is_not_behind_a_link)
{
    shed *s = fill(t);
    const char *outside = test_format("%s/outside", test_tmpdir()), *was;

    if (!s->memory)
        SKIP("the folder of the workspace is where the user has it");
    CHECK_INT(0, mkdir(outside, 0700));
    CHECK_INT(0, mkdir(test_format("%s/restore", outside), 0700));
    test_write_file(test_format("%s/restore/swap-1", outside), VLS_STR("one"));
    was = shed_text(outside);
    CHECK_INT(0, symlink(outside, shed_path(s, ".valise")));
    shed_write(s, "a", "edit", 0644);
    CHECK(shed_try(s, "tree:restore", "\"checkpoint\":\"one\"") < 0);
    CHECK_TEXT(was, shed_text(outside));
    CHECK_TEXT("edit", text_of(s, "a"));
}

/* ---- rows that cannot be ---- */

static void store(shed *s, const char *hash, valise_str bytes, int64_t size)
{
    test *t = s->t;
    vls_checkpoint_content content = {.data = {.bytes = bytes}, .size = size};
    vls_checkpoint_content *items[] = {&content};
    const vls_checkpoint_store_args args = {{items, 1}};
    const vls_run_more internal = {.internal = true};

    CHECK_OK(vls_id_parse(&content.hash, valise_str_of(hash), &t->err));
    CHECK_OK(vls_run(s->v, &vls_op_checkpoint_checkpoint_store, &args, NULL, NULL, NULL, &internal,
                     &t->err));
}

/* SHA-256 of "a". */
#define HASH_OF_A "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

/* The content of a leftover is stored, but no checkpoint has it: the next one that is removed takes
 * it along. */
TEST(attack, a_content_that_no_checkpoint_lists)
{
    shed *s = fill(t);
    const char *stage = make_stage(s), *seen;

    store(s, HASH_OF_A, VLS_STR("a"), 1);
    test_write_file(test_format("%s/swap-1", stage), VLS_STR("a"));
    test_write_file(test_format("%s/swap-2", stage), VLS_STR("one"));
    shed_write(s, "a", "edit", 0644);
    CHECK(strstr(restore(s, ""), "/found-"));
    seen = shed_text(stage);
    CHECK_MSG(strstr(seen, " 1 ") && !strstr(seen, " 3 "), "%s", seen);
}

/* A bundle can bring a row that says that a content is stored, with other bytes behind it; and
 * disks rot. What lies there is not overwritten on the word of such a row. */
TEST(attack, a_stored_copy_is_looked_at_before_its_file_goes)
{
    shed *s = fill(t);
    const char *answer;

    store(s, HASH_OF_A, VLS_STR("other bytes"), 1);
    shed_write(s, "a", "a", 0644);
    CHECK_RC(VALISE_E_CONFLICT, shed_try(s, "tree:restore", "\"checkpoint\":\"one\""));
    CHECK_MSG(strstr(t->err.message, "'a' would be overwritten and cannot be saved"), "%s",
              t->err.message);
    CHECK_TEXT("a", text_of(s, "a"));
    shed_write(s, "new", "a", 0644);
    CHECK_RC(
        VALISE_E_CONFLICT,
        shed_try(s, "tree:restore", "\"checkpoint\":\"one\",\"delete\":true,\"paths\":[\"\"]"));
    CHECK_TEXT("a", text_of(s, "new"));
    answer = restore(s, ",\"delete\":true,\"force\":true");
    CHECK_TEXT("one", text_of(s, "a"));
    answer = shed_run(s, "checkpoint:show",
                      test_format("\"checkpoint\":\"%s\"", shed_member(answer, "saved")));
    CHECK_MSG(strstr(answer, "damaged"), "%s", answer);
}

typedef struct listed {
    const char *path;
    int64_t size;
} listed;

static int make(shed *s, const listed *files, size_t count)
{
    VLS_AUTO(buf) vls_buf manifest = {0};
    vls_manifest_entry e = {.kind = VLS_MANIFEST_DIR, .mode = 0755, .path = VLS_STR("")};
    vls_checkpoint_make_args args = {.name = VLS_STR("made-up")};
    const vls_run_more internal = {.internal = true};

    vls_buf_init(&manifest, s->t->env, 65536);
    vls_manifest_begin(&manifest, false);
    vls_manifest_add(&manifest, &e);
    for (size_t i = 0; i < count; i++) {
        e = (vls_manifest_entry){.kind = VLS_MANIFEST_FILE,
                                 .path = valise_str_of(files[i].path),
                                 .mode = 0644,
                                 .size = files[i].size};
        CHECK_INT(0, vls_id_parse(&e.content, VLS_STR(HASH_OF_A), NULL));
        vls_manifest_add(&manifest, &e);
    }
    args.manifest.bytes = vls_buf_str(&manifest);
    args.tree.bytes[0] = args.root.bytes[0] = 1;
    return vls_run(s->v, &vls_op_checkpoint_checkpoint_make, &args, NULL, NULL, NULL, &internal,
                   &s->t->err);
}

/* Sizes that add up to more than there can be; and such as no content has. */
TEST(attack, sizes_that_are_made_up)
{
    static const listed most[] = {{"x", INT64_MAX}, {"y", INT64_MAX}}, one = {"x", 7};
    shed *s = fill(t);

    store(s, HASH_OF_A, VLS_STR("a"), INT64_MAX);
    CHECK_OK(make(s, most, 2));
    CHECK(shed_try(s, "tree:restore", "\"checkpoint\":\"made-up\"") < 0);
    (void)shed_run(s, "checkpoint:remove", "\"checkpoint\":\"made-up\"");
    store(s, HASH_OF_A, VLS_STR("a"), 1);
    CHECK_OK(make(s, &one, 1));
    CHECK_RC(VALISE_E_CORRUPT, shed_try(s, "tree:restore", "\"checkpoint\":\"made-up\""));
    CHECK(access(shed_path(s, "x"), F_OK) != 0);
}

/* Other bytes of the same size: nothing is put in the place of anything. */
TEST(attack, a_content_that_is_another_one) /* [K22 K36] */
{
    static const listed one = {"x", 1};
    shed *s = fill(t);

    store(s, HASH_OF_A, VLS_STR("b"), 1);
    CHECK_OK(make(s, &one, 1));
    CHECK_RC(VALISE_E_CORRUPT, shed_try(s, "tree:restore", "\"checkpoint\":\"made-up\""));
    CHECK_TEXT("what is stored for 'x' is not its content", t->err.message);
    CHECK(access(shed_path(s, "x"), F_OK) != 0);
    shed_write(s, "x", "as it was", 0644);
    CHECK_RC(VALISE_E_CORRUPT, shed_try(s, "tree:restore", "\"checkpoint\":\"made-up\""));
    CHECK_TEXT("as it was", text_of(s, "x"));
}

/* ---- who may not ---- */

static void own_by_root(const char *path, bool root)
{
    uid_t uid = geteuid();

    CHECK_INT(0, seteuid(0));
    CHECK_INT(0, chown(path, root ? 0 : 65534, root ? 0 : 65534));
    CHECK_INT(0, seteuid(uid));
}

/* What belongs to somebody else is told, and the rest is restored. */
TEST(attack, what_belongs_to_somebody_else)
{
    shed *s = shed_open(t);
    const char *answer;

    if (geteuid() == 0 || getuid() != 0)
        SKIP("needs a user, and root to take a directory away from them");
    shed_write(s, "a", "one", 0644);
    shed_write(s, "theirs/a", "one", 0644);
    shed_write(s, "theirs/gone", "one", 0644);
    shed_dir(s, "theirs/dir", 0755);
    shed_write(s, "theirs/mode", "one", 0600);
    shed_write(s, "z", "one", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a", "edit", 0644);
    shed_write(s, "theirs/a", "edit", 0644);
    shed_write(s, "theirs/new", "edit", 0644);
    shed_write(s, "theirs/mode", "one", 0644);
    shed_remove(s, "theirs/gone");
    shed_remove(s, "theirs/dir");
    shed_write(s, "z", "edit", 0644);
    CHECK_INT(0, chmod(shed_path(s, "theirs"), 0555));
    own_by_root(shed_path(s, "theirs"), true);
    own_by_root(shed_path(s, "theirs/mode"), true);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("one", text_of(s, "a"));
    CHECK_TEXT("one", text_of(s, "z"));
    CHECK_TEXT("edit", text_of(s, "theirs/a"));
    CHECK_TEXT("edit", text_of(s, "theirs/new"));
    /* a, new, gone, dir, mode; and the mode of the directory itself */
    CHECK_TEXT("6", shed_member(answer, "inTheWayCount"));
    own_by_root(shed_path(s, "theirs"), false);
    own_by_root(shed_path(s, "theirs/mode"), false);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("0", shed_member(answer, "inTheWayCount"));
    CHECK_TEXT("one", text_of(s, "theirs/gone"));
}

static unsigned mode_of(shed *s, const char *path)
{
    struct stat st;

    CHECK_INT(0, stat(shed_path(s, path), &st));
    return st.st_mode & 07777;
}

/* Also the bits that say whose new files are, and who may remove them. [C31] */
TEST(attack, directories_get_all_their_bits_again)
{
    shed *s = shed_open(t);

    shed_dir(s, "shared", 02775);
    shed_dir(s, "closed", 01755);
    shed_dir(s, "shared/sub", 0755);
    shed_write(s, "closed/a", "one", 0644);
    shed_write(s, "run", "one", 0755);
    CHECK_INT(0, chmod(shed_path(s, "run"), 06755));
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    CHECK_INT(0, chmod(shed_path(s, "shared"), 0777));
    shed_write(s, "closed/a", "edit", 0644);
    CHECK_INT(0, chmod(shed_path(s, "closed"), 0555));
    (void)restore(s, "");
    CHECK_INT(02775, mode_of(s, "shared"));
    CHECK_INT(01755, mode_of(s, "closed"));
    CHECK_INT(0755, mode_of(s, "shared/sub"));
    shed_remove(s, "shared/sub");
    shed_remove(s, "shared");
    shed_remove(s, "run");
    (void)restore(s, "");
    CHECK_INT(02775, mode_of(s, "shared"));
    CHECK_INT(0755, mode_of(s, "shared/sub"));
    CHECK_INT(0755, mode_of(s, "run")); /* as whom a program runs is not restored */
}

/* ---- disks ---- */

static void end_mount(void *arg)
{
    (void)umount2(shed_path(arg, "disk"), MNT_DETACH);
}

static void end_mount_as_root(void *arg)
{
    uid_t uid = geteuid();

    (void)seteuid(0);
    end_mount(arg);
    (void)seteuid(uid);
}

/* A folder of the tree that lies on another disk: nothing can be exchanged with the stage. */
TEST(attack, a_folder_on_another_disk)
{
    shed *s = shed_open(t);
    const char *before, *after, *answer;

    if (geteuid() != 0)
        SKIP("only root can mount");
    shed_dir(s, "disk", 0755);
    if (mount("none", shed_path(s, "disk"), "tmpfs", 0, "size=1m,mode=0755") < 0)
        SKIP("nothing can be mounted here");
    test_defer(end_mount, s);
    shed_write(s, "a", "one", 0644);
    shed_write(s, "disk/a", "one", 0644);
    shed_write(s, "disk/sub/gone", "one", 0600);
    shed_link(s, "disk/link", "a");
    shed_write(s, "disk/was/dir", "one", 0644);
    before = shed_text(s->dir);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a", "edit", 0644);
    shed_write(s, "disk/a", "edit", 0640);
    shed_write(s, "disk/new", "edit", 0644);
    shed_link(s, "disk/link", "elsewhere");
    shed_remove(s, "disk/sub");
    shed_remove(s, "disk/was");
    shed_write(s, "disk/was", "a file now", 0644);
    after = shed_text(s->dir);
    answer = restore(s, ",\"delete\":true");
    CHECK_TEXT("0", shed_member(answer, "inTheWayCount"));
    CHECK_TEXT(before, shed_text(s->dir));
    (void)shed_run(
        s, "tree:restore",
        test_format("\"checkpoint\":\"%s\",\"delete\":true", shed_member(answer, "saved")));
    CHECK_TEXT(after, shed_text(s->dir));
    CHECK(access(shed_path(s, "disk/.valise"), F_OK) != 0);
}

/* What may not be moved there is told once, for what it is. */
TEST(attack, what_belongs_to_somebody_else_on_another_disk)
{
    shed *s = shed_open(t);
    const char *answer;
    int mounted;

    if (geteuid() == 0 || getuid() != 0)
        SKIP("needs a user, and root to mount");
    shed_dir(s, "disk", 0755);
    CHECK_INT(0, seteuid(0));
    mounted = mount("none", shed_path(s, "disk"), "tmpfs", 0, "size=1m,mode=01777");
    CHECK_INT(0, seteuid(65534));
    if (mounted < 0)
        SKIP("nothing can be mounted here");
    test_defer(end_mount_as_root, s);
    shed_write(s, "disk/a", "one", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "disk/a", "edit", 0644);
    own_by_root(shed_path(s, "disk/a"), true);
    answer = restore(s, "");
    CHECK_TEXT("1", shed_member(answer, "inTheWayCount"));
    CHECK(strstr(answer, "it may not be changed"));
    CHECK_TEXT("edit", text_of(s, "disk/a"));
}

/* Behind the scan. */
static int fail_reads(void *arg, const valise_progress_state *state)
{
    if (strcmp(state->stage, "look") == 0)
        fault_io_begin(&(fault_io_plan){.dir = shed_path(arg, "bad"),
                                        .kinds = FAULT_READ,
                                        .nth = 1,
                                        .onward = true,
                                        .error = EIO});
    return 0;
}

/* A file with a bad sector: it is lacking, and the rest is kept. */
TEST(attack, a_file_that_cannot_be_read_to_its_end)
{
    shed *s = shed_open(t);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *answer;

    shed_write(s, "bad/a", "one", 0644);
    shed_write(s, "z", "two", 0644);
    call.progress = (valise_progress){fail_reads, s};
    CHECK_OK(valise_dispatch(&reply, s->v, "tree:checkpoint",
                             s->memory ? test_format("{\"name\":\"one\",\"dir\":\"%s\"}", s->dir)
                                       : "{\"name\":\"one\"}",
                             &call, &t->err));
    fault_io_end();
    answer = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK_TEXT("1", shed_member(answer, "files"));
    CHECK(strstr(answer, "\"reason\":\"it could not be read\""));
}

/* Paths in any order, one in another, one twice; names that are between a directory and what is in
 * it by their bytes. */
TEST(attack, many_paths)
{
    static const char *const names[] = {"a",     "a.c", "b/a",     "b/c/d", "b/c/e",
                                        "b/c.c", "b-a", "b/c/d.c", "z"};
    shed *s = shed_open(t);

    for (size_t i = 0; i < VLS_COUNT(names); i++)
        shed_write(s, names[i], "one", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        shed_write(s, names[i], "edit", 0644);
    shed_remove(s, "b/c");
    (void)restore(s, ",\"paths\":[\"z\",\"b/c/e\",\"a.c\",\"z\",\"b/c\",\"b/c.c\"]");
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        bool chosen = strncmp(names[i], "b/c", 3) == 0 || strcmp(names[i], "z") == 0 ||
                      strcmp(names[i], "a.c") == 0;
        CHECK_TEXT(chosen ? "one" : "edit", text_of(s, names[i]));
    }
    CHECK_RC(
        VALISE_E_NOT_FOUND,
        shed_try(s, "tree:restore", "\"checkpoint\":\"one\",\"paths\":[\"b/c\",\"b/c.\",\"z\"]"));
    CHECK_TEXT("'b/c.'", strstr(t->err.message, "'"));
}
