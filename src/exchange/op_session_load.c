/* op_session_load.c -- session:load, the command behind session:import: turns that another program
 * wrote, with ids of their own. [W20]
 *
 * What is there, or was deleted, is passed over: it may have come, or gone, since the job looked.
 */
#include "base/uuid.h"
#include "blob/receive.h"
#include "chat/append.h"
#include "chat/find.h"
#include "chat/move.h"
#include "chat/said.h"
#include "exchange/load.h"
#include "memory/memory.h"

static const valise_field turn_fields[] = {
    VALISE_FIELD(vls_load_turn, id, UUID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_load_turn, parent, UUID, VALISE_NULLABLE, "The turn before it."),
    VALISE_FIELD_WITH(vls_load_turn, role, ENUM, VALISE_REQUIRED, "Who speaks.",
                      .more = vls_turn_roles),
    VALISE_FIELD(vls_load_turn, blocks, VALUE, VALISE_REQUIRED, "What is said."),
    VALISE_FIELD(vls_load_turn, metadata, VALUE, VALISE_NULLABLE, "Whatever else was told."),
    VALISE_FIELD(vls_load_turn, source, DATA, VALISE_NULLABLE, "The record, word for word."),
    VLS_BLOBS_FIELD(vls_load_turn, blobs),
    VALISE_FIELD(vls_load_turn, hidden, BOOL, 0, "Not shown to people."),
    VALISE_FIELD(vls_load_turn, noprompt, BOOL, 0, "Not shown to models."),
    VALISE_FIELD(vls_load_turn, tip, BOOL, 0, "A leaf beside the head."),
    VALISE_FIELD(vls_load_turn, time, TIME, VALISE_NULLABLE, "When it was said."),
    VALISE_FIELD_END,
};
static const valise_struct turn_struct = {sizeof(vls_load_turn), turn_fields};
static const valise_field turn_item = {
    .name = "turn", .type = VALISE_T_STRUCT, .more = &turn_struct};

static const valise_field load_in[] = {
    VALISE_FIELD_AS(vls_load_args, session, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_AS(vls_load_args, forked_from, "forkedFrom", UUID, VALISE_NULLABLE,
                    "The session it comes from."),
    VALISE_FIELD_WITH(vls_load_args, label, STR, VALISE_NULLABLE, "Its label, for people.",
                      .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD_WITH(vls_load_args, role, STR, VALISE_NULLABLE, "The role in force.",
                      .max = VLS_ROLE_NAME_MAX),
    VALISE_FIELD_WITH(vls_load_args, topics, LIST, 0, "Its topics.", .more = &vls_topic_item,
                      .max = VLS_TOPICS_MAX),
    VALISE_FIELD(vls_load_args, created, TIME, VALISE_NULLABLE, "When it began."),
    VALISE_FIELD(vls_load_args, metadata, VALUE, VALISE_NULLABLE, "Where it comes from."),
    VALISE_FIELD(vls_load_args, source, DATA, VALISE_NULLABLE, "What there was besides turns."),
    VALISE_FIELD_WITH(vls_load_args, turns, LIST, VALISE_REQUIRED, "The turns, parents first.",
                      .more = &turn_item, .max = VLS_LOAD_TURNS_MAX),
    VALISE_FIELD(vls_load_args, head, UUID, VALISE_NULLABLE, "Where the head goes."),
    VALISE_FIELD(vls_load_args, from, UUID, VALISE_NULLABLE, "Where it must be now."),
    VALISE_FIELD_AS(vls_load_args, from_version, "fromVersion", INT, 0, "The version of that."),
    VALISE_FIELD_END,
};

static const valise_field load_out[] = {
    VALISE_FIELD(vls_load_result, turns, INT, 0, "Turns that were added."),
    VALISE_FIELD_END,
};

/* ---- the session ---- */

static int get_session(vls_session_row *row, valise_view *view, const vls_load_args *args,
                       valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    int rc;

    *row = (vls_session_row){.id = args->session};
    rc = valise_view_get(row, view, &vls_sessions, err);
    if (rc != 0)
        return vls_settle(rc);
    *row = (vls_session_row){.id = args->session,
                             .label = args->label,
                             .role = args->role,
                             .first_role = args->role,
                             .topics = args->topics,
                             .metadata = vls_content_id(&args->metadata),
                             .forked_from = args->forked_from,
                             .source = vls_content_id(&args->source),
                             .created = args->created == VALISE_NONE ? stamp->time : args->created,
                             .updated = stamp->time,
                             .actor = stamp->actor};
    if (row->role.ptr)
        rc = vls_role_check(view, row->role, err);
    if (rc == 0)
        rc = vls_topics_tidy(&row->topics, view, err);
    return rc < 0 ? rc : valise_view_put(view, &vls_sessions, row, err);
}

/* ---- turns ---- */

/* 1: there is or was a version of it. */
static int is_known(valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_turn_ref ref = {*id, 1};
    vls_node_row node = {.id = *id};
    vls_turn_row row;
    int rc = vls_turn_get(&row, view, &ref, err);

    return rc != 0 ? rc : valise_view_get(&node, view, &vls_nodes, err);
}

/* What it goes on from is no leaf any more. */
static int drop_tip(valise_view *view, const vls_session_row *session, const vls_turn_ref *parent,
                    valise_error *err)
{
    const vls_tip_row tip = {.session = session->id, .turn = *parent};

    return vls_settle(valise_view_delete(view, &vls_tips, &tip, err));
}

static int add_turn(valise_view *view, const vls_session_row *session, const vls_load_turn *turn,
                    valise_error *err)
{
    const vls_turn_ref parent = {turn->parent, 1};
    const vls_turn_new fresh = {.id = turn->id,
                                .version = 1,
                                .role = turn->role,
                                .blocks = &turn->blocks,
                                .blobs = &turn->blobs,
                                .parents = &parent,
                                .parent_count = !vls_uuid_is_none(&turn->parent),
                                .hidden = turn->hidden,
                                .noprompt = turn->noprompt,
                                .metadata = vls_content_id(&turn->metadata),
                                .source = vls_content_id(&turn->source),
                                .time = turn->time};
    vls_turn_row row;
    int rc = vls_turn_append(&row, view, &fresh, err);

    if (rc == 0 && fresh.parent_count > 0)
        rc = drop_tip(view, session, &parent, err);
    if (rc == 0 && turn->tip)
        rc = valise_view_put(view, &vls_tips,
                             &(vls_tip_row){.session = session->id,
                                            .turn = row.ref,
                                            .place = row.place,
                                            .time = valise_view_stamp(view)->time},
                             err);
    return rc;
}

/* The head follows the file, unless somebody here went elsewhere. */
static int move_head(vls_session_row *session, valise_view *view, const vls_load_args *args,
                     valise_error *err)
{
    const vls_turn_ref ref = {args->head, 1};
    const vls_turn_ref from = {args->from, args->from_version};
    vls_turn_row row;
    int rc = vls_turn_get(&row, view, &ref, err);

    if (rc <= 0)
        return rc;
    if (session->head.version == 0 || vls_turn_ref_equal(&session->head, &from))
        return vls_session_move(session, view, &row, err);
    return vls_session_keep(view, session, &row, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_load_args *args = in;
    vls_load_result *result = out;
    const vls_load_turn *const *turns = args->turns.items;
    vls_session_row session;
    int rc = get_session(&session, view, args, err);

    for (size_t i = 0; rc == 0 && i < args->turns.count; i++) {
        rc = is_known(view, &turns[i]->id, err);
        if (rc > 0) {
            rc = 0;
            continue;
        }
        if (rc == 0)
            rc = add_turn(view, &session, turns[i], err);
        result->turns += rc == 0;
    }
    if (rc == 0 && !vls_uuid_is_none(&args->head))
        rc = move_head(&session, view, args, err);
    return rc;
}

const valise_op vls_op_exchange_session_load = {
    .size = sizeof(valise_op),
    .name = "session:load",
    .brief = "Add turns that another program wrote; the command behind session:import.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_IDEMPOTENT,
    .needs = "session:write",
    .in = load_in,
    .in_size = sizeof(vls_load_args),
    .out = load_out,
    .out_size = sizeof(vls_load_result),
    .decide = decide,
    .example = "{\"sessionId\":\"018f2c4e-7b1a-8c3d-9e4f-000000000001\",\"turns\":[{\"blocks\":"
               "[{\"text\":\"Hi\",\"type\":\"text\"}],\"id\":"
               "\"018f2c4e-7b1a-8c3d-9e4f-000000000002\",\"role\":\"user\"}]}",
};
