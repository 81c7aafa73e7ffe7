/* index_entry.c -- entries of an index: items of its map, and the rows they come from (index.h). */
#include "bus/index.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

/* ---- items ---- */

/*     +------+-----+---------+----------+-----------------------------+------+
 *     | refs | env | key_len | json_len | key 00 source(2) row key    | json |
 *     +------+-----+---------+----------+-----------------------------+------+ */
typedef struct item {
    vls_ref refs;
    uint32_t key_len, json_len;
    const valise_env *env;
    char bytes[];
} item;

static valise_str item_key(const void *p)
{
    const item *it = p;

    return vls_str(it->bytes, it->key_len);
}

static void item_ref(void *p)
{
    vls_ref_get(&((item *)p)->refs);
}

static void item_unref(void *p)
{
    item *it = p;

    if (vls_ref_put(&it->refs))
        vls_mem_free(it->env, it, sizeof(*it) + it->key_len + it->json_len);
}

const vls_pmap_ops vls_index_items = {.key = item_key, .ref = item_ref, .unref = item_unref};

vls_index_entry vls_index_entry_of(const void *index_item)
{
    const item *it = index_item;
    valise_str key = item_key(it);

    return (vls_index_entry){vls_str_head(key, vls_str_find_byte(key, '\0')),
                             vls_str(it->bytes + it->key_len, it->json_len)};
}

/* The key of the item of an entry, in the arena of out. */
static int full_key(valise_str *key, const valise_index_out *out, valise_str entry_key,
                    valise_error *err)
{
    size_t len = entry_key.len + 3 + out->row_key.len;
    char *at = vls_arena_alloc(out->arena, len);

    if (!at)
        return vls_arena_fail(out->arena, err);
    memcpy(at, entry_key.ptr, entry_key.len);
    at[entry_key.len] = '\0';
    vls_bytes_store_u16(at + entry_key.len + 1, out->source);
    memcpy(at + entry_key.len + 3, out->row_key.ptr, out->row_key.len);
    *key = vls_str(at, len);
    return 0;
}

static int new_item(item **out, const valise_env *env, valise_str key, valise_str json,
                    valise_error *err)
{
    item *it = vls_mem_alloc(env, sizeof(*it) + key.len + json.len);

    if (!it)
        return vls_fail_memory(err);
    vls_ref_init(&it->refs);
    it->env = env;
    it->key_len = (uint32_t)key.len;
    it->json_len = (uint32_t)json.len;
    memcpy(it->bytes, key.ptr, key.len);
    memcpy(it->bytes + key.len, json.ptr, json.len);
    *out = it;
    return 0;
}

/* ---- entries of a row ---- */

static int put_entry(valise_index_out *out, valise_str entry_key, valise_str json,
                     valise_error *err)
{
    valise_str key = {NULL, 0};
    item *it = NULL;
    void *old = NULL;
    int rc = full_key(&key, out, entry_key, err);

    if (rc == 0)
        rc = new_item(&it, out->env, key, json, err);
    if (rc < 0)
        return rc;
    assert(it);
    rc = vls_pmap_put(&old, out->map, it);
    item_unref(it);
    if (rc < 0)
        return vls_fail(err, rc, "an index cannot take another entry");
    if (old) {
        item_unref(old);
        return vls_fail(err, VALISE_E_EXISTS, "one row gives the entry \"%s\" twice",
                        vls_text_short(entry_key).s);
    }
    return 0;
}

static int remove_entry(valise_index_out *out, valise_str entry_key, valise_str json,
                        valise_error *err)
{
    valise_str key = {NULL, 0};
    int rc = full_key(&key, out, entry_key, err);

    (void)json;
    if (rc < 0)
        return rc;
    rc = vls_pmap_remove(NULL, out->map, key);
    return rc == VALISE_E_NO_MEMORY ? vls_fail_memory(err) : 0;
}

static int canonical(valise_str *out, vls_arena *arena, valise_str json, valise_error *err)
{
    const vls_json_limits limits = {.max_bytes = VLS_INDEX_JSON_MAX};
    VLS_AUTO(buf) vls_buf text = {0};
    vls_json value;
    int rc = vls_json_parse(&value, arena, json, &limits, err);

    vls_buf_init(&text, arena->env, 2 * VLS_INDEX_JSON_MAX);
    if (rc == 0)
        rc = vls_json_write(&text, value, err);
    return rc < 0 ? rc : vls_arena_dup(out, arena, vls_buf_str(&text), err);
}

int valise_index_add(valise_index_out *out, valise_str key, valise_str json, valise_error *err)
{
    valise_str text;
    int rc;

    VLS_ARG(out && key.ptr && json.ptr, err);
    if (key.len == 0 || key.len > VLS_INDEX_KEY_MAX || !vls_utf8_valid(key) ||
        vls_str_find_byte(key, '\0') < key.len)
        return vls_fail(err, VALISE_E_INVALID,
                        "the key of an index entry is UTF-8 without NUL, 1 to %u bytes",
                        VLS_INDEX_KEY_MAX);
    rc = canonical(&text, out->arena, json, err);
    return rc < 0 ? rc : out->take(out, key, text, err);
}

/* What an indexer says is its own matter; which one said it, and of which row, is for the message.
 */
static int name_row(const vls_index *index, const vls_coll *coll, const valise_cell *cells, int rc,
                    valise_error *err)
{
    char message[sizeof(err->message)];

    if (rc >= 0 || rc == VALISE_E_NO_MEMORY || !err)
        return rc;
    memcpy(message, err->message, sizeof(message));
    (void)vls_fail(err, rc, "%s: %s", vls_coll_place(coll, cells).s, message);
    vls_error_prepend(err, "index %s", index->indexer->name);
    return rc;
}

int vls_index_map(valise_index_out *out, vls_index *index, size_t source, const valise_cell *cells,
                  valise_str row_key, vls_arena *arena, valise_error *err)
{
    void *row;
    int rc = vls_row_of_cells(&row, index->colls[source], cells, arena, err);

    out->arena = arena;
    out->env = arena->env;
    out->source = (uint16_t)source;
    out->row_key = row_key;
    if (rc == 0)
        rc = index->indexer->sources[source].map(out, row, err);
    return name_row(index, index->colls[source], cells, rc < 0 ? rc : 0, err);
}

/* The entries of one version of a row go, those of another come. Either may be NULL. */
int vls_index_exchange_source(vls_pmap *map, vls_index *index, size_t source,
                              const valise_cell *goes, const valise_cell *comes, valise_str row_key,
                              vls_arena *arena, valise_error *err)
{
    valise_index_out remove = {.take = remove_entry, .map = map};
    valise_index_out put = {.take = put_entry, .map = map};
    int rc = 0;

    if (goes)
        rc = vls_index_map(&remove, index, source, goes, row_key, arena, err);
    if (rc == 0 && comes)
        rc = vls_index_map(&put, index, source, comes, row_key, arena, err);
    return rc;
}

/* The same for every source that the collection is. */
int vls_index_exchange(vls_pmap *map, vls_index *index, const vls_coll *coll,
                       const valise_cell *goes, const valise_cell *comes, valise_str row_key,
                       vls_arena *arena, valise_error *err)
{
    for (size_t i = 0; i < index->source_count; i++) {
        int rc = 0;
        if (index->colls[i] == coll)
            rc = vls_index_exchange_source(map, index, i, goes, comes, row_key, arena, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

bool vls_index_follows(const vls_index *index, const vls_coll *coll)
{
    for (size_t i = 0; i < index->source_count; i++) {
        if (index->colls[i] == coll)
            return true;
    }
    return false;
}

/* ---- reading ---- */

int vls_index_each(const vls_pmap *map, const vls_index_range *range, vls_index_fn *fn, void *arg,
                   valise_error *err)
{
    vls_pmap_cursor cursor;
    valise_str last = {NULL, 0};
    uint64_t count = 0;
    void *it;

    it = vls_pmap_first_in(&cursor, map, range->prefix);
    if (range->after.len > 0 && vls_str_compare(range->after, range->prefix) >= 0)
        it = vls_pmap_seek(&cursor, map, range->after);
    for (; it && vls_str_starts(item_key(it), range->prefix); it = vls_pmap_next(&cursor)) {
        vls_index_entry entry = vls_index_entry_of(it);
        int rc;
        if (range->after.len > 0 && vls_str_compare(entry.key, range->after) <= 0)
            continue;
        if (last.ptr && vls_str_equal(last, entry.key))
            continue; /* of several rows with one key the first is seen */
        last = entry.key;
        rc = fn(arg, &entry, err);
        if (rc != 0)
            return rc;
        if (++count == range->limit)
            return 0;
    }
    return 0;
}

int vls_index_add_row(valise_index_out *out, valise_str key, const void *row,
                      const valise_field *fields, valise_error *err)
{
    VLS_AUTO(buf) vls_buf json = {0};
    int rc;

    vls_buf_init(&json, out->env, VLS_INDEX_JSON_MAX);
    rc = vls_fields_write(&json, row, fields, VLS_FIELD_LOGGED, VLS_FIELD_ALL, err);
    if (rc == 0)
        rc = vls_buf_check(&json, err);
    return rc < 0 ? rc : valise_index_add(out, key, vls_buf_str(&json), err);
}
