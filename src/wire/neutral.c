/* neutral.c -- read a neutral prompt: its shape, member by member, with the place of what is wrong.
 *
 * A block type is a row of a table. What is optional may also be null. Members of blocks that are
 * not listed are kept and not looked at, and so are blocks of other types. */
#include "wire/neutral.h"

#include <valise/sys/field.h>

#include "base/hex.h"
#include "base/text.h"

const char *const vls_says[] = {"user", "assistant", "system", "tool", NULL};

/* ---- refusing ---- */

/* The member that is wrong; what stands around it is put in front by who reads that. */
#define refuse(err, member, ...)                                                                   \
    ((void)vls_fail((err), VALISE_E_INVALID, __VA_ARGS__),                                         \
     vls_error_prepend((err), "%s", (member)), VALISE_E_INVALID)

static int too_many(const char *what, uint32_t count, uint32_t most, valise_error *err)
{
    return vls_fail(err, VALISE_E_LIMIT, "%u %s: at most %u", count, what, most);
}

/* ---- members ---- */

enum { OPTIONAL = 1, NOT_EMPTY = 2 };

/* Objects have few members here: looking at all of them is the fastest way to one. */
static const vls_json *member_of(vls_json object, const char *name)
{
    valise_str key = valise_str_of(name);
    const vls_json *member = NULL;

    if (object.len > 8)
        member = vls_json_get(object, key);
    for (uint32_t i = 0; i < object.len && object.len <= 8 && !member; i++) {
        if (vls_str_equal(vls_json_str(object.members[i].key), key))
            member = &object.members[i].value;
    }
    return member && member->type != VLS_JSON_NULL ? member : NULL;
}

static int check_type(const vls_json *member, const char *name, vls_json_type type,
                      const char *expected, unsigned flags, valise_error *err)
{
    if (!member)
        return flags & OPTIONAL ? 0 : refuse(err, name, "'%s' is missing", name);
    if (member->type != type)
        return refuse(err, name, "'%s' must be %s, not %s", name, expected,
                      vls_json_type_name(*member));
    if (flags & NOT_EMPTY && member->len == 0)
        return refuse(err, name, "'%s' is empty", name);
    return 0;
}

static int check_text(vls_json object, const char *name, unsigned flags, valise_error *err)
{
    return check_type(member_of(object, name), name, VLS_JSON_STRING, "a text", flags, err);
}

static int check_bool(vls_json object, const char *name, valise_error *err)
{
    return check_type(member_of(object, name), name, VLS_JSON_BOOL, "true or false", OPTIONAL, err);
}

static int check_object(vls_json object, const char *name, unsigned flags, valise_error *err)
{
    return check_type(member_of(object, name), name, VLS_JSON_OBJECT, "an object", flags, err);
}

/* An array that may be missing: then it is empty. */
static int take_array(vls_json *out, vls_json object, const char *name, uint32_t most,
                      valise_error *err)
{
    const vls_json *member = member_of(object, name);
    int rc = check_type(member, name, VLS_JSON_ARRAY, "an array", OPTIONAL, err);

    if (rc < 0)
        return rc;
    if (member && member->len > most) {
        rc = too_many(name, member->len, most, err);
        vls_error_prepend(err, "%s", name);
        return rc;
    }
    *out = member ? *member : vls_json_array(NULL, 0);
    return 0;
}

/* Whether all members are among names, which ends in NULL; "x-..." are where other says so. */
static int check_members(vls_json object, const char *const *names, bool other, valise_error *err)
{
    for (uint32_t i = 0; i < object.len; i++) {
        valise_str key = vls_json_str(object.members[i].key);
        size_t at = 0;
        while (names[at] && !vls_str_equal(key, valise_str_of(names[at])))
            at++;
        if (!names[at] && !(other && vls_str_starts(key, VLS_STR("x-"))))
            return vls_fail(err, VALISE_E_INVALID, "'%s' is unknown here", vls_text_short(key).s);
    }
    return 0;
}

/* ---- blocks ---- */

static int check_call_id(vls_json block, valise_error *err)
{
    int rc = check_text(block, "callId", NOT_EMPTY, err);
    const vls_json *id = member_of(block, "callId");

    if (rc == 0 && id && id->len > VLS_NEUTRAL_CALL_ID_MAX)
        return refuse(err, "callId", "'callId' has %u bytes: at most %u", id->len,
                      VLS_NEUTRAL_CALL_ID_MAX);
    return rc;
}

static int check_blob(vls_json block, valise_error *err)
{
    valise_id id;
    int rc = check_text(block, "blob", 0, err);

    if (rc == 0 && vls_id_parse(&id, vls_json_str(*member_of(block, "blob")), NULL) < 0)
        return refuse(err, "blob", "'blob' must be the SHA-256 of a blob: 64 lower-case digits");
    return rc;
}

static int check_size(vls_json block, valise_error *err)
{
    const vls_json *size = member_of(block, "size");

    if (size &&
        (size->type != VLS_JSON_INT || size->integer < 0 || size->integer > VLS_NEUTRAL_MAX_SIZE))
        return refuse(err, "size", "'size' must be a number of bytes, %lld at most",
                      (long long)VLS_NEUTRAL_MAX_SIZE);
    return 0;
}

/* What images and documents say of their bytes. */
static int check_file(vls_json block, valise_error *err)
{
    int rc = check_text(block, "mediaType", OPTIONAL, err);

    if (rc == 0)
        rc = check_text(block, "filename", OPTIONAL, err);
    if (rc == 0)
        rc = check_text(block, "fileId", OPTIONAL | NOT_EMPTY, err);
    return rc < 0 ? rc : check_size(block, err);
}

static int check_said(vls_json block, valise_error *err)
{
    return check_text(block, "text", 0, err);
}

static int check_thinking(vls_json block, valise_error *err)
{
    int rc = check_text(block, "text", 0, err);

    if (rc == 0)
        rc = check_text(block, "signature", OPTIONAL, err);
    return rc < 0 ? rc : check_bool(block, "redacted", err);
}

static int check_image(vls_json block, valise_error *err)
{
    int rc = check_blob(block, err);

    return rc < 0 ? rc : check_file(block, err);
}

static int check_document(vls_json block, valise_error *err)
{
    bool has_text = member_of(block, "text"), has_blob = member_of(block, "blob");
    int rc = 0;

    if (!has_text && !has_blob)
        return refuse(err, "blob", "a document must have a 'blob' or a 'text'");
    if (has_blob)
        rc = check_blob(block, err);
    if (rc == 0 && has_text)
        rc = check_text(block, "text", 0, err);
    return rc < 0 ? rc : check_file(block, err);
}

static int check_tool_use(vls_json block, valise_error *err)
{
    int rc = check_call_id(block, err);

    if (rc == 0)
        rc = check_text(block, "name", NOT_EMPTY, err);
    if (rc == 0)
        rc = check_object(block, "args", 0, err);
    return rc < 0 ? rc : check_text(block, "rawArgs", OPTIONAL, err);
}

static int check_block(vls_json block, bool within, valise_error *err);

static int check_blocks(vls_json blocks, const char *name, bool within, valise_error *err)
{
    int rc = 0;

    if (blocks.len > VLS_NEUTRAL_BLOCKS_MAX) {
        rc = too_many("blocks", blocks.len, VLS_NEUTRAL_BLOCKS_MAX, err);
        vls_error_prepend(err, "%s", name);
        return rc;
    }
    for (uint32_t i = 0; i < blocks.len && rc == 0; i++) {
        rc = check_block(blocks.items[i], within, err);
        if (rc < 0)
            vls_error_prepend(err, "%s[%u]", name, i);
    }
    return rc;
}

static int check_tool_result(vls_json block, valise_error *err)
{
    const vls_json *content = vls_json_get(block, VLS_STR("content"));
    int rc = check_call_id(block, err);

    if (rc == 0)
        rc = check_bool(block, "isError", err);
    if (rc < 0)
        return rc;
    if (!content)
        return refuse(err, "content", "'content' is missing");
    if (content->type == VLS_JSON_STRING)
        return 0;
    if (content->type != VLS_JSON_ARRAY)
        return refuse(err, "content", "'content' must be a string or an array of blocks, not %s",
                      vls_json_type_name(*content));
    return check_blocks(*content, "content", true, err);
}

static int check_transition(vls_json block, valise_error *err)
{
    int rc = check_text(block, "from", OPTIONAL, err);

    return rc < 0 ? rc : check_text(block, "to", NOT_EMPTY, err);
}

typedef struct block_type {
    const char *name;
    int (*check)(vls_json block, valise_error *err);
    bool within; /* may stand in a result */
} block_type;

static const block_type types[] = {
    {"text", check_said, true},          {"thinking", check_thinking, false},
    {"image", check_image, true},        {"document", check_document, true},
    {"tool_use", check_tool_use, false}, {"tool_result", check_tool_result, false},
    {"summary", check_said, false},      {"role:transition", check_transition, false},
};

static int check_block(vls_json block, bool within, valise_error *err)
{
    valise_str type;
    int rc;

    if (block.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a block must be an object, not %s",
                        vls_json_type_name(block));
    rc = check_text(block, "type", NOT_EMPTY, err);
    if (rc < 0)
        return rc;
    type = vls_json_str(*member_of(block, "type"));
    for (size_t i = 0; i < VLS_COUNT(types); i++) {
        if (!vls_str_equal(type, valise_str_of(types[i].name)))
            continue;
        if (within && !types[i].within)
            return refuse(err, "type", "a %s cannot stand in a tool_result", types[i].name);
        rc = check_object(block, "meta", OPTIONAL, err);
        return rc < 0 ? rc : types[i].check(block, err);
    }
    return 0; /* nobody knows what it must have, and it is not sent */
}

int vls_neutral_check_blocks(vls_json blocks, valise_error *err)
{
    return check_blocks(blocks, "blocks", false, err);
}

/* ---- the parts of a prompt ---- */

static int check_tool(vls_json tool, valise_error *err)
{
    static const char *const names[] = {"name", "description", "inputSchema", NULL};
    int rc;

    if (tool.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a tool must be an object, not %s",
                        vls_json_type_name(tool));
    rc = check_members(tool, names, true, err);
    if (rc == 0)
        rc = check_text(tool, "name", NOT_EMPTY, err);
    if (rc == 0)
        rc = check_text(tool, "description", OPTIONAL, err);
    return rc < 0 ? rc : check_object(tool, "inputSchema", 0, err);
}

static int check_part(vls_json part, valise_error *err)
{
    int rc;

    if (part.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a part must be an object, not %s",
                        vls_json_type_name(part));
    rc = check_text(part, "type", 0, err);
    if (rc == 0 && !vls_str_equal(vls_json_str(*member_of(part, "type")), VLS_STR("text")))
        rc = refuse(err, "type", "a part of the system text must have the type 'text'");
    return rc < 0 ? rc : check_text(part, "text", 0, err);
}

static int check_role(vls_json message, valise_error *err)
{
    int rc = check_text(message, "role", 0, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; vls_says[i]; i++) {
        if (vls_str_equal(vls_json_str(*member_of(message, "role")), valise_str_of(vls_says[i])))
            return 0;
    }
    return refuse(err, "role", "'role' must be user, assistant, system or tool");
}

static int check_message(vls_json message, valise_error *err)
{
    static const char *const names[] = {"role", "blocks", NULL};
    const vls_json *blocks;
    int rc;

    if (message.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a message must be an object, not %s",
                        vls_json_type_name(message));
    rc = check_members(message, names, true, err);
    if (rc == 0)
        rc = check_role(message, err);
    if (rc < 0)
        return rc;
    blocks = member_of(message, "blocks");
    rc = check_type(blocks, "blocks", VLS_JSON_ARRAY, "an array", 0, err);
    return rc < 0 || !blocks ? rc : check_blocks(*blocks, "blocks", false, err);
}

static int check_each(vls_json items, const char *name,
                      int (*check)(vls_json item, valise_error *err), valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < items.len && rc == 0; i++) {
        rc = check(items.items[i], err);
        if (rc < 0)
            vls_error_prepend(err, "%s[%u]", name, i);
    }
    return rc;
}

/* ---- params ---- */

static int check_stop(vls_json stop, valise_error *err)
{
    if (stop.type != VLS_JSON_STRING || stop.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "the text that ends an answer must not be empty");
    return 0;
}

static int check_choice(vls_json params, valise_error *err)
{
    const vls_json *choice = member_of(params, "toolChoice");
    int rc = 0;

    if (!choice)
        return 0;
    if (choice->type == VLS_JSON_OBJECT) {
        rc = check_text(*choice, "name", NOT_EMPTY, err);
        if (rc < 0)
            vls_error_prepend(err, "toolChoice");
        return rc;
    }
    if (choice->type == VLS_JSON_STRING && (vls_str_equal(vls_json_str(*choice), VLS_STR("auto")) ||
                                            vls_str_equal(vls_json_str(*choice), VLS_STR("none")) ||
                                            vls_str_equal(vls_json_str(*choice), VLS_STR("any"))))
        return 0;
    return refuse(err, "toolChoice",
                  "'toolChoice' must be auto, none, any, or an object with a name");
}

static int check_numbers(vls_json params, valise_error *err)
{
    const vls_json *heat = member_of(params, "temperature");
    const vls_json *most = member_of(params, "maxTokens");

    if (heat && (!vls_json_is_number(*heat) || vls_json_to_double(*heat) < 0 ||
                 vls_json_to_double(*heat) > 2))
        return refuse(err, "temperature", "'temperature' must be a number from 0 to 2");
    if (most && (most->type != VLS_JSON_INT || most->integer < 1 || most->integer > INT32_MAX))
        return refuse(err, "maxTokens", "'maxTokens' must be a number from 1 to %d", INT32_MAX);
    return 0;
}

static int check_params(vls_json params, valise_error *err)
{
    static const char *const names[] = {"model",      "temperature", "maxTokens", "stop",
                                        "toolChoice", "extras",      NULL};
    vls_json stop = vls_json_null();
    int rc = check_members(params, names, false, err);

    if (rc == 0)
        rc = check_text(params, "model", OPTIONAL | NOT_EMPTY, err);
    if (rc == 0)
        rc = check_numbers(params, err);
    if (rc == 0)
        rc = take_array(&stop, params, "stop", VLS_NEUTRAL_STOPS_MAX, err);
    if (rc == 0)
        rc = check_each(stop, "stop", check_stop, err);
    if (rc == 0)
        rc = check_choice(params, err);
    return rc < 0 ? rc : check_object(params, "extras", OPTIONAL, err);
}

static int take_params(vls_json *out, vls_json all, valise_error *err)
{
    const vls_json *params = member_of(all, "params");
    int rc = check_object(all, "params", OPTIONAL, err);

    if (rc < 0)
        return rc;
    if (params) {
        rc = check_params(*params, err);
        if (rc < 0) {
            vls_error_prepend(err, "params");
            return rc;
        }
    }
    *out = params ? *params : (vls_json){.type = VLS_JSON_OBJECT, .members = NULL};
    return 0;
}

/* ---- sections ---- */

static int take_count(size_t *out, vls_json sections, const char *name, size_t most,
                      valise_error *err)
{
    const vls_json *count = member_of(sections, name);

    if (count &&
        (count->type != VLS_JSON_INT || count->integer < 0 || (uint64_t)count->integer > most))
        return refuse(err, name, "'%s' must be a number of messages, %zu at most", name, most);
    *out = count ? (size_t)count->integer : 0;
    return 0;
}

static int take_sections(vls_neutral *out, vls_json all, valise_error *err)
{
    static const char *const names[] = {"context", "history", NULL};
    const vls_json *sections = member_of(all, "sections");
    size_t most = out->messages.len;
    int rc = check_object(all, "sections", OPTIONAL, err);

    out->history = most;
    if (rc < 0 || !sections)
        return rc;
    rc = check_members(*sections, names, false, err);
    if (rc == 0)
        rc = take_count(&out->context, *sections, "context", most, err);
    if (rc == 0)
        rc = take_count(&out->history, *sections, "history", most - out->context, err);
    if (rc < 0)
        vls_error_prepend(err, "sections");
    return rc;
}

/* ---- all of it ---- */

static int check_version(vls_json all, valise_error *err)
{
    const vls_json *version = member_of(all, "version");

    if (version && version->type == VLS_JSON_INT && version->integer == VLS_NEUTRAL_VERSION)
        return 0;
    return version ? refuse(err, "version", "'version' must be %d", VLS_NEUTRAL_VERSION)
                   : refuse(err, "version", "'version' is missing");
}

int vls_neutral_of(vls_neutral *out, vls_json all, valise_error *err)
{
    static const char *const names[] = {"version", "tools",    "system", "messages",
                                        "params",  "sections", NULL};
    vls_neutral prompt = {.context = 0};
    int rc;

    if (all.type != VLS_JSON_OBJECT)
        return vls_fail(err, VALISE_E_INVALID, "a prompt must be an object, not %s",
                        vls_json_type_name(all));
    rc = check_members(all, names, true, err);
    if (rc == 0)
        rc = check_version(all, err);
    if (rc == 0)
        rc = take_array(&prompt.tools, all, "tools", VLS_NEUTRAL_TOOLS_MAX, err);
    if (rc == 0)
        rc = check_each(prompt.tools, "tools", check_tool, err);
    if (rc == 0)
        rc = take_array(&prompt.system, all, "system", VLS_NEUTRAL_BLOCKS_MAX, err);
    if (rc == 0)
        rc = check_each(prompt.system, "system", check_part, err);
    if (rc == 0)
        rc = take_array(&prompt.messages, all, "messages", VLS_NEUTRAL_MESSAGES_MAX, err);
    if (rc == 0)
        rc = check_each(prompt.messages, "messages", check_message, err);
    if (rc == 0)
        rc = take_params(&prompt.params, all, err);
    if (rc == 0)
        rc = take_sections(&prompt, all, err);
    if (rc < 0)
        return rc;
    *out = prompt;
    return 0;
}

int vls_neutral_read(vls_neutral *out, vls_arena *arena, valise_str text, valise_error *err)
{
    const vls_json_limits limits = {.max_bytes = VLS_NEUTRAL_MAX_BYTES,
                                    .around = VLS_NEUTRAL_AROUND};
    vls_json all = vls_json_null();
    int rc = vls_json_parse(&all, arena, text, &limits, err);

    return rc < 0 ? rc : vls_neutral_of(out, all, err);
}
