/* op_prompt_sweep.c -- prompt:sweep, rows that nothing needs. What gc found is looked at again: a
 * prompt that came meanwhile may need it. */
#include "blob/hold.h"
#include "chat/rows.h"
#include "prompt/record.h"
#include "prompt/rows.h"
#include "prompt/sweep.h"
#include "store/view.h"

static const valise_field sweep_in[] = {
    VALISE_FIELD_WITH(vls_sweep_args, prompts, LIST, 0, "Prompts of sessions that are gone.",
                      .more = &vls_id_bytes_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD_WITH(vls_sweep_args, holds, LIST, 0, "Objects that no prompt needs.",
                      .more = &vls_id_bytes_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD_WITH(vls_sweep_args, blobs, LIST, 0, "Blobs that no prompt needs.",
                      .more = &vls_id_bytes_item, .max = VLS_HOLDS_MAX),
    VALISE_FIELD(vls_sweep_args, seen, INT, 0, "The state in which that was so."),
    VALISE_FIELD_END,
};

static int drop_prompt(valise_view *view, const valise_id *id, valise_error *err)
{
    vls_prompt_row row = {.id = *id};
    vls_session_row session;
    int rc = valise_view_get(&row, view, &vls_prompts, err);

    if (rc <= 0)
        return rc;
    session = (vls_session_row){.id = row.session};
    rc = valise_view_get(&session, view, &vls_sessions, err);
    if (rc == 0)
        rc = valise_view_delete(view, &vls_prompts, &row, err);
    return vls_settle(rc);
}

/* Whosoever it was. */
static int drop_hold(valise_view *view, const valise_id *id, valise_error *err)
{
    vls_prompt_hold_row hold = {.object = *id};
    const vls_prompt_hold_row key = hold;
    const valise_select of_object = {.row = &key, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_prompt_holds, &of_object, err);

    while (rc >= 0 && (rc = valise_scan_next(&hold, scan, err)) > 0)
        rc = valise_view_delete(view, &vls_prompt_holds, &hold, err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int drop_blob(valise_view *view, const valise_id *id, valise_error *err)
{
    const vls_blob_hold key = {.blob = *id};
    const valise_select of_blob = {.row = &key, .equal = 1};
    vls_blob_hold hold;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, &of_blob, err);

    while (rc >= 0 && (rc = valise_scan_next(&hold, scan, err)) > 0)
        if (hold.kind == VLS_HOLD_PROMPT)
            rc = vls_blob_release(view, &hold, err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

/* The seq of the last prompt that was recorded; 0: there is none. */
static int newest(int64_t *out, valise_view *view, valise_error *err)
{
    const valise_select last = {.index = "recorded", .flags = VALISE_SCAN_REVERSE};
    vls_prompt_row row = {.recorded = 0};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_prompts, &last, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    *out = rc > 0 ? row.recorded : 0;
    return vls_settle(rc);
}

typedef int drop_fn(valise_view *view, const valise_id *id, valise_error *err);

static int drop_all(valise_view *view, valise_list list, drop_fn *drop, valise_error *err)
{
    const valise_str *all = list.items;
    int rc = 0;

    for (size_t i = 0; i < list.count && rc == 0; i++) {
        valise_id id;

        memcpy(id.bytes, all[i].ptr, sizeof(id.bytes));
        rc = drop(view, &id, err);
    }
    return rc;
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_sweep_args *a = in;
    int64_t last = 0;
    int rc = drop_all(view, a->prompts, drop_prompt, err);

    (void)result;
    if (rc == 0)
        rc = newest(&last, view, err);
    if (rc < 0 || last > a->seen)
        return rc; /* it may need what nobody needed: the next gc will see */
    rc = drop_all(view, a->holds, drop_hold, err);
    return rc < 0 ? rc : drop_all(view, a->blobs, drop_blob, err);
}

const valise_op vls_op_prompt_prompt_sweep = {
    .size = sizeof(valise_op),
    .name = "prompt:sweep",
    .brief = "Let go of what no prompt needs any more.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "prompt:write",
    .in = sweep_in,
    .in_size = sizeof(vls_sweep_args),
    .decide = decide,
    .example = "{\"seen\":12}",
};
