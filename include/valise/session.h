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
 * A *turn version* is something that was said, and never changes: role, blocks, parents. Versions
 * make one graph; a *session* points at one of them, its head. docs/architecture.md,
 * "Conversations", has the picture.
 *
 * A session is given as its id, the end of that (four digits or more), or its label; a turn as
 * ID@VERSION, ID, the end of an id, HEAD or HEAD~2.
 *
 * Each of these functions is an operation, called with structs in place of JSON: the same checks,
 * the same log, the same events. `call` (valise/workspace.h) says who acts, what is expected, as of
 * which state one looks; NULL: as the handle says.
 *
 * What is handed out with ** is one block: everything it points to goes with it, and it may outlive
 * the handle.
 *
 * Threads: all functions may be called on one handle by many threads. Results are immutable. */
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
    const valise_str *topics; /* in their order */
    size_t topic_count;
    valise_str head; /* ID@VERSION; ptr NULL: nothing was said yet */
    int64_t turns;   /* from the first one to the head, by first parents */
    int64_t created, updated;
} valise_session;

/* Left out is what is empty. */
typedef struct valise_session_options {
    size_t size;
    const valise_uuid *id; /* NULL: one is made */
    valise_str label, role;
    const valise_str *topics;
    size_t topic_count;
    valise_str metadata; /* JSON; not for a fork, which has that of the other */
} valise_session_options;

#define VALISE_SESSION_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(valise_session_options), NULL, {NULL, 0}, {NULL, 0}, NULL, 0,                       \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

/* Begin one. out (may be NULL) gets its id. session:create */
VALISE_API int valise_session_create(valise_uuid *out, valise *v,
                                     const valise_session_options *options, const valise_call *call,
                                     valise_error *err);

/* Find one: VALISE_E_NOT_FOUND, VALISE_E_CONFLICT for what may be several. session:show */
VALISE_API int valise_session_open(valise_session **out, valise *v, const char *session,
                                   const valise_call *call, valise_error *err);
VALISE_API void valise_session_free(valise_session *session); /* NULL is fine */

/* Each of them, the newest first. session:list */
typedef int valise_session_fn(void *arg, const valise_session *session, valise_error *err);
VALISE_API int valise_session_list(valise *v, valise_session_fn *fn, void *arg,
                                   const valise_call *call, valise_error *err);

/* Another session from a turn on (NULL: the head): one row, at any length. session:fork */
VALISE_API int valise_session_fork(valise_uuid *out, valise *v, const char *session,
                                   const char *turn, const valise_session_options *options,
                                   const valise_call *call, valise_error *err);

/* It goes, and what only it had. session:delete */
VALISE_API int valise_session_delete(valise *v, const char *session, const valise_call *call,
                                     valise_error *err);

/* ---- turns ---- */

enum { VALISE_TURN_USER, VALISE_TURN_ASSISTANT, VALISE_TURN_SYSTEM, VALISE_TURN_TOOL };

enum {
    VALISE_TURN_HIDDEN = 1,  /* not shown to people, unless they ask */
    VALISE_TURN_NOPROMPT = 2 /* not shown to models */
};

/* What is said: blocks, or a text that becomes one. */
typedef struct valise_turn_options {
    size_t size;
    int role;              /* VALISE_TURN_... */
    unsigned flags;        /* VALISE_TURN_HIDDEN, ... */
    valise_str text;       /* ptr NULL: blocks say it */
    valise_str blocks;     /* a JSON array; ptr NULL: text says it */
    valise_str metadata;   /* JSON; ptr NULL: none */
    const valise_uuid *id; /* NULL: one is made. Not for an edit */
} valise_turn_options;

#define VALISE_TURN_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_turn_options), 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, NULL                   \
    }

/* The version that is the head of the session now. */
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

/* Behind the head; behind any turn; behind several; the same turn in other words (role, flags and
 * metadata stay); or only move the head. out may be NULL. VALISE_E_INVALID for blocks that do not
 * fit. turn:add, turn:branch, turn:merge, turn:edit, turn:checkout */
VALISE_API int valise_turn_add(valise_turn_done *out, valise *v, const char *session,
                               const valise_turn_options *turn, const valise_call *call,
                               valise_error *err);
VALISE_API int valise_turn_branch(valise_turn_done *out, valise *v, const char *session,
                                  const char *parent, const valise_turn_options *turn,
                                  const valise_call *call, valise_error *err);
VALISE_API int valise_turn_merge(valise_turn_done *out, valise *v, const char *session,
                                 const char *const *parents, size_t parent_count,
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
    bool erased;       /* there are no blocks any more */
    valise_str blocks; /* JSON; ptr NULL: erased */
    valise_str metadata;
    const valise_str *parents; /* refs, in their order */
    size_t parent_count;
    int64_t time;
    valise_str actor;
    valise_id content_hash;
    valise_str role_in_force; /* ptr NULL: no transition up to here */
} valise_turn;

/* Each turn of a path, the first one said first: up to `turn`, or to the head (NULL); hidden ones
 * too. turn:log */
typedef int valise_turn_fn(void *arg, const valise_turn *turn, valise_error *err);
VALISE_API int valise_transcript(valise *v, const char *session, const char *turn,
                                 valise_turn_fn *fn, void *arg, const valise_call *call,
                                 valise_error *err);

/* A session and all that was said up to its head: what a prompt is made of. */
typedef struct valise_conversation {
    valise_session session;
    const valise_turn *turns; /* the first one said first */
    size_t turn_count;
} valise_conversation;
VALISE_API int valise_session_snapshot(valise_conversation **out, valise *v, const char *session,
                                       const valise_call *call, valise_error *err);
VALISE_API void valise_conversation_free(valise_conversation *snapshot); /* NULL is fine */

/* A version of a turn, and what became of it. */
typedef struct valise_branch {
    valise_turn turn;
    const valise_str *children; /* refs; the first 1000 */
    size_t child_count;
    const valise_uuid *sessions; /* whose heads or tips lie at or below it; the first 1000 */
    size_t session_count;
    bool active; /* on the path of the session that was given */
} valise_branch;

/* Each version of a turn. session may be NULL. turn:branches */
typedef int valise_branch_fn(void *arg, const valise_branch *branch, valise_error *err);
VALISE_API int valise_branch_info(valise *v, const char *session, const char *turn,
                                  valise_branch_fn *fn, void *arg, const valise_call *call,
                                  valise_error *err);

VALISE_END

#endif
