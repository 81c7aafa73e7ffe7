/* blob_file.c -- blobs as files in a folder.
 *
 *     blobs/                      0700
 *     blobs/tmp-0f3a...           0600; a put on its way: 32 random hexadecimal digits
 *     blobs/ab/                   0700; a shelf: the blobs whose ids begin with ab
 *     blobs/ab/abcdef...          0600; a blob: the 64 digits of its id
 *
 * A put writes its temporary file, syncs it, renames it to its place and syncs the shelf: under
 * its final name a file is always whole. Everything is reached from the descriptor of the folder,
 * one name at a time and never through a symbolic link, so that no file outside of it is touched.
 * Names that do not look like the above are not ours and are left alone.
 *
 * Threads: the folder is shared (the only thing that changes in it is atomic). */
#include "store/blob.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
#define OPEN_NEW (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
#define OPEN_BLOB (O_RDONLY | O_NOFOLLOW | O_NONBLOCK) /* to open a pipe, say, must not wait */

#define TMP_PREFIX "tmp-"
#define TMP_RANDOM_BYTES 16
#define TMP_TRIES 8
#define SHELVES 256

typedef struct folder {
    const valise_env *env;
    int fd;
    atomic_bool synced[SHELVES]; /* this handle knows that the shelf's name is on disk */
    size_t size;                 /* of this struct with its text */
    char where[];                /* for messages */
} folder;

typedef struct file_put {
    folder *folder;
    int fd;
    char name[sizeof(TMP_PREFIX) + (size_t)2 * TMP_RANDOM_BYTES];
} file_put;

typedef struct file_reader {
    folder *folder;
    int fd;
    off_t at; /* our own: after a fork, a descriptor's position is the other process's as well */
    valise_id id;
} file_reader;

static int fail_here(const folder *f, const char *what, valise_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    int rc = vls_fail_errno(err, what, valise_str_of(f->where));

    if (full)
        vls_hint(err, "make room on the disk and try again; nothing was changed");
    return rc;
}

static int fail_missing(const valise_id *id, valise_error *err)
{
    return vls_fail(err, VALISE_E_NOT_FOUND, "there is no blob %s", vls_id_hex(id).s);
}

static int fail_blob(const char *what, const valise_id *id, valise_error *err)
{
    return vls_fail_errno(err, what, valise_str_of(vls_id_hex(id).s));
}

static int fail_not_a_file(const valise_id *id, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "blob %s is not a regular file", vls_id_hex(id).s);
}

/* ---- the folder ---- */

static int make_folder(int at, const char *name)
{
    int rc;

    do
        rc = mkdirat(at, name, 0700);
    while (vls_fd_again(rc));
    return rc < 0 && errno != EEXIST ? -1 : 0;
}

/* The name of a new folder is durable when the folder above it is synced. */
static int sync_above(int fd)
{
    VLS_AUTO(fd) int above = vls_fd_open_at(fd, "..", O_RDONLY | O_DIRECTORY, 0);

    return above < 0 ? -1 : vls_fd_sync(above);
}

static int open_folder(folder *f, unsigned flags, valise_error *err)
{
    bool create = flags & VALISE_BLOB_STORE_CREATE && !(flags & VALISE_BLOB_STORE_READ_ONLY);

    if (create && make_folder(AT_FDCWD, f->where) < 0)
        return fail_here(f, "cannot make the folder", err);
    f->fd = vls_fd_open_at(AT_FDCWD, f->where, OPEN_FOLDER, 0);
    if (f->fd < 0)
        return fail_here(f, "cannot open the folder of blobs", err);
    return 0;
}

static void file_close(void *self)
{
    folder *f = self;

    (void)vls_fd_close(f->fd);
    vls_mem_free(f->env, f, f->size);
}

static int file_open(void **self, const valise_blob_store_open *how, valise_error *err)
{
    size_t len = how->where ? strlen(how->where) : 0;
    folder *f;
    int rc;

    if (len == 0)
        return vls_fail(err, VALISE_E_INVALID, "blobs in files need a folder");
    f = vls_mem_zalloc(how->env, sizeof(*f) + len + 1);
    if (!f)
        return vls_fail_memory(err);
    f->env = how->env;
    f->fd = -1;
    f->size = sizeof(*f) + len + 1;
    memcpy(f->where, how->where, len);
    rc = open_folder(f, how->flags, err);
    if (rc < 0) {
        file_close(f);
        return rc;
    }
    *self = f;
    return 0;
}

/* ---- shelves ---- */

typedef struct shelf_name {
    char s[3];
} shelf_name;

static shelf_name shelf_of(uint8_t number)
{
    static const char digits[] = "0123456789abcdef";

    return (shelf_name){{digits[number >> 4], digits[number & 15], '\0'}};
}

/* The shelf of a blob that is there; errno is ENOENT when there is no such shelf. */
static int open_shelf(const folder *f, uint8_t number)
{
    return vls_fd_open_at(f->fd, shelf_of(number).s, OPEN_FOLDER, 0);
}

/* The shelf for a new blob. Its name is synced before anything is put there, even if another
 * process has made it: whether that one has synced it, nobody knows. */
static int make_shelf(folder *f, uint8_t number)
{
    VLS_AUTO(fd) int fd = open_shelf(f, number);

    if (fd < 0 && errno == ENOENT) {
        if (make_folder(f->fd, shelf_of(number).s) < 0)
            return -1;
        fd = open_shelf(f, number);
    }
    if (fd < 0)
        return -1;
    if (!atomic_load(&f->synced[number])) {
        /* The folder's own name too: who only reads need not wait for the disk. */
        if (sync_above(f->fd) < 0 || vls_fd_sync(f->fd) < 0)
            return -1;
        atomic_store(&f->synced[number], true);
    }
    return vls_fd_take(&fd);
}

/* ---- put ---- */

static int draw_name(file_put *put, valise_error *err)
{
    const valise_env *env = put->folder->env;
    uint8_t random[TMP_RANDOM_BYTES];

    if (env->random(env->self, random, sizeof(random)) < 0)
        return vls_fail(err, VALISE_E_IO, "the environment gives no random bytes for a file name");
    memcpy(put->name, TMP_PREFIX, sizeof(TMP_PREFIX));
    for (size_t i = 0; i < sizeof(random); i++)
        memcpy(put->name + strlen(TMP_PREFIX) + 2 * i, shelf_of(random[i]).s, 3);
    return 0;
}

static int open_temporary(file_put *put, valise_error *err)
{
    for (unsigned i = 0; i < TMP_TRIES; i++) {
        int rc = draw_name(put, err);
        if (rc < 0)
            return rc;
        put->fd = vls_fd_open_at(put->folder->fd, put->name, OPEN_NEW, 0600);
        if (put->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    return fail_here(put->folder, "cannot make a temporary file in", err);
}

static int file_put_begin(void **out, void *self, valise_error *err)
{
    folder *f = self;
    file_put *put = vls_mem_zalloc(f->env, sizeof(*put));
    int rc;

    if (!put)
        return vls_fail_memory(err);
    put->folder = f;
    rc = open_temporary(put, err);
    if (rc < 0) {
        vls_mem_free(f->env, put, sizeof(*put));
        return rc;
    }
    *out = put;
    return 0;
}

static int file_put_write(void *self, valise_str piece, valise_error *err)
{
    const file_put *put = self;

    if (vls_fd_write_all(put->fd, piece) < 0)
        return fail_here(put->folder, "cannot write a blob in", err);
    return 0;
}

static int unlink_at(int fd, const char *name)
{
    int rc;

    do
        rc = unlinkat(fd, name, 0);
    while (vls_fd_again(rc));
    return rc;
}

static void file_put_abort(void *self)
{
    file_put *put = self;

    (void)vls_fd_close(put->fd);
    (void)unlink_at(put->folder->fd, put->name); /* what stays is for clean */
    vls_mem_free(put->folder->env, put, sizeof(*put));
}

static int rename_to(const file_put *put, int shelf, const valise_id *id)
{
    vls_id_text name = vls_id_hex(id);
    int rc;

    do
        rc = renameat(put->folder->fd, put->name, shelf, name.s);
    while (vls_fd_again(rc));
    return rc;
}

static int commit(const file_put *put, const valise_id *id, valise_error *err)
{
    if (vls_fd_sync(put->fd) < 0)
        return fail_here(put->folder, "cannot sync a blob in", err);
    VLS_AUTO(fd) int shelf = make_shelf(put->folder, id->bytes[0]);
    if (shelf < 0)
        return fail_here(put->folder, "cannot make a subfolder in", err);
    if (rename_to(put, shelf, id) < 0)
        return fail_here(put->folder, "cannot name a blob in", err);
    if (vls_fd_sync(shelf) < 0)
        return fail_here(put->folder, "cannot sync a subfolder in", err);
    return 0;
}

static int file_put_commit(void *self, const valise_id *id, valise_error *err)
{
    file_put *put = self;
    int rc = commit(put, id, err);

    if (rc < 0) {
        file_put_abort(put); /* when it was renamed already, there is nothing to unlink */
        return rc;
    }
    (void)vls_fd_close(put->fd);
    vls_mem_free(put->folder->env, put, sizeof(*put));
    return 0;
}

/* ---- read ---- */

/* Open the file of a blob and see that it is one. */
static int open_blob(int *out, uint64_t *size_bytes, const folder *f, const valise_id *id,
                     valise_error *err)
{
    VLS_AUTO(fd) int shelf = open_shelf(f, id->bytes[0]);
    VLS_AUTO(fd) int fd = -1;
    struct stat st;
    int rc;

    if (shelf >= 0)
        fd = vls_fd_open_at(shelf, vls_id_hex(id).s, OPEN_BLOB, 0);
    if (fd < 0 && errno == ENOENT)
        return fail_missing(id, err);
    if (fd < 0 && shelf >= 0 && (errno == ELOOP || errno == ENXIO))
        return fail_not_a_file(id, err); /* a symbolic link, a socket */
    if (fd < 0)
        return fail_blob("cannot open blob", id, err);
    do
        rc = fstat(fd, &st);
    while (vls_fd_again(rc));
    if (rc < 0)
        return fail_blob("cannot look at blob", id, err);
    if (!S_ISREG(st.st_mode))
        return fail_not_a_file(id, err);
    *size_bytes = (uint64_t)st.st_size;
    *out = vls_fd_take(&fd);
    return 0;
}

static int file_read_open(void **out, uint64_t *size_bytes, void *self, const valise_id *id,
                          valise_error *err)
{
    folder *f = self;
    file_reader *reader = vls_mem_zalloc(f->env, sizeof(*reader));
    int rc;

    if (!reader)
        return vls_fail_memory(err);
    reader->folder = f;
    reader->id = *id;
    rc = open_blob(&reader->fd, size_bytes, f, id, err);
    if (rc < 0) {
        vls_mem_free(f->env, reader, sizeof(*reader));
        return rc;
    }
    *out = reader;
    return 0;
}

static int file_read_some(size_t *len, void *self, void *room, size_t room_bytes, valise_error *err)
{
    file_reader *reader = self;
    ssize_t got;

    do
        got = pread(reader->fd, room, room_bytes, reader->at);
    while (vls_fd_again(got));
    if (got < 0)
        return fail_blob("cannot read blob", &reader->id, err);
    reader->at += got;
    *len = (size_t)got;
    return 0;
}

static void file_read_close(void *self)
{
    file_reader *reader = self;

    (void)vls_fd_close(reader->fd);
    vls_mem_free(reader->folder->env, reader, sizeof(*reader));
}

static int file_stat(uint64_t *size_bytes, void *self, const valise_id *id, valise_error *err)
{
    int fd = -1;
    int rc = open_blob(&fd, size_bytes, self, id, err);

    (void)vls_fd_close(fd);
    return rc;
}

static int64_t modified_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* A put renames a new file to the blob's name, so that its time is that of the put. */
static int file_time(int64_t *time_ns, void *self, const valise_id *id, valise_error *err)
{
    VLS_AUTO(fd) int shelf = open_shelf(self, id->bytes[0]);
    struct stat st = {0};
    int rc = -1;

    if (shelf >= 0) {
        do
            rc = fstatat(shelf, vls_id_hex(id).s, &st, AT_SYMLINK_NOFOLLOW);
        while (vls_fd_again(rc));
    }
    if (rc < 0)
        return errno == ENOENT ? fail_missing(id, err) : fail_blob("cannot look at blob", id, err);
    *time_ns = modified_ns(&st);
    return 0;
}

/* ---- remove, list, clean ---- */

static int file_remove(void *self, const valise_id *id, valise_error *err)
{
    VLS_AUTO(fd) int shelf = open_shelf(self, id->bytes[0]);

    if (shelf < 0 || unlink_at(shelf, vls_id_hex(id).s) < 0)
        return errno == ENOENT ? fail_missing(id, err) : fail_blob("cannot remove blob", id, err);
    if (vls_fd_sync(shelf) < 0)
        return fail_blob("cannot sync the removal of blob", id, err);
    return 0;
}

/* The folder `name` in f for reading its entries; NULL with errno. */
static DIR *open_entries(const folder *f, const char *name)
{
    int fd = vls_fd_open_at(f->fd, name, OPEN_FOLDER, 0);
    DIR *entries = NULL;

    if (fd >= 0) {
        do
            entries = fdopendir(fd);
        while (!entries && errno == EINTR);
        if (!entries)
            (void)vls_fd_close(fd);
    }
    return entries;
}

/* What an entry is, without following it. 1: a regular file; 0: something else, or it is gone
 * meanwhile; -1 with errno. */
static int look_at(struct stat *st, DIR *entries, const char *name)
{
    int rc;

    do
        rc = fstatat(dirfd(entries), name, st, AT_SYMLINK_NOFOLLOW);
    while (vls_fd_again(rc));
    if (rc < 0)
        return errno == ENOENT ? 0 : -1;
    return S_ISREG(st->st_mode);
}

static int list_shelf(const folder *f, uint8_t number, DIR *entries, valise_blob_list_fn *fn,
                      void *arg, valise_error *err)
{
    struct dirent *entry;
    struct stat st;
    valise_id id;

    while ((entry = vls_fd_next_entry(entries))) {
        if (vls_id_parse(&id, valise_str_of(entry->d_name), NULL) < 0 || id.bytes[0] != number)
            continue;
        int rc = look_at(&st, entries, entry->d_name);
        if (rc < 0)
            return fail_blob("cannot look at blob", &id, err);
        if (rc > 0)
            rc = fn(arg, &id, (uint64_t)st.st_size, err);
        if (rc < 0)
            return rc;
    }
    return errno ? fail_here(f, "cannot list the blobs in", err) : 0;
}

static int file_list(void *self, valise_blob_list_fn *fn, void *arg, valise_error *err)
{
    const folder *f = self;

    for (unsigned number = 0; number < SHELVES; number++) {
        DIR *entries = open_entries(f, shelf_of((uint8_t)number).s);
        if (!entries && errno == ENOENT)
            continue;
        if (!entries)
            return fail_here(f, "cannot list the blobs in", err);
        int rc = list_shelf(f, (uint8_t)number, entries, fn, arg, err);
        (void)closedir(entries);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static bool is_temporary(const char *name)
{
    valise_str digits = vls_str_from(valise_str_of(name), strlen(TMP_PREFIX));

    if (!vls_str_starts(valise_str_of(name), VLS_STR(TMP_PREFIX)) ||
        digits.len != (size_t)2 * TMP_RANDOM_BYTES)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (!strchr("0123456789abcdef", digits.ptr[i]))
            return false;
    }
    return true;
}

static int clean_entries(uint64_t *removed, const folder *f, DIR *entries, int64_t before_ns,
                         valise_error *err)
{
    struct dirent *entry;
    struct stat st;

    while ((entry = vls_fd_next_entry(entries))) {
        if (!is_temporary(entry->d_name))
            continue;
        int rc = look_at(&st, entries, entry->d_name);
        if (rc > 0 && modified_ns(&st) <= before_ns) {
            rc = unlink_at(dirfd(entries), entry->d_name);
            *removed += rc == 0;
            if (rc < 0 && errno == ENOENT)
                rc = 0; /* by another one who cleans */
        }
        if (rc < 0)
            return fail_here(f, "cannot clean up in", err);
    }
    return errno ? fail_here(f, "cannot clean up in", err) : 0;
}

static int file_clean(uint64_t *removed, void *self, int64_t min_age_ns, valise_error *err)
{
    const folder *f = self;
    DIR *entries = open_entries(f, ".");
    uint64_t count = 0;
    int rc;

    if (!entries)
        return fail_here(f, "cannot clean up in", err);
    rc = clean_entries(&count, f, entries, f->env->now_ns(f->env->self) - min_age_ns, err);
    (void)closedir(entries);
    if (rc == 0)
        *removed = count;
    return rc;
}

/* ---- strays ---- */

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* In a shelf only blobs belong, as regular files under their own names. */
static int stray_in_shelf(const folder *f, uint8_t number, DIR *entries, valise_blob_stray_fn *fn,
                          void *arg, valise_error *err)
{
    struct dirent *entry;

    while ((entry = vls_fd_next_entry(entries))) {
        char name[sizeof("ab/") + sizeof(entry->d_name)];
        struct stat st;
        valise_id id;
        int rc = 0;
        if (is_dots(entry->d_name))
            continue;
        if (vls_id_parse(&id, valise_str_of(entry->d_name), NULL) == 0 && id.bytes[0] == number)
            rc = look_at(&st, entries, entry->d_name);
        if (rc < 0)
            return fail_blob("cannot look at blob", &id, err);
        if (rc > 0)
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", shelf_of(number).s, entry->d_name);
        rc = fn(arg, name, false, err);
        if (rc < 0)
            return rc;
    }
    return errno ? fail_here(f, "cannot list the blobs in", err) : 0;
}

static bool is_shelf(uint8_t *number, const char *name)
{
    for (unsigned i = 0; i < SHELVES; i++) {
        if (strcmp(name, shelf_of((uint8_t)i).s) == 0) {
            *number = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static int stray_entry(const folder *f, const char *name, valise_blob_stray_fn *fn, void *arg,
                       valise_error *err)
{
    uint8_t number;
    DIR *shelf;
    int rc;

    if (is_dots(name))
        return 0;
    if (!is_shelf(&number, name))
        return fn(arg, name, is_temporary(name), err);
    shelf = open_entries(f, name);
    if (!shelf && errno != ENOTDIR && errno != ELOOP)
        return fail_here(f, "cannot list the blobs in", err);
    if (!shelf)
        return fn(arg, name, false, err); /* something else of that name */
    rc = stray_in_shelf(f, number, shelf, fn, arg, err);
    (void)closedir(shelf);
    return rc;
}

static int file_strays(void *self, valise_blob_stray_fn *fn, void *arg, valise_error *err)
{
    const folder *f = self;
    DIR *entries = open_entries(f, ".");
    struct dirent *entry;
    int rc = 0;

    if (!entries)
        return fail_here(f, "cannot list the blobs in", err);
    while (rc >= 0 && (entry = vls_fd_next_entry(entries)))
        rc = stray_entry(f, entry->d_name, fn, arg, err);
    if (rc >= 0 && errno)
        rc = fail_here(f, "cannot list the blobs in", err);
    (void)closedir(entries);
    return rc < 0 ? rc : 0;
}

const valise_blob_store_ops *valise_blob_store_file(void)
{
    static const valise_blob_store_ops ops = {
        .size = sizeof(ops),
        .abi = VALISE_BLOB_STORE_ABI,
        .name = "file",
        .open = file_open,
        .close = file_close,
        .put_begin = file_put_begin,
        .put_write = file_put_write,
        .put_commit = file_put_commit,
        .put_abort = file_put_abort,
        .read_open = file_read_open,
        .read_some = file_read_some,
        .read_close = file_read_close,
        .stat = file_stat,
        .remove = file_remove,
        .list = file_list,
        .clean = file_clean,
        .time = file_time,
        .strays = file_strays,
    };

    return &ops;
}
