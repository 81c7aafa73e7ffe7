/* valise/sys/turn.h -- turns, as processors and indexers of extensions see them.
 *
 *     static const valise_processor diary = {
 *         .size = sizeof(valise_processor),
 *         .name = "diary",
 *         .coll = &valise_turns,
 *         .wants = valise_turn_is_assistant,
 *         .run = write_it_down,
 *     };
 *
 * A row has the id of what was said, not the words. A processor asks for them with `turn:show`, as
 * the job's actor (valise_job_actor); they may be gone by then. `turn:branches` tells in which
 * sessions it was said. examples/recipes/ has two whole ones.
 *
 * Rows are put by commands alone (`turn:add` and its like): read these, never put one.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VALISE_SYS_TURN_H
#define VALISE_SYS_TURN_H

#include <valise/session.h>
#include <valise/sys/extension.h>

VALISE_BEGIN

/* A TurnRef; version 0: none. As text it is ID@VERSION. */
typedef struct valise_turn_ref {
    valise_uuid id;
    int64_t version;
} valise_turn_ref;

/* The text of one, with a NUL behind it: what operations take. Returns out. */
#define VALISE_TURN_REF_TEXT 64
VALISE_API char *valise_turn_ref_text(char out[VALISE_TURN_REF_TEXT], const valise_turn_ref *ref);

/* Where a version stands in the graph (docs/architecture.md, "Conversations"). */
typedef struct valise_turn_place {
    valise_uuid lane;
    int64_t depth; /* first parents up to the root */
} valise_turn_place;

/* One version of one turn: a row of `turn`. */
typedef struct valise_turn_row {
    valise_turn_ref ref;    /* the key */
    int64_t role;           /* VALISE_TURN_USER, ... */
    valise_id blocks;       /* a value, an array; zero when it was erased */
    valise_turn_ref parent; /* the first one; version 0: none */
    bool merges;            /* there are further ones */
    valise_turn_place place;
    valise_turn_ref jump;  /* an ancestor further up; version 0: none */
    int64_t jump_depth;    /* of that one */
    int64_t jump_gap;      /* jump_depth of it less that of its own jump */
    valise_turn_ref merge; /* the nearest one at or above with further parents; version 0: none */
    valise_str in_force;   /* the role of the last role:transition up to here; ptr NULL: none */
    bool calls;            /* there is a tool_use in it */
    bool hidden, noprompt;
    int64_t time;
    valise_str actor;
    valise_id metadata; /* a value; zero: none */
    valise_id source;   /* the record of an import, word for word; zero: none */
} valise_turn_row;

/* The collection of these rows, for valise_processor.coll and valise_index_source.coll. */
VALISE_API extern const valise_coll valise_turns;

/* For valise_processor.wants; self is not looked at. Turns that were erased are not wanted: there
 * is nothing to be read. */
VALISE_API bool valise_turn_is_user(void *self, const void *row);
VALISE_API bool valise_turn_is_assistant(void *self, const void *row);
VALISE_API bool valise_turn_is_system(void *self, const void *row);
VALISE_API bool valise_turn_is_tool(void *self, const void *row);

VALISE_END

#endif
