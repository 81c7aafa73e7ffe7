/* body_kit.c -- answers of the family of OpenAI, for tests (body_kit.h). */
#include "wire/body_kit.h"

#include "chat/blocks.h"
#include "harness/fault.h"

/* ---- answers ---- */

static const char *count_text(int64_t count)
{
    return count == VALISE_NONE ? "-" : test_format("%lld", (long long)count);
}

/* turn:add takes it. */
static void check_blocks(test *t, valise_str blocks)
{
    vls_arena arena;
    vls_blocks read;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    CHECK_OK(vls_blocks_read(&read, &arena, blocks, &t->err));
    CHECK_INT(0, read.unknown);
    vls_arena_release(&arena);
}

static const char *answer_text(test *t, vls_arena *arena, const vls_answer *answer)
{
    const vls_usage *u = &answer->usage;
    const valise_str *dropped = answer->dropped.items;
    vls_buf blocks;
    const char *text;

    vls_buf_init_in(&blocks, arena, (size_t)1 << 28);
    CHECK_OK(vls_json_write(&blocks, answer->blocks, &t->err));
    check_blocks(t, vls_buf_str(&blocks));
    text = test_format("%.*s\n%s%s %.*s %.*s %s/%s/%s/%s/%s", VALISE_STR_ARG(vls_buf_str(&blocks)),
                       vls_stops[answer->stop], answer->partial ? " partial" : "",
                       VALISE_STR_ARG(answer->model), VALISE_STR_ARG(answer->id),
                       count_text(u->input), count_text(u->output), count_text(u->cache_read),
                       count_text(u->cache_write), count_text(u->reasoning));
    for (size_t i = 0; i < answer->dropped.count; i++)
        text = test_format("%s [%.*s]", text, VALISE_STR_ARG(dropped[i]));
    return text;
}

const char *answer_of(test *t, const vls_adapter *adapter, const char *whole)
{
    vls_arena *arena = arena_of(t);
    vls_answer answer;

    CHECK_OK(vls_answer_read(&answer, arena, adapter, valise_str_of(quoted(whole)), &t->err));
    return answer_text(t, arena, &answer);
}

static const char *feed_in_two(test *t, const vls_adapter *adapter, valise_str bytes, size_t cut)
{
    vls_arena arena;
    vls_stream *stream = NULL;
    vls_answer answer;
    const char *text;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);

    CHECK_OK(vls_stream_new(&stream, t->env, adapter, NULL, NULL, &t->err));
    CHECK_OK(vls_stream_feed(stream, vls_str_head(bytes, cut), &t->err));
    /* What there is at any time is an answer. */
    CHECK_OK(vls_stream_answer(&answer, &arena, stream, &t->err));
    (void)answer_text(t, &arena, &answer);
    CHECK_OK(vls_stream_feed(stream, vls_str_from(bytes, cut), &t->err));
    CHECK_OK(vls_stream_finish(stream, &t->err));
    CHECK_OK(vls_stream_answer(&answer, &arena, stream, &t->err));
    text = answer_text(t, &arena, &answer);
    vls_stream_free(stream);
    vls_arena_release(&arena);
    return text;
}

const char *stream_of(test *t, const vls_adapter *adapter, const char *events)
{
    valise_str bytes = valise_str_of(quoted(events));
    const char *all = feed_in_two(t, adapter, bytes, bytes.len);

    for (size_t cut = 0; cut < bytes.len; cut++) {
        test_context("cut at %zu", cut);
        CHECK_TEXT(all, feed_in_two(t, adapter, bytes, cut));
        test_context_end();
    }
    return all;
}

const char *blocks_in(const char *answer)
{
    return test_format("%.*s", (int)(strchr(answer, '\n') - answer), answer);
}

/* ---- without memory ---- */

typedef struct attempt {
    const vls_adapter *adapter;
    const char *whole, *events;
} attempt;

static int hear_once(fault *f, vls_arena *arena, const attempt *a)
{
    VLS_AUTO(stream) vls_stream *stream = NULL;
    vls_answer answer;
    int rc = vls_answer_read(&answer, arena, a->adapter, valise_str_of(a->whole), &f->err);

    if (rc == 0)
        rc = vls_stream_new(&stream, f->env, a->adapter, NULL, NULL, &f->err);
    if (rc == 0)
        rc = vls_stream_feed(stream, valise_str_of(a->events), &f->err);
    return rc < 0 ? rc : vls_stream_answer(&answer, arena, stream, &f->err);
}

static int attempt_once(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};

    vls_arena_init(&arena, f->env, (size_t)1 << 28);
    return hear_once(f, &arena, arg);
}

void check_memory(test *t, const vls_adapter *adapter, const char *whole, const char *events)
{
    attempt a = {adapter, quoted(whole), quoted(events)};

    (void)fault_each_alloc(t, 0, attempt_once, &a);
}
