/* table.c -- what a table may say, names, none and zero, and the walks. [K6] */
#include "kit.h"

/* ---- tables that make no sense ---- */

typedef struct pair {
    int64_t a;
    valise_str b;
    bool c;
} pair;

static const valise_field int_item = {.type = VALISE_T_INT};
static const valise_field flagged_item = {.type = VALISE_T_INT, .flags = VALISE_NULLABLE};
static const valise_field moved_item = {.type = VALISE_T_INT, .offset = 8};
static const valise_field ref_item = {.type = VALISE_T_INT, .ref = "log"};
static const valise_field bad_item = {.type = VALISE_T_STR, .min = -1, .max = 1};
static const char *const no_names[] = {NULL};
static const char *const odd_names[] = {"a", "b c", NULL};
static const char *const same_names[] = {"a", "b", "a", NULL};
static const valise_struct no_fields = {8, NULL};
static const valise_union no_tag = {NULL, NULL, 0};
static const valise_case nothing_case[] = {{"a", NULL}, {NULL, NULL}};
static const valise_union nothing_in_it = {"tag", nothing_case, 0};

#define A(type_, ...)                                                                              \
    {                                                                                              \
        .name = "a", .type = VALISE_T_##type_, .flags = __VA_ARGS__                                \
    }

static const struct {
    valise_field fields[3];
    const char *path, *message;
} bad_tables[] = {
    {{{.name = NULL, .type = VALISE_T_INT}},
     "?",
     "\"\" is not a name: camelCase, at most 48 bytes"},
    {{{.name = "", .type = VALISE_T_INT}}, "", NULL},
    {{{.name = "a_b", .type = VALISE_T_INT}}, "a_b", NULL},
    {{{.name = "9", .type = VALISE_T_INT}}, "9", NULL},
    {{{.name = "a12345678901234567890123456789012345678901234567x", .type = VALISE_T_INT}},
     "a12345678901234567890123456789012345678901234567x",
     NULL},
    {{{.name = "a", .type = VALISE_T_UNION + 1}}, "a", "has an unknown type"},
    {{A(INT, 0, .offset = 4)}, "a", "offset 4 does not fit a struct of 32 bytes, or its type"},
    {{A(INT, 0, .offset = 32)}, "a", NULL},
    {{A(INT, 0, .offset = UINT32_MAX - 7)}, "a", NULL},
    {{A(STR, 0, .offset = 24)}, "a", NULL},
    {{A(INT, 0), {.name = "b", .type = VALISE_T_INT}}, "b", "overlaps the member 'a'"},
    {{A(INT, 0, .offset = 8), {.name = "b", .type = VALISE_T_STR}}, "b", NULL},
    {{A(INT, 0), A(INT, 0, .offset = 8)}, "a", "there are two with this name"},
    {{A(INT, 4096)}, "a", "has unknown flags"},
    {{A(INT, VALISE_LOOSE)}, "a", "only what has a ref can be LOOSE"},
    {{A(INT, VALISE_FILE)}, "a", "only a TEXT or DATA can be a FILE"},
    {{A(INT, VALISE_BARE)}, "a", "only an INT with a max can be BARE"},
    {{A(INT, VALISE_PLAIN)}, "a", "only a VALUE can be PLAIN"},
    {{A(INT, VALISE_REQUIRED | VALISE_NULLABLE)}, "a", NULL},
    {{A(BOOL, VALISE_NULLABLE)}, "a", "a BOOL cannot be NULLABLE"},
    {{A(INT, VALISE_KEY | VALISE_NULLABLE)}, "a", "a KEY can be neither NULLABLE nor SECRET"},
    {{A(INT, VALISE_KEY | VALISE_SECRET)}, "a", NULL},
    {{A(JSON, VALISE_KEY)}, "a", "a json cannot be a KEY"},
    {{A(LIST, VALISE_KEY, .more = &int_item)}, "a", "a list cannot be a KEY"},
    {{A(STR, VALISE_CONTENT)}, "a", NULL},
    {{A(INT, 0), {.name = "b", .type = VALISE_T_INT, .flags = VALISE_KEY, .offset = 8}},
     "b",
     "the fields of the key must come first"},
    {{A(LIST, 0, .more = &int_item, .ref = "log")}, "a", NULL},
    {{A(INT, 0, .ref = "")}, "a", NULL},
    {{A(INT, 0, .min = 2, .max = 1)}, "a", NULL},
    {{A(INT, 0, .min = INT64_MIN, .max = 1)}, "a", NULL},
    {{A(STR, 0, .min = -1, .max = 1)}, "a", "min is below 0"},
    {{A(BOOL, 0, .max = 1)}, "a", "has min or max, which its type does not use"},
    {{A(UUID, 0, .max = 1)}, "a", NULL},
    {{A(INT, 0, .more = &int_item)}, "a", "has .more, which its type does not use"},
    {{A(LIST, 0)}, "a", "lacks .more"},
    {{A(ENUM, 0)}, "a", "lacks .more"},
    {{A(ENUM, 0, .more = no_names)}, "a", "no names"},
    {{A(ENUM, 0, .more = odd_names)},
     "a",
     "one of the names is \"b c\", which must be letters, digits or _-.:/+"},
    {{A(ENUM, 0, .more = same_names)}, "a", "\"a\" is given twice among the names"},
    {{A(LIST, 0, .more = &flagged_item)}, "a", NULL},
    {{A(LIST, 0, .more = &moved_item)}, "a", NULL},
    {{A(LIST, 0, .more = &bad_item)}, "a[]", "min is below 0"},
    {{A(STRUCT, 0, .more = &no_fields)}, "a", "a struct without fields"},
    {{A(UNION, 0, .more = &no_tag)}, "a", NULL},
    {{A(UNION, 0, .more = &nothing_in_it)}, "a.a", "a struct without fields"},
};

TEST(field_table, refuses_what_makes_no_sense)
{
    for (size_t i = 0; i < VLS_COUNT(bad_tables); i++) {
        test_context("table %zu", i);
        CHECK_RC(VALISE_E_INVALID, vls_fields_check(bad_tables[i].fields, sizeof(pair), &t->err));
        CHECK_TEXT(bad_tables[i].path, t->err.path);
        CHECK(t->err.message[0]);
        if (bad_tables[i].message)
            CHECK_TEXT(bad_tables[i].message, t->err.message);
    }
    CHECK_RC(VALISE_E_INVALID, vls_fields_check(bad_tables[0].fields, sizeof(pair), NULL));
}

TEST(field_table, takes_what_makes_sense)
{
    static const valise_field fields[] = {
        VALISE_FIELD(pair, a, INT, VALISE_KEY, "a"),
        VALISE_FIELD_WITH(pair, b, LIST, VALISE_REQUIRED, "b", .more = &ref_item, .max = 3),
        VALISE_FIELD(pair, c, BOOL, VALISE_HIDDEN | VALISE_POSITIONAL, "c"),
        VALISE_FIELD_END,
    };
    static const valise_field none[] = {VALISE_FIELD_END};

    CHECK_OK(vls_fields_check(fields, sizeof(pair), &t->err));
    CHECK_OK(vls_fields_check(none, 0, &t->err));
    CHECK_OK(vls_fields_check(kit_all_fields, sizeof(kit_all), &t->err));
    CHECK_OK(vls_fields_check(kit_session_fields, sizeof(kit_session), &t->err));
}

TEST(field_table, more_fields_than_there_are_bits)
{
    valise_field fields[VLS_FIELDS_MAX + 2] = {{0}};

    for (size_t i = 0; i <= VLS_FIELDS_MAX; i++) {
        int rc = vls_fields_check(fields, 8 * 64, &t->err);
        CHECK_RC(0, rc);
        fields[i] = (valise_field){
            .name = test_format("a%zu", i), .type = VALISE_T_INT, .offset = (uint32_t)(8 * i)};
    }
    CHECK_RC(VALISE_E_INVALID, vls_fields_check(fields, 8 * 64, &t->err));
    CHECK_TEXT("a table of more than 62 fields", t->err.message);
}

TEST(field_table, more_names_than_are_allowed)
{
    const char *names[VLS_FIELDS_MAX_NAMES + 2] = {NULL};
    valise_case cases[VLS_FIELDS_MAX_NAMES + 2] = {{NULL, NULL}};
    static const valise_field none[] = {VALISE_FIELD_END};
    static const valise_struct empty = {0, none};
    valise_union either = {"tag", cases, 0};
    valise_field as_enum[] = {{.name = "a", .type = VALISE_T_ENUM, .more = names}, {0}};
    valise_field as_union[] = {{.name = "a", .type = VALISE_T_UNION, .more = &either}, {0}};

    for (size_t i = 0; i <= VLS_FIELDS_MAX_NAMES; i++) {
        names[i] = test_format("n%zu", i);
        cases[i] = (valise_case){names[i], &empty};
        CHECK_RC(i < VLS_FIELDS_MAX_NAMES ? 0 : VALISE_E_INVALID,
                 vls_fields_check(as_enum, sizeof(valise_variant), &t->err));
        CHECK_RC(i < VLS_FIELDS_MAX_NAMES ? 0 : VALISE_E_INVALID,
                 vls_fields_check(as_union, sizeof(valise_variant), &t->err));
    }
}

/* Tables that contain themselves never end; tables that share others may be wide. */
TEST(field_table, comes_to_an_end)
{
    valise_field self[2] = {{0}}, wide[VLS_FIELDS_MAX + 1] = {{0}};
    valise_struct self_struct = {8, self}, wide_struct = {8 * 64, wide};

    self[0] = (valise_field){.name = "a", .type = VALISE_T_STRUCT, .more = &self_struct};
    CHECK_RC(VALISE_E_INVALID, vls_fields_check(self, 8, &t->err));
    CHECK_TEXT("tables inside each other more than 16 deep", t->err.message);
    for (size_t i = 0; i < VLS_FIELDS_MAX; i++) {
        wide[i] = (valise_field){.name = test_format("a%zu", i),
                                 .type = VALISE_T_STRUCT,
                                 .offset = (uint32_t)(8 * i),
                                 .more = i < 8 ? &wide_struct : &self_struct};
    }
    self[0] = (valise_field){.name = "a", .type = VALISE_T_INT};
    CHECK_RC(VALISE_E_INVALID, vls_fields_check(wide, 8 * 64, &t->err));
    for (size_t i = 0; i < 8; i++) {
        wide[i].more = &self_struct;
    }
    CHECK_OK(vls_fields_check(wide, 8 * 64, &t->err));
    valise_struct level[3] = {{8 * 64, wide}, {8 * 64, NULL}, {8 * 64, NULL}};
    valise_field second[VLS_FIELDS_MAX + 1], third[VLS_FIELDS_MAX + 1];
    memcpy(second, wide, sizeof(wide));
    memcpy(third, wide, sizeof(wide));
    level[1].fields = second;
    for (size_t i = 0; i < VLS_FIELDS_MAX; i++) {
        second[i].more = &level[0];
        third[i].more = &level[1];
    }
    CHECK_RC(VALISE_E_INVALID, vls_fields_check(third, 8 * 64, &t->err));
    CHECK_TEXT("more than 4096 fields in all tables", t->err.message);
}

/* ---- names ---- */

TEST(field_table, names_in_other_spellings)
{
    CHECK_TEXT("session_id", vls_field_words("sessionId", '_').s);
    CHECK_TEXT("session-id", vls_field_words("sessionId", '-').s);
    CHECK_TEXT("a", vls_field_words("a", '-').s);
    CHECK_TEXT("u_r_l2", vls_field_words("uRL2", '_').s);
    const char *longest = "aABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTU";
    CHECK_INT(VLS_FIELD_NAME_MAX, strlen(longest));
    CHECK_INT(2 * VLS_FIELD_NAME_MAX - 1, strlen(vls_field_words(longest, '_').s));
}

TEST(field_table, finds_fields_by_name)
{
    for (const valise_field *f = kit_all_fields; f->type != VALISE_T_END; f++)
        CHECK(vls_fields_find(kit_all_fields, valise_str_of(f->name)) == f);
    CHECK(!vls_fields_find(kit_all_fields, VLS_STR("")));
    CHECK(!vls_fields_find(kit_all_fields, VLS_STR("i")));
    CHECK(!vls_fields_find(kit_all_fields, VLS_STR("ids")));
    CHECK(!vls_fields_find(kit_all_fields, VLS_STR("id\0")));
    CHECK(!vls_fields_find(kit_all_fields, VLS_STR("seq\0aaaaaaaaaaaaaaaaaaaaaaaaaaaa")));
}

/* ---- none ---- */

TEST(field_table, a_cleared_struct_is_none_or_zero_everywhere)
{
    kit_all row, again;

    memset(&row, 0xA5, sizeof(row));
    vls_fields_clear(&row, kit_all_fields, sizeof(row));
    for (const valise_field *f = kit_all_fields; f->type != VALISE_T_END; f++)
        CHECK_MSG(vls_field_is_none(f, &row), "%s", f->name);
    CHECK(row.n_integer == VALISE_NONE && row.n_value.size == VALISE_NONE);
    CHECK(row.n_either.which == VALISE_NONE && row.n_kind == VALISE_NONE &&
          row.n_real != row.n_real);

    /* NULLABLE: 0, "", [] are values. */
    again = row;
    again.n_integer = again.n_kind = 0;
    again.n_real = 0;
    again.n_str = again.n_bytes = VLS_STR("");
    again.n_blocks.items = "";
    again.n_text = (valise_content){.bytes = VLS_STR("")};
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("ninteger")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("nkind")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("nreal")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("nstr")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("nbytes")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("nblocks")), &again));
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("ntext")), &again));

    /* Contents and unions that are all zero were forgotten, not given. */
    memset(&again, 0, sizeof(again));
    CHECK(vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("ntext")), &again));
    CHECK(vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("neither")), &again));
    again.n_text.size = VALISE_SIZE_UNKNOWN;
    CHECK(vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("ntext")), &again));
    again.n_text.id.bytes[31] = 1;
    CHECK(!vls_field_is_none(vls_fields_find(kit_all_fields, VLS_STR("ntext")), &again));
}

/* ---- walks ---- */

typedef struct seen {
    char names[600];
    unsigned count, stop_at;
} seen;

static int note(void *arg, const valise_field *field, void *member)
{
    seen *s = arg;
    size_t len = strlen(s->names);

    CHECK(member);
    (void)snprintf(s->names + len, sizeof(s->names) - len, "%s ", field->name ? field->name : "-");
    if (field->type >= VALISE_T_VALUE && field->type <= VALISE_T_DATA)
        ((valise_content *)member)->size = 77; /* members may be changed */
    return ++s->count == s->stop_at ? 42 : 0;
}

static void fill(test *t, vls_arena *arena, kit_all *row)
{
    vls_json v = kit_parse(
        t, arena,
        "{\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\",\"names\":[\"a\"],\"str\":\"other\","
        "\"nhash\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
        "\"integer\":7,\"text\":\"x\",\"nvalue\":{\"a\":1},\"data\":\"\","
        "\"neither\":{\"type\":\"text\",\"text\":\"b\"},"
        "\"blocks\":[{\"what\":{\"type\":\"tool_call\",\"result\":\"r\",\"callId\":"
        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"},"
        "\"open\":{\"kind\":\"else\"}},{\"what\":{\"type\":\"tool_call\",\"result\":\"\"}}]}");

    CHECK_OK(
        vls_fields_decode(row, kit_all_fields, sizeof(*row), v, VLS_FIELD_INPUT, arena, &t->err));
}

TEST(field_walk, over_references)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    seen s = {.stop_at = 0}, stopped = {.stop_at = 3};
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    fill(t, &arena, &row);
    CHECK_INT(0, vls_fields_each_ref(&row, kit_all_fields, note, &s));
    CHECK_TEXT("str nhash nvalue text data callId result result ", s.names);
    CHECK_INT(42, vls_fields_each_ref(&row, kit_all_fields, note, &stopped));
    CHECK_TEXT("str nhash nvalue ", stopped.names);
}

TEST(field_walk, over_contents)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    seen s = {.stop_at = 0}, stopped = {.stop_at = 4};
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    fill(t, &arena, &row);
    CHECK_INT(0, vls_fields_each_content(&row, kit_all_fields, note, &s));
    CHECK_TEXT("nvalue text data result result ", s.names);
    CHECK_INT(77, row.text.size);
    const kit_block *const *blocks = row.blocks.items;
    CHECK_INT(77, ((const kit_call *)blocks[1]->what.value)->result.size);
    CHECK_INT(42, vls_fields_each_content(&row, kit_all_fields, note, &stopped));
    CHECK_TEXT("nvalue text data result ", stopped.names);
}
