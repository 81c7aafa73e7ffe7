/* find.c -- what is found, in which order, and by whom. [W14] */
#include "search/kit.h"

TEST_PARAMS(find, "memory", "sqlite")

TEST(find, words_phrases_and_beginnings)
{
    desk *d = desk_open(t);

    desk_say(d, 1, "The quick brown fox jumps over the lazy dog.");
    desk_say(d, 2, "A brown quick thing");
    desk_note(d, "pets/fox", "Foxes eat MILK chocolate, caf\xC3\xA9 au lait",
              "\"topics\":[\"food\"]");
    CHECK_TEXT("t2 t1", desk_find(d, "quick brown", ""));
    CHECK_TEXT("t1", desk_find(d, "\"quick brown\"", ""));
    CHECK_TEXT("e:pets/fox", desk_find(d, "milk choc*", ""));
    CHECK_TEXT("e:pets/fox", desk_find(d, "CAFE", ""));
    CHECK_TEXT("e:pets/fox", desk_find(d, "food", ""));
    CHECK_TEXT("", desk_find(d, "quick milk", ""));
    CHECK_TEXT("e:pets/fox t1", desk_find(d, "fox", "")); /* in the key it counts twice */
    CHECK_TEXT("e:pets/fox t1", desk_find(d, "fox*", ""));
    CHECK_TEXT("t1", desk_find(d, "fox", "\"kinds\":[\"turn\"]"));
    CHECK_TEXT("e:pets/fox", desk_find(d, "fox", "\"topics\":[\"food\",\"x\"]"));
    CHECK_TEXT("", desk_find(d, "fox", "\"topics\":[\"foo\"]"));
    CHECK_TEXT("t1", desk_find(d, "fox", "\"offset\":1"));
}

TEST(find, nothing_of_a_query_is_syntax)
{
    desk *d = desk_open(t);

    desk_say(d, 1, "not and or near text name topics NULL select");
    CHECK_TEXT("t1", desk_find(d, "NOT and", ""));
    CHECK_TEXT("t1", desk_find(d, "text:name", "")); /* a phrase of two words is not there */
    CHECK_TEXT("t1", desk_find(d, "- ( text ^ ) + {}", ""));
    CHECK_TEXT("t1", desk_find(d, "\"text", ""));
    CHECK_TEXT("t1", desk_find(d, "near*\"text\"*\xE2\x86\x92", ""));
    CHECK_TEXT("", desk_find(d, "topics OR nothing", ""));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "", "search:query", "\"query\":\" -- \\u0000 \\\" \""));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "", "search:query", "\"query\":\"\\u2192\""));
    CHECK_RC(VALISE_E_INVALID, desk_try(d, "", "search:query", "\"query\":\"\""));
}

TEST(find, scripts_without_spaces)
{
    desk *d = desk_open(t);

    desk_say(d, 1, "\xE6\x9D\xB1\xE4\xBA\xAC\xE9\x83\xBD\xE3\x81\xAB\xE8\xA1\x8C\xE3\x81\x8F");
    CHECK_TEXT("t1", desk_find(d, "\xE4\xBA\xAC\xE9\x83\xBD", ""));
    CHECK_TEXT("", desk_find(d, "\xE9\x83\xBD\xE4\xBA\xAC", ""));
}

TEST(find, what_blocks_say)
{
    desk *d = desk_open(t);

    (void)desk_run(d, "toy:turn",
                   "\"id\":\"018f0000-0000-7000-8000-000000000001\",\"blocks\":["
                   "{\"type\":\"thinking\",\"text\":\"pondering\",\"signature\":\"sealed\"},"
                   "{\"type\":\"tool_use\",\"callId\":\"c1\",\"name\":\"fetch\",\"args\":{"
                   "\"where\":[\"moon\",42]}},"
                   "{\"type\":\"tool_result\",\"callId\":\"c1\",\"content\":[{\"type\":\"text\","
                   "\"text\":\"cheese\"}]},"
                   "{\"type\":\"document\",\"text\":\"treaty\",\"filename\":\"peace.txt\"},"
                   "{\"type\":\"summary\",\"text\":\"shortly\"}]");
    (void)desk_run(d, "toy:entry", "\"key\":\"j\",\"json\":{\"colour\":{\"deep\":[\"blue\",7]}}");
    CHECK_TEXT("t1", desk_find(d, "pondering fetch where moon 42 cheese treaty peace shortly", ""));
    CHECK_TEXT("", desk_find(d, "sealed", ""));
    CHECK_TEXT("e:j", desk_find(d, "colour deep blue 7", ""));
}

TEST(find, snippets_are_marked)
{
    desk *d = desk_open(t);

    desk_say(d, 1, "one two\x02\n\nthree \x03 four");
    CHECK(strstr(desk_run(d, "search:query", "\"query\":\"THREE\""), "\"marks\":[8,13]"));
    CHECK(strstr(desk_run(d, "search:query", "\"query\":\"THREE\""),
                 "\"snippet\":\"one two three four\""));
}

TEST(find, ties_are_broken_by_age_then_by_key)
{
    desk *d = desk_open(t);
    valise_command batch[3];
    const char *all = "";

    for (int i = 0; i < 3; i++)
        batch[i] =
            (valise_command){.type = valise_str_of("toy:entry"),
                             .payload = valise_str_of(test_format(
                                 "{\"key\":\"k%d\",\"text\":\"same words here\"}", (i * 2) % 3))};
    CHECK_OK(valise_dispatch_batch(NULL, d->v, batch, 3, NULL, &t->err));
    for (unsigned i = 1; i <= 40; i++)
        desk_say(d, i, "same words here now");
    for (unsigned i = 40; i >= 1; i--)
        all = test_format("%s%st%u", all, all[0] ? " " : "", i);
    CHECK_TEXT(all, desk_find(d, "same words", "\"kinds\":[\"turn\"],\"limit\":100"));
    /* Pages are pieces of one list. */
    for (int i = 0; i < 4; i++) {
        const char *page =
            desk_find(d, "same words",
                      test_format("\"kinds\":[\"turn\"],\"limit\":10,\"offset\":%d", i * 10));
        CHECK(strstr(all, page) && strlen(page) > 20);
    }
    CHECK_TEXT("e:k1 e:k2 e:k0", desk_find(d, "same", "\"kinds\":[\"context\"]"));
}

TEST(find, changes_are_seen_at_once)
{
    desk *d = desk_open(t);

    desk_note(d, "a", "old words", "");
    CHECK_TEXT("e:a", desk_find(d, "old", ""));
    desk_note(d, "a", "new words", "");
    CHECK_TEXT("", desk_find(d, "old", ""));
    CHECK_TEXT("e:a", desk_find(d, "new", ""));
    (void)desk_run(d, "toy:drop", "\"key\":\"a\"");
    CHECK_TEXT("", desk_find(d, "words", ""));
    desk_note(d, "a", "late words", "\"expires\":\"2001-01-01T00:00:00Z\"");
    CHECK_TEXT("", desk_find(d, "late", ""));
}

TEST(find, the_past_is_refused)
{
    desk *d = desk_open(t);
    valise_call call = VALISE_CALL_INIT;

    desk_note(d, "a", "one", "");
    desk_note(d, "a", "two", "");
    call.at = valise_str_of("2");
    CHECK_RC(VALISE_E_UNSUPPORTED,
             valise_dispatch(NULL, d->v, "search:query", "{\"query\":\"one\"}", &call, &t->err));
    CHECK(strstr(t->err.message, "past"));
}

/* ---- rights ---- */

static void frame(desk *d, const char *path, const char *type, const char *base64)
{
    (void)desk_run(d, "frame:put",
                   test_format("\"node\":\"%s\",\"type\":\"%s\",\"content\":\"%s\",\"noScan\":true",
                               path, type, base64));
}

static desk *with_frames(test *t)
{
    desk *d = desk_open_in(t, test_format("%s/desk", test_tmpdir()), false);

    test_write_file(test_format("%s/a.c", d->dir), valise_str_of("a"));
    test_write_file(test_format("%s/b.c", d->dir), valise_str_of("b"));
    (void)desk_run(d, "tree:scan", "");
    frame(d, "a.c", "summary", "c2VjcmV0IHBsYW5z"); /* secret plans */
    frame(d, "b.c", "summary", "c2VjcmV0IHBsYW5z");
    frame(d, "b.c", "notes", "c2VjcmV0IG5vdGVz"); /* secret notes */
    desk_say(d, 1, "secret talk");
    desk_note(d, "m", "secret memory", "");
    return d;
}

TEST(find, hits_obey_rights)
{
    desk *d = with_frames(t);
    static const struct {
        const char *actor, *grants, *sees;
    } actors[] = {
        {"one", "\"search:read\",\"session:read\"", "t1"},
        {"two", "\"search:read\",\"memory:read\"", "e:m"},
        {"three", "\"search:read\",\"context:read path=a.c\"", "f:a.c:summary"},
        {"four", "\"search:read\",\"context:read type=notes\",\"session:read\"", "t1 f:b.c:notes"},
    };

    for (size_t i = 0; i < 4; i++) {
        (void)desk_run(d, "agent:add",
                       test_format("\"id\":\"%s\",\"role\":\"none\",\"capabilities\":[%s]",
                                   actors[i].actor, actors[i].grants));
        CHECK_TEXT(actors[i].sees, desk_find_as(d, actors[i].actor, "secret", ""));
        /* What is not to be seen takes no place of a page. */
        CHECK(desk_find_as(d, actors[i].actor, "secret", "\"limit\":1")[0] == actors[i].sees[0]);
    }
    (void)desk_run(d, "agent:add",
                   "\"id\":\"five\",\"role\":\"none\",\"capabilities\":[\"search:read\"]");
    CHECK_RC(VALISE_E_DENIED, desk_try(d, "five", "search:query", "\"query\":\"secret\""));
    (void)desk_run(d, "agent:add",
                   "\"id\":\"six\",\"role\":\"none\",\"capabilities\":[\"session:read\"]");
    CHECK_RC(VALISE_E_DENIED, desk_try(d, "six", "search:query", "\"query\":\"secret\""));
    CHECK_RC(VALISE_E_DENIED,
             desk_try(d, "one", "search:query", "\"query\":\"secret\",\"kinds\":[\"frame\"]"));
}

static const char *answer_as(desk *d, const char *actor, const char *query)
{
    test *t = d->t;
    valise_reply reply = VALISE_REPLY_INIT;
    valise_call call = VALISE_CALL_INIT;
    const char *text;

    call.actor = valise_str_of(actor);
    CHECK_OK(valise_dispatch(&reply, d->v, "search:query", test_format("{\"query\":\"%s\"}", query),
                             &call, &t->err));
    text = test_format("%.*s", VALISE_STR_ARG(valise_blob_bytes(reply.json)));
    valise_reply_release(&reply);
    return text;
}

/* Nor do scores tell of it: neither how often a word is there, nor how long texts are. */
TEST(find, scores_tell_nothing_of_what_is_hidden)
{
    static const char *const grants[] = {"\"search:read\",\"session:read\"",
                                         "\"search:read\",\"memory:read\",\"session:read\","
                                         "\"context:read path=b.c\""};
    desk *d = with_frames(t);
    const char *one[2], *two[2], *all;

    desk_say(d, 2, "plans and a much longer talk about secret plans");
    for (size_t i = 0; i < 2; i++) {
        const char *actor = test_format("narrow%zu", i);
        (void)desk_run(
            d, "agent:add",
            test_format("\"id\":\"%s\",\"role\":\"none\",\"capabilities\":[%s]", actor, grants[i]));
        one[i] = answer_as(d, actor, "secret");
        two[i] = answer_as(d, actor, "secret plans");
    }
    all = answer_as(d, "", "secret talk");
    for (int i = 0; i < 20; i++) {
        test_write_file(test_format("%s/a%d.c", d->dir, i), valise_str_of("a"));
        (void)desk_run(d, "tree:scan", "");
        frame(d, test_format("a%d.c", i), "summary", "c2VjcmV0IHNlY3JldCBpbmRlZWQ=");
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_TEXT(one[i], answer_as(d, test_format("narrow%zu", i), "secret"));
        CHECK_TEXT(two[i], answer_as(d, test_format("narrow%zu", i), "secret plans"));
    }
    CHECK(strcmp(all, answer_as(d, "", "secret talk")) != 0);
}

TEST(find, heads_of_slots_follow)
{
    desk *d = with_frames(t);

    CHECK_TEXT("f:b.c:notes", desk_find(d, "notes", "\"kinds\":[\"frame\"]"));
    frame(d, "b.c", "notes", "b3RoZXI="); /* other */
    CHECK_TEXT("", desk_find(d, "\"secret notes\"", ""));
    CHECK_TEXT("f:b.c:notes", desk_find(d, "other", ""));
    frame(d, "b.c", "notes", "/wA="); /* no text: the path is still there */
    CHECK_TEXT("", desk_find(d, "other", ""));
}

TEST(find, turns_of_a_session_and_of_topics)
{
    desk *d = desk_open(t);
    static const char say[] =
        "\"sessionId\":\"%s\",\"turn\":{\"id\":\"018f0000-0000-7000-8000-%012d\",\"role\":"
        "\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"word\"}]}";

    (void)desk_run(d, "session:create", "\"label\":\"one\",\"topics\":[\"food\"]");
    (void)desk_run(d, "turn:add", test_format(say, "one", 1));
    (void)desk_run(d, "turn:add", test_format(say, "one", 2));
    (void)desk_run(d, "session:create", "\"label\":\"two\"");
    (void)desk_run(d, "turn:add", test_format(say, "two", 3));
    desk_note(d, "k", "word", "\"topics\":[\"food\"]");
    CHECK_TEXT("t2 t1", desk_find(d, "word", "\"session\":\"one\""));
    CHECK_TEXT("t3", desk_find(d, "word", "\"session\":\"two\""));
    CHECK_TEXT("t2 t1 e:k", desk_find(d, "word", "\"topics\":[\"food\"]"));
    CHECK_TEXT("t1", desk_find(d, "word", "\"topics\":[\"food\"],\"limit\":1,\"offset\":1"));
    CHECK_RC(VALISE_E_NOT_FOUND,
             desk_try(d, "", "search:query", "\"query\":\"word\",\"session\":\"three\""));
    /* Where the head was moved away, what it left is still of the session. */
    (void)desk_run(d, "turn:checkout",
                   "\"sessionId\":\"one\",\"turnId\":\"018f0000-0000-7000-8000-000000000001\"");
    CHECK_TEXT("t2 t1", desk_find(d, "word", "\"session\":\"one\""));
}

TEST(find, the_c_function)
{
    desk *d = desk_open(t);
    valise_search_options o = VALISE_SEARCH_OPTIONS_INIT;
    const valise_str topics[] = {VALISE_STR("x"), VALISE_STR("food")};
    valise_hits *hits = NULL;

    desk_say(d, 1, "plain milk");
    desk_note(d, "k", "milk milk", "\"topics\":[\"food\"]");
    CHECK_OK(valise_search(&hits, d->v, "milk", NULL, NULL, &t->err));
    CHECK_INT(2, hits->count);
    CHECK_INT(VALISE_HIT_CONTEXT, hits->items[0]->kind);
    CHECK_STR(valise_str_of("k"), hits->items[0]->key);
    CHECK(!hits->items[0]->ref.ptr && hits->items[0]->score > hits->items[1]->score);
    CHECK_INT(4, hits->items[0]->mark_count);
    CHECK_STR(valise_str_of("food"), hits->items[0]->topics[0]);
    valise_hits_free(hits);
    o.topics = topics;
    o.topic_count = VLS_COUNT(topics);
    o.limit = 1;
    CHECK_OK(valise_search(&hits, d->v, "milk", &o, NULL, &t->err));
    CHECK_INT(1, hits->count);
    valise_hits_free(hits);
    o.kinds = 8;
    CHECK_RC(VALISE_E_INVALID, valise_search(&hits, d->v, "milk", &o, NULL, &t->err));
}
