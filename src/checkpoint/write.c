/* write.c -- put files into their place. See restore.h. */
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "checkpoint/restore.h"

static int in_the_way(vls_writer *w, valise_str path, const char *why, valise_error *err)
{
    vls_restore_plan *p = w->plan;

    return vls_vec_push_in(&p->in_the_way, &p->arena,
                           (vls_checkpoint_problem){path, valise_str_of(why)})
               ? 0
               : vls_arena_fail(&p->arena, err);
}

/* What the owner of something, or of its directory, does not let us do: it stays as it is, and the
 * rest goes on. */
static bool is_refused(int error)
{
    return error == EACCES || error == EPERM || error == EROFS;
}

#define REFUSED "it may not be changed"
#define ELSEWHERE "it lies on another file system"
#define OTHER_DISK 2 /* the stage and its place are not on one */

/* ---- what came back ---- */

/* Save it now, as a checkpoint that has it and nothing else. */
static int save_late(vls_writer *w, const char *name, valise_str path, valise_error *err)
{
    VLS_AUTO(memory) vls_memory memory = {0};
    VLS_AUTO(fd)
    int fd = vls_fd_open_at(w->stage, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    vls_manifest_entry e = {.kind = VLS_MANIFEST_FILE, .path = path};
    VLS_AUTO(keeping)
    vls_keeping k = {
        .prefix = VLS_STR("before-restore-"), .partial = true, .tree = &w->survey->tree};
    vls_checkpoint_made made;
    struct stat st;
    valise_str kept;
    int rc;

    if (fd < 0 || fstat(fd, &st) < 0)
        return vls_fail_errno(err, "open", path);
    e.mode = vls_mode_of(st.st_mode, false);
    rc = vls_hoard_fd(&e.content, &e.size, w->hoard, fd, path, err);
    if (rc == 0)
        rc = vls_hoard_flush(w->hoard, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&k.manifest, w->v->env, VLS_MANIFEST_MAX);
    vls_manifest_begin(&k.manifest, true);
    vls_keeping_add(&k, &e);
    rc = vls_keep_manifest(&made, &memory, w->job, &k, err);
    if (rc == 0)
        rc = vls_arena_dup(&kept, &w->arena, made.name, err);
    if (rc == 0 && !vls_vec_push_in(&w->late, &w->arena, kept))
        rc = vls_arena_fail(&w->arena, err);
    return rc;
}

/* Whether it is what was saved: 1, 0. */
static int was_saved(vls_writer *w, const char *name, const struct stat *st, const vls_spot *have,
                     valise_error *err)
{
    char target[VLS_PATH_MAX + 128];
    valise_id hash;
    ssize_t len;
    int rc;

    if (have->lack != VLS_LACK_NONE)
        return 1; /* it cannot be saved, and --force said to go on */
    if (S_ISLNK(st->st_mode) && have->node.kind == VLS_NODE_LINK) {
        len = readlinkat(w->stage, name, target, sizeof(target));
        return len >= 0 && vls_str_equal(vls_str(target, (size_t)len), have->node.target);
    }
    if (!S_ISREG(st->st_mode) || have->node.kind != VLS_NODE_FILE)
        return 0; /* somebody put another thing there meanwhile */
    rc = vls_stage_hash(&hash, w->stage, name, err);
    return rc < 0 ? rc : vls_id_equal(&hash, &have->node.content);
}

/* What is in the stage under this name lay at the path: let it go, once it is saved. */
static int let_go(vls_writer *w, const char *name, valise_str path, const vls_spot *have,
                  valise_error *err)
{
    struct stat st;
    int rc;

    if (fstatat(w->stage, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return vls_fail_errno(err, "stat", path);
    if (S_ISDIR(st.st_mode)) /* somebody put a directory there meanwhile */
        return vls_stage_keep(w, name, err);
    rc = was_saved(w, name, &st, have, err);
    if (rc == 0)
        rc = save_late(w, name, path, NULL) < 0 ? vls_stage_keep(w, name, err) : 1;
    if (rc <= 0)
        return rc;
    return unlinkat(w->stage, name, 0) < 0 ? vls_fail_errno(err, "remove", path) : 0;
}

/* ---- steps ---- */

/* Take what lies at the path away. 1; 0: there is nothing any more, or it must stay. */
static int take_away(vls_writer *w, const vls_spot *have, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1], aside[32];
    int dir, rc;

    vls_reach_leave(w->reach, have->path);
    rc = vls_reach_parent(&dir, name, w->reach, have->path, err);
    if (rc <= 0)
        return rc;
    if (have->node.kind == VLS_NODE_DIR) {
        vls_stage_home(w);
        if (unlinkat(dir, name, AT_REMOVEDIR) == 0) {
            vls_reach_forget(w->reach, have->path);
            return 1;
        }
        if (errno == ENOENT)
            return 0;
        if (is_refused(errno))
            return in_the_way(w, have->path, REFUSED, err);
        if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR || errno == EBUSY)
            return in_the_way(w, have->path, "the directory holds what is not in the tree", err);
        return vls_fail_errno(err, "remove", have->path);
    }
    vls_stage_for(w, dir);
    (void)snprintf(aside, sizeof(aside), "swap-%llu", (unsigned long long)++w->number);
    rc = vls_stage_move(dir, name, w->stage, aside, RENAME_NOREPLACE);
    if (rc < 0 && errno == EXDEV) {
        rc = vls_stage_beside(w, dir, vls_path_parent(have->path), err);
        if (rc <= 0)
            return rc < 0 ? rc : in_the_way(w, have->path, ELSEWHERE, err);
        rc = vls_stage_move(dir, name, w->stage, aside, RENAME_NOREPLACE);
    }
    if (rc == 0) {
        rc = let_go(w, aside, have->path, have, err);
        return rc < 0 ? rc : 1;
    }
    if (errno == ENOENT)
        return 0;
    return is_refused(errno) ? in_the_way(w, have->path, REFUSED, err)
                             : vls_fail_errno(err, "move", have->path);
}

/* Put what is staged where nothing is; it goes when it cannot. 1; 0: it is in the way, and told;
 * OTHER_DISK. */
static int put_new(vls_writer *w, const char *staged, int dir, const char *name, valise_str path,
                   valise_error *err)
{
    int rc;

    if (vls_stage_move(w->stage, staged, dir, name, RENAME_NOREPLACE) == 0)
        return 1;
    if (errno == EXDEV)
        rc = OTHER_DISK;
    else if (errno == EEXIST)
        rc = in_the_way(w, path, "something came to lie there meanwhile", err);
    else
        rc = is_refused(errno) ? in_the_way(w, path, REFUSED, err)
                               : vls_fail_errno(err, "put", path);
    (void)unlinkat(w->stage, staged, 0);
    return rc;
}

/* For disks that cannot exchange: for a moment nothing lies there. */
static int put_anew(vls_writer *w, const vls_step *s, const char *staged, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    int dir, rc = take_away(w, s->have, err);

    if (rc >= 0)
        rc = vls_reach_parent(&dir, name, w->reach, s->want->path, err);
    if (rc > 0)
        return put_new(w, staged, dir, name, s->want->path, err);
    (void)unlinkat(w->stage, staged, 0);
    return rc;
}

/* Put what is staged in the place of something. What came back and cannot be looked at stays in the
 * stage: the next restore finds it. */
static int put_over(vls_writer *w, const vls_step *s, const char *staged, int dir, const char *name,
                    valise_error *err)
{
    int rc;

    if (vls_stage_move(w->stage, staged, dir, name, RENAME_EXCHANGE) == 0) {
        rc = let_go(w, staged, s->want->path, s->have, err);
        return rc < 0 ? rc : 1;
    }
    if (errno == EINVAL || errno == ENOSYS)
        return put_anew(w, s, staged, err);
    if (errno == ENOENT)
        return put_new(w, staged, dir, name, s->want->path, err); /* it is gone */
    if (errno != EXDEV && !is_refused(errno)) /* perhaps it was done: what is staged stays */
        return vls_fail_errno(err, "put", s->want->path);
    rc = errno == EXDEV ? OTHER_DISK : in_the_way(w, s->want->path, REFUSED, err);
    (void)unlinkat(w->stage, staged, 0);
    return rc;
}

static int put_once(vls_writer *w, const vls_step *s, int dir, const char *name, valise_error *err)
{
    char staged[32];
    int rc = vls_writer_stage(staged, w, s->want, err);

    if (rc < 0)
        return rc;
    return s->change == VLS_RESTORE_CREATE ? put_new(w, staged, dir, name, s->want->path, err)
                                           : put_over(w, s, staged, dir, name, err);
}

static int put_file(vls_writer *w, const vls_step *s, valise_error *err)
{
    valise_str path = s->want->path;
    char name[VLS_NODE_NAME_MAX + 1];
    int dir, rc = vls_reach_parent(&dir, name, w->reach, path, err);

    if (rc == 0)
        return in_the_way(w, path, "its directory is not there", err);
    if (rc < 0)
        return rc;
    vls_stage_for(w, dir);
    rc = put_once(w, s, dir, name, err);
    if (rc == OTHER_DISK) {
        rc = vls_stage_beside(w, dir, vls_path_parent(path), err);
        if (rc >= 0)
            rc = rc > 0 ? put_once(w, s, dir, name, err) : OTHER_DISK;
        if (rc == OTHER_DISK)
            rc = in_the_way(w, path, ELSEWHERE, err);
    }
    w->restored += rc > 0;
    return vls_settle(rc);
}

static int make_dir(vls_writer *w, const vls_step *s, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    int dir, rc = vls_reach_parent(&dir, name, w->reach, s->want->path, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return in_the_way(w, s->want->path, "its directory is not there", err);
    if (mkdirat(dir, name, 0700) < 0) {
        if (errno == EEXIST)
            return in_the_way(w, s->want->path, "something came to lie there meanwhile", err);
        return is_refused(errno) ? in_the_way(w, s->want->path, REFUSED, err)
                                 : vls_fail_errno(err, "make", s->want->path);
    }
    w->restored++;
    return 0;
}

static int change_mode(vls_writer *w, const vls_manifest_entry *e, int *rc, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    bool root = e->path.len == 0;
    struct stat st;
    int dir;

    *rc = vls_reach_stat(&st, w->reach, e->path, err);
    if (*rc > 0 && !root)
        *rc = vls_reach_parent(&dir, name, w->reach, e->path, err);
    if (*rc <= 0 || S_ISLNK(st.st_mode))
        return 0; /* gone, or a link by now */
    return root ? fchmod(w->reach->root, e->mode)
                : fchmodat(dir, name, e->mode, AT_SYMLINK_NOFOLLOW);
}

static int set_mode(vls_writer *w, const vls_step *s, valise_error *err)
{
    const vls_manifest_entry *e = s->want;
    int rc = 0, done;

    vls_reach_set_mode(w->reach, e->path, e->mode);
    done = change_mode(w, e, &rc, err);
    if (rc < 0)
        return rc;
    if (done == 0 || errno == ENOENT) {
        w->restored += s->change == VLS_RESTORE_MODE;
        return 0;
    }
    return is_refused(errno) ? in_the_way(w, e->path, REFUSED, err)
                             : vls_fail_errno(err, "chmod", e->path);
}

/* ---- all of them ---- */

static int check_room(const vls_writer *w, valise_error *err)
{
    struct statvfs fs;

    if (fstatvfs(w->stage, &fs) < 0 ||
        (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)w->plan->bytes)
        return 0;
    errno = ENOSPC;
    return vls_fail_errno(err, "restore into", valise_str_of(w->folder));
}

static int delete_all(vls_writer *w, valise_error *err)
{
    int rc = 0;

    for (size_t i = w->plan->steps.len; rc == 0 && i-- > 0;) {
        const vls_step *s = &w->plan->steps.ptr[i];
        if (s->change != VLS_RESTORE_DELETE)
            continue;
        rc = take_away(w, s->have, err);
        if (rc >= 0) {
            w->deleted += rc > 0;
            rc = valise_job_step(w->job, 1, err);
        }
    }
    return rc;
}

static int put_all(vls_writer *w, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < w->plan->steps.len; i++) {
        const vls_step *s = &w->plan->steps.ptr[i];
        bool dir = s->want && s->want->kind == VLS_MANIFEST_DIR;
        if (s->change == VLS_RESTORE_DELETE)
            continue;
        if (dir && s->change == VLS_RESTORE_CREATE)
            rc = make_dir(w, s, err);
        else if (!dir && s->change == VLS_RESTORE_MODE)
            rc = set_mode(w, s, err);
        else if (!dir)
            rc = put_file(w, s, err);
        if (rc == 0)
            rc = valise_job_step(w->job, 1, err);
    }
    return rc;
}

/* Bottom up: a directory that nobody may enter any more is done with. */
static int set_dir_modes(vls_writer *w, valise_error *err)
{
    int rc = 0;

    for (size_t i = w->plan->steps.len; rc == 0 && i-- > 0;) {
        const vls_step *s = &w->plan->steps.ptr[i];
        if (s->want && s->want->kind == VLS_MANIFEST_DIR && s->change != VLS_RESTORE_DELETE)
            rc = set_mode(w, s, err);
    }
    return rc;
}

int vls_writer_run(vls_writer *w, valise_error *err)
{
    int rc = check_room(w, err);

    valise_job_stage(w->job, "restore", "entries", w->plan->steps.len);
    if (rc == 0)
        rc = delete_all(w, err);
    if (rc == 0)
        rc = put_all(w, err);
    if (rc == 0)
        rc = set_dir_modes(w, err);
    if (rc == 0 && w->plan->steps.len > 0)
        (void)syncfs(w->reach->root); /* what is lost all the same is restored again */
    return rc;
}
