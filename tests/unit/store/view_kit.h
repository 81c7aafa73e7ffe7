/* view_kit.h -- a store with test collections, and commands on it without a bus.
 *
 * Threads: single. */
#ifndef STORE_VIEW_KIT_H
#define STORE_VIEW_KIT_H

#include "harness/test.h"

#include "store/view.h"

/* A row that changes; key (bag, name), index by label. */
typedef struct thing {
    valise_str bag, name;
    int64_t count;
    valise_str label; /* NULLABLE */
} thing;
extern const valise_coll kit_things;

/* IMMUTABLE, QUIET and EXEMPT ones: number -> text. */
typedef struct stone {
    int64_t number;
    valise_str text;
} stone;
extern const valise_coll kit_stones, kit_grains, kit_cache;

/* A row that holds an object. */
typedef struct holder {
    valise_str name;
    valise_id object; /* NULLABLE */
} holder;
extern const valise_coll kit_holders;

typedef struct kit {
    test *t;
    vls_store *store;
    int64_t now;
} kit;

/* param: "memory" or "sqlite". dir is where sqlite puts its file. */
void kit_open(kit *k, test *t, const char *param, const char *dir);
void kit_close(kit *k);

/* Run fn as a command of its own: begin, view, fn, apply, commit. Returns what failed first, and
 * then nothing was kept. */
typedef int kit_fn(valise_view *view, void *arg, valise_error *err);
int kit_command(kit *k, kit_fn *fn, void *arg, valise_error *err);

/* The same, which must succeed. */
void kit_do(kit *k, kit_fn *fn, void *arg);

/* Read the state at a seq (-1: the newest) through a view. */
int kit_read(kit *k, int64_t at, kit_fn *fn, void *arg, valise_error *err);
int64_t kit_tip(kit *k);

#endif
