/* handle.c -- see handle.h. */
#include "backpack/handle.h"

#include "base/mem.h"
#include "base/uuid.h"
#include "bus/read_log.h"

/* ---- the handles of a workspace's handle ---- */

/* Who closes the workspace first leaves handles behind that can only be closed. */
typedef struct family {
    const valise_env *env;
    pthread_mutex_t lock;
    valise_backpack *first;
} family;

static const char family_key; /* its address is the key */

static void free_family(void *self)
{
    family *f = self;

    for (valise_backpack *bag = f->first; bag; bag = bag->next)
        bag->v = NULL;
    (void)pthread_mutex_destroy(&f->lock);
    vls_mem_free(f->env, f, sizeof(*f));
}

static int make_family(void **out, valise *v, valise_error *err)
{
    family *f = vls_mem_zalloc(v->env, sizeof(*f));

    if (!f)
        return vls_fail_memory(err);
    f->env = v->env;
    (void)pthread_mutex_init(&f->lock, NULL);
    *out = f;
    return 0;
}

static int join(valise_backpack *bag, valise *v, valise_error *err)
{
    void *self = NULL;
    family *f;
    int rc = vls_bus_keep(&self, v, &family_key, make_family, free_family, err);

    if (rc < 0)
        return rc;
    f = self;
    (void)pthread_mutex_lock(&f->lock);
    bag->next = f->first;
    if (f->first)
        f->first->prev = bag;
    f->first = bag;
    bag->v = v;
    (void)pthread_mutex_unlock(&f->lock);
    return 0;
}

static void part(valise_backpack *bag)
{
    family *f = bag->v ? vls_bus_kept(bag->v, &family_key) : NULL;

    if (!f)
        return;
    (void)pthread_mutex_lock(&f->lock);
    if (bag->next)
        bag->next->prev = bag->prev;
    if (bag->prev)
        bag->prev->next = bag->next;
    else
        f->first = bag->next;
    (void)pthread_mutex_unlock(&f->lock);
}

int vls_handle_check(valise_backpack *const *bags, size_t count, valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!bags[i]->v)
            return vls_fail(err, VALISE_E_INVALID, "the workspace of backpack '%.*s' was closed",
                            VALISE_STR_ARG(bags[i]->name));
        if (bags[i]->memory && atomic_load_explicit(&bags[i]->memory->gone, memory_order_relaxed))
            return vls_fail(err, VALISE_E_NOT_FOUND, "the backpack '%.*s' was dropped",
                            VALISE_STR_ARG(bags[i]->name));
        if (bags[i]->v != bags[0]->v || !bags[i]->ring != !bags[0]->ring)
            return vls_fail(err, VALISE_E_UNSUPPORTED,
                            "'%.*s' and '%.*s' are of different kinds (one is ephemeral) or from "
                            "different workspaces",
                            VALISE_STR_ARG(bags[0]->name), VALISE_STR_ARG(bags[i]->name));
    }
    return 0;
}

/* ---- making ---- */

static void free_handle(valise_backpack *bag)
{
    part(bag);
    vls_behind_free(bag->behind);
    if (!bag->lent)
        vls_scope_free(bag->scope);
    if (bag->frozen.ops)
        bag->frozen.ops->release(bag->frozen.self);
    if (bag->entered && bag->v)
        vls_ephemeral_leave(bag->v, bag->memory);
    vls_ephemeral_unref(bag->memory);
    vls_arena_release(&bag->arena);
    vls_mem_free(bag->env, bag, sizeof(*bag));
}

int vls_handle_new(valise_backpack **out, valise *v, valise_str name, valise_str actor,
                   valise_error *err)
{
    valise_backpack *bag;
    int rc;

    if (!v->store) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "a backpack needs a workspace, and there is none");
        vls_hint(err, "\":memory:\" opens one that is kept nowhere");
        return VALISE_E_NOT_FOUND;
    }
    if (actor.len > VLS_ACTOR_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE,
                        "the name of an actor has at most %u bytes, not %zu", VLS_ACTOR_MAX,
                        actor.len);
    bag = vls_mem_zalloc(v->env, sizeof(*bag));
    if (!bag)
        return vls_fail_memory(err);
    bag->env = v->env;
    vls_ref_init(&bag->refs);
    vls_arena_init(&bag->arena, v->env, (size_t)1 << 20);
    rc = vls_arena_dup(&bag->name, &bag->arena, name, err);
    if (rc == 0)
        rc = vls_arena_dup(&bag->actor, &bag->arena, actor.len ? actor : v->actor, err);
    if (rc == 0)
        rc = join(bag, v, err);
    bag->who.backpack = bag->name;
    if (rc < 0)
        free_handle(bag);
    else
        *out = bag;
    return rc;
}

int vls_handle_child(valise_backpack **out, valise_backpack *parent, valise_error *err)
{
    valise_backpack *bag = NULL;
    int rc = vls_handle_check(&parent, 1, err);

    if (rc == 0)
        rc = vls_handle_new(&bag, parent->v, parent->name, parent->actor, err);
    if (rc < 0)
        return rc;
    assert(bag);
    if (parent->memory) {
        bag->memory = vls_ephemeral_ref(parent->memory);
        bag->ring = bag->memory->ring;
    }
    bag->id = bag->who.id = parent->id;
    vls_ref_get(&parent->refs);
    bag->parent = parent;
    *out = bag;
    return 0;
}

/* ---- reading ---- */

typedef struct reading {
    valise_backpack *const *bags;
    size_t count;
    vls_handle_fn *fn;
    void *arg;
    vls_glance at;
    bool looked;
    valise_backpack *node;             /* the first that is a node's; NULL: none */
    vls_scope *joined[VLS_GLANCE_MAX]; /* the node's, where the handle is the owner's */
} reading;

static int allows_as(valise_view *view, const valise_backpack *bag, const char *name,
                     const char *capability, valise_error *err)
{
    /* It ends in NUL: the arena sees to it. */
    const char *attrs[] = {"backpack", name, "node", bag->who.node.ptr, NULL};

    if (!bag->node)
        attrs[2] = NULL;
    return valise_view_allows(view, capability, attrs, err);
}

static int allows(valise_view *view, const valise_backpack *bag, const char *capability,
                  valise_error *err)
{
    return allows_as(view, bag, bag->name.ptr, capability, err);
}

static int check(valise_view *view, const valise_backpack *bag, const char *name, valise_error *err)
{
    int rc = allows_as(view, bag, name, "backpack:read", err);

    return rc < 0 || !bag->node ? rc : allows_as(view, bag, name, "backpack:as-node", err);
}

/* The same of one that is called otherwise by now (op_supersede.c). */
static int check_name(valise_view *view, const valise_backpack *bag, valise_str name,
                      valise_error *err)
{
    char text[VLS_BAG_NAME_MAX + 1] = "";

    if (VLS_LIKELY(vls_str_equal(name, bag->name)))
        return 0;
    (void)snprintf(text, sizeof(text), "%.*s", VALISE_STR_ARG(name));
    return check(view, bag, text, err);
}

/* The ledger that a handle shows, of rows seen through the view. */
static int show(vls_ledger *out, vls_rows *rows, valise_view *view, const valise_backpack *bag,
                valise_error *err)
{
    vls_ledger newest;
    int rc = vls_rows_open_id(rows, view, &bag->id, err);

    if (rc < 0)
        return rc;
    newest = vls_rows_ledger(rows);
    if (!bag->snapshot) {
        *out = newest;
        return 0;
    }
    return newest.ops->freeze(out, newest.self, bag->upto, err);
}

static void hide(vls_ledger *ledger)
{
    if (ledger->ops && ledger->frozen)
        ledger->ops->release(ledger->self);
}

/* Next to the view of a node an owner's handle shows what that node may see: else what is kept from
 * it would look like a difference. */
static int join_node(reading *r, size_t i, valise_error *err)
{
    const valise_backpack *bag = r->bags[i], *node = r->node;
    const valise_node same = {.size = sizeof(same), .id = node->who.node};
    int rc;

    if (vls_uuid_equal(&bag->id, &node->id)) {
        r->at.seen[i].scope = node->scope;
        return 0;
    }
    rc = vls_scope_new(&r->joined[i], bag->env, &r->at.ledgers[i], &same, err);
    if (rc == 0)
        r->at.seen[i].scope = r->joined[i];
    return rc;
}

static int call_back(reading *r, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < r->count && rc == 0; i++) {
        r->at.seen[i] = (vls_scoped){&r->at.ledgers[i], r->bags[i]->scope};
        if (r->node && !r->bags[i]->node)
            rc = join_node(r, i, err);
    }
    r->looked = rc == 0;
    return rc < 0 ? rc : r->fn(r->arg, &r->at, err);
}

static bool same_actor(const valise_backpack *a, const valise_backpack *b)
{
    return vls_str_equal(a->actor, b->actor);
}

static int read_rows(void *arg, valise_view *view, valise_error *err)
{
    reading *r = arg;
    vls_rows rows[VLS_GLANCE_MAX] = {{0}, {0}, {0}};
    int rc = 0;

    for (size_t i = 0; i < r->count && rc == 0; i++) {
        bool asks = same_actor(r->bags[i], r->bags[0]); /* the others were asked before */
        if (asks)
            rc = check(view, r->bags[i], r->bags[i]->name.ptr, err);
        if (rc == 0)
            rc = show(&r->at.ledgers[i], &rows[i], view, r->bags[i], err);
        if (rc == 0 && asks)
            rc = check_name(view, r->bags[i], rows[i].bag.name, err);
    }
    r->at.now = view->stamp.time;
    if (rc == 0)
        rc = call_back(r, err);
    for (size_t i = 0; i < r->count; i++) {
        hide(&r->at.ledgers[i]);
        vls_rows_close(&rows[i]);
    }
    return rc;
}

/* A node's view of a snapshot looks at what the snapshot holds. */
const vls_ledger *vls_handle_held(const valise_backpack *bag)
{
    if (!bag->snapshot || !bag->ring)
        return NULL;
    while (!bag->frozen.ops)
        bag = bag->parent;
    return &bag->frozen;
}

static vls_ledger ring_ledger(const valise_backpack *bag)
{
    const vls_ledger *held = vls_handle_held(bag);

    return held ? *held : vls_ring_ledger(bag->ring);
}

struct vls_behind *vls_handle_behind(valise_backpack *bag)
{
    while (bag->parent)
        bag = bag->parent;
    return bag->behind;
}

/* What waits to be written must be there before anything is looked at. */
int vls_handle_flush(valise_backpack *bag, valise_error *err)
{
    struct vls_behind *behind = vls_handle_behind(bag);

    return behind ? vls_behind_flush(behind, err) : 0;
}

static int read_rings(reading *r, valise_error *err)
{
    int rc = 0;

    r->at.now = vls_clock_now_ns(&r->bags[0]->v->clock);
    for (size_t i = 0; i < r->count && rc == 0; i++) {
        rc = vls_handle_allowed(r->bags[i], VLS_HANDLE_READ, r->at.now, err);
        r->at.ledgers[i] = ring_ledger(r->bags[i]);
    }
    return rc < 0 ? rc : call_back(r, err);
}

/* Sticky tags that a node has read count for all its later handles. Where nothing can be written
 * nobody packs either. */
static int keep_marks(const reading *r, size_t i, valise_error *err)
{
    valise_backpack *bag = r->bags[i];
    vls_scope *scope = bag->node ? bag->scope : r->joined[i];
    const vls_who who = {.backpack = bag->name, .node = r->node->who.node, .id = bag->id};
    const valise_call call = vls_handle_call(bag);

    if (!scope)
        return 0;
    if (bag->ring)
        return vls_ephemeral_keep_marks(bag->memory, scope, err);
    if (vls_store_read_only(bag->v->store))
        return 0;
    return vls_keep_marks(bag->v, scope, bag->node ? &bag->who : &who, &call, err);
}

/* Whatever else went wrong: what was seen was seen. */
static int finish_node(reading *r, int rc, valise_error *err)
{
    for (size_t i = 0; i < r->count; i++) {
        int kept = r->looked ? keep_marks(r, i, rc < 0 ? NULL : err) : 0;
        if (rc >= 0 && kept < 0)
            rc = kept;
        vls_scope_free(r->joined[i]);
    }
    return rc;
}

/* Each handle is looked at as its own actor. A view has one: those of others are asked before. */
static int check_others(const reading *r, valise_error *err)
{
    int rc = 0;

    for (size_t i = 1; i < r->count && rc == 0; i++) {
        if (same_actor(r->bags[i], r->bags[0]))
            continue;
        rc = vls_handle_may(r->bags[i], "backpack:read", err);
        if (rc == 0 && r->bags[i]->node)
            rc = vls_handle_may(r->bags[i], "backpack:as-node", err);
    }
    return rc;
}

static int read_all(reading *r, valise_error *err)
{
    valise_call call;
    int rc = vls_handle_check(r->bags, r->count, err);

    if (rc < 0 || r->bags[0]->ring)
        return rc < 0 ? rc : read_rings(r, err);
    for (size_t i = 0; i < r->count && rc == 0; i++)
        rc = vls_handle_flush(r->bags[i], err);
    if (rc == 0)
        rc = check_others(r, err);
    if (rc < 0)
        return rc;
    call = vls_handle_call(r->bags[0]);
    return vls_with_view(r->bags[0]->v, &call, read_rows, r, err);
}

int vls_handle_read(valise_backpack *bag, vls_handle_fn *fn, void *arg, valise_error *err)
{
    return vls_handle_read_many(&bag, 1, fn, arg, err);
}

int vls_handle_read_many(valise_backpack *const *bags, size_t count, vls_handle_fn *fn, void *arg,
                         valise_error *err)
{
    reading r = {.bags = bags, .count = count, .fn = fn, .arg = arg};
    int rc;

    assert(count > 0 && count <= VLS_GLANCE_MAX);
    for (size_t i = 0; i < count && !r.node; i++)
        r.node = bags[i]->node ? bags[i] : NULL;
    rc = read_all(&r, err);
    return VLS_LIKELY(!r.node) ? rc : finish_node(&r, rc, err);
}

/* ---- writing ---- */

/* The owner says who it was, a view is who it is. */
void vls_handle_sign(vls_who *who, const valise_backpack *bag)
{
    valise_str id = who->node_id, name = who->node_name, space = who->namespace_name;

    *who = bag->who;
    if (bag->node)
        return;
    who->node_id = id;
    who->node_name = name;
    who->namespace_name = space;
}

int vls_handle_check_writable(valise_backpack *bag, valise_error *err)
{
    int rc = vls_handle_check(&bag, 1, err);

    if (rc < 0 || !bag->snapshot)
        return rc;
    return vls_fail(err, VALISE_E_INVALID, "a snapshot of '%.*s' cannot be changed: fork it",
                    VALISE_STR_ARG(bag->name));
}

typedef struct renaming {
    const valise_backpack *bag;
    size_t len;
    char name[VLS_BAG_NAME_MAX + 1];
} renaming;

/* What the backpack is called now: 1 when that is not what the handle knows. */
static int find_name(void *arg, valise_view *view, valise_error *err)
{
    renaming *r = arg;
    vls_bag_row row = {.id = r->bag->id};
    int rc = valise_view_get(&row, view, &vls_bags, err);

    if (rc <= 0 || row.dropped || row.name.len > VLS_BAG_NAME_MAX ||
        vls_str_equal(row.name, r->bag->name))
        return rc < 0 ? rc : 0;
    memcpy(r->name, row.name.ptr, row.name.len);
    r->len = row.name.len;
    return 1;
}

/* Another one may have taken the name over (op_supersede.c): then that one was found, which is not
 * the handle's, or has not what was expected. */
static bool is_renamed(renaming *r, int rc)
{
    return (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CONFLICT) && !r->bag->memory &&
           vls_with_view(r->bag->v, NULL, find_name, r, NULL) > 0;
}

/* What waits is kept, or does not matter. */
static int run_now(valise_backpack *bag, const valise_op *op, void *args, void *result,
                   const valise_call *call, valise_error *err)
{
    valise_call own = call ? *call : vls_handle_call(bag);
    valise_error why = VALISE_ERROR_INIT;
    renaming r = {.bag = bag};
    vls_who *who = args;
    int rc;

    own.actor = bag->actor;
    vls_handle_sign(who, bag);
    rc = vls_run(bag->v, op, args, result, NULL, &own, NULL, &why);
    if (is_renamed(&r, rc)) { /* the actor is asked for anew, under that name */
        who->backpack = (valise_str){r.name, r.len};
        return vls_run(bag->v, op, args, result, NULL, &own, NULL, err);
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int vls_handle_run(valise_backpack *bag, const valise_op *op, void *args, void *result,
                   const valise_call *call, valise_error *err)
{
    int rc = vls_handle_check_writable(bag, err);

    if (rc == 0)
        rc = vls_handle_flush(bag, err);
    return rc < 0 ? rc : run_now(bag, op, args, result, call, err);
}

int vls_handle_queue(valise_backpack *bag, const valise_op *op, void *args, const valise_call *call,
                     valise_error *err)
{
    valise_call own = *call;
    int rc = vls_handle_check_writable(bag, err);

    if (rc < 0)
        return rc;
    own.actor = bag->actor;
    vls_handle_sign(args, bag);
    return vls_behind_add(vls_handle_behind(bag), op, args, &own, err);
}

int valise_backpack_flush(valise_backpack *bag, valise_error *err)
{
    int rc;

    VLS_ARG(bag, err);
    rc = vls_handle_check(&bag, 1, err);
    if (rc < 0)
        return rc;
    return bag->memory ? vls_ephemeral_flush(bag->memory, bag->v, bag->actor, err)
                       : vls_handle_flush(bag, err);
}

/* ---- closing ---- */

/* What is left to be said is said as far as it goes: who wants to know ends the run first. */
static void end_run(valise_backpack *bag)
{
    vls_run_args args = {.end = bag->who.run};
    vls_run_result result;

    if (!bag->node || bag->who.run == 0 || vls_handle_check_writable(bag, NULL) < 0)
        return;
    if (vls_handle_is_short(bag))
        (void)vls_handle_end_run(bag, NULL);
    else
        (void)run_now(bag, &vls_op_backpack_run, &args, &result, NULL, NULL);
}

void valise_backpack_close(valise_backpack *bag)
{
    if (bag && bag->v) {
        struct vls_behind *behind = vls_handle_behind(bag);
        if (behind)
            vls_behind_settle(behind);
        end_run(bag);
    }
    while (bag && vls_ref_put(&bag->refs)) {
        valise_backpack *parent = bag->parent;
        free_handle(bag);
        bag = parent;
    }
}

/* ---- what the actor of an ephemeral backpack may ---- */

#define ASK_AGAIN_NS UINT64_C(1000000000)
#define CAPABILITIES 3 /* bits of VLS_HANDLE_... */

typedef struct asking {
    valise_backpack *bag;
    unsigned allowed;
    valise_error why[CAPABILITIES]; /* of each refusal */
} asking;

static int ask(void *arg, valise_view *view, valise_error *err)
{
    static const char *const capabilities[CAPABILITIES] = {"backpack:read", "backpack:write",
                                                           "backpack:as-node"};
    asking *a = arg;

    for (unsigned i = 0; i < CAPABILITIES; i++) {
        int rc = allows(view, a->bag, capabilities[i], &a->why[i]);
        if (rc < 0 && rc != VALISE_E_DENIED) {
            if (err)
                *err = a->why[i];
            return rc;
        }
        a->allowed |= rc < 0 ? 0 : 1u << i;
    }
    return a->bag->memory ? vls_ephemeral_take_rules(a->bag->memory, view, err) : 0;
}

static int look_up(asking *a, int64_t now, uint64_t epoch, valise_error *err)
{
    valise_backpack *bag = a->bag;
    valise_call call = vls_handle_call(bag);
    int rc = vls_with_view(bag->v, &call, ask, a, err);

    if (rc < 0)
        return rc;
    atomic_store_explicit(&bag->asked_ns, now, memory_order_relaxed);
    atomic_store_explicit(&bag->allowed, epoch << CAPABILITIES | a->allowed, memory_order_release);
    return 0;
}

static bool is_known(const valise_backpack *bag, unsigned need, int64_t now, uint64_t epoch)
{
    uint64_t allowed = atomic_load_explicit(&bag->allowed, memory_order_acquire);
    int64_t asked_ns = atomic_load_explicit(&bag->asked_ns, memory_order_relaxed);

    return (allowed & need) == need &&
           allowed >> CAPABILITIES == (epoch << CAPABILITIES) >> CAPABILITIES &&
           (uint64_t)now - (uint64_t)asked_ns < ASK_AGAIN_NS;
}

/* What the actor may without a node being named, it may as any node: then nobody asks for each. */
static bool parent_knows(const valise_backpack *bag, unsigned need, int64_t now, uint64_t epoch)
{
    valise_backpack *parent = bag->parent;

    if (!bag->node || !parent || parent->node || !same_actor(bag, parent))
        return false;
    return is_known(parent, need, now, epoch) ||
           (look_up(&(asking){.bag = parent}, now, epoch, NULL) == 0 &&
            is_known(parent, need, now, epoch));
}

static int ask_anew(valise_backpack *bag, unsigned need, int64_t now, uint64_t epoch,
                    valise_error *err)
{
    asking a = {.bag = bag};
    int rc = look_up(&a, now, epoch, err);

    if (rc < 0)
        return rc;
    for (unsigned i = 0; i < CAPABILITIES; i++) {
        if (!(need & ~a.allowed & (1u << i)))
            continue;
        if (err)
            *err = a.why[i];
        vls_read_log_refuse(bag->v, bag->actor,
                            need & VLS_HANDLE_WRITE ? &vls_op_backpack_pack
                                                    : &vls_op_backpack_unpack);
        return VALISE_E_DENIED;
    }
    return 0;
}

int vls_handle_allowed(valise_backpack *bag, unsigned what, int64_t now, valise_error *err)
{
    unsigned need = what | (bag->node ? (unsigned)VLS_HANDLE_AS_NODE : 0);
    uint64_t epoch = vls_bus_epoch(bag->v);

    if (VLS_LIKELY(is_known(bag, need, now, epoch)) || parent_knows(bag, need, now, epoch))
        return 0;
    return ask_anew(bag, need, now, epoch, err);
}

struct may {
    const valise_backpack *bag;
    const char *capability;
};

static int ask_one(void *arg, valise_view *view, valise_error *err)
{
    const struct may *may = arg;

    return allows(view, may->bag, may->capability, err);
}

int vls_handle_may(valise_backpack *bag, const char *capability, valise_error *err)
{
    struct may may = {bag, capability};
    valise_call call = vls_handle_call(bag);

    return vls_with_view(bag->v, &call, ask_one, &may, err);
}
