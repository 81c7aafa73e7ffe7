/* stat_cache.h -- the last tree, with the stat of its files, as one block of bytes and as a file.
 *
 *     header   vls_cache_header
 *     record   one per directory: behind those of the directories in it, in the order of names, so
 *     ...      that a directory and all below it are one piece. The root's is the last
 *
 *     record   vls_cache_record | entries | text, zeros up to 8 bytes
 *     text     names, and targets of links
 *     ref      of a directory: so many times 8 bytes before the record that has the entry begins
 *              the directory's own; of a link: where in the text the target is
 *
 * Numbers are in the machine's byte order, since the file stays on the machine; with another byte
 * order the magic differs. All references point backwards by a known distance, so the part for a
 * directory that did not change is copied to the next file as it is.
 *
 * Each part has a checksum, and the whole file is checked once when it is loaded: that every record
 * belongs to exactly one directory, names and their order, kinds, that no path is too long. If
 * anything is wrong, the file is ignored: that is not an error, it only means more work.
 *
 * A scan uses the same bytes without a file to hold the earlier tree, when that comes from
 * elsewhere (vls_cache_builder).
 *
 * Threads: vls_tree_cache is immutable once loaded; writer and builder are single. */
#ifndef VLS_TREE_STAT_CACHE_H
#define VLS_TREE_STAT_CACHE_H

#include "base/buf.h"
#include "base/vec.h"
#include "tree/node.h"

#define VLS_CACHE_MAX_ENTRIES (UINT32_C(1) << 26) /* of one directory */

typedef struct vls_cache_entry {
    uint32_t name; /* where in the text */
    uint32_t ref;
    uint8_t name_len;
    uint8_t kind;   /* vls_node_kind */
    uint8_t exec;   /* 0, 1 */
    uint8_t unsure; /* 1: there is no stat that could be trusted; the four numbers of it are 0 */
    uint32_t zero;
    int64_t size; /* as in vls_node */
    int64_t mtime_ns, ctime_ns;
    uint64_t inode, device;
    valise_id content, object;
} vls_cache_entry;

typedef struct vls_cache_record {
    uint64_t checksum; /* of all behind it */
    uint64_t piece;    /* bytes of this record and all of directories below */
    uint32_t count, text_len;
    vls_cache_entry entries[];
} vls_cache_record;

typedef struct vls_cache_header {
    uint64_t magic;
    uint64_t checksum; /* of all behind it, up to the first record */
    uint64_t size;     /* of all */
    int64_t version;   /* of the tree */
    int64_t clock_ns;  /* of the file system, when the scan began */
    vls_tree_counts counts;
    vls_cache_entry root; /* the name is empty; ref: from the end */
} vls_cache_header;

/* ---- reading ---- */

typedef struct vls_tree_cache {
    const valise_env *env;
    char *bytes; /* NULL: there is none */
    size_t size, room;
} vls_tree_cache;

/* 1; 0 when there is none that can be used. VALISE_E_NO_MEMORY. */
int vls_cache_load(vls_tree_cache *out, const valise_env *env, const char *path, valise_error *err);
void vls_cache_release(vls_tree_cache *cache); /* a zeroed or released one is fine */

/* Whether bytes (aligned to 8) are one. VALISE_E_NO_MEMORY, else 1 or 0. */
int vls_cache_check(const valise_env *env, valise_str bytes, valise_error *err);

static inline const vls_cache_header *vls_cache_head(const vls_tree_cache *cache)
{
    return (const vls_cache_header *)(const void *)cache->bytes;
}

/* The size of a record with all that belongs to it, and where its text begins. */
static inline size_t vls_cache_record_size(uint32_t count, uint32_t text_len)
{
    return sizeof(vls_cache_record) + count * sizeof(vls_cache_entry) +
           (((size_t)text_len + 7) & ~(size_t)7);
}

static inline const char *vls_cache_text(const vls_cache_record *record)
{
    return (const char *)(record->entries + record->count);
}

static inline valise_str vls_cache_name(const vls_cache_record *record, const vls_cache_entry *e)
{
    return (valise_str){vls_cache_text(record) + e->name, e->name_len};
}

/* Of the root, or of the directory that an entry of the record is. */
const vls_cache_record *vls_cache_root(const vls_tree_cache *cache);

static inline const vls_cache_record *vls_cache_child(const vls_cache_record *record,
                                                      const vls_cache_entry *e)
{
    assert(e->kind == VLS_NODE_DIR);
    return (const void *)((const char *)record - (size_t)e->ref * 8);
}

/* What the entry is, without its place; the target is borrowed from the record that has it. */
vls_node vls_cache_node(const vls_cache_record *record, const vls_cache_entry *e);

/* The entry with that name, or NULL. */
const vls_cache_entry *vls_cache_find(const vls_cache_record *record, valise_str name);

/* ---- one path of a file, without loading it ---- */

/* The entry at the path, which is true whatever the version: 1; 0 when there is none, or the file
 * cannot be used. */
int vls_cache_look_up(vls_cache_entry *out, const valise_env *env, const char *file,
                      valise_str path, valise_error *err);

/* ---- writing ---- */

typedef struct vls_cache_writer {
    int fd;       /* -1: all stays in the buffer */
    uint64_t pos; /* of what comes next */
    vls_buf buf;  /* what is not in the file yet */
    int error;    /* errno of a write that failed; sticks */
    /* The record that is made: where it begins, in all and in the buffer, and how far it is. */
    uint64_t start;
    size_t at, size;
    uint32_t count, entries, text;
} vls_cache_writer;

void vls_cache_write_begin(vls_cache_writer *w, const valise_env *env, int fd);
void vls_cache_write_release(vls_cache_writer *w);

/* One directory: so many entries, names and targets of so many bytes together; each entry in the
 * order of names, with where the record of the directory it is begins; and then where the first
 * record that belongs to it begins. Gives where its own begins. */
void vls_cache_write_dir(vls_cache_writer *w, uint32_t count, uint32_t text_len);
void vls_cache_write_entry(vls_cache_writer *w, const vls_cache_entry *e, valise_str name,
                           valise_str target, uint64_t start);
uint64_t vls_cache_write_dir_end(vls_cache_writer *w, uint64_t first);

/* The piece of a directory that did not change. Gives where its record begins. */
uint64_t vls_cache_write_piece(vls_cache_writer *w, const vls_cache_record *record);

/* start: of the root's record. Fills in what it has to of the header. VALISE_E_NO_MEMORY,
 * VALISE_E_IO, VALISE_E_TOO_LARGE. */
int vls_cache_write_end(vls_cache_writer *w, vls_cache_header *head, uint64_t start,
                        valise_error *err);

/* ---- in memory, behind what is there ---- */

/* A cache that is held in memory may grow: records of directories that changed come behind it, and
 * name those that did not wherever they are. Such a record has `piece` 0: what belongs to it is no
 * piece. Nothing else is different, and in files there are none. */

/* Begin behind a cache, which may have no bytes yet. */
void vls_cache_write_behind(vls_cache_writer *w, const vls_tree_cache *cache);

/* The cache has it, or (VALISE_E_NO_MEMORY, VALISE_E_TOO_LARGE) is as it was. */
int vls_cache_write_end_behind(vls_cache_writer *w, vls_tree_cache *cache,
                               const vls_cache_header *head, uint64_t start, valise_error *err);

/* All of a cache that has grown, in one piece, with a writer that has begun; and its end. */
int vls_cache_write_whole(vls_cache_writer *w, const vls_tree_cache *cache, valise_error *err);

/* What was written to no file, after its end. */
vls_tree_cache vls_cache_written(vls_cache_writer *w);

/* ---- from a list of nodes ---- */

typedef struct vls_cache_level vls_cache_level;

typedef struct vls_cache_builder {
    const valise_env *env;
    const vls_tree_cache *stats; /* where their stat may be known from; NULL: nowhere */
    vls_cache_writer w;
    vls_cache_header head;
    vls_vec(vls_cache_level *) levels;
    size_t depth; /* levels that are open; the others wait for their next use */
    vls_buf path; /* of the innermost */
} vls_cache_builder;

void vls_cache_build_begin(vls_cache_builder *b, const valise_env *env,
                           const vls_tree_cache *stats);
void vls_cache_build_release(vls_cache_builder *b);

/* In the order of vls_path_compare, the root first. VALISE_E_CORRUPT when they do not come so. */
int vls_cache_build_add(vls_cache_builder *b, valise_str path, const vls_node *node,
                        valise_error *err);
/* Nothing was added: *out has no bytes. */
int vls_cache_build_end(vls_tree_cache *out, vls_cache_builder *b, valise_error *err);

static inline void vls_auto_cache(vls_tree_cache *cache)
{
    vls_cache_release(cache);
}

static inline void vls_auto_cache_writer(vls_cache_writer *w)
{
    vls_cache_write_release(w);
}

static inline void vls_auto_cache_builder(vls_cache_builder *b)
{
    vls_cache_build_release(b);
}

#endif
