/* read_log.c -- the ring of reads and refusals (read_log.h). */
#include "bus/read_log.h"

#include "base/str.h"
#include "base/utf8.h"
#include "bus/follow.h"

#define READ_LOG_ARENA_MAX ((size_t)4 << 20)

void vls_read_log_init(vls_read_log *log, valise *v)
{
    *log = (vls_read_log){.v = v, .waiting = VLS_VEC_INIT};
    (void)pthread_mutex_init(&log->lock, NULL);
    vls_arena_init(&log->arena, v->env, READ_LOG_ARENA_MAX);
}

/* ---- writing ---- */

typedef struct batch {
    vls_arena arena;
    vls_vec(vls_read_row) rows;
} batch;

/* Put the texts of a row into an arena. */
static int copy_texts(vls_read_row *row, vls_arena *arena, valise_error *err)
{
    valise_str *texts[] = {&row->actor, &row->type, &row->place};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < VLS_COUNT(texts); i++)
        rc = vls_arena_dup(texts[i], arena, *texts[i], err);
    return rc;
}

/* The highest number in the table, or 0. */
static int last_number(int64_t *out, vls_txn *txn, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(txn->store, VLS_TABLE_READ_LOG);
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

static int write_rows(void *arg, vls_txn *txn, valise_error *err)
{
    batch *b = arg;
    int64_t number;
    int rc = last_number(&number, txn, err);

    for (size_t i = 0; rc == 0 && i < b->rows.len; i++) {
        b->rows.ptr[i].number = ++number;
        rc = vls_own_put(txn, VLS_TABLE_READ_LOG, &b->rows.ptr[i], err);
    }
    return rc < 0 ? rc : trim(txn, number, b->rows.len, err);
}

/* What could not be written now waits again, in front of what came meanwhile. Lock held; false:
 * there is no memory for it. */
static bool take_back(vls_read_log *log, batch *b)
{
    for (size_t i = 0; i < log->waiting.len; i++) {
        vls_read_row row = log->waiting.ptr[i];
        if (copy_texts(&row, &b->arena, NULL) < 0 || !vls_vec_push(&b->rows, log->v->env, row))
            return false;
    }
    vls_vec_release(&log->waiting, log->v->env);
    vls_arena_release(&log->arena);
    log->arena = b->arena;
    memcpy(&log->waiting, &b->rows, sizeof(b->rows));
    return true;
}

/* Take what waits and write it outside the lock; `wait`: for others who write, or else it goes on
 * waiting while they do. What fails is forgotten. Lock held. */
static int write_waiting(vls_read_log *log, bool wait, valise_error *err)
{
    const valise_env *env = log->v->env;
    batch b;
    int rc = 0;

    if (log->waiting.len == 0 || log->writing)
        return 0;
    b.arena = log->arena;
    memcpy(&b.rows, &log->waiting, sizeof(b.rows));
    vls_arena_init(&log->arena, env, READ_LOG_ARENA_MAX);
    memset(&log->waiting, 0, sizeof(log->waiting));
    log->writing = true;
    (void)pthread_mutex_unlock(&log->lock);
    if (!vls_store_read_only(log->v->store))
        rc = wait ? vls_with_txn(log->v, write_rows, &b, err)
                  : vls_with_txn_now(log->v, write_rows, &b, err);
    (void)pthread_mutex_lock(&log->lock);
    log->writing = false;
    if (rc == VALISE_E_BUSY && take_back(log, &b))
        return rc;
    if (rc < 0)
        log->dropped += b.rows.len;
    vls_vec_release(&b.rows, env);
    vls_arena_release(&b.arena);
    return rc;
}

void vls_read_log_release(vls_read_log *log)
{
    if (!log->v)
        return;
    (void)pthread_mutex_lock(&log->lock);
    /* Nobody waits for others only to say that something was read. */
    (void)write_waiting(log, false, NULL);
    (void)pthread_mutex_unlock(&log->lock);
    vls_vec_release(&log->waiting, log->v->env);
    vls_arena_release(&log->arena);
    (void)pthread_mutex_destroy(&log->lock);
}

int vls_read_log_flush(valise *v, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    int rc;

    if (!feed)
        return 0;
    (void)pthread_mutex_lock(&feed->reads.lock);
    rc = write_waiting(&feed->reads, true, err);
    (void)pthread_mutex_unlock(&feed->reads.lock);
    return rc;
}

/* ---- adding ---- */

static bool keep(vls_read_log *log, const vls_read_row *row)
{
    vls_read_row copy = *row;
    valise_str *texts[] = {&copy.actor, &copy.type, &copy.place};

    if (log->waiting.len >= VLS_READ_LOG_WAITING)
        return false;
    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        valise_str cut = vls_utf8_head(*texts[i], VLS_READ_LOG_MAX_TEXT);
        if (vls_arena_dup(texts[i], &log->arena, cut, NULL) < 0)
            return false;
    }
    return vls_vec_push(&log->waiting, log->v->env, copy);
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
    if (!keep(log, &row))
        log->dropped++;
    /* Within a command there is a transaction open that this one would wait for. */
    if (log->waiting.len >= VLS_READ_LOG_BATCH && log->waiting.len % VLS_READ_LOG_BATCH == 0 &&
        !vls_group_is_leader(&v->group))
        (void)write_waiting(log, false, NULL);
    (void)pthread_mutex_unlock(&log->lock);
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
    for (size_t i = log->waiting.len; i-- > 0;) {
        vls_read_row row = log->waiting.ptr[i];
        int rc = copy_texts(&row, &out->arena, err);
        if (rc < 0)
            return rc;
        if (!vls_vec_push(&out->rows, log->v->env, row))
            return vls_fail_memory(err);
    }
    return 0;
}

int vls_read_log_waiting(valise *v, vls_read_log_fn *fn, void *arg, valise_error *err)
{
    vls_feed *feed = vls_feed_of(v);
    batch b = {.rows = VLS_VEC_INIT};
    int rc;

    if (!feed)
        return 0;
    vls_arena_init(&b.arena, v->env, READ_LOG_ARENA_MAX);
    (void)pthread_mutex_lock(&feed->reads.lock);
    rc = copy_waiting(&b, &feed->reads, err);
    (void)pthread_mutex_unlock(&feed->reads.lock);
    for (size_t i = 0; rc == 0 && i < b.rows.len; i++)
        rc = fn(arg, &b.rows.ptr[i], err);
    vls_vec_release(&b.rows, v->env);
    vls_arena_release(&b.arena);
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
