/* schema.h -- what a command prints with --json, as JSON Schemas made of field tables.
 *
 * Each line of standard output fits the schema of its command, and what stands on standard error is
 * an error. Both are closed: a member that no table has is a mistake.
 *
 * Threads: pure functions. */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

#include "cli/catalog.h"

/* The schema of one line; where there are lines of several kinds, anyOf. VALISE_E_UNSUPPORTED for
 * what has none: it prints no JSON of its own. */
int cli_schema_of_command(vls_json *out, cli *c, const cli_command *command, valise_error *err);

/* Of {"error":{...}}. */
int cli_schema_of_error(vls_json *out, cli *c, valise_error *err);

/* Of a failure inside a line that tells it (batch, agent serve). */
extern const valise_struct cli_error_type;

#endif
