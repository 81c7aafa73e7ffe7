/* stays.c -- an extension that the linker never unloads. */
#include <valise/sys/extension.h>

static const valise_extension package = {sizeof(valise_extension), VALISE_EXTENSION_ABI, "stays",
                                         "1.0"};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
