/* op_workspace_status.c -- workspace:status, what there is, answered without counting more than a
 * few rows, unless one asks areas to check. */
#include "base/str.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "kernel/kernel.h"
#include "store/log.h"
#include "store/store.h"
#include "store/view.h"

typedef struct status_args {
    bool check;
} status_args;

static const valise_field status_in[] = {
    VALISE_FIELD(status_args, check, BOOL, 0,
                 "Also check the files and count which frames are up to date."),
    VALISE_FIELD_END,
};

typedef struct status {
    valise_uuid workspace;
    valise_str label, metadata; /* NULLABLE */
    valise_str store;
    int64_t seq, oldest, time, bytes, format;
    int64_t pinned; /* NULLABLE */
    int64_t actors, pins;
    valise_list areas;
} status;

/* What an area or extension has to say. */
typedef struct line {
    valise_str area, name, value;
} line;

static const valise_field line_fields[] = {
    VALISE_FIELD(line, area, STR, VALISE_REQUIRED, "Who says it."),
    VALISE_FIELD(line, name, STR, VALISE_REQUIRED, "What it is."),
    VALISE_FIELD(line, value, JSON, VALISE_REQUIRED,
                 "What there is of it; {count, more} with more: at least so many."),
    VALISE_FIELD_END,
};
static const valise_struct line_struct = {sizeof(line), line_fields};
static const valise_field line_item = {
    .name = "line", .type = VALISE_T_STRUCT, .more = &line_struct};

static const valise_field status_out[] = {
    VALISE_FIELD(status, workspace, UUID, 0, "Id of the workspace."),
    VALISE_FIELD(status, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD(status, metadata, JSON, VALISE_NULLABLE, "Whatever else was told of it."),
    VALISE_FIELD(status, store, STR, 0, "The kind of store it is in."),
    VALISE_FIELD(status, format, INT, 0, "The store's format."),
    VALISE_FIELD(status, bytes, INT, 0, "What the store takes on disk."),
    VALISE_FIELD(status, seq, INT, 0, "The newest log entry."),
    VALISE_FIELD(status, time, TIME, VALISE_NULLABLE, "When that was written."),
    VALISE_FIELD(status, oldest, INT, 0, "The oldest state that can be seen."),
    VALISE_FIELD(status, pinned, INT, VALISE_NULLABLE, "The oldest state that a pin holds."),
    VALISE_FIELD(status, pins, INT, 0, "How many pins there are."),
    VALISE_FIELD(status, actors, INT, 0, "How many actors are known."),
    VALISE_FIELD_WITH(status, areas, LIST, 0, "What the areas have.", .more = &line_item),
    VALISE_FIELD_END,
};

static int count_pins(status *out, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        out->pins++;
        if (vls_pin_holds_log(&pin) && (out->pinned == VALISE_NONE || pin.seq < out->pinned))
            out->pinned = pin.seq;
    }
    valise_scan_close(scan);
    return rc;
}

static int count_actors(status *out, valise_view *view, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_actor_row actor;
    int rc = valise_view_scan(&scan, view, &vls_actor_coll, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&actor, scan, err)) > 0)
        out->actors++;
    valise_scan_close(scan);
    return rc;
}

/* What it is called, where somebody said so. */
static int find_label(status *out, valise_view *view, valise_error *err)
{
    vls_workspace_row row;
    int rc = vls_workspace_get(&row, view, err);

    if (rc <= 0)
        return rc;
    out->label = row.label;
    if (vls_id_is_none(&row.metadata))
        return 0;
    rc = valise_view_object(&out->metadata, view, &row.metadata, err);
    if (rc == VALISE_E_NOT_FOUND) { /* erased, since another place had it */
        vls_error_clear(err);
        return 0;
    }
    return rc;
}

/* When the newest entry of the state was written; NONE where it expired, or there is none. */
static int find_time(status *out, valise_view *view, valise_error *err)
{
    vls_entry entry;
    int rc;

    if (view->at == view->txn->tip.seq) {
        out->time = view->at > 0 ? view->txn->tip.time : VALISE_NONE;
        return 0;
    }
    rc = vls_log_get(&entry, view->txn, view->at, &view->arena, err);
    out->time = rc > 0 ? entry.time : VALISE_NONE;
    return rc < 0 ? rc : 0;
}

/* ---- what areas have ---- */

struct valise_status {
    valise_view *view;
    const valise_extension *package;
    bool check;
    vls_vec(line *) lines; /* in the view's memory */
};

bool valise_status_checks(const valise_status *s)
{
    return s && s->check;
}

int valise_status_add(valise_status *s, const char *name, valise_str json, valise_error *err)
{
    vls_arena *arena;
    line *new;
    int rc;

    VLS_ARG(s && name, err);
    arena = &s->view->arena;
    new = vls_arena_zalloc(arena, sizeof(*new));
    if (!new)
        return vls_arena_fail(arena, err);
    new->area = valise_str_of(s->package->name);
    rc = vls_arena_dup(&new->name, arena, valise_str_of(name), err);
    if (rc == 0)
        rc = vls_arena_dup(&new->value, arena, json, err);
    if (rc == 0 && !vls_vec_push_in(&s->lines, arena, new))
        rc = vls_arena_fail(arena, err);
    return rc;
}

static int read_some(int64_t *count, bool *more, valise_view *view, const valise_coll *coll,
                     const vls_status_gone *gone, valise_error *err)
{
    void *row = vls_arena_zalloc(&view->arena, coll->row_size);
    VLS_AUTO(scan) valise_scan *scan = NULL;
    int rc = row ? valise_view_scan(&scan, view, coll, NULL, err) : 0;

    if (!row)
        return vls_arena_fail(&view->arena, err);
    for (int64_t seen = 0; rc >= 0 && (rc = valise_scan_next(row, scan, err)) > 0; seen++) {
        bool there = !gone || !gone->is(row, gone->now);
        *more = seen == VLS_STATUS_SEEN || (there && *count == VLS_STATUS_MOST);
        if (*more)
            break;
        *count += there;
    }
    return vls_settle(rc);
}

int vls_status_count(valise_status *s, const char *name, const valise_coll *coll,
                     const vls_status_gone *gone, valise_error *err)
{
    int64_t count = 0;
    bool more = false;
    char text[64];
    int rc = read_some(&count, &more, s->view, coll, gone, err);

    if (rc < 0 || (count == 0 && !more))
        return rc;
    (void)snprintf(text, sizeof(text), "{\"count\":%lld,\"more\":%s}", (long long)count,
                   more ? "true" : "false");
    return valise_status_add(s, name, valise_str_of(text), err);
}

static int ask_areas(status *out, valise_view *view, bool check, valise_error *err)
{
    const valise *v = vls_view_bus(view);
    const valise_extension *const *packages = v ? vls_registry_packages(v->registry) : NULL;
    valise_status s = {.view = view, .check = check};
    int rc = 0;

    for (size_t i = 0; rc == 0 && packages && packages[i]; i++) {
        s.package = packages[i];
        if (s.package->status)
            rc = s.package->status(&s, view, err);
    }
    if (rc == 0 && s.lines.len > 0)
        out->areas = (valise_list){s.lines.ptr, s.lines.len};
    return vls_settle(rc);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const status_args *args = in;
    status *out = result;
    vls_txn *txn = view->txn;
    void *self;
    const valise_store_ops *ops = vls_store_ops(txn->store, &self);
    int rc;

    *out = (status){.workspace = txn->meta.workspace,
                    .store = valise_str_of(ops->name),
                    .format = VLS_FORMAT,
                    .seq = view->at,
                    .oldest = txn->tip.base_seq,
                    .pinned = VALISE_NONE};
    rc = find_time(out, view, err);
    if (rc == 0 && ops->maintain)
        rc = ops->maintain(&out->bytes, self, VALISE_MAINTAIN_SIZE, err);
    if (rc == 0)
        rc = count_pins(out, view, err);
    if (rc >= 0)
        rc = count_actors(out, view, err);
    if (rc >= 0)
        rc = find_label(out, view, err);
    return rc < 0 ? rc : ask_areas(out, view, args->check, err);
}

const valise_op vls_op_kernel_workspace_status = {
    .size = sizeof(valise_op),
    .name = "workspace:status",
    .alias = "status",
    .brief = "Summarize what is in the workspace.",
    .help = "This is quick, however much there is: backpacks, sessions, memory entries, blobs and "
            "flow runs are counted up to a hundred, and no file is read. --check takes longer and "
            "records nothing: it shows how many paths differ from the newest version of the tree, "
            "and how many heads are fresh, stale and orphaned with the files as they are now.",
    .kind = VALISE_QUERY,
    .needs = "log:read",
    .in = status_in,
    .in_size = sizeof(status_args),
    .out = status_out,
    .out_size = sizeof(status),
    .query = query,
    .example = "{}",
};
