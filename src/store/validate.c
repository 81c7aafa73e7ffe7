/* validate.c -- the order in which everything is looked at, and the log. The rest is in
 * validate_objects.c and validate_rows.c. */
#include "store/validate.h"

#include <stdarg.h>

#include "base/hex.h"
#include "base/str.h"
#include "store/impl.h"

/* ---- findings ---- */

static int report(valise_check *check, const char *problem, const char *remedy, valise_error *err)
{
    vls_finding finding = {check->place, problem, remedy};

    check->result.problems++;
    return check->fn ? check->fn(check->arg, &finding, err) : 0;
}

int valise_check_problem(valise_check *check, valise_error *err, const char *remedy,
                         const char *format, ...)
{
    char problem[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(problem, sizeof(problem), format, args);
    va_end(args);
    return report(check, problem, remedy, err);
}

int vls_check_failed(valise_check *check, int rc, const valise_error *failure, valise_error *err)
{
    if (rc >= 0)
        return 0;
    if (rc == VALISE_E_CORRUPT || rc == VALISE_E_INVALID || rc == VALISE_E_NOT_FOUND)
        return report(check, failure->message, VLS_REMEDY_RESTORE, err);
    if (err)
        *err = *failure;
    return rc;
}

/* ---- the backend ---- */

static int backend_problem(void *arg, const char *text, valise_error *err)
{
    valise_check *check = arg;

    (void)snprintf(check->place, sizeof(check->place), "store");
    return report(check, text, "an index can be made again with 'valise repair'; else restore",
                  err);
}

static int check_backend(valise_check *check, valise_error *err)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(check->store, &self);

    vls_progress_begin(check->progress, "check pages", "", 0);
    if (ops->check) {
        int rc = ops->check(self, backend_problem, check, err);
        if (rc < 0)
            return rc;
    }
    return vls_progress_end(check->progress, err);
}

/* ---- rows ---- */

int vls_check_scan(vls_txn_scan *scan, valise_check *check, const vls_coll *coll,
                   valise_range range, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    int rc = vls_txn_scan_open(scan, check->txn, coll, range, &failure);

    scan->unchecked = true;
    if (rc == 0)
        return 1;
    (void)snprintf(check->place, sizeof(check->place), "%s", coll->desc->name);
    return vls_check_failed(check, rc, &failure, err);
}

int vls_check_next(valise_cell *cells, valise_check *check, vls_txn_scan *scan, valise_error *err)
{
    for (;;) {
        valise_error failure = VALISE_ERROR_INIT;
        char before[sizeof(check->place)];
        int rc = vls_txn_scan_next(cells, scan, &failure);
        if (rc >= 0)
            return rc;
        memcpy(before, check->place, sizeof(before));
        (void)snprintf(check->place, sizeof(check->place), "%s", scan->coll->desc->name);
        rc = vls_check_failed(check, rc, &failure, err);
        memcpy(check->place, before, sizeof(before));
        if (rc < 0)
            return rc;
    }
}

/* ---- a table of the store's own ---- */

int vls_check_table(valise_check *check, uint32_t table, vls_check_row_fn *then, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(check->store, table);
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int rc = vls_check_scan(&scan, check, coll, (valise_range){.index = -1}, err);

    if (rc <= 0)
        return rc;
    while (rc >= 0 && (rc = vls_check_next(cells, check, &scan, err)) > 0) {
        valise_error failure = VALISE_ERROR_INIT;
        (void)snprintf(check->place, sizeof(check->place), "%s", vls_coll_place(coll, cells).s);
        rc = vls_txn_check_row(check->txn, coll, cells, &failure);
        if (rc < 0)
            rc = vls_check_failed(check, rc, &failure, err);
        else if (then)
            rc = then(check, coll, cells, err);
        if (rc == 0)
            rc = vls_progress_step(check->progress, 1, err);
    }
    return rc;
}

/* ---- the log ---- */

/* The log says nothing of what became of a QUIET row: it may have expired. Whether it may have, its
 * collection can know. */
static int check_quiet(valise_check *check, const vls_coll *coll, const vls_image *image,
                       valise_error *err)
{
    const valise_coll *desc = coll->desc;
    vls_arena *arena = &check->view->arena;
    valise_cell key[VALISE_MAX_COLUMNS], found[VALISE_MAX_COLUMNS];
    void *row;
    int rc = vls_key_read(key, coll->key_count, image->key, arena, err);

    if (rc == 0)
        rc = vls_txn_get(found, check->txn, coll, key, err);
    if (rc != 0)
        return rc == VALISE_E_CORRUPT ? 0 : vls_settle(rc); /* damage is told with the rows */
    row = vls_arena_zalloc(arena, desc->row_size);
    if (!row)
        return vls_arena_fail(arena, err);
    rc = vls_row_from_cells(row, desc->fields, desc->row_size, key, coll->key_count, arena, err);
    if (rc == 0)
        rc = desc->expired(check->view, row, err);
    if (rc != 0)
        return vls_settle(rc);
    return valise_check_problem(check, err, VLS_REMEDY_RESTORE, "%s, which it made, is missing",
                                vls_coll_place(coll, key).s);
}

static bool knows_expired(const vls_coll *coll)
{
    const valise_coll *desc = coll->desc;

    return !coll->foreign && desc->size >= offsetof(valise_coll, expired) + sizeof(desc->expired) &&
           desc->expired;
}

static int add_witness(valise_check *check, const vls_image *image, int64_t seq, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(check->store, image->coll);
    valise_error failure = VALISE_ERROR_INIT;
    vls_view_mark mark;
    int rc;

    if (!coll || !vls_coll_is_quiet(coll))
        return vls_witness_add(check->witness, image->coll, image->key, seq, err);
    if (!knows_expired(coll))
        return 0;
    mark = vls_view_here(check->view);
    rc = check_quiet(check, coll, image, &failure);
    vls_view_rewind(check->view, mark);
    return vls_check_failed(check, rc, &failure, err);
}

static int check_changes(valise_check *check, const vls_entry *entry, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, entry->changes, &failure)) > 0) {
        rc = add_witness(check, &image, entry->seq, err);
        if (rc < 0)
            return rc;
        if (image.from_seq >= entry->seq || image.gone_seq >= entry->seq) {
            rc = valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                      "it names an entry that came later");
            if (rc < 0)
                return rc;
        }
    }
    return vls_check_failed(check, rc, &failure, err);
}

/* Where the walk along the log is. */
typedef struct log_walk {
    int64_t seq, time;
    valise_id hash;
    bool first;  /* no entry before it, ever */
    bool adrift; /* nobody knows what was before it */
} log_walk;

static int check_entry(valise_check *check, log_walk *walk, const vls_entry *entry,
                       valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    bool unverifiable = false;
    int rc = 0;

    (void)snprintf(check->place, sizeof(check->place), "log %lld", (long long)entry->seq);
    if (walk->adrift) { /* whatever it follows */
        *walk = (log_walk){entry->seq, entry->time, entry->hash, false, false};
        check->result.entries++;
        return check_changes(check, entry, err);
    }
    if (entry->seq != walk->seq + 1)
        rc = valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                  "the entries from %lld to before it are missing",
                                  (long long)walk->seq + 1);
    if (rc == 0 && entry->time < walk->time)
        rc = valise_check_problem(check, err, VLS_REMEDY_RESTORE,
                                  "its time is before that of the previous entry");
    if (rc < 0)
        return rc;
    rc = vls_log_verify(&unverifiable, entry, walk->first ? NULL : &walk->hash, &failure);
    rc = vls_check_failed(check, rc, &failure, err);
    if (unverifiable) {
        check->result.unverifiable++;
        check->result.partial = true;
    }
    *walk = (log_walk){entry->seq, VLS_MAX(walk->time, entry->time), entry->hash, false, false};
    check->result.entries++;
    return rc < 0 ? rc : check_changes(check, entry, err);
}

/* One row of the log: its sum, then what is in it. */
static int check_log_row(valise_check *check, log_walk *walk, const vls_coll *log,
                         const valise_cell *cells, vls_arena *arena, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    vls_entry entry;
    int rc;

    (void)snprintf(check->place, sizeof(check->place), "log %lld", (long long)cells[0].as.integer);
    rc = vls_txn_check_row(check->txn, log, cells, &failure);
    rc = vls_check_failed(check, rc, &failure, err);
    if (rc < 0)
        return rc;
    rc = vls_row_from_cells(&entry, log->desc->fields, sizeof(entry), cells, log->field_count,
                            arena, &failure);
    if (rc < 0)
        return vls_check_failed(check, rc, &failure, err);
    return check_entry(check, walk, &entry, err);
}

static int check_log(valise_check *check, valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(check->store, VLS_TABLE_LOG);
    const vls_txn *txn = check->txn;
    log_walk walk = {txn->meta.base_seq, INT64_MIN, txn->meta.base_hash, txn->meta.base_seq == 0,
                     check->adrift};
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc;

    check->result.partial = txn->meta.base_seq > 0;
    vls_arena_init(&arena, vls_store_env(check->store), VLS_VIEW_MAX_BYTES);
    vls_progress_begin(check->progress, "check log", "entries",
                       (uint64_t)(txn->tip.seq - txn->meta.base_seq));
    rc = vls_check_scan(&scan, check, log, (valise_range){.index = -1}, err);
    while (rc > 0 && (rc = vls_check_next(cells, check, &scan, err)) > 0) {
        rc = check_log_row(check, &walk, log, cells, &arena, err);
        vls_arena_reset(&arena);
        if (rc == 0)
            rc = vls_progress_step(check->progress, 1, err);
        rc = rc < 0 ? rc : 1;
    }
    vls_witness_seal(check->witness);
    return rc < 0 ? rc : vls_progress_end(check->progress, err);
}

/* ---- all of it ---- */

static int check_all(valise_check *check, valise_error *err)
{
    int rc = check->store->bare ? 0 : vls_txn_check_complete(check->txn, err);

    if (rc == 0)
        rc = check_backend(check, err);
    if (rc == 0)
        rc = check_log(check, err);
    if (rc == 0)
        rc = vls_check_objects(check, err);
    return rc < 0 ? rc : vls_check_rows(check, err);
}

/* ---- beginning ---- */

/* The newest entry, whatever its state: the log is looked at later. */
static int find_tip(vls_txn *txn, valise_check *check, valise_error *err)
{
    const vls_coll *log = vls_store_coll_at(txn->store, VLS_TABLE_LOG);
    valise_range range = {.index = -1, .flags = VALISE_SCAN_REVERSE};
    valise_cell cells[VALISE_MAX_COLUMNS];
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    int rc;

    check->txn = txn;
    rc = vls_check_scan(&scan, check, log, range, err);
    if (rc > 0)
        rc = vls_check_next(cells, check, &scan, err);
    txn->tip = (vls_tip){.seq = rc > 0 ? cells[0].as.integer : txn->meta.base_seq,
                         .base_seq = txn->meta.base_seq};
    return rc < 0 ? rc : 0;
}

/* A transaction that begins also where the newest entry is damaged. */
static int begin(vls_txn *txn, valise_check *check, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    int rc = vls_txn_begin(txn, check->store, VALISE_TXN_READ, &failure);

    if (rc == 0)
        return 0;
    (void)snprintf(check->place, sizeof(check->place), "log");
    if (rc != VALISE_E_CORRUPT) {
        if (err)
            *err = failure;
        return rc;
    }
    rc = vls_check_failed(check, rc, &failure, err);
    if (rc == 0)
        rc = vls_txn_begin_bare(txn, check->store, VALISE_TXN_READ, err);
    if (rc == 0)
        check->adrift = !vls_meta_salvage(&txn->meta, txn);
    return rc < 0 ? rc : find_tip(txn, check, err);
}

int vls_validate(vls_validation *out, vls_store *store, vls_progress *progress, vls_finding_fn *fn,
                 void *arg, valise_error *err)
{
    const valise_env *env = vls_store_env(store);
    valise_check check = {.store = store, .progress = progress, .fn = fn, .arg = arg};
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    int rc = begin(&txn, &check, err);

    if (rc == 0) {
        vls_view_init(&view, &txn, env);
        check.txn = &txn;
        check.view = &view;
    }
    if (rc == 0)
        rc = vls_witness_new(&check.witness, env, err);
    if (rc == 0)
        rc = check_all(&check, err);
    vls_witness_free(check.witness);
    vls_view_release(&view);
    *out = check.result;
    return rc;
}
