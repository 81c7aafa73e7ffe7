/* op_frame_store.c -- frame:store, keep a frame that a run has made, in no slot yet. [C23] */
#include "context/ops.h"
#include "store/view.h"

static const valise_field store_in[] = {
    VALISE_FIELD(vls_frame_store_args, type, STR, VALISE_REQUIRED, "Its type."),
    VALISE_FIELD(vls_frame_store_args, agent, STR, VALISE_REQUIRED, "Who it is by."),
    VALISE_FIELD(vls_frame_store_args, recipe, DATA, VALISE_REQUIRED, "How it was made."),
    VALISE_FIELD(vls_frame_store_args, basis, DATA, VALISE_REQUIRED, "Of what."),
    VALISE_FIELD(vls_frame_store_args, content, DATA, VALISE_REQUIRED, "What it says."),
    VALISE_FIELD_END,
};

/* The bytes of an argument: at hand, or in the log's objects. */
static int bytes_of(valise_str *out, valise_view *view, const valise_content *content,
                    valise_error *err)
{
    *out = content->bytes;
    return out->ptr ? 0 : valise_view_object(out, view, &content->id, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_frame_store_args *args = in;
    vls_frame_new from = {.type = args->type, .agent = args->agent, .content = args->content};
    vls_frame_row frame;
    valise_str recipe;
    valise_id id;
    int rc = bytes_of(&recipe, view, &args->recipe, err);

    (void)out;
    if (rc == 0)
        rc = valise_view_add(&id, view, "recipe", recipe, err);
    if (rc == 0)
        rc = bytes_of(&from.basis, view, &args->basis, err);
    if (rc == 0)
        rc = vls_frame_make(&frame, view, &from, err);
    if (rc == 0)
        rc = vls_frame_put(view, &frame, &from, err);
    return vls_settle(rc);
}

const valise_op vls_op_context_frame_store = {
    .size = sizeof(valise_op),
    .name = "frame:store",
    .brief = "Keep a frame that was made by a recipe.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "context:write",
    .in = store_in,
    .in_size = sizeof(vls_frame_store_args),
    .decide = decide,
    .example =
        "{\"agent\":\"local\",\"basis\":\"\",\"content\":\"\",\"recipe\":\"ZGVyaXZlZAp7fQ==\","
        "\"type\":\"summary\"}",
};
