/* refuse.c -- what the commands of conversations refuse: nothing is written then. [W4] [W17] */
#include "kit/talk.h"

#include "base/hash.h"
#include "base/hex.h"
#include "chat/rows.h"

#define ADD "{\"sessionId\":\"s\",\"turn\":{\"role\":\"user\",\"blocks\":%s}}"

TEST(chat_refuses, blocks_that_do_not_fit) /* [W17] */
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "[{\"type\":\"text\"}]",
        "[{\"type\":\"image\"}]",
        "[{\"type\":\"tool_result\",\"callId\":\"c\",\"content\":\"x\"}]",
        "[{\"type\":\"summary\",\"text\":\"x\",\"covers\":{\"from\":"
        "\"01990000-0000-7000-8000-000000000001@1\",\"to\":"
        "\"01990000-0000-7000-8000-000000000001@1\"}}]",
        "[{\"type\":\"role:transition\",\"from\":null,\"to\":\"r\"}]", /* by user */
        "[{\"type\":\"text\",\"text\":\"x\",\"meta\":\"x\"}]",
        "[{\"type\":\"thinking\",\"text\":\"x\",\"redacted\":\"yes\"}]",
        "[{\"type\":\"document\",\"text\":\"x\",\"fileId\":5}]",
        "[{\"type\":\"tool_use\",\"callId\":\"c\",\"name\":\"f\",\"args\":{},\"rawArgs\":5}]",
    };
    talk *k = talk_open(t);

    (void)talk_session(k, "s");
    (void)talk_run(k, "role:add", "{\"name\":\"r\"}");
    for (size_t i = 0; i < VLS_COUNT(bad); i++)
        CHECK_MSG(talk_try(k, "turn:add", ADD, bad[i]) == VALISE_E_INVALID, "%s: %s", bad[i],
                  t->err.message);
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:add", ADD,
                       "[{\"type\":\"image\",\"blob\":\"0123456789012345678901234567890123456789012"
                       "345678901234567890123\"}]"));
    CHECK_INT(0, talk_count(k, &vls_turns));
    talk_check(k, true);
}

static const char *call(talk *k, const char *id)
{
    return talk_member(
        k,
        talk_run(k, "turn:add",
                 "{\"sessionId\":\"s\",\"turn\":{\"role\":\"assistant\",\"blocks\":[{\"type\":"
                 "\"tool_use\",\"callId\":\"%s\",\"name\":\"f\",\"args\":{}}]}}",
                 id),
        "ref");
}

static const char *result(talk *k, const char *id)
{
    return talk_member(
        k,
        talk_run(k, "turn:add",
                 "{\"sessionId\":\"s\",\"turn\":{\"role\":\"tool\",\"blocks\":[{\"type\":"
                 "\"tool_result\",\"callId\":\"%s\",\"content\":\"x\"}]}}",
                 id),
        "ref");
}

TEST(chat_refuses, results_without_a_call) /* [W17] */
{
    talk *k = talk_open(t);

    (void)talk_session(k, "s");
    (void)call(k, "far");
    for (int i = 0; i < 40; i++)
        (void)talk_say(k, "s", "user", test_format("%d", i));
    (void)call(k, "near");
    (void)result(k, "near");
    (void)result(k, "far");
    CHECK_INT(VALISE_E_INVALID,
              talk_try(k, "turn:add", ADD,
                       "[{\"type\":\"tool_result\",\"callId\":\"none\",\"content\":\"x\"}]"));
    CHECK(strstr(t->err.message, "none"));
    /* Nor does the call answer it that comes after it, in the same turn. */
    CHECK_INT(VALISE_E_INVALID,
              talk_try(k, "turn:add", ADD,
                       "[{\"type\":\"tool_result\",\"callId\":\"own\",\"content\":\"x\"},"
                       "{\"type\":\"tool_use\",\"callId\":\"own\",\"name\":\"f\",\"args\":{}}]"));
    CHECK(strstr(t->err.message, "own"));
    /* Behind a turn that is before the call it is no more to be seen. */
    CHECK_INT(VALISE_E_INVALID,
              talk_try(k, "turn:branch",
                       "{\"sessionId\":\"s\",\"parent\":\"HEAD~3\",\"turn\":{\"role\":\"tool\","
                       "\"blocks\":[{\"type\":\"tool_result\",\"callId\":\"near\",\"content\":"
                       "\"x\"}]}}"));
    talk_check(k, true);
}

static int summarize(talk *k, const char *from, const char *to)
{
    return talk_try(k, "turn:add",
                    "{\"sessionId\":\"s\",\"turn\":{\"role\":\"system\",\"blocks\":[{\"type\":"
                    "\"summary\",\"text\":\"x\",\"covers\":{\"from\":\"%s\",\"to\":\"%s\"}}]}}",
                    from, to);
}

TEST(chat_refuses, summaries_that_split_a_pair) /* [W17] */
{
    talk *k = talk_open(t);
    const char *t1, *t2, *t3, *t4;

    (void)talk_session(k, "s");
    t1 = talk_say(k, "s", "user", "a");
    t2 = call(k, "c");
    t3 = result(k, "c");
    t4 = talk_say(k, "s", "user", "b");
    CHECK_INT(VALISE_E_INVALID, summarize(k, t1, t2));
    CHECK_INT(VALISE_E_INVALID, summarize(k, t3, t4));
    CHECK_INT(VALISE_E_INVALID, summarize(k, t4, t1)); /* the wrong way round */
    CHECK_OK(summarize(k, t2, t3));
    /* What else it says would move to where they were. */
    CHECK_INT(VALISE_E_INVALID,
              talk_try(k, "turn:add",
                       "{\"sessionId\":\"s\",\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":"
                       "\"summary\",\"text\":\"x\",\"covers\":{\"from\":\"%s\",\"to\":\"%s\"}},"
                       "{\"type\":\"text\",\"text\":\"and this\"}]}}",
                       t2, t3));
    CHECK(strstr(t->err.message, "blocks[1]"));
    CHECK_OK(summarize(k, t1, t4));
    talk_check(k, true);
}

static int summarize_hashed(talk *k, const char *from, const char *to, const char *hash)
{
    return talk_try(k, "turn:add",
                    "{\"sessionId\":\"s\",\"turn\":{\"role\":\"system\",\"blocks\":[{\"type\":"
                    "\"summary\",\"text\":\"x\",\"covers\":{\"from\":\"%s\",\"to\":\"%s\","
                    "\"hash\":\"%s\"}}]}}",
                    from, to, hash);
}

/* The hash as docs/formats.md says, without the code that is tested. */
static vls_id_text hash_of(test *t, const vls_id_text *content, size_t count)
{
    vls_hasher hasher;
    valise_id id;

    vls_hash_begin_tagged(&hasher, "valise.covers.1");
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(vls_id_parse(&id, valise_str_of(content[i].s), &t->err));
        vls_hash_field_id(&hasher, &id);
    }
    vls_hash_end(&id, &hasher);
    return vls_id_hex(&id);
}

static vls_id_text content_of(talk *k, const char *ref)
{
    const char *shown = talk_run(k, "turn:show", "{\"turnId\":\"%s\"}", ref);
    vls_id_text text;

    (void)snprintf(text.s, sizeof(text.s), "%s", talk_member(k, shown, "contentHash"));
    return text;
}

TEST(chat_refuses, summaries_of_something_else) /* [W17] */
{
    talk *k = talk_open(t);
    const char *t1, *t2;
    vls_id_text content[2], both;

    (void)talk_session(k, "s");
    t1 = talk_say(k, "s", "user", "a");
    t2 = talk_say(k, "s", "assistant", "b");
    content[0] = content_of(k, t1);
    content[1] = content_of(k, t2);
    both = hash_of(t, content, 2);
    CHECK_INT(VALISE_E_INVALID, summarize_hashed(k, t1, t1, both.s));
    CHECK(strstr(t->err.message, "blocks[0].covers.hash"));
    CHECK(strstr(t->err.hint, hash_of(t, content, 1).s)); /* what it would have to be */
    CHECK_INT(VALISE_E_INVALID, summarize_hashed(k, t1, t2, content[0].s));
    CHECK_OK(summarize_hashed(k, t1, t2, both.s));
    CHECK_OK(summarize_hashed(k, t1, t1, hash_of(t, content, 1).s));
    /* What was erased since is not what was summed up. */
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", t2);
    CHECK_INT(VALISE_E_INVALID, summarize_hashed(k, t1, t2, both.s));
    talk_check(k, false);
}

TEST(chat_refuses, turns_and_sessions_that_are_not_there)
{
    talk *k = talk_open(t);
    const char *id = "01990000-0000-7000-8000-00000000abcd";
    const char *said =
        "\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"x\"}]}";

    (void)talk_session(k, "s");
    CHECK_INT(VALISE_E_NOT_FOUND, talk_try(k, "turn:add", "{\"sessionId\":\"x\",%s}", said));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:edit", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\",\"text\":\"x\"}"));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:branch", "{\"sessionId\":\"s\",\"parent\":\"%s\",%s}", id, said));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:checkout", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", id));
    CHECK_INT(VALISE_E_NOT_FOUND,
              talk_try(k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"%s\"}", id));
    CHECK_INT(VALISE_E_NOT_FOUND, talk_try(k, "session:delete", "{\"sessionId\":\"x\"}"));
    CHECK_INT(VALISE_E_NOT_FOUND, talk_try(k, "session:fork", "{\"sessionId\":\"x\"}"));
    CHECK_INT(VALISE_E_INVALID, talk_try(k, "turn:add", "{\"sessionId\":\"s\",\"text\":\"x\"}"));
    CHECK_INT(VALISE_E_INVALID,
              talk_try(k, "turn:add", "{\"sessionId\":\"s\",\"text\":\"x\",%s}", said));
    CHECK_INT(VALISE_E_INVALID, talk_try(k, "turn:add", "{\"sessionId\":\"s\",\"role\":\"user\"}"));
    CHECK_INT(VALISE_E_DENIED, talk_try(k, "turn:sweep", "{}"));
    CHECK_INT(VALISE_E_DENIED,
              talk_try(k, "turn:remove", "{\"sessionId\":\"%s\",\"turnId\":\"%s\",\"version\":1}",
                       id, id));
    CHECK_INT(0, talk_count(k, &vls_turns));
}

TEST(chat_refuses, ids_that_are_taken) /* [K3] */
{
    talk *k = talk_open(t);
    const char *form =
        "{\"sessionId\":\"s\",\"turn\":{\"id\":\"01990000-0000-7000-8000-00000000abcd\",\"role\":"
        "\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"x\"}]}}";

    (void)talk_session(k, "s");
    CHECK_OK(talk_try(k, "turn:add", "%s", form));
    CHECK_INT(VALISE_E_EXISTS, talk_try(k, "turn:add", "%s", form));
    (void)talk_run(k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\"}");
    CHECK_TEXT("2", talk_member(k, talk_run(k, "turn:add", "%s", form), "version"));
}
