/* schema_value.c -- is there an equal value among many?
 *
 * Comparing each item with each other is quadratic, and items may be large. Here every value is
 * hashed once, over all of it, and looked up in an open-addressed table; two values are compared
 * only when 32 bits of their hashes agree. The seed differs from schema to schema, so nobody can
 * prepare items that all fall into one slot. */
#include "json/schema_impl.h"

#include "json/decimal.h"

typedef struct vls_value_slot {
    uint32_t tag;      /* the high half of the hash */
    uint32_t at_plus1; /* 0: empty */
} slot;

typedef struct hash_step {
    uint64_t so_far, next;
} hash_step;

static uint64_t mix(uint64_t so_far, uint64_t next, uint64_t seed)
{
    hash_step step = {so_far, next};

    return vls_str_hash(vls_str(&step, sizeof(step)), seed);
}

static uint64_t hash_text(vls_json v, uint64_t seed, uint64_t *work)
{
    *work += v.len / 64;
    return mix(v.type, vls_str_hash(vls_json_str(v), seed), seed);
}

/* A large integer may be a BIG or a REAL, depending on how it was written. */
static uint64_t hash_decimal(vls_json v, uint64_t seed)
{
    vls_decimal_digits d;

    vls_decimal_of(&d, v);
    return mix((uint64_t)d.exponent * 2 + d.negative, vls_str_hash(d.digits, seed), seed);
}

static uint64_t hash_value(vls_json v, uint64_t seed, uint32_t depth, uint64_t *work)
{
    uint64_t hash = mix(v.type, v.len, seed);

    (*work)++;
    /* Deeper than that equal hashes prove nothing; the comparison does. */
    if (depth > VLS_JSON_MAX_DEPTH)
        return hash;
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
        break;
    case VLS_JSON_BOOL:
        return mix(hash, v.truth, seed);
    case VLS_JSON_INT:
        return mix(hash, (uint64_t)v.integer, seed);
    case VLS_JSON_REAL:
    case VLS_JSON_BIG:
        return hash_decimal(v, seed);
    case VLS_JSON_STRING:
        return hash_text(v, seed, work);
    case VLS_JSON_ARRAY:
        for (uint32_t i = 0; i < v.len; i++)
            hash = mix(hash, hash_value(v.items[i], seed, depth + 1, work), seed);
        break;
    case VLS_JSON_OBJECT:
        for (uint32_t i = 0; i < v.len; i++) {
            hash = mix(hash, hash_text(v.members[i].key, seed, work), seed);
            hash = mix(hash, hash_value(v.members[i].value, seed, depth + 1, work), seed);
        }
        break;
    }
    return hash;
}

uint64_t vls_schema_weight(vls_json v)
{
    uint64_t work = 0;

    hash_value(v, 0, 0, &work);
    return work;
}

int vls_value_index_init(vls_value_index *index, vls_arena *arena, const vls_json *items,
                         size_t count, uint64_t seed, valise_error *err)
{
    size_t cap = 8;

    assert(count < VLS_VALUE_NONE);
    while (cap / 2 < count)
        cap *= 2;
    slot *slots = vls_arena_array(arena, cap, sizeof(slot));
    if (!slots)
        return vls_arena_fail(arena, err);
    memset(slots, 0, cap * sizeof(slot));
    *index = (vls_value_index){items, slots, cap, seed};
    return 0;
}

/* The slot of a value equal to v, or the empty one where it would go. */
static slot *find_slot(const vls_value_index *index, vls_json v, uint64_t hash)
{
    size_t mask = index->cap - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        slot *s = &index->slots[i];
        if (s->at_plus1 == 0 ||
            (s->tag == hash >> 32 && vls_json_equal_by_value(index->items[s->at_plus1 - 1], v)))
            return s;
    }
}

uint32_t vls_value_index_add(vls_value_index *index, uint32_t at, uint64_t *work)
{
    uint64_t hash = hash_value(index->items[at], index->seed, 0, work);
    slot *s = find_slot(index, index->items[at], hash);

    if (s->at_plus1 != 0)
        return s->at_plus1 - 1;
    *s = (slot){(uint32_t)(hash >> 32), at + 1};
    return VLS_VALUE_NONE;
}

uint32_t vls_value_index_find(const vls_value_index *index, vls_json v, uint64_t *work)
{
    const slot *s = find_slot(index, v, hash_value(v, index->seed, 0, work));

    return s->at_plus1 - 1; /* wraps to VLS_VALUE_NONE for an empty slot */
}
