/* tokens.c -- estimating tokens, against a loop that looks at each byte once. [P16]
 *
 * The baseline adds up an entry of a table for each byte: the least anything can do that goes by
 * the class of each. The estimate must stay far from what reading a prompt from the store costs. */
#include "bench/bench.h"

#include "base/mem.h"
#include "base/tokens.h"

#define LARGE ((size_t)1 << 20)

typedef struct state {
    char *bytes;
    uint8_t table[256];
} state;

static void estimate(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        int64_t tokens = vls_tokens((valise_str){s->bytes, LARGE});
        bench_use(&tokens);
    }
}

static void plain_loop(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        uint64_t sum = 0;
        for (size_t i = 0; i < LARGE; i++)
            sum += s->table[(unsigned char)s->bytes[i]];
        bench_use(&sum);
    }
}

/* Words, numbers, lines and other scripts, in an order no branch predictor learns. */
static void fill(state *s)
{
    static const char *const parts[] = {
        "the ", "state",    " of an", "Agent",    " 2026",        "-11",  ", ",       "\n    ",
        "(x)",  "{\"id\":", "void *", "\xd1\x8f", "\xe4\xb8\xad", "ff0e", "\xc3\xbc", ". "};
    uint64_t seed = 16;
    size_t at = 0;

    while (at < LARGE) {
        const char *part = parts[(seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60];
        for (; *part && at < LARGE; part++)
            s->bytes[at++] = *part;
    }
    for (size_t i = 0; i < 256; i++)
        s->table[i] = (uint8_t)(i * 7);
}

BENCH(tokens)
{
    const valise_env *env = valise_env_default();
    state s = {.bytes = vls_mem_alloc(env, LARGE)};

    if (!s.bytes)
        abort();
    fill(&s);
    bench_compare(b, &(bench_row){.name = "tokens of 1 MB of text",
                                  .against = "a table's entry per byte",
                                  .requires = "P16",
                                  .arg = &s,
                                  .ours = estimate,
                                  .baseline = plain_loop,
                                  .at_most = 4,
                                  .cpu = true,
                                  .bytes = LARGE});
    vls_mem_free(env, s.bytes, LARGE);
}
