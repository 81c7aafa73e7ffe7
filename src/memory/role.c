/* role.c -- roles and their versions (role.h). */
#include "memory/role.h"

#include "base/text.h"
#include "bus/bus.h"
#include "store/view.h"

const valise_field vls_role_ref_fields[] = {
    VALISE_FIELD_WITH(vls_role_ref, name, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the role.", .ref = VLS_REF_ROLE_NAME, .min = 1,
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_END,
};

const valise_field vls_role_made_fields[] = {
    VALISE_FIELD(vls_role_made, name, STR, VALISE_REQUIRED, "Name of the role."),
    VALISE_FIELD(vls_role_made, version, INT, VALISE_REQUIRED, "The version that holds now."),
    VALISE_FIELD_END,
};

const valise_field vls_role_shown_fields[] = {
    VALISE_FIELD(vls_role_shown, name, STR, VALISE_REQUIRED, "Name of the role."),
    VALISE_FIELD(vls_role_shown, version, INT, VALISE_REQUIRED, "1, 2, 3."),
    VALISE_FIELD(vls_role_shown, current, BOOL, 0, "It is the one that holds."),
    VALISE_FIELD(vls_role_shown, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD_WITH(vls_role_shown, topics, LIST, 0, "Its topics.", .more = &vls_topic_item),
    VALISE_FIELD(vls_role_shown, constraints, JSON, VALISE_NULLABLE,
                 "Model, temperature and so on."),
    VALISE_FIELD(vls_role_shown, time, TIME, VALISE_REQUIRED, "Since when."),
    VALISE_FIELD(vls_role_shown, actor, STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD(vls_role_shown, persona, STR, VALISE_NULLABLE, "Its instructions."),
    VALISE_FIELD_END,
};

static int fail_no_role(valise_str name, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no role '%s'", vls_text_short(name).s);
    vls_hint(err, "'valise role list' lists them");
    return VALISE_E_NOT_FOUND;
}

int vls_role_get(vls_role_row *role, valise_view *view, valise_error *err)
{
    int rc = valise_view_get(role, view, &vls_roles, err);

    return rc == 0 ? fail_no_role(role->name, err) : vls_settle(rc);
}

int vls_role_version_get(vls_role_version_row *out, valise_view *view, valise_str name,
                         int64_t version, valise_error *err)
{
    vls_role_version_row row = {.name = name, .version = version};
    int rc = valise_view_get(&row, view, &vls_role_versions, err);

    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "role '%s' has no version %lld",
                       vls_text_short(name).s, (long long)version);
        vls_hint(err, "'valise role history' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        *out = row;
    return vls_settle(rc);
}

/* The number of the last version there is of that name, or 0. */
static int last_version(int64_t *out, valise_view *view, valise_str name, valise_error *err)
{
    vls_role_version_row row = {.name = name};
    const valise_select select = {.row = &row, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_role_versions, &select, err);

    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc >= 0)
        *out = rc > 0 ? row.version : 0;
    valise_scan_close(scan);
    return vls_settle(rc);
}

int vls_role_put(vls_role_made *out, valise_view *view, vls_role_version_row *version,
                 int64_t made_in, valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_role_row role = {.name = version->name,
                         .topics = version->topics,
                         .created = made_in == VALISE_NONE ? stamp->time : made_in,
                         .updated = stamp->time};
    int64_t last = 0;
    int rc = last_version(&last, view, version->name, err);

    if (rc < 0)
        return rc;
    version->version = role.version = last + 1;
    version->time = stamp->time;
    version->actor = stamp->actor;
    rc = valise_view_put(view, &vls_role_versions, version, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_roles, &role, err);
    *out = (vls_role_made){role.name, role.version};
    return rc;
}

int vls_role_show(vls_role_shown *out, valise_view *view, const vls_role_version_row *row,
                  int64_t now, valise_error *err)
{
    int rc = vls_memory_text(&out->persona, view, &row->persona, err);

    if (rc == 0)
        rc = vls_memory_text(&out->constraints, view, &row->constraints, err);
    out->name = row->name;
    out->label = row->label;
    out->version = row->version;
    out->topics = row->topics;
    out->current = row->version == now;
    out->time = row->time;
    out->actor = row->actor;
    return rc;
}
