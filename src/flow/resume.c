/* resume.c -- see resume.h. */
#include "flow/resume.h"

#include "backpack/handle.h"
#include "base/hash.h"
#include "base/text.h"
#include "flow/ops.h"
#include "json/make.h"
#include "store/view.h"

/* ---- reading what was recorded ---- */

typedef struct reading {
    vls_flow_past *out;
    vls_arena *arena;
    valise_str run;
} reading;

static int copy_row(vls_flow_run_row *row, vls_arena *arena, valise_error *err)
{
    valise_str *const texts[] = {&row->name,   &row->file, &row->start, &row->actor,
                                 &row->action, &row->node, &row->code,  &row->error};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(texts) && rc == 0; i++)
        rc = texts[i]->ptr ? vls_arena_dup(texts[i], arena, *texts[i], err) : 0;
    return rc;
}

static int read_bag(void *arg, valise_view *view, valise_error *err)
{
    reading *r = arg;
    vls_bag_row bag = {.id = r->out->run.backpack};
    int rc = valise_view_get(&bag, view, &vls_bags, err);

    if (rc == 0 || (rc > 0 && bag.dropped))
        return vls_fail(err, VALISE_E_NOT_FOUND, "the backpack '%.*s' of the run was dropped",
                        VALISE_STR_ARG(r->out->run.name));
    return rc < 0 ? rc : vls_arena_dup(&r->out->name, r->arena, bag.name, err);
}

static int read_past(void *arg, valise_view *view, valise_error *err)
{
    static const valise_id none;
    reading *r = arg;
    vls_flow_past *out = r->out;
    valise_str config;
    int rc = valise_view_allows(view, "flow:read", NULL, err);

    if (rc == 0)
        rc = vls_flow_find_run(&out->run, view, r->run, err);
    if (rc == 0)
        rc = copy_row(&out->run, r->arena, err);
    if (rc == 0 && vls_id_equal(&out->run.config, &none))
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "the flow of the run %s was erased",
                      vls_uuid_text(&out->run.id).s);
    if (rc == 0)
        rc = valise_view_object(&config, view, &out->run.config, err);
    if (rc == 0)
        rc = vls_arena_dup(&out->config, r->arena, config, err);
    return rc < 0 ? rc : read_bag(r, view, err);
}

int vls_flow_past_read(vls_flow_past *out, vls_arena *arena, valise *v, valise_str actor,
                       valise_str run, valise_error *err)
{
    reading r = {out, arena, run};
    valise_call call = VALISE_CALL_INIT;

    call.actor = actor;
    *out = (vls_flow_past){.last = 0};
    return vls_with_view(v, &call, read_past, &r, err);
}

/* ---- its flow ---- */

/* Is the text of a file the flow of the run? */
static int is_same(const valise_env *env, valise_str text, valise_str config, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *canonical = NULL;
    int rc = vls_json_canonical(&canonical, env, text, err);

    return rc < 0 ? rc : vls_str_equal(vls_blob_bytes(canonical), config);
}

int vls_flow_past_text(vls_flow_text *out, vls_arena *arena, const valise *v,
                       const vls_flow_past *past, valise_str file, valise_error *err)
{
    vls_flow_text text;
    int rc;

    *out = (vls_flow_text){.text = past->config, .untrusted = VALISE_ERROR_INIT};
    if (!file.ptr && !past->run.file.ptr)
        return 0;
    rc = vls_flow_text_read(&text, arena, v, file.ptr ? file : past->run.file,
                            file.ptr ? err : NULL);
    if (rc == 0)
        rc = is_same(v->env, text.text, past->config, file.ptr ? err : NULL);
    if (rc < 0 && file.ptr)
        return rc;
    if (rc == 0 && file.ptr) {
        (void)vls_fail(err, VALISE_E_CONFLICT, "%s is not the flow that the run was started with",
                       vls_text_short(file).s);
        vls_hint(err, "run it anew with valise flow run");
        return VALISE_E_CONFLICT;
    }
    if (rc > 0)
        *out = text;
    return rc > 0 ? 0 : vls_flow_text_place(out, arena, past->run.file, err);
}

/* ---- going back ---- */

static int open_bag(valise_backpack **out, valise *v, valise_str actor, valise_str name,
                    valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_KNOWN;
    options.actor = actor;
    return valise_backpack_open(out, v, name.ptr, &options, err);
}

/* The last run that is not over: of nodes within each other the innermost. */
typedef struct opened {
    vls_arena *arena;
    valise_str node; /* ptr NULL: none */
    int64_t start;
} opened;

static int take_open(void *arg, const vls_run_row *run, valise_error *err)
{
    opened *o = arg;

    o->start = run->start;
    return vls_arena_dup(&o->node, o->arena, run->node_id, err);
}

/* Which steps there are of a node. */
typedef struct searching {
    const vls_flow_past *past;
    valise_str path;
    int64_t visit, start;        /* wanted; 0, VALISE_NONE: any */
    const valise_uuid *backpack; /* of start; NULL: any */
    int64_t since;               /* seq of that one: */
    bool found, inside;          /* since then a node inside of it was done */
    int64_t most;                /* its last visit; of those that were looked at */
    vls_flow_step_row step;      /* the first; its texts are not valid */
} searching;

static bool is_of(const searching *s, const vls_flow_step_row *row)
{
    return !s->backpack || memcmp(s->backpack, &row->backpack, sizeof(row->backpack)) == 0;
}

/* What ran on another backpack since left nothing in this one. */
static bool is_inside(const searching *s, const vls_flow_step_row *row)
{
    return row->visit > 0 && is_of(s, row) && row->start >= s->since &&
           row->path.len > s->path.len && vls_str_starts(row->path, s->path) &&
           row->path.ptr[s->path.len] == '/';
}

static bool is_meant(const searching *s, const vls_flow_step_row *row)
{
    return row->visit > 0 && vls_str_equal(row->path, s->path) &&
           (s->visit == 0 || row->visit == s->visit) &&
           (s->start == VALISE_NONE || (is_of(s, row) && row->start == s->start));
}

static int search(void *arg, valise_view *view, valise_error *err)
{
    searching *s = arg;
    vls_flow_step_row row = {.run = s->past->run.id};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && !s->found && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        s->found = is_meant(s, &row);
        s->inside = s->inside || is_inside(s, &row);
        if (vls_str_equal(row.path, s->path))
            s->most = VLS_MAX(s->most, row.visit);
        s->step = row;
    }
    valise_scan_close(scan);
    return rc;
}

/* The seq of the state that a run found which came to nothing; VALISE_NONE: none did. */
static int find_interrupted(int64_t *seq, valise *v, const vls_flow_past *past, const opened *open,
                            valise_error *err)
{
    searching s = {.past = past,
                   .path = open->node,
                   .visit = -1, /* there is none: all of them are looked at */
                   .start = VALISE_NONE,
                   .backpack = &past->run.backpack,
                   .since = open->start};
    int rc = vls_with_view(v, NULL, search, &s, err);

    /* A node with an inside, between two nodes of that: it keeps nothing of its own. */
    *seq = s.inside ? VALISE_NONE : open->start;
    return rc;
}

/* A node that failed has ended its run. Of one in an element of a map the node is the map. */
static int find_failed(int64_t *seq, valise *v, valise_backpack *bag, vls_flow_past *past,
                       valise_error *err)
{
    valise_str path = past->run.node;
    int rc = VALISE_E_NOT_FOUND;

    *seq = VALISE_NONE;
    while (rc == VALISE_E_NOT_FOUND && path.len > 0) {
        valise_backpack *before = NULL;
        char text[VLS_FLOW_PATH_MAX + 1];
        searching s = {.past = past, .path = path, .backpack = &past->run.backpack};

        (void)snprintf(text, sizeof(text), "%.*s", VALISE_STR_ARG(path));
        rc = valise_snapshot_before_node(&before, bag, text, -1, NULL);
        if (rc == 0) {
            *seq = s.start = s.since = before->upto;
            past->run.node = path;
            valise_backpack_close(before);
            rc = vls_with_view(v, NULL, search, &s, err);
            if (s.found || s.inside) /* another run failed, or it was after what is done inside */
                *seq = VALISE_NONE;
            return rc;
        }
        while (path.len > 0 && path.ptr[--path.len] != '/')
            continue;
    }
    return rc == VALISE_E_NOT_FOUND ? 0 : rc;
}

/* A run that was killed before it could say how it ended: the node that failed was the last thing.
 */
typedef struct ending {
    const vls_flow_past *past;
    vls_arena *arena;
    valise_str node; /* ptr NULL: none */
} ending;

static int take_last(void *arg, valise_view *view, valise_error *err)
{
    ending *e = arg;
    vls_flow_step_row row = {.run = e->past->run.id};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        e->node = (valise_str){NULL, 0};
        rc = 0;
        if (row.visit < 0 &&
            memcmp(&row.backpack, &e->past->run.backpack, sizeof(row.backpack)) == 0)
            rc = vls_arena_dup(&e->node, e->arena, row.path, err);
    }
    valise_scan_close(scan);
    return rc;
}

static int find_seq(int64_t *seq, vls_flow_past *past, vls_arena *arena, valise *v,
                    valise_str actor, valise_error *err)
{
    opened open = {.arena = arena};
    valise_backpack *bag = NULL;
    valise_call call = VALISE_CALL_INIT;
    int rc;

    call.actor = actor;
    rc = vls_backpack_open_runs(&past->last, v, past->name, &call, take_open, &open, err);
    if (rc < 0)
        return rc;
    if (open.node.ptr)
        past->run.node = open.node;
    if (open.node.ptr)
        return find_interrupted(seq, v, past, &open, err);
    if (!past->run.node.ptr) {
        ending last = {.past = past, .arena = arena};

        rc = vls_with_view(v, NULL, take_last, &last, err);
        past->run.node = last.node;
    }
    if (rc == 0)
        rc = open_bag(&bag, v, actor, past->name, err);
    if (rc == 0)
        rc = find_failed(seq, v, bag, past, err);
    valise_backpack_close(bag);
    return rc;
}

/* Did the node write behind this seq, or one inside of it, or one around it, which takes back what
 * an attempt wrote? What somebody else packed since, so that the run can go on, is to stay. */
typedef struct writing {
    valise_str path;
    bool found;
} writing;

static bool is_within(valise_str path, valise_str outer)
{
    return outer.len > 0 && vls_str_starts(path, outer) &&
           (path.len == outer.len || path.ptr[outer.len] == '/');
}

static int take_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    writing *w = arg;

    (void)err;
    w->found = is_within(commit->node_id, w->path) || is_within(w->path, commit->node_id);
    return w->found;
}

static int has_written(const vls_flow_past *past, valise *v, valise_str actor, int64_t seq,
                       valise_error *err)
{
    writing w = {.path = past->run.node};
    valise_history filter = VALISE_HISTORY_INIT;
    valise_backpack *bag = NULL;
    int rc = open_bag(&bag, v, actor, past->name, err);

    filter.first = seq + 1;
    if (rc == 0)
        rc = valise_history_each(bag, &filter, take_commit, &w, err);
    valise_backpack_close(bag);
    return rc < 0 ? rc : w.found;
}

int vls_flow_rewind(bool *continued, vls_flow_past *past, vls_arena *arena, valise *v,
                    valise_str actor, valise_error *err)
{
    char name[VLS_BAG_NAME_MAX + 1];
    valise_call call = VALISE_CALL_INIT;
    valise_error why = VALISE_ERROR_INIT;
    const vls_flow_continue_args args = {
        .run = past->run.id, .aside = true, .resumed = past->run.resumed};
    const vls_run_item go_on = {.op = &vls_op_flow_flow_continue, .args = &args};
    int64_t seq = VALISE_NONE;
    int rc = find_seq(&seq, past, arena, v, actor, err);

    *continued = false;
    if (rc < 0 || seq == VALISE_NONE || seq >= past->last)
        return rc;
    rc = has_written(past, v, actor, seq, err);
    if (rc <= 0)
        return rc;
    call.actor = actor;
    rc = VALISE_E_EXISTS;
    for (int64_t n = past->run.aborted + 1; rc == VALISE_E_EXISTS && n < past->run.aborted + 1000;
         n++) {
        (void)snprintf(name, sizeof(name), "%.*s.aborted-%lld",
                       VALISE_STR_ARG(vls_str_head(past->name, VLS_BAG_NAME_MAX - 24)),
                       (long long)n);
        rc = vls_backpack_supersede_with(&past->run.backpack, v, past->name, seq,
                                         valise_str_of(name), &go_on, 1, &call, &why);
    }
    if (rc < 0 && err)
        *err = why;
    *continued = rc == 0;
    return rc;
}

/* ---- branching off ---- */

/* "search#2": the second run. */
static int split_visit(valise_str *node, int64_t *visit, valise_error *err)
{
    valise_str path, number;

    *visit = 1;
    if (!vls_str_cut(&path, &number, *node, '#'))
        return 0;
    if (!vls_str_to_i64(visit, number) || *visit < 1)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is no run of a node: NODE#2 is the second",
                        vls_text_short(*node).s);
    *node = path;
    return 0;
}

static int name_of(valise_str *out, vls_arena *arena, valise *v, const valise_uuid *id,
                   valise_error *err)
{
    vls_flow_past other = {.run = {.backpack = *id, .name = VLS_STR("")}};
    reading r = {&other, arena, {NULL, 0}};
    int rc = vls_with_view(v, NULL, read_bag, &r, err);

    *out = other.name;
    return rc;
}

int vls_flow_find_branch(vls_flow_branch *out, vls_arena *arena, valise *v, valise_str actor,
                         const vls_flow_past *past, valise_flow *flow, valise_str node,
                         valise_error *err)
{
    searching s = {.past = past, .start = VALISE_NONE};
    vls_flow_node *target = NULL;
    vls_flow_past copy = *past;
    int rc = split_visit(&node, &s.visit, err);

    if (rc == 0)
        rc = vls_flow_find_path(&target, flow, node, err);
    if (rc < 0)
        return rc;
    s.path = target->path;
    rc = vls_with_view(v, NULL, search, &s, err);
    if (rc == 0 && s.found) {
        *out = (vls_flow_branch){.seq = s.step.start, .before = s.step.begun};
        return name_of(&out->name, arena, v, &s.step.backpack, err);
    }
    *out = (vls_flow_branch){.name = past->name, .before = INT64_MAX};
    if (rc == 0)
        rc = find_seq(&out->seq, &copy, arena, v, actor, err);
    if (rc == 0 && (past->run.status == VLS_FLOW_DONE || s.visit != s.most + 1 ||
                    !vls_str_equal(copy.run.node, target->path)))
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "'%.*s' did not run so often in the run %s",
                      VALISE_STR_ARG(target->path), vls_uuid_text(&past->run.id).s);
    if (rc == 0 && out->seq == VALISE_NONE)
        out->seq = copy.last;
    return rc;
}
