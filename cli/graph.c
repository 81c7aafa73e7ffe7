/* graph.c -- the history of a backpack and of its forks, drawn as branches.
 *
 *     * 5 c1f0a2b3 (run-1) pack answer v1 chat-1
 *     | * 2 9d1be7c0 (run-1b) pack answer v1 chat-1
 *     | * 1 5e8f1a77 pack fact v2 research-2
 *     |/
 *     * 2 080fcd92 pack fact v1 research-1
 *     * 1 9ab0d9d5 pack query v1 unknown
 *
 * All commits are loaded, each finds the one it follows, and they are drawn from the newest to the
 * oldest. A lane is a column that waits for one commit; where several wait for the same, they join
 * before it is drawn. Times never decrease along a line, so whoever follows another is older. */
#include "cli/backpack.h"

#include "base/time.h"
#include "base/vec.h"
#include "cli/call.h"

#define NONE SIZE_MAX
#define LOAD_MAX ((size_t)1 << 30)

typedef struct branch {
    valise_str name, id, origin; /* origin "": it is no fork */
    int64_t origin_seq;
    size_t parent; /* number of the origin's branch, or NONE */
    size_t depth;  /* forks of forks; NONE: it is not drawn */
    size_t first;  /* its commits in graph.commits, the newest first */
    size_t count;
} branch;

typedef struct commit {
    vls_json row;
    size_t branch;
    int64_t seq, time;
    size_t follows;   /* number of the commit before it, or NONE */
    valise_str names; /* of the branches that end here */
} commit;

typedef struct graph {
    cli *c;
    vls_arena arena; /* rows */
    vls_vec(branch) branches;
    vls_vec(commit) commits;
    vls_vec(size_t) order; /* of the commits, as they are drawn */
    vls_vec(size_t) lanes; /* commits that are waited for */
    vls_buf line;
    int rc; /* of a callback */
    valise_error *err;
} graph;

/* ---- which backpacks ---- */

/* A row that stays. */
static int keep(vls_json *out, graph *g, valise_str json)
{
    valise_str copy;
    int rc = vls_arena_dup(&copy, &g->arena, json, g->err);

    return rc < 0 ? rc : vls_json_parse(out, &g->arena, copy, NULL, g->err);
}

static int take_branch(void *arg, valise_str json)
{
    graph *g = arg;
    vls_json row;

    g->rc = keep(&row, g, json);
    if (g->rc < 0)
        return 1;
    branch b = {.name = cli_text_of(row, "name"),
                .id = cli_text_of(row, "id"),
                .origin = cli_text_of(row, "origin"),
                .origin_seq = cli_number_of(row, "originSeq"),
                .parent = NONE,
                .depth = NONE};
    if (!vls_vec_push(&g->branches, g->c->env, b))
        g->rc = vls_fail_memory(g->err);
    return g->rc < 0;
}

static size_t find_branch(const graph *g, valise_str id)
{
    for (size_t i = 0; i < g->branches.len && id.len > 0; i++) {
        if (vls_str_equal(g->branches.ptr[i].id, id))
            return i;
    }
    return NONE;
}

/* The one that was asked for, its forks, their forks. */
static void choose(graph *g, valise_str name)
{
    bool more = true;

    for (size_t i = 0; i < g->branches.len; i++) {
        branch *b = &g->branches.ptr[i];
        b->parent = find_branch(g, b->origin);
        b->depth = vls_str_equal(b->name, name) ? 0 : NONE;
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < g->branches.len; i++) {
            branch *b = &g->branches.ptr[i];
            if (b->depth != NONE || b->parent == NONE || g->branches.ptr[b->parent].depth == NONE)
                continue;
            b->depth = g->branches.ptr[b->parent].depth + 1;
            more = true;
        }
    }
    for (size_t i = 0; i < g->branches.len; i++) {
        branch *b = &g->branches.ptr[i];
        if (b->depth == 0)
            b->parent = NONE; /* where it came from is not drawn */
    }
}

/* Who may not list them all is not told of forks. */
static int load_alone(graph *g, valise_str name, valise_error *err)
{
    const branch alone = {.name = name, .parent = NONE, .depth = NONE};

    g->branches.len = 0;
    return vls_vec_push(&g->branches, g->c->env, alone) ? 0 : vls_fail_memory(err);
}

static int load_branches(graph *g, valise_str name, valise_error *err)
{
    const valise_op *list = vls_registry_op(g->c->registry, VLS_STR("backpack:list"));
    int rc = list ? cli_stream(g->c, list, VLS_STR("{}"), take_branch, g, err)
                  : vls_fail(err, VALISE_E_UNSUPPORTED, "there is no backpack:list");

    if (g->rc < 0)
        rc = g->rc;
    if (rc == VALISE_E_DENIED)
        rc = load_alone(g, name, err);
    if (rc == 0)
        choose(g, name);
    return rc;
}

/* ---- their commits ---- */

static int take_commit(void *arg, valise_str json)
{
    graph *g = arg;
    commit one = {.branch = g->branches.len, .follows = NONE};

    g->rc = keep(&one.row, g, json);
    if (g->rc < 0)
        return 1;
    one.seq = cli_number_of(one.row, "seq");
    g->rc = vls_time_parse_ns(&one.time, cli_text_of(one.row, "timestamp"), g->err);
    if (g->rc == 0 && !vls_vec_push(&g->commits, g->c->env, one))
        g->rc = vls_fail_memory(g->err);
    return g->rc < 0;
}

/* The arguments of the history with another name. */
static int write_payload(vls_buf *out, vls_json payload, valise_str name, valise_error *err)
{
    vls_buf_add_text(out, "{\"backpack\":");
    vls_json_write_string(out, name);
    for (uint32_t i = 0; i < payload.len; i++) {
        valise_str key = vls_json_str(payload.members[i].key);
        if (vls_str_equal(key, VLS_STR("backpack")))
            continue;
        vls_buf_add_byte(out, ',');
        vls_json_write_string(out, key);
        vls_buf_add_byte(out, ':');
        int rc = vls_json_write(out, payload.members[i].value, err);
        if (rc < 0)
            return rc;
    }
    vls_buf_add_byte(out, '}');
    return vls_buf_check(out, err);
}

static int load_commits(graph *g, const valise_op *history, vls_json payload, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = 0;

    vls_buf_init(&text, g->c->env, LOAD_MAX);
    for (size_t i = 0; i < g->branches.len && rc == 0; i++) {
        branch *b = &g->branches.ptr[i];
        if (b->depth == NONE)
            continue;
        vls_buf_clear(&text);
        b->first = g->commits.len;
        rc = write_payload(&text, payload, b->name, err);
        if (rc == 0)
            rc = cli_stream(g->c, history, vls_buf_str(&text), take_commit, g, err);
        if (g->rc < 0)
            rc = g->rc;
        b->count = g->commits.len - b->first;
        for (size_t k = b->first; k < g->commits.len; k++)
            g->commits.ptr[k].branch = i;
    }
    return rc;
}

/* ---- what follows what ---- */

/* The newest commit of the branch up to seq, or of what it was forked from. */
static size_t commit_upto(const graph *g, size_t at, int64_t seq)
{
    while (at != NONE) {
        const branch *b = &g->branches.ptr[at];
        for (size_t i = b->first; i < b->first + b->count; i++) {
            if (g->commits.ptr[i].seq <= seq)
                return i;
        }
        seq = b->origin_seq;
        at = b->parent;
    }
    return NONE;
}

static int link_commits(graph *g, valise_error *err)
{
    for (size_t i = 0; i < g->commits.len; i++) {
        commit *one = &g->commits.ptr[i];
        const branch *b = &g->branches.ptr[one->branch];
        bool oldest = i + 1 == b->first + b->count;
        one->follows = oldest ? commit_upto(g, b->parent, b->origin_seq) : i + 1;
        if (!vls_vec_push(&g->order, g->c->env, i))
            return vls_fail_memory(err);
    }
    return 0;
}

/* Newest first; of those at the same time the one that can only be later. */
static bool comes_before(const graph *g, size_t a, size_t b)
{
    const commit *x = &g->commits.ptr[a], *y = &g->commits.ptr[b];
    size_t dx = g->branches.ptr[x->branch].depth, dy = g->branches.ptr[y->branch].depth;

    if (x->time != y->time)
        return x->time > y->time;
    if (dx != dy)
        return dx > dy;
    return x->branch != y->branch ? a < b : x->seq > y->seq;
}

/* Branches are sorted already: merge them, always the first that is left. */
static void sort_commits(graph *g)
{
    size_t *order = g->order.ptr;

    for (size_t i = 0; i < g->branches.len; i++)
        g->branches.ptr[i].count += g->branches.ptr[i].first; /* the end, for now */
    for (size_t n = 0; n < g->order.len; n++) {
        size_t best = NONE, from = NONE;
        for (size_t i = 0; i < g->branches.len; i++) {
            const branch *b = &g->branches.ptr[i];
            if (b->depth == NONE || b->first == b->count)
                continue;
            if (best == NONE || comes_before(g, b->first, best)) {
                best = b->first;
                from = i;
            }
        }
        order[n] = best;
        g->branches.ptr[from].first++;
    }
}

/* ---- drawing ---- */

static int end_line(graph *g, valise_error *err)
{
    int rc = vls_buf_check(&g->line, err);

    vls_buf_clear(&g->line);
    return rc < 0 ? rc : cli_out_row(g->c->out, err);
}

static void remove_lane(graph *g, size_t at)
{
    for (size_t i = at + 1; i < g->lanes.len; i++)
        g->lanes.ptr[i - 1] = g->lanes.ptr[i];
    g->lanes.len--;
}

/* "|_|/": lane `from` goes over to lane `to`, and what is right of it moves left. */
static int draw_join(graph *g, size_t to, size_t from, valise_error *err)
{
    size_t width = from + 1 < g->lanes.len ? 2 * g->lanes.len - 2 : 2 * from;

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
        vls_buf_add_byte(&g->line, sign);
    }
    vls_buf_add(&g->c->out->text, vls_buf_str(&g->line));
    vls_buf_add_byte(&g->c->out->text, '\n');
    remove_lane(g, from);
    return end_line(g, err);
}

/* The lane of a commit, once all that wait for it are one. */
static int take_lane(size_t *out, graph *g, size_t at, valise_error *err)
{
    size_t lane = 0;
    int rc = 0;

    while (lane < g->lanes.len && g->lanes.ptr[lane] != at)
        lane++;
    if (lane == g->lanes.len && !vls_vec_push(&g->lanes, g->c->env, at))
        return vls_fail_memory(err);
    for (size_t i = g->lanes.len; i-- > lane + 1 && rc == 0;) {
        if (g->lanes.ptr[i] == at)
            rc = draw_join(g, lane, i, err);
    }
    *out = lane;
    return rc;
}

/* Say where branches end: "run-1, run-1b". */
static int decorate(graph *g, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < g->branches.len && rc == 0; i++) {
        const branch *b = &g->branches.ptr[i];
        size_t at = b->depth == NONE ? NONE : commit_upto(g, i, INT64_MAX);
        valise_str *names = at == NONE ? NULL : &g->commits.ptr[at].names;
        if (!names)
            continue;
        vls_buf_add(&g->line, *names);
        vls_buf_add_text(&g->line, names->len > 0 ? ", " : "");
        vls_buf_add(&g->line, b->name);
        rc = vls_buf_check(&g->line, err);
        if (rc == 0)
            rc = vls_arena_dup(names, &g->arena, vls_buf_str(&g->line), err);
        vls_buf_clear(&g->line);
    }
    return rc;
}

static int draw_commit(graph *g, size_t at, valise_error *err)
{
    const commit *one = &g->commits.ptr[at];
    size_t lane, count;
    int rc = take_lane(&lane, g, at, err);

    if (rc < 0)
        return rc;
    count = g->lanes.len;
    for (size_t i = 0; i < count; i++)
        vls_buf_add_text(&g->c->out->text, i == lane ? "* " : "| ");
    if (one->follows == NONE)
        remove_lane(g, lane);
    else
        g->lanes.ptr[lane] = one->follows;
    cli_add_commit_line(g->c, one->row, one->names, 2 * count);
    return cli_out_row(g->c->out, err);
}

static int draw(graph *g, int64_t limit, valise_error *err)
{
    size_t count = g->order.len;
    int rc = decorate(g, err);

    sort_commits(g);
    if (limit > 0 && (uint64_t)limit < count)
        count = (size_t)limit;
    cli_out_page(g->c->out, g->c);
    for (size_t i = 0; i < count && rc == 0 && !cli_out_is_closed(g->c->out); i++)
        rc = draw_commit(g, g->order.ptr[i], err);
    return rc;
}

static bool is_chosen(const graph *g)
{
    for (size_t i = 0; i < g->branches.len; i++) {
        if (g->branches.ptr[i].depth == 0)
            return true;
    }
    return false;
}

static int run(graph *g, const valise_op *op, vls_json payload, valise_str text, valise_error *err)
{
    int rc = load_branches(g, cli_text_of(payload, "backpack"), err);

    if (rc == 0 && !is_chosen(g)) /* the history itself says best what is wrong */
        return cli_stream(g->c, op, text, take_commit, g, err);
    if (rc == 0)
        rc = load_commits(g, op, payload, err);
    if (rc == 0)
        rc = link_commits(g, err);
    return rc < 0 ? rc : draw(g, cli_number_of(payload, "limit"), err);
}

int cli_draw_history(cli *c, const valise_op *op, valise_str payload, valise_error *err)
{
    graph g = {.c = c, .err = err};
    const vls_json *member;
    vls_json parsed;
    int rc = vls_json_parse(&parsed, &c->arena, payload, NULL, err);

    if (rc < 0)
        return rc;
    if (c->options.at)
        return vls_fail(err, CLI_E_USAGE, "--graph is drawn of now: it takes no --at");
    for (size_t i = 0; i < 2; i++) {
        member = vls_json_get(parsed, i == 0 ? VLS_STR("reverse") : VLS_STR("reads"));
        if (member && member->truth)
            return vls_fail(err, CLI_E_USAGE,
                            "--graph begins with the newest commit: it takes no %s",
                            i == 0 ? "--reverse" : "--reads");
    }
    vls_arena_init(&g.arena, c->env, LOAD_MAX);
    vls_buf_init(&g.line, c->env, LOAD_MAX);
    rc = run(&g, op, parsed, payload, err);
    vls_vec_release(&g.branches, c->env);
    vls_vec_release(&g.commits, c->env);
    vls_vec_release(&g.order, c->env);
    vls_vec_release(&g.lanes, c->env);
    vls_buf_release(&g.line);
    vls_arena_release(&g.arena);
    return rc;
}
