/* open.c -- making, finding, opening and closing workspaces. [K26] [K34] [Q25] [L1] */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <valise/workspace.h>

#include "bus/registry_check.h"
#include "engine/engine.h"
#include "engine/trust.h"
#include "harness/fault.h"
#include "harness/process.h"
#include "harness/test.h"

static const char *path_of(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static void close_it(void *arg)
{
    valise_close(arg);
}

static valise_options options(test *t, unsigned flags)
{
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = t->env;
    o.flags = flags;
    o.user_config = path_of("user-config");
    return o;
}

static valise *open_it(test *t, const char *path, unsigned flags)
{
    valise_options o = options(t, flags);
    valise *v = NULL;

    CHECK_OK(valise_open(&v, path, &o, &t->err));
    return v;
}

static int pin(test *t, valise *v, const char *name)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    return valise_dispatch(NULL, v, "pin:add",
                           test_format("{\"name\":\"%s\",\"target\":\"1\"}", name), NULL, &t->err);
}

static bool has_pin(test *t, valise *v, const char *name)
{
    valise_reply reply = VALISE_REPLY_INIT;
    bool found;

    CHECK_OK(valise_dispatch(&reply, v, "pin:list", NULL, NULL, &t->err));
    found = strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json))),
                   test_format("\"name\":\"%s\"", name)) != NULL;
    valise_reply_release(&reply);
    return found;
}

/* ---- making ---- */

/* The folder is the owner's alone, and so is every file in it. [Q25] */
static void check_modes(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    CHECK(dir);
    while ((entry = readdir(dir))) {
        const char *path = test_format("%s/%s", folder, entry->d_name);
        struct stat st;
        if (strcmp(entry->d_name, "..") == 0)
            continue;
        CHECK_INT(0, lstat(path, &st));
        test_context("%s has mode %o", path, (unsigned)st.st_mode & 0777);
        CHECK_INT(S_ISDIR(st.st_mode) ? 0700 : 0600, st.st_mode & 0777);
        if (S_ISDIR(st.st_mode) && strcmp(entry->d_name, ".") != 0)
            check_modes(path);
    }
    CHECK_INT(0, closedir(dir));
}

/* ---- what is built in ---- */

/* No program checks them again when it starts. [L10] */
TEST(open, the_tables_that_are_built_in_are_right)
{
    vls_arena arena;
    size_t operations = 0, collections = 0;

    vls_arena_init(&arena, t->env, (size_t)64 << 20);
    for (size_t i = 0; vls_areas[i]; i++) {
        for (const valise_op *const *op = vls_areas[i]->operations; op && *op; op++, operations++)
            CHECK_OK(vls_op_check(*op, &arena, &t->err));
        for (const valise_coll *const *coll = vls_areas[i]->collections; coll && *coll;
             coll++, collections++)
            CHECK_OK(vls_coll_check(*coll, &t->err));
    }
    CHECK(operations > 100 && collections > 20);
    vls_arena_release(&arena);
}

TEST(open, makes_a_workspace_that_is_its_owners_alone) /* [Q25] */
{
    mode_t mask = umask(0); /* so that nothing is right by chance */
    valise *v = open_it(t, path_of("new"), VALISE_OPEN_CREATE);

    CHECK_OK(pin(t, v, "a"));
    check_modes(path_of("new/.valise"));
    CHECK_STR(VLS_STR("*\n"), test_read_file(path_of("new/.valise/.gitignore")));
    CHECK(access(path_of("new/.valise/config"), F_OK) == 0);
    valise_close(v);
    (void)umask(mask);

    v = open_it(t, path_of("new"), 0);
    test_defer(close_it, v);
    CHECK(has_pin(t, v, "a"));
}

TEST(open, making_it_again_changes_nothing)
{
    valise *v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);

    CHECK_OK(pin(t, v, "a"));
    valise_close(v);
    test_write_file(path_of(".valise/config"), VLS_STR("# mine\n"));
    v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE | VALISE_OPEN_ANYBODY);
    test_defer(close_it, v);
    CHECK(has_pin(t, v, "a"));
    CHECK_STR(VLS_STR("# mine\n"), test_read_file(path_of(".valise/config")));
    /* It was not open before, and is not now. */
    valise_call call = VALISE_CALL_INIT;
    call.actor = VLS_STR("new");
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, v, "pin:list", NULL, &call, &t->err));
}

TEST(open, says_how_to_make_one)
{
    valise_options o = options(t, 0);
    valise *v = NULL;

    CHECK_RC(VALISE_E_NOT_FOUND, valise_open(&v, test_tmpdir(), &o, &t->err));
    CHECK_TEXT(test_format("valise init %s", test_tmpdir()), t->err.hint);
    CHECK_RC(VALISE_E_NOT_FOUND, valise_open(&v, path_of("none"), &o, &t->err));
    o.flags = VALISE_OPEN_CREATE;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_open(&v, path_of("none/none"), &o, &t->err));
    CHECK(!v);
}

TEST(open, refuses_links_and_files_in_the_place_of_the_folder)
{
    valise_options o = options(t, VALISE_OPEN_CREATE);
    valise *v = NULL;

    CHECK_INT(0, mkdir(path_of("a"), 0700));
    CHECK_INT(0, mkdir(path_of("elsewhere"), 0700));
    CHECK_INT(0, symlink(path_of("elsewhere"), path_of("a/.valise")));
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, path_of("a"), &o, &t->err));
    CHECK(strstr(t->err.message, "symbolic link"));
    CHECK_INT(0, mkdir(path_of("b"), 0700));
    test_write_file(path_of("b/.valise"), VLS_STR("x"));
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, path_of("b"), &o, &t->err));
    test_write_file(path_of("c"), VLS_STR("x"));
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, path_of("c"), &o, &t->err));
}

/* What was interrupted while it was made is finished by the next open. */
TEST(open, finishes_what_was_half_made)
{
    valise *v;

    CHECK_INT(0, mkdir(path_of(".valise"), 0700));
    v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);
    test_defer(close_it, v);
    CHECK_OK(pin(t, v, "a"));
}

static int create_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    int rc;

    (void)arg;
    o.env = f->env;
    o.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    rc = valise_open(&v, f->dir, &o, &f->err);
    valise_close(v);
    fault_off(f);
    f->recovered = rc == 0; /* a close may fail to tidy up */

    /* Again, and it is whole. */
    valise_error err = VALISE_ERROR_INIT;
    v = NULL;
    CHECK_MSG(valise_open(&v, f->dir, &o, &err) == 0, "%s", err.message);
    CHECK_MSG(valise_dispatch(NULL, v, "pin:list", NULL, NULL, &err) == 0, "%s", err.message);
    valise_close(v);
    return rc;
}

TEST(open, making_one_on_a_failing_disk)
{
    fault_each_io(t, FAULT_MKDIR | FAULT_RENAME | FAULT_WRITE, EIO, create_once, NULL);
}

TEST(open, without_memory)
{
    fault_each_alloc(t, 0, create_once, NULL);
}

/* ---- finding ---- */

TEST(find, goes_up) /* [L1] */
{
    valise_blob *found = NULL;

    CHECK_INT(0, mkdir(path_of(".valise"), 0700));
    CHECK_INT(0, mkdir(path_of("a"), 0700));
    CHECK_INT(0, mkdir(path_of("a/b"), 0700));
    CHECK_OK(valise_find(&found, path_of("a/b"), &t->err));
    CHECK_STR(valise_str_of(test_tmpdir()), valise_blob_bytes(found));
    valise_blob_unref(found);
    found = NULL;
    CHECK_INT(0, mkdir(path_of("a/.valise"), 0700));
    CHECK_OK(valise_find(&found, path_of("a/b/../b"), &t->err));
    CHECK_STR(valise_str_of(path_of("a")), valise_blob_bytes(found));
    valise_blob_unref(found);
    found = NULL;
    CHECK_RC(VALISE_E_NOT_FOUND, valise_find(&found, path_of("none"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_find(&found, "/", &t->err));
    CHECK_TEXT("run 'valise init' to create one", t->err.hint);
    CHECK(!found);
}

TEST(find, a_file_or_link_of_that_name_is_no_workspace)
{
    valise_blob *found = NULL;

    CHECK_INT(0, mkdir(path_of(".valise"), 0700));
    CHECK_INT(0, mkdir(path_of("a"), 0700));
    CHECK_INT(0, mkdir(path_of("a/b"), 0700));
    test_write_file(path_of("a/b/.valise"), VLS_STR(""));
    CHECK_INT(0, symlink("..", path_of("a/.valise")));
    CHECK_OK(valise_find(&found, path_of("a/b"), &t->err));
    CHECK_STR(valise_str_of(test_tmpdir()), valise_blob_bytes(found));
    valise_blob_unref(found);
}

/* ---- handles ---- */

TEST(open, two_handles_on_one_workspace) /* [K26] */
{
    valise *a = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);
    valise *b = open_it(t, test_tmpdir(), 0);

    test_defer(close_it, a);
    test_defer(close_it, b);
    CHECK_OK(pin(t, a, "one"));
    CHECK(has_pin(t, b, "one"));
    CHECK_OK(pin(t, b, "two"));
    CHECK(has_pin(t, a, "two"));
}

TEST(open, two_workspaces_share_nothing) /* [K37] */
{
    valise *a = open_it(t, ":memory:", 0), *b = open_it(t, ":memory:", 0);

    test_defer(close_it, a);
    test_defer(close_it, b);
    CHECK_OK(pin(t, a, "one"));
    CHECK(!has_pin(t, b, "one"));
}

TEST(open, without_a_workspace_nothing_that_needs_one_runs)
{
    valise *v = open_it(t, NULL, 0);

    test_defer(close_it, v);
    CHECK(pin(t, v, "a") < 0);
    CHECK(valise_dispatch(NULL, v, "pin:list", NULL, NULL, &t->err) < 0);
    CHECK(vls_registry_op(vls_engine_of(v)->registry, VLS_STR("pin:add")));
    valise_close(NULL);
}

TEST(open, read_only)
{
    valise *v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);

    CHECK_OK(pin(t, v, "a"));
    valise_close(v);
    v = open_it(t, test_tmpdir(), VALISE_OPEN_READ_ONLY);
    test_defer(close_it, v);
    CHECK(has_pin(t, v, "a"));
    CHECK_RC(VALISE_E_DENIED, pin(t, v, "b"));
}

TEST(open, refuses_options_that_make_no_sense)
{
    valise *v = NULL;
    valise_options o = options(t, 1u << 20);

    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    o = options(t, VALISE_OPEN_READ_ONLY | VALISE_OPEN_CREATE);
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    o = options(t, 0);
    o.durability = 7;
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    o = options(t, 0);
    o.timeout_ns = -1;
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    o = options(t, 0);
    o.size = 8;
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_open(NULL, ":memory:", NULL, &t->err));
    CHECK(!v);
}

TEST(open, refuses_an_environment_that_lacks_something)
{
    valise *v = NULL;
    valise_options o = options(t, 0);
    valise_env env = *t->env;

    o.env = &env;
    env.size = 0;
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    env.size = sizeof(env);
    env.ticks_ns = NULL;
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, ":memory:", &o, &t->err));
    CHECK_TEXT("valise_env lacks a function: fill in all four, resize to random", t->err.message);
}

/* Members behind the size that a caller's older header had are not read. */
TEST(open, options_of_an_older_header)
{
    valise_options o = options(t, VALISE_OPEN_NO_USER_CONFIG);
    valise *v = NULL;

    o.size = offsetof(valise_options, store);
    o.store = (const void *)(uintptr_t)1;
    o.extensions = (const void *)(uintptr_t)1;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    valise_close(v);
}

TEST(open, durability_comes_from_the_workspace_unless_the_host_says)
{
    valise_options o = options(t, VALISE_OPEN_CREATE);
    valise *v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);

    CHECK_STR(VLS_STR("full"), vls_config_text(vls_engine_of(v)->config, "core.durability"));
    valise_close(v);
    test_write_file(path_of(".valise/config"), VLS_STR("[core]\n\tdurability = normal\n"));
    v = open_it(t, test_tmpdir(), 0);
    CHECK_STR(VLS_STR("normal"), vls_config_text(vls_engine_of(v)->config, "core.durability"));
    CHECK_OK(pin(t, v, "a"));
    valise_close(v);
    test_write_file(path_of(".valise/config"), VLS_STR("[core]\n\tdurability = never\n"));
    CHECK_RC(VALISE_E_INVALID, valise_open(&v, test_tmpdir(), &o, &t->err));
    CHECK(strstr(t->err.message, "config:2: core.durability is one of full normal"));
}

/* ---- middleware of the host ---- */

static int refuse(void *self, valise_pass *pass, valise_error *err)
{
    (void)pass;
    return vls_fail(err, VALISE_E_CONFLICT, "not today, says %s", (const char *)self);
}

TEST(open, middleware_of_the_host)
{
    char who[] = "the host";
    valise_middleware m = {sizeof(m), "guard", who, refuse, NULL};
    const valise_middleware *list[] = {&m, NULL};
    valise_options o = options(t, 0);
    valise *v = NULL;

    o.middleware = list;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    CHECK_RC(VALISE_E_CONFLICT, pin(t, v, "a"));
    CHECK_TEXT("not today, says the host", t->err.message);
}

/* ---- somebody else's ---- */

/* Whose the workspace is comes from the file system; root can give one away. */
TEST(open, somebody_elses_workspace_is_read_only_until_trusted) /* [K34] */
{
    valise *v;

    if (geteuid() != 0)
        SKIP("only root can give a file away");
    v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);
    CHECK_OK(pin(t, v, "a"));
    valise_close(v);
    CHECK_INT(0, chown(path_of(".valise"), 4711, (gid_t)-1));

    v = open_it(t, test_tmpdir(), 0);
    CHECK(vls_engine_of(v)->foreign);
    CHECK(has_pin(t, v, "a"));
    CHECK_RC(VALISE_E_DENIED, pin(t, v, "b"));
    CHECK_TEXT(test_format("it belongs to another user: valise trust %s", test_tmpdir()),
               t->err.hint);
    valise_close(v);

    CHECK_OK(vls_trust_add(t->env, path_of("user-config"), test_tmpdir(), &t->err));
    v = open_it(t, test_tmpdir(), 0);
    CHECK_OK(pin(t, v, "b"));
    valise_close(v);
    CHECK_INT(0, unlink(path_of(".valise/.gitignore")));
    v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE); /* nothing is put into it */
    CHECK(access(path_of(".valise/.gitignore"), F_OK) < 0);
    valise_close(v);
    v = open_it(t, test_tmpdir(), VALISE_OPEN_NO_USER_CONFIG); /* and so without that trust */
    CHECK_RC(VALISE_E_DENIED, pin(t, v, "c"));
    valise_close(v);

    CHECK_INT(0, chown(path_of(".valise"), 4712, (gid_t)-1)); /* that was not meant */
    v = open_it(t, test_tmpdir(), 0);
    CHECK_RC(VALISE_E_DENIED, pin(t, v, "c"));
    valise_close(v);
    CHECK_OK(vls_trust_remove(t->env, path_of("user-config"), test_tmpdir(), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_trust_remove(t->env, path_of("user-config"), test_tmpdir(), &t->err));
}

static int read_where_nothing_may_be_written(size_t index, void *arg)
{
    test *t = arg;
    valise *v;

    (void)index;
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    v = open_it(t, test_tmpdir(), 0);
    CHECK(has_pin(t, v, "a"));
    CHECK_RC(VALISE_E_DENIED, pin(t, v, "b"));
    CHECK(strstr(t->err.message, "reading only"));
    CHECK(strstr(t->err.hint, "see who may write in"));
    valise_close(v);
    return 0;
}

/* A disk that is mounted read-only, a folder somebody took the rights from: what is there can be
 * read without being asked for in a special way. [K34] */
TEST(open, where_nothing_may_be_written_there_is_still_reading)
{
    static const char *const files[] = {
        "valise.db", "valise.db-wal", "valise.db-shm", "config", "blobs", ".gitignore", ""};
    valise *v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);

    CHECK_OK(pin(t, v, "a"));
    valise_close(v);
    CHECK_INT(0, chmod(test_tmpdir(), 0755));
    for (size_t i = 0; i < VLS_COUNT(files); i++) {
        const char *path = path_of(test_format(".valise/%s", files[i]));
        CHECK(geteuid() != 0 || chown(path, 65534, 65534) == 0);
        CHECK_INT(0, chmod(path, 0555));
    }
    process_all(NULL, 1, read_where_nothing_may_be_written, t);
    CHECK_INT(0, chmod(path_of(".valise"), 0755));
    CHECK_INT(0, chmod(path_of(".valise/blobs"), 0755));
}

static int make_one(size_t index, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise *v = NULL;

    o.flags = VALISE_OPEN_CREATE | VALISE_OPEN_NO_USER_CONFIG;
    CHECK_MSG(valise_open(&v, arg, &o, &err) == 0, "%s", err.message);
    CHECK_MSG(valise_dispatch(NULL, v, "pin:add",
                              test_format("{\"name\":\"p%zu\",\"target\":\"1\"}", index), NULL,
                              &err) == 0,
              "%s", err.message);
    valise_close(v);
    return 0;
}

/* Several processes make the same workspace at once: one makes it, all use it. */
TEST(open, made_by_many_at_once)
{
    valise *v;

    process_all(NULL, 4, make_one, (void *)(uintptr_t)test_tmpdir());
    v = open_it(t, test_tmpdir(), 0);
    test_defer(close_it, v);
    for (int i = 0; i < 4; i++)
        CHECK(has_pin(t, v, test_format("p%d", i)));
}

/* ---- extensions of the host ---- */

typedef struct thing {
    valise_str name;
} thing;

static const valise_field thing_fields[] = {
    VALISE_FIELD(thing, name, STR, VALISE_KEY, "Its name."),
    VALISE_FIELD_END,
};
/* As if made with an older header: nothing behind `indexes` is there. */
static const valise_coll things = {
    .size = offsetof(valise_coll, check),
    .name = "host.thing",
    .help = "A thing.",
    .fields = thing_fields,
    .row_size = sizeof(thing),
};

static int add_thing(valise_view *view, const void *args, void *result, valise_error *err)
{
    thing row = *(const thing *)args;
    int rc = valise_view_get(&row, view, &things, err);

    (void)result;
    if (rc > 0)
        return vls_fail(err, VALISE_E_EXISTS, "there is one");
    return rc < 0 ? rc : valise_view_put(view, &things, &row, err);
}

TEST(open, an_extension_of_an_older_header) /* [K13] */
{
    static const valise_field in[] = {
        VALISE_FIELD(thing, name, STR, VALISE_REQUIRED, "Its name."),
        VALISE_FIELD_END,
    };
    static const valise_op op = {.size = sizeof(op),
                                 .name = "thing:add",
                                 .brief = "Add a thing.",
                                 .kind = VALISE_COMMAND,
                                 .needs = "thing:write",
                                 .in = in,
                                 .in_size = sizeof(thing),
                                 .decide = add_thing,
                                 .example = "{\"name\":\"a\"}"};
    static const valise_op *const ops[] = {&op, NULL};
    static const valise_coll *const colls[] = {&things, NULL};
    static const valise_extension package = {
        sizeof(package), VALISE_EXTENSION_ABI, "host", "1", colls, ops};
    static const valise_extension *const list[] = {&package, NULL};
    valise_options o = options(t, 0);
    valise *v = NULL;

    o.extensions = list;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    CHECK_OK(valise_dispatch(NULL, v, "thing:add", "{\"name\":\"a\"}", NULL, &t->err));
    CHECK_RC(VALISE_E_EXISTS,
             valise_dispatch(NULL, v, "thing:add", "{\"name\":\"a\"}", NULL, &t->err));
}

/* What only shows while an operation runs is asked for then. [K23] */
static int look_at(valise_view *view, const void *args, void *result, valise_error *err)
{
    const thing *a = args;
    const char *const attrs[] = {"path", test_format("%.*s", VALISE_STR_ARG(a->name)), NULL};

    (void)result;
    return valise_view_allows(view, "secret:read", attrs, err);
}

static int write_at(valise_view *view, const void *args, void *result, valise_error *err)
{
    return look_at(view, args, result, err);
}

TEST(open, operations_ask_for_more_while_they_run)
{
    static const valise_op look = {.size = sizeof(look),
                                   .name = "thing:look",
                                   .brief = "Look.",
                                   .kind = VALISE_QUERY,
                                   .needs = "thing:read",
                                   .in = thing_fields,
                                   .in_size = sizeof(thing),
                                   .query = look_at,
                                   .example = "{\"name\":\"a\"}"};
    static const valise_op write = {.size = sizeof(write),
                                    .name = "thing:write",
                                    .brief = "Write.",
                                    .kind = VALISE_COMMAND,
                                    .needs = "thing:read",
                                    .in = thing_fields,
                                    .in_size = sizeof(thing),
                                    .decide = write_at,
                                    .example = "{\"name\":\"a\"}"};
    static const valise_op *const ops[] = {&look, &write, NULL};
    static const valise_extension package = {
        sizeof(package), VALISE_EXTENSION_ABI, "host", "1", NULL, ops};
    static const valise_extension *const list[] = {&package, NULL};
    static const char *const types[] = {"thing:look", "thing:write"};
    valise_options o = options(t, 0);
    valise_call call = VALISE_CALL_INIT;
    valise *v = NULL;

    o.extensions = list;
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    test_defer(close_it, v);
    CHECK_OK(valise_dispatch(NULL, v, "agent:add",
                             "{\"id\":\"a\",\"capabilities\":[\"thing:read\",\"secret:read "
                             "path=mine/*\"]}",
                             NULL, &t->err));
    call.actor = VLS_STR("a");
    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        CHECK_OK(valise_dispatch(NULL, v, types[i], "{\"name\":\"mine/x\"}", &call, &t->err));
        CHECK_RC(VALISE_E_DENIED,
                 valise_dispatch(NULL, v, types[i], "{\"name\":\"yours/x\"}", &call, &t->err));
        CHECK(strstr(t->err.message, "secret:read, which a has only with path=mine/*"));
    }
}

TEST(open, the_users_configuration_is_found) /* [L9] */
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    valise_options o = options(t, 0);
    valise *v = NULL;

    CHECK_INT(0, mkdir(path_of("valise"), 0700));
    test_write_file(path_of("valise/config"), VLS_STR("[core]\n\ttimeout = 3s\n"));
    o.user_config = NULL;
    CHECK_INT(0, setenv("XDG_CONFIG_HOME", test_tmpdir(), 1));
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    CHECK_INT(3000000000, vls_config_duration_ns(vls_engine_of(v)->config, "core.timeout"));
    valise_close(v);
    /* Who has no home has no configuration, and that is fine. */
    CHECK_INT(0, unsetenv("XDG_CONFIG_HOME"));
    CHECK_INT(0, unsetenv("HOME"));
    CHECK_OK(valise_open(&v, ":memory:", &o, &t->err));
    CHECK_INT(10000000000, vls_config_duration_ns(vls_engine_of(v)->config, "core.timeout"));
    valise_close(v);
    if (home)
        (void)setenv("HOME", home, 1);
    if (xdg)
        (void)setenv("XDG_CONFIG_HOME", xdg, 1);
}

/* A workspace may stay open for days: what is trusted is what the user says now. [K34] */
TEST(open, trust_that_is_taken_back_is_gone_at_once)
{
    const char *user = path_of("user-config"), *program = path_of("program");
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    VLS_AUTO(buf) vls_buf path = {0};
    valise *v;

    test_write_file(program, VLS_STR("#!/bin/sh\n"));
    CHECK_OK(vls_sealed_open(&sealed, program, &t->err));
    vls_buf_init(&path, t->env, 4096);
    v = open_it(t, test_tmpdir(), VALISE_OPEN_CREATE);
    test_defer(close_it, v);
    CHECK_RC(VALISE_E_DENIED, v->place.may_run(v, program, &sealed.id, &t->err));
    CHECK_INT(0, v->place.trusted(&path, v, &sealed.id, 0, &t->err));
    CHECK_OK(vls_trust_add(t->env, user, program, &t->err));
    CHECK_OK(v->place.may_run(v, program, &sealed.id, &t->err));
    CHECK_INT(1, v->place.trusted(&path, v, &sealed.id, 0, &t->err));
    CHECK_STR(valise_str_of(program), vls_buf_str(&path));
    CHECK_OK(vls_trust_remove(t->env, user, program, &t->err));
    CHECK_RC(VALISE_E_DENIED, v->place.may_run(v, program, &sealed.id, &t->err));
    CHECK_INT(0, v->place.trusted(&path, v, &sealed.id, 0, &t->err));
}

static int trust_once(fault *f, void *arg)
{
    const char *user = test_format("%s/config", f->dir);
    const char *file = test_format("%s/file", f->dir);
    int rc;

    (void)arg;
    fault_off(f);
    test_write_file(file, VLS_STR("hello"));
    fault_on(f);
    rc = vls_trust_add(f->env, user, file, &f->err);
    fault_off(f);
    if (rc < 0)
        CHECK(access(user, F_OK) < 0 ||
              vls_str_find(test_read_file(user), VLS_STR("trust")) < test_read_file(user).len);
    return rc;
}

TEST(open, trust_with_a_failing_disk)
{
    fault_each_io(t, FAULT_READ | FAULT_WRITE | FAULT_RENAME | FAULT_SYNC, EIO, trust_once, NULL);
    fault_each_io(t, FAULT_READ | FAULT_WRITE | FAULT_RENAME | FAULT_SYNC, EINTR, trust_once, NULL);
    fault_each_alloc(t, 0, trust_once, NULL);
}
