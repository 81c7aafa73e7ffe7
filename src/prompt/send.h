/* send.h -- one request of a job: it goes out, pieces are told, an answer comes back.
 *
 * Threads: single, on the thread of the job. */
#ifndef VLS_PROMPT_SEND_H
#define VLS_PROMPT_SEND_H

#include "bus/job.h"
#include "prompt/clients.h"
#include "store/blob.h"

typedef struct vls_prompt_sending {
    valise_job *job;
    const vls_provider *provider;
    const vls_wire *wire;
    valise_str neutral;         /* for clients of a host; "" */
    valise_str model;           /* ptr NULL: the provider's */
    bool stream;                /* pieces are told as live events */
    const char *stage;          /* of the job's progress: bytes of the answer are counted */
    const valise_uuid *session; /* whose events these are; NULL: nobody's, and none are told */
} vls_prompt_sending;

/* What a request reads its blobs with: those of a workspace. */
typedef struct vls_sent_blobs {
    valise *v;
    vls_blob_reader *reader; /* of the one that is open; NULL */
} vls_sent_blobs;
vls_wire_blobs vls_sent_blobs_of(vls_sent_blobs *self);

/* {"block","kind","name"?,"sessionId"?,"text"}: what live events say of a piece. session: NULL for
 * none. */
void vls_piece_write(vls_buf *out, const vls_piece *piece, const char *session);
#define VLS_PIECE_PAYLOAD_MAX ((size_t)1 << 20)

/* As vls_client_send; the answer is in memory of the job. A job that is cancelled ends it. */
int vls_prompt_send(vls_answer *out, const vls_prompt_sending *of, valise_error *err);

/* The text blocks of an answer as one text, "" where there is none; in memory of the arena. */
int vls_answer_text(valise_str *out, vls_arena *arena, vls_json blocks, valise_error *err);

/* {"input":...,"output":...} with what was told. */
int vls_usage_json(vls_json *out, vls_arena *arena, const vls_usage *usage, valise_error *err);

#endif
