/* event.c -- what subscribers hear of sessions and turns. [K15]
 *
 *     row that changes    event               what is in it
 *     turn comes          turn.added          who speaks, behind which turn
 *     turn, emptied       turn.erased         which
 *     turn goes           turn.removed        which
 *     session comes       session.created     its role
 *                         session.forked      from which, and its head
 *     session             session.moved       its head, and the one before
 *                         session.updated     label, topics or metadata are others
 *     session goes        session.deleted     its last head
 *     session_tip         tip.added, tip.removed
 *
 * Nothing that is marked CONTENT is told. */
#include "chat/rows.h"

#include "bus/event.h"
#include "chat/table.h"

/* "ID@VERSION", or nothing where there is none. */
static valise_str ref_text(vls_turn_ref_text *room, const vls_turn_ref *ref)
{
    if (ref->version == 0)
        return (valise_str){NULL, 0};
    *room = vls_turn_ref_write(ref);
    return valise_str_of(room->s);
}

/* ---- turns ---- */

typedef struct turn_told {
    valise_uuid id;
    int64_t version, role;
    valise_str parent, actor;
    bool merges, hidden, noprompt;
} turn_told;

static const valise_field turn_fields[] = {
    VALISE_FIELD_AS(turn_told, id, "turnId", UUID, VALISE_REQUIRED, "The turn."),
    VALISE_FIELD(turn_told, version, INT, VALISE_REQUIRED, "Its version."),
    VALISE_FIELD_WITH(turn_told, role, ENUM, VALISE_REQUIRED, "Who speaks.",
                      .more = vls_turn_roles),
    VALISE_FIELD(turn_told, parent, STR, VALISE_NULLABLE, "The first parent, as ID@VERSION."),
    VALISE_FIELD(turn_told, merges, BOOL, VALISE_REQUIRED, "There are further ones."),
    VALISE_FIELD(turn_told, hidden, BOOL, VALISE_REQUIRED, "Not shown to people."),
    VALISE_FIELD(turn_told, noprompt, BOOL, VALISE_REQUIRED, "Not shown to models."),
    VALISE_FIELD(turn_told, actor, STR, VALISE_REQUIRED, "Who wrote it."),
    VALISE_FIELD_END,
};

int vls_turn_event(valise_event *out, valise_view *view, const void *before, const void *after,
                   valise_error *err)
{
    const vls_turn_row *row = after ? after : before;
    const char *type = !before ? "turn.added" : after ? "turn.erased" : "turn.removed";
    vls_turn_ref_text parent;
    turn_told told;

    assert(row);
    told = (turn_told){.id = row->ref.id,
                       .version = row->ref.version,
                       .role = row->role,
                       .parent = ref_text(&parent, &row->parent),
                       .actor = row->actor,
                       .merges = row->merges,
                       .hidden = row->hidden,
                       .noprompt = row->noprompt};

    return vls_event_tell(out, view, type, &told, turn_fields, err);
}

/* ---- sessions ---- */

typedef struct session_told {
    valise_uuid id, forked_from;
    valise_str role, previous_role, head, previous;
} session_told;

static const valise_field session_fields[] = {
    VALISE_FIELD_AS(session_told, id, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_AS(session_told, forked_from, "forkedFrom", UUID, VALISE_NULLABLE,
                    "The session it was forked from."),
    VALISE_FIELD(session_told, role, STR, VALISE_NULLABLE, "The role in force."),
    VALISE_FIELD_AS(session_told, previous_role, "previousRole", STR, VALISE_NULLABLE,
                    "The one before."),
    VALISE_FIELD(session_told, head, STR, VALISE_NULLABLE, "Its head, as ID@VERSION."),
    VALISE_FIELD_AS(session_told, previous, "previousHead", STR, VALISE_NULLABLE,
                    "The one before."),
    VALISE_FIELD_END,
};

static const char *session_type(const vls_session_row *before, const vls_session_row *after)
{
    if (!after)
        return "session.deleted";
    if (!before)
        return vls_uuid_is_none(&after->forked_from) ? "session.created" : "session.forked";
    return vls_turn_ref_equal(&before->head, &after->head) ? "session.updated" : "session.moved";
}

int vls_session_event(valise_event *out, valise_view *view, const void *before, const void *after,
                      valise_error *err)
{
    const vls_session_row *old = before, *row = after ? after : before;
    vls_turn_ref_text head, previous;
    session_told told;

    assert(row);
    told = (session_told){.id = row->id,
                          .forked_from = row->forked_from,
                          .role = row->role,
                          .head = ref_text(&head, &row->head)};

    if (old && after) {
        told.previous_role = old->role;
        told.previous = ref_text(&previous, &old->head);
    }
    return vls_event_tell(out, view, session_type(before, after), &told, session_fields, err);
}

/* ---- tips ---- */

typedef struct tip_told {
    valise_uuid session;
    valise_str turn;
} tip_told;

static const valise_field tip_fields[] = {
    VALISE_FIELD_AS(tip_told, session, "sessionId", UUID, VALISE_REQUIRED, "The session."),
    VALISE_FIELD_AS(tip_told, turn, "ref", STR, VALISE_REQUIRED, "The turn, as ID@VERSION."),
    VALISE_FIELD_END,
};

int vls_tip_event(valise_event *out, valise_view *view, const void *before, const void *after,
                  valise_error *err)
{
    const vls_tip_row *row = after ? after : before;
    vls_turn_ref_text ref;
    tip_told told;

    if (before && after)
        return 0; /* the same leaf, left once more */
    assert(row);
    told = (tip_told){row->session, ref_text(&ref, &row->turn)};
    return vls_event_tell(out, view, after ? "tip.added" : "tip.removed", &told, tip_fields, err);
}
