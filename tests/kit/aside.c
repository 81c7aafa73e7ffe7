/* aside.c -- see aside.h. */
#include "kit/aside.h"

#include "base/mem.h"
#include "base/str.h"
#include "bus/told.h"
#include "kit/counter.h"

enum { COUNTERS = 8 };

typedef struct table {
    const valise_env *env;
    pthread_mutex_t lock;
    struct {
        char name[32];
        int64_t value;
    } counters[COUNTERS];
} table;

static const char key;
_Atomic int aside_freed;

static int make_table(void **out, valise *v, valise_error *err)
{
    table *t = vls_mem_zalloc(v->env, sizeof(*t));

    if (!t)
        return vls_fail_memory(err);
    t->env = v->env;
    (void)pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return 0;
}

static void free_table(void *self)
{
    table *t = self;

    (void)pthread_mutex_destroy(&t->lock);
    vls_mem_free(t->env, t, sizeof(*t));
    aside_freed++;
}

/* Add to it: the new value; -1 when there is no room. */
static int64_t add(table *t, valise_str name, int64_t by)
{
    int64_t value = -1;

    (void)pthread_mutex_lock(&t->lock);
    for (int i = 0; i < COUNTERS && value < 0; i++) {
        valise_str have = valise_str_of(t->counters[i].name);
        if (have.len > 0 && !vls_str_equal(have, name))
            continue;
        (void)snprintf(t->counters[i].name, sizeof(t->counters[i].name), "%.*s",
                       VALISE_STR_ARG(name));
        value = t->counters[i].value += by;
    }
    (void)pthread_mutex_unlock(&t->lock);
    return value;
}

int64_t aside_value(valise *v, const char *name)
{
    table *t = vls_bus_kept(v, &key);

    return t ? add(t, valise_str_of(name), 0) : -1;
}

/* ---- the operation ---- */

typedef struct aside_args {
    valise_str name, what;
    int64_t by;
} aside_args;

static const valise_field aside_in[] = {
    VALISE_FIELD_WITH(aside_args, name, STR, VALISE_REQUIRED, "Name.", .min = 1, .max = 31),
    VALISE_FIELD(aside_args, by, INT, 0, "How much."),
    VALISE_FIELD(aside_args, what, STR, 0, "What else."),
    VALISE_FIELD_END,
};

typedef struct aside_result {
    int64_t value;
    valise_uuid id;
    valise_str actor;
} aside_result;

static const valise_field aside_out[] = {
    VALISE_FIELD(aside_result, value, INT, 0, "Value."),
    VALISE_FIELD(aside_result, id, UUID, 0, "An id."),
    VALISE_FIELD(aside_result, actor, STR, 0, "Who."),
    VALISE_FIELD_END,
};

static bool is_apart(valise *v, const void *args)
{
    (void)v;
    return vls_str_starts(((const aside_args *)args)->name, VLS_STR("m:"));
}

static int do_more(valise_view *view, const aside_args *args, valise_error *err)
{
    const tally_row row = {.name = args->name, .value = 1};
    const valise_event event = {
        .size = sizeof(event), .type = VLS_STR("ASIDE"), .payload = VLS_STR("{}")};

    if (vls_str_equal(args->what, VLS_STR("put")))
        return valise_view_put(view, &counter_tally, &row, err);
    if (vls_str_equal(args->what, VLS_STR("dispatch")))
        return valise_dispatch(NULL, vls_view_bus(view), "counter:add", "{\"name\":\"x\"}", NULL,
                               err);
    if (vls_str_equal(args->what, VLS_STR("tell")))
        vls_view_tell(view, &event);
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const aside_args *args = in;
    aside_result *result = out;
    void *self = NULL;
    int rc = do_more(view, args, err);

    if (rc == 0)
        rc = valise_view_uuid(&result->id, view, err);
    if (rc == 0)
        rc = vls_bus_keep(&self, vls_view_bus(view), &key, make_table, free_table, err);
    if (rc < 0)
        return rc;
    result->value = add(self, args->name, args->by);
    result->actor = valise_view_stamp(view)->actor;
    return 0;
}

static int current(valise_str *json, valise_view *view, const void *in, valise_error *err)
{
    const aside_args *args = in;
    table *t = vls_bus_kept(vls_view_bus(view), &key);
    char *text = NULL;
    int rc = valise_view_alloc((void **)&text, view, 32, err);

    if (rc == 0)
        *json = vls_str(
            text, (size_t)snprintf(text, 32, "%lld", (long long)(t ? add(t, args->name, 0) : 0)));
    return rc;
}

static const valise_op aside_add = {
    .size = sizeof(valise_op),
    .name = "aside:add",
    .brief = "Add to a counter.",
    .kind = VALISE_COMMAND,
    .needs = "counter:write",
    .in = aside_in,
    .in_size = sizeof(aside_args),
    .out = aside_out,
    .out_size = sizeof(aside_result),
    .current = current,
    .expect_help = "the value",
    .decide = decide,
    .example = "{\"by\":1,\"name\":\"m:a\"}",
    .apart = is_apart,
};

static const valise_op *const ops[] = {&aside_add, NULL};
const valise_extension aside_extension = {.size = sizeof(valise_extension),
                                          .abi = VALISE_EXTENSION_ABI,
                                          .name = "aside",
                                          .version = "1",
                                          .operations = ops};
