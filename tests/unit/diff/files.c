/* files.c -- the lines of files: checkpoint:diff, and tree:diff with patches. [C31] */
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "checkpoint/kit.h"
#include "harness/process.h"
#include "json/json.h"

TEST_PARAMS(files, "memory", "sqlite")

static const char *diff(shed *s, const char *members)
{
    return shed_run(s, "checkpoint:diff",
                    s->memory ? test_format("\"dir\":\"%s\",%s", s->dir, members) : members);
}

/* How often something was recorded. */
static int64_t seq_of(shed *s)
{
    valise_reply reply = VALISE_REPLY_INIT;
    test *t = s->t;
    int64_t seq;

    CHECK_OK(valise_dispatch(&reply, s->v, "checkpoint:list", "{}", NULL, &t->err));
    seq = reply.seq;
    valise_reply_release(&reply);
    return seq;
}

static valise_str text_of(vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    return value && value->type == VLS_JSON_STRING ? vls_json_str(*value) : VLS_STR("");
}

/* Of all rows: "change path; ", or their patches one behind the other. */
static const char *gather(shed *s, const char *json, bool patches)
{
    const char *out = "";
    test *t = s->t;
    vls_arena arena;
    vls_json all = {0}, items;

    vls_arena_init(&arena, t->env, (size_t)64 << 20);
    CHECK_OK(vls_json_parse(&all, &arena, valise_str_of(json), NULL, &t->err));
    items = *vls_json_get(all, VLS_STR("items"));
    for (uint32_t i = 0; i < items.len; i++) {
        vls_json row = items.items[i];
        if (patches)
            out = test_format("%s%.*s", out, VALISE_STR_ARG(text_of(row, "patch")));
        else
            out = test_format("%s%.*s %.*s; ", out, VALISE_STR_ARG(text_of(row, "change")),
                              VALISE_STR_ARG(text_of(row, "path")));
    }
    vls_arena_release(&arena);
    return out;
}

static const char *brief(shed *s, const char *members)
{
    return gather(s, diff(s, members), false);
}

#define ONE "\"checkpoint\":\"one\""

TEST(files, a_checkpoint_against_the_files_as_they_are)
{
    shed *s = shed_open(t);
    int64_t seq;

    shed_write(s, "a.c", "one\ntwo\n", 0644);
    shed_write(s, "run", "x", 0644);
    shed_write(s, "d/in", "deep\n", 0600);
    shed_write(s, "gone", "g\n", 0644);
    shed_write(s, "turned", "t\n", 0644);
    shed_link(s, "ln", "a.c");
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    seq = seq_of(s);
    CHECK_TEXT("", brief(s, ONE));

    shed_write(s, "a.c", "one\n2\n", 0644);
    shed_write(s, "run", "x", 0755);
    shed_write(s, "d/in", "deep\n", 0640);
    shed_remove(s, "gone");
    shed_remove(s, "turned");
    shed_link(s, "turned", "a.c");
    shed_link(s, "ln", "d/in");
    shed_write(s, "new", "n\n", 0600);
    CHECK_TEXT("changed a.c; mode d/in; removed gone; changed ln; added new; mode run; changed "
               "turned; ",
               brief(s, ONE));
    CHECK_TEXT("mode d/in; ", brief(s, ONE ",\"paths\":[\"d\"]"));
    CHECK_INT(seq, seq_of(s)); /* nothing was recorded */
    CHECK_TEXT(
        "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "diff --git a/d/in b/d/in\nold mode 100600\nnew mode 100640\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-g\n"
        "diff --git a/ln b/ln\nindex dfb253c..7ae9f79 120000\n--- a/ln\n+++ b/ln\n@@ -1 +1 "
        "@@\n-a.c\n"
        "\\ No newline at end of file\n+d/in\n\\ No newline at end of file\n"
        "diff --git a/new b/new\nnew file mode 100600\n--- /dev/null\n+++ b/new\n"
        "@@ -0,0 +1 @@\n+n\n"
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
        "diff --git a/turned b/turned\ndeleted file mode 100644\n--- a/turned\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-t\n"
        "diff --git a/turned b/turned\nnew file mode 120000\n--- /dev/null\n+++ b/turned\n"
        "@@ -0,0 +1 @@\n+a.c\n\\ No newline at end of file\n",
        gather(s, diff(s, ONE ",\"patch\":true"), true));
    shed_check(s);
}

TEST(files, a_checkpoint_against_another_one)
{
    shed *s = shed_open(t);
    const char *now;

    shed_write(s, "a", "1\n", 0644);
    shed_write(s, "b", "1\n", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a", "2\n", 0600);
    shed_remove(s, "b");
    shed_dir(s, "d", 0755);
    now = diff(s, ONE ",\"patch\":true");
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"two\"");
    CHECK_TEXT(now, diff(s, ONE ",\"other\":\"two\",\"patch\":true"));
    CHECK_TEXT("changed a; removed b; added d; ", brief(s, ONE ",\"other\":\"two\""));
    CHECK_TEXT("changed a; added b; removed d; ",
               brief(s, "\"checkpoint\":\"two\",\"other\":\"one\""));
    CHECK_TEXT("", brief(s, ONE ",\"other\":\"one\""));
    CHECK_RC(VALISE_E_NOT_FOUND,
             shed_try(s, "checkpoint:diff", "\"checkpoint\":\"x\",\"other\":\"y\""));
    CHECK_RC(VALISE_E_NOT_FOUND, shed_try(s, "checkpoint:diff", ONE ",\"other\":\"y\""));
    CHECK_RC(VALISE_E_INVALID,
             shed_try(s, "checkpoint:diff", ONE ",\"other\":\"two\",\"paths\":[\"../x\"]"));
    CHECK_RC(VALISE_E_INVALID, shed_try(s, "tree:checkpoint", "\"name\":\"diff\""));
}

/* What a restore was about to change says nothing of the rest. */
TEST(files, a_partial_one_speaks_of_what_it_has)
{
    shed *s = shed_open(t);
    const char *saved;

    shed_write(s, "a", "1\n", 0644);
    shed_write(s, "b", "1\n", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a", "2\n", 0644);
    shed_write(s, "other", "x\n", 0644);
    saved = shed_member(shed_run(s, "tree:restore", ONE), "saved");
    CHECK_TEXT("changed a; ", brief(s, test_format("\"checkpoint\":\"%s\"", saved)));
}

TEST(files, what_a_checkpoint_lacks_is_unknown)
{
    shed *s = shed_open(t);

    if (s->memory)
        SKIP("settings are of a folder");
    shed_write(s, ".valise/config", "[checkpoint]\n\tmax-file = 4\n", 0600);
    valise_close(s->v);
    s->v = NULL;
    s = shed_open_in(t, s->dir, false);
    shed_write(s, "large", "too large\n", 0644);
    shed_write(s, "small", "1\n", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    CHECK_TEXT("unknown large; ", brief(s, ONE));
}

/* ---- tree:diff ---- */

TEST(files, versions_have_the_lines_of_checkpoints_and_of_files_that_stayed)
{
    shed *s = shed_open(t);
    const char *json;

    shed_write(s, "a", "one\n", 0644);
    shed_write(s, "bin", "x", 0644);
    test_write_file(shed_path(s, "bin"), vls_str("a\0b", 3));
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a", "two\n", 0644);
    test_write_file(shed_path(s, "bin"), vls_str("a\0c", 3));
    (void)shed_run(s, "tree:scan", "");
    json = shed_run(s, "tree:diff", "\"patch\":true");
    CHECK_TEXT("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"
               "diff --git a/bin b/bin\nindex 156f8d6..c4610bb 100644\n"
               "Binary files a/bin and b/bin differ\n",
               gather(s, json, true));
    shed_write(s, "a", "six\n", 0644); /* as long as it was */
    json =
        shed_run(s, "tree:diff", "\"from\":\"one\",\"to\":\"v2\",\"patch\":true,\"paths\":[\"a\"]");
    CHECK_TEXT("no checkpoint has its bytes, and the file has changed since",
               shed_member(json, "unshown"));
    shed_remove(s, "a");
    json = shed_run(s, "tree:diff", "\"from\":\"one\",\"patch\":true,\"paths\":[\"a\"]");
    CHECK_TEXT("no checkpoint has its bytes", shed_member(json, "unshown"));
}

/* Names as git writes them, and text that is no UTF-8. */
TEST(files, names_and_bytes_of_all_kinds)
{
    shed *s = shed_open(t);
    const char *json;

    shed_write(s, "plain", "1\n", 0644);
    (void)shed_run(s, "tree:checkpoint", "\"name\":\"one\"");
    shed_write(s, "a b", "", 0644);
    shed_write(s, "tab\there", "1", 0644);
    json = diff(s, ONE ",\"patch\":true");
    CHECK_TEXT("diff --git a/a b b/a b\nnew file mode 100644\n"
               "diff --git \"a/tab\\there\" \"b/tab\\there\"\nnew file mode 100644\n"
               "--- /dev/null\n+++ \"b/tab\\there\"\n@@ -0,0 +1 @@\n+1\n"
               "\\ No newline at end of file\n",
               gather(s, json, true));
    shed_write(s, "plain", "\xff\n", 0644);
    json = diff(s, ONE ",\"patch\":true,\"paths\":[\"plain\"]");
    CHECK(strlen(shed_member(json, "patchData")) > 0);
    CHECK_TEXT("", shed_member(json, "patch"));
}

/* ---- a model: git applies what is written ---- */

static const char *random_text(test_rng *rng)
{
    const char *out = "";
    size_t lines = test_random_below(rng, 12);

    for (size_t i = 0; i < lines; i++)
        out = test_format("%sline %u%s", out, (unsigned)test_random_below(rng, 5),
                          i + 1 < lines || test_random_below(rng, 3) ? "\n" : "");
    return out;
}

static void change_files(shed *s, test_rng *rng)
{
    static const char *const names[] = {"a", "b c", "d/e", "d/f", "g\tt", "h/i/j", "h/k", "l\"q"};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        switch (test_random_below(rng, 5)) {
        case 0:
            shed_remove(s, names[i]);
            break;
        case 1:
            shed_write(s, names[i], "", 0644); /* its folders */
            shed_remove(s, names[i]);
            shed_link(s, names[i], test_random_below(rng, 2) ? "there" : "elsewhere");
            break;
        case 2:
            break;
        default:
            shed_remove(s, names[i]);
            shed_write(s, names[i], random_text(rng), test_random_below(rng, 3) ? 0644 : 0755);
        }
    }
    (void)rmdir(shed_path(s, "h/i"));
    (void)rmdir(shed_path(s, "h"));
    (void)rmdir(shed_path(s, "d"));
}

static void run(const char *const *argv, const char *dir)
{
    const process_options options = {.dir = dir};
    process_result r;

    process_run(&r, argv, &options);
    CHECK_MSG(r.exit_code == 0, "%s: %s %s", argv[0], process_describe(&r), r.out.ptr);
}

TEST(files, git_makes_the_new_files_of_the_old_ones)
{
    test_rng rng = test_rng_new(test_seed());
    shed *s = shed_open(t);
    const char *copy = test_format("%s/copy", test_tmpdir());
    const char *patch = test_format("%s/patch", test_tmpdir());

    for (int i = 0; i < 8; i++) {
        const char *name = test_format("c%d", i), *text;
        change_files(s, &rng);
        (void)shed_run(s, "tree:checkpoint", test_format("\"name\":\"%s\"", name));
        test_remove(copy);
        run((const char *[]){"cp", "-a", s->dir, copy, NULL}, NULL);
        test_remove(test_format("%s/.valise", copy));
        change_files(s, &rng);
        text = gather(s, diff(s, test_format("\"checkpoint\":\"%s\",\"patch\":true", name)), true);
        if (text[0]) {
            test_write_file(patch, valise_str_of(text));
            run((const char *[]){"git", "apply", "--whitespace=nowarn", patch, NULL}, copy);
        }
        CHECK_TEXT(shed_text(s->dir), shed_text(copy));

        /* The same by versions, now that they are scanned. */
        test_remove(copy);
        run((const char *[]){"mkdir", copy, NULL}, NULL);
        (void)shed_run(s, "tree:scan", "");
        text = gather(s,
                      shed_run(s, "tree:diff",
                               test_format("\"from\":\"%s\",\"patch\":true,\"nodes\":true", name)),
                      true);
        (void)shed_run(s, "tree:checkpoint", "\"name\":\"after\"");
        const char *after = shed_text(s->dir);
        (void)shed_run(s, "tree:restore",
                       test_format("\"checkpoint\":\"%s\",\"delete\":true", name));
        run((const char *[]){"cp", "-a", test_format("%s/.", s->dir), copy, NULL}, NULL);
        test_remove(test_format("%s/.valise", copy));
        if (text[0]) {
            test_write_file(patch, valise_str_of(text));
            run((const char *[]){"git", "apply", "--whitespace=nowarn", patch, NULL}, copy);
        }
        CHECK_TEXT(after, shed_text(copy));
        (void)shed_run(s, "checkpoint:remove", "\"checkpoint\":\"after\"");
    }
}
