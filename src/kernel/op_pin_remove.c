/* op_pin_remove.c -- pin:remove, let go of what a pin holds. */
#include "kernel/kernel.h"

typedef struct pin_args {
    valise_str name;
} pin_args;

static const valise_field pin_in[] = {
    VALISE_FIELD_WITH(pin_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the pin.",
                      .ref = "pin", .min = 1, .max = 128),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const pin_args *args = in;
    vls_pin pin = {.name = args->name};
    int rc = valise_view_delete(view, &vls_pins, &pin, err);

    (void)out;
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no pin '%.*s'",
                       VALISE_STR_ARG(args->name));
        vls_hint(err, "'valise pin list' lists them");
        return VALISE_E_NOT_FOUND;
    }
    return rc < 0 ? rc : 0;
}

const valise_op vls_op_kernel_pin_remove = {
    .size = sizeof(valise_op),
    .name = "pin:remove",
    .brief = "Remove a pin.",
    .kind = VALISE_COMMAND,
    .needs = "pin:write",
    .in = pin_in,
    .in_size = sizeof(pin_args),
    .decide = decide,
    .example = "{\"name\":\"before-refactoring\"}",
};
