/* read_log.c -- the ring of reads and refusals (read_log.h). */
#include "bus/read_log.h"

#include "base/str.h"
#include "base/utf8.h"
#include "bus/follow.h"

#define READ_LOG_ARENA_MAX ((size_t)8 << 20) /* of what waits, and of structs made of it */
#define LAST_PATIENCE_NS VLS_NS_PER_SECOND
#define LAST_PAUSE_NS (VLS_NS_PER_SECOND / 1000)
#define LAST_PAUSE_MOST_NS (VLS_NS_PER_SECOND / 50)

typedef vls_read_batch batch;

static void init_batch(batch *b, const valise_env *env)
{
    *b = (batch){.rows = VLS_VEC_INIT, .extra = VLS_VEC_INIT};
    vls_arena_init(&b->arena, env, READ_LOG_ARENA_MAX);
}

static void release_batch(batch *b, const valise_env *env)
{
    vls_vec_release(&b->rows, env);
    vls_vec_release(&b->extra, env);
    vls_arena_release(&b->arena);
}

static size_t count_of(const batch *b)
{
    return b->rows.len + b->extra.len;
}

void vls_read_log_init(vls_read_log *log, valise *v)
{
    *log = (vls_read_log){.v = v};
    (void)pthread_mutex_init(&log->lock, NULL);
    init_batch(&log->waiting, v->env);
}

/* A row and its texts, at the end of the batch. */
static int copy_row(batch *out, const valise_env *env, const vls_read_row *row, valise_error *err)
{
    vls_read_row copy = *row;
    valise_str *texts[] = {&copy.actor, &copy.type, &copy.place};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(texts); i++) {
        valise_str cut = vls_utf8_head(*texts[i], VLS_READ_LOG_MAX_TEXT);
        rc = vls_arena_dup(texts[i], &out->arena, cut, err);
    }
    if (rc == 0 && !vls_vec_push(&out->rows, env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

static int copy_extra(batch *out, const valise_env *env, const valise_coll *coll,
                      const valise_cell *cells, valise_error *err)
{
    vls_read_extra copy = {.coll = coll};
    int rc = vls_cells_copy(&copy.cells, cells, vls_fields_count(coll->fields), &out->arena, err);

    if (rc == 0 && !vls_vec_push(&out->extra, env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

/* ---- writing ---- */

/* The highest number in the table, or 0. */
static int last_number(int64_t *out, vls_txn *txn, const vls_coll *coll, valise_error *err)
{
    const valise_range range = {.index = -1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS] = {{0}};
    int rc = vls_txn_scan_open(&scan, txn, coll, range, err);

    *out = 0;
    if (rc == 0)
        rc = vls_txn_scan_next(row, &scan, err);
    if (rc > 0)
        *out = row[0].as.integer;
    return rc < 0 ? rc : 0;
}

/* Take away what is older than the ring is long. Numbers have no holes but at the old end. */
static int trim(vls_txn *txn, int64_t last, size_t added, valise_error *err)
{
    for (int64_t n = last - VLS_READ_LOG_MAX - (int64_t)added + 1; n <= last - VLS_READ_LOG_MAX;
         n++) {
        const vls_read_row row = {.number = n};
        int rc = n > 0 ? vls_own_del(txn, VLS_TABLE_READ_LOG, &row, err) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The same for the ring of an area. */
static int trim_extra(vls_txn *txn, const vls_coll *coll, int64_t number, valise_error *err)
{
    const valise_cell key = {.type = VALISE_CELL_INT, .as.integer = number - VLS_READ_LOG_MAX};
    int rc = key.as.integer > 0 ? vls_txn_del(txn, coll, &key, err) : 0;

    return rc < 0 ? rc : 0;
}

static int write_extra(batch *b, vls_txn *txn, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < b->extra.len; i++) {
        const vls_coll *coll = vls_store_coll(txn->store, b->extra.ptr[i].coll);
        valise_cell *cells = b->extra.ptr[i].cells;
        int64_t number;
        rc = last_number(&number, txn, coll, err);
        if (rc < 0)
            break;
        cells[0] = (valise_cell){.type = VALISE_CELL_INT, .as.integer = number + 1};
        rc = vls_txn_put(txn, coll, cells, 0, err);
        if (rc == 0)
            rc = trim_extra(txn, coll, number + 1, err);
    }
    return rc;
}

static int write_rows(void *arg, vls_txn *txn, valise_error *err)
{
    batch *b = arg;
    int64_t number;
    int rc = last_number(&number, txn, vls_store_coll_at(txn->store, VLS_TABLE_READ_LOG), err);

    for (size_t i = 0; rc == 0 && i < b->rows.len; i++) {
        b->rows.ptr[i].number = ++number;
        rc = vls_own_put(txn, VLS_TABLE_READ_LOG, &b->rows.ptr[i], err);
    }
    if (rc == 0)
        rc = trim(txn, number, b->rows.len, err);
    return rc < 0 ? rc : write_extra(b, txn, err);
}

/* What could not be written now waits again, in front of what came meanwhile. Lock held; false:
 * there is no memory for it. */
static bool take_back(vls_read_log *log, batch *b)
{
    const valise_env *env = log->v->env;
    const batch *late = &log->waiting;

    for (size_t i = 0; i < late->rows.len; i++) {
        if (copy_row(b, env, &late->rows.ptr[i], NULL) < 0)
            return false;
    }
    for (size_t i = 0; i < late->extra.len; i++) {
        if (copy_extra(b, env, late->extra.ptr[i].coll, late->extra.ptr[i].cells, NULL) < 0)
            return false;
    }
    release_batch(&log->waiting, env);
    log->waiting = *b;
    return true;
}

/* Take what waits and write it outside the lock; while others write it goes on waiting. What fails
 * is forgotten. Lock held. */
static int write_waiting(vls_read_log *log, valise_error *err)
{
    const valise_env *env = log->v->env;
    batch b = log->waiting;
    size_t count = count_of(&b);
    int rc = 0;

    if (count == 0 || log->writing)
        return 0;
    init_batch(&log->waiting, env);
    log->writing = true;
    (void)pthread_mutex_unlock(&log->lock);
    if (!vls_store_read_only(log->v->store))
        rc = vls_with_lazy_txn(log->v, write_rows, &b, err);
    (void)pthread_mutex_lock(&log->lock);
    log->writing = false;
    if (rc == VALISE_E_BUSY && take_back(log, &b))
        return rc;
    if (rc < 0)
        log->dropped += count;
    release_batch(&b, env);
    return rc;
}

/* Who writes mostly takes milliseconds: worth waiting for, as long as nobody holds us up for good.
 */
static void write_last(vls_read_log *log)
{
    int64_t pause_ns = LAST_PAUSE_NS;
    int rc = write_waiting(log, NULL);

    for (int64_t left_ns = LAST_PATIENCE_NS; rc == VALISE_E_BUSY && left_ns > 0;
         left_ns -= pause_ns) {
        (void)nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = VLS_MIN(2 * pause_ns, LAST_PAUSE_MOST_NS);
        rc = write_waiting(log, NULL);
    }
}

void vls_read_log_release(vls_read_log *log)
{
    if (!log->v)
        return;
    (void)pthread_mutex_lock(&log->lock);
    write_last(log);
    (void)pthread_mutex_unlock(&log->lock);
    release_batch(&log->waiting, log->v->env);
    (void)pthread_mutex_destroy(&log->lock);
}

int vls_read_log_flush(valise *v, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    int rc;

    if (!feed)
        return 0;
    (void)pthread_mutex_lock(&feed->reads.lock);
    rc = write_waiting(&feed->reads, err);
    (void)pthread_mutex_unlock(&feed->reads.lock);
    return rc;
}

/* ---- adding ---- */

static bool has_room(const vls_read_log *log)
{
    return count_of(&log->waiting) < VLS_READ_LOG_WAITING;
}

/* Lock held. Within a command there is a transaction open that this one would wait for. While
 * others write, each further batch tries again. */
static void write_full(vls_read_log *log)
{
    size_t count = count_of(&log->waiting);

    if (count >= VLS_READ_LOG_BATCH && count % VLS_READ_LOG_BATCH == 0 &&
        !vls_bus_is_inside(log->v))
        (void)write_waiting(log, NULL);
}

void vls_read_log_add(valise *v, valise_str actor, valise_str op, valise_str place, int outcome)
{
    vls_feed *feed = vls_feed_of(v);
    vls_read_row row = {.actor = actor, .type = op, .place = place, .outcome = outcome};
    vls_read_log *log;

    if (!feed)
        return;
    log = &feed->reads;
    row.time = vls_clock_now_ns(&v->clock);
    (void)pthread_mutex_lock(&log->lock);
    if (!has_room(log) || copy_row(&log->waiting, v->env, &row, NULL) < 0)
        log->dropped++;
    write_full(log);
    (void)pthread_mutex_unlock(&log->lock);
}

static bool keep_extra(vls_read_log *log, const valise_coll *coll, const void *row)
{
    valise_cell cells[VALISE_MAX_COLUMNS];

    return has_room(log) &&
           vls_row_to_cells(cells, row, coll->fields, &log->waiting.arena, NULL) == 0 &&
           copy_extra(&log->waiting, log->v->env, coll, cells, NULL) == 0;
}

void vls_read_log_put(valise *v, const valise_coll *coll, const void *row)
{
    vls_feed *feed = vls_feed_of(v);

    if (!feed)
        return;
    (void)pthread_mutex_lock(&feed->reads.lock);
    if (!keep_extra(&feed->reads, coll, row))
        feed->reads.dropped++;
    write_full(&feed->reads);
    (void)pthread_mutex_unlock(&feed->reads.lock);
}

void vls_read_log_refuse(valise *v, valise_str actor, const valise_op *op)
{
    valise_event event = {.size = sizeof(event), .type = VLS_STR("access:denied")};
    VLS_AUTO(buf) vls_buf payload = {0};

    if (!vls_feed_of(v))
        return;
    vls_read_log_add(v, actor, valise_str_of(op->name), VLS_STR(""), VALISE_E_DENIED);
    vls_buf_init(&payload, v->env, 4096);
    vls_buf_add_text(&payload, "{\"operation\":");
    vls_json_write_string(&payload, valise_str_of(op->name));
    vls_buf_add_text(&payload, "}");
    event.payload = vls_buf_str(&payload);
    /* Who listens may be short of memory; the refusal stands. */
    if (vls_buf_check(&payload, NULL) == 0)
        (void)valise_publish(v, actor, &event, NULL);
}

/* ---- reading ---- */

/* Copied first: fn may come back to us. */
static int copy_waiting(batch *out, vls_read_log *log, valise_error *err)
{
    int rc = 0;

    for (size_t i = log->waiting.rows.len; rc == 0 && i-- > 0;)
        rc = copy_row(out, log->v->env, &log->waiting.rows.ptr[i], err);
    return rc;
}

int vls_read_log_waiting(valise *v, vls_read_log_fn *fn, void *arg, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    batch b;
    int rc;

    if (!feed)
        return 0;
    init_batch(&b, v->env);
    (void)pthread_mutex_lock(&feed->reads.lock);
    rc = copy_waiting(&b, &feed->reads, err);
    (void)pthread_mutex_unlock(&feed->reads.lock);
    for (size_t i = 0; rc == 0 && i < b.rows.len; i++)
        rc = fn(arg, &b.rows.ptr[i], err);
    release_batch(&b, v->env);
    return rc;
}

/* The same for the ring of an area. */
static int copy_waiting_extra(batch *out, vls_read_log *log, const valise_coll *coll,
                              valise_error *err)
{
    int rc = 0;

    for (size_t i = log->waiting.extra.len; rc == 0 && i-- > 0;) {
        const vls_read_extra *extra = &log->waiting.extra.ptr[i];
        if (extra->coll == coll)
            rc = copy_extra(out, log->v->env, coll, extra->cells, err);
    }
    return rc;
}

static int tell_extra(batch *b, const valise_coll *coll, vls_read_log_row_fn *fn, void *arg,
                      valise_error *err)
{
    void *row = vls_arena_zalloc(&b->arena, coll->row_size);
    int rc = 0;

    if (!row)
        return vls_arena_fail(&b->arena, err);
    for (size_t i = 0; rc == 0 && i < b->extra.len; i++) {
        rc = vls_row_from_cells(row, coll->fields, coll->row_size, b->extra.ptr[i].cells,
                                vls_fields_count(coll->fields), &b->arena, err);
        if (rc == 0)
            rc = fn(arg, row, err);
    }
    return rc;
}

int vls_read_log_rows(valise *v, const valise_coll *coll, vls_read_log_row_fn *fn, void *arg,
                      valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    batch b;
    int rc;

    if (!feed)
        return 0;
    init_batch(&b, v->env);
    (void)pthread_mutex_lock(&feed->reads.lock);
    rc = copy_waiting_extra(&b, &feed->reads, coll, err);
    (void)pthread_mutex_unlock(&feed->reads.lock);
    if (rc == 0)
        rc = tell_extra(&b, coll, fn, arg, err);
    release_batch(&b, v->env);
    return rc;
}

int vls_read_log_each(vls_txn *txn, vls_read_log_fn *fn, void *arg, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(txn->store, VLS_TABLE_READ_LOG);
    const valise_range range = {.index = -1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, txn, coll, range, err);

    vls_arena_init(&arena, vls_store_env(txn->store), READ_LOG_ARENA_MAX);
    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0) {
        vls_read_row row;
        vls_arena_reset(&arena);
        rc = vls_row_from_cells(&row, coll->desc->fields, coll->desc->row_size, cells,
                                coll->field_count, &arena, err);
        if (rc == 0)
            rc = fn(arg, &row, err);
        if (rc != 0)
            return rc;
    }
    return rc;
}
