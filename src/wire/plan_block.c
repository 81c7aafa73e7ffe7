/* plan_block.c -- one block of the neutral prompt, as the provider takes it. [P5] [P13]
 *
 * A block may be left out (blank text, foreign thinking), become text (a summary, a result without
 * its call) or two (a text document and its name). Texts are not copied but for short words before
 * them. */
#include "base/utf8.h"
#include "wire/plan_impl.h"

#define ORPHAN "Result of a call that is not here:"
#define ORPHAN_ERROR "Error of a call that is not here:"

/* ---- reading ---- */

uint8_t vls_message_role(vls_json message)
{
    valise_str role = vls_block_text(message, "role");

    switch (role.len > 0 ? role.ptr[0] : 'u') {
    case 'a':
        return VLS_SAYS_ASSISTANT;
    case 's':
        return VLS_SAYS_SYSTEM;
    case 't':
        return VLS_SAYS_TOOL;
    default:
        return VLS_SAYS_USER;
    }
}

vls_block_kind vls_block_kind_of(vls_json block)
{
    static const struct {
        valise_str name;
        vls_block_kind kind;
    } kinds[] = {
        {{"text", 4}, VLS_BLOCK_TEXT},           {{"tool_use", 8}, VLS_BLOCK_CALL},
        {{"tool_result", 11}, VLS_BLOCK_RESULT}, {{"thinking", 8}, VLS_BLOCK_THINKING},
        {{"image", 5}, VLS_BLOCK_IMAGE},         {{"document", 8}, VLS_BLOCK_DOCUMENT},
        {{"summary", 7}, VLS_BLOCK_SUMMARY},     {{"role:transition", 15}, VLS_BLOCK_TRANSITION},
    };
    valise_str type = vls_block_type(block);

    for (size_t i = 0; i < VLS_COUNT(kinds); i++) {
        if (vls_str_equal(type, kinds[i].name))
            return kinds[i].kind;
    }
    return VLS_BLOCK_OTHER;
}

vls_json vls_message_blocks(vls_json message)
{
    const vls_json *blocks = vls_block_member(message, VLS_STR("blocks"));

    return blocks ? *blocks : vls_json_array(NULL, 0);
}

static bool is_true(const vls_json *member)
{
    return member && member->type == VLS_JSON_BOOL && member->truth;
}

#define is_set(block, name) is_true(vls_block_member((block), VLS_STR(name)))

/* White space of Unicode. */
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool vls_is_blank(valise_str text)
{
    if (text.len > 0 && text.ptr[0] > ' ') /* most of them */
        return false;
    for (size_t at = 0; at < text.len;) {
        uint32_t c = 0;
        size_t len = vls_utf8_decode(&c, text.ptr + at, text.len - at);
        if (len == 0 || !is_space(c))
            return false;
        at += len;
    }
    return true;
}

valise_str vls_trim_end(valise_str text)
{
    while (text.len > 0 && is_space((unsigned char)text.ptr[text.len - 1]) &&
           (unsigned char)text.ptr[text.len - 1] < 0x80)
        text.len--;
    return text;
}

/* Two texts as one. */
static int concat(valise_str *out, vls_planning *p, valise_str a, valise_str b)
{
    vls_buf both;

    vls_buf_init_in(&both, p->arena, SIZE_MAX / 2);
    if (!vls_buf_reserve(&both, a.len + b.len + 1))
        return vls_buf_check(&both, p->err);
    vls_buf_add(&both, a);
    vls_buf_add(&both, b);
    return vls_buf_keep(out, &both, p->err);
}

/* ---- opaque data [P13] ---- */

/* Whether what a vendor gave may go to this model. */
static bool is_for_model(const vls_planning *p, vls_json given)
{
    valise_str model = vls_block_text(given, "model");

    return model.len == 0 || p->plan->model.len == 0 || vls_str_equal(model, p->plan->model);
}

int vls_planning_meta(vls_json *out, vls_planning *p, vls_json source, int32_t message,
                      int32_t block)
{
    const vls_json *meta = vls_block_member(source, VLS_STR("meta"));
    vls_json own = vls_json_null();
    int rc = 0;

    *out = own;
    if (!meta || meta->type != VLS_JSON_OBJECT)
        return 0;
    for (uint32_t i = 0; i < meta->len && rc == 0; i++) {
        valise_str vendor = vls_json_str(meta->members[i].key);
        vls_json given = meta->members[i].value;
        if (given.type != VLS_JSON_OBJECT)
            continue;
        if (!vls_str_equal(vendor, p->vendor) || p->vendor.len == 0)
            rc = vls_planning_mend(p, VLS_R_VENDOR, message, block, vendor);
        else if (!is_for_model(p, given))
            rc = vls_planning_mend(p, VLS_R_MODEL, message, block, vls_block_text(given, "model"));
        else
            own = given;
    }
    *out = own;
    return rc;
}

/* Whether a signature, or opaque thinking, is of this provider and model. */
static bool is_signed_here(const vls_planning *p, vls_json source)
{
    const vls_json *meta = vls_block_member(source, VLS_STR("meta"));
    const vls_json *own = meta ? vls_json_get(*meta, p->vendor) : NULL;
    valise_str vendor = meta ? vls_block_text(*meta, "vendor") : (valise_str){NULL, 0};

    if (vendor.len == 0)
        vendor = VLS_STR("anthropic");
    return vls_str_equal(vendor, p->vendor) && (!own || is_for_model(p, *own));
}

/* ---- saying ---- */

/* Put a block where a message of that role can have it. */
static int put_as(vls_planning *p, uint8_t role, vls_plan_block said)
{
    int rc = 0;

    if (role == VLS_SAYS_TOOL) {
        role = VLS_SAYS_USER;
        if (!vls_demands(p, RESULTS_IN_USER))
            rc = vls_planning_mend(p, VLS_R_BESIDE_RESULTS, said.at, said.block, VLS_STR(""));
    } else if (role == VLS_SAYS_SYSTEM && said.kind != VLS_SAID_TEXT) {
        role = VLS_SAYS_USER;
        rc = vls_planning_mend(p, VLS_R_MEDIA_PLACE, said.at, said.block, said.name);
    } else if (role == VLS_SAYS_SYSTEM && vls_demands(p, SYSTEM_AT_TOP)) {
        role = VLS_SAYS_USER;
        rc = vls_planning_mend(p, VLS_R_SYSTEM, said.at, said.block, VLS_STR(""));
        if (rc == 0)
            rc = concat(&said.text, p, VLS_STR(VLS_PLAN_NOTE), said.text);
    }
    return rc < 0 ? rc : vls_planning_put(p, role, said);
}

/* Whether it is blank where that must not be; opaque data that came with it keep it. */
static bool must_go(const vls_planning *p, const vls_plan_block *said)
{
    return vls_demands(p, NO_EMPTY) && said->meta.type == VLS_JSON_NULL && vls_is_blank(said->text);
}

static vls_plan_block made_text(const vls_planning *p, valise_str text, int32_t message,
                                int32_t block)
{
    return (vls_plan_block){.kind = VLS_SAID_TEXT,
                            .made = true,
                            .tail = p->tail,
                            .at = message,
                            .block = block,
                            .text = text};
}

/* A document as text: its name first, where it has one. */
static int document_text(vls_plan_block out[2], size_t *count, vls_planning *p, vls_json source,
                         int32_t message, int32_t block)
{
    valise_str name = vls_block_text(source, "filename"), words = {NULL, 0};
    int rc = 0;

    if (!vls_is_blank(name)) {
        rc = concat(&words, p, VLS_STR("File "), name);
        if (rc == 0)
            rc = concat(&words, p, words, VLS_STR(":"));
        out[(*count)++] = made_text(p, words, message, block);
    }
    out[*count] = made_text(p, vls_block_text(source, "text"), message, block);
    out[*count].made = false;
    out[(*count)++].source = source;
    return rc;
}

static int document_blocks(vls_plan_block out[2], size_t *count, vls_planning *p, vls_json source,
                           uint32_t place, int32_t message, int32_t block)
{
    bool has_text = vls_block_text(source, "text").ptr,
         has_blob = vls_block_text(source, "blob").ptr;
    vls_plan_block file = {.at = message};

    if (has_text && has_blob) {
        vls_media_block(&file, source);
        has_text = vls_media_rule(p->adapter, &file, place) != NULL;
    }
    if (has_text)
        return document_text(out, count, p, source, message, block);
    *count = 1;
    return vls_planning_media(&out[0], p, source, place, message, block);
}

/* What a text, image or document becomes, in a message or in a result: up to two blocks. */
static int said_blocks(vls_plan_block out[2], size_t *count, vls_planning *p, vls_json source,
                       uint32_t place, int32_t message, int32_t block)
{
    vls_block_kind kind = vls_block_kind_of(source);
    vls_json meta = vls_json_null();
    int rc = vls_planning_meta(&meta, p, source, message, block);
    size_t kept = 0;

    *count = 0;
    if (rc < 0)
        return rc;
    if (kind == VLS_BLOCK_TEXT) {
        out[0] = made_text(p, vls_block_text(source, "text"), message, block);
        out[0].made = false;
        out[0].source = source;
        *count = 1;
    } else if (kind == VLS_BLOCK_DOCUMENT) {
        rc = document_blocks(out, count, p, source, place, message, block);
    } else if (kind == VLS_BLOCK_IMAGE) {
        *count = 1;
        rc = vls_planning_media(&out[0], p, source, place, message, block);
    } else {
        rc = vls_planning_mend(p, VLS_R_TYPE, message, block, vls_block_type(source));
    }
    for (size_t i = 0; i < *count && rc == 0; i++) {
        if (out[i].source.type != VLS_JSON_NULL)
            out[i].meta = meta;
        if (out[i].kind == VLS_SAID_TEXT && must_go(p, &out[i]))
            rc = vls_planning_mend(p, VLS_R_BLANK, message, block, VLS_STR(""));
        else
            out[kept++] = out[i];
    }
    *count = kept;
    return rc;
}

static uint32_t place_of(const vls_planning *p, uint8_t role)
{
    if (role == VLS_SAYS_ASSISTANT)
        return VLS_MEDIA_ASSISTANT;
    return vls_planning_in_result(p) ? vls_planning_in_result(p) : VLS_MEDIA_USER;
}

static int say_plain(vls_planning *p, uint8_t role, vls_json source, int32_t message, int32_t block)
{
    vls_plan_block said[2];
    size_t count = 0;
    int rc = said_blocks(said, &count, p, source, place_of(p, role), message, block);

    for (size_t i = 0; i < count && rc == 0; i++)
        rc = put_as(p, role, said[i]);
    return rc;
}

bool vls_planning_sign(vls_plan_block *out, const vls_planning *p, vls_json source)
{
    valise_str sign = vls_block_text(source, "signature");
    bool redacted = is_set(source, "redacted"), here = is_signed_here(p, source);

    out->sign = here ? sign : (valise_str){NULL, 0};
    out->redacted = here && redacted;
    return here || (sign.len == 0 && !redacted);
}

static int say_thinking(vls_planning *p, uint8_t role, vls_json source, int32_t message,
                        int32_t block)
{
    vls_plan_block said = {.kind = VLS_SAID_THINKING,
                           .tail = p->tail,
                           .at = message,
                           .block = block,
                           .source = source,
                           .text = vls_block_text(source, "text")};
    bool ours = vls_planning_sign(&said, p, source), is_signed;
    int rc;

    if (role != VLS_SAYS_ASSISTANT)
        return vls_planning_mend(p, VLS_R_NOT_ITS_THINKING, message, block, VLS_STR(""));
    if (vls_demands(p, NO_THINKING))
        return vls_planning_mend(p, VLS_R_THINKING, message, block, VLS_STR(""));
    rc = vls_planning_meta(&said.meta, p, source, message, block);
    if (rc < 0)
        return rc;
    is_signed = said.redacted || said.sign.len > 0 || said.meta.type != VLS_JSON_NULL;
    if (!is_signed && (vls_demands(p, SIGNED) || is_set(source, "redacted")))
        return vls_planning_mend(p, VLS_R_UNSIGNED, message, block, VLS_STR(""));
    if (!is_signed && must_go(p, &said))
        return vls_planning_mend(p, VLS_R_BLANK, message, block, VLS_STR(""));
    if (!ours)
        rc = vls_planning_mend(p, VLS_R_VENDOR, message, block, VLS_STR("signature"));
    return rc < 0 ? rc : vls_planning_put(p, role, said);
}

/* A call that nobody can answer: in words. */
static int say_stray_call(vls_planning *p, vls_json source, int32_t message, int32_t block)
{
    const vls_json *args = vls_block_member(source, VLS_STR("args"));
    valise_str text = {NULL, 0};
    vls_buf words;
    int rc =
        vls_planning_mend(p, VLS_R_NOT_ITS_CALL, message, block, vls_block_text(source, "callId"));

    vls_buf_init_in(&words, p->arena, SIZE_MAX / 2);
    vls_buf_add_text(&words, "Call of ");
    vls_buf_add(&words, vls_block_text(source, "name"));
    vls_buf_add_text(&words, ": ");
    if (rc == 0 && args)
        rc = vls_json_write_around(&words, *args, p->err);
    if (rc == 0)
        rc = vls_buf_keep(&text, &words, p->err);
    return rc < 0 ? rc : vls_planning_put(p, VLS_SAYS_USER, made_text(p, text, message, block));
}

static int say_call(vls_planning *p, uint8_t role, vls_json source, int32_t message, int32_t block)
{
    const vls_json *args = vls_block_member(source, VLS_STR("args"));
    valise_str raw = vls_block_text(source, "rawArgs");
    vls_plan_block said = {.kind = VLS_SAID_CALL,
                           .tail = p->tail,
                           .at = message,
                           .block = block,
                           .source = source,
                           .args = args ? *args : vls_json_null()};
    int rc;

    if (role != VLS_SAYS_ASSISTANT)
        return say_stray_call(p, source, message, block);
    if (raw.ptr)
        said.args = vls_json_string(raw);
    rc = vls_planning_meta(&said.meta, p, source, message, block);
    if (rc == 0)
        rc = vls_planning_id(&said.id, p, vls_block_text(source, "callId"), message, block);
    if (rc == 0)
        rc = vls_planning_name(&said.name, p, vls_block_text(source, "name"), message, block);
    if (rc == 0)
        rc = vls_planning_put(p, role, said);
    return rc < 0 ? rc : vls_planning_call(p, &said, source);
}

/* A result whose call is not there, or has another one: in words. */
static int say_orphan(vls_planning *p, vls_json source, int32_t message, int32_t block)
{
    const vls_json *content = vls_block_member(source, VLS_STR("content"));
    valise_str words = is_set(source, "isError") ? VLS_STR(ORPHAN_ERROR) : VLS_STR(ORPHAN);
    vls_plan_block text = made_text(p, vls_block_text(source, "content"), message, block);
    int rc = vls_planning_mend(p, VLS_R_NO_CALL, message, block, vls_block_text(source, "callId"));

    if (rc == 0)
        rc = vls_planning_put(p, VLS_SAYS_USER, made_text(p, words, message, block));
    if (rc < 0 || !content)
        return rc;
    text.made = false;
    text.source = source;
    if (content->type == VLS_JSON_STRING)
        return must_go(p, &text) ? 0 : vls_planning_put(p, VLS_SAYS_USER, text);
    for (uint32_t i = 0; i < content->len && rc == 0; i++)
        rc = say_plain(p, VLS_SAYS_USER, content->items[i], message, block);
    return rc;
}

static int say_summary(vls_planning *p, vls_json source, int32_t message, int32_t block)
{
    vls_plan_block said = made_text(p, (valise_str){NULL, 0}, message, block);
    int rc = concat(&said.text, p, VLS_STR(VLS_PLAN_SUMMARY), vls_block_text(source, "text"));

    said.made = false;
    said.source = source;
    return rc < 0 ? rc : vls_planning_put(p, VLS_SAYS_USER, said);
}

static int say_transition(vls_planning *p, vls_json source, int32_t message, int32_t block)
{
    vls_plan_block said = made_text(p, (valise_str){NULL, 0}, message, block);
    uint8_t role = vls_demands(p, SYSTEM_AT_TOP) ? VLS_SAYS_USER : VLS_SAYS_SYSTEM;
    int rc = concat(&said.text, p, VLS_STR("From here on the assistant acts as "),
                    vls_block_text(source, "to"));

    if (rc == 0)
        rc = concat(&said.text, p, said.text, VLS_STR("."));
    said.made = false;
    said.source = source;
    if (rc == 0 && role == VLS_SAYS_USER)
        rc = vls_planning_mend(p, VLS_R_SYSTEM, message, block, VLS_STR(""));
    return rc < 0 ? rc : vls_planning_put(p, role, said);
}

int vls_planning_say(vls_planning *p, uint8_t role, int32_t message, int32_t block)
{
    vls_json source = vls_message_blocks(p->prompt->messages.items[message]).items[block];

    switch (vls_block_kind_of(source)) {
    case VLS_BLOCK_THINKING:
        return say_thinking(p, role, source, message, block);
    case VLS_BLOCK_CALL:
        return say_call(p, role, source, message, block);
    case VLS_BLOCK_RESULT:
        return say_orphan(p, source, message, block);
    case VLS_BLOCK_SUMMARY:
        return say_summary(p, source, message, block);
    case VLS_BLOCK_TRANSITION:
        return say_transition(p, source, message, block);
    default:
        return say_plain(p, role, source, message, block);
    }
}

/* ---- results ---- */

static int fill_result(vls_plan_block *result, vls_planning *p, vls_json content, int32_t message,
                       int32_t block)
{
    vls_vec(vls_plan_block) inner = VLS_VEC_INIT;
    int rc = 0;

    for (uint32_t i = 0; i < content.len && rc == 0; i++) {
        vls_plan_block said[2];
        size_t count = 0;
        rc =
            said_blocks(said, &count, p, content.items[i], vls_media_place(result), message, block);
        for (size_t j = 0; j < count && rc == 0; j++) {
            if (!vls_vec_push_in(&inner, p->arena, said[j]))
                rc = vls_arena_fail(p->arena, p->err);
        }
    }
    result->inner = inner.ptr;
    result->inner_count = inner.len;
    return rc;
}

int vls_planning_result(vls_plan_block *out, vls_planning *p, const vls_open_call *call)
{
    vls_plan_block result = {.kind = VLS_SAID_RESULT,
                             .tail = p->tail,
                             .at = call->by_message,
                             .block = call->by_block,
                             .id = call->id,
                             .name = call->name};
    const vls_json *content;
    int rc;

    if (call->by_message < 0) {
        result.made = result.is_error = true;
        result.text = VLS_STR(VLS_PLAN_INTERRUPTED);
        *out = result;
        return vls_planning_mend(p, VLS_R_NO_RESULT, call->message, call->block, call->id);
    }
    result.source =
        vls_message_blocks(p->prompt->messages.items[call->by_message]).items[call->by_block];
    result.is_error = is_set(result.source, "isError");
    rc = vls_planning_meta(&result.meta, p, result.source, result.at, result.block);
    content = vls_block_member(result.source, VLS_STR("content"));
    if (rc == 0 && content && content->type == VLS_JSON_ARRAY)
        rc = fill_result(&result, p, *content, result.at, result.block);
    else if (content)
        result.text = vls_block_text(result.source, "content");
    if (rc == 0)
        *out = result;
    return rc;
}
