/* ask.h -- a node asks a model. [F10]
 *
 *     what is asked    a neutral prompt: system text, messages, tools, params
 *     whom             1. the client that the node names: a dependency of the flow, or a service of
 *                         the host
 *                      2. its provider, or its file of answers
 *                      3. the one client among the node's dependencies
 *     how              adapter -> plan -> wire -> client, as for prompts of sessions (src/prompt)
 *
 * Providers and keys are the user's configuration, never the flow's. Pieces of the answer are told
 * as flow:STREAM_CHUNK while they come.
 *
 * Threads: single, on the thread of the node. */
#ifndef VLS_FLOW_ASK_H
#define VLS_FLOW_ASK_H

#include "client/client.h"
#include "flow/run.h"

/* What the params of each node that asks have, as a member `from`. */
typedef struct vls_ask_from {
    valise_str client, provider, model, replay; /* ptr NULL: not said */
    valise_str params;                          /* JSON; ptr NULL: none */
    bool stream;
} vls_ask_from;

#define VLS_ASK_FIELDS(args)                                                                       \
    VALISE_FIELD_AS_WITH(args, from.client, "client", STR, VALISE_NULLABLE,                        \
                         "Whom to ask: a client among the flow's dependencies, or a host's.",      \
                         .min = 1, .max = 256),                                                    \
        VALISE_FIELD_AS_WITH(args, from.provider, "provider", STR, VALISE_NULLABLE,                \
                             "A provider of the user's configuration, such as anthropic.",         \
                             .min = 1, .max = 256),                                                \
        VALISE_FIELD_AS_WITH(args, from.model, "model", STR, VALISE_NULLABLE,                      \
                             "The model; that of the client or provider when not given.",          \
                             .min = 1, .max = 256),                                                \
        VALISE_FIELD_AS_WITH(args, from.replay, "replay", STR, VALISE_NULLABLE,                    \
                             "A file of answers instead of a provider, from the flow's folder.",   \
                             .min = 1, .max = 4000),                                               \
        VALISE_FIELD_AS_WITH(args, from.params, "params", JSON, VALISE_NULLABLE,                   \
                             "Temperature, maxTokens, stop and so on.", .max = 1 << 20),           \
        VALISE_FIELD_AS(args, from.stream, "stream", BOOL, 0,                                      \
                        "Ask for a stream, and tell pieces as they come.")

/* One question. */
typedef struct vls_ask {
    const vls_ask_from *from;
    valise_str system;    /* "": none */
    vls_json messages;    /* an array of {"role","blocks"} */
    vls_json tools;       /* an array of {"name","description","inputSchema"}; null: none */
    vls_json tool_choice; /* as in a neutral prompt; null: nothing is said */
} vls_ask;

typedef struct vls_asked {
    vls_answer answer;          /* names of tools are ours */
    valise_str text;            /* of its text blocks */
    valise_str provider, model; /* ptr NULL: not known */
    vls_json usage;             /* an object; may be empty */
} vls_asked;

/* In memory of the node's run. As vls_client_send; VALISE_E_NOT_FOUND: there is no such client or
 * provider; VALISE_E_INVALID: nobody says whom to ask, or the prompt is none; VALISE_E_LIMIT: the
 * node's time is over. */
int vls_ask_model(vls_asked *out, valise_node_run *at, const vls_ask *ask, valise_error *err);

/* Whom it would ask, for operations that ask by themselves: provider and replay are filled, and the
 * model where one is said. VALISE_E_UNSUPPORTED: a client of the host. */
int vls_ask_whom(vls_ask_from *out, valise_node_run *at, const vls_ask_from *from,
                 valise_error *err);

/* {"model","provider","stop","usage"}: what is known of an answer, beside the answer. */
int vls_asked_details(vls_json *out, vls_arena *arena, const vls_asked *asked, valise_error *err);

/* ---- messages ---- */

/* The user's, of one text. */
int vls_message_of(vls_json *out, vls_arena *arena, valise_str text, valise_error *err);
/* The array with one more at its end. */
int vls_messages_add(vls_json *messages, vls_arena *arena, vls_json message, valise_error *err);

/* A call of a tool in an answer. */
typedef struct vls_asked_call {
    valise_str id, name;
    vls_json args;
    bool broken; /* they are no JSON object */
} vls_asked_call;

/* The i-th call among the blocks, from 0; false: there are no more. */
bool vls_flow_blocks_call(vls_asked_call *out, vls_json blocks, size_t i);

#endif
