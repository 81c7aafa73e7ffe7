/* place.c -- what a text names in a store that somebody else wrote. [K2] */
#include "store/kit.h"
#include "store/place.h"

TEST_PARAMS(place, KIT_BACKENDS)

typedef struct mark {
    valise_uuid id;
} mark;

static const valise_field mark_fields[] = {
    VALISE_FIELD(mark, id, UUID, VALISE_REQUIRED | VALISE_KEY, "Id."),
    VALISE_FIELD_END,
};
static const valise_coll marks = {.size = sizeof(valise_coll),
                                  .name = "ext.mark",
                                  .help = "A mark.",
                                  .fields = mark_fields,
                                  .row_size = sizeof(mark)};
static const valise_coll *const colls[] = {&marks, NULL};

static void put_mark(test *t, vls_store *store, const char *bytes, size_t len)
{
    const valise_cell id = {.type = VALISE_CELL_BLOB, .as.bytes = {bytes, len}};
    VLS_AUTO(txn) vls_txn txn = {0};

    kit_begin(t, &txn, store, VALISE_TXN_WRITE);
    CHECK_OK(vls_txn_put(&txn, vls_store_coll(store, &marks), &id, 1, &t->err));
    kit_commit(t, &txn);
}

/* The sum of such a row is right, and its id is no id: nothing may be read behind its end. */
TEST(place, an_id_of_another_length_is_nobodys)
{
    static const char whole[16] = {[14] = '\xab', [15] = '\xcd'};
    vls_store *store = kit_open(t, colls);
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise_cell key[VALISE_MAX_COLUMNS];
    const vls_coll *coll;
    vls_target target;

    put_mark(t, store, "\xab\xcd", 2);
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    vls_view_init(&view, &txn, t->env);
    CHECK_RC(VALISE_E_NOT_FOUND, vls_target_find(&target, &view, VLS_STR("abcd"), &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_place_parse(&coll, key, &view, VLS_STR("ext.mark/abcd"), &t->err));
    vls_view_release(&view);
    vls_txn_rollback(&txn);

    put_mark(t, store, whole, sizeof(whole));
    kit_begin(t, &txn, store, VALISE_TXN_READ);
    vls_view_init(&view, &txn, t->env);
    CHECK_OK(vls_target_find(&target, &view, VLS_STR("abcd"), &t->err));
    CHECK(target.kind == VLS_TARGET_ROW && target.key[0].as.bytes.len == sizeof(whole));
    CHECK_OK(vls_place_parse(&coll, key, &view, VLS_STR("ext.mark/abcd"), &t->err));
    CHECK_INT(sizeof(whole), key[0].as.bytes.len);
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    kit_close(store);
}
