/* summarization.c -- the policy summarization: of each input its title and the sentences that tell
 * it apart from the others.
 *
 * Integers only. Words are counted in buckets, by a hash that is part of the format: memory is
 * bounded whatever people write, and two words that share a bucket do no more than disturb the
 * order of sentences a little. docs/formats.md, "Derived frames", has each number that is here. */
#include "derive/policy_impl.h"

#include "base/utf8.h"
#include "derive/outline.h"

#define LOOK_TOTAL ((size_t)16 << 20) /* bytes that are looked at, in all */
#define LOOK_MIN ((size_t)1 << 10)    /* ... and of each at least */
#define BUCKETS_MIN 1024u
#define BUCKETS_MAX 262144u
#define WORD_MIN 3u     /* bytes: shorter ones do not count */
#define EVERYWHERE 960u /* a word that all inputs have counts a little: log2_256(16) is 1024 */

typedef struct bucket {
    uint32_t inputs; /* how many have the word */
    uint32_t times;  /* how often this one has it */
    uint32_t input;  /* which one that is */
    uint32_t mark;   /* the sentence that was looked at last */
} bucket;

/* What is shown of one input. */
typedef struct part {
    vls_outline outline;
    vls_policy_line line; /* in place of a title, if it is no text */
    size_t base;          /* bytes of the section with the title alone, or more */
    size_t looked;        /* bytes; 0: no text */
    size_t share;         /* bytes for sentences */
    uint64_t rest;        /* of the division that made the share */
} part;

typedef struct candidate {
    valise_str text;
    uint64_t score;
    size_t at; /* which sentence it is */
} candidate;

typedef struct work {
    valise_making *making;
    size_t budget, begin;
    vls_vec(part) parts;
    size_t taken; /* bytes of all bases, and of the marker if there is one */
    bucket *buckets;
    uint32_t mask; /* number of buckets - 1 */
    uint32_t sentences;
    candidate *candidates; /* room for those of any part */
    vls_buf heading, body;
} work;

static const valise_field summarization_params[] = {
    VALISE_FIELD_WITH(vls_policy_params, budget, INT, 0,
                      "Bytes of the frame at most; without it 4096, about a page.",
                      .min = VLS_POLICY_BUDGET_MIN, .max = VLS_POLICY_BUDGET_MAX),
    VALISE_FIELD_END,
};

/* ---- words ---- */

/* Sorted. They say nothing about a text; all have at least WORD_MIN bytes. */
static const char stop_words[][8] = {
    "about", "after", "all",   "also",  "and",  "any",  "are",   "because", "been",  "before",
    "but",   "can",   "did",   "does",  "each", "for",  "from",  "had",     "has",   "have",
    "her",   "him",   "his",   "how",   "into", "its",  "may",   "more",    "most",  "not",
    "now",   "only",  "other", "our",   "out",  "over", "she",   "should",  "some",  "such",
    "than",  "that",  "the",   "their", "them", "then", "there", "these",   "they",  "this",
    "those", "too",   "very",  "was",   "were", "what", "when",  "where",   "which", "while",
    "who",   "will",  "with",  "would", "you",  "your",
};

static int compare_word(const void *key, const void *item)
{
    return strcmp(key, item);
}

static bool is_stop_word(valise_str word)
{
    char folded[sizeof(stop_words[0])] = {0};

    if (word.len >= sizeof(folded))
        return false;
    for (size_t i = 0; i < word.len; i++)
        folded[i] = vls_to_lower(word.ptr[i]);
    return bsearch(folded, stop_words, VLS_COUNT(stop_words), sizeof(stop_words[0]), compare_word);
}

/* The next word that counts, as its bucket; NULL at the end. */
static bucket *next_word(const work *w, size_t *at, valise_str sentence)
{
    valise_str word;

    while (vls_outline_word(&word, at, sentence)) {
        uint32_t hash = 2166136261u; /* FNV-1a */
        if (word.len < WORD_MIN || is_stop_word(word))
            continue;
        for (size_t i = 0; i < word.len; i++)
            hash = (hash ^ (unsigned char)vls_to_lower(word.ptr[i])) * 16777619u;
        return &w->buckets[(hash ^ (hash >> 16)) & w->mask];
    }
    return NULL;
}

/* 256 times the logarithm to base 2, on straight lines between powers of two. x > 0. */
static uint64_t log2_256(uint64_t x)
{
    unsigned exponent = 63u - (unsigned)__builtin_clzll(x);
    uint64_t over = x - (UINT64_C(1) << exponent);

    return 256u * (uint64_t)exponent + ((over << 8) >> exponent);
}

/* ---- reading ---- */

/* What is looked at of a content. A cut between two characters of valid text; of other bytes it
 * takes away no more than it would there. */
static valise_str look(valise_str content, size_t count)
{
    size_t len = VLS_MAX(LOOK_MIN, LOOK_TOTAL / count);
    valise_str head = vls_utf8_head(content, len);

    return len - VLS_MIN(len, head.len) <= 3 ? head : vls_str_head(content, len);
}

/* A directory of which there is nothing to tell says so, one level up too. */
static valise_str nothing_text(valise_str content)
{
    static const char *const texts[] = {VLS_POLICY_EMPTY, VLS_POLICY_UNKNOWN};

    for (size_t i = 0; i < VLS_COUNT(texts); i++) {
        valise_str text = valise_str_of(texts[i]);
        if (content.len == text.len + 1 && vls_str_starts(content, text) &&
            content.ptr[text.len] == '\n')
            return text;
    }
    return (valise_str){NULL, 0};
}

static int read_part(part *out, work *w, size_t i, valise_error *err)
{
    const valise_policy_input *input = &w->making->inputs[i];
    valise_str content = {NULL, 0}, title;
    int rc = valise_making_content(&content, w->making, i, err);

    if (rc < 0)
        return rc;
    *out = (part){.looked = 0};
    content = look(content, w->making->count);
    if (vls_policy_is_text(content)) {
        out->looked = content.len;
        rc = vls_outline_read(&out->outline, w->making->arena, content, err);
        if (!out->outline.title.ptr)
            out->outline.title = nothing_text(content);
        title = out->outline.title;
    } else {
        out->line = vls_policy_no_text(input);
        title = valise_str_of(out->line.s);
    }
    if (rc < 0)
        return rc;
    /* How many bytes the heading tells is not known yet: as many as there can be. */
    vls_buf_clear(&w->heading);
    vls_policy_heading(&w->heading, input, 0);
    rc = vls_buf_check(&w->heading, err);
    out->base = vls_policy_section_len(i == 0, vls_buf_str(&w->heading), title) +
                (size_t)snprintf(NULL, 0, "%zu", w->budget) - 1;
    return rc;
}

/* Titles come first: as many inputs as have room for theirs are shown. */
static int read_parts(work *w, valise_error *err)
{
    size_t count = w->making->count;

    for (size_t i = 0; i < count; i++) {
        part next;
        int rc = read_part(&next, w, i, err);
        if (rc < 0)
            return rc;
        if (next.base > w->budget - w->taken)
            break;
        if (!vls_vec_push_in(&w->parts, w->making->arena, next))
            return vls_arena_fail(w->making->arena, err);
        w->taken += next.base;
    }
    if (w->parts.len == count)
        return 0;
    w->taken += vls_policy_marker_len(w->budget, count);
    while (w->taken > w->budget && w->parts.len > 0)
        w->taken -= w->parts.ptr[--w->parts.len].base;
    return 0;
}

/* ---- sharing ---- */

static int by_rest(const void *a, const void *b)
{
    const part *x = *(part *const *)a, *y = *(part *const *)b;

    if (x->rest != y->rest)
        return x->rest > y->rest ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* What is left of the budget, in proportion to the bytes that were looked at; the method of the
 * largest remainder. */
static int share_out(work *w, valise_error *err)
{
    uint64_t room = w->budget - w->taken, total = 0, given = 0;
    part **order = vls_arena_array(w->making->arena, w->parts.len, sizeof(*order));

    if (!order)
        return vls_arena_fail(w->making->arena, err);
    for (size_t i = 0; i < w->parts.len; i++) {
        order[i] = &w->parts.ptr[i];
        total += w->parts.ptr[i].looked;
    }
    if (total == 0)
        return 0;
    for (size_t i = 0; i < w->parts.len; i++) {
        part *p = &w->parts.ptr[i];
        p->share = (size_t)(room * p->looked / total);
        p->rest = room * p->looked % total;
        given += p->share;
    }
    qsort(order, w->parts.len, sizeof(*order), by_rest);
    for (size_t i = 0; given < room; i++, given++)
        order[i]->share++;
    return 0;
}

/* ---- choosing ---- */

static int prepare(work *w, valise_error *err)
{
    size_t looked = 0, most = 1, buckets = BUCKETS_MIN;

    for (size_t i = 0; i < w->parts.len; i++) {
        looked += w->parts.ptr[i].looked;
        most = VLS_MAX(most, w->parts.ptr[i].outline.sentences.len);
    }
    while (buckets < BUCKETS_MAX && buckets < looked / 4)
        buckets *= 2;
    w->mask = (uint32_t)(buckets - 1);
    w->candidates = vls_arena_array(w->making->arena, most, sizeof(candidate));
    w->buckets = vls_arena_zalloc(w->making->arena, buckets * sizeof(bucket));
    if (!w->candidates || !w->buckets)
        return vls_arena_fail(w->making->arena, err);
    return 0;
}

static void count_inputs(work *w)
{
    for (size_t i = 0; i < w->parts.len; i++) {
        const vls_outline *o = &w->parts.ptr[i].outline;
        for (size_t k = 0; k < o->sentences.len; k++) {
            size_t at = 0;
            for (bucket *b; (b = next_word(w, &at, o->sentences.ptr[k]));) {
                b->inputs += b->input != i + 1;
                b->input = (uint32_t)(i + 1);
            }
        }
    }
}

static void count_times(work *w, const vls_outline *o, size_t i)
{
    uint32_t number = (uint32_t)(w->parts.len + i + 1); /* none of those of count_inputs */

    for (size_t k = 0; k < o->sentences.len; k++) {
        size_t at = 0;
        for (bucket *b; (b = next_word(w, &at, o->sentences.ptr[k]));) {
            b->times = b->input == number ? b->times + 1 : 1;
            b->input = number;
        }
    }
}

static uint64_t score(work *w, valise_str sentence)
{
    uint64_t sum = 0, words = 0;
    size_t at = 0;

    w->sentences++;
    for (bucket *b; (b = next_word(w, &at, sentence)); words++) {
        if (b->mark != w->sentences)
            sum += log2_256(1 + (uint64_t)b->times) *
                   (log2_256(16 * (uint64_t)w->parts.len / b->inputs) - EVERYWHERE);
        b->mark = w->sentences;
    }
    return sum / (8 + words);
}

static int by_text(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = vls_str_compare(x->text, y->text);

    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_score(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* The sentences of a part, each once, none that is the title. */
static size_t collect(work *w, const vls_outline *o)
{
    size_t count = 0, kept = 0;

    for (size_t k = o->led ? 1 : 0; k < o->sentences.len; k++) {
        if (!vls_str_equal(o->sentences.ptr[k], o->title))
            w->candidates[count++] = (candidate){.text = o->sentences.ptr[k], .at = k};
    }
    qsort(w->candidates, count, sizeof(candidate), by_text);
    for (size_t k = 0; k < count; k++) {
        if (kept == 0 || !vls_str_equal(w->candidates[kept - 1].text, w->candidates[k].text))
            w->candidates[kept++] = w->candidates[k];
    }
    for (size_t k = 0; k < kept; k++)
        w->candidates[k].score = score(w, w->candidates[k].text);
    return kept;
}

/* The best that fit into `room`, which shrinks; in their order. */
static size_t choose(size_t *room, work *w, size_t count)
{
    size_t chosen = 0;

    qsort(w->candidates, count, sizeof(candidate), by_score);
    for (size_t k = 0; k < count; k++) {
        /* "\n- " in front of each, and an empty line in front of all. */
        size_t cost = w->candidates[k].text.len + (chosen == 0 ? 4 : 3);
        if (cost > *room)
            continue;
        *room -= cost;
        w->candidates[chosen++] = w->candidates[k];
    }
    qsort(w->candidates, chosen, sizeof(candidate), by_place);
    return chosen;
}

/* ---- writing ---- */

static int write_part(size_t *room, work *w, size_t i, valise_error *err)
{
    const part *p = &w->parts.ptr[i];
    const vls_outline *o = &p->outline;
    size_t chosen;
    int rc;

    vls_buf_clear(&w->body);
    *room += p->share;
    if (o->sentences.len > 0) {
        count_times(w, o, i);
        chosen = choose(room, w, collect(w, o));
        vls_buf_add(&w->body, o->title);
        for (size_t k = 0; k < chosen; k++) {
            vls_buf_add_text(&w->body, k == 0 ? "\n\n- " : "\n- ");
            vls_buf_add(&w->body, w->candidates[k].text);
        }
    } else {
        vls_buf_add(&w->body, o->title);
    }
    vls_buf_clear(&w->heading);
    vls_policy_heading(&w->heading, &w->making->inputs[i], (int64_t)w->body.len);
    if (p->line.s[0])
        vls_buf_add_text(&w->body, p->line.s);
    rc = vls_buf_check(&w->heading, err);
    if (rc == 0)
        rc = vls_buf_check(&w->body, err);
    if (rc < 0)
        return rc;
    vls_policy_section(w->making->out, i == 0, vls_buf_str(&w->heading), vls_buf_str(&w->body));
    return vls_buf_check(w->making->out, err);
}

static int write_parts(work *w, valise_error *err)
{
    size_t count = w->making->count, shown = w->parts.len, room = 0;
    int rc = 0;

    /* What one does not use is for those behind it. */
    for (size_t i = 0; rc == 0 && i < shown; i++)
        rc = write_part(&room, w, i, err);
    if (rc < 0)
        return rc;
    if (shown < count)
        vls_policy_marker(w->making->out, shown == 0, w->budget, count - shown, count);
    assert(w->making->out->len - w->begin <= w->budget);
    return vls_buf_check(w->making->out, err);
}

static int summarize(valise_making *making, const void *params, valise_error *err)
{
    work w = {.making = making, .begin = making->out->len};
    int rc = vls_policy_budget(&w.budget, params, VLS_POLICY_SUMMARY_BUDGET, err);

    if (rc < 0)
        return rc;
    if (making->count == 0)
        return vls_policy_nothing(making, err);
    vls_buf_init_in(&w.heading, making->arena, SIZE_MAX / 2);
    vls_buf_init_in(&w.body, making->arena, w.budget);
    rc = read_parts(&w, err);
    if (rc == 0)
        rc = share_out(&w, err);
    if (rc == 0)
        rc = prepare(&w, err);
    if (rc < 0)
        return rc;
    count_inputs(&w);
    return write_parts(&w, err);
}

const valise_policy vls_policy_summarization = {
    .size = sizeof(valise_policy),
    .name = "summarization",
    .version = 1,
    .brief = "The title and the most telling sentences of each.",
    .params = summarization_params,
    .params_size = sizeof(vls_policy_params),
    .check = vls_policy_check,
    .make = summarize,
};
