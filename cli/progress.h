/* progress.h -- how far long work is, on a terminal only. [L6]
 *
 *     scan        [=========>          ]  45 %  1,200 of 2,700 files  350/s  4 s left
 *     scan        1,200 files  350/s
 *
 * The line is redrawn in place on standard error and gone when the work is done. Ctrl-C makes the
 * callback ask for the end of the work.
 *
 * Threads: single. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct cli_progress {
    const cli *c;
    bool visible;   /* standard error is a terminal, and nobody asked for quiet */
    bool drawn;     /* there is a line to wipe away */
    size_t columns; /* of the terminal */
} cli_progress;

void cli_progress_init(cli_progress *progress, const cli *c);
void cli_progress_clear(cli_progress *progress);

/* The callback; arg is a cli_progress. */
int cli_progress_tell(void *arg, const valise_progress_state *state);

/* The line for a terminal so wide, without anything that steers it. */
void cli_progress_line(vls_buf *out, const valise_progress_state *state, size_t columns);

#endif
