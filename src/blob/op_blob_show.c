/* op_blob_show.c -- blob:show, what is known of a blob and who holds it. [W9] */
#include "blob/ops.h"

#include "base/vec.h"
#include "store/view.h"

#define HOLDERS_SHOWN 1000u

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(vls_blob_show_args, blob, ID, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The blob, as sha256sum names it.", .ref = VLS_REF_BLOB),
    VALISE_FIELD_END,
};

static const valise_field holder_item = {
    .name = "holder", .help = "Who holds it.", .type = VALISE_T_STR, .ref = VLS_REF_HOLDER};

static const valise_field show_out[] = {
    VALISE_FIELD(vls_blob_shown, sha256, ID, VALISE_REQUIRED, "SHA-256 of its bytes."),
    VALISE_FIELD(vls_blob_shown, size, INT, VALISE_REQUIRED, "Its size in bytes."),
    VALISE_FIELD_AS(vls_blob_shown, media_type, "mediaType", STR, VALISE_NULLABLE,
                    "Its media type."),
    VALISE_FIELD(vls_blob_shown, filename, STR, VALISE_NULLABLE, "Its file name."),
    VALISE_FIELD(vls_blob_shown, created, TIME, VALISE_REQUIRED, "When it was registered."),
    VALISE_FIELD_AS(vls_blob_shown, file_ids, "fileIds", JSON, VALISE_NULLABLE,
                    "What providers call it."),
    VALISE_FIELD(vls_blob_shown, count, INT, VALISE_REQUIRED, "How many hold it."),
    VALISE_FIELD_WITH(vls_blob_shown, holders, LIST, 0,
                      "Who they are, a thousand at most: turn/ID@VERSION, context/KEY, hold/NAME.",
                      .more = &holder_item),
    VALISE_FIELD_END,
};

static int write_holder(valise_str *out, valise_view *view, const vls_blob_hold *hold,
                        valise_error *err)
{
    static const char *const kinds[] = {"hold/", "turn/", "context/", "prompt/"};
    vls_buf text;

    vls_buf_init_in(&text, &view->arena, 64 + VLS_BLOB_HOLDER_MAX);
    vls_buf_add_text(&text, kinds[hold->kind]);
    vls_buf_add(&text, hold->holder);
    return vls_buf_keep(out, &text, err);
}

static int list_holders(vls_blob_shown *out, valise_view *view, valise_error *err)
{
    const vls_blob_hold key = {.blob = out->sha256};
    const valise_select of_blob = {.row = &key, .equal = 1};
    vls_vec(valise_str) list = VLS_VEC_INIT;
    valise_scan *scan = NULL;
    vls_blob_hold row;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, &of_blob, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        valise_str text = {NULL, 0};
        out->count++;
        rc = 0;
        if (list.len == HOLDERS_SHOWN)
            continue;
        rc = write_holder(&text, view, &row, err);
        if (rc == 0 && !vls_vec_push_in(&list, &view->arena, text))
            rc = vls_arena_fail(&view->arena, err);
    }
    valise_scan_close(scan);
    out->holders = (valise_list){list.ptr, list.len};
    return rc;
}

static int query(valise_view *view, const void *args, void *result, valise_error *err)
{
    const vls_blob_show_args *a = args;
    vls_blob_record row;
    vls_blob_shown *out = result;
    int rc = vls_blob_record_of(&row, view, &a->blob, err);

    if (rc == 0)
        return vls_blob_fail_unknown(view, &a->blob, err);
    if (rc < 0)
        return rc;
    *out = (vls_blob_shown){.sha256 = row.sha256,
                            .size = row.size,
                            .media_type = row.media_type,
                            .filename = row.filename,
                            .created = row.created,
                            .file_ids = row.file_ids};
    return list_holders(out, view, err);
}

const valise_op vls_op_blob_blob_show = {
    .size = sizeof(valise_op),
    .name = "blob:show",
    .brief = "Show a blob and who holds it.",
    .kind = VALISE_QUERY,
    .needs = "blob:read",
    .in = show_in,
    .in_size = sizeof(vls_blob_show_args),
    .out = show_out,
    .out_size = sizeof(vls_blob_shown),
    .query = query,
    .example = "{\"blob\":\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"}",
};
