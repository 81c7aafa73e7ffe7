/* slot.c -- what becomes of one slot in a run. Start reading at vls_run_slot. */
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "context/doubt.h"
#include "context/slot.h"
#include "derive/program.h"
#include "derive/run_impl.h"
#include "store/object.h"
#include "store/store.h"
#include "store/view.h"

/* A slot that is being looked at. */
typedef struct looking {
    const vls_task *task;
    vls_tree_found node;
    bool there; /* something lies at the path */
    vls_slot_row slot;
    bool has_slot;
    vls_frame_row head; /* where the slot has one */
    vls_state_at at;

    vls_recipe recipe; /* by which it is made */
    valise_id recipe_id;
    valise_str recipe_bytes;
    valise_str agent;
    vls_inputs inputs;
    valise_id basis_id;
} looking;

/* ---- what is there ---- */

static bool has_head(const looking *l)
{
    return l->has_slot && vls_slot_has_head(&l->slot);
}

static int look(looking *l, vls_run_state *r, valise_error *err)
{
    const vls_task *task = l->task;
    int rc = vls_tree_get(&l->node, r->view, &r->tree, r->tree.version, task->path, err);

    if (rc < 0)
        return rc;
    l->there = rc > 0;
    l->at = (vls_state_at){&r->tree, r->tree.version, task->path, l->there ? &l->node : NULL};
    rc = vls_slot_get(&l->slot, r->view, &r->tree.id, task->path, task->type, err);
    l->has_slot = rc > 0;
    if (rc <= 0 || !vls_slot_has_head(&l->slot))
        return vls_settle(rc);
    rc = vls_frame_get(&l->head, r->view, &l->slot.head, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "the head of a slot is missing");
    return vls_settle(rc);
}

int vls_run_recipe(vls_recipe *out, valise_str *bytes, vls_run_state *r, const valise_id *id,
                   valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_str object;
    int rc = valise_view_object(&object, r->view, id, &why);

    if (rc == 0 && bytes)
        *bytes = object;
    if (rc == 0)
        rc = vls_recipe_read(out, object, &r->view->arena, &why);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID || rc == VALISE_E_CORRUPT)
        return 0; /* erased, or of a newer program */
    if (rc < 0 && err)
        *err = why;
    return rc;
}

/* The recipe of the head: 1; 0: nobody here can follow it. */
static int read_recipe(looking *l, vls_run_state *r, valise_error *err)
{
    if (vls_id_is_none(&l->head.recipe))
        return 0;
    return vls_run_recipe(&l->recipe, &l->recipe_bytes, r, &l->head.recipe, err);
}

/* ---- what it would be ---- */

/* The recipe as it is followed today: with the version that the policy has. */
static int write_recipe(looking *l, vls_run_state *r, valise_error *err)
{
    vls_buf bytes;
    int rc;

    vls_buf_init_in(&bytes, &r->arena, VLS_RECIPE_MAX);
    rc = vls_recipe_write(&bytes, &l->recipe, err);
    if (rc == 0)
        rc = vls_buf_keep(&l->recipe_bytes, &bytes, err);
    return rc < 0 ? rc : vls_object_id(&l->recipe_id, "recipe", l->recipe_bytes, err);
}

static const vls_frame_row *get_ahead(void *self, valise_str path, valise_str type)
{
    const vls_made *made = vls_run_ahead(self, path, type);

    return made ? &made->frame : NULL;
}

valise_str vls_run_child(vls_run_child_path *room, valise_str dir, valise_str name)
{
    vls_buf path = {.ptr = room->s, .cap = sizeof(room->s), .max = sizeof(room->s) - 1};

    vls_path_below(&path, dir, name);
    return vls_buf_str(&path);
}

/* Who has a directory summed up reads what is in it. */
static int check_readable(const looking *l, vls_run_state *r, valise_error *err)
{
    vls_run_child_path room;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < l->inputs.count; i++) {
        const valise_policy_input *input = &l->inputs.items[i].shown;
        rc = vls_path_allows(r->view, "context:read",
                             vls_run_child(&room, l->task->path, input->name), input->type, err);
    }
    return rc;
}

static int read_inputs(looking *l, vls_buf *basis, vls_run_state *r, valise_error *err)
{
    const vls_heads_ahead ahead = {get_ahead, r};
    int rc = vls_inputs_read(&l->inputs, r->view, &l->at, l->task->type, &l->recipe, &ahead, err);

    if (rc == 0)
        rc = check_readable(l, r, err);
    if (rc == 0)
        rc = vls_inputs_basis(basis, &l->inputs, &l->recipe_id, &l->at, err);
    return rc < 0 ? rc : vls_object_id(&l->basis_id, "basis", vls_buf_str(basis), err);
}

static bool is_unchanged(const looking *l)
{
    return has_head(l) && !l->slot.marked && vls_id_equal(&l->head.basis, &l->basis_id) &&
           vls_str_equal(l->head.agent, l->agent) && !vls_id_is_none(&l->head.content);
}

/* ---- what is wrong with it ---- */

/* Of a directory it depends on what is said about what lies in it, and nobody asks for more than
 * that. One that was made in this run holds. */
static int is_stale_dir(vls_run_state *r, valise_str path, valise_str type, valise_error *err)
{
    vls_slot_doubt_row doubt = {.tree = r->tree.id, .path = path, .type = type};
    vls_state_at at = {&r->tree, r->tree.version, path, NULL};
    vls_tree_found node;
    vls_slot_row slot;
    vls_state state;
    int rc = 1;

    if (vls_run_ahead(r, path, type))
        return 0;
    if (r->kept)
        rc = valise_view_get(&doubt, r->view, &vls_slot_doubts, err);
    if (rc > 0)
        rc = vls_slot_get(&slot, r->view, &r->tree.id, path, type, err);
    if (rc <= 0)
        return rc;
    rc = vls_tree_get(&node, r->view, &r->tree, r->tree.version, path, err);
    if (rc < 0)
        return rc;
    at.node = rc > 0 ? &node : NULL;
    rc = vls_state_of(&state, r->view, &at, &slot, NULL, err);
    return rc < 0 ? rc : state.state != VLS_STATE_FRESH;
}

static int tell_stale(const looking *l, vls_run_state *r, valise_error *err)
{
    vls_run_child_path room;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < l->inputs.count; i++) {
        const vls_recipe_input *input = &l->inputs.items[i];
        vls_view_mark mark = vls_view_here(r->view);
        vls_task task = {vls_run_child(&room, l->task->path, input->shown.name), input->shown.type};
        rc = input->stale;
        if (rc == 0 && input->shown.directory)
            rc = is_stale_dir(r, task.path, task.type, err);
        if (rc > 0)
            rc = vls_run_tell(r, &task, VLS_RUN_STALE, NULL, NULL, NULL, err);
        vls_view_rewind(r->view, mark);
    }
    return vls_settle(rc);
}

/* What somebody may not read is only counted. [C16] */
static int tell_missing(const looking *l, vls_run_state *r, valise_error *err)
{
    int64_t *count = &r->report->counts[VLS_RUN_MISSING], before = *count;
    vls_run_child_path room;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < l->inputs.missing_count; i++) {
        vls_task task = {vls_run_child(&room, l->task->path, l->inputs.missing_names[i]),
                         l->task->type};
        rc = vls_path_readable(r->view, task.path, VLS_STR(""), err);
        if (rc > 0)
            rc = vls_run_tell(r, &task, VLS_RUN_MISSING, NULL, NULL, NULL, err);
    }
    *count = before + l->inputs.missing;
    return vls_settle(rc);
}

/* ---- made ---- */

int vls_run_keep(vls_made **out, vls_run_state *r, const vls_task *task, const valise_id *was,
                 valise_error *err)
{
    vls_made *made = vls_arena_zalloc(&r->arena, sizeof(*made));

    if (!made)
        return vls_arena_fail(&r->arena, err);
    made->path = task->path; /* tasks live as long as the run */
    made->type = task->type;
    made->was = *was;
    if (!vls_vec_push(&r->made, r->env, made))
        return vls_fail_memory(err);
    *out = made;
    return 0;
}

/* One that was made before of the same: by a run that was killed, or before an edit that was taken
 * back. Of a program's, which may say something else each time, too; but never where there is a
 * mark, which asks for another, nor where it is to be seen what it says. */
static int find_made(vls_frame_row *out, vls_run_state *r, const looking *l, valise_error *err)
{
    vls_frame_row frame = {.basis = l->basis_id, .type = l->task->type, .agent = l->agent};
    int rc;

    if ((has_head(l) && l->slot.marked) || r->options->verify)
        return 0;
    rc = l->recipe.program
             ? vls_run_remembered(&frame, r, &frame, l->has_slot ? &l->slot : NULL, err)
             : vls_frame_of_basis(&frame, r->view, &l->basis_id, l->task->type, l->agent, err);
    if (rc <= 0 || vls_id_is_none(&frame.content))
        return vls_settle(rc);
    frame.type = l->task->type;
    rc = vls_arena_dup(&frame.agent, &r->arena, frame.agent, err);
    if (rc < 0)
        return rc;
    *out = frame;
    return 1;
}

static int make(vls_made *made, vls_run_state *r, looking *l, vls_buf *basis, valise_error *err)
{
    vls_frame_new from = {.type = l->task->type};
    int rc = vls_arena_dup(&from.agent, &r->arena, l->agent, err);

    if (rc == 0)
        rc = vls_arena_dup(&made->recipe, &r->arena, l->recipe_bytes, err);
    vls_buf_init(&made->content, r->env, (size_t)VLS_FRAME_CONTENT_MAX);
    if (rc == 0)
        rc = vls_run_make(&made->content, r, l->task->path, &l->recipe, &l->inputs, err);
    if (rc < 0)
        return rc;
    from.basis = vls_buf_str(basis);
    from.content.bytes = vls_buf_str(&made->content);
    rc = vls_frame_compute(&made->frame, &from, VLS_FRAME_DERIVED, &l->recipe_id, err);
    if (rc < 0)
        return rc;
    made->basis = *basis;
    *basis = (vls_buf){0};
    made->pending = true;
    r->pending_bytes += made->basis.len + made->content.len;
    return 0;
}

/* It is a program that makes it. What that gets is read now; it runs when the view is closed. */
static int wait(const looking *l, vls_run_state *r, vls_buf *basis, valise_error *err)
{
    vls_waiting *w = &r->waiting;
    valise_error why = VALISE_ERROR_INIT;
    valise_str name = {0};
    int rc;

    if (r->options->dry_run)
        return vls_run_tell(r, l->task, VLS_RUN_NEEDS_RUN, NULL, NULL,
                            vls_text_short(l->recipe.policy).s, err);
    if (has_head(l))
        *w = (vls_waiting){.has_head = true,
                           .marked = l->slot.marked,
                           .same_agent = vls_str_equal(l->head.agent, l->agent),
                           .was = l->slot.head,
                           .said = l->head.content};
    w->program = l->recipe.program_id;
    w->recipe = l->recipe_bytes; /* in the run's memory */
    w->recipe_id = l->recipe_id;
    rc = vls_arena_dup(&w->agent, &r->arena, l->agent, err);
    if (rc == 0)
        rc = vls_arena_dup(&name, &r->arena, l->recipe.policy, err);
    if (rc < 0)
        return rc;
    w->name = name.ptr;
    vls_buf_init(&w->input, r->env, VLS_PROGRAM_INPUT_MAX);
    rc = vls_run_input(&w->input, r, l->task->path, &l->recipe, &l->inputs, &why);
    if (rc < 0) {
        vls_run_waiting_release(w);
        why.code = rc;
        return vls_run_fail(r, l->task, has_head(l), &why, err);
    }
    w->basis = *basis;
    *basis = (vls_buf){0};
    w->task = l->task;
    return 0;
}

/* ---- above ---- */

/* Of a directory what is made of type T takes the frame of type T. */
typedef struct pushing {
    vls_run_state *r;
    valise_str type;
} pushing;

static int push_above(void *arg, const vls_slot_row *slot, valise_error *err)
{
    const pushing *p = arg;
    vls_run_state *r = p->r;
    const vls_task task = {slot->path, slot->type};
    int rc;

    if (vls_id_is_none(&slot->recipe) || !vls_str_equal(slot->type, p->type))
        return 0;
    if (vls_run_is_meant(r, slot->path))
        return vls_queue_add(&r->queue, slot->path, slot->type, err);
    rc = vls_path_readable(r->view, slot->path, slot->type, err);
    return rc <= 0 ? rc : vls_run_tell(r, &task, VLS_RUN_OUT_OF_SCOPE, NULL, NULL, NULL, err);
}

int vls_run_push_above(vls_run_state *r, const vls_task *task, valise_error *err)
{
    pushing p = {r, task->type};

    return task->path.len == 0 ? 0
                               : vls_slot_each(r->view, &r->tree.id, vls_path_parent(task->path),
                                               push_above, &p, err);
}

/* Only who says something else is news to the directory above. */
static bool is_news(const looking *l, const vls_made *made)
{
    return !has_head(l) || !vls_id_equal(&l->head.content, &made->frame.content) ||
           !vls_str_equal(l->head.agent, made->frame.agent);
}

/* ---- one slot ---- */

static int derive(looking *l, vls_run_state *r, valise_error *err)
{
    static const valise_id none;
    const valise_id *was = has_head(l) ? &l->slot.head : &none;
    VLS_AUTO(buf) vls_buf basis = {0};
    vls_frame_row found;
    vls_made *made = NULL;
    int rc = write_recipe(l, r, err), known;

    vls_buf_init(&basis, r->env, VLS_BASIS_MAX);
    if (rc == 0)
        rc = read_inputs(l, &basis, r, err);
    if (rc < 0)
        return rc;
    rc = tell_stale(l, r, err);
    if (rc == 0)
        rc = tell_missing(l, r, err);
    if (rc == 0 && l->recipe.program && !r->options->dry_run)
        rc = vls_run_check_strict(r, err); /* before it runs: nobody could try it first */
    if (rc < 0)
        return rc;
    if (is_unchanged(l) && !r->options->verify) {
        rc = vls_run_looked(r, l->task, false, err);
        return rc < 0 ? rc
                      : vls_run_tell(r, l->task, VLS_RUN_UNCHANGED, &l->slot.head, &l->slot.head,
                                     NULL, err);
    }
    known = find_made(&found, r, l, err);
    if (known < 0)
        return known;
    if (known == 0 && l->recipe.program)
        return wait(l, r, &basis, err);
    rc = vls_run_keep(&made, r, l->task, was, err);
    if (rc == 0 && known)
        made->frame = found;
    else if (rc == 0)
        rc = make(made, r, l, &basis, err);
    if (rc < 0)
        return rc;
    if (vls_map_put(NULL, &r->ahead, vls_task_hash(made->path, made->type), made, made) < 0)
        return vls_fail_memory(err);
    rc = vls_run_tell(r, l->task, VLS_RUN_MADE, was, &made->frame.id, NULL, err);
    return rc < 0 || !is_news(l, made) ? rc : vls_run_push_above(r, l->task, err);
}

/* A directory that is to have a slot. */
static int synthesize(looking *l, vls_run_state *r, valise_error *err)
{
    const vls_run_options *o = r->options;
    bool target = vls_str_equal(l->task->path, o->path);
    int rc = has_head(l) ? read_recipe(l, r, err) : 1;

    if (rc < 0)
        return rc;
    if (rc == 0 && !o->replace) {
        if (!target) /* somebody else's, and an input of what is above */
            return vls_run_tell(r, l->task, VLS_RUN_NEEDS_AUTHOR, NULL, NULL, NULL, err);
        (void)vls_fail(err, VALISE_E_CONFLICT, "the frame about '%s' (%s) was written by %s",
                       o->path.len == 0 ? "." : vls_text_short(o->path).s,
                       vls_text_short(o->type).s, vls_text_short(l->head.agent).s);
        vls_hint(err, "give --replace to replace it, or choose another --output");
        return VALISE_E_CONFLICT;
    }
    l->recipe = *o->recipe;
    l->agent = r->actor;
    return derive(l, r, err);
}

/* What nobody can make again: fresh, or left to who can. */
static int leave(looking *l, vls_run_state *r, int outcome, valise_error *err)
{
    const char *why = NULL;
    vls_text_brief name;
    vls_state state;
    int rc = vls_state_of(&state, r->view, &l->at, &l->slot, NULL, err);

    if (rc < 0)
        return rc;
    if (state.state == VLS_STATE_FRESH)
        outcome = VLS_RUN_UNCHANGED;
    else if (state.state == VLS_STATE_ORPHANED || !l->there) /* or it cannot be seen now */
        outcome = VLS_RUN_ORPHANED;
    rc = vls_run_looked(r, l->task, outcome != VLS_RUN_UNCHANGED, err);
    if (rc < 0)
        return rc;
    if (outcome == VLS_RUN_FAILED)
        why = "the directory cannot be read now";
    if (outcome == VLS_RUN_NEEDS_RUN) {
        name = vls_text_short(l->recipe.policy);
        why = name.s;
    }
    return vls_run_tell(r, l->task, outcome, NULL,
                        outcome == VLS_RUN_UNCHANGED ? NULL : &l->slot.head, why, err);
}

/* Was the head made by a recipe of the engine's own, whether or not anybody here can follow it? */
static bool is_of_engine(const looking *l)
{
    return l->head.kind == VLS_FRAME_DERIVED ||
           vls_str_starts(l->recipe_bytes, VLS_STR(VLS_RECIPE_PROGRAM));
}

static int regenerate(looking *l, vls_run_state *r, valise_error *err)
{
    const valise_policy *policy;
    int rc;

    if (!has_head(l))
        return vls_run_looked(r, l->task, false, err);
    rc = read_recipe(l, r, err);
    if (rc < 0)
        return rc;
    if (rc == 0) /* somebody wrote it; or its recipe was erased, or is of a newer program */
        return leave(l, r, is_of_engine(l) ? VLS_RUN_UNKNOWN : VLS_RUN_NEEDS_AUTHOR, err);
    if (!l->there || l->node.node.kind != VLS_NODE_DIR)
        return leave(l, r, VLS_RUN_FAILED, err);
    l->agent = l->head.agent; /* who had it made first stays its author */
    if (l->recipe.program)
        return r->options->programs ? derive(l, r, err) : leave(l, r, VLS_RUN_NEEDS_RUN, err);
    policy = vls_registry_policy(r->v->registry, l->recipe.policy);
    if (!policy || policy->version < l->recipe.version)
        return leave(l, r, VLS_RUN_UNKNOWN, err);
    l->recipe.version = policy->version;
    return derive(l, r, err);
}

static int ask(const looking *l, vls_run_state *r, valise_error *err)
{
    vls_place place;
    int rc = vls_place_of(&place, r->view, &r->tree, l->task->path, err);

    return rc < 0
               ? rc
               : vls_place_allows(&place, r->view,
                                  r->options->recipe ? "context:synthesize" : "context:regenerate",
                                  l->task->type, err);
}

int vls_run_slot(vls_run_state *r, const vls_task *task, valise_error *err)
{
    vls_view_mark mark = vls_view_here(r->view);
    looking l = {.task = task};
    int rc = ask(&l, r, err);

    if (rc == 0)
        rc = look(&l, r, err);
    if (rc == 0)
        rc = r->options->recipe ? synthesize(&l, r, err) : regenerate(&l, r, err);
    vls_view_rewind(r->view, mark);
    return rc;
}
