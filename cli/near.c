/* near.c -- what somebody meant who mistyped a word. */
#include "cli/catalog.h"

#include "base/str.h"

#define WORD_MAX 64u /* longer words are nobody's typing mistake */

/* Insertions, deletions, replacements and swaps of neighbours that make one from the other. */
static size_t edit_distance(valise_str a, valise_str b)
{
    size_t rows[3][WORD_MAX + 1];

    assert(a.len <= WORD_MAX && b.len <= WORD_MAX);
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t cost = a.ptr[i - 1] == b.ptr[j - 1] ? 0 : 1;
            size_t best = VLS_MIN(above[j] + 1, row[j - 1] + 1);
            best = VLS_MIN(best, above[j - 1] + cost);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                best = VLS_MIN(best, two_above[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a.len % 3][b.len];
}

void cli_near_init(cli_near *near, const char *word)
{
    *near = (cli_near){.word = valise_str_of(word)};
    /* One slip in a short word, one in three letters of a long one. */
    near->distance = VLS_MAX(near->word.len / 3, (size_t)1) + 1;
}

void cli_near_try(cli_near *near, const char *candidate)
{
    valise_str text = valise_str_of(candidate);

    if (near->word.len > WORD_MAX || text.len > WORD_MAX)
        return;
    /* Who typed the beginning meant it more likely than somebody who swapped letters. */
    size_t distance = edit_distance(near->word, text);
    if (near->word.len >= 2 && text.len > near->word.len && vls_str_starts(text, near->word))
        distance = VLS_MIN(distance, (size_t)1);
    /* Not a word of which nothing is left. */
    if (distance >= near->distance || distance >= VLS_MAX(near->word.len, text.len))
        return;
    near->distance = distance;
    (void)snprintf(near->best, sizeof(near->best), "%s", candidate);
}
