/* graph_draw.c -- a graph of commits as lines of text: what stands behind the lanes. */
#include "cli/graph.h"

typedef cli_graph graph;

/* "(run-1, run-1b) commits up to 4 were dropped" */
static void add_beginning(cli *c, const cli_node *one)
{
    if (one->names.len > 0) {
        cli_style_begin(c->out, CLI_GREEN);
        vls_buf_add_text(&c->out->text, "(");
        cli_add_data(c->out, one->names, 0);
        vls_buf_add_text(&c->out->text, ")");
        cli_style_end(c->out, CLI_GREEN);
        vls_buf_add_byte(&c->out->text, ' ');
    }
    cli_style_begin(c->out, CLI_DIM);
    cli_add_data(c->out, one->note.len > 0 ? one->note : VLS_STR("empty"), 0);
    cli_style_end(c->out, CLI_DIM);
    vls_buf_add_byte(&c->out->text, '\n');
}

/* A beginning that says nothing: nobody ends there, and only one branch comes from it. */
static bool is_nothing(const graph *g, const cli_node *one, size_t at)
{
    return one->row.type == VLS_JSON_NULL && one->note.len == 0 && one->names.len == 0 &&
           cli_lanes_waiting(&g->lanes, at) < 2;
}

static void write_commit(void *arg, size_t at, size_t indent)
{
    graph *g = arg;
    const cli_node *one = &g->commits.ptr[at];

    if (one->row.type == VLS_JSON_NULL)
        add_beginning(g->c, one);
    else
        cli_add_commit_line(g->c, one->row, one->names, indent);
}

static int draw_commit(graph *g, size_t at, valise_error *err)
{
    const cli_node *one = &g->commits.ptr[at];
    size_t parents[2];
    cli_lane_node node = {
        .number = at, .sign = one->row.type == VLS_JSON_NULL ? "o" : "*", .parents = parents};

    if (is_nothing(g, one, at))
        return 0;
    if (one->follows != CLI_GRAPH_NONE)
        parents[node.parent_count++] = one->follows;
    if (one->merged != CLI_GRAPH_NONE && one->merged != one->follows)
        parents[node.parent_count++] = one->merged;
    return cli_lanes_draw(&g->lanes, &node, write_commit, g, err);
}

int cli_graph_draw(cli_graph *g, int64_t limit, valise_error *err)
{
    size_t count = g->order.len;
    int rc = 0;

    if (limit > 0 && (uint64_t)limit < count)
        count = (size_t)limit;
    cli_out_page(g->c->out, g->c);
    for (size_t i = 0; i < count && rc == 0 && !cli_out_is_closed(g->c->out); i++)
        rc = draw_commit(g, g->order.ptr[i], err);
    return rc;
}
