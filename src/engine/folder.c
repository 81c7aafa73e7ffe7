/* folder.c -- .valise/: found, made, and whose it is.
 *
 *     .valise/              0700
 *         .gitignore        "*": nothing in here belongs into a repository
 *         config            settings of this workspace
 *         valise.db         the store (sqlite)
 *         blobs/            the blob store
 *
 * Files are 0600. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "engine/engine.h"
#include "base/file.h"

#define PATHS_MAX ((size_t)256 << 10)
#define LOCK_TIMEOUT_NS 5000000000

static const char ignore_text[] = "*\n";
static const char config_text[] = "# Settings of this workspace; `valise config` changes them.\n"
                                  "[core]\n"
                                  "\tdurability = full\n";

/* Something else stands where .valise should be. A link could lead anywhere, also to a folder that
 * somebody else made. */
static int refuse_kind(const struct stat *st, const char *path, valise_error *err)
{
    if (S_ISLNK(st->st_mode)) {
        (void)vls_fail(err, VALISE_E_INVALID, "%s is a symbolic link, not a workspace", path);
        vls_hint(err, "name the folder that has the workspace (--workspace DIR, VALISE_DIR), or "
                      "remove the link");
    } else {
        (void)vls_fail(err, VALISE_E_INVALID, "%s is not a folder, so there is no workspace", path);
        vls_hint(err, "move it away, then run: valise init");
    }
    return VALISE_E_INVALID;
}

/* 1 when there is a folder (no link to one), 0 when there is nothing. */
static int look_for(struct stat *st, const char *path, valise_error *err)
{
    if (lstat(path, st) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;
        return vls_fail_errno(err, "cannot look at", valise_str_of(path));
    }
    return S_ISDIR(st->st_mode) ? 1 : refuse_kind(st, path, err);
}

int vls_folder_open(vls_engine *engine, const char *path, valise_error *err)
{
    vls_arena *arena = &engine->arena;
    const char *folder = NULL;
    struct stat st = {0};
    int rc = vls_path_real(&engine->root, arena, path, err);

    if (rc == 0)
        rc = vls_path_join(&folder, arena, engine->root, VLS_FOLDER, err);
    if (rc == 0)
        rc = look_for(&st, folder, err);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no workspace in %s", engine->root);
        vls_hint(err, "valise init %s", path);
        return VALISE_E_NOT_FOUND;
    }
    engine->folder = folder;
    engine->owner = (int64_t)st.st_uid;
    return 0;
}

/* ---- making ---- */

/* Take from others what they may do with a file or folder; its owner may do what he could. Links
 * are left alone. */
static int make_private(const char *path, const struct stat *st, mode_t mode, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;

    if ((st->st_mode & 077) == 0 || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
        return 0;
    fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0 || fchmod(fd, st->st_mode & mode) < 0)
        return vls_fail_errno(err, "cannot make private", valise_str_of(path));
    return 0;
}

static int make_file(const char *folder, const char *name, const char *text, vls_arena *arena,
                     valise_error *err)
{
    const char *path;
    struct stat st;
    int rc = vls_path_join(&path, arena, folder, name, err);

    if (rc < 0)
        return rc;
    if (lstat(path, &st) == 0)
        return make_private(path, &st, 0600, err);
    return vls_file_replace(path, valise_str_of(text), 0600, err);
}

/* What others made before us, or a copy that was made without its modes, may be read by others. Of
 * a workspace nothing is. The store's file comes before it is opened: what SQLite puts beside it
 * gets its mode. */
static int make_all_private(const char *folder, vls_arena *arena, valise_error *err)
{
    static const char *const names[] = {"valise.db", "valise.db-wal", "valise.db-shm",
                                        VLS_CONFIG_FILE, "blobs"};
    struct stat st;
    int rc = lstat(folder, &st) == 0 ? make_private(folder, &st, 0700, err)
                                     : vls_fail_errno(err, "cannot look at", valise_str_of(folder));

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(names); i++) {
        const char *path;
        rc = vls_path_join(&path, arena, folder, names[i], err);
        if (rc == 0 && lstat(path, &st) == 0)
            rc = make_private(path, &st, S_ISDIR(st.st_mode) ? 0700 : 0600, err);
    }
    return rc;
}

void vls_folder_tighten(vls_engine *engine)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    if (engine->owner != (int64_t)geteuid())
        return;
    vls_arena_init(&arena, engine->env, PATHS_MAX);
    (void)make_all_private(engine->folder, &arena, NULL);
}

int vls_folder_create(const valise_env *env, const char *path, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(fd) int lock = -1;
    const char *folder;
    struct stat st = {0};
    int rc;

    vls_arena_init(&arena, env, PATHS_MAX);
    rc = vls_path_join(&folder, &arena, path, VLS_FOLDER, err);
    if (rc == 0)
        rc = vls_folder_make(path, 0777, err);
    if (rc == 0)
        rc = look_for(&st, folder, err);
    if (rc > 0 && st.st_uid != geteuid())
        return 0; /* there is one, and it is not ours to add to */
    if (rc == 0)
        rc = vls_folder_make(folder, 0700, err);
    else if (rc > 0)
        rc = make_all_private(folder, &arena, err);
    if (rc == 0) /* others may be making the same one */
        rc = vls_folder_lock(&lock, env, folder, LOCK_TIMEOUT_NS, err);
    if (rc == 0)
        rc = make_file(folder, ".gitignore", ignore_text, &arena, err);
    return rc < 0 ? rc : make_file(folder, VLS_CONFIG_FILE, config_text, &arena, err);
}

/* ---- finding ---- */

/* Cut the last part off; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* What stands in its place is no reason not to look further up, but it is told. */
static bool holds_workspace(const char *folder, valise_error *why)
{
    char path[PATH_MAX + sizeof(VLS_FOLDER) + 1];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/" VLS_FOLDER, strcmp(folder, "/") ? folder : "");
    if (lstat(path, &st) < 0)
        return false;
    if (!S_ISDIR(st.st_mode) && why->code == 0)
        (void)refuse_kind(&st, path, why);
    return S_ISDIR(st.st_mode);
}

int valise_find(valise_blob **out, const char *path, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    char folder[PATH_MAX];

    VLS_ARG(out && path, err);
    if (!realpath(path, folder))
        return vls_fail_errno(err, "cannot find", valise_str_of(path));
    do {
        if (holds_workspace(folder, &why))
            return vls_blob_new(out, valise_env_default(), valise_str_of(folder), err);
    } while (go_up(folder));
    if (why.code < 0) {
        if (err)
            *err = why;
        return why.code;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no workspace in %s or above it", path);
    vls_hint(err, "run 'valise init' to create one");
    return VALISE_E_NOT_FOUND;
}
