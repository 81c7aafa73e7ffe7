/* host.c -- a client that a host brings, and answers that come as JSON of ours. */
#include "base/sized.h"
#include "base/text.h"
#include "client/inside.h"
#include "json/make.h"

/* ---- answers ---- */

static int take_count(int64_t *out, vls_json usage, const char *key, valise_error *err)
{
    vls_json count = vls_member_of(usage, key);

    *out = VALISE_NONE;
    if (count.type == VLS_JSON_NULL)
        return 0;
    if (count.type != VLS_JSON_INT || count.integer < 0)
        return vls_fail(err, VALISE_E_INVALID, "'usage.%s' is not a number of tokens", key);
    *out = count.integer;
    return 0;
}

static int take_usage(vls_usage *out, vls_json usage, valise_error *err)
{
    int rc;

    if (usage.type != VLS_JSON_NULL && usage.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "'usage' must be an object, not %s",
                        vls_json_type_name(usage));
    rc = take_count(&out->input, usage, "input", err);
    if (rc == 0)
        rc = take_count(&out->output, usage, "output", err);
    if (rc == 0)
        rc = take_count(&out->cache_read, usage, "cacheRead", err);
    if (rc == 0)
        rc = take_count(&out->cache_write, usage, "cacheWrite", err);
    return rc < 0 ? rc : take_count(&out->reasoning, usage, "reasoning", err);
}

static bool has_call(vls_json blocks)
{
    for (uint32_t i = 0; i < blocks.len; i++) {
        vls_json type = vls_member_of(blocks.items[i], "type");
        if (type.type == VLS_JSON_STRING &&
            vls_str_equal(vls_json_str(type), VLS_STR("tool_use")) &&
            !vls_json_get(blocks.items[i], VLS_STR("rawArgs")))
            return true;
    }
    return false;
}

static int take_stop(vls_answer *out, vls_json stop, valise_error *err)
{
    if (stop.type == VLS_JSON_NULL || (stop.type == VLS_JSON_STRING && stop.len == 0)) {
        out->stop = has_call(out->blocks) ? VLS_STOP_CALLS : VLS_STOP_END;
        return 0;
    }
    for (int64_t i = 0; stop.type == VLS_JSON_STRING && vls_stops[i]; i++) {
        if (vls_str_equal(vls_json_str(stop), valise_str_of(vls_stops[i]))) {
            out->stop = i;
            return 0;
        }
    }
    (void)vls_fail(err, VALISE_E_INVALID, "'stop' is not one of the reasons to stop");
    vls_hint(err, "give one of end, calls, limit, sequence, refused, other");
    return VALISE_E_INVALID;
}

/* What each block is turn:add asks; that there are any is asked here. */
static int check_blocks(vls_json blocks, valise_error *err)
{
    if (blocks.type != VLS_JSON_ARRAY)
        return vls_fail(err, VALISE_E_INVALID, "'blocks' must be an array, not %s",
                        vls_json_type_name(blocks));
    if (blocks.len == 0 || blocks.len > VLS_STREAM_MAX_BLOCKS)
        return vls_fail(err, VALISE_E_INVALID, "'blocks' has %u blocks: 1 to %u", blocks.len,
                        VLS_STREAM_MAX_BLOCKS);
    for (uint32_t i = 0; i < blocks.len; i++) {
        vls_json type = vls_member_of(blocks.items[i], "type");
        if (type.type != VLS_JSON_STRING || type.len == 0)
            return vls_fail(err, VALISE_E_INVALID, "blocks[%u] has no type", i);
    }
    return 0;
}

/* Arguments that are no object are what the model wrote, as those of a provider are: kept as a
 * text, and not to be run. None at all are none. */
static int settle_args(vls_json *block, vls_arena *arena, valise_error *err)
{
    vls_json args = vls_member_of(*block, "args");
    valise_str text;
    int rc = 0;

    if (!vls_str_equal(vls_json_str(vls_member_of(*block, "type")), VLS_STR("tool_use")) ||
        args.type == VLS_JSON_OBJECT)
        return 0;
    if (args.type != VLS_JSON_NULL && !vls_json_get(*block, VLS_STR("rawArgs"))) {
        rc = vls_json_text(&text, arena, args, err);
        if (rc == 0)
            rc = vls_json_with(block, arena, *block, "rawArgs", vls_json_string(text), err);
    }
    args = (vls_json){.type = VLS_JSON_OBJECT};
    return rc < 0 ? rc : vls_json_with(block, arena, *block, "args", args, err);
}

static int take_blocks(vls_json *out, vls_arena *arena, vls_json blocks, valise_error *err)
{
    vls_json *items = vls_arena_array(arena, blocks.len, sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; i < blocks.len && rc == 0; i++) {
        rc = vls_json_copy(&items[i], arena, blocks.items[i], err);
        if (rc == 0)
            rc = settle_args(&items[i], arena, err);
    }
    *out = vls_json_array(items, blocks.len);
    return rc;
}

int vls_answer_of_json(vls_answer *out, vls_arena *arena, vls_json json, valise_error *err)
{
    vls_answer answer = {.partial = false};
    vls_json blocks = vls_member_of(json, "blocks"), model = vls_member_of(json, "model");
    int rc = check_blocks(blocks, err);

    if (rc == 0)
        rc = take_blocks(&answer.blocks, arena, blocks, err);
    if (rc == 0)
        rc = take_usage(&answer.usage, vls_member_of(json, "usage"), err);
    if (rc == 0)
        rc = take_stop(&answer, vls_member_of(json, "stop"), err);
    if (rc == 0 && model.type == VLS_JSON_STRING && model.len > 0)
        rc = vls_arena_dup(&answer.model, arena, vls_json_str(model), err);
    if (rc == 0)
        *out = answer;
    return rc;
}

/* ---- a host's client ---- */

typedef struct asking {
    vls_trying *trying;
    bool answered;
} asking;

static int on_piece(void *arg, const char *kind, valise_str name, valise_str text,
                    valise_error *err)
{
    asking *a = arg;
    const vls_sending *sending = a->trying->sending;
    vls_piece piece = {.kind = VLS_SAID_TEXT, .text = text, .name = name};

    if (strcmp(kind, "thinking") == 0)
        piece.kind = VLS_SAID_THINKING;
    else if (strcmp(kind, "call") == 0)
        piece.kind = VLS_SAID_CALL;
    return sending->on_piece ? sending->on_piece(sending->arg, &piece, err) : 0;
}

static int is_cancelled(void *arg)
{
    const vls_sending *sending = ((asking *)arg)->trying->sending;

    return sending->cancelled && sending->cancelled(sending->arg);
}

/* An empty text says nothing. */
static int parse_part(vls_json *out, vls_arena *arena, valise_str text, valise_error *err)
{
    valise_str copy = {NULL, 0};
    int rc;

    if (text.len == 0)
        return 0;
    rc = vls_arena_dup(&copy, arena, text, err);
    return rc < 0 ? rc : vls_json_parse(out, arena, copy, NULL, err);
}

static int on_answer(void *arg, const valise_client_answer *given, valise_error *err)
{
    asking *a = arg;
    vls_arena *arena = a->trying->arena;
    valise_client_answer answer = {.size = sizeof(answer)};
    vls_json blocks = vls_json_null(), usage = vls_json_null(), all = vls_json_null();
    int rc = vls_sized_take(&answer, sizeof(answer), given, offsetof(valise_client_answer, stop),
                            "valise_client_answer", err);

    if (rc == 0)
        rc = parse_part(&blocks, arena, answer.blocks, err);
    if (rc == 0)
        rc = parse_part(&usage, arena, answer.usage, err);
    if (rc == 0)
        rc = vls_json_with(&all, arena, all, "blocks", blocks, err);
    if (rc == 0)
        rc = vls_json_with(&all, arena, all, "usage", usage, err);
    if (rc == 0)
        rc = vls_json_with(&all, arena, all, "stop", vls_json_string(answer.stop), err);
    if (rc == 0)
        rc = vls_json_with(&all, arena, all, "model", vls_json_string(answer.model), err);
    if (rc == 0)
        rc = vls_answer_of_json(&a->trying->answer, arena, all, err);
    a->answered = rc == 0;
    return rc;
}

int vls_host_try(vls_trying *trying, valise_error *err)
{
    const valise_client *host = &trying->client->host;
    const vls_sending *sending = trying->sending;
    asking a = {.trying = trying};
    valise_client_request request = {
        .size = sizeof(request),
        .prompt = sending->neutral,
        .model = sending->model,
        .stream = sending->stream,
        .arg = &a,
        .piece = on_piece,
        .cancelled = is_cancelled,
        .answer = on_answer,
    };
    int rc = vls_settle(host->send(host->self, &request, err));

    if (rc == 0 && !a.answered)
        rc = vls_fail(err, VALISE_E_INVALID, "the client '%s' gave no answer", host->name);
    return rc;
}
