/* feed.c -- a handle that is followed (feed.h). */
#include "kit/feed.h"

#include <stdarg.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "kernel/kernel.h"

/* ---- rows ---- */

static const valise_field plant_fields[] = {
    VALISE_FIELD(plant_row, name, STR, VALISE_KEY, "Name."),
    VALISE_FIELD(plant_row, kind, STR, 0, "Kind."),
    VALISE_FIELD(plant_row, size, INT, 0, "Size."),
    VALISE_FIELD(plant_row, node, STR, 0, "Node."),
    VALISE_FIELD(plant_row, space, STR, 0, "Namespace."),
    VALISE_FIELD(plant_row, run, STR, 0, "Run."),
    VALISE_FIELD(plant_row, label, STR, VALISE_NULLABLE | VALISE_CONTENT, "What it says."),
    VALISE_FIELD_END,
};

static int plant_event(valise_event *out, valise_view *view, const void *before, const void *after,
                       valise_error *err)
{
    const plant_row *row = after ? after : before;
    char text[64];
    void *payload;
    int rc, len;

    if (vls_str_equal(row->kind, VLS_STR("quiet")))
        return 0;
    if (vls_str_equal(row->kind, VLS_STR("broken")))
        return vls_fail(err, VALISE_E_INVALID, "a plant that tells nothing");
    len = snprintf(text, sizeof(text), "{\"size\":%lld}", (long long)row->size);
    rc = valise_view_alloc(&payload, view, (size_t)len, err);
    if (rc < 0)
        return rc;
    memcpy(payload, text, (size_t)len);
    out->type = !after   ? VLS_STR("PLANT_GONE")
                : before ? VLS_STR("PLANT_GROWN")
                         : VLS_STR("PLANT_NEW");
    out->node_id = row->node;
    out->namespace_name = row->space;
    out->run_id = row->run;
    out->payload = vls_str(payload, (size_t)len);
    return 1;
}

const valise_coll plant_item = {
    .size = sizeof(valise_coll),
    .name = "plant.item",
    .needs = "plant:read",
    .help = "A plant.",
    .fields = plant_fields,
    .row_size = sizeof(plant_row),
    .event = plant_event,
};

static const valise_field echo_fields[] = {
    VALISE_FIELD(echo_row, id, UUID, VALISE_KEY, "Id."),
    VALISE_FIELD(echo_row, name, STR, 0, "Of which plant."),
    VALISE_FIELD(echo_row, actor, STR, 0, "By whom."),
    VALISE_FIELD_END,
};

const valise_coll plant_echo = {
    .size = sizeof(valise_coll),
    .name = "plant.echo",
    .help = "What somebody wrote about a plant.",
    .fields = echo_fields,
    .row_size = sizeof(echo_row),
};

const valise_coll plant_quiet = {
    .size = sizeof(valise_coll),
    .name = "plant.quiet",
    .help = "What no entry lists.",
    .fields = echo_fields,
    .row_size = sizeof(echo_row),
    .flags = VALISE_COLL_QUIET | VALISE_COLL_IMMUTABLE,
};

/* ---- commands ---- */

static const valise_field put_in[] = {
    VALISE_FIELD(plant_row, name, STR, VALISE_REQUIRED, "Name."),
    VALISE_FIELD(plant_row, kind, STR, 0, "Kind."),
    VALISE_FIELD(plant_row, size, INT, 0, "Size."),
    VALISE_FIELD(plant_row, node, STR, 0, "Node."),
    VALISE_FIELD(plant_row, space, STR, 0, "Namespace."),
    VALISE_FIELD(plant_row, run, STR, 0, "Run."),
    VALISE_FIELD(plant_row, label, STR, VALISE_NULLABLE, "What it says."),
    VALISE_FIELD_END,
};

typedef struct name_args {
    valise_str name;
} name_args;
static const valise_field name_in[] = {
    VALISE_FIELD(name_args, name, STR, VALISE_REQUIRED, "Name."),
    VALISE_FIELD_END,
};

typedef struct size_result {
    int64_t size;
} size_result;
static const valise_field size_out[] = {
    VALISE_FIELD(size_result, size, INT, 0, "Size."),
    VALISE_FIELD_END,
};

static int put_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    ((size_result *)result)->size = ((const plant_row *)args)->size;
    return valise_view_put(view, &plant_item, args, err);
}

static int drop_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    plant_row row = {.name = ((const name_args *)args)->name};
    int rc = valise_view_delete(view, &plant_item, &row, err);

    (void)result;
    return rc < 0 ? rc : 0;
}

static int fail_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    plant_row row = {.name = ((const name_args *)args)->name, .kind = VLS_STR("never")};
    int rc = valise_view_put(view, &plant_item, &row, err);

    (void)result;
    return rc < 0 ? rc : vls_fail(err, VALISE_E_CONFLICT, "no");
}

static int echo_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    echo_row row = {.name = ((const name_args *)args)->name,
                    .actor = valise_view_stamp(view)->actor};
    int rc = valise_view_uuid(&row.id, view, err);

    (void)result;
    return rc < 0 ? rc : valise_view_put(view, &plant_echo, &row, err);
}

typedef struct many_args {
    valise_list names;
    valise_str kind;
    int64_t size;
} many_args;
static const valise_field many_item = {.type = VALISE_T_STR};
static const valise_field many_in[] = {
    VALISE_FIELD_WITH(many_args, names, LIST, 0, "Names.", .more = &many_item),
    VALISE_FIELD(many_args, kind, STR, 0, "Kind."),
    VALISE_FIELD(many_args, size, INT, 0, "Size."),
    VALISE_FIELD_END,
};

static int many_decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const many_args *args = in;
    const valise_str *names = args->names.items;
    int rc = 0;

    (void)result;
    for (size_t i = 0; rc == 0 && i < args->names.count; i++) {
        plant_row row = {.name = names[i], .kind = args->kind, .size = args->size};
        rc = valise_view_put(view, &plant_item, &row, err);
    }
    return rc;
}

#define COMMAND(id, op_name, table, type, fn, text)                                                \
    static const valise_op id = {                                                                  \
        .size = sizeof(valise_op),                                                                 \
        .name = op_name,                                                                           \
        .brief = "Test.",                                                                          \
        .kind = VALISE_COMMAND,                                                                    \
        .needs = "plant:write",                                                                    \
        .in = table,                                                                               \
        .in_size = sizeof(type),                                                                   \
        .decide = fn,                                                                              \
        .example = text,                                                                           \
    }

static const valise_op plant_put = {
    .size = sizeof(valise_op),
    .name = "plant:put",
    .brief = "Test.",
    .kind = VALISE_COMMAND,
    .needs = "plant:write",
    .in = put_in,
    .in_size = sizeof(plant_row),
    .out = size_out,
    .out_size = sizeof(size_result),
    .decide = put_decide,
    .example = "{\"name\":\"rose\",\"kind\":\"flower\",\"size\":3}",
};
COMMAND(plant_drop, "plant:drop", name_in, name_args, drop_decide, "{\"name\":\"rose\"}");
COMMAND(plant_fail, "plant:fail", name_in, name_args, fail_decide, "{\"name\":\"rose\"}");
COMMAND(plant_log, "plant:log", name_in, name_args, echo_decide, "{\"name\":\"rose\"}");
COMMAND(plant_many, "plant:many", many_in, many_args, many_decide, "{\"names\":[\"a\"]}");

/* ---- indexes ---- */

_Atomic uint64_t garden_maps;

static int add_entry(valise_index_out *out, const plant_row *row, const char *key,
                     valise_error *err)
{
    char json[64];

    snprintf(json, sizeof(json), "{ \"size\": %lld }", (long long)row->size);
    return valise_index_add(out, valise_str_of(key), valise_str_of(json), err);
}

static int map_kind(valise_index_out *out, const void *p, valise_error *err)
{
    const plant_row *row = p;
    char key[128];

    atomic_fetch_add(&garden_maps, 1);
    if (row->size < 0)
        return 0;
    if (vls_str_equal(row->kind, VLS_STR("twice"))) {
        int rc = add_entry(out, row, "twice", err);
        return rc < 0 ? rc : add_entry(out, row, "twice", err);
    }
    if (vls_str_equal(row->kind, VLS_STR("unmapped")))
        return vls_fail(err, VALISE_E_INVALID, "this kind has no entry");
    snprintf(key, sizeof(key), "%.*s/%.*s%s%.*s", VALISE_STR_ARG(row->kind),
             VALISE_STR_ARG(row->name), row->label.len ? "/" : "", VALISE_STR_ARG(row->label));
    return add_entry(out, row, key, err);
}

/* A row makes two entries; those of the other collection are in it too. */
static int map_size(valise_index_out *out, const void *p, valise_error *err)
{
    const plant_row *row = p;
    char key[128];
    int rc;

    snprintf(key, sizeof(key), "size/%08lld/%.*s", (long long)row->size, VALISE_STR_ARG(row->name));
    rc = add_entry(out, row, key, err);
    snprintf(key, sizeof(key), "name/%.*s", VALISE_STR_ARG(row->name));
    return rc < 0 ? rc : add_entry(out, row, key, err);
}

static int map_echo(valise_index_out *out, const void *p, valise_error *err)
{
    const echo_row *row = p;
    char key[160];
    int len = snprintf(key, sizeof(key), "echo/%.*s/", VALISE_STR_ARG(row->name));

    for (size_t i = 0; i < sizeof(row->id.bytes); i++)
        len += snprintf(key + len, sizeof(key) - (size_t)len, "%02x", row->id.bytes[i]);
    return valise_index_add(out, valise_str_of(key), VLS_STR("true"), err);
}

static int map_clash(valise_index_out *out, const void *p, valise_error *err)
{
    const plant_row *row = p;

    return row->kind.len == 0 ? 0 : valise_index_add(out, row->kind, VLS_STR("1"), err);
}

static const valise_index_source kinds_sources[] = {{&plant_item, map_kind}, {NULL, NULL}};
static const valise_index_source sizes_sources[] = {
    {&plant_item, map_size}, {&plant_echo, map_echo}, {NULL, NULL}};
static const valise_index_source clash_sources[] = {{&plant_item, map_clash}, {NULL, NULL}};
static const valise_indexer kinds = {sizeof(valise_indexer), "kinds", "By kind.", kinds_sources};
static const valise_indexer sizes = {sizeof(valise_indexer), "sizes", "By size.", sizes_sources};
static const valise_indexer clash = {sizeof(valise_indexer), "clash", "Not unique.", clash_sources};

/* ---- the package ---- */

static const valise_coll *const collections[] = {&plant_item, &plant_echo, &plant_quiet, NULL};
static const valise_op *const operations[] = {&plant_put, &plant_drop, &plant_fail,
                                              &plant_log, &plant_many, NULL};
static const valise_indexer *const indexers[] = {&kinds, &sizes, &clash, NULL};

const valise_extension plant_extension = {
    .size = sizeof(valise_extension),
    .abi = VALISE_EXTENSION_ABI,
    .name = "plant",
    .version = "1",
    .collections = collections,
    .operations = operations,
    .indexers = indexers,
};

/* ---- access ---- */

static bool is(valise_str s, const char *text)
{
    return vls_str_equal(s, valise_str_of(text));
}

static int refuse(valise_str actor, valise_error *err)
{
    return vls_fail(err, VALISE_E_DENIED, "%.*s may not", VALISE_STR_ARG(actor));
}

static int allows(void *self, valise_view *view, valise_str actor, const char *capability,
                  const char *const *attrs, valise_error *err)
{
    (void)self, (void)view;
    if (is(actor, "nobody"))
        return refuse(actor, err);
    if (is(actor, "blind") && strncmp(capability, "plant:", 6) == 0)
        return refuse(actor, err);
    if (is(actor, "sales") && strcmp(capability, "plant:read") == 0) {
        if (!attrs || !attrs[0] || strcmp(attrs[0], "namespace") != 0 ||
            strncmp(attrs[1], "sales.", 6) != 0)
            return refuse(actor, err);
    }
    return 0;
}

static int check(void *self, valise_view *view, valise_str actor, const valise_op *op,
                 const void *args, valise_error *err)
{
    (void)args;
    return allows(self, view, actor, op->needs, NULL, err);
}

const vls_bus_access garden_access = {NULL, check, allows};

/* ---- opening ---- */

static int open_store(garden *g, const garden_options *o, valise_error *err)
{
    bool sqlite = o->backend && strcmp(o->backend, "sqlite") == 0;
    vls_store_options options = {
        .env = g->env,
        .ops = o->ops   ? o->ops
               : sqlite ? valise_store_sqlite()
                        : valise_store_memory(),
        .where = o->dir,
        .flags = o->read_only ? VALISE_STORE_READ_ONLY : VALISE_STORE_CREATE,
        .busy_timeout_ns = INT64_C(20000000000),
        .colls = vls_registry_colls(g->registry),
    };

    if (o->store) {
        g->store = o->store;
        g->borrowed = true;
        return 0;
    }
    return vls_store_open(&g->store, &options, err);
}

static int open_registry(garden *g, const garden_options *o, valise_error *err)
{
    int rc = vls_registry_new(&g->registry, g->env, err);

    if (rc == 0)
        rc = vls_registry_add(g->registry, &vls_area_kernel, true, err);
    if (rc == 0 && !o->absent) {
        g->package = plant_extension;
        g->package.processors = o->processors;
        rc = vls_registry_add(g->registry, &g->package, false, err);
    }
    return rc;
}

/* g must stay where it is. */
int garden_try_open(garden *g, const garden_options *o, valise_error *err)
{
    int rc;

    *g = (garden){.env = o->env};
    rc = open_registry(g, o, err);
    if (rc == 0)
        rc = open_store(g, o, err);
    if (rc == 0) {
        vls_bus_options options = {.env = g->env,
                                   .store = g->store,
                                   .registry = g->registry,
                                   .access = garden_access,
                                   .actor = valise_str_of(o->actor)};
        rc = vls_bus_open(&g->v, &options, err);
    }
    if (rc == 0)
        rc = vls_feed_open(&g->feed, g->v, err);
    if (rc < 0)
        garden_close(g);
    else if (!o->not_started)
        vls_feed_start(g->feed);
    return rc;
}

void garden_close(garden *g)
{
    vls_feed_close(g->feed);
    vls_bus_close(g->v);
    if (!g->borrowed)
        vls_store_close(g->store);
    vls_registry_free(g->registry);
    *g = (garden){.t = g->t};
}

static void close_garden(void *arg)
{
    garden_close(arg);
}

garden *garden_open(test *t, const garden_options *options)
{
    garden_options o = options ? *options : (garden_options){0};
    garden *g = test_alloc(sizeof(*g));

    o.env = o.env ? o.env : t->env;
    o.backend = o.backend ? o.backend : t->param;
    o.dir = o.dir ? o.dir : test_tmpdir();
    mkdir(o.dir, 0700);
    CHECK_OK(garden_try_open(g, &o, &t->err));
    g->t = t;
    test_defer(close_garden, g);
    return g;
}

/* ---- running ---- */

int64_t garden_run(garden *g, const char *type, const char *payload, ...)
{
    test *t = g->t;
    valise_reply reply = VALISE_REPLY_INIT;
    char text[4096];
    va_list args;

    va_start(args, payload);
    vsnprintf(text, sizeof(text), payload, args);
    va_end(args);
    CHECK_OK(valise_dispatch(&reply, g->v, type, text, NULL, &t->err));
    valise_reply_release(&reply);
    return reply.seq;
}

int64_t garden_put(garden *g, const char *name, const char *kind, int size)
{
    return garden_run(g, "plant:put", "{\"name\":\"%s\",\"kind\":\"%s\",\"size\":%d}", name, kind,
                      size);
}

const char *garden_ask(garden *g, const char *type, const char *payload)
{
    test *t = g->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, g->v, type, payload, NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

int64_t garden_seq(garden *g)
{
    test *t = g->t;
    vls_txn txn = {0};
    int64_t seq;

    CHECK_OK(vls_txn_begin(&txn, g->store, VALISE_TXN_READ, &t->err));
    seq = txn.tip.seq;
    vls_txn_rollback(&txn);
    return seq;
}

int garden_note(void *arg, const valise_event *event, valise_error *err)
{
    garden_notes *n = arg;

    if (event->seq > 0) {
        if (event->seq < n->last.seq || (event->seq == n->last.seq && event->index < n->last.index))
            n->disorder++;
        n->last = (valise_cursor){event->seq, event->index + 1};
    }
    n->count++;
    if (n->len < sizeof(n->text) - 128)
        n->len +=
            (size_t)snprintf(n->text + n->len, sizeof(n->text) - n->len, "%lld.%u %.*s\n",
                             (long long)event->seq, event->index, VALISE_STR_ARG(event->type));
    return n->result < 0 ? vls_fail(err, n->result, "the subscriber failed") : 0;
}
