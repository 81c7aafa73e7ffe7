/* near.c -- what somebody meant. */
#include "base/near.h"

#include "base/str.h"
#include "harness/test.h"

static const char *nearest(const char *word)
{
    static const char *const names[] = {"session", "turn", "pin", "agent", "validate", "log"};
    vls_near near;

    vls_near_init(&near, valise_str_of(word));
    for (size_t i = 0; i < VLS_COUNT(names); i++)
        vls_near_try(&near, valise_str_of(names[i]));
    return near.best.ptr ? near.best.ptr : "";
}

TEST(near, finds_what_was_meant)
{
    CHECK_TEXT("session", nearest("sesion"));
    CHECK_TEXT("session", nearest("Session"));
    CHECK_TEXT("session", nearest("sesssion"));
    CHECK_TEXT("turn", nearest("trun"));
    CHECK_TEXT("pin", nearest("pni"));
    CHECK_TEXT("agent", nearest("agnet"));
    CHECK_TEXT("validate", nearest("val"));
    CHECK_TEXT("validate", nearest("valdiaet"));
}

TEST(near, finds_nothing_where_nothing_is_near)
{
    CHECK_TEXT("", nearest("elephant"));
    CHECK_TEXT("", nearest(""));
    CHECK_TEXT("", nearest("x"));
    CHECK_TEXT("", nearest("xyz"));
    CHECK_TEXT("", nearest(test_format("%065d", 1)));
}

TEST(near, the_first_of_equals_wins)
{
    vls_near near;

    vls_near_init(&near, VLS_STR("cat"));
    vls_near_try(&near, VLS_STR("bat"));
    vls_near_try(&near, VLS_STR("rat"));
    CHECK_STR(VLS_STR("bat"), near.best);
    vls_near_try(&near, VLS_STR("cat"));
    CHECK_STR(VLS_STR("cat"), near.best);
}
