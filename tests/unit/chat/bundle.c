/* bundle.c -- sessions go into other workspaces and come back. [W20] [K36] [W5] [W6] */
#include "bundle_kit.h"

#include "base/hex.h"
#include "base/str.h"
#include "blob/hold.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "kernel/erase.h"
#include "kit/log_replay.h"

TEST_PARAMS(chat_bundle, "memory", "sqlite")

/* ---- there ---- */

TEST(chat_bundle, brings_one_session_and_nothing_of_others) /* [K36] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b"), *c = place_open(t, "c");
    const char *s = session_new(t, a, 1), *other = session_new(t, a, 2), *two;

    session_say(t, a, s, "one");
    two = session_say(t, a, s, "two");
    session_say(t, a, s, "three");
    session_say(t, a, other, "not yours");
    place_run(t, a, "session:fork", "{\"sessionId\":\"%s\",\"label\":\"fork\"}", s);
    session_say(t, a, "fork", "of the fork");
    place_run(t, a, "turn:edit",
              "{\"sessionId\":\"fork\",\"turnId\":\"%s\",\"newBlocks\":[{\"type\":\"text\","
              "\"text\":\"two of the fork\"}]}",
              two);
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    CHECK_TEXT("one|two|three", session_text(t, b, s));
    CHECK_INT(1, count_rows(t, b, "session"));
    CHECK_INT(3, count_rows(t, b, "turn")); /* not version 2 of the second */
    place_check(t, b);
    session_new(t, c, 3);
    session_say(t, c, "s3", "already here");
    place_import(t, c, "s");
    CHECK_TEXT("one|two|three", session_text(t, c, s));
    CHECK_TEXT("already here", session_text(t, c, "s3"));
    CHECK_INT(2, count_rows(t, c, "session"));
    place_check(t, c);
}

TEST(chat_bundle, brings_tips_merges_and_edits)
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *one, *two, *left, *right;

    one = session_say(t, a, s, "one");
    two = session_say(t, a, s, "two");
    left = session_say(t, a, s, "left");
    right = answer_of(place_run(t, a, "turn:branch",
                                "{\"sessionId\":\"%s\",\"parent\":\"%s\",\"turn\":{\"role\":"
                                "\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"right\"}]}}",
                                s, two),
                      "ref");
    place_run(t, a, "turn:merge",
              "{\"sessionId\":\"%s\",\"parents\":[\"%s\",\"%s\"],\"turn\":{\"role\":\"user\","
              "\"blocks\":[{\"type\":\"text\",\"text\":\"both\"}]}}",
              s, left, right);
    session_say(t, a, s, "end");
    place_run(t, a, "turn:branch",
              "{\"sessionId\":\"%s\",\"parent\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{"
              "\"type\":\"text\",\"text\":\"aside\"}]}}",
              s, one);
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    CHECK_TEXT("one|aside", session_text(t, b, s));
    CHECK_INT(1, session_tips(t, b, s));
    CHECK_INT(7, count_rows(t, b, "turn"));
    place_check(t, b);
    place_run(t, b, "turn:checkout", "{\"sessionId\":\"%s\",\"turnId\":\"%s\"}", s,
              session_head(t, a, s));
    place_check(t, b);
}

TEST(chat_bundle, twice_adds_nothing) /* [W20] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1);
    int64_t seq;

    session_say(t, a, s, "one");
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    seq = place_seq(t, b);
    place_import(t, b, "s");
    CHECK_INT(seq, place_seq(t, b));
    session_say(t, b, s, "two");
    place_run(t, b, "session:update", "{\"sessionId\":\"%s\",\"label\":\"mine\"}", s);
    seq = place_seq(t, b);
    place_import(t, b, "s");
    CHECK_INT(seq, place_seq(t, b));
    CHECK_TEXT("one|two", session_text(t, b, "mine"));
}

/* ---- and back ---- */

TEST(chat_bundle, a_session_that_went_on_in_two_places_keeps_everything) /* [W20] [W8] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1);
    int64_t seq;

    session_say(t, a, s, "one");
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    for (int round = 0; round < 4; round++) {
        test_context("round %d", round);
        session_say(t, a, s, test_format("a%d", round));
        session_say(t, b, s, test_format("b%d", round)); /* at the same place of the lane */
        place_export(t, b, s, "b");
        place_import(t, a, "b");
        place_check(t, a);
        place_export(t, a, s, "a");
        place_import(t, b, "a");
        place_check(t, b);
    }
    test_context_end();
    CHECK_TEXT("one|a0|a1|a2|a3", session_text(t, a, s));
    CHECK_TEXT("one|b0|b1|b2|b3", session_text(t, b, s));
    CHECK_INT(1, session_tips(t, a, s));
    CHECK_INT(1, session_tips(t, b, s));
    CHECK_INT(9, count_rows(t, a, "turn"));
    CHECK_INT(9, count_rows(t, b, "turn"));
    seq = place_seq(t, b);
    place_import(t, b, "a"); /* its tip is the head here */
    CHECK_INT(seq, place_seq(t, b));
}

TEST(chat_bundle, a_head_goes_on_to_theirs_where_it_is_before_that)
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1);

    session_say(t, a, s, "one");
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    session_say(t, b, s, "two");
    session_say(t, b, s, "three");
    place_run(t, a, "session:update", "{\"sessionId\":\"%s\",\"label\":\"ours\"}", s);
    place_export(t, b, s, "b");
    place_import(t, a, "b");
    CHECK_TEXT("one|two|three", session_text(t, a, "ours"));
    CHECK_INT(0, session_tips(t, a, s));
    place_check(t, a);
    session_say(t, a, s, "four");
    place_import(t, a, "b"); /* theirs is before ours now */
    CHECK_TEXT("one|two|three|four", session_text(t, a, s));
    CHECK_INT(0, session_tips(t, a, s));
    place_check(t, a);
}

TEST(chat_bundle, a_session_without_turns_gets_theirs)
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1);

    place_export(t, a, s, "s");
    place_import(t, b, "s");
    session_say(t, a, s, "one");
    place_export(t, a, s, "s2");
    place_import(t, b, "s2");
    CHECK_TEXT("one", session_text(t, b, s));
    place_import(t, b, "s"); /* nothing was said there yet */
    CHECK_TEXT("one", session_text(t, b, s));
    place_check(t, b);
}

TEST(chat_bundle, a_deleted_fork_takes_nothing_from_the_other) /* [W6] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *fork;

    session_say(t, a, s, "one");
    session_say(t, a, s, "two");
    fork = answer_of(place_run(t, a, "session:fork", "{\"sessionId\":\"%s\",\"label\":\"f\"}", s),
                     "id");
    session_say(t, a, "f", "three");
    place_export(t, a, s, "s");
    place_export(t, a, fork, "f");
    place_import(t, b, "s");
    place_import(t, b, "f");
    CHECK_TEXT("one|two|three", session_text(t, b, "f"));
    place_run(t, b, "session:delete", "{\"sessionId\":\"%s\"}", fork);
    CHECK_TEXT("one|two", session_text(t, b, s));
    CHECK_INT(2, count_rows(t, b, "turn"));
    place_check(t, b);
    place_run(t, b, "session:delete", "{\"sessionId\":\"%s\"}", s);
    CHECK_INT(0, count_rows(t, b, "turn"));
    place_check(t, b);
}

TEST(chat_bundle, a_version_number_is_not_used_again) /* [W1] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *one, *edit;

    one = session_say(t, a, s, "one");
    edit = test_format("{\"sessionId\":\"%s\",\"turnId\":\"%.36s\",\"newBlocks\":[{\"type\":"
                       "\"text\",\"text\":\"again\"}]}",
                       s, one);
    place_export(t, a, s, "first");
    place_run(t, a, "turn:edit", "%s", edit);
    place_export(t, a, s, "both");
    place_import(t, b, "both");
    place_run(t, b, "turn:delete", "{\"sessionId\":\"%s\",\"turnId\":\"%.36s@2\"}", s, one);
    CHECK_INT(1, count_rows(t, b, "turn_node"));
    place_import(t, b, "first");
    CHECK_TEXT(test_format("%.36s@3", one),
               answer_of(place_run(t, b, "turn:edit", "%s", edit), "ref"));
    place_check(t, b);
    place_import(t, b, "both"); /* it comes back as what it is here: erased */
    place_check(t, b);
    CHECK_TEXT(test_format("%.36s@4", one),
               answer_of(place_run(t, b, "turn:edit", "%s", edit), "ref"));
}

/* ---- erased ---- */

TEST(chat_bundle, what_was_erased_here_stays_erased) /* [K20] [W5] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *two;

    session_say(t, a, s, "one");
    two = session_say(t, a, s, "hunter2-planted");
    session_say(t, a, s, "three");
    place_run(t, a, "session:update", "{\"sessionId\":\"%s\",\"label\":\"hunter2-label\"}", s);
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    place_run(t, b, "workspace:erase", "{\"place\":\"turn/%.36s/1\"}", two);
    place_run(t, b, "workspace:erase", "{\"place\":\"session/%s\"}", s);
    CHECK_TEXT("one|-|three", session_text(t, b, s));
    session_say(t, a, s, "four");
    place_export(t, a, s, "s2");
    place_import(t, b, "s2");
    CHECK_TEXT("one|-|three|four", session_text(t, b, s));
    place_check(t, b);
    place_run(t, b, "workspace:gc", "{}");
    if (strcmp(t->param, "memory") != 0)
        CHECK_INT(0, files_with(place_path("b"), "hunter2"));
    /* The other way round: what is whole here stays whole. */
    place_export(t, b, s, "b");
    place_import(t, a, "b");
    CHECK_TEXT("one|hunter2-planted|three|four", session_text(t, a, s));
    place_check(t, a);
}

/* ---- blobs ---- */

static const char *say_picture(test *t, valise *v, const char *session, const char *name)
{
    return place_run(t, v, "turn:add",
                     "{\"sessionId\":\"%s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":"
                     "\"image\",\"data\":\"aHVudGVyMi1waWN0dXJl\",\"mediaType\":\"image/png\","
                     "\"filename\":\"%s\"}]}}",
                     session, name);
}

TEST(chat_bundle, blobs_come_along_and_are_held) /* [W10] [W9] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *other = session_new(t, b, 2);

    say_picture(t, a, s, "a.png");
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    CHECK_INT(1, count_rows(t, b, "blob_hold"));
    CHECK_INT(1, count_rows(t, b, "blob_records"));
    place_check(t, b);
    say_picture(t, b, other, "b.png"); /* the same one */
    CHECK_INT(2, count_rows(t, b, "blob_hold"));
    place_run(t, b, "session:delete", "{\"sessionId\":\"%s\"}", s);
    CHECK_INT(1, count_rows(t, b, "blob_hold"));
    place_check(t, b);
    place_import(t, b, "s");
    CHECK_INT(2, count_rows(t, b, "blob_hold"));
    place_check(t, b);
    /* A record that is another one is no conflict. */
    place_export(t, b, other, "o");
    place_import(t, a, "o");
    CHECK_INT(2, count_rows(t, a, "blob_hold"));
    place_check(t, a);
}

TEST(chat_bundle, an_erased_turn_lets_go_of_its_blobs) /* [K20] [W10] */
{
    valise *v = place_open(t, "a");
    const char *s = session_new(t, v, 1), *ref;

    ref = answer_of(say_picture(t, v, s, "a.png"), "ref");
    session_say(t, v, s, "two");
    if (strcmp(t->param, "memory") != 0)
        CHECK(files_with(place_path("a"), "hunter2-picture") > 0);
    place_run(t, v, "workspace:erase", "{\"place\":\"turn/%.36s/1\"}", ref);
    CHECK_INT(0, count_rows(t, v, "blob_hold"));
    CHECK_INT(0, count_rows(t, v, "blob_records"));
    place_run(t, v, "workspace:gc", "{}");
    if (strcmp(t->param, "memory") != 0)
        CHECK_INT(0, files_with(place_path("a"), "hunter2-picture"));
    place_check(t, v);
}

/* Of a blob that was erased by its id nothing is left but that it was. [K20] [W10] */
TEST(chat_bundle, an_erased_blob_is_gone_for_good)
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1), *text;
    const char *blob;
    bool memory = strcmp(t->param, "memory") == 0;

    place_run(t, a, "blob:register",
              "{\"data\":\"aHVudGVyMi1waWN0dXJl\",\"hold\":\"mine\",\"filename\":\"hunter2.png\"}");
    say_picture(t, a, s, "a.png");
    session_say(t, a, s, "two");
    place_run(t, a, "context:add", "{\"key\":\"pic\",\"data\":\"aHVudGVyMi1waWN0dXJl\"}");
    blob = answer_of(place_run(t, a, "blob:list", "{}"), "sha256");
    CHECK_INT(3, count_rows(t, a, "blob_hold"));
    place_export(t, a, s, "old");
    text = place_run(t, a, "workspace:erase", "{\"content\":\"%s\"}", blob);
    CHECK(strstr(text, "\"blobs\":1"));
    CHECK_INT(0, count_rows(t, a, "blob_hold"));
    CHECK_INT(0, count_rows(t, a, "blob_records"));
    place_check(t, a);
    CHECK_RC(VALISE_E_NOT_FOUND, place_try(t, a, "blob:get", "{\"blob\":\"%s\"}", blob));
    CHECK(strstr(t->err.message, "was erased"));
    CHECK_RC(VALISE_E_NOT_FOUND, place_try(t, a, "blob:show", "{\"blob\":\"%s\"}", blob));
    CHECK(strstr(t->err.message, "was erased"));
    place_run(t, a, "workspace:gc", "{}");
    if (!memory)
        CHECK_INT(0, files_with(place_path("a"), "hunter2"));
    /* An old bundle does not bring it back; the turn that shows it can go elsewhere. */
    place_import(t, a, "old");
    place_run(t, a, "session:delete", "{\"sessionId\":\"%s\"}", s);
    place_import(t, a, "old");
    CHECK_TEXT("?|two", session_text(t, a, s));
    CHECK_INT(0, count_rows(t, a, "blob_hold"));
    CHECK_INT(0, count_rows(t, a, "blob_records"));
    place_check(t, a);
    if (!memory)
        CHECK_INT(0, files_with(place_path("a"), "hunter2"));
    place_export(t, a, s, "new");
    place_import(t, b, "new");
    CHECK_TEXT("?|two", session_text(t, b, s));
    place_check(t, b);
    /* Who brings the bytes again means it. */
    place_run(t, a, "blob:register", "{\"data\":\"aHVudGVyMi1waWN0dXJl\",\"hold\":\"mine\"}");
    CHECK(strstr(place_run(t, a, "blob:get", "{\"blob\":\"%s\"}", blob), "aHVudGVyMi1"));
    place_check(t, a);
}

/* Holds by themselves, as a kill between two commands of an erasure leaves them. */
typedef struct holding {
    valise_id blob;
    int count;
} holding;

static int put_holds(void *arg, vls_txn *txn, valise_error *err)
{
    const holding *h = arg;
    const vls_coll *coll = vls_store_coll(txn->store, &vls_blob_holds);
    valise_cell cells[VALISE_MAX_COLUMNS] = {
        {VALISE_CELL_BLOB, {.bytes = vls_str(h->blob.bytes, sizeof(h->blob))}},
        {VALISE_CELL_TEXT, {.bytes = VLS_STR("named")}},
        {.type = VALISE_CELL_TEXT}};
    int rc = 0;

    for (int i = 0; rc == 0 && i < h->count; i++) {
        cells[2].as.bytes = valise_str_of(test_format("h%d", i));
        rc = vls_txn_put(txn, coll, cells, 1, err);
    }
    return rc;
}

TEST(chat_bundle, a_blob_that_very_many_hold_is_erased_in_parts) /* [K20] [W10] */
{
    valise *v = place_open(t, "a");
    holding h = {.count = VLS_ERASE_MAX_ABOUT + 5};
    const char *blob = answer_of(
        place_run(t, v, "blob:register", "{\"data\":\"aHVudGVyMi1waWN0dXJl\"}"), "sha256");
    int64_t seq;

    CHECK_OK(vls_id_parse(&h.blob, valise_str_of(blob), &t->err));
    CHECK_OK(vls_with_txn(v, put_holds, &h, &t->err));
    seq = place_seq(t, v);
    place_run(t, v, "workspace:erase", "{\"content\":\"%.8s\"}", blob);
    CHECK_INT(0, count_rows(t, v, "blob_hold"));
    CHECK_INT(0, count_rows(t, v, "blob_records"));
    CHECK_INT(2, (int)(place_seq(t, v) - seq));
    CHECK_RC(VALISE_E_NOT_FOUND, place_try(t, v, "workspace:erase", "{\"content\":\"%s\"}", blob));
    h.count = 3; /* it was killed after the first part: once more, and it comes to its end */
    CHECK_OK(vls_with_txn(v, put_holds, &h, &t->err));
    place_run(t, v, "workspace:erase", "{\"content\":\"%s\"}", blob);
    CHECK_INT(0, count_rows(t, v, "blob_hold"));
}

TEST(chat_bundle, a_turn_that_comes_without_its_blob_holds_the_one_that_is_here) /* [W10] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    const char *s = session_new(t, a, 1);

    say_picture(t, a, s, "a.png");
    place_run(t, a, "workspace:erase", "{\"content\":\"%s\"}",
              answer_of(place_run(t, a, "blob:list", "{}"), "sha256"));
    place_export(t, a, s, "s");
    place_run(t, b, "blob:register", "{\"data\":\"aHVudGVyMi1waWN0dXJl\",\"hold\":\"mine\"}");
    place_import(t, b, "s");
    CHECK_INT(2, count_rows(t, b, "blob_hold"));
    place_check(t, b);
}

/* ---- roles ---- */

TEST(chat_bundle, roles_come_along_and_the_newer_one_holds) /* [W12] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b"), *c = place_open(t, "c");
    const char *s;

    place_run(t, a, "role:add", "{\"name\":\"critic\",\"persona\":\"Find faults.\"}");
    place_run(t, a, "role:add", "{\"name\":\"other\",\"persona\":\"Stays.\"}");
    s = session_new(t, a, 1);
    session_say(t, a, s, "one");
    place_run(t, a, "session:role:switch", "{\"sessionId\":\"%s\",\"newRole\":\"critic\"}", s);
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    CHECK_INT(1, count_rows(t, b, "role"));
    place_check(t, b);
    place_run(t, b, "role:update", "{\"name\":\"critic\",\"persona\":\"Be kind.\"}");
    place_export(t, b, s, "b");
    place_import(t, a, "b");
    CHECK(strstr(place_run(t, a, "role:show", "{\"name\":\"critic\"}"), "Be kind."));
    place_check(t, a);
    place_import(t, b, "s"); /* an older one */
    CHECK(strstr(place_run(t, b, "role:show", "{\"name\":\"critic\"}"), "Be kind."));
    place_run(t, c, "role:add", "{\"name\":\"critic\",\"persona\":\"Something else.\"}");
    CHECK_RC(VALISE_E_CONFLICT, place_import_try(t, c, "s"));
    CHECK(strstr(t->err.message, "version 1 of role critic"));
    CHECK_INT(0, count_rows(t, c, "session"));
}

/* ---- replay ---- */

static int state_of(void *arg, valise_view *view, valise_error *err)
{
    return vls_state_hash(arg, view, err);
}

TEST(chat_bundle, an_import_can_be_replayed) /* [K32] */
{
    valise *a = place_open(t, "a"), *b = place_open(t, "b");
    vls_store_options options = {.env = t->env,
                                 .ops = valise_store_memory(),
                                 .flags = VALISE_STORE_CREATE,
                                 .colls = vls_registry_colls(b->registry)};
    log_replay replay = {.from = b->store, .registry = b->registry, .access = b->access};
    const char *s = session_new(t, a, 1);
    vls_txn txn = {0};
    VLS_AUTO(view) valise_view view = {0};
    valise_id state, other;
    int64_t count;

    session_say(t, a, s, "one");
    place_export(t, a, s, "s");
    place_import(t, b, "s");
    session_say(t, a, s, "a");
    session_say(t, b, s, "b");
    place_export(t, a, s, "s2");
    place_import(t, b, "s2");
    session_say(t, b, s, "c");
    CHECK_OK(vls_store_open(&replay.to, &options, &t->err));
    CHECK_OK(log_replay_run(&count, &replay, &t->err));
    CHECK_OK(vls_txn_begin(&txn, replay.to, VALISE_TXN_READ, &t->err));
    vls_view_init(&view, &txn, t->env);
    CHECK_OK(vls_state_hash(&state, &view, &t->err));
    CHECK_OK(vls_with_view(b, NULL, state_of, &other, &t->err));
    CHECK_TEXT(vls_id_hex(&other).s, vls_id_hex(&state).s);
    vls_view_release(&view);
    vls_txn_rollback(&txn);
    vls_store_close(replay.to);
}
