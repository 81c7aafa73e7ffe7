/* op_flow_graph.c -- flow:graph, a flow as a picture. [F15] */
#include "bus/bus.h"
#include "flow/load.h"
#include "flow/ops.h"

typedef struct graph_args {
    valise_str file;
    valise_content flow;
    int64_t format;
} graph_args;

static const char *const formats[] = {"mermaid", "dot", NULL}; /* as VALISE_GRAPH_... */

static const valise_field graph_in[] = {
    VALISE_FIELD_WITH(graph_args, file, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "File of the flow.", .min = 1, .max = 4096),
    VALISE_FIELD(graph_args, flow, VALUE, VALISE_NULLABLE, "The flow itself, instead of a file."),
    VALISE_FIELD_WITH(graph_args, format, ENUM, 0, "mermaid, or dot for Graphviz.",
                      .more = formats),
    VALISE_FIELD_END,
};

typedef struct graph_result {
    valise_str text;
} graph_result;

static const valise_field graph_out[] = {
    VALISE_FIELD(graph_result, text, STR, VALISE_REQUIRED, "The picture."),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *result, valise_error *err)
{
    const graph_args *args = in;
    graph_result *out = result;
    VLS_AUTO(flow) valise_flow *flow = NULL;
    VLS_AUTO(blob) valise_blob *picture = NULL;
    vls_flow_text text = {.text = {NULL, 0}};
    int rc = vls_flow_text_given(&text, &view->arena, vls_view_bus(view), args->file,
                                 args->flow.bytes, err);

    if (rc == 0)
        rc = vls_flow_load(&flow, vls_view_bus(view), &text, err);
    if (rc == 0)
        rc = valise_flow_graph(&picture, flow, (int)args->format, err);
    if (rc < 0)
        return rc;
    assert(picture);
    return vls_arena_dup(&out->text, &view->arena, vls_blob_bytes(picture), err);
}

const valise_op vls_op_flow_flow_graph = {
    .size = sizeof(valise_op),
    .name = "flow:graph",
    .brief = "Draw a flow as a graph.",
    .help = "Shows the nodes, and the edges with their actions. Subflows are boxes; a circle marks "
            "where each begins. The flow must be valid: `valise flow check` says why it is not. It "
            "needs no workspace.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_NO_WORKSPACE,
    .in = graph_in,
    .in_size = sizeof(graph_args),
    .out = graph_out,
    .out_size = sizeof(graph_result),
    .query = query,
    .example = "{\"flow\":{\"nodes\":[{\"id\":\"say\",\"type\":\"SetNode\","
               "\"params\":{\"values\":{\"greeting\":\"hello\"}}}]},\"format\":\"dot\"}",
};
