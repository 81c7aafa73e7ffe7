/* parts.h -- what adapters share whose arguments are texts: the family of OpenAI. objects.h has the
 * rest.
 *
 * Threads: pure functions. */
#ifndef VLS_PARTS_H
#define VLS_PARTS_H

#include "wire/objects.h"

/* ---- before writing: for `settle` ---- */

/* Errors of tools are told by VLS_PART_ERROR before their text (R12.4): not in every form there is
 * a mark for them. */
int vls_part_settle_errors(vls_plan *plan, valise_error *err);
#define VLS_PART_ERROR "Error: "

/* ---- writing ---- */

/* "model": VALISE_E_INVALID where there is none. */
int vls_part_model(vls_wire *wire, const vls_plan *plan, valise_error *err);
/* A member, where the param is there. */
void vls_part_param(vls_wire *wire, const vls_plan *plan, const char *param, const char *key);
/* The arguments of a call as a string: word for word as the model wrote them, if that is known. */
void vls_part_args_text(vls_wire *wire, const vls_plan_block *call);
/* Bytes of a file as a string "data:TYPE;base64,...". */
void vls_part_data_url(vls_wire *wire, const vls_plan_block *block);
#endif
