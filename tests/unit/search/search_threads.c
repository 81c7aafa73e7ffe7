/* search_threads.c -- threads that write, search, and make the index anew, through one handle.
 * [W14]
 */
#include <unistd.h>

#include "search/area.h"
#include "search/kit.h"

TEST_PARAMS(search_threads, "memory", "sqlite")

#define WRITERS 3u
#define ROUNDS 12u
#define DISTURBANCES 48u

typedef struct crowd {
    desk *d;
    valise *other; /* a second handle on the same files, or the same one */
} crowd;

/* How many hits there are. */
static size_t count_hits(valise *v, const char *query)
{
    valise_search_options o = VALISE_SEARCH_OPTIONS_INIT;
    valise_error err = VALISE_ERROR_INIT;
    valise_hits *hits = NULL;
    size_t count;
    int rc;

    o.limit = 1000;
    rc = valise_search(&hits, v, query, &o, NULL, &err);
    CHECK_MSG(rc == 0, "%s", err.message);
    count = hits->count;
    for (size_t i = 0; i < count; i++)
        CHECK(hits->items[i]->place.len > 0 && hits->items[i]->snippet.len > 0);
    valise_hits_free(hits);
    return count;
}

static void dispatch(valise *v, const char *op, const char *json)
{
    valise_error err = VALISE_ERROR_INIT;
    int rc = valise_dispatch(NULL, v, op, json, NULL, &err);

    CHECK_MSG(rc == 0, "%s: %s", op, err.message);
}

/* It finds nothing, whatever others do meanwhile. */
static void verify(valise *v)
{
    valise_projection p = {.size = sizeof(p)};
    valise_error err = VALISE_ERROR_INIT;
    int rc = vls_search_verify(&p, v, false, &err);

    CHECK_MSG(rc == 0, "%s", err.message);
    CHECK_MSG(p.differences == 0 && !p.damage[0], "%d: %s%s", (int)p.differences, p.example,
              p.damage);
}

/* Says something and finds it; its entry is there once, however often it is written anew. */
static void write_and_find(valise *v, unsigned index)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned n = (index + 1) * 1000 + i;
        dispatch(v, "turn:add",
                 test_format("{\"sessionId\":\"s\",\"turn\":{\"id\":\"018f0000-0000-7000-8000-"
                             "%012u\",\"role\":\"user\",\"blocks\":[{\"type\":\"text\","
                             "\"text\":\"common number%u\"}]}}",
                             n, n));
        dispatch(v, "context:update",
                 test_format("{\"key\":\"k%u\",\"text\":\"entry version%u\"}", index, i));
        CHECK_INT(1, count_hits(v, test_format("number%u", n)));
        CHECK_INT(WRITERS, count_hits(v, "entry"));
    }
}

/* Validates, which compares; mends; and most often takes the file away, also while another opens
 * it. */
static void disturb(const crowd *c)
{
    for (unsigned i = 0; i < DISTURBANCES; i++) {
        if (i % 8 == 0)
            verify(c->d->v);
        else if (i % 8 != 1 && !c->d->memory)
            (void)unlink(desk_path(c->d, "search.db"));
        else
            dispatch(c->d->v, "workspace:sync", "{}");
        CHECK_INT(WRITERS, count_hits(c->other, "entry"));
    }
}

static void work(size_t index, void *arg)
{
    const crowd *c = arg;
    size_t before = 0;

    if (index < WRITERS) {
        write_and_find(index % 2 ? c->other : c->d->v, (unsigned)index);
    } else if (index == WRITERS) {
        disturb(c);
    } else {
        for (unsigned i = 0; i < ROUNDS; i++) { /* nothing that was found is lost again */
            size_t now = count_hits(index % 2 ? c->other : c->d->v, "common");
            CHECK(now >= before);
            before = now;
        }
    }
}

TEST(search_threads, writers_and_a_rebuild)
{
    crowd c = {.d = desk_open(t)};
    desk *other = c.d->memory ? c.d : desk_open_in(t, c.d->dir, false);

    c.other = other->v;
    desk_talk(c.d);
    for (unsigned i = 0; i < WRITERS; i++)
        (void)desk_run(c.d, "context:add", test_format("\"key\":\"k%u\",\"text\":\"entry\"", i));
    test_threads(WRITERS + 3, work, &c);
    CHECK_INT(WRITERS * ROUNDS, count_hits(c.other, "common"));
    CHECK_INT(WRITERS * ROUNDS, count_hits(c.d->v, "common"));
    CHECK_OK(desk_try(c.d, "", "workspace:validate", ""));
}
