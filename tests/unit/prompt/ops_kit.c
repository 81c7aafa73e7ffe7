/* ops_kit.c -- see ops_kit.h. */
#include "prompt/ops_kit.h"

#include <stdarg.h>

const char *ops_quote(const char *text)
{
    char *copy = test_alloc(strlen(text) + 1);

    for (size_t i = 0; text[i]; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return copy;
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
    return ops_quote(text);
}

const char *ops_said(int *rc, ops *o, const char *actor, const char *op, const char *payload)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    o->t->err = (valise_error)VALISE_ERROR_INIT;
    if (actor)
        call.actor = valise_str_of(actor);
    *rc = valise_dispatch(&reply, o->d->v, op, payload, &call, &o->t->err);
    text = *rc == 0 ? test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)))
                    : test_format("%s %s %s", o->t->err.path, o->t->err.message, o->t->err.hint);
    valise_reply_release(&reply);
    return text;
}

const char *ops_run(ops *o, const char *actor, const char *op, const char *format, ...)
{
    const char *payload, *answer;
    va_list args;
    int rc = 0;

    va_start(args, format);
    payload = format_all(format, args);
    va_end(args);
    answer = ops_said(&rc, o, actor, op, payload);
    CHECK_MSG(rc == 0, "%s %s: %s", op, payload, answer);
    return answer;
}

void ops_refused(ops *o, const char *actor, int code, const char *says, const char *op,
                 const char *format, ...)
{
    int64_t seq = den_seq(o->d);
    const char *payload, *said;
    va_list args;
    int rc = 0;

    va_start(args, format);
    payload = format_all(format, args);
    va_end(args);
    said = ops_said(&rc, o, actor, op, payload);
    CHECK_MSG(rc == code, "%s %s gives %d: %s", op, payload, rc, said);
    CHECK_MSG(strstr(said, says), "%s %s says: %s", op, payload, said);
    CHECK_MSG(seq == den_seq(o->d), "%s %s wrote something", op, payload);
}

void ops_admit(ops *o, const char *id, const char *capabilities)
{
    (void)ops_run(o, NULL, "agent:add", "{'id':'%s','role':'none','capabilities':[%s]}", id,
                  capabilities);
}

const char *ops_file(const char *text)
{
    static int count;
    const char *path = test_format("%s/file-%d", test_tmpdir(), count++);

    test_write_file(path, valise_str_of(text));
    return path;
}

const char *ops_prompt_args(const ops *o)
{
    return test_format("'session':'s','provider':'openai','model':'m','backpack':'bag','node':'n'"
                       "%s",
                       o->tree ? ",'paths':['name-context.c']" : "");
}

static void say(ops *o, const char *role, const char *text)
{
    (void)ops_run(o, NULL, "turn:add", "{'sessionId':'s','role':'%s','text':'%s'}", role, text);
}

ops *ops_open(test *t)
{
    ops *o = test_alloc(sizeof(*o));

    *o = (ops){.t = t, .d = den_open(t)};
    o->tree = o->d->dir != NULL;
    (void)ops_run(o, NULL, "role:add", "{'name':'name-role','persona':'planted-role'}");
    (void)ops_run(o, NULL, "preference:add",
                  "{'slot':'name-preference','content':"
                  "'planted-preference'}");
    (void)ops_run(o, NULL, "context:add",
                  "{'key':'name-memory','text':'planted-memory','topics':['code']}");
    (void)ops_run(o, NULL, "session:create", "{'label':'s','topics':['code'],'role':'name-role'}");
    (void)ops_run(o, NULL, "backpack:create",
                  "{'name':'bag','items':{'name-backpack':'planted-backpack'}}");
    (void)ops_run(o, NULL, "backpack:permit",
                  "{'backpack':'bag','nodeId':'n','read':['name-backpack']}");
    if (o->tree) {
        test_write_file(test_format("%s/name-context.c", o->d->dir), valise_str_of("int a;"));
        (void)ops_run(o, NULL, "tree:scan", "{}");
        /* planted-context */
        (void)ops_run(o, NULL, "frame:put",
                      "{'node':'name-context.c','type':'summary',"
                      "'content':'cGxhbnRlZC1jb250ZXh0'}");
    }
    say(o, "user", "planted-session");
    say(o, "assistant", "Yes.");
    o->a = den_member(ops_run(o, NULL, "prompt:build", "{%s}", ops_prompt_args(o)), "id");
    say(o, "user", "And more?");
    o->b = den_member(ops_run(o, NULL, "prompt:build", "{%s}", ops_prompt_args(o)), "id");
    return o;
}
