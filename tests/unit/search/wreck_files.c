/* wreck_files.c -- index files that are cut, of another kind, or may not be written. [W14] [Q18] */
#include "search/kit.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

TEST_PARAMS(wreck_files, "sqlite")

static void fill(desk *d, unsigned count)
{
    desk_talk(d);
    for (unsigned i = 1; i <= count; i++)
        desk_say(d, i, test_format("common words of number%u", i));
}

static const char *many(desk *d)
{
    return desk_find(d, "common", "\"limit\":1000");
}

/* Write it as the index, without what SQLite has beside it. */
static void put_index(desk *d, valise_str bytes)
{
    desk_close(d);
    (void)unlink(desk_path(d, "search.db-wal"));
    (void)unlink(desk_path(d, "search.db-shm"));
    test_write_file(desk_path(d, "search.db"), bytes);
    desk_reopen(d);
}

TEST(wreck_files, cut_anywhere)
{
    desk *d = desk_open(t);
    const char *want;
    valise_str file;

    fill(d, 120);
    want = many(d);
    desk_close(d);
    file = test_read_file(desk_path(d, "search.db"));
    CHECK(file.len > (size_t)8 * 4096);
    for (size_t len = 0; len < file.len; len += len % 4096 == 0 ? 1 : 4095) {
        put_index(d, vls_str(file.ptr, len));
        CHECK_TEXT(want, many(d));
        CHECK_TEXT("t7", desk_find(d, "number7", ""));
    }
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}

TEST(wreck_files, a_folder_in_its_place)
{
    desk *d = desk_open(t);
    const char *path = desk_path(d, "search.db"), *got;

    fill(d, 10);
    CHECK_INT(0, mkdir(path, 0700));
    got = desk_find(d, "number7", "");
    CHECK_MSG(strstr(got, "error: ") == got && strstr(got, "search.db"), "%s", got);
    CHECK_INT(0, rmdir(path));
    CHECK_TEXT("t7", desk_find(d, "number7", ""));
}

/* One bit that is wrong: the right answer; or, where it is in a list of what has a word, `validate`
 * tells, and `repair` makes it right. It is never refused, and no hit is of what is not there. */
TEST(wreck_files, flipped_bits)
{
    desk *d = desk_open(t);
    test_rng rng = test_rng_new(test_seed());
    size_t rounds = test_is_long() ? 5000 : 200;
    unsigned wrong = 0;
    const char *want;
    valise_str file;

    fill(d, 60);
    want = many(d);
    desk_close(d);
    file = test_read_file(desk_path(d, "search.db"));
    for (size_t i = 0; i < rounds; i++) {
        char *copy = test_alloc(file.len);
        size_t at = (size_t)test_random_below(&rng, file.len);
        const char *got;
        memcpy(copy, file.ptr, file.len);
        copy[at] = (char)(copy[at] ^ (1 << test_random_below(&rng, 8)));
        put_index(d, vls_str(copy, file.len));
        got = many(d);
        if (strcmp(got, want) == 0)
            continue;
        CHECK_MSG(!strstr(got, "error:"), "byte %zu: %s", at, got);
        CHECK_MSG(strlen(got) < strlen(want), "byte %zu: %s", at, got);
        CHECK_MSG(desk_try(d, "", "workspace:validate", "") < 0, "byte %zu: %s", at, got);
        CHECK_OK(desk_try(d, "", "workspace:repair", ""));
        CHECK_TEXT(want, many(d));
        wrong++;
    }
    test_note("%u of %zu were found by validate alone", wrong, rounds);
}

/* ---- what FTS5 finds nothing wrong with ---- */

/* The index has lost something, and only `validate` can know. */
static void check_mended(desk *d, const char *query, const char *want)
{
    const char *answer = desk_run(d, "workspace:repair", "");
    test *t = d->t;

    CHECK_MSG(strstr(answer, "index search"), "%s", answer);
    CHECK_TEXT(want, desk_find(d, query, "\"limit\":1000"));
    CHECK_OK(desk_try(d, "", "workspace:validate", ""));
}

/* A bit of a term that an even number of turns share: in FTS5's sum most take themselves away. The
 * first byte of the term is FTS5's own, and one that all terms of the leaf begin with. */
TEST(wreck_files, flipped_bits_of_a_word)
{
    static const char term[] = "0common";
    const size_t len = sizeof(term) - 1;
    desk *d = desk_open(t);
    const char *want, *at;
    valise_str file;

    fill(d, 60);
    want = many(d);
    desk_close(d);
    file = test_read_file(desk_path(d, "search.db"));
    at = memmem(file.ptr, file.len, term, len);
    while (at && at[len] == ' ') /* of a text, behind some number */
        at = memmem(at + 1, file.len - (size_t)(at + 1 - file.ptr), term, len);
    CHECK(at);
    for (size_t i = 0; i < 8 * len; i++) {
        char *copy = test_alloc(file.len);
        memcpy(copy, file.ptr, file.len);
        copy[(size_t)(at - file.ptr) + i / 8] ^= (char)(1 << i % 8);
        put_index(d, vls_str(copy, file.len));
        CHECK_TEXT("", many(d));
        CHECK_RC(VALISE_E_CORRUPT, desk_try(d, "", "workspace:validate", ""));
        check_mended(d, "common", want);
    }
}

/* ---- what SQLite finds nothing wrong with ---- */

static void change_index(desk *d, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;

    desk_close(d);
    CHECK_INT(SQLITE_OK, sqlite3_open(desk_path(d, "search.db"), &db));
    CHECK_MSG(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK, "%s: %s", sql, why);
    CHECK(sqlite3_changes(db) > 0);
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    desk_reopen(d);
}

/* Keys that are none, or of nothing that is there; docs of another time. A hit that is shown and
 * one that is only looked at: the index is made anew. */
TEST(wreck_files, docs_that_are_wrong)
{
    static const char *const changes[] = {
        "UPDATE doc SET key = x'00' WHERE text LIKE '%number7'",
        "UPDATE doc SET key = x'' WHERE text LIKE '%number7'",
        "UPDATE doc SET key = substr(key, 1, length(key) - 1) || x'09' WHERE text LIKE '%number7'",
        "UPDATE doc SET key = (SELECT key || x'01' FROM doc LIMIT 1) WHERE text LIKE '%number7'",
        "UPDATE doc SET id = id + (1 << 40) WHERE text LIKE '%number7'",
        "DELETE FROM doc WHERE text LIKE '%number7'",
        "UPDATE state SET hash = x'00'",
        "UPDATE state SET building = 9",
    };
    desk *d = desk_open(t);

    fill(d, 20);
    (void)many(d);
    for (size_t i = 0; i < 2 * VLS_COUNT(changes); i++) {
        change_index(d, changes[i / 2]);
        CHECK_TEXT("t7", desk_find(d, "number7", i % 2 ? "\"session\":\"s\"" : ""));
        CHECK_OK(desk_try(d, "", "workspace:validate", ""));
    }
}

/* What no search can see, `validate` does. */
TEST(wreck_files, docs_that_validate_knows)
{
    static const char *const changes[] = {
        "UPDATE doc SET expires = 1 WHERE text LIKE '%number7'",
        "UPDATE doc SET time = 1 WHERE text LIKE '%number7'",
        "UPDATE doc SET topics = 'x' WHERE text LIKE '%number7'",
        "UPDATE doc SET text = 'other' WHERE text LIKE '%number7'",
    };
    desk *d = desk_open(t);

    fill(d, 20);
    (void)many(d);
    for (size_t i = 0; i < VLS_COUNT(changes); i++) {
        change_index(d, changes[i]);
        CHECK_MSG(desk_try(d, "", "workspace:validate", "") < 0, "%s", changes[i]);
        CHECK_OK(desk_try(d, "", "workspace:repair", ""));
        CHECK_TEXT("t7", desk_find(d, "number7", ""));
        CHECK_OK(desk_try(d, "", "workspace:validate", ""));
    }
}

/* A search comes to the leaf of a word by the first terms of leaves. One that is too low leads to a
 * leaf which lies behind the word. */
TEST(wreck_files, ways_that_lead_elsewhere)
{
    desk *d = desk_open(t);

    fill(d, 1000);
    CHECK_TEXT("t1", desk_find(d, "number1", ""));
    change_index(d, "UPDATE fts_idx SET term = CAST('0number' AS BLOB) "
                    "WHERE term = (SELECT min(term) FROM fts_idx "
                    "WHERE CAST(term AS TEXT) GLOB '0number[1-9]*')");
    CHECK_TEXT("", desk_find(d, "number1", ""));
    CHECK_RC(VALISE_E_CORRUPT, desk_try(d, "", "workspace:validate", ""));
    check_mended(d, "number1", "t1");
}

/* ---- rights ---- */

/* A file that may not be written, in a folder that may: another is made. */
static void search_as_nobody(desk *d)
{
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    desk_reopen(d);
    CHECK_TEXT("t7", desk_find(d, "number7", ""));
    desk_say(d, 11, "number11"); /* it has to be written now */
    CHECK_TEXT("t11", desk_find(d, "number11", ""));
    desk_close(d);
}

TEST(wreck_files, may_not_be_written)
{
    desk *d = desk_open(t);
    int status = 1;
    pid_t pid;

    if (geteuid() != 0)
        SKIP("needs another user to be");
    fill(d, 10);
    (void)many(d);
    desk_close(d);
    CHECK_INT(0, chmod(test_tmpdir(), 0755));
    CHECK_INT(0, system(test_format("chown -R 65534:65534 '%s'", d->dir)));
    CHECK_INT(0, chmod(desk_path(d, "search.db"), 0400));
    pid = fork();
    if (pid == 0) {
        search_as_nobody(d);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(0, status);
}
