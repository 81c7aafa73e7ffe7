/* middleware.c -- those who see each command before and after. [K12] */
#include "kit/bus.h"

TEST_PARAMS(middleware, "memory", "sqlite")

/* What one middleware is told to do, and what it saw. */
typedef struct script {
    const char *name;
    const char *change;            /* the payload becomes this */
    const char *before, *after;    /* payloads of counter:add to add */
    const char *actor;             /* of what is added */
    int abort_before, abort_after; /* codes */
    bool silent, ignore;           /* aborts without a message; goes on after a refusal */
    bool dispatch;                 /* calls the API */
    valise *v;
    char *log;                     /* of all scripts of a test */
    int64_t saw_before, saw_after; /* value of counter "a", by the view */
    char payload[256], result[256];
} script;

static void note(script *s, const char *what)
{
    size_t len = strlen(s->log);

    snprintf(s->log + len, 512 - len, "%s%s ", s->name, what);
}

static int64_t look(valise_pass *pass)
{
    tally_row row = {.name = VLS_STR("a")};
    valise_error err;

    return valise_view_get(&row, valise_pass_view(pass), &counter_tally, &err) == 1 ? row.value
                                                                                    : -1;
}

static int before(void *self, valise_pass *pass, valise_error *err)
{
    script *s = self;
    valise_str text;
    int rc = 0;

    note(s, "<");
    CHECK_INT(VALISE_COMMAND, valise_pass_op(pass)->kind);
    CHECK(valise_pass_stamp(pass)->seq > 0);
    CHECK_INT(VALISE_E_INVALID, valise_pass_result(&text, pass, err));
    s->saw_before = look(pass);
    CHECK_INT(0, valise_pass_payload(&text, pass, err));
    snprintf(s->payload, sizeof(s->payload), "%.*s", VALISE_STR_ARG(text));
    if (s->change)
        rc = valise_pass_change(pass, valise_str_of(s->change), err);
    if (rc == 0 && s->before)
        rc = valise_pass_add(pass, false, "counter:add", valise_str_of(s->before),
                             valise_str_of(s->actor ? s->actor : ""), err);
    if (rc == 0 && s->after)
        rc = valise_pass_add(pass, true, "counter:add", valise_str_of(s->after),
                             valise_str_of(s->actor ? s->actor : ""), err);
    if (s->dispatch)
        rc = valise_dispatch(NULL, s->v, "counter:add", "{\"name\":\"z\"}", NULL, err);
    if (s->abort_before)
        return s->silent ? s->abort_before : vls_fail(err, s->abort_before, "not today");
    return s->ignore ? 0 : rc;
}

static int after(void *self, valise_pass *pass, valise_error *err)
{
    script *s = self;
    valise_str text;

    note(s, ">");
    CHECK_INT(0, valise_pass_result(&text, pass, err));
    snprintf(s->result, sizeof(s->result), "%.*s", VALISE_STR_ARG(text));
    s->saw_after = look(pass);
    if (s->change && s->ignore)
        return valise_pass_change(pass, VLS_STR("{}"), err);
    if (s->before && s->ignore)
        return valise_pass_add(pass, true, "counter:add", VLS_STR("{}"), VLS_STR(""), err);
    return s->abort_after ? vls_fail(err, s->abort_after, "too late") : 0;
}

typedef struct stage {
    kit *k;
    char log[512];
    valise_middleware tables[2];
    const valise_middleware *list[3];
} stage;

static stage *open_stage(test *t, script *one, script *two)
{
    stage *s = test_alloc(sizeof(*s));
    script *scripts[2] = {one, two};

    for (int i = 0; i < 2 && scripts[i]; i++) {
        scripts[i]->log = s->log;
        s->tables[i] = (valise_middleware){sizeof(valise_middleware), scripts[i]->name, scripts[i],
                                           before, after};
        s->list[i] = &s->tables[i];
    }
    s->k = kit_open(t, &(kit_options){.middleware = s->list});
    for (int i = 0; i < 2 && scripts[i]; i++)
        scripts[i]->v = s->k->v;
    return s;
}

TEST(middleware, sees_commands_in_order_and_nothing_else)
{
    script one = {.name = "1"}, two = {.name = "2"};
    stage *s = open_stage(t, &one, &two);

    kit_run(s->k, "counter:add", "{\"note\":\"words\",\"name\":\"a\"}");
    CHECK_TEXT("1< 2< 1> 2> ", s->log);
    CHECK_TEXT("{\"name\":\"a\",\"note\":\"words\"}", one.payload);
    CHECK(strstr(one.result, "\"value\":1"));
    CHECK_INT(-1, one.saw_before);
    CHECK_INT(1, two.saw_after);
    s->log[0] = '\0';
    kit_run(s->k, "counter:list", "{}");
    CHECK_TEXT("", s->log);
    CHECK_OK(vls_run(s->k->v, &counter_reset, NULL, NULL, NULL, NULL,
                     &(vls_run_more){.internal = true}, &t->err));
    CHECK_TEXT("", s->log);
}

TEST(middleware, changes_the_payload)
{
    script one = {.name = "1", .change = "{\"name\":\"b\",\"by\":5,\"note\":\"changed\"}"};
    script two = {.name = "2"};
    stage *s = open_stage(t, &one, &two);
    valise_call call = VALISE_CALL_INIT;
    valise_reply reply = VALISE_REPLY_INIT;

    call.id = kit_uuid(1);
    kit_run_as(s->k, "counter:add", "{\"name\":\"a\",\"note\":\"sent\"}", &call);
    CHECK_TEXT("{\"by\":5,\"name\":\"b\",\"note\":\"changed\"}", two.payload);
    CHECK(kit_has_object(s->k, "text", "changed"));
    CHECK(!kit_has_object(s->k, "text", "sent")); /* nothing of it is kept */
    CHECK_INT(5, kit_value(s->k, "b", ""));
    CHECK_INT(-1, kit_value(s->k, "a", ""));

    /* A retry has the payload as it was sent; what was executed is another command. */
    CHECK_OK(valise_dispatch(&reply, s->k->v, "counter:add", "{\"name\":\"a\",\"note\":\"sent\"}",
                             &call, &t->err));
    CHECK(reply.repeated);
    valise_reply_release(&reply);
    kit_fails(s->k, VALISE_E_EXISTS, "counter:add",
              "{\"name\":\"b\",\"by\":5,\"note\":\"changed\"}", &call);
    CHECK_INT(1, kit_seq(s->k));
}

TEST(middleware, cannot_change_it_into_what_is_not_allowed)
{
    script one = {.name = "1"}, two = {.name = "2"};
    stage *s = open_stage(t, &one, &two);
    valise_call call = VALISE_CALL_INIT;

    one.change = "{\"name\":\"a\",\"by\":\"x\"}";
    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("by", t->err.path);
    one.ignore = true; /* a refusal counts also when the middleware does not look */
    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    one.ignore = false;
    one.change = "{\"name\":\"pears\"}";
    call.actor = VLS_STR("apples");
    kit_fails(s->k, VALISE_E_DENIED, "counter:add", "{\"name\":\"apples\"}", &call);
    one = (script){.name = "1", .log = s->log, .change = "{\"name\":\"a\"}", .ignore = true};
    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK(strstr(t->err.message, "has been decided"));
    CHECK_INT(0, kit_seq(s->k));
}

/* `expect` is compared before any of them. */
TEST(middleware, comes_after_expect)
{
    script one = {.name = "1", .change = "{\"name\":\"b\"}"};
    stage *s = open_stage(t, &one, NULL);
    valise_call call = VALISE_CALL_INIT;

    kit_run(s->k, "counter:add", "{\"name\":\"a\"}");
    s->log[0] = '\0';
    call.expect = VLS_STR("1");
    kit_fails(s->k, VALISE_E_CONFLICT, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_TEXT("", s->log);
    call.expect = VLS_STR("null");
    kit_run_as(s->k, "counter:add", "{\"name\":\"a\"}", &call);
    CHECK_INT(2, kit_value(s->k, "b", ""));
}

typedef struct log_line {
    char text[1024];
} log_line;

static int list_log(void *arg, valise_view *view, valise_error *err)
{
    log_line *out = arg;
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, view->txn, 1, false, err);

    while (rc == 0 && (rc = vls_log_scan_next(&entry, &scan, &view->arena, err)) == 1) {
        size_t len = strlen(out->text);
        snprintf(out->text + len, sizeof(out->text) - len, "%.*s:%.*s%s ",
                 VALISE_STR_ARG(entry.actor), VALISE_STR_ARG(entry.payload),
                 entry.cause.bytes[15] || entry.cause.bytes[6] ? "!" : "");
        rc = 0;
    }
    return rc;
}

TEST(middleware, adds_commands_before_and_after)
{
    script one = {.name = "1",
                  .before = "{\"name\":\"a\",\"by\":10}",
                  .after = "{\"name\":\"a\",\"by\":100}",
                  .actor = "helper"};
    stage *s = open_stage(t, &one, NULL);
    log_line log = {{0}};
    valise_reply reply = VALISE_REPLY_INIT;

    CHECK_OK(valise_dispatch(&reply, s->k->v, "counter:add", "{\"name\":\"a\"}", NULL, &t->err));
    CHECK_INT(2, reply.seq);
    CHECK(
        strstr(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json))), "\"value\":11"));
    valise_reply_release(&reply);
    CHECK_INT(111, kit_value(s->k, "a", ""));
    CHECK_INT(111, one.saw_after);
    CHECK_TEXT("1< 1> ", s->log); /* they go through no middleware themselves */
    CHECK_OK(vls_with_view(s->k->v, NULL, list_log, &log, &t->err));
    CHECK_TEXT("helper:{\"by\":10,\"name\":\"a\"}! local:{\"name\":\"a\"} "
               "helper:{\"by\":100,\"name\":\"a\"}! ",
               log.text);
}

/* Commands of a batch share their memory, also where their views are opened several times. */
TEST(middleware, sees_each_command_of_a_batch)
{
    script one = {.name = "1",
                  .before = "{\"name\":\"a\",\"by\":10}",
                  .after = "{\"name\":\"a\",\"by\":100}"};
    stage *s = open_stage(t, &one, NULL);
    valise_reply replies[3] = {VALISE_REPLY_INIT, VALISE_REPLY_INIT, VALISE_REPLY_INIT};
    valise_command commands[3];

    for (int i = 0; i < 3; i++)
        commands[i] = (valise_command){VLS_STR("counter:add"), VLS_STR("{\"name\":\"a\"}"), NULL};
    CHECK_OK(valise_dispatch_batch(replies, s->k->v, commands, 3, NULL, &t->err));
    CHECK_TEXT("1< 1> 1< 1> 1< 1> ", s->log);
    CHECK_INT(333, kit_value(s->k, "a", ""));
    CHECK_INT(8, replies[2].seq);
    for (int i = 0; i < 3; i++)
        valise_reply_release(&replies[i]);
    one.abort_after = VALISE_E_LIMIT;
    CHECK_RC(VALISE_E_LIMIT, valise_dispatch_batch(NULL, s->k->v, commands, 3, NULL, &t->err));
    CHECK_INT(9, kit_seq(s->k));
    kit_validate(s->k);
}

TEST(middleware, adds_only_what_is_allowed)
{
    script one = {.name = "1", .before = "{\"name\":\"a\"}", .actor = "reader"};
    stage *s = open_stage(t, &one, NULL);

    kit_fails(s->k, VALISE_E_DENIED, "counter:add", "{\"name\":\"b\"}", NULL);
    one.before = "{\"name\":\"a\",\"by\":1000000001}";
    one.actor = NULL;
    kit_fails(s->k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"b\"}", NULL);
    one.after = one.before;
    one.before = NULL;
    kit_fails(s->k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"b\"}", NULL);
    one.after = "{}";
    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"b\"}", NULL);
    one = (script){.name = "1", .log = s->log, .before = "{\"name\":\"a\"}", .ignore = true};
    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"b\"}", NULL);
    CHECK_INT(0, kit_seq(s->k));
}

TEST(middleware, aborts_with_its_reason_and_nothing_is_stored)
{
    script one = {.name = "1"}, two = {.name = "2"};
    stage *s = open_stage(t, &one, &two);

    two.abort_before = VALISE_E_DENIED;
    kit_fails(s->k, VALISE_E_DENIED, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("not today", t->err.message);
    CHECK_TEXT("1< 2< ", s->log);
    two.silent = true;
    kit_fails(s->k, VALISE_E_DENIED, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("middleware 2 refused counter:add and gave no reason", t->err.message);
    two.abort_before = 0;
    one.abort_after = VALISE_E_LIMIT;
    kit_fails(s->k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK_TEXT("too late", t->err.message);
    CHECK_INT(0, kit_seq(s->k));
    one.abort_after = 0;
    kit_run(s->k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(1, kit_seq(s->k));
}

TEST(middleware, cannot_dispatch)
{
    script one = {.name = "1", .dispatch = true};
    stage *s = open_stage(t, &one, NULL);

    kit_fails(s->k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    CHECK(strstr(t->err.message, "cannot dispatch in its own workspace"));
    CHECK(strstr(t->err.hint, "valise_pass_add"));
    one.ignore = true;
    kit_run(s->k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(-1, kit_value(s->k, "z", ""));
}

static int write_meanwhile(void *self, valise_pass *pass, valise_error *err)
{
    kit *k = *(kit **)self;
    valise_str text;

    CHECK_INT(0, valise_pass_payload(&text, pass, err));
    CHECK_INT(VALISE_E_INVALID, vls_with_txn(k->v, NULL, NULL, err));
    return 0;
}

static int nothing_decide(valise_view *view, const void *args, void *result, valise_error *err)
{
    (void)view, (void)args, (void)result, (void)err;
    return 0;
}

static const valise_op nothing_op = {
    .size = sizeof(valise_op),
    .name = "nothing:do",
    .brief = "Do nothing.",
    .kind = VALISE_COMMAND,
    .needs = "nothing:write",
    .decide = nothing_decide,
    .example = "{}",
};

TEST(middleware, sees_contents_that_were_only_named_and_payloads_of_nothing)
{
    static const valise_op *const ops[] = {&nothing_op, NULL};
    static const valise_extension package = {.size = sizeof(package),
                                             .abi = VALISE_EXTENSION_ABI,
                                             .name = "nothing",
                                             .version = "1",
                                             .operations = ops};
    kit *k = NULL;
    valise_middleware m = {.size = sizeof(m), .name = "m", .self = &k, .before = write_meanwhile};
    const valise_middleware *list[] = {&m, NULL};
    add_args args = {.name = VLS_STR("b")};
    valise_str name = VLS_STR("a");
    VLS_AUTO(memory) vls_memory memory = {0};
    get_result got;

    k = kit_open(t, &(kit_options){.middleware = list});
    CHECK_OK(vls_registry_add(k->registry, &package, false, &t->err));
    kit_run(k, "nothing:do", NULL);
    kit_run(k, "counter:add", "{\"name\":\"a\",\"note\":\"words\"}");
    CHECK_OK(vls_run(k->v, &counter_get, &name, &got, &memory, NULL, NULL, &t->err));
    args.note = (valise_content){.id = got.note.id, .size = 5};
    CHECK_OK(vls_run(k->v, &counter_add, &args, NULL, NULL, NULL, NULL, &t->err));
    CHECK_INT(3, kit_seq(k));
}

static int add_query(void *self, valise_pass *pass, valise_error *err)
{
    const char *const *type = self;

    return valise_pass_add(pass, false, *type, VLS_STR("{}"), VLS_STR(""), err);
}

static int add_endlessly(void *self, valise_pass *pass, valise_error *err)
{
    int rc = 0;

    (void)self;
    while (rc == 0)
        rc = valise_pass_add(pass, false, "counter:add", VLS_STR("{\"name\":\"a\"}"), VLS_STR(""),
                             err);
    return rc;
}

TEST(middleware, adds_commands_only_and_not_endlessly)
{
    const char *type = "counter:list";
    valise_middleware m = {.size = sizeof(m), .name = "m", .self = &type, .before = add_query};
    const valise_middleware *list[] = {&m, NULL};
    kit *k = kit_open(t, &(kit_options){.middleware = list});

    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    type = "counter:reset";
    kit_fails(k, VALISE_E_INVALID, "counter:add", "{\"name\":\"a\"}", NULL);
    type = "counter:nothing";
    kit_fails(k, VALISE_E_NOT_FOUND, "counter:add", "{\"name\":\"a\"}", NULL);
    m.before = add_endlessly;
    kit_fails(k, VALISE_E_LIMIT, "counter:add", "{\"name\":\"a\"}", NULL);
    m.size = offsetof(valise_middleware, before); /* of an older header: it is not there */
    kit_run(k, "counter:add", "{\"name\":\"a\"}");
    CHECK_INT(1, kit_seq(k));
}
