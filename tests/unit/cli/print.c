/* print.c -- answers for people and for programs, and the line of progress. [L4 L6 K2 Q26] */
#include "cli/kit.h"

#include "base/text.h"
#include "base/time.h"
#include "cli/print.h"
#include "cli/progress.h"

static const char *taken(cli *c)
{
    const char *text = test_format("%.*s", (int)c->out->text.len, c->out->text.ptr);

    vls_buf_clear(&c->out->text);
    return text;
}

#define ROW(id, name, size)                                                                        \
    "{\"at\":\"2026-01-02T03:04:05.000Z\",\"hidden\":\"no\",\"id\":\"0190a5f0-1234-7abc-8def-"     \
    "0123456789" id "\",\"name\":\"" name "\",\"size\":" size ",\"tags\":[\"a\",\"b\"]}"

/* Rows as they would go out; the pipe that nobody reads is never written to. */
static const char *table(test *t, cli *c, const char *const *rows)
{
    cli_rows *list = NULL;

    CHECK_OK(cli_rows_new(&list, c, kit_op("demo:list"), &t->err));
    c->out->paged = false;
    c->out->wrote_ns = INT64_MAX / 2;
    for (size_t i = 0; rows[i]; i++)
        CHECK_OK(cli_rows_add(list, valise_str_of(rows[i]), &t->err));
    CHECK_OK(cli_rows_end(list, &t->err));
    cli_rows_free(list);
    return taken(c);
}

#define TABLE(...) table(t, c, (const char *const[]){__VA_ARGS__, NULL})

/* Ids and sizes are short, columns that nobody fills are not there. [K2] */
TEST(print, lists_are_aligned)
{
    cli *c = kit_new(t);

    CHECK_TEXT("ID        NAME       SIZE  AT                    TAGS\n"
               "456789ab  first   1.5 KiB  2026-01-02T03:04:05Z  a, b\n"
               "456789cd  wörter     12 B  2026-01-02T03:04:05Z  a, b\n",
               TABLE(ROW("ab", "first", "1536"), ROW("cd", "wörter", "12")));
}

TEST(print, nothing_is_cut_where_there_is_no_terminal)
{
    cli *c = kit_new(t);
    const char *text =
        TABLE(ROW("ab", "0123456789012345678901234567890123456789012345678901234567890", "1"));

    CHECK(strstr(text, "  0123456789012345678901234567890123456789012345678901234567890  "));
    CHECK(strstr(text, "a, b\n"));
}

TEST(print, a_terminal_is_not_left)
{
    cli *c = kit_new(t);

    c->out->terminal = true;
    c->out->columns = 60;
    CHECK_TEXT("ID        NAME              SIZE  AT                    TAGS\n"
               "456789ab  012345678901234…   1 B  2026-01-02T03:04:05Z  a, b\n",
               TABLE(ROW("ab", "0123456789012345678901234567890123456789", "1")));
}

/* [Q26] */
TEST(print, what_steers_a_terminal_is_shown)
{
    cli *c = kit_new(t);

    c->out->terminal = true;
    CHECK(strstr(TABLE(ROW("ab", "a\\u001b[31mb\\u009b\\u202e\\nc", "1")),
                 "a\\x1b[31mb\\u009b\\u202e\\nc"));
    c->options.json = true;
    CHECK(strstr(TABLE(ROW("ab", "\xc2\x9b", "1")), "\\u009b"));
}

TEST(print, lists_as_json_are_lines)
{
    cli *c = kit_new(t);

    c->options.json = true;
    CHECK_TEXT("{\"a\":1}\n{\"a\":2}\n", TABLE("{\"a\":1}", "{\"a\":2}"));
}

TEST(print, quiet_lists_have_no_headings)
{
    cli *c = kit_new(t);

    c->options.quiet = true;
    CHECK_TEXT("456789ab  x  1 B  2026-01-02T03:04:05Z  a, b\n", TABLE(ROW("ab", "x", "1")));
    c->options.quiet = false;
    CHECK_TEXT("", table(t, c, (const char *const[]){NULL}));
}

/* After the first rows the widths stay. */
TEST(print, long_lists_keep_their_widths)
{
    cli *c = kit_new(t);
    cli_rows *list = NULL;

    CHECK_OK(cli_rows_new(&list, c, kit_op("demo:list"), &t->err));
    c->out->wrote_ns = INT64_MAX / 2;
    for (size_t i = 0; i < 250; i++)
        CHECK_OK(cli_rows_add(list, VLS_STR("{\"name\":\"x\",\"size\":1}"), &t->err));
    CHECK_OK(cli_rows_add(list, VLS_STR("{\"name\":\"wider\",\"size\":1}"), &t->err));
    CHECK_OK(cli_rows_end(list, &t->err));
    cli_rows_free(list);
    const char *text = taken(c);
    CHECK(strncmp(text, "NAME  SIZE\nx      1 B\n", 22) == 0);
    CHECK(strstr(text, "wider   1 B\n"));
}

/* ---- single answers ---- */

static const char *answer(test *t, cli *c, const valise_op *op, const char *json)
{
    int status = -1;

    CHECK_OK(cli_print_answer(&status, c, op, valise_str_of(json), &t->err));
    CHECK_INT(0, status);
    return taken(c);
}

TEST(print, one_answer_is_keys_and_values)
{
    cli *c = kit_new(t);
    valise_op op = *kit_op("demo:list");

    op.flags = 0;
    CHECK_TEXT("id:   456789ab\nname: two\nsize: 2.0 MiB\ntags: a, b\n",
               answer(t, c, &op,
                      "{\"id\":\"0190a5f0-1234-7abc-8def-0123456789ab\",\"name\":\"two\",\"size\":"
                      "2097152,\"tags\":[\"a\",\"b\"]}"));
    CHECK_TEXT("name:\n  two\n  lines\nsize: 0 B\n",
               answer(t, c, &op, "{\"name\":\"two\\nlines\",\"size\":0,\"hidden\":\"x\"}"));
    CHECK_TEXT("name:\n", answer(t, c, &op, "{\"name\":\"\",\"tags\":[]}"));
    c->options.json = true;
    CHECK_TEXT("{\"name\":\"x\"}\n", answer(t, c, &op, "{\"name\":\"x\"}"));
}

TEST(print, nested_answers_are_indented)
{
    cli *c = kit_new(t);
    valise_op op = *kit_op("demo:put");

    op.kind = VALISE_QUERY;
    op.out = op.in;
    CHECK_TEXT(
        "bag: b\nturn:\n  role:      user\n  source id: s\n  more:\n    count: 2\n",
        answer(t, c, &op,
               "{\"bag\":\"b\",\"turn\":{\"more\":{\"count\":2},\"role\":\"user\",\"sourceId\":"
               "\"s\"}}"));
    CHECK_TEXT("value: {\"a\":[1,\"x\"]}\nforce: true\nratio: 1.5\n",
               answer(t, c, &op, "{\"value\":{\"a\":[1,\"x\"]},\"force\":true,\"ratio\":1.5}"));
}

TEST(print, quiet_commands_say_nothing)
{
    cli *c = kit_new(t);
    valise_op op = *kit_op("demo:put");

    op.out = op.in;
    c->options.quiet = true;
    CHECK_TEXT("", answer(t, c, &op, "{\"bag\":\"b\"}"));
    op.kind = VALISE_QUERY;
    CHECK_TEXT("bag: b\n", answer(t, c, &op, "{\"bag\":\"b\"}"));
}

TEST(print, colours_where_they_are_wanted)
{
    cli *c = kit_new(t);
    valise_op op = *kit_op("demo:put");

    op.kind = VALISE_QUERY;
    op.out = op.in;
    c->out->color = true;
    CHECK_TEXT("\033[1mbag:\033[0m b\n", answer(t, c, &op, "{\"bag\":\"b\"}"));
}

TEST(print, sizes)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048575, "1023.9 KiB"},
        {1048576, "1.0 MiB"},
        {UINT64_MAX, "15.9 EiB"},
    };
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, 100);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_buf_clear(&text);
        cli_show_size(&text, cases[i].bytes);
        CHECK_STR(valise_str_of(cases[i].text), vls_buf_str(&text));
    }
}

/* ---- progress ---- */

static const char *line(test *t, const char *unit, uint64_t done, uint64_t total, int64_t seconds,
                        size_t columns)
{
    valise_progress_state state = {"scan", unit, done, total, seconds * VLS_NS_PER_SECOND};
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, t->env, 1000);
    cli_progress_line(&text, &state, columns);
    return test_format("%.*s", (int)text.len, text.ptr);
}

TEST(progress, bar_rate_and_remaining)
{
    CHECK_TEXT("scan  [============>           ]  50 %  1,350 of 2,700 files  270/s  6 s left",
               line(t, "files", 1350, 2700, 5, 80));
    CHECK_TEXT("scan  [========================] 100 %  2,700 of 2,700 files  270/s",
               line(t, "files", 2700, 2700, 10, 80));
    CHECK_TEXT("scan  1.5 MiB of 3.0 MiB  15.3 KiB/s  1 min 41 s left",
               line(t, "bytes", 1572864, 3145728, 100, 59));
    /* On 80 columns everything has room, also what is long: the bar gives way. */
    CHECK_TEXT("scan  [=========>      ]  59 %  59,433 of 100,001 entries  11,886/s  4 s left",
               line(t, "entries", 59433, 100001, 5, 80));
    CHECK_TEXT("scan  5 of 100,000 entries  55 h 33 min left",
               line(t, "entries", 5, 100000, 10, 60));
    CHECK_TEXT("scan  1,234,567 files  123,456/s", line(t, "files", 1234567, 0, 10, 80));
    CHECK_TEXT("scan  0 files", line(t, "files", 0, 0, 10, 80));
    CHECK_TEXT("scan  5 of 100,000 files  55 h 33 min left", line(t, "files", 5, 100000, 10, 59));
}

TEST(progress, a_line_never_wraps)
{
    for (size_t columns = 1; columns < 100; columns++)
        CHECK(vls_text_width(valise_str_of(line(t, "files", 1350, 2700, 5, columns))) <=
              VLS_MAX(columns > 6 ? columns - 3 : columns - 1, (size_t)1));
}
