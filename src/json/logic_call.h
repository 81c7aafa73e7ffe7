/* logic_call.h -- the inside of JSON Logic, for the files that implement operators.
 *
 * There is one vls_logic per application of a rule. Each operator and each array that is being
 * evaluated has a call on the C stack; each iteration, and each try that has caught something, has
 * a scope. Both are chains from the innermost outwards:
 *
 *     run->call   map /1  ->  + /0  ->  (rule)          where we are, for error messages
 *     run->scope  element 2 of [1,2,3]  ->  the data    what var and val read
 *
 * An operator gets its call and returns a value or a negative code. To throw it calls
 * vls_logic_throw and the like; it reports nothing by itself.
 *
 * Threads: single (one vls_logic per application); the tables are immutable. */
#ifndef VLS_LOGIC_CALL_H
#define VLS_LOGIC_CALL_H

#include "base/utf8.h"
#include "json/logic.h"

#define VLS_LOGIC_NO_INDEX SIZE_MAX
#define VLS_LOGIC_SHOWN 48 /* bytes of a name or text that a message quotes */

typedef struct vls_logic_scope {
    const struct vls_logic_scope *up;
    vls_json data;
    size_t index; /* of data in what is iterated over, or VLS_LOGIC_NO_INDEX */
} vls_logic_scope;

typedef struct vls_logic {
    vls_arena *arena; /* NULL in a check, which makes no values */
    const vls_logic_scope *scope;
    const struct vls_logic_call *call;
    uint64_t steps_left, max_steps;
    uint32_t depth_left, max_depth;
    uint32_t catchers;  /* tries that will go on after a throw: nobody will read its message */
    vls_json thrown;    /* while VALISE_E_INVALID is on its way up */
    valise_error error; /* not the caller's, which a throw that is caught must not touch */
} vls_logic;

typedef struct vls_logic_call {
    vls_logic *run;
    const struct vls_logic_call *up;
    const vls_logic_op *op; /* NULL: an array, or an operator that does not exist */
    valise_str name;        /* of the operator, as written; NULL for an array */
    vls_json written;       /* the member's value */
    const vls_json *args;   /* rules or values, as the operator's style says */
    size_t count;
    bool listed;  /* written is an array: arguments have a place of their own */
    size_t index; /* the argument this is about now, or VLS_LOGIC_NO_INDEX */
} vls_logic_call;

/* ---- calls (logic_call.c) ---- */

/* Start the call of a rule that is an object with members, and make it the innermost one.
 * vls_logic_leave ends it. Throws when it is no call of a known operator with its arguments
 * written as its style wants them; it is then not to be left. */
int vls_logic_enter(vls_logic_call *call, vls_logic *run, vls_json rule);
int vls_logic_enter_array(vls_logic_call *call, vls_logic *run, vls_json array);
void vls_logic_leave(vls_logic_call *call);

/* Throws when the operator does not take count arguments. */
int vls_logic_check_count(vls_logic_call *call, size_t count);

/* ---- evaluation (logic.c) ---- */

/* Evaluate argument i of an operator whose arguments are rules. */
int vls_logic_arg(vls_json *out, vls_logic_call *call, size_t i);

/* The same with other data: an element, or an error that was caught. */
int vls_logic_arg_with(vls_json *out, vls_logic_call *call, size_t i, vls_json data, size_t index);

/* Take steps from the budget: VALISE_E_LIMIT when it has none left. */
int vls_logic_charge(vls_logic *run, uint64_t steps);
int vls_logic_charge_text(vls_logic *run, size_t bytes);

/* Room for count values; *out is untouched on failure. */
int vls_logic_array(vls_json **out, vls_logic *run, size_t count);

/* Holds no memory but itself. */
static inline bool vls_logic_is_scalar(vls_json v)
{
    return v.type <= VLS_JSON_INT || v.type == VLS_JSON_REAL;
}

/* ---- errors (logic_error.c) ---- */

typedef enum vls_logic_error {
    VLS_LOGIC_NAN,
    VLS_LOGIC_BAD_ARGUMENTS,
    VLS_LOGIC_UNKNOWN_OPERATOR,
} vls_logic_error;

/* All return the code to return: VALISE_E_INVALID here. */
int vls_logic_throw(vls_logic *run, vls_logic_error type, const char *format, ...)
    VALISE_PRINTF(3, 4);
int vls_logic_throw_nan(vls_logic_call *call, size_t arg, vls_json v);
int vls_logic_throw_value(vls_logic *run, vls_json error);

/* As much of s as a message shows. */
static inline valise_str vls_logic_shown(valise_str s)
{
    return vls_utf8_head(s, VLS_LOGIC_SHOWN);
}

/* VALISE_E_LIMIT, with the place. */
int vls_logic_fail_limit(vls_logic *run, const char *what, uint64_t limit);

/* ---- JavaScript's conversions (logic_convert.c) ---- */

/* The number that v converts to: an INT or BIG where its text is an integer, else a REAL. *ok is
 * false where JavaScript has NaN or an infinity. Text in other notations than JSON's takes room
 * in the arena. */
int vls_logic_to_number(vls_json *out, bool *ok, vls_logic *run, vls_json v);

/* The same for text (logic_number.c). */
int vls_logic_read_number(vls_json *out, bool *ok, vls_logic *run, valise_str text);

/* The same for argument i; throws NaN. */
int vls_logic_number_arg(vls_json *out, vls_logic_call *call, size_t i);

/* Argument i as an integer, cut towards zero, and to +-limit; 0 for what is no number. */
int vls_logic_integer_arg(int64_t *out, vls_logic_call *call, size_t i, int64_t limit);

/* A buffer for text that is to go into the arena, and may be as large as what is left there. */
void vls_logic_text_buf(vls_buf *out, const vls_logic *run);

/* What joining an array of v would append: null is "", an array its items with commas. */
int vls_logic_add_text(vls_buf *out, vls_logic *run, vls_json v);

/* The text of v, borrowed from it where it is a string, else in the arena. */
int vls_logic_to_text(valise_str *out, vls_logic *run, vls_json v);

/* The member or index v names: false for null, arrays and objects. The key borrows from v or
 * room. */
#define VLS_LOGIC_KEY 32
bool vls_logic_to_key(valise_str *out, char room[VLS_LOGIC_KEY], vls_json v);

/* ---- shared by operators ---- */

/* Same type and value, all the way down (logic_ops_compare.c). */
int vls_logic_equal(bool *out, vls_logic *run, vls_json a, vls_json b);

vls_logic_fn vls_logic_add, vls_logic_all, vls_logic_and, vls_logic_cat, vls_logic_coalesce,
    vls_logic_divide, vls_logic_eq, vls_logic_exists, vls_logic_filter, vls_logic_ge, vls_logic_gt,
    vls_logic_if, vls_logic_in, vls_logic_le, vls_logic_log, vls_logic_lt, vls_logic_map,
    vls_logic_max, vls_logic_merge, vls_logic_min, vls_logic_missing, vls_logic_missing_some,
    vls_logic_multiply, vls_logic_ne, vls_logic_none, vls_logic_not, vls_logic_not_not,
    vls_logic_or, vls_logic_preserve, vls_logic_reduce, vls_logic_remainder, vls_logic_some,
    vls_logic_strict_eq, vls_logic_strict_ne, vls_logic_substr, vls_logic_subtract,
    vls_logic_throw_op, vls_logic_try, vls_logic_val, vls_logic_var;

#endif
