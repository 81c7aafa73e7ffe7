/* summarize.h -- a shorter text for a stretch of a conversation, by choosing from it. [P7]
 *
 * Sentences are scored by how often their words are said in the whole stretch, in integers; the
 * best ones that fit stand in the order in which they were said, with who said them, and one line
 * names the tools that were called. Nothing is invented, nothing depends on a model, a clock or a
 * machine: the same turns give the same text everywhere.
 *
 * Threads: pure functions. */
#ifndef VLS_PROMPT_SUMMARIZE_H
#define VLS_PROMPT_SUMMARIZE_H

#include "json/json.h"

#define VLS_SUMMARIZER "extractive/1" /* its name and what counts changes of what it makes */
#define VLS_SUMMARY_HEAD "What was said before, shortened:"
#define VLS_SUMMARY_TARGET_MIN 32 /* tokens */
#define VLS_SUMMARY_SENTENCE 400  /* bytes; a longer one is cut */
#define VLS_SUMMARY_SENTENCES ((size_t)1 << 20)

typedef struct vls_summary_turn {
    uint8_t says;    /* VLS_SAYS_... */
    vls_json blocks; /* as turns have them; thinking and media are passed over */
} vls_summary_turn;

/* At most target tokens (our count, base/tokens.h; at least VLS_SUMMARY_TARGET_MIN), valid UTF-8
 * without control characters but line ends, never empty; in the arena. Of each text
 * VLS_RANK_LOOK bytes are looked at. VALISE_E_LIMIT: too many sentences. */
int vls_summarize(valise_str *out, vls_arena *arena, const vls_summary_turn *turns, size_t count,
                  int64_t target, valise_error *err);

#endif
