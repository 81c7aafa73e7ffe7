/* schema_pattern.c -- compiling patterns and matching them within limits.
 *
 * PCRE2 takes its memory from our environment. Its free() does not know sizes and ours wants
 * them, so each block carries its own:
 *
 *     +------+---------+------------------+
 *     | size | padding | what PCRE2 sees  |
 *     +------+---------+------------------+
 *
 * PCRE2's own limit on work starts anew at every position of the text, so it bounds nothing that
 * counts. Instead a callout is compiled in before every item of the pattern. It sees each attempt
 * to match the item, and how far the text was passed since the last one; both are paid for in
 * steps. What it cannot see, one item that looks at much text and then fails, makes every call
 * dearer: a character that must be repeated many times, or a reference back. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h> /* before ours: system headers behind it mention malloc, which base.h bans */

#include "json/schema_impl.h"

#include "base/mem.h"
#include "base/utf8.h"

#define BYTES_PER_STEP 32u
#define HEAP_LIMIT_KIB (16u << 10)
#define MAX_NESTED_PARENTHESES 100u

struct vls_pattern {
    pcre2_code *code;
    valise_str source;
    vls_regex_traits traits;
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
                             PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C |
                             PCRE2_AUTO_CALLOUT;
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

/* Put a compiled pattern into the pool, if there is room. */
static int keep(vls_pattern_pool *pool, vls_pattern *pattern, pcre2_code *code, valise_error *err)
{
    size_t bytes = 0;

    if (pcre2_pattern_info(code, PCRE2_INFO_SIZE, &bytes) < 0 ||
        bytes > VLS_PATTERN_MAX_CODE - pool->code_bytes)
        return vls_fail(err, VALISE_E_LIMIT, "the patterns take more than %zu bytes together",
                        VLS_PATTERN_MAX_CODE);
    /* Machine code is an improvement, not a need: where there is none the interpreter runs. */
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    pattern->code = code;
    pattern->next = pool->patterns;
    pool->patterns = pattern;
    pool->code_bytes += bytes;
    return 0;
}

int vls_pattern_compile(const vls_pattern **out, vls_pattern_pool *pool, vls_arena *arena,
                        valise_str source, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    vls_pattern *pattern = vls_arena_alloc(arena, sizeof(*pattern));
    pcre2_code *code = NULL;
    int rc;

    vls_buf_init(&text, pool->env, (size_t)16 * VLS_PATTERN_MAX_BYTES);
    if (!pattern)
        return vls_arena_fail(arena, err);
    *pattern = (vls_pattern){.source = source};
    if (source.len > VLS_PATTERN_MAX_BYTES)
        return vls_fail(err, VALISE_E_LIMIT, "the pattern is longer than %u bytes",
                        VLS_PATTERN_MAX_BYTES);
    if (!pool->memory)
        pool->memory = pcre2_general_context_create(take_memory, give_back, pool);
    if (!pool->memory)
        return vls_fail_memory(err);

    rc = vls_regex_translate(&text, &pattern->traits, source, err);
    if (rc == 0)
        rc = compile_code(&code, pool, vls_buf_str(&text), err);
    if (rc == 0)
        rc = keep(pool, pattern, code, err);
    if (rc < 0)
        pcre2_code_free(code);
    else
        *out = pattern;
    return rc;
}

void vls_matcher_release(vls_matcher *matcher)
{
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    *matcher = (vls_matcher){NULL, NULL};
}

static int prepare(vls_matcher *matcher, const vls_pattern_pool *pool, valise_error *err)
{
    if (!matcher->data)
        matcher->data = pcre2_match_data_create(1, pool->memory);
    if (!matcher->context) {
        matcher->context = pcre2_match_context_create(pool->memory);
        if (matcher->context)
            pcre2_set_heap_limit(matcher->context, HEAP_LIMIT_KIB);
    }
    return matcher->data && matcher->context ? 0 : vls_fail_memory(err);
}

/* The purse that a match is paid from. */
typedef struct purse {
    uint64_t *steps;
    uint64_t price; /* of one callout */
    size_t at;      /* where in the text the last one was */
} purse;

static bool pay(purse *p, uint64_t price)
{
    if (*p->steps < price) {
        *p->steps = 0;
        return false;
    }
    *p->steps -= price;
    return true;
}

static int pay_for_item(pcre2_callout_block *block, void *arg)
{
    purse *p = arg;
    size_t passed = block->current_position > p->at ? block->current_position - p->at : 0;

    p->at = block->current_position;
    return pay(p, p->price + passed / BYTES_PER_STEP) ? 0 : PCRE2_ERROR_CALLOUT;
}

static int match(const vls_pattern *pattern, vls_matcher *matcher, valise_str text)
{
    PCRE2_SPTR start = bytes_of(text);
    int number = pcre2_match(pattern->code, start, text.len, 0, 0, matcher->data, matcher->context);

    /* Machine code has a small stack; the interpreter uses the heap. */
    if (number == PCRE2_ERROR_JIT_STACKLIMIT)
        number = pcre2_match(pattern->code, start, text.len, 0, PCRE2_NO_JIT, matcher->data,
                             matcher->context);
    return number;
}

static int match_failed(int number, const vls_pattern *pattern, valise_error *err)
{
    valise_str source = vls_utf8_head(pattern->source, 160);

    if (number == PCRE2_ERROR_NOMEMORY)
        return vls_fail_memory(err);
    if (number == PCRE2_ERROR_CALLOUT || number == PCRE2_ERROR_MATCHLIMIT ||
        number == PCRE2_ERROR_HEAPLIMIT || number == PCRE2_ERROR_DEPTHLIMIT)
        return vls_fail(err, VALISE_E_LIMIT, "matching the pattern \"%.*s\" takes too much work",
                        VALISE_STR_ARG(source));
    return vls_fail(err, VALISE_E_INVALID, "the pattern \"%.*s\" was given text that is not UTF-8",
                    VALISE_STR_ARG(source));
}

int vls_pattern_match(bool *matches, const vls_pattern *pattern, const vls_pattern_pool *pool,
                      vls_matcher *matcher, valise_str text, uint64_t *steps, valise_error *err)
{
    uint64_t hidden = pattern->traits.longest_repeat + (pattern->traits.refers_back ? text.len : 0);
    purse p = {.steps = steps, .price = 1 + hidden / BYTES_PER_STEP};
    int number, rc;

    rc = prepare(matcher, pool, err);
    if (rc < 0)
        return rc;
    if (!pay(&p, 2 + text.len / BYTES_PER_STEP))
        return match_failed(PCRE2_ERROR_CALLOUT, pattern, err);
    pcre2_set_callout(matcher->context, pay_for_item, &p);
    number = match(pattern, matcher, text);
    if (number < 0 && number != PCRE2_ERROR_NOMATCH)
        return match_failed(number, pattern, err);
    *matches = number >= 0;
    return 0;
}
