/* op_session_erase.c -- session:erase, delete a session and take what was said in it alone from
 * every file. [W5] [W6] [K20]
 *
 *     look     which turns does nobody else need?
 *     erase    their contents, and the label of the session
 *     delete   the session, as session:delete does */
#include "base/hex.h"
#include "base/map.h"
#include "bus/bus.h"
#include "chat/ops.h"
#include "chat/scrub.h"
#include "chat/seen.h"
#include "chat/sweep.h"
#include "store/view.h"

typedef struct erase_args {
    valise_str session, reason;
} erase_args;

typedef struct erase_result {
    valise_uuid id;
    int64_t erased;
    valise_str residue;
} erase_result;

static const valise_field erase_in[] = {
    VLS_SESSION_FIELD(erase_args),
    VALISE_FIELD_WITH(erase_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

static const valise_field erase_out[] = {
    VALISE_FIELD(erase_result, id, UUID, VALISE_REQUIRED, "Id of the session."),
    VALISE_FIELD(erase_result, erased, INT, 0, "Turns whose contents were erased."),
    VALISE_FIELD(erase_result, residue, STR, VALISE_NULLABLE,
                 "Where bytes are left until a reader is done: \"wal\"."),
    VALISE_FIELD_END,
};

/* ---- what only this session has ---- */

typedef struct looking {
    const erase_args *args;
    erase_result *out;
    valise_view *view;
    vls_session_row session;
    bool found;
    vls_scrub scrub;
    vls_map gone; /* vls_turn_row of what would go, by ref */
    vls_turn_pins pins;
    vls_vec(vls_turn_ref) waiting; /* in memory of the view */
    int64_t turns;
} looking;

static int wait_for(looking *l, const vls_turn_ref *ref, valise_error *err)
{
    return vls_vec_push_in(&l->waiting, &l->view->arena, *ref)
               ? 0
               : vls_arena_fail(&l->view->arena, err);
}

static int stays(void *arg, const vls_turn_row *child, valise_error *err)
{
    const looking *l = arg;

    (void)err;
    return vls_map_get(&l->gone, vls_turn_ref_hash(l->view, &child->ref), &child->ref) == NULL;
}

static int is_other_head(void *arg, const vls_session_row *session, valise_error *err)
{
    const looking *l = arg;

    (void)err;
    return !vls_uuid_equal(&session->id, &l->session.id);
}

static int is_other_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    const looking *l = arg;

    (void)err;
    return !vls_uuid_equal(&tip->session, &l->session.id);
}

/* Does somebody need it besides this session and what would go with it? 1, or 0. */
static int is_kept(looking *l, const vls_turn_row *turn, valise_error *err)
{
    int rc = vls_turn_each_child(l->view, turn, stays, l, err);

    if (rc == 0)
        rc = vls_turn_each_head(l->view, turn, is_other_head, l, err);
    if (rc == 0)
        rc = vls_turn_each_tip(l->view, turn, is_other_tip, l, err);
    return rc != 0 ? rc : vls_turn_pins_of(&l->pins, &turn->ref) > 0;
}

static int take(looking *l, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    vls_turn_row *copy = vls_arena_alloc(&l->view->arena, sizeof(*copy));
    int rc;

    if (!copy)
        return vls_arena_fail(&l->view->arena, err);
    *copy = *turn;
    if (vls_map_put(NULL, &l->gone, vls_turn_ref_hash(l->view, &turn->ref), &copy->ref, copy) < 0)
        return vls_fail_memory(err);
    rc = vls_scrub_turn(&l->scrub, turn, err);
    if (rc == 0)
        rc = vls_turn_parents(&parents, &count, l->view, turn, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = wait_for(l, &parents[i], err);
    return rc;
}

static int look_at(looking *l, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_row turn;
    int rc;

    if (vls_map_get(&l->gone, vls_turn_ref_hash(l->view, ref), ref))
        return 0;
    rc = vls_turn_get(&turn, l->view, ref, err);
    if (rc > 0) {
        rc = is_kept(l, &turn, err);
        return rc != 0 ? vls_settle(rc) : take(l, &turn, err);
    }
    return rc;
}

static int add_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    return wait_for(arg, &tip->turn, err);
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    looking *l = arg;
    vls_uuid_string id = vls_uuid_text(&l->session.id);
    int rc =
        vls_session_find(&l->session, view, l->found ? valise_str_of(id.s) : l->args->session, err);

    l->found = rc == 0; /* its label is erased before it goes */
    l->view = view;
    l->pins = (vls_turn_pins){.read = false};
    l->waiting.ptr = NULL;
    l->waiting.len = l->waiting.cap = 0;
    vls_map_init(&l->gone, view->arena.env, vls_turn_ref_is);
    if (rc == 0)
        rc = vls_turn_pins_read(&l->pins, view, err);
    if (rc == 0 && l->session.head.version > 0)
        rc = wait_for(l, &l->session.head, err);
    if (rc == 0)
        rc = vls_tip_each(view, &l->session.id, add_tip, l, err);
    while (rc == 0 && l->waiting.len > 0) {
        vls_turn_ref ref = l->waiting.ptr[--l->waiting.len];
        rc = look_at(l, &ref, err);
    }
    l->turns = (int64_t)l->scrub.places.len;
    vls_map_release(&l->gone);
    return rc < 0 ? rc : vls_scrub_session(&l->scrub, &l->session, err);
}

/* ---- the job ---- */

static int run(void *arg, valise_job *job, valise_error *err)
{
    looking *l = arg;
    erase_result *out = l->out;
    valise *v = valise_job_workspace(job);
    vls_uuid_string id = vls_uuid_text(&l->session.id);
    const vls_session_args args = {valise_str_of(id.s)};
    valise_call call = VALISE_CALL_INIT;
    char head[VLS_HEAD_JSON];
    int rc;

    vls_session_head_json(head, &l->session);
    valise_job_stage(job, "erasing", "turns", l->scrub.places.len);
    rc = vls_scrub_run(&out->residue, &l->scrub, job, l->args->reason, err);
    if (rc == 0)
        rc = valise_job_call(&call, job, err);
    call.expect = valise_str_of(head); /* who said more meanwhile moved it */
    if (rc == 0)
        rc = vls_run_own(v, &vls_op_chat_session_delete, &args, NULL, NULL, &call, err);
    out->id = l->session.id;
    out->erased += l->turns;
    return rc;
}

static int job(valise_job *j, const void *in, void *out, valise_error *err)
{
    looking l = {.args = in, .out = out};
    int rc;

    vls_scrub_init(&l.scrub, valise_job_workspace(j)->env);
    rc = vls_scrub_until_done(j, look, run, &l, err);
    vls_scrub_release(&l.scrub);
    return rc;
}

const valise_op vls_op_chat_session_erase = {
    .size = sizeof(valise_op),
    .name = "session:erase",
    .brief = "Delete a session and erase its turns from every file.",
    .help = "Contents of turns that no other session has are erased, as with `valise erase`, and "
            "so are the label and the metadata of the session; then it is deleted. Turns that "
            "another session has, or a pin holds, stay as they are.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = erase_in,
    .in_size = sizeof(erase_args),
    .out = erase_out,
    .out_size = sizeof(erase_result),
    .job = job,
    .example = "{\"sessionId\":\"support\",\"reason\":\"the customer asked for it\"}",
};
