/* ring_value.c -- values, each once. [B9]
 *
 * A value lies behind the record that brought it, and lives as long as a record has it; its bytes
 * are a blob that readers hold references of their own to. [B5] */
#include "backpack/ring_impl.h"

#include "base/hash.h"

typedef vls_ring_value value;

/* Ids are hashes already, but of what others choose: without the seed they could choose slots. */
static uint64_t hash_of(const vls_ring *ring, const valise_id *id)
{
    uint64_t bits;

    memcpy(&bits, id->bytes, sizeof(bits));
    bits = (bits ^ ring->seed) * UINT64_C(0x9e3779b97f4a7c15);
    return bits ^ bits >> 32;
}

static value *room_of(vls_ring_record *home)
{
    assert(home->has_room);
    return (value *)(home + 1);
}

static vls_ring_record *home_of(value *v)
{
    return (vls_ring_record *)(void *)v - 1;
}

bool vls_ring_value_equal(const void *item, const void *id)
{
    return vls_id_equal(&((const value *)item)->id, id);
}

value *vls_ring_value_find(const vls_ring *ring, const valise_id *id)
{
    return vls_map_get(&ring->values, hash_of(ring, id), id);
}

void vls_ring_value_init(vls_ring *ring, vls_ring_record *home, const valise_id *id,
                         valise_blob *blob)
{
    value *v = room_of(home);

    *v = (value){.id = *id, .blob = valise_blob_ref(blob), .refs = 1};
    v->size = (uint32_t)VLS_MIN(blob->len, UINT32_MAX);
    ring->sums.blob_bytes += (int64_t)vls_blob_size(blob->len);
    home->value = v;
    (void)vls_map_put(NULL, &ring->values, hash_of(ring, id), id, v);
    ring->sums.value_count++;
    ring->sums.held_values += vls_ring_value_size(v);
}

void vls_ring_value_drop(vls_ring *ring, value *v)
{
    vls_ring_record *home = home_of(v);

    if (--v->refs > 0)
        return;
    assert(v->pins == 0 && v->hist == 0);
    (void)vls_map_remove(&ring->values, hash_of(ring, &v->id), &v->id);
    ring->sums.value_count--;
    ring->sums.held_values -= vls_ring_value_size(v);
    ring->sums.blob_bytes -= (int64_t)vls_blob_size(v->blob->len);
    valise_blob_unref(v->blob);
    if (home->is_husk)
        vls_ring_record_free(ring, home);
}

void vls_ring_value_seek(const vls_ring *ring, const valise_id *id)
{
    if (ring->values.cap > 0)
        __builtin_prefetch(&ring->values.slots[hash_of(ring, id) & (ring->values.cap - 1)]);
}

void vls_ring_value_fetch(const vls_ring *ring, const value *v)
{
    __builtin_prefetch(v->blob);
    vls_ring_value_seek(ring, &v->id);
}
