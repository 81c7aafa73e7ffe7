/* actor.c -- the rows of actors, and the roles. */
#include "bus/actor.h"

#include "base/str.h"
#include "base/text.h"
#include "bus/grant.h"

const char *const vls_role_names[] = {"none", "reader", "writer", "synthesis", "owner", NULL};

static const char *const grants_none[] = {NULL};
static const char *const grants_reader[] = {"*:read", NULL};
static const char *const grants_writer[] = {"*:read", "*:write", "*:run", "*:invalidate", NULL};
static const char *const grants_synthesis[] = {
    "*:read", "context:write", "context:synthesize", "context:regenerate", "context:invalidate",
    NULL};
static const char *const grants_owner[] = {"*:*", "admin", NULL};

const char *const *vls_role_grants(int64_t role)
{
    static const char *const *const all[VLS_ROLE_COUNT] = {
        grants_none, grants_reader, grants_writer, grants_synthesis, grants_owner};

    return role >= 0 && role < VLS_ROLE_COUNT ? all[role] : grants_none;
}

const valise_field vls_capability_item = {
    .type = VALISE_T_STR, .min = 1, .max = VLS_GRANT_MAX_BYTES};

const valise_field vls_actor_fields[] = {
    VALISE_FIELD_WITH(vls_actor_row, id, STR, VALISE_KEY, "Id of the actor.", .min = 1,
                      .max = VLS_ACTOR_MAX),
    VALISE_FIELD_WITH(vls_actor_row, role, ENUM, 0, "Its role.", .more = vls_role_names),
    VALISE_FIELD_WITH(vls_actor_row, capabilities, LIST, 0, "What else it may do.",
                      .more = &vls_capability_item, .max = VLS_ACTOR_MAX_CAPABILITIES),
    VALISE_FIELD_AS(vls_actor_row, added_by, "addedBy", STR, 0, "Who admitted it."),
    VALISE_FIELD(vls_actor_row, added, TIME, 0, "When it was admitted."),
    VALISE_FIELD_END,
};

const valise_coll vls_actor_coll = {
    .size = sizeof(valise_coll),
    .name = "actor",
    .help = "Somebody who acts in the workspace.",
    .fields = vls_actor_fields,
    .row_size = sizeof(vls_actor_row),
    .needs = "agent:read",
};

static const valise_field setting_fields[] = {
    VALISE_FIELD_WITH(vls_setting_row, name, STR, VALISE_KEY, "Its name.", .min = 1, .max = 64),
    VALISE_FIELD(vls_setting_row, value, JSON, 0, "What it is set to."),
    VALISE_FIELD_END,
};

const valise_coll vls_setting_coll = {
    .size = sizeof(valise_coll),
    .name = "setting",
    .help = "A setting that is part of the state.",
    .fields = setting_fields,
    .row_size = sizeof(vls_setting_row),
    .needs = "agent:read",
};

/* ---- checks ---- */

bool vls_actor_id_is_valid(valise_str id)
{
    if (id.len == 0 || id.len > VLS_ACTOR_MAX || !vls_is_alnum(id.ptr[0]))
        return false;
    for (size_t i = 1; i < id.len; i++) {
        if (!vls_is_alnum(id.ptr[i]) && (id.ptr[i] == '\0' || !strchr("._@:/+-", id.ptr[i])))
            return false;
    }
    return true;
}

static bool role_covers(int64_t role, const vls_grant *grant)
{
    for (const char *const *text = vls_role_grants(role); *text; text++) {
        vls_grant wide;
        if (vls_grant_parse(&wide, valise_str_of(*text), NULL) == 0 &&
            vls_grant_covers(&wide, grant))
            return true;
    }
    return false;
}

/* Does the grant contradict the role? */
static int check_beside_role(const vls_actor_row *row, valise_str text, const vls_grant *grant,
                             valise_error *err)
{
    const char *role = vls_role_names[row->role];

    if (role_covers(row->role, grant)) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "capability \"%s\" contradicts role %s, which already includes all of it",
                       vls_text_short(text).s, role);
        vls_hint(err, "leave out the capability, or the role so that it has nothing else");
        return VALISE_E_INVALID;
    }
    if (row->role == VLS_ROLE_READER || vls_str_equal(grant->capability, VLS_STR("admin"))) {
        (void)vls_fail(err, VALISE_E_INVALID, "capability \"%s\" contradicts role %s",
                       vls_text_short(text).s, role);
        vls_hint(err,
                 "give it a role that fits, or role none and all the capabilities that it needs");
        return VALISE_E_INVALID;
    }
    return 0;
}

static int check_capability(const vls_actor_row *row, size_t index, valise_error *err)
{
    const valise_str *all = row->capabilities.items;
    vls_grant grant;
    int rc = vls_grant_parse(&grant, all[index], err);

    for (size_t i = 0; rc == 0 && i < index; i++) {
        if (vls_str_equal(all[i], all[index]))
            rc = vls_fail(err, VALISE_E_INVALID, "capability \"%s\" is given twice",
                          vls_text_short(all[index]).s);
    }
    if (rc == 0 && row->role != VLS_ROLE_NONE)
        rc = check_beside_role(row, all[index], &grant, err);
    if (rc < 0)
        vls_error_prepend(err, "capabilities[%zu]", index);
    return rc;
}

int vls_actor_check(const vls_actor_row *row, valise_error *err)
{
    int rc = 0;

    if (!vls_actor_id_is_valid(row->id)) {
        (void)vls_fail(
            err, VALISE_E_INVALID,
            "\"%s\" cannot be the id of an actor: use letters, digits and ._@:/+-, %u at most",
            vls_text_short(row->id).s, VLS_ACTOR_MAX);
        vls_error_prepend(err, "id");
        return VALISE_E_INVALID;
    }
    if (row->capabilities.count > VLS_ACTOR_MAX_CAPABILITIES)
        return vls_fail(err, VALISE_E_INVALID, "actor %.*s has more than %u capabilities",
                        VALISE_STR_ARG(row->id), VLS_ACTOR_MAX_CAPABILITIES);
    for (size_t i = 0; rc == 0 && i < row->capabilities.count; i++)
        rc = check_capability(row, i, err);
    if (rc < 0 || row->role != VLS_ROLE_NONE || row->capabilities.count > 0)
        return rc;
    (void)vls_fail(err, VALISE_E_INVALID, "actor %.*s would not be allowed to do anything",
                   VALISE_STR_ARG(row->id));
    vls_hint(err, "give it a role (reader, writer, synthesis, owner) or capabilities");
    return VALISE_E_INVALID;
}

bool vls_actor_is_admin(const vls_actor_row *row)
{
    const valise_str *all = row->capabilities.items;

    for (size_t i = 0; i < row->capabilities.count; i++) {
        if (vls_str_equal(all[i], VLS_STR("admin")))
            return true;
    }
    return row->role == VLS_ROLE_OWNER;
}
