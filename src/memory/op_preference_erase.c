/* op_preference_erase.c -- preference:erase, delete it and remove all it ever said. [W13] [K20] */
#include "memory/erase.h"
#include "memory/preference.h"

typedef struct erase_args {
    valise_uuid id;
    valise_str reason;
} erase_args;

static const valise_field erase_in[] = {
    VALISE_FIELD_WITH(erase_args, id, UUID, VALISE_REQUIRED | VALISE_POSITIONAL, "Its id.",
                      .ref = VLS_REF_PREFERENCE),
    VALISE_FIELD_WITH(erase_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const erase_args *args = in;
    const vls_preference_row row = {.id = args->id};
    const vls_preference_ref ref = {args->id};
    const vls_memory_erasing what = {.coll = &vls_preferences,
                                     .row = &row,
                                     .remove = &vls_op_memory_preference_delete,
                                     .args = &ref,
                                     .reason = args->reason};

    return vls_memory_erase(result, j, &what, err);
}

const valise_op vls_op_memory_preference_erase = {
    .size = sizeof(valise_op),
    .name = "preference:erase",
    .brief = "Delete a preference and erase all its versions from every file.",
    .help =
        "All its versions lose their contents, even if the preference was deleted before. Other "
        "places that hold the same contents are listed. `preference delete --erase` is the same.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = erase_in,
    .in_size = sizeof(erase_args),
    .out = vls_erase_answer_fields,
    .out_size = sizeof(vls_erase_answer),
    .job = job,
    .example = "{\"id\":\"00000000-0000-7000-8000-000000000001\",\"reason\":\"asked for\"}",
};
