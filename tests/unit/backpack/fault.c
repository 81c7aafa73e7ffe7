/* fault.c -- every allocation fails in turn: nothing leaks, and what failed has changed nothing. */
#include "kit.h"

#include "base/buf.h"

typedef struct op {
    const char *name;
    int (*run)(bag *b, vls_scope *node);
    bool many; /* makes several commits: those before the failure stay */
} op;

static int on_done(void *arg, const vls_done *done, valise_error *err)
{
    (void)arg, (void)done, (void)err;
    return 0;
}

static int on_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg, (void)commit, (void)err;
    return 0;
}

static int on_item(void *arg, const valise_item *item, valise_error *err)
{
    (void)arg, (void)item, (void)err;
    return 0;
}

static int on_change(void *arg, const valise_change *change, valise_error *err)
{
    (void)arg, (void)change, (void)err;
    return 0;
}

static int op_pack(bag *b, vls_scope *node)
{
    (void)node;
    return put(b, b->owner, "k", "2");
}

static int op_pack_new(bag *b, vls_scope *node)
{
    return put_with(b, node, "fresh", "{\"a\":1}",
                    (vls_pack_args){PACK_ARGS, .tags = NAMES("z", "y"), .read = NAMES("node"),
                                    .write = NAMES("node")});
}

static int op_pack_tainted(bag *b, vls_scope *node)
{
    return put_with(b, node, "mail", "2", (vls_pack_args){PACK_ARGS, .declassify = NAMES("pii")});
}

static int op_remove(bag *b, vls_scope *node)
{
    return drop(b, node, "mail");
}

static int op_jail(bag *b, vls_scope *node)
{
    return jail(b, node, "mail", "why");
}

static int op_unjail(bag *b, vls_scope *node)
{
    return unjail(b, node, "held", 0);
}

static int op_clear(bag *b, vls_scope *node)
{
    vls_change_call call = {.now = b->now++, .arena = &b->arena};
    static const valise_str none = {NULL, 0};

    return vls_bag_clear(&b->ledger, node, none, VLS_STR("a.*"), none, none, &call, on_done, NULL,
                         b->err);
}

static int op_run(bag *b, vls_scope *node)
{
    int64_t number = 0;

    return vls_bag_run_start(&number, &b->ledger, node, b->err);
}

static int op_run_end(bag *b, vls_scope *node)
{
    return vls_bag_run_end(&b->ledger, node, 2, b->err);
}

static int op_checkpoint(bag *b, vls_scope *node)
{
    (void)node;
    return vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("here"), VLS_STR("me"), 1, b->err);
}

static int op_permit(bag *b, vls_scope *node)
{
    (void)node;
    return vls_bag_permit(&b->ledger, VLS_STR("x"), &(valise_permissions){.read = NAMES("a")},
                          b->err);
}

static int op_rule(bag *b, vls_scope *node)
{
    (void)node;
    return vls_bag_tag_rule(&b->ledger, VLS_STR("t"), NAMES("x"), NAMES("y"), &b->arena, b->err);
}

static int op_get(bag *b, vls_scope *node)
{
    valise_blob *value = NULL;
    valise_commit commit;
    vls_look look = {.record = true, .arena = &b->arena, .commit = &commit};
    int rc = vls_bag_get(&value, &b->ledger, node, VLS_STR("mail"), &look, b->err);

    if (rc == 1)
        valise_blob_unref(value);
    return rc;
}

static int op_each(bag *b, vls_scope *node)
{
    return vls_bag_each(&b->ledger, node, VLS_STR("a.*"), true, on_item, NULL, b->err);
}

static int op_quarantined(bag *b, vls_scope *node)
{
    (void)node;
    return vls_bag_quarantined(&b->ledger, b->owner, on_item, NULL, b->err);
}

static int op_history(bag *b, vls_scope *node)
{
    valise_history all = VALISE_HISTORY_INIT;
    int rc;

    all.actions = ~0u;
    rc = vls_bag_history(&b->ledger, node, &all, on_commit, NULL, b->err);
    all.actions = 0;
    all.key = VLS_STR("mail");
    return rc < 0 ? rc : vls_bag_history(&b->ledger, node, &all, on_commit, NULL, b->err);
}

static int op_blame(bag *b, vls_scope *node)
{
    return vls_bag_blame(&b->ledger, node, VLS_STR("mail"), 1, on_commit, NULL, b->err);
}

static int is_there(void *arg, int64_t seq, valise_error *err)
{
    bag *b = arg;
    VLS_AUTO(blob) valise_blob *value = NULL;
    vls_ledger state = {0};
    int rc = b->ledger.ops->freeze(&state, b->ledger.self, seq, err);

    if (rc < 0)
        return rc;
    rc = vls_bag_get(&value, &state, b->owner, VLS_STR("mail"), &(vls_look){0}, err);
    state.ops->release(state.self);
    return rc;
}

static int op_points(bag *b, vls_scope *node)
{
    static const char *const points[] = {"now", "3", "1970-01-01T00:00:01Z", "before:node", "mark"};
    int64_t seq;
    int rc = 0;

    (void)node;
    for (size_t i = 0; i < VLS_COUNT(points) && rc >= 0; i++)
        rc = (int)point(b, &b->ledger, points[i]);
    return rc < 0 ? rc : vls_bisect(&seq, 0, 6, is_there, b, b->err);
}

static int op_diff(bag *b, vls_scope *node)
{
    vls_ledger old = {0};
    int rc = b->ledger.ops->freeze(&old, b->ledger.self, 2, b->err);

    if (rc < 0)
        return rc;
    rc = vls_bag_diff(&(vls_scoped){&old, node}, &(vls_scoped){&b->ledger, node}, false, on_change,
                      NULL, b->err);
    if (rc == 0)
        rc = vls_bag_diff(&(vls_scoped){&b->ledger, node}, &(vls_scoped){&old, node}, false,
                          on_change, NULL, b->err);
    old.ops->release(old.self);
    return rc;
}

static int op_merge(bag *b, vls_scope *node)
{
    naive_options options = {.id = {{8}}, .name = VLS_STR("f")};
    vls_change_call call = {.now = b->now++, .arena = &b->arena};
    const valise_node same = {.size = sizeof(same), .id = vls_scope_node_id(node)};
    VLS_AUTO(naive) naive *fork = NULL;
    VLS_AUTO(scope) vls_scope *there = NULL;
    vls_ledger base = {0}, theirs, ours = b->ledger;
    vls_merge_outcome outcome;
    int rc = ours.ops->freeze(&base, ours.self, 5, b->err);

    if (rc == 0)
        rc = naive_fork(&fork, &base, &options, b->err);
    if (rc == 0) {
        theirs = b->ledger = naive_ledger(fork);
        rc = put(b, b->owner, "new", "1");
        if (rc == 0)
            rc = put(b, b->owner, "k", "9");
        b->ledger = ours;
    }
    if (rc == 0)
        rc = vls_scope_new(&there, b->env, &theirs, &same, b->err);
    if (rc == 0)
        rc = vls_bag_merge(&outcome, &(vls_scoped){&ours, node}, &(vls_scoped){&base, node},
                           &(vls_scoped){&theirs, there}, UNSAID, &call, on_done, NULL, NULL,
                           b->err);
    if (base.ops)
        base.ops->release(base.self);
    return rc;
}

static int op_export(bag *b, vls_scope *node)
{
    VLS_AUTO(buf) vls_buf out = {0};
    int rc;

    vls_buf_init(&out, b->env, 100000);
    rc = vls_bag_export(&out, &b->ledger, b->owner, 3, b->err);
    vls_buf_clear(&out);
    return rc < 0 ? rc : vls_bag_export(&out, &b->ledger, node, -1, b->err);
}

static int op_validate(bag *b, vls_scope *node)
{
    VLS_AUTO(buf) vls_buf out = {0};
    int rc;

    vls_buf_init(&out, b->env, 100000);
    rc = vls_bag_validate(&out, &b->ledger, node, VLS_STR(""), VLS_STR("{\"maxProperties\":1}"), 1,
                          b->err);
    return rc < 0 ? rc
                  : vls_bag_validate(&out, &b->ledger, node, VLS_STR("k"),
                                     VLS_STR("{\"type\":\"number\"}"), 1, b->err);
}

static int op_scope(bag *b, vls_scope *node)
{
    VLS_AUTO(scope) vls_scope *scope = NULL;
    valise_permissions all = {.read = NAMES("a"),
                              .write = NAMES("b"),
                              .deny = NAMES("c"),
                              .namespace_read = NAMES("d"),
                              .namespace_write = NAMES("e")};
    valise_node who = {.id = VLS_STR("n"),
                       .name = VLS_STR("N"),
                       .namespace_name = VLS_STR("x.y"),
                       .permissions = &all};

    (void)node;
    return vls_scope_new(&scope, b->env, &b->ledger, &who, b->err);
}

/* Reads of a snapshot are marks of the scope. */
static int op_marks(bag *b, vls_scope *node)
{
    vls_ledger old = {0};
    valise_list marks = {0};
    int rc = b->ledger.ops->freeze(&old, b->ledger.self, 4, b->err);

    if (rc < 0)
        return rc;
    rc = vls_bag_each(&old, node, (valise_str){NULL, 0}, true, on_item, NULL, b->err);
    if (rc == 0)
        rc = vls_scope_new_marks(&marks, node, &b->arena, b->err);
    old.ops->release(old.self);
    return rc;
}

/* A backpack with something of everything. */
static void prepare(test *t, bag *b, vls_scope **node, const valise_env *env, bool items)
{
    naive_options options = {
        .id = {{6}}, .name = VLS_STR("f"), .taint = true, .no_difference = items};
    valise_permissions all = {
        .read = NAMES("*"), .write = NAMES("*"), .namespace_read = NAMES("a.*")};
    valise_node who = {
        .id = VLS_STR("node"), .namespace_name = VLS_STR("a.b"), .permissions = &all};
    int64_t run;

    CHECK_OK(bag_init(b, env, &options, &t->err));
    b->may_declassify = true;
    CHECK_OK(put_with(b, b->owner, "mail", "\"a@b\"",
                      (vls_pack_args){PACK_ARGS, .tags = NAMES("pii"), .read = NAMES("node"),
                                      .namespace_name = VLS_STR("a.b")}));
    CHECK_OK(put(b, b->owner, "k", "1"));
    CHECK_OK(put(b, b->owner, "held", "1"));
    CHECK_OK(jail(b, b->owner, "held", "why"));
    CHECK_OK(
        vls_bag_tag_rule(&b->ledger, VLS_STR("pii"), NAMES("node"), UNSAID, &b->arena, &t->err));
    CHECK_OK(vls_bag_permit(&b->ledger, VLS_STR("x"), &all, &t->err));
    CHECK_OK(vls_scope_new(node, env, &b->ledger, &who, &t->err));
    CHECK_OK(vls_bag_run_start(&run, &b->ledger, *node, &t->err));
    get(b, *node, "mail");
    CHECK_OK(put(b, *node, "seen", "1"));
    CHECK_OK(vls_bag_run_end(&b->ledger, *node, run, &t->err));
    CHECK_OK(vls_bag_checkpoint(NULL, &b->ledger, VLS_STR("mark"), VLS_STR("me"), 1, &t->err));
    CHECK_OK(put_as(b, "other", "k", "1"));
    get(b, *node, "mail");
    b->err = NULL;
}

static int once(fault *f, void *arg)
{
    const op *o = arg;
    bag b;
    vls_scope *node = NULL;
    const char *before;
    int rc;

    fault_off(f);
    prepare(f->t, &b, &node, f->env, f->nth % 2 == 1);
    before = exported(&b, &b.ledger, b.owner, -1);
    b.err = &f->err;
    test_context("%s", o->name);
    fault_on(f);
    rc = o->run(&b, node);
    fault_off(f);
    b.err = NULL;
    if (rc < 0 && !o->many)
        CHECK_TEXT(before, exported(&b, &b.ledger, b.owner, -1));
    if (rc >= 0)
        f->recovered = true; /* what is remembered of patterns can do without */
    vls_scope_free(node);
    bag_release(&b);
    return rc < 0 ? rc : 0;
}

TEST(fault, no_memory_for_any_of_it)
{
    static const op ops[] = {{"pack", op_pack, false},
                             {"pack new", op_pack_new, false},
                             {"pack tainted", op_pack_tainted, false},
                             {"remove", op_remove, false},
                             {"quarantine", op_jail, false},
                             {"release", op_unjail, false},
                             {"clear", op_clear, true},
                             {"run", op_run, false},
                             {"run end", op_run_end, false},
                             {"checkpoint", op_checkpoint, false},
                             {"permit", op_permit, false},
                             {"rule", op_rule, false},
                             {"get", op_get, false},
                             {"each", op_each, false},
                             {"quarantined", op_quarantined, false},
                             {"history", op_history, false},
                             {"blame", op_blame, false},
                             {"points", op_points, false},
                             {"diff", op_diff, false},
                             {"merge", op_merge, true},
                             {"export", op_export, false},
                             {"validate", op_validate, false},
                             {"scope", op_scope, false},
                             {"marks", op_marks, false}};
    long long faults = 0;

    for (size_t i = 0; i < VLS_COUNT(ops); i++) {
        test_note("%s", ops[i].name);
        faults += fault_each_alloc(t, FAULT_OR_NONE, once, (void *)(uintptr_t)&ops[i]);
        faults +=
            fault_each_alloc(t, FAULT_OR_NONE | FAULT_ONWARD, once, (void *)(uintptr_t)&ops[i]);
    }
    CHECK(faults > 100); /* in a release arenas take memory for many things at once */
}

/* ---- imports ---- */

static int import_once(fault *f, void *arg)
{
    naive_options options = {.id = {{6}}, .name = VLS_STR("f"), .taint = true};
    bag b;
    int rc;

    fault_off(f);
    CHECK(bag_init(&b, f->env, &options, NULL) == 0);
    fault_on(f);
    rc = vls_bag_import(&b.ledger, valise_str_of(arg), 1, f->env, &f->err);
    fault_off(f);
    bag_release(&b);
    return rc;
}

TEST(fault, no_memory_for_imports)
{
    bag b;
    vls_scope *node = NULL;
    const char *json;

    prepare(t, &b, &node, t->env, false);
    b.err = &t->err;
    json = exported(&b, &b.ledger, b.owner, 4);
    vls_scope_free(node);
    bag_release(&b);
    fault_each_alloc(t, 0, import_once, (void *)(uintptr_t)json);
    fault_each_alloc(t, FAULT_ONWARD, import_once, (void *)(uintptr_t)json);
    json = "{\"items\":[[\"a\",{\"value\":0,\"metadata\":{\"timestamp\":1000,\"tags\":"
           "[\"x\"]}}]],\"permissions\":{\"n\":{\"read\":[\"a\"]}}}";
    fault_each_alloc(t, 0, import_once, (void *)(uintptr_t)json);
}

/* A mark that cannot be kept is a read that fails: nothing is handed out without it. [B22] */
TEST(fault, a_read_that_cannot_be_marked_fails)
{
    fault_each_alloc(t, 0, once, &(op){"get", op_get, false});
}
