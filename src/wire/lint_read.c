/* lint_read.c -- a prompt as it is, as messages of (role, blocks), for the rules of lint.c. */
#include "json/make.h"
#include "wire/lint.h"
#include "wire/plan_impl.h"

static int push(vls_planning *p, vls_plan_message *message, const vls_plan_block *block)
{
    return vls_vec_push_in(&message->blocks, p->arena, *block) ? 0
                                                               : vls_arena_fail(p->arena, p->err);
}

/* A text, image or document. *out has kind and what belongs to it. 0: its type is none of these. */
static int read_plain(vls_plan_block *out, vls_json source)
{
    valise_str type = vls_block_type(source);
    bool document = vls_str_equal(type, VLS_STR("document"));

    out->source = source;
    if (vls_str_equal(type, VLS_STR("text")) || vls_str_equal(type, VLS_STR("summary")) ||
        (document && vls_block_text(source, "text").ptr)) {
        out->kind = VLS_SAID_TEXT;
        out->text = vls_block_text(source, "text");
        return 1;
    }
    if (!document && !vls_str_equal(type, VLS_STR("image")))
        return 0;
    vls_media_block(out, source);
    return 1;
}

static int read_result(vls_plan_block *out, vls_planning *p, vls_json source)
{
    const vls_json *content = vls_block_member(source, VLS_STR("content"));
    vls_vec(vls_plan_block) inner = VLS_VEC_INIT;

    out->kind = VLS_SAID_RESULT;
    out->is_error = vls_truth_of(source, "isError");
    out->id = vls_block_text(source, "callId");
    out->text = vls_block_text(source, "content");
    for (uint32_t i = 0; content && content->type == VLS_JSON_ARRAY && i < content->len; i++) {
        vls_plan_block block = {.at = out->at, .block = out->block};
        if (read_plain(&block, content->items[i]) == 0) {
            int rc = vls_planning_mend(p, VLS_R_TYPE, out->at, out->block,
                                       vls_block_type(content->items[i]));
            if (rc < 0)
                return rc;
            continue;
        }
        if (!vls_vec_push_in(&inner, p->arena, block))
            return vls_arena_fail(p->arena, p->err);
    }
    out->inner = inner.ptr;
    out->inner_count = inner.len;
    return 1;
}

static int read_call(vls_plan_block *out, vls_json source)
{
    const vls_json *args = vls_block_member(source, VLS_STR("args"));
    valise_str raw = vls_block_text(source, "rawArgs");

    out->kind = VLS_SAID_CALL;
    out->id = vls_block_text(source, "callId");
    out->name = vls_block_text(source, "name");
    out->args = args ? *args : vls_json_null();
    if (raw.ptr)
        out->args = vls_json_string(raw);
    return 1;
}

enum { UNKNOWN, READ, SEEN /* and said what there is to say */ };

static int read_thinking(vls_plan_block *out, vls_planning *p, vls_json source)
{
    bool ours = vls_planning_sign(out, p, source);
    bool redacted = !ours && vls_block_text(source, "signature").len == 0;
    int rc = 0;

    out->kind = VLS_SAID_THINKING;
    out->text = vls_block_text(source, "text");
    if (!ours)
        rc = vls_planning_mend(p, redacted ? VLS_R_UNSIGNED : VLS_R_VENDOR, out->at, out->block,
                               VLS_STR("signature"));
    if (rc < 0)
        return rc;
    return redacted ? SEEN : READ;
}

static int read_block(vls_plan_block *out, vls_planning *p, vls_json source)
{
    valise_str type = vls_block_type(source);
    int rc = vls_planning_meta(&out->meta, p, source, out->at, out->block);

    out->source = source;
    if (rc < 0)
        return rc;
    if (vls_str_equal(type, VLS_STR("tool_use")))
        return read_call(out, source);
    if (vls_str_equal(type, VLS_STR("tool_result")))
        return read_result(out, p, source);
    if (vls_str_equal(type, VLS_STR("thinking")))
        return read_thinking(out, p, source);
    if (vls_str_equal(type, VLS_STR("role:transition"))) {
        out->kind = VLS_SAID_TEXT;
        out->text = vls_block_text(source, "to");
        return 1;
    }
    return read_plain(out, source);
}

/* Summaries and transitions are nobody's but the user's and the system's, wherever they stand. */
static uint8_t says_of(uint8_t role, vls_json source)
{
    valise_str type = vls_block_type(source);

    if (vls_str_equal(type, VLS_STR("summary")))
        return VLS_SAYS_USER;
    return vls_str_equal(type, VLS_STR("role:transition")) ? VLS_SAYS_SYSTEM : role;
}

static int push_message(vls_planning *p, const vls_plan_message *message)
{
    if (message->blocks.len > 0 && !vls_vec_push_in(&p->plan->messages, p->arena, *message))
        return vls_arena_fail(p->arena, p->err);
    return 0;
}

/* Put it into the message, or into a new one where another role says it. */
static int add_block(vls_planning *p, vls_plan_message *message, uint8_t role,
                     const vls_plan_block *block)
{
    int rc = 0;

    if (message->role != role) {
        rc = push_message(p, message);
        *message = (vls_plan_message){.role = role};
    }
    return rc < 0 ? rc : push(p, message, block);
}

static int read_message(vls_planning *p, int32_t at)
{
    vls_json source = p->prompt->messages.items[at];
    vls_json blocks = vls_message_blocks(source);
    uint8_t role = vls_message_role(source);
    vls_plan_message message = {.role = role};
    int rc = 0;

    if (role == VLS_SAYS_TOOL && vls_demands(p, RESULTS_IN_USER))
        message.role = role = VLS_SAYS_USER;
    for (uint32_t i = 0; i < blocks.len && rc >= 0; i++) {
        vls_plan_block block = {.at = at, .block = (int32_t)i};
        rc = read_block(&block, p, blocks.items[i]);
        if (rc == UNKNOWN)
            rc = vls_planning_mend(p, VLS_R_TYPE, at, (int32_t)i, vls_block_type(blocks.items[i]));
        else if (rc == READ)
            rc = add_block(p, &message, says_of(role, blocks.items[i]), &block);
    }
    if (rc >= 0 && blocks.len == 0)
        rc = vls_planning_mend(p, VLS_R_EMPTY, at, -1, VLS_STR(""));
    return rc < 0 ? rc : push_message(p, &message);
}

static int read_system(vls_planning *p)
{
    for (uint32_t i = 0; i < p->prompt->system.len; i++) {
        vls_plan_block part = {.at = -1, .block = (int32_t)i};
        (void)read_plain(&part, p->prompt->system.items[i]);
        if (!vls_vec_push_in(&p->plan->system, p->arena, part))
            return vls_arena_fail(p->arena, p->err);
    }
    return 0;
}

static int read_tools(vls_planning *p)
{
    for (uint32_t i = 0; i < p->prompt->tools.len; i++) {
        if (!vls_vec_push_in(&p->plan->tools, p->arena, p->prompt->tools.items[i]))
            return vls_arena_fail(p->arena, p->err);
    }
    return 0;
}

int vls_plan_as_is(vls_plan *out, vls_arena *arena, const vls_adapter *adapter,
                   const vls_neutral *prompt, valise_error *err)
{
    vls_plan plan = {.arena = arena,
                     .params = prompt->params,
                     .model = vls_str_or_none(vls_block_text(prompt->params, "model"))};
    vls_planning p = {.plan = &plan,
                      .adapter = adapter,
                      .prompt = prompt,
                      .arena = arena,
                      .err = err,
                      .vendor = valise_str_of(adapter->vendor)};
    int rc;

    plan.demands = vls_adapter_demands(adapter, plan.model);
    rc = read_system(&p);
    if (rc == 0)
        rc = read_tools(&p);
    for (uint32_t i = 0; i < prompt->messages.len && rc == 0; i++)
        rc = read_message(&p, (int32_t)i);
    if (rc == 0)
        *out = plan;
    return rc;
}
