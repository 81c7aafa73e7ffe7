/* near.h -- find the word that somebody mistyped.
 *
 *     vls_near near;
 *     vls_near_init(&near, VLS_STR("sesion"));
 *     for (...)
 *         vls_near_try(&near, valise_str_of(names[i]));
 *     if (near.best.ptr)
 *         vls_hint(err, "did you mean '%.*s'?", VALISE_STR_ARG(near.best));
 *
 * A slip is one letter too many, too few or wrong, or two letters exchanged; case does not matter.
 * A short word may have one slip, a long word one for every three letters.
 *
 * Threads: single. */
#ifndef VLS_NEAR_H
#define VLS_NEAR_H

#include "base/base.h"

#define VLS_NEAR_MAX 64u /* bytes; longer words are nobody's typing mistake */

typedef struct vls_near {
    valise_str word;
    valise_str best; /* of what was tried, borrowed; ptr NULL: nothing is near */
    size_t distance; /* slips that are already too many */
} vls_near;

void vls_near_init(vls_near *near, valise_str word);
void vls_near_try(vls_near *near, valise_str candidate);

#endif
