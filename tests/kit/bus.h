/* bus.h -- a handle with the counter extension, for tests of the bus and of what follows it. */
#ifndef TEST_KIT_BUS_H
#define TEST_KIT_BUS_H

#include "harness/test.h"

#include "bus/bus.h"
#include "kit/counter.h"

typedef struct kit_options {
    const valise_env *env; /* NULL: the test's */
    const char *backend;   /* "memory", "sqlite"; NULL: the test's param, or memory */
    const char *dir;       /* sqlite; NULL: below test_tmpdir() */
    const valise_middleware *const *middleware;
    const valise_extension *more; /* besides the counter */
    const valise_store_ops *ops;  /* instead of backend */
    const char *actor;
    bool read_only, full_sync, no_store;
    bool plain; /* a handle that is not closed at the end of the test: kit_close does */
} kit_options;

/* Registry, store and handle together. */
typedef struct kit {
    test *t;
    const valise_env *env;
    vls_registry *registry;
    vls_store *store;
    valise *v;
} kit;

/* Closed when the test ends. options may be NULL. */
kit *kit_open(test *t, const kit_options *options);

/* For processes and fault loops, where a test's end is no end: 0 or the code. */
int kit_try_open(kit *out, const kit_options *options, valise_error *err);
void kit_close(kit *k);

/* Dispatch; the answer as text, freed with the test. Must succeed. */
const char *kit_run(kit *k, const char *type, const char *payload);
const char *kit_run_as(kit *k, const char *type, const char *payload, const valise_call *call);

/* Must fail with this code; the error is in t->err. */
void kit_fails(kit *k, int code, const char *type, const char *payload, const valise_call *call);

/* counter:get's value as of `at` ("": now); -1 when there is no such counter. */
int64_t kit_value(kit *k, const char *name, const char *at);

/* Everything that is state as hex: the state hash. And the last hash of the chain. */
const char *kit_state(kit *k);
const char *kit_tip(kit *k);
int64_t kit_seq(kit *k);

/* Look at everything: nothing may be wrong. */
void kit_validate(kit *k);

/* Is this an object of the workspace? */
bool kit_has_object(kit *k, const char *kind, const char *text);

/* A command id that is the same each time. */
valise_uuid kit_uuid(uint64_t number);

/* Actors: "nobody" may do nothing, "reader" only what needs counter:read, all others all but
 * "counter:never". */
extern const vls_bus_access kit_access;

#endif
