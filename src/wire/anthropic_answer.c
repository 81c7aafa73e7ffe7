/* anthropic_answer.c -- answers of Anthropic Messages, whole and as streams. [P11] */
#include "wire/anthropic.h"

static const vls_stop_word stops[] = {
    {"end_turn", VLS_STOP_END},
    {"tool_use", VLS_STOP_CALLS},
    {"max_tokens", VLS_STOP_LIMIT},
    {"model_context_window_exceeded", VLS_STOP_LIMIT},
    {"stop_sequence", VLS_STOP_SEQUENCE},
    {"refusal", VLS_STOP_REFUSED},
    {NULL, VLS_STOP_OTHER},
};

/* What is told of input are three numbers without each other; later ones replace earlier ones. */
static void take_usage(vls_stream *stream, vls_json usage)
{
    vls_usage *out = vls_stream_usage(stream);
    int64_t fresh = vls_count_of(usage, "input_tokens");

    if (fresh == VALISE_NONE && out->input != VALISE_NONE)
        fresh = out->input - vls_count_sum(0, vls_count_sum(out->cache_read, out->cache_write));
    vls_count_take(&out->cache_read, usage, "cache_read_input_tokens");
    vls_count_take(&out->cache_write, usage, "cache_creation_input_tokens");
    if (fresh != VALISE_NONE)
        out->input = vls_count_sum(fresh, vls_count_sum(out->cache_read, out->cache_write));
    vls_count_take(&out->output, usage, "output_tokens");
    vls_count_take(&out->reasoning, vls_member_of(usage, "output_tokens_details"),
                   "thinking_tokens");
}

static int begin_call(vls_stream *stream, vls_json block, int64_t index, valise_error *err)
{
    vls_json input = vls_member_of(block, "input");
    size_t at = 0;
    int rc = vls_stream_block(&at, stream, index, VLS_SAID_CALL, err);

    if (rc == 0)
        rc = vls_stream_call(stream, at, vls_text_of(block, "id"), vls_text_of(block, "name"), err);
    /* A stream begins with {} and says what it is later. */
    if (rc == 0 && !(input.type == VLS_JSON_OBJECT && input.len == 0))
        rc = vls_stream_args_value(stream, at, input, err);
    return rc;
}

static int begin_thinking(vls_stream *stream, vls_json block, int64_t index, valise_error *err)
{
    bool redacted = vls_is_type(block, "redacted_thinking");
    size_t at = 0;
    int rc = vls_stream_block(&at, stream, index, VLS_SAID_THINKING, err);

    if (rc < 0)
        return rc;
    if (redacted)
        vls_stream_redact(stream, at);
    rc = vls_stream_text(stream, at, vls_text_of(block, redacted ? "data" : "thinking"), err);
    return rc < 0 ? rc : vls_stream_sign(stream, at, vls_text_of(block, "signature"), err);
}

/* A block, or its beginning. */
static int begin_block(vls_stream *stream, vls_json block, int64_t index, valise_error *err)
{
    int rc = 0;

    if (vls_is_type(block, "tool_use"))
        return begin_call(stream, block, index, err);
    if (vls_is_type(block, "thinking") || vls_is_type(block, "redacted_thinking"))
        return begin_thinking(stream, block, index, err);
    if (!vls_is_type(block, "text"))
        return vls_stream_drop(stream, vls_text_of(block, "type"), err);
    if (vls_member_of(block, "citations").len > 0)
        rc = vls_stream_drop(stream, VLS_STR("citations"), err);
    return rc < 0 ? rc
                  : vls_stream_say(stream, index, VLS_SAID_TEXT, vls_text_of(block, "text"), err);
}

static int take_message(vls_stream *stream, vls_json message, valise_error *err)
{
    vls_json content = vls_member_of(message, "content");
    valise_str why = vls_text_of(message, "stop_reason");
    int rc =
        vls_stream_head(stream, vls_text_of(message, "id"), vls_text_of(message, "model"), err);

    take_usage(stream, vls_member_of(message, "usage"));
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len && rc == 0; i++)
        rc = begin_block(stream, content.items[i], i, err);
    return rc < 0 ? rc : vls_stream_stop_by(stream, stops, why, err);
}

int vls_anthropic_answer(vls_stream *stream, vls_json response, valise_error *err)
{
    if (vls_member_of(response, "content").type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID,
                        "this is not an answer of Anthropic: it has no content");
    return take_message(stream, response, err);
}

/* ---- streams ---- */

static int take_delta(vls_stream *stream, vls_json delta, int64_t index, valise_error *err)
{
    size_t at = 0;
    int rc;

    if (vls_is_type(delta, "text_delta"))
        return vls_stream_say(stream, index, VLS_SAID_TEXT, vls_text_of(delta, "text"), err);
    if (vls_is_type(delta, "thinking_delta"))
        return vls_stream_say(stream, index, VLS_SAID_THINKING, vls_text_of(delta, "thinking"),
                              err);
    if (vls_is_type(delta, "input_json_delta")) {
        /* Of a tool that the provider runs itself there is no block. */
        if (!vls_stream_find(&at, stream, index, VLS_SAID_CALL))
            return 0;
        return vls_stream_args(stream, at, vls_text_of(delta, "partial_json"), err);
    }
    if (!vls_is_type(delta, "signature_delta"))
        return vls_stream_drop(stream, vls_text_of(delta, "type"), err);
    rc = vls_stream_block(&at, stream, index, VLS_SAID_THINKING, err);
    return rc < 0 ? rc : vls_stream_sign(stream, at, vls_text_of(delta, "signature"), err);
}

int vls_anthropic_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err)
{
    int64_t index = vls_count_of(data, "index");
    vls_json delta = vls_member_of(data, "delta");
    valise_str why = vls_text_of(delta, "stop_reason");

    (void)name; /* the data say it too */
    if (data.type != VLS_JSON_OBJECT || vls_text_of(data, "type").len == 0)
        return vls_fail(err, VALISE_E_INVALID, "this is not an event of Anthropic: it has no type");
    if (vls_is_type(data, "message_start"))
        return take_message(stream, vls_member_of(data, "message"), err);
    if (vls_is_type(data, "message_delta")) {
        take_usage(stream, vls_member_of(data, "usage"));
        return vls_stream_stop_by(stream, stops, why, err);
    }
    if (vls_is_type(data, "message_stop")) {
        vls_stream_end(stream);
        return 0;
    }
    if (!vls_is_type(data, "content_block_start") && !vls_is_type(data, "content_block_delta"))
        return 0; /* content_block_stop, ping, and what will be invented */
    if (index == VALISE_NONE)
        return vls_fail(err, VALISE_E_INVALID, "an event of a block has no index");
    if (vls_is_type(data, "content_block_start"))
        return begin_block(stream, vls_member_of(data, "content_block"), index, err);
    return take_delta(stream, delta, index, err);
}
