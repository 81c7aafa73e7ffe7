/* tokens.c -- the tokenizer: unicode61 of FTS5, and words of scripts that write none.
 *
 * unicode61 splits at whatever is neither letter nor digit, folds case and drops diacritics. Of a
 * Chinese or Japanese sentence, which has no spaces, that makes one token nobody looks for. So each
 * character of these scripts becomes a token of its own; since what is looked for goes the same
 * way, a part of a sentence is a phrase of such tokens, and is found. */
#include "base/utf8.h"
#include "search/search.h"

typedef struct tokens {
    fts5_tokenizer base;
    Fts5Tokenizer *inner;
} tokens;

/* Scripts without spaces between words: kana, Han, Thai, Lao, Khmer, Myanmar. */
static bool stands_alone(uint32_t c)
{
    return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) ||
           (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF) ||
           (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) ||
           (c >= 0x1780 && c <= 0x17FF);
}

typedef int token_fn(void *arg, int flags, const char *token, int len, int start, int end);

typedef struct splitting {
    token_fn *fn;
    void *arg;
} splitting;

/* Offsets are those of the text, which are the token's where folding left its length alone. */
static int split(void *arg, int flags, const char *token, int len, int start, int end)
{
    const splitting *s = arg;
    int from = 0, at = 0, rc = SQLITE_OK;

    if (len != end - start)
        return s->fn(s->arg, flags, token, len, start, end);
    while (rc == SQLITE_OK && at < len) {
        uint32_t c = 0;
        int size = (int)vls_utf8_decode(&c, token + at, (size_t)(len - at));
        if (size == 0)
            break; /* unicode61 takes what is no UTF-8 as it comes */
        if (stands_alone(c)) {
            if (at > from)
                rc = s->fn(s->arg, flags, token + from, at - from, start + from, start + at);
            if (rc == SQLITE_OK)
                rc = s->fn(s->arg, flags, token + at, size, start + at, start + at + size);
            from = at + size;
        }
        at += size;
    }
    if (rc == SQLITE_OK && from < len)
        rc = s->fn(s->arg, flags, token + from, len - from, start + from, end);
    return rc;
}

static int tokenize(Fts5Tokenizer *self, void *arg, int flags, const char *text, int len,
                    token_fn *fn)
{
    const tokens *t = (const tokens *)(void *)self;
    splitting s = {fn, arg};

    return t->base.xTokenize(t->inner, &s, flags, text, len, split);
}

static void destroy(Fts5Tokenizer *self)
{
    tokens *t = (tokens *)(void *)self;

    t->base.xDelete(t->inner);
    sqlite3_free(t);
}

static int create(void *arg, const char **words, int count, Fts5Tokenizer **out)
{
    fts5_api *api = arg;
    const char *options[] = {"remove_diacritics", "2"};
    tokens *t = sqlite3_malloc(sizeof(*t));
    void *inner_arg = NULL;
    int rc;

    (void)words;
    (void)count;
    if (!t)
        return SQLITE_NOMEM;
    rc = api->xFindTokenizer(api, "unicode61", &inner_arg, &t->base);
    if (rc == SQLITE_OK)
        rc = t->base.xCreate(inner_arg, options, 2, &t->inner);
    if (rc != SQLITE_OK) {
        sqlite3_free(t);
        return rc;
    }
    *out = (Fts5Tokenizer *)(void *)t;
    return SQLITE_OK;
}

int vls_search_fts5(fts5_api **out, sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_pointer(stmt, 1, (void *)out, "fts5_api_ptr", NULL);
    if (rc == SQLITE_OK)
        (void)sqlite3_step(stmt);
    rc = sqlite3_finalize(stmt);
    return rc == SQLITE_OK && !*out ? SQLITE_ERROR : rc;
}

int vls_search_tokenizer(sqlite3 *db)
{
    fts5_tokenizer tokenizer = {create, destroy, tokenize};
    fts5_api *api = NULL;
    int rc = vls_search_fts5(&api, db);

    return rc == SQLITE_OK ? api->xCreateTokenizer(api, "valise", api, &tokenizer, NULL) : rc;
}

int vls_search_words_open(vls_search_words *out, sqlite3 *db)
{
    fts5_api *api = NULL;
    void *arg = NULL;
    int rc = vls_search_fts5(&api, db);

    *out = (vls_search_words){0};
    if (rc == SQLITE_OK)
        rc = api->xFindTokenizer(api, "valise", &arg, &out->base);
    if (rc == SQLITE_OK)
        rc = out->base.xCreate(arg, NULL, 0, &out->self);
    return rc;
}

void vls_search_words_close(vls_search_words *words)
{
    if (words->self)
        words->base.xDelete(words->self);
    *words = (vls_search_words){0};
}

static int count_one(void *arg, int flags, const char *text, int len, int start, int end)
{
    (void)flags;
    (void)text;
    (void)len;
    (void)start;
    (void)end;
    (*(size_t *)arg)++;
    return SQLITE_OK;
}

size_t vls_search_count_words(const vls_search_words *words, valise_str text)
{
    size_t count = 0;

    /* Where there is no memory it counts what it got: the length is nothing exact. */
    (void)words->base.xTokenize(words->self, &count, FTS5_TOKENIZE_AUX, text.ptr ? text.ptr : "",
                                (int)text.len, count_one);
    return count;
}
