/* graph_draw.c -- a graph of commits as lines of text.
 *
 * A lane is a column that waits for one commit; where several wait for the same, they join before
 * it is drawn. Behind a merge a lane opens for what was brought along:
 *
 *     *   7 c1f0a2b3 (run-1) merge answer v1 chat-1
 *     |\
 *     | * 2 9d1be7c0 (run-1b) pack answer v1 chat-1
 *     * | 6 080fcd92 pack fact v3 research-1
 *     |/
 *     * 5 5e8f1a77 pack fact v2 research-2
 *     o commits up to 4 were dropped */
#include "cli/graph.h"

typedef cli_graph graph;

/* ---- lanes ---- */

static int end_line(graph *g, valise_error *err)
{
    int rc = vls_buf_check(&g->line, err);

    vls_buf_clear(&g->line);
    return rc < 0 ? rc : cli_out_row(g->c->out, err);
}

static void remove_lane(graph *g, size_t at)
{
    for (size_t i = at + 1; i < g->lanes.len; i++)
        g->lanes.ptr[i - 1] = g->lanes.ptr[i];
    g->lanes.len--;
}

/* "|_|/": lane `from` goes over to lane `to`, and what is right of it moves left. */
static int draw_join(graph *g, size_t to, size_t from, valise_error *err)
{
    size_t width = from + 1 < g->lanes.len ? 2 * g->lanes.len - 2 : 2 * from;

    for (size_t column = 0; column < width; column++) {
        size_t lane = (column + 1) / 2;
        bool odd = column % 2;
        char sign = ' ';
        if (!odd && lane < from)
            sign = '|';
        else if (odd && lane >= from)
            sign = '/';
        else if (odd && lane > to)
            sign = '_';
        vls_buf_add_byte(&g->line, sign);
    }
    vls_buf_add(&g->c->out->text, vls_buf_str(&g->line));
    vls_buf_add_byte(&g->c->out->text, '\n');
    remove_lane(g, from);
    return end_line(g, err);
}

/* The lane of a commit, once all that wait for it are one. */
static int take_lane(size_t *out, graph *g, size_t at, valise_error *err)
{
    size_t lane = 0;
    int rc = 0;

    while (lane < g->lanes.len && g->lanes.ptr[lane] != at)
        lane++;
    if (lane == g->lanes.len && !vls_vec_push(&g->lanes, g->c->env, at))
        return vls_fail_memory(err);
    for (size_t i = g->lanes.len; i-- > lane + 1 && rc == 0;) {
        if (g->lanes.ptr[i] == at)
            rc = draw_join(g, lane, i, err);
    }
    *out = lane;
    return rc;
}

/* "|\ \": a lane opens right of this one, and those behind it make room. */
static int draw_opening(graph *g, size_t lane, size_t waits_for, valise_error *err)
{
    vls_buf *text = &g->c->out->text;

    for (size_t i = 0; i < lane; i++)
        vls_buf_add_text(text, "| ");
    vls_buf_add_text(text, "|\\");
    for (size_t i = lane + 1; i < g->lanes.len; i++)
        vls_buf_add_text(text, " \\");
    vls_buf_add_byte(text, '\n');
    if (!vls_vec_push(&g->lanes, g->c->env, waits_for))
        return vls_fail_memory(err);
    for (size_t i = g->lanes.len - 1; i > lane + 1; i--)
        g->lanes.ptr[i] = g->lanes.ptr[i - 1];
    g->lanes.ptr[lane + 1] = waits_for;
    return cli_out_row(g->c->out, err);
}

/* "| / /": the lane is over, and those behind it move left. */
static int draw_closing(graph *g, size_t lane, valise_error *err)
{
    vls_buf *text = &g->c->out->text;

    remove_lane(g, lane);
    if (lane == g->lanes.len)
        return 0;
    for (size_t i = 0; i < lane; i++)
        vls_buf_add_text(text, "| ");
    for (size_t i = lane; i < g->lanes.len; i++)
        vls_buf_add_text(text, " /");
    vls_buf_add_byte(text, '\n');
    return cli_out_row(g->c->out, err);
}

/* ---- commits ---- */

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
    size_t waiting = 0;

    for (size_t i = 0; i < g->lanes.len; i++)
        waiting += g->lanes.ptr[i] == at;
    return one->row.type == VLS_JSON_NULL && one->note.len == 0 && one->names.len == 0 &&
           waiting < 2;
}

static int draw_commit(graph *g, size_t at, valise_error *err)
{
    const cli_node *one = &g->commits.ptr[at];
    bool begins = one->row.type == VLS_JSON_NULL, opens;
    size_t lane, count;
    int rc = 0;

    if (is_nothing(g, one, at))
        return 0;
    rc = take_lane(&lane, g, at, err);
    if (rc < 0)
        return rc;
    count = g->lanes.len;
    opens = one->merged != CLI_GRAPH_NONE && one->follows != CLI_GRAPH_NONE &&
            one->merged != one->follows;
    for (size_t i = 0; i < count; i++)
        vls_buf_add_text(&g->c->out->text, i != lane ? "| " : begins ? "o " : "* ");
    vls_buf_add_text(&g->c->out->text, opens ? "  " : "");
    if (one->follows != CLI_GRAPH_NONE)
        g->lanes.ptr[lane] = one->follows;
    else if (one->merged != CLI_GRAPH_NONE)
        g->lanes.ptr[lane] = one->merged;
    if (begins)
        add_beginning(g->c, one);
    else
        cli_add_commit_line(g->c, one->row, one->names, 2 * (count + opens));
    rc = cli_out_row(g->c->out, err);
    if (rc == 0 && opens)
        rc = draw_opening(g, lane, one->merged, err);
    else if (rc == 0 && one->follows == CLI_GRAPH_NONE && one->merged == CLI_GRAPH_NONE)
        rc = draw_closing(g, lane, err);
    return rc;
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
