/* op_prompt_render.c -- prompt:render, the request that a provider gets of a neutral prompt. [P5]
 *
 * The prompt is a stranger's: a hash alone opens no blob. Who asks must be allowed to read blobs,
 * and somebody here must hold it. */
#include "blob/hold.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "json/make.h"
#include "prompt/pour.h"
#include "prompt/rows.h"
#include "prompt/shown.h"
#include "store/view.h"
#include "wire/adapter.h"

typedef struct render_args {
    valise_str provider, model;
    valise_content neutral;
    bool stream, no_cache;
    valise_str output;
    bool force;
} render_args;

static const valise_field render_in[] = {
    VALISE_FIELD_WITH(render_args, provider, STR, VALISE_REQUIRED,
                      "The provider's request format to use, such as anthropic.", .min = 1,
                      .max = VLS_ADAPTER_NAME_MAX, .ref = "cli.adapter"),
    VALISE_FIELD(render_args, neutral, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL,
                 "A neutral prompt."),
    VALISE_FIELD_WITH(render_args, model, STR, VALISE_NULLABLE,
                      "The model (default: that of params).", .min = 1, .max = VLS_MODEL_MAX),
    VALISE_FIELD(render_args, stream, BOOL, 0, "Ask for a stream."),
    VALISE_FIELD_AS(render_args, no_cache, "noCache", BOOL, 0, "Leave out cache marks."),
    VALISE_FIELD_WITH(render_args, output, PATH, VALISE_NULLABLE,
                      "Write the request to this file, with attached files of any size.",
                      .ref = "cli.file", .min = 1, .max = 4000),
    VALISE_FIELD(render_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

typedef struct render_result {
    valise_str wire;
    int64_t bytes;
    valise_list repairs;
} render_result;

static const valise_field render_out[] = {
    VALISE_FIELD(render_result, wire, STR, VALISE_NULLABLE,
                 "The request, 16 MiB at most; none: it is in the file."),
    VALISE_FIELD(render_result, bytes, INT, VALISE_REQUIRED, "Its bytes."),
    VALISE_FIELD_WITH(render_result, repairs, LIST, 0, "What was done for the provider.",
                      .more = &vls_repair_item),
    VALISE_FIELD_END,
};

typedef struct rendering {
    valise_job *job;
    const render_args *args;
    render_result *out;
} rendering;

static int check_blobs(valise_view *view, const vls_wire *wire, valise_error *err)
{
    int rc = wire->holes.len > 0 ? valise_view_allows(view, "blob:read", NULL, err) : 0;

    for (size_t i = 0; i < wire->holes.len && rc == 0; i++) {
        vls_blob_record record;
        vls_view_mark here = vls_view_here(view);

        rc = vls_blob_record_of(&record, view, &wire->holes.ptr[i].blob, err);
        rc = rc == 0 ? vls_blob_fail_unknown(view, &wire->holes.ptr[i].blob, err) : vls_settle(rc);
        vls_view_rewind(view, here);
    }
    return rc;
}

static int hand_out(const rendering *r, const vls_wire *wire, valise_error *err)
{
    vls_blobs *blobs = valise_job_workspace(r->job)->blobs;
    int rc;

    if (r->args->output.ptr)
        return vls_wire_save(&r->out->bytes, wire, blobs, r->args->output, r->args->force, err);
    rc = vls_wire_gather(&r->out->wire, &r->job->arena, wire, blobs, err);
    r->out->bytes = (int64_t)r->out->wire.len;
    return rc;
}

static int render(void *arg, valise_view *view, valise_error *err)
{
    const rendering *r = arg;
    const vls_wire_write how = {r->args->stream, r->args->no_cache};
    const vls_adapter *adapter = NULL;
    VLS_AUTO(wire) vls_wire wire = {0};
    vls_neutral prompt = {0};
    vls_plan plan = {0};
    valise_str model = r->args->model;
    int rc = vls_adapter_get(&adapter, r->args->provider, err);

    if (rc == 0)
        rc = vls_neutral_read(&prompt, &view->arena, r->args->neutral.bytes, err);
    if (rc == 0 && !model.ptr)
        model = vls_text_of(prompt.params, "model");
    if (rc == 0)
        rc = vls_plan_make(&plan, &view->arena, adapter, &prompt, model, err);
    if (rc == 0) {
        vls_wire_init(&wire, view->arena.env);
        rc = adapter->write(&wire, &plan, &how, err);
    }
    if (rc == 0)
        rc = vls_wire_check(&wire, err);
    if (rc == 0)
        rc = check_blobs(view, &wire, err);
    if (rc == 0)
        rc = vls_shown_repairs(&r->out->repairs, &r->job->arena, plan.repairs.ptr, plan.repairs.len,
                               err);
    if (rc == 0)
        rc = hand_out(r, &wire, err);
    vls_plan_release(&plan);
    return rc;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    rendering r = {j, in, result};

    return vls_job_view(j, render, &r, err);
}

const valise_op vls_op_prompt_prompt_render = {
    .size = sizeof(valise_op),
    .name = "prompt:render",
    .brief = "Render a neutral prompt in a provider's format.",
    .help = "What the provider would refuse is repaired, and listed. Blobs that the prompt names "
            "must be held in this workspace, and you must be allowed to read blobs.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "prompt:read",
    .in = render_in,
    .in_size = sizeof(render_args),
    .out = render_out,
    .out_size = sizeof(render_result),
    .job = job,
    .example = "{\"provider\":\"openai\",\"neutral\":{\"version\":1,\"messages\":["
               "{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}}",
};
