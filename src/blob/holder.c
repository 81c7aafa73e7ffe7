/* holder.c -- does what a hold names still hold its blob? [W10]
 *
 * Turns and entries are rows of areas that build on this one: they are read as cells. */
#include "base/hex.h"
#include "base/str.h"
#include "blob/hold.h"
#include "blob/meet.h"
#include "store/view.h"

/* The row of the holder; seen->row NULL: it is gone. */
static int see_turn(vls_seen *seen, const vls_coll *coll, valise_view *view, valise_str holder,
                    valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS] = {{.type = VALISE_CELL_BLOB}, {.type = VALISE_CELL_INT}};
    valise_str text, version;
    valise_uuid id;
    uint64_t number;

    if (!vls_str_cut(&text, &version, holder, '@') || vls_uuid_parse(&id, text, NULL) < 0 ||
        !vls_str_to_u64(&number, version) || number > INT64_MAX)
        return 0;
    key[0].as.bytes = vls_str(id.bytes, sizeof(id.bytes));
    key[1].as.integer = (int64_t)number;
    return vls_view_see(seen, view, coll, key, err);
}

static int see_entry(vls_seen *seen, const vls_coll *coll, valise_view *view, valise_str holder,
                     valise_error *err)
{
    const valise_cell key[VALISE_MAX_COLUMNS] = {{VALISE_CELL_TEXT, {.bytes = holder}}};

    return vls_view_see(seen, view, coll, key, err);
}

/* What an erasure left of the row holds nothing. */
static bool has_contents(const vls_coll *coll, const valise_cell *row, const char *field)
{
    for (uint16_t i = 0; i < coll->field_count; i++) {
        if (strcmp(coll->desc->fields[i].name, field) == 0)
            return row[i].type != VALISE_CELL_NULL;
    }
    return false;
}

int vls_blob_holder_is_there(valise_view *view, const vls_blob_hold *hold, valise_error *err)
{
    const bool turn = hold->kind == VLS_HOLD_TURN;
    const vls_coll *coll =
        vls_store_coll_named(view->txn->store, turn ? VLS_STR("turn") : VLS_STR("context"));
    vls_seen seen = {0};
    int rc;

    if (hold->kind == VLS_HOLD_NAMED || hold->kind == VLS_HOLD_PROMPT || !coll)
        return 1; /* nobody here can say that it is not */
    rc = turn ? see_turn(&seen, coll, view, hold->holder, err)
              : see_entry(&seen, coll, view, hold->holder, err);
    return rc < 0 ? rc : seen.row && has_contents(coll, seen.row, turn ? "blocks" : "blob");
}

/* Was the blob erased here, and not registered again since? 1, or 0. */
static int is_unwanted(valise_view *view, const valise_id *blob, valise_error *err)
{
    const vls_blob_record record = {.sha256 = *blob};
    int64_t made = 0;
    int rc = vls_blob_is_erased(view, blob, err);

    if (rc <= 0)
        return rc;
    rc = valise_view_version(&made, view, &vls_blob_records, &record, err);
    return rc < 0 ? rc : made == 0 || made >= valise_view_stamp(view)->seq;
}

/* The holder may have been erased here since the bundle was made, and so may the blob. */
int vls_blob_holds_arrive(valise_view *view, const void *const *rows, size_t count,
                          valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const vls_blob_hold *hold = rows[i];
        int unwanted = is_unwanted(view, &hold->blob, err);
        int rc = unwanted < 0 ? unwanted : vls_blob_holder_is_there(view, hold, err);
        if (rc >= 0 && (rc == 0 || unwanted > 0))
            rc = vls_blob_release(view, hold, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
