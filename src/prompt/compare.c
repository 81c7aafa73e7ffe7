/* compare.c -- see compare.h.
 *
 * Equal beginnings and ends are passed over first. What is left of both is sorted by source and
 * paired up: a prompt has each turn once, but a builder's words may stand in it twice. */
#include "prompt/compare.h"

#include <stdlib.h>

#include "base/str.h"

const char *const vls_part_changes[] = {"entered", "left", "changed", "moved", NULL};

size_t vls_parts_differ(const vls_parts *a, const vls_parts *b)
{
    size_t i = 0;

    while (i < a->len && i < b->len && vls_part_equal(&a->ptr[i], &b->ptr[i]))
        i++;
    return i == a->len && i == b->len ? SIZE_MAX : i;
}

/* A part in the order of what it is of. */
typedef struct sorted {
    const vls_part *part;
    size_t at;
} sorted;

static int by_source(const void *x, const void *y)
{
    const sorted *a = x, *b = y;
    int order;

    if (a->part->kind != b->part->kind)
        return a->part->kind < b->part->kind ? -1 : 1;
    order = vls_str_compare(a->part->name, b->part->name);
    if (order == 0 && a->part->kind == VLS_PART_ROLE) /* persona and constraints */
        order = (a->part->section > b->part->section) - (a->part->section < b->part->section);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

static bool same_source(const sorted *a, const sorted *b)
{
    return a->part->kind == b->part->kind && vls_str_equal(a->part->name, b->part->name) &&
           (a->part->kind != VLS_PART_ROLE || a->part->section == b->part->section);
}

static int sort_parts(sorted **out, vls_arena *arena, const vls_parts *parts, size_t from,
                      size_t to, valise_error *err)
{
    sorted *all = vls_arena_array(arena, to - from + 1, sizeof(*all));

    if (!all)
        return vls_arena_fail(arena, err);
    for (size_t i = from; i < to; i++)
        all[i - from] = (sorted){&parts->ptr[i], i};
    if (to - from > 1)
        qsort(all, to - from, sizeof(*all), by_source);
    *out = all;
    return 0;
}

typedef struct comparing {
    const vls_parts *a, *b;
    size_t from, to_a, to_b; /* the stretches that are not equal */
    int64_t *of_a, *of_b;    /* the part of the other side, -1; by number from `from` on */
    vls_compare_fn *fn;
    void *arg;
} comparing;

/* Pair up what has one source, in the order in which it stands. */
static void pair(comparing *c, const sorted *a, const sorted *b)
{
    size_t i = 0, j = 0, na = c->to_a - c->from, nb = c->to_b - c->from;

    while (i < na && j < nb) {
        if (same_source(&a[i], &b[j])) {
            c->of_a[a[i].at - c->from] = (int64_t)b[j].at;
            c->of_b[b[j].at - c->from] = (int64_t)a[i].at;
            i++;
            j++;
        } else {
            sorted x = {a[i].part, 0}, y = {b[j].part, 0};

            if (by_source(&x, &y) < 0)
                i++;
            else
                j++;
        }
    }
}

/* Those of a that left, up to the part that *at reached. */
static int tell_left(comparing *c, size_t *at, size_t upto, valise_error *err)
{
    int rc = 0;

    for (; *at < upto && rc == 0; ++*at)
        if (c->of_a[*at - c->from] < 0)
            rc = c->fn(c->arg, VLS_PART_LEFT, (int64_t)*at, -1, err);
    return rc;
}

static int tell(comparing *c, valise_error *err)
{
    size_t at = c->from; /* of a */
    int rc = 0;

    for (size_t j = c->from; j < c->to_b && rc == 0; j++) {
        int64_t other = c->of_b[j - c->from];
        bool behind = other >= 0 && (size_t)other < at;

        if (other < 0) {
            rc = c->fn(c->arg, VLS_PART_ENTERED, -1, (int64_t)j, err);
            continue;
        }
        if (!behind)
            rc = tell_left(c, &at, (size_t)other, err);
        if (!behind)
            at = (size_t)other + 1;
        if (rc == 0 && !vls_part_equal(&c->a->ptr[other], &c->b->ptr[j]))
            rc = c->fn(c->arg,
                       c->a->ptr[other].section == c->b->ptr[j].section ? VLS_PART_CHANGED
                                                                        : VLS_PART_MOVED,
                       other, (int64_t)j, err);
        else if (rc == 0 && behind)
            rc = c->fn(c->arg, VLS_PART_MOVED, other, (int64_t)j, err);
    }
    return rc < 0 ? rc : tell_left(c, &at, c->to_a, err);
}

int vls_parts_compare(const vls_parts *a, const vls_parts *b, vls_arena *arena, vls_compare_fn *fn,
                      void *arg, valise_error *err)
{
    comparing c = {.a = a, .b = b, .to_a = a->len, .to_b = b->len, .fn = fn, .arg = arg};
    sorted *sa = NULL, *sb = NULL;
    size_t first = vls_parts_differ(a, b);
    int rc;

    if (first == SIZE_MAX)
        return 0;
    c.from = first;
    while (c.to_a > first && c.to_b > first &&
           vls_part_equal(&a->ptr[c.to_a - 1], &b->ptr[c.to_b - 1])) {
        c.to_a--;
        c.to_b--;
    }
    c.of_a = vls_arena_array(arena, c.to_a - first + 1, sizeof(*c.of_a));
    c.of_b = vls_arena_array(arena, c.to_b - first + 1, sizeof(*c.of_b));
    if (!c.of_a || !c.of_b)
        return vls_arena_fail(arena, err);
    for (size_t i = first; i < c.to_a; i++)
        c.of_a[i - first] = -1;
    for (size_t i = first; i < c.to_b; i++)
        c.of_b[i - first] = -1;
    rc = sort_parts(&sa, arena, a, first, c.to_a, err);
    if (rc == 0)
        rc = sort_parts(&sb, arena, b, first, c.to_b, err);
    if (rc < 0)
        return rc;
    pair(&c, sa, sb);
    return tell(&c, err);
}
