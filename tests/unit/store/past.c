/* past.c -- a model: random commands on rows, and every earlier state looked at again.
 *
 * The model is a list of states, one per seq. [K35 K32 Q21] */
#include "base/str.h"
#include "harness/model.h"
#include "stage.h"

#define BAGS 3
#define NAMES 6
#define STATES 64

typedef struct cell {
    bool there;
    int64_t count;
    int label; /* 0: none */
} cell;

typedef struct state {
    cell cells[BAGS][NAMES];
} state;

typedef struct world {
    stage k;
    const char *param, *dir;
    state states[STATES + 1]; /* by seq */
    int64_t tip;
    state next; /* what the running command does */
} world;

static valise_str name_of(const char *letters, uint64_t i)
{
    return vls_str(letters + 2 * i, 1 + i % 2); /* some names begin like others */
}

static const char bag_letters[] = "aabbcc", name_letters[] = "xxyyzzuuvvww", labels[] = "ppqqrr";

static thing thing_of(int bag, int name, const cell *c)
{
    thing row = {
        name_of(bag_letters, (uint64_t)bag), name_of(name_letters, (uint64_t)name), 0, {NULL, 0}};

    if (c) {
        row.count = c->count;
        if (c->label)
            row.label = name_of(labels, (uint64_t)c->label - 1);
    }
    return row;
}

/* ---- looking ---- */

typedef struct found {
    thing rows[BAGS * NAMES];
    size_t count;
} found;

static int compare_keys(const thing *a, const thing *b)
{
    int side = vls_str_compare(a->bag, b->bag);

    return side ? side : vls_str_compare(a->name, b->name);
}

static int compare_labels(const thing *a, const thing *b)
{
    if (!a->label.ptr || !b->label.ptr) {
        if (a->label.ptr || b->label.ptr)
            return a->label.ptr ? 1 : -1;
        return compare_keys(a, b);
    }
    int side = vls_str_compare(a->label, b->label);
    return side ? side : compare_keys(a, b);
}

typedef int order(const thing *a, const thing *b);

static void expect_rows(found *out, const state *s, order *compare, bool reverse)
{
    out->count = 0;
    for (int b = 0; b < BAGS; b++) {
        for (int n = 0; n < NAMES; n++) {
            thing row = thing_of(b, n, &s->cells[b][n]);
            size_t at = out->count;
            if (!s->cells[b][n].there)
                continue;
            while (at > 0 && (compare(&out->rows[at - 1], &row) > 0) != reverse) {
                out->rows[at] = out->rows[at - 1];
                at--;
            }
            out->rows[at] = row;
            out->count++;
        }
    }
}

static void check_scan(valise_view *view, const state *s, const char *index, bool reverse)
{
    valise_select select = {.index = index, .flags = reverse ? VALISE_SCAN_REVERSE : 0};
    valise_error err = VALISE_ERROR_INIT;
    valise_scan *scan = NULL;
    found expected;
    thing row;

    expect_rows(&expected, s, index ? compare_labels : compare_keys, reverse);
    CHECK_INT(0, valise_view_scan(&scan, view, &stage_things, &select, &err));
    for (size_t i = 0; i < expected.count; i++) {
        CHECK_INT(1, valise_scan_next(&row, scan, &err));
        CHECK(compare_keys(&expected.rows[i], &row) == 0);
        CHECK(compare_labels(&expected.rows[i], &row) == 0);
        CHECK_INT(expected.rows[i].count, row.count);
    }
    CHECK_INT(0, valise_scan_next(&row, scan, &err));
    valise_scan_close(scan);
}

/* From each key on, behind it, downwards, and within each bag. */
static void check_ranges(valise_view *view, const state *s)
{
    valise_error err = VALISE_ERROR_INIT;

    for (unsigned flags = 0; flags < 4; flags++) {
        for (int b = 0; b < BAGS; b++) {
            thing from = thing_of(b, NAMES / 2, NULL), row;
            valise_select select = {.row = &from, .equal = 1, .from = 1, .flags = flags};
            bool reverse = flags & VALISE_SCAN_REVERSE, after = flags & VALISE_SCAN_AFTER;
            valise_scan *scan = NULL;
            found expected;
            expect_rows(&expected, s, compare_keys, reverse);
            CHECK_INT(0, valise_view_scan(&scan, view, &stage_things, &select, &err));
            for (size_t i = 0; i < expected.count; i++) {
                int side = compare_keys(&expected.rows[i], &from);
                if (!vls_str_equal(expected.rows[i].bag, from.bag) ||
                    (reverse ? side > 0 : side < 0) || (side == 0 && after))
                    continue;
                CHECK_INT(1, valise_scan_next(&row, scan, &err));
                CHECK(compare_keys(&expected.rows[i], &row) == 0);
            }
            CHECK_INT(0, valise_scan_next(&row, scan, &err));
            valise_scan_close(scan);
        }
    }
}

static void check_gets(valise_view *view, const state *s)
{
    valise_error err = VALISE_ERROR_INIT;

    for (int b = 0; b < BAGS; b++) {
        for (int n = 0; n < NAMES; n++) {
            const cell *c = &s->cells[b][n];
            thing row = thing_of(b, n, NULL), expected = thing_of(b, n, c);
            CHECK_INT(c->there, valise_view_get(&row, view, &stage_things, &err));
            if (c->there) {
                CHECK_INT(c->count, row.count);
                CHECK(compare_labels(&expected, &row) == 0);
            }
        }
    }
}

static int look(valise_view *view, void *arg, valise_error *err)
{
    const state *s = arg;

    (void)err;
    check_gets(view, s);
    check_scan(view, s, NULL, false);
    check_scan(view, s, NULL, true);
    check_scan(view, s, "label", false);
    check_scan(view, s, "label", true);
    check_ranges(view, s);
    check_gets(view, s); /* now from the overlay */
    return 0;
}

static void look_at_all(void *arg)
{
    world *w = arg;

    for (int64_t seq = 0; seq <= w->tip; seq++)
        CHECK_INT(0, stage_read(&w->k, seq, look, &w->states[seq], &w->k.t->err));
}

/* ---- commands ---- */

typedef struct plan {
    world *w;
    model_args *a;
} plan;

static int change_some(valise_view *view, void *arg, valise_error *err)
{
    plan *p = arg;
    world *w = p->w;
    uint64_t changes = 1 + model_below(p->a, "changes", 3);

    for (uint64_t i = 0; i < changes && i < 2; i++) {
        int b = (int)model_below(p->a, "bag", BAGS), n = (int)model_below(p->a, "name", NAMES);
        uint64_t what = model_below(p->a, "what", 4);
        cell *c = &w->next.cells[b][n];
        thing row;
        int rc;
        if (what == 0) {
            row = thing_of(b, n, NULL);
            rc = valise_view_delete(view, &stage_things, &row, err);
            CHECK_INT(c->there, rc);
            *c = (cell){0};
        } else {
            *c = (cell){true, w->tip, (int)what - 1};
            row = thing_of(b, n, c);
            CHECK_INT(0, valise_view_put(view, &stage_things, &row, err));
        }
    }
    return look(view, &w->next, err);
}

static void op_change(void *arg, model_args *a)
{
    world *w = arg;
    plan p = {w, a};

    if (w->tip == STATES)
        return;
    w->next = w->states[w->tip];
    stage_do(&w->k, change_some, &p);
    w->states[++w->tip] = w->next;
}

static int change_and_fail(valise_view *view, void *arg, valise_error *err)
{
    (void)change_some(view, arg, err);
    return VALISE_E_CANCELLED;
}

static void op_fail(void *arg, model_args *a)
{
    world *w = arg;
    plan p = {w, a};

    w->next = w->states[w->tip];
    CHECK_INT(VALISE_E_CANCELLED, stage_command(&w->k, change_and_fail, &p, &w->k.t->err));
}

static void op_reopen(void *arg, model_args *a)
{
    world *w = arg;
    int64_t now = w->k.now;

    (void)a;
    if (strcmp(w->param, "memory") == 0)
        return;
    stage_close(&w->k);
    stage_open(&w->k, w->k.t, w->param, w->dir);
    w->k.now = now;
}

static void op_look(void *arg, model_args *a)
{
    (void)a;
    look_at_all(arg);
}

static void *start(test *t, const char *dir)
{
    world *w = test_alloc(sizeof(*w));

    w->param = t->param;
    w->dir = dir;
    stage_open(&w->k, t, t->param, dir);
    return w;
}

static void stop(void *arg)
{
    world *w = arg;

    look_at_all(w);
    stage_close(&w->k);
}

TEST_PARAMS(past, "memory", "sqlite")

TEST(past, every_earlier_state_is_seen_as_it_was)
{
    static const model m = {
        .start = start,
        .stop = stop,
        .wants_dir = true,
        .runs = 25,
        .steps = 40,
        .ops = {{"change", 8, op_change},
                {"fail", 2, op_fail},
                {"reopen", 1, op_reopen},
                {"look", 1, op_look}},
    };

    model_test(t, &m);
}
