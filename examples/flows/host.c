/* host.c -- a flow that is made by hand: nodes of our own in C, one that is built in, and a tool
 * that is a function of ours. It prints what each node is called, and the answer.
 *
 *     example-flow "How long does a lamp last?"     needs a search
 *     example-flow "What is two and two?"           does not */
#include <stdio.h>
#include <string.h>

#include <valise.h>
#include <valise/sys/node.h>
#include <valise/sys/tool.h>

static bool has(valise_str text, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, word, len) == 0)
            return true;
    return false;
}

/* ---- a tool ---- */

/* Arguments were checked by the schema: there is one, and it is an object. */
static int look_up(void *self, valise_tool_call *call, valise_error *err)
{
    valise_str asked = valise_tool_arguments(call);

    if (has(asked, "lamp"))
        return valise_tool_answer(call, valise_str_of(self), err);
    err->code = VALISE_E_NOT_FOUND;
    snprintf(err->message, sizeof(err->message), "there is no note on that");
    return err->code;
}

static char note[] = "\"A lamp lasts 15,000 hours.\"";

static const valise_tool notes = {
    .size = sizeof(valise_tool),
    .name = "look_up",
    .description = "What the notes of the shop say.",
    .parameters = "{\"type\":\"object\",\"required\":[\"about\"],"
                  "\"properties\":{\"about\":{\"type\":\"string\"}}}",
    .self = note,
    .call = look_up,
};

/* ---- node types ---- */

/* Which way it goes on: a model would be asked here. */
static int chat_post(void *node, valise_node_run *run, valise_error *err)
{
    valise_blob *question = NULL;
    int rc = valise_unpack_required(&question, valise_node_backpack(run), "question", err);
    bool known;

    (void)node;
    if (rc < 0)
        return rc;
    known = !has(valise_blob_bytes(question), "lamp");
    valise_blob_unref(question);
    return valise_node_act(run, known ? "direct_answer" : "needs_search", err);
}

static int summary_post(void *node, valise_node_run *run, valise_error *err)
{
    valise_backpack *bag = valise_node_backpack(run);
    valise_blob *found = NULL;
    int rc = valise_unpack(&found, bag, "found", err);

    (void)node;
    if (rc >= 0)
        rc = valise_pack_str(NULL, bag, valise_str_of("summary"),
                             rc > 0 ? valise_blob_bytes(found) : valise_str_of("\"Four.\""), NULL,
                             err);
    valise_blob_unref(found);
    return rc;
}

static const char *const ways[] = {"needs_search", "direct_answer", NULL};

static const valise_node_type chat = {.size = sizeof(valise_node_type),
                                      .name = "ChooseNode",
                                      .brief = "Chooses whether to search.",
                                      .segment = "chat",
                                      .actions = ways,
                                      .post = chat_post};

static const valise_node_type summary = {.size = sizeof(valise_node_type),
                                         .name = "SummaryNode",
                                         .brief = "Says what was found.",
                                         .segment = "summary",
                                         .post = summary_post};

/* ---- the flow ---- */

static int make(valise_flow **out, valise *v, valise_error *err)
{
    static const valise_service services[] = {{"look_up", VALISE_SERVICE_TOOL, &notes}, {0}};
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    valise_flow *flow = NULL, *agent = NULL;
    int rc;

    options.services = services;
    rc = valise_flow_new(&flow, v, "sales", &options, err);
    if (rc == 0)
        rc = valise_flow_add_subflow(&agent, flow, "{\"namespace\":\"researchAgent\"}", err);
    if (rc == 0)
        rc = valise_flow_add_node(agent, &chat, "{\"id\":\"chat\"}", err);
    if (rc == 0)
        rc =
            valise_flow_add_node(agent, NULL,
                                 "{\"id\":\"search\",\"type\":\"ToolExecutionNode\",\"params\":"
                                 "{\"tool\":\"look_up\",\"arguments\":{\"about\":\"{{question}}\"},"
                                 "\"into\":\"found\"}}",
                                 err);
    if (rc == 0)
        rc = valise_flow_add_node(agent, &summary, "{\"id\":\"summary\"}", err);
    if (rc == 0)
        rc = valise_flow_on(agent, "chat", "needs_search", "search", err);
    if (rc == 0)
        rc = valise_flow_on(agent, "chat", "direct_answer", "summary", err);
    if (rc == 0)
        rc = valise_flow_next(agent, "search", "summary", err);
    if (rc == 0)
        *out = flow;
    else
        valise_flow_free(flow);
    return rc;
}

/* ---- running it ---- */

static int on_node(void *arg, const valise_event *event, valise_error *err)
{
    (void)arg;
    (void)err;
    printf("%-22.*s %.*s\n", VALISE_STR_ARG(event->node_id), VALISE_STR_ARG(event->namespace_name));
    return 0;
}

static int run(valise *v, valise_flow *flow, const char *question, valise_error *err)
{
    static const char *const types[] = {"flow:NODE_START", NULL};
    const valise_follow follow = {.size = sizeof(follow),
                                  .filter = {.size = sizeof(valise_filter), .types = types},
                                  .live = true,
                                  .fn = on_node};
    valise_subscription *nodes = NULL;
    valise_backpack *bag = NULL;
    valise_blob *answer = NULL;
    char json[1000];
    int rc = valise_backpack_open(&bag, v, "run-1", NULL, err);

    snprintf(json, sizeof(json), "\"%s\"", question); /* with quotes in it, it is refused */
    if (rc == 0)
        rc = valise_pack(NULL, bag, "question", json, NULL, err);
    if (rc == 0)
        rc = valise_subscribe(&nodes, v, &follow, err);
    if (rc == 0)
        rc = valise_flow_run(NULL, NULL, flow, bag, NULL, err);
    if (rc == 0)
        rc = valise_unpack_required(&answer, bag, "summary", err);
    if (rc >= 0)
        printf("%.*s\n", VALISE_STR_ARG(valise_blob_bytes(answer)));
    valise_blob_unref(answer);
    valise_unsubscribe(nodes);
    valise_backpack_close(bag);
    return rc < 0 ? rc : 0;
}

int main(int argc, char **argv)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_flow *flow = NULL;
    valise *v = NULL;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: example-flow QUESTION\n");
        return 2;
    }
    rc = valise_open(&v, ":memory:", NULL, &err);
    if (rc == 0)
        rc = make(&flow, v, &err);
    if (rc == 0)
        rc = run(v, flow, argv[1], &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_flow_free(flow);
    valise_close(v);
    return rc < 0;
}
