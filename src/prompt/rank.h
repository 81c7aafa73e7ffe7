/* rank.h -- how well texts answer a question: BM25 in integers, the same on every machine. [P2]
 *
 * Words are runs of letters and digits in lower case (ASCII; other characters count as letters, and
 * each of a script without spaces is one). Frequencies are those of the texts at hand, so that
 * nothing that is not asked about can change the order.
 *
 * Threads: pure functions. */
#ifndef VLS_PROMPT_RANK_H
#define VLS_PROMPT_RANK_H

#include "base/arena.h"

#define VLS_RANK_WORDS 64                /* of a question that count: the first different ones */
#define VLS_RANK_LOOK ((size_t)64 << 10) /* bytes of a text that are looked at */

/* scores[i]: of texts[i], 0 where no word of the question is in it. */
int vls_rank(int64_t *scores, const valise_str *texts, size_t count, valise_str question,
             vls_arena *arena, valise_error *err);

/* The next word of what is left of *text, in lower case, into room: its length; 0: there is none.
 * A long one is cut. */
#define VLS_RANK_WORD 64
size_t vls_rank_word(char room[VLS_RANK_WORD], valise_str *text);

#endif
