/* find.h -- sessions and turns by what people write for them.
 *
 *     session   its id; the end of that, four digits or more; its label, if only one has it
 *     turn      ID@VERSION, ID, the end of an id with or without @VERSION,
 *               HEAD, HEAD~3 (three first parents further up), of the session at hand
 *
 * An end is looked for on the path of the session first, then among all turns. Without a version it
 * is the one on the path of the session; where none is, the newest.
 *
 * Threads: single. */
#ifndef VLS_CHAT_FIND_H
#define VLS_CHAT_FIND_H

#include "chat/rows.h"

/* VALISE_E_NOT_FOUND (and who was meant, perhaps), VALISE_E_CONFLICT for what is ambiguous, with
 * candidates. */
int vls_session_find(vls_session_row *out, valise_view *view, valise_str text, valise_error *err);

/* session may be NULL: then there is no HEAD. version: VALISE_NONE where the caller gave none;
 * INVALID when it is another one than the text says. */
int vls_turn_find(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                  valise_str text, int64_t version, valise_error *err);

/* Is it written like a turn, and like no session? HEAD~2, 3feabb51@2. */
bool vls_turn_is_meant(valise_str text);

/* valise_coll.named of turns: as above, without a session. */
int vls_turn_named(valise_view *view, valise_str text, bool widely, valise_named_fn *fn, void *arg,
                   valise_error *err);

/* The version with this ref: 1, or 0. */
int vls_turn_get(vls_turn_row *out, valise_view *view, const vls_turn_ref *ref, valise_error *err);

/* Its parents in their order, in memory of the view. */
int vls_turn_parents(vls_turn_ref **out, size_t *count, valise_view *view, const vls_turn_row *turn,
                     valise_error *err);

/* fn gets each child. */
typedef int vls_turn_fn(void *arg, const vls_turn_row *turn, valise_error *err);
int vls_turn_each_child(valise_view *view, const vls_turn_row *turn, vls_turn_fn *fn, void *arg,
                        valise_error *err);

#endif
