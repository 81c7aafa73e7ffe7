/* commit.c -- ids, summaries, copies and events of commits; what names may look like. */
#include "kit.h"

#include <valise/event.h>

#include "base/hex.h"
#include "base/uuid.h"

/* docs/formats.md, "Commits of a backpack". */
TEST(commit, vectors_of_the_documentation)
{
    valise_str docs = formats_page();
    valise_str rest = vls_str_from(docs, vls_str_find(docs, VLS_STR("```commit-vectors\n")) + 18);
    int count = 0;

    while (!vls_str_starts(rest, VLS_STR("```"))) {
        valise_str line, backpack, word, seq_text, time_text, id_text;
        valise_uuid id, expected;
        int64_t seq, time;
        (void)vls_str_cut(&line, &rest, rest, '\n');
        (void)vls_str_cut(&backpack, &line, line, ' ');
        (void)vls_str_cut(&word, &line, line, ' ');
        (void)vls_str_cut(&seq_text, &line, line, ' ');
        (void)vls_str_cut(&word, &line, line, ' ');
        (void)vls_str_cut(&time_text, &line, line, ' ');
        (void)vls_str_cut(&word, &id_text, line, ' ');
        CHECK_OK(vls_uuid_parse(&id, backpack, &t->err));
        CHECK(vls_str_to_i64(&seq, seq_text) && vls_str_to_i64(&time, time_text));
        expected = vls_commit_id(&id, seq, time);
        CHECK_STR(id_text, valise_str_of(vls_uuid_text(&expected).s));
        CHECK_INT(seq, vls_commit_seq_of(&id, &expected));
        count++;
    }
    CHECK_INT(3, count);
}

static void check_ending(const valise_uuid *backpack, const valise_uuid *id, int64_t seq,
                         valise_str text)
{
    const vls_commit_ending ending = vls_commit_ending_parse(text);
    valise_uuid other = *id;

    CHECK(vls_commit_ending_matches(&ending, id));
    other.bytes[15] ^= 1;
    CHECK(!vls_commit_ending_matches(&ending, &other));
    other.bytes[15] ^= 1;
    other.bytes[0] ^= 0x80;
    CHECK(vls_commit_ending_matches(&ending, &other) == (ending.bits < 128));
    CHECK_INT(seq, vls_commit_ending_next(&ending, backpack, seq - 1));
    CHECK_INT(seq + (INT64_C(1) << VLS_MIN(ending.bits, 48u)),
              vls_commit_ending_next(&ending, backpack, seq));
    CHECK_INT(INT64_MAX, vls_commit_ending_next(&ending, backpack, INT64_MAX));
}

/* The last digits of an id lead back to the seq. */
TEST(commit, endings_lead_back)
{
    test_rng rng = test_rng_new(test_seed());

    for (int i = 0; i < 1000; i++) {
        valise_uuid backpack, id;
        int64_t seq = (int64_t)test_random_below(&rng, 1 << 30) + 1;
        for (size_t k = 0; k < 16; k++)
            backpack.bytes[k] = (uint8_t)test_random(&rng);
        id = vls_commit_id(&backpack, seq, (int64_t)test_random_below(&rng, INT64_MAX));
        CHECK(vls_uuid_is_v7(&id));
        for (size_t len = 1; len <= 36; len++)
            check_ending(&backpack, &id, seq,
                         vls_str_from(valise_str_of(vls_uuid_text(&id).s), 36 - len));
        backpack.bytes[0] ^= 0x80;
        CHECK_INT(0, vls_commit_seq_of(&backpack, &id));
    }
}

/* [B32] */
TEST(commit, events_have_no_values)
{
    bag *b = bag_open(t, NULL);
    valise_event event = {0};
    static const char *const types[] = {"BACKPACK_PACK", "BACKPACK_PACK", "BACKPACK_DELETE",
                                        "BACKPACK_QUARANTINE", "BACKPACK_RELEASE"};

    for (int i = 0; i < 5; i++) {
        if (i == 0)
            CHECK_OK(put_with(b, b->owner, "k", "\"s3cr3t\"",
                              (vls_pack_args){PACK_ARGS, .tags = NAMES("secret")}));
        else if (i == 1)
            CHECK_OK(put(b, b->owner, "k", "\"s3cr3t2\""));
        else if (i == 2)
            CHECK_INT(1, drop(b, b->owner, "k"));
        else if (i == 3) {
            CHECK_OK(put_with(b, b->owner, "k", "\"s3cr3t\"",
                              (vls_pack_args){PACK_ARGS, .tags = NAMES("pii")}));
            CHECK_OK(jail(b, b->owner, "k", "x"));
        } else
            CHECK_OK(unjail(b, b->owner, "k", 0));
        CHECK_OK(vls_commit_event(&event, &b->done.commit, VLS_STR("run-1"), &b->arena, &t->err));
        CHECK_STR(valise_str_of(types[i]), event.type);
        CHECK_STR(VLS_STR("run-1"), event.run_id);
        CHECK(vls_str_find(event.payload, VLS_STR("s3cr3t")) == event.payload.len);
        CHECK(vls_str_find(event.payload, VLS_STR("\"key\":\"k\"")) < event.payload.len);
        CHECK(vls_str_find(event.payload, VLS_STR("outcome")) == event.payload.len);
    }
}

/* Who may hear of one node alone may not be allowed to read what others packed. [B21] [B32] */
TEST(commit, events_tell_of_no_values_that_others_gave)
{
    bag *b = bag_open(t, NULL);
    valise_event event = {0};

    for (int i = 0; i < 4; i++) {
        bool gives = i == 0;
        if (i == 0)
            CHECK_OK(put(b, b->owner, "k", "\"HIDDEN\""));
        else if (i == 1)
            CHECK_OK(jail(b, b->owner, "k", "x"));
        else if (i == 2)
            CHECK_OK(unjail(b, b->owner, "k", 0));
        else
            CHECK_INT(1, drop(b, b->owner, "k"));
        CHECK_OK(vls_commit_event(&event, &b->done.commit, VLS_STR("run-1"), &b->arena, &t->err));
        CHECK(gives == (vls_str_find(event.payload, VLS_STR("HIDDEN")) < event.payload.len));
        CHECK(gives == (vls_str_find(event.payload, VLS_STR("\"valueId\"")) < event.payload.len));
        CHECK(vls_str_find(event.payload, VLS_STR("\"previousValueId\"")) == event.payload.len);
    }
}

TEST(commit, lists_of_names)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_list sorted = {0}, none = UNSAID;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_OK(vls_bag_sort_names(&sorted, NAMES("b", "a", "b"), &arena, &t->err));
    CHECK_INT(2, sorted.count);
    CHECK(vls_bag_has_name(sorted, VLS_STR("b")) && !vls_bag_has_name(sorted, VLS_STR("c")));
    CHECK(vls_bag_same_names(sorted, NAMES("a", "b")));
    CHECK(!vls_bag_same_names(sorted, NAMES("a", "c")));
    CHECK(!vls_bag_same_names(sorted, NAMES("a")));
    CHECK(!vls_bag_same_names(NOBODY, none));
    CHECK(vls_bag_same_names(none, none));
}
