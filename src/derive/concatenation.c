/* concatenation.c -- the policies concatenation and filtering: all that was said, as it was said.
 *
 * Whether everything fits is known at the end only: a file that is no text is one line, however
 * large it is. So sections are written up to the budget, and the first one that ends where the
 * marker would have to stand is remembered. If there is more than fits, the frame is taken back to
 * that one, which is cut. */
#include "derive/policy_impl.h"

#include "base/utf8.h"

typedef struct work {
    valise_making *making;
    vls_buf heading;
    size_t budget, begin; /* begin: where in the buffer the frame begins */
    size_t doubtful;      /* the first section that must go if not all fit */
    size_t doubtful_at;   /* ... and where it begins */
} work;

static const valise_field concatenation_params[] = {
    VALISE_FIELD_WITH(vls_policy_params, budget, INT, 0,
                      "Bytes of the frame at most; without it 65536.", .min = VLS_POLICY_BUDGET_MIN,
                      .max = VLS_POLICY_BUDGET_MAX),
    VALISE_FIELD_END,
};

static size_t used(const work *w)
{
    return w->making->out->len - w->begin;
}

/* It stays until the next; the buffer remembers a failure. */
static valise_str heading(work *w, size_t i, size_t shown)
{
    vls_buf_clear(&w->heading);
    vls_policy_heading(&w->heading, &w->making->inputs[i], (int64_t)shown);
    return vls_buf_str(&w->heading);
}

/* Write the section of input i if there is room for it. */
static int add(bool *fits, work *w, size_t i, valise_error *err)
{
    vls_policy_line line;
    valise_str body = {NULL, 0}, head;
    size_t len, shown;
    int rc = valise_making_content(&body, w->making, i, err);

    if (rc < 0)
        return rc;
    shown = body.len;
    if (!vls_policy_is_text(body)) {
        line = vls_policy_no_text(&w->making->inputs[i]);
        body = valise_str_of(line.s);
        shown = 0;
    }
    head = heading(w, i, shown);
    rc = vls_buf_check(&w->heading, err);
    if (rc < 0)
        return rc;
    len = vls_policy_section_len(i == 0, head, body);
    *fits = len <= w->budget - used(w);
    if (!*fits)
        return 0;
    if (w->doubtful == w->making->count &&
        used(w) + len + vls_policy_marker_len(w->budget, w->making->count) > w->budget) {
        w->doubtful = i;
        w->doubtful_at = w->making->out->len;
    }
    vls_policy_section(w->making->out, i == 0, head, body);
    return vls_buf_check(w->making->out, err);
}

/* As much of input i as fits in front of the marker; none when that is nothing. */
static int add_cut(bool *added, work *w, size_t i, valise_error *err)
{
    size_t taken = used(w) + vls_policy_marker_len(w->budget, w->making->count);
    valise_str body = {NULL, 0}, head, part;
    int rc = valise_making_content(&body, w->making, i, err);

    *added = false;
    if (rc < 0 || !vls_policy_is_text(body) || body.len == 0)
        return rc;
    /* Room for the longest heading there can be: no number below N has more digits than N - 1. */
    head = heading(w, i, body.len - 1);
    rc = vls_buf_check(&w->heading, err);
    if (rc < 0)
        return rc;
    taken += (i == 0 ? 0 : 1) + head.len + 2;
    if (taken >= w->budget)
        return 0;
    part = vls_utf8_head(body, w->budget - taken);
    if (part.len == 0)
        return 0;
    head = heading(w, i, part.len); /* no longer than before: there is room */
    vls_policy_section(w->making->out, i == 0, head, part);
    *added = true;
    return vls_buf_check(w->making->out, err);
}

static int cut(work *w, size_t next, valise_error *err)
{
    size_t count = w->making->count;
    bool added;
    int rc;

    if (w->doubtful < next) {
        next = w->doubtful;
        w->making->out->len = w->doubtful_at;
    }
    rc = add_cut(&added, w, next, err);
    if (rc < 0)
        return rc;
    vls_policy_marker(w->making->out, used(w) == 0, w->budget, count - next - (added ? 1 : 0),
                      count);
    return vls_buf_check(w->making->out, err);
}

static int concatenate(valise_making *making, const void *params, valise_error *err)
{
    work w = {.making = making, .begin = making->out->len, .doubtful = making->count};
    bool fits = true;
    int rc = vls_policy_budget(&w.budget, params, VLS_POLICY_BUDGET, err);

    if (rc < 0)
        return rc;
    if (making->count == 0)
        return vls_policy_nothing(making, err);
    vls_buf_init_in(&w.heading, making->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < making->count; i++) {
        rc = add(&fits, &w, i, err);
        if (rc < 0)
            return rc;
        if (!fits)
            return cut(&w, i, err);
    }
    return 0;
}

const valise_policy vls_policy_concatenation = {
    .size = sizeof(valise_policy),
    .name = "concatenation",
    .version = 1,
    .brief = "Everything that was said, each under a heading.",
    .params = concatenation_params,
    .params_size = sizeof(vls_policy_params),
    .check = vls_policy_check,
    .make = concatenate,
};

const valise_policy vls_policy_filtering = {
    .size = sizeof(valise_policy),
    .name = "filtering",
    .version = 1,
    .brief = "Everything that fits the conditions, each under a heading.",
    .params = concatenation_params,
    .params_size = sizeof(vls_policy_params),
    .check = vls_policy_check,
    .make = concatenate,
};
