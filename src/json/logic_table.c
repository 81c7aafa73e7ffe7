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
    {NAME("!="), 2, ANY, LIST, vls_logic_ne, "no two neighbours are equal after conversion"},
    {NAME("!=="), 2, ANY, LIST, vls_logic_strict_ne, "no two neighbours are the same"},
    {NAME("%"), 2, ANY, SPREAD, vls_logic_remainder, "remainder, with the dividend's sign"},
    {NAME("*"), 0, ANY, SPREAD, vls_logic_multiply, "product; 1 of nothing"},
    {NAME("+"), 0, ANY, SPREAD, vls_logic_add, "sum; 0 of nothing; of one: as a number"},
    {NAME("-"), 1, ANY, SPREAD, vls_logic_subtract, "first minus the rest; of one: negated"},
    {NAME("/"), 1, ANY, SPREAD, vls_logic_divide, "first by the rest; of one: 1 by it"},
    {NAME("<"), 2, ANY, LIST, vls_logic_lt, "each is less than the next"},
    {NAME("<="), 2, ANY, LIST, vls_logic_le, "each is at most the next"},
    {NAME("=="), 2, ANY, LIST, vls_logic_eq, "all neighbours are equal after conversion"},
    {NAME("==="), 2, ANY, LIST, vls_logic_strict_eq, "all neighbours are the same, deeply"},
    {NAME(">"), 2, ANY, LIST, vls_logic_gt, "each is greater than the next"},
    {NAME(">="), 2, ANY, LIST, vls_logic_ge, "each is at least the next"},
    {NAME("?:"), 0, ANY, LIST, vls_logic_if, "the same as if"},
    {NAME("??"), 0, ANY, RULES, vls_logic_coalesce, "the first that is not null, else null"},
    {NAME("all"), 2, 2, LIST, vls_logic_all, "array, rule: truthy for each, and not empty"},
    {NAME("and"), 0, ANY, LIST, vls_logic_and, "the first falsy argument, else the last"},
    {NAME("cat"), 0, ANY, SPREAD, vls_logic_cat, "all arguments as one text; null is nothing"},
    {NAME("exists"), 0, ANY, SPREAD, vls_logic_exists, "whether val would find something"},
    {NAME("filter"), 2, 2, LIST, vls_logic_filter, "array, rule: the items it is truthy for"},
    {NAME("if"), 0, ANY, LIST, vls_logic_if, "condition, then, condition, then, ..., else"},
    {NAME("in"), 2, 2, SPREAD, vls_logic_in, "item in array, or text within text"},
    {NAME("log"), 0, 1, VALUES, vls_logic_log, "its argument; nothing is printed"},
    {NAME("map"), 2, 2, LIST, vls_logic_map, "array, rule: what the rule gives for each item"},
    {NAME("max"), 1, ANY, SPREAD, vls_logic_max, "the largest number"},
    {NAME("merge"), 0, ANY, SPREAD, vls_logic_merge, "one array of all items and other arguments"},
    {NAME("min"), 1, ANY, SPREAD, vls_logic_min, "the smallest number"},
    {NAME("missing"), 0, ANY, SPREAD, vls_logic_missing, "the paths where var finds no value"},
    {NAME("missing_some"), 2, 2, SPREAD, vls_logic_missing_some,
     "n, paths: [] when n of them are there, else those missing"},
    {NAME("none"), 2, 2, LIST, vls_logic_none, "array, rule: truthy for no item"},
    {NAME("or"), 0, ANY, LIST, vls_logic_or, "the first truthy argument, else the last"},
    {NAME("preserve"), 1, 1, AS_IS, vls_logic_preserve, "its argument, not evaluated"},
    {NAME("reduce"), 2, 3, LIST, vls_logic_reduce,
     "array, rule over current and accumulator, first accumulator (else null)"},
    {NAME("some"), 2, 2, LIST, vls_logic_some, "array, rule: truthy for an item"},
    {NAME("substr"), 2, 3, SPREAD, vls_logic_substr, "text, start, length; negative: from the end"},
    {NAME("throw"), 1, 1, VALUES, vls_logic_throw_op, "stop with this error: a type or an object"},
    {NAME("try"), 1, ANY, RULES, vls_logic_try,
     "the first that does not throw; from the second on, the error is the data"},
    {NAME("val"), 0, ANY, SPREAD, vls_logic_val, "value at key, key, ...; [n] first: n scopes out"},
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
