/* valise/search.h -- find what was said and what is known, by its words.
 *
 *     valise_hits *hits = NULL;
 *
 *     rc = valise_search(&hits, v, "milk \"two pints\" choc*", NULL, NULL, err);
 *     for (size_t i = 0; rc == 0 && i < hits->count; i++)
 *         printf("%.*s\n", VALISE_STR_ARG(hits->items[i]->snippet));
 *     valise_hits_free(hits);
 *
 * All words must be there; "a phrase" stands together; word* is a beginning. Hits come by rank,
 * then the newest first, and only those that the actor may read. valise help search says the rest.
 *
 * Threads: valise_search may be called on one handle by many threads, which take turns; hits are
 * immutable. */
#ifndef VALISE_SEARCH_H
#define VALISE_SEARCH_H

#include <valise/error.h>
#include <valise/workspace.h>

VALISE_BEGIN

enum { VALISE_HIT_TURN, VALISE_HIT_CONTEXT, VALISE_HIT_FRAME };

typedef struct valise_hit {
    int kind;         /* VALISE_HIT_... */
    valise_str place; /* as `valise show` takes it */
    valise_str turn;  /* TURN: ID@VERSION; ptr NULL otherwise, as the next ones */
    valise_str key;   /* CONTEXT */
    valise_str path;  /* FRAME, with its type */
    valise_str type;
    const valise_str *topics;
    size_t topic_count;
    int64_t time;         /* INT64_MIN: not known */
    int64_t seq;          /* of the entry of the log that brought it */
    double score;         /* the higher the better */
    valise_str snippet;   /* of its text, where the words are */
    const int64_t *marks; /* pairs: the first byte of a match in it, and the one behind it */
    size_t mark_count;    /* of numbers */
} valise_hit;

typedef struct valise_hits {
    const valise_hit *const *items; /* best first */
    size_t count;
    int64_t seq; /* the state that was searched, or an earlier one */
} valise_hits;

typedef struct valise_search_options {
    size_t size;
    unsigned kinds;            /* bits 1 << VALISE_HIT_...; 0: all */
    const char *const *topics; /* NULL-ended: only what has one of them; NULL: all */
    valise_str session;        /* only its turns; "": all */
    int64_t limit, offset;     /* 0: 20 and none */
} valise_search_options;

#define VALISE_SEARCH_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_search_options), 0, NULL, {NULL, 0}, 0, 0                                    \
    }

/* options and call may be NULL. VALISE_E_INVALID: there is no word in the query; VALISE_E_DENIED;
 * VALISE_E_UNSUPPORTED for call->at; VALISE_E_BUSY: another process holds the index for too long.
 */
VALISE_API int valise_search(valise_hits **out, valise *v, const char *query,
                             const valise_search_options *options, const valise_call *call,
                             valise_error *err);
VALISE_API void valise_hits_free(valise_hits *hits); /* NULL is fine */

VALISE_END

#endif
