/* source.c -- see source.h. */
#include <fcntl.h>
#include <unistd.h>

#include "diff/source.h"

#include "base/fd.h"
#include "store/view.h"

static const char no_bytes[] = "no checkpoint has its bytes";
static const char changed[] = "no checkpoint has its bytes, and the file has changed since";
static const char erased[] = "its bytes were erased";
static const char too_large[] = "it is too large";

int vls_source_open(vls_source *out, valise_view *view, const char *root, valise_error *err)
{
    out->view = view;
    return root ? vls_reach_open(&out->reach, view->arena.env, root, err) : 0;
}

void vls_source_close(vls_source *s)
{
    vls_reach_close(&s->reach);
    *s = (vls_source){.reach = {.root = -1}};
}

void vls_content_release(vls_content *content)
{
    valise_blob_unref(content->blob);
    vls_buf_release(&content->buf);
    *content = (vls_content){.why = NULL};
}

/* 1; 0: it is not what was asked for. */
static int read_fd(vls_content *out, vls_source *s, int fd, const valise_id *hash, int64_t size,
                   valise_error *err)
{
    char *room;
    struct stat st;
    valise_id got;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size != size)
        return 0;
    vls_buf_init(&out->buf, s->view->arena.env, (size_t)VLS_DIFF_CONTENT_MAX);
    while ((int64_t)out->buf.len < size) {
        size_t left = (size_t)size - out->buf.len;
        room = vls_buf_reserve(&out->buf, left);
        if (!room)
            return vls_fail_memory(err);
        ssize_t n = vls_fd_read(fd, room, left);
        if (n <= 0)
            return 0;
        vls_buf_advance(&out->buf, (size_t)n);
    }
    vls_hash_bytes(&got, vls_buf_str(&out->buf));
    return vls_id_equal(&got, hash);
}

static int get_from_disk(vls_content *out, vls_source *s, const valise_id *hash, int64_t size,
                         valise_str path, valise_error *err)
{
    char name[VLS_NODE_NAME_MAX + 1];
    int dir, fd, rc;

    out->why = no_bytes;
    if (s->reach.root < 0 || path.len == 0)
        return 0;
    rc = vls_reach_parent(&dir, name, &s->reach, path, err);
    if (rc <= 0)
        return rc;
    fd = vls_fd_open_at(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return 0;
    rc = read_fd(out, s, fd, hash, size, err);
    (void)vls_fd_close(fd);
    out->why = rc > 0 ? NULL : changed;
    if (rc > 0)
        out->bytes = out->buf.len > 0 ? vls_buf_str(&out->buf) : VLS_STR("");
    return vls_settle(rc);
}

int vls_source_get(vls_content *out, vls_source *s, const valise_id *hash, int64_t size,
                   valise_str path, valise_error *err)
{
    vls_tree_content_row row;
    int rc;

    *out = (vls_content){.why = too_large};
    if (size > VLS_DIFF_CONTENT_MAX)
        return 0;
    rc = vls_tree_content_get(&row, s->view, hash, err);
    if (rc < 0)
        return rc;
    if (rc == 1 && !vls_id_is_none(&row.object)) {
        rc = vls_view_blob(&out->blob, s->view, &row.object, err);
        if (rc == 0) {
            out->bytes = valise_blob_bytes(out->blob);
            out->why = NULL;
        }
        return rc;
    }
    out->why = erased;
    return rc == 2 ? 0 : get_from_disk(out, s, hash, size, path, err);
}
