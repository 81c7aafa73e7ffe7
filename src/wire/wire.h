/* wire.h -- the body of a request: text with holes for blobs.
 *
 *     {"model":...,"messages":[...,{"data":"   hole: blob ab12..., as base64   "}]}
 *
 * The text is in memory, a blob never as a whole: who hashes, sends or prints a wire walks over it.
 * Writers put members in a fixed order, and the conversation last, so that one more turn leaves all
 * bytes before its own as they were. [P4] [P14]
 *
 * Threads: single while it is written, then immutable; a walk is single. */
#ifndef VLS_WIRE_H
#define VLS_WIRE_H

#include "base/hash.h"
#include "base/vec.h"
#include "wire/plan.h"

typedef struct vls_wire_hole {
    size_t at; /* in the text */
    valise_id blob;
    int64_t size; /* bytes of the blob; VLS_SIZE_UNKNOWN */
} vls_wire_hole;

typedef struct vls_wire {
    vls_buf text;
    vls_vec(vls_wire_hole) holes; /* in their order */
    vls_buf scratch;
    const char *head; /* a header that this request needs besides, a constant; NULL: none */
    int failed;       /* of what is not the text: a value too deep, a blob too large */
    const valise_env *env;
} vls_wire;

#define VLS_WIRE_MAX_BYTES ((size_t)2 << 30) /* of the text */
#define VLS_WIRE_MAX_BLOB ((int64_t)1 << 40)

void vls_wire_init(vls_wire *wire, const valise_env *env);
void vls_wire_release(vls_wire *wire); /* a zeroed one is fine */

static inline void vls_auto_wire(vls_wire *wire)
{
    vls_wire_release(wire);
}

/* Bytes of all of it; VLS_SIZE_UNKNOWN where that of a blob is. */
int64_t vls_wire_size(const vls_wire *wire);

/* ---- writing: JSON without a tree ---- */

/* Commas come by themselves. Nothing is checked but what vls_buf_check finds: writers are ours, and
 * a test parses every body. */
void vls_wire_open(vls_wire *wire, char bracket); /* '{' or '[' */
void vls_wire_close(vls_wire *wire, char bracket);
void vls_wire_key(vls_wire *wire, const char *key); /* a constant; nothing in it needs an escape */
void vls_wire_member(vls_wire *wire, valise_str key); /* the same, of any text */
void vls_wire_str(vls_wire *wire, valise_str text);
void vls_wire_text(vls_wire *wire, const char *text); /* a constant, as a string */
/* A member that is a text. */
void vls_wire_pair(vls_wire *wire, const char *key, valise_str text);
/* An object that begins {"type":TYPE, and goes on. */
void vls_wire_open_type(vls_wire *wire, const char *type);
void vls_wire_more(vls_wire *wire, valise_str text); /* goes on with the string before it */
void vls_wire_int(vls_wire *wire, int64_t number);
void vls_wire_bool(vls_wire *wire, bool truth);
void vls_wire_json(vls_wire *wire, vls_json value);
void vls_wire_json_text(vls_wire *wire, vls_json value); /* its text, as a string */
void vls_wire_raw(vls_wire *wire, valise_str json); /* an object's text that was parsed, as it is */
/* A string: what stands before, and the blob as base64: "data:image/png;base64," or "". */
void vls_wire_blob(vls_wire *wire, valise_str before, const vls_plan_block *block);
/* All that was said before it went in: VALISE_E_TOO_LARGE, VALISE_E_NO_MEMORY, a value too deep. */
int vls_wire_check(const vls_wire *wire, valise_error *err);

/* ---- walking ---- */

/* The bytes of a blob, a piece at a time; *len 0 at its end. VALISE_E_NOT_FOUND, VALISE_E_CORRUPT.
 */
typedef struct vls_wire_blobs {
    void *arg;
    int (*open)(void *arg, const valise_id *blob, valise_error *err);
    int (*read)(size_t *len, void *arg, void *room, size_t room_bytes, valise_error *err);
    void (*close)(void *arg);
} vls_wire_blobs;

typedef struct vls_wire_walk vls_wire_walk;
int vls_wire_walk_new(vls_wire_walk **out, const vls_wire *wire, const vls_wire_blobs *blobs,
                      valise_error *err);
/* *len 0 at the end. VALISE_E_CORRUPT when a blob is not as long as it should be. */
int vls_wire_walk_read(size_t *len, vls_wire_walk *walk, void *room, size_t room_bytes,
                       valise_error *err);
void vls_wire_walk_free(vls_wire_walk *walk); /* NULL is fine */

/* SHA-256 of the bytes, but that a hole counts as "blob:" and the digits of its id: no blob is read
 * for it, and without blobs it is what sha256sum prints. */
void vls_wire_hash(valise_id *out, const vls_wire *wire);

#endif
