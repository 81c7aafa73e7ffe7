/* fuzz_stat_cache.c -- bytes as a stat cache: what passes the check can be gone through, and makes
 * the same tree again. Checksums are put right first, or nothing would pass. [Q20] */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "tree/stat_cache_impl.h"

static void repair(char *bytes, size_t size)
{
    vls_cache_header *head = (void *)bytes;
    size_t at = sizeof(*head);

    while (at + sizeof(vls_cache_record) <= size) {
        vls_cache_record *record = (void *)(bytes + at);
        if (record->count > size / sizeof(vls_cache_entry) ||
            vls_cache_record_size(record->count, record->text_len) > size - at)
            break;
        size_t whole = vls_cache_record_size(record->count, record->text_len);
        record->checksum = vls_cache_sum(record, whole);
        at += whole;
    }
    head->magic = VLS_CACHE_MAGIC;
    head->size = size;
    head->checksum = vls_cache_sum_head(head);
}

/* All nodes below a record, in order, into the builder. Paths are checked to end. */
static void tell(vls_cache_builder *b, const vls_cache_record *record, vls_buf *path)
{
    size_t len = path->len;

    for (uint32_t i = 0; i < record->count; i++) {
        const vls_cache_entry *e = &record->entries[i];
        vls_node node = vls_cache_node(record, e);
        path->len = len;
        if (len > 0)
            vls_buf_add_byte(path, '/');
        vls_buf_add(path, vls_cache_name(record, e));
        FUZZ_CHECK(vls_cache_find(record, vls_cache_name(record, e)) == e);
        FUZZ_CHECK(vls_cache_build_add(b, vls_buf_str(path), &node, NULL) == 0);
        if (e->kind == VLS_NODE_DIR)
            tell(b, vls_cache_child(record, e), path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const valise_env *env = valise_env_default();
    VLS_AUTO(buf) vls_buf path = {0};
    VLS_AUTO(cache_builder) vls_cache_builder builder = {0};
    VLS_AUTO(cache) vls_tree_cache again = {.env = env};
    vls_tree_cache cache = {.env = env, .size = size};
    vls_node root;

    vls_cache_build_begin(&builder, env, NULL);
    vls_buf_init(&path, env, VLS_PATH_MAX);
    if (size < sizeof(vls_cache_header))
        return 0;
    cache.bytes = vls_mem_alloc(env, size);
    cache.room = size;
    FUZZ_CHECK(cache.bytes);
    memcpy(cache.bytes, data, size);
    repair(cache.bytes, size);
    if (vls_cache_check(env, vls_str(cache.bytes, size), NULL) > 0) {
        root = vls_cache_node(vls_cache_root(&cache), &vls_cache_head(&cache)->root);
        FUZZ_CHECK(vls_cache_build_add(&builder, VLS_STR(""), &root, NULL) == 0);
        tell(&builder, vls_cache_root(&cache), &path);
        FUZZ_CHECK(vls_cache_build_end(&again, &builder, NULL) == 0);
        FUZZ_CHECK(vls_cache_check(env, vls_str(again.bytes, again.size), NULL) == 1);
        FUZZ_CHECK(vls_cache_root(&again)->count == vls_cache_root(&cache)->count);
    }
    vls_cache_release(&cache);
    return 0;
}
