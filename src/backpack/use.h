/* use.h -- one operation on one backpack: which one, in which state, and who acts.
 *
 *     vls_use use = {0};
 *     rc = vls_use_begin(&use, view, &args->who, err);
 *     if (rc == 0)
 *         rc = vls_bag_history(&use.ledger, use.scope, &filter, emit, view, err);
 *     vls_use_end(&use);
 *
 * The arguments of every operation on a backpack start with a vls_who. Ephemeral backpacks are
 * found first, in the handle the operation runs on; then those of the workspace.
 *
 * Threads: single. */
#ifndef VLS_USE_H
#define VLS_USE_H

#include "backpack/decide.h"
#include "backpack/ephemeral.h"
#include "backpack/look.h"
#include "backpack/rows.h"
#include "bus/bus.h"

typedef struct vls_who {
    valise_str backpack;                  /* name */
    valise_str node;                      /* act as this node; "": the owner */
    valise_str node_id;                   /* the owner: who is said to have done it */
    valise_str node_name, namespace_name; /* of either; ptr NULL: none */
    int64_t run;                          /* of the node, started before; 0: none */
    valise_uuid id; /* handles: the backpack must still be this one; zero: any */
} vls_who;

typedef struct vls_key_args {
    vls_who who;
    valise_str key;
} vls_key_args;

typedef struct vls_use {
    vls_ledger ledger;
    vls_scope *scope;
    bool lent;             /* the scope outlives this: what a query read is kept afterwards */
    vls_ephemeral *memory; /* ephemeral: held */
    vls_rows rows;         /* durable */
    valise_view *view;
    vls_change_call call;
} vls_use;

/* VALISE_E_NOT_FOUND; VALISE_E_DENIED when the actor may not act as a node. */
int vls_use_begin(vls_use *out, valise_view *view, const vls_who *who, valise_error *err);

/* The same, but one that is not there is made: durable, with the usual options. In commands. */
int vls_use_begin_new(vls_use *out, valise_view *view, const vls_who *who, valise_error *err);

/* The same for one that the operation reads as well, besides the one its arguments name first: the
 * bus has not asked for it. The actor needs backpack:read; who may not read it does not learn
 * whether it is there. member: of the arguments, for errors. */
int vls_use_begin_other(vls_use *out, valise_view *view, const vls_who *who, const char *member,
                        valise_error *err);

/* The same by id, as the owner, and nobody is asked: for what is not shown. */
int vls_use_begin_id(vls_use *out, valise_view *view, const valise_uuid *id, valise_error *err);

/* From here on the ledger shows the state after this commit. */
int vls_use_seq(vls_use *use, int64_t seq, valise_error *err);

/* The state at a point that people write ("": the newest): from here on the ledger shows that one.
 */
int vls_use_point(vls_use *use, valise_str text, valise_error *err);

void vls_use_end(vls_use *use); /* a zeroed one is fine */

static inline vls_scoped vls_use_scoped(const vls_use *use)
{
    return (vls_scoped){&use->ledger, use->scope};
}

/* A change is over with this code: fills the answer, and tells who listens of what happened in an
 * ephemeral backpack (that of a durable one is in the log), or was denied. Returns rc, 0 for those
 * above. key and action: of what was tried. */
int vls_use_done(valise_packed *out, vls_use *use, int rc, const vls_done *done, valise_str key,
                 int64_t action);

/* vls_bag_get, and the event of it. */
int vls_use_get(valise_blob **out, vls_use *use, valise_str key, vls_look *look, valise_error *err);

/* What `expect` is compared with: the version of the item, "null" when there is none. For
 * valise_op.current; args start with a vls_key_args. */
int vls_use_current(valise_str *json, valise_view *view, const void *args, valise_error *err);

/* One more capability of the actor, for this backpack and node. */
int vls_use_allows(const vls_use *use, const vls_who *who, const char *capability,
                   valise_error *err);

/* The event of a snapshot. */
void vls_use_tell_snapshot(vls_use *use);

/* What `expect` of the command says, for ephemeral backpacks: there `current` was compared without
 * a lock. VALISE_NONE: anything. */
int64_t vls_use_expected(const vls_use *use);

/* A new backpack of the same kind that starts with the state that is shown. */
int vls_use_fork(valise_uuid *id, int64_t *seq, vls_use *use, valise_str name, valise_error *err);

static inline void vls_auto_use(vls_use *use)
{
    vls_use_end(use);
}

/* ---- fields that operations share ---- */

#define VLS_WHO_FIELDS_(args_type, node_flags)                                                     \
    VALISE_FIELD_AS_WITH(args_type, who.backpack, "backpack", STR,                                 \
                         VALISE_REQUIRED | VALISE_POSITIONAL, "Name of the backpack.", .min = 1,   \
                         .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),                        \
        VALISE_FIELD_AS_WITH(args_type, who.node, "node", STR, node_flags,                         \
                             "Act as this node, under its permissions.", .min = 1,                 \
                             .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),                        \
        VALISE_FIELD_AS(args_type, who.id, "backpackId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,    \
                        "The name must still be that of this backpack.")

/* These three first, in a struct that starts with a vls_who. */
#define VLS_WHO_FIELDS(args_type) VLS_WHO_FIELDS_(args_type, 0)

/* The same of what only the owner may: `node` is offered to nobody, and who gives it (the view of a
 * node does) is refused. */
#define VLS_OWNER_FIELDS(args_type) VLS_WHO_FIELDS_(args_type, VALISE_HIDDEN)

/* Nothing but these, for the owner. */
typedef struct vls_who_args {
    vls_who who;
} vls_who_args;
extern const valise_field vls_owner_in[];

/* Behind them, where something is written. */
#define VLS_LABEL_FIELDS(args_type)                                                                \
    VALISE_FIELD_AS_WITH(args_type, who.node_id, "nodeId", STR, VALISE_NULLABLE,                   \
                         "Record this node as the author, without acting under its permissions.",  \
                         .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),                            \
        VALISE_FIELD_AS_WITH(args_type, who.node_name, "nodeName", STR, VALISE_NULLABLE,           \
                             "Name of the node.", .max = VLS_BAG_NODE_MAX),                        \
        VALISE_FIELD_AS_WITH(                                                                      \
            args_type, who.run, "run", INT, 0,                                                     \
            "The run of the node that this belongs to: the number that `bp run` printed.",         \
            .max = INT64_MAX)

/* What the owner writes for a node that has read more than the owner knows: flows do. */
#define VLS_TAINTS_FIELD(args_type)                                                                \
    VALISE_FIELD_WITH(args_type, taints, LIST, VALISE_NULLABLE | VALISE_HIDDEN,                    \
                      "Sticky tags that the author has read, and where.", .more = &vls_taint_item, \
                      .max = VLS_BAG_TAGS_MAX)

#define VLS_VERSION_HELP "the version of the item, or null when there must be none"

#define VLS_POINT_FIELD(args_type, member)                                                         \
    VALISE_FIELD_WITH(                                                                             \
        args_type, member, STR, 0,                                                                 \
        "The state at this point: a seq, a time, a commit, before:NODE, after:NODE#2, or "         \
        "a checkpoint's name.",                                                                    \
        .max = VLS_POINT_MAX, .ref = VLS_REF_POINT)

/* The answer of whatever writes one commit. */
extern const valise_field vls_packed_fields[];

/* An item as operations show it. value: bytes NULL where it is not shown. */
typedef struct vls_item_out {
    valise_str key;
    valise_content value;
    valise_id value_id;
    int64_t value_size, version, time, seq;
    valise_str summary, node_id, node_name, namespace_name, reason;
    valise_str error; /* JSON; none: NULL */
    valise_list tags, read, write;
} vls_item_out;
extern const valise_field vls_item_out_fields[];
void vls_item_out_fill(vls_item_out *out, const valise_commit *commit, valise_str value);

/* A value as a member of arguments or of an answer; NULL: there is none. */
valise_content vls_use_content(valise_blob *value);

/* valise_view_emit of a row, and of a commit after vls_commit_out. */
int vls_use_emit_row(void *view, const void *row, valise_error *err);
int vls_use_emit_commit(void *view, const valise_commit *commit, valise_error *err);

/* Does it concern an ephemeral backpack of this handle? For valise_op.apart. */
bool vls_use_is_apart(valise *v, const void *args);

#endif
