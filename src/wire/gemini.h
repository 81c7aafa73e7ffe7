/* gemini.h -- what the files of this adapter share: gemini.c writes, gemini_read.c reads requests,
 * gemini_answer.c understands answers.
 *
 * Threads: pure functions. */
#ifndef VLS_GEMINI_H
#define VLS_GEMINI_H

#include "wire/parts.h"

int vls_gemini_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter, vls_json request,
                    valise_error *err);
int vls_gemini_answer(vls_stream *stream, vls_json response, valise_error *err);
int vls_gemini_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err);

#endif
