/* lanes.c -- see lanes.h. */
#include "cli/lanes.h"

void cli_lanes_init(cli_lanes *lanes, cli *c)
{
    *lanes = (cli_lanes){.c = c, .waiting = VLS_VEC_INIT};
}

void cli_lanes_release(cli_lanes *lanes)
{
    vls_vec_release(&lanes->waiting, lanes->c->env);
}

size_t cli_lanes_waiting(const cli_lanes *lanes, size_t node)
{
    size_t count = 0;

    for (size_t i = 0; i < lanes->waiting.len; i++)
        count += lanes->waiting.ptr[i] == node;
    return count;
}

static void remove_lane(cli_lanes *l, size_t at)
{
    for (size_t i = at + 1; i < l->waiting.len; i++)
        l->waiting.ptr[i - 1] = l->waiting.ptr[i];
    l->waiting.len--;
}

/* "|_|/": lane `from` goes over to lane `to`, and what is right of it moves left. */
static int draw_join(cli_lanes *l, size_t to, size_t from, valise_error *err)
{
    size_t width = from + 1 < l->waiting.len ? 2 * l->waiting.len - 2 : 2 * from;

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
        vls_buf_add_byte(&l->c->out->text, sign);
    }
    vls_buf_add_byte(&l->c->out->text, '\n');
    remove_lane(l, from);
    return cli_out_row(l->c->out, err);
}

/* The lane of a node, once all that wait for it are one. */
static int take_lane(size_t *out, cli_lanes *l, size_t at, valise_error *err)
{
    size_t lane = 0;
    int rc = 0;

    while (lane < l->waiting.len && l->waiting.ptr[lane] != at)
        lane++;
    if (lane == l->waiting.len && !vls_vec_push(&l->waiting, l->c->env, at))
        return vls_fail_memory(err);
    for (size_t i = l->waiting.len; i-- > lane + 1 && rc == 0;) {
        if (l->waiting.ptr[i] == at)
            rc = draw_join(l, lane, i, err);
    }
    *out = lane;
    return rc;
}

/* "|\ \": a lane opens right of this one, and those behind it make room. */
static int draw_opening(cli_lanes *l, size_t lane, size_t waits_for, valise_error *err)
{
    vls_buf *text = &l->c->out->text;

    for (size_t i = 0; i < lane; i++)
        vls_buf_add_text(text, "| ");
    vls_buf_add_text(text, "|\\");
    for (size_t i = lane + 1; i < l->waiting.len; i++)
        vls_buf_add_text(text, " \\");
    vls_buf_add_byte(text, '\n');
    if (!vls_vec_push(&l->waiting, l->c->env, waits_for))
        return vls_fail_memory(err);
    for (size_t i = l->waiting.len - 1; i > lane + 1; i--)
        l->waiting.ptr[i] = l->waiting.ptr[i - 1];
    l->waiting.ptr[lane + 1] = waits_for;
    return cli_out_row(l->c->out, err);
}

/* "| / /": the lane is over, and those behind it move left. */
static int draw_closing(cli_lanes *l, size_t lane, valise_error *err)
{
    vls_buf *text = &l->c->out->text;

    remove_lane(l, lane);
    if (lane == l->waiting.len)
        return 0;
    for (size_t i = 0; i < lane; i++)
        vls_buf_add_text(text, "| ");
    for (size_t i = lane; i < l->waiting.len; i++)
        vls_buf_add_text(text, " /");
    vls_buf_add_byte(text, '\n');
    return cli_out_row(l->c->out, err);
}

int cli_lanes_draw(cli_lanes *l, const cli_lane_node *node, cli_lane_fn *fn, void *arg,
                   valise_error *err)
{
    bool opens = node->parent_count > 1;
    vls_buf *text = &l->c->out->text;
    size_t lane = 0, count;
    int rc = take_lane(&lane, l, node->number, err);

    if (rc < 0)
        return rc;
    count = l->waiting.len;
    for (size_t i = 0; i < count; i++) {
        vls_buf_add_text(text, i != lane ? "|" : node->sign);
        vls_buf_add_byte(text, ' ');
    }
    vls_buf_add_text(text, opens ? "  " : "");
    if (node->parent_count > 0)
        l->waiting.ptr[lane] = node->parents[0];
    fn(arg, node->number, 2 * (count + opens));
    rc = cli_out_row(l->c->out, err);
    for (size_t i = node->parent_count; rc == 0 && i > 1; i--)
        rc = draw_opening(l, lane, node->parents[i - 1], err);
    if (rc == 0 && node->parent_count == 0)
        rc = draw_closing(l, lane, err);
    return rc;
}
