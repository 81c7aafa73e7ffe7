/* valise/search.h -- find turns, context entries and frames by their words.
 *
 *     valise_hits *hits = NULL;
 *
 *     rc = valise_search(&hits, v, "milk \"two pints\" choc*", NULL, NULL, err);
 *     for (size_t i = 0; rc == 0 && i < hits->count; i++)
 *         printf("%.*s\n", VALISE_STR_ARG(hits->items[i]->snippet));
 *     valise_hits_free(hits);
 *
 * A hit contains all words of the query. "a phrase" matches these words next to each other; word*
 * matches words that begin so. Hits are ordered by rank, those of equal rank newest first, and
 * contain only what the actor may read. `valise help search` describes the rest.
 *
 * Threads: many threads may call valise_search on one handle; they take turns. Hits are immutable.
 */
#ifndef VALISE_SEARCH_H
#define VALISE_SEARCH_H

#include <valise/error.h>
#include <valise/workspace.h>

VALISE_BEGIN

enum { VALISE_HIT_TURN, VALISE_HIT_CONTEXT, VALISE_HIT_FRAME };

typedef struct valise_hit {
    int kind;         /* VALISE_HIT_... */
    valise_str place; /* an argument for `valise show` */
    valise_str ref;   /* TURN: ID@VERSION; else ptr NULL, as below */
    valise_str key;   /* CONTEXT: its key */
    valise_str path;  /* FRAME: the path of its file, and its type */
    valise_str type;
    const valise_str *topics;
    size_t topic_count;
    int64_t time;         /* VALISE_NONE: unknown */
    int64_t seq;          /* of the log entry that added it */
    double score;         /* higher is better */
    valise_str snippet;   /* the part of its text that has the words */
    const int64_t *marks; /* in pairs: the first byte of a match in the snippet, and the byte
                             after it */
    size_t mark_count;    /* count of numbers, not of pairs */
} valise_hit;

typedef struct valise_hits {
    const valise_hit *const *items; /* best first */
    size_t count;
    int64_t seq; /* the log position that was searched; it may lag behind the newest */
} valise_hits;

typedef struct valise_search_options {
    size_t size;
    unsigned kinds;           /* bits 1 << VALISE_HIT_...; 0: all */
    const valise_str *topics; /* only what has one of these */
    size_t topic_count;       /* 0: all */
    valise_str session;       /* only the turns of this session; "": all */
    int64_t limit, offset;    /* limit 0: 20 hits */
} valise_search_options;

#define VALISE_SEARCH_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(valise_search_options), 0, NULL, 0, {NULL, 0}, 0, 0                                 \
    }

/* Search. *out is freed with valise_hits_free. options and call may be NULL. VALISE_E_INVALID: the
 * query has no word; VALISE_E_DENIED; VALISE_E_UNSUPPORTED: call->at names a past state;
 * VALISE_E_BUSY: another process holds the index for too long. */
VALISE_API int valise_search(valise_hits **out, valise *v, const char *query,
                             const valise_search_options *options, const valise_call *call,
                             valise_error *err);
/* Free hits; NULL is fine. */
VALISE_API void valise_hits_free(valise_hits *hits);

VALISE_END

#endif
