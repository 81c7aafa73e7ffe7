/* config.c -- layers of settings, what they may set, and changing the files. [L9] [K34] */
#include "client/client.h"
#include "engine/config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/fault.h"
#include "harness/kill.h"
#include "harness/test.h"

static const char *path_of(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static void free_config(void *arg)
{
    vls_config_free(arg);
}

static int load(test *t, vls_config **out, const vls_config_sources *sources)
{
    int rc;

    t->err = (valise_error)VALISE_ERROR_INIT;
    rc = vls_config_load(out, t->env, sources, &t->err);
    if (rc == 0)
        test_defer(free_config, *out);
    return rc;
}

/* A configuration of a workspace file and a user file. */
static vls_config *load_files(test *t, const char *workspace, const char *user)
{
    vls_config_sources sources = {path_of("workspace"), path_of("user"), NULL, NULL};
    vls_config *config = NULL;

    test_write_file(sources.workspace_file, valise_str_of(workspace));
    test_write_file(sources.user_file, valise_str_of(user));
    CHECK_OK(load(t, &config, &sources));
    return config;
}

/* ---- layers ---- */

TEST(config, what_nobody_sets_has_an_initial_value)
{
    vls_config *config = load_files(t, "", "");

    CHECK_STR(VLS_STR("full"), vls_config_text(config, "core.durability"));
    CHECK_STR(VLS_STR("local"), vls_config_text(config, "core.actor"));
    CHECK(!vls_config_text(config, "core.pager").ptr);
    CHECK_INT(10000000000, vls_config_duration_ns(config, "core.timeout"));
    CHECK(!vls_config_find(config, VLS_STR("core.durability")));
}

/* Workspace file, user file, environment, flags: each is stronger than the one before. [L9] */
TEST(config, later_layers_are_stronger)
{
    static const char *const environment[] = {"PATH=/bin",
                                              "VALISE_TIMEOUT=4s",
                                              "VALISE_COLOR=",
                                              "VALISE_DIR=/tmp",
                                              "VALISE_NOTHING=1",
                                              "odd",
                                              NULL};
    static const char *const flags[] = {"core.timeout=5s", NULL};
    vls_config_sources s = {path_of("w"), NULL, NULL, NULL};
    const char *expected[] = {"2s", "3s", "4s", "5s"};

    test_write_file(path_of("w"), VLS_STR("[core]\n\ttimeout = 1s\n\tTIMEOUT = 2s\n"));
    test_write_file(path_of("u"), VLS_STR("[core]\n\ttimeout = 3s\n"));
    for (size_t layers = 0; layers < 4; layers++) {
        vls_config *config = NULL;
        const vls_config_entry *e;
        s.user_file = layers > 0 ? path_of("u") : NULL;
        s.environment = layers > 1 ? environment : NULL;
        s.flags = layers > 2 ? flags : NULL;
        CHECK_OK(load(t, &config, &s));
        CHECK_STR(valise_str_of(expected[layers]), vls_config_text(config, "core.timeout"));
        e = vls_config_find(config, VLS_STR("core.timeout"));
        CHECK_INT(VLS_LAYER_WORKSPACE + (int)layers, e->layer);
    }
}

/* `config list --show-origin` shows every line that was read, and where. [L9] */
TEST(config, knows_where_everything_comes_from)
{
    static const char *const environment[] = {"VALISE_ACTOR=eve", NULL};
    vls_config_sources s = {path_of("w"), path_of("u"), environment, NULL};
    vls_config *config = NULL;
    const vls_config_entry *all;
    size_t count;

    test_write_file(path_of("w"), VLS_STR("\n[core]\n\tdurability = normal\n"));
    test_write_file(path_of("u"), VLS_STR("[extension \"My.Ext\"]\n\tpath = /x.so\n"));
    CHECK_OK(load(t, &config, &s));
    all = vls_config_entries(&count, config);
    CHECK_INT(3, count);
    CHECK_STR(VLS_STR("core.durability"), all[0].name);
    CHECK_STR(valise_str_of(path_of("w")), all[0].file);
    CHECK_INT(3, all[0].line);
    CHECK_STR(VLS_STR("extension.My.Ext.path"), all[1].name);
    CHECK_STR(VLS_STR("My.Ext"), all[1].subsection);
    CHECK_TEXT("extension.*.path", all[1].setting->name);
    CHECK_TEXT("user", vls_layer_names[all[1].layer]);
    CHECK_STR(VLS_STR("VALISE_ACTOR"), all[2].file);
    CHECK_INT(0, all[2].line);
}

TEST(config, reports_what_nobody_knows)
{
    vls_config *config = load_files(t, "[core]\n\tcolour = red\n[other]\n\ta\n", "");
    const vls_config_entry *all;
    size_t count;

    all = vls_config_entries(&count, config);
    CHECK_INT(2, count);
    CHECK(!all[0].setting && !all[1].setting);
    CHECK(all[1].value.ptr == NULL);
}

/* A workspace is a folder that somebody else may have made. [K34] */
TEST(config, a_workspace_cannot_trust_itself_or_say_who_acts)
{
    vls_config *config =
        load_files(t,
                   "[trust \"/x.so\"]\n\tsha256 = "
                   "0000000000000000000000000000000000000000000000000000000000000000\n"
                   "[extension \"x\"]\n\tpath = x.so\n\tsha256 = "
                   "0000000000000000000000000000000000000000000000000000000000000000\n"
                   "[core]\n\tactor = root\n\tpager = evil\n",
                   "");
    const vls_config_entry *all;
    size_t count;

    all = vls_config_entries(&count, config);
    CHECK_INT(5, count);
    CHECK(all[0].ignored && !all[1].ignored && all[2].ignored && all[3].ignored);
    CHECK(!vls_config_find(config, VLS_STR("trust./x.so.sha256")));
    CHECK_STR(VLS_STR("local"), vls_config_text(config, "core.actor"));
    CHECK(!vls_config_text(config, "core.pager").ptr);
}

/* Who names the URL of a provider gets the user's key. [K34] */
TEST(config, a_workspace_cannot_name_a_provider)
{
    static const char file[] = "[provider \"x\"]\n\turl = https://evil.example.com\n";
    vls_config *config = load_files(t, file, "");
    size_t count;

    CHECK(vls_config_entries(&count, config)[0].ignored);
    CHECK(!vls_config_find(config, VLS_STR("provider.x.url")));
    config = load_files(t, "", file);
    CHECK(vls_config_find(config, VLS_STR("provider.x.url")));
    for (size_t i = 0; vls_provider_keys[i]; i++) {
        const vls_setting *setting =
            vls_setting_find(valise_str_of(test_format("provider.x.%s", vls_provider_keys[i])));
        CHECK(setting && setting->layers == 1u << VLS_LAYER_USER && !setting->variable);
    }
}

TEST(config, neither_environment_nor_flags_bring_code)
{
    static const char *const flags[] = {"extension.x.path=/x.so", NULL};
    vls_config_sources s = {.flags = flags};
    vls_config *config = NULL;

    CHECK_OK(load(t, &config, &s));
    CHECK(!vls_config_find(config, VLS_STR("extension.x.path")));
}

TEST(config, refuses_values_a_setting_does_not_take)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[core]\n\tdurability = sometimes\n",
         ":2: core.durability is one of full normal, not \"sometimes\""},
        {"[core]\n\ttimeout = soon\n", ":2: core.timeout is a time such as 90s, not \"soon\""},
        {"[core]\n\tactor\n", ":2: core.actor is a text, not \"\""},
        {"[trust \"/x\"]\n\tsha256 = 12\n", ":2: trust.*.sha256 is 64 hexadecimal digits"},
        {"[trust \"/x\"]\n\towner = -1\n", ":2: trust.*.owner is a number"},
        {"[extension \"x\"]\n\tpath = \"\"\n", ":2: extension.*.path is a path"},
        {"[core\n", ":1: "},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_config_sources s = {.user_file = path_of("u")};
        vls_config *config = NULL;
        test_write_file(s.user_file, valise_str_of(cases[i].text));
        CHECK_RC(VALISE_E_INVALID, load(t, &config, &s));
        CHECK_MSG(strstr(t->err.message, cases[i].message), "%s", t->err.message);
        CHECK(!config);
    }
}

TEST(config, refuses_flags_that_are_none)
{
    static const char *const bad[] = {"core.color", "core.colour=red", "core.color=blue", "=", ""};

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        const char *const flags[] = {bad[i], NULL};
        vls_config_sources s = {.flags = flags};
        vls_config *config = NULL;
        CHECK_RC(VALISE_E_INVALID, load(t, &config, &s));
    }
    static const char *const environment[] = {"VALISE_COLOR=blue", NULL};
    vls_config_sources s = {.environment = environment};
    vls_config *config = NULL;
    CHECK_RC(VALISE_E_INVALID, load(t, &config, &s));
    CHECK(strstr(t->err.message, "VALISE_COLOR: core.color is one of auto always never"));
}

TEST(config, files_that_cannot_be_read)
{
    vls_config_sources s = {.workspace_file = path_of("none"), .user_file = path_of("none")};
    vls_config *config = NULL;

    CHECK_OK(load(t, &config, &s)); /* as if empty */
    s.workspace_file = test_tmpdir();
    CHECK_RC(VALISE_E_INVALID, load(t, &config, &s));
    /* Not through a link that somebody put into the workspace, but the user may. */
    test_write_file(path_of("real"), VLS_STR("[core]\n\ttimeout = 7s\n"));
    CHECK_INT(0, symlink(path_of("real"), path_of("link")));
    s = (vls_config_sources){.workspace_file = path_of("link")};
    CHECK_RC(VALISE_E_DENIED, load(t, &config, &s));
    s = (vls_config_sources){.user_file = path_of("link")};
    CHECK_OK(load(t, &config, &s));
    CHECK_INT(7000000000, vls_config_duration_ns(config, "core.timeout"));
}

TEST(config, too_much_is_refused)
{
    vls_config_sources s = {.user_file = path_of("u")};
    vls_config *config = NULL;
    char *large = test_alloc((2 << 20) + 1);

    memset(large, '\n', 2 << 20);
    test_write_file(s.user_file, valise_str_of(large));
    CHECK_RC(VALISE_E_TOO_LARGE, load(t, &config, &s));
    memset(large, 0, (2 << 20) + 1);
    memcpy(large, "[a]\n", 4);
    for (size_t i = 0; i < 10001; i++)
        memcpy(large + 4 + i * 2, "b\n", 2);
    test_write_file(s.user_file, valise_str_of(large));
    CHECK_RC(VALISE_E_LIMIT, load(t, &config, &s));
}

TEST(config, the_users_file_is_where_the_variables_say)
{
    VLS_AUTO(arena) vls_arena arena;
    const char *path = NULL;
    const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_INT(0, setenv("XDG_CONFIG_HOME", "/x/y/", 1));
    CHECK_OK(vls_config_user_file(&path, &arena, &t->err));
    CHECK_TEXT("/x/y/valise/config", path);
    CHECK_INT(0, setenv("XDG_CONFIG_HOME", "relative", 1));
    CHECK_INT(0, setenv("HOME", "/home/u", 1));
    CHECK_OK(vls_config_user_file(&path, &arena, &t->err));
    CHECK_TEXT("/home/u/.config/valise/config", path);
    CHECK_INT(0, unsetenv("HOME"));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_config_user_file(&path, &arena, &t->err));
    if (home)
        (void)setenv("HOME", home, 1);
    if (xdg)
        (void)setenv("XDG_CONFIG_HOME", xdg, 1);
    else
        (void)unsetenv("XDG_CONFIG_HOME");
}

/* ---- changing ---- */

static int set(test *t, const char *file, vls_layer layer, const char *name, const char *value)
{
    valise_str text = valise_str_of(value);

    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_config_write(t->env, file, layer, valise_str_of(name), value ? &text : NULL,
                            &t->err);
}

static int mode_of(const char *path)
{
    struct stat st;

    CHECK_INT(0, stat(path, &st));
    return st.st_mode & 0777;
}

TEST(config, sets_and_removes)
{
    const char *file = path_of("config");

    CHECK_OK(set(t, file, VLS_LAYER_WORKSPACE, "core.durability", "normal"));
    CHECK_STR(VLS_STR("[core]\n\tdurability = normal\n"), test_read_file(file));
    CHECK_INT(0600, mode_of(file)); /* [Q25] */
    CHECK_OK(set(t, file, VLS_LAYER_WORKSPACE, "core.durability", "full"));
    CHECK_STR(VLS_STR("[core]\n\tdurability = full\n"), test_read_file(file));
    CHECK_OK(set(t, file, VLS_LAYER_WORKSPACE, "extension.My.Ext.path", "a b.so"));
    CHECK(vls_str_ends(test_read_file(file), VLS_STR("[extension \"My.Ext\"]\n\tpath = a b.so\n")));
    CHECK_OK(set(t, file, VLS_LAYER_WORKSPACE, "core.durability", NULL));
    CHECK(vls_str_starts(test_read_file(file), VLS_STR("[core]\n[ext")));
    CHECK_RC(VALISE_E_NOT_FOUND, set(t, file, VLS_LAYER_WORKSPACE, "core.durability", NULL));
    CHECK(access(path_of("config.new"), F_OK) < 0);
}

TEST(config, refuses_to_set_what_would_not_count)
{
    const char *file = path_of("config");

    CHECK_RC(VALISE_E_INVALID, set(t, file, VLS_LAYER_WORKSPACE, "core.colour", "red"));
    CHECK(strstr(t->err.message, "no setting 'core.colour'"));
    CHECK_RC(VALISE_E_INVALID, set(t, file, VLS_LAYER_WORKSPACE, "core.timeout", "soon"));
    CHECK_RC(VALISE_E_INVALID, set(t, file, VLS_LAYER_WORKSPACE, "core.actor", "eve"));
    CHECK(strstr(t->err.message, "cannot be set in the file of the workspace"));
    CHECK_RC(VALISE_E_INVALID, set(t, file, VLS_LAYER_WORKSPACE, "nothing", NULL));
    CHECK_RC(VALISE_E_INVALID, set(t, file, VLS_LAYER_WORKSPACE, "nothing.", NULL));
    CHECK(access(file, F_OK) < 0);
    /* What another version knows can be removed. */
    test_write_file(file, VLS_STR("[other]\n\tkey = 1\n"));
    CHECK_OK(set(t, file, VLS_LAYER_WORKSPACE, "other.key", NULL));
    CHECK_STR(VLS_STR("[other]\n"), test_read_file(file));
}

/* Many keep their configuration elsewhere and link to it; and a mode of their own stays. */
TEST(config, the_users_file_may_be_a_link)
{
    test_write_file(path_of("real"), VLS_STR("# mine\n"));
    CHECK_INT(0, chmod(path_of("real"), 0640));
    CHECK_INT(0, symlink(path_of("real"), path_of("link")));
    CHECK_OK(set(t, path_of("link"), VLS_LAYER_USER, "core.actor", "eve"));
    CHECK_STR(VLS_STR("# mine\n[core]\n\tactor = eve\n"), test_read_file(path_of("real")));
    CHECK_INT(0640, mode_of(path_of("real")));
    CHECK_RC(VALISE_E_DENIED, set(t, path_of("link"), VLS_LAYER_WORKSPACE, "core.timeout", "1s"));
}

TEST(config, makes_the_users_folders)
{
    const char *file = path_of("a/b/config");

    CHECK_OK(set(t, file, VLS_LAYER_USER, "core.actor", "eve"));
    CHECK_INT(0700, mode_of(path_of("a/b")));
    CHECK_RC(VALISE_E_NOT_FOUND,
             set(t, path_of("c/config"), VLS_LAYER_WORKSPACE, "core.timeout", "1s"));
}

static void set_one(size_t index, void *arg)
{
    valise_error err = VALISE_ERROR_INIT;
    char name[64];
    valise_str value = VLS_STR("/x.so");

    for (int i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof(name), "extension.e%zu-%d.path", index, i);
        CHECK(vls_config_write(valise_env_default(), arg, VLS_LAYER_USER, valise_str_of(name),
                               &value, &err) == 0);
    }
}

/* Nobody's change is lost. */
TEST(config, many_writers)
{
    char *file = (char *)(uintptr_t)path_of("config");
    vls_config_sources s = {.user_file = file};
    vls_config *config = NULL;
    size_t count;

    test_threads(6, set_one, file);
    CHECK_OK(load(t, &config, &s));
    (void)vls_config_entries(&count, config);
    CHECK_INT(30, count);
}

/* A clock on which ten seconds go by whenever somebody looks. */
static int64_t late(void *self)
{
    static int64_t now;

    (void)self;
    return now += 10000000000;
}

TEST(config, does_not_write_while_somebody_has_the_lock)
{
    valise_env env = *t->env;
    valise_str value = VLS_STR("2s");
    int fd = -1;

    env.ticks_ns = late;
    CHECK_OK(vls_folder_lock(&fd, t->env, test_tmpdir(), 0, &t->err));
    CHECK_RC(VALISE_E_BUSY, vls_config_write(&env, path_of("config"), VLS_LAYER_USER,
                                             VLS_STR("core.timeout"), &value, &t->err));
    CHECK(access(path_of("config"), F_OK) < 0);
    CHECK_INT(0, close(fd));
}

/* ---- failures ---- */

static const valise_str old_text = {"# old\n[core]\n\ttimeout = 1s\n", 27};
static const valise_str new_text = {"# old\n[core]\n\ttimeout = 2s\n", 27};

static int write_once(fault *f, void *arg)
{
    const char *file = test_format("%s/config", f->dir);
    valise_str value = VLS_STR("2s");
    int rc;

    (void)arg;
    fault_off(f);
    test_write_file(file, old_text);
    fault_on(f);
    rc = vls_config_write(f->env, file, VLS_LAYER_USER, VLS_STR("core.timeout"), &value, &f->err);
    fault_off(f);
    fault_check_state(f, rc, old_text, new_text, test_read_file(file));
    return rc;
}

TEST(config, a_failing_disk_leaves_the_old_file_or_the_new_one)
{
    fault_each_alloc(t, 0, write_once, NULL);
    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE & ~FAULT_UNLINK & ~FAULT_STAT, EIO, write_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.limited = true}, write_once, NULL);
    fault_each_plan(t, &(fault_io_plan){.kinds = FAULT_WRITE, .how = FAULT_TORN, .error = EIO},
                    write_once, NULL);
    fault_each_io(t, FAULT_ALL & ~FAULT_CLOSE & ~FAULT_UNLINK & ~FAULT_STAT, EINTR, write_once,
                  NULL);
}

static void write_child(kill_run *run, void *arg)
{
    const char *file = test_format("%s/config", run->dir);
    valise_error err = VALISE_ERROR_INIT;
    valise_str value = VLS_STR("2s");

    (void)arg;
    fault_io_pause();
    test_write_file(file, old_text);
    fault_io_resume();
    CHECK(vls_config_write(valise_env_default(), file, VLS_LAYER_USER, VLS_STR("core.timeout"),
                           &value, &err) == 0);
    kill_ack(run, "done");
}

static void old_or_new(test *t, const kill_run *run, void *arg)
{
    valise_str text = test_read_file(test_format("%s/config", run->dir));

    (void)t, (void)arg;
    CHECK(vls_str_equal(text, new_text) || (run->acked == 0 && vls_str_equal(text, old_text)));
}

TEST(config, a_crash_leaves_the_old_file_or_the_new_one)
{
    kill_each_io(t, FAULT_CHANGES & ~FAULT_OPEN, write_child, old_or_new, NULL);
    kill_each_power_cut(t, FAULT_CHANGES & ~FAULT_OPEN, write_child, old_or_new, NULL);
}

static int load_once(fault *f, void *arg)
{
    vls_config_sources s = {.user_file = arg};
    vls_config *config = NULL;
    int rc = vls_config_load(&config, f->env, &s, &f->err);

    vls_config_free(config);
    return rc;
}

TEST(config, loading_without_memory)
{
    char *file = (char *)(uintptr_t)path_of("u");

    test_write_file(file, VLS_STR("[core]\n\ttimeout = 1s\n\tactor = a\n[extension \"x\"]\n"
                                  "\tpath = /x\n"));
    fault_each_alloc(t, 0, load_once, file);
}

/* ---- as the files say now ---- */

static void release_now(void *arg)
{
    vls_config_now_release(arg);
}

static vls_config_now *new_now(test *t, const vls_config_sources *sources)
{
    vls_config_now *now = test_alloc(sizeof(*now));

    *now = (vls_config_now){.env = NULL};
    vls_config_now_release(now);
    vls_config_now_init(now, t->env, sources);
    test_defer(release_now, now);
    return now;
}

static const char *ask(test *t, vls_config_now *now, const char *name)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, 1000);
    CHECK_OK(vls_config_now_read(&text, now, name, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

TEST(config, of_a_workspace_that_stays_open)
{
    vls_config_sources sources = {path_of("workspace"), path_of("user"), NULL, NULL};
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    vls_config_now *now = new_now(t, &sources);

    CHECK_TEXT("1048576", ask(t, now, "context.frame-max"));
    CHECK_TEXT("", ask(t, now, "tree.ignore"));
    test_write_file(sources.workspace_file, VLS_STR("[tree]\nignore = a\nignore = b\n"));
    CHECK_TEXT("a\nb\n", ask(t, now, "tree.ignore"));
    test_write_file(sources.workspace_file, VLS_STR("[tree]\nignore = c\nignore = d\n"));
    CHECK_TEXT("c\nd\n", ask(t, now, "tree.ignore"));
    test_write_file(sources.user_file, VLS_STR("[context]\nframe-max = 7\n"));
    CHECK_TEXT("7\n", ask(t, now, "context.frame-max"));
    /* Somebody is writing it. */
    test_write_file(sources.workspace_file, VLS_STR("[tree\n"));
    CHECK_TEXT("c\nd\n", ask(t, now, "tree.ignore"));
    CHECK(unlink(sources.workspace_file) == 0);
    CHECK_TEXT("", ask(t, now, "tree.ignore"));
    CHECK_TEXT("7\n", ask(t, now, "context.frame-max"));
    CHECK(utimensat(AT_FDCWD, sources.user_file, old, 0) == 0);
    CHECK_TEXT("7\n", ask(t, now, "context.frame-max"));
}

/* What is not there when it is asked for the first time, and cannot be read. */
TEST(config, of_a_workspace_that_stays_open_is_checked)
{
    vls_config_sources sources = {path_of("workspace"), NULL, NULL, NULL};
    vls_config_now *now = new_now(t, &sources);
    VLS_AUTO(buf) vls_buf text = {0};

    test_write_file(sources.workspace_file, VLS_STR("[tree\n"));
    vls_buf_init(&text, t->env, 1000);
    CHECK_RC(VALISE_E_INVALID, vls_config_now_read(&text, now, "tree.ignore", &t->err));
    CHECK_INT(0, text.len);
}
