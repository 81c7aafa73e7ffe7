/* node_access.c -- permissions and rules of one node, and what is remembered of them. */
#include "backpack/node_access.h"

#include "base/glob.h"
#include "base/mem.h"

/* ---- remembering ---- */

static void release_verdicts(vls_verdicts *v, const valise_env *env)
{
    vls_mem_free(env, v->slots, v->cap * sizeof(*v->slots));
    *v = (vls_verdicts){0};
}

/* A larger, empty table; as it was when there is no memory. */
static void grow(vls_verdicts *v, const valise_env *env)
{
    size_t cap = v->cap == 0 ? VLS_VERDICTS_MIN : v->cap * 2;
    vls_verdict *slots = vls_mem_zalloc(env, cap * sizeof(*slots));

    v->replaced = 0;
    if (!slots)
        return;
    release_verdicts(v, env);
    v->slots = slots;
    v->cap = cap;
}

/* The slot for the text, which may be another's; NULL: it cannot be remembered. */
static vls_verdict *slot_of(vls_verdicts *v, const valise_env *env, valise_str text)
{
    if (text.len > VLS_VERDICT_TEXT_MAX)
        return NULL;
    if (v->cap == 0 || (v->replaced > v->cap && v->cap < VLS_VERDICTS_MAX))
        grow(v, env);
    if (v->cap == 0)
        return NULL;
    return &v->slots[vls_str_hash(text, 0) & (v->cap - 1)];
}

static bool slot_has(const vls_verdict *slot, valise_str text)
{
    return slot->bits != 0 && vls_str_equal(text, vls_str(slot->text, slot->len));
}

static unsigned remember(vls_verdicts *v, vls_verdict *slot, valise_str text, unsigned bits)
{
    if (slot) {
        if (slot->bits != 0)
            v->replaced++;
        slot->bits = (uint8_t)(bits | VLS_NODE_KNOWN);
        slot->len = (uint8_t)text.len;
        if (text.len > 0)
            memcpy(slot->text, text.ptr, text.len);
    }
    return bits;
}

/* ---- matching ---- */

static bool matches(const vls_glob_rules *rules, valise_list patterns, valise_str text)
{
    const valise_str *pattern = patterns.items;

    for (size_t i = 0; i < patterns.count; i++) {
        if (vls_glob_match(rules, pattern[i], text))
            return true;
    }
    return false;
}

static unsigned key_bits(vls_node_access *access, valise_str key)
{
    const valise_permissions *allow = &access->allow;
    vls_verdict *slot;
    unsigned bits = 0;

    if (allow->deny.count + allow->read.count + allow->write.count == 0)
        return 0;
    slot = slot_of(&access->keys, access->env, key);
    if (slot && slot_has(slot, key))
        return slot->bits;
    if (matches(&vls_glob_flat, allow->deny, key))
        bits |= VLS_NODE_DENY;
    if (matches(&vls_glob_flat, allow->read, key))
        bits |= VLS_NODE_READ;
    if (matches(&vls_glob_flat, allow->write, key))
        bits |= VLS_NODE_WRITE;
    return remember(&access->keys, slot, key, bits);
}

static unsigned name_bits(vls_node_access *access, valise_str name)
{
    vls_verdict *slot;
    unsigned bits = 0;

    if (!name.ptr)
        return 0;
    slot = slot_of(&access->names, access->env, name);
    if (slot && slot_has(slot, name))
        return slot->bits;
    if (matches(&vls_glob_dotted, access->allow.namespace_read, name))
        bits |= VLS_NODE_READ;
    if (matches(&vls_glob_dotted, access->allow.namespace_write, name))
        bits |= VLS_NODE_WRITE;
    return remember(&access->names, slot, name, bits);
}

static bool has_allow_list(const valise_permissions *allow)
{
    return allow->read.items || allow->write.items || allow->namespace_read.items ||
           allow->namespace_write.items;
}

/* Is it settled before any list is asked? Else *bits is what the lists of keys say. */
static bool is_settled(bool *may, unsigned *bits, vls_node_access *access, valise_str key)
{
    *bits = access->restricted ? key_bits(access, key) : 0;
    *may = !(*bits & VLS_NODE_DENY);
    return !access->restricted || !*may || !has_allow_list(&access->allow);
}

bool vls_node_access_may_read(vls_node_access *access, valise_str key, valise_str name)
{
    unsigned bits;
    bool may;

    if (is_settled(&may, &bits, access, key))
        return may;
    return (bits & VLS_NODE_READ) || (name_bits(access, name) & VLS_NODE_READ);
}

bool vls_node_access_may_write(vls_node_access *access, valise_str key, valise_str name,
                               bool has_present, valise_str present)
{
    unsigned bits;
    bool may;

    if (is_settled(&may, &bits, access, key))
        return may;
    return (bits & VLS_NODE_WRITE) ||
           ((name_bits(access, name) & VLS_NODE_WRITE) &&
            (!has_present || (name_bits(access, present) & VLS_NODE_WRITE)));
}

static bool is_excepted(valise_list except, valise_str tag)
{
    const valise_taint *const *taint = except.items;

    for (size_t i = 0; i < except.count; i++) {
        if (vls_str_equal(taint[i]->tag, tag))
            return true;
    }
    return false;
}

bool vls_node_access_rules_allow(const vls_node_access *access, valise_list tags, unsigned what,
                                 valise_list except)
{
    const valise_str *tag = tags.items;

    for (size_t r = 0; r < access->tag_count; r++) {
        const vls_tag_verdict *rule = &access->tags[r];
        if (rule->bits & what)
            continue;
        for (size_t i = 0; i < tags.count; i++) {
            if (vls_str_equal(tag[i], rule->tag) && !is_excepted(except, tag[i]))
                return false;
        }
    }
    return true;
}

/* ---- setting ---- */

void vls_node_access_init(vls_node_access *access, const valise_env *env)
{
    *access = (vls_node_access){.env = env};
    vls_arena_init(&access->arena, env, SIZE_MAX);
}

void vls_node_access_release(vls_node_access *access)
{
    if (access->env) {
        release_verdicts(&access->keys, access->env);
        release_verdicts(&access->names, access->env);
    }
    vls_arena_release(&access->arena);
}

int vls_node_access_set(vls_node_access *access, const valise_permissions *permissions,
                        valise_error *err)
{
    int rc;

    access->allow = *permissions;
    rc = vls_permissions_copy(&access->allow, &access->arena, err);
    access->restricted = rc == 0;
    return rc;
}

static bool names_node(valise_list nodes, valise_str node_id)
{
    const valise_str *node = nodes.items;

    for (size_t i = 0; i < nodes.count; i++) {
        if (vls_str_equal(node[i], node_id))
            return true;
    }
    return !nodes.items;
}

int vls_node_access_set_rules(vls_node_access *access, const vls_rule_row *rules, size_t count,
                              valise_str node_id, valise_error *err)
{
    int rc = 0;

    access->tags = vls_arena_array(&access->arena, count + 1, sizeof(*access->tags));
    if (!access->tags)
        return vls_arena_fail(&access->arena, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        vls_tag_verdict *verdict = &access->tags[access->tag_count];
        verdict->bits = (names_node(rules[i].read, node_id) ? VLS_NODE_READ : 0u) |
                        (names_node(rules[i].write, node_id) ? VLS_NODE_WRITE : 0u);
        if (verdict->bits == (VLS_NODE_READ | VLS_NODE_WRITE))
            continue; /* it takes nothing away */
        rc = vls_arena_dup(&verdict->tag, &access->arena, rules[i].tag, err);
        if (rc == 0)
            access->tag_count++;
    }
    return rc;
}
