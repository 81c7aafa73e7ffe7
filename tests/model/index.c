/* index.c -- memory indexes agree with the rows after whatever happened: commands, batches, what
 * was refused, other handles, erasures, and copies that follow by patches. [K16] [K11] */
#include "kit/feed.h"

#include "harness/model.h"
#include "json/patch.h"

#define NAMES 12

typedef struct plot {
    test *t;
    garden a, b; /* two handles on one workspace */
    vls_arena arena;
    vls_json copy; /* of `kinds`, kept by patches */
    int64_t copy_seq;
    valise_subscription *s;
} plot;

static int apply(void *arg, int64_t seq, valise_str text, valise_error *err)
{
    plot *p = arg;
    vls_json patch;
    valise_str kept;

    CHECK(seq > p->copy_seq || p->copy_seq == 0);
    p->copy_seq = seq;
    CHECK_INT(0, vls_arena_dup(&kept, &p->arena, text, err));
    CHECK_INT(0, vls_json_parse(&patch, &p->arena, kept, NULL, err));
    CHECK_INT(0, vls_json_patch(&p->copy, &p->arena, p->copy, patch, NULL, err));
    return 0;
}

static void *start(test *t, const char *dir)
{
    plot *p = test_alloc(sizeof(*p));
    garden_options o = {.env = t->env, .backend = "sqlite", .dir = dir};

    p->t = t;
    vls_arena_init(&p->arena, t->env, (size_t)1 << 28);
    CHECK_OK(garden_try_open(&p->a, &o, &t->err));
    CHECK_OK(garden_try_open(&p->b, &o, &t->err));
    p->a.t = p->b.t = t;
    CHECK_OK(valise_index_subscribe(&p->s, p->a.v, "kinds", apply, p, &t->err));
    return p;
}

/* ---- commands ---- */

static const char *draw_put(model_args *a)
{
    static const char *const kinds[] = {"k", "l", "m", ""};
    unsigned name = (unsigned)model_below(a, "name", NAMES);
    const char *kind = kinds[model_below(a, "kind", 4)];
    int size = (int)model_below(a, "size", 4) - 1;
    const char *label = model_below(a, "label", 4) == 0 ? ",\"label\":\"secret\"" : "";

    return test_format("{\"name\":\"p%u\",\"kind\":\"%s\",\"size\":%d%s}", name, kind, size, label);
}

static garden *draw_handle(plot *p, model_args *a)
{
    return model_below(a, "other", 3) == 0 ? &p->b : &p->a;
}

static void op_put(void *state, model_args *a)
{
    plot *p = state;
    garden *g = draw_handle(p, a);

    garden_run(g, "plant:put", "%s", draw_put(a));
}

static void op_drop(void *state, model_args *a)
{
    plot *p = state;
    garden *g = draw_handle(p, a);

    garden_run(g, "plant:drop", "{\"name\":\"p%u\"}", (unsigned)model_below(a, "name", NAMES));
}

static void op_refused(void *state, model_args *a)
{
    plot *p = state;
    valise_error err = VALISE_ERROR_INIT;
    const char *payload =
        test_format("{\"name\":\"p%u\"}", (unsigned)model_below(a, "name", NAMES));

    CHECK_INT(VALISE_E_CONFLICT, valise_dispatch(NULL, p->a.v, "plant:fail", payload, NULL, &err));
}

static void op_batch(void *state, model_args *a)
{
    plot *p = state;
    test *t = p->t;
    garden *g = draw_handle(p, a);
    bool refused = model_below(a, "refused", 3) == 0;
    const char *first = draw_put(a);
    unsigned name = (unsigned)model_below(a, "last", NAMES);
    const char *last = test_format("{\"name\":\"p%u\"}", name);
    valise_command commands[] = {
        {VLS_STR("plant:put"), valise_str_of(first), NULL},
        {refused ? VLS_STR("plant:fail") : VLS_STR("plant:drop"), valise_str_of(last), NULL},
    };

    CHECK_RC(refused ? VALISE_E_CONFLICT : 0,
             valise_dispatch_batch(NULL, g->v, commands, 2, NULL, &t->err));
}

static void op_log(void *state, model_args *a)
{
    plot *p = state;

    garden_run(draw_handle(p, a), "plant:log", "{\"name\":\"p1\"}");
}

static void op_erase(void *state, model_args *a)
{
    plot *p = state;
    garden *g = draw_handle(p, a);
    valise_error err = VALISE_ERROR_INIT;
    const char *payload =
        test_format("{\"place\":\"plant.item/p%u\"}", (unsigned)model_below(a, "name", NAMES));
    int rc = valise_dispatch(NULL, g->v, "workspace:erase", payload, NULL, &err);

    CHECK_MSG(rc == 0 || rc == VALISE_E_NOT_FOUND, "%s", err.message);
}

/* ---- readers ---- */

static int compare_past(void *arg, valise_view *view, valise_error *err)
{
    garden *g = arg;

    for (size_t i = 0; i < g->feed->indexes.count; i++) {
        VLS_AUTO(pmap) vls_pmap memory = {0};
        VLS_AUTO(pmap) vls_pmap fresh = {0};
        vls_pmap_cursor x, y;
        const void *m, *f;
        vls_index *index = &g->feed->indexes.items[i];
        CHECK_INT(0, vls_index_read(&memory, index, view, err));
        CHECK_INT(0, vls_index_load(&fresh, index, view, err));
        CHECK_INT(fresh.len, memory.len);
        m = vls_pmap_first(&x, &memory);
        for (f = vls_pmap_first(&y, &fresh); f; f = vls_pmap_next(&y), m = vls_pmap_next(&x)) {
            CHECK_STR(vls_index_items.key(f), vls_index_items.key(m));
            CHECK_STR(vls_index_entry_of(f).json, vls_index_entry_of(m).json);
        }
    }
    return 0;
}

static void op_past(void *state, model_args *a)
{
    plot *p = state;
    test *t = p->t;
    garden *g = draw_handle(p, a);
    valise_call call = VALISE_CALL_INIT;
    int64_t seq = garden_seq(g);

    call.at = valise_str_of(
        test_format("%lld", (long long)model_below(a, "at", 1000) * (long long)(seq + 1) / 1000));
    CHECK_OK(vls_with_view(g->v, &call, compare_past, g, &t->err));
}

static void op_sync(void *state, model_args *a)
{
    plot *p = state;

    CHECK(strstr(garden_ask(draw_handle(p, a), "workspace:sync", "{}"), "{\"differences\":0"));
}

/* ---- what always holds ---- */

static int write_member(void *arg, const vls_index_entry *entry, valise_error *err)
{
    vls_json_builder *b = arg;
    vls_json value;
    int rc = vls_json_parse(&value, b->arena, entry->json, NULL, err);

    vls_json_add_member(b, entry->key, value);
    return rc;
}

static int compare_copy(void *arg, valise_view *view, valise_error *err)
{
    plot *p = arg;
    VLS_AUTO(pmap) vls_pmap map = {0};
    vls_index *index;
    vls_json_builder b;
    vls_json whole;

    CHECK_INT(0, vls_indexes_find(&index, &p->a.feed->indexes, VLS_STR("kinds"), err));
    CHECK_INT(0, vls_index_read(&map, index, view, err));
    vls_json_builder_init(&b, &p->arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    CHECK_INT(0, vls_index_each(&map, &(vls_index_range){0}, write_member, &b, err));
    vls_json_close(&b);
    CHECK_INT(0, vls_json_builder_finish(&whole, &b, err));
    CHECK(vls_json_equal(whole, p->copy));
    return 0;
}

static void check(void *state)
{
    plot *p = state;
    test *t = p->t;
    vls_index_report report;
    garden *handles[] = {&p->a, &p->b};

    CHECK(valise_poll(p->a.v, 0, &t->err) >= 0);
    for (size_t h = 0; h < 2; h++) {
        vls_indexes *indexes = &handles[h]->feed->indexes;
        for (size_t i = 0; i < indexes->count; i++) {
            CHECK_OK(vls_index_check(&report, &indexes->items[i], false, NULL, NULL, &t->err));
            CHECK_INT(0, report.differences);
        }
    }
    CHECK_OK(vls_with_view(p->a.v, NULL, compare_copy, p, &t->err));
}

/* Not after each step: who is looked at catches up, and that must not be needed. */
static void op_check(void *state, model_args *a)
{
    (void)a;
    check(state);
}

static void stop(void *state)
{
    plot *p = state;

    check(p);
    valise_unsubscribe(p->s);
    garden_close(&p->a);
    garden_close(&p->b);
    vls_arena_release(&p->arena);
}

TEST(index_model, agrees_with_the_rows)
{
    static const model m = {.start = start,
                            .stop = stop,
                            .wants_dir = true,
                            .runs = 12,
                            .steps = 60,
                            .ops = {{"put", 6, op_put},
                                    {"drop", 3, op_drop},
                                    {"refused", 1, op_refused},
                                    {"batch", 2, op_batch},
                                    {"log", 1, op_log},
                                    {"erase", 1, op_erase},
                                    {"past", 2, op_past},
                                    {"sync", 1, op_sync},
                                    {"check", 3, op_check}}};
    model_test(t, &m);
}
