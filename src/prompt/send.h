/* send.h -- one request of a job: it goes out, pieces are told, an answer comes back.
 *
 * Threads: single, on the thread of the job. */
#ifndef VLS_PROMPT_SEND_H
#define VLS_PROMPT_SEND_H

#include "bus/job.h"
#include "prompt/clients.h"

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

/* As vls_client_send; the answer is in memory of the job. A job that is cancelled ends it. */
int vls_prompt_send(vls_answer *out, const vls_prompt_sending *of, valise_error *err);

/* {"input":...,"output":...} with what was told. */
int vls_usage_json(vls_json *out, vls_arena *arena, const vls_usage *usage, valise_error *err);

#endif
