/* ops_kit.h -- a workspace with one of everything a prompt can have, and operations on it.
 *
 * Payloads are written with ' for ". What stands for a kind of source is "planted-KIND", its name
 * "name-KIND": who may not read the kind must see neither.
 *
 * Threads: single. */
#ifndef PROMPT_OPS_KIT_H
#define PROMPT_OPS_KIT_H

#include "memory/kit.h"

/* Two prompts of session s are made in it: a, and (one turn later) b. */
typedef struct ops {
    test *t;
    den *d;
    bool tree; /* there is a file name-context.c with a note */
    const char *a, *b;
} ops;

#define OPS_TURNS 3

ops *ops_open(test *t);

const char *ops_quote(const char *text);
/* It must go; the answer. actor NULL: the owner. */
const char *ops_run(ops *o, const char *actor, const char *op, const char *format, ...)
    VALISE_PRINTF(4, 5);
/* It must fail so, say this, and change nothing. */
void ops_refused(ops *o, const char *actor, int code, const char *says, const char *op,
                 const char *format, ...) VALISE_PRINTF(6, 7);
/* All that is said, be it an answer or a refusal. */
const char *ops_said(int *rc, ops *o, const char *actor, const char *op, const char *payload);

/* An actor with these capabilities ("'prompt:read','session:read'"). */
void ops_admit(ops *o, const char *id, const char *capabilities);
/* A new file with this text; its path. */
const char *ops_file(const char *text);
const char *ops_prompt_args(const ops *o); /* all sources there are, with no { around */

#endif
