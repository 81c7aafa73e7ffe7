/* bedrock_answer.c -- answers of Amazon Bedrock Converse, whole and as streams. [P11] */
#include "wire/bedrock.h"

static const vls_stop_word stops[] = {
    {"end_turn", VLS_STOP_END},
    {"tool_use", VLS_STOP_CALLS},
    {"max_tokens", VLS_STOP_LIMIT},
    {"model_context_window_exceeded", VLS_STOP_LIMIT},
    {"stop_sequence", VLS_STOP_SEQUENCE},
    {"guardrail_intervened", VLS_STOP_REFUSED},
    {"content_filtered", VLS_STOP_REFUSED},
    {"refusal", VLS_STOP_REFUSED},
    {NULL, VLS_STOP_OTHER},
};

/* Input is told without what the cache had and got. */
static void take_usage(vls_stream *stream, vls_json usage)
{
    vls_usage *out = vls_stream_usage(stream);
    int64_t fresh = vls_count_of(usage, "inputTokens");

    if (usage.type != VLS_JSON_OBJECT)
        return;
    out->cache_read = vls_count_of(usage, "cacheReadInputTokens");
    out->cache_write = vls_count_of(usage, "cacheWriteInputTokens");
    out->output = vls_count_of(usage, "outputTokens");
    out->input = fresh == VALISE_NONE
                     ? VALISE_NONE
                     : vls_count_sum(fresh, vls_count_sum(out->cache_read, out->cache_write));
}

static int take_redacted(vls_stream *stream, vls_json bytes, int64_t index, valise_error *err)
{
    size_t at = 0;
    int rc = vls_stream_block(&at, stream, index, VLS_SAID_THINKING, err);

    if (rc < 0)
        return rc;
    vls_stream_redact(stream, at);
    rc = vls_stream_text(stream, at, vls_json_str(bytes), err);
    return rc < 0 ? rc
                  : vls_stream_meta(stream, at, "platform", vls_json_string(VLS_STR(VLS_BEDROCK)),
                                    err);
}

/* {"text","signature"}, a piece or all of it, or {"redactedContent"}. */
static int take_reasoning(vls_stream *stream, vls_json given, int64_t index, valise_error *err)
{
    vls_json redacted = vls_member_of(given, "redactedContent");
    size_t at = 0;
    int rc;

    if (redacted.type == VLS_JSON_STRING)
        return take_redacted(stream, redacted, index, err);
    rc = vls_stream_block(&at, stream, index, VLS_SAID_THINKING, err);
    if (rc == 0)
        rc = vls_stream_text(stream, at, vls_text_of(given, "text"), err);
    return rc < 0 ? rc : vls_stream_sign(stream, at, vls_text_of(given, "signature"), err);
}

static int take_call(vls_stream *stream, vls_json call, int64_t index, valise_error *err)
{
    size_t at = 0;
    int rc = vls_stream_block(&at, stream, index, VLS_SAID_CALL, err);

    if (rc == 0)
        rc = vls_stream_call(stream, at, vls_text_of(call, "toolUseId"), vls_text_of(call, "name"),
                             err);
    return rc < 0 ? rc : vls_stream_args_value(stream, at, vls_member_of(call, "input"), err);
}

/* What has no block is told by the name of its member. */
static int drop(vls_stream *stream, vls_json block, valise_error *err)
{
    return block.type == VLS_JSON_OBJECT && block.len > 0
               ? vls_stream_drop(stream, vls_json_str(block.members[0].key), err)
               : 0;
}

static int take_block(vls_stream *stream, vls_json block, int64_t index, valise_error *err)
{
    vls_json text = vls_member_of(block, "text"), call = vls_member_of(block, "toolUse");
    vls_json reasoning = vls_member_of(block, "reasoningContent");
    vls_json said = vls_member_of(reasoning, "reasoningText");

    if (text.type == VLS_JSON_STRING)
        return vls_stream_say(stream, index, VLS_SAID_TEXT, vls_json_str(text), err);
    if (call.type == VLS_JSON_OBJECT)
        return take_call(stream, call, index, err);
    if (reasoning.type == VLS_JSON_OBJECT)
        return take_reasoning(stream, said.type == VLS_JSON_OBJECT ? said : reasoning, index, err);
    return drop(stream, block, err);
}

int vls_bedrock_answer(vls_stream *stream, vls_json response, valise_error *err)
{
    vls_json message = vls_member_of(vls_member_of(response, "output"), "message");
    vls_json content = vls_member_of(message, "content");
    valise_str why = vls_text_of(response, "stopReason");
    int rc = 0;

    if (content.type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID,
                        "this is not an answer of Bedrock: it has no output.message.content");
    for (uint32_t i = 0; i < content.len && rc == 0; i++)
        rc = take_block(stream, content.items[i], i, err);
    take_usage(stream, vls_member_of(response, "usage"));
    return rc < 0 ? rc : vls_stream_stop_by(stream, stops, why, err);
}

/* ---- streams ---- */

static int take_delta(vls_stream *stream, vls_json delta, int64_t index, valise_error *err)
{
    vls_json text = vls_member_of(delta, "text"), call = vls_member_of(delta, "toolUse");
    vls_json reasoning = vls_member_of(delta, "reasoningContent");
    size_t at = 0;

    if (text.type == VLS_JSON_STRING)
        return vls_stream_say(stream, index, VLS_SAID_TEXT, vls_json_str(text), err);
    if (reasoning.type == VLS_JSON_OBJECT)
        return take_reasoning(stream, reasoning, index, err);
    if (call.type != VLS_JSON_OBJECT)
        return drop(stream, delta, err);
    if (!vls_stream_find(&at, stream, index, VLS_SAID_CALL))
        return vls_fail(err, VALISE_E_INVALID, "arguments arrived for a call that was not started");
    return vls_stream_args(stream, at, vls_text_of(call, "input"), err);
}

static int take_failure(vls_stream *stream, valise_str type, vls_json data, valise_error *err)
{
    vls_refusal refusal = {
        .message = vls_text_of(data, "message"), .type = type, .passing = vls_refusal_passes(type)};

    return vls_stream_refuse(stream, &refusal, err);
}

static bool is_name(valise_str name, const char *what)
{
    return vls_str_equal(name, valise_str_of(what));
}

int vls_bedrock_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err)
{
    int64_t index;
    valise_str why;

    if (data.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "this is not an event of Bedrock: it is %s",
                        vls_json_type_name(data));
    if (name.len == 0 && data.len == 1 && data.members[0].value.type == VLS_JSON_OBJECT) {
        name = vls_json_str(data.members[0].key);
        data = data.members[0].value;
    }
    index = vls_count_of(data, "contentBlockIndex");
    why = vls_text_of(data, "stopReason");
    if (vls_str_ends(name, VLS_STR("Exception")))
        return take_failure(stream, name, data, err);
    if (is_name(name, "messageStop"))
        return vls_stream_stop_by(stream, stops, why, err);
    if (is_name(name, "metadata")) { /* the last one */
        take_usage(stream, vls_member_of(data, "usage"));
        vls_stream_end(stream);
        return 0;
    }
    if (!is_name(name, "contentBlockStart") && !is_name(name, "contentBlockDelta"))
        return 0; /* messageStart, contentBlockStop, and what will be invented */
    if (index == VALISE_NONE)
        return vls_fail(err, VALISE_E_INVALID, "an event of a block has no contentBlockIndex");
    if (is_name(name, "contentBlockStart"))
        return take_block(stream, vls_member_of(data, "start"), index, err);
    return take_delta(stream, vls_member_of(data, "delta"), index, err);
}
