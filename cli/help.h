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

/* What there is to begin with, and whether a workspace is here. Without --help, and in one: what is
 * in it and what to do next; whatever is wrong there, it is only told. (front.c) */
void cli_help_front(cli_page *page, cli *c);

/* One line of a list: a command, which must be there, under the name it is given by. */
void cli_help_entry(cli_page *page, const cli *c, const char *words);

#define CLI_ABOUT                                                                                  \
    "Valise keeps the state of AI agents: working memory, knowledge and conversations."
#define CLI_NAME_LINE "keep the state of AI agents"
#define CLI_USAGE_LINE "valise [options] COMMAND [options] ..."

/* ---- what is chosen by hand (front.c) ---- */

/* The groups in the order in which they are told; ends with NULL. */
typedef struct cli_group_about {
    const char *group, *about;
} cli_group_about;
extern const cli_group_about cli_groups[];
const char *cli_group_is_about(const char *group); /* NULL: it has no row */

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
