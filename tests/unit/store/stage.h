/* stage.h -- a store with test collections, and commands on it without a bus.
 *
 * Threads: single. */
#ifndef STORE_STAGE_H
#define STORE_STAGE_H

#include "harness/test.h"

#include "store/view.h"

/* A row that changes; key (bag, name), index by label. */
typedef struct thing {
    valise_str bag, name;
    int64_t count;
    valise_str label; /* NULLABLE */
} thing;
extern const valise_coll stage_things;

/* IMMUTABLE, QUIET and EXEMPT ones: number -> text. */
typedef struct stone {
    int64_t number;
    valise_str text;
} stone;
extern const valise_coll stage_stones, stage_grains, stage_cache;

/* A QUIET one that tells of its rows, and holds objects as contents. */
typedef struct bell {
    int64_t number;
    valise_id sound; /* NULLABLE */
} bell;
extern const valise_coll stage_bells;

/* A row that holds an object. */
typedef struct holder {
    valise_str name;
    valise_id object; /* NULLABLE */
} holder;
extern const valise_coll stage_holders;

typedef struct stage {
    test *t;
    vls_store *store;
    int64_t now;
} stage;

vls_store_options stage_options(const test *t, const char *param, const char *dir);

/* param: "memory" or "sqlite". dir is where sqlite puts its file. */
void stage_open(stage *k, test *t, const char *param, const char *dir);
void stage_close(stage *k);

/* Run fn as a command of its own: begin, view, fn, apply, commit. Returns what failed first, and
 * then nothing was kept. */
typedef int stage_fn(valise_view *view, void *arg, valise_error *err);
int stage_command(stage *k, stage_fn *fn, void *arg, valise_error *err);

/* The same for an INTERNAL one. */
int stage_internal(stage *k, stage_fn *fn, void *arg, valise_error *err);

/* stage_command, which must succeed. */
void stage_do(stage *k, stage_fn *fn, void *arg);

/* Read the state at a seq (-1: the newest) through a view. */
int stage_read(stage *k, int64_t at, stage_fn *fn, void *arg, valise_error *err);
int64_t stage_tip(stage *k);

#endif
