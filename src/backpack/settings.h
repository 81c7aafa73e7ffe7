/* settings.h -- what the owner says about a backpack, beyond decide.h.
 *
 * Threads: pure functions over a ledger or a view. */
#ifndef VLS_SETTINGS_H
#define VLS_SETTINGS_H

#include "backpack/scope.h"

/* Only the owner's handle may: VALISE_E_DENIED with what is refused. */
int vls_scope_owner_only(const vls_scope *scope, const char *what, valise_error *err);

/* vls_bag_tag_rule for all backpacks of the workspace, in a command. */
int vls_workspace_rule(valise_view *view, valise_str tag, valise_list read, valise_list write,
                       valise_error *err);

/* *seq: what it held. VALISE_E_NOT_FOUND. */
int vls_bag_checkpoint_remove(int64_t *seq, const vls_ledger *ledger, valise_str name,
                              valise_error *err);

#endif
