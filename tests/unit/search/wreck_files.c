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
