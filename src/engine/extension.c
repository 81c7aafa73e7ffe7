/* extension.c -- finding, checking and loading shared objects. */
#include "engine/extension.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "base/file.h"

#define PATHS_MAX ((size_t)256 << 10)
#define TRIES 1024

void vls_extensions_init(vls_extensions *list, const valise_env *env)
{
    *list = (vls_extensions){.env = env};
}

static void unload(vls_extension_loaded *one)
{
    if (one->library)
        (void)dlclose(one->library);
    vls_sealed_close(&one->sealed);
}

void vls_extensions_release(vls_extensions *list)
{
    if (!list->env)
        return;
    for (size_t i = list->loaded.len; i > 0; i--)
        unload(&list->loaded.ptr[i - 1]);
    vls_vec_release(&list->loaded, list->env);
    list->env = NULL;
}

/* ---- loading ---- */

typedef struct linker_name {
    char s[48];
} linker_name;

static linker_name name_of(int fd)
{
    linker_name name;

    (void)snprintf(name.s, sizeof(name.s), "/proc/self/fd/%d", fd);
    return name;
}

/* The linker remembers what it loaded by name, and would give back an old library under a number
 * that was given out again. So move on to a number whose name it does not know. */
static int own_number(vls_sealed *sealed, valise_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        void *other = dlopen(name_of(sealed->fd).s, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        int next;
        if (!other)
            return 0;
        (void)dlclose(other);
        next = fcntl(sealed->fd, F_DUPFD_CLOEXEC, sealed->fd + 1);
        if (next < 0)
            return vls_fail_errno(err, "cannot load", VLS_STR("a copy"));
        (void)vls_fd_close(sealed->fd);
        sealed->fd = next;
    }
    return vls_fail(err, VALISE_E_LIMIT, "%d libraries that were not unloaded are still there",
                    TRIES);
}

static int get_package(const valise_extension **out, void *library, const char *path,
                       valise_error *err)
{
    void *symbol = dlsym(library, "valise_extension_v1");
    valise_extension_fn *fn;

    if (!symbol)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "%s is not an extension: it has no function valise_extension_v1", path);
    memcpy(&fn, &symbol, sizeof(fn)); /* ISO C has no cast for it */
    *out = fn();
    if (!*out)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "%s: the extension refused to be loaded", path);
    return 0;
}

/* Takes the sealed copy. */
static int load(const valise_extension **out, vls_extensions *list, vls_sealed *sealed,
                const char *path, valise_error *err)
{
    vls_extension_loaded one = {.library = NULL, .sealed = {.fd = -1}};
    int rc;

    if (!vls_vec_reserve(&list->loaded, list->env, list->loaded.len + 1))
        return vls_fail_memory(err);
    rc = own_number(sealed, err);
    if (rc < 0)
        return rc;
    one.library = dlopen(name_of(sealed->fd).s, RTLD_NOW | RTLD_LOCAL);
    if (!one.library) {
        const char *why = dlerror();
        return vls_fail(err, VALISE_E_UNSUPPORTED, "%s cannot be loaded: %s", path,
                        why ? vls_text_short(valise_str_of(why)).s : "no reason is given");
    }
    one.sealed = *sealed;
    sealed->fd = -1;
    list->loaded.ptr[list->loaded.len++] = one; /* unloaded with the others, whatever comes */
    return get_package(out, one.library, path, err);
}

/* ---- what the configuration names ---- */

/* The line that names it is wrong: say which. */
static int refuse_missing(const vls_config_entry *e, const char *path, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "%.*s:%u: there is no %s", VALISE_STR_ARG(e->file),
                   (unsigned)e->line, path);
    vls_hint(err, "put it there, or remove the setting: valise config unset%s %.*s",
             e->layer == VLS_LAYER_USER ? " --user" : "", VALISE_STR_ARG(e->name));
    return VALISE_E_INVALID;
}

/* The path as the linker and the user's trust know it. */
static int find_file(const char **out, vls_arena *arena, const vls_config_entry *e,
                     const char *workspace, valise_error *err)
{
    valise_str path;
    int rc = vls_arena_dup(&path, arena, e->value, err);

    if (rc < 0)
        return rc;
    *out = path.ptr;
    if (path.ptr[0] != '/' && e->layer == VLS_LAYER_USER)
        return vls_fail(err, VALISE_E_INVALID, "%.*s:%u: the path of an extension begins with /",
                        VALISE_STR_ARG(e->file), (unsigned)e->line);
    if (path.ptr[0] != '/')
        rc = vls_path_join(out, arena, workspace, path.ptr, err);
    if (rc < 0)
        return rc;
    rc = vls_path_real(out, arena, *out, err);
    return rc == VALISE_E_NOT_FOUND ? refuse_missing(e, *out, err) : rc;
}

/* The user may name what he likes, any bytes or certain ones; a workspace only what is trusted. */
static int check_bytes(const vls_config *config, const vls_config_entry *e, const char *path,
                       const valise_id *id, valise_error *err)
{
    valise_str wanted = vls_config_in(config, "extension.*.sha256", e->subsection);

    if (e->layer != VLS_LAYER_USER)
        return vls_trust_check(config, path, id, err);
    if (!wanted.ptr || vls_str_equal(wanted, valise_str_of(vls_id_hex(id).s)))
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED, "%s is not the file that your configuration names", path);
    vls_hint(err, "its sha256 is %s", vls_id_hex(id).s);
    return VALISE_E_DENIED;
}

static int load_one(vls_extensions *list, const vls_config *config, const vls_config_entry *e,
                    const char *workspace, vls_extension_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    const valise_extension *package = NULL;
    const char *path;
    int rc;

    vls_arena_init(&arena, list->env, PATHS_MAX);
    rc = find_file(&path, &arena, e, workspace, err);
    if (rc == 0)
        rc = vls_sealed_open(&sealed, path, err);
    if (rc == 0)
        rc = check_bytes(config, e, path, &sealed.id, err);
    if (rc == 0)
        rc = load(&package, list, &sealed, path, err);
    return rc < 0 ? rc : fn(arg, package, err);
}

/* Does a stronger layer, or a later line, say something else about the same extension? */
static bool is_overridden(const vls_config_entry *all, size_t count, size_t index)
{
    for (size_t i = index + 1; i < count; i++) {
        if (all[i].setting == all[index].setting && !all[i].ignored &&
            vls_str_equal(all[i].subsection, all[index].subsection))
            return true;
    }
    return false;
}

int vls_extensions_load(vls_extensions *list, const vls_config *config, const char *workspace,
                        vls_extension_fn *fn, void *arg, valise_error *err)
{
    size_t count;
    const vls_config_entry *all = vls_config_entries(&count, config);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (all[i].setting && !all[i].ignored &&
            strcmp(all[i].setting->name, "extension.*.path") == 0 && !is_overridden(all, count, i))
            rc = load_one(list, config, &all[i], workspace, fn, arg, err);
    }
    return rc;
}
