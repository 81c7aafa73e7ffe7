/* responses_answer.c -- answers of OpenAI Responses, whole and as a stream. [P11]
 *
 * An answer is a list of items. In a stream an item is announced, comes in pieces, and is told as a
 * whole when it is done: what pieces did not bring is taken from there, and all that goes back to
 * the provider. So an item that was cut has no id. */
#include "wire/responses.h"

#define ITEMS_MAX ((int64_t)1 << 20) /* of an answer, parts of an item */

static bool is(valise_str text, const char *name)
{
    return vls_str_equal(text, valise_str_of(name));
}

/* ---- numbers ---- */

static int number_of(int64_t *out, vls_json data, const char *key, valise_error *err)
{
    vls_json number = vls_member_of(data, key);

    if (number.type == VLS_JSON_NULL)
        number = vls_json_int(0);
    if (number.type != VLS_JSON_INT || number.integer < 0 || number.integer >= ITEMS_MAX)
        return vls_fail(err, VALISE_E_INVALID, "'%s' must be a number from 0 to %lld", key,
                        (long long)ITEMS_MAX - 1);
    *out = number.integer;
    return 0;
}

static void take_usage(vls_usage *out, vls_json usage)
{
    vls_json input = vls_member_of(usage, "input_tokens_details");
    vls_json output = vls_member_of(usage, "output_tokens_details");

    vls_count_take(&out->input, usage, "input_tokens");
    vls_count_take(&out->output, usage, "output_tokens");
    vls_count_take(&out->cache_read, input, "cached_tokens");
    vls_count_take(&out->cache_write, input, "cache_write_tokens");
    vls_count_take(&out->reasoning, output, "reasoning_tokens");
}

/* ---- items as a whole ---- */

/* The block of a part of an item. */
static int block_of(size_t *out, vls_stream *s, int64_t item, int64_t part, vls_said_kind kind,
                    valise_error *err)
{
    return vls_stream_block(out, s, item * ITEMS_MAX + part, kind, err);
}

/* A member that goes back word for word; null and what is empty say nothing. */
static int keep(vls_stream *s, size_t block, vls_json item, const char *key, const char *as,
                valise_error *err)
{
    vls_json value = vls_member_of(item, key);

    if (value.type == VLS_JSON_NULL ||
        ((value.type == VLS_JSON_STRING || value.type == VLS_JSON_ARRAY) && value.len == 0))
        return 0;
    return vls_stream_meta(s, block, as, value, err);
}

static int keep_item(vls_stream *s, size_t block, vls_json item, int64_t at, valise_error *err)
{
    int rc = keep(s, block, item, "id", "item_id", err);

    return rc < 0 ? rc : vls_stream_meta(s, block, "index", vls_json_int(at), err);
}

static int take_part(vls_stream *s, vls_json item, vls_json part, int64_t at, uint32_t number,
                     valise_error *err)
{
    bool refuses = is(vls_text_of(part, "type"), "refusal");
    valise_str text = vls_text_of(part, refuses ? "refusal" : "text");
    vls_json status = vls_member_of(item, "status");
    size_t block = 0;
    int rc;

    if (!refuses && !is(vls_text_of(part, "type"), "output_text"))
        return vls_stream_drop(s, vls_text_of(part, "type"), err);
    rc = block_of(&block, s, at, number, VLS_SAID_TEXT, err);
    if (rc == 0 && vls_stream_length(s, block) == 0)
        rc = vls_stream_text(s, block, text, err);
    if (rc == 0)
        rc = keep_item(s, block, item, at, err);
    if (rc == 0)
        rc = keep(s, block, item, "phase", "phase", err);
    if (rc == 0 && status.type == VLS_JSON_STRING && !is(vls_json_str(status), "completed"))
        rc = keep(s, block, item, "status", "status", err);
    if (rc == 0)
        rc = keep(s, block, part, "annotations", "annotations", err);
    if (rc == 0 && refuses)
        rc = vls_stream_meta(s, block, "refusal", vls_json_bool(true), err);
    return rc;
}

static int take_message(vls_stream *s, vls_json item, int64_t at, valise_error *err)
{
    vls_json content = vls_member_of(item, "content");
    int rc = 0;

    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len && rc == 0; i++)
        rc = take_part(s, item, content.items[i], at, VLS_MIN(i, (uint32_t)ITEMS_MAX - 1), err);
    return rc;
}

static int take_call(vls_stream *s, vls_json item, int64_t at, bool done, valise_error *err)
{
    size_t block = 0;
    int rc = block_of(&block, s, at, 0, VLS_SAID_CALL, err);

    if (rc == 0)
        rc =
            vls_stream_call(s, block, vls_text_of(item, "call_id"), vls_text_of(item, "name"), err);
    if (rc < 0 || !done)
        return rc;
    if (vls_stream_length(s, block) == 0)
        rc = vls_stream_args(s, block, vls_text_of(item, "arguments"), err);
    return rc < 0 ? rc : keep_item(s, block, item, at, err);
}

/* Another part of what was thought. */
static int think_apart(vls_stream *s, size_t block, valise_error *err)
{
    return vls_stream_length(s, block) > 0 ? vls_stream_text(s, block, VLS_STR(VLS_PLAN_JOIN), err)
                                           : 0;
}

static int think_parts(vls_stream *s, size_t block, vls_json parts, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; parts.type == VLS_JSON_ARRAY && i < parts.len && rc == 0; i++) {
        valise_str text = vls_text_of(parts.items[i], "text");
        if (text.len == 0)
            continue;
        rc = think_apart(s, block, err);
        if (rc == 0)
            rc = vls_stream_text(s, block, text, err);
    }
    return rc;
}

static int take_reasoning(vls_stream *s, vls_json item, int64_t at, bool done, valise_error *err)
{
    vls_json content = vls_member_of(item, "content"), summary = vls_member_of(item, "summary");
    bool has_content = content.type == VLS_JSON_ARRAY && content.len > 0;
    size_t block = 0;
    int rc = block_of(&block, s, at, 0, VLS_SAID_THINKING, err);

    if (rc < 0 || !done)
        return rc;
    if (vls_stream_length(s, block) == 0) {
        rc = think_parts(s, block, content, err);
        if (rc == 0)
            rc = think_parts(s, block, summary, err);
    }
    /* Where the text alone does not say what was where. */
    if (rc == 0 && summary.type == VLS_JSON_ARRAY && (summary.len > 1 || has_content))
        rc = vls_stream_meta(s, block, "summary", summary, err);
    if (rc == 0)
        rc = keep(s, block, item, "content", "content", err);
    if (rc == 0)
        rc = keep(s, block, item, "encrypted_content", "encrypted_content", err);
    return rc < 0 ? rc : keep_item(s, block, item, at, err);
}

/* An item that begins, or one that is done. */
static int take_item(vls_stream *s, vls_json item, int64_t at, bool done, valise_error *err)
{
    valise_str type = vls_text_of(item, "type");

    if (item.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "an item must be an object, not %s",
                        vls_json_type_name(item));
    if (is(type, "message"))
        return done ? take_message(s, item, at, err) : 0;
    if (is(type, "function_call"))
        return take_call(s, item, at, done, err);
    if (is(type, "reasoning"))
        return take_reasoning(s, item, at, done, err);
    return vls_stream_drop(s, type.len > 0 ? type : VLS_STR("item"), err);
}

/* ---- the response ---- */

static int take_status(vls_stream *s, vls_json response, valise_error *err)
{
    valise_str status = vls_text_of(response, "status");
    valise_str reason = vls_text_of(vls_member_of(response, "incomplete_details"), "reason");
    vls_refusal refusal;

    if (is(status, "failed")) {
        if (!vls_answer_refused(&refusal, response, false))
            refusal = (vls_refusal){.message = VLS_STR(""), .type = VLS_STR("failed")};
        return vls_stream_refuse(s, &refusal, err);
    }
    if (is(status, "completed"))
        return vls_stream_stop(s, VLS_STOP_END, status, err);
    if (is(status, "incomplete") && is(reason, "max_output_tokens"))
        return vls_stream_stop(s, VLS_STOP_LIMIT, reason, err);
    if (is(status, "incomplete") && is(reason, "content_filter"))
        return vls_stream_stop(s, VLS_STOP_REFUSED, reason, err);
    return vls_stream_stop(s, VLS_STOP_OTHER, reason.len > 0 ? reason : status, err);
}

/* All of it. In a stream the items are there already, and some servers leave them out here. */
static int take_response(vls_stream *s, vls_json response, valise_error *err)
{
    vls_json output = vls_member_of(response, "output");
    int rc = vls_stream_head(s, vls_text_of(response, "id"), vls_text_of(response, "model"), err);

    for (uint32_t i = 0; output.type == VLS_JSON_ARRAY && i < output.len && rc == 0; i++)
        rc = take_item(s, output.items[i], VLS_MIN((int64_t)i, ITEMS_MAX - 1), true, err);
    if (rc == 0)
        take_usage(vls_stream_usage(s), vls_member_of(response, "usage"));
    return rc < 0 ? rc : take_status(s, response, err);
}

int vls_responses_answer(vls_stream *stream, vls_json response, valise_error *err)
{
    if (vls_member_of(response, "output").type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID, "the answer has no 'output'");
    return take_response(stream, response, err);
}

/* ---- events ---- */

static int on_item(vls_stream *s, vls_json data, bool done, valise_error *err)
{
    int64_t at = 0;
    int rc = number_of(&at, data, "output_index", err);

    return rc < 0 ? rc : take_item(s, vls_member_of(data, "item"), at, done, err);
}

static int on_begin(vls_stream *s, vls_json data, valise_error *err)
{
    vls_json response = vls_member_of(data, "response");

    return vls_stream_head(s, vls_text_of(response, "id"), vls_text_of(response, "model"), err);
}

static int on_added(vls_stream *s, vls_json data, valise_error *err)
{
    return on_item(s, data, false, err);
}

static int on_done(vls_stream *s, vls_json data, valise_error *err)
{
    return on_item(s, data, true, err);
}

static int on_text(vls_stream *s, vls_json data, valise_error *err)
{
    int64_t at = 0, part = 0;
    size_t block = 0;
    int rc = number_of(&at, data, "output_index", err);

    if (rc == 0)
        rc = number_of(&part, data, "content_index", err);
    if (rc == 0)
        rc = block_of(&block, s, at, part, VLS_SAID_TEXT, err);
    return rc < 0 ? rc : vls_stream_text(s, block, vls_text_of(data, "delta"), err);
}

static int find_thinking(size_t *out, vls_stream *s, vls_json data, valise_error *err)
{
    int64_t at = 0;
    int rc = number_of(&at, data, "output_index", err);

    return rc < 0 ? rc : block_of(out, s, at, 0, VLS_SAID_THINKING, err);
}

static int on_thinking(vls_stream *s, vls_json data, valise_error *err)
{
    size_t block = 0;
    int rc = find_thinking(&block, s, data, err);

    return rc < 0 ? rc : vls_stream_text(s, block, vls_text_of(data, "delta"), err);
}

static int on_thinking_part(vls_stream *s, vls_json data, valise_error *err)
{
    size_t block = 0;
    int rc = find_thinking(&block, s, data, err);

    return rc < 0 ? rc : think_apart(s, block, err);
}

static int on_args(vls_stream *s, vls_json data, valise_error *err)
{
    int64_t at = 0;
    size_t block = 0;
    int rc = number_of(&at, data, "output_index", err);

    if (rc == 0)
        rc = block_of(&block, s, at, 0, VLS_SAID_CALL, err);
    return rc < 0 ? rc : vls_stream_args(s, block, vls_text_of(data, "delta"), err);
}

/* All of them once more. */
static int on_args_done(vls_stream *s, vls_json data, valise_error *err)
{
    int64_t at = 0;
    size_t block = 0;
    int rc = number_of(&at, data, "output_index", err);

    if (rc == 0)
        rc = block_of(&block, s, at, 0, VLS_SAID_CALL, err);
    if (rc < 0 || vls_stream_length(s, block) > 0)
        return rc;
    return vls_stream_args(s, block, vls_text_of(data, "arguments"), err);
}

static int on_end(vls_stream *s, vls_json data, valise_error *err)
{
    int rc = take_response(s, vls_member_of(data, "response"), err);

    if (rc == 0)
        vls_stream_end(s);
    return rc;
}

int vls_responses_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err)
{
    static const struct {
        const char *type;
        int (*take)(vls_stream *s, vls_json data, valise_error *err);
    } events[] = {
        {"response.created", on_begin},
        {"response.output_item.added", on_added},
        {"response.output_item.done", on_done},
        {"response.output_text.delta", on_text},
        {"response.refusal.delta", on_text},
        {"response.reasoning_summary_part.added", on_thinking_part},
        {"response.reasoning_summary_text.delta", on_thinking},
        {"response.reasoning_text.delta", on_thinking},
        {"response.function_call_arguments.delta", on_args},
        {"response.function_call_arguments.done", on_args_done},
        {"response.completed", on_end},
        {"response.incomplete", on_end},
        {"response.failed", on_end},
    };
    valise_str type = vls_text_of(data, "type");

    if (data.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "an event must be an object, not %s",
                        vls_json_type_name(data));
    if (type.len == 0)
        type = name;
    for (size_t i = 0; i < VLS_COUNT(events); i++) {
        if (is(type, events[i].type))
            return events[i].take(stream, data, err);
    }
    return 0; /* progress, and what the last events say again */
}
