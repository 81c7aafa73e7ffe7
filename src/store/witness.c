/* witness.c -- the newest log entry that speaks of each key, in 32 bytes a key.
 *
 * Keys are remembered by a keyed 128-bit hash only. They are gathered in an array which is sorted,
 * and thinned out to the newest of each, whenever it has doubled. */
#include "base/fast_hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/validate.h"

typedef struct sighting {
    vls_hash128 key;
    int64_t seq;
    bool seen;
} sighting;

struct vls_witness {
    const valise_env *env;
    vls_fast_key secret;
    vls_vec(sighting) all;
    size_t thin_at;
    vls_buf scratch;
};

int vls_witness_new(struct vls_witness **out, const valise_env *env, valise_error *err)
{
    struct vls_witness *w = vls_mem_zalloc(env, sizeof(*w));
    int rc;

    if (!w)
        return vls_fail_memory(err);
    w->env = env;
    w->thin_at = 4096;
    vls_buf_init(&w->scratch, env, VLS_VIEW_MAX_BYTES);
    rc = vls_fast_key_init(&w->secret, env, err);
    if (rc < 0) {
        vls_witness_free(w);
        return rc;
    }
    *out = w;
    return 0;
}

void vls_witness_free(struct vls_witness *w)
{
    if (!w)
        return;
    vls_vec_release(&w->all, w->env);
    vls_buf_release(&w->scratch);
    vls_mem_free(w->env, w, sizeof(*w));
}

static int compare(const void *a, const void *b)
{
    const sighting *x = a, *y = b;

    if (x->key.high != y->key.high)
        return x->key.high < y->key.high ? -1 : 1;
    if (x->key.low != y->key.low)
        return x->key.low < y->key.low ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Sort, and keep the newest of each key. */
void vls_witness_seal(struct vls_witness *w)
{
    size_t kept = 0;

    if (w->all.len == 0)
        return;
    qsort(w->all.ptr, w->all.len, sizeof(w->all.ptr[0]), compare);
    for (size_t i = 1; i < w->all.len; i++) {
        if (!vls_hash128_equal(w->all.ptr[kept].key, w->all.ptr[i].key))
            kept++;
        w->all.ptr[kept] = w->all.ptr[i];
    }
    w->all.len = kept + 1;
}

/* The collection is part of the key. */
static int hash_of(vls_hash128 *out, struct vls_witness *w, uint32_t coll, valise_str key,
                   valise_error *err)
{
    int rc;

    vls_buf_clear(&w->scratch);
    vls_buf_add_u64(&w->scratch, coll);
    vls_buf_add_byte(&w->scratch, ' ');
    vls_buf_add(&w->scratch, key);
    rc = vls_buf_check(&w->scratch, err);
    if (rc == 0)
        *out = vls_fast_hash128(vls_buf_str(&w->scratch), &w->secret);
    return rc;
}

int vls_witness_add(struct vls_witness *w, uint32_t coll, valise_str key, int64_t seq,
                    valise_error *err)
{
    sighting s = {.seq = seq};
    int rc = hash_of(&s.key, w, coll, key, err);

    if (rc < 0)
        return rc;
    if (w->all.len == w->thin_at) {
        vls_witness_seal(w);
        w->thin_at = VLS_MAX(2 * w->all.len, (size_t)4096);
    }
    return vls_vec_push(&w->all, w->env, s) ? 0 : vls_fail_memory(err);
}

int64_t vls_witness_ask(struct vls_witness *w, uint32_t coll, valise_str key)
{
    sighting wanted = {{0, 0}, 0, false};
    size_t low = 0, high = w->all.len;

    if (hash_of(&wanted.key, w, coll, key, NULL) < 0)
        return 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        sighting *s = &w->all.ptr[middle];
        if (vls_hash128_equal(s->key, wanted.key)) {
            s->seen = true;
            return s->seq;
        }
        if (compare(s, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

int64_t vls_witness_next_unseen(const struct vls_witness *w, size_t *at)
{
    while (*at < w->all.len) {
        const sighting *s = &w->all.ptr[(*at)++];
        if (!s->seen)
            return s->seq;
    }
    return 0;
}
