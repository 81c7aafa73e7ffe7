/* api_along.c -- the end of a node's run, what waits, and commands of the engine: all at once. */
#include "api_kit.h"
#include "backpack/handle.h"
#include "harness/fault.h"
#include "kit/replayed.h"

TEST_PARAMS(api_along, ALL_KINDS)

static valise_backpack *opened(desk *d, unsigned flags)
{
    valise_backpack_options o = desk_options(d, d->durable ? flags : 0);

    return bag_with(d, "run-1", &o);
}

static valise_backpack *kept(desk *d, valise_backpack *bag, const char *id)
{
    const valise_node node = {.size = sizeof(node), .id = valise_str_of(id)};
    test *t = d->t;
    valise_backpack *view = NULL;

    CHECK_OK(vls_handle_node(&view, bag, &node, &t->err));
    close_later(view);
    return view;
}

/* A backpack that only the engine writes to. */
static valise_backpack *journal(desk *d)
{
    test *t = d->t;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;

    o.flags = VALISE_BACKPACK_DURABLE;
    (void)t;
    return bag_with(d, "journal", &o);
}

/* End the run, and note the step in a journal. */
static int end_with(valise_backpack *view, const char *where, const char *step, valise_error *err)
{
    const valise_commit commit = {.action = VALISE_ACTION_PACK,
                                  .key = valise_str_of(step),
                                  .node_id = VLS_STR("flow"),
                                  .node_name = VLS_STR("flow"),
                                  .value_size = 1,
                                  .version = 1,
                                  .outcome = VALISE_NONE};
    const vls_append_item item = {.commit = &commit, .value = {.size = 1, .bytes = VLS_STR("1")}};
    const vls_append_item *const items[] = {&item};
    const vls_append_args args = {.who = {.backpack = valise_str_of(where)}, .items = {items, 1}};
    const vls_run_item more = {.op = &vls_op_backpack_append, .args = &args};

    return vls_handle_end_run_with(view, &more, 1, err);
}

/* [B29] [F13] */
TEST(api_along, the_end_of_a_run_brings_what_waits)
{
    desk *d = desk_open(t);
    valise_backpack *bag = opened(d, VALISE_BACKPACK_WRITE_BEHIND), *chat = kept(d, bag, "chat");
    valise_backpack *other = d->durable ? opened(d, 0) : bag, *steps = journal(d);

    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(pack(chat, "a", "1", &t->err));
    CHECK_OK(pack(chat, "b", "2", &t->err));
    if (d->durable)
        CHECK_TEXT("", items(other));
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("a=1 b=2", items(other));
    CHECK_TEXT("step-1", keys(steps));
    CHECK_TEXT("a=1 b=2", items(at_point(d, other, "after:chat")));
    /* Nothing waits: the end and the step alone. */
    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(end_with(chat, "journal", "step-2", &t->err));
    CHECK_OK(pack(bag, "c", "3", &t->err));
    CHECK_OK(valise_backpack_flush(bag, &t->err));
    CHECK_TEXT("a=1 b=2", items(at_point(d, bag, "after:chat#2")));
    CHECK_TEXT("step-1 step-2", keys(steps));
    CHECK_RC(VALISE_E_INVALID, end_with(chat, "journal", "step-3", &t->err));
    CHECK_TEXT("step-1 step-2", keys(steps));
    CHECK_TEXT(replayed(t, d->v), state_of(t, d->v));
}

/* What the engine wants and cannot have undoes all of it; the packs wait on. */
TEST(api_along, all_or_nothing)
{
    desk *d = desk_open(t);
    valise_backpack *bag = opened(d, VALISE_BACKPACK_WRITE_BEHIND), *chat = kept(d, bag, "chat");
    valise_backpack *other = d->durable ? opened(d, 0) : bag, *steps;
    const char *before;

    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(pack(chat, "a", "1", &t->err));
    before = state_of(t, d->v);
    CHECK_RC(VALISE_E_NOT_FOUND, end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("there is no backpack 'journal'", t->err.message);
    CHECK_TEXT(before, state_of(t, d->v));
    if (d->durable)
        CHECK_TEXT("", items(other));
    steps = journal(d);
    CHECK_OK(pack(chat, "b", "2", &t->err)); /* the run goes on */
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("a=1 b=2", items(other));
    CHECK_TEXT("a=1 b=2", items(at_point(d, bag, "after:chat")));
    CHECK_TEXT("step-1", keys(steps));
}

/* Without write-behind the two are one transaction as well. */
TEST(api_along, of_what_is_written_at_once)
{
    desk *d = desk_open(t);
    valise_backpack *bag = opened(d, 0), *chat = kept(d, bag, "chat"), *steps;

    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(pack(chat, "a", "1", &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, end_with(chat, "journal", "step-1", &t->err));
    CHECK_OK(pack(chat, "b", "2", &t->err));
    steps = journal(d);
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("step-1", keys(steps));
    CHECK_TEXT("a=1 b=2", items(at_point(d, bag, "after:chat")));
}

/* Of a kind that waits. */
TEST_PARAMS(along, "memory", "sqlite")

/* A pack that is refused is told, and gone; the others wait; the run can be ended then. [B29] */
TEST(along, one_that_is_refused_is_told)
{
    desk *d = desk_open(t);
    valise_backpack *bag = opened(d, VALISE_BACKPACK_WRITE_BEHIND), *chat = kept(d, bag, "chat");
    valise_backpack *other = opened(d, 0), *steps = journal(d);
    valise_pack_options named = VALISE_PACK_OPTIONS_INIT;

    named.write = NAMES("somebody");
    CHECK_OK(valise_pack(NULL, other, "theirs", "0", &named, &t->err));
    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(pack(chat, "a", "1", &t->err));
    CHECK_OK(pack(chat, "theirs", "1", &t->err));
    CHECK_OK(pack(chat, "b", "2", &t->err));
    CHECK_RC(VALISE_E_DENIED, end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("[1]", t->err.path);
    CHECK_TEXT("node 'chat' may not write 'theirs'", t->err.message);
    CHECK_TEXT("theirs=0", items(other));
    CHECK_TEXT("", keys(steps));
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("a=1 b=2 theirs=0", items(other));
    CHECK_TEXT("step-1", keys(steps));
    CHECK_TEXT("pack theirs denied by chat; 2 pack a v1 by chat; 3 pack b v1 by chat",
               accesses(bag, "chat", true));
}

/* What a view that was closed left untold is told before anything is done. */
TEST(along, what_nobody_heard_of_comes_first)
{
    desk *d = desk_open(t);
    valise_backpack *bag = opened(d, VALISE_BACKPACK_WRITE_BEHIND), *chat = kept(d, bag, "chat");
    valise_backpack *other = opened(d, 0), *steps = journal(d), *gone = NULL;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("gone")};
    valise_pack_options named = VALISE_PACK_OPTIONS_INIT;

    named.write = NAMES("somebody");
    CHECK_OK(valise_pack(NULL, other, "theirs", "0", &named, &t->err));
    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(valise_backpack_node(&gone, bag, &node, &t->err));
    CHECK_OK(pack(gone, "theirs", "1", &t->err));
    valise_backpack_close(gone);
    CHECK_OK(pack(chat, "a", "1", &t->err));
    CHECK_RC(VALISE_E_DENIED, end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("node 'gone' may not write 'theirs'", t->err.message);
    CHECK_TEXT("", keys(steps));
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_TEXT("a=1 theirs=0", items(other));
}

/* The end of a run is the actor's own doing, and asked for; what the engine adds is not. [K23] */
TEST(along, the_actor_is_asked)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_WRITE_BEHIND);
    valise_backpack *bag, *chat, *steps = journal(d);

    opened(d, 0);
    let_in(d, "ann", "none",
           "\"backpack:read\",\"backpack:write backpack=run-1\",\"backpack:as-node\"");
    o.actor = VLS_STR("ann");
    bag = bag_with(d, "run-1", &o);
    chat = kept(d, bag, "chat");
    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    CHECK_OK(end_with(chat, "journal", "step-1", &t->err));
    CHECK_OK(vls_handle_begin_run(chat, &t->err));
    run_op(d, "agent:update", "{\"id\":\"ann\",\"capabilities\":[\"backpack:read\"]}");
    CHECK_RC(VALISE_E_DENIED, end_with(chat, "journal", "step-2", &t->err));
    CHECK_TEXT("step-1", keys(steps));
}

/* ---- without memory ---- */

static int end_once(fault *f, void *arg)
{
    valise_options how = VALISE_OPTIONS_INIT;
    valise_backpack_options o = VALISE_BACKPACK_OPTIONS_INIT;
    const valise_node node = {.size = sizeof(node), .id = VLS_STR("chat")};
    valise_backpack *bag = NULL, *view = NULL, *steps = NULL;
    valise *v = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    how.env = f->env;
    how.flags = VALISE_OPEN_NO_USER_CONFIG;
    o.flags = VALISE_BACKPACK_DURABLE;
    CHECK_INT(0, valise_open(&v, ":memory:", &how, &f->err));
    CHECK_INT(0, valise_backpack_open(&steps, v, "journal", &o, &f->err));
    o.flags |= VALISE_BACKPACK_WRITE_BEHIND;
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", &o, &f->err));
    CHECK_INT(0, vls_handle_node(&view, bag, &node, &f->err));
    CHECK_INT(0, vls_handle_begin_run(view, &f->err));
    CHECK_INT(0, pack(view, "a", "1", &f->err));
    fault_on(f);
    rc = end_with(view, "journal", "step", &f->err);
    fault_off(f);
    CHECK_TEXT(rc < 0 ? "" : "step", keys(steps));
    if (rc < 0)
        CHECK_INT(0, end_with(view, "journal", "step", &f->err));
    CHECK_TEXT("step", keys(steps));
    CHECK_TEXT("a=1", items(bag));
    valise_backpack_close(view);
    valise_backpack_close(bag);
    valise_backpack_close(steps);
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(along_faults, the_end_is_all_or_nothing)
{
    fault_each_alloc(t, 0, end_once, NULL);
    fault_each_alloc(t, FAULT_ONWARD, end_once, NULL);
}
