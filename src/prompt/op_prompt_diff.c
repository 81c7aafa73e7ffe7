/* op_prompt_diff.c -- prompt:diff, what entered and what left between two prompts. [P9] */
#include "prompt/compare.h"
#include "prompt/find.h"
#include "prompt/shown.h"
#include "store/view.h"

typedef struct diff_args {
    valise_str a, b;
} diff_args;

static const valise_field diff_in[] = {
    VALISE_FIELD_WITH(diff_args, a, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The first prompt: " VLS_PROMPT_WHICH, .min = 1, .max = VLS_PROMPT_TEXT_MAX,
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD_WITH(diff_args, b, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "The second prompt.",
                      .min = 1, .max = VLS_PROMPT_TEXT_MAX, .ref = VLS_REF_PROMPT),
    VALISE_FIELD_END,
};

typedef struct diff_row {
    int64_t change;
    vls_part_shown source; /* of b; of a where it left */
    int64_t part_before;   /* its number in a; VALISE_NONE */
    int64_t more;          /* tokens that it costs more than before */
} diff_row;

static const valise_field diff_out[] = {
    VALISE_FIELD_WITH(diff_row, change, ENUM, VALISE_REQUIRED, "What became of the part.",
                      .more = vls_part_changes),
    VLS_PART_SHOWN_FIELDS(diff_row),
    VALISE_FIELD_AS(diff_row, part_before, "partBefore", INT, VALISE_NULLABLE,
                    "Its number in the first prompt."),
    VALISE_FIELD(diff_row, more, INT, VALISE_REQUIRED, "Tokens that the second one has more."),
    VALISE_FIELD_END,
};

typedef struct differing {
    valise_view *view;
    vls_manifest a, b;
} differing;

static int emit(void *arg, vls_part_change change, int64_t a, int64_t b, valise_error *err)
{
    differing *d = arg;
    const vls_part *was = a >= 0 ? &d->a.parts.ptr[a] : NULL;
    const vls_part *is = b >= 0 ? &d->b.parts.ptr[b] : NULL;
    diff_row row = {.change = change, .part_before = a >= 0 ? a : VALISE_NONE};
    int rc = vls_shown_part(&row.source, d->view, is ? is : was, (size_t)(is ? b : a), err);

    row.more = (is ? is->tokens : 0) - (was ? was->tokens : 0);
    return rc < 0 ? rc : valise_view_emit(d->view, &row, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const diff_args *args = in;
    differing d = {.view = view};
    vls_prompt_row row;
    int rc = vls_prompt_open(&row, &d.a, view, args->a, err);

    (void)result;
    if (rc == 0)
        rc = vls_prompt_open(&row, &d.b, view, args->b, err);
    return rc < 0 ? rc : vls_parts_compare(&d.a.parts, &d.b.parts, &view->arena, emit, &d, err);
}

const valise_op vls_op_prompt_prompt_diff = {
    .size = sizeof(valise_op),
    .name = "prompt:diff",
    .brief = "Compare two prompts part by part.",
    .help = "A part has changed if its source says something else, or if it was cut or edited in "
            "another way.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "prompt:read",
    .in = diff_in,
    .in_size = sizeof(diff_args),
    .out = diff_out,
    .out_size = sizeof(diff_row),
    .query = query,
    .example = "{\"a\":\"5891b5b5\",\"b\":\"8d0ff0b1\"}",
};
