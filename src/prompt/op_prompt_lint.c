/* op_prompt_lint.c -- prompt:lint, what a provider would refuse. [P13]
 *
 * The prompt or request is a stranger's: nothing of the workspace is read for it, and no blob. */
#include "bus/bus.h"
#include "json/json.h"
#include "prompt/rows.h"
#include "store/view.h"
#include "wire/adapter.h"

typedef struct lint_args {
    valise_str provider;
    valise_content neutral, request;
} lint_args;

static const valise_field lint_in[] = {
    VALISE_FIELD_WITH(lint_args, provider, STR, VALISE_REQUIRED,
                      "The provider whose rules to check, such as anthropic.", .min = 1,
                      .max = VLS_ADAPTER_NAME_MAX, .ref = "cli.adapter"),
    VALISE_FIELD(lint_args, neutral, VALUE, VALISE_NULLABLE | VALISE_POSITIONAL,
                 "A neutral prompt."),
    VALISE_FIELD(lint_args, request, VALUE, VALISE_NULLABLE,
                 "Instead: a request in the provider's format."),
    VALISE_FIELD_END,
};

typedef struct lint_row {
    valise_str rule, what, place, more;
    bool mended;
} lint_row;

static const valise_field lint_out[] = {
    VALISE_FIELD(lint_row, rule, STR, VALISE_REQUIRED, "Number of the rule."),
    VALISE_FIELD(lint_row, what, STR, VALISE_REQUIRED, "What is wrong."),
    VALISE_FIELD(lint_row, place, STR, VALISE_NULLABLE, "Where that is."),
    VALISE_FIELD(lint_row, more, STR, VALISE_NULLABLE, "Which one: an id, a type."),
    VALISE_FIELD(lint_row, mended, BOOL, VALISE_REQUIRED, "A build repairs it."),
    VALISE_FIELD_END,
};

static int look(vls_findings *out, valise_view *view, const lint_args *args,
                const vls_adapter *adapter, valise_error *err)
{
    static const vls_json_limits limits = {.around = VLS_NEUTRAL_AROUND};
    const bool neutral = args->neutral.bytes.ptr != NULL;
    vls_neutral prompt = {0};
    vls_json value = vls_json_null();
    int rc;

    if (neutral == (args->request.bytes.ptr != NULL)) {
        rc = vls_fail(err, VALISE_E_INVALID, "give either a neutral prompt or a request");
        vls_hint(err, "valise prompt lint --provider %s @FILE, or --request @FILE", adapter->name);
        return rc;
    }
    rc = vls_json_parse(&value, &view->arena, neutral ? args->neutral.bytes : args->request.bytes,
                        &limits, err);
    if (rc < 0)
        return rc;
    if (!neutral)
        return vls_lint_request(out, &view->arena, adapter, value, err);
    rc = vls_neutral_of(&prompt, value, err);
    return rc < 0 ? rc : vls_lint_neutral(out, &view->arena, adapter, &prompt, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const lint_args *args = in;
    const vls_adapter *adapter = NULL;
    vls_findings found = VLS_VEC_INIT;
    int rc = vls_adapter_get(&adapter, args->provider, err);

    (void)result;
    if (rc == 0)
        rc = look(&found, view, args, adapter, err);
    for (size_t i = 0; i < found.len && rc == 0; i++) {
        const vls_wire_finding *f = &found.ptr[i];
        lint_row row = {
            .rule = valise_str_of(f->rule), .what = valise_str_of(f->what), .mended = f->mended};

        if (f->place.len > 0)
            row.place = f->place;
        if (f->more.len > 0)
            row.more = f->more;
        rc = valise_view_emit(view, &row, err);
    }
    return rc;
}

const valise_op vls_op_prompt_prompt_lint = {
    .size = sizeof(valise_op),
    .name = "prompt:lint",
    .brief = "Check a prompt for what a provider would refuse.",
    .help =
        "For a neutral prompt this also lists what a build repairs by itself; a request is checked "
        "as it is. The rules are numbered, and explained in docs/prompt.md. It needs no workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST | VALISE_OP_NO_WORKSPACE,
    .in = lint_in,
    .in_size = sizeof(lint_args),
    .out = lint_out,
    .out_size = sizeof(lint_row),
    .query = query,
    .example = "{\"provider\":\"openai\",\"neutral\":{\"version\":1,\"messages\":["
               "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}}",
};
