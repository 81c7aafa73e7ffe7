/* report.c -- see report.h. */
#include "context/report.h"

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "context/slot.h"
#include "context/undoubted.h"
#include "store/view.h"

const char *const vls_report_kinds[] = {"stale",        "invalidated", "orphaned",
                                        "needs-author", "corrupt",     NULL};

typedef struct lines {
    vls_map by_name;
    vls_vec(const vls_report_line *) list;
} lines;

typedef struct reporting {
    valise_view *view;
    const vls_tree_row *tree;
    vls_context_report *out;
    vls_undoubted known;
    lines types, agents;
    vls_report_kind *kinds[VLS_REPORT_KINDS];
    vls_vec(const vls_report_item *) firsts[VLS_REPORT_KINDS];
    vls_vec(char) path; /* of the slot before this one */
    int64_t number;     /* of the path, counted from 1 */
    bool covered;       /* it is */
    int there;          /* 1: node is what lies at the path; 0: nothing does; -1: nobody looked */
    vls_tree_found node;
} reporting;

/* ---- lines ---- */

static bool has_name(const void *item, const void *key)
{
    const vls_report_line *line = item;

    return vls_str_equal(line->name, *(const valise_str *)key);
}

static int line_of(vls_report_line **out, lines *l, vls_arena *arena, valise_str name,
                   valise_error *err)
{
    uint64_t hash = vls_str_hash(name, (uintptr_t)l);
    vls_report_line *line = vls_map_get(&l->by_name, hash, &name);
    int rc;

    if (!line) {
        line = vls_arena_zalloc(arena, sizeof(*line));
        if (!line || !vls_vec_push_in(&l->list, arena, line))
            return vls_arena_fail(arena, err);
        rc = vls_arena_dup(&line->name, arena, name, err);
        if (rc == 0 && vls_map_put(NULL, &l->by_name, hash, &name, line) < 0)
            rc = vls_fail_memory(err);
        if (rc < 0)
            return rc;
    }
    *out = line;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const vls_report_line *x = *(vls_report_line *const *)a, *y = *(vls_report_line *const *)b;

    return vls_str_compare(x->name, y->name);
}

static valise_list sorted(lines *l)
{
    if (l->list.len > 1)
        qsort(l->list.ptr, l->list.len, sizeof(*l->list.ptr), by_name);
    return (valise_list){l->list.ptr ? (const void *)l->list.ptr : "", l->list.len};
}

static void count_in(vls_report_line *line, const reporting *r, int64_t state, bool dir)
{
    line->heads++;
    line->fresh += state == VLS_STATE_FRESH;
    line->stale += state == VLS_STATE_STALE;
    line->invalidated += state == VLS_STATE_INVALIDATED;
    line->orphaned += state == VLS_STATE_ORPHANED;
    if (state == VLS_STATE_FRESH && line->last != r->number) {
        line->last = r->number;
        line->files += !dir;
        line->dirs += dir;
    }
}

/* ---- one slot ---- */

static int list(reporting *r, int kind, const vls_report_item *item, valise_error *err)
{
    vls_arena *arena = &r->view->arena;
    vls_report_item *copy;
    int rc;

    r->kinds[kind]->count++;
    if (r->firsts[kind].len == VLS_REPORT_LISTED)
        return 0;
    copy = vls_arena_alloc(arena, sizeof(*copy));
    if (!copy || !vls_vec_push_in(&r->firsts[kind], arena, copy))
        return vls_arena_fail(arena, err);
    *copy = *item;
    rc = vls_arena_dup(&copy->path, arena, item->path, err);
    if (rc == 0)
        rc = vls_arena_dup(&copy->type, arena, item->type, err);
    return rc < 0 ? rc : vls_arena_dup(&copy->agent, arena, item->agent, err);
}

static int list_all(reporting *r, const vls_report_item *item, bool authored, valise_error *err)
{
    int kind = item->state == VALISE_NONE             ? VLS_REPORT_CORRUPT
               : item->state == VLS_STATE_STALE       ? VLS_REPORT_STALE
               : item->state == VLS_STATE_INVALIDATED ? VLS_REPORT_INVALIDATED
                                                      : VLS_REPORT_ORPHANED;
    int rc = 0;

    if (item->state != VLS_STATE_FRESH)
        rc = list(r, kind, item, err);
    if (rc == 0 && authored &&
        (item->state == VLS_STATE_STALE || item->state == VLS_STATE_INVALIDATED))
        rc = list(r, VLS_REPORT_NEEDS_AUTHOR, item, err);
    return rc;
}

static int count(reporting *r, const vls_slot_row *slot, const vls_frame_row *frame, int64_t state,
                 valise_error *err)
{
    vls_arena *arena = &r->view->arena;
    vls_report_line *type = NULL, *agent = NULL;
    const vls_report_item item = {slot->path, slot->type, frame->agent, frame->id, state};
    int rc = line_of(&type, &r->types, arena, slot->type, err);

    if (rc == 0 && frame->agent.len > 0)
        rc = line_of(&agent, &r->agents, arena, frame->agent, err);
    if (rc < 0)
        return rc;
    r->out->heads++;
    r->out->fresh += state == VLS_STATE_FRESH;
    if (state == VLS_STATE_FRESH && !r->covered) {
        r->covered = true;
        r->out->covered_files += !slot->dir;
        r->out->covered_dirs += slot->dir;
    }
    count_in(type, r, state, slot->dir);
    if (agent)
        count_in(agent, r, state, slot->dir);
    return list_all(r, &item, frame->kind == VLS_FRAME_AUTHORED, err);
}

/* Slots of one path follow each other. */
static int go_to(reporting *r, valise_str path, valise_error *err)
{
    vls_arena *arena = &r->view->arena;

    if (r->number > 0 && vls_str_equal(vls_str(r->path.ptr, r->path.len), path))
        return 0;
    if (!vls_vec_reserve_in(&r->path, arena, path.len + 1))
        return vls_arena_fail(arena, err);
    if (path.len > 0)
        memcpy(r->path.ptr, path.ptr, path.len);
    r->path.len = path.len;
    r->number++;
    r->covered = false;
    r->there = -1;
    return 0;
}

/* The node is looked up once for all slots of its path. */
static int compute(int64_t *out, reporting *r, const vls_slot_row *slot, const vls_frame_row *frame,
                   valise_error *err)
{
    vls_state_at at = {.tree = r->tree, .version = r->tree->version, .path = slot->path};
    vls_state state;
    int rc = r->there;

    if (rc < 0)
        rc = vls_tree_get(&r->node, r->view, r->tree, r->tree->version,
                          vls_str(r->path.ptr, r->path.len), err);
    if (rc < 0)
        return rc;
    r->there = rc > 0;
    at.node = r->there ? &r->node : NULL;
    rc = vls_state_of(&state, r->view, &at, slot, frame, err);
    if (rc == 0)
        *out = state.state;
    return rc;
}

/* VALISE_E_CORRUPT: it is damaged. */
static int state_of(int64_t *out, vls_frame_row *frame, reporting *r, const vls_slot_row *slot,
                    valise_error *err)
{
    int rc = vls_frame_get(frame, r->view, &slot->head, err);

    if (rc == 0)
        rc = vls_slot_fail_missing(r->view, slot, "the head of a slot is missing", err);
    if (rc < 0) {
        *frame = (vls_frame_row){.id = slot->head, .kind = VLS_FRAME_DERIVED};
        return rc;
    }
    rc = vls_undoubted_ask(&r->known, slot, err);
    *out = VLS_STATE_FRESH;
    return rc != 0 ? vls_settle(rc) : compute(out, r, slot, frame, err);
}

static int look(reporting *r, const vls_slot_row *slot, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_frame_row frame;
    int64_t state = VALISE_NONE;
    int rc = vls_path_readable(r->view, slot->path, slot->type, err);

    if (rc <= 0)
        return rc;
    rc = go_to(r, slot->path, err);
    if (rc < 0)
        return rc;
    rc = state_of(&state, &frame, r, slot, &why);
    if (rc < 0 && rc != VALISE_E_CORRUPT) {
        if (err)
            *err = why;
        return rc;
    }
    return count(r, slot, &frame, rc < 0 ? VALISE_NONE : state, err);
}

/* ---- all of them ---- */

/* Slots from a path on, as long as they lie under it. Those that sort in between ("a-b" between "a"
 * and "a/b") are passed over. */
static int walk(reporting *r, valise_str under, valise_error *err)
{
    const vls_slot_row probe = {.tree = r->tree->id, .path = under};
    const valise_select select = {.row = &probe, .equal = 1, .from = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_row slot;
    int rc = valise_view_scan(&scan, r->view, &vls_slots, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        if (!vls_str_starts(slot.path, under))
            return 0;
        rc = vls_slot_has_head(&slot) && vls_path_is_under(slot.path, under) ? look(r, &slot, err)
                                                                             : 0;
    }
    return rc;
}

static int begin(reporting *r, valise_error *err)
{
    for (size_t i = 0; i < VLS_COUNT(r->kinds); i++) {
        r->kinds[i] = vls_arena_zalloc(&r->view->arena, sizeof(*r->kinds[i]));
        if (!r->kinds[i])
            return vls_arena_fail(&r->view->arena, err);
    }
    return 0;
}

static void end(reporting *r)
{
    for (size_t i = 0; i < VLS_COUNT(r->kinds); i++) {
        const void *items = r->firsts[i].ptr;
        r->kinds[i]->first = (valise_list){items ? items : "", r->firsts[i].len};
        r->out->kinds[i] = r->kinds[i];
    }
    r->out->types = sorted(&r->types);
    r->out->agents = sorted(&r->agents);
}

typedef struct sum {
    valise_view *view;
    int64_t files, dirs;
} sum;

static int add_node(void *arg, const vls_tree_found *node, valise_error *err)
{
    sum *s = arg;
    int rc = vls_path_readable(s->view, node->path, VLS_STR(""), err);

    if (rc <= 0)
        return rc;
    s->dirs += node->node.kind == VLS_NODE_DIR;
    s->files += node->node.kind != VLS_NODE_DIR;
    return 0;
}

/* What there is to be covered: links and what cannot be read are files too. Who may not read the
 * root may not know how many there are. */
static int count_nodes(vls_context_report *out, valise_view *view, const vls_tree_row *tree,
                       valise_str under, valise_error *err)
{
    const vls_tree_counts *all = &tree->counts;
    sum s = {.view = view};
    int rc = under.len == 0 ? vls_path_readable(view, under, VLS_STR(""), err) : 0;

    if (rc > 0) {
        s.files = all->files + all->links + all->unreadable;
        s.dirs = all->dirs + 1; /* the root */
        rc = 0;
    } else if (rc == 0) {
        rc = vls_tree_walk(view, tree, tree->version, under, add_node, &s, err);
    }
    out->files = s.files;
    out->dirs = s.dirs;
    return rc;
}

int vls_report_make(vls_context_report *out, valise_view *view, const vls_tree_row *tree,
                    valise_str under, bool compute_all, valise_error *err)
{
    vls_context_report report = {.heads = 0};
    reporting r = {.view = view, .tree = tree, .out = &report};
    int rc;

    vls_map_init(&r.types.by_name, view->arena.env, has_name);
    vls_map_init(&r.agents.by_name, view->arena.env, has_name);
    rc = begin(&r, err);
    if (rc == 0)
        rc = count_nodes(&report, view, tree, under, err);
    if (rc == 0 && !compute_all)
        rc = vls_undoubted_begin(&r.known, view, tree, under, err);
    if (rc == 0)
        rc = walk(&r, under, err);
    vls_undoubted_release(&r.known);
    if (rc == 0) {
        end(&r);
        *out = report;
    }
    vls_map_release(&r.types.by_name);
    vls_map_release(&r.agents.by_name);
    return rc;
}
