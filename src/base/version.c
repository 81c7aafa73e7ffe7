/* version.c -- the version that is linked. */
#include "base/base.h"

const char *valise_version(void)
{
    return VALISE_VERSION;
}
