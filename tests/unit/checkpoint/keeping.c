/* keeping.c -- what lasts of checkpoints: gc, copies, erasure, damage, events. [C31] [K20] [K21] */
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "bus/bus.h"
#include "checkpoint/kit.h"
#include "checkpoint/manifest.h"
#include "checkpoint/ops.h"
#include "kit/replayed.h"

TEST_PARAMS(keeping, "memory", "sqlite")

#define SECRET "the secret words"

static shed *fill(test *t)
{
    shed *s = shed_open(t);

    shed_write(s, "a", "one", 0644);
    shed_write(s, "secret", SECRET, 0600);
    shed_write(s, "sub/b", "two", 0755);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"first\"");
    return s;
}

static int add_problem(void *arg, valise_str json, valise_error *err)
{
    const char **all = arg;

    (void)err;
    if (vls_str_find(json, VLS_STR("\"kind\":\"problem\"")) < json.len)
        *all = test_format("%s%.*s\n", *all, VALISE_STR_ARG(json));
    return 0;
}

/* What `validate` finds, one a line. */
static const char *problems(shed *s)
{
    valise_error err = VALISE_ERROR_INIT;
    const char *found = "";
    int rc = valise_stream(NULL, s->v, "workspace:validate", "{}", add_problem, &found, NULL, &err);

    CHECK_INT(found[0] ? VALISE_E_CORRUPT : 0, rc);
    return found;
}

static void gc(shed *s)
{
    (void)shed_run(s, "workspace:gc", "\"grace\":\"0s\"");
}

/* How many contents have rows. */
static int count(void *arg, valise_view *view, valise_error *err)
{
    vls_tree_content_row row = {.size = 0};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_tree_contents, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        ++*(int *)arg;
        rc = 0;
    }
    valise_scan_close(scan);
    return rc;
}

static int contents(shed *s)
{
    int found = 0;

    CHECK_INT(0, vls_with_view(s->v, NULL, count, &found, NULL));
    return found;
}

/* ---- gc ---- */

TEST(keeping, gc_takes_nothing_that_a_checkpoint_needs)
{
    shed *s = fill(t);
    const char *before = shed_text(s->dir);

    (void)shed_run(s, "retention:set", "\"kind\":\"log\",\"keepLatest\":1");
    gc(s);
    shed_remove(s, "a");
    shed_remove(s, "secret");
    shed_remove(s, "sub");
    gc(s);
    (void)shed_run(s, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_TEXT(before, shed_text(s->dir));
}

TEST(keeping, what_no_checkpoint_needs_goes)
{
    shed *s = fill(t);
    const char *answer;

    shed_write(s, "a", "another one", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"second\"");
    CHECK_INT(4, contents(s));
    answer = shed_run(s, "checkpoint:remove", "\"checkpoint\":\"first\"");
    CHECK_TEXT("first", shed_member(answer, "name"));
    CHECK_TEXT("1", shed_member(answer, "contents"));
    CHECK_TEXT("3", shed_member(answer, "bytes"));
    CHECK_INT(3, contents(s));
    gc(s);
    shed_remove(s, "a");
    (void)shed_run(s, "tree:restore", "\"checkpoint\":\"second\"");
    CHECK_STR(VLS_STR("another one"), test_read_file(shed_path(s, "a")));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "checkpoint:remove", "\"checkpoint\":\"first\""));
    (void)shed_run(s, "checkpoint:remove", "\"checkpoint\":\"second\"");
    CHECK_INT(0, contents(s));
    /* And can come again. */
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"first\"");
    CHECK_INT(3, contents(s));
    shed_check(s);
}

/* ---- copies ---- */

TEST(keeping, a_copy_can_restore)
{
    shed *s = fill(t), *copy;
    const char *file = test_format("%s/all.vb", test_tmpdir()), *before = shed_text(s->dir);

    shed_write(s, "large", "", 0644);
    CHECK_INT(0, truncate(shed_path(s, "large"), 17 << 20));
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"large\"");
    (void)shed_run(s, "workspace:export", test_format("\"file\":\"%s\"", file));
    copy = shed_open_in(t, test_format("%s/copy", test_tmpdir()), s->memory);
    (void)shed_run(copy, "workspace:import", test_format("\"file\":\"%s\"", file));
    (void)shed_run(copy, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_TEXT(before, shed_text(copy->dir));
    (void)shed_run(copy, "tree:restore", "\"checkpoint\":\"large\"");
    CHECK_TEXT(shed_text(s->dir), shed_text(copy->dir));
    shed_check(copy);
}

/* In a workspace with a tree of its own, checkpoints of another one stand beside. */
TEST(keeping, checkpoints_of_another_tree)
{
    shed *s = fill(t), *own;
    const char *file = test_format("%s/all.vb", test_tmpdir());

    (void)shed_run(s, "workspace:export", test_format("\"file\":\"%s\"", file));
    own = shed_open_in(t, test_format("%s/own", test_tmpdir()), s->memory);
    shed_write(own, "mine", "mine", 0644);
    (void)shed_run(own, "tree:checkpoint", "\"name\":\"own\"");
    (void)shed_run(own, "workspace:import", test_format("\"file\":\"%s\"", file));
    (void)shed_run(own, "tree:restore", "\"checkpoint\":\"first\",\"paths\":[\"sub\"]");
    CHECK_STR(VLS_STR("two"), test_read_file(shed_path(own, "sub/b")));
    (void)shed_run(own, "tree:checkpoint", "\"name\":\"first\""); /* a name of its own tree */
    shed_remove(own, "mine");
    (void)shed_run(own, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_STR(VLS_STR("mine"), test_read_file(shed_path(own, "mine")));
    shed_check(own);
}

/* A part that is one checkpoint has the contents that it lists, and no others. [K36] */
TEST(keeping, a_part_has_what_its_checkpoint_lists)
{
    shed *s = fill(t), *other;
    const char *file = test_format("%s/part.vb", test_tmpdir()), *before = shed_text(s->dir);
    const char *tree;

    shed_write(s, "later", "only in the second", 0644);
    shed_write(s, "large", "", 0644);
    CHECK_INT(0, truncate(shed_path(s, "large"), 17 << 20));
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"second\"");
    tree = shed_member(shed_run(s, "checkpoint:list", ""), "tree");
    (void)shed_run(s, "workspace:export",
                   test_format("\"file\":\"%s\",\"places\":[\"checkpoint/%s/first\"]", file, tree));
    other = shed_open_in(t, test_format("%s/other", test_tmpdir()), s->memory);
    (void)shed_run(other, "workspace:import", test_format("\"file\":\"%s\"", file));
    CHECK_INT(3, contents(other));
    CHECK_TEXT("", problems(other));
    (void)shed_run(other, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_TEXT(before, shed_text(other->dir));
    (void)shed_run(
        s, "workspace:export",
        test_format("\"file\":\"%s\",\"places\":[\"checkpoint/%s/second\"],\"force\":true", file,
                    tree));
    (void)shed_run(other, "workspace:import", test_format("\"file\":\"%s\"", file));
    (void)shed_run(other, "tree:restore", "\"checkpoint\":\"second\"");
    CHECK_TEXT(shed_text(s->dir), shed_text(other->dir));
    shed_check(other);
}

/* ---- erasure ---- */

static const char *secret_place(shed *s)
{
    const char *shown =
        shed_run(s, "checkpoint:show", "\"checkpoint\":\"first\",\"path\":\"secret\"");

    return test_format("tree_content/%s", shed_member(shown, "content"));
}

TEST(keeping, an_erased_content_leaves_all_checkpoints)
{
    shed *s = fill(t);
    const char *place = secret_place(s), *answer;

    (void)shed_run(s, "tree:checkpoint", "\"name\":\"second\"");
    answer = shed_run(s, "workspace:erase", test_format("\"place\":\"%s\"", place));
    CHECK(strstr(answer, place));
    for (int i = 0; i < 2; i++) {
        answer = shed_run(
            s, "checkpoint:show",
            test_format("\"checkpoint\":\"%s\",\"path\":\"secret\"", i ? "second" : "first"));
        CHECK_MSG(strstr(answer, "its content was erased"), "%s", answer);
    }
    /* What lies there stays; what does not cannot be brought back. */
    answer = shed_run(s, "tree:restore", "\"checkpoint\":\"first\",\"delete\":true");
    CHECK_TEXT("0", shed_member(answer, "lackingCount"));
    shed_write(s, "secret", "something else", 0600);
    answer = shed_run(s, "tree:restore", "\"checkpoint\":\"first\",\"delete\":true");
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK_STR(VLS_STR("something else"), test_read_file(shed_path(s, "secret")));
    shed_remove(s, "secret");
    answer = shed_run(s, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_TEXT("1", shed_member(answer, "lackingCount"));
    CHECK(access(shed_path(s, "secret"), F_OK) != 0);
    CHECK_TEXT("", problems(s));
    /* Who keeps the same bytes again has them again. */
    shed_write(s, "secret", SECRET, 0600);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"third\"");
    shed_remove(s, "secret");
    (void)shed_run(s, "tree:restore", "\"checkpoint\":\"first\"");
    CHECK_STR(VLS_STR(SECRET), test_read_file(shed_path(s, "secret")));
}

TEST(keeping, erased_bytes_are_in_no_file)
{
    shed *s;
    valise_str file;

    if (strcmp(t->param, "memory") == 0)
        SKIP("there are no files");
    s = fill(t);
    (void)shed_run(s, "workspace:erase", test_format("\"place\":\"%s\"", secret_place(s)));
    file = test_read_file(shed_path(s, ".valise/valise.db"));
    CHECK(vls_str_find(file, VLS_STR("valise manifest")) < file.len);
    CHECK(vls_str_find(file, VLS_STR(SECRET)) == file.len);
}

TEST(keeping, an_erased_checkpoint)
{
    shed *s = fill(t);
    const char *tree = shed_member(shed_run(s, "checkpoint:list", ""), "tree");

    (void)shed_run(s, "workspace:erase", test_format("\"place\":\"checkpoint/%s/first\"", tree));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "tree:restore", "\"checkpoint\":\"first\""));
    CHECK(strstr(t->err.message, "erased"));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "checkpoint:show", "\"checkpoint\":\"first\""));
    CHECK_TEXT("", problems(s));
    (void)shed_run(s, "checkpoint:remove", "\"checkpoint\":\"first\"");
    CHECK_INT(0, contents(s));
}

/* ---- damage ---- */

static int find_state(void *arg, valise_view *view, valise_error *err)
{
    return vls_checkpoint_state(arg, view, err);
}

/* A content that is needed is forgotten: nobody would do that. */
static void lose(shed *s, const char *hash)
{
    test *t = s->t;
    valise_id id;
    vls_checkpoint_forget_args args = {.hashes = {&id, 1}};
    const vls_run_more internal = {.internal = true};

    CHECK_OK(vls_id_parse(&id, valise_str_of(hash), &t->err));
    CHECK_OK(vls_with_view(s->v, NULL, find_state, &args.state, &t->err));
    CHECK_OK(vls_run(s->v, &vls_op_checkpoint_checkpoint_forget, &args, NULL, NULL, NULL, &internal,
                     &t->err));
    args.state.bytes[0] ^= 1; /* of other checkpoints */
    CHECK_RC(VALISE_E_CONFLICT, vls_run(s->v, &vls_op_checkpoint_checkpoint_forget, &args, NULL,
                                        NULL, NULL, &internal, &t->err));
}

TEST(keeping, validate_finds_a_content_that_is_missing)
{
    shed *s = fill(t);
    const char *shown = shed_run(s, "checkpoint:show", "\"checkpoint\":\"first\",\"path\":\"a\"");

    lose(s, shed_member(shown, "content"));
    CHECK_MSG(strstr(problems(s), "the content of 'a' is missing"), "%s", problems(s));
    /* A new checkpoint of the same file mends it. */
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"second\"");
    CHECK_TEXT("", problems(s));
}

/* Rows and manifests that cannot be, put by somebody who knows how. */
static void store(shed *s, const char *hash, const char *bytes)
{
    test *t = s->t;
    vls_checkpoint_content content = {.data = {.bytes = valise_str_of(bytes)}, .size = 3};
    vls_checkpoint_content *items[] = {&content};
    const vls_checkpoint_store_args args = {{items, 1}};
    const vls_run_more internal = {.internal = true};

    CHECK_OK(vls_id_parse(&content.hash, valise_str_of(hash), &t->err));
    CHECK_OK(vls_run(s->v, &vls_op_checkpoint_checkpoint_store, &args, NULL, NULL, NULL, &internal,
                     &t->err));
}

TEST(keeping, validate_finds_a_content_that_is_another)
{
    shed *s = fill(t);

    store(s, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", "not a");
    CHECK_MSG(strstr(problems(s), "its object does not match its hash"), "%s", problems(s));
}

static int make(shed *s, valise_str manifest)
{
    vls_checkpoint_make_args args = {.name = VLS_STR("x"), .manifest = {.bytes = manifest}};
    const vls_run_more internal = {.internal = true};

    args.tree.bytes[0] = args.root.bytes[0] = 1;
    return vls_run(s->v, &vls_op_checkpoint_checkpoint_make, &args, NULL, NULL, NULL, &internal,
                   &s->t->err);
}

/* A checkpoint is only as good as its contents: it is refused without them. */
TEST(keeping, a_manifest_without_its_contents_is_refused)
{
    shed *s = fill(t);
    VLS_AUTO(buf) vls_buf manifest = {0};
    vls_manifest_entry e = {.kind = VLS_MANIFEST_DIR, .mode = 0755, .path = VLS_STR("")};

    vls_buf_init(&manifest, t->env, 4096);
    vls_manifest_begin(&manifest, false);
    vls_manifest_add(&manifest, &e);
    e = (vls_manifest_entry){.kind = VLS_MANIFEST_FILE, .path = VLS_STR("f"), .size = 1};
    vls_manifest_add(&manifest, &e);
    CHECK_RC(VALISE_E_CONFLICT, make(s, vls_buf_str(&manifest)));
    CHECK_RC(VALISE_E_CORRUPT, make(s, VLS_STR("no manifest")));
    CHECK_TEXT("", problems(s));
}

/* ---- events ---- */

TEST(keeping, checkpoints_make_events) /* [K15] */
{
    shed *s = fill(t);
    const char *heard;

    (void)shed_run(s, "checkpoint:remove", "\"checkpoint\":\"first\"");
    heard = shed_run(s, "event:list", "\"types\":[\"checkpoint.made\",\"checkpoint.removed\"]");
    CHECK_MSG(strstr(heard, "\"type\":\"checkpoint.made\""), "%s", heard);
    CHECK_MSG(strstr(heard, "\"type\":\"checkpoint.removed\""), "%s", heard);
    CHECK_MSG(strstr(heard, "\"name\":\"first\""), "%s", heard);
    CHECK_MSG(!strstr(heard, "manifest\":\""), "%s", heard); /* what may be erased is not told */
}
