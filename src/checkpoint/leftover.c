/* leftover.c -- what a restore that was killed left in the stage. See restore.h. */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/str.h"
#include "checkpoint/restore.h"
#include "store/view.h"

#define ARENA_MAX ((size_t)256 << 20)
#define TARGET_MAX (VLS_PATH_MAX + 128)

int vls_stage_hash(valise_id *out, int stage, const char *name, valise_error *err)
{
    vls_hasher hasher;
    char buffer[32 * 1024];
    VLS_AUTO(fd)
    int fd = vls_fd_open_at(stage, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    ssize_t got;

    if (fd < 0)
        return vls_fail_errno(err, "open", valise_str_of(name));
    vls_hash_begin(&hasher);
    while ((got = vls_fd_read(fd, buffer, sizeof(buffer))) > 0)
        vls_hash_update(&hasher, vls_str(buffer, (size_t)got));
    if (got < 0)
        return vls_fail_errno(err, "read", valise_str_of(name));
    vls_hash_end(out, &hasher);
    return 0;
}

static int tell_found(vls_writer *w, const char *name, valise_error *err)
{
    const char *path = NULL;
    int rc = vls_path_join(&path, &w->arena, w->folder, name, err);

    if (rc == 0 && !vls_vec_push_in(&w->found, &w->arena, valise_str_of(path)))
        rc = vls_arena_fail(&w->arena, err);
    return rc;
}

int vls_stage_keep(vls_writer *w, const char *name, valise_error *err)
{
    char kept[32];
    int rc;

    do {
        (void)snprintf(kept, sizeof(kept), "found-%llu", (unsigned long long)++w->number);
        rc = vls_stage_move(w->stage, name, w->stage, kept, RENAME_NOREPLACE);
    } while (rc < 0 && errno == EEXIST);
    return rc < 0 ? vls_fail_errno(err, "rename", valise_str_of(name)) : tell_found(w, kept, err);
}

/* ---- does some checkpoint have it? ---- */

typedef struct asking {
    bool link;
    valise_id hash;    /* of a file */
    valise_str target; /* of a link */
} asking;

static bool is_it(const asking *a, const vls_manifest_entry *e)
{
    return a->link ? e->kind == VLS_MANIFEST_LINK && vls_str_equal(e->target, a->target)
                   : e->kind == VLS_MANIFEST_FILE && vls_id_equal(&e->content, &a->hash);
}

/* What is damaged or erased has nothing. */
static int has_it(const asking *a, valise_view *view, const vls_checkpoint_row *row)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    VLS_AUTO(blob) valise_blob *manifest = NULL;
    vls_manifest_entry e;
    int rc = vls_checkpoint_open(&manifest, view, row, NULL);

    if (rc == 0)
        rc = vls_manifest_open(&reader, view->arena.env, valise_blob_bytes(manifest), NULL);
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, NULL)) > 0)
        rc = is_it(a, &e) ? 2 : 0;
    return rc == VALISE_E_NO_MEMORY ? rc : rc == 2;
}

/* A content may be stored that no checkpoint lists: then it goes when one is removed. */
static int is_kept(void *arg, valise_view *view, valise_error *err)
{
    const asking *a = arg;
    vls_checkpoint_row row = {.version = 0};
    vls_tree_content_row content;
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = a->link ? 1 : vls_tree_content_get(&content, view, &a->hash, err);

    if (rc != 1)
        return vls_settle(rc);
    rc = valise_view_scan(&scan, view, &vls_checkpoints, NULL, err);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = has_it(a, view, &row);
    return rc == VALISE_E_NO_MEMORY ? vls_fail_memory(err) : rc;
}

/* ---- one of them ---- */

/* "new-12", "swap-12" */
static bool is_made_here(valise_str name, valise_str prefix)
{
    if (!vls_str_starts(name, prefix) || name.len == prefix.len)
        return false;
    for (size_t i = prefix.len; i < name.len; i++) {
        if (name.ptr[i] < '0' || name.ptr[i] > '9')
            return false;
    }
    return true;
}

/* What was exchanged, or was about to be: whether it may go. 1, or 0. */
static int may_go(vls_writer *w, const char *name, mode_t mode, valise_error *err)
{
    char target[TARGET_MAX];
    asking a = {.link = S_ISLNK(mode)};
    int rc = 0;

    if (a.link) {
        ssize_t len = readlinkat(w->stage, name, target, sizeof(target));
        a.target = vls_str(target, len > 0 ? (size_t)len : 0);
    } else if (S_ISREG(mode)) {
        rc = vls_stage_hash(&a.hash, w->stage, name, err);
    } else {
        return 0;
    }
    return rc < 0 ? rc : vls_with_view(w->v, NULL, is_kept, &a, err);
}

static int tidy_one(vls_writer *w, valise_str name, valise_error *err)
{
    struct stat st;
    int rc = 1;

    if (vls_str_starts(name, VLS_STR("found-")))
        return tell_found(w, name.ptr, err);
    if (!(is_made_here(name, VLS_STR("new-")) || is_made_here(name, VLS_STR("swap-"))) ||
        fstatat(w->stage, name.ptr, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (name.ptr[0] == 's' || !S_ISREG(st.st_mode))
        rc = may_go(w, name.ptr, st.st_mode, err);
    if (rc <= 0)
        return rc < 0 ? rc : vls_stage_keep(w, name.ptr, err);
    return unlinkat(w->stage, name.ptr, 0) < 0 && errno != ENOENT
               ? vls_fail_errno(err, "remove", name)
               : 0;
}

/* ---- all of them ---- */

static int list_names(vls_writer *w, vls_arena *arena, valise_list *out, valise_error *err)
{
    vls_vec(valise_str) names = VLS_VEC_INIT;
    int fd = vls_fd_open_at(w->stage, ".", O_RDONLY | O_DIRECTORY, 0), rc = 0;
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!folder) {
        rc = vls_fail_errno(err, "open", valise_str_of(w->folder));
        (void)vls_fd_close(fd);
        return rc;
    }
    while (rc == 0 && (entry = vls_fd_next_entry(folder))) {
        valise_str name;
        if (entry->d_name[0] == '.')
            continue;
        rc = vls_arena_dup(&name, arena, valise_str_of(entry->d_name), err);
        if (rc == 0 && !vls_vec_push_in(&names, arena, name))
            rc = vls_arena_fail(arena, err);
    }
    (void)closedir(folder);
    if (rc == 0)
        *out = (valise_list){names.ptr, names.len};
    return rc;
}

int vls_stage_tidy(vls_writer *w, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_list list = {NULL, 0};
    const valise_str *names;
    int rc;

    vls_arena_init(&arena, w->v->env, ARENA_MAX);
    rc = list_names(w, &arena, &list, err);
    if (rc < 0)
        return rc;
    names = list.items;
    for (size_t i = 0; rc == 0 && i < list.count; i++)
        rc = tidy_one(w, names[i], err);
    return rc;
}
