/* completions.h -- what the family of Chat Completions shares: OpenAI, Mistral, compatible servers.
 *
 *     {"model","stream"?,"temperature"?,...,"tools"?,"tool_choice"?,
 *      "messages":[{"role":"developer","content":[...]},
 *                  {"role":"user","content":[{"type":"text","text"},{"type":"image_url",...}]},
 *                  {"role":"assistant","content":null,"tool_calls":[...]},
 *                  {"role":"tool","tool_call_id","content":[...]}]}
 *
 * A dialect says where one of them differs; flags of the plan say the rest: OLD_NAMES ("system",
 * "max_tokens"), PLAIN_CONTENT (a message of texts is one string).
 *
 *     completions.c          settle and write
 *     completions_read.c     requests, for lint
 *     completions_answer.c   answers, whole and as a stream
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_COMPLETIONS_H
#define VLS_COMPLETIONS_H

#include "wire/parts.h"

typedef struct vls_completions {
    const char *any;    /* how tool_choice says that some tool must be called */
    bool no_model;      /* a request without a model is one */
    bool asks_usage;    /* a stream tells what it cost only if it is asked to */
    bool plain_results; /* what a tool says is one string */
    bool names_results; /* and has the tool's name beside it */
    bool objects;       /* arguments in requests may be objects */
    bool image_ids;     /* files of the provider's: images, */
    bool document_ids;  /* documents */
    bool image_urls;    /* and files that it fetches itself */
    bool document_urls;
    bool prefix; /* a last message of the assistant is marked as what the answer begins with */
    /* A document (inline or by id), or an image by its id. */
    void (*file)(vls_wire *wire, const vls_plan_block *block);
} vls_completions;

/* The functions of their adapters, whose `dialect` is one of the above. */
int vls_completions_settle(vls_plan *plan, valise_error *err);
int vls_completions_write(vls_wire *out, const vls_plan *plan, const vls_wire_write *how,
                          valise_error *err);
int vls_completions_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                         vls_json request, valise_error *err);
int vls_completions_look(vls_looking *looking, vls_json request, valise_error *err);
int vls_completions_answer(vls_stream *stream, vls_json response, valise_error *err);
int vls_completions_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err);

#endif
