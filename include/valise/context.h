/* valise/context.h -- what is known about files: the tree of a workspace, and frames about it.
 *
 *     valise_frames *known = NULL;
 *
 *     rc = valise_tree_scan(NULL, v, NULL, NULL, err);
 *     rc = valise_frame_put(NULL, v, "lib/date.c", text, NULL, NULL, err);
 *     rc = valise_head_get(&known, v, "lib/date.c", "notes", 0, NULL, err);    1: found; 0: none
 *     printf("%.*s", VALISE_STR_ARG(known->items[0]->content));
 *     valise_frames_free(known);
 *
 * A *node* is a file, a directory or a link of the tree. A *frame* is something that somebody said
 * about a node. A frame never changes; its id is the hash of its content, its type, its author and
 * what it is about. A node and a type make a *slot*, which holds frames; the current one is the
 * *head*.
 *
 * A node is given as a path from the root of the tree (any bytes; "." is the root itself), as its
 * id in 64 digits (valise_id_text), or as the first digits of its id, four or more.
 *
 * Each of these functions is an operation that takes structs in place of JSON, with the same
 * checks, log entries and events. `call` (valise/workspace.h) says who acts, which state to read,
 * how to recognise a retry, and who is told the progress; NULL: as the handle says.
 *
 * Results handed out through ** are one block each: everything a result points to is freed with it.
 * A result never changes, any thread may read it, and it may outlive the handle.
 *
 * Threads: many threads may call these functions on one handle. Results are immutable. */
#ifndef VALISE_CONTEXT_H
#define VALISE_CONTEXT_H

#include <stdbool.h>

#include <valise/blob.h>
#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- the tree ---- */

enum {
    VALISE_TREE_ADDED,
    VALISE_TREE_CHANGED,
    VALISE_TREE_REMOVED,
    VALISE_TREE_MOVED,     /* its frames move with it */
    VALISE_TREE_AMBIGUOUS, /* it may have moved, but there are several candidates */
    VALISE_TREE_ERROR,     /* it could not be read; the tree has it as unreadable */
};

typedef struct valise_tree_change {
    int kind; /* VALISE_TREE_... */
    valise_str path;
    valise_str from;   /* MOVED: the old path; else "" */
    valise_str reason; /* AMBIGUOUS, ERROR: why; else "" */
} valise_tree_change;

typedef int valise_tree_change_fn(void *arg, const valise_tree_change *change, valise_error *err);

enum { VALISE_TREE_SCAN_FORCE = 1 /* read every file, whatever its times say */ };

typedef struct valise_tree_scan_options {
    size_t size;
    unsigned flags;  /* VALISE_TREE_SCAN_... */
    valise_str path; /* only this path and everything below it; "": all */
    valise_str dir;  /* where the files are; "": the workspace's folder */
    /* Called after everything has been recorded, with the first 100 changes of each kind; or NULL.
     */
    valise_tree_change_fn *fn;
    void *arg;
} valise_tree_scan_options;

#define VALISE_TREE_SCAN_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(valise_tree_scan_options), 0, {NULL, 0}, {NULL, 0}, NULL, NULL                      \
    }

/* What a scan found, and the tree after it. */
typedef struct valise_tree_scanned {
    size_t size;
    valise_id old_tree_root, tree_root; /* zero: there is none */
    int64_t version;
    int64_t added, changed, removed;
    int64_t moved; /* of those added and removed */
    int64_t ambiguous, errors;
    int64_t hashed; /* files that were read */
    int64_t skipped, ignored;
    int64_t files, dirs, links, unreadable, bytes;
} valise_tree_scanned;

#define VALISE_TREE_SCANNED_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_tree_scanned), {{0}}, {{0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0     \
    }

/* Scan: look at the files and record what has changed, all of it or nothing. A scan that finds no
 * change writes nothing. call->progress is told how far the scan is, and can stop it:
 * VALISE_E_CANCELLED. VALISE_E_UNSUPPORTED: the workspace has no folder. VALISE_E_NO_MEMORY: there
 * was no memory for the answer; the changes may have been recorded. out and options may be NULL.
 * Operation tree:scan. */
VALISE_API int valise_tree_scan(valise_tree_scanned *out, valise *v,
                                const valise_tree_scan_options *options, const valise_call *call,
                                valise_error *err);

/* The root ids. Equal roots mean equal trees, and equal knowledge about them. */
typedef struct valise_roots {
    size_t size;
    valise_id tree;               /* zero: not scanned yet */
    valise_id context;            /* covers all heads */
    int64_t version;              /* of the tree; 0: not scanned yet */
    int64_t slots, heads, marked; /* slots; those with a head; those marked as invalid */
    int64_t frames;               /* in all slots */
} valise_roots;

#define VALISE_ROOTS_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_roots), {{0}}, {{0}}, 0, 0, 0, 0, 0                                          \
    }

/* Get the root ids and the counts; this costs two lookups. It requires permission to read the root
 * of the tree (context:read). */
VALISE_API int valise_roots_get(valise_roots *out, valise *v, const valise_call *call,
                                valise_error *err);

/* ---- putting ---- */

enum { VALISE_FRAME_NO_SCAN = 1 /* do not check whether the file has changed */ };

typedef struct valise_frame_options {
    size_t size;
    unsigned flags;            /* VALISE_FRAME_... */
    valise_str type;           /* a to z, 0 to 9, '.', '_', '-', at most 64; "": "notes" */
    valise_str media_type;     /* such as "text/markdown"; "": not given */
    valise_str metadata;       /* JSON; "": none */
    valise_str recipe;         /* how a program made it; ptr NULL: it was not made by a program */
    const valise_id *basis;    /* the earlier version of the node that it is about; then the head
                                  stays. NULL: the present one */
    const valise_id *frame_id; /* the id that the frame must get; NULL: any */
    /* The present head; zero: there must be none; NULL: any. The same as call->expect. */
    const valise_id *expect;
} valise_frame_options;

#define VALISE_FRAME_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_frame_options), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL, NULL,   \
            NULL                                                                                   \
    }

/* The result of a put. */
typedef struct valise_placed {
    size_t size;
    valise_id frame;
    valise_id previous_head; /* zero: there was none */
    valise_id node;
    int64_t seq; /* the log entry that put it into the slot or made it the head */
    valise_id frame_set_root, context_root;
    bool existed;      /* it was in the slot before */
    bool head;         /* it is the head now */
    int64_t ambiguous; /* how many paths may have moved, with several candidates */
} valise_placed;

#define VALISE_PLACED_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_placed), {{0}}, {{0}}, {{0}}, 0, {{0}}, {{0}}, false, false, 0               \
    }

/* Put a frame: say something about a node. The author is the actor. If node is a path, the file is
 * checked first, and a change of it is recorded in the same transaction. Putting what the head says
 * already changes nothing. VALISE_E_NOT_FOUND: there is no such node; VALISE_E_CONFLICT: the node
 * has changed since, or the head is not the expected one; VALISE_E_INVALID: the id would not be
 * frame_id. out and options may be NULL. Operation frame:put. */
VALISE_API int valise_frame_put(valise_placed *out, valise *v, const char *node, valise_str content,
                                const valise_frame_options *options, const valise_call *call,
                                valise_error *err);

/* ---- frames ---- */

enum { VALISE_FRAME_AUTHORED, VALISE_FRAME_DERIVED, VALISE_FRAME_EXTERNAL };

enum {
    VALISE_STATE_EMPTY,       /* there is no frame */
    VALISE_STATE_FRESH,       /* nothing it is based on has changed */
    VALISE_STATE_STALE,       /* something has; reasons says what */
    VALISE_STATE_INVALIDATED, /* somebody marked it as invalid */
    VALISE_STATE_ORPHANED,    /* nothing is at the path any more */
};

enum {
    VALISE_REASON_NODE_CHANGED,
    VALISE_REASON_CHILD_CHANGED,
    VALISE_REASON_CHILD_MISSING,
    VALISE_REASON_RECIPE_CHANGED,
};

typedef struct valise_frame_reason {
    int64_t reason;   /* VALISE_REASON_... */
    valise_str child; /* name of the child; ptr NULL: not about a child */
    valise_str type;  /* type of the child's slot */
    valise_str text;  /* the reason as a text for people, without the name */
} valise_frame_reason;

enum { VALISE_PART_NODE = 1, VALISE_PART_SAID, VALISE_PART_RECIPE };

/* One input that a frame was made from. */
typedef struct valise_frame_part {
    int64_t kind; /* VALISE_PART_... */
    valise_id id; /* object id of a node, a recipe or a content */

    /* SAID: a frame about a child of the directory. */
    valise_str name; /* of the child */
    valise_str type, agent;
    bool directory; /* the child is a directory */
} valise_frame_part;

/* A frame, and where it was found. */
typedef struct valise_frame {
    valise_id id;
    valise_str type, agent;  /* agent: its author */
    int64_t kind;            /* VALISE_FRAME_AUTHORED, ... */
    valise_id basis, recipe; /* recipe zero: none */
    int64_t bytes;           /* of the content */
    bool erased;             /* its content was erased */
    valise_str content;      /* any bytes; ptr NULL: erased, or not part of this answer */
    valise_list made_of;     /* valise_frame_get only: of const valise_frame_part *, in order */

    /* Where it is. All of these are zero for a frame that is in no slot. */
    valise_str path;
    int64_t state;       /* VALISE_STATE_... */
    valise_list reasons; /* STALE: of const valise_frame_reason * */
    bool head;           /* it is the head of the slot */
    int64_t seq, time;   /* of the log entry that put it there last */
    int64_t entry;       /* its number in the slot, from 1 */
    valise_uuid slot;
    bool closed;   /* the slot is closed: its node no longer exists */
    valise_str by; /* who put it there; ptr NULL: its author */
    valise_str media_type, metadata, regenerated_by; /* ptr NULL: none */
    valise_str moved_from;                           /* the slot's earlier path; ptr NULL: none */
} valise_frame;

enum { VALISE_NODE_FILE = 1, VALISE_NODE_DIR, VALISE_NODE_LINK, VALISE_NODE_UNREADABLE };

typedef struct valise_tree_child {
    valise_str name;
    int64_t kind; /* VALISE_NODE_... */
    valise_id node_id;
} valise_tree_child;

typedef struct valise_tree_node {
    valise_id node_id;   /* of this content at this path */
    valise_id object_id; /* of the content, whatever its path */
    valise_str path;
    int64_t kind; /* VALISE_NODE_... */
    int64_t size; /* in bytes; for a directory, the number of entries */
    bool exec;
    valise_str target;   /* LINK: where it points; else ptr NULL */
    valise_str parent;   /* path of its directory; ptr NULL: it is the root */
    valise_id parent_id; /* zero: it is the root */
    valise_id content;   /* FILE: SHA-256 of its bytes */
    /* DIR with at most 256 entries: of const valise_tree_child *; else items NULL. */
    valise_list children;
} valise_tree_node;

typedef struct valise_frames {
    const valise_frame *const *items;
    size_t count;
    int64_t seq; /* of the state that was read */
    /* The file differs from the tree, or the given node is of an earlier version. Always false from
     * valise_frame_get, which does not check. */
    bool outdated;
    int64_t total; /* valise_node_get: all frames of the node; valise_frame_get: all slots of the
                      frame */

    /* Only from valise_node_get; else NULL and zero. */
    const valise_tree_node *node;
    int64_t matched; /* frames that pass the filters of the view */
    int64_t version; /* of the tree */
    valise_id tree_root, context_root, view_hash;
    valise_id frame_set_root; /* covers all frames of the path */
} valise_frames;

/* Free frames; NULL is fine. */
VALISE_API void valise_frames_free(valise_frames *frames);

enum { VALISE_NODE_NO_SCAN = 1 /* do not check whether the file has changed */ };

/* Get the head of one type (or, with type NULL, the heads of all types, in the order of types),
 * with contents. 1: found. 0: nobody said anything, and *out is untouched. flags:
 * VALISE_NODE_NO_SCAN, which saves a look at the disk. VALISE_E_NOT_FOUND: there never was such a
 * node. Operation head:get. */
VALISE_API int valise_head_get(valise_frames **out, valise *v, const char *node, const char *type,
                               unsigned flags, const valise_call *call, valise_error *err);

/* List all frames about a node, of one type or (type NULL) of all, without their contents, the
 * newest first. flags: VALISE_NODE_NO_SCAN. Operation frame:list. */
VALISE_API int valise_frame_list(valise_frames **out, valise *v, const char *node, const char *type,
                                 unsigned flags, const valise_call *call, valise_error *err);

/* Get a frame by its id, with its content and the inputs it was made from. The answer has one item
 * for each slot that the frame is in (the first 64; `total` counts them all), or one item without a
 * path if it is in none. VALISE_E_NOT_FOUND. Operation frame:show. */
VALISE_API int valise_frame_get(valise_frames **out, valise *v, const valise_id *frame,
                                const valise_call *call, valise_error *err);

/* Get only the content of a frame. 1: *out is a new reference. 0: it was erased. Operation
 * frame:show. */
VALISE_API int valise_frame_content(valise_blob **out, valise *v, const valise_id *frame,
                                    const valise_call *call, valise_error *err);

typedef struct valise_node_options {
    size_t size;
    unsigned flags;  /* VALISE_NODE_NO_SCAN */
    valise_str tree; /* a root id, its first digits, or a version "v12"; "": the newest */
} valise_node_options;

#define VALISE_NODE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_node_options), 0,                                                            \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Get a node and the frames about it, with contents. view says which frames, how many and in which
 * order, such as "recency,max=10,type=summary"; or it is the name of a view in the configuration.
 * NULL: the heads, in the order of types, at most 100 (`valise help get-node`). options may be
 * NULL. VALISE_E_NOT_FOUND: there is no such node; VALISE_E_INVALID: names the part of the view
 * that is wrong. Operation node:get. */
VALISE_API int valise_node_get(valise_frames **out, valise *v, const char *node, const char *view,
                               const valise_node_options *options, const valise_call *call,
                               valise_error *err);

/* ---- proofs ---- */

/* Proof that a frame is in a slot, or is not, for somebody who knows nothing but a root that they
 * trust. */
typedef struct valise_proof {
    valise_id frame;
    bool member;    /* the frame is in the slot; else the proof says that it is not */
    valise_id root; /* covers the frames of the slot */
    valise_str proof;
    valise_id slot_key, slot_value; /* in the map of all heads; value zero: none */
    valise_id context_root;         /* of that map */
    valise_str context_proof;
} valise_proof;

/* Free a proof; NULL is fine. */
VALISE_API void valise_proof_free(valise_proof *proof);

/* Make a proof for a frame of a slot. type NULL: "notes"; frame NULL: the head. VALISE_E_NOT_FOUND:
 * there is no such slot. Operation frame:proof. */
VALISE_API int valise_frame_proof(valise_proof **out, valise *v, const char *node, const char *type,
                                  const valise_id *frame, const valise_call *call,
                                  valise_error *err);

/* Check a proof: what it says about a key (a frame, or slot_key) under a root that is trusted
 * (root, or context_root). 1: the key is there, and *value (may be NULL) is its value. 0: the key
 * is not there. VALISE_E_CORRUPT: it proves nothing. v may be open without a workspace (valise_open
 * with path NULL). Operation frame:verify. */
VALISE_API int valise_frame_verify(valise_id *value, valise *v, const valise_id *root,
                                   const valise_id *key, valise_str proof, valise_error *err);

/* ---- composition ---- */

/* How a node is related to the node that is composed for. */
enum {
    VALISE_RELATION_NODE, /* the node itself */
    VALISE_RELATION_PARENT,
    VALISE_RELATION_ANCESTOR,
    VALISE_RELATION_SIBLING,
    VALISE_RELATION_CHILD,
    VALISE_RELATION_RELATED, /* a node named in `related` */
};

/* How relevant a frame is: the sum of its parts, all integers. */
typedef struct valise_score {
    int64_t total;
    int64_t relation, type, agent, freshness, query;
} valise_score;

typedef struct valise_composed {
    valise_frame frame;
    int64_t relation; /* VALISE_RELATION_... */
    int64_t tokens;   /* of the content, estimated */
    valise_score score;
} valise_composed;

enum {
    VALISE_CUT_FRAMES, /* the number of frames was reached */
    VALISE_CUT_BYTES,  /* it did not fit into the bytes */
    VALISE_CUT_TOKENS,
    VALISE_CUT_ERASED,
    VALISE_CUT_DAMAGED,
};

/* A frame that was left out, and why. */
typedef struct valise_left_out {
    valise_str path, type;
    valise_id frame;
    int64_t reason; /* VALISE_CUT_... */
} valise_left_out;

typedef struct valise_composition {
    const valise_composed *const *items; /* the most important first */
    size_t count;
    int64_t bytes, tokens; /* of all contents */

    int64_t candidates; /* heads that the sources have */
    int64_t considered; /* those that pass the filters; at most the best 4,096 */
    /* Of const valise_left_out *: the first 100 of each, and the full counts. */
    valise_list cut, missing, corrupt;
    int64_t cut_count, missing_count, corrupt_count;

    valise_str path;
    valise_id node;
    valise_id tree_root, context_root, policy_hash;
    valise_str policy; /* its canonical text */
    int64_t seq;       /* of the state that was read */
    int64_t version;   /* of the tree */
    bool outdated; /* the file differs from the tree, or the given node is of an earlier version */
} valise_composition;

/* Free a composition; NULL is fine. */
VALISE_API void valise_composition_free(valise_composition *composition);

typedef struct valise_compose_options {
    size_t size;
    unsigned flags;            /* VALISE_NODE_NO_SCAN */
    const valise_str *related; /* further nodes */
    size_t related_count;
    /* What the composition is for; it replaces the query of the policy. "": as the policy says. */
    valise_str query;
} valise_compose_options;

#define VALISE_COMPOSE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_compose_options), 0, NULL, 0,                                                \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Compose: collect what is known about a node and the nodes around it. The answer has heads with
 * their contents, chosen, ordered and limited by a policy, such as
 * "relevance,sources=node+ancestors,max=10,query=date parsing"; or policy is the name of one in the
 * configuration. NULL: the default policy (`valise help compose`). Nothing is written. A frame that
 * was erased or is damaged is listed as left out; the function does not fail because of it. options
 * may be NULL. VALISE_E_NOT_FOUND: there is no such node; VALISE_E_INVALID: names the part of the
 * policy that is wrong; VALISE_E_DENIED: a related node may not be read. Operation node:compose. */
VALISE_API int valise_compose(valise_composition **out, valise *v, const char *node,
                              const char *policy, const valise_compose_options *options,
                              const valise_call *call, valise_error *err);

VALISE_END

#endif
