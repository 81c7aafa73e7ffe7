/* report.c -- how much is known, and how much of it holds. [C28] */
#include <sqlite3.h>

#include "base/str.h"
#include "context/kit.h"
#include "harness/fault.h"

TEST_PARAMS(report, "memory", "sqlite")

#define TREE "src/a.c=1 src/b.c=2 src-x=3 README=hello ln>README"

static const char *report(yard *y, const char *payload)
{
    return yard_run(y, "context:report", payload);
}

static const char *paths(yard *y, const char *answer, const char *kind)
{
    const char *all = "";

    for (int i = 0;; i++) {
        const char *path = yard_member(y, answer, test_format("%s.first.%d.path", kind, i));
        if (!yard_member(y, answer, test_format("%s.first.%d.type", kind, i))[0])
            return all;
        all = test_format("%s%s%s/%s", all, i ? " " : "", path,
                          yard_member(y, answer, test_format("%s.first.%d.type", kind, i)));
    }
}

/* Something fresh, stale, orphaned. */
static void say_all(yard *y)
{
    yard_grow(y, TREE, "");
    (void)yard_put(y, "w", "src/a.c", "summary", "1", "");
    (void)yard_put(y, "s", "src/a.c", "notes", "2", "");
    (void)yard_put(y, "w", "src/b.c", "summary", "3", "");
    (void)yard_put(y, "w", "src", "summary", "4", "");
    (void)yard_put(y, "w", "README", "notes", "5", "");
    (void)yard_put(y, "w", "src-x", "notes", "6", "");
    (void)yard_put(y, "w", "src-x", "other", "7", ",\"recipe\":\"eA==\"");
    yard_grow(y, "src/a.c=1 src/b.c=changed src-x=changed ln>README", "");
}

static void check_line(yard *y, const char *answer, const char *line, const char *want)
{
    static const char *const members[] = {"name",     "heads", "fresh", "stale",
                                          "orphaned", "files", "dirs"};
    const char *text = "";

    for (size_t i = 0; i < VLS_COUNT(members); i++)
        text = test_format("%s%s%s", text, i ? " " : "",
                           yard_member(y, answer, test_format("%s.%s", line, members[i])));
    CHECK_TEXT(want, text);
}

TEST(report, coverage_and_what_does_not_hold)
{
    yard *y = yard_open(t);
    const char *answer;

    say_all(y);
    answer = report(y, "{}");
    CHECK_TEXT("4", yard_member(y, answer, "files")); /* a link is one */
    CHECK_TEXT("2", yard_member(y, answer, "dirs"));
    CHECK_TEXT("1", yard_member(y, answer, "coveredFiles"));
    CHECK_TEXT("0", yard_member(y, answer, "coveredDirs"));
    CHECK_TEXT("7", yard_member(y, answer, "heads"));
    CHECK_TEXT("2", yard_member(y, answer, "fresh"));
    CHECK_TEXT("4", yard_member(y, answer, "stale.count"));
    CHECK_TEXT("src/summary src-x/notes src-x/other src/b.c/summary", paths(y, answer, "stale"));
    CHECK_TEXT("README/notes", paths(y, answer, "orphaned"));
    CHECK_TEXT("", paths(y, answer, "invalidated"));
    /* What a program made can be made again. */
    CHECK_TEXT("src/summary src-x/notes src/b.c/summary", paths(y, answer, "needsAuthor"));
    check_line(y, answer, "types.0", "notes 3 1 1 1 1 0");
    check_line(y, answer, "types.1", "other 1 0 1 0 0 0");
    check_line(y, answer, "types.2", "summary 3 1 2 0 1 0");
    check_line(y, answer, "agents.0", "s 1 1 0 0 1 0");
    check_line(y, answer, "agents.1", "w 6 1 4 1 1 0");
    CHECK_TEXT(answer, report(y, "{\"format\":\"json\"}"));
    /* Of a part; names that only begin like it are none of it. */
    answer = report(y, "{\"path\":\"src\"}");
    CHECK_TEXT("2", yard_member(y, answer, "files"));
    CHECK_TEXT("1", yard_member(y, answer, "dirs"));
    CHECK_TEXT("4", yard_member(y, answer, "heads"));
    CHECK_TEXT("src/summary src/b.c/summary", paths(y, answer, "stale"));
    /* What is gone is a part too, as long as something is known about it. */
    CHECK_TEXT("1", yard_member(y, report(y, "{\"path\":\"README\"}"), "orphaned.count"));
    CHECK_INT(VALISE_E_NOT_FOUND, yard_try(y, NULL, "context:report", "{\"path\":\"no\"}", NULL));
    CHECK_INT(VALISE_E_INVALID,
              yard_try(y, NULL, "context:report", "{\"failOn\":[\"luck\"]}", NULL));
}

/* Two that hold are one file that is covered. */
TEST(report, a_file_is_covered_once)
{
    yard *y = yard_open(t);
    const char *answer;

    yard_grow(y, TREE, "");
    CHECK_TEXT("0", yard_member(y, report(y, "{}"), "heads"));
    CHECK_TEXT("[]", yard_member(y, report(y, "{}"), "types"));
    (void)yard_put(y, "w", "src/a.c", "a", "1", "");
    (void)yard_put(y, "w", "src/a.c", "b", "2", "");
    (void)yard_put(y, "w", ".", "b", "2", "");
    answer = report(y, "{}");
    CHECK_TEXT("1", yard_member(y, answer, "coveredFiles"));
    CHECK_TEXT("1", yard_member(y, answer, "coveredDirs"));
    check_line(y, answer, "agents.0", "w 3 3 0 0 1 1");
}

TEST(report, what_must_not_be_fails)
{
    static const struct {
        const char *fail_on, *failed;
    } cases[] = {{"", "false"},
                 {"\"stale\"", "true"},
                 {"\"orphaned\"", "true"},
                 {"\"invalidated\"", "false"},
                 {"\"needs-author\"", "true"},
                 {"\"invalidated\",\"stale\"", "true"}};
    yard *y = yard_open(t);
    const char *hash;

    say_all(y);
    hash = yard_run(y, "workspace:hash", NULL);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        const char *payload = test_format("{\"failOn\":[%s]}", cases[i].fail_on);
        test_context("%s", payload);
        CHECK_TEXT(cases[i].failed, yard_member(y, report(y, payload), "failed"));
    }
    test_context_end();
    (void)yard_run(y, "slot:invalidate", "{\"node\":\"src/a.c\",\"noScan\":true}");
    CHECK(strcmp(hash, yard_run(y, "workspace:hash", NULL)) != 0);
    hash = report(y, "{\"failOn\":[\"invalidated\"]}");
    CHECK_TEXT("true", yard_member(y, hash, "failed"));
    CHECK_TEXT("src/a.c/notes src/a.c/summary", paths(y, hash, "invalidated"));
}

static void damage(const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_INT(SQLITE_OK,
              sqlite3_open(test_format("%s/yard/.valise/valise.db", test_tmpdir()), &db));
    CHECK_INT(SQLITE_OK, sqlite3_exec(db, sql, NULL, NULL, NULL));
    CHECK_INT(1, sqlite3_changes(db));
    CHECK_INT(SQLITE_OK, sqlite3_close(db));
}

static const char *head_of(yard *y, const char *node, const char *type)
{
    return yard_member(
        y, yard_run(y, "head:get", test_format("{\"node\":\"%s\",\"type\":\"%s\"}", node, type)),
        "items.0.frameId");
}

/* One that is damaged is counted, and does not take the others along. */
TEST(report, what_is_damaged_is_corrupt)
{
    const char *answer, *basis, *row, *xml;
    yard *y;

    if (strcmp(t->param, "memory") == 0)
        SKIP("nobody else gets at memory");
    y = yard_open(t);
    say_all(y);
    basis = head_of(y, "src/b.c", "summary");
    row = head_of(y, "src/a.c", "notes");
    damage(test_format("UPDATE object SET body = zeroblob(3) WHERE hash = (SELECT basis FROM frame "
                       "WHERE id = x'%s')",
                       basis));
    answer = report(y, "{\"failOn\":[\"corrupt\"]}");
    CHECK_TEXT("7", yard_member(y, answer, "heads"));
    CHECK_TEXT("2", yard_member(y, answer, "fresh"));
    CHECK_TEXT("src/b.c/summary", paths(y, answer, "corrupt"));
    CHECK_TEXT(basis, yard_member(y, answer, "corrupt.first.0.frameId"));
    CHECK_TEXT("w", yard_member(y, answer, "corrupt.first.0.agent"));
    CHECK_TEXT("", yard_member(y, answer, "corrupt.first.0.state"));
    CHECK_TEXT("src/summary src-x/notes src-x/other", paths(y, answer, "stale"));
    CHECK_TEXT("true", yard_member(y, answer, "failed"));
    check_line(y, answer, "types.2", "summary 3 1 1 0 1 0");
    /* The row of a frame that nobody doubts. */
    damage(test_format("DELETE FROM frame WHERE id = x'%s'", row));
    answer = report(y, "{\"failOn\":[\"invalidated\"],\"format\":\"junit\"}");
    CHECK_TEXT("7", yard_member(y, answer, "heads"));
    CHECK_TEXT("src/a.c/notes src/b.c/summary", paths(y, answer, "corrupt"));
    CHECK_TEXT("", yard_member(y, answer, "corrupt.first.0.agent"));
    CHECK_TEXT("false", yard_member(y, answer, "failed"));
    xml = yard_member(y, answer, "document");
    CHECK(strstr(xml, "<testsuite name=\"corrupt\" tests=\"2\" failures=\"0\" skipped=\"2\">"));
    CHECK(strstr(xml, "message=\"corrupt, by w\""));
}

/* Names that mean something to XML or Markdown, and more than are listed. */
TEST(report, documents_are_well_formed)
{
    yard *y = yard_open(t);
    const char *xml, *text;

    yard_grow(y, "<a&\"b|_=1 c=2", "");
    (void)yard_put(y, "w", "<a&\\\"b|_", "notes", "1", "");
    for (int i = 0; i < 103; i++)
        (void)yard_put(y, "w", "c", test_format("t%03d", i), "1", "");
    yard_grow(y, "<a&\"b|_=2 c=3", "");
    xml = yard_member(y, report(y, "{\"format\":\"junit\",\"failOn\":[\"stale\"]}"), "document");
    CHECK_MSG(strstr(xml, "name=\"&lt;a&amp;&quot;b|_\""), "%s", xml);
    CHECK(strstr(xml, "<testsuite name=\"stale\" tests=\"101\" failures=\"101\" skipped=\"0\">"));
    CHECK(strstr(xml, "name=\"and 4 more\""));
    CHECK(strstr(xml, "<failure message=\"stale, by w\"/>"));
    CHECK(strstr(xml, "<testsuite name=\"orphaned\" tests=\"1\" failures=\"0\" skipped=\"0\">"));
    CHECK(strstr(xml, "tests=\"101\" failures=\"0\" skipped=\"101\">")); /* needs-author */
    text = yard_member(y, report(y, "{\"format\":\"markdown\"}"), "document");
    CHECK_MSG(strstr(text, "- \\<a\\&\"b\\|\\_, notes by w (stale)"), "%s", text);
    CHECK(strstr(text, "- and 4 more\n") && strstr(text, "## Stale: 104\n"));
    CHECK(strstr(text, "| notes | 1 | 0 | 1 | 0 | 0 | 0 | 0 |"));
    CHECK(!strstr(text, "Orphaned"));
    CHECK_TEXT("", yard_member(y, report(y, "{\"format\":\"text\"}"), "document"));
}

/* Who may read a part sees that: neither what is known nor how many files there are of the rest. */
TEST(report, narrowed_agents_see_their_part)
{
    yard *y = yard_open(t);
    const char *answer;

    say_all(y);
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"n\",\"role\":\"none\",\"capabilities\":[\"context:read "
                   "path=src/*\"]}");
    answer = yard_run_as(y, "n", "context:report", "{}");
    CHECK_TEXT("3", yard_member(y, answer, "heads"));
    CHECK_TEXT("2", yard_member(y, answer, "files"));
    CHECK_TEXT("0", yard_member(y, answer, "dirs"));
    CHECK_TEXT("src/b.c/summary", paths(y, answer, "stale"));
    CHECK_TEXT("0", yard_member(y, answer, "orphaned.count"));
    CHECK_INT(VALISE_E_DENIED, yard_try(y, "n", "context:report", "{\"path\":\"README\"}", NULL));
    CHECK_INT(VALISE_E_DENIED, yard_try(y, "n", "context:report", "{\"path\":\"none\"}", NULL));
    CHECK_INT(0, yard_try(y, "n", "context:report", "{\"path\":\"src/a.c\"}", NULL));
}

static int report_once(fault *f, void *arg)
{
    valise_reply reply = VALISE_REPLY_INIT;
    test local = *f->t;
    yard *y;
    int rc;

    (void)arg;
    fault_off(f);
    local.param = "memory";
    y = yard_open_with(&local, f->env);
    y->t = f->t;
    yard_grow(y, "src/a.c=1 b.c=2", "");
    (void)yard_put(y, NULL, "src/a.c", "notes", "one", "");
    (void)yard_put(y, NULL, "b.c", "notes", "two", "");
    yard_grow(y, "src/a.c=2", "");
    fault_on(f);
    rc =
        valise_dispatch(&reply, y->v, "context:report", "{\"format\":\"markdown\"}", NULL, &f->err);
    valise_reply_release(&reply);
    fault_off(f);
    f->recovered = rc == 0; /* caches do without */
    valise_close(y->v);
    fault_on(f);
    return rc;
}

TEST(report, every_allocation_may_fail)
{
    if (strcmp(t->param, "memory") != 0)
        SKIP("once is enough");
    fault_each_alloc(t, 0, report_once, NULL);
}
