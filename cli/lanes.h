/* lanes.h -- a graph as lines of text, from the newest to the oldest, as `git log --graph` has it.
 *
 * A lane is a column that waits for one node; where several wait for the same, they join before it
 * is drawn. Behind a node with several parents a lane opens for each further one:
 *
 *     *   7 c1f0a2b3 (run-1) merge answer v1 chat-1
 *     |\
 *     | * 2 9d1be7c0 (run-1b) pack answer v1 chat-1
 *     * | 6 080fcd92 pack fact v3 research-1
 *     |/
 *     * 5 5e8f1a77 pack fact v2 research-2
 *     o commits up to 4 were dropped
 *
 * Whoever draws says which node is next, and writes its line.
 *
 * Threads: single. */
#ifndef CLI_LANES_H
#define CLI_LANES_H

#include "base/vec.h"
#include "cli/output.h"

typedef struct cli_lanes {
    cli *c;
    vls_vec(size_t) waiting; /* numbers of nodes that are waited for */
} cli_lanes;

void cli_lanes_init(cli_lanes *lanes, cli *c);
void cli_lanes_release(cli_lanes *lanes);

/* How many wait for this one. */
size_t cli_lanes_waiting(const cli_lanes *lanes, size_t node);

/* Write the line of a node, with its end; indent: columns that stand before it. */
typedef void cli_lane_fn(void *arg, size_t node, size_t indent);

typedef struct cli_lane_node {
    size_t number;
    const char *sign;      /* one character */
    const size_t *parents; /* each once */
    size_t parent_count;
} cli_lane_node;
int cli_lanes_draw(cli_lanes *lanes, const cli_lane_node *node, cli_lane_fn *fn, void *arg,
                   valise_error *err);

#endif
