/* grove.h -- a store with the collections of trees, and naive trees to compare them with.
 *
 * A state is written as words:
 *
 *     a.c=1       a file with the content "1"      run.sh*=1   one that its owner may run
 *     ln>x        a link to x                      bad!        something unreadable
 *     empty/      a directory; those on the way to anything else need not be named
 *
 * Threads: single. */
#ifndef TEST_GROVE_H
#define TEST_GROVE_H

#include "harness/test.h"

#include "store/store.h"
#include "store/view.h"
#include "tree/changes.h"
#include "tree/rows.h"

typedef struct grove_node {
    char *path;
    vls_node node;
    valise_id id;
} grove_node;

/* All nodes in the order of trees, the root first. Of test_alloc. */
typedef struct grove_state {
    grove_node *nodes;
    size_t count;
} grove_state;

grove_state grove_read(const char *words);
grove_state grove_of(const char *const *words, size_t count);
const grove_node *grove_get(const grove_state *s, const char *path);
vls_tree_counts grove_counts(const grove_state *s);

/* The lists of changes from one state to another, each of at most `most` changes (0: one list). */
size_t grove_changes(vls_buf *lists, size_t room, const valise_env *env, const grove_state *from,
                     const grove_state *to, size_t most);

typedef struct grove {
    test *t;
    const valise_env *env;
    vls_store *store;
    int64_t now;
    bool writing;
    vls_txn txn;
    valise_view view;       /* between begin and end */
    grove_state states[64]; /* by version */
    int64_t version;
} grove;

/* backend: "memory" or "sqlite". */
void grove_open(grove *g, test *t, const char *backend);
void grove_open_in(grove *g, test *t, const char *backend, const valise_env *env);
void grove_open_store(grove *g, test *t, const valise_store_ops *ops); /* in memory */
void grove_close(grove *g);
void grove_begin(grove *g, bool writing);
void grove_end(grove *g);              /* applies and commits */
void grove_drop(grove *g);             /* nothing of it */
void grove_look(grove *g, int64_t at); /* a reading view of the state after an entry; -1: now */

/* The next version, in commands of `most` changes each. */
void grove_grow(grove *g, const char *words);
void grove_grow_to(grove *g, grove_state state, size_t most);

/* The tree that the view sees. */
vls_tree_row grove_head(grove *g);

/* Everything of a version is as its state says: walk, get, children, find. */
void grove_compare(grove *g, const vls_tree_row *tree, int64_t version);

void grove_check(grove *g); /* `validate` finds nothing */
int64_t grove_problems(grove *g);

#endif
