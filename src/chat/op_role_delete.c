/* op_role_delete.c -- role:delete, unless a session uses it. [W12]
 *
 * It stands here since it looks at sessions. Versions of a role never go: a prompt that was built
 * can still be explained. */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "memory/role.h"

#define NAMED 3 /* sessions that an error names */

typedef struct delete_args {
    valise_str name;
    bool force;
} delete_args;

static const valise_field delete_in[] = {
    VALISE_FIELD_WITH(delete_args, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the role.", .ref = VLS_REF_ROLE_NAME, .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD(delete_args, force, BOOL, 0,
                 "Delete it even if sessions use it; they keep its name without a persona."),
    VALISE_FIELD_END,
};

typedef struct users {
    valise_uuid some[NAMED];
    int64_t count;
} users;

static void add_user(users *u, const vls_session_row *session)
{
    if (u->count < NAMED)
        u->some[u->count] = session->id;
    u->count++;
}

static int find_users(users *u, valise_view *view, valise_str name, valise_error *err)
{
    vls_session_row row = {.role = name};
    const valise_select in_force = {.index = "role", .row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_sessions, &in_force, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        add_user(u, &row);
    valise_scan_close(scan);
    if (rc < 0 || u->count > 0)
        return rc;
    /* Who began with it and has another one now goes back to it with the head: there is no index
     * for that, since every turn would pay for it. */
    scan = NULL;
    rc = valise_view_scan(&scan, view, &vls_sessions, NULL, err);
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        if (vls_str_equal(row.first_role, name))
            add_user(u, &row);
    }
    valise_scan_close(scan);
    return rc;
}

static int refuse(const users *u, valise_str name, valise_error *err)
{
    char some[NAMED * 40 + 8] = "";
    size_t len = 0;

    for (int64_t i = 0; i < u->count && i < NAMED; i++)
        len += (size_t)snprintf(some + len, sizeof(some) - len, "%s%s", i > 0 ? ", " : "",
                                vls_uuid_text(&u->some[i]).s);
    (void)vls_fail(err, VALISE_E_CONFLICT, "%lld session%s role '%s': %s%s", (long long)u->count,
                   u->count == 1 ? " uses" : "s use", vls_text_short(name).s, some,
                   u->count > NAMED ? " ..." : "");
    vls_hint(err, "'valise session role switch' gives them another one; --force deletes it anyway");
    return VALISE_E_CONFLICT;
}

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    vls_role_row role = {.name = ((const delete_args *)in)->name};
    int rc = valise_view_get(&role, view, &vls_roles, err);

    return rc < 0 ? rc : vls_memory_current(json, view, rc > 0 ? role.version : 0, err);
}

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const delete_args *args = in;
    vls_role_row role = {.name = args->name};
    users u = {.count = 0};
    int rc = vls_role_get(&role, view, err);

    if (rc == 0 && !args->force)
        rc = find_users(&u, view, role.name, err);
    if (rc == 0 && u.count > 0)
        rc = refuse(&u, role.name, err);
    if (rc == 0)
        rc = valise_view_delete(view, &vls_roles, &role, err);
    *(vls_role_made *)result = (vls_role_made){role.name, role.version};
    return vls_settle(rc);
}

const valise_op vls_op_chat_role_delete = {
    .size = sizeof(valise_op),
    .name = "role:delete",
    .brief = "Delete a role that no session uses.",
    .help = "Its versions stay and can be shown; if it is added again, its version numbers "
            "continue. A session uses the role that is in force and the role that it started with.",
    .kind = VALISE_COMMAND,
    .needs = "role:write",
    .in = delete_in,
    .in_size = sizeof(delete_args),
    .out = vls_role_made_fields,
    .out_size = sizeof(vls_role_made),
    .current = current,
    .expect_help = "the version that holds",
    .decide = decide,
    .example = "{\"name\":\"coder\"}",
};
