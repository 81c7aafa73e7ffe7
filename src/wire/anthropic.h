/* anthropic.h -- what the files of this adapter share: anthropic.c writes, anthropic_read.c reads
 * requests, anthropic_answer.c understands answers.
 *
 * Threads: pure functions. */
#ifndef VLS_ANTHROPIC_H
#define VLS_ANTHROPIC_H

#include "wire/parts.h"

int vls_anthropic_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter,
                       vls_json request, valise_error *err);
int vls_anthropic_look(vls_looking *looking, vls_json request, valise_error *err);
int vls_anthropic_answer(vls_stream *stream, vls_json response, valise_error *err);
int vls_anthropic_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err);

#endif
