/* bundle.h -- a workspace, or a part of one, as one stream of bytes.
 *
 *     "valise bundle 1\n"  record*  end
 *     record    tag (1 byte)  varint(length)  body
 *
 *     H   header       JSON: whose it is, whole or which places, base and tip of the log, state
 *     C   collection   string(name)  description, JSON
 *     O   object       string(kind)  id (32)  bytes
 *     X   erased       string(kind)  id (32)  varint(size)
 *     R   row          varint(collection)  varint(from_seq)  cells (field/row.h)
 *     G   gone         varint(collection)  string(key)  varint(seq)
 *     L   log entry    cells of all columns of the table `log`
 *     B   blob         id (32)  varint(size), then its bytes in records P
 *     P   piece        bytes: VLS_BUNDLE_PIECE_BYTES of them, the last of a blob has what is left
 *     Z   end          SHA-256 of all bytes before this record
 *
 * in this order (O and X mixed). docs/formats.md, "Bundles", has the details. The same state makes
 * the same bytes: collections are ordered by name and numbered from 0, objects and blobs are
 * ordered by id, rows and deletions by collection and key, entries by seq. NULLs at the end of a
 * row are left out. A bundle contains only what is needed, neither garbage nor derived data.
 *
 * A *whole* bundle has all state, and the log. A *part* has the rows of the places that were asked
 * for, and what they need, but no log, which would tell about everything else as well.
 *
 * Nothing that is read is trusted. The reader checks each record by itself and against those before
 * it. An import reads to the end before it writes anything to a store, and then reads a second
 * time.
 *
 * Threads: single. */
#ifndef VLS_BUNDLE_H
#define VLS_BUNDLE_H

#include "base/progress.h"
#include "base/vec.h"
#include "store/blob.h"
#include "store/view.h"

#define VLS_BUNDLE_FORMAT 1
#define VLS_BUNDLE_PIECE_BYTES ((size_t)128 << 10)
#define VLS_BUNDLE_ROOTS_MAX 10000

typedef struct vls_bundle_header {
    int64_t format;        /* VLS_FORMAT: what rows and entries are like */
    valise_uuid workspace; /* that it was made from */
    bool whole;
    valise_list roots; /* of valise_str: the places of a part, in order */
    int64_t base_seq;  /* the last entry that has expired; 0: none */
    valise_id base_hash;
    int64_t tip_seq; /* the last entry */
    valise_id tip_hash;
    valise_id state; /* the state hash of a whole one */
} vls_bundle_header;

extern const valise_field vls_bundle_header_fields[];

typedef struct vls_bundle_counts {
    int64_t objects, erased, rows, gone, entries, blobs;
    uint64_t bytes; /* of the bundle */
} vls_bundle_counts;

/* ---- out ---- */

typedef int vls_bundle_sink(void *arg, valise_str bytes, valise_error *err);

typedef struct vls_bundle_export {
    valise_view *view;       /* the newest state */
    vls_blobs *blobs;        /* NULL: there are none */
    const valise_str *roots; /* places; none: everything */
    size_t root_count;
    const char *const *local; /* collections that are no part of a part, NULL-ended */
    vls_bundle_sink *sink;
    void *arg;
    vls_progress *progress;
} vls_bundle_export;

/* VALISE_E_NOT_FOUND for a place where nothing is; VALISE_E_CORRUPT for a store that lacks what its
 * rows name; VALISE_E_UNSUPPORTED for rows that name blobs where there is no blob store;
 * VALISE_E_CONFLICT when a blob was released meanwhile: begin again, with the newest state. */
int vls_bundle_write(vls_bundle_counts *out, vls_bundle_header *header,
                     const vls_bundle_export *how, valise_error *err);

/* ---- in ---- */

/* Bytes that can be read more than once: fills room, or fails. */
typedef struct vls_bundle_source {
    uint64_t size_bytes;
    int (*read)(void *arg, uint64_t at, void *room, size_t len, valise_error *err);
    void *arg;
} vls_bundle_source;

typedef struct vls_bundle_reader vls_bundle_reader;

/* What stands in one record. All of it is valid until the next one is read. */
typedef struct vls_bundle_record {
    char tag;
    uint32_t number;      /* C R G: of the collection, in the bundle */
    const vls_coll *coll; /* C R G: as the bundle describes it; valid as long as the reader */
    valise_str text;      /* C: the description */

    const valise_cell *cells; /* R: field_count of them */
    int64_t seq;              /* R: from_seq; G */
    valise_str key;           /* G */
    vls_entry entry;          /* L: collections in `changes` are numbered as in the bundle */

    valise_id id;     /* O X B */
    const char *kind; /* O X */
    uint64_t size;    /* X B */
    valise_str bytes; /* O P */
} vls_bundle_record;

/* Reads as far as the header. VALISE_E_UNSUPPORTED for a newer format, VALISE_E_CORRUPT for all
 * that is none. */
int vls_bundle_open(vls_bundle_reader **out, const valise_env *env, const vls_bundle_source *source,
                    valise_error *err);
void vls_bundle_close(vls_bundle_reader *reader); /* NULL is fine */
const vls_bundle_header *vls_bundle_header_of(const vls_bundle_reader *reader);
uint64_t vls_bundle_offset(const vls_bundle_reader *reader);     /* how far it has come */
const valise_id *vls_bundle_id(const vls_bundle_reader *reader); /* at the end: the hash there */

/* 1 and the next record; 0 at the end, when everything before it was right. VALISE_E_CORRUPT. */
int vls_bundle_next(vls_bundle_record *out, vls_bundle_reader *reader, valise_error *err);

/* Read to the end and believe nothing before. *id: the hash that its last record has. */
int vls_bundle_verify(valise_id *id, vls_bundle_counts *counts, const valise_env *env,
                      const vls_bundle_source *source, vls_progress *progress, valise_error *err);

/* ---- into a store ---- */

typedef struct vls_bundle_import {
    const valise_env *env;
    const vls_bundle_source *source;
    valise_id id; /* as it was verified: it must be the same once more */
    int64_t now;
    bool force; /* restore rows in which `validate` would find problems, too */
    vls_progress *progress;
    vls_store *store; /* blobs that were erased there are not put; NULL: all are */
} vls_bundle_import;

/* Whether nothing has happened in the store but its creation. */
int vls_bundle_is_fresh(bool *out, vls_txn *txn, valise_error *err);

/* Whether the store has all collections of the bundle. VALISE_E_UNSUPPORTED names one that it does
 * not have, or that is not the same there. */
int vls_bundle_check_colls(vls_store *store, const vls_bundle_import *how, valise_error *err);

/* Put a whole bundle in the place of what a fresh store has: rows, log, chain and the id of the
 * workspace are as they were. VALISE_E_EXISTS for a store that is not fresh; VALISE_E_UNSUPPORTED
 * for collections that it does not have. The transaction must be rolled back when it fails. Blobs
 * are put before. */
int vls_bundle_restore(vls_txn *txn, const vls_bundle_import *how, valise_error *err);

/* Put the blobs of a bundle. VALISE_E_UNSUPPORTED when there are some and blobs is NULL. */
int vls_bundle_put_blobs(vls_blobs *blobs, const vls_bundle_import *how, valise_error *err);

/* Put an object of a bundle; of one whose contents were erased only that, unless it is there. */
int vls_bundle_put_object(vls_txn *txn, const vls_bundle_record *record, int64_t time,
                          valise_error *err);

/* ---- into a store that has something already (bundle_merge.c) ---- */

/* What a command needs to know of a bundle:
 *
 *     rows     item*: 01 string(name of the collection that follows), 02 string(cells)
 *     chain    string(header, JSON), then string(cells) for each entry: seq, id, time, actor,
 * cause, type, commitment, hash. The chain can be verified, and says nothing of contents
 *     objects  that the rows name, in order */
typedef struct vls_bundle_pack {
    const valise_env *env;
    vls_buf rows, chain;
    vls_vec(valise_id) objects;
} vls_bundle_pack;

enum { VLS_PACK_COLL = 1, VLS_PACK_ROW = 2 };

/* Read rows and chain from a bundle, without the collections in the list `local`.
 * VALISE_E_UNSUPPORTED as for restore; VALISE_E_LIMIT when it is too much for one command. */
int vls_bundle_pack_read(vls_bundle_pack *out, vls_store *store, const char *const *local,
                         const vls_bundle_import *how, valise_error *err);
void vls_bundle_pack_release(vls_bundle_pack *pack); /* a zeroed one is fine */

/* Were contents of the row with this key erased here? */
typedef int vls_bundle_erased_fn(bool *out, void *arg, valise_view *view, const vls_coll *coll,
                                 const valise_cell *key, valise_error *err);

/* In a view of the newest state: what would the rows of a pack do? *added: those that are not
 * there. VALISE_E_CONFLICT names one that is there as another one, in a collection that does not
 * know what to do then. Contents of rows that were erased here are taken out of the pack; its
 * objects are found. erased may be NULL. VALISE_E_CORRUPT for a pack that is none. */
int vls_bundle_look(int64_t *added, vls_bundle_pack *pack, valise_view *view,
                    vls_bundle_erased_fn *erased, void *arg, valise_error *err);

/* Put the rows of a pack into a view that changes. Rows that are there are left alone when they are
 * equal; others meet when all that are not there were put (valise_coll.meet), or are a
 * VALISE_E_CONFLICT. *added: those that were not there. VALISE_E_INVALID for what an area refuses
 * (valise_coll.arrive). */
int vls_bundle_merge(int64_t *added, valise_view *view, valise_str rows, valise_error *err);

/* Within the transaction of a command that has merged, after its changes were applied: would
 * `validate` find something in the rows that it put? VALISE_E_INVALID names the first such row, and
 * the transaction must go back. (bundle_prove.c) */
int vls_bundle_prove(const valise_view *view, valise_error *err);
/* The same of all rows that a restore put; it asks by itself. */
int vls_bundle_prove_all(vls_txn *txn, vls_progress *progress, valise_error *err);

/* Put some of the objects that a pack names, in the order of the bundle; *more: there may be
 * others.
 */
typedef struct vls_bundle_staging {
    vls_bundle_reader *reader;
    const vls_bundle_pack *pack;
    int64_t now;
    bool more;
    uint64_t count; /* of those that were put */
} vls_bundle_staging;
int vls_bundle_stage(vls_txn *txn, vls_bundle_staging *staging, valise_error *err);

/* ---- files (bundle_file.c) ---- */

/* A file as a source. What cannot be read twice (a pipe) is copied into a file without a name. */
typedef struct vls_bundle_input {
    int fd;
    vls_bundle_source source;
} vls_bundle_input;
int vls_bundle_input_open(vls_bundle_input *out, const char *path, vls_progress *progress,
                          valise_error *err);
void vls_bundle_input_close(vls_bundle_input *input);

/* ---- between the files ---- */

#define VLS_BUNDLE_MAGIC "valise bundle "

/* Places of a part, and all rows and objects that belong to it (bundle_part.c). */
typedef struct vls_bundle_row {
    const vls_coll *coll;
    valise_str key; /* ordered encoding */
} vls_bundle_row;

typedef struct vls_bundle_part {
    valise_view *view;
    const char *const *local;
    vls_arena arena;
    vls_arena row; /* of the one that is looked at */
    vls_map seen;  /* of vls_bundle_row */
    uint64_t seed;
    vls_vec(vls_bundle_row *) rows; /* in the order in which they were found */
    vls_vec(valise_id) objects;
    vls_vec(valise_id) blobs;
    vls_vec(valise_str) roots; /* in their whole length */
} vls_bundle_part;

void vls_bundle_part_init(vls_bundle_part *part, valise_view *view, const char *const *local);
void vls_bundle_part_release(vls_bundle_part *part);
int vls_bundle_part_add(vls_bundle_part *part, valise_str place, valise_error *err);
/* Follow everything, then bring rows, objects, blobs and roots into order, each once. */
int vls_bundle_part_close(vls_bundle_part *part, vls_progress *progress, valise_error *err);

/* The collections of a bundle in a store, by their number in the bundle. */
typedef struct vls_bundle_map {
    const vls_coll *colls[VLS_COLL_MAX];
} vls_bundle_map;
int vls_bundle_map_add(vls_bundle_map *map, const vls_bundle_record *record, vls_store *store,
                       valise_error *err);

/* The blobs that a row names: ID fields whose ref is "blob". */
typedef int vls_bundle_blob_fn(void *arg, const valise_id *id, valise_error *err);
int vls_bundle_row_blobs(vls_arena *arena, const vls_coll *coll, const valise_cell *row,
                         vls_bundle_blob_fn *fn, void *arg, valise_error *err);

/* Is the collection in a list `local`? */
bool vls_bundle_is_local(const char *const *local, const vls_coll *coll);

/* Ids in order, each once: how many are left. And: is one among them? */
size_t vls_bundle_sort_ids(valise_id *ids, size_t count);
bool vls_bundle_has_id(const valise_id *ids, size_t count, const valise_id *id);

static inline void vls_auto_bundle_reader(vls_bundle_reader **reader)
{
    vls_bundle_close(*reader);
}

#endif
