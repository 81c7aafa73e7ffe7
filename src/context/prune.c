/* prune.c -- see prune.h. */
#include "context/prune.h"

#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "context/doubt.h"
#include "context/slot.h"
#include "context/state.h"
#include "kernel/kernel.h"
#include "store/holders.h"
#include "store/view.h"

/* ---- pins ---- */

typedef struct pins {
    int64_t *seqs; /* of the states that are held, in no order */
    size_t count;
    int64_t newest;    /* INT64_MIN: none */
    int64_t *versions; /* of trees that are held themselves, by their place; of any tree */
    size_t version_count;
} pins;

/* A pin has the place of a row: tree_version/TREE/NUMBER. */
static bool read_version(int64_t *out, const vls_pin *pin)
{
    valise_str coll, tree, number, rest;

    return pin->kind == VLS_PIN_ROW && vls_str_cut(&coll, &rest, pin->place, '/') &&
           vls_str_equal(coll, valise_str_of(vls_tree_versions.name)) &&
           vls_str_cut(&tree, &number, rest, '/') && vls_str_to_i64(out, number);
}

static int read_pins(pins *out, valise_view *view, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_vec(int64_t) list = VLS_VEC_INIT, versions = VLS_VEC_INIT;
    int64_t newest = INT64_MIN, version;
    vls_pin pin;
    int rc = valise_view_scan(&scan, view, &vls_pins, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&pin, scan, err)) > 0) {
        rc = 0;
        if (read_version(&version, &pin) && !vls_vec_push_in(&versions, &view->arena, version))
            return vls_arena_fail(&view->arena, err);
        if (!vls_pin_holds_log(&pin))
            continue;
        newest = VLS_MAX(newest, pin.seq);
        if (!vls_vec_push_in(&list, &view->arena, pin.seq))
            rc = vls_arena_fail(&view->arena, err);
    }
    if (rc == 0)
        *out = (pins){list.ptr, list.len, newest, versions.ptr, versions.len};
    return rc;
}

static bool holds_version(const pins *p, int64_t version)
{
    for (size_t i = 0; i < p->version_count; i++) {
        if (p->versions[i] == version)
            return true;
    }
    return false;
}

/* Does a pin hold a state from `first` on and before `end`? */
static bool holds_between(const pins *p, int64_t first, int64_t end)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->seqs[i] >= first && p->seqs[i] < end)
            return true;
    }
    return false;
}

/* Was the row there in a state that a pin holds? Rows that are put once tell since when they are
 * there. */
static int is_held(bool *out, valise_view *view, const pins *p, const valise_coll *desc,
                   const void *row, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, desc);
    valise_cell key[VALISE_MAX_COLUMNS];
    vls_seen seen = {0};
    int rc = 0;

    *out = false;
    if (p->count == 0)
        return 0;
    for (uint16_t i = 0; rc == 0 && i < coll->key_count; i++)
        rc = vls_field_to_cell(&key[i], row, &desc->fields[i], &view->arena, err);
    if (rc == 0)
        rc = vls_view_see(&seen, view, coll, key, err);
    if (rc == 0)
        *out = seen.row && seen.from_seq <= p->newest;
    return rc;
}

/* ---- versions ---- */

typedef struct moving {
    pins pins;
    int64_t latest; /* versions before this may go */
    int64_t before; /* and those made before this time */
    int64_t last;   /* but not this one */
    bool stopped;   /* by a pin */
    int64_t edge, stuck;
    int64_t edge_seq; /* since when the version of the edge is there */
} moving;

/* The versions come one after the other; whether one can go is known when the next one comes. */
static int move_on(void *arg, const vls_tree_version_row *row, int64_t from_seq, valise_error *err)
{
    moving *m = arg;

    (void)err;
    if (row->version > m->last)
        return 1;
    if (m->edge_seq != VALISE_NONE &&
        (holds_between(&m->pins, m->edge_seq, from_seq) || holds_version(&m->pins, m->edge)))
        m->stopped = true;
    if (m->stopped) {
        m->stuck = row->version;
    } else {
        m->edge = row->version;
        m->edge_seq = from_seq;
    }
    return row->version >= m->last || (row->version >= m->latest && row->time >= m->before);
}

static int move_edge(moving *m, valise_view *view, const vls_tree_row *tree, valise_error *err)
{
    int rc = read_pins(&m->pins, view, err);

    m->last = tree->version;
    m->edge = m->stuck = tree->edge;
    m->edge_seq = VALISE_NONE;
    if (rc == 0)
        rc = vls_tree_each_version(view, &tree->id, tree->edge, move_on, m, err);
    return vls_settle(rc);
}

int vls_prune_edge(int64_t *edge, int64_t *held, valise_view *view, const vls_tree_row *tree,
                   const vls_prune_limits *limits, int64_t now, valise_error *err)
{
    moving m = {.latest = INT64_MIN, .before = INT64_MIN};
    int rc;

    if (limits->keep_latest != VALISE_NONE)
        m.latest = tree->version - VLS_MIN(limits->keep_latest, tree->version) + 1;
    if (limits->age != VALISE_NONE && __builtin_sub_overflow(now, limits->age, &m.before))
        m.before = INT64_MIN;
    rc = move_edge(&m, view, tree, err);
    if (rc < 0)
        return rc;
    *edge = m.edge;
    *held = m.stopped ? m.stuck - m.edge : 0;
    return 0;
}

int vls_prune_edge_towards(int64_t *edge, valise_view *view, const vls_tree_row *tree,
                           int64_t wanted, valise_error *err)
{
    moving m = {.latest = wanted, .before = INT64_MIN};
    int rc = move_edge(&m, view, tree, err);

    if (rc == 0)
        *edge = m.edge;
    return rc;
}

/* ---- orphans ---- */

typedef struct finding {
    valise_view *view;
    const vls_tree_row *tree;
    pins pins;
    vls_vec(vls_orphan) list;
    int64_t held;
} finding;

static vls_orphan orphan_of(const vls_slot_row *slot, bool closed)
{
    return (vls_orphan){.path = slot->path,
                        .type = slot->type,
                        .id = slot->id,
                        .closed = closed,
                        .head = slot->head,
                        .entries = slot->entries,
                        .frames = slot->frames};
}

/* It existed from its first entry on. */
static int is_orphan_held(bool *out, valise_view *view, const pins *p, const valise_uuid *slot,
                          valise_error *err)
{
    const vls_slot_entry_row first = {.slot = *slot, .number = 1};

    return is_held(out, view, p, &vls_slot_entries, &first, err);
}

static int add(finding *f, vls_orphan one, valise_error *err)
{
    vls_arena *arena = &f->view->arena;
    int rc = vls_arena_dup(&one.path, arena, one.path, err);

    if (rc == 0)
        rc = vls_arena_dup(&one.type, arena, one.type, err);
    if (rc == 0 && !vls_vec_push_in(&f->list, arena, one))
        rc = vls_arena_fail(arena, err);
    return rc;
}

/* By the version that took its file away; where that was pruned, by what was remembered of it. */
static int find_since(int64_t *out, finding *f, const vls_slot_row *slot, valise_error *err)
{
    vls_slot_doubt_row doubt = {.tree = f->tree->id, .path = slot->path, .type = slot->type};
    int rc = vls_tree_since(out, f->view, f->tree, slot->path, err);

    if (rc == 0)
        rc = valise_view_get(&doubt, f->view, &vls_slot_doubts, err);
    else
        return vls_settle(rc);
    if (rc > 0 && doubt.since != VALISE_NONE)
        *out = doubt.since;
    return vls_settle(rc);
}

static int look_at(void *arg, const vls_slot_row *slot, valise_error *err)
{
    finding *f = arg;
    vls_orphan one = orphan_of(slot, false);
    int rc = vls_state_is_orphan(f->view, f->tree, f->tree->version, slot, err);

    if (rc <= 0)
        return rc;
    rc = find_since(&one.since, f, slot, err);
    return rc < 0 ? rc : add(f, one, err);
}

static int look_at_doubt(void *arg, const vls_slot_doubt_row *doubt, valise_error *err)
{
    finding *f = arg;
    vls_slot_row slot;
    int rc = vls_slot_get(&slot, f->view, &f->tree->id, doubt->path, doubt->type, err);

    return rc <= 0 ? rc : look_at(f, &slot, err);
}

/* Where every slot has a head, all orphans are doubted: nobody needs to look at the others. */
static int look_at_slots(finding *f, valise_error *err)
{
    const valise_uuid *tree = &f->tree->id;
    vls_context_row context;
    int rc = vls_context_get(&context, f->view, tree, err);

    if (rc == 0)
        rc = vls_doubt_is_kept(f->view, tree, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || context.slots != context.heads)
        return vls_slot_each_below(f->view, tree, VLS_STR(""), look_at, f, err);
    rc = vls_doubt_each(f->view, tree, VLS_STR(""), false, look_at_doubt, f, err);
    return rc < 0 ? rc : vls_doubt_each(f->view, tree, VLS_STR(""), true, look_at_doubt, f, err);
}

static vls_slot_row slot_of_closed(const vls_slot_closed_row *closed)
{
    return (vls_slot_row){.path = closed->path,
                          .type = closed->type,
                          .id = closed->id,
                          .head = closed->head,
                          .entries = closed->entries,
                          .frames = closed->frames};
}

static int look_at_closed(finding *f, valise_error *err)
{
    const vls_slot_closed_row probe = {.tree = f->tree->id};
    const valise_select of_tree = {.row = &probe, .equal = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_closed_row row;
    int rc = valise_view_scan(&scan, f->view, &vls_slots_closed, &of_tree, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        const vls_slot_row slot = slot_of_closed(&row);
        vls_orphan one = orphan_of(&slot, true);
        vls_slot_entry_row entry;
        rc = vls_slot_entry(&entry, f->view, &row.id, row.entries, err);
        one.since = rc > 0 ? entry.time : f->tree->time;
        if (rc >= 0)
            rc = add(f, one, err);
    }
    return rc;
}

/* ---- which of them ---- */

static int by_place(const void *a, const void *b)
{
    const vls_orphan *x = a, *y = b;
    int order = vls_str_compare(x->path, y->path);

    if (order == 0)
        order = vls_str_compare(x->type, y->type);
    return order != 0 ? order : memcmp(&x->id, &y->id, sizeof(x->id));
}

static int by_age(const void *a, const void *b)
{
    const vls_orphan *x = a, *y = b;

    if (x->since != y->since)
        return x->since > y->since ? -1 : 1;
    return by_place(a, b);
}

/* The youngest first: those that the limits let go are counted from the end. */
static int choose(finding *f, const vls_prune_limits *limits, int64_t now, valise_error *err)
{
    int64_t before = INT64_MIN;
    size_t kept = 0;
    int rc = 0;

    if (limits->age != VALISE_NONE && __builtin_sub_overflow(now, limits->age, &before))
        before = INT64_MIN;
    if (f->list.len > 1)
        qsort(f->list.ptr, f->list.len, sizeof(f->list.ptr[0]), by_age);
    for (size_t i = 0; rc == 0 && i < f->list.len; i++) {
        const vls_orphan one = f->list.ptr[i];
        bool goes = (limits->keep_latest != VALISE_NONE && (int64_t)i >= limits->keep_latest) ||
                    one.since < before;
        bool held = false;
        if (goes)
            rc = is_orphan_held(&held, f->view, &f->pins, &one.id, err);
        f->held += held;
        if (goes && !held)
            f->list.ptr[kept++] = one;
    }
    f->list.len = kept;
    if (kept > 1)
        qsort(f->list.ptr, kept, sizeof(f->list.ptr[0]), by_place);
    return rc;
}

int vls_prune_find(vls_orphans *out, bool *more, valise_view *view, const vls_tree_row *tree,
                   const vls_prune_limits *limits, int64_t now, int64_t max, valise_error *err)
{
    finding f = {.view = view, .tree = tree};
    int rc = read_pins(&f.pins, view, err);

    if (rc == 0)
        rc = look_at_slots(&f, err);
    if (rc == 0)
        rc = look_at_closed(&f, err);
    if (rc == 0)
        rc = choose(&f, limits, now, err);
    if (rc < 0)
        return rc;
    *more = max > 0 && f.list.len > (size_t)max;
    *out = (vls_orphans){f.list.ptr, *more ? (size_t)max : f.list.len, f.held};
    return 0;
}

int vls_prune_check(vls_orphan *out, valise_view *view, const vls_tree_row *tree,
                    const vls_orphan *one, valise_error *err)
{
    vls_slot_closed_row closed = {
        .tree = tree->id, .path = one->path, .type = one->type, .id = one->id};
    vls_slot_row slot = {.entries = 0};
    bool held = false;
    pins p = {0};
    int rc = read_pins(&p, view, err);

    if (rc == 0)
        rc = is_orphan_held(&held, view, &p, &one->id, err);
    if (rc < 0 || held)
        return rc;
    if (one->closed) {
        rc = valise_view_get(&closed, view, &vls_slots_closed, err);
        if (rc > 0)
            slot = slot_of_closed(&closed);
    } else {
        rc = vls_slot_get(&slot, view, &tree->id, one->path, one->type, err);
        if (rc > 0)
            rc = vls_uuid_equal(&slot.id, &one->id)
                     ? vls_state_is_orphan(view, tree, tree->version, &slot, err)
                     : 0;
    }
    if (rc > 0)
        *out = orphan_of(&slot, one->closed);
    return rc;
}

/* ---- frames ---- */

typedef struct gathering {
    valise_view *view;
    const vls_coll *entries;
    valise_uuid *slots; /* that go, sorted */
    size_t slot_count;
    vls_vec(valise_id) ids;
} gathering;

static int gather(gathering *g, const valise_uuid *slot, valise_error *err)
{
    const vls_slot_entry_row probe = {.slot = *slot};
    const valise_select of_slot = {.row = &probe, .equal = 1, .flags = VLS_SCAN_BELOW};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_entry_row entry;
    int rc = valise_view_scan(&scan, g->view, &vls_slot_entries, &of_slot, err);

    while (rc == 0 && (rc = valise_scan_next(&entry, scan, err)) > 0) {
        rc = 0;
        if (!vls_id_is_none(&entry.frame) &&
            !vls_vec_push_in(&g->ids, &g->view->arena, entry.frame))
            rc = vls_arena_fail(&g->view->arena, err);
    }
    return rc;
}

/* Each once. */
static void sort_ids(gathering *g)
{
    size_t kept = 0;

    if (g->ids.len > 1)
        qsort(g->ids.ptr, g->ids.len, sizeof(valise_id), vls_id_order);
    for (size_t i = 0; i < g->ids.len; i++) {
        if (kept == 0 || !vls_id_equal(&g->ids.ptr[kept - 1], &g->ids.ptr[i]))
            g->ids.ptr[kept++] = g->ids.ptr[i];
    }
    g->ids.len = kept;
}

/* The first field of an entry is the slot's id. */
static bool counts(void *arg, const vls_coll *coll, const valise_cell *row)
{
    const gathering *g = arg;

    if (coll != g->entries || row[0].as.bytes.len != sizeof(valise_uuid))
        return true;
    return !bsearch(row[0].as.bytes.ptr, g->slots, g->slot_count, sizeof(valise_uuid),
                    vls_uuid_order);
}

/* Only those that are there, nothing has, and no pin holds. */
static int leave_held(gathering *g, valise_error *err)
{
    /* A head is the frame of one of the slot's entries. */
    static const valise_coll *const heads[] = {&vls_slots, &vls_slots_closed, NULL};
    bool *held = vls_arena_array(&g->view->arena, g->ids.len + 1, sizeof(*held));
    const vls_holders holders = {
        .target = vls_frames.name,
        .ids = g->ids.ptr,
        .count = g->ids.len,
        .held = held,
        .except = heads,
        .counts = counts,
        .arg = g,
    };
    size_t kept = 0;
    pins p = {0};
    int rc;

    if (!held)
        return vls_arena_fail(&g->view->arena, err);
    rc = vls_holders_find(&holders, g->view, err);
    if (rc == 0)
        rc = read_pins(&p, g->view, err);
    for (size_t i = 0; rc >= 0 && i < g->ids.len; i++) {
        vls_frame_row frame = {.id = g->ids.ptr[i]};
        bool pinned = false;
        if (held[i])
            continue;
        rc = valise_view_get(&frame, g->view, &vls_frames, err);
        if (rc <= 0)
            continue;
        rc = is_held(&pinned, g->view, &p, &vls_frames, &frame, err);
        if (!pinned)
            g->ids.ptr[kept++] = frame.id;
    }
    g->ids.len = kept;
    return vls_settle(rc);
}

int vls_prune_frames(const valise_id **ids, size_t *count, valise_view *view,
                     const vls_orphan *orphans, size_t orphan_count, valise_error *err)
{
    gathering g = {.view = view,
                   .entries = vls_store_coll(view->txn->store, &vls_slot_entries),
                   .slot_count = orphan_count};
    int rc = 0;

    g.slots = vls_arena_array(&view->arena, orphan_count + 1, sizeof(*g.slots));
    if (!g.slots)
        return vls_arena_fail(&view->arena, err);
    for (size_t i = 0; rc == 0 && i < orphan_count; i++) {
        g.slots[i] = orphans[i].id;
        rc = gather(&g, &orphans[i].id, err);
    }
    if (rc < 0)
        return rc;
    if (orphan_count > 1)
        qsort(g.slots, orphan_count, sizeof(valise_uuid), vls_uuid_order);
    sort_ids(&g);
    rc = leave_held(&g, err);
    if (rc == 0) {
        *ids = g.ids.ptr;
        *count = g.ids.len;
    }
    return rc;
}
