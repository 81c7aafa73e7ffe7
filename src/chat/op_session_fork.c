/* op_session_fork.c -- session:fork, another session from a turn on. [W3]
 *
 * One row, at any length: what was said is not copied. */
#include "base/text.h"
#include "chat/ops.h"
#include "chat/said.h"

static const valise_field fork_in[] = {
    VLS_SESSION_FIELD(vls_session_fork_args),
    VALISE_FIELD_AS_WITH(vls_session_fork_args, turn, "turnId", STR,
                         VALISE_NULLABLE | VALISE_POSITIONAL,
                         "The turn to continue from (default: the head of the session).", .min = 1,
                         .max = VLS_TURN_REF_MAX, .ref = VLS_REF_TURN),
    VALISE_FIELD_WITH(vls_session_fork_args, version, INT, VALISE_NULLABLE,
                      "Which version of it (default: the one the session uses, else the newest).",
                      .min = 1, .max = INT64_MAX),
    VALISE_FIELD(vls_session_fork_args, id, UUID, VALISE_NULLABLE,
                 "Id of the new session (default: a new one)."),
    VALISE_FIELD_WITH(vls_session_fork_args, label, STR, VALISE_NULLABLE,
                      "Label of the new session.", .min = 1, .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD_WITH(vls_session_fork_args, role, STR, VALISE_NULLABLE,
                      "The role it starts with (default: the same).", .min = 1,
                      .max = VLS_ROLE_NAME_MAX, .ref = VLS_REF_ROLE_NAME),
    VALISE_FIELD_WITH(vls_session_fork_args, topics, LIST, VALISE_NULLABLE,
                      "Its topics (default: the same).", .more = &vls_topic_item,
                      .max = VLS_TOPICS_MAX),
    VALISE_FIELD_END,
};

/* Which turn: 1, or 0 for none, where nothing was said yet. */
static int find_turn(vls_turn_row *out, valise_view *view, const vls_session_row *from,
                     const vls_session_fork_args *args, valise_error *err)
{
    int rc;

    if (args->turn.ptr) {
        rc = vls_turn_find(out, view, from, args->turn, args->version, err);
        return rc < 0 ? rc : 1;
    }
    if (args->version != VALISE_NONE)
        return vls_fail(err, VALISE_E_INVALID,
                        "a version alone is not enough: give its turnId, too");
    return from->head.version == 0 ? 0 : vls_turn_get(out, view, &from->head, err);
}

/* The last transition up to the turn decides; another role can only come behind it. */
static int choose_role(vls_session_row *row, valise_view *view, const vls_turn_row *head,
                       valise_str given, valise_error *err)
{
    valise_str in_force = head ? head->in_force : (valise_str){NULL, 0};
    int rc;

    if (given.ptr) {
        rc = vls_role_check(view, given, err);
        if (rc < 0)
            return rc;
        if (in_force.ptr && !vls_str_equal(in_force, given)) {
            (void)vls_fail(err, VALISE_E_INVALID, "at %s a role:transition has set the role to %s",
                           vls_turn_ref_write(&head->ref).s, vls_text_short(in_force).s);
            vls_hint(err, "fork without a role, then use: valise session role switch");
            return VALISE_E_INVALID;
        }
        row->first_role = given;
    }
    row->role = in_force.ptr ? in_force : row->first_role;
    return 0;
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_fork_args *args = in;
    const valise_stamp *stamp = valise_view_stamp(view);
    vls_session_row from, row;
    vls_turn_row turn;
    int there, rc = vls_session_find(&from, view, args->session, err);

    if (rc < 0)
        return rc;
    there = find_turn(&turn, view, &from, args, err);
    if (there < 0)
        return there;
    row = (vls_session_row){.id = args->id,
                            .label = args->label,
                            .first_role = from.first_role,
                            .topics = args->topics.items ? args->topics : from.topics,
                            .metadata = from.metadata,
                            .forked_from = from.id,
                            .created = stamp->time,
                            .updated = stamp->time,
                            .actor = stamp->actor};
    if (there > 0) {
        row.head = turn.ref;
        row.place = turn.place;
    }
    rc = vls_session_name(&row.id, view, err);
    if (rc == 0)
        rc = choose_role(&row, view, there > 0 ? &turn : NULL, args->role, err);
    if (rc == 0)
        rc = vls_topics_tidy(&row.topics, view, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_sessions, &row, err);
    return rc < 0 ? rc : vls_session_answer(out, view, &row, err);
}

const valise_op vls_op_chat_session_fork = {
    .size = sizeof(valise_op),
    .name = "session:fork",
    .brief = "Create a session that continues from a turn.",
    .help = "Both sessions have the same past, which is stored once. What is said in one of them "
            "from now on is not part of the other.",
    .kind = VALISE_COMMAND,
    .needs = "session:write",
    .in = fork_in,
    .in_size = sizeof(vls_session_fork_args),
    .out = vls_session_made_fields,
    .out_size = sizeof(vls_session_made),
    .current = vls_session_current,
    .expect_help = VLS_HEAD_HELP,
    .decide = decide,
    .example = "{\"sessionId\":\"support\",\"label\":\"another try\"}",
};
