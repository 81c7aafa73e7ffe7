/* near.c -- see near.h. */
#include "base/near.h"

#include "base/str.h"

/* The slips that make one from the other. */
static size_t distance_of(valise_str a, valise_str b)
{
    size_t rows[3][VLS_NEAR_MAX + 1];

    assert(a.len <= VLS_NEAR_MAX && b.len <= VLS_NEAR_MAX);
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = vls_to_lower(a.ptr[i - 1]), y = vls_to_lower(b.ptr[j - 1]);
            size_t best = VLS_MIN(above[j] + 1, row[j - 1] + 1);
            best = VLS_MIN(best, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == vls_to_lower(b.ptr[j - 2]) &&
                vls_to_lower(a.ptr[i - 2]) == y)
                best = VLS_MIN(best, two_above[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a.len % 3][b.len];
}

void vls_near_init(vls_near *near, valise_str word)
{
    *near = (vls_near){.word = word};
    near->distance = VLS_MAX(word.len / 3, (size_t)1) + 1;
}

void vls_near_try(vls_near *near, valise_str candidate)
{
    valise_str word = near->word;
    size_t distance;

    if (word.len > VLS_NEAR_MAX || candidate.len > VLS_NEAR_MAX)
        return;
    distance = distance_of(word, candidate);
    /* Who typed the beginning meant it more likely than somebody who swapped letters. */
    if (word.len >= 2 && candidate.len > word.len && vls_str_starts(candidate, word))
        distance = VLS_MIN(distance, (size_t)1);
    /* Not a word of which nothing is left. */
    if (distance >= near->distance || distance >= VLS_MAX(word.len, candidate.len))
        return;
    near->distance = distance;
    near->best = candidate;
}
