/* fault.c -- every allocation of the commands of conversations fails in turn: all or nothing. [W4]
 * [W5] [W6] */
#include "harness/fault.h"
#include "kit/talk.h"

#include "kit/replayed.h"

typedef struct deed {
    const char *type, *payload;
    bool twice;   /* a job of two commands: it may have done the first */
    bool merging; /* another session, and a merge of what neither has elsewhere */
} deed;

/*     one - two
 *       \- zwei - three - four, the head of s
 *        \- side ---/             three is the head of o */
static void merge(talk *k)
{
    const char *zwei = talk_say(k, "s", "user", "zwei");
    const char *side = talk_member(
        k,
        talk_run(k, "turn:branch",
                 "{\"sessionId\":\"s\",\"parent\":\"HEAD~1\",\"turn\":{\"role\":\"user\","
                 "\"blocks\":[{\"type\":\"document\",\"data\":\"QUFB\"}]}}"),
        "ref");

    (void)talk_run(k, "turn:merge",
                   "{\"sessionId\":\"s\",\"parents\":[\"%s\",\"%s\"],\"turn\":{\"role\":"
                   "\"user\",\"blocks\":[{\"type\":\"document\",\"data\":\"QkJC\"}]}}",
                   zwei, side);
    (void)talk_run(k, "session:fork", "{\"sessionId\":\"s\",\"label\":\"o\"}");
    (void)talk_say(k, "s", "user", "four");
}

static int once(fault *f, void *arg)
{
    const deed *d = arg;
    valise_reply reply = VALISE_REPLY_INIT;
    talk k;
    const char *before;
    int rc;

    fault_off(f);
    talk_open_at(&k, f->t, f->env, ":memory:");
    (void)talk_session(&k, "s");
    (void)talk_say(&k, "s", "user", "one");
    (void)talk_say(&k, "s", "assistant", "two");
    (void)talk_run(&k, "turn:edit", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\",\"text\":\"zwei\"}");
    (void)talk_say(&k, "s", "user", "three");
    if (d->merging)
        merge(&k);
    before = state_of(f->t, k.v);
    fault_on(f);
    rc = valise_dispatch(&reply, k.v, d->type, d->payload, NULL, &f->err);
    fault_off(f);
    valise_reply_release(&reply);
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* what follows a commit may wait */
    if (rc < 0 && !d->twice)
        CHECK_TEXT(before, state_of(f->t, k.v));
    talk_check(&k, false);
    (void)talk_say(&k, d->merging ? "o" : "s", "user", "it goes on");
    valise_close(k.v);
    return rc;
}

#define TURN "\"turn\":{\"role\":\"user\",\"blocks\":[{\"type\":\"text\",\"text\":\"new\"}]}"

TEST(chat_fault, turn_add)
{
    deed d = {"turn:add", "{\"sessionId\":\"s\"," TURN "}", .twice = false};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, turn_edit)
{
    deed d = {"turn:edit", "{\"sessionId\":\"s\",\"turnId\":\"HEAD~2\",\"text\":\"uno\"}",
              .twice = false};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, turn_merge)
{
    deed d = {"turn:merge", "{\"sessionId\":\"s\",\"parents\":[\"HEAD\",\"HEAD~2\"]," TURN "}",
              .twice = false};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, turn_delete)
{
    deed d = {"turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\"}", .twice = true};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, turn_branch)
{
    deed d = {"turn:branch", "{\"sessionId\":\"s\",\"parent\":\"HEAD~1\"," TURN "}",
              .twice = false};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, session_fork)
{
    deed d = {"session:fork",
              "{\"sessionId\":\"s\",\"turnId\":\"HEAD~1\",\"label\":\"f\",\"topics\":[\"a\"]}",
              .twice = false};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, session_delete) /* [W6] */
{
    deed d = {"session:delete", "{\"sessionId\":\"s\"}", .merging = true};

    (void)fault_each_alloc(t, 0, once, &d);
}

TEST(chat_fault, turn_delete_of_a_branch) /* [W5] */
{
    deed d = {"turn:delete",
              "{\"sessionId\":\"s\",\"turnId\":\"HEAD~2\",\"recursive\":true,\"force\":true}",
              .twice = true, .merging = true};

    (void)fault_each_alloc(t, 0, once, &d);
}
