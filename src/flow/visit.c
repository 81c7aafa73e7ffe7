/* visit.c -- one run of one node.
 *
 *     view      a run of the node starts on the backpack
 *     inputs    what its contract wants, with defaults
 *     prep      -> PREP_COMPLETE
 *     exec      again and again, as often as the configuration says -> ERROR; EXEC_COMPLETE
 *     post
 *     outputs   what its contract promises
 *     route     the next node, and what the edge carries over
 *     end       the run of the node is over; with a record, what came of it, in one transaction
 */
#include <errno.h>
#include <time.h>

#include "base/text.h"
#include "base/time.h"
#include "flow/level.h"
#include "flow/record.h"

#define SLICE_NS INT64_C(20000000) /* of a wait, between two looks */

const char *const vls_phases[] = {"inputs", "prep", "exec", "post", "route", "end"};

static int64_t ticks(const valise_node_run *at)
{
    return at->run->env->ticks_ns(at->run->env->self);
}

/* ---- time ---- */

/* The time of a node is that of all that runs inside of it. */
static int fail_late(const valise_node_run *at, bool around, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_LIMIT, "%s%s%s took longer than its timeout of %lld ms",
                   around ? "'" : "it", around ? vls_text_short(at->path).s : "",
                   around ? "', which it is part of," : "",
                   (long long)(at->node->timeout_ns / 1000000));
    vls_hint(err, "set a longer `timeout` in its configuration");
    return VALISE_E_LIMIT;
}

int vls_node_look(void *self, valise_error *err)
{
    const valise_node_run *at = self;
    int rc = vls_flow_run_look(at->run, err);

    for (; at && rc == 0; at = at->level->above) {
        if (VLS_UNLIKELY(at->deadline_ns != VALISE_NONE) && at->deadline_ns <= ticks(at))
            rc = fail_late(at, at != self, err);
    }
    return rc;
}

static void begin_phase(valise_node_run *at, int phase)
{
    at->phase = phase;
    if (VLS_UNLIKELY(at->node->timeout_ns != VALISE_NONE))
        at->deadline_ns = vls_deadline_ns(at->run->env, at->node->timeout_ns);
}

/* ---- the view ---- */

/* Attempts of nodes around it are taken back with what was written inside of them. An element of a
 * map writes elsewhere, which is gone by then. */
static valise_node_run *around(const valise_node_run *at)
{
    valise_node_run *above = at->level->above;

    while (above && above->run == at->run && !above->node->quarantine)
        above = above->level->above;
    return above && above->run == at->run ? above : NULL;
}

static void note(void *self, valise_str key, int64_t action, int64_t outcome)
{
    vls_touch seen = {.action = action, .outcome = outcome};

    for (valise_node_run *at = self; at; at = around(at)) {
        /* What does not fit into memory is missing in an event; `unseen` says so to the others. */
        if (vls_arena_dup(&seen.key, at->arena, key, NULL) < 0 ||
            !vls_vec_push_in(&at->seen, at->arena, seen))
            at->unseen = true;
        seen.inside = true;
    }
}

static int make_view(vls_flow_slot *slot, const vls_flow_level *level, const vls_flow_node *node,
                     valise_error *err)
{
    const valise_node who = {.size = sizeof(who),
                             .id = slot->path,
                             .name = valise_str_of(node->type->name),
                             .namespace_name = slot->namespace_name,
                             .permissions =
                                 node->permissions ? node->permissions : node->type->permissions};

    return vls_handle_node(&slot->view, level->run->bag, &who, err);
}

static int begin(valise_node_run *at, vls_flow_slot *slot, valise_error *err)
{
    const vls_flow_run *run = at->run;
    int rc = slot->view ? 0 : make_view(slot, at->level, at->node, err);

    if (rc == 0)
        rc = vls_handle_begin_run(slot->view, err);
    if (rc < 0)
        return rc;
    at->view = slot->view;
    if (run->watches || at->node->quarantine || around(at))
        vls_handle_watch(at->view, note, at);
    return 0;
}

/* ---- params ---- */

static int resolve(valise_node_run *at, valise_error *err)
{
    const valise_node_type *type = at->node->type;
    void *values;
    int rc;

    at->params = at->node->params;
    at->values = at->node->values;
    if (VLS_LIKELY(!at->node->has_references))
        return 0;
    at->secrets.arena = at->arena;
    rc = vls_node_may_resolve(at, err);
    if (rc == 0)
        rc = vls_references_resolve(&at->params, at->arena, at->node->params, at->run->v,
                                    &at->secrets, err);
    if (rc < 0 || !type->params)
        return rc;
    values = vls_arena_zalloc(at->arena, type->params_size);
    if (!values)
        return vls_arena_fail(at->arena, err);
    at->values = values;
    return vls_fields_decode(values, type->params, type->params_size, at->params, VLS_FIELD_INPUT,
                             at->arena, err);
}

/* ---- exec ---- */

/* A random part, so that those who failed together do not come again together. */
static int64_t jitter(const valise_node_run *at, int64_t ns)
{
    const valise_env *env = at->run->env;
    uint32_t random = 0;

    if (env->random(env->self, &random, sizeof(random)) < 0)
        return ns;
    return ns / 2 + (int64_t)((double)ns / 2 * ((double)random / (double)UINT32_MAX));
}

static int64_t wait_of(const valise_node_run *at)
{
    const vls_flow_node *node = at->node;
    int64_t ns = node->wait_ns;

    if (!node->exponential || ns <= 0)
        return ns;
    for (int64_t i = 1; i < at->attempt && ns < node->max_wait_ns; i++)
        ns *= 2;
    return jitter(at, VLS_MIN(ns, node->max_wait_ns));
}

/* Between two tries the time of the node does not count, but that of those around it does. */
static int look_around(const valise_node_run *at, valise_error *err)
{
    int rc = vls_flow_run_look(at->run, err);

    for (at = at->level->above; at && rc == 0; at = at->level->above) {
        if (at->deadline_ns != VALISE_NONE && at->deadline_ns <= ticks(at))
            rc = fail_late(at, true, err);
    }
    return rc;
}

/* The run may be cancelled meanwhile. */
static int wait_for_next(valise_node_run *at, valise_error *err)
{
    int64_t until = ticks(at) + wait_of(at);
    int rc = look_around(at, err);

    while (rc == 0) {
        int64_t left = until - ticks(at), ns = VLS_MIN(left, SLICE_NS);
        struct timespec slice = {.tv_nsec = (long)ns};

        if (left <= 0)
            break;
        (void)nanosleep(&slice, NULL);
        rc = look_around(at, err);
    }
    return rc;
}

/* What a node says of its failure, put right: there is a message, and its code is the one that was
 * returned. */
static int hear(int rc, valise_error *err)
{
    if (rc >= 0)
        return 0;
    if (vls_error_of_name(valise_str_of(valise_error_name(rc))) != rc)
        rc = VALISE_E_INVALID; /* no code at all */
    if (err->code == 0)
        return vls_fail(err, rc, "it failed without saying why");
    err->code = rc;
    return rc;
}

/* A function of the node, in time. What was left in err before is nothing that it says. */
static int call(valise_node_run *at, int phase, valise_node_fn *fn, valise_error *err)
{
    int rc;

    begin_phase(at, phase);
    if (!fn)
        return 0;
    vls_error_clear(err);
    rc = hear(fn(at->node->self, at, err), err);
    return rc < 0 ? rc : vls_node_look(at, err);
}

/* Where an attempt begins, or what else may fail. */
typedef struct starting {
    int64_t seq, tick;
    size_t seen;
} starting;

static int start_here(starting *out, const valise_node_run *at, valise_error *err)
{
    *out = (starting){.seen = at->seen.len, .tick = vls_flow_record_tick(at->run)};
    return at->node->quarantine ? vls_flow_seq(&out->seq, at->run, err) : 0;
}

/* What was written since goes out of the state, for this error. */
static int take_back(valise_node_run *at, const starting *from, const valise_error *why,
                     valise_error *err)
{
    if (!at->node->quarantine)
        return 0;
    return at->unseen ? vls_fail_memory(err)
                      : vls_flow_quarantine(at, from->seq, from->seen, why, err);
}

/* Something that is not tried again came to this. */
static int end_here(valise_node_run *at, const starting *from, int rc, valise_error *err)
{
    valise_error why;
    int cleaned;

    if (rc >= 0 || rc == VALISE_E_NO_MEMORY)
        return rc;
    vls_secrets_hide(&at->secrets, err);
    why = *err;
    cleaned = take_back(at, from, &why, err);
    if (cleaned < 0)
        return cleaned;
    *err = why;
    return rc;
}

/* The last try, with time of its own. */
static int fall_back(valise_node_run *at, valise_error *err)
{
    const valise_error why = *err;
    starting from;
    int rc;

    vls_error_clear(err);
    at->told = false;
    rc = start_here(&from, at, err);
    if (rc < 0)
        return rc;
    begin_phase(at, VLS_PHASE_EXEC);
    rc = hear(at->node->type->exec_fallback(at->node->self, at, &why, err), err);
    return end_here(at, &from, rc, err);
}

/* An attempt failed: tell, and clean up. */
static int after_failure(valise_node_run *at, const starting *from, bool last, valise_error *err)
{
    valise_error why;
    int rc = 0;

    vls_secrets_hide(&at->secrets, err);
    vls_flow_tell_error(at, err, !last);
    at->told = last;
    if (err->code == VALISE_E_NO_MEMORY)
        return 0;
    why = *err;
    if (!last)
        rc = vls_flow_record_void(at, from->tick, err);
    if (rc == 0)
        rc = take_back(at, from, &why, err);
    if (rc == 0)
        *err = why;
    else
        at->told = false;
    return rc;
}

/* One more attempt. 1: there may be another one. */
static int attempt(valise_node_run *at, bool last, valise_error *err)
{
    starting from;
    int rc = start_here(&from, at, err), cleaned;

    if (rc < 0)
        return rc;
    at->run->blamed = at->run->noted = false;
    rc = call(at, VLS_PHASE_EXEC, at->node->type->exec, err);
    if (rc == 0)
        return 0;
    last = last || vls_flow_is_final(rc);
    cleaned = after_failure(at, &from, last, err);
    if (cleaned < 0)
        return cleaned;
    if (last)
        return at->node->type->exec_fallback && !vls_flow_is_final(rc) ? fall_back(at, err) : rc;
    rc = wait_for_next(at, err);
    return rc < 0 ? rc : 1;
}

static int exec(valise_node_run *at, valise_error *err)
{
    const valise_str chosen = at->action;
    int64_t began = at->run->watches ? ticks(at) : 0;
    int rc = 1;

    if (!at->node->type->exec)
        return 0;
    while (rc > 0) {
        at->action = chosen;
        at->attempt++;
        rc = attempt(at, at->attempt > at->node->retries, err);
    }
    if (rc == 0)
        vls_flow_tell_exec(at, at->run->watches ? ticks(at) - began : 0);
    return rc;
}

/* ---- phases ---- */

/* What the node chose and packed at the end, and where that leads. */
static int leave_node(vls_flow_step *step, valise_node_run *at, valise_error *err)
{
    int rc = call(at, VLS_PHASE_POST, at->node->type->post, err);

    if (rc == 0)
        rc = vls_flow_check_outputs(at, err);
    at->phase = rc == 0 ? VLS_PHASE_ROUTE : at->phase;
    return rc < 0 ? rc : vls_flow_route(step, at, err);
}

static int run_phases(vls_flow_step *step, valise_node_run *at, valise_error *err)
{
    starting from;
    int rc = resolve(at, err);

    if (rc == 0)
        rc = vls_flow_check_inputs(at, err);
    if (rc == 0)
        rc = call(at, VLS_PHASE_PREP, at->node->type->prep, err);
    if (rc == 0)
        vls_flow_tell_prep(at, at->run->watches ? ticks(at) - at->start_ns : 0);
    if (rc == 0)
        rc = exec(at, err);
    if (rc == 0)
        rc = start_here(&from, at, err);
    if (rc < 0)
        return rc;
    rc = leave_node(step, at, err);
    return end_here(at, &from, rc, err);
}

/* ---- failures ---- */

/* Which node it was stands in front of what the deepest one said. */
static void blame(const valise_node_run *at, valise_error *err)
{
    valise_error said;

    vls_secrets_hide(&at->secrets, err);
    if (at->run->blamed)
        return;
    at->run->blamed = true;
    (void)snprintf(at->run->last, sizeof(at->run->last), "%.*s", VALISE_STR_ARG(at->path));
    if (err->code == VALISE_E_CANCELLED)
        return;
    said = *err;
    vls_report(err, said.code, said.offset, "node '%s': %s", vls_text_short(at->path).s,
               said.message);
    memcpy(err->path, said.path, sizeof(err->path));
    memcpy(err->hint, said.hint, sizeof(err->hint));
}

/* The node around hears of the error, and with it of what this one has read. */
static int mark_above(valise_node_run *at, valise_error *err)
{
    valise_list marks = {NULL, 0};
    int rc = at->level->above ? vls_handle_marks(&marks, at->view, at->arena, err) : 0;

    return rc < 0 || marks.count == 0 ? rc : vls_handle_mark(at->level->above->view, marks, err);
}

/* Where it cannot be marked, it does not hear of the error but of that. */
static int mark_failure(valise_node_run *at, int rc, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int marked = vls_flow_is_final(rc) ? 0 : mark_above(at, &why);

    if (marked < 0 && err)
        *err = why;
    return marked < 0 ? marked : rc;
}

static void tell_failure(valise_node_run *at, valise_error *err)
{
    if (!at->told)
        vls_flow_tell_error(at, err, false);
    blame(at, err);
}

/* Does an edge take it? */
static int settle(vls_flow_step *step, valise_node_run *at, int rc, valise_error *err)
{
    const vls_flow_edge *edge = vls_flow_is_final(rc) ? NULL : vls_flow_error_edge(at->node);

    vls_secrets_hide(&at->secrets, err);
    tell_failure(at, err);
    if (!edge)
        return mark_failure(at, rc, err);
    at->run->blamed = at->run->noted = at->told = false;
    *step = (vls_flow_step){.next = edge->target, .failed = true, .failure = *err};
    memcpy(step->action, "error", sizeof("error"));
    vls_error_clear(err);
    at->phase = VLS_PHASE_ROUTE;
    rc = vls_flow_carry(at, edge, err);
    if (rc < 0)
        tell_failure(at, err);
    return rc;
}

/* ---- all of it ---- */

/* Whatever came of it, the run of the node ends; what it packed is kept. */
static int end(valise_node_run *at, const vls_flow_step *step, int rc, valise_error *err)
{
    vls_run_item item;
    valise_error other = VALISE_ERROR_INIT;
    int noted = rc < 0 ? vls_flow_record_failure(&item, at, err, &other)
                       : vls_flow_record_step(&item, at, step, err);
    int ended;

    vls_handle_watch(at->view, NULL, NULL);
    ended = vls_handle_end_run_with(at->view, &item, noted > 0 ? 1 : 0, &other);
    if (rc == 0 && noted < 0)
        return noted;
    if (rc == 0 && ended < 0)
        *err = other;
    return rc < 0 ? rc : ended;
}

/* Who heard that it begins hears that it is over, however that came. */
static int end_and_tell(valise_node_run *at, const vls_flow_step *step, int rc, valise_error *err)
{
    const bool was_done = rc == 0;

    rc = end(at, step, rc, err);
    if (rc < 0 && was_done) {
        at->phase = VLS_PHASE_END;
        at->told = false;
        tell_failure(at, err);
    }
    vls_flow_tell_node_end(at, rc < 0 ? NULL : step,
                           at->run->watches ? ticks(at) - at->start_ns : 0);
    return rc;
}

/* A run that could not be begun or ended in full goes with its view, which the next visit makes
 * anew: nodes around it may try again. */
static void leave(vls_flow_slot *slot)
{
    if (VLS_LIKELY(!slot->view || slot->view->who.run == 0))
        return;
    vls_handle_watch(slot->view, NULL, NULL);
    valise_backpack_close(slot->view);
    slot->view = NULL;
}

int vls_flow_visit(vls_flow_step *step, vls_flow_level *level, const vls_flow_node *node,
                   const valise_error *failure, valise_error *err)
{
    vls_flow_slot *slot = &level->slots[node->number];
    valise_node_run at;
    int rc;

    /* Not all of it is to be cleared: this is called for each step. */
    memset(&at, 0, sizeof(at));
    vls_arena_reset(&level->arena);
    at.run = level->run;
    at.level = level;
    at.node = node;
    at.path = slot->path;
    at.namespace_name = slot->namespace_name;
    at.visit = ++*slot->visits;
    at.arena = &level->arena;
    at.deadline_ns = VALISE_NONE;
    at.failure = failure;
    *step = (vls_flow_step){.next = NULL};
    if (at.run->watches)
        at.start_ns = ticks(&at);
    at.begun = vls_flow_record_tick(at.run);
    rc = at.run->record ? vls_flow_seq(&at.start, at.run, err) : 0;
    if (rc == 0)
        rc = begin(&at, slot, err);
    if (rc == 0)
        rc = vls_flow_record_begin(&at, err);
    if (rc < 0) {
        blame(&at, err);
        leave(slot);
        return rc;
    }
    vls_flow_tell_node_start(&at);
    rc = run_phases(step, &at, err);
    if (rc < 0)
        rc = settle(step, &at, rc, err);
    rc = end_and_tell(&at, step, rc, err);
    leave(slot);
    if (rc == 0)
        at.run->blamed = at.run->noted = false; /* of what failed in it, and did not matter */
    return rc;
}
