/* coll.c -- collections: their tables, their descriptions, and how they may change. [K13 K17] */
#include "store/coll.h"

#include "base/hex.h"
#include "harness/fault.h"
#include "harness/process.h"
#include "store/kit.h"
#include "store/own.h"

TEST_PARAMS(coll_store, KIT_BACKENDS)

/* ---- a collection, and what a later version makes of it ---- */

typedef struct note {
    valise_uuid id;
    valise_str title_text;
    int64_t kind;
    valise_id body;
    valise_str more; /* of version 2, as the next */
    int64_t rank;
} note;

static const char *const kinds[] = {"plain", "rich", NULL};
static const char *const kinds_2[] = {"plain", "rich", "wild", NULL};

#define NOTE_1                                                                                     \
    VALISE_FIELD(note, id, UUID, VALISE_KEY, "Id."),                                               \
        VALISE_FIELD_AS(note, title_text, "titleText", STR, VALISE_NULLABLE | VALISE_CONTENT,      \
                        "Title.")
#define KIND VALISE_FIELD_WITH(note, kind, ENUM, 0, "Kind.", .more = kinds)
#define BODY VALISE_FIELD_WITH(note, body, ID, VALISE_NULLABLE, "Body.", .ref = "object")

static const valise_field fields_1[] = {NOTE_1, KIND, BODY, VALISE_FIELD_END};
static const valise_field fields_2[] = {NOTE_1,
                                        KIND,
                                        BODY,
                                        VALISE_FIELD(note, more, STR, VALISE_NULLABLE, "More."),
                                        VALISE_FIELD(note, rank, INT, VALISE_NULLABLE, "Rank."),
                                        VALISE_FIELD_END};
static const char *const by_title[] = {"titleText", NULL};
static const char *const by_rank[] = {"rank", "kind", NULL};
static const valise_coll_index indexes_1[] = {{"title", by_title}, {NULL, NULL}};
static const valise_coll_index indexes_2[] = {{"title", by_title}, {"rank", by_rank}, {NULL, NULL}};

#define COLL(field_list, index_list)                                                               \
    {                                                                                              \
        .size = sizeof(valise_coll), .name = "ext.note", .help = "A note.",                        \
        .fields = (field_list), .row_size = sizeof(note), .indexes = (index_list)                  \
    }

static const valise_coll notes_1 = COLL(fields_1, indexes_1);
static const valise_coll notes_2 = COLL(fields_2, indexes_2);

/* ---- tables ---- */

TEST(coll, columns_and_indexes_of_the_table)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_coll coll;

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(vls_coll_build(&coll, &notes_1, false, &arena, &t->err));
    CHECK_TEXT("ext_note", coll.table.name);
    CHECK_INT(6, coll.table.column_count);
    CHECK_INT(4, coll.field_count);
    CHECK_INT(1, coll.key_count);
    CHECK_INT(0, coll.table.flags);
    CHECK_TEXT("id", coll.table.columns[0].name);
    CHECK(coll.table.columns[0].type == VALISE_CELL_BLOB && !coll.table.columns[0].nullable);
    CHECK_TEXT("title_text", coll.table.columns[1].name);
    CHECK(coll.table.columns[1].type == VALISE_CELL_TEXT && coll.table.columns[1].nullable);
    CHECK_TEXT("from_seq", coll.table.columns[4].name);
    CHECK_TEXT("sum", coll.table.columns[5].name);
    CHECK(!coll.table.columns[4].nullable && !coll.table.columns[5].nullable);
    CHECK_INT(4, vls_coll_seq_column(&coll));
    CHECK_INT(5, vls_coll_sum_column(&coll));
    CHECK_INT(1, coll.table.index_count);
    CHECK_INT(1, coll.table.indexes[0].columns[0]);
    CHECK_INT(-1, vls_coll_index(&coll, NULL));
    CHECK_INT(0, vls_coll_index(&coll, "title"));
    CHECK_INT(-2, vls_coll_index(&coll, "titel"));

    /* Fields that came later stand behind. */
    CHECK_OK(vls_coll_build_grown(&coll, &notes_2, 4, &arena, &t->err));
    CHECK_INT(8, coll.table.column_count);
    CHECK_TEXT("from_seq", coll.table.columns[4].name);
    CHECK_TEXT("more", coll.table.columns[6].name);
    CHECK_TEXT("rank", coll.table.columns[7].name);
    CHECK_INT(7, coll.table.indexes[1].columns[0]);
    CHECK_INT(2, coll.table.indexes[1].columns[1]);
    CHECK_INT(5, vls_coll_field_of(&coll, 7));
    CHECK_INT(2, vls_coll_field_of(&coll, 2));
}

TEST(coll, one_integer_makes_a_numbered_table)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_coll coll;

    vls_arena_init(&arena, t->env, 1 << 20);
    for (uint32_t i = 0; i < VLS_TABLE_OWN_COUNT; i++) {
        bool numbered = i == VLS_TABLE_COLLECTION || i == VLS_TABLE_LOG || i == VLS_TABLE_OBJECT ||
                        i == VLS_TABLE_CHUNK || i == VLS_TABLE_READ_LOG;
        CHECK_OK(vls_coll_build(&coll, vls_own_colls[i], true, &arena, &t->err));
        CHECK_INT(numbered ? VALISE_TABLE_NUMBERED : 0, coll.table.flags);
        CHECK_INT(coll.field_count + 1, coll.table.column_count);
    }
}

typedef struct two {
    int64_t a, b;
} two;

TEST(coll, senseless_descriptors_are_refused)
{
    static const valise_field plain[] = {VALISE_FIELD(two, a, INT, VALISE_KEY, "A."),
                                         VALISE_FIELD(two, b, INT, 0, "B."), VALISE_FIELD_END};
    static const valise_field no_key[] = {VALISE_FIELD(two, a, INT, 0, "A."), VALISE_FIELD_END};
    static const valise_field sum[] = {VALISE_FIELD(two, a, INT, VALISE_KEY, "A."),
                                       VALISE_FIELD_AS(two, b, "sum", INT, 0, "B."),
                                       VALISE_FIELD_END};
    static const valise_field seq[] = {VALISE_FIELD_AS(two, a, "fromSeq", INT, VALISE_KEY, "A."),
                                       VALISE_FIELD_END};
    static const valise_field late[] = {VALISE_FIELD(two, a, INT, 0, "A."),
                                        VALISE_FIELD(two, b, INT, VALISE_KEY, "B."),
                                        VALISE_FIELD_END};
    static const char *const none[] = {NULL}, *const other[] = {"c", NULL};
    static const valise_coll_index no_fields[] = {{"x", none}, {NULL, NULL}};
    static const valise_coll_index null_fields[] = {{"x", NULL}, {NULL, NULL}};
    static const valise_coll_index unknown[] = {{"x", other}, {NULL, NULL}};
    static const char *const names[] = {
        "",    "A",    "1a",       "a-b",
        "a.",  ".a",   "a.b.c",    "a b",
        "a.B", "a.1b", "\xc3\xa9", "a123456789012345678901234567890123456789012345678901234567"};
    static const struct {
        const valise_field *fields;
        const valise_coll_index *indexes;
    } bad[] = {{no_key, NULL},     {sum, NULL},          {seq, NULL},      {late, NULL},
               {plain, no_fields}, {plain, null_fields}, {plain, unknown}, {NULL, NULL}};
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_coll desc = {.size = sizeof(desc), .name = "a.b_2", .row_size = sizeof(two)};
    vls_coll coll;

    vls_arena_init(&arena, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        desc.fields = bad[i].fields;
        desc.indexes = bad[i].indexes;
        CHECK_RC(VALISE_E_INVALID, vls_coll_build(&coll, &desc, false, &arena, &t->err));
    }
    desc.fields = plain;
    desc.indexes = NULL;
    CHECK_OK(vls_coll_build(&coll, &desc, false, &arena, &t->err));
    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        desc.name = names[i];
        CHECK_RC(VALISE_E_INVALID, vls_coll_build(&coll, &desc, false, &arena, &t->err));
    }
    desc.name = NULL;
    CHECK_RC(VALISE_E_INVALID, vls_coll_build(&coll, &desc, false, &arena, &t->err));
    desc.name = "a";
    desc.size = 8;
    CHECK_RC(VALISE_E_INVALID, vls_coll_build(&coll, &desc, false, &arena, &t->err));
}

TEST(coll, places)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    const valise_cell uuid = {.type = VALISE_CELL_BLOB,
                              .as.bytes = VLS_STR("\1\2\3\4\5\6\7\10abcdefgh")};
    const valise_cell gone[] = {
        {.type = VALISE_CELL_INT, .as.integer = -9},
        {.type = VALISE_CELL_BLOB, .as.bytes = VLS_STR("0123456789abcdefg")}};
    const valise_cell hostile = {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("a\n\x1b[2J")};
    const valise_cell null = {.type = VALISE_CELL_NULL};
    vls_coll coll;

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(vls_coll_build(&coll, &notes_1, false, &arena, &t->err));
    CHECK_TEXT("ext.note 01020304-0506-0708-6162-636465666768", vls_coll_place(&coll, &uuid).s);
    CHECK_OK(vls_coll_build(&coll, vls_own_colls[VLS_TABLE_GONE], true, &arena, &t->err));
    CHECK_TEXT("gone -9 30313233343536373839616263646566...", vls_coll_place(&coll, gone).s);
    CHECK_OK(vls_coll_build(&coll, vls_own_colls[VLS_TABLE_CURSOR], true, &arena, &t->err));
    CHECK_TEXT("cursor a\\n\\x1b[2J", vls_coll_place(&coll, &hostile).s);
    CHECK_TEXT("cursor ?", vls_coll_place(&coll, &null).s);
}

/* ---- descriptions ---- */

static valise_str describe(test *t, vls_buf *out, const valise_coll *desc, vls_arena *arena)
{
    vls_coll coll;

    vls_buf_clear(out);
    CHECK_OK(vls_coll_build(&coll, desc, false, arena, &t->err));
    CHECK_OK(vls_coll_describe(out, &coll, arena, &t->err));
    return vls_buf_str(out);
}

TEST(coll, descriptions_give_the_table_back)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0}, again = {0};
    vls_coll made, back;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&text, t->env, 1 << 20);
    vls_buf_init(&again, t->env, 1 << 20);
    for (size_t first = 4; first <= 6; first += 2) {
        vls_buf_clear(&text);
        vls_buf_clear(&again);
        CHECK_OK(vls_coll_build_grown(&made, &notes_2, first, &arena, &t->err));
        CHECK_OK(vls_coll_describe(&text, &made, &arena, &t->err));
        CHECK_OK(vls_coll_restore(&back, VLS_STR("ext.note"), vls_buf_str(&text), &arena, &t->err));
        CHECK(back.foreign && !back.own);
        CHECK_TEXT("ext_note", back.table.name);
        CHECK_TEXT("A note.", back.desc->help);
        CHECK_INT(made.table.column_count, back.table.column_count);
        CHECK_INT(first, back.first_count);
        CHECK_INT(2, back.table.index_count);
        for (uint16_t i = 0; i < made.table.column_count; i++) {
            CHECK_TEXT(made.table.columns[i].name, back.table.columns[i].name);
            CHECK_INT(made.table.columns[i].type, back.table.columns[i].type);
        }
        CHECK_OK(vls_coll_describe(&again, &back, &arena, &t->err));
        CHECK_STR(vls_buf_str(&text), vls_buf_str(&again));
    }
    CHECK_STR(VLS_STR("{\"fields\":[{\"flags\":[\"key\"],\"name\":\"id\",\"type\":\"uuid\"},"
                      "{\"flags\":[\"nullable\",\"content\"],\"name\":\"titleText\",\"type\":"
                      "\"str\"},{\"name\":\"kind\",\"names\":[\"plain\",\"rich\"],\"type\":"
                      "\"enum\"},{\"flags\":[\"nullable\"],\"name\":\"body\",\"ref\":\"object\","
                      "\"type\":\"id\"}],\"first\":4,\"flags\":0,\"help\":\"A note.\","
                      "\"indexes\":[[\"title\",\"titleText\"]]}"),
              describe(t, &text, &notes_1, &arena));
}

TEST(coll, damaged_descriptions_are_refused)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"fields\":[],\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[]}",
        "{\"fields\":[1],\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[]}",
#define NO_KEY                                                                                     \
    "{\"fields\":[{\"name\":\"id\",\"type\":\"uuid\"}],\"first\":1,\"flags\":0,\"help\":\"\""
#define F "{\"fields\":[{\"flags\":[\"key\"],\"name\":\"id\",\"type\":\"uuid\"}]"
        F ",\"first\":0,\"flags\":0,\"help\":\"\",\"indexes\":[]}",
        F ",\"first\":2,\"flags\":0,\"help\":\"\",\"indexes\":[]}",
        F ",\"first\":1,\"flags\":-1,\"help\":\"\",\"indexes\":[]}",
        F ",\"first\":1,\"flags\":0,\"help\":0,\"indexes\":[]}",
        F ",\"first\":1,\"flags\":0,\"help\":\"\"}",
        F ",\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[[]]}",
        F ",\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[[\"x\"]]}",
        F ",\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[[\"x\",1]]}",
        F ",\"first\":1,\"flags\":0,\"help\":\"\",\"indexes\":[[\"x\",\"y\"]]}",
        NO_KEY ",\"indexes\":[]}",
    };
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_coll coll;
    uint16_t have;
    bool grown;

    vls_arena_init(&arena, t->env, 1 << 20);
    for (size_t i = 0; i < VLS_COUNT(bad); i++) {
        test_context("description %zu", i);
        CHECK_RC(VALISE_E_CORRUPT,
                 vls_coll_restore(&coll, VLS_STR("a.b"), valise_str_of(bad[i]), &arena, &t->err));
        test_context_end();
    }
    CHECK_RC(VALISE_E_CORRUPT,
             vls_coll_build_over(&coll, &have, &grown, &notes_1, VLS_STR("{}"), &arena, &t->err));
    CHECK(strstr(t->err.message, "ext.note"));
}

TEST(coll, only_more_at_the_end_is_the_same_collection)
{
    static const valise_field renamed[] = {
        NOTE_1, KIND, VALISE_FIELD_WITH(note, body, ID, VALISE_NULLABLE, "B.", .ref = "turn"),
        VALISE_FIELD_END};
    static const valise_field fewer[] = {NOTE_1, KIND, VALISE_FIELD_END};
    static const valise_field moved[] = {NOTE_1, BODY, KIND, VALISE_FIELD_END};
    static const valise_field wilder[] = {
        NOTE_1, VALISE_FIELD_WITH(note, kind, ENUM, 0, "Kind.", .more = kinds_2), BODY,
        VALISE_FIELD_END};
    static const valise_field strict[] = {
        NOTE_1, KIND, VALISE_FIELD_WITH(note, body, ID, 0, "", .ref = "object"), VALISE_FIELD_END};
    static const valise_field demanding[] = {
        NOTE_1, KIND, BODY, VALISE_FIELD(note, rank, INT, 0, "Rank."), VALISE_FIELD_END};
    static const valise_field limited[] = {
        NOTE_1, KIND,
        VALISE_FIELD_WITH(note, body, ID, VALISE_NULLABLE | VALISE_HIDDEN, "?", .ref = "object"),
        VALISE_FIELD_END};
    static const valise_coll_index swapped[] = {
        {"rank", by_title}, {"title", by_title}, {NULL, NULL}};
    static const struct {
        valise_coll desc;
        const char *names; /* what the message says, or NULL */
    } cases[] = {
        {COLL(renamed, indexes_1), "body"}, {COLL(fewer, indexes_1), "body"},
        {COLL(moved, indexes_1), "kind"},   {COLL(wilder, indexes_1), "kind"},
        {COLL(strict, indexes_1), "body"},  {COLL(demanding, indexes_1), "rank"},
        {COLL(fields_1, swapped), "title"}, {COLL(fields_1, NULL), "title"},
        {COLL(limited, indexes_1), NULL},   {COLL(fields_1, indexes_1), NULL},
    };
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf text = {0};
    uint16_t have = 0;
    bool grown = true;
    vls_coll coll;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&text, t->env, 1 << 20);
    valise_str old = describe(t, &text, &notes_1, &arena);
    for (size_t i = 0; i < VLS_COUNT(cases); i++) {
        test_context("case %zu", i);
        CHECK_RC(cases[i].names ? VALISE_E_UNSUPPORTED : 0,
                 vls_coll_build_over(&coll, &have, &grown, &cases[i].desc, old, &arena, &t->err));
        CHECK(!cases[i].names || strstr(t->err.message, cases[i].names));
        CHECK(cases[i].names || !grown);
        test_context_end();
    }
    valise_coll flags = notes_1;
    flags.flags = VALISE_COLL_IMMUTABLE;
    CHECK_RC(VALISE_E_UNSUPPORTED,
             vls_coll_build_over(&coll, &have, &grown, &flags, old, &arena, &t->err));
    CHECK_OK(vls_coll_build_over(&coll, &have, &grown, &notes_2, old, &arena, &t->err));
    CHECK(grown && have == 6 && coll.first_count == 4 && coll.field_count == 6);
}

/* ---- in a store ---- */

static const valise_coll *const list_1[] = {&notes_1, NULL};
static const valise_coll *const list_2[] = {&notes_2, NULL};

static valise_uuid key_of(uint8_t n)
{
    return (valise_uuid){{n, 1}};
}

static void put_note(test *t, vls_store *store, const valise_coll *desc, const note *n)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];

    vls_arena_init(&arena, t->env, 1 << 20);
    CHECK_OK(vls_row_to_cells(cells, n, desc->fields, &arena, &t->err));
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_txn_put(&txn, vls_store_coll(store, desc), cells, 5, &t->err));
    kit_commit(t, &txn);
}

static int get_note(note *out, test *t, vls_store *store, const vls_coll *coll, uint8_t n,
                    vls_arena *arena)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_uuid id = key_of(n);
    valise_cell key = {.type = VALISE_CELL_BLOB, .as.bytes = vls_str(&id, sizeof(id))};
    valise_cell row[VALISE_MAX_COLUMNS];
    int rc;

    kit_begin(t, &txn, store, VALISE_TXN_READ);
    rc = vls_txn_get(row, &txn, coll, &key, &t->err);
    if (rc == 1) {
        CHECK_INT(5, row[vls_coll_seq_column(coll)].as.integer);
        CHECK_OK(vls_row_from_cells(out, fields_2, sizeof(note), row, VLS_MIN(coll->field_count, 6),
                                    arena, &t->err));
    }
    return rc;
}

/* Old rows stay right, new ones have the new fields, and the index finds them. */
TEST(coll_store, collections_grow)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(txn) vls_txn txn = {0};
    note n = {.id = key_of(1), .title_text = VLS_STR("one"), .kind = 1}, back;
    vls_store *store, *old, *reader = NULL;
    vls_store_options options = kit_options(t, list_2);
    valise_cell rank = {.type = VALISE_CELL_INT, .as.integer = 9}, row[VALISE_MAX_COLUMNS];
    const vls_coll *coll;

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    vls_arena_init(&arena, t->env, 1 << 20);
    old = kit_open(t, list_1);
    put_note(t, old, &notes_1, &n);

    options.flags = VALISE_STORE_READ_ONLY;
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_store_open(&reader, &options, &t->err));
    CHECK(strstr(t->err.message, "ext.note") && t->err.hint[0]);

    for (unsigned i = 0; i < 2; i++) {
        store = kit_open(t, list_2);
        coll = vls_store_coll(store, &notes_2);
        CHECK_INT(4, coll->first_count);
        CHECK_RC(1, get_note(&back, t, store, coll, 1, &arena));
        CHECK_STR(VLS_STR("one"), back.title_text);
        CHECK(!back.more.ptr && back.rank == VALISE_NONE && back.kind == 1);
        n = (note){.id = key_of(2), .more = VLS_STR("more"), .rank = 9};
        put_note(t, store, &notes_2, &n);
        CHECK_RC(1, get_note(&back, t, store, coll, 2, &arena));
        CHECK_STR(VLS_STR("more"), back.more);
        CHECK(back.rank == 9 && !back.title_text.ptr);
        kit_begin(t, &txn, store, VALISE_TXN_READ);
        VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
        CHECK_OK(vls_txn_scan_open(
            &scan, &txn, coll,
            (valise_range){.index = vls_coll_index(coll, "rank"), .equal = &rank, .equal_count = 1},
            &t->err));
        CHECK_RC(1, vls_txn_scan_next(row, &scan, &t->err));
        CHECK_INT(2, row[0].as.bytes.ptr[0]);
        CHECK_RC(0, vls_txn_scan_next(row, &scan, &t->err));
        vls_txn_scan_close(&scan);
        kit_commit(t, &txn);
        kit_close(store);
    }

    /* The handle that does not know the new fields would take them for damage. */
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_txn_begin(&txn, old, VALISE_TXN_READ, &t->err));
    CHECK(strstr(t->err.message, "added fields"));
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_txn_begin(&txn, old, VALISE_TXN_WRITE, &t->err));
    kit_close(old);

    options = kit_options(t, list_1);
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_store_open(&store, &options, &t->err));
    CHECK(strstr(t->err.message, "more"));
}

/* [K13] Rows of an extension that is not loaded. */
TEST(coll_store, foreign_collections_can_be_read)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(txn) vls_txn txn = {0};
    note n = {.id = key_of(1), .title_text = VLS_STR("one"), .kind = 1}, back;
    const vls_coll *coll;
    valise_cell row[VALISE_MAX_COLUMNS], key[1];
    vls_store *store;

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    vls_arena_init(&arena, t->env, 1 << 20);
    store = kit_open(t, list_2);
    put_note(t, store, &notes_2, &n);
    kit_close(store);
    store = kit_open(t, NULL);
    coll = vls_store_coll_named(store, VLS_STR("ext.note"));
    CHECK(coll && coll->foreign && coll->field_count == 6);
    CHECK(vls_store_coll(store, coll->desc) == coll);
    CHECK_RC(1, get_note(&back, t, store, coll, 1, &arena));
    CHECK_STR(VLS_STR("one"), back.title_text);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    valise_uuid id = key_of(1);
    key[0] = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = vls_str(&id, sizeof(id))};
    CHECK_RC(1, vls_txn_get(row, &txn, coll, key, &t->err));
    CHECK_RC(VALISE_E_DENIED, vls_txn_put(&txn, coll, row, 1, &t->err));
    CHECK(strstr(t->err.message, "ext.note"));
    CHECK_RC(VALISE_E_DENIED, vls_txn_del(&txn, coll, key, &t->err));
    vls_txn_rollback(&txn);
    kit_close(store);
    store = kit_open(t, list_2); /* and it is there again */
    CHECK(!vls_store_coll(store, &notes_2)->foreign);
    CHECK_RC(1, get_note(&back, t, store, vls_store_coll(store, &notes_2), 1, &arena));
    kit_close(store);
}

TEST(coll_store, one_table_for_two_names_is_refused)
{
    static const valise_field fields[] = {VALISE_FIELD(two, a, INT, VALISE_KEY, "A."),
                                          VALISE_FIELD_END};
    static const char *const names[][2] = {
        {"a.b", "a_b"}, {"a.b", "a.b"}, {"log", NULL}, {"read.log", NULL}};

    for (size_t i = 0; i < VLS_COUNT(names); i++) {
        valise_coll descs[2];
        const valise_coll *list[3] = {NULL, NULL, NULL};
        for (size_t k = 0; k < 2 && names[i][k]; k++) {
            descs[k] = (valise_coll){.size = sizeof(valise_coll),
                                     .name = names[i][k],
                                     .fields = fields,
                                     .row_size = sizeof(two)};
            list[k] = &descs[k];
        }
        vls_store_options options = kit_options(t, list);
        vls_store *store = NULL;
        CHECK_RC(VALISE_E_EXISTS, vls_store_open(&store, &options, &t->err));
        CHECK(strstr(t->err.message, names[i][0]));
        kit_remove();
    }
}

/* Reading only: what was never made is empty. */
TEST(coll_store, a_collection_that_is_not_there_yet_reads_as_empty)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    vls_store_options options = kit_options(t, list_1);
    valise_cell row[VALISE_MAX_COLUMNS];
    vls_store *store;
    note back;

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    vls_arena_init(&arena, t->env, 1 << 20);
    kit_close(kit_open(t, NULL));
    options.flags = VALISE_STORE_READ_ONLY;
    CHECK_OK(vls_store_open(&store, &options, &t->err));
    CHECK_RC(0, get_note(&back, t, store, vls_store_coll(store, &notes_1), 1, &arena));
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    CHECK_OK(vls_txn_scan_open(&scan, &txn, vls_store_coll(store, &notes_1),
                               (valise_range){.index = 0}, &t->err));
    CHECK_RC(0, vls_txn_scan_next(row, &scan, &t->err));
    vls_txn_scan_close(&scan);
    kit_commit(t, &txn);
    kit_close(store);
}

/* A handle that was opened before another program added a collection. */
TEST(coll_store, who_must_see_everything_is_told)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store *one, *two_;

    if (!kit_keeps(t))
        SKIP("two handles of a store in memory are two stores");
    one = kit_open(t, NULL);
    kit_begin(t, &txn, one, VALISE_TXN_READ);
    CHECK_OK(vls_txn_check_complete(&txn, &t->err));
    kit_commit(t, &txn);
    two_ = kit_open(t, list_1);
    kit_begin(t, &txn, one, VALISE_TXN_READ); /* goes on */
    CHECK_RC(VALISE_E_UNSUPPORTED, vls_txn_check_complete(&txn, &t->err));
    kit_commit(t, &txn);
    kit_begin(t, &txn, two_, VALISE_TXN_READ);
    CHECK_OK(vls_txn_check_complete(&txn, &t->err));
    kit_commit(t, &txn);
    kit_close(one);
    kit_close(two_);
}

/* The list of collections itself is damaged. */
TEST(coll_store, a_gap_in_the_list_is_found)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    vls_store_options options = kit_options(t, list_1);
    vls_coll_row row = {.number = VLS_TABLE_OWN_COUNT};
    vls_store *store;

    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    store = kit_open(t, list_1);
    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_RC(1, vls_own_del(&txn, VLS_TABLE_COLLECTION, &row, &t->err));
    row = (vls_coll_row){
        .number = VLS_TABLE_OWN_COUNT + 1, .name = VLS_STR("x"), .description = VLS_STR("{}")};
    CHECK_OK(vls_own_put(&txn, VLS_TABLE_COLLECTION, &row, &t->err));
    kit_commit(t, &txn);
    kit_close(store);
    CHECK_RC(VALISE_E_CORRUPT, vls_store_open(&store, &options, &t->err));
    CHECK_TEXT("collection 8 is missing", t->err.message);
}

static int grow_once(fault *f, void *arg)
{
    vls_store_options options = kit_options(f->t, list_1);
    vls_store *store = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    options.env = f->env;
    options.where = f->dir;
    CHECK_INT(0, vls_store_open(&store, &options, &f->err));
    vls_store_close(store);
    store = NULL;
    options.colls = list_2;
    fault_on(f);
    rc = vls_store_open(&store, &options, &f->err);
    fault_off(f);
    vls_store_close(store);
    options.colls = NULL; /* whatever happened, it can be opened */
    CHECK_INT(0, vls_store_open(&store, &options, &f->err));
    vls_store_close(store);
    return rc;
}

TEST(coll_store, growing_without_memory)
{
    fault_each_alloc(t, 0, grow_once, NULL);
}

/* [K11] Processes that open a new store at the same time, with different collections. */
static int open_in_child(size_t index, void *arg)
{
    const valise_coll *const *lists[] = {NULL, list_1, list_2};
    vls_store_options options = {
        .env = valise_env_default(),
        .ops = kit_ops("sqlite"),
        .where = arg,
        .flags = VALISE_STORE_CREATE,
        .busy_timeout_ns = INT64_C(10000000000),
        .colls = lists[index % 3],
    };
    valise_error err = VALISE_ERROR_INIT;
    vls_store *store = NULL;
    int rc = vls_store_open(&store, &options, &err);

    /* Who knows fewer fields may come too late. */
    CHECK_MSG(rc == 0 || (rc == VALISE_E_UNSUPPORTED && index % 3 == 1), "%s", err.message);
    vls_store_close(store);
    return 0;
}

TEST(coll_store, many_open_it_at_once)
{
    if (!kit_keeps(t))
        SKIP("a store in memory is always new");
    for (unsigned i = 0; i < 5; i++) {
        process_all(NULL, 6, open_in_child, (void *)(uintptr_t)test_tmpdir());
        kit_close(kit_open(t, list_2));
        kit_remove();
    }
}
