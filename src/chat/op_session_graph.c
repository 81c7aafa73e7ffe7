/* op_session_graph.c -- session:graph, all that a session can be moved to, as a graph. [W7] */
#include "bus/bus.h"
#include "chat/drawing.h"
#include "chat/move.h"
#include "chat/ops.h"
#include "chat/seen.h"
#include "chat/shown.h"

#define TURNS_MAX 1000000

static const char *const formats[] = {"json", "dot", "mermaid", NULL};
enum { FORMAT_JSON, FORMAT_DOT, FORMAT_MERMAID };

typedef struct graph_args {
    valise_str session;
    int64_t format;
} graph_args;

static const valise_field graph_in[] = {
    VLS_SESSION_FIELD(graph_args),
    VALISE_FIELD_WITH(graph_args, format, ENUM, 0, "Nodes and edges, or a text to draw them.",
                      .more = formats),
    VALISE_FIELD_END,
};

static const valise_field node_fields[] = {
    VALISE_FIELD_WITH(vls_drawn_node, ref, STR, VALISE_REQUIRED, "ID@VERSION.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(vls_drawn_node, role, ENUM, VALISE_REQUIRED, "Who speaks.",
                      .more = vls_turn_roles),
    VALISE_FIELD(vls_drawn_node, time, TIME, VALISE_REQUIRED, "When it was said."),
    VALISE_FIELD(vls_drawn_node, text, STR, 0, "The beginning of what is said."),
    VALISE_FIELD(vls_drawn_node, head, BOOL, 0, "It is the head."),
    VALISE_FIELD(vls_drawn_node, tip, BOOL, 0, "It is a tip."),
    VALISE_FIELD(vls_drawn_node, active, BOOL, 0, "It is on the path of the head."),
    VALISE_FIELD(vls_drawn_node, hidden, BOOL, 0, "Not shown to people."),
    VALISE_FIELD(vls_drawn_node, noprompt, BOOL, 0, "Not shown to models."),
    VALISE_FIELD(vls_drawn_node, erased, BOOL, 0, "What it said was erased."),
    VALISE_FIELD_END,
};
static const valise_struct node_struct = {sizeof(vls_drawn_node), node_fields};
static const valise_field node_item = {
    .name = "node", .type = VALISE_T_STRUCT, .more = &node_struct};

static const valise_field edge_fields[] = {
    VALISE_FIELD_AS(vls_drawn_edge, parent, "from", STR, VALISE_REQUIRED, "The parent."),
    VALISE_FIELD_AS(vls_drawn_edge, child, "to", STR, VALISE_REQUIRED, "What follows it."),
    VALISE_FIELD(vls_drawn_edge, position, INT, 0, "Among the parents of a merge; 0: the first."),
    VALISE_FIELD_END,
};
static const valise_struct edge_struct = {sizeof(vls_drawn_edge), edge_fields};
static const valise_field edge_item = {
    .name = "edge", .type = VALISE_T_STRUCT, .more = &edge_struct};

typedef struct graph_result {
    valise_uuid id;
    valise_str label, head, drawing;
    valise_list nodes, edges, tips;
} graph_result;

static const valise_field graph_out[] = {
    VALISE_FIELD(graph_result, id, UUID, VALISE_REQUIRED, "Id of the session."),
    VALISE_FIELD(graph_result, label, STR, VALISE_NULLABLE, "What people call it."),
    VALISE_FIELD(graph_result, head, STR, VALISE_NULLABLE, "Its head."),
    VALISE_FIELD_WITH(graph_result, tips, LIST, 0, "Its tips.", .more = &vls_shown_ref_item),
    VALISE_FIELD_WITH(graph_result, nodes, LIST, 0, "Versions, parents first.", .more = &node_item,
                      .max = TURNS_MAX),
    VALISE_FIELD_WITH(graph_result, edges, LIST, 0, "Which follows which.", .more = &edge_item),
    VALISE_FIELD(graph_result, drawing, STR, VALISE_NULLABLE, "The text, where one was asked for."),
    VALISE_FIELD_END,
};

/* ---- which turns ---- */

typedef struct gathering {
    valise_view *view;
    vls_met met;
    vls_trail trail;
    vls_vec(vls_turn_ref) tips;
    int64_t active; /* of the trail, those that are on the path of the head */
    vls_show show;
    vls_buf text;
    vls_drawing drawing;
    const vls_session_row *session;
    int64_t told;
} gathering;

static int gather(gathering *g, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row row = {0};
    int rc = vls_turn_get(&row, g->view, ref, err);

    if (rc == 0)
        rc = vls_fail(err, VALISE_E_CORRUPT, "turn %s is gone", vls_turn_ref_write(ref).s);
    if (rc > 0)
        rc = vls_met_trail(&g->trail, &g->met, &row, false, err);
    if (rc == 0 && g->trail.count > TURNS_MAX)
        rc = vls_fail(err, VALISE_E_LIMIT, "the graph has more than %d turns", TURNS_MAX);
    return rc;
}

static int gather_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    gathering *g = arg;

    if (!vls_vec_push_in(&g->tips, &g->view->arena, tip->turn))
        return vls_arena_fail(&g->view->arena, err);
    return gather(g, &tip->turn, err);
}

static int gather_all(gathering *g, valise_error *err)
{
    int rc = 0;

    if (g->session->head.version > 0)
        rc = gather(g, &g->session->head, err);
    g->active = g->trail.count;
    return rc < 0 ? rc : vls_tip_each(g->view, &g->session->id, gather_tip, g, err);
}

/* ---- nodes and edges ---- */

static bool is_tip(const gathering *g, const vls_turn_ref *ref)
{
    for (size_t i = 0; i < g->tips.len; i++) {
        if (vls_turn_ref_equal(&g->tips.ptr[i], ref))
            return true;
    }
    return false;
}

static int add_edges(gathering *g, const vls_drawn_node *node, const vls_turn_shown *shown,
                     valise_error *err)
{
    vls_arena *arena = &g->view->arena;
    const valise_str *parents = shown->parents.items;

    for (size_t i = 0; i < shown->parents.count; i++) {
        vls_drawn_edge *edge = vls_arena_alloc(arena, sizeof(*edge));
        int rc;
        if (!edge || !vls_vec_push_in(&g->drawing.edges, arena, edge))
            return vls_arena_fail(arena, err);
        *edge = (vls_drawn_edge){.child = node->ref, .position = (int64_t)i};
        rc = vls_arena_dup(&edge->parent, arena, parents[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int add_node(void *arg, const vls_turn_row *turn, valise_error *err)
{
    gathering *g = arg;
    vls_arena *arena = &g->view->arena;
    vls_drawn_node *node = vls_arena_alloc(arena, sizeof(*node));
    vls_turn_shown shown;
    int rc;

    if (!node || !vls_vec_push_in(&g->drawing.nodes, arena, node))
        return vls_arena_fail(arena, err);
    rc = vls_show_turn(&shown, &g->show, turn, err);
    if (rc < 0)
        return rc;
    *node = (vls_drawn_node){.role = turn->role,
                             .time = turn->time,
                             .head = vls_turn_ref_equal(&turn->ref, &g->session->head),
                             .tip = is_tip(g, &turn->ref),
                             .active = g->told++ < g->active,
                             .hidden = turn->hidden,
                             .noprompt = turn->noprompt,
                             .erased = shown.erased};
    vls_drawing_brief(&g->text, g->show.parsed);
    rc = vls_buf_check(&g->text, err);
    if (rc == 0)
        rc = vls_arena_dup(&node->text, arena, vls_buf_str(&g->text), err);
    vls_buf_clear(&g->text);
    if (rc == 0)
        rc = vls_arena_dup(&node->ref, arena, shown.ref, err);
    return rc < 0 ? rc : add_edges(g, node, &shown, err);
}

/* ---- the query ---- */

static int draw(graph_result *result, gathering *g, int64_t format, valise_error *err)
{
    VLS_AUTO(buf) vls_buf out = {0};
    int rc;

    if (format == FORMAT_JSON) {
        result->nodes = (valise_list){g->drawing.nodes.ptr, g->drawing.nodes.len};
        result->edges = (valise_list){g->drawing.edges.ptr, g->drawing.edges.len};
        return 0;
    }
    vls_buf_init(&out, g->view->arena.env, VLS_REPLY_MAX);
    rc = format == FORMAT_DOT ? vls_drawing_dot(&out, &g->drawing, err)
                              : vls_drawing_mermaid(&out, &g->drawing, err);
    return rc < 0 ? rc : vls_arena_dup(&result->drawing, &g->view->arena, vls_buf_str(&out), err);
}

static int fill(graph_result *result, gathering *g, int64_t format, valise_error *err)
{
    const vls_session_row *session = g->session;
    vls_arena *arena = &g->view->arena;
    int rc = gather_all(g, err);

    if (rc == 0)
        rc = vls_trail_each(&g->trail, g->view, 0, false, add_node, g, err);
    if (rc == 0)
        rc = vls_shown_refs(&result->tips, arena, g->tips.ptr, g->tips.len, err);
    if (rc == 0 && session->head.version > 0)
        rc = vls_shown_ref(&result->head, arena, &session->head, err);
    result->id = session->id;
    result->label = g->drawing.label = session->label;
    return rc < 0 ? rc : draw(result, g, format, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const graph_args *args = in;
    vls_session_row session = {0};
    gathering g = {.view = view,
                   .trail = {.pieces = VLS_VEC_INIT, .env = view->arena.env},
                   .tips = VLS_VEC_INIT,
                   .session = &session};
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc < 0)
        return rc;
    vls_met_init(&g.met, view);
    vls_show_init(&g.show, view, false);
    vls_buf_init(&g.text, view->arena.env, 1 << 20);
    rc = fill(out, &g, args->format, err);
    vls_buf_release(&g.text);
    vls_show_release(&g.show);
    vls_met_release(&g.met);
    vls_trail_release(&g.trail);
    return rc;
}

const valise_op vls_op_chat_session_graph = {
    .size = sizeof(valise_op),
    .name = "session:graph",
    .brief = "Show all turns that a session can be moved to, as a graph.",
    .help = "These are its head, its tips, and everything before them. As nodes and edges, or as a "
            "text for Graphviz (dot) or Mermaid.",
    .kind = VALISE_QUERY,
    .needs = "session:read",
    .in = graph_in,
    .in_size = sizeof(graph_args),
    .out = graph_out,
    .out_size = sizeof(graph_result),
    .query = query,
    .example = "{\"sessionId\":\"support\",\"format\":\"mermaid\"}",
};
