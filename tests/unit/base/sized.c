/* sized.c -- structs that begin with their size: older, newer and never set. */
#include "harness/test.h"

#include "base/sized.h"

typedef struct small {
    size_t size;
    int a;
} small;

typedef struct large {
    size_t size;
    int a, b;
} large;

TEST(sized, what_an_older_program_does_not_know_has_its_default)
{
    large ours = {sizeof(ours), 1, 2};

    CHECK_OK(vls_sized_take(&ours, sizeof(ours), NULL, sizeof(size_t), "large", &t->err));
    CHECK_INT(1, ours.a);
    CHECK_OK(vls_sized_take(&ours, sizeof(ours), &(small){offsetof(large, b), 7}, sizeof(size_t),
                            "large", &t->err));
    CHECK_INT(7, ours.a);
    CHECK_INT(2, ours.b);
    CHECK_INT(sizeof(large), ours.size);
}

TEST(sized, what_a_newer_program_knows_is_left_out)
{
    struct {
        large known;
        int more;
    } theirs = {{sizeof(theirs), 3, 4}, 5};
    large ours = {sizeof(ours), 0, 0};

    CHECK_OK(vls_sized_take(&ours, sizeof(ours), &theirs, sizeof(size_t), "large", &t->err));
    CHECK_INT(4, ours.b);
    ours.b = 9;
    vls_sized_give(&theirs, &ours, sizeof(ours));
    CHECK_INT(9, theirs.known.b);
    CHECK_INT(5, theirs.more);
    CHECK_INT(sizeof(theirs), theirs.known.size);
}

TEST(sized, gives_no_more_than_there_is_room_for)
{
    large theirs = {offsetof(large, b), 0, 6}, ours = {sizeof(ours), 1, 2};

    vls_sized_give(&theirs, &ours, sizeof(ours));
    CHECK_INT(1, theirs.a);
    CHECK_INT(6, theirs.b);
    CHECK_INT(offsetof(large, b), theirs.size);
}

TEST(sized, refuses_sizes_that_cannot_be)
{
    large ours = {sizeof(ours), 1, 2}, theirs = {0, 3, 4};

    CHECK_RC(VALISE_E_INVALID,
             vls_sized_take(&ours, sizeof(ours), &theirs, sizeof(size_t), "large", &t->err));
    CHECK_TEXT("large has a size of 0: start from its _INIT", t->err.message);
    theirs.size = 4097;
    CHECK_RC(VALISE_E_INVALID, vls_sized_check(&theirs, sizeof(size_t), "large", &t->err));
    theirs.size = 4096;
    CHECK_OK(vls_sized_check(&theirs, 4096, "large", &t->err));
    CHECK_INT(1, ours.a);
}
