/* export.c -- what the writers share. */
#include "exchange/export.h"

#include "chat/rows.h"
#include "store/view.h"

int vls_export_object(vls_json *out, vls_exporting *e, const valise_id *id, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    vls_translation r = {.arena = e->arena};
    valise_error ignored = VALISE_ERROR_INIT;
    valise_blob *blob = NULL;
    valise_str text;
    int rc;

    if (vls_id_is_none(id))
        return 0;
    rc = vls_view_blob(&blob, e->view, id, err);
    if (rc < 0)
        return rc;
    rc = vls_arena_dup(&text, e->arena, vls_blob_bytes(blob), err);
    (void)valise_blob_unref(blob);
    if (rc < 0)
        return rc;
    rc = vls_json_parse(out, e->arena, text, &limits, &ignored);
    if (rc == VALISE_E_INVALID) /* a source is as others wrote it */
        rc = vls_foreign_parse(out, &r, text, &ignored);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return rc == 0;
}

int vls_export_blocks(vls_json *out, vls_exporting *e, const vls_turn_row *turn, valise_error *err)
{
    int rc = vls_export_object(out, e, &turn->blocks, err);

    if (rc == 0)
        e->dropped.erased++;
    return rc;
}

int vls_export_flush(vls_exporting *e, valise_error *err)
{
    int rc = vls_buf_check(e->out, err);

    return rc < 0 || !e->flush || e->out->len < VLS_EXPORT_FLUSH ? rc : e->flush(e->self, err);
}
