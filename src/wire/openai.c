/* openai.c -- OpenAI Chat Completions. [P5]
 *
 * Models that think (o1 and later, gpt-5) are the rule: "developer", "max_completion_tokens", and
 * no temperature. Older ones have the names that they grew up with. Thinking of the model is never
 * shown here, so that there is none to send back. */
#include "wire/completions.h"

#define MIB ((int64_t)1 << 20)

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};
static const char *const document_types[] = {"application/pdf", NULL};

#define THINKS (VLS_DEMANDS_NO_TEMPERATURE | VLS_DEMANDS_NO_STOP)

/* The first that fits counts. */
static const vls_model_rule models[] = {
    {"gpt-3.5*", VLS_DEMANDS_OLD_NAMES, 0},
    {"gpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"chatgpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"ft:gpt-3.5*", VLS_DEMANDS_OLD_NAMES, 0},
    {"ft:gpt-4*", VLS_DEMANDS_OLD_NAMES, 0},
    {"gpt-5-chat*", 0, 0},
    {"gpt-5*", THINKS, 0},
    {"o1*", THINKS, 0},
    {"o3*", THINKS, 0},
    {"o4*", THINKS, 0},
    {NULL, 0, 0},
};

/* {"type":"file","file":{"file_id"}} or {...,"file":{"filename","file_data"}} */
static void write_file(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open_type(wire, "file");
    vls_wire_key(wire, "file");
    vls_wire_open(wire, '{');
    if (block->file.len > 0) {
        vls_wire_pair(wire, "file_id", block->file);
    } else {
        vls_part_file(wire, block);
    }
    vls_wire_close(wire, '}');
    vls_wire_close(wire, '}');
}

static const vls_completions dialect = {
    .any = "required",
    .asks_usage = true,
    .document_ids = true,
    .image_urls = true,
    .file = write_file,
};

const vls_adapter vls_adapter_openai = {
    .name = "openai",
    .vendor = "openai",
    .brief = "OpenAI Chat Completions.",
    .version = 1,
    .demands = VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_NO_THINKING | VLS_DEMANDS_PLAIN_SCHEMA,
    .models = models,
    .media = {.images = VLS_MEDIA_USER,
              .documents = VLS_MEDIA_USER,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = 50 * MIB,
              .max_document = 50 * MIB,
              .max_images = 500},
    .max_stops = 4,
    .max_heat = 2,
    .http = {.base = "https://api.openai.com",
             .path = "/v1/chat/completions",
             .key_env = "OPENAI_API_KEY",
             .key_head = "Authorization: Bearer "},
    .dialect = &dialect,
    .settle = vls_completions_settle,
    .write = vls_completions_write,
    .read = vls_completions_read,
    .answer = vls_completions_answer,
    .event = vls_completions_event,
};
