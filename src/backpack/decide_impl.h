/* decide_impl.h -- what all that changes a backpack has in common.
 *
 *     vls_write w;
 *     rc = vls_write_begin(&w, ledger, scope, node_id, node_name, call, err);    enters
 *     rc = vls_write_find(&w, key, err);                 the newest commit of the key
 *     ... checks, fills w.commit ...
 *     rc = vls_write_append(&w, value, err);
 *     vls_write_end(&w);                                 leaves
 *
 * Threads: single. */
#ifndef VLS_DECIDE_IMPL_H
#define VLS_DECIDE_IMPL_H

#include "backpack/decide.h"

typedef struct vls_write {
    const vls_ledger *ledger;
    vls_scope *scope;
    const vls_change_call *call;
    vls_ledger_head head; /* kept up to date over several commits */
    valise_str node_id, node_name;
    bool known, live;     /* does the key have a newest commit, and is it an item? */
    valise_commit newest; /* if known */
    int64_t run;          /* of the next commit */
    bool new_run;         /* it starts with it */
    valise_commit commit; /* the next one */
} vls_write;

/* Who writes: of the owner's scope what was given, else "unknown"; of a node's the node. Enters the
 * ledger, unless it fails. */
int vls_write_begin(vls_write *w, const vls_ledger *ledger, vls_scope *scope, valise_str node_id,
                    valise_str node_name, const vls_change_call *call, valise_error *err);
void vls_write_end(vls_write *w);

/* From now on the owner takes over what this node did elsewhere: no run of it is here. A node's
 * scope stays who it is. */
void vls_write_as(vls_write *w, valise_str node_id, valise_str node_name);

/* Start the next commit, of this key: node, version and what came before are filled in. */
int vls_write_find(vls_write *w, valise_str key, int64_t action, valise_error *err);

/* Is it allowed? 1, 0 for a lenient backpack, or VALISE_E_DENIED. What is denied is recorded.
 * present: the item that is changed, NULL: none. */
int vls_write_check(vls_write *w, const char *verb, const valise_commit *present,
                    valise_str new_namespace, valise_error *err);

/* Is the item's version this one? As in vls_pack_args. VALISE_E_CONFLICT. */
int vls_write_expect(const vls_write *w, int64_t expect, valise_error *err);

/* The item as it is, for what takes it away: namespace, tags and lists stay with the commit, so
 * that who could not see the item does not see that it goes. */
int vls_write_keep_item(vls_write *w, const valise_commit *item, valise_error *err);

/* Taints that are given: by the owner, of tags that are tags. */
int vls_taints_check(valise_list taints, const vls_scope *scope, valise_error *err);

/* Sticky tags that the node has read, added to commit.tags; taints and declassified. inherited: the
 * item (of the arena) whose tags the commit gets; NULL: it has its own. given: more taints, as in
 * vls_pack_args. */
int vls_write_taint(vls_write *w, const valise_commit *inherited, valise_list given,
                    valise_list declassify, valise_error *err);

/* Make the commit: nothing has changed when it fails. It stays readable in w->commit. */
int vls_write_append(vls_write *w, valise_blob *value, valise_error *err);

/* Make the commit that puts the item away, and the entry of the quarantine (quarantine.c). */
int vls_write_quarantine(vls_write *w, const vls_quarantine_args *args, valise_error *err);

/* The number of the newest entry of a key that holds an item, outside of enter and leave: 1, or 0
 * for none. */
int vls_entry_newest(int64_t *out, const vls_ledger *ledger, valise_str key, valise_error *err);

/* The answer for the commit that was appended. */
void vls_write_done(vls_done *out, const vls_write *w);

#endif
