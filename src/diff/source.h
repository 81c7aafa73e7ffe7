/* source.h -- the bytes of a file of some version: from a checkpoint that has them, or from the
 * disk where they still lie.
 *
 * Whoever gives them, they have the hash that was asked for.
 *
 * Threads: single. */
#ifndef VLS_DIFF_SOURCE_H
#define VLS_DIFF_SOURCE_H

#include "base/blob.h"
#include "checkpoint/reach.h"
#include "checkpoint/rows.h"

#define VLS_DIFF_CONTENT_MAX ((int64_t)16 << 20) /* of what is shown line by line */

typedef struct vls_source {
    valise_view *view;
    vls_reach reach; /* root -1: there are no files */
} vls_source;

/* root: folder of the files; NULL: none. */
int vls_source_open(vls_source *out, valise_view *view, const char *root, valise_error *err);
void vls_source_close(vls_source *source); /* a zeroed one with root -1 is fine */

typedef struct vls_content {
    valise_blob *blob;
    vls_buf buf;
    valise_str bytes; /* of one of them */
    const char *why;  /* there are none; NULL: there are */
} vls_content;

void vls_content_release(vls_content *content); /* a zeroed one is fine */

/* The bytes with this hash and size; path: where they may lie. content->why says why there are
 * none, which is no error. */
int vls_source_get(vls_content *out, vls_source *source, const valise_id *hash, int64_t size,
                   valise_str path, valise_error *err);

static inline void vls_auto_content(vls_content *content)
{
    vls_content_release(content);
}

#endif
