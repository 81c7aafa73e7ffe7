/* find.h -- a prompt by what people write for it, and its manifest.
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_FIND_H
#define VLS_PROMPT_FIND_H

#include "chat/find.h"
#include "prompt/manifest.h"
#include "prompt/rows.h"

#define VLS_PROMPT_TEXT_MAX VLS_TURN_REF_MAX
#define VLS_PROMPT_WHICH                                                                           \
    "its id or the first digits, or a session for its newest; SESSION~1 is the one before."

/* text: four or more digits that its id begins with; or a session, whose last prompt it is then,
 * with ~N behind it one that N others followed. VALISE_E_NOT_FOUND, VALISE_E_CONFLICT with
 * candidates. */
int vls_prompt_find(vls_prompt_row *out, valise_view *view, valise_str text, valise_error *err);

/* The same with its manifest, in memory of the view. VALISE_E_NOT_FOUND also where that was erased.
 * Who asks must be allowed to read sessions: VALISE_E_DENIED. */
int vls_prompt_open(vls_prompt_row *row, vls_manifest *out, valise_view *view, valise_str text,
                    valise_error *err);

#endif
