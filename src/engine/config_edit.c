/* config_edit.c -- changing one setting in a file. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/ini.h"
#include "base/str.h"
#include "base/text.h"
#include "engine/config.h"
#include "base/file.h"

#define LOCK_TIMEOUT_NS 5000000000
#define PATHS_MAX ((size_t)256 << 10)

static int check_change(vls_layer layer, valise_str name, const valise_str *value,
                        valise_error *err)
{
    const vls_setting *setting = vls_setting_find(name);

    if (!setting && value) {
        (void)vls_fail(err, VALISE_E_INVALID, "there is no setting '%s'", vls_text_short(name).s);
        vls_hint(err, "'valise config list --all' lists them");
        return VALISE_E_INVALID;
    }
    if (!value) /* what was written by hand or by another version can always be removed */
        return 0;
    if (!(setting->layers & 1u << layer)) {
        (void)vls_fail(err, VALISE_E_INVALID, "%s cannot be set in the file of the %s",
                       setting->name, vls_layer_names[layer]);
        if (layer == VLS_LAYER_WORKSPACE)
            vls_hint(err, "use the user's file: valise config set --user %s VALUE", setting->name);
        return VALISE_E_INVALID;
    }
    return vls_setting_check(setting, *value, err);
}

static int split(vls_ini_name *out, valise_str name, valise_error *err)
{
    vls_setting_split(&out->section, &out->subsection, &out->key, name);
    if (out->key.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not of the form core.timeout",
                        vls_text_short(name).s);
    return 0;
}

/* The file that is meant: of the user's, where links lead to; many keep theirs elsewhere. */
static int real_file(const char **out, vls_arena *arena, const char *file, vls_layer layer,
                     valise_error *err)
{
    struct stat st;

    *out = file;
    if (layer != VLS_LAYER_USER || lstat(file, &st) < 0 || !S_ISLNK(st.st_mode))
        return 0;
    return vls_path_real(out, arena, file, err);
}

/* The folder of a file, made when it is the user's and the one it lies in is there. */
static int folder_of(const char **out, vls_arena *arena, const char *file, vls_layer layer,
                     valise_error *err)
{
    const char *slash = strrchr(file, '/');
    valise_str folder = slash ? vls_str(file, (size_t)(slash - file)) : VLS_STR(".");
    valise_str copy;
    int rc = vls_arena_dup(&copy, arena, folder.len ? folder : VLS_STR("/"), err);

    if (rc < 0)
        return rc;
    *out = copy.ptr;
    if (layer != VLS_LAYER_USER || access(copy.ptr, F_OK) == 0)
        return 0;
    for (size_t i = 1; i < copy.len; i++) { /* every folder on the way */
        valise_str part;
        if (copy.ptr[i] != '/')
            continue;
        rc = vls_arena_dup(&part, arena, vls_str_head(copy, i), err);
        if (rc == 0)
            rc = vls_folder_make(part.ptr, 0700, err);
        if (rc < 0)
            return rc;
    }
    return vls_folder_make(copy.ptr, 0700, err);
}

static int change(const valise_env *env, const char *file, vls_layer layer, vls_ini_name name,
                  const valise_str *value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf old = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str path = valise_str_of(file);
    mode_t mode = 0600;
    valise_error why = VALISE_ERROR_INIT;
    struct stat st;
    int rc;

    vls_buf_init(&old, env, VLS_INI_MAX_BYTES);
    vls_buf_init(&text, env, VLS_INI_MAX_BYTES);
    rc = vls_file_read(&old, file, layer == VLS_LAYER_WORKSPACE ? VLS_FILE_NO_LINK : 0, &why);
    if (rc < 0 && rc != VALISE_E_NOT_FOUND) {
        if (err)
            *err = why;
        return rc;
    }
    if (rc == 0 && layer == VLS_LAYER_USER && stat(file, &st) == 0)
        mode = st.st_mode & 0777;
    rc = value ? vls_ini_set(&text, path, vls_buf_str(&old), &name, *value, err)
               : vls_ini_unset(&text, path, vls_buf_str(&old), &name, err);
    return rc < 0 ? rc : vls_file_replace(file, vls_buf_str(&text), mode, err);
}

int vls_config_write(const valise_env *env, const char *file, vls_layer layer, valise_str name,
                     const valise_str *value, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(fd) int lock = -1;
    const char *folder;
    vls_ini_name parts = {.key = {NULL, 0}};
    int rc = check_change(layer, name, value, err);

    vls_arena_init(&arena, env, PATHS_MAX);
    if (rc == 0)
        rc = split(&parts, name, err);
    if (rc == 0)
        rc = real_file(&file, &arena, file, layer, err);
    if (rc == 0)
        rc = folder_of(&folder, &arena, file, layer, err);
    if (rc == 0)
        rc = vls_folder_lock(&lock, env, folder, LOCK_TIMEOUT_NS, err);
    return rc < 0 ? rc : change(env, file, layer, parts, value, err);
}
