/* scale.h -- what a model counts for one token of ours, learned from what providers report. [P16]
 *
 * Our estimate is the same for all models (base/tokens.h). Each answer tells how many tokens the
 * prompt really had: from these a factor per model is kept in sixteenths. It is rounded up, goes up
 * at once, and down only where it would fall by two steps, and then by two: a factor that trembles
 * would move the beginning of every history.
 *
 * Threads: the row is plain data, the functions are pure or single as their view. */
#ifndef VLS_PROMPT_SCALE_H
#define VLS_PROMPT_SCALE_H

#include <valise/sys/operation.h>

#define VLS_SCALE_ONE 16
#define VLS_SCALE_MIN 8
#define VLS_SCALE_MAX 64
#define VLS_SCALE_MODEL_MAX 256
#define VLS_SCALE_TOKENS_MAX (INT64_C(1) << 40)
#define VLS_SCALE_LEAST 64 /* estimated tokens: what is shorter says more about formats */

typedef struct vls_scale_row {
    valise_str model;
    int64_t scale;   /* sixteenths */
    int64_t ratio;   /* the mean behind it, in 1024ths */
    int64_t samples; /* that were looked at */
    int64_t updated;
} vls_scale_row;

extern const valise_coll vls_token_scales;

/* One more sample: true where something changed. Integers only. */
bool vls_scale_learn(vls_scale_row *row, int64_t estimated, int64_t reported);

/* The factor of a model, for vls_request.scale once the model is known: VLS_SCALE_ONE where nothing
 * was learned or no model is named (ptr NULL). */
int vls_scale_of(int64_t *out, valise_view *view, valise_str model, valise_error *err);

typedef struct vls_calibrate_args {
    valise_str model;
    int64_t estimated, reported;
} vls_calibrate_args;

typedef struct vls_calibrated {
    int64_t scale, samples;
    bool changed; /* the scale is another one than before */
} vls_calibrated;

extern const valise_op vls_op_prompt_prompt_calibrate;

#endif
