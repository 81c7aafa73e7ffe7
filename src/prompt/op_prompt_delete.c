/* op_prompt_delete.c -- prompt:delete, what is known of a prompt goes. [P8]
 *
 * What it held goes with the next gc, unless another prompt needs it. */
#include "prompt/find.h"

typedef struct delete_args {
    valise_str prompt;
} delete_args;

static const valise_field delete_in[] = {
    VALISE_FIELD_WITH(delete_args, prompt, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The prompt: " VLS_PROMPT_WHICH, .min = 1, .max = VLS_PROMPT_TEXT_MAX,
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD_END,
};

typedef struct delete_result {
    valise_id id;
} delete_result;

static const valise_field delete_out[] = {
    VALISE_FIELD(delete_result, id, ID, VALISE_REQUIRED, "Id of the manifest."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const delete_args *args = in;
    delete_result *out = result;
    vls_prompt_row row;
    int rc = vls_prompt_find(&row, view, args->prompt, err);

    if (rc == 0) {
        out->id = row.id;
        rc = valise_view_delete(view, &vls_prompts, &row, err);
    }
    return vls_settle(rc);
}

const valise_op vls_op_prompt_prompt_delete = {
    .size = sizeof(valise_op),
    .name = "prompt:delete",
    .brief = "Delete the record of a prompt.",
    .help = "Turns, preferences and whatever else it was made of stay. What was kept only for it "
            "is removed by the next gc.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "prompt:write",
    .in = delete_in,
    .in_size = sizeof(delete_args),
    .out = delete_out,
    .out_size = sizeof(delete_result),
    .decide = decide,
    .example = "{\"prompt\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"}",
};
