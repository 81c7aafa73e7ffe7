/* look_impl.h -- what all that reads a backpack has in common.
 *
 * Threads: pure functions over a ledger. */
#ifndef VLS_LOOK_IMPL_H
#define VLS_LOOK_IMPL_H

#include "backpack/look.h"

/* Put on record that the scope wanted to read a key and may not. Between enter and leave. */
void vls_look_denied(const vls_ledger *ledger, const vls_scope *scope, valise_str key, int64_t now);
/* Between enter and leave: the value of a commit, NULL when it has none or it was erased. */
int vls_look_value(valise_blob **out, const vls_ledger *ledger, const valise_commit *commit,
                   valise_error *err);

/* The failure of who needs a value that was erased: VALISE_E_NOT_FOUND. */
int vls_look_fail_erased(valise_str key, valise_error *err);

/* Outside of enter and leave: may the scope see the commit? 1 or 0. What it sees it has read, as
 * far as sticky tags go. value: NULL, or gets the value (NULL: there is none). shown: NULL, or gets
 * the commit as the scope may see it, with the same strings. */
int vls_look_show(valise_blob **value, valise_commit *shown, const vls_ledger *ledger,
                  vls_scope *scope, const valise_commit *commit, valise_error *err);

/* Between enter and leave: the hash of the value before goes, where the scope may not see whose it
 * is. Short values are guessed, and a hash says which guess is right. */
int vls_look_trim(valise_commit *commit, const vls_ledger *ledger, vls_scope *scope,
                  valise_error *err);

#endif
