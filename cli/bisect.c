/* bisect.c -- `bp bisect` with a program as its question.
 *
 *     valise bp bisect RUN FROM TO -- grep -q Lyon
 *
 * stands before the operation backpack:bisect: with --rule it runs that. The program gets each
 * state that is tried as one JSON object on standard input, and VALISE_BACKPACK and VALISE_SEQ in
 * its environment. Exit code 0: it holds; 1 to 124: it does not; anything else is the end. */
#include "cli/call.h"

#include <unistd.h>

#include <valise/backpack.h>

#include "backpack/bag.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/print.h"
#include "cli/program.h"

#define STATE_MAX ((size_t)1 << 30)

typedef struct bisect_args {
    valise_str backpack, node, from, to;
    valise_str rule; /* JSON */
    valise_list program;
} bisect_args;

static const valise_field program_word = {
    .name = "program", .help = "A word of it.", .type = VALISE_T_STR, .ref = CLI_PROGRAM};

static const valise_field bisect_in[] = {
    VALISE_FIELD_WITH(bisect_args, backpack, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Name of the backpack.", .min = 1, .max = VLS_BAG_NAME_MAX,
                      .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_WITH(bisect_args, node, STR, 0, "Act as this node, under its permissions.",
                      .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),
    VALISE_FIELD_WITH(bisect_args, from, STR, VALISE_POSITIONAL,
                      "A point where the condition does not hold (default: the oldest).",
                      .max = VLS_POINT_MAX, .ref = VLS_REF_POINT),
    VALISE_FIELD_WITH(bisect_args, to, STR, VALISE_POSITIONAL,
                      "A point where it holds (default: now).", .max = VLS_POINT_MAX,
                      .ref = VLS_REF_POINT),
    VALISE_FIELD_WITH(bisect_args, program, LIST, VALISE_POSITIONAL,
                      "A program whose exit code tells whether the condition holds.",
                      .more = &program_word),
    VALISE_FIELD(bisect_args, rule, JSON, VALISE_NULLABLE,
                 "Instead of a program: JSON Logic over the state, an object of keys and values."),
    VALISE_FIELD_END,
};

/* ---- the operation ---- */

static void add_member(vls_buf *out, const char *name, valise_str text)
{
    if (text.len == 0)
        return;
    vls_buf_printf(out, ",\"%s\":", name);
    vls_json_write_string(out, text);
}

static int run_rule(int *status, cli *c, const valise_op *op, const bisect_args *a,
                    valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    vls_buf_init(&payload, c->env, STATE_MAX);
    vls_buf_add_text(&payload, "{\"backpack\":");
    vls_json_write_string(&payload, a->backpack);
    add_member(&payload, "node", a->node);
    add_member(&payload, "from", a->from);
    add_member(&payload, "to", a->to);
    vls_buf_add_text(&payload, ",\"rule\":");
    vls_buf_add(&payload, a->rule);
    vls_buf_add_byte(&payload, '}');
    rc = vls_buf_check(&payload, err);
    return rc < 0 ? rc : cli_run(status, c, op, vls_buf_str(&payload), err);
}

/* ---- one state ---- */

typedef struct asking {
    cli *c;
    char *const *argv;
    const char *backpack; /* name */
    int64_t low, high;    /* it is behind low, and at high or before it; high 0: not known yet */
    valise_str json;      /* the commit that was found */
    vls_buf state;
} asking;

static int add_item(void *arg, const valise_item *item, valise_error *err)
{
    vls_buf *out = arg;

    if (!item->value) /* erased */
        return 0;
    vls_buf_add_byte(out, out->len > 0 ? ',' : '{');
    vls_json_write_string(out, item->commit->key);
    vls_buf_add_byte(out, ':');
    vls_buf_add(out, valise_blob_bytes(item->value));
    return vls_buf_check(out, err);
}

static int take_seq(void *arg, const valise_commit *commit, valise_error *err)
{
    int64_t *seq = arg;

    (void)err;
    *seq = commit->seq;
    return 0;
}

/* The newest commit of a state, or the oldest; *seq stays when there is none. */
static int seq_of(int64_t *seq, valise_backpack *state, bool oldest, valise_error *err)
{
    valise_history one = VALISE_HISTORY_INIT;

    one.limit = 1;
    one.oldest_first = oldest;
    return valise_history_each(state, &one, take_seq, seq, err);
}

/* As git does: how many are left after this one, and how many steps that takes. */
static void tell(const asking *a, int64_t seq)
{
    int64_t left = a->high > 0 ? VLS_MAX(a->high - seq, seq - a->low) - 1 : seq - a->low - 1;
    unsigned steps = 0;
    char line[160];

    for (int64_t rest = left; rest > 0; rest /= 2)
        steps++;
    if (a->c->options.quiet || isatty(STDERR_FILENO) != 1)
        return;
    (void)snprintf(line, sizeof(line),
                   "Bisecting: trying commit %lld; %lld left after this (roughly %u step%s)\n",
                   (long long)seq, (long long)left, steps, steps == 1 ? "" : "s");
    (void)vls_fd_write_all(STDERR_FILENO, valise_str_of(line)); /* nobody needs it */
}

static int refuse_code(const asking *a, int code, valise_error *err)
{
    const char *name = a->argv[0];

    int rc = code == 125 ? VALISE_E_UNSUPPORTED : VALISE_E_IO;

    (void)vls_fail(err, rc, "'%s' exited with %d%s", vls_text_short(valise_str_of(name)).s, code,
                   code == 125 ? ": a state cannot be skipped" : "");
    vls_hint(err, "exit with 0 if it holds, with 1 to 124 if it does not");
    return rc;
}

static int holds(void *arg, valise_backpack *state, valise_error *err)
{
    asking *a = arg;
    char digits[32];
    const cli_variable variables[] = {
        {"VALISE_BACKPACK", a->backpack}, {"VALISE_SEQ", digits}, {NULL, NULL}};
    int64_t seq = 0;
    int rc = cli_check_interrupt(err);

    if (rc == 0)
        rc = seq_of(&seq, state, false, err);
    vls_buf_clear(&a->state);
    if (rc == 0)
        rc = valise_each_item(state, add_item, &a->state, err);
    if (rc < 0)
        return rc;
    vls_buf_add_text(&a->state, a->state.len > 0 ? "}\n" : "{}\n");
    rc = vls_buf_check(&a->state, err);
    if (rc < 0)
        return rc;
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)seq);
    tell(a, seq);
    rc = cli_run_program(a->argv, variables, vls_buf_str(&a->state), err);
    if (rc < 0)
        return rc;
    if (rc >= 125)
        return refuse_code(a, rc, err);
    *(rc == 0 ? &a->high : &a->low) = seq;
    return rc == 0;
}

/* ---- all of it ---- */

static int keep(void *arg, const valise_commit *commit, valise_error *err)
{
    asking *a = arg;
    valise_commit copy = *commit;
    VLS_AUTO(buf) vls_buf text = {0};
    int rc;

    copy.outcome = VALISE_NONE; /* it is no read */
    vls_buf_init(&text, a->c->env, STATE_MAX);
    rc = vls_fields_write(&text, &copy, vls_commit_fields, VLS_FIELD_INPUT, VLS_FIELD_ALL, err);
    return rc < 0 ? rc : vls_arena_dup(&a->json, &a->c->arena, vls_buf_str(&text), err);
}

/* The commit that a point means; of one that is not given `otherwise`. */
static int resolve(int64_t *seq, valise_backpack *bag, valise_str point, int64_t otherwise,
                   int64_t oldest, valise_error *err)
{
    valise_backpack *state = NULL;
    int rc;

    *seq = otherwise;
    if (point.len == 0)
        return 0;
    rc = valise_snapshot_at(&state, bag, point, err);
    *seq = oldest;
    if (rc == 0)
        rc = seq_of(seq, state, false, err);
    valise_backpack_close(state);
    return rc;
}

static int search(asking *a, valise_backpack *bag, const bisect_args *args, valise_error *err)
{
    int64_t from = 0, to = 0, oldest = 1, newest = 0;
    int rc = seq_of(&oldest, bag, true, err);

    oldest--; /* the state before it */
    if (rc == 0)
        rc = seq_of(&newest, bag, false, err);
    if (rc == 0)
        rc = resolve(&from, bag, args->from, oldest, oldest, err);
    if (rc == 0)
        rc = resolve(&to, bag, args->to, newest, oldest, err);
    if (rc < 0)
        return rc;
    if (from >= to)
        return vls_fail(err, VALISE_E_INVALID,
                        "the end (commit %lld) must come after the start (commit %lld)",
                        (long long)to, (long long)from);
    a->low = from;
    return valise_bisect(bag, from, to, holds, a, keep, a, err);
}

static int run_program(int *status, cli *c, const valise_op *op, const bisect_args *args,
                       valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;
    asking a = {.c = c};
    valise_backpack *bag = NULL;
    valise_str name;
    int rc = vls_arena_dup(&name, &c->arena, args->backpack, err);

    if (rc == 0)
        rc = cli_make_argv(&a.argv, c, &args->program, err);
    if (rc == 0)
        rc = cli_open(c, err);
    if (rc < 0)
        return rc;
    a.backpack = name.ptr;
    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    vls_buf_init(&a.state, c->env, STATE_MAX);
    rc = valise_backpack_open(&bag, c->workspace, a.backpack, &options, err);
    if (rc == 0)
        rc = search(&a, bag, args, err);
    valise_backpack_close(bag);
    vls_buf_release(&a.state);
    return rc < 0 ? rc : cli_print_answer(status, c, op, a.json, err);
}

static int run_bisect(int *status, cli *c, const cli_words *words, const void *args,
                      valise_error *err)
{
    const valise_op *op = words->command->behind;
    const bisect_args *a = args;
    bool program = a->program.count > 0, rule = a->rule.ptr != NULL;

    if (program == rule) {
        vls_report(err, CLI_E_USAGE, -1,
                   rule ? "give either a program or a rule, not both"
                        : "no condition given: it is a rule or a program");
        vls_hint(err,
                 "give --rule JSON, or a program after --: valise bp bisect RUN -- grep -q Lyon");
        return CLI_E_USAGE;
    }
    if (rule)
        return run_rule(status, c, op, a, err);
    if (a->node.len > 0 || c->options.at)
        return vls_fail(
            err, CLI_E_USAGE,
            "a program always sees the current state as its owner does; %s works only with --rule",
            a->node.len > 0 ? "--node" : "--at");
    return run_program(status, c, op, a, err);
}

const cli_builtin cli_builtin_backpack_bisect = {
    .op = {.size = sizeof(valise_op),
           .name = "backpack:bisect",
           .brief = "Find the first commit at which a condition holds.",
           .help = "The condition is a rule, or a program after `--`. The program gets a state as "
                   "one JSON object on standard input, and VALISE_BACKPACK and VALISE_SEQ in its "
                   "environment; it is started without a shell. Exit code 0: the condition holds; "
                   "1 to 124: it does not; anything else ends the search. This is a binary search: "
                   "about 10 states are tried for 1,000 commits. NOT_FOUND (exit code 3) means "
                   "that the condition does not hold at the end.",
           .kind = VALISE_QUERY,
           .needs = "backpack:read",
           .in = bisect_in,
           .in_size = sizeof(bisect_args),
           .example = "{\"backpack\":\"run-1\",\"program\":[\"grep\",\"-q\",\"Lyon\"]}"},
    .run = run_bisect,
};
