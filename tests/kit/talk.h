/* talk.h -- a workspace to talk in: operations as JSON, answers as text.
 *
 * Threads: single. */
#ifndef KIT_TALK_H
#define KIT_TALK_H

#include <valise.h>
#include <valise/sys/view.h>

#include "harness/test.h"

typedef struct talk {
    test *t;
    valise *v;
    const char *path;
} talk;

/* As t->param says: in memory, or (sqlite) in a folder; closed when the test ends. */
talk *talk_open(test *t);
/* A folder, or ":memory:". Not closed by itself. */
void talk_open_at(talk *k, test *t, const valise_env *env, const char *path);

/* Must succeed; the answer. */
const char *talk_run(talk *k, const char *type, const char *format, ...) VALISE_PRINTF(3, 4);
/* Any outcome; the error is in t->err. */
int talk_try(talk *k, const char *type, const char *format, ...) VALISE_PRINTF(3, 4);
int talk_try_expecting(talk *k, const char *expect, const char *type, const char *format, ...)
    VALISE_PRINTF(4, 5);

/* The text of a member of an answer, "items.0.ref"; "" when there is none. */
const char *talk_member(talk *k, const char *json, const char *path);

/* A new session (label NULL: none); a turn with a text. The id; the ref. */
const char *talk_session(talk *k, const char *label);
const char *talk_say(talk *k, const char *session, const char *role, const char *text);

/* Rows of a collection as JSON members of `valise show`: how many there are. */
int64_t talk_count(talk *k, const valise_coll *coll);

/* `validate` finds nothing, and (unless something was erased) the log gives the same state. */
void talk_check(talk *k, bool replay);

#endif
