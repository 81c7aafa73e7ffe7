/* ops.h -- arguments and answers of the operations.
 *
 * Threads: plain data. */
#ifndef VLS_CONTEXT_OPS_H
#define VLS_CONTEXT_OPS_H

#include <valise/sys/operation.h>

#include <valise/context.h>

#include "context/place.h"
#include "context/shown.h"

#define VLS_FRAME_TYPE_USUAL "notes"

/* The first operand of almost all of them; member `node`. */
#define VLS_NODE_FIELD(args)                                                                       \
    VALISE_FIELD_WITH(args, node, PATH, VALISE_REQUIRED | VALISE_POSITIONAL,                       \
                      "Path of a file or directory, a node id, or its first digits.",              \
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
    vls_op_context_node_get, vls_op_context_frame_show, vls_op_context_frame_proof,
    vls_op_context_frame_verify;

#define VLS_SLOT_MOVES_MAX 1000000u

typedef struct vls_slot_move_args {
    valise_list moves; /* of const vls_slot_move * */
} vls_slot_move_args;

extern const valise_op vls_op_context_slot_move;

/* What the configuration says under a name, in the view's memory; the last value where there are
 * several. ptr NULL: nothing. */
int vls_context_setting(valise_str *out, valise_view *view, const char *name, valise_error *err);

/* How many bytes the content of a frame may have, by the configuration. */
int vls_context_frame_max(int64_t *out, valise_view *view, valise_error *err);

#endif
