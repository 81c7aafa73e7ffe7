/* rows.c -- a ledger over collections: opening, the head, changes, and the table of functions.
 *
 * Start reading at vls_rows_open_id; finding and walking is in rows_find.c and rows_walk.c. */
#include "backpack/rows.h"

#include "base/hex.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/text.h"
#include "base/uuid.h"

static const valise_uuid no_uuid;
/* ---- finding a backpack ---- */

/* Names are for who may read what has them. */
static bool may_name(valise_view *view, const char *name)
{
    const char *attrs[] = {"backpack", name, NULL};

    return name[0] && valise_view_allows(view, "backpack:read", attrs, NULL) >= 0;
}

static int fail_unknown(valise_view *view, valise_str name, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    const valise_select by_name = {.index = "name"};
    char best[VLS_NEAR_MAX + 1] = "";
    vls_near near;
    vls_bag_row row;
    int rc = valise_view_scan(&scan, view, &vls_bags, &by_name, err);

    vls_near_init(&near, name);
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        size_t distance = near.distance;
        rc = 0;
        if (row.dropped)
            continue;
        vls_near_try(&near, row.name);
        if (near.distance < distance && row.name.len < sizeof(best))
            (void)snprintf(best, sizeof(best), "%.*s", VALISE_STR_ARG(row.name));
    }
    if (rc < 0)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no backpack '%s'", vls_text_short(name).s);
    if (may_name(view, best))
        vls_hint(err, "did you mean '%s'?", best);
    else
        vls_hint(err, "'valise bp list' lists them");
    return VALISE_E_NOT_FOUND;
}

int vls_rows_find(vls_bag_row *out, valise_view *view, valise_str name, valise_error *err)
{
    const vls_bag_row probe = {.name = name};
    const valise_select by_name = {.index = "name", .row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_bag_row row = {0};
    int rc = valise_view_scan(&scan, view, &vls_bags, &by_name, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0 && row.dropped)
        rc = 0;
    if (rc <= 0)
        return rc;
    *out = (vls_bag_row){.id = row.id};
    return valise_view_get(out, view, &vls_bags, err); /* its strings live as long as the view */
}

/* ---- numbers ---- */

/* No command makes such a row, but a bundle could once bring one: nothing is counted on from there.
 */
static int check_number(const vls_bag_row *bag, const char *what, int64_t number, valise_error *err)
{
    if (number >= 0 && number <= VLS_BAG_ROW_NUMBER_MAX)
        return 0;
    (void)vls_fail(err, VALISE_E_CORRUPT, "backpack '%s' is damaged: %s %lld is impossible",
                   vls_text_short(bag->name).s, what, (long long)number);
    vls_hint(err, "'valise validate' looks for further damage");
    return VALISE_E_CORRUPT;
}

static int check_bag(const vls_bag_row *bag, valise_error *err)
{
    int rc = check_number(bag, "edge", bag->edge, err);

    return rc < 0 ? rc : check_number(bag, "origin seq", bag->origin_seq, err);
}

/* ---- lineage ---- */

static int count_origins(size_t *out, valise_view *view, const vls_bag_row *bag, valise_error *err)
{
    vls_bag_row at = *bag;
    size_t count = 1;
    int rc = check_bag(bag, err);

    if (rc < 0)
        return rc;
    while (!vls_uuid_is_none(&at.origin)) {
        vls_bag_row origin = {.id = at.origin};
        rc = valise_view_get(&origin, view, &vls_bags, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return vls_fail(err, VALISE_E_CORRUPT,
                            "the backpack that '%s' was forked from is missing",
                            vls_text_short(at.name).s);
        if (++count > VLS_BAG_DEPTH_MAX)
            return vls_fail(err, VALISE_E_LIMIT,
                            "backpack '%s' is at the end of a chain of more than %d forks",
                            vls_text_short(bag->name).s, VLS_BAG_DEPTH_MAX);
        rc = check_bag(&origin, err);
        if (rc < 0)
            return rc;
        at = origin;
    }
    *out = count;
    return 0;
}

static vls_rows_segment segment_of(const vls_bag_row *bag, int64_t upto)
{
    return (vls_rows_segment){bag->id, upto, VLS_MIN(bag->edge, upto)};
}

static int trace(vls_rows *rows, valise_error *err)
{
    const valise_env *env = rows->view->arena.env;
    vls_bag_row at = rows->bag;
    size_t count;
    int rc = count_origins(&count, rows->view, &at, err);

    if (rc < 0)
        return rc;
    rows->segments = vls_mem_alloc(env, count * sizeof(*rows->segments));
    if (!rows->segments)
        return vls_fail_memory(err);
    rows->segment_count = count;
    rows->segments[0] = segment_of(&at, rows->upto);
    for (size_t i = 1; i < count; i++) {
        vls_bag_row origin = {.id = at.origin};
        rc = valise_view_get(&origin, rows->view, &vls_bags, err);
        if (rc < 0)
            return rc;
        rows->segments[i] = segment_of(&origin, at.origin_seq);
        at = origin;
    }
    return 0;
}

/* ---- opening ---- */

static bool is_past(const valise_view *view)
{
    return view->at != view->txn->tip.seq;
}

static int look_back(vls_rows *rows, valise_error *err);

static int open_row(vls_rows *out, valise_view *view, const vls_bag_row *bag, valise_error *err)
{
    int rc;

    *out = (vls_rows){.view = view, .bag = *bag, .upto = INT64_MAX, .last_run = -1, .open_run = -1};
    vls_arena_init(&out->arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = trace(out, err);
    if (rc == 0 && is_past(view))
        rc = look_back(out, err);
    if (rc < 0)
        vls_rows_close(out);
    return rc;
}

int vls_rows_open(vls_rows *out, valise_view *view, valise_str name, valise_error *err)
{
    vls_bag_row bag;
    int rc = vls_rows_find(&bag, view, name, err);

    if (rc == 0)
        return fail_unknown(view, name, err);
    return rc < 0 ? rc : open_row(out, view, &bag, err);
}

int vls_rows_open_id(vls_rows *out, valise_view *view, const valise_uuid *id, valise_error *err)
{
    vls_bag_row bag = {.id = *id};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    if (rc == 0 || (rc > 0 && bag.dropped))
        return vls_fail(err, VALISE_E_NOT_FOUND, "there is no backpack %s", vls_uuid_text(id).s);
    return rc < 0 ? rc : open_row(out, view, &bag, err);
}

/* ---- today ---- */

struct vls_rows_today {
    valise_view view;
    vls_rows rows;
};

static void close_today(vls_rows *rows)
{
    struct vls_rows_today *today = rows->today;

    if (!today)
        return;
    vls_rows_close(&today->rows);
    vls_view_release(&today->view);
    vls_mem_free(rows->view->arena.env, today, sizeof(*today));
    rows->today = NULL;
}

/* The backpack as it is today. VALISE_E_NOT_FOUND when it was dropped: not of one that is open. */
static int find_today(vls_rows **out, vls_rows *rows, valise_error *err)
{
    const valise_env *env = rows->view->arena.env;
    int rc = 0;

    if (!is_past(rows->view)) {
        *out = rows;
        return 0;
    }
    if (!rows->today) {
        rows->today = vls_mem_zalloc(env, sizeof(*rows->today));
        if (!rows->today)
            return vls_fail_memory(err);
        vls_view_init(&rows->today->view, rows->view->txn, env);
        rc = vls_rows_open_id(&rows->today->rows, &rows->today->view, &rows->bag.id, err);
        if (rc < 0) {
            close_today(rows);
            return rc;
        }
    }
    *out = &rows->today->rows;
    return 0;
}

void vls_rows_close(vls_rows *rows)
{
    const valise_env *env;

    if (!rows->view)
        return;
    env = rows->view->arena.env;
    close_today(rows);
    vls_recent_free(rows);
    vls_mem_free(env, rows->segments, rows->segment_count * sizeof(*rows->segments));
    vls_arena_release(&rows->arena);
    *rows = (vls_rows){.view = NULL};
}

/* ---- enter and leave ---- */

static void enter(void *self)
{
    (void)self; /* a view has one state, and whoever commands is alone */
}

static void leave(void *self)
{
    vls_rows *rows = self;

    vls_arena_reset(&rows->arena);
}

/* ---- the head ---- */

/* The newest commit of one backpack up to a seq: 1, or 0. Its strings live in the arena. */
static int last_upto(valise_commit *out, vls_rows *rows, const valise_uuid *backpack, int64_t upto,
                     valise_error *err)
{
    const valise_commit probe = {.backpack = *backpack, .seq = upto};
    const valise_select select = {
        .row = &probe, .equal = 1, .from = 1, .flags = VALISE_SCAN_REVERSE};

    return vls_rows_first(out, rows, &select, &rows->arena, err);
}

/* A cell may be NULL, as a field that is not set is. */
static int64_t integer_of(const valise_cell *cell)
{
    return cell->type == VALISE_CELL_INT ? cell->as.integer : 0;
}

static valise_str text_of(const valise_cell *cell)
{
    return cell->type == VALISE_CELL_TEXT ? cell->as.bytes : VLS_STR("");
}

static void note_node(vls_rows_last_commit *last, valise_str id)
{
    size_t len = VLS_MIN(id.len, sizeof(last->node) - 1);

    if (len > 0)
        memcpy(last->node, id.ptr, len);
    last->node[len] = '\0';
}

/* A fork that has no commit yet goes on from the time of its origin's. */
static int read_last(vls_rows *rows, valise_error *err)
{
    vls_rows_last_commit last = {.known = true};
    valise_cell cells[VALISE_MAX_COLUMNS];
    valise_commit commit = {0};
    int rc = 0;

    if (rows->last.known)
        return 0;
    rc = vls_rows_last(cells, rows->view, &rows->bag.id, err);
    if (rc > 0) {
        last.seq = integer_of(&cells[VLS_COMMIT_SEQ]);
        last.time = integer_of(&cells[VLS_COMMIT_TIME]);
        last.run = last.seq > rows->bag.edge ? integer_of(&cells[VLS_COMMIT_RUN]) : 0;
        note_node(&last, text_of(&cells[VLS_COMMIT_NODE_ID]));
        rc = check_number(&rows->bag, "commit", last.seq, err);
    }
    for (size_t i = 1; rc >= 0 && last.origin_time == 0 && i < rows->segment_count; i++) {
        const vls_rows_segment *s = &rows->segments[i];
        rc = last_upto(&commit, rows, &s->backpack, s->upto, err);
        if (rc > 0)
            last.origin_time = commit.time;
    }
    if (rc < 0)
        return rc;
    last.time = VLS_MAX(last.time, last.origin_time);
    last.seq = VLS_MAX(last.seq, rows->bag.edge);
    rows->last = last;
    return 0;
}

static int fail_expired(const vls_rows *rows, const vls_rows *today, valise_error *err)
{
    (void)vls_fail(
        err, VALISE_E_LIMIT,
        "the state of backpack '%s' at that time has expired: the oldest is that after commit %lld",
        vls_text_short(rows->bag.name).s, (long long)today->bag.edge);
    vls_hint(err, "a checkpoint keeps a state for longer");
    return VALISE_E_LIMIT;
}

static int fail_dropped(const vls_rows *rows, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND,
                   "backpack '%s' was dropped since then, and its state is gone",
                   vls_text_short(rows->bag.name).s);
    vls_hint(err, "'valise bp list' lists them");
    return VALISE_E_NOT_FOUND;
}

/* Commits that are removed are gone from all states at once: what is known of the backpack as it
 * was begins where it does today, and is false before that. Origins hold what forks need. */
static int look_back(vls_rows *rows, valise_error *err)
{
    vls_rows *today = NULL;
    int rc = find_today(&today, rows, err);

    if (rc == VALISE_E_NOT_FOUND)
        return fail_dropped(rows, err);
    if (rc == 0)
        rc = read_last(rows, err);
    if (rc < 0)
        return rc;
    if (rows->last.seq < today->bag.edge)
        return fail_expired(rows, today, err);
    rows->bag.edge = today->bag.edge;
    rows->last.known = false; /* it was read with the edge of that time */
    for (size_t i = 0; i < VLS_MIN(rows->segment_count, today->segment_count); i++)
        rows->segments[i].edge = today->segments[i].edge;
    vls_arena_reset(&rows->arena);
    return 0;
}

/* Columns of a run. */
enum { RUN_NUMBER = 1, RUN_END = 4 };

static int64_t open_run_of(int64_t number, int64_t end)
{
    return end <= 0 ? number : 0;
}

static int read_last_run(vls_rows *rows, valise_error *err)
{
    const vls_run_row probe = {.backpack = rows->bag.id};
    const valise_select select = {.row = &probe, .equal = 1};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc;

    if (rows->last_run >= 0)
        return 0;
    rc = vls_view_last(cells, NULL, rows->view, &vls_bag_runs, &select, err);
    if (rc < 0)
        return rc;
    rows->last_run = rc > 0 ? integer_of(&cells[RUN_NUMBER]) : 0;
    if (check_number(&rows->bag, "run", rows->last_run, err) < 0) {
        rows->last_run = -1;
        return VALISE_E_CORRUPT;
    }
    /* Mostly it is the run of the newest commit too. */
    if (rc > 0 && rows->last.known && rows->last_run == rows->last.run && rows->upto == INT64_MAX)
        rows->open_run = open_run_of(rows->last_run, integer_of(&cells[RUN_END]));
    return 0;
}

/* Does the run of the newest commit go on? */
static int read_open_run(vls_rows *rows, valise_error *err)
{
    vls_run_row run = {.backpack = rows->bag.id, .number = rows->last.run};
    int rc = 0;

    if (rows->open_run >= 0)
        return 0;
    if (run.number > 0 && rows->upto == INT64_MAX)
        rc = valise_view_get(&run, rows->view, &vls_bag_runs, err);
    if (rc >= 0)
        rows->open_run = rc > 0 ? open_run_of(run.number, run.end) : 0;
    return rc < 0 ? rc : 0;
}

/* Mix in which rows there are, and which entries made them. */
static int mix_rows(uint64_t *hash, const vls_rows *rows, const valise_coll *desc,
                    const valise_uuid *backpack, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(rows->view->txn->store, desc);
    const valise_select select = {.row = backpack, .equal = 1}; /* their first member */
    VLS_AUTO(scan) valise_scan *scan = NULL;
    valise_cell last[VALISE_MAX_COLUMNS];
    const valise_cell *cells;
    int64_t from_seq;
    int rc = vls_view_last(last, NULL, rows->view, desc, &select, err);

    if (rc <= 0)
        return rc; /* mostly there are none */
    rc = valise_view_scan(&scan, rows->view, desc, &select, err);
    while (rc == 0 && (rc = vls_scan_next_cells(&cells, &from_seq, scan, err)) > 0) {
        *hash = vls_str_hash(cells[1].as.bytes, *hash + (uint64_t)from_seq + coll->number);
        rc = 0;
    }
    return rc;
}

/* Permissions and rules are few; a hash of who made them when is cheaper than a counter that every
 * writer of them would have to know of. */
static int read_generation(vls_rows *rows, valise_error *err)
{
    uint64_t hash = rows->changes;
    vls_rows *today = NULL;
    int rc;

    if (rows->generation != 0)
        return 0;
    rc = find_today(&today, rows, err);
    if (rc == 0)
        rc = mix_rows(&hash, today, &vls_bag_permissions, &rows->bag.id, err);
    if (rc == 0)
        rc = mix_rows(&hash, today, &vls_bag_rules, &rows->bag.id, err);
    if (rc == 0)
        rc = mix_rows(&hash, today, &vls_bag_rules, &no_uuid, err);
    if (rc == 0)
        rows->generation = hash ? hash : 1;
    return rc;
}

static int head(vls_ledger_head *out, void *self, valise_error *err)
{
    vls_rows *rows = self;
    const vls_bag_row *bag = &rows->bag;
    int rc = read_last(rows, err);

    if (rc == 0)
        rc = read_last_run(rows, err);
    if (rc == 0)
        rc = read_open_run(rows, err);
    if (rc == 0)
        rc = read_generation(rows, err);
    if (rc < 0)
        return rc;
    *out = (vls_ledger_head){.id = bag->id,
                             .name = bag->name,
                             .lenient = bag->lenient,
                             .taint = bag->taint,
                             .sticky = bag->sticky,
                             .origin = bag->origin,
                             .origin_seq = bag->origin_seq,
                             .origin_time = rows->last.origin_time,
                             .edge = rows->segments[0].edge,
                             .last = VLS_MIN(rows->last.seq, rows->upto),
                             .last_time = rows->last.time,
                             .last_run = rows->last_run,
                             .open_run = rows->open_run,
                             .last_node = valise_str_of(rows->last.node),
                             .generation = rows->generation};
    return 0;
}

/* ---- commits ---- */

static int newest(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    vls_rows *rows = self;

    return vls_rows_newest(out, rows, key, &rows->arena, err);
}

static int present(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    vls_rows *rows = self, *today;
    vls_rows_segment shown = rows->segments[0];
    int rc = find_today(&today, rows, err);

    if (rc < 0 || today != rows)
        return rc < 0 ? rc : vls_rows_newest(out, today, key, &rows->arena, err);
    rows->segments[0] = segment_of(&rows->bag, INT64_MAX);
    rc = vls_rows_newest(out, rows, key, &rows->arena, err);
    rows->segments[0] = shown;
    return rc;
}

/* Is the commit, which lies before the edge, still shown? As the item of the state at the edge, or
 * by the quarantine. What only checkpoints and forks need belongs to them. */
static int is_held(const vls_rows *rows, const vls_rows_segment *segment,
                   const valise_commit *commit, vls_arena *arena, valise_error *err)
{
    const vls_quarantine_row probe = {.backpack = segment->backpack, .key = commit->key};
    const valise_select select = {.index = "key", .row = &probe, .equal = 2};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_quarantine_row entry;
    valise_commit at_edge;
    int rc =
        vls_rows_seek(&at_edge, rows, &segment->backpack, commit->key, segment->edge, arena, err);

    if (rc < 0 || (at_edge.seq == commit->seq && vls_commit_is_live(commit)))
        return rc < 0 ? rc : 1;
    rc = valise_view_scan(&scan, rows->view, &vls_bag_quarantines, &select, err);
    while (rc == 0 && (rc = valise_scan_next(&entry, scan, err)) > 0) {
        bool own = vls_uuid_equal(&entry.item_backpack, &segment->backpack);
        if ((entry.seq == commit->seq || (own && entry.item == commit->seq)) &&
            (entry.released == 0 || entry.released > segment->edge))
            return 1;
        rc = 0;
    }
    return rc;
}

static int get_commit(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                      valise_error *err)
{
    vls_rows *rows = self;
    const vls_rows_segment *segment = NULL;
    const valise_commit probe = {.backpack = *backpack, .seq = seq};
    const valise_select select = {.row = &probe, .equal = 2};
    valise_commit commit = {0};
    int rc;

    for (size_t i = 0; i < rows->segment_count && !segment; i++) {
        if (vls_uuid_equal(&rows->segments[i].backpack, backpack))
            segment = &rows->segments[i];
    }
    if (!segment || seq > segment->upto)
        return 0;
    rc = vls_rows_first(&commit, rows, &select, &rows->arena, err);
    if (rc > 0 && seq <= segment->edge)
        rc = is_held(rows, segment, &commit, &rows->arena, err);
    if (rc > 0)
        *out = commit;
    return rc;
}

static int get_value(valise_blob **out, void *self, const valise_commit *commit, valise_error *err)
{
    vls_rows *rows = self;

    if (vls_id_is_none(&commit->value))
        return vls_fail(err, VALISE_E_NOT_FOUND, "commit %lld of '%s' has no value",
                        (long long)commit->seq, vls_text_short(commit->key).s);
    return vls_view_blob(out, rows->view, &commit->value, err);
}

/* ---- changes ---- */

static int check_change(const vls_rows *rows, valise_error *err)
{
    if (rows->view->changing && rows->upto == INT64_MAX)
        return 0;
    return vls_fail(err, VALISE_E_UNSUPPORTED, "backpack '%s' can only be read here",
                    vls_text_short(rows->bag.name).s);
}

/* Contents among a command's arguments are objects of it already. */
static int add_value(const vls_rows *rows, const valise_commit *commit, valise_blob *value,
                     valise_error *err)
{
    valise_id id;
    int rc;

    if (vls_id_is_none(&commit->value))
        return 0;
    rc = vls_view_has_object(rows->view, &commit->value, err);
    if (rc != 0 || !value)
        return rc < 0 ? rc : 0; /* what is not there, applying finds */
    rc = valise_view_add(&id, rows->view, "value", vls_blob_bytes(value), err);
    if (rc == 0 && !vls_id_equal(&id, &commit->value))
        rc = vls_fail(err, VALISE_E_INVALID, "the value of '%s' does not match its id",
                      vls_text_short(commit->key).s);
    return rc;
}

static int append(void *self, valise_commit *commit, valise_blob *value, valise_error *err)
{
    vls_rows *rows = self;
    valise_commit row = *commit;
    int rc = check_change(rows, err);

    if (rc == 0)
        rc = read_last(rows, err);
    if (rc < 0)
        return rc;
    if (row.seq != 0 && row.seq <= rows->last.seq)
        return vls_fail(err, VALISE_E_CONFLICT, "commit %lld comes after commit %lld",
                        (long long)row.seq, (long long)rows->last.seq);
    row.backpack = rows->bag.id;
    row.seq = row.seq ? row.seq : rows->last.seq + 1;
    row.id = vls_commit_id(&row.backpack, row.seq, row.time);
    row.log_seq = rows->view->stamp.seq;
    rc = add_value(rows, &row, value, err);
    if (rc == 0)
        rc = valise_view_put(rows->view, &vls_bag_commits, &row, err);
    if (rc == 0 && rows->appended && !rows->recent)
        rc = vls_recent_new(rows, err);
    if (rc < 0)
        return rc;
    rows->appended = true;
    rows->last.seq = row.seq;
    rows->last.time = row.time;
    if (row.run != rows->last.run)
        rows->open_run = -1;
    rows->last.run = row.run;
    note_node(&rows->last, row.node_id);
    *commit = row;
    return 0;
}

static int set_edge(void *self, int64_t edge, valise_error *err)
{
    vls_rows *rows = self;
    vls_bag_row bag = rows->bag;
    int rc = check_change(rows, err);

    if (rc == 0)
        rc = read_last(rows, err);
    if (rc == 0 && edge < rows->last.seq)
        rc = vls_fail(err, VALISE_E_INVALID, "the edge cannot lie before commit %lld",
                      (long long)rows->last.seq);
    bag.edge = edge;
    if (rc == 0)
        rc = valise_view_put(rows->view, &vls_bags, &bag, err);
    if (rc < 0)
        return rc;
    rows->bag = bag;
    rows->segments[0].edge = edge;
    rows->last.seq = edge;
    rows->last.run = rows->open_run = 0;
    return 0;
}

/* ---- rows ---- */

/* Does the checkpoint of that time hold its state to this day? Then 1. */
static int check_held(vls_rows *rows, const vls_bag_checkpoint_row *then, valise_error *err)
{
    vls_bag_checkpoint_row now = {.backpack = then->backpack, .name = then->name};
    vls_rows *today = NULL;
    int rc = find_today(&today, rows, err);

    if (rc == 0)
        rc = valise_view_get(&now, today->view, &vls_bag_checkpoints, err);
    if (rc < 0 || (rc > 0 && now.seq == then->seq))
        return rc;
    return vls_fail(err, VALISE_E_LIMIT, "the state that checkpoint '%s' named then has expired",
                    vls_text_short(then->name).s);
}

static int row_get(void *row, void *self, const valise_coll *coll, valise_error *err)
{
    vls_rows *rows = self;
    int rc = valise_view_get(row, rows->view, coll, err);

    if (rc > 0 && coll == &vls_bag_checkpoints && is_past(rows->view) &&
        ((const vls_bag_checkpoint_row *)row)->seq < rows->bag.edge)
        rc = check_held(rows, row, err);
    return rc;
}

static void note_change(vls_rows *rows, const valise_coll *coll)
{
    if (coll != &vls_bag_permissions && coll != &vls_bag_rules)
        return;
    rows->changes++;
    rows->generation = 0;
}

/* Which run of its node comes next. What the command has put counts too. */
static int next_run(int64_t *nth, const vls_rows *rows, valise_str node_id, valise_error *err)
{
    const vls_run_row probe = {.backpack = rows->bag.id, .node_id = node_id};
    const valise_select select = {
        .index = "node", .row = &probe, .equal = 2, .flags = VALISE_SCAN_REVERSE};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_run_row newest = {0};
    int rc = valise_view_scan(&scan, rows->view, &vls_bag_runs, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&newest, scan, err);
    if (rc >= 0)
        rc = check_number(&rows->bag, "run", newest.nth, err);
    if (rc == 0)
        *nth = newest.nth + 1;
    return rc;
}

static int put_run(vls_rows *rows, const vls_run_row *like, valise_error *err)
{
    vls_run_row run = *like;
    int rc = run.nth ? 0 : next_run(&run.nth, rows, run.node_id, err);

    if (rc == 0)
        rc = valise_view_put(rows->view, &vls_bag_runs, &run, err);
    if (rc < 0)
        return rc;
    if (rows->last_run >= 0)
        rows->last_run = VLS_MAX(rows->last_run, run.number);
    rows->open_run = -1;
    return 0;
}

static int row_put(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    vls_rows *rows = self;
    int rc = check_change(rows, err);

    if (rc == 0 && coll == &vls_bag_runs)
        return put_run(rows, row, err);
    if (rc == 0)
        rc = valise_view_put(rows->view, coll, row, err);
    if (rc == 0)
        note_change(rows, coll);
    return rc;
}

static int row_delete(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    vls_rows *rows = self;
    int rc = check_change(rows, err);

    if (rc == 0)
        rc = valise_view_delete(rows->view, coll, row, err);
    if (rc > 0)
        note_change(rows, coll);
    if (rc > 0 && coll == &vls_bag_runs)
        rows->last_run = rows->open_run = -1;
    return rc;
}

static int each_row_of(const vls_rows *rows, const valise_coll *coll, const valise_uuid *backpack,
                       int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                       valise_error *err)
{
    const valise_select select = {.row = backpack, .equal = 1}; /* the first member of all */
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_any_row row;
    int rc = valise_view_scan(&scan, rows->view, coll, &select, err);

    assert(coll->row_size <= sizeof(row));
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = fn(arg, &row, err);
    return rc;
}

static int each_row(void *self, const valise_coll *coll,
                    int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                    valise_error *err)
{
    const vls_rows *rows = self;
    int rc = 0;

    if (coll == &vls_bag_rules)
        rc = each_row_of(rows, coll, &no_uuid, fn, arg, err);
    return rc != 0 ? rc : each_row_of(rows, coll, &rows->bag.id, fn, arg, err);
}

/* ---- states ---- */

static int today_of(vls_ledger *out, void *self, valise_error *err)
{
    vls_rows *rows = self, *today;
    int rc = find_today(&today, rows, err);

    if (rc == 0)
        *out = vls_rows_ledger(today);
    return rc;
}

static int freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err);

static void release(void *self)
{
    vls_rows *rows = self;
    const valise_env *env = rows->view->arena.env;

    assert(rows->on_heap);
    vls_rows_close(rows);
    vls_mem_free(env, rows, sizeof(*rows));
}

static const vls_ledger_ops rows_ops = {
    .name = "rows",
    .undone = true,
    .enter = enter,
    .leave = leave,
    .head = head,
    .newest = newest,
    .present = present,
    .version = vls_rows_version,
    .commit = get_commit,
    .includes = vls_rows_includes,
    .value = get_value,
    .append = append,
    .set_edge = set_edge,
    .row_get = row_get,
    .row_put = row_put,
    .row_delete = row_delete,
    .ran = vls_rows_ran,
    .read_add = vls_rows_read_add,
    .today = today_of,
    .each_item = vls_rows_each_item,
    .each_gone = vls_rows_each_gone,
    .each_named = vls_rows_each_named,
    .each_version = vls_rows_each_version,
    .each_commit = vls_rows_each_commit,
    .each_difference = vls_rows_each_difference,
    .each_row = each_row,
    .each_read = vls_rows_each_read,
    .usage = vls_rows_usage,
    .freeze = freeze,
    .release = release,
};

static int freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err)
{
    vls_rows *rows = self, *frozen;
    const valise_env *env = rows->view->arena.env;
    size_t size = rows->segment_count * sizeof(*rows->segments);
    vls_rows_segment *segments = vls_mem_alloc(env, size);

    if (!segments)
        return vls_fail_memory(err);
    frozen = vls_mem_alloc(env, sizeof(*frozen));
    if (!frozen) {
        vls_mem_free(env, segments, size);
        return vls_fail_memory(err);
    }
    memcpy(segments, rows->segments, size);
    segments[0] = segment_of(&rows->bag, upto);
    *frozen = *rows;
    frozen->recent = NULL; /* a state of the past has none of them, or looks for them */
    frozen->segments = segments;
    frozen->upto = upto;
    frozen->open_run = 0;
    frozen->on_heap = true;
    frozen->today = NULL;
    vls_arena_init(&frozen->arena, env, VLS_VIEW_MAX_BYTES);
    *out = (vls_ledger){&rows_ops, frozen, true};
    return 0;
}

vls_ledger vls_rows_ledger(vls_rows *rows)
{
    return (vls_ledger){&rows_ops, rows, false};
}

/* ---- making ---- */

static int fail_taken(valise_str name, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_EXISTS, "a backpack '%s' already exists", vls_text_short(name).s);
    vls_hint(err, "choose another name; 'valise bp list' lists those in use");
    return VALISE_E_EXISTS;
}

int vls_rows_make(vls_bag_row *like, valise_view *view, valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_bag_row row = *like, old;
    int rc = vls_bag_check_name(row.name, err);

    if (rc == 0)
        rc = vls_rows_find(&old, view, row.name, err);
    if (rc > 0)
        return fail_taken(row.name, err);
    if (rc == 0)
        rc = valise_view_uuid(&row.id, view, err);
    row.created = stamp->time;
    row.actor = stamp->actor;
    row.edge = 0;
    if (rc == 0)
        rc = valise_view_put(view, &vls_bags, &row, err);
    if (rc == 0)
        *like = row;
    return rc;
}

/* Rows of the origin that become the fork's own. */
typedef struct copying {
    valise_view *view;
    const valise_uuid *to;
    int64_t upto;
    int64_t entries; /* of the quarantine, that are there */
} copying;

static int copy_permission(void *arg, const void *from, valise_error *err)
{
    const copying *c = arg;
    vls_permission_row row = *(const vls_permission_row *)from;

    row.backpack = *c->to;
    return valise_view_put(c->view, &vls_bag_permissions, &row, err);
}

static int copy_rule(void *arg, const void *from, valise_error *err)
{
    const copying *c = arg;
    vls_rule_row row = *(const vls_rule_row *)from;

    row.backpack = *c->to;
    return valise_view_put(c->view, &vls_bag_rules, &row, err);
}

static int count_entry(void *arg, const void *from, valise_error *err)
{
    copying *c = arg;

    (void)err;
    c->entries += vls_entry_is_there(from, c->upto);
    return 0;
}

/* An entry that is there in the state that the fork starts with. */
static int copy_entry(void *arg, const void *from, valise_error *err)
{
    copying *c = arg;
    vls_quarantine_row row = *(const vls_quarantine_row *)from;

    if (!vls_entry_is_there(&row, c->upto))
        return 0;
    vls_entry_inherit(&row, c->to, -c->entries--);
    return valise_view_put(c->view, &vls_bag_quarantines, &row, err);
}

static int copy_mark(void *arg, const void *from, valise_error *err)
{
    const copying *c = arg;
    vls_taint_row row = *(const vls_taint_row *)from;

    return vls_mark_inherit(&row, c->to, c->upto)
               ? valise_view_put(c->view, &vls_bag_taints, &row, err)
               : 0;
}

int vls_rows_fork(vls_bag_row *out, const vls_ledger *from, valise_str name, valise_error *err)
{
    vls_rows *rows = from->self;
    vls_bag_row row = {.name = name,
                       .lenient = rows->bag.lenient,
                       .taint = rows->bag.taint,
                       .sticky = rows->bag.sticky,
                       .origin = rows->bag.id};
    copying c = {.view = rows->view, .to = &row.id};
    int rc = read_last(rows, err);

    if (rc == 0 && rows->segment_count >= VLS_BAG_DEPTH_MAX)
        rc = vls_fail(err, VALISE_E_LIMIT,
                      "backpack '%s' is at the end of a chain of more than %d forks",
                      vls_text_short(rows->bag.name).s, VLS_BAG_DEPTH_MAX - 1);
    row.origin_seq = c.upto = VLS_MIN(rows->last.seq, rows->upto);
    if (rc == 0)
        rc = vls_rows_make(&row, rows->view, err);
    if (rc == 0)
        rc = each_row_of(rows, &vls_bag_permissions, &rows->bag.id, copy_permission, &c, err);
    if (rc == 0)
        rc = each_row_of(rows, &vls_bag_rules, &rows->bag.id, copy_rule, &c, err);
    if (rc == 0)
        rc = each_row_of(rows, &vls_bag_quarantines, &rows->bag.id, count_entry, &c, err);
    if (rc == 0)
        rc = each_row_of(rows, &vls_bag_quarantines, &rows->bag.id, copy_entry, &c, err);
    if (rc == 0)
        rc = each_row_of(rows, &vls_bag_taints, &rows->bag.id, copy_mark, &c, err);
    if (rc == 0)
        *out = row;
    return rc;
}
