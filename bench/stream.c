/* stream.c -- pieces of a streamed answer: each costs what its bytes cost, however many came. */
#define VLS_ALLOW_MALLOC
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/raw.h"
#include "wire/adapter.h"

#define PIECE                                                                                      \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"0123456789\"}}],"                   \
    "\"object\":\"chat.completion.chunk\"}\n\n"

static void feed(void *arg, size_t times)
{
    valise_error err = VALISE_ERROR_INIT;

    while (times--) {
        if (vls_stream_feed(arg, VLS_STR(PIECE), &err) < 0)
            raw_die(__FILE__, __LINE__, err.message);
    }
}

static void *start(size_t pieces)
{
    vls_stream *stream = NULL;

    if (vls_stream_new(&stream, valise_env_default(), &vls_adapter_openai, NULL, NULL, NULL) < 0)
        abort();
    feed(stream, pieces);
    return stream;
}

static void stop(void *arg)
{
    vls_stream_free(arg);
}

BENCH(stream)
{
    bench_growth(b, &(bench_growth_row){.name = "a piece of a streamed answer",
                                        .setup = start,
                                        .teardown = stop,
                                        .fn = feed,
                                        .sizes = {1000, 10000, 100000},
                                        .promised = 0,
                                        .cpu = true});
}
