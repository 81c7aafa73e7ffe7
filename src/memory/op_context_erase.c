/* op_context_erase.c -- context:erase, delete an entry and remove all it ever said. [W13] [K20] */
#include "memory/entry.h"
#include "memory/erase.h"

typedef struct erase_args {
    valise_str key, reason;
} erase_args;

static const valise_field erase_in[] = {
    VALISE_FIELD_WITH(erase_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "Its key.",
                      .ref = VLS_REF_ENTRY, .min = 1, .max = VLS_MEMORY_KEY_MAX),
    VALISE_FIELD_WITH(erase_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const erase_args *args = in;
    const vls_context_entry_row row = {.key = args->key, .expires = VALISE_NONE};
    const vls_entry_ref ref = {args->key};
    const vls_memory_erasing what = {.coll = &vls_context_entries,
                                     .row = &row,
                                     .remove = &vls_op_memory_context_delete,
                                     .args = &ref,
                                     .reason = args->reason};

    return vls_memory_erase(result, j, &what, err);
}

const valise_op vls_op_memory_context_erase = {
    .size = sizeof(valise_op),
    .name = "context:erase",
    .brief = "Delete a context entry and erase all its versions from every file.",
    .help = "All its versions lose their contents, even if the entry was deleted before. Other "
            "places that hold the same contents are listed. `context delete --erase` is the same.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = erase_in,
    .in_size = sizeof(erase_args),
    .out = vls_erase_answer_fields,
    .out_size = sizeof(vls_erase_answer),
    .job = job,
    .example = "{\"key\":\"team/password\",\"reason\":\"a leaked key\"}",
};
