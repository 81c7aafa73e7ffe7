/* validate_rows.c -- every row of every collection: its sum, its fields, what it refers to, and
 * whether the log agrees that it is there. */
#include "base/hex.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/impl.h"
#include "store/own.h"
#include "store/validate.h"

/* ---- references ---- */

typedef struct reference_walk {
    valise_check *check;
    valise_error *err;
} reference_walk;

static int check_object(valise_check *check, const valise_field *field, const valise_id *id,
                        valise_error *err)
{
    vls_object_info info;
    valise_error failure = VALISE_ERROR_INIT;
    int rc = vls_object_stat(&info, check->txn, id, &failure);

    if (rc > 0)
        return 0;
    if (rc < 0)
        return vls_check_failed(check, rc, &failure, err);
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s: there is no object %s",
                                field->name, vls_id_hex(id).s);
}

/* A key of another collection, or the first part of one. */
static int check_key(valise_check *check, const valise_field *field, const vls_coll *target,
                     void *member, valise_error *err)
{
    valise_field alone = *field;
    valise_cell key, row[VALISE_MAX_COLUMNS];
    valise_range range = {.index = -1, .equal = &key, .equal_count = 1};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int rc;

    alone.offset = 0;
    rc = vls_field_to_cell(&key, member, &alone, &check->view->arena, err);
    if (rc == 0)
        rc = vls_check_scan(&scan, check, target, range, err);
    if (rc <= 0)
        return rc;
    rc = vls_check_next(row, check, &scan, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                "%s: what it names in %s is missing", field->name,
                                target->desc->name);
}

static int check_reference(void *arg, const valise_field *field, void *member)
{
    reference_walk *walk = arg;
    const vls_coll *target;

    if (field->type == VALISE_T_ID && (!field->ref || strcmp(field->ref, "object") == 0))
        return field->ref ? check_object(walk->check, field, member, walk->err) : 0;
    if (!field->ref || strcmp(field->ref, "log") == 0 || (field->flags & VALISE_LOOSE))
        return 0;
    target = vls_store_coll_named(walk->check->store, valise_str_of(field->ref));
    return target ? check_key(walk->check, field, target, member, walk->err) : 0;
}

/* ---- one row ---- */

/* Does the log say the same about this key? seq: the entry that made the row, or deleted it. */
static int check_witness(valise_check *check, const vls_coll *coll, valise_str key, int64_t seq,
                         valise_error *err)
{
    int64_t listed;

    if (seq < 0 || seq > check->txn->tip.seq) {
        (void)vls_witness_ask(check->witness, coll->number, key); /* it is there */
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "it was made by entry %lld, which never existed",
                                    (long long)seq);
    }
    if (coll->desc->flags & (VALISE_COLL_QUIET | VALISE_COLL_EXEMPT))
        return 0;
    listed = vls_witness_ask(check->witness, coll->number, key);
    if (listed == seq || (listed == 0 && seq <= check->txn->meta.base_seq))
        return 0;
    if (listed == 0)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                    "entry %lld does not record that it made it", (long long)seq);
    return valise_check_problem(
        check, err, VLS_REMEDY_RESTORE,
        "entry %lld changed it last, but it is in the state that entry %lld left",
        (long long)listed, (long long)seq);
}

int vls_check_fields(valise_check *check, const vls_coll *coll, const valise_cell *cells,
                     valise_error *err)
{
    const valise_coll *desc = coll->desc;
    valise_error failure = VALISE_ERROR_INIT;
    reference_walk walk = {check, err};
    void *row = NULL;
    int rc = vls_row_of_cells(&row, coll, cells, &check->view->arena, &failure);

    if (rc == 0)
        rc = vls_fields_validate_accepted(row, desc->fields, &check->view->arena, &failure);
    if (rc < 0)
        return vls_check_failed(check, rc, &failure, err);
    rc = vls_fields_each_ref(row, desc->fields, check_reference, &walk);
    if (rc == 0 && desc->check) {
        rc = desc->check(check, check->view, row, &failure);
        rc = vls_check_failed(check, rc, &failure, err);
    }
    return rc;
}

static int check_row(valise_check *check, const vls_coll *coll, const valise_cell *cells,
                     vls_buf *key, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    int rc;

    (void)snprintf(check->place, sizeof(check->place), "%s", vls_coll_place(coll, cells).s);
    check->result.rows++;
    vls_buf_clear(key);
    vls_key_write(key, cells, coll->key_count);
    rc = vls_buf_check(key, err);
    if (rc < 0)
        return rc;
    rc = vls_txn_check_row(check->txn, coll, cells, &failure);
    if (rc < 0) {
        (void)vls_witness_ask(check->witness, coll->number, vls_buf_str(key)); /* it is there */
        return vls_check_failed(check, rc, &failure, err);
    }
    rc = check_witness(check, coll, vls_buf_str(key), cells[vls_coll_seq_column(coll)].as.integer,
                       err);
    return rc < 0 ? rc : vls_check_fields(check, coll, cells, err);
}

/* ---- a collection ---- */

/* Rows are copied: what is looked up meanwhile would move the backend's cells. */
static int check_coll(valise_check *check, const vls_coll *coll, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    int rc = vls_check_scan(&scan, check, coll, (valise_range){.index = -1}, err);

    if (rc <= 0)
        return rc;
    vls_buf_init(&key, vls_store_env(check->store), VLS_VIEW_MAX_BYTES);
    while (rc >= 0 && (rc = vls_check_next(cells, check, &scan, err)) > 0) {
        vls_view_mark mark = vls_view_here(check->view);
        valise_cell *copy;
        rc = vls_cells_copy(&copy, cells, coll->table.column_count, &check->view->arena, err);
        if (rc == 0)
            rc = check_row(check, coll, copy, &key, err);
        vls_view_rewind(check->view, mark);
        vls_view_forget_objects(check->view);
        if (rc == 0)
            rc = vls_progress_step(check->progress, 1, err);
    }
    return rc;
}

/* ---- what was deleted ---- */

static int check_gone_key(valise_check *check, const vls_gone *gone, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(check->store, (uint32_t)gone->coll);

    (void)snprintf(check->place, sizeof(check->place), "gone %lld %s", (long long)gone->coll,
                   coll ? coll->desc->name : "?");
    if (!coll || coll->own)
        return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "there is no such collection");
    return check_witness(check, coll, gone->key, gone->seq, err);
}

static int check_gone(valise_check *check, const vls_coll *coll, const valise_cell *cells,
                      valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    vls_view_mark mark = vls_view_here(check->view);
    vls_gone gone;
    int rc = vls_row_from_cells(&gone, coll->desc->fields, sizeof(gone), cells, coll->field_count,
                                &check->view->arena, &failure);

    if (rc < 0)
        rc = vls_check_failed(check, rc, &failure, err);
    else
        rc = check_gone_key(check, &gone, err);
    vls_view_rewind(check->view, mark);
    return rc;
}

/* Keys that the log speaks of and that are neither there nor known to be deleted. */
static int check_missing(valise_check *check, valise_error *err)
{
    size_t at = 0;
    int64_t seq;

    while ((seq = vls_witness_next_unseen(check->witness, &at)) > 0) {
        int rc;
        (void)snprintf(check->place, sizeof(check->place), "log %lld", (long long)seq);
        rc = valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                  "a row that it made or deleted has disappeared");
        if (rc < 0)
            return rc;
    }
    return 0;
}

int vls_check_rows(valise_check *check, valise_error *err)
{
    static const uint32_t own[] = {VLS_TABLE_META, VLS_TABLE_COLLECTION, VLS_TABLE_READ_LOG,
                                   VLS_TABLE_CURSOR};
    uint64_t rows = 0;
    bool bare;
    int rc = 0;

    if (!check->store->bare && vls_uuid_is_none(&check->txn->meta.workspace)) {
        (void)snprintf(check->place, sizeof(check->place), "meta workspace");
        rc =
            valise_check_problem(check, err, VLS_REMEDY_RESTORE, "the id of the workspace is gone");
    }
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(check->store); i++)
        rc = vls_txn_count(&rows, check->txn, vls_store_coll_at(check->store, i), err);
    if (rc < 0)
        return rc;
    vls_progress_begin(check->progress, "check rows", "rows", rows);
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(own); i++)
        rc = vls_check_table(check, own[i], NULL, err);
    for (uint32_t i = VLS_TABLE_OWN_COUNT; rc == 0 && i < vls_store_coll_count(check->store); i++)
        rc = check_coll(check, vls_store_coll_at(check->store, i), err);
    bare = check->store->bare; /* then nobody knows what rows there should be */
    if (rc == 0)
        rc = vls_check_table(check, VLS_TABLE_GONE, bare ? NULL : check_gone, err);
    if (rc == 0 && !bare)
        rc = check_missing(check, err);
    return rc < 0 ? rc : vls_progress_end(check->progress, err);
}
