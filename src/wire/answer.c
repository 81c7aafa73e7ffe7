/* answer.c -- whole responses, the arguments of calls, and the words of providers that say no. */
#include "wire/answer.h"

#include "base/text.h"
#include "base/utf8.h"
#include "json/make.h"
#include "wire/adapter.h"
#include "wire/mend.h"

/* Arguments stand in an object in the array of blocks, and all of that is one value. */
#define ARGS_DEPTH (VLS_JSON_MAX_DEPTH - 2)
#define COUNT_MAX ((int64_t)1 << 50) /* tokens: sums of them fit */

const char *const vls_stops[] = {"none",     "end",     "calls", "limit",
                                 "sequence", "refused", "other", NULL};

/* ---- members ---- */

bool vls_is_type(vls_json block, const char *type)
{
    return vls_str_equal(vls_text_of(block, "type"), valise_str_of(type));
}

int64_t vls_count_of(vls_json object, const char *key)
{
    vls_json count = vls_member_of(object, key);

    return count.type == VLS_JSON_INT && count.integer >= 0 && count.integer <= COUNT_MAX
               ? count.integer
               : VALISE_NONE;
}

void vls_count_take(int64_t *out, vls_json object, const char *key)
{
    int64_t count = vls_count_of(object, key);

    if (count != VALISE_NONE)
        *out = count;
}

int64_t vls_count_sum(int64_t a, int64_t b)
{
    if (a == VALISE_NONE || b == VALISE_NONE)
        return a == VALISE_NONE ? b : a;
    return a + b;
}

/* ---- reading what providers write ---- */

int vls_answer_parse(vls_json *out, vls_arena *arena, valise_str text, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = VLS_STREAM_MAX_BYTES,
                                           .around = VLS_JSON_MAX_AROUND,
                                           .flags = VLS_JSON_LAST_KEY_WINS};

    return vls_mend_parse(out, NULL, arena, text, &limits, err);
}

int vls_answer_read(vls_answer *out, vls_arena *arena, const vls_adapter *adapter, valise_str body,
                    valise_error *err)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    vls_json response = vls_json_null();
    vls_refusal refusal;
    int rc = vls_answer_parse(&response, arena, body, err);

    if (rc < 0)
        return rc;
    if (vls_answer_refused(&refusal, response, false))
        return vls_answer_refuse(&refusal, err);
    rc = vls_stream_new(&stream, arena->env, adapter, NULL, NULL, err);
    if (rc == 0)
        rc = adapter->answer(stream, response, err);
    if (rc < 0)
        return rc;
    vls_stream_end(stream);
    return vls_stream_answer(out, arena, stream, err);
}

/* ---- tools by our names ---- */

int vls_answer_rename(vls_answer *answer, vls_arena *arena, const vls_plan *plan, valise_error *err)
{
    uint32_t count = answer->blocks.type == VLS_JSON_ARRAY ? answer->blocks.len : 0;
    vls_json *blocks;
    int rc = 0;

    if (!plan || plan->names.len == 0 || count == 0)
        return 0;
    blocks = vls_arena_array(arena, count, sizeof(*blocks));
    if (!blocks)
        return vls_arena_fail(arena, err);
    memcpy(blocks, answer->blocks.items, count * sizeof(*blocks));
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        vls_json type = vls_member_of(blocks[i], "type"), name = vls_member_of(blocks[i], "name");
        if (type.type == VLS_JSON_STRING && name.type == VLS_JSON_STRING &&
            vls_str_equal(vls_json_str(type), VLS_STR("tool_use")))
            rc = vls_json_with(&blocks[i], arena, blocks[i], "name",
                               vls_json_string(vls_plan_name_back(plan, vls_json_str(name))), err);
    }
    if (rc == 0)
        answer->blocks = vls_json_array(blocks, count);
    return rc;
}

/* ---- arguments ---- */

/* 1: *args is an object; 0: it is none of ours; below 0: failed, for another reason than what it
 * is. */
static int parse_args(vls_json *args, vls_arena *arena, valise_str raw, valise_error *err)
{
    static const vls_json_limits limits = {.max_depth = ARGS_DEPTH};
    int rc;

    if (raw.len > VLS_JSON_MAX_BYTES)
        return 0;
    rc = vls_mend_parse(args, NULL, arena, raw, &limits, err);
    if (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT)
        return 0;
    return rc < 0 ? rc : args->type == VLS_JSON_OBJECT;
}

static int is_canonical(bool *out, vls_arena *arena, vls_json args, valise_str raw,
                        valise_error *err)
{
    vls_buf buf;
    int rc;

    *out = vls_json_is_canonical(raw);
    if (*out)
        return 0;
    vls_buf_init_in(&buf, arena, 6 * raw.len + 64);
    rc = vls_json_write(&buf, args, err);
    if (rc == 0)
        *out = vls_str_equal(vls_buf_str(&buf), raw);
    return rc;
}

/* As a string it must be UTF-8. */
static int text_of(vls_json *out, vls_arena *arena, valise_str raw, valise_error *err)
{
    vls_buf buf;
    int rc = 0;

    if (!vls_utf8_valid(raw)) {
        vls_buf_init_in(&buf, arena, 3 * raw.len + 1);
        vls_mend_add(&buf, raw, false);
        rc = vls_buf_keep(&raw, &buf, err);
    }
    if (rc == 0)
        *out = vls_json_string(raw);
    return rc;
}

/* meta.VENDOR.raw, beside what is there. */
static int set_raw(vls_json *block, vls_arena *arena, const char *vendor, vls_json raw,
                   valise_error *err)
{
    vls_json meta = vls_member_of(*block, "meta"), ours = vls_member_of(meta, vendor);
    int rc = vls_json_with(&ours, arena, ours, "raw", raw, err);

    if (rc == 0)
        rc = vls_json_with(&meta, arena, meta, vendor, ours, err);
    return rc < 0 ? rc : vls_json_with(block, arena, *block, "meta", meta, err);
}

int vls_answer_args(vls_json *block, vls_arena *arena, const char *vendor, valise_str raw,
                    valise_error *err)
{
    vls_json args = vls_json_null(), text = vls_json_null(), made = *block;
    bool same = true;
    int is_object = 1, rc = 0;

    if (vls_str_trim(raw).len > 0) {
        is_object = parse_args(&args, arena, raw, err);
        rc = is_object < 0 ? is_object : text_of(&text, arena, raw, err);
    }
    if (rc == 0 && is_object && args.type == VLS_JSON_OBJECT)
        rc = is_canonical(&same, arena, args, raw, err);
    if (!is_object || args.type != VLS_JSON_OBJECT)
        args = (vls_json){.type = VLS_JSON_OBJECT};
    if (rc == 0)
        rc = vls_json_with(&made, arena, made, "args", args, err);
    if (rc == 0 && !is_object)
        rc = vls_json_with(&made, arena, made, "rawArgs", text, err);
    if (rc == 0 && is_object && !same && vendor && vendor[0])
        rc = set_raw(&made, arena, vendor, text, err);
    if (rc == 0)
        *block = made;
    return rc;
}

/* ---- no ---- */

/* Too many, too busy, broken for a moment: as the providers call it. */
bool vls_refusal_passes(valise_str type)
{
    static const char *const types[] = {"overloaded_error",
                                        "rate_limit_error",
                                        "rate_limit_exceeded",
                                        "api_error",
                                        "server_error",
                                        "timeout_error",
                                        "UNAVAILABLE",
                                        "RESOURCE_EXHAUSTED",
                                        "INTERNAL",
                                        "DEADLINE_EXCEEDED",
                                        "ThrottlingException",
                                        "ServiceUnavailableException",
                                        "throttlingException",
                                        "serviceUnavailableException"};

    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        if (vls_str_equal(type, valise_str_of(types[i])))
            return true;
    }
    return false;
}

static valise_str first_of(vls_json object, const char *const *keys)
{
    valise_str words = VLS_STR("");

    for (size_t i = 0; keys[i] && words.len == 0; i++)
        words = vls_text_of(object, keys[i]);
    return words;
}

bool vls_answer_refused(vls_refusal *out, vls_json body, bool any)
{
    static const char *const types[] = {"type", "status", "code", "__type", NULL};
    static const char *const messages[] = {"message", "Message", "detail", NULL};
    vls_json error;

    if (body.type == VLS_JSON_ARRAY && body.len > 0)
        body = body.items[0];
    error = vls_member_of(body, "error");
    if (error.type == VLS_JSON_STRING && error.len > 0) {
        *out = (vls_refusal){.message = vls_json_str(error), .type = vls_text_of(body, "type")};
        out->passing = vls_refusal_passes(out->type);
        return true;
    }
    if (error.type != VLS_JSON_OBJECT) {
        error = body;
        if (!any && !vls_str_equal(vls_text_of(body, "type"), VLS_STR("error")) &&
            !vls_str_equal(vls_text_of(body, "object"), VLS_STR("error")))
            return false;
    }
    *out = (vls_refusal){.message = first_of(error, messages), .type = first_of(error, types)};
    if (vls_str_equal(out->type, VLS_STR("error")))
        out->type = vls_text_of(error, "code");
    out->passing = vls_refusal_passes(out->type) ||
                   vls_refusal_passes(vls_text_of(error, "status")) ||
                   vls_refusal_passes(vls_text_of(error, "code"));
    return error.type == VLS_JSON_OBJECT && (out->message.len > 0 || out->type.len > 0 || !any);
}

void vls_answer_line(char *out, size_t size, valise_str text)
{
    size_t len = 0;

    while (text.len > 0) {
        uint32_t code = 0;
        size_t used = vls_utf8_decode(&code, text.ptr, text.len);
        bool shows = used > 0 && !vls_utf8_is_control(code);
        size_t need = shows ? used : 1;
        if (len + need + 1 > size)
            break;
        if (shows)
            memcpy(out + len, text.ptr, used);
        else
            out[len] = used > 0 ? ' ' : '?';
        len += need;
        text = vls_str_from(text, used > 0 ? used : 1);
    }
    out[len] = '\0';
}

int vls_answer_refuse(const vls_refusal *refusal, valise_error *err)
{
    char message[280];

    vls_answer_line(message, sizeof(message), refusal->message);
    if (message[0] == '\0')
        vls_answer_line(message, sizeof(message), VLS_STR("it gives no reason"));
    if (refusal->type.len > 0)
        return vls_fail(err, VALISE_E_REMOTE, "the provider refused it: %s (%s)", message,
                        vls_text_short(refusal->type).s);
    return vls_fail(err, VALISE_E_REMOTE, "the provider refused it: %s", message);
}
