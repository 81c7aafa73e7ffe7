/* json.c -- structs to JSON and back. [K4] [K6] */
#include "harness/fault.h"
#include "kit.h"

/* decode(write(x)) is x, and the text is what the JSON writer makes of the same object. [K4] */
TEST(field_json, what_is_written_is_canonical_and_reads_back)
{
    test_rng rng = test_rng_new(test_seed());

    CHECK_OK(vls_fields_check(kit_all_fields, sizeof(kit_all), &t->err));
    for (unsigned round = 0; round < 600; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf again = {0};
        vls_field_form form = round % 2 ? VLS_FIELD_INPUT : VLS_FIELD_LOGGED;
        kit_all a, b;
        vls_json v;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&again, t->env, SIZE_MAX);
        kit_random(&rng, &a, kit_all_fields, sizeof(a), form);
        valise_str text = kit_write(t, &a, kit_all_fields, form, round % 3 ? 0 : VLS_FIELD_ALL);
        test_context("round %u: %.*s", round, VALISE_STR_ARG(text));
        CHECK_OK(vls_json_parse(&v, &arena, text, NULL, &t->err));
        CHECK_OK(vls_json_write(&again, v, &t->err));
        CHECK_STR(vls_buf_str(&again), text);
        CHECK_OK(vls_fields_decode(&b, kit_all_fields, sizeof(b), v, form, &arena, &t->err));
        CHECK(kit_equal(kit_all_fields, &a, &b, form));
    }
    test_context_end();
}

/* ---- refusals ---- */

static const struct {
    const char *text, *path, *message, *hint;
} refusals[] = {
    {"[]", "", "must be an object, not an array", ""},
    {"{}", "id", "'id' is missing", "give a UUID"},
    {"{\"sqe\":1}", "sqe", "unknown member 'sqe'", "did you mean 'seq'?"},
    {"{\"Blocks\":1}", "Blocks", "unknown member 'Blocks'", "did you mean 'blocks'?"},
    {"{\"zzzzzzzz\":1}", "zzzzzzzz", "unknown member 'zzzzzzzz'", ""},
    {"{\"\":1}", "", "unknown member ''", ""},
    {"{\"a\\u001b[31m\":1}", "a\\x1b[31m", "unknown member 'a\\x1b[31m'", ""},
    {"{\"flag\":1}", "flag", "'flag' must be true or false, not an integer", ""},
    {"{\"flag\":null}", "flag", "'flag' must be true or false, not null", ""},
    {"{\"integer\":1.5}", "integer", "'integer' must be an integer, not a number", ""},
    {"{\"integer\":\"1\"}", "integer", "'integer' must be an integer, not a string", ""},
    {"{\"integer\":9223372036854775808}", "integer",
     "'integer' must be between -9223372036854775807 and 9223372036854775807", ""},
    {"{\"ninteger\":-9223372036854775808}", "ninteger",
     "'ninteger' must be between -9223372036854775807 and 9223372036854775807", ""},
    {"{\"seq\":-1}", "seq", "'seq' must be between 0 and 1048576, not -1", ""},
    {"{\"real\":true}", "real", "'real' must be a number, not a boolean", ""},
    {"{\"str\":{}}", "str", "'str' must be a string, not an object", ""},
    {"{\"bytes\":5}", "bytes", "'bytes' must be a base64 string, not an integer", ""},
    {"{\"bytes\":\"?\"}", "bytes", NULL, NULL},
    {"{\"path\":5}", "path", "'path' must be a string, or {\"base64\": ...}, not an integer", ""},
    {"{\"path\":{}}", "path", NULL, NULL},
    {"{\"path\":{\"base64\":5}}", "path", NULL, NULL},
    {"{\"path\":{\"base64\":\"?\"}}", "path", NULL, NULL},
    {"{\"path\":{\"base64\":\"/w==\",\"more\":1}}", "path", NULL, NULL},
    {"{\"path\":{\"base64\":\"YQ==\"}}", "path", "is valid UTF-8: give it as a string", ""},
    {"{\"time\":\"soon\"}", "time", NULL, NULL},
    {"{\"time\":5}", "time",
     "'time' must be a time such as \"2026-01-02T03:04:05Z\", not an integer", ""},
    {"{\"ntime\":\"1677-09-21T00:12:43.145224192Z\"}", "ntime",
     "'ntime' is not a possible time: it stands for none", ""},
    {"{\"duration\":\"90\"}", "duration", "\"90\" is not a duration: it has no unit",
     "write a whole number and a unit (ns us ms s m h d w), such as 90s or 15m"},
    {"{\"uuid\":\"1\"}", "uuid", NULL, NULL},
    {"{\"uuid\":1}", "uuid", "'uuid' must be a UUID, not an integer", ""},
    {"{\"uuid\":\"00000000-0000-0000-0000-000000000000\"}", "uuid",
     "'uuid' must be a UUID that is not all zeros", ""},
    {"{\"hash\":\"ab\"}", "hash", NULL, NULL},
    {"{\"kind\":\"usr\"}", "kind",
     "'kind' must be one of \"none\", \"user\", \"model\", \"tool-result\", not \"usr\"",
     "did you mean \"user\"?"},
    {"{\"kind\":0}", "kind", "'kind' must be a name, not an integer", ""},
    {"{\"blocks\":{}}", "blocks", "'blocks' must be an array, not an object", ""},
    {"{\"blocks\":[1]}", "blocks[0]", "'item' must be an object, not an integer", ""},
    {"{\"blocks\":[{\"what\":{\"type\":\"text\",\"text\":\"\"}},{}]}", "blocks[1].what",
     "'what' is missing", "give an object"},
    {"{\"blocks\":[{\"what\":{}}]}", "blocks[0].what.type", "'type' is missing", "give a string"},
    {"{\"blocks\":[{\"what\":{\"type\":7}}]}", "blocks[0].what.type",
     "'type' must be a string, not an integer", ""},
    {"{\"blocks\":[{\"what\":{\"type\":\"tool-call\"}}]}", "blocks[0].what.type",
     "'type' must be one of \"text\", \"tool_call\", not \"tool-call\"",
     "did you mean \"tool_call\"?"},
    {"{\"blocks\":[{\"what\":{\"type\":\"tool_call\",\"callID\":1}}]}", "blocks[0].what.callID",
     "unknown member 'callID'", "did you mean 'callId'?"},
    {"{\"blocks\":[{\"what\":[]}]}", "blocks[0].what", "'what' must be an object, not an array",
     ""},
    {"{\"part\":{\"marks\":[1,2,1001],\"text\":\"\"}}", "part.marks[2]",
     "'item' must be between -1000 and 1000, not 1001", ""},
    {"{\"lists\":[[],[\"a\",1]]}", "lists[1][1]", "'item' must be a string, not an integer", ""},
};

/* The path, what was expected, what was found, and the name that was meant. [K25] */
TEST(field_json, refusals_say_where_and_why)
{
    for (size_t i = 0; i < VLS_COUNT(refusals); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        kit_all row;

        test_context("%s", refusals[i].text);
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json v = kit_parse(t, &arena, refusals[i].text);
        int rc = vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_INPUT, &arena,
                                   &t->err);
        CHECK(rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT);
        CHECK_INT(rc, t->err.code);
        CHECK_INT(-1, t->err.offset);
        CHECK_TEXT(refusals[i].path, t->err.path);
        CHECK(t->err.message[0]);
        if (refusals[i].message)
            CHECK_TEXT(refusals[i].message, t->err.message);
        if (refusals[i].hint)
            CHECK_TEXT(refusals[i].hint, t->err.hint);
        CHECK_INT(rc, vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_INPUT,
                                        &arena, NULL));
    }
    test_context_end();
}

/* As many as there is room for; the one that was meant is looked for among all. */
TEST(field_json, a_refusal_with_many_names)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const char *names[41] = {NULL};
    valise_field fields[] = {{.name = "a", .type = VALISE_T_ENUM, .more = names}, {0}};
    int64_t row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < 40; i++)
        names[i] = test_format("name-%zu", i);
    vls_json v = kit_parse(t, &arena, "{\"a\":\"nam-39\"}");
    CHECK_RC(VALISE_E_INVALID,
             vls_fields_decode(&row, fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
    CHECK(vls_str_ends(valise_str_of(t->err.message), VLS_STR(", ..., not \"nam-39\"")));
    CHECK(strstr(t->err.message, "\"name-0\", \"name-1\","));
    CHECK_TEXT("did you mean \"name-39\"?", t->err.hint);
    names[16] = NULL; /* these fill the room just to its end */
    CHECK_RC(VALISE_E_INVALID,
             vls_fields_decode(&row, fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
    CHECK(vls_str_ends(valise_str_of(t->err.message), VLS_STR("\"name-15\", not \"nam-39\"")));
}

TEST(field_json, sizes_and_numbers_have_limits)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"str\":\"a\"}", "'str' must have between 2 and 3 bytes, not 1"},
        {"{\"str\":\"\xc3\xa9\xc3\xa9\"}", "'str' must have between 2 and 3 bytes, not 4"},
        {"{\"str\":\"\xc3\xa9\"}", NULL},
        {"{\"bytes\":\"QUJD\"}", "'bytes' must have between 1 and 2 bytes, not 3"},
        {"{\"bytes\":\"QUI=\"}", NULL},
        {"{\"json\":{\"a\":1}}", "'json' must have between 0 and 5 bytes, not 7"},
        {"{\"json\": [1, 2] }", NULL},
        {"{\"text\":\"abc\"}", "'text' must have between 0 and 2 bytes, not 3"},
        {"{\"list\":[1,2,3]}", "'list' must have between 0 and 2 items, not 3"},
        {"{\"real\":1.5}", "'real' must be between -1 and 1, not 1.5"},
        {"{\"real\":-1}", NULL},
        {"{\"time\":\"1970-01-01T00:00:00.002Z\"}",
         "'time' must be between 1970-01-01T00:00:00.000Z and 1970-01-01T00:00:00.001Z, not "
         "1970-01-01T00:00:00.002Z"},
        {"{\"duration\":\"2s\"}", "'duration' must be between 1ns and 1000ns, not 2000000000ns"},
    };
    typedef struct small {
        valise_str str, bytes, json;
        valise_content text;
        valise_list list;
        double real;
        int64_t time, duration;
    } small;
    static const valise_field item = {.type = VALISE_T_INT};
    static const valise_field fields[] = {
        VALISE_FIELD_WITH(small, str, STR, 0, NULL, .min = 2, .max = 3),
        VALISE_FIELD_WITH(small, bytes, BYTES, 0, NULL, .min = 1, .max = 2),
        VALISE_FIELD_WITH(small, json, JSON, 0, NULL, .max = 5),
        VALISE_FIELD_WITH(small, text, TEXT, 0, NULL, .max = 2),
        VALISE_FIELD_WITH(small, list, LIST, 0, NULL, .max = 2, .more = &item),
        VALISE_FIELD_WITH(small, real, REAL, 0, NULL, .min = -1, .max = 1),
        VALISE_FIELD_WITH(small, time, TIME, 0, NULL, .max = 1000000),
        VALISE_FIELD_WITH(small, duration, DURATION, 0, NULL, .min = 1, .max = 1000),
        VALISE_FIELD_END,
    };

    CHECK_OK(vls_fields_check(fields, sizeof(small), &t->err));
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        small row;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_json v = kit_parse(t, &arena, cases[i].text);
        CHECK_RC(cases[i].message ? VALISE_E_INVALID : 0,
                 vls_fields_decode(&row, fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
        if (cases[i].message)
            CHECK_TEXT(cases[i].message, t->err.message);
    }
}

TEST(field_json, null_means_absent_where_it_may_and_is_a_value_elsewhere)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v = kit_parse(t, &arena,
                           "{\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\",\"names\":[],"
                           "\"nstr\":null,\"nvalue\":null,\"neither\":null,\"value\":null,"
                           "\"json\":null}");
    CHECK_OK(
        vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
    CHECK(!row.n_str.ptr && row.n_value.size == VALISE_NONE && row.n_either.which == VALISE_NONE);
    CHECK_STR(VLS_STR("null"), row.value.bytes);
    CHECK_STR(VLS_STR("null"), row.json);
    CHECK_INT(4, row.value.size);
}

/* Contents are canonical once decoded, and a content known by its id says so. [K4] */
TEST(field_json, contents_inline_and_as_ids)
{
#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ROW "{\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\",\"names\":[],"
    VLS_AUTO(arena) vls_arena arena = {0};
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v = kit_parse(t, &arena,
                           ROW "\"value\":{\"b\":1.0,\"a\":[ ]},\"text\":\"\",\"data\":\"QUI=\"}");
    CHECK_OK(
        vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
    CHECK_STR(VLS_STR("{\"a\":[],\"b\":1}"), row.value.bytes);
    CHECK(row.text.bytes.ptr && row.text.size == 0);
    CHECK_STR(VLS_STR("AB"), row.data.bytes);
    CHECK_INT(2, row.data.size);

    CHECK_RC(VALISE_E_INVALID, vls_fields_decode(&row, kit_all_fields, sizeof(row), v,
                                                 VLS_FIELD_LOGGED, &arena, &t->err));
    CHECK_TEXT("data", t->err.path);
    v = kit_parse(t, &arena, ROW "\"value\":{}}");
    CHECK_RC(VALISE_E_INVALID, vls_fields_decode(&row, kit_all_fields, sizeof(row), v,
                                                 VLS_FIELD_LOGGED, &arena, &t->err));
    CHECK_TEXT("'value' must be an id of 64 digits, not an object", t->err.message);
    v = kit_parse(t, &arena, ROW "\"value\":\"" HASH "\"}");
    CHECK_OK(
        vls_fields_decode(&row, kit_all_fields, sizeof(row), v, VLS_FIELD_LOGGED, &arena, &t->err));
    CHECK(!row.value.bytes.ptr && row.value.size == VALISE_SIZE_UNKNOWN);
    CHECK_INT(0xe3, row.value.id.bytes[0]);

    VLS_AUTO(buf) vls_buf out = {0};
    vls_buf_init(&out, t->env, SIZE_MAX);
    vls_buf_add_text(&out, "before");
    CHECK_RC(VALISE_E_INVALID,
             vls_fields_write(&out, &row, kit_all_fields, VLS_FIELD_INPUT, 0, &t->err));
    CHECK_TEXT("the bytes of 'value' are not available", t->err.message);
    CHECK_TEXT("value", t->err.path);
    memset(&row.value.id, 0, sizeof(row.value.id));
    row.value.bytes = VLS_STR("1");
    CHECK_RC(VALISE_E_INVALID,
             vls_fields_write(&out, &row, kit_all_fields, VLS_FIELD_LOGGED, 0, &t->err));
    CHECK_TEXT("'value' has no id yet", t->err.message);
    CHECK_TEXT("before", vls_buf_cstr(&out));
}

/* ---- secrets ---- */

typedef struct login {
    valise_str user, key;
    int64_t since;
} login;

static const valise_field login_fields[] = {
    VALISE_FIELD(login, user, STR, 0, NULL),
    VALISE_FIELD_WITH(login, key, STR, VALISE_REQUIRED | VALISE_SECRET, NULL, .min = 4, .max = 9),
    VALISE_FIELD(login, since, DURATION, VALISE_SECRET, NULL),
    VALISE_FIELD_END,
};

TEST(field_json, secrets_are_neither_written_nor_quoted)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    login row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_json v = kit_parse(t, &arena, "{\"user\":\"u\",\"key\":\"abcd\",\"since\":\"1s\"}");
    CHECK_OK(
        vls_fields_decode(&row, login_fields, sizeof(row), v, VLS_FIELD_INPUT, &arena, &t->err));
    CHECK_STR(VLS_STR("abcd"), row.key);
    CHECK_TEXT("{\"user\":\"u\"}", kit_write(t, &row, login_fields, VLS_FIELD_LOGGED, 0).ptr);
    v = kit_parse(t, &arena, "{\"user\":\"u\"}"); /* which must read back */
    CHECK_OK(
        vls_fields_decode(&row, login_fields, sizeof(row), v, VLS_FIELD_LOGGED, &arena, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_fields_decode(&row, login_fields, sizeof(row), v,
                                                 VLS_FIELD_INPUT, &arena, &t->err));
    v = kit_parse(t, &arena, "{\"key\":\"abcd\",\"since\":\"hunter2\"}");
    CHECK_RC(VALISE_E_INVALID, vls_fields_decode(&row, login_fields, sizeof(row), v,
                                                 VLS_FIELD_INPUT, &arena, &t->err));
    CHECK_TEXT("'since' is invalid: a duration such as \"90s\"", t->err.message);
    CHECK_TEXT("", t->err.hint);
    CHECK_TEXT("since", t->err.path);
    v = kit_parse(t, &arena, "{\"key\":\"abcd\",\"since\":\"99999999999999999999s\"}");
    CHECK_RC(VALISE_E_LIMIT, vls_fields_decode(&row, login_fields, sizeof(row), v, VLS_FIELD_INPUT,
                                               &arena, &t->err));
    CHECK(!strstr(t->err.message, "9999"));
    row = (login){.key = VLS_STR("abcd"), .since = -77};
    CHECK_RC(VALISE_E_INVALID, vls_fields_validate(&row, login_fields, &arena, &t->err));
    CHECK_TEXT("'since' is invalid: a duration such as \"90s\"", t->err.message);
}

/* ---- writing ---- */

TEST(field_json, zero_is_left_out_unless_it_is_required_or_asked_for)
{
    kit_session row;

    vls_fields_clear(&row, kit_session_fields, sizeof(row));
    CHECK_TEXT("{\"id\":\"00000000-0000-0000-0000-000000000000\"}",
               kit_write(t, &row, kit_session_fields, VLS_FIELD_LOGGED, 0).ptr);
    memset(&row.id, 0x11, sizeof(row.id));
    row.title = VLS_STR("");
    CHECK_TEXT("{\"actor\":\"\",\"createdAt\":\"1970-01-01T00:00:00.000Z\","
               "\"id\":\"11111111-1111-1111-1111-111111111111\",\"state\":\"open\",\"title\":\"\","
               "\"turnCount\":0,\"updatedAt\":\"1970-01-01T00:00:00.000Z\"}",
               kit_write(t, &row, kit_session_fields, VLS_FIELD_LOGGED, VLS_FIELD_ALL).ptr);
    static const valise_field none[] = {VALISE_FIELD_END};
    CHECK_TEXT("{}", kit_write(t, &row, none, VLS_FIELD_LOGGED, 0).ptr);
}

/* Names that begin with the same eight bytes, names that are the beginning of others, tags. */
TEST(field_json, members_are_in_order)
{
    typedef struct row {
        int64_t m[9];
    } row;
    static const char *const names[] = {
        "sessionIdentity", "session", "sessionI",   "sessionIdentify", "sessionId",
        "sessionA",        "s",       "sessionId2", "aSession"};
    valise_field fields[10] = {{0}};
    test_rng rng = test_rng_new(test_seed());

    for (unsigned round = 0; round < 30; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf again = {0};
        row r;
        vls_json v;

        for (size_t i = 0; i < 9; i++) {
            size_t j = test_random_below(&rng, i + 1);
            fields[i] = fields[j];
            fields[j] = (valise_field){.name = names[i], .type = VALISE_T_INT};
        }
        for (size_t i = 0; i < 9; i++) {
            fields[i].offset = (uint32_t)(8 * i);
            r.m[i] = (int64_t)i + 1;
        }
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&again, t->env, SIZE_MAX);
        valise_str text = kit_write(t, &r, fields, VLS_FIELD_INPUT, 0);
        CHECK_OK(vls_json_parse(&v, &arena, text, NULL, &t->err));
        CHECK_OK(vls_json_write(&again, v, &t->err));
        CHECK_STR(vls_buf_str(&again), text);
    }
}

static void refuse_to_write(test *t, const kit_all *row, const char *path, const char *message)
{
    VLS_AUTO(buf) vls_buf out = {0};

    vls_buf_init(&out, t->env, SIZE_MAX);
    CHECK_RC(VALISE_E_INVALID,
             vls_fields_write(&out, row, kit_all_fields, VLS_FIELD_INPUT, 0, &t->err));
    CHECK_TEXT(path, t->err.path);
    CHECK_TEXT(message, t->err.message);
    CHECK_INT(0, out.len);
}

/* What a typed caller can get wrong is refused by both writing and validating. */
static void refuse_both(test *t, const kit_all *row, const char *path, const char *message)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    refuse_to_write(t, row, path, message);
    CHECK_RC(VALISE_E_INVALID, vls_fields_validate(row, kit_all_fields, &arena, &t->err));
    CHECK_TEXT(path, t->err.path);
    CHECK_INT(0, arena.used);
}

static kit_all good_row(void)
{
    kit_all row;

    vls_fields_clear(&row, kit_all_fields, sizeof(row));
    row.id.bytes[0] = 1;
    row.names.items = "";
    return row;
}

TEST(field_json, structs_that_have_no_text)
{
    static const kit_block *const no_block[] = {NULL};
    kit_all row = good_row();

    row.real = 1.0 / 0.0;
    refuse_both(t, &row, "real", "'real' is not a number that JSON can hold");
    row = good_row();
    row.duration = -1;
    refuse_both(t, &row, "duration", "'duration' is a negative duration");
    row = good_row();
    row.n_kind = 4;
    refuse_both(t, &row, "nkind", "'nkind' has no name with the number 4");
    row.n_kind = -1;
    refuse_both(t, &row, "nkind", "'nkind' has no name with the number -1");
    row = good_row();
    row.n_either.which = 2;
    refuse_both(t, &row, "neither", "'neither' has no case with the number 2");
    row.n_either.which = -1;
    refuse_both(t, &row, "neither", "'neither' has no case with the number -1");
    row.n_either.which = 1;
    refuse_both(t, &row, "neither", "'neither' is missing");
    row = good_row();
    row.blocks = (valise_list){no_block, 1};
    refuse_both(t, &row, "blocks[0]", "'item' is missing");
    kit_block block = {.open = {.which = VALISE_NONE}};
    const kit_block *blocks[] = {&block};
    row.blocks = (valise_list){blocks, 1};
    refuse_both(t, &row, "blocks[0].what", "'what' is missing");
}

/* ---- typed callers ---- */

static void refuse_row(test *t, const kit_all *row, const char *path, const char *message)
{
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_RC(VALISE_E_INVALID, vls_fields_validate(row, kit_all_fields, &arena, &t->err));
    CHECK_TEXT(path, t->err.path);
    if (message)
        CHECK_TEXT(message, t->err.message);
    CHECK_INT(0, arena.used);
}

TEST(field_validate, takes_what_decoding_makes)
{
    test_rng rng = test_rng_new(test_seed());

    for (unsigned round = 0; round < 200; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        kit_all row;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        kit_random(&rng, &row, kit_all_fields, sizeof(row), round % 2);
        CHECK_OK(vls_fields_validate(&row, kit_all_fields, &arena, &t->err));
        CHECK_INT(0, arena.used);
    }
}

TEST(field_validate, refuses_what_decoding_would_never_make)
{
    kit_all row = good_row();
    static const char long_text[] = "0123456789012345678901234567890123456789012345678901234567890"
                                    "123456789012345678901234567890123456789";

    memset(&row.id, 0, sizeof(row.id));
    refuse_row(t, &row, "id", "'id' is missing");
    row = good_row();
    row.names.items = NULL;
    refuse_row(t, &row, "names", "'names' is missing");
    row = good_row();
    row.seq = -5;
    refuse_row(t, &row, "seq", "'seq' must be between 0 and 1048576, not -5");
    row = good_row();
    row.integer = VALISE_NONE;
    refuse_row(t, &row, "integer", "'integer' must not be VALISE_NONE");
    row = good_row();
    row.str = VLS_STR("a\xff");
    refuse_row(t, &row, "str", "'str' is not UTF-8");
    row.str = (valise_str){NULL, 3};
    refuse_row(t, &row, "str", "'str' is not UTF-8");
    row = good_row();
    row.bytes = (valise_str){NULL, 3};
    refuse_row(t, &row, "bytes", "'bytes' has a length, but no bytes");
    row = good_row();
    row.n_json = VLS_STR("{\"b\":1, \"a\":2}");
    refuse_row(t, &row, "njson", "'njson' is not canonical JSON");
    row.n_json = VLS_STR("{");
    refuse_row(t, &row, "njson", NULL);
    row.n_json = VLS_STR("null");
    refuse_row(t, &row, "njson",
               "'njson' is null, which means that nothing is given: leave it out");
    row = good_row();
    row.text.bytes = VLS_STR("\xc0\x80");
    refuse_row(t, &row, "text", "'text' is not UTF-8");
    row = good_row();
    row.value.bytes = VLS_STR("[1, 2");
    refuse_row(t, &row, "value", NULL);
    row = good_row();
    row.blocks = (valise_list){NULL, 1};
    refuse_row(t, &row, "blocks", "'blocks' has a count, but no items");
    row = good_row();
    const valise_str names[] = {VLS_STR("a"), {long_text, 101}};
    row.names = (valise_list){names, 2};
    refuse_row(t, &row, "names[1]", NULL);
}

TEST(field_validate, unknown_cases_are_objects_with_an_unknown_tag)
{
    const struct {
        valise_str json;
        bool ok;
    } cases[] = {
        {VLS_STR("{\"kind\":\"new\"}"), true},
        {VLS_STR("{\"kind\":\"text\"}"), false},
        {VLS_STR("{\"kind\":1}"), false},
        {VLS_STR("{}"), false},
        {VLS_STR("[]"), false},
        {VLS_STR("{ }"), false},
        {{NULL, 0}, false},
    };
    const kit_text text = {.text = VLS_STR("")};

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        kit_block block = {.what = {.value = &text}, .open = {.which = -1, .json = cases[i].json}};
        const kit_block *blocks[] = {&block};
        kit_all row = good_row();

        row.blocks = (valise_list){blocks, 1};
        vls_arena_init(&arena, t->env, SIZE_MAX);
        CHECK_RC(cases[i].ok ? 0 : VALISE_E_INVALID,
                 vls_fields_validate(&row, kit_all_fields, &arena, &t->err));
        if (!cases[i].ok)
            CHECK_TEXT("blocks[0].open", t->err.path);
    }
}

/* ---- limits ---- */

/* A table that contains itself passes no check, but must not be able to use up the stack. */
TEST(field_json, depth_has_a_limit)
{
    typedef struct node {
        const struct node *next;
    } node;
    valise_field fields[2] = {{0}};
    valise_struct type = {sizeof(node), fields};
    node nodes[20];

    fields[0] = (valise_field){.name = "next", .type = VALISE_T_STRUCT, .more = &type};
    for (unsigned depth = 1; depth < 20; depth++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf text = {0};
        int expected = depth <= VLS_FIELDS_MAX_DEPTH + 1 ? 0 : VALISE_E_LIMIT;
        node out;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&text, t->env, SIZE_MAX);
        for (unsigned i = 0; i < depth; i++) {
            nodes[i].next = i + 1 < depth ? &nodes[i + 1] : NULL;
            vls_buf_add_text(&text, i + 1 < depth ? "{\"next\":" : "{");
        }
        for (unsigned i = 0; i < depth; i++)
            vls_buf_add_byte(&text, '}');
        CHECK_RC(expected, vls_fields_decode(&out, fields, sizeof(out),
                                             kit_parse(t, &arena, vls_buf_cstr(&text)),
                                             VLS_FIELD_INPUT, &arena, &t->err));
        vls_buf_clear(&text);
        CHECK_RC(expected, vls_fields_write(&text, &nodes[0], fields, VLS_FIELD_INPUT, 0, &t->err));
        CHECK_RC(expected, vls_fields_validate(&nodes[0], fields, &arena, &t->err));
    }
}

TEST(field_json, buffers_and_arenas_have_limits)
{
    VLS_AUTO(arena) vls_arena arena = {0}, small = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    kit_all row = good_row();

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_arena_init(&small, t->env, 60);
    vls_buf_init(&out, t->env, 20);
    CHECK_RC(VALISE_E_TOO_LARGE,
             vls_fields_write(&out, &row, kit_all_fields, VLS_FIELD_INPUT, 0, &t->err));
    CHECK_INT(0, out.len);
    vls_json v = kit_parse(t, &arena,
                           "{\"id\":\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\","
                           "\"names\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]}");
    CHECK_RC(VALISE_E_TOO_LARGE, vls_fields_decode(&row, kit_all_fields, sizeof(row), v,
                                                   VLS_FIELD_INPUT, &small, &t->err));
}

/* ---- without memory ---- */

static int there_and_back(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    kit_all back;
    vls_json v;
    int rc;

    vls_arena_init(&arena, f->env, SIZE_MAX);
    vls_buf_init(&text, f->env, SIZE_MAX);
    rc = vls_fields_validate(arg, kit_all_fields, &arena, &f->err);
    if (rc == 0)
        rc = vls_fields_write(&text, arg, kit_all_fields, VLS_FIELD_INPUT, 0, &f->err);
    if (rc == 0)
        rc = vls_json_parse(&v, &arena, vls_buf_str(&text), NULL, &f->err);
    if (rc == 0)
        rc = vls_fields_decode(&back, kit_all_fields, sizeof(back), v, VLS_FIELD_INPUT, &arena,
                               &f->err);
    if (rc == 0)
        CHECK(kit_equal(kit_all_fields, arg, &back, VLS_FIELD_INPUT));
    return rc;
}

TEST(field_json, without_memory)
{
    test_rng rng = test_rng_new(7);
    kit_all row;

    kit_random(&rng, &row, kit_all_fields, sizeof(row), VLS_FIELD_INPUT);
    fault_each_alloc(t, 0, there_and_back, &row);
    fault_each_alloc(t, FAULT_ONWARD, there_and_back, &row);
}
