/* begin.c -- see begin.h; and valise_flow_run. */
#include "flow/begin.h"

#include "backpack/ops.h"
#include "base/sized.h"
#include "base/text.h"
#include "base/uuid.h"
#include "flow/record.h"

/* ---- the first items ---- */

/* Before the run is recorded: where there is a run, there are its items. */
static int pack_items(const vls_flow_run *run, valise_str items, valise_error *err)
{
    int rc;

    if (items.len == 0)
        return 0;
    rc = vls_handle_pack_first(run->bag, items, err);
    return rc < 0 || run->bag->memory ? rc : valise_backpack_flush(run->bag, err);
}

/* ---- one run ---- */

static int check_bag(const valise_flow *flow, valise_backpack *bag, valise_error *err)
{
    int rc = vls_handle_check(&bag, 1, err);

    if (rc < 0)
        return rc;
    if (bag->v != flow->v)
        return vls_fail(err, VALISE_E_INVALID, "the backpack '%.*s' belongs to another workspace",
                        VALISE_STR_ARG(bag->name));
    if (bag->node) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "a flow must run on a backpack, and this is the view of node '%.*s'",
                       VALISE_STR_ARG(bag->who.node));
        vls_hint(err, "pass the handle that the view was made from, or use valise_node_run_flow");
        return VALISE_E_INVALID;
    }
    return 0;
}

static int find_start(const vls_flow_node **out, const vls_flow_begin *begin, valise_error *err)
{
    const vls_flow_node *node;

    if (!begin->start)
        return 0;
    node = vls_flow_find(begin->flow, valise_str_of(begin->start));
    if (!node)
        return vls_fail(err, VALISE_E_NOT_FOUND, "the flow has no node '%s' to start with",
                        vls_text_short(valise_str_of(begin->start)).s);
    *out = node;
    return 0;
}

static int64_t steps_of(const vls_flow_begin *begin)
{
    if (begin->max_steps > 0)
        return begin->max_steps;
    return begin->flow->max_steps > 0 ? begin->flow->max_steps : VLS_FLOW_STEPS_MAX;
}

static int name_run(vls_flow_run *run, const vls_flow_begin *begin, valise_error *err)
{
    int rc = 0;

    if (begin->resume)
        run->id = *begin->resume;
    else
        rc = vls_uuid_new(&run->id, &run->v->ids, err);
    run->id_text = vls_uuid_text(&run->id);
    return rc;
}

static void fill(valise_flow_result *result, const vls_flow_run *run, const char *aside)
{
    valise_flow_result made = VALISE_FLOW_RESULT_INIT;
    const char *last = run->last;

    if (!result)
        return;
    if (!run->blamed && run->walked > 0)
        last = run->visited[(size_t)(run->walked - 1) % VLS_COUNT(run->visited)];
    made.run = run->id;
    made.steps = atomic_load_explicit(&run->steps, memory_order_relaxed);
    (void)snprintf(made.action, sizeof(made.action), "%s", run->action);
    (void)snprintf(made.node, sizeof(made.node), "%s", last);
    (void)snprintf(made.aside, sizeof(made.aside), "%s", aside ? aside : "");
    vls_sized_give(result, &made, sizeof(made));
}

/* The last call says how many nodes ran; that it is to end comes too late. */
static void tell_progress(vls_flow_run *run)
{
    vls_progress *p = &run->progress;
    int rc;

    p->state.done = (uint64_t)atomic_load_explicit(&run->steps, memory_order_relaxed);
    rc = vls_progress_end(p, NULL);
    (void)rc;
}

static int run_it(vls_flow_run *run, const vls_flow_begin *begin, valise_error *err)
{
    const vls_flow_node *start = NULL;
    valise_error why = VALISE_ERROR_INIT;
    int rc = find_start(&start, begin, err), kept;

    if (rc == 0)
        rc = vls_flow_record_may(run, err);
    if (rc == 0)
        rc = pack_items(run, begin->items, err);
    if (rc == 0)
        rc = vls_flow_record_open(run, begin, err);
    if (rc < 0)
        return rc;
    if (begin->aside)
        vls_flow_warn(run, NULL, "what the interrupted node had written is in the backpack %s",
                      begin->aside);
    rc = vls_flow_run_all(run, start, &why);
    tell_progress(run);
    kept = vls_flow_record_close(run, rc, &why, rc < 0 ? NULL : &why);
    if (rc == 0)
        rc = kept;
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int vls_flow_run_begin(valise_flow_result *result, const vls_flow_begin *begin, valise_error *err)
{
    vls_flow_run run;
    int rc = vls_flow_link(begin->flow, NULL, err);

    if (rc == 0)
        rc = check_bag(begin->flow, begin->bag, err);
    if (rc < 0)
        return rc;
    vls_flow_run_init(&run, begin->flow, begin->bag);
    vls_progress_init(&run.progress, run.env, &begin->progress);
    vls_progress_begin(&run.progress, "flow", "nodes", 0);
    run.actor = begin->bag->actor;
    run.max_steps = steps_of(begin);
    run.programs = begin->flow->flags & VALISE_FLOW_PROGRAMS;
    rc = name_run(&run, begin, err);
    if (rc == 0)
        rc = run_it(&run, begin, err);
    fill(result, &run, begin->aside);
    vls_flow_run_release(&run);
    return rc;
}

/* ---- the public function ---- */

/* A snapshot cannot be changed: the run goes on from a fork of it. */
static int fork_snapshot(valise_backpack **fork, valise_backpack *bag, valise_error *err)
{
    char name[VLS_BAG_NAME_MAX + 1];
    valise_uuid id;
    vls_uuid_string text;
    int rc = vls_uuid_new(&id, &bag->v->ids, err);

    if (rc < 0)
        return rc;
    text = vls_uuid_text(&id);
    (void)snprintf(name, sizeof(name), "%.*s-%s",
                   VALISE_STR_ARG(vls_str_head(bag->name, VLS_BAG_NAME_MAX - 9)),
                   text.s + strlen(text.s) - 8);
    return valise_backpack_fork(fork, bag, name, NULL, err);
}

int valise_flow_run(valise_flow_result *result, valise_backpack **fork, valise_flow *flow,
                    valise_backpack *bag, const valise_flow_run_options *options, valise_error *err)
{
    valise_flow_run_options o = VALISE_FLOW_RUN_OPTIONS_INIT;
    vls_flow_begin begin = {.flow = flow};
    int rc;

    VLS_ARG(flow && !flow->outer, err);
    if (!bag && !flow->bag)
        return vls_fail(err, VALISE_E_INVALID, "a flow needs a backpack to run on, and has none");
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_flow_run_options, items),
                        "valise_flow_run_options", err);
    if (rc == 0 && result)
        rc =
            vls_sized_check(result, offsetof(valise_flow_result, steps), "valise_flow_result", err);
    if (rc < 0)
        return rc;
    begin.bag = bag ? bag : flow->bag;
    begin.start = o.start;
    begin.items = o.items ? valise_str_of(o.items) : VLS_STR("");
    begin.max_steps = o.max_steps;
    begin.progress = o.progress;
    if (o.max_steps < 0)
        return vls_fail(err, VALISE_E_INVALID, "max_steps must not be negative");
    if (begin.bag->snapshot) {
        VLS_ARG(fork, err);
        rc = fork_snapshot(&begin.bag, begin.bag, err);
        if (rc == 0)
            *fork = begin.bag;
    }
    return rc < 0 ? rc : vls_flow_run_begin(result, &begin, err);
}
