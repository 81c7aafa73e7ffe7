/* rounds.c -- what comes in goes out the same; what is written for people stays readable, whatever
 * was said. [W20] */
#include "base/arena.h"
#include "exchange/kit.h"
#include "json/json.h"

/* ---- OpenAI ---- */

static const char *const lines[] = {
    "{\"messages\":[{\"role\":\"developer\",\"content\":\"d\"},{\"role\":\"user\",\"name\":\"Ann\","
    "\"content\":\"hi\",\"x\":[1,2.50,1e3,12345678901234567890]}]}",
    "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\","
    "\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgo=\",\"detail\":\"low\"}},"
    "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"AAAA\",\"format\":\"wav\"}}],"
    "\"role\":\"user\"},{\"role\":\"assistant\",\"content\":null,\"refusal\":\"no\"}],"
    "\"metadata\":{\"k\":null}}",
    "{\"tools\":[{\"type\":\"function\"}],\"messages\":[{\"role\":\"assistant\",\"content\":null,"
    "\"weight\":0,\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
    "\"arguments\":\"{ \\\"b\\\": 1, \\\"a\\\": }\"}},{\"id\":\"2\",\"type\":\"function\","
    "\"function\":{\"name\":\"g\",\"arguments\":\"\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"2\","
    "\"content\":\"\"},{\"role\":\"tool\",\"tool_call_id\":\"gone\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"x\"}]}]}",
    "{\"messages\":[{\"role\":\"assistant\",\"function_call\":{\"name\":\"f\",\"arguments\":"
    "\"{}\"}},{\"role\":\"function\",\"name\":\"f\",\"content\":\"r\"},{\"role\":\"user\","
    "\"content\":\"\\u0000\\u2028\\ud83d\\ude00 \\\\u0041 \\/ </script>\"}]}",
    "{\"messages\":[{\"role\":\"user\"},{\"role\":\"user\",\"content\":7},{\"role\":\"user\","
    "\"content\":{\"a\":[[]]}},{\"role\":\"system\",\"content\":[]}],\"n\":-0.0}",
    "{\"messages\":[{\"role\":\"tool\",\"content\":\"no id\"},{\"role\":\"assistant\","
    "\"audio\":{\"id\":\"a\"}}]}",
};

static vls_json parse(test *t, vls_arena *arena, valise_str text)
{
    static const vls_json_limits limits = {.max_bytes = 1 << 20, .max_depth = 128};
    vls_json value = vls_json_null();

    CHECK_OK(vls_json_parse(&value, arena, text, &limits, &t->err));
    return value;
}

/* The same messages, one by one and as a whole; and what went out adds nothing when it comes in. */
TEST(rounds, openai_is_the_same_again)
{
    for (size_t i = 0; i < VLS_COUNT(lines); i++) {
        desk *d = desk_open(t);
        VLS_AUTO(arena) vls_arena arena = {0};
        const char *text, *answer;
        vls_json in, out;
        long seq;

        vls_arena_init(&arena, t->env, (size_t)1 << 26);
        answer = desk_import(d, test_format("%s\n", lines[i]), "");
        CHECK_INT(0, desk_number(answer, "problemCount"));
        text = desk_export(d, "\"all\":true,\"format\":\"openai\"");
        in = parse(t, &arena, valise_str_of(lines[i]));
        out = parse(t, &arena, vls_str_trim(valise_str_of(text)));
        CHECK_MSG(vls_json_equal(in, out), "%zu: %s", i, text);
        seq = desk_seq(d);
        answer = desk_import(d, text, "");
        CHECK_MSG(desk_number(answer, "turns") == 0 && desk_seq(d) == seq, "%zu: %s", i, answer);
        desk_check(d);
    }
}

/* ---- Markdown ---- */

/* What a text becomes within the document. */
static const char *written(test *t, const char *text)
{
    desk *d = desk_open(t);
    const char *out, *from, *to;

    (void)desk_import(d,
                      test_format("{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"},"
                                  "{\"role\":\"assistant\",\"content\":\"answer\"}]}\n",
                                  text),
                      "");
    out = desk_export(d, "\"all\":true");
    from = strstr(out, "## user, ");
    CHECK(from);
    from = strstr(from, "\n\n") + 2;
    to = strstr(from, "\n\n## assistant, 2");
    CHECK_MSG(to, "%s", out);
    return test_format("%.*s", (int)(to - from), from);
}

/* A fence ends with the text it is in; what is none any more is shown as it is. */
TEST(rounds, fences_in_markdown)
{
    CHECK_TEXT("```\nopen\n```", written(t, "```\\nopen"));
    CHECK_TEXT("~~~~ c\n```\n<b>\n~~~~", written(t, "~~~~ c\\n```\\n<b>"));
    CHECK_TEXT("```c\n<b>\n```\n\\<b>", written(t, "```c\\n<b>\\n```\\n<b>"));
    CHECK_TEXT("````\n```\nx\n````", written(t, "````\\n```\\nx"));
    CHECK_TEXT("```\n``` no\nx\n```", written(t, "```\\n``` no\\nx"));
    CHECK_TEXT("- a\n\n  ```\n  x\n  ```", written(t, "- a\\n\\n  ```\\n  x"));
    CHECK_TEXT("````\n- a\n\n  ```\n  x\n<b>\n````", written(t, "- a\\n\\n  ```\\n  x\\n<b>"));
    CHECK_TEXT("```a`b\nx", written(t, "```a`b\\nx"));
}

/* No tag, no comment, and no heading of a turn comes out of what was said. */
TEST(rounds, tags_and_headings_in_markdown)
{
    CHECK_TEXT("\\<!-- open", written(t, "<!-- open"));
    CHECK_TEXT("\\<script>x\\</script> a < b <3", written(t, "<script>x</script> a < b <3"));
    CHECK_TEXT("`<b>` ``a ` <b>`` `\\<b>", written(t, "`<b>` ``a ` <b>`` `<b>"));
    CHECK_TEXT("\\`\\<b>\\`", written(t, "\\\\`<b>\\\\`"));
    CHECK_TEXT("\\<b>", written(t, "\\\\<b>"));
    CHECK_TEXT("\\\\\\<b>", written(t, "\\\\\\\\<b>"));
    CHECK_TEXT("\\## assistant, 2020\n## Steps", written(t, "## assistant, 2020\\n## Steps"));
    CHECK_TEXT("  \\##   tool, x", written(t, "  ##   tool, x"));
    CHECK_TEXT("\\x1b[31m \\u202e", written(t, "\\u001b[31m \\u202e"));
}
