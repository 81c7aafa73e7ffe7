/* apart.c -- commands on what lives in memory alone, and what areas keep with a handle. [K33] */
#include "bus/operate.h"
#include "kit/aside.h"
#include "kit/bus.h"

TEST_PARAMS(apart, "memory", "sqlite")

static kit *open_kit(test *t, const valise_middleware *const *middleware)
{
    kit *k = kit_open(t, &(kit_options){.middleware = middleware});

    CHECK_OK(vls_registry_add(k->registry, &aside_extension, false, &t->err));
    return k;
}

TEST(apart, leaves_nothing_in_the_workspace)
{
    kit *k = open_kit(t, NULL);
    const char *state = kit_state(k);
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;

    call.actor = VLS_STR("somebody");
    CHECK_OK(
        valise_dispatch(&reply, k->v, "aside:add", "{\"name\":\"m:a\",\"by\":5}", &call, &t->err));
    CHECK_INT(0, reply.seq);
    CHECK(reply.time > 0 && !reply.repeated);
    CHECK(strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json))),
                 "\"actor\":\"somebody\""));
    valise_reply_release(&reply);
    CHECK(strstr(kit_run(k, "aside:add", "{\"name\":\"m:a\",\"by\":2}"), "\"value\":7"));
    CHECK_TEXT(state, kit_state(k));
    CHECK_INT(0, kit_seq(k));
    CHECK(strstr(kit_run(k, "aside:add", "{\"name\":\"a\",\"by\":2}"), "\"value\":2"));
    CHECK_INT(1, kit_seq(k)); /* that one is a command like any other */
    kit_validate(k);
}

TEST(apart, takes_the_same_steps)
{
    kit *k = open_kit(t, NULL);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    kit_fails(k, VALISE_E_INVALID, "aside:add", "{\"name\":\"m:a\",\"of\":1}", NULL);
    call.actor = VLS_STR("nobody");
    kit_fails(k, VALISE_E_DENIED, "aside:add", "{\"name\":\"m:a\"}", &call);
    call = (valise_call)VALISE_CALL_INIT;
    kit_run(k, "aside:add", "{\"name\":\"m:a\",\"by\":3}");
    call.expect = VLS_STR("2");
    CHECK_RC(VALISE_E_CONFLICT, valise_dispatch(&reply, k->v, "aside:add",
                                                "{\"name\":\"m:a\",\"by\":1}", &call, &t->err));
    CHECK_STR(VLS_STR("3"), valise_blob_bytes(reply.current));
    valise_reply_release(&reply);
    call.expect = VLS_STR("3");
    kit_run_as(k, "aside:add", "{\"name\":\"m:a\",\"by\":1}", &call);
    CHECK_INT(4, aside_value(k->v, "m:a"));
}

TEST(apart, an_id_is_not_remembered)
{
    kit *k = open_kit(t, NULL);
    valise_call call = VALISE_CALL_INIT;

    call.id = kit_uuid(7);
    kit_run_as(k, "aside:add", "{\"name\":\"m:a\",\"by\":1}", &call);
    kit_run_as(k, "aside:add", "{\"name\":\"m:a\",\"by\":1}", &call);
    CHECK_INT(2, aside_value(k->v, "m:a"));
}

TEST(apart, cannot_change_the_workspace_nor_dispatch)
{
    kit *k = open_kit(t, NULL);

    kit_fails(k, VALISE_E_INVALID, "aside:add", "{\"name\":\"m:a\",\"what\":\"put\"}", NULL);
    CHECK(strstr(t->err.message, "only a command can change"));
    kit_fails(k, VALISE_E_INVALID, "aside:add", "{\"name\":\"m:a\",\"what\":\"dispatch\"}", NULL);
    kit_run(k, "aside:add", "{\"name\":\"m:a\"}"); /* the next one may */
    CHECK_INT(0, kit_seq(k));
}

TEST(apart, neither_in_a_batch_nor_as_a_dry_run)
{
    kit *k = open_kit(t, NULL);
    const valise_command commands[] = {
        {.type = VLS_STR("aside:add"), .payload = VLS_STR("{\"name\":\"a\"}")},
        {.type = VLS_STR("aside:add"), .payload = VLS_STR("{\"name\":\"m:a\"}")}};
    valise_call call = VALISE_CALL_INIT;

    CHECK_RC(VALISE_E_UNSUPPORTED, valise_dispatch_batch(NULL, k->v, commands, 2, NULL, &t->err));
    CHECK(strstr(t->err.message, "part of a batch"));
    CHECK_INT(0, kit_seq(k));
    call.flags = VALISE_CALL_DRY_RUN;
    kit_fails(k, VALISE_E_UNSUPPORTED, "aside:add", "{\"name\":\"m:a\"}", &call);
    kit_run_as(k, "aside:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(-1, aside_value(k->v, "m:a") > 0 ? 1 : -1);
}

/* ---- middleware ---- */

typedef struct script {
    int before, after;
    const char *change, *add;
    bool dispatch;
    valise *v;
} script;

static int before(void *self, valise_pass *pass, valise_error *err)
{
    script *s = self;

    s->before++;
    if (s->change)
        return valise_pass_change(pass, valise_str_of(s->change), err);
    if (s->add)
        return valise_pass_add(pass, true, s->add, VLS_STR("{\"name\":\"m:z\"}"), VLS_STR(""), err);
    if (s->dispatch)
        return valise_dispatch(NULL, s->v, "aside:add", "{\"name\":\"m:z\"}", NULL, err);
    return 0;
}

static int after(void *self, valise_pass *pass, valise_error *err)
{
    script *s = self;
    valise_str text;

    s->after++;
    CHECK_INT(0, valise_pass_stamp(pass)->seq);
    return valise_pass_result(&text, pass, err);
}

TEST(apart, middleware_sees_it) /* [K12] */
{
    script s = {.before = 0};
    const valise_middleware m = {sizeof(m), "m", &s, before, after};
    const valise_middleware *const list[] = {&m, NULL};
    kit *k = open_kit(t, list);

    kit_run(k, "aside:add", "{\"name\":\"m:a\",\"by\":1}");
    CHECK_INT(1, s.before);
    CHECK_INT(1, s.after);
    s.change = "{\"name\":\"m:b\",\"by\":9}";
    kit_run(k, "aside:add", "{\"name\":\"m:a\",\"by\":1}");
    CHECK_INT(9, aside_value(k->v, "m:b"));
    s.change = NULL;
    s.add = "counter:add";
    kit_fails(k, VALISE_E_UNSUPPORTED, "aside:add", "{\"name\":\"m:a\",\"by\":1}", NULL);
    CHECK(strstr(t->err.message, "cannot add counter:add"));
    CHECK_INT(1, aside_value(k->v, "m:a"));
    s.add = "aside:add"; /* that is apart, to a command that is not */
    kit_fails(k, VALISE_E_UNSUPPORTED, "counter:add", "{\"name\":\"q\"}", NULL);
    CHECK(strstr(t->err.message, "added by a middleware"));
    s.add = NULL;
    s.dispatch = true;
    s.v = k->v;
    kit_fails(k, VALISE_E_INVALID, "aside:add", "{\"name\":\"m:a\",\"by\":1}", NULL);
    CHECK_INT(0, kit_seq(k));
}

/* ---- what is kept ---- */

static const char one, two;

static int make_it(void **out, valise *v, valise_error *err)
{
    (void)v, (void)err;
    *out = test_alloc(1);
    return 0;
}

static int make_nothing(void **out, valise *v, valise_error *err)
{
    (void)out, (void)v;
    return vls_fail(err, VALISE_E_LIMIT, "no");
}

static char freed[3];

static void free_one(void *self)
{
    (void)self;
    freed[strlen(freed)] = '1';
}

static void free_two(void *self)
{
    (void)self;
    freed[strlen(freed)] = '2';
}

TEST(apart, what_areas_keep_goes_with_the_handle)
{
    kit k;
    void *a = NULL, *b = NULL, *again = NULL;

    memset(freed, 0, sizeof(freed));
    CHECK_OK(kit_try_open(&k, &(kit_options){.env = t->env, .backend = "memory", .plain = true},
                          &t->err));
    CHECK(vls_bus_kept(k.v, &one) == NULL);
    CHECK_RC(VALISE_E_LIMIT, vls_bus_keep(&a, k.v, &one, make_nothing, free_one, &t->err));
    CHECK(vls_bus_kept(k.v, &one) == NULL && a == NULL);
    CHECK_OK(vls_bus_keep(&a, k.v, &one, make_it, free_one, &t->err));
    CHECK_OK(vls_bus_keep(&b, k.v, &two, make_it, free_two, &t->err));
    CHECK_OK(vls_bus_keep(&again, k.v, &one, make_nothing, free_one, &t->err));
    CHECK(a == again && a != b && vls_bus_kept(k.v, &two) == b);
    kit_close(&k);
    CHECK_TEXT("21", freed);
}

/* A table of an older size has no such member. */
TEST(apart, an_operation_of_an_older_library_is_never_apart)
{
    valise_op old = *aside_extension.operations[0];
    const valise_op *list[] = {&old, NULL};
    valise_extension package = aside_extension;
    kit *k = kit_open(t, NULL);

    old.size = offsetof(valise_op, apart);
    package.operations = list;
    CHECK_OK(vls_registry_add(k->registry, &package, false, &t->err));
    kit_run(k, "aside:add", "{\"name\":\"m:a\"}");
    CHECK_INT(1, kit_seq(k));
}
