/* op_prompt_calibrate.c -- prompt:calibrate, learn what a model counts. [P16] */
#include "prompt/scale.h"

static const valise_field calibrate_in[] = {
    VALISE_FIELD_WITH(vls_calibrate_args, model, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the model.", .min = 1, .max = VLS_SCALE_MODEL_MAX),
    VALISE_FIELD_WITH(vls_calibrate_args, estimated, INT, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Tokens of a prompt as they were estimated, before any scale.", .min = 1,
                      .max = VLS_SCALE_TOKENS_MAX),
    VALISE_FIELD_WITH(vls_calibrate_args, reported, INT, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Tokens of the same prompt as the provider reports them, cached ones too.",
                      .min = 1, .max = VLS_SCALE_TOKENS_MAX),
    VALISE_FIELD_END,
};

static const valise_field calibrate_out[] = {
    VALISE_FIELD(vls_calibrated, scale, INT, 0, "Sixteenths of a token for one of ours."),
    VALISE_FIELD(vls_calibrated, samples, INT, 0, "How many answers it was learned from."),
    VALISE_FIELD(vls_calibrated, changed, BOOL, 0, "The scale is another one than before."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_calibrate_args *args = in;
    vls_calibrated *out = result;
    vls_scale_row row = {.model = args->model};
    int64_t before;
    int rc = valise_view_get(&row, view, &vls_token_scales, err);

    if (rc < 0)
        return rc;
    before = rc > 0 ? row.scale : VLS_SCALE_ONE;
    row.model = args->model;
    rc = 0;
    if (vls_scale_learn(&row, args->estimated, args->reported)) {
        row.updated = valise_view_stamp(view)->time;
        rc = valise_view_put(view, &vls_token_scales, &row, err);
    }
    *out = (vls_calibrated){.scale = row.scale ? row.scale : VLS_SCALE_ONE,
                            .samples = row.samples,
                            .changed = row.scale && row.scale != before};
    return rc;
}

const valise_op vls_op_prompt_prompt_calibrate = {
    .size = sizeof(valise_op),
    .name = "prompt:calibrate",
    .brief = "Adjust token estimates for a model from a reported count.",
    .help =
        "The estimate of tokens is the same for all models. What providers report gives each "
        "model a factor, in sixteenths between 8 and 64, with which prompts are held against "
        "the window. It goes up at once, and down by two steps where it is two too high. `valise "
        "prompt ask` does this after each answer. Prompts of less than 64 tokens say nothing.",
    .kind = VALISE_COMMAND,
    .needs = "prompt:write",
    .in = calibrate_in,
    .in_size = sizeof(vls_calibrate_args),
    .out = calibrate_out,
    .out_size = sizeof(vls_calibrated),
    .decide = decide,
    .example = "{\"model\":\"small-1\",\"estimated\":12000,\"reported\":11200}",
};
