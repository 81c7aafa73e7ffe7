/* hostile.c -- files that are wrong, torn, or made to hurt. [W20] [Q26] */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "exchange/foreign.h"
#include "exchange/kit.h"

static int try_text(desk *d, valise_str text, const char *more)
{
    const char *path = test_format("%s/bad", test_tmpdir());

    test_write_file(path, text);
    return desk_try(d, "session:import",
                    test_format("\"path\":\"%s\"%s%s", path, *more ? "," : "", more));
}

#define MESSAGE(text) "{\"messages\":[{\"role\":\"user\",\"content\":\"" text "\"}]}"

TEST(hostile, bad_records_are_told_with_their_line)
{
    desk *d = desk_open(t);
    const char *answer = desk_import(d, MESSAGE("1") "\n{bad}\n" MESSAGE("2") "\n[]\n", "");

    CHECK_INT(2, desk_number(answer, "turns"));
    CHECK_INT(2, desk_number(answer, "problemCount"));
    CHECK(strstr(answer, "\"line\":2") && strstr(answer, "\"offset\":46"));
    desk_check(d);
}

TEST(hostile, strict_imports_nothing)
{
    desk *d = desk_open(t);
    long seq = desk_seq(d);

    CHECK_RC(VALISE_E_INVALID,
             try_text(d, VLS_STR(MESSAGE("1") "\n{bad}\n" MESSAGE("2") "\n"), "\"strict\":true"));
    CHECK(strstr(t->err.message, "line 2"));
    CHECK_INT(seq, desk_seq(d));
    CHECK_OK(try_text(d, VLS_STR(MESSAGE("1") "\n"), "\"strict\":true"));
}

TEST(hostile, what_is_no_file_of_ours)
{
    desk *d = desk_open(t);
    const char *path = test_format("%s/empty", test_tmpdir());

    CHECK_OK(try_text(d, VLS_STR(""), ""));
    CHECK_OK(try_text(d, VLS_STR("[]"), ""));
    CHECK_RC(VALISE_E_INVALID, try_text(d, VLS_STR("hello"), ""));
    CHECK_RC(VALISE_E_INVALID, try_text(d, VLS_STR("{\"a\":1}\n"), ""));
    CHECK_RC(VALISE_E_INVALID, try_text(d, VLS_STR("\x00\xFF\xFE"), ""));
    CHECK_RC(VALISE_E_UNSUPPORTED, try_text(d, VLS_STR("PK\x03\x04..."), ""));
    CHECK_RC(VALISE_E_NOT_FOUND, desk_try(d, "session:import", "\"path\":\"/nowhere/x\""));
    CHECK_INT(0, mkdir(path, 0700));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "session:import", test_format("\"path\":\"%s\"", path)));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "session:import", ""));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "session:import", "\"path\":\"/x\",\"data\":\"e30=\""));
    if (geteuid() != 0) {
        CHECK_INT(0, chmod(path, 0));
        CHECK_RC(VALISE_E_DENIED,
                 desk_try(d, "session:import", test_format("\"path\":\"%s/x\"", path)));
        CHECK_INT(0, chmod(path, 0700));
    }
    desk_check(d);
}

/* What is wrong with it is told, not only that it is. */
TEST(hostile, the_reason_is_told)
{
    desk *d = desk_open(t);

    CHECK_RC(VALISE_E_INVALID,
             try_text(d, VLS_STR("{\"messages\":[{\"role\":\"user\",\"content\":1e999}]}\n"), ""));
    CHECK_MSG(strstr(t->err.message, "line 1, byte 3"), "%s", t->err.message);
}

TEST(hostile, odd_texts)
{
    desk *d = desk_open(t);
    const char *answer;
    char *deep = test_alloc(1200);

    answer = desk_import(
        d,
        "\xEF\xBB\xBF" MESSAGE("bom") "\r\n" MESSAGE(
            "a\\u0000b") "\r\n"
                         "{\"messages\":[],\"messages\":[{\"role\":\"user\",\"content\":\"twice\"}]"
                         "}\n" MESSAGE("half \\ud83d pair \\ud83d\\ude00") "\n",
        "");
    CHECK_INT(4, desk_number(answer, "turns"));
    answer = desk_export(d, "\"all\":true,\"format\":\"openai\"");
    CHECK(strstr(answer, "a\\u0000b") && strstr(answer, "twice") &&
          strstr(answer, "half \xEF\xBF\xBD pair \xF0\x9F\x98\x80"));
    memset(deep, '[', 1000);
    deep[1000] = '\0';
    CHECK_RC(VALISE_E_INVALID, try_text(d, valise_str_of(deep), ""));
    answer = desk_import(d, test_format("%s\n{\"messages\":%s\n", MESSAGE("x"), deep), "");
    CHECK_INT(1, desk_number(answer, "problemCount"));
    desk_check(d);
}

/* Turns that come before themselves, calls with one id, nothing said at all. */
TEST(hostile, graphs)
{
    desk *d = desk_open(t);
    const char *answer =
        desk_import(d,
                    "[{\"id\":\"c\",\"current_node\":\"a\",\"mapping\":{"
                    "\"a\":{\"parent\":\"b\",\"message\":{\"author\":{\"role\":\"user\"},"
                    "\"content\":{\"content_type\":"
                    "\"text\",\"parts\":[\"a\"]}}},"
                    "\"b\":{\"parent\":\"a\",\"message\":{\"author\":{\"role\":\"tool\"},"
                    "\"content\":{\"content_type\":"
                    "\"text\",\"parts\":[]}}},"
                    "\"c\":{\"parent\":\"c\",\"message\":{\"author\":{\"role\":\"user\"}}},"
                    "\"d\":7,\"e\":{\"message\":\"text\"}}}]",
                    "");

    CHECK_INT(3, desk_number(answer, "turns"));
    answer = desk_import(d,
                         "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"x\","
                         "\"function\":{\"name\":\"\"}},"
                         "{\"id\":\"x\",\"function\":{\"arguments\":7}},{\"id\":5},8]},{\"role\":"
                         "\"tool\",\"tool_call_id\":"
                         "\"x\",\"content\":[{\"type\":\"thinking\"},{\"type\":\"tool_use\"},3]},{"
                         "\"role\":\"user\"}]}\n",
                         "");
    CHECK_INT(3, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "problemCount"));
    desk_check(d);
}

static void *write_pipe(void *arg)
{
    int fd = open(arg, O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!write(fd, MESSAGE("through a pipe") "\n",
                     sizeof(MESSAGE("through a pipe") "\n") - 1);
        (void)close(fd);
    }
    return NULL;
}

static void read_pipe(size_t index, void *arg)
{
    desk *d = arg;
    char *path = (char *)(uintptr_t)test_format("%s/pipe", test_tmpdir());

    if (index == 0)
        (void)write_pipe(path);
    else
        CHECK_INT(1, desk_number(desk_import_path(d, path), "turns"));
}

TEST(hostile, a_pipe)
{
    desk *d = desk_open(t);

    CHECK_INT(0, mkfifo(test_format("%s/pipe", test_tmpdir()), 0600));
    test_threads(2, read_pipe, d);
    desk_check(d);
}

/* Links in a folder are not followed, and names in records lead nowhere. */
TEST(hostile, nothing_leads_out_of_the_folder)
{
    desk *d = desk_open(t);
    const char *dir = test_format("%s/export", test_tmpdir()), *answer;

    CHECK_INT(0, mkdir(dir, 0700));
    test_write_file(test_format("%s/secret.png", test_tmpdir()), VLS_STR("secret"));
    CHECK_INT(0, symlink("../secret.png", test_format("%s/secret.png", dir)));
    test_write_file(
        test_format("%s/conversations.json", dir),
        VLS_STR("[{\"id\":\"c\",\"mapping\":{\"a\":{\"message\":{\"author\":{\"role\":\"user\"},"
                "\"content\":{"
                "\"content_type\":\"multimodal_text\",\"parts\":[{\"content_type\":\"image_asset_"
                "pointer\","
                "\"asset_pointer\":\"x://secret\"},{\"content_type\":\"image_asset_pointer\","
                "\"asset_pointer\":\"x://../secret.png\"}]}}}}}]"));
    answer = desk_import_path(d, dir);
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "blobs"));
    CHECK(strstr(answer, "{\"count\":2,\"type\":\"image_asset_pointer\"}"));
}

/* A file that cannot be opened does not keep the others out. */
TEST(hostile, a_file_that_is_closed)
{
    desk *d = desk_open(t);
    const char *dir = test_format("%s/closed", test_tmpdir()), *answer;

    if (geteuid() == 0)
        SKIP("for root every file is open");
    CHECK_INT(0, mkdir(dir, 0700));
    test_write_file(test_format("%s/a.jsonl", dir), VLS_STR(MESSAGE("a") "\n"));
    test_write_file(test_format("%s/b.jsonl", dir), VLS_STR(MESSAGE("b") "\n"));
    CHECK_INT(0, chmod(test_format("%s/a.jsonl", dir), 0));
    answer = desk_import_path(d, dir);
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
}

/* Change some bytes of a good file: it is imported in part, or refused; what is there is right. */
/* Of all that is in use the most, and what is told last. */
static int watch(void *arg, const valise_progress_state *state)
{
    size_t *most = arg;

    (void)state;
    *most = VLS_MAX(*most, test_bytes_in_use(NULL));
    return 0;
}

TEST(hostile, memory_is_that_of_one_file)
{
    desk *d = desk_open(t);
    const char *dir = test_format("%s/many", test_tmpdir());
    valise_call call = VALISE_CALL_INIT;
    size_t before, most = 0;

    CHECK_INT(0, mkdir(dir, 0700));
    for (int i = 0; i < 200; i++)
        test_write_file(test_format("%s/%d.jsonl", dir, i),
                        valise_str_of(test_format(MESSAGE("number %d") "\n", i)));
    call.progress = (valise_progress){watch, &most};
    before = test_bytes_in_use(t);
    CHECK_OK(valise_dispatch(NULL, d->v, "session:import", test_format("{\"path\":\"%s\"}", dir),
                             &call, &t->err));
    CHECK_MSG(most > before && most - before < (size_t)4 << 20, "%zu bytes more", most - before);
}

TEST(hostile, random_changes)
{
    static const char *const files[] = {"conversations.json", "claude-code.jsonl", "openai.jsonl"};
    static const char bytes[] = "{}[]\",:\\0a\n\xFF";
    test_rng rng = test_rng_new(test_seed());
    size_t rounds = test_is_long() ? 3000 : 150;

    for (size_t i = 0; i < rounds; i++) {
        valise_str good = test_read_file(desk_data(files[i % VLS_COUNT(files)]));
        char *bad = test_alloc(good.len + 1);
        desk *d = i % 10 == 0 || i < 3 ? desk_open(t) : NULL;
        static desk *last;
        size_t changes = 1 + (size_t)test_random_below(&rng, 4);
        int rc;
        if (d)
            last = d;
        memcpy(bad, good.ptr, good.len);
        for (size_t k = 0; k < changes; k++)
            bad[test_random_below(&rng, good.len)] =
                bytes[test_random_below(&rng, sizeof(bytes) - 1)];
        rc = try_text(last, vls_str(bad, good.len - (size_t)test_random_below(&rng, 3)), "");
        CHECK_MSG(rc == 0 || rc == VALISE_E_INVALID || rc == VALISE_E_UNSUPPORTED, "%d: %s", rc,
                  t->err.message);
        vls_error_clear(&t->err);
        if (i % 10 == 9)
            desk_check(last);
    }
}

/* Time must go with the lines, not with lines times agents: 4 s for what took minutes. */
TEST(hostile, an_agent_for_each_line)
{
    enum { AGENTS = 60000 };
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_notes notes = {.arena = &arena};
    vls_translation r = {.env = t->env, .arena = &arena, .notes = &notes};
    vls_claude *c = NULL;
    vls_foreign *all;
    size_t count = 0;
    clock_t before;

    vls_arena_init(&arena, t->env, (size_t)1 << 30);
    CHECK_OK(vls_claude_begin(&c, &r, &t->err));
    for (int i = 0; i < AGENTS; i++) {
        valise_str text = valise_str_of(test_format(
            "{\"type\":\"user\",\"uuid\":\"u%d\",\"isSidechain\":true,\"agentId\":\"a%d\","
            "\"message\":{\"role\":\"user\",\"content\":\"x\"}}",
            i, i));
        vls_json record;
        CHECK_OK(vls_json_parse(&record, &arena, text, NULL, &t->err));
        CHECK_OK(vls_claude_line(c, text, record, &t->err));
    }
    before = clock();
    CHECK_OK(vls_claude_finish(&all, &count, c, &t->err));
    CHECK_INT(AGENTS, count);
    CHECK_MSG(clock() - before < 4 * CLOCKS_PER_SEC, "%ld ms",
              (long)((clock() - before) / (CLOCKS_PER_SEC / 1000)));
}
