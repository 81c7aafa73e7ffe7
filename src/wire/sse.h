/* sse.h -- server-sent events, from bytes in any cut.
 *
 *     event: message_start
 *     data: {"a":
 *     data: 1}
 *     <empty line>                   -> ("message_start", "{\"a\":\n1}")
 *
 * Lines end in LF, CR or CRLF; a BOM at the beginning, comments and other fields are passed over.
 * Time is linear in the bytes, however they are cut.
 *
 * Threads: single. */
#ifndef VLS_SSE_H
#define VLS_SSE_H

#include "base/buf.h"

#define VLS_SSE_MAX_LINE ((size_t)32 << 20)
#define VLS_SSE_MAX_EVENT ((size_t)64 << 20) /* data of all its lines */
#define VLS_SSE_MAX_NAME 128u                /* longer names are cut */

/* What it returns below 0 ends the feeding. The slices are gone afterwards. */
typedef int vls_sse_fn(void *arg, valise_str name, valise_str data, valise_error *err);

typedef struct vls_sse {
    vls_sse_fn *on_event;
    void *arg;
    vls_buf line; /* the beginning of one whose end has not come */
    vls_buf data;
    char name[VLS_SSE_MAX_NAME];
    size_t name_len;
    bool begun;    /* the first line is over: no BOM can come */
    bool has_data; /* also an empty one */
    bool after_cr; /* an LF would belong to it */
} vls_sse;

void vls_sse_init(vls_sse *sse, const valise_env *env, vls_sse_fn *on_event, void *arg);
void vls_sse_release(vls_sse *sse); /* a zeroed one is fine */

/* VALISE_E_LIMIT: a line or an event is too long; what on_event returned. */
int vls_sse_feed(vls_sse *sse, valise_str bytes, valise_error *err);

/* No more will come. A last event counts also without the empty line behind it: some servers leave
 * that out. */
int vls_sse_finish(vls_sse *sse, valise_error *err);

#endif
