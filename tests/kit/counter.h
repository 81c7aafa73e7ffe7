/* counter.h -- an extension for tests: named counters, with notes and a history. */
#ifndef TEST_COUNTER_H
#define TEST_COUNTER_H

#include <valise/sys/extension.h>

typedef struct tally_row {
    valise_str name; /* key */
    int64_t value;
    valise_id note; /* the last one; zero: none */
    valise_list tags;
    valise_str actor;
    int64_t updated;
} tally_row;

typedef struct step_row {
    valise_uuid id; /* key */
    valise_str name;
    int64_t value;
    int64_t seq;
} step_row;

typedef struct part_args {
    valise_str label;
    valise_content body; /* DATA */
} part_args;

typedef struct add_args {
    valise_str name;
    int64_t by;          /* 0: 1 */
    valise_content note; /* TEXT */
    valise_list tags;    /* of STR */
    valise_list parts;   /* of part_args */
    valise_content meta; /* VALUE */
} add_args;

typedef struct add_result {
    valise_str name;
    int64_t value;
    valise_uuid step;
} add_result;

typedef struct get_result {
    valise_str name;
    int64_t value;
    int64_t version;
    valise_content note; /* TEXT */
} get_result;

extern const valise_coll counter_tally, counter_step;
extern const valise_op counter_add, counter_get, counter_list, counter_many, counter_reset;

typedef struct many_args {
    valise_str name;
    int64_t times;
} many_args;

/* counter:add refuses to go above this. */
#define COUNTER_MAX 1000000000

/* counter:add {name, by, note, tags, parts, meta}, with `expect` the value; counter:remove {name};
 * counter:reset {} (INTERNAL); counter:get {name}; counter:list {above} (LIST); counter:hello
 * (NO_WORKSPACE); counter:many {name, times} (a job, LIST); counter:ask {capability} (a command
 * that asks what its actor may); counter:may {name} (a query that does). */
extern const valise_extension counter_extension;

#endif
