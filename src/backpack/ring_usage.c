/* ring_usage.c -- what a ring takes. [B33]
 *
 * Every record and every value counts once (ring_record.c says as what), a record as 128 bytes.
 * What the process really has allocated for the ring, less these, is the overhead: tables, trees,
 * keys, labels and the rest of records and values. */
#include "backpack/ring_impl.h"

static int64_t allocated(const vls_ring *ring)
{
    const vls_ring_sums *s = &ring->sums;
    int64_t slots = (int64_t)(ring->values.cap + ring->labels.cap + ring->space_map.cap +
                              ring->held.cap + ring->nodes.cap);
    int64_t total = (int64_t)(sizeof(*ring) + ring->live.cap * sizeof(vls_ring_slot)) +
                    slots * (int64_t)sizeof(vls_map_slot) +
                    (int64_t)((ring->cap + ring->spaces.cap) * sizeof(void *)) +
                    (int64_t)(ring->roots.cap * sizeof(vls_ring_root)) +
                    (int64_t)(ring->dropped.cap * sizeof(vls_ring_record *)) +
                    (int64_t)(ring->reads.cap * sizeof(vls_ring_read));

    total += (int64_t)(ring->spare_count * (sizeof(vls_ring_record) + sizeof(vls_ring_value)));
    total += s->record_bytes + s->key_bytes + s->label_bytes + s->rare_bytes + s->blob_bytes;
    for (size_t i = 0; i < ring->spaces.len; i++) {
        const vls_ring_space *space = ring->spaces.ptr[i];
        total += space ? (int64_t)(space->keys.cap * sizeof(void *)) : 0;
    }
    return total + (int64_t)atomic_load_explicit(&ring->tree_bytes, memory_order_relaxed);
}

static void count_window(valise_usage *usage, const vls_ring *ring, int64_t last)
{
    usage->commits = VLS_MAX(last - ring->edge, 0);
    if (usage->commits > 0) {
        usage->first_seq = ring->edge + 1;
        usage->last_seq = last;
    }
}

int vls_ring_op_usage(valise_usage *out, void *self, valise_error *err)
{
    const vls_ring_lens *lens = self;
    vls_ring *ring = lens->ring;
    const vls_ring_sums *s = &ring->sums;
    valise_usage usage = {.size = sizeof(usage)};

    (void)err;
    vls_ring_lock(ring);
    vls_ring_drain(ring);
    count_window(&usage, ring, lens->state ? lens->upto : ring->last);
    usage.items = lens->state ? lens->state->items : ring->items;
    usage.reads = (int64_t)ring->reads.len;
    usage.quarantined = ring->quarantined;
    usage.history_bytes = s->history_records * VLS_BAG_COMMIT_BYTES + s->history_values;
    usage.state_bytes = s->state_records * VLS_BAG_COMMIT_BYTES + s->state_values;
    usage.held_bytes = s->held_records * VLS_BAG_COMMIT_BYTES + s->held_values;
    usage.read_bytes = (int64_t)(ring->reads.cap * sizeof(vls_ring_read));
    usage.overhead_bytes = allocated(ring) - usage.history_bytes - usage.state_bytes -
                           usage.held_bytes - usage.read_bytes;
    vls_ring_unlock(ring);
    *out = usage;
    return 0;
}
