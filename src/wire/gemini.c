/* gemini.c -- Gemini generateContent: the adapter, and its requests. [P5]
 *
 *     {"systemInstruction":{"parts":[{"text"}]},
 *      "tools":[{"functionDeclarations":[{"name","description"?,"parametersJsonSchema"}]}],
 *      "toolConfig"?,"generationConfig"?,...extras,
 *      "contents":[{"role":"user"|"model","parts":[...]}]}
 *
 * The model stands in the URL. Extras go beside these members; their generationConfig is put
 * together with ours.
 *
 * A signature goes back on the part that it came with (meta.google.thoughtSignature), also on an
 * empty text; parts that have one are never put together with others. From Gemini 3 on the first
 * call of a message must have one: calls of others get the word by which Google lets them pass.
 * Thoughts without a signature are not sent. Results are {"output":...} or {"error":...}; files in
 * them stand behind all of them, since only some models take them within. */
#include "wire/gemini.h"

#include "wire/rules.h"

#define SKIP "skip_thought_signature_validator"
#define FILES "https://generativelanguage.googleapis.com/v1beta/"

/* ---- settle ---- */

static valise_str signature_of(const vls_plan_block *block)
{
    valise_str sign = vls_text_of(block->meta, "thoughtSignature");

    return sign.len > 0 ? sign : block->sign;
}

static bool is_unsigned(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_THINKING && (block->redacted || signature_of(block).len == 0);
}

/* Text that was kept for the sake of opaque data, and has nothing that goes back. */
static bool is_empty(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_TEXT && block->text.len == 0 && signature_of(block).len == 0;
}

/* Files are addresses, also in Google's own store; those of others say nothing here. */
static bool is_ours(const vls_plan *plan, const vls_plan_block *block)
{
    (void)plan;
    return vls_is_url(block->file) || vls_str_starts(block->file, VLS_STR("gs://")) ||
           !vls_is_address(block->file);
}

/* Beside what else came with it. */
static int sign_call(vls_plan *plan, vls_plan_block *call, valise_error *err)
{
    int rc = vls_json_with(&call->meta, plan->arena, call->meta, "thoughtSignature",
                           vls_json_string(VLS_STR(SKIP)), err);

    return rc < 0
               ? rc
               : vls_plan_mend(plan, VLS_R_CALL_SIGN, NULL, call->at, call->block, call->id, err);
}

static int sign_calls(vls_plan *plan, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        vls_plan_message *message = &plan->messages.ptr[i];
        size_t at = 0;
        while (at < message->blocks.len && message->blocks.ptr[at].kind != VLS_SAID_CALL)
            at++;
        if (at < message->blocks.len && signature_of(&message->blocks.ptr[at]).len == 0)
            rc = sign_call(plan, &message->blocks.ptr[at], err);
    }
    return rc;
}

static int settle(vls_plan *plan, valise_error *err)
{
    int rc = vls_plan_settle_blocks(plan, is_unsigned, VLS_R_UNSIGNED, err);

    if (rc == 0)
        rc = vls_plan_settle_blocks(plan, is_empty, VLS_R_BLANK, err);
    if (rc == 0)
        rc = vls_plan_settle_files(plan, is_ours, err);
    if (rc == 0)
        rc = vls_plan_settle_args(plan, err);
    if (rc == 0 && plan->demands & VLS_DEMANDS_SIGNED_CALLS)
        rc = sign_calls(plan, err);
    if (rc == 0)
        rc = vls_plan_settle_choice(plan, err);
    return rc;
}

/* ---- write ---- */

static int write_file(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                      valise_error *err)
{
    valise_str file = block->file;

    if (file.len == 0) {
        vls_wire_key(wire, "inlineData");
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "mimeType", block->media);
        vls_wire_key(wire, "data");
        vls_wire_blob(wire, VLS_STR(""), block);
        vls_wire_close(wire, '}');
        return 0;
    }
    if (vls_str_starts(file, VLS_STR("files/"))) {
        vls_buf uri;
        int rc;
        vls_buf_init_in(&uri, plan->arena, sizeof(FILES) + file.len);
        vls_buf_add_text(&uri, FILES);
        vls_buf_add(&uri, file);
        rc = vls_buf_keep(&file, &uri, err);
        if (rc < 0)
            return rc;
    }
    vls_wire_key(wire, "fileData");
    vls_wire_open(wire, '{');
    if (block->media.len > 0)
        vls_wire_pair(wire, "mimeType", block->media);
    vls_wire_pair(wire, "fileUri", file);
    vls_wire_close(wire, '}');
    return 0;
}

/* All texts of a result as one. */
static int result_text(valise_str *out, const vls_plan *plan, const vls_plan_block *block,
                       valise_error *err)
{
    vls_buf text;

    if (block->inner_count <= 1) {
        *out = block->inner_count == 1 ? block->inner[0].text : block->text;
        return 0;
    }
    vls_buf_init_in(&text, plan->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < block->inner_count; i++) {
        if (i > 0)
            vls_buf_add_text(&text, VLS_PLAN_JOIN);
        vls_buf_add(&text, block->inner[i].text);
    }
    return vls_buf_keep(out, &text, err);
}

static int write_result(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                        valise_error *err)
{
    valise_str text = {NULL, 0};
    int rc = result_text(&text, plan, block, err);

    vls_wire_key(wire, "functionResponse");
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "id", block->id);
    vls_wire_pair(wire, "name", block->name);
    vls_wire_key(wire, "response");
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, block->is_error ? "error" : "output", text);
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
    return rc;
}

static int write_part(vls_wire *wire, const vls_plan *plan, const vls_plan_block *block,
                      valise_error *err)
{
    valise_str sign = signature_of(block);
    int rc = 0;

    vls_wire_open(wire, '{');
    switch ((vls_said_kind)block->kind) {
    case VLS_SAID_TEXT:
        vls_wire_pair(wire, "text", block->text);
        break;
    case VLS_SAID_THINKING:
        vls_wire_pair(wire, "text", block->text);
        vls_wire_key(wire, "thought");
        vls_wire_bool(wire, true);
        break;
    case VLS_SAID_IMAGE:
    case VLS_SAID_DOCUMENT:
        rc = write_file(wire, plan, block, err);
        break;
    case VLS_SAID_CALL:
        vls_wire_key(wire, "functionCall");
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "id", block->id);
        vls_wire_pair(wire, "name", block->name);
        vls_wire_key(wire, "args");
        rc = vls_part_args(wire, plan, block, err);
        vls_wire_close(wire, '}');
        break;
    case VLS_SAID_RESULT:
        rc = write_result(wire, plan, block, err);
        break;
    }
    if (sign.len > 0 && block->kind != VLS_SAID_RESULT)
        vls_wire_pair(wire, "thoughtSignature", sign);
    vls_wire_close(wire, '}');
    return rc;
}

static void write_system(vls_wire *wire, const vls_plan *plan)
{
    if (plan->system.len == 0)
        return;
    vls_wire_key(wire, "systemInstruction");
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "parts");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->system.len; i++) {
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "text", plan->system.ptr[i].text);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
}

static int write_tools(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    int rc = 0;

    if (plan->tools.len == 0)
        return 0;
    vls_wire_key(wire, "tools");
    vls_wire_open(wire, '[');
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "functionDeclarations");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->tools.len && rc == 0; i++) {
        vls_json tool = plan->tools.ptr[i];
        vls_wire_open(wire, '{');
        rc = vls_schema_write_tool(wire, plan, tool, "parametersJsonSchema", false, err);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    vls_wire_close(wire, '}');
    vls_wire_close(wire, ']');
    return rc;
}

static void write_choice(vls_wire *wire, const vls_plan *plan)
{
    vls_json choice = vls_member_of(plan->params, "toolChoice");
    bool one = choice.type == VLS_JSON_OBJECT;

    if (choice.type == VLS_JSON_NULL)
        return;
    vls_wire_key(wire, "toolConfig");
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "functionCallingConfig");
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "mode");
    if (one || vls_str_equal(vls_json_str(choice), VLS_STR("any")))
        vls_wire_text(wire, "ANY");
    else
        vls_wire_text(wire, vls_str_equal(vls_json_str(choice), VLS_STR("none")) ? "NONE" : "AUTO");
    if (one) {
        vls_wire_key(wire, "allowedFunctionNames");
        vls_wire_open(wire, '[');
        vls_wire_str(wire, vls_plan_name_out(plan, vls_text_of(choice, "name")));
        vls_wire_close(wire, ']');
    }
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

static int write_config(vls_wire *wire, const vls_plan *plan, vls_json more, valise_error *err)
{
    static const char *const ours[] = {"temperature", "maxOutputTokens", "stopSequences", NULL};
    int rc;

    if (!vls_part_has_param(plan, "temperature") && !vls_part_has_param(plan, "maxTokens") &&
        !vls_part_has_param(plan, "stop") && more.type == VLS_JSON_NULL)
        return 0;
    vls_wire_key(wire, "generationConfig");
    vls_wire_open(wire, '{');
    vls_part_param(wire, plan, "temperature", "temperature");
    vls_part_param(wire, plan, "maxTokens", "maxOutputTokens");
    vls_part_param(wire, plan, "stop", "stopSequences");
    rc = vls_wire_extras(wire, more, ours, err);
    vls_wire_close(wire, '}');
    return rc;
}

static int write_params(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    static const char *const ours[] = {"system_instruction", "tool_config", "generation_config",
                                       NULL};
    vls_json extras = vls_member_of(plan->params, "extras");
    vls_json more = vls_member_of(extras, "generationConfig");
    int rc = 0;

    write_choice(wire, plan);
    rc = write_config(wire, plan, more, err);
    if (rc == 0 && more.type != VLS_JSON_NULL)
        rc = vls_json_without(&extras, plan->arena, extras, "generationConfig", err);
    return rc < 0 ? rc : vls_wire_extras(wire, extras, ours, err);
}

static int write_contents(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    int rc = 0;

    vls_wire_key(wire, "contents");
    vls_wire_open(wire, '[');
    for (size_t i = 0; i < plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &plan->messages.ptr[i];
        vls_wire_open(wire, '{');
        vls_wire_key(wire, "role");
        vls_wire_text(wire, message->role == VLS_SAYS_ASSISTANT ? "model" : "user");
        vls_wire_key(wire, "parts");
        vls_wire_open(wire, '[');
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++)
            rc = write_part(wire, plan, &message->blocks.ptr[j], err);
        vls_wire_close(wire, ']');
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, ']');
    return rc;
}

static int write_request(vls_wire *wire, const vls_plan *plan, const vls_wire_write *how,
                         valise_error *err)
{
    int rc;

    (void)how; /* the URL says whether it is a stream; caches find the prefix themselves */
    vls_wire_open(wire, '{');
    write_system(wire, plan);
    rc = write_tools(wire, plan, err);
    if (rc == 0)
        rc = write_params(wire, plan, err);
    if (rc == 0)
        rc = write_contents(wire, plan, err);
    vls_wire_close(wire, '}');
    return rc < 0 ? rc : vls_wire_check(wire, err);
}

/* ---- the table ---- */

static const vls_model_rule models[] = {
    {"gemini-1*", 0, 0},
    {"gemini-2*", 0, 0},
    {"gemini-*", VLS_DEMANDS_SIGNED_CALLS, 0},
    {NULL, 0, 0},
};

static const char *const image_types[] = {"image/png",  "image/jpeg", "image/webp",
                                          "image/heic", "image/heif", NULL};
static const char *const document_types[] = {
    "application/pdf", "text/plain", "text/html", "text/csv", "text/markdown", "text/xml", NULL};

const vls_adapter vls_adapter_gemini = {
    .name = "gemini",
    .vendor = "google",
    .brief = "Gemini generateContent.",
    .version = 1,
    .demands = VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_USER_FIRST | VLS_DEMANDS_USER_LAST |
               VLS_DEMANDS_BRIDGE | VLS_DEMANDS_RESULTS_IN_USER | VLS_DEMANDS_NO_EMPTY |
               VLS_DEMANDS_SYSTEM_AT_TOP | VLS_DEMANDS_OBJECT_ARGS | VLS_DEMANDS_SIGNED |
               VLS_DEMANDS_LETTER_FIRST,
    .models = models,
    .media = {.images = VLS_MEDIA_USER | VLS_MEDIA_ASSISTANT,
              .documents = VLS_MEDIA_USER,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = (int64_t)20 * 1000 * 1000 / 4 * 3,
              .max_document = (int64_t)20 * 1000 * 1000 / 4 * 3,
              .max_images = 3000},
    .max_stops = 5,
    .max_heat = 2,
    .http = {.base = "https://generativelanguage.googleapis.com",
             .path = "/v1beta/models/{model}:generateContent",
             .stream = "/v1beta/models/{model}:streamGenerateContent?alt=sse",
             .key_env = "GEMINI_API_KEY",
             .key_head = "x-goog-api-key: "},
    .settle = settle,
    .write = write_request,
    .read = vls_gemini_read,
    .answer = vls_gemini_answer,
    .event = vls_gemini_event,
};
