/* api_node.c -- views of nodes: who they are, what they may, and their runs.
 *
 * valise_backpack_node gives a view for one run. Who runs a node again and again (a flow) keeps its
 * view: vls_handle_node makes it, and each run is one vls_handle_begin_run and vls_handle_end_run.
 * On an ephemeral backpack these take the short way that packs take: where no middleware wants to
 * see the command, the same decision is made without its JSON. */
#include "backpack/handle.h"

#include "base/sized.h"

/* ---- scopes ---- */

typedef struct scoping {
    valise_backpack *bag;
    const valise_permissions *permissions; /* of a view on a snapshot, which cannot register any */
} scoping;

static int scope_it(void *arg, const vls_glance *at, valise_error *err)
{
    const scoping *s = arg;
    valise_backpack *bag = s->bag;
    const valise_node node = {.size = sizeof(node),
                              .id = bag->who.node,
                              .name = bag->who.node_name,
                              .namespace_name = bag->who.namespace_name,
                              .permissions = s->permissions};

    return vls_scope_new(&bag->scope, bag->env, at->seen->ledger, bag->node ? &node : NULL, err);
}

int vls_handle_scope(valise_backpack *bag, const valise_permissions *permissions, valise_error *err)
{
    scoping s = {bag, permissions};

    return vls_handle_read(bag, scope_it, &s, err);
}

/* ---- permissions and rules ---- */

static int permit(valise_backpack *bag, valise_str node_id, const valise_permissions *permissions,
                  valise_error *err)
{
    vls_permit_args args = {.node_id = node_id, .remove = permissions == NULL};

    if (permissions)
        args.allow = *permissions;
    return vls_handle_run(bag, &vls_op_backpack_permit, &args, NULL, NULL, err);
}

int valise_permit(valise_backpack *bag, const char *node_id, const valise_permissions *permissions,
                  valise_error *err)
{
    VLS_ARG(bag && node_id, err);
    return permit(bag, valise_str_of(node_id), permissions, err);
}

int valise_tag_rule(valise_backpack *bag, const char *tag, const valise_list *read,
                    const valise_list *write, valise_error *err)
{
    vls_rule_args args = {.tag = {NULL, 0}};

    VLS_ARG(bag && tag, err);
    args.tag = valise_str_of(tag);
    if (read)
        args.read = *read;
    if (write)
        args.write = *write;
    return vls_handle_run(bag, &vls_op_backpack_rule, &args, NULL, NULL, err);
}

/* ---- runs ---- */

/* The scope knows its run as well: what it reads and packs belongs to it. */
static int join_run(void *arg, const vls_glance *at, valise_error *err)
{
    const int64_t *run = arg;

    return vls_bag_run_resume(at->seen->ledger, at->seen->scope, *run, err);
}

static int begin_long(int64_t *run, valise_backpack *view, valise_error *err)
{
    vls_run_args args = {.end = 0};
    vls_run_result result = {0};
    int rc = vls_handle_run(view, &vls_op_backpack_run, &args, &result, NULL, err);

    *run = result.run;
    return rc < 0 ? rc : vls_handle_read(view, join_run, run, err);
}

static int begin_short(int64_t *run, valise_backpack *view, valise_error *err)
{
    vls_ledger ledger = vls_ring_ledger(view->ring);
    int rc = vls_handle_allowed(view, VLS_HANDLE_WRITE, vls_clock_now_ns(&view->v->clock), err);

    return rc < 0 ? rc : vls_bag_run_start(run, &ledger, view->scope, err);
}

int vls_handle_begin_run(valise_backpack *view, valise_error *err)
{
    int64_t run = 0;
    int rc = vls_handle_check_writable(view, err);

    assert(view->node);
    if (rc < 0)
        return rc;
    if (view->who.run > 0)
        return vls_fail(err, VALISE_E_INVALID, "run %lld of node '%.*s' has not ended yet",
                        (long long)view->who.run, VALISE_STR_ARG(view->who.node));
    rc = vls_handle_is_short(view) ? begin_short(&run, view, err) : begin_long(&run, view, err);
    /* A run that the scope could not join is one all the same: closing the view ends it. */
    view->who.run = run;
    return rc;
}

static int end_short(valise_backpack *view, valise_error *err)
{
    vls_ledger ledger = vls_ring_ledger(view->ring);
    int rc = vls_handle_allowed(view, VLS_HANDLE_WRITE, vls_clock_now_ns(&view->v->clock), err);

    return rc < 0 ? rc : vls_bag_run_end(&ledger, view->scope, view->who.run, err);
}

static int end_long(valise_backpack *view, valise_error *err)
{
    vls_run_args args = {.end = view->who.run};
    vls_run_result result;

    return vls_handle_run(view, &vls_op_backpack_run, &args, &result, NULL, err);
}

static int end_with(valise_backpack *view, const vls_run_item *more, size_t count,
                    valise_error *err)
{
    vls_run_args args = {.end = view->who.run};
    const valise_call call = vls_handle_call(view);

    vls_handle_sign(&args.who, view);
    return vls_behind_flush_with(view, &vls_op_backpack_run, &args, more, count, &call, err);
}

static int end_memory(valise_backpack *view, const vls_run_item *more, size_t count,
                      valise_error *err)
{
    const valise_call call = vls_handle_call(view);
    int rc = 0;

    if (count > 0)
        rc = vls_run_many(view->v, more, count, &call, err);
    if (rc < 0)
        return rc;
    return vls_handle_is_short(view) ? end_short(view, err) : end_long(view, err);
}

int vls_handle_end_run_with(valise_backpack *view, const vls_run_item *more, size_t count,
                            valise_error *err)
{
    int rc = vls_handle_check_writable(view, err);

    if (rc < 0)
        return rc;
    if (view->who.run == 0)
        return vls_fail(err, VALISE_E_INVALID, "no run of node '%.*s' has started in this view",
                        VALISE_STR_ARG(view->who.node));
    if (view->memory)
        rc = end_memory(view, more, count, err);
    else if (count > 0 || vls_handle_behind(view))
        rc = end_with(view, more, count, err);
    else
        rc = end_long(view, err);
    if (rc < 0)
        return rc;
    vls_scope_set_run(view->scope, 0, 0);
    view->who.run = 0;
    return 0;
}

int vls_handle_end_run(valise_backpack *view, valise_error *err)
{
    return vls_handle_end_run_with(view, NULL, 0, err);
}

/* ---- views ---- */

static int take_identity(valise_backpack *bag, const valise_node *node, valise_error *err)
{
    int rc = vls_bag_check_node(node->id, err);

    bag->node = true;
    if (rc == 0 && node->name.len > 0)
        rc = vls_bag_check_node(node->name, err);
    if (rc == 0 && node->namespace_name.len > 0)
        rc = vls_bag_check_namespace(node->namespace_name, err);
    if (rc == 0)
        rc = vls_arena_dup(&bag->who.node, &bag->arena, node->id, err);
    if (rc == 0 && node->name.len > 0)
        rc = vls_arena_dup(&bag->who.node_name, &bag->arena, node->name, err);
    if (rc == 0 && node->namespace_name.len > 0)
        rc = vls_arena_dup(&bag->who.namespace_name, &bag->arena, node->namespace_name, err);
    return rc;
}

static int fill_view(valise_backpack *view, valise_backpack *bag, const valise_node *node,
                     valise_error *err)
{
    int rc;

    view->snapshot = bag->snapshot;
    view->upto = bag->upto;
    rc = take_identity(view, node, err);
    if (rc == 0 && node->permissions && !view->snapshot)
        rc = permit(bag, node->id, node->permissions, err);
    return rc < 0 ? rc : vls_handle_scope(view, view->snapshot ? node->permissions : NULL, err);
}

int vls_handle_node(valise_backpack **out, valise_backpack *bag, const valise_node *node,
                    valise_error *err)
{
    valise_node n = {.size = sizeof(n)};
    valise_backpack *view = NULL;
    int rc = vls_sized_take(&n, sizeof(n), node, offsetof(valise_node, name), "valise_node", err);

    if (rc < 0)
        return rc;
    if (bag->node)
        return vls_fail(err, VALISE_E_DENIED,
                        "only the owner can give views, and this is the view of '%.*s'",
                        VALISE_STR_ARG(bag->who.node));
    rc = vls_handle_child(&view, bag, err);
    if (rc < 0)
        return rc;
    rc = fill_view(view, bag, &n, err);
    if (rc < 0)
        valise_backpack_close(view);
    else
        *out = view;
    return rc;
}

int valise_backpack_node(valise_backpack **out, valise_backpack *bag, const valise_node *node,
                         valise_error *err)
{
    valise_backpack *view = NULL;
    int rc;

    VLS_ARG(out && bag && node, err);
    rc = vls_handle_node(&view, bag, node, err);
    if (rc == 0 && !view->snapshot)
        rc = vls_handle_begin_run(view, err);
    if (rc < 0)
        valise_backpack_close(view);
    else
        *out = view;
    return rc;
}

/* ---- what a node has read ---- */

typedef struct marking {
    valise_list taints;
    vls_arena *arena;
} marking;

static int take_marks(void *arg, const vls_glance *at, valise_error *err)
{
    static const valise_uuid said = {{0}};
    const vls_scoped *seen = at->seen;
    marking *m = arg;
    vls_ledger_head head;
    valise_list none;
    int rc = vls_scope_enter(&head, seen->scope, seen->ledger, err);

    if (rc < 0)
        return rc;
    rc = vls_scope_taints(&m->taints, &none, seen->scope, seen->ledger, &head, false,
                          (valise_list){NULL, 0}, m->arena, err);
    if (rc == 0)
        rc = vls_taints_copy(&m->taints, m->arena, err);
    if (rc == 0)
        rc = vls_taints_move(&m->taints, &head.id, &said, m->arena, err);
    vls_scope_leave(seen->ledger);
    return rc;
}

int vls_handle_marks(valise_list *out, valise_backpack *view, vls_arena *arena, valise_error *err)
{
    marking m = {.arena = arena};
    int rc = vls_handle_read(view, take_marks, &m, err);

    if (rc == 0)
        *out = m.taints;
    return rc;
}

static int put_marks(void *arg, const vls_glance *at, valise_error *err)
{
    const vls_scoped *seen = at->seen;
    const marking *m = arg;
    vls_ledger_head head;
    int rc = vls_scope_enter(&head, seen->scope, seen->ledger, err);

    if (rc < 0)
        return rc;
    rc = vls_scope_add_marks(seen->scope, seen->ledger, &head, m->taints, err);
    vls_scope_leave(seen->ledger);
    return rc;
}

int vls_handle_mark(valise_backpack *view, valise_list taints, valise_error *err)
{
    marking m = {.taints = taints};

    return taints.count > 0 ? vls_handle_read(view, put_marks, &m, err) : 0;
}

/* ---- who watches ---- */

void vls_handle_watch(valise_backpack *view, vls_handle_seen_fn *fn, void *arg)
{
    view->seen = fn;
    view->seen_arg = arg;
}

/* The number of the newest commit, for who wants to know what came since. */
static int look_last(void *arg, const vls_glance *at, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, at->seen->ledger, err);

    if (rc == 0)
        *(int64_t *)arg = head.last;
    return rc;
}

int vls_handle_seen_from(int64_t *seq, valise_backpack *bag, valise_error *err)
{
    return bag->seen ? vls_handle_read(bag, look_last, seq, err) : 0;
}

typedef struct telling {
    valise_backpack *view;
    int64_t since;
} telling;

static int tell_write(void *arg, const valise_commit *commit, valise_error *err)
{
    const telling *t = arg;

    (void)err;
    if ((t->view->who.run == 0 || commit->run == t->view->who.run) &&
        vls_str_equal(commit->node_id, t->view->who.node))
        vls_handle_seen(t->view, commit->key, commit->action, VALISE_NONE);
    return 0;
}

static int tell_writes(void *arg, const vls_glance *at, valise_error *err)
{
    const telling *t = arg;
    const vls_ledger *ledger = at->seen->ledger;
    vls_ledger_head head;
    int rc = vls_look_head(&head, ledger, err);

    return rc < 0 ? rc
                  : ledger->ops->each_commit(ledger->self, t->since + 1, head.last, false,
                                             tell_write, arg, err);
}

void vls_handle_seen_since(valise_backpack *bag, int64_t seq)
{
    telling t = {bag, seq};

    if (bag->seen)
        (void)vls_handle_read(bag, tell_writes, &t, NULL); /* it was done, listed or not */
}
