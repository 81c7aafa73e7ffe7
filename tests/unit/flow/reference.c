/* reference.c -- ${NAME} and @cred:NAME: resolved when a node runs, and told nobody. [F6] */
#include <sys/stat.h>

#include "flow/kit.h"

typedef struct bench {
    vls_arena arena;
    valise *v;
    vls_secrets found;
} bench;

static void end(void *b)
{
    vls_arena_release(&((bench *)b)->arena);
}

static bench *begin(test *t, valise *v)
{
    bench *b = test_alloc(sizeof(*b));

    vls_arena_init(&b->arena, t->env, 64 << 20);
    b->v = v;
    b->found.arena = &b->arena;
    test_defer(end, b);
    return b;
}

static int resolve(const char **out, bench *b, const char *text, valise_error *err)
{
    vls_json json = vls_json_null(), made = vls_json_null();
    vls_buf written;
    int rc = vls_json_parse(&json, &b->arena, valise_str_of(kit_quote(text)), NULL, err);

    if (rc == 0)
        rc = vls_references_resolve(&made, &b->arena, json, b->v, &b->found, err);
    vls_buf_init_in(&written, &b->arena, 32 << 20);
    if (rc == 0)
        rc = vls_json_write(&written, made, err);
    if (rc == 0)
        *out = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&written)));
    return rc;
}

TEST(flow_reference, variables)
{
    bench *b = begin(t, kit_open(t));
    const char *out = NULL;

    CHECK(setenv("FLOW_TEST_A", "se\"cret", 1) == 0 &&
          setenv("FLOW_TEST_B", "${FLOW_TEST_A}", 1) == 0);
    CHECK_OK(resolve(&out, b,
                     "{'${FLOW_TEST_A}':'Bearer ${FLOW_TEST_A}!${FLOW_TEST_B}','n':[1,'x','$${Y}',"
                     "'$5','a@cred:b','$$${FLOW_TEST_A}']}",
                     &t->err));
    /* What comes in is not looked at again; names of members stay. */
    CHECK_TEXT(test_format("%s",
                           "{\"${FLOW_TEST_A}\":\"Bearer se\\\"cret!${FLOW_TEST_A}\",\"n\":[1,"
                           "\"x\",\"${Y}\",\"$5\",\"a@cred:b\",\"$${FLOW_TEST_A}\"]}"),
               out);
    CHECK_INT(2, b->found.all.len);
    CHECK_RC(VALISE_E_NOT_FOUND, resolve(&out, b, "{'a':[0,'${FLOW_TEST_NO}']}", &t->err));
    CHECK_TEXT("the variable FLOW_TEST_NO is not set", t->err.message);
    CHECK_TEXT("a[1]", t->err.path);
    CHECK(setenv("FLOW_TEST_A", "\xff", 1) == 0);
    CHECK_RC(VALISE_E_INVALID, resolve(&out, b, "'${FLOW_TEST_A}'", &t->err));
}

/* A bomb of references ends at the limit of a text. */
TEST(flow_reference, texts_have_a_limit)
{
    bench *b = begin(t, kit_open(t));
    char *large = test_alloc(100001);
    const char *out = NULL, *text = "";

    memset(large, 'x', 100000);
    CHECK(setenv("FLOW_TEST_LARGE", large, 1) == 0);
    for (int i = 0; i < 100; i++)
        text = test_format("%s${FLOW_TEST_LARGE}", text);
    text = test_format("'%s'", text);
    CHECK_RC(VALISE_E_TOO_LARGE, resolve(&out, b, text, &t->err));
    CHECK(unsetenv("FLOW_TEST_LARGE") == 0);
}

static void close_it(void *v)
{
    valise_close(v);
}

/* Whoever may name a file, or a variable, gets what is in there: only the user may. */
TEST(flow_reference, credentials_are_the_users)
{
    const char *dir = test_tmpdir();
    const char *user = test_format("%s/user", dir), *secret = test_format("%s/secret", dir);
    const char *own = test_format("%s/w/.valise/config", dir), *w = test_format("%s/w", dir);
    valise_options options = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    bench *b;
    const char *out = NULL;

    CHECK(mkdir(w, 0700) == 0 && setenv("FLOW_TEST_C", "from env", 1) == 0);
    test_write_file(secret, VLS_STR("key-0123456789abcdef\n"));
    test_write_file(user, valise_str_of(test_format("[credential \"mail\"]\n\tenv = FLOW_TEST_C\n"
                                                    "[credential \"disk\"]\n\tfile = %s\n",
                                                    secret)));
    options.flags = VALISE_OPEN_CREATE;
    options.env = t->env;
    options.user_config = user;
    CHECK_OK(valise_open(&v, w, &options, &t->err));
    test_defer(close_it, v);
    test_write_file(own, valise_str_of("[credential \"evil\"]\n\tenv = FLOW_TEST_C\n"
                                       "[credential \"mail\"]\n\tenv = HOME\n"));
    b = begin(t, v);
    CHECK_OK(resolve(&out, b, "'@cred:mail'", &t->err));
    CHECK_TEXT("\"from env\"", out);
    CHECK_RC(VALISE_E_NOT_FOUND, resolve(&out, b, "['@cred:evil']", &t->err));
    CHECK_TEXT("there is no credential 'evil'", t->err.message);
    CHECK_TEXT("valise config set --user credential.evil.env VARIABLE", t->err.hint);
    /* Others may read the file: it is not used. */
    CHECK(chmod(secret, 0644) == 0);
    CHECK_RC(VALISE_E_INVALID, resolve(&out, b, "'@cred:disk'", &t->err));
    CHECK(chmod(secret, 0600) == 0);
    CHECK_OK(resolve(&out, b, "'@cred:disk'", &t->err));
    CHECK_TEXT("\"key-0123456789abcdef\"", out);
}

TEST(flow_reference, secrets_are_hidden_in_errors)
{
    bench *b = begin(t, kit_open(t));
    valise_error err = VALISE_ERROR_INIT;
    const char *out = NULL;

    CHECK(setenv("FLOW_TEST_S", "tok-abcdefghijklmnop", 1) == 0);
    CHECK_OK(resolve(&out, b, "'${FLOW_TEST_S}'", &t->err));
    (void)vls_fail(&err, VALISE_E_IO, "401 for tok-abcdefghijklmnop and tok-abcdefghijk...");
    vls_hint(&err, "is tok-abcdefghijklmnop right?");
    vls_secrets_hide(&b->found, &err);
    CHECK_TEXT("401 for [redacted] and [redacted]...", err.message);
    CHECK_TEXT("is [redacted] right?", err.hint);
}

/* In configurations they stay as they are written: loaded, kept, exported. [F6] U29 */
TEST(flow_reference, are_never_exported)
{
    valise *v = kit_open(t);
    valise_flow *flow;

    CHECK(setenv("FLOW_TEST_S", "tok-abcdefghijklmnop", 1) == 0);
    flow = kit_flow(t, v,
                    "{'nodes':[{'id':'a','type':'StrictNode','params':{'model':'m','key':"
                    "'${FLOW_TEST_S}'}},{'id':'b','type':'SearchNode','params':{'t':'$5'}},"
                    "{'id':'s','type':'SubflowNode','params':{'flow':{'nodes':[{'id':'x','type':"
                    "'SearchNode','params':{'k':'${FLOW_TEST_S}'}}]}}}]}");
    CHECK(flow->nodes.ptr[0]->has_references && !flow->nodes.ptr[1]->has_references);
    /* Of a flow inside it is the nodes there that have them. */
    CHECK(!flow->nodes.ptr[2]->has_references);
    CHECK(flow->nodes.ptr[2]->inner->nodes.ptr[0]->has_references);
    CHECK(!strstr(kit_config_of(t, flow), "tok-") &&
          strstr(kit_config_of(t, flow), "${FLOW_TEST_S}"));
}
