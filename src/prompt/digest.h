/* digest.h -- a model writes the summary: what it is told, and what comes back. [P7]
 *
 * Threads: single. */
#ifndef VLS_PROMPT_DIGEST_H
#define VLS_PROMPT_DIGEST_H

#include "prompt/part.h"
#include "prompt/send.h"

#define VLS_DIGEST_RESULT 2000 /* bytes of a tool's result, or of arguments, that are shown */

/* What was said, as one text: who, and what; in the arena. */
int vls_digest_text(valise_str *out, vls_arena *arena, const vls_part *parts, size_t count,
                    valise_error *err);

/* Ask for a summary of the text, of about target tokens. In memory of the job. VALISE_E_INVALID:
 * the answer has no text. */
int vls_digest_ask(valise_str *out, vls_answer *answer, valise_job *job,
                   const vls_provider *provider, valise_str model, valise_str text, int64_t target,
                   valise_error *err);

#endif
