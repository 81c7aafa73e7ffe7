/* wrong_abi.c -- an extension for a library there is not yet. */
#include <valise/sys/extension.h>

static const valise_extension package = {sizeof(valise_extension), 99, "future", "9.0"};

VALISE_API const valise_extension *valise_extension_v1(void);

const valise_extension *valise_extension_v1(void)
{
    return &package;
}
