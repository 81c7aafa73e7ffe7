/* stream_answer.c -- what has come of a stream, as an answer that turn:add takes. */
#include <inttypes.h>

#include "json/make.h"
#include "wire/mend.h"
#include "wire/stream.h"

#define MEMBERS_MAX 8

/* An object that is put together. */
typedef struct making {
    vls_arena *arena;
    vls_member members[MEMBERS_MAX];
    size_t count;
} making;

static void put(making *m, const char *key, vls_json value)
{
    assert(m->count < MEMBERS_MAX);
    m->members[m->count++] = (vls_member){vls_json_string(valise_str_of(key)), value};
}

static int made(vls_json *out, const making *m, valise_error *err)
{
    vls_member *members = vls_arena_array(m->arena, m->count + 1, sizeof(*members));

    if (!members)
        return vls_arena_fail(m->arena, err);
    memcpy(members, m->members, m->count * sizeof(*members));
    return vls_json_object(out, members, m->count, err);
}

/* ---- ids of calls ---- */

typedef struct call {
    valise_str id; /* "": not told */
    size_t block;
} call;

typedef struct calls {
    call *sorted; /* by id, block */
    size_t count;
    valise_str *ids; /* of each block of the stream; ptr NULL: it is no call */
} calls;

static int compare_calls(const void *a, const void *b)
{
    const call *x = a, *y = b;
    int order = vls_str_compare(x->id, y->id);

    return order ? order : (x->block > y->block) - (x->block < y->block);
}

static bool is_taken(const calls *all, valise_str id)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_str_compare(all->sorted[middle].id, id);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* An id from what was said: the same again for the same answer, and another one for each block. */
static int make_id(valise_str *out, vls_arena *arena, const vls_stream *stream, const calls *all,
                   size_t block, valise_error *err)
{
    const vls_stream_block_ *from = &stream->blocks.ptr[block];
    uint64_t hash = vls_str_hash(vls_buf_str(&from->text), vls_str_hash(stream->id, 0));
    char text[64];

    do {
        (void)snprintf(text, sizeof(text), "call_%016" PRIx64 "_%zu", hash++, block);
    } while (is_taken(all, valise_str_of(text)));
    return vls_arena_dup(out, arena, valise_str_of(text), err);
}

/* Each call has an id of its own: what is missing or there twice is replaced. */
static int name_calls(calls *out, vls_arena *arena, const vls_stream *stream, valise_error *err)
{
    size_t count = stream->blocks.len;
    int rc = 0;

    out->sorted = vls_arena_array(arena, count + 1, sizeof(*out->sorted));
    out->ids = vls_arena_array(arena, count + 1, sizeof(*out->ids));
    if (!out->sorted || !out->ids)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++) {
        out->ids[i] = (valise_str){NULL, 0};
        if (stream->blocks.ptr[i].kind == VLS_SAID_CALL)
            out->sorted[out->count++] = (call){stream->blocks.ptr[i].id, i};
    }
    qsort(out->sorted, out->count, sizeof(*out->sorted), compare_calls);
    for (size_t i = 0; i < out->count && rc == 0; i++) {
        call this = out->sorted[i];
        if (this.id.len > 0 && (i == 0 || !vls_str_equal(this.id, out->sorted[i - 1].id)))
            rc = vls_arena_dup(&out->ids[this.block], arena, this.id, err);
        else
            rc = make_id(&out->ids[this.block], arena, stream, out, this.block, err);
    }
    return rc;
}

/* ---- blocks ---- */

/* A half that nothing followed is no character. */
static int text_of(vls_json *out, vls_arena *arena, const vls_buf *from, uint32_t half,
                   valise_error *err)
{
    valise_str text = {NULL, 0};
    vls_buf buf;
    int rc;

    vls_buf_init_in(&buf, arena, from->len + VLS_MEND_CHARACTER.len);
    vls_buf_add(&buf, vls_buf_str(from));
    if (half)
        vls_buf_add(&buf, VLS_MEND_CHARACTER);
    rc = vls_buf_keep(&text, &buf, err);
    if (rc == 0)
        *out = vls_json_string(text);
    return rc;
}

/* meta: {VENDOR: {...}}, and whose signature it is. null: there is nothing to keep. */
static int meta_of(vls_json *out, vls_arena *arena, const vls_stream *stream,
                   const vls_stream_block_ *from, valise_error *err)
{
    making m = {.arena = arena};
    const char *vendor = stream->adapter->vendor;
    vls_json own = vls_json_null(), value = vls_json_null();
    int rc = 0;

    if (!vendor || !vendor[0])
        return 0;
    for (size_t i = 0; i < from->meta.len && rc == 0; i++) {
        valise_str key = {NULL, 0};
        rc = vls_arena_dup(&key, arena, from->meta.ptr[i].key, err);
        if (rc == 0)
            rc = vls_json_copy(&value, arena, from->meta.ptr[i].value, err);
        if (rc == 0)
            rc = vls_json_with(&own, arena, own, key.ptr, value, err);
    }
    if (own.type == VLS_JSON_OBJECT)
        put(&m, vendor, own);
    if (from->sign.len > 0)
        put(&m, "vendor", vls_json_string(valise_str_of(vendor)));
    return rc < 0 || m.count == 0 ? rc : made(out, &m, err);
}

static int make_call(vls_json *out, bool *runs, vls_arena *arena, const vls_stream *stream,
                     size_t block, valise_str id, bool cut, valise_error *err)
{
    const vls_stream_block_ *from = &stream->blocks.ptr[block];
    making m = {.arena = arena};
    vls_json meta = vls_json_null(), text = vls_json_null(), object = vls_json_null();
    valise_str name = {NULL, 0};
    bool blank = vls_str_trim(vls_buf_str(&from->text)).len == 0;
    int rc = vls_arena_dup(&name, arena, from->name, err);

    if (rc == 0)
        rc = meta_of(&meta, arena, stream, from, err);
    if (rc == 0)
        rc = text_of(&text, arena, &from->text, from->half, err);
    if (rc < 0)
        return rc;
    put(&m, "type", vls_json_string(VLS_STR("tool_use")));
    put(&m, "callId", vls_json_string(id));
    put(&m, "name", vls_json_string(name));
    if (meta.type == VLS_JSON_OBJECT)
        put(&m, "meta", meta);
    rc = made(&object, &m, err);
    if (rc == 0)
        rc = vls_answer_args(&object, arena, stream->adapter->vendor, vls_json_str(text), err);
    if (rc == 0 && cut && blank)
        rc = vls_json_with(&object, arena, object, "rawArgs", text, err);
    *runs = rc == 0 && !vls_json_get(object, VLS_STR("rawArgs"));
    /* No beginning of an object is an object: what can be read has come as a whole. */
    if (rc == 0 && cut && !*runs)
        rc = vls_json_with(&object, arena, object, "partial", vls_json_bool(true), err);
    if (rc == 0)
        *out = object;
    return rc;
}

static int make_said(vls_json *out, vls_arena *arena, const vls_stream *stream,
                     const vls_stream_block_ *from, bool cut, valise_error *err)
{
    bool thinks = from->kind == VLS_SAID_THINKING;
    making m = {.arena = arena};
    vls_json meta = vls_json_null(), text = vls_json_null(), sign = vls_json_null();
    int rc = meta_of(&meta, arena, stream, from, err);

    if (rc == 0)
        rc = text_of(&text, arena, &from->text, from->half, err);
    if (rc == 0)
        rc = text_of(&sign, arena, &from->sign, 0, err);
    if (rc < 0)
        return rc;
    put(&m, "type", vls_json_string(thinks ? VLS_STR("thinking") : VLS_STR("text")));
    put(&m, "text", text);
    if (sign.len > 0)
        put(&m, "signature", sign);
    if (from->redacted)
        put(&m, "redacted", vls_json_bool(true));
    if (meta.type == VLS_JSON_OBJECT)
        put(&m, "meta", meta);
    if (thinks && cut && sign.len == 0 && !from->redacted)
        put(&m, "partial", vls_json_bool(true));
    return made(out, &m, err);
}

/* A block in which nothing came, and for which nothing has to go back. */
static bool is_empty(const vls_stream_block_ *block)
{
    if (block->kind == VLS_SAID_CALL)
        return block->name.len == 0; /* nobody can run it, and turn:add refuses it */
    return block->text.len == 0 && !block->half && block->sign.len == 0 && block->meta.len == 0;
}

static int make_blocks(vls_answer *out, vls_arena *arena, vls_stream *stream, bool *runs,
                       valise_error *err)
{
    bool cut = out->partial || out->stop == VLS_STOP_LIMIT;
    calls all = {.count = 0};
    vls_vec(vls_json) blocks = VLS_VEC_INIT;
    int rc = name_calls(&all, arena, stream, err);

    for (size_t i = 0; i < stream->blocks.len && rc == 0; i++) {
        const vls_stream_block_ *from = &stream->blocks.ptr[i];
        vls_json block = vls_json_null();
        bool runnable = false;
        if (is_empty(from)) {
            if (from->kind == VLS_SAID_CALL)
                rc = vls_stream_drop(stream, VLS_STR("tool_use without a name"), err);
            continue;
        }
        if (from->kind == VLS_SAID_CALL)
            rc = make_call(&block, &runnable, arena, stream, i, all.ids[i], cut, err);
        else
            rc = make_said(&block, arena, stream, from, out->partial, err);
        *runs = *runs || runnable;
        if (rc == 0 && !vls_vec_push_in(&blocks, arena, block))
            rc = vls_arena_fail(arena, err);
    }
    if (rc == 0 && blocks.len == 0) {
        making m = {.arena = arena};
        vls_json block = vls_json_null();
        put(&m, "type", vls_json_string(VLS_STR("text")));
        put(&m, "text", vls_json_string(VLS_STR("")));
        rc = made(&block, &m, err);
        if (rc == 0 && !vls_vec_push_in(&blocks, arena, block))
            rc = vls_arena_fail(arena, err);
    }
    if (rc == 0)
        out->blocks = vls_json_array(blocks.ptr, blocks.len);
    return rc;
}

/* ---- the answer ---- */

static int copy_dropped(valise_list *out, vls_arena *arena, const vls_stream *stream,
                        valise_error *err)
{
    valise_str *items;
    int rc = 0;

    if (stream->dropped.len == 0)
        return 0;
    items = vls_arena_array(arena, stream->dropped.len, sizeof(*items));
    if (!items)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < stream->dropped.len && rc == 0; i++)
        rc = vls_arena_dup(&items[i], arena, stream->dropped.ptr[i], err);
    if (rc == 0)
        *out = (valise_list){items, stream->dropped.len};
    return rc;
}

static int copy_text(valise_str *out, vls_arena *arena, valise_str text, valise_error *err)
{
    return text.ptr ? vls_arena_dup(out, arena, text, err) : 0;
}

int vls_stream_answer(vls_answer *out, vls_arena *arena, vls_stream *stream, valise_error *err)
{
    vls_answer answer = {
        .stop = stream->stop, .usage = stream->usage, .partial = !vls_stream_has_ended(stream)};
    bool runs = false;
    int rc = make_blocks(&answer, arena, stream, &runs, err);

    if (rc == 0)
        rc = copy_dropped(&answer.dropped, arena, stream, err);
    if (rc == 0)
        rc = copy_text(&answer.stop_text, arena, stream->stop_text, err);
    if (rc == 0)
        rc = copy_text(&answer.id, arena, stream->id, err);
    if (rc == 0)
        rc = copy_text(&answer.model, arena, stream->model, err);
    if (rc < 0)
        return rc;
    /* Some providers say "end" where tools are to be run. */
    if (runs && (answer.stop == VLS_STOP_END || (answer.stop == VLS_STOP_NONE && !answer.partial)))
        answer.stop = VLS_STOP_CALLS;
    *out = answer;
    return 0;
}
