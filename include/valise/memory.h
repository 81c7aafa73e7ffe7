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
 *         rc = valise_entry_put(NULL, v, "lamps/polar", "It fits every socket.", &about, NULL,
 * err); if (rc == 0) rc = valise_entry_get(&entry, v, "lamps/polar", NULL, err);          1: found,
 * 0: none valise_entry_free(entry);
 *
 * What fits a session by its role and its topics goes into its prompts. A put adds what is not
 * there and changes what is: it can be said at every start of a program, and where nothing changes
 * nothing is written. What its options leave out stays as it is.
 *
 * Each of these functions is an operation, or two; `call` (valise/workspace.h) says who acts, and
 * what is expected; NULL: as the handle says. Lists, histories, erasures and whatever else there is
 * are operations without a function here: "context:list" and its like, with valise_stream.
 *
 * What is handed out with ** is one block: everything it points to goes with it, and it may outlive
 * the handle.
 *
 * Threads: all functions may be called on one handle by many threads. Results are immutable. */
#ifndef VALISE_MEMORY_H
#define VALISE_MEMORY_H

#include <stdbool.h>

#include <valise/id.h>
#include <valise/workspace.h>

VALISE_BEGIN

/* ---- roles ---- */

typedef struct valise_role_options {
    size_t size;
    valise_str label;         /* what people call it; ptr NULL: as it is */
    valise_str constraints;   /* JSON: {"model":"small-1","temperature":0.2}, what is in it is
                                 changed (`valise help role add`); ptr NULL: as they are */
    const valise_str *topics; /* NULL: as they are */
    size_t topic_count;
} valise_role_options;

#define VALISE_ROLE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(valise_role_options), {NULL, 0}, {NULL, 0}, NULL, 0                                 \
    }

/* persona: its instructions, the system prompt; NULL: as they are. *version (may be NULL): the one
 * that holds now. role:update, role:add */
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

/* 1; or 0, and *out is untouched: there is none of that name. role:show */
VALISE_API int valise_role_get(valise_role **out, valise *v, const char *name,
                               const valise_call *call, valise_error *err);
VALISE_API void valise_role_free(valise_role *role); /* NULL is fine */

/* VALISE_E_NOT_FOUND; VALISE_E_CONFLICT: sessions use it. role:delete */
VALISE_API int valise_role_delete(valise *v, const char *name, const valise_call *call,
                                  valise_error *err);

/* ---- preferences ---- */

enum { VALISE_SCOPE_WORKSPACE, VALISE_SCOPE_ROLE, VALISE_SCOPE_SESSION };

typedef struct valise_preference_options {
    size_t size;
    const valise_uuid *id;    /* which one; NULL: a new one is made */
    int scope;                /* VALISE_SCOPE_...: where it holds */
    valise_str of;            /* ROLE: its name; SESSION: its id */
    valise_str slot;          /* what it decides, such as "tone": of all for one slot one holds;
                                 ptr NULL: nothing that others decide */
    int64_t priority;         /* of the same scope higher ones win */
    const valise_str *topics; /* NULL: it always holds */
    size_t topic_count;
} valise_preference_options;

#define VALISE_PREFERENCE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(valise_preference_options), NULL, VALISE_SCOPE_WORKSPACE, {NULL, 0}, {NULL, 0}, 0,  \
            NULL, 0                                                                                \
    }

/* text: what is preferred, as it is told to models. Without an id each call adds one: a program
 * that says the same at every start gives its own. Other than with roles and entries the options
 * are the whole of it, but a slot stays. *out (may be NULL): its id. VALISE_E_NOT_FOUND: there is
 * no such role. preference:update, preference:add */
VALISE_API int valise_preference_put(valise_uuid *out, valise *v, const char *text,
                                     const valise_preference_options *options,
                                     const valise_call *call, valise_error *err);

/* VALISE_E_NOT_FOUND. preference:delete */
VALISE_API int valise_preference_delete(valise *v, const valise_uuid *preference,
                                        const valise_call *call, valise_error *err);

/* ---- entries ---- */

enum { VALISE_ENTRY_TEXT, VALISE_ENTRY_JSON, VALISE_ENTRY_BLOB };

typedef struct valise_entry_options {
    size_t size;
    int kind;                 /* what the content is: VALISE_ENTRY_TEXT, or JSON. (Of a BLOB the
                                 content is its id, in 64 digits) */
    const valise_str *topics; /* NULL: as they are */
    size_t topic_count;
    valise_str metadata; /* JSON; ptr NULL: as it is */
    int64_t ttl_ns;      /* for how long it holds from now on; 0: as it is, a new one for ever */
} valise_entry_options;

#define VALISE_ENTRY_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(valise_entry_options), VALISE_ENTRY_TEXT, NULL, 0, {NULL, 0}, 0                     \
    }

/* *version (may be NULL): how often it was written. VALISE_E_NOT_FOUND: nobody holds the blob.
 * context:update, context:add */
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

/* 1; or 0, and *out is untouched: there is none, or its time is over. context:show */
VALISE_API int valise_entry_get(valise_entry **out, valise *v, const char *key,
                                const valise_call *call, valise_error *err);
VALISE_API void valise_entry_free(valise_entry *entry); /* NULL is fine */

/* VALISE_E_NOT_FOUND. context:delete */
VALISE_API int valise_entry_delete(valise *v, const char *key, const valise_call *call,
                                   valise_error *err);

VALISE_END

#endif
