/* api_supersede.c -- a fork of an earlier state takes over the name of a backpack. */
#include "api_kit.h"
#include "backpack/ops.h"
#include "harness/fault.h"
#include "kit/replayed.h"

TEST_PARAMS(api_supersede, "memory", "sqlite")

static int count_open(void *arg, const vls_run_row *run, valise_error *err)
{
    const char **text = arg;

    (void)err;
    if (run->end != VALISE_NONE)
        return 0;
    *text =
        test_format("%s%s%lld %.*s from %lld", *text, **text ? "; " : "", (long long)run->number,
                    VALISE_STR_ARG(run->node_id), (long long)run->start);
    return 0;
}

/* "2 chat from 3", and the newest commit. */
static const char *going_on(desk *d, const char *name)
{
    test *t = d->t;
    const char *text = "";
    int64_t last = -1;

    CHECK_OK(
        vls_backpack_each_run(&last, d->v, valise_str_of(name), NULL, count_open, &text, &t->err));
    return test_format("%s [%lld]", text, (long long)last);
}

static int supersede(desk *d, const char *name, int64_t seq, const char *aside)
{
    return vls_backpack_supersede(NULL, d->v, valise_str_of(name), seq, valise_str_of(aside), NULL,
                                  0, NULL, d->err);
}

/* To be closed before the test ends. */
static valise_backpack *begin(desk *d, valise_backpack *bag, const char *id)
{
    const valise_node node = {.size = sizeof(node), .id = valise_str_of(id)};
    test *t = d->t;
    valise_backpack *view = NULL;

    CHECK_OK(valise_backpack_node(&view, bag, &node, &t->err));
    return view;
}

/* plan has run; chat was interrupted after two packs. *chat: its view, still open. */
static valise_backpack *interrupted(desk *d, valise_backpack **chat)
{
    test *t = d->t;
    const valise_permissions may = {.write = NAMES("answer", "draft"), .read = NAMES("*")};
    valise_backpack *bag = bag_of(d, "run-1"), *plan;

    CHECK_OK(pack(bag, "query", "1", &t->err));
    plan = begin(d, bag, "plan");
    CHECK_OK(pack(plan, "todo", "2", &t->err));
    valise_backpack_close(plan);
    CHECK_OK(valise_permit(bag, "chat", &may, &t->err));
    *chat = node_of(d, bag, "chat", "", NULL);
    CHECK_OK(pack(*chat, "draft", "3", &t->err));
    CHECK_OK(pack(*chat, "draft", "4", &t->err));
    return bag;
}

TEST(api_supersede, lists_the_runs_that_are_not_over) /* [F13] */
{
    desk *d = desk_open(t);
    valise_backpack *chat = NULL, *bag = interrupted(d, &chat), *one, *two;

    CHECK_TEXT("3 chat from 2 [4]", going_on(d, "run-1"));
    one = begin(d, bag, "map/1");
    two = begin(d, bag, "map/2");
    CHECK_TEXT("3 chat from 2; 4 map/1 from 4; 5 map/2 from 4 [4]", going_on(d, "run-1"));
    valise_backpack_close(one);
    CHECK_TEXT("3 chat from 2; 5 map/2 from 4 [4]", going_on(d, "run-1"));
    valise_backpack_close(two);
    CHECK_TEXT("3 chat from 2 [4]", going_on(d, "run-1"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             vls_backpack_each_run(NULL, d->v, VLS_STR("none"), NULL, NULL, NULL, &t->err));
}

/* [F13] [B13] */
TEST(api_supersede, the_name_goes_on_from_the_state)
{
    desk *d = desk_open(t);
    const valise_list named = NAMES("chat");
    valise_backpack *chat = NULL, *old, *bag, *again;

    old = interrupted(d, &chat);
    CHECK_OK(valise_tag_rule(old, "pii", &named, NULL, &t->err));
    CHECK_OK(valise_checkpoint(NULL, old, "half", &t->err));
    CHECK_OK(supersede(d, "run-1", 2, "run-1.aborted-1"));
    bag = bag_of(d, "run-1");
    CHECK_TEXT("query=1 todo=2", items(bag));
    CHECK_TEXT("", all_history(bag)); /* its own; what it began with is the other's */
    CHECK_TEXT("draft=4 query=1 todo=2", items(bag_of(d, "run-1.aborted-1")));
    CHECK_TEXT("1 pack query v1 by unknown; 2 pack todo v1 by plan; 3 pack draft v1 by chat; "
               "4 pack draft v2 by chat",
               all_history(bag_of(d, "run-1.aborted-1")));
    /* Runs are closed there, and none goes on here. */
    CHECK_TEXT(" [4]", going_on(d, "run-1.aborted-1"));
    CHECK_TEXT(" [0]", going_on(d, "run-1"));
    CHECK_TEXT("draft=4 query=1 todo=2",
               items(at_point(d, bag_of(d, "run-1.aborted-1"), "after:chat")));
    /* Permissions and rules came along; checkpoints did not. */
    again = node_of(d, bag, "chat", "", NULL);
    CHECK_RC(VALISE_E_DENIED, pack(again, "todo", "9", &t->err));
    CHECK_OK(pack(again, "answer", "5", &t->err));
    CHECK(strstr(run_op(d, "backpack:rules", "{\"backpack\":\"run-1\"}"), "\"pii\""));
    CHECK(strstr(run_op(d, "backpack:points", "{\"backpack\":\"run-1.aborted-1\"}"), "\"half\""));
    CHECK(!strstr(run_op(d, "backpack:points", "{\"backpack\":\"run-1\"}"), "\"half\""));
    CHECK_TEXT("{\"items\":[]}", run_op(d, "workspace:validate", "{}"));
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
}

/* Who has the old one open goes on with it, under whatever name. */
TEST(api_supersede, handles_stay_with_the_old_one)
{
    desk *d = desk_open(t);
    valise_pack_options o = VALISE_PACK_OPTIONS_INIT;
    valise_backpack *chat = NULL, *old = interrupted(d, &chat);
    valise_packed packed;

    CHECK_OK(supersede(d, "run-1", 2, "aside"));
    CHECK_OK(pack(old, "late", "6", &t->err));
    CHECK_TEXT("6", got(old, "late"));
    CHECK_RC(VALISE_E_INVALID, pack(chat, "draft", "7", &t->err)); /* its run is over */
    CHECK_TEXT("run 3 has already ended", t->err.message);
    o.expect = 2;
    CHECK_OK(valise_pack(&packed, old, "draft", "8", &o, &t->err));
    CHECK_INT(3, packed.version);
    CHECK_RC(VALISE_E_CONFLICT, valise_pack(&packed, old, "draft", "8", &o, &t->err));
    CHECK_TEXT("draft=8 late=6 query=1 todo=2", items(bag_of(d, "aside")));
    CHECK_TEXT("query=1 todo=2", items(bag_of(d, "run-1")));
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
}

/* A name that was taken over is no way around what the actor may. [K23] [B31] */
TEST(api_supersede, the_new_name_is_asked_for)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *chat = NULL, *anns;

    (void)interrupted(d, &chat);
    let_in(d, "ann", "none", "\"backpack:read backpack=run-1\",\"backpack:write backpack=run-1\"");
    o.actor = VLS_STR("ann");
    anns = bag_with(d, "run-1", &o);
    CHECK_OK(pack(anns, "a", "1", &t->err));
    CHECK_OK(supersede(d, "run-1", 2, "aside"));
    CHECK_RC(VALISE_E_DENIED, pack(anns, "a", "2", &t->err));
    CHECK_TEXT("(denied)", got(anns, "a"));
}

TEST(api_supersede, says_why_not)
{
    desk *d = desk_open(t);
    valise_backpack *chat = NULL, *bag = interrupted(d, &chat);
    const char *before = state_of(t, d->v);
    valise_uuid id = {{7}};

    (void)bag_of(d, "taken");
    before = state_of(t, d->v);
    CHECK_RC(VALISE_E_NOT_FOUND, supersede(d, "none", 0, "aside"));
    CHECK_RC(VALISE_E_EXISTS, supersede(d, "run-1", 2, "taken"));
    CHECK_TEXT("aside", t->err.path);
    CHECK_RC(VALISE_E_EXISTS, supersede(d, "run-1", 2, "run-1"));
    CHECK_RC(VALISE_E_INVALID, supersede(d, "run-1", 2, ""));
    CHECK_RC(VALISE_E_INVALID, supersede(d, "run-1", 2, "a\nb"));
    CHECK_RC(VALISE_E_NOT_FOUND, supersede(d, "run-1", 5, "aside"));
    CHECK_TEXT("seq", t->err.path);
    CHECK_RC(VALISE_E_INVALID, supersede(d, "run-1", -1, "aside"));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_backpack_supersede(&id, d->v, VLS_STR("run-1"), 9,
                                                        VLS_STR("x"), NULL, 0, NULL, &t->err));
    CHECK_INT(7, id.bytes[0]);
    (void)bag_with(d, "in-memory", NULL);
    CHECK_RC(VALISE_E_UNSUPPORTED, supersede(d, "in-memory", 0, "aside"));
    CHECK_RC(VALISE_E_EXISTS, supersede(d, "run-1", 2, "in-memory"));
    CHECK_TEXT(before, state_of(t, d->v));
    CHECK_TEXT("draft=4 query=1 todo=2", items(bag));
    CHECK_RC(VALISE_E_DENIED, run_as(d, "local", "backpack:supersede",
                                     "{\"backpack\":\"run-1\",\"seq\":2,\"aside\":\"x\"}"));
}

/* From the very beginning, from the newest state, and once more: names can be taken over as often
 * as a run is interrupted. */
TEST(api_supersede, again_and_again)
{
    desk *d = desk_open(t);
    valise_backpack *chat = NULL;
    const char *file = test_format("%s/bundle", test_tmpdir());

    (void)interrupted(d, &chat);
    CHECK_OK(supersede(d, "run-1", 4, "one"));
    CHECK_TEXT("draft=4 query=1 todo=2", items(bag_of(d, "run-1")));
    CHECK_OK(pack(bag_of(d, "run-1"), "more", "1", &t->err));
    CHECK_OK(supersede(d, "run-1", 0, "two"));
    CHECK_TEXT("draft=4 query=1 todo=2", items(bag_of(d, "run-1"))); /* what the fork began with */
    CHECK_TEXT("draft=4 more=1 query=1 todo=2", items(bag_of(d, "two")));
    CHECK_OK(supersede(d, "one", 0, "three"));
    CHECK_TEXT("", items(bag_of(d, "one")));
    CHECK_TEXT("draft=4 more=1 query=1 todo=2", items(bag_of(d, "two")));
    CHECK_TEXT("{\"items\":[]}", run_op(d, "workspace:validate", "{}"));
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
    (void)run_op(d, "workspace:export", test_format("{\"file\":\"%s\"}", file));
    {
        const char *hash = state_of(t, d->v);
        desk copy = *d;
        valise_options how = VALISE_OPTIONS_INIT;
        how.env = t->env;
        copy.v = NULL;
        CHECK_OK(desk_try(&copy.v, "memory", NULL, &how, &t->err));
        (void)run_op(&copy, "workspace:import", test_format("{\"file\":\"%s\"}", file));
        CHECK_TEXT(hash, state_of(t, copy.v));
        valise_close(copy.v);
    }
    /* A fork holds what it began with: the old ones go after it. */
    CHECK_RC(VALISE_E_CONFLICT, run_as(d, "local", "backpack:drop", "{\"backpack\":\"two\"}"));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    run_op(d, "backpack:drop", "{\"backpack\":\"two\"}");
}

/* ---- without memory ---- */

static int take_over(fault *f, void *arg)
{
    valise_options how = VALISE_OPTIONS_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("chat")};
    valise_backpack *bag = NULL, *view = NULL;
    valise_uuid id = {{0}};
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    how.env = f->env;
    how.flags = VALISE_OPEN_NO_USER_CONFIG;
    o.flags = VALISE_BACKPACK_DURABLE;
    CHECK_INT(0, valise_open(&v, ":memory:", &how, &f->err));
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &f->err));
    CHECK_INT(0, pack(bag, "a", "1", &f->err));
    CHECK_INT(0, valise_backpack_node(&view, bag, &node, &f->err));
    CHECK_INT(0, pack(view, "a", "2", &f->err));
    fault_on(f);
    rc = vls_backpack_supersede(&id, v, VLS_STR("run-1"), 1, VLS_STR("aside"), NULL, 0, NULL,
                                &f->err);
    fault_off(f);
    CHECK_TEXT("a=2", items(bag));
    valise_backpack_close(view);
    valise_backpack_close(bag);
    bag = NULL;
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &f->err));
    CHECK_TEXT(rc < 0 ? "a=2" : "a=1", items(bag));
    valise_backpack_close(bag);
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(supersede, is_all_or_nothing)
{
    fault_each_alloc(t, 0, take_over, NULL);
    fault_each_alloc(t, FAULT_ONWARD, take_over, NULL);
}
