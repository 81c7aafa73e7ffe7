/* snippet.c -- the piece of a text that shows best why it was found.
 *
 * The text is taken apart by the tokenizer that the index uses; each word or phrase is followed
 * with a mask whose bit k says that the last k + 1 tokens are its first. Of all windows that begin
 * a little before a match, the one with the most different words wins, then that with the most,
 * then the first. */
#include "base/utf8.h"
#include "search/search.h"

#define WINDOW 24u /* tokens */
#define BEFORE 5u  /* of these, before the first match */
#define MATCHES 512u
#define LOOK ((size_t)256 << 10) /* bytes of a text that are looked at */
#define BYTES 600u               /* of a snippet, where tokens are long */

typedef struct token {
    int start, end; /* bytes of the text */
} token;

typedef struct found {
    size_t first, last; /* tokens */
    size_t term;
} found;

typedef struct looking {
    const vls_search_terms *terms;
    vls_arena *arena;
    uint64_t *masks; /* one for each term */
    vls_vec(token) tokens;
    vls_vec(found) found;
    bool failed;
} looking;

static uint64_t equal_mask(const vls_search_term *term, const char *text, size_t len)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < term->count; i++) {
        valise_str t = term->tokens[i];
        bool prefix = term->prefix && i == term->count - 1;
        if ((prefix ? t.len <= len : t.len == len) && memcmp(t.ptr, text, t.len) == 0)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

static int look_at(void *arg, int flags, const char *text, int len, int start, int end)
{
    looking *l = arg;

    if (flags & FTS5_TOKEN_COLOCATED)
        return SQLITE_OK;
    l->failed = !vls_vec_push_in(&l->tokens, l->arena, (token){start, end});
    for (size_t i = 0; !l->failed && i < l->terms->count; i++) {
        const vls_search_term *term = &l->terms->items[i];
        if (term->count > 64)
            continue;
        l->masks[i] = ((l->masks[i] << 1) | 1) & equal_mask(term, text, (size_t)len);
        if (l->masks[i] >> (term->count - 1) & 1 && l->found.len < MATCHES)
            l->failed = !vls_vec_push_in(
                &l->found, l->arena, (found){l->tokens.len - term->count, l->tokens.len - 1, i});
    }
    return l->failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* How good is the window that begins with this token? */
static unsigned judge(const looking *l, size_t from, size_t at)
{
    uint64_t seen = 0;
    unsigned all = 0, different = 0;

    for (size_t i = at; i < l->found.len && l->found.ptr[i].last < from + WINDOW; i++) {
        uint64_t bit = UINT64_C(1) << (l->found.ptr[i].term & 63);
        different += !(seen & bit);
        seen |= bit;
        all++;
    }
    return different * (MATCHES + 1) + all;
}

static size_t choose(const looking *l)
{
    size_t best = 0;
    unsigned most = 0;

    for (size_t i = 0; i < l->found.len; i++) {
        size_t first = l->found.ptr[i].first;
        size_t from = first > BEFORE ? first - BEFORE : 0;
        unsigned score = judge(l, from, i);
        if (score > most) {
            most = score;
            best = from;
        }
    }
    return best;
}

/* The bytes of the window: whole characters, and an ellipsis where something is left out. */
typedef struct piece {
    char *out;
    size_t len;
    vls_vec(int64_t) marks;
} piece;

static void add_byte(piece *p, char c)
{
    bool blank = c == ' ' || c == '\n';

    if (!blank)
        p->out[p->len++] = c;
    else if (p->len > 0 && p->out[p->len - 1] != ' ')
        p->out[p->len++] = ' ';
}

static bool is_marked(const looking *l, size_t at, size_t *next)
{
    /* Matches come by their last token; a few of them overlap. */
    for (size_t i = *next; i < l->found.len; i++) {
        if (l->found.ptr[i].last < at) {
            *next = i == *next ? i + 1 : *next;
            continue;
        }
        if (l->found.ptr[i].first <= at)
            return true;
        if (l->found.ptr[i].first > at + 64)
            return false;
    }
    return false;
}

static int fill(piece *p, const looking *l, size_t from, size_t to, valise_str text,
                valise_error *err)
{
    size_t at = (size_t)l->tokens.ptr[from].start, next = 0;
    bool in = false;

    for (size_t i = from; i < to; i++) {
        const token *t = &l->tokens.ptr[i];
        bool marked = is_marked(l, i, &next);
        if (in && (!marked || at < (size_t)t->start)) {
            if (!vls_vec_push_in(&p->marks, l->arena, (int64_t)p->len))
                return vls_arena_fail(l->arena, err);
            in = false;
        }
        for (; at < (size_t)t->start; at++)
            add_byte(p, text.ptr[at]);
        if (marked && !in && !vls_vec_push_in(&p->marks, l->arena, (int64_t)p->len))
            return vls_arena_fail(l->arena, err);
        in = marked;
        for (; at < (size_t)t->end; at++)
            add_byte(p, text.ptr[at]);
    }
    if (in && !vls_vec_push_in(&p->marks, l->arena, (int64_t)p->len))
        return vls_arena_fail(l->arena, err);
    return 0;
}

static int cut(vls_search_hit *hit, const looking *l, valise_str text, valise_error *err)
{
    size_t from = choose(l), to = VLS_MIN(from + WINDOW, l->tokens.len);
    size_t first = from == 0 ? 0 : (size_t)l->tokens.ptr[from].start;
    piece p = {0};
    int rc = 0;

    while (to > from + 1 && (size_t)l->tokens.ptr[to - 1].end > first + BYTES)
        to--;
    p.out = vls_arena_alloc(l->arena, (size_t)l->tokens.ptr[to - 1].end - first + 64);
    if (!p.out)
        return vls_arena_fail(l->arena, err);
    if (from > 0)
        for (const char *c = "\xE2\x80\xA6"; *c; c++)
            add_byte(&p, *c);
    else
        for (size_t i = 0; i < (size_t)l->tokens.ptr[0].start && i < 32; i++)
            add_byte(&p, text.ptr[i]);
    rc = fill(&p, l, from, to, text, err);
    if (to < l->tokens.len)
        for (const char *c = "\xE2\x80\xA6"; *c; c++)
            add_byte(&p, *c);
    else
        for (size_t i = (size_t)l->tokens.ptr[to - 1].end, n = 0; i < text.len && n < 16; i++, n++)
            add_byte(&p, text.ptr[i]);
    while (p.len > 0 && p.out[p.len - 1] == ' ')
        p.len--;
    hit->snippet = vls_str(p.out, vls_utf8_valid_len(vls_str(p.out, p.len)));
    hit->marks = (valise_list){p.marks.ptr, p.marks.len};
    return rc;
}

int vls_search_snippet(vls_search_hit *hit, const vls_search_words *words,
                       const vls_search_terms *terms, valise_str text, vls_arena *arena,
                       valise_error *err)
{
    looking l = {.terms = terms, .arena = arena};
    int rc;

    text = vls_utf8_head(text, LOOK);
    l.masks = vls_arena_array(arena, terms->count + 1, sizeof(*l.masks));
    if (!l.masks)
        return vls_arena_fail(arena, err);
    memset(l.masks, 0, (terms->count + 1) * sizeof(*l.masks));
    rc =
        words->base.xTokenize(words->self, &l, FTS5_TOKENIZE_AUX, text.ptr, (int)text.len, look_at);
    if (l.failed)
        return vls_arena_fail(arena, err);
    if (rc != SQLITE_OK)
        return vls_fail_memory(err);
    hit->snippet = VLS_STR("");
    return l.tokens.len == 0 ? 0 : cut(hit, &l, text, err);
}
