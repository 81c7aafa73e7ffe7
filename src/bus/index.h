/* index.h -- memory indexes: ordered entries (key, JSON) that are a pure function of rows.
 *
 * An index holds the entries that its indexer's `map` makes of each row of its sources, and the seq
 * of the state that it was made from. So it can be brought to any other state of the log: for each
 * row that changed in between, the entries of one version are removed and those of the other added.
 *
 *     loaded      at first use, by a scan of its sources
 *     patched     by the leader of a group, with the changes in hand        committed
 *                 by whoever needs a newer state than it has                the log's tail
 *     unpatched   a copy of it, for who sees an older state                 the log, backwards
 *
 * The contents are a persistent map, so a reader takes a snapshot and releases the lock. The key of
 * an item is
 *
 *     the entry's key, 00, number of the source (2 bytes), key of the row (base/order.h)
 *
 * so two rows that make the same entry do not disturb each other; readers see the first of them,
 * and `workspace:sync` and `validate` report it.
 *
 * Threads: vls_index is shared; vls_index_report is single. */
#ifndef VLS_INDEX_H
#define VLS_INDEX_H

#include <pthread.h>
#include <stdatomic.h>

#include <valise/sys/extension.h>

#include "base/pmap.h"
#include "bus/event.h"
#include "bus/feed.h"
#include "store/validate.h"

#define VLS_INDEX_KEY_MAX 4096u
#define VLS_INDEX_JSON_MAX ((size_t)1 << 20)
#define VLS_INDEX_SOURCES_MAX 64u

typedef struct vls_index {
    const valise_indexer *indexer;
    vls_store *store;
    const vls_coll **colls; /* of each source */
    size_t source_count;

    pthread_mutex_t lock; /* over the rest; a leader never waits for it */
    bool loaded;
    int64_t seq; /* the state it shows */
    vls_pmap map;
} vls_index;

typedef struct vls_indexes {
    vls_index *items;
    size_t count;
    const valise_env *env;
} vls_indexes;

/* list is NULL-ended. VALISE_E_INVALID for a source whose changes are in no log entry. */
int vls_indexes_open(vls_indexes *out, vls_store *store, const valise_indexer *const *list,
                     valise_error *err);
void vls_indexes_close(vls_indexes *indexes); /* a zeroed one is fine */
/* Load them anew when they are needed: the log they were made from was replaced by another. */
void vls_indexes_forget(vls_indexes *indexes);
void vls_indexes_committed(vls_indexes *indexes, const vls_commit *commits, size_t count);

/* VALISE_E_NOT_FOUND names those there are. */
int vls_indexes_find(vls_index **out, vls_indexes *indexes, valise_str name, valise_error *err);

/* ---- reading ---- */

/* The contents as the view sees the state; release it with vls_pmap_release. */
int vls_index_read(vls_pmap *out, vls_index *index, valise_view *view, valise_error *err);

typedef struct vls_index_entry {
    valise_str key, json; /* valid as long as the map they come from */
} vls_index_entry;

/* Entries of a map whose keys begin with prefix, behind the key `after` if that is not empty, at
 * most limit (0: all). fn returns non-zero to stop, which is the result. */
typedef int vls_index_fn(void *arg, const vls_index_entry *entry, valise_error *err);
typedef struct vls_index_range {
    valise_str prefix, after;
    uint64_t limit;
} vls_index_range;
int vls_index_each(const vls_pmap *map, const vls_index_range *range, vls_index_fn *fn, void *arg,
                   valise_error *err);

/* For `map` of an indexer: an entry that says what the row does, by its table, with ids where the
 * row has contents. */
int vls_index_add_row(valise_index_out *out, valise_str key, const void *row,
                      const valise_field *fields, valise_error *err);

/* ---- patches for copies elsewhere (index_patch.c) ---- */

/* [{"op":"add","path":"","value":{...}}] for everything. */
int vls_index_first_patch(vls_buf *out, vls_index *index, valise_view *view, valise_error *err);

/* The same as the payload of an event with the seq of the view. */
int vls_index_whole(vls_events **out, vls_index *index, valise_view *view, valise_error *err);

/* What one entry changes, in that form: 1; 0 when it is nothing. No erasure may have gone over the
 * log since. */
int vls_index_patch(vls_events **out, vls_index *index, vls_txn *txn, const vls_entry *entry,
                    const vls_ahead *ahead, valise_error *err);

/* ---- checking (index_check.c) ---- */

typedef struct vls_index_report {
    const char *name;
    int64_t seq;          /* the state that was compared */
    int64_t entries;      /* made from the store */
    int64_t differences;  /* between them and what was in memory */
    int64_t duplicates;   /* entries whose key another row has too */
    bool loaded;          /* there was something in memory */
    char example[160];    /* a key that differs or stands twice, or "" */
    valise_error failure; /* it cannot be built, because of this row; code 0: it can */
} vls_index_report;

/* Build the index anew from the store and compare. swap: it takes the place of what was in memory.
 * rows (may be NULL) counts them; when *stop (may be NULL) becomes true: VALISE_E_CANCELLED, and
 * nothing was swapped. */
int vls_index_check(vls_index_report *out, vls_index *index, bool swap, _Atomic uint64_t *rows,
                    const atomic_bool *stop, valise_error *err);

/* All of them in parallel. fn gets each report in the order of registration. tick is called now and
 * then on the calling thread with the rows that came since; a negative result ends it all. */
typedef struct vls_index_sync {
    bool swap;
    int (*tick)(void *arg, uint64_t rows, valise_error *err);
    int (*report)(void *arg, const vls_index_report *report, valise_error *err);
    void *arg;
} vls_index_sync;
int vls_indexes_check(vls_indexes *indexes, const vls_index_sync *how, valise_error *err);

/* How many rows that will look at; 0: nobody knows. */
int vls_indexes_rows(uint64_t *rows, vls_indexes *indexes, valise_error *err);

/* For `validate`: what is wrong with the indexes of a handle becomes findings, and their number is
 * added to *problems. Changes nothing. */
int vls_index_verify(valise *v, vls_finding_fn *fn, void *arg, int64_t *problems,
                     valise_error *err);

/* ---- for the files of the index ---- */

/* Whoever takes the entries that a row makes. */
struct valise_index_out {
    int (*take)(valise_index_out *self, valise_str key, valise_str json, valise_error *err);
    const valise_env *env;
    vls_arena *arena;
    vls_pmap *map;
    uint16_t source;
    valise_str row_key;
    void *arg;
};

/* Call map for a row, given as cells, of source number `source`. */
int vls_index_map(valise_index_out *out, vls_index *index, size_t source, const valise_cell *cells,
                  valise_str row_key, vls_arena *arena, valise_error *err);

/* The entries of one version of a row go, those of another come; either may be NULL. Of one source,
 * or of every source that the collection is. */
int vls_index_exchange_source(vls_pmap *map, vls_index *index, size_t source,
                              const valise_cell *goes, const valise_cell *comes, valise_str row_key,
                              vls_arena *arena, valise_error *err);
int vls_index_exchange(vls_pmap *map, vls_index *index, const vls_coll *coll,
                       const valise_cell *goes, const valise_cell *comes, valise_str row_key,
                       vls_arena *arena, valise_error *err);
bool vls_index_follows(const vls_index *index, const vls_coll *coll);

/* Between two states that txn can see, in either direction. */
typedef struct vls_index_move {
    vls_index *index;
    vls_txn *txn;
    int64_t older, newer;
    bool back;
} vls_index_move;

/* Bring map from the one state to the other: 0; 1 when the log does not tell, because an erasure
 * went over it or part of it has expired. After a failure map is somewhere between. */
int vls_index_move_map(vls_pmap *map, const vls_index_move *m, valise_error *err);

/* Does an entry from this seq on tell of an erasure? */
int vls_index_erased(bool *out, vls_txn *txn, int64_t from, valise_error *err);

/* This is what it holds now, and the state that it shows. Takes the map; lock held. */
void vls_index_set(vls_index *index, vls_pmap *map, int64_t seq);

/* What view sees, into a new map; and the same into an empty one, see vls_index_check. */
int vls_index_load(vls_pmap *out, vls_index *index, valise_view *view, valise_error *err);
int vls_index_build(vls_pmap *map, vls_index *index, valise_view *view, _Atomic uint64_t *rows,
                    const atomic_bool *stop, valise_error *err);

vls_index_entry vls_index_entry_of(const void *index_item);
extern const vls_pmap_ops vls_index_items;

#endif
