/* depth.c -- a value may be 256 deep, wherever it stands in a payload. [K4] */
#include "base/str.h"
#include "kernel/kit.h"

TEST_PARAMS(depth, "memory", "sqlite")

/* So many arrays inside each other. */
static const char *nested(int depth)
{
    char text[1024];

    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    return test_format("%.*s", 2 * depth, text);
}

TEST(depth, of_a_value_among_the_arguments)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "counter:add", test_format("{\"meta\":%s,\"name\":\"a\"}", nested(256)));
    ws_fails(t, v, VALISE_E_LIMIT, "counter:add",
             test_format("{\"meta\":%s,\"name\":\"a\"}", nested(257)));
    CHECK(strstr(t->err.message, "nested more than 256 deep"));
    CHECK_INT((int64_t)strlen("{\"meta\":") + 256, t->err.offset);
    CHECK(strstr(ws_run(t, v, "json:canonical", test_format("{\"value\":%s}", nested(256))),
                 nested(256)));
    ws_fails(t, v, VALISE_E_LIMIT, "json:canonical", test_format("{\"value\":%s}", nested(257)));
    CHECK_INT((int64_t)strlen("{\"value\":") + 256, t->err.offset);
}

TEST(depth, what_holds_no_value_is_as_deep_as_a_value)
{
    valise *v = ws_open(t);

    ws_fails(t, v, VALISE_E_LIMIT, "pin:list", test_format("{\"x\":%s}", nested(256)));
    ws_fails(t, v, VALISE_E_INVALID, "pin:list", test_format("{\"x\":%s}", nested(255)));
}
