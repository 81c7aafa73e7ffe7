/* kit.c -- see kit.h. */
#include "exchange/kit.h"

#include "base/buf.h"
#include "json/json.h"
#include "kit/replayed.h"

static void close_it(void *arg)
{
    valise_close(((desk *)arg)->v);
}

desk *desk_open(test *t)
{
    desk *d = test_alloc(sizeof(*d));
    valise_options o = VALISE_OPTIONS_INIT;
    bool sqlite = t->param && strcmp(t->param, "sqlite") == 0;

    *d = (desk){.t = t};
    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&d->v, sqlite ? test_tmpdir() : ":memory:", &o, &t->err));
    test_defer(close_it, d);
    return d;
}

const char *desk_run(desk *d, const char *op, const char *members)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *text;

    CHECK_OK(valise_dispatch(&reply, d->v, op, test_format("{%s}", members), NULL, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

int desk_try(desk *d, const char *op, const char *members)
{
    return valise_dispatch(NULL, d->v, op, test_format("{%s}", members), NULL, &d->t->err);
}

const char *desk_import_path(desk *d, const char *path)
{
    return desk_run(d, "session:import", test_format("\"path\":\"%s\"", path));
}

const char *desk_import(desk *d, const char *text, const char *more)
{
    const char *path = test_format("%s/import-me", test_tmpdir());

    test_write_file(path, valise_str_of(text));
    return desk_run(d, "session:import",
                    test_format("\"path\":\"%s\"%s%s", path, *more ? "," : "", more));
}

const char *desk_export(desk *d, const char *members)
{
    test *t = d->t;
    const char *answer = desk_run(d, "session:export", members);
    vls_arena arena;
    vls_json value;
    const vls_json *text;
    const char *out;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    CHECK_OK(vls_json_parse(&value, &arena, valise_str_of(answer), NULL, &t->err));
    text = vls_json_get(value, VLS_STR("text"));
    CHECK(text && text->type == VLS_JSON_STRING);
    out = test_format("%.*s", VALISE_STR_ARG(vls_json_str(*text)));
    vls_arena_release(&arena);
    return out;
}

const char *desk_member(const char *json, const char *name)
{
    const char *at = strstr(json, test_format("\"%s\":", name));

    if (!at)
        return "";
    at += strlen(name) + 3;
    if (*at == '"')
        return test_format("%.*s", (int)strcspn(at + 1, "\""), at + 1);
    return test_format("%.*s", (int)strcspn(at, ",}]"), at);
}

long desk_number(const char *json, const char *name)
{
    const char *key = test_format("\"%s\":", name), *last = NULL;

    for (const char *at = json; (at = strstr(at, key)); at++)
        last = at;
    CHECK_MSG(last, "there is no %s in %s", name, json);
    return strtol(last + strlen(key), NULL, 10);
}

long desk_seq(desk *d)
{
    return desk_number(desk_run(d, "workspace:status", ""), "seq");
}

void desk_validate(desk *d)
{
    const char *found = desk_run(d, "workspace:validate", "");

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
}

void desk_check(desk *d)
{
    desk_validate(d);
    CHECK_TEXT(state_of(d->t, d->v), replayed(d->t, d->v));
}

const char *desk_data(const char *name)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");

    return test_format("%s/tests/unit/exchange/data/%s", root && root[0] ? root : ".", name);
}
