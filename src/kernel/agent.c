/* agent.c -- what the operations on actors share. */
#include "kernel/kernel.h"

#include "base/str.h"
#include "base/text.h"

const valise_field vls_agent_ref_fields[] = {
    VALISE_FIELD_WITH(vls_agent_ref, id, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Id of the actor.", .ref = "actor", .min = 1, .max = VLS_ACTOR_MAX),
    VALISE_FIELD_END,
};

int vls_agent_get(vls_actor_row *row, valise_view *view, valise_error *err)
{
    int rc = valise_view_get(row, view, &vls_actor_coll, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no actor '%s' in this workspace",
                   vls_text_short(row->id).s);
    vls_hint(err, "'valise agent list' lists them");
    return VALISE_E_NOT_FOUND;
}

static int find_admin(bool *found, valise_view *view, valise_str but, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_actor_row row;
    int rc = valise_view_scan(&scan, view, &vls_actor_coll, NULL, err);

    *found = false;
    while (rc >= 0 && !*found) {
        rc = valise_scan_next(&row, scan, err);
        if (rc <= 0)
            break;
        *found = !vls_str_equal(row.id, but) && vls_actor_is_admin(&row);
    }
    valise_scan_close(scan);
    return rc < 0 ? rc : 0;
}

int vls_agent_others_administer(valise_view *view, valise_str id, valise_error *err)
{
    bool found;
    int rc = find_admin(&found, view, id, err);

    if (rc < 0 || found)
        return rc;
    (void)vls_fail(err, VALISE_E_CONFLICT,
                   "%.*s is the only actor who can administer this workspace", VALISE_STR_ARG(id));
    vls_hint(err, "add another owner first: valise agent add ID --role owner");
    return VALISE_E_CONFLICT;
}
