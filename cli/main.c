/* main.c -- the command `valise`: words in, an operation or a command of its own, an exit code out.
 *
 * Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied, 5 conflict, 6 invalid input,
 * 7 corrupt, 8 different (when asked to fail on that), 130 interrupted, or 128 and the number of
 * the signal that ended a job. */
#include <unistd.h>

#include "cli/call.h"
#include "cli/derive.h"
#include "cli/paths.h"
#include "cli/print.h"

#define VERBS_MAX 160u /* of a message */

/* The payload of an operation as the text that is dispatched. */
static int run_operation(int *status, cli *c, const cli_words *words, vls_json payload,
                         valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = cli_resolve_ids(&payload, c, words->command->op, err);

    if (rc == 0)
        rc = cli_resolve_paths(&payload, c, words->command->op, err);
    if (rc == 0)
        rc = cli_consent(&payload, c, words->command->op, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&text, c->env, (size_t)1 << 30);
    rc = vls_json_write_around(&text, payload, err);
    if (rc < 0)
        return rc;
    if (words->command->op->kind == VALISE_JOB)
        cli_catch_termination();
    c->payload = &payload;
    rc = cli_run(status, c, words->command->op, vls_buf_str(&text), err);
    c->payload = NULL;
    return rc;
}

static int run_builtin(int *status, cli *c, const cli_words *words, vls_json payload,
                       valise_error *err)
{
    const cli_builtin *builtin = words->command->builtin;
    void *args = NULL;
    int rc = 0;

    if (builtin->raw)
        return builtin->run(status, c, words, &payload, err);
    if (builtin->op.in) {
        args = vls_arena_zalloc(&c->arena, builtin->op.in_size);
        if (!args)
            return vls_arena_fail(&c->arena, err);
        rc = vls_fields_decode(args, builtin->op.in, builtin->op.in_size, payload, VLS_FIELD_INPUT,
                               &c->arena, err);
    }
    return rc < 0 ? rc : builtin->run(status, c, words, args, err);
}

static int go_to(const char *directory, valise_error *err)
{
    return directory && chdir(directory) < 0
               ? vls_fail_errno(err, "cannot go to", valise_str_of(directory))
               : 0;
}

/* Split the words; a command that is not known may be one of an extension. */
static int split(cli_words *out, cli *c, size_t count, const char *const *argv, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = cli_words_split(out, c, count, argv, err), gone;

    if (rc < 0 && !out->unknown)
        return rc;
    gone = go_to(c->options.directory, &why);
    if (gone < 0) {
        *err = why;
        return gone;
    }
    if (rc == 0)
        return 0;
    /* What is wrong with an extension is worth more than a typing mistake that is none. */
    int more = cli_extend_catalog(c, true, &why);
    if (more < 0) {
        *err = why;
        return more;
    }
    return more == 1 ? cli_words_split(out, c, count, argv, err) : rc;
}

/* Half a command is wrong usage; who stops there wants to know how it goes on. */
static int refuse_group(const cli *c, const cli_words *words, valise_error *err)
{
    const char *group = cli_catalog_group(c->catalog, words->group);
    char verbs[VERBS_MAX] = "";
    size_t len = 0, group_len;

    group = group ? group : words->group;
    group_len = strlen(group);

    for (size_t i = 0; i < c->catalog->count; i++) {
        const cli_command *command = &c->catalog->commands[i];
        const char *verb = command->op->name + group_len + 1;
        if (!cli_command_is_of(command, group, group_len))
            continue;
        if (len + strlen(verb) + 8 > sizeof(verbs)) {
            (void)snprintf(verbs + len, sizeof(verbs) - len, ", ...");
            break;
        }
        len +=
            (size_t)snprintf(verbs + len, sizeof(verbs) - len, "%s%s", len > 0 ? ", " : "", verb);
    }
    vls_report(err, CLI_E_USAGE, -1, "'valise %s' needs a subcommand: %s", words->group, verbs);
    vls_hint(err, "run 'valise %s --help' for what they do", words->group);
    return CLI_E_USAGE;
}

static int run_words(int *status, cli *c, const cli_words *words, valise_error *err)
{
    vls_json payload;
    int rc;

    cli_out_init(c->out, c); /* again: now it is known what is wanted */
    if (c->options.version && !words->command) {
        cli_print_version(c);
        return 0;
    }
    if (!words->command && words->group && !c->options.help)
        return refuse_group(c, words, err);
    if (c->options.help || !words->command)
        return cli_print_help(c, words, err);
    rc = cli_words_payload(&payload, c, words, err);
    if (rc < 0)
        return rc;
    return words->command->builtin ? run_builtin(status, c, words, payload, err)
                                   : run_operation(status, c, words, payload, err);
}

static int run(int *status, cli *c, size_t count, const char *const *argv, valise_error *err)
{
    cli_words words = {0};
    int rc = cli_make_catalog(c, err);

    if (rc == 0)
        rc = split(&words, c, count, argv, err);
    if (rc == 0)
        rc = run_words(status, c, &words, err);
    if (rc < 0 && !c->options.json)
        cli_say_words(err, &words);
    if (rc < 0)
        cli_hint(err, &words);
    return rc;
}

int main(int argc, char **argv)
{
    cli_out out;
    cli c = {.env = valise_env_default(), .out = &out};
    valise_error err = VALISE_ERROR_INIT, lost = VALISE_ERROR_INIT;
    int status = CLI_DONE, rc;

    cli_guard_streams();
    cli_catch_signals();
    vls_arena_init(&c.arena, c.env, (size_t)4 << 30);
    cli_out_init(&out, &c);
    rc = run(&status, &c, (size_t)VLS_MAX(argc - 1, 0), (const char *const *)argv + 1, &err);
    if (rc < 0 && !out.streamed)
        vls_buf_clear(&out.text); /* a part would look whole */
    if (cli_out_finish(&out, &lost) < 0 && rc == 0) {
        if (c.done)
            vls_hint(&lost, "the command was carried out; only its answer is lost");
        status = cli_report(&c, &lost);
    }
    if (rc < 0)
        status = cli_report(&c, &err);
    if (rc == VALISE_E_CANCELLED && cli_is_terminated())
        status = 128 + cli_is_terminated();
    cli_out_release(&out);
    cli_close(&c);
    vls_arena_release(&c.arena);
    return status;
}
