/* bedrock.c -- Amazon Bedrock Converse: the adapter, and its requests. [P5]
 *
 *     {"inferenceConfig"?,"additionalModelRequestFields"?,
 *      "toolConfig":{"tools":[{"toolSpec":{"name","description"?,"inputSchema":{"json"}}}],
 *                    "toolChoice"?},
 *      "system":[{"text"}],
 *      "messages":[{"role":"user"|"assistant","content":[blocks]}]}
 *
 * The model stands in the URL, and whether it is a stream. Extras that Converse has members for go
 * there (guardrailConfig, ...; topP into inferenceConfig), all others to the model.
 *
 * Whose data it carries: signatures of thinking are Anthropic's, and hold there and here, so that
 * the vendor is "anthropic". Two things of that vendor are not the same in both places: opaque
 * thinking (bytes here, a text there) has `platform` beside it and goes back to where it came from
 * only; and file ids: here they are s3://..., all others are not used, and the bytes go.
 *
 * Marks for caches are blocks of their own, where a model is known to take them. Documents have
 * names that must be tidy and of which no two may be the same.
 *
 * The stream comes in frames (frames.h), each with the name of the event; as server-sent events
 * without names an event is an object with one member, {"contentBlockDelta":{...}}. */
#include "wire/bedrock.h"

#include "base/glob.h"
#include "wire/rules.h"
#include "wire/thinking.h"

#define NAME_MAX 200u

/* ---- what models take ---- */

static bool is_like(valise_str model, const char *pattern)
{
    return vls_glob_match(&vls_glob_flat, valise_str_of(pattern), model);
}

static bool is_among(valise_str model, const char *const *patterns)
{
    for (size_t i = 0; patterns[i]; i++) {
        if (is_like(model, patterns[i]))
            return true;
    }
    return false;
}

typedef enum caching { CACHES_NOTHING, CACHES_MESSAGES, CACHES_TOOLS } caching;

static caching caching_of(valise_str model)
{
    static const char *const all[] = {"*anthropic.claude-3-7*", "*anthropic.claude-3-5-haiku*",
                                      "*anthropic.claude-3-5-sonnet-20241022*", NULL};
    static const char *const none[] = {"*anthropic.claude-3*", "*anthropic.claude-v*",
                                       "*anthropic.claude-instant*", NULL};

    if (is_like(model, "*amazon.nova*"))
        return CACHES_MESSAGES;
    if (is_among(model, all) || (is_like(model, "*anthropic.claude*") && !is_among(model, none)))
        return CACHES_TOOLS;
    return CACHES_NOTHING;
}

/* Whether a result can say that it is an error. An ARN hides the model. */
static bool knows_errors(valise_str model)
{
    static const char *const those[] = {"*anthropic.*", "*amazon.nova*", "arn:*", NULL};

    return model.len == 0 || is_among(model, those);
}

/* ---- settle ---- */

static bool is_foreign(const vls_plan_block *block)
{
    return block->kind == VLS_SAID_THINKING && block->redacted &&
           !vls_str_equal(vls_text_of(block->meta, "platform"), VLS_STR(VLS_BEDROCK));
}

static bool is_ours(const vls_plan *plan, const vls_plan_block *block)
{
    (void)plan;
    return vls_str_starts(block->file, VLS_STR("s3://"));
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
        rc = vls_plan_settle_results(plan, VLS_STR(VLS_EMPTY_RESULT), VLS_STR(VLS_EMPTY_RESULT),
                                     err);
    if (rc == 0)
        rc = vls_plan_settle_choice(plan, err);
    if (rc == 0 && vls_str_equal(vls_text_of(plan->params, "toolChoice"), VLS_STR("none")))
        rc = vls_plan_drop_param(plan, "toolChoice",
                                 "this provider cannot be told to call no tool: that was left out",
                                 err);
    if (rc == 0 && !knows_errors(plan->model))
        rc = vls_plan_settle_errors(plan, err);
    return rc < 0 || !(plan->demands & VLS_DEMANDS_CLAUDE) ? rc : vls_settle_thinking(plan, err);
}

/* ---- write ---- */

typedef struct writing {
    vls_wire *wire;
    const vls_plan *plan;
    valise_error *err;
    caching caches;
    bool errors;               /* results have a status */
    vls_vec(valise_str) names; /* of documents, so far: a few at most */
} writing;

static void write_text(vls_wire *wire, valise_str text)
{
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "text", text);
    vls_wire_close(wire, '}');
}

static void write_mark(vls_wire *wire, bool marked)
{
    if (!marked)
        return;
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "cachePoint");
    vls_wire_open_type(wire, "default");
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

/* ---- files ---- */

const vls_bedrock_format vls_bedrock_images[] = {{"image/png", "png"},
                                                 {"image/jpeg", "jpeg"},
                                                 {"image/gif", "gif"},
                                                 {"image/webp", "webp"},
                                                 {NULL, "png"}};
const vls_bedrock_format vls_bedrock_documents[] = {
    {"application/pdf", "pdf"},
    {"text/csv", "csv"},
    {"application/msword", "doc"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"},
    {"application/vnd.ms-excel", "xls"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
    {"text/html", "html"},
    {"text/plain", "txt"},
    {"text/markdown", "md"},
    {NULL, "pdf"}};

/* By its type; where that is not told by its name, and else the last one. */
static const char *format_of(const vls_bedrock_format *formats, const vls_plan_block *block)
{
    size_t at = 0;

    while (formats[at].type && !vls_str_equal(block->media, valise_str_of(formats[at].type)))
        at++;
    for (size_t i = 0; !formats[at].type && formats[i].type; i++) {
        if (vls_str_ends(block->file, valise_str_of(formats[i].name)))
            return formats[i].name;
    }
    return formats[at].name;
}

static void write_source(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_key(wire, "source");
    vls_wire_open(wire, '{');
    if (block->file.len > 0) {
        vls_wire_key(wire, "s3Location");
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "uri", block->file);
        vls_wire_close(wire, '}');
    } else {
        vls_wire_key(wire, "bytes");
        vls_wire_blob(wire, VLS_STR(""), block);
    }
    vls_wire_close(wire, '}');
}

static bool fits_name(char c)
{
    return vls_is_alnum(c) || c == '-' || c == '(' || c == ')' || c == '[' || c == ']';
}

static bool is_taken(const writing *w, valise_str name)
{
    for (size_t i = 0; i < w->names.len; i++) {
        if (vls_str_equal(w->names.ptr[i], name))
            return true;
    }
    return false;
}

/* Letters, digits, - ( ) [ ], single spaces; "a.pdf" is "a-pdf". The second of a name is
 * "a-pdf (2)". */
static int document_name(valise_str *out, writing *w, valise_str given)
{
    char stem[NAME_MAX + 1], text[NAME_MAX + 32];
    size_t len = 0;

    for (size_t i = 0; i < given.len && len < NAME_MAX; i++) {
        char c = given.ptr[i];
        if (fits_name(c))
            stem[len++] = c;
        else if (c == ' ' && len > 0 && stem[len - 1] != ' ')
            stem[len++] = ' ';
        else if (c != ' ' && (len == 0 || stem[len - 1] != '-'))
            stem[len++] = '-';
    }
    while (len > 0 && stem[len - 1] == ' ')
        len--;
    stem[len] = '\0';
    (void)snprintf(text, sizeof(text), "%s", len > 0 ? stem : "document");
    for (unsigned n = 2; is_taken(w, valise_str_of(text)); n++)
        (void)snprintf(text, sizeof(text), "%s (%u)", len > 0 ? stem : "document", n);
    return vls_arena_dup(out, w->plan->arena, valise_str_of(text), w->err);
}

static int write_file(writing *w, const vls_plan_block *block)
{
    bool image = block->kind == VLS_SAID_IMAGE;
    valise_str name = {NULL, 0};
    int rc = image ? 0 : document_name(&name, w, block->name);

    if (rc < 0)
        return rc;
    if (!image && !vls_vec_push_in(&w->names, w->plan->arena, name))
        return vls_arena_fail(w->plan->arena, w->err);
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, image ? "image" : "document");
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "format");
    vls_wire_text(w->wire, format_of(image ? vls_bedrock_images : vls_bedrock_documents, block));
    if (!image)
        vls_wire_pair(w->wire, "name", name);
    write_source(w->wire, block);
    vls_wire_close(w->wire, '}');
    vls_wire_close(w->wire, '}');
    return 0;
}

/* ---- blocks ---- */

static int write_result(writing *w, const vls_plan_block *block)
{
    vls_wire *wire = w->wire;
    int rc = 0;

    vls_wire_open(wire, '{');
    vls_wire_key(wire, "toolResult");
    vls_wire_open(wire, '{');
    vls_wire_pair(wire, "toolUseId", block->id);
    vls_wire_key(wire, "content");
    vls_wire_open(wire, '[');
    if (block->is_error && !w->errors)
        write_text(wire, VLS_STR("Error:"));
    if (block->inner_count == 0)
        write_text(wire, block->text);
    for (size_t i = 0; i < block->inner_count && rc == 0; i++) {
        if (block->inner[i].kind == VLS_SAID_TEXT)
            write_text(wire, block->inner[i].text);
        else
            rc = write_file(w, &block->inner[i]);
    }
    vls_wire_close(wire, ']');
    if (block->is_error && w->errors)
        vls_wire_pair(wire, "status", VLS_STR("error"));
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
    return rc;
}

static void write_thinking(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "reasoningContent");
    vls_wire_open(wire, '{');
    if (block->redacted) {
        vls_wire_pair(wire, "redactedContent", block->text);
    } else {
        vls_wire_key(wire, "reasoningText");
        vls_wire_open(wire, '{');
        vls_wire_pair(wire, "text", block->text);
        vls_wire_pair(wire, "signature", block->sign);
        vls_wire_close(wire, '}');
    }
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

static int write_call(writing *w, const vls_plan_block *block)
{
    int rc;

    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "toolUse");
    vls_wire_open(w->wire, '{');
    vls_wire_pair(w->wire, "toolUseId", block->id);
    vls_wire_pair(w->wire, "name", block->name);
    vls_wire_key(w->wire, "input");
    rc = vls_part_args(w->wire, w->plan, block, w->err);
    vls_wire_close(w->wire, '}');
    vls_wire_close(w->wire, '}');
    return rc;
}

static int write_block(writing *w, const vls_plan_block *block)
{
    int rc = 0;

    switch ((vls_said_kind)block->kind) {
    case VLS_SAID_TEXT:
        write_text(w->wire, block->text);
        break;
    case VLS_SAID_THINKING:
        write_thinking(w->wire, block);
        break;
    case VLS_SAID_IMAGE:
    case VLS_SAID_DOCUMENT:
        rc = write_file(w, block);
        break;
    case VLS_SAID_CALL:
        rc = write_call(w, block);
        break;
    case VLS_SAID_RESULT:
        rc = write_result(w, block);
        break;
    }
    write_mark(w->wire,
               w->caches != CACHES_NOTHING && block->cache && block->kind != VLS_SAID_THINKING);
    return rc;
}

static int write_messages(writing *w)
{
    int rc = 0;

    vls_wire_key(w->wire, "messages");
    vls_wire_open(w->wire, '[');
    for (size_t i = 0; i < w->plan->messages.len && rc == 0; i++) {
        const vls_plan_message *message = &w->plan->messages.ptr[i];
        vls_wire_open(w->wire, '{');
        vls_wire_key(w->wire, "role");
        vls_wire_text(w->wire, vls_says[message->role]);
        vls_wire_key(w->wire, "content");
        vls_wire_open(w->wire, '[');
        for (size_t j = 0; j < message->blocks.len && rc == 0; j++)
            rc = write_block(w, &message->blocks.ptr[j]);
        vls_wire_close(w->wire, ']');
        vls_wire_close(w->wire, '}');
    }
    vls_wire_close(w->wire, ']');
    return rc;
}

/* ---- what stands before ---- */

static void write_config(vls_wire *wire, const vls_plan *plan, vls_json top_p)
{
    bool has_top_p = top_p.type != VLS_JSON_NULL;

    if (!vls_part_has_param(plan, "maxTokens") && !vls_part_has_param(plan, "temperature") &&
        !vls_part_has_param(plan, "stop") && !has_top_p)
        return;
    vls_wire_key(wire, "inferenceConfig");
    vls_wire_open(wire, '{');
    vls_part_param(wire, plan, "maxTokens", "maxTokens");
    vls_part_param(wire, plan, "temperature", "temperature");
    if (has_top_p) {
        vls_wire_key(wire, "topP");
        vls_wire_json(wire, top_p);
    }
    vls_part_param(wire, plan, "stop", "stopSequences");
    vls_wire_close(wire, '}');
}

static int write_params(vls_wire *wire, const vls_plan *plan, valise_error *err)
{
    static const char *const tops[] = {"guardrailConfig",
                                       "performanceConfig",
                                       "requestMetadata",
                                       "serviceTier",
                                       "outputConfig",
                                       "promptVariables",
                                       "additionalModelResponseFieldPaths",
                                       NULL};
    static const char *const ours[] = {"inferenceConfig", "additionalModelRequestFields", NULL};
    vls_json rest = vls_member_of(plan->params, "extras"), top_p = vls_member_of(rest, "topP");
    int rc = 0;

    write_config(wire, plan, top_p);
    if (rest.type != VLS_JSON_OBJECT)
        return 0;
    if (top_p.type != VLS_JSON_NULL)
        rc = vls_json_without(&rest, plan->arena, rest, "topP", err);
    for (size_t i = 0; tops[i] && rc == 0; i++) {
        vls_json given = vls_member_of(rest, tops[i]);
        if (given.type == VLS_JSON_NULL)
            continue;
        vls_wire_key(wire, tops[i]);
        vls_wire_json(wire, given);
        rc = vls_json_without(&rest, plan->arena, rest, tops[i], err);
    }
    if (rc < 0 || rest.len == 0)
        return rc;
    vls_wire_key(wire, "additionalModelRequestFields");
    vls_wire_open(wire, '{');
    rc = vls_wire_extras(wire, rest, ours, err);
    vls_wire_close(wire, '}');
    return rc;
}

static void write_choice(writing *w)
{
    vls_json choice = vls_member_of(w->plan->params, "toolChoice");
    bool one = choice.type == VLS_JSON_OBJECT;

    if (choice.type == VLS_JSON_NULL)
        return;
    vls_wire_key(w->wire, "toolChoice");
    vls_wire_open(w->wire, '{');
    vls_wire_member(w->wire, one ? VLS_STR("tool") : vls_json_str(choice));
    vls_wire_open(w->wire, '{');
    if (one)
        vls_wire_pair(w->wire, "name", vls_plan_name_out(w->plan, vls_text_of(choice, "name")));
    vls_wire_close(w->wire, '}');
    vls_wire_close(w->wire, '}');
}

static int write_tool(writing *w, vls_json tool)
{
    valise_str brief = vls_text_of(tool, "description");
    int rc;

    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "toolSpec");
    vls_wire_open(w->wire, '{');
    vls_wire_pair(w->wire, "name", vls_plan_name_out(w->plan, vls_text_of(tool, "name")));
    if (brief.len > 0)
        vls_wire_pair(w->wire, "description", brief);
    vls_wire_key(w->wire, "inputSchema");
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "json");
    rc = vls_schema_write(w->wire, w->plan, tool, w->err);
    vls_wire_close(w->wire, '}');
    vls_wire_close(w->wire, '}');
    vls_wire_close(w->wire, '}');
    return rc;
}

static int write_tools(writing *w)
{
    int rc = 0;

    if (w->plan->tools.len == 0)
        return 0;
    vls_wire_key(w->wire, "toolConfig");
    vls_wire_open(w->wire, '{');
    vls_wire_key(w->wire, "tools");
    vls_wire_open(w->wire, '[');
    for (size_t i = 0; i < w->plan->tools.len && rc == 0; i++)
        rc = write_tool(w, w->plan->tools.ptr[i]);
    write_mark(w->wire, w->caches == CACHES_TOOLS);
    vls_wire_close(w->wire, ']');
    write_choice(w);
    vls_wire_close(w->wire, '}');
    return rc;
}

static void write_system(writing *w)
{
    if (w->plan->system.len == 0)
        return;
    vls_wire_key(w->wire, "system");
    vls_wire_open(w->wire, '[');
    for (size_t i = 0; i < w->plan->system.len; i++)
        write_text(w->wire, w->plan->system.ptr[i].text);
    write_mark(w->wire, w->caches != CACHES_NOTHING);
    vls_wire_close(w->wire, ']');
}

static int write_request(vls_wire *wire, const vls_plan *plan, const vls_wire_write *how,
                         valise_error *err)
{
    writing w = {.wire = wire,
                 .plan = plan,
                 .err = err,
                 .caches = how->no_cache ? CACHES_NOTHING : caching_of(plan->model),
                 .errors = knows_errors(plan->model)};
    int rc;

    vls_wire_open(wire, '{');
    rc = write_params(wire, plan, err);
    if (rc == 0)
        rc = write_tools(&w);
    if (rc < 0)
        return rc;
    write_system(&w);
    rc = write_messages(&w);
    vls_wire_close(wire, '}');
    return rc < 0 ? rc : vls_wire_check(wire, err);
}

/* ---- the table ---- */

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};
static const char *const document_types[] = {
    "application/pdf",
    "text/csv",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "text/html",
    "text/plain",
    "text/markdown",
    NULL};

static const vls_model_rule models[] = {
    {"*anthropic.claude-v*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-instant*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-3*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-*-4-5*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-*-4-6*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-*-4-1*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-*-4-2*", VLS_DEMANDS_CLAUDE, 0},
    {"*anthropic.claude-*", VLS_DEMANDS_CLAUDE | VLS_DEMANDS_NO_TEMPERATURE, 0},
    {NULL, 0, 0},
};

const vls_adapter vls_adapter_bedrock = {
    .name = "bedrock",
    .vendor = "anthropic",
    .brief = "Amazon Bedrock Converse.",
    .version = 1,
    .demands = VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_USER_FIRST | VLS_DEMANDS_USER_LAST |
               VLS_DEMANDS_BRIDGE | VLS_DEMANDS_RESULTS_IN_USER | VLS_DEMANDS_NO_EMPTY |
               VLS_DEMANDS_SYSTEM_AT_TOP | VLS_DEMANDS_OBJECT_ARGS | VLS_DEMANDS_TEXT_BESIDE |
               VLS_DEMANDS_SIGNED | VLS_DEMANDS_TOOLS | VLS_DEMANDS_PLAIN_SCHEMA,
    .models = models,
    .media = {.images = VLS_MEDIA_USER | VLS_MEDIA_RESULT,
              .documents = VLS_MEDIA_USER | VLS_MEDIA_RESULT,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = 3750000,
              .max_document = 4500000,
              .max_images = 20,
              .max_documents = 5},
    .max_heat = 1,
    .http = {.path = "/model/{model}/converse",
             .stream = "/model/{model}/converse-stream",
             .key_env = "AWS_BEARER_TOKEN_BEDROCK",
             .key_head = "Authorization: Bearer "},
    .framed = true,
    .settle = settle,
    .write = write_request,
    .read = vls_bedrock_read,
    .look = vls_bedrock_look,
    .answer = vls_bedrock_answer,
    .event = vls_bedrock_event,
};
