/* drawing.c -- see drawing.h. */
#include "chat/drawing.h"

#include "base/hex.h"
#include "base/text.h"
#include "chat/blocks.h"

#define COLUMNS 48u /* of a text in a node */
#define DIGITS 8u   /* of an id in a node: its end */

void vls_drawing_brief(vls_buf *out, vls_json blocks)
{
    VLS_AUTO(buf) vls_buf line = {0};

    vls_buf_init(&line, out->env, 1 << 16);
    vls_blocks_brief(&line, blocks);
    if (line.failed)
        out->failed = line.failed;
    vls_text_fit(out, vls_buf_str(&line), COLUMNS, 0);
}

/* "1a2b3c4d@2" */
static valise_str short_ref(valise_str ref)
{
    size_t at = vls_str_find_byte(ref, '@');

    return vls_str_from(ref, at > DIGITS ? at - DIGITS : 0);
}

/* Escape what would end a label, or be read as markup. */
typedef void escape_fn(vls_buf *out, char c);

static void escape_dot(vls_buf *out, char c)
{
    if (c == '"' || c == '\\')
        vls_buf_add_byte(out, '\\');
    vls_buf_add_byte(out, c);
}

static void escape_mermaid(vls_buf *out, char c)
{
    if (strchr("\"<>&#`\\", c) && c)
        vls_buf_printf(out, "#%d;", c);
    else
        vls_buf_add_byte(out, c);
}

static void add_escaped(vls_buf *out, valise_str text, escape_fn *escape)
{
    for (size_t i = 0; text.ptr && i < text.len; i++)
        escape(out, text.ptr[i]);
}

/* " HEAD", or " support, other" where several sessions are drawn. */
static void add_heads(vls_buf *out, const vls_drawing *drawing, const vls_drawn_node *node,
                      escape_fn *escape)
{
    const valise_str *names = node->heads.items;
    VLS_AUTO(buf) vls_buf name = {0};
    valise_uuid id;

    if (!drawing->all) {
        vls_buf_add_text(out, " HEAD");
        return;
    }
    vls_buf_init(&name, out->env, 1 << 16);
    for (size_t i = 0; i < node->heads.count; i++) {
        vls_buf_clear(&name);
        vls_text_neutralize(
            &name, vls_uuid_parse(&id, names[i], NULL) == 0 ? short_ref(names[i]) : names[i],
            VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_text(out, i > 0 ? ", " : " ");
        add_escaped(out, vls_buf_str(&name), escape);
    }
    if (name.failed)
        out->failed = name.failed;
}

/* "user 1a2b3c4d@2", and below it what is said. */
static void add_label(vls_buf *out, const vls_drawing *drawing, const vls_drawn_node *node,
                      const char *line_end, escape_fn *escape)
{
    vls_buf_printf(out, "%s ", vls_turn_roles[node->role]);
    add_escaped(out, short_ref(node->ref), escape);
    if (node->head)
        add_heads(out, drawing, node, escape);
    else if (node->tip)
        vls_buf_add_text(out, " tip");
    vls_buf_add_text(out, line_end);
    add_escaped(out, node->erased ? VLS_STR("(erased)") : node->text, escape);
}

/* ---- dot ---- */

int vls_drawing_dot(vls_buf *out, const vls_drawing *drawing, valise_error *err)
{
    VLS_AUTO(buf) vls_buf label = {0};

    vls_buf_init(&label, out->env, 1 << 16);
    vls_text_neutralize(&label, drawing->label, VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_add_text(out, "digraph \"");
    add_escaped(out, vls_buf_str(&label), escape_dot);
    vls_buf_add_text(out, "\" {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < drawing->nodes.len; i++) {
        const vls_drawn_node *node = drawing->nodes.ptr[i];
        vls_buf_printf(out, "  \"%.*s\" [label=\"", VALISE_STR_ARG(node->ref));
        add_label(out, drawing, node, "\\n", escape_dot);
        vls_buf_printf(out, "\"%s%s];\n", node->head ? ", penwidth=3" : "",
                       node->hidden || !node->active ? ", style=dashed" : "");
    }
    for (size_t i = 0; i < drawing->edges.len; i++) {
        const vls_drawn_edge *edge = drawing->edges.ptr[i];
        vls_buf_printf(out, "  \"%.*s\" -> \"%.*s\"%s;\n", VALISE_STR_ARG(edge->parent),
                       VALISE_STR_ARG(edge->child), edge->position > 0 ? " [style=dashed]" : "");
    }
    vls_buf_add_text(out, "}\n");
    return vls_buf_check(out, err);
}

/* ---- mermaid ---- */

/* Its names may not hold what a ref does. */
static void add_name(vls_buf *out, valise_str ref)
{
    vls_buf_add_byte(out, 't');
    for (size_t i = 0; i < ref.len; i++)
        vls_buf_add_byte(out, ref.ptr[i] == '@' || ref.ptr[i] == '-' ? '_' : ref.ptr[i]);
}

int vls_drawing_mermaid(vls_buf *out, const vls_drawing *drawing, valise_error *err)
{
    vls_buf_add_text(out, "flowchart TD\n");
    for (size_t i = 0; i < drawing->nodes.len; i++) {
        const vls_drawn_node *node = drawing->nodes.ptr[i];
        vls_buf_add_text(out, "  ");
        add_name(out, node->ref);
        vls_buf_add_text(out, "[\"");
        add_label(out, drawing, node, "<br/>", escape_mermaid);
        vls_buf_add_text(out, "\"]\n");
    }
    for (size_t i = 0; i < drawing->edges.len; i++) {
        const vls_drawn_edge *edge = drawing->edges.ptr[i];
        vls_buf_add_text(out, "  ");
        add_name(out, edge->parent);
        vls_buf_add_text(out, edge->position > 0 ? " -.-> " : " --> ");
        add_name(out, edge->child);
        vls_buf_add_byte(out, '\n');
    }
    return vls_buf_check(out, err);
}
