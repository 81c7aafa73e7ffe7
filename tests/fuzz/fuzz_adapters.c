/* fuzz_adapters.c -- any bytes as an answer of any provider, whole or as a stream. [Q20] [P11]
 *
 * The first byte says which adapter, the second which of both. What comes of it can be said in the
 * next prompt, and the body of that is one in which lint finds nothing. */
#include "fuzz/fuzz.h"

#include "wire/adapter.h"

#define MEMORY ((size_t)64 << 20)

static const vls_adapter *pick(uint8_t byte)
{
    size_t count = 0;

    while (vls_adapters[count])
        count++;
    return vls_adapters[byte % count];
}

static void try_prompt(const vls_adapter *adapter, vls_arena *arena, valise_str text)
{
    static const char *const models[] = {"claude-opus-5", "gemini-3-pro", "o3",
                                         "anthropic.claude-3"};
    VLS_AUTO(wire) vls_wire wire;
    valise_error err = VALISE_ERROR_INIT;
    vls_findings found = VLS_VEC_INIT;
    vls_neutral prompt;
    vls_plan plan;
    vls_json body = vls_json_null();
    valise_str model = valise_str_of(models[text.len % VLS_COUNT(models)]);

    vls_wire_init(&wire, arena->env);
    FUZZ_CHECK(vls_neutral_read(&prompt, arena, text, &err) == 0);
    if (vls_plan_make(&plan, arena, adapter, &prompt, model, &err) < 0 ||
        adapter->write(&wire, &plan, &(vls_wire_write){.no_cache = text.len % 2}, &err) < 0) {
        FUZZ_CHECK(err.message[0]);
        return;
    }
    FUZZ_CHECK(vls_json_parse(&body, arena, vls_buf_str(&wire.text),
                              &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, &err) == 0);
    FUZZ_CHECK(vls_lint_request(&found, arena, adapter, body, &err) == 0);
    for (size_t i = 0; i < found.len; i++)
        fprintf(stderr, "%s: %s %s\n", adapter->name, found.ptr[i].rule, found.ptr[i].what);
    FUZZ_CHECK(found.len == 0);
}

/* What was answered can be said in the next prompt. */
static void try_back(const vls_adapter *adapter, vls_arena *arena, const vls_answer *answer)
{
    vls_buf prompt;

    FUZZ_CHECK(answer->blocks.type == VLS_JSON_ARRAY && answer->blocks.len > 0);
    vls_buf_init_in(&prompt, arena, MEMORY / 2);
    vls_buf_add_text(&prompt, "{\"version\":1,\"messages\":[{\"role\":\"user\",\"blocks\":[{"
                              "\"type\":\"text\",\"text\":\"Go.\"}]},{\"role\":\"assistant\","
                              "\"blocks\":");
    FUZZ_CHECK(vls_json_write_around(&prompt, answer->blocks, NULL) == 0);
    vls_buf_add_text(&prompt, "}]}");
    try_prompt(adapter, arena, vls_buf_str(&prompt));
}

static void try_answer(const vls_adapter *adapter, vls_arena *arena, valise_str text)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_answer answer;

    if (vls_answer_read(&answer, arena, adapter, text, &err) < 0)
        FUZZ_CHECK(err.message[0]);
    else
        try_back(adapter, arena, &answer);
}

static void try_stream(const vls_adapter *adapter, vls_arena *arena, valise_str text)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    valise_error err = VALISE_ERROR_INIT;
    vls_answer answer;
    int rc;

    FUZZ_CHECK(vls_stream_new(&stream, arena->env, adapter, NULL, NULL, &err) == 0);
    rc = vls_stream_feed(stream, text, &err);
    if (rc == 0)
        rc = vls_stream_finish(stream, &err);
    FUZZ_CHECK(rc == 0 || err.message[0]);
    FUZZ_CHECK(vls_stream_answer(&answer, arena, stream, &err) == 0);
    try_back(adapter, arena, &answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vls_arena arena;
    const vls_adapter *adapter;
    valise_str text;

    if (size < 2)
        return 0;
    adapter = pick(data[0]);
    text = vls_str(data + 2, size - 2);
    vls_arena_init(&arena, valise_env_default(), MEMORY);
    if (data[1] % 2 == 0)
        try_answer(adapter, &arena, text);
    else
        try_stream(adapter, &arena, text);
    vls_arena_release(&arena);
    return 0;
}
