/* logic_table.c -- the operators of JSON Logic, once: dispatch, check and manual read this. */
#include "json/logic_call.h"

#define ANY VLS_LOGIC_ANY
#define VALUES VLS_LOGIC_VALUES
#define SPREAD VLS_LOGIC_SPREAD
#define RULES VLS_LOGIC_RULES
#define LIST VLS_LOGIC_LIST
#define AS_IS VLS_LOGIC_AS_IS
#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* Sorted by name: vls_logic_find searches by halves. */
static const vls_logic_op ops[] = {
    {NAME("!"), 0, 1, VALUES, vls_logic_not, "true when the argument is falsy"},
    {NAME("!!"), 0, 1, VALUES, vls_logic_not_not, "true when the argument is truthy"},
    {NAME("!="), 2, ANY, LIST, vls_logic_ne, "no argument equals the next, after conversion"},
    {NAME("!=="), 2, ANY, LIST, vls_logic_strict_ne, "no argument is the same as the next"},
    {NAME("%"), 2, ANY, SPREAD, vls_logic_remainder, "remainder, with the sign of the first"},
    {NAME("*"), 0, ANY, SPREAD, vls_logic_multiply, "product; 1 without arguments"},
    {NAME("+"), 0, ANY, SPREAD, vls_logic_add,
     "sum; 0 without arguments; one argument: converted to a number"},
    {NAME("-"), 1, ANY, SPREAD, vls_logic_subtract,
     "first minus the others; one argument: negated"},
    {NAME("/"), 1, ANY, SPREAD, vls_logic_divide,
     "first divided by the others; one argument: 1 divided by it"},
    {NAME("<"), 2, ANY, LIST, vls_logic_lt, "each argument is less than the next"},
    {NAME("<="), 2, ANY, LIST, vls_logic_le, "each argument is at most the next"},
    {NAME("=="), 2, ANY, LIST, vls_logic_eq, "all arguments are equal, after conversion"},
    {NAME("==="), 2, ANY, LIST, vls_logic_strict_eq,
     "all arguments are the same, with everything in them"},
    {NAME(">"), 2, ANY, LIST, vls_logic_gt, "each argument is greater than the next"},
    {NAME(">="), 2, ANY, LIST, vls_logic_ge, "each argument is at least the next"},
    {NAME("?:"), 0, ANY, LIST, vls_logic_if, "the same as if"},
    {NAME("??"), 0, ANY, RULES, vls_logic_coalesce,
     "the first argument that is not null, else null"},
    {NAME("all"), 2, 2, LIST, vls_logic_all,
     "array, rule: whether the rule is truthy for every item; false if empty"},
    {NAME("and"), 0, ANY, LIST, vls_logic_and, "the first falsy argument, else the last"},
    {NAME("cat"), 0, ANY, SPREAD, vls_logic_cat, "all arguments joined to one text; null is \"\""},
    {NAME("exists"), 0, ANY, SPREAD, vls_logic_exists, "whether val would find something"},
    {NAME("filter"), 2, 2, LIST, vls_logic_filter,
     "array, rule: the items for which the rule is truthy"},
    {NAME("if"), 0, ANY, LIST, vls_logic_if, "condition, then, condition, then, ..., else"},
    {NAME("in"), 2, 2, SPREAD, vls_logic_in, "whether an item is in an array, or a text in a text"},
    {NAME("log"), 0, 1, VALUES, vls_logic_log, "the argument itself; nothing is printed"},
    {NAME("map"), 2, 2, LIST, vls_logic_map, "array, rule: the result of the rule for each item"},
    {NAME("max"), 1, ANY, SPREAD, vls_logic_max, "the largest number"},
    {NAME("merge"), 0, ANY, SPREAD, vls_logic_merge,
     "one array of the items of all arrays and the other arguments"},
    {NAME("min"), 1, ANY, SPREAD, vls_logic_min, "the smallest number"},
    {NAME("missing"), 0, ANY, SPREAD, vls_logic_missing, "the paths where var finds no value"},
    {NAME("missing_some"), 2, 2, SPREAD, vls_logic_missing_some,
     "n, paths: [] if at least n of them have values, else the missing ones"},
    {NAME("none"), 2, 2, LIST, vls_logic_none,
     "array, rule: whether the rule is truthy for no item"},
    {NAME("or"), 0, ANY, LIST, vls_logic_or, "the first truthy argument, else the last"},
    {NAME("preserve"), 1, 1, AS_IS, vls_logic_preserve, "the argument, not evaluated"},
    {NAME("reduce"), 2, 3, LIST, vls_logic_reduce,
     "array, rule over current and accumulator, initial accumulator (or null)"},
    {NAME("some"), 2, 2, LIST, vls_logic_some,
     "array, rule: whether the rule is truthy for any item"},
    {NAME("substr"), 2, 3, SPREAD, vls_logic_substr,
     "text, start, length; negative ones count from the end"},
    {NAME("throw"), 1, 1, VALUES, vls_logic_throw_op, "stop with an error: a type or an object"},
    {NAME("try"), 1, ANY, RULES, vls_logic_try,
     "the first argument that does not throw; the others get the error as data"},
    {NAME("val"), 0, ANY, SPREAD, vls_logic_val,
     "value at key, key, ...; with [n] first, n scopes further out"},
    {NAME("var"), 0, 2, RULES, vls_logic_var, "value at \"key.key\", else the second argument"},
};

const vls_logic_op *vls_logic_ops(size_t *count)
{
    *count = VLS_COUNT(ops);
    return ops;
}

const vls_logic_op *vls_logic_find(valise_str name)
{
    size_t low = 0, high = VLS_COUNT(ops);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_str_compare(name, ops[middle].name);
        if (order == 0)
            return &ops[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
