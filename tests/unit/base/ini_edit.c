/* ini_edit.c -- changing one value and nothing else. */
#include "harness/test.h"

#include "base/ini.h"
#include "harness/fault.h"
#include "unit/base/ini_list.h"

static vls_ini_name name_of(const char *section, const char *subsection, const char *key)
{
    return (vls_ini_name){valise_str_of(section), valise_str_of(subsection), valise_str_of(key)};
}

static void check_set(test *t, const char *text, vls_ini_name name, const char *value,
                      const char *expected)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 4096);
    CHECK_OK(vls_ini_set(&out, VLS_STR("config"), ini_exact(valise_str_of(text)), &name,
                         valise_str_of(value), &t->err));
    CHECK_STR(valise_str_of(expected), vls_buf_str(&out));
}

static void check_unset(test *t, const char *text, vls_ini_name name, const char *expected)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 4096);
    CHECK_OK(
        vls_ini_unset(&out, VLS_STR("config"), ini_exact(valise_str_of(text)), &name, &t->err));
    CHECK_STR(valise_str_of(expected), vls_buf_str(&out));
}

TEST(ini_edit, replaces_the_value_alone)
{
    vls_ini_name k = name_of("a", NULL, "k");

    check_set(t, "[a]\n\tk = old\n", k, "new", "[a]\n\tk = new\n");
    check_set(t, "# c\n[A]\n  K=old ; why\n\tl = 2\n", k, "new",
              "# c\n[A]\n  K=new ; why\n\tl = 2\n");
    check_set(t, "[a]\nk = \"o # l\" d#c", k, "new", "[a]\nk = new#c");
    check_set(t, "[a]\nk = one \\\n   two # c\nl=1", k, "new", "[a]\nk = new # c\nl=1");
    check_set(t, "[a]\nk\nl\n", k, "new", "[a]\nk = new\nl\n");
    check_set(t, "[a] k", k, "new", "[a] k = new");
    check_set(t, "[a]\nk  \n", k, "new", "[a]\nk = new  \n");
    check_set(t, "[a]\nk =\n", k, "new", "[a]\nk = new\n");
    check_set(t, "[a]\nk =# c\n", k, "new", "[a]\nk = new # c\n");
    check_set(t, "[a]\nk =   # c\n", k, "new", "[a]\nk = new   # c\n");
    check_set(t, "[a]\r\nk = old\r\n", k, "new", "[a]\r\nk = new\r\n");
    check_set(t, "[a]\nk = old\\", k, "new", "[a]\nk = new");
    check_set(t, "[a]\nk = old\\\n", k, "new", "[a]\nk = new");
    check_set(t, "[a]\nk = \\\n  # c", k, "new", "[a]\nk = new  # c");
    check_set(t, "\xEF\xBB\xBF[a]k=1", k, "new", "\xEF\xBB\xBF[a]k=new");
}

TEST(ini_edit, replaces_the_last_of_several)
{
    check_set(t, "[a]\nk = 1\nk = 2\n[b]\nk = 3\n", name_of("a", NULL, "k"), "x",
              "[a]\nk = 1\nk = x\n[b]\nk = 3\n");
    check_set(t, "[a]\nk = 1\n[b]\nk = 2\n[a]\nl = 3\n", name_of("a", NULL, "k"), "x",
              "[a]\nk = x\n[b]\nk = 2\n[a]\nl = 3\n");
    check_set(t, "[a \"S\"]\nk = 1\n[a \"s\"]\nk = 2\n[a]\nk = 3\n", name_of("A", "S", "K"), "x",
              "[a \"S\"]\nk = x\n[a \"s\"]\nk = 2\n[a]\nk = 3\n");
    check_set(t, "[a.s]\nk = 1\n[a \"S\"]\nk = 2\n", name_of("a", "s", "k"), "x",
              "[a.s]\nk = x\n[a \"S\"]\nk = 2\n");
}

TEST(ini_edit, adds_a_key_to_its_section)
{
    vls_ini_name k = name_of("a", NULL, "K");

    check_set(t, "[a]\n[b]\n", k, "v", "[a]\n\tK = v\n[b]\n");
    check_set(t, "[a] # c\n# d\n", k, "v", "[a] # c\n\tK = v\n# d\n");
    check_set(t, "[a]", k, "v", "[a]\n\tK = v\n");
    check_set(t, "[a] # c", k, "v", "[a] # c\n\tK = v\n");
    check_set(t, "[a] [b] l=1", k, "v", "[a]\n\tK = v\n [b] l=1");
    check_set(t, "[a]\n  l = 1\n\n# end\n[b]\n", k, "v", "[a]\n  l = 1\n  K = v\n\n# end\n[b]\n");
    check_set(t, "[a]\nl = 1", k, "v", "[a]\nl = 1\nK = v\n");
    check_set(t, "[a] l = 1", k, "v", "[a] l = 1\n\tK = v\n");
    check_set(t, "[a]\r\n\tl = 1\r\n", k, "v", "[a]\r\n\tl = 1\r\n\tK = v\r\n");
    check_set(t, "[a]\nl=1\n[b]\n[a]\n\tm=1\n[c]\n", k, "v",
              "[a]\nl=1\n[b]\n[a]\n\tm=1\n\tK = v\n[c]\n");
    check_set(t, "[a]\n l=1\n[b]\n[a]\n# end\n", k, "v", "[a]\n l=1\n[b]\n[a]\n\tK = v\n# end\n");
}

TEST(ini_edit, adds_behind_lines_that_would_go_on)
{
    vls_ini_name k = name_of("a", NULL, "k");

    check_set(t, "[a]\nl = 1\\", k, "v", "[a]\nl = 1\\\n\nk = v\n");
    check_set(t, "[a]\nl = 1\\\n", k, "v", "[a]\nl = 1\\\n\nk = v\n");
    check_set(t, "[a]\nl = 1\\\n  ", k, "v", "[a]\nl = 1\\\n  \nk = v\n");
    check_set(t, "[b]\nl = 1\\", k, "v", "[b]\nl = 1\\\n\n[a]\n\tk = v\n");
    check_set(t, "[b]\nl = 1 # \\", k, "v", "[b]\nl = 1 # \\\n[a]\n\tk = v\n");
}

TEST(ini_edit, adds_a_section_at_the_end)
{
    check_set(t, "", name_of("Core", NULL, "Key"), "v", "[Core]\n\tKey = v\n");
    check_set(t, "[b]\nk=1", name_of("a", NULL, "k"), "v", "[b]\nk=1\n[a]\n\tk = v\n");
    check_set(t, "# c", name_of("a", NULL, "k"), "v", "# c\n[a]\n\tk = v\n");
    check_set(t, "[a]\nk=1\n", name_of("a", "x \"y\" \\z]", "k"), "v",
              "[a]\nk=1\n[a \"x \\\"y\\\" \\\\z]\"]\n\tk = v\n");
    check_set(t, "[a]\nk=1\n", name_of("a", "", "k"), "v", "[a]\nk=1\n[a \"\"]\n\tk = v\n");
    check_set(t, "[b]\r\n", name_of("a", NULL, "k"), "v", "[b]\r\n[a]\r\n\tk = v\r\n");
}

TEST(ini_edit, quotes_as_needed)
{
    static const struct {
        const char *value, *written;
    } cases[] = {
        {"plain value", "plain value"},
        {"", "\"\""},
        {" x", "\" x\""},
        {"x ", "\"x \""},
        {"a  b", "a  b"},
        {"a#b", "\"a#b\""},
        {"a;b", "\"a;b\""},
        {"a\rb", "\"a\rb\""},
        {"a\r", "\"a\r\""},
        {"a\nb\tc\bd", "a\\nb\\tc\\bd"},
        {"\t", "\\t"},
        {"say \"hi\\\"", "say \\\"hi\\\\\\\""},
        {"[x] = y", "[x] = y"},
        {"\\", "\\\\"},
        {"\xFF\x1b", "\xFF\x1b"},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++)
        check_set(t, "[a]\nk = old\n", name_of("a", NULL, "k"), cases[i].value,
                  test_format("[a]\nk = %s\n", cases[i].written));
}

TEST(ini_edit, removes_every_entry_of_the_name)
{
    vls_ini_name k = name_of("a", NULL, "k");

    check_unset(t, "[a]\n\tk = 1\n", k, "[a]\n");
    check_unset(t, "[a]\nj = 0\nK = 1 # c\nl = 2\n[b]\nk = 3\n[A]\nk\n", k,
                "[a]\nj = 0\nl = 2\n[b]\nk = 3\n[A]\n");
    check_unset(t, "[a] k = 1 # c\nl = 2", k, "[a]\nl = 2");
    check_unset(t, "[a] k = 1\r\nl = 2", k, "[a]\r\nl = 2");
    check_unset(t, "[a] k", k, "[a]");
    check_unset(t, "[a]\nk = 1 \\\n  2\nl = 2", k, "[a]\nl = 2");
    check_unset(t, "[a]\nl = 2\nk = 1\\", k, "[a]\nl = 2\n");
    check_unset(t, "[a \"s\"]\nk = 1\n[a]\nk=2", name_of("a", "s", "k"), "[a \"s\"]\n[a]\nk=2");
}

TEST(ini_edit, says_what_is_not_there)
{
    VLS_AUTO(buf) vls_buf out;
    vls_ini_name k = name_of("a", NULL, "k");

    vls_buf_init(&out, t->env, 64);
    vls_buf_add(&out, VLS_STR("kept"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_ini_unset(&out, VLS_STR("config"), VLS_STR("[a \"s\"]\nk=1"), &k, &t->err));
    CHECK_TEXT("config: there is no k in section a", t->err.message);
    CHECK_STR(VLS_STR("kept"), vls_buf_str(&out));
}

TEST(ini_edit, refuses_what_cannot_be_written_or_read)
{
    static const struct {
        const char *section, *subsection, *key, *message;
    } bad[] = {
        {"", NULL, "k", "the section of a setting is empty"},
        {"a", NULL, "", "the key of a setting is empty"},
        {"a.b", NULL, "k", "section \"a.b\": only letters, digits and '-' are allowed, not '.'"},
        {"a]", NULL, "k", "section \"a]\": only letters, digits and '-' are allowed, not ']'"},
        {"a", NULL, "k l", "key \"k l\": only letters, digits and '-' are allowed, not 0x20"},
        {"a", NULL, "k\n", "key \"k\\n\": only letters, digits and '-' are allowed, not 0x0a"},
        {"a", NULL, "1", "key \"1\" does not begin with a letter"},
        {"a", NULL, "-k", "key \"-k\" does not begin with a letter"},
        {"a", "x\ny", "k", "subsection \"x\\ny\" has a newline or a byte of value 0"},
    };
    VLS_AUTO(buf) vls_buf out;
    vls_ini_name k = name_of("a", NULL, "k"), name = k;

    vls_buf_init(&out, t->env, 4096);
    vls_buf_add(&out, VLS_STR("kept"));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        name = name_of(bad[i].section, bad[i].subsection, bad[i].key);
        CHECK_RC(VALISE_E_INVALID,
                 vls_ini_set(&out, VLS_STR("f"), VLS_STR(""), &name, VLS_STR("v"), &t->err));
        CHECK_TEXT(bad[i].message, t->err.message);
        CHECK_RC(VALISE_E_INVALID, vls_ini_unset(&out, VLS_STR("f"), VLS_STR(""), &name, &t->err));
    }
    name.subsection = VLS_STR("x\0y");
    CHECK_RC(VALISE_E_INVALID,
             vls_ini_set(&out, VLS_STR("f"), VLS_STR(""), &name, VLS_STR("v"), &t->err));
    CHECK_RC(VALISE_E_INVALID,
             vls_ini_set(&out, VLS_STR("f"), VLS_STR(""), &k, VLS_STR("v\0w"), &t->err));
    CHECK_TEXT("the value of k has a byte of value 0", t->err.message);
    CHECK_RC(VALISE_E_INVALID,
             vls_ini_set(&out, VLS_STR("f"), VLS_STR("[a]\nk=1\n?"), &k, VLS_STR("v"), &t->err));
    CHECK_TEXT("f:3: a line must begin with '[', a letter, '#' or ';', not '?'", t->err.message);
    CHECK_RC(VALISE_E_INVALID,
             vls_ini_unset(&out, VLS_STR("f"), VLS_STR("[a]\nk=1\n?"), &k, &t->err));
    CHECK_STR(VLS_STR("kept"), vls_buf_str(&out));
}

TEST(ini_edit, keeps_within_the_limits_of_the_reader)
{
    VLS_AUTO(buf) vls_buf out;
    vls_ini_name k = name_of("a", NULL, "k");
    char *big = test_alloc(VLS_INI_MAX_BYTES);

    memset(big, 'v', VLS_INI_MAX_BYTES);
    vls_buf_init(&out, t->env, VLS_INI_MAX_BYTES * 4);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_ini_set(&out, VLS_STR("f"), VLS_STR("[a]\n"), &k,
                                             vls_str(big, VLS_INI_MAX_LINE_BYTES), &t->err));
    CHECK_TEXT("f:2: the line has more than 65536 bytes", t->err.message);
    CHECK_INT(0, out.len);
    memset(big, '\n', VLS_INI_MAX_BYTES);
    CHECK_RC(VALISE_E_TOO_LARGE, vls_ini_set(&out, VLS_STR("f"), vls_str(big, VLS_INI_MAX_BYTES),
                                             &k, VLS_STR("v"), &t->err));
    CHECK_INT(0, out.len);
    vls_buf_release(&out);
    vls_buf_init(&out, t->env, 8);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_ini_set(&out, VLS_STR("f"), VLS_STR("[a]\n"), &k, VLS_STR("v"), &t->err));
    CHECK_INT(0, out.len);
}

static int edit_with_faults(fault *f, void *arg)
{
    valise_str text = VLS_STR("[a]\nk = a value that is longer than the first block of memory a "
                              "buffer takes for itself, which is sixty-four bytes\nl = 2\n");
    vls_ini_name k = name_of("a", NULL, "k"), m = name_of("b", "sub", "m");
    VLS_AUTO(buf) vls_buf out;

    (void)arg;
    vls_buf_init(&out, f->env, 4096);
    int rc = vls_ini_set(&out, VLS_STR("f"), text, &k, VLS_STR("new"), &f->err);
    if (rc == 0)
        rc = vls_ini_set(&out, VLS_STR("f"), text, &m, VLS_STR("new"), &f->err);
    size_t before = out.len;
    if (rc == 0)
        rc = vls_ini_unset(&out, VLS_STR("f"), text, &k, &f->err);
    CHECK(rc == 0 ? out.len > before : out.len == before);
    return rc;
}

TEST(ini_edit, every_allocation_that_fails_is_reported_and_nothing_leaks)
{
    CHECK(fault_each_alloc(t, 0, edit_with_faults, NULL) >= 10);
}
