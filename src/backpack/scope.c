/* scope.c -- who looks at a backpack, and what they may do. */
#include "backpack/scope_impl.h"

#include "backpack/look.h"
#include "base/glob.h"
#include "base/mem.h"
#include "base/uuid.h"

/* ---- patterns ---- */

static int check_pattern(valise_str pattern, const vls_glob_rules *rules, valise_error *err)
{
    if (!pattern.ptr && pattern.len > 0)
        return vls_fail(err, VALISE_E_INVALID, "a pattern has a length, but no bytes");
    if (pattern.len > VLS_BAG_KEY_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "a pattern of %zu bytes: %d are allowed", pattern.len,
                        VLS_BAG_KEY_MAX);
    return vls_glob_check(rules, pattern, err);
}

static int check_patterns(const char *member, valise_list patterns, const vls_glob_rules *rules,
                          vls_permissions_fn *wrong, void *arg)
{
    const valise_str *pattern = patterns.items;
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    if (patterns.count > VLS_BAG_LIST_MAX) {
        (void)vls_fail(&why, VALISE_E_LIMIT, "%zu patterns: %d are allowed", patterns.count,
                       VLS_BAG_LIST_MAX);
        vls_error_prepend(&why, "%s", member);
        return wrong(arg, &why);
    }
    for (size_t i = 0; i < patterns.count && rc == 0; i++) {
        vls_error_clear(&why);
        if (check_pattern(pattern[i], rules, &why) == 0)
            continue;
        vls_error_prepend(&why, "[%zu]", i);
        vls_error_prepend(&why, "%s", member);
        rc = wrong(arg, &why);
    }
    return rc;
}

int vls_permissions_each_wrong(const valise_permissions *p, vls_permissions_fn *wrong, void *arg)
{
    const struct {
        const char *member;
        valise_list patterns;
        const vls_glob_rules *rules;
    } lists[] = {{"read", p->read, &vls_glob_flat},
                 {"write", p->write, &vls_glob_flat},
                 {"deny", p->deny, &vls_glob_flat},
                 {"namespaceRead", p->namespace_read, &vls_glob_dotted},
                 {"namespaceWrite", p->namespace_write, &vls_glob_dotted}};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(lists) && rc == 0; i++)
        rc = check_patterns(lists[i].member, lists[i].patterns, lists[i].rules, wrong, arg);
    return rc;
}

static int take_first(void *arg, const valise_error *why)
{
    valise_error *err = arg;

    if (err)
        *err = *why;
    return why->code;
}

int vls_permissions_check(const valise_permissions *permissions, valise_error *err)
{
    return vls_permissions_each_wrong(permissions, take_first, err);
}

/* ---- permissions and rules ---- */

typedef struct rules {
    vls_arena *arena;
    vls_vec(vls_rule_row) rows;
} rules;

static int add_rule(void *arg, const void *row, valise_error *err)
{
    rules *r = arg;
    vls_rule_row rule = *(const vls_rule_row *)row;
    int rc = vls_rule_copy(&rule, r->arena, err);

    if (rc == 0 && !vls_vec_push(&r->rows, r->arena->env, rule))
        rc = vls_fail_memory(err);
    return rc;
}

static int load_rules(vls_node_access *access, vls_scope *scope, const vls_ledger *ledger,
                      valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    rules r = {.arena = &arena, .rows = VLS_VEC_INIT};
    int rc;

    vls_arena_init(&arena, scope->env, SIZE_MAX);
    rc = ledger->ops->each_row(ledger->self, &vls_bag_rules, add_rule, &r, err);
    if (rc == 0)
        rc = vls_node_access_set_rules(access, r.rows.ptr, r.rows.len, scope->node_id, err);
    vls_vec_release(&r.rows, scope->env);
    return rc;
}

static int load_permissions(vls_node_access *access, uint64_t *generation, vls_scope *scope,
                            const vls_ledger *ledger, valise_error *err)
{
    vls_permission_row row = {.node_id = scope->node_id};
    vls_ledger_head head;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc == 0) {
        *generation = head.generation;
        row.backpack = head.id;
        if (scope->own)
            rc = vls_node_access_set(access, scope->own, err);
        else
            rc = ledger->ops->row_get(&row, ledger->self, &vls_bag_permissions, err);
    }
    if (rc > 0)
        rc = vls_node_access_set(access, &row.allow, err);
    ledger->ops->leave(ledger->self);
    return rc;
}

/* Outside of enter and leave. Those of today, whatever state is looked at. [B19] Whatever changes
 * while this reads has another generation, which is noticed before they hold. */
static int load(vls_node_access *out, uint64_t *generation, vls_scope *scope,
                const vls_ledger *ledger, valise_error *err)
{
    vls_ledger today = *ledger;
    int rc = ledger->ops->today ? ledger->ops->today(&today, ledger->self, err) : 0;

    if (rc < 0)
        return rc;
    vls_node_access_init(out, scope->env);
    rc = load_permissions(out, generation, scope, &today, err);
    if (rc == 0)
        rc = load_rules(out, scope, &today, err);
    if (rc < 0)
        vls_node_access_release(out);
    return rc;
}

/* From here on these hold; access becomes what held before. */
static void install(vls_scope *scope, vls_node_access *access, uint64_t generation)
{
    vls_node_access old;

    pthread_mutex_lock(&scope->lock);
    old = scope->access;
    scope->access = *access;
    atomic_store_explicit(&scope->generation, generation, memory_order_release);
    pthread_mutex_unlock(&scope->lock);
    *access = old;
}

static bool is_current(const vls_scope *scope, const vls_ledger_head *head)
{
    if (scope->owner)
        return true;
    assert(vls_uuid_equal(&head->id, &scope->home)); /* what another one allows is not known here */
    return atomic_load_explicit(&scope->generation, memory_order_acquire) == head->generation;
}

/* Enter, if what was loaded is of this generation still. Between enter and leave nobody changes
 * permissions: who is inside has them, and gets no older ones from a thread that was slow. 1, 0. */
static int enter_with(vls_ledger_head *head, vls_scope *scope, const vls_ledger *ledger,
                      vls_node_access *access, uint64_t generation, valise_error *err)
{
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(head, ledger->self, err);
    if (rc == 0 && head->generation == generation) {
        install(scope, access, generation);
        return 1;
    }
    ledger->ops->leave(ledger->self);
    return rc;
}

int vls_scope_enter(vls_ledger_head *head, vls_scope *scope, const vls_ledger *ledger,
                    valise_error *err)
{
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(head, ledger->self, err);
    if (rc == 0 && is_current(scope, head))
        return 0;
    ledger->ops->leave(ledger->self);
    while (rc == 0) {
        vls_node_access access;
        uint64_t generation = 0;
        rc = load(&access, &generation, scope, ledger, err);
        if (rc < 0)
            return rc;
        rc = enter_with(head, scope, ledger, &access, generation, err);
        vls_node_access_release(&access);
    }
    return rc < 0 ? rc : 0;
}

/* ---- making ---- */

static int copy_node(vls_scope *scope, const valise_node *node, valise_error *err)
{
    valise_permissions *own;
    int rc = vls_arena_dup(&scope->node_id, &scope->texts, node->id, err);

    if (rc == 0 && node->name.len > 0)
        rc = vls_arena_dup(&scope->node_name, &scope->texts, node->name, err);
    if (rc == 0 && node->namespace_name.len > 0)
        rc = vls_arena_dup(&scope->namespace_name, &scope->texts, node->namespace_name, err);
    if (rc < 0 || !node->permissions)
        return rc;
    own = vls_arena_alloc(&scope->texts, sizeof(*own));
    if (!own)
        return vls_arena_fail(&scope->texts, err);
    *own = *node->permissions;
    scope->own = own;
    return vls_permissions_copy(own, &scope->texts, err);
}

static int check_node(const valise_node *node, valise_error *err)
{
    int rc = vls_bag_check_node(node->id, err);

    if (rc == 0 && node->name.len > 0)
        rc = vls_bag_check_node(node->name, err);
    if (rc == 0 && node->namespace_name.len > 0)
        rc = vls_bag_check_namespace(node->namespace_name, err);
    if (rc == 0 && node->permissions)
        rc = vls_permissions_check(node->permissions, err);
    return rc;
}

/* Which backpack is this? */
static int find_home(vls_scope *scope, const vls_ledger *ledger, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, ledger, err);

    if (rc == 0)
        scope->home = head.id;
    return rc;
}

/* Nobody else knows of it yet. */
static int load_first(vls_scope *scope, const vls_ledger *ledger, valise_error *err)
{
    vls_node_access access;
    uint64_t generation = 0;
    int rc = load(&access, &generation, scope, ledger, err);

    if (rc < 0)
        return rc;
    install(scope, &access, generation);
    vls_node_access_release(&access);
    return 0;
}

int vls_scope_new(vls_scope **out, const valise_env *env, const vls_ledger *ledger,
                  const valise_node *node, valise_error *err)
{
    VLS_AUTO(scope) vls_scope *scope = NULL;
    int rc = node ? check_node(node, err) : 0;

    if (rc < 0)
        return rc;
    scope = vls_mem_zalloc(env, sizeof(*scope));
    if (!scope)
        return vls_fail_memory(err);
    scope->env = env;
    scope->owner = node == NULL;
    scope->node_id = scope->node_name = VLS_STR("unknown");
    atomic_init(&scope->generation, 0);
    atomic_init(&scope->run, 0);
    vls_arena_init(&scope->texts, env, SIZE_MAX);
    (void)pthread_mutex_init(&scope->lock, NULL);
    rc = find_home(scope, ledger, err);
    if (rc == 0 && node)
        rc = copy_node(scope, node, err);
    if (rc == 0 && node)
        rc = load_first(scope, ledger, err);
    if (rc < 0)
        return rc;
    *out = VLS_TAKE(scope);
    return 0;
}

void vls_scope_free(vls_scope *scope)
{
    if (!scope)
        return;
    vls_node_access_release(&scope->access);
    vls_vec_release(&scope->marks, scope->env);
    vls_arena_release(&scope->texts);
    (void)pthread_mutex_destroy(&scope->lock);
    vls_mem_free(scope->env, scope, sizeof(*scope));
}

/* ---- who ---- */

const valise_env *vls_scope_env(const vls_scope *scope)
{
    return scope->env;
}

bool vls_scope_is_owner(const vls_scope *scope)
{
    return scope->owner;
}

valise_str vls_scope_node_id(const vls_scope *scope)
{
    return scope->node_id;
}

valise_str vls_scope_node_name(const vls_scope *scope)
{
    return scope->node_name;
}

valise_str vls_scope_namespace(const vls_scope *scope)
{
    return scope->namespace_name;
}

int64_t vls_scope_run(vls_scope *scope)
{
    return atomic_load_explicit(&scope->run, memory_order_acquire);
}

void vls_scope_set_run(vls_scope *scope, int64_t number, int64_t start)
{
    pthread_mutex_lock(&scope->lock);
    scope->run_start = start;
    atomic_store_explicit(&scope->run, number, memory_order_release);
    pthread_mutex_unlock(&scope->lock);
}

/* ---- what they may ---- */

static bool is_named(const vls_scope *scope, valise_list nodes)
{
    return !nodes.items || vls_bag_has_name(nodes, scope->node_id);
}

bool vls_scope_may_read(vls_scope *scope, valise_str key, const valise_commit *version,
                        const valise_commit *present)
{
    static const valise_str none = {NULL, 0};
    valise_list own = {NULL, 0};
    bool may;

    if (scope->owner)
        return true;
    if ((version && !is_named(scope, version->read)) ||
        (present && !is_named(scope, present->read)))
        return false;
    /* What a node packed after it read a tag carries the tag; the node itself may read it. [B22]
     * What it released carries the marks of who had packed it. */
    if (version && vls_commit_gives_value(version) &&
        vls_str_equal(version->node_id, scope->node_id))
        own = version->taints;
    pthread_mutex_lock(&scope->lock);
    may = vls_node_access_may_read(&scope->access, key, version ? version->namespace_name : none) &&
          (!version ||
           vls_node_access_rules_allow(&scope->access, version->tags, VLS_NODE_READ, own));
    pthread_mutex_unlock(&scope->lock);
    return may;
}

bool vls_scope_may_write(vls_scope *scope, valise_str key, const valise_commit *present,
                         valise_str new_namespace)
{
    static const valise_str none = {NULL, 0};
    static const valise_list nothing = {NULL, 0};
    const valise_commit *item = present && vls_commit_is_live(present) ? present : NULL;
    bool may;

    if (scope->owner)
        return true;
    if (item && !is_named(scope, item->write))
        return false;
    pthread_mutex_lock(&scope->lock);
    may =
        vls_node_access_may_write(&scope->access, key, new_namespace, item != NULL,
                                  item ? item->namespace_name : none) &&
        (!item || vls_node_access_rules_allow(&scope->access, item->tags, VLS_NODE_WRITE, nothing));
    pthread_mutex_unlock(&scope->lock);
    return may;
}

int vls_scope_sees(vls_scope *scope, const vls_ledger *ledger, const valise_commit *commit,
                   valise_error *err)
{
    valise_commit present;
    int rc;

    if (scope->owner)
        return 1;
    rc = ledger->ops->present(&present, ledger->self, commit->key, err);
    if (rc < 0)
        return rc;
    return vls_scope_may_read(scope, commit->key, commit, rc == 1 ? &present : NULL);
}

int vls_scope_deny(const vls_scope *scope, const char *verb, valise_str key, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not %s '%.*s'",
                   VALISE_STR_ARG(scope->node_id), verb, VALISE_STR_ARG(key));
    vls_hint(err, "the owner can allow it, in the node's permissions, the item's own lists, or the "
                  "rules of its tags");
    return VALISE_E_DENIED;
}

int vls_scope_owner_only(const vls_scope *scope, const char *what, valise_error *err)
{
    if (scope->owner)
        return 0;
    (void)vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not %s: only the owner may",
                   VALISE_STR_ARG(scope->node_id), what);
    vls_hint(err, "leave out --node to act as the owner");
    return VALISE_E_DENIED;
}
