/* settle.c -- the last repairs of a plan, for what adapters demand (settle.h). */
#include "json/make.h"
#include "wire/settle.h"

#include "wire/plan_impl.h"

#define WRAPPED "INVALID_JSON" /* as Anthropic proposes it for what a model wrote */

/* ---- params ---- */

int vls_plan_drop_param(vls_plan *plan, const char *name, const char *what, valise_error *err)
{
    int rc = vls_json_without(&plan->params, plan->arena, plan->params, name, err);

    return rc < 0 ? rc : vls_plan_mend(plan, VLS_R_PARAM, what, -1, -1, valise_str_of(name), err);
}

int vls_plan_set_param(vls_plan *plan, const char *name, vls_json value, const char *what,
                       valise_error *err)
{
    int rc = vls_json_with(&plan->params, plan->arena, plan->params, name, value, err);

    return rc < 0 ? rc : vls_plan_mend(plan, VLS_R_PARAM, what, -1, -1, valise_str_of(name), err);
}

static bool has_tool(const vls_plan *plan, valise_str name)
{
    for (size_t i = 0; i < plan->tools.len; i++) {
        if (vls_str_equal(vls_text_of(plan->tools.ptr[i], "name"), name))
            return true;
    }
    return false;
}

int vls_plan_settle_choice(vls_plan *plan, valise_error *err)
{
    vls_json choice = vls_member_of(plan->params, "toolChoice");
    bool one = choice.type == VLS_JSON_OBJECT;

    if (choice.type == VLS_JSON_NULL || (plan->tools.len > 0 && !plan->tools_made &&
                                         (!one || has_tool(plan, vls_text_of(choice, "name")))))
        return 0;
    return vls_plan_drop_param(plan, "toolChoice",
                               "a choice of a tool that is not given was left out", err);
}

bool vls_is_too_hot(const vls_adapter *adapter, vls_json heat)
{
    return adapter->max_heat > 0 && vls_json_is_number(heat) &&
           vls_json_to_double(heat) > adapter->max_heat;
}

bool vls_are_too_many(const vls_adapter *adapter, uint32_t demands, vls_json stop)
{
    return stop.type == VLS_JSON_ARRAY && stop.len > 0 &&
           (demands & VLS_DEMANDS_NO_STOP ||
            (adapter->max_stops > 0 && stop.len > adapter->max_stops));
}

/* ---- blocks ---- */

static int wrap_args(vls_plan *plan, vls_plan_block *call, valise_error *err)
{
    int rc = VLS_PAIRS(&call->args, plan->arena, err, {WRAPPED, call->args, false});

    return rc < 0 ? rc
                  : vls_plan_mend(plan, VLS_R_ARGS, NULL, call->at, call->block, call->id, err);
}

int vls_plan_settle_args(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            vls_plan_block *block = &message->blocks.ptr[j];
            if (block->kind == VLS_SAID_CALL && block->args.type != VLS_JSON_OBJECT)
                rc = wrap_args(plan, block, err);
        }
    }
    return rc;
}

int vls_plan_settle_results(vls_plan *plan, valise_str words, valise_str errors, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            vls_plan_block *block = &message->blocks.ptr[j];
            valise_str said = block->is_error ? errors : words;
            if (block->kind != VLS_SAID_RESULT || block->inner_count > 0 ||
                !vls_is_blank(block->text) || vls_str_equal(block->text, said))
                continue;
            block->text = said;
            rc = vls_plan_mend(plan, VLS_R_BLANK,
                               said.len > 0 ? "an empty result got words that say so"
                                            : "a blank result was sent as an empty one",
                               block->at, block->block, block->id, err);
        }
    }
    return rc;
}

int vls_plan_settle_errors(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++) {
            const vls_plan_block *block = &message->blocks.ptr[j];
            if (block->is_error && !block->made)
                rc =
                    vls_plan_mend(plan, VLS_R_ERROR, NULL, block->at, block->block, block->id, err);
        }
    }
    return rc;
}

static int settle_message(vls_plan *plan, vls_plan_message *message, vls_unwanted_fn *unwanted,
                          const char *rule, valise_error *err)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < message->blocks.len && rc == 0; i++) {
        vls_plan_block block = message->blocks.ptr[i];
        if (!unwanted(&block)) {
            message->blocks.ptr[kept++] = block;
            continue;
        }
        rc = vls_plan_mend(plan, rule, NULL, block.at, block.block, VLS_STR(""), err);
    }
    message->blocks.len = kept;
    return rc;
}

bool vls_is_unsigned(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_THINKING && !block->redacted && block->sign.len == 0;
}

int vls_plan_settle_blocks(vls_plan *plan, vls_unwanted_fn *unwanted, const char *rule,
                           valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        vls_plan_block first = message->blocks.ptr[0];
        rc = settle_message(plan, message, unwanted, rule, err);
        if (rc < 0 || message->blocks.len > 0)
            continue;
        /* Messages stay, or neighbours of one role would meet. */
        message->blocks.ptr[message->blocks.len++] =
            (vls_plan_block){.kind = VLS_SAID_TEXT,
                             .made = true,
                             .tail = first.tail,
                             .cache = first.cache,
                             .at = first.at,
                             .block = first.block,
                             .text = VLS_STR(VLS_PLAN_BRIDGE)};
    }
    return rc;
}

/* ---- files ---- */

bool vls_is_url(valise_str file)
{
    return vls_str_starts(file, VLS_STR("https://"));
}

bool vls_is_address(valise_str file)
{
    return vls_str_find(file, VLS_STR("://")) < file.len;
}

typedef struct filing {
    vls_plan *plan;
    vls_usable_fn *usable;
    valise_error *err;
} filing;

static int settle_file(const filing *f, vls_plan_block *block, uint32_t place)
{
    bool image = block->kind == VLS_SAID_IMAGE;
    valise_str name = block->name;
    const char *rule;

    if (block->file.len == 0 || f->usable(f->plan, block))
        return 0;
    block->file = (valise_str){NULL, 0};
    rule = vls_media_rule(f->plan->adapter, block, place);
    if (!rule)
        return 0;
    *block = (vls_plan_block){.kind = VLS_SAID_TEXT,
                              .made = true,
                              .cache = block->cache,
                              .tail = block->tail,
                              .at = block->at,
                              .block = block->block,
                              .text = image ? VLS_STR("[image: cannot be shown here]")
                                            : VLS_STR("[document: cannot be shown here]")};
    return vls_plan_mend(f->plan, rule, NULL, block->at, block->block, name, f->err);
}

/* Files in a result: a list of its own, as blocks of others are not written to. */
static int settle_inner(const filing *f, vls_plan_block *result)
{
    vls_plan_block *inner = vls_arena_array(f->plan->arena, result->inner_count, sizeof(*inner));
    int rc = 0;

    if (!inner)
        return vls_arena_fail(f->plan->arena, f->err);
    for (size_t i = 0; i < result->inner_count && rc == 0; i++) {
        inner[i] = result->inner[i];
        if (inner[i].kind == VLS_SAID_IMAGE || inner[i].kind == VLS_SAID_DOCUMENT)
            rc = settle_file(f, &inner[i], vls_media_place(result));
    }
    result->inner = inner;
    return rc;
}

static int settle_block_files(const filing *f, vls_plan_block *block, uint32_t place)
{
    if (block->kind == VLS_SAID_IMAGE || block->kind == VLS_SAID_DOCUMENT)
        return settle_file(f, block, place);
    return block->inner_count > 0 ? settle_inner(f, block) : 0;
}

int vls_plan_settle_files(vls_plan *plan, vls_usable_fn *usable, valise_error *err)
{
    filing f = {plan, usable, err};
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        uint32_t place = message->role == VLS_SAYS_ASSISTANT ? VLS_MEDIA_ASSISTANT : VLS_MEDIA_USER;
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++)
            rc = settle_block_files(&f, &message->blocks.ptr[j], place);
    }
    return rc;
}
