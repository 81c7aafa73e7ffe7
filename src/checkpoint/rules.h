/* rules.h -- the ignore rules that a checkpoint has among its files.
 *
 * What they leave out was never to be in the checkpoint, so that it is not there says nothing about
 * the file: a restore that deletes leaves it alone, whatever today's rules say.
 *
 * Threads: single. */
#ifndef VLS_CHECKPOINT_RULES_H
#define VLS_CHECKPOINT_RULES_H

#include "base/vec.h"
#include "checkpoint/manifest.h"
#include "store/view.h"
#include "tree/ignore.h"

/* The bytes of a rule file. */
typedef struct vls_rule_file {
    valise_str path, bytes;
} vls_rule_file;

typedef struct vls_kept_rules {
    const valise_env *env;
    vls_vec(vls_rule_file) files; /* in the order of paths */
    vls_ignore *root;             /* NULL: there are none */
} vls_kept_rules;

/* Read them from the entries of a checkpoint, which are in order; bytes are of the arena. One that
 * cannot be read, or that no scan would take, has no rules. */
int vls_kept_rules_read(vls_kept_rules *out, valise_view *view, const vls_manifest_entry *entries,
                        size_t count, vls_arena *arena, valise_error *err);
void vls_kept_rules_release(vls_kept_rules *rules); /* a zeroed one is fine */

/* Do they ignore a path, or a directory above it? 1, or 0. */
int vls_kept_rules_ignore(vls_kept_rules *rules, valise_str path, bool is_dir, valise_error *err);

#endif
