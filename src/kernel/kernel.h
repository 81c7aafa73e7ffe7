/* kernel.h -- the collections of the kernel, which its operations share.
 *
 *     workspace   what this one is called, and whatever else was told of it
 *     pin         a named hold on something that expiry must not take
 *     erasure     a place whose contents were erased, by whom and why
 *     retention   how long each kind of history is kept
 *     bundle      a bundle that was imported into what was here already
 *
 * (`actor` and `setting` are in bus/actor.h: every command is checked with them.)
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_KERNEL_H
#define VLS_KERNEL_H

#include <valise/sys/extension.h>

#include "base/base.h"
#include "bus/actor.h"

extern const valise_op *const vls_ops_kernel[]; /* made from src/ops.txt */
extern const valise_extension vls_area_kernel;

/* What `expect` is compared with where a command changes one row: that row as lists show it, or
 * null. row: its key members are set. */
int vls_current_row(valise_str *json, valise_view *view, const valise_coll *coll, void *row,
                    valise_error *err);

/* ---- the workspace ---- */

#define VLS_WORKSPACE_LABEL_MAX 256

/* One row, which workspace:create puts. [W18] */
typedef struct vls_workspace_row {
    valise_uuid id;
    valise_str label;   /* what people call it; NULLABLE CONTENT */
    valise_id metadata; /* a value; NULLABLE CONTENT */
    int64_t created, updated;
    valise_str actor; /* of the last change */
} vls_workspace_row;
extern const valise_coll vls_workspaces;

/* The row: 1, or 0 where the workspace was made without one. */
int vls_workspace_get(vls_workspace_row *out, valise_view *view, valise_error *err);

/* ---- status ---- */

#define VLS_STATUS_MOST 100  /* that are counted */
#define VLS_STATUS_SEEN 1000 /* that are looked at, with those that are gone */

/* Rows that are stored and not there any more. */
typedef struct vls_status_gone {
    bool (*is)(const void *row, int64_t now);
    int64_t now;
} vls_status_gone;

/* A line of the status about how many rows there are, {"count":3,"more":false}; none where there
 * are none. It takes as long however many there are: it ends at one of the two limits, and `more`
 * says that there may be others. gone may be NULL. */
int vls_status_count(valise_status *s, const char *name, const valise_coll *coll,
                     const vls_status_gone *gone, valise_error *err);

typedef struct vls_workspace_create_args {
    bool open;
    valise_uuid id; /* zero: there is no row then */
} vls_workspace_create_args;

/* ---- actors ---- */

typedef struct vls_agent_ref {
    valise_str id;
} vls_agent_ref;
extern const valise_field vls_agent_ref_fields[];

/* The row, or VALISE_E_NOT_FOUND. row->id is set. */
int vls_agent_get(vls_actor_row *row, valise_view *view, valise_error *err);

/* VALISE_E_CONFLICT when nobody but `id` may administer the workspace: then it cannot go. */
int vls_agent_others_administer(valise_view *view, valise_str id, valise_error *err);

/* ---- pins, erasures, retention ---- */

enum { VLS_PIN_SEQ, VLS_PIN_OBJECT, VLS_PIN_ROW };

typedef struct vls_pin {
    valise_str name;
    int64_t kind;     /* VLS_PIN_... */
    int64_t seq;      /* the state that is held; of an object or row the state it was pinned in */
    valise_id object; /* kind OBJECT; NULLABLE */
    valise_str place; /* kind ROW; NULLABLE */
    int64_t time;
    valise_str actor;
} vls_pin;
extern const valise_field vls_pin_fields[];
extern const valise_coll vls_pins;

/* Does it hold the log behind its seq? A row is held as it was in that state, and what it was is in
 * the log. An object is held by being referred to. */
static inline bool vls_pin_holds_log(const vls_pin *pin)
{
    return pin->kind != VLS_PIN_OBJECT;
}

typedef struct vls_erasure {
    valise_str place;
    int64_t seq; /* of the erase command */
    int64_t time;
    valise_str actor, reason;
} vls_erasure;
extern const valise_field vls_erasure_fields[];
extern const valise_coll vls_erasures;

/* Limits of one kind of history; VALISE_NONE: none. */
typedef struct vls_retention {
    valise_str kind; /* "log", "read_log", or what an area says */
    int64_t keep_latest, keep_one_in, bytes;
    int64_t age; /* ns */
} vls_retention;
extern const valise_field vls_retention_fields[];
extern const valise_coll vls_retentions;

/* ---- bundles ---- */

typedef struct vls_imported {
    valise_id id;          /* of the bundle: the hash at its end */
    valise_uuid workspace; /* it was made from */
    int64_t tip;           /* the last entry of that one's log */
    valise_id tip_hash;    /* NULLABLE */
    valise_id chain;       /* the object that holds that log's chain; NULLABLE: it was a part */
    int64_t time;
    valise_str actor;
} vls_imported;
extern const valise_coll vls_bundles;

/* Collections that belong to a workspace and never leave it for another: who may do what, what is
 * held and for how long, what was erased. NULL-ended. */
extern const char *const vls_kernel_local[];

#endif
