/* follow.c -- the index follows the log.
 *
 *     nothing, or another chain  ->  building   the rows of each kind by key, from where it stopped
 *     building is done           ->  following  the rows that entries changed since it began
 *
 * Both go in batches, each of which is one transaction of the index: who is killed loses the batch
 * he was at. Rows are looked up as the view sees them, which may be newer than the entry that names
 * them: a later entry then finds them done. Two processes may take turns: each reads how far it has
 * come when it has the lock.
 *
 * What is not in the log, the erasure of a frame, is found by the `erasure` row that is. */
#include "search/search.h"

#include "base/hex.h"
#include "base/str.h"
#include "field/row.h"
#include "kernel/kernel.h"
#include "store/log.h"

#define BATCH_ROWS 1000u
#define BATCH_ENTRIES 20000u
#define DOC_LAST ((INT64_C(1) << VLS_SEARCH_SEQ_SHIFT) - 1)

/* ---- state ---- */

/* arena: of `at`. */
static int get_state(vls_search_state *out, vls_search *s, vls_arena *arena, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_GET_STATE, err);

    if (rc == 0)
        rc = vls_search_step(s, stmt, err);
    *out = (vls_search_state){.there = rc > 0};
    if (rc > 0) {
        valise_str hash = vls_search_column(stmt, 1);
        out->seq = sqlite3_column_int64(stmt, 0);
        if (hash.len == sizeof(out->hash))
            memcpy(&out->hash, hash.ptr, hash.len);
        out->building = sqlite3_column_int64(stmt, 2);
        out->erased = sqlite3_column_int64(stmt, 4);
        out->there = hash.len == sizeof(out->hash) && out->building >= 0 &&
                     out->building <= VLS_SEARCH_KINDS;
        rc = vls_arena_dup(&out->at, arena, vls_search_column(stmt, 3), err);
    }
    if (stmt)
        (void)sqlite3_reset(stmt);
    return vls_settle(rc);
}

static int put_state(vls_search *s, const vls_search_state *state, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_PUT_STATE, err);

    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(stmt, 1, state->seq);
    vls_search_bind(stmt, 2, vls_str((const char *)&state->hash, sizeof(state->hash)), false);
    (void)sqlite3_bind_int64(stmt, 3, state->building);
    vls_search_bind(stmt, 4, state->at, false);
    (void)sqlite3_bind_int64(stmt, 5, state->erased);
    return vls_search_finish(s, stmt, err);
}

/* Is it of this log, as far as it has come? 1, or 0. */
static int fits(const vls_search_state *state, valise_view *view, valise_error *err)
{
    const vls_txn *txn = view->txn;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry = {0};
    int rc;

    if (!state->there || state->seq < txn->tip.base_seq || state->seq > txn->tip.seq ||
        state->erased > txn->meta.erased_seq)
        return 0;
    if (state->seq == txn->tip.seq)
        return vls_id_equal(&state->hash, &txn->tip.hash);
    if (state->seq == txn->tip.base_seq)
        return vls_id_equal(&state->hash, &txn->meta.base_hash);
    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_get(&entry, view->txn, state->seq, &arena, err);
    return rc <= 0 ? rc : vls_id_equal(&state->hash, &entry.hash);
}

/* Everything goes, and is to be built from what the view sees. */
static int restart(vls_search *s, valise_view *view, valise_error *err)
{
    static const char *const drops[] = {"DROP TABLE IF EXISTS fts", "DROP TABLE IF EXISTS doc",
                                        "DROP TABLE IF EXISTS state"};
    const vls_txn *txn = view->txn;
    const vls_search_state state = {
        .seq = txn->tip.seq, .hash = txn->tip.hash, .building = 0, .erased = txn->meta.erased_seq};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(drops); i++)
        rc = vls_search_exec(s, drops[i], err);
    if (rc == 0)
        rc = vls_search_make_tables(s, err);
    return rc < 0 ? rc : put_state(s, &state, err);
}

int vls_search_know_erasure(vls_search *s, valise_view *view, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_search_state state = {0};
    int rc;

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = get_state(&state, s, &arena, err);
    if (rc < 0 || !state.there)
        return rc;
    state.erased = VLS_MAX(state.erased, view->txn->meta.erased_seq);
    return put_state(s, &state, err);
}

/* ---- one row ---- */

int vls_search_drop(vls_search *s, int64_t doc, valise_error *err)
{
    sqlite3_stmt *get = NULL, *drop = NULL, *del = NULL;
    int rc = vls_search_stmt(&get, s, VLS_SEARCH_DOC_TEXT, err);

    if (rc == 0)
        rc = vls_search_stmt(&drop, s, VLS_SEARCH_FTS_DELETE, err);
    if (rc == 0)
        rc = vls_search_stmt(&del, s, VLS_SEARCH_DOC_DELETE, err);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(get, 1, doc);
    rc = vls_search_step(s, get, err);
    if (rc > 0) {
        (void)sqlite3_bind_int64(drop, 1, doc);
        for (int i = 0; i < 3; i++)
            vls_search_bind(drop, i + 2, vls_search_column(get, i), true);
        rc = vls_search_finish(s, drop, err);
    }
    (void)sqlite3_reset(get);
    (void)sqlite3_clear_bindings(drop);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(del, 1, doc);
    return vls_search_finish(s, del, err);
}

/* The next free id for a row of this entry. */
static int next_doc(int64_t *out, vls_search *s, int64_t seq, valise_error *err)
{
    int64_t first = seq << VLS_SEARCH_SEQ_SHIFT;
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_DOC_LAST, err);

    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(stmt, 1, first);
    (void)sqlite3_bind_int64(stmt, 2, first | DOC_LAST);
    rc = vls_search_step(s, stmt, err);
    if (rc > 0) {
        bool none = sqlite3_column_type(stmt, 0) == SQLITE_NULL;
        int64_t last = sqlite3_column_int64(stmt, 0);
        *out = none ? first : (last | 1023) + 1;
        rc = *out >> VLS_SEARCH_SEQ_SHIFT == seq
                 ? 0
                 : vls_fail(err, VALISE_E_LIMIT, "entry %lld changed too many rows to search in",
                            (long long)seq);
    }
    (void)sqlite3_reset(stmt);
    return rc;
}

static void bind_int_or_none(sqlite3_stmt *stmt, int number, int64_t value)
{
    if (value != VALISE_NONE)
        (void)sqlite3_bind_int64(stmt, number, value);
}

static int add_doc(vls_search *s, int kind, valise_str key, const vls_search_row *row,
                   valise_str text, valise_error *err)
{
    sqlite3_stmt *put = NULL, *fts = NULL;
    int64_t doc = 0;
    size_t tokens = vls_search_count_words(&s->words, text) +
                    vls_search_count_words(&s->words, row->name) +
                    vls_search_count_words(&s->words, row->topics);
    int rc = next_doc(&doc, s, row->seq, err);

    doc |= vls_search_length(tokens) << 2 | kind;
    if (rc == 0)
        rc = vls_search_stmt(&put, s, VLS_SEARCH_DOC_PUT, err);
    if (rc == 0)
        rc = vls_search_stmt(&fts, s, VLS_SEARCH_FTS_PUT, err);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(put, 1, doc);
    (void)sqlite3_bind_int64(put, 2, kind);
    vls_search_bind(put, 3, key, false);
    vls_search_bind(put, 4, vls_str((const char *)&row->object, sizeof(row->object)), false);
    if (kind == VLS_SEARCH_FRAME)
        vls_search_bind(put, 5, vls_str((const char *)&row->frame, sizeof(row->frame)), false);
    bind_int_or_none(put, 6, row->time);
    bind_int_or_none(put, 7, row->expires);
    vls_search_bind(put, 8, row->name, true);
    vls_search_bind(put, 9, row->topics, true);
    vls_search_bind(put, 10, text, true);
    rc = vls_search_finish(s, put, err);
    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(fts, 1, doc);
    vls_search_bind(fts, 2, text, true);
    vls_search_bind(fts, 3, row->name, true);
    vls_search_bind(fts, 4, row->topics, true);
    return vls_search_finish(s, fts, err);
}

/* ---- a batch ---- */

typedef struct item {
    int kind;
    valise_str key; /* ordered encoding */
    int64_t seq;    /* of the row that is to be added */
} item;

typedef struct batch {
    vls_search *s;
    valise_view *view;
    vls_arena arena;        /* of keys and arrays */
    vls_vec(item) items;    /* rows that may have changed */
    vls_vec(int64_t) drops; /* of docs */
    vls_vec(item *) adds;
    vls_buf text;
} batch;

static int note(batch *b, int kind, valise_str key, valise_error *err)
{
    item it = {.kind = kind};
    int rc = vls_arena_dup(&it.key, &b->arena, key, err);

    if (rc == 0 && !vls_vec_push_in(&b->items, &b->arena, it))
        rc = vls_arena_fail(&b->arena, err);
    return rc;
}

static int note_drop(batch *b, int64_t doc, valise_error *err)
{
    return vls_vec_push_in(&b->drops, &b->arena, doc) ? 0 : vls_arena_fail(&b->arena, err);
}

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : vls_str_compare(x->key, y->key);
}

static int by_seq(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;

    return x->seq != y->seq ? (x->seq < y->seq ? -1 : 1) : by_key(x, y);
}

/* What the index has of the row: 1 and its doc, or 0. */
static int find_doc(int64_t *doc, valise_id *object, vls_search *s, const item *it,
                    valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_DOC_BY_KEY, err);

    if (rc < 0)
        return rc;
    (void)sqlite3_bind_int64(stmt, 1, it->kind);
    vls_search_bind(stmt, 2, it->key, false);
    rc = vls_search_step(s, stmt, err);
    if (rc > 0) {
        *doc = sqlite3_column_int64(stmt, 0);
        *object = vls_search_id(stmt, 1);
    }
    (void)sqlite3_reset(stmt);
    return rc;
}

static int look_up(vls_search_row *row, batch *b, const item *it, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(b->view->txn->store, vls_search_coll(it->kind));
    valise_cell key[VALISE_MAX_COLUMNS] = {{0}};
    int rc = vls_key_read(key, coll->key_count, it->key, &b->view->arena, err);

    return rc < 0 ? rc : vls_search_look(row, b->view, it->kind, key, err);
}

/* What is to be done about it? */
static int judge(batch *b, item *it, valise_error *err)
{
    vls_search_row row = {0};
    valise_id object = {{0}};
    int64_t doc = 0;
    int had = find_doc(&doc, &object, b->s, it, err);
    int rc = had < 0 ? had : look_up(&row, b, it, err);

    if (rc < 0 || (had > 0 && rc > 0 && doc >> VLS_SEARCH_SEQ_SHIFT == row.seq &&
                   vls_id_equal(&object, &row.object)))
        return vls_settle(rc);
    it->seq = rc > 0 ? row.seq : 0;
    if (rc > 0 && !vls_vec_push_in(&b->adds, &b->arena, it))
        return vls_arena_fail(&b->arena, err);
    return had > 0 ? note_drop(b, doc, err) : 0;
}

static int add(batch *b, const item *it, valise_error *err)
{
    vls_search_row row = {0};
    int rc = look_up(&row, b, it, err);

    vls_buf_clear(&b->text);
    if (rc > 0) {
        rc = vls_search_text(&b->text, b->view, &row, err);
        if (rc == 0 && (b->text.len > 0 || row.name.len > 0))
            rc = add_doc(b->s, it->kind, it->key, &row, vls_buf_str(&b->text), err);
    }
    return rc;
}

/* FTS5 writes a segment whenever ids do not rise: first all that goes, then all that comes, each in
 * order. */
static int work_off(batch *b, valise_error *err)
{
    int rc = 0;

    if (b->items.len > 0)
        qsort(b->items.ptr, b->items.len, sizeof(*b->items.ptr), by_key);
    for (size_t i = 0; rc == 0 && i < b->items.len; i++) {
        vls_view_mark mark = vls_view_here(b->view);
        if (i == 0 || by_key(&b->items.ptr[i - 1], &b->items.ptr[i]) != 0)
            rc = judge(b, &b->items.ptr[i], err);
        vls_view_rewind(b->view, mark);
    }
    if (b->drops.len > 0)
        qsort(b->drops.ptr, b->drops.len, sizeof(*b->drops.ptr), vls_i64_order);
    if (b->adds.len > 0)
        qsort(b->adds.ptr, b->adds.len, sizeof(*b->adds.ptr), by_seq);
    for (size_t i = 0; rc == 0 && i < b->drops.len; i++)
        rc = vls_search_drop(b->s, b->drops.ptr[i], err);
    for (size_t i = 0; rc == 0 && i < b->adds.len; i++) {
        vls_view_mark mark = vls_view_here(b->view);
        rc = add(b, b->adds.ptr[i], err);
        vls_view_rewind(b->view, mark);
    }
    return rc;
}

/* ---- building ---- */

static int gather_rows(batch *b, vls_search_state *state, valise_error *err)
{
    const valise_coll *desc = vls_search_coll((int)state->building);
    const vls_coll *coll = vls_store_coll(b->view->txn->store, desc);
    valise_cell from[VALISE_MAX_COLUMNS] = {{0}};
    valise_range range = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    valise_scan *scan = NULL;
    const valise_cell *row = NULL;
    size_t before = b->items.len;
    int rc = 0;

    vls_buf_init(&key, b->view->arena.env, VLS_CHANGES_MAX);
    if (state->at.len > 0) {
        rc = vls_key_read(from, coll->key_count, state->at, &b->arena, err);
        range.from = from;
        range.from_count = coll->key_count;
        range.flags = VALISE_SCAN_AFTER;
    }
    range.index = -1;
    if (rc == 0)
        rc = vls_view_scan(&scan, b->view, coll, &range, err);
    while (rc == 0 && b->items.len - before < BATCH_ROWS &&
           (rc = vls_scan_next_cells(&row, NULL, scan, err)) > 0) {
        vls_buf_clear(&key);
        vls_key_write(&key, row, coll->key_count);
        rc = vls_buf_check(&key, err);
        if (rc == 0)
            rc = note(b, (int)state->building, vls_buf_str(&key), err);
    }
    valise_scan_close(scan);
    if (rc < 0)
        return rc;
    if (b->items.len - before == BATCH_ROWS) {
        state->at = b->items.ptr[b->items.len - 1].key;
    } else {
        state->building++;
        state->at = VLS_STR("");
    }
    return 0;
}

/* ---- following ---- */

/* An erasure: of a frame no other row tells. */
static int note_erasure(batch *b, const vls_coll *coll, valise_str key, valise_error *err)
{
    const valise_str begin = VLS_STR("frame/");
    valise_cell cells[VALISE_MAX_COLUMNS] = {{0}};
    vls_erasure erasure = {0};
    sqlite3_stmt *stmt = NULL;
    valise_id id = {{0}};
    int rc = vls_key_read(cells, coll->key_count, key, &b->arena, err);

    if (rc == 0)
        rc = vls_row_from_cells(&erasure, coll->desc->fields, coll->desc->row_size, cells,
                                coll->key_count, &b->arena, err);
    if (rc < 0 || !vls_str_starts(erasure.place, begin) ||
        vls_id_parse(&id, vls_str_from(erasure.place, begin.len), NULL) < 0)
        return rc;
    rc = vls_search_stmt(&stmt, b->s, VLS_SEARCH_DOC_OF_FRAME, err);
    if (rc < 0)
        return rc;
    vls_search_bind(stmt, 1, vls_str((const char *)&id, sizeof(id)), false);
    while (rc >= 0 && (rc = vls_search_step(b->s, stmt, err)) > 0)
        rc = note_drop(b, sqlite3_column_int64(stmt, 0), err);
    (void)sqlite3_reset(stmt);
    return rc;
}

static int note_changes(batch *b, valise_str changes, valise_error *err)
{
    vls_store *store = b->view->txn->store;
    const vls_coll *erasures = vls_store_coll(store, &vls_erasures);
    vls_image image = {0};
    size_t at = 0;
    int rc;

    while ((rc = vls_changes_next(&image, &at, changes, err)) > 0) {
        rc = 0;
        if (image.coll == erasures->number)
            rc = note_erasure(b, erasures, image.key, err);
        for (int kind = 0; rc == 0 && kind < VLS_SEARCH_KINDS; kind++) {
            if (image.coll == vls_store_coll(store, vls_search_coll(kind))->number)
                rc = note(b, kind, image.key, err);
        }
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int gather_changes(batch *b, vls_search_state *state, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    vls_entry entry = {0};
    unsigned entries = 0;
    int rc;

    vls_arena_init(&arena, b->view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_log_scan_open(&scan, b->view->txn, state->seq + 1, false, err);
    while (rc >= 0 && b->items.len < BATCH_ROWS && entries++ < BATCH_ENTRIES &&
           (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = note_changes(b, entry.changes, err);
        state->seq = entry.seq;
        state->hash = entry.hash;
        vls_arena_reset(&arena);
    }
    state->erased = VLS_MAX(state->erased, b->view->txn->meta.erased_seq);
    return vls_settle(rc);
}

/* ---- all of it ---- */

static int run_batch(batch *b, vls_search_state *state, valise_error *err)
{
    int rc = state->building < VLS_SEARCH_KINDS ? gather_rows(b, state, err)
                                                : gather_changes(b, state, err);

    if (rc == 0)
        rc = work_off(b, err);
    return rc < 0 ? rc : put_state(b->s, state, err);
}

static bool is_ahead(const vls_search_state *state, const vls_txn *txn)
{
    return state->there && (state->seq > txn->tip.seq || state->erased > txn->meta.erased_seq);
}

/* With the lock of the index: is it one to go on with? 0: it is now; 1: the view is too old. Where
 * it is ahead of a view that began after that was seen, the log has lost its end. */
static int settle(vls_search_state *state, batch *b, vls_search_state *ahead, valise_error *err)
{
    const vls_txn *txn = b->view->txn;
    bool lost;
    int rc = get_state(state, b->s, &b->arena, err);

    if (rc < 0)
        return rc;
    lost = ahead->there && state->seq <= ahead->seq && state->erased <= ahead->erased;
    if (is_ahead(state, txn) && !lost) {
        *ahead = *state;
        ahead->at = VLS_STR("");
        return 1;
    }
    rc = fits(state, b->view, err);
    if (rc != 0)
        return vls_settle(rc);
    rc = restart(b->s, b->view, err);
    return rc < 0 ? rc : get_state(state, b->s, &b->arena, err);
}

/* One batch: 0 and whether there is more; 1: the view is too old. */
static int step(bool *more, vls_search *s, valise_view *view, vls_search_state *ahead,
                valise_error *err)
{
    batch b = {.s = s, .view = view};
    vls_search_state state = {0};
    int rc;

    vls_arena_init(&b.arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_buf_init(&b.text, view->arena.env, VLS_SEARCH_TEXT_MAX + 16);
    rc = vls_search_run(s, VLS_SEARCH_BEGIN_WRITE, err);
    if (rc == 0)
        rc = settle(&state, &b, ahead, err);
    if (rc == 0)
        rc = run_batch(&b, &state, err);
    if (rc == 0)
        rc = vls_search_run(s, VLS_SEARCH_COMMIT, err);
    if (rc != 0)
        vls_search_end(s);
    *more = rc == 0 && (state.building < VLS_SEARCH_KINDS || state.seq < view->txn->tip.seq);
    vls_buf_release(&b.text);
    vls_arena_release(&b.arena);
    return rc;
}

int vls_search_is_current(vls_search *s, valise_view *view, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const vls_txn *txn = view->txn;
    vls_search_state state = {0};
    int rc;

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = get_state(&state, s, &arena, err);
    return rc < 0 ? rc
                  : state.there && state.building == VLS_SEARCH_KINDS &&
                        state.seq == txn->tip.seq && vls_id_equal(&state.hash, &txn->tip.hash) &&
                        state.erased == txn->meta.erased_seq;
}

int vls_search_follow(vls_search *s, valise_view *view, vls_search_state *ahead, valise_error *err)
{
    bool more = true;
    int rc = vls_search_is_current(s, view, err);

    if (rc != 0)
        return vls_settle(rc);
    while (rc == 0 && more)
        rc = step(&more, s, view, ahead, err);
    return rc;
}
