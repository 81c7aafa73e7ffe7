/* agent_serve.c -- the far side: whatever lines come, each gets its answer, and nothing else is
 * written. [C29] */
#include "agent_kit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/hex.h"
#include "base/str.h"
#include "harness/fault.h"
#include "json/json.h"

/* Questions and answers are files here: one end comes by itself. */
static int serve(valise *v, const char *agent, const valise_call *call, valise_str questions,
                 valise_str *answers, valise_error *err)
{
    const char *in_path = test_format("%s/questions", test_tmpdir());
    const char *out_path = test_format("%s/answers", test_tmpdir());
    int in, out, rc;

    test_write_file(in_path, questions);
    in = open(in_path, O_RDONLY | O_CLOEXEC);
    out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(in >= 0 && out >= 0);
    rc = valise_agent_serve(v, agent, in, out, call, err);
    CHECK_INT(0, close(in) + close(out));
    *answers = test_read_file(out_path);
    return rc;
}

static const char *answers_to(desk *d, const char *agent, const char *questions)
{
    test *t = d->t;
    valise_str answers;

    CHECK_OK(serve(d->v, agent, NULL, valise_str_of(questions), &answers, &t->err));
    return answers.ptr;
}

TEST(serve, lines_that_make_no_sense)
{
    static const struct {
        const char *line, *answer;
    } all[] = {
        {"nonsense",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"invalid JSON at byte 0: expected a "
         "value, found 'n'\",\"offset\":0},\"id\":null}\n"},
        {"[]", "{\"error\":{\"code\":\"INVALID\",\"message\":\"the question is not an object\"},"
               "\"id\":null}\n"},
        {"{}", "{\"error\":{\"code\":\"INVALID\",\"message\":\"the question has no id\"},"
               "\"id\":null}\n"},
        {"{\"id\":1.5}", "{\"error\":{\"code\":\"INVALID\",\"message\":\"an id is an integer, or a "
                         "text of at most 128 bytes\"},\"id\":null}\n"},
        {"{\"id\":null}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"an id is an integer, or a "
         "text of at most 128 bytes\"},\"id\":null}\n"},
        {"{\"id\":7}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"the question has no op\"},\"id\":7}\n"},
        {"{\"id\":\"a\\n\",\"op\":5}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"the question has no op\"},"
         "\"id\":\"a\\n\"}\n"},
        {"{\"id\":7,\"op\":\"erase\"}",
         "{\"error\":{\"code\":\"NOT_FOUND\",\"hint\":\"the operations are read_context, "
         "write_context and synthesize\",\"message\":\"there is no op 'erase'\"},\"id\":7}\n"},
        {"{\"id\":7,\"op\":\"workspace:erase\"}",
         "{\"error\":{\"code\":\"NOT_FOUND\",\"hint\":\"the operations are read_context, "
         "write_context and synthesize\",\"message\":\"there is no op "
         "'workspace:erase'\"},\"id\":7}\n"},
        {"{\"id\":7,\"op\":\"read_context\",\"actor\":\"local\"}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"'actor' is unknown in a "
         "question\"},\"id\":7}\n"},
        {"{\"id\":7,\"op\":\"read_context\",\"args\":[]}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"args is not an object\"},\"id\":7}\n"},
        {"{\"id\":7,\"op\":\"write_context\",\"args\":{\"text\":1}}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"'text' must be a string\"},\"id\":7}\n"},
        {"{\"id\":7,\"op\":\"write_context\",\"args\":{\"text\":\"\",\"content\":\"\"}}",
         "{\"error\":{\"code\":\"INVALID\",\"message\":\"give either a content or a text, not "
         "both\"},\"id\":7}\n"},
        {"", ""},
        {" \t\r", ""},
    };
    desk *d = desk_open(t);
    const char *questions = "", *answers = "";

    for (size_t i = 0; i < VLS_COUNT(all); i++) {
        CHECK_TEXT(all[i].answer, answers_to(d, "w", test_format("%s\n", all[i].line)));
        questions = test_format("%s%s\n", questions, all[i].line);
        answers = test_format("%s%s", answers, all[i].answer);
    }
    CHECK_TEXT(answers, answers_to(d, "w", questions)); /* one after the other, too */
    CHECK_TEXT("", answers_to(d, "w", ""));
}

static const char *member(const char *json, const char *key)
{
    const char *at = strstr(json, test_format("\"%s\":", key));

    return at ? at + strlen(key) + 3 : "(none)";
}

TEST(serve, questions_that_do)
{
    desk *d = desk_open(t);
    const char *said = answers_to(
        d, "w",
        "{\"args\":{\"node\":\"lib/a.c\",\"text\":\"\\u00e4 \\\"x\\\"\"},\"id\":\"one\",\"op\":"
        "\"write_context\"}\r\n"
        "{\"args\":{\"node\":\"lib/a.c\",\"content\":\"AP8=\",\"type\":\"blob\"},\"id\":2,\"op\":"
        "\"write_context\"}\n"
        "{\"args\":{\"node\":\"lib/"
        "a.c\",\"text\":\"\",\"type\":\"empty\"},\"expect\":null,\"id\":3,"
        "\"op\":\"write_context\"}\n"
        "{\"args\":{\"node\":\"lib/"
        "a.c\",\"text\":\"x\",\"type\":\"empty\"},\"expect\":null,\"id\":4,"
        "\"op\":\"write_context\"}\n"
        "{\"args\":{\"node\":\"lib/a.c\"},\"id\":-5,\"op\":\"read_context\"}");
    valise_frames *known = NULL;

    CHECK(strncmp(said, "{\"id\":\"one\",\"result\":{", 22) == 0);
    CHECK(strstr(said, "\"code\":\"CONFLICT\",\"current\":\"")); /* what was there instead */
    CHECK(strstr(said, "},\"id\":4}\n{\"id\":-5,\"result\":{"));
    CHECK(strstr(said, "\"text\":\"\xc3\xa4 \\\"x\\\"\""));
    CHECK(strstr(said, "\"data\":\"AP8=\""));
    CHECK_TEXT("}\n", strrchr(said, '}')); /* the last one without a newline, too */
    CHECK(strtoll(member(strstr(said, "\"id\":-5"), "seq"), NULL, 10) > 0);
    CHECK_OK(valise_node_get(&known, d->v, "lib/a.c", NULL, NULL, NULL, &t->err));
    CHECK_INT(3, known->count);
    CHECK_STR(VLS_STR("w"), known->items[0]->agent);
    valise_frames_free(known);
    /* As another one, who may not. */
    CHECK(strstr(answers_to(d, "r",
                            "{\"args\":{\"node\":\"lib\",\"text\":\"\"},\"id\":1,\"op\":"
                            "\"write_context\"}\n"),
                 "\"code\":\"DENIED\""));
}

static size_t count_lines(valise_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

/* Each line that is not blank has one answer, and each answer is a line of JSON. */
TEST(serve, noise)
{
    static const char *const pieces[] = {
        "{",      "}",       "\"id\":", "1",     ",",         "\"op\":",  "\"read_context\"",
        "\"args", "\":{}",   "\n",      "\n",    "\"node\":", "\"lib\"",  "[[[[",
        "\xff",   "\\u0000", "null",    "1e999", "\"text\":", "\"\xc3\"", "\"synthesize\""};
    desk *d = desk_open(t);
    test_rng rng = test_rng_new(test_seed());

    for (int round = 0; round < 30; round++) {
        VLS_AUTO(buf) vls_buf noise = {0};
        valise_str answers, rest, line;
        size_t lines = 0;
        vls_buf_init(&noise, t->env, 1 << 20);
        for (int i = 0; i < 200; i++)
            vls_buf_add_text(&noise, pieces[test_random_below(&rng, VLS_COUNT(pieces))]);
        vls_buf_add_byte(&noise, '\n');
        rest = vls_buf_str(&noise);
        while (vls_str_cut(&line, &rest, rest, '\n'))
            lines += vls_str_trim(line).len > 0;
        CHECK_OK(serve(d->v, "w", NULL, vls_buf_str(&noise), &answers, &t->err));
        CHECK_INT(lines, count_lines(answers));
        while (vls_str_cut(&line, &answers, answers, '\n')) {
            valise_blob *canonical = NULL;
            CHECK_OK(vls_json_canonical(&canonical, t->env, line, &t->err));
            CHECK_STR(line, valise_blob_bytes(canonical));
            valise_blob_unref(canonical);
        }
    }
}

/* One that is too long is skipped to its end, and answered. */
TEST(serve, a_line_that_is_too_long)
{
    desk *d = desk_open(t);
    size_t len = ((size_t)64 << 20) + 10;
    char *text = test_alloc(len + 100);
    valise_str answers;

    memset(text, '[', len);
    (void)snprintf(text + len, 100, "\n{\"id\":1}\n");
    CHECK_OK(serve(d->v, "w", NULL, valise_str_of(text), &answers, &t->err));
    CHECK_STR(
        VLS_STR("{\"error\":{\"code\":\"TOO_LARGE\",\"message\":\"a question has at most 67108864 "
                "bytes\"},\"id\":null}\n{\"error\":{\"code\":\"INVALID\",\"message\":\"the "
                "question has no op\"},\"id\":1}\n"),
        answers);
    CHECK_OK(serve(d->v, "w", NULL, vls_str(text, len), &answers, &t->err)); /* and at the end */
    CHECK_INT(1, count_lines(answers));
}

static int stop(void *arg, const valise_progress_state *state)
{
    CHECK_TEXT("serve", state->stage);
    return --*(int *)arg <= 0;
}

TEST(serve, it_can_be_ended)
{
    desk *d = desk_open(t);
    valise_call call = VALISE_CALL_INIT;
    int ends[2], looks = 2, more;
    static char questions[20000];
    valise_str answers;
    sigset_t left;

    call.progress = (valise_progress){stop, &looks};
    CHECK_INT(0, pipe(ends)); /* nothing comes */
    CHECK_RC(VALISE_E_CANCELLED, valise_agent_serve(d->v, "w", ends[0], 2, &call, &t->err));
    /* Nobody reads the answers any more. */
    (void)signal(SIGPIPE, SIG_DFL); /* a host need not have thought of it */
    test_write_file(test_format("%s/q", test_tmpdir()), VLS_STR("x\n"));
    looks = open(test_format("%s/q", test_tmpdir()), O_RDONLY | O_CLOEXEC);
    CHECK_INT(0, close(ends[0]));
    CHECK_RC(VALISE_E_IO, valise_agent_serve(d->v, "w", looks, ends[1], NULL, &t->err));
    CHECK_INT(0, close(ends[1]));
    CHECK_INT(0, close(looks));
    CHECK_INT(0, sigpending(&left));
    CHECK(!sigismember(&left, SIGPIPE));
    /* Nobody reads them now, over a descriptor that does not wait. */
    memset(questions, '\n', sizeof(questions));
    for (size_t i = 0; i < sizeof(questions); i += 2)
        questions[i] = 'x';
    test_write_file(test_format("%s/q", test_tmpdir()), vls_str(questions, sizeof(questions)));
    looks = open(test_format("%s/q", test_tmpdir()), O_RDONLY | O_CLOEXEC);
    CHECK_INT(0, pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    more = 4;
    call.progress.arg = &more;
    CHECK_RC(VALISE_E_CANCELLED, valise_agent_serve(d->v, "w", looks, ends[1], &call, &t->err));
    CHECK_INT(0, close(ends[0]) + close(ends[1]) + close(looks));
    /* Nothing can be read. */
    looks = open(test_tmpdir(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    CHECK(valise_agent_serve(d->v, "w", looks, 2, NULL, &t->err) < 0);
    CHECK_INT(0, close(looks));

    CHECK_RC(VALISE_E_INVALID, valise_agent_serve(NULL, "w", 0, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_serve(d->v, NULL, 0, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_serve(d->v, "", 0, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_serve(d->v, "w", -1, 1, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_agent_serve(d->v, "w", 0, -1, NULL, &t->err));
    call.size = 1;
    CHECK_RC(VALISE_E_INVALID, serve(d->v, "w", &call, VLS_STR(""), &answers, &t->err));
}

/* Where memory is short the answer says so, or it ends. */
static int serve_once(fault *f, void *arg)
{
    valise_options o = VALISE_OPTIONS_INIT;
    valise_str answers;
    valise *v = NULL;
    int rc;

    fault_off(f);
    o.env = f->env;
    o.flags = VALISE_OPEN_NO_USER_CONFIG;
    CHECK_INT(0, valise_open(&v, arg, &o, &f->err));
    fault_on(f);
    rc = serve(v, "w", NULL,
               VLS_STR("{\"args\":{\"node\":\"lib/a.c\",\"text\":\"x\"},\"id\":1,\"op\":"
                       "\"write_context\"}\n"),
               &answers, &f->err);
    fault_off(f);
    if (rc == 0)
        CHECK_INT(1, count_lines(answers));
    if (rc == 0 && fault_has_hit(f))
        f->recovered = true;
    valise_close(v);
    fault_on(f);
    return rc;
}

TEST(serve, without_memory)
{
    desk *d = desk_open(t);

    desk_close(d);
    CHECK(fault_each_alloc(t, 0, serve_once, (void *)(uintptr_t)d->dir) > 0);
}

/* ---- as it is documented ---- */

/* The next line that begins with this, without it; false at the end of the block. */
static bool next_line(valise_str *out, valise_str *rest, const char *mark)
{
    valise_str line;

    while (vls_str_cut(&line, rest, *rest, '\n') && !vls_str_equal(line, VLS_STR("```")))
        if (vls_str_starts(line, valise_str_of(mark))) {
            *out = vls_str_from(line, strlen(mark));
            return true;
        }
    return false;
}

TEST(serve, speaks_as_it_is_documented)
{
    valise_str formats =
        test_read_file(test_format("%s/docs/formats.md", getenv("VALISE_SOURCE_ROOT")));
    valise_str rest = valise_str_of(strstr(formats.ptr, "```agent-lines\n")), question, answer;
    desk *d = desk_open(t);
    int count = 0;

    while (next_line(&question, &rest, "> ") && next_line(&answer, &rest, "< ")) {
        const char *said = answers_to(d, "w", test_format("%.*s\n", VALISE_STR_ARG(question)));
        CHECK_TEXT(test_format("%.*s\n", VALISE_STR_ARG(answer)), said);
        count++;
    }
    CHECK_INT(7, count);
}
