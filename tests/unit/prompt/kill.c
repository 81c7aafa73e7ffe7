/* kill.c -- kill -9 while prompts are built, asked and compacted: nothing is half recorded, and
 * what was acknowledged can be shown as it was. [P8] [P11] [P15] */
#include "harness/kill.h"
#include "kit/talk.h"

#include "chat/rows.h"
#include "prompt/rows.h"

#define ROUNDS 10

static void child(kill_run *run, void *arg)
{
    test *t = arg;
    talk k;
    const char *answers = test_format("%s/answers", run->dir),
               *line = "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"It is in the red "
                       "van to the coast, and "
                       "will be there on Monday.\"}],\"usage\":{\"input\":200}}}\n";
    char *all = test_alloc(ROUNDS * strlen(line) + 1);

    for (int i = 0; i < ROUNDS; i++)
        memcpy(all + (size_t)i * strlen(line), line, strlen(line));
    test_write_file(answers, valise_str_of(all));
    talk_open_at(&k, t, t->env, test_format("%s/ws", run->dir));
    (void)talk_run(&k, "preference:add", "{\"content\":\"Be kind.\"}");
    (void)talk_session(&k, "s");
    for (int i = 0; i < ROUNDS; i++) {
        const char *done = talk_run(
            &k, "prompt:ask",
            "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\",\"text\":\"Where is "
            "parcel %d, with the book about vans in it?\",\"replay\":\"%s\"}",
            i, answers);

        kill_ack(run, "%s", talk_member(&k, done, "prompt"));
        done = talk_run(&k, "prompt:build",
                        "{\"session\":\"s\",\"provider\":\"anthropic\",\"model\":\"m\"}");
        kill_ack(run, "%s", talk_member(&k, done, "id"));
        if (i % 3 == 2)
            (void)talk_run(&k, "prompt:compact",
                           "{\"session\":\"s\",\"keep\":2,\"text\":\"Parcels "
                           "were asked for.\"}");
        if (i % 4 == 3)
            (void)talk_run(&k, "workspace:gc", "{\"grace\":\"0s\"}");
    }
    valise_close(k.v);
}

static void verify(test *t, const kill_run *run, void *arg)
{
    talk k;
    const char *all;
    int64_t prompts = 0;

    (void)arg;
    talk_open_at(&k, t, t->env, test_format("%s/ws", run->dir));
    talk_check(&k, false);
    for (size_t i = 0; i < run->acked; i++) {
        all = talk_run(&k, "prompt:show", "{\"prompt\":\"%s\"}", run->acks[i]);
        CHECK_MSG(strstr(all, "\"neutralSame\":true") && strstr(all, "\"wireSame\":true"), "%s",
                  all);
    }
    /* What is there at all is whole: no row without its manifest, no answer without its prompt. */
    all = talk_run(&k, "prompt:list", "{}");
    for (const char *at = strstr(all, "\"id\":\""); at; at = strstr(at + 1, "\"id\":\"")) {
        const char *shown = talk_run(&k, "prompt:show", "{\"prompt\":\"%.64s\"}", at + 6);
        CHECK_MSG(strstr(shown, "\"neutralSame\":true"), "%s", shown);
        prompts++;
    }
    CHECK_INT(prompts, talk_count(&k, &vls_prompts));
    (void)talk_run(&k, "workspace:gc", "{}");
    talk_check(&k, false);
    valise_close(k.v);
}

TEST(prompt_kill, leaves_whole_prompts)
{
    kill_loop(t, 10, child, verify, t);
}
