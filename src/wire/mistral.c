/* mistral.c -- Mistral's chat completions. [P5]
 *
 * Ids of calls have nine letters or digits, results carry the name of their tool, and behind a tool
 * only the assistant speaks. A last message of the assistant is what the answer begins with
 * (`prefix`). Thinking goes back as the chunks it came in. */
#include "wire/completions.h"

#define MIB ((int64_t)1 << 20)

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};
static const char *const document_types[] = {"application/pdf", NULL};

/* {"type":"file","file_id"} or {"type":"document_url","document_url","document_name"?} */
static void write_file(vls_wire *wire, const vls_plan_block *block)
{
    vls_wire_open(wire, '{');
    vls_wire_key(wire, "type");
    if (block->file.len > 0 && !vls_is_url(block->file)) {
        vls_wire_text(wire, "file");
        vls_wire_pair(wire, "file_id", block->file);
    } else {
        vls_wire_text(wire, "document_url");
        if (block->name.len > 0)
            vls_wire_pair(wire, "document_name", block->name);
        vls_wire_key(wire, "document_url");
        if (block->file.len > 0)
            vls_wire_str(wire, block->file);
        else
            vls_part_data_url(wire, block);
    }
    vls_wire_close(wire, '}');
}

static const vls_completions dialect = {
    .any = "any",
    .plain_results = true,
    .names_results = true,
    .objects = true,
    .image_ids = true,
    .document_ids = true,
    .image_urls = true,
    .document_urls = true,
    .prefix = true,
    .file = write_file,
};

const vls_adapter vls_adapter_mistral = {
    .name = "mistral",
    .vendor = "mistral",
    .brief = "Mistral chat completions.",
    .version = 1,
    .demands = VLS_DEMANDS_NINE | VLS_DEMANDS_BRIDGE | VLS_DEMANDS_NO_EMPTY |
               VLS_DEMANDS_SYSTEM_AT_TOP | VLS_DEMANDS_SIGNED | VLS_DEMANDS_OLD_NAMES,
    .media = {.images = VLS_MEDIA_USER,
              .documents = VLS_MEDIA_USER,
              .image_types = image_types,
              .document_types = document_types,
              .max_image = 10 * MIB,
              .max_document = 50 * MIB,
              .max_images = 8},
    .max_heat = 1.5,
    .http = {.base = "https://api.mistral.ai",
             .path = "/v1/chat/completions",
             .key_env = "MISTRAL_API_KEY",
             .key_head = "Authorization: Bearer "},
    .dialect = &dialect,
    .settle = vls_completions_settle,
    .write = vls_completions_write,
    .read = vls_completions_read,
    .look = vls_completions_look,
    .answer = vls_completions_answer,
    .event = vls_completions_event,
};
