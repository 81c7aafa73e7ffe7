/* scope.h -- who looks at a backpack, and what they may do. The one place that says so.
 *
 * The owner's scope allows everything. A node's has its identity and its permissions, compiled
 * once:
 *
 *     1. a `deny` glob matches the key                                    denied
 *     2. the set has no allow list at all                                 allowed
 *     3. read: a `read` glob matches the key, or a `namespaceRead`        allowed
 *        pattern the item's namespace
 *     4. write: a `write` glob matches the key, or a `namespaceWrite`     allowed
 *        pattern the namespace the item will carry and, where the key
 *        exists, the one it carries
 *     5.                                                                  denied
 *
 * Then the item's own lists of nodes and the rules of its tags; these only take away. In key globs
 * `*` is any run of bytes.
 *
 * Verdicts on namespaces and keys are remembered, so that ten patterns cost what one does.
 *
 * Threads: vls_scope is shared. */
#ifndef VLS_SCOPE_H
#define VLS_SCOPE_H

#include "backpack/ledger.h"

typedef struct vls_scope vls_scope;

/* node NULL: the owner's. Permissions: the node's own, or those that the ledger has for its id;
 * none: everything is allowed. Reads permissions and rules through the ledger (enters it). */
int vls_scope_new(vls_scope **out, const valise_env *env, const vls_ledger *ledger,
                  const valise_node *node, valise_error *err);
void vls_scope_free(vls_scope *scope); /* NULL is fine */

/* A state, and who looks at it. What a node may do is said by each backpack for itself: its scope
 * is for one only, in whatever state. The owner's is for any. */
typedef struct vls_scoped {
    const vls_ledger *ledger;
    vls_scope *scope;
} vls_scoped;

/* Enter the ledger with permissions and rules that are up to date. On failure the ledger is left
 * again. */
int vls_scope_enter(vls_ledger_head *head, vls_scope *scope, const vls_ledger *ledger,
                    valise_error *err);

static inline void vls_scope_leave(const vls_ledger *ledger)
{
    ledger->ops->leave(ledger->self);
}

/* What `permit` and `rule` may set: patterns that are patterns, lists that are not too long. The
 * first thing that is wrong, or each of them (a code of `wrong` other than 0 ends it, and is the
 * result). */
int vls_permissions_check(const valise_permissions *permissions, valise_error *err);
typedef int vls_permissions_fn(void *arg, const valise_error *why);
int vls_permissions_each_wrong(const valise_permissions *permissions, vls_permissions_fn *wrong,
                               void *arg);

const valise_env *vls_scope_env(const vls_scope *scope);
bool vls_scope_is_owner(const vls_scope *scope);
valise_str vls_scope_node_id(const vls_scope *scope); /* "unknown" for the owner */
valise_str vls_scope_node_name(const vls_scope *scope);
valise_str vls_scope_namespace(const vls_scope *scope); /* ptr NULL: none */

/* The run that was started for it, and the state that the run found: what it writes belongs to it.
 * 0: none, its writes make runs of their own. */
int64_t vls_scope_run(vls_scope *scope);
void vls_scope_set_run(vls_scope *scope, int64_t number, int64_t start);

/* May it read this version of the key? present: the newest commit of the key, NULL when there is
 * none; version: what is read, the same as present for the item itself. Where neither is there only
 * the key is looked at. */
bool vls_scope_may_read(vls_scope *scope, valise_str key, const valise_commit *version,
                        const valise_commit *present);

/* The same for a commit that the ledger shows, between enter and leave: 1, 0 or a failure. The
 * item of today is looked up where that matters. */
int vls_scope_sees(vls_scope *scope, const vls_ledger *ledger, const valise_commit *commit,
                   valise_error *err);

/* May it write the key, so that the item carries new_namespace (ptr NULL: none)? present: what is
 * there, NULL when nothing is. */
bool vls_scope_may_write(vls_scope *scope, valise_str key, const valise_commit *present,
                         valise_str new_namespace);

/* The error of a refusal: who, what, which key, and the way out. Returns VALISE_E_DENIED. */
int vls_scope_deny(const vls_scope *scope, const char *verb, valise_str key, valise_error *err);

/* Only the owner's handle may: VALISE_E_DENIED with what is refused. */
int vls_scope_owner_only(const vls_scope *scope, const char *what, valise_error *err);

/* ---- taint (taint.c) ----
 *
 * A mark says that a node has read a sticky tag. It lies in the ledger, as a row of vls_bag_taints;
 * where that cannot be changed (a snapshot, a query) in the scope. It counts for the run of the
 * node's next write and for the rest of that run; for a run that was started, when it was made
 * since. Between enter and leave. */

/* The scope's node reads something that carries this commit's tags. */
int vls_scope_taint(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                    const valise_commit *item, valise_error *err);

/* What the node's next commit carries of it, sorted, in arena: a list of const valise_taint *.
 * new_run: that commit starts one. declassify: sorted tags to leave out; *left_out: those of them
 * that a mark was there for. */
int vls_scope_taints(valise_list *out, valise_list *left_out, vls_scope *scope,
                     const vls_ledger *ledger, const vls_ledger_head *head, bool new_run,
                     valise_list declassify, vls_arena *arena, valise_error *err);

/* The node has read what carries these elsewhere: a list of const valise_taint * whose backpack is
 * said. */
int vls_scope_add_marks(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                        valise_list taints, valise_error *err);

/* The node has written: marks of earlier runs go, the others have been used. Fails only where the
 * commit is undone then (vls_ledger_ops.undone). */
int vls_scope_wrote(vls_scope *scope, const vls_ledger *ledger, const vls_ledger_head *head,
                    bool new_run, valise_error *err);

/* The marks that no ledger has, as rows (vls_taint_row), in arena: for a command that puts them.
 * vls_scope_marks_kept says that the first `count` of them lie in the ledger now. */
int vls_scope_new_marks(valise_list *out, vls_scope *scope, vls_arena *arena, valise_error *err);
void vls_scope_marks_kept(vls_scope *scope, size_t count);

/* `since` of a mark that is put into a ledger whose newest commit is `last`: what was read in a
 * state of the past was read now. */
static inline int64_t vls_mark_since(int64_t since, int64_t last)
{
    return since < 0 ? ~last : last;
}

static inline void vls_auto_scope(vls_scope **scope)
{
    vls_scope_free(*scope);
}

#endif
