/* event.c -- what subscribers hear of roles, preferences and context entries. [K15]
 *
 *     row that changes    event
 *     role                role.added, role.updated, role.removed
 *     role_version        role.erased: what a version said is gone
 *     preference          preference.added, .updated, .removed, .erased
 *     context             context.added, .updated, .removed (also where it expired), .erased
 *
 * Nothing that is marked CONTENT is told. An erasure takes the contents of the past too, so that it
 * shows in a row that says nothing and has the version it had. */
#include "memory/event.h"

#include "bus/event.h"
#include "memory/memory.h"

/* ---- roles ---- */

typedef struct role_told {
    valise_str name;
    int64_t version;
} role_told;

static const valise_field role_fields[] = {
    VALISE_FIELD(role_told, name, STR, VALISE_REQUIRED, "The role."),
    VALISE_FIELD(role_told, version, INT, VALISE_REQUIRED, "Its version."),
    VALISE_FIELD_END,
};

int vls_role_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err)
{
    const vls_role_row *row = after ? after : before;
    const char *type = !before ? "role.added" : after ? "role.updated" : "role.removed";

    assert(row);
    return vls_event_tell(out, view, type, &(role_told){row->name, row->version}, role_fields, err);
}

int vls_role_version_event(valise_event *out, valise_view *view, const void *before,
                           const void *after, valise_error *err)
{
    const vls_role_version_row *row = after;

    if (!before || !after)
        return 0; /* the role tells */
    return vls_event_tell(out, view, "role.erased", &(role_told){row->name, row->version},
                          role_fields, err);
}

/* ---- preferences ---- */

typedef struct preference_told {
    valise_uuid id;
    int64_t version, scope;
    valise_str of, slot;
    int64_t priority;
    valise_str actor;
} preference_told;

static const valise_field preference_fields[] = {
    VALISE_FIELD(preference_told, id, UUID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(preference_told, version, INT, VALISE_REQUIRED, "Counts its changes."),
    VALISE_FIELD_WITH(preference_told, scope, ENUM, VALISE_REQUIRED, "Where it applies.",
                      .more = vls_scopes),
    VALISE_FIELD(preference_told, of, STR, VALISE_NULLABLE, "In which role or session."),
    VALISE_FIELD(preference_told, slot, STR, VALISE_NULLABLE, "What it decides."),
    VALISE_FIELD(preference_told, priority, INT, VALISE_REQUIRED, "Higher ones win."),
    VALISE_FIELD(preference_told, actor, STR, VALISE_REQUIRED, "Who wrote it last."),
    VALISE_FIELD_END,
};

int vls_preference_event(valise_event *out, valise_view *view, const void *before,
                         const void *after, valise_error *err)
{
    const vls_preference_row *old = before, *row = after ? after : before;
    const char *type = "preference.updated";
    preference_told told;

    assert(row);
    told = (preference_told){.id = row->id,
                             .version = row->version,
                             .scope = row->scope,
                             .of = row->of,
                             .slot = row->slot,
                             .priority = row->priority,
                             .actor = row->actor};

    if (!before || !after)
        type = after ? "preference.added" : "preference.removed";
    else if (vls_id_is_none(&row->content) && row->version == old->version)
        type = "preference.erased";
    return vls_event_tell(out, view, type, &told, preference_fields, err);
}

/* ---- entries ---- */

typedef struct entry_told {
    valise_str key;
    int64_t type, version, expires;
    valise_str actor;
} entry_told;

static const valise_field entry_fields[] = {
    VALISE_FIELD(entry_told, key, STR, VALISE_REQUIRED, "Its key."),
    VALISE_FIELD_WITH(entry_told, type, ENUM, VALISE_REQUIRED, "Its type.",
                      .more = vls_entry_types),
    VALISE_FIELD(entry_told, version, INT, VALISE_REQUIRED, "Counts its changes."),
    VALISE_FIELD(entry_told, expires, TIME, VALISE_NULLABLE, "When it expires."),
    VALISE_FIELD(entry_told, actor, STR, VALISE_REQUIRED, "Who wrote it last."),
    VALISE_FIELD_END,
};

static bool says_nothing(const vls_context_entry_row *row)
{
    return vls_id_is_none(&row->content) && vls_id_is_none(&row->blob);
}

int vls_entry_event(valise_event *out, valise_view *view, const void *before, const void *after,
                    valise_error *err)
{
    const vls_context_entry_row *old = before, *row = after ? after : before;
    const char *type = "context.updated";
    entry_told told;

    assert(row);
    told = (entry_told){.key = row->key,
                        .type = row->type,
                        .version = row->version,
                        .expires = row->expires,
                        .actor = row->actor};

    if (!before || !after)
        type = after ? "context.added" : "context.removed";
    else if (says_nothing(row) && row->version == old->version)
        type = "context.erased";
    return vls_event_tell(out, view, type, &told, entry_fields, err);
}
