/* actor.h -- who acts in a workspace: rows of the collection `actor`, and what roles mean.
 *
 *     role        grants
 *     none        nothing but the row's own capabilities
 *     reader      *:read
 *     writer      *:read, *:write, *:run, *:invalidate
 *     synthesis   *:read, context:write, context:synthesize, context:regenerate,
 *                 context:invalidate
 *     owner       everything, and admin
 *
 * A row's own capabilities are added to those of its role. They must not contradict it: a reader
 * with a grant to write is not a reader, and a grant that is narrower than what the role gives
 * anyway would promise a limit that does not exist. vls_actor_check refuses both.
 *
 * Threads: immutable tables, pure functions. */
#ifndef VLS_ACTOR_H
#define VLS_ACTOR_H

#include <valise/sys/view.h>

#include "base/base.h"

#define VLS_ACTOR_MAX 128u /* bytes of an id */
#define VLS_ACTOR_MAX_CAPABILITIES 64u
#define VLS_ACTOR_LOCAL "local" /* who a new workspace knows */

enum {
    VLS_ROLE_NONE,
    VLS_ROLE_READER,
    VLS_ROLE_WRITER,
    VLS_ROLE_SYNTHESIS,
    VLS_ROLE_OWNER,
    VLS_ROLE_COUNT,
};

extern const char *const vls_role_names[];     /* NULL-ended */
extern const valise_field vls_capability_item; /* of a list of capabilities */

typedef struct vls_actor_row {
    valise_str id;
    int64_t role;
    valise_list capabilities; /* of valise_str */
    valise_str added_by;
    int64_t added;
} vls_actor_row;

extern const valise_field vls_actor_fields[];
extern const valise_coll vls_actor_coll;

/* What a role grants, NULL-ended. */
const char *const *vls_role_grants(int64_t role);

/* Letters, digits and . _ @ : / + - behind a letter or digit: it can stand on a command line. */
bool vls_actor_id_is_valid(valise_str id);

/* May this row be put? Also when it comes from a bundle or an extension. VALISE_E_INVALID. */
int vls_actor_check(const vls_actor_row *row, valise_error *err);

/* Whether it may do everything administrative, without a condition. */
bool vls_actor_is_admin(const vls_actor_row *row);

/* ---- settings that are state ---- */

#define VLS_SETTING_OPEN "access.open" /* true: unknown actors come in as writers */

typedef struct vls_setting_row {
    valise_str name;
    valise_str value; /* JSON */
} vls_setting_row;

extern const valise_coll vls_setting_coll;

#endif
