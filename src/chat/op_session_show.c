/* op_session_show.c -- session:show, one conversation and its tips. [W2] */
#include "chat/move.h"
#include "chat/ops.h"
#include "chat/shown.h"

typedef vls_session_show_result show_result;

static const valise_field show_in[] = {
    VLS_SESSION_FIELD(vls_session_args),
    VALISE_FIELD_END,
};

static const valise_field show_out[] = {
    VLS_SESSION_SHOWN_FIELDS(show_result),
    VALISE_FIELD_WITH(show_result, tips, LIST, 0, "Leaves that the head was moved away from.",
                      .more = &vls_shown_ref_item),
    VALISE_FIELD_AS(show_result, first_role, "firstRole", STR, VALISE_NULLABLE,
                    "The role before any transition."),
    VALISE_FIELD_AS(show_result, forked_from, "forkedFrom", UUID, VALISE_NULLABLE,
                    "The session it was forked from."),
    VALISE_FIELD(show_result, actor, STR, VALISE_REQUIRED, "Who made it."),
    VALISE_FIELD(show_result, metadata, VALUE, VALISE_NULLABLE, "Whatever else was told."),
    VALISE_FIELD_END,
};

typedef struct tip_list {
    valise_view *view;
    vls_vec(vls_turn_ref) refs;
} tip_list;

static int add_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    tip_list *tips = arg;
    vls_arena *arena = &tips->view->arena;

    return vls_vec_push_in(&tips->refs, arena, tip->turn) ? 0 : vls_arena_fail(arena, err);
}

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_session_args *args = in;
    show_result *result = out;
    vls_session_row row = {0};
    tip_list tips = {view, VLS_VEC_INIT};
    int rc = vls_session_find(&row, view, args->session, err);

    if (rc == 0)
        rc = vls_tip_each(view, &row.id, add_tip, &tips, err);
    if (rc == 0)
        rc = vls_shown_refs(&result->tips, &view->arena, tips.refs.ptr, tips.refs.len, err);
    if (rc < 0)
        return rc;
    vls_show_session(&result->session, &row);
    result->first_role = row.first_role;
    result->forked_from = row.forked_from;
    result->actor = row.actor;
    result->metadata.size = VALISE_NONE;
    if (vls_id_is_none(&row.metadata))
        return 0;
    result->metadata.id = row.metadata;
    rc = valise_view_object(&result->metadata.bytes, view, &row.metadata, err);
    result->metadata.size = (int64_t)result->metadata.bytes.len;
    return rc;
}

const valise_op vls_op_chat_session_show = {
    .size = sizeof(valise_op),
    .name = "session:show",
    .brief = "Show a session and its branch tips.",
    .kind = VALISE_QUERY,
    .needs = "session:read",
    .in = show_in,
    .in_size = sizeof(vls_session_args),
    .out = show_out,
    .out_size = sizeof(show_result),
    .query = query,
    .example = "{\"sessionId\":\"support\"}",
};
