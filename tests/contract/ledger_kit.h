/* ledger_kit.h -- the ledgers that the contract suite runs over. */
#ifndef TEST_LEDGER_KIT_H
#define TEST_LEDGER_KIT_H

#include "kit/ledger.h"

/* A ledger that was opened for a test, and one that was forked from it. */
typedef struct opened {
    const struct ledger_kind *kind;
    const valise_env *env;
    void *self;
    vls_ledger ledger;
} opened;

typedef struct ledger_kind {
    const char *name; /* t->param */
    void (*open)(opened *out, const valise_env *env, const valise_uuid *id);
    void (*fork)(opened *out, const vls_ledger *from, const valise_env *env, const valise_uuid *id);
    void (*close)(void *self);
} ledger_kind;

/* One of each kind: a line here, and its name in LEDGER_PARAMS. */
extern const ledger_kind ledger_kinds[];
#define LEDGER_PARAMS "ring", "naive", "rows-memory", "rows-sqlite"

opened ledger_open(test *t);
opened ledger_fork(test *t, const vls_ledger *from);
static inline void vls_auto_opened(opened *o)
{
    if (o->kind)
        o->kind->close(o->self);
}

#endif
