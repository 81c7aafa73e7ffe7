/* rows.h -- the rows that conversations are made of. docs/architecture.md, "Conversations", says
 * why.
 *
 *     session               one conversation: where its head is
 *     session_tip           a leaf that the head of a session was moved away from
 *     turn       IMMUTABLE  one version of one turn: what was said
 *     turn_edge             an edge that the lanes do not show
 *     turn_node             the last version number of a turn whose newest row is gone
 *     turn_loose            a version that nobody refers to and that could not go yet
 *
 * Order. Each version knows its depth (first parents up to the root) and, besides its first parent,
 * one ancestor further up, `jump`, so that any ancestor is found in O(log depth) reads (graph.h);
 * and the nearest merge at or above it. These follow from its ancestors alone: they are the same in
 * every workspace that has it.
 *
 * Lanes say where to look. A version continues the lane of its first parent, if nobody did when it
 * was added, else it begins one: a path is mostly one range of the index (lane, depth). They decide
 * nothing: where two copies of a workspace went on and met again, two versions may stand at one
 * (lane, depth).
 *
 * Edges. A version whose first parent lies in another lane has an edge with position 0; each
 * further parent of a merge is an edge with its position. So the children of a version are those
 * next in its lane whose parent it is, and its edges.
 *
 * A version is needed by its children, by heads, by tips and by pins. All of these are found by
 * index: nothing is counted in rows, and nothing can be counted wrong.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_CHAT_ROWS_H
#define VLS_CHAT_ROWS_H

#include <valise/sys/turn.h>
#include <valise/sys/view.h>

#include "base/str.h"
#include "base/uuid.h"
#include "memory/rows.h"

#define VLS_SESSION_LABEL_MAX 256
#define VLS_TURN_PARENTS_MAX 64
#define VLS_TURN_REF_MAX 256 /* bytes of what people write for a turn or a session */
#define VLS_SWEEP_MAX 1000   /* versions that one command removes */

/* What completes arguments on a command line (valise_field.ref). */
#define VLS_REF_SESSION "session:list.id"
#define VLS_REF_TURN "turn:log.ref" /* of answers: people see the end of it */

enum {
    VLS_TURN_USER = VALISE_TURN_USER,
    VLS_TURN_ASSISTANT = VALISE_TURN_ASSISTANT,
    VLS_TURN_SYSTEM = VALISE_TURN_SYSTEM,
    VLS_TURN_TOOL = VALISE_TURN_TOOL,
};
extern const char *const vls_turn_roles[]; /* "user", "assistant", "system", "tool", NULL */

/* Extensions see these (valise/sys/turn.h). */
typedef valise_turn_ref vls_turn_ref;
typedef valise_turn_place vls_turn_place;
typedef valise_turn_row vls_turn_row;

static inline bool vls_turn_ref_equal(const vls_turn_ref *a, const vls_turn_ref *b)
{
    return a->version == b->version && vls_uuid_equal(&a->id, &b->id);
}

static inline bool vls_turn_place_equal(const vls_turn_place *a, const vls_turn_place *b)
{
    return a->depth == b->depth && vls_uuid_equal(&a->lane, &b->lane);
}

/* For qsort and bsearch, of vls_turn_ref: by id, then by version. */
int vls_turn_ref_compare(const void *a, const void *b);

/* For maps of refs, or of structs that begin with one: is the item's the key? */
bool vls_turn_ref_is(const void *item, const void *key);

typedef struct vls_session_row {
    valise_uuid id;
    valise_str label;        /* NULLABLE CONTENT; need not be unique */
    valise_str role;         /* in force; NULLABLE: none */
    valise_str first_role;   /* where no role:transition is on the path; NULLABLE */
    valise_list topics;      /* of valise_str, sorted, each once */
    vls_turn_ref head;       /* version 0: nothing was said yet */
    vls_turn_place place;    /* of the head */
    valise_id metadata;      /* a value; NULLABLE CONTENT */
    valise_uuid forked_from; /* a session, which may be gone; NULLABLE */
    valise_id source;        /* what an import had besides turns (data); NULLABLE CONTENT */
    int64_t created, updated;
    valise_str actor; /* who made it */
} vls_session_row;

typedef struct vls_tip_row {
    valise_uuid session;
    vls_turn_ref turn;
    vls_turn_place place;
    int64_t time; /* when the head was moved away */
} vls_tip_row;

enum { VLS_TURN_DEPTH = 8 }; /* the column of a turn, for who reads cells */

typedef struct vls_edge_row {
    vls_turn_ref parent, child;  /* the key */
    int64_t position;            /* among the parents of the child; 0: the first */
    vls_turn_place above, below; /* of parent and child */
} vls_edge_row;

typedef struct vls_node_row {
    valise_uuid id;
    int64_t last;
} vls_node_row;

typedef struct vls_loose_row {
    vls_turn_ref ref;
} vls_loose_row;

/*     session        index label (label), role (role), head (headLane, headDepth)
 *     session_tip    index lane (lane, depth)
 *     turn           index lane (lane, depth)
 *     turn_edge      index above (aboveLane, aboveDepth), child (child, childVersion, position) */
extern const valise_coll vls_sessions, vls_tips, vls_edges, vls_nodes, vls_loose;
#define vls_turns valise_turns /* which extensions can name */

/* The hash of what a version says: of its role and of the id of its blocks (docs/formats.md,
 * "Turns"). */
void vls_turn_hash(valise_id *out, int64_t role, const valise_id *blocks);

/* The hash of a range of turns, as a summary covers it: of their content hashes in the order of the
 * path; a zero one: it was erased. */
void vls_covers_hash(valise_id *out, const valise_id *content, size_t count);

/* "018f...@2" */
typedef struct vls_turn_ref_text {
    char s[VALISE_TURN_REF_TEXT];
} vls_turn_ref_text;
vls_turn_ref_text vls_turn_ref_write(const vls_turn_ref *ref);

/* The same back; false leaves *out untouched. */
bool vls_turn_ref_read(vls_turn_ref *out, valise_str text);

#endif
