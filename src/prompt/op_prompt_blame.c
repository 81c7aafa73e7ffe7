/* op_prompt_blame.c -- prompt:blame, who said what in a prompt. [P8]
 *
 * The prompt is made again, and each stretch of its neutral text told with where it comes from.
 * What may not be read is a stretch without a name. */
#include "base/utf8.h"
#include "prompt/find.h"
#include "prompt/ops.h"
#include "prompt/shown.h"
#include "store/view.h"

#define EXCERPT_MAX 160 /* bytes */

static const valise_field blame_in[] = {
    VALISE_FIELD_WITH(vls_prompt_blame_args, prompt, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The prompt: " VLS_PROMPT_WHICH, .min = 1, .max = VLS_PROMPT_TEXT_MAX,
                      .ref = VLS_REF_PROMPT),
    VALISE_FIELD_WITH(vls_prompt_blame_args, part, INT, VALISE_NULLABLE,
                      "Only this part, with all its text.", .min = 0, .max = INT32_MAX),
    VALISE_FIELD(vls_prompt_blame_args, all, BOOL, 0, "Include separators added by the builder."),
    VALISE_FIELD_END,
};

static const valise_field blame_out[] = {
    VALISE_FIELD(vls_prompt_blamed, offset, INT, VALISE_REQUIRED,
                 "Where in the neutral prompt it begins."),
    VALISE_FIELD(vls_prompt_blamed, length, INT, VALISE_REQUIRED, "How many bytes it has."),
    VLS_PART_SHOWN_FIELDS(vls_prompt_blamed),
    VALISE_FIELD(vls_prompt_blamed, edit, STR, VALISE_NULLABLE, "What was done to it."),
    VALISE_FIELD(vls_prompt_blamed, text, STR, VALISE_NULLABLE,
                 "What it says, or the beginning of that."),
    VALISE_FIELD(vls_prompt_blamed, cut, BOOL, 0, "There is more of it."),
    VALISE_FIELD_END,
};

/* The builder's own. */
static const vls_part_shown own = {.part = -1,
                                   .kind = VLS_PART_BUILDER,
                                   .name = {"", 0},
                                   .version = VALISE_NONE,
                                   .author = {"builder", 7},
                                   .reason = {"punctuation and fixed text", 26}};

static int emit_span(valise_view *view, const vls_prompt_blame_args *args, const vls_manifest *m,
                     const vls_span *span, valise_str text, int64_t offset, valise_error *err)
{
    vls_prompt_blamed row = {.offset = offset, .length = (int64_t)span->length, .source = own};
    int rc = 0;

    if (span->part < 0 && !args->all)
        return 0;
    if (args->part != VALISE_NONE && span->part != args->part)
        return 0;
    if (span->part >= 0)
        rc = vls_shown_part(&row.source, view, &m->parts.ptr[span->part], (size_t)span->part, err);
    if (rc < 0)
        return rc;
    row.text = text;
    if (args->part == VALISE_NONE && text.len > EXCERPT_MAX) {
        row.text = vls_str_head(text, EXCERPT_MAX);
        row.text = vls_str_head(row.text, vls_utf8_valid_len(row.text));
        row.cut = true;
    }
    if (span->reason)
        row.edit = valise_str_of(span->reason);
    return valise_view_emit(view, &row, err);
}

static int check_part(const vls_prompt_blame_args *args, const vls_manifest *m, valise_error *err)
{
    if (args->part == VALISE_NONE || args->part < (int64_t)m->parts.len)
        return 0;
    return vls_fail(err, VALISE_E_NOT_FOUND, "there is no part %lld: the prompt has %zu, from 0",
                    (long long)args->part, m->parts.len);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_prompt_blame_args *args = in;
    vls_prompt_row prompt;
    vls_manifest m = {0};
    vls_rebuilt again = {0};
    size_t at = 0;
    int rc = vls_prompt_open(&prompt, &m, view, args->prompt, err);

    (void)result;
    if (rc == 0)
        rc = check_part(args, &m, err);
    if (rc == 0)
        rc = vls_rebuild(&again, view, &m, err);
    for (size_t i = 0; rc == 0 && i < again.rendered.spans.len; i++) {
        const vls_span *span = &again.rendered.spans.ptr[i];
        valise_str text = vls_str(again.rendered.text.ptr + at, span->length);

        rc = emit_span(view, args, &m, span, text, (int64_t)at, err);
        at += span->length;
    }
    vls_rebuilt_release(&again);
    return rc;
}

const valise_op vls_op_prompt_prompt_blame = {
    .size = sizeof(valise_op),
    .name = "prompt:blame",
    .brief = "Show where each part of a prompt comes from.",
    .help =
        "One line for each piece of the neutral prompt, in order: the number of the part, where it "
        "comes from, who wrote it, offset+length in bytes, the text, and why it is there. The "
        "neutral prompt has messages first, then system and tools.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "prompt:read",
    .in = blame_in,
    .in_size = sizeof(vls_prompt_blame_args),
    .out = blame_out,
    .out_size = sizeof(vls_prompt_blamed),
    .query = query,
    .example = "{\"prompt\":\"5891b5b5\",\"part\":3}",
};
