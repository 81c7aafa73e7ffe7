/* states.c -- tree:diff: files and what is known about them, in two states. [C28] [C31] */
#include "base/hex.h"
#include "context/kit.h"
#include "json/json.h"

TEST_PARAMS(states, "memory", "sqlite")

/* ---- rows as text ---- */

static valise_str text_of(vls_json row, const char *name)
{
    const vls_json *value = vls_json_get(row, valise_str_of(name));

    return value && value->type == VLS_JSON_STRING ? vls_json_str(*value) : VLS_STR("");
}

static vls_json items_of(yard *y, const char *json, vls_arena *arena)
{
    test *t = y->t;
    vls_json all = {0};

    CHECK_OK(vls_json_parse(&all, arena, valise_str_of(json), NULL, &t->err));
    return *vls_json_get(all, VLS_STR("items"));
}

/* "added a.c; moved x>y; changed a.c[notes]; " */
static const char *brief_as(yard *y, const char *actor, const char *payload)
{
    const char *json = yard_run_as(y, actor, "tree:diff", payload), *out = "";
    vls_arena arena;
    vls_json items;

    vls_arena_init(&arena, y->t->env, (size_t)64 << 20);
    items = items_of(y, json, &arena);
    for (uint32_t i = 0; i < items.len; i++) {
        vls_json row = items.items[i];
        valise_str from = text_of(row, "from"), type = text_of(row, "type");
        out = test_format("%s%.*s %.*s%s%.*s", out, VALISE_STR_ARG(text_of(row, "change")),
                          VALISE_STR_ARG(from), from.len ? ">" : "",
                          VALISE_STR_ARG(text_of(row, "path")));
        if (type.len > 0)
            out = test_format("%s[%.*s]", out, VALISE_STR_ARG(type));
        out = test_format("%s; ", out);
    }
    vls_arena_release(&arena);
    return out;
}

static const char *brief(yard *y, const char *payload)
{
    return brief_as(y, NULL, payload);
}

static int64_t seq_of(yard *y)
{
    valise_reply reply = VALISE_REPLY_INIT;
    test *t = y->t;
    int64_t seq;

    CHECK_OK(valise_dispatch(&reply, y->v, "tree:list", "{}", NULL, &t->err));
    seq = reply.seq;
    valise_reply_release(&reply);
    return seq;
}

/* ---- nodes ---- */

TEST(states, nodes_that_came_went_changed_and_moved)
{
    yard *y = yard_open(t);

    yard_grow(y, "a.c=1 b.c=2 d/x=3 d/y=4 k=5 s*=6", "");
    yard_grow(y, "a.c=9 c.c=2 e/x=3 e/y=4 k>to s=6 new/in=7", "");
    CHECK_TEXT(
        "changed a.c; moved b.c>c.c; moved d>e; removed k; added k; added new; added new/in; "
        "changed s; ",
        brief(y, "{\"from\":\"v1\",\"to\":\"v2\"}"));
    CHECK_TEXT("changed a.c; moved c.c>b.c; moved e>d; removed k; added k; removed new; removed "
               "new/in; changed s; ",
               brief(y, "{\"from\":\"v2\",\"to\":\"v1\"}"));
    CHECK_TEXT("", brief(y, "{\"from\":\"v2\",\"to\":\"v2\"}"));
    CHECK_TEXT("changed a.c; moved b.c>c.c; ",
               brief(y, "{\"from\":\"v1\",\"paths\":[\"a.c\",\"./b.c\"]}"));
    CHECK_TEXT("added new/in; ", brief(y, "{\"from\":\"v1\",\"paths\":[\"new/in\"]}"));
    CHECK_TEXT("changed a.c; moved b.c>c.c; ", brief(y, "{\"from\":\"v1\",\"limit\":2}"));
}

/* Without a word: the version before; and before the first there was nothing. */
TEST(states, left_out_it_is_the_version_before)
{
    yard *y = yard_open(t);

    CHECK_RC(VALISE_E_NOT_FOUND, yard_try(y, NULL, "tree:diff", "{}", NULL));
    yard_grow(y, "a=1 d/b=2", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    CHECK_TEXT("added a; added d; added d/b; added a[notes]; ", brief(y, "{}"));
    yard_grow(y, "a=1 d/b=3", "");
    yard_grow(y, "a=1 d/b=4", "");
    CHECK_TEXT("changed d/b; ", brief(y, "{}"));
    CHECK_TEXT("changed d/b; ", brief(y, "{\"from\":\"v2\"}"));
    CHECK_TEXT("", brief(y, "{\"context\":true}"));
}

/* ---- slots ---- */

TEST(states, slots_in_all_their_ways)
{
    yard *y = yard_open(t);

    yard_grow(y, "a=1 b=2 c=3 m=4 d/x=5 gone=6", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    (void)yard_put(y, NULL, "b", "notes", "one", "");
    (void)yard_put(y, NULL, "c", "notes", "one", "");
    (void)yard_put(y, NULL, "m", "notes", "one", "");
    (void)yard_put(y, NULL, "gone", "notes", "one", "");
    (void)yard_put(y, NULL, "d/x", "notes", "one", "");
    (void)yard_run(y, "slot:invalidate", "{\"node\":\"c\",\"type\":\"notes\",\"noScan\":true}");
    int64_t before = seq_of(y);

    yard_grow(y, "a=1 b=2 c=3 n=4 d/x/in=7 e=8", "m>n");
    (void)yard_put(y, NULL, "a", "notes", "two", "");
    (void)yard_put(y, NULL, "e", "summary", "new", "");
    (void)yard_run(y, "slot:invalidate", "{\"node\":\"b\",\"type\":\"notes\",\"noScan\":true}");
    (void)yard_run(y, "slot:reaffirm", "{\"node\":\"c\",\"type\":\"notes\",\"noScan\":true}");
    int64_t after = seq_of(y);
    CHECK_TEXT(
        "changed a[notes]; invalidated b[notes]; reaffirmed c[notes]; removed d/x[notes]; "
        "added e[summary]; orphaned gone[notes]; moved m>n[notes]; ",
        brief(y, test_format("{\"from\":\"seq:%lld\",\"context\":true}", (long long)before)));
    CHECK_TEXT("changed a[notes]; reaffirmed b[notes]; invalidated c[notes]; added d/x[notes]; "
               "removed e[summary]; found gone[notes]; moved n>m[notes]; ",
               brief(y, test_format("{\"from\":\"now\",\"to\":\"seq:%lld\",\"context\":true}",
                                    (long long)before)));

    /* What lies there is something else: what was said is closed, and this is another slot. */
    (void)yard_put(y, NULL, "d/x", "notes", "of a directory", "");
    CHECK_TEXT("added d/x[notes]; ",
               brief(y, test_format("{\"from\":\"%lld\",\"context\":true}", (long long)after)));
    yard_check(y);
}

TEST(states, slots_that_change_places)
{
    yard *y = yard_open(t);

    yard_grow(y, "a=1 b=2", "");
    (void)yard_put(y, NULL, "a", "notes", "of a", "");
    (void)yard_put(y, NULL, "b", "notes", "of b", "");
    int64_t before = seq_of(y);
    yard_move(y, "a>b b>a");
    CHECK_TEXT("moved b>a[notes]; moved a>b[notes]; ",
               brief(y, test_format("{\"from\":\"seq:%lld\"}", (long long)before)));
}

/* A lost mount or a mode is no farewell: `status` calls it stale, and so does `prune`. [C28] */
TEST(states, what_cannot_be_read_now_is_no_orphan)
{
    yard *y = yard_open(t);

    yard_grow(y, "d/in/x=1 f=2", "");
    (void)yard_put(y, NULL, "d", "notes", "of a directory", "");
    (void)yard_put(y, NULL, "d/in/x", "notes", "of what lies below it", "");
    (void)yard_put(y, NULL, "f", "notes", "of a file", "");
    int64_t before = seq_of(y);
    const char *since = test_format("{\"from\":\"seq:%lld\",\"context\":true}", (long long)before);

    yard_grow(y, "d! f!", "");
    CHECK_TEXT("", brief(y, since));
    yard_grow(y, "f=2", "");
    CHECK_TEXT("orphaned d[notes]; orphaned d/in/x[notes]; ", brief(y, since));
}

/* ---- which state ---- */

TEST(states, a_state_has_many_names)
{
    yard *y = yard_open(t);
    const char *root, *context, *json;
    int64_t seq;

    yard_grow(y, "a=1", "");
    json = yard_put(y, NULL, "a", "notes", "one", "");
    context = yard_member(y, json, "contextRoot");
    seq = seq_of(y);
    (void)yard_put(y, NULL, "a", "notes", "two", "");
    yard_grow(y, "a=2", "");
    (void)yard_put(y, NULL, "a", "notes", "three", "");
    root = yard_member(y, yard_run(y, "tree:list", "{}"), "items.1.treeRoot");

    CHECK_TEXT("changed a; added a[notes]; ", brief(y, "{\"from\":\"v1\"}"));
    CHECK_TEXT("changed a; added a[notes]; ", brief(y, test_format("{\"from\":\"%s\"}", root)));
    CHECK_TEXT("changed a; added a[notes]; ", brief(y, test_format("{\"from\":\"%.10s\"}", root)));
    CHECK_TEXT("changed a; changed a[notes]; ",
               brief(y, test_format("{\"from\":\"%s\"}", context)));
    CHECK_TEXT("changed a; changed a[notes]; ",
               brief(y, test_format("{\"from\":\"%.12s\"}", context)));
    CHECK_TEXT("changed a; changed a[notes]; ",
               brief(y, test_format("{\"from\":\"%lld\"}", (long long)seq)));
    CHECK_TEXT("changed a[notes]; ", brief(y, test_format("{\"from\":\"%s\",\"to\":\"seq:%lld\"}",
                                                          context, (long long)seq + 1)));
    CHECK_TEXT("", brief(y, "{\"from\":\"now\",\"to\":\"now\"}"));
    CHECK_TEXT("", brief(y, "{\"from\":\"2200-01-01T00:00:00Z\"}"));

    /* A root that was there twice means the last time. */
    yard_grow(y, "a=1 z=1", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    CHECK_TEXT("", brief(y, test_format("{\"from\":\"%s\"}", context)));
    CHECK_TEXT("", brief(y, test_format("{\"from\":\"%.12s\"}", context)));
}

TEST(states, what_is_no_state_is_refused)
{
    static const char *const wrong[] = {"v0",           "v99",        "nothing",
                                        "ffffffffffff", "seq:x",      "seq:-1",
                                        "-1",           "seq:",       "v",
                                        "abc",          "..",         "\\u0007",
                                        "v1x",          "seq:999999", "99999999999999999999"};
    yard *y = yard_open(t);

    yard_grow(y, "a=1", "");
    for (size_t i = 0; i < VLS_COUNT(wrong); i++) {
        int rc = yard_try(y, NULL, "tree:diff", test_format("{\"from\":\"%s\"}", wrong[i]), NULL);
        CHECK_MSG(rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID, "%s: %d %s", wrong[i], rc,
                  t->err.message);
        t->err = (valise_error)VALISE_ERROR_INIT;
    }
    CHECK_RC(VALISE_E_INVALID, yard_try(y, NULL, "tree:diff", "{\"paths\":[\"../x\"]}", NULL));
    CHECK_RC(VALISE_E_INVALID, yard_try(y, NULL, "tree:diff", "{\"limit\":-1}", NULL));
}

/* ---- how much ---- */

TEST(states, how_much_there_is_of_each)
{
    yard *y = yard_open(t);
    const char *json;

    yard_grow(y, "a=1 b=2", "");
    yard_grow(y, "a=2 c=2 d=3", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    json = yard_run(y, "tree:diff", "{\"from\":\"v1\",\"stat\":true}");
    CHECK_TEXT("summary", yard_member(y, json, "items.0.what"));
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.added"));
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.changed"));
    CHECK_TEXT("0", yard_member(y, json, "items.0.summary.removed"));
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.moved"));
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.slotsAdded"));
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.fromVersion"));
    CHECK_TEXT("", yard_member(y, json, "items.1.what"));
    CHECK_TEXT("{\"items\":[]}",
               yard_run(y, "tree:diff", "{\"from\":\"v2\",\"to\":\"v2\",\"stat\":true}"));
}

/* ---- what frames say ---- */

TEST(states, the_lines_of_frames)
{
    yard *y = yard_open(t);
    const char *one, *two, *json;

    yard_grow(y, "a=1", "");
    one = yard_member(y, yard_put(y, NULL, "a", "notes", "same\none", ""), "frameId");
    two = yard_member(y, yard_put(y, NULL, "a", "notes", "same\ntwo\n", ""), "frameId");
    json = yard_run(y, "tree:diff",
                    test_format("{\"from\":\"%lld\",\"patch\":true}", (long long)seq_of(y) - 1));
    CHECK_TEXT(test_format("--- frame %.8s a [notes]\n+++ frame %.8s a [notes]\n@@ -1,2 +1,2 @@\n"
                           " same\n-one\n\\ No newline at end of file\n+two\n",
                           one, two),
               yard_member(y, json, "items.0.patch"));
    json = yard_run(y, "tree:diff", "{\"from\":\"v1\",\"to\":\"now\",\"patch\":true}");
    CHECK_TEXT(
        test_format("--- /dev/null\n+++ frame %.8s a [notes]\n@@ -0,0 +1,2 @@\n+same\n+two\n", two),
        yard_member(y, json, "items.0.patch"));
}

/* ---- who may see what ---- */

TEST(states, who_may_see_only_some_sees_only_that)
{
    yard *y = yard_open(t);

    (void)yard_run(y, "agent:add",
                   "{\"id\":\"p\",\"role\":\"none\",\"capabilities\":[\"context:read "
                   "path=src/**\"]}");
    (void)yard_run(y, "agent:add",
                   "{\"id\":\"q\",\"role\":\"none\",\"capabilities\":[\"context:read "
                   "type=summary\"]}");
    yard_grow(y, "src/a=1 src/m=2 out=3 secret=4", "");
    yard_grow(y, "src/a=5 lib/m=2 src/out=3 secret=6", "");
    (void)yard_put(y, NULL, "src/a", "notes", "n", "");
    (void)yard_put(y, NULL, "src/a", "summary", "s", "");
    (void)yard_put(y, NULL, "secret", "notes", "n", "");
    CHECK_TEXT("added lib; moved src/m>lib/m; changed secret; changed src/a; moved out>src/out; "
               "added secret[notes]; added src/a[notes]; added src/a[summary]; ",
               brief(y, "{\"from\":\"v1\"}"));
    CHECK_TEXT("changed src/a; removed src/m; added src/out; added src/a[notes]; added "
               "src/a[summary]; ",
               brief_as(y, "p", "{\"from\":\"v1\"}"));
    CHECK_TEXT("added src/a[summary]; ", brief_as(y, "q", "{\"from\":\"v1\",\"context\":true}"));
    CHECK_RC(VALISE_E_DENIED, yard_try(y, "nobody", "tree:diff", "{}", NULL));
    /* How many there are tells nothing either. */
    const char *json = yard_run_as(y, "p", "tree:diff", "{\"from\":\"v1\",\"stat\":true}");
    CHECK_TEXT("1", yard_member(y, json, "items.0.summary.removed"));
    CHECK_TEXT("0", yard_member(y, json, "items.0.summary.moved"));
    /* Bytes of files are for who may read the tree. */
    json = yard_run_as(y, "p", "tree:diff", "{\"from\":\"v1\",\"nodes\":true,\"patch\":true}");
    CHECK_TEXT("tree:read is needed to see it", yard_member(y, json, "items.0.unshown"));
}

/* Where something came from is nothing to ask for, either. */
TEST(states, an_end_that_is_hidden_is_no_end)
{
    yard *y = yard_open(t);
    int64_t seq;

    (void)yard_run(y, "agent:add",
                   "{\"id\":\"p\",\"role\":\"none\",\"capabilities\":[\"context:read "
                   "path=src/**\"]}");
    yard_grow(y, "src/a=1 secret=4", "");
    (void)yard_put(y, NULL, "secret", "notes", "n", "");
    seq = seq_of(y);
    yard_grow(y, "src/a=1 src/s=4", "secret>src/s");
    CHECK_TEXT("moved secret>src/s[notes]; ",
               brief(y, test_format("{\"from\":\"%lld\",\"context\":true}", (long long)seq)));
    CHECK_TEXT("added src/s; added src/s[notes]; ",
               brief_as(y, "p", test_format("{\"from\":\"%lld\"}", (long long)seq)));
    CHECK_TEXT("",
               brief_as(y, "p",
                        test_format("{\"from\":\"%lld\",\"paths\":[\"secret\"]}", (long long)seq)));
}

/* ---- a model ---- */

#define PLACES 6u
#define STEPS_MAX 64u

typedef struct spot {
    char path; /* 0: there is none */
    char frame[65];
    bool marked;
} spot;

typedef struct known {
    spot spots[PLACES * 4];
    int64_t seq;
} known;

static spot *find(known *k, char path)
{
    for (size_t i = 0; i < VLS_COUNT(k->spots); i++)
        if (k->spots[i].path == path)
            return &k->spots[i];
    return NULL;
}

static char where_of(vls_json row, bool was)
{
    valise_str from = text_of(row, "from");

    return was && from.len > 0 ? from.ptr[0] : text_of(row, "path").ptr[0];
}

/* First all go that are told of, then those come that are there: a path may have been left by one
 * and be taken by another. */
static void take_row(known *k, vls_json row)
{
    spot *s = find(k, where_of(row, true));

    if (vls_str_equal(text_of(row, "change"), VLS_STR("added")))
        return;
    CHECK_MSG(s, "there is no %c", where_of(row, true));
    s->path = 0;
}

static void give_row(known *k, vls_json row)
{
    const vls_json *after = vls_json_get(row, VLS_STR("headAfter")), *marked;
    spot *s;

    if (vls_str_equal(text_of(row, "change"), VLS_STR("removed")))
        return;
    CHECK_MSG(!find(k, where_of(row, false)), "there is a %c", where_of(row, false));
    s = find(k, 0);
    CHECK(s && after && after->type == VLS_JSON_OBJECT);
    marked = vls_json_get(*after, VLS_STR("invalidated"));
    s->path = where_of(row, false);
    s->marked = marked && marked->truth;
    (void)snprintf(s->frame, sizeof(s->frame), "%.*s", VALISE_STR_ARG(text_of(*after, "frameId")));
}

static void check_model(yard *y, const known *a, const known *b)
{
    const char *json =
        yard_run(y, "tree:diff",
                 test_format("{\"from\":\"seq:%lld\",\"to\":\"seq:%lld\",\"context\":true}",
                             (long long)a->seq, (long long)b->seq));
    known now = *a;
    vls_arena arena;
    vls_json items;

    vls_arena_init(&arena, y->t->env, (size_t)16 << 20);
    items = items_of(y, json, &arena);
    for (uint32_t i = 0; i < items.len; i++)
        take_row(&now, items.items[i]);
    for (uint32_t i = 0; i < items.len; i++)
        give_row(&now, items.items[i]);
    CHECK(a->seq != b->seq || items.len == 0);
    for (char p = 'a'; p < 'a' + (char)(2 * PLACES); p++) {
        known there = *b;
        spot *got = find(&now, p), *want = find(&there, p);
        CHECK_MSG(!got == !want, "%lld to %lld: %c", (long long)a->seq, (long long)b->seq, p);
        if (!want)
            continue;
        CHECK_TEXT(want->frame, got->frame);
        CHECK_INT(want->marked, got->marked);
    }
    vls_arena_release(&arena);
}

/* One random step, in the workspace and in the model. Files are a .. l; half of them are there. */
static void step(yard *y, known *k, test_rng *rng, bool there[2 * PLACES])
{
    unsigned at = (unsigned)test_random_below(rng, 2 * PLACES), to = at;
    char name[2] = {(char)('a' + at), 0};
    const char *node = test_format("{\"node\":\"%s\",\"type\":\"notes\",\"noScan\":true}", name);
    spot *s = find(k, name[0]);

    if (!there[at])
        return;
    switch (test_random_below(rng, 5)) {
    case 0:
        if (s && s->frame[0])
            (void)yard_run(y, "slot:invalidate", node);
        if (s)
            s->marked = true;
        return;
    case 1:
        if (!s || !s->marked)
            return;
        (void)yard_run(y, "slot:reaffirm", node);
        s->marked = false;
        /* Of a file that has changed the same is said anew. */
        (void)snprintf(s->frame, sizeof(s->frame), "%s",
                       yard_member(y, yard_run(y, "head:get", node), "items.0.frameId"));
        return;
    case 2:
        to = (unsigned)test_random_below(rng, 2 * PLACES);
        if (there[to] || find(k, (char)('a' + to)))
            return;
        there[at] = false;
        there[to] = true;
        const char *words = "";
        for (unsigned i = 0; i < 2 * PLACES; i++)
            if (there[i])
                words = test_format("%s %c=%u", words, (char)('a' + i), i == to ? 100 + at : i);
        yard_grow(y, words, test_format("%c>%c", (char)('a' + at), (char)('a' + to)));
        if (s)
            s->path = (char)('a' + to);
        return;
    default: {
        const char *json = yard_put(y, NULL, name, "notes",
                                    test_format("%u", (unsigned)test_random_below(rng, 6)), "");
        if (!s)
            s = find(k, 0);
        s->path = name[0];
        (void)snprintf(s->frame, sizeof(s->frame), "%s", yard_member(y, json, "frameId"));
        if (strcmp(yard_member(y, json, "previousHead"), s->frame) != 0)
            s->marked = false;
    }
    }
}

TEST(states, random_states_against_each_other)
{
    test_rng rng = test_rng_new(test_seed());
    yard *y = yard_open(t);
    known *k = test_alloc(STEPS_MAX * sizeof(*k));
    bool there[2 * PLACES] = {0};
    const char *words = "";
    size_t count = 1;

    for (unsigned i = 0; i < PLACES; i++) {
        words = test_format("%s %c=%u", words, (char)('a' + i), i);
        there[i] = true;
    }
    yard_grow(y, words, "");
    k[0].seq = seq_of(y);
    for (size_t i = 0; i < 30; i++) {
        k[count] = k[count - 1];
        for (int n = 0; n < 3; n++)
            step(y, &k[count], &rng, there);
        k[count].seq = seq_of(y);
        count++;
    }
    for (size_t a = 0; a < count; a += 3)
        for (size_t b = 0; b < count; b += 2)
            check_model(y, &k[a], &k[b]);
}
