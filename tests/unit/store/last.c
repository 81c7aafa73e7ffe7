/* last.c -- the last row of a selection is what a scan backwards would find. [K10 K11] */
#include "base/str.h"
#include "stage.h"

TEST_PARAMS(last, "memory", "sqlite")

typedef struct walk {
    stage k, other; /* two handles on one store */
    test_rng rng;
    char large[2000];
    size_t found, none;
} walk;

static thing any_thing(walk *w)
{
    static const char *const bags[] = {"a", "b", "c"}, *const labels[] = {"", "red", "green"};
    static const char *const names[] = {"0", "1", "2", "3", "4", "5"};
    thing row = {.bag = valise_str_of(bags[test_random_below(&w->rng, 3)]),
                 .name = valise_str_of(names[test_random_below(&w->rng, 6)]),
                 .count = (int64_t)test_random_below(&w->rng, 1000)};
    uint64_t label = test_random_below(&w->rng, 8);

    if (label < 6)
        row.label = valise_str_of(labels[label % 3]);
    else if (label == 6) /* too large to be remembered */
        row.label = vls_str(w->large, sizeof(w->large));
    return row;
}

/* Which command made the row that a scan backwards finds; 0: this one. */
static int64_t scan_seq(valise_view *view, valise_select select)
{
    const valise_cell *cells = NULL;
    valise_scan *scan = NULL;
    int64_t from_seq = -1;

    select.flags |= VALISE_SCAN_REVERSE;
    CHECK_INT(0, valise_view_scan(&scan, view, &stage_things, &select, NULL));
    CHECK_INT(1, vls_scan_next_cells(&cells, &from_seq, scan, NULL));
    valise_scan_close(scan);
    return from_seq;
}

static int scan_back(thing *out, char room[8], valise_view *view, valise_select select,
                     valise_error *err)
{
    valise_scan *scan = NULL;
    int rc;

    select.flags |= VALISE_SCAN_REVERSE;
    rc = valise_view_scan(&scan, view, &stage_things, &select, err);
    if (rc == 0)
        rc = valise_scan_next(out, scan, err);
    if (rc > 0)
        (void)snprintf(room, 8, "%.*s%.*s", VALISE_STR_ARG(out->bag), VALISE_STR_ARG(out->name));
    valise_scan_close(scan);
    return rc;
}

static void ask(walk *w, valise_view *view, valise_select select)
{
    test *t = w->k.t;
    valise_cell cells[VALISE_MAX_COLUMNS];
    char room[8] = "", key[8];
    thing row = {0};
    int64_t from_seq = -1;
    int there = scan_back(&row, room, view, select, &t->err);

    CHECK(there >= 0);
    CHECK_RC(there, vls_view_last(cells, &from_seq, view, &stage_things, &select, &t->err));
    w->found += there > 0;
    w->none += there == 0;
    if (there == 0)
        return;
    (void)snprintf(key, sizeof(key), "%.*s%.*s", VALISE_STR_ARG(cells[0].as.bytes),
                   VALISE_STR_ARG(cells[1].as.bytes));
    CHECK_STR(valise_str_of(room), valise_str_of(key));
    CHECK_INT(row.count, cells[2].as.integer);
    CHECK_INT(scan_seq(view, select), from_seq);
}

static void ask_any(walk *w, valise_view *view)
{
    thing probe = any_thing(w);
    unsigned below = test_random_below(&w->rng, 4) == 0 ? VLS_SCAN_BELOW : 0;
    const valise_select selects[] = {
        {.flags = below},
        {.row = &probe, .equal = 1, .flags = below},
        {.row = &probe, .equal = 2, .flags = below},
        {.index = "label", .flags = below},
        {.index = "label", .row = &probe, .equal = 1, .flags = below},
        {.index = "label", .row = &probe, .equal = 2, .flags = below},
    };

    ask(w, view, selects[test_random_below(&w->rng, VLS_COUNT(selects))]);
}

static int change(valise_view *view, void *arg, valise_error *err)
{
    walk *w = arg;
    uint64_t count = test_random_below(&w->rng, 4);

    for (uint64_t i = 0; i < count; i++) {
        thing row = any_thing(w);
        int rc;
        ask_any(w, view);
        rc = test_random_below(&w->rng, 3) == 0 ? valise_view_delete(view, &stage_things, &row, err)
                                                : valise_view_put(view, &stage_things, &row, err);
        if (rc < 0)
            return rc;
        ask_any(w, view);
    }
    ask_any(w, view);
    return test_random_below(&w->rng, 8) == 0 ? VALISE_E_CANCELLED : 0;
}

TEST(last, is_what_a_scan_would_find)
{
    bool shared = strcmp(t->param, "sqlite") == 0;
    walk w = {.found = 0};

    w.rng = test_rng_new(test_seed());
    memset(w.large, 'x', sizeof(w.large));
    stage_open(&w.k, t, t->param, test_tmpdir());
    if (shared)
        stage_open(&w.other, t, t->param, test_tmpdir());
    for (int i = 0; i < 600; i++) {
        bool other = shared && test_random_below(&w.rng, 20) == 0;
        stage *k = other ? &w.other : &w.k;
        int rc;
        w.k.now = w.other.now = VLS_MAX(w.k.now, w.other.now); /* one clock */
        rc = stage_command(k, change, &w, &t->err);
        CHECK(rc == 0 || rc == VALISE_E_CANCELLED);
    }
    CHECK(w.found > 500 && w.none > 50);
    if (shared)
        stage_close(&w.other);
    stage_close(&w.k);
}

/* ---- the past, and no workspace ---- */

static int put_one(valise_view *view, void *arg, valise_error *err)
{
    const thing row = {VLS_STR("b"), valise_str_of(arg), 1, {NULL, 0}};

    return valise_view_put(view, &stage_things, &row, err);
}

static int see_last(valise_view *view, void *arg, valise_error *err)
{
    const thing probe = {.bag = VLS_STR("b")};
    const valise_select select = {.row = &probe, .equal = 1};
    valise_cell cells[VALISE_MAX_COLUMNS];
    int rc = vls_view_last(cells, NULL, view, &stage_things, &select, err);

    *(char *)arg = rc > 0 ? cells[1].as.bytes.ptr[0] : '-';
    return rc < 0 ? rc : 0;
}

TEST(last, of_an_earlier_state)
{
    char one[] = "1", two[] = "2", seen = ' ';
    stage k;
    int64_t first;

    stage_open(&k, t, t->param, test_tmpdir());
    stage_do(&k, put_one, one);
    first = stage_tip(&k);
    stage_do(&k, put_one, two);
    CHECK_OK(stage_read(&k, -1, see_last, &seen, &t->err));
    CHECK_INT('2', seen);
    CHECK_OK(stage_read(&k, first, see_last, &seen, &t->err));
    CHECK_INT('1', seen);
    CHECK_OK(stage_read(&k, first - 1, see_last, &seen, &t->err));
    CHECK_INT('-', seen);
    stage_close(&k);
}

TEST(last, without_a_workspace_there_is_none)
{
    VLS_AUTO(view) valise_view view = {0};
    char seen = ' ';

    vls_view_init(&view, NULL, t->env);
    CHECK_OK(see_last(&view, &seen, &t->err));
    CHECK_INT('-', seen);
}
