/* sums.c -- do searches find the words that the docs have?
 *
 *     fts    each term, looked up as searches do it   ->   places   --+
 *                                                                     +-->  equal?
 *     doc    its texts, through the tokenizer         ->   places   --+
 *
 *     place  (term, doc, column, number of the token in it)
 *
 * FTS5 has a check of that, but its sum is an exclusive or of linear hashes: a bit that is wrong in
 * a term which an even number of places share takes itself away again. And it reads leaves one
 * after the other, where a search is led to them by their first terms, which may lead it past a
 * word. So each place that is found gets a hash of XXH3, and these are added up: that needs no
 * order and no memory. */
#include "base/fast_hash.h"
#include "search/search.h"

#define TERM_MAX 32768 /* bytes; FTS5 cuts what is longer */

static const char *const columns[] = {"text", "name", "topics"}; /* as DOC_WORDS has them */

/* ---- a sum ---- */

typedef struct sum {
    uint64_t low, high, count;
} sum;

/* Hashed as bytes: no gaps. */
typedef struct place {
    int64_t doc, offset; /* offset: tokens before it in the column */
    uint64_t column;
    vls_hash128 term;
} place;

static void add(sum *to, valise_str term, place at)
{
    vls_hash128 hash;

    at.term = vls_fast_hash128_seeded(term, 0);
    hash = vls_fast_hash128_seeded(vls_str((const char *)&at, sizeof(at)), 0);
    to->low += hash.low;
    to->high += hash.high;
    to->count++;
}

static bool is_equal(const sum *a, const sum *b)
{
    return a->low == b->low && a->high == b->high && a->count == b->count;
}

/* ---- what the docs say ---- */

typedef struct telling {
    sum *to;
    place at;
} telling;

static int add_token(void *arg, int flags, const char *token, int len, int start, int end)
{
    telling *t = arg;

    (void)flags;
    (void)start;
    (void)end;
    add(t->to, vls_str(token, (size_t)VLS_MIN(len, TERM_MAX)), t->at);
    t->at.offset++;
    return SQLITE_OK;
}

static int sum_docs(sum *to, vls_search *s, valise_error *err)
{
    const vls_search_words *words = &s->words;
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_DOC_WORDS, err);

    while (rc >= 0 && (rc = vls_search_step(s, stmt, err)) > 0) {
        for (size_t i = 0; rc >= 0 && i < VLS_COUNT(columns); i++) {
            valise_str text = vls_search_column(stmt, (int)i + 1);
            telling t = {to, {.doc = sqlite3_column_int64(stmt, 0), .column = i}};
            int code = words->base.xTokenize(words->self, &t, FTS5_TOKENIZE_DOCUMENT, text.ptr,
                                             (int)text.len, add_token);
            if (code != SQLITE_OK)
                rc = vls_search_fail(s, code, err);
        }
    }
    return rc;
}

/* ---- what is found ---- */

static size_t column_of(valise_str name)
{
    size_t i = 0;

    while (i < VLS_COUNT(columns) && !vls_str_equal(name, valise_str_of(columns[i])))
        i++;
    return i;
}

static int sum_found(sum *to, vls_search *s, valise_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = vls_search_stmt(&stmt, s, VLS_SEARCH_FTS_WORDS, err);

    while (rc >= 0 && (rc = vls_search_step(s, stmt, err)) > 0)
        add(to, vls_search_column(stmt, 0),
            (place){.doc = sqlite3_column_int64(stmt, 1),
                    .offset = sqlite3_column_int64(stmt, 3),
                    .column = column_of(vls_search_column(stmt, 2))});
    return rc;
}

/* ---- both ---- */

/* Views of the connection alone: nothing of them is in the file. */
static int make_views(vls_search *s, valise_error *err)
{
    int rc = vls_search_exec(
        s, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, fts, row)", err);

    return rc < 0 ? rc
                  : vls_search_exec(s,
                                    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places "
                                    "USING fts5vocab(main, fts, instance)",
                                    err);
}

int vls_search_check_words(vls_search *s, valise_error *err)
{
    sum said = {0}, found = {0};
    int rc = make_views(s, err);

    if (rc == 0)
        rc = vls_search_run(s, VLS_SEARCH_BEGIN, err);
    if (rc == 0)
        rc = sum_docs(&said, s, err);
    if (rc == 0)
        rc = sum_found(&found, s, err);
    vls_search_end(s);
    if (rc < 0 || is_equal(&said, &found))
        return rc;
    s->damaged = true;
    return vls_fail(err, VALISE_E_CORRUPT, "%s: searches would not find the words that are there",
                    s->path ? s->path : "the search index in memory");
}
