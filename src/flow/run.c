/* run.c -- see run.h: runs, levels, and walking them. */
#include "flow/run.h"

#include "base/mem.h"
#include "base/sized.h"
#include "base/text.h"
#include "flow/level.h"
#include "flow/record.h"
#include "json/make.h"

#define NODE_MEMORY_MAX ((size_t)1 << 30) /* of one visit */
#define RUN_MEMORY_MAX ((size_t)4 << 30)

/* ---- paths ---- */

/* path and rest with a slash between them. VALISE_E_LIMIT. */
static int join_path(valise_str *out, vls_arena *arena, valise_str path, valise_str rest,
                     valise_error *err)
{
    char *text;

    if (path.len + 1 + rest.len > VLS_FLOW_PATH_MAX)
        return vls_fail(err, VALISE_E_LIMIT,
                        "the path of a node may have at most %u bytes, and '%s/%.*s' is longer",
                        VLS_FLOW_PATH_MAX, vls_text_short(path).s, VALISE_STR_ARG(rest));
    text = vls_arena_alloc(arena, path.len + rest.len + 2);
    if (!text)
        return vls_arena_fail(arena, err);
    memcpy(text, path.ptr, path.len);
    text[path.len] = '/';
    if (rest.len > 0)
        memcpy(text + path.len + 1, rest.ptr, rest.len);
    text[path.len + 1 + rest.len] = '\0';
    *out = (valise_str){text, path.len + 1 + rest.len};
    return 0;
}

/* How often the nodes with one path ran: in flows of a host there may be several of them. */
typedef struct place {
    valise_str path;
    int64_t visits;
} place;

static bool is_place(const void *item, const void *key)
{
    return vls_str_equal(((const place *)item)->path, *(const valise_str *)key);
}

static int find_visits(int64_t **out, vls_flow_slot *slot, const vls_flow_level *level,
                       valise_error *err)
{
    vls_flow_run *run = level->run;
    uint64_t hash;
    place *found;

    if (VLS_LIKELY(!level->hosted)) {
        slot->own = vls_flow_record_visits(run, slot->path);
        *out = &slot->own;
        return 0;
    }
    hash = vls_str_hash(slot->path, run->flow->seed);
    found = vls_map_get(&run->places, hash, &slot->path);
    if (!found) {
        found = vls_arena_zalloc(&run->arena, sizeof(*found));
        if (!found)
            return vls_arena_fail(&run->arena, err);
        *found = (place){slot->path, vls_flow_record_visits(run, slot->path)};
        if (vls_map_put(NULL, &run->places, hash, &slot->path, found) < 0)
            return vls_fail_memory(err);
    }
    *out = &found->visits;
    return 0;
}

/* Where a node is, with what stands in front of the flow: once. */
static int name_slot(vls_flow_slot *slot, const vls_flow_level *level, const vls_flow_node *node,
                     valise_error *err)
{
    vls_arena *arena = &level->run->arena;
    valise_str rest = vls_str_from(node->path, level->strip), prefix = level->prefix;
    int rc;

    if (slot->visits)
        return 0;
    if (prefix.len > 0)
        prefix.len--; /* joining puts the slash there */
    if (prefix.len == 0)
        slot->path = node->path;
    else if ((rc = join_path(&slot->path, arena, prefix, rest, err)) < 0)
        return rc;
    rc = vls_flow_join_namespace(&slot->namespace_name, arena, level->namespace_prefix,
                                 node->namespace_name, err);
    return rc < 0 ? rc : find_visits(&slot->visits, slot, level, err);
}

/* ---- levels ---- */

static int new_level(vls_flow_level **out, vls_flow_run *run, valise_flow *flow, valise_str prefix,
                     size_t strip, valise_str namespace_prefix, valise_error *err)
{
    vls_flow_level *level = vls_arena_zalloc(&run->arena, sizeof(*level));

    if (!level)
        return vls_arena_fail(&run->arena, err);
    level->slots = vls_arena_zalloc(&run->arena, (flow->nodes.len + 1) * sizeof(*level->slots));
    if (!level->slots)
        return vls_arena_fail(&run->arena, err);
    level->run = run;
    level->flow = flow;
    level->seed = flow->seed;
    level->count = flow->nodes.len;
    level->prefix = prefix;
    level->strip = strip;
    level->namespace_prefix = namespace_prefix;
    vls_arena_init(&level->arena, run->env, NODE_MEMORY_MAX);
    level->next = run->levels;
    run->levels = level;
    *out = level;
    return 0;
}

static void release_level(vls_flow_level *level)
{
    for (size_t i = 0; i < level->count; i++)
        valise_backpack_close(level->slots[i].view);
    vls_arena_release(&level->arena);
}

static vls_flow_level *find_level(const vls_flow_slot *slot, const valise_flow *inner)
{
    vls_flow_level *level = slot->below;

    while (level &&
           (level->flow != inner || level->seed != inner->seed || level->count != inner->nodes.len))
        level = level->beside;
    return level;
}

static int make_level(vls_flow_level **out, valise_node_run *at, valise_flow *inner,
                      valise_error *err)
{
    const bool hosted = inner != at->node->inner; /* it knows nothing of where it stands */
    valise_str prefix = at->level->prefix;
    int rc = 0;

    if (hosted)
        rc = join_path(&prefix, &at->run->arena, at->path, VLS_STR(""), err);
    if (rc == 0)
        rc = new_level(out, at->run, inner, prefix, hosted ? 0 : at->level->strip,
                       hosted ? at->namespace_name : at->level->namespace_prefix, err);
    if (rc == 0)
        (*out)->hosted = hosted || at->level->hosted;
    return rc;
}

int vls_flow_enter(vls_flow_level **out, valise_node_run *at, valise_flow *inner, valise_error *err)
{
    vls_flow_slot *slot = &at->level->slots[at->node->number];
    vls_flow_level *level;
    int rc = inner == at->node->inner ? 0 : vls_flow_link(inner, NULL, err);

    if (rc < 0)
        return rc;
    level = find_level(slot, inner);
    if (!level) {
        rc = make_level(&level, at, inner, err);
        if (rc < 0)
            return rc;
        assert(level);
        level->beside = slot->below;
        slot->below = level;
    }
    level->above = at;
    *out = level;
    return 0;
}

/* ---- walking ---- */

static int fail_endless(vls_flow_run *run, valise_error *err)
{
    VLS_AUTO(buf) vls_buf last = {0};
    int64_t made;

    while (run->walked == 0 && run->parent) /* an element that did not come to its first node */
        run = run->parent;
    made = run->walked;
    vls_buf_init(&last, run->env, sizeof(run->visited) + 64);
    for (int64_t i = VLS_MIN(made, (int64_t)VLS_COUNT(run->visited)); i > 0; i--) {
        vls_buf_add_text(&last, last.len > 0 ? ", " : "");
        vls_buf_add_text(&last, run->visited[(size_t)(made - i) % VLS_COUNT(run->visited)]);
    }
    (void)vls_fail(
        err, VALISE_E_LIMIT, "the flow took more than %lld steps; the last nodes were %s",
        (long long)vls_flow_root(run)->max_steps, vls_buf_cstr(&last) ? last.ptr : "many");
    vls_hint(err, "look for a loop without an end, or set maxSteps in the flow higher");
    return VALISE_E_LIMIT;
}

/* Is the run, or one of the nodes around the level, to end? */
static int look_around(const vls_flow_level *level, valise_error *err)
{
    return level->above ? vls_node_look(level->above, err) : vls_flow_run_look(level->run, err);
}

/* One more step of the run, unless it is to end. */
static int count_step(const vls_flow_level *level, valise_str path, valise_error *err)
{
    vls_flow_run *run = level->run, *root = vls_flow_root(run);
    char *kept = run->visited[(size_t)run->walked % VLS_COUNT(run->visited)];
    int rc = look_around(level, err);

    if (rc < 0)
        return rc;
    if (atomic_fetch_add_explicit(&root->steps, 1, memory_order_relaxed) >= root->max_steps) {
        (void)atomic_fetch_sub_explicit(&root->steps, 1, memory_order_relaxed);
        return fail_endless(run, err);
    }
    memcpy(kept, path.ptr, path.len);
    kept[path.len] = '\0';
    run->walked++;
    return 0;
}

int vls_flow_walk(valise_str *action, vls_flow_level *level, const vls_flow_node *start,
                  vls_arena *arena, valise_error *err)
{
    const vls_flow_node *node = start ? start : level->flow->first;
    valise_error failure;
    vls_flow_step step;
    bool failed = false;

    step.action[0] = '\0';
    while (node) {
        vls_flow_slot *slot = &level->slots[node->number];
        int rc = name_slot(slot, level, node, err);

        if (rc == 0)
            rc = vls_flow_record_find(&step, level, node, slot->path, *slot->visits + 1, err);
        if (rc > 0)
            (*slot->visits)++;
        if (rc == 0)
            rc = count_step(level, slot->path, err);
        if (rc == 0)
            rc = vls_flow_visit(&step, level, node, failed ? &failure : NULL, err);
        if (rc < 0)
            return rc;
        failed = step.failed;
        if (failed)
            failure = step.failure;
        node = step.next;
    }
    return action ? vls_arena_dup(action, arena, valise_str_of(step.action), err) : 0;
}

/* ---- elements of a map ---- */

int vls_flow_run_element(valise_str *action, char *node, valise_node_run *at, int64_t number,
                         valise_backpack *bag, valise_str path, vls_arena *arena, valise_error *err)
{
    vls_flow_run run;
    vls_flow_level *level;
    valise_str prefix;
    int rc;

    /* Without a record: what it does is on a fork, which is not there any more when a run goes on.
     */
    vls_flow_run_init_within(&run, at->run, bag);
    run.number = number;
    rc = join_path(&prefix, &run.arena, path, VLS_STR(""), err);
    if (rc == 0)
        rc = new_level(&level, &run, at->node->inner, prefix, at->node->inner->path.len + 1,
                       at->level->namespace_prefix, err);
    if (rc == 0) {
        level->above = at;
        level->hosted = at->level->hosted;
        rc = vls_flow_walk(action, level, NULL, arena, err);
    }
    if (rc < 0)
        memcpy(node, run.last, sizeof(run.last));
    vls_flow_run_release(&run);
    return rc;
}

/* ---- runs ---- */

void vls_flow_run_init(vls_flow_run *run, valise_flow *flow, valise_backpack *bag)
{
    *run = (vls_flow_run){.v = flow->v,
                          .env = flow->env,
                          .flow = flow,
                          .bag = bag,
                          .thread = pthread_self(),
                          .number = -1,
                          .failed = INT64_MAX,
                          .threads = VLS_FLOW_THREADS_MAX};
    vls_arena_init(&run->arena, flow->env, RUN_MEMORY_MAX);
    vls_arena_init(&run->tools_arena, flow->env, NODE_MEMORY_MAX);
    run->tools_secrets.arena = &run->tools_arena;
    vls_progress_init(&run->progress, flow->env, NULL);
    vls_map_init(&run->places, flow->env, is_place);
    (void)pthread_mutex_init(&run->lock, NULL);
}

void vls_flow_run_init_within(vls_flow_run *run, vls_flow_run *parent, valise_backpack *bag)
{
    vls_flow_run_init(run, parent->flow, bag);
    run->parent = parent;
    run->actor = parent->actor;
    run->id = parent->id;
    run->id_text = parent->id_text;
    run->programs = parent->programs;
    run->watches = parent->watches;
}

void vls_flow_run_release(vls_flow_run *run)
{
    while (run->levels) {
        vls_flow_level *level = run->levels;

        run->levels = level->next;
        release_level(level);
    }
    vls_toolbox_free(run->tools);
    vls_map_release(&run->places);
    vls_arena_release(&run->arena);
    vls_arena_release(&run->tools_arena);
    (void)pthread_mutex_destroy(&run->lock);
}

/* Is it over with all of it, or with the elements behind one that failed? */
static bool is_stopped(const vls_flow_run *run)
{
    for (; run; run = run->parent) {
        if (VLS_UNLIKELY(atomic_load_explicit(&run->stop, memory_order_relaxed) != 0))
            return true;
        if (run->number >= 0 &&
            run->number > atomic_load_explicit(&run->parent->failed, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Does somebody up there want it to end? The one thread that may, asks. */
int vls_flow_run_look(vls_flow_run *run, valise_error *err)
{
    vls_flow_run *root = vls_flow_root(run);
    valise_error why = VALISE_ERROR_INIT;
    uint64_t done;

    if (is_stopped(run))
        return vls_fail(err, VALISE_E_CANCELLED, "the run was cancelled");
    if (VLS_LIKELY(!root->progress.callback.fn) || !pthread_equal(root->thread, pthread_self()))
        return 0;
    done = (uint64_t)atomic_load_explicit(&root->steps, memory_order_relaxed);
    root->progress.state.done = VLS_MAX(done, root->progress.state.done);
    /* Not a step, which looks at the clock only now and then: programs ask ten times a second. */
    if (vls_progress_look(&root->progress, &why) == 0)
        return 0;
    atomic_store_explicit(&root->stop, VALISE_E_CANCELLED, memory_order_relaxed);
    return vls_fail(err, VALISE_E_CANCELLED, "the run was cancelled");
}

/* From the first node to the last, with its events. */
int vls_flow_run_all(vls_flow_run *run, const vls_flow_node *start, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int64_t began = run->env->ticks_ns(run->env->self);
    valise_str action;
    int rc;

    run->watches = vls_bus_listens(run->v);
    vls_flow_tell_start(run);
    rc = new_level(&run->top, run, run->flow, VLS_STR(""), 0, (valise_str){NULL, 0}, &why);
    if (rc == 0)
        rc = vls_flow_walk(&action, run->top, start, &run->arena, &why);
    if (rc == 0)
        (void)snprintf(run->action, sizeof(run->action), "%.*s", VALISE_STR_ARG(action));
    vls_flow_tell_end(run, rc, &why, run->env->ticks_ns(run->env->self) - began);
    if (rc < 0 && err)
        *err = why;
    return rc;
}
