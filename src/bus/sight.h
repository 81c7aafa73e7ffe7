/* sight.h -- what an actor may see of the store, whichever operation shows it.
 *
 *     a row        what its collection says (valise_coll.needs), else everything that the queries
 *                  of its package need; one of a package that is not loaded: admin
 *     a payload    AREA:read, AREA being that of the command's name: as for its events
 *     an object    object:read: who refers to it cannot be asked quickly
 *     an index     what the rows it is made from need
 *
 * `log:read` and `index:read` give access to the list, but not to the contents that belong to
 * others.
 *
 * Threads: pure functions; views are single. */
#ifndef VLS_SIGHT_H
#define VLS_SIGHT_H

#include "bus/index.h"
#include "bus/registry.h"

#define VLS_SIGHT_OBJECT "object:read"

/* The capabilities that a row of the collection needs, one after the other: *at is 0 at the start.
 * NULL: that was all. */
const char *vls_sight_next(size_t *at, const vls_registry *registry, const valise_coll *coll);

/* Asked within a query. VALISE_E_DENIED with the way out. */
int vls_sight_row(valise_view *view, const valise_coll *coll, valise_error *err);
int vls_sight_object(valise_view *view, valise_error *err);
int vls_sight_index(valise_view *view, const vls_index *index, valise_error *err);

/* 1: the event may be seen, 0: not. command: see vls_event_need_of. */
int vls_sight_event(valise_view *view, const valise_event *event, valise_str command,
                    valise_error *err);

/* The same of the payload of a command of this type. */
int vls_sight_payload(valise_view *view, valise_str type, valise_error *err);

#endif
