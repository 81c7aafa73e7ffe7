/* faults.c -- memory or the disk gives out in the middle of an operation on prompts: it says so,
 * and what is there is all of it or nothing. [P8] [P11] [P15] [K2] */
#include <errno.h>

#include "harness/fault.h"
#include "kit/replayed.h"
#include "kit/talk.h"

#include "chat/rows.h"
#include "prompt/rows.h"

/* Which states may be left behind by one that failed. */
typedef enum leaves {
    AS_BEFORE, /* a query, or one command */
    A_TURN,    /* what the user said may stay */
    A_ROW,     /* it was recorded, and what came behind failed */
    A_SUMMARY, /* it was written, and the answer failed */
} leaves;

typedef struct deed {
    const char *op, *payload; /* @: the id of a prompt, or the file */
    leaves leaves;
    bool disk;
    const char *answers; /* a file */
} deed;

#define USER                                                                                       \
    "{\"sessionId\":\"s\",\"role\":\"user\",\"text\":\"Where is the parcel? It is blue, and the "  \
    "van is red. There is a book in it, about vans and parcels and the sea.\"}"
#define ANSWER                                                                                     \
    "{\"sessionId\":\"s\",\"role\":\"assistant\",\"text\":\"The parcel is in the red van to the "  \
    "coast. It will be there on Monday, or on Tuesday when it rains on the road.\"}"

static const char *prepare(talk *k, fault *f, const deed *d)
{
    const char *id;

    talk_open_at(k, f->t, f->env, d->disk ? test_format("%s/ws", f->dir) : ":memory:");
    (void)talk_run(k, "role:add", "{\"name\":\"r\",\"persona\":\"You are brief.\"}");
    (void)talk_run(k, "preference:add", "{\"content\":\"Be kind.\"}");
    (void)talk_run(k, "context:add",
                   "{\"key\":\"e\",\"text\":\"A van is a car.\",\"topics\":[\"t\"]}");
    (void)talk_run(k, "session:create", "{\"label\":\"s\",\"role\":\"r\",\"topics\":[\"t\"]}");
    (void)talk_run(k, "turn:add", "%s", USER);
    (void)talk_run(k, "turn:add", "%s", ANSWER);
    id = talk_member(
        k,
        talk_run(k, "prompt:build", "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\"}"),
        "id");
    (void)talk_run(k, "turn:add", "%s", USER);
    return id;
}

static const char *fill(const char *payload, const char *with)
{
    const char *out = "";

    for (const char *at = payload;;) {
        size_t len = strcspn(at, "@");

        out = test_format("%s%.*s", out, (int)len, at);
        if (!at[len])
            return out;
        out = test_format("%s%s", out, with);
        at += len + 1;
    }
}

/* Each run has a file of its own: one that was read goes on where it was. */
static const char *payload_of(const deed *d, const fault *f, const char *id)
{
    const char *path = test_format("%s/answers-%lld", test_tmpdir(), f->nth);

    if (!d->answers)
        return fill(d->payload, id);
    test_write_file(path, valise_str_of(d->answers));
    return fill(d->payload, path);
}

typedef struct counts {
    int64_t prompts, turns;
} counts;

static counts count(talk *k)
{
    return (counts){talk_count(k, &vls_prompts), talk_count(k, &vls_turns)};
}

static void check_left(const deed *d, const counts *was, talk *k, int rc)
{
    counts is = count(k);
    int64_t prompts = is.prompts - was->prompts, turns = is.turns - was->turns;

    if (rc == 0)
        return;
    CHECK_INT(0, d->leaves == AS_BEFORE ? prompts + turns : 0);
    /* In the order of the work: no prompt without the turn before it, no answer without both. */
    CHECK(prompts >= 0 && prompts <= 1 && turns >= 0 && turns <= 2);
    CHECK(d->leaves != A_ROW || turns == 0);
    CHECK(d->leaves != A_SUMMARY || (turns <= 1 && prompts == 0));
    if (d->leaves == A_TURN) {
        CHECK(prompts == 0 || turns >= 1);
        CHECK(turns < 2 || prompts == 1);
    }
}

static int once(fault *f, void *arg)
{
    const deed *d = arg;
    valise_reply reply = VALISE_REPLY_INIT;
    const char *before, *payload;
    counts was;
    talk k;
    int rc;

    fault_off(f);
    payload = payload_of(d, f, prepare(&k, f, d));
    before = state_of(f->t, k.v);
    was = count(&k);
    fault_on(f);
    rc = valise_dispatch(&reply, k.v, d->op, payload, NULL, &f->err);
    fault_off(f);
    valise_reply_release(&reply);
    if (d->disk && rc < 0) {
        valise_close(k.v); /* what failed may be the store's last word: open it again */
        talk_open_at(&k, f->t, f->env, test_format("%s/ws", f->dir));
    }
    if (rc < 0 && d->leaves == AS_BEFORE && !d->disk)
        CHECK_TEXT(before, state_of(f->t, k.v));
    if (!d->disk || d->leaves != AS_BEFORE)
        check_left(d, &was, &k, rc);
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true; /* what follows a commit may wait */
    if (rc == 0 || f->nth % 16 == 0)
        talk_check(&k, true);
    (void)talk_run(&k, "prompt:build",
                   "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\"}");
    valise_close(k.v);
    fault_on(f);
    return rc;
}

static void each(test *t, deed d)
{
    test_note("%s: %lld allocations", d.op, fault_each_alloc(t, 0, once, &d));
}

#define SESSION "{\"session\":\"s\",\"provider\":\"openai\",\"model\":\"m\""

TEST(prompt_faults, build)
{
    each(t, (deed){.op = "prompt:build",
                   .payload = SESSION ",\"wire\":true,\"neutral\":true,\"tools\":[{\"name\":\"x\","
                                      "\"inputSchema\":{\"type\":\"object\"}}]}",
                   .leaves = A_ROW});
}

TEST(prompt_faults, budget_and_render)
{
    each(t, (deed){.op = "prompt:budget",
                   .payload =
                       SESSION ",\"window\":4000,\"policies\":{\"clearResults\":{\"keep\":1}}}"});
    each(t,
         (deed){.op = "prompt:render",
                .payload = "{\"provider\":\"anthropic\",\"model\":\"m\",\"neutral\":{\"version\":1,"
                           "\"messages\":[{\"role\":\"assistant\",\"blocks\":[{\"type\":\"text\","
                           "\"text\":\"Hi\"}]}]}}"});
}

TEST(prompt_faults, show_and_blame)
{
    each(t,
         (deed){.op = "prompt:show",
                .payload = "{\"prompt\":\"@\",\"wire\":true,\"neutral\":true,\"manifest\":true}"});
    each(t, (deed){.op = "prompt:blame", .payload = "{\"prompt\":\"@\",\"all\":true}"});
}

TEST(prompt_faults, list_diff_and_miss)
{
    each(t, (deed){.op = "prompt:list", .payload = "{\"session\":\"s\"}"});
    each(t, (deed){.op = "prompt:diff", .payload = "{\"a\":\"@\",\"b\":\"@\"}"});
    each(t, (deed){.op = "prompt:explain-miss", .payload = "{\"a\":\"@\",\"b\":\"@\"}"});
}

TEST(prompt_faults, delete_and_calibrate)
{
    each(t, (deed){.op = "prompt:delete", .payload = "{\"prompt\":\"@\"}"});
    each(t, (deed){.op = "prompt:calibrate",
                   .payload = "{\"model\":\"m\",\"estimated\":500,\"reported\":900}"});
}

TEST(prompt_faults, lint_and_parse)
{
    each(t,
         (deed){.op = "prompt:lint",
                .payload = "{\"provider\":\"openai\",\"request\":{\"messages\":[{\"role\":\"tool\","
                           "\"tool_call_id\":\"x\",\"content\":\"y\"}]}}"});
    each(t,
         (deed){.op = "prompt:parse",
                .payload =
                    "{\"provider\":\"openai\",\"stream\":\"ZGF0YTogeyJjaG9pY2VzIjpbeyJkZWx0YSI6eyJj"
                    "b250ZW50IjoiSGkifX1dfQoK\"}"});
}

TEST(prompt_faults, compact)
{
    each(t, (deed){.op = "prompt:compact",
                   .payload = "{\"session\":\"s\",\"keep\":0,\"target\":32}",
                   .leaves = A_SUMMARY});
    each(t,
         (deed){.op = "prompt:compact",
                .payload = "{\"session\":\"s\",\"keep\":0,\"provider\":\"openai\",\"model\":\"m\","
                           "\"replay\":\"@\"}",
                .leaves = A_SUMMARY,
                .answers = "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Short.\"}]}}"});
}

#define YES                                                                                        \
    "{\"answer\":{\"blocks\":[{\"type\":\"text\",\"text\":\"Yes, it is.\"}],\"usage\":{\"input\":" \
    "90,\"output\":3}}}"

TEST(prompt_faults, ask)
{
    each(t, (deed){.op = "prompt:ask",
                   .payload = SESSION ",\"text\":\"And now?\",\"stream\":true,\"replay\":\"@\"}",
                   .leaves = A_TURN,
                   .answers = YES});
}

/* ---- the disk ---- */

static void each_io(test *t, deed d)
{
    d.disk = true;
    (void)fault_each_io(t, FAULT_WRITE | FAULT_SYNC, EIO, once, &d);
    (void)fault_each_io(t, FAULT_WRITE, ENOSPC, once, &d);
}

TEST(prompt_faults, the_disk_fails_in_a_build)
{
    each_io(t,
            (deed){.op = "prompt:build", .payload = SESSION ",\"window\":9000}", .leaves = A_ROW});
}

TEST(prompt_faults, the_disk_fails_in_a_compaction)
{
    each_io(t, (deed){.op = "prompt:compact",
                      .payload = "{\"session\":\"s\",\"keep\":0,\"target\":32}",
                      .leaves = A_SUMMARY});
}

TEST(prompt_faults, the_disk_fails_while_somebody_asks)
{
    each_io(t, (deed){.op = "prompt:ask",
                      .payload = SESSION ",\"text\":\"And now?\",\"replay\":\"@\"}",
                      .leaves = A_TURN,
                      .answers = YES});
}
