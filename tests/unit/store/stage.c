/* stage.c -- see stage.h. */
#include "stage.h"

static const valise_field thing_fields[] = {
    VALISE_FIELD(thing, bag, STR, VALISE_REQUIRED | VALISE_KEY, "The bag it is in."),
    VALISE_FIELD(thing, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD(thing, count, INT, 0, "How many."),
    VALISE_FIELD(thing, label, STR, VALISE_NULLABLE | VALISE_CONTENT, "What is written on it."),
    VALISE_FIELD_END,
};
static const char *const by_label[] = {"label", NULL};
static const valise_coll_index thing_indexes[] = {{"label", by_label}, {NULL, NULL}};

const valise_coll stage_things = {.size = sizeof(valise_coll),
                                  .name = "thing",
                                  .help = "A thing.",
                                  .fields = thing_fields,
                                  .row_size = sizeof(thing),
                                  .indexes = thing_indexes};

static const valise_field stone_fields[] = {
    VALISE_FIELD(stone, number, INT, VALISE_REQUIRED | VALISE_KEY, "Its number."),
    VALISE_FIELD(stone, text, STR, 0, "What is carved into it."),
    VALISE_FIELD_END,
};

const valise_coll stage_stones = {.size = sizeof(valise_coll),
                                  .name = "stone",
                                  .help = "A stone.",
                                  .fields = stone_fields,
                                  .row_size = sizeof(stone),
                                  .flags = VALISE_COLL_IMMUTABLE};
const valise_coll stage_grains = {.size = sizeof(valise_coll),
                                  .name = "grain",
                                  .help = "A grain.",
                                  .fields = stone_fields,
                                  .row_size = sizeof(stone),
                                  .flags = VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET};
const valise_coll stage_cache = {.size = sizeof(valise_coll),
                                 .name = "cache",
                                 .help = "Something derived.",
                                 .fields = stone_fields,
                                 .row_size = sizeof(stone),
                                 .flags = VALISE_COLL_EXEMPT};

static const valise_field bell_fields[] = {
    VALISE_FIELD(bell, number, INT, VALISE_REQUIRED | VALISE_KEY, "Its number."),
    VALISE_FIELD_WITH(bell, sound, ID, VALISE_NULLABLE | VALISE_CONTENT, "How it sounds.",
                      .ref = "object"),
    VALISE_FIELD_END,
};

static int ring(valise_event *out, valise_view *view, const void *before, const void *after,
                valise_error *err)
{
    (void)view, (void)before, (void)after, (void)err;
    out->type = VLS_STR("BELL");
    return 1;
}

const valise_coll stage_bells = {.size = sizeof(valise_coll),
                                 .name = "bell",
                                 .help = "A bell.",
                                 .fields = bell_fields,
                                 .row_size = sizeof(bell),
                                 .flags = VALISE_COLL_IMMUTABLE | VALISE_COLL_QUIET,
                                 .event = ring};

static const valise_field holder_fields[] = {
    VALISE_FIELD(holder, name, STR, VALISE_REQUIRED | VALISE_KEY, "Its name."),
    VALISE_FIELD_WITH(holder, object, ID, VALISE_NULLABLE, "What it holds.", .ref = "object"),
    VALISE_FIELD_END,
};

const valise_coll stage_holders = {.size = sizeof(valise_coll),
                                   .name = "holder",
                                   .help = "Holds an object.",
                                   .fields = holder_fields,
                                   .row_size = sizeof(holder)};

static const valise_coll *const stage_colls[] = {
    &stage_things, &stage_stones, &stage_grains, &stage_cache, &stage_holders, &stage_bells, NULL};

vls_store_options stage_options(const test *t, const char *param, const char *dir)
{
    bool sqlite = strcmp(param, "sqlite") == 0;

    return (vls_store_options){.env = t->env,
                               .ops = sqlite ? valise_store_sqlite() : valise_store_memory(),
                               .where = dir,
                               .flags = VALISE_STORE_CREATE,
                               .busy_timeout_ns = INT64_C(10000000000),
                               .colls = stage_colls};
}

void stage_open(stage *k, test *t, const char *param, const char *dir)
{
    vls_store_options options = stage_options(t, param, dir);

    *k = (stage){.t = t, .now = 1000};
    CHECK_RC(0, vls_store_open(&k->store, &options, &t->err));
}

void stage_close(stage *k)
{
    vls_store_close(k->store);
    k->store = NULL;
}

static int run(stage *k, vls_txn *txn, bool internal, stage_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(view) valise_view view = {0};
    vls_entry entry = {.actor = VLS_STR("tester"),
                       .type = VLS_STR("stage:command"),
                       .nonce = VLS_STR("0123456789abcdef"),
                       .payload = VLS_STR("{}"),
                       .result = VLS_STR("{}")};
    int rc;

    vls_view_init(&view, txn, k->t->env);
    view.changing = true;
    view.expiring = internal;
    view.stamp.seq = txn->tip.seq + 1;
    view.stamp.time = entry.time = k->now++;
    view.stamp.actor = entry.actor;
    for (int i = 0; i < 8; i++)
        entry.id.bytes[i] = (uint8_t)((uint64_t)view.stamp.seq >> (56 - 8 * i));
    view.stamp.command = entry.id;
    rc = fn(&view, arg, err);
    return rc < 0 ? rc : vls_view_apply(&entry, &view, err);
}

static int command(stage *k, bool internal, stage_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    int rc = vls_txn_begin(&txn, k->store, VALISE_TXN_WRITE, err);

    if (rc == 0)
        rc = run(k, &txn, internal, fn, arg, err);
    return rc < 0 ? rc : vls_txn_commit(&txn, err);
}

int stage_command(stage *k, stage_fn *fn, void *arg, valise_error *err)
{
    return command(k, false, fn, arg, err);
}

int stage_internal(stage *k, stage_fn *fn, void *arg, valise_error *err)
{
    return command(k, true, fn, arg, err);
}

void stage_do(stage *k, stage_fn *fn, void *arg)
{
    test *t = k->t;

    CHECK_RC(0, stage_command(k, fn, arg, &t->err));
}

int stage_read(stage *k, int64_t at, stage_fn *fn, void *arg, valise_error *err)
{
    VLS_AUTO(txn) vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    int rc = vls_txn_begin(&txn, k->store, VALISE_TXN_READ, err);

    if (rc < 0)
        return rc;
    vls_view_init(&view, &txn, k->t->env);
    if (at >= 0)
        rc = vls_view_go_to(&view, at, err);
    if (rc == 0)
        rc = fn(&view, arg, err);
    vls_view_release(&view); /* before its transaction ends */
    return rc;
}

static int read_tip(valise_view *view, void *arg, valise_error *err)
{
    (void)err;
    *(int64_t *)arg = view->txn->tip.seq;
    return 0;
}

int64_t stage_tip(stage *k)
{
    int64_t tip = -1;
    test *t = k->t;

    CHECK_RC(0, stage_read(k, -1, read_tip, &tip, &t->err));
    return tip;
}
