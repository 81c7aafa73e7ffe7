/* op_role_history.c -- role:history, every version of a role, the newest first. [W12] */
#include "base/text.h"
#include "bus/bus.h"
#include "memory/role.h"
#include "store/view.h"

/* Their strings live in the scan until its next call: an answer is written at once. */
static int emit_each(bool *any, valise_view *view, valise_str name, int64_t now, valise_error *err)
{
    vls_role_version_row row = {.name = name};
    const valise_select select = {.row = &row, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_role_versions, &select, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        vls_role_shown shown = {.version = 0};
        vls_view_mark mark = vls_view_here(view);
        *any = true;
        rc = vls_role_show(&shown, view, &row, now, err);
        if (rc == 0)
            rc = valise_view_emit(view, &shown, err);
        vls_view_rewind(view, mark);
    }
    valise_scan_close(scan);
    return rc;
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const vls_role_ref *args = in;
    vls_role_row role = {.name = args->name};
    bool any = false;
    int rc = valise_view_get(&role, view, &vls_roles, err);

    (void)result;
    if (rc >= 0)
        rc = emit_each(&any, view, args->name, role.version, err);
    if (rc < 0 || any)
        return rc;
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there never was a role '%s'",
                   vls_text_short(args->name).s);
    vls_hint(err, "'valise role list' lists them");
    return VALISE_E_NOT_FOUND;
}

const valise_op vls_op_memory_role_history = {
    .size = sizeof(valise_op),
    .name = "role:history",
    .brief = "List the versions of a role, newest first.",
    .help =
        "This also works for a deleted role, so that prompts built with it can still be explained.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "role:read",
    .in = vls_role_ref_fields,
    .in_size = sizeof(vls_role_ref),
    .out = vls_role_shown_fields,
    .out_size = sizeof(vls_role_shown),
    .query = query,
    .example = "{\"name\":\"coder\"}",
};
