/* grant.c -- what grants say and allow, and which do not fit a role. [K23] [C7] */
#include "bus/grant.h"

#include "bus/actor.h"
#include "harness/test.h"

static bool allows(test *t, const char *text, const char *capability, const char *const *attrs)
{
    vls_grant grant;
    vls_deed deed = {.capability = valise_str_of(capability), .attrs = attrs};

    CHECK_OK(vls_grant_parse(&grant, valise_str_of(text), &t->err));
    return vls_grant_allows(&grant, &deed);
}

TEST(grant, capabilities_with_stars)
{
    static const struct {
        const char *grant, *capability;
        bool allowed;
    } cases[] = {
        {"pin:write", "pin:write", true},   {"pin:write", "pin:read", false},
        {"pin:write", "pins:write", false}, {"pin:*", "pin:write", true},
        {"*:read", "pin:read", true},       {"*:read", "pin:write", false},
        {"*:*", "pin:write", true},         {"*:*", "admin", false},
        {"admin", "admin", true},           {"admin", "pin:read", false},
        {"p*n:re*", "pin:read", true},      {"p*n:re*", "pan:read", true},
        {"pi*:read", "po:read", false},     {"*:admin", "admin", false},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("%s for %s", cases[i].grant, cases[i].capability);
        CHECK(allows(t, cases[i].grant, cases[i].capability, NULL) == cases[i].allowed);
    }
}

TEST(grant, refuses_what_is_no_capability)
{
    static const char *const bad[] = {
        "",
        "pin",
        "*",
        "pin:",
        ":read",
        "pin:read:all",
        "Pin:read",
        "pin:**",
        "1pin:read",
        "pin :read",
        " pin:read",
        "pin:read ",
        "admin:",
        "pin:read x",
        "pin:read =a",
        "pin:read x=",
        "pin:read X=a",
        "-a:b",
        "pin:read x=a//b",
        "pin:read x=a\tb",
        "pin:read  x=a",
        "a:b a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1",
    };
    vls_grant grant = {.count = 99};

    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("\"%s\"", bad[i]);
        CHECK_RC(VALISE_E_INVALID, vls_grant_parse(&grant, valise_str_of(bad[i]), &t->err));
        CHECK_INT(99, grant.count); /* untouched */
    }
    CHECK_RC(VALISE_E_INVALID,
             vls_grant_parse(&grant, valise_str_of(test_format("a:b x=%0300d", 0)), &t->err));
}

TEST(grant, conditions_on_attributes)
{
    const char *const summary[] = {"type", "summary", "path", "src/a/b.c", NULL};
    const char *const other[] = {"type", "analysis", "path", "src/a/b.c", NULL};
    const char *const outside[] = {"type", "summary", "path", "docs/a.md", NULL};
    const char *const no_path[] = {"type", "summary", NULL};
    const char *grant = "context:write type=summary path=src/**";

    CHECK(allows(t, grant, "context:write", summary));
    CHECK(!allows(t, grant, "context:read", summary));
    CHECK(!allows(t, grant, "context:write", other));
    CHECK(!allows(t, grant, "context:write", outside));
    CHECK(!allows(t, grant, "context:write", no_path));
    CHECK(!allows(t, grant, "context:write", NULL));
    CHECK(allows(t, "context:write type=sum*", "context:write", summary));
}

/* A path that leads out of the folder that was granted does not count as in it. */
TEST(grant, paths_with_dots_fit_nothing)
{
    static const char *const paths[] = {"src/../etc/passwd", "src/..", "../src/a",
                                        "src/./a",           ".",      ".."};

    for (size_t i = 0; i < VLS_COUNT(paths); i++) {
        const char *const attrs[] = {"path", paths[i], NULL};
        test_context("%s", paths[i]);
        CHECK(!allows(t, "a:b path=src/**", "a:b", attrs));
        CHECK(!allows(t, "a:b path=**", "a:b", attrs));
    }
    const char *const fine[] = {"path", "src/.hidden/a..b", NULL};
    CHECK(allows(t, "a:b path=src/**", "a:b", fine));
}

typedef struct args {
    valise_str path;
    int64_t type;
    valise_list paths;
    valise_list types;
    valise_list numbers;
    int64_t number;
} args;

TEST(grant, conditions_on_arguments)
{
    static const char *const types[] = {"summary", "analysis", NULL};
    static const valise_field text = {.type = VALISE_T_STR};
    static const valise_field type = {.type = VALISE_T_ENUM, .more = types};
    static const valise_field number = {.type = VALISE_T_INT};
    static const valise_field fields[] = {
        VALISE_FIELD(args, path, STR, 0, "Path."),
        VALISE_FIELD_WITH(args, type, ENUM, 0, "Type.", .more = types),
        VALISE_FIELD_WITH(args, paths, LIST, 0, "Paths.", .more = &text),
        VALISE_FIELD_WITH(args, types, LIST, 0, "Types.", .more = &type),
        VALISE_FIELD_WITH(args, numbers, LIST, 0, "Numbers.", .more = &number),
        VALISE_FIELD(args, number, INT, 0, "Number."),
        VALISE_FIELD_END,
    };
    const valise_str inside[] = {VLS_STR("src/a"), VLS_STR("src/b")};
    const valise_str mixed[] = {VLS_STR("src/a"), VLS_STR("docs/b")};
    const int64_t one_type[] = {0, 0}, two_types[] = {0, 1};
    args a = {.path = VLS_STR("src/x.c"),
              .type = 1,
              .paths = {inside, 2},
              .types = {one_type, 2},
              .numbers = {two_types, 2}};
    vls_deed deed = {.capability = VLS_STR("a:b"), .fields = fields, .args = &a};
    struct {
        const char *grant;
        bool allowed;
    } cases[] = {
        {"a:b path=src/*", true},
        {"a:b path=docs/*", false},
        {"a:b type=analysis", true},
        {"a:b type=summary", false},
        {"a:b paths=src/*", true},
        {"a:b paths=src/a", false},
        {"a:b types=summary", true},
        {"a:b numbers=*", false},
        {"a:b number=*", false},
        {"a:b nothing=*", false},
        {"a:b path=src/* type=analysis paths=**", true},
        {"a:b path=src/* type=summary", false},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_grant grant;
        test_context("%s", cases[i].grant);
        CHECK_OK(vls_grant_parse(&grant, valise_str_of(cases[i].grant), &t->err));
        CHECK(vls_grant_allows(&grant, &deed) == cases[i].allowed);
    }
    vls_grant grant;
    CHECK_OK(vls_grant_parse(&grant, VLS_STR("a:b paths=src/*"), &t->err));
    a.paths = (valise_list){mixed, 2};
    CHECK(!vls_grant_allows(&grant, &deed));
    a.paths = (valise_list){NULL, 0}; /* nothing named: that is not inside */
    CHECK(!vls_grant_allows(&grant, &deed));
    CHECK_OK(vls_grant_parse(&grant, VLS_STR("a:b types=summary"), &t->err));
    a.types = (valise_list){two_types, 2};
    CHECK(!vls_grant_allows(&grant, &deed));
    CHECK_OK(vls_grant_parse(&grant, VLS_STR("a:b type=*"), &t->err));
    a.type = VALISE_NONE;
    CHECK(!vls_grant_allows(&grant, &deed));
    a.type = 7;
    CHECK(!vls_grant_allows(&grant, &deed));
    deed.args = NULL;
    CHECK(!vls_grant_allows(&grant, &deed));
}

/* ---- rows ---- */

static int check_row(test *t, const char *id, int64_t role, const char *a, const char *b)
{
    valise_str list[2] = {valise_str_of(a), valise_str_of(b)};
    vls_actor_row row = {.id = valise_str_of(id), .role = role};

    row.capabilities = (valise_list){list, (size_t)(a != NULL) + (b != NULL)};
    t->err = (valise_error)VALISE_ERROR_INIT;
    return vls_actor_check(&row, &t->err);
}

TEST(actor, ids_can_stand_on_a_command_line)
{
    static const char *const good[] = {"a", "local", "Agent-7", "team/planner@host:8+x_y.z", "7"};
    static const char *const bad[] = {"", "-a", "a b", "a;b", "$a", "a\n", ".a", "\xc3\xa4", "a'"};

    for (size_t i = 0; i < VLS_COUNT(good); i++)
        CHECK_OK(check_row(t, good[i], VLS_ROLE_READER, NULL, NULL));
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        CHECK_RC(VALISE_E_INVALID, check_row(t, bad[i], VLS_ROLE_READER, NULL, NULL));
        CHECK_TEXT("id", t->err.path);
    }
    CHECK_OK(check_row(t, test_format("%0128d", 0), VLS_ROLE_READER, NULL, NULL));
    CHECK_RC(VALISE_E_INVALID, check_row(t, test_format("%0129d", 0), VLS_ROLE_READER, NULL, NULL));
}

TEST(actor, refuses_grants_that_contradict_the_role) /* [C7] */
{
    static const struct {
        int64_t role;
        const char *grant;
        bool fine;
    } cases[] = {
        {VLS_ROLE_NONE, "pin:write", true},
        {VLS_ROLE_NONE, "admin", true},
        {VLS_ROLE_NONE, "context:write path=src/**", true},
        {VLS_ROLE_READER, "pin:write", false}, /* no reader any more */
        {VLS_ROLE_READER, "pin:read", false},  /* has it already */
        {VLS_ROLE_READER, "*:*", false},
        {VLS_ROLE_READER, "admin", false},
        {VLS_ROLE_WRITER, "context:write path=src/**", false}, /* may write everywhere */
        {VLS_ROLE_WRITER, "context:synthesize", true},
        {VLS_ROLE_WRITER, "admin", false},
        {VLS_ROLE_SYNTHESIS, "context:write type=summary", false},
        {VLS_ROLE_SYNTHESIS, "pin:write", true},
        {VLS_ROLE_SYNTHESIS, "admin path=a", false},
        {VLS_ROLE_OWNER, "pin:write", false},
        {VLS_ROLE_OWNER, "admin", false},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("%s with %s", vls_role_names[cases[i].role], cases[i].grant);
        CHECK_RC(cases[i].fine ? 0 : VALISE_E_INVALID,
                 check_row(t, "a", cases[i].role, cases[i].grant, NULL));
        if (!cases[i].fine) {
            CHECK(strstr(t->err.message, "contradicts role"));
            CHECK_TEXT("capabilities[0]", t->err.path);
            CHECK(t->err.hint[0]);
        }
    }
}

TEST(actor, refuses_rows_that_make_no_sense)
{
    valise_str many[65];
    vls_actor_row row = {.id = VLS_STR("a"), .capabilities = {many, 65}};

    CHECK_RC(VALISE_E_INVALID, check_row(t, "a", VLS_ROLE_NONE, NULL, NULL));
    CHECK(strstr(t->err.message, "not be allowed to do anything"));
    CHECK_RC(VALISE_E_INVALID, check_row(t, "a", VLS_ROLE_NONE, "pin:read", "pin:read"));
    CHECK_TEXT("capabilities[1]", t->err.path);
    CHECK_RC(VALISE_E_INVALID, check_row(t, "a", VLS_ROLE_NONE, "pin:read", "pin"));
    CHECK_TEXT("capabilities[1]", t->err.path);
    for (size_t i = 0; i < VLS_COUNT(many); i++)
        many[i] = valise_str_of(test_format("a%zu:b", i));
    CHECK_RC(VALISE_E_INVALID, vls_actor_check(&row, &t->err));
    row.capabilities.count = 64;
    CHECK_OK(vls_actor_check(&row, &t->err));
}

TEST(actor, who_may_administer)
{
    valise_str list[] = {VLS_STR("pin:read"), VLS_STR("admin")};
    vls_actor_row row = {.id = VLS_STR("a"), .role = VLS_ROLE_OWNER};

    CHECK(vls_actor_is_admin(&row));
    row.role = VLS_ROLE_WRITER;
    CHECK(!vls_actor_is_admin(&row));
    row.role = VLS_ROLE_NONE;
    row.capabilities = (valise_list){list, 2};
    CHECK(vls_actor_is_admin(&row));
    list[1] = VLS_STR("admin path=a"); /* not everything */
    CHECK(!vls_actor_is_admin(&row));
    CHECK(!vls_role_grants(99)[0] && !vls_role_grants(-1)[0]);
}

/* Is there any value with which it would be allowed? */
TEST(grant, a_value_may_not_matter)
{
    static const char *const any_type[] = {"path", "src/a.c", "?type", "", NULL};
    static const char *const any_path[] = {"?path", "", NULL};

    CHECK(allows(t, "a:b type=x", "a:b", any_type));
    CHECK(allows(t, "a:b type=x path=src/*", "a:b", any_type));
    CHECK(!allows(t, "a:b type=x path=lib/*", "a:b", any_type));
    CHECK(allows(t, "a:b", "a:b", any_type));
    CHECK(!allows(t, "a:c type=x", "a:b", any_type));
    CHECK(allows(t, "a:b path=lib/*", "a:b", any_path));
    CHECK(!allows(t, "a:b path=lib/* type=x", "a:b", any_path)); /* which was not asked for */
}
