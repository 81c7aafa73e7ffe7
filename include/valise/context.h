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
 * about one: it never changes, and its id is made of what it says, its type, who says it and what
 * it was about. A node and a type are a *slot*: its frames, of which the one that counts is the
 * *head*.
 *
 * A node is given as a path from the root of the tree (any bytes; "." is the root itself), as its
 * id in 64 digits (valise_id_text), or as the first of them, four or more.
 *
 * Each of these functions is an operation, called with structs in place of JSON: the same checks,
 * the same log, the same events. `call` (valise/workspace.h) says who acts, as of which state
 * one looks, what must not be done twice, who hears of progress; NULL: as the handle says.
 *
 * What is handed out with ** is one block: everything it points to goes with it. It does not change
 * any more, can be read by any thread, and may outlive the handle it came from.
 *
 * Threads: all functions may be called on one handle by many threads. Results are immutable. */
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
    VALISE_TREE_MOVED,     /* what was said about it stays with it */
    VALISE_TREE_AMBIGUOUS, /* it may have moved, but to or from more than one place */
    VALISE_TREE_ERROR,     /* it could not be read, and stands in the tree as unreadable */
};

typedef struct valise_tree_change {
    int kind; /* VALISE_TREE_... */
    valise_str path;
    valise_str from;   /* MOVED: where it was; else "" */
    valise_str reason; /* AMBIGUOUS, ERROR: why; else "" */
} valise_tree_change;

typedef int valise_tree_change_fn(void *arg, const valise_tree_change *change, valise_error *err);

enum { VALISE_TREE_SCAN_FORCE = 1 /* read every file, whatever its times say */ };

typedef struct valise_tree_scan_options {
    size_t size;
    unsigned flags;            /* VALISE_TREE_SCAN_... */
    valise_str path;           /* only this one and what is under it; "": all */
    valise_str dir;            /* folder of the tree; "": that of the workspace */
    valise_tree_change_fn *fn; /* once all is recorded: gets the first 100 that were added, changed
                                  or removed, that moved, are ambiguous, are errors; or NULL */
    void *arg;
} valise_tree_scan_options;

#define VALISE_TREE_SCAN_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(valise_tree_scan_options), 0, {NULL, 0}, {NULL, 0}, NULL, NULL                      \
    }

/* What a scan found, and what the tree is now. */
typedef struct valise_tree_scanned {
    size_t size;
    valise_id old_root, root; /* zero: there is none */
    int64_t version;
    int64_t added, changed, removed;
    int64_t moved; /* of those that were added and removed */
    int64_t ambiguous, errors;
    int64_t hashed; /* files that were read */
    int64_t skipped, ignored;
    int64_t files, dirs, links, unreadable, bytes;
} valise_tree_scanned;

#define VALISE_TREE_SCANNED_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_tree_scanned), {{0}}, {{0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0     \
    }

/* Look at the files and record what is different: all of it at once, or nothing. A scan that finds
 * nothing new writes nothing. call->progress hears how far it is, and can stop it:
 * VALISE_E_CANCELLED. VALISE_E_UNSUPPORTED where the workspace has no folder. out and options may
 * be NULL. Where memory for the answer is missing (VALISE_E_NO_MEMORY) it may have been recorded.
 * tree:scan */
VALISE_API int valise_tree_scan(valise_tree_scanned *out, valise *v,
                                const valise_tree_scan_options *options, const valise_call *call,
                                valise_error *err);

/* What names all there is: equal roots, equal trees and equal knowledge. */
typedef struct valise_roots {
    size_t size;
    valise_id tree;               /* zero: nothing was scanned yet */
    valise_id context;            /* of all heads */
    int64_t version;              /* of the tree; 0: nothing was scanned yet */
    int64_t slots, heads, marked; /* how many there are, have a head, were invalidated */
    int64_t frames;               /* in all slots */
} valise_roots;

#define VALISE_ROOTS_INIT                                                                          \
    {                                                                                              \
        sizeof(valise_roots), {{0}}, {{0}}, 0, 0, 0, 0, 0                                          \
    }

/* Two lookups. Who may read the root of the tree (context:read) may ask. */
VALISE_API int valise_roots_get(valise_roots *out, valise *v, const valise_call *call,
                                valise_error *err);

/* ---- putting ---- */

enum { VALISE_FRAME_NO_SCAN = 1 /* do not look whether the file has changed */ };

typedef struct valise_frame_options {
    size_t size;
    unsigned flags;            /* VALISE_FRAME_... */
    valise_str type;           /* a to z, 0 to 9, '.', '_', '-', at most 64; "": "notes" */
    valise_str media_type;     /* such as "text/markdown"; "": not told */
    valise_str metadata;       /* JSON; "": none */
    valise_str recipe;         /* how a program made it; ptr NULL: nobody's program did */
    const valise_id *basis;    /* an earlier version of the node that it is about: the head stays */
    const valise_id *frame_id; /* the id that it must turn out to have; NULL: any */
    const valise_id
        *expect; /* the head now, zero: there must be none; NULL: any. Or call->expect */
} valise_frame_options;

#define VALISE_FRAME_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_frame_options), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL, NULL,   \
            NULL                                                                                   \
    }

/* What became of a put. */
typedef struct valise_placed {
    size_t size;
    valise_id frame;
    valise_id previous_head; /* zero: there was none */
    valise_id node;
    int64_t seq; /* of the log, when the frame came into the slot or became its head */
    valise_id frame_set_root, context_root;
    bool existed;      /* it was in the slot before */
    bool head;         /* it is the head now */
    int64_t ambiguous; /* what the look saw that may have moved, to or from more than one place */
} valise_placed;

#define VALISE_PLACED_INIT                                                                         \
    {                                                                                              \
        sizeof(valise_placed), {{0}}, {{0}}, {{0}}, 0, {{0}}, {{0}}, false, false, 0               \
    }

/* Say something about a node; the author is who acts. A path is looked at first, and what is
 * different there is recorded in the same transaction. Saying what the head says already changes
 * nothing. VALISE_E_NOT_FOUND: there is no such node; VALISE_E_CONFLICT: the node is another one by
 * now, or the head is not what was expected; VALISE_E_INVALID: the id would not be frame_id. out
 * and options may be NULL. frame:put */
VALISE_API int valise_frame_put(valise_placed *out, valise *v, const char *node, valise_str content,
                                const valise_frame_options *options, const valise_call *call,
                                valise_error *err);

/* ---- frames ---- */

enum { VALISE_FRAME_AUTHORED, VALISE_FRAME_DERIVED, VALISE_FRAME_EXTERNAL };

enum {
    VALISE_STATE_EMPTY,       /* (there is no frame) */
    VALISE_STATE_FRESH,       /* what it was made of is what is there */
    VALISE_STATE_STALE,       /* it is not; reasons says why */
    VALISE_STATE_INVALIDATED, /* somebody marked it */
    VALISE_STATE_ORPHANED,    /* there is nothing at the path any more */
};

enum {
    VALISE_REASON_NODE_CHANGED,
    VALISE_REASON_CHILD_CHANGED,
    VALISE_REASON_CHILD_MISSING,
    VALISE_REASON_RECIPE_CHANGED,
};

typedef struct valise_frame_reason {
    int64_t reason;   /* VALISE_REASON_... */
    valise_str child; /* its name; ptr NULL: it is about no child */
    valise_str type;  /* of the child's slot */
    valise_str text;  /* the same for people, without the name */
} valise_frame_reason;

enum { VALISE_PART_NODE = 1, VALISE_PART_SAID, VALISE_PART_RECIPE };

/* Something that a frame was made of. */
typedef struct valise_frame_part {
    int64_t kind; /* VALISE_PART_... */
    valise_id id; /* object id of a node, of a recipe, of a content */

    /* SAID: what was said about something in the directory */
    valise_str name; /* of the child */
    valise_str type, agent;
    bool directory; /* the child is one */
} valise_frame_part;

/* A frame, and how it came to lie where it was found. */
typedef struct valise_frame {
    valise_id id;
    valise_str type, agent;  /* agent: its author */
    int64_t kind;            /* VALISE_FRAME_AUTHORED, ... */
    valise_id basis, recipe; /* recipe: zero: none */
    int64_t bytes;           /* of the content */
    bool erased;             /* nobody has the content any more */
    valise_str content;      /* any bytes; ptr NULL: erased, or not in this list */
    valise_list made_of;     /* valise_frame_get: of const valise_frame_part *, in order */

    /* Where it is. All of this is zero for a frame that is in no slot. */
    valise_str path;
    int64_t state;       /* VALISE_STATE_... */
    valise_list reasons; /* STALE: of const valise_frame_reason * */
    bool head;           /* of its slot */
    int64_t seq, time;   /* of the log, when it came there, or was put there again */
    int64_t entry;       /* the slot's, counted from 1 */
    valise_uuid slot;
    bool closed;   /* the slot was: what it was about is not there any more */
    valise_str by; /* who put it there; ptr NULL: its author */
    valise_str media_type, metadata, regenerated_by; /* ptr NULL: none */
    valise_str moved_from;                           /* where the slot lay before; ptr NULL */
} valise_frame;

enum { VALISE_NODE_FILE = 1, VALISE_NODE_DIR, VALISE_NODE_LINK, VALISE_NODE_UNREADABLE };

typedef struct valise_tree_child {
    valise_str name;
    int64_t kind; /* VALISE_NODE_... */
    valise_id node_id;
} valise_tree_child;

typedef struct valise_tree_node {
    valise_id node_id;   /* of it at this path */
    valise_id object_id; /* of what it is, wherever it lies */
    valise_str path;
    int64_t kind; /* VALISE_NODE_... */
    int64_t size; /* bytes; of a directory: entries */
    bool exec;
    valise_str target;    /* LINK; ptr NULL */
    valise_str parent;    /* path; ptr NULL: it is the root */
    valise_id parent_id;  /* zero: it is the root */
    valise_id content;    /* FILE: SHA-256 of its bytes */
    valise_list children; /* DIR with up to 256 entries: of const valise_tree_child *; items NULL */
} valise_tree_node;

typedef struct valise_frames {
    const valise_frame *const *items;
    size_t count;
    int64_t seq; /* of the state that was seen */
    /* The file is not what the tree says, or the node that was given is of an earlier version.
     * valise_frame_get does not look. */
    bool outdated;
    int64_t total; /* valise_node_get: frames there are; valise_frame_get: slots */

    /* valise_node_get; else NULL and zero. */
    const valise_tree_node *node;
    int64_t matched; /* frames that pass the view's filters */
    int64_t version; /* of the tree */
    valise_id tree_root, context_root, view_hash;
    valise_id frame_set_root; /* of all frames of the path */
} valise_frames;

VALISE_API void valise_frames_free(valise_frames *frames); /* NULL is fine */

enum { VALISE_NODE_NO_SCAN = 1 /* do not look whether the file has changed */ };

/* What counts, with its content: the head of one type, or (type NULL) of each, by type. 1; or 0,
 * and *out is untouched: nobody said anything. flags: VALISE_NODE_NO_SCAN, which saves a look at
 * the disk. VALISE_E_NOT_FOUND: there never was such a node. head:get */
VALISE_API int valise_head_get(valise_frames **out, valise *v, const char *node, const char *type,
                               unsigned flags, const valise_call *call, valise_error *err);

/* All frames about a node without their contents, the newest first. type NULL: of any. flags: as
 * above. frame:list */
VALISE_API int valise_frame_list(valise_frames **out, valise *v, const char *node, const char *type,
                                 unsigned flags, const valise_call *call, valise_error *err);

/* One frame by its id, with its content and what it was made of: an item for each slot that it is
 * in (the first 64; `total` counts them all), or one without a path where it is in none.
 * VALISE_E_NOT_FOUND. frame:show */
VALISE_API int valise_frame_get(valise_frames **out, valise *v, const valise_id *frame,
                                const valise_call *call, valise_error *err);

/* What it says and nothing else: 1 and a new reference, or 0 when it was erased. frame:show */
VALISE_API int valise_frame_content(valise_blob **out, valise *v, const valise_id *frame,
                                    const valise_call *call, valise_error *err);

typedef struct valise_node_options {
    size_t size;
    unsigned flags;  /* VALISE_NODE_NO_SCAN */
    valise_str tree; /* a root, its first digits, or a version "v12"; "": the newest */
} valise_node_options;

#define VALISE_NODE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_node_options), 0,                                                            \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* A node and what is known about it, with contents. view: which frames, how many, in which order,
 * "recency,max=10,type=summary", or the name of such a one in the configuration; NULL: the heads,
 * by type, at most 100 (`valise help get-node`). options may be NULL. VALISE_E_NOT_FOUND: there is
 * no such node; VALISE_E_INVALID names the part of a view that is wrong. node:get */
VALISE_API int valise_node_get(valise_frames **out, valise *v, const char *node, const char *view,
                               const valise_node_options *options, const valise_call *call,
                               valise_error *err);

/* ---- proofs ---- */

/* That a frame is in a slot, for who trusts a root and has nothing else. */
typedef struct valise_proof {
    valise_id frame;
    bool member;    /* it is in the slot; else the proof says that it is not */
    valise_id root; /* of the slot's frames */
    valise_str proof;
    valise_id slot_key, slot_value; /* in the map of all heads; value zero: none */
    valise_id context_root;         /* of that map */
    valise_str context_proof;
} valise_proof;

VALISE_API void valise_proof_free(valise_proof *proof); /* NULL is fine */

/* type NULL: "notes"; frame NULL: the head. VALISE_E_NOT_FOUND: there is no such slot. frame:proof
 */
VALISE_API int valise_frame_proof(valise_proof **out, valise *v, const char *node, const char *type,
                                  const valise_id *frame, const valise_call *call,
                                  valise_error *err);

/* What a proof says about a key (a frame, or slot_key) under a root that is trusted (root, or
 * context_root): 1 and its value, or 0: it is not there. VALISE_E_CORRUPT: it proves nothing. v may
 * be open without a workspace (valise_open with NULL). value may be NULL. frame:verify */
VALISE_API int valise_frame_verify(valise_id *value, valise *v, const valise_id *root,
                                   const valise_id *key, valise_str proof, valise_error *err);

/* ---- composition ---- */

/* What a node is to the one that is composed for. */
enum {
    VALISE_RELATION_NODE, /* it is that one */
    VALISE_RELATION_PARENT,
    VALISE_RELATION_ANCESTOR,
    VALISE_RELATION_SIBLING,
    VALISE_RELATION_CHILD,
    VALISE_RELATION_RELATED, /* it was named */
};

/* How relevant a frame is: the sum of its parts, each of which is an integer. */
typedef struct valise_score {
    int64_t total;
    int64_t relation, type, agent, freshness, query;
} valise_score;

typedef struct valise_composed {
    valise_frame frame;
    int64_t relation; /* VALISE_RELATION_... */
    int64_t tokens;   /* of the content, roughly */
    valise_score score;
} valise_composed;

enum {
    VALISE_CUT_FRAMES, /* there are as many as there may be */
    VALISE_CUT_BYTES,  /* it did not fit any more */
    VALISE_CUT_TOKENS,
    VALISE_CUT_ERASED,
    VALISE_CUT_DAMAGED,
};

/* A frame that would have been in it. */
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
    int64_t considered; /* of these, those that pass the filters; the best 4,096 of them */
    /* Of const valise_left_out *: the first 100 of each, and how many there are. */
    valise_list cut, missing, corrupt;
    int64_t cut_count, missing_count, corrupt_count;

    valise_str path;
    valise_id node;
    valise_id tree_root, context_root, policy_hash;
    valise_str policy; /* its canonical text */
    int64_t seq;       /* of the state that was seen */
    int64_t version;   /* of the tree */
    bool outdated; /* the file is not what the tree says, or the node is of an earlier version */
} valise_composition;

VALISE_API void valise_composition_free(valise_composition *composition); /* NULL is fine */

typedef struct valise_compose_options {
    size_t size;
    unsigned flags;             /* VALISE_NODE_NO_SCAN */
    const char *const *related; /* further nodes, NULL-ended; or NULL */
    valise_str query;           /* what it is for, in place of what the policy says; "": nothing */
} valise_compose_options;

#define VALISE_COMPOSE_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_compose_options), 0, NULL,                                                   \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* What is known about a node and about those around it: heads with their contents, chosen, ordered
 * and limited by a policy, "relevance,sources=node+ancestors,max=10,query=date parsing", or the
 * name of such a one in the configuration; NULL: the usual (`valise help compose`). Nothing is
 * written. A frame that was erased or is damaged is listed, and no reason to fail. options may be
 * NULL. VALISE_E_NOT_FOUND: there is no such node; VALISE_E_INVALID names the part of a policy that
 * is wrong; VALISE_E_DENIED: a related node may not be read. node:compose */
VALISE_API int valise_compose(valise_composition **out, valise *v, const char *node,
                              const char *policy, const valise_compose_options *options,
                              const valise_call *call, valise_error *err);

VALISE_END

#endif
