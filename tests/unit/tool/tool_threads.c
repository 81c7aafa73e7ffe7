/* tool_threads.c -- one box, many threads. [F11] [F14] */
#include <pthread.h>

#include "tool/kit.h"

typedef struct shared {
    test *t;
    vls_toolbox *box;
    atomic_int calls;
} shared;

static int count_call(void *self, valise_tool_call *call, valise_error *err)
{
    (void)atomic_fetch_add((atomic_int *)self, 1);
    return valise_tool_answer(call, valise_tool_arguments(call), err);
}

static void call_all(size_t index, void *arg)
{
    shared *s = arg;

    for (int i = 0; i < 5; i++) {
        const char *arguments = test_format("{\"text\":\"hello\",\"n\":%zu}", index * 100 + i);
        called c = kit_call(s->t, s->box, "echo", arguments);
        CHECK_TEXT("\"hello\"", c.json);
        c = kit_call(s->t, s->box, "host", arguments);
        CHECK(!c.failed && strstr(c.json, test_format("\"n\":%zu,", index * 100 + i)));
        c = kit_call(s->t, s->box, "program", arguments);
        CHECK(!c.failed && strstr(c.json, test_format("\"n\":%zu,", index * 100 + i)));
        if (index == 0 && i == 2) /* the others start it again */
            (void)kit_call(s->t, s->box, "dies", "{}");
    }
}

static vls_toolbox *box_of(test *t, atomic_int *calls)
{
    vls_toolbox *box = kit_box(t);
    vls_tool_server server = kit_server("good");
    valise_tool host = {.size = sizeof(host), .name = "host", .self = calls, .call = count_call};

    CHECK_OK(vls_toolbox_add_server(box, &server, &t->err));
    CHECK_OK(vls_toolbox_add_host(box, &host, &t->err));
    kit_add_shell(t, box, "program", "cat");
    return box;
}

TEST(tool_threads, all_call_at_once)
{
    shared s = {.t = t};

    s.box = box_of(t, &s.calls);
    test_threads(6, call_all, &s);
    CHECK_INT(30, s.calls);
}

/* One asks without an answer; the others wait for the server, and can give that up. */
static void wait_or_give_up(size_t index, void *arg)
{
    shared *s = arg;
    int left = index == 0 ? 15 : 2;
    called c;

    if (index > 0)
        process_sleep_us(300000);
    c = kit_call_while(s->t, s->box, index == 0 ? "never" : "count", "{}", &left);
    CHECK_INT(VALISE_E_CANCELLED, c.rc);
    if (index > 0)
        CHECK_MSG(c.took_ms < kit_at_once_ms() + 200, "%lld ms", (long long)c.took_ms);
}

TEST(tool_threads, waiting_for_others_can_be_given_up)
{
    shared s = {.t = t};

    s.box = box_of(t, &s.calls);
    test_threads(4, wait_or_give_up, &s);
    CHECK(!kit_call(t, s.box, "count", "{}").failed);
}
