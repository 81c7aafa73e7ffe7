/* run_kit.c -- see run_kit.h. */
#include "run_kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "json/make.h"

/* ---- steps ---- */

typedef struct acting {
    valise_node_run *run;
    valise_backpack *bag;
    vls_arena *arena;
} acting;

static const char *text_at(vls_json step, uint32_t i)
{
    return i < step.len && step.items[i].type == VLS_JSON_STRING
               ? test_format("%.*s", VALISE_STR_ARG(vls_json_str(step.items[i])))
               : NULL;
}

static int64_t int_at(vls_json step, uint32_t i)
{
    return i < step.len && step.items[i].type == VLS_JSON_INT ? step.items[i].integer : 0;
}

static int pack_json(acting *a, const char *key, vls_json value, valise_error *err)
{
    valise_str text;
    int rc = vls_json_text(&text, a->arena, value, err);

    return rc < 0 ? rc : valise_pack_str(NULL, a->bag, valise_str_of(key), text, NULL, err);
}

/* The number of an item; 0 when it is absent. */
static int number_of(int64_t *out, acting *a, const char *key, valise_error *err)
{
    valise_blob *value = NULL;
    int rc = valise_unpack(&value, a->bag, key, err);

    *out = 0;
    if (rc > 0)
        *out = strtoll(test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(value))), NULL, 10);
    valise_blob_unref(value);
    return rc;
}

static int do_pack(acting *a, vls_json step, valise_error *err)
{
    return pack_json(a, text_at(step, 1), step.items[2], err);
}

static int do_read(acting *a, vls_json step, valise_error *err)
{
    valise_blob *value = NULL;
    int rc = valise_unpack(&value, a->bag, text_at(step, 1), err);

    valise_blob_unref(value);
    return rc;
}

static int do_rm(acting *a, vls_json step, valise_error *err)
{
    return valise_remove(NULL, a->bag, text_at(step, 1), err);
}

static int do_clear(acting *a, vls_json step, valise_error *err)
{
    return valise_clear(NULL, a->bag, VLS_STR(""), vls_json_str(step.items[1]), err);
}

static int do_act(acting *a, vls_json step, valise_error *err)
{
    return valise_node_act(a->run, text_at(step, 1), err);
}

static int do_inc(acting *a, vls_json step, valise_error *err)
{
    int64_t n;
    int rc = number_of(&n, a, text_at(step, 1), err);

    return rc < 0 ? rc : pack_json(a, text_at(step, 1), vls_json_int(n + 1), err);
}

static int do_until(acting *a, vls_json step, valise_error *err)
{
    int64_t n;
    int rc = number_of(&n, a, text_at(step, 1), err);

    return rc < 0 ? rc : valise_node_act(a->run, text_at(step, n < int_at(step, 2) ? 3 : 4), err);
}

static int do_who(acting *a, vls_json step, valise_error *err)
{
    const char *text = test_format("%.*s|%.*s|%lld", VALISE_STR_ARG(valise_node_path(a->run)),
                                   VALISE_STR_ARG(valise_node_namespace(a->run)),
                                   (long long)valise_node_attempt(a->run));

    return pack_json(a, text_at(step, 1), vls_json_string(valise_str_of(text)), err);
}

static int do_why(acting *a, vls_json step, valise_error *err)
{
    const valise_error *why = valise_node_failure(a->run);
    const char *text =
        why ? test_format("%s: %s", valise_error_name(why->code), why->message) : "nothing";

    return pack_json(a, text_at(step, 1), vls_json_string(valise_str_of(text)), err);
}

static int do_fail(acting *a, vls_json step, valise_error *err)
{
    int64_t times = int_at(step, 1);
    const char *name = text_at(step, 2), *text = text_at(step, 3);
    int code = name ? vls_error_of_name(valise_str_of(name)) : VALISE_E_INVALID;

    if (times > 0 && valise_node_attempt(a->run) > times)
        return 0;
    return text ? vls_fail(err, code, "%s", text) : code;
}

static int do_lie(acting *a, vls_json step, valise_error *err)
{
    (void)a;
    (void)vls_fail(err, vls_error_of_name(valise_str_of(text_at(step, 2))), "a lie");
    return vls_error_of_name(valise_str_of(text_at(step, 1)));
}

static void nap(int64_t ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

static int do_sleep(acting *a, vls_json step, valise_error *err)
{
    int rc = 0;

    for (int64_t i = 0; i < int_at(step, 1) && rc == 0; i++) {
        nap(1);
        rc = valise_node_check(a->run, err);
    }
    return rc;
}

static int do_nap(acting *a, vls_json step, valise_error *err)
{
    (void)a, (void)err;
    nap(int_at(step, 1));
    return 0;
}

static int do_log(acting *a, vls_json step, valise_error *err)
{
    const char *line = test_format("%s\n", text_at(step, 2));
    int fd = open(text_at(step, 1), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ssize_t put = fd < 0 ? -1 : write(fd, line, strlen(line));

    (void)a;
    if (fd >= 0)
        (void)close(fd);
    return put == (ssize_t)strlen(line) ? 0 : vls_fail(err, VALISE_E_IO, "cannot log");
}

static int do_block(acting *a, vls_json step, valise_error *err)
{
    (void)a;
    return access(text_at(step, 1), F_OK) == 0 ? vls_fail(err, VALISE_E_IO, "blocked") : 0;
}

static int do_die(acting *a, vls_json step, valise_error *err)
{
    (void)a, (void)err;
    if (unlink(text_at(step, 1)) == 0)
        (void)raise(SIGKILL);
    return 0;
}

static int do_tell(acting *a, vls_json step, valise_error *err)
{
    valise_str text;
    int rc = vls_json_text(&text, a->arena, step.items[2], err);

    return rc < 0 ? rc : valise_node_tell(a->run, text_at(step, 1), text, err);
}

static int do_stream(acting *a, vls_json step, valise_error *err)
{
    return valise_node_stream(a->run, "text", vls_json_str(step.items[1]), err);
}

static int do_flow(acting *a, vls_json step, valise_error *err)
{
    const void *inner = NULL;
    valise_str action;
    char text[129];
    int rc = valise_node_service(&inner, a->run, text_at(step, 1), err);

    if (rc == 0)
        rc = valise_node_run_flow(&action, a->run, (valise_flow *)(uintptr_t)inner, err);
    if (rc < 0)
        return rc;
    (void)snprintf(text, sizeof(text), "%.*s", VALISE_STR_ARG(action));
    return valise_node_act(a->run, text, err);
}

static int do_try(acting *a, vls_json step, valise_error *err)
{
    (void)err;
    (void)do_flow(a, step, &(valise_error){.code = 0});
    return 0;
}

static int do_call(acting *a, vls_json step, valise_error *err)
{
    const void *service = NULL;
    const hook *h;
    int rc = valise_node_service(&service, a->run, text_at(step, 1), err);

    if (rc < 0)
        return rc;
    h = service;
    return h->fn(h->arg, a->run, err);
}

static int do_params(acting *a, vls_json step, valise_error *err)
{
    valise_str text;
    int rc = valise_node_params(&text, a->run, err);

    return rc < 0 ? rc
                  : valise_pack_str(NULL, a->bag, valise_str_of(text_at(step, 1)), text, NULL, err);
}

static const struct {
    const char *name;
    int (*fn)(acting *a, vls_json step, valise_error *err);
} verbs[] = {
    {"pack", do_pack},     {"read", do_read},     {"rm", do_rm},       {"clear", do_clear},
    {"act", do_act},       {"inc", do_inc},       {"until", do_until}, {"who", do_who},
    {"why", do_why},       {"fail", do_fail},     {"lie", do_lie},     {"sleep", do_sleep},
    {"nap", do_nap},       {"log", do_log},       {"die", do_die},     {"tell", do_tell},
    {"flow", do_flow},     {"stream", do_stream}, {"try", do_try},     {"call", do_call},
    {"params", do_params}, {"block", do_block},
};

static int act_out(acting *a, vls_json step, valise_error *err)
{
    for (size_t i = 0; i < VLS_COUNT(verbs); i++) {
        if (strcmp(verbs[i].name, text_at(step, 0)) == 0)
            return vls_settle(verbs[i].fn(a, step, err));
    }
    return vls_fail(err, VALISE_E_INVALID, "the script does not know '%s'", text_at(step, 0));
}

static int play(valise_node_run *run, const char *phase, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    acting a = {run, valise_node_backpack(run), &arena};
    vls_json params, steps;
    valise_str text;
    int rc = valise_node_params(&text, run, err);

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    if (rc == 0)
        rc = vls_json_parse(&params, &arena, text, NULL, err);
    if (rc < 0)
        return rc;
    steps = vls_member_of(params, phase);
    for (uint32_t i = 0; steps.type == VLS_JSON_ARRAY && i < steps.len && rc == 0; i++)
        rc = act_out(&a, steps.items[i], err);
    return rc;
}

static int prep(void *node, valise_node_run *run, valise_error *err)
{
    (void)node;
    return play(run, "prep", err);
}

static int exec(void *node, valise_node_run *run, valise_error *err)
{
    (void)node;
    return play(run, "exec", err);
}

static int post(void *node, valise_node_run *run, valise_error *err)
{
    (void)node;
    return play(run, "post", err);
}

static int fallback(void *node, valise_node_run *run, const valise_error *why, valise_error *err)
{
    (void)node, (void)why;
    return play(run, "fallback", err);
}

const valise_node_type script_type = {.size = sizeof(valise_node_type),
                                      .name = "ScriptNode",
                                      .brief = "Does what its params say.",
                                      .prep = prep,
                                      .exec = exec,
                                      .post = post};

static const valise_node_type kit_script = {.size = sizeof(valise_node_type),
                                            .name = "kit.Script",
                                            .brief = "Does what its params say.",
                                            .prep = prep,
                                            .exec = exec,
                                            .post = post};

static const valise_node_type kit_rescue = {.size = sizeof(valise_node_type),
                                            .name = "kit.Rescue",
                                            .brief = "The same, with a fallback.",
                                            .prep = prep,
                                            .exec = exec,
                                            .post = post,
                                            .exec_fallback = fallback};

static const valise_node_type kit_chat = {.size = sizeof(valise_node_type),
                                          .name = "kit.Chat",
                                          .brief = "The same, with a segment of its own.",
                                          .segment = "chat",
                                          .prep = prep,
                                          .exec = exec,
                                          .post = post};

static const valise_node_type *const kit_types[] = {&kit_script, &kit_rescue, &kit_chat, NULL};

const valise_extension script_extension = {.size = sizeof(valise_extension),
                                           .abi = VALISE_EXTENSION_ABI,
                                           .name = "kit",
                                           .version = "1",
                                           .node_types = kit_types};
static const valise_extension *const extensions[] = {&script_extension, NULL};

desk *script_desk(test *t)
{
    valise_options options = VALISE_OPTIONS_INIT;

    options.extensions = extensions;
    return desk_open_with(t, &options);
}

int script_try_open(valise **out, const valise_env *env, const char *dir, valise_error *err)
{
    valise_options options = VALISE_OPTIONS_INIT;

    options.env = env;
    options.extensions = extensions;
    return desk_try(out, dir ? "sqlite" : "memory", dir, &options, err);
}

const char *node_(const char *id, const char *params, const char *more)
{
    return test_format("{'id':'%s','type':'kit.%s','params':%s%s}", id,
                       strstr(params, "'fallback'") ? "Rescue" : "Script", params, more);
}

const char *edge_(const char *from, const char *to, const char *condition)
{
    return condition ? test_format("{'from':'%s','to':'%s','condition':%s}", from, to, condition)
                     : test_format("{'from':'%s','to':'%s'}", from, to);
}

/* ---- events ---- */

struct tale {
    pthread_mutex_t lock;
    vls_buf text, types;
    char last_run[40];
    char runs[16][40];
    size_t run_count;
    valise_subscription *s;
};

static void note_run(tale *l, valise_str run)
{
    (void)snprintf(l->last_run, sizeof(l->last_run), "%.*s", VALISE_STR_ARG(run));
    for (size_t i = 0; i < l->run_count; i++) {
        if (strcmp(l->runs[i], l->last_run) == 0)
            return;
    }
    if (l->run_count < VLS_COUNT(l->runs))
        memcpy(l->runs[l->run_count++], l->last_run, sizeof(l->last_run));
}

/* Without what is another one each time. */
static int write_payload(tale *l, valise_str payload)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json value;
    int rc;

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    rc = vls_json_parse(&value, &arena, payload, NULL, NULL);
    if (rc == 0)
        rc = vls_json_without(&value, &arena, value, "durationNs", NULL);
    return rc < 0 ? rc : vls_json_write(&l->text, value, NULL);
}

static int hear(void *arg, const valise_event *event, valise_error *err)
{
    tale *l = arg;
    valise_str type = event->type;
    int rc;

    (void)err;
    if (vls_str_starts(type, VLS_STR("flow:")))
        type = vls_str_from(type, 5);
    (void)pthread_mutex_lock(&l->lock);
    note_run(l, event->run_id);
    vls_buf_printf(&l->text, "%.*s %.*s ", VALISE_STR_ARG(type), VALISE_STR_ARG(event->node_id));
    rc = write_payload(l, event->payload);
    vls_buf_add_byte(&l->text, '\n');
    vls_buf_printf(&l->types, "%s%.*s", l->types.len > 0 ? " " : "", VALISE_STR_ARG(type));
    if (event->node_id.len > 0)
        vls_buf_printf(&l->types, ":%.*s", VALISE_STR_ARG(event->node_id));
    (void)pthread_mutex_unlock(&l->lock);
    return rc;
}

static void end_tale(void *arg)
{
    tale *l = arg;

    valise_unsubscribe(l->s);
    vls_buf_release(&l->text);
    vls_buf_release(&l->types);
    (void)pthread_mutex_destroy(&l->lock);
}

const char *const flow_events[] = {
    "flow:FLOW_*",       "flow:NODE_*",    "flow:PREP_COMPLETE", "flow:EXEC_COMPLETE", "flow:ERROR",
    "flow:STREAM_CHUNK", "flow:TOOL_CALL", "flow:CUSTOM",        "flow:WARNING",       NULL};

tale *tale_of(desk *d, const char *types)
{
    test *t = d->t;
    tale *l = test_alloc(sizeof(*l));
    const char *const one[] = {types, NULL};
    const valise_follow follow = {
        .size = sizeof(follow),
        .filter = {.size = sizeof(valise_filter), .types = types ? one : flow_events},
        .live = true,
        .fn = hear,
        .arg = l};

    (void)pthread_mutex_init(&l->lock, NULL);
    vls_buf_init(&l->text, valise_env_default(), (size_t)64 << 20);
    vls_buf_init(&l->types, valise_env_default(), (size_t)64 << 20);
    CHECK_OK(valise_subscribe(&l->s, d->v, &follow, &t->err));
    test_defer(end_tale, l);
    return l;
}

static const char *take(vls_buf *buf)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(vls_buf_str(buf)));

    vls_buf_clear(buf);
    return text;
}

const char *told(tale *l)
{
    vls_buf_clear(&l->types);
    return take(&l->text);
}

const char *told_types(tale *l)
{
    vls_buf_clear(&l->text);
    return take(&l->types);
}

const char *told_run(tale *l)
{
    return l->last_run;
}

size_t told_runs(tale *l)
{
    return l->run_count;
}

size_t times_in(const char *text, const char *what)
{
    size_t count = 0;

    while ((text = strstr(text, what)) != NULL) {
        count++;
        text += strlen(what);
    }
    return count;
}
