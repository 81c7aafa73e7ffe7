/* stat_cache_build.c -- a cache in memory from a list of nodes; see stat_cache.h.
 *
 * A level per directory that is open: its entries wait there until it is over, since a record
 * stands behind those of the directories in it. */
#include "tree/stat_cache.h"

#include "base/mem.h"
#include "base/text.h"

typedef struct waiting {
    vls_cache_entry entry;
    size_t name, target; /* in the level's text */
    uint64_t start;      /* of the record of the directory that it is */
} waiting;

struct vls_cache_level {
    vls_vec(waiting) entries;
    vls_buf text;
    uint64_t first;                /* where the first record that belongs to it begins */
    size_t path_len;               /* of the directory */
    const vls_cache_record *stats; /* where the stat of its entries may be known; NULL */
};

void vls_cache_build_begin(vls_cache_builder *b, const valise_env *env, const vls_tree_cache *stats)
{
    *b = (vls_cache_builder){.env = env, .stats = stats && stats->bytes ? stats : NULL};
    vls_cache_write_begin(&b->w, env, -1);
    vls_buf_init(&b->path, env, VLS_PATH_MAX);
}

void vls_cache_build_release(vls_cache_builder *b)
{
    for (size_t i = 0; i < b->levels.len; i++) {
        vls_vec_release(&b->levels.ptr[i]->entries, b->env);
        vls_buf_release(&b->levels.ptr[i]->text);
        vls_mem_free(b->env, b->levels.ptr[i], sizeof(vls_cache_level));
    }
    vls_vec_release(&b->levels, b->env);
    vls_buf_release(&b->path);
    vls_cache_write_release(&b->w);
}

static int open_level(vls_cache_builder *b, valise_str path, const vls_cache_record *stats,
                      valise_error *err)
{
    vls_cache_level *level;

    if (b->depth == b->levels.len) {
        level = vls_mem_zalloc(b->env, sizeof(*level));
        if (!level)
            return vls_fail_memory(err);
        vls_buf_init(&level->text, b->env, UINT32_MAX);
        if (!vls_vec_push(&b->levels, b->env, level)) {
            vls_mem_free(b->env, level, sizeof(*level));
            return vls_fail_memory(err);
        }
    }
    level = b->levels.ptr[b->depth++];
    level->entries.len = 0;
    vls_buf_clear(&level->text);
    level->first = b->w.pos;
    level->path_len = path.len;
    level->stats = stats;
    vls_buf_clear(&b->path);
    vls_buf_add(&b->path, path);
    return vls_buf_check(&b->path, err);
}

/* Write the innermost directory, and go back to the one it is in. Gives where its record begins. */
static uint64_t close_level(vls_cache_builder *b)
{
    vls_cache_level *level = b->levels.ptr[--b->depth];
    uint64_t start;

    vls_cache_write_dir(&b->w, (uint32_t)level->entries.len, (uint32_t)level->text.len);
    for (size_t i = 0; i < level->entries.len; i++) {
        const waiting *it = &level->entries.ptr[i];
        bool link = it->entry.kind == VLS_NODE_LINK;
        vls_cache_write_entry(
            &b->w, &it->entry, vls_str(level->text.ptr + it->name, it->entry.name_len),
            link ? vls_str(level->text.ptr + it->target, (size_t)it->entry.size) : VLS_STR(""),
            it->start);
    }
    start = vls_cache_write_dir_end(&b->w, level->first);
    if (b->depth > 0) {
        vls_cache_level *above = b->levels.ptr[b->depth - 1];
        waiting *it = &above->entries.ptr[above->entries.len - 1];
        it->start = start;
        it->entry.size = (int64_t)level->entries.len;
        b->path.len = above->path_len;
    } else {
        b->head.root.size = (int64_t)level->entries.len;
    }
    return start;
}

/* What is known of the file's stat, if it is the same file. */
static void take_stat(vls_cache_entry *e, const vls_cache_record *stats, valise_str name,
                      const vls_node *node)
{
    const vls_cache_entry *known = stats ? vls_cache_find(stats, name) : NULL;
    bool same = known && known->kind == e->kind && !known->unsure &&
                (node->kind == VLS_NODE_FILE || node->kind == VLS_NODE_LINK) &&
                vls_id_equal(&known->object, &e->object) && known->size == e->size;

    e->unsure = !same;
    if (!same)
        return;
    e->mtime_ns = known->mtime_ns;
    e->ctime_ns = known->ctime_ns;
    e->inode = known->inode;
    e->device = known->device;
}

static int fail_order(valise_str path, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "the last tree is not in order at '%s'",
                    vls_text_short(path).s);
}

static int add_entry(vls_cache_builder *b, valise_str path, const vls_node *node, valise_error *err)
{
    vls_cache_level *level = b->levels.ptr[b->depth - 1];
    valise_str name = vls_path_name(path);
    waiting it = {.entry = {.kind = (uint8_t)node->kind,
                            .exec = node->exec,
                            .size = node->kind == VLS_NODE_DIR ? 0 : node->size,
                            .content = node->content,
                            .object = node->object,
                            .name_len = (uint8_t)name.len},
                  .name = level->text.len};
    const vls_cache_entry *known;

    if (level->entries.len > 0) {
        const waiting *last = &level->entries.ptr[level->entries.len - 1];
        if (vls_str_compare(vls_str(level->text.ptr + last->name, last->entry.name_len), name) >= 0)
            return fail_order(path, err);
    }
    vls_buf_add(&level->text, name);
    if (node->kind == VLS_NODE_LINK) {
        it.entry.size = (int64_t)node->target.len;
        it.target = level->text.len;
        vls_buf_add(&level->text, node->target);
    }
    take_stat(&it.entry, level->stats, name, node);
    if (level->text.failed)
        return vls_buf_check(&level->text, err);
    if (level->entries.len == VLS_CACHE_MAX_ENTRIES || !vls_vec_push(&level->entries, b->env, it))
        return vls_fail_memory(err);
    vls_tree_count(&b->head.counts, node->kind, it.entry.size, 1);
    if (node->kind != VLS_NODE_DIR)
        return 0;
    known = level->stats ? vls_cache_find(level->stats, name) : NULL;
    return open_level(
        b, path, known && known->kind == VLS_NODE_DIR ? vls_cache_child(level->stats, known) : NULL,
        err);
}

static int add_root(vls_cache_builder *b, const vls_node *node, valise_error *err)
{
    if (node->kind != VLS_NODE_DIR)
        return vls_fail(err, VALISE_E_CORRUPT, "the root of the last tree is not a directory");
    b->head.root = (vls_cache_entry){.kind = VLS_NODE_DIR, .unsure = 1, .object = node->object};
    return open_level(b, VLS_STR(""), b->stats ? vls_cache_root(b->stats) : NULL, err);
}

int vls_cache_build_add(vls_cache_builder *b, valise_str path, const vls_node *node,
                        valise_error *err)
{
    int rc = vls_path_check(path, err);

    if (rc < 0)
        return rc;
    if ((path.len == 0) != (b->depth == 0) || node->kind == VLS_NODE_GONE)
        return fail_order(path, err);
    if (path.len == 0)
        return add_root(b, node, err);
    while (b->depth > 1 && !vls_str_equal(vls_path_parent(path), vls_buf_str(&b->path)))
        (void)close_level(b);
    if (!vls_str_equal(vls_path_parent(path), vls_buf_str(&b->path)))
        return fail_order(path, err);
    return add_entry(b, path, node, err);
}

int vls_cache_build_end(vls_tree_cache *out, vls_cache_builder *b, valise_error *err)
{
    uint64_t start = 0;
    int rc;

    if (b->depth == 0) {
        *out = (vls_tree_cache){.env = b->env};
        return 0;
    }
    while (b->depth > 0)
        start = close_level(b);
    rc = vls_cache_write_end(&b->w, &b->head, start, err);
    if (rc < 0)
        return rc;
    *out = vls_cache_written(&b->w);
    return 0;
}
