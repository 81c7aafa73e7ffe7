/* compatible.c -- servers that speak Chat Completions: Ollama, llama.cpp, vLLM, LM Studio,
 * gateways. [P5]
 *
 * What stands behind them is a chat template of some model: roles that alternate, one system text
 * first, strings for contents, arguments that can be parsed. Whatever all of these take is sent,
 * and no more. They show what the model thinks beside its answer. Few models want it back, and some
 * servers refuse it, so it goes to those models only. The window of a local model is the server's
 * to set (Ollama: num_ctx). */
#include "wire/completions.h"

static const char *const image_types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                          NULL};

/* Behind gateways names have something before them, "deepseek/deepseek-v4-pro". */
static const vls_model_rule models[] = {
    {"*deepseek*", VLS_DEMANDS_ECHO, VLS_DEMANDS_NO_THINKING},
    {"*kimi*", VLS_DEMANDS_ECHO, VLS_DEMANDS_NO_THINKING},
    {"*Kimi*", VLS_DEMANDS_ECHO, VLS_DEMANDS_NO_THINKING},
    {"*DeepSeek*", VLS_DEMANDS_ECHO, VLS_DEMANDS_NO_THINKING},
    {NULL, 0, 0},
};

static const vls_completions dialect = {
    .any = "required",
    .no_model = true,
    .asks_usage = true,
    .plain_results = true,
    .objects = true,
};

const vls_adapter vls_adapter_compatible = {
    .name = "compatible",
    .vendor = "",
    .brief = "Any server that speaks Chat Completions.",
    .version = 1,
    .demands = VLS_DEMANDS_ALTERNATION | VLS_DEMANDS_USER_FIRST | VLS_DEMANDS_USER_LAST |
               VLS_DEMANDS_BRIDGE | VLS_DEMANDS_NO_EMPTY | VLS_DEMANDS_SYSTEM_AT_TOP |
               VLS_DEMANDS_PLAIN_CONTENT | VLS_DEMANDS_NO_THINKING | VLS_DEMANDS_OLD_NAMES |
               VLS_DEMANDS_OBJECT_ARGS,
    .models = models,
    .media = {.images = VLS_MEDIA_USER, .image_types = image_types},
    .max_stops = 4,
    .http = {.path = "/chat/completions",
             .key_env = "OPENAI_COMPATIBLE_API_KEY",
             .key_head = "Authorization: Bearer "},
    .dialect = &dialect,
    .settle = vls_completions_settle,
    .write = vls_completions_write,
    .read = vls_completions_read,
    .answer = vls_completions_answer,
    .event = vls_completions_event,
};
