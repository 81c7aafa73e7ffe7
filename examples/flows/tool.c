/* tool.c -- an agent with a tool that is a function of ours.
 *
 * The flow is a configuration; the model is a file of answers, so that it runs without a network:
 * leave `replay` out and a real one is asked. The model asks for the tool, is told that it failed,
 * asks again, and answers. */
#include <stdio.h>
#include <string.h>

#include <valise.h>
#include <valise/sys/tool.h>

static const char config[] =
    "{\"namespace\":\"shop\","
    "\"dependencies\":{"
    "  \"llm\":{\"client\":{\"provider\":\"openai\",\"model\":\"small-1\","
    "                     \"replay\":\"tool.answers.jsonl\"}},"
    "  \"stock\":{\"host\":true}},"
    "\"nodes\":["
    "  "
    "{\"id\":\"clerk\",\"type\":\"AgentNode\",\"params\":{\"client\":\"llm\",\"tools\":[\"stock\"],"
    "   \"system\":\"You are a clerk. Look things up.\",\"prompt\":\"{{question}}\"}},"
    "  {\"id\":\"done\",\"type\":\"FinalAnswerNode\"}],"
    "\"edges\":[{\"from\":\"clerk\",\"to\":\"done\"}]}";

static const struct {
    const char *item, *answer;
} shelf[] = {{"lamp", "{\"left\":12,\"euros\":29}"}, {"socket", "{\"left\":0,\"euros\":4}"}};

/* The schema was checked: there is an `item`, and it is a text. What fails here is told to the
 * model, and the flow goes on. */
static int look_up(void *self, valise_tool_call *call, valise_error *err)
{
    valise_blob *item = NULL;
    int rc = valise_json_get_text(&item, valise_tool_arguments(call), "/item", err);
    size_t i = 0, count = sizeof(shelf) / sizeof(shelf[0]);
    valise_str name;

    (void)self;
    if (rc < 0)
        return rc;
    name = valise_blob_bytes(item);
    while (i < count &&
           (strlen(shelf[i].item) != name.len || memcmp(shelf[i].item, name.ptr, name.len) != 0))
        i++;
    printf("asked for '%.*s'\n", VALISE_STR_ARG(name));
    if (i < count) {
        rc = valise_tool_answer(call, valise_str_of(shelf[i].answer), err);
    } else {
        rc = valise_error_set(err, VALISE_E_NOT_FOUND, "we have no '%.*s'", VALISE_STR_ARG(name));
    }
    valise_blob_unref(item);
    return rc;
}

static const valise_tool stock = {
    .size = sizeof(valise_tool),
    .name = "stock",
    .description = "How many of a thing there are, and what one costs in euros.",
    .parameters = "{\"type\":\"object\",\"required\":[\"item\"],"
                  "\"properties\":{\"item\":{\"type\":\"string\"}}}",
    .call = look_up,
};

static int run(valise *v, valise_backpack *bag, valise_error *err)
{
    static const valise_service services[] = {{"stock", VALISE_SERVICE_TOOL, &stock}, {0}};
    valise_flow_options options = VALISE_FLOW_OPTIONS_INIT;
    valise_flow_run_options start = VALISE_FLOW_RUN_OPTIONS_INIT;
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    valise_flow *flow = NULL;
    valise_blob *answer = NULL;
    int rc;

    options.services = services;
    start.items = "{\"question\":\"What do three lamps cost?\"}";
    rc = valise_flow_from_config(&flow, v, valise_str_of(config), NULL, &options, err);
    if (rc == 0)
        rc = valise_flow_run(&result, NULL, flow, bag, &start, err);
    if (rc == 0)
        rc = valise_unpack_required(&answer, bag, "finalAnswer", err);
    if (rc == 0)
        printf("%s\nin %lld steps\n", valise_blob_text(answer), (long long)result.steps);
    valise_blob_unref(answer);
    valise_flow_free(flow);
    return rc;
}

int main(void)
{
    valise_error err = VALISE_ERROR_INIT;
    valise_backpack *bag = NULL;
    valise *v = NULL;
    int rc = valise_open(&v, ":memory:", NULL, &err);

    if (rc == 0)
        rc = valise_backpack_open(&bag, v, "run-1", NULL, &err);
    if (rc == 0)
        rc = run(v, bag, &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.message);
    valise_backpack_close(bag);
    valise_close(v);
    return rc < 0;
}
