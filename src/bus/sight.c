/* sight.c -- see sight.h. */
#include "bus/sight.h"

#include "bus/event.h"
#include "bus/read.h"

/* ---- what a collection needs ---- */

static bool has_coll(const valise_extension *package, const valise_coll *coll)
{
    for (size_t i = 0; package->collections && package->collections[i]; i++) {
        if (strcmp(package->collections[i]->name, coll->name) == 0)
            return true;
    }
    return false;
}

static const valise_extension *package_of(const vls_registry *registry, const valise_coll *coll)
{
    const valise_extension *const *all = vls_registry_packages(registry);

    for (size_t i = 0; all[i]; i++) {
        if (has_coll(all[i], coll))
            return all[i];
    }
    return NULL;
}

/* From *at on, the next one that asks for something. */
static const char *next_query(size_t *at, const valise_extension *package)
{
    while (package && package->operations && package->operations[*at]) {
        const valise_op *op = package->operations[(*at)++];
        if (op->kind == VALISE_QUERY && op->needs)
            return op->needs;
    }
    return NULL;
}

const char *vls_sight_next(size_t *at, const vls_registry *registry, const valise_coll *coll)
{
    const valise_extension *package = coll->needs ? NULL : package_of(registry, coll);
    size_t before = *at, none = 0;

    if (coll->needs || !next_query(&none, package)) {
        *at = 1;
        return before > 0 ? NULL : coll->needs ? coll->needs : "admin";
    }
    return next_query(at, package);
}

/* ---- asking ---- */

int vls_sight_row(valise_view *view, const valise_coll *coll, valise_error *err)
{
    const vls_registry *registry = vls_reading_of(view)->bus->registry;
    const char *capability;
    size_t at = 0;
    int rc = 0;

    while (rc == 0 && (capability = vls_sight_next(&at, registry, coll)))
        rc = valise_view_allows(view, capability, NULL, err);
    return rc;
}

int vls_sight_object(valise_view *view, valise_error *err)
{
    return valise_view_allows(view, VLS_SIGHT_OBJECT, NULL, err);
}

int vls_sight_index(valise_view *view, const vls_index *index, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < index->source_count; i++)
        rc = vls_sight_row(view, index->colls[i]->desc, err);
    return rc;
}

int vls_sight_event(valise_view *view, const valise_event *event, valise_str command,
                    valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    vls_event_need need;
    int rc;

    vls_event_need_of(&need, vls_reading_of(view)->bus->registry, event, command);
    rc = valise_view_allows(view, need.capability, need.attrs, &why);
    if (rc == VALISE_E_DENIED)
        return 0;
    if (rc < 0 && err)
        *err = why;
    return rc < 0 ? rc : 1;
}

int vls_sight_payload(valise_view *view, valise_str type, valise_error *err)
{
    const valise_event nothing_more = {.size = sizeof(nothing_more)};

    return vls_sight_event(view, &nothing_more, type, err);
}
