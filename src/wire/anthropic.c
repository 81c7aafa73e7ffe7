/* anthropic.c -- Anthropic Messages: the adapter, and its requests. [P5]
 *
 *     {"model","max_tokens","temperature"?,"stop_sequences"?,"tool_choice"?,...extras,"stream"?,
 *      "tools":[{"name","description"?,"input_schema"}],
 *      "system":[{"type":"text","text"}],
 *      "messages":[{"role":"user"|"assistant","content":[blocks]}]}
 *
 * Marks for the cache stand on the last tool, the last part of the system text, and where sections
 * of the conversation end: four, as many as it takes. System messages within the conversation
 * become text of the user: only some models take them in their place. File ids that are URLs go as
 * such.
 *
 * Where the model thinks it has rules of its own (thinking.h). The newest models take neither a
 * temperature nor an unfinished message of the assistant: older ones are listed. Opaque thinking
 * that came through Bedrock is not sent (bedrock.c). */
#include "wire/anthropic.h"

#include "wire/rules.h"
#include "wire/thinking.h"

/* Without it ids of files are not known; servers that only speak this form may refuse it. */
#define FILES "anthropic-beta: files-api-2025-04-14"
#define MAX_TOKENS 4096 /* where params say nothing; with a budget for thinking, that besides */

/* ---- settle ---- */

static bool is_foreign(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_THINKING && block->redacted &&
           vls_text_of(block->meta, "platform").len > 0;
}

/* An address in another place (S3) says nothing here. */
static bool is_ours(const vls_plan *plan, const vls_plan_block *block)
{
    (void)plan;
    return vls_is_url(block->file) || !vls_is_address(block->file);
}

static int settle(vls_plan *plan, valise_error *err)
{
    int rc = vls_plan_settle_blocks(plan, is_foreign, VLS_R_UNSIGNED, err);

    if (rc == 0)
        rc = vls_plan_settle_blocks(plan, vls_is_unsigned, VLS_R_UNSIGNED, err);
    if (rc == 0)
        rc = vls_plan_settle_files(plan, is_ours, err);
    if (rc == 0)
        rc = vls_plan_settle_args(plan, err);
    if (rc == 0)
        rc = vls_plan_settle_results(plan, VLS_STR(""), VLS_STR(VLS_EMPTY_RESULT), err);
    if (rc == 0)
        rc = vls_plan_settle_choice(plan, err);
    return rc < 0 ? rc : vls_settle_thinking(plan, err);
}

/* ---- write ---- */

static void write_mark(vls_wire *wire, bool marked)
{
    if (!marked)
        return;
    vls_wire_key(wire, "cache_control");
    vls_wire_open_type(wire, "ephemeral");
    vls_wire_close(wire, '}');
}

static void write_source(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_key(wire, "source");
    if (vls_is_url(block->file)) {
        vls_wire_open_type(wire, "url");
        vls_wire_pair(wire, "url", block->file);
    } else if (block->file.len > 0) {
        wire->head = FILES;
        vls_wire_open_type(wire, "file");
        vls_wire_pair(wire, "file_id", block->file);
    } else {
        vls_wire_open_type(wire, "base64");
        vls_wire_pair(wire, "media_type", block->media);
        vls_wire_key(wire, "data");
        vls_wire_blob(wire, VLS_STR(""), block);
    }
    vls_wire_close(wire, '}');
}

static int write_block(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                       bool marks, valise_error *err);

static int write_result(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                        valise_error *err)
{
    int rc = 0;

    vls_wire_open_type(wire, "tool_result");
    vls_wire_pair(wire, "tool_use_id", block->id);
    if (block->inner_count > 0 || block->text.len > 0) {
        vls_wire_key(wire, "content");
        vls_wire_open(wire, '[');
        if (block->inner_count == 0) {
            vls_wire_open_type(wire, "text");
            vls_wire_pair(wire, "text", block->text);
            vls_wire_close(wire, '}');
        }
        for (size_t i = 0; i < block->inner_count && rc == 0; i++)
            rc = write_block(wire, plan, &block->inner[i], false, err);
        vls_wire_close(wire, ']');
    }
    if (block->is_error) {
        vls_wire_key(wire, "is_error");
        vls_wire_bool(wire, true);
    }
    return rc;
}

static void write_thinking(vls_wire *wire, const vls_plan_block *block)
{
    if (block->redacted) {
        vls_wire_open_type(wire, "redacted_thinking");
        vls_wire_pair(wire, "data", block->text);
        return;
    }
    vls_wire_open_type(wire, "thinking");
    vls_wire_pair(wire, "thinking", block->text);
    vls_wire_pair(wire, "signature", block->sign);
}

static int write_block(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                       bool marks, valise_error *err)
{
    int rc = 0;

    switch ((vls_said_kind)block->kind) {
    case VLS_SAID_TEXT:
        vls_wire_open_type(wire, "text");
        vls_wire_pair(wire, "text", block->text);
        break;
    case VLS_SAID_THINKING:
        write_thinking(wire, block);
        break;
    case VLS_SAID_IMAGE:
        vls_wire_open_type(wire, "image");
        write_source(wire, block);
        break;
    case VLS_SAID_DOCUMENT:
        vls_wire_open_type(wire, "document");
        write_source(wire, block);
        if (block->name.len > 0)
            vls_wire_pair(wire, "title", block->name);
        break;
    case VLS_SAID_CALL:
        vls_wire_open_type(wire, "tool_use");
        vls_wire_pair(wire, "id", block->id);
        vls_wire_pair(wire, "name", block->name);
        vls_wire_key(wire, "input");
        rc = vls_part_args(wire, plan, block, err);
        break;
    case VLS_SAID_RESULT:
        rc = write_result(wire, plan, block, err);
        break;
    }
    write_mark(wire, marks && block->cache && block->kind != VLS_SAID_THINKING);
    vls_wire_close(wire, '}');
    return rc;
}

static void write_choice(vls_wire *wire, const vls_plan *plan, vls_json choice)
{
    vls_wire_key(wire, "tool_choice");
    if (choice.type == VLS_JSON_OBJECT) {
        vls_wire_open_type(wire, "tool");
        vls_wire_pair(wire, "name", vls_plan_name_out(plan, vls_text_of(choice, "name")));
    } else {
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "type", vls_json_str(choice));
    }
    vls_wire_close(wire, '}');
}

static int write_params(vls_wire *wire, const vls_plan *plan, const vls_wire_write *how,
                        valise_error *err)
{
    static const char *const ours[] = {"max_tokens",  "stop_sequences", "tool_choice",
                                       "temperature", "cache_control",  NULL};
    vls_json most = vls_member_of(plan->params, "maxTokens");
    vls_json choice = vls_member_of(plan->params, "toolChoice");
    int rc;

    vls_wire_pair(wire, "model", plan->model);
    vls_wire_key(wire, "max_tokens");
    vls_wire_int(wire, most.type == VLS_JSON_INT ? most.integer
                                                 : MAX_TOKENS + vls_thinking_budget(plan->params));
    vls_part_param(wire, plan, "temperature", "temperature");
    vls_part_param(wire, plan, "stop", "stop_sequences");
    if (choice.type != VLS_JSON_NULL)
        write_choice(wire, plan, choice);
    rc = vls_wire_extras(wire, vls_member_of(plan->params, "extras"), ours, err);
    if (how->stream) {
        vls_wire_key(wire, "stream");
        vls_wire_bool(wire, true);
    }
    return rc;
}

static int write_tools(vls_wire *wire, const vls_plan *plan, bool marks, valise_error *err)
{
    int rc = 0;

    if (plan->tools.len == 0)
        return 0;
    vls_wire_key(wire, "tools");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->tools.len && rc == 0; i++) {
        vls_json tool = plan->tools.ptr[i];
        vls_wire_open(wire, '{');
        rc = vls_schema_write_tool(wire, plan, tool, "input_schema", false, err);
        write_mark(wire, marks && i + 1 == plan->tools.len);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    return rc;
}

static void write_system(vls_wire *wire, const vls_plan *plan, bool marks)
{
    if (plan->system.len == 0)
        return;
    vls_wire_key(wire, "system");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->system.len; i++) {
        vls_wire_open_type(wire, "text");
        vls_wire_pair(wire, "text", plan->system.ptr[i].text);
        write_mark(wire, marks && i + 1 == plan->system.len);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
}

static int write_request(vls_wire *wire, const vls_plan *plan, const vls_wire_write *how,
                         valise_error *err)
{
    bool marks = !how->no_cache;
    int rc;

    if (plan->model.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "a request to Anthropic needs a model");
        vls_hint(err, "give one with --model or in params.model, or set one for the provider");
        return VALISE_E_INVALID;
    }
    vls_wire_open(wire, '{');
    rc = write_params(wire, plan, how, err);
    if (rc == 0)
        rc = write_tools(wire, plan, marks, err);
    if (rc < 0)
        return rc;
    write_system(wire, plan, marks);
    vls_wire_key(wire, "messages");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        vls_wire_open(wire, '{');
        vls_wire_key(wire, "role");
        vls_wire_text(wire, vls_says[message->role]);
        vls_wire_key(wire, "content");
        vls_wire_open(wire, '[');
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++)
            rc = write_block(wire, plan, &message->blocks.ptr[j], marks, err);
        vls_wire_close(wire, ']');
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
    return rc < 0 ? rc : vls_wire_check(wire, err);
}

/* ---- the table ---- */

static const char *const image_types[] = {"image/jpeg", "image/png", "image/gif", "image/webp",
                                          NULL};
static const char *const document_types[] = {"application/pdf", NULL};

#define OLD (VLS_DEMANDS_NO_TEMPERATURE | VLS_DEMANDS_USER_LAST)

static const vls_model_rule models[] = {
    {"claude-2*", 0, OLD},
    {"claude-3*", 0, OLD},
    {"claude-*-4-5*", 0, OLD},
    {"claude-*-4-0*", 0, OLD},
    {"claude-*-4-1*", 0, OLD},
    {"claude-*-4-2*", 0, OLD}, /* dates */
    {"claude-*-4-6*", 0, VLS_DEMANDS_NO_TEMPERATURE},
    {"claude-*", 0, 0},
    {"*", 0, VLS_DEMANDS_NO_TEMPERATURE}, /* other servers that speak this form */
    {NULL, 0, 0},
};

const vls_adapter vls_adapter_anthropic = {
    .name = "anthropic",
    .vendor = "anthropic",
    .brief = "Anthropic Messages.",
    .version = 1,
    .demands = VLS_DEMANDS_USER_FIRST | VLS_DEMANDS_USER_LAST | VLS_DEMANDS_BRIDGE |
               VLS_DEMANDS_RESULTS_IN_USER | VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_SYSTEM_AT_TOP |
               VLS_DEMANDS_OBJECT_ARGS | VLS_DEMANDS_SIGNED | VLS_DEMANDS_TOOLS |
               VLS_DEMANDS_NO_TEMPERATURE | VLS_DEMANDS_PLAIN_SCHEMA | VLS_DEMANDS_CLAUDE,
    .models = models,
    /* 5 MiB of an image as base64, 32 MB of a request. */
    .media = {.images = VLS_MEDIA_USER | VLS_MEDIA_RESULT,
              .documents = VLS_MEDIA_USER | VLS_MEDIA_RESULT,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = (int64_t)5 * 1024 * 1024 / 4 * 3,
              .max_document = (int64_t)24 * 1000 * 1000,
              .max_images = 100},
    .max_heat = 1,
    .http = {.base = "https://api.anthropic.com",
             .path = "/v1/messages",
             .key_env = "ANTHROPIC_API_KEY",
             .key_head = "x-api-key: ",
             .heads = {"anthropic-version: 2023-06-01", NULL}},
    .settle = settle,
    .write = write_request,
    .read = vls_anthropic_read,
    .look = vls_anthropic_look,
    .answer = vls_anthropic_answer,
    .event = vls_anthropic_event,
};
