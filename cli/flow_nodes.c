/* flow_nodes.c -- which nodes run, by the events of a run. */
#include "cli/flow_live.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/backpack.h"
#include "json/make.h"

#define TEXT_KEPT ((size_t)256 << 10) /* of what one node streams */
#define NAME_MAX_BYTES ((size_t)64 << 10)

/* ---- those that are open ---- */

/* "" is around all of them. */
static bool is_below(valise_str path, valise_str outer)
{
    return path.len > outer.len && vls_str_starts(path, outer) &&
           (outer.len == 0 || path.ptr[outer.len] == '/');
}

static valise_str path_of(const cli_flow_node *node)
{
    return vls_buf_str(&node->path);
}

cli_flow_node *cli_flow_around(const cli_flow_live *live, valise_str path)
{
    cli_flow_node *found = NULL;

    for (size_t i = 0; i < live->open.len; i++) {
        cli_flow_node *node = live->open.ptr[i];

        if (is_below(path, path_of(node)) && (!found || node->path.len > found->path.len))
            found = node;
    }
    return found;
}

static size_t index_of(const cli_flow_live *live, valise_str path)
{
    size_t i = 0;

    while (i < live->open.len && !vls_str_equal(path_of(live->open.ptr[i]), path))
        i++;
    return i;
}

static cli_flow_node *find(const cli_flow_live *live, valise_str path)
{
    size_t i = index_of(live, path);

    return i < live->open.len ? live->open.ptr[i] : NULL;
}

static void free_node(const cli_flow_live *live, cli_flow_node *node)
{
    vls_buf_release(&node->path);
    vls_buf_release(&node->type);
    vls_buf_release(&node->text);
    vls_buf_release(&node->why);
    vls_mem_free(live->c->env, node, sizeof(*node));
}

static void take_out(cli_flow_live *live, cli_flow_node *node)
{
    size_t i = index_of(live, path_of(node));

    if (live->block == node)
        live->block = cli_flow_around(live, path_of(node));
    memmove(live->open.ptr + i, live->open.ptr + i + 1,
            (live->open.len - i - 1) * sizeof(cli_flow_node *));
    live->open.len--;
    free_node(live, node);
}

/* Behind what is inside of the node around it: so all of them are a tree, from the top down. */
static size_t place_of(const cli_flow_live *live, valise_str path)
{
    const cli_flow_node *around = cli_flow_around(live, path);
    size_t i;

    if (!around)
        return live->open.len;
    i = index_of(live, path_of(around)) + 1;
    while (i < live->open.len && is_below(path_of(live->open.ptr[i]), path_of(around)))
        i++;
    return i;
}

static cli_flow_node *put_in(cli_flow_live *live, valise_str path, valise_str type)
{
    const valise_env *env = live->c->env;
    cli_flow_node *node = vls_mem_zalloc(env, sizeof(*node));
    size_t i = place_of(live, path);

    if (!node)
        return NULL;
    vls_buf_init(&node->path, env, NAME_MAX_BYTES);
    vls_buf_init(&node->type, env, NAME_MAX_BYTES);
    vls_buf_init(&node->text, env, 2 * TEXT_KEPT);
    vls_buf_init(&node->why, env, NAME_MAX_BYTES);
    vls_buf_add(&node->path, path);
    vls_buf_add(&node->type, type);
    if (vls_buf_check(&node->path, NULL) < 0 || vls_buf_check(&node->type, NULL) < 0 ||
        !vls_vec_push(&live->open, env, node)) {
        free_node(live, node);
        return NULL;
    }
    memmove(live->open.ptr + i + 1, live->open.ptr + i,
            (live->open.len - i - 1) * sizeof(cli_flow_node *));
    live->open.ptr[i] = node;
    node->attempt = 1;
    node->began_ns = env->ticks_ns(env->self);
    return node;
}

/* ---- those that are done ---- */

static int64_t since(const cli_flow_live *live, const cli_flow_node *node)
{
    const valise_env *env = live->c->env;

    return env->ticks_ns(env->self) - node->began_ns;
}

/* What a node within it has told already need not be told again. */
static void add_why(cli_flow_live *live, vls_buf *out, const cli_flow_node *node)
{
    valise_str why = vls_buf_str(&node->why), last = vls_buf_str(&live->last);

    if (last.len > 0 && vls_str_ends(why, last))
        return;
    vls_buf_add_text(out, "  ");
    vls_text_neutralize(out, why, VLS_TEXT_KEEP_BACKSLASH);
    vls_buf_clear(&live->last);
    vls_buf_add(&live->last, why);
}

/* " -> search (needs_search)" */
static void add_next(vls_buf *out, valise_str next, valise_str action)
{
    if (next.len > 0) {
        vls_buf_add_text(out, " -> ");
        vls_text_neutralize(out, next, 0);
    }
    if (action.len > 0) {
        vls_buf_add_text(out, " (");
        vls_text_neutralize(out, action, 0);
        vls_buf_add_byte(out, ')');
    }
}

/* It failed, or it was left where it was: then nothing is known of its end. */
static void close_failed(cli_flow_live *live, cli_flow_node *node, valise_str leads_to)
{
    VLS_AUTO(buf) vls_buf more = {0};
    cli_flow_line line = {.state = node->cancelled ? "stopped" : "failed",
                          .style = node->cancelled ? CLI_YELLOW : CLI_RED,
                          .ns = since(live, node),
                          .path = path_of(node)};

    if (!node->failed) {
        line.state = "left";
        line.style = CLI_YELLOW;
    }
    vls_buf_init(&more, live->c->env, NAME_MAX_BYTES);
    add_next(&more, leads_to, VLS_STR(""));
    if (!node->cancelled && node->why.len > 0)
        add_why(live, &more, node);
    line.more = vls_buf_str(&more);
    cli_flow_add_line(live, &line);
    cli_flow_add_text(live, node);
    take_out(live, node);
}

void cli_flow_close_below(cli_flow_live *live, valise_str path)
{
    for (size_t i = live->open.len; i-- > 0;) {
        cli_flow_node *node = live->open.ptr[i];

        if (is_below(path_of(node), path))
            close_failed(live, node, VLS_STR(""));
    }
}

/* ---- events ---- */

static void take_start(cli_flow_live *live, valise_str path, vls_json payload)
{
    cli_flow_node *old = find(live, path);

    if (old)
        close_failed(live, old, VLS_STR(""));
    if (!put_in(live, path, cli_text_of(payload, "type")))
        live->failed = VALISE_E_NO_MEMORY;
}

static void take_end(cli_flow_live *live, cli_flow_node *node, vls_json payload)
{
    valise_str action = cli_text_of(payload, "action"), next = cli_text_of(payload, "next");
    cli_flow_line line = {
        .state = "done", .style = CLI_GREEN, .ns = since(live, node), .path = path_of(node)};
    VLS_AUTO(buf) vls_buf more = {0};

    cli_flow_close_below(live, path_of(node));
    if (vls_truth_of(payload, "failed")) {
        node->failed = true;
        close_failed(live, node, next);
        return;
    }
    vls_buf_init(&more, live->c->env, NAME_MAX_BYTES);
    add_next(&more, next, vls_str_equal(action, VLS_STR("default")) ? VLS_STR("") : action);
    if (node->failed) { /* and its fallback made good what it could */
        vls_buf_add_text(&more, "  fell back:");
        add_why(live, &more, node);
    }
    line.more = vls_buf_str(&more);
    cli_flow_add_line(live, &line);
    cli_flow_add_text(live, node);
    take_out(live, node);
}

static void take_error(cli_flow_live *live, cli_flow_node *node, vls_json payload)
{
    valise_str message = cli_text_of(payload, "message");
    VLS_AUTO(buf) vls_buf more = {0};
    cli_flow_line line = {
        .state = "retry", .style = CLI_YELLOW, .ns = since(live, node), .path = path_of(node)};

    cli_flow_close_below(live, path_of(node));
    if (!vls_truth_of(payload, "retry")) {
        node->failed = true;
        node->cancelled = vls_str_equal(cli_text_of(payload, "code"), VLS_STR("CANCELLED"));
        vls_buf_clear(&node->why);
        vls_buf_add(&node->why, message);
        return;
    }
    vls_buf_init(&more, live->c->env, NAME_MAX_BYTES);
    vls_buf_printf(&more, "  attempt %lld:", (long long)cli_number_of(payload, "attempt"));
    vls_buf_add_byte(&more, ' ');
    vls_text_neutralize(&more, message, VLS_TEXT_KEEP_BACKSLASH);
    line.more = vls_buf_str(&more);
    cli_flow_add_line(live, &line);
    node->attempt = cli_number_of(payload, "attempt") + 1;
    vls_buf_clear(&node->text); /* the next attempt says it anew */
    node->cut = false;
}

static void take_warning(cli_flow_live *live, valise_str path, vls_json payload)
{
    VLS_AUTO(buf) vls_buf more = {0};
    cli_flow_line line = {.state = "warning", .style = CLI_YELLOW, .ns = VALISE_NONE, .path = path};

    vls_buf_init(&more, live->c->env, NAME_MAX_BYTES);
    vls_buf_add_text(&more, path.len > 0 ? "  " : "");
    vls_text_neutralize(&more, cli_text_of(payload, "message"), VLS_TEXT_KEEP_BACKSLASH);
    line.more = vls_buf_str(&more);
    cli_flow_add_line(live, &line);
}

static int64_t ns_of(vls_json payload)
{
    int64_t ns = cli_number_of(payload, "durationNs");

    return VLS_MAX(ns, 0);
}

static void take_call(cli_flow_live *live, cli_flow_node *node, vls_json payload)
{
    bool failed = vls_truth_of(payload, "failed");
    VLS_AUTO(buf) vls_buf more = {0};
    cli_flow_line line = {.state = failed ? "failed" : "called",
                          .style = failed ? CLI_YELLOW : CLI_DIM,
                          .ns = ns_of(payload),
                          .path = path_of(node),
                          .deeper = node};

    vls_buf_init(&more, live->c->env, NAME_MAX_BYTES);
    vls_buf_add_text(&more, "tool ");
    vls_text_neutralize(&more, cli_text_of(payload, "tool"), 0);
    line.more = vls_buf_str(&more);
    cli_flow_add_line(live, &line);
}

/* A tab would move the cursor by nobody knows how much. */
static void add_streamed(cli_flow_node *node, valise_str text)
{
    valise_str piece, rest = text;

    while (text.len > 0) {
        bool tab = vls_str_cut(&piece, &rest, text, '\t');

        vls_text_neutralize(&node->text, piece, VLS_TEXT_KEEP_NEWLINE | VLS_TEXT_KEEP_BACKSLASH);
        vls_buf_add_text(&node->text, tab ? "    " : "");
        text = rest;
    }
}

static void take_piece(cli_flow_live *live, cli_flow_node *node, vls_json payload)
{
    valise_str text = cli_text_of(payload, "text");
    int64_t block = cli_number_of(payload, "block");

    if (!vls_str_equal(cli_text_of(payload, "kind"), VLS_STR("text")) || text.len == 0)
        return;
    if (node->text.len > 0 && block != node->block)
        vls_buf_add_byte(&node->text, '\n');
    node->block = block;
    if (node->text.len + text.len > TEXT_KEPT)
        node->cut = true;
    else
        add_streamed(node, text);
    live->stale = true;
}

static void take_run(cli_flow_live *live, valise_str type, const valise_event *event,
                     vls_json payload)
{
    if (vls_str_equal(type, VLS_STR("FLOW_START"))) {
        live->began = true;
        vls_buf_add(&live->backpack, cli_text_of(payload, "backpack"));
        vls_buf_add(&live->run, event->run_id);
    } else if (vls_str_equal(type, VLS_STR("FLOW_END"))) {
        live->ended = true;
        live->steps = cli_number_of(payload, "steps");
        live->took_ns = ns_of(payload);
        vls_buf_add(&live->status, cli_text_of(payload, "status"));
        cli_flow_close_below(live, VLS_STR(""));
    }
}

void cli_flow_take(cli_flow_live *live, valise_str type, const valise_event *event,
                   vls_json payload)
{
    cli_flow_node *node = find(live, event->node_id);

    if (vls_str_starts(type, VLS_STR("FLOW_")))
        take_run(live, type, event, payload);
    else if (vls_str_equal(type, VLS_STR("WARNING")))
        take_warning(live, event->node_id, payload);
    else if (vls_str_equal(type, VLS_STR("NODE_START")) && event->node_id.len > 0)
        take_start(live, event->node_id, payload);
    else if (!node)
        return; /* anybody may publish anything; or there was no memory */
    else if (vls_str_equal(type, VLS_STR("NODE_END")))
        take_end(live, node, payload);
    else if (vls_str_equal(type, VLS_STR("ERROR")))
        take_error(live, node, payload);
    else if (vls_str_equal(type, VLS_STR("TOOL_CALL")))
        take_call(live, node, payload);
    else if (vls_str_equal(type, VLS_STR("STREAM_CHUNK")))
        take_piece(live, node, payload);
    live->stale = true;
}
