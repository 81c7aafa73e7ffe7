/* graph.h -- the history of a backpack and of its forks, as a graph: between graph.c, which loads
 * and links it, and graph_draw.c.
 *
 * Threads: single. */
#ifndef CLI_GRAPH_H
#define CLI_GRAPH_H

#include "base/vec.h"
#include "cli/backpack.h"
#include "cli/lanes.h"

#define CLI_GRAPH_NONE SIZE_MAX

typedef struct cli_branch {
    valise_str name, id;
    valise_str origin, origin_name; /* "": it is no fork */
    int64_t origin_seq;
    int64_t edge;  /* commits up to here were dropped */
    size_t parent; /* number of the origin's branch, or NONE */
    size_t depth;  /* forks of forks; NONE: it is not drawn */
    size_t first;  /* its commits in graph.commits, the newest first */
    size_t count;
    int64_t had; /* the branch whose merges are loaded has its commits up to here already */
} cli_branch;

/* A commit, or (row is null) where a branch begins. */
typedef struct cli_node {
    vls_json row;
    size_t branch;
    int64_t seq, time;
    size_t follows;   /* number of the commit before it, or NONE */
    size_t merged;    /* number of the newest commit that a merge brought along, or NONE */
    size_t waits_for; /* how many that come after it are not drawn yet */
    valise_str names; /* of the branches that end here */
    valise_str note;  /* of a beginning; "": it is drawn only where something hangs on it */
} cli_node;

typedef struct cli_graph {
    cli *c;
    vls_arena arena; /* rows */
    vls_vec(cli_branch) branches;
    vls_vec(cli_node) commits;
    vls_vec(size_t) order; /* of the commits, as they are drawn */
    cli_lanes lanes;
    vls_buf line;
    size_t merging; /* the branch whose merges are loaded */
} cli_graph;

/* Write the commits in their order; limit: at most so many, 0: all. (graph_draw.c) */
int cli_graph_draw(cli_graph *g, int64_t limit, valise_error *err);

#endif
