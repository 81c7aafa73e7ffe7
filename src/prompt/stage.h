/* stage.h -- what the stages of a build share.
 *
 * Threads: single, as the view is. */
#ifndef VLS_PROMPT_STAGE_H
#define VLS_PROMPT_STAGE_H

#include "memory/rows.h"
#include "prompt/build.h"

/* One more part at the end; strings of it must live as long as the view. */
int vls_add_part(vls_choice *out, valise_view *view, const vls_part *part, valise_error *err);

/* May the actor read what is of this kind at all? 1; or 0, which is told, without a name. */
int vls_may_choose(vls_choice *out, valise_view *view, vls_part_kind kind, valise_error *err);

/* The role in force at the head, in its newest version: 1; 0: there is none. */
int vls_role_in_force(vls_role_version_row *out, valise_view *view, const vls_request *request,
                      valise_error *err);

/* The latest words of the user on the path, in memory of the view; ptr NULL: there are none among
 * the last turns. */
int vls_find_question(valise_str *out, valise_view *view, const vls_request *request,
                      valise_error *err);

/* Stage 4 for a turn: how each of its blobs is sent, as edits; tokens of media are added. */
int vls_part_assets(vls_part *part, valise_view *view, const vls_request *request,
                    valise_error *err);
/* The same for an entry that is a blob. */
int vls_entry_asset(vls_part *part, valise_view *view, const vls_request *request,
                    valise_error *err);

/* What a blob says, if it is text: UTF-8 without a NUL, in memory of the view. 1; 0: it is not, or
 * nobody has it. */
int vls_file_text(valise_str *out, valise_view *view, const valise_id *blob, valise_error *err);

/* The type of the frame that a part is of, out of its words: who may read it depends on that. */
valise_str vls_frame_part_type(const vls_part *part);

#endif
