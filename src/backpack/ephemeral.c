/* ephemeral.c -- see ephemeral.h. */
#include "backpack/ephemeral.h"

#include "backpack/look.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"

typedef struct table {
    const valise_env *env;
    pthread_mutex_t lock; /* over the maps */
    vls_map names, ids;   /* the same entries, which are counted once for both */
} table;

static const char table_key; /* its address is the key */

/* ---- one ---- */

vls_ephemeral *vls_ephemeral_ref(vls_ephemeral *e)
{
    vls_ref_get(&e->refs);
    return e;
}

void vls_ephemeral_unref(vls_ephemeral *e)
{
    if (!e || !vls_ref_put(&e->refs))
        return;
    vls_ring_unref(e->ring);
    (void)pthread_mutex_destroy(&e->lock);
    vls_mem_free(e->env, e, sizeof(*e));
}

static void copy_text(char *to, size_t *len, size_t max, valise_str from)
{
    assert(from.len <= max);
    (void)max;
    if (from.len > 0)
        memcpy(to, from.ptr, from.len);
    *len = from.len;
}

static vls_ephemeral *make(const valise_env *env, vls_ring *ring, const vls_ephemeral_new *like)
{
    vls_ledger ledger = vls_ring_ledger(ring);
    vls_ledger_head head;
    vls_ephemeral *e = NULL;

    if (vls_look_head(&head, &ledger, NULL) == 0)
        e = vls_mem_zalloc(env, sizeof(*e));
    if (!e)
        return NULL;
    /* Well before what waits for an archive that fails is lost. */
    e->retry_max = (unsigned)VLS_MIN(VLS_MAX(head.max_commits / 8, 1), 1024);
    vls_ref_init(&e->refs);
    e->env = env;
    e->ring = vls_ring_ref(ring);
    e->id = *like->id;
    e->created = like->created;
    e->opened = 1;
    e->rules_seq = -1;
    copy_text(e->name, &e->name_len, VLS_BAG_NAME_MAX, like->name);
    copy_text(e->archive, &e->archive_len, VLS_BAG_NAME_MAX, like->archive);
    copy_text(e->actor, &e->actor_len, VLS_ACTOR_MAX, like->actor);
    (void)pthread_mutex_init(&e->lock, NULL);
    return e;
}

/* ---- the table ---- */

static bool has_name(const void *item, const void *key)
{
    return vls_str_equal(vls_ephemeral_name(item), *(const valise_str *)key);
}

static bool has_id(const void *item, const void *key)
{
    return vls_uuid_equal(&((const vls_ephemeral *)item)->id, key);
}

static uint64_t hash_of(const valise_uuid *id)
{
    return vls_str_hash((valise_str){(const char *)id, sizeof(*id)}, 0);
}

static void free_table(void *self)
{
    table *t = self;
    vls_ephemeral *e;
    size_t at = 0;

    while ((e = vls_map_next(&t->names, &at)))
        vls_ephemeral_unref(e);
    vls_map_release(&t->names);
    vls_map_release(&t->ids);
    (void)pthread_mutex_destroy(&t->lock);
    vls_mem_free(t->env, t, sizeof(*t));
}

static int make_table(void **out, valise *v, valise_error *err)
{
    table *t = vls_mem_zalloc(v->env, sizeof(*t));

    if (!t)
        return vls_fail_memory(err);
    t->env = v->env;
    vls_map_init(&t->names, t->env, has_name);
    vls_map_init(&t->ids, t->env, has_id);
    (void)pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return 0;
}

static vls_ephemeral *find_name(const table *t, valise_str name, const valise_uuid *id)
{
    bool any = !id || vls_uuid_is_none(id);
    vls_ephemeral *e = vls_map_get(&t->names, vls_str_hash(name, 0), &name);

    return e && (any || vls_uuid_equal(&e->id, id)) ? e : NULL;
}

static int add(vls_ephemeral **out, table *t, vls_ring *ring, const vls_ephemeral_new *like,
               valise_error *err)
{
    valise_str name;
    vls_ephemeral *e;

    if (find_name(t, like->name, NULL))
        return vls_fail(err, VALISE_E_EXISTS, "an ephemeral backpack '%.*s' already exists",
                        VALISE_STR_ARG(like->name));
    if (vls_map_reserve(&t->names, t->names.len + 1) < 0 ||
        vls_map_reserve(&t->ids, t->ids.len + 1) < 0)
        return vls_fail_memory(err);
    e = make(t->env, ring, like);
    if (!e)
        return vls_fail_memory(err);
    name = vls_ephemeral_name(e);
    (void)vls_map_put(NULL, &t->names, vls_str_hash(name, 0), &name, vls_ephemeral_ref(e));
    (void)vls_map_put(NULL, &t->ids, hash_of(&e->id), &e->id, e);
    *out = e;
    return 0;
}

int vls_ephemeral_add(vls_ephemeral **out, valise *v, vls_ring *ring, const vls_ephemeral_new *like,
                      valise_error *err)
{
    void *self = NULL;
    table *t;
    int rc = vls_bus_keep(&self, v, &table_key, make_table, free_table, err);

    if (rc < 0)
        return rc;
    t = self;
    (void)pthread_mutex_lock(&t->lock);
    rc = add(out, t, ring, like, err);
    (void)pthread_mutex_unlock(&t->lock);
    return rc;
}

vls_ephemeral *vls_ephemeral_find(valise *v, valise_str name, const valise_uuid *id)
{
    table *t = vls_bus_kept(v, &table_key);
    vls_ephemeral *e = NULL;

    if (!t)
        return NULL;
    (void)pthread_mutex_lock(&t->lock);
    e = find_name(t, name, id);
    if (e)
        (void)vls_ephemeral_ref(e);
    (void)pthread_mutex_unlock(&t->lock);
    return e;
}

vls_ephemeral *vls_ephemeral_find_id(valise *v, const valise_uuid *id)
{
    table *t = vls_bus_kept(v, &table_key);
    vls_ephemeral *found = NULL;

    if (!t)
        return NULL;
    (void)pthread_mutex_lock(&t->lock);
    found = vls_map_get(&t->ids, hash_of(id), id);
    if (found)
        (void)vls_ephemeral_ref(found);
    (void)pthread_mutex_unlock(&t->lock);
    return found;
}

vls_ephemeral *vls_ephemeral_enter(valise *v, valise_str name)
{
    table *t = vls_bus_kept(v, &table_key);
    vls_ephemeral *e = NULL;

    if (!t)
        return NULL;
    (void)pthread_mutex_lock(&t->lock);
    e = find_name(t, name, NULL);
    if (e) {
        (void)vls_ephemeral_ref(e);
        e->opened++;
    }
    (void)pthread_mutex_unlock(&t->lock);
    return e;
}

/* With the lock. The reference of the table is the caller's then. */
static void take_out(table *t, vls_ephemeral *e)
{
    valise_str name = vls_ephemeral_name(e);

    (void)vls_map_remove(&t->names, vls_str_hash(name, 0), &name);
    (void)vls_map_remove(&t->ids, hash_of(&e->id), &e->id);
    atomic_store_explicit(&e->gone, true, memory_order_relaxed);
}

void vls_ephemeral_leave(valise *v, vls_ephemeral *e)
{
    table *t = vls_bus_kept(v, &table_key);
    bool last;

    assert(t);
    (void)pthread_mutex_lock(&t->lock);
    last = --e->opened == 0 && !atomic_load_explicit(&e->gone, memory_order_relaxed);
    if (last)
        take_out(t, e);
    (void)pthread_mutex_unlock(&t->lock);
    if (last)
        vls_ephemeral_unref(e);
}

bool vls_ephemeral_drop(valise *v, valise_str name)
{
    table *t = vls_bus_kept(v, &table_key);
    vls_ephemeral *e = NULL;

    if (t) {
        (void)pthread_mutex_lock(&t->lock);
        e = find_name(t, name, NULL);
        if (e)
            take_out(t, e);
        (void)pthread_mutex_unlock(&t->lock);
    }
    vls_ephemeral_unref(e);
    return e != NULL;
}

/* ---- all of them ---- */

static int compare_names(const void *a, const void *b)
{
    return vls_str_compare(vls_ephemeral_name(*(vls_ephemeral *const *)a),
                           vls_ephemeral_name(*(vls_ephemeral *const *)b));
}

static int copy_list(vls_ephemeral ***out, size_t *count, const table *t, valise_error *err)
{
    vls_ephemeral **list = vls_mem_alloc(t->env, t->names.len * sizeof(vls_ephemeral *)), *e;
    size_t at = 0, len = 0;

    if (!list)
        return vls_fail_memory(err);
    while ((e = vls_map_next(&t->names, &at)))
        list[len++] = vls_ephemeral_ref(e);
    *out = list;
    *count = len;
    return 0;
}

int vls_ephemeral_list(vls_ephemeral ***out, size_t *count, valise *v, valise_error *err)
{
    table *t = v ? vls_bus_kept(v, &table_key) : NULL;
    int rc = 0;

    *out = NULL;
    *count = 0;
    if (!t)
        return 0;
    (void)pthread_mutex_lock(&t->lock);
    if (t->names.len > 0)
        rc = copy_list(out, count, t, err);
    (void)pthread_mutex_unlock(&t->lock);
    if (*count > 0)
        qsort(*out, *count, sizeof(vls_ephemeral *), compare_names);
    return rc;
}

void vls_ephemeral_list_free(vls_ephemeral **list, size_t count, valise *v)
{
    if (!list)
        return;
    for (size_t i = 0; i < count; i++)
        vls_ephemeral_unref(list[i]);
    vls_mem_free(v->env, list, count * sizeof(vls_ephemeral *));
}

/* ---- rules of the workspace ---- */

typedef struct rule_list {
    vls_arena arena;
    vls_vec(vls_rule_row) rows;
} rule_list;

static int add_rule(rule_list *list, const vls_rule_row *row, valise_error *err)
{
    vls_rule_row copy = *row;
    int rc = vls_rule_copy(&copy, &list->arena, err);

    if (rc == 0 && !vls_vec_push(&list->rows, list->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

static int read_view(rule_list *list, valise_view *view, valise_error *err)
{
    const vls_rule_row probe = {.tag = {NULL, 0}};
    const valise_select select = {.row = &probe, .equal = 1};
    valise_scan *scan = NULL;
    vls_rule_row row;
    int rc = valise_view_scan(&scan, view, &vls_bag_rules, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = add_rule(list, &row, err);
    valise_scan_close(scan);
    return rc;
}

static int note_rule(void *arg, const void *row, valise_error *err)
{
    const vls_rule_row *rule = row;

    return vls_uuid_is_none(&rule->backpack) ? add_rule(arg, rule, err) : 0;
}

static const vls_rule_row *find_rule(const rule_list *list, valise_str tag)
{
    for (size_t i = 0; i < list->rows.len; i++) {
        if (vls_str_equal(list->rows.ptr[i].tag, tag))
            return &list->rows.ptr[i];
    }
    return NULL;
}

static bool is_same(const vls_rule_row *a, const vls_rule_row *b)
{
    return b && vls_bag_same_names(a->read, b->read) && vls_bag_same_names(a->write, b->write);
}

/* Only what is different is touched: each change makes every scope read its rules again. */
static int bring_up_to_date(const vls_ledger *ledger, const rule_list *now, const rule_list *old,
                            valise_error *err)
{
    int rc = 0;

    ledger->ops->enter(ledger->self);
    for (size_t i = 0; i < now->rows.len && rc >= 0; i++) {
        const vls_rule_row *row = &now->rows.ptr[i];
        if (!is_same(row, find_rule(old, row->tag)))
            rc = ledger->ops->row_put(ledger->self, &vls_bag_rules, row, err);
    }
    for (size_t i = 0; i < old->rows.len && rc >= 0; i++) {
        const vls_rule_row *row = &old->rows.ptr[i];
        if (!find_rule(now, row->tag))
            rc = ledger->ops->row_delete(ledger->self, &vls_bag_rules, row, err);
    }
    ledger->ops->leave(ledger->self);
    return rc < 0 ? rc : 0;
}

static int take_rules(vls_ephemeral *e, valise_view *view, valise_error *err)
{
    rule_list now = {.rows = VLS_VEC_INIT}, old = {.rows = VLS_VEC_INIT};
    vls_ledger ledger = vls_ring_ledger(e->ring);
    int rc;

    vls_arena_init(&now.arena, e->env, VLS_VIEW_MAX_BYTES);
    vls_arena_init(&old.arena, e->env, VLS_VIEW_MAX_BYTES);
    rc = read_view(&now, view, err);
    if (rc == 0)
        rc = ledger.ops->each_row(ledger.self, &vls_bag_rules, note_rule, &old, err);
    if (rc == 0)
        rc = bring_up_to_date(&ledger, &now, &old, err);
    vls_vec_release(&now.rows, e->env);
    vls_vec_release(&old.rows, e->env);
    vls_arena_release(&now.arena);
    vls_arena_release(&old.arena);
    return rc;
}

int vls_ephemeral_take_rules(vls_ephemeral *e, valise_view *view, valise_error *err)
{
    VLS_AUTO(view) valise_view today = {0};
    int rc = 0;

    if (!view->txn)
        return 0;
    /* What holds is what the newest state says. [B19] */
    if (view->at != view->txn->tip.seq) {
        vls_view_init(&today, view->txn, e->env);
        view = &today;
    }
    (void)pthread_mutex_lock(&e->lock);
    if (view->at > e->rules_seq) {
        rc = take_rules(e, view, err);
        if (rc == 0)
            e->rules_seq = view->at;
    }
    (void)pthread_mutex_unlock(&e->lock);
    return rc;
}

/* ---- what nodes have read ---- */

int vls_ephemeral_keep_marks(vls_ephemeral *e, vls_scope *scope, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_ledger ledger = vls_ring_ledger(e->ring);
    const vls_taint_row *rows;
    vls_ledger_head head;
    valise_list marks;
    int rc;

    if (!scope || vls_scope_is_owner(scope))
        return 0;
    vls_arena_init(&arena, e->env, (size_t)1 << 20);
    rc = vls_scope_new_marks(&marks, scope, &arena, err);
    if (rc < 0 || marks.count == 0)
        return rc;
    rows = marks.items;
    ledger.ops->enter(ledger.self);
    rc = ledger.ops->head(&head, ledger.self, err);
    for (size_t i = 0; i < marks.count && rc == 0; i++) {
        vls_taint_row row = rows[i];
        row.since = vls_mark_since(row.since, head.last);
        rc = ledger.ops->row_put(ledger.self, &vls_bag_taints, &row, err);
    }
    ledger.ops->leave(ledger.self);
    if (rc == 0)
        vls_scope_marks_kept(scope, marks.count);
    return rc;
}
