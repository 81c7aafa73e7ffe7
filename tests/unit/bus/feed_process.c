/* feed_process.c -- other processes write, this one follows. [K11] [K15] [K16] */
#include "kit/feed.h"

#include "harness/process.h"

#define WRITERS 3
#define COMMANDS 40

static int write_some(size_t index, void *arg)
{
    garden_options o = {
        .env = valise_env_default(), .backend = "sqlite", .dir = *(const char **)arg};
    valise_error err = VALISE_ERROR_INIT;
    garden g;

    CHECK_MSG(garden_try_open(&g, &o, &err) == 0, "%s", err.message);
    for (int i = 0; i < COMMANDS; i++) {
        char payload[96];
        snprintf(payload, sizeof(payload), "{\"name\":\"p%zu\",\"kind\":\"k%d\",\"size\":%d}",
                 index, i % 3, i + 1);
        CHECK_MSG(valise_dispatch(NULL, g.v, "plant:put", payload, NULL, &err) == 0, "%s",
                  err.message);
    }
    garden_close(&g);
    return 0;
}

static garden_notes *follow_from_now(garden *g, valise_subscription **s)
{
    test *t = g->t;
    garden_notes *notes = test_alloc(sizeof(*notes));
    valise_follow how = {.size = sizeof(how), .fn = garden_note, .arg = notes};

    CHECK_OK(valise_subscribe(s, g->v, &how, &t->err));
    return notes;
}

static int poll_until_all(size_t index, void *arg)
{
    garden_options o = {
        .env = valise_env_default(), .backend = "sqlite", .dir = *(const char **)arg};
    valise_error err = VALISE_ERROR_INIT;
    garden_notes notes = {0};
    valise_cursor start = {1, 0};
    valise_follow how = {.size = sizeof(how), .fn = garden_note, .arg = &notes, .since = &start};
    valise_subscription *s;
    garden g;

    if (index > 0)
        return write_some(index, arg);
    CHECK_MSG(garden_try_open(&g, &o, &err) == 0, "%s", err.message);
    CHECK_INT(0, valise_subscribe(&s, g.v, &how, &err));
    while (notes.count < 2 * WRITERS * COMMANDS)
        CHECK_MSG(valise_poll(g.v, INT64_C(1000000000), &err) >= 0, "%s", err.message);
    CHECK_INT(2 * WRITERS * COMMANDS, notes.count);
    CHECK_INT(0, notes.disorder);
    CHECK_INT(WRITERS * COMMANDS, notes.last.seq);
    valise_unsubscribe(s);
    garden_close(&g);
    return 0;
}

TEST(feed_process, sees_what_others_write)
{
    const char *dir = test_tmpdir();

    garden_close(garden_open(t, &(garden_options){.backend = "sqlite", .dir = dir}));
    process_all(NULL, WRITERS + 1, poll_until_all, &dir);
}

TEST(feed_process, each_sees_the_other_at_its_next_read)
{
    const char *dir = test_tmpdir();
    garden *g = garden_open(t, &(garden_options){.backend = "sqlite", .dir = dir});
    valise_subscription *s = NULL;
    garden_notes *notes = follow_from_now(g, &s);

    CHECK_TEXT("{\"items\":[]}", garden_ask(g, "index:query", "{\"name\":\"kinds\"}"));
    process_all(NULL, 1, write_some, &dir);
    CHECK_TEXT("{\"items\":[{\"key\":\"k0/p0\",\"value\":{\"size\":40}}]}",
               garden_ask(g, "index:query", "{\"name\":\"kinds\"}"));
    CHECK_INT(0, notes->count);
    CHECK_RC(1, valise_poll(g->v, 0, &t->err));
    CHECK_INT(2 * COMMANDS, notes->count);
    CHECK_INT(0, notes->disorder);
    CHECK(strstr(garden_ask(g, "workspace:sync", "{}"), "{\"differences\":0"));
    valise_unsubscribe(s);
}
