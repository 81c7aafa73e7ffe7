/* ledger_kit.h -- ledgers of every kind, for suites that run once for each. */
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
    const char *name; /* t->param; without one it is naive */
    void (*open)(opened *out, const valise_env *env, const vls_bag_row *bag);
    void (*fork)(opened *out, const vls_ledger *from, const vls_bag_row *bag);
    void (*close)(void *self);
    /* Drop the history up to a commit, as a bound or retention does. */
    void (*forget)(void *self, int64_t edge);
} ledger_kind;

/* One of each kind: a line here, and its name in LEDGER_PARAMS. */
extern const ledger_kind ledger_kinds[];
#define LEDGER_PARAMS "ring", "naive", "rows-memory", "rows-sqlite"

opened ledger_open(test *t);
opened ledger_fork(test *t, const vls_ledger *from);
/* The same with an id, a name and options: of a backpack's row only these count. */
opened ledger_open_with(test *t, const vls_bag_row *bag);
opened ledger_fork_with(test *t, const vls_ledger *from, const vls_bag_row *bag);

static inline void vls_auto_opened(opened *o)
{
    if (o->kind)
        o->kind->close(o->self);
}

#endif
