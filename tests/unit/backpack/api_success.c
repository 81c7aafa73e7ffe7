/* api_success.c -- success criteria of the first specification that end in flows and prompts, as
 * far as the backpack decides them. SC-2 to SC-4 need neither: api_travel.c, api_access.c, seed.c.
 * [B30] */
#include <limits.h>

#include "api_kit.h"

#include "harness/counting_env.h"

TEST_PARAMS(api_success, ALL_KINDS)

/* ---- SC-1: a tool fails, and no node downstream has the error before it ---- */

/* A failed attempt, as the specification's retry loop has it: never packed, with the error. */
static int failed_attempt(valise_backpack *bag, const char *key, valise_error *err)
{
    const valise_quarantine_options o = {.size = sizeof(o),
                                         .reason = VLS_STR("Retry failed"),
                                         .error = VLS_STR("{\"code\":\"ECONNREFUSED\"}")};

    return valise_quarantine(NULL, bag, key, &o, err);
}

/* Nothing that a prompt is made of has it. */
static void check_clean(desk *d, valise_backpack *chat)
{
    const char *views[] = {items(chat), items_in(chat, "tools.*"), keys(chat),
                           items(at_point(d, chat, "now"))};

    for (size_t i = 0; i < VLS_COUNT(views); i++) {
        CHECK_MSG(!strstr(views[i], "ECONN") && !strstr(views[i], "retry_") &&
                      !strstr(views[i], "toolError"),
                  "%s", views[i]);
        CHECK(strstr(views[i], "apiResult"));
    }
    CHECK_TEXT("(absent)", got(chat, "toolError"));
    CHECK_TEXT("(absent)", seen(chat, "toolError"));
    CHECK_TEXT("(not found)", needed(chat, "toolError"));
    CHECK_TEXT("(absent)", got(chat, "retry_0"));
    CHECK_TEXT("(denied)", jailed(chat));
}

/* The prompt itself is built by flows: there the same is checked of its text. */
TEST(api_success, sc_1_state_sanitization) /* [B25] [B30] */
{
    desk *d = desk_open(t);
    valise_backpack *bag = bag_of(d, "run-1");
    valise_backpack *tool = node_of(d, bag, "tool-1", "tools.api", NULL);
    valise_backpack *chat = node_of(d, bag, "chat-1", "chat", NULL);

    CHECK_OK(pack(tool, "toolError", "\"ECONNREFUSED\"", &t->err));
    CHECK_TEXT("\"ECONNREFUSED\"", got(chat, "toolError")); /* as long as nobody says so */
    CHECK_OK(jail(tool, "toolError", "flow control", &t->err));
    CHECK_OK(failed_attempt(tool, "retry_0", &t->err));
    CHECK_OK(failed_attempt(tool, "retry_1", &t->err));
    CHECK_OK(pack(tool, "apiResult", "42", &t->err));
    check_clean(d, chat);
    /* Who looks for the reason finds it. */
    CHECK_TEXT("2:toolError=\"ECONNREFUSED\"(flow control) 3:retry_0(Retry failed) "
               "4:retry_1(Retry failed)",
               jailed(bag));
}

/* ---- SC-5: less than 5 ms for what a node does with its backpack ---- */

/* One execution: its view, ten reads, a query, five packs, and the end of the run, which makes them
 * durable where they wait. */
static void execute_node(valise_backpack *bag, int round, valise_error *err)
{
    const valise_permissions allow = {.read = NAMES("k*"), .write = NAMES("k*")};
    const valise_node node = {.size = sizeof(node),
                              .id = VLS_STR("chat-1"),
                              .namespace_name = VLS_STR("sales.chat"),
                              .permissions = &allow};
    valise_backpack *view = NULL;

    CHECK_INT(0, valise_backpack_node(&view, bag, &node, err));
    for (int i = 0; i < 10; i++)
        CHECK(strcmp(got(view, test_format("k%d", i)), "(denied)") != 0);
    CHECK(strcmp(items_in(view, "sales.*"), "(denied)") != 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(0, pack(view, test_format("k%d", i), test_format("{\"n\":%d}", round), err));
    valise_backpack_close(view);
}

static long long work_of_node(desk *d, valise_backpack *bag, int round)
{
    const counting_env *memory = d->t->env->self;
    long long before = memory->calls;

    execute_node(bag, round, d->err);
    return memory->calls - before;
}

/* The least of some rounds: tables grow now and then. */
static long long least_work(desk *d, valise_backpack *bag)
{
    long long least = LLONG_MAX;

    for (int round = 0; round < 30; round++) {
        long long work = work_of_node(d, bag, round);
        least = VLS_MIN(least, work);
    }
    return least;
}

/* How long it takes bench/backpack.c measures, against the 5 ms. Here: what it does, counted in
 * allocations, stays the same however long the history is. The overhead of a whole node is a matter
 * of flows. */
TEST(api_success, sc_5_performance) /* [B30] */
{
    desk *d = desk_open(t);
    valise_backpack_options o = desk_options(d, d->durable ? VALISE_BACKPACK_WRITE_BEHIND : 0);
    valise_backpack *bag = bag_with(d, "run-1", &o);
    long long young, old;

    for (int i = 0; i < 500; i++)
        CHECK_OK(pack(bag, test_format("k%d", i % 100), test_format("%d", i), &t->err));
    (void)least_work(d, bag); /* what the first ones make stays */
    young = least_work(d, bag);
    for (int i = 0; i < 4000; i++)
        CHECK_OK(pack(bag, test_format("k%d", i % 100), test_format("%d", i), &t->err));
    (void)least_work(d, bag);
    old = least_work(d, bag);
    CHECK_TEXT("{\"n\":29}", seen(bag, "k0"));
    CHECK_MSG(old <= young + young / 10, "a node takes %lld allocations, then %lld", young, old);
}
