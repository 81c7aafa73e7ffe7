/* sized.c -- see sized.h. */
#include "base/sized.h"

#define SIZE_LIMIT 4096u /* more is no struct, but something that was never set */

static size_t size_of(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof(size));
    return size;
}

int vls_sized_check(const void *given, size_t least, const char *type, valise_error *err)
{
    size_t theirs = size_of(given);

    if (theirs < least || theirs > SIZE_LIMIT)
        return vls_fail(err, VALISE_E_INVALID, "%s has a size of %zu: start from its _INIT", type,
                        theirs);
    return 0;
}

int vls_sized_take(void *out, size_t size, const void *given, size_t least, const char *type,
                   valise_error *err)
{
    size_t theirs;
    int rc;

    if (!given)
        return 0;
    rc = vls_sized_check(given, least, type, err);
    if (rc < 0)
        return rc;
    theirs = size_of(given);
    memcpy(out, given, VLS_MIN(size, theirs));
    memcpy(out, &size, sizeof(size));
    return 0;
}

int vls_sized_list(valise_list *out, const void *items, size_t count, size_t max, const char *what,
                   valise_error *err)
{
    if (count > 0 && !items)
        return vls_fail(err, VALISE_E_INVALID, "there is a count of %s, and no list", what);
    if (count > max)
        return vls_fail(err, VALISE_E_LIMIT, "there are over %zu %s", max, what);
    *out = (valise_list){items, count};
    return 0;
}

void vls_sized_give(void *given, const void *ours, size_t size)
{
    size_t theirs = size_of(given);

    memcpy(given, ours, VLS_MIN(size, theirs));
    memcpy(given, &theirs, sizeof(theirs));
}
