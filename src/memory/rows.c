/* rows.c -- the tables of roles, preferences and context entries. */
#include "memory/rows.h"

#include <stddef.h>

#include "blob/hold.h"
#include "bus/bus.h"
#include "memory/entry.h"
#include "memory/event.h"
#include "memory/meet.h"

const char *const vls_scopes[] = {"workspace", "role", "session", NULL};
const char *const vls_entry_types[] = {"text", "json", "blob", NULL};

const valise_field vls_topic_item = {
    .name = "topic", .help = "A topic.", .type = VALISE_T_STR, .min = 1, .max = VLS_TOPIC_MAX};

#define TOPICS(row)                                                                                \
    VALISE_FIELD_WITH(row, topics, LIST, 0, "Its topics.", .more = &vls_topic_item,                \
                      .max = VLS_TOPICS_MAX)

/* ---- roles ---- */

static const valise_field role_fields[] = {
    VALISE_FIELD_WITH(vls_role_row, name, STR, VALISE_REQUIRED | VALISE_KEY, "Name of the role.",
                      .min = 1, .max = VLS_ROLE_NAME_MAX, .ref = "role_version"),
    VALISE_FIELD(vls_role_row, version, INT, 0, "Its newest version."),
    TOPICS(vls_role_row),
    VALISE_FIELD(vls_role_row, created, TIME, 0, "When it was added."),
    VALISE_FIELD(vls_role_row, updated, TIME, 0, "When it was changed last."),
    VALISE_FIELD_END,
};

const valise_coll vls_roles = {.size = sizeof(valise_coll),
                               .name = "role",
                               .help = "A persona.",
                               .fields = role_fields,
                               .row_size = sizeof(vls_role_row),
                               .event = vls_role_event,
                               .needs = "role:read",
                               .meet = vls_role_meet};

static const valise_field version_fields[] = {
    VALISE_FIELD_WITH(vls_role_version_row, name, STR, VALISE_REQUIRED | VALISE_KEY,
                      "Name of the role.", .min = 1, .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD(vls_role_version_row, version, INT, VALISE_REQUIRED | VALISE_KEY, "1, 2, 3."),
    VALISE_FIELD_WITH(vls_role_version_row, label, STR, VALISE_NULLABLE | VALISE_CONTENT,
                      "Its label, for people.", .max = VLS_ROLE_LABEL_MAX),
    VALISE_FIELD_WITH(vls_role_version_row, persona, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Its instructions.", .ref = "object"),
    VALISE_FIELD_WITH(vls_role_version_row, constraints, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Model, temperature and so on.", .ref = "object"),
    TOPICS(vls_role_version_row),
    VALISE_FIELD(vls_role_version_row, time, TIME, 0, "Since when."),
    VALISE_FIELD_WITH(vls_role_version_row, actor, STR, 0, "Who wrote it.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_END,
};

const valise_coll vls_role_versions = {.size = sizeof(valise_coll),
                                       .name = "role_version",
                                       .help = "What a role was at some time.",
                                       .fields = version_fields,
                                       .row_size = sizeof(vls_role_version_row),
                                       .flags = VALISE_COLL_IMMUTABLE,
                                       .event = vls_role_version_event,
                                       .needs = "role:read",
                                       .meet = vls_role_version_meet};

/* ---- preferences ---- */

static const valise_field preference_fields[] = {
    VALISE_FIELD(vls_preference_row, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Its id."),
    VALISE_FIELD_WITH(vls_preference_row, content, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "What is preferred.", .ref = "object"),
    TOPICS(vls_preference_row),
    VALISE_FIELD_WITH(vls_preference_row, scope, ENUM, 0, "Where it applies.", .more = vls_scopes),
    VALISE_FIELD_WITH(vls_preference_row, of, STR, VALISE_NULLABLE, "In which role or session.",
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(vls_preference_row, slot, STR, VALISE_NULLABLE, "What it decides.",
                      .max = VLS_MEMORY_SLOT_MAX),
    VALISE_FIELD(vls_preference_row, priority, INT, 0, "Higher ones win."),
    VALISE_FIELD(vls_preference_row, version, INT, 0, "Counts its changes."),
    VALISE_FIELD(vls_preference_row, created, TIME, 0, "When it was added."),
    VALISE_FIELD(vls_preference_row, updated, TIME, 0, "When it was changed last."),
    VALISE_FIELD_WITH(vls_preference_row, actor, STR, 0, "Who did.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_END,
};

const valise_coll vls_preferences = {.size = sizeof(valise_coll),
                                     .name = "preference",
                                     .help = "Something that somebody prefers.",
                                     .fields = preference_fields,
                                     .row_size = sizeof(vls_preference_row),
                                     .event = vls_preference_event,
                                     .needs = "preference:read",
                                     .meet = vls_preference_meet};

/* ---- context entries ---- */

static const valise_field entry_fields[] = {
    VALISE_FIELD_WITH(vls_context_entry_row, key, STR, VALISE_REQUIRED | VALISE_KEY, "Its key.",
                      .min = 1, .max = VLS_MEMORY_KEY_MAX),
    VALISE_FIELD_WITH(vls_context_entry_row, type, ENUM, 0, "Its type.", .more = vls_entry_types),
    VALISE_FIELD_WITH(vls_context_entry_row, content, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "What it says.", .ref = "object"),
    VALISE_FIELD_WITH(vls_context_entry_row, blob, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "The blob it is.", .ref = "blob"),
    TOPICS(vls_context_entry_row),
    VALISE_FIELD_WITH(vls_context_entry_row, metadata, ID, VALISE_NULLABLE | VALISE_CONTENT,
                      "Whatever else was told.", .ref = "object"),
    VALISE_FIELD(vls_context_entry_row, expires, TIME, VALISE_NULLABLE, "When it expires."),
    VALISE_FIELD(vls_context_entry_row, version, INT, 0, "Counts its changes."),
    VALISE_FIELD(vls_context_entry_row, created, TIME, 0, "When it was added."),
    VALISE_FIELD(vls_context_entry_row, updated, TIME, 0, "When it was changed last."),
    VALISE_FIELD_WITH(vls_context_entry_row, actor, STR, 0, "Who did.", .max = VLS_ACTOR_MAX),
    VALISE_FIELD_END,
};

static const char *const by_expires[] = {"expires", NULL};
static const char *const by_blob[] = {"blob", NULL};
static const valise_coll_index entry_indexes[] = {
    {"expires", by_expires}, {"blob", by_blob}, {NULL, NULL}};

/* Without its contents an entry has no use for the blob, and nobody for those it had. One that was
 * gone before has let go of its own. */
static int entry_erased(valise_view *view, const void *row, valise_error *err)
{
    const vls_context_entry_row *entry = row;
    int rc = vls_entry_let_go(view, entry, err);

    if (rc == 0 && !vls_id_is_none(&entry->blob))
        rc = vls_blob_forget(view, &entry->blob, err);
    return rc < 0 ? rc : vls_blob_forget_entry(view, entry->key, err);
}

const valise_coll vls_context_entries = {.size = sizeof(valise_coll),
                                         .name = "context",
                                         .help = "Something that can be told.",
                                         .fields = entry_fields,
                                         .row_size = sizeof(vls_context_entry_row),
                                         .indexes = entry_indexes,
                                         .event = vls_entry_event,
                                         .needs = "memory:read",
                                         .leads = vls_entry_leads,
                                         .erased = entry_erased};
