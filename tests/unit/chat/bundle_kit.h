/* bundle_kit.h -- workspaces that exchange conversations by bundles. */
#ifndef CHAT_BUNDLE_KIT_H
#define CHAT_BUNDLE_KIT_H

#include <valise/workspace.h>

#include "harness/test.h"

/* A new workspace of this name ("memory": without a folder), closed when the test ends. */
valise *place_open(test *t, const char *name);
const char *place_path(const char *name);
const char *bundle_path(const char *name);

/* Dispatch; payload is a printf format. The answer as text; must succeed. */
const char *place_run(test *t, valise *v, const char *type, const char *payload, ...)
    VALISE_PRINTF(4, 5);
int place_try(test *t, valise *v, const char *type, const char *payload, ...) VALISE_PRINTF(4, 5);

/* A member of an answer, a text. */
const char *answer_of(const char *json, const char *member);

/* Make a session; its id is made of the digit. */
const char *session_new(test *t, valise *v, int digit);

/* Say something; the TurnRef. */
const char *session_say(test *t, valise *v, const char *session, const char *text);

/* Everything on the path of the head, "one|two"; erased turns are "-". */
const char *session_text(test *t, valise *v, const char *session);
const char *session_head(test *t, valise *v, const char *session);
int session_tips(test *t, valise *v, const char *session);

/* How many rows there are. */
int count_rows(test *t, valise *v, const char *collection);

/* Export one session; import. The answer of the import. */
void place_export(test *t, valise *v, const char *session, const char *name);
const char *place_import(test *t, valise *v, const char *name);
int place_import_try(test *t, valise *v, const char *name);

/* `validate` finds nothing wrong. */
void place_check(test *t, valise *v);
int64_t place_seq(test *t, valise *v);

/* Files below a folder that contain these bytes. */
int files_with(const char *folder, const char *bytes);

#endif
