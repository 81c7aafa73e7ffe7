/* wire.c -- write the body of a request, and walk over it.
 *
 * A comma is due before a value or key unless the byte before opens something or ends a key: no
 * value ends in one of these bytes, so that nothing has to be remembered. */
#include "wire/wire.h"

#include "base/base64.h"
#include "base/hex.h"
#include "base/mem.h"

void vls_wire_init(vls_wire *wire, const valise_env *env)
{
    *wire = (vls_wire){.env = env};
    vls_buf_init(&wire->text, env, VLS_WIRE_MAX_BYTES);
    vls_buf_init(&wire->scratch, env, VLS_WIRE_MAX_BYTES);
}

void vls_wire_release(vls_wire *wire)
{
    if (!wire->env)
        return;
    vls_buf_release(&wire->text);
    vls_buf_release(&wire->scratch);
    vls_vec_release(&wire->holes, wire->env);
}

int64_t vls_wire_size(const vls_wire *wire)
{
    int64_t size = (int64_t)wire->text.len;

    /* No overflow: a hole takes a byte of the text at least, and a blob is at most 2^40. */
    for (size_t i = 0; i < wire->holes.len; i++) {
        if (wire->holes.ptr[i].size == VLS_SIZE_UNKNOWN)
            return VLS_SIZE_UNKNOWN;
        if (__builtin_add_overflow(
                size, (int64_t)vls_base64_encoded_len((size_t)wire->holes.ptr[i].size), &size))
            return VLS_SIZE_UNKNOWN;
    }
    return size;
}

/* ---- writing ---- */

static void begin_value(vls_wire *wire)
{
    char last = wire->text.len > 0 ? wire->text.ptr[wire->text.len - 1] : '[';

    if (last != '[' && last != '{' && last != ':')
        vls_buf_add_byte(&wire->text, ',');
}

void vls_wire_open(vls_wire *wire, char bracket)
{
    begin_value(wire);
    vls_buf_add_byte(&wire->text, bracket);
}

void vls_wire_close(vls_wire *wire, char bracket)
{
    vls_buf_add_byte(&wire->text, bracket);
}

void vls_wire_member(vls_wire *wire, valise_str key)
{
    begin_value(wire);
    vls_json_write_string(&wire->text, key);
    vls_buf_add_byte(&wire->text, ':');
}

/* A constant of an adapter: there is nothing to escape in it. */
void vls_wire_key(vls_wire *wire, const char *key)
{
    size_t len = strlen(key);
    char *at;

    begin_value(wire);
    at = vls_buf_reserve(&wire->text, len + 3);
    if (!at)
        return;
    at[0] = '"';
    memcpy(at + 1, key, len);
    at[len + 1] = '"';
    at[len + 2] = ':';
    vls_buf_advance(&wire->text, len + 3);
}

void vls_wire_str(vls_wire *wire, valise_str text)
{
    begin_value(wire);
    vls_json_write_string(&wire->text, text);
}

void vls_wire_text(vls_wire *wire, const char *text)
{
    vls_wire_str(wire, valise_str_of(text));
}

void vls_wire_pair(vls_wire *wire, const char *key, valise_str text)
{
    vls_wire_key(wire, key);
    vls_wire_str(wire, text);
}

void vls_wire_open_type(vls_wire *wire, const char *type)
{
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "type", valise_str_of(type));
}

void vls_wire_more(vls_wire *wire, valise_str text)
{
    size_t end = wire->text.len;

    if (wire->text.failed || text.len == 0)
        return;
    assert(end > 1 && wire->text.ptr[end - 1] == '"');
    vls_json_write_string(&wire->text, text);
    if (wire->text.failed)
        return;
    /* What ended the one and began the other goes. */
    memmove(wire->text.ptr + end - 1, wire->text.ptr + end + 1, wire->text.len - end - 1);
    wire->text.len -= 2;
}

void vls_wire_int(vls_wire *wire, int64_t number)
{
    begin_value(wire);
    vls_buf_add_i64(&wire->text, number);
}

void vls_wire_bool(vls_wire *wire, bool truth)
{
    begin_value(wire);
    vls_buf_add_text(&wire->text, truth ? "true" : "false");
}

/* What a buffer says itself is asked of it later. */
static void remember(vls_wire *wire, int rc)
{
    if (rc < 0 && wire->failed == 0)
        wire->failed = rc;
}

void vls_wire_json(vls_wire *wire, vls_json value)
{
    begin_value(wire);
    remember(wire, vls_json_write_around(&wire->text, value, NULL));
}

void vls_wire_raw(vls_wire *wire, valise_str json)
{
    begin_value(wire);
    vls_buf_add(&wire->text, json);
}

void vls_wire_json_text(vls_wire *wire, vls_json value)
{
    vls_buf_clear(&wire->scratch);
    remember(wire, vls_json_write_around(&wire->scratch, value, NULL));
    vls_wire_str(wire, vls_buf_str(&wire->scratch));
}

void vls_wire_blob(vls_wire *wire, valise_str before, const vls_plan_block *block)
{
    begin_value(wire);
    vls_json_write_string(&wire->text, before);
    if (wire->text.failed)
        return;
    wire->text.len--; /* the quote that ends it */
    if (block->size > VLS_WIRE_MAX_BLOB)
        remember(wire, VALISE_E_TOO_LARGE);
    else if (!vls_vec_push(&wire->holes, wire->env,
                           (vls_wire_hole){wire->text.len, block->blob, block->size}))
        remember(wire, VALISE_E_NO_MEMORY);
    vls_buf_add_byte(&wire->text, '"');
}

int vls_wire_check(const vls_wire *wire, valise_error *err)
{
    int rc = vls_buf_check(&wire->text, err);

    if (rc < 0)
        return rc;
    if (wire->failed == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (wire->failed == VALISE_E_LIMIT)
        return vls_fail(err, VALISE_E_LIMIT, "the request has a value deeper than %u",
                        VLS_JSON_MAX_DEPTH + VLS_JSON_MAX_AROUND);
    if (wire->failed < 0)
        return vls_fail(err, VALISE_E_TOO_LARGE, "the request is too large");
    return 0;
}

/* ---- walking ---- */

#define RAW_BYTES ((size_t)12 << 10)

struct vls_wire_walk {
    const vls_wire *wire;
    vls_wire_blobs blobs;
    size_t at;   /* in the text */
    size_t hole; /* the next one */
    bool open;   /* a blob is */
    int64_t got; /* bytes of it */
    vls_base64_encoder encoder;
    vls_buf ready; /* text of it that nobody has taken yet */
    size_t taken;  /* of that */
    char raw[RAW_BYTES];
};

int vls_wire_walk_new(vls_wire_walk **out, const vls_wire *wire, const vls_wire_blobs *blobs,
                      valise_error *err)
{
    vls_wire_walk *walk = vls_mem_zalloc(wire->env, sizeof(*walk));

    if (!walk)
        return vls_fail_memory(err);
    walk->wire = wire;
    if (blobs)
        walk->blobs = *blobs;
    vls_buf_init(&walk->ready, wire->env, 4 * RAW_BYTES);
    *out = walk;
    return 0;
}

void vls_wire_walk_free(vls_wire_walk *walk)
{
    if (!walk)
        return;
    if (walk->open)
        walk->blobs.close(walk->blobs.arg);
    vls_buf_release(&walk->ready);
    vls_mem_free(walk->wire->env, walk, sizeof(*walk));
}

static int begin_blob(vls_wire_walk *walk, valise_error *err)
{
    const vls_wire_hole *hole = &walk->wire->holes.ptr[walk->hole];
    int rc;

    if (!walk->blobs.open)
        return vls_fail(err, VALISE_E_NOT_FOUND, "nobody has the blob %s",
                        vls_id_hex(&hole->blob).s);
    rc = walk->blobs.open(walk->blobs.arg, &hole->blob, err);
    if (rc < 0)
        return rc;
    walk->open = true;
    walk->got = 0;
    walk->encoder = (vls_base64_encoder){0};
    return 0;
}

/* One more piece of the blob as text; at its end the hole is closed. */
static int more_of_blob(vls_wire_walk *walk, valise_error *err)
{
    const vls_wire_hole *hole = &walk->wire->holes.ptr[walk->hole];
    size_t len = 0;
    int rc = walk->blobs.read(&len, walk->blobs.arg, walk->raw, sizeof(walk->raw), err);

    if (rc < 0)
        return rc;
    walk->got += (int64_t)len;
    if (hole->size != VLS_SIZE_UNKNOWN &&
        (walk->got > hole->size || (len == 0 && walk->got < hole->size)))
        return vls_fail(err, VALISE_E_CORRUPT, "blob %s does not have its %lld bytes",
                        vls_id_hex(&hole->blob).s, (long long)hole->size);
    vls_buf_clear(&walk->ready);
    walk->taken = 0;
    if (len > 0) {
        vls_base64_encode_update(&walk->ready, &walk->encoder, vls_str(walk->raw, len));
    } else {
        vls_base64_encode_finish(&walk->ready, &walk->encoder);
        walk->blobs.close(walk->blobs.arg);
        walk->open = false;
        walk->hole++;
    }
    return vls_buf_check(&walk->ready, err);
}

/* What is there between at and end, as far as there is room. */
static size_t take(char *room, size_t room_bytes, const char *from, size_t at, size_t end)
{
    size_t len = VLS_MIN(room_bytes, end - at);

    if (len > 0)
        memcpy(room, from + at, len);
    return len;
}

int vls_wire_walk_read(size_t *len, vls_wire_walk *walk, void *room, size_t room_bytes,
                       valise_error *err)
{
    const vls_wire *wire = walk->wire;
    size_t done = 0;

    while (done < room_bytes) {
        size_t end = walk->hole < wire->holes.len ? wire->holes.ptr[walk->hole].at : wire->text.len;
        size_t moved = take((char *)room + done, room_bytes - done, walk->ready.ptr, walk->taken,
                            walk->ready.len);
        int rc = 0;
        walk->taken += moved;
        done += moved;
        if (moved > 0)
            continue;
        if (walk->open) {
            rc = more_of_blob(walk, err);
        } else if (walk->at < end) {
            moved = take((char *)room + done, room_bytes - done, wire->text.ptr, walk->at, end);
            walk->at += moved;
            done += moved;
        } else if (walk->hole < wire->holes.len) {
            rc = begin_blob(walk, err);
        } else {
            break;
        }
        if (rc < 0)
            return rc;
    }
    *len = done;
    return 0;
}

/* ---- hash ---- */

void vls_wire_hash(valise_id *out, const vls_wire *wire)
{
    vls_hasher hasher;
    size_t at = 0;

    vls_hash_begin(&hasher);
    for (size_t i = 0; i < wire->holes.len; i++) {
        const vls_wire_hole *hole = &wire->holes.ptr[i];
        vls_id_text digits = vls_id_hex(&hole->blob);
        vls_hash_update(&hasher, vls_str(wire->text.ptr + at, hole->at - at));
        vls_hash_update(&hasher, VLS_STR("blob:"));
        vls_hash_update(&hasher, valise_str_of(digits.s));
        at = hole->at;
    }
    vls_hash_update(&hasher, vls_str_from(vls_buf_str(&wire->text), at));
    vls_hash_end(out, &hasher);
}
