/* row.c -- rows as cells and as bytes, keys as bytes. */
#include "harness/fault.h"
#include "kit.h"

#define CELLS VALISE_MAX_COLUMNS

TEST(field_row, cells_read_back_as_the_row)
{
    test_rng rng = test_rng_new(test_seed());

    for (unsigned round = 0; round < 600; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf bytes = {0};
        size_t count = vls_fields_count(kit_all_fields), read;
        valise_cell cells[CELLS], again[CELLS], *copy;
        kit_all a, b;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&bytes, t->env, SIZE_MAX);
        kit_random(&rng, &a, kit_all_fields, sizeof(a), VLS_FIELD_LOGGED);
        CHECK_OK(vls_row_to_cells(cells, &a, kit_all_fields, &arena, &t->err));
        CHECK_OK(vls_cells_copy(&copy, cells, count, &arena, &t->err));
        CHECK(vls_cells_equal(copy, cells, count));
        vls_cells_write(&bytes, copy, count);
        CHECK_OK(vls_buf_check(&bytes, &t->err));
        CHECK_OK(vls_cells_read(again, &read, CELLS, vls_buf_str(&bytes), &t->err));
        CHECK_INT(count, read);
        CHECK(vls_cells_equal(again, cells, count));
        CHECK_OK(vls_row_from_cells(&b, kit_all_fields, sizeof(b), again, read, &arena, &t->err));
        CHECK(kit_equal(kit_all_fields, &a, &b, VLS_FIELD_LOGGED));
    }
}

/* ---- cells of each type ---- */

TEST(field_row, the_cell_of_each_type)
{
    static const uint8_t types[] = {
        [VALISE_T_BOOL] = VALISE_CELL_INT,     [VALISE_T_INT] = VALISE_CELL_INT,
        [VALISE_T_REAL] = VALISE_CELL_REAL,    [VALISE_T_STR] = VALISE_CELL_TEXT,
        [VALISE_T_BYTES] = VALISE_CELL_BLOB,   [VALISE_T_TIME] = VALISE_CELL_INT,
        [VALISE_T_DURATION] = VALISE_CELL_INT, [VALISE_T_UUID] = VALISE_CELL_BLOB,
        [VALISE_T_ID] = VALISE_CELL_BLOB,      [VALISE_T_ENUM] = VALISE_CELL_TEXT,
        [VALISE_T_JSON] = VALISE_CELL_TEXT,    [VALISE_T_VALUE] = VALISE_CELL_BLOB,
        [VALISE_T_TEXT] = VALISE_CELL_BLOB,    [VALISE_T_DATA] = VALISE_CELL_BLOB,
        [VALISE_T_LIST] = VALISE_CELL_TEXT,    [VALISE_T_STRUCT] = VALISE_CELL_TEXT,
        [VALISE_T_UNION] = VALISE_CELL_TEXT,   [VALISE_T_PATH] = VALISE_CELL_BLOB,
    };
    test_rng rng = test_rng_new(test_seed());

    for (unsigned round = 0; round < 50; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        valise_cell cells[CELLS];
        kit_all row;

        vls_arena_init(&arena, t->env, SIZE_MAX);
        kit_random(&rng, &row, kit_all_fields, sizeof(row), VLS_FIELD_LOGGED);
        CHECK_OK(vls_row_to_cells(cells, &row, kit_all_fields, &arena, &t->err));
        for (size_t i = 0; kit_all_fields[i].type != VALISE_T_END; i++) {
            const valise_field *f = &kit_all_fields[i];
            CHECK_INT(types[f->type], vls_field_cell_type(f));
            CHECK(cells[i].type == types[f->type] || cells[i].type == VALISE_CELL_NULL);
            CHECK(cells[i].type != VALISE_CELL_NULL || vls_field_is_none(f, &row));
        }
    }
}

TEST(field_row, of_a_session)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cells[CELLS];
    kit_session row, back;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_fields_clear(&row, kit_session_fields, sizeof(row));
    row.state = 1;
    row.turn_count = -5;
    CHECK_OK(vls_row_to_cells(cells, &row, kit_session_fields, &arena, &t->err));
    CHECK(cells[0].type == VALISE_CELL_BLOB && cells[0].as.bytes.len == 16); /* zero, but there */
    CHECK(cells[1].type == VALISE_CELL_NULL);
    CHECK_STR(VLS_STR("closed"), cells[2].as.bytes);
    CHECK(cells[3].type == VALISE_CELL_TEXT && cells[3].as.bytes.ptr && !cells[3].as.bytes.len);
    CHECK(cells[4].type == VALISE_CELL_INT && cells[4].as.integer == -5);
    CHECK(cells[5].type == VALISE_CELL_NULL);
    CHECK_INT(0, arena.used); /* nothing was copied */
    CHECK_OK(
        vls_row_from_cells(&back, kit_session_fields, sizeof(back), cells, 8, &arena, &t->err));
    CHECK(kit_equal(kit_session_fields, &row, &back, VLS_FIELD_LOGGED));

    /* A row of an older table, and one whose newer columns are NULL. */
    cells[4] = (valise_cell){.type = VALISE_CELL_NULL};
    CHECK_OK(
        vls_row_from_cells(&back, kit_session_fields, sizeof(back), cells, 6, &arena, &t->err));
    CHECK(back.state == 1 && back.turn_count == 0 && back.created_at == 0 && !back.title.ptr);
    CHECK_RC(VALISE_E_CORRUPT, vls_row_from_cells(&back, kit_session_fields, sizeof(back), cells, 0,
                                                  &arena, &t->err));
    CHECK_TEXT("the cell of 'id' is missing, and it is part of the key", t->err.message);
    CHECK_RC(VALISE_E_CORRUPT, vls_row_from_cells(&back, kit_session_fields, sizeof(back), cells, 9,
                                                  &arena, &t->err));
}

/* A table may become stricter: rows that were written before are still read. */
TEST(field_row, limits_are_not_for_what_is_stored)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cells[CELLS] = {{.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("0123456789abcdef")},
                                {.type = VALISE_CELL_INT, .as.integer = -9}};
    const valise_field *part = vls_fields_find(kit_all_fields, VLS_STR("part"));
    kit_all row;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    cells[part - kit_all_fields] =
        (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("{\"marks\":[1001,-5000]}")};
    CHECK_OK(vls_row_from_cells(&row, kit_all_fields, sizeof(row), cells,
                                vls_fields_count(kit_all_fields), &arena, &t->err));
    CHECK_INT(-9, row.seq);
    CHECK_INT(2, row.part->marks.count);
    CHECK_INT(0, row.part->text.len);
}

TEST(field_row, secrets_are_in_no_row)
{
    typedef struct row {
        valise_str key;
    } row;
    static const valise_field fields[] = {VALISE_FIELD(row, key, STR, VALISE_SECRET, NULL),
                                          VALISE_FIELD_END};
    row r = {VLS_STR("hunter2")};
    valise_cell cell;

    CHECK_OK(vls_row_to_cells(&cell, &r, fields, NULL, &t->err));
    CHECK_INT(VALISE_CELL_NULL, cell.type);
}

TEST(field_row, structs_that_have_no_cells)
{
    static const struct {
        const char *path;
        size_t offset;
        int64_t value;
    } cases[] = {{"nkind", offsetof(kit_all, n_kind), 4},
                 {"kind", offsetof(kit_all, kind), -1},
                 {"either", offsetof(kit_all, either), 5}};
    kit_all row;
    valise_cell cells[CELLS];
    VLS_AUTO(arena) vls_arena arena = {0};

    vls_arena_init(&arena, t->env, SIZE_MAX);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        vls_fields_clear(&row, kit_all_fields, sizeof(row));
        memcpy((char *)&row + cases[i].offset, &cases[i].value, sizeof(int64_t));
        CHECK_RC(VALISE_E_INVALID, vls_row_to_cells(cells, &row, kit_all_fields, &arena, &t->err));
        CHECK_TEXT(cases[i].path, t->err.path);
    }
    vls_fields_clear(&row, kit_all_fields, sizeof(row));
    row.real = -1.0 / 0.0;
    CHECK_RC(VALISE_E_INVALID, vls_row_to_cells(cells, &row, kit_all_fields, &arena, &t->err));
    CHECK_TEXT("'real' is not a number that a row can hold", t->err.message);
    row.real = 0;
    row.text.bytes = VLS_STR("not lifted yet");
    CHECK_RC(VALISE_E_INVALID, vls_row_to_cells(cells, &row, kit_all_fields, &arena, &t->err));
    CHECK_TEXT("'text' has no id yet", t->err.message);
}

/* ---- damage ---- */

#define INT_CELL(n)                                                                                \
    {                                                                                              \
        .type = VALISE_CELL_INT, .as.integer = (n)                                                 \
    }
#define TEXT_CELL(s)                                                                               \
    {                                                                                              \
        .type = VALISE_CELL_TEXT, .as.bytes = { "" s, sizeof(s) - 1 }                              \
    }
#define BLOB_CELL(s)                                                                               \
    {                                                                                              \
        .type = VALISE_CELL_BLOB, .as.bytes = { "" s, sizeof(s) - 1 }                              \
    }
#define REAL_CELL(x)                                                                               \
    {                                                                                              \
        .type = VALISE_CELL_REAL, .as.real = (x)                                                   \
    }

TEST(field_row, cells_that_do_not_fit)
{
    static const struct {
        const char *field, *path;
        valise_cell cell;
    } cases[] = {
        {"id", "id", BLOB_CELL("short")},
        {"id", "id", {.type = VALISE_CELL_NULL}},
        {"id", "id", TEXT_CELL("0123456789abcdef")},
        {"flag", "flag", INT_CELL(2)},
        {"ninteger", "ninteger", INT_CELL(VALISE_NONE)},
        {"integer", "integer", REAL_CELL(1)},
        {"real", "real", INT_CELL(1)},
        {"real", "real", REAL_CELL(1.0 / 0.0)},
        {"str", "str", TEXT_CELL("\xff")},
        {"str", "str", BLOB_CELL("a")},
        {"hash", "hash", BLOB_CELL("0123456789abcdef")},
        {"kind", "kind", TEXT_CELL("nobody")},
        {"kind", "kind", TEXT_CELL("")},
        {"json", "json", TEXT_CELL("{")},
        {"json", "json", TEXT_CELL("")},
        {"value", "value", BLOB_CELL("")},
        {"names", "names", TEXT_CELL("{}")},
        {"names", "names[1]", TEXT_CELL("[\"a\",2]")},
        {"names", "names", TEXT_CELL("[")},
        {"part", "part.text", TEXT_CELL("{\"text\":1}")},
        {"blocks", "blocks[0].what", TEXT_CELL("[{}]")},
        {"either", "either.type", TEXT_CELL("{\"type\":\"other\"}")},
        {"blocks", "blocks[0].what.result",
         TEXT_CELL("[{\"what\":{\"type\":\"tool_call\",\"result\":\"inline\"}}]")},
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        valise_cell cells[CELLS] = {BLOB_CELL("0123456789abcdef"), INT_CELL(1)};
        const valise_field *field = vls_fields_find(kit_all_fields, valise_str_of(cases[i].field));
        kit_all row;

        test_context("case %zu, %s", i, cases[i].field);
        vls_arena_init(&arena, t->env, SIZE_MAX);
        size_t count = vls_fields_count(kit_all_fields);
        CHECK_OK(
            vls_row_from_cells(&row, kit_all_fields, sizeof(row), cells, count, &arena, &t->err));
        cells[field - kit_all_fields] = cases[i].cell;
        CHECK_RC(VALISE_E_CORRUPT, vls_row_from_cells(&row, kit_all_fields, sizeof(row), cells,
                                                      count, &arena, &t->err));
        CHECK_TEXT(cases[i].path, t->err.path);
        CHECK(t->err.message[0]);
        CHECK_RC(VALISE_E_CORRUPT,
                 vls_row_from_cells(&row, kit_all_fields, sizeof(row), cells, count, &arena, NULL));
    }
}

TEST(field_cells, malformed_bytes)
{
    const struct {
        valise_str bytes;
        int64_t offset;
    } cases[] = {
        {VLS_STR("\x05"), 0},         /* no such type */
        {VLS_STR("\x00\x01"), 1},     /* no number */
        {VLS_STR("\x01\x80\x00"), 0}, /* longer than it needs to be */
        {VLS_STR("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), 0}, /* over 64 bits */
        {VLS_STR("\x02\x00\x00\x00\x00\x00\x00\x00"), 0},             /* cut */
        {VLS_STR("\x02\x80\x00\x00\x00\x00\x00\x00\x00"), 0},         /* -0 */
        {VLS_STR("\x02\x7f\xf8\x00\x00\x00\x00\x00\x00"), 0},         /* NaN */
        {VLS_STR("\x03\x02\x61"), 0},                                 /* cut */
        {VLS_STR("\x03\x01\xff"), 0},                                 /* no UTF-8 */
        {VLS_STR("\x00\x00\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 2},
        {VLS_STR("\x00\x00\x00\x00"), 3}, /* more than asked for */
    };

    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        valise_cell cells[3];
        size_t count = 99;

        test_context("case %zu", i);
        CHECK_RC(VALISE_E_CORRUPT, vls_cells_read(cells, &count, 3, cases[i].bytes, &t->err));
        CHECK_INT(cases[i].offset, t->err.offset);
        CHECK_INT(99, count);
    }
    size_t count = 99;
    CHECK_OK(vls_cells_read(NULL, &count, 0, (valise_str){NULL, 0}, &t->err));
    CHECK_INT(0, count);
}

/* ---- order ---- */

static valise_cell random_cell(test_rng *rng, uint8_t type)
{
    static const int64_t ints[] = {0, 1, -1, 127, 128, 255, 256, INT64_MAX, INT64_MIN, -256};
    static const double reals[] = {0, -0.0, 1, -1, 0.5, -1e300, 1e300, 5e-324};
    static const char bytes[] = {0, 1, 'a', (char)0xff};
    size_t len = test_random_below(rng, 4);
    char *text = test_alloc(8);

    if (type == VALISE_CELL_INT)
        return (valise_cell)INT_CELL(ints[test_random_below(rng, VLS_COUNT(ints))]);
    if (type == VALISE_CELL_REAL)
        return (valise_cell)REAL_CELL(reals[test_random_below(rng, VLS_COUNT(reals))]);
    for (size_t i = 0; i < len; i++)
        text[i] = bytes[test_random_below(rng, type == VALISE_CELL_TEXT ? 3 : 4)];
    return (valise_cell){.type = type, .as.bytes = vls_str(text, len)};
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

TEST(field_cells, keys_have_the_order_of_their_cells)
{
    test_rng rng = test_rng_new(test_seed());
    unsigned equal = 0;

    for (unsigned round = 0; round < 4000; round++) {
        VLS_AUTO(arena) vls_arena arena = {0};
        VLS_AUTO(buf) vls_buf a_key = {0}, b_key = {0};
        valise_cell a[3], b[3], back[3];

        for (size_t i = 0; i < 3; i++) {
            uint8_t type = (uint8_t)(VALISE_CELL_INT + test_random_below(&rng, 4));
            a[i] = random_cell(&rng, type);
            b[i] = test_random_below(&rng, 2) ? a[i] : random_cell(&rng, type);
            if (test_random_below(&rng, 8) == 0)
                b[i] = (valise_cell){.type = VALISE_CELL_NULL};
        }
        vls_arena_init(&arena, t->env, SIZE_MAX);
        vls_buf_init(&a_key, t->env, SIZE_MAX);
        vls_buf_init(&b_key, t->env, SIZE_MAX);
        vls_key_write(&a_key, a, 3);
        vls_key_write(&b_key, b, 3);
        int order = vls_cells_compare(a, b, 3);
        CHECK_INT(sign(order), sign(vls_str_compare(vls_buf_str(&a_key), vls_buf_str(&b_key))));
        CHECK_INT(sign(order), -sign(vls_cells_compare(b, a, 3)));
        CHECK_INT(order == 0, vls_cells_equal(a, b, 3));
        equal += order == 0;
        CHECK_OK(vls_key_read(back, 3, vls_buf_str(&b_key), &arena, &t->err));
        CHECK(vls_cells_equal(back, b, 3));
        CHECK_RC(VALISE_E_CORRUPT, vls_key_read(back, 2, vls_buf_str(&b_key), &arena, &t->err));
        CHECK_RC(VALISE_E_CORRUPT,
                 vls_key_read(back, 3, vls_str(b_key.ptr, b_key.len - 1), &arena, &t->err));
    }
    CHECK(equal > 50);
}

TEST(field_cells, a_key_with_text_that_is_none)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cell;

    vls_arena_init(&arena, t->env, SIZE_MAX);
    CHECK_RC(VALISE_E_CORRUPT,
             vls_key_read(&cell, 1, VLS_STR("\x04\xff\x00\x00"), &arena, &t->err));
    CHECK_OK(vls_key_read(&cell, 1, VLS_STR("\x05\xfe\x00\x00"), &arena, &t->err));
}

/* ---- limits ---- */

/* A buffer is filled to the last byte, as by every other way to append. */
TEST(field_cells, fill_a_buffer_to_its_maximum)
{
    static const valise_cell cells[] = {INT_CELL(-300),
                                        TEXT_CELL("hello"),
                                        REAL_CELL(-0.0),
                                        BLOB_CELL(""),
                                        {.type = VALISE_CELL_NULL}};
    VLS_AUTO(buf) vls_buf whole = {0};

    vls_buf_init(&whole, t->env, SIZE_MAX);
    vls_cells_write(&whole, cells, VLS_COUNT(cells));
    CHECK_INT(3 + 7 + 9 + 2 + 1, whole.len);
    for (size_t max = 0; max < 80; max++) {
        VLS_AUTO(buf) vls_buf out = {0};
        int64_t sum;

        vls_buf_init(&out, t->env, max);
        vls_cells_write(&out, cells, VLS_COUNT(cells));
        int rc = max < whole.len ? VALISE_E_TOO_LARGE : 0;
        CHECK_RC(rc, vls_buf_check(&out, &t->err));
        if (rc == 0)
            CHECK_STR(vls_buf_str(&whole), vls_buf_str(&out));
        CHECK_RC(rc, vls_cells_sum(&sum, cells, VLS_COUNT(cells), &out, &t->err));
    }
}

/* ---- the vectors of docs/formats.md ---- */

static valise_str unhex(valise_str text)
{
    char *bytes = test_alloc(text.len / 2 + 1);
    size_t len = 0;

    for (size_t i = 0; i + 1 < text.len; i += 3, len++) {
        unsigned value = 0;
        CHECK(sscanf(text.ptr + i, "%2x", &value) == 1);
        bytes[len] = (char)value;
    }
    return vls_str(bytes, len);
}

/* null, int:5, real:0.5, text:abc, blob:00ff */
static valise_cell cell_of(valise_str word)
{
    valise_str kind, rest;
    valise_cell cell = {.type = VALISE_CELL_NULL};
    char number[40];

    if (vls_str_equal(word, VLS_STR("null")))
        return cell;
    CHECK(vls_str_cut(&kind, &rest, word, ':'));
    (void)snprintf(number, sizeof(number), "%.*s", VALISE_STR_ARG(rest));
    if (vls_str_equal(kind, VLS_STR("int"))) {
        cell.type = VALISE_CELL_INT;
        CHECK(vls_str_to_i64(&cell.as.integer, rest));
    } else if (vls_str_equal(kind, VLS_STR("real"))) {
        cell.type = VALISE_CELL_REAL;
        CHECK(sscanf(number, "%lf", &cell.as.real) == 1);
    } else if (vls_str_equal(kind, VLS_STR("text"))) {
        cell.type = VALISE_CELL_TEXT;
        cell.as.bytes = rest;
    } else {
        CHECK(vls_str_equal(kind, VLS_STR("blob")));
        char *spaced = test_alloc(rest.len * 2 + 1);
        size_t len = 0;
        for (size_t i = 0; i + 1 < rest.len; i += 2, len += 3)
            (void)snprintf(spaced + len, 4, "%.2s ", rest.ptr + i);
        cell.type = VALISE_CELL_BLOB;
        cell.as.bytes = unhex(vls_str(spaced, len));
    }
    return cell;
}

static size_t check_vectors(test *t, const char *fence,
                            void (*check)(test *t, valise_cell *cells, size_t count,
                                          valise_str hex))
{
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : ".")), line;
    size_t start = vls_str_find(text, valise_str_of(fence)), vectors = 0;

    CHECK(start < text.len);
    text = vls_str_from(text, start + strlen(fence));
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        valise_str left, hex, word;
        valise_cell cells[8];
        size_t count = 0;

        if (!vls_str_cut(&left, &hex, line, '='))
            continue;
        for (left = vls_str_trim(left); left.len > 0; left = vls_str_trim(left)) {
            (void)vls_str_cut(&word, &left, left, ' ');
            cells[count++] = cell_of(word);
        }
        test_context("%.*s", VALISE_STR_ARG(line));
        check(t, cells, count, vls_str_trim(hex));
        vectors++;
    }
    test_context_end();
    return vectors;
}

static void check_row_vector(test *t, valise_cell *cells, size_t count, valise_str hex)
{
    VLS_AUTO(buf) vls_buf out = {0};
    valise_cell back[8];
    size_t read;

    vls_buf_init(&out, t->env, SIZE_MAX);
    vls_cells_write(&out, cells, count);
    CHECK_STR(unhex(hex), vls_buf_str(&out));
    CHECK_OK(vls_cells_read(back, &read, 8, unhex(hex), &t->err));
    CHECK(read == count && vls_cells_equal(back, cells, count));
}

static void check_key_vector(test *t, valise_cell *cells, size_t count, valise_str hex)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf out = {0};
    valise_cell back[8];

    vls_arena_init(&arena, t->env, SIZE_MAX);
    vls_buf_init(&out, t->env, SIZE_MAX);
    vls_key_write(&out, cells, count);
    CHECK_STR(unhex(hex), vls_buf_str(&out));
    CHECK_OK(vls_key_read(back, count, unhex(hex), &arena, &t->err));
    CHECK(vls_cells_equal(back, cells, count));
}

static void check_sum_vector(test *t, valise_cell *cells, size_t count, valise_str hex)
{
    VLS_AUTO(buf) vls_buf out = {0};
    int64_t sum, expected;

    vls_buf_init(&out, t->env, SIZE_MAX);
    CHECK_OK(vls_cells_sum(&sum, cells, count, &out, &t->err));
    CHECK(vls_str_to_i64(&expected, hex));
    CHECK_INT(expected, sum);
}

TEST(field_cells, agree_with_the_vectors_of_the_documentation)
{
    CHECK(check_vectors(t, "```row-vectors\n", check_row_vector) >= 8);
    CHECK(check_vectors(t, "```row-sum-vectors\n", check_sum_vector) >= 2);
    CHECK(check_vectors(t, "```key-vectors\n", check_key_vector) >= 8);
}

/* ---- without memory ---- */

static int there_and_back(fault *f, void *arg)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf bytes = {0};
    valise_cell cells[CELLS], again[CELLS], key[2], *copy;
    size_t count = vls_fields_count(kit_all_fields), read = 0;
    kit_all back;
    int64_t sum;
    int rc;

    vls_arena_init(&arena, f->env, SIZE_MAX);
    vls_buf_init(&bytes, f->env, SIZE_MAX);
    rc = vls_row_to_cells(cells, arg, kit_all_fields, &arena, &f->err);
    if (rc == 0)
        rc = vls_cells_copy(&copy, cells, count, &arena, &f->err);
    if (rc == 0)
        rc = vls_cells_sum(&sum, copy, count, &bytes, &f->err);
    if (rc == 0)
        rc = vls_cells_read(again, &read, CELLS, vls_buf_str(&bytes), &f->err);
    if (rc == 0)
        rc = vls_row_from_cells(&back, kit_all_fields, sizeof(back), again, read, &arena, &f->err);
    if (rc == 0)
        CHECK(kit_equal(kit_all_fields, arg, &back, VLS_FIELD_LOGGED));
    vls_buf_release(&bytes);
    if (rc == 0) {
        vls_key_write(&bytes, cells, 2);
        rc = vls_buf_check(&bytes, &f->err);
    }
    if (rc == 0)
        rc = vls_key_read(key, 2, vls_buf_str(&bytes), &arena, &f->err);
    return rc;
}

TEST(field_row, without_memory)
{
    test_rng rng = test_rng_new(7);
    kit_all row;

    kit_random(&rng, &row, kit_all_fields, sizeof(row), VLS_FIELD_LOGGED);
    row.id.bytes[3] = 0; /* a key with a zero byte is decoded into the arena */
    fault_each_alloc(t, 0, there_and_back, &row);
    fault_each_alloc(t, FAULT_ONWARD, there_and_back, &row);
}
