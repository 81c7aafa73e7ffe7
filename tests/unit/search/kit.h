/* kit.h -- a workspace in which things were said, put as rows, and a naive search beside it.
 *
 * Threads: single. */
#ifndef SEARCH_KIT_H
#define SEARCH_KIT_H

#include <valise.h>
#include <valise/sys/extension.h>

#include "harness/test.h"

/* toy:turn {id, version, blocks}, toy:entry {key, text | json, topics, expires}, toy:drop {turn |
 * key}: rows of conversations and memory, word for word. */
extern const valise_extension toy_extension;

typedef struct desk {
    test *t;
    valise *v;
    const char *dir;
    bool memory;
    bool talks; /* turns are said in a session; else they are bare rows */
} desk;

/* As t->param says: "memory" or "sqlite"; closed when the test ends. */
desk *desk_open(test *t);
desk *desk_open_in(test *t, const char *dir, bool memory);
void desk_close(desk *d); /* before that */
void desk_reopen(desk *d);

/* Run an operation with these members of its payload ("\"a\":1", or ""): the answer. */
const char *desk_run(desk *d, const char *op, const char *members);
int desk_try(desk *d, const char *actor, const char *op, const char *members);

/* From here on turns are said in a session, "s". */
void desk_talk(desk *d);

/* Turn number n says this; the entry has this text and these topics (JSON members, or ""). */
void desk_say(desk *d, unsigned n, const char *text);
void desk_note(desk *d, const char *key, const char *text, const char *topics);

/* The places of the hits, a word for each: "t7" for turn 7, "e:key", "f:path:type". */
const char *desk_find(desk *d, const char *query, const char *members);
const char *desk_find_as(desk *d, const char *actor, const char *query, const char *members);

/* Do the bytes stand in any file of the search index, or of the workspace? */
bool desk_holds(const desk *d, const char *begin, const char *bytes);
const char *desk_path(const desk *d, const char *name); /* in .valise */

#endif
