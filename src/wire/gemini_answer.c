/* gemini_answer.c -- answers of Gemini generateContent, whole and as streams. [P11] */
#include "wire/gemini.h"

static const vls_stop_word stops[] = {
    {"FINISH_REASON_UNSPECIFIED", VLS_STOP_NONE},
    {"STOP", VLS_STOP_END},
    {"MAX_TOKENS", VLS_STOP_LIMIT},
    {"SAFETY", VLS_STOP_REFUSED},
    {"RECITATION", VLS_STOP_REFUSED},
    {"LANGUAGE", VLS_STOP_REFUSED},
    {"BLOCKLIST", VLS_STOP_REFUSED},
    {"SPII", VLS_STOP_REFUSED},
    {"PROHIBITED_CONTENT", VLS_STOP_REFUSED},
    {"IMAGE_SAFETY", VLS_STOP_REFUSED},
    {"IMAGE_PROHIBITED_CONTENT", VLS_STOP_REFUSED},
    {"MODEL_ARMOR", VLS_STOP_REFUSED},
    {"IMAGE_RECITATION", VLS_STOP_REFUSED},
    {"JAILBREAK", VLS_STOP_REFUSED},
    {NULL, VLS_STOP_OTHER},
};

static void take_usage(vls_stream *stream, vls_json usage)
{
    vls_usage *out = vls_stream_usage(stream);
    int64_t input = vls_count_sum(vls_count_of(usage, "promptTokenCount"),
                                  vls_count_of(usage, "toolUsePromptTokenCount"));
    int64_t output = vls_count_sum(vls_count_of(usage, "candidatesTokenCount"),
                                   vls_count_of(usage, "thoughtsTokenCount"));

    if (input != VALISE_NONE)
        out->input = input;
    if (output != VALISE_NONE)
        out->output = output;
    vls_count_take(&out->reasoning, usage, "thoughtsTokenCount");
    vls_count_take(&out->cache_read, usage, "cachedContentTokenCount");
}

/* Text goes on with what is there, unless one of both is signed. */
static int take_text(size_t *at, vls_stream *stream, vls_json part, bool is_signed,
                     valise_error *err)
{
    vls_said_kind kind = vls_truth_of(part, "thought") ? VLS_SAID_THINKING : VLS_SAID_TEXT;
    bool goes_on = !is_signed && vls_stream_goes_on(stream, kind);
    int rc = vls_stream_block(at, stream, goes_on ? VLS_STREAM_LAST : VLS_STREAM_NEW, kind, err);

    return rc < 0 ? rc : vls_stream_text(stream, *at, vls_text_of(part, "text"), err);
}

static int take_call(size_t *at, vls_stream *stream, vls_json call, valise_error *err)
{
    int rc = vls_stream_block(at, stream, VLS_STREAM_NEW, VLS_SAID_CALL, err);

    if (rc == 0)
        rc = vls_stream_call(stream, *at, vls_text_of(call, "id"), vls_text_of(call, "name"), err);
    return rc < 0 ? rc : vls_stream_args_value(stream, *at, vls_member_of(call, "args"), err);
}

static int take_part(vls_stream *stream, vls_json part, valise_error *err)
{
    vls_json sign = vls_member_of(part, "thoughtSignature"), call;
    bool is_signed = sign.type == VLS_JSON_STRING && sign.len > 0;
    size_t at = 0;
    int rc = 0;

    call = vls_member_of(part, "functionCall");
    if (call.type == VLS_JSON_OBJECT)
        rc = take_call(&at, stream, call, err);
    else if (vls_member_of(part, "text").type == VLS_JSON_STRING)
        rc = take_text(&at, stream, part, is_signed, err);
    else if (is_signed) /* a part of which only that is known */
        rc = vls_stream_block(&at, stream, VLS_STREAM_NEW, VLS_SAID_TEXT, err);
    for (uint32_t i = 0; rc == 0 && part.type == VLS_JSON_OBJECT && i < part.len; i++) {
        valise_str key = vls_json_str(part.members[i].key);
        if (part.members[i].value.type == VLS_JSON_OBJECT &&
            !vls_str_equal(key, VLS_STR("functionCall")))
            rc = vls_stream_drop(stream, key, err);
    }
    return rc < 0 || !is_signed ? rc : vls_stream_meta(stream, at, "thoughtSignature", sign, err);
}

static int take_candidate(vls_stream *stream, vls_json candidate, valise_error *err)
{
    vls_json parts = vls_member_of(vls_member_of(candidate, "content"), "parts");
    int rc = 0;

    for (uint32_t i = 0; parts.type == VLS_JSON_ARRAY && i < parts.len && rc == 0; i++)
        rc = take_part(stream, parts.items[i], err);
    return rc < 0 ? rc
                  : vls_stream_stop_by(stream, stops, vls_text_of(candidate, "finishReason"), err);
}

static int take_response(vls_stream *stream, vls_json response, valise_error *err)
{
    vls_json candidates = vls_member_of(response, "candidates");
    valise_str blocked = vls_text_of(vls_member_of(response, "promptFeedback"), "blockReason");
    int rc = vls_stream_head(stream, vls_text_of(response, "responseId"),
                             vls_text_of(response, "modelVersion"), err);

    take_usage(stream, vls_member_of(response, "usageMetadata"));
    for (uint32_t i = 0; candidates.type == VLS_JSON_ARRAY && i < candidates.len && rc == 0; i++) {
        if (vls_count_sum(0, vls_count_of(candidates.items[i], "index")) > 0 || i > 0)
            rc = vls_stream_drop(stream, VLS_STR("candidate"), err);
        else
            rc = take_candidate(stream, candidates.items[i], err);
    }
    if (rc == 0 && blocked.len > 0)
        rc = vls_stream_stop(stream, VLS_STOP_REFUSED, blocked, err);
    return rc;
}

int vls_gemini_answer(vls_stream *stream, vls_json response, valise_error *err)
{
    if (vls_member_of(response, "candidates").type != VLS_JSON_ARRAY &&
        vls_member_of(response, "promptFeedback").type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID,
                        "this is not an answer of Gemini: it has no candidates");
    return take_response(stream, response, err);
}

int vls_gemini_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err)
{
    (void)name; /* it has none */
    if (data.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "this is not an event of Gemini: it is %s",
                        vls_json_type_name(data));
    return take_response(stream, data, err);
}
