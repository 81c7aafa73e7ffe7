/* agent.c -- agent serve: the workspace over standard input and output, as one agent. What is
 * written there are answers and nothing else. */
#include <valise/agent.h>

#include <unistd.h>

#include "base/str.h"
#include "cli/call.h"
#include "cli/schema.h"

typedef struct serve_args {
    valise_str as;
} serve_args;

static const valise_field serve_in[] = {
    VALISE_FIELD_WITH(serve_args, as, STR, VALISE_NULLABLE,
                      "The agent who acts (default: the one of --actor).", .ref = "agent:list.id",
                      .min = 1, .max = 128),
    VALISE_FIELD_END,
};

/* What a line is answered with. */
typedef struct serve_answer {
    valise_str id, result;
    int64_t seq;
    const void *error;
} serve_answer; /* for the tables: valise_agent_serve writes it */

static const valise_field done_fields[] = {
    VALISE_FIELD(serve_answer, id, JSON, VALISE_NULLABLE, "That of the question."),
    VALISE_FIELD(serve_answer, result, JSON, VALISE_REQUIRED, "What the operation answers."),
    VALISE_FIELD(serve_answer, seq, INT, VALISE_REQUIRED, "Its place in the log, or what it saw."),
    VALISE_FIELD_END,
};
static const valise_field failed_fields[] = {
    VALISE_FIELD_WITH(serve_answer, error, STRUCT, VALISE_REQUIRED, "What went wrong.",
                      .more = &cli_error_type),
    VALISE_FIELD(serve_answer, id, JSON, VALISE_NULLABLE, "That of the question."),
    VALISE_FIELD_END,
};
static const valise_field *const lines[] = {done_fields, failed_fields, NULL};

static int run_serve(int *status, cli *c, const cli_words *words, const void *args,
                     valise_error *err)
{
    const serve_args *a = args;
    valise_call call = VALISE_CALL_INIT;
    valise_str agent;
    int rc = cli_settle(c, err);

    (void)status;
    (void)words;
    if (rc == 0)
        rc = cli_open(c, err);
    if (rc < 0)
        return rc;
    rc = vls_arena_dup(&agent, &c->arena, a->as.ptr ? a->as : cli_actor(c), err);
    call.progress = cli_stop_on_interrupt();
    return rc < 0 ? rc
                  : valise_agent_serve(c->workspace, agent.ptr, STDIN_FILENO, STDOUT_FILENO, &call,
                                       err);
}

const cli_builtin cli_builtin_agent_serve = {
    .op = {.size = sizeof(valise_op),
           .name = "agent:serve",
           .brief = "Serve the workspace to one agent over standard input and output.",
           .help =
               "For programs in any language. Each line of input is a question: {\"id\":1, "
               "\"op\":\"read_context\", \"args\":{\"node\":\"lib/date.c\"}}. The operations are "
               "read_context, write_context and synthesize, with the arguments that `valise help "
               "get-node`, `put-frame` and `synthesize` list (write_context also takes its content "
               "as \"text\"). Each answer is a line: {\"id\":1, \"result\":{...}, \"seq\":12} or "
               "{\"error\":{\"code\":..., \"message\":...}, \"id\":1}. An invalid line is answered "
               "with an error, too. The command ends when its input ends.\n\nEverything is done as "
               "the agent, under its capabilities. Add it first: `valise agent add NAME`.",
           .kind = VALISE_JOB,
           .in = serve_in,
           .in_size = sizeof(serve_args),
           .example = "{\"as\":\"planner\"}"},
    .run = run_serve,
    .lines = lines,
};
