/* bus.c -- a handle with the counter extension. */
#include "kit/bus.h"

#include <sys/stat.h>

#include "base/hex.h"
#include "base/mem.h"
#include "store/validate.h"

/* ---- access ---- */

static bool is(valise_str s, const char *text)
{
    return vls_str_equal(s, valise_str_of(text));
}

static int refuse(valise_str actor, const char *capability, valise_error *err)
{
    return vls_fail(err, VALISE_E_DENIED, "%.*s has no %s", VALISE_STR_ARG(actor), capability);
}

static int allows(void *self, valise_view *view, valise_str actor, const char *capability,
                  const char *const *attrs, valise_error *err)
{
    (void)self, (void)view, (void)attrs;
    if (is(actor, "nobody") || strcmp(capability, "counter:never") == 0 ||
        (is(actor, "reader") && strcmp(capability, "counter:read") != 0))
        return refuse(actor, capability, err);
    return 0;
}

/* The actor "apples" may change only the counter of that name: a narrowed capability. */
static int check(void *self, valise_view *view, valise_str actor, const valise_op *op,
                 const void *args, valise_error *err)
{
    if (is(actor, "apples") && op == &counter_add && !is(((const add_args *)args)->name, "apples"))
        return refuse(actor, "counter:write for that counter", err);
    return allows(self, view, actor, op->needs, NULL, err);
}

const vls_bus_access kit_access = {NULL, check, allows};

/* ---- opening ---- */

static int open_store(kit *k, const kit_options *o, valise_error *err)
{
    bool sqlite = o->backend && strcmp(o->backend, "sqlite") == 0;
    vls_store_options options = {
        .env = k->env,
        .ops = o->ops   ? o->ops
               : sqlite ? valise_store_sqlite()
                        : valise_store_memory(),
        .where = o->dir,
        .flags = o->read_only ? VALISE_STORE_READ_ONLY : VALISE_STORE_CREATE,
        .full_sync = o->full_sync,
        .busy_timeout_ns = INT64_C(20000000000),
        .colls = vls_registry_colls(k->registry),
    };

    return o->no_store ? 0 : vls_store_open(&k->store, &options, err);
}

int kit_try_open(kit *out, const kit_options *o, valise_error *err)
{
    kit k = {.env = o->env};
    int rc = vls_registry_new(&k.registry, k.env, err);

    if (rc == 0)
        rc = vls_registry_add(k.registry, &counter_extension, false, err);
    if (rc == 0 && o->more)
        rc = vls_registry_add(k.registry, o->more, false, err);
    if (rc == 0)
        rc = open_store(&k, o, err);
    if (rc == 0) {
        vls_bus_options options = {
            .env = k.env,
            .store = k.store,
            .registry = k.registry,
            .access = kit_access,
            .middleware = o->middleware,
            .actor = o->actor ? valise_str_of(o->actor) : (valise_str){NULL, 0},
            .full_sync = o->full_sync,
        };
        rc = vls_bus_open(&k.v, &options, err);
    }
    if (rc < 0)
        kit_close(&k);
    else
        *out = k;
    return rc;
}

void kit_close(kit *k)
{
    vls_bus_close(k->v);
    vls_store_close(k->store);
    vls_registry_free(k->registry);
    *k = (kit){.t = k->t};
}

static void close_kit(void *arg)
{
    kit_close(arg);
}

kit *kit_open(test *t, const kit_options *options)
{
    kit_options o = options ? *options : (kit_options){0};
    kit *k = test_alloc(sizeof(*k));

    o.env = o.env ? o.env : t->env;
    o.backend = o.backend ? o.backend : t->param;
    o.dir = o.dir ? o.dir : test_tmpdir();
    mkdir(o.dir, 0700);
    CHECK_OK(kit_try_open(k, &o, &t->err));
    k->t = t;
    if (!o.plain)
        test_defer(close_kit, k);
    return k;
}

/* ---- running ---- */

const char *kit_run_as(kit *k, const char *type, const char *payload, const valise_call *call)
{
    test *t = k->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text = NULL;

    CHECK_OK(valise_dispatch(&reply, k->v, type, payload, call, &t->err));
    if (reply.json)
        text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

const char *kit_run(kit *k, const char *type, const char *payload)
{
    return kit_run_as(k, type, payload, NULL);
}

void kit_fails(kit *k, int code, const char *type, const char *payload, const valise_call *call)
{
    test *t = k->t;
    valise_reply reply = VALISE_REPLY_INIT;

    CHECK_RC(code, valise_dispatch(&reply, k->v, type, payload, call, &t->err));
    CHECK(reply.json == NULL);
    CHECK_INT(code, t->err.code);
    CHECK(t->err.message[0]);
    valise_reply_release(&reply);
}

int64_t kit_value(kit *k, const char *name, const char *at)
{
    test *t = k->t;
    valise_call call = VALISE_CALL_INIT;
    valise_str text = valise_str_of(name);
    get_result result = {0};
    vls_memory memory = {0};
    int rc;

    call.at = valise_str_of(at);
    rc = vls_run(k->v, &counter_get, &text, &result, &memory, &call, NULL, &t->err);
    vls_memory_release(&memory);
    if (rc == VALISE_E_NOT_FOUND)
        return -1;
    CHECK_OK(rc);
    return result.value;
}

static int hash_state(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

const char *kit_state(kit *k)
{
    test *t = k->t;
    valise_id id;

    CHECK_OK(vls_with_view(k->v, NULL, hash_state, &id, &t->err));
    return test_format("%s", vls_id_hex(&id).s);
}

static int read_tip(void *arg, valise_view *view, valise_error *err)
{
    (void)err;
    *(vls_tip *)arg = view->txn->tip;
    return 0;
}

static vls_tip tip_of(kit *k)
{
    test *t = k->t;
    vls_tip tip;

    CHECK_OK(vls_with_view(k->v, NULL, read_tip, &tip, &t->err));
    return tip;
}

const char *kit_tip(kit *k)
{
    vls_tip tip = tip_of(k);

    return test_format("%s", vls_id_hex(&tip.hash).s);
}

int64_t kit_seq(kit *k)
{
    return tip_of(k).seq;
}

valise_uuid kit_uuid(uint64_t number)
{
    valise_uuid id = {{0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80}};

    for (int i = 0; i < 6; i++)
        id.bytes[15 - i] = (uint8_t)(number >> (8 * i));
    return id;
}

typedef struct object_want {
    const char *kind;
    valise_str bytes;
} object_want;

static int has_object(void *arg, valise_view *view, valise_error *err)
{
    const object_want *want = arg;
    vls_object_info info;
    valise_id id;
    int rc = vls_object_id(&id, want->kind, want->bytes, err);

    return rc < 0 ? rc : vls_object_stat(&info, view->txn, &id, err);
}

bool kit_has_object(kit *k, const char *kind, const char *text)
{
    test *t = k->t;
    object_want want = {kind, valise_str_of(text)};
    int rc = vls_with_view(k->v, NULL, has_object, &want, &t->err);

    if (rc < 0)
        CHECK_OK(rc);
    return rc == 1;
}

static int report_finding(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg, (void)err;
    CHECK_MSG(false, "%s: %s", finding->place, finding->problem);
    return 0;
}

void kit_validate(kit *k)
{
    test *t = k->t;
    vls_progress progress;
    vls_validation result = {0};

    vls_progress_init(&progress, k->env, NULL);
    CHECK_OK(vls_validate(&result, k->store, &progress, report_finding, NULL, &t->err));
    CHECK_INT(0, result.problems);
}
