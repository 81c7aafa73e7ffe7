/* again.c -- a file that is read twice, that grew, or whose turns were deleted here. [W20] */
#include "exchange/kit.h"

#define USER(uuid, parent, text)                                                                   \
    "{\"type\":\"user\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent                              \
    ",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"" text "\"}}\n"
#define LINE(uuid, parent, message, block)                                                         \
    "{\"type\":\"assistant\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent                         \
    ",\"sessionId\":\"s\",\"message\":{\"id\":\"" message                                          \
    "\",\"role\":\"assistant\",\"content\":[" block "]}}\n"
#define SAYS(text) "{\"type\":\"text\",\"text\":\"" text "\"}"

static const char start[] = USER("1", "null", "one") LINE("2", "\"1\"", "m", SAYS("two"));
static const char longer[] =
    USER("1", "null", "one") LINE("2", "\"1\"", "m", SAYS("two")) USER("3", "\"2\"", "three");

static const char *session_of(const char *answer)
{
    return test_format("\"sessionId\":\"%s\"", desk_member(answer, "sessionId"));
}

TEST(again, twice_is_once)
{
    static const char *const files[] = {"conversations.json", "claude-code.jsonl", "openai.jsonl"};
    desk *d = desk_open(t);

    for (size_t i = 0; i < VLS_COUNT(files); i++) {
        const char *first = desk_import_path(d, desk_data(files[i])), *second;
        long seq = desk_seq(d);
        second = desk_import_path(d, desk_data(files[i]));
        CHECK_INT(seq, desk_seq(d));
        CHECK_INT(0, desk_number(second, "turns"));
        CHECK_INT(0, desk_number(second, "blobs"));
        CHECK_INT(desk_number(first, "turns"), desk_number(second, "there"));
        CHECK_INT(desk_number(first, "conversations"), desk_number(second, "conversations"));
    }
    desk_check(d);
}

TEST(again, a_longer_file_moves_the_head)
{
    desk *d = desk_open(t);
    const char *session = session_of(desk_import(d, start, "")), *answer;

    answer = desk_import(d, longer, "");
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "sessions"));
    CHECK(strstr(desk_export(d, session), "three"));
    CHECK_INT(0, desk_number(desk_run(d, "session:export", session), "branches"));
    desk_check(d);
}

/* Somebody went on here: that stays the head, and what is new is a tip. */
TEST(again, a_head_of_ours_stays)
{
    desk *d = desk_open(t);
    const char *session = session_of(desk_import(d, start, ""));

    (void)desk_run(d, "turn:add", test_format("%s,\"role\":\"user\",\"text\":\"mine\"", session));
    CHECK_INT(1, desk_number(desk_import(d, longer, ""), "turns"));
    CHECK(strstr(desk_export(d, session), "mine"));
    CHECK(!strstr(desk_export(d, session), "three"));
    CHECK_INT(1, desk_number(desk_run(d, "session:export", session), "branches"));
    CHECK_INT(0, desk_number(desk_import(d, longer, ""), "turns"));
    desk_check(d);
}

/* A rewind in the other program: both ends are there, the newer is the head. */
TEST(again, a_branch_that_comes_later)
{
    desk *d = desk_open(t);
    const char *session = session_of(desk_import(d, longer, ""));
    const char *text = test_format("%s%s", longer, USER("4", "\"2\"", "four"));

    CHECK_INT(1, desk_number(desk_import(d, text, ""), "turns"));
    CHECK(strstr(desk_export(d, session), "four"));
    CHECK(!strstr(desk_export(d, session), "three"));
    CHECK_INT(1, desk_number(desk_run(d, "session:export", session), "branches"));
    desk_check(d);
}

/* A message of which only some lines were written when it was read. */
TEST(again, a_message_that_grew)
{
    desk *d = desk_open(t);
    const char *session = session_of(desk_import(d, start, "")), *answer;
    const char *more = LINE("2b", "\"2\"", "m", SAYS("and")) LINE("2c", "\"2b\"", "m", SAYS("half"))
        USER("5", "\"2c\"", "five");

    answer = desk_import(d, test_format("%s%s", start, more), "");
    CHECK_INT(2, desk_number(answer, "turns"));
    answer = desk_export(d, session);
    CHECK(strstr(answer, "two\n\n## assistant") && strstr(answer, "and\n\nhalf\n\n## user") &&
          strstr(answer, "five"));
    CHECK_INT(0, desk_number(desk_import(d, test_format("%s%s", start, more), ""), "turns"));
    desk_check(d);
}

/* The same of one that had two lines already. */
TEST(again, a_message_that_grew_by_its_third_line)
{
    desk *d = desk_open(t);
    const char *two = test_format("%s%s", start, LINE("2b", "\"2\"", "m", SAYS("and")));
    const char *session = session_of(desk_import(d, two, "")), *answer;

    answer = desk_import(d, test_format("%s%s", two, LINE("2c", "\"2b\"", "m", SAYS("half"))), "");
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK(strstr(desk_export(d, session), "two\n\nand\n\n## assistant"));
    CHECK(strstr(desk_export(d, session), "half"));
}

TEST(again, what_was_deleted_stays_away)
{
    desk *d = desk_open(t);
    const char *session = session_of(desk_import(d, longer, "")), *answer;

    (void)desk_run(d, "turn:delete", test_format("%s,\"turnId\":\"HEAD\"", session));
    answer = desk_import(d, longer, "");
    CHECK_INT(0, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "deleted"));
    /* What comes behind it comes behind what is left. */
    answer = desk_import(d, test_format("%s%s", longer, USER("6", "\"3\"", "six")), "");
    CHECK_INT(1, desk_number(answer, "turns"));
    answer = desk_export(d, session);
    CHECK(strstr(answer, "two\n\n## user") && strstr(answer, "six") && !strstr(answer, "three"));
    desk_validate(d);
}

/* A placeholder is there, without the call that a later result would answer. */
TEST(again, a_result_of_an_erased_call)
{
    desk *d = desk_open(t);
    const char *text = USER("1", "null", "one")
        LINE("2", "\"1\"", "m", "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}")
            USER("3", "\"2\"", "three");
    const char *session = session_of(desk_import(d, text, "")), *answer;

    (void)desk_run(d, "turn:delete", test_format("%s,\"turnId\":\"HEAD~1\"", session));
    answer = desk_import(
        d,
        test_format("%s%s", text,
                    "{\"type\":\"user\",\"uuid\":\"4\",\"parentUuid\":\"3\","
                    "\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":[{"
                    "\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"r\"}]}}\n"),
        "");
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "orphans"));
    CHECK(strstr(desk_export(d, session), "x-orphan-tool_result"));
    desk_validate(d);
}

TEST(again, label_topics_and_role)
{
    desk *d = desk_open(t);

    (void)desk_run(d, "role:add", "\"name\":\"helper\"");
    (void)desk_import(d, start, "\"label\":\"mine\",\"topics\":[\"b\",\"a\"],\"role\":\"helper\"");
    CHECK(strstr(desk_run(d, "session:list", ""), "\"label\":\"mine\",\"role\":\"helper\"") ||
          strstr(desk_run(d, "session:list", ""), "helper"));
    test_write_file(test_format("%s/x", test_tmpdir()),
                    VLS_STR("{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             desk_try(d, "session:import",
                      test_format("\"path\":\"%s/x\",\"role\":\"nobody\"", test_tmpdir())));
    desk_check(d);
}

/* More turns than one command takes, more conversations than anybody has. */
TEST(again, many)
{
    desk *d = desk_open(t);
    const char *path = test_format("%s/many", test_tmpdir());
    FILE *file = fopen(path, "w");
    const char *answer;
    long seq = desk_seq(d);

    CHECK(file);
    for (int i = 0; i < 500; i++)
        (void)fprintf(file,
                      "{\"type\":\"user\",\"uuid\":\"u%d\",\"parentUuid\":\"u%d\",\"sessionId\":"
                      "\"long\",\"message\":{\"role\":\"user\",\"content\":\"number %d\"}}\n",
                      i, i - 1, i);
    (void)fclose(file);
    answer = desk_import_path(d, path);
    CHECK_INT(500, desk_number(answer, "turns"));
    CHECK_INT(seq + 3, desk_seq(d));
    file = fopen(path, "w");
    CHECK(file);
    for (int i = 0; i < 1000; i++)
        (void)fprintf(file, "{\"messages\":[{\"role\":\"user\",\"content\":\"%d\"}]}\n", i);
    (void)fclose(file);
    answer = desk_import_path(d, path);
    CHECK_INT(1000, desk_number(answer, "sessions"));
    CHECK_INT(1000, desk_number(desk_import_path(d, path), "there"));
    desk_check(d);
}
