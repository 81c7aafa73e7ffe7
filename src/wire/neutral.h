/* neutral.h -- the neutral prompt: what is sent to a model, before any provider's form. [P6]
 *
 *     {"version":  1,
 *      "tools":    [{"name","description"?,"inputSchema"}],
 *      "system":   [{"type":"text","text"}],
 *      "messages": [{"role":"user"|"assistant"|"system"|"tool","blocks":[...]}],
 *      "sections": {"context":1,"history":41},
 *      "params":   {"model"?,"temperature"?,"maxTokens"?,"stop"?,"toolChoice"?,"extras"?}}
 *
 * `stop` is an array of texts, `toolChoice` "auto", "none", "any" or {"name": of a tool}, `extras`
 * an object.
 *
 * docs/prompt.schema.json is the whole truth of it. `sections` counts messages: the first ones are
 * stable context, then comes the history; the rest is the tail, which is another one with each
 * build. Absent: all are history. Marks for caches stand where a section ends.
 *
 * A tool call whose arguments were not written in canonical JSON keeps them word for word in
 * `meta.VENDOR.raw`; where they are no JSON at all, `args` is {} and `rawArgs` has them.
 * Blocks are those of turns (chat/blocks.h), with two more members of images and documents: `size`,
 * and `fileId` where the provider has the bytes. `meta.VENDOR` of a block is opaque data of a
 * provider, with `model` where it is of that one alone; the `signature` of a thinking block is that
 * of `meta.vendor`, or of anthropic where that says nothing. A thinking block with
 * "redacted":true has opaque text. Of a block of another type only that is checked.
 *
 * Messages and blocks may have further members (a message only "x-..."); "x-place" is where a
 * request that was read back has it, for lint.
 *
 * It comes from the builder or from a file of a stranger: everything is checked when it is read.
 *
 * Threads: immutable once read. */
#ifndef VLS_NEUTRAL_H
#define VLS_NEUTRAL_H

#include "json/json.h"

#define VLS_NEUTRAL_VERSION 1
#define VLS_NEUTRAL_MAX_BYTES ((size_t)1 << 30)
#define VLS_NEUTRAL_MESSAGES_MAX 1000000u
#define VLS_NEUTRAL_TOOLS_MAX 4096u
#define VLS_NEUTRAL_BLOCKS_MAX 4096u /* of one message, of one result; parts of the system text */
#define VLS_NEUTRAL_STOPS_MAX 64u
#define VLS_NEUTRAL_CALL_ID_MAX 512u
#define VLS_NEUTRAL_MAX_SIZE ((int64_t)1 << 40) /* of a blob */
#define VLS_NEUTRAL_AROUND 16u /* containers around what is given: args, schemas, meta */

enum { VLS_SAYS_USER, VLS_SAYS_ASSISTANT, VLS_SAYS_SYSTEM, VLS_SAYS_TOOL };
extern const char *const vls_says[]; /* "user", "assistant", "system", "tool", NULL */

typedef struct vls_neutral {
    vls_json tools, system, messages; /* arrays; may be empty */
    vls_json params;                  /* an object; may be empty */
    size_t context, history;          /* messages of these sections; the rest is the tail */
} vls_neutral;

/* Take it apart and look at every block. VALISE_E_INVALID names the place,
 * "messages[3].blocks[0].callId"; VALISE_E_LIMIT. Borrows from all. */
int vls_neutral_of(vls_neutral *out, vls_json all, valise_error *err);

/* The same from text, in memory of the arena. */
int vls_neutral_read(vls_neutral *out, vls_arena *arena, valise_str text, valise_error *err);

/* Only the blocks of one message, an array: "blocks[0].callId". */
int vls_neutral_check_blocks(vls_json blocks, valise_error *err);

#endif
