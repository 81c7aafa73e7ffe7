/* check.c -- `validate`: do sessions, turns, edges and tips fit together? [K22] [W1]
 *
 *     turn          its links are those that its parents give it; edges and holds are there; who
 *                   nobody needs is in turn_loose
 *     turn_edge     both ends are there, and say the same
 *     session       its head is there and where it says; its role is the one in force
 *     session_tip   its session and its turn are there
 *     turn_loose    what waits is there */
#include "base/hex.h"
#include "base/str.h"
#include "blob/hold.h"
#include "chat/graph.h"
#include "chat/refs.h"
#include "chat/said.h"
#include "chat/table.h"
#include "store/validate.h"
#include "store/view.h"

#define PROBLEM(check, err, ...) valise_check_problem(check, err, VLS_REMEDY_RESTORE, __VA_ARGS__)

/* ---- turns: links ---- */

static int check_edge(valise_check *check, valise_view *view, const vls_turn_row *row,
                      const vls_turn_row *parent, size_t position, valise_error *err)
{
    vls_edge_row edge = {.parent = parent->ref, .child = row->ref};
    int rc = valise_view_get(&edge, view, &vls_edges, err);

    if (rc == 0)
        return PROBLEM(check, err, "there is no edge from its parent %s",
                       vls_turn_ref_write(&parent->ref).s);
    if (rc > 0 && edge.position != (int64_t)position)
        return PROBLEM(check, err, "the edge from its parent %s has position %lld, not %zu",
                       vls_turn_ref_write(&parent->ref).s, (long long)edge.position, position);
    return vls_settle(rc);
}

static int check_parent(valise_check *check, valise_view *view, const vls_turn_row *row,
                        const vls_turn_ref *ref, size_t position, valise_error *err)
{
    vls_turn_row parent, linked = *row;
    int rc = vls_turn_get(&parent, view, ref, err);

    if (rc == 0)
        return PROBLEM(check, err, "its parent %s is not there", vls_turn_ref_write(ref).s);
    if (rc < 0)
        return rc;
    if (position > 0 || !vls_uuid_equal(&parent.place.lane, &row->place.lane))
        rc = check_edge(check, view, row, &parent, position, err);
    if (rc < 0 || position > 0)
        return vls_settle(rc);
    rc = vls_turn_relink(&linked, view, &parent, err);
    if (rc == 0 && !vls_turn_has_links(row, &linked))
        rc = PROBLEM(check, err, "its depth and jumps are not those behind %s",
                     vls_turn_ref_write(ref).s);
    return rc;
}

static int check_root(valise_check *check, valise_view *view, const vls_turn_row *row,
                      valise_error *err)
{
    vls_turn_row linked = *row;
    int rc = vls_turn_relink(&linked, view, NULL, err);

    if (rc == 0 && !vls_turn_has_links(row, &linked))
        rc = PROBLEM(check, err, "it has no parent, and its depth or jump says otherwise");
    return rc;
}

static int check_parents(valise_check *check, valise_view *view, const vls_turn_row *row,
                         valise_error *err)
{
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = vls_turn_parents(&parents, &count, view, row, err);

    if (rc < 0)
        return rc;
    if (row->merges != (count > 1))
        rc = PROBLEM(check, err, "it says that it %s, and has %zu parents",
                     row->merges ? "merges" : "does not merge", count);
    if (rc == 0 && count == 0)
        rc = check_root(check, view, row, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_parent(check, view, row, &parents[i], i, err);
    return rc;
}

/* ---- turns: blobs, needs ---- */

/* Nobody holds what was erased, here or where the turn came from; what has been registered again
 * since is held by whoever did. */
static int check_unheld(valise_check *check, valise_view *view, const valise_id *blob,
                        valise_error *err)
{
    vls_blob_record record;
    int rc = vls_blob_record_of(&record, view, blob, err);

    if (rc <= 0)
        return rc;
    rc = vls_blob_is_erased(view, blob, err);
    return rc != 0 ? vls_settle(rc)
                   : PROBLEM(check, err, "it does not hold its blob %s", vls_id_hex(blob).s);
}

static int check_holds(valise_check *check, valise_view *view, const vls_turn_row *row,
                       valise_error *err)
{
    vls_turn_ref_text text = vls_turn_ref_write(&row->ref);
    vls_blocks blocks;
    int rc = vls_said_read_of(&blocks, view, row, err);

    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CORRUPT)
        return 0; /* objects are checked by themselves */
    if (rc == VALISE_E_INVALID)
        return PROBLEM(check, err, "its blocks cannot be read");
    for (size_t i = 0; rc >= 0 && i < blocks.blobs.len; i++) {
        vls_blob_hold hold = {blocks.blobs.ptr[i], VLS_HOLD_TURN, valise_str_of(text.s)};
        rc = valise_view_get(&hold, view, &vls_blob_holds, err);
        if (rc == 0)
            rc = check_unheld(check, view, &hold.blob, err);
    }
    return vls_settle(rc);
}

static int check_needed(valise_check *check, valise_view *view, const vls_turn_row *row,
                        valise_error *err)
{
    vls_loose_row loose = {row->ref};
    int rc = vls_turn_is_needed(view, row, err);

    if (rc != 0)
        return vls_settle(rc);
    rc = valise_view_get(&loose, view, &vls_loose, err);
    return rc != 0 ? vls_settle(rc)
                   : PROBLEM(check, err, "nobody refers to it, and it is not among turn_loose");
}

int vls_turn_check(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_turn_row *row = arg;
    int rc = check_parents(check, view, row, err);

    if (rc == 0)
        rc = check_holds(check, view, row, err);
    return rc < 0 ? rc : check_needed(check, view, row, err);
}

/* ---- edges ---- */

int vls_edge_check(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_edge_row *edge = arg;
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    vls_turn_row parent, child;
    int rc = vls_turn_get(&child, view, &edge->child, err);

    if (rc == 0)
        return PROBLEM(check, err, "its child is not there");
    if (rc > 0)
        rc = vls_turn_get(&parent, view, &edge->parent, err);
    if (rc == 0)
        return PROBLEM(check, err, "its parent is not there");
    if (rc > 0)
        rc = vls_turn_parents(&parents, &count, view, &child, err);
    if (rc < 0)
        return rc;
    if (edge->position < 0 || (size_t)edge->position >= count ||
        !vls_turn_ref_equal(&parents[edge->position], &edge->parent))
        return PROBLEM(check, err, "its child does not have it as parent number %lld",
                       (long long)edge->position);
    if (!vls_turn_place_equal(&edge->above, &parent.place) ||
        !vls_turn_place_equal(&edge->below, &child.place))
        return PROBLEM(check, err, "lanes and depths are not those of its ends");
    return 0;
}

/* ---- sessions ---- */

static int check_head(valise_check *check, valise_view *view, const vls_session_row *row,
                      valise_error *err)
{
    vls_turn_row head = {.role = 0};
    int rc = vls_turn_get(&head, view, &row->head, err);

    if (rc == 0)
        return PROBLEM(check, err, "its head %s is not there", vls_turn_ref_write(&row->head).s);
    if (rc > 0 && !vls_turn_place_equal(&row->place, &head.place))
        return PROBLEM(check, err, "its head lies elsewhere than it says");
    if (rc > 0)
        rc = valise_view_get(&(vls_tip_row){.session = row->id, .turn = row->head}, view, &vls_tips,
                             err);
    if (rc > 0)
        return PROBLEM(check, err, "its head is a tip as well");
    if (rc == 0 && !vls_str_equal(row->role, head.in_force.ptr ? head.in_force : row->first_role))
        return PROBLEM(check, err, "its role is not the one in force at its head");
    return rc;
}

int vls_session_check(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_session_row *row = arg;

    if (row->head.version > 0)
        return check_head(check, view, row, err);
    return vls_str_equal(row->role, row->first_role)
               ? 0
               : PROBLEM(check, err, "nothing was said yet, and its role is not the first one");
}

int vls_tip_check(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_tip_row *tip = arg;
    vls_session_row session = {.id = tip->session};
    vls_loose_row loose = {{.id = tip->session}};
    vls_turn_row turn;
    int rc = valise_view_get(&session, view, &vls_sessions, err);

    if (rc == 0) /* it was deleted, and its tips are still going */
        rc = valise_view_get(&loose, view, &vls_loose, err);
    if (rc == 0)
        return PROBLEM(check, err, "its session is not there");
    if (rc > 0)
        rc = vls_turn_get(&turn, view, &tip->turn, err);
    if (rc == 0)
        return PROBLEM(check, err, "its turn is not there");
    if (rc > 0 && !vls_turn_place_equal(&tip->place, &turn.place))
        return PROBLEM(check, err, "its turn lies elsewhere than it says");
    return vls_settle(rc);
}

int vls_loose_check(valise_check *check, valise_view *view, const void *arg, valise_error *err)
{
    const vls_loose_row *loose = arg;
    vls_turn_row turn;
    int rc = loose->ref.version == 0 ? 1 : vls_turn_get(&turn, view, &loose->ref, err);

    if (rc == 0)
        return PROBLEM(check, err, "the turn that waits to be removed is not there");
    return vls_settle(rc);
}
