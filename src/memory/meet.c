/* meet.c -- see meet.h. */
#include "memory/meet.h"

#include "base/hash.h"
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "blob/hold.h"
#include "memory/memory.h"

int vls_role_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_role_row *ours = here, *theirs = there;
    vls_role_row role = *theirs;

    role.created = VLS_MIN(ours->created, theirs->created);
    return theirs->version > ours->version ? valise_view_put(view, &vls_roles, &role, err) : 0;
}

int vls_role_version_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_role_version_row *a = here, *b = there;
    bool labels = !a->label.ptr || !b->label.ptr || vls_str_equal(a->label, b->label);

    (void)view;
    /* When and by whom does not matter: what it tells does. */
    if (labels && vls_memory_same_or_erased(&a->persona, &b->persona) &&
        vls_memory_same_or_erased(&a->constraints, &b->constraints) &&
        vls_topics_equal(a->topics, b->topics))
        return 0;
    (void)vls_fail(err, VALISE_E_CONFLICT,
                   "version %lld of role %s is not the same here and in the bundle",
                   (long long)a->version, vls_text_short(a->name).s);
    vls_hint(
        err,
        "nothing was imported; on one side, add the role under another name, and switch to that");
    return VALISE_E_CONFLICT;
}

int vls_preference_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_preference_row *ours = here, *theirs = there;

    if (ours->scope == VLS_SCOPE_SESSION && theirs->scope == VLS_SCOPE_SESSION &&
        vls_str_equal(ours->of, theirs->of))
        return theirs->version > ours->version
                   ? valise_view_put(view, &vls_preferences, theirs, err)
                   : 0;
    (void)vls_fail(err, VALISE_E_CONFLICT,
                   "preference %s is both here and in the bundle, and they differ",
                   vls_uuid_text(&ours->id).s);
    vls_hint(err, "nothing was imported; import into an empty workspace to compare them");
    return VALISE_E_CONFLICT;
}

int vls_entry_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                    valise_error *err)
{
    const vls_context_entry_row *entry = row;
    const vls_blob_hold hold = {entry->blob, VLS_HOLD_CONTEXT, entry->key};

    (void)view;
    return vls_id_is_none(&entry->blob) ? 0 : fn(arg, &vls_blob_holds, &hold, err);
}
