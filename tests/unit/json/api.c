/* api.c -- valise/json.h: what hosts without a JSON library ask with, and read answers with. */
#include <math.h>
#include <sys/types.h>

#include <valise/json.h>

#include "harness/test.h"

static const char *text_of(test *t, valise_blob *blob)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(blob)));

    (void)t;
    valise_blob_unref(blob);
    return text;
}

static const char answer[] = "{\"seq\":12,\"topics\":[\"lamps\",\"\\u00e9\\n\\\"\"],\"role\":null,"
                             "\"big\":123456789012345678901,\"half\":0.5}";

TEST(json_api, what_is_quoted_is_one_string_whatever_it_says)
{
    valise_blob *quoted = NULL, *back = NULL;
    const valise_str nasty = VALISE_STR("a\"},{\\\n\x01\xc3\xa9");

    CHECK_OK(valise_json_quote(&quoted, nasty, &t->err));
    CHECK_INT(1, valise_json_get_text(&back, valise_blob_bytes(quoted), "", &t->err));
    CHECK_TEXT("\"a\\\"},{\\\\\\n\\u0001\xc3\xa9\"", text_of(t, quoted));
    CHECK_TEXT("a\"},{\\\n\x01\xc3\xa9", text_of(t, back));
    quoted = NULL;
    CHECK_RC(VALISE_E_INVALID, valise_json_quote(&quoted, valise_str_of("\xff"), &t->err));
    CHECK(!quoted);
}

TEST(json_api, a_pointer_leads_to_a_value_or_to_nothing)
{
    valise_blob *found = NULL;
    const valise_str json = valise_str_of(answer);

    CHECK_INT(1, valise_json_get(&found, json, "/topics", &t->err));
    CHECK_TEXT("[\"lamps\",\"\xc3\xa9\\n\\\"\"]", text_of(t, found));
    found = NULL;
    CHECK_INT(0, valise_json_get(&found, json, "/topics/2", &t->err));
    CHECK_INT(0, valise_json_get(&found, json, "/nothing/there", &t->err));
    CHECK(!found);
    CHECK_INT(0, t->err.code);
    CHECK_RC(VALISE_E_INVALID, valise_json_get(&found, json, "topics", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_json_get(&found, valise_str_of("{"), "", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_json_get(&found, json, NULL, &t->err));
    CHECK(!found);
}

TEST(json_api, texts_and_whole_numbers_come_as_what_they_are)
{
    valise_blob *text = NULL;
    int64_t number = -1;
    const valise_str json = valise_str_of(answer);

    CHECK_INT(1, valise_json_get_text(&text, json, "/topics/1", &t->err));
    CHECK_TEXT("\xc3\xa9\n\"", text_of(t, text));
    text = NULL;
    CHECK_INT(1, valise_json_get_int(&number, json, "/seq", &t->err));
    CHECK_INT(12, number);
    CHECK_INT(0, valise_json_get_text(&text, json, "/role", &t->err));
    CHECK_INT(0, valise_json_get_int(&number, json, "/role", &t->err));
    CHECK_INT(0, valise_json_get_int(&number, json, "/none", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_json_get_text(&text, json, "/seq", &t->err));
    CHECK_TEXT("/seq is not a string but of the type integer", t->err.message);
    CHECK_RC(VALISE_E_INVALID, valise_json_get_int(&number, json, "/half", &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_json_get_int(&number, json, "/big", &t->err));
    CHECK_INT(12, number);
    CHECK(!text);
}

/* ---- payloads ---- */

/* Filled before rc is looked at, in whichever order arguments are evaluated. */
static const char *made(test *t, int rc, valise_blob **blob)
{
    return rc < 0 ? test_format("%s", valise_error_name(rc)) : text_of(t, VLS_TAKE(*blob));
}

#define MADE(...) made(t, valise_json_format(&blob, &t->err, __VA_ARGS__), &blob)

TEST(json_api, a_pattern_makes_whole_values)
{
    const valise_str slice = VALISE_STR("a slice, and more");
    valise_blob *blob = NULL;

    CHECK_TEXT("{\"key\":\"a\\\"}b\",\"text\":\"\xc3\xa9%\"}",
               MADE("{\"text\":%s, \"key\": %s}", "\xc3\xa9%", "a\"}b"));
    CHECK_TEXT("[\"a slice\",\"\",null]",
               MADE("[%.*s,%.*s,%s]", 7, slice.ptr, 0, (const char *)NULL, (const char *)NULL));
    CHECK_TEXT("[\"a slice, and more\"]", MADE("[%.*s]", VALISE_STR_ARG(slice)));
    CHECK_TEXT("[-1,-2,-3,-4,-5,1,2,3,4,5]",
               MADE("[%d,%ld,%lld,%jd,%zd,%u,%lu,%llu,%ju,%zu]", -1, -2L, -3LL, (intmax_t)-4,
                    (ssize_t)-5, 1u, 2ul, 3ull, (uintmax_t)4, (size_t)5));
    CHECK_TEXT("[-9223372036854775808,0.25,7]",
               MADE("[%lld,%g,%i]", (long long)INT64_MIN, 0.25, 7));
    CHECK_TEXT("{\"a\":[1,2],\"b\":[1]}", MADE("{\"b\":%-.*s,\"a\":%-s}", 3, "[1],", "[ 1,2 ]"));
    CHECK_TEXT("\"100%\"", MADE("\"100%%\""));
    CHECK_TEXT("{}", MADE("{}"));
}

/* Nothing of it becomes a payload. */
TEST(json_api, a_pattern_with_a_mistake_is_refused)
{
    const char *const unknown[] = {"%x", "%c", "%5d", "%-d", "%.3g", "%ls", "%f", "%", "%l", "%-%"};
    const char *volatile pattern;
    valise_blob *blob = NULL;

    for (size_t i = 0; i < VLS_COUNT(unknown); i++) {
        pattern = unknown[i];
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
            CHECK_RC(VALISE_E_INVALID, valise_json_format(&blob, &t->err, pattern, 1, 2));
        _Pragma("GCC diagnostic pop")
            CHECK_MSG(strstr(t->err.message, "conversion"), "%s: %s", pattern, t->err.message);
    }
    CHECK_TEXT("INVALID", MADE("{\"a\":\"%s\"}", "quoted twice"));
    CHECK_TEXT("INVALID", MADE("{\"a\":%s", "x"));
    CHECK_TEXT("INVALID", MADE("[%s]", "\xff"));
    CHECK_TEXT("INVALID", MADE("[%g]", HUGE_VAL));
    CHECK_TEXT("INVALID", MADE("{\"a\":%-s}", "1} {"));
    CHECK_TEXT("INVALID", MADE("[%.*s]", -1, "x"));
    CHECK(!blob);
    CHECK_RC(VALISE_E_INVALID, valise_json_format(NULL, &t->err, "{}"));
    CHECK_RC(VALISE_E_INVALID, valise_json_format(&blob, NULL, "{"));
}
