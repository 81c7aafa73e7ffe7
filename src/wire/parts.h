/* parts.h -- what adapters share when they write.
 *
 * Threads: single, as the wire is. */
#ifndef VLS_PARTS_H
#define VLS_PARTS_H

#include "json/make.h"
#include "wire/schema.h"
#include "wire/settle.h"

/* "model": VALISE_E_INVALID where there is none. */
int vls_part_model(vls_wire *wire, const vls_plan *plan, valise_error *err);
/* A member, where the param is there and no empty array. */
void vls_part_param(vls_wire *wire, const vls_plan *plan, const char *param, const char *key);
bool vls_part_has_param(const vls_plan *plan, const char *param);
/* The arguments of a call as an object. What its own vendor wrote (meta.raw) goes word for word if
 * it says the same. */
int vls_part_args(vls_wire *wire, const vls_plan *plan, const vls_plan_block *call,
                  valise_error *err);
/* The same as a string: word for word as the model wrote them, if that is known. */
void vls_part_args_text(vls_wire *wire, const vls_plan_block *call);
/* Bytes of a file as a string "data:TYPE;base64,...". */
void vls_part_data_url(vls_wire *wire, const vls_plan_block *block);
/* The members "filename" and "file_data" of a document, as OpenAI has them. */
void vls_part_file(vls_wire *wire, const vls_plan_block *block);
/* What stands before the text of a result that is an error: not every form has a mark for them. */
#define VLS_PART_ERROR "Error: "

#endif
