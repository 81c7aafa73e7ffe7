/* scale.c -- see scale.h. */
#include "prompt/scale.h"

#include "base/base.h"
#include "base/str.h"

#define SHARE 8 /* of a mean that forgets: the newest sample is an eighth */
#define UNIT 1024

static const valise_field scale_fields[] = {
    VALISE_FIELD_WITH(vls_scale_row, model, STR, VALISE_REQUIRED | VALISE_KEY, "Name of the model.",
                      .min = 1, .max = VLS_SCALE_MODEL_MAX),
    VALISE_FIELD_WITH(vls_scale_row, scale, INT, 0, "The factor, in sixteenths.",
                      .min = VLS_SCALE_MIN, .max = VLS_SCALE_MAX),
    VALISE_FIELD(vls_scale_row, ratio, INT, 0, "The mean behind it, in 1024ths."),
    VALISE_FIELD(vls_scale_row, samples, INT, 0, "How many answers it was learned from."),
    VALISE_FIELD(vls_scale_row, updated, TIME, 0, "When it was looked at last."),
    VALISE_FIELD_END,
};

/* Of two copies the one that has seen more; it is an estimate. */
static int meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_scale_row *a = here, *b = there;

    return a->samples >= b->samples ? 0 : valise_view_put(view, &vls_token_scales, b, err);
}

const valise_coll vls_token_scales = {.size = sizeof(valise_coll),
                                      .name = "token_scale",
                                      .help =
                                          "How a model's token counts compare with the estimates.",
                                      .fields = scale_fields,
                                      .row_size = sizeof(vls_scale_row),
                                      .needs = "prompt:read",
                                      .meet = meet};

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}

bool vls_scale_learn(vls_scale_row *row, int64_t estimated, int64_t reported)
{
    int64_t sample, share, scale, step;

    if (estimated < VLS_SCALE_LEAST || estimated > VLS_SCALE_TOKENS_MAX || reported < 1 ||
        reported > VLS_SCALE_TOKENS_MAX)
        return false;
    sample = clamp(reported * UNIT / estimated, VLS_SCALE_MIN * UNIT / VLS_SCALE_ONE,
                   VLS_SCALE_MAX * UNIT / VLS_SCALE_ONE);
    share = clamp(row->samples + 1, 1, SHARE);
    step = sample - row->ratio;
    step = step > 0 ? (step + share - 1) / share : step / share; /* it errs on the high side */
    row->ratio = row->samples == 0 ? sample : row->ratio + step;
    row->samples += row->samples < INT64_MAX;
    scale = clamp((row->ratio * VLS_SCALE_ONE + UNIT - 1) / UNIT, VLS_SCALE_MIN, VLS_SCALE_MAX);
    if (row->scale == 0)
        row->scale = VLS_SCALE_ONE; /* as it was used so far */
    if (scale > row->scale)
        row->scale = scale;
    else if (scale <= row->scale - 2)
        row->scale -= 2;
    return true;
}

int vls_scale_of(int64_t *out, valise_view *view, valise_str model, valise_error *err)
{
    vls_scale_row row = {.model = model};
    int rc = 0;

    if (model.len > 0 && model.len <= VLS_SCALE_MODEL_MAX)
        rc = valise_view_get(&row, view, &vls_token_scales, err);
    if (rc >= 0)
        *out = rc > 0 ? clamp(row.scale, VLS_SCALE_MIN, VLS_SCALE_MAX) : VLS_SCALE_ONE;
    return vls_settle(rc);
}
