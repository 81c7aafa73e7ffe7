/* trust.c -- what the user trusts. */
#include "engine/trust.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/str.h"
#include "base/file.h"

#define PATHS_MAX ((size_t)256 << 10)

/* ---- asking ---- */

/* Only the user's file can set them: config.c. */
#define BYTES "trust.*.sha256"
#define OWNER "trust.*.owner"

int vls_trust_check(const vls_config *config, const char *path, const valise_id *id,
                    valise_error *err)
{
    valise_str known = vls_config_in(config, BYTES, valise_str_of(path));

    if (known.ptr && (!id || vls_str_equal(known, valise_str_of(vls_id_hex(id).s))))
        return 0;
    if (known.ptr)
        (void)vls_fail(err, VALISE_E_DENIED, "%s has changed since it was trusted", path);
    else
        (void)vls_fail(err, VALISE_E_DENIED,
                       "%s is not trusted: a workspace alone cannot make programs run", path);
    vls_hint(err, "valise trust %s", path);
    return VALISE_E_DENIED;
}

valise_str vls_trust_find(const vls_config *config, const valise_id *id, size_t nth)
{
    size_t count;
    const vls_config_entry *all = vls_config_entries(&count, config);
    vls_id_text hex = vls_id_hex(id);

    for (size_t i = 0; i < count; i++) {
        if (!all[i].setting || all[i].ignored || strcmp(all[i].setting->name, BYTES) != 0 ||
            !vls_str_equal(all[i].value, valise_str_of(hex.s)) ||
            /* what was said of this path last counts */
            vls_config_in(config, BYTES, all[i].subsection).ptr != all[i].value.ptr)
            continue;
        if (nth-- == 0)
            return all[i].subsection;
    }
    return (valise_str){NULL, 0};
}

bool vls_trust_has_workspace(const vls_config *config, const char *folder, int64_t owner)
{
    valise_str known = vls_config_in(config, OWNER, valise_str_of(folder));
    int64_t trusted;

    return known.ptr && vls_str_to_i64(&trusted, known) && trusted == owner;
}

int vls_trust_check_workspace(const vls_config *config, const char *folder, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *root = NULL, *inside = NULL;
    struct stat st;
    int rc;

    vls_arena_init(&arena, valise_env_default(), PATHS_MAX);
    rc = vls_path_real(&root, &arena, folder, err);
    if (rc == 0)
        rc = vls_path_join(&inside, &arena, root, VLS_FOLDER, err);
    if (rc < 0)
        return rc;
    assert(inside);
    if (lstat(inside, &st) < 0)
        return vls_fail_errno(err, "no workspace here:", valise_str_of(inside));
    if (st.st_uid == geteuid() || vls_trust_has_workspace(config, root, (int64_t)st.st_uid))
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED, "%s belongs to another user", inside);
    vls_hint(err, "valise trust %s", root);
    return VALISE_E_DENIED;
}

/* ---- recording ---- */

static int write_one(const valise_env *env, const char *user_file, const char *path,
                     const char *key, const valise_str *value, valise_error *err)
{
    char name[PATH_MAX + 32];

    (void)snprintf(name, sizeof(name), "trust.%s.%s", path, key);
    return vls_config_write(env, user_file, VLS_LAYER_USER, valise_str_of(name), value, err);
}

static int add_workspace(const valise_env *env, const char *user_file, const char *folder,
                         vls_arena *arena, valise_error *err)
{
    char room[VLS_U64_DIGITS];
    const char *inside;
    struct stat st;
    valise_str owner;
    int rc = vls_path_join(&inside, arena, folder, VLS_FOLDER, err);

    if (rc < 0)
        return rc;
    assert(inside);
    if (lstat(inside, &st) < 0)
        return vls_fail_errno(err, "no workspace here:", valise_str_of(inside));
    owner = vls_u64_digits(room, st.st_uid);
    return write_one(env, user_file, folder, "owner", &owner, err);
}

static int add_file(const valise_env *env, const char *user_file, const char *path,
                    valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    vls_id_text hex;
    valise_str value;
    int rc = vls_sealed_open(&sealed, path, err);

    if (rc < 0)
        return rc;
    hex = vls_id_hex(&sealed.id);
    value = valise_str_of(hex.s);
    return write_one(env, user_file, path, "sha256", &value, err);
}

int vls_trust_add(const valise_env *env, const char *user_file, const char *path, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *real;
    struct stat st;
    int rc;

    vls_arena_init(&arena, env, PATHS_MAX);
    rc = vls_path_real(&real, &arena, path, err);
    if (rc < 0)
        return rc;
    if (stat(real, &st) < 0)
        return vls_fail_errno(err, "cannot look at", valise_str_of(real));
    if (S_ISDIR(st.st_mode))
        return add_workspace(env, user_file, real, &arena, err);
    return add_file(env, user_file, real, err);
}

int vls_trust_remove(const valise_env *env, const char *user_file, const char *path,
                     valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *real = path;
    int file, workspace;

    vls_arena_init(&arena, env, PATHS_MAX);
    /* What is gone by now can be removed by the name it had. */
    if (vls_path_real(&real, &arena, path, NULL) < 0)
        real = path;
    file = write_one(env, user_file, real, "sha256", NULL, err);
    if (file < 0 && file != VALISE_E_NOT_FOUND)
        return file;
    workspace = write_one(env, user_file, real, "owner", NULL, file == 0 ? NULL : err);
    if (workspace == VALISE_E_NOT_FOUND && file < 0)
        return vls_fail(err, VALISE_E_NOT_FOUND, "%s was not trusted", real);
    return workspace == VALISE_E_NOT_FOUND ? 0 : workspace;
}
