/* buf.h -- a growing byte buffer that is born with a maximum.
 *
 * Appending after a failure does nothing: a writer may append a hundred times and ask once,
 * with vls_buf_check(), whether all of it went in. A buffer that failed never pretends to be
 * complete: vls_buf_check() and vls_buf_cstr() both fail.
 *
 * Never append a part of the buffer to the buffer itself: growing moves its memory.
 *
 * Threads: single. */
#ifndef VLS_BUF_H
#define VLS_BUF_H

#include <stdarg.h>

#include "base/arena.h"

typedef struct vls_buf {
    const valise_env *env;
    vls_arena *arena;     /* what its memory comes from; NULL: env */
    char *ptr;            /* len bytes, not NUL-ended (see vls_buf_cstr) */
    size_t len, cap, max; /* len <= max; cap <= max + 1, for a NUL behind the last byte */
    int failed;           /* 0, VALISE_E_NO_MEMORY or VALISE_E_TOO_LARGE; sticks until clear */
} vls_buf;

void vls_buf_init(vls_buf *buf, const valise_env *env, size_t max);
void vls_buf_release(vls_buf *buf); /* a zeroed or released buffer is fine */
void vls_buf_clear(vls_buf *buf);   /* empty, not failed; keeps its memory */

/* A buffer in an arena need not be released. What was written there can be kept for as long as the
 * arena lives, with a NUL behind it; then the buffer is empty, and further text goes elsewhere. */
void vls_buf_init_in(vls_buf *buf, vls_arena *arena, size_t max);
int vls_buf_keep(valise_str *out, vls_buf *buf, valise_error *err);

/* Make room for len more bytes and return where they go; NULL when that is not possible.
 * The caller writes at most len bytes there and then says how many with vls_buf_advance. */
char *vls_buf_reserve_slow(vls_buf *buf, size_t len);

static inline char *vls_buf_reserve(vls_buf *buf, size_t len)
{
    /* Not ">=": the last byte may be the one behind the maximum, and there may be no memory yet. */
    if (VLS_LIKELY(buf->cap - buf->len > len && buf->failed == 0))
        return buf->ptr + buf->len;
    return vls_buf_reserve_slow(buf, len);
}

static inline void vls_buf_advance(vls_buf *buf, size_t len)
{
    assert(buf->cap - buf->len >= len);
    buf->len += len;
}

static inline void vls_buf_add(vls_buf *buf, valise_str s)
{
    char *at = s.len ? vls_buf_reserve(buf, s.len) : NULL;

    if (at) {
        memcpy(at, s.ptr, s.len);
        buf->len += s.len;
    }
}

static inline void vls_buf_add_byte(vls_buf *buf, char c)
{
    char *at = vls_buf_reserve(buf, 1);

    if (at) {
        *at = c;
        buf->len++;
    }
}

void vls_buf_add_text(vls_buf *buf, const char *text);
void vls_buf_add_u64(vls_buf *buf, uint64_t value);
void vls_buf_add_i64(vls_buf *buf, int64_t value);
void vls_buf_printf(vls_buf *buf, const char *format, ...) VALISE_PRINTF(2, 3);
void vls_buf_vprintf(vls_buf *buf, const char *format, va_list args) VALISE_PRINTF(2, 0);

static inline valise_str vls_buf_str(const vls_buf *buf)
{
    return (valise_str){buf->ptr, buf->len};
}

/* 0, or the code of the first failure with its message. */
int vls_buf_check(const vls_buf *buf, valise_error *err) VLS_NODISCARD;

/* The text with a NUL behind it, valid until the next append. NULL when the buffer failed. */
const char *vls_buf_cstr(vls_buf *buf);

static inline void vls_auto_buf(vls_buf *buf)
{
    vls_buf_release(buf);
}

#endif
