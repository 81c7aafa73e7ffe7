/* reread.h -- requests back into neutral prompts, for lint: what the readers of adapters share.
 *
 * The prompt is written from its beginning to its end, like JSON:
 *
 *     vls_reread_init(&r, arena, err);
 *     vls_read_open(&r, "messages", VLS_JSON_ARRAY);
 *     vls_read_open(&r, NULL, VLS_JSON_OBJECT);
 *     ...
 *     rc = vls_reread_finish(out, &r);
 *
 * Threads: single. */
#ifndef VLS_REREAD_H
#define VLS_REREAD_H

#include "json/make.h"
#include "wire/adapter.h"

/* A neutral prompt while it is put together. Like a builder it remembers its first failure. */
typedef struct vls_reread {
    vls_arena *arena;
    valise_error *err;
    vls_json_builder to;
} vls_reread;

void vls_reread_init(vls_reread *r, vls_arena *arena, valise_error *err);
int vls_reread_finish(vls_json *out, vls_reread *r);
void vls_reread_release(vls_reread *r);

/* ---- members ---- */

void vls_read_open(vls_reread *r, const char *key, vls_json_type type); /* key NULL: an item */
void vls_read_close(vls_reread *r);
void vls_read_put(vls_reread *r, const char *key, vls_json value);   /* nothing where it is null */
void vls_read_text(vls_reread *r, const char *key, valise_str text); /* or where ptr is NULL */
/* "x-place" of the block or message that is open. */
void vls_read_place(vls_reread *r, const char *format, ...) VALISE_PRINTF(2, 3);

/* ---- blocks ---- */

/* A text block; place as it is in the one around it: "messages[0].content". */
void vls_read_said(vls_reread *r, valise_str text, const char *place, uint32_t at);
/* Members of an image or document: bytes as base64 (ptr NULL: none) or what they are called. */
void vls_read_media(vls_reread *r, valise_str type, valise_str data, valise_str file);
/* The same of an address, which may be "data:TYPE;base64,..."; "": there is none. */
void vls_read_url(vls_reread *r, valise_str url, valise_str file);
/* args of a call, and rawArgs where they are no object. */
void vls_read_args(vls_reread *r, vls_json args);
/* args of a call whose text is given, as an answer of this vendor. */
void vls_read_args_text(vls_reread *r, const char *vendor, valise_str text);
/* A tool; VLS_ANY_SCHEMA where none is fine. */
#define VLS_ANY_SCHEMA ((vls_json){.type = VLS_JSON_OBJECT})
void vls_read_tool(vls_reread *r, vls_json name, vls_json description, vls_json schema);
/* A member of params that is a number the neutral prompt can have. */
void vls_read_limit(vls_reread *r, vls_json number);
/* `extras` of params: how Claude is to think. */
void vls_read_thinking(vls_reread *r, vls_json thinking);

/* ---- what is none ---- */

/* VALISE_E_INVALID: "'messages' must be an array, not ...". */
int vls_read_expect(vls_json value, vls_json_type type, const char *name, valise_error *err);
/* "a block must be an object, not ...". Who asks says where. */
int vls_read_item(vls_json value, const char *what, valise_error *err);

/* ---- looking ---- */

/* Marks for caches (members of this name) on tools, in "system" and in "messages", also within
 * results. The first one above VLS_MARKS_MAX is told. [R13.1] */
#define VLS_MARKS_MAX 4u
int vls_look_at_marks(vls_looking *looking, const char *mark, vls_json request, vls_json tools,
                      const char *tools_place, valise_error *err);

#endif
