/* hooks.c -- callbacks that do something with each version: make again what depends on it. [C27]
 *
 * And the work for one edit, from the event to the last frame that is made again, is counted (in
 * allocations of memory, which the same work always has the same number of): it does not grow with
 * the tree. */
#include "base/str.h"
#include "watch/kit.h"

#define FIRST 4

typedef struct hook {
    bed *b;
    const char *payload;
    int runs;
    int64_t made, needs_author, hashed;
    int answer;       /* to who calls back */
    const char *edit; /* a file that is written in the next callback; NULL: none */
} hook;

static int64_t number_of(valise_str json, const char *name)
{
    const char *text = test_format("%.*s", VALISE_STR_ARG(json));
    const char *at = strstr(text, test_format("\"%s\":", name));
    int64_t number;

    CHECK(at != NULL);
    at += strlen(name) + 3;
    CHECK(vls_str_to_i64(&number, vls_str(at, strspn(at, "0123456789"))));
    return number;
}

static int recorded(void *arg, const valise_tree_scanned *scanned, valise_error *err)
{
    hook *h = arg;
    valise_reply reply = VALISE_REPLY_INIT;
    int rc = valise_dispatch(&reply, h->b->v, "context:regenerate", h->payload, NULL, err);

    if (rc == 0) {
        h->made += number_of(valise_blob_bytes(reply.json), "made");
        h->needs_author += number_of(valise_blob_bytes(reply.json), "needsAuthor");
    }
    valise_reply_release(&reply);
    h->runs++;
    h->hashed += scanned->hashed;
    if (h->edit)
        bed_file(h->b, h->edit, "written by who was told");
    h->edit = NULL;
    return rc < 0 ? rc : h->answer;
}

static const char *dir_of(int i)
{
    return test_format("%sd%d", i < FIRST ? "" : "more/", i);
}

/* Directories with two files each, about which something is said; and what is made of that. Those
 * behind the first ones lie in one of their own. */
static hook *make(test *t, bed *b, int dirs)
{
    hook *h = test_alloc(sizeof(*h));
    valise_reply reply = VALISE_REPLY_INIT;

    *h = (hook){.b = b, .payload = "{\"noScan\":true,\"onlyNew\":true,\"recursive\":true}"};
    for (int i = 0; i < dirs; i++) {
        bed_file(b, test_format("%s/a", dir_of(i)), "1");
        bed_file(b, test_format("%s/b", dir_of(i)), "1");
    }
    CHECK_OK(valise_tree_scan(NULL, b->v, NULL, NULL, &t->err));
    for (int i = 0; i < dirs; i++) {
        CHECK_OK(valise_frame_put(NULL, b->v, test_format("%s/a", dir_of(i)), VLS_STR("about a"),
                                  NULL, NULL, &t->err));
        CHECK_OK(valise_frame_put(NULL, b->v, test_format("%s/b", dir_of(i)), VLS_STR("about b"),
                                  NULL, NULL, &t->err));
    }
    CHECK_OK(valise_dispatch(&reply, b->v, "context:synthesize",
                             "{\"node\":\".\",\"recursive\":true,\"type\":\"notes\"}", NULL,
                             &t->err));
    valise_reply_release(&reply);
    return h;
}

static void watch(test *t, hook *h)
{
    valise_watch_options o = VALISE_WATCH_OPTIONS_INIT;

    o.recorded = recorded;
    o.arg = h;
    o.quiet_ns = 5000000;
    CHECK_OK(valise_watch_open(&h->b->watch, h->b->v, &o, NULL, &t->err));
}

static void step(test *t, const hook *h, int versions)
{
    for (int before = h->runs; h->runs < before + versions;)
        CHECK(valise_watch_step(h->b->watch, INT64_C(20000000000), &t->err) >= 0);
}

static bool says(test *t, bed *b, const char *node, const char *word)
{
    valise_frames *known = NULL;
    bool found;

    CHECK_INT(1, valise_head_get(&known, b->other, node, "notes", 0, NULL, &t->err));
    found = strstr(test_format("%.*s", VALISE_STR_ARG(known->items[0]->content)), word) != NULL;
    valise_frames_free(known);
    return found;
}

TEST(hooks, what_depends_on_an_edit_is_made_again)
{
    bed *b = bed_new(t);
    hook *h = make(t, b, 3);

    watch(t, h);
    CHECK(says(t, b, ".", "about b"));
    bed_remove(b, "d1/b");
    step(t, h, 1);
    CHECK_INT(2, h->made); /* d1 and the root */
    CHECK(!says(t, b, "d1", "about b"));
    CHECK(says(t, b, ".", "about b")); /* of the others */
    bed_file(b, "d0/a", "another");
    step(t, h, 1);
    CHECK_INT(2, h->made);
    CHECK_INT(1, h->needs_author);
    bed_file(b, "d2/new", "of that nobody said anything");
    step(t, h, 1);
    CHECK_INT(1, h->needs_author); /* told before */
    bed_check(b);
}

/* With a look at the files in the callback, which is not needed: slower, and as right. */
TEST(hooks, a_scan_in_a_callback)
{
    bed *b = bed_new(t);
    hook *h = make(t, b, 3);

    h->payload = "{\"recursive\":true}";
    watch(t, h);
    for (int i = 0; i < 3; i++) {
        h->edit = test_format("d0/n%d", i); /* seen by that scan, or heard afterwards */
        bed_remove(b, test_format("d%d/b", i));
        step(t, h, 1);
        CHECK(!says(t, b, test_format("d%d", i), "about b"));
        while (valise_watch_step(b->watch, 20000000, &t->err) > 0)
            ;
    }
    bed_check(b);
}

TEST(hooks, a_callback_that_fails)
{
    bed *b = bed_new(t);
    hook *h = make(t, b, 2);

    watch(t, h);
    h->answer = VALISE_E_CONFLICT;
    bed_remove(b, "d0/b");
    CHECK_RC(VALISE_E_CONFLICT, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    CHECK_INT(2, h->made);
    h->answer = 0;
    h->payload = "{\"node\":\"nowhere\"}";
    bed_remove(b, "d1/b");
    CHECK_RC(VALISE_E_NOT_FOUND, valise_watch_step(b->watch, INT64_C(20000000000), &t->err));
    CHECK(says(t, b, "d1", "about b")); /* recorded, and not made */
    h->payload = "{\"noScan\":true,\"onlyNew\":true,\"recursive\":true}";
    bed_file(b, "fence", "1");
    step(t, h, 1); /* what was missed is not lost */
    CHECK(!says(t, b, "d1", "about b"));
    bed_check(b);
}

/* ---- the work for one edit ---- */

typedef struct counter {
    valise_env env;
    const valise_env *real;
    int64_t allocations;
} counter;

static void *resize(void *self, void *ptr, size_t old_size, size_t new_size)
{
    counter *c = self;

    c->allocations += new_size > 0;
    return c->real->resize(c->real->self, ptr, old_size, new_size);
}

static int64_t now_ns(void *self)
{
    const counter *c = self;

    return c->real->now_ns(c->real->self);
}

static int64_t ticks_ns(void *self)
{
    const counter *c = self;

    return c->real->ticks_ns(c->real->self);
}

static int random_bytes(void *self, void *bytes, size_t len)
{
    const counter *c = self;

    return c->real->random(c->real->self, bytes, len);
}

static int64_t work_of_an_edit(test *t, int dirs)
{
    counter *c = test_alloc(sizeof(*c));
    test ours = *t;
    int64_t work;
    hook *h;

    *c = (counter){.env = {.size = sizeof(valise_env),
                           .self = c,
                           .resize = resize,
                           .now_ns = now_ns,
                           .ticks_ns = ticks_ns,
                           .random = random_bytes},
                   .real = t->env};
    ours.env = &c->env;
    h = make(t, bed_new_in(&ours, test_tmpdir()), dirs);
    h->b->t = t;
    watch(t, h);
    bed_remove(h->b, "d0/b"); /* all that is done the first time is done */
    step(t, h, 1);
    h->made = h->hashed = 0;
    c->allocations = 0;
    bed_file(h->b, "d1/a", "edited");
    bed_remove(h->b, "d1/b");
    step(t, h, 1);
    work = c->allocations;
    CHECK_INT(2, h->made);
    CHECK_INT(1, h->hashed);
    bed_close(h->b);
    test_remove(h->b->root);
    return work;
}

TEST(hooks, the_work_for_an_edit_does_not_grow_with_the_tree)
{
    int64_t few = work_of_an_edit(t, FIRST + 2), many = work_of_an_edit(t, 300);

    test_note("%lld allocations, then %lld", (long long)few, (long long)many);
    CHECK(few > 100);
    CHECK(many < few + few / 4); /* trees of pages are a little deeper */
}
