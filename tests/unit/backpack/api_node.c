/* api_node.c -- views that are kept for many runs, and who watches them. */
#include "api_kit.h"
#include "backpack/handle.h"
#include "harness/fault.h"

TEST_PARAMS(api_node, ALL_KINDS)

static valise_node chat_node(const valise_permissions *permissions)
{
    return (valise_node){.size = sizeof(valise_node),
                         .id = VLS_STR("agent/search/chat"),
                         .name = VLS_STR("Chat"),
                         .namespace_name = VLS_STR("agent.search.chat"),
                         .permissions = permissions};
}

static valise_backpack *kept(test *t, valise_backpack *bag, const valise_permissions *permissions)
{
    const valise_node node = chat_node(permissions);
    valise_backpack *view = NULL;

    CHECK_OK(vls_handle_node(&view, bag, &node, &t->err));
    close_later(view);
    return view;
}

static void run_once(test *t, valise_backpack *view, const char *json)
{
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_OK(pack(view, "answer", json, &t->err));
    CHECK_OK(vls_handle_end_run(view, &t->err));
}

static const char *at(desk *d, valise_backpack *bag, const char *point)
{
    return items(at_point(d, bag, point));
}

/* One view, three runs: each is found by its number, as if each had had a view of its own. [F5]
 * [B12] [B31] */
TEST(api_node, a_view_runs_again_and_again)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, NULL);

    run_once(t, view, "1");
    run_once(t, view, "2");
    CHECK_OK(pack(bag, "query", "0", &t->err));
    run_once(t, view, "3");
    CHECK_TEXT("", at(d, bag, "before:agent/search/chat"));
    CHECK_TEXT("answer=1", at(d, bag, "after:agent/search/chat"));
    CHECK_TEXT("answer=1", at(d, bag, "before:agent/search/chat#2"));
    CHECK_TEXT("answer=2", at(d, bag, "after:agent/search/chat#2"));
    CHECK_TEXT("answer=2 query=0", at(d, bag, "before:agent/search/chat#-1"));
    CHECK_TEXT("answer=3 query=0", at(d, bag, "after:agent/search/chat#3"));
    CHECK_TEXT("1 pack answer v1 by agent/search/chat; 2 pack answer v2 by agent/search/chat; "
               "3 pack query v1 by unknown; 4 pack answer v3 by agent/search/chat",
               all_history(bag));
}

TEST(api_node, a_run_that_nothing_is_packed_in_is_one_too)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, NULL), *none = NULL;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_OK(vls_handle_end_run(view, &t->err));
    CHECK_OK(pack(bag, "b", "2", &t->err));
    CHECK_TEXT("a=1", at(d, bag, "after:agent/search/chat"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_snapshot_before_node(&none, bag, "agent/search/chat", 2, &t->err));
}

TEST(api_node, runs_begin_and_end_in_turn)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, NULL);

    CHECK_RC(VALISE_E_INVALID, vls_handle_end_run(view, &t->err));
    CHECK_TEXT("no run of node 'agent/search/chat' has started in this view", t->err.message);
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_handle_begin_run(view, &t->err));
    CHECK_TEXT("run 1 of node 'agent/search/chat' has not ended yet", t->err.message);
    CHECK_OK(vls_handle_end_run(view, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_handle_end_run(view, &t->err));
}

/* What closes in the middle of a run ends it. */
TEST(api_node, closing_ends_the_run_that_goes_on)
{
    desk *d = desk_open(t);
    const valise_node node = chat_node(NULL);
    valise_backpack *bag = bag_of(d, "run-1"), *view = NULL;

    CHECK_OK(vls_handle_node(&view, bag, &node, &t->err));
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_OK(pack(view, "a", "1", &t->err));
    valise_backpack_close(view);
    CHECK_OK(pack_as(bag, "agent/search/chat", "b", "2", &t->err)); /* a run of its own */
    CHECK_TEXT("a=1", at(d, bag, "after:agent/search/chat"));
    CHECK_TEXT("a=1", at(d, bag, "before:agent/search/chat#2"));
}

/* A view that is kept does not keep what its node may. [B18] [B31] */
TEST(api_node, permissions_that_changed_hold_at_once)
{
    desk *d = desk_open(t);
    const valise_permissions first = {.read = NAMES("a*"), .write = NAMES("a*")};
    const valise_permissions then = {.read = NAMES("b*"), .write = NAMES("b*")};
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, &first);

    run_once(t, view, "1");
    CHECK_OK(valise_permit(bag, "agent/search/chat", &then, &t->err));
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(view, "answer", "2", &t->err));
    CHECK_TEXT("(denied)", got(view, "answer"));
    CHECK_OK(pack(view, "b", "2", &t->err));
    CHECK_OK(valise_permit(bag, "agent/search/chat", NULL, &t->err));
    CHECK_OK(pack(view, "c", "3", &t->err));
    CHECK_OK(vls_handle_end_run(view, &t->err));
    CHECK_TEXT("answer=1 b=2 c=3", items(bag));
}

/* Who may not write, or act as the node, starts no run; nor ends one. [K23] [B31] */
TEST(api_node, the_actor_is_asked_at_each_run)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    const valise_node node = chat_node(NULL);
    valise_backpack *bag, *view;

    bag_of(d, "run-1");
    let_in(d, "ann", "none",
           "\"backpack:read\",\"backpack:write backpack=run-1\",\"backpack:as-node\"");
    o.actor = VLS_STR("ann");
    bag = bag_with(d, "run-1", &o);
    CHECK_OK(vls_handle_node(&view, bag, &node, &t->err));
    run_once(t, view, "1");
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    run_op(d, "agent:update", "{\"id\":\"ann\",\"capabilities\":[\"backpack:read\"]}");
    CHECK_RC(VALISE_E_DENIED, vls_handle_end_run(view, &t->err));
    run_op(d, "agent:update",
           "{\"id\":\"ann\",\"capabilities\":[\"backpack:read\",\"backpack:write\","
           "\"backpack:as-node node=agent/search/chat\"]}");
    CHECK_OK(vls_handle_end_run(view, &t->err));
    run_op(d, "agent:update",
           "{\"id\":\"ann\",\"capabilities\":[\"backpack:read\",\"backpack:write\"]}");
    CHECK_RC(VALISE_E_DENIED, vls_handle_begin_run(view, &t->err));
    valise_backpack_close(view);
}

TEST(api_node, a_snapshot_has_views_but_no_runs)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *then, *view;

    CHECK_OK(pack(bag, "a", "1", &t->err));
    then = at_point(d, bag, "now");
    view = kept(t, then, NULL);
    CHECK_TEXT("1", got(view, "a"));
    CHECK_RC(VALISE_E_INVALID, vls_handle_begin_run(view, &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_handle_end_run(view, &t->err));
}

TEST(api_node, of_a_backpack_that_is_gone_no_run_starts)
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, NULL);
    valise_backpack *other = kept(t, bag, NULL);

    CHECK_OK(vls_handle_begin_run(view, &t->err));
    run_op(d, "backpack:drop", "{\"backpack\":\"run-1\"}");
    CHECK_RC(VALISE_E_NOT_FOUND, vls_handle_end_run(view, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, vls_handle_begin_run(other, &t->err));
}

/* ---- who watches ---- */

static void note(void *arg, valise_str key, int64_t action, int64_t outcome)
{
    static const char *const actions[] = {"pack",  "delete", "quarantine", "release",
                                          "merge", "import", "read"};
    static const char *const outcomes[] = {"found", "absent", "denied"};
    vls_buf *out = arg;

    if (out->len > 0)
        vls_buf_add(out, VLS_STR(" "));
    vls_buf_add(out, valise_str_of(actions[action]));
    vls_buf_add(out, VLS_STR(":"));
    vls_buf_add(out, key);
    if (outcome != VALISE_NONE) {
        vls_buf_add(out, VLS_STR("="));
        vls_buf_add(out, valise_str_of(outcomes[outcome]));
    }
}

static const char *noted(vls_buf *out)
{
    const char *text = test_format("%.*s", (int)out->len, out->len ? out->ptr : "");

    vls_buf_clear(out);
    return text;
}

/* [F12] [F5] */
TEST(api_node, who_watches_is_told_what_is_read_and_written)
{
    VLS_AUTO(buf) vls_buf out = {0};
    desk *d = desk_open(t);
    const valise_permissions but = {.deny = NAMES("secret")};
    valise_pack_options tagged = VALISE_PACK_OPTIONS_INIT;
    valise_backpack *bag = bag_of(d, "run-1"), *view = kept(t, bag, &but);

    vls_buf_init(&out, t->env, 4096);
    CHECK_OK(pack(bag, "query", "1", &t->err));
    CHECK_OK(pack(bag, "secret", "1", &t->err));
    vls_handle_watch(view, note, &out);
    CHECK_OK(vls_handle_begin_run(view, &t->err));
    CHECK_TEXT("1", got(view, "query"));
    CHECK_TEXT("(absent)", got(view, "nothing"));
    CHECK_TEXT("(not found)", needed(view, "nothing"));
    CHECK_TEXT("(denied)", got(view, "secret"));
    CHECK_TEXT("1", seen(view, "query"));         /* a look that is not recorded */
    CHECK_TEXT("(denied)", seen(view, "secret")); /* but this is */
    CHECK_TEXT("read:query=found read:nothing=absent read:nothing=absent read:secret=denied "
               "read:secret=denied",
               noted(&out));
    tagged.tags = NAMES("old");
    CHECK_OK(valise_pack(NULL, view, "a", "1", &tagged, &t->err));
    CHECK_OK(valise_pack(NULL, view, "b", "1", &tagged, &t->err));
    CHECK_OK(pack(view, "c", "1", &t->err));
    CHECK_RC(VALISE_E_DENIED, pack(view, "secret", "2", &t->err));
    CHECK_RC(VALISE_E_INVALID, pack(view, "c", "no json", &t->err));
    CHECK_TEXT("pack:a pack:b pack:c", noted(&out));
    CHECK_OK(jail(view, "c", "why", &t->err));
    CHECK_OK(valise_release(NULL, view, "c", 0, &t->err));
    CHECK_INT(1, removal(view, "c", &t->err));
    CHECK_INT(0, removal(view, "c", &t->err));
    CHECK_TEXT("quarantine:c release:c delete:c", noted(&out));
    CHECK_OK(valise_clear(NULL, view, VLS_STR("old"), (valise_str){NULL, 0}, &t->err));
    CHECK_TEXT("delete:a delete:b", noted(&out));
    CHECK_OK(pack(bag, "query", "2", &t->err)); /* not through the view */
    vls_handle_watch(view, NULL, NULL);
    CHECK_OK(pack(view, "c", "2", &t->err));
    CHECK_TEXT("", noted(&out));
}

TEST(api_node, who_watches_is_not_told_what_a_lenient_one_did_not_do)
{
    VLS_AUTO(buf) vls_buf out = {0};
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, VALISE_BACKPACK_LENIENT);
    const valise_permissions only = {.read = NAMES("a"), .write = NAMES("a")};
    valise_backpack *view = kept(t, bag_with(d, "run-1", &o), &only);

    vls_buf_init(&out, t->env, 4096);
    vls_handle_watch(view, note, &out);
    CHECK_OK(pack(view, "b", "1", &t->err));
    CHECK_OK(pack(view, "a", "1", &t->err));
    CHECK_TEXT("(absent)", got(view, "b"));
    CHECK_TEXT("pack:a read:b=denied", noted(&out));
}

TEST(api_node, who_watches_is_told_of_merges)
{
    VLS_AUTO(buf) vls_buf out = {0};
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1"), *fork, *view, *theirs;
    const valise_node node = chat_node(NULL);
    int64_t count = 0;

    vls_buf_init(&out, t->env, 4096);
    CHECK_OK(pack(bag, "a", "1", &t->err));
    fork = fork_of(d, bag, "run-2");
    CHECK_OK(pack(fork, "b", "2", &t->err));
    CHECK_OK(pack(fork, "c", "3", &t->err));
    view = kept(t, bag, NULL);
    CHECK_OK(vls_handle_node(&theirs, fork, &node, &t->err));
    vls_handle_watch(view, note, &out);
    CHECK_OK(valise_backpack_merge(&count, view, NULL, theirs, NULL, NULL, &t->err));
    CHECK_INT(2, count);
    CHECK_TEXT("merge:b merge:c", noted(&out));
    valise_backpack_close(theirs);
}

/* ---- without memory ---- */

static int run_twice(fault *f, void *arg)
{
    const valise_node node = chat_node(NULL);
    valise_options how = VALISE_OPTIONS_INIT;
    valise *v = NULL;
    valise_backpack *bag = NULL, *view = NULL;
    int rc;

    (void)arg;
    fault_off(f);
    how.env = f->env;
    how.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&v, ":memory:", &how, &f->err));
    CHECK_INT(0, valise_backpack_open(&bag, v, "run-1", NULL, &f->err));
    fault_on(f);
    rc = vls_handle_node(&view, bag, &node, &f->err);
    CHECK(!view == (rc < 0));
    for (int i = 0; rc == 0 && i < 2; i++) {
        rc = vls_handle_begin_run(view, &f->err);
        if (rc == 0)
            rc = vls_handle_end_run(view, &f->err);
    }
    fault_off(f);
    if (view) { /* whatever failed, the next run goes on as ever */
        (void)vls_handle_end_run(view, NULL);
        CHECK_INT(0, vls_handle_begin_run(view, &f->err));
        CHECK_INT(0, vls_handle_end_run(view, &f->err));
    }
    valise_backpack_close(view);
    valise_backpack_close(bag);
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(node, runs_without_memory)
{
    fault_each_alloc(t, 0, run_twice, NULL);
    fault_each_alloc(t, FAULT_ONWARD, run_twice, NULL);
}
