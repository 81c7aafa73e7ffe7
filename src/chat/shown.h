/* shown.h -- turns and sessions as operations that read answer with them.
 *
 *     vls_show show;
 *     vls_show_init(&show, view, false);
 *     ... for each: vls_show_turn(&turn, &show, &row, err), emit ...
 *     vls_show_release(&show);
 *
 * What a turn says is held until the next one is shown: a long list takes no memory.
 *
 * Threads: single. */
#ifndef VLS_CHAT_SHOWN_H
#define VLS_CHAT_SHOWN_H

#include <valise/sys/operation.h>

#include "chat/graph.h"
#include "store/view.h"

/* ---- turns ---- */

typedef struct vls_turn_shown {
    valise_str ref; /* ID@VERSION */
    int64_t role;
    valise_content blocks; /* size VALISE_NONE: they were erased */
    valise_list parents;   /* of valise_str */
    int64_t time;
    valise_str actor;
    bool hidden, noprompt, erased;
    int64_t unknown;     /* blocks of types that nobody knows; VALISE_NONE: there are none */
    valise_id hash;      /* of the content; zero: erased */
    valise_str in_force; /* NULLABLE */
    valise_content metadata;
    vls_turn_ref_text text; /* behind ref */
} vls_turn_shown;

/* Of a struct with a member `turn`. */
#define VLS_TURN_SHOWN_FIELDS(args)                                                                \
    VALISE_FIELD_AS_WITH(args, turn.ref, "ref", STR, VALISE_REQUIRED, "ID@VERSION.",               \
                         .ref = VLS_REF_TURN),                                                     \
        VALISE_FIELD_AS_WITH(args, turn.role, "role", ENUM, VALISE_REQUIRED, "Who speaks.",        \
                             .more = vls_turn_roles),                                              \
        VALISE_FIELD_AS(args, turn.time, "time", TIME, VALISE_REQUIRED, "When it was said."),      \
        VALISE_FIELD_AS(args, turn.actor, "actor", STR, VALISE_REQUIRED, "Who wrote it."),         \
        VALISE_FIELD_AS(args, turn.blocks, "blocks", VALUE, VALISE_NULLABLE, "What is said."),     \
        VALISE_FIELD_AS_WITH(args, turn.parents, "parents", LIST, 0, "What it follows.",           \
                             .more = &vls_shown_ref_item, .max = VLS_TURN_PARENTS_MAX),            \
        VALISE_FIELD_AS(args, turn.hash, "contentHash", ID, VALISE_NULLABLE,                       \
                        "Hash of role and blocks."),                                               \
        VALISE_FIELD_AS(args, turn.hidden, "hidden", BOOL, 0, "Not shown to people."),             \
        VALISE_FIELD_AS(args, turn.noprompt, "noprompt", BOOL, 0, "Not shown to models."),         \
        VALISE_FIELD_AS(args, turn.erased, "erased", BOOL, 0, "What it said was erased."),         \
        VALISE_FIELD_AS(args, turn.unknown, "unknown", INT, VALISE_NULLABLE,                       \
                        "Blocks of types that are not known here."),                               \
        VALISE_FIELD_AS(args, turn.in_force, "roleInForce", STR, VALISE_NULLABLE,                  \
                        "The role of the last transition up to here."),                            \
        VALISE_FIELD_AS(args, turn.metadata, "metadata", VALUE, VALISE_NULLABLE,                   \
                        "Whatever else was told.")

extern const valise_field vls_shown_ref_item; /* STR */

typedef struct vls_show {
    valise_view *view;
    bool keeps;
    vls_arena own;    /* of the one that is shown */
    vls_arena *arena; /* that, or the view's */
    valise_blob *blocks, *metadata;
    vls_json parsed; /* its blocks; null: erased */
} vls_show;

/* keeps: what is shown lives as long as the view. */
void vls_show_init(vls_show *show, valise_view *view, bool keeps);
void vls_show_release(vls_show *show); /* a zeroed one is fine */

/* Valid until the next call, unless show keeps it. Strings of the row are borrowed; out must not be
 * moved. */
int vls_show_turn(vls_turn_shown *out, vls_show *show, const vls_turn_row *turn, valise_error *err);

static inline void vls_auto_show(vls_show *show)
{
    vls_show_release(show);
}

/* A ref as text, in memory of the arena; a list of them. */
int vls_shown_ref(valise_str *out, vls_arena *arena, const vls_turn_ref *ref, valise_error *err);
int vls_shown_refs(valise_list *out, vls_arena *arena, const vls_turn_ref *refs, size_t count,
                   valise_error *err);

/* ---- sessions ---- */

typedef struct vls_session_shown {
    valise_uuid id;
    valise_str label, role;
    valise_list topics;
    valise_str head; /* ptr NULL: none */
    int64_t turns;   /* from the first one to the head, by first parents */
    int64_t created, updated;
    vls_turn_ref_text text; /* behind head */
} vls_session_shown;

/* Of a struct with a member `session`. */
#define VLS_SESSION_SHOWN_FIELDS(args)                                                             \
    VALISE_FIELD_AS(args, session.id, "id", UUID, VALISE_REQUIRED, "Id of the session."),          \
        VALISE_FIELD_AS(args, session.label, "label", STR, VALISE_NULLABLE,                        \
                        "Its label, for people."),                                                 \
        VALISE_FIELD_AS(args, session.role, "role", STR, VALISE_NULLABLE, "The role in force."),   \
        VALISE_FIELD_AS_WITH(args, session.topics, "topics", LIST, 0, "Its topics.",               \
                             .more = &vls_topic_item, .max = VLS_TOPICS_MAX),                      \
        VALISE_FIELD_AS_WITH(args, session.head, "head", STR, VALISE_NULLABLE, "Its head.",        \
                             .ref = VLS_REF_TURN),                                                 \
        VALISE_FIELD_AS(args, session.turns, "turns", INT, VALISE_REQUIRED,                        \
                        "Turns from the first one to the head."),                                  \
        VALISE_FIELD_AS(args, session.created, "created", TIME, VALISE_REQUIRED,                   \
                        "When it was made."),                                                      \
        VALISE_FIELD_AS(args, session.updated, "updated", TIME, VALISE_REQUIRED,                   \
                        "When it was changed last.")

void vls_show_session(vls_session_shown *out, const vls_session_row *session);

/* ---- arguments ---- */

/* The version that a session and, where it is given, a turn stand for: the head else.
 * VALISE_E_NOT_FOUND where nothing was said yet. */
int vls_shown_find(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                   valise_str turn, int64_t version, valise_error *err);

/* Who may be left out: session.ptr NULL gives 0 and leaves *out. */
int vls_shown_session(vls_session_row *out, const vls_session_row **given, valise_view *view,
                      valise_str session, valise_error *err);

/* A word that is a session, which stands for its head, or a turn. *given is the session that HEAD
 * is of (NULL: none); where the word is a session, that one then, in *session. */
int vls_shown_either(vls_turn_row *out, vls_session_row *session, const vls_session_row **given,
                     valise_view *view, valise_str text, int64_t version, valise_error *err);

/* SESSION TURN, of which one may be left out: a word in the place of the session alone is either.
 */
typedef struct vls_place_args {
    valise_str session, turn;
    int64_t version;
} vls_place_args;

#define VLS_PLACE_FIELDS(args)                                                                     \
    VALISE_FIELD_AS_WITH(args, place.session, "sessionId", STR,                                    \
                         VALISE_NULLABLE | VALISE_POSITIONAL,                                      \
                         "The session (alone: its head), or any turn.", .min = 1,                  \
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),                         \
        VALISE_FIELD_AS_WITH(args, place.turn, "turnId", STR, VALISE_NULLABLE | VALISE_POSITIONAL, \
                             "ID@VERSION, the end of an id, HEAD or HEAD~2.", .min = 1,            \
                             .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN)

int vls_shown_place(vls_turn_row *out, vls_session_row *session, const vls_session_row **given,
                    valise_view *view, const vls_place_args *place, valise_error *err);

/* ---- arguments and answers that the C functions use as well ---- */

typedef struct vls_turn_log_args {
    valise_str session, turn;
    int64_t version, limit, merge;
    bool reverse, all;
} vls_turn_log_args;

typedef struct vls_session_show_result {
    vls_session_shown session;
    valise_list tips; /* of valise_str */
    valise_str first_role, actor;
    valise_uuid forked_from;
    valise_content metadata;
} vls_session_show_result;

typedef struct vls_session_list_args {
    valise_str role, topic, label;
    valise_uuid after;
    int64_t limit;
} vls_session_list_args;

typedef struct vls_branches_args {
    vls_place_args place;
} vls_branches_args;

typedef struct vls_branch_holder {
    valise_uuid id;
    valise_str label, ref;
    bool tip;
} vls_branch_holder;

typedef struct vls_branch_row {
    vls_turn_shown turn;
    valise_list children; /* of valise_str */
    valise_list sessions; /* of const vls_branch_holder * */
    bool active;
    bool more;
} vls_branch_row;

extern const valise_op vls_op_chat_turn_log, vls_op_chat_session_show, vls_op_chat_session_list,
    vls_op_chat_turn_branches;

#endif
