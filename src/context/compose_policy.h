/* compose_policy.h -- what a composition is made of: the language of `compose --policy`.
 *
 *     text    part { ',' part }     "relevance,sources=node+ancestors,max=10,query=date parsing"
 *     part    relevance | recency | type | agent | custom=NAME     order
 *             sources=S{+S}                node, parent, ancestors, siblings, children
 *             types=T{+T}  agents=A{+A}    which come first, with stars; the rest is last
 *             query=WORDS                  what it is for
 *             max=N  max_bytes=N  max_tokens=N,
 *             type=  agent=  path=  state=  seq=  time=     limits and filters: those of views
 *                                                           (lens.h)
 *
 * Left out: relevance, all sources, max=100, max_bytes=1048576, nothing else. A list may be given
 * in several parts. The nodes that are related to this one are no part of a policy but of the
 * request.
 *
 * Words are runs of ASCII letters and digits and of bytes from 0x80, upper case as lower case: no
 * table of characters that differs between machines has a say in them.
 *
 * The hash of a policy is that of its canonical text (docs/formats.md, "Policies of compositions").
 *
 * Threads: immutable once parsed. */
#ifndef VLS_COMPOSE_POLICY_H
#define VLS_COMPOSE_POLICY_H

#include <valise/context.h>

#include "context/lens.h"

#define VLS_COMPOSE_TAG "valise.compose.1"
#define VLS_COMPOSE_BYTES_USUAL ((int64_t)1 << 20)
#define VLS_COMPOSE_WORDS_MAX 32u
#define VLS_COMPOSE_WORD_MAX 64u /* bytes */

enum {
    VLS_COMPOSE_BY_RELEVANCE,
    VLS_COMPOSE_BY_RECENCY,
    VLS_COMPOSE_BY_TYPE,
    VLS_COMPOSE_BY_AGENT,
    VLS_COMPOSE_BY_CUSTOM,
};

extern const char *const vls_relation_names[]; /* of VALISE_RELATION_...; NULL-ended */

/* Sources: bits 1 << VALISE_RELATION_...; ancestors have the parent among them. */
#define VLS_COMPOSE_SOURCES                                                                        \
    (1u << VALISE_RELATION_NODE | 1u << VALISE_RELATION_PARENT | 1u << VALISE_RELATION_ANCESTOR |  \
     1u << VALISE_RELATION_SIBLING | 1u << VALISE_RELATION_CHILD)

typedef struct vls_compose_words {
    valise_str words[VLS_COMPOSE_WORDS_MAX]; /* folded, by their bytes, each once */
    size_t count;
    char room[VLS_LENS_TEXT_MAX]; /* where they are */
} vls_compose_words;

typedef struct vls_compose_policy {
    int order;
    valise_str custom; /* name; BY_CUSTOM */
    unsigned sources;
    vls_lens lens;                /* limits and filters */
    vls_lens_globs types, agents; /* the first counts most */
    vls_compose_words query;
} vls_compose_policy;

/* Borrows from text, and from itself: it stays where it is. query: in place of what the text says;
 * ptr NULL: nothing is. VALISE_E_INVALID names the part that is wrong, with its offset; what *out
 * has then means nothing. */
int vls_compose_parse(vls_compose_policy *out, valise_str text, valise_str query,
                      valise_error *err);

/* A part by itself, and so no name of a policy. */
bool vls_compose_is_word(valise_str word);

/* Append the canonical text. The buffer remembers a failure. */
void vls_compose_write(vls_buf *out, const vls_compose_policy *policy);

/* That text (of the buffer), and its hash. */
int vls_compose_hash(valise_id *out, vls_buf *text, const vls_compose_policy *policy,
                     valise_error *err);

/* ---- words ---- */

/* The next word of a text, as it stands there, and what follows it. ptr NULL: there is none. */
valise_str vls_compose_next_word(valise_str *rest);

/* Which of the words it is, whatever its case, or -1. */
int vls_compose_find_word(const vls_compose_words *words, valise_str word);

#endif
