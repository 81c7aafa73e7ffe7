/* fuzz_search.c -- any text as a query: refused with a reason, or an expression that FTS5 takes,
 * and that finds a text in which all of it stands; with a snippet whose marks lie in it. [Q20]
 * [W14] */
#include "fuzz/fuzz.h"

#include "base/str.h"
#include "base/utf8.h"
#include "search/search.h"

static sqlite3 *open_db(vls_search_words *words, vls_search_rank *rank)
{
    sqlite3 *db = NULL;

    FUZZ_CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
    FUZZ_CHECK(vls_search_tokenizer(db) == SQLITE_OK);
    FUZZ_CHECK(vls_search_words_open(words, db) == SQLITE_OK);
    FUZZ_CHECK(vls_search_rank_open(rank, db) == SQLITE_OK);
    FUZZ_CHECK(sqlite3_exec(db,
                            "CREATE VIRTUAL TABLE fts USING fts5(text, name, topics, "
                            "tokenize='valise', columnsize=0)",
                            NULL, NULL, NULL) == SQLITE_OK);
    return db;
}

/* All terms one after the other, without control characters, as the index has texts. */
static void write_text(vls_buf *out, const vls_search_terms *terms)
{
    vls_buf_init(out, valise_env_default(), (size_t)1 << 20);
    for (size_t i = 0; i < terms->count; i++) {
        valise_str text = terms->items[i].text;
        for (size_t n = 0; n < text.len; n++)
            vls_buf_add_byte(out, (unsigned char)text.ptr[n] < ' ' ? ' ' : text.ptr[n]);
        vls_buf_add_text(out, " . ");
    }
    FUZZ_CHECK(vls_buf_check(out, NULL) == 0);
}

static void check_found(sqlite3 *db, valise_str text, valise_str expression)
{
    sqlite3_stmt *put = NULL, *find = NULL;

    FUZZ_CHECK(sqlite3_prepare_v2(db, "INSERT INTO fts(rowid, text) VALUES (1024, ?1)", -1, &put,
                                  NULL) == SQLITE_OK);
    (void)sqlite3_bind_text(put, 1, text.ptr, (int)text.len, SQLITE_STATIC);
    FUZZ_CHECK(sqlite3_step(put) == SQLITE_DONE);
    FUZZ_CHECK(sqlite3_prepare_v2(db, "SELECT rowid, fit(fts) FROM fts WHERE fts MATCH ?1", -1,
                                  &find, NULL) == SQLITE_OK);
    (void)sqlite3_bind_text(find, 1, expression.ptr, (int)expression.len, SQLITE_STATIC);
    FUZZ_CHECK(sqlite3_step(find) == SQLITE_ROW);
    FUZZ_CHECK(sqlite3_column_double(find, 1) > 0);
    FUZZ_CHECK(sqlite3_step(find) == SQLITE_DONE);
    (void)sqlite3_finalize(put);
    (void)sqlite3_finalize(find);
}

static void check_snippet(const vls_search_words *words, const vls_search_terms *terms,
                          valise_str text, vls_arena *arena)
{
    vls_search_hit hit = {0};
    const int64_t *marks;
    int64_t at = 0;

    FUZZ_CHECK(vls_search_snippet(&hit, words, terms, text, arena, NULL) == 0);
    FUZZ_CHECK(vls_utf8_valid(hit.snippet) && hit.marks.count % 2 == 0);
    marks = hit.marks.items;
    for (size_t i = 0; i < hit.marks.count; i++) {
        FUZZ_CHECK(marks[i] >= at && marks[i] <= (int64_t)hit.snippet.len);
        at = marks[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf expression = {0}, text = {0};
    valise_error err = VALISE_ERROR_INIT;
    static vls_search_terms terms;
    vls_search_words words = {0};
    vls_search_rank rank = {{0}, 0};
    sqlite3 *db = open_db(&words, &rank);

    vls_arena_init(&arena, valise_env_default(), (size_t)64 << 20);
    vls_buf_init(&expression, valise_env_default(), (size_t)1 << 20);
    if (vls_search_parse(&terms, vls_str(data, size), &words, &arena, &err) < 0) {
        FUZZ_CHECK(err.message[0]);
    } else {
        FUZZ_CHECK(vls_search_expression(&expression, &terms, &err) == 0);
        write_text(&text, &terms);
        check_found(db, vls_buf_str(&text), vls_buf_str(&expression));
        check_snippet(&words, &terms, vls_buf_str(&text), &arena);
    }
    vls_search_words_close(&words);
    FUZZ_CHECK(sqlite3_close(db) == SQLITE_OK);
    return 0;
}
