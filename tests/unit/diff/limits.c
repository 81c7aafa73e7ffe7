/* limits.c -- what cannot be seen any more, what came from elsewhere, and memory that runs out. */
#include "context/kit.h"
#include "harness/fault.h"

TEST_PARAMS(limits, "memory", "sqlite")

/* Versions stay when the log goes; what was known then does not. */
TEST(limits, without_the_log_there_are_files_alone)
{
    yard *y = yard_open(t);

    yard_grow(y, "a=1", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    yard_grow(y, "a=2", "");
    (void)yard_run(y, "retention:set", "{\"kind\":\"log\",\"keepLatest\":1}");
    (void)yard_run(y, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK_RC(VALISE_E_LIMIT,
             yard_try(y, NULL, "tree:diff", "{\"from\":\"v1\",\"to\":\"v2\"}", NULL));
    CHECK(strstr(t->err.hint, "--nodes"));
    CHECK_RC(VALISE_E_LIMIT, yard_try(y, NULL, "tree:diff", "{\"from\":\"seq:1\"}", NULL));
    CHECK_TEXT(
        "changed",
        yard_member(y, yard_run(y, "tree:diff", "{\"from\":\"v1\",\"to\":\"v2\",\"nodes\":true}"),
                    "items.0.change"));
}

/* A copy with the whole log shows what the original shows; one that only got the rows has no tree
 * of its own to be compared. */
TEST(limits, copies_show_what_their_log_has)
{
    yard *y = yard_open(t), *copy, *other;
    const char *file = test_format("%s/bundle", test_tmpdir());

    if (strcmp(t->param, "memory") != 0)
        SKIP("one folder for all of them");
    yard_grow(y, "a=1", "");
    (void)yard_put(y, NULL, "a", "notes", "one", "");
    yard_grow(y, "a=2", "");
    (void)yard_run(y, "workspace:export", test_format("{\"file\":\"%s\"}", file));
    copy = yard_open_with(t, t->env);
    (void)yard_run(copy, "workspace:import", test_format("{\"file\":\"%s\"}", file));
    CHECK_TEXT(yard_run(y, "tree:diff", "{\"from\":\"v1\",\"patch\":true}"),
               yard_run(copy, "tree:diff", "{\"from\":\"v1\",\"patch\":true}"));
    valise_close(copy->v);
    other = yard_open(t);
    (void)yard_run(other, "workspace:import", test_format("{\"file\":\"%s\"}", file));
    CHECK_RC(VALISE_E_NOT_FOUND, yard_try(other, NULL, "tree:diff", "{\"from\":\"v1\"}", NULL));
}

/* Frames that were erased have nothing to show, and say so. */
TEST(limits, what_was_erased_is_not_shown)
{
    yard *y = yard_open(t);
    const char *one, *put, *json;

    yard_grow(y, "a=1", "");
    put = yard_put(y, NULL, "a", "notes", "one", "");
    one = yard_member(y, put, "frameId");
    (void)yard_put(y, NULL, "a", "notes", "two", "");
    (void)yard_run(y, "workspace:erase", test_format("{\"place\":\"frame/%s\"}", one));
    json =
        yard_run(y, "tree:diff",
                 test_format("{\"from\":\"seq:%s\",\"patch\":true}", yard_member(y, put, "seq")));
    CHECK_TEXT("changed", yard_member(y, json, "items.0.change"));
    CHECK_TEXT("its content was erased", yard_member(y, json, "items.0.unshown"));
    CHECK_TEXT("", yard_member(y, json, "items.0.patch"));
}

/* ---- memory ---- */

typedef struct trial {
    const char *payload;
    size_t rows;       /* that it must tell */
    const char *shows; /* it looks at files, too, and must tell this; or NULL */
} trial;

static int count_rows(const char *json)
{
    int rows = 0;

    for (const char *at = json; (at = strstr(at, "\"what\":")); at++)
        rows++;
    return rows;
}

static int ask(fault *f, void *arg)
{
    const trial *try = arg;
    test inner = *f->t;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *payload = try->payload, *json;
    yard *y;
    int rc;

    fault_off(f);
    inner.param = "memory";
    y = yard_open_with(&inner, f->env);
    yard_grow(y, "a=1 b=2 d/x=3", "");
    (void)yard_put(y, NULL, "a", "notes", "one\n", "");
    (void)yard_put(y, NULL, "b", "notes", "one\n", "");
    yard_grow(y, "a=9 c=2 d/x=4 new=5", "b>c");
    (void)yard_put(y, NULL, "a", "notes", "two\n", "");
    if (try->shows) {
        FILE *file = fopen(test_format("%s/new", f->dir), "w");
        CHECK(file && fputs("5", file) >= 0 && fclose(file) == 0);
        payload = test_format("%s,\"dir\":\"%s\"}", payload, f->dir);
    }
    fault_on(f);
    rc = valise_dispatch(&reply, y->v, "tree:diff", payload, NULL, &f->err);
    fault_off(f);
    if (rc == 0) {
        json = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
        CHECK_INT(try->rows, count_rows(json));
        CHECK(!try->shows || strstr(json, try->shows));
    }
    f->recovered = rc == 0;
    valise_reply_release(&reply);
    valise_close(y->v);
    return rc;
}

TEST(limits_memory, every_allocation_may_fail)
{
    static const trial trials[] = {
        {"{\"from\":\"v1\",\"patch\":true}", 6, NULL},
        {"{\"from\":\"v1\",\"stat\":true,\"paths\":[\"a\"]}", 1, NULL},
        {"{\"from\":\"v1\",\"nodes\":true,\"patch\":true", 4, "+5"},
    };

    for (size_t i = 0; i < VLS_COUNT(trials); i++)
        CHECK(fault_each_alloc(t, 0, ask, (void *)(uintptr_t)&trials[i]) > 20);
}
