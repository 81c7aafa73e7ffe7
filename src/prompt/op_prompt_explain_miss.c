/* op_prompt_explain_miss.c -- prompt:explain-miss, why a cache could not serve the second prompt.
 * [P14]
 *
 * Providers keep beginnings: from the first part that is another one on all is paid for again. */
#include "bus/bus.h"
#include "prompt/compare.h"
#include "prompt/find.h"
#include "prompt/shown.h"
#include "store/view.h"

typedef struct miss_args {
    valise_str a, b;
} miss_args;

static const valise_field miss_in[] = {
    VALISE_FIELD_WITH(miss_args, a, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The first prompt: " VLS_PROMPT_WHICH, .min = 1, .max = VLS_PROMPT_TEXT_MAX,
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD_WITH(miss_args, b, STR, VALISE_REQUIRED | VALISE_POSITIONAL, "The second prompt.",
                      .min = 1, .max = VLS_PROMPT_TEXT_MAX, .ref = VLS_REF_PROMPT),
    VALISE_FIELD_END,
};

typedef struct miss_part {
    vls_part_shown source;
} miss_part;

static const valise_field part_fields[] = {
    VLS_PART_SHOWN_FIELDS(miss_part),
    VALISE_FIELD_END,
};
static const valise_struct part_struct = {sizeof(miss_part), part_fields};

typedef struct miss_result {
    bool hit;        /* the first one is a beginning of the second */
    int64_t section; /* VALISE_NONE */
    int64_t shared;  /* parts */
    int64_t kept, lost, added;
    const miss_part *before, *after;
    valise_str why;
} miss_result;

static const valise_field miss_out[] = {
    VALISE_FIELD(miss_result, hit, BOOL, VALISE_REQUIRED,
                 "All of the first prompt is the beginning of the second."),
    VALISE_FIELD(miss_result, why, STR, VALISE_REQUIRED, "What is another one, in words."),
    VALISE_FIELD_WITH(miss_result, section, ENUM, VALISE_NULLABLE, "Where the first difference is.",
                      .more = vls_sections),
    VALISE_FIELD(miss_result, shared, INT, VALISE_REQUIRED, "Parts that both begin with."),
    VALISE_FIELD(miss_result, kept, INT, VALISE_REQUIRED, "Tokens of these."),
    VALISE_FIELD(miss_result, lost, INT, VALISE_REQUIRED,
                 "Tokens of the first prompt behind the difference."),
    VALISE_FIELD(miss_result, added, INT, VALISE_REQUIRED,
                 "Tokens of the second prompt behind it."),
    VALISE_FIELD_WITH(miss_result, before, STRUCT, VALISE_NULLABLE, "The part there was.",
                      .more = &part_struct),
    VALISE_FIELD_WITH(miss_result, after, STRUCT, VALISE_NULLABLE, "The part there is.",
                      .more = &part_struct),
    VALISE_FIELD_END,
};

static int64_t tokens_from(const vls_parts *parts, size_t from)
{
    int64_t sum = 0;

    for (size_t i = from; i < parts->len; i++)
        sum += parts->ptr[i].tokens;
    return sum;
}

static bool is_equal_but_for_edits(const vls_part *a, const vls_part *b)
{
    vls_part other = *b;

    other.edits.ptr = a->edits.ptr;
    other.edits.len = a->edits.len;
    return vls_part_equal(a, &other);
}

static const char *why_differ(const vls_manifest *a, const vls_manifest *b, size_t first)
{
    const vls_part *x = first < a->parts.len ? &a->parts.ptr[first] : NULL;
    const vls_part *y = first < b->parts.len ? &b->parts.ptr[first] : NULL;

    if (!x && !y)
        return "they are equal";
    if (!x)
        return "the second one goes on where the first one ends";
    if (!y)
        return "the second one ends before the first one does";
    if (x->kind != y->kind || !vls_str_equal(x->name, y->name))
        return x->section == y->section ? "another part stands in its place"
                                        : "the section has other parts";
    if (!vls_id_equal(&x->id, &y->id) || !vls_id_equal(&x->blob, &y->blob))
        return "it says something else";
    if (x->section != y->section)
        return "it stands in another section";
    return is_equal_but_for_edits(x, y)
               ? "something else was done to its blocks: a policy, or a file that is sent in "
                 "another form"
               : "other words stand around it";
}

static int show(const miss_part **out, valise_view *view, const vls_parts *parts, size_t at,
                valise_error *err)
{
    miss_part *part = NULL;
    int rc;

    if (at >= parts->len)
        return 0;
    rc = valise_view_alloc((void **)&part, view, sizeof(*part), err);
    if (rc == 0)
        rc = vls_shown_part(&part->source, view, &parts->ptr[at], at, err);
    *out = part;
    return rc;
}

static int check_alike(const vls_manifest *a, const vls_manifest *b, valise_error *err)
{
    if (vls_str_equal(a->adapter, b->adapter) && vls_str_equal(a->model, b->model))
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "the prompts are for %.*s/%.*s and %.*s/%.*s, which do not share a cache",
                   VALISE_STR_ARG(a->adapter), VALISE_STR_ARG(a->model), VALISE_STR_ARG(b->adapter),
                   VALISE_STR_ARG(b->model));
    vls_hint(err, "'valise prompt diff' compares any two prompts");
    return VALISE_E_INVALID;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const miss_args *args = in;
    miss_result *out = result;
    vls_manifest a = {0}, b = {0};
    vls_prompt_row row;
    size_t first;
    int rc = vls_prompt_open(&row, &a, view, args->a, err);

    if (rc == 0)
        rc = vls_prompt_open(&row, &b, view, args->b, err);
    if (rc == 0)
        rc = check_alike(&a, &b, err);
    if (rc < 0)
        return rc;
    first = vls_parts_differ(&a.parts, &b.parts);
    first = VLS_MIN(first, a.parts.len);
    *out = (miss_result){.hit = first == a.parts.len,
                         .section = VALISE_NONE,
                         .shared = (int64_t)first,
                         .kept = tokens_from(&a.parts, 0) - tokens_from(&a.parts, first),
                         .lost = tokens_from(&a.parts, first),
                         .added = tokens_from(&b.parts, first),
                         .why = valise_str_of(why_differ(&a, &b, first))};
    if (first < b.parts.len)
        out->section = b.parts.ptr[first].section;
    if (first < a.parts.len &&
        (out->section == VALISE_NONE || a.parts.ptr[first].section < out->section))
        out->section = a.parts.ptr[first].section;
    rc = show(&out->before, view, &a.parts, first, err);
    return rc < 0 ? rc : show(&out->after, view, &b.parts, first, err);
}

const valise_op vls_op_prompt_prompt_explain_miss = {
    .size = sizeof(valise_op),
    .name = "prompt:explain-miss",
    .brief = "Explain why the second prompt missed the first one's cache.",
    .help = "Providers cache the beginning of a prompt. This names the first part that differs, "
            "and how many tokens follow it: these are paid for again.",
    .kind = VALISE_QUERY,
    .needs = "prompt:read",
    .in = miss_in,
    .in_size = sizeof(miss_args),
    .out = miss_out,
    .out_size = sizeof(miss_result),
    .query = query,
    .example = "{\"a\":\"5891b5b5\",\"b\":\"8d0ff0b1\"}",
};
