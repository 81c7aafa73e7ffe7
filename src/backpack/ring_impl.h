/* ring_impl.h -- the inside of a ring, for ring*.c and their tests.
 *
 *     live: hash of key -> key -> newest record -> prev -> prev ...
 *                                   |                 ring: seq -> record
 *                                   +-> value    one per id
 *                                   +-> label    one per (node, namespace, tags, lists of nodes)
 *                                         +-> space    one per namespace: its keys
 *
 * A record is referenced by: the ring while its commit is in it, its key while it is the newest,
 * the record that superseded it while that one is in the ring, states (trees), quarantine rows,
 * the archive, and whoever walks. Records of an origin are referenced by forks in the same ways.
 *
 * Only the count of a record is atomic. Who drops the last reference puts the record on the list
 * `dead` of the ring that made it; that ring frees what is on it, with values, labels and keys,
 * under its mutex, and never while somebody may hold what enter .. leave handed out.
 *
 * What is read without the mutex (through states): everything of a record but pins, kept and prev;
 * the bytes of keys; labels, the names of spaces and values but for their counters. None of it
 * changes once it was made.
 *
 * The newest record of a key that is no item leaves the live table with the ring, unless it still
 * counts: then it stays, unseen, until no other record of the key is kept.
 *
 * Invariants, which tests check by walking (tests/unit/backpack/ring_kit.c):
 *   - the ring holds exactly the commits edge + 1 .. last;
 *   - prev is not NULL only where the commit is in the ring, and is alive then;
 *   - a record before the edge is pinned if and only if it is part of the state at the edge (or of
 *     a later one), or a quarantine row holds it;
 *   - sums (vls_ring_sums) are what a recount gives.
 *
 * Threads: as said above; all functions here want the mutex unless they say otherwise. */
#ifndef VLS_RING_IMPL_H
#define VLS_RING_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "backpack/ring.h"
#include "base/map.h"
#include "base/pmap.h"
#include "base/ref.h"
#include "base/vec.h"

#define VLS_RING_PAGE 256 /* records that a walk takes at once */

/* Records whose memory is kept for the next ones. Where ASan looks on, none: it is to see who uses
 * what is gone. */
#ifdef VLS_ARENA_SINGLE
#define VLS_RING_SPARE 0
#else
#define VLS_RING_SPARE 256
#endif

typedef struct vls_ring_record vls_ring_record;
typedef struct vls_ring_label vls_ring_label;
typedef struct vls_ring_state vls_ring_state;

/* ---- things that lie in order, sorted when somebody asks (ring_order.c) ---- */

/*     | sorted, with holes (NULL) | as they came, with holes |
 *     0                      sorted                         len */
typedef struct vls_ring_order {
    void **ptr;
    size_t len, cap, sorted, holes;
} vls_ring_order;

typedef struct vls_ring_order_ops {
    valise_str (*name)(const void *item);
    uint32_t *(*at)(void *item); /* where the item remembers its place */
} vls_ring_order_ops;

void vls_ring_order_release(vls_ring_order *order, const valise_env *env);
bool vls_ring_order_reserve(vls_ring_order *order, const valise_env *env); /* for one more */
void vls_ring_order_add(vls_ring_order *order, const vls_ring_order_ops *ops, void *item);
void vls_ring_order_remove(vls_ring_order *order, const vls_ring_order_ops *ops, void *item);
/* No holes, all sorted. VALISE_E_NO_MEMORY loses nothing. */
int vls_ring_order_tidy(vls_ring_order *order, const vls_ring_order_ops *ops,
                        const valise_env *env);

/* ---- keys (ring_live.c) ---- */

typedef struct vls_ring_key {
    uint64_t hash;
    vls_ring_record *newest; /* NULL: not in the live table */
    uint32_t refs;           /* records and reads */
    atomic_uint records;     /* those of its records that somebody has */
    uint32_t at;             /* in the order of its space */
    uint32_t len;
    char bytes[];
} vls_ring_key;

static inline valise_str vls_ring_key_str(const vls_ring_key *key)
{
    return (valise_str){key->bytes, key->len};
}

/* ---- the live table (ring_table.c) ---- */

typedef struct vls_ring_slot {
    uint64_t hash;
    vls_ring_key *key;       /* NULL: empty */
    vls_ring_record *newest; /* the key's */
} vls_ring_slot;

typedef struct vls_ring_table {
    vls_ring_slot *slots; /* a power of two of them, or none yet */
    size_t cap, len;
} vls_ring_table;

void vls_ring_table_release(vls_ring_table *table, const valise_env *env);
vls_ring_slot *vls_ring_table_find(const vls_ring_table *table, uint64_t hash, valise_str key);
bool vls_ring_table_reserve(vls_ring_table *table, const valise_env *env); /* for one more */
/* A key that is not there yet; the caller sets newest. */
vls_ring_slot *vls_ring_table_add(vls_ring_table *table, vls_ring_key *key);
void vls_ring_table_remove(vls_ring_table *table, vls_ring_slot *slot);
/* All keys in no particular order: start with *at = 0, call until NULL. */
vls_ring_key *vls_ring_table_next(const vls_ring_table *table, size_t *at);

/* ---- values (ring_value.c) ---- */

typedef struct vls_ring_value {
    valise_id id;
    valise_blob *blob;
    uint32_t size; /* UINT32_MAX: the blob knows */
    uint32_t refs; /* records that have it */
    uint32_t pins; /* pins of those records */
    uint32_t hist; /* those of them that are in the ring */
} vls_ring_value;

static inline int64_t vls_ring_value_size(const vls_ring_value *value)
{
    return value->size == UINT32_MAX ? (int64_t)value->blob->len : (int64_t)value->size;
}

bool vls_ring_value_equal(const void *item, const void *id);
/* The value with this id, or NULL. */
vls_ring_value *vls_ring_value_find(const vls_ring *ring, const valise_id *id);
/* Make one in the room of a record; the table has room for it. One reference, the record's. */
void vls_ring_value_init(vls_ring *ring, vls_ring_record *home, const valise_id *id,
                         valise_blob *blob);
void vls_ring_value_drop(vls_ring *ring, vls_ring_value *value);
/* Have memory at hand: what looking for an id needs, and what dropping a value does. */
void vls_ring_value_seek(const vls_ring *ring, const valise_id *id);
void vls_ring_value_fetch(const vls_ring *ring, const vls_ring_value *value);

/* ---- labels and spaces (ring_label.c) ---- */

typedef struct vls_ring_space {
    vls_ring_order keys; /* of items that have this namespace */
    uint64_t hash;
    uint32_t refs; /* labels */
    uint32_t at;   /* in the order of spaces */
    uint32_t len;
    char bytes[];
} vls_ring_space;

static inline valise_str vls_ring_space_str(const vls_ring_space *space)
{
    return (valise_str){space->bytes, space->len};
}

/* What many commits have in common. */
typedef struct vls_ring_traits {
    valise_str node_id, node_name, namespace_name; /* the last: ptr NULL: none */
    valise_list tags, read, write;                 /* of valise_str */
} vls_ring_traits;

struct vls_ring_label {
    vls_ring *ring; /* whose commits have it */
    uint64_t hash;
    vls_ring_space *space; /* NULL: no namespace */
    vls_ring_traits traits;
    vls_ring_label *next_idle;
    size_t size; /* of all of it */
    uint32_t refs;
    bool idle; /* on the list of those that may be freed at leave */
};

extern const vls_ring_order_ops vls_ring_space_order, vls_ring_key_order;

bool vls_ring_label_equal(const void *item, const void *traits);
bool vls_ring_space_equal(const void *item, const void *name);
/* The one there is, or a new one; a reference. hint: one that it may well be, or NULL. NULL: out
 * of memory. */
vls_ring_label *vls_ring_label_take(vls_ring *ring, const vls_ring_traits *traits,
                                    vls_ring_label *hint);
void vls_ring_label_drop(vls_ring *ring, vls_ring_label *label); /* NULL is fine */
void vls_ring_label_sweep(vls_ring *ring);                       /* free the idle ones */

/* ---- records (ring_record.c) ---- */

/* What few commits have. Where there is one, all of it counts. */
typedef struct vls_ring_rare {
    int64_t version, run, entry, value_size;
    valise_str reason, error;
    valise_list taints, declassified;
    size_t size; /* of all of it */
} vls_ring_rare;

/* What is looked at most comes first. A record whose value was new has room for it behind itself:
 * others with the same value point there, so that the memory may outlive the record. */
struct vls_ring_record {
    vls_ref refs;
    uint32_t pins; /* as a part of the newest state or that at the edge; of quarantine rows */
    uint32_t version, run;
    uint8_t action;
    bool kept;       /* in the ring */
    bool superseded; /* not the newest of its key any more */
    bool has_room;   /* for the value */
    bool is_husk;    /* dead, but for the value in its room */
    bool restored;   /* came before the edge was set */
    int64_t seq;
    vls_ring_key *key;
    vls_ring_value *value; /* NULL: none */
    vls_ring_record *prev; /* what it superseded. Of a dead one: the next of the list */
    vls_ring_label *label;
    vls_ring_rare *rare; /* NULL: nothing of it */
    int64_t time, previous;
    valise_id previous_value;
};

static inline bool vls_ring_is_item(const vls_ring_record *record)
{
    return record->action != VALISE_ACTION_DELETE && record->action != VALISE_ACTION_QUARANTINE;
}

static inline bool vls_ring_is_own(const vls_ring *ring, const vls_ring_record *record)
{
    return record->label->ring == ring;
}

extern const vls_pmap_ops vls_ring_record_ops;

/* Drop a reference. Any thread, with or without the mutex. */
void vls_ring_record_unref(vls_ring_record *record);
/* A new one without prev, with two references: of the ring and of the key. It takes over those of
 * its parts if it succeeds. value NULL and the commit has one: it is new, and made of blob. NULL:
 * out of memory. */
vls_ring_record *vls_ring_record_new(vls_ring *ring, const valise_commit *commit, vls_ring_key *key,
                                     vls_ring_value *value, valise_blob *blob,
                                     vls_ring_label *label);
/* The memory of one that is dead, and of the value in its room. */
void vls_ring_record_free(vls_ring *ring, vls_ring_record *record);
void vls_ring_spare_release(vls_ring *ring);
/* The one place that counts: add to the pins, and put in or take out of the ring (hist 1, -1). */
void vls_ring_recount(vls_ring *ring, vls_ring_record *record, int pins, int hist);

void vls_ring_drain(vls_ring *ring); /* free what is dead */
/* Free as many as came since enter, or one: what a bound drops is freed when new commits need the
 * memory, not all at once. */
void vls_ring_drain_some(vls_ring *ring);

/* The commit as others see it; borrows from the record. No mutex. */
void vls_ring_fill(valise_commit *out, const vls_ring_record *record);

/* Records that are held until the list is released. No mutex. */
typedef vls_vec(vls_ring_record *) vls_ring_list;
bool vls_ring_list_add(vls_ring_list *list, const valise_env *env, vls_ring_record *record);
void vls_ring_list_release(vls_ring_list *list, const valise_env *env);
int vls_ring_list_walk(const vls_ring_list *list, valise_commit_fn *fn, void *arg,
                       valise_error *err);

/* ---- states (ring_state.c, ring_index.c) ---- */

/* The items of one namespace of a state. */
typedef struct vls_ring_section {
    valise_str name;
    size_t first, count; /* in the index's records */
} vls_ring_section;

typedef struct vls_ring_index {
    vls_ring_section *sections; /* by name */
    size_t section_count;
    vls_ring_record *
        *records; /* section by section, each in the order of keys; the state holds them */
    size_t record_count;
} vls_ring_index;

struct vls_ring_state {
    const valise_env *env;
    vls_ref refs;
    int64_t seq, time; /* of its newest commit, the origin's if it has none of its own */
    vls_pmap map;      /* key -> newest record, of whatever action */
    int64_t items;
    pthread_mutex_t lock; /* of index */
    vls_ring_index *index;
};

static inline vls_ring_state *vls_ring_state_ref(vls_ring_state *state)
{
    vls_ref_get(&state->refs);
    return state;
}
void vls_ring_state_unref(vls_ring_state *state); /* NULL is fine. No mutex */

/* The state after commit seq: a new reference. VALISE_E_LIMIT: it is before the edge, and no
 * checkpoint holds it. */
int vls_ring_state_at(vls_ring_state **out, vls_ring *ring, int64_t seq, valise_error *err);
/* The quarantine rows to show with it, as a snapshot. */
void vls_ring_jail_at(vls_pmap *out, const vls_ring *ring, int64_t seq);
/* A fork begins with this state. */
int vls_ring_state_found(vls_ring *ring, const vls_ring_state *from, valise_error *err);
/* Hold the state at seq as long as it is not let go. */
int vls_ring_state_hold(vls_ring *ring, int64_t seq, valise_error *err);
void vls_ring_state_let_go(vls_ring *ring, int64_t seq);
void vls_ring_states_trim(vls_ring *ring); /* the edge has moved: states before it go */
/* The newest record of a key, which is no item, goes: out of the tree that later ones come from. */
void vls_ring_states_forget(vls_ring *ring, const vls_ring_record *gone);
void vls_ring_states_release(vls_ring *ring);

void vls_ring_index_free(vls_ring_index *index, const valise_env *env); /* NULL is fine */

typedef struct vls_ring_root {
    vls_ring_state *state;
    size_t holds;  /* checkpoints at it */
    vls_pmap jail; /* quarantine rows as they were when the edge passed it; else empty */
} vls_ring_root;

/* ---- small rows (ring_row.c) ---- */

enum { VLS_RING_QUARANTINES = 0, VLS_RING_RUNS = 2, VLS_RING_ROWS = 7 };

/* A node that has runs. */
typedef struct vls_ring_node {
    int64_t runs; /* how many there were: the nth of the newest */
    size_t rows;  /* how many there are */
    size_t len;
    char bytes[];
} vls_ring_node;

typedef struct vls_ring_row {
    vls_ref refs;
    const valise_env *env;
    int64_t seq;              /* quarantine, checkpoint: of the row; run: where it started */
    int64_t released;         /* quarantine */
    int64_t nth;              /* run */
    vls_ring_node *node;      /* run: while it is a row of the ring */
    vls_ring_record *held[2]; /* quarantine: the item as it was, the commit that put it there; NULL:
                                 none */
    uint32_t key_len, len;
    char bytes[]; /* key, then cells */
} vls_ring_row;

/* A record that quarantine rows hold, by seq. */
typedef struct vls_ring_held {
    vls_ring_record *record;
    size_t rows;
} vls_ring_held;

/* The record of that commit, if a quarantine row of the ring holds it, or one of a frozen ledger.
 */
vls_ring_record *vls_ring_held_record(const vls_ring *ring, const valise_uuid *backpack,
                                      int64_t seq);
vls_ring_record *vls_ring_jailed_record(const vls_pmap *jail, const valise_uuid *backpack,
                                        int64_t seq);
void vls_ring_rows_init(vls_ring *ring);
void vls_ring_rows_release(vls_ring *ring);
void vls_ring_rows_trim(vls_ring *ring); /* the edge has moved, or there are many runs */
/* The run of a commit; 0: none. */
int64_t vls_ring_run_of(const vls_ring_record *record);
/* Find out what ring->open_run is, if that is not known. */
int vls_ring_know_run(vls_ring *ring, valise_error *err);
/* What a fork has from its origin; jail: the quarantine of the state after commit upto. */
int vls_ring_rows_fork(vls_ring *ring, vls_ring *origin, const vls_pmap *jail, int64_t upto,
                       valise_error *err);

/* ---- reads (ring_read.c) ---- */

typedef struct vls_ring_read {
    vls_ring_label *label;
    vls_ring_key *key;
    int64_t seq, version, time;
    uint8_t action, outcome;
} vls_ring_read;

typedef struct vls_ring_reads {
    vls_ring_read *slots; /* read n is in slot n % cap */
    size_t cap, len;
    int64_t last; /* number of the newest; counts from 1 */
} vls_ring_reads;

void vls_ring_reads_release(vls_ring *ring);

/* ---- the ring ---- */

/* What `self` of a ledger points to. */
typedef struct vls_ring_lens {
    vls_ring *ring;
    vls_ring_state *state; /* NULL: the newest */
    int64_t upto, edge;    /* of a frozen one: what it shows, the edge when it was made */
    vls_pmap jail;         /* of a frozen one: the quarantine rows when it was made */
    atomic_uint inside;    /* frozen: between enter and leave */
    atomic_bool used;      /* there is something in the next two */
    vls_arena arena;       /* strings of rows that were handed out */
    vls_ring_list lent;    /* records that were handed out, where nothing else holds them */
} vls_ring_lens;

typedef struct vls_ring_sums {
    int64_t history_records, state_records, held_records;
    int64_t history_values, state_values, held_values; /* bytes */
    int64_t record_bytes, key_bytes, label_bytes, rare_bytes, blob_bytes, value_count;
} vls_ring_sums;

/* The key that was looked for last. */
typedef struct vls_ring_seen {
    bool is_set;
    uint64_t hash;
    vls_ring_slot *slot; /* NULL: it is not there */
    size_t len;
    char bytes[VLS_BAG_KEY_MAX];
} vls_ring_seen;

struct vls_ring {
    vls_ref refs;
    const valise_env *env;
    valise_env tree_env; /* env, but counts */
    atomic_size_t tree_bytes;
    pthread_mutex_t lock;
    vls_ring_lens newest;

    vls_arena kept; /* name, sticky */
    valise_uuid id;
    valise_str name;
    valise_list sticky;
    bool lenient, taint, archive;
    int64_t max_commits, max_bytes;
    int64_t keep, root_every; /* VLS_RING_KEEP and VLS_RING_ROOT; tests take less */
    uint64_t seed;            /* of hashes */

    vls_ring_table live;
    vls_map values, labels, space_map;
    vls_ring_order spaces;
    vls_ring_seen seen;
    vls_ring_label *idle;
    _Atomic(vls_ring_record *) dead; /* what nobody has any more */
    vls_ring_record *gone;           /* taken from there, and to be freed */

    vls_ring_record *spare; /* memory of records with room, for the next ones */
    size_t spare_count;
    size_t appended;         /* commits since enter */
    vls_ring_record **slots; /* the commit seq is in slot seq & (cap - 1) */
    size_t cap;
    int64_t edge, edge_time, last, last_time, last_run;
    int64_t begun_run; /* that was begun last; 0: it is over */
    int64_t open_run;  /* of the newest commit, if it is not over; else 0; -1: not known */
    vls_ring_label *last_label;
    int64_t items;
    vls_ring_sums sums;

    vls_vec(vls_ring_root) roots; /* by seq */
    vls_ring_state *recent;       /* that was made last; NULL: none */

    vls_pmap rows[VLS_RING_ROWS];
    vls_map nodes;    /* that have runs */
    size_t runs_most; /* runs before some go, wherever the edge is */
    vls_map held;
    int64_t quarantined, released; /* quarantine rows: still there, and released */
    uint64_t generation;
    vls_ring_reads reads;

    vls_ring *origin; /* NULL: no fork */
    int64_t origin_seq, origin_edge;
    vls_ring_state *base; /* the state it started with */

    vls_ring_pruned pruned;
    atomic_bool has_pruned; /* since it was asked last */
    vls_ring_list dropped;  /* for the archive */
    int64_t lost;           /* that it did not take */
    bool archive_fails;     /* it did so last */
    bool archiving;         /* somebody is about to put them there: */
    pthread_t archiver;
    pthread_cond_t archived; /* that is over */
};

static inline vls_ring_record *vls_ring_at(const vls_ring *ring, int64_t seq)
{
    return ring->slots[(size_t)seq & (ring->cap - 1)];
}

void vls_ring_lock(vls_ring *ring);   /* no mutex */
void vls_ring_unlock(vls_ring *ring); /* without what leave does */

/* Hold a record until leave. */
int vls_ring_lend(vls_ring_lens *lens, vls_ring_record *record, valise_error *err);

/* ---- live (ring_live.c) ---- */

void vls_ring_key_drop(vls_ring *ring, vls_ring_key *key);
vls_ring_key *vls_ring_key_new(vls_ring *ring, valise_str key, uint64_t hash);
/* The slot of the live table, valid until a key comes or goes; or NULL. */
vls_ring_slot *vls_ring_find(vls_ring *ring, valise_str key);
/* The newest record of the key, of the fork's base too, whatever its action; NULL. */
vls_ring_record *vls_ring_newest_of(vls_ring *ring, valise_str key);
/* Does a record that is no item still count, for the version of its key or since it hides something
 * of the fork's base? While other records of the key are kept, or it came with an import. No mutex.
 */
bool vls_ring_counts(const vls_ring *ring, const vls_ring_record *record);
/* Is a record that a state has shown? One of the edge that is no item is not. No mutex. */
bool vls_ring_is_shown(const vls_ring *ring, int64_t edge, const vls_ring_record *record);
/* Take the newest record of a key, which is no item, out of the live table. */
void vls_ring_forget(vls_ring *ring, vls_ring_record *record);
/* The same if it is there only for its version, which nobody needs any more. */
void vls_ring_forget_alone(vls_ring *ring, vls_ring_key *key);

/* Commits up to edge leave the ring. Never fails. */
void vls_ring_prune_to(vls_ring *ring, int64_t edge);
/* At a bound, the oldest fifth. */
void vls_ring_prune(vls_ring *ring);

/* ---- what ledgers do; the tables are in ring.c ---- */

int vls_ring_op_newest(valise_commit *out, void *self, valise_str key, valise_error *err);
int vls_ring_op_version(int64_t *out, void *self, valise_str key, valise_error *err);
int vls_ring_op_commit(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                       valise_error *err);
bool vls_ring_op_includes(void *self, const valise_uuid *backpack, int64_t seq);
int vls_ring_op_value(valise_blob **out, void *self, const valise_commit *commit,
                      valise_error *err);
int vls_ring_op_append(void *self, valise_commit *commit, valise_blob *value, valise_error *err);
int vls_ring_op_set_edge(void *self, int64_t edge, valise_error *err);
int vls_ring_op_row_get(void *row, void *self, const valise_coll *coll, valise_error *err);
int vls_ring_op_row_put(void *self, const valise_coll *coll, const void *row, valise_error *err);
int vls_ring_op_ran(void *self, valise_str node_id, valise_error *err);
int vls_ring_op_row_delete(void *self, const valise_coll *coll, const void *row, valise_error *err);
int vls_ring_op_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
int vls_ring_op_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
int vls_ring_op_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                           valise_error *err);
int vls_ring_op_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                             valise_error *err);
int vls_ring_op_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                            valise_commit_fn *fn, void *arg, valise_error *err);
int vls_ring_op_each_difference(void *self, void *other,
                                int (*fn)(void *arg, const valise_commit *in_self,
                                          const valise_commit *in_other, valise_error *err),
                                void *arg, valise_error *err);
int vls_ring_op_each_row(void *self, const valise_coll *coll,
                         int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                         valise_error *err);
void vls_ring_op_read_add(void *self, const vls_ledger_read *read);
int vls_ring_op_each_read(void *self,
                          int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                          void *arg, valise_error *err);
int vls_ring_op_usage(valise_usage *out, void *self, valise_error *err);

static inline void vls_auto_ring_state(vls_ring_state **state)
{
    vls_ring_state_unref(*state);
}

#endif
