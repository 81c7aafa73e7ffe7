/* api_kit.h -- backpacks through the public functions, of both kinds, and their answers as texts.
 *
 * The param of a suite says which: "ephemeral", "watched" (ephemeral, with a middleware, so that
 * every pack is a command), "memory" and "sqlite" (durable). */
#ifndef TEST_API_KIT_H
#define TEST_API_KIT_H

#include <valise.h>
#include <valise/sys/extension.h>

#include "base/buf.h"
#include "harness/test.h"

#define NAMES(...) names_of((const char *const[]){__VA_ARGS__, NULL})
#define NOBODY names_of((const char *const[]){NULL})
#define UNSAID ((valise_list){NULL, 0})
valise_list names_of(const char *const *names);

#define ALL_KINDS "ephemeral", "watched", "memory", "sqlite"

typedef struct desk {
    test *t;
    valise *v;
    valise_error *err;
    const char *dir; /* of the workspace; NULL: in memory */
    bool durable;
} desk;

/* Open for a test; closed when it ends. options: more for valise_open, or NULL. */
desk *desk_open(test *t);
desk *desk_open_with(test *t, const valise_options *options);
void desk_reopen(desk *d); /* all handles must be closed */
int desk_try(valise **out, const char *param, const char *dir, const valise_options *options,
             valise_error *err);

/* The usual options of this kind of backpack. */
valise_backpack_options desk_options(const desk *d, unsigned flags);

/* A handle that is closed when the test ends; must succeed. */
valise_backpack *bag_of(desk *d, const char *name);
valise_backpack *bag_with(desk *d, const char *name, const valise_backpack_options *options);
valise_backpack *node_of(desk *d, valise_backpack *bag, const char *id, const char *space,
                         const valise_permissions *permissions);
valise_backpack *at_point(desk *d, valise_backpack *bag, const char *point);
valise_backpack *fork_of(desk *d, valise_backpack *from, const char *name);
void close_later(valise_backpack *bag);

/* An operation; the answer as text. Must succeed. */
const char *run_op(desk *d, const char *type, const char *payload);
int run_as(desk *d, const char *actor, const char *type, const char *payload);
/* Anybody new, with these capabilities ("" for a role alone). */
void let_in(desk *d, const char *actor, const char *role, const char *capabilities);

int pack(valise_backpack *bag, const char *key, const char *json, valise_error *err);
int pack_as(valise_backpack *bag, const char *node, const char *key, const char *json,
            valise_error *err);
int jail(valise_backpack *bag, const char *key, const char *reason, valise_error *err);

/* The value, "(absent)", or a code in parentheses. */
const char *got(valise_backpack *bag, const char *key);
const char *seen(valise_backpack *bag, const char *key);   /* peek */
const char *needed(valise_backpack *bag, const char *key); /* required */

/* Delete: 1, 0 when there was nothing, or a code. */
int removal(valise_backpack *bag, const char *key, valise_error *err);

/* "a=1 b=2"; "2:k=1(why)"; "1 pack a v1 by n; 2 ..."; "+a=1 ~b=1>2 -c=3"; or a code. */
const char *items(valise_backpack *bag);
const char *items_in(valise_backpack *bag, const char *pattern);
const char *keys(valise_backpack *bag);
const char *jailed(valise_backpack *bag);
const char *history(valise_backpack *bag, const valise_history *filter);
const char *all_history(valise_backpack *bag);
const char *accesses(valise_backpack *bag, const char *node, bool writes);
const char *blamed(valise_backpack *bag, const char *key);
const char *differs(valise_backpack *a, valise_backpack *b);
const char *exported(valise_backpack *bag, int64_t commits);

/* The commit behind an item; strings live as long as the test. Must be there. */
valise_commit item_of(valise_backpack *bag, const char *key);
valise_uuid commit_id(valise_backpack *bag, int64_t seq);

/* Live and log events of these types ("BACKPACK_*"), in the order they come:
 * "BACKPACK_PACK chat-1 {...}". */
typedef struct listener listener;
listener *listen_to(desk *d, const char *types);
const char *heard(listener *l); /* the next one, or "" */

/* Lets every command pass, and counts; refuses what `refuses` names. */
typedef struct guard {
    int before, after;
    const char *refuses;
} guard;
valise_middleware guard_middleware(guard *g);

#endif
