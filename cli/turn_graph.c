/* turn_graph.c -- the graph of a session, or of all of them, drawn as branches.
 *
 *     * 4e5f956f@2 (HEAD) assistant: It is in Bonn, since monday.
 *     | * 4e5f956f@1 (tip) assistant: It is in Bonn.
 *     |/
 *     * 61bea13f@1 tool: result of c1
 *
 * Whoever follows another comes before it; of those that can come, the newest. */
#include "base/hex.h"
#include "base/text.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/backpack.h"
#include "cli/lanes.h"
#include "cli/turns.h"

#define NONE SIZE_MAX

typedef struct turn {
    vls_json row;
    valise_str ref;
    int64_t time;
    size_t parent; /* its first one, in graph.parents */
    size_t parent_count;
    size_t waits_for; /* children that are not drawn yet */
} turn;

typedef struct graph {
    cli *c;
    bool all; /* sessions: their heads have names */
    turn *turns;
    size_t count;
    size_t *parents; /* of all turns, one behind the other */
    vls_vec(size_t) ready;
    cli_lanes lanes;
} graph;

/* ---- reading the answer ---- */

static vls_json list_of(vls_json answer, const char *name)
{
    const vls_json *list = vls_json_get(answer, valise_str_of(name));

    return list && list->type == VLS_JSON_ARRAY ? *list : vls_json_array(NULL, 0);
}

typedef struct keyed {
    valise_str ref;
    size_t number;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    return vls_str_compare(((const keyed *)a)->ref, ((const keyed *)b)->ref);
}

static size_t find(const keyed *all, size_t count, valise_str ref)
{
    keyed wanted = {.ref = ref};
    const keyed *found =
        count > 0 ? bsearch(&wanted, all, count, sizeof(*all), compare_keyed) : NULL;

    return found ? found->number : NONE;
}

/* Edges stand by child, in the order of its parents. */
static void link_turns(graph *g, const keyed *all, vls_json edges)
{
    size_t used = 0;

    for (uint32_t i = 0; i < edges.len; i++) {
        size_t child = find(all, g->count, cli_text_of(edges.items[i], "to"));
        size_t parent = find(all, g->count, cli_text_of(edges.items[i], "from"));
        if (child == NONE || parent == NONE)
            continue;
        if (g->turns[child].parent_count == 0)
            g->turns[child].parent = used;
        g->turns[child].parent_count++;
        g->parents[used++] = parent;
        g->turns[parent].waits_for++;
    }
}

static int load(graph *g, vls_json answer, valise_error *err)
{
    vls_json nodes = list_of(answer, "nodes"), edges = list_of(answer, "edges");
    vls_arena *arena = &g->c->arena;
    keyed *all = vls_arena_array(arena, nodes.len + 1, sizeof(*all));

    g->turns = vls_arena_array(arena, nodes.len + 1, sizeof(*g->turns));
    g->parents = vls_arena_array(arena, edges.len + 1, sizeof(*g->parents));
    if (!all || !g->turns || !g->parents)
        return vls_arena_fail(arena, err);
    g->count = nodes.len;
    for (uint32_t i = 0; i < nodes.len; i++) {
        g->turns[i] = (turn){.row = nodes.items[i], .ref = cli_text_of(nodes.items[i], "ref")};
        all[i] = (keyed){g->turns[i].ref, i};
        int rc = vls_time_parse_ns(&g->turns[i].time, cli_text_of(nodes.items[i], "time"), err);
        if (rc < 0)
            return rc;
    }
    qsort(all, g->count, sizeof(*all), compare_keyed);
    link_turns(g, all, edges);
    return 0;
}

/* ---- drawing ---- */

/* Who has no label is named by the end of the id. */
static void add_names(cli *c, vls_json names)
{
    valise_uuid id;

    for (uint32_t i = 0; i < names.len; i++) {
        valise_str name = vls_json_str(names.items[i]);
        vls_buf_add_text(&c->out->text, i > 0 ? ", " : "");
        cli_add_data(c->out, vls_uuid_parse(&id, name, NULL) == 0 ? cli_short_ref(name) : name, 0);
    }
}

/* The columns that it takes. */
static size_t add_decoration(const graph *g, vls_json row)
{
    vls_buf *out = &g->c->out->text;
    size_t before;

    if (!vls_truth_of(row, "head") && !vls_truth_of(row, "tip"))
        return 0;
    cli_style_begin(g->c->out, CLI_GREEN);
    before = out->len;
    vls_buf_add_byte(out, '(');
    if (!vls_truth_of(row, "head"))
        vls_buf_add_text(out, "tip");
    else if (g->all)
        add_names(g->c, list_of(row, "heads"));
    else
        vls_buf_add_text(out, "HEAD");
    vls_buf_add_text(out, ") ");
    before = vls_text_width(vls_str_from(vls_buf_str(out), before));
    cli_style_end(g->c->out, CLI_GREEN);
    return before;
}

static void write_turn(void *arg, size_t number, size_t indent)
{
    graph *g = arg;
    vls_json row = g->turns[number].row;
    cli_out *out = g->c->out;
    valise_str ref = cli_short_ref(g->turns[number].ref), role = cli_text_of(row, "role");
    size_t used = indent + ref.len + role.len + 3;
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, g->c->env, 1 << 20);
    vls_text_neutralize(&text, cli_text_of(row, "text"), VLS_TEXT_KEEP_BACKSLASH);
    cli_style_begin(out, CLI_YELLOW);
    cli_add_data(out, ref, 0);
    cli_style_end(out, CLI_YELLOW);
    vls_buf_add_byte(&out->text, ' ');
    used += add_decoration(g, row);
    cli_add_data(out, role, 0);
    vls_buf_add_text(&out->text, ": ");
    if (vls_truth_of(row, "hidden"))
        vls_buf_add_text(&out->text, "(hidden) ");
    vls_text_fit(&out->text, vls_truth_of(row, "erased") ? VLS_STR(CLI_ERASED) : vls_buf_str(&text),
                 out->terminal && out->columns > used ? out->columns - used : SIZE_MAX, 0);
    vls_buf_add_byte(&out->text, '\n');
}

/* Times are texts whose order is that of the times, as all are in UTC and as long. */
static bool comes_before(const graph *g, size_t a, size_t b)
{
    int order =
        vls_str_compare(cli_text_of(g->turns[a].row, "time"), cli_text_of(g->turns[b].row, "time"));

    return order != 0 ? order > 0 : a > b;
}

static size_t take_next(graph *g)
{
    size_t best = 0, number;

    for (size_t i = 1; i < g->ready.len; i++) {
        if (comes_before(g, g->ready.ptr[i], g->ready.ptr[best]))
            best = i;
    }
    number = g->ready.ptr[best];
    g->ready.ptr[best] = g->ready.ptr[--g->ready.len];
    return number;
}

static int draw(graph *g, valise_error *err)
{
    size_t drawn = 0;
    int rc = 0;

    for (size_t i = 0; i < g->count; i++) {
        if (g->turns[i].waits_for == 0 && !vls_vec_push(&g->ready, g->c->env, i))
            return vls_fail_memory(err);
    }
    cli_out_page(g->c->out, g->c);
    while (rc == 0 && g->ready.len > 0 && !cli_out_is_closed(g->c->out)) {
        size_t number = take_next(g);
        const turn *one = &g->turns[number];
        cli_lane_node node = {.number = number,
                              .sign = vls_truth_of(one->row, "active") ? "*" : "o",
                              .parents = g->parents + one->parent,
                              .parent_count = one->parent_count};
        /* Nothing leads on from the root above: it would look as if this one came before it. */
        if (drawn++ > 0 && g->lanes.waiting.len == 0)
            vls_buf_add_byte(&g->c->out->text, '\n');
        rc = cli_lanes_draw(&g->lanes, &node, write_turn, g, err);
        for (size_t i = 0; rc == 0 && i < one->parent_count; i++) {
            size_t parent = node.parents[i];
            if (--g->turns[parent].waits_for == 0 && !vls_vec_push(&g->ready, g->c->env, parent))
                rc = vls_fail_memory(err);
        }
    }
    return rc;
}

int cli_print_session_graph(cli *c, const valise_op *op, vls_json answer, valise_error *err)
{
    valise_str drawing = cli_text_of(answer, "drawing");
    const vls_json *id = vls_json_get(answer, VLS_STR("id"));
    graph g = {.c = c, .all = !id || id->type == VLS_JSON_NULL, .ready = VLS_VEC_INIT};
    int rc;

    (void)op;
    if (drawing.len > 0) {
        cli_add_data(c->out, drawing, VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_BACKSLASH);
        return 0;
    }
    cli_lanes_init(&g.lanes, c);
    rc = load(&g, answer, err);
    if (rc == 0)
        rc = draw(&g, err);
    vls_vec_release(&g.ready, c->env);
    cli_lanes_release(&g.lanes);
    return rc;
}
