/* rows_diff.c -- the keys in which two states differ.
 *
 * The lineages of both end in the same segments. Up to the first backpack that both have, all
 * commits of the segments before it may make a difference; of that one, those between the two seqs.
 *
 *     fork   f0 .. f4  -> run up to 100           keys of f0..f4, and of 101..120 of run
 *     run                 up to 120
 *
 * So the keys of these commits are gathered, and for each the newest commit on either side is
 * looked up. Cost goes with what happened in between. */
#include "backpack/rows.h"

#include "base/uuid.h"

static int gather_range(vls_key_set *g, const vls_rows *rows, const valise_uuid *backpack,
                        int64_t first, int64_t last, valise_error *err)
{
    const vls_rows_range range = {backpack, first, last, false};

    return vls_rows_each(rows, &range, vls_key_set_add, g, err);
}

/* Where the lineages meet: false when they do not. */
static bool find_common(size_t *i, size_t *k, const vls_rows *a, const vls_rows *b)
{
    for (*i = 0; *i < a->segment_count; ++*i) {
        for (*k = 0; *k < b->segment_count; ++*k) {
            if (vls_uuid_equal(&a->segments[*i].backpack, &b->segments[*k].backpack))
                return true;
        }
    }
    return false;
}

static int gather(vls_key_set *g, const vls_rows *a, size_t i, const vls_rows *b, size_t k,
                  valise_error *err)
{
    const vls_rows_segment *x = &a->segments[i], *y = &b->segments[k];
    int rc = 0;

    for (size_t n = 0; rc == 0 && n < i; n++)
        rc = gather_range(g, a, &a->segments[n].backpack, 0, a->segments[n].upto, err);
    for (size_t n = 0; rc == 0 && n < k; n++)
        rc = gather_range(g, b, &b->segments[n].backpack, 0, b->segments[n].upto, err);
    if (rc == 0 && x->upto != y->upto)
        rc = gather_range(g, a, &x->backpack, VLS_MIN(x->upto, y->upto) + 1,
                          VLS_MAX(x->upto, y->upto), err);
    return rc;
}

typedef int difference_fn(void *arg, const valise_commit *in_self, const valise_commit *in_other,
                          valise_error *err);

static int compare_key(const vls_rows *a, const vls_rows *b, valise_str key, vls_arena *arena,
                       difference_fn *fn, void *arg, valise_error *err)
{
    valise_commit x, y;
    bool in_a, in_b;
    int rc = vls_rows_newest(&x, a, key, arena, err);

    if (rc < 0)
        return rc;
    in_a = rc > 0;
    rc = vls_rows_newest(&y, b, key, arena, err);
    if (rc < 0)
        return rc;
    in_b = rc > 0;
    if (in_a == in_b && (!in_a || (x.seq == y.seq && vls_uuid_equal(&x.backpack, &y.backpack))))
        return 0;
    return fn(arg, in_a ? &x : NULL, in_b ? &y : NULL, err);
}

static int compare_all(vls_key_set *g, const vls_rows *a, const vls_rows *b, difference_fn *fn,
                       void *arg, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    int rc = 0;

    if (g->list.len > 1)
        qsort(g->list.ptr, g->list.len, sizeof(valise_str), vls_str_order);
    vls_arena_init(&arena, a->view->arena.env, VLS_VIEW_MAX_BYTES);
    for (size_t n = 0; rc == 0 && n < g->list.len; n++) {
        vls_arena_reset(&arena);
        rc = compare_key(a, b, g->list.ptr[n], &arena, fn, arg, err);
    }
    return rc;
}

int vls_rows_each_difference(void *self, void *other, difference_fn *fn, void *arg,
                             valise_error *err)
{
    const vls_rows *a = self, *b = other;
    VLS_AUTO(key_set) vls_key_set g = {0};
    size_t i, k;
    int rc;

    if (!find_common(&i, &k, a, b))
        return vls_fail(err, VALISE_E_UNSUPPORTED, "the backpacks have nothing in common");
    vls_key_set_init(&g, a->view->arena.env);
    rc = gather(&g, a, i, b, k, err);
    return rc < 0 ? rc : compare_all(&g, a, b, fn, arg, err);
}
