/* agent_threads.c -- one adapter and many threads: each gets the answer to what it asked. */
#include "agent_kit.h"

TEST_PARAMS(agent_threads, "here", "process")

#define THREADS 4
#define TIMES 15

static void talk(size_t index, void *arg)
{
    valise_agent_adapter *a = arg;
    const char *node = index % 2 ? "lib/a.c" : "lib/b.c";
    char type[16], text[64];
    valise_error err = VALISE_ERROR_INIT;
    valise_frame_options o = VALISE_FRAME_OPTIONS_INIT;

    (void)snprintf(type, sizeof(type), "t%zu", index);
    o.type = valise_str_of(type);
    for (int i = 0; i < TIMES; i++) {
        valise_frames *known = NULL;
        char view[32];
        (void)snprintf(text, sizeof(text), "%zu says %d", index, i);
        (void)snprintf(view, sizeof(view), "type=%s", type);
        CHECK_INT(0, a->write_context(NULL, a->self, node, valise_str_of(text), &o, &err));
        CHECK_INT(0, a->read_context(&known, a->self, node, view, NULL, &err));
        CHECK_INT(1, known->count);
        CHECK_STR(valise_str_of(text), known->items[0]->content);
        valise_frames_free(known);
    }
}

TEST(agent_threads, each_gets_its_answer)
{
    desk *d = desk_open(t);

    test_threads(THREADS, talk, desk_agent(d, "w"));
}
