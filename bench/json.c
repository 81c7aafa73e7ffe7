/* json.c -- parsing and writing, against SHA-256 and memcpy of the same bytes.
 *
 * SHA-256 of the same bytes is what content addressing costs anyway. The bars come from the
 * fastest C parser that was measured (docs/performance.md): half its speed on 1 KB, 0.4 of it on
 * 1 MB, with UTF-8 checked, duplicates refused and keys sorted. */
#include <openssl/evp.h>

#include "bench/bench.h"

#include "json/json.h"

typedef struct state {
    vls_arena arena;
    vls_buf out;
    valise_str text;
    vls_json value;
    EVP_MD *md;
    EVP_MD_CTX *ctx;
    char *copy;
} state;

/* About 1 KB: an event as agents write them. Keys are not in order. */
static void add_event(vls_buf *out, int n)
{
    vls_buf_printf(
        out,
        "{\"id\":\"0192f0c1-7b3a-7d2e-9c41-%012d\",\"type\":\"tool_result\",\"timestamp\":"
        "1731650400%03d,\"sessionId\":\"0192f0c1-7b3a-7d2e-9c41-aa55aa55aa55\",\"actor\":{\"id\":"
        "\"researcher\",\"role\":\"writer\",\"capabilities\":[\"backpack:read\",\"backpack:write\","
        "\"context:read\"]},\"payload\":{\"callId\":\"call_%d\",\"name\":\"search_documents\","
        "\"arguments\":{\"query\":\"state engines for agents\",\"limit\":20,\"offset\":%d,"
        "\"filters\":{\"lang\":\"en\",\"minScore\":0.75,\"tags\":[\"storage\",\"git\",\"agents\"]}}"
        ","
        "\"result\":[{\"title\":\"Merkle trees in practice\",\"score\":0.9312,\"url\":"
        "\"https://example.org/docs/merkle?page=%d\"},{\"title\":\"Append-only logs, explained\","
        "\"score\":0.8871,\"url\":\"https://example.org/docs/logs\"},{\"title\":\"Caf\u00e9 notes "
        "\\u2014 draft\",\"score\":0.5,\"url\":null}],\"text\":\"Found 3 documents.\\nThe first "
        "one "
        "explains how a tree of hashes lets you compare two directories without reading them; the "
        "second is about logs.\\nNothing else matched the "
        "filter.\"},\"usage\":{\"inputTokens\":1834,"
        "\"outputTokens\":212,\"cached\":true,\"costUsd\":0.00421},\"tags\":[],\"parent\":null}",
        n, n % 1000, n, n * 20, n);
}

static void set_up(state *s, size_t bytes)
{
    const valise_env *env = valise_env_default();
    static vls_buf text; /* kept for the whole run */

    *s = (state){0};
    vls_buf_init(&text, env, SIZE_MAX);
    if (bytes <= 2048) {
        add_event(&text, 1);
    } else {
        vls_buf_add_byte(&text, '[');
        for (int n = 0; text.len < bytes; n++) {
            if (n > 0)
                vls_buf_add_byte(&text, ',');
            add_event(&text, n);
        }
        vls_buf_add_byte(&text, ']');
    }
    s->text = vls_buf_str(&text);
    vls_arena_init(&s->arena, env, SIZE_MAX);
    vls_buf_init(&s->out, env, SIZE_MAX);
    s->md = EVP_MD_fetch(NULL, "SHA256", NULL);
    s->ctx = EVP_MD_CTX_new();
    vls_buf copy;
    vls_buf_init(&copy, env, SIZE_MAX);
    s->copy = vls_buf_reserve(&copy, text.len);
    if (!s->md || !s->ctx || !s->copy || text.failed)
        abort();
}

static void parse(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_arena_reset(&s->arena);
        if (vls_json_parse(&s->value, &s->arena, s->text, NULL, NULL) < 0)
            abort();
        bench_use(&s->value);
    }
}

static void write_canonical(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        vls_buf_clear(&s->out);
        if (vls_json_write(&s->out, s->value, NULL) < 0)
            abort();
        bench_use(s->out.ptr);
    }
}

static void parse_and_write(void *arg, size_t times)
{
    while (times--) {
        parse(arg, 1);
        write_canonical(arg, 1);
    }
}

static void sha256(void *arg, size_t times)
{
    state *s = arg;
    unsigned char digest[32];

    while (times--) {
        EVP_DigestInit_ex2(s->ctx, s->md, NULL);
        EVP_DigestUpdate(s->ctx, s->text.ptr, s->text.len);
        EVP_DigestFinal_ex(s->ctx, digest, NULL);
        bench_use(digest);
    }
}

static void copy_bytes(void *arg, size_t times)
{
    state *s = arg;

    while (times--) {
        memcpy(s->copy, s->text.ptr, s->text.len);
        bench_use(s->copy);
    }
}

static void rows(bench *b, size_t bytes, const char *const names[4], double bar)
{
    static state s;

    set_up(&s, bytes);
    bench_compare(b, &(bench_row){.name = names[0],
                                  .ours = parse_and_write,
                                  .baseline = sha256,
                                  .against = "SHA-256 of the text",
                                  .arg = &s,
                                  .at_most = bar,
                                  .bytes = s.text.len});
    bench_compare(b, &(bench_row){.name = names[1],
                                  .ours = parse,
                                  .baseline = sha256,
                                  .against = "SHA-256 of the text",
                                  .arg = &s,
                                  .bytes = s.text.len});
    bench_compare(b, &(bench_row){.name = names[2],
                                  .ours = write_canonical,
                                  .baseline = sha256,
                                  .against = "SHA-256 of the text",
                                  .arg = &s,
                                  .bytes = s.text.len});
    bench_compare(b, &(bench_row){.name = names[3],
                                  .ours = parse_and_write,
                                  .baseline = copy_bytes,
                                  .against = "memcpy of the text",
                                  .arg = &s,
                                  .bytes = s.text.len});
}

BENCH(json)
{
    rows(b, 1024,
         (const char *const[]){"1 KB, parse + canonical write", "1 KB, parse", "1 KB, write",
                               "1 KB, parse + write"},
         2.7);
    rows(b, 1 << 20,
         (const char *const[]){"1 MB, parse + canonical write", "1 MB, parse", "1 MB, write",
                               "1 MB, parse + write"},
         3.5);
}
