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
 * A row has the id of what was said, not the words. A processor gets the words with `turn:show`, as
 * the job's actor (valise_job_actor); they may have been erased by then. `turn:branches` lists the
 * sessions in which the turn was said. examples/recipes/ has two complete processors.
 *
 * Only commands such as `turn:add` put these rows: read them, but never put one.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VALISE_SYS_TURN_H
#define VALISE_SYS_TURN_H

#include <valise/session.h>
#include <valise/sys/extension.h>

VALISE_BEGIN

/* A reference to a turn version. As text it is ID@VERSION. version 0: none. */
typedef struct valise_turn_ref {
    valise_uuid id;
    int64_t version;
} valise_turn_ref;

/* Write a reference as text, with a NUL, in the form that operations take. Returns out. */
#define VALISE_TURN_REF_TEXT 64
VALISE_API char *valise_turn_ref_text(char out[VALISE_TURN_REF_TEXT], const valise_turn_ref *ref);

/* The place of a version in the graph (docs/architecture.md, "Conversations"). */
typedef struct valise_turn_place {
    valise_uuid lane;
    int64_t depth; /* number of first parents up to the root */
} valise_turn_place;

/* One version of one turn: a row of `turn`. */
typedef struct valise_turn_row {
    valise_turn_ref ref;    /* the key */
    int64_t role;           /* VALISE_TURN_USER, ... */
    valise_id blocks;       /* id of a value, an array; zero: erased */
    valise_turn_ref parent; /* the first parent; version 0: none */
    bool merges;            /* there are further parents */
    valise_turn_place place;
    valise_turn_ref jump; /* an ancestor further up; version 0: none */
    int64_t jump_depth;   /* depth of that ancestor */
    int64_t jump_gap;     /* jump_depth, minus that ancestor's own jump_depth */
    /* The nearest version at or above this one that has further parents; version 0: none. */
    valise_turn_ref merge;
    /* The role of the last role:transition up to here; ptr NULL: none. */
    valise_str in_force;
    bool calls; /* it has a tool_use block */
    bool hidden, noprompt;
    int64_t time;
    valise_str actor;
    valise_id metadata; /* id of a value; zero: none */
    /* Id of the record that it was imported from, word for word; zero: none. */
    valise_id source;
} valise_turn_row;

/* The collection of these rows, for valise_processor.coll and valise_index_source.coll. */
VALISE_API extern const valise_coll valise_turns;

/* Functions for valise_processor.wants; self is ignored. They never want an erased turn, since
 * there is nothing to read. */
VALISE_API bool valise_turn_is_user(void *self, const void *row);
VALISE_API bool valise_turn_is_assistant(void *self, const void *row);
VALISE_API bool valise_turn_is_system(void *self, const void *row);
VALISE_API bool valise_turn_is_tool(void *self, const void *row);

VALISE_END

#endif
