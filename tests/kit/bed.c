/* bed.c -- see bed.h. */
#include "kit/bed.h"

#include "backpack/backpack.h"
#include "kernel/kernel.h"
#include "store/validate.h"

/* Those of backpacks, and the pins, which their history looks at. */
void bed_open(bed *b, test *t, const char *param)
{
    const valise_coll *const *own = vls_area_backpack.collections;
    const valise_coll *colls[32] = {&vls_pins};
    size_t count = 1;

    for (; *own; own++) {
        CHECK(count + 1 < VLS_COUNT(colls));
        colls[count++] = *own;
    }
    bed_open_with(b, t, param, colls);
}

void bed_open_with(bed *b, test *t, const char *param, const valise_coll *const *colls)
{
    bool sqlite = strcmp(param, "sqlite") == 0;
    vls_store_options options = {.env = t->env,
                                 .ops = sqlite ? valise_store_sqlite() : valise_store_memory(),
                                 .where = test_tmpdir(),
                                 .flags = VALISE_STORE_CREATE,
                                 .busy_timeout_ns = INT64_C(10000000000),
                                 .colls = colls};

    *b = (bed){.t = t, .now = 1000};
    CHECK_OK(vls_store_open(&b->store, &options, &t->err));
}

void bed_close(bed *b)
{
    vls_store_close(b->store);
    b->store = NULL;
}

void bed_begin(bed *b, bool writing)
{
    test *t = b->t;

    b->writing = writing;
    CHECK_OK(
        vls_txn_begin(&b->txn, b->store, writing ? VALISE_TXN_WRITE : VALISE_TXN_READ, &t->err));
    vls_view_init(&b->view, &b->txn, t->env);
    if (!writing)
        return;
    b->view.changing = true;
    b->view.stamp =
        (valise_stamp){.seq = b->txn.tip.seq + 1,
                       .time = b->now++,
                       .command = {{(uint8_t)(b->txn.tip.seq >> 8), (uint8_t)b->txn.tip.seq, 1}},
                       .actor = VLS_STR("tester")};
}

void bed_internal(bed *b)
{
    bed_begin(b, true);
    b->view.expiring = true;
}

void bed_look(bed *b, int64_t at)
{
    test *t = b->t;

    bed_begin(b, false);
    if (at >= 0)
        CHECK_OK(vls_view_go_to(&b->view, at, &t->err));
}

void bed_end(bed *b)
{
    test *t = b->t;
    vls_entry entry = {.id = b->view.stamp.command,
                       .time = b->view.stamp.time,
                       .actor = VLS_STR("tester"),
                       .type = VLS_STR("bed:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};

    if (b->writing)
        CHECK_OK(vls_view_apply(&entry, &b->view, &t->err));
    vls_view_release(&b->view);
    if (b->writing)
        CHECK_OK(vls_txn_commit(&b->txn, &t->err));
    vls_txn_rollback(&b->txn);
}

vls_bag_row bed_make(bed *b, const char *name)
{
    test *t = b->t;
    vls_bag_row row = {.name = valise_str_of(name)};

    bed_begin(b, true);
    CHECK_OK(vls_rows_make(&row, &b->view, &t->err));
    row.actor = VLS_STR("tester");
    bed_end(b);
    return row;
}

valise_blob *bed_value(bed *b, valise_commit *commit, const char *json)
{
    test *t = b->t;
    valise_blob *blob = NULL;

    if (!json)
        return NULL;
    CHECK_OK(vls_object_id(&commit->value, "value", valise_str_of(json), &t->err));
    CHECK_OK(vls_blob_new(&blob, t->env, valise_str_of(json), &t->err));
    commit->value_size = (int64_t)strlen(json);
    return blob;
}

void bed_pack(bed *b, const vls_ledger *ledger, const char *key, const char *value,
              const char *space)
{
    test *t = b->t;
    valise_commit commit = {.time = b->view.stamp.time,
                            .key = valise_str_of(key),
                            .node_id = VLS_STR("n"),
                            .node_name = VLS_STR("N"),
                            .version = 1,
                            .action = value ? VALISE_ACTION_PACK : VALISE_ACTION_DELETE};
    valise_blob *blob = bed_value(b, &commit, value);

    if (space)
        commit.namespace_name = valise_str_of(space);
    ledger->ops->enter(ledger->self);
    CHECK_OK(ledger->ops->append(ledger->self, &commit, blob, &t->err));
    ledger->ops->leave(ledger->self);
    valise_blob_unref(blob);
}

static int fail(void *arg, const vls_finding *finding, valise_error *err)
{
    (void)arg, (void)err;
    test_fail(__FILE__, __LINE__, "%s: %s", finding->place, finding->problem);
}

void bed_check(bed *b)
{
    test *t = b->t;
    vls_validation found;
    vls_progress p;

    vls_progress_init(&p, t->env, NULL);
    CHECK_OK(vls_validate(&found, b->store, &p, fail, NULL, &t->err));
    CHECK_INT(0, found.problems);
}
