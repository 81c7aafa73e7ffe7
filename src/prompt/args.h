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

/* Of a struct with a member `of`. */
#define VLS_PROMPT_ARGS_FIELDS(args)                                                               \
    VALISE_FIELD_AS_WITH(args, of.session, "session", STR, VALISE_REQUIRED | VALISE_POSITIONAL,    \
                         "Id of the session, the end of it, or its label.", .min = 1,              \
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),                         \
        VALISE_FIELD_AS_WITH(args, of.turn, "turn", STR, VALISE_NULLABLE,                          \
                             "The path to this turn, instead of the head.", .min = 1,              \
                             .max = VLS_TURN_REF_MAX),                                             \
        VALISE_FIELD_AS_WITH(args, of.provider, "provider", STR, VALISE_REQUIRED,                  \
                             "Whose form the request has, such as anthropic.", .min = 1,           \
                             .max = VLS_ADAPTER_NAME_MAX, .ref = "cli.adapter"),                   \
        VALISE_FIELD_AS_WITH(args, of.model, "model", STR, VALISE_NULLABLE,                        \
                             "The model; that of the role when not given.", .min = 1,              \
                             .max = VLS_MODEL_MAX),                                                \
        VALISE_FIELD_AS(args, of.time, "time", TIME, VALISE_NULLABLE,                              \
                        "What expires is held against this; now when not given."),                 \
        VALISE_FIELD_AS_WITH(args, of.merge, "merge", ENUM, 0,                                     \
                             "Behind merges all parents, or the first ones only.",                 \
                             .more = vls_prompt_merges),                                           \
        VALISE_FIELD_AS_WITH(args, of.thinking, "thinking", ENUM, 0, "Whether it is sent back.",   \
                             .more = vls_prompt_thinkings),                                        \
        VALISE_FIELD_AS_WITH(args, of.missing, "missing", ENUM, 0,                                 \
                             "A file that is not there or too large: refuse, or say so in words.", \
                             .more = vls_prompt_missings),                                         \
        VALISE_FIELD_AS_WITH(args, of.inline_max, "inlineMax", INT, VALISE_NULLABLE,               \
                             "Bytes up to which a file is sent inline.", .min = 0,                 \
                             .max = VLS_NEUTRAL_MAX_SIZE),                                         \
        VALISE_FIELD_AS_WITH(args, of.window, "window", INT, VALISE_NULLABLE,                      \
                             "Tokens of prompt and answer; those of the role when not given.",     \
                             .min = 1, .max = VLS_PROMPT_TOKENS_MAX),                              \
        VALISE_FIELD_AS_WITH(args, of.reserve, "reserve", INT, VALISE_NULLABLE,                    \
                             "Of these for the answer; maxTokens when not given.", .min = 0,       \
                             .max = VLS_PROMPT_TOKENS_MAX),                                        \
        VALISE_FIELD_AS_WITH(args, of.context_share, "contextShare", INT, VALISE_NULLABLE,         \
                             "Percent for stable context at most, 30 when not given.", .min = 0,   \
                             .max = 100),                                                          \
        VALISE_FIELD_AS_WITH(args, of.tail_share, "tailShare", INT, VALISE_NULLABLE,               \
                             "Percent for items and what was ranked at most, 20 when not given.",  \
                             .min = 0, .max = 100),                                                \
        VALISE_FIELD_AS_WITH(args, of.tools, "tools", JSON, VALISE_NULLABLE,                       \
                             "An array of tools: name, description, inputSchema.",                 \
                             .max = VLS_PROMPT_VALUE_MAX),                                         \
        VALISE_FIELD_AS_WITH(args, of.params, "params", JSON, VALISE_NULLABLE,                     \
                             "Temperature, maxTokens and so on, over those of the role.",          \
                             .max = VLS_PROMPT_VALUE_MAX),                                         \
        VALISE_FIELD_AS_WITH(args, of.paths, "paths", LIST, 0,                                     \
                             "Files and directories whose notes come along.",                      \
                             .more = &vls_prompt_path_item, .max = VLS_PROMPT_PATHS_MAX),          \
        VALISE_FIELD_AS_WITH(args, of.frame_type, "frameType", STR, VALISE_NULLABLE,               \
                             "Of these only notes of this type.", .min = 1, .max = 128),           \
        VALISE_FIELD_AS_WITH(args, of.backpack, "backpack", STR, VALISE_NULLABLE,                  \
                             "A backpack whose items come along.", .min = 1, .max = 128,           \
                             .ref = "backpack:list.name"),                                         \
        VALISE_FIELD_AS_WITH(args, of.node, "node", STR, VALISE_NULLABLE,                          \
                             "As which node its items are read.", .min = 1, .max = 256),           \
        VALISE_FIELD_AS_WITH(args, of.items, "items", LIST, 0,                                     \
                             "Of these only such keys or patterns.", .more = &vls_prompt_key_item, \
                             .max = VLS_PROMPT_ITEMS_MAX),                                         \
        VALISE_FIELD_AS_WITH(args, of.query, "query", STR, VALISE_NULLABLE,                        \
                             "What memory is ranked by; the last words of the user when not "      \
                             "given.",                                                             \
                             .min = 1, .max = 65536),                                              \
        VALISE_FIELD_AS_WITH(args, of.retriever, "retriever", STR, VALISE_NULLABLE,                \
                             "Who ranks it, bm25 when not given.", .min = 1, .max = 128),          \
        VALISE_FIELD_AS_WITH(args, of.policies, "policies", STRUCT, VALISE_NULLABLE,               \
                             "What is left out of the history.", .more = &vls_policies_struct),    \
        VALISE_FIELD_AS(args, of.stream, "stream", BOOL, 0, "Ask for a stream."),                  \
        VALISE_FIELD_AS(args, of.no_cache, "noCache", BOOL, 0, "No marks for caches.")

/* Everything is looked up, in memory of the view, and the actor asked for: VALISE_E_NOT_FOUND,
 * VALISE_E_DENIED, VALISE_E_INVALID. */
int vls_request_make(vls_request *out, valise_view *view, const vls_prompt_args *args,
                     valise_error *err);
/* The same without a history: what can be known before something is said in the session. */
int vls_request_make_before(vls_request *out, valise_view *view, const vls_prompt_args *args,
                            valise_error *err);

#endif
