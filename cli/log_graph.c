/* log_graph.c -- the log as a timeline: what somebody asked for is one line of the graph, and what
 * followed from it, because a processor or a middleware was there, branches off where it came from.
 *
 *     * 9 f0dc1a44 local turn:add  role=user sessionId=support
 *     | * 8 1c6ba771 topic-discovery session:update  sessionId=support
 *     |/
 *     * 7 3d0e8b12 (before-the-move) local turn:add  sessionId=support
 */
#include "base/text.h"
#include "bus/registry.h"
#include "cli/backpack.h"
#include "cli/call.h"
#include "cli/lanes.h"

#define NONE SIZE_MAX
#define LOAD_MAX ((size_t)1 << 30)
#define LINE_MAX_BYTES ((size_t)1 << 20)

typedef struct entry {
    vls_json row;
    valise_str id, cause;
    int64_t seq;
    size_t parent;   /* number of the one that it is drawn upon, or NONE */
    valise_str pins; /* names of those that hold the state behind it */
} entry;

typedef struct graph {
    cli *c;
    vls_arena arena;        /* rows */
    vls_vec(entry) entries; /* the newest first */
    cli_lanes lanes;
} graph;

/* ---- reading ---- */

static int take_entry(void *arg, valise_str json, valise_error *err)
{
    graph *g = arg;
    vls_json row;
    int rc = cli_keep_json(&row, &g->arena, json, err);

    if (rc < 0)
        return rc;
    entry one = {.row = row,
                 .id = cli_text_of(row, "id"),
                 .cause = cli_text_of(row, "cause"),
                 .seq = cli_number_of(row, "seq"),
                 .parent = NONE};
    return vls_vec_push(&g->entries, g->c->env, one) ? 0 : vls_fail_memory(err);
}

/* The entry with this seq, or the place where it would stand: seqs fall. */
static size_t place_of(const graph *g, int64_t seq)
{
    size_t from = 0, to = g->entries.len;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (g->entries.ptr[middle].seq > seq)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int take_pin(void *arg, valise_str json, valise_error *err)
{
    graph *g = arg;
    vls_json row;
    size_t at;
    int rc = cli_keep_json(&row, &g->arena, json, err);

    if (rc < 0)
        return rc;
    at = place_of(g, cli_number_of(row, "seq"));
    if (!vls_str_equal(cli_text_of(row, "kind"), VLS_STR("seq")) || at == g->entries.len ||
        g->entries.ptr[at].seq != cli_number_of(row, "seq"))
        return 0;
    VLS_AUTO(buf) vls_buf names = {0};
    vls_buf_init(&names, g->c->env, LINE_MAX_BYTES);
    vls_buf_add(&names, g->entries.ptr[at].pins);
    vls_buf_add_text(&names, names.len > 0 ? ", " : "");
    vls_buf_add(&names, cli_text_of(row, "name"));
    rc = vls_buf_check(&names, err);
    if (rc == 0)
        rc = vls_arena_dup(&g->entries.ptr[at].pins, &g->arena, vls_buf_str(&names), err);
    return rc;
}

typedef struct keyed {
    valise_str id;
    size_t number;
} keyed;

static int compare_keyed(const void *a, const void *b)
{
    return vls_str_compare(((const keyed *)a)->id, ((const keyed *)b)->id);
}

/* An entry stands upon what led to it, any other upon the next older one that nothing led to. */
static int link_entries(graph *g, valise_error *err)
{
    size_t count = g->entries.len, plain = NONE;
    keyed *all = vls_arena_array(&g->arena, count + 1, sizeof(*all));

    if (!all)
        return vls_arena_fail(&g->arena, err);
    for (size_t i = 0; i < count; i++)
        all[i] = (keyed){g->entries.ptr[i].id, i};
    if (count > 0)
        qsort(all, count, sizeof(*all), compare_keyed);
    for (size_t i = count; i-- > 0;) {
        entry *one = &g->entries.ptr[i];
        const keyed wanted = {.id = one->cause};
        const keyed *cause =
            one->cause.len > 0 ? bsearch(&wanted, all, count, sizeof(*all), compare_keyed) : NULL;
        one->parent = cause ? cause->number : one->cause.len > 0 ? NONE : plain;
        plain = one->cause.len > 0 ? plain : i;
    }
    return 0;
}

/* Who may not see the pins sees the log without them. */
static int load_pins(graph *g, valise_error *err)
{
    const valise_op *list = vls_registry_op(g->c->registry, VLS_STR("pin:list"));
    valise_error why = VALISE_ERROR_INIT;
    int rc = list ? cli_stream(g->c, list, VLS_STR("{}"), take_pin, g, &why) : 0;

    if (rc == VALISE_E_DENIED)
        return 0;
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int load(graph *g, const valise_op *op, valise_str payload, valise_error *err)
{
    int rc = cli_stream(g->c, op, payload, take_entry, g, err);

    if (rc == 0)
        rc = link_entries(g, err);
    return rc == 0 ? load_pins(g, err) : rc;
}

/* ---- drawing ---- */

static void write_entry(void *arg, size_t number, size_t indent)
{
    graph *g = arg;
    const entry *one = &g->entries.ptr[number];
    cli_out *out = g->c->out;
    const vls_json *payload = vls_json_get(one->row, VLS_STR("payload"));
    VLS_AUTO(buf) vls_buf line = {0}, clean = {0};
    size_t before = out->text.len;

    vls_buf_init(&line, g->c->env, LINE_MAX_BYTES);
    vls_buf_init(&clean, g->c->env, 8 * LINE_MAX_BYTES);
    if (payload)
        cli_show_summary(&line, *payload, one->row);
    vls_text_neutralize(&clean, vls_buf_str(&line), VLS_TEXT_KEEP_BACKSLASH);

    cli_style_begin(out, CLI_YELLOW);
    vls_buf_printf(&out->text, "%lld ", (long long)one->seq);
    vls_buf_add(&out->text, vls_str_from(one->id, one->id.len > 8 ? one->id.len - 8 : 0));
    cli_style_end(out, CLI_YELLOW);
    if (one->pins.len > 0) {
        cli_style_begin(out, CLI_GREEN);
        vls_buf_add_text(&out->text, " (");
        cli_add_data(out, one->pins, 0);
        vls_buf_add_text(&out->text, ")");
        cli_style_end(out, CLI_GREEN);
    }
    vls_buf_add_byte(&out->text, ' ');
    cli_add_data(out, cli_text_of(one->row, "actor"), 0);
    vls_buf_add_byte(&out->text, ' ');
    cli_style_begin(out, CLI_BOLD);
    cli_add_data(out, cli_text_of(one->row, "type"), 0);
    cli_style_end(out, CLI_BOLD);
    vls_buf_add_text(&out->text, "  ");
    /* Styles take no columns, and are counted here: the payload is cut a little early. */
    size_t used = indent + (out->text.len - before);
    vls_text_fit(&out->text, vls_buf_str(&clean),
                 out->terminal ? (out->columns > used ? out->columns - used : 0) : SIZE_MAX, 0);
    vls_buf_add_byte(&out->text, '\n');
}

static int draw(graph *g, valise_error *err)
{
    int rc = 0;

    cli_out_page(g->c->out, g->c);
    for (size_t i = 0; rc == 0 && i < g->entries.len && !cli_out_is_closed(g->c->out); i++) {
        const size_t *parent = &g->entries.ptr[i].parent;
        cli_lane_node node = {
            .number = i, .sign = "*", .parents = parent, .parent_count = *parent != NONE};
        rc = cli_lanes_draw(&g->lanes, &node, write_entry, g, err);
    }
    return rc;
}

int cli_draw_log(cli *c, const valise_op *op, valise_str payload, valise_error *err)
{
    graph g = {.c = c};
    const vls_json *reverse;
    vls_json parsed;
    int rc = vls_json_parse(&parsed, &c->arena, payload, NULL, err);

    if (rc < 0)
        return rc;
    reverse = vls_json_get(parsed, VLS_STR("reverse"));
    if (reverse && reverse->truth)
        return vls_fail(
            err, CLI_E_USAGE,
            "--graph begins with the newest command, so it cannot be used with --reverse");
    vls_arena_init(&g.arena, c->env, LOAD_MAX);
    cli_lanes_init(&g.lanes, c);
    rc = load(&g, op, payload, err);
    if (rc == 0)
        rc = draw(&g, err);
    vls_vec_release(&g.entries, c->env);
    cli_lanes_release(&g.lanes);
    vls_arena_release(&g.arena);
    return rc;
}
