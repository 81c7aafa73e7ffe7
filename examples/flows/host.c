/* host.c -- a flow that is made in C: a node type of our own, two that are built in, and edges.
 *
 * It is run twice, with a question that needs a search and with one that does not. What is printed
 * is who packed what: namespaces are made of segments, so that a type can be used anywhere. */
#include <stdio.h>
#include <string.h>

#include <valise.h>
#include <valise/sys/node.h>

/* ---- a node type: `post` packs what came of it, and chooses where it goes on ---- */

/* A model would be asked here. */
static int chat_post(void *node, valise_node_run *run, valise_error *err)
{
    valise_backpack *bag = valise_node_backpack(run); /* a view of its own; not to be closed */
    valise_blob *question = NULL;
    bool search;
    int rc = valise_unpack_required(&question, bag, "question", err);

    (void)node;
    if (rc < 0)
        return rc;
    search = strstr(valise_blob_text(question), "lamp") != NULL;
    valise_blob_unref(question);
    if (search)
        return valise_node_act(run, "needs_search", err);
    rc = valise_pack_text(NULL, bag, "found", "four", NULL, err);
    return rc < 0 ? rc : valise_node_act(run, "direct_answer", err);
}

static const char *const ways[] = {"needs_search", "direct_answer", NULL};
static const valise_node_type chat = {
    .size = sizeof(valise_node_type),
    .name = "ChooseNode",
    .brief = "Answers, or has it looked up.",
    .segment = "chat",
    .actions = ways,
    .post = chat_post,
};

/* What is built in is given as in a configuration. */
static const char search[] = "{\"id\":\"search\",\"type\":\"SetNode\",\"params\":{\"values\":"
                             "{\"found\":\"a lamp lasts 15,000 hours\"}}}";
static const char summary[] = "{\"id\":\"summary\",\"type\":\"SetNode\",\"params\":{\"values\":"
                              "{\"summary\":\"It is so: {{found}}.\"}}}";

/* ---- the flow: `agent` is a flow within the flow, and belongs to it ---- */

static int make(valise_flow *flow, valise_error *err)
{
    valise_flow *agent = NULL;
    int rc = valise_flow_add_subflow(&agent, flow, "{\"namespace\":\"researchAgent\"}", err);

    if (rc == 0)
        rc = valise_flow_add_node(agent, &chat, "{\"id\":\"chat\"}", err);
    if (rc == 0)
        rc = valise_flow_add_node(agent, NULL, search, err);
    if (rc == 0)
        rc = valise_flow_add_node(agent, NULL, summary, err);
    if (rc == 0)
        rc = valise_flow_on(agent, "chat", "needs_search", "search", err);
    if (rc == 0)
        rc = valise_flow_on(agent, "chat", "direct_answer", "summary", err);
    return rc < 0 ? rc : valise_flow_next(agent, "search", "summary", err);
}

static int print(void *arg, const valise_commit *commit, valise_error *err)
{
    (void)arg, (void)err;
    printf("%-28.*s %-9.*s %.*s\n", VALISE_STR_ARG(commit->namespace_name),
           VALISE_STR_ARG(commit->key), VALISE_STR_ARG(commit->summary));
    return 0;
}

/* ---- running it, on a backpack ---- */

static int run(valise *v, valise_flow *flow, const char *name, const char *question,
               valise_error *err)
{
    valise_history all = VALISE_HISTORY_INIT;
    valise_backpack *bag = NULL;
    int rc = valise_backpack_open(&bag, v, name, NULL, err);

    if (rc == 0)
        rc = valise_pack_text(NULL, bag, "question", question, NULL, err);
    if (rc == 0)
        rc = valise_flow_run(NULL, NULL, flow, bag, NULL, err);
    all.oldest_first = true;
    if (rc == 0)
        rc = valise_history_each(bag, &all, print, NULL, err);
    valise_backpack_close(bag);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_flow *flow = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_flow_new(&flow, v, "sales", NULL, &err);
    if (rc == 0)
        rc = make(flow, &err);
    if (rc == 0)
        rc = run(v, flow, "run-1", "How long does a lamp last?", &err);
    if (rc == 0)
        rc = run(v, flow, "run-2", "What is two and two?", &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_flow_free(flow);
    valise_close(v);
    return rc < 0;
}
