/* args.h -- what people ask of a build, and the request that comes of it.
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_ARGS_H
#define VLS_PROMPT_ARGS_H

#include <valise/sys/operation.h>

#include "chat/rows.h"
#include "prompt/build.h"
#include "prompt/rows.h"

typedef struct vls_prompt_args {
    valise_str session, turn, provider, model;
    int64_t time; /* VALISE_NONE: now */
    int64_t merge, thinking, missing;
    int64_t inline_max, window, reserve, context_share, tail_share; /* VALISE_NONE: as usual */
    valise_str tools, params;                                       /* JSON; ptr NULL: none */
    valise_list paths;                                              /* of valise_str */
    valise_str frame_type, backpack, node;
    valise_list items; /* of valise_str */
    valise_str query, retriever;
    const vls_policies *policies; /* NULL: none */
    bool stream, no_cache;
} vls_prompt_args;

#define VLS_PROMPT_VALUE_MAX ((int64_t)16 << 20) /* bytes of tools, of params */
#define VLS_PROMPT_PATHS_MAX 256
#define VLS_PROMPT_ITEMS_MAX 1000
#define VLS_PROMPT_TOKENS_MAX ((int64_t)1 << 40)

extern const char *const vls_prompt_merges[], *const vls_prompt_thinkings[],
                                                  *const vls_prompt_missings[];
extern const valise_field vls_prompt_path_item, vls_prompt_key_item;

#define VLS_PROMPT_FORMAT_HELP "The provider's request format to use, such as anthropic."

/* Of a struct with a member `of`. provider_help, provider_ref: an operation that sends the prompt
 * takes the providers of the configuration, too. */
#define VLS_PROMPT_ARGS_FIELDS(args, provider_help, provider_ref)                                  \
    VALISE_FIELD_AS_WITH(args, of.session, "session", STR, VALISE_REQUIRED | VALISE_POSITIONAL,    \
                         "The session: its label, its id, or the end of its id.", .min = 1,        \
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),                         \
        VALISE_FIELD_AS_WITH(args, of.turn, "turn", STR, VALISE_NULLABLE,                          \
                             "Only up to this turn instead of the head.", .min = 1,                \
                             .max = VLS_TURN_REF_MAX),                                             \
        VALISE_FIELD_AS_WITH(args, of.provider, "provider", STR, VALISE_REQUIRED, provider_help,   \
                             .min = 1, .max = VLS_ADAPTER_NAME_MAX, .ref = (provider_ref)),        \
        VALISE_FIELD_AS_WITH(args, of.model, "model", STR, VALISE_NULLABLE,                        \
                             "The model (default: the role's).", .min = 1, .max = VLS_MODEL_MAX),  \
        VALISE_FIELD_AS(args, of.time, "time", TIME, VALISE_NULLABLE,                              \
                        "The time at which expiry is checked (default: now)."),                    \
        VALISE_FIELD_AS_WITH(args, of.merge, "merge", ENUM, 0,                                     \
                             "After merges, follow all parents or only the first.",                \
                             .more = vls_prompt_merges),                                           \
        VALISE_FIELD_AS_WITH(args, of.thinking, "thinking", ENUM, 0,                               \
                             "Whether to send earlier thinking back.",                             \
                             .more = vls_prompt_thinkings),                                        \
        VALISE_FIELD_AS_WITH(                                                                      \
            args, of.missing, "missing", ENUM, 0,                                                  \
            "What to do about a missing or oversized file: refuse, or mention it in the text.",    \
            .more = vls_prompt_missings),                                                          \
        VALISE_FIELD_AS_WITH(args, of.inline_max, "inlineMax", INT, VALISE_NULLABLE,               \
                             "Send files up to this many bytes inline.", .min = 0,                 \
                             .max = VLS_NEUTRAL_MAX_SIZE),                                         \
        VALISE_FIELD_AS_WITH(args, of.window, "window", INT, VALISE_NULLABLE,                      \
                             "Tokens for prompt and answer together (default: the role's).",       \
                             .min = 1, .max = VLS_PROMPT_TOKENS_MAX),                              \
        VALISE_FIELD_AS_WITH(args, of.reserve, "reserve", INT, VALISE_NULLABLE,                    \
                             "Tokens reserved for the answer (default: maxTokens).", .min = 0,     \
                             .max = VLS_PROMPT_TOKENS_MAX),                                        \
        VALISE_FIELD_AS_WITH(args, of.context_share, "contextShare", INT, VALISE_NULLABLE,         \
                             "At most this percentage for stable context (default: 30).",          \
                             .min = 0, .max = 100),                                                \
        VALISE_FIELD_AS_WITH(args, of.tail_share, "tailShare", INT, VALISE_NULLABLE,               \
                             "At most this percentage for items and ranked memory (default: 20).", \
                             .min = 0, .max = 100),                                                \
        VALISE_FIELD_AS_WITH(args, of.tools, "tools", JSON, VALISE_NULLABLE,                       \
                             "An array of tools: name, description, inputSchema.",                 \
                             .max = VLS_PROMPT_VALUE_MAX),                                         \
        VALISE_FIELD_AS_WITH(args, of.params, "params", JSON, VALISE_NULLABLE,                     \
                             "Temperature, maxTokens and so on, overriding the role's.",           \
                             .max = VLS_PROMPT_VALUE_MAX),                                         \
        VALISE_FIELD_AS_WITH(args, of.paths, "paths", LIST, 0,                                     \
                             "Include what is known about these files and directories.",           \
                             .more = &vls_prompt_path_item, .max = VLS_PROMPT_PATHS_MAX),          \
        VALISE_FIELD_AS_WITH(args, of.frame_type, "frameType", STR, VALISE_NULLABLE,               \
                             "Only frames of this type.", .min = 1, .max = 128),                   \
        VALISE_FIELD_AS_WITH(args, of.backpack, "backpack", STR, VALISE_NULLABLE,                  \
                             "Include the items of this backpack.", .min = 1, .max = 128,          \
                             .ref = "backpack:list.name"),                                         \
        VALISE_FIELD_AS_WITH(args, of.node, "node", STR, VALISE_NULLABLE,                          \
                             "Read its items as this node.", .min = 1, .max = 256),                \
        VALISE_FIELD_AS_WITH(args, of.items, "items", LIST, 0,                                     \
                             "Only items with these keys or patterns.",                            \
                             .more = &vls_prompt_key_item, .max = VLS_PROMPT_ITEMS_MAX),           \
        VALISE_FIELD_AS_WITH(args, of.query, "query", STR, VALISE_NULLABLE,                        \
                             "What to rank memory by (default: the user's last message).",         \
                             .min = 1, .max = 65536),                                              \
        VALISE_FIELD_AS_WITH(args, of.retriever, "retriever", STR, VALISE_NULLABLE,                \
                             "The ranking method (default: bm25).", .min = 1, .max = 128),         \
        VALISE_FIELD_AS_WITH(args, of.policies, "policies", STRUCT, VALISE_NULLABLE,               \
                             "Which parts of the history to leave out.",                           \
                             .more = &vls_policies_struct),                                        \
        VALISE_FIELD_AS(args, of.stream, "stream", BOOL, 0, "Ask for a stream."),                  \
        VALISE_FIELD_AS(args, of.no_cache, "noCache", BOOL, 0, "Leave out cache marks.")

/* Everything is looked up, in memory of the view, and the actor asked for: VALISE_E_NOT_FOUND,
 * VALISE_E_DENIED, VALISE_E_INVALID. */
int vls_request_make(vls_request *out, valise_view *view, const vls_prompt_args *args,
                     valise_error *err);
/* The same without a history: what can be known before something is said in the session. */
int vls_request_make_before(vls_request *out, valise_view *view, const vls_prompt_args *args,
                            valise_error *err);

#endif
