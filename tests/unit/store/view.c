/* view.c -- views: what a command sees and changes, once per backend. [K5 K8 K9 K10 K17] */
#include "base/str.h"
#include "stage.h"

TEST_PARAMS(view, "memory", "sqlite")

static int put_thing(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_things, arg, err);
}

static int drop_thing(valise_view *view, void *arg, valise_error *err)
{
    int rc = valise_view_delete(view, &stage_things, arg, err);

    return rc < 0 ? rc : 0;
}

static int get_thing(valise_view *view, void *arg, valise_error *err)
{
    int rc = valise_view_get(arg, view, &stage_things, err);

    /* Outlives the view in these tests. */
    if (rc > 0 && ((thing *)arg)->label.ptr)
        ((thing *)arg)->label =
            valise_str_of(test_format("%.*s", VALISE_STR_ARG(((thing *)arg)->label)));
    if (rc > 0) {
        ((thing *)arg)->bag =
            valise_str_of(test_format("%.*s", VALISE_STR_ARG(((thing *)arg)->bag)));
        ((thing *)arg)->name =
            valise_str_of(test_format("%.*s", VALISE_STR_ARG(((thing *)arg)->name)));
    }
    return rc;
}

TEST(view, a_row_comes_back_at_every_seq_as_it_was)
{
    thing a = {VLS_STR("b"), VLS_STR("n"), 1, VLS_STR("one")};
    thing seen = {VLS_STR("b"), VLS_STR("n"), 0, {NULL, 0}};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_thing, &a); /* 1 */
    a.count = 2;
    stage_do(&k, put_thing, &a);  /* 2 */
    stage_do(&k, drop_thing, &a); /* 3 */
    a.count = 4;
    a.label = (valise_str){NULL, 0};
    stage_do(&k, put_thing, &a); /* 4 */

    CHECK_INT(0, stage_read(&k, 0, get_thing, &seen, &t->err));
    CHECK_INT(1, stage_read(&k, 1, get_thing, &seen, &t->err));
    CHECK_INT(1, seen.count);
    CHECK(vls_str_equal(VLS_STR("one"), seen.label));
    CHECK_INT(1, stage_read(&k, 2, get_thing, &seen, &t->err));
    CHECK_INT(2, seen.count);
    CHECK_INT(0, stage_read(&k, 3, get_thing, &seen, &t->err));
    CHECK_INT(1, stage_read(&k, 4, get_thing, &seen, &t->err));
    CHECK_INT(4, seen.count);
    CHECK(seen.label.ptr == NULL);
    CHECK_INT(1, stage_read(&k, -1, get_thing, &seen, &t->err));
    CHECK_INT(4, seen.count);
    CHECK_RC(VALISE_E_NOT_FOUND, stage_read(&k, 5, get_thing, &seen, &t->err));
    stage_close(&k);
}

static int read_own_writes(valise_view *view, void *arg, valise_error *err)
{
    thing row = {VLS_STR("b"), VLS_STR("x"), 0, {NULL, 0}};
    int64_t version = -1;

    (void)arg;
    CHECK_INT(0, valise_view_get(&row, view, &stage_things, err));
    CHECK_INT(0, valise_view_version(&version, view, &stage_things, &row, err));
    CHECK_INT(0, version);
    row.count = 7;
    CHECK_INT(0, valise_view_put(view, &stage_things, &row, err));
    row.count = 0;
    CHECK_INT(1, valise_view_get(&row, view, &stage_things, err));
    CHECK_INT(7, row.count);
    CHECK_INT(0, valise_view_version(&version, view, &stage_things, &row, err));
    CHECK_INT(view->stamp.seq, version);
    CHECK_INT(1, valise_view_delete(view, &stage_things, &row, err));
    CHECK_INT(0, valise_view_delete(view, &stage_things, &row, err));
    CHECK_INT(0, valise_view_get(&row, view, &stage_things, err));
    return 0;
}

TEST(view, a_command_sees_what_it_changed)
{
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, read_own_writes, NULL);
    CHECK_INT(1, stage_tip(&k));
    stage_close(&k);
}

/* ---- what an entry lists ---- */

typedef struct listing {
    int64_t seq;
    size_t count;
    int64_t from_seq, gone_seq; /* of the first */
} listing;

static int list_changes(valise_view *view, void *arg, valise_error *err)
{
    listing *l = arg;
    vls_entry entry;
    vls_image image;
    size_t at = 0;
    int rc = vls_log_get(&entry, view->txn, l->seq, &view->arena, err);

    CHECK_INT(1, rc);
    l->count = 0;
    while ((rc = vls_changes_next(&image, &at, entry.changes, err)) > 0) {
        if (l->count++ == 0) {
            l->from_seq = image.from_seq;
            l->gone_seq = image.gone_seq;
        }
    }
    return rc;
}

static listing listing_of(stage *k, int64_t seq)
{
    listing l = {.seq = seq};

    CHECK_INT(0, stage_read(k, -1, list_changes, &l, &k->t->err));
    return l;
}

static int change_nothing(valise_view *view, void *arg, valise_error *err)
{
    thing *row = arg;
    int64_t count = row->count;
    int rc;

    row->count = 99;
    rc = valise_view_put(view, &stage_things, row, err);
    row->count = count;
    return rc < 0 ? rc : valise_view_put(view, &stage_things, row, err);
}

TEST(view, what_changes_nothing_is_not_in_the_entry)
{
    thing a = {VLS_STR("b"), VLS_STR("n"), 1, {NULL, 0}};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_thing, &a);      /* 1: insert */
    stage_do(&k, change_nothing, &a); /* 2 */
    stage_do(&k, drop_thing, &a);     /* 3 */
    stage_do(&k, drop_thing, &a);     /* 4: nothing there */
    stage_do(&k, put_thing, &a);      /* 5: again */
    CHECK_INT(1, listing_of(&k, 1).count);
    CHECK_INT(0, listing_of(&k, 1).from_seq);
    CHECK_INT(0, listing_of(&k, 2).count);
    CHECK_INT(1, listing_of(&k, 3).count);
    CHECK_INT(1, listing_of(&k, 3).from_seq);
    CHECK_INT(0, listing_of(&k, 4).count);
    CHECK_INT(0, listing_of(&k, 5).from_seq);
    CHECK_INT(3, listing_of(&k, 5).gone_seq);
    stage_close(&k);
}

/* ---- kinds of collections ---- */

static int put_stone(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_stones, arg, err);
}

static int put_grain(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_grains, arg, err);
}

static int put_cache(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_cache, arg, err);
}

static int drop_grain(valise_view *view, void *arg, valise_error *err)
{
    int rc = valise_view_delete(view, &stage_grains, arg, err);

    return rc < 0 ? rc : 0;
}

TEST(view, an_immutable_row_stays_as_it_is)
{
    stone s = {1, VLS_STR("first")};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_stone, &s);
    stage_do(&k, put_stone, &s); /* the same again is fine */
    s.text = VLS_STR("other");
    CHECK_RC(VALISE_E_CONFLICT, stage_command(&k, put_stone, &s, &t->err));
    CHECK_INT(2, stage_tip(&k));
    stage_close(&k);
}

static int get_grain(valise_view *view, void *arg, valise_error *err)
{
    stone s = {*(const int64_t *)arg, {NULL, 0}};

    return valise_view_get(&s, view, &stage_grains, err);
}

static int count_grains(valise_view *view, void *arg, valise_error *err)
{
    valise_scan *scan = NULL;
    stone s;
    int rc = valise_view_scan(&scan, view, &stage_grains, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&s, scan, err)) > 0)
        ++*(int *)arg;
    valise_scan_close(scan);
    return rc;
}

TEST(view, quiet_rows_exist_from_the_seq_that_made_them)
{
    stone one = {1, VLS_STR("a")}, two = {2, VLS_STR("b")};
    int64_t number = 2;
    int at_1 = 0, at_2 = 0;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_grain, &one);
    stage_do(&k, put_grain, &two);
    CHECK_INT(0, listing_of(&k, 2).count);
    CHECK_INT(0, stage_read(&k, 1, get_grain, &number, &t->err));
    CHECK_INT(1, stage_read(&k, 2, get_grain, &number, &t->err));
    CHECK_RC(0, stage_read(&k, 1, count_grains, &at_1, &t->err));
    CHECK_RC(0, stage_read(&k, -1, count_grains, &at_2, &t->err));
    CHECK_INT(1, at_1);
    CHECK_INT(2, at_2);
    CHECK_RC(VALISE_E_CONFLICT, stage_command(&k, drop_grain, &two, &t->err));
    stage_close(&k);
}

/* As an erasure does: the row without its contents, in the same place. */
static int empty_grain(valise_view *view, void *arg, valise_error *err)
{
    const vls_coll *coll = vls_store_coll(view->txn->store, &stage_grains);
    valise_cell row[] = {{.type = VALISE_CELL_INT, .as.integer = *(int64_t *)arg},
                         {.type = VALISE_CELL_TEXT, .as.bytes = VLS_STR("-")}};
    valise_cell *kept;
    int rc = vls_cells_copy(&kept, row, VLS_COUNT(row), &view->arena, err);

    return rc < 0 ? rc : vls_view_put_cells(view, coll, kept, true, err);
}

TEST(view, a_quiet_row_that_is_erased_is_there_since_the_same_seq) /* [K20] */
{
    stone one = {1, VLS_STR("a")}, two = {2, VLS_STR("b")};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_grain, &one);
    stage_do(&k, put_grain, &two);
    stage_do(&k, empty_grain, &one.number);
    CHECK_INT(1, stage_read(&k, 1, get_grain, &one.number, &t->err));
    CHECK_INT(0, stage_read(&k, 1, get_grain, &two.number, &t->err));
    stage_close(&k);
}

/* ---- a history that does not go back ---- */

/* Make entry 2 say that the row was made by an entry that is no earlier one. */
static void make_circle(stage *k, int64_t from_seq)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf changes = {0};
    vls_entry entry;
    vls_image image;
    size_t at = 0;

    vls_arena_init(&arena, t->env, 1 << 20);
    vls_buf_init(&changes, t->env, 1 << 20);
    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    CHECK_INT(1, vls_log_get(&entry, &txn, 2, &arena, &t->err));
    CHECK_INT(1, vls_changes_next(&image, &at, entry.changes, &t->err));
    image.from_seq = from_seq;
    vls_changes_write(&changes, &image);
    entry.changes = vls_buf_str(&changes);
    CHECK_OK(vls_log_rewrite(&txn, &entry, &t->err));
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

/* Otherwise whoever looks back would do so forever. */
TEST(view, a_history_in_a_circle_is_damage) /* [K32] */
{
    thing a = {VLS_STR("b"), VLS_STR("n"), 1, {NULL, 0}};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_thing, &a);
    a.count = 2;
    stage_do(&k, put_thing, &a);
    for (int64_t from = 2; from <= 3; from++) {
        make_circle(&k, from);
        CHECK_RC(VALISE_E_CORRUPT, stage_read(&k, 1, get_thing, &a, &t->err));
    }
    stage_close(&k);
}

static int hash_state(valise_view *view, void *arg, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

static valise_id state_of(stage *k, int64_t at)
{
    valise_id id = {{0}};

    CHECK_INT(0, stage_read(k, at, hash_state, &id, &k->t->err));
    return id;
}

TEST(view, derived_rows_are_not_state) /* [K5 K32] */
{
    stone c = {1, VLS_STR("x")};
    thing a = {VLS_STR("b"), VLS_STR("n"), 1, {NULL, 0}};
    valise_id empty, with_cache, with_thing, back;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    empty = state_of(&k, -1);
    stage_do(&k, put_cache, &c);
    with_cache = state_of(&k, -1);
    CHECK_INT(0, listing_of(&k, 1).count);
    CHECK(vls_id_equal(&empty, &with_cache));
    stage_do(&k, put_thing, &a);
    with_thing = state_of(&k, -1);
    CHECK(!vls_id_equal(&empty, &with_thing));
    stage_do(&k, drop_thing, &a);
    back = state_of(&k, -1);
    CHECK(vls_id_equal(&empty, &back));
    back = state_of(&k, 2);
    CHECK(vls_id_equal(&with_thing, &back));
    stage_close(&k);
}

/* ---- objects ---- */

static int hold_new(valise_view *view, void *arg, valise_error *err)
{
    holder h = {VLS_STR("h"), {{0}}};
    valise_str bytes = {NULL, 0};
    int rc = valise_view_add(&h.object, view, "note", *(const valise_str *)arg, err);

    if (rc < 0)
        return rc;
    CHECK_INT(0, valise_view_object(&bytes, view, &h.object, err));
    CHECK(vls_str_equal(*(const valise_str *)arg, bytes));
    return valise_view_put(view, &stage_holders, &h, err);
}

static int hold_missing(valise_view *view, void *arg, valise_error *err)
{
    holder h = {VLS_STR("m"), {{1, 2, 3}}};

    (void)arg;
    return valise_view_put(view, &stage_holders, &h, err);
}

static int read_held(valise_view *view, void *arg, valise_error *err)
{
    holder h = {VLS_STR("h"), {{0}}};
    valise_str bytes = {NULL, 0};

    CHECK_INT(1, valise_view_get(&h, view, &stage_holders, err));
    CHECK_INT(0, valise_view_object(&bytes, view, &h.object, err));
    CHECK(vls_str_equal(*(const valise_str *)arg, bytes));
    return 0;
}

TEST(view, a_row_can_only_refer_to_an_object_that_is_there)
{
    valise_str note = VLS_STR("remember the milk");
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, hold_new, &note);
    CHECK_RC(0, stage_read(&k, -1, read_held, &note, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, stage_command(&k, hold_missing, NULL, &t->err));
    CHECK_TEXT("holder.object", t->err.path);
    CHECK_INT(1, stage_tip(&k));
    stage_close(&k);
}

/* Some more than are looked through one by one, each twice. */
static int hold_many(valise_view *view, void *arg, valise_error *err)
{
    enum { MANY = 100 };
    valise_id ids[MANY];
    holder h = {VLS_STR("many"), {{0}}};
    int rc = 0;

    for (int i = 0; i < 2 * MANY && rc == 0; i++) {
        valise_id id;
        rc = valise_view_add(&id, view, "note", valise_str_of(test_format("%d", i % MANY)), err);
        CHECK(i < MANY || vls_id_equal(&ids[i % MANY], &id));
        ids[i % MANY] = id;
        CHECK_INT(VLS_MIN(i + 1, MANY), view->objects.len);
        CHECK_INT(view->objects.len > VLS_VIEW_FEW ? view->objects.len : 0, view->object_map.len);
    }
    for (int i = 0; i < MANY && rc == 0; i++) {
        valise_str bytes = {NULL, 0};
        rc = valise_view_object(&bytes, view, &ids[i], err);
        CHECK_STR(valise_str_of(test_format("%d", i)), bytes);
    }
    CHECK(!vls_view_find_new(view, &(valise_id){{9}}));
    h.object = ids[MANY - 1];
    *(valise_id *)arg = ids[3];
    return rc < 0 ? rc : valise_view_put(view, &stage_holders, &h, err);
}

static int read_one(valise_view *view, void *arg, valise_error *err)
{
    valise_str bytes = {NULL, 0};
    int rc = valise_view_object(&bytes, view, arg, err);

    CHECK_STR(VLS_STR("3"), bytes);
    return rc;
}

TEST(view, many_objects_of_one_command_are_found_by_id)
{
    valise_id id;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, hold_many, &id);
    CHECK_RC(0, stage_read(&k, -1, read_one, &id, &t->err));
    stage_close(&k);
}

/* ---- references inside of a list ---- */

typedef struct pile {
    valise_str name;
    valise_list objects; /* of ID */
} pile;

static const valise_field pile_item = {.type = VALISE_T_ID, .ref = "object"};
static const valise_field pile_fields[] = {
    VALISE_FIELD(pile, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD_WITH(pile, objects, LIST, 0, "What lies in it.", .more = &pile_item),
    VALISE_FIELD_END,
};
static const valise_coll piles = {.size = sizeof(valise_coll),
                                  .name = "pile",
                                  .help = "Holds several objects.",
                                  .fields = pile_fields,
                                  .row_size = sizeof(pile)};

static int pile_up(valise_view *view, void *arg, valise_error *err)
{
    pile row = {VLS_STR("p"), *(const valise_list *)arg};

    return valise_view_put(view, &piles, &row, err);
}

static int make_text(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_add(arg, view, "note", VLS_STR("in a pile"), err);
}

static int time_of_object(valise_view *view, void *arg, valise_error *err)
{
    vls_object_info info;
    int rc = vls_object_stat(&info, view->txn, arg, err);

    CHECK_INT(1, rc);
    return info.time > 1000 ? 1 : 0;
}

/* What a list names must be there too, and is renewed, so that gc sees that it is needed. */
TEST(view, a_list_can_only_refer_to_objects_that_are_there) /* [K2] */
{
    static const valise_coll *const colls[] = {&piles, NULL};
    vls_store_options options = stage_options(t, t->param, test_tmpdir());
    valise_id ids[] = {{{0}}, {{1, 2, 3}}};
    stage k = {.t = t, .now = 1};

    options.colls = colls;
    CHECK_OK(vls_store_open(&k.store, &options, &t->err));
    stage_do(&k, make_text, &ids[0]);
    CHECK_INT(0, stage_read(&k, -1, time_of_object, &ids[0], &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, stage_command(&k, pile_up, &(valise_list){ids, 2}, &t->err));
    CHECK(strstr(t->err.path, "pile"));
    k.now += 100 * VLS_OBJECT_RENEW_NS;
    stage_do(&k, pile_up, &(valise_list){ids, 1});
    CHECK_INT(1, stage_read(&k, -1, time_of_object, &ids[0], &t->err));
    stage_close(&k);
}

static int put_in_a_query(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_things, arg, err);
}

TEST(view, a_query_cannot_change_anything)
{
    thing a = {VLS_STR("b"), VLS_STR("n"), 1, {NULL, 0}};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    CHECK_RC(VALISE_E_INVALID, stage_read(&k, -1, put_in_a_query, &a, &t->err));
    stage_close(&k);
}

static int two_ids(valise_view *view, void *arg, valise_error *err)
{
    valise_uuid *ids = arg;
    int rc = valise_view_uuid(&ids[0], view, err);

    return rc < 0 ? rc : valise_view_uuid(&ids[1], view, err);
}

TEST(view, ids_are_derived_from_the_command) /* [K3 K32] */
{
    valise_uuid first[2], second[2];
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, two_ids, first);
    stage_close(&k);
    stage_open(&k, t, "memory", NULL);
    stage_do(&k, two_ids, second);
    stage_close(&k);
    CHECK(memcmp(&first[0], &first[1], sizeof(first[0])) != 0);
    CHECK(memcmp(first, second, sizeof(first)) == 0);
}

/* ---- the view without a workspace ---- */

TEST(no_workspace, reads_find_nothing)
{
    VLS_AUTO(view) valise_view view = {0};
    thing row = {VLS_STR("b"), VLS_STR("n"), 5, {NULL, 0}};
    valise_scan *scan = NULL;

    vls_view_init(&view, NULL, t->env);
    CHECK_INT(0, valise_view_get(&row, &view, &stage_things, &t->err));
    CHECK_INT(5, row.count);
    CHECK_RC(0, valise_view_scan(&scan, &view, &stage_things, NULL, &t->err));
    CHECK_INT(0, valise_scan_next(&row, scan, &t->err));
    valise_scan_close(scan);
}
