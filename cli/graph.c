/* graph.c -- the history of a backpack and of its forks, drawn as branches.
 *
 *     * 5 c1f0a2b3 (run-1) pack answer v1 chat-1
 *     | * 2 9d1be7c0 (run-1b) pack answer v1 chat-1
 *     | * 1 5e8f1a77 pack fact v2 research-2
 *     |/
 *     * 2 080fcd92 pack fact v1 research-1
 *     * 1 9ab0d9d5 pack query v1 unknown
 *
 * All commits are loaded, and each finds the one it follows. backpack:merges says which states have
 * others in them: there the commit also has the newest one that was brought along. A merge of which
 * only a part is drawn is not shown.
 * Where a branch begins stands a line of its own if older commits were dropped, if it is a fork of
 * something that is not drawn, or if other branches begin there too. graph_draw.c draws from the
 * newest to the oldest, whoever follows another before it. */
#include "cli/graph.h"

#include "base/time.h"
#include "cli/call.h"

#define NONE CLI_GRAPH_NONE
#define LOAD_MAX ((size_t)1 << 30)

typedef cli_graph graph;
typedef cli_branch branch;
typedef cli_node commit;

/* ---- which backpacks ---- */

static int take_branch(void *arg, valise_str json, valise_error *err)
{
    graph *g = arg;
    vls_json row;
    int rc = cli_keep_json(&row, &g->arena, json, err);

    if (rc < 0)
        return rc;
    branch b = {.name = cli_text_of(row, "name"),
                .id = cli_text_of(row, "id"),
                .origin = cli_text_of(row, "origin"),
                .origin_name = cli_text_of(row, "originName"),
                .origin_seq = cli_number_of(row, "originSeq"),
                .edge = cli_number_of(row, "edge"),
                .parent = NONE,
                .depth = NONE};
    return vls_vec_push(&g->branches, g->c->env, b) ? 0 : vls_fail_memory(err);
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

    if (rc == VALISE_E_DENIED)
        rc = load_alone(g, name, err);
    if (rc == 0)
        choose(g, name);
    return rc;
}

/* ---- their commits ---- */

static int take_commit(void *arg, valise_str json, valise_error *err)
{
    graph *g = arg;
    commit one = {.branch = g->branches.len, .follows = NONE, .merged = NONE};
    int rc = cli_keep_json(&one.row, &g->arena, json, err);

    if (rc < 0)
        return rc;
    one.seq = cli_number_of(one.row, "seq");
    rc = vls_time_parse_ns(&one.time, cli_text_of(one.row, "timestamp"), err);
    if (rc == 0 && !vls_vec_push(&g->commits, g->c->env, one))
        rc = vls_fail_memory(err);
    return rc;
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

/* Is it given, and not just how many? */
static bool is_filtered(vls_json payload, bool *bounded)
{
    static const char *const plain[] = {"backpack", "limit", "node"};
    bool filtered = false;

    *bounded = vls_json_get(payload, VLS_STR("since")) || vls_json_get(payload, VLS_STR("first"));
    for (uint32_t i = 0; i < payload.len; i++) {
        size_t k = 0;
        while (k < VLS_COUNT(plain) &&
               !vls_str_equal(vls_json_str(payload.members[i].key), valise_str_of(plain[k])))
            k++;
        filtered |= k == VLS_COUNT(plain);
    }
    return filtered;
}

/* Where the branch begins, if that is not in another one that is drawn, or is not known any more.
 * What was not asked for is not "dropped". */
static int add_beginning(graph *g, size_t at, vls_json payload, valise_error *err)
{
    const branch *b = &g->branches.ptr[at];
    commit one = {.branch = at, .follows = NONE, .merged = NONE, .row = vls_json_null()};
    size_t count = g->commits.len;
    bool bounded, filtered = is_filtered(payload, &bounded);
    int rc;

    if (b->edge > 0 && !bounded) {
        vls_buf_printf(&g->line, "commits up to %lld were dropped", (long long)b->edge);
    } else if (b->depth == 0 && b->origin.len > 0 && !bounded) {
        vls_buf_add_text(&g->line, "forked from ");
        vls_buf_add(&g->line,
                    b->origin_name.len > 0 ? b->origin_name : VLS_STR("one that is gone"));
        vls_buf_printf(&g->line, " at %lld", (long long)b->origin_seq);
    } else if (b->depth > 0 || filtered) {
        return 0;
    }
    rc = vls_buf_check(&g->line, err);
    if (rc == 0)
        rc = vls_arena_dup(&one.note, &g->arena, vls_buf_str(&g->line), err);
    vls_buf_clear(&g->line);
    one.time = count > b->first ? g->commits.ptr[count - 1].time : INT64_MIN;
    if (rc == 0 && !vls_vec_push(&g->commits, g->c->env, one))
        rc = vls_fail_memory(err);
    return rc;
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
        if (rc == 0)
            rc = add_beginning(g, i, payload, err);
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

/* The commit of the branch with this seq, or NONE. They are sorted, the newest first. */
static size_t commit_at(const graph *g, const branch *b, int64_t seq)
{
    size_t low = b->first, high = b->first + b->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->commits.ptr[middle].seq > seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->first + b->count && g->commits.ptr[low].seq == seq ? low : NONE;
}

/* Was it made by a later command? Only what is older is drawn to, so there is no circle. */
static bool is_later(const commit *a, const commit *b)
{
    return cli_number_of(a->row, "logSeq") > cli_number_of(b->row, "logSeq");
}

/* The newest commit of the branch itself that is up to seq, and older than the one that has it, or
 * NONE. Newer ones were merged without changing anything. */
static size_t find_merged(const graph *g, const branch *theirs, int64_t seq, const commit *one)
{
    for (size_t i = theirs->first; i < theirs->first + theirs->count; i++) {
        const commit *other = &g->commits.ptr[i];
        if (other->seq <= seq && is_later(one, other))
            return other->seq > theirs->had ? i : NONE;
    }
    return NONE;
}

/* What theirs had merged itself has rows too: the newest of all is what it is drawn to. */
static int take_merge(void *arg, valise_str json, valise_error *err)
{
    graph *g = arg;
    vls_json row;
    int rc = cli_keep_json(&row, &g->arena, json, err);

    if (rc < 0)
        return rc;
    int64_t upto = cli_number_of(row, "upto");
    size_t at = commit_at(g, &g->branches.ptr[g->merging], cli_number_of(row, "seq"));
    size_t from = find_branch(g, cli_text_of(row, "theirs"));
    if (from == NONE || g->branches.ptr[from].depth == NONE)
        return 0;
    branch *theirs = &g->branches.ptr[from];
    commit *one = at == NONE ? NULL : &g->commits.ptr[at];
    size_t merged = one ? find_merged(g, theirs, upto, one) : NONE;
    theirs->had = VLS_MAX(theirs->had, upto);
    if (merged != NONE &&
        (one->merged == NONE || is_later(&g->commits.ptr[merged], &g->commits.ptr[one->merged])))
        one->merged = merged;
    return 0;
}

/* Nothing was merged yet, but a fork has what it began with. */
static void begin_merges(graph *g, size_t at)
{
    for (size_t i = 0; i < g->branches.len; i++)
        g->branches.ptr[i].had = 0;
    g->merging = at;
    for (const branch *b = &g->branches.ptr[at]; b->parent != NONE; b = &g->branches.ptr[b->parent])
        g->branches.ptr[b->parent].had = b->origin_seq;
}

static int link_merges(graph *g, valise_error *err)
{
    const valise_op *merges = vls_registry_op(g->c->registry, VLS_STR("backpack:merges"));
    VLS_AUTO(buf) vls_buf text = {0};
    int rc = 0;

    vls_buf_init(&text, g->c->env, LOAD_MAX);
    for (size_t i = 0; merges && i < g->branches.len && rc == 0; i++) {
        if (g->branches.ptr[i].depth == NONE || g->branches.ptr[i].count == 0)
            continue;
        vls_buf_clear(&text);
        begin_merges(g, i);
        rc = write_payload(&text, vls_json_null(), g->branches.ptr[i].name, err);
        if (rc == 0)
            rc = cli_stream(g->c, merges, vls_buf_str(&text), take_merge, g, err);
        if (rc == VALISE_E_DENIED)
            rc = 0; /* who may look only as a node is not told of others */
    }
    return rc;
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
    return link_merges(g, err);
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

/* ---- the order ---- */

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

static void count_waits(graph *g)
{
    for (size_t i = 0; i < g->commits.len; i++) {
        const commit *one = &g->commits.ptr[i];
        if (one->follows != NONE)
            g->commits.ptr[one->follows].waits_for++;
        if (one->merged != NONE)
            g->commits.ptr[one->merged].waits_for++;
    }
}

/* The next one: of the first that is left of each branch, and that nobody waits for. */
static size_t choose_next(const graph *g)
{
    size_t best = NONE;

    for (size_t i = 0; i < g->branches.len; i++) {
        const branch *b = &g->branches.ptr[i];
        if (b->depth == NONE || b->count == 0 || g->commits.ptr[b->first].waits_for > 0)
            continue;
        if (best == NONE || comes_before(g, b->first, best))
            best = b->first;
    }
    return best;
}

/* Branches are sorted already: merge them. From here on their commits are those that are left. What
 * is never chosen follows itself in a circle, which no true history does. */
static void sort_commits(graph *g)
{
    size_t count = 0, next;

    count_waits(g);
    while ((next = choose_next(g)) != NONE) {
        const commit *one = &g->commits.ptr[next];
        g->order.ptr[count++] = next;
        g->branches.ptr[one->branch].first++;
        g->branches.ptr[one->branch].count--;
        if (one->follows != NONE)
            g->commits.ptr[one->follows].waits_for--;
        if (one->merged != NONE)
            g->commits.ptr[one->merged].waits_for--;
    }
    g->order.len = count;
}

/* ---- all of it ---- */

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
    if (rc == 0)
        rc = decorate(g, err);
    if (rc < 0)
        return rc;
    sort_commits(g);
    return cli_graph_draw(g, cli_number_of(payload, "limit"), err);
}

int cli_draw_history(cli *c, const valise_op *op, valise_str payload, valise_error *err)
{
    graph g = {.c = c};
    const vls_json *member;
    vls_json parsed;
    int rc = vls_json_parse(&parsed, &c->arena, payload, NULL, err);

    if (rc < 0)
        return rc;
    if (c->options.at)
        return vls_fail(err, CLI_E_USAGE,
                        "--graph draws the current state, so it cannot be used with --at");
    for (size_t i = 0; i < 2; i++) {
        member = vls_json_get(parsed, i == 0 ? VLS_STR("reverse") : VLS_STR("reads"));
        if (member && member->truth)
            return vls_fail(err, CLI_E_USAGE,
                            "--graph begins with the newest commit, so it cannot be used with %s",
                            i == 0 ? "--reverse" : "--reads");
    }
    vls_arena_init(&g.arena, c->env, LOAD_MAX);
    vls_buf_init(&g.line, c->env, LOAD_MAX);
    cli_lanes_init(&g.lanes, c);
    rc = run(&g, op, parsed, payload, err);
    vls_vec_release(&g.branches, c->env);
    vls_vec_release(&g.commits, c->env);
    vls_vec_release(&g.order, c->env);
    cli_lanes_release(&g.lanes);
    vls_buf_release(&g.line);
    vls_arena_release(&g.arena);
    return rc;
}
