/* object_format.c -- objects, recipes and tables as docs/formats.md has them. [K1] */
#include "base/hex.h"
#include "store/kit.h"
#include "store/object.h"
#include "store/objects.h"

/* The vectors were computed by another program. */
typedef void vector_fn(test *t, valise_str left, valise_str right);

static int each_vector(test *t, const char *fence, vector_fn *fn)
{
    const char *root = getenv("VALISE_SOURCE_ROOT");
    valise_str text = test_read_file(test_format("%s/docs/formats.md", root ? root : "."));
    valise_str open = valise_str_of(test_format("```%s\n", fence)), line;
    size_t at = vls_str_find(text, open);
    int count = 0;

    CHECK(at < text.len);
    text = vls_str_from(text, at + open.len);
    while (vls_str_cut(&line, &text, text, '\n') && !vls_str_starts(line, VLS_STR("```"))) {
        valise_str left, right;
        vls_str_cut(&left, &right, line, '=');
        fn(t, vls_str_trim(left), vls_str_trim(right));
        count++;
    }
    return count;
}

static valise_str first_word(valise_str *rest, valise_str s)
{
    valise_str word;

    vls_str_cut(&word, rest, s, ' ');
    *rest = vls_str_trim(*rest);
    return word;
}

static const char *cstr(valise_str s)
{
    return test_format("%.*s", VALISE_STR_ARG(s));
}

static void check_object(test *t, valise_str left, valise_str right)
{
    valise_str bytes;
    const char *kind = cstr(first_word(&bytes, left));
    valise_id id;

    CHECK(vls_str_starts(bytes, VLS_STR("text:")));
    CHECK_OK(vls_object_id(&id, kind, vls_str_from(bytes, 5), &t->err));
    CHECK_STR(right, valise_str_of(vls_id_hex(&id).s));
}

TEST(object_format, ids)
{
    CHECK_INT(7, each_vector(t, "object-vectors", check_object));
}

/* An object under such an id has that number in its row. */
static void check_h8(test *t, valise_str left, valise_str right)
{
    vls_store_options options = {
        .env = t->env, .ops = valise_store_memory(), .where = "", .flags = VALISE_STORE_CREATE};
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cell key = {.type = VALISE_CELL_INT, .as.integer = 1}, row[VALISE_MAX_COLUMNS];
    vls_store *store = NULL;
    int64_t expected;
    valise_id id;
    bool existed;

    CHECK(vls_str_to_i64(&expected, right));
    CHECK_OK(vls_id_parse(&id,
                          valise_str_of(test_format("%s%s", cstr(left),
                                                    "000000000000000000000000"
                                                    "000000000000000000000000")),
                          &t->err));
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_object_put(&txn, &id, "value", VLS_STR("x"), 1, &existed, &t->err));
    CHECK_RC(1, vls_txn_get(row, &txn, vls_store_coll_at(store, VLS_TABLE_OBJECT), &key, &t->err));
    CHECK_INT(expected, row[VLS_OBJECT_H8].as.integer);
    vls_txn_rollback(&txn);
    vls_store_close(store);
}

TEST(object_format, h8)
{
    CHECK_INT(5, each_vector(t, "h8-vectors", check_h8));
}

static void check_recipe(test *t, valise_str left, valise_str right)
{
    VLS_AUTO(buf) vls_buf out = {0}, hex = {0};
    valise_str list, item;
    int64_t depth, number, to;
    vls_recipe_writer writer;

    vls_buf_init(&out, t->env, 1000);
    vls_buf_init(&hex, t->env, 1000);
    CHECK(vls_str_to_i64(&depth, first_word(&list, left)));
    vls_recipe_begin(&writer, &out, (uint8_t)depth);
    while (list.len) {
        valise_str range;
        vls_str_cut(&range, &list, list, ',');
        bool many = vls_str_cut(&item, &range, range, '-');
        CHECK(vls_str_to_i64(&number, item));
        CHECK(!many || vls_str_to_i64(&to, range));
        for (int64_t n = number; n <= (many ? to : number); n++)
            vls_recipe_add(&writer, n);
    }
    vls_recipe_end(&writer);
    for (size_t i = 0; i < out.len; i++)
        vls_buf_printf(&hex, "%s%02x", i ? " " : "", (unsigned char)out.ptr[i]);
    CHECK_STR(right, vls_buf_str(&hex));
}

TEST(object_format, recipes)
{
    CHECK_INT(7, each_vector(t, "recipe-vectors", check_recipe));
}

static uint32_t next_table;

static void check_table(test *t, valise_str left, valise_str right)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf names = {0};
    valise_str columns, name = first_word(&columns, left);
    vls_coll coll;

    CHECK_INT(0, right.len);
    CHECK(next_table < VLS_TABLE_OWN_COUNT);
    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&names, t->env, 1000);
    CHECK_OK(vls_coll_build(&coll, vls_own_colls[next_table++], true, &arena, &t->err));
    CHECK_STR(name, valise_str_of(coll.table.name));
    for (uint16_t i = 0; i < coll.table.column_count; i++)
        vls_buf_printf(&names, "%s%s", i ? " " : "", coll.table.columns[i].name);
    CHECK_STR(columns, vls_buf_str(&names));
}

TEST(object_format, tables)
{
    next_table = 0;
    CHECK_INT(VLS_TABLE_OWN_COUNT, each_vector(t, "store-tables", check_table));
    CHECK_INT(1, VLS_FORMAT);
}
