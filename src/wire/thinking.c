/* thinking.c -- what models demand where they think: rules, and their repairs (thinking.h). */
#include "wire/thinking.h"

#include "wire/rules.h"
#include "wire/settle.h"

#include "json/make.h"

static vls_json thinking_of(vls_json params)
{
    return vls_member_of(vls_member_of(params, "extras"), "thinking");
}

static bool is_type(vls_json params, const char *type)
{
    return vls_str_equal(vls_text_of(thinking_of(params), "type"), valise_str_of(type));
}

bool vls_thinking_has_budget(vls_json params)
{
    return is_type(params, "enabled");
}

int64_t vls_thinking_budget(vls_json params)
{
    int64_t budget = vls_thinking_has_budget(params)
                         ? vls_count_of(thinking_of(params), "budget_tokens")
                         : VALISE_NONE;

    return budget == VALISE_NONE || budget > INT32_MAX ? 0 : budget;
}

bool vls_thinking_is_off(vls_json params)
{
    return !vls_thinking_has_budget(params) && !is_type(params, "adaptive");
}

bool vls_thinking_is_hot(vls_json params)
{
    vls_json heat = vls_member_of(params, "temperature");

    return heat.type != VLS_JSON_NULL &&
           !(vls_json_is_number(heat) && vls_json_to_double(heat) == 1);
}

bool vls_thinking_is_forced(vls_json params)
{
    vls_json choice = vls_member_of(params, "toolChoice");

    return choice.type == VLS_JSON_OBJECT ||
           (choice.type == VLS_JSON_STRING && vls_str_equal(vls_json_str(choice), VLS_STR("any")));
}

bool vls_thinking_is_cut(vls_json params)
{
    vls_json most = vls_member_of(params, "maxTokens");

    return most.type == VLS_JSON_INT && most.integer <= vls_thinking_budget(params);
}

bool vls_thinking_is_missing(const vls_plan *plan)
{
    for (size_t i = plan->messages.len; i > 0; i--) {
        const vls_plan_message *message = &plan->messages.ptr[i - 1];

        if (message->role != VLS_SAYS_ASSISTANT)
            continue;
        if (i == plan->messages.len ? plan->demands & VLS_DEMANDS_USER_LAST
                                    : plan->messages.ptr[i].blocks.ptr[0].kind != VLS_SAID_RESULT)
            return false;
        return message->blocks.ptr[0].kind != VLS_SAID_THINKING;
    }
    return false;
}

bool vls_thinking_is_misplaced(const vls_plan *plan, size_t message, size_t block)
{
    const vls_plan_message *said = &plan->messages.ptr[message];
    bool goes_on = message + 1 == plan->messages.len && !(plan->demands & VLS_DEMANDS_USER_LAST);

    if (said->role != VLS_SAYS_ASSISTANT || said->blocks.ptr[block].kind != VLS_SAID_THINKING)
        return false;
    return block + 1 == said->blocks.len || (goes_on && vls_thinking_is_off(plan->params));
}

/* ---- repairs ---- */

static int leave_out(vls_plan *plan, vls_plan_message *message, size_t at, const char *what,
                     valise_error *err)
{
    vls_plan_block block = message->blocks.ptr[at];

    message->blocks.len--;
    for (size_t i = at; i < message->blocks.len; i++)
        message->blocks.ptr[i] = message->blocks.ptr[i + 1];
    return vls_plan_mend(plan, VLS_R_THINKING_PLACE, what, block.at, block.block, VLS_STR(""), err);
}

/* What is left of a message that said nothing else. */
static vls_plan_block all_right(const vls_plan_block *first)
{
    return (vls_plan_block){.kind = VLS_SAID_TEXT,
                            .made = true,
                            .tail = first->tail,
                            .at = first->at,
                            .block = first->block,
                            .text = VLS_STR(VLS_PLAN_BRIDGE)};
}

/* What ends in thinking was cut there. A message that said nothing else says that it is all right;
 * if it is the last one, the model begins anew. */
static int cut_ends(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        vls_plan_block first = message->blocks.ptr[0];

        if (message->role != VLS_SAYS_ASSISTANT)
            continue;
        while (message->blocks.len > 0 && rc == 0 &&
               message->blocks.ptr[message->blocks.len - 1].kind == VLS_SAID_THINKING)
            rc = leave_out(plan, message, message->blocks.len - 1, NULL, err);
        if (message->blocks.len > 0)
            continue;
        if (i > 0 && i + 1 == plan->messages.len)
            plan->messages.len--;
        else
            message->blocks.ptr[message->blocks.len++] = all_right(&first);
    }
    return rc;
}

static int turn_off(vls_plan *plan, const char *what, valise_error *err)
{
    vls_json extras = vls_member_of(plan->params, "extras");
    int rc = vls_json_without(&extras, plan->arena, extras, "thinking", err);

    return rc < 0 ? rc : vls_plan_set_param(plan, "extras", extras, what, err);
}

static int settle_params(vls_plan *plan, valise_error *err)
{
    int64_t budget = vls_thinking_budget(plan->params);
    int rc = 0;

    if (vls_thinking_is_forced(plan->params))
        return turn_off(plan, "thinking was turned off: a tool must be called", err);
    if (vls_thinking_is_missing(plan))
        return turn_off(plan,
                        "thinking was turned off: the calls that wait for an answer, or the "
                        "answer that goes on, were made without",
                        err);
    if (vls_thinking_is_hot(plan->params))
        rc = vls_plan_drop_param(plan, "temperature", "a temperature beside thinking was left out",
                                 err);
    if (rc == 0 && vls_thinking_is_cut(plan->params))
        rc = vls_plan_set_param(
            plan, "maxTokens",
            vls_json_int(vls_member_of(plan->params, "maxTokens").integer + budget),
            "the tokens for thinking were added to those of the answer, which were fewer", err);
    return rc;
}

int vls_settle_thinking(vls_plan *plan, valise_error *err)
{
    vls_plan_message *last;
    int rc = cut_ends(plan, err);

    if (rc == 0 && vls_thinking_has_budget(plan->params))
        rc = settle_params(plan, err);
    last = &plan->messages.ptr[plan->messages.len - 1];
    for (size_t i = last->blocks.len; i > 0 && rc == 0; i--) {
        if (vls_thinking_is_misplaced(plan, plan->messages.len - 1, i - 1))
            rc = leave_out(plan, last, i - 1,
                           "thinking in the message that the model goes on with was left out: it "
                           "is not to think",
                           err);
    }
    return rc;
}

/* ---- Chat Completions ---- */

bool vls_thinking_is_lacking(const vls_plan *plan, const vls_plan_message *message)
{
    bool calls = false;

    if (!(plan->demands & VLS_DEMANDS_ECHO) || message->role != VLS_SAYS_ASSISTANT ||
        is_type(plan->params, "disabled"))
        return false;
    for (size_t i = 0; i < message->blocks.len; i++) {
        if (message->blocks.ptr[i].kind == VLS_SAID_THINKING)
            return false;
        calls = calls || message->blocks.ptr[i].kind == VLS_SAID_CALL;
    }
    return calls;
}

bool vls_thinking_is_all(const vls_plan_message *message)
{
    for (size_t i = 0; i < message->blocks.len; i++) {
        if (message->blocks.ptr[i].kind != VLS_SAID_THINKING)
            return false;
    }
    return true;
}

static int put_unknown(vls_plan *plan, vls_plan_message *message, valise_error *err)
{
    vls_plan_block block = {.kind = VLS_SAID_THINKING,
                            .made = true,
                            .at = message->blocks.ptr[0].at,
                            .block = -1,
                            .text = VLS_STR(VLS_PLAN_UNTHOUGHT)};

    if (!vls_vec_push_in(&message->blocks, plan->arena, block))
        return vls_arena_fail(plan->arena, err);
    return vls_plan_mend(plan, VLS_R_NO_THINKING, NULL, block.at, -1, VLS_STR(""), err);
}

int vls_settle_echo(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        vls_plan_block first = message->blocks.ptr[0];

        if (vls_thinking_is_lacking(plan, message)) {
            rc = put_unknown(plan, message, err);
        } else if (message->role == VLS_SAYS_ASSISTANT && vls_thinking_is_all(message)) {
            while (message->blocks.len > 0 && rc == 0)
                rc = leave_out(plan, message, message->blocks.len - 1, NULL, err);
            message->blocks.ptr[message->blocks.len++] = all_right(&first);
        }
    }
    return rc;
}
