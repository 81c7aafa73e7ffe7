/* fuzz_answer.c -- any bytes as an answer, whole or as a stream, or as the arguments of a call:
 * what comes of it is what a turn takes, the same in any cut, and words of a refusal are harmless.
 * [P11]
 *
 * The first byte says which: 'w' a whole one, 'a' arguments, else a stream. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/utf8.h"
#include "chat/blocks.h"
#include "unit/wire/toy.c"

#define ARENA_MAX ((size_t)1 << 28)

static void check_error(const valise_error *err)
{
    valise_str message = valise_str_of(err->message);

    FUZZ_CHECK(message.len > 0 && vls_utf8_valid(message));
}

/* Append the text of the blocks. */
static void check_blocks(vls_buf *out, vls_json blocks)
{
    vls_arena arena;
    vls_blocks read;
    size_t from = out->len;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    FUZZ_CHECK(vls_json_write(out, blocks, NULL) == 0);
    FUZZ_CHECK(vls_blocks_read(&read, &arena, vls_str_from(vls_buf_str(out), from), NULL) == 0);
    FUZZ_CHECK(read.unknown == 0);
    vls_arena_release(&arena);
}

static int check_piece(void *arg, const vls_piece *piece, valise_error *err)
{
    size_t *said = arg;

    (void)err;
    FUZZ_CHECK(vls_utf8_valid(piece->text) && vls_utf8_valid(piece->name));
    FUZZ_CHECK(piece->kind == VLS_SAID_CALL ? piece->name.len > 0 || piece->text.len > 0
                                            : piece->text.len > 0);
    *said += piece->text.len;
    return 0;
}

static void run_stream(vls_buf *out, valise_str bytes, size_t cut)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_stream *stream = NULL;
    vls_arena arena;
    vls_answer answer;
    size_t said = 0;
    int rc = 0;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    vls_buf_init(out, valise_env_default(), (size_t)1 << 26);
    FUZZ_CHECK(vls_stream_new(&stream, valise_env_default(), &toy, check_piece, &said, NULL) == 0);
    for (size_t at = 0; rc == 0 && at < bytes.len; at += cut)
        rc = vls_stream_feed(stream, vls_str_head(vls_str_from(bytes, at), cut), &err);
    if (rc == 0)
        rc = vls_stream_finish(stream, &err);
    if (rc < 0)
        check_error(&err);
    FUZZ_CHECK(vls_stream_answer(&answer, &arena, stream, NULL) == 0);
    FUZZ_CHECK(answer.partial == !vls_stream_has_ended(stream));
    vls_stream_free(stream);
    check_blocks(out, answer.blocks);
    vls_buf_printf(out, "%d %d %zu", rc, answer.partial, said);
    vls_arena_release(&arena);
}

static void run_whole(valise_str body)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_arena arena;
    vls_answer answer;
    vls_buf text;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    vls_buf_init(&text, valise_env_default(), (size_t)1 << 26);
    if (vls_answer_read(&answer, &arena, &toy, body, &err) < 0)
        check_error(&err);
    else
        check_blocks(&text, answer.blocks);
    vls_buf_release(&text);
    vls_arena_release(&arena);
}

/* In a call that is one otherwise. */
static void run_args(valise_str raw)
{
    vls_arena arena;
    vls_json block, blocks;
    vls_buf text;

    vls_arena_init(&arena, valise_env_default(), ARENA_MAX);
    vls_buf_init(&text, valise_env_default(), (size_t)1 << 26);
    FUZZ_CHECK(vls_json_parse(&block, &arena,
                              VLS_STR("{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"n\"}"),
                              NULL, NULL) == 0);
    FUZZ_CHECK(vls_answer_args(&block, &arena, "toys", raw, NULL) == 0);
    blocks = vls_json_array(&block, 1);
    check_blocks(&text, blocks);
    vls_buf_release(&text);
    vls_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_str bytes = vls_str_from(vls_str(data, size), 1);
    vls_buf whole, pieces;

    if (size == 0)
        return 0;
    if (data[0] == 'w') {
        run_whole(bytes);
    } else if (data[0] == 'a') {
        run_args(bytes);
    } else {
        run_stream(&whole, bytes, bytes.len + 1);
        run_stream(&pieces, bytes, 1);
        FUZZ_CHECK(vls_str_equal(vls_buf_str(&whole), vls_buf_str(&pieces)));
        vls_buf_release(&whole);
        vls_buf_release(&pieces);
    }
    return 0;
}
