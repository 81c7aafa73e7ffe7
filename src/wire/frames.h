/* frames.h -- streams of Amazon (application/vnd.amazon.eventstream), from bytes in any cut.
 *
 *     u32 length of all   u32 length of headers   u32 CRC-32 of these eight bytes
 *     headers: u8 length, name, u8 type, value; of texts (type 7): u16 length, text
 *     payload
 *     u32 CRC-32 of all before
 *
 * Numbers are big endian. An event is (:event-type, payload); what has an :exception-type instead
 * is called that. The first byte is always 0, as no text's is.
 *
 * Threads: single. */
#ifndef VLS_FRAMES_H
#define VLS_FRAMES_H

#include "wire/sse.h"

#define VLS_FRAME_MAX ((size_t)24 << 20)
#define VLS_FRAME_MAX_HEADERS ((size_t)128 << 10)

typedef struct vls_frames {
    vls_sse_fn *on_event;
    void *arg;
    vls_buf data; /* the beginning of a frame */
} vls_frames;

void vls_frames_init(vls_frames *frames, const valise_env *env, vls_sse_fn *on_event, void *arg);
void vls_frames_release(vls_frames *frames); /* a zeroed one is fine */

/* VALISE_E_INVALID: it is no such frame, or damaged; VALISE_E_LIMIT; what on_event returned. */
int vls_frames_feed(vls_frames *frames, valise_str bytes, valise_error *err);

#endif
