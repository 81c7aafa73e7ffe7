/* ops.h -- arguments and answers of the operations that write, and what they share.
 *
 * Threads: plain data; the functions are single. */
#ifndef VLS_CHAT_OPS_H
#define VLS_CHAT_OPS_H

#include <valise/sys/operation.h>

#include "blob/receive.h"
#include "chat/append.h"
#include "chat/find.h"
#include "memory/memory.h"

/* ---- what is said ---- */

/* `turn` of the arguments. */
typedef struct vls_turn_given {
    valise_uuid id; /* zero: one is made */
    int64_t role;   /* VLS_TURN_... */
    valise_content blocks;
    bool hidden, noprompt;
    valise_content metadata; /* size VALISE_NONE: none */
} vls_turn_given;

/* The same in the words of a command line; `receive` makes a vls_turn_given of it. */
typedef struct vls_turn_flat {
    const vls_turn_given *turn; /* NULL: as the rest says */
    int64_t role;               /* VALISE_NONE: not given */
    valise_content text;        /* size VALISE_NONE: not given */
    valise_list attach;         /* of valise_str, files */
    valise_list blobs;          /* what is known of bytes that came along: blob/receive.h */
    bool hidden, noprompt;
} vls_turn_flat;

#define VLS_TURN_FLAT_FIELDS(args)                                                                 \
    VALISE_FIELD_AS_WITH(args, said.role, "role", ENUM, VALISE_NULLABLE | VALISE_POSITIONAL,       \
                         "Who speaks.", .more = vls_turn_roles),                                   \
        VALISE_FIELD_AS(args, said.text, "text", TEXT, VALISE_NULLABLE | VALISE_POSITIONAL,        \
                        "The message, as text."),                                                  \
        VLS_TURN_ATTACH_FIELD(args),                                                               \
        VALISE_FIELD_AS(args, said.hidden, "hidden", BOOL, 0, "Hide it from people."),             \
        VALISE_FIELD_AS(args, said.noprompt, "noprompt", BOOL, 0, "Keep it out of prompts."),      \
        VALISE_FIELD_AS_WITH(                                                                      \
            args, said.turn, "turn", STRUCT, VALISE_NULLABLE,                                      \
            "The whole turn instead: {id, role, blocks, hidden, noprompt, metadata}.",             \
            .more = &vls_turn_given_struct)

#define VLS_TURN_ATTACH_FIELD(args)                                                                \
    VALISE_FIELD_AS_WITH(args, said.attach, "attach", LIST, 0,                                     \
                         "Files to attach, as images or documents.", .more = &vls_blob_file_item,  \
                         .max = VLS_BLOB_FILES_MAX),                                               \
        VLS_BLOBS_FIELD(args, said.blobs)

#define VLS_SESSION_FIELD(args)                                                                    \
    VALISE_FIELD_AS_WITH(args, session, "sessionId", STR, VALISE_REQUIRED | VALISE_POSITIONAL,     \
                         "The session: its label, its id, or the end of its id.",                  \
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION)

extern const valise_struct vls_turn_given_struct;
extern const valise_field vls_turn_ref_item;

/* valise_op.receive of them: said->turn is what was given, in memory of the command, and the rest
 * is empty but for `blobs`; bytes and files went into the blob store. args: of the command. */
int vls_turn_receive(vls_turn_flat *said, valise_prepare *prepare, const void *args,
                     valise_error *err);

/* The same for blocks, of which a text or files may stand in their place. */
int vls_turn_receive_blocks(valise_content *blocks, vls_turn_flat *said, valise_prepare *prepare,
                            const void *args, valise_error *err);

/* ---- arguments ---- */

typedef struct vls_session_create_args {
    valise_uuid id;
    valise_str label, role;
    valise_list topics;
    valise_content metadata;
} vls_session_create_args;

typedef struct vls_session_updates {
    valise_str label;
    vls_topics_change topics;
    valise_content metadata;
} vls_session_updates;

typedef struct vls_session_update_args {
    valise_str session;
    vls_session_updates what;
    const vls_session_updates *updates; /* instead of `what`; NULL once it was received */
} vls_session_update_args;

typedef struct vls_session_fork_args {
    valise_str session, turn;
    int64_t version;
    valise_uuid id;
    valise_str label, role;
    valise_list topics;
} vls_session_fork_args;

typedef struct vls_session_args {
    valise_str session;
} vls_session_args;

typedef struct vls_session_switch_args {
    valise_str session, role;
} vls_session_switch_args;

typedef struct vls_turn_add_args {
    valise_str session;
    vls_turn_flat said;
} vls_turn_add_args;

typedef struct vls_turn_edit_args {
    valise_str session, turn;
    int64_t version;
    vls_turn_flat said; /* text and files */
    valise_content blocks;
} vls_turn_edit_args;

typedef struct vls_turn_branch_args {
    valise_str session, parent;
    vls_turn_flat said;
} vls_turn_branch_args;

typedef struct vls_turn_merge_args {
    valise_str session;
    valise_list parents; /* of valise_str */
    vls_turn_flat said;
} vls_turn_merge_args;

typedef struct vls_turn_checkout_args {
    valise_str session, turn;
    int64_t version;
} vls_turn_checkout_args;

/* ---- answers ---- */

typedef struct vls_session_made {
    valise_uuid id;
    valise_str head, role; /* ptr NULL: none */
} vls_session_made;
extern const valise_field vls_session_made_fields[];

int vls_session_answer(vls_session_made *out, valise_view *view, const vls_session_row *session,
                       valise_error *err);

typedef struct vls_turn_done {
    valise_uuid turn_id;
    int64_t version;
    valise_str ref;
    valise_id content_hash; /* zero: it was erased */
    valise_str head;
} vls_turn_done;
extern const valise_field vls_turn_done_fields[];

int vls_turn_answer(vls_turn_done *out, valise_view *view, const vls_turn_row *turn,
                    valise_error *err);

/* ---- steps ---- */

/* Make an id where there is none. VALISE_E_EXISTS for one that a session has. */
int vls_session_name(valise_uuid *id, valise_view *view, valise_error *err);

/* Append what was given behind these, and move the head of the session there. */
int vls_session_say(vls_turn_done *out, vls_session_row *session, valise_view *view,
                    const vls_turn_flat *said, const vls_turn_ref *parents, size_t count,
                    valise_error *err);

/* valise_op.current where the arguments begin with a session: its head as a TurnRef, or null. */
int vls_session_current(valise_str *json, valise_view *view, const void *args, valise_error *err);
/* The same text, for valise_call.expect. */
#define VLS_HEAD_JSON 80 /* bytes of it */
void vls_session_head_json(char *out, const vls_session_row *session);
#define VLS_HEAD_HELP "the head of the session, as ID@VERSION; null: nothing was said yet"

extern const valise_op vls_op_chat_session_create, vls_op_chat_session_update,
    vls_op_chat_session_fork, vls_op_chat_session_delete, vls_op_chat_session_role_switch,
    vls_op_chat_turn_add, vls_op_chat_turn_edit, vls_op_chat_turn_branch, vls_op_chat_turn_merge,
    vls_op_chat_turn_checkout, vls_op_chat_turn_remove, vls_op_chat_turn_sweep,
    vls_op_chat_turn_delete;

#endif
