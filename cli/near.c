/* near.c -- what somebody meant who mistyped a word (base/near.h); candidates may be made on the
 * way and are copied. */
#include "cli/catalog.h"

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
