/* schema_check.c -- walking an instance along a compiled schema.
 *
 * vls_schema_visit() applies one node to one value and is the only recursion: rules call it for
 * their subschemas. It keeps the three promises of schema.h: it pays for every visit (steps), it
 * counts how deep it is (depth), and it notices when a reference leads back to a node that is
 * being applied to the same value in the same dynamic scope, which would never end.
 *
 * The dynamic scope is the resources the visit came through that have dynamic anchors, each once,
 * outermost first.
 *
 * Evaluated members and items are noted only where an unevaluated... keyword asks: the node that
 * has it starts a set, and every node applied to the same value on its behalf adds to it. Those
 * whose failure is no failure (anyOf, if, ...) get a set of their own, merged when they succeed. */
#include "json/schema_impl.h"

#define MAX_TEXT ((size_t)64 << 20)

int vls_schema_spend(vls_schema_run *run, uint64_t steps)
{
    if (run->steps < steps) {
        run->steps = 0;
        (void)vls_fail(run->err, VALISE_E_LIMIT,
                       "checking with this schema takes more than %llu steps",
                       (unsigned long long)run->schema->limits.max_steps);
        vls_hint(run->err, "raise max_steps, or make the schema or the instance smaller");
        return VALISE_E_LIMIT;
    }
    run->steps -= steps;
    return 0;
}

int vls_schema_matches(bool *matches, vls_schema_run *run, const vls_pattern *pattern,
                       valise_str text)
{
    return vls_pattern_match(matches, pattern, &run->schema->patterns, &run->matcher, text,
                             &run->steps, run->err);
}

/* ---- evaluated members and items ---- */

/* An empty set for a container, from scratch memory. */
static int init_seen(vls_schema_seen *seen, vls_schema_run *run, const vls_json *instance)
{
    bool container = instance->type == VLS_JSON_ARRAY || instance->type == VLS_JSON_OBJECT;
    size_t words = container ? ((size_t)instance->len + 63) / 64 : 0;
    int rc = vls_schema_spend(run, words / 8);

    if (rc < 0)
        return rc;
    *seen = (vls_schema_seen){.count = (uint32_t)words};
    if (words == 0)
        return 0;
    seen->bits = vls_arena_array(&run->scratch, words, sizeof(seen->bits[0]));
    if (!seen->bits)
        return vls_arena_fail(&run->scratch, run->err);
    memset(seen->bits, 0, words * sizeof(seen->bits[0]));
    return 0;
}

static void merge_seen(vls_schema_seen *into, const vls_schema_seen *from)
{
    assert(into->count == 0 || (into->bits && from->bits));
    into->all |= from->all;
    for (uint32_t i = 0; i < into->count; i++)
        into->bits[i] |= from->bits[i];
}

/* ---- one node on one value ---- */

static int check_by_type(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_node *node = f->node;

    switch ((vls_json_type)f->instance->type) {
    case VLS_JSON_NULL:
    case VLS_JSON_BOOL:
        return 0;
    case VLS_JSON_INT:
    case VLS_JSON_BIG:
    case VLS_JSON_REAL:
        return node->number ? vls_schema_check_number(run, f) : 0;
    case VLS_JSON_STRING:
        return node->text ? vls_schema_check_text(run, f) : 0;
    case VLS_JSON_ARRAY:
        return node->array ? vls_schema_check_array(run, f, seen) : 0;
    case VLS_JSON_OBJECT:
        return node->object ? vls_schema_check_object(run, f, seen) : 0;
    }
    return 0;
}

/* What the node says of members or items that nothing else said anything of. */
static const vls_schema_node *unevaluated_of(const vls_schema_frame *f)
{
    if (f->instance->type == VLS_JSON_ARRAY && f->node->array)
        return f->node->array->unevaluated;
    if (f->instance->type == VLS_JSON_OBJECT && f->node->object)
        return f->node->object->unevaluated;
    return NULL;
}

static int check_rules(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    int bad = vls_schema_check_any(run, f);

    if (!vls_schema_ends(run, bad))
        bad = vls_schema_both(bad, check_by_type(run, f, seen));
    if (!vls_schema_ends(run, bad) && f->node->apply)
        bad = vls_schema_both(bad, vls_schema_check_apply(run, f, seen));
    return bad;
}

/* With a set of its own: neighbours that were applied to the same value do not count. */
static int check_with_unevaluated(vls_schema_run *run, const vls_schema_frame *f,
                                  const vls_schema_node *rest, vls_schema_seen *seen)
{
    vls_arena_mark mark = vls_arena_here(&run->scratch);
    vls_schema_seen own;
    int bad = init_seen(&own, run, f->instance);

    if (bad == 0)
        bad = check_rules(run, f, &own);
    /* After a failure the set is incomplete and would accuse the innocent. */
    if (bad == 0)
        bad = vls_schema_check_unevaluated(run, f, rest, &own);
    if (bad == 0)
        vls_schema_see_all(seen);
    vls_arena_rewind(&run->scratch, mark);
    return bad;
}

static int check_frame(vls_schema_run *run, const vls_schema_frame *f, vls_schema_seen *seen)
{
    const vls_schema_node *rest;

    if (f->node->kind == VLS_SCHEMA_TRUE)
        return 0;
    if (f->node->kind == VLS_SCHEMA_FALSE)
        return vls_schema_bad(run, f, f->node->step.raw.ptr ? f->node->step.raw.ptr : "", NULL,
                              "is not allowed");
    rest = unevaluated_of(f);
    return rest ? check_with_unevaluated(run, f, rest, seen) : check_rules(run, f, seen);
}

/* ---- entering and leaving ---- */

static int notice_loop(vls_schema_run *run, const vls_schema_frame *f)
{
    uint64_t passed = 0;

    for (const vls_schema_frame *at = f->up; at && at->instance == f->instance; at = at->up) {
        if (at->node == f->node && at->scope_before == f->scope_before) {
            vls_buf_clear(&run->place);
            vls_schema_place(&run->place, f->node);
            int rc = vls_buf_check(&run->place, run->err);
            if (rc < 0)
                return rc;
            return vls_fail(run->err, VALISE_E_LIMIT,
                            "the schema at \"%.*s#%.*s\" refers to itself without end",
                            VALISE_STR_ARG(f->node->home->document_uri),
                            VALISE_STR_ARG(vls_buf_str(&run->place)));
        }
        passed++;
    }
    return vls_schema_spend(run, passed / 8);
}

static int enter_scope(vls_schema_run *run, const vls_schema_node *node)
{
    if (!node->home->dynamic)
        return 0;
    for (size_t i = 0; i < run->scope.len; i++) {
        if (run->scope.ptr[i] == node->home)
            return vls_schema_spend(run, i / 8);
    }
    if (!vls_vec_push(&run->scope, run->schema->env, node->home))
        return vls_fail_memory(run->err);
    return vls_schema_spend(run, run->scope.len / 8);
}

static int enter_frame(vls_schema_run *run, const vls_schema_frame *f)
{
    int rc = vls_schema_spend(run, 1);

    if (rc == 0 && f->way == VLS_WAY_REF)
        rc = notice_loop(run, f);
    if (rc == 0 && (!f->up || f->up->node->home != f->node->home))
        rc = enter_scope(run, f->node);
    if (rc == 0 && run->depth >= run->schema->limits.max_depth)
        rc = vls_fail(run->err, VALISE_E_LIMIT, "more than %u subschemas inside each other",
                      run->schema->limits.max_depth);
    return rc;
}

int vls_schema_visit(vls_schema_run *run, const vls_schema_frame *up, const vls_schema_node *node,
                     vls_schema_way way, uint32_t at, vls_schema_seen *seen)
{
    vls_schema_frame f = {.up = up, .node = node, .way = way, .index = at};
    int verdict;

    f.instance = up->instance;
    if (way == VLS_WAY_ITEM) {
        f.instance = &up->instance->items[at];
    } else if (way == VLS_WAY_KEY || way == VLS_WAY_NAME) {
        f.key = &up->instance->members[at].key;
        f.instance = way == VLS_WAY_KEY ? &up->instance->members[at].value : f.key;
    }
    f.scope_before = run->scope.len;
    verdict = enter_frame(run, &f);
    if (verdict == 0) {
        run->depth++;
        verdict = check_frame(run, &f, seen);
        run->depth--;
    }
    run->scope.len = f.scope_before;
    return verdict;
}

int vls_schema_try(vls_schema_run *run, const vls_schema_frame *up, const vls_schema_node *node,
                   vls_schema_way way, uint32_t at, vls_schema_seen *seen)
{
    vls_schema_mode mode = run->mode;
    vls_arena_mark mark = vls_arena_here(&run->scratch);
    vls_schema_seen own;
    int verdict = seen ? init_seen(&own, run, up->instance) : 0;

    run->mode = VLS_MODE_QUIET;
    if (verdict == 0)
        verdict = vls_schema_visit(run, up, node, way, at, seen ? &own : NULL);
    run->mode = mode;
    if (verdict == 0 && seen)
        merge_seen(seen, &own);
    vls_arena_rewind(&run->scratch, mark);
    return verdict;
}

/* ---- the whole ---- */

static int check_root(vls_schema_run *run, const vls_json *instance)
{
    vls_schema_frame f = {.node = run->schema->root, .instance = instance};
    int verdict = enter_frame(run, &f);

    if (verdict == 0) {
        run->depth++;
        verdict = check_frame(run, &f, NULL);
    }
    return verdict;
}

int vls_schema_check(const vls_schema *schema, vls_json instance, vls_schema_report *report,
                     valise_error *err)
{
    const valise_env *env = schema->env;
    vls_schema_run run = {
        .schema = schema, .steps = schema->limits.max_steps, .report = report, .err = err};
    int verdict;

    run.more = report && report->max_findings != 1;
    if (report)
        report->count = 0;
    vls_arena_init(&run.scratch, env, schema->limits.max_bytes);
    vls_buf_init(&run.path, env, MAX_TEXT);
    vls_buf_init(&run.place, env, MAX_TEXT);
    vls_buf_init(&run.reason, env, MAX_TEXT);
    vls_buf_init(&run.nearest, env, MAX_TEXT);
    verdict = check_root(&run, &instance);

    vls_vec_release(&run.scope, env);
    vls_matcher_release(&run.matcher);
    vls_buf_release(&run.path);
    vls_buf_release(&run.place);
    vls_buf_release(&run.reason);
    vls_buf_release(&run.nearest);
    vls_arena_release(&run.scratch);
    if (verdict <= 0)
        return verdict;
    if (err)
        *err = run.first;
    return VALISE_E_INVALID;
}
