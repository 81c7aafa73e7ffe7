/* completions_answer.c -- answers of the Chat Completions family, whole and as a stream. [P11]
 *
 * A delta of a stream has the members of a whole message, so that both are read by the same
 * functions. Servers that only resemble OpenAI are met with patience: arguments that are objects,
 * calls without ids or numbers, thinking beside the content. */
#include "wire/completions.h"

/* ---- text and thinking ---- */

static int say_text(vls_stream *s, vls_said_kind kind, valise_str text, valise_error *err)
{
    /* Nothing is said by an empty text: the block that it would begin may have another kind. */
    return text.len > 0 ? vls_stream_say(s, VLS_STREAM_LAST, kind, text, err) : 0;
}

/* {"type":"thinking","thinking":[{"type":"text","text"}],"signature"?,"closed"?} */
static int say_thinking(vls_stream *s, vls_json chunk, valise_error *err)
{
    vls_json thinking = vls_member_of(chunk, "thinking"), closed = vls_member_of(chunk, "closed");
    size_t block = 0;
    int rc = vls_stream_block(&block, s, VLS_STREAM_LAST, VLS_SAID_THINKING, err);

    if (rc == 0 && thinking.type == VLS_JSON_STRING)
        rc = vls_stream_text(s, block, vls_json_str(thinking), err);
    for (uint32_t i = 0; thinking.type == VLS_JSON_ARRAY && i < thinking.len && rc == 0; i++) {
        valise_str text = vls_text_of(thinking.items[i], "text");
        if (text.ptr)
            rc = vls_stream_text(s, block, text, err);
        else
            rc = vls_stream_drop(s, vls_text_of(thinking.items[i], "type"), err);
    }
    if (rc == 0)
        rc = vls_stream_sign(s, block, vls_text_of(chunk, "signature"), err);
    /* It says whose thinking this is, also where there is no signature. */
    if (closed.type != VLS_JSON_BOOL)
        closed = vls_json_bool(true);
    return rc < 0 ? rc : vls_stream_meta(s, block, "closed", closed, err);
}

static int say_refusal(vls_stream *s, valise_str text, valise_error *err)
{
    size_t block = 0;
    int rc;

    if (text.len == 0)
        return 0;
    rc = vls_stream_block(&block, s, 0, VLS_SAID_TEXT, err);
    if (rc == 0)
        rc = vls_stream_text(s, block, text, err);
    return rc < 0 ? rc : vls_stream_meta(s, block, "refusal", vls_json_bool(true), err);
}

static int say_chunk(vls_stream *s, vls_json chunk, valise_error *err)
{
    valise_str type = vls_text_of(chunk, "type");

    if (vls_str_equal(type, VLS_STR("text")))
        return say_text(s, VLS_SAID_TEXT, vls_text_of(chunk, "text"), err);
    if (vls_str_equal(type, VLS_STR("thinking")))
        return say_thinking(s, chunk, err);
    if (vls_str_equal(type, VLS_STR("refusal")))
        return say_refusal(s, vls_text_of(chunk, "refusal"), err);
    return vls_stream_drop(s, type.len > 0 ? type : VLS_STR("part"), err);
}

static int say_content(vls_stream *s, vls_json content, valise_error *err)
{
    int rc = 0;

    if (content.type == VLS_JSON_STRING)
        return say_text(s, VLS_SAID_TEXT, vls_json_str(content), err);
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len && rc == 0; i++)
        rc = say_chunk(s, content.items[i], err);
    return rc;
}

/* ---- calls ---- */

/* The block of a call. at: its number in the message; -1: it is a delta. */
static int find_call(size_t *out, vls_stream *s, vls_json call, int64_t at, valise_str id,
                     valise_error *err)
{
    vls_json index = vls_member_of(call, "index");
    bool begins = id.len > 0 || vls_text_of(vls_member_of(call, "function"), "name").len > 0;
    valise_str known;
    int rc;

    if (at < 0 && index.type == VLS_JSON_INT && index.integer >= 0)
        at = index.integer;
    if (at < 0)
        return vls_stream_block(out, s, begins ? VLS_STREAM_NEW : VLS_STREAM_LAST, VLS_SAID_CALL,
                                err);
    rc = vls_stream_block(out, s, at, VLS_SAID_CALL, err);
    if (rc < 0)
        return rc;
    known = vls_stream_call_id(s, *out);
    if (id.len == 0 || known.len == 0 || vls_str_equal(id, known))
        return 0;
    return vls_stream_anew(out, s, at, VLS_SAID_CALL, err);
}

static int say_call(vls_stream *s, vls_json call, int64_t at, valise_error *err)
{
    vls_json function = vls_member_of(call, "function");
    vls_json args = vls_member_of(function, "arguments");
    valise_str id = vls_text_of(call, "id");
    size_t block = 0;
    int rc;

    if (function.type != VLS_JSON_OBJECT)
        return vls_stream_drop(s, VLS_STR("tool call that is not a function"), err);
    if (vls_str_equal(id, VLS_STR("null")))
        id = VLS_STR(""); /* so Mistral says that there is none */
    rc = find_call(&block, s, call, at, id, err);
    if (rc == 0)
        rc = vls_stream_call(s, block, id, vls_text_of(function, "name"), err);
    if (rc < 0)
        return rc;
    if (args.type == VLS_JSON_STRING)
        return vls_stream_args(s, block, vls_json_str(args), err);
    return vls_stream_args_value(s, block, args, err);
}

static int say_calls(vls_stream *s, vls_json calls, bool whole, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; calls.type == VLS_JSON_ARRAY && i < calls.len && rc == 0; i++)
        rc = say_call(s, calls.items[i], whole ? (int64_t)i : -1, err);
    return rc;
}

/* ---- a message, or a delta of one ---- */

/* What has no block. */
static int drop_rest(vls_stream *s, vls_json said, valise_error *err)
{
    static const char *const others[] = {"function_call", "audio", "annotations",
                                         "reasoning_details", NULL};
    int rc = 0;

    for (size_t i = 0; others[i] && rc == 0; i++) {
        vls_json other = vls_member_of(said, others[i]);
        if (other.type == VLS_JSON_OBJECT || (other.type == VLS_JSON_ARRAY && other.len > 0))
            rc = vls_stream_drop(s, valise_str_of(others[i]), err);
    }
    return rc;
}

static int say(vls_stream *s, vls_json said, bool whole, valise_error *err)
{
    valise_str thinking = vls_text_of(said, "reasoning_content");
    int rc;

    if (said.type != VLS_JSON_OBJECT)
        return 0;
    if (thinking.len == 0)
        thinking = vls_text_of(said, "reasoning");
    rc = say_text(s, VLS_SAID_THINKING, thinking, err);
    if (rc == 0)
        rc = say_content(s, vls_member_of(said, "content"), err);
    if (rc == 0)
        rc = say_refusal(s, vls_text_of(said, "refusal"), err);
    if (rc == 0)
        rc = say_calls(s, vls_member_of(said, "tool_calls"), whole, err);
    return rc < 0 ? rc : drop_rest(s, said, err);
}

/* ---- around it ---- */

static const vls_stop_word stops[] = {
    {"stop", VLS_STOP_END},
    {"tool_calls", VLS_STOP_CALLS},
    {"function_call", VLS_STOP_CALLS},
    {"length", VLS_STOP_LIMIT},
    {"model_length", VLS_STOP_LIMIT},
    {"content_filter", VLS_STOP_REFUSED},
    {NULL, VLS_STOP_OTHER},
};

static void take_usage(vls_usage *out, vls_json usage)
{
    vls_json prompt = vls_member_of(usage, "prompt_tokens_details");
    vls_json completion = vls_member_of(usage, "completion_tokens_details");

    vls_count_take(&out->input, usage, "prompt_tokens");
    vls_count_take(&out->output, usage, "completion_tokens");
    vls_count_take(&out->cache_read, usage, "num_cached_tokens");       /* Mistral */
    vls_count_take(&out->cache_read, usage, "prompt_cache_hit_tokens"); /* DeepSeek */
    vls_count_take(&out->cache_read, prompt, "cached_tokens");
    vls_count_take(&out->cache_write, prompt, "cache_write_tokens");
    vls_count_take(&out->reasoning, completion, "reasoning_tokens");
}

static bool is_first(vls_json choice)
{
    vls_json index = vls_member_of(choice, "index");

    return index.type != VLS_JSON_INT || index.integer == 0;
}

static int say_choice(vls_stream *s, vls_json choice, const char *member, valise_error *err)
{
    vls_json said = vls_member_of(choice, member), more = vls_member_of(choice, "messages");
    bool whole = strcmp(member, "message") == 0;
    int rc;

    if (!is_first(choice))
        return vls_stream_drop(s, VLS_STR("another choice"), err);
    rc = say(s, said, whole, err);
    /* Mistral's, where its own tools were used: several in one. */
    for (uint32_t i = 0;
         said.type == VLS_JSON_NULL && more.type == VLS_JSON_ARRAY && i < more.len && rc == 0;
         i++) {
        if (vls_str_equal(vls_text_of(more.items[i], "role"), VLS_STR("assistant")))
            rc = say(s, more.items[i], false, err);
        else
            rc = vls_stream_drop(s, vls_text_of(more.items[i], "role"), err);
    }
    return rc < 0 ? rc : vls_stream_stop_by(s, stops, vls_text_of(choice, "finish_reason"), err);
}

static int say_choices(vls_stream *s, vls_json data, const char *member, valise_error *err)
{
    vls_json choices = vls_member_of(data, "choices");
    int rc = vls_stream_head(s, vls_text_of(data, "id"), vls_text_of(data, "model"), err);

    for (uint32_t i = 0; choices.type == VLS_JSON_ARRAY && i < choices.len && rc == 0; i++)
        rc = say_choice(s, choices.items[i], member, err);
    if (rc == 0)
        take_usage(vls_stream_usage(s), vls_member_of(data, "usage"));
    return rc;
}

int vls_completions_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err)
{
    (void)name; /* it has none */
    if (data.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "an event must be an object, not %s",
                        vls_json_type_name(data));
    return say_choices(stream, data, "delta", err);
}

int vls_completions_answer(vls_stream *stream, vls_json response, valise_error *err)
{
    vls_json choices = vls_member_of(response, "choices");

    if (choices.type != VLS_JSON_ARRAY || choices.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "the answer has no 'choices'");
    return say_choices(stream, response, "message", err);
}
