/* near.c -- what somebody meant who mistyped a word (base/near.h), or took another one for the same
 * thing. Candidates may be made on the way and are copied. */
#include "cli/catalog.h"

#include "base/str.h"

void cli_near_init(cli_near *near, const char *word)
{
    near->best[0] = '\0';
    vls_near_init(&near->near, valise_str_of(word));
}

void cli_near_try(cli_near *near, const char *candidate)
{
    near->near.best.ptr = NULL;
    vls_near_try(&near->near, valise_str_of(candidate));
    if (near->near.best.ptr)
        (void)snprintf(near->best, sizeof(near->best), "%s", candidate);
}

/* ---- other words for the same thing ---- */

/* Groups call what is done to them by the word that fits: a blob is registered, a setting unset. */
static const struct {
    const char *words, *verbs;
} same[] = {
    {"ls list all", "list ls log runs"},
    {"show view info describe", "show get list"},
    {"get read cat print", "get show unpack peek"},
    {"new create make init start", "create add register run"},
    {"add put insert write store save pack register", "add put pack register create set"},
    {"set", "set put pack add update register"},
    {"edit change modify rename update", "edit update set"},
    {"rm remove delete del drop unset", "delete remove rm drop unset release"},
    {"log history", "history log list"},
};

const char *cli_verbs_like(const char *word)
{
    valise_str words, one;

    for (size_t i = 0; i < VLS_COUNT(same); i++) {
        words = valise_str_of(same[i].words);
        while (words.len > 0) {
            (void)vls_str_cut(&one, &words, words, ' ');
            if (vls_str_equal(one, valise_str_of(word)))
                return same[i].verbs;
        }
    }
    return "";
}
