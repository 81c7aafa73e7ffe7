/* ask.c -- see ask.h. */
#include "flow/ask.h"

#include "base/sized.h"
#include "base/text.h"
#include "json/make.h"
#include "prompt/edit.h"
#include "prompt/send.h"

typedef struct asking {
    valise_node_run *at;
    const vls_ask *ask;
    vls_ask_from from;         /* with what the dependency says */
    const valise_client *host; /* NULL: a provider */
    vls_provider provider;
    vls_json prompt;
    valise_error stop; /* why it is to end */
    bool stopped;
} asking;

/* ---- whom ---- */

static valise_str first(valise_str a, valise_str b)
{
    return a.ptr ? a : b;
}

static int fail_other_kind(valise_str name, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not a client", vls_text_short(name).s);
    vls_hint(err, "dependencies: {\"%s\": {\"client\": {\"provider\": ...}}}",
             vls_text_short(name).s);
    return VALISE_E_INVALID;
}

/* A client that the flow declares, or the host gave. */
static int find_named(asking *a, valise_str role, valise_error *err)
{
    valise_node_run *at = a->at;
    valise_str name = vls_node_need(at, role);
    const vls_flow_dependency *d =
        vls_flow_dependency_find(vls_flow_outermost(at->node->flow), name);
    const valise_service *service;

    if (d && d->kind == VLS_NEED_CLIENT) {
        a->from.provider = first(a->from.provider, d->provider);
        a->from.model = first(a->from.model, d->model);
        a->from.replay = first(a->from.replay, d->replay);
        return 0;
    }
    if (d && d->kind != VLS_NEED_HOST)
        return fail_other_kind(name, err);
    service = vls_node_find_service(at, name);
    if (!service) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no client '%s'", vls_text_short(name).s);
        vls_hint(err,
                 "declare it in the flow: \"dependencies\": {\"%s\": {\"client\": {\"provider\": "
                 "...}}}, or let the host provide it",
                 vls_text_short(name).s);
        return VALISE_E_NOT_FOUND;
    }
    if (service->kind != VALISE_SERVICE_CLIENT)
        return fail_other_kind(name, err);
    a->host = service->service;
    return 0;
}

static bool is_client(const asking *a, valise_str name)
{
    const vls_flow_dependency *d =
        vls_flow_dependency_find(vls_flow_outermost(a->at->node->flow), name);
    const valise_service *service = vls_node_find_service(a->at, name);

    return (d && d->kind == VLS_NEED_CLIENT) || (service && service->kind == VALISE_SERVICE_CLIENT);
}

/* Of what the node needs the only client; ptr NULL: there is none, or more than one. */
static valise_str only_client(const asking *a)
{
    const vls_flow_node *node = a->at->node;
    valise_str found = {NULL, 0};

    for (size_t i = 0; i < node->need_count; i++) {
        if (!is_client(a, node->needs[i].name))
            continue;
        if (found.ptr)
            return (valise_str){NULL, 0};
        found = node->needs[i].role;
    }
    return found;
}

/* A file of answers lies beside the flow. */
static int place_replay(asking *a, valise_error *err)
{
    valise_str folder = vls_flow_outermost(a->at->node->flow)->folder;
    vls_buf path;

    if (!a->from.replay.ptr || folder.len == 0 || vls_str_starts(a->from.replay, VLS_STR("/")))
        return 0;
    vls_buf_init_in(&path, a->at->arena, 8192);
    vls_buf_add(&path, folder);
    vls_buf_add_byte(&path, '/');
    vls_buf_add(&path, a->from.replay);
    return vls_buf_keep(&a->from.replay, &path, err);
}

static int find_whom(asking *a, valise_error *err)
{
    bool said = a->from.provider.ptr || a->from.replay.ptr;
    valise_str client = a->from.client.ptr || said ? a->from.client : only_client(a);
    int rc = 0;

    if (client.ptr)
        rc = find_named(a, client, err);
    if (rc < 0 || a->host)
        return rc;
    if (!a->from.provider.ptr && !a->from.replay.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "no model given");
        vls_hint(err, "params: \"client\" (a dependency of the flow), \"provider\", or \"replay\" "
                      "for answers from a file");
        return VALISE_E_INVALID;
    }
    rc = place_replay(a, err);
    if (rc == 0)
        rc = vls_prompt_provider(&a->provider, a->at->arena, a->at->run->v, a->from.provider,
                                 a->from.replay, err);
    a->from.model = first(a->from.model, a->provider.model);
    return rc;
}

int vls_ask_whom(vls_ask_from *out, valise_node_run *at, const vls_ask_from *from,
                 valise_error *err)
{
    asking a = {.at = at, .from = *from};
    int rc = find_whom(&a, err);

    if (rc < 0)
        return rc;
    if (a.host) {
        (void)vls_fail(err, VALISE_E_UNSUPPORTED,
                       "a client of the host cannot be used in a session");
        vls_hint(err, "leave out \"session\", or use a provider");
        return VALISE_E_UNSUPPORTED;
    }
    if (!a.from.provider.ptr)
        a.from.provider = a.provider.name;
    *out = a.from;
    return 0;
}

/* ---- what ---- */

static int make_system(vls_json *out, asking *a, valise_error *err)
{
    vls_arena *arena = a->at->arena;
    vls_json *block;

    *out = vls_json_array(NULL, 0);
    if (vls_is_blank(a->ask->system))
        return 0;
    block = vls_arena_alloc(arena, sizeof(*block));
    if (!block)
        return vls_arena_fail(arena, err);
    *out = vls_json_array(block, 1);
    return vls_text_block(block, arena, a->ask->system, err);
}

static int make_params(vls_json *out, asking *a, valise_error *err)
{
    vls_arena *arena = a->at->arena;
    int rc = 0;

    *out = (vls_json){.type = VLS_JSON_OBJECT};
    if (a->from.params.ptr)
        rc = vls_json_parse(out, arena, a->from.params, NULL, err);
    if (rc == 0 && out->type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "'params' must be an object, not %s",
                      vls_json_type_name(*out));
    if (rc == 0 && a->ask->tool_choice.type != VLS_JSON_NULL)
        rc = vls_json_with(out, arena, *out, "toolChoice", a->ask->tool_choice, err);
    return rc;
}

static int make_prompt(asking *a, valise_error *err)
{
    vls_json tools = a->ask->tools, system, params;
    int rc = make_system(&system, a, err);

    if (tools.type == VLS_JSON_NULL)
        tools = vls_json_array(NULL, 0);
    if (rc == 0)
        rc = make_params(&params, a, err);
    if (rc == 0)
        rc = VLS_PAIRS(&a->prompt, a->at->arena, err,
                       {"version", vls_json_int(VLS_NEUTRAL_VERSION), false},
                       {"tools", tools, false}, {"system", system, false},
                       {"messages", a->ask->messages, false}, {"params", params, false});
    return rc;
}

/* ---- while it is asked ---- */

static int on_piece(void *arg, const vls_piece *piece, valise_error *err)
{
    asking *a = arg;
    VLS_AUTO(buf) vls_buf payload = {0};

    if (vls_flow_listens(a->at->run)) {
        vls_buf_init(&payload, a->at->run->env, VLS_PIECE_PAYLOAD_MAX);
        vls_piece_write(&payload, piece, NULL);
        if (vls_buf_check(&payload, NULL) == 0) /* the answer has all of it */
            vls_flow_tell(a->at->run, a->at, "STREAM_CHUNK", vls_buf_str(&payload));
    }
    return vls_node_look(a->at, err);
}

static void on_retry(void *arg, int64_t attempt, int64_t wait_ns, const valise_error *why)
{
    const asking *a = arg;

    vls_flow_warn(a->at->run, a->at, "request %lld failed (%s), the next one is sent in %lld ms",
                  (long long)attempt, why->message, (long long)(wait_ns / 1000000));
}

static bool is_cancelled(void *arg)
{
    asking *a = arg;

    if (!a->stopped)
        a->stopped = vls_node_look(a->at, &a->stop) < 0;
    return a->stopped;
}

/* The client says that it was cancelled; why, we know. */
static int settle(const asking *a, int rc, valise_error *err)
{
    if (rc != VALISE_E_CANCELLED || !a->stopped)
        return rc;
    if (err)
        *err = a->stop;
    return a->stop.code;
}

static vls_sending sending_of(asking *a)
{
    return (vls_sending){.neutral = VLS_STR(""),
                         .model = a->from.model,
                         .stream = a->from.stream,
                         .on_piece = on_piece,
                         .on_retry = on_retry,
                         .arg = a,
                         .cancelled = is_cancelled};
}

static int ask_host(vls_asked *out, asking *a, valise_error *err)
{
    VLS_AUTO(client) vls_client *client = NULL;
    valise_client host = {.size = sizeof(host)};
    vls_neutral neutral;
    vls_sending sending = sending_of(a);
    int rc = vls_neutral_of(&neutral, a->prompt, err);

    if (rc == 0)
        rc = vls_json_text(&sending.neutral, a->at->arena, a->prompt, err);
    if (rc == 0)
        rc = vls_sized_take(&host, sizeof(host), a->host, sizeof(host), "valise_client", err);
    if (rc < 0)
        return rc;
    host.close = NULL; /* it is the flow's, and goes on */
    rc = vls_client_of_host(&client, a->at->run->env, &host, err);
    if (rc == 0)
        rc = vls_client_send(&out->answer, a->at->arena, client, &sending, err);
    out->provider = valise_str_of(host.name ? host.name : "");
    return settle(a, rc, err);
}

static int send(vls_asked *out, asking *a, const vls_wire *wire, valise_error *err)
{
    vls_sent_blobs reading = {a->at->run->v, NULL};
    const vls_wire_blobs blobs = vls_sent_blobs_of(&reading);
    vls_sending sending = sending_of(a);
    vls_client *client = NULL;
    int rc = vls_prompt_client(&client, a->at->run->v, &a->provider, err);

    if (rc < 0)
        return rc;
    sending.wire = wire;
    sending.blobs = &blobs;
    rc = vls_client_send(&out->answer, a->at->arena, client, &sending, err);
    vls_prompt_client_return(a->at->run->v, client);
    return settle(a, rc, err);
}

static int ask_provider(vls_asked *out, asking *a, valise_error *err)
{
    const vls_adapter *adapter = a->provider.adapter;
    const vls_wire_write how = {.stream = a->from.stream};
    VLS_AUTO(wire) vls_wire wire = {.failed = 0};
    vls_plan plan = {.adapter = NULL};
    vls_neutral neutral;
    int rc = vls_neutral_of(&neutral, a->prompt, err);

    if (rc == 0)
        rc = vls_plan_make(&plan, a->at->arena, adapter, &neutral, a->from.model, err);
    if (rc < 0)
        return rc;
    vls_wire_init(&wire, a->at->run->env);
    rc = adapter->write(&wire, &plan, &how, err);
    if (rc == 0)
        rc = vls_wire_check(&wire, err);
    if (rc == 0)
        rc = send(out, a, &wire, err);
    if (rc == 0)
        rc = vls_answer_rename(&out->answer, a->at->arena, &plan, err);
    vls_plan_release(&plan);
    out->provider = a->provider.name;
    return rc;
}

/* ---- what came ---- */

int vls_ask_model(vls_asked *out, valise_node_run *at, const vls_ask *ask, valise_error *err)
{
    asking a = {.at = at, .ask = ask, .from = *ask->from, .stop = VALISE_ERROR_INIT};
    vls_asked asked = {.text = VLS_STR("")};
    int rc = find_whom(&a, err);

    if (rc == 0)
        rc = make_prompt(&a, err);
    if (rc == 0)
        rc = a.host ? ask_host(&asked, &a, err) : ask_provider(&asked, &a, err);
    if (rc == 0)
        rc = vls_answer_text(&asked.text, at->arena, asked.answer.blocks, err);
    if (rc == 0)
        rc = vls_usage_json(&asked.usage, at->arena, &asked.answer.usage, err);
    asked.model = first(asked.answer.model, a.from.model);
    if (rc == 0)
        *out = asked;
    return rc;
}

int vls_asked_details(vls_json *out, vls_arena *arena, const vls_asked *asked, valise_error *err)
{
    return VLS_PAIRS(out, arena, err, {"model", vls_json_string(asked->model), !asked->model.ptr},
                     {"provider", vls_json_string(asked->provider), !asked->provider.ptr},
                     {"stop", vls_json_string(valise_str_of(vls_stops[asked->answer.stop])), false},
                     {"usage", asked->usage, asked->usage.len == 0});
}

/* ---- messages ---- */

int vls_message_of(vls_json *out, vls_arena *arena, valise_str text, valise_error *err)
{
    vls_json *block = vls_arena_alloc(arena, sizeof(*block));
    int rc;

    if (!block)
        return vls_arena_fail(arena, err);
    rc = vls_text_block(block, arena, text, err);
    return rc < 0 ? rc
                  : VLS_PAIRS(out, arena, err, {"role", vls_json_string(VLS_STR("user")), false},
                              {"blocks", vls_json_array(block, 1), false});
}

int vls_messages_add(vls_json *messages, vls_arena *arena, vls_json message, valise_error *err)
{
    vls_json *items = vls_arena_array(arena, (size_t)messages->len + 1, sizeof(*items));

    if (!items)
        return vls_arena_fail(arena, err);
    if (messages->len > 0)
        memcpy(items, messages->items, messages->len * sizeof(*items));
    items[messages->len] = message;
    *messages = vls_json_array(items, (size_t)messages->len + 1);
    return 0;
}

bool vls_flow_blocks_call(vls_asked_call *out, vls_json blocks, size_t i)
{
    for (uint32_t at = 0; blocks.type == VLS_JSON_ARRAY && at < blocks.len; at++) {
        vls_json block = blocks.items[at];

        if (!vls_str_equal(vls_text_of(block, "type"), VLS_STR("tool_use")) || i-- > 0)
            continue;
        *out = (vls_asked_call){.id = vls_text_of(block, "callId"),
                                .name = vls_text_of(block, "name"),
                                .args = vls_member_of(block, "args")};
        out->broken =
            vls_json_get(block, VLS_STR("rawArgs")) != NULL || out->args.type != VLS_JSON_OBJECT;
        return true;
    }
    return false;
}
