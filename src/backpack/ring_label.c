/* ring_label.c -- what many commits have in common, each once: labels, and the namespaces in them.
 *
 * A label is one allocation: the struct, the arrays of its lists, then all bytes. One that nobody
 * has any more is freed at leave, since what enter .. leave handed out may point into it. */
#include "backpack/ring_impl.h"

#include "base/mem.h"

typedef vls_ring_label label;
typedef vls_ring_space space;
typedef vls_ring_traits traits;

/* ---- spaces ---- */

static valise_str space_name(const void *item)
{
    return vls_ring_space_str(item);
}

static uint32_t *space_at(void *item)
{
    return &((space *)item)->at;
}

const vls_ring_order_ops vls_ring_space_order = {space_name, space_at};

bool vls_ring_space_equal(const void *item, const void *name)
{
    return vls_str_equal(vls_ring_space_str(item), *(const valise_str *)name);
}

static space *space_take(vls_ring *ring, valise_str name)
{
    uint64_t hash = vls_str_hash(name, ring->seed);
    space *s = vls_map_get(&ring->space_map, hash, &name);

    if (s) {
        s->refs++;
        return s;
    }
    if (!vls_ring_order_reserve(&ring->spaces, ring->env) ||
        vls_map_reserve(&ring->space_map, ring->space_map.len + 1) < 0)
        return NULL;
    s = vls_mem_alloc(ring->env, sizeof(*s) + name.len + 1);
    if (!s)
        return NULL;
    *s = (space){.hash = hash, .refs = 1, .len = (uint32_t)name.len};
    if (name.len > 0)
        memcpy(s->bytes, name.ptr, name.len);
    ring->sums.label_bytes += (int64_t)(sizeof(*s) + name.len + 1);
    (void)vls_map_put(NULL, &ring->space_map, hash, &name, s);
    vls_ring_order_add(&ring->spaces, &vls_ring_space_order, s);
    return s;
}

static void space_drop(vls_ring *ring, space *s)
{
    valise_str name;

    if (!s || --s->refs > 0)
        return;
    name = vls_ring_space_str(s);
    assert(s->keys.len == s->keys.holes);
    (void)vls_map_remove(&ring->space_map, s->hash, &name);
    vls_ring_order_remove(&ring->spaces, &vls_ring_space_order, s);
    ring->sums.label_bytes -= (int64_t)(sizeof(*s) + name.len + 1);
    vls_ring_order_release(&s->keys, ring->env);
    vls_mem_free(ring->env, s, sizeof(*s) + name.len + 1);
}

/* ---- labels ---- */

/* Most of what is compared was handed out by the label itself. */
static bool same_text(valise_str a, valise_str b)
{
    return a.len == b.len && (a.ptr == b.ptr || vls_str_equal(a, b));
}

bool vls_ring_label_equal(const void *item, const void *key)
{
    const traits *a = &((const label *)item)->traits, *b = key;

    return same_text(a->namespace_name, b->namespace_name) &&
           !a->namespace_name.ptr == !b->namespace_name.ptr && same_text(a->node_id, b->node_id) &&
           same_text(a->node_name, b->node_name) && vls_bag_same_names(a->tags, b->tags) &&
           vls_bag_same_names(a->read, b->read) && vls_bag_same_names(a->write, b->write);
}

static uint64_t hash_list(valise_list list, uint64_t seed)
{
    const valise_str *text = list.items;
    uint64_t hash = seed + (text ? list.count + 1 : 0);

    for (size_t i = 0; text && i < list.count; i++)
        hash = vls_str_hash(text[i], hash);
    return hash;
}

static uint64_t hash_of(const vls_ring *ring, const traits *t)
{
    uint64_t hash = vls_str_hash(t->node_id, ring->seed);

    hash = vls_str_hash(t->node_name, hash);
    hash = vls_str_hash(t->namespace_name, hash);
    hash = hash_list(t->tags, hash);
    hash = hash_list(t->read, hash);
    return hash_list(t->write, hash);
}

static size_t list_bytes(valise_list list)
{
    const valise_str *text = list.items;
    size_t size = 0;

    for (size_t i = 0; text && i < list.count; i++)
        size += sizeof(*text) + text[i].len;
    return size;
}

/* Where the arrays and the bytes of a label go. */
typedef struct pen {
    valise_str *arrays;
    char *bytes;
} pen;

static void write_text(valise_str *out, pen *p, valise_str text)
{
    *out = (valise_str){p->bytes, text.len};
    if (text.len > 0)
        memcpy(p->bytes, text.ptr, text.len);
    p->bytes += text.len;
}

static void write_list(valise_list *out, pen *p, valise_list list)
{
    const valise_str *text = list.items;

    if (!text)
        return;
    *out = (valise_list){p->arrays, list.count};
    for (size_t i = 0; i < list.count; i++)
        write_text(p->arrays++, p, text[i]);
}

static label *new_label(vls_ring *ring, const traits *t, uint64_t hash)
{
    size_t arrays = (t->tags.count + t->read.count + t->write.count) * sizeof(valise_str);
    size_t size = sizeof(label) + t->node_id.len + t->node_name.len + list_bytes(t->tags) +
                  list_bytes(t->read) + list_bytes(t->write) + 1;
    label *l = vls_mem_alloc(ring->env, size);
    pen p;

    if (!l)
        return NULL;
    *l = (label){.ring = ring, .hash = hash, .size = size, .refs = 1};
    p.arrays = (valise_str *)(l + 1);
    p.bytes = (char *)(l + 1) + arrays;
    write_list(&l->traits.tags, &p, t->tags);
    write_list(&l->traits.read, &p, t->read);
    write_list(&l->traits.write, &p, t->write);
    write_text(&l->traits.node_id, &p, t->node_id);
    write_text(&l->traits.node_name, &p, t->node_name);
    return l;
}

label *vls_ring_label_take(vls_ring *ring, const traits *t, label *hint)
{
    label *l = hint && vls_ring_label_equal(hint, t) ? hint : NULL;
    uint64_t hash = l ? 0 : hash_of(ring, t);

    if (!l)
        l = vls_map_get(&ring->labels, hash, t);
    if (l) {
        l->refs++;
        return l;
    }
    if (vls_map_reserve(&ring->labels, ring->labels.len + 1) < 0)
        return NULL;
    l = new_label(ring, t, hash);
    if (!l)
        return NULL;
    if (t->namespace_name.ptr) {
        l->space = space_take(ring, t->namespace_name);
        if (!l->space) {
            vls_mem_free(ring->env, l, l->size);
            return NULL;
        }
        l->traits.namespace_name = vls_ring_space_str(l->space);
    }
    ring->sums.label_bytes += (int64_t)l->size;
    (void)vls_map_put(NULL, &ring->labels, hash, &l->traits, l);
    return l;
}

void vls_ring_label_drop(vls_ring *ring, label *l)
{
    if (!l || --l->refs > 0 || l->idle)
        return;
    l->idle = true;
    l->next_idle = ring->idle;
    ring->idle = l;
}

void vls_ring_label_sweep(vls_ring *ring)
{
    while (ring->idle) {
        label *l = ring->idle;
        ring->idle = l->next_idle;
        l->idle = false;
        if (l->refs > 0)
            continue;
        (void)vls_map_remove(&ring->labels, l->hash, &l->traits);
        space_drop(ring, l->space);
        ring->sums.label_bytes -= (int64_t)l->size;
        vls_mem_free(ring->env, l, l->size);
    }
}
