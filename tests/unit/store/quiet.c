/* quiet.c -- QUIET rows: what entries say of them, and how they go. [K7] [K20] [K30] */
#include "base/str.h"
#include "stage.h"
#include "store/erase.h"
#include "store/own.h"
#include "store/validate.h"

TEST_PARAMS(quiet, "memory", "sqlite")

static int put_bell(valise_view *view, void *arg, valise_error *err)
{
    return valise_view_put(view, &stage_bells, arg, err);
}

/* A bell whose sound is a new object. */
static int cast_bell(valise_view *view, void *arg, valise_error *err)
{
    bell *b = arg;
    int rc = valise_view_add(&b->sound, view, "note", VLS_STR("ding dong"), err);

    return rc < 0 ? rc : put_bell(view, arg, err);
}

static int drop_bell(valise_view *view, void *arg, valise_error *err)
{
    int rc = valise_view_delete(view, &stage_bells, arg, err);

    return rc < 0 ? rc : 0;
}

static int has_bell(valise_view *view, void *arg, valise_error *err)
{
    bell b = {*(const int64_t *)arg, {{0}}};

    return valise_view_get(&b, view, &stage_bells, err);
}

static int count_bells(valise_view *view, void *arg, valise_error *err)
{
    valise_scan *scan = NULL;
    bell b;
    int rc = valise_view_scan(&scan, view, &stage_bells, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&b, scan, err)) > 0)
        ++*(int *)arg;
    valise_scan_close(scan);
    return rc;
}

static int bells_at(stage *k, int64_t at)
{
    test *t = k->t;
    int count = 0;

    CHECK_RC(0, stage_read(k, at, count_bells, &count, &t->err));
    return count;
}

/* ---- what entries say ---- */

typedef struct listed {
    int64_t seq;
    int count;
    bool plain; /* all of them by their keys only */
} listed;

static int list_entry(valise_view *view, void *arg, valise_error *err)
{
    listed *l = arg;
    vls_entry entry;
    vls_image image;
    size_t at = 0;

    CHECK_INT(1, vls_log_get(&entry, view->txn, l->seq, &view->arena, err));
    l->plain = true;
    while (vls_changes_next(&image, &at, entry.changes, err) > 0) {
        l->count++;
        l->plain &= image.from_seq == 0 && image.gone_seq == 0;
    }
    return 0;
}

static int listed_in(stage *k, int64_t seq)
{
    test *t = k->t;
    listed l = {.seq = seq};

    CHECK_RC(0, stage_read(k, -1, list_entry, &l, &t->err));
    CHECK(l.plain);
    return l.count;
}

static int count_gone(valise_view *view, void *arg, valise_error *err)
{
    const vls_coll *coll = vls_store_coll_at(view->txn->store, VLS_TABLE_GONE);
    VLS_AUTO(txn_scan) vls_txn_scan scan = {0};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_txn_scan_open(&scan, view->txn, coll, (valise_range){.index = -1}, err);

    while (rc >= 0 && (rc = vls_txn_scan_next(cells, &scan, err)) > 0)
        ++*(int *)arg;
    return rc;
}

static int note(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg, (void)err;
    test_fail(__FILE__, __LINE__, "%s: %s", finding->place, finding->problem);
}

static void is_sound(stage *k)
{
    test *t = k->t;
    vls_validation found;
    vls_progress p;

    vls_progress_init(&p, t->env, NULL);
    CHECK_RC(0, vls_validate(&found, k->store, &p, note, NULL, &t->err));
    CHECK_INT(0, found.problems);
}

TEST(quiet, a_row_that_makes_an_event_is_listed_by_its_key) /* [K14] */
{
    bell one = {1, {{0}}}, two = {2, {{0}}};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_bell, &one);
    stage_do(&k, put_bell, &two);
    CHECK_INT(1, listed_in(&k, 1));
    CHECK_INT(1, listed_in(&k, 2));
    stage_do(&k, put_bell, &two); /* the same again is nothing */
    CHECK_INT(0, listed_in(&k, 3));

    /* The past goes on to be told by the rows. */
    CHECK_INT(1, stage_read(&k, 1, has_bell, &one.number, &t->err));
    CHECK_INT(0, stage_read(&k, 1, has_bell, &two.number, &t->err));
    CHECK_INT(1, bells_at(&k, 1));
    CHECK_INT(2, bells_at(&k, 2));
    is_sound(&k);
    stage_close(&k);
}

/* ---- expiry ---- */

TEST(quiet, an_internal_command_can_let_go_of_rows) /* [K30] */
{
    bell one = {1, {{0}}}, two = {2, {{0}}};
    int gone = 0;
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_bell, &one);
    stage_do(&k, put_bell, &two);
    CHECK_RC(VALISE_E_CONFLICT, stage_command(&k, drop_bell, &one, &t->err));
    CHECK_RC(0, stage_internal(&k, drop_bell, &one, &t->err)); /* 3 */
    CHECK_INT(0, listed_in(&k, 3));
    CHECK_RC(0, stage_read(&k, -1, count_gone, &gone, &t->err));
    CHECK_INT(0, gone);

    /* It is gone from all states. */
    CHECK_INT(0, stage_read(&k, -1, has_bell, &one.number, &t->err));
    CHECK_INT(0, stage_read(&k, 1, has_bell, &one.number, &t->err));
    CHECK_INT(0, bells_at(&k, 1));
    CHECK_INT(1, bells_at(&k, 2));
    CHECK_INT(1, bells_at(&k, -1));
    is_sound(&k);

    /* What comes under the same key is a new row. */
    stage_do(&k, put_bell, &one); /* 4 */
    CHECK_INT(1, listed_in(&k, 4));
    CHECK_INT(0, stage_read(&k, 3, has_bell, &one.number, &t->err));
    CHECK_INT(1, stage_read(&k, 4, has_bell, &one.number, &t->err));
    is_sound(&k);
    stage_close(&k);
}

/* ---- erasure ---- */

typedef struct erasing {
    int64_t number;
    vls_erase_place place;
    vls_erased erased;
} erasing;

static int decide_erase(valise_view *view, void *arg, valise_error *err)
{
    erasing *e = arg;
    const vls_coll *coll = vls_store_coll(view->txn->store, &stage_bells);
    const valise_cell key = {.type = VALISE_CELL_INT, .as.integer = e->number};

    return vls_erase_decide(&e->place, view, coll, &key, NULL, err);
}

/* As the kernel does: the command, and what it rewrites, in one transaction. */
static void erase_bell(stage *k, erasing *e)
{
    test *t = k->t;
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    vls_entry entry = {.time = k->now++,
                       .id = {{9}},
                       .actor = VLS_STR("tester"),
                       .type = VLS_STR(VLS_ERASURE_TYPE),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};

    CHECK_OK(vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, &t->err));
    vls_view_init(&view, &txn, t->env);
    view.changing = true;
    view.stamp.seq = txn.tip.seq + 1;
    view.stamp.time = entry.time;
    CHECK_OK(decide_erase(&view, e, &t->err));
    CHECK_OK(vls_view_apply(&entry, &view, &t->err));
    CHECK_OK(vls_erase_apply(&e->erased, &txn, entry.seq,
                             &(vls_erase_what){.places = &e->place, .count = 1}, &t->err));
    vls_view_release(&view);
    CHECK_OK(vls_txn_commit(&txn, &t->err));
}

static int sound_is(valise_view *view, void *arg, valise_error *err)
{
    vls_object_info info;

    CHECK_INT(1, vls_object_stat(&info, view->txn, arg, err));
    return info.erased ? 0 : 1;
}

TEST(quiet, an_erased_row_stays_and_its_object_goes) /* [K20] */
{
    bell one = {1, {{0}}}, two = {2, {{0}}};
    erasing e = {.number = 1};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, cast_bell, &one); /* 1 */
    stage_do(&k, put_bell, &two);  /* 2 */
    erase_bell(&k, &e);            /* 3 */
    CHECK_INT(1, e.erased.entries);
    CHECK_INT(1, e.erased.objects);
    CHECK_INT(0, stage_read(&k, -1, sound_is, &one.sound, &t->err));
    CHECK_INT(0, listed_in(&k, 3));
    CHECK_INT(1, stage_read(&k, 1, has_bell, &one.number, &t->err));
    CHECK_INT(1, bells_at(&k, 1));
    is_sound(&k);
    stage_close(&k);
}

TEST(quiet, an_object_that_another_row_holds_is_not_erased) /* [K20] */
{
    bell one = {1, {{0}}}, two = {2, {{0}}};
    erasing e = {.number = 1};
    stage k;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, cast_bell, &one);
    two.sound = one.sound;
    stage_do(&k, put_bell, &two);
    erase_bell(&k, &e);
    CHECK_INT(0, e.erased.objects);
    CHECK_INT(1, stage_read(&k, -1, sound_is, &one.sound, &t->err));
    is_sound(&k);
    stage_close(&k);
}
