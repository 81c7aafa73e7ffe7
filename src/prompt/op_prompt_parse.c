/* op_prompt_parse.c -- prompt:parse, what a model said, as turn:add takes it. [P11] */
#include "bus/bus.h"
#include "json/make.h"
#include "prompt/rows.h"
#include "store/view.h"
#include "wire/adapter.h"

typedef struct parse_args {
    valise_str provider;
    valise_content response, stream;
} parse_args;

static const valise_field parse_in[] = {
    VALISE_FIELD_WITH(parse_args, provider, STR, VALISE_REQUIRED,
                      "The provider it is from, such as anthropic.", .min = 1,
                      .max = VLS_ADAPTER_NAME_MAX, .ref = "cli.adapter"),
    VALISE_FIELD(parse_args, response, TEXT, VALISE_NULLABLE | VALISE_POSITIONAL | VALISE_FILE,
                 "A file with a whole response."),
    VALISE_FIELD(parse_args, stream, DATA, VALISE_NULLABLE | VALISE_FILE,
                 "Instead: a stream as it was received: server-sent events, or frames of Bedrock."),
    VALISE_FIELD_END,
};

static const valise_field usage_fields[] = {
    VALISE_FIELD(vls_usage, input, INT, VALISE_NULLABLE, "Tokens of the prompt."),
    VALISE_FIELD(vls_usage, output, INT, VALISE_NULLABLE, "Tokens of the answer, with reasoning."),
    VALISE_FIELD_AS(vls_usage, cache_read, "cacheRead", INT, VALISE_NULLABLE,
                    "Of the prompt: read from a cache."),
    VALISE_FIELD_AS(vls_usage, cache_write, "cacheWrite", INT, VALISE_NULLABLE,
                    "Of the prompt: written to a cache."),
    VALISE_FIELD(vls_usage, reasoning, INT, VALISE_NULLABLE, "Of the answer: reasoning."),
    VALISE_FIELD_END,
};
static const valise_struct usage_struct = {sizeof(vls_usage), usage_fields};
static const valise_field dropped_item = {.type = VALISE_T_STR};

typedef struct parse_result {
    valise_content blocks;
    int64_t stop;
    valise_str stop_text, model, id;
    const vls_usage *usage;
    bool partial;
    valise_list dropped;
} parse_result;

static const valise_field parse_out[] = {
    VALISE_FIELD(parse_result, blocks, VALUE, VALISE_REQUIRED, "Blocks, as turn:add takes them."),
    VALISE_FIELD_WITH(parse_result, stop, ENUM, VALISE_REQUIRED, "Why the model stopped.",
                      .more = vls_stops),
    VALISE_FIELD_AS(parse_result, stop_text, "stopText", STR, VALISE_NULLABLE,
                    "The same in the provider's word."),
    VALISE_FIELD(parse_result, model, STR, VALISE_NULLABLE, "The model that answered."),
    VALISE_FIELD(parse_result, id, STR, VALISE_NULLABLE, "What the provider calls the answer."),
    VALISE_FIELD_WITH(parse_result, usage, STRUCT, VALISE_REQUIRED, "What it cost.",
                      .more = &usage_struct),
    VALISE_FIELD(parse_result, partial, BOOL, VALISE_REQUIRED,
                 "The stream did not come to its end."),
    VALISE_FIELD_WITH(parse_result, dropped, LIST, 0, "Kinds of parts that have no block.",
                      .more = &dropped_item),
    VALISE_FIELD_END,
};

static int read_stream(vls_answer *out, valise_view *view, const vls_adapter *adapter,
                       valise_str bytes, valise_error *err)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    int rc = vls_stream_new(&stream, view->arena.env, adapter, NULL, NULL, err);

    if (rc == 0)
        rc = vls_stream_feed(stream, bytes, err);
    if (rc == 0)
        rc = vls_stream_finish(stream, err);
    return rc < 0 ? rc : vls_stream_answer(out, &view->arena, stream, err);
}

static int read_any(vls_answer *out, valise_view *view, const parse_args *args,
                    const vls_adapter *adapter, valise_error *err)
{
    const bool whole = args->response.bytes.ptr != NULL;

    if (whole == (args->stream.bytes.ptr != NULL)) {
        (void)vls_fail(err, VALISE_E_INVALID, "give either a response or a stream");
        vls_hint(err, "valise prompt parse --provider %s FILE, or --stream FILE", adapter->name);
        return VALISE_E_INVALID;
    }
    return whole ? vls_answer_read(out, &view->arena, adapter, args->response.bytes, err)
                 : read_stream(out, view, adapter, args->stream.bytes, err);
}

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const parse_args *args = in;
    parse_result *out = result;
    const vls_adapter *adapter = NULL;
    vls_answer answer = {0};
    vls_usage *usage = NULL;
    int rc = vls_adapter_get(&adapter, args->provider, err);

    if (rc == 0)
        rc = read_any(&answer, view, args, adapter, err);
    if (rc < 0)
        return rc;
    usage = vls_arena_alloc(&view->arena, sizeof(*usage));
    if (!usage)
        return vls_arena_fail(&view->arena, err);
    rc = vls_json_text(&out->blocks.bytes, &view->arena, answer.blocks, err);
    if (rc < 0)
        return rc;
    *usage = answer.usage;
    out->blocks.size = (int64_t)out->blocks.bytes.len;
    out->stop = answer.stop;
    out->stop_text = answer.stop_text;
    out->model = answer.model;
    out->id = answer.id;
    out->usage = usage;
    out->partial = answer.partial;
    out->dropped = answer.dropped;
    return 0;
}

const valise_op vls_op_prompt_prompt_parse = {
    .size = sizeof(valise_op),
    .name = "prompt:parse",
    .brief = "Parse a provider's response into blocks of a turn.",
    .help = "Shows what the model said, why it stopped and what it cost. Opaque data of the "
            "provider stays with its block, so that it can be sent back. It needs no workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = parse_in,
    .in_size = sizeof(parse_args),
    .out = parse_out,
    .out_size = sizeof(parse_result),
    .query = query,
    .example = "{\"provider\":\"openai\",\"response\":\"{\\\"choices\\\":[{\\\"message\\\":"
               "{\\\"role\\\":\\\"assistant\\\",\\\"content\\\":\\\"Hi\\\"},"
               "\\\"finish_reason\\\":\\\"stop\\\"}]}\"}",
};
