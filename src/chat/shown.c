/* shown.c -- see shown.h. */
#include "chat/shown.h"

#include "base/text.h"
#include "chat/blocks.h"

const valise_field vls_shown_ref_item = {.name = "ref", .type = VALISE_T_STR, .ref = VLS_REF_TURN};

/* ---- refs ---- */

int vls_shown_ref(valise_str *out, vls_arena *arena, const vls_turn_ref *ref, valise_error *err)
{
    return vls_arena_dup(out, arena, valise_str_of(vls_turn_ref_write(ref).s), err);
}

int vls_shown_refs(valise_list *out, vls_arena *arena, const vls_turn_ref *refs, size_t count,
                   valise_error *err)
{
    valise_str *texts;

    *out = (valise_list){NULL, 0};
    if (count == 0)
        return 0;
    texts = vls_arena_array(arena, count, sizeof(*texts));
    if (!texts)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++) {
        int rc = vls_shown_ref(&texts[i], arena, &refs[i], err);
        if (rc < 0)
            return rc;
    }
    *out = (valise_list){texts, count};
    return 0;
}

/* ---- turns ---- */

static void let_go(vls_show *show)
{
    show->blocks = valise_blob_unref(show->blocks);
    show->metadata = valise_blob_unref(show->metadata);
    show->parsed = vls_json_null();
}

void vls_show_init(vls_show *show, valise_view *view, bool keeps)
{
    *show = (vls_show){.view = view, .keeps = keeps};
    vls_arena_init(&show->own, view->arena.env, VLS_VIEW_MAX_BYTES);
    show->arena = keeps ? &view->arena : &show->own;
}

void vls_show_release(vls_show *show)
{
    if (!show->view)
        return;
    let_go(show);
    vls_arena_release(&show->own);
}

/* What was erased has no object, whatever the row says. 1, or 0. */
static int load(valise_content *out, valise_blob **blob, vls_show *show, const valise_id *id,
                valise_error *err)
{
    int rc;

    *out = (valise_content){.size = VALISE_NONE};
    rc = vls_id_is_none(id) ? 0 : vls_view_has_object(show->view, id, err);
    if (rc <= 0)
        return rc;
    if (show->keeps) {
        rc = valise_view_object(&out->bytes, show->view, id, err);
    } else {
        rc = vls_view_blob(blob, show->view, id, err);
        if (rc == 0)
            out->bytes = vls_blob_bytes(*blob);
    }
    if (rc < 0)
        return rc;
    out->id = *id;
    out->size = (int64_t)out->bytes.len;
    return 1;
}

static int fill_said(vls_turn_shown *out, vls_show *show, const vls_turn_row *turn,
                     valise_error *err)
{
    int64_t unknown;
    int rc = load(&out->blocks, &show->blocks, show, &turn->blocks, err);

    out->erased = rc == 0;
    if (rc <= 0)
        return rc;
    rc = vls_json_parse(&show->parsed, show->arena, out->blocks.bytes, NULL, err);
    if (rc < 0)
        return rc;
    vls_turn_hash(&out->hash, turn->role, &turn->blocks);
    unknown = vls_blocks_unknown(show->parsed);
    if (unknown > 0)
        out->unknown = unknown;
    return 0;
}

int vls_show_turn(vls_turn_shown *out, vls_show *show, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc;

    let_go(show);
    vls_arena_reset(&show->own);
    *out = (vls_turn_shown){.role = turn->role,
                            .time = turn->time,
                            .actor = turn->actor,
                            .hidden = turn->hidden,
                            .noprompt = turn->noprompt,
                            .unknown = VALISE_NONE,
                            .in_force = turn->in_force,
                            .text = vls_turn_ref_write(&turn->ref)};
    out->ref = valise_str_of(out->text.s);
    rc = fill_said(out, show, turn, err);
    if (rc == 0)
        rc = vls_settle(load(&out->metadata, &show->metadata, show, &turn->metadata, err));
    if (rc == 0 && turn->merges)
        rc = vls_turn_parents(&parents, &count, show->view, turn, err);
    if (rc < 0)
        return rc;
    if (!turn->merges && turn->parent.version > 0)
        return vls_shown_refs(&out->parents, show->arena, &turn->parent, 1, err);
    return vls_shown_refs(&out->parents, show->arena, parents, count, err);
}

/* ---- sessions ---- */

void vls_show_session(vls_session_shown *out, const vls_session_row *session)
{
    *out = (vls_session_shown){.id = session->id,
                               .label = session->label,
                               .role = session->role,
                               .topics = session->topics,
                               .created = session->created,
                               .updated = session->updated};
    if (session->head.version == 0)
        return;
    out->text = vls_turn_ref_write(&session->head);
    out->head = valise_str_of(out->text.s);
    out->turns = session->place.depth + 1;
}

/* ---- arguments ---- */

int vls_shown_find(vls_turn_row *out, valise_view *view, const vls_session_row *session,
                   valise_str turn, int64_t version, valise_error *err)
{
    return vls_turn_find(out, view, session, turn.ptr ? turn : VLS_STR("HEAD"), version, err);
}

int vls_shown_session(vls_session_row *out, const vls_session_row **given, valise_view *view,
                      valise_str session, valise_error *err)
{
    int rc;

    *given = NULL;
    if (!session.ptr)
        return 0;
    rc = vls_session_find(out, view, session, err);
    if (rc == 0)
        *given = out;
    return rc;
}

int vls_shown_either(vls_turn_row *out, vls_session_row *session, const vls_session_row **given,
                     valise_view *view, valise_str text, int64_t version, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc;

    if (vls_turn_is_meant(text))
        return vls_turn_find(out, view, *given, text, version, err);
    rc = vls_session_find(session, view, text, err);
    if (rc == 0) {
        *given = session;
        return vls_turn_find(out, view, session, VLS_STR("HEAD"), version, err);
    }
    if (rc != VALISE_E_NOT_FOUND)
        return rc;
    rc = vls_turn_find(out, view, *given, text, version, &why);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%s' is neither a session nor a turn",
                       vls_text_short(text).s);
        vls_hint(err, "'valise session list' and 'valise turn log' show them");
        return VALISE_E_NOT_FOUND;
    }
    if (rc < 0 && err)
        *err = why;
    else if (rc == 0)
        vls_error_clear(err);
    return rc;
}

int vls_shown_place(vls_turn_row *out, vls_session_row *session, const vls_session_row **given,
                    valise_view *view, const vls_place_args *place, valise_error *err)
{
    int rc;

    *given = NULL;
    if (!place->session.ptr && !place->turn.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID, "no turn given");
        vls_hint(err, "give SESSION TURN, a session alone for its head, or ID@VERSION");
        return VALISE_E_INVALID;
    }
    if (place->session.ptr && !place->turn.ptr)
        return vls_shown_either(out, session, given, view, place->session, place->version, err);
    rc = vls_shown_session(session, given, view, place->session, err);
    return rc < 0 ? rc : vls_turn_find(out, view, *given, place->turn, place->version, err);
}
