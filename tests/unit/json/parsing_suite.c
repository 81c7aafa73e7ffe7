/* parsing_suite.c -- the JSON parser and the canonical form against public suites.
 *
 * JSONTestSuite: y_ must be accepted, n_ refused, i_ either, none may crash. Two of its y_ files
 * have a duplicate key, which Valise refuses [K4] unless the caller lets the last one win. */
#define VLS_ALLOW_MALLOC
#include "harness/test.h"

#include <dirent.h>

#include "json/json.h"

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int parse_file(test *t, const char *path, uint32_t flags)
{
    vls_json_limits limits = {.flags = flags};
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text, again;
    vls_json v;
    int rc;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    vls_buf_init(&again, t->env, SIZE_MAX);
    rc = vls_json_parse(&v, &arena, test_read_file(path), &limits, &t->err);
    if (rc < 0)
        return rc;

    /* What was accepted must survive its own canonical form. */
    CHECK_OK(vls_json_write(&text, v, &t->err));
    CHECK_OK(vls_json_parse(&v, &arena, vls_buf_str(&text), NULL, &t->err));
    CHECK_OK(vls_json_write(&again, v, &t->err));
    CHECK_STR(vls_buf_str(&text), vls_buf_str(&again));
    return 0;
}

/* [K4] */
TEST(parsing_suite, every_file_gets_its_verdict)
{
    const char *dir = test_data("json-parsing/test_parsing");
    struct dirent **names = NULL;
    int count = scandir(dir, &names, NULL, by_name);
    int ran[128] = {0};

    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        const char *path = test_format("%s/%s", dir, names[i]->d_name);
        unsigned char kind = (unsigned char)names[i]->d_name[0];
        bool duplicate = strstr(names[i]->d_name, "duplicated_key") != NULL;
        if (kind != 'y' && kind != 'n' && kind != 'i')
            continue;
        int rc = parse_file(t, path, 0);
        ran[kind]++;
        CHECK_MSG(kind != 'n' || rc < 0, "%s was accepted", path);
        CHECK_MSG(kind != 'y' || duplicate || rc == 0, "%s was refused: %s", path, t->err.message);
        CHECK_MSG(!duplicate || rc == VALISE_E_INVALID, "%s: duplicate key accepted", path);
        CHECK_MSG(!duplicate || parse_file(t, path, VLS_JSON_LAST_KEY_WINS) == 0, "%s", path);
        CHECK_MSG(rc == 0 || t->err.offset >= 0, "%s: no offset in \"%s\"", path, t->err.message);
    }
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    test_note("json-parsing: %d y_, %d n_, %d i_ files", ran['y'], ran['n'], ran['i']);
    CHECK(ran['y'] >= 95 && ran['n'] >= 187 && ran['i'] >= 35);
}

/* [K4] RFC 8785's own test files. */
TEST(parsing_suite, canonical_form_equals_the_expected_bytes)
{
    const char *dir = test_data("json-canonical/testdata");
    static const char *const names[] = {"arrays",  "french", "structures",
                                        "unicode", "values", "weird"};
    VLS_AUTO(arena) vls_arena arena;
    VLS_AUTO(buf) vls_buf text;
    vls_json v;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&text, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        valise_str in = test_read_file(test_format("%s/input/%s.json", dir, names[i]));
        valise_str out = test_read_file(test_format("%s/output/%s.json", dir, names[i]));
        vls_buf_clear(&text);
        CHECK_OK(vls_json_parse(&v, &arena, in, NULL, &t->err));
        CHECK_OK(vls_json_write(&text, v, &t->err));
        CHECK_STR(out, vls_buf_str(&text));
    }
    test_note("json-canonical: %zu files", VLS_COUNT(names));
}
