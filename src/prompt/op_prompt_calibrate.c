/* op_prompt_calibrate.c -- prompt:calibrate, learn what a model counts. [P16] */
#include "prompt/scale.h"

static const valise_field calibrate_in[] = {
    VALISE_FIELD_WITH(vls_calibrate_args, model, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the model.", .min = 1, .max = VLS_SCALE_MODEL_MAX),
    VALISE_FIELD_WITH(vls_calibrate_args, estimated, INT, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Estimated tokens of a prompt, before any factor is applied.", .min = 1,
                      .max = VLS_SCALE_TOKENS_MAX),
    VALISE_FIELD_WITH(vls_calibrate_args, reported, INT, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Tokens of the same prompt that the provider reports, cached ones included.",
                      .min = 1, .max = VLS_SCALE_TOKENS_MAX),
    VALISE_FIELD_END,
};

static const valise_field calibrate_out[] = {
    VALISE_FIELD(vls_calibrated, scale, INT, 0, "The factor, in sixteenths."),
    VALISE_FIELD(vls_calibrated, samples, INT, 0, "How many answers it was learned from."),
    VALISE_FIELD(vls_calibrated, changed, BOOL, 0, "Whether the factor has changed."),
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
    .help = "Tokens are estimated in the same way for all models. What providers report gives each "
            "model a factor, in sixteenths from 8 to 64, by which estimates are multiplied before "
            "they are compared with the window. The factor goes up as soon as it is too low, and "
            "down only when it is at least two sixteenths too high. `valise prompt ask` does this "
            "after each answer. Prompts of fewer than 64 tokens change nothing.",
    .kind = VALISE_COMMAND,
    .needs = "prompt:write",
    .in = calibrate_in,
    .in_size = sizeof(vls_calibrate_args),
    .out = calibrate_out,
    .out_size = sizeof(vls_calibrated),
    .decide = decide,
    .example = "{\"model\":\"small-1\",\"estimated\":12000,\"reported\":11200}",
};
