/* kill.c -- kill -9 while turns are added, edited, merged and deleted: all of a command or nothing,
 * and what was acknowledged is there. [W4] [W5] [W10] */
#include "harness/kill.h"
#include "kit/talk.h"

static void child(kill_run *run, void *arg)
{
    test *t = arg;
    talk k;

    talk_open_at(&k, t, t->env, test_format("%s/ws", run->dir));
    (void)talk_session(&k, "s");
    for (int i = 0; i < 30; i++) {
        const char *first = talk_say(&k, "s", "user", test_format("turn %d", i));
        const char *edit;
        kill_ack(run, "%s", first);
        edit = talk_member(&k,
                           talk_run(&k, "turn:edit",
                                    "{\"sessionId\":\"s\",\"turnId\":\"HEAD\",\"newBlocks\":[{"
                                    "\"type\":\"document\",\"data\":\"QUJD\"}]}"),
                           "ref");
        kill_ack(run, "%s", edit);
        (void)talk_run(
            &k, "turn:merge",
            "{\"sessionId\":\"s\",\"parents\":[\"%s\",\"%s\"],\"role\":\"user\",\"text\":"
            "\"both\"}",
            edit, first);
        if (i % 4 == 3)
            (void)talk_run(&k, "turn:delete", "{\"sessionId\":\"s\",\"turnId\":\"HEAD\"}");
    }
    valise_close(k.v);
}

static void verify(test *t, const kill_run *run, void *arg)
{
    const char *path = test_format("%s/ws", run->dir);
    talk k;

    (void)arg;
    talk_open_at(&k, t, t->env, path);
    talk_check(&k, false);
    for (size_t i = 0; i < run->acked; i++) {
        const char *at = strchr(run->acks[i], '@');
        (void)talk_run(&k, "workspace:show", "{\"target\":\"turn/%.*s/%s\"}",
                       (int)(at - run->acks[i]), run->acks[i], at + 1);
    }
    (void)talk_run(&k, "workspace:gc", "{}");
    talk_check(&k, false);
    valise_close(k.v);
}

TEST(chat_kill, leaves_whole_commands)
{
    kill_loop(t, 12, child, verify, t);
}
