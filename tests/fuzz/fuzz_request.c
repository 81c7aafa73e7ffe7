/* fuzz_request.c -- any bytes as a request, an answer or a stream of any adapter: what comes of an
 * answer is what a turn takes, the same in any cut; a request that can be read is linted, and what
 * can be sent of it again is a request in which lint finds nothing. [P11] [P13] [Q20]
 *
 * The first line says which: "openai request", "openai answer", "openai stream". */
#include "fuzz/fuzz.h"

#include "chat/blocks.h"
#include "wire/lint.h"

#define ARENA_MAX ((size_t)256 << 20)

/* ---- answers ---- */

/* Append the text of the blocks. */
static void check_blocks(vls_buf *out, vls_json blocks)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    vls_blocks read;
    size_t from = out->len;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    FUZZ_CHECK(vls_json_write(out, blocks, NULL) == 0);
    FUZZ_CHECK(vls_blocks_read(&read, &arena, vls_str_from(vls_buf_str(out), from), NULL) == 0);
    FUZZ_CHECK(read.unknown == 0);
}

static void run_answer(const vls_adapter *adapter, valise_str body)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    valise_error err = VALISE_ERROR_INIT;
    vls_answer answer;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    vls_buf_init(&text, valise_env_default(), (size_t)1 << 26);
    if (vls_answer_read(&answer, &arena, adapter, body, &err) < 0)
        FUZZ_CHECK(err.message[0]);
    else
        check_blocks(&text, answer.blocks);
}

static void run_stream(vls_buf *out, const vls_adapter *adapter, valise_str bytes, size_t cut)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(stream) vls_stream *stream = NULL;
    valise_error err = VALISE_ERROR_INIT;
    vls_answer answer;
    int rc = 0;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    vls_buf_init(out, valise_env_default(), (size_t)1 << 26);
    FUZZ_CHECK(vls_stream_new(&stream, valise_env_default(), adapter, NULL, NULL, NULL) == 0);
    for (size_t at = 0; rc == 0 && at < bytes.len; at += cut)
        rc = vls_stream_feed(stream, vls_str_head(vls_str_from(bytes, at), cut), &err);
    if (rc == 0)
        rc = vls_stream_finish(stream, &err);
    FUZZ_CHECK(rc == 0 || err.message[0]);
    FUZZ_CHECK(vls_stream_answer(&answer, &arena, stream, NULL) == 0);
    check_blocks(out, answer.blocks);
    vls_buf_printf(out, "%d %d", rc, answer.partial);
}

static void run_streams(const vls_adapter *adapter, valise_str bytes)
{
    VLS_AUTO(buf) vls_buf whole = {.env = NULL}, pieces = {.env = NULL};

    run_stream(&whole, adapter, bytes, bytes.len + 1);
    run_stream(&pieces, adapter, bytes, 1);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&whole), vls_buf_str(&pieces)));
}

/* ---- requests ---- */

/* What was read can be sent again, repaired. */
static void write_again(const vls_adapter *adapter, vls_json neutral, vls_arena *arena)
{
    VLS_AUTO(wire) vls_wire wire = {.env = NULL};
    const vls_json_limits limits = {.around = VLS_JSON_MAX_AROUND};
    vls_neutral prompt = {.context = 0};
    vls_plan plan = {.arena = NULL};
    vls_json back = vls_json_null();
    vls_findings found = VLS_VEC_INIT;
    vls_wire_write how = {.stream = true};

    if (vls_neutral_of(&prompt, neutral, NULL) < 0 ||
        vls_plan_make(&plan, arena, adapter, &prompt, (valise_str){NULL, 0}, NULL) < 0)
        return;
    vls_wire_init(&wire, arena->env);
    if (adapter->write(&wire, &plan, &how, NULL) < 0)
        return;
    FUZZ_CHECK(vls_json_parse(&back, arena, vls_buf_str(&wire.text), &limits, NULL) == 0);
    FUZZ_CHECK(vls_lint_request(&found, arena, adapter, back, NULL) == 0);
    for (size_t i = 0; i < found.len; i++)
        fprintf(stderr, "%s %.*s\n", found.ptr[i].rule, VALISE_STR_ARG(found.ptr[i].place));
    FUZZ_CHECK(found.len == 0);
}

static void run_request(const vls_adapter *adapter, valise_str body)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    const vls_json_limits limits = {.around = VLS_NEUTRAL_AROUND};
    valise_error err = VALISE_ERROR_INIT;
    vls_json request = vls_json_null(), neutral = vls_json_null();
    vls_findings found = VLS_VEC_INIT;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    if (!adapter->read || vls_json_parse(&request, &arena, body, &limits, NULL) < 0)
        return;
    if (vls_lint_request(&found, &arena, adapter, request, &err) < 0)
        FUZZ_CHECK(err.message[0]);
    else if (adapter->read(&neutral, &arena, adapter, request, NULL) == 0)
        write_again(adapter, neutral, &arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_str line, rest, name, mode;
    const vls_adapter *adapter;

    if (!vls_str_cut(&line, &rest, vls_str(data, size), '\n') ||
        !vls_str_cut(&name, &mode, line, ' '))
        return 0;
    adapter = vls_adapter_find(name);
    if (!adapter)
        return 0;
    if (vls_str_equal(mode, VLS_STR("request")))
        run_request(adapter, rest);
    else if (vls_str_equal(mode, VLS_STR("answer")))
        run_answer(adapter, rest);
    else
        run_streams(adapter, rest);
    return 0;
}
