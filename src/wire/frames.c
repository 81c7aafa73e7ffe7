/* frames.c -- streams of Amazon, a frame at a time (frames.h). */
#include "wire/frames.h"

#include "base/bytes.h"
#include "base/str.h"

#define PRELUDE 12u
#define SMALLEST (PRELUDE + 4u)

void vls_frames_init(vls_frames *frames, const valise_env *env, vls_sse_fn *on_event, void *arg)
{
    *frames = (vls_frames){.on_event = on_event, .arg = arg};
    vls_buf_init(&frames->data, env, VLS_FRAME_MAX);
}

void vls_frames_release(vls_frames *frames)
{
    vls_buf_release(&frames->data);
}

/* CRC-32 as zlib has it, half a byte at a time. */
static uint32_t crc_of(valise_str bytes)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (uint8_t)bytes.ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* ---- headers ---- */

/* Bytes of a value of this type; SIZE_MAX: there is no such type, or no room for it. */
static size_t value_len(uint8_t type, valise_str rest)
{
    static const uint8_t fixed[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};

    if (type == 6 || type == 7)
        return rest.len < 2 ? SIZE_MAX : (size_t)2 + vls_bytes_load_u16(rest.ptr);
    return type < VLS_COUNT(fixed) ? fixed[type] : SIZE_MAX;
}

/* Take one header off. */
static bool next_header(valise_str *name, valise_str *text, valise_str *rest)
{
    size_t name_len = (uint8_t)rest->ptr[0], len;
    uint8_t type;

    if (rest->len < 1 + name_len + 1)
        return false;
    *name = vls_str(rest->ptr + 1, name_len);
    type = (uint8_t)rest->ptr[1 + name_len];
    *rest = vls_str_from(*rest, 1 + name_len + 1);
    len = value_len(type, *rest);
    if (len > rest->len)
        return false;
    *text = type == 7 ? vls_str(rest->ptr + 2, len - 2) : (valise_str){NULL, 0};
    *rest = vls_str_from(*rest, len);
    return true;
}

static int name_of(valise_str *out, valise_str headers, valise_error *err)
{
    valise_str name = {NULL, 0}, text = {NULL, 0};

    *out = VLS_STR("");
    while (headers.len > 0) {
        if (!next_header(&name, &text, &headers))
            return vls_fail(err, VALISE_E_INVALID,
                            "a frame of the stream has headers that end "
                            "too early");
        if (vls_str_equal(name, VLS_STR(":event-type")) ||
            vls_str_equal(name, VLS_STR(":exception-type")))
            *out = text;
        else if (vls_str_equal(name, VLS_STR(":error-code")))
            *out = VLS_STR("errorException");
    }
    return 0;
}

/* ---- frames ---- */

/* The length of the frame that the bytes begin with; 0: not all of its prelude is there. */
static int frame_len(size_t *out, valise_str bytes, valise_error *err)
{
    size_t len, headers;

    *out = 0;
    if (bytes.len < PRELUDE)
        return 0;
    len = vls_bytes_load_u32(bytes.ptr);
    headers = vls_bytes_load_u32(bytes.ptr + 4);
    if (crc_of(vls_str(bytes.ptr, 8)) != vls_bytes_load_u32(bytes.ptr + 8))
        return vls_fail(err, VALISE_E_INVALID, "a frame of the stream is damaged");
    if (len > VLS_FRAME_MAX || headers > VLS_FRAME_MAX_HEADERS)
        return vls_fail(err, VALISE_E_LIMIT, "a frame of the stream has %zu bytes: at most %zu",
                        len, VLS_FRAME_MAX);
    if (len < SMALLEST || headers > len - SMALLEST)
        return vls_fail(err, VALISE_E_INVALID, "a frame of the stream is shorter than its headers");
    *out = len;
    return 0;
}

static int take_frame(const vls_frames *frames, valise_str frame, valise_error *err)
{
    size_t headers = vls_bytes_load_u32(frame.ptr + 4);
    valise_str name = {NULL, 0};
    int rc;

    if (crc_of(vls_str(frame.ptr, frame.len - 4)) != vls_bytes_load_u32(frame.ptr + frame.len - 4))
        return vls_fail(err, VALISE_E_INVALID, "a frame of the stream is damaged");
    rc = name_of(&name, vls_str(frame.ptr + PRELUDE, headers), err);
    if (rc < 0)
        return rc;
    return frames->on_event(frames->arg, name,
                            vls_str(frame.ptr + PRELUDE + headers, frame.len - SMALLEST - headers),
                            err);
}

/* Frames that are there as a whole; *used says how far. */
static int take_frames(size_t *used, const vls_frames *frames, valise_str bytes, valise_error *err)
{
    size_t len = 0;
    int rc = frame_len(&len, bytes, err);

    *used = 0;
    while (rc == 0 && len > 0 && len <= bytes.len - *used) {
        rc = take_frame(frames, vls_str(bytes.ptr + *used, len), err);
        *used += len;
        if (rc == 0)
            rc = frame_len(&len, vls_str_from(bytes, *used), err);
    }
    return rc;
}

int vls_frames_feed(vls_frames *frames, valise_str bytes, valise_error *err)
{
    vls_buf *data = &frames->data;
    size_t used = 0, len = 0;
    int rc = 0;

    /* What is left of a frame is filled up first, so that bytes are copied once. */
    while (data->len > 0 && bytes.len > 0 && rc == 0) {
        size_t want, more;
        rc = frame_len(&len, vls_buf_str(data), err);
        want = len > 0 ? len : PRELUDE;
        more = VLS_MIN(want - data->len, bytes.len);
        if (rc < 0)
            return rc;
        vls_buf_add(data, vls_str(bytes.ptr, more));
        bytes = vls_str_from(bytes, more);
        rc = vls_buf_check(data, err);
        if (rc == 0)
            rc = take_frames(&used, frames, vls_buf_str(data), err);
        if (rc == 0 && used > 0)
            vls_buf_clear(data);
    }
    if (rc == 0)
        rc = take_frames(&used, frames, bytes, err);
    if (rc < 0)
        return rc;
    vls_buf_add(data, vls_str_from(bytes, used));
    return vls_buf_check(data, err);
}
