/* corpus.h -- the conversations of tests/data/prompts.
 *
 * NAME.json is for every adapter, NAME.ADAPTER.json for that one. */
#ifndef CORPUS_H
#define CORPUS_H

#include "wire/wire_kit.h"

typedef struct conversation {
    const char *name;
    valise_str prompt; /* a neutral prompt, JSON */
    const char *only;  /* the adapter that it is for; NULL: for all */
} conversation;

typedef struct corpus {
    conversation all[256];
    size_t count;
} corpus;

/* All of them, in the order of their names. In memory of the test. */
const corpus *corpus_of(test *t);

/* Whether the adapter has to write it. */
bool is_for(const conversation *c, const vls_adapter *adapter);

/* Models of the adapter that demand different things, NULL-ended; that of the golden file first.
 * An adapter that has none fails the test. */
const char *const *models_of(const vls_adapter *adapter);

#endif
