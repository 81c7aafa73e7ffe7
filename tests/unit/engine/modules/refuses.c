/* refuses.c -- an extension that does not want to. */
#include <valise/sys/extension.h>

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return NULL;
}
