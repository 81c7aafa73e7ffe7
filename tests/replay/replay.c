/* replay.c -- stores of every format there ever was open and replay to the same hash. [Q22 K19 K32]
 *
 * README.md here says how the files come about. */
#define VLS_ALLOW_MALLOC
#include <sqlite3.h>
#include <sys/stat.h>

#include <valise.h>
#include <valise/workspace.h>

#include "harness/test.h"
#include "kit/counter.h"
#include "kit/replayed.h"
#include "kit/vault.h"

#include "base/str.h"
#include "store/store.h"

static const valise_extension *const extensions[] = {&counter_extension, &vault_extension, NULL};

static const char *file_of(const char *name)
{
    return test_format("%s/tests/replay/%s", getenv("VALISE_SOURCE_ROOT"), name);
}

static valise *open_at(test *t, const char *path, unsigned flags)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise *v = NULL;

    o.env = t->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG | flags;
    o.extensions = extensions;
    CHECK_OK(valise_open(&v, path, &o, &t->err));
    return v;
}

static const char *run(test *t, valise *v, const char *type, const char *payload, const char *at)
{
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    call.at = valise_str_of(at);
    CHECK_OK(valise_dispatch(&reply, v, type, payload, &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

/* What format-N.txt holds. */
static const char *hashes(test *t, valise *v)
{
    const char *state = run(t, v, "workspace:hash", "{}", "");
    const char *tip = strstr(run(t, v, "log:list", "{\"limit\":1}", ""), "\"hash\":");

    CHECK(tip);
    return test_format("%s\n%.73s\n", state, tip);
}

/* ---- a file from text ---- */

static void build(const char *sql, const char *path)
{
    sqlite3 *db = NULL;
    char *text = NULL;

    CHECK_INT(SQLITE_OK, sqlite3_open(path, &db));
    CHECK_MSG(sqlite3_exec(db, test_read_file(sql).ptr, NULL, NULL, &text) == SQLITE_OK, "%s",
              text ? text : "");
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    CHECK_INT(0, chmod(path, 0600));
}

static const char *restore(test *t, int format)
{
    const char *dir = test_format("%s/format-%d", test_tmpdir(), format);
    valise *v = open_at(t, dir, VALISE_OPEN_CREATE); /* the folder with all that belongs to it */
    const char *path = test_format("%s/.valise/valise.db", dir);

    valise_close(v);
    test_remove(path);
    test_remove(test_format("%s-wal", path));
    test_remove(test_format("%s-shm", path));
    build(file_of(test_format("format-%d.sql", format)), path);
    return dir;
}

TEST(replay, every_format_opens_and_replays_to_the_same_hash)
{
    for (int format = 1; format <= VLS_FORMAT; format++) {
        const char *dir = restore(t, format);
        valise_str expected = test_read_file(file_of(test_format("format-%d.txt", format)));
        valise *v = open_at(t, dir, 0);
        CHECK_STR(expected, valise_str_of(hashes(t, v)));
        CHECK_TEXT("{\"items\":[]}", run(t, v, "workspace:validate", "{}", ""));
        CHECK(strstr(expected.ptr, replayed(t, v)));
        CHECK(strstr(run(t, v, "counter:get", "{\"name\":\"a\"}", "3"), "\"value\":2"));
        CHECK(strstr(run(t, v, "counter:get", "{\"name\":\"a\"}", ""), "\"value\":7"));
        CHECK(strstr(run(t, v, "vault:get", "{\"name\":\"large\"}", ""), "\"readable\":true"));
        (void)run(t, v, "counter:add", "{\"name\":\"a\"}", ""); /* and it goes on */
        CHECK_TEXT("{\"items\":[]}", run(t, v, "workspace:validate", "{}", ""));
        valise_close(v);
    }
}

/* ---- writing the files of this format ---- */

static void fill(test *t, valise *v)
{
    static char large[9000];

    (void)run(t, v, "counter:add", "{\"name\":\"a\",\"tags\":[\"x\",\"y\"]}", "");
    (void)run(t, v, "counter:add", "{\"name\":\"a\",\"note\":\"two\"}", "");
    (void)run(t, v, "counter:add", "{\"name\":\"b\",\"meta\":{\"k\":[1,2.5,null]}}", "");
    (void)run(t, v, "counter:add", "{\"name\":\"a\",\"by\":5}", "");
    (void)run(t, v, "counter:remove", "{\"name\":\"b\"}", "");
    (void)run(t, v, "agent:add", "{\"id\":\"eve\",\"role\":\"reader\"}", "");
    (void)run(t, v, "pin:add", "{\"name\":\"p\",\"target\":\"3\"}", "");
    (void)run(t, v, "retention:set", "{\"kind\":\"log\",\"age\":\"90d\"}", "");
    (void)run(t, v, "vault:put", "{\"name\":\"small\",\"label\":\"l\",\"body\":\"b\"}", "");
    for (size_t i = 0, n = 7; i < sizeof(large) - 1; i++, n = n * 75 % 65537)
        large[i] = (char)('a' + n % 26);
    (void)run(t, v, "vault:put", test_format("{\"name\":\"large\",\"body\":\"%s\"}", large), "");
    large[4000] = '!';
    (void)run(t, v, "vault:put", test_format("{\"name\":\"large\",\"body\":\"%s\"}", large), "");
}

static const char *quoted(sqlite3_stmt *stmt, int column)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *out;
    const char *copy;

    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_NULL:
        sqlite3_str_appendall(text, "NULL");
        break;
    case SQLITE_INTEGER:
        sqlite3_str_appendf(text, "%lld", sqlite3_column_int64(stmt, column));
        break;
    case SQLITE_TEXT:
        sqlite3_str_appendf(text, "%Q", sqlite3_column_text(stmt, column));
        break;
    default:
        sqlite3_str_appendall(text, "X'");
        for (int i = 0; i < sqlite3_column_bytes(stmt, column); i++)
            sqlite3_str_appendf(text, "%02x",
                                ((const uint8_t *)sqlite3_column_blob(stmt, column))[i]);
        sqlite3_str_appendall(text, "'");
    }
    out = sqlite3_str_finish(text);
    copy = test_format("%s", out);
    sqlite3_free(out);
    return copy;
}

static void dump_table(FILE *out, sqlite3 *db, const char *name)
{
    sqlite3_stmt *rows = NULL;

    CHECK_INT(SQLITE_OK,
              sqlite3_prepare_v2(db, test_format("SELECT * FROM \"%s\"", name), -1, &rows, NULL));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        (void)fprintf(out, "INSERT INTO \"%s\" VALUES(", name);
        for (int i = 0; i < sqlite3_column_count(rows); i++)
            (void)fprintf(out, "%s%s", i ? "," : "", quoted(rows, i));
        (void)fprintf(out, ");\n");
    }
    CHECK_INT(SQLITE_OK, sqlite3_finalize(rows));
}

static int pragma(sqlite3 *db, const char *name)
{
    sqlite3_stmt *stmt = NULL;
    int value;

    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(db, test_format("PRAGMA %s", name), -1, &stmt, NULL));
    CHECK_INT(SQLITE_ROW, sqlite3_step(stmt));
    value = sqlite3_column_int(stmt, 0);
    CHECK_INT(SQLITE_OK, sqlite3_finalize(stmt));
    return value;
}

static void dump(const char *path, const char *to)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *schema = NULL;
    FILE *out = fopen(to, "w");

    CHECK(out);
    CHECK_INT(SQLITE_OK, sqlite3_open(path, &db));
    (void)fprintf(out, "PRAGMA page_size=4096;\nPRAGMA auto_vacuum=INCREMENTAL;\n");
    (void)fprintf(out, "PRAGMA journal_mode=WAL;\nPRAGMA application_id=%d;\n",
                  pragma(db, "application_id"));
    (void)fprintf(out, "PRAGMA user_version=%d;\nBEGIN;\n", pragma(db, "user_version"));
    CHECK_INT(SQLITE_OK, sqlite3_prepare_v2(db,
                                            "SELECT type, name, sql FROM sqlite_schema"
                                            " WHERE sql NOT NULL ORDER BY rowid",
                                            -1, &schema, NULL));
    while (sqlite3_step(schema) == SQLITE_ROW) {
        (void)fprintf(out, "%s;\n", (const char *)sqlite3_column_text(schema, 2));
        if (strcmp((const char *)sqlite3_column_text(schema, 0), "table") == 0)
            dump_table(out, db, (const char *)sqlite3_column_text(schema, 1));
    }
    (void)fprintf(out, "COMMIT;\n");
    CHECK_INT(SQLITE_OK, sqlite3_finalize(schema));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
    CHECK_INT(0, fclose(out));
}

TEST(replay, write_a_store)
{
    const char *dir = test_format("%s/new", test_tmpdir());
    valise *v;

    if (!getenv("VALISE_MAKE_REPLAY"))
        SKIP("only with VALISE_MAKE_REPLAY=1, for a new format");
    v = open_at(t, dir, VALISE_OPEN_CREATE);
    fill(t, v);
    test_write_file(file_of(test_format("format-%d.txt", VLS_FORMAT)), valise_str_of(hashes(t, v)));
    valise_close(v);
    dump(test_format("%s/.valise/valise.db", dir),
         file_of(test_format("format-%d.sql", VLS_FORMAT)));
}
