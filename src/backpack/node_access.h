/* node_access.h -- permissions and rules of one node, ready to be asked.
 *
 * What the globs say about a key and the patterns about a namespace is remembered, so that ten of
 * them cost what one does:
 *
 *     slot = hash of the text;  64 bytes:  [bits][length][the text itself, up to 62 bytes]
 *
 * A slot holds the whole text: a verdict is never that of another key. Longer texts are not
 * remembered. A table starts small and grows when its slots are fought for; without memory there is
 * none, and everything is matched again.
 *
 * Threads: single; a scope's lock is over it. */
#ifndef VLS_NODE_ACCESS_H
#define VLS_NODE_ACCESS_H

#include "backpack/bag.h"

enum { VLS_NODE_READ = 1, VLS_NODE_WRITE = 2, VLS_NODE_DENY = 4, VLS_NODE_KNOWN = 8 };

#define VLS_VERDICT_TEXT_MAX 62u
#define VLS_VERDICTS_MIN 64u
#define VLS_VERDICTS_MAX 4096u

typedef struct vls_verdict {
    uint8_t bits; /* 0: an empty slot */
    uint8_t len;
    char text[VLS_VERDICT_TEXT_MAX];
} vls_verdict;

typedef struct vls_verdicts {
    vls_verdict *slots; /* NULL: none yet */
    size_t cap, replaced;
} vls_verdicts;

/* What a rule means for the node. */
typedef struct vls_tag_verdict {
    valise_str tag;
    unsigned bits;
} vls_tag_verdict;

typedef struct vls_node_access {
    const valise_env *env;
    vls_arena arena; /* over what follows */
    bool restricted; /* false: there is no set of permissions */
    valise_permissions allow;
    vls_tag_verdict *tags; /* of rules that take something away */
    size_t tag_count;
    vls_verdicts keys, names;
} vls_node_access;

void vls_node_access_init(vls_node_access *access, const valise_env *env);
void vls_node_access_release(vls_node_access *access); /* a zeroed one is fine */

/* Copies. */
int vls_node_access_set(vls_node_access *access, const valise_permissions *permissions,
                        valise_error *err);
/* Call it once. */
int vls_node_access_set_rules(vls_node_access *access, const vls_rule_row *rules, size_t count,
                              valise_str node_id, valise_error *err);

/* Steps 1 to 5 of scope.h. name ptr NULL: no namespace. has_present: the key is there, in
 * `present`.
 */
bool vls_node_access_may_read(vls_node_access *access, valise_str key, valise_str name);
bool vls_node_access_may_write(vls_node_access *access, valise_str key, valise_str name,
                               bool has_present, valise_str present);

/* Do the rules allow this (READ or WRITE) for all of the tags? */
bool vls_node_access_rules_allow(const vls_node_access *access, valise_list tags, unsigned what,
                                 valise_list except);

#endif
