/* say.c -- the steps that the commands share, and their answers. */
#include <stdio.h>

#include "base/hex.h"
#include "chat/ops.h"
#include "store/view.h"

const valise_field vls_session_made_fields[] = {
    VALISE_FIELD(vls_session_made, id, UUID, VALISE_REQUIRED, "Id of the session."),
    VALISE_FIELD_WITH(vls_session_made, head, STR, VALISE_NULLABLE, "Its head, as ID@VERSION.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD(vls_session_made, role, STR, VALISE_NULLABLE, "The role in force."),
    VALISE_FIELD_END,
};

const valise_field vls_turn_done_fields[] = {
    VALISE_FIELD_AS(vls_turn_done, turn_id, "turnId", UUID, VALISE_NULLABLE, "The turn."),
    VALISE_FIELD(vls_turn_done, version, INT, 0, "Its version."),
    VALISE_FIELD_WITH(vls_turn_done, ref, STR, VALISE_NULLABLE, "Both, as ID@VERSION.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_AS(vls_turn_done, content_hash, "contentHash", ID, VALISE_NULLABLE,
                    "The hash of who says what; none: it was erased."),
    VALISE_FIELD_WITH(vls_turn_done, head, STR, VALISE_NULLABLE, "The head of the session now.",
                      .ref = VLS_REF_TURN),
    VALISE_FIELD_END,
};

static int write_ref(valise_str *out, valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    vls_turn_ref_text text;

    if (ref->version == 0)
        return 0;
    text = vls_turn_ref_write(ref);
    return vls_arena_dup(out, &view->arena, valise_str_of(text.s), err);
}

int vls_session_answer(vls_session_made *out, valise_view *view, const vls_session_row *session,
                       valise_error *err)
{
    out->id = session->id;
    out->role = session->role;
    return write_ref(&out->head, view, &session->head, err);
}

int vls_turn_answer(vls_turn_done *out, valise_view *view, const vls_turn_row *turn,
                    valise_error *err)
{
    int rc = write_ref(&out->ref, view, &turn->ref, err);

    out->turn_id = turn->ref.id;
    out->version = turn->ref.version;
    out->head = out->ref;
    if (rc == 0 && !vls_id_is_none(&turn->blocks))
        vls_turn_hash(&out->content_hash, turn->role, &turn->blocks);
    return rc;
}

/* An id that somebody brings must be new: another version of a turn is an edit. */
static int check_new(valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_turn_row key = {.ref = {.id = *id}};
    const valise_select select = {.row = &key, .equal = 1};
    vls_turn_row row;
    valise_scan *scan = NULL;
    int rc;

    if (vls_uuid_is_none(id))
        return 0;
    rc = valise_view_scan(&scan, view, &vls_turns, &select, err);
    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    valise_scan_close(scan);
    if (rc <= 0)
        return rc;
    (void)vls_fail(err, VALISE_E_EXISTS, "turn %s already exists", vls_uuid_text(id).s);
    vls_hint(err, "turn:edit makes a new version of it");
    return VALISE_E_EXISTS;
}

int vls_session_say(vls_turn_done *out, vls_session_row *session, valise_view *view,
                    const vls_turn_flat *said, const vls_turn_ref *parents, size_t count,
                    valise_error *err)
{
    const vls_turn_given *turn = said->turn;
    const vls_turn_new new_turn = {.id = turn->id,
                                   .role = turn->role,
                                   .blocks = &turn->blocks,
                                   .blobs = &said->blobs,
                                   .parents = parents,
                                   .parent_count = count,
                                   .hidden = turn->hidden,
                                   .noprompt = turn->noprompt,
                                   .metadata = vls_content_id(&turn->metadata),
                                   .time = VALISE_NONE};
    vls_turn_row row;
    int rc = check_new(view, &turn->id, err);

    if (rc == 0)
        rc = vls_turn_append(&row, view, &new_turn, err);
    if (rc == 0)
        rc = vls_session_move(session, view, &row, err);
    return rc < 0 ? rc : vls_turn_answer(out, view, &row, err);
}

int vls_session_name(valise_uuid *id, valise_view *view, valise_error *err)
{
    vls_session_row row = {.id = *id};
    int rc;

    if (vls_uuid_is_none(id))
        return valise_view_uuid(id, view, err);
    rc = valise_view_get(&row, view, &vls_sessions, err);
    return rc <= 0
               ? rc
               : vls_fail(err, VALISE_E_EXISTS, "session %s already exists", vls_uuid_text(id).s);
}

void vls_session_head_json(char *out, const vls_session_row *session)
{
    if (session->head.version == 0)
        (void)snprintf(out, VLS_HEAD_JSON, "null");
    else
        (void)snprintf(out, VLS_HEAD_JSON, "\"%s\"", vls_turn_ref_write(&session->head).s);
}

int vls_session_current(valise_str *json, valise_view *view, const void *args, valise_error *err)
{
    const vls_session_args *a = args;
    vls_session_row session;
    char room[VLS_HEAD_JSON];
    int rc = vls_session_find(&session, view, a->session, err);

    if (rc < 0)
        return rc;
    vls_session_head_json(room, &session);
    return vls_arena_dup(json, &view->arena, valise_str_of(room), err);
}
