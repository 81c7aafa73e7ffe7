/* gather.c -- items for a prompt, through the node's own view: what it may not read is not there,
 * and what is in quarantine is no item. [P10] */
#include "flow/nodes.h"

#include "base/glob.h"
#include "prompt/edit.h"

#define SPACE "ns:" /* in front of a pattern of namespaces */

typedef struct gathered {
    valise_str key, value;
} gathered;

typedef struct gathering {
    valise_node_run *at;
    vls_json patterns;
    vls_vec(gathered) items;
} gathering;

static bool is_pattern(valise_str text)
{
    return vls_str_starts(text, VLS_STR(SPACE)) || vls_str_find_byte(text, '*') < text.len;
}

static int add(gathering *g, valise_str key, valise_str value, valise_error *err)
{
    vls_arena *arena = g->at->arena;
    gathered item;
    int rc = vls_arena_dup(&item.key, arena, key, err);

    if (rc == 0)
        rc = vls_arena_dup(&item.value, arena, value, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&g->items, arena, item) ? 0 : vls_arena_fail(arena, err);
}

static int get_item(gathering *g, valise_str key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_str name;
    int rc = vls_arena_dup(&name, g->at->arena, key, err);

    if (rc == 0)
        rc = valise_unpack_required(&value, g->at->view, name.ptr, err);
    return rc < 0 || !value ? rc : add(g, key, vls_blob_bytes(value), err);
}

/* Is it wanted, and not asked for by its own name already? */
static bool wants(const gathering *g, const valise_commit *item)
{
    bool fits = false;

    for (uint32_t i = 0; i < g->patterns.len; i++) {
        valise_str pattern = vls_json_str(g->patterns.items[i]);

        if (vls_str_starts(pattern, VLS_STR(SPACE)))
            fits =
                fits || (item->namespace_name.ptr &&
                         vls_glob_match(&vls_glob_dotted, vls_str_from(pattern, sizeof(SPACE) - 1),
                                        item->namespace_name));
        else if (is_pattern(pattern))
            fits = fits || vls_glob_match(&vls_glob_flat, pattern, item->key);
        else if (vls_str_equal(pattern, item->key))
            return false;
    }
    return fits;
}

static int meet_item(void *arg, const valise_item *item, valise_error *err)
{
    gathering *g = arg;
    gathered met = {.value = {NULL, 0}};
    int rc;

    if (!wants(g, item->commit))
        return 0;
    rc = vls_arena_dup(&met.key, g->at->arena, item->commit->key, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&g->items, g->at->arena, met) ? 0 : vls_arena_fail(g->at->arena, err);
}

/* Those that were met are read one by one: it is on record who did. What went away meanwhile is not
 * there. */
static int read_met(gathering *g, valise_error *err)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < g->items.len && rc >= 0; i++) {
        VLS_AUTO(blob) valise_blob *value = NULL;
        gathered item = g->items.ptr[i];

        rc = item.value.ptr ? 1 : valise_unpack_str(&value, g->at->view, item.key, err);
        if (rc == 1 && !item.value.ptr)
            rc = vls_settle(vls_arena_dup(&item.value, g->at->arena, vls_blob_bytes(value), err));
        if (rc >= 0 && item.value.ptr)
            g->items.ptr[kept++] = item;
    }
    g->items.len = kept;
    return vls_settle(rc);
}

static int by_key(const void *a, const void *b)
{
    return vls_str_compare(((const gathered *)a)->key, ((const gathered *)b)->key);
}

static int write_block(vls_json *out, vls_arena *arena, const gathered *item, valise_error *err)
{
    vls_buf text;
    valise_str words;
    int rc;

    vls_buf_init_in(&text, arena, item->key.len + item->value.len + 16);
    vls_buf_add_text(&text, "Item ");
    vls_buf_add(&text, item->key);
    vls_buf_add_text(&text, ":\n");
    vls_buf_add(&text, item->value);
    rc = vls_buf_keep(&words, &text, err);
    return rc < 0 ? rc : vls_text_block(out, arena, words, err);
}

static int write_blocks(vls_json *out, gathering *g, valise_error *err)
{
    vls_arena *arena = g->at->arena;
    vls_json *blocks = vls_arena_array(arena, VLS_MAX(g->items.len, (size_t)1), sizeof(*blocks));
    int rc = 0;

    if (!blocks)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < g->items.len && rc == 0; i++)
        rc = write_block(&blocks[i], arena, &g->items.ptr[i], err);
    if (rc == 0)
        *out = vls_json_array(blocks, g->items.len);
    return rc;
}

int vls_gather_items(vls_json *out, valise_node_run *at, vls_json patterns, valise_error *err)
{
    gathering g = {.at = at, .patterns = patterns};
    bool all = false;
    int rc = 0;

    for (uint32_t i = 0; i < patterns.len && rc == 0; i++) {
        valise_str pattern = vls_json_str(patterns.items[i]);
        bool again = false;

        for (uint32_t k = 0; k < i && !again; k++)
            again = vls_json_equal(patterns.items[k], patterns.items[i]);
        if (is_pattern(pattern))
            all = true;
        else if (!again)
            rc = get_item(&g, pattern, err);
    }
    if (rc == 0 && all)
        rc = valise_each_key(at->view, meet_item, &g, err);
    if (rc == 0)
        rc = read_met(&g, err);
    if (rc < 0)
        return rc;
    if (g.items.len > 1)
        qsort(g.items.ptr, g.items.len, sizeof(*g.items.ptr), by_key);
    if (g.items.len >= VLS_NEUTRAL_BLOCKS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%zu items do not fit into one message: %u at most",
                        g.items.len, VLS_NEUTRAL_BLOCKS_MAX - 1);
    return write_blocks(out, &g, err);
}
