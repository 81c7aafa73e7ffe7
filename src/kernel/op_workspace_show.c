/* op_workspace_show.c -- workspace:show, anything by its id. */
#include "base/hex.h"
#include "base/str.h"
#include "base/utf8.h"
#include "bus/sight.h"
#include "kernel/erase.h"
#include "store/place.h"

typedef struct show_args {
    valise_str target;
} show_args;

static const valise_field show_in[] = {
    VALISE_FIELD_WITH(show_args, target, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "A seq, a place such as pin/NAME, or 4 or more digits of an id.", .min = 1,
                      .max = VLS_PLACE_MAX_BYTES, .ref = VLS_PLACE_REF),
    VALISE_FIELD_END,
};

typedef struct show_erasure {
    int64_t seq, time;
    valise_str actor, reason;
} show_erasure;

static const valise_field erasure_out[] = {
    VALISE_FIELD(show_erasure, seq, INT, 0, "The log entry that did it."),
    VALISE_FIELD(show_erasure, time, TIME, 0, "When."),
    VALISE_FIELD(show_erasure, actor, STR, 0, "Who."),
    VALISE_FIELD(show_erasure, reason, STR, 0, "The reason."),
    VALISE_FIELD_END,
};
static const valise_struct erasure_struct = {sizeof(show_erasure), erasure_out};

typedef struct show_result {
    valise_str kind, id;
    int64_t seq, size, time; /* NULLABLE */
    valise_str actor, type;  /* of an entry; NULLABLE */
    valise_str value;        /* JSON; NULLABLE */
    valise_str text, data;   /* of an object that is no JSON; NULLABLE */
    bool erased;
    const show_erasure *erasure; /* NULLABLE */
} show_result;

static const valise_field show_out[] = {
    VALISE_FIELD(show_result, kind, STR, 0,
                 "\"entry\", the kind of an object, or the collection of a row."),
    VALISE_FIELD(show_result, id, STR, 0, "The whole id, or place."),
    VALISE_FIELD(show_result, seq, INT, VALISE_NULLABLE, "The log entry, or the one that made it."),
    VALISE_FIELD(show_result, size, INT, VALISE_NULLABLE, "Bytes of an object."),
    VALISE_FIELD(show_result, time, TIME, VALISE_NULLABLE, "When an entry was written."),
    VALISE_FIELD(show_result, actor, STR, VALISE_NULLABLE, "Who wrote an entry."),
    VALISE_FIELD(show_result, type, STR, VALISE_NULLABLE, "What an entry did."),
    VALISE_FIELD(show_result, value, JSON, VALISE_NULLABLE, "The payload, the value or the row."),
    VALISE_FIELD(show_result, text, STR, VALISE_NULLABLE, "An object that is text."),
    VALISE_FIELD(show_result, data, BYTES, VALISE_NULLABLE, "An object that is neither."),
    VALISE_FIELD(show_result, erased, BOOL, 0,
                 "Its contents were erased, and it has no others yet."),
    VALISE_FIELD_WITH(show_result, erasure, STRUCT, VALISE_NULLABLE,
                      "The last time that contents of it were erased.", .more = &erasure_struct),
    VALISE_FIELD_END,
};

static int copy_erasure(show_result *out, valise_view *view, const vls_erasure *row,
                        valise_error *err)
{
    show_erasure *copy = vls_arena_zalloc(&view->arena, sizeof(*copy));
    int rc;

    if (!copy)
        return vls_arena_fail(&view->arena, err);
    copy->seq = row->seq;
    copy->time = row->time;
    rc = vls_arena_dup(&copy->actor, &view->arena, row->actor, err);
    if (rc == 0)
        rc = vls_arena_dup(&copy->reason, &view->arena, row->reason, err);
    out->erasure = copy;
    return rc;
}

/* The newest erasure of a place, or nothing. */
static int find_erasure(show_result *out, valise_view *view, valise_str place, valise_error *err)
{
    vls_erasure row = {.place = place};
    const valise_select newest = {.row = &row, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_erasures, &newest, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc > 0)
        rc = copy_erasure(out, view, &row, err);
    valise_scan_close(scan);
    return rc;
}

static int show_entry(show_result *out, valise_view *view, int64_t seq, valise_error *err)
{
    vls_entry entry;
    int visible, rc = vls_log_get(&entry, view->txn, seq, &view->arena, err);

    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no log entry %lld", (long long)seq);
        vls_hint(err, "'valise log' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (rc < 0)
        return rc;
    visible = vls_sight_payload(view, entry.type, err);
    if (visible < 0)
        return visible;
    out->kind = VLS_STR("entry");
    out->seq = seq;
    out->time = entry.time;
    out->actor = entry.actor;
    out->type = entry.type;
    if (visible)
        out->value = entry.payload;
    out->erased = !entry.payload.ptr;
    return vls_arena_dup(&out->id, &view->arena, valise_str_of(vls_uuid_text(&entry.id).s), err);
}

static int show_object(show_result *out, valise_view *view, const vls_object_info *info,
                       valise_error *err)
{
    valise_str bytes;
    int rc = vls_sight_object(view, err);

    if (rc == 0)
        rc = vls_arena_dup(&out->kind, &view->arena, valise_str_of(info->kind), err);
    if (rc == 0)
        rc = vls_arena_dup(&out->id, &view->arena, valise_str_of(vls_id_hex(&info->id).s), err);
    if (rc < 0)
        return rc;
    out->size = info->size;
    out->erased = info->erased;
    if (info->erased)
        return find_erasure(out, view, valise_str_of(vls_object_place_of(&info->id).s), err);
    rc = valise_view_object(&bytes, view, &info->id, err);
    if (rc < 0)
        return rc;
    if (strcmp(info->kind, "value") == 0)
        out->value = bytes;
    else if (vls_utf8_valid(bytes))
        out->text = bytes.ptr ? bytes : VLS_STR("");
    else
        out->data = bytes;
    return 0;
}

/* The row as JSON. */
static int write_row(show_result *out, valise_view *view, const vls_coll *coll,
                     const valise_cell *cells, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    void *row = NULL;
    int rc = vls_row_of_cells(&row, coll, cells, &view->arena, err);

    vls_buf_init(&text, view->arena.env, VLS_VIEW_MAX_BYTES);
    if (rc == 0)
        rc = vls_fields_write(&text, row, coll->desc->fields, VLS_FIELD_LOGGED, VLS_FIELD_ALL, err);
    return rc < 0 ? rc : vls_arena_dup(&out->value, &view->arena, vls_buf_str(&text), err);
}

static int show_row(show_result *out, valise_view *view, const vls_target *target,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    vls_seen seen = {0};
    int rc = vls_sight_row(view, target->coll->desc, err);

    if (rc < 0)
        return rc;
    vls_buf_init(&text, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_place_write(&text, target->coll, target->key);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->id, &view->arena, vls_buf_str(&text), err);
    if (rc == 0)
        rc = vls_view_see(&seen, view, target->coll, target->key, err);
    if (rc < 0)
        return rc;
    if (!seen.row)
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no %.*s", VALISE_STR_ARG(out->id));
    rc = write_row(out, view, target->coll, seen.row, err);
    if (rc == 0)
        rc = find_erasure(out, view, out->id, err);
    out->kind = valise_str_of(target->coll->desc->name);
    out->seq = seen.from_seq;
    /* A row that was put again since has contents of its own. */
    out->erased = out->erasure && out->erasure->seq >= seen.from_seq;
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const show_args *args = in;
    show_result *out = result;
    vls_target target = {.kind = VLS_TARGET_ENTRY};
    int rc = vls_target_find(&target, view, args->target, err);

    out->seq = out->size = out->time = VALISE_NONE;
    if (rc < 0)
        return rc;
    if (target.kind == VLS_TARGET_ENTRY)
        return show_entry(out, view, target.seq, err);
    if (target.kind == VLS_TARGET_OBJECT)
        return show_object(out, view, &target.object, err);
    return show_row(out, view, &target, err);
}

const valise_op vls_op_kernel_workspace_show = {
    .size = sizeof(valise_op),
    .name = "workspace:show",
    .alias = "show",
    .brief = "Show anything, given its id.",
    .help = "An object's id may be shortened to its first digits, a UUID to its last ones, if "
            "there are 4 or more and only one thing matches. A number up to that of the newest log "
            "entry always means that entry. A row and the arguments of a command are shown to "
            "those who may read their area, an object to those who have object:read.",
    .kind = VALISE_QUERY,
    .needs = "log:read",
    .in = show_in,
    .in_size = sizeof(show_args),
    .out = show_out,
    .out_size = sizeof(show_result),
    .query = query,
    .example = "{\"target\":\"12\"}",
};
