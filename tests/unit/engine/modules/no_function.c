/* no_function.c -- a shared object that is no extension. */
#include <valise/api.h>

VALISE_API int valise_extension_v0(void);

int valise_extension_v0(void)
{
    return 0;
}
