/* scale.c -- what a model counts for our tokens, learned. [P16] */
#include "prompt/scale.h"

#include "memory/kit.h"

TEST_PARAMS(scale, "memory", "sqlite")

TEST(scale, goes_up_at_once_and_down_by_two)
{
    vls_scale_row row = {.samples = 0};

    CHECK(vls_scale_learn(&row, 1000, 1500));
    CHECK_INT(24, row.scale);
    CHECK_INT(1, row.samples);
    /* One that is a step lower changes nothing: the beginning of histories stays. */
    for (int i = 0; i < 50; i++)
        CHECK(vls_scale_learn(&row, 1000, 1420));
    CHECK_INT(24, row.scale);
    for (int i = 0; i < 3; i++)
        CHECK(vls_scale_learn(&row, 1000, 900));
    CHECK(row.scale < 24 && row.scale % 2 == 0);
    for (int i = 0; i < 100; i++)
        CHECK(vls_scale_learn(&row, 1000, 900));
    CHECK_INT(16, row.scale); /* 15 would be enough, and is one step only */
    for (int i = 0; i < 100; i++)
        CHECK(vls_scale_learn(&row, 1000, 1));
    CHECK(row.scale >= VLS_SCALE_MIN && row.scale <= VLS_SCALE_MIN + 2);
    for (int i = 0; i < 100; i++)
        CHECK(vls_scale_learn(&row, 1000, 1000000));
    CHECK_INT(VLS_SCALE_MAX, row.scale);
}

TEST(scale, never_counts_less_than_what_keeps_being_reported)
{
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 200; round++) {
        vls_scale_row row = {.samples = 0};
        int64_t estimated = 64 + (int64_t)test_random_below(&rng, 1000000);
        int64_t reported =
            estimated / 2 + (int64_t)test_random_below(&rng, (uint64_t)estimated * 3);

        for (int i = 0; i < 40; i++)
            CHECK(vls_scale_learn(&row, estimated, reported));
        CHECK(row.scale >= VLS_SCALE_MIN && row.scale <= VLS_SCALE_MAX);
        CHECK(row.scale == VLS_SCALE_MAX ||
              (estimated * row.scale + estimated / 64) >= reported * 16);
    }
}

TEST(scale, learns_nothing_from_little_or_nonsense)
{
    vls_scale_row row = {.samples = 0};

    CHECK(!vls_scale_learn(&row, VLS_SCALE_LEAST - 1, 100));
    CHECK(!vls_scale_learn(&row, 1000, 0));
    CHECK(!vls_scale_learn(&row, 1000, -5));
    CHECK(!vls_scale_learn(&row, INT64_MAX, 5));
    CHECK(!vls_scale_learn(&row, 1000, INT64_MAX));
    CHECK_INT(0, row.samples);
}

TEST(scale, is_a_row_of_the_workspace)
{
    den *d = den_open(t);

    CHECK_TEXT(
        "{\"changed\":true,\"samples\":1,\"scale\":20}",
        den_run(d, "prompt:calibrate", "{\"model\":\"m\",\"estimated\":1000,\"reported\":1250}"));
    CHECK_TEXT(
        "{\"changed\":false,\"samples\":1,\"scale\":20}",
        den_run(d, "prompt:calibrate", "{\"model\":\"m\",\"estimated\":10,\"reported\":90}"));
    CHECK_TEXT(
        "{\"changed\":false,\"samples\":0,\"scale\":16}",
        den_run(d, "prompt:calibrate", "{\"model\":\"n\",\"estimated\":10,\"reported\":90}"));
    den_refused(d, VALISE_E_INVALID, "estimated", "prompt:calibrate",
                "{\"model\":\"m\",\"estimated\":0,\"reported\":90}");
    den_check(d);
}
