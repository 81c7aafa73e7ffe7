/* responses.c -- OpenAI Responses: write a request. [P5]
 *
 * A message of the plan becomes items. The reasoning of a model is refused without the item that
 * followed it, and that item (if it has its id) without the reasoning: `settle` keeps both or
 * neither. */
#include "wire/responses.h"

#include "wire/plan_impl.h"

#define MIB ((int64_t)1 << 20)

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};
static const char *const document_types[] = {"application/pdf", NULL};

/* Old names are those of models that do not think: they take no encrypted reasoning. */
static const vls_model_rule models[] = {
    {"gpt-3.5*", VLS_DEMANDS_OLD_NAMES, 0},
    {"gpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"chatgpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"ft:gpt-3.5*", VLS_DEMANDS_OLD_NAMES, 0},
    {"ft:gpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"gpt-5-chat*", VLS_DEMANDS_OLD_NAMES, 0},
    {"gpt-5*", VLS_DEMANDS_NO_TEMPERATURE, 0},
    {"o1*", VLS_DEMANDS_NO_TEMPERATURE, 0},
    {"o3*", VLS_DEMANDS_NO_TEMPERATURE, 0},
    {"o4*", VLS_DEMANDS_NO_TEMPERATURE, 0},
    {NULL, 0, 0},
};

static bool thinks(const vls_plan *plan)
{
    return !(plan->demands & VLS_DEMANDS_OLD_NAMES);
}

/* ---- settle ---- */

/* The number of its item in the answer; -1: it was none, or has no id. */
static int64_t index_of(const vls_plan_block *block)
{
    vls_json index = vls_member_of(block->meta, "index");

    return index.type == VLS_JSON_INT && vls_text_of(block->meta, "item_id").len > 0 ? index.integer
                                                                                     : -1;
}

/* Whether block i is reasoning that can go back: encrypted, and its item right behind it. */
static bool is_whole(const vls_plan *plan, const vls_plan_message *message, size_t i)
{
    const vls_plan_block *block = &message->blocks.ptr[i], *next = block + 1;

    return thinks(plan) && index_of(block) >= 0 &&
           vls_text_of(block->meta, "encrypted_content").len > 0 && i + 1 < message->blocks.len &&
           next->at == block->at && next->kind != VLS_SAID_THINKING &&
           index_of(next) == index_of(block) + 1;
}

/* Without the ids of its item, and what stands in them. */
static int drop_ids(vls_plan *plan, vls_plan_block *block, valise_error *err)
{
    int rc = vls_plan_mend(plan, VLS_R_LINK, NULL, block->at, block->block,
                           vls_text_of(block->meta, "item_id"), err);

    return rc < 0 ? rc : vls_json_without(&block->meta, plan->arena, block->meta, "item_id", err);
}

static int settle_message(vls_plan *plan, vls_plan_message *message, valise_error *err)
{
    int64_t expected = 0;
    bool linked = true; /* nothing is missing that stood before, or reasoning has begun anew */
    size_t kept = 0;
    int32_t at = -1;
    int rc = 0;

    for (size_t i = 0; i < message->blocks.len && rc == 0; i++) {
        vls_plan_block *block = &message->blocks.ptr[i];
        int64_t index = index_of(block);
        if (block->at != at) { /* another answer */
            at = block->at;
            expected = 0;
            linked = true;
        }
        linked = linked && (index < 0 || index == expected || index + 1 == expected);
        expected = index < 0 ? expected : index + 1;
        if (block->kind == VLS_SAID_THINKING && !is_whole(plan, message, i)) {
            linked = false;
            rc = vls_plan_mend(plan, VLS_R_LINK, NULL, block->at, block->block,
                               vls_text_of(block->meta, "item_id"), err);
            continue;
        }
        linked = linked || block->kind == VLS_SAID_THINKING;
        if (index >= 0 && !linked)
            rc = drop_ids(plan, block, err);
        message->blocks.ptr[kept++] = *block;
    }
    message->blocks.len = rc < 0 ? message->blocks.len : kept;
    return rc;
}

/* A message of nothing but reasoning is gone. */
static int settle_messages(vls_plan *plan, valise_error *err)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        if (message->role == VLS_SAYS_ASSISTANT)
            rc = settle_message(plan, message, err);
        if (rc == 0 && message->blocks.len > 0)
            plan->messages.ptr[kept++] = *message;
    }
    if (rc == 0)
        plan->messages.len = kept;
    return rc;
}

static bool is_ours(const vls_plan *plan, const vls_plan_block *block)
{
    (void)plan;
    return vls_is_url(block->file) || !vls_is_address(block->file);
}

static int settle(vls_plan *plan, valise_error *err)
{
    int rc = vls_plan_settle_choice(plan, err);

    if (rc == 0)
        rc = vls_plan_settle_files(plan, is_ours, err);
    if (rc == 0)
        rc = vls_plan_settle_errors(plan, err);
    if (rc == 0)
        rc = settle_messages(plan, err);
    if (rc == 0 && plan->messages.len == 0)
        rc = vls_fail(err, VALISE_E_INVALID, "none of the prompt's messages is left to send");
    return rc;
}

/* ---- parts ---- */

static void write_text_part(vls_wire *wire, valise_str before, valise_str text)
{
    vls_wire_open_type(wire, "input_text");
    vls_wire_pair(wire, "text", before);
    vls_wire_more(wire, text);
    vls_wire_close(wire, '}');
}

static void write_image(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open_type(wire, "input_image");
    vls_wire_pair(wire, "detail", VLS_STR("auto"));
    if (block->file.len > 0) {
        vls_wire_pair(wire, vls_is_url(block->file) ? "image_url" : "file_id", block->file);
    } else {
        vls_wire_key(wire, "image_url");
        vls_part_data_url(wire, block);
    }
    vls_wire_close(wire, '}');
}

static void write_file(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open_type(wire, "input_file");
    if (block->file.len > 0) {
        vls_wire_pair(wire, vls_is_url(block->file) ? "file_url" : "file_id", block->file);
    } else {
        vls_part_file(wire, block);
    }
    vls_wire_close(wire, '}');
}

static void write_part(vls_wire *wire, valise_str before, const vls_plan_block *block)
{
    if (block->kind == VLS_SAID_TEXT)
        write_text_part(wire, before, block->text);
    else if (block->kind == VLS_SAID_IMAGE)
        write_image(wire, block);
    else if (block->kind == VLS_SAID_DOCUMENT)
        write_file(wire, block);
}

/* ---- items ---- */

static void write_said(vls_wire *wire, const char *role, const vls_plan_message *message)
{
    vls_wire_open_type(wire, "message");
    vls_wire_key(wire, "role");
    vls_wire_text(wire, role);
    vls_wire_key(wire, "content");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < message->blocks.len; i++)
        write_part(wire, VLS_STR(""), &message->blocks.ptr[i]);
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
}

/* The error flag is a word: there is no other form for it. */
static void write_result(vls_wire *wire, const vls_plan_block *result)
{
    valise_str before = result->is_error ? VLS_STR(VLS_PART_ERROR) : VLS_STR("");

    vls_wire_open_type(wire, "function_call_output");
    vls_wire_pair(wire, "call_id", result->id);
    vls_wire_key(wire, "output");
    if (result->inner_count == 0 && vls_is_blank(result->text)) { /* no part may be blank */
        vls_wire_str(wire, before);
        vls_wire_more(wire, result->text);
        vls_wire_close(wire, '}');
        return;
    }
    vls_wire_open(wire, '[');
    if (result->inner_count == 0)
        write_text_part(wire, before, result->text);
    else if (result->is_error && result->inner[0].kind != VLS_SAID_TEXT)
        write_text_part(wire, VLS_STR(""), VLS_STR("Error:"));
    for (size_t i = 0; i < result->inner_count; i++)
        write_part(wire, i == 0 ? before : VLS_STR(""), &result->inner[i]);
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
}

static void write_call(vls_wire *wire, const vls_plan_block *call)
{
    valise_str id = vls_text_of(call->meta, "item_id");

    vls_wire_open_type(wire, "function_call");
    if (id.len > 0)
        vls_wire_pair(wire, "id", id);
    vls_wire_pair(wire, "call_id", call->id);
    vls_wire_pair(wire, "name", call->name);
    vls_wire_key(wire, "arguments");
    vls_part_args_text(wire, call);
    vls_wire_close(wire, '}');
}

/* A member of meta as it came, where it is there. */
static bool write_meta(vls_wire *wire, const vls_plan_block *block, const char *key)
{
    vls_json value = vls_member_of(block->meta, key);

    if (value.type == VLS_JSON_NULL)
        return false;
    vls_wire_key(wire, key);
    vls_wire_json(wire, value);
    return true;
}

static void write_reasoning(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open_type(wire, "reasoning");
    vls_wire_pair(wire, "id", vls_text_of(block->meta, "item_id"));
    if (!write_meta(wire, block, "summary")) {
        vls_wire_key(wire, "summary");
        vls_wire_open(wire, '[');
        if (block->text.len > 0) {
            vls_wire_open_type(wire, "summary_text");
            vls_wire_pair(wire, "text", block->text);
            vls_wire_close(wire, '}');
        }
        vls_wire_close(wire, ']');
    }
    (void)write_meta(wire, block, "content");
    (void)write_meta(wire, block, "encrypted_content");
    vls_wire_close(wire, '}');
}

/* What an item of an answer was made of. */
static void write_output_part(vls_wire *wire, const vls_plan_block *block)
{
    bool refuses = vls_truth_of(block->meta, "refusal");

    vls_wire_open_type(wire, refuses ? "refusal" : "output_text");
    vls_wire_pair(wire, refuses ? "refusal" : "text", block->text);
    if (!refuses && !write_meta(wire, block, "annotations")) {
        vls_wire_key(wire, "annotations");
        vls_wire_open(wire, '[');
        vls_wire_close(wire, ']');
    }
    vls_wire_close(wire, '}');
}

/* Texts that are one item are written as one; returns how many. Without an id it is a message of
 * its own, and a string. */
static size_t write_output(vls_wire *wire, const vls_plan_block *blocks, size_t count)
{
    valise_str id = vls_text_of(blocks[0].meta, "item_id");
    size_t used = 1;

    vls_wire_open_type(wire, "message");
    if (id.len > 0)
        vls_wire_pair(wire, "id", id);
    vls_wire_pair(wire, "role", VLS_STR("assistant"));
    (void)write_meta(wire, &blocks[0], "phase");
    if (id.len == 0) {
        vls_wire_pair(wire, "content", blocks[0].text);
        vls_wire_close(wire, '}');
        return 1;
    }
    if (!write_meta(wire, &blocks[0], "status"))
        vls_wire_pair(wire, "status", VLS_STR("completed"));
    vls_wire_key(wire, "content");
    vls_wire_open(wire, '[');
    write_output_part(wire, &blocks[0]);
    while (used < count && blocks[used].kind == VLS_SAID_TEXT &&
           vls_str_equal(vls_text_of(blocks[used].meta, "item_id"), id))
        write_output_part(wire, &blocks[used++]);
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
    return used;
}

static void write_assistant(vls_wire *wire, const vls_plan_message *message)
{
    for (size_t i = 0; i < message->blocks.len;) {
        const vls_plan_block *block = &message->blocks.ptr[i];
        size_t used = 1;
        if (block->kind == VLS_SAID_THINKING)
            write_reasoning(wire, block);
        else if (block->kind == VLS_SAID_CALL)
            write_call(wire, block);
        else if (block->kind == VLS_SAID_TEXT)
            used = write_output(wire, block, message->blocks.len - i);
        i += used;
    }
}

static void write_message(vls_wire *wire, const vls_plan *plan, const vls_plan_message *message)
{
    switch (message->role) {
    case VLS_SAYS_ASSISTANT:
        write_assistant(wire, message);
        break;
    case VLS_SAYS_TOOL:
        for (size_t i = 0; i < message->blocks.len; i++)
            write_result(wire, &message->blocks.ptr[i]);
        break;
    case VLS_SAYS_SYSTEM:
        write_said(wire, thinks(plan) ? "developer" : "system", message);
        break;
    default:
        write_said(wire, "user", message);
        break;
    }
}

/* ---- what stands before ---- */

/* Nobody wrote these schemas for OpenAI's strict mode, which is the rule where nothing is said. */
static int write_tools(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    int rc = 0;

    if (plan->tools.len == 0)
        return 0;
    vls_wire_key(wire, "tools");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->tools.len && rc == 0; i++) {
        vls_json tool = plan->tools.ptr[i];
        vls_wire_open_type(wire, "function");
        rc = vls_schema_write_tool(wire, plan, tool, "parameters", true, err);
        vls_wire_key(wire, "strict");
        vls_wire_bool(wire, false);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    return rc;
}

static void write_choice(vls_wire *wire, const vls_plan *plan)
{
    vls_json choice = vls_member_of(plan->params, "toolChoice");

    if (choice.type == VLS_JSON_NULL)
        return;
    vls_wire_key(wire, "tool_choice");
    if (choice.type == VLS_JSON_OBJECT) {
        vls_wire_open_type(wire, "function");
        vls_wire_pair(wire, "name", vls_plan_name_out(plan, vls_text_of(choice, "name")));
        vls_wire_close(wire, '}');
    } else if (vls_str_equal(vls_json_str(choice), VLS_STR("any"))) {
        vls_wire_text(wire, "required");
    } else {
        vls_wire_str(wire, vls_json_str(choice));
    }
}

static void write_instructions(vls_wire *wire, const vls_plan *plan)
{
    for (size_t i = 0; i < plan->system.len; i++) {
        if (i == 0) {
            vls_wire_pair(wire, "instructions", plan->system.ptr[i].text);
        } else {
            vls_wire_more(wire, VLS_STR(VLS_PLAN_JOIN));
            vls_wire_more(wire, plan->system.ptr[i].text);
        }
    }
}

static void write_flags(vls_wire *wire, const vls_plan *plan, const vls_wire_write *how)
{
    if (how->stream) {
        vls_wire_key(wire, "stream");
        vls_wire_bool(wire, true);
    }
    vls_wire_key(wire, "store");
    vls_wire_bool(wire, false);
    if (!thinks(plan))
        return;
    vls_wire_key(wire, "include");
    vls_wire_open(wire, '[');
    vls_wire_text(wire, "reasoning.encrypted_content");
    vls_wire_close(wire, ']');
}

static int write_request(vls_wire *out, const vls_plan *plan, const vls_wire_write *how,
                         valise_error *err)
{
    static const char *const ours[] = {"store",
                                       "include",
                                       "temperature",
                                       "tool_choice",
                                       "max_output_tokens",
                                       "previous_response_id",
                                       "conversation",
                                       NULL};
    int rc;

    vls_wire_open(out, '{');
    rc = vls_part_model(out, plan, err);
    if (rc < 0)
        return rc;
    write_flags(out, plan, how);
    vls_part_param(out, plan, "temperature", "temperature");
    vls_part_param(out, plan, "maxTokens", "max_output_tokens");
    rc = vls_wire_extras(out, vls_member_of(plan->params, "extras"), ours, err);
    if (rc == 0)
        rc = write_tools(out, plan, err);
    if (rc < 0)
        return rc;
    write_choice(out, plan);
    write_instructions(out, plan);
    vls_wire_key(out, "input");
    vls_wire_open(out, '[');
    for (size_t i = 0; i < plan->messages.len; i++)
        write_message(out, plan, &plan->messages.ptr[i]);
    vls_wire_close(out, ']');
    vls_wire_close(out, '}');
    return vls_wire_check(out, err);
}

const vls_adapter vls_adapter_responses = {
    .name = "openai-responses",
    .vendor = "openai",
    .brief = "OpenAI Responses.",
    .version = 1,
    .demands =
        VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_SIGNED | VLS_DEMANDS_PLAIN_SCHEMA | VLS_DEMANDS_NO_STOP,
    .models = models,
    .media = {.images = VLS_MEDIA_USER | VLS_MEDIA_RESULT | VLS_MEDIA_ERROR,
              .documents = VLS_MEDIA_USER | VLS_MEDIA_RESULT | VLS_MEDIA_ERROR,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = 50 * MIB,
              .max_document = 50 * MIB,
              .max_images = 500},
    .max_heat = 2,
    .http = {.base = "https://api.openai.com",
             .path = "/v1/responses",
             .key_env = "OPENAI_API_KEY",
             .key_head = "Authorization: Bearer "},
    .settle = settle,
    .write = write_request,
    .read = vls_responses_read,
    .look = vls_responses_look,
    .answer = vls_responses_answer,
    .event = vls_responses_event,
};
