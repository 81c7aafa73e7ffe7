/* api_path.c -- nodes whose ids are paths, and the ends of them. */
#include "api_kit.h"

TEST_PARAMS(api_path, ALL_KINDS)

/* agent/search/chat runs twice, agent/plan once. */
static valise_backpack *two_nodes(desk *d)
{
    test *t = d->t;
    valise_backpack *bag = bag_of(d, "run-1");

    CHECK_OK(pack_as(bag, "agent/search/chat", "a", "1", &t->err));
    CHECK_OK(pack_as(bag, "agent/plan", "b", "2", &t->err));
    CHECK_OK(pack_as(bag, "agent/search/chat", "a", "3", &t->err));
    return bag;
}

static const char *by(valise_backpack *bag, const char *node)
{
    valise_history filter = VALISE_HISTORY_INIT;

    filter.node_id = valise_str_of(node);
    filter.oldest_first = true;
    return history(bag, &filter);
}

static const char *at(desk *d, valise_backpack *bag, const char *point)
{
    return items(at_point(d, bag, point));
}

static int no_point(desk *d, valise_backpack *bag, const char *point)
{
    valise_backpack *none = NULL;
    int rc = valise_snapshot_at(&none, bag, valise_str_of(point), d->err);

    valise_backpack_close(none);
    return rc;
}

/* [F19] [B12] */
TEST(api_path, the_end_of_a_path_is_a_point)
{
    desk *d = desk_open(t);
    valise_backpack *bag = two_nodes(d), *before = NULL;

    CHECK_TEXT("", at(d, bag, "before:chat"));
    CHECK_TEXT("a=1", at(d, bag, "after:search/chat"));
    CHECK_TEXT("a=1 b=2", at(d, bag, "before:chat#2"));
    CHECK_TEXT("a=3 b=2", at(d, bag, "after:chat#-1"));
    CHECK_TEXT("a=1", at(d, bag, "before:plan"));
    CHECK_OK(valise_snapshot_before_node(&before, bag, "chat", 2, &t->err));
    CHECK_TEXT("a=1 b=2", items(before));
    valise_backpack_close(before);
    CHECK_RC(VALISE_E_NOT_FOUND, no_point(d, bag, "before:chat#3"));
    CHECK_TEXT("node 'agent/search/chat' has run 2 times here", t->err.message);
    /* What is no whole segment is no end of a path. */
    CHECK_RC(VALISE_E_NOT_FOUND, no_point(d, bag, "before:hat"));
    CHECK_TEXT("node 'hat' has not run here", t->err.message);
    CHECK_RC(VALISE_E_NOT_FOUND, no_point(d, bag, "before:/chat"));
    CHECK_RC(VALISE_E_NOT_FOUND, no_point(d, bag, "before:agent/search"));
}

/* [F19] [B10] */
TEST(api_path, the_end_of_a_path_selects_in_history)
{
    desk *d = desk_open(t);
    valise_backpack *bag = two_nodes(d), *view = node_of(d, bag, "agent/search/chat", "", NULL);

    CHECK_TEXT("1 pack a v1 by agent/search/chat; 3 pack a v2 by agent/search/chat",
               by(bag, "chat"));
    CHECK_TEXT("2 pack b v1 by agent/plan", by(bag, "plan"));
    CHECK_TEXT("", by(bag, "lan"));
    CHECK_TEXT("2", got(view, "b"));
    CHECK_TEXT(accesses(bag, "agent/search/chat", false), accesses(bag, "chat", false));
    CHECK(accesses(bag, "chat", false)[0]);
    CHECK_TEXT(accesses(bag, "agent/search/chat", true), accesses(bag, "search/chat", true));
    CHECK(strstr(run_op(d, "backpack:history", "{\"backpack\":\"run-1\",\"by\":\"plan\"}"),
                 "\"nodeId\":\"agent/plan\""));
}

/* [F19] */
TEST(api_path, what_is_there_as_it_stands_wins)
{
    desk *d = desk_open(t);
    const valise_permissions any = {.read = NAMES("*")};
    valise_backpack *bag = two_nodes(d);

    CHECK_OK(pack_as(bag, "chat", "c", "4", &t->err));
    CHECK_TEXT("a=3 b=2", at(d, bag, "before:chat"));
    CHECK_TEXT("4 pack c v1 by chat", by(bag, "chat"));
    CHECK_TEXT("a=1", at(d, bag, "after:search/chat"));
    /* A node that was only said what it may is one that history knows; a run it has none. */
    CHECK_OK(valise_permit(bag, "plan", &any, &t->err));
    CHECK_TEXT("", by(bag, "plan"));
    CHECK_TEXT("a=1", at(d, bag, "before:plan"));
}

/* Commits that are no part of a run: those of an import, say. */
TEST(api_path, nodes_of_commits_without_runs_count)
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, 0);
    valise_backpack *bag = NULL;

    CHECK_OK(valise_backpack_from_json(
        &bag, d->v, "run-1",
        VLS_STR("{\"items\":[[\"a\",{\"key\":\"a\",\"value\":1,\"metadata\":{"
                "\"sourceNodeId\":\"old/chat\",\"timestamp\":1,\"version\":1}}],"
                "[\"p\",{\"key\":\"p\",\"value\":1,\"metadata\":{"
                "\"sourceNodeId\":\"plan\",\"timestamp\":1,\"version\":1}}],"
                "[\"q\",{\"key\":\"q\",\"value\":1,\"metadata\":{"
                "\"sourceNodeId\":\"old/plan\",\"timestamp\":1,\"version\":1}}]],"
                "\"history\":[],\"permissions\":{}}"),
        &o, &t->err));
    close_later(bag);
    CHECK(strstr(by(bag, "chat"), "by old/chat"));
    CHECK(
        strstr(by(bag, "plan"), " p v1 by plan")); /* as it stands, though there is a longer one */
    CHECK(!strstr(by(bag, "plan"), "old/plan"));
    CHECK_RC(VALISE_E_NOT_FOUND, no_point(d, bag, "before:chat"));
    CHECK_OK(pack_as(bag, "new/chat", "b", "1", &t->err));
    CHECK_TEXT(test_format("(%d)", VALISE_E_CONFLICT), by(bag, "chat"));
    CHECK_TEXT("b=1", differs(at_point(d, bag, "before:chat"), bag) + 1);
}

/* [F19] */
TEST(api_path, several_are_told)
{
    desk *d = desk_open(t);
    valise_backpack *bag = two_nodes(d), *view;

    CHECK_OK(pack_as(bag, "web/chat", "c", "4", &t->err));
    CHECK_RC(VALISE_E_CONFLICT, no_point(d, bag, "before:chat"));
    CHECK_TEXT("the ids of several nodes end in 'chat': agent/search/chat, web/chat",
               t->err.message);
    CHECK_TEXT("write more of its path", t->err.hint);
    CHECK_TEXT("a=3 b=2", at(d, bag, "before:web/chat"));
    CHECK_TEXT("", at(d, bag, "before:search/chat"));
    for (int i = 0; i < 20; i++)
        CHECK_OK(pack_as(bag, test_format("n%02d/chat", i), "c", "5", &t->err));
    CHECK_RC(VALISE_E_CONFLICT, no_point(d, bag, "before:chat"));
    CHECK(strstr(t->err.message, "n05/chat, ..."));
    CHECK(!strstr(t->err.message, "n06/chat"));
    /* A node hears of no others. */
    view = node_of(d, bag, "mine", "", NULL);
    CHECK_RC(VALISE_E_CONFLICT, no_point(d, view, "before:chat"));
    CHECK_TEXT("the ids of several nodes end in 'chat'", t->err.message);
}

/* Who acts is never guessed: an id that nobody had is a new node. [B31] */
TEST(api_path, who_acts_says_the_whole_id)
{
    desk *d = desk_open(t);
    const valise_permissions none = {.deny = NAMES("*")};
    valise_backpack *bag = two_nodes(d), *view;

    CHECK_OK(valise_permit(bag, "agent/plan", &none, &t->err));
    view = node_of(d, bag, "plan", "", NULL);
    CHECK_TEXT("3", got(view, "a"));
    CHECK_OK(pack(view, "p", "1", &t->err));
    CHECK_TEXT("4 pack p v1 by plan", by(bag, "plan"));
}
