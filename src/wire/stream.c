/* stream.c -- an answer while it comes: bytes, events, and what adapters make of them.
 *
 * A block gathers its text (or its arguments) in a buffer that grows by half, so that any number of
 * pieces costs what their bytes cost. stream_answer.c makes blocks of JSON of them. */
#include "wire/stream.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "wire/mend.h"

#define SCRATCH_MAX ((size_t)1 << 30) /* values of one event of 64 MiB */
#define KEEP_MAX ((size_t)512 << 20)
#define META_MAX 64u /* members of one block */
#define DROPPED_MAX 64u
#define DROPPED_BYTES 100u
#define META_DEPTH (VLS_JSON_MAX_DEPTH - 4) /* in VENDOR, meta, the block, the array */

static int on_event(void *arg, valise_str name, valise_str data, valise_error *err);

int vls_stream_new(vls_stream **out, const valise_env *env, const vls_adapter *adapter,
                   vls_piece_fn *on_piece, void *arg, valise_error *err)
{
    vls_stream *stream = vls_mem_zalloc(env, sizeof(*stream));

    if (!stream)
        return vls_fail_memory(err);
    stream->env = env;
    stream->adapter = adapter;
    stream->on_piece = on_piece;
    stream->arg = arg;
    stream->usage = (vls_usage){VALISE_NONE, VALISE_NONE, VALISE_NONE, VALISE_NONE, VALISE_NONE};
    vls_arena_init(&stream->scratch, env, SCRATCH_MAX);
    vls_arena_init(&stream->keep, env, KEEP_MAX);
    vls_sse_init(&stream->sse, env, on_event, stream);
    vls_frames_init(&stream->frames, env, on_event, stream);
    *out = stream;
    return 0;
}

void vls_stream_free(vls_stream *stream)
{
    if (!stream)
        return;
    for (size_t i = 0; i < stream->blocks.len; i++) {
        vls_buf_release(&stream->blocks.ptr[i].text);
        vls_buf_release(&stream->blocks.ptr[i].sign);
    }
    vls_vec_release(&stream->blocks, stream->env);
    vls_vec_release(&stream->order, stream->env);
    vls_sse_release(&stream->sse);
    vls_frames_release(&stream->frames);
    vls_arena_release(&stream->scratch);
    vls_arena_release(&stream->keep);
    vls_mem_free(stream->env, stream, sizeof(*stream));
}

/* ---- bytes and events ---- */

/* The data of an event. Halves of surrogates are marked: the other one may come with the next. */
static int parse_event(vls_json *out, vls_stream *stream, valise_str data, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = VLS_SSE_MAX_EVENT,
                                           .around = VLS_JSON_MAX_AROUND,
                                           .flags = VLS_JSON_LAST_KEY_WINS};
    int rc = vls_mend_parse(out, &stream->marked, &stream->scratch, data, &limits, err);

    if (rc < 0)
        vls_error_prepend(err, "event[%zu]", stream->events - 1);
    return rc;
}

static int on_event(void *arg, valise_str name, valise_str data, valise_error *err)
{
    vls_stream *stream = arg;
    vls_json value = vls_json_null();
    vls_refusal refusal;
    int rc;

    stream->events++;
    data = vls_str_trim(data);
    if (stream->ended || data.len == 0)
        return 0;
    if (vls_str_equal(data, VLS_STR("[DONE]"))) {
        stream->ended = true;
        return 0;
    }
    vls_arena_reset(&stream->scratch);
    stream->marked = false;
    rc = parse_event(&value, stream, data, err);
    if (rc < 0)
        return rc;
    if (vls_answer_refused(&refusal, value, false))
        return vls_stream_refuse(stream, &refusal, err);
    return stream->adapter->event(stream, name, value, err);
}

static int feed(vls_stream *stream, valise_str bytes, valise_error *err)
{
    if (stream->total == 0 && bytes.len > 0)
        stream->framed = stream->adapter->framed && bytes.ptr[0] == '\0';
    return stream->framed ? vls_frames_feed(&stream->frames, bytes, err)
                          : vls_sse_feed(&stream->sse, bytes, err);
}

int vls_stream_feed(vls_stream *stream, valise_str bytes, valise_error *err)
{
    if (stream->failed < 0)
        return vls_fail(err, VALISE_E_INVALID, "the stream failed before (%s)",
                        valise_error_text(stream->failed));
    if (bytes.len > VLS_STREAM_MAX_BYTES - stream->total)
        stream->failed = vls_fail(err, VALISE_E_LIMIT, "the answer has more than %zu MiB",
                                  VLS_STREAM_MAX_BYTES >> 20);
    else
        stream->failed = feed(stream, bytes, err);
    stream->total += stream->failed < 0 ? 0 : bytes.len;
    return stream->failed;
}

int vls_stream_finish(vls_stream *stream, valise_error *err)
{
    if (stream->failed < 0)
        return stream->failed;
    stream->failed = vls_sse_finish(&stream->sse, err);
    if (stream->failed == 0 && stream->total > 0 && stream->events == 0)
        stream->failed = vls_fail(err, VALISE_E_INVALID, "it is not a stream of events");
    return stream->failed;
}

bool vls_stream_has_ended(const vls_stream *stream)
{
    return stream->ended || stream->stop != VLS_STOP_NONE;
}

bool vls_stream_has_begun(const vls_stream *stream)
{
    return stream->begun;
}

bool vls_stream_is_passing(const vls_stream *stream)
{
    return stream->passing;
}

/* ---- blocks ---- */

/* Where (index, kind) is in the order, or would be. */
static size_t find_place(bool *found, const vls_stream *stream, int64_t index, uint8_t kind)
{
    size_t low = 0, high = stream->order.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const vls_stream_place *place = &stream->order.ptr[middle];
        if (place->index < index || (place->index == index && place->kind < kind))
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < stream->order.len && stream->order.ptr[low].index == index &&
             stream->order.ptr[low].kind == kind;
    return low;
}

static int add_block(size_t *out, vls_stream *stream, vls_said_kind kind, valise_error *err)
{
    vls_stream_block_ *block;

    if (stream->blocks.len >= VLS_STREAM_MAX_BLOCKS)
        return vls_fail(err, VALISE_E_LIMIT, "the answer has more than %u blocks",
                        VLS_STREAM_MAX_BLOCKS);
    if (!vls_vec_push(&stream->blocks, stream->env, (vls_stream_block_){.kind = (uint8_t)kind}))
        return vls_fail_memory(err);
    block = &stream->blocks.ptr[stream->blocks.len - 1];
    vls_buf_init(&block->text, stream->env, VLS_STREAM_MAX_BYTES);
    vls_buf_init(&block->sign, stream->env, VLS_STREAM_MAX_BYTES);
    *out = stream->blocks.len - 1;
    return 0;
}

int vls_stream_block(size_t *out, vls_stream *stream, int64_t index, vls_said_kind kind,
                     valise_error *err)
{
    size_t last = stream->blocks.len, at, made = 0;
    bool found = false;
    int rc;

    assert(kind == VLS_SAID_TEXT || kind == VLS_SAID_THINKING || kind == VLS_SAID_CALL);
    if (index == VLS_STREAM_NEW)
        return add_block(out, stream, kind, err);
    if (index == VLS_STREAM_LAST) {
        if (last == 0 || stream->blocks.ptr[last - 1].kind != kind)
            return add_block(out, stream, kind, err);
        *out = last - 1;
        return 0;
    }
    at = find_place(&found, stream, index, (uint8_t)kind);
    if (found) {
        *out = stream->order.ptr[at].block;
        return 0;
    }
    if (!vls_vec_reserve(&stream->order, stream->env, stream->order.len + 1))
        return vls_fail_memory(err);
    rc = add_block(&made, stream, kind, err);
    if (rc < 0)
        return rc;
    memmove(stream->order.ptr + at + 1, stream->order.ptr + at,
            (stream->order.len - at) * sizeof(*stream->order.ptr));
    stream->order.ptr[at] =
        (vls_stream_place){.index = index, .kind = (uint8_t)kind, .block = (uint32_t)made};
    stream->order.len++;
    *out = made;
    return 0;
}

int vls_stream_anew(size_t *out, vls_stream *stream, int64_t index, vls_said_kind kind,
                    valise_error *err)
{
    bool found = false;
    size_t at = find_place(&found, stream, index, (uint8_t)kind), made = 0;
    int rc;

    if (!found)
        return vls_stream_block(out, stream, index, kind, err);
    rc = add_block(&made, stream, kind, err);
    if (rc < 0)
        return rc;
    stream->order.ptr[at].block = (uint32_t)made;
    *out = made;
    return 0;
}

bool vls_stream_find(size_t *out, const vls_stream *stream, int64_t index, vls_said_kind kind)
{
    bool found = false;
    size_t at = find_place(&found, stream, index, (uint8_t)kind);

    if (found)
        *out = stream->order.ptr[at].block;
    return found;
}

bool vls_stream_goes_on(const vls_stream *stream, vls_said_kind kind)
{
    const vls_stream_block_ *last =
        stream->blocks.len > 0 ? &stream->blocks.ptr[stream->blocks.len - 1] : NULL;

    return last && last->kind == (uint8_t)kind && last->meta.len == 0;
}

static vls_stream_block_ *block_of(vls_stream *stream, size_t block)
{
    assert(block < stream->blocks.len);
    return &stream->blocks.ptr[block];
}

/* ---- what comes ---- */

/* Append text in which halves may be marked; *half is one that waits for the other. */
static int append(valise_str *added, vls_stream *stream, vls_buf *buf, uint32_t *half,
                  valise_str more, valise_error *err)
{
    size_t before = buf->len;
    uint32_t low;
    char pair[4];

    if (*half && more.len > 0) {
        low = stream->marked ? vls_mend_half(more) : 0;
        if (low >= 0xDC00) {
            vls_buf_add(buf,
                        vls_str(pair, vls_utf8_encode(pair, 0x10000 + ((*half - 0xD800) << 10) +
                                                                (low - 0xDC00))));
            more = vls_str_from(more, VLS_MEND_MARK_LEN);
        } else {
            vls_buf_add(buf, VLS_MEND_CHARACTER);
        }
        *half = 0;
    }
    if (stream->marked && more.len >= VLS_MEND_MARK_LEN) {
        uint32_t high = vls_mend_half(vls_str_from(more, more.len - VLS_MEND_MARK_LEN));
        if (high && high < 0xDC00) {
            *half = high;
            more.len -= VLS_MEND_MARK_LEN;
        }
    }
    vls_mend_add(buf, more, stream->marked);
    *added = vls_str(buf->ptr ? buf->ptr + before : "", buf->len - before);
    return vls_buf_check(buf, err);
}

/* A copy that lives as long as the stream, cut to so many bytes. */
static int keep_text(valise_str *out, vls_stream *stream, valise_str text, size_t max,
                     valise_error *err)
{
    vls_buf buf;

    vls_buf_init_in(&buf, &stream->keep, (size_t)4 * max);
    vls_mend_add(&buf, vls_utf8_head(text, max), stream->marked);
    return vls_buf_keep(out, &buf, err);
}

static int hand_out(vls_stream *stream, size_t block, valise_str text, valise_error *err)
{
    const vls_stream_block_ *from = &stream->blocks.ptr[block];
    vls_piece piece = {
        .kind = from->kind,
        .block = block,
        .text = text,
        .name = from->name,
    };

    stream->begun = true;
    if (!stream->on_piece || from->redacted)
        return 0;
    return vls_settle(stream->on_piece(stream->arg, &piece, err));
}

static int add_more(vls_stream *stream, size_t block, valise_str more, valise_error *err)
{
    vls_stream_block_ *to = block_of(stream, block);
    valise_str added = {NULL, 0};
    int rc = append(&added, stream, &to->text, &to->half, more, err);

    return rc < 0 || added.len == 0 ? rc : hand_out(stream, block, added, err);
}

int vls_stream_text(vls_stream *stream, size_t block, valise_str more, valise_error *err)
{
    assert(block_of(stream, block)->kind != VLS_SAID_CALL);
    return add_more(stream, block, more, err);
}

int vls_stream_say(vls_stream *stream, int64_t index, vls_said_kind kind, valise_str more,
                   valise_error *err)
{
    size_t block = 0;
    int rc = vls_stream_block(&block, stream, index, kind, err);

    return rc < 0 ? rc : vls_stream_text(stream, block, more, err);
}

int vls_stream_args(vls_stream *stream, size_t block, valise_str more, valise_error *err)
{
    assert(block_of(stream, block)->kind == VLS_SAID_CALL);
    return add_more(stream, block, more, err);
}

int vls_stream_args_value(vls_stream *stream, size_t block, vls_json args, valise_error *err)
{
    vls_stream_block_ *to = block_of(stream, block);
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    int rc;

    if (args.type == VLS_JSON_NULL)
        return 0;
    vls_buf_init(&text, stream->env, VLS_STREAM_MAX_BYTES);
    rc = vls_json_write_around(&text, args, err);
    if (rc < 0)
        return rc;
    vls_buf_clear(&to->text);
    to->half = 0;
    return add_more(stream, block, vls_buf_str(&text), err);
}

int vls_stream_call(vls_stream *stream, size_t block, valise_str id, valise_str name,
                    valise_error *err)
{
    vls_stream_block_ *to = block_of(stream, block);
    int rc = 0;

    assert(to->kind == VLS_SAID_CALL);
    /* A longer id is replaced, not cut: two of them could become one. */
    if (!to->id.ptr && id.len > 0 && id.len <= VLS_STREAM_MAX_NAME)
        rc = keep_text(&to->id, stream, id, VLS_STREAM_MAX_NAME, err);
    if (rc < 0 || to->name.ptr || name.len == 0)
        return rc;
    rc = keep_text(&to->name, stream, name, VLS_STREAM_MAX_NAME, err);
    return rc < 0 ? rc : hand_out(stream, block, VLS_STR(""), err);
}

valise_str vls_stream_call_id(const vls_stream *stream, size_t block)
{
    assert(block < stream->blocks.len);
    return stream->blocks.ptr[block].id;
}

size_t vls_stream_length(const vls_stream *stream, size_t block)
{
    assert(block < stream->blocks.len);
    return stream->blocks.ptr[block].text.len;
}

/* ---- what goes with it ---- */

static size_t depth_of(vls_json value)
{
    size_t count = value.type == VLS_JSON_ARRAY || value.type == VLS_JSON_OBJECT ? value.len : 0;
    size_t deepest = 0;

    if (value.type != VLS_JSON_ARRAY && value.type != VLS_JSON_OBJECT)
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t depth =
            depth_of(value.type == VLS_JSON_ARRAY ? value.items[i] : value.members[i].value);
        deepest = VLS_MAX(deepest, depth);
    }
    return deepest + 1;
}

/* Strings in which halves are marked are written anew: what goes back to a provider is text. */
static int keep_value(vls_json *out, vls_stream *stream, vls_json value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {.env = NULL}, clean = {.env = NULL};
    vls_json copy = value;
    int rc = 0;

    vls_buf_init(&text, stream->env, VLS_STREAM_MAX_BYTES);
    vls_buf_init(&clean, stream->env, VLS_STREAM_MAX_BYTES);
    if (stream->marked) {
        rc = vls_json_write_around(&text, value, err);
        if (rc == 0) {
            vls_mend_add(&clean, vls_buf_str(&text), true);
            rc = vls_buf_check(&clean, err);
        }
        if (rc == 0)
            rc = vls_answer_parse(&copy, &stream->scratch, vls_buf_str(&clean), err);
    }
    return rc < 0 ? rc : vls_json_copy(out, &stream->keep, copy, err);
}

int vls_stream_meta(vls_stream *stream, size_t block, const char *key, vls_json value,
                    valise_error *err)
{
    vls_stream_block_ *to = block_of(stream, block);
    valise_str name = valise_str_of(key);
    vls_json kept = vls_json_null();
    size_t at = 0;
    int rc;

    if (!stream->adapter->vendor || !stream->adapter->vendor[0])
        return 0;
    if (depth_of(value) > META_DEPTH)
        return vls_stream_drop(stream, name, err);
    rc = keep_value(&kept, stream, value, err);
    if (rc < 0)
        return rc;
    while (at < to->meta.len && !vls_str_equal(to->meta.ptr[at].key, name))
        at++;
    if (at < to->meta.len) {
        to->meta.ptr[at].value = kept;
        return 0;
    }
    if (at >= META_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "a block has more than %u data of its provider",
                        META_MAX);
    rc = keep_text(&name, stream, name, VLS_STREAM_MAX_NAME, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&to->meta, &stream->keep, (vls_stream_meta_){name, kept})
               ? 0
               : vls_arena_fail(&stream->keep, err);
}

int vls_stream_sign(vls_stream *stream, size_t block, valise_str more, valise_error *err)
{
    vls_stream_block_ *to = block_of(stream, block);

    assert(to->kind == VLS_SAID_THINKING);
    vls_mend_add(&to->sign, more, stream->marked);
    return vls_buf_check(&to->sign, err);
}

void vls_stream_redact(vls_stream *stream, size_t block)
{
    block_of(stream, block)->redacted = true;
}

int vls_stream_head(vls_stream *stream, valise_str id, valise_str model, valise_error *err)
{
    int rc = 0;

    if (!stream->id.ptr && id.len > 0)
        rc = keep_text(&stream->id, stream, id, VLS_STREAM_MAX_NAME, err);
    if (rc == 0 && !stream->model.ptr && model.len > 0)
        rc = keep_text(&stream->model, stream, model, VLS_STREAM_MAX_NAME, err);
    return rc;
}

int vls_stream_stop(vls_stream *stream, vls_stop stop, valise_str text, valise_error *err)
{
    if (stop == VLS_STOP_NONE)
        return 0;
    stream->stop = stop;
    stream->stop_text = (valise_str){NULL, 0};
    return text.len > 0 ? keep_text(&stream->stop_text, stream, text, VLS_STREAM_MAX_NAME, err) : 0;
}

int vls_stream_stop_by(vls_stream *stream, const vls_stop_word *words, valise_str why,
                       valise_error *err)
{
    if (why.len == 0)
        return 0;
    while (words->word && !vls_str_equal(why, valise_str_of(words->word)))
        words++;
    return vls_stream_stop(stream, words->word ? words->stop : VLS_STOP_OTHER, why, err);
}

vls_usage *vls_stream_usage(vls_stream *stream)
{
    return &stream->usage;
}

int vls_stream_drop(vls_stream *stream, valise_str kind, valise_error *err)
{
    int rc;

    kind = vls_utf8_head(kind, DROPPED_BYTES);
    for (size_t i = 0; i < stream->dropped.len; i++) {
        if (vls_str_equal(stream->dropped.ptr[i], kind))
            return 0;
    }
    if (stream->dropped.len >= DROPPED_MAX)
        return 0;
    rc = keep_text(&kind, stream, kind, DROPPED_BYTES, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&stream->dropped, &stream->keep, kind)
               ? 0
               : vls_arena_fail(&stream->keep, err);
}

int vls_stream_refuse(vls_stream *stream, const vls_refusal *refusal, valise_error *err)
{
    stream->passing = refusal->passing;
    return vls_answer_refuse(refusal, err);
}

void vls_stream_end(vls_stream *stream)
{
    stream->ended = true;
}
