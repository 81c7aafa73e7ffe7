/* cost.c -- what parts cost, in tokens. */
#include "prompt/cost.h"

#include "base/tokens.h"
#include "json/make.h"

int64_t vls_value_cost(vls_json value)
{
    int64_t sum = 1;

    switch (value.type) {
    case VLS_JSON_STRING:
    case VLS_JSON_BIG:
        return 2 + vls_tokens(vls_json_str(value));
    case VLS_JSON_ARRAY:
        for (uint32_t i = 0; i < value.len; i++)
            sum += 1 + vls_value_cost(value.items[i]);
        return sum;
    case VLS_JSON_OBJECT:
        for (uint32_t i = 0; i < value.len; i++)
            sum += 3 + vls_tokens(vls_json_str(value.members[i].key)) +
                   vls_value_cost(value.members[i].value);
        return sum;
    case VLS_JSON_INT:
    case VLS_JSON_REAL:
        return 8; /* of twenty digits at most */
    default:
        return 1;
    }
}

int64_t vls_text_cost(valise_str text)
{
    return VLS_COST_BLOCK + vls_tokens(text);
}

int64_t vls_media_cost(valise_str media_type, int64_t size)
{
    return vls_tokens_media(media_type, size > 0 ? (uint64_t)size : 0, VLS_TOKENS_PER_IMAGE);
}

/* Blocks that are sent with their `text`, those of tools aside. */
static bool is_spoken(valise_str type)
{
    static const char *const spoken[] = {"text",     "thinking", "image",
                                         "document", "summary",  "role:transition"};

    for (size_t i = 0; i < VLS_COUNT(spoken); i++)
        if (vls_str_equal(type, valise_str_of(spoken[i])))
            return true;
    return false;
}

int64_t vls_block_cost(vls_json block)
{
    valise_str type = vls_text_of(block, "type");
    int64_t sum = VLS_COST_BLOCK + vls_tokens(vls_text_of(block, "callId"));
    vls_json content;

    if (vls_str_equal(type, VLS_STR("tool_use"))) {
        int64_t args = vls_value_cost(vls_member_of(block, "args"));
        int64_t raw = vls_tokens(vls_text_of(block, "rawArgs"));
        return sum + vls_tokens(vls_text_of(block, "name")) + VLS_MAX(args, raw);
    }
    if (is_spoken(type))
        return sum + vls_tokens(vls_text_of(block, "text"));
    if (!vls_str_equal(type, VLS_STR("tool_result")))
        return 0; /* of a type that nobody knows: it is not sent */
    content = vls_member_of(block, "content");
    if (content.type == VLS_JSON_STRING)
        return sum + vls_tokens(vls_json_str(content));
    for (uint32_t i = 0; content.type == VLS_JSON_ARRAY && i < content.len; i++)
        sum += vls_block_cost(content.items[i]);
    return sum;
}

int64_t vls_turn_cost(vls_json blocks)
{
    int64_t sum = VLS_COST_MESSAGE;

    for (uint32_t i = 0; blocks.type == VLS_JSON_ARRAY && i < blocks.len; i++)
        sum += vls_block_cost(blocks.items[i]);
    return sum;
}
