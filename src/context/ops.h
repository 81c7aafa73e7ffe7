/* ops.h -- arguments and answers of the operations.
 *
 * Threads: plain data. */
#ifndef VLS_CONTEXT_OPS_H
#define VLS_CONTEXT_OPS_H

#include <valise/sys/operation.h>

#include <valise/context.h>

#include "context/compose.h"
#include "context/place.h"
#include "context/shown.h"

#define VLS_FRAME_TYPE_USUAL "notes"

/* The first operand of almost all of them; member `node`. */
#define VLS_NODE_FIELD(args)                                                                       \
    VALISE_FIELD_WITH(args, node, PATH, VALISE_REQUIRED | VALISE_POSITIONAL,                       \
                      "Path of a file or directory, a node id or its first digits.",               \
                      .max = VLS_PATH_MAX, .ref = "tree.node")

typedef struct vls_frame_put_args {
    valise_str node;
    valise_content content;
    valise_str type;       /* ptr NULL: VLS_FRAME_TYPE_USUAL */
    valise_id frame_id;    /* zero: any */
    valise_str basis;      /* node id; ptr NULL: what lies there now */
    valise_content recipe; /* size VALISE_NONE: none */
    valise_str metadata, media_type;
    bool no_scan;
} vls_frame_put_args;

typedef struct vls_frame_put_result {
    valise_id frame_id;
    bool existed, head;
    valise_id previous_head;
    valise_str path, type;
    valise_id node_id;
    int64_t seq;
    valise_id frame_set_root, context_root;
    valise_list ambiguous; /* of const vls_tree_scan_problem * */
    int64_t ambiguous_count;
} vls_frame_put_result;

typedef struct vls_node_get_args {
    valise_str node, view, at;
    bool no_scan;
} vls_node_get_args;

typedef struct vls_node_get_meta {
    int64_t version; /* of the tree */
    valise_id frame_set_root;
    valise_str tree; /* see place.h */
    valise_str now;  /* of an earlier one: path of today's; ptr NULL: it is gone */
} vls_node_get_meta;

typedef struct vls_node_get_result {
    const valise_tree_node *node;
    valise_list frames; /* of const vls_shown * */
    int64_t total, matched, returned;
    valise_id tree_root, context_root, view_hash;
    const vls_node_get_meta *meta;
} vls_node_get_result;

typedef struct vls_node_compose_args {
    valise_str node, policy, query;
    valise_list related; /* of valise_str */
    bool explain, no_scan;
} vls_node_compose_args;

typedef struct vls_node_compose_meta {
    int64_t version; /* of the tree */
    valise_str tree; /* see place.h */
} vls_node_compose_meta;

typedef struct vls_node_compose_result {
    valise_str path;
    valise_id node_id;
    vls_composition known;
    int64_t returned;
    valise_id tree_root, context_root;
    valise_str policy; /* canonical */
    valise_id policy_hash;
    const vls_node_compose_meta *meta;
} vls_node_compose_result;

typedef struct vls_frame_show_args {
    valise_str frame; /* id, or its first digits */
    bool no_scan;
} vls_frame_show_args;

typedef struct vls_frame_show_result {
    valise_id frame_id;
    valise_str type, agent;
    int64_t kind;
    valise_id basis, recipe;
    valise_list made_of; /* of const valise_frame_part * */
    int64_t size;
    bool erased;
    valise_str text, data;
    valise_list slots; /* of const vls_shown * */
    int64_t slot_count;
} vls_frame_show_result;

typedef struct vls_frame_proof_args {
    valise_str node, type;
    valise_str frame; /* id, or its first digits; ptr NULL: the head */
    bool no_scan;
} vls_frame_proof_args;

typedef struct vls_frame_proof_meta {
    valise_str tree; /* see place.h */
} vls_frame_proof_meta;

typedef struct vls_frame_proof_result {
    valise_id frame_id;
    bool member;
    valise_id root;
    valise_str proof;
    valise_id slot_key, slot_value, context_root;
    valise_str context_proof;
    const vls_frame_proof_meta *meta;
} vls_frame_proof_result;

typedef struct vls_frame_verify_args {
    valise_id root, key;
    valise_str proof;
} vls_frame_verify_args;

typedef struct vls_frame_verify_result {
    bool member;
    valise_id value;
} vls_frame_verify_result;

extern const valise_op vls_op_context_frame_put, vls_op_context_head_get, vls_op_context_frame_list,
    vls_op_context_node_compose, vls_op_context_node_get, vls_op_context_frame_show,
    vls_op_context_frame_proof, vls_op_context_frame_verify;

#define VLS_SLOT_MOVES_MAX 1000000u

typedef struct vls_slot_move_args {
    valise_list moves; /* of const vls_slot_move * */
} vls_slot_move_args;

extern const valise_op vls_op_context_slot_move;

/* ---- marks ---- */

typedef struct vls_slot_invalidate_args {
    valise_str node, type, reason;
    bool recursive, no_scan;
} vls_slot_invalidate_args;

typedef struct vls_slot_invalidate_result {
    int64_t marked, already;
    valise_id context_root;
    valise_str tree; /* see VLS_TREE_IS_FIELD */
} vls_slot_invalidate_result;

typedef struct vls_slot_reaffirm_args {
    valise_str node, type;
    bool no_scan;
} vls_slot_reaffirm_args;

typedef struct vls_slot_reaffirm_result {
    valise_id frame_id, previous_head;
    bool changed;
    valise_str path, type;
    valise_id context_root;
} vls_slot_reaffirm_result;

extern const valise_op vls_op_context_slot_invalidate, vls_op_context_slot_reaffirm;

/* ---- runs ---- */

typedef struct vls_frame_store_args {
    valise_str type, agent;
    valise_content recipe, basis, content;
} vls_frame_store_args;

typedef struct vls_slot_head {
    valise_str path, type;
    valise_id frame;
    valise_id head; /* it replaces; zero: none */
    valise_str by;  /* who had it made again; ptr NULL: its author */
} vls_slot_head;

typedef struct vls_slot_look {
    valise_str path, type;
    bool known;
} vls_slot_look;

typedef struct vls_slot_advance_args {
    int64_t version; /* VALISE_NONE: any */
    valise_id root;
    bool check;
    valise_list heads; /* of const vls_slot_head * */
    valise_list looks; /* of const vls_slot_look * */
    bool all;
} vls_slot_advance_args;

extern const valise_op vls_op_context_frame_store, vls_op_context_slot_advance;

typedef struct vls_slot_mark_args {
    valise_str path;                 /* what lies under it */
    valise_str from_path, from_type; /* the first slot */
    int64_t count;
    valise_str type;   /* ptr NULL: all */
    valise_str reason; /* ptr NULL: none */
} vls_slot_mark_args;

extern const valise_op vls_op_context_slot_mark;

/* Has it a head that no mark is on, and is it of this type (ptr NULL: any)? */
bool vls_slot_is_markable(const vls_slot_row *slot, valise_str type);

/* The text that has a name in the configuration: what.NAME.spec, in the view's memory. ptr NULL: it
 * is no name, or that of nothing. */
int vls_context_named(valise_str *out, valise_view *view, const char *what, valise_str given,
                      valise_error *err);

/* How many bytes the content of a frame may have, by the configuration. */
int vls_context_frame_max(int64_t *out, valise_view *view, valise_error *err);

#endif
