/* doubt.c -- see doubt.h. */
#include "context/doubt.h"

#include "base/str.h"
#include "base/vec.h"
#include "context/slot.h"
#include "kernel/kernel.h"
#include "store/view.h"
#include "tree/node.h"

/* ---- tables ---- */

static const valise_field doubt_fields[] = {
    VALISE_FIELD(vls_slot_doubt_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree."),
    VALISE_FIELD_WITH(vls_slot_doubt_row, path, PATH, VALISE_KEY, "Path of the node.",
                      .max = VLS_PATH_MAX),
    VALISE_FIELD_WITH(vls_slot_doubt_row, type, STR, VALISE_REQUIRED | VALISE_KEY,
                      "Type of its frames.", .min = 1, .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD(vls_slot_doubt_row, known, BOOL, 0, "Somebody looked, and could do nothing."),
    VALISE_FIELD(vls_slot_doubt_row, since, TIME, VALISE_NULLABLE,
                 "When its file went, where the version that says so was pruned."),
    VALISE_FIELD_END,
};

static const char *const by_known[] = {"tree", "known", "path", "type", NULL};
static const valise_coll_index doubt_indexes[] = {{"known", by_known}, {NULL, NULL}};

const valise_coll vls_slot_doubts = {.size = sizeof(valise_coll),
                                     .name = "slot_doubt",
                                     .help = "A slot that may no longer hold.",
                                     .fields = doubt_fields,
                                     .row_size = sizeof(vls_slot_doubt_row),
                                     .flags = VALISE_COLL_EXEMPT,
                                     .indexes = doubt_indexes,
                                     .needs = "context:read"};

static const valise_field base_fields[] = {
    VALISE_FIELD(vls_doubt_base_row, tree, UUID, VALISE_REQUIRED | VALISE_KEY, "The tree."),
    VALISE_FIELD(vls_doubt_base_row, erasures, INT, 0, "Seq of the last erasure there was."),
    VALISE_FIELD_END,
};

const valise_coll vls_doubt_bases = {.size = sizeof(valise_coll),
                                     .name = "doubt_base",
                                     .help = "Since when doubts of a tree are kept.",
                                     .fields = base_fields,
                                     .row_size = sizeof(vls_doubt_base_row),
                                     .flags = VALISE_COLL_EXEMPT,
                                     .needs = "context:read"};

/* ---- changing ---- */

int vls_doubt_slot(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                   valise_error *err)
{
    vls_slot_doubt_row row = {.tree = *tree, .path = path, .type = type};
    int rc = valise_view_get(&row, view, &vls_slot_doubts, err);

    if (rc < 0 || (rc > 0 && !row.known))
        return vls_settle(rc);
    row = (vls_slot_doubt_row){
        .tree = *tree, .path = path, .type = type, .since = rc > 0 ? row.since : VALISE_NONE};
    return valise_view_put(view, &vls_slot_doubts, &row, err);
}

/* Slots are collected first: what is put meanwhile must not be seen by the scan. */
typedef struct gathering {
    valise_view *view;
    bool derived;    /* only those made by a recipe */
    valise_str type; /* and of this type; ptr NULL: any */
    vls_vec(vls_slot_row) list;
} gathering;

static int gather(void *arg, const vls_slot_row *slot, valise_error *err)
{
    gathering *g = arg;
    vls_slot_row kept = *slot;
    int rc;

    if ((g->derived && vls_id_is_none(&slot->recipe)) ||
        (g->type.ptr && !vls_str_equal(slot->type, g->type)))
        return 0;
    rc = vls_slot_stay(&kept, g->view, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&g->list, &g->view->arena, kept) ? 0
                                                            : vls_arena_fail(&g->view->arena, err);
}

static int doubt_gathered(const gathering *g, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < g->list.len; i++)
        rc = vls_doubt_slot(g->view, &g->list.ptr[i].tree, g->list.ptr[i].path, g->list.ptr[i].type,
                            err);
    return rc;
}

int vls_doubt_above(valise_view *view, const vls_slot_row *slot, valise_error *err)
{
    gathering g = {.view = view, .derived = true};
    int rc;

    if (slot->path.len == 0)
        return 0;
    if (slot->dir)
        g.type = slot->type;
    rc = vls_slot_each(view, &slot->tree, vls_path_parent(slot->path), gather, &g, err);
    return rc < 0 ? rc : doubt_gathered(&g, err);
}

int vls_doubt_path(valise_view *view, const valise_uuid *tree, valise_str path, bool dir,
                   valise_error *err)
{
    gathering g = {.view = view};
    int rc = vls_slot_each(view, tree, path, gather, &g, err);

    if (rc == 0 && !dir)
        rc = vls_slot_each_below(view, tree, path, gather, &g, err);
    return rc < 0 ? rc : doubt_gathered(&g, err);
}

int vls_doubt_remember(valise_view *view, const valise_uuid *tree, valise_str path, int64_t time,
                       valise_error *err)
{
    gathering g = {.view = view};
    int rc = vls_slot_each(view, tree, path, gather, &g, err);

    for (size_t i = 0; rc == 0 && i < g.list.len; i++) {
        vls_slot_doubt_row row = {.tree = *tree, .path = path, .type = g.list.ptr[i].type};
        rc = vls_settle(valise_view_get(&row, view, &vls_slot_doubts, err));
        row = (vls_slot_doubt_row){
            .tree = *tree, .path = path, .type = row.type, .known = row.known, .since = time};
        if (rc == 0)
            rc = valise_view_put(view, &vls_slot_doubts, &row, err);
    }
    return rc;
}

int vls_doubt_end(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                  bool known, valise_error *err)
{
    vls_slot_doubt_row row = {.tree = *tree, .path = path, .type = type};
    int rc = known ? valise_view_get(&row, view, &vls_slot_doubts, err) : 0;

    if (rc < 0)
        return rc;
    if (known) {
        row = (vls_slot_doubt_row){.tree = *tree,
                                   .path = path,
                                   .type = type,
                                   .known = true,
                                   .since = rc > 0 ? row.since : VALISE_NONE};
        return valise_view_put(view, &vls_slot_doubts, &row, err);
    }
    return vls_settle(valise_view_delete(view, &vls_slot_doubts, &row, err));
}

/* ---- since when ---- */

static int last_erasure(int64_t *out, valise_view *view, valise_error *err)
{
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_erasure row;
    int rc = valise_view_scan(&scan, view, &vls_erasures, NULL, err);

    *out = 0;
    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        *out = VLS_MAX(*out, row.seq);
        rc = 0;
    }
    return rc;
}

int vls_doubt_begin(valise_view *view, const valise_uuid *tree, valise_error *err)
{
    vls_doubt_base_row row = {.tree = *tree};
    int rc = last_erasure(&row.erasures, view, err);

    return rc < 0 ? rc : valise_view_put(view, &vls_doubt_bases, &row, err);
}

int vls_doubt_lose(valise_view *view, const valise_uuid *tree, valise_error *err)
{
    const vls_doubt_base_row row = {.tree = *tree};
    int rc = valise_view_delete(view, &vls_doubt_bases, &row, err);

    return vls_settle(rc);
}

int vls_doubt_is_kept(valise_view *view, const valise_uuid *tree, valise_error *err)
{
    vls_doubt_base_row row = {.tree = *tree};
    int64_t erasures;
    int rc = view->at < view->txn->tip.seq ? 0 : valise_view_get(&row, view, &vls_doubt_bases, err);

    if (rc <= 0)
        return rc;
    rc = last_erasure(&erasures, view, err);
    return rc < 0 ? rc : erasures == row.erasures;
}

/* ---- reading ---- */

int vls_doubt_has(valise_view *view, const valise_uuid *tree, valise_str path, valise_str type,
                  valise_error *err)
{
    vls_slot_doubt_row row = {.tree = *tree, .path = path, .type = type};

    return valise_view_get(&row, view, &vls_slot_doubts, err);
}

/* At a path, then under it: names that only begin like it lie between the two. */
static int each_from(valise_view *view, const vls_slot_doubt_row *from, bool exact,
                     vls_doubt_fn *fn, void *arg, valise_error *err)
{
    const valise_select select = {
        .index = "known", .row = from, .equal = exact ? 3 : 2, .from = exact ? 0 : 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    vls_slot_doubt_row row;
    int rc = valise_view_scan(&scan, view, &vls_slot_doubts, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (!exact && !vls_str_starts(row.path, from->path))
            return 0;
        rc = fn(arg, &row, err);
    }
    return rc;
}

int vls_doubt_each_at(valise_view *view, const valise_uuid *tree, valise_str path, bool known,
                      vls_doubt_fn *fn, void *arg, valise_error *err)
{
    const vls_slot_doubt_row from = {.tree = *tree, .path = path, .known = known};

    return each_from(view, &from, true, fn, arg, err);
}

int vls_doubt_each(valise_view *view, const valise_uuid *tree, valise_str path, bool known,
                   vls_doubt_fn *fn, void *arg, valise_error *err)
{
    vls_slot_doubt_row from = {.tree = *tree, .path = path, .known = known};
    char room[VLS_PATH_MAX + 2];
    vls_buf below = {.ptr = room, .cap = sizeof(room), .max = VLS_PATH_MAX + 1};
    int rc;

    if (path.len == 0)
        return each_from(view, &from, false, fn, arg, err);
    rc = each_from(view, &from, true, fn, arg, err);
    if (rc != 0)
        return rc;
    vls_buf_add(&below, path);
    vls_buf_add_byte(&below, '/');
    from.path = vls_buf_str(&below);
    return each_from(view, &from, false, fn, arg, err);
}
