/* crowd.c -- many sessions: what it takes to open a workspace and to look at one of them does not
 * grow with how many there are. Counted, not timed. [W16] [Q13] */
#include <valise.h>
#include <valise/sys/extension.h>

#include "harness/counting_env.h"
#include "harness/test.h"

#include "chat/rows.h"

#define FEW 100
#define MANY 100000
#define AT_ONCE 10000

typedef struct crowd_args {
    int64_t from, count;
} crowd_args;

static const valise_field crowd_in[] = {
    VALISE_FIELD(crowd_args, from, INT, VALISE_REQUIRED, "The first."),
    VALISE_FIELD(crowd_args, count, INT, VALISE_REQUIRED, "How many."),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *result, valise_error *err)
{
    const crowd_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    char label[32];
    int rc = 0;

    (void)result;
    for (int64_t i = args->from; rc == 0 && i < args->from + args->count; i++) {
        vls_session_row row = {
            .created = stamp->time, .updated = stamp->time, .actor = stamp->actor};
        (void)snprintf(label, sizeof(label), "number %lld", (long long)i);
        row.label = valise_str_of(label);
        row.id.bytes[6] = 0x70;
        row.id.bytes[8] = 0x80;
        for (int b = 0; b < 4; b++)
            row.id.bytes[15 - b] = (uint8_t)(i >> (8 * b));
        rc = valise_view_put(view, &vls_sessions, &row, err);
    }
    return rc;
}

static const valise_op crowd_op = {
    .size = sizeof(valise_op),
    .name = "crowd:sessions",
    .brief = "Put many sessions.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = crowd_in,
    .in_size = sizeof(crowd_args),
    .decide = decide,
    .example = "{\"from\":1,\"count\":2}",
};
static const valise_op *const crowd_ops[] = {&crowd_op, NULL};
static const valise_extension crowd = {.size = sizeof(valise_extension),
                                       .abi = VALISE_EXTENSION_ABI,
                                       .name = "crowd",
                                       .version = "1",
                                       .operations = crowd_ops};
static const valise_extension *const crowds[] = {&crowd, NULL};

static valise *open_at(test *t, const valise_env *env, const char *path, bool with)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | VALISE_OPEN_CREATE;
    o.durability = VALISE_DURABILITY_NORMAL;
    o.extensions = with ? crowds : NULL;
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    return v;
}

static void ask(test *t, valise *v, const char *op, const char *json, const char *has)
{
    valise_reply reply = VALISE_REPLY_INIT;
    const char *answer;

    CHECK_OK(valise_dispatch(&reply, v, op, json, NULL, &t->err));
    answer = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    CHECK_MSG(!has || strstr(answer, has), "%s", answer);
    valise_reply_release(&reply);
}

static void fill(test *t, const char *path, int count)
{
    valise *v = open_at(t, t->env, path, true);

    for (int at = 0; at < count; at += AT_ONCE)
        ask(t, v, "crowd:sessions",
            test_format("{\"from\":%d,\"count\":%d}", at, VLS_MIN(count - at, AT_ONCE)), NULL);
    ask(t, v, "role:add", "{\"name\":\"r\"}", NULL); /* the newest entry is one of the usual size */
    valise_close(v);
}

/* Allocations from opening to closing, as a command line does it; *bytes: the most that the open
 * handle held afterwards. */
static long long cost(test *t, size_t *bytes, const char *path)
{
    counting_env env;
    valise *v;

    counting_env_init(&env);
    v = open_at(t, &env.env, path, false);
    ask(t, v, "session:show", "{\"sessionId\":\"number 77\"}", "\"label\":\"number 77\"");
    ask(t, v, "session:show", "{\"sessionId\":\"00000000-0000-7000-8000-00000000004d\"}",
        "\"label\":\"number 77\"");
    *bytes = counting_env_in_use(&env);
    valise_close(v);
    CHECK_INT(0, counting_env_in_use(&env));
    return atomic_load(&env.calls);
}

TEST(chat_crowd, a_point_query_loads_no_index)
{
    const char *few = test_format("%s/few", test_tmpdir());
    const char *many = test_format("%s/many", test_tmpdir());
    size_t few_bytes = 0, many_bytes = 0;
    long long few_calls, many_calls;

    test_unwatched();
    fill(t, few, FEW);
    fill(t, many, MANY);
    few_calls = cost(t, &few_bytes, few);
    many_calls = cost(t, &many_bytes, many);
    CHECK_MSG(many_calls <= few_calls + 64, "%lld allocations, not about %lld", many_calls,
              few_calls);
    CHECK_MSG(many_bytes <= few_bytes + 65536, "%zu bytes, not about %zu", many_bytes, few_bytes);
}
