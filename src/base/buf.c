/* buf.c -- the growing buffer. */
#include "base/buf.h"

#include "base/mem.h"
#include "base/str.h"

#define FIRST 64u
#define FIRST_IN_ARENA 512u /* what is left of it goes back (vls_buf_keep) */

void vls_buf_init(vls_buf *buf, const valise_env *env, size_t max)
{
    *buf = (vls_buf){.env = env, .max = max};
}

void vls_buf_init_in(vls_buf *buf, vls_arena *arena, size_t max)
{
    *buf = (vls_buf){.arena = arena, .max = max};
}

void vls_buf_release(vls_buf *buf)
{
    if (buf->env)
        vls_mem_free(buf->env, buf->ptr, buf->cap);
    *buf = (vls_buf){.env = buf->env, .arena = buf->arena, .max = buf->max};
}

void vls_buf_clear(vls_buf *buf)
{
    buf->len = 0;
    buf->failed = 0;
}

static void *resize(const vls_buf *buf, size_t cap)
{
    return buf->arena ? vls_arena_resize(buf->arena, buf->ptr, buf->cap, cap)
                      : vls_mem_resize(buf->env, buf->ptr, buf->cap, cap);
}

/* Room for len bytes and for `behind` (0 or 1) more that do not count, a NUL. */
static char *make_room(vls_buf *buf, size_t len, size_t behind)
{
    size_t need, whole;

    if (buf->failed)
        return NULL;
    if (__builtin_add_overflow(buf->len, len, &need) || need > buf->max ||
        __builtin_add_overflow(need, behind, &whole)) {
        buf->failed = VALISE_E_TOO_LARGE;
        return NULL;
    }
    whole = VLS_MAX(whole, 1);
    if (whole > buf->cap) {
        size_t first = buf->arena ? FIRST_IN_ARENA : FIRST;
        size_t grown = vls_mem_grow(buf->cap, whole, first), most = VLS_MAX(buf->max, whole);
        size_t cap = VLS_MIN(grown, most);
        char *ptr = resize(buf, cap);
        if (!ptr) {
            buf->failed = buf->arena ? buf->arena->failed : VALISE_E_NO_MEMORY;
            return NULL;
        }
        buf->ptr = ptr;
        buf->cap = cap;
    }
    return buf->ptr + buf->len;
}

char *vls_buf_reserve_slow(vls_buf *buf, size_t len)
{
    return make_room(buf, len, 0);
}

void vls_buf_add_text(vls_buf *buf, const char *text)
{
    vls_buf_add(buf, valise_str_of(text));
}

void vls_buf_add_u64(vls_buf *buf, uint64_t value)
{
    char room[VLS_U64_DIGITS];

    vls_buf_add(buf, vls_u64_digits(room, value));
}

void vls_buf_add_i64(vls_buf *buf, int64_t value)
{
    if (value < 0)
        vls_buf_add_byte(buf, '-');
    vls_buf_add_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void vls_buf_vprintf(vls_buf *buf, const char *format, va_list args)
{
    va_list again;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, again);
    va_end(again);

    /* More than an int can count, or a character that cannot be written: either way the text is
     * not complete. */
    if (len < 0 && buf->failed == 0)
        buf->failed = VALISE_E_TOO_LARGE;

    char *at = len < 0 ? NULL : make_room(buf, (size_t)len, 1);
    if (at) {
        (void)vsnprintf(at, (size_t)len + 1, format, args);
        buf->len += (size_t)len;
    }
}

void vls_buf_printf(vls_buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vls_buf_vprintf(buf, format, args);
    va_end(args);
}

int vls_buf_check(const vls_buf *buf, valise_error *err)
{
    if (buf->failed == 0)
        return 0;
    if (buf->failed == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return vls_fail(err, buf->failed, "output is larger than its limit of %zu bytes", buf->max);
}

const char *vls_buf_cstr(vls_buf *buf)
{
    char *at = make_room(buf, 0, 1);

    if (!at)
        return NULL;
    *at = '\0';
    return buf->ptr;
}

int vls_buf_keep(valise_str *out, vls_buf *buf, valise_error *err)
{
    assert(buf->arena);
    if (!vls_buf_cstr(buf))
        return vls_buf_check(buf, err);
    /* What is left goes back to the arena. To shrink never fails. */
    buf->ptr = vls_arena_resize(buf->arena, buf->ptr, buf->cap, buf->len + 1);
    *out = vls_buf_str(buf);
    vls_buf_release(buf);
    return 0;
}
