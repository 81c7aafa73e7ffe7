/* kit.c -- see kit.h. */
#include "kernel/kit.h"

static void close_it(void *arg)
{
    valise_close(arg);
}

const char *ws_path(void)
{
    return test_format("%s/workspace", test_tmpdir());
}

static valise *open_with(test *t, const char *path, int64_t timeout_ns)
{
    static const valise_extension *const extensions[] = {&counter_extension, &vault_extension,
                                                         &folder_extension, NULL};
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.timeout_ns = timeout_ns;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.extensions = extensions;
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    return v;
}

valise *ws_open_at(test *t, const char *path)
{
    return open_with(t, path, 0);
}

valise *ws_open_hasty(test *t, const char *path)
{
    return open_with(t, path, INT64_C(50000000));
}

valise *ws_open(test *t)
{
    bool memory = !t->param || strcmp(t->param, "memory") == 0;
    valise *v = ws_open_at(t, memory ? ":memory:" : ws_path());

    test_defer(close_it, v);
    return v;
}

const char *ws_run_at(test *t, valise *v, const char *type, const char *payload, const char *at)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    call.at = valise_str_of(at);
    CHECK_OK(valise_dispatch(&reply, v, type, payload, &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

const char *ws_run(test *t, valise *v, const char *type, const char *payload)
{
    return ws_run_at(t, v, type, payload, "");
}

void ws_fails(test *t, valise *v, int code, const char *type, const char *payload)
{
    t->err = (valise_error)VALISE_ERROR_INIT;
    CHECK_RC(code, valise_dispatch(NULL, v, type, payload, NULL, &t->err));
}

void ws_is_partial(test *t, valise *v)
{
    const char *found = ws_run(t, v, "workspace:validate", NULL);

    CHECK(!strstr(found, "\"kind\":\"problem\""));
    CHECK(strstr(found, "\"kind\":\"note\",\"place\":\"log\""));
    CHECK(strstr(found, "cannot be replayed"));
}
