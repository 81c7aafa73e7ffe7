/* ring_record.c -- records: a commit and an item version at once.
 *
 * vls_ring_recount is the one place that says what a record and its value count as:
 *
 *     in the ring                  history
 *     else, pinned                 state: of the items, of the edge, of quarantine
 *     else                         held: only snapshots, checkpoints, forks or readers have it
 *
 * and the same of values, of which any record that has it counts; pinned comes first there: a value
 * of the state is not history's, however many commits have it. [B8] [B33] */
#include "backpack/ring_impl.h"

#include "base/hash.h"
#include "base/mem.h"

typedef vls_ring_record record;
typedef vls_ring_value value;
typedef vls_ring_rare rare;

/* ---- as items of trees ---- */

static valise_str record_key(const void *item)
{
    return vls_ring_key_str(((const record *)item)->key);
}

static void record_ref(void *item)
{
    vls_ref_get(&((record *)item)->refs);
}

static void record_unref(void *item)
{
    vls_ring_record_unref(item);
}

const vls_pmap_ops vls_ring_record_ops = {record_key, record_ref, record_unref};

/* ---- counting ---- */

static int64_t *sum_of_record(vls_ring_sums *sums, const record *r)
{
    if (r->kept)
        return &sums->history_records;
    return r->pins > 0 ? &sums->state_records : &sums->held_records;
}

static int64_t *sum_of_value(vls_ring_sums *sums, const value *v)
{
    if (v->pins > 0)
        return &sums->state_values;
    return v->hist > 0 ? &sums->history_values : &sums->held_values;
}

void vls_ring_recount(vls_ring *ring, record *r, int pins, int hist)
{
    value *v = r->value;

    assert(vls_ring_is_own(ring, r));
    --*sum_of_record(&ring->sums, r);
    r->pins += (uint32_t)pins;
    r->kept = hist ? hist > 0 : r->kept;
    ++*sum_of_record(&ring->sums, r);
    if (!v)
        return;
    *sum_of_value(&ring->sums, v) -= vls_ring_value_size(v);
    v->pins += (uint32_t)pins;
    v->hist += (uint32_t)hist;
    *sum_of_value(&ring->sums, v) += vls_ring_value_size(v);
}

/* ---- what few have ---- */

static bool is_rare(const valise_commit *c, bool has_value)
{
    return c->reason.ptr || c->error.ptr || c->taints.count > 0 || c->declassified.count > 0 ||
           c->entry != 0 || c->version != (int64_t)(uint32_t)c->version ||
           c->run != (int64_t)(uint32_t)c->run || (!has_value && c->value_size != 0);
}

static size_t rare_size(const valise_commit *c)
{
    const valise_taint *const *taint = c->taints.items;
    const valise_str *tag = c->declassified.items;
    size_t size = sizeof(rare) + c->reason.len + c->error.len + 1;

    for (size_t i = 0; taint && i < c->taints.count; i++)
        size += sizeof(*taint) + sizeof(**taint) + taint[i]->tag.len;
    for (size_t i = 0; tag && i < c->declassified.count; i++)
        size += sizeof(*tag) + tag[i].len;
    return size;
}

static valise_str copy_text(char **at, valise_str text)
{
    valise_str copy = {text.ptr ? *at : NULL, text.len};

    if (text.ptr && text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copy;
}

/* One allocation: the struct, pointers to taints, taints, tags, then all bytes. */
static rare *new_rare(vls_ring *ring, const valise_commit *c)
{
    const valise_taint *const *taint = c->taints.items;
    const valise_str *tag = c->declassified.items;
    size_t size = rare_size(c);
    rare *x = vls_mem_alloc(ring->env, size);
    const valise_taint **list;
    valise_taint *taints;
    valise_str *tags;
    char *at;

    if (!x)
        return NULL;
    list = (const valise_taint **)(x + 1);
    taints = (valise_taint *)(list + c->taints.count);
    tags = (valise_str *)(taints + c->taints.count);
    at = (char *)(tags + c->declassified.count);
    *x = (rare){.version = c->version,
                .run = c->run,
                .entry = c->entry,
                .value_size = c->value_size,
                .taints = {taint ? list : NULL, c->taints.count},
                .declassified = {tag ? tags : NULL, c->declassified.count},
                .size = size};
    for (size_t i = 0; taint && i < c->taints.count; i++) {
        taints[i] = *taint[i];
        taints[i].tag = copy_text(&at, taint[i]->tag);
        list[i] = &taints[i];
    }
    for (size_t i = 0; tag && i < c->declassified.count; i++)
        tags[i] = copy_text(&at, tag[i]);
    x->reason = copy_text(&at, c->reason);
    x->error = copy_text(&at, c->error);
    ring->sums.rare_bytes += (int64_t)size;
    return x;
}

/* ---- making and freeing ---- */

#define WITH_ROOM (sizeof(record) + sizeof(value))

static size_t size_of(const record *r)
{
    return r->has_room ? WITH_ROOM : sizeof(*r);
}

/* Of a bounded history one record goes for each that comes. */
static record *take_memory(vls_ring *ring, bool has_room)
{
    record *r = ring->spare;

    if (!has_room || !r)
        return vls_mem_alloc(ring->env, has_room ? WITH_ROOM : sizeof(*r));
    ring->spare = r->prev;
    ring->spare_count--;
    return r;
}

static void give_memory(vls_ring *ring, record *r)
{
    if (!r->has_room || (int64_t)ring->spare_count >= VLS_RING_SPARE) {
        vls_mem_free(ring->env, r, size_of(r));
        return;
    }
    r->prev = ring->spare;
    ring->spare = r;
    ring->spare_count++;
}

void vls_ring_spare_release(vls_ring *ring)
{
    while (ring->spare) {
        record *r = ring->spare;
        ring->spare = r->prev;
        vls_mem_free(ring->env, r, WITH_ROOM);
    }
    ring->spare_count = 0;
}

record *vls_ring_record_new(vls_ring *ring, const valise_commit *c, vls_ring_key *key, value *v,
                            valise_blob *blob, vls_ring_label *label)
{
    bool has_value = !vls_id_is_none(&c->value), has_room = has_value && !v;
    record *r = take_memory(ring, has_room);
    rare *x = NULL;

    if (r && is_rare(c, has_value) && !(x = new_rare(ring, c))) {
        r->has_room = has_room;
        give_memory(ring, r);
        r = NULL;
    }
    if (!r)
        return NULL;
    *r = (record){.seq = c->seq,
                  .time = c->time,
                  .previous = c->previous,
                  .version = (uint32_t)c->version,
                  .run = (uint32_t)c->run,
                  .key = key,
                  .value = v,
                  .label = label,
                  .rare = x,
                  .previous_value = c->previous_value,
                  .action = (uint8_t)c->action,
                  .has_room = has_room};
    atomic_init(&r->refs.count, 2);
    (void)atomic_fetch_add_explicit(&key->records, 1, memory_order_relaxed);
    if (has_room)
        vls_ring_value_init(ring, r, &c->value, blob);
    ring->sums.held_records++;
    ring->sums.record_bytes += (int64_t)size_of(r);
    return r;
}

void vls_ring_record_free(vls_ring *ring, record *r)
{
    ring->sums.record_bytes -= (int64_t)size_of(r);
    give_memory(ring, r);
}

static void free_record(vls_ring *ring, record *r)
{
    assert(!r->kept && r->pins == 0 && vls_ring_is_own(ring, r));
    ring->sums.held_records--;
    if (r->value)
        vls_ring_value_drop(ring, r->value);
    if (r->rare) {
        ring->sums.rare_bytes -= (int64_t)r->rare->size;
        vls_mem_free(ring->env, r->rare, r->rare->size);
    }
    vls_ring_forget_alone(ring, r->key);
    vls_ring_key_drop(ring, r->key);
    vls_ring_label_drop(ring, r->label);
    /* Others may have the value that lies behind it. */
    r->is_husk = r->has_room && r->value && r->value->refs > 0;
    if (!r->is_husk)
        vls_ring_record_free(ring, r);
}

void vls_ring_record_unref(record *r)
{
    vls_ring *ring;
    record *next;

    if (!vls_ref_put(&r->refs))
        return;
    assert(!r->prev);
    (void)atomic_fetch_sub_explicit(&r->key->records, 1, memory_order_relaxed);
    ring = r->label->ring;
    next = atomic_load_explicit(&ring->dead, memory_order_relaxed);
    do
        r->prev = next;
    while (!atomic_compare_exchange_weak_explicit(&ring->dead, &next, r, memory_order_release,
                                                  memory_order_relaxed));
}

/* Free so many at most; false when none is left. */
static bool drain(vls_ring *ring, size_t count)
{
    while (count-- > 0) {
        record *r = ring->gone;
        if (!r && atomic_load_explicit(&ring->dead, memory_order_relaxed))
            r = atomic_exchange_explicit(&ring->dead, NULL, memory_order_acquire);
        if (!r)
            return false;
        ring->gone = r->prev;
        free_record(ring, r);
    }
    return true;
}

void vls_ring_drain(vls_ring *ring)
{
    (void)drain(ring, SIZE_MAX);
    if (ring->idle)
        vls_ring_label_sweep(ring);
}

void vls_ring_drain_some(vls_ring *ring)
{
    const record *r = drain(ring, ring->appended > 0 ? ring->appended : 1) ? ring->gone : NULL;

    ring->appended = 0;

    /* What the next calls need, each step of it when the one before has come. */
    for (int i = 0; i < 2 && r; i++, r = r->prev) {
        if (r->value)
            vls_ring_value_fetch(ring, r->value);
    }
    for (int i = 0; i < 2 && r; i++, r = r->prev) {
        __builtin_prefetch(r->value ? &r->value->blob : NULL);
        __builtin_prefetch(r->key);
        __builtin_prefetch(r->prev);
    }
    if (ring->idle)
        vls_ring_label_sweep(ring);
}

/* ---- as others see them ---- */

void vls_ring_fill(valise_commit *out, const record *r)
{
    const vls_ring_label *label = r->label;
    const value *v = r->value;
    const rare *x = r->rare;

    *out = (valise_commit){.backpack = label->ring->id,
                           .seq = r->seq,
                           .id = vls_commit_id(&label->ring->id, r->seq, r->time),
                           .time = r->time,
                           .action = r->action,
                           .key = vls_ring_key_str(r->key),
                           .previous_value = r->previous_value,
                           .version = r->version,
                           .previous = r->previous,
                           .node_id = label->traits.node_id,
                           .node_name = label->traits.node_name,
                           .namespace_name = label->traits.namespace_name,
                           .run = r->run,
                           .tags = label->traits.tags,
                           .read = label->traits.read,
                           .write = label->traits.write,
                           .outcome = VALISE_NONE};
    if (v) {
        out->value = v->id;
        out->value_size = vls_ring_value_size(v);
        out->summary = vls_commit_summary((valise_str){v->blob->bytes, (size_t)out->value_size},
                                          label->traits.tags);
    }
    if (x) {
        out->version = x->version;
        out->run = x->run;
        out->value_size = x->value_size;
        out->entry = x->entry;
        out->reason = x->reason;
        out->error = x->error;
        out->taints = x->taints;
        out->declassified = x->declassified;
    }
}

/* ---- lists ---- */

bool vls_ring_list_add(vls_ring_list *list, const valise_env *env, record *r)
{
    if (!vls_vec_push(list, env, r))
        return false;
    vls_ref_get(&r->refs);
    return true;
}

void vls_ring_list_release(vls_ring_list *list, const valise_env *env)
{
    for (size_t i = 0; i < list->len; i++) {
        if (list->ptr[i])
            vls_ring_record_unref(list->ptr[i]);
    }
    vls_vec_release(list, env);
}

int vls_ring_list_walk(const vls_ring_list *list, valise_commit_fn *fn, void *arg,
                       valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < list->len && rc == 0; i++) {
        valise_commit commit;
        vls_ring_fill(&commit, list->ptr[i]);
        rc = fn(arg, &commit, err);
    }
    return rc;
}
