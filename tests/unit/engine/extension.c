/* extension.c -- shared objects: trusted, loaded, refused, unloaded. [K13] [K34] */
#include "engine/extension.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <valise/workspace.h>

#include "base/hex.h"
#include "engine/engine.h"
#include "base/file.h"
#include "harness/fault.h"
#include "harness/test.h"

static const char *path_of(const char *name)
{
    return test_format("%s/%s", test_tmpdir(), name);
}

static const char *built(const char *name)
{
    const char *folder = strcmp(name, "notes") == 0 ? "../../examples/" : "";
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    CHECK(len > 0);
    program[len] = '\0';
    *strrchr(program, '/') = '\0';
    return test_format("%s/%s%s.so", program, folder, name);
}

static const char *hash_of(test *t, const char *path)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};

    CHECK_OK(vls_sealed_open(&sealed, path, &t->err));
    return test_format("%s", vls_id_hex(&sealed.id).s);
}

/* A copy of a module in the test's own folder, for paths without links and bytes to change. */
static const char *copy_of(const char *name)
{
    const char *path = path_of(test_format("%s.so", name));

    test_write_file(path, test_read_file(built(name)));
    return path;
}

/* A byte more behind the end: it matters to us, and not to the linker. */
static void add_byte(const char *path)
{
    valise_str bytes = test_read_file(path);
    char *more = test_alloc(bytes.len + 1);

    memcpy(more, bytes.ptr, bytes.len);
    test_write_file(path, vls_str(more, bytes.len + 1));
}

static void user_config(const char *text)
{
    test_write_file(path_of("user-config"), valise_str_of(text));
}

static void name_it(const char *path)
{
    user_config(test_format("[extension \"x\"]\n\tpath = %s\n", path));
}

static int open_with(test *t, valise **out, const char *path, unsigned flags)
{
    valise_options o = VALISE_OPTIONS_INIT;

    o.env = t->env;
    o.flags = flags;
    o.user_config = path_of("user-config");
    t->err = (valise_error)VALISE_ERROR_INIT;
    return valise_open(out, path, &o, &t->err);
}

static void close_it(void *arg)
{
    valise_close(arg);
}

static const char *ask(test *t, valise *v, const char *type, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *json;

    CHECK_OK(valise_dispatch(&reply, v, type, payload, NULL, &t->err));
    json = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return json;
}

static bool has_op(const valise *v, const char *name)
{
    return vls_registry_op(vls_engine_of(v)->registry, valise_str_of(name)) != NULL;
}

/* ---- loading ---- */

TEST(extension, all_of_it_works) /* [K13] */
{
    valise *v = NULL;

    name_it(copy_of("notes"));
    CHECK_OK(open_with(t, &v, ":memory:", 0));
    test_defer(close_it, v);
    CHECK(strstr(ask(t, v, "note:add", "{\"name\":\"milk\",\"text\":\"Two litres.\"}"),
                 "\"author\":\"local\""));
    CHECK(strstr(ask(t, v, "note:list", NULL), "\"text\":\"Two litres.\""));
    /* The middleware. */
    CHECK_RC(VALISE_E_INVALID,
             valise_dispatch(NULL, v, "note:add", "{\"name\":\"a\",\"text\":\"my password\"}", NULL,
                             &t->err));
    CHECK_TEXT("notes are no place for a password", t->err.message);
    /* The index. */
    CHECK(strstr(ask(t, v, "index:query", "{\"name\":\"notes-by-author\"}"), "local milk"));
    /* Access. */
    valise_call call = VALISE_CALL_INIT;
    (void)ask(t, v, "agent:add", "{\"id\":\"r\",\"role\":\"reader\"}");
    call.actor = VLS_STR("r");
    CHECK_OK(valise_dispatch(NULL, v, "note:list", NULL, &call, &t->err));
    CHECK_RC(VALISE_E_DENIED, valise_dispatch(NULL, v, "note:add",
                                              "{\"name\":\"a\",\"text\":\"b\"}", &call, &t->err));
}

/* What the example shows has contents, and they can be erased. [K20] */
TEST(extension, what_it_holds_can_be_erased)
{
    valise *v = NULL;

    name_it(copy_of("notes"));
    CHECK_OK(open_with(t, &v, ":memory:", 0));
    test_defer(close_it, v);
    (void)ask(t, v, "note:add", "{\"name\":\"milk\",\"text\":\"MYSECRETMILK\"}");
    (void)ask(t, v, "workspace:erase", "{\"place\":\"notes.note/milk\",\"reason\":\"private\"}");
    CHECK(strstr(ask(t, v, "note:list", NULL), "milk"));
    CHECK(!strstr(ask(t, v, "note:list", NULL), "MYSECRETMILK"));
    CHECK(!strstr(ask(t, v, "log:list", NULL), "MYSECRETMILK"));
    CHECK(strstr(ask(t, v, "workspace:show", "{\"target\":\"notes.note/milk\"}"), "private"));
}

/* Its rows stay when it is not there any more, and are back with it. */
TEST(extension, can_be_missing_and_come_back)
{
    valise *v = NULL;

    name_it(copy_of("notes"));
    CHECK_OK(open_with(t, &v, test_tmpdir(), VALISE_OPEN_CREATE));
    (void)ask(t, v, "note:add", "{\"name\":\"milk\",\"text\":\"Two litres.\"}");
    valise_close(v);
    user_config("");
    CHECK_OK(open_with(t, &v, test_tmpdir(), 0));
    CHECK(!has_op(v, "note:list"));
    (void)ask(t, v, "pin:list", NULL);
    valise_close(v);
    name_it(path_of("notes.so"));
    CHECK_OK(open_with(t, &v, test_tmpdir(), 0));
    CHECK(strstr(ask(t, v, "note:list", NULL), "milk"));
    valise_close(v);
}

TEST(extension, without_the_users_configuration_nothing_is_loaded)
{
    valise *v = NULL;

    name_it(copy_of("notes"));
    CHECK_OK(open_with(t, &v, ":memory:", VALISE_OPEN_NO_USER_CONFIG));
    CHECK(!has_op(v, "note:add"));
    valise_close(v);
}

/* ---- refusing ---- */

static void refused(test *t, int code, const char *text)
{
    valise *v = NULL;

    CHECK_RC(code, open_with(t, &v, ":memory:", 0));
    CHECK_MSG(strstr(t->err.message, text), "%s", t->err.message);
    CHECK(!v);
}

TEST(extension, refuses_another_abi_and_says_both_numbers) /* [K13] */
{
    name_it(built("wrong_abi"));
    refused(t, VALISE_E_UNSUPPORTED,
            "extension \"future\" was built for extension ABI 99; this library has ABI 1");
}

TEST(extension, refuses_what_is_no_extension)
{
    name_it(built("no_function"));
    refused(t, VALISE_E_UNSUPPORTED, "has no function valise_extension_v1");
    name_it(built("refuses"));
    refused(t, VALISE_E_UNSUPPORTED, "refused to be loaded");
    test_write_file(path_of("text.so"), VLS_STR("hello"));
    name_it(path_of("text.so"));
    refused(t, VALISE_E_UNSUPPORTED, "text.so cannot be loaded: ");
    name_it(path_of("none.so"));
    refused(t, VALISE_E_INVALID, "none.so"); /* the line that names it is wrong */
    CHECK(strstr(t->err.message, "user-config:2") && strstr(t->err.hint, "config unset --user"));
    name_it(test_tmpdir());
    refused(t, VALISE_E_INVALID, "is not a file");
    name_it("notes.so");
    refused(t, VALISE_E_INVALID, "user-config:2: the path of an extension begins with /");
}

TEST(extension, refuses_the_same_one_twice)
{
    user_config(test_format("[extension \"x\"]\n\tpath = %s\n[extension \"y\"]\n\tpath = %s\n",
                            built("notes"), built("notes")));
    refused(t, VALISE_E_EXISTS, "extension notes: the name is already in use");
    /* A later line for the same name is stronger, and not a second one. */
    user_config(test_format("[extension \"x\"]\n\tpath = /none.so\n\tpath = %s\n", built("notes")));
    valise *v = NULL;
    CHECK_OK(open_with(t, &v, ":memory:", 0));
    valise_close(v);
}

/* ---- trust ---- */

TEST(extension, the_user_may_want_certain_bytes) /* [K34] */
{
    const char *path = copy_of("notes");
    valise *v = NULL;

    user_config(
        test_format("[extension \"x\"]\n\tpath = %s\n\tsha256 = %s\n", path, hash_of(t, path)));
    CHECK_OK(open_with(t, &v, ":memory:", 0));
    valise_close(v);
    add_byte(path);
    refused(t, VALISE_E_DENIED, "is not the file that your configuration names");
}

TEST(extension, a_workspace_alone_makes_no_code_run) /* [K34] */
{
    const char *path = copy_of("notes");
    valise *v = NULL;

    user_config("");
    CHECK_OK(open_with(t, &v, test_tmpdir(), VALISE_OPEN_CREATE));
    valise_close(v);
    v = NULL;
    test_write_file(path_of(".valise/config"), VLS_STR("[extension \"x\"]\n\tpath = notes.so\n"));
    CHECK_RC(VALISE_E_DENIED, open_with(t, &v, test_tmpdir(), 0));
    CHECK_TEXT(test_format("%s is not trusted: a workspace alone cannot make programs run", path),
               t->err.message);
    CHECK_TEXT(test_format("valise trust %s", path), t->err.hint);

    /* Not even when the workspace says that it is to be trusted. */
    test_write_file(path_of(".valise/config"),
                    valise_str_of(test_format("[extension \"x\"]\n\tpath = notes.so\n\tsha256 = "
                                              "%s\n[trust \"%s\"]\n\tsha256 = %s\n",
                                              hash_of(t, path), path, hash_of(t, path))));
    CHECK_RC(VALISE_E_DENIED, open_with(t, &v, test_tmpdir(), 0));
    CHECK(!v);
    /* Nobody who ignores the user's configuration is bothered. */
    CHECK_OK(open_with(t, &v, test_tmpdir(), VALISE_OPEN_NO_USER_CONFIG));
    CHECK(!has_op(v, "note:add"));
    valise_close(v);
    v = NULL;

    CHECK_OK(vls_trust_add(t->env, path_of("user-config"), path, &t->err));
    CHECK_OK(open_with(t, &v, test_tmpdir(), 0));
    CHECK(has_op(v, "note:add"));
    valise_close(v);
    v = NULL;

    /* The same file with other bytes is another one. */
    valise_str bytes = test_read_file(path);
    add_byte(path);
    CHECK_RC(VALISE_E_DENIED, open_with(t, &v, test_tmpdir(), 0));
    CHECK_TEXT(test_format("%s has changed since it was trusted", path), t->err.message);
    test_write_file(path, bytes);
    CHECK_OK(open_with(t, &v, test_tmpdir(), 0));
    valise_close(v);
    v = NULL;

    /* The same bytes elsewhere are not trusted either. */
    CHECK_INT(0, mkdir(path_of("other"), 0700));
    test_write_file(path_of("other/notes.so"), bytes);
    test_write_file(path_of(".valise/config"),
                    VLS_STR("[extension \"x\"]\n\tpath = other/notes.so\n"));
    CHECK_RC(VALISE_E_DENIED, open_with(t, &v, test_tmpdir(), 0));

    CHECK_OK(vls_trust_remove(t->env, path_of("user-config"), path, &t->err));
    test_write_file(path_of(".valise/config"), VLS_STR("[extension \"x\"]\n\tpath = notes.so\n"));
    CHECK_RC(VALISE_E_DENIED, open_with(t, &v, test_tmpdir(), 0));
}

TEST(extension, trusts_what_links_lead_to)
{
    const char *path = copy_of("notes");

    CHECK_INT(0, symlink(path, path_of("link.so")));
    CHECK_OK(vls_trust_add(t->env, path_of("user-config"), path_of("link.so"), &t->err));
    CHECK(strstr(test_read_file(path_of("user-config")).ptr,
                 test_format("[trust \"%s\"]\n\tsha256 = %s\n", path, hash_of(t, path))));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_trust_add(t->env, path_of("user-config"), path_of("none"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_trust_add(t->env, path_of("user-config"), test_tmpdir(), &t->err));
    /* What is gone can be forgotten by its name. */
    CHECK_INT(0, unlink(path));
    CHECK_OK(vls_trust_remove(t->env, path_of("user-config"), path, &t->err));
}

/* Programs are looked for by their bytes. Of a path counts what was said last, in the user's file.
 */
TEST(trust, finds_programs_by_their_bytes) /* [K34] */
{
    static const char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    vls_config_sources sources = {.user_file = path_of("user-config"),
                                  .workspace_file = path_of("workspace-config")};
    vls_config *config = NULL;
    valise_id id_a, id_b, none = {{0}};

    CHECK_OK(vls_id_parse(&id_a, valise_str_of(a), &t->err));
    CHECK_OK(vls_id_parse(&id_b, valise_str_of(b), &t->err));
    user_config(test_format("[trust \"/bin/one\"]\n\tsha256 = %s\n[trust \"/bin/two\"]\n"
                            "\tsha256 = %s\n[trust \"/bin/three\"]\n\tsha256 = %s\n"
                            "[trust \"/bin/one\"]\n\tsha256 = %s\n",
                            a, a, a, b));
    test_write_file(path_of("workspace-config"),
                    valise_str_of(test_format("[trust \"/bin/four\"]\n\tsha256 = %s\n", a)));
    CHECK_OK(vls_config_load(&config, t->env, &sources, &t->err));
    CHECK_STR(VLS_STR("/bin/two"), vls_trust_find(config, &id_a, 0));
    CHECK_STR(VLS_STR("/bin/three"), vls_trust_find(config, &id_a, 1));
    CHECK(!vls_trust_find(config, &id_a, 2).ptr);
    CHECK_STR(VLS_STR("/bin/one"), vls_trust_find(config, &id_b, 0));
    CHECK(!vls_trust_find(config, &none, 0).ptr);
    vls_config_free(config);
}

/* Between the check and the load nobody can put other bytes in. */
TEST(sealed, cannot_be_changed) /* [K34] */
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    const char *path = path_of("file");
    char bytes[16] = "";

    test_write_file(path, VLS_STR("hello"));
    CHECK_OK(vls_sealed_open(&sealed, path, &t->err));
    CHECK_TEXT("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
               vls_id_hex(&sealed.id).s);
    test_write_file(path, VLS_STR("other"));
    CHECK_INT(5, pread(sealed.fd, bytes, sizeof(bytes), 0));
    CHECK_TEXT("hello", bytes);
    CHECK(pwrite(sealed.fd, "j", 1, 0) < 0 && errno == EPERM);
    CHECK(ftruncate(sealed.fd, 1) < 0 && errno == EPERM);
    CHECK(ftruncate(sealed.fd, 100) < 0 && errno == EPERM);
}

TEST(sealed, only_of_files)
{
    vls_sealed sealed = {.fd = -1};

    CHECK_RC(VALISE_E_INVALID, vls_sealed_open(&sealed, test_tmpdir(), &t->err));
    CHECK_INT(0, mkfifo(path_of("pipe"), 0600));
    CHECK_RC(VALISE_E_INVALID, vls_sealed_open(&sealed, path_of("pipe"), &t->err));
    test_write_file(path_of("file"), VLS_STR("x"));
    CHECK_INT(0, symlink(path_of("file"), path_of("link")));
    CHECK(vls_sealed_open(&sealed, path_of("link"), &t->err) < 0);
    CHECK_INT(-1, sealed.fd);
}

/* ---- unloading ---- */

TEST(extension, each_handle_has_its_own)
{
    valise *a = NULL, *b = NULL;

    name_it(copy_of("notes"));
    CHECK_OK(open_with(t, &a, ":memory:", 0));
    CHECK_OK(open_with(t, &b, ":memory:", 0));
    CHECK(vls_registry_op(vls_engine_of(a)->registry, VLS_STR("note:add")) !=
          vls_registry_op(vls_engine_of(b)->registry, VLS_STR("note:add")));
    (void)ask(t, a, "note:add", "{\"name\":\"milk\",\"text\":\"Two litres.\"}");
    valise_close(a);
    (void)ask(t, b, "note:add", "{\"name\":\"milk\",\"text\":\"Two litres.\"}");
    valise_close(b);
}

/* The linker knows libraries by the number of their descriptor: another one under an old number
 * must not be taken for the one before. */
TEST(extension, one_that_is_not_unloaded_is_in_nobodys_way)
{
    valise *v = NULL;

    for (int i = 0; i < 5; i++) {
        name_it(built("stays"));
        CHECK_OK(open_with(t, &v, ":memory:", 0));
        valise_close(v);
        name_it(built("notes"));
        CHECK_OK(open_with(t, &v, ":memory:", 0));
        CHECK(has_op(v, "note:add"));
        valise_close(v);
    }
}

static int load_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    int rc;

    (void)arg;
    o.env = f->env;
    o.user_config = path_of("user-config");
    rc = valise_open(&v, ":memory:", &o, &f->err);
    valise_close(v);
    f->recovered = rc == 0; /* followers and upkeep do without, and come back later */
    return rc;
}

TEST(extension, without_memory)
{
    name_it(built("notes"));
    fault_each_alloc(t, 0, load_once, NULL);
}
