/* laid.c -- see laid.h. */
#include "kit/laid.h"

#include "backpack/backpack.h"
#include "backpack/expire.h"
#include "backpack/ops.h"
#include "backpack/rows.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "bus/follow.h"
#include "harness/test.h"
#include "kernel/kernel.h"
#include "kit/bus.h"

/* The workspace that a ledger and its forks are in. */
typedef struct ground {
    const valise_env *env;
    vls_registry *registry;
    vls_store *store;
    valise *v;
    vls_feed *feed;
    int64_t now;
    unsigned refs;
} ground;

/* A view, and the ledger seen through it. */
typedef struct session {
    bool open, writing;
    vls_txn txn;
    valise_view view;
    vls_rows rows;
    vls_ledger inner;
} session;

struct laid {
    ground *g;
    valise_uuid id;
    int64_t upto;        /* -1: the newest */
    session read, write; /* between enter and leave */
};

/* ---- sessions ---- */

static void begin(session *s, const laid *l, bool writing)
{
    ground *g = l->g;
    valise_error err = VALISE_ERROR_INIT;
    int64_t tip;

    CHECK_INT(0,
              vls_txn_begin(&s->txn, g->store, writing ? VALISE_TXN_WRITE : VALISE_TXN_READ, &err));
    vls_view_init(&s->view, &s->txn, g->env);
    s->view.bus = g->v;
    s->view.stamp.time = g->now++;
    s->view.stamp.actor = VLS_STR("tester");
    tip = s->txn.tip.seq;
    if (writing) {
        s->view.changing = true;
        s->view.stamp.seq = tip + 1;
        s->view.stamp.command = (valise_uuid){{(uint8_t)(tip >> 8), (uint8_t)tip, 1}};
    }
    s->open = true;
    s->writing = writing;
    s->rows = (vls_rows){0};
    if (vls_rows_open_id(&s->rows, &s->view, &l->id, &err) < 0)
        return; /* it is being made */
    s->inner = vls_rows_ledger(&s->rows);
    if (l->upto >= 0)
        CHECK_INT(0, s->inner.ops->freeze(&s->inner, s->inner.self, l->upto, &err));
}

static void end(session *s)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_entry entry = {.id = s->view.stamp.command,
                       .time = s->view.stamp.time,
                       .actor = VLS_STR("tester"),
                       .type = VLS_STR("laid:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};

    if (!s->open)
        return;
    if (s->inner.frozen)
        s->inner.ops->release(s->inner.self);
    vls_rows_close(&s->rows);
    if (s->writing)
        CHECK_INT(0, vls_view_apply(&entry, &s->view, &err));
    vls_view_release(&s->view);
    if (s->writing)
        CHECK_INT(0, vls_txn_commit(&s->txn, &err));
    vls_txn_rollback(&s->txn);
    *s = (session){.open = false};
}

static void laid_enter(void *self)
{
    laid *l = self;

    begin(&l->read, l, false);
}

static void laid_leave(void *self)
{
    laid *l = self;

    end(&l->write);
    end(&l->read);
}

/* What is read inside sees what was changed there. */
static const vls_ledger *inside(void *self)
{
    laid *l = self;

    CHECK(l->read.open);
    return l->write.open ? &l->write.inner : &l->read.inner;
}

static const vls_ledger *changing(void *self)
{
    laid *l = self;

    CHECK(l->read.open && l->upto < 0);
    if (!l->write.open)
        begin(&l->write, l, true);
    return &l->write.inner;
}

/* ---- between enter and leave ---- */

static int laid_head(vls_ledger_head *out, void *self, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->head(out, in->self, err);
}

static int laid_newest(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->newest(out, in->self, key, err);
}

static int laid_present(valise_commit *out, void *self, valise_str key, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->present(out, in->self, key, err);
}

static int laid_version(int64_t *out, void *self, valise_str key, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->version(out, in->self, key, err);
}

static bool laid_includes(void *self, const valise_uuid *backpack, int64_t seq)
{
    const vls_ledger *in = inside(self);

    return in->ops->includes(in->self, backpack, seq);
}

static int laid_commit(valise_commit *out, void *self, const valise_uuid *backpack, int64_t seq,
                       valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->commit(out, in->self, backpack, seq, err);
}

static int laid_value(valise_blob **out, void *self, const valise_commit *commit, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->value(out, in->self, commit, err);
}

static int laid_append(void *self, valise_commit *commit, valise_blob *value, valise_error *err)
{
    const vls_ledger *in = changing(self);

    return in->ops->append(in->self, commit, value, err);
}

static int laid_set_edge(void *self, int64_t edge, valise_error *err)
{
    const vls_ledger *in = changing(self);

    return in->ops->set_edge(in->self, edge, err);
}

static int laid_row_get(void *row, void *self, const valise_coll *coll, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->row_get(row, in->self, coll, err);
}

static int laid_ran(void *self, valise_str node_id, valise_error *err)
{
    const vls_ledger *in = inside(self);

    return in->ops->ran(in->self, node_id, err);
}

static int laid_row_put(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    const vls_ledger *in = changing(self);

    return in->ops->row_put(in->self, coll, row, err);
}

static int laid_row_delete(void *self, const valise_coll *coll, const void *row, valise_error *err)
{
    const vls_ledger *in = changing(self);

    return in->ops->row_delete(in->self, coll, row, err);
}

static void laid_read_add(void *self, const vls_ledger_read *read)
{
    const vls_ledger *in = inside(self);

    in->ops->read_add(in->self, read);
}

/* ---- walks ---- */

static int laid_each_item(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_item(s.inner.self, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_gone(void *self, valise_commit_fn *fn, void *arg, valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_gone(s.inner.self, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_named(void *self, valise_str pattern, valise_commit_fn *fn, void *arg,
                           valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_named(s.inner.self, pattern, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_version(void *self, valise_str key, valise_commit_fn *fn, void *arg,
                             valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_version(s.inner.self, key, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_commit(void *self, int64_t first, int64_t last, bool reverse,
                            valise_commit_fn *fn, void *arg, valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_commit(s.inner.self, first, last, reverse, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_difference(void *self, void *other,
                                int (*fn)(void *arg, const valise_commit *in_self,
                                          const valise_commit *in_other, valise_error *err),
                                void *arg, valise_error *err)
{
    session a = {0}, b = {0};
    int rc;

    begin(&a, self, false);
    begin(&b, other, false);
    rc = a.inner.ops->each_difference(a.inner.self, b.inner.self, fn, arg, err);
    end(&b);
    end(&a);
    return rc;
}

static int laid_each_row(void *self, const valise_coll *coll,
                         int (*fn)(void *arg, const void *row, valise_error *err), void *arg,
                         valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_row(s.inner.self, coll, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_each_read(void *self,
                          int (*fn)(void *arg, const vls_ledger_read *read, valise_error *err),
                          void *arg, valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->each_read(s.inner.self, fn, arg, err);
    end(&s);
    return rc;
}

static int laid_usage(valise_usage *out, void *self, valise_error *err)
{
    session s = {0};
    int rc;

    begin(&s, self, false);
    rc = s.inner.ops->usage(out, s.inner.self, err);
    end(&s);
    return rc;
}

/* ---- states ---- */

static laid *make(ground *g, const valise_uuid *id, int64_t upto)
{
    laid *l = vls_mem_zalloc(g->env, sizeof(*l));

    CHECK(l);
    l->g = g;
    l->id = *id;
    l->upto = upto;
    g->refs++;
    return l;
}

static void laid_release(void *self)
{
    laid_close(self);
}

static int laid_freeze(vls_ledger *out, void *self, int64_t upto, valise_error *err)
{
    const laid *l = self;

    (void)err;
    *out = laid_ledger(make(l->g, &l->id, upto));
    out->frozen = true;
    return 0;
}

static const vls_ledger_ops laid_ops = {.name = "laid",
                                        .undone = true,
                                        .enter = laid_enter,
                                        .leave = laid_leave,
                                        .head = laid_head,
                                        .newest = laid_newest,
                                        .present = laid_present,
                                        .version = laid_version,
                                        .commit = laid_commit,
                                        .includes = laid_includes,
                                        .value = laid_value,
                                        .append = laid_append,
                                        .set_edge = laid_set_edge,
                                        .row_get = laid_row_get,
                                        .row_put = laid_row_put,
                                        .row_delete = laid_row_delete,
                                        .read_add = laid_read_add,
                                        .each_item = laid_each_item,
                                        .each_gone = laid_each_gone,
                                        .each_named = laid_each_named,
                                        .each_version = laid_each_version,
                                        .each_commit = laid_each_commit,
                                        .each_difference = laid_each_difference,
                                        .each_row = laid_each_row,
                                        .ran = laid_ran,
                                        .each_read = laid_each_read,
                                        .usage = laid_usage,
                                        .freeze = laid_freeze,
                                        .release = laid_release};

vls_ledger laid_ledger(laid *l)
{
    return (vls_ledger){&laid_ops, l, false};
}

/* ---- making ---- */

static void put_bag(laid *l, const vls_bag_row *row)
{
    session s = {0};
    valise_error err = VALISE_ERROR_INIT;

    begin(&s, l, true);
    CHECK_INT(0, valise_view_put(&s.view, &vls_bags, row, &err));
    end(&s);
}

static const char *new_folder(void)
{
    char *path = test_alloc(4096);

    (void)snprintf(path, 4096, "%s/laid-XXXXXX", test_tmpdir());
    CHECK(mkdtemp(path));
    return path;
}

laid *laid_open(const valise_env *env, const char *backend, const vls_bag_row *bag)
{
    ground *g = vls_mem_zalloc(env, sizeof(*g));
    bool sqlite = strcmp(backend, "sqlite") == 0;
    valise_error err = VALISE_ERROR_INIT;
    laid *l;

    CHECK(g);
    *g = (ground){.env = env, .now = 1};
    CHECK_INT(0, vls_registry_new(&g->registry, env, &err));
    CHECK_INT(0, vls_registry_add(g->registry, &vls_area_kernel, true, &err));
    CHECK_INT(0, vls_registry_add(g->registry, &vls_area_backpack, true, &err));
    CHECK_INT(0, vls_store_open(&g->store,
                                &(vls_store_options){.env = env,
                                                     .ops = sqlite ? valise_store_sqlite()
                                                                   : valise_store_memory(),
                                                     .where = new_folder(),
                                                     .flags = VALISE_STORE_CREATE,
                                                     .busy_timeout_ns = INT64_C(1000000000),
                                                     .colls = vls_registry_colls(g->registry)},
                                &err));
    CHECK_INT(0, vls_bus_open(&g->v,
                              &(vls_bus_options){.env = env,
                                                 .store = g->store,
                                                 .registry = g->registry,
                                                 .access = kit_access},
                              &err));
    CHECK_INT(0, vls_feed_open(&g->feed, g->v, &err));
    l = make(g, &bag->id, -1);
    put_bag(l, bag);
    return l;
}

/* Permissions, rules, open entries and marks of the origin, under the fork's id. */
typedef struct copying {
    const vls_ledger *to;
    const valise_uuid *from, *id;
    const valise_coll *coll;
    int64_t last;    /* of the state */
    int64_t entries; /* that are there */
} copying;

static int count_entry(void *arg, const void *row, valise_error *err)
{
    copying *c = arg;

    (void)err;
    c->entries += vls_entry_is_there(row, c->last);
    return 0;
}

static int copy_row(void *arg, const void *row, valise_error *err)
{
    copying *c = arg;
    vls_any_row copy;

    memcpy(&copy, row, c->coll->row_size);
    if (!vls_uuid_equal(&copy.backpack, c->from))
        return 0;
    if (c->coll == &vls_bag_quarantines) {
        if (!vls_entry_is_there(&copy.quarantine, c->last))
            return 0;
        vls_entry_inherit(&copy.quarantine, c->id, -c->entries--);
    }
    if (c->coll == &vls_bag_taints && !vls_mark_inherit(&copy.taint, c->id, c->last))
        return 0;
    copy.backpack = *c->id;
    c->to->ops->enter(c->to->self);
    CHECK_INT(0, c->to->ops->row_put(c->to->self, c->coll, &copy, err));
    c->to->ops->leave(c->to->self);
    return 0;
}

laid *laid_fork(const vls_ledger *from, const vls_bag_row *bag)
{
    laid *origin = from->self, *l = make(origin->g, &bag->id, -1);
    vls_bag_row row = *bag;
    valise_error err = VALISE_ERROR_INIT;
    vls_ledger_head head;
    vls_ledger to = laid_ledger(l);
    copying c = {.to = &to, .from = &origin->id, .id = &l->id};
    static const valise_coll *const colls[] = {&vls_bag_permissions, &vls_bag_rules,
                                               &vls_bag_quarantines, &vls_bag_taints};

    laid_enter(origin);
    CHECK_INT(0, laid_head(&head, origin, &err));
    laid_leave(origin);
    row.origin = origin->id;
    row.origin_seq = head.last;
    put_bag(l, &row);
    c.last = head.last;
    CHECK_INT(0, laid_each_row(origin, &vls_bag_quarantines, count_entry, &c, &err));
    for (size_t i = 0; i < VLS_COUNT(colls); i++) {
        c.coll = colls[i];
        CHECK_INT(0, laid_each_row(origin, colls[i], copy_row, &c, &err));
    }
    return l;
}

void laid_forget(laid *l, int64_t edge)
{
    const vls_expire_args args = {.backpack = l->id, .from = 1, .upto = edge};
    vls_expire_result result;
    session s = {0};
    valise_error err = VALISE_ERROR_INIT;

    begin(&s, l, true);
    s.view.expiring = true;
    CHECK_INT(0, vls_op_backpack_expire.decide(&s.view, &args, &result, &err));
    CHECK_INT(edge, result.edge);
    end(&s);
}

void laid_close(laid *l)
{
    ground *g = l->g;

    CHECK(!l->read.open);
    vls_mem_free(g->env, l, sizeof(*l));
    if (--g->refs > 0)
        return;
    vls_feed_close(g->feed);
    vls_bus_close(g->v);
    vls_store_close(g->store);
    vls_registry_free(g->registry);
    vls_mem_free(g->env, g, sizeof(*g));
}
