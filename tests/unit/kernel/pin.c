/* pin.c -- pins, the log, show and status, on both backends. [K35 K2] */
#include "kernel/kit.h"

#include "base/str.h"
#include "base/hex.h"
#include "store/object.h"

TEST_PARAMS(pin, "memory", "sqlite")

TEST(pin, holds_a_seq_an_object_or_a_row)
{
    valise *v = ws_open(t);
    const char *id, *list;

    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\",\"note\":\"remember\"}");
    (void)ws_run(t, v, "pin:add", "{\"name\":\"now\"}");
    CHECK_TEXT("{\"existed\":false,\"seq\":1}",
               ws_run(t, v, "pin:add", "{\"name\":\"first\",\"target\":\"1\"}"));
    CHECK_TEXT("{\"existed\":true,\"seq\":1}",
               ws_run(t, v, "pin:add", "{\"name\":\"first\",\"target\":\"1\"}"));
    ws_fails(t, v, VALISE_E_EXISTS, "pin:add", "{\"name\":\"first\",\"target\":\"2\"}");
    CHECK(strstr(t->err.hint, "valise pin remove first"));
    (void)ws_run(t, v, "pin:add", "{\"name\":\"row\",\"target\":\"counter.tally/a\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "pin:add",
             "{\"name\":\"none\",\"target\":\"counter.tally/b\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "pin:add", "{\"name\":\"none\",\"target\":\"999\"}");

    id = strstr(ws_run(t, v, "workspace:show", "{\"target\":\"counter.tally/a\"}"), "\"note\":\"");
    CHECK(id);
    id += strlen("\"note\":\"");
    (void)ws_run(t, v, "pin:add", test_format("{\"name\":\"object\",\"target\":\"%.8s\"}", id));
    list = ws_run(t, v, "pin:list", NULL);
    CHECK(strstr(list, "\"kind\":\"seq\"") && strstr(list, "\"kind\":\"row\"") &&
          strstr(list, test_format("\"object\":\"%.64s\"", id)));
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"row\"}");
    CHECK(!strstr(ws_run(t, v, "pin:list", NULL), "\"kind\":\"row\""));
    ws_fails(t, v, VALISE_E_NOT_FOUND, "pin:remove", "{\"name\":\"row\"}");
}

/* [K8] */
TEST(pin, commands_of_the_kernel_may_say_what_they_expect)
{
    static const char *const commands[][3] = {
        {"pin:add", "{\"name\":\"p\",\"target\":\"1\"}", "null"},
        {"retention:set", "{\"kind\":\"log\",\"keepLatest\":5}", "null"},
        {"agent:update", "{\"id\":\"eve\",\"role\":\"reader\"}", NULL},
    };
    valise *v = ws_open(t);

    (void)ws_run(t, v, "agent:add", "{\"id\":\"eve\",\"role\":\"writer\"}");
    for (size_t i = 0; i < VLS_COUNT(commands); i++) {
        valise_call call = VALISE_CALL_INIT;
        valise_reply reply = VALISE_REPLY_INIT;
        const char *there;
        if (commands[i][2]) {
            call.expect = valise_str_of(commands[i][2]);
            CHECK_OK(valise_dispatch(NULL, v, commands[i][0], commands[i][1], &call, &t->err));
        }
        call.expect = VLS_STR("{\"wrong\":1}");
        CHECK_RC(VALISE_E_CONFLICT,
                 valise_dispatch(&reply, v, commands[i][0], commands[i][1], &call, &t->err));
        CHECK(reply.current);
        there = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.current)));
        valise_reply_release(&reply);
        call.expect = valise_str_of(there);
        CHECK_OK(valise_dispatch(NULL, v, commands[i][0], commands[i][1], &call, &t->err));
    }
}

TEST(pin, the_list_of_pins_at_an_earlier_seq)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "pin:add", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "pin:remove", "{\"name\":\"a\"}");
    CHECK_TEXT("{\"items\":[]}", ws_run(t, v, "pin:list", NULL));
    CHECK(strstr(ws_run_at(t, v, "pin:list", NULL, "2"), "\"name\":\"a\""));
    CHECK_TEXT("{\"items\":[]}", ws_run_at(t, v, "pin:list", NULL, "1"));
}

/* ---- ids (show) ---- */

TEST_PARAMS(show, "memory", "sqlite")

static const char *after(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    CHECK(at);
    return at + strlen(key);
}

TEST(show, an_entry_by_seq_and_by_the_end_of_its_id)
{
    valise *v = ws_open(t);
    const char *by_seq, *id;

    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\",\"by\":5}");
    by_seq = ws_run(t, v, "workspace:show", "{\"target\":\"2\"}");
    CHECK(strstr(by_seq, "\"type\":\"counter:add\"") && strstr(by_seq, "\"kind\":\"entry\""));
    id = after(by_seq, "\"id\":\"");
    CHECK_TEXT(by_seq, ws_run(t, v, "workspace:show", test_format("{\"target\":\"%.36s\"}", id)));
    CHECK_TEXT(by_seq,
               ws_run(t, v, "workspace:show", test_format("{\"target\":\"%.8s\"}", id + 28)));
}

/* [K2] Ids may end in decimal digits. A number that is a seq is that; others may be part of an id.
 */
TEST(show, an_id_that_ends_like_a_number)
{
    valise *v = ws_open(t);
    valise_call call = VALISE_CALL_INIT;

    CHECK_OK(vls_uuid_parse(&call.id, VLS_STR("0190a5f0-1234-7abc-8def-000012345678"), &t->err));
    CHECK_OK(valise_dispatch(NULL, v, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    CHECK_OK(vls_uuid_parse(&call.id, VLS_STR("0190a5f0-1234-7abc-8def-0000a0000003"), &t->err));
    CHECK_OK(valise_dispatch(NULL, v, "counter:add", "{\"name\":\"a\"}", &call, &t->err));
    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\"}");
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "12345678"), "\"value\":1"));
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "0000003"), "\"value\":2"));
    CHECK(strstr(ws_run_at(t, v, "counter:get", "{\"name\":\"a\"}", "3"), "\"value\":2"));
    CHECK(strstr(ws_run(t, v, "workspace:show", "{\"target\":\"0000003\"}"), "\"seq\":3"));
    call = (valise_call)VALISE_CALL_INIT;
    call.at = VLS_STR("12345679");
    CHECK_RC(VALISE_E_NOT_FOUND,
             valise_dispatch(NULL, v, "counter:get", "{\"name\":\"a\"}", &call, &t->err));
    CHECK(strstr(t->err.message, "12345679"));
}

/* Two notes whose objects' ids begin with the same 4 digits: their numbers, and those digits. */
static unsigned find_alike(test *t, int numbers[2])
{
    int first[0x10000] = {0}; /* by the first 4 digits: the number of a note, from 1 */

    for (int i = 1; i <= 0x10000; i++) {
        valise_str note = valise_str_of(test_format("note %d", i));
        valise_id id;
        unsigned digits;

        CHECK_OK(vls_object_id(&id, "text", note, &t->err));
        digits = (unsigned)(id.bytes[0] << 8 | id.bytes[1]);
        if (first[digits] > 0) {
            numbers[0] = first[digits];
            numbers[1] = i;
            return digits;
        }
        first[digits] = i;
    }
    CHECK_MSG(false, "no two ids begin alike");
    return 0;
}

TEST(show, what_is_ambiguous_lists_the_candidates)
{
    valise *v = ws_open(t);
    int numbers[2] = {0};
    unsigned digits = find_alike(t, numbers);

    for (int i = 0; i < 2; i++)
        (void)ws_run(t, v, "counter:add",
                     test_format("{\"name\":\"a\",\"note\":\"note %d\"}", numbers[i]));
    ws_fails(t, v, VALISE_E_CONFLICT, "workspace:show",
             test_format("{\"target\":\"%04x\"}", digits));
    CHECK(strstr(t->err.message, "is ambiguous: "));
    CHECK(strstr(t->err.message, ", "));
    CHECK_TEXT("give more digits", t->err.hint);
}

TEST(show, what_names_nothing)
{
    valise *v = ws_open(t);

    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:show", "{\"target\":\"abcdef0123456789\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:show", "{\"target\":\"xyz\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:show", "{\"target\":\"abc\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:show", "{\"target\":\"nothing/x\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:show", "{\"target\":\"meta/format\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:show", "{\"target\":\"counter.tally/a%2Fb\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:show", "{\"target\":\"counter.tally/a/b\"}");
    ws_fails(t, v, VALISE_E_INVALID, "workspace:show", "{\"target\":\"counter.tally/a%2\"}");
    ws_fails(t, v, VALISE_E_NOT_FOUND, "workspace:show", "{\"target\":\"0\"}");
}

TEST(show, a_row_whose_key_has_slashes_and_more)
{
    valise *v = ws_open(t);

    (void)ws_run(t, v, "counter:add", "{\"name\":\"a/b %\\u0001\"}");
    CHECK(strstr(ws_run(t, v, "workspace:show", "{\"target\":\"counter.tally/a%2Fb%20%25%01\"}"),
                 "\"id\":\"counter.tally/a%2Fb%20%25%01\""));
}

/* ---- the log ---- */

TEST_PARAMS(log_list, "memory", "sqlite")

TEST(log_list, newest_first_with_filters)
{
    valise *v = ws_open(t);
    const char *all, *one;

    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\"}");
    (void)ws_run(t, v, "pin:add", "{\"name\":\"p\"}");
    all = ws_run(t, v, "log:list", NULL);
    CHECK(strstr(all, "\"seq\":3") < strstr(all, "\"seq\":2"));
    CHECK(strstr(all, "\"seq\":2") < strstr(all, "\"seq\":1"));
    all = ws_run(t, v, "log:list", "{\"reverse\":true}");
    CHECK(strstr(all, "\"seq\":1") < strstr(all, "\"seq\":3"));
    one = ws_run(t, v, "log:list", "{\"type\":\"pin:add\"}");
    CHECK(strstr(one, "\"payload\":{\"name\":\"p\"}") && !strstr(one, "counter:add"));
    one = ws_run(t, v, "log:list", "{\"limit\":1}");
    CHECK(strstr(one, "\"seq\":3") && !strstr(one, "\"seq\":2"));
    one = ws_run(t, v, "log:list", "{\"since\":2,\"until\":2}");
    CHECK(strstr(one, "\"seq\":2") && !strstr(one, "\"seq\":1,") && !strstr(one, "\"seq\":3"));
    one = ws_run_at(t, v, "log:list", NULL, "2");
    CHECK(!strstr(one, "\"seq\":3"));
}

TEST(log_list, status_and_hash)
{
    valise *v = ws_open(t);
    const char *before, *after_add, *status;

    before = ws_run(t, v, "workspace:hash", NULL);
    (void)ws_run(t, v, "counter:add", "{\"name\":\"a\"}");
    after_add = ws_run(t, v, "workspace:hash", NULL);
    CHECK(strcmp(before, after_add) != 0);
    CHECK_TEXT(before, ws_run_at(t, v, "workspace:hash", NULL, "1"));
    status = ws_run(t, v, "workspace:status", NULL);
    CHECK(strstr(status, "\"seq\":2") && strstr(status, "\"actors\":1") &&
          strstr(status, test_format("\"store\":\"%s\"", t->param)));
    CHECK_TEXT("{\"items\":[]}", ws_run(t, v, "workspace:validate", NULL));
}

/* The last digits of a quoted member of the first row. */
static const char *part_of(const char *list, const char *name, size_t from, size_t count)
{
    const char *at = strstr(list, test_format("\"%s\":\"", name));

    return at ? test_format("%.*s", (int)count, at + strlen(name) + 4 + from) : "";
}

/* [K2] [K35] What the log prints can be given back: a command's id from its end, also as `at`, and
 * an entry's hash from its beginning. */
TEST(pin, what_the_log_prints_names_the_entry)
{
    valise *v = ws_open(t);
    const char *list, *short_id, *hash;

    ws_run(t, v, "pin:add", "{\"name\":\"a\"}");
    list = ws_run(t, v, "log:list", "{\"limit\":1}");
    short_id = part_of(list, "id", 28, 8);
    hash = part_of(list, "hash", 0, 12);
    ws_run(t, v, "pin:add", "{\"name\":\"b\"}");
    CHECK(strstr(ws_run(t, v, "workspace:show", test_format("{\"target\":\"%s\"}", short_id)),
                 "\"value\":{\"name\":\"a\"}"));
    CHECK(strstr(ws_run(t, v, "workspace:show", test_format("{\"target\":\"%s\"}", hash)),
                 "\"value\":{\"name\":\"a\"}"));
    list = ws_run_at(t, v, "pin:list", "{}", test_format("x%s", short_id) + 1);
    CHECK(strstr(list, "\"name\":\"a\"") && !strstr(list, "\"name\":\"b\""));
    /* the status of a past state tells of that state */
    CHECK(strcmp(part_of(ws_run_at(t, v, "workspace:status", "{}", "2"), "time", 0, 30),
                 part_of(ws_run(t, v, "workspace:status", "{}"), "time", 0, 30)) != 0);
    CHECK_TEXT(part_of(ws_run(t, v, "log:list", "{\"until\":2,\"limit\":1}"), "time", 0, 30),
               part_of(ws_run_at(t, v, "workspace:status", "{}", "2"), "time", 0, 30));
}
