/* flow_lines.c -- lines that stay, and lines that move. */
#include <sys/ioctl.h>

#include "cli/flow_live.h"

#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

#define STATE_COLUMNS 8u
#define TIME_COLUMNS 9u
#define TEXT_COLUMNS_MIN 16u
#define TAIL_LINES 8u             /* of the text that a node streams */
#define TAIL_BYTES ((size_t)8192) /* that hold them */
#define DEPTH_MAX 16u             /* deeper ones stand no further to the right */
#define LINE_MAX_BYTES ((size_t)64 << 10)

/* ---- parts of lines ---- */

void cli_flow_add_duration(vls_buf *out, int64_t ns)
{
    double ms = (double)ns / 1e6;

    if (ms < 9.95)
        vls_buf_printf(out, "%.1f ms", ms);
    else if (ms < 999.5)
        vls_buf_printf(out, "%.0f ms", ms);
    else if (ms < 59950)
        vls_buf_printf(out, "%.1f s", ms / 1000);
    else
        vls_buf_printf(out, "%lld m %02lld s", (long long)(ms / 60000),
                       (long long)(ms / 1000) % 60);
}

static void add_spaces(vls_buf *out, size_t count)
{
    while (count-- > 0)
        vls_buf_add_byte(out, ' ');
}

static void add_time(vls_buf *out, int64_t ns)
{
    VLS_AUTO(buf) vls_buf text = {0};

    vls_buf_init(&text, out->env, LINE_MAX_BYTES);
    if (ns != VALISE_NONE)
        cli_flow_add_duration(&text, ns);
    vls_text_fit(out, vls_buf_str(&text), TIME_COLUMNS, VLS_TEXT_PAD_FRONT);
}

static void add_state(cli_out *out, const char *state, cli_style style)
{
    cli_style_begin(out, style);
    vls_text_fit(&out->text, valise_str_of(state), STATE_COLUMNS, VLS_TEXT_PAD);
    cli_style_end(out, style);
}

/* What stood there before goes with it: nothing flickers. */
static void end_line(const cli_flow_live *live)
{
    vls_buf_add_text(&live->c->out->text, live->stood ? "\033[K\n" : "\n");
}

/* ---- where something stands ---- */

static valise_str path_of(const cli_flow_node *node)
{
    return vls_buf_str(&node->path);
}

static size_t depth_of(const cli_flow_live *live, const cli_flow_node *node)
{
    size_t depth = 0;

    for (; node; node = cli_flow_around(live, path_of(node)))
        depth++;
    return VLS_MIN(depth, DEPTH_MAX);
}

/* What is left of a path within a node; NULL: all of it. */
static valise_str label_in(valise_str path, const cli_flow_node *outer)
{
    return outer && path.len > outer->path.len ? vls_str_from(path, outer->path.len + 1) : path;
}

static bool is_around(const cli_flow_live *live, const cli_flow_node *outer,
                      const cli_flow_node *node)
{
    while (node && node != outer)
        node = cli_flow_around(live, path_of(node));
    return node == outer;
}

/* ---- lines that stay ---- */

static void put_line(cli_flow_live *live, const cli_flow_line *line, const cli_flow_node *outer)
{
    cli_out *out = live->c->out;

    cli_flow_wipe(live);
    add_state(out, line->state, line->style);
    cli_style_begin(out, CLI_DIM);
    add_time(&out->text, line->ns);
    cli_style_end(out, CLI_DIM);
    add_spaces(&out->text, 2 + (live->moves ? 2 * depth_of(live, outer) : 0));
    if (!line->deeper || !live->moves)
        vls_text_neutralize(&out->text, label_in(line->path, outer), 0);
    if (line->deeper && !live->moves)
        add_spaces(&out->text, 2);
    vls_buf_add(&out->text, line->more);
    end_line(live);
    live->stale = true;
}

/* The line of a node above those inside of it, where it has none yet, or where others came between.
 */
static void put_head(cli_flow_live *live, cli_flow_node *node, bool again)
{
    cli_flow_line line = {.state = "", .ns = VALISE_NONE};
    cli_flow_node *outer;

    if (!node || (node->headed && (!again || live->block == node)))
        return;
    outer = cli_flow_around(live, path_of(node));
    put_head(live, outer, false);
    while (outer && !is_around(live, outer, live->block))
        outer = cli_flow_around(live, path_of(outer));
    line.path = path_of(node);
    put_line(live, &line, outer);
    node->headed = true;
    live->block = node;
}

/* Lines of elements that run side by side may alternate: each says as much of its path as is needed
 * to see where it belongs. */
void cli_flow_add_line(cli_flow_live *live, const cli_flow_line *line)
{
    cli_flow_node *outer = NULL;

    if (!live->moves) {
        put_line(live, line, NULL);
        return;
    }
    if (line->deeper)
        outer = line->deeper;
    else if (line->path.len > 0)
        outer = cli_flow_around(live, line->path);
    put_head(live, outer, line->deeper);
    while (!line->deeper && outer && !is_around(live, outer, live->block))
        outer = cli_flow_around(live, path_of(outer));
    put_line(live, line, outer);
}

/* ---- text ---- */

/* The part of a line that fits, cut between words where it has some. */
static valise_str cut_line(valise_str line, size_t columns)
{
    size_t used = 0, at = 0, space = 0;

    while (at < line.len) {
        uint32_t code;
        size_t step = vls_utf8_decode(&code, line.ptr + at, line.len - at);

        step = step > 0 ? step : 1;
        used += vls_text_width(vls_str(line.ptr + at, step));
        if (used > columns && at > 0)
            return vls_str_head(line, space > 0 ? space : at);
        at += step;
        if (line.ptr[at - 1] == ' ')
            space = at;
    }
    return line;
}

typedef void line_fn(void *arg, valise_str line);

static void each_line(valise_str text, size_t columns, line_fn *fn, void *arg)
{
    while (text.len > 0) {
        valise_str line, rest;

        (void)vls_str_cut(&line, &rest, text, '\n');
        do {
            valise_str part = cut_line(line, columns);

            fn(arg, part);
            line = vls_str_from(line, part.len);
        } while (line.len > 0);
        text = rest;
    }
}

static size_t text_indent(const cli_flow_live *live, const cli_flow_node *node)
{
    size_t indent = STATE_COLUMNS + TIME_COLUMNS + 2 * depth_of(live, node);

    return live->c->out->columns > indent + 2 + TEXT_COLUMNS_MIN ? indent : 0;
}

static size_t text_columns(const cli_flow_live *live, size_t indent)
{
    size_t columns = live->c->out->columns;

    return columns > indent + 4 ? columns - indent - 3 : 1;
}

typedef struct pouring {
    cli_flow_live *live;
    size_t indent;
    size_t skip; /* of the lines that come, so many are not shown */
    size_t count;
    bool moves;
} pouring;

static void put_text_line(void *arg, valise_str line)
{
    pouring *p = arg;
    cli_out *out = p->live->c->out;

    if (p->count++ < p->skip)
        return;
    if (p->moves &&
        !vls_vec_push(&p->live->drawn, p->live->c->env, p->indent + 2 + vls_text_width(line)))
        return;
    if (p->moves && p->live->drawn.len > 1)
        end_line(p->live);
    add_spaces(&out->text, p->indent);
    cli_style_begin(out, CLI_DIM);
    vls_buf_add_text(&out->text, "| ");
    cli_style_end(out, CLI_DIM);
    vls_buf_add(&out->text, line);
    if (!p->moves)
        end_line(p->live);
}

static void count_line(void *arg, valise_str line)
{
    (void)line;
    ++*(size_t *)arg;
}

void cli_flow_add_text(cli_flow_live *live, const cli_flow_node *node)
{
    pouring p = {.live = live, .indent = text_indent(live, node)};

    if (!live->moves || node->text.len == 0)
        return;
    each_line(vls_buf_str(&node->text), text_columns(live, p.indent), put_text_line, &p);
    if (node->cut)
        put_text_line(&p, VLS_STR("(there is more of it: too much to be shown)"));
}

/* ---- lines that move ---- */

/* The next lines go over them. Of a terminal that got narrower meanwhile a line may take several.
 */
void cli_flow_wipe(cli_flow_live *live)
{
    size_t rows = 0, columns = VLS_MAX(live->c->out->columns, 1);

    if (live->drawn.len == 0)
        return;
    for (size_t i = 0; i < live->drawn.len; i++)
        rows += VLS_MAX((live->drawn.ptr[i] + columns - 1) / columns, 1);
    vls_buf_add_text(&live->c->out->text, "\r");
    if (rows > 1)
        vls_buf_printf(&live->c->out->text, "\033[%zuA", rows - 1);
    live->drawn.len = 0;
    live->stood = true;
}

static void look_at_size(cli_out *out)
{
    struct winsize size = {0};

    if (getenv("COLUMNS") || ioctl(out->fd, TIOCGWINSZ, &size) < 0)
        return;
    out->columns = size.ws_col > 0 ? size.ws_col : out->columns;
    out->rows = size.ws_row > 0 ? size.ws_row : out->rows;
}

static void put_open(cli_flow_live *live, const cli_flow_node *node)
{
    static const char *const turning[] = {"|", "/", "-", "\\"};
    const cli_flow_node *outer = cli_flow_around(live, path_of(node));
    const valise_env *env = live->c->env;
    cli_out *out = live->c->out;
    size_t columns = VLS_MAX(out->columns, 2) - 1, used = VLS_MIN(columns, STATE_COLUMNS);
    size_t width;
    VLS_AUTO(buf) vls_buf rest = {0};

    vls_buf_init(&rest, env, LINE_MAX_BYTES);
    if (node->failed)
        add_spaces(&rest, TIME_COLUMNS);
    else
        add_time(&rest, env->ticks_ns(env->self) - node->began_ns);
    add_spaces(&rest, 2 + 2 * depth_of(live, outer));
    vls_text_neutralize(&rest, label_in(path_of(node), outer), 0);
    if (node->attempt > 1)
        vls_buf_printf(&rest, "  attempt %lld", (long long)node->attempt);
    width = STATE_COLUMNS + vls_text_width(vls_buf_str(&rest));
    if (!vls_vec_push(&live->drawn, env, VLS_MIN(columns, width)))
        return;
    if (live->drawn.len > 1)
        end_line(live);
    cli_style_begin(out, node->failed ? CLI_RED : CLI_BOLD);
    vls_text_fit(&out->text,
                 node->failed ? VLS_STR("failed")
                              : valise_str_of(turning[live->turns % VLS_COUNT(turning)]),
                 used, VLS_TEXT_PAD);
    cli_style_end(out, CLI_BOLD);
    vls_text_fit(&out->text, vls_buf_str(&rest), columns - used, 0);
}

static void put_tail(cli_flow_live *live, const cli_flow_node *node, size_t lines)
{
    valise_str text = vls_utf8_tail(vls_buf_str(&node->text), TAIL_BYTES);
    pouring p = {.live = live, .indent = text_indent(live, node), .moves = true};
    size_t columns = text_columns(live, p.indent), count = 0;

    each_line(text, columns, count_line, &count);
    p.skip = count > lines ? count - lines : 0;
    each_line(text, columns, put_text_line, &p);
}

static void put_all(cli_flow_live *live)
{
    VLS_AUTO(buf) vls_buf more = {0};
    size_t room = live->c->out->rows > 2 ? live->c->out->rows - 2 : 1, speaking = 0;
    size_t shown = live->open.len > room ? room - 1 : live->open.len, left;

    vls_buf_init(&more, live->c->env, LINE_MAX_BYTES);
    for (size_t i = 0; i < shown; i++)
        speaking += live->open.ptr[i]->text.len > 0;
    left = speaking > 0 ? VLS_MIN((room - shown) / speaking, TAIL_LINES) : 0;
    for (size_t i = 0; i < shown; i++) {
        put_open(live, live->open.ptr[i]);
        if (left > 0 && live->open.ptr[i]->text.len > 0)
            put_tail(live, live->open.ptr[i], left);
    }
    if (live->open.len > shown && vls_vec_push(&live->drawn, live->c->env, 1)) {
        if (live->drawn.len > 1)
            end_line(live);
        vls_buf_printf(&more, "and %zu more", live->open.len - shown);
        vls_text_fit(&live->c->out->text, vls_buf_str(&more), live->c->out->columns - 1, 0);
    }
}

void cli_flow_draw(cli_flow_live *live)
{
    const valise_env *env = live->c->env;

    if (live->moves) {
        look_at_size(live->c->out);
        cli_flow_wipe(live);
        put_all(live);
        vls_buf_add_text(&live->c->out->text, live->stood ? "\033[J" : "");
        live->stood = false;
    }
    (void)cli_out_flush(live->c->out, NULL); /* c->out keeps what went wrong */
    live->wrote_ns = env->ticks_ns(env->self);
    live->stale = false;
}
