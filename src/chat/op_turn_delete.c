/* op_turn_delete.c -- turn:delete, take what was said from every file. [W5]
 *
 *     look     whose heads and tips are there?       nothing is written when that is a conflict
 *     erase    the contents                          a turn without contents stays
 *     remove   rows; heads go up                     by one internal command, which looks again */
#include "bus/bus.h"
#include "bus/job.h"
#include "chat/ops.h"
#include "chat/scrub.h"
#include "chat/sweep.h"

typedef struct delete_args {
    valise_str session, turn;
    int64_t version;
    bool recursive, force;
    valise_str reason;
} delete_args;

typedef struct delete_result {
    valise_uuid turn_id;
    int64_t version, erased, removed;
    valise_str head, residue;
} delete_result;

static const valise_field delete_in[] = {
    VLS_SESSION_FIELD(delete_args),
    VALISE_FIELD_AS_WITH(delete_args, turn, "turnId", STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                         "The turn: its id or the end of it, ID@VERSION, HEAD or HEAD~2.",
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(delete_args, version, INT, VALISE_NULLABLE,
                      "Which version (default: the one the session uses, else the newest).",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD(delete_args, recursive, BOOL, 0, "Include everything after it."),
    VALISE_FIELD(delete_args, force, BOOL, 0,
                 "Delete it even if the head of another session is there."),
    VALISE_FIELD_WITH(delete_args, reason, STR, 0, "The reason, which is recorded.", .max = 1024),
    VALISE_FIELD_END,
};

static const valise_field delete_out[] = {
    VALISE_FIELD_AS(delete_result, turn_id, "turnId", UUID, VALISE_REQUIRED, "The turn."),
    VALISE_FIELD(delete_result, version, INT, VALISE_REQUIRED, "Its version."),
    VALISE_FIELD(delete_result, erased, INT, 0, "Turns whose contents were erased."),
    VALISE_FIELD(delete_result, removed, INT, 0,
                 "Turns that are gone; one with others behind it stays, without contents."),
    VALISE_FIELD_WITH(delete_result, head, STR, VALISE_NULLABLE, "The head of the session now.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD(delete_result, residue, STR, VALISE_NULLABLE,
                 "Where bytes are left until a reader is done: \"wal\"."),
    VALISE_FIELD_END,
};

typedef struct looking {
    const delete_args *args;
    delete_result *out;
    vls_turn_remove_args remove;
    bool resolved;
    vls_scrub scrub;
} looking;

/* What was written for the turn means one thing, also when the head moves meanwhile. */
static int resolve(looking *l, valise_view *view, valise_error *err)
{
    const delete_args *args = l->args;
    vls_session_row session;
    vls_turn_row turn;
    int rc = vls_session_find(&session, view, args->session, err);

    if (rc == 0)
        rc = vls_turn_find(&turn, view, &session, args->turn, args->version, err);
    if (rc < 0)
        return rc;
    l->remove = (vls_turn_remove_args){session.id, turn.ref.id, turn.ref.version, args->recursive,
                                       args->force};
    l->resolved = true;
    return 0;
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    looking *l = arg;
    vls_branch branch;
    int rc = l->resolved ? 0 : resolve(l, view, err);

    if (rc == 0)
        rc = vls_branch_find(&branch, view, &l->remove, err);
    for (size_t i = 0; rc == 0 && i < branch.turns.len; i++)
        rc = vls_scrub_turn(&l->scrub, &branch.turns.ptr[i], err);
    return rc;
}

typedef struct telling {
    valise_uuid session;
    vls_turn_ref head;
} telling;

static int see_head(void *arg, valise_view *view, valise_error *err)
{
    telling *t = arg;
    vls_session_row row = {.id = t->session};
    int rc = valise_view_get(&row, view, &vls_sessions, err);

    if (rc > 0)
        t->head = row.head;
    return vls_settle(rc);
}

static int tell_head(delete_result *out, valise_job *job, const valise_uuid *session,
                     valise_error *err)
{
    telling t = {.session = *session};
    int rc = vls_with_view(valise_job_workspace(job), NULL, see_head, &t, err);

    if (rc < 0 || t.head.version == 0)
        return rc;
    return vls_arena_dup(&out->head, &job->arena, valise_str_of(vls_turn_ref_write(&t.head).s),
                         err);
}

static int run(void *arg, valise_job *job, valise_error *err)
{
    looking *l = arg;
    delete_result *out = l->out;
    vls_swept swept = {.removed = 0};
    int rc;

    valise_job_stage(job, "erasing", "turns", l->scrub.places.len);
    out->erased += (int64_t)l->scrub.places.len;
    rc = vls_scrub_run(&out->residue, &l->scrub, job, l->args->reason, err);
    if (rc == 0)
        rc = vls_job_run(job, &vls_op_chat_turn_remove, &l->remove, &swept, NULL, err);
    out->turn_id = l->remove.turn;
    out->version = l->remove.version;
    out->removed = swept.removed;
    return rc < 0 ? rc : tell_head(out, job, &l->remove.session, err);
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

const valise_op vls_op_chat_turn_delete = {
    .size = sizeof(valise_op),
    .name = "turn:delete",
    .brief = "Erase a turn from every file.",
    .help = "Its contents are erased, as with `valise erase`, and its blobs released. The last "
            "turn of a branch is removed, and the head moves to the one before it; a turn that "
            "others follow stays without contents, so that these can still be read. --recursive "
            "also deletes everything after it.\n\n"
            "If another session has its head there, or with --recursive after it, nothing happens "
            "unless --force is given.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_DESTRUCTIVE,
    .needs = "session:delete",
    .in = delete_in,
    .in_size = sizeof(delete_args),
    .out = delete_out,
    .out_size = sizeof(delete_result),
    .job = job,
    .example = "{\"sessionId\":\"support\",\"turnId\":\"HEAD\",\"reason\":\"a leaked key\"}",
};
