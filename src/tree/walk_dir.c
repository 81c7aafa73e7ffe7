/* walk_dir.c -- a directory: its descriptor, its names, its rules; see walk.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tree/walk_impl.h"

static const char *const rule_files[2] = {".gitignore", ".valiseignore"};

/* ---- the directory ---- */

static int path_of(valise_str *out, vls_walk_worker *w, const vls_walk_inside *parent,
                   const vls_walk_entry *entry, valise_error *err)
{
    valise_str above = parent ? parent->dir.path : VLS_STR("");
    size_t slash = above.len > 0;
    char *path = vls_arena_alloc(&w->arena, above.len + slash + entry->e.name_len + 1u);

    if (!path)
        return vls_arena_fail(&w->arena, err);
    memcpy(path, above.ptr, above.len);
    if (slash)
        path[above.len] = '/';
    if (entry->e.name_len > 0)
        memcpy(path + above.len + slash, entry->name, entry->e.name_len);
    *out = vls_str(path, above.len + slash + entry->e.name_len);
    path[out->len] = '\0';
    return 0;
}

int vls_walk_new_dir(vls_walk_inside **out, vls_walk_worker *w, vls_walk_inside *parent,
                     vls_walk_entry *entry, valise_error *err)
{
    vls_walk_inside *d = vls_arena_zalloc(&w->arena, sizeof(*d));
    int rc;

    if (!d)
        return vls_arena_fail(&w->arena, err);
    d->fd = -1;
    d->dir.parent = parent ? &parent->dir : NULL;
    d->dir.entry = entry;
    d->dir.with = d;
    atomic_init(&d->users, 1);
    atomic_init(&d->pending, 1);
    rc = path_of(&d->dir.path, w, parent, entry, err);
    if (rc < 0)
        return rc;
    if (parent && parent->dir.old && entry->old && entry->old->kind == VLS_NODE_DIR)
        d->dir.old = vls_cache_child(parent->dir.old, entry->old);
    d->next = w->dirs;
    w->dirs = d;
    entry->dir = &d->dir;
    *out = d;
    return 0;
}

static vls_walk_inside *parent_of(vls_walk_inside *d)
{
    return d->dir.parent ? d->dir.parent->with : NULL;
}

/* ---- descriptors ---- */

int vls_walk_open_below(int top, valise_str path)
{
    int at = top;

    while (path.len > 0) {
        char name[VLS_NODE_NAME_MAX + 1];
        size_t slash = vls_str_find_byte(path, '/');
        int fd;
        assert(slash <= VLS_NODE_NAME_MAX);
        memcpy(name, path.ptr, slash);
        name[slash] = '\0';
        fd = vls_fd_open_at(at, name, VLS_WALK_DIR_FLAGS, 0);
        if (at != top)
            (void)vls_fd_close(at);
        if (fd < 0)
            return -1;
        at = fd;
        path = vls_str_from(path, slash + 1);
    }
    return at;
}

/* The directory's own descriptor, or one for now. */
static int borrow_fd(const vls_walk_queue *q, const vls_walk_inside *d)
{
    return d->fd >= 0 ? d->fd : vls_walk_open_below(q->root_fd, d->dir.path);
}

static void return_fd(const vls_walk_queue *q, const vls_walk_inside *d, int fd)
{
    if (fd != d->fd && fd != q->root_fd)
        (void)vls_fd_close(fd);
}

void vls_walk_leave(vls_walk_worker *w, vls_walk_inside *d)
{
    if (atomic_fetch_sub_explicit(&d->users, 1, memory_order_acq_rel) > 1 || d->fd < 0)
        return;
    if (d->fd != w->queue->root_fd) {
        d->fd = vls_fd_close(d->fd);
        atomic_fetch_sub_explicit(&w->queue->open, 1, memory_order_relaxed);
    }
    d->fd = -1;
}

/* ---- names ---- */

/* glibc's own name for what getdents64 fills the buffer with. */
typedef struct dirent64 found;

static int add_name(vls_walk_worker *w, const found *f, bool rules[2], valise_error *err)
{
    size_t len = strlen(f->d_name);
    vls_walk_name name = {
        .at = w->text.len, .len = (uint8_t)VLS_MIN(len, VLS_NODE_NAME_MAX), .type = f->d_type};
    uint8_t head[8] = {0};

    if (f->d_name[0] == '.' && (len == 1 || (len == 2 && f->d_name[1] == '.')))
        return 0;
    for (int i = 0; i < 2 && f->d_name[0] == '.'; i++)
        rules[i] |= strcmp(f->d_name, rule_files[i]) == 0;
    memcpy(head, f->d_name, VLS_MIN(len, sizeof(head)));
    name.key = vls_bytes_load_u64(head);
    vls_buf_add(&w->text, vls_str(f->d_name, len + 1));
    if (w->text.failed)
        return vls_buf_check(&w->text, err);
    return vls_vec_push(&w->names, w->queue->env, name) ? 0 : vls_fail_memory(err);
}

/* All names; *failed is errno when the directory cannot be read. */
static int read_names(int *failed, vls_walk_worker *w, int fd, bool rules[2], valise_error *err)
{
    w->names.len = 0;
    vls_buf_clear(&w->text);
    while (true) {
        ssize_t size = getdents64(fd, w->buffer, VLS_WALK_BUFFER);
        if (vls_fd_again(size))
            continue;
        if (size < 0 && errno != ENOENT) /* removed: it has no more names */
            *failed = errno;
        if (size <= 0)
            return 0;
        for (ssize_t at = 0; at < size;) {
            const found *f = (const void *)(w->buffer + at);
            int rc = add_name(w, f, rules, err);
            if (rc < 0)
                return rc;
            at += f->d_reclen;
        }
    }
}

/* ---- rules ---- */

int vls_walk_read_rule_file(vls_buf *out, int dir_fd, const char *name, valise_error *err)
{
    VLS_AUTO(fd)
    int fd = vls_fd_open_at(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    struct stat st;

    if (fd < 0)
        return errno != ENOENT && errno != ELOOP && errno != ENXIO;
    if (vls_walk_stat(fd, &st) < 0)
        return 1;
    if (!S_ISREG(st.st_mode))
        return 0;
    while (out->len <= VLS_IGNORE_MAX_SIZE) {
        char *room = vls_buf_reserve(out, 16384);
        ssize_t got;
        if (!room)
            return vls_buf_check(out, err);
        got = vls_fd_read(fd, room, 16384);
        if (got < 0)
            vls_buf_clear(out);
        if (got <= 0)
            return got < 0;
        vls_buf_advance(out, (size_t)got);
    }
    return 0;
}

/* The scan goes on without the rules of the file, and says so: what they leave out is in the tree.
 */
static int drop_rules(vls_walk_worker *w, const vls_walk_inside *d, int which, int code,
                      const char *reason, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    vls_buf_clear(&w->rules[which]);
    (void)vls_fail(&why, code, "its rules were not applied: %s", reason);
    return vls_walk_problem(w, &d->dir, rule_files[which], &why, err);
}

static int read_rule_files(vls_walk_worker *w, const vls_walk_inside *d, int fd, const bool *has,
                           valise_error *err)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        vls_buf_clear(&w->rules[i]);
        if (!has[i])
            continue;
        rc = vls_walk_read_rule_file(&w->rules[i], fd, rule_files[i], err);
        if (rc > 0) {
            valise_error why = VALISE_ERROR_INIT;
            int code = vls_fail_errno(&why, "read", valise_str_of(rule_files[i]));
            rc = drop_rules(w, d, i, code, why.message, err);
        }
    }
    return rc;
}

/* One of the files has too much in it: which, and without it. */
static int drop_large(vls_walk_worker *w, const vls_walk_inside *d, vls_ignore *above,
                      valise_error *err)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        VLS_AUTO(ignore) vls_ignore *alone = NULL;
        valise_error why = VALISE_ERROR_INIT;
        char reason[64];
        rc = vls_ignore_enter(&alone, above, d->dir.path, vls_buf_str(&w->rules[i]), VLS_STR(""),
                              &why);
        if (rc == VALISE_E_NO_MEMORY)
            return vls_fail_memory(err);
        if (rc == 0)
            continue;
        if (rc == VALISE_E_LIMIT)
            (void)snprintf(reason, sizeof(reason), "it has more than %d rules",
                           VLS_IGNORE_MAX_RULES);
        else
            (void)snprintf(reason, sizeof(reason), "it has more than %zu bytes",
                           VLS_IGNORE_MAX_SIZE);
        rc = drop_rules(w, d, i, rc, reason, err);
    }
    return rc;
}

int vls_walk_read_rules(vls_walk_worker *w, vls_walk_inside *d, int fd, vls_ignore *above,
                        bool has_git, bool has_own, valise_error *err)
{
    const bool has[2] = {has_git, has_own};
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (!has_git && !has_own) {
        d->rules = vls_ignore_ref(above);
        return 0;
    }
    rc = read_rule_files(w, d, fd, has, err);
    if (rc < 0)
        return rc;
    rc = vls_ignore_enter(&d->rules, above, d->dir.path, vls_buf_str(&w->rules[0]),
                          vls_buf_str(&w->rules[1]), &why);
    if (rc == 0)
        return 0;
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    rc = drop_large(w, d, above, err);
    return rc < 0 ? rc
                  : vls_ignore_enter(&d->rules, above, d->dir.path, vls_buf_str(&w->rules[0]),
                                     vls_buf_str(&w->rules[1]), err);
}

/* ---- what is looked at ---- */

static int refuse_path(vls_walk_worker *w, vls_walk_inside *d, valise_str name, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;

    (void)vls_fail(&why, VALISE_E_TOO_LARGE,
                   "its path has more than %u bytes, or its name more than %u: it is left out",
                   VLS_PATH_MAX, VLS_NODE_NAME_MAX);
    return vls_walk_problem(w, &d->dir, name.ptr, &why, err);
}

static uint8_t type_of(int fd, const char *name)
{
    struct stat st;

    return vls_walk_stat_at(fd, name, &st) < 0 ? DT_UNKNOWN : (uint8_t)IFTODT(st.st_mode);
}

int vls_walk_admit(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_str name, uint8_t *type,
                   bool *left_out, valise_error *err)
{
    size_t len = d->dir.path.len;

    if (name.len > VLS_NODE_NAME_MAX || len + (len > 0) + name.len > VLS_PATH_MAX)
        return refuse_path(w, d, name, err);
    if (*type == DT_UNKNOWN)
        *type = type_of(fd, name.ptr);
    vls_buf_clear(&w->path);
    vls_path_below(&w->path, d->dir.path, name);
    if (w->path.failed)
        return vls_buf_check(&w->path, err);
    if (vls_ignore_match(NULL, d->rules, vls_buf_str(&w->path), *type == DT_DIR)) {
        w->counts.ignored++;
        *left_out = true;
        return 0;
    }
    if (*type != DT_UNKNOWN && *type != DT_REG && *type != DT_LNK && *type != DT_DIR) {
        w->counts.skipped++;
        return 0;
    }
    return 1;
}

/* Keep the names that are. */
static int admit_names(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->names.len; i++) {
        vls_walk_name *name = &w->names.ptr[i];
        const char *text = w->text.ptr + name->at;
        size_t len = name->len < VLS_NODE_NAME_MAX ? name->len : strlen(text);
        int rc = vls_walk_admit(w, d, fd, vls_str(text, len), &name->type, &d->left_out, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            w->names.ptr[kept++] = *name;
    }
    w->names.len = kept;
    return 0;
}

/* ---- entries ---- */

static int compare_names(const void *a, const void *b, void *text)
{
    const vls_walk_name *x = a, *y = b;
    int order;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    order = memcmp((char *)text + x->at, (char *)text + y->at, VLS_MIN(x->len, y->len));
    return order ? order : (int)x->len - (int)y->len;
}

/* Each entry gets the one that the old record has for its name. */
static void find_old(vls_walk_dir *dir)
{
    const vls_cache_record *old = dir->old;
    uint32_t at = 0;

    for (uint32_t i = 0; old && i < dir->count; i++) {
        valise_str name = vls_str(dir->entries[i].name, dir->entries[i].e.name_len);
        int order = 1;
        while (at < old->count && order > 0) {
            order = vls_str_compare(name, vls_cache_name(old, &old->entries[at]));
            at += order > 0;
        }
        if (at < old->count && order == 0)
            dir->entries[i].old = &old->entries[at++];
    }
}

static int make_entries(vls_walk_worker *w, vls_walk_inside *d, valise_error *err)
{
    size_t count = w->names.len, text_len = 0;
    char *text;

    if (count > VLS_CACHE_MAX_ENTRIES)
        return vls_fail(err, VALISE_E_LIMIT, "a directory has %zu entries: at most %u are allowed",
                        count, VLS_CACHE_MAX_ENTRIES);
    if (count > 1)
        qsort_r(w->names.ptr, count, sizeof(vls_walk_name), compare_names, w->text.ptr);
    for (size_t i = 0; i < count; i++)
        text_len += w->names.ptr[i].len + 1u;
    text = vls_arena_alloc(&w->arena, text_len);
    d->dir.entries = vls_arena_array(&w->arena, count, sizeof(vls_walk_entry));
    if (!text || !d->dir.entries)
        return vls_arena_fail(&w->arena, err);
    memset(d->dir.entries, 0, count * sizeof(vls_walk_entry));
    for (size_t i = 0; i < count; i++) {
        const vls_walk_name *name = &w->names.ptr[i];
        vls_walk_entry *entry = &d->dir.entries[i];
        memcpy(text, w->text.ptr + name->at, name->len + 1u);
        entry->name = text;
        entry->e.name_len = name->len;
        entry->type = name->type;
        text += name->len + 1u;
    }
    d->dir.count = (uint32_t)count;
    find_old(&d->dir);
    return 0;
}

/* ---- jobs ---- */

static int look_at_range(vls_walk_worker *w, vls_walk_inside *d, int fd, uint32_t from, uint32_t to,
                         bool large, valise_error *err)
{
    for (uint32_t i = from; i < to; i++) {
        int rc = vls_walk_stopped(w) ? VALISE_E_CANCELLED
                                     : vls_walk_look(w, d, fd, &d->dir.entries[i], large, err);
        if (rc < 0)
            return rc;
    }
    vls_walk_tell(w, to - from, 0);
    return 0;
}

int vls_walk_do_range(vls_walk_worker *w, vls_walk_inside *d, uint32_t from, uint32_t to,
                      bool large, valise_error *err)
{
    int fd = borrow_fd(w->queue, d), rc = 0;

    if (fd < 0 && vls_walk_is_shortage(errno))
        return vls_fail_errno(err, "open", d->dir.path);
    if (fd < 0) { /* it is not there any more, and so is nothing in it */
        for (uint32_t i = from; i < to; i++)
            d->dir.entries[i].e.kind = VLS_NODE_GONE;
    } else {
        rc = look_at_range(w, d, fd, from, to, large, err);
        return_fd(w->queue, d, fd);
    }
    vls_walk_leave(w, d);
    if (rc == 0)
        rc = vls_walk_push(w, err);
    return rc < 0 ? rc : vls_walk_over(w, d, err);
}

/* Many entries become jobs; few are looked at now. */
static int split(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_error *err)
{
    uint32_t count = d->dir.count, ranges = count / VLS_WALK_RANGE + 1;

    if (w->queue->workers_len < 2 || ranges < 3)
        return look_at_range(w, d, fd, 0, count, false, err);
    atomic_fetch_add_explicit(&d->users, ranges, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->pending, ranges, memory_order_relaxed);
    for (uint32_t i = 0; i < ranges; i++) {
        vls_walk_job job = {.dir = d,
                            .from = i * VLS_WALK_RANGE,
                            .to = VLS_MIN((i + 1) * VLS_WALK_RANGE, count),
                            .kind = VLS_WALK_RANGE_OF};
        if (!vls_vec_push(&w->fresh, w->queue->env, job))
            return vls_fail_memory(err);
    }
    return 0;
}

/* The directory is not what it seemed: 1 when that is all that there is to say about it. */
static int not_opened(vls_walk_worker *w, vls_walk_inside *d, int parent_fd, valise_error *err)
{
    vls_walk_inside *parent = parent_of(d);
    vls_walk_entry *entry = d->dir.entry;
    valise_error why = VALISE_ERROR_INIT;
    int error = errno;

    entry->dir = NULL;
    if (vls_walk_is_shortage(error))
        return vls_fail_errno(err, "open", d->dir.path);
    if (error == ENOENT) {
        entry->e.kind = VLS_NODE_GONE;
        return 0;
    }
    if ((error == ENOTDIR || error == ELOOP) && parent_fd < 0) { /* one above it is none any more */
        entry->e.kind = VLS_NODE_GONE;
        return 0;
    }
    if ((error == ENOTDIR || error == ELOOP) && d->tries + 1 < VLS_WALK_TRIES) {
        entry->type = DT_UNKNOWN;
        int rc = vls_walk_look(w, parent, parent_fd, entry, true, err);
        if (rc == 0 && entry->dir)
            entry->dir->with->tries = d->tries + 1;
        return rc;
    }
    (void)vls_report_errno(&why, "open", d->dir.path);
    return vls_walk_set_unreadable(w, &parent->dir, entry, &why, err);
}

bool vls_walk_is_store(const vls_walk_queue *q, const struct stat *st)
{
    return q->has_store && st->st_ino == q->store_inode && st->st_dev == q->store_device;
}

static int list(vls_walk_worker *w, vls_walk_inside *d, int fd, const struct stat *st,
                valise_error *err)
{
    vls_walk_inside *parent = parent_of(d);
    bool rules[2] = {false, false};
    int failed = 0, rc;

    d->mtime_ns = vls_walk_ns(st->st_mtim);
    d->ctime_ns = vls_walk_ns(st->st_ctim);
    d->inode = st->st_ino;
    d->device = st->st_dev;
    rc = read_names(&failed, w, fd, rules, err);
    if (rc < 0)
        return rc;
    if (failed) {
        errno = failed;
        return 1;
    }
    rc = vls_walk_read_rules(w, d, fd, parent ? parent->rules : w->queue->rules, rules[0], rules[1],
                             err);
    if (rc == 0)
        rc = admit_names(w, d, fd, err);
    return rc < 0 ? rc : make_entries(w, d, err);
}

/* Keep the descriptor for the jobs that come, if not too many are kept already. */
static void keep_fd(vls_walk_worker *w, vls_walk_inside *d, int *fd)
{
    vls_walk_queue *q = w->queue;

    if (*fd == q->root_fd) {
        d->fd = *fd;
        *fd = -1;
    } else if (atomic_fetch_add_explicit(&q->open, 1, memory_order_relaxed) < VLS_WALK_MAX_OPEN) {
        d->fd = vls_fd_take(fd);
    } else {
        atomic_fetch_sub_explicit(&q->open, 1, memory_order_relaxed);
    }
}

void vls_walk_enter(const vls_walk_worker *w, const vls_walk_inside *d, int fd)
{
    const vls_scan_options *options = w->queue->walk->options;

    if (options->enter)
        options->enter(options->self, d->dir.path, fd);
}

/* With the directory open: its names, and what is in it. 1: it cannot be read, as errno says. */
static int enter(vls_walk_worker *w, vls_walk_inside *d, int fd, valise_error *err)
{
    struct stat st;
    int rc;

    if (vls_walk_stat(fd, &st) < 0)
        return 1;
    if (vls_walk_is_store(w->queue, &st)) {
        d->dir.entry->e.kind = VLS_NODE_GONE;
        d->dir.entry->left_out = true;
        d->dir.entry->dir = NULL;
        return 0;
    }
    vls_walk_enter(w, d, fd);
    rc = list(w, d, fd, &st, err);
    return rc != 0 ? rc : split(w, d, fd, err);
}

/* The root and its fd have no one above; all others are opened by their name in the parent. */
static int open_dir(int *parent_fd, vls_walk_worker *w, vls_walk_inside *d)
{
    vls_walk_inside *parent = parent_of(d);

    *parent_fd = -1;
    if (!parent)
        return w->queue->root_fd;
    *parent_fd = borrow_fd(w->queue, parent);
    return *parent_fd < 0 ? -1
                          : vls_fd_open_at(*parent_fd, d->dir.entry->name, VLS_WALK_DIR_FLAGS, 0);
}

int vls_walk_do_dir(vls_walk_worker *w, vls_walk_inside *d, valise_error *err)
{
    vls_walk_inside *parent = parent_of(d);
    int parent_fd, fd, rc;
    bool gone;

    fd = open_dir(&parent_fd, w, d);
    rc = fd < 0 ? 1 : enter(w, d, fd, err);
    if (rc == 0 && d->dir.entry->dir)
        keep_fd(w, d, &fd);
    if (rc > 0)
        rc = parent ? not_opened(w, d, parent_fd, err)
                    : vls_fail_errno(err, "read", valise_str_of(w->queue->walk->options->root));
    gone = d->dir.entry->dir != &d->dir;
    if (fd >= 0 && fd != w->queue->root_fd)
        (void)vls_fd_close(fd);
    if (parent && parent_fd >= 0)
        return_fd(w->queue, parent, parent_fd);
    if (parent)
        vls_walk_leave(w, parent);
    if (rc == 0)
        rc = vls_walk_push(w, err);
    if (!gone)
        vls_walk_leave(w, d);
    if (rc < 0)
        return rc;
    return gone ? vls_walk_over(w, parent, err) : vls_walk_over(w, d, err);
}
