/* expire.c -- see expire.h. */
#include "backpack/expire.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "kernel/kernel.h"

typedef vls_vec(int64_t) seq_list;
typedef vls_vec(valise_commit) commit_list;
typedef vls_vec(vls_quarantine_row) entry_list;

typedef struct plan {
    vls_rows *rows;
    int64_t edge;
    const vls_expire_ops *ops;
    const valise_env *env;
    seq_list points; /* sorted; the last is the edge */
    seq_list pinned; /* in no order */

    vls_key_set keys; /* that the commits are of */

    vls_arena arena;      /* of one key: */
    commit_list versions; /* newest first */
    entry_list entries;
} plan;

static void vls_auto_plan(plan *p)
{
    if (!p->rows)
        return;
    vls_vec_release(&p->points, p->env);
    vls_vec_release(&p->pinned, p->env);
    vls_vec_release(&p->versions, p->env);
    vls_vec_release(&p->entries, p->env);
    vls_key_set_release(&p->keys);
    vls_arena_release(&p->arena);
}

/* ---- points ---- */

static int add_point(plan *p, int64_t seq, valise_error *err)
{
    if (seq > p->edge || vls_vec_push(&p->points, p->env, seq))
        return 0;
    return vls_fail_memory(err);
}

static int add_checkpoints(plan *p, valise_error *err)
{
    const vls_bag_checkpoint_row probe = {.backpack = p->rows->bag.id};
    const valise_select select = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_checkpoint_row row;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bag_checkpoints, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = add_point(p, row.seq, err);
    return rc;
}

static int add_forks(plan *p, valise_error *err)
{
    const vls_bag_row probe = {.origin = p->rows->bag.id};
    const valise_select select = {.index = "origin", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row row;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bags, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = add_point(p, row.origin_seq, err);
    return rc;
}

/* Is there a point with first <= point < end? */
static bool has_point(const plan *p, int64_t first, int64_t end)
{
    size_t low = 0, high = p->points.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->points.ptr[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->points.len && p->points.ptr[low] < end;
}

/* ---- pins ---- */

/* "backpack_commit/ID/SEQ" of this backpack. */
static bool read_place(int64_t *seq, valise_str place, const valise_uuid *backpack)
{
    valise_str part, rest;
    valise_uuid found;

    return vls_str_cut(&part, &rest, place, '/') &&
           vls_str_equal(part, valise_str_of(vls_bag_commits.name)) &&
           vls_str_cut(&part, &rest, rest, '/') && vls_uuid_parse(&found, part, NULL) == 0 &&
           vls_uuid_equal(&found, backpack) && vls_str_to_i64(seq, rest);
}

/* Commits that are pinned themselves. */
static int add_pinned(plan *p, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_pin pin;
    int64_t seq;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_pins, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        bool own = pin.kind == VLS_PIN_ROW && read_place(&seq, pin.place, &p->rows->bag.id);
        rc = !own || vls_vec_push(&p->pinned, p->env, seq) ? 0 : vls_fail_memory(err);
    }
    return rc;
}

static bool is_pinned(const plan *p, int64_t seq)
{
    for (size_t i = 0; i < p->pinned.len; i++) {
        if (p->pinned.ptr[i] == seq)
            return true;
    }
    return false;
}

/* Which states of the log pins hold. The states of a backpack that can be seen begin at its edge:
 * what holds an older one holds nothing here. */
typedef struct holding {
    int64_t since;  /* log seq of the oldest state that can be seen */
    int64_t oldest; /* of those that are held; INT64_MAX: none */
    int64_t upto;   /* the newest commit that state has */
} holding;

static int take_since(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    ((holding *)arg)->since = commit->log_seq;
    return 1;
}

static int find_oldest(holding *h, valise_view *view, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        if (vls_pin_holds_log(&pin) && pin.seq >= h->since)
            h->oldest = VLS_MIN(h->oldest, pin.seq);
        rc = 0;
    }
    return rc;
}

static int walk_held(void *arg, const valise_commit *commit, valise_error *err)
{
    holding *h = arg;

    (void)err;
    if (commit->log_seq > h->oldest)
        return 1;
    h->upto = commit->seq;
    return 0;
}

int vls_expire_bound(int64_t *upto, const vls_rows *rows, valise_error *err)
{
    const int64_t edge = rows->bag.edge;
    const vls_rows_range seen = {&rows->bag.id, VLS_MAX(edge, 1), INT64_MAX, false};
    const vls_rows_range behind = {&rows->bag.id, edge + 1, *upto, false};
    holding h = {.since = INT64_MAX, .oldest = INT64_MAX, .upto = edge};
    int rc = *upto > edge ? vls_rows_each(rows, &seen, take_since, &h, err) : 0;

    if (rc > 0)
        rc = find_oldest(&h, rows->view, err);
    if (rc < 0 || h.oldest == INT64_MAX)
        return rc;
    rc = vls_rows_each(rows, &behind, walk_held, &h, err);
    *upto = VLS_MIN(*upto, h.upto);
    return vls_settle(rc);
}

/* ---- one key ---- */

static int read_versions(plan *p, valise_str key, valise_error *err)
{
    const valise_commit probe = {.backpack = p->rows->bag.id, .key = key, .seq = p->edge};
    const valise_select select = {
        .index = "key", .row = &probe, .equal = 2, .from = 1, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_cell *cells;
    int64_t from_seq;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bag_commits, &select, err);

    p->versions.len = 0;
    while (rc == 0 && (rc = vls_scan_next_cells(&cells, &from_seq, scan, err)) > 0) {
        valise_commit commit;
        rc = vls_rows_decode(&commit, p->rows, cells, from_seq, &p->arena, err);
        if (rc == 0 && !vls_vec_push(&p->versions, p->env, commit))
            rc = vls_fail_memory(err);
    }
    return rc;
}

/* Only those up to the edge; the others are history that stays. */
static int read_entries(plan *p, valise_str key, valise_error *err)
{
    const vls_quarantine_row probe = {.backpack = p->rows->bag.id, .key = key};
    const valise_select select = {.index = "key", .row = &probe, .equal = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_quarantine_row row;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bag_quarantines, &select, err);

    p->entries.len = 0;
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = vls_arena_dup(&row.key, &p->arena, row.key, err);
        if (rc == 0 && !vls_vec_push(&p->entries, p->env, row))
            rc = vls_fail_memory(err);
    }
    return rc;
}

/* Does anybody see the entry? Those that stand behind the edge are history; what a fork began with
 * was there from 0 on. */
static bool entry_stays(const plan *p, const vls_quarantine_row *entry)
{
    int64_t since = VLS_MAX(entry->seq, 0);

    return since > p->edge || entry->released == 0 || entry->released > p->edge ||
           has_point(p, since, entry->released);
}

static bool entry_needs(const plan *p, int64_t seq)
{
    for (size_t i = 0; i < p->entries.len; i++) {
        const vls_quarantine_row *e = &p->entries.ptr[i];
        bool own = vls_uuid_equal(&e->item_backpack, &p->rows->bag.id);
        if ((e->seq == seq || (own && e->item == seq)) && entry_stays(p, e))
            return true;
    }
    return false;
}

static int plan_key(plan *p, valise_str key, valise_error *err)
{
    /* What hides something in the lineage must stay as well. */
    bool hides = p->rows->segment_count > 1;
    int rc;

    vls_arena_reset(&p->arena);
    rc = read_versions(p, key, err);
    if (rc == 0)
        rc = read_entries(p, key, err);
    for (size_t i = p->versions.len; rc == 0 && i-- > 0;) { /* oldest first */
        const valise_commit *c = &p->versions.ptr[i];
        int64_t end = i > 0 ? p->versions.ptr[i - 1].seq : INT64_MAX;
        bool seen = has_point(p, c->seq, end) && (vls_commit_is_live(c) || hides);
        if (seen || entry_needs(p, c->seq) || is_pinned(p, c->seq) || c->seq == p->rows->last.seq)
            hides = true;
        else
            rc = p->ops->commit(p->ops->arg, c, err);
    }
    for (size_t i = 0; rc == 0 && i < p->entries.len; i++) {
        if (!entry_stays(p, &p->entries.ptr[i]))
            rc = p->ops->entry(p->ops->arg, &p->entries.ptr[i], err);
    }
    return rc;
}

/* ---- all keys ---- */

static int gather(plan *p, int64_t from, int64_t upto, valise_error *err)
{
    const vls_rows_range range = {&p->rows->bag.id, from, upto, false};
    vls_ledger_head head;
    vls_ledger ledger = vls_rows_ledger(p->rows);
    int rc = ledger.ops->head(&head, p->rows, err); /* the newest commit is known then */

    if (rc == 0)
        rc = add_checkpoints(p, err);
    if (rc == 0)
        rc = add_forks(p, err);
    if (rc == 0)
        rc = add_point(p, p->edge, err);
    if (rc == 0)
        rc = add_pinned(p, err);
    if (rc < 0)
        return rc;
    qsort(p->points.ptr, p->points.len, sizeof(int64_t), vls_i64_order);
    return vls_rows_each(p->rows, &range, vls_key_set_add, &p->keys, err);
}

/* ---- runs ---- */

static int take_run(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)err;
    *(int64_t *)arg = commit->run;
    return 1;
}

/* Below what the command changes: it lets go of no newest one. */
static int is_newest_run(const plan *p, const vls_run_row *run, valise_error *err)
{
    const valise_select select = {
        .index = "node", .row = run, .equal = 2, .flags = VALISE_SCAN_REVERSE | VLS_SCAN_BELOW};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_run_row newest = {0};
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bag_runs, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&newest, scan, err);
    return rc < 0 ? rc : newest.number == run->number;
}

/* Runs come in the order of their starts. */
static int read_runs(seq_list *out, plan *p, int64_t going, valise_error *err)
{
    const vls_run_row probe = {.backpack = p->rows->bag.id};
    const valise_select select = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_run_row run;
    int rc = valise_view_scan(&scan, p->rows->view, &vls_bag_runs, &select, err);

    while (rc == 0 && out->len < VLS_EXPIRE_RUNS && (rc = valise_scan_next(&run, scan, err)) > 0 &&
           run.start < p->edge) {
        rc = vls_run_is_past(&run, p->edge, going) ? is_newest_run(p, &run, err) : 1;
        if (rc == 0 && !vls_vec_push(out, p->env, run.number))
            rc = vls_fail_memory(err);
        rc = vls_settle(rc);
    }
    return vls_settle(rc);
}

static int plan_runs(plan *p, valise_error *err)
{
    const vls_rows_range behind = {&p->rows->bag.id, p->edge + 1, INT64_MAX, false};
    seq_list numbers = VLS_VEC_INIT;
    int64_t going = 0;
    int rc = vls_rows_each(p->rows, &behind, take_run, &going, err);

    if (rc >= 0)
        rc = read_runs(&numbers, p, going, err);
    for (size_t i = 0; rc == 0 && i < numbers.len; i++) {
        const vls_run_row run = {.backpack = p->rows->bag.id, .number = numbers.ptr[i]};
        rc = p->ops->run(p->ops->arg, &run, err);
    }
    vls_vec_release(&numbers, p->env);
    return rc;
}

int vls_expire_plan(vls_rows *rows, int64_t from, int64_t upto, const vls_expire_ops *ops,
                    valise_error *err)
{
    VLS_AUTO(plan)
    plan p = {.rows = rows,
              .edge = VLS_MAX(upto, rows->bag.edge),
              .ops = ops,
              .env = rows->view->arena.env,
              .points = VLS_VEC_INIT,
              .pinned = VLS_VEC_INIT,
              .versions = VLS_VEC_INIT,
              .entries = VLS_VEC_INIT};
    int rc;

    vls_key_set_init(&p.keys, p.env);
    vls_arena_init(&p.arena, p.env, VLS_VIEW_MAX_BYTES);
    rc = gather(&p, from, upto, err);
    /* In the order in which they came: the same wherever the log is replayed. */
    for (size_t i = 0; rc == 0 && i < p.keys.list.len; i++)
        rc = plan_key(&p, p.keys.list.ptr[i], err);
    return rc < 0 ? rc : plan_runs(&p, err);
}
