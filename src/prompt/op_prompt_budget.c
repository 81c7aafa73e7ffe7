/* op_prompt_budget.c -- prompt:budget, where the tokens go, and what policies would save. [P7]
 * [P15]
 *
 * Nothing is recorded. With policies it is chosen twice, with and without them. */
#include <stdlib.h>

#include "prompt/ops.h"
#include "prompt/shown.h"
#include "store/view.h"

#define LARGEST_USUAL 10
#define LARGEST_MAX 1000

typedef struct budget_args {
    vls_prompt_args of;
    int64_t largest;
} budget_args;

static const valise_field budget_in[] = {
    VLS_PROMPT_ARGS_FIELDS(budget_args, VLS_PROMPT_FORMAT_HELP, "cli.adapter"),
    VALISE_FIELD_WITH(budget_args, largest, INT, VALISE_NULLABLE,
                      "How many of the largest parts to list (default: 10).", .min = 0,
                      .max = LARGEST_MAX),
    VALISE_FIELD_END,
};

typedef struct part_shown {
    vls_part_shown source;
} part_shown;

static const valise_field part_fields[] = {
    VLS_PART_SHOWN_FIELDS(part_shown),
    VALISE_FIELD_END,
};
static const valise_struct part_struct = {sizeof(part_shown), part_fields};
static const valise_field part_item = {.type = VALISE_T_STRUCT, .more = &part_struct};

typedef struct budget_result {
    int64_t tokens, window, reserve, limit, trimmed;
    int64_t without, saved; /* VALISE_NONE: there are no policies */
    int64_t trimmed_without;
    valise_list sections, largest, left;
} budget_result;

static const valise_field budget_out[] = {
    VALISE_FIELD(budget_result, tokens, INT, VALISE_REQUIRED, "Its tokens, estimated."),
    VALISE_FIELD(budget_result, window, INT, VALISE_NULLABLE, "Tokens of prompt and answer."),
    VALISE_FIELD(budget_result, reserve, INT, VALISE_REQUIRED, "Of these for the answer."),
    VALISE_FIELD(budget_result, limit, INT, VALISE_NULLABLE, "How many the prompt may have."),
    VALISE_FIELD(budget_result, trimmed, INT, VALISE_REQUIRED, "Turns that do not fit."),
    VALISE_FIELD(budget_result, without, INT, VALISE_NULLABLE, "Tokens without the policies."),
    VALISE_FIELD(budget_result, saved, INT, VALISE_NULLABLE, "What the policies save."),
    VALISE_FIELD_AS(budget_result, trimmed_without, "trimmedWithout", INT, VALISE_NULLABLE,
                    "Turns that would not fit without them."),
    VALISE_FIELD_WITH(budget_result, sections, LIST, 0, "What sections cost.",
                      .more = &vls_section_item),
    VALISE_FIELD_WITH(budget_result, largest, LIST, 0, "The largest parts.", .more = &part_item),
    VALISE_FIELD_WITH(budget_result, left, LIST, 0, "What is left out.", .more = &vls_left_item),
    VALISE_FIELD_END,
};

typedef struct weighed {
    size_t at;
    int64_t tokens;
} weighed;

static int by_weight(const void *x, const void *y)
{
    const weighed *a = x, *b = y;

    if (a->tokens != b->tokens)
        return a->tokens > b->tokens ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int list_largest(valise_list *out, valise_view *view, const vls_parts *parts, size_t most,
                        valise_error *err)
{
    vls_arena *arena = &view->arena;
    weighed *all = vls_arena_array(arena, parts->len + 1, sizeof(*all));
    size_t count = VLS_MIN(parts->len, most);
    part_shown *shown = vls_arena_array(arena, count + 1, sizeof(*shown));
    const part_shown **pointers = vls_arena_array(arena, count + 1, sizeof(*pointers));
    int rc = 0;

    if (!all || !shown || !pointers)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < parts->len; i++)
        all[i] = (weighed){i, parts->ptr[i].tokens};
    if (parts->len > 1)
        qsort(all, parts->len, sizeof(*all), by_weight);
    for (size_t i = 0; i < count && rc == 0; i++) {
        pointers[i] = &shown[i];
        rc = vls_shown_part(&shown[i].source, view, &parts->ptr[all[i].at], all[i].at, err);
    }
    *out = (valise_list){pointers, count};
    return rc;
}

static int weigh_without(budget_result *out, valise_view *view, vls_request request,
                         valise_error *err)
{
    vls_choice plain = {0};
    int rc;

    request.policies = (vls_policies){NULL, NULL, NULL, NULL};
    rc = vls_choose(&plain, view, &request, NULL);
    if (rc == 0) {
        out->trimmed_without = plain.trimmed;
    } else { /* it fits by the policies alone: how much is all of it? */
        request.window = VALISE_NONE;
        rc = vls_choose(&plain, view, &request, err);
    }
    if (rc == 0) {
        out->without = plain.budget.used;
        out->saved = plain.budget.used - out->tokens;
    }
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const budget_args *args = in;
    budget_result *out = result;
    size_t most = args->largest == VALISE_NONE ? LARGEST_USUAL : (size_t)args->largest;
    vls_request request;
    vls_choice choice = {0};
    int rc = vls_request_make(&request, view, &args->of, err);

    if (rc == 0)
        rc = vls_choose(&choice, view, &request, err);
    if (rc < 0)
        return rc;
    *out = (budget_result){.tokens = choice.budget.used,
                           .window = request.window,
                           .reserve = request.reserve,
                           .limit = choice.budget.limit,
                           .trimmed = choice.trimmed,
                           .without = VALISE_NONE,
                           .saved = VALISE_NONE,
                           .trimmed_without = VALISE_NONE};
    rc = vls_shown_sections(&out->sections, &view->arena, &choice.budget, &choice.parts, err);
    if (rc == 0)
        rc = list_largest(&out->largest, view, &choice.parts, most, err);
    if (rc == 0)
        rc = vls_shown_left(&out->left, &view->arena, NULL, NULL, choice.left.ptr, choice.left.len,
                            err);
    return rc < 0 || !args->of.policies ? rc : weigh_without(out, view, request, err);
}

const valise_op vls_op_prompt_prompt_budget = {
    .size = sizeof(valise_op),
    .name = "prompt:budget",
    .brief = "Show how a prompt uses its token budget.",
    .help = "Shows what a build would choose, by section, with the largest parts and what would be "
            "left out; with --policies also what these save. Nothing is recorded.",
    .kind = VALISE_QUERY,
    .needs = "prompt:read",
    .in = budget_in,
    .in_size = sizeof(budget_args),
    .out = budget_out,
    .out_size = sizeof(budget_result),
    .query = query,
    .example = "{\"session\":\"support\",\"provider\":\"anthropic\",\"window\":200000}",
};
