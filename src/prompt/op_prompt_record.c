/* op_prompt_record.c -- prompt:record, what a build leaves behind. [P8]
 *
 * What the manifest needs must be there at that moment: from then on the rows keep it. */
#include "base/hash.h"
#include "blob/hold.h"
#include "chat/rows.h"
#include "prompt/record.h"
#include "prompt/rows.h"
#include "store/view.h"

const valise_field vls_id_bytes_item = {
    .type = VALISE_T_BYTES, .min = sizeof(valise_id), .max = sizeof(valise_id)};
static const valise_field hold_item = {
    .type = VALISE_T_BYTES, .min = 2 * sizeof(valise_id), .max = 2 * sizeof(valise_id)};
static const valise_field blob_item = {.type = VALISE_T_BYTES,
                                       .min = sizeof(valise_id) + 1,
                                       .max = sizeof(valise_id) + VLS_BLOB_HOLDER_MAX};
static const valise_field given_item = {.type = VALISE_T_VALUE};

#define GIVEN_MAX 4097 /* tools, and params */

static const valise_field record_in[] = {
    VALISE_FIELD(vls_record_args, manifest, VALUE, VALISE_REQUIRED, "The manifest."),
    VALISE_FIELD_WITH(vls_record_args, given, LIST, 0, "Values that came with the request.",
                      .more = &given_item, .max = GIVEN_MAX),
    VALISE_FIELD(vls_record_args, session, UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_WITH(vls_record_args, head, STR, VALISE_NULLABLE, "The turn it ends with.",
                      .max = VALISE_TURN_REF_TEXT),
    VALISE_FIELD_WITH(vls_record_args, adapter, STR, VALISE_REQUIRED, "For which provider.",
                      .max = VLS_ADAPTER_NAME_MAX),
    VALISE_FIELD_WITH(vls_record_args, model, STR, VALISE_NULLABLE, "For which model.",
                      .max = VLS_MODEL_MAX),
    VALISE_FIELD(vls_record_args, time, TIME, VALISE_REQUIRED, "The time of the build."),
    VALISE_FIELD(vls_record_args, seq, INT, VALISE_REQUIRED, "The state it was made of."),
    VALISE_FIELD(vls_record_args, tokens, INT, VALISE_REQUIRED, "Its tokens."),
    VALISE_FIELD(vls_record_args, neutral, ID, VALISE_REQUIRED, "Hash of the neutral prompt."),
    VALISE_FIELD(vls_record_args, wire, ID, VALISE_REQUIRED, "Hash of the request."),
    VALISE_FIELD_WITH(vls_record_args, holds, LIST, 0, "Objects that it needs, and whose.",
                      .more = &hold_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD_WITH(vls_record_args, blobs, LIST, 0, "Blobs that it needs, and whose.",
                      .more = &blob_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD_END,
};

static const valise_field record_out[] = {
    VALISE_FIELD(vls_recorded, id, ID, VALISE_REQUIRED, "Id of the manifest."),
    VALISE_FIELD(vls_recorded, created, BOOL, VALISE_REQUIRED, "Whether it is a new one."),
    VALISE_FIELD_END,
};

static int moved_on(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "what the prompt was made of is gone");
    vls_hint(err, "build it again");
    return VALISE_E_CONFLICT;
}

static int hold_object(valise_view *view, const valise_id *id, valise_str source, valise_error *err)
{
    vls_prompt_hold_row hold = {.object = *id};
    vls_object_info info = {0};
    bool held;
    int rc;

    memcpy(hold.source.bytes, source.ptr, sizeof(hold.source.bytes));
    rc = valise_view_get(&hold, view, &vls_prompt_holds, err);
    held = rc > 0;
    if (rc >= 0 && !view->replaying && !vls_view_find_new(view, id)) {
        rc = vls_object_stat(&info, view->txn, id, err);
        if (rc == 0 || (rc > 0 && info.erased))
            return moved_on(err);
    }
    return rc < 0 || held ? vls_settle(rc) : valise_view_put(view, &vls_prompt_holds, &hold, err);
}

static int hold_blob(valise_view *view, const valise_id *id, valise_str key, valise_error *err)
{
    const vls_blob_hold hold = {*id, VLS_HOLD_PROMPT, key};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_blob_take(view, &hold, NULL, &why);

    if (rc == VALISE_E_NOT_FOUND)
        return moved_on(err);
    if (rc < 0 && err)
        *err = why;
    return vls_settle(rc);
}

typedef int hold_fn(valise_view *view, const valise_id *id, valise_str whose, valise_error *err);

static int hold_all(valise_view *view, valise_list list, hold_fn *hold, valise_error *err)
{
    const valise_str *all = list.items;
    int rc = 0;

    for (size_t i = 0; i < list.count && rc == 0; i++) {
        valise_id id;

        memcpy(id.bytes, all[i].ptr, sizeof(id.bytes));
        rc = hold(view, &id, vls_str_from(all[i], sizeof(id.bytes)), err);
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_record_args *a = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_recorded *out = result;
    vls_prompt_row row = {.id = a->manifest.id};
    int rc = valise_view_get(&row, view, &vls_prompts, err);

    out->id = a->manifest.id;
    if (rc < 0 || (rc > 0 && !vls_id_is_none(&row.manifest)))
        return vls_settle(rc);
    out->created = rc == 0;
    row = (vls_prompt_row){.id = a->manifest.id,
                           .session = a->session,
                           .head = a->head,
                           .adapter = a->adapter,
                           .model = a->model,
                           .time = a->time,
                           .seq = a->seq,
                           .recorded = stamp->seq,
                           .tokens = a->tokens,
                           .actor = stamp->actor,
                           .neutral = a->neutral,
                           .wire = a->wire,
                           .manifest = a->manifest.id};
    rc = hold_all(view, a->holds, hold_object, err);
    if (rc == 0)
        rc = hold_all(view, a->blobs, hold_blob, err);
    return rc < 0 ? rc : valise_view_put(view, &vls_prompts, &row, err);
}

const valise_op vls_op_prompt_prompt_record = {
    .size = sizeof(valise_op),
    .name = "prompt:record",
    .brief = "Keep how a prompt came to be.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "prompt:write",
    .in = record_in,
    .in_size = sizeof(vls_record_args),
    .out = record_out,
    .out_size = sizeof(vls_recorded),
    .decide = decide,
    .example =
        "{\"manifest\":{\"version\":1},\"session\":\"018f2c4e-0000-7000-8000-0000c0ffee12\","
        "\"adapter\":\"openai\",\"time\":\"2026-01-02T03:04:05.000Z\",\"seq\":1,\"tokens\":1,"
        "\"neutral\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\","
        "\"wire\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"}",
};
