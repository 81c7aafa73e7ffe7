/* record.c -- see record.h. */
#include "flow/record.h"

#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "flow/ops.h"
#include "json/make.h"
#include "store/view.h"

#define STEPS_MEMORY_MAX ((size_t)1 << 30)

/* What one visit came to, as it was recorded; or, as visit 0, what is known of a path. */
typedef struct done {
    valise_str path;
    int64_t visit;
    valise_str action, next, code, error;
    int64_t number;     /* tick; of a path that of its newest step */
    int64_t inner;      /* of a path: visits within visits of nodes around it that are over */
    struct done *older; /* of all steps */
} done;

struct vls_flow_record {
    const valise_env *env;
    vls_arena arena; /* what the steps say */
    vls_map steps;   /* of done; immutable once it is loaded */
    done *newest;
    uint64_t seed;
    _Atomic int64_t ticks;
    int lock;
    bool shared; /* another run on the backpack was not over when this one began */
};

/* ---- steps ---- */

typedef struct wanted {
    valise_str path;
    int64_t visit;
} wanted;

static bool is_wanted(const void *item, const void *key)
{
    const done *d = item;
    const wanted *w = key;

    return d->visit == w->visit && vls_str_equal(d->path, w->path);
}

static uint64_t hash_of(const struct vls_flow_record *record, valise_str path, int64_t visit)
{
    return vls_str_hash(path, record->seed ^ (uint64_t)visit * UINT64_C(0x9e3779b97f4a7c15));
}

static done *find(const struct vls_flow_record *record, valise_str path, int64_t visit)
{
    return vls_map_get(&record->steps, hash_of(record, path, visit), &(wanted){path, visit});
}

static int put(done **out, struct vls_flow_record *record, valise_str path, int64_t visit,
               valise_error *err)
{
    done *d = vls_arena_zalloc(&record->arena, sizeof(*d));

    if (!d)
        return vls_arena_fail(&record->arena, err);
    *d = (done){.path = path, .visit = visit};
    if (vls_map_put(NULL, &record->steps, hash_of(record, path, visit), &(wanted){path, visit}, d) <
        0)
        return vls_fail_memory(err);
    *out = d;
    return 0;
}

/* What is known of a path, made when it is not there. */
static int know(done **out, struct vls_flow_record *record, valise_str path, valise_error *err)
{
    *out = find(record, path, 0);
    return *out ? 0 : put(out, record, path, 0, err);
}

static int keep_texts(done *d, vls_arena *arena, const vls_flow_step_row *row, valise_error *err)
{
    const valise_str from[] = {row->action, row->next, row->code, row->error};
    valise_str *const to[] = {&d->action, &d->next, &d->code, &d->error};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(from) && rc == 0; i++)
        rc = from[i].ptr ? vls_arena_dup(to[i], arena, from[i], err) : 0;
    return rc;
}

static int keep_step(struct vls_flow_record *record, const vls_flow_step_row *row,
                     valise_error *err)
{
    done *d = NULL, *known = NULL;
    valise_str path;
    int rc;

    if (row->number > atomic_load_explicit(&record->ticks, memory_order_relaxed))
        atomic_store_explicit(&record->ticks, row->number, memory_order_relaxed);
    if (row->visit < 0)
        return 0;
    rc = vls_arena_dup(&path, &record->arena, row->path, err);
    if (rc == 0)
        rc = know(&known, record, path, err);
    if (rc < 0)
        return rc;
    assert(known);
    known->number = VLS_MAX(known->number, row->number);
    if (row->visit == 0)
        return 0;
    rc = put(&d, record, path, row->visit, err);
    if (rc < 0)
        return rc;
    d->number = row->number;
    d->older = record->newest;
    record->newest = d;
    return keep_texts(d, &record->arena, row, err);
}

/* What ran inside of a visit, or an attempt, that is over is not asked for again: the next visit of
 * the nodes around it begins behind that. */
static void count_inner(struct vls_flow_record *record)
{
    for (done *d = record->newest; d; d = d->older) {
        for (size_t i = d->path.len; i > 0; i--) {
            const done *around =
                d->path.ptr[i - 1] == '/' ? find(record, vls_str_head(d->path, i - 1), 0) : NULL;
            done *own;

            if (!around || around->number < d->number)
                continue;
            own = find(record, d->path, 0);
            own->inner = VLS_MAX(own->inner, d->visit);
            break;
        }
    }
}

int64_t vls_flow_record_visits(const vls_flow_run *run, valise_str path)
{
    const done *known;

    if (VLS_LIKELY(!run->record) || run->record->steps.len == 0)
        return 0;
    known = find(run->record, path, 0);
    return known ? known->inner : 0;
}

typedef struct loading {
    struct vls_flow_record *record;
    const valise_uuid *run;
} loading;

static int load(void *arg, valise_view *view, valise_error *err)
{
    const loading *l = arg;
    vls_flow_step_row row = {.run = *l->run};
    const valise_select select = {.row = &row, .equal = 1};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_steps, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = keep_step(l->record, &row, err);
    valise_scan_close(scan);
    if (rc == 0)
        count_inner(l->record);
    return rc;
}

int vls_flow_record_find(vls_flow_step *step, const vls_flow_level *level,
                         const vls_flow_node *node, valise_str path, int64_t visit,
                         valise_error *err)
{
    const struct vls_flow_record *record = level->run->record;
    const done *d;

    if (VLS_LIKELY(!record) || record->steps.len == 0)
        return 0;
    d = find(record, path, visit);
    if (!d)
        return 0;
    *step = (vls_flow_step){.failed = d->code.ptr != NULL};
    (void)snprintf(step->action, sizeof(step->action), "%.*s", VALISE_STR_ARG(d->action));
    if (step->failed) {
        step->failure = (valise_error)VALISE_ERROR_INIT;
        step->failure.code = vls_error_of_name(d->code);
        (void)snprintf(step->failure.message, sizeof(step->failure.message), "%.*s",
                       VALISE_STR_ARG(d->error));
    }
    if (!d->next.ptr)
        return 1;
    step->next = vls_flow_find(level->flow, d->next);
    if (!step->next)
        return vls_fail(err, VALISE_E_CONFLICT,
                        "the run continued from '%.*s' to '%.*s', which the flow does not have",
                        VALISE_STR_ARG(node->path), VALISE_STR_ARG(d->next));
    return 1;
}

int64_t vls_flow_record_tick(const vls_flow_run *run)
{
    if (VLS_LIKELY(!run->record))
        return 0;
    return atomic_fetch_add_explicit(&run->record->ticks, 1, memory_order_relaxed) + 1;
}

/* What all of them say of a visit. */
static vls_flow_step_args step_of(const valise_node_run *at, int64_t visit)
{
    return (vls_flow_step_args){.run = at->run->id,
                                .number = vls_flow_record_tick(at->run),
                                .begun = at->begun,
                                .path = at->path,
                                .visit = visit,
                                .backpack = at->run->bag->id,
                                .start = at->start};
}

int vls_flow_record_step(vls_run_item *out, const valise_node_run *at, const vls_flow_step *step,
                         valise_error *err)
{
    vls_flow_step_args *args;

    if (VLS_LIKELY(!at->run->record))
        return 0;
    args = vls_arena_zalloc(at->arena, sizeof(*args));
    if (!args)
        return vls_arena_fail(at->arena, err);
    *args = step_of(at, at->visit);
    args->action = valise_str_of(step->action);
    if (step->next)
        args->next = step->next->id;
    if (step->failed) {
        args->code = valise_str_of(valise_error_name(step->failure.code));
        args->error = valise_str_of(step->failure.message);
    }
    *out = (vls_run_item){.op = &vls_op_flow_flow_step, .args = args};
    return 1;
}

int vls_flow_record_failure(vls_run_item *out, const valise_node_run *at, const valise_error *why,
                            valise_error *err)
{
    vls_flow_step_args *args;

    if (VLS_LIKELY(!at->run->record) || at->run->noted)
        return 0;
    args = vls_arena_zalloc(at->arena, sizeof(*args));
    if (!args)
        return vls_arena_fail(at->arena, err);
    *args = step_of(at, -at->visit);
    args->code = valise_str_of(valise_error_name(why->code));
    *out = (vls_run_item){.op = &vls_op_flow_flow_step, .args = args};
    at->run->noted = true;
    return 1;
}

/* ---- the run ---- */

static int run_internal(const vls_flow_run *run, const valise_op *op, void *args, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = run->actor;
    return vls_run_own(run->v, op, args, NULL, NULL, &call, err);
}

static int start(const vls_flow_run *run, const vls_flow_begin *begin, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *config = NULL;
    vls_flow_start_args args = {.run = run->id,
                                .backpack = run->bag->id,
                                .name = run->bag->name,
                                .file = vls_str_or_none(begin->file),
                                .max_steps = begin->max_steps};
    int rc = valise_flow_to_config(&config, run->flow, err);

    if (rc < 0)
        return rc;
    args.config.bytes = vls_blob_bytes(config);
    args.config.size = (int64_t)args.config.bytes.len;
    if (begin->start)
        args.start = valise_str_of(begin->start);
    if (begin->origin) {
        args.origin = *begin->origin;
        args.before = begin->before;
    }
    return run_internal(run, &vls_op_flow_flow_start, &args, err);
}

static int go_on(const vls_flow_run *run, const vls_flow_begin *begin, valise_error *err)
{
    vls_flow_continue_args args = {.run = run->id, .resumed = begin->resumed};

    return run_internal(run, &vls_op_flow_flow_continue, &args, err);
}

int vls_flow_record_begin(const valise_node_run *at, valise_error *err)
{
    char number[24];
    vls_flow_step_args args;

    if (VLS_LIKELY(!at->run->record) || !at->run->record->shared)
        return 0;
    (void)snprintf(number, sizeof(number), "%lld", (long long)at->view->who.run);
    args = step_of(at, -at->visit);
    args.action = valise_str_of(number);
    return run_internal(at->run, &vls_op_flow_flow_step, &args, err);
}

int vls_flow_record_void(const valise_node_run *at, int64_t tick, valise_error *err)
{
    vls_flow_step_args args;

    if (VLS_LIKELY(!at->run->record) || !at->level->slots[at->node->number].below)
        return 0;
    args = step_of(at, 0);
    args.begun = tick;
    return run_internal(at->run, &vls_op_flow_flow_step, &args, err);
}

/* May the actor run flows at all? Everything after it is the engine's own. */
static int check_actor(void *arg, valise_view *view, valise_error *err)
{
    (void)arg;
    return valise_view_allows(view, "flow:write", NULL, err);
}

int vls_flow_record_may(const vls_flow_run *run, valise_error *err)
{
    valise_call call = VALISE_CALL_INIT;

    call.actor = run->actor;
    return run->bag->memory ? 0 : vls_with_view(run->v, &call, check_actor, NULL, err);
}

static void free_record(struct vls_flow_record *record)
{
    if (!record)
        return;
    (void)vls_fd_close(record->lock);
    vls_map_release(&record->steps);
    vls_arena_release(&record->arena);
    vls_mem_free(record->env, record, sizeof(*record));
}

typedef struct sharing {
    struct vls_flow_record *record;
    const vls_flow_run *run;
} sharing;

static int note_other(void *arg, const vls_flow_run_row *other, valise_error *err)
{
    bool *shared = arg;

    (void)err;
    *shared = *shared || other->status == VLS_FLOW_RUNNING;
    return *shared;
}

/* Asked once this run is known to the others: of two that begin at once one sees the other. */
static int look_for_others(void *arg, valise_view *view, valise_error *err)
{
    const sharing *s = arg;
    const vls_flow_run_row row = {.id = s->run->id, .backpack = s->run->bag->id};

    return vls_flow_each_other(view, &row, note_other, &s->record->shared, err);
}

static int fill_record(struct vls_flow_record *record, vls_flow_run *run,
                       const vls_flow_begin *begin, valise_error *err)
{
    loading l = {record, &run->id};
    valise_call call = VALISE_CALL_INIT;
    int rc = 0;

    call.actor = run->actor;
    if (begin->lock)
        record->lock = vls_fd_take(begin->lock);
    else
        rc = vls_flow_lock(&record->lock, run->v, &run->id, err);
    if (rc == 0 && !begin->aside)
        rc = begin->resume ? go_on(run, begin, err) : start(run, begin, err);
    if (rc == 0 && (begin->resume || begin->origin))
        rc = vls_with_view(run->v, &call, load, &l, err);
    if (rc == 0)
        rc = vls_with_view(run->v, &call, look_for_others, &(sharing){record, run}, err);
    return rc;
}

int vls_flow_record_open(vls_flow_run *run, const vls_flow_begin *begin, valise_error *err)
{
    struct vls_flow_record *record;
    int rc;

    if (run->bag->memory)
        return 0;
    record = vls_mem_zalloc(run->env, sizeof(*record));
    if (!record)
        return vls_fail_memory(err);
    record->env = run->env;
    record->lock = -1;
    record->seed = (uint64_t)(uintptr_t)record;
    vls_arena_init(&record->arena, run->env, STEPS_MEMORY_MAX);
    vls_map_init(&record->steps, run->env, is_wanted);
    rc = fill_record(record, run, begin, err);
    if (rc < 0)
        free_record(record);
    else
        run->record = record;
    return rc;
}

static valise_str last_node(const vls_flow_run *run)
{
    if (run->blamed || run->walked == 0)
        return vls_str_or_none(valise_str_of(run->last));
    return valise_str_of(run->visited[(size_t)(run->walked - 1) % VLS_COUNT(run->visited)]);
}

int vls_flow_record_close(vls_flow_run *run, int code, const valise_error *why, valise_error *err)
{
    vls_flow_end_args args = {.run = run->id,
                              .status = code == 0                    ? VLS_FLOW_DONE
                                        : code == VALISE_E_CANCELLED ? VLS_FLOW_CANCELLED
                                                                     : VLS_FLOW_FAILED,
                              .steps = atomic_load_explicit(&run->steps, memory_order_relaxed),
                              .action = vls_str_or_none(valise_str_of(run->action)),
                              .node = last_node(run)};
    int rc;

    if (!run->record)
        return 0;
    if (code < 0) {
        args.code = valise_str_of(valise_error_name(code));
        args.error = vls_str_or_none(valise_str_of(why->message));
    }
    rc = run_internal(run, &vls_op_flow_flow_end, &args, err);
    free_record(run->record);
    run->record = NULL;
    return rc;
}
