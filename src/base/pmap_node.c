/* pmap_node.c -- one node: search, slots, sharing. */
#include "base/pmap_node.h"

#include "base/mem.h"

#define FANOUT VLS_PMAP_FANOUT

typedef vls_pmap_node node;

_Static_assert(VLS_PMAP_MIN >= 2, "joining and evening out need a few slots");

static size_t node_size(unsigned height)
{
    return sizeof(node) + (height > 0 ? FANOUT * sizeof(node *) : 0);
}

node *vls_pmap_node_new(const valise_env *env, unsigned height)
{
    node *n = vls_mem_alloc(env, node_size(height));

    if (!n)
        return NULL;
    vls_ref_init(&n->refs);
    n->skip = 0;
    n->len = 0;
    n->height = (uint8_t)height;
    n->below = 0;
    memset(n->head, 0xFF, sizeof(n->head));
    return n;
}

void vls_pmap_node_free(const valise_env *env, node *n)
{
    vls_mem_free(env, n, node_size(n->height));
}

/* ---- sharing ---- */

/* As deep as the tree is high. */
void vls_pmap_node_unref(const vls_pmap *map, node *n)
{
    assert(n->height < VLS_PMAP_MAX_HEIGHT);
    if (!vls_ref_put(&n->refs))
        return;
    for (unsigned i = 0; i < n->len; i++) {
        if (n->height > 0)
            vls_pmap_node_unref(map, n->child[i]);
        else
            map->ops->unref(n->item[i]);
    }
    vls_pmap_node_free(map->env, n);
}

static void ref_slots(const vls_pmap_ops *ops, node *n)
{
    for (unsigned i = 0; i < n->len; i++) {
        if (n->height > 0)
            vls_ref_get(&n->child[i]->refs);
        else
            ops->ref(n->item[i]);
    }
}

int vls_pmap_node_own(const vls_pmap *map, node **slot)
{
    node *shared = *slot;

    if (vls_ref_single(&shared->refs))
        return 0;
    node *copy = vls_pmap_node_new(map->env, shared->height);
    if (!copy)
        return VALISE_E_NO_MEMORY;
    copy->skip = shared->skip;
    copy->len = shared->len;
    copy->below = shared->below;
    memcpy(copy->head, shared->head, sizeof(copy->head));
    memcpy(copy->item, shared->item, shared->len * sizeof(void *));
    if (shared->height > 0)
        memcpy(copy->child, shared->child, shared->len * sizeof(node *));
    ref_slots(map->ops, copy);
    *slot = copy;
    vls_pmap_node_unref(map, shared);
    return 0;
}

/* ---- heads ---- */

/* How many bytes two keys have in common at their beginning. */
static size_t common_prefix(valise_str a, valise_str b)
{
    size_t most = VLS_MIN(a.len, b.len);
    size_t len = 0;

    while (most - len >= 8 && memcmp(a.ptr + len, b.ptr + len, 8) == 0)
        len += 8;
    while (len < most && a.ptr[len] == b.ptr[len])
        len++;
    return len;
}

/* Four bytes of the key from skip on; fill stands for those behind its end. */
static uint32_t head_of(valise_str key, size_t skip, unsigned char fill)
{
    const unsigned char *b = (const unsigned char *)key.ptr;
    uint32_t head = 0;

    assert(key.len >= skip);
    if (VLS_LIKELY(key.len - skip >= 4)) {
        b += skip;
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = skip; i < skip + 4; i++)
        head = head << 8 | (i < key.len ? b[i] : fill);
    return head;
}

static void fill_heads(const vls_pmap_ops *ops, node *n)
{
    for (unsigned i = 0; i < n->len; i++)
        n->head[i] = head_of(ops->key(n->item[i]), n->skip, 0);
    for (unsigned i = n->len; i < FANOUT; i++)
        n->head[i] = UINT32_MAX;
}

/* The slots are new, or their heads were made with another skip. */
static void index_node(const vls_pmap_ops *ops, node *n)
{
    valise_str first = ops->key(n->item[0]);
    valise_str last = ops->key(n->item[n->len - 1]);
    size_t common = common_prefix(first, last);

    /* Between two keys with a common prefix all have it. */
    n->skip = (uint32_t)VLS_MIN(common, UINT32_MAX);
    fill_heads(ops, n);
}

/* Set head[at] for the item that was just put there; `other` is the item of some other slot. */
static void index_slot(const vls_pmap_ops *ops, node *n, unsigned at, const void *other)
{
    valise_str key = ops->key(n->item[at]);
    size_t common = common_prefix(key, ops->key(other));

    if (VLS_LIKELY(common >= n->skip)) {
        n->head[at] = head_of(key, n->skip, 0);
        return;
    }
    n->skip = (uint32_t)common;
    fill_heads(ops, n);
}

/* ---- search ---- */

/* Unused heads are the largest number, so a loop over all slots needs no end and vectorizes. */
static unsigned count_below(const node *n, uint32_t head)
{
    unsigned count = 0;

    for (unsigned i = 0; i < FANOUT; i++)
        count += n->head[i] < head;
    return count;
}

static int compare(const vls_pmap_probe *probe, valise_str key)
{
    if (probe->behind)
        return vls_str_starts(key, probe->key) ? 1 : vls_str_compare(probe->key, key);
    return vls_str_compare(probe->key, key);
}

/* The probe against the prefix that all keys of the node have: before all of them, behind all of
 * them, or 0: it has the prefix itself. */
static int compare_prefix(const vls_pmap_ops *ops, const node *n, const vls_pmap_probe *probe)
{
    size_t len = VLS_MIN(probe->key.len, n->skip);
    int order = len ? memcmp(probe->key.ptr, ops->key(n->item[0]).ptr, len) : 0;

    if (order == 0 && probe->key.len < n->skip)
        return probe->behind ? 1 : -1;
    return order;
}

unsigned vls_pmap_node_find(bool *equal, const vls_pmap_ops *ops, const node *n,
                            const vls_pmap_probe *probe)
{
    unsigned low = 0;

    *equal = false;
    if (VLS_LIKELY(probe->key.len >= n->skip)) {
        uint32_t head = head_of(probe->key, n->skip, probe->behind ? 0xFF : 0);
        low = count_below(n, head);
        unsigned high = low;
        while (high < n->len && n->head[high] == head)
            high++;
        while (low < high) {
            unsigned middle = (low + high) / 2;
            int order = compare(probe, ops->key(n->item[middle]));
            if (order == 0) {
                *equal = true;
                return middle;
            }
            if (order > 0)
                low = middle + 1;
            else
                high = middle;
        }
    }
    /* Last, because who finds the very key never needs it: it reads one more item. */
    int order = n->skip ? compare_prefix(ops, n, probe) : 0;
    return order < 0 ? 0 : order > 0 ? n->len : low;
}

/* ---- slots ---- */

/* Move count slots, within a node or to another; the places they leave keep their old values. */
static void move_slots(node *to, unsigned to_at, const node *from, unsigned from_at, unsigned count)
{
    assert(to_at + count <= FANOUT && from_at + count <= FANOUT);
    memmove(&to->head[to_at], &from->head[from_at], count * sizeof(to->head[0]));
    memmove(&to->item[to_at], &from->item[from_at], count * sizeof(to->item[0]));
    if (to->height > 0)
        memmove(&to->child[to_at], &from->child[from_at], count * sizeof(to->child[0]));
}

/* Cut the node to len slots. */
static void set_len(node *n, unsigned len)
{
    for (unsigned i = len; i < n->len; i++)
        n->head[i] = UINT32_MAX;
    n->len = (uint16_t)len;
}

void vls_pmap_node_insert(const vls_pmap_ops *ops, node *n, unsigned at, void *item, node *child)
{
    assert(n->len < FANOUT && at <= n->len && (child != NULL) == (n->height > 0));
    move_slots(n, at + 1, n, at, n->len - at);
    n->len++;
    n->item[at] = item;
    if (child)
        n->child[at] = child;
    if (n->len == 1)
        index_node(ops, n);
    else
        index_slot(ops, n, at, n->item[at == 0]);
}

void vls_pmap_node_remove(node *n, unsigned at)
{
    assert(at < n->len);
    move_slots(n, at, n, at + 1, n->len - at - 1);
    set_len(n, n->len - 1u);
}

void vls_pmap_node_set_item(const vls_pmap_ops *ops, node *n, unsigned at, void *item)
{
    assert(at < n->len);
    n->item[at] = item;
    if (n->len == 1)
        index_node(ops, n);
    else
        index_slot(ops, n, at, n->item[at == 0]);
}

/* ---- two neighbours ---- */

static void count_again(node *n)
{
    n->below = 0;
    for (unsigned i = 0; n->height > 0 && i < n->len; i++)
        n->below += vls_pmap_node_count(n->child[i]);
}

/* Fewer keys may have more in common; heads stay good where they do not. */
static void index_part(const vls_pmap_ops *ops, node *n)
{
    valise_str first = ops->key(n->item[0]);
    valise_str last = ops->key(n->item[n->len - 1]);

    if (common_prefix(first, last) != n->skip)
        index_node(ops, n);
}

void vls_pmap_node_split(const vls_pmap_ops *ops, node *left, node *right, unsigned keep)
{
    unsigned count = left->len - keep;

    assert(keep > 0 && count > 0 && right->len == 0 && right->height == left->height);
    move_slots(right, 0, left, keep, count);
    right->len = (uint16_t)count;
    right->skip = left->skip;
    set_len(left, keep);
    index_part(ops, left);
    index_part(ops, right);
    count_again(left);
    count_again(right);
}

/* All of `gone` into `into`, at its beginning or its end; the caller's reference to gone ends. */
static void absorb(const vls_pmap *map, node *into, node *gone, bool at_beginning)
{
    unsigned count = gone->len;

    if (at_beginning)
        move_slots(into, count, into, 0, into->len);
    move_slots(into, at_beginning ? 0 : into->len, gone, 0, count);
    into->len = (uint16_t)(into->len + count);
    index_node(map->ops, into);
    count_again(into);

    if (vls_ref_single(&gone->refs)) {
        vls_pmap_node_free(map->env, gone);
    } else {
        ref_slots(map->ops, gone);
        vls_pmap_node_unref(map, gone);
    }
}

/* Both have at least one slot and may be changed. */
static void even_out(const vls_pmap_ops *ops, node *left, node *right)
{
    unsigned all = (unsigned)left->len + right->len;
    unsigned keep = all / 2;

    if (left->len > keep) {
        unsigned count = left->len - keep;
        move_slots(right, count, right, 0, right->len);
        move_slots(right, 0, left, keep, count);
    } else {
        unsigned count = keep - left->len;
        move_slots(left, left->len, right, 0, count);
        move_slots(right, 0, right, count, right->len - count);
    }
    left->len = (uint16_t)keep;
    right->len = (uint16_t)(all - keep);
    index_node(ops, left);
    index_node(ops, right);
    count_again(left);
    count_again(right);
}

void vls_pmap_node_mend(const vls_pmap *map, node *parent, unsigned at)
{
    unsigned left = at > 0 ? at - 1 : 0; /* of the pair */

    if (parent->len < 2)
        return;
    /* The smaller neighbour is the one that is likelier to fit. */
    if (at > 0 && at + 1u < parent->len && parent->child[at + 1]->len < parent->child[at - 1]->len)
        left = at;
    unsigned other = left == at ? at + 1 : left;

    if (parent->child[at]->len + parent->child[other]->len <= VLS_PMAP_JOIN) {
        absorb(map, parent->child[at], parent->child[other], other < at);
        parent->child[left] = parent->child[at];
        vls_pmap_node_remove(parent, left + 1);
    } else if (vls_pmap_node_own(map, &parent->child[other]) == 0) {
        even_out(map->ops, parent->child[left], parent->child[left + 1]);
        vls_pmap_node_set_item(map->ops, parent, left + 1, parent->child[left + 1]->item[0]);
    }
}
