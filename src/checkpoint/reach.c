/* reach.c -- see reach.h. */
#include "checkpoint/reach.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define OPEN_MAX 64u /* directories that stay open */
#define OPENED_MAX ((size_t)256 << 20)

int vls_reach_open(vls_reach *out, const valise_env *env, const char *root, valise_error *err)
{
    int fd = vls_fd_open_at(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0);

    if (fd < 0)
        return vls_fail_errno(err, "open", valise_str_of(root));
    *out = (vls_reach){.env = env, .root = fd};
    vls_arena_init(&out->arena, env, OPENED_MAX);
    vls_buf_init(&out->path, env, VLS_PATH_MAX);
    return 0;
}

static void drop_levels(vls_reach *r, size_t keep)
{
    while (r->levels.len > keep)
        (void)vls_fd_close(r->levels.ptr[--r->levels.len].fd);
    r->path.len = keep > 0 ? r->levels.ptr[keep - 1].len : 0;
}

static int by_path_last_first(const void *a, const void *b)
{
    return vls_path_compare(((const vls_reach_opened *)b)->path,
                            ((const vls_reach_opened *)a)->path);
}

/* The innermost first: it can be reached as long as those above are open. */
static void close_up(vls_reach *r)
{
    char name[VLS_NODE_NAME_MAX + 1];
    int fd;

    r->write = false;
    if (r->opened.len > 1)
        qsort(r->opened.ptr, r->opened.len, sizeof(*r->opened.ptr), by_path_last_first);
    for (size_t i = 0; i < r->opened.len; i++) {
        const vls_reach_opened *o = &r->opened.ptr[i];
        int rc = 0;
        if (o->path.len == 0)
            rc = fchmod(r->root, o->mode);
        else if (vls_reach_parent(&fd, name, r, o->path, NULL) > 0)
            rc = fchmodat(fd, name, o->mode, AT_SYMLINK_NOFOLLOW);
        (void)rc; /* it may be gone; and there is nobody to tell */
    }
}

void vls_reach_close(vls_reach *r)
{
    if (!r->env)
        return;
    close_up(r);
    drop_levels(r, 0);
    r->root = vls_fd_close(r->root);
    vls_vec_release(&r->levels, r->env);
    vls_vec_release(&r->opened, r->env);
    vls_buf_release(&r->path);
    vls_arena_release(&r->arena);
    *r = (vls_reach){.root = -1};
}

/* ---- opening up ---- */

static int remember(vls_reach *r, valise_str path, mode_t mode, valise_error *err)
{
    valise_str kept;
    int rc = vls_arena_dup(&kept, &r->arena, path, err);

    if (rc == 0 && !vls_vec_push(&r->opened, r->env, (vls_reach_opened){kept, mode & 07777}))
        rc = vls_fail_memory(err);
    return rc;
}

/* It is somebody else's: what is to be done in it says whether that matters. */
static bool is_refused(int error)
{
    return error == EPERM || error == EROFS;
}

/* Of a directory in dir: see that its owner may do everything in it. */
static int open_up(vls_reach *r, int dir, const char *name, valise_str path, valise_error *err)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) ||
        (st.st_mode & 0700) == 0700)
        return 0;
    if (fchmodat(dir, name, (st.st_mode & 07777) | 0700, AT_SYMLINK_NOFOLLOW) < 0)
        return is_refused(errno) ? 0 : vls_fail_errno(err, "chmod", path);
    return remember(r, path, st.st_mode, err);
}

static int open_up_root(vls_reach *r, valise_error *err)
{
    struct stat st;

    if (r->levels.len > 0 || fstat(r->root, &st) < 0 || (st.st_mode & 0700) == 0700)
        return 0;
    if (fchmod(r->root, (st.st_mode & 07777) | 0700) < 0)
        return is_refused(errno) ? 0
                                 : vls_fail_errno(err, "chmod", VLS_STR("the root of the tree"));
    return remember(r, VLS_STR(""), st.st_mode, err);
}

void vls_reach_forget(vls_reach *r, valise_str path)
{
    for (size_t i = r->opened.len; i-- > 0;)
        if (vls_str_equal(r->opened.ptr[i].path, path))
            r->opened.ptr[i] = r->opened.ptr[--r->opened.len]; /* their order does not matter */
}

void vls_reach_set_mode(vls_reach *r, valise_str path, mode_t mode)
{
    for (size_t i = 0; i < r->opened.len; i++)
        if (vls_str_equal(r->opened.ptr[i].path, path))
            r->opened.ptr[i].mode = mode;
}

/* ---- going there ---- */

/* One directory further. 1, or 0. */
static int enter(vls_reach *r, valise_str dir, valise_error *err)
{
    valise_str name = r->path.len > 0 ? vls_str_from(dir, r->path.len + 1) : dir;
    int above = r->levels.len > 0 ? r->levels.ptr[r->levels.len - 1].fd : r->root, fd, rc = 0;
    char text[VLS_NODE_NAME_MAX + 1];

    if (name.len > VLS_NODE_NAME_MAX)
        return 0;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    if (r->write)
        rc = open_up(r, above, text, dir, err);
    if (rc < 0)
        return rc;
    fd = vls_fd_open_at(above, text, DIR_FLAGS, 0);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES))
        return 0;
    if (fd < 0)
        return vls_fail_errno(err, "open", dir);
    vls_buf_clear(&r->path);
    vls_buf_add(&r->path, dir);
    rc = vls_buf_check(&r->path, err);
    if (rc == 0 && !vls_vec_push(&r->levels, r->env, (vls_reach_level){fd, dir.len}))
        rc = vls_fail_memory(err);
    if (rc < 0) {
        (void)vls_fd_close(fd);
        drop_levels(r, r->levels.len);
        return rc;
    }
    if (r->levels.len > OPEN_MAX) {
        vls_reach_level *far = &r->levels.ptr[r->levels.len - OPEN_MAX - 1];
        far->fd = vls_fd_close(far->fd);
    }
    return 1;
}

/* Leave what is not above the directory, then enter what is left of the way. 1, or 0. */
static int go(vls_reach *r, valise_str dir, valise_error *err)
{
    size_t keep = 0, len;
    int rc = r->write ? open_up_root(r, err) : 0;

    if (rc < 0)
        return rc;
    while (keep < r->levels.len &&
           vls_path_is_under(dir, vls_str(r->path.ptr, r->levels.ptr[keep].len)))
        keep++;
    if (keep > 0 && r->levels.ptr[keep - 1].fd < 0)
        keep = 0; /* it was closed, since too many were open */
    drop_levels(r, keep);
    while (r->path.len < dir.len) {
        len = r->path.len > 0 ? r->path.len + 1 : 0;
        len += vls_str_find_byte(vls_str_from(dir, len), '/');
        rc = enter(r, vls_str_head(dir, len), err);
        if (rc <= 0)
            return rc;
    }
    return 1;
}

int vls_reach_parent(int *fd, char name[VLS_NODE_NAME_MAX + 1], vls_reach *r, valise_str path,
                     valise_error *err)
{
    valise_str last = vls_path_name(path);
    int rc;

    assert(path.len > 0);
    if (last.len > VLS_NODE_NAME_MAX)
        return 0;
    rc = go(r, vls_path_parent(path), err);
    if (rc <= 0)
        return rc;
    memcpy(name, last.ptr, last.len);
    name[last.len] = '\0';
    *fd = r->levels.len > 0 ? r->levels.ptr[r->levels.len - 1].fd : r->root;
    return 1;
}

int vls_reach_stat(struct stat *out, vls_reach *r, valise_str path, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    int fd, rc;

    if (path.len == 0)
        return fstat(r->root, out) < 0 ? vls_fail_errno(err, "stat", VLS_STR(".")) : 1;
    rc = vls_reach_parent(&fd, name, r, path, err);
    if (rc <= 0)
        return rc;
    do
        rc = fstatat(fd, name, out, AT_SYMLINK_NOFOLLOW);
    while (vls_fd_again(rc));
    if (rc == 0)
        return 1;
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES
               ? 0
               : vls_fail_errno(err, "stat", path);
}

void vls_reach_leave(vls_reach *r, valise_str path)
{
    size_t keep = 0;

    while (keep < r->levels.len &&
           !vls_path_is_under(vls_str(r->path.ptr, r->levels.ptr[keep].len), path))
        keep++;
    drop_levels(r, keep);
}
