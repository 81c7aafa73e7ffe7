/* graph.c -- a flow as a picture: a Mermaid flowchart, or a graph for Graphviz. [F15]
 *
 *     flowchart TD                         digraph flow {
 *       n1["chat<br/>ChatNode"]              n1 [label="chat\nChatNode"]
 *       subgraph n2["reports"]               subgraph cluster_2 { label="reports"
 *         n3["daily<br/>ReportNode"]           n3 [...]
 *         s2(( )) --> n3                       s2 -> n3
 *       end                                  }
 *       s0(( )) --> n1                       s0 -> n1
 *       n1 -->|"needs_search"| n2            n1 -> s2 [label="needs_search" lhead=cluster_2]
 *
 * Names are numbers, and all that somebody wrote stands in quotes, with each character that could
 * mean something there as its number: whatever a condition says, it is a label. */
#include "base/mem.h"
#include "base/text.h"
#include "flow/flow.h"

#define DRAWN_MAX ((size_t)256 << 20)
#define LABEL_COLUMNS 40u /* of an action or a rule */

typedef struct drawing {
    vls_buf *out;
    int format;
    size_t next; /* number of the next node */
    const valise_env *env;
    valise_error *err;
} drawing;

/* ---- texts ---- */

static bool is_harmless(char c)
{
    return vls_is_alnum(c) || (c != '\0' && strchr(" _-.,:/", c)) || (unsigned char)c >= 0x80;
}

/* In quotes. What controls a terminal or the direction of text is neutralized before. */
static int add_text(const drawing *d, valise_str text)
{
    VLS_AUTO(buf) vls_buf clean = {.env = NULL};
    int rc;

    vls_buf_init(&clean, d->env, DRAWN_MAX);
    vls_text_neutralize(&clean, text, VLS_TEXT_KEEP_BACKSLASH);
    rc = vls_buf_check(&clean, d->err);
    for (size_t i = 0; i < clean.len && rc == 0; i++) {
        const char c = clean.ptr[i];
        if (!is_harmless(c) && d->format == VALISE_GRAPH_MERMAID) {
            vls_buf_printf(d->out, "#%u;", (unsigned)(unsigned char)c);
        } else if (c == '&') { /* Graphviz reads entities in labels */
            vls_buf_add_text(d->out, "&amp;");
        } else {
            if (c == '"' || c == '\\')
                vls_buf_add_byte(d->out, '\\');
            vls_buf_add_byte(d->out, c);
        }
    }
    return rc;
}

/* The action, or the rule as far as there is room for it. */
static int add_condition(const drawing *d, const vls_flow_edge *edge)
{
    VLS_AUTO(buf) vls_buf rule = {.env = NULL};
    VLS_AUTO(buf) vls_buf line = {.env = NULL};
    int rc = 0;

    vls_buf_init(&rule, d->env, DRAWN_MAX);
    vls_buf_init(&line, d->env, DRAWN_MAX);
    if (edge->action.ptr)
        vls_text_fit(&line, edge->action, LABEL_COLUMNS, 0);
    else
        rc = vls_json_write_around(&rule, edge->rule, d->err);
    if (rc == 0 && !edge->action.ptr)
        vls_text_fit(&line, vls_buf_str(&rule), LABEL_COLUMNS, 0);
    if (rc == 0)
        rc = vls_buf_check(&line, d->err);
    return rc < 0 ? rc : add_text(d, vls_buf_str(&line));
}

static void indent(const drawing *d, const valise_flow *flow)
{
    for (uint32_t i = 0; i <= flow->depth; i++)
        vls_buf_add_text(d->out, "  ");
}

static bool has_inside(const vls_flow_node *node)
{
    return node->inner && node->inner->nodes.len > 0;
}

/* ---- Mermaid and Graphviz ---- */

static int add_label(const drawing *d, const vls_flow_node *node)
{
    int rc = add_text(d, node->id);

    if (rc < 0 || node->is_subflow || !node->type)
        return rc;
    vls_buf_add_text(d->out, d->format == VALISE_GRAPH_MERMAID ? "<br/>" : "\\n");
    return add_text(d, valise_str_of(node->type->name));
}

static int draw_level(drawing *d, const valise_flow *flow, size_t owner);

static int draw_node(drawing *d, const valise_flow *flow, const vls_flow_node *node, size_t number)
{
    const bool mermaid = d->format == VALISE_GRAPH_MERMAID, inside = has_inside(node);
    int rc;

    indent(d, flow);
    if (mermaid)
        vls_buf_printf(d->out, "%sn%zu[\"", inside ? "subgraph " : "", number);
    else if (inside)
        vls_buf_printf(d->out, "subgraph cluster_%zu { label=\"", number);
    else
        vls_buf_printf(d->out, "n%zu [label=\"", number);
    rc = add_label(d, node);
    if (mermaid)
        vls_buf_add_text(d->out, "\"]\n");
    else
        vls_buf_add_text(d->out, inside ? "\";\n" : "\"];\n");
    if (rc < 0 || !inside)
        return rc;
    rc = draw_level(d, node->inner, number);
    indent(d, flow);
    vls_buf_add_text(d->out, mermaid ? "end\n" : "}\n");
    return rc;
}

/* Where an arrow ends. Graphviz wants a node: of one with an inside that is the circle in there. */
static void add_end(const drawing *d, const vls_flow_node *node, size_t number)
{
    const bool circle = d->format == VALISE_GRAPH_DOT && has_inside(node);

    vls_buf_printf(d->out, "%c%zu", circle ? 's' : 'n', number);
}

static int draw_edge(const drawing *d, const valise_flow *flow, const vls_flow_edge *edge,
                     const size_t *numbers)
{
    const vls_flow_node *from = vls_flow_find(flow, edge->from),
                        *to = vls_flow_find(flow, edge->to);
    const bool mermaid = d->format == VALISE_GRAPH_MERMAID;
    const bool plain = edge->action.ptr && vls_str_equal(edge->action, VLS_STR("default"));
    size_t a, b;
    int rc = 0;

    if (!from || !to) /* it leads nowhere: the check says so */
        return 0;
    a = numbers[from->number];
    b = numbers[to->number];
    indent(d, flow);
    add_end(d, from, a);
    vls_buf_add_text(d->out, mermaid ? " -->" : " -> ");
    if (!mermaid)
        add_end(d, to, b);
    if (!plain) {
        vls_buf_add_text(d->out, mermaid ? "|\"" : " [label=\"");
        rc = add_condition(d, edge);
        vls_buf_add_text(d->out, mermaid ? "\"|" : "\"");
    } else if (!mermaid) {
        vls_buf_add_text(d->out, " [");
    }
    if (mermaid) {
        vls_buf_printf(d->out, " n%zu\n", b);
        return rc;
    }
    if (has_inside(from))
        vls_buf_printf(d->out, " ltail=cluster_%zu", a);
    if (has_inside(to))
        vls_buf_printf(d->out, " lhead=cluster_%zu", b);
    vls_buf_add_text(d->out, "];\n");
    return rc;
}

/* A circle, with the number of the node that the level is the inside of. */
static void draw_start(const drawing *d, const valise_flow *flow, size_t owner,
                       const size_t *numbers)
{
    const vls_flow_node *first =
        flow->start.len > 0 ? vls_flow_find(flow, flow->start) : flow->nodes.ptr[0];

    if (!first)
        return;
    indent(d, flow);
    if (d->format == VALISE_GRAPH_MERMAID) {
        vls_buf_printf(d->out, "s%zu(( )) --> n%zu\n", owner, numbers[first->number]);
        return;
    }
    vls_buf_printf(d->out, "s%zu [shape=circle label=\"\" width=0.2]; s%zu -> ", owner, owner);
    add_end(d, first, numbers[first->number]);
    if (has_inside(first))
        vls_buf_printf(d->out, " [lhead=cluster_%zu]", numbers[first->number]);
    vls_buf_add_text(d->out, ";\n");
}

static int draw_inside(drawing *d, const valise_flow *flow, size_t owner, size_t *numbers)
{
    int rc = 0;

    for (size_t i = 0; i < flow->nodes.len && rc == 0; i++) {
        numbers[i] = d->next++;
        rc = draw_node(d, flow, flow->nodes.ptr[i], numbers[i]);
    }
    if (rc == 0)
        draw_start(d, flow, owner, numbers);
    for (size_t i = 0; i < flow->edges.len && rc == 0; i++)
        rc = draw_edge(d, flow, flow->edges.ptr[i], numbers);
    return rc < 0 ? rc : vls_buf_check(d->out, d->err);
}

/* The depth of levels is limited. */
static int draw_level(drawing *d, const valise_flow *flow, size_t owner)
{
    const size_t size = (flow->nodes.len + 1) * sizeof(size_t);
    size_t *numbers;
    int rc;

    if (flow->nodes.len == 0)
        return 0;
    numbers = vls_mem_alloc(d->env, size);
    if (!numbers)
        return vls_fail_memory(d->err);
    rc = draw_inside(d, flow, owner, numbers);
    vls_mem_free(d->env, numbers, size);
    return rc;
}

static int draw(vls_buf *out, const valise_flow *flow, int format, valise_error *err)
{
    drawing d = {.out = out, .format = format, .next = 1, .env = flow->env, .err = err};
    int rc;

    if (format != VALISE_GRAPH_MERMAID && format != VALISE_GRAPH_DOT)
        return vls_fail(err, VALISE_E_INVALID, "there is no graph format %d", format);
    vls_buf_add_text(out, format == VALISE_GRAPH_MERMAID
                              ? "flowchart TD\n"
                              : "digraph flow {\n  compound=true;\n  node [shape=box];\n");
    rc = draw_level(&d, flow, 0);
    if (format == VALISE_GRAPH_DOT)
        vls_buf_add_text(out, "}\n");
    return rc < 0 ? rc : vls_buf_check(out, err);
}

int valise_flow_graph(valise_blob **out, valise_flow *flow, int format, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {.env = NULL};
    int rc;

    VLS_ARG(out && flow, err);
    vls_buf_init(&text, flow->env, DRAWN_MAX);
    rc = draw(&text, flow, format, err);
    return rc < 0 ? rc : vls_blob_new(out, flow->env, vls_buf_str(&text), err);
}
