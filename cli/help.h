/* help.h -- what help, man pages and the reference say: all of it from the catalog.
 *
 * Threads: single. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/catalog.h"
#include "cli/page.h"

/* A page of a command under one of its names, of a group ("pin"), or of all. */
void cli_help_command(cli_page *page, const cli *c, const cli_command *command,
                      const cli_name *name);
void cli_help_group(cli_page *page, const cli *c, const char *typed);
void cli_help_all(cli_page *page, const cli *c);

/* The reference, docs/cli.md. */
void cli_help_reference(vls_buf *out, const cli *c);

/* The words behind `valise` that have a page, a line each: groups, and commands by all names. */
void cli_help_names(vls_buf *out, const cli *c);

/* The example of an operation as a command line that works; nothing when it has none. (example.c)
 */
void cli_add_example(vls_buf *out, const cli *c, const valise_op *op, const cli_name *name);

/* Append a word as a shell must see it. */
void cli_add_quoted(vls_buf *out, valise_str word);

#endif
