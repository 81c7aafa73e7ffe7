/* gc.c -- see gc.h. */
#include "store/gc.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/objects.h"
#include "store/refs.h"

#define STEP 256u    /* rows that go in one transaction */
#define RECENT 4096u /* ids that were just marked; a power of two */

typedef vls_vec(int64_t) number_list;

typedef struct gc {
    vls_store *store;
    vls_progress *progress;
    int64_t grace, now;
    int64_t erased; /* when there was an erasure since the last gc; INT64_MIN: there was none */
    vls_txn txn;    /* of the step that goes on */
    vls_tip tip;    /* when objects were marked */
    vls_bits objects, chunks;
    number_list dead;  /* of the phase that goes on */
    valise_id *recent; /* the same id stands in many places */
    int64_t marked_to; /* objects whose chunks are marked */
    vls_gc_result result;
} gc;

/* ---- marking objects ---- */

static int mark_ref(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    gc *g = arg;
    valise_id *recent = &g->recent[vls_bytes_load_u16(id->bytes) & (RECENT - 1)];
    vls_object_info info;
    int rc;

    (void)site;
    if (vls_id_equal(recent, id))
        return 0;
    rc = vls_object_stat(&info, &g->txn, id, err);
    if (rc == 1)
        rc = vls_bits_set(&g->objects, info.number, err);
    if (rc < 0)
        return rc;
    *recent = *id;
    return 0;
}

/* Old enough, if nothing refers to it? What was there when something was erased is: nobody knows
 * whose it was, and the grace period is for what was just put. While no command was accepted since
 * the mark, nothing does, and the wall clock may judge; after that only the clock that writers go
 * by. */
static bool is_old(const gc *g, int64_t time)
{
    int64_t now = g->txn.tip.seq == g->tip.seq ? VLS_MAX(g->now, g->tip.time) : g->tip.time;
    int64_t age;

    return g->grace == 0 || time <= g->erased ||
           (!__builtin_sub_overflow(now, time, &age) && age > g->grace);
}

static int find_dead_object(void *arg, const vls_object_info *info, valise_error *err)
{
    gc *g = arg;
    int rc = vls_progress_step(g->progress, 1, err);

    if (rc < 0 || vls_bits_get(&g->objects, info->number) || !is_old(g, info->time))
        return rc;
    return vls_vec_push(&g->dead, vls_store_env(g->store), info->number) ? 0 : vls_fail_memory(err);
}

/* The mark holds for good: what is not marked now stays so, or is renewed. */
static int mark_objects(gc *g, valise_error *err)
{
    uint64_t rows = 0, objects = 0;
    int rc = vls_txn_check_complete(&g->txn, err);

    if (rc < 0)
        return rc;
    g->tip = g->txn.tip;
    rc = vls_refs_count(&rows, &g->txn, VLS_REFS_OBJECTS, err);
    if (rc == 0)
        rc = vls_txn_count(&objects, &g->txn, vls_store_coll_at(g->store, VLS_TABLE_OBJECT), err);
    if (rc < 0)
        return rc;
    vls_progress_begin(g->progress, "mark rows", "rows", rows);
    rc = vls_refs_rows(&g->txn, VLS_REFS_OBJECTS, g->progress, mark_ref, g, err);
    if (rc == 0)
        rc = vls_progress_end(g->progress, err);
    vls_progress_begin(g->progress, "mark log", "entries",
                       (uint64_t)(g->tip.seq - g->tip.base_seq));
    if (rc == 0)
        rc = vls_refs_log(&g->txn, VLS_REFS_OBJECTS, g->progress, mark_ref, g, err);
    if (rc == 0)
        rc = vls_progress_end(g->progress, err);
    vls_progress_begin(g->progress, "look for objects", "objects", objects);
    if (rc == 0)
        rc = vls_object_each(&g->txn, 0, find_dead_object, g, err);
    return rc < 0 ? rc : vls_progress_end(g->progress, err);
}

/* ---- sweeping objects ---- */

/* Marked objects are not in the list; what was referred to since is younger. */
static int sweep_object(gc *g, int64_t number, valise_error *err)
{
    valise_cell key = {.type = VALISE_CELL_INT, .as.integer = number};
    valise_cell row[VALISE_MAX_COLUMNS];
    vls_object_info info;
    int rc = vls_txn_get(row, &g->txn, vls_store_coll_at(g->store, VLS_TABLE_OBJECT), &key, err);

    if (rc <= 0)
        return rc; /* 0: another gc was faster */
    rc = vls_object_of_row(&info, &g->txn, row, err);
    if (rc < 0 || !is_old(g, info.time))
        return rc;
    rc = vls_object_delete(&g->txn, number, err);
    if (rc < 0)
        return rc;
    g->result.objects++;
    g->result.bytes += info.chunked || info.erased ? 0 : info.size;
    return 0;
}

typedef int sweep_fn(gc *g, int64_t number, valise_error *err);

/* The next few of the list, in the transaction. */
static int sweep_some(gc *g, size_t *at, size_t count, sweep_fn *fn, valise_error *err)
{
    size_t end = VLS_MIN(*at + count, g->dead.len);

    for (; *at < end; ++*at) {
        int rc = fn(g, g->dead.ptr[*at], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* All of the list, in transactions of their own. before: what each does first, or NULL. */
static int sweep_list(gc *g, const char *stage, const char *unit, sweep_fn *fn,
                      int (*before)(gc *g, valise_error *err), valise_error *err)
{
    size_t at = 0;
    int rc = 0;

    vls_progress_begin(g->progress, stage, unit, g->dead.len);
    while (rc == 0 && at < g->dead.len) {
        vls_gc_result done = g->result;
        size_t from = at;
        rc = vls_txn_begin(&g->txn, g->store, VALISE_TXN_WRITE, err);
        if (rc == 0 && before)
            rc = before(g, err);
        if (rc == 0)
            rc = sweep_some(g, &at, STEP, fn, err);
        if (rc == 0)
            rc = vls_txn_commit(&g->txn, err);
        if (rc < 0)
            g->result = done;
        else
            rc = vls_progress_step(g->progress, at - from, err);
    }
    g->dead.len = 0;
    return rc < 0 ? rc : vls_progress_end(g->progress, err);
}

/* The time of an erasure after which no gc came to its end; else INT64_MIN. */
static int read_erased(gc *g, valise_error *err)
{
    int64_t time = INT64_MIN;
    int rc = vls_meta_get_int(&time, &g->txn, VLS_META_ERASED_TIME, err);

    if (rc >= 0)
        g->erased = time;
    return rc < 0 ? rc : 0;
}

/* Must mark and sweep be one transaction? */
static int is_alone(bool *out, gc *g, valise_error *err)
{
    int rc = vls_txn_begin(&g->txn, g->store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = read_erased(g, err);
    vls_txn_rollback(&g->txn);
    *out = g->grace < VLS_GC_MIN_GRACE_NS || g->erased > INT64_MIN;
    return rc;
}

/* Mark and sweep in one write transaction. */
static int collect_alone(gc *g, valise_error *err)
{
    size_t at = 0;
    int rc = read_erased(g, err);

    if (rc == 0)
        rc = mark_objects(g, err);
    if (rc == 0)
        rc = sweep_some(g, &at, g->dead.len, sweep_object, err);
    if (rc == 0 && g->erased > INT64_MIN)
        rc = vls_meta_delete(&g->txn, VLS_META_ERASED_TIME, err);
    if (rc == 0)
        rc = vls_txn_commit(&g->txn, err);
    if (rc < 0)
        g->result = (vls_gc_result){0};
    g->dead.len = 0;
    return rc;
}

static int collect_objects(gc *g, valise_error *err)
{
    bool alone = false;
    int rc = is_alone(&alone, g, err);

    if (rc == 0)
        rc = vls_txn_begin(&g->txn, g->store, alone ? VALISE_TXN_WRITE : VALISE_TXN_READ, err);
    if (rc < 0 || alone)
        return rc < 0 ? rc : collect_alone(g, err);
    rc = mark_objects(g, err);
    vls_txn_rollback(&g->txn);
    return rc < 0 ? rc : sweep_list(g, "sweep objects", "objects", sweep_object, NULL, err);
}

/* ---- chunks ---- */

static int mark_recipe(void *arg, const vls_object_info *info, valise_error *err)
{
    gc *g = arg;
    int rc = 0;

    if (info->chunked)
        rc = vls_object_mark_chunks(&g->chunks, &g->txn, info->number, err);
    if (rc == 0)
        g->marked_to = info->number;
    return rc < 0 ? rc : vls_progress_step(g->progress, 1, err);
}

/* Objects that came since the last time. */
static int mark_new_recipes(gc *g, valise_error *err)
{
    return vls_object_each(&g->txn, g->marked_to + 1, mark_recipe, g, err);
}

static int find_dead_chunks(gc *g, valise_error *err)
{
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, &g->txn, vls_store_coll_at(g->store, VLS_TABLE_CHUNK),
                               (valise_range){.index = -1}, err);

    scan.unchecked = true; /* whoever needs a chunk checks it */
    while (rc == 0 && (rc = vls_txn_scan_next(row, &scan, err)) == 1) {
        int64_t number = row[VLS_CHUNK_NUMBER].as.integer;
        rc = vls_progress_step(g->progress, 1, err);
        if (rc == 0 && !vls_bits_get(&g->chunks, number) &&
            !vls_vec_push(&g->dead, vls_store_env(g->store), number))
            rc = vls_fail_memory(err);
    }
    return rc;
}

static int mark_chunks(gc *g, valise_error *err)
{
    uint64_t objects = 0, chunks = 0;
    int rc = vls_txn_begin(&g->txn, g->store, VALISE_TXN_READ, err);

    if (rc == 0)
        rc = vls_txn_count(&objects, &g->txn, vls_store_coll_at(g->store, VLS_TABLE_OBJECT), err);
    if (rc == 0)
        rc = vls_txn_count(&chunks, &g->txn, vls_store_coll_at(g->store, VLS_TABLE_CHUNK), err);
    vls_progress_begin(g->progress, "mark chunks", "objects", objects);
    if (rc == 0)
        rc = mark_new_recipes(g, err);
    if (rc == 0)
        rc = vls_progress_end(g->progress, err);
    vls_progress_begin(g->progress, "look for chunks", "chunks", chunks);
    if (rc == 0)
        rc = find_dead_chunks(g, err);
    vls_txn_rollback(&g->txn);
    return rc < 0 ? rc : vls_progress_end(g->progress, err);
}

static int sweep_chunk(gc *g, int64_t number, valise_error *err)
{
    int64_t removed, bytes;
    int rc = vls_chunk_sweep(&removed, &bytes, &g->txn, &g->chunks, number, number + 1, err);

    if (rc < 0)
        return rc;
    g->result.chunks += removed;
    g->result.bytes += bytes;
    return 0;
}

static int collect_chunks(gc *g, valise_error *err)
{
    int rc = mark_chunks(g, err);

    return rc < 0 ? rc
                  : sweep_list(g, "sweep chunks", "chunks", sweep_chunk, mark_new_recipes, err);
}

/* ---- space ---- */

static int shrink(gc *g, valise_error *err)
{
    void *self;
    const valise_store_ops *ops = vls_store_ops(g->store, &self);
    int64_t bytes = 0;
    int rc = 0;

    if (!ops->maintain)
        return 0;
    vls_progress_begin(g->progress, "shrink", "bytes", 0);
    do {
        rc = ops->maintain(&bytes, self, VALISE_MAINTAIN_SHRINK, err);
        if (rc == 0) {
            g->result.freed += bytes;
            rc = vls_progress_step(g->progress, (uint64_t)bytes, err);
        }
    } while (rc == 0 && bytes > 0);
    if (rc == 0)
        rc = ops->maintain(&g->result.residue, self, VALISE_MAINTAIN_TRUNCATE, err);
    return rc < 0 ? rc : vls_progress_end(g->progress, err);
}

int vls_gc(vls_gc_result *out, vls_store *store, int64_t grace_ns, int64_t now_ns,
           vls_progress *progress, valise_error *err)
{
    const valise_env *env = vls_store_env(store);
    gc g = {.store = store,
            .progress = progress,
            .grace = grace_ns,
            .now = now_ns,
            .erased = INT64_MIN};
    int rc;

    assert(grace_ns >= 0);
    g.objects.env = g.chunks.env = env;
    g.recent = vls_mem_zalloc(env, RECENT * sizeof(*g.recent));
    rc = g.recent ? 0 : vls_fail_memory(err);
    if (rc == 0 && vls_store_read_only(store))
        rc = vls_fail(err, VALISE_E_DENIED, "the workspace was opened for reading only");
    if (rc == 0)
        rc = collect_objects(&g, err);
    if (rc == 0)
        rc = collect_chunks(&g, err);
    if (rc == 0)
        rc = shrink(&g, err);
    vls_txn_rollback(&g.txn); /* of a step that failed */
    vls_mem_free(env, g.recent, RECENT * sizeof(*g.recent));
    vls_vec_release(&g.dead, env);
    vls_bits_release(&g.objects);
    vls_bits_release(&g.chunks);
    *out = g.result;
    return rc;
}
