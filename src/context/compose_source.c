/* compose_source.c -- the slots around a node; see compose.h.
 *
 * Slots lie in the order of the bytes of their paths, so that those of what is in a directory are a
 * range, with everything that lies deeper in between. What lies deeper is jumped over: after
 * "dir/sub/x" the next path that can be a child's is "dir/sub0", since '0' follows '/'. */
#include "base/str.h"
#include "base/vec.h"
#include "context/compose_impl.h"
#include "context/slot.h"
#include "store/view.h"

/* A path that is a source by itself. */
typedef struct single {
    valise_str path;
    int64_t relation, steps;
} single;

typedef struct gathering {
    valise_view *view;
    const vls_compose_request *request;
    vls_source_fn *fn;
    void *arg;
    vls_vec(single) singles; /* by path, each once */
    int64_t relation, steps; /* of what is walked */
} gathering;

static bool has_source(const gathering *g, int relation)
{
    return g->request->policy->sources & 1u << relation;
}

/* ---- single paths ---- */

static int add_single(gathering *g, valise_str path, int64_t relation, int64_t steps,
                      valise_error *err)
{
    vls_arena *arena = &g->view->arena;

    return vls_vec_push_in(&g->singles, arena, (single){path, relation, steps})
               ? 0
               : vls_arena_fail(arena, err);
}

/* By path; of one path what weighs most. */
static int compare_singles(const void *a, const void *b)
{
    const single *x = a, *y = b;
    int order = vls_str_compare(x->path, y->path);
    int64_t p = vls_compose_weight(x->relation, x->steps),
            q = vls_compose_weight(y->relation, y->steps);

    return order ? order : p > q ? -1 : p < q;
}

static int add_ancestors(gathering *g, valise_error *err)
{
    valise_str path = g->request->place->path;
    int rc = 0;

    for (int64_t steps = 1; rc == 0 && path.len > 0; steps++) {
        int relation = steps == 1 ? VALISE_RELATION_PARENT : VALISE_RELATION_ANCESTOR;
        path = vls_path_parent(path);
        if (has_source(g, relation))
            rc = add_single(g, path, relation, steps, err);
    }
    return rc;
}

static int find_singles(gathering *g, valise_error *err)
{
    const vls_compose_request *request = g->request;
    size_t kept = 0;
    int rc = 0;

    if (has_source(g, VALISE_RELATION_NODE))
        rc = add_single(g, request->place->path, VALISE_RELATION_NODE, 0, err);
    if (rc == 0)
        rc = add_ancestors(g, err);
    for (size_t i = 0; rc == 0 && i < request->related_count; i++)
        rc = add_single(g, request->related[i], VALISE_RELATION_RELATED, 0, err);
    if (rc < 0 || g->singles.len == 0)
        return rc;
    qsort(g->singles.ptr, g->singles.len, sizeof(single), compare_singles);
    for (size_t i = 0; i < g->singles.len; i++) {
        if (kept == 0 || !vls_str_equal(g->singles.ptr[kept - 1].path, g->singles.ptr[i].path))
            g->singles.ptr[kept++] = g->singles.ptr[i];
    }
    g->singles.len = kept;
    return 0;
}

static bool is_single(const gathering *g, valise_str path)
{
    size_t low = 0, high = g->singles.len;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = vls_str_compare(g->singles.ptr[middle].path, path);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int pass_on(void *arg, const vls_slot_row *slot, valise_error *err)
{
    gathering *g = arg;

    return g->fn(g->arg, slot, g->relation, g->steps, err);
}

static int each_single(gathering *g, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < g->singles.len; i++) {
        const single *s = &g->singles.ptr[i];
        g->relation = s->relation;
        g->steps = s->steps;
        rc = vls_slot_each(g->view, &g->request->place->tree.id, s->path, pass_on, g, err);
    }
    return rc;
}

/* ---- directories ---- */

/* Walk from a path on, as long as what comes lies directly in the directory. 1: from is where to go
 * on; 0: that was all. */
static int walk(gathering *g, vls_buf *from, size_t prefix_len, valise_error *err)
{
    const vls_slot_row probe = {.tree = g->request->place->tree.id, .path = vls_buf_str(from)};
    const valise_select select = {.row = &probe, .equal = 1, .from = 1};
    VLS_AUTO(scan) valise_scan *scan = NULL;
    valise_str prefix = vls_str_head(vls_buf_str(from), prefix_len);
    vls_slot_row slot;
    int rc = valise_view_scan(&scan, g->view, &vls_slots, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&slot, scan, err)) > 0) {
        valise_str rest = vls_str_from(slot.path, prefix_len);
        size_t end = vls_str_find_byte(rest, '/');
        if (!vls_str_starts(slot.path, prefix))
            return 0;
        if (end < rest.len) {
            from->len = prefix_len;
            vls_buf_add(from, vls_str_head(rest, end));
            vls_buf_add_byte(from, '/' + 1);
            rc = vls_buf_check(from, err);
            return rc < 0 ? rc : 1;
        }
        rc = rest.len == 0 || is_single(g, slot.path) ||
                     vls_str_equal(slot.path, g->request->place->path)
                 ? 0
                 : pass_on(g, &slot, err);
    }
    return rc;
}

static int each_in(gathering *g, valise_str dir, int64_t relation, valise_error *err)
{
    char room[VLS_PATH_MAX + VLS_NODE_NAME_MAX + 3];
    vls_buf from = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    size_t prefix_len;
    int rc;

    vls_buf_add(&from, dir);
    if (dir.len > 0)
        vls_buf_add_byte(&from, '/');
    prefix_len = from.len;
    g->relation = relation;
    g->steps = 0;
    rc = vls_buf_check(&from, err);
    if (rc == 0)
        rc = 1;
    while (rc > 0)
        rc = walk(g, &from, prefix_len, err);
    return rc;
}

int vls_compose_each(valise_view *view, const vls_compose_request *request, vls_source_fn *fn,
                     void *arg, valise_error *err)
{
    gathering g = {.view = view, .request = request, .fn = fn, .arg = arg};
    valise_str path = request->place->path;
    int rc = find_singles(&g, err);

    if (rc == 0)
        rc = each_single(&g, err);
    if (rc == 0 && has_source(&g, VALISE_RELATION_SIBLING) && path.len > 0)
        rc = each_in(&g, vls_path_parent(path), VALISE_RELATION_SIBLING, err);
    if (rc == 0 && has_source(&g, VALISE_RELATION_CHILD))
        rc = each_in(&g, path, VALISE_RELATION_CHILD, err);
    return rc;
}
