/* look.h -- what is read from a backpack: items, history, states, differences.
 *
 * All of it goes through a scope: who may not read something does not get it, nor its summary.
 *
 * Threads: pure functions over a ledger. */
#ifndef VLS_LOOK_H
#define VLS_LOOK_H

#include "backpack/scope.h"
#include "base/buf.h"
#include "base/hash.h"

/* The head outside of enter and leave: its numbers and ids. Its texts are not to be used. */
int vls_look_head(vls_ledger_head *out, const vls_ledger *ledger, valise_error *err);

/* ---- items (item.c) ---- */

/* The item's value: 1, or 0. record: into the log of reads. required: absent is NOT_FOUND, and
 * denied always DENIED. commit: NULL, or a copy of the item in arena. */
typedef struct vls_look {
    bool record, required;
    bool erased_too; /* an item whose value was erased is found, without it; else that fails */
    int64_t now;
    vls_arena *arena; /* for commit; NULL: none is wanted */
    valise_commit *commit;
    int64_t outcome; /* filled: VALISE_READ_... */
} vls_look;
int vls_bag_get(valise_blob **out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                vls_look *look, valise_error *err);

/* In the order of keys, those the scope may read. pattern ptr NULL: all. values: each with its
 * value. */
int vls_bag_each(const vls_ledger *ledger, vls_scope *scope, valise_str pattern, bool values,
                 valise_item_fn *fn, void *arg, valise_error *err);

int vls_bag_quarantined(const vls_ledger *ledger, vls_scope *scope, valise_item_fn *fn, void *arg,
                        valise_error *err);

/* The version of an item: 1, or 0 when there is none. Whoever may write it may ask; for others
 * VALISE_E_DENIED, whether it is there or not. */
int vls_bag_version(int64_t *version, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                    valise_error *err);

/* The state, or what lies in matching namespaces (ptr NULL: all), as one canonical JSON object of
 * keys and values. */
int vls_bag_object(vls_buf *out, const vls_ledger *ledger, vls_scope *scope, valise_str pattern,
                   valise_error *err);

/* ---- history (history.c, show.c) ---- */

/* One commit, copied into arena. VALISE_E_NOT_FOUND, also for what the scope may not see. */
int vls_bag_commit(valise_commit *out, const vls_ledger *ledger, vls_scope *scope, int64_t seq,
                   vls_arena *arena, valise_error *err);

/* The commit that a text names (a seq, an id or its ending, a checkpoint), its value, and the one
 * before it: untouched where there is none. */
int vls_bag_show(valise_commit *out, valise_content *value, valise_content *before,
                 const vls_ledger *ledger, vls_scope *scope, valise_str text, vls_arena *arena,
                 valise_error *err);

int vls_bag_history(const vls_ledger *ledger, vls_scope *scope, const valise_history *filter,
                    valise_commit_fn *fn, void *arg, valise_error *err);

/* What a node read (writes false) or wrote, oldest first; writes that were denied are there too,
 * with that outcome. A node sees its own reads only. */
int vls_bag_access_log(const vls_ledger *ledger, vls_scope *scope, valise_str node_id, bool writes,
                       valise_commit_fn *fn, void *arg, valise_error *err);

/* Back to where the key was packed first or anew. VALISE_E_NOT_FOUND when there is no item. */
int vls_bag_blame(const vls_ledger *ledger, vls_scope *scope, valise_str key, int64_t now,
                  valise_commit_fn *fn, void *arg, valise_error *err);

/* ---- nodes (node_path.c) ---- */

/* The node that is meant by its id, or by the end of its path: *out is the id itself, or the one
 * that ends in it, in arena. Of those with runs only, or (runs false) of all that were ever named
 * here. None: the id itself. Several: VALISE_E_CONFLICT. Outside of enter and leave. */
int vls_bag_find_node(valise_str *out, const vls_ledger *ledger, const vls_scope *scope,
                      valise_str id, bool runs, vls_arena *arena, valise_error *err);

/* ---- states (point.c) ---- */

enum {
    VLS_POINT_NOW,
    VLS_POINT_SEQ,
    VLS_POINT_TIME,
    VLS_POINT_COMMIT,
    VLS_POINT_ENDING, /* digits at the end of a commit's id */
    VLS_POINT_NAME,
    VLS_POINT_BEFORE, /* node, run */
    VLS_POINT_AFTER,
};

typedef struct vls_point {
    int kind;
    int64_t number; /* seq, ns, or run: 1 is the first, -1 the last */
    valise_uuid commit;
    valise_str text; /* name, node or digits */
} vls_point;

/* What people write: see valise_snapshot_at. Borrows from text. */
int vls_point_parse(vls_point *out, valise_str text, valise_error *err);

/* The commit after which the state is meant, for who looks with this scope. Errors as for
 * valise_snapshot. */
int vls_point_resolve(int64_t *seq, const vls_ledger *ledger, const vls_scope *scope,
                      const vls_point *point, valise_error *err);

/* The state that a run left; of one that goes on, or ended without saying so, that of its last
 * commit. */
int vls_run_end(int64_t *seq, const vls_ledger *ledger, const vls_run_row *run, valise_error *err);

/* Does a checkpoint hold the state after this commit? 1, 0. Outside of enter and leave. */
int vls_point_held(const vls_ledger *ledger, int64_t seq, valise_error *err);

/* The first seq in (from, to] at which it holds; if it held at one, it does at all later ones. */
typedef int vls_holds_fn(void *arg, int64_t seq, valise_error *err);
int vls_bisect(int64_t *seq, int64_t from, int64_t to, vls_holds_fn *holds, void *arg,
               valise_error *err);

/* ---- differences (diff.c) ---- */

/* Each side as far as who looks at it may see it. labels: also where only namespace, tags or lists
 * of nodes are different, and what b put into quarantine that is an item on neither side (before
 * and after NULL); values are not handed out then. */
int vls_bag_diff(const vls_scoped *a, const vls_scoped *b, bool labels, valise_change_fn *fn,
                 void *arg, valise_error *err);
/* Are two items the same, with their namespace, tags and lists? */
bool vls_commit_same_item(const valise_commit *a, const valise_commit *b);

/* ---- as JSON (export.c, import.c) ---- */

/* docs/formats.md, "A backpack as JSON". commits: how many of the newest; -1: all. */
int vls_bag_export(vls_buf *out, const vls_ledger *ledger, vls_scope *scope, int64_t commits,
                   valise_error *err);

/* Fill an empty ledger from what vls_bag_export made, or from the older shape. Everything is
 * checked before the first change; errors carry the JSON path. What fails after that (memory, the
 * store) leaves a ledger that is to be thrown away. */
int vls_bag_import(const vls_ledger *ledger, valise_str json, int64_t now, const valise_env *env,
                   valise_error *err);

/* What such a document says about the backpack itself (id, name, options, bounds, origin), for who
 * makes the ledger: of the older shape nothing. In arena. */
int vls_bag_import_head(vls_ledger_head *out, valise_str json, vls_arena *arena, valise_error *err);

/* ---- validation (check.c) ---- */

/* 1: valid; 0: not. The list of errors, as JSON, is added to *errors. key "": all. */
int vls_bag_validate(vls_buf *errors, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                     valise_str schema, int64_t now, valise_error *err);

#endif
