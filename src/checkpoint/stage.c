/* stage.c -- the folder that files are made in before they get to their place. See restore.h.
 *
 * It is .valise/restore of the workspace. Where a directory of the tree lies on another disk
 * nothing can be exchanged with that: then it is a .valise/restore in that directory, as long as
 * files in it are written; no scan looks there. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/text.h"
#include "checkpoint/restore.h"

#define OUTER ".valise"
#define FOLDER "restore"
#define ARENA_MAX ((size_t)256 << 20)
#define HOLE ((size_t)64 * 1024) /* zeros that are not written */
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* ---- the folder ---- */

/* Open a folder in a folder, which is made where there is none. */
static int open_folder(int *out, int at, const char *name, const char *shown, valise_error *err)
{
    int fd;

    if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return vls_fail_errno(err, "make", valise_str_of(shown));
    fd = vls_fd_open_at(at, name, FOLDER_FLAGS, 0);
    if (fd < 0)
        return vls_fail_errno(err, "open", valise_str_of(shown));
    *out = fd;
    return 0;
}

/* A workspace without a folder has its stage where others have theirs: no scan looks there. What
 * lies in a tree may be a link, what the user opened as a workspace is where they have it. */
static int find_folder(vls_writer *w, valise_error *err)
{
    const char *folder = w->v->place.folder;
    VLS_AUTO(fd) int outer = -1;
    int rc = 0;

    if (!folder) {
        rc = vls_path_join(&w->outer, &w->arena, w->root, OUTER, err);
        folder = w->outer;
        if (rc == 0)
            rc = open_folder(&outer, AT_FDCWD, folder, folder, err);
    } else {
        outer = vls_fd_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
        if (outer < 0)
            rc = vls_fail_errno(err, "open", valise_str_of(folder));
    }
    if (rc == 0)
        rc = vls_path_join(&w->folder, &w->arena, folder, FOLDER, err);
    return rc < 0 ? rc : open_folder(&w->stage, outer, FOLDER, w->folder, err);
}

static int lock(const vls_writer *w, valise_error *err)
{
    int rc;

    do
        rc = flock(w->stage, LOCK_EX | LOCK_NB);
    while (vls_fd_again(rc));
    if (rc == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return vls_fail_errno(err, "lock", valise_str_of(w->folder));
    (void)vls_fail(err, VALISE_E_BUSY, "another restore is running");
    vls_hint(err, "run this again when it is done");
    return VALISE_E_BUSY;
}

int vls_writer_open(vls_writer *out, valise_job *job, const char *root, valise_error *err)
{
    VLS_AUTO(writer)
    vls_writer w = {.job = job, .v = job->v, .root = root, .stage = -1, .home = -1, .beside = -1};
    int rc;

    vls_arena_init(&w.arena, job->v->env, ARENA_MAX);
    rc = find_folder(&w, err);
    if (rc == 0)
        rc = lock(&w, err);
    if (rc == 0)
        rc = vls_stage_tidy(&w, err);
    if (rc < 0)
        return rc;
    *out = w;
    w = (vls_writer){.stage = -1, .home = -1, .beside = -1};
    return 0;
}

void vls_writer_close(vls_writer *w)
{
    if (!w->v)
        return;
    vls_stage_home(w);
    w->stage = vls_fd_close(w->stage);
    if (w->outer && w->folder) { /* they go when there is nothing in them */
        (void)rmdir(w->folder);
        (void)rmdir(w->outer);
    }
    vls_arena_release(&w->arena);
    *w = (vls_writer){.stage = -1, .home = -1, .beside = -1};
}

/* ---- on another disk ---- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

void vls_stage_home(vls_writer *w)
{
    int outer;

    if (w->beside < 0)
        return;
    (void)vls_fd_close(w->stage);
    outer = vls_fd_open_at(w->beside, OUTER, FOLDER_FLAGS, 0);
    if (outer >= 0)
        (void)unlinkat(outer, FOLDER, AT_REMOVEDIR); /* they go when there is nothing in them */
    (void)vls_fd_close(outer);
    (void)unlinkat(w->beside, OUTER, AT_REMOVEDIR);
    w->beside = vls_fd_close(w->beside);
    w->stage = w->home;
    w->folder = w->home_folder;
    w->home = -1;
}

void vls_stage_for(vls_writer *w, int dir)
{
    struct stat a, b;

    if (w->beside >= 0 && (fstat(w->beside, &a) < 0 || fstat(dir, &b) < 0 || !is_same_file(&a, &b)))
        vls_stage_home(w);
}

/* The folder, behind which w->stage is. */
static int open_beside(vls_writer *w, valise_str path, valise_error *err)
{
    VLS_AUTO(fd) int outer = -1;
    valise_str text;
    const char *folder = NULL;
    int rc = vls_arena_dup(&text, &w->arena, path, err);

    if (rc == 0)
        rc = vls_path_join(&folder, &w->arena, w->root, text.len > 0 ? text.ptr : ".", err);
    if (rc == 0)
        rc = vls_path_join(&w->folder, &w->arena, folder, OUTER "/" FOLDER, err);
    if (rc == 0)
        rc = open_folder(&outer, w->beside, OUTER, w->folder, err);
    if (rc == 0)
        rc = open_folder(&w->stage, outer, FOLDER, w->folder, err);
    if (rc == 0)
        rc = lock(w, err);
    return rc < 0 ? rc : vls_stage_tidy(w, err);
}

int vls_stage_beside(vls_writer *w, int dir, valise_str path, valise_error *err)
{
    int copy, rc;

    if (w->beside >= 0)
        return 0; /* it is already, and does not help */
    copy = vls_fd_open_at(dir, ".", O_RDONLY | O_DIRECTORY, 0);
    if (copy < 0)
        return 0;
    w->home = w->stage;
    w->home_folder = w->folder;
    w->stage = -1;
    w->beside = copy;
    rc = open_beside(w, path, err);
    if (rc == 0)
        return 1;
    vls_stage_home(w);
    if (rc == VALISE_E_NO_MEMORY)
        return rc;
    vls_error_clear(err); /* there is none to be had: what lies there stays */
    return 0;
}

/* ---- moving ---- */

/* Where a disk cannot tell by itself whether something is there, a second name can: it is refused
 * when there is a first. */
static int move_by_link(int from_dir, const char *from, int to_dir, const char *to)
{
    struct stat st;
    int rc;

    if (linkat(from_dir, from, to_dir, to, 0) == 0)
        return unlinkat(from_dir, from, 0);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1;
    if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    do
        rc = renameat(from_dir, from, to_dir, to);
    while (vls_fd_again(rc));
    return rc;
}

int vls_stage_move(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    int rc;

    do
        rc = renameat2(from_dir, from, to_dir, to, flags);
    while (vls_fd_again(rc));
    if (rc == 0 || flags != RENAME_NOREPLACE || (errno != EINVAL && errno != ENOSYS))
        return rc;
    return move_by_link(from_dir, from, to_dir, to);
}

/* ---- making a file ---- */

typedef struct copying {
    vls_writer *w;
    const vls_manifest_entry *want;
    int fd;
    bool hole; /* it ends in one */
} copying;

static bool is_zero(const char *bytes, size_t len)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* Whole pieces of zeros become holes. */
static int write_piece(copying *c, valise_str bytes, valise_error *err)
{
    while (bytes.len > 0) {
        valise_str piece = vls_str_head(bytes, HOLE);
        bytes = vls_str_from(bytes, piece.len);
        c->hole = piece.len == HOLE && is_zero(piece.ptr, piece.len);
        if (c->hole ? lseek(c->fd, (off_t)piece.len, SEEK_CUR) < 0
                    : vls_fd_write_all(c->fd, piece) < 0)
            return vls_fail_errno(err, "write", c->want->path);
    }
    return 0;
}

static int copy_blob(copying *c, const valise_id *id, valise_error *err)
{
    VLS_AUTO(blob_reader) vls_blob_reader *reader = NULL;
    char buffer[HOLE];
    size_t len = 0;
    int rc = vls_blob_reader_open(&reader, c->w->v->blobs, id, err);

    while (rc == 0 && (rc = vls_blob_reader_read(&len, reader, buffer, sizeof(buffer), err)) == 0 &&
           len > 0)
        rc = write_piece(c, vls_str(buffer, len), err);
    return rc;
}

/* An object was hashed on the way, but that is another hash than the file's: a row may say of any
 * object that it is this content. */
static int copy_object(copying *c, valise_view *view, const valise_id *id, valise_error *err)
{
    valise_str bytes;
    valise_id hash;
    int rc = valise_view_object(&bytes, view, id, err);

    if (rc < 0)
        return rc;
    vls_hash_bytes(&hash, bytes);
    if (!vls_id_equal(&hash, &c->want->content))
        return vls_fail(err, VALISE_E_CORRUPT, "what is stored for '%s' is not its content",
                        vls_text_short(c->want->path).s);
    return write_piece(c, bytes, err);
}

/* A blob is verified by who reads it to the end. */
static int copy(void *arg, valise_view *view, valise_error *err)
{
    copying *c = arg;
    vls_tree_content_row row;
    int rc = vls_tree_content_get(&row, view, &c->want->content, err);

    if (rc < 0)
        return rc;
    if (rc != 1)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the content of '%.*s' is gone",
                        VALISE_STR_ARG(c->want->path));
    return vls_id_equal(&row.blob, &row.hash) ? copy_blob(c, &row.blob, err)
                                              : copy_object(c, view, &row.object, err);
}

static int fill(vls_writer *w, const vls_manifest_entry *want, int fd, valise_error *err)
{
    copying c = {.w = w, .want = want, .fd = fd};
    int rc = vls_with_view(w->v, NULL, copy, &c, err);

    if (rc == 0 && c.hole && ftruncate(fd, want->size) < 0)
        rc = vls_fail_errno(err, "write", want->path);
    if (rc == 0 && fchmod(fd, want->mode & VLS_MODE_BITS) < 0)
        rc = vls_fail_errno(err, "chmod", want->path);
    return rc;
}

static int make_link(vls_writer *w, const char *name, const vls_manifest_entry *want,
                     valise_error *err)
{
    valise_str target;
    int rc = vls_arena_dup(&target, &w->arena, want->target, err);

    if (rc == 0 && symlinkat(target.ptr, w->stage, name) < 0)
        rc = vls_fail_errno(err, "link", want->path);
    return rc;
}

int vls_writer_stage(char name[32], vls_writer *w, const vls_manifest_entry *want,
                     valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    char fresh[32];
    int rc;

    w->number++;
    (void)snprintf(fresh, sizeof(fresh), "new-%llu", (unsigned long long)w->number);
    (void)snprintf(name, 32, "swap-%llu", (unsigned long long)w->number);
    if (want->kind == VLS_MANIFEST_LINK)
        return make_link(w, name, want, err);
    fd = vls_fd_open_at(w->stage, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return vls_fail_errno(err, "write", want->path);
    rc = fill(w, want, fd, err);
    if (rc == 0 && renameat(w->stage, fresh, w->stage, name) < 0)
        rc = vls_fail_errno(err, "rename", want->path);
    if (rc < 0)
        (void)unlinkat(w->stage, fresh, 0);
    return rc;
}
