/* rank.c -- BM25 in integers. */
#include "prompt/rank.h"

#include "base/map.h"
#include "base/utf8.h"

/* ---- words ---- */

#define WORD_MAX 64

typedef struct word {
    char s[WORD_MAX];
    size_t len;
} word;

static bool is_letter(unsigned char c)
{
    return vls_is_alnum((char)c) || c >= 0x80;
}

/* Chinese, Japanese, Thai and their like: no spaces between words. */
static bool stands_alone(uint32_t c)
{
    return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x3040 && c <= 0x30FF) ||
           (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
}

/* The next word of what is left of text; false: there is none. A long one is cut. */
static bool next_word(word *out, valise_str *text)
{
    out->len = 0;
    while (text->len > 0) {
        unsigned char c = (unsigned char)text->ptr[0];
        uint32_t code = c;
        size_t n = c < 0x80 ? 1 : vls_utf8_decode(&code, text->ptr, text->len);

        n = n > 0 ? n : 1;
        if (!is_letter(c) || (stands_alone(code) && out->len > 0)) {
            if (out->len > 0)
                return true;
        } else {
            for (size_t i = 0; i < n && out->len < WORD_MAX; i++) {
                char b = text->ptr[i];
                out->s[out->len++] = vls_to_lower(b);
            }
        }
        text->ptr += n;
        text->len -= n;
        if (stands_alone(code))
            return true;
    }
    return out->len > 0;
}

/* ---- the question ---- */

typedef struct term {
    word word;
    size_t number;
    int64_t texts; /* that have it */
} term;

typedef struct asking {
    vls_map map;
    term terms[VLS_RANK_WORDS];
    size_t count;
} asking;

static bool is_word(const void *item, const void *key)
{
    const word *a = &((const term *)item)->word, *b = key;

    return a->len == b->len && memcmp(a->s, b->s, a->len) == 0;
}

static uint64_t hash_of(const word *w)
{
    return vls_str_hash((valise_str){w->s, w->len}, 0);
}

static int read_question(asking *a, valise_str question, valise_error *err)
{
    word w;

    while (a->count < VLS_RANK_WORDS && next_word(&w, &question)) {
        term *t = &a->terms[a->count];

        if (vls_map_get(&a->map, hash_of(&w), &w))
            continue;
        *t = (term){.word = w, .number = a->count};
        if (vls_map_put(NULL, &a->map, hash_of(&w), &w, t) < 0)
            return vls_fail_memory(err);
        a->count++;
    }
    return 0;
}

/* ---- the score ---- */

/* 1024 * log2(n / d), n >= d > 0, by squaring: the same bits everywhere. */
static int64_t log_ratio(uint64_t n, uint64_t d)
{
    int64_t log = 0;
    uint64_t x; /* the rest, 1 to 2, with 30 bits behind the point */

    while (n / d >= 2) {
        d *= 2;
        log += 1024;
    }
    x = (n << 30) / d;
    for (int64_t bit = 512; bit > 0; bit /= 2) {
        x = (x * x) >> 30;
        if (x >= (uint64_t)2 << 30) {
            x >>= 1;
            log += bit;
        }
    }
    return log;
}

/* How often each term is in each text, and how many words that has. */
typedef struct counts {
    uint32_t *of; /* [text * terms + term] */
    uint32_t *length;
    int64_t total;
} counts;

static void count_text(counts *c, asking *a, size_t text, valise_str s)
{
    uint32_t *of = c->of + text * a->count;
    word w;

    s.len = VLS_MIN(s.len, VLS_RANK_LOOK);
    while (next_word(&w, &s)) {
        term *t = vls_map_get(&a->map, hash_of(&w), &w);

        c->length[text]++;
        if (t && of[t->number]++ == 0)
            t->texts++;
    }
    c->total += c->length[text];
}

/* BM25 with k1 = 1.2 and b = 0.75: all in 1024ths. */
static int64_t score_of(const counts *c, const asking *a, size_t text, size_t texts)
{
    const uint32_t *of = c->of + text * a->count;
    int64_t mean = VLS_MAX(c->total / (int64_t)texts, 1);
    int64_t norm = 307 + 922 * (int64_t)c->length[text] / mean; /* 1.2 * (0.25 + 0.75 * l / mean) */
    int64_t sum = 0;

    for (size_t i = 0; i < a->count; i++) {
        uint64_t have = (uint64_t)a->terms[i].texts, all = (uint64_t)texts;

        if (of[i] == 0)
            continue;
        /* log2(1 + (N - n + 0.5) / (n + 0.5)) = log2((2N + 2) / (2n + 1)) */
        sum += log_ratio(2 * all + 2, 2 * have + 1) * ((int64_t)of[i] * 2253) /
               ((int64_t)of[i] * 1024 + norm);
    }
    return sum;
}

int vls_rank(int64_t *scores, const valise_str *texts, size_t count, valise_str question,
             vls_arena *arena, valise_error *err)
{
    asking *a = vls_arena_zalloc(arena, sizeof(*a));
    counts c = {0};
    int rc;

    if (!a)
        return vls_arena_fail(arena, err);
    vls_map_init(&a->map, arena->env, is_word);
    rc = read_question(a, question, err);
    if (rc == 0 && count > 0) {
        c.of = vls_arena_zalloc(arena, VLS_MAX(count * a->count, (size_t)1) * sizeof(*c.of));
        c.length = vls_arena_zalloc(arena, count * sizeof(*c.length));
        if (!c.of || !c.length)
            rc = vls_arena_fail(arena, err);
    }
    for (size_t i = 0; i < count && rc == 0; i++)
        count_text(&c, a, i, texts[i]);
    for (size_t i = 0; i < count && rc == 0; i++)
        scores[i] = score_of(&c, a, i, count);
    vls_map_release(&a->map);
    return rc;
}

size_t vls_rank_word(char room[VLS_RANK_WORD], valise_str *text)
{
    word w;

    if (!next_word(&w, text))
        return 0;
    memcpy(room, w.s, w.len);
    return w.len;
}

_Static_assert(VLS_RANK_WORD == WORD_MAX, "a word has room");
