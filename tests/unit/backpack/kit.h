/* kit.h -- a backpack over a ledger, and its answers as texts.
 *
 * The ledger is the naive one; in suites whose TEST_PARAMS are LEDGER_PARAMS one of each kind. */
#ifndef TEST_BACKPACK_KIT_H
#define TEST_BACKPACK_KIT_H

#include "backpack/decide.h"
#include "backpack/look.h"
#include "base/hash.h"
#include "harness/fault.h"
#include "harness/test.h"
#include "kit/ledger_kit.h"
#include "kit/naive.h"

/* A list of names: NAMES("a", "b"), NOBODY for an empty one, UNSAID for one that is not given. */
#define NAMES(...) names_of((const char *const[]){__VA_ARGS__, NULL})
#define NOBODY names_of((const char *const[]){NULL})
#define UNSAID ((valise_list){NULL, 0})

valise_list names_of(const char *const *names);

typedef struct bag {
    const valise_env *env;
    valise_error *err;
    naive *n;      /* of bag_init, and of bag_open in tests without a param */
    opened opened; /* else */
    vls_ledger ledger;
    vls_scope *owner;
    vls_arena arena;
    int64_t now; /* of the next call; each pack adds one */
    bool may_declassify;
    vls_done done; /* of the last write */
    bool whole;    /* of the last merge */
} bag;

/* Open for a test; closed when it ends. options: NULL for the usual; those that only the naive one
 * has are for tests without a param. */
bag *bag_open(test *t, const naive_options *options);
/* A naive one, anywhere: nothing fails the test. */
int bag_init(bag *b, const valise_env *env, const naive_options *options, valise_error *err);
void bag_release(bag *b);
/* A fork of what the ledger shows; closed when the test ends. */
bag *bag_fork(test *t, bag *from, const vls_ledger *state);
/* Drop the history up to a commit. */
void bag_forget(bag *b, int64_t edge);

/* The view of a node. */
vls_scope *bag_node(test *t, bag *b, const char *id, const char *name,
                    const valise_permissions *permissions);

/* ---- writes: codes as they come; b->done says what was done ---- */

int put(bag *b, vls_scope *scope, const char *key, const char *json);
int put_with(bag *b, vls_scope *scope, const char *key, const char *json, vls_pack_args args);
/* By the owner, in the name of a node. */
int put_as(bag *b, const char *node, const char *key, const char *json);
int drop(bag *b, vls_scope *scope, const char *key);
int jail(bag *b, vls_scope *scope, const char *key, const char *reason);
int unjail(bag *b, vls_scope *scope, const char *key, int64_t seq);

#define PACK_ARGS .expect = VALISE_NONE

/* ---- reads ---- */

/* The value, "(absent)", "(denied)" or another code in parentheses. */
const char *get(bag *b, vls_scope *scope, const char *key);
const char *peek(bag *b, vls_scope *scope, const char *key);
const char *need(bag *b, vls_scope *scope, const char *key);

/* "a=1 b=2" of a state, those that match a namespace, or a code. */
const char *items(bag *b, const vls_ledger *ledger, vls_scope *scope, const char *pattern);
const char *jailed(bag *b, const vls_ledger *ledger, vls_scope *scope);

/* "2 delete a v1 by n; 1 pack a v1 by n". Reads: "unpack a found by n". */
const char *history(bag *b, const vls_ledger *ledger, vls_scope *scope, valise_history filter);
const char *all_history(bag *b, vls_scope *scope); /* oldest first, without reads */
const char *access_log(bag *b, vls_scope *scope, const char *node, bool writes);
const char *blamed(bag *b, vls_scope *scope, const char *key);

/* "+a=1 ~b=1>2 -c=3", each with "by NODE@SEQ" where known. */
const char *diff(bag *b, const vls_ledger *x, const vls_ledger *y, vls_scope *scope);
const char *diff_of(const vls_scoped *x, const vls_scoped *y, valise_error *err);

/* The state at a point, frozen until the test ends; fails the test when there is none. */
vls_ledger at(test *t, bag *b, const char *point);
/* What a point means: a seq, or a code. */
int64_t point(bag *b, const vls_ledger *ledger, const char *text);

/* A commit by its seq, copied for the test. */
valise_commit commit_of(test *t, bag *b, int64_t seq);

/* docs/formats.md. */
valise_str formats_page(void);

const char *exported(bag *b, const vls_ledger *ledger, vls_scope *scope, int64_t commits);

#endif
