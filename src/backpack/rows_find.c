/* rows_find.c -- commits by key and by seq, and the keys of many. */
#include "backpack/rows.h"

#include "base/map.h"
#include "base/uuid.h"
#include "base/hex.h"
#include "store/used.h"

int vls_rows_decode(valise_commit *out, const vls_rows *rows, const valise_cell *cells,
                    int64_t from_seq, vls_arena *arena, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(rows->view->txn->store, &vls_bag_commits);
    valise_commit commit = {0};
    int rc = vls_row_from_cells(&commit, vls_bag_commits.fields, sizeof(commit), cells,
                                coll->field_count, arena, err);

    if (rc < 0)
        return rc;
    commit.id = vls_commit_id(&commit.backpack, commit.seq, commit.time);
    commit.outcome = VALISE_NONE;
    commit.log_seq = from_seq ? from_seq : rows->view->stamp.seq; /* of this very command */
    *out = commit;
    return 0;
}

int vls_rows_first(valise_commit *out, const vls_rows *rows, const valise_select *select,
                   vls_arena *arena, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_cell *cells = NULL;
    int64_t from_seq = 0;
    int rc = valise_view_scan(&scan, rows->view, &vls_bag_commits, select, err);

    if (rc == 0)
        rc = vls_scan_next_cells(&cells, &from_seq, scan, err);
    if (rc > 0) {
        rc = vls_rows_decode(out, rows, cells, from_seq, arena, err);
        return rc < 0 ? rc : 1;
    }
    return rc;
}

/* The newest commit of the key in one backpack, of all there are. flags: as of vls_view_last. */
static int seek_last(valise_commit *out, const vls_rows *rows, const valise_uuid *backpack,
                     valise_str key, unsigned flags, vls_arena *arena, valise_error *err)
{
    const valise_commit probe = {.backpack = *backpack, .key = key};
    const valise_select select = {.index = "key", .row = &probe, .equal = 2, .flags = flags};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int64_t from_seq = 0;
    int rc = vls_view_last(cells, &from_seq, rows->view, &vls_bag_commits, &select, err);

    if (rc <= 0)
        return rc;
    rc = vls_rows_decode(out, rows, cells, from_seq, arena, err);
    return rc < 0 ? rc : 1;
}

int vls_rows_seek(valise_commit *out, const vls_rows *rows, const valise_uuid *backpack,
                  valise_str key, int64_t upto, vls_arena *arena, valise_error *err)
{
    const valise_commit probe = {.backpack = *backpack, .key = key, .seq = upto};
    const valise_select select = {
        .index = "key", .row = &probe, .equal = 2, .from = 1, .flags = VALISE_SCAN_REVERSE};

    return upto == INT64_MAX ? seek_last(out, rows, backpack, key, 0, arena, err)
                             : vls_rows_first(out, rows, &select, arena, err);
}

int vls_rows_last(valise_cell *cells, valise_view *view, const valise_uuid *backpack,
                  valise_error *err)
{
    const valise_commit probe = {.backpack = *backpack};
    const valise_select select = {.row = &probe, .equal = 1};

    return vls_view_last(cells, NULL, view, &vls_bag_commits, &select, err);
}

int vls_rows_last_seq(int64_t *seq, valise_view *view, const valise_uuid *backpack,
                      valise_error *err)
{
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_rows_last(cells, view, backpack, err);

    if (rc >= 0)
        *seq = rc > 0 ? cells[VLS_COMMIT_SEQ].as.integer : 0;
    return rc < 0 ? rc : 0;
}

/* In the newest state of the backpack that the command changes: what it made, else what was there.
 */
static int seek_own(valise_commit *out, const vls_rows *rows, valise_str key, vls_arena *arena,
                    valise_error *err)
{
    const valise_commit *made;
    int rc = vls_recent_find(&made, rows, key, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return seek_last(out, rows, &rows->bag.id, key, VLS_SCAN_BELOW, arena, err);
    rc = vls_commit_copy(out, made, arena, err);
    return rc < 0 ? rc : 1;
}

static int seek_segment(valise_commit *out, const vls_rows *rows, const vls_rows_segment *segment,
                        valise_str key, vls_arena *arena, valise_error *err)
{
    if (segment == rows->segments && segment->upto == INT64_MAX && rows->recent)
        return seek_own(out, rows, key, arena, err);
    return vls_rows_seek(out, rows, &segment->backpack, key, segment->upto, arena, err);
}

int vls_rows_newest(valise_commit *out, const vls_rows *rows, valise_str key, vls_arena *arena,
                    valise_error *err)
{
    for (size_t i = 0; i < rows->segment_count; i++) {
        const vls_rows_segment *s = &rows->segments[i];
        valise_commit found;
        int rc = seek_segment(&found, rows, s, key, arena, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            continue;
        /* What is left of a deletion before the edge only says that there is nothing. */
        if (found.seq <= s->edge && !vls_commit_is_live(&found))
            return 0;
        *out = found;
        return 1;
    }
    return 0;
}

bool vls_rows_includes(void *self, const valise_uuid *backpack, int64_t seq)
{
    const vls_rows *rows = self;

    for (size_t i = 0; i < rows->segment_count; i++) {
        if (vls_uuid_equal(&rows->segments[i].backpack, backpack))
            return seq <= rows->segments[i].upto;
    }
    return false;
}

/* What is left before an edge is not shown, but counts. */
int vls_rows_version(int64_t *out, void *self, valise_str key, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const vls_rows *rows = self;
    valise_commit found = {0};
    int rc = 0;

    vls_arena_init(&arena, rows->view->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < rows->segment_count; i++) {
        if (rows->segments[i].edge > 0)
            rc = seek_segment(&found, rows, &rows->segments[i], key, &arena, err);
    }
    if (rc >= 0)
        *out = found.version;
    return rc < 0 ? rc : 0;
}

/* ---- history ---- */

typedef struct each_call {
    const vls_rows *rows;
    valise_commit_fn *fn;
    void *arg;
    vls_arena arena;
} each_call;

static int call(each_call *c, const valise_cell *cells, int64_t from_seq, valise_error *err)
{
    valise_commit commit;
    int rc;

    vls_arena_reset(&c->arena);
    rc = vls_rows_decode(&commit, c->rows, cells, from_seq, &c->arena, err);
    return rc < 0 ? rc : c->fn(c->arg, &commit, err);
}

int vls_rows_each(const vls_rows *rows, const vls_rows_range *range, valise_commit_fn *fn,
                  void *arg, valise_error *err)
{
    const valise_commit probe = {.backpack = *range->backpack,
                                 .seq = range->reverse ? range->last : range->first};
    const valise_select select = {
        .row = &probe, .equal = 1, .from = 1, .flags = range->reverse ? VALISE_SCAN_REVERSE : 0};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    each_call c = {.rows = rows, .fn = fn, .arg = arg};
    const valise_cell *cells;
    int64_t from_seq;
    int rc;

    if (range->first > range->last)
        return 0;
    rc = valise_view_scan(&scan, rows->view, &vls_bag_commits, &select, err);
    if (rc < 0)
        return rc;
    vls_arena_init(&c.arena, rows->view->arena.env, VLS_VIEW_MAX_BYTES);
    while ((rc = vls_scan_next_cells(&cells, &from_seq, scan, err)) > 0) {
        int64_t seq = cells[VLS_COMMIT_SEQ].as.integer;
        rc = 0;
        if (range->reverse ? seq < range->first : seq > range->last)
            break;
        rc = call(&c, cells, from_seq, err);
        if (rc != 0)
            break;
    }
    vls_arena_release(&c.arena);
    return rc;
}

int vls_rows_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                         valise_commit_fn *fn, void *arg, valise_error *err)
{
    const vls_rows *rows = self;
    const vls_rows_segment *own = &rows->segments[0];
    const vls_rows_range range = {&own->backpack, VLS_MAX(first, own->edge + 1),
                                  VLS_MIN(last, own->upto), reverse};

    return vls_rows_each(rows, &range, fn, arg, err);
}

/* The versions of a key in one segment. Of those up to the edge only the newest is shown, and only
 * where it is an item. */
static int versions_of(each_call *c, const vls_rows_segment *segment, valise_str key,
                       valise_error *err)
{
    const valise_commit probe = {.backpack = segment->backpack, .key = key, .seq = segment->upto};
    const valise_select select = {
        .index = "key", .row = &probe, .equal = 2, .from = 1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_cell *cells;
    int64_t from_seq;
    int rc = valise_view_scan(&scan, c->rows->view, &vls_bag_commits, &select, err);

    while (rc == 0 && (rc = vls_scan_next_cells(&cells, &from_seq, scan, err)) > 0) {
        valise_commit commit;
        vls_arena_reset(&c->arena);
        rc = vls_rows_decode(&commit, c->rows, cells, from_seq, &c->arena, err);
        if (rc < 0)
            return rc;
        if (commit.seq <= segment->edge)
            return vls_commit_is_live(&commit) ? c->fn(c->arg, &commit, err) : 0;
        rc = c->fn(c->arg, &commit, err);
    }
    return rc;
}

int vls_rows_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                          valise_error *err)
{
    const vls_rows *rows = self;
    each_call c = {.rows = rows, .fn = fn, .arg = arg};
    int rc = 0;

    vls_arena_init(&c.arena, rows->view->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < rows->segment_count; i++)
        rc = versions_of(&c, &rows->segments[i], key, err);
    vls_arena_release(&c.arena);
    return rc;
}

/* ---- distinct keys ---- */

void vls_key_set_init(vls_key_set *set, const valise_env *env)
{
    *set = (vls_key_set){.list = VLS_VEC_INIT};
    vls_arena_init(&set->arena, env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&set->known, env, vls_str_is);
}

void vls_key_set_release(vls_key_set *set)
{
    if (!set->arena.env)
        return;
    vls_map_release(&set->known);
    vls_vec_release(&set->list, set->arena.env);
    vls_arena_release(&set->arena);
}

int vls_key_set_add(void *self, const valise_commit *commit, valise_error *err)
{
    vls_key_set *set = self;
    /* Keys are chosen by others; where this lies in memory is not. */
    uint64_t hash = vls_str_hash(commit->key, (uint64_t)(uintptr_t)set);
    valise_str *key;
    int rc;

    if (vls_map_get(&set->known, hash, &commit->key))
        return 0;
    key = vls_arena_alloc(&set->arena, sizeof(*key));
    if (!key)
        return vls_arena_fail(&set->arena, err);
    rc = vls_arena_dup(key, &set->arena, commit->key, err);
    if (rc < 0)
        return rc;
    if (vls_map_put(NULL, &set->known, hash, key, key) < 0 ||
        !vls_vec_push(&set->list, set->arena.env, *key))
        return vls_fail_memory(err);
    return 0;
}

int vls_bag_used(valise_id *out, valise_view *view, const valise_uuid *backpack, valise_str key,
                 valise_error *err)
{
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, &view->arena, key.len + 64);
    vls_buf_printf(&text, "item/%s/", vls_uuid_text(backpack).s);
    vls_buf_add(&text, key);
    rc = vls_buf_check(&text, err);
    if (rc == 0)
        vls_used_source(out, vls_buf_str(&text));
    return rc;
}

/* ---- runs ---- */

int vls_rows_ran(void *self, valise_str node_id, valise_error *err)
{
    const vls_rows *rows = self;
    const vls_run_row probe = {.backpack = rows->bag.id, .node_id = node_id};
    const valise_select select = {.index = "node", .row = &probe, .equal = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_run_row row;
    int rc = valise_view_scan(&scan, rows->view, &vls_bag_runs, &select, err);

    return rc < 0 ? rc : valise_scan_next(&row, scan, err);
}
