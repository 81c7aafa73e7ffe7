/* output.h -- what goes out: standard output, colours, the pager.
 *
 * Text is collected and written in large pieces. Lists on a terminal go through a pager once they
 * are longer than the screen. What comes from a workspace goes through cli_add_data, which makes
 * it harmless on a terminal; what the command itself writes goes into out->text as it is.
 *
 * A reader that goes away (`valise log | head`) is no error: cli_out_is_closed says so, and
 * whoever makes rows stops.
 *
 * Threads: single. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <sys/types.h>

#include "cli/cli.h"

typedef enum cli_style {
    CLI_PLAIN,
    CLI_BOLD,
    CLI_DIM,
    CLI_RED,
    CLI_GREEN,
    CLI_YELLOW,
} cli_style;

typedef struct cli_out {
    vls_buf text; /* not written yet */
    const valise_env *env;
    bool terminal, color;
    size_t columns, rows;   /* of the terminal */
    bool paged;             /* may go through a pager */
    bool streamed;          /* rows go out one by one: what is there stays when one fails */
    bool closed;            /* nobody reads any more */
    const char *pager_line; /* what to start; NULL or "": nothing */
    pid_t pager;            /* 0: none */
    int fd;
    int64_t wrote_ns;  /* ticks of the last write */
    valise_error fail; /* the first write that failed */
} cli_out;

/* Colours as the options and NO_COLOR say, and no pager, until cli_settle knows more. */
void cli_out_init(cli_out *out, const cli *c);

/* Are colours wanted, on a terminal or elsewhere? (settings.c) */
bool cli_wants_color(const cli *c, bool terminal);

/* Lists: what follows may be long. */
void cli_out_page(cli_out *out, const cli *c);

/* A text that is whole: does it have more lines than the terminal, so that a pager is of use? Then
 * through it. */
bool cli_out_is_long(const cli_out *out);
int cli_out_page_all(cli_out *out, const cli *c, valise_error *err);

/* Call it after each row: writes now and then. VALISE_E_IO; VALISE_E_CANCELLED after Ctrl-C. A
 * reader that went away is no error. */
int cli_out_row(cli_out *out, valise_error *err);

/* Write what is there. VALISE_E_IO. */
int cli_out_flush(cli_out *out, valise_error *err);

/* Does anybody still read? For those who have nothing to write. */
void cli_out_look(cli_out *out);

/* Write what is left and wait for the pager. */
int cli_out_finish(cli_out *out, valise_error *err);
void cli_out_release(cli_out *out);

static inline bool cli_out_is_closed(const cli_out *out)
{
    return out->closed;
}

/* Append data: on a terminal what would steer it becomes visible. Newlines stay when asked for
 * with VLS_TEXT_KEEP_NEWLINE. */
void cli_add_data(cli_out *out, valise_str text, uint32_t flags);

/* What the command says itself, and what somebody wrote, on one line: made harmless also in a file,
 * which may be shown on a terminal later. */
void cli_add_text(cli *c, const char *text);
void cli_add_inline(cli *c, valise_str text);

/* Colour what is added between these two, where colours are wanted. */
void cli_style_begin(cli_out *out, cli_style style);
void cli_style_end(cli_out *out, cli_style style);

#endif
