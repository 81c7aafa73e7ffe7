/* logic_rows.h -- what the tests of JSON Logic are written with: rows of rule, data and expected.
 */
#ifndef LOGIC_ROWS_H
#define LOGIC_ROWS_H

#include "harness/test.h"

#include "json/json.h"
#include "json/logic.h"

typedef struct logic_row {
    const char *rule, *data; /* no data: null */
    const char *expected;    /* the result's canonical text, or "!" and how the message begins */
} logic_row;

void logic_check_rows(test *t, const logic_row *rows, size_t count);

#define CHECK_LOGIC(rows) logic_check_rows(t, (rows), VLS_COUNT(rows))

/* Text to value; the test fails where it is no JSON. The value borrows from text. */
vls_json logic_parse(test *t, vls_arena *arena, const char *text);

/* The canonical text, of at most 1 MiB. */
const char *logic_text(test *t, vls_json v);

/* Apply a rule: the result's text, or "!" and the message. Checks that outputs are untouched. */
const char *logic_apply(test *t, const char *rule, const char *data);
const char *logic_apply_limited(test *t, const char *rule, const char *data,
                                const vls_logic_limits *limits, size_t max_bytes);

/* open open ... inner ... close close */
const char *logic_nested(const char *open, const char *inner, const char *close, size_t times);

#endif
