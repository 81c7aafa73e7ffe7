/* op_session_export.c -- session:export, conversations for other programs and for people. [W20] */
#include "base/file.h"
#include "bus/bus.h"
#include "bus/job.h"
#include "chat/move.h"
#include "exchange/export.h"

#define TURN_MAX ((size_t)1 << 30) /* memory for one turn */

typedef struct export_args {
    valise_str session;
    int64_t format;
    valise_str turn;
    bool all, everything;
    valise_str output;
    bool force;
} export_args;

static const char *const formats[] = {"markdown", "openai", NULL};
static vls_export_fn *const writers[] = {vls_export_markdown, vls_export_openai};

static const valise_field export_in[] = {
    VALISE_FIELD_AS_WITH(export_args, session, "sessionId", STR,
                         VALISE_NULLABLE | VALISE_POSITIONAL,
                         "The session: its label, its id, or the end of its id.", .min = 1,
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_SESSION),
    VALISE_FIELD_WITH(export_args, format, ENUM, 0,
                      "Markdown for people, or one line of JSON per session.", .more = formats),
    VALISE_FIELD_AS_WITH(export_args, turn, "turnId", STR, VALISE_NULLABLE,
                         "Only up to this turn instead of the head.", .min = 1,
                         .max = VLS_TURN_REF_MAX),
    VALISE_FIELD(export_args, all, BOOL, 0, "Export all sessions."),
    VALISE_FIELD(export_args, everything, BOOL, 0,
                 "In Markdown, include hidden turns and thinking."),
    VALISE_FIELD_WITH(export_args, output, STR, VALISE_NULLABLE,
                      "The file to write (default: print it).", .min = 1, .max = 4000),
    VALISE_FIELD(export_args, force, BOOL, 0, "Overwrite an existing file."),
    VALISE_FIELD_END,
};

static const valise_field dropped_fields[] = {
    VALISE_FIELD(vls_export_dropped, branches, INT, 0, "Tips beside the head."),
    VALISE_FIELD(vls_export_dropped, thinking, INT, 0, "Blocks of thinking."),
    VALISE_FIELD(vls_export_dropped, hidden, INT, 0, "Turns that people are not shown."),
    VALISE_FIELD(vls_export_dropped, noprompt, INT, 0, "Turns that models are not shown."),
    VALISE_FIELD(vls_export_dropped, erased, INT, 0, "Turns that were erased."),
    VALISE_FIELD(vls_export_dropped, blocks, INT, 0, "Blocks that the format has no place for."),
    VALISE_FIELD_END,
};

typedef struct export_answer {
    int64_t sessions, turns, bytes;
    const vls_export_dropped *dropped;
    valise_str text;
} export_answer;

static const valise_struct dropped_struct = {sizeof(vls_export_dropped), dropped_fields};

static const valise_field export_out[] = {
    VALISE_FIELD(export_answer, sessions, INT, 0, "Sessions that were written."),
    VALISE_FIELD(export_answer, turns, INT, 0, "Turns that were written."),
    VALISE_FIELD(export_answer, bytes, INT, 0, "Size of the text."),
    VALISE_FIELD_WITH(export_answer, dropped, STRUCT, VALISE_REQUIRED, "What was left out.",
                      .more = &dropped_struct),
    VALISE_FIELD(export_answer, text, STR, VALISE_NULLABLE, "The text; none: it is in the file."),
    VALISE_FIELD_END,
};

typedef struct running {
    valise_job *job;
    const export_args *args;
    vls_exporting e;
    vls_buf out;
    vls_arena arena;
    vls_file_out *output; /* NULL: none */
    int64_t sessions, bytes;
} running;

/* ---- sessions ---- */

static int count_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    (void)tip;
    (void)err;
    ++*(int64_t *)arg;
    return 0;
}

static int write_session(running *r, vls_session_row *session, valise_error *err)
{
    vls_trail trail = {.count = 0};
    vls_turn_row turn;
    int rc = 1;

    if (r->args->turn.ptr)
        rc = vls_turn_find(&turn, r->e.view, session, r->args->turn, VALISE_NONE, err);
    else if (session->head.version != 0)
        rc = vls_settle(vls_turn_get(&turn, r->e.view, &session->head, err));
    if (rc == 0)
        rc = vls_trail_make(&trail, r->e.view, &turn, NULL, false, err);
    if (rc >= 0)
        rc = vls_tip_each(r->e.view, &session->id, count_tip, &r->e.dropped.branches, err);
    if (rc >= 0)
        rc = writers[r->args->format](&r->e, session, &trail, err);
    vls_trail_release(&trail);
    r->sessions += rc >= 0;
    return rc < 0 ? rc : valise_job_step(r->job, 1, err);
}

static int write_all(running *r, valise_error *err)
{
    valise_scan *scan = NULL;
    vls_session_row session;
    int rc = valise_view_scan(&scan, r->e.view, &vls_sessions, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&session, scan, err)) > 0)
        rc = write_session(r, &session, err);
    valise_scan_close(scan);
    return rc;
}

static int write_view(void *arg, valise_view *view, valise_error *err)
{
    running *r = arg;
    vls_session_row session;
    int rc;

    r->e.view = view;
    if (r->args->all)
        return write_all(r, err);
    rc = vls_session_find(&session, view, r->args->session, err);
    return rc < 0 ? rc : write_session(r, &session, err);
}

/* ---- the text ---- */

static int flush(void *self, valise_error *err)
{
    running *r = self;
    int rc = vls_buf_check(&r->out, err);

    if (rc == 0)
        rc = vls_file_out_write(r->output, vls_buf_str(&r->out), err);
    r->bytes += (int64_t)r->out.len;
    vls_buf_clear(&r->out);
    return rc;
}

static int open_output(running *r, valise_error *err)
{
    const char *path = NULL;
    int rc;

    if (!r->args->output.ptr)
        return 0;
    rc = vls_path_text(&path, &r->job->arena, r->args->output, err);
    if (rc == 0)
        rc = valise_job_alloc((void **)&r->output, r->job, sizeof(*r->output), err);
    if (rc == 0)
        rc = vls_file_out_open(r->output, valise_job_workspace(r->job)->env, path, r->args->force,
                               err);
    if (rc < 0)
        r->output = NULL;
    r->e.flush = r->output ? flush : NULL;
    return rc;
}

static int close_output(running *r, int rc, valise_error *err)
{
    if (!r->output)
        return rc;
    if (rc == 0)
        rc = flush(r, err);
    if (rc == 0)
        rc = vls_file_out_commit(r->output, err);
    vls_file_out_abort(r->output);
    return rc;
}

static int tell(export_answer *out, running *r, valise_error *err)
{
    vls_export_dropped *dropped = NULL;
    int rc = valise_job_alloc((void **)&dropped, r->job, sizeof(*dropped), err);

    if (rc < 0)
        return rc;
    *dropped = r->e.dropped;
    *out = (export_answer){.sessions = r->sessions, .turns = r->e.turns, .dropped = dropped};
    if (!r->output) {
        rc = vls_buf_check(&r->out, err);
        r->bytes = (int64_t)r->out.len;
        if (rc == 0)
            rc = vls_arena_dup(&out->text, &r->job->arena, vls_buf_str(&r->out), err);
    }
    out->bytes = r->bytes;
    return rc;
}

static int check(const export_args *args, valise_error *err)
{
    if (args->all == (args->session.ptr != NULL) || (args->all && args->turn.ptr)) {
        (void)vls_fail(err, VALISE_E_INVALID, "give one session (and a turn of it), or `all`");
        vls_hint(err, "'valise session list' lists them");
        return VALISE_E_INVALID;
    }
    return 0;
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    valise *v = valise_job_workspace(j);
    running r = {.job = j, .args = in};
    int rc = check(in, err);

    if (rc == 0)
        rc = open_output(&r, err);
    if (rc < 0)
        return rc;
    vls_buf_init(&r.out, v->env, r.output ? TURN_MAX : VLS_REPLY_MAX);
    vls_arena_init(&r.arena, v->env, TURN_MAX);
    r.e.blobs = v->blobs;
    r.e.arena = &r.arena;
    r.e.everything = r.args->everything;
    r.e.out = &r.out;
    r.e.self = &r;
    valise_job_stage(j, "export", "sessions", 0);
    rc = close_output(&r, vls_job_view(j, write_view, &r, err), err);
    if (rc == 0)
        rc = tell(result, &r, err);
    vls_arena_release(&r.arena);
    vls_buf_release(&r.out);
    return rc;
}

const valise_op vls_op_exchange_session_export = {
    .size = sizeof(valise_op),
    .name = "session:export",
    .brief = "Export a session as Markdown or as OpenAI messages.",
    .help = "Exports the turns up to the head, or up to a given turn. What the format has no place "
            "for is left out and listed: other branches, thinking, turns that are hidden "
            "(Markdown) or kept out of prompts (OpenAI). A line that was imported from OpenAI's "
            "JSONL is written as it was.\n\nFor everything about a session, with its branches, "
            "write a bundle: valise export FILE session/ID.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_READ_ONLY | VALISE_OP_IDEMPOTENT,
    .needs = "session:read",
    .in = export_in,
    .in_size = sizeof(export_args),
    .out = export_out,
    .out_size = sizeof(export_answer),
    .job = job,
    .example = "{\"all\":true,\"format\":\"openai\"}",
};
