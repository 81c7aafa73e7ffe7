/* make.c -- a policy makes a frame of its inputs. */
#include "base/text.h"
#include "derive/making.h"
#include "derive/program.h"
#include "derive/run_impl.h"
#include "field/field.h"
#include "json/json.h"
#include "store/view.h"

typedef struct reading {
    vls_run_state *r;
    valise_str dir;
    const vls_inputs *inputs;
    vls_view_mark mark;
} reading;

/* What was made in this run may not be stored yet. */
static const vls_made *find_pending(const reading *from, const vls_recipe_input *input)
{
    vls_run_child_path room;
    const vls_made *made;

    if (!input->shown.directory)
        return NULL;
    made = vls_run_ahead(from->r, vls_run_child(&room, from->dir, input->shown.name),
                         input->shown.type);
    return made && made->pending ? made : NULL;
}

static int content(valise_str *out, void *self, size_t i, valise_error *err)
{
    reading *from = self;
    const vls_recipe_input *input = &from->inputs->items[i];
    const vls_made *made = find_pending(from, input);

    if (made) {
        *out = vls_buf_str(&made->content);
        return 0;
    }
    vls_view_rewind(from->r->view, from->mark); /* the one before is not needed any more */
    return valise_view_object(out, from->r->view, &input->content, err);
}

static int read_params(void **out, const valise_policy *policy, valise_str json, vls_arena *arena,
                       valise_error *err)
{
    vls_json value;
    int rc;

    *out = NULL;
    if (!policy->params)
        return json.ptr
                   ? vls_fail(err, VALISE_E_INVALID, "policy %s takes no parameters", policy->name)
                   : 0;
    *out = vls_arena_zalloc(arena, policy->params_size);
    if (!*out)
        return vls_arena_fail(arena, err);
    rc = vls_json_parse(&value, arena, json.ptr ? json : VLS_STR("{}"), NULL, err);
    if (rc == 0)
        rc = vls_fields_decode(*out, policy->params, policy->params_size, value, VLS_FIELD_INPUT,
                               arena, err);
    return rc < 0 || !policy->check ? rc : policy->check(*out, err);
}

static const valise_policy_input *list_inputs(const vls_inputs *inputs, vls_arena *arena)
{
    valise_policy_input *list = vls_arena_array(arena, VLS_MAX(inputs->count, 1), sizeof(*list));

    for (size_t i = 0; list && i < inputs->count; i++)
        list[i] = inputs->items[i].shown;
    return list;
}

int vls_run_input(vls_buf *out, vls_run_state *r, valise_str dir, const vls_recipe *recipe,
                  const vls_inputs *inputs, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    reading from = {r, dir, inputs, vls_view_here(r->view)};
    valise_making making = {.count = inputs->count,
                            .is_empty = inputs->is_empty,
                            .content = content,
                            .self = &from,
                            .arena = &arena};
    int rc;

    vls_arena_init(&arena, r->env, (size_t)1 << 30);
    making.inputs = list_inputs(inputs, &arena);
    if (!making.inputs)
        return vls_arena_fail(&arena, err);
    rc = vls_program_input(out, &making, recipe->params, err);
    vls_view_rewind(r->view, from.mark);
    return rc != VALISE_E_TOO_LARGE
               ? rc
               : vls_fail(err, rc,
                          "the frames in '%s' have more than %zu bytes, too many for a program",
                          dir.len > 0 ? vls_text_short(dir).s : ".", out->max);
}

int vls_run_make(vls_buf *out, vls_run_state *r, valise_str dir, const vls_recipe *recipe,
                 const vls_inputs *inputs, valise_error *err)
{
    const valise_policy *policy = vls_registry_policy(r->v->registry, recipe->policy);
    VLS_AUTO(arena) vls_arena arena = {0};
    reading from = {r, dir, inputs, vls_view_here(r->view)};
    valise_making making = {.count = inputs->count,
                            .is_empty = inputs->is_empty,
                            .content = content,
                            .self = &from,
                            .arena = &arena,
                            .out = out};
    void *params;
    int rc;

    vls_arena_init(&arena, r->env, (size_t)1 << 30);
    making.inputs = list_inputs(inputs, &arena);
    if (!making.inputs)
        return vls_arena_fail(&arena, err);
    rc = read_params(&params, policy, recipe->params, &arena, err);
    if (rc == 0)
        rc = policy->make(&making, params, err);
    if (rc == 0)
        rc = vls_buf_check(out, err);
    vls_view_rewind(r->view, from.mark);
    return rc;
}
