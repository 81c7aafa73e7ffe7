/* rows.h -- what is told to agents: roles, preferences, context entries. [W12] [W13]
 *
 *     role           name -> its newest version
 *     role_version   (name, version) -> persona, constraints, topics; never changes, and
 *                    stays when the role goes
 *     preference     id -> what is preferred, where and how much
 *     context        key -> a text, a JSON value or a blob that can be told
 *
 * The past of preferences and entries is that of all rows: what the log has.
 *
 * Threads: immutable tables. */
#ifndef VLS_MEMORY_ROWS_H
#define VLS_MEMORY_ROWS_H

#include <valise/sys/view.h>

#define VLS_ROLE_NAME_MAX 128
#define VLS_ROLE_LABEL_MAX 256
#define VLS_MEMORY_KEY_MAX 512
#define VLS_MEMORY_SLOT_MAX 128
#define VLS_TOPIC_MAX 128
#define VLS_TOPICS_MAX 64 /* of one session, role, preference or entry */

typedef struct vls_role_row {
    valise_str name;
    int64_t version;    /* the newest */
    valise_list topics; /* of valise_str, sorted, each once: as in that version */
    int64_t created, updated;
} vls_role_row;

typedef struct vls_role_version_row {
    valise_str name;
    int64_t version;       /* 1, 2, 3; goes on when a role is added again */
    valise_str label;      /* NULLABLE CONTENT */
    valise_id persona;     /* a text; NULLABLE CONTENT */
    valise_id constraints; /* a value: {model, temperature, maxTokens, window, stop, extras};
                              NULLABLE CONTENT */
    valise_list topics;
    int64_t time;
    valise_str actor;
} vls_role_version_row;

enum { VLS_SCOPE_WORKSPACE, VLS_SCOPE_ROLE, VLS_SCOPE_SESSION };
extern const char *const vls_scopes[]; /* "workspace", "role", "session", NULL */

typedef struct vls_preference_row {
    valise_uuid id;
    valise_id content; /* a text; NULLABLE CONTENT */
    valise_list topics;
    int64_t scope;   /* VLS_SCOPE_... */
    valise_str of;   /* name of the role, id of the session; NULLABLE */
    valise_str slot; /* what it decides, such as "tone"; NULLABLE */
    int64_t priority;
    int64_t version; /* counts its changes, from 1 */
    int64_t created, updated;
    valise_str actor; /* of the last change */
} vls_preference_row;

enum { VLS_ENTRY_TEXT, VLS_ENTRY_JSON, VLS_ENTRY_BLOB };
extern const char *const vls_entry_types[]; /* "text", "json", "blob", NULL */

typedef struct vls_context_entry_row {
    valise_str key;
    int64_t type;      /* VLS_ENTRY_... */
    valise_id content; /* a text or a value; NULLABLE CONTENT */
    valise_id blob;    /* type BLOB, ref "blob"; NULLABLE CONTENT */
    valise_list topics;
    valise_id metadata; /* a value; NULLABLE CONTENT */
    int64_t expires;    /* NULLABLE; from then on it is not shown, and gc takes it */
    int64_t version;    /* counts its changes, from 1 */
    int64_t created, updated;
    valise_str actor;
} vls_context_entry_row;

/*     context        index expires (expires), blob (blob) */
extern const valise_coll vls_roles, vls_role_versions, vls_preferences, vls_context_entries;

/* A string in a list of topics. */
extern const valise_field vls_topic_item;

/* Sort them, each once, in memory of the view. VALISE_E_INVALID for an empty one, one with control
 * characters. */
int vls_topics_tidy(valise_list *topics, valise_view *view, valise_error *err);

#endif
