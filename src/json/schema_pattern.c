/* schema_pattern.c -- compiling patterns and matching them within limits.
 *
 * PCRE2 takes its memory from our environment. Its free() does not know sizes and ours wants
 * them, so each block carries its own:
 *
 *     +------+---------+------------------+
 *     | size | padding | what PCRE2 sees  |
 *     +------+---------+------------------+
 *
 * PCRE2 can limit the work of a match but not say how much a match took. So a match starts with
 * a small limit, which nearly always suffices, and is repeated with a larger one when it does
 * not; each limit that was used up is paid for in steps. Work and payment stay in proportion, and
 * the repeated part is small beside the last attempt. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h> /* before ours: system headers behind it mention malloc, which base.h bans */

#include "json/schema_impl.h"

#include "base/mem.h"
#include "base/utf8.h"

#define FIRST_MATCH_LIMIT 4096u
#define MATCH_LIMIT_GROWTH 8u
#define MATCH_UNITS_PER_STEP 8u
#define BYTES_PER_STEP 64u
#define HEAP_LIMIT_KIB (16u << 10)
#define MAX_NESTED_PARENTHESES 100u

struct vls_pattern {
    pcre2_code *code;
    valise_str source;
    vls_pattern *next;
};

typedef struct counted_block {
    size_t size;
    _Alignas(16) char bytes[];
} counted_block;

static void *take_memory(PCRE2_SIZE size, void *arg)
{
    const vls_pattern_pool *pool = arg;
    size_t whole;

    if (__builtin_add_overflow(size, sizeof(counted_block), &whole))
        return NULL;
    counted_block *block = vls_mem_alloc(pool->env, whole);
    if (!block)
        return NULL;
    block->size = whole;
    return block->bytes;
}

static void give_back(void *ptr, void *arg)
{
    const vls_pattern_pool *pool = arg;

    if (ptr) {
        counted_block *block =
            (counted_block *)(void *)((char *)ptr - offsetof(counted_block, bytes));
        vls_mem_free(pool->env, block, block->size);
    }
}

void vls_pattern_pool_init(vls_pattern_pool *pool, const valise_env *env)
{
    *pool = (vls_pattern_pool){.env = env};
}

void vls_pattern_pool_release(vls_pattern_pool *pool)
{
    for (vls_pattern *p = pool->patterns; p; p = p->next)
        pcre2_code_free(p->code);
    pool->patterns = NULL;
    if (pool->memory)
        pcre2_general_context_free(pool->memory);
    pool->memory = NULL;
}

valise_str vls_pattern_source(const vls_pattern *pattern)
{
    return pattern->source;
}

static int compile_failed(int number, PCRE2_SIZE at, valise_error *err)
{
    PCRE2_UCHAR text[160];

    if (number == PCRE2_ERROR_HEAP_FAILED)
        return vls_fail_memory(err);
    if (pcre2_get_error_message(number, text, sizeof(text)) < 0)
        text[0] = '\0';
    if (number == PCRE2_ERROR_PATTERN_TOO_LARGE ||
        number == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP || number == PCRE2_ERROR_QUANTIFIER_TOO_BIG)
        return vls_fail(err, VALISE_E_LIMIT, "the pattern: %s", (char *)text);
    if (number == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH ||
        number == PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED ||
        number == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY)
        return vls_fail(err, VALISE_E_UNSUPPORTED, "the pattern: %s", (char *)text);
    /* The offset is one into the translation and would mislead. */
    (void)at;
    return vls_fail(err, VALISE_E_INVALID, "the pattern: %s", (char *)text);
}

/* PCRE2 wants a pointer even to nothing. */
static PCRE2_SPTR bytes_of(valise_str s)
{
    return (PCRE2_SPTR)(const void *)(s.ptr ? s.ptr : "");
}

static int compile_code(pcre2_code **out, vls_pattern_pool *pool, valise_str text,
                        valise_error *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                             PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
    pcre2_compile_context *context = pcre2_compile_context_create(pool->memory);
    PCRE2_SIZE at = 0;
    int number = 0;

    if (!context)
        return vls_fail_memory(err);
    pcre2_set_parens_nest_limit(context, MAX_NESTED_PARENTHESES);
    pcre2_code *code = pcre2_compile(bytes_of(text), text.len, options, &number, &at, context);
    pcre2_compile_context_free(context);
    if (!code)
        return compile_failed(number, at, err);
    *out = code;
    return 0;
}

/* Keep a compiled pattern in the pool, if there is room. */
static int keep(const vls_pattern **out, vls_pattern_pool *pool, vls_arena *arena, pcre2_code *code,
                valise_str source, valise_error *err)
{
    vls_pattern *pattern = vls_arena_alloc(arena, sizeof(*pattern));
    size_t bytes = 0;

    if (!pattern)
        return vls_arena_fail(arena, err);
    if (pcre2_pattern_info(code, PCRE2_INFO_SIZE, &bytes) < 0 ||
        bytes > VLS_PATTERN_MAX_CODE - pool->code_bytes)
        return vls_fail(err, VALISE_E_LIMIT, "the patterns take more than %zu bytes together",
                        VLS_PATTERN_MAX_CODE);
    /* Machine code is an improvement, not a need: where there is none the interpreter runs. */
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    *pattern = (vls_pattern){code, source, pool->patterns};
    pool->patterns = pattern;
    pool->code_bytes += bytes;
    *out = pattern;
    return 0;
}

int vls_pattern_compile(const vls_pattern **out, vls_pattern_pool *pool, vls_arena *arena,
                        valise_str source, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text;
    pcre2_code *code = NULL;
    int rc;

    vls_buf_init(&text, pool->env, (size_t)16 * VLS_PATTERN_MAX_BYTES);
    if (source.len > VLS_PATTERN_MAX_BYTES)
        return vls_fail(err, VALISE_E_LIMIT, "the pattern is longer than %u bytes",
                        VLS_PATTERN_MAX_BYTES);
    if (!pool->memory)
        pool->memory = pcre2_general_context_create(take_memory, give_back, pool);
    if (!pool->memory)
        return vls_fail_memory(err);

    rc = vls_regex_translate(&text, source, err);
    if (rc == 0)
        rc = compile_code(&code, pool, vls_buf_str(&text), err);
    if (rc == 0)
        rc = keep(out, pool, arena, code, source, err);
    if (rc < 0)
        pcre2_code_free(code);
    return rc;
}

void vls_matcher_release(vls_matcher *matcher)
{
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->limit);
    *matcher = (vls_matcher){NULL, NULL};
}

static int prepare(vls_matcher *matcher, const vls_pattern_pool *pool, valise_error *err)
{
    if (!matcher->data)
        matcher->data = pcre2_match_data_create(1, pool->memory);
    if (!matcher->limit) {
        matcher->limit = pcre2_match_context_create(pool->memory);
        if (matcher->limit)
            pcre2_set_heap_limit(matcher->limit, HEAP_LIMIT_KIB);
    }
    return matcher->data && matcher->limit ? 0 : vls_fail_memory(err);
}

static int match_once(const vls_pattern *pattern, vls_matcher *matcher, valise_str text,
                      uint32_t limit)
{
    PCRE2_SPTR start = bytes_of(text);

    pcre2_set_match_limit(matcher->limit, limit);
    int number = pcre2_match(pattern->code, start, text.len, 0, 0, matcher->data, matcher->limit);
    /* Machine code has a small stack; the interpreter uses the heap. */
    if (number == PCRE2_ERROR_JIT_STACKLIMIT)
        number = pcre2_match(pattern->code, start, text.len, 0, PCRE2_NO_JIT, matcher->data,
                             matcher->limit);
    return number;
}

static int too_much_work(const vls_pattern *pattern, valise_error *err)
{
    return vls_fail(err, VALISE_E_LIMIT, "matching the pattern \"%.*s\" takes too much work",
                    VALISE_STR_ARG(vls_utf8_head(pattern->source, 160)));
}

static bool pay(uint64_t *steps, uint64_t price)
{
    if (*steps < price)
        return false;
    *steps -= price;
    return true;
}

int vls_pattern_match(bool *matches, const vls_pattern *pattern, const vls_pattern_pool *pool,
                      vls_matcher *matcher, valise_str text, uint64_t *steps, valise_error *err)
{
    uint32_t limit = FIRST_MATCH_LIMIT;
    int number, rc;

    rc = prepare(matcher, pool, err);
    if (rc < 0)
        return rc;
    if (!pay(steps, 2 + text.len / BYTES_PER_STEP))
        return too_much_work(pattern, err);
    while ((number = match_once(pattern, matcher, text, limit)) == PCRE2_ERROR_MATCHLIMIT) {
        if (limit == VLS_PATTERN_MAX_MATCH || !pay(steps, limit / MATCH_UNITS_PER_STEP))
            return too_much_work(pattern, err);
        limit = VLS_MIN(limit * MATCH_LIMIT_GROWTH, VLS_PATTERN_MAX_MATCH);
    }
    if (number >= 0 || number == PCRE2_ERROR_NOMATCH) {
        *matches = number >= 0;
        return 0;
    }
    if (number == PCRE2_ERROR_NOMEMORY)
        return vls_fail_memory(err);
    if (number == PCRE2_ERROR_HEAPLIMIT || number == PCRE2_ERROR_DEPTHLIMIT)
        return too_much_work(pattern, err);
    return vls_fail(err, VALISE_E_INVALID, "text that is not UTF-8 meets the pattern \"%.*s\"",
                    VALISE_STR_ARG(vls_utf8_head(pattern->source, 160)));
}
