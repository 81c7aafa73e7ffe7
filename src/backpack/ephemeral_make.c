/* ephemeral_make.c -- new ephemeral backpacks (ephemeral.h). */
#include "backpack/ephemeral.h"

#include "backpack/rows.h"

int vls_ephemeral_check_name(valise_view *view, valise_str name, valise_error *err)
{
    vls_bag_row row;
    int rc = vls_rows_find(&row, view, name, err);

    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_EXISTS, "'%.*s' is a durable backpack", VALISE_STR_ARG(name));
    vls_hint(err, "open it with VALISE_BACKPACK_DURABLE, or choose another name");
    return VALISE_E_EXISTS;
}

int vls_ephemeral_check_archive(valise_view *view, valise_str name, valise_error *err)
{
    VLS_AUTO(rows) vls_rows rows = {0};
    char text[VLS_BAG_NAME_MAX + 1];
    const char *attrs[] = {"backpack", text, NULL};
    int rc = vls_bag_check_name(name, err);

    /* Who may not write to it does not learn whether it is there. */
    if (rc == 0) {
        memcpy(text, name.ptr, name.len);
        text[name.len] = '\0';
        rc = valise_view_allows(view, "backpack:write", attrs, err);
    }
    if (rc == 0)
        rc = vls_rows_open(&rows, view, name, err);
    if (rc < 0)
        vls_error_prepend(err, "archive");
    return rc;
}

int vls_ephemeral_make(vls_ephemeral **out, valise *v, const vls_ephemeral_new *like,
                       const vls_ring_options *options, valise_error *err)
{
    VLS_AUTO(ring) vls_ring *ring = NULL;
    vls_ring_options own = *options;
    int rc;

    own.id = *like->id;
    own.name = like->name;
    own.archive = like->archive.len > 0;
    rc = vls_ring_new(&ring, v->env, &own, err);
    return rc < 0 ? rc : vls_ephemeral_add(out, v, ring, like, err);
}

int vls_ephemeral_fork(vls_ephemeral **out, int64_t *seq, valise *v, const vls_ledger *from,
                       const vls_ephemeral_new *like, const vls_ring_options *options,
                       valise_error *err)
{
    VLS_AUTO(ring) vls_ring *ring = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_ring_options own = *options;
    vls_ledger_head head;
    int rc;

    vls_arena_init(&arena, v->env, (size_t)1 << 20);
    from->ops->enter(from->self);
    rc = from->ops->head(&head, from->self, err);
    own.sticky = head.sticky;
    if (rc == 0)
        rc = vls_bag_copy_names(&own.sticky, &arena, err);
    from->ops->leave(from->self);
    if (rc < 0)
        return rc;
    own.id = *like->id;
    own.name = like->name;
    own.lenient = head.lenient;
    own.taint = head.taint;
    own.archive = like->archive.len > 0;
    rc = vls_ring_fork(&ring, from, &own, err);
    if (rc == 0)
        rc = vls_ephemeral_add(out, v, ring, like, err);
    if (rc == 0)
        *seq = head.last;
    return rc;
}

int vls_ephemeral_only(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID,
                   "only an ephemeral backpack can have an archive and bounds");
    vls_hint(err, "for durable ones use 'valise retention set backpack'");
    return VALISE_E_INVALID;
}
