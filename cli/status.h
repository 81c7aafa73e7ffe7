/* status.h -- how much there is, for people.
 *
 * Threads: single. */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

#include "cli/print.h"

int cli_print_status(cli *c, const valise_op *op, vls_json value, valise_error *err);

/* The value of a line that an area or extension adds to the status, or NULL. */
const vls_json *cli_status_line(vls_json status, const char *name);

/* What such a line says: 3, "100 or more", 1.5 KiB, a time. */
void cli_show_line(vls_buf *out, valise_str name, vls_json value);

#endif
