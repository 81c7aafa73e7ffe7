/* logic.h -- JSON Logic: rules written in JSON, applied to data in JSON.
 *
 *     rule     {"and": [{"<": [{"var": "temp"}, 110]}, {"==": [{"var": "pie"}, "apple"]}]}
 *     data     {"temp": 100, "pie": "apple"}
 *     result   true
 *
 * An object with one member is an operation: its key names the operator, its value holds the
 * arguments (as an array, or a single one alone). Every array is evaluated item by item; everything
 * else stands for itself, including the empty object. An object with several members is not a rule;
 * {"preserve": ...} keeps any value from being read as a rule.
 *
 * The operators are those of jsonlogic.com and of the community's newer suites (val, exists, ??,
 * try, throw, comparisons of any number of values). docs/json.md lists them from the same table
 * that dispatches and checks them (logic_table.c, a good place to start reading).
 *
 * Rules and data may be hostile: a rule is stopped after a number of steps, at a certain depth, and
 * when the arena is full. It can loop only over what it is given, and does nothing but compute.
 *
 * A rule may throw: with {"throw": "Not an admin"}, or in an operator that cannot go on (types
 * "NaN", "Invalid Arguments", "Unknown Operator"). {"try": [...]} catches that. If nobody does, the
 * result is VALISE_E_INVALID with the message "TYPE at POINTER: why", where POINTER is the place in
 * the rule (RFC 6901), which is also the error's path. Limits and lack of memory cannot be caught.
 *
 * Threads: immutable (pure functions over values); the arena is single. */
#ifndef VLS_LOGIC_H
#define VLS_LOGIC_H

#include "json/json.h"

#define VLS_LOGIC_MAX_STEPS 1000000u
#define VLS_LOGIC_MAX_DEPTH VLS_JSON_MAX_DEPTH

typedef struct vls_logic_limits {
    uint64_t max_steps; /* 0: VLS_LOGIC_MAX_STEPS. About one per value looked at and per 64 bytes
                           of text; a result may have as many values. */
    uint32_t max_depth; /* operators and arrays within each other; 0: VLS_LOGIC_MAX_DEPTH, which
                           is also the most */
} vls_logic_limits;

/* Apply the rule. The result borrows from rule, data and arena. limits may be NULL.
 * VALISE_E_INVALID (the rule throws), VALISE_E_LIMIT (steps, depth), VALISE_E_TOO_LARGE (arena,
 * text or array over 4 GiB), VALISE_E_NO_MEMORY. */
int vls_logic_apply(vls_json *out, vls_arena *arena, vls_json rule, vls_json data,
                    const vls_logic_limits *limits, valise_error *err);

/* The same; where it returns VALISE_E_INVALID, *thrown gets what was thrown, such as
 * {"type": "NaN"}. Otherwise *thrown is untouched. */
int vls_logic_run(vls_json *out, vls_json *thrown, vls_arena *arena, vls_json rule, vls_json data,
                  const vls_logic_limits *limits, valise_error *err);

/* For conditions: only whether the result is truthy. */
int vls_logic_holds(bool *out, vls_arena *arena, vls_json rule, vls_json data,
                    const vls_logic_limits *limits, valise_error *err);

/* Not null, false, 0, "" or []. Objects are truthy, empty ones too. */
bool vls_logic_truthy(vls_json v);

/* What can be said about a rule without data: whether every operator exists and gets as many
 * arguments as it takes, and the depth. VALISE_E_INVALID or VALISE_E_LIMIT, as from apply. A
 * rule that passes can still throw. */
int vls_logic_check(vls_json rule, valise_error *err);

/* ---- the table of operators, for documentation ---- */

typedef enum vls_logic_style {
    VLS_LOGIC_VALUES, /* arguments are evaluated first */
    VLS_LOGIC_SPREAD, /* so too, and where one argument stands alone and gives an array, that is
                         the list of arguments: {"max": {"var": "prices"}} */
    VLS_LOGIC_RULES,  /* the operator evaluates the arguments it needs */
    VLS_LOGIC_LIST,   /* so too, and they must be written as an array */
    VLS_LOGIC_AS_IS,  /* the argument is not evaluated */
} vls_logic_style;

#define VLS_LOGIC_ANY UINT32_MAX /* of max_args: as many as one likes */

struct vls_logic_call;
typedef int vls_logic_fn(vls_json *out, struct vls_logic_call *call);

typedef struct vls_logic_op {
    valise_str name;
    uint32_t min_args, max_args;
    vls_logic_style style;
    vls_logic_fn *fn;
    const char *brief; /* one line for the manual */
} vls_logic_op;

/* All of them, in the order of their names' bytes. */
const vls_logic_op *vls_logic_ops(size_t *count);

/* NULL when there is none of that name. */
const vls_logic_op *vls_logic_find(valise_str name);

#endif
