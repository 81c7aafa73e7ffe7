/* ring_check.c -- see ring_check.h. */
#include "kit/ring_check.h"

#include "base/vec.h"

typedef vls_ring_record record;
typedef vls_ring_value value;
typedef vls_vec(const void *) pointers;

static void add(pointers *list, const void *item)
{
    CHECK(vls_vec_push(list, valise_env_default(), item));
}

static int by_address(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;

    return (x > y) - (x < y);
}

static void sort(pointers *list)
{
    if (list->len > 0)
        qsort(list->ptr, list->len, sizeof(*list->ptr), by_address);
}

/* How often the pointer at `at` stands in a row; the list is sorted. */
static size_t repeats(const pointers *list, size_t at)
{
    size_t n = 1;

    while (at + n < list->len && list->ptr[at + n] == list->ptr[at])
        n++;
    return n;
}

/* ---- who pins what ---- */

static void pin_window(pointers *pinned, const vls_ring *ring)
{
    for (int64_t seq = ring->edge + 1; seq <= ring->last; seq++) {
        const record *r = vls_ring_at(ring, seq);
        CHECK_INT(seq, r->seq);
        CHECK(r->kept && vls_ring_is_own(ring, r));
        if (!r->prev)
            continue;
        CHECK_STR(vls_ring_key_str(r->key), vls_ring_key_str(r->prev->key));
        CHECK(!vls_ring_is_own(ring, r->prev) || r->prev->seq < seq);
        if (!r->prev->kept && vls_ring_is_own(ring, r->prev)) {
            CHECK(!r->prev->prev);
            add(pinned, r->prev);
        }
    }
}

static void pin_live(pointers *pinned, const vls_ring *ring)
{
    size_t at = 0, found = 0, named = 0;

    for (const vls_ring_key *key; (key = vls_ring_table_next(&ring->live, &at));) {
        const record *r = key->newest;
        CHECK(r && r->key == key && vls_ring_is_own(ring, r) && !r->superseded);
        CHECK(vls_ring_table_find(&ring->live, key->hash, vls_ring_key_str(key))->newest == r);
        CHECK(r->kept || vls_ring_is_item(r) || ring->base || vls_ring_counts(ring, r));
        add(pinned, r);
        found += vls_ring_is_item(r);
        if (vls_ring_is_item(r) && r->label->space) {
            CHECK(r->label->space->keys.ptr[key->at] == key);
            named++;
        }
    }
    if (!ring->base)
        CHECK_INT(ring->items, found);
    for (size_t i = 0; i < ring->spaces.len; i++) {
        const vls_ring_space *space = ring->spaces.ptr[i];
        if (space)
            named -= space->keys.len - space->keys.holes;
    }
    CHECK_INT(0, named);
}

static void pin_held(pointers *pinned, const vls_ring *ring)
{
    size_t at = 0;

    for (const vls_ring_held *held; (held = vls_map_next(&ring->held, &at));) {
        CHECK(held->rows > 0);
        for (size_t i = 0; i < held->rows && vls_ring_is_own(ring, held->record); i++)
            add(pinned, held->record);
    }
}

/* ---- sums ---- */

static void check_records(const vls_ring *ring, const pointers *pinned, pointers *values)
{
    int64_t state = 0;

    for (size_t i = 0, n; i < pinned->len; i += n) {
        const record *r = pinned->ptr[i];
        n = repeats(pinned, i);
        CHECK_INT(n, r->pins);
        state += !r->kept;
        for (size_t k = 0; k < n && r->value; k++)
            add(values, r->value);
    }
    CHECK_INT(state, ring->sums.state_records);
    CHECK_INT(ring->last - ring->edge, ring->sums.history_records);
}

static void check_values(const vls_ring *ring, const pointers *pins, const pointers *hist)
{
    int64_t state = 0, history = 0, all = 0;
    size_t at = 0;

    for (size_t i = 0, n; i < pins->len; i += n) {
        const value *v = pins->ptr[i];
        n = repeats(pins, i);
        CHECK_INT(n, v->pins);
        state += vls_ring_value_size(v);
    }
    for (size_t i = 0, n; i < hist->len; i += n) {
        const value *v = hist->ptr[i];
        n = repeats(hist, i);
        CHECK_INT(n, v->hist);
        if (v->pins == 0)
            history += vls_ring_value_size(v);
    }
    for (const value *v; (v = vls_map_next(&ring->values, &at));) {
        CHECK(v->refs > 0);
        all += vls_ring_value_size(v);
    }
    CHECK_INT(state, ring->sums.state_values);
    CHECK_INT(history, ring->sums.history_values);
    CHECK_INT(all, state + history + ring->sums.held_values);
}

static void check_roots(const vls_ring *ring)
{
    for (size_t i = 0; i < ring->roots.len; i++) {
        const vls_ring_root *root = &ring->roots.ptr[i];
        CHECK(i == 0 || ring->roots.ptr[i - 1].state->seq < root->state->seq);
        CHECK(root->holds > 0 || root->state->seq >= ring->edge);
    }
}

void ring_check(vls_ring *ring)
{
    pointers pinned = VLS_VEC_INIT, pins = VLS_VEC_INIT, hist = VLS_VEC_INIT;

    vls_ring_lock(ring);
    vls_ring_drain(ring);
    pin_window(&pinned, ring);
    pin_live(&pinned, ring);
    pin_held(&pinned, ring);
    sort(&pinned);
    check_records(ring, &pinned, &pins);
    sort(&pins);
    for (int64_t seq = ring->edge + 1; seq <= ring->last; seq++) {
        if (vls_ring_at(ring, seq)->value)
            add(&hist, vls_ring_at(ring, seq)->value);
    }
    sort(&hist);
    check_values(ring, &pins, &hist);
    check_roots(ring);
    vls_ring_unlock(ring);
    vls_vec_release(&pinned, valise_env_default());
    vls_vec_release(&pins, valise_env_default());
    vls_vec_release(&hist, valise_env_default());
}
