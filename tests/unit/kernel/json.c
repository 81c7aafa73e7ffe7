/* json.c -- the operations on plain JSON, without a workspace and without memory. [K4 Q18] */
#include <valise/workspace.h>

#include "base/blob.h"
#include "harness/fault.h"

static int open_none(valise **out, const valise_env *env, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;

    options.env = env;
    options.flags = VALISE_OPEN_NO_USER_CONFIG;
    return valise_open(out, NULL, &options, err);
}

static const struct {
    const char *op, *payload, *answer;
} cases[] = {
    {"json:canonical", "{\"value\":[1.0]}", "{\"value\":[1]}"},
    {"json:pretty", "{\"value\":[]}", "{\"text\":\"[]\"}"},
    {"json:get", "{\"value\":[1,[2]],\"pointer\":\"/1/0\"}", "{\"value\":2}"},
    {"json:patch", "{\"value\":{},\"patch\":[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]}",
     "{\"value\":{\"a\":null}}"},
    {"json:logic", "{\"rule\":{\"+\":[1,{\"var\":\"n\"}]},\"data\":{\"n\":2}}", "{\"value\":3}"},
    {"json:diff", "{\"before\":{\"a\":null,\"b\":1},\"after\":{\"b\":2}}",
     "{\"changes\":[{\"before\":null,\"path\":\"/a\"},{\"after\":2,\"before\":1,\"path\":\"/b\"}],"
     "\"patch\":[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"replace\",\"path\":\"/"
     "b\",\"value\":2}"
     "]}"},
    {"json:validate", "{\"value\":3,\"schema\":{\"maximum\":3}}",
     "{\"findings\":[],\"valid\":true}"},
    {"json:validate", "{\"value\":3,\"schema\":{\"maximum\":2}}", NULL},
};

TEST(json_ops, answer_without_a_workspace)
{
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        valise *v = NULL;
        CHECK_OK(open_none(&v, t->env, &t->err));
        CHECK_OK(valise_dispatch(&reply, v, cases[i].op, cases[i].payload, NULL, &t->err));
        if (cases[i].answer)
            CHECK_STR(valise_str_of(cases[i].answer), valise_blob_bytes(reply.json));
        valise_reply_release(&reply);
        valise_close(v);
    }
}

static int ask_once(fault *f, void *arg)
{
    valise *v = NULL;
    int rc = open_none(&v, f->env, &f->err);

    (void)arg;
    for (size_t i = 0; i < VLS_COUNT(cases) && rc == 0; i++) {
        valise_reply reply = VALISE_REPLY_INIT;
        rc = valise_dispatch(&reply, v, cases[i].op, cases[i].payload, NULL, &f->err);
        valise_reply_release(&reply);
    }
    valise_close(v);
    return rc;
}

TEST(json_ops, without_memory)
{
    fault_each_alloc(t, 0, ask_once, NULL);
}
