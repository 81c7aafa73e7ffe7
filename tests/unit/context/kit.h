/* kit.h -- a workspace whose tree is words (kit/grove.h), and frames about it.
 *
 * Threads: single. */
#ifndef CONTEXT_KIT_H
#define CONTEXT_KIT_H

#include <valise.h>

#include "harness/test.h"
#include "kit/grove.h"

typedef struct yard {
    test *t;
    valise *v;
    grove_state state; /* of the newest version */
    int64_t version;
} yard;

/* As t->param says: in memory, or in a folder that has no files but Valise's own; closed when the
 * test ends. There are the actors r (reader), w (writer), s (synthesis) and local. */
yard *yard_open(test *t);
yard *yard_open_with(test *t, const valise_env *env);

/* The next version of the tree; moves are "from>to" words that the scan would have found, or "". */
void yard_grow(yard *y, const char *words, const char *moves);
int yard_try_grow(yard *y, const char *words, const char *moves, valise_error *err);

/* The slots alone. */
void yard_move(yard *y, const char *moves);

/* Say something as an actor (NULL: local). extra: further members of the payload, ",\"a\":1" or "".
 * Must succeed; the answer. */
const char *yard_put(yard *y, const char *actor, const char *node, const char *type,
                     const char *content, const char *extra);
/* The same with any outcome; the error is in t->err. */
int yard_try_put(yard *y, const char *actor, const char *node, const char *type,
                 const char *content, const char *extra);

const char *yard_run(yard *y, const char *type, const char *payload);
const char *yard_run_as(yard *y, const char *actor, const char *type, const char *payload);
int yard_try(yard *y, const char *actor, const char *type, const char *payload, const char *expect);

/* The text of a member of an answer, "frames.0.state"; "" when there is none. */
const char *yard_member(yard *y, const char *json, const char *path);

/* The state of a slot's head, as head:get tells it: "fresh", "stale node-changed", ... */
const char *yard_state(yard *y, const char *node, const char *type);

void yard_check(yard *y); /* `validate` finds nothing, and the log gives the same state again */

#endif
