/* kernel.c -- the tables of the kernel's collections. */
#include "kernel/kernel.h"

#include "base/buf.h"
#include "base/str.h"
#include "store/view.h"

static const valise_field workspace_fields[] = {
    VALISE_FIELD(vls_workspace_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Its id."),
    VALISE_FIELD_WITH(vls_workspace_row, label, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "Its label, for people.", .max = VLS_WORKSPACE_LABEL_MAX),
    VALISE_FIELD_WITH(vls_workspace_row, metadata, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Whatever else was told.", .ref = "object"),
    VALISE_FIELD(vls_workspace_row, created, TIME, 0, "When it was made."),
    VALISE_FIELD(vls_workspace_row, updated, TIME, 0, "When this was changed last."),
    VALISE_FIELD(vls_workspace_row, actor, STR, 0, "Who did."),
    VALISE_FIELD_END,
};

const valise_coll vls_workspaces = {.size = sizeof(valise_coll),
                                    .name = "workspace",
                                    .help = "What the workspace is called.",
                                    .fields = workspace_fields,
                                    .row_size = sizeof(vls_workspace_row),
                                    .needs = "workspace:read"};

int vls_workspace_get(vls_workspace_row *out, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_workspace_row row = {.id = {{0}}};
    valise_uuid id = {{0}};
    int rc = valise_view_scan(&scan, view, &vls_workspaces, NULL, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc > 0)
        id = row.id;
    valise_scan_close(scan);
    if (rc <= 0)
        return rc;
    row = (vls_workspace_row){.id = id}; /* once more: what a scan hands out does not last */
    rc = valise_view_get(&row, view, &vls_workspaces, err);
    if (rc > 0)
        *out = row;
    return rc;
}

static const char *const pin_kinds[] = {"seq", "object", "row", NULL};

const valise_field vls_pin_fields[] = {
    VALISE_FIELD_WITH(vls_pin, name, STR, VALISE_REQUIRED | VALISE_KEY, "Name of the pin.",
                      .max = 128),
    VALISE_FIELD_WITH(vls_pin, kind, ENUM, 0, "What it holds.", .more = pin_kinds),
    VALISE_FIELD_WITH(vls_pin, seq, INT, 0, "The log seq it holds.", .ref = "log"),
    VALISE_FIELD_WITH(vls_pin, object, ID, VALISE_NULLABLE, "The object it holds.",
                      .ref = "object"),
    VALISE_FIELD(vls_pin, place, STR, VALISE_NULLABLE, "The row it holds."),
    VALISE_FIELD(vls_pin, time, TIME, 0, "When it was made."),
    VALISE_FIELD(vls_pin, actor, STR, 0, "Who made it."),
    VALISE_FIELD_END,
};

const valise_coll vls_pins = {.size = sizeof(valise_coll),
                              .name = "pin",
                              .help = "A named hold on something that expiry must not take.",
                              .fields = vls_pin_fields,
                              .row_size = sizeof(vls_pin),
                              .needs = "pin:read"};

const valise_field vls_erasure_fields[] = {
    VALISE_FIELD(vls_erasure, place, STR, VALISE_REQUIRED | VALISE_KEY, "What was erased."),
    VALISE_FIELD_WITH(vls_erasure, seq, INT, VALISE_REQUIRED | VALISE_KEY,
                      "The command that did it.", .ref = "log"),
    VALISE_FIELD(vls_erasure, time, TIME, 0, "When."),
    VALISE_FIELD(vls_erasure, actor, STR, 0, "Who."),
    VALISE_FIELD(vls_erasure, reason, STR, 0, "The reason."),
    VALISE_FIELD_END,
};

const valise_coll vls_erasures = {.size = sizeof(valise_coll),
                                  .name = "erasure",
                                  .help = "A place whose contents were erased.",
                                  .fields = vls_erasure_fields,
                                  .row_size = sizeof(vls_erasure),
                                  .needs = "log:read"};

const valise_field vls_retention_fields[] = {
    VALISE_FIELD(vls_retention, kind, STR, VALISE_REQUIRED | VALISE_KEY | VALISE_POSITIONAL,
                 "Which history."),
    VALISE_FIELD_AS_WITH(vls_retention, keep_latest, "keepLatest", INT, VALISE_NULLABLE,
                         "Keep this many.", .min = 1, .max = INT64_MAX),
    VALISE_FIELD_AS_WITH(vls_retention, keep_one_in, "keepOneIn", INT, VALISE_NULLABLE,
                         "Keep one in this many of the older ones.", .min = 1, .max = INT64_MAX),
    VALISE_FIELD_WITH(vls_retention, bytes, INT, VALISE_NULLABLE, "Keep at most this many bytes.",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD(vls_retention, age, DURATION, VALISE_NULLABLE, "Keep what is younger than this."),
    VALISE_FIELD_END,
};

const valise_coll vls_retentions = {.size = sizeof(valise_coll),
                                    .name = "retention",
                                    .help = "How long a kind of history is kept.",
                                    .fields = vls_retention_fields,
                                    .row_size = sizeof(vls_retention),
                                    .needs = "log:read"};

static const valise_field bundle_fields[] = {
    VALISE_FIELD(vls_imported, id, ID, VALISE_REQUIRED | VALISE_KEY, "Hash of the bundle."),
    VALISE_FIELD(vls_imported, workspace, UUID, 0, "The workspace it was made from."),
    VALISE_FIELD(vls_imported, tip, INT, 0, "The last entry of its log."),
    VALISE_FIELD_AS(vls_imported, tip_hash, "tipHash", ID, VALISE_NULLABLE, "The hash of that."),
    VALISE_FIELD_WITH(vls_imported, chain, ID, VALISE_NULLABLE, "The chain of its log.",
                      .ref = "object"),
    VALISE_FIELD(vls_imported, time, TIME, 0, "When it was imported."),
    VALISE_FIELD(vls_imported, actor, STR, 0, "Who imported it."),
    VALISE_FIELD_END,
};

const valise_coll vls_bundles = {.size = sizeof(valise_coll),
                                 .name = "bundle",
                                 .help = "A bundle that was imported into what was here already.",
                                 .fields = bundle_fields,
                                 .row_size = sizeof(vls_imported),
                                 .flags = VALISE_COLL_IMMUTABLE,
                                 .needs = "log:read"};

int vls_current_row(valise_str *json, valise_view *view, const valise_coll *coll, void *row,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = valise_view_get(row, view, coll, err);

    if (rc <= 0) {
        *json = VLS_STR("null");
        return rc;
    }
    vls_buf_init(&text, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_fields_write(&text, row, coll->fields, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);
    return rc < 0 ? rc : vls_arena_dup(json, &view->arena, vls_buf_str(&text), err);
}

const char *const vls_kernel_local[] = {"actor",     "bundle",    "erasure",   "pin", "setting",
                                        "retention", "tree_here", "workspace", NULL};
