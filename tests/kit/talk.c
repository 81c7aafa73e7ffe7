/* talk.c -- see talk.h. */
#include "kit/talk.h"

#include <stdarg.h>

#include "bus/bus.h"
#include "json/json.h"
#include "kit/replayed.h"

static void close_it(void *arg)
{
    talk *k = arg;

    valise_close(k->v);
}

void talk_open_at(talk *k, test *t, const valise_env *env, const char *path)
{
    valise_options o = VALISE_OPTIONS_INIT;

    *k = (talk){.t = t, .path = path};
    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    CHECK_OK(valise_open(&k->v, path, &o, &t->err));
}

talk *talk_open(test *t)
{
    talk *k = test_alloc(sizeof(*k));
    bool files = t->param && strcmp(t->param, "sqlite") == 0;

    talk_open_at(k, t, t->env, files ? test_format("%s/talk", test_tmpdir()) : ":memory:");
    test_defer(close_it, k);
    return k;
}

static const char *format_all(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));
static const char *format_all(const char *format, va_list args)
{
    char *text;
    va_list copy;
    int len;

    va_copy(copy, args);
    len = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    text = test_alloc((size_t)len + 1);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

static int dispatch(const char **answer, talk *k, const char *expect, const char *type,
                    const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    test *t = k->t;
    int rc;

    t->err = (valise_error)VALISE_ERROR_INIT;
    call.expect = valise_str_of(expect);
    rc = valise_dispatch(&reply, k->v, type, payload, &call, &t->err);
    if (rc == 0)
        *answer = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return rc;
}

const char *talk_run(talk *k, const char *type, const char *format, ...)
{
    test *t = k->t;
    const char *payload, *answer = "";
    va_list args;

    va_start(args, format);
    payload = format_all(format, args);
    va_end(args);
    CHECK_OK(dispatch(&answer, k, NULL, type, payload));
    return answer;
}

int talk_try(talk *k, const char *type, const char *format, ...)
{
    const char *payload, *answer;
    va_list args;

    va_start(args, format);
    payload = format_all(format, args);
    va_end(args);
    return dispatch(&answer, k, NULL, type, payload);
}

int talk_try_expecting(talk *k, const char *expect, const char *type, const char *format, ...)
{
    const char *payload, *answer;
    va_list args;

    va_start(args, format);
    payload = format_all(format, args);
    va_end(args);
    return dispatch(&answer, k, expect, type, payload);
}

const char *talk_member(talk *k, const char *json, const char *path)
{
    test *t = k->t;
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    valise_str rest = valise_str_of(path), step;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX / 2);
    CHECK_OK(vls_json_parse(&v, &arena, valise_str_of(json), NULL, &t->err));
    while (rest.len > 0) {
        const vls_json *next = NULL;
        uint64_t index;
        (void)vls_str_cut(&step, &rest, rest, '.');
        if (v.type == VLS_JSON_ARRAY && vls_str_to_u64(&index, step) && index < v.len)
            next = &v.items[index];
        else if (v.type == VLS_JSON_OBJECT)
            next = vls_json_get(v, step);
        if (!next)
            return "";
        v = *next;
    }
    if (v.type == VLS_JSON_STRING)
        return test_format("%.*s", VALISE_STR_ARG(vls_json_str(v)));
    CHECK_OK(vls_json_write(&text, v, &t->err));
    return test_format("%.*s", VALISE_STR_ARG(vls_buf_str(&text)));
}

const char *talk_session(talk *k, const char *label)
{
    const char *answer = label ? talk_run(k, "session:create", "{\"label\":\"%s\"}", label)
                               : talk_run(k, "session:create", "{}");

    return talk_member(k, answer, "id");
}

const char *talk_say(talk *k, const char *session, const char *role, const char *text)
{
    const char *answer =
        talk_run(k, "turn:add",
                 "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"%s\",\"blocks\":[{\"type\":\"text\","
                 "\"text\":\"%s\"}]}}",
                 session, role, text);

    return talk_member(k, answer, "ref");
}

typedef struct counting {
    const valise_coll *coll;
    int64_t count;
} counting;

static int count(void *arg, valise_view *view, valise_error *err)
{
    counting *c = arg;
    void *row = test_alloc(c->coll->row_size);
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, c->coll, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(row, scan, err)) > 0)
        c->count++;
    valise_scan_close(scan);
    return rc;
}

int64_t talk_count(talk *k, const valise_coll *coll)
{
    test *t = k->t;
    counting c = {.coll = coll};

    CHECK_OK(vls_with_view(k->v, NULL, count, &c, &t->err));
    return c.count;
}

void talk_check(talk *k, bool replay)
{
    const char *found = talk_run(k, "workspace:validate", "{}");

    CHECK_MSG(!strstr(found, "\"kind\":\"problem\""), "%s", found);
    if (replay)
        CHECK_TEXT(state_of(k->t, k->v), replayed(k->t, k->v));
}
