/* preference.c -- preferences (preference.h). */
#include "memory/preference.h"

#include "base/hex.h"
#include "base/text.h"
#include "bus/bus.h"
#include "memory/role.h"
#include "store/view.h"

const valise_field vls_preference_ref_fields[] = {
    VALISE_FIELD_WITH(vls_preference_ref, id, UUID, VALISE_REQUIRED | VALISE_POSITIONAL, "Its id.",
                      .ref = VLS_REF_PREFERENCE),
    VALISE_FIELD_END,
};

const valise_field vls_preference_made_fields[] = {
    VALISE_FIELD(vls_preference_made, id, UUID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_preference_made, version, INT, VALISE_REQUIRED,
                 "How often it was written; 1 for a new one."),
    VALISE_FIELD_END,
};

const valise_field vls_preference_shown_fields[] = {
    VALISE_FIELD(vls_preference_shown, id, UUID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_preference_shown, content, STR, VALISE_NULLABLE,
                 "What is preferred; none when it was erased."),
    VALISE_FIELD_WITH(vls_preference_shown, scope, ENUM, VALISE_REQUIRED, "Where it applies.",
                      .more = vls_scopes),
    VALISE_FIELD(vls_preference_shown, of, STR, VALISE_NULLABLE, "In which role or session."),
    VALISE_FIELD(vls_preference_shown, slot, STR, VALISE_NULLABLE, "What it decides."),
    VALISE_FIELD(vls_preference_shown, priority, INT, VALISE_REQUIRED, "Higher ones win."),
    VALISE_FIELD_WITH(vls_preference_shown, topics, LIST, 0, "Its topics.",
                      .more = &vls_topic_item),
    VALISE_FIELD(vls_preference_shown, version, INT, VALISE_REQUIRED, "How often it was written."),
    VALISE_FIELD(vls_preference_shown, created, TIME, VALISE_REQUIRED, "When it was added."),
    VALISE_FIELD(vls_preference_shown, updated, TIME, VALISE_REQUIRED, "When it was changed last."),
    VALISE_FIELD(vls_preference_shown, actor, STR, VALISE_REQUIRED, "Who did."),
    VALISE_FIELD_END,
};

int vls_preference_get(vls_preference_row *row, valise_view *view, valise_error *err)
{
    int rc = valise_view_get(row, view, &vls_preferences, err);

    if (rc != 0)
        return vls_settle(rc);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no preference %s", vls_uuid_text(&row->id).s);
    vls_hint(err, "'valise preference list' lists them");
    return VALISE_E_NOT_FOUND;
}

/* ---- scope ---- */

/* Sessions are of an area that is built on this one: by name. Where nobody knows of sessions, any
 * id will do. */
static int check_there(valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_named(view->txn->store, VLS_STR("session"));
    void *row = NULL;
    int rc;

    if (!coll || coll->foreign || coll->missing)
        return 0;
    rc = valise_view_alloc(&row, view, coll->desc->row_size, err);
    if (rc < 0)
        return rc;
    memset(row, 0, coll->desc->row_size);
    memcpy((char *)row + coll->desc->fields[0].offset, id, sizeof(*id));
    rc = valise_view_get(row, view, coll->desc, err);
    if (rc != 0)
        return vls_settle(rc);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no session %s", vls_uuid_text(id).s);
    vls_hint(err, "'valise session list' lists them");
    return VALISE_E_NOT_FOUND;
}

static int check_session(vls_preference_row *row, valise_view *view, valise_error *err)
{
    valise_uuid id;

    if (vls_uuid_parse(&id, row->of, NULL) < 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the id of a session",
                       vls_text_short(row->of).s);
        vls_hint(err, "give the whole id here; 'valise session list' lists them");
        return VALISE_E_INVALID;
    }
    if (!view->replaying) { /* what is in the log was accepted */
        int rc = check_there(view, &id, err);
        if (rc < 0)
            return rc;
    }
    return vls_arena_dup(&row->of, &view->arena, valise_str_of(vls_uuid_text(&id).s), err);
}

int vls_preference_check(vls_preference_row *row, valise_view *view, valise_error *err)
{
    vls_role_row role = {.name = row->of};

    if (row->scope == VLS_SCOPE_WORKSPACE) {
        if (!row->of.ptr)
            return 0;
        (void)vls_fail(err, VALISE_E_INVALID,
                       "a preference of the workspace cannot have a role or session ('%s')",
                       vls_text_short(row->of).s);
        vls_hint(err, "give `scope` too: role or session");
        return VALISE_E_INVALID;
    }
    if (!row->of.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "it does not say for which %s it is",
                       vls_scopes[row->scope]);
        vls_hint(err, "`of` names it");
        return VALISE_E_INVALID;
    }
    if (row->scope == VLS_SCOPE_SESSION)
        return check_session(row, view, err);
    return vls_role_get(&role, view, err);
}

/* ---- showing ---- */

int vls_preference_show(vls_preference_shown *out, valise_view *view, const vls_preference_row *row,
                        valise_error *err)
{
    int rc = vls_memory_text(&out->content, view, &row->content, err);

    out->id = row->id;
    out->topics = row->topics;
    out->scope = row->scope;
    out->of = row->of;
    out->slot = row->slot;
    out->priority = row->priority;
    out->version = row->version;
    out->created = row->created;
    out->updated = row->updated;
    out->actor = row->actor;
    return rc;
}

int vls_preference_current(valise_str *json, valise_view *view, const valise_uuid *id,
                           valise_error *err)
{
    vls_preference_row row = {.id = *id};
    int rc = valise_view_get(&row, view, &vls_preferences, err);

    return rc < 0 ? rc : vls_memory_current(json, view, rc > 0 ? row.version : 0, err);
}
