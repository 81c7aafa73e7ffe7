/* schema_array.c -- rules about the items of an array, and about what is left of containers. */
#include "json/schema_impl.h"

static int check_item_count(vls_schema_run *run, const vls_schema_frame *f)
{
    const vls_schema_array *array = f->node->array;
    uint32_t len = f->instance->len;

    if (array->min_items.set && len < array->min_items.n)
        return vls_schema_bad(run, f, "minItems", NULL, "must have at least %llu items, has %u",
                              (unsigned long long)array->min_items.n, len);
    if (array->max_items.set && len > array->max_items.n)
        return vls_schema_bad(run, f, "maxItems", NULL, "must have at most %llu items, has %u",
                              (unsigned long long)array->max_items.n, len);
    return 0;
}

static int check_unique(vls_schema_run *run, const vls_schema_frame *f)
{
    vls_json v = *f->instance;
    vls_arena_mark mark = vls_arena_here(&run->scratch);
    vls_value_index index;
    uint32_t twin = VLS_VALUE_NONE, at = 0;
    int rc = vls_schema_spend(run, v.len / 4);

    if (rc == 0)
        rc = vls_value_index_init(&index, &run->scratch, v.items, v.len, run->schema->seed,
                                  run->err);
    for (; rc == 0 && twin == VLS_VALUE_NONE && at < v.len; at++) {
        uint64_t work = 0;
        twin = vls_value_index_add(&index, at, &work);
        rc = vls_schema_spend(run, work / 4);
    }
    vls_arena_rewind(&run->scratch, mark);
    if (rc < 0 || twin == VLS_VALUE_NONE)
        return rc;
    return vls_schema_bad(run, f, "uniqueItems", NULL, "items %u and %u are equal", twin, at - 1);
}

/* prefixItems for the first, items for the rest. */
static int check_items(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_array *array = f->node->array;
    uint32_t len = f->instance->len, prefix = VLS_MIN(len, array->prefix_items.count);
    int bad = 0;

    for (uint32_t i = 0; i < (array->items ? len : prefix); i++) {
        const vls_schema_node *node = i < prefix ? array->prefix_items.nodes[i] : array->items;
        int verdict = vls_schema_visit(run, f, node, VLS_WAY_ITEM, i, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
        vls_schema_see(seen, i);
    }
    return bad;
}

static int check_contains(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_array *array = f->node->array;
    uint64_t least = array->min_contains.set ? array->min_contains.n : 1;
    uint64_t most = array->max_contains.set ? array->max_contains.n : UINT64_MAX;
    uint64_t count = 0;

    for (uint32_t i = 0; i < f->instance->len; i++) {
        int verdict = vls_schema_try(run, f, array->contains, VLS_WAY_ITEM, i, NULL);
        if (verdict < 0)
            return verdict;
        if (verdict > 0)
            continue;
        count++;
        vls_schema_see(seen, i);
        /* Enough is enough, unless somebody wants to know which. */
        if (count > most || (count >= least && most == UINT64_MAX && !seen))
            break;
    }
    if (count < least)
        return vls_schema_bad(run, f, array->min_contains.set ? "minContains" : "contains", NULL,
                              "must have at least %llu items that \"contains\" describes, has %llu",
                              (unsigned long long)least, (unsigned long long)count);
    if (count > most)
        return vls_schema_bad(run, f, "maxContains", NULL,
                              "must have at most %llu items that \"contains\" describes, has more",
                              (unsigned long long)most);
    return 0;
}

int vls_schema_check_array(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_array *array = f->node->array;
    int bad = check_item_count(run, f);

    if (!vls_schema_ends(run, bad))
        bad = vls_schema_both(bad, check_items(run, f, seen));
    if (!vls_schema_ends(run, bad) && array->contains)
        bad = vls_schema_both(bad, check_contains(run, f, seen));
    if (!vls_schema_ends(run, bad) && array->unique_items)
        bad = vls_schema_both(bad, check_unique(run, f));
    return bad;
}

int vls_schema_check_unevaluated(vls_schema_run *run, const vls_schema_frame *f,
                                 const vls_schema_node *node, vls_schema_seen *seen)
{
    vls_schema_way way = f->instance->type == VLS_JSON_ARRAY ? VLS_WAY_ITEM : VLS_WAY_KEY;
    int bad = 0;

    if (seen->all)
        return 0;
    for (uint32_t i = 0; i < f->instance->len; i++) {
        if (vls_schema_saw(seen, i))
            continue;
        int verdict = vls_schema_visit(run, f, node, way, i, NULL);
        if (vls_schema_ends(run, verdict))
            return verdict;
        bad |= verdict;
    }
    return bad;
}
