/* valise/memory.h -- what outlives a conversation: roles, preferences, and entries by topic.
 *
 *     const valise_str lamps[] = {VALISE_STR("lamps")};
 *     valise_entry_options about = VALISE_ENTRY_OPTIONS_INIT;
 *     valise_entry *entry = NULL;
 *
 *     about.topics = lamps;
 *     about.topic_count = 1;
 *     rc = valise_role_put(NULL, v, "clerk", "You sell lamps.", NULL, NULL, err);
 *     if (rc == 0)
 *         rc = valise_entry_put(NULL, v, "lamps/polar", "Fits all sockets.", &about, NULL, err);
 *     if (rc == 0)
 *         rc = valise_entry_get(&entry, v, "lamps/polar", NULL, err);          1: found, 0: none
 *     valise_entry_free(entry);
 *
 * The prompts of a session include whatever fits it by role and by topics. A put adds what is
 * missing and updates what exists; options that are not given keep their values. A program can
 * repeat its puts at every start: if nothing changes, nothing is written.
 *
 * Each of these functions is one operation, or two. `call` (valise/workspace.h) says who acts, and
 * what is expected; NULL: as the handle says. Lists, histories, erasures and more are operations
 * without a function in this header: use valise_stream with "context:list" and the like.
 *
 * Results handed out through ** are one block each: everything a result points to is freed with it.
 * It may outlive the handle.
 *
 * Threads: many threads may call these functions on one handle. Results are immutable. */
#ifndef VALISE_MEMORY_H
#define VALISE_MEMORY_H

#include <stdbool.h>

#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- roles ---- */

typedef struct valise_role_options {
    size_t size;
    valise_str label; /* a name for people; ptr NULL: unchanged */
    /* JSON such as {"model":"small-1","temperature":0.2}; its members are changed, others stay
     * (`valise help role add`). ptr NULL: unchanged. */
    valise_str constraints;
    const valise_str *topics; /* NULL: unchanged */
    size_t topic_count;
} valise_role_options;

#define VALISE_ROLE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_role_options), {NULL, 0}, {NULL, 0}, NULL, 0                                 \
    }

/* Add or update a role. persona is its instructions, the system prompt; NULL: unchanged. *version
 * (may be NULL): the version that holds now. Operation role:update or role:add. */
VALISE_API int valise_role_put(int64_t *version, valise *v, const char *name, const char *persona,
                               const valise_role_options *options, const valise_call *call,
                               valise_error *err);

typedef struct valise_role {
    valise_str name;
    valise_str label, persona, constraints; /* ptr NULL: none; constraints: JSON */
    const valise_str *topics;
    size_t topic_count;
    int64_t version, time; /* of this version */
    valise_str actor;      /* who wrote it */
} valise_role;

/* Get a role. 1: found. 0: there is none of this name, and *out is untouched. Operation role:show.
 */
VALISE_API int valise_role_get(valise_role **out, valise *v, const char *name,
                               const valise_call *call, valise_error *err);
/* Free a role; NULL is fine. */
VALISE_API void valise_role_free(valise_role *role);

/* Delete a role. VALISE_E_NOT_FOUND; VALISE_E_CONFLICT: sessions use it. Operation role:delete. */
VALISE_API int valise_role_delete(valise *v, const char *name, const valise_call *call,
                                  valise_error *err);

/* ---- preferences ---- */

enum { VALISE_SCOPE_WORKSPACE, VALISE_SCOPE_ROLE, VALISE_SCOPE_SESSION };

typedef struct valise_preference_options {
    size_t size;
    const valise_uuid *id; /* which one to update; NULL: make a new one */
    int scope;             /* VALISE_SCOPE_...: where it holds */
    valise_str of;         /* ROLE: name of the role; SESSION: id of the session */
    /* What it decides, such as "tone": only one of all preferences for a slot is used. ptr NULL: it
     * does not compete with others. */
    valise_str slot;
    int64_t priority;         /* within a scope, the highest wins */
    const valise_str *topics; /* NULL: it always holds */
    size_t topic_count;
} valise_preference_options;

#define VALISE_PREFERENCE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_preference_options), NULL, VALISE_SCOPE_WORKSPACE, {NULL, 0}, {NULL, 0}, 0,  \
            NULL, 0                                                                                \
    }

/* Add or update a preference. text is what models are told. Without options->id, each call adds a
 * new preference; a program that repeats its puts gives ids of its own. Unlike for roles and
 * entries, options that are not given are reset, except for the slot. *out (may be NULL): the id.
 * VALISE_E_NOT_FOUND: there is no such role. Operation preference:update or preference:add. */
VALISE_API int valise_preference_put(valise_uuid *out, valise *v, const char *text,
                                     const valise_preference_options *options,
                                     const valise_call *call, valise_error *err);

/* Delete a preference. VALISE_E_NOT_FOUND. Operation preference:delete. */
VALISE_API int valise_preference_delete(valise *v, const valise_uuid *preference,
                                        const valise_call *call, valise_error *err);

/* ---- entries ---- */

enum { VALISE_ENTRY_TEXT, VALISE_ENTRY_JSON, VALISE_ENTRY_BLOB };

typedef struct valise_entry_options {
    size_t size;
    /* What the content is: VALISE_ENTRY_TEXT, JSON or BLOB. The content of a BLOB is its id in 64
     * digits. */
    int kind;
    const valise_str *topics; /* NULL: unchanged */
    size_t topic_count;
    valise_str metadata; /* JSON; ptr NULL: unchanged */
    int64_t ttl_ns; /* how long it holds, from now on; 0: unchanged, and for ever if it is new */
} valise_entry_options;

#define VALISE_ENTRY_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_entry_options), VALISE_ENTRY_TEXT, NULL, 0, {NULL, 0}, 0                     \
    }

/* Add or update an entry. *version (may be NULL): how often it has been written.
 * VALISE_E_NOT_FOUND: nobody holds the blob. Operation context:update or context:add. */
VALISE_API int valise_entry_put(int64_t *version, valise *v, const char *key, const char *content,
                                const valise_entry_options *options, const valise_call *call,
                                valise_error *err);

typedef struct valise_entry {
    valise_str key;
    int kind;           /* VALISE_ENTRY_... */
    valise_str content; /* a text, or canonical JSON; ptr NULL: a blob, or it was erased */
    valise_id blob;     /* BLOB: read it with valise_blob_open; else zero */
    const valise_str *topics;
    size_t topic_count;
    valise_str metadata; /* JSON; ptr NULL: none */
    int64_t expires;     /* VALISE_NONE: never */
    int64_t version, created, updated;
    valise_str actor; /* who wrote it last */
} valise_entry;

/* Get an entry. 1: found. 0: there is none, or it has expired, and *out is untouched. Operation
 * context:show. */
VALISE_API int valise_entry_get(valise_entry **out, valise *v, const char *key,
                                const valise_call *call, valise_error *err);
/* Free an entry; NULL is fine. */
VALISE_API void valise_entry_free(valise_entry *entry);

/* Delete an entry. VALISE_E_NOT_FOUND. Operation context:delete. */
VALISE_API int valise_entry_delete(valise *v, const char *key, const valise_call *call,
                                   valise_error *err);

VALISE_END

#endif
