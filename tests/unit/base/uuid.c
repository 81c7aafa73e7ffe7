/* uuid.c -- UUIDv7 under a clock that stands still, jumps and runs over. [K3] */
#include "harness/test.h"

#include "base/uuid.h"
#include "fake_env.h"

#define MS INT64_C(1000000)
#define COUNTER_MAX ((1u << 26) - 1)

static const char *text(const valise_uuid *u)
{
    const uint8_t *b = u->bytes;

    return test_format("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                       b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                       b[13], b[14], b[15]);
}

static int64_t time_of(const valise_uuid *uuid)
{
    int64_t ms = -1;

    CHECK(vls_uuid_time_ms(&ms, uuid));
    return ms;
}

/* The next id; must be greater than *last, which it replaces. */
static void next(test *t, valise_uuid *last, vls_uuid_gen *gen)
{
    valise_uuid id;

    CHECK_OK(vls_uuid_new(&id, gen, &t->err));
    CHECK(vls_uuid_is_v7(&id));
    CHECK_MSG(vls_uuid_compare(last, &id) < 0, "%s does not come after %s", text(&id), text(last));
    *last = id;
}

TEST(uuid, has_the_layout_of_the_rfc)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid id;

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.now_ns = 0x017F22E279B0 * MS; /* the RFC's example of a time, 2022-02-22 19:22:22 UTC */
    fake.random_fixed = true;
    fake.fixed = 0xFF;
    CHECK_OK(vls_uuid_new(&id, &gen, &t->err));
    CHECK_TEXT("017f22e2-79b0-77ff-bfff-ffffffffffff", text(&id)); /* the guard bit is clear */
    CHECK_INT(0x017F22E279B0, time_of(&id));
    CHECK_OK(vls_uuid_new(&id, &gen, &t->err));
    CHECK_TEXT("017f22e2-79b0-7800-8000-ffffffffffff", text(&id));
    vls_uuid_gen_release(&gen);

    vls_uuid_gen_init(&gen, &fake.env);
    fake.fixed = 0;
    CHECK_OK(vls_uuid_new(&id, &gen, &t->err));
    CHECK_TEXT("017f22e2-79b0-7000-8000-000000000000", text(&id));
    vls_uuid_gen_release(&gen);
}

/* Each bit of the counter has its own place, the higher ones in front. */
TEST(uuid, the_counter_is_written_whole)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid id;

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.random_fixed = true;
    CHECK_OK(vls_uuid_new(&id, &gen, &t->err));
    for (unsigned bit = 0; bit < 26; bit++) {
        gen.counter = (1u << bit) - 1; /* and one more */
        CHECK_OK(vls_uuid_new(&id, &gen, &t->err));
        uint64_t high = (uint64_t)(bit >= 14) << (bit - 14) % 64;
        uint64_t low = (uint64_t)(bit < 14) << bit % 64;
        CHECK_INT(0x70 | high >> 8, id.bytes[6]);
        CHECK_INT(high & 0xFF, id.bytes[7]);
        CHECK_INT(0x80 | low >> 8, id.bytes[8]);
        CHECK_INT(low & 0xFF, id.bytes[9]);
    }
    vls_uuid_gen_release(&gen);
}

TEST(uuid, increases_while_the_clock_stands_still)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}};

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.now_ns = 1700000000000 * MS;
    for (int i = 0; i < 100000; i++)
        next(t, &last, &gen);
    CHECK_INT(1700000000000, time_of(&last));
    vls_uuid_gen_release(&gen);
}

TEST(uuid, increases_when_the_clock_jumps_back)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}};

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.now_ns = 1700000000000 * MS;
    next(t, &last, &gen);
    fake.now_ns -= 3600 * 1000 * MS;
    for (int i = 0; i < 1000; i++)
        next(t, &last, &gen);
    CHECK_INT(1700000000000, time_of(&last));
    fake.now_ns = -5 * MS; /* before 1970 */
    next(t, &last, &gen);
    fake.now_ns = INT64_MIN;
    next(t, &last, &gen);
    fake.now_ns = 1700000000001 * MS; /* and it has caught up */
    next(t, &last, &gen);
    CHECK_INT(1700000000001, time_of(&last));
    vls_uuid_gen_release(&gen);
}

TEST(uuid, increases_under_a_clock_that_jumps_at_random)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}};
    test_rng rng = test_rng_new(test_seed());

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.rng = test_rng_new(test_random(&rng));
    fake.now_ns = 1700000000000 * MS;
    for (int i = 0; i < 50000; i++) {
        int64_t step_ns = (int64_t)test_random_below(&rng, 4 * MS);
        if (test_random_below(&rng, 50) == 0)
            step_ns = (int64_t)test_random_below(&rng, 20000 * MS) - 10000 * MS;
        if (test_random_below(&rng, 100) == 0)
            gen.counter = VLS_MAX(gen.counter, COUNTER_MAX - 2);
        fake.now_ns += step_ns;
        next(t, &last, &gen);
    }
    vls_uuid_gen_release(&gen);
}

TEST(uuid, a_counter_that_runs_over_moves_the_time_ahead)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}};

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    fake.now_ns = 1700000000000 * MS;
    next(t, &last, &gen);
    CHECK(gen.counter <= COUNTER_MAX / 2); /* room for half of all counters */
    gen.counter = COUNTER_MAX - 1;
    next(t, &last, &gen);
    CHECK_INT(1700000000000, time_of(&last));
    next(t, &last, &gen);
    CHECK_INT(1700000000001, time_of(&last));
    fake.now_ns += MS; /* the clock catches up: still the same millisecond */
    next(t, &last, &gen);
    CHECK_INT(1700000000001, time_of(&last));
    fake.now_ns += MS;
    next(t, &last, &gen);
    CHECK_INT(1700000000002, time_of(&last));
    vls_uuid_gen_release(&gen);
}

TEST(uuid, ends_with_the_48_bits_of_its_time)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}}, kept;

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    next(t, &last, &gen);
    CHECK_INT(0, time_of(&last));
    gen.time_ms = (UINT64_C(1) << 48) - 1;
    gen.counter = COUNTER_MAX - 1;
    next(t, &last, &gen);
    kept = last;
    CHECK_RC(VALISE_E_LIMIT, vls_uuid_new(&last, &gen, &t->err));
    CHECK(vls_uuid_equal(&kept, &last));
    vls_uuid_gen_release(&gen);
}

TEST(uuid, a_failing_source_of_randomness_changes_nothing)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid last = {{0}}, kept;

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    for (unsigned i = 0; i < VLS_UUID_BATCH; i++)
        next(t, &last, &gen);
    CHECK_INT(1, fake.random_calls);
    kept = last;
    fake.random_fails = true;
    CHECK_RC(VALISE_E_IO, vls_uuid_new(&last, &gen, &t->err));
    CHECK_RC(VALISE_E_IO, vls_uuid_new(&last, &gen, &t->err));
    CHECK(vls_uuid_equal(&kept, &last));
    fake.random_fails = false;
    next(t, &last, &gen);
    vls_uuid_gen_release(&gen);
}

/* Two generators at the same moment: only the random bits tell their ids apart. */
TEST(uuid, generators_do_not_meet)
{
    fake_env fake[2];
    vls_uuid_gen gen[2];
    valise_uuid a, b;
    int same_counters = 0;

    for (int i = 0; i < 2; i++) {
        vls_uuid_gen_init(&gen[i], fake_env_init(&fake[i], t->env));
        fake[i].env.random = t->env->random;
    }
    for (int i = 0; i < 1000; i++) {
        fake[0].now_ns = fake[1].now_ns = i * MS;
        CHECK_OK(vls_uuid_new(&a, &gen[0], &t->err));
        CHECK_OK(vls_uuid_new(&b, &gen[1], &t->err));
        CHECK(memcmp(a.bytes, b.bytes, 6) == 0);
        same_counters += memcmp(a.bytes + 6, b.bytes + 6, 4) == 0;
        CHECK(memcmp(a.bytes + 10, b.bytes + 10, 6) != 0);
    }
    CHECK(same_counters < 3); /* drawn, 1 in 2^25 */
    vls_uuid_gen_release(&gen[0]);
    vls_uuid_gen_release(&gen[1]);
}

TEST(uuid, random_bytes_are_used_once)
{
    fake_env fake;
    vls_uuid_gen gen;
    valise_uuid ids[200];

    vls_uuid_gen_init(&gen, fake_env_init(&fake, t->env));
    for (size_t i = 0; i < VLS_COUNT(ids); i++) {
        CHECK_OK(vls_uuid_new(&ids[i], &gen, &t->err));
        for (size_t j = 0; j < i; j++)
            CHECK(memcmp(ids[i].bytes + 10, ids[j].bytes + 10, 6) != 0);
    }
    vls_uuid_gen_release(&gen);
}

TEST(uuid, only_version_7_has_a_time)
{
    valise_uuid v4 = {{0x91, 0x91, 0x08, 0xf7, 0x52, 0xd1, 0x43, 0x20, 0x9b, 0xac, 0xf8, 0x47, 0xdb,
                       0x41, 0x48, 0xa8}};
    valise_uuid odd = {{0, 0, 0, 0, 0, 0, 0x70, 0, 0xC0}};
    int64_t ms = -7;

    CHECK(!vls_uuid_time_ms(&ms, &v4));
    CHECK(!vls_uuid_time_ms(&ms, &odd)); /* version 7 in another variant */
    CHECK_INT(-7, ms);
}

/* ---- derived ---- */

static const valise_uuid command = {{0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0, 0x7c, 0xc3, 0x98, 0xc4,
                                     0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}};

/* The vectors of docs/formats.md, "Derived ids". */
TEST(uuid, derived_ids_never_change)
{
    valise_uuid v4 = {{0x91, 0x91, 0x08, 0xf7, 0x52, 0xd1, 0x43, 0x20, 0x9b, 0xac, 0xf8, 0x47, 0xdb,
                       0x41, 0x48, 0xa8}};
    valise_uuid id;

    CHECK_TEXT("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", text(&command));
    vls_uuid_derive(&id, &command, 0);
    CHECK_TEXT("017f22e2-79b0-7a92-bcd5-e459c5143962", text(&id));
    vls_uuid_derive(&id, &command, 1);
    CHECK_TEXT("017f22e2-79b0-7c85-8a42-1bba4b7d7ab1", text(&id));
    vls_uuid_derive(&id, &v4, 0);
    CHECK_TEXT("00000000-0000-754e-a35a-0be33216cd61", text(&id));
}

TEST(uuid, derived_ids_are_all_different_and_carry_the_commands_time)
{
    valise_uuid ids[500], other = command;

    other.bytes[15] ^= 1;
    for (size_t i = 0; i < VLS_COUNT(ids); i++) {
        const valise_uuid *from = i % 2 ? &command : &other;
        vls_uuid_derive(&ids[i], from, i / 2);
        CHECK_INT(0x017F22E279B0, time_of(&ids[i]));
        for (size_t j = 0; j < i; j++)
            CHECK(!vls_uuid_equal(&ids[i], &ids[j]));
    }
}
