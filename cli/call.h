/* call.h -- running operations: which workspace, as whom, and what came of it.
 *
 * Threads: single. */
#ifndef CLI_CALL_H
#define CLI_CALL_H

#include "bus/registry.h"
#include "cli/words.h"

/* What --actor, --at, --expect, --id and --dry-run say of a call. */
int cli_call_init(valise_call *out, cli *c, valise_error *err);

/* An id that was given must not be the one that means none. VALISE_E_INVALID. */
int cli_check_id(const valise_uuid *id, valise_error *err);

/* ---- settings (settings.c) ---- */

/* Read the user's settings, once, and tell the output which colours and pager are wanted. Whoever
 * changes something does it before that: a setting that makes no sense must not fail what is done.
 * VALISE_E_INVALID with file and line, or the variable. */
int cli_settle(cli *c, valise_error *err);

/* Who acts, and what the environment says of the engine; after cli_settle. */
valise_str cli_actor(const cli *c);
void cli_tell_engine(valise_options *options);

/* ---- the workspace (workspace.c) ---- */

/* Make the catalog of what is built in. Nothing is read from disk. */
int cli_make_catalog(cli *c, valise_error *err);

/* Add what extensions bring: those of the user and, where workspace is set, those that are
 * trusted there. Returns 1 when there is something new. */
int cli_extend_catalog(cli *c, bool workspace, valise_error *err);

/* The folder of the workspace that the options, the environment or the current folder name, in
 * the arena of the run. VALISE_E_NOT_FOUND with the way out. */
int cli_find(const char **out, cli *c, valise_error *err);
bool cli_is_named(const cli *c); /* by an option or the environment */

/* Open it, once. */
int cli_open(cli *c, valise_error *err);

/* A handle for operations that need no workspace. */
int cli_open_none(cli *c, valise_error *err);

/* Close what is open. */
void cli_close(cli *c);

/* ---- running (call.c) ---- */

/* Run an operation and print what it answers. *status: the exit code. After VALISE_E_CONFLICT
 * c->current is what was there instead. */
int cli_run(int *status, cli *c, const valise_op *op, valise_str payload, valise_error *err);

/* Ask an operation of the workspace and keep its answer for the whole run. What failed in payload
 * fails here; NULL: {}. */
int cli_ask(vls_json *out, cli *c, const char *op, const vls_buf *payload, valise_error *err);

/* A list that goes on with what comes, until Ctrl-C or until nobody reads. (follow.c) */
int cli_follow(cli *c, valise *v, const valise_op *op, valise_str payload, const valise_call *call,
               valise_error *err);

/* Replace short ids in a payload by whole ones. (resolve.c) */
int cli_resolve_ids(vls_json *payload, cli *c, const valise_op *op, valise_error *err);

/* Make another list of a list in a payload: each item is changed. (resolve.c) */
typedef int cli_change_fn(vls_json *value, cli *c, const valise_field *field, valise_error *err);
int cli_change_items(vls_json *list, cli *c, const valise_field *item, cli_change_fn *change,
                     valise_error *err);

/* Where an operation that looks for damage cannot run because of it: look at what can be looked at.
 * err is what was in the way, and stays where nothing is found. VALISE_E_CORRUPT. (inspect.c) */
bool cli_can_inspect(const valise_op *op);
int cli_inspect(cli *c, const valise_op *op, valise_error *err);

/* The text of a payload that was given, which is deeper than the values in it may be: {} for none.
 * (builtin_run.c) */
int cli_write_payload(valise_str *out, cli *c, const vls_json *payload, valise_error *err);

/* The rows of a list, for completion. */
int cli_stream(cli *c, const valise_op *op, valise_str payload, valise_row_fn *fn, void *arg,
               valise_error *err);

/* ---- commands that are no operations (builtin*.c) ---- */

extern const cli_builtin *const cli_builtins[]; /* NULL-ended */

extern const cli_builtin cli_builtin_agent_serve, cli_builtin_backpack_bisect, cli_builtin_batch,
    cli_builtin_chat, cli_builtin_commands, cli_builtin_complete, cli_builtin_completion,
    cli_builtin_config_get, cli_builtin_config_list, cli_builtin_config_set,
    cli_builtin_config_unset, cli_builtin_context_delete, cli_builtin_help, cli_builtin_init,
    cli_builtin_preference_delete, cli_builtin_run, cli_builtin_trust, cli_builtin_version,
    cli_builtin_watch;

/* Words of an argument in the arena of the run, each with a NUL behind it, and NULL at the end. */
int cli_copy_words(const char *const **out, cli *c, const valise_list *list, valise_error *err);

/* Print the version. */
void cli_print_version(cli *c);

/* The page that `help WORDS` or `WORDS --help` shows. */
int cli_print_help(cli *c, const cli_words *words, valise_error *err);

#endif
