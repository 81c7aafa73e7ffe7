/* view.h -- the inside of valise_view: a transaction, the past, and the changes of one command.
 *
 *     reads      changes  ->  past  ->  transaction
 *     writes     changes
 *
 * Changes and past are *overlays*: for some keys they say what the row is (or that there is none);
 * for all other keys the layer below is asked. A scan merges, in order, the overlay's own rows and
 * the rows below whose keys are in no overlay.
 *
 * Threads: single. */
#ifndef VLS_VIEW_H
#define VLS_VIEW_H

#include <valise/sys/view.h>

#include "base/blob.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/log.h"
#include "store/object.h"

/* ---- overlays ---- */

typedef struct vls_overlay_row {
    const vls_coll *coll;
    valise_str key;            /* ordered encoding */
    const valise_cell *row;    /* field_count cells; NULL: no row */
    int64_t from_seq;          /* of row; 0 for a row of the running command */
    int64_t gone_seq;          /* row NULL: the entry that deleted it, or 0 */
    const valise_cell *before; /* changes: what was there, NULL: nothing */
    bool erasing;              /* changes: contents are removed, also from an IMMUTABLE row */
    int64_t before_seq; /* from_seq of before, or where there was none the deletion before it */
} vls_overlay_row;

/* A change that leaves the row as it was. */
static inline bool vls_overlay_row_is_same(const vls_overlay_row *change)
{
    if (!change->row || !change->before)
        return change->row == change->before;
    return vls_cells_equal(change->row, change->before, change->coll->field_count);
}

typedef struct vls_overlay {
    vls_map map;
    uint64_t seed;
    vls_vec(vls_overlay_row *) rows; /* in the order in which they came; in an arena too */
} vls_overlay;

void vls_overlay_init(vls_overlay *overlay, const valise_env *env);
void vls_overlay_release(vls_overlay *overlay); /* the rows lie in an arena */
vls_overlay_row *vls_overlay_get(const vls_overlay *overlay, const vls_coll *coll, valise_str key);

/* A new row with this key, otherwise zero; there must be none yet. The key is copied. */
int vls_overlay_add(vls_overlay_row **out, vls_overlay *overlay, vls_arena *arena,
                    const vls_coll *coll, valise_str key, valise_error *err);

/* ---- views ---- */

/* An object that the running command adds. Bytes are borrowed. */
typedef struct vls_new_object {
    valise_id id;
    const char *kind;
    valise_str bytes;
} vls_new_object;

/* What the layer above knows and the view does not. All optional. */
typedef struct vls_view_hooks {
    int (*allows)(void *self, const char *capability, const char *const *attrs, valise_error *err);
    int (*emit)(void *self, const void *row, valise_error *err);
    /* Is there such a blob? VALISE_E_NOT_FOUND. */
    int (*blob)(void *self, const valise_id *id, valise_error *err);
    void *self;
} vls_view_hooks;

/* A row as it is seen, whatever layer it comes from. */
typedef struct vls_seen {
    const valise_cell *row; /* field_count cells; NULL: no row */
    int64_t from_seq;       /* of row */
    int64_t gone_seq;       /* row NULL: the entry that deleted it, or 0 */
} vls_seen;

/* Blobs that a command let go of: once it is committed each of them is removed, unless a row still
 * names it (bus/purge.h). In memory of the environment. */
typedef vls_vec(valise_id) vls_let_go;

struct valise_view {
    struct valise *bus;    /* the handle whose operation it is of; NULL: none */
    vls_let_go *let_go;    /* NULL: nothing is removed after it */
    struct vls_told *told; /* bus/told.h: where its live events wait; NULL: nowhere */
    const void *seen;      /* what `prepare` left for decide, for PASSING answers; or NULL */
    vls_txn *txn;          /* NULL: there is no workspace; reads find nothing */
    vls_arena arena;
    valise_stamp stamp;
    valise_str expect; /* commands: what `current` was compared with; "": nothing */
    vls_view_hooks hooks;
    bool changing;   /* put, delete, add are allowed */
    bool replaying;  /* what is put was accepted before */
    bool apart;      /* a command on what lives in memory alone: ids can be made, no rows put */
    bool expiring;   /* an INTERNAL command: rows of QUIET collections can be deleted */
    int64_t at;      /* the state that is seen; txn->tip.seq unless it is the past */
    bool past_built; /* past holds every row that differs from the transaction */
    vls_overlay past;
    vls_overlay changes;
    vls_vec(vls_new_object *) objects; /* in the arena */
    vls_map object_map;                /* the same by id, once there are over VLS_VIEW_FEW */
    vls_vec(valise_blob *) blobs;      /* objects that were handed out */
    uint64_t uuid_count;               /* ids that valise_view_uuid derived */

    /* The row below the changes that was read last: who gets a row mostly puts it next. */
    const vls_coll *last_coll; /* NULL: none */
    valise_str last_key;
    vls_seen last_seen;
};

#define VLS_VIEW_MAX_BYTES ((size_t)1 << 30) /* memory of one operation */
#define VLS_VIEW_FEW 8u /* changes or objects that are looked through; more are in a map */

/* See the newest state of txn (which must outlive the view), or none for NULL. */
void vls_view_init(valise_view *view, vls_txn *txn, const valise_env *env);
void vls_view_release(valise_view *view); /* a zeroed one is fine */

/* A point to go back to: forget what was handed out since. Nothing may have been changed in
 * between, nor been read from the past. */
typedef struct vls_view_mark {
    vls_arena_mark arena;
    size_t past, changes;
} vls_view_mark;
vls_view_mark vls_view_here(const valise_view *view);
void vls_view_rewind(valise_view *view, vls_view_mark mark);

/* Forget all objects that were handed out: who looks at one row after the other would keep those of
 * all. */
void vls_view_forget_objects(valise_view *view);

/* See the state after entry `at` instead. VALISE_E_LIMIT before the retained log: it names the
 * oldest seq; VALISE_E_NOT_FOUND after the newest. */
int vls_view_go_to(valise_view *view, int64_t at, valise_error *err);

/* For rows without their C struct: gc, validate, export, foreign collections. The cells live as
 * long as the view. cells: of the key at least. */
int vls_view_see(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *cells,
                 valise_error *err);

/* Put a row without its C struct. erasing: it is the row that is there without its contents, which
 * may be done to an IMMUTABLE one too. The cells must live as long as the view. */
int vls_view_put_cells(valise_view *view, const vls_coll *coll, const valise_cell *row,
                       bool erasing, valise_error *err);

/* Put a row in the place of the same one whose contents were erased: it has them again, and has
 * been there since when it was. An IMMUTABLE one, too. */
int vls_view_refill(valise_view *view, const valise_coll *desc, const void *row, valise_error *err);

/* The bytes of an object as valise_view_object gives them, but as a reference that the caller lets
 * go of: a long walk need not keep them all. */
int vls_view_blob(valise_blob **out, valise_view *view, const valise_id *id, valise_error *err);

/* Add an object of the running command, unless it has it already. Its bytes are borrowed, and must
 * live as long as the view. */
int vls_view_lend(valise_view *view, const vls_new_object *object, valise_error *err);

/* The command takes away the last row that names this blob, as far as it knows: see vls_let_go. */
int vls_view_let_go(valise_view *view, const valise_id *id, valise_error *err);

/* The object with this id that the command adds, or NULL. */
const vls_new_object *vls_view_find_new(const valise_view *view, const valise_id *id);

/* Is it there, or added by this command? 1, or 0 (also when it was erased). */
int vls_view_has_object(valise_view *view, const valise_id *id, valise_error *err);

/* The row in the transaction, below changes and past; gone_seq is not filled in. */
int vls_view_see_now(vls_seen *out, valise_view *view, const vls_coll *coll, const valise_cell *key,
                     valise_error *err);

/* The row of the past, found through the entries that changed it (past.c). key_cells and key are
 * the same key. Only when view->at is before the newest entry. */
int vls_past_see(vls_seen *out, valise_view *view, const vls_coll *coll,
                 const valise_cell *key_cells, valise_str key, valise_error *err);

/* Make view->past complete, for scans. */
int vls_past_build(valise_view *view, valise_error *err);

/* ---- what became of rows (past.c) ---- */

typedef int vls_version_fn(void *arg, int64_t from_seq, valise_error *err);

/* The row whose key members are set as the view sees it, then as it was before that, and so on as
 * far as the log reaches back: *row is filled (it is as it was where there was none), then fn is
 * called with the entry that made it so. Strings are valid until fn returns; non-zero from fn ends
 * it, and is returned. Not for QUIET collections. */
int vls_view_each_version(void *row, valise_view *view, const valise_coll *desc, vls_version_fn *fn,
                          void *arg, valise_error *err);

/* The same with deletions: *there says before each call whether there was a row; where there was
 * none, *row is as before. */
int vls_view_each_change(void *row, bool *there, valise_view *view, const valise_coll *desc,
                         vls_version_fn *fn, void *arg, valise_error *err);

/* The keys of rows that entries after `from`, up to `to`, changed, as often as they did: of *row
 * the key members are set, valid until fn returns. VALISE_E_LIMIT before the retained log. */
int vls_view_each_changed(void *row, valise_view *view, const valise_coll *desc, int64_t from,
                          int64_t to, vls_version_fn *fn, void *arg, valise_error *err);

/* ---- scans as cells (scan.c) ---- */

/* Only what was there before the command: for who knows its own changes better. */
#define VLS_SCAN_BELOW 0x100u

/* Delete a row that a scan showed as cells. */
int vls_view_delete_cells(valise_view *view, const vls_coll *coll, const valise_cell *cells,
                          valise_error *err);

/* range.table is filled in; cells of the range are copied. */
int vls_view_scan(valise_scan **out, valise_view *view, const vls_coll *coll,
                  const valise_range *range, valise_error *err);

/* 1 and field_count cells, valid until the next call; 0 at the end. from_seq may be NULL. */
int vls_scan_next_cells(const valise_cell **row, int64_t *from_seq, valise_scan *scan,
                        valise_error *err);

static inline void vls_auto_scan(valise_scan **scan)
{
    valise_scan_close(*scan);
}

/* What a selection stands for; the range borrows cells, which borrow from select and the view. */
int vls_scan_range(valise_range *out, valise_cell cells[2 * VALISE_MAX_COLUMNS], valise_view *view,
                   const vls_coll *coll, const valise_select *select, valise_error *err);

/* ---- the last row (last.c) ---- */

/* The row that a scan of the selection (without `from`) would find first if it went backwards: 1
 * and its field_count cells, valid until the next call with this view; 0: there is none. flags: 0
 * or VLS_SCAN_BELOW. from_seq is 0 for a row of the running command, and may be NULL. A command
 * that asks for the newest of something is mostly not the first to ask: writers remember. */
int vls_view_last(valise_cell *row, int64_t *from_seq, valise_view *view, const valise_coll *desc,
                  const valise_select *select, valise_error *err);

/* ---- what a command did (apply.c) ---- */

/* Is there a row that will be another one? Objects do not count: without a row that names it an
 * object is nothing. */
bool vls_view_has_changes(const valise_view *view);

/* Write the changes and objects of the view and the entry that describes them, with everything
 * but id, time, actor, cause, type, nonce, payload, sent and result still to be filled in. seq is
 * the view's stamp. Changes that change nothing are left out. VALISE_E_NOT_FOUND when a row refers
 * to an object that is not there; VALISE_E_LIMIT when the entry would be too large;
 * VALISE_E_CONFLICT for another row in an IMMUTABLE collection. After a failure the transaction
 * must go back to a mark. */
int vls_view_apply(vls_entry *entry, valise_view *view, valise_error *err);

/* ---- state (state.c) ---- */

/* SHA-256 over all collections that are state (docs/formats.md, "State hash"). */
int vls_state_hash(valise_id *out, valise_view *view, valise_error *err);

static inline void vls_auto_view(valise_view *view)
{
    vls_view_release(view);
}

#endif
