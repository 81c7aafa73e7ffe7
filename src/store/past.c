/* past.c -- rows as they were after an earlier entry.
 *
 * A row knows the entry that made it (from_seq), and that entry holds the row as it was before,
 * which knows the entry that made it, and so on. So one row of the past is found by following that
 * chain back, at a cost that goes with its own changes since. A scan reads all entries since
 * instead and remembers the first image of each key.
 *
 *     now        from_seq 90                    at = 50:  90 > 50, look into entry 90
 *     entry 90   image: from_seq 60             60 > 50, look into entry 60
 *     entry 60   image: from_seq 12             12 <= 50: this is the row
 *
 * An image that says "there was no row" names the entry that deleted the one before it, so that
 * the chain goes on past a deletion.
 *
 * Rows of QUIET collections never change: they exist from the seq that made them until they expire,
 * and then they are gone from all states. What entries list of them is not looked at here. */
#include "base/str.h"
#include "store/own.h"
#include "store/view.h"

static int fail_missing(int64_t seq, const vls_coll *coll, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT,
                    "log entry %lld does not say what it changed in collection %s", (long long)seq,
                    coll->desc->name);
}

/* The cells of an image, in the arena. */
static int see_image(vls_seen *out, vls_arena *arena, const vls_coll *coll, const vls_image *image,
                     valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    valise_cell *copy;
    int rc;

    *out = (vls_seen){.from_seq = image->from_seq, .gone_seq = image->gone_seq};
    if (image->from_seq == 0)
        return 0;
    rc = vls_image_cells(cells, coll, image, err);
    if (rc == 0)
        rc = vls_cells_copy(&copy, cells, coll->field_count, arena, err);
    if (rc == 0)
        out->row = copy;
    return rc;
}

/* What stood under the key before entry seq. */
static int see_before(vls_seen *out, valise_view *view, vls_arena *keep, const vls_coll *coll,
                      valise_str key, int64_t seq, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    vls_image image;
    size_t at = 0;
    int rc;

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_get(&entry, view->txn, seq, &arena, err);
    if (rc == 0)
        return fail_missing(seq, coll, err);
    while (rc >= 0 && (rc = vls_changes_next(&image, &at, entry.changes, err)) > 0) {
        if (image.coll == coll->number && vls_str_equal(image.key, key))
            return see_image(out, keep, coll, &image, err);
    }
    return rc < 0 ? rc : fail_missing(seq, coll, err);
}

/* The row as it is now, or the entry that deleted it. */
static int see_now(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *cells,
                   valise_str key, valise_error *err)
{
    vls_gone gone = {.coll = coll->number, .key = key};
    int rc = vls_view_see_now(out, view, coll, cells, err);

    if (rc < 0 || out->row)
        return rc;
    rc = vls_own_get(&gone, view->txn, VLS_TABLE_GONE, &view->arena, err);
    if (rc > 0)
        out->gone_seq = gone.seq;
    return rc < 0 ? rc : 0;
}

/* The entry that made what is seen, a row or its absence. */
static int64_t made_by(const vls_seen *seen)
{
    return seen->row ? seen->from_seq : seen->gone_seq;
}

/* Remember what stood under the key. */
static int keep(valise_view *view, const vls_coll *coll, valise_str key, const vls_seen *seen,
                valise_error *err)
{
    vls_overlay_row *row = NULL;
    int rc = vls_overlay_add(&row, &view->past, &view->arena, coll, key, err);

    if (rc < 0)
        return rc;
    assert(row);
    row->row = seen->row;
    row->from_seq = seen->from_seq;
    row->gone_seq = seen->gone_seq;
    return 0;
}

int vls_past_see(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *cells,
                 valise_str key, valise_error *err)
{
    const vls_overlay_row *known = vls_overlay_get(&view->past, coll, key);
    vls_seen seen = {0};
    int rc;

    if (known) {
        *out = (vls_seen){known->row, known->from_seq, known->gone_seq};
        return 0;
    }
    rc = see_now(&seen, view, coll, cells, key, err);
    if (rc == 0 && vls_coll_is_quiet(coll) && seen.from_seq > view->at)
        seen = (vls_seen){0};
    while (rc == 0 && made_by(&seen) > view->at) {
        int64_t seq = made_by(&seen);
        rc = see_before(&seen, view, &view->arena, coll, key, seq, err);
        if (rc == 0 && made_by(&seen) >= seq)
            return fail_missing(seq, coll, err); /* a chain that does not go back */
    }
    if (rc == 0)
        rc = keep(view, coll, key, &seen, err);
    if (rc == 0)
        *out = seen;
    return rc;
}

/* Take the images of one entry over, where no earlier entry had one for the same key. */
static int add_images(valise_view *view, valise_str changes, valise_error *err)
{
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, changes, err)) > 0) {
        const vls_coll *coll = vls_store_coll_at(view->txn->store, image.coll);
        vls_seen seen = {0};
        if (!coll || coll->own)
            return vls_fail(err, VALISE_E_CORRUPT, "the log speaks of a collection number %u",
                            (unsigned)image.coll);
        if (vls_coll_is_quiet(coll) || vls_overlay_get(&view->past, coll, image.key))
            continue;
        rc = see_image(&seen, &view->arena, coll, &image, err);
        if (rc == 0)
            rc = keep(view, coll, image.key, &seen, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

int vls_past_build(valise_view *view, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    vls_entry entry;
    int rc;

    if (view->past_built || view->at == view->txn->tip.seq)
        return 0;
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, view->txn, view->at + 1, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = add_images(view, entry.changes, err);
        vls_arena_reset(&arena);
    }
    if (rc < 0)
        return rc;
    view->past_built = true;
    return 0;
}

/* ---- what became of rows ---- */

/* The key of a struct. */
static int key_of(valise_cell *cells, vls_buf *key, valise_view *view, const vls_coll *coll,
                  const void *row, valise_error *err)
{
    for (uint16_t i = 0; i < coll->key_count; i++) {
        int rc = vls_field_to_cell(&cells[i], row, &coll->desc->fields[i], &view->arena, err);
        if (rc < 0)
            return rc;
    }
    vls_key_write(key, cells, coll->key_count);
    return vls_buf_check(key, err);
}

/* gone: fn is told of deletions too, with *there false. */
typedef struct telling {
    void *row;
    vls_version_fn *fn;
    void *arg;
    bool gone;
    bool *there;
} telling;

static int tell_version(const telling *tell, const vls_seen *seen, int64_t seq,
                        const vls_coll *coll, vls_arena *arena, valise_error *err)
{
    const valise_coll *desc = coll->desc;
    int rc = 0;

    if (!seen->row && !tell->gone)
        return 0;
    if (tell->there)
        *tell->there = seen->row != NULL;
    if (seen->row)
        rc = vls_row_from_cells(tell->row, desc->fields, desc->row_size, seen->row,
                                coll->field_count, arena, err);
    return rc < 0 ? rc : tell->fn(tell->arg, seq, err);
}

static int each_version(const telling *tell, valise_view *view, const valise_coll *desc,
                        valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    vls_seen seen = {0};
    int rc;

    assert(!vls_coll_is_quiet(coll));
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&key, view->arena.env, VLS_CHANGES_MAX);
    rc = key_of(cells, &key, view, coll, tell->row, err);
    if (rc == 0)
        rc = see_now(&seen, view, coll, cells, vls_buf_str(&key), err);
    while (rc == 0 && made_by(&seen) > 0) {
        int64_t seq = made_by(&seen);
        if (seq <= view->at)
            rc = tell_version(tell, &seen, seq, coll, &arena, err);
        if (rc != 0 || seq <= view->txn->tip.base_seq)
            return rc;
        vls_arena_reset(&arena);
        rc = see_before(&seen, view, &arena, coll, vls_buf_str(&key), seq, err);
        if (rc == 0 && made_by(&seen) >= seq)
            return fail_missing(seq, coll, err); /* a chain that does not go back */
    }
    return rc;
}

int vls_view_each_version(void *row, valise_view *view, const valise_coll *desc, vls_version_fn *fn,
                          void *arg, valise_error *err)
{
    const telling tell = {.row = row, .fn = fn, .arg = arg};

    return each_version(&tell, view, desc, err);
}

int vls_view_each_change(void *row, bool *there, valise_view *view, const valise_coll *desc,
                         vls_version_fn *fn, void *arg, valise_error *err)
{
    const telling tell = {.row = row, .fn = fn, .arg = arg, .gone = true, .there = there};

    return each_version(&tell, view, desc, err);
}

static int tell_changed(void *row, const vls_coll *coll, valise_str changes, int64_t seq,
                        vls_arena *arena, vls_version_fn *fn, void *arg, valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    const valise_coll *desc = coll->desc;
    vls_image image;
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, changes, err)) > 0) {
        if (image.coll != coll->number)
            continue;
        rc = vls_key_read(cells, coll->key_count, image.key, arena, err);
        if (rc == 0)
            rc = vls_row_from_cells(row, desc->fields, desc->row_size, cells, coll->key_count,
                                    arena, err);
        if (rc == 0)
            rc = fn(arg, seq, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}

int vls_view_each_changed(void *row, valise_view *view, const valise_coll *desc, int64_t from,
                          int64_t to, vls_version_fn *fn, void *arg, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    vls_entry entry;
    int rc;

    if (from < view->txn->tip.base_seq)
        return vls_fail(err, VALISE_E_LIMIT, "the log no longer reaches back to seq %lld",
                        (long long)from);
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, view->txn, from + 1, false, err);
    while (rc >= 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0 && entry.seq <= to) {
        rc = tell_changed(row, coll, entry.changes, entry.seq, &arena, fn, arg, err);
        vls_arena_reset(&arena);
        if (rc != 0)
            return rc;
    }
    return vls_settle(rc);
}
