/* put.c -- see put.h. */
#include "blob/put.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/text.h"

#define PATH_ROOM 4096u

typedef struct putting {
    const vls_blob_input *input;
    valise_str rest; /* of bytes */
    char begin[VLS_BLOB_SNIFF_BYTES];
    size_t begin_len;
    uint64_t size;
} putting;

static void remember(putting *p, valise_str piece)
{
    size_t room = sizeof(p->begin) - p->begin_len;
    valise_str head = vls_str_head(piece, room);

    if (head.len > 0)
        memcpy(p->begin + p->begin_len, head.ptr, head.len);
    p->begin_len += head.len;
    p->size += piece.len;
}

static int read_some(size_t *len, putting *p, void *room, size_t room_bytes, valise_error *err)
{
    ssize_t got;

    if (p->input->bytes.ptr) {
        *len = VLS_MIN(p->rest.len, room_bytes);
        if (*len > 0)
            memcpy(room, p->rest.ptr, *len);
        p->rest = vls_str_from(p->rest, *len);
        return 0;
    }
    got = vls_fd_read(p->input->fd, room, room_bytes);
    if (got < 0)
        return vls_fail_errno(err, "cannot read what is to become", VLS_STR("a blob"));
    *len = (size_t)got;
    return 0;
}

static int source(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err)
{
    putting *p = arg;
    int rc = read_some(len, p, room, room_bytes, err);

    if (rc < 0)
        return rc;
    remember(p, vls_str(room, *len));
    return p->input->progress ? vls_progress_step(p->input->progress, *len, err) : 0;
}

/* The same without a store: what the id would be. */
static int hash_all(valise_id *out, putting *p, valise_error *err)
{
    vls_hasher hasher;
    char room[8192];
    size_t len = 0;
    int rc;

    vls_hash_begin(&hasher);
    do {
        rc = source(&len, p, room, sizeof(room), err);
        if (rc == 0)
            vls_hash_update(&hasher, vls_str(room, len));
    } while (rc == 0 && len > 0);
    if (rc == 0)
        vls_hash_end(out, &hasher);
    return rc;
}

int vls_blob_put(vls_blob_told *out, const vls_blob_input *input, valise_error *err)
{
    putting p = {.input = input, .rest = input->bytes};
    valise_id id = {{0}};
    int rc = input->only_hash
                 ? hash_all(&id, &p, err)
                 : vls_blobs_put(&id, NULL, input->blobs, source, &p, VLS_BLOB_MAX_BYTES, err);

    if (rc < 0)
        return rc;
    *out = (vls_blob_told){.sha256 = id,
                           .size = (int64_t)p.size,
                           .media_type = valise_str_of(vls_blob_sniff(vls_str(p.begin, p.begin_len),
                                                                      p.size == p.begin_len))};
    return 0;
}

int vls_blob_open_file(int *out, valise_str path, valise_error *err)
{
    char name[PATH_ROOM];
    VLS_AUTO(fd) int fd = -1;
    struct stat st = {0};

    if (path.len == 0 || path.len >= sizeof(name) || memchr(path.ptr, '\0', path.len))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not the name of a file",
                        vls_text_short(path).s);
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    fd = vls_fd_open_at(AT_FDCWD, name, O_RDONLY, 0);
    if (fd < 0)
        return vls_fail_errno(err, "cannot open", path);
    if (fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot look at", path);
    if (S_ISDIR(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is a folder, not a file",
                        vls_text_short(path).s);
    *out = vls_fd_take(&fd);
    return S_ISREG(st.st_mode);
}

valise_str vls_blob_name_of(valise_str path)
{
    size_t at = path.len;

    while (at > 0 && path.ptr[at - 1] != '/')
        at--;
    return vls_str_from(path, at);
}
