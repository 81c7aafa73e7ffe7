/* said.h -- how a turn processor reads what was said.
 *
 * Threads: single. */
#ifndef RECIPES_SAID_H
#define RECIPES_SAID_H

#include <stdio.h>

#include <valise/sys/turn.h>

#include "read.h"

/* Ask a query as the job's actor. The reply is the caller's to release, also after a failure. */
static inline int ask(valise_reply *out, valise_job *job, const char *type, const char *member,
                      const char *value, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;
    char payload[256];

    call.actor = valise_job_actor(job);
    (void)snprintf(payload, sizeof(payload), "{\"%s\":\"%s\"}", member, value);
    return valise_dispatch(out, valise_job_workspace(job), type, payload, &call, err);
}

/* The blocks of this version, valid as long as the reply. An empty text when there is no such turn
 * any more, or what it said was erased. */
static inline int read_blocks(valise_str *blocks, valise_reply *reply, valise_job *job,
                              const valise_turn_row *row, valise_error *err)
{
    char ref[VALISE_TURN_REF_TEXT];
    int rc = ask(reply, job, "turn:show", "turnId", valise_turn_ref_text(ref, &row->ref), err);

    *blocks = (valise_str){"", 0};
    if (rc == VALISE_E_NOT_FOUND)
        return 0;
    if (rc == 0)
        (void)find_member(blocks, valise_blob_bytes(reply->json), "blocks");
    return rc;
}

#endif
