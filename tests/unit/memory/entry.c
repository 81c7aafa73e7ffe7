/* entry.c -- context entries: contents, expiry, blobs, history. [W13] */
#include "memory/kit.h"

#include "base/base64.h"

TEST_PARAMS(entry, "memory", "sqlite")

static const char *show(den *d, const char *key)
{
    return den_run(d, "context:show", test_format("{\"key\":\"%s\"}", key));
}

static const char *history(den *d, const char *key)
{
    return den_run(d, "context:history", test_format("{\"key\":\"%s\"}", key));
}

TEST(entry, is_a_text_a_value_or_a_blob)
{
    den *d = den_open(t);
    const char *file = test_format("%s/picture.png", test_tmpdir());
    const char *shown, *blob;

    (void)den_run(d, "context:add",
                  "{\"key\":\"a/text\",\"text\":\"We write C11.\",\"topics\":[\"c\",\"b\",\"c\"],"
                  "\"metadata\":{\"from\":[1,2]}}");
    shown = show(d, "a/text");
    CHECK_TEXT("text", den_member(shown, "type"));
    CHECK_TEXT("We write C11.", den_member(shown, "text"));
    CHECK(strstr(shown, "\"topics\":[\"b\",\"c\"]"));
    CHECK(strstr(shown, "\"metadata\":{\"from\":[1,2]}"));

    (void)den_run(d, "context:add", "{\"key\":\"a/value\",\"value\":{\"b\":2,\"a\":[null]}}");
    shown = show(d, "a/value");
    CHECK_TEXT("json", den_member(shown, "type"));
    CHECK(strstr(shown, "\"value\":{\"a\":[null],\"b\":2}"));

    test_write_file(file, VLS_STR("\x89PNG\r\n\x1a\nbytes"));
    (void)den_run(d, "context:add", test_format("{\"key\":\"b/file\",\"file\":\"%s\"}", file));
    shown = show(d, "b/file");
    CHECK_TEXT("blob", den_member(shown, "type"));
    CHECK_TEXT("13", den_member(shown, "size"));
    CHECK_TEXT("image/png", den_member(shown, "mediaType"));
    CHECK_TEXT("picture.png", den_member(shown, "filename"));
    blob = den_member(shown, "blob");
    /* By its hash, and as bytes: the same one. */
    (void)den_run(d, "context:add", test_format("{\"key\":\"b/hash\",\"blob\":\"%s\"}", blob));
    (void)den_run(d, "context:add",
                  "{\"key\":\"b/data\",\"data\":\"iVBORw0KGgpieXRlcw==\",\"filename\":\"x\"}");
    CHECK_TEXT(blob, den_member(show(d, "b/data"), "blob"));
    CHECK_TEXT("3", den_member(den_run(d, "blob:list", "{}"), "count"));
    CHECK(!strstr(den_run(d, "log:list", "{}"), "iVBOR"));

    CHECK_INT(2, den_times(den_run(d, "context:list", "{\"prefix\":\"a/\"}"), "\"key\""));
    CHECK_INT(5, den_times(den_run(d, "context:list", "{}"), "\"key\""));
    CHECK_INT(1, den_times(den_run(d, "context:list", "{\"topic\":\"b\"}"), "\"key\""));
    den_check(d);
}

/* [W9] [W10] */
TEST(entry, holds_its_blob_as_long_as_it_is_one)
{
    den *d = den_open(t);

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"data\":\"b25l\"}");
    CHECK_INT(1, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"topics\":[\"x\"]}");
    CHECK_INT(1, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"data\":\"dHdv\"}");
    CHECK_INT(1, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    CHECK_TEXT("{\"count\":1,\"seq\":4}",
               den_run(d, "index:count",
                       test_format("{\"name\":\"blobs\",\"prefix\":\"%s/\"}",
                                   den_member(show(d, "k"), "blob"))));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"text\":\"no blob\"}");
    CHECK_INT(0, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"data\":\"dHdv\"}");
    den_check(d);
    (void)den_run(d, "context:delete", "{\"key\":\"k\"}");
    CHECK_INT(0, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    den_check(d);
}

TEST(entry, what_makes_no_sense_is_refused)
{
    static const struct {
        int code;
        const char *json, *says;
    } wrong[] = {
        {VALISE_E_INVALID, "{\"key\":\"k\"}", "needs some content"},
        {VALISE_E_INVALID, "{\"key\":\"\",\"text\":\"x\"}", "key"},
        {VALISE_E_INVALID, "{\"key\":\"a\\u0000\",\"text\":\"x\"}", "control"},
        {VALISE_E_INVALID, "{\"key\":\"k \",\"text\":\"x\"}", "space"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"text\":\"x\",\"value\":1}", "one content"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"text\":\"x\",\"data\":\"b25l\"}", "one content"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"file\":\"/x\",\"data\":\"b25l\"}", "one content"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"text\":\"x\",\"expires\":\"2001-01-01T00:00:00Z\"}",
         "already in the past"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"text\":\"x\",\"ttl\":\"0s\"}", "already in the past"},
        {VALISE_E_INVALID,
         "{\"key\":\"k\",\"text\":\"x\",\"ttl\":\"1h\",\"expires\":\"2101-01-01T00:00:00Z\"}",
         "either"},
        {VALISE_E_INVALID, "{\"key\":\"k\",\"text\":\"x\",\"topics\":[\"\"]}", "topic"},
        {VALISE_E_NOT_FOUND, "{\"key\":\"k\",\"file\":\"/nowhere/at/all\"}", "/nowhere/at/all"},
        {VALISE_E_NOT_FOUND,
         "{\"key\":\"k\",\"blob\":"
         "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
         "0123"},
    };
    den *d = den_open(t);
    int64_t seq = den_seq(d);

    for (size_t i = 0; i < VLS_COUNT(wrong); i++)
        den_refused(d, wrong[i].code, wrong[i].says, "context:add", wrong[i].json);
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"x\"}");
    den_refused(d, VALISE_E_EXISTS, "'k' already", "context:add", "{\"key\":\"k\",\"text\":\"y\"}");
    den_refused(d, VALISE_E_INVALID, "one content", "context:update",
                "{\"key\":\"k\",\"text\":\"x\",\"value\":1}");
    den_refused(d, VALISE_E_NOT_FOUND, "no context entry", "context:update", "{\"key\":\"z\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no context entry", "context:delete", "{\"key\":\"z\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "no context entry", "context:show", "{\"key\":\"z\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "the log has no", "context:history", "{\"key\":\"z\"}");
    CHECK_RC(VALISE_E_NOT_FOUND, den_try(d, "context:erase", "{\"key\":\"z\"}"));
}

TEST(entry, expires)
{
    den *d = den_open(t);
    const char *seq;

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"x\",\"ttl\":\"1h\"}");
    (void)den_run(d, "context:add", "{\"key\":\"stays\",\"text\":\"x\"}");
    (void)den_run(d, "context:add", "{\"key\":\"pic\",\"data\":\"b25l\",\"ttl\":\"1h\"}");
    CHECK(den_member(show(d, "k"), "expires")[0]);
    den_wait(d, HOUR / 2);
    CHECK_INT(3, den_times(den_run(d, "context:list", "{}"), "\"key\""));
    den_wait(d, HOUR);
    CHECK_INT(1, den_times(den_run(d, "context:list", "{}"), "\"key\""));
    CHECK_INT(3, den_times(den_run(d, "context:list", "{\"all\":true}"), "\"key\""));
    den_refused(d, VALISE_E_NOT_FOUND, "expired at", "context:show", "{\"key\":\"k\"}");
    den_refused(d, VALISE_E_NOT_FOUND, "expired at", "context:update",
                "{\"key\":\"k\",\"text\":\"y\"}");
    /* As of then it was there. [K35] */
    seq = test_format("%lld", (long long)den_seq(d));
    CHECK_TEXT("x", den_member(den_at(d, "context:show", "{\"key\":\"k\"}", "3"), "text"));
    CHECK_INT(2, den_times(den_at(d, "context:list", "{}", "3"), "\"key\""));
    (void)seq;

    /* Its place is free. */
    CHECK_TEXT("{\"key\":\"k\",\"version\":2}",
               den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"again\"}"));
    CHECK_TEXT("", den_member(show(d, "k"), "expires"));

    (void)den_run(d, "workspace:gc", "{}");
    CHECK_INT(2, den_times(den_run(d, "context:list", "{\"all\":true}"), "\"key\""));
    CHECK_INT(0, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    CHECK(strstr(den_run(d, "log:list", "{}"), "context:expire"));
    CHECK(strstr(history(d, "pic"), "\"deleted\":true"));
    den_check(d);
    {
        int64_t before = den_seq(d);
        (void)den_run(d, "workspace:gc", "{}"); /* there are none: no entry */
        CHECK_INT(before, den_seq(d));
    }
}

TEST(entry, expiry_can_be_changed_and_taken_away)
{
    den *d = den_open(t);

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"x\",\"ttl\":\"1h\"}");
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"ttl\":\"3h\"}");
    den_wait(d, 2 * HOUR);
    CHECK_TEXT("x", den_member(show(d, "k"), "text"));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"unset\":[\"expires\",\"metadata\"]}");
    den_wait(d, 20 * HOUR);
    CHECK_TEXT("x", den_member(show(d, "k"), "text"));
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"ttl\":\"1h\"}");
    den_wait(d, 2 * HOUR);
    (void)den_run(d, "context:delete", "{\"key\":\"k\"}"); /* its row was still there */
    CHECK_INT(0, den_times(den_run(d, "context:list", "{\"all\":true}"), "\"key\""));
    den_check(d);
}

TEST(entry, history_tells_of_updates_deletes_and_what_came_again)
{
    den *d = den_open(t);
    const char *all;
    int64_t seq;

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"one\",\"topics\":[\"t\"]}");
    (void)den_run(d, "context:update", "{\"key\":\"k\",\"value\":{\"two\":2}}");
    seq = den_seq(d);
    CHECK_TEXT(
        "{\"key\":\"k\",\"version\":2}",
        den_run(d, "context:update", "{\"key\":\"k\",\"value\":{\"two\":2.0},\"topics\":[\"t\"]}"));
    CHECK_INT(seq, den_seq(d));
    (void)den_run(d, "context:delete", "{\"key\":\"k\"}");
    all = history(d, "k");
    CHECK_INT(3, den_times(all, "\"seq\":"));
    CHECK(strstr(all, "{\"items\":[{\"actor\":\"local\",\"deleted\":true"));
    (void)den_run(d, "context:add", "{\"key\":\"k\",\"text\":\"three\"}");
    all = history(d, "k");
    CHECK_INT(4, den_times(all, "\"seq\":"));
    CHECK(strstr(all, "three") < strstr(all, "\"deleted\":true"));
    CHECK(strstr(all, "\"deleted\":true") < strstr(all, "\"value\":{\"two\":2}"));
    CHECK(strstr(all, "\"value\":{\"two\":2}") < strstr(all, "\"one\""));
    CHECK_INT(4, den_times(all, "\"time\":"));
    /* [K35] */
    CHECK_TEXT("one", den_member(den_at(d, "context:show", "{\"key\":\"k\"}", "2"), "text"));
    CHECK_RC(VALISE_E_NOT_FOUND, den_try(d, "context:show", "{\"key\":\"no\"}"));
    den_check(d);
}

TEST(entry, erase_takes_it_from_every_file)
{
    den *d = den_open(t);

    (void)den_run(d, "context:add",
                  "{\"key\":\"a/b%c\",\"text\":\"the first secret\","
                  "\"metadata\":{\"m\":\"the secret of metadata\"}}");
    (void)den_run(d, "context:update", "{\"key\":\"a/b%c\",\"value\":[\"the second secret\"]}");
    (void)den_run(d, "context:update", "{\"key\":\"a/b%c\",\"data\":\"dGhlIGJsb2JieSBzZWNyZXQ=\"}");
    CHECK(!d->dir || den_has_bytes(d, "the first secret"));
    CHECK(!d->dir || den_has_bytes(d, "the blobby secret"));
    (void)den_run(d, "context:erase", "{\"key\":\"a/b%c\",\"reason\":\"why not\"}");
    (void)den_run(d, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK(!den_has_bytes(d, "secret"));
    CHECK(!strstr(history(d, "a/b%c"), "secret"));
    CHECK_INT(0, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    CHECK_INT(0, den_times(den_run(d, "context:list", "{}"), "\"key\""));
    den_check(d);
    /* The key can be used again. */
    (void)den_run(d, "context:add", "{\"key\":\"a/b%c\",\"text\":\"anew\"}");
    CHECK_TEXT("anew", den_member(show(d, "a/b%c"), "text"));
    den_check(d);
}

/* [K20] The place stays then. */
TEST(entry, erasing_its_place_lets_go_of_its_blob)
{
    den *d = den_open(t);

    (void)den_run(d, "context:add", "{\"key\":\"k\",\"data\":\"dGhlIGJsb2JieSBzZWNyZXQ=\"}");
    (void)den_run(d, "workspace:erase", "{\"place\":\"context/k\"}");
    (void)den_run(d, "workspace:gc", "{\"grace\":\"0s\"}");
    CHECK_INT(0, den_times(den_run(d, "blob:list", "{}"), "\"sha256\""));
    CHECK(!den_has_bytes(d, "the blobby secret"));
    CHECK(!den_member(show(d, "k"), "blob")[0]);
    den_check(d);
}

TEST(entry, expects_a_version)
{
    den *d = den_open(t);
    valise_call call = VALISE_CALL_INIT;

    call.expect = VLS_STR("null");
    CHECK_OK(valise_dispatch(NULL, d->v, "context:add", "{\"key\":\"k\",\"text\":\"x\"}", &call,
                             &t->err));
    CHECK_RC(VALISE_E_CONFLICT, valise_dispatch(NULL, d->v, "context:update",
                                                "{\"key\":\"k\",\"text\":\"y\"}", &call, &t->err));
    call.expect = VLS_STR("1");
    CHECK_OK(valise_dispatch(NULL, d->v, "context:update", "{\"key\":\"k\",\"text\":\"y\"}", &call,
                             &t->err));
    CHECK_RC(VALISE_E_CONFLICT,
             valise_dispatch(NULL, d->v, "context:delete", "{\"key\":\"k\"}", &call, &t->err));
}
