/* rows.h -- a ledger in the workspace: the durable backpack, seen through a view.
 *
 * Commits are rows of `backpack_commit` (bag.h). The newest one of a key up to some seq is one seek
 * downwards in the index `key`; a listing jumps from key to key. Nothing else says what the state
 * is, so a state of the past costs no more than the present.
 *
 *     index key         (backpack, key, seq)                  newest, items, versions, blame
 *     index namespace   (backpack, sourceNamespace, key, seq) items of a namespace
 *     key               (backpack, seq)                       history, differences
 *
 * A fork is one row that names its origin and a seq: its *lineage* is a list of segments, its own
 * first, then the origin up to that seq, and so on. The first segment that has the key has the
 * item.
 *
 *     fork2   own commits          -> fork1 up to 7   -> run up to 120
 *
 * Commits up to `edge` may have expired (op_expire.c). What is left of them are the items of the
 * state at the edge, whatever checkpoints, forks and quarantine entries need, and the deletions
 * that stand between such a commit and what lies before it.
 *
 * Where the view shows an earlier state of the workspace, so does the ledger; permissions, rules
 * and the items of today are read through a second view, of the same transaction. So are the edges:
 * what has expired is gone from all states, and one that lies before today's edge is not shown.
 *
 * Memory: walks hold one row of each segment. What `newest` and `commit` hand out is let go of at
 * `leave`. A command that makes many commits finds its own in a table, instead of looking through
 * all changes of the view for each.
 *
 * Threads: single, as the view is. */
#ifndef VLS_ROWS_H
#define VLS_ROWS_H

#include "backpack/ledger.h"
#include "store/view.h"

/* A part of the lineage: the commits of one backpack up to a seq. */
typedef struct vls_rows_segment {
    valise_uuid backpack;
    int64_t upto;
    int64_t edge; /* of what can be seen here: never behind upto */
} vls_rows_segment;

/* What the head tells of the newest commit, whatever state is shown. */
typedef struct vls_rows_last_commit {
    bool known;
    int64_t seq, time, run;
    int64_t origin_time; /* of the newest commit that is left of the origin's state */
    char node[VLS_BAG_NODE_MAX + 1];
} vls_rows_last_commit;

typedef struct vls_rows {
    valise_view *view; /* NULL: closed */
    vls_bag_row bag;   /* strings belong to the view */
    vls_rows_segment *segments;
    size_t segment_count;
    int64_t upto; /* INT64_MAX: the newest state */
    vls_rows_last_commit last;
    uint64_t generation; /* 0: not known */
    uint64_t changes;    /* of permissions and rules, by this ledger */
    int64_t last_run;    /* -1: not known */
    int64_t open_run;    /* of the head; -1: not known */
    bool appended;       /* this ledger has made commits */
    struct vls_recent
        *recent;     /* to find those of the command (rows_recent.c); NULL: they are few */
    vls_arena arena; /* what was handed out since enter */
    bool on_heap;    /* made by freeze */
    struct vls_rows_today *today; /* of a view of the past; NULL: of none, or not asked for yet */
} vls_rows;

/* The row of the backpack of that name: 1, or 0. For who can do without: to tell who may have been
 * meant, vls_rows_open looks at all there are. Strings live as long as the view. */
int vls_rows_find(vls_bag_row *out, valise_view *view, valise_str name, valise_error *err);

/* The backpack of that name, or with that id. VALISE_E_NOT_FOUND (and who was meant, perhaps),
 * VALISE_E_CORRUPT for a fork whose origin is missing, VALISE_E_LIMIT for one that is too deep. In
 * a view of the past also VALISE_E_NOT_FOUND when it was dropped since, and VALISE_E_LIMIT when
 * what it held then has expired. The struct must stay where it is while its ledger is used. */
int vls_rows_open(vls_rows *out, valise_view *view, valise_str name, valise_error *err);
int vls_rows_open_id(vls_rows *out, valise_view *view, const valise_uuid *id, valise_error *err);
void vls_rows_close(vls_rows *rows); /* a zeroed one is fine */

vls_ledger vls_rows_ledger(vls_rows *rows);

/* ---- in commands ---- */

/* Make one: name, lenient, taint and sticky come from *like, the rest is filled in, there too.
 * VALISE_E_EXISTS, VALISE_E_INVALID. */
int vls_rows_make(vls_bag_row *like, valise_view *view, valise_error *err);

/* Make one that starts with the state that `from` (a ledger of rows) shows, with its options,
 * permissions and rules, and with the entries of its quarantine. Nothing is copied but these. */
int vls_rows_fork(vls_bag_row *out, const vls_ledger *from, valise_str name, valise_error *err);

/* ---- between the files ---- */

/* Columns of a commit that are looked at without making a struct of it. */
enum {
    VLS_COMMIT_SEQ = 1,
    VLS_COMMIT_TIME = 2,
    VLS_COMMIT_KEY = 4,
    VLS_COMMIT_NODE_ID = 11,
    VLS_COMMIT_RUN = 14
};

/* A commit from its cells, with what is derived; strings in arena. */
int vls_rows_decode(valise_commit *out, const vls_rows *rows, const valise_cell *cells,
                    int64_t from_seq, vls_arena *arena, valise_error *err);

/* The newest commit of the key in the state that is shown: 1, or 0. Strings in arena. */
int vls_rows_newest(valise_commit *out, const vls_rows *rows, valise_str key, vls_arena *arena,
                    valise_error *err);

/* The first commit of a selection: 1, or 0. Strings in arena. */
int vls_rows_first(valise_commit *out, const vls_rows *rows, const valise_select *select,
                   vls_arena *arena, valise_error *err);

/* The newest commit of a backpack, of all there are: 1 and its cells, as vls_view_last gives them,
 * or 0. */
int vls_rows_last(valise_cell *cells, valise_view *view, const valise_uuid *backpack,
                  valise_error *err);

/* The seq of that one; 0: it has none. */
int vls_rows_last_seq(int64_t *seq, valise_view *view, const valise_uuid *backpack,
                      valise_error *err);

/* The newest commit of the key in one backpack up to a seq, of whatever action. */
int vls_rows_seek(valise_commit *out, const vls_rows *rows, const valise_uuid *backpack,
                  valise_str key, int64_t upto, vls_arena *arena, valise_error *err);

/* ---- what the command has made (rows_recent.c) ---- */

/* Keep them from now on; the command has appended some, and so removes none. */
int vls_recent_new(vls_rows *rows, valise_error *err);

/* The newest one of a key, of this backpack: 1 and a commit that lives as long as the ledger, or 0.
 */
int vls_recent_find(const valise_commit **out, const vls_rows *rows, valise_str key,
                    valise_error *err);
void vls_recent_free(vls_rows *rows);

/* Commits of one backpack with first <= seq <= last. */
typedef struct vls_rows_range {
    const valise_uuid *backpack;
    int64_t first, last;
    bool reverse;
} vls_rows_range;
int vls_rows_each(const vls_rows *rows, const vls_rows_range *range, valise_commit_fn *fn,
                  void *arg, valise_error *err);

/* The keys of many commits, each once, in the order in which they came. */
typedef struct vls_key_set {
    vls_arena arena;
    vls_map known;
    vls_vec(valise_str) list;
} vls_key_set;
void vls_key_set_init(vls_key_set *set, const valise_env *env);
void vls_key_set_release(vls_key_set *set); /* a zeroed one is fine */
int vls_key_set_add(void *self, const valise_commit *commit, valise_error *err); /* for a walk */

static inline void vls_auto_key_set(vls_key_set *set)
{
    vls_key_set_release(set);
}

/* What rows.c puts into the table of functions. */
bool vls_rows_includes(void *self, const valise_uuid *backpack, int64_t seq);
int vls_rows_version(int64_t *out, void *self, valise_str key, valise_error *err);
int vls_rows_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
int vls_rows_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err);
int vls_rows_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                        valise_error *err);
int vls_rows_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                          valise_error *err);
int vls_rows_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                         valise_commit_fn *fn, void *arg, valise_error *err);
int vls_rows_each_difference(void *self, void *other,
                             int (*fn)(void *arg, const valise_commit *in_self,
                                       const valise_commit *in_other, valise_error *err),
                             void *arg, valise_error *err);
void vls_rows_read_add(void *self, const vls_ledger_read *read);
int vls_rows_each_read(void *self,
                       int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                       void *arg, valise_error *err);
int vls_rows_usage(valise_usage *out, void *self, valise_error *err);
int vls_rows_ran(void *self, valise_str node_id, valise_error *err);

static inline void vls_auto_rows(vls_rows *rows)
{
    vls_rows_close(rows);
}

/* The source of all versions of an item (store/used.h). */
int vls_bag_used(valise_id *out, valise_view *view, const valise_uuid *backpack, valise_str key,
                 valise_error *err);

#endif
