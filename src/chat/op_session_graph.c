/* op_session_graph.c -- session:graph, all that sessions can be moved to, as a graph. [W7] */
#include "base/hex.h"
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
    VALISE_FIELD_AS_WITH(graph_args, session, "sessionId", STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                         "The session: its label, its id, or the end of its id (default: all).",
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(graph_args, format, ENUM, 0, "Nodes and edges, or a text to draw them with.",
                      .more = formats),
    VALISE_FIELD_END,
};

static const valise_field name_item = {.name = "session", .type = VALISE_T_STR};

static const valise_field node_fields[] = {
    VALISE_FIELD_WITH(vls_drawn_node, ref, STR, VALISE_REQUIRED, "ID@VERSION.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(vls_drawn_node, role, ENUM, VALISE_REQUIRED, "Who speaks.",
                      .more = vls_turn_roles),
    VALISE_FIELD(vls_drawn_node, time, TIME, VALISE_REQUIRED, "When it was said."),
    VALISE_FIELD(vls_drawn_node, text, STR, 0, "The beginning of what is said."),
    VALISE_FIELD(vls_drawn_node, head, BOOL, 0, "It is the head, or one of the heads."),
    VALISE_FIELD_WITH(vls_drawn_node, heads, LIST, 0,
                      "The sessions whose head it is: their labels, or their ids.",
                      .more = &name_item),
    VALISE_FIELD(vls_drawn_node, tip, BOOL, 0, "It is a tip."),
    VALISE_FIELD(vls_drawn_node, active, BOOL, 0, "It is on the path of a head."),
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
    VALISE_FIELD(graph_result, id, UUID, VALISE_NULLABLE,
                 "Id of the session, where one was asked "
                 "for."),
    VALISE_FIELD(graph_result, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD(graph_result, head, STR, VALISE_NULLABLE, "Its head."),
    VALISE_FIELD_WITH(graph_result, tips, LIST, 0, "Its tips.", .more = &vls_shown_ref_item),
    VALISE_FIELD_WITH(graph_result, nodes, LIST, 0, "Versions, parents first.", .more = &node_item,
                      .max = TURNS_MAX),
    VALISE_FIELD_WITH(graph_result, edges, LIST, 0, "Which follows which.", .more = &edge_item),
    VALISE_FIELD(graph_result, drawing, STR, VALISE_NULLABLE, "The text, where one was asked for."),
    VALISE_FIELD_END,
};

/* ---- which turns ---- */

typedef struct head {
    valise_uuid session;
    vls_turn_ref turn; /* version 0: nothing was said yet */
    valise_str name;
} head;

typedef struct gathering {
    valise_view *view;
    vls_met met;
    vls_trail trail;
    vls_vec(head) heads;
    vls_vec(vls_turn_ref) tips;
    valise_str *names; /* of the heads, in their order */
    int64_t active;    /* of the trail, those that are on the path of a head */
    vls_show show;
    vls_buf text;
    vls_drawing drawing;
    int64_t told;
} gathering;

static int compare_heads(const void *a, const void *b)
{
    const head *one = a, *other = b;
    int order = vls_turn_ref_compare(&one->turn, &other->turn);

    return order != 0 ? order : vls_str_compare(one->name, other->name);
}

static int gather(gathering *g, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row row = {0};
    int rc = vls_turn_need(&row, g->view, ref, NULL, err);

    if (rc == 0)
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

static int add_head(gathering *g, const vls_session_row *session, valise_error *err)
{
    vls_arena *arena = &g->view->arena;
    head one = {.session = session->id, .turn = session->head};
    int rc = vls_arena_dup(
        &one.name, arena,
        session->label.ptr ? session->label : valise_str_of(vls_uuid_text(&session->id).s), err);

    if (rc == 0 && !vls_vec_push_in(&g->heads, arena, one))
        rc = vls_arena_fail(arena, err);
    return rc < 0 || one.turn.version == 0 ? rc : gather(g, &one.turn, err);
}

static int add_heads(gathering *g, valise_error *err)
{
    const valise_select newest_first = {.flags = VALISE_SCAN_REVERSE};
    vls_session_row session;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, g->view, &vls_sessions, &newest_first, err);

    while (rc == 0 && (rc = valise_scan_next(&session, scan, err)) > 0)
        rc = add_head(g, &session, err);
    valise_scan_close(scan);
    return rc;
}

/* Put heads and tips where they can be looked up. Several sessions may have one tip. */
static int sort(gathering *g, valise_error *err)
{
    size_t kept = 0;

    g->names = vls_arena_array(&g->view->arena, g->heads.len + 1, sizeof(*g->names));
    if (!g->names)
        return vls_arena_fail(&g->view->arena, err);
    if (g->heads.len > 0)
        qsort(g->heads.ptr, g->heads.len, sizeof(head), compare_heads);
    for (size_t i = 0; i < g->heads.len; i++)
        g->names[i] = g->heads.ptr[i].name;
    if (g->tips.len > 0)
        qsort(g->tips.ptr, g->tips.len, sizeof(vls_turn_ref), vls_turn_ref_compare);
    for (size_t i = 0; i < g->tips.len; i++) {
        if (i == 0 || !vls_turn_ref_equal(&g->tips.ptr[i], &g->tips.ptr[kept - 1]))
            g->tips.ptr[kept++] = g->tips.ptr[i];
    }
    g->tips.len = kept;
    return 0;
}

/* Behind the heads. */
static int gather_tips(gathering *g, valise_error *err)
{
    int rc = 0;

    g->active = g->trail.count;
    for (size_t i = 0; rc == 0 && i < g->heads.len; i++)
        rc = vls_tip_each(g->view, &g->heads.ptr[i].session, gather_tip, g, err);
    return rc < 0 ? rc : sort(g, err);
}

/* ---- nodes and edges ---- */

static bool is_tip(const gathering *g, const vls_turn_ref *ref)
{
    return g->tips.len > 0 &&
           bsearch(ref, g->tips.ptr, g->tips.len, sizeof(*ref), vls_turn_ref_compare) != NULL;
}

/* The names of those whose head it is. */
static valise_list heads_at(const gathering *g, const vls_turn_ref *ref)
{
    size_t low = 0, high = g->heads.len, count = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vls_turn_ref_compare(&g->heads.ptr[middle].turn, ref) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < g->heads.len && vls_turn_ref_equal(&g->heads.ptr[low + count].turn, ref))
        count++;
    return (valise_list){count > 0 ? &g->names[low] : NULL, count};
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
    valise_list heads = heads_at(g, &turn->ref);
    vls_turn_shown shown;
    int rc;

    if (!node || !vls_vec_push_in(&g->drawing.nodes, arena, node))
        return vls_arena_fail(arena, err);
    rc = vls_show_turn(&shown, &g->show, turn, err);
    if (rc < 0)
        return rc;
    *node = (vls_drawn_node){.role = turn->role,
                             .time = turn->time,
                             .head = heads.count > 0,
                             .heads = heads,
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

/* Of the session that was asked for. */
static int tell_session(graph_result *result, gathering *g, const vls_session_row *session,
                        valise_error *err)
{
    result->id = session->id;
    result->label = g->drawing.label = session->label;
    return session->head.version > 0
               ? vls_shown_ref(&result->head, &g->view->arena, &session->head, err)
               : 0;
}

static int fill(graph_result *result, gathering *g, const graph_args *args, valise_error *err)
{
    vls_session_row session = {0};
    int rc;

    g->drawing.all = !args->session.ptr;
    if (g->drawing.all) {
        rc = add_heads(g, err);
    } else {
        rc = vls_session_find(&session, g->view, args->session, err);
        if (rc == 0)
            rc = tell_session(result, g, &session, err);
        if (rc == 0)
            rc = add_head(g, &session, err);
    }
    if (rc == 0)
        rc = gather_tips(g, err);
    if (rc == 0)
        rc = vls_trail_each(&g->trail, g->view, 0, false, add_node, g, err);
    if (rc == 0)
        rc = vls_shown_refs(&result->tips, &g->view->arena, g->tips.ptr, g->tips.len, err);
    return rc < 0 ? rc : draw(result, g, args->format, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    gathering g = {.view = view,
                   .trail = {.pieces = VLS_VEC_INIT, .env = view->arena.env},
                   .heads = VLS_VEC_INIT,
                   .tips = VLS_VEC_INIT};
    int rc;

    vls_met_init(&g.met, view);
    vls_show_init(&g.show, view, false);
    vls_buf_init(&g.text, view->arena.env, 1 << 20);
    rc = fill(out, &g, in, err);
    vls_buf_release(&g.text);
    vls_show_release(&g.show);
    vls_met_release(&g.met);
    vls_trail_release(&g.trail);
    return rc;
}

const valise_op vls_op_chat_session_graph = {
    .size = sizeof(valise_op),
    .name = "session:graph",
    .brief = "Draw all turns of a session and its forks as a graph.",
    .help = "Draws its head, its tips, and everything before them; without a session those of all "
            "sessions, which shows where they diverge. The graph is a list of nodes and edges, or "
            "a text for Graphviz (dot) or Mermaid.",
    .kind = VALISE_QUERY,
    .needs = "session:read",
    .in = graph_in,
    .in_size = sizeof(graph_args),
    .out = graph_out,
    .out_size = sizeof(graph_result),
    .query = query,
    .example = "{\"sessionId\":\"support\",\"format\":\"mermaid\"}",
};
