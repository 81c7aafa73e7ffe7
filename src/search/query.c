/* query.c -- what people write, as an expression for FTS5.
 *
 *     milk "two pints" choc*     ->     "milk" AND "two pints" AND "choc" *
 *
 * A word or phrase is handed on between quotes, with those in it doubled: whatever it holds, it is
 * a string to FTS5 and never syntax. The tokenizer takes it apart, so foo-bar is the phrase "foo
 * bar". What has no letter and no digit is left out, since it would match nothing. */
#include "base/utf8.h"
#include "search/search.h"

/* Where the next piece begins and ends; false at the end. */
static bool next_term(valise_str *term, bool *prefix, valise_str *rest)
{
    size_t at = 0, end;

    while (at < rest->len && (unsigned char)rest->ptr[at] <= ' ')
        at++;
    *rest = vls_str_from(*rest, at);
    if (rest->len == 0)
        return false;
    if (rest->ptr[0] == '"') {
        for (end = 1; end < rest->len && rest->ptr[end] != '"'; end++)
            ;
        *term = vls_str(rest->ptr + 1, end - 1);
        *rest = vls_str_from(*rest, VLS_MIN(end + 1, rest->len));
        *prefix = rest->len > 0 && rest->ptr[0] == '*';
        if (*prefix)
            *rest = vls_str_from(*rest, 1);
        return true;
    }
    for (end = 0; end < rest->len && (unsigned char)rest->ptr[end] > ' ' && rest->ptr[end] != '"';)
        end++;
    *term = vls_str_head(*rest, end);
    *rest = vls_str_from(*rest, end);
    *prefix = term->ptr[term->len - 1] == '*';
    if (*prefix)
        *term = vls_str_head(*term, term->len - 1);
    return true;
}

static void add_quoted(vls_buf *out, valise_str term)
{
    vls_buf_add_byte(out, '"');
    for (size_t i = 0; i < term.len; i++) {
        char c = term.ptr[i];
        if (c == '"')
            vls_buf_add_byte(out, '"');
        vls_buf_add_byte(out, (unsigned char)c < ' ' ? ' ' : c);
    }
    vls_buf_add_byte(out, '"');
}

static int refuse_empty(valise_str query, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "there is no word to look for in '%.*s'",
                   VALISE_STR_ARG(vls_utf8_head(query, 200)));
    vls_hint(err, "give words that must all be there, \"a phrase\", or the beginning of a word*");
    return VALISE_E_INVALID;
}

/* ---- tokens ---- */

typedef struct splitting {
    vls_vec(valise_str) tokens;
    vls_arena *arena;
    bool failed;
} splitting;

static int keep_token(void *arg, int flags, const char *text, int len, int start, int end)
{
    splitting *s = arg;
    valise_str copy = {NULL, 0};

    (void)start;
    (void)end;
    if (flags & FTS5_TOKEN_COLOCATED)
        return SQLITE_OK;
    s->failed = vls_arena_dup(&copy, s->arena, vls_str(text, (size_t)len), NULL) < 0 ||
                !vls_vec_push_in(&s->tokens, s->arena, copy);
    return s->failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int split(vls_search_term *term, const vls_search_words *words, vls_arena *arena,
                 valise_error *err)
{
    splitting s = {.arena = arena};
    int rc = words->base.xTokenize(words->self, &s, FTS5_TOKENIZE_QUERY,
                                   term->text.ptr ? term->text.ptr : "", (int)term->text.len,
                                   keep_token);

    if (s.failed)
        return vls_arena_fail(arena, err);
    if (rc != SQLITE_OK)
        return vls_fail_memory(err);
    term->tokens = s.tokens.ptr;
    term->count = s.tokens.len;
    return 0;
}

int vls_search_parse(vls_search_terms *out, valise_str query, const vls_search_words *words,
                     vls_arena *arena, valise_error *err)
{
    valise_str rest = query;
    vls_search_term term = {0};

    out->count = 0;
    if (query.len > VLS_SEARCH_QUERY_MAX)
        return vls_fail(err, VALISE_E_TOO_LARGE, "a query has at most %d bytes",
                        VLS_SEARCH_QUERY_MAX);
    if (!vls_utf8_valid(query))
        return vls_fail(err, VALISE_E_INVALID, "the query is not UTF-8");
    while (next_term(&term.text, &term.prefix, &rest)) {
        int rc = split(&term, words, arena, err);
        if (rc < 0)
            return rc;
        if (term.count == 0)
            continue;
        if (out->count == VLS_SEARCH_TERMS_MAX)
            return vls_fail(err, VALISE_E_LIMIT, "a query has at most %d words and phrases",
                            VLS_SEARCH_TERMS_MAX);
        out->items[out->count++] = term;
    }
    return out->count == 0 ? refuse_empty(query, err) : 0;
}

int vls_search_expression(vls_buf *out, const vls_search_terms *terms, valise_error *err)
{
    for (size_t i = 0; i < terms->count; i++) {
        if (i > 0)
            vls_buf_add_text(out, " AND ");
        add_quoted(out, terms->items[i].text);
        if (terms->items[i].prefix)
            vls_buf_add_text(out, " *");
    }
    return vls_buf_check(out, err);
}
