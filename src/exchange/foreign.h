/* foreign.h -- a conversation as another program wrote it, in words of ours. [W20]
 *
 *     chatgpt.c, claude_code.c, openai.c   records -> vls_foreign      readers, pure
 *     arrange.c                            parents first, no cycles, pairs
 *     load.c                               vls_foreign -> session:load  commands
 *
 * Ids are made of (format, the conversation's own id, the record's own id), so that a file that is
 * read twice adds nothing. They are UUIDs of version 8:
 *
 *     tagged hash "valise.foreign.1" (format, conversation, record): its first 16 bytes, with
 *     version and variant written over them
 *
 * Everything lives in the arena of the reading.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_FOREIGN_H
#define VLS_EXCHANGE_FOREIGN_H

#include <valise/sys/field.h>

#include "base/hash.h"
#include "base/vec.h"
#include "exchange/notes.h"
#include "json/make.h"

#define VLS_NO_TURN SIZE_MAX
#define VLS_FOREIGN_DEPTH 128u /* of a record: blocks stand within arrays */
#define VLS_FOREIGN_TURNS_MAX 1000000u

typedef struct vls_foreign_blob {
    valise_id id;
    valise_str bytes;
    valise_str media_type, filename; /* ptr NULL: not known */
} vls_foreign_blob;

typedef vls_vec(vls_foreign_blob) vls_foreign_blobs;

/* A turn that was written in several records: where each of them ends. A file that was read before
 * all of them were there has the turn without the last ones (load.c). */
typedef struct vls_foreign_part {
    valise_uuid id;  /* of this record, where it begins a turn */
    valise_str text; /* the record alone */
    size_t source, blocks, blobs;
} vls_foreign_part;

/* What a look at the workspace says of a turn (load.c). */
enum { VLS_FOREIGN_NEW, VLS_FOREIGN_THERE, VLS_FOREIGN_ERASED, VLS_FOREIGN_DELETED };

typedef struct vls_foreign_turn {
    valise_uuid id;
    size_t parent; /* among the turns, or VLS_NO_TURN */
    int64_t role;  /* VLS_TURN_... of chat/rows.h */
    bool hidden, noprompt;
    int64_t time;      /* VALISE_NONE: not known */
    vls_json blocks;   /* an array, never empty */
    vls_json metadata; /* an object, or null */
    valise_str source; /* the record */
    size_t covers_to;  /* its summary covers the path from the root to this one; or VLS_NO_TURN */
    vls_foreign_blobs blobs;
    vls_vec(vls_foreign_part) parts; /* none where it is one record */
    uint64_t line;
    int state; /* VLS_FOREIGN_NEW, ... */
} vls_foreign_turn;

typedef struct vls_foreign {
    const char *format;
    valise_str name; /* the source's own id of it */
    valise_uuid id;
    valise_uuid forked_from; /* zero: none */
    valise_str label;        /* ptr NULL: none */
    int64_t created;         /* VALISE_NONE: not known */
    valise_str source;       /* what the record has besides turns; ptr NULL: nothing */
    vls_vec(vls_foreign_turn) turns;
    size_t head; /* among the turns, or VLS_NO_TURN: there are none */
} vls_foreign;

/* What a reader works with. */
typedef struct vls_translation {
    const valise_env *env;
    vls_arena *arena; /* of one conversation */
    vls_notes *notes;
    uint64_t line, offset; /* of the record at hand, for what is noted */
    valise_str text;       /* its bytes */
    /* The bytes of a file of the export that has this id in its name: 1, or 0. May be NULL. */
    int (*asset)(void *self, vls_foreign_blob *out, valise_str id, valise_error *err);
    void *self;
} vls_translation;

/* ---- readers ---- */

/* One element of conversations.json. 1: *out is a conversation; 0: it is none, and noted. */
int vls_chatgpt_read(vls_foreign *out, vls_translation *r, vls_json record, valise_error *err);

/* One line of OpenAI's JSONL. nth: how many equal records came before it in the file. */
int vls_openai_read(vls_foreign *out, vls_translation *r, vls_json record, const valise_id *hash,
                    uint64_t nth, valise_error *err);

/* The lines of a Claude Code session, one after the other; then the conversations: the session, and
 * one for each agent that it started. */
typedef struct vls_claude vls_claude;
int vls_claude_begin(vls_claude **out, vls_translation *r, valise_error *err);
int vls_claude_line(vls_claude *c, valise_str text, vls_json record, valise_error *err);
int vls_claude_finish(vls_foreign **out, size_t *count, vls_claude *c, valise_error *err);

/* ---- what readers share (foreign.c) ---- */

static inline bool vls_type_is(valise_str type, const char *name)
{
    return vls_str_equal(type, valise_str_of(name));
}

void vls_foreign_id(valise_uuid *out, const char *format, valise_str name, valise_str record);

/* Parse a record; a lone half of a surrogate pair, which programs write where they cut a text, is
 * replaced by U+FFFD. VALISE_E_INVALID, VALISE_E_LIMIT: it is no good record. */
int vls_foreign_parse(vls_json *out, vls_translation *r, valise_str text, valise_error *err);

/* How the elements of a member of the record at hand are written (slice.c): byte for byte. The key
 * is what it says; ptr NULL in an array. The same key may come twice. */
typedef struct vls_foreign_slice {
    valise_str key, text;
} vls_foreign_slice;
int vls_foreign_slices(vls_foreign_slice **out, size_t *count, vls_translation *r,
                       const char *member, valise_error *err);

typedef struct vls_blocks_new {
    vls_arena *arena;
    vls_vec(vls_json) items;
} vls_blocks_new;

int vls_blocks_add(vls_blocks_new *b, vls_json block, valise_error *err);
int vls_blocks_text(vls_blocks_new *b, valise_str text, valise_error *err);
vls_json vls_blocks_all(const vls_blocks_new *b); /* never empty: an empty text is there then */

/* A block of a type of theirs, as it is. */
int vls_blocks_new_unknown(vls_blocks_new *b, vls_translation *r, valise_str type, vls_json object,
                           valise_error *err);

/* An image, or a document with another media type, of these bytes. */
int vls_blocks_blob(vls_blocks_new *b, vls_translation *r, vls_foreign_blobs *blobs,
                    const vls_foreign_blob *blob, valise_error *err);

/* Base64 to a blob: 1; or 0 when it is none. */
int vls_foreign_decode(vls_foreign_blob *out, vls_translation *r, valise_str base64,
                       valise_str media_type, valise_error *err);

/* A tool_use; args that are no object stand in {"value": ...}. */
int vls_blocks_call(vls_blocks_new *b, valise_str call_id, valise_str name, vls_json args,
                    valise_str raw, valise_error *err);

/* A callId that can be one. */
int vls_foreign_call_id(valise_str *out, vls_translation *r, valise_str given, valise_error *err);

/* Seconds since 1970 as a number; VALISE_NONE for what is none. */
int64_t vls_foreign_time(vls_json value);

/* ---- arranging (arrange.c) ---- */

/* Cut cycles, put the path to the head first and parents before their children; head and parents
 * are numbers of the new order. */
int vls_foreign_arrange(vls_foreign *f, vls_translation *r, valise_error *err);

/* Results without a call before them become blocks of type x-orphan-tool_result; summaries get
 * their ranges. What was deleted here is not counted on. */
int vls_foreign_mend(vls_foreign *f, vls_translation *r, valise_error *err);

#endif
