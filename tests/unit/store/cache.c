/* cache.c -- the writer's memory of rows is never wrong. [K10 K11] */
#include "store/cache.h"

#include "base/str.h"
#include "stage.h"

static vls_coll coll_of(uint32_t number)
{
    return (vls_coll){
        .number = number, .key_count = 1, .table = {.column_count = 2, .key_count = 1}};
}

static valise_cell text_cell(valise_str text)
{
    return (valise_cell){.type = VALISE_CELL_TEXT, .as.bytes = text};
}

static valise_cell int_cell(int64_t integer)
{
    return (valise_cell){.type = VALISE_CELL_INT, .as.integer = integer};
}

TEST(cache, remembers_rows_and_that_there_is_none)
{
    vls_coll one = coll_of(1), two = coll_of(2);
    const valise_cell key = text_cell(VLS_STR("key")), other = text_cell(VLS_STR("ke"));
    valise_cell row[2] = {key, int_cell(7)};
    valise_cell out[2];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    CHECK_INT(-1, vls_cache_get(out, cache, &one, &key));
    vls_cache_put(cache, &one, &key, row);
    row[1].as.integer = 8;
    CHECK_INT(1, vls_cache_get(out, cache, &one, &key));
    CHECK_STR(VLS_STR("key"), out[0].as.bytes);
    CHECK_INT(7, out[1].as.integer);
    CHECK_INT(-1, vls_cache_get(out, cache, &two, &key));
    CHECK_INT(-1, vls_cache_get(out, cache, &one, &other));
    vls_cache_put(cache, &one, &key, NULL);
    CHECK_INT(0, vls_cache_get(out, cache, &one, &key));
    vls_cache_clear(cache);
    CHECK_INT(-1, vls_cache_get(out, cache, &one, &key));
    vls_cache_free(cache);
}

/* Of equal keys only one may be remembered, or the other would be out of date. */
TEST(cache, equal_keys_are_one)
{
    static const char here[] = "", there[] = "";
    const valise_cell pairs[][2] = {
        {text_cell(vls_str(here, 0)), text_cell(vls_str(there, 0))},
        {text_cell(vls_str(NULL, 0)), text_cell(vls_str(here, 0))},
        {{.type = VALISE_CELL_REAL, .as.real = -0.0}, {.type = VALISE_CELL_REAL, .as.real = 0.0}},
        {int_cell(-1), int_cell(-1)},
    };
    vls_coll one = coll_of(1);
    valise_cell out[2];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    for (size_t i = 0; i < VLS_COUNT(pairs); i++) {
        valise_cell row[2] = {pairs[i][0], int_cell(7)};
        vls_cache_put(cache, &one, &pairs[i][0], row);
        vls_cache_put(cache, &one, &pairs[i][1], NULL);
        CHECK_INT(0, vls_cache_get(out, cache, &one, &pairs[i][0]));
    }
    vls_cache_free(cache);
}

TEST(cache, never_answers_with_an_older_row)
{
    vls_coll one = coll_of(1);
    valise_cell out[2];
    vls_cache *cache = NULL;
    int known = 0;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    for (int64_t round = 0; round < 3; round++) {
        for (int64_t i = 0; i < 2 * (int64_t)VLS_CACHE_SLOTS; i++) {
            valise_cell row[2] = {int_cell(i), int_cell(i * 10 + round)};
            vls_cache_put(cache, &one, row, row);
        }
        for (int64_t i = 0; i < 2 * (int64_t)VLS_CACHE_SLOTS; i++) {
            valise_cell key = int_cell(i);
            if (vls_cache_get(out, cache, &one, &key) < 0)
                continue;
            known++;
            CHECK_INT(i, out[0].as.integer);
            CHECK_INT(i * 10 + round, out[1].as.integer);
        }
    }
    CHECK(known > 2 * (int)VLS_CACHE_SLOTS && known <= 3 * (int)VLS_CACHE_SLOTS);
    vls_cache_free(cache);
}

TEST(cache, what_is_too_large_takes_the_older_row_away)
{
    static char large[VLS_CACHE_ROOM];
    vls_coll one = coll_of(1);
    valise_cell row[2] = {text_cell(VLS_STR("key")), int_cell(7)};
    valise_cell out[2];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    vls_cache_put(cache, &one, row, row);
    row[1] = (valise_cell){.type = VALISE_CELL_BLOB, .as.bytes = vls_str(large, sizeof(large))};
    vls_cache_put(cache, &one, row, row);
    CHECK_INT(-1, vls_cache_get(out, cache, &one, row));
    vls_cache_free(cache);
}

TEST(cache, a_row_may_be_put_back_where_it_came_from)
{
    vls_coll one = coll_of(1);
    const valise_cell key = text_cell(VLS_STR("key"));
    valise_cell row[2] = {key, text_cell(VLS_STR("value"))};
    valise_cell out[2];
    vls_cache *cache = NULL;
    int rc;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    vls_cache_put(cache, &one, &key, row);
    CHECK_INT(1, vls_cache_get(out, cache, &one, &key));
    vls_cache_put(cache, &one, &key, out);
    CHECK_STR(VLS_STR("value"), out[1].as.bytes);
    rc = vls_cache_get(out, cache, &one, &key);
    CHECK(rc == -1 || vls_str_equal(out[1].as.bytes, VLS_STR("value")));
    vls_cache_free(cache);
}

/* What lies in the slot's own room moves when something longer comes before it. */
TEST(cache, a_row_may_borrow_from_where_it_goes)
{
    vls_coll one = coll_of(1);
    const valise_cell key = text_cell(VLS_STR("key"));
    valise_cell row[3] = {key, text_cell(VLS_STR("")), text_cell(VLS_STR("value"))};
    valise_cell out[3];
    vls_cache *cache = NULL;
    int rc;

    one.table.column_count = 3;
    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    vls_cache_put(cache, &one, &key, row);
    CHECK_INT(1, vls_cache_get(out, cache, &one, &key));
    out[0] = key;
    out[1] = text_cell(VLS_STR("something longer"));
    vls_cache_put(cache, &one, &key, out);
    rc = vls_cache_get(row, cache, &one, &key);
    CHECK(rc == -1 || (vls_str_equal(row[1].as.bytes, VLS_STR("something longer")) &&
                       vls_str_equal(row[2].as.bytes, VLS_STR("value"))));
    vls_cache_free(cache);
}

/* ---- answers ---- */

/* Key (bag, number), index (label). */
static vls_coll coll_of_labels(void)
{
    static const uint16_t label[] = {2};
    static const valise_table_index by_label = {"label", label, 1};

    return (vls_coll){
        .number = 3,
        .key_count = 2,
        .field_count = 3,
        .first_count = 3,
        .table = {.column_count = 5, .key_count = 2, .index_count = 1, .indexes = &by_label}};
}

static void make_row(valise_cell row[5], const char *bag, int64_t number, const char *label)
{
    row[0] = text_cell(valise_str_of(bag));
    row[1] = int_cell(number);
    row[2] = text_cell(valise_str_of(label));
    row[3] = row[4] = int_cell(0);
}

/* The number of the last row, 0 when there is none, -1 when nobody knows. */
static int64_t last_of(const vls_cache *cache, const vls_coll *coll, const char *bag)
{
    const valise_cell equal = text_cell(valise_str_of(bag));
    valise_cell out[5];
    int rc = vls_cache_last(out, cache, coll, -1, &equal, 1);

    return rc > 0 ? out[1].as.integer : rc;
}

static int64_t last_labelled(const vls_cache *cache, const vls_coll *coll, const char *label)
{
    const valise_cell equal = text_cell(valise_str_of(label));
    valise_cell out[5];
    int rc = vls_cache_last(out, cache, coll, 0, &equal, 1);

    return rc > 0 ? out[1].as.integer : rc;
}

TEST(cache, a_written_row_changes_the_answers)
{
    vls_coll coll = coll_of_labels();
    const valise_cell a = text_cell(VLS_STR("a"));
    valise_cell row[5], out[5];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    CHECK_INT(-1, last_of(cache, &coll, "a"));
    vls_cache_put_last(cache, &coll, -1, &a, 1, NULL);
    CHECK_INT(0, last_of(cache, &coll, "a"));
    CHECK_INT(-1, last_of(cache, &coll, "b"));
    make_row(row, "a", 7, "x");
    CHECK_INT(0, vls_cache_get(out, cache, &coll, row)); /* where nothing is, this is not either */
    vls_cache_write(cache, &coll, row, row);
    CHECK_INT(7, last_of(cache, &coll, "a"));
    CHECK_INT(1, vls_cache_get(out, cache, &coll, row));
    make_row(row, "a", 5, "x");
    CHECK_INT(-1, vls_cache_get(out, cache, &coll, row));
    vls_cache_write(cache, &coll, row, row);
    CHECK_INT(7, last_of(cache, &coll, "a"));
    make_row(row, "a", 8, "x");
    CHECK_INT(0, vls_cache_get(out, cache, &coll, row));
    make_row(row, "a", 5, "x");
    vls_cache_write(cache, &coll, row, NULL);
    CHECK_INT(7, last_of(cache, &coll, "a"));
    make_row(row, "a", 7, "x");
    vls_cache_write(cache, &coll, row, NULL);
    CHECK_INT(-1, last_of(cache, &coll, "a"));
    CHECK_INT(0, vls_cache_get(out, cache, &coll, row));
    vls_cache_free(cache);
}

/* Both say what is under a key: a slot of its own, and the answer it is. */
TEST(cache, what_was_known_of_a_key_is_no_more_when_it_is_the_answer)
{
    vls_coll coll = coll_of_labels();
    const valise_cell a = text_cell(VLS_STR("a"));
    valise_cell row[5], out[5];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    make_row(row, "a", 7, "x");
    vls_cache_put(cache, &coll, row, NULL);
    vls_cache_put_last(cache, &coll, -1, &a, 1, NULL);
    vls_cache_write(cache, &coll, row, row);
    CHECK_INT(1, vls_cache_get(out, cache, &coll, row));
    vls_cache_free(cache);
}

/* In an index a row can go somewhere else. */
TEST(cache, a_row_that_moves_leaves_its_place)
{
    vls_coll coll = coll_of_labels();
    const valise_cell red = text_cell(VLS_STR("red")), blue = text_cell(VLS_STR("blue"));
    valise_cell row[5];
    vls_cache *cache = NULL;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    make_row(row, "a", 7, "red");
    vls_cache_put(cache, &coll, row, row);
    vls_cache_put_last(cache, &coll, 0, &red, 1, row);
    vls_cache_put_last(cache, &coll, 0, &blue, 1, NULL);
    make_row(row, "a", 7, "blue");
    vls_cache_write(cache, &coll, row, row);
    CHECK_INT(-1, last_labelled(cache, &coll, "red"));
    CHECK_INT(7, last_labelled(cache, &coll, "blue"));
    /* Who knows where this one was? */
    make_row(row, "a", 3, "green");
    vls_cache_write(cache, &coll, row, row);
    CHECK_INT(-1, last_labelled(cache, &coll, "blue"));
    vls_cache_free(cache);
}

TEST(cache, more_kinds_of_questions_than_there_is_room_for)
{
    vls_coll colls[VLS_CACHE_ORDERS + 2];
    const valise_cell a = text_cell(VLS_STR("a"));
    vls_cache *cache = NULL;
    int known = 0;

    CHECK_OK(vls_cache_new(&cache, t->env, &t->err));
    for (size_t i = 0; i < VLS_COUNT(colls); i++) {
        colls[i] = coll_of_labels();
        colls[i].number = (uint32_t)i;
        vls_cache_put_last(cache, &colls[i], -1, &a, 1, NULL);
    }
    for (size_t i = 0; i < VLS_COUNT(colls); i++)
        known += last_of(cache, &colls[i], "a") == 0;
    CHECK_INT((int)VLS_CACHE_ORDERS, known);
    vls_cache_free(cache);
}

/* ---- in transactions ---- */

TEST_PARAMS(cached, "memory", "sqlite")

static int set_count(valise_view *view, void *arg, valise_error *err)
{
    thing row = {VLS_STR("b"), VLS_STR("n"), *(const int64_t *)arg, {NULL, 0}};

    return valise_view_put(view, &stage_things, &row, err);
}

static int set_and_fail(valise_view *view, void *arg, valise_error *err)
{
    int rc = set_count(view, arg, err);

    return rc < 0 ? rc : VALISE_E_CANCELLED;
}

/* What the next writer sees. */
static int see_count(valise_view *view, void *arg, valise_error *err)
{
    thing row = {VLS_STR("b"), VLS_STR("n"), 0, {NULL, 0}};
    int rc = valise_view_get(&row, view, &stage_things, err);

    *(int64_t *)arg = rc > 0 ? row.count : -1;
    return rc < 0 ? rc : 0;
}

static int64_t seen(stage *k)
{
    int64_t count = 0;

    stage_do(k, see_count, &count);
    return count;
}

TEST(cached, what_was_undone_is_not_seen)
{
    int64_t one = 1, two = 2;
    VLS_AUTO(txn) vls_txn txn = {0};
    valise_cell key[2] = {{.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("b")},
                          {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("n")}};
    valise_cell row[VALISE_MAX_COLUMNS];
    const vls_coll *coll;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    coll = vls_store_coll(k.store, &stage_things);
    CHECK_INT(-1, seen(&k));
    stage_do(&k, set_count, &one);
    CHECK_INT(1, seen(&k));
    CHECK_INT(VALISE_E_CANCELLED, stage_command(&k, set_and_fail, &two, &t->err));
    CHECK_INT(1, seen(&k));

    /* A mark that is gone back to. */
    CHECK_OK(vls_txn_begin(&txn, k.store, VALISE_TXN_WRITE, &t->err));
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_SET, &t->err));
    CHECK_RC(1, vls_txn_del(&txn, coll, key, &t->err));
    CHECK_RC(0, vls_txn_get(row, &txn, coll, key, &t->err));
    CHECK_OK(vls_txn_mark(&txn, VALISE_MARK_BACK, &t->err));
    CHECK_RC(1, vls_txn_get(row, &txn, coll, key, &t->err));
    CHECK_INT(1, row[2].as.integer);
    /* The key of a deletion may be what was read. */
    CHECK_RC(1, vls_txn_get(row, &txn, coll, key, &t->err));
    CHECK_RC(1, vls_txn_del(&txn, coll, row, &t->err));
    CHECK_RC(0, vls_txn_get(row, &txn, coll, key, &t->err));
    vls_txn_rollback(&txn);
    CHECK_INT(1, seen(&k));
    stage_close(&k);
}

TEST(cached, what_another_handle_wrote_is_seen)
{
    int64_t one = 1, two = 2;
    stage k, other;

    if (strcmp(t->param, "memory") == 0)
        SKIP("a store in memory has one handle");
    stage_open(&k, t, t->param, test_tmpdir());
    stage_open(&other, t, t->param, test_tmpdir());
    stage_do(&k, set_count, &one);
    CHECK_INT(1, seen(&k));
    other.now = k.now; /* one clock */
    CHECK_INT(1, seen(&other));
    stage_do(&other, set_count, &two);
    k.now = other.now;
    CHECK_INT(2, seen(&k));
    stage_close(&other);
    stage_close(&k);
}
