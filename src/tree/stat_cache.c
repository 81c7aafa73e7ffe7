/* stat_cache.c -- loading, checking and looking into a cache; see stat_cache.h. */
#include "tree/stat_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fast_hash.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tree/stat_cache_impl.h"

#define MAX_FILE (UINT64_C(1) << 34)

_Static_assert(sizeof(vls_cache_entry) == 120, "no padding that nobody writes");
_Static_assert(sizeof(vls_cache_record) == 24, "no padding that nobody writes");
_Static_assert(sizeof(vls_cache_header) == 200, "no padding that nobody writes");

uint64_t vls_cache_sum(const void *part, size_t size)
{
    return vls_fast_hash128_seeded(vls_str((const char *)part + 8, size - 8), VLS_CACHE_MAGIC).low;
}

uint64_t vls_cache_sum_head(const vls_cache_header *head)
{
    return vls_fast_hash128_seeded(vls_str((const char *)head + VLS_CACHE_HEAD_SKIP,
                                           sizeof(*head) - VLS_CACHE_HEAD_SKIP),
                                   VLS_CACHE_MAGIC)
        .low;
}

/* ---- looking ---- */

const vls_cache_record *vls_cache_root(const vls_tree_cache *cache)
{
    const vls_cache_header *head = vls_cache_head(cache);

    return (const void *)(cache->bytes + cache->size - (size_t)head->root.ref * 8);
}

vls_node vls_cache_node(const vls_cache_record *record, const vls_cache_entry *e)
{
    vls_node node = {.kind = (vls_node_kind)e->kind,
                     .exec = e->exec,
                     .size = e->size,
                     .content = e->content,
                     .object = e->object};

    if (e->kind == VLS_NODE_LINK)
        node.target = vls_str(vls_cache_text(record) + e->ref, (size_t)e->size);
    return node;
}

const vls_cache_entry *vls_cache_find(const vls_cache_record *record, valise_str name)
{
    uint32_t low = 0, high = record->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const vls_cache_entry *e = &record->entries[middle];
        int order = vls_str_compare(vls_cache_name(record, e), name);
        if (order == 0)
            return e;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- checking ---- */

/* A record that nobody claimed yet as the directory it is of. */
typedef struct unclaimed {
    uint64_t start, piece;
    uint32_t count;
    uint32_t longest; /* path below it, in bytes */
} unclaimed;

typedef struct checker {
    const valise_env *env;
    const char *bytes;
    uint64_t size;
    vls_vec(unclaimed) waiting;
    vls_tree_counts counts;
} checker;

static bool is_name(valise_str name)
{
    if (name.len == 0 || memchr(name.ptr, '/', name.len) || memchr(name.ptr, '\0', name.len))
        return false;
    return name.ptr[0] != '.' || !(name.len == 1 || (name.len == 2 && name.ptr[1] == '.'));
}

static bool is_root(const vls_cache_entry *e)
{
    return e->kind == VLS_NODE_DIR && e->exec == 0 && e->unsure <= 1 && e->name_len == 0 &&
           e->size >= 0;
}

/* Everything about an entry but the directory it may be. */
static bool entry_is_fine(const vls_cache_record *record, const vls_cache_entry *e)
{
    const char *text = vls_cache_text(record);

    if (e->kind < VLS_NODE_FILE || e->kind > VLS_NODE_UNREADABLE || e->unsure > 1 || e->zero != 0 ||
        e->exec > (e->kind == VLS_NODE_FILE) || e->size < 0)
        return false;
    if (e->name > record->text_len || e->name_len > record->text_len - e->name ||
        !is_name(vls_cache_name(record, e)))
        return false;
    if (e->kind == VLS_NODE_LINK &&
        (e->ref > record->text_len || (uint64_t)e->size > record->text_len - e->ref ||
         memchr(text + e->ref, '\0', (size_t)e->size)))
        return false;
    return e == record->entries ||
           vls_str_compare(vls_cache_name(record, e - 1), vls_cache_name(record, e)) < 0;
}

/* Whether the first `left` bytes at the record are one and it is what was written. */
static bool record_is_fine(const vls_cache_record *record, uint64_t left)
{
    size_t size;

    if (left < sizeof(*record) || record->count > VLS_CACHE_MAX_ENTRIES)
        return false;
    size = vls_cache_record_size(record->count, record->text_len);
    return size <= left && record->checksum == vls_cache_sum(record, size);
}

/* Take the directories of a record from those that wait: they are the last, in this order. */
static bool claim(checker *c, const vls_cache_record *record, uint64_t start, uint32_t dirs,
                  unclaimed *out)
{
    size_t at = c->waiting.len - dirs;

    for (uint32_t i = 0; i < record->count; i++) {
        const vls_cache_entry *e = &record->entries[i];
        uint32_t length = e->name_len;
        if (e->kind == VLS_NODE_DIR) {
            const unclaimed *child = &c->waiting.ptr[at++];
            if (child->start != start - (uint64_t)e->ref * 8 || e->size != child->count)
                return false;
            if (child->longest > 0)
                length += 1 + child->longest;
            out->piece += child->piece;
        }
        out->longest = VLS_MAX(out->longest, length);
    }
    c->waiting.len -= dirs;
    return out->longest <= VLS_PATH_MAX && record->piece == out->piece;
}

/* The record at *pos, which goes behind it. 1, 0, VALISE_E_NO_MEMORY. */
static int check_record(checker *c, uint64_t *pos, valise_error *err)
{
    const vls_cache_record *record = (const void *)(c->bytes + *pos);
    unclaimed it = {.start = *pos};
    uint32_t dirs = 0;

    if (!record_is_fine(record, c->size - *pos))
        return 0;
    for (uint32_t i = 0; i < record->count; i++) {
        const vls_cache_entry *e = &record->entries[i];
        if (!entry_is_fine(record, e))
            return 0;
        dirs += e->kind == VLS_NODE_DIR;
        vls_tree_count(&c->counts, (vls_node_kind)e->kind, 0, 1);
    }
    it.count = record->count;
    it.piece = vls_cache_record_size(record->count, record->text_len);
    *pos += it.piece;
    if (dirs > c->waiting.len || !claim(c, record, it.start, dirs, &it))
        return 0;
    if (!vls_vec_push(&c->waiting, c->env, it))
        return vls_fail_memory(err);
    return 1;
}

static bool counts_agree(const vls_tree_counts *said, const vls_tree_counts *found)
{
    return said->files == found->files && said->dirs == found->dirs &&
           said->links == found->links && said->unreadable == found->unreadable && said->bytes >= 0;
}

int vls_cache_check(const valise_env *env, valise_str bytes, valise_error *err)
{
    const vls_cache_header *head = (const void *)bytes.ptr;
    checker c = {.env = env, .bytes = bytes.ptr, .size = bytes.len};
    uint64_t pos = sizeof(*head);
    int rc = 1;

    if (bytes.len <= sizeof(*head) || head->magic != VLS_CACHE_MAGIC || head->size != bytes.len ||
        head->checksum != vls_cache_sum_head(head) || !is_root(&head->root))
        return 0;
    while (rc > 0 && pos < bytes.len)
        rc = check_record(&c, &pos, err);
    if (rc > 0)
        rc = c.waiting.len == 1 &&
             (uint64_t)head->root.ref * 8 == c.size - c.waiting.ptr[0].start &&
             head->root.size == c.waiting.ptr[0].count && counts_agree(&head->counts, &c.counts);
    vls_vec_release(&c.waiting, env);
    return rc;
}

/* ---- files ---- */

/* All of it or nothing. */
static bool read_at(int fd, void *room, uint64_t size, uint64_t from)
{
    char *to = room;

    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)from);
        if (vls_fd_again(got))
            continue;
        if (got <= 0)
            return false;
        to += got;
        from += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

static int open_file(struct stat *st, const char *path)
{
    VLS_AUTO(fd)
    int fd = vls_fd_open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || (uint64_t)st->st_size > MAX_FILE ||
        (uint64_t)st->st_size < sizeof(vls_cache_header))
        return -1;
    return vls_fd_take(&fd);
}

int vls_cache_load(vls_tree_cache *out, const valise_env *env, const char *path, valise_error *err)
{
    VLS_AUTO(cache) vls_tree_cache cache = {.env = env};
    VLS_AUTO(fd) int fd = -1;
    struct stat st;
    int rc;

    fd = open_file(&st, path);
    if (fd < 0)
        return 0;
    cache.room = cache.size = (size_t)st.st_size;
    cache.bytes = vls_mem_alloc(env, cache.room);
    if (!cache.bytes)
        return vls_fail_memory(err);
    if (!read_at(fd, cache.bytes, cache.size, 0))
        return 0;
    rc = vls_cache_check(env, vls_str(cache.bytes, cache.size), err);
    if (rc > 0) {
        *out = cache;
        cache.bytes = NULL;
    }
    return rc;
}

void vls_cache_release(vls_tree_cache *cache)
{
    vls_mem_free(cache->env, cache->bytes, cache->room);
    *cache = (vls_tree_cache){.env = cache->env};
}

/* ---- one path ---- */

/* The record that begins there, into the buffer. 1, 0, VALISE_E_NO_MEMORY. */
static int read_record(const vls_cache_record **out, vls_buf *buf, int fd, uint64_t start,
                       uint64_t end, valise_error *err)
{
    vls_cache_record record;
    size_t size;
    char *room;

    if (start < sizeof(vls_cache_header) || start % 8 != 0 || start >= end ||
        end - start < sizeof(record) || !read_at(fd, &record, sizeof(record), start) ||
        record.count > VLS_CACHE_MAX_ENTRIES)
        return 0;
    size = vls_cache_record_size(record.count, record.text_len);
    if (size > end - start)
        return 0;
    vls_buf_clear(buf);
    room = vls_buf_reserve(buf, size);
    if (!room)
        return vls_fail_memory(err);
    if (!read_at(fd, room, size, start) || !record_is_fine((const void *)room, size))
        return 0;
    *out = (const void *)room;
    return 1;
}

/* From the record at start down to the path. */
static int descend(vls_cache_entry *out, vls_buf *buf, int fd, uint64_t start, uint64_t end,
                   valise_str path, valise_error *err)
{
    while (true) {
        const vls_cache_record *record = NULL;
        size_t slash = vls_str_find_byte(path, '/');
        int rc = read_record(&record, buf, fd, start, end, err);
        if (rc <= 0)
            return rc;
        const vls_cache_entry *e = NULL;
        for (uint32_t i = 0; !e && i < record->count; i++) {
            if (!entry_is_fine(record, &record->entries[i]))
                return 0;
            if (vls_str_equal(vls_cache_name(record, &record->entries[i]),
                              vls_str_head(path, slash)))
                e = &record->entries[i];
        }
        if (!e || (slash < path.len && e->kind != VLS_NODE_DIR))
            return 0;
        if (slash == path.len) {
            *out = *e;
            return 1;
        }
        end = start;
        if ((uint64_t)e->ref * 8 > start)
            return 0;
        start -= (uint64_t)e->ref * 8;
        path = vls_str_from(path, slash + 1);
    }
}

int vls_cache_look_up(vls_cache_entry *out, const valise_env *env, const char *file,
                      valise_str path, valise_error *err)
{
    VLS_AUTO(buf) vls_buf buf = {0};
    VLS_AUTO(fd) int fd = -1;
    vls_cache_header head;
    struct stat st;

    fd = open_file(&st, file);
    if (fd < 0 || !read_at(fd, &head, sizeof(head), 0))
        return 0;
    if (head.magic != VLS_CACHE_MAGIC || head.size != (uint64_t)st.st_size ||
        head.checksum != vls_cache_sum_head(&head) || !is_root(&head.root) ||
        (uint64_t)head.root.ref * 8 > head.size)
        return 0;
    if (path.len == 0) {
        *out = head.root;
        return 1;
    }
    vls_buf_init(&buf, env, SIZE_MAX / 2);
    return descend(out, &buf, fd, head.size - (uint64_t)head.root.ref * 8, head.size, path, err);
}
