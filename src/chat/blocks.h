/* blocks.h -- what a turn says: an array of blocks, read once for what commands must know. [W17]
 *
 *     {"type":"text","text":...} {"type":"thinking","text":...,"signature":...}
 *     {"type":"image","blob":SHA256,"mediaType":...,"filename":...}
 *     {"type":"document","blob":SHA256 | "text":...,"mediaType":...,"filename":...}
 *     {"type":"tool_use","callId":...,"name":...,"args":{...}}
 *     {"type":"tool_result","callId":...,"content": text or [text, image, document],"isError":...}
 *     {"type":"summary","text":...,"covers":{"from":REF,"to":REF,"hash":...}}
 *     {"type":"role:transition","from":...,"to":...}
 *
 * Members that are not listed are kept (providers' opaque data), and so are blocks of other types:
 * these are counted as unknown. What is listed must be there in its type, or the array is refused
 * with the path of what is wrong, as in "blocks[2].callId".
 *
 * Threads: single. */
#ifndef VLS_BLOCKS_H
#define VLS_BLOCKS_H

#include "base/vec.h"
#include "json/json.h"

#define VLS_BLOCKS_MAX 4096 /* of one turn */
#define VLS_CALL_ID_MAX 512

typedef struct vls_block_covers {
    valise_str from, to; /* TurnRefs */
    valise_str hash;     /* ptr NULL: not given */
    size_t block;        /* which one says so */
} vls_block_covers;

/* Everything lives in the arena it was read with, or in the text. */
typedef struct vls_blocks {
    vls_json all;                /* the array */
    vls_vec(valise_str) calls;   /* callIds of tool_use, in their order */
    vls_vec(valise_str) results; /* callIds of tool_result */
    vls_vec(valise_id) blobs;    /* sorted, each once; those within results too */
    vls_vec(vls_block_covers) covers;
    valise_str to; /* of a role:transition; ptr NULL: there is none. It must be the only block */
    size_t unknown;
} vls_blocks;

/* VALISE_E_INVALID: no array, empty, a block that is not as above; VALISE_E_LIMIT: too many. */
int vls_blocks_read(vls_blocks *out, vls_arena *arena, valise_str json, valise_error *err);

/* Is it one of the types above? */
bool vls_blocks_know(valise_str type);

/* Blocks of types that nobody knows, also within results, of what somebody has accepted. */
int64_t vls_blocks_unknown(vls_json all);

/* The beginning of what is said, for people: the first text, or what there is else ("ls(...)",
 * "image a.png"), neutralized and in one line. */
void vls_blocks_brief(vls_buf *out, vls_json all);

#endif
