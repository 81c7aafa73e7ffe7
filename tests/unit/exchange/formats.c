/* formats.c -- each foreign format, with each kind of content it has. [W20] */
#include <sys/stat.h>

#include "exchange/foreign.h"
#include "exchange/kit.h"

TEST_PARAMS(formats, "memory", "sqlite")

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

#define CHECK_HAS(text, part) CHECK_MSG(has((text), (part)), "no '%s' in %s", (part), (text))

/* docs/formats.md, "Derived ids", has them from a script that shares nothing with this code. */
TEST(formats, ids_are_those_of_the_format)
{
    static const struct {
        const char *format, *conversation, *record, *id;
    } known[] = {{"chatgpt", "c-1", NULL, "5454a461-3c73-8f77-86ec-eac62607aee2"},
                 {"claude-code", "c-1", "r-1", "325ca8b4-d163-831a-861a-5dda13a23fca"}};
    const char *root = getenv("VALISE_SOURCE_ROOT");
    const char *page = test_read_file(test_format("%s/docs/formats.md", root ? root : ".")).ptr;
    char text[VALISE_UUID_TEXT];
    valise_uuid id;

    for (size_t i = 0; i < VLS_COUNT(known); i++) {
        vls_foreign_id(&id, known[i].format, valise_str_of(known[i].conversation),
                       known[i].record ? valise_str_of(known[i].record) : (valise_str){NULL, 0});
        CHECK_TEXT(known[i].id, valise_uuid_text(text, &id));
        CHECK_HAS(page, known[i].id);
    }
}

TEST(formats, chatgpt)
{
    desk *d = desk_open(t);
    const char *answer = desk_import_path(d, desk_data("conversations.json")), *text;

    CHECK_INT(2, desk_number(answer, "conversations"));
    CHECK_INT(2, desk_number(answer, "sessions"));
    CHECK_INT(14, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "blobs"));
    CHECK_INT(1, desk_number(answer, "orphans"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
    CHECK_HAS(answer, "{\"count\":1,\"type\":\"brand_new\"}");
    CHECK_HAS(answer, "{\"count\":1,\"type\":\"image_asset_pointer\"}");
    CHECK_HAS(answer, "{\"count\":1,\"type\":\"tether_quote\"}");
    CHECK_HAS(answer, "\"line\":21");

    text = desk_export(d, "\"sessionId\":\"Weather é\",\"everything\":true");
    CHECK_HAS(text,
              "## user, 2023-11-14T22:13:21.500Z\n\nWhat is this?\n\n*image file-ABC-photo.png* "
              "(image/png) blob `4c4b6a3be131");
    CHECK_HAS(text, "\"asset_pointer\": \"sediment://file_gone\"");
    CHECK_HAS(text, "**calls** `python`, call `chatgpt-n2`");
    CHECK_HAS(text, "**result**, call `chatgpt-n2`\n\n```\n1\n```");
    CHECK_HAS(text, "S\n\nC\n");
    CHECK_HAS(text, "Thought for 3 s");
    CHECK_HAS(text,
              "**calls** `browser.search`, call `chatgpt-n6`\n\n```json\n{\n  \"query\": \"sun\"");
    CHECK_HAS(text, "**result**, call `chatgpt-n6`\n\n```\nSun\n\nL1\n```");
    CHECK_HAS(text, "**failed**, call `chatgpt-n6`\n\n```\ntoo slow\n```");
    CHECK_HAS(text, "Sunny \xEF\xBF\xBD.");
    CHECK(!has(text, "Rain."));

    text = desk_run(d, "session:export", "\"sessionId\":\"Weather é\",\"format\":\"openai\"");
    CHECK_INT(2, desk_number(text, "branches"));
    CHECK_INT(2, desk_number(text, "thinking"));
    desk_check(d);
}

#define NODE(id, parent, message)                                                                  \
    "\"" id "\":{\"id\":\"" id "\",\"parent\":\"" parent "\",\"message\":{" message "}}"
#define CALL(tool)                                                                                 \
    "\"author\":{\"role\":\"assistant\"},\"recipient\":\"" tool                                    \
    "\",\"content\":{\"content_type\":\"code\",\"text\":\"1\"}"
#define RESULT(tool)                                                                               \
    "\"author\":{\"role\":\"tool\",\"name\":\"" tool                                               \
    "\"},\"content\":{\"content_type\":\"execution_output\",\"text\":\"2\"}"

/* The nearest call above of that tool, though one of another is nearer. */
TEST(formats, chatgpt_results_go_with_their_tool)
{
    desk *d = desk_open(t);
    const char
        *answer = desk_import(
            d,
            "[{\"id\":\"c\",\"title\":\"two\",\"current_node\":\"d\","
            "\"mapping\":{" NODE("a", "", CALL("python")) "," NODE("b", "a", CALL("web")) "," NODE(
                "c", "b", RESULT("python")) "," NODE("d", "c", RESULT("web")) "}}]",
            ""),
        *text = desk_export(d, "\"sessionId\":\"two\"");

    CHECK_INT(4, desk_number(answer, "turns"));
    CHECK_HAS(text, "**result**, call `chatgpt-a`");
    CHECK_HAS(text, "**result**, call `chatgpt-b`");
    CHECK(strstr(text, "**result**, call `chatgpt-a`") <
          strstr(text, "**result**, call `chatgpt-b`"));
}

/* What is kept of the record behind the first turn of a session. */
static const char *first_source(desk *d, const char *answer)
{
    const char *turns, *row;

    turns = desk_run(d, "turn:log",
                     test_format("\"sessionId\":\"%s\"", desk_member(answer, "sessionId")));
    row = desk_run(d, "workspace:show",
                   test_format("\"target\":\"turn/%.36s/1\"", desk_member(turns, "ref")));
    return desk_run(d, "workspace:show",
                    test_format("\"target\":\"%s\"", desk_member(row, "source")));
}

/* Neither order nor spaces, escapes, numbers or what stands there twice are changed. */
TEST(formats, records_are_kept_byte_for_byte)
{
    desk *d = desk_open(t);
    const char *line =
        "{\"k\":[{\"messages\":0}],\"mess\\u0061ges\": [3], \"messages\" :[ { \"role\" : "
        "\"user\",\t\"content\":\"h\\u00e9 \\ud83d ] \\\" }\", \"z\":1.50 , \"\\u007a\": 1e2} "
        ",{\"content\":\"ok\",\"role\":\"assistant\"}], \"n\" : 1.0}"
        "\n";
    const char *out;

    CHECK_HAS(first_source(d, desk_import(d, line, "")),
              "\"text\":\"{ \\\"role\\\" : \\\"user\\\",\\t\\\"content\\\":\\\"h\\\\u00e9 "
              "\\\\ud83d ] \\\\\\\" }\\\", \\\"z\\\":1.50 , \\\"\\\\u007a\\\": 1e2}\"");
    CHECK_HAS(
        first_source(
            d,
            desk_import(
                d,
                "[ {\"id\":\"c\", \"mapping\": {\"r\" : {\"id\":\"r\"}, \"n\\u0031\" :{ "
                "\"parent\":null, \"id\" : \"n1\",\n \"message\":{\"weight\": 1.0, "
                "\"author\":{\"role\":\"user\"},\"content\":{\"content_type\":\"text\",\"parts\":["
                "\"a\\/b {\"]}} }\n , \"n1x\":{\"id\":\"x\"}}, \"current_node\":\"n1\"} ]",
                "")),
        "\"text\":\"{ \\\"parent\\\":null, \\\"id\\\" : \\\"n1\\\",\\n "
        "\\\"message\\\":{\\\"weight\\\": 1.0, "
        "\\\"author\\\":{\\\"role\\\":\\\"user\\\"},\\\"content\\\":{\\\"content_type\\\":"
        "\\\"text\\\",\\\"parts\\\":[\\\"a\\\\/b {\\\"]}} }\"");
    /* And can still be written, and be read again. */
    out = desk_export(d, "\"all\":true,\"format\":\"openai\"");
    CHECK_HAS(out, "\"z\":100");
    CHECK_INT(0, desk_number(desk_import(d, line, ""), "turns"));
    desk_check(d);
}

TEST(formats, claude_code)
{
    desk *d = desk_open(t);
    const char *answer = desk_import_path(d, desk_data("claude-code.jsonl")), *text;

    CHECK_INT(2, desk_number(answer, "sessions"));
    CHECK_INT(10, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "orphans"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
    CHECK_HAS(answer, "incomplete");
    CHECK_HAS(answer, "Fix the bug, agent ag");
    text = desk_export(d, "\"sessionId\":\"Fix the bug\",\"everything\":true");
    /* One message of three lines, and its two results one behind the other. */
    CHECK_HAS(
        text,
        "```\nhm\n```\n\n**calls** `Read`, call `t1`\n\n```json\n{\n  \"path\": \"a\"\n}\n```\n\n"
        "**calls** `Read`, call `t2`");
    CHECK_HAS(text, "**result**, call `t1`\n\n```\nA\n```\n\n## tool");
    CHECK_HAS(text, "**failed**, call `t2`\n\n```\nB\n```\n\n*image* (image/png) blob");
    CHECK_HAS(text, ", hidden\n\nThanks");
    CHECK_HAS(text, "*summary of what was said before*\n\nWe fixed it.\n\n## user, "
                    "2026-01-02T03:05:02.000Z\n\nMore");
    CHECK_INT(
        0, desk_number(desk_run(d, "session:export", "\"sessionId\":\"Fix the bug\""), "branches"));
    desk_check(d);
}

/* The opaque thinking of a session goes back to the model that it came from. */
TEST(formats, claude_code_with_opaque_thinking)
{
    desk *d = desk_open(t);
    const char *answer = desk_import(
        d,
        "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s-1\","
        "\"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{\"role\":\"user\",\"content\":"
        "\"Hi\"}}\n{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"u1\",\"sessionId\":"
        "\"s-1\",\"timestamp\":\"2026-01-02T03:04:06Z\",\"message\":{\"id\":\"m1\",\"role\":"
        "\"assistant\",\"model\":\"claude\",\"content\":[{\"type\":\"redacted_thinking\",\"data\":"
        "\"b3Bh\"},{\"type\":\"text\",\"text\":\"Yes.\"}]}}\n"
        "{\"type\":\"user\",\"uuid\":\"u2\",\"parentUuid\":\"a1\",\"sessionId\":\"s-1\","
        "\"timestamp\":\"2026-01-02T03:04:07Z\",\"message\":{\"role\":\"user\",\"content\":"
        "\"And?\"}}\n",
        "");
    const char *built;

    CHECK(!has(answer, "redacted_thinking")); /* it is not unknown */
    built = desk_run(d, "prompt:build",
                     test_format("\"session\":\"%s\",\"provider\":\"anthropic\",\"model\":"
                                 "\"claude-opus-5\",\"wire\":true",
                                 desk_member(answer, "sessionId")));
    CHECK_HAS(built, "{\\\"type\\\":\\\"redacted_thinking\\\",\\\"data\\\":\\\"b3Bh\\\"}");
    CHECK_HAS(built, "\"repairs\":[]");
    desk_check(d);
}

/* What goes out comes in as the same sessions. */
TEST(formats, openai_there_and_back)
{
    desk *d = desk_open(t), *other;
    const char *answer = desk_import_path(d, desk_data("openai.jsonl")), *text;
    long seq;

    CHECK_INT(3, desk_number(answer, "sessions"));
    CHECK_INT(10, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "orphans"));
    CHECK_INT(1, desk_number(answer, "blobs"));
    text = desk_export(d, "\"all\":true,\"format\":\"openai\"");
    CHECK_HAS(text, "\"arguments\":\"{\\\"a\\\": 1}\"");
    CHECK_HAS(text, "\"weight\":0");
    CHECK_HAS(text, "\"parallel_tool_calls\":false");
    seq = desk_seq(d);
    answer = desk_import(d, text, "");
    CHECK_INT(0, desk_number(answer, "turns"));
    CHECK_INT(10, desk_number(answer, "there"));
    CHECK_INT(seq, desk_seq(d));
    desk_check(d);

    /* What other formats brought goes out and comes back as the same text. */
    other = desk_open(&(test){.env = t->env, .param = "memory"});
    (void)desk_import_path(other, desk_data("claude-code.jsonl"));
    text = desk_export(other, "\"sessionId\":\"Fix the bug\",\"format\":\"openai\"");
    answer = desk_import(d, text, "\"label\":\"again\"");
    CHECK_TEXT(text, desk_export(d, "\"sessionId\":\"again\",\"format\":\"openai\""));
    desk_check(d);
}

TEST(formats, openai_documents)
{
    desk *d = desk_open(t);
    const char *answer = desk_import(
        d,
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{"
        "\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,JVBERi0x\"}},"
        "{\"type\":\"file\",\"file\":{\"file_id\":\"file-1\"}}]}]}\n",
        "");

    CHECK_INT(1, desk_number(answer, "blobs"));
    CHECK_HAS(answer, "{\"count\":1,\"type\":\"file\"}");
    CHECK_HAS(desk_run(d, "blob:list", ""), "\"filename\":\"a.pdf\"");
    desk_check(d);
}

/* What has no place there is no turn that was written. */
TEST(formats, turns_are_counted_where_they_are_written)
{
    desk *d = desk_open(t);
    const char *answer;

    (void)desk_run(d, "session:create", "\"label\":\"s\"");
    (void)desk_run(d, "turn:add",
                   "\"sessionId\":\"s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
                   "\"text\":\"a\"}]}");
    (void)desk_run(d, "turn:add",
                   "\"sessionId\":\"s\",\"turn\":{\"role\":\"assistant\",\"blocks\":[{\"type\":"
                   "\"thinking\",\"text\":\"b\"}]}");
    answer = desk_run(d, "session:export", "\"sessionId\":\"s\",\"format\":\"openai\"");
    CHECK_INT(1, desk_number(answer, "turns"));
    CHECK_INT(1, desk_number(answer, "thinking"));
    /* And one of two messages is one. */
    (void)desk_run(d, "turn:add",
                   "\"sessionId\":\"s\",\"turn\":{\"role\":\"assistant\",\"blocks\":["
                   "{\"type\":\"tool_use\",\"callId\":\"1\",\"name\":\"f\",\"args\":{}},"
                   "{\"type\":\"tool_use\",\"callId\":\"2\",\"name\":\"f\",\"args\":{}}]}");
    (void)desk_run(d, "turn:add",
                   "\"sessionId\":\"s\",\"turn\":{\"role\":\"tool\",\"blocks\":["
                   "{\"type\":\"tool_result\",\"callId\":\"1\",\"content\":\"x\"},"
                   "{\"type\":\"tool_result\",\"callId\":\"2\",\"content\":\"y\"}]}");
    answer = desk_run(d, "session:export", "\"sessionId\":\"s\",\"format\":\"openai\"");
    CHECK_INT(3, desk_number(answer, "turns"));
}

TEST(formats, old_function_calls)
{
    desk *d = desk_open(t);
    const char *text =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\","
        "\"content\":null,\"function_call\":{\"name\":\"f\",\"arguments\":\"{\"}},"
        "{\"role\":\"function\",\"name\":\"f\",\"content\":\"y\"},{\"role\":\"bird\"}]}\n";
    const char *answer = desk_import(d, text, "\"label\":\"old\",\"format\":\"openai\"");

    CHECK_INT(3, desk_number(answer, "turns"));
    CHECK_INT(0, desk_number(answer, "orphans"));
    CHECK_INT(1, desk_number(answer, "problemCount"));
    CHECK_HAS(desk_export(d, "\"sessionId\":\"old\""), "**result**, call `function_call-1`");
    desk_check(d);
}

/* A folder: the export with its files, or all sessions in it. */
TEST(formats, folders)
{
    desk *d = desk_open(t);
    const char *folder = test_tmpdir(), *answer;

    answer = desk_import_path(d, desk_data("."));
    CHECK_INT(2, desk_number(answer, "sessions"));
    CHECK_HAS(answer, "\"file\":\"conversations.json\"");
    folder = test_format("%s/logs", folder);
    CHECK_INT(0, mkdir(folder, 0700));
    test_write_file(test_format("%s/a.jsonl", folder),
                    test_read_file(desk_data("claude-code.jsonl")));
    test_write_file(test_format("%s/b.jsonl", folder), VLS_STR("nonsense\n"));
    test_write_file(test_format("%s/c.txt", folder), VLS_STR("not looked at"));
    answer = desk_import_path(d, folder);
    CHECK_INT(2, desk_number(answer, "sessions"));
    CHECK_HAS(answer, "\"file\":\"b.jsonl\",\"line\":1");
    desk_check(d);
}
