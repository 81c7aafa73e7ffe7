/* turn_row.c -- what extensions are told of turns. [K14] [W19] */
#include <valise/sys/turn.h>

#include "chat/rows.h"
#include "harness/test.h"

TEST(turn_row, each_role_is_wanted_by_its_own_function)
{
    bool (*const wants[])(void *, const void *) = {valise_turn_is_user, valise_turn_is_assistant,
                                                   valise_turn_is_system, valise_turn_is_tool};

    (void)t;
    for (int64_t role = VALISE_TURN_USER; role <= VALISE_TURN_TOOL; role++) {
        valise_turn_row row = {.role = role, .blocks = {{1}}};
        for (int64_t i = 0; i < 4; i++)
            CHECK(wants[i](NULL, &row) == (i == role));
        row.blocks = (valise_id){{0}}; /* erased */
        CHECK(!wants[role](NULL, &row));
    }
}

TEST(turn_row, texts_of_ids)
{
    valise_turn_ref ref = {{{0x01, 0x8f, [6] = 0x70, [8] = 0x80, [15] = 0xab}}, INT64_MAX};
    char uuid[VALISE_UUID_TEXT], text[VALISE_TURN_REF_TEXT];
    vls_turn_ref back = {.version = 0};

    (void)t;
    CHECK_TEXT("018f0000-0000-7000-8000-0000000000ab", valise_uuid_text(uuid, &ref.id));
    CHECK_TEXT("018f0000-0000-7000-8000-0000000000ab@9223372036854775807",
               valise_turn_ref_text(text, &ref));
    CHECK(vls_turn_ref_read(&back, valise_str_of(text)));
    CHECK(vls_turn_ref_equal(&ref, &back));
}

TEST(turn_row, is_the_row_of_the_collection)
{
    (void)t;
    CHECK_TEXT("turn", valise_turns.name);
    CHECK_INT(sizeof(valise_turn_row), valise_turns.row_size);
}
