/* outline.h -- a text as a title and sentences.
 *
 * Knows a little Markdown and no language: lines, paragraphs, headings, list items, fences. ASCII
 * only; bytes from 0x80 on are letters. docs/formats.md, "Derived frames", has the rules.
 *
 * Threads: pure functions; arenas are single. */
#ifndef VLS_OUTLINE_H
#define VLS_OUTLINE_H

#include "base/arena.h"
#include "base/vec.h"

#define VLS_OUTLINE_TITLE_MAX 160u      /* bytes */
#define VLS_OUTLINE_SENTENCES_MAX 10000 /* what comes behind them is not read */

typedef struct vls_outline {
    valise_str title; /* ptr NULL: none */
    bool led;         /* the title is the first sentence, or its beginning */
    /* In their order, white space in them single, none at their ends. */
    vls_vec(valise_str) sentences;
} vls_outline;

/* Text must be valid UTF-8; nothing of the outline borrows from it. Lines that policies write
 * themselves are not there. VALISE_E_NO_MEMORY, VALISE_E_TOO_LARGE (arena). */
int vls_outline_read(vls_outline *out, vls_arena *arena, valise_str text, valise_error *err);

/* The next word of a sentence, from *at on: letters, digits and bytes from 0x80 on. False at the
 * end. */
bool vls_outline_word(valise_str *out, size_t *at, valise_str sentence);

#endif
