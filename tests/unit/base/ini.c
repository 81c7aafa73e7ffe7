/* ini.c -- reading configuration files and their values. How git reads the same files is in
 * ini_git.c. */
#include "harness/test.h"

#include "base/ini.h"
#include "harness/fault.h"
#include "unit/base/ini_list.h"

/* Entries as "name=value" ("name" alone for a key alone), one a line. */
static void check_reads(test *t, const char *text, const char *expected)
{
    int rc;
    valise_str list = ini_list(t, &rc, ini_exact(valise_str_of(text)));
    char *shown = test_alloc(list.len);

    CHECK_RC(0, rc);
    for (size_t i = 0; i < list.len; i++)
        shown[i] = list.ptr[i] == '\n' ? '=' : list.ptr[i] == '\0' ? '\n' : list.ptr[i];
    CHECK_STR(valise_str_of(expected), vls_str(shown, list.len));
}

static void check_refuses(test *t, valise_str text, int64_t offset, const char *message)
{
    int rc;

    t->err = (valise_error)VALISE_ERROR_INIT;
    (void)ini_list(t, &rc, ini_exact(text));
    CHECK_RC(VALISE_E_INVALID, rc);
    CHECK_TEXT(message, t->err.message);
    CHECK_INT(offset, t->err.offset);
}

TEST(ini, reads_sections_and_keys)
{
    check_reads(t, "", "");
    check_reads(t, "\n\n# nothing\n; here", "");
    check_reads(t, "[core]\neditor = vi\n", "core.editor=vi\n");
    check_reads(t, "[Core]\nEdItor = Vi", "core.editor=Vi\n");
    check_reads(t, "[core] editor = vi\n[a-1]b-2=c\n", "core.editor=vi\na-1.b-2=c\n");
    check_reads(t, "[a][b]k=v", "b.k=v\n");
    check_reads(t, "[remote \"Ori.gin\"]\nurl=x", "remote.Ori.gin.url=x\n");
    check_reads(t, "[remote   \t \"a\\\"b\\\\c\\d\"]\nurl=x", "remote.a\"b\\cd.url=x\n");
    check_reads(t, "[remote \"\"]\nurl=x", "remote..url=x\n");
    check_reads(t, "[a.B.c]\nk=v", "a.b.c.k=v\n");
    check_reads(t, "[a.B \"C\"]\nk=v", "a.b.C.k=v\n");
    check_reads(t, "k = before any header", "k=before any header\n");
    check_reads(t, "[.]\nk=v", "..k=v\n");
    check_reads(t, "[ \"x\"]\nk=v", ".x.k=v\n");
    check_reads(t, "[a]\nk=1\n[b]\nk=2\n[a]\nk=3", "a.k=1\nb.k=2\na.k=3\n");
}

TEST(ini, reads_values)
{
    check_reads(t, "[a]\nk", "a.k\n");
    check_reads(t, "[a]\nk  \t\n", "a.k\n");
    check_reads(t, "[a]\nk=", "a.k=\n");
    check_reads(t, "[a]\nk=  \n", "a.k=\n");
    check_reads(t, "[a]\nk = \"\"\n", "a.k=\n");
    check_reads(t, "[a]\nk \t = \t v w  \t\n", "a.k=v w\n");
    check_reads(t, "[a]\nk = v  w\tx\n", "a.k=v  w\tx\n");
    check_reads(t, "[a]\nk = v # c\nl = v;c\nm = # c\nn = \"v # ; w\" ; c",
                "a.k=v\na.l=v\na.m=\n"
                "a.n=v # ; w\n");
    check_reads(t, "[a]\nk = \"  v  \"  \n", "a.k=  v  \n");
    check_reads(t, "[a]\nk = a\"b c\"d\"\"e\n", "a.k=ab cde\n");
    check_reads(t, "[a]\nk = \\\\ \\\" \\t \\b x\\ny\n", "a.k=\\ \" \t \b x=y\n");
    check_reads(t, "[a]\nk = \"\\\"\"", "a.k=\"\n");
    check_reads(t, "[a]\nk = a=b [c]\n", "a.k=a=b [c]\n");
}

TEST(ini, reads_lines_that_go_on)
{
    check_reads(t, "[a]\nk = one \\\n  two\nl=3", "a.k=one   two\na.l=3\n");
    check_reads(t, "[a]\nk = one\\\ntwo", "a.k=onetwo\n");
    check_reads(t, "[a]\nk = \"one\\\n  two\"", "a.k=one  two\n");
    check_reads(t, "[a]\nk = one # \\\nl = two", "a.k=one\na.l=two\n");
    check_reads(t, "[a]\nk = one\\", "a.k=one\n");
    check_reads(t, "[a]\nk = one\\\n", "a.k=one\n");
    check_reads(t, "[a]\nk = one \\\n\nl=2", "a.k=one \na.l=2\n");
    check_reads(t, "[a]\nk = \\\n one", "a.k=one\n");
}

TEST(ini, reads_dos_files)
{
    check_reads(t, "\xEF\xBB\xBF[a]\r\nk = v\r\nl\r\n# c\r\nm = \"x\"\r\n", "a.k=v\na.l\na.m=x\n");
    check_reads(t, "[a]\r\nk = one\\\r\n two\r\n", "a.k=one two\n");
    check_reads(t, "\xEF\xBB\xBF", "");
    check_reads(t, "\xEF\xBB\xBFk = v", "k=v\n");
    check_reads(t, "[a]\nk = v\rw\nl = v\r", "a.k=v\rw\na.l=v\n");
}

static int check_parts(void *arg, const vls_ini_entry *entry, valise_error *err)
{
    int *count = arg;

    (void)err;
    CHECK_STR(VLS_STR("the file"), entry->file);
    switch ((*count)++) {
    case 0:
        CHECK_STR(VLS_STR(""), entry->name.section);
        CHECK(!entry->name.subsection.ptr && !entry->value.ptr);
        CHECK_STR(VLS_STR("top"), entry->name.key);
        CHECK_STR(VLS_STR("top"), entry->full_name);
        CHECK_INT(1, entry->line);
        break;
    case 1:
        CHECK_STR(VLS_STR("a"), entry->name.section);
        CHECK(!entry->name.subsection.ptr);
        CHECK_STR(VLS_STR("k"), entry->name.key);
        CHECK(entry->value.ptr && entry->value.len == 0);
        CHECK_INT(4, entry->line);
        break;
    case 2:
        CHECK_STR(VLS_STR("a"), entry->name.section);
        CHECK_STR(VLS_STR("B.c"), entry->name.subsection);
        CHECK_STR(VLS_STR("key"), entry->name.key);
        CHECK_STR(VLS_STR("a.B.c.key"), entry->full_name);
        CHECK_STR(VLS_STR("v w"), entry->value);
        CHECK_INT(5, entry->line);
        break;
    default:
        CHECK_STR(VLS_STR("a"), entry->name.section);
        CHECK(entry->name.subsection.ptr && entry->name.subsection.len == 0);
        CHECK_STR(VLS_STR("a..z"), entry->full_name);
        CHECK_INT(7, entry->line);
    }
    return 0;
}

TEST(ini, hands_over_parts_and_lines)
{
    int count = 0;

    CHECK_OK(vls_ini_read(t->env, VLS_STR("the file"),
                          VLS_STR("TOP\n[A]\n\nk=\n[a \"B.c\"] Key = v\\\n w\n[a \"\"] z=1"),
                          check_parts, &count, &t->err));
    CHECK_INT(4, count);
}

static int stop_at_second(void *arg, const vls_ini_entry *entry, valise_error *err)
{
    int *count = arg;

    return ++*count == 2 ? vls_fail(err, VALISE_E_DENIED, "line %u", entry->line) : 0;
}

TEST(ini, stops_when_the_callback_says_so)
{
    int count = 0;

    CHECK_RC(VALISE_E_DENIED, vls_ini_read(t->env, VLS_STR("f"), VLS_STR("[a]\nk\nl\nm\n["),
                                           stop_at_second, &count, &t->err));
    CHECK_INT(2, count);
    CHECK_TEXT("line 3", t->err.message);
}

TEST(ini, refuses_bad_headers)
{
    check_refuses(t, VLS_STR("[core\n"), 5,
                  "config:1: the name of a section must be followed by ']' or a quote, not the end "
                  "of the line");
    check_refuses(t, VLS_STR("\n[core"), 6,
                  "config:2: the name of a section must be followed by ']' or a quote, not the end "
                  "of the file");
    check_refuses(
        t, VLS_STR("[co_re]"), 3,
        "config:1: the name of a section may have only letters, digits, '-' and '.', not '_'");
    check_refuses(t, VLS_STR("[core x]"), 6,
                  "config:1: the name of a section must be followed by ']' or a quote, not 'x'");
    check_refuses(t, VLS_STR("[core ]"), 6,
                  "config:1: the name of a section must be followed by ']' or a quote, not ']'");
    check_refuses(t, VLS_STR("[core \"x\" ]"), 9,
                  "config:1: a subsection must be followed by ']', not 0x20");
    check_refuses(t, VLS_STR("[core \"x\n\"]"), 8,
                  "config:1: the quote of the subsection is not closed");
    check_refuses(t, VLS_STR("[core \"x\\\n\"]"), 9,
                  "config:1: the quote of the subsection is not closed");
    check_refuses(t, VLS_STR("\n[]"), 2, "config:2: the section has no name");
    check_refuses(t, VLS_STR("[core \"x"), 8,
                  "config:1: the quote of the subsection is not closed");
}

TEST(ini, refuses_bad_entries)
{
    check_refuses(t, VLS_STR("[a]\n1k = v"), 4,
                  "config:2: a line must begin with '[', a letter, '#' or ';', not '1'");
    check_refuses(t, VLS_STR("[a]\n\n= v"), 5,
                  "config:3: a line must begin with '[', a letter, '#' or ';', not '='");
    check_refuses(t, VLS_STR("[a]\nk_x = v"), 5,
                  "config:2: a key must be followed by '=' or the end of the line, not '_'");
    check_refuses(t, VLS_STR("[a]\nk # c"), 6,
                  "config:2: a key must be followed by '=' or the end of the line, not '#'");
    check_refuses(t, VLS_STR("[a]\nk : v"), 6,
                  "config:2: a key must be followed by '=' or the end of the line, not ':'");
    check_refuses(t, VLS_STR("[a]\nk = \"v\nl = w"), 10,
                  "config:2: the quote in the value is not closed");
    check_refuses(t, VLS_STR("[a]\nk = \"v\\\n x"), 14,
                  "config:3: the quote in the value is not closed");
    check_refuses(t, VLS_STR("[a]\nk = a\\qb"), 10,
                  "config:2: an escape is \\\\, \\\", \\n, \\t or \\b, not 'q'");
    check_refuses(t, VLS_STR("[a]\nk = a\\\rb"), 10,
                  "config:2: an escape is \\\\, \\\", \\n, \\t or \\b, not 0x0d");
    check_refuses(t, VLS_STR("\xEF\xBB"), 0,
                  "config:1: a line must begin with '[', a letter, '#' or ';', not 0xef");
    check_refuses(t, VLS_STR("[a]\n# c\0d"), 7,
                  "config:2: a byte of value 0: this is not a text file");
}

/* [Q26] A file's name and what stands in it are data in messages too. */
TEST(ini, messages_are_harmless)
{
    CHECK_RC(VALISE_E_INVALID, vls_ini_read(t->env, VLS_STR("x\x1b[31m\xff\n"), VLS_STR("\x1b"),
                                            ini_list_entry, NULL, &t->err));
    CHECK_TEXT("x\\x1b[31m\\xff\\n:1: a line must begin with '[', a letter, '#' or ';', not 0x1b",
               t->err.message);
}

static valise_str filled(const char *head, char fill, size_t len)
{
    char *text = test_alloc(len);

    memset(text, fill, len);
    memcpy(text, head, strlen(head));
    return vls_str(text, len);
}

TEST(ini, has_limits)
{
    int rc;
    valise_str longest = filled("[a]k=", 'v', VLS_INI_MAX_LINE_BYTES);
    valise_str longer = filled("[a]k=", 'v', VLS_INI_MAX_LINE_BYTES + 1);

    (void)ini_list(t, &rc, longest);
    CHECK_RC(0, rc);
    (void)ini_list(t, &rc, longer);
    CHECK_RC(VALISE_E_TOO_LARGE, rc);
    CHECK_TEXT("config:1: the line has more than 65536 bytes", t->err.message);
    (void)ini_list(t, &rc, filled("[a]", '\n', VLS_INI_MAX_BYTES));
    CHECK_RC(0, rc);
    (void)ini_list(t, &rc, filled("[a]", '\n', VLS_INI_MAX_BYTES + 1));
    CHECK_RC(VALISE_E_TOO_LARGE, rc);
    CHECK_TEXT("config: the file has more than 1048576 bytes", t->err.message);
}

static int read_with_faults(fault *f, void *arg)
{
    int count = 0;
    int rc =
        vls_ini_read(f->env, VLS_STR("f"), valise_str_of(arg), stop_at_second, &count, &f->err);

    CHECK_INT(rc == 0, count);
    return rc;
}

TEST(ini, every_allocation_that_fails_is_reported_and_nothing_leaks)
{
    char text[] = "[section-name \"a subsection that is longer than the first block of memory a "
                  "buffer takes for itself\"]\nkey = value and more of it, so that this buffer "
                  "has to grow once or twice as well, too\n";

    CHECK(fault_each_alloc(t, 0, read_with_faults, text) >= 4);
}
