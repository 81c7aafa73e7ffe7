/* bedrock.h -- what the files of this adapter share: bedrock.c writes, bedrock_read.c reads
 * requests, bedrock_answer.c understands answers.
 *
 * Threads: pure functions. */
#ifndef VLS_BEDROCK_H
#define VLS_BEDROCK_H

#include "wire/parts.h"

/* Where opaque thinking came from: meta.anthropic.platform. */
#define VLS_BEDROCK "bedrock"

/* Files by media type, and as they are called here; type NULL ends it. */
typedef struct vls_bedrock_format {
    const char *type, *name;
} vls_bedrock_format;
extern const vls_bedrock_format vls_bedrock_images[], vls_bedrock_documents[];

int vls_bedrock_read(vls_json *out, vls_arena *arena, const vls_adapter *adapter, vls_json request,
                     valise_error *err);
int vls_bedrock_look(vls_looking *looking, vls_json request, valise_error *err);
int vls_bedrock_answer(vls_stream *stream, vls_json response, valise_error *err);
int vls_bedrock_event(vls_stream *stream, valise_str name, vls_json data, valise_error *err);

#endif
