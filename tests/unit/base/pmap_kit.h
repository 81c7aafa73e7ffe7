/* pmap_kit.h -- what the tests of base/pmap share: items, a naive model, and a walk that checks
 * every invariant of pmap_node.h. */
#ifndef PMAP_KIT_H
#define PMAP_KIT_H

#include "harness/counting_env.h"
#include "harness/test.h"

#include "base/pmap_node.h"

/* An item. Its key is the end of its block, so that ASan sees a read behind it. */
typedef struct thing {
    vls_ref refs;
    unsigned number; /* how many were made before it */
    const valise_env *env;
    size_t len;
    char key[];
} thing;

extern const vls_pmap_ops thing_ops;
extern size_t thing_key_calls; /* how often thing_ops.key was called; set it to 0 at will */

thing *thing_new(const valise_env *env, valise_str key);
void thing_unref(void *item);
valise_str thing_key(const void *item);

/* Put a new item under key and keep no reference. */
int put_key(vls_pmap *map, const valise_env *env, valise_str key);

/* The naive model: a sorted array of items, each referenced. Plain malloc. */
typedef struct model {
    thing **ptr;
    size_t len, cap;
} model;

size_t model_find(const model *m, valise_str key, bool *found); /* the first not less */
void model_put(model *m, thing *item);
bool model_remove(model *m, valise_str key);
void model_copy(model *out, const model *m);
void model_release(model *m);

/* Whether map holds just these items, in this order. */
bool model_matches(const model *m, const vls_pmap *map);

/* Whether vls_pmap_diff reports what a walk over both models finds; the number of keys that
 * differ goes to *count. */
bool model_diff_matches(size_t *count, const vls_pmap *map_a, const model *a, const vls_pmap *map_b,
                        const model *b);

/* Walk the tree and fail the test where it is not as pmap_node.h says. Memory ran out in a
 * `starved` map: its nodes may be sparse. */
void check_tree(const vls_pmap *map, bool starved);

/* Every node and item that these maps and models hold between them must have just as many
 * references as there are pointers to it. */
void check_counts(const vls_pmap *maps, const model *models, size_t count);

/* How full the nodes are on average. */
unsigned fill_percent(const vls_pmap *map);

/* "prefix" and a number with leading zeros; good until eight more were made. */
valise_str numbered(const char *prefix, unsigned number);

#endif
