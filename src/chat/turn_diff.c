/* turn_diff.c -- two heads: what both have, and what only one of them. [W8] */
#include "chat/seen.h"

/* The last version of a trail that was met. Of a piece it is the upper part. */
static int last_met(vls_turn_row *out, const vls_met *met, const vls_trail *trail,
                    valise_error *err)
{
    int rc = 0;

    for (size_t i = trail->pieces.len; rc == 0 && i > 0; i--) {
        const vls_trail_piece *piece = &trail->pieces.ptr[i - 1];
        vls_turn_row from = {0};
        vls_turn_row to = {0};
        rc = vls_turn_get(&from, met->view, &piece->from, err);
        if (rc > 0)
            rc = vls_met_has(met, &from, err);
        if (rc > 0)
            rc = vls_turn_need(&to, met->view, &piece->to, &from, err);
        else
            continue;
        if (rc == 0)
            rc = vls_met_last(out, met, &to, err);
    }
    return rc;
}

static int find_common(vls_turn_diff *out, valise_view *view, const vls_turn_row *a,
                       const vls_turn_row *b, valise_error *err)
{
    vls_trail trail = {.env = NULL};
    vls_met met;
    int rc;

    vls_met_init(&met, view);
    rc = vls_met_walk(&met, b, err);
    if (rc == 0 && a->merge.version == 0) {
        rc = vls_met_last(&out->common, &met, a, err);
    } else if (rc == 0) {
        rc = vls_trail_make(&trail, view, a, NULL, false, err);
        if (rc == 0)
            rc = last_met(&out->common, &met, &trail, err);
    }
    vls_trail_release(&trail);
    vls_met_release(&met);
    out->related = rc > 0;
    return vls_settle(rc);
}

int vls_turn_diff_make(vls_turn_diff *out, valise_view *view, const vls_turn_row *a,
                       const vls_turn_row *b, valise_error *err)
{
    vls_turn_diff diff = {.related = false};
    int rc = find_common(&diff, view, a, b, err);

    if (rc == 0)
        rc = vls_trail_make(&diff.only_a, view, a, b, false, err);
    if (rc == 0)
        rc = vls_trail_make(&diff.only_b, view, b, a, false, err);
    if (rc < 0)
        vls_turn_diff_release(&diff);
    else
        *out = diff;
    return rc;
}

void vls_turn_diff_release(vls_turn_diff *diff)
{
    vls_trail_release(&diff->only_a);
    vls_trail_release(&diff->only_b);
}
