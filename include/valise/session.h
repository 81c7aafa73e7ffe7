/* valise/session.h -- conversations: sessions and turns. [W15]
 *
 *     valise_uuid id;
 *     char session[VALISE_UUID_TEXT];
 *     valise_turn_options turn = VALISE_TURN_OPTIONS_INIT;
 *
 *     rc = valise_session_create(&id, v, NULL, NULL, err);
 *     valise_uuid_text(session, &id);
 *     turn.role = VALISE_TURN_USER;
 *     turn.text = valise_str_of("Where is my parcel?");
 *     rc = valise_turn_add(NULL, v, session, &turn, NULL, err);
 *     rc = valise_transcript(v, session, NULL, print, NULL, NULL, err);
 *
 * A *turn version* is something that was said: role, blocks and parents. It never changes. All
 * versions together form one graph; a *session* points at one of them, its *head*.
 * docs/architecture.md, "Conversations", has a picture.
 *
 * A session is given as its id, the end of its id (four digits or more), or its label; a turn as
 * ID@VERSION, ID, the end of an id, HEAD or HEAD~2.
 *
 * Each of these functions is an operation that takes structs in place of JSON, with the same
 * checks, log entries and events. `call` (valise/workspace.h) says who acts, what is expected, and
 * which state to read; NULL: as the handle says.
 *
 * Results handed out through ** are one block each: everything a result points to is freed with it.
 * It may outlive the handle.
 *
 * Threads: many threads may call these functions on one handle. Results are immutable. */
#ifndef VALISE_SESSION_H
#define VALISE_SESSION_H

#include <stdbool.h>

#include <valise/error.h>
#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- sessions ---- */

typedef struct valise_session {
    valise_uuid id;
    valise_str label, role;   /* ptr NULL: none */
    const valise_str *topics; /* in order */
    size_t topic_count;
    valise_str head; /* ID@VERSION; ptr NULL: there are no turns yet */
    int64_t turns;   /* from the first turn to the head, by first parents */
    int64_t created, updated;
} valise_session;

/* Members that are empty are not given. */
typedef struct valise_session_options {
    size_t size;
    const valise_uuid *id; /* NULL: a new one */
    valise_str label, role;
    const valise_str *topics;
    size_t topic_count;
    valise_str metadata; /* JSON; not for a fork, which has the metadata of its origin */
} valise_session_options;

#define VALISE_SESSION_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_session_options), NULL, {NULL, 0}, {NULL, 0}, NULL, 0,                       \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Create a session. *out (may be NULL): its id. Operation session:create. */
VALISE_API int valise_session_create(valise_uuid *out, valise *v,
                                     const valise_session_options *options, const valise_call *call,
                                     valise_error *err);

/* Find a session and get what is known about it; this opens nothing. VALISE_E_NOT_FOUND;
 * VALISE_E_CONFLICT: several sessions match. Operation session:show. */
VALISE_API int valise_session_open(valise_session **out, valise *v, const char *session,
                                   const valise_call *call, valise_error *err);
/* Free a session; NULL is fine. */
VALISE_API void valise_session_free(valise_session *session);

/* List the sessions, the newest first. Operation session:list. */
typedef int valise_session_fn(void *arg, const valise_session *session, valise_error *err);
VALISE_API int valise_session_list(valise *v, valise_session_fn *fn, void *arg,
                                   const valise_call *call, valise_error *err);

/* Make a new session whose head is a turn of this one (NULL: its head). It shares all turns up to
 * there; the cost does not depend on how many there are. *out (may be NULL): its id. Operation
 * session:fork. */
VALISE_API int valise_session_fork(valise_uuid *out, valise *v, const char *session,
                                   const char *turn, const valise_session_options *options,
                                   const valise_call *call, valise_error *err);

/* Delete a session, and the turns that no other session has. Operation session:delete. */
VALISE_API int valise_session_delete(valise *v, const char *session, const valise_call *call,
                                     valise_error *err);

/* ---- turns ---- */

enum { VALISE_TURN_USER, VALISE_TURN_ASSISTANT, VALISE_TURN_SYSTEM, VALISE_TURN_TOOL };

enum {
    VALISE_TURN_HIDDEN = 1,  /* not shown to people unless they ask */
    VALISE_TURN_NOPROMPT = 2 /* not shown to models */
};

/* What is said: blocks, or a text that becomes one block. */
typedef struct valise_turn_options {
    size_t size;
    int role;              /* VALISE_TURN_... */
    unsigned flags;        /* VALISE_TURN_HIDDEN, ... */
    valise_str text;       /* ptr NULL: see blocks */
    valise_str blocks;     /* a JSON array (docs/formats.md, "Turns"); ptr NULL: see text */
    valise_str metadata;   /* JSON; ptr NULL: none */
    const valise_uuid *id; /* NULL: a new one. Not for an edit */
} valise_turn_options;

#define VALISE_TURN_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_turn_options), 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL                   \
    }

/* The version that is now the head of the session. */
typedef struct valise_turn_done {
    size_t size;
    valise_uuid turn;
    int64_t version;
    valise_id content_hash; /* zero: it was erased */
} valise_turn_done;

#define VALISE_TURN_DONE_INIT                                                                      \
    {                                                                                              \
        sizeof(valise_turn_done), {{0}}, 0,                                                        \
        {                                                                                          \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* Add a turn after the head (add), after any turn (branch) or after several (merge); say a turn in
 * other words, keeping its role, flags and metadata (edit); or only move the head (checkout). out
 * may be NULL. VALISE_E_INVALID: the blocks are not valid. Operations turn:add, turn:branch,
 * turn:merge, turn:edit, turn:checkout. */
VALISE_API int valise_turn_add(valise_turn_done *out, valise *v, const char *session,
                               const valise_turn_options *turn, const valise_call *call,
                               valise_error *err);
VALISE_API int valise_turn_branch(valise_turn_done *out, valise *v, const char *session,
                                  const char *parent, const valise_turn_options *turn,
                                  const valise_call *call, valise_error *err);
VALISE_API int valise_turn_merge(valise_turn_done *out, valise *v, const char *session,
                                 const valise_str *parents, size_t parent_count,
                                 const valise_turn_options *turn, const valise_call *call,
                                 valise_error *err);
VALISE_API int valise_turn_edit(valise_turn_done *out, valise *v, const char *session,
                                const char *turn, const valise_turn_options *said,
                                const valise_call *call, valise_error *err);
VALISE_API int valise_turn_checkout(valise_turn_done *out, valise *v, const char *session,
                                    const char *turn, const valise_call *call, valise_error *err);

/* ---- reading ---- */

typedef struct valise_turn {
    valise_str ref;    /* ID@VERSION */
    int role;          /* VALISE_TURN_... */
    unsigned flags;    /* VALISE_TURN_HIDDEN, ... */
    bool erased;       /* its blocks were erased */
    valise_str blocks; /* JSON; ptr NULL: erased */
    valise_str metadata;
    const valise_str *parents; /* refs, in order */
    size_t parent_count;
    int64_t time;
    valise_str actor;
    valise_id content_hash;
    valise_str role_in_force; /* the role at this turn; ptr NULL: no role:transition up to here */
} valise_turn;

/* List the turns of a conversation from the first one up to `turn` (NULL: the head), including
 * hidden ones. Operation turn:log. */
typedef int valise_turn_fn(void *arg, const valise_turn *turn, valise_error *err);
VALISE_API int valise_transcript(valise *v, const char *session, const char *turn,
                                 valise_turn_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* A session and its turns up to the head, which prompts are made from. */
typedef struct valise_conversation {
    valise_session session;
    const valise_turn *turns; /* the oldest first */
    size_t turn_count;
} valise_conversation;
/* Get a session and its turns in one consistent state. */
VALISE_API int valise_session_snapshot(valise_conversation **out, valise *v, const char *session,
                                       const valise_call *call, valise_error *err);
/* Free a conversation; NULL is fine. */
VALISE_API void valise_conversation_free(valise_conversation *snapshot);

/* A version of a turn, and what follows from it. */
typedef struct valise_branch {
    valise_turn turn;
    const valise_str *children; /* refs of the versions after it; the first 1000 */
    size_t child_count;
    const valise_uuid *sessions; /* whose heads or tips are at or below it; the first 1000 */
    size_t session_count;
    bool active; /* on the path of the given session */
} valise_branch;

/* List the versions of a turn. session may be NULL. Operation turn:branches. */
typedef int valise_branch_fn(void *arg, const valise_branch *branch, valise_error *err);
VALISE_API int valise_branch_info(valise *v, const char *session, const char *turn,
                                  valise_branch_fn *fn, void *arg, const valise_call *call,
                                  valise_error *err);

VALISE_END

#endif
