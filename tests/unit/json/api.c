/* api.c -- valise/json.h: what hosts without a JSON library ask with, and read answers with. */
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
