/* ring_row.c -- the small rows: quarantine, checkpoints, runs, permissions, rules, taints, merges.
 *
 * One persistent map per collection, of rows as bytes (field/row.h), in the order of their keys; a
 * walk takes a snapshot. Three do more than to lie there:
 *
 *     quarantine    holds the records of the item as it was and of the commit that put it there;
 *                   once it was released before the edge it goes. A state has the rows as they were
 *                   when it was made; what came later does not show in it
 *     checkpoint    holds the state at its seq
 *     run           the greatest number is the head's last_run. Once it is past (bag.h) it goes;
 *                   so do the oldest where there are over two of them for each commit
 */
#include "backpack/ring_impl.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "field/row.h"

typedef vls_ring_row ring_row;
typedef vls_ring_record record;
typedef vls_ring_lens lens;

enum {
    QUARANTINE = VLS_RING_QUARANTINES,
    CHECKPOINT,
    RUN = VLS_RING_RUNS,
    PERMISSION,
    RULE,
    TAINT
};

#define CELLS_MAX 16
#define ROW_BYTES_MAX ((size_t)16 << 20)

static const valise_coll *const colls[VLS_RING_ROWS] = {
    &vls_bag_quarantines, &vls_bag_checkpoints, &vls_bag_runs,  &vls_bag_permissions,
    &vls_bag_rules,       &vls_bag_taints,      &vls_bag_merges};

static size_t number_of(const valise_coll *coll)
{
    size_t i = 0;

    while (i < VLS_RING_ROWS && colls[i] != coll)
        i++;
    return i;
}

static int unknown(const valise_coll *coll, valise_error *err)
{
    return vls_fail(err, VALISE_E_INVALID, "'%s' is not a collection of a ledger", coll->name);
}

/* ---- rows as items of a map ---- */

static valise_str row_key(const void *item)
{
    const ring_row *row = item;

    return (valise_str){row->bytes, row->key_len};
}

static void row_ref(void *item)
{
    vls_ref_get(&((ring_row *)item)->refs);
}

static void row_unref(void *item)
{
    ring_row *row = item;

    if (!vls_ref_put(&row->refs))
        return;
    for (size_t i = 0; i < VLS_COUNT(row->held); i++) {
        if (row->held[i])
            vls_ring_record_unref(row->held[i]);
    }
    vls_mem_free(row->env, row, sizeof(*row) + row->key_len + row->len);
}

static const vls_pmap_ops row_ops = {row_key, row_ref, row_unref};

static inline void vls_auto_ring_row(ring_row **row)
{
    if (*row)
        row_unref(*row);
}

/* ---- structs and bytes ---- */

static int key_bytes(vls_buf *out, const void *row, const valise_coll *coll, vls_arena *arena,
                     valise_error *err)
{
    valise_cell cells[CELLS_MAX];
    size_t count = 0;
    int rc = 0;

    for (const valise_field *f = coll->fields; rc == 0 && (f->flags & VALISE_KEY); f++)
        rc = vls_field_to_cell(&cells[count++], row, f, arena, err);
    if (rc < 0)
        return rc;
    vls_key_write(out, cells, count);
    return vls_buf_check(out, err);
}

static size_t field_count(const valise_coll *coll)
{
    size_t count = 0;

    while (coll->fields[count].name)
        count++;
    assert(count <= CELLS_MAX);
    return count;
}

static int encode(ring_row **out, vls_ring *ring, const valise_coll *coll, const void *row,
                  valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_cell cells[CELLS_MAX];
    size_t key_len;
    ring_row *r;
    int rc;

    vls_arena_init(&arena, ring->env, ROW_BYTES_MAX);
    vls_buf_init(&bytes, ring->env, ROW_BYTES_MAX);
    rc = key_bytes(&bytes, row, coll, &arena, err);
    key_len = bytes.len;
    if (rc == 0)
        rc = vls_row_to_cells(cells, row, coll->fields, &arena, err);
    if (rc < 0)
        return rc;
    vls_cells_write(&bytes, cells, field_count(coll));
    rc = vls_buf_check(&bytes, err);
    if (rc < 0)
        return rc;
    r = vls_mem_alloc(&ring->tree_env, sizeof(*r) + bytes.len);
    if (!r)
        return vls_fail_memory(err);
    *r = (ring_row){.env = &ring->tree_env,
                    .key_len = (uint32_t)key_len,
                    .len = (uint32_t)(bytes.len - key_len)};
    vls_ref_init(&r->refs);
    memcpy(r->bytes, bytes.ptr, bytes.len);
    *out = r;
    return 0;
}

static int decode(void *out, const ring_row *row, const valise_coll *coll, vls_arena *arena,
                  valise_error *err)
{
    valise_cell cells[CELLS_MAX];
    size_t count = 0;
    valise_str bytes = {row->bytes + row->key_len, row->len};
    int rc = vls_cells_read(cells, &count, CELLS_MAX, bytes, err);

    return rc < 0 ? rc
                  : vls_row_from_cells(out, coll->fields, coll->row_size, cells, count, arena, err);
}

/* ---- what quarantine holds ---- */

typedef struct held_key {
    const valise_uuid *backpack;
    int64_t seq;
} held_key;

static bool is_commit(const record *r, const held_key *key)
{
    return r->seq == key->seq && vls_uuid_equal(&r->label->ring->id, key->backpack);
}

static bool is_held(const void *item, const void *key)
{
    return is_commit(((const vls_ring_held *)item)->record, key);
}

static uint64_t hash_held(const vls_ring *ring, const held_key *key)
{
    return vls_str_hash((valise_str){(const char *)&key->seq, sizeof(key->seq)}, ring->seed);
}

vls_ring_record *vls_ring_held_record(const vls_ring *ring, const valise_uuid *backpack,
                                      int64_t seq)
{
    held_key key = {backpack, seq};
    const vls_ring_held *held = vls_map_get(&ring->held, hash_held(ring, &key), &key);

    return held ? held->record : NULL;
}

vls_ring_record *vls_ring_jailed_record(const vls_pmap *jail, const valise_uuid *backpack,
                                        int64_t seq)
{
    held_key key = {backpack, seq};
    vls_pmap_cursor cursor;

    for (const ring_row *row = vls_pmap_first(&cursor, jail); row; row = vls_pmap_next(&cursor)) {
        for (size_t i = 0; i < VLS_COUNT(row->held); i++) {
            if (row->held[i] && is_commit(row->held[i], &key))
                return row->held[i];
        }
    }
    return NULL;
}

/* A record that a row is about: mostly the newest of the key, or what that one superseded. */
static record *find_held(vls_ring *ring, valise_str name, held_key key)
{
    record *r = key.seq ? vls_ring_newest_of(ring, name) : NULL;

    while (r && vls_ring_is_own(ring, r) && !is_commit(r, &key))
        r = r->prev;
    if (r && is_commit(r, &key))
        return r;
    return key.seq ? vls_ring_held_record(ring, key.backpack, key.seq) : NULL;
}

static int reserve_held(vls_ring *ring, record *r, valise_error *err)
{
    held_key key = {&r->label->ring->id, r->seq};
    uint64_t hash = hash_held(ring, &key);
    vls_ring_held *held = vls_map_get(&ring->held, hash, &key);

    if (held)
        return 0;
    held = vls_mem_zalloc(&ring->tree_env, sizeof(*held));
    if (!held)
        return vls_fail_memory(err);
    held->record = r;
    if (vls_map_put(NULL, &ring->held, hash, &key, held) < 0) {
        vls_mem_free(&ring->tree_env, held, sizeof(*held));
        return vls_fail_memory(err);
    }
    return 0;
}

/* One row more, or fewer (-1), or as many as before (0): an entry without rows goes. */
static void count_held(vls_ring *ring, record *r, int rows)
{
    held_key key = {&r->label->ring->id, r->seq};
    uint64_t hash = hash_held(ring, &key);
    vls_ring_held *held = vls_map_get(&ring->held, hash, &key);

    if (!held && rows == 0) /* gone already */
        return;
    assert(held);
    held->rows += (size_t)rows;
    if (vls_ring_is_own(ring, r))
        vls_ring_recount(ring, r, rows, 0);
    if (held->rows == 0) {
        (void)vls_map_remove(&ring->held, hash, &key);
        vls_mem_free(&ring->tree_env, held, sizeof(*held));
    }
}

static void count_all_held(vls_ring *ring, const ring_row *row, int rows)
{
    for (size_t i = 0; i < VLS_COUNT(row->held); i++) {
        if (row->held[i])
            count_held(ring, row->held[i], rows);
    }
}

static int hold(ring_row *row, size_t at, vls_ring *ring, record *r, valise_error *err)
{
    int rc = r ? reserve_held(ring, r, err) : 0;

    if (rc == 0 && r) {
        vls_ref_get(&r->refs);
        row->held[at] = r;
    }
    return rc;
}

/* ---- runs ---- */

static int find_row(ring_row **out, const vls_pmap *map, const valise_coll *coll, const void *row,
                    const valise_env *env, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf key = {0};
    int rc;

    vls_arena_init(&arena, env, ROW_BYTES_MAX);
    vls_buf_init(&key, env, ROW_BYTES_MAX);
    rc = key_bytes(&key, row, coll, &arena, err);
    if (rc == 0)
        *out = vls_pmap_get(map, vls_buf_str(&key));
    return rc;
}

static bool is_node(const void *item, const void *key)
{
    const vls_ring_node *node = item;

    return vls_str_equal((valise_str){node->bytes, node->len}, *(const valise_str *)key);
}

static vls_ring_node *find_node(const vls_ring *ring, valise_str id)
{
    return vls_map_get(&ring->nodes, vls_str_hash(id, ring->seed), &id);
}

static int take_node(vls_ring_node **out, vls_ring *ring, valise_str id, valise_error *err)
{
    vls_ring_node *node = find_node(ring, id);

    *out = node;
    if (node)
        return 0;
    node = vls_mem_alloc(&ring->tree_env, sizeof(*node) + id.len);
    if (!node)
        return vls_fail_memory(err);
    *node = (vls_ring_node){.len = id.len};
    if (id.len > 0)
        memcpy(node->bytes, id.ptr, id.len);
    if (vls_map_put(NULL, &ring->nodes, vls_str_hash(id, ring->seed), &id, node) < 0) {
        vls_mem_free(&ring->tree_env, node, sizeof(*node) + node->len);
        return vls_fail_memory(err);
    }
    *out = node;
    return 0;
}

/* One without rows goes. */
static void drop_node(vls_ring *ring, vls_ring_node *node)
{
    valise_str id = {node->bytes, node->len};

    if (node->rows > 0)
        return;
    (void)vls_map_remove(&ring->nodes, vls_str_hash(id, ring->seed), &id);
    vls_mem_free(&ring->tree_env, node, sizeof(*node) + node->len);
}

static int64_t next_run(const vls_ring *ring, valise_str id)
{
    const vls_ring_node *node = find_node(ring, id);

    return node ? node->runs + 1 : 1;
}

int64_t vls_ring_run_of(const record *r)
{
    return r->rare ? r->rare->run : r->run;
}

int vls_ring_know_run(vls_ring *ring, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_run_row run = {.backpack = ring->id};
    ring_row *found = NULL;
    int rc = 0;

    vls_arena_init(&arena, ring->env, ROW_BYTES_MAX);
    if (ring->edge < ring->last) {
        run.number = vls_ring_run_of(vls_ring_at(ring, ring->last));
        rc = find_row(&found, &ring->rows[RUN], &vls_bag_runs, &run, ring->env, err);
        if (rc == 0 && found)
            rc = decode(&run, found, &vls_bag_runs, &arena, err);
    }
    if (rc == 0)
        ring->open_run = found && run.end <= 0 ? run.number : 0;
    return rc;
}

/* ---- changing ---- */

/* What the ring knows of a row that comes in; may fail. */
static int before_put(vls_ring *ring, size_t number, ring_row *r, const void *row,
                      valise_error *err)
{
    int rc = 0;

    if (number == QUARANTINE) {
        const vls_quarantine_row *q = row;
        r->seq = q->seq;
        r->released = q->released;
        rc = hold(r, 0, ring, find_held(ring, q->key, (held_key){&q->item_backpack, q->item}), err);
        if (rc == 0)
            rc = hold(r, 1, ring,
                      find_held(ring, q->key, (held_key){vls_entry_backpack(q), vls_entry_seq(q)}),
                      err);
        if (rc < 0)
            count_all_held(ring, r, 0);
    } else if (number == CHECKPOINT) {
        r->seq = ((const vls_bag_checkpoint_row *)row)->seq;
        rc = vls_ring_state_hold(ring, r->seq, err);
    } else if (number == RUN) {
        const vls_run_row *run = row;
        r->seq = run->start;
        r->nth = run->nth;
        rc = take_node(&r->node, ring, run->node_id, err);
    }
    return rc;
}

/* A put that failed after all. */
static void take_back(vls_ring *ring, size_t number, ring_row *r)
{
    if (number == QUARANTINE)
        count_all_held(ring, r, 0);
    if (number == RUN)
        drop_node(ring, r->node);
    if (number == CHECKPOINT)
        vls_ring_state_let_go(ring, r->seq);
}

static void came(vls_ring *ring, size_t number, ring_row *r, const void *row)
{
    if (number == QUARANTINE) {
        ring->quarantined += r->released == 0;
        ring->released += r->released != 0;
        count_all_held(ring, r, 1);
    } else if (number == RUN) {
        const vls_run_row *run = row;
        r->node->rows++;
        r->node->runs = VLS_MAX(r->node->runs, r->nth);
        ring->last_run = VLS_MAX(ring->last_run, run->number);
        if (run->end <= 0)
            ring->begun_run = run->number;
        else if (ring->begun_run == run->number)
            ring->begun_run = 0;
        if (run->end > 0 && ring->open_run == run->number)
            ring->open_run = 0;
    } else if (number == PERMISSION || number == RULE) {
        ring->generation++;
    }
}

static void went(vls_ring *ring, size_t number, ring_row *r)
{
    if (number == QUARANTINE) {
        ring->quarantined -= r->released == 0;
        ring->released -= r->released != 0;
        count_all_held(ring, r, -1);
    } else if (number == CHECKPOINT) {
        vls_ring_state_let_go(ring, r->seq);
    } else if (number == RUN) {
        r->node->rows--;
        drop_node(ring, r->node);
    } else if (number == PERMISSION || number == RULE) {
        ring->generation++;
    }
}

static int put_row(vls_ring *ring, size_t number, const void *row, valise_error *err)
{
    VLS_AUTO(ring_row) ring_row *r = NULL;
    VLS_AUTO(ring_row) ring_row *old = NULL;
    vls_run_row run;
    void *replaced = NULL;
    int rc;

    if (number == RUN) {
        run = *(const vls_run_row *)row;
        run.nth = run.nth ? run.nth : next_run(ring, run.node_id);
        row = &run;
    }
    rc = encode(&r, ring, colls[number], row, err);
    if (rc == 0)
        rc = before_put(ring, number, r, row, err);
    if (rc < 0)
        return rc;
    if (vls_pmap_put(&replaced, &ring->rows[number], r) < 0) {
        take_back(ring, number, r);
        return vls_fail_memory(err);
    }
    old = replaced;
    came(ring, number, r, row);
    if (old)
        went(ring, number, old);
    return 0;
}

static int read_only(const valise_coll *coll, valise_error *err)
{
    return vls_fail(err, VALISE_E_UNSUPPORTED,
                    "rows of %s cannot be changed in a state of the past", coll->name);
}

int vls_ring_op_row_put(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    lens *l = self;
    size_t number = number_of(coll);

    if (number == VLS_RING_ROWS)
        return unknown(coll, err);
    return l->state ? read_only(coll, err) : put_row(l->ring, number, row, err);
}

int vls_ring_op_row_delete(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    lens *l = self;
    size_t number = number_of(coll);
    ring_row *found = NULL;
    void *old = NULL;
    int rc;

    if (number == VLS_RING_ROWS)
        return unknown(coll, err);
    if (l->state)
        return read_only(coll, err);
    rc = find_row(&found, &l->ring->rows[number], coll, row, l->ring->env, err);
    if (rc < 0 || !found)
        return rc;
    if (vls_pmap_remove(&old, &l->ring->rows[number], row_key(found)) < 0)
        return vls_fail_memory(err);
    if (number == RUN) {
        l->ring->open_run = -1;
        l->ring->begun_run = 0;
        found->node->runs -= found->node->runs == found->nth; /* as if it had never been */
    }
    went(l->ring, number, old);
    row_unref(old);
    return 1;
}

/* Rows come in the order of their starts: only those that started before the edge are looked at, or
 * the oldest, as long as there are too many. */
static void trim_runs(vls_ring *ring)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_pmap *rows = &ring->rows[RUN];
    int64_t going =
        ring->edge < ring->last ? vls_ring_run_of(vls_ring_at(ring, ring->edge + 1)) : 0;
    int64_t newest = ring->edge < ring->last ? vls_ring_run_of(vls_ring_at(ring, ring->last)) : 0;
    size_t most = 2 * (size_t)ring->max_commits; /* one for each commit, and nodes of old */
    vls_pmap_cursor cursor;
    ring_row *r = vls_pmap_first(&cursor, rows);

    vls_arena_init(&arena, ring->env, ROW_BYTES_MAX);
    while (r && (r->seq < ring->edge || rows->len > most)) {
        VLS_AUTO(ring_row) ring_row *gone = NULL;
        void *old = NULL;
        vls_run_row run;
        bool past;
        vls_arena_reset(&arena);
        if (decode(&run, r, &vls_bag_runs, &arena, NULL) < 0)
            break; /* next time */
        past = r->nth < r->node->runs && vls_run_is_past(&run, ring->edge, going);
        if (!past && (rows->len <= most || run.end == VALISE_NONE || run.number == newest ||
                      run.number == ring->last_run)) {
            r = vls_pmap_next(&cursor);
            continue;
        }
        if (vls_pmap_remove(&old, rows, row_key(r)) < 0)
            break;
        gone = old;
        went(ring, RUN, gone);
        r = vls_pmap_seek(&cursor, rows, row_key(gone));
    }
    ring->runs_most = VLS_MAX(most, rows->len) / 4 * 5 + 4;
}

void vls_ring_rows_trim(vls_ring *ring)
{
    vls_pmap copy;
    vls_pmap_cursor cursor;

    trim_runs(ring);
    if (ring->released == 0)
        return;
    vls_pmap_snapshot(&copy, &ring->rows[QUARANTINE]);
    for (ring_row *r = vls_pmap_first(&cursor, &copy); r; r = vls_pmap_next(&cursor)) {
        void *old = NULL;
        if (r->released == 0 || r->released > ring->edge)
            continue;
        if (vls_pmap_remove(&old, &ring->rows[QUARANTINE], row_key(r)) < 0)
            break; /* next time */
        went(ring, QUARANTINE, old);
        row_unref(old);
    }
    vls_pmap_release(&copy);
}

/* ---- reading ---- */

/* A row as the ledger shows it: 1, or 0 when it was not there yet. */
static int show(void *out, const lens *l, size_t number, const ring_row *r, vls_arena *arena,
                valise_error *err)
{
    bool past = l->state && number == QUARANTINE;
    int rc;

    if (past && r->seq > l->upto)
        return 0;
    rc = decode(out, r, colls[number], arena, err);
    if (rc == 0 && past && r->released > l->upto)
        ((vls_quarantine_row *)out)->released = 0;
    return rc < 0 ? rc : 1;
}

static const vls_pmap *map_of(const lens *l, size_t number)
{
    return l->state && number == QUARANTINE ? &l->jail : &l->ring->rows[number];
}

int vls_ring_op_row_get(void *row, void *self, const valise_coll *coll, valise_error *err)
{
    lens *l = self;
    vls_ring *ring = l->ring;
    size_t number = number_of(coll);
    ring_row *found = NULL;
    int rc;

    if (number == VLS_RING_ROWS)
        return unknown(coll, err);
    if (l->state)
        vls_ring_lock(ring);
    rc = find_row(&found, map_of(l, number), coll, row, ring->env, err);
    if (rc == 0 && found) {
        atomic_store_explicit(&l->used, true, memory_order_relaxed);
        rc = show(row, l, number, found, &l->arena, err);
    }
    if (l->state)
        vls_ring_unlock(ring);
    return rc;
}

int vls_ring_op_ran(void *self, valise_str node_id, valise_error *err)
{
    lens *l = self;
    bool ran;

    (void)err;
    if (l->state)
        vls_ring_lock(l->ring);
    ran = find_node(l->ring, node_id) != NULL;
    if (l->state)
        vls_ring_unlock(l->ring);
    return ran;
}

int vls_ring_op_each_row(void *self, const valise_coll *coll,
                         int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                         valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(pmap) vls_pmap rows = {0};
    lens *l = self;
    size_t number = number_of(coll);
    vls_pmap_cursor cursor;
    int rc = 0;

    if (number == VLS_RING_ROWS)
        return unknown(coll, err);
    vls_ring_lock(l->ring);
    vls_pmap_snapshot(&rows, map_of(l, number));
    vls_ring_unlock(l->ring);
    vls_arena_init(&arena, l->ring->env, 4 * ROW_BYTES_MAX);
    for (ring_row *r = vls_pmap_first(&cursor, &rows); r && rc == 0; r = vls_pmap_next(&cursor)) {
        void *row = vls_arena_zalloc(&arena, coll->row_size);
        rc = row ? show(row, l, number, r, &arena, err) : vls_arena_fail(&arena, err);
        if (rc == 1)
            rc = fn(arg, row, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

/* ---- beginning and end ---- */

void vls_ring_rows_init(vls_ring *ring)
{
    for (size_t i = 0; i < VLS_RING_ROWS; i++)
        vls_pmap_init(&ring->rows[i], &ring->tree_env, &row_ops);
    vls_map_init(&ring->held, ring->env, is_held);
    vls_map_init(&ring->nodes, ring->env, is_node);
    ring->runs_most = 2 * (size_t)ring->max_commits;
}

void vls_ring_rows_release(vls_ring *ring)
{
    vls_pmap_cursor cursor;
    vls_ring_node *node;

    for (ring_row *r = vls_pmap_first(&cursor, &ring->rows[QUARANTINE]); r;
         r = vls_pmap_next(&cursor))
        went(ring, QUARANTINE, r);
    for (size_t i = 0; i < VLS_RING_ROWS; i++)
        vls_pmap_release(&ring->rows[i]);
    for (size_t at = 0; (node = vls_map_next(&ring->nodes, &at));)
        vls_mem_free(&ring->tree_env, node, sizeof(*node) + node->len);
    vls_map_release(&ring->nodes);
    vls_map_release(&ring->held);
}

/* Permissions, rules and marks; those of the workspace (backpack zero) stay so. */
static int copy_rows(vls_ring *ring, const vls_pmap *from, size_t number, const valise_uuid *origin,
                     int64_t upto, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_pmap_cursor cursor;
    int rc = 0;

    vls_arena_init(&arena, ring->env, 4 * ROW_BYTES_MAX);
    for (ring_row *r = vls_pmap_first(&cursor, from); r && rc == 0; r = vls_pmap_next(&cursor)) {
        valise_uuid *row = vls_arena_zalloc(&arena, colls[number]->row_size);
        if (!row)
            return vls_arena_fail(&arena, err);
        rc = decode(row, r, colls[number], &arena, err);
        /* The id of the backpack is the first member of every row. */
        if (rc == 0 && number != TAINT && vls_uuid_equal(row, origin))
            *row = ring->id;
        if (rc == 0 && (number != TAINT || vls_mark_inherit((void *)row, &ring->id, upto)))
            rc = put_row(ring, number, row, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

_Static_assert(offsetof(vls_permission_row, backpack) == 0 && offsetof(vls_rule_row, backpack) == 0,
               "the id of the backpack comes first");

/* An entry of the origin's quarantine. The records that it holds are reserved first: the fork's own
 * tables do not lead to them. */
static int copy_entry(vls_ring *ring, const ring_row *from, const vls_quarantine_row *row,
                      valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(from->held) && rc == 0; i++)
        rc = from->held[i] ? reserve_held(ring, from->held[i], err) : 0;
    if (rc == 0)
        rc = put_row(ring, QUARANTINE, row, err);
    for (size_t i = 0; i < VLS_COUNT(from->held) && rc < 0; i++) {
        if (from->held[i])
            count_held(ring, from->held[i], 0);
    }
    return rc;
}

/* vls_entry_is_there, of what the ring knows of the row. */
static bool is_there(const ring_row *r, int64_t upto)
{
    return vls_entry_is_there(&(vls_quarantine_row){.seq = r->seq, .released = r->released}, upto);
}

static int fork_quarantine(vls_ring *ring, const vls_pmap *jail, int64_t upto, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_pmap_cursor cursor;
    int64_t entries = 0;
    int rc = 0;

    for (ring_row *r = vls_pmap_first(&cursor, jail); r; r = vls_pmap_next(&cursor))
        entries += is_there(r, upto);
    vls_arena_init(&arena, ring->env, 4 * ROW_BYTES_MAX);
    for (ring_row *r = vls_pmap_first(&cursor, jail); r && rc == 0; r = vls_pmap_next(&cursor)) {
        vls_quarantine_row row = {.seq = 0};
        if (!is_there(r, upto))
            continue;
        rc = decode(&row, r, colls[QUARANTINE], &arena, err);
        if (rc == 0) {
            vls_entry_inherit(&row, &ring->id, -entries--);
            rc = copy_entry(ring, r, &row, err);
        }
        vls_arena_reset(&arena);
    }
    return rc;
}

int vls_ring_rows_fork(vls_ring *ring, vls_ring *origin, const vls_pmap *jail, int64_t upto,
                       valise_error *err)
{
    int rc = fork_quarantine(ring, jail, upto, err);

    for (size_t number = PERMISSION; number <= TAINT && rc == 0; number++) {
        VLS_AUTO(pmap) vls_pmap copy = {0};
        vls_ring_lock(origin);
        vls_pmap_snapshot(&copy, &origin->rows[number]);
        vls_ring_unlock(origin);
        rc = copy_rows(ring, &copy, number, &origin->id, upto, err);
    }
    return rc;
}
