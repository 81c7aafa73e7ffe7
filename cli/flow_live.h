/* flow_live.h -- the nodes of a run, as people see them while it goes on. [F15]
 *
 *     done       12 ms  plan -> reports              lines that stay, in the order they came in:
 *     done      0.4 ms    daily
 *     retry               weekly  attempt 1: no route to host
 *     running    2.1 s  reports                      lines that move: what is open now
 *     running    0.9 s    weekly  attempt 2
 *                         | The text of the model, as it comes,
 *                         | its last lines.
 *
 * On a terminal a node that has others inside gets a line of its own before these, and the text
 * that a node streamed stands whole below its line once it is done. Where nothing can move there is
 * a line for each node that is done, with its path.
 *
 * Threads: shared. Events may come from any thread; a thread of its own redraws while nothing
 * comes. cli_flow_live_end has waited for it. */
#ifndef CLI_FLOW_LIVE_H
#define CLI_FLOW_LIVE_H

#include <pthread.h>

#include <valise/event.h>

#include "cli/print.h"

typedef struct cli_flow_node {
    vls_buf path, type;
    vls_buf text; /* that it streamed, made harmless */
    vls_buf why;  /* it failed for good, and perhaps an edge takes it */
    bool failed, cancelled;
    bool headed;      /* its line is out, above what is inside of it */
    bool cut;         /* more was streamed than is kept */
    int64_t block;    /* of the answer, that streamed last */
    int64_t attempt;  /* of exec, from 1 */
    int64_t began_ns; /* ticks */
} cli_flow_node;

typedef struct cli_flow_live {
    cli *c;
    bool moves, json;
    pthread_mutex_t lock; /* over all below, and c->out */
    pthread_cond_t wake;
    pthread_t ticker;
    bool ticks, over;

    vls_vec(cli_flow_node *) open; /* those that run, each before what is inside of it */
    cli_flow_node *block;          /* the last lines that stay are inside of it; NULL: of none */
    vls_vec(size_t) drawn;         /* widths of the lines that move, as they stand there */
    bool stood;                    /* what comes goes over lines that moved */
    int64_t wrote_ns;              /* ticks */
    unsigned turns;
    bool stale;   /* there is something to be written */
    int failed;   /* something could not be kept */
    vls_buf last; /* the last failure that was told: nodes around it say the same */

    /* What the run said of itself. */
    bool began, ended;
    int64_t start_ns, steps, took_ns;
    vls_buf backpack, run, status;
} cli_flow_live;

/* Listen from now on, and write to c->out. The subscriber's callback is cli_flow_live_event. */
int cli_flow_live_begin(cli_flow_live *live, cli *c, valise_error *err);
int cli_flow_live_event(void *arg, const valise_event *event, valise_error *err);
/* Nothing moves any more; what was still open is told. */
void cli_flow_live_end(cli_flow_live *live);
void cli_flow_live_release(cli_flow_live *live);

/* What a line of it is with --json. */
extern const valise_field *const cli_flow_lines[];

/* ---- nodes (flow_nodes.c) ---- */

/* A payload of an event of that type ("NODE_END"), with the lock held. */
void cli_flow_take(cli_flow_live *live, valise_str type, const valise_event *event,
                   vls_json payload);
/* The one around it that is open; NULL. */
cli_flow_node *cli_flow_around(const cli_flow_live *live, valise_str path);
/* Close those that are inside of this path, "" for all, as what failed or was left. */
void cli_flow_close_below(cli_flow_live *live, valise_str path);

/* ---- lines (flow_lines.c) ---- */

/* Go back to where what moves begins: lines that stay can be added to c->out->text. */
void cli_flow_wipe(cli_flow_live *live);
/* Put what moves below them, and write all of it. */
void cli_flow_draw(cli_flow_live *live);

typedef struct cli_flow_line {
    const char *state; /* "done" */
    cli_style style;
    int64_t ns; /* VALISE_NONE: none */
    valise_str path;
    valise_str more;       /* behind it, as it is */
    cli_flow_node *deeper; /* it is about something within this node: "" is its label */
} cli_flow_line;

/* A line that stays. */
void cli_flow_add_line(cli_flow_live *live, const cli_flow_line *line);
/* Below the last one: the text that a node streamed. */
void cli_flow_add_text(cli_flow_live *live, const cli_flow_node *node);
/* "12 ms", "2.1 s", "3 m 05 s" */
void cli_flow_add_duration(vls_buf *out, int64_t ns);

#endif
