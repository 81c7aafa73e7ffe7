/* meet.c -- see meet.h. */
#include "memory/meet.h"

#include "base/hash.h"
#include "base/str.h"
#include "base/text.h"
#include "blob/hold.h"
#include "memory/rows.h"

static const valise_id no_id;

int vls_role_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_role_row *ours = here, *theirs = there;
    vls_role_row role = *theirs;

    role.created = VLS_MIN(ours->created, theirs->created);
    return theirs->version > ours->version ? valise_view_put(view, &vls_roles, &role, err) : 0;
}

/* Zero: it was erased, or there was none. */
static bool is_same_or_erased(const valise_id *a, const valise_id *b)
{
    return vls_id_equal(a, b) || vls_id_equal(a, &no_id) || vls_id_equal(b, &no_id);
}

static bool has_same_topics(const valise_list *a, const valise_list *b)
{
    const valise_str *x = a->items, *y = b->items;

    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        if (!vls_str_equal(x[i], y[i]))
            return false;
    }
    return a->count == b->count;
}

int vls_role_version_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_role_version_row *a = here, *b = there;
    bool labels = !a->label.ptr || !b->label.ptr || vls_str_equal(a->label, b->label);

    (void)view;
    /* When and by whom does not matter: what it tells does. */
    if (labels && is_same_or_erased(&a->persona, &b->persona) &&
        is_same_or_erased(&a->constraints, &b->constraints) &&
        has_same_topics(&a->topics, &b->topics))
        return 0;
    (void)vls_fail(err, VALISE_E_CONFLICT,
                   "version %lld of role %s is another one here than in the bundle",
                   (long long)a->version, vls_text_short(a->name).s);
    vls_hint(err, "nothing was imported; give the role another name on one side, and switch to it");
    return VALISE_E_CONFLICT;
}

int vls_entry_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                    valise_error *err)
{
    const vls_context_entry_row *entry = row;
    const vls_blob_hold hold = {entry->blob, VLS_HOLD_CONTEXT, entry->key};

    (void)view;
    return vls_id_equal(&entry->blob, &no_id) ? 0 : fn(arg, &vls_blob_holds, &hold, err);
}
