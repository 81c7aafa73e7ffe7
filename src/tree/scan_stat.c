/* scan_stat.c -- one path against the stat cache, without a scan; see scan.h. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tree/walk_impl.h"

#define READ_SIZE ((size_t)32 * 1024)

/* The directory at a path. -1 with errno. */
static int open_at(const char *root, valise_str path)
{
    int top = vls_fd_open_at(AT_FDCWD, root, VLS_WALK_DIR_FLAGS & ~O_NOFOLLOW, 0), at;

    if (top < 0)
        return -1;
    at = vls_walk_open_below(top, path);
    if (at != top)
        (void)vls_fd_close(top);
    return at;
}

/* 1: there is something; 0: nothing. */
static int stat_path(struct stat *st, const vls_scan_options *options, valise_str path,
                     valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    char name[VLS_NODE_NAME_MAX + 1] = ".";
    bool none;

    fd = open_at(options->root, vls_path_parent(path));
    if (path.len > 0) {
        valise_str last = vls_path_name(path);
        memcpy(name, last.ptr, last.len);
        name[last.len] = '\0';
    }
    if (fd >= 0 && vls_walk_stat_at(fd, name, st) == 0)
        return 1;
    none = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    return none ? 0 : vls_fail_errno(err, "stat", path);
}

/* ---- what no rule leaves out ---- */

static int enter(vls_ignore **out, vls_ignore *above, valise_str dir, void *arg, valise_error *err)
{
    const vls_scan_options *options = arg;
    VLS_AUTO(buf) vls_buf git = {0};
    VLS_AUTO(buf) vls_buf own = {0};
    VLS_AUTO(fd) int fd = open_at(options->root, dir);
    int rc = 0;

    vls_buf_init(&git, options->env, VLS_IGNORE_MAX_SIZE + 65536);
    vls_buf_init(&own, options->env, VLS_IGNORE_MAX_SIZE + 65536);
    /* What cannot be read has no rules here either: to say so is for the scan. */
    if (fd >= 0)
        rc = vls_walk_read_rule_file(&git, fd, ".gitignore", err);
    if (fd >= 0 && rc >= 0)
        rc = vls_walk_read_rule_file(&own, fd, ".valiseignore", err);
    if (rc < 0)
        return rc;
    return vls_ignore_enter(out, above, dir, vls_buf_str(&git), vls_buf_str(&own), err);
}

/* Something that the tree does not have: whether it should. */
static int belongs(bool *out, const vls_scan_options *options, valise_str path,
                   const struct stat *st, valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    vls_scan_options copy = *options; /* enter takes what may be changed */
    vls_ignore_verdict verdict;
    int rc;

    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode)) {
        *out = false;
        return 0;
    }
    rc = vls_ignore_root(&root, options->env, VLS_STR("ignore"), options->ignore, err);
    if (rc == 0)
        rc = vls_ignore_check(&verdict, &keep, root, path, S_ISDIR(st->st_mode), enter, &copy, err);
    if (rc == 0)
        *out = !verdict.ignored;
    return rc;
}

int vls_tree_check_ignore(vls_ignore_verdict *out, vls_ignore **keep,
                          const vls_scan_options *options, valise_str path, bool as_dir,
                          valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *root = NULL;
    vls_scan_options copy = *options; /* enter takes what may be changed */
    struct stat st;
    int rc;

    *out = (vls_ignore_verdict){.ignored = false};
    *keep = NULL;
    if (path.len == 0)
        return 0;
    rc = stat_path(&st, options, path, err);
    if (rc < 0)
        return rc;
    as_dir = as_dir || (rc > 0 && S_ISDIR(st.st_mode));
    rc = vls_ignore_root(&root, options->env, VLS_STR("tree.ignore"), options->ignore, err);
    if (rc == 0)
        rc = vls_ignore_check(out, keep, root, path, as_dir, enter, &copy, err);
    return rc;
}

/* ---- the answer ---- */

/* What the row alone says: 0 when it must be something else, whatever its times are. */
static bool may_be(const vls_node *was, const struct stat *st)
{
    switch (was->kind) {
    case VLS_NODE_DIR:
        return S_ISDIR(st->st_mode);
    case VLS_NODE_LINK:
        return S_ISLNK(st->st_mode) && was->size == (int64_t)st->st_size;
    case VLS_NODE_FILE:
        return S_ISREG(st->st_mode) && was->size == (int64_t)st->st_size &&
               was->exec == ((st->st_mode & S_IXUSR) != 0);
    default:
        return true;
    }
}

/* What the cache says: the entry is of this node, and the stat is that of the entry. */
static int compare(const vls_cache_entry *e, const struct stat *st, const vls_node *was)
{
    bool same = e->mtime_ns == vls_walk_ns(st->st_mtim) &&
                e->ctime_ns == vls_walk_ns(st->st_ctim) && e->inode == st->st_ino &&
                e->device == st->st_dev;

    if (e->kind == VLS_NODE_UNREADABLE || e->unsure)
        return VLS_STAT_UNKNOWN;
    if (vls_id_equal(&e->object, &was->object))
        return same ? VLS_STAT_SAME : VLS_STAT_DIFFERS;
    /* Where the tree went on and the cache did not (somebody watches, and writes it later), it
     * speaks of another object: that the file differs from that says nothing. */
    return same ? VLS_STAT_DIFFERS : VLS_STAT_UNKNOWN;
}

static int ask_cache(int *out, const vls_scan_options *options, valise_str path,
                     const struct stat *st, const vls_node *was, valise_error *err)
{
    vls_cache_entry entry;
    int known = 0;

    if (options->cache && was->kind != VLS_NODE_UNREADABLE)
        known = vls_cache_look_up(&entry, options->env, options->cache, path, err);
    if (known >= 0)
        *out = known > 0 ? compare(&entry, st, was) : VLS_STAT_UNKNOWN;
    return VLS_MIN(known, 0);
}

int vls_tree_stat(int *out, const vls_scan_options *options, valise_str path, const vls_node *was,
                  valise_error *err)
{
    struct stat st;
    bool missing = false;
    int there, rc = vls_path_check(path, err);

    if (rc < 0)
        return rc;
    there = stat_path(&st, options, path, err);
    if (there == VALISE_E_DENIED) {
        vls_error_clear(err);
        *out = VLS_STAT_UNKNOWN;
        return 0;
    }
    if (there < 0)
        return there;
    if (was && there && may_be(was, &st))
        return ask_cache(out, options, path, &st, was, err);
    if (!was && there)
        rc = belongs(&missing, options, path, &st, err);
    if (rc == 0)
        *out = was || missing ? VLS_STAT_DIFFERS : VLS_STAT_SAME;
    return rc;
}

/* ---- by its bytes ---- */

/* So many bytes, and no more. */
static void hash_file(bool *whole, valise_id *out, int fd, int64_t size)
{
    vls_hasher hasher;
    char bytes[READ_SIZE];
    ssize_t got = 0;

    vls_hash_begin(&hasher);
    while (size >= 0 && (got = vls_fd_read(fd, bytes, sizeof(bytes))) > 0) {
        vls_hash_update(&hasher, vls_str(bytes, (size_t)got));
        size -= got;
    }
    *whole = size == 0 && got == 0;
    vls_hash_end(out, &hasher);
}

static int open_file(const vls_scan_options *options, valise_str path)
{
    VLS_AUTO(fd) int dir = open_at(options->root, vls_path_parent(path));
    valise_str last = vls_path_name(path);
    char name[VLS_NODE_NAME_MAX + 1];

    memcpy(name, last.ptr, last.len);
    name[last.len] = '\0';
    return dir < 0 ? -1
                   : vls_fd_open_at(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
}

int vls_tree_read(int *out, const vls_scan_options *options, valise_str path, const vls_node *was,
                  valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    valise_id content;
    struct stat st;
    bool whole;
    int rc = vls_path_check(path, err);

    if (rc < 0)
        return rc;
    *out = VLS_STAT_UNKNOWN;
    if (was->kind != VLS_NODE_FILE || was->size > VLS_STAT_READ_MAX || path.len == 0)
        return 0;
    fd = open_file(options, path);
    if (fd < 0 || vls_walk_stat(fd, &st) < 0)
        return 0;
    *out = VLS_STAT_DIFFERS;
    if (!may_be(was, &st))
        return 0;
    hash_file(&whole, &content, fd, was->size);
    if (whole && vls_id_equal(&content, &was->content))
        *out = VLS_STAT_SAME;
    return rc;
}
