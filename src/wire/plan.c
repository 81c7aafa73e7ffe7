/* plan.c -- make a plan: messages one after the other, calls with their results, and the ends.
 *
 * Start reading at vls_plan_make and add_message. plan_impl.h says what the other files do. */
#include "wire/plan.h"

#include "json/make.h"
#include "wire/settle.h"
#include "wire/plan_impl.h"

/* ---- repairs ---- */

int vls_plan_mend(vls_plan *plan, const char *rule, const char *what, int64_t message,
                  int64_t block, valise_str name, valise_error *err)
{
    const vls_wire_rule *known = vls_wire_rule_find(rule);
    vls_repair repair = {known ? known->number : rule, what, message, block, name};

    if (!what)
        repair.what = known ? known->mended : "";
    if (!vls_vec_push_in(&plan->repairs, plan->arena, repair))
        return vls_arena_fail(plan->arena, err);
    return 0;
}

int vls_planning_mend(vls_planning *p, const char *rule, int32_t message, int32_t block,
                      valise_str name)
{
    return vls_plan_mend(p->plan, rule, NULL, message, block, name, p->err);
}

/* ---- messages ---- */

static vls_plan_message *last_message(const vls_planning *p)
{
    return p->plan->messages.len > 0 ? &p->plan->messages.ptr[p->plan->messages.len - 1] : NULL;
}

static vls_plan_block *last_block(const vls_planning *p)
{
    vls_plan_message *last = last_message(p);

    return last ? &last->blocks.ptr[last->blocks.len - 1] : NULL;
}

static int push_block(vls_planning *p, vls_plan_message *message, const vls_plan_block *block)
{
    if (!vls_vec_push_in(&message->blocks, p->arena, *block))
        return vls_arena_fail(p->arena, p->err);
    p->said_by = block->at;
    p->has_text = p->has_text || block->kind == VLS_SAID_TEXT;
    p->has_document = p->has_document || block->kind == VLS_SAID_DOCUMENT;
    return 0;
}

/* R8.5. Looked at when a message of the neutral prompt is at its end, so that what comes later does
 * not matter. */
static int stand_beside(vls_planning *p)
{
    vls_plan_block text = {.kind = VLS_SAID_TEXT,
                           .made = true,
                           .tail = p->tail,
                           .at = p->said_by,
                           .block = -1,
                           .text = VLS_STR(VLS_PLAN_BESIDE)};
    int rc;

    if (!vls_demands(p, TEXT_BESIDE) || !p->has_document || p->has_text)
        return 0;
    rc = vls_planning_mend(p, VLS_R_ALONE, p->said_by, -1, VLS_STR(""));
    return rc < 0 ? rc : push_block(p, last_message(p), &text);
}

static int push_message(vls_planning *p, uint8_t role, const vls_plan_block *first)
{
    vls_plan_message message = {.role = role};
    int rc = stand_beside(p);

    if (rc < 0)
        return rc;
    p->has_text = p->has_document = false;
    /* Most messages have one block; the newest thing of an arena grows at no cost. */
    message.blocks.ptr = vls_arena_array(p->arena, 1, sizeof(*message.blocks.ptr));
    if (!message.blocks.ptr)
        return vls_arena_fail(p->arena, p->err);
    message.blocks.cap = 1;
    rc = push_block(p, &message, first);
    if (rc < 0)
        return rc;
    if (!vls_vec_reserve_in(&p->plan->messages, p->arena, p->plan->messages.len + 1))
        return vls_arena_fail(p->arena, p->err);
    assert(p->plan->messages.ptr);
    p->plan->messages.ptr[p->plan->messages.len++] = message;
    p->spoken = p->spoken || role != VLS_SAYS_SYSTEM;
    return 0;
}

/* A message that nobody said. */
static int make_message(vls_planning *p, uint8_t role, valise_str text, const char *rule,
                        int32_t before)
{
    vls_plan_block block = {
        .kind = VLS_SAID_TEXT, .made = true, .tail = p->tail, .at = -1, .block = -1, .text = text};
    int rc = vls_planning_mend(p, rule, before, -1, VLS_STR(""));

    return rc < 0 ? rc : push_message(p, role, &block);
}

/* What must stand before a message of this role. */
static int prepare(vls_planning *p, uint8_t role, int32_t message)
{
    const vls_plan_message *last = last_message(p);

    if (vls_demands(p, USER_FIRST) && !p->spoken && role == VLS_SAYS_ASSISTANT)
        return make_message(p, VLS_SAYS_USER, VLS_STR(VLS_PLAN_BEGIN), VLS_R_FIRST, message);
    if (vls_demands(p, BRIDGE) && role == VLS_SAYS_USER && last && last->role == VLS_SAYS_TOOL)
        return make_message(p, VLS_SAYS_ASSISTANT, VLS_STR(VLS_PLAN_BRIDGE), VLS_R_BRIDGE, message);
    return 0;
}

static int tell_merged(vls_planning *p, int32_t message)
{
    if (p->merged == message)
        return 0;
    p->merged = message;
    return vls_planning_mend(p, VLS_R_NEIGHBOURS, message, -1, VLS_STR(""));
}

uint32_t vls_planning_in_result(const vls_planning *p)
{
    const vls_plan_block *last = last_block(p);

    if (!p->tail || !vls_demands(p, BRIDGE) || p->calls.len > 0 || !last ||
        last->kind != VLS_SAID_RESULT)
        return 0;
    return vls_media_place(last);
}

/* ---- the tail in the last result ---- */

/* The mark moves to what stands before: the result is another one with the next build. */
static void move_mark(vls_planning *p)
{
    vls_plan_message *last = last_message(p);

    last->blocks.ptr[last->blocks.len - 1].cache = false;
    if (last->blocks.len > 1) {
        last->blocks.ptr[last->blocks.len - 2].cache = true;
    } else if (p->plan->messages.len > 1) {
        last--;
        last->blocks.ptr[last->blocks.len - 1].cache = true;
    }
}

static int put_in_result(vls_planning *p, const vls_plan_block *block)
{
    vls_plan_block *result = last_block(p);
    vls_plan_block text = {.kind = VLS_SAID_TEXT,
                           .at = result->at,
                           .block = result->block,
                           .made = result->made,
                           .text = result->text};
    bool room = true;
    int rc = 0;

    if (p->in_result.len == 0) {
        rc = vls_planning_mend(p, VLS_R_TAIL, block->at, block->block, VLS_STR(""));
        if (rc < 0)
            return rc;
        if (result->cache)
            move_mark(p);
        for (size_t i = 0; i < result->inner_count && room; i++)
            room = vls_vec_push_in(&p->in_result, p->arena, result->inner[i]);
        if (!vls_is_blank(result->text))
            room = room && vls_vec_push_in(&p->in_result, p->arena, text);
        else if (result->text.len > 0)
            rc = vls_planning_mend(p, VLS_R_BLANK, result->at, result->block, VLS_STR(""));
        result->text = (valise_str){NULL, 0};
    }
    if (!room || !vls_vec_push_in(&p->in_result, p->arena, *block))
        return vls_arena_fail(p->arena, p->err);
    result->inner = p->in_result.ptr;
    result->inner_count = p->in_result.len;
    return rc;
}

int vls_planning_put(vls_planning *p, uint8_t role, vls_plan_block block)
{
    uint32_t within = role == VLS_SAYS_USER ? vls_planning_in_result(p) : 0;
    vls_plan_message *last;
    int rc;

    if (within && (block.kind == VLS_SAID_TEXT || !vls_media_rule(p->adapter, &block, within)))
        return put_in_result(p, &block);
    rc = prepare(p, role, block.at);
    if (rc < 0)
        return rc;
    last = last_message(p);
    if (!last || last->role != role)
        return push_message(p, role, &block);
    if (p->said_by == block.at)
        return push_block(p, last, &block);
    if (!vls_demands(p, ALTERNATION) && !(p->joins && role == VLS_SAYS_ASSISTANT))
        return push_message(p, role, &block);
    rc = tell_merged(p, block.at);
    return rc < 0 ? rc : push_block(p, last, &block);
}

/* Media that was moved, as said by the user. */
static int put_moved(vls_planning *p)
{
    int rc = 0;

    for (size_t i = 0; i < p->moved.len && rc == 0; i++) {
        if (i > 0)
            p->said_by = p->moved.ptr[i].at; /* one message */
        rc = vls_planning_put(p, VLS_SAYS_USER, p->moved.ptr[i]);
    }
    p->moved.len = 0;
    return rc;
}

/* ---- groups [R1] ---- */

int vls_planning_call(vls_planning *p, const vls_plan_block *call, vls_json source)
{
    vls_open_call open = {.id = call->id,
                          .name = call->name,
                          .message = call->at,
                          .block = call->block,
                          .by_message = -1,
                          .by_block = -1,
                          .next = -1};

    if (!vls_vec_push_in(&p->calls, p->arena, open))
        return vls_arena_fail(p->arena, p->err);
    return vls_planning_wait(p, vls_block_text(source, "callId"), p->calls.len - 1);
}

static int put_results(vls_planning *p)
{
    uint8_t role = vls_demands(p, RESULTS_IN_USER) ? VLS_SAYS_USER : VLS_SAYS_TOOL;
    int rc = 0;

    p->in_result.ptr = NULL; /* what the tail went into was another one */
    p->in_result.len = p->in_result.cap = 0;
    for (size_t i = 0; i < p->calls.len && rc == 0; i++) {
        vls_plan_block result = {.kind = VLS_SAID_RESULT};
        rc = vls_planning_result(&result, p, &p->calls.ptr[i]);
        if (rc == 0 && i == 0)
            rc = push_message(p, role, &result);
        else if (rc == 0)
            rc = push_block(p, last_message(p), &result);
    }
    return rc;
}

/* All that can answer is there: results, then what was held back. */
static int close_group(vls_planning *p)
{
    int rc;

    if (p->calls.len == 0)
        return 0;
    rc = put_results(p);
    p->calls.len = p->answered = 0;
    p->group++;
    if (rc == 0)
        rc = put_moved(p);
    for (size_t i = 0; i < p->held.len && rc == 0; i++)
        rc = vls_planning_say(p, p->held.ptr[i].role, p->held.ptr[i].message, p->held.ptr[i].block);
    p->held.len = 0;
    return rc < 0 ? rc : put_moved(p);
}

/* A result of the open group is noted, all else held back. */
static int hold_block(vls_planning *p, uint8_t role, vls_json source, int32_t message,
                      int32_t block)
{
    vls_open_call *call;
    int64_t number = -1;
    int rc = 0;

    if (vls_block_kind_of(source) == VLS_BLOCK_RESULT)
        number = vls_planning_answer(p, vls_block_text(source, "callId"));
    if (number < 0) {
        if (!vls_vec_push_in(&p->held, p->arena, (vls_plan_held){role, message, block}))
            return vls_arena_fail(p->arena, p->err);
        return 0;
    }
    call = &p->calls.ptr[number];
    call->by_message = message;
    call->by_block = block;
    if (p->held.len > 0)
        rc = vls_planning_mend(p, VLS_R_APART, message, block, call->id);
    else if ((size_t)number != p->answered)
        rc = vls_planning_mend(p, VLS_R_RESULT_ORDER, message, block, call->id);
    p->answered++;
    return rc;
}

static bool has_calls(vls_json blocks)
{
    for (uint32_t i = 0; i < blocks.len; i++) {
        if (vls_block_kind_of(blocks.items[i]) == VLS_BLOCK_CALL)
            return true;
    }
    return false;
}

/* The assistant goes on. More calls right behind the first ones were made together with them. */
static int go_on(vls_planning *p, vls_json blocks)
{
    p->joins = p->calls.len > 0 && p->answered == 0 && p->held.len == 0 && has_calls(blocks);
    return p->joins ? 0 : close_group(p);
}

/* Whether the block is said by somebody else, whoever's message it stands in. */
static bool is_of_others(vls_json source)
{
    vls_block_kind kind = vls_block_kind_of(source);

    return kind == VLS_BLOCK_RESULT || kind == VLS_BLOCK_SUMMARY || kind == VLS_BLOCK_TRANSITION;
}

/* ---- one message ---- */

static int add_message(vls_planning *p, int32_t at)
{
    vls_json message = p->prompt->messages.items[at];
    vls_json blocks = vls_message_blocks(message);
    uint8_t role = vls_message_role(message);
    bool assistant = role == VLS_SAYS_ASSISTANT;
    int rc = 0;

    if (blocks.len == 0)
        return vls_planning_mend(p, VLS_R_EMPTY, at, -1, VLS_STR(""));
    if (assistant)
        rc = go_on(p, blocks);
    for (uint32_t i = 0; i < blocks.len && rc == 0; i++) {
        if (p->calls.len > 0 && (!assistant || is_of_others(blocks.items[i])))
            rc = hold_block(p, role, blocks.items[i], at, (int32_t)i);
        else
            rc = vls_planning_say(p, role, at, (int32_t)i);
    }
    p->joins = false;
    if (rc == 0 && p->answered == p->calls.len)
        rc = close_group(p);
    if (rc == 0 && p->calls.len == 0)
        rc = put_moved(p);
    return rc < 0 ? rc : stand_beside(p);
}

/* ---- sections [P14] ---- */

static void mark(vls_planning *p)
{
    vls_plan_message *last = last_message(p);

    for (size_t i = last ? last->blocks.len : 0; i > 0; i--) {
        if (last->blocks.ptr[i - 1].kind != VLS_SAID_THINKING) {
            last->blocks.ptr[i - 1].cache = true;
            return;
        }
    }
}

static int end_section(vls_planning *p)
{
    int rc = close_group(p);

    if (rc == 0)
        rc = stand_beside(p);
    if (!p->tail)
        mark(p);
    return rc;
}

static int add_messages(vls_planning *p)
{
    const vls_neutral *prompt = p->prompt;
    size_t tail = prompt->context + prompt->history;
    int rc = 0;

    if (!vls_vec_reserve_in(&p->plan->messages, p->arena, prompt->messages.len + 2))
        return vls_arena_fail(p->arena, p->err);
    for (uint32_t i = 0; i < prompt->messages.len && rc == 0; i++) {
        if (i > 0 && (i == prompt->context || i == tail))
            rc = end_section(p);
        p->tail = i >= tail;
        if (rc == 0)
            rc = add_message(p, (int32_t)i);
    }
    return rc < 0 ? rc : end_section(p);
}

/* ---- the ends ---- */

static int add_system(vls_planning *p)
{
    vls_json parts = p->prompt->system;
    int rc = 0;

    for (uint32_t i = 0; i < parts.len && rc == 0; i++) {
        vls_plan_block part = {.kind = VLS_SAID_TEXT,
                               .at = -1,
                               .block = (int32_t)i,
                               .source = parts.items[i],
                               .text = vls_block_text(parts.items[i], "text")};
        if (vls_demands(p, NO_EMPTY) && vls_is_blank(part.text))
            rc = vls_planning_mend(p, VLS_R_BLANK, -1, (int32_t)i, VLS_STR("system"));
        else if (!vls_vec_push_in(&p->plan->system, p->arena, part))
            rc = vls_arena_fail(p->arena, p->err);
    }
    return rc;
}

/* The last text of the assistant, which the model goes on with, must not end in white space. */
static int trim_last(vls_planning *p)
{
    vls_plan_block *block = last_block(p);
    valise_str trimmed = vls_trim_end(block->text);

    if (!vls_demands(p, NO_EMPTY) || block->kind != VLS_SAID_TEXT ||
        block->meta.type != VLS_JSON_NULL)
        return 0;
    if (trimmed.len == block->text.len || trimmed.len == 0)
        return 0;
    block->text = trimmed;
    return vls_planning_mend(p, VLS_R_LAST_SPACE, block->at, block->block, VLS_STR(""));
}

static int end_messages(vls_planning *p)
{
    const vls_plan_message *last = last_message(p);

    if (!last)
        return vls_fail(p->err, VALISE_E_INVALID,
                        p->prompt->messages.len == 0
                            ? "the prompt has no message"
                            : "none of the prompt's messages is left to send");
    if (vls_demands(p, USER_LAST) && last->role == VLS_SAYS_ASSISTANT)
        return make_message(p, VLS_SAYS_USER, VLS_STR(VLS_PLAN_CONTINUE), VLS_R_PREFILL, -1);
    if (vls_demands(p, USER_LAST) && last->role == VLS_SAYS_SYSTEM)
        return make_message(p, VLS_SAYS_USER, VLS_STR(VLS_PLAN_CONTINUE), VLS_R_LAST, -1);
    return last->role == VLS_SAYS_ASSISTANT ? trim_last(p) : 0;
}

/* ---- params and demands ---- */

static int take_params(vls_planning *p)
{
    const vls_adapter *adapter = p->adapter;
    vls_json heat = vls_member_of(p->prompt->params, "temperature");
    vls_json stop = vls_member_of(p->prompt->params, "stop");
    int rc = 0;

    p->plan->params = p->prompt->params;
    if (heat.type != VLS_JSON_NULL && vls_demands(p, NO_TEMPERATURE))
        rc = vls_plan_drop_param(p->plan, "temperature", NULL, p->err);
    else if (vls_is_too_hot(adapter, heat))
        rc = vls_plan_set_param(p->plan, "temperature", vls_json_real(adapter->max_heat),
                                "a temperature above the highest became that", p->err);
    if (rc < 0 || !vls_are_too_many(adapter, p->plan->demands, stop))
        return rc;
    if (vls_demands(p, NO_STOP))
        return vls_plan_drop_param(p->plan, "stop", NULL, p->err);
    return vls_plan_set_param(p->plan, "stop", vls_json_array(stop.items, adapter->max_stops),
                              "texts that end an answer were left out: too many", p->err);
}

/* ---- all of it ---- */

static int make(vls_planning *p)
{
    int rc = take_params(p);

    if (rc == 0)
        rc = add_system(p);
    if (rc == 0)
        rc = vls_planning_tools(p);
    if (rc == 0)
        rc = add_messages(p);
    if (rc == 0)
        rc = vls_planning_limit_media(p);
    if (rc == 0)
        rc = end_messages(p);
    if (rc == 0)
        rc = vls_planning_lacking(p);
    if (rc == 0 && p->adapter->settle)
        rc = p->adapter->settle(p->plan, p->err);
    return rc;
}

int vls_plan_make(vls_plan *out, vls_arena *arena, const vls_adapter *adapter,
                  const vls_neutral *prompt, valise_str model, valise_error *err)
{
    valise_str given = model.len > 0 ? model : vls_block_text(prompt->params, "model");
    vls_plan plan = {.adapter = adapter, .arena = arena, .model = vls_str_or_none(given)};
    vls_planning p = {.plan = &plan,
                      .adapter = adapter,
                      .prompt = prompt,
                      .arena = arena,
                      .err = err,
                      .vendor = valise_str_of(adapter->vendor),
                      .said_by = -1,
                      .merged = -1};
    int rc;

    plan.demands = vls_adapter_demands(adapter, given);
    vls_plan_names_init(&p.names, arena->env);
    rc = make(&p);
    vls_plan_names_release(&p.names);
    if (rc == 0)
        *out = plan;
    return rc;
}

void vls_plan_release(vls_plan *plan)
{
    *plan = (vls_plan){.arena = NULL}; /* all of it is the arena's */
}
