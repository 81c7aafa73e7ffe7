/* feed.h -- a handle that is followed, with an extension that has events, indexes and processors.
 *
 * The extension `plant`:
 *     plant:put {name, kind, size, node, space, run, label} one row; event PLANT_GROWN
 *     plant:many {names}                                   several rows in one command
 *     plant:drop {name}                                    event PLANT_GONE
 *     plant:log {name, text}                               plant.echo rows, what processors write
 *     plant:fail {name}                                    changes a row, then refuses
 * Indexes: `kinds` "KIND/NAME" -> {"size":n}; `sizes` of both collections; `clash`, whose keys are
 * not unique. */
#ifndef TEST_KIT_FEED_H
#define TEST_KIT_FEED_H

#include "harness/test.h"

#include "bus/follow.h"

typedef struct plant_row {
    valise_str name, kind;
    int64_t size;
    valise_str node, space, run;
    valise_str label; /* content; part of the key in `kinds` */
} plant_row;

typedef struct echo_row {
    valise_uuid id;
    valise_str name, actor;
} echo_row;

extern const valise_coll plant_item, plant_echo, plant_quiet;
extern _Atomic uint64_t garden_maps;           /* rows that were mapped for the index `kinds` */
extern const valise_extension plant_extension; /* no processor */

typedef struct garden_options {
    const valise_env *env;       /* NULL: the test's */
    const char *backend;         /* NULL: the test's param, or memory */
    const char *dir;             /* NULL: test_tmpdir() */
    const valise_store_ops *ops; /* instead of backend */
    const valise_processor *const *processors;
    const char *actor;
    vls_store *store; /* borrowed: a second handle on the same one */
    bool absent, read_only, not_started;
} garden_options;

typedef struct garden {
    test *t;
    const valise_env *env;
    vls_registry *registry;
    vls_store *store;
    bool borrowed;
    valise *v;
    vls_feed *feed;
    valise_extension package; /* with the processors */
} garden;

garden *garden_open(test *t, const garden_options *options); /* closed when the test ends */
int garden_try_open(garden *out, const garden_options *options, valise_error *err);
void garden_close(garden *g);

/* Must succeed. payload is a printf format. Returns the seq. */
int64_t garden_run(garden *g, const char *type, const char *payload, ...) VALISE_PRINTF(3, 4);
int64_t garden_put(garden *g, const char *name, const char *kind, int size);
/* The answer of a query as text. */
const char *garden_ask(garden *g, const char *type, const char *payload);
int64_t garden_seq(garden *g);

/* A callback that writes "seq.index type\n" into a text, and the text. */
typedef struct garden_notes {
    char text[16384];
    size_t len;
    valise_cursor last;
    uint64_t count, disorder; /* events; those that were not behind the one before */
    int result;               /* what the callback returns */
} garden_notes;
int garden_note(void *arg, const valise_event *event, valise_error *err);

/* Access: "nobody" may do nothing, "blind" may listen but sees nothing of plants, "sales" sees only
 * the namespaces sales.*; everybody else everything. */
extern const vls_bus_access garden_access;

#endif
