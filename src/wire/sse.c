/* sse.c -- server-sent events, from bytes in any cut. */
#include "wire/sse.h"

#include "base/str.h"

#define BOM VLS_STR("\xEF\xBB\xBF")

void vls_sse_init(vls_sse *sse, const valise_env *env, vls_sse_fn *on_event, void *arg)
{
    *sse = (vls_sse){.on_event = on_event, .arg = arg};
    vls_buf_init(&sse->line, env, VLS_SSE_MAX_LINE);
    vls_buf_init(&sse->data, env, VLS_SSE_MAX_EVENT);
}

void vls_sse_release(vls_sse *sse)
{
    vls_buf_release(&sse->line);
    vls_buf_release(&sse->data);
}

static int too_long(const vls_buf *buf, const char *what, valise_error *err)
{
    if (buf->failed == VALISE_E_TOO_LARGE)
        return vls_fail(err, VALISE_E_LIMIT, "%s of the stream is longer than %zu MiB", what,
                        buf->max >> 20);
    return vls_buf_check(buf, err);
}

/* An empty line: what was gathered is an event. Without data there is none. */
static int end_event(vls_sse *sse, valise_error *err)
{
    int rc = 0;

    if (sse->has_data)
        rc = sse->on_event(sse->arg, vls_str(sse->name, sse->name_len), vls_buf_str(&sse->data),
                           err);
    vls_buf_clear(&sse->data);
    sse->has_data = false;
    sse->name_len = 0;
    return rc;
}

static int add_data(vls_sse *sse, valise_str value, valise_error *err)
{
    if (sse->has_data)
        vls_buf_add_byte(&sse->data, '\n');
    vls_buf_add(&sse->data, value);
    sse->has_data = true;
    return too_long(&sse->data, "an event", err);
}

static int take_line(vls_sse *sse, valise_str line, valise_error *err)
{
    valise_str field, value;

    if (!sse->begun && vls_str_starts(line, BOM))
        line = vls_str_from(line, BOM.len);
    sse->begun = true;
    if (line.len == 0)
        return end_event(sse, err);
    (void)vls_str_cut(&field, &value, line, ':');
    if (value.len > 0 && value.ptr[0] == ' ')
        value = vls_str_from(value, 1);
    if (vls_str_equal(field, VLS_STR("data")))
        return add_data(sse, value, err);
    if (vls_str_equal(field, VLS_STR("event"))) {
        sse->name_len = VLS_MIN(value.len, sizeof(sse->name));
        if (sse->name_len > 0)
            memcpy(sse->name, value.ptr, sse->name_len);
    }
    return 0;
}

/* One that is there as a whole is not copied. */
static int end_line(vls_sse *sse, valise_str rest, valise_error *err)
{
    int rc;

    if (sse->line.len == 0 && rest.len <= VLS_SSE_MAX_LINE)
        return take_line(sse, rest, err);
    vls_buf_add(&sse->line, rest);
    rc = too_long(&sse->line, "a line", err);
    if (rc == 0)
        rc = take_line(sse, vls_buf_str(&sse->line), err);
    vls_buf_clear(&sse->line);
    return rc;
}

int vls_sse_feed(vls_sse *sse, valise_str bytes, valise_error *err)
{
    size_t from = 0;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < bytes.len; at++) {
        char c = bytes.ptr[at];
        bool is_second = c == '\n' && sse->after_cr;
        sse->after_cr = c == '\r';
        if (c != '\n' && c != '\r')
            continue;
        if (!is_second)
            rc = end_line(sse, vls_str(bytes.ptr + from, at - from), err);
        from = at + 1;
    }
    if (rc < 0)
        return rc;
    vls_buf_add(&sse->line, vls_str_from(bytes, from));
    return too_long(&sse->line, "a line", err);
}

int vls_sse_finish(vls_sse *sse, valise_error *err)
{
    int rc = sse->line.len > 0 ? end_line(sse, VLS_STR(""), err) : 0;

    return rc < 0 ? rc : end_event(sse, err);
}
