/* lead.c -- what a prompt needs where it goes, beside its session: the objects and blobs that are
 * kept for prompts, as of preferences and frames that have become something else since. */
#include "base/hash.h"
#include "blob/hold.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"
#include "prompt/rows.h"
#include "store/view.h"

typedef struct leading {
    valise_view *view;
    valise_lead_fn *fn;
    void *arg;
} leading;

/* Each row that keeps this one; select: those that begin with it. */
static int lead_holds(const leading *l, const valise_coll *coll, void *row,
                      const valise_select *select, valise_error *err)
{
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, l->view, coll, select, err);

    while (rc >= 0 && (rc = valise_scan_next(row, scan, err)) > 0) {
        rc = l->fn(l->arg, coll, row, err);
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

static int lead_part(const leading *l, const vls_part *part, valise_error *err)
{
    vls_prompt_hold_row held = {.object = part->id};
    vls_blob_hold blob = {.blob = part->blob, .kind = VLS_HOLD_PROMPT};
    vls_prompt_hold_row of_object = held;
    vls_blob_hold of_blob = blob;
    const valise_select objects = {.row = &of_object, .equal = 1};
    const valise_select blobs = {.row = &of_blob, .equal = 2};
    int rc = 0;

    if (!vls_id_is_none(&part->id))
        rc = lead_holds(l, &vls_prompt_holds, &held, &objects, err);
    if (rc == 0 && !vls_id_is_none(&part->blob))
        rc = lead_holds(l, &vls_blob_holds, &blob, &blobs, err);
    return rc;
}

int vls_prompt_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                     valise_error *err)
{
    const vls_prompt_row *prompt = row;
    const leading l = {view, fn, arg};
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_manifest manifest = {0};
    int rc;

    if (vls_id_is_none(&prompt->manifest))
        return 0; /* erased */
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_view_blob(&blob, view, &prompt->manifest, err);
    if (rc == 0)
        rc = vls_manifest_read(&manifest, &arena, valise_blob_bytes(blob), err);
    for (size_t i = 0; rc == 0 && i < manifest.parts.len; i++)
        rc = lead_part(&l, &manifest.parts.ptr[i], err);
    return rc;
}
