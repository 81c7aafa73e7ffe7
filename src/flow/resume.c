/* resume.c -- a run as it was recorded, its flow, and going on with it; valise_flow_resume. See
 * resume.h. */
#include "flow/resume.h"

#include "backpack/handle.h"
#include "base/fd.h"
#include "base/sized.h"
#include "base/text.h"
#include "flow/record.h"
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
    reading *r = arg;
    vls_flow_past *out = r->out;
    valise_str config;
    int rc = valise_view_allows(view, "flow:read", NULL, err);

    if (rc == 0)
        rc = vls_flow_find_run(&out->run, view, r->run, err);
    if (rc == 0)
        rc = copy_row(&out->run, r->arena, err);
    if (rc == 0 && vls_id_is_none(&out->run.config))
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

/* ---- taking hold ---- */

static int check_over(const vls_flow_past *past, valise_error *err)
{
    if (past->run.status != VLS_FLOW_DONE)
        return 0;
    (void)vls_fail(err, VALISE_E_INVALID, "the run %s has ended", vls_uuid_text(&past->run.id).s);
    vls_hint(err, "'valise flow rerun %.*s --from NODE' repeats it from a node on",
             VALISE_STR_ARG(vls_str_head(past->name, 100)));
    return VALISE_E_INVALID;
}

int vls_flow_past_hold(vls_flow_past *out, int *lock, vls_arena *arena, valise *v, valise_str actor,
                       valise_str run, valise_error *err)
{
    int rc = vls_flow_past_read(out, arena, v, actor, run, err);

    if (rc == 0)
        rc = check_over(out, err);
    if (rc == 0)
        rc = vls_flow_lock(lock, v, &out->run.id, err);
    if (rc == 0) /* whoever had the lock may have finished it */
        rc = vls_flow_past_read(out, arena, v, actor, valise_str_of(vls_uuid_text(&out->run.id).s),
                                err);
    return rc < 0 ? rc : check_over(out, err);
}

/* ---- its flow ---- */

/* Is the text of a file the flow of the run? */
static int is_same(const valise_env *env, valise_str text, valise_str config, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *canonical = NULL;
    int rc = vls_json_canonical(&canonical, env, text, err);

    return rc < 0 ? rc : vls_str_equal(vls_blob_bytes(canonical), config);
}

static int fail_other(const char *what, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_CONFLICT, "%s is not the flow that the run was started with",
                   what);
    vls_hint(
        err,
        "resume a rerun with its own --param again; start another flow with 'valise flow run'");
    return VALISE_E_CONFLICT;
}

int vls_flow_past_text(vls_flow_text *out, vls_arena *arena, const valise *v,
                       const vls_flow_past *past, valise_str file, valise_list params,
                       valise_error *err)
{
    const bool must = file.ptr || params.count > 0;
    vls_flow_text text;
    int rc;

    *out = (vls_flow_text){.text = past->config, .untrusted = VALISE_ERROR_INIT};
    file = file.ptr ? file : past->run.file;
    if (!file.ptr)
        return params.count > 0 ? fail_other("the flow with these params", err) : 0;
    rc = vls_flow_text_read(&text, arena, v, file, must ? err : NULL);
    if (rc == 0)
        rc = vls_flow_text_set_params(&text, arena, v, params, err);
    if (rc == 0)
        rc = is_same(v->env, text.text, past->config, must ? err : NULL);
    if (rc == 0 && must)
        return fail_other(vls_text_short(file).s, err);
    if (rc < 0 && must)
        return rc;
    if (rc > 0)
        *out = text;
    return rc > 0 ? 0 : vls_flow_text_place(out, arena, file, err);
}

/* ---- going on ---- */

static int open_bag(valise_backpack **out, valise *v, valise_str actor, const vls_flow_past *past,
                    valise_error *err)
{
    valise_backpack_options options = VALISE_BACKPACK_OPTIONS_INIT;

    options.flags = VALISE_BACKPACK_DURABLE | VALISE_BACKPACK_WRITE_BEHIND | VALISE_BACKPACK_KNOWN;
    options.actor = actor;
    return valise_backpack_open(out, v, past->name.ptr, &options, err);
}

int vls_flow_go_on(vls_flow_begin *begin, vls_flow_past *past, int *lock, vls_arena *arena,
                   valise_str actor, valise_error *err)
{
    valise *v = begin->flow->v;
    int rc = vls_flow_link(begin->flow, NULL, err); /* before anything is changed */

    if (rc == 0)
        rc = vls_flow_rewind(&begin->aside, past, arena, v, actor, err);
    if (rc == 0)
        rc = open_bag(&begin->bag, v, actor, past, err);
    begin->resume = &past->run.id;
    begin->resumed = past->run.resumed;
    begin->lock = lock;
    begin->start = past->run.start.ptr;
    if (begin->max_steps == 0)
        begin->max_steps = past->run.max_steps;
    return rc;
}

/* ---- the public function ---- */

#define MEMORY_MAX ((size_t)1 << 30)

static int check_flow(valise_flow *flow, const vls_flow_past *past, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *config = NULL;
    int rc = valise_flow_to_config(&config, flow, err);

    if (rc < 0 || vls_str_equal(vls_blob_bytes(config), past->config))
        return rc;
    return fail_other("this", err);
}

int valise_flow_resume(valise_flow_result *result, valise_flow *flow, const char *run,
                       const valise_flow_resume_options *options, valise_error *err)
{
    valise_flow_resume_options o = VALISE_FLOW_RESUME_OPTIONS_INIT;
    VLS_AUTO(arena) vls_arena arena = {.env = NULL};
    VLS_AUTO(fd) int lock = -1;
    vls_flow_past past = {.last = 0};
    vls_flow_begin begin = {.flow = flow};
    int rc;

    VLS_ARG(flow && !flow->outer && run, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_flow_resume_options, max_steps),
                        "valise_flow_resume_options", err);
    if (rc == 0 && result)
        rc =
            vls_sized_check(result, offsetof(valise_flow_result, steps), "valise_flow_result", err);
    if (rc == 0 && o.max_steps < 0)
        rc = vls_fail(err, VALISE_E_INVALID, "max_steps must not be negative");
    if (rc < 0)
        return rc;
    vls_arena_init(&arena, flow->v->env, MEMORY_MAX);
    rc = vls_flow_past_hold(&past, &lock, &arena, flow->v, o.actor, valise_str_of(run), err);
    if (rc == 0)
        rc = check_flow(flow, &past, err);
    begin.max_steps = o.max_steps;
    begin.progress = o.progress;
    if (rc == 0)
        rc = vls_flow_go_on(&begin, &past, &lock, &arena, o.actor, err);
    if (rc == 0)
        rc = vls_flow_run_begin(result, &begin, err);
    valise_backpack_close(begin.bag);
    return rc;
}
