/* append.c -- a new version in the graph. Moving heads is in move.c, what the blocks must agree
 * with on the path in said.c. */
#include "chat/append.h"

#include <string.h>

#include "blob/receive.h"
#include "chat/graph.h"
#include "chat/said.h"
#include "store/view.h"

/* ---- parents ---- */

static int get_parents(vls_said *said, valise_view *view, const vls_turn_new *turn,
                       valise_error *err)
{
    void *rows = NULL;
    int rc;

    if (turn->parent_count == 0)
        return 0;
    rc = valise_view_alloc(&rows, view, turn->parent_count * sizeof(vls_turn_row), err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < turn->parent_count; i++) {
        rc = vls_turn_get((vls_turn_row *)rows + i, view, &turn->parents[i], err);
        if (rc == 0)
            return vls_fail(err, VALISE_E_NOT_FOUND, "there is no turn %s",
                            vls_turn_ref_write(&turn->parents[i]).s);
        if (rc < 0)
            return rc;
    }
    said->parents = rows;
    said->parent_count = turn->parent_count;
    return 0;
}

/* ---- id and version ---- */

/* The greatest number that a version of the turn has or had; 0: there was none. */
static int last_version(int64_t *out, valise_view *view, const valise_uuid *id, valise_error *err)
{
    const vls_turn_row key = {.ref = {.id = *id}};
    const valise_select select = {.row = &key, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    vls_node_row node = {.id = *id};
    vls_turn_row row = {.role = 0};
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_turns, &select, err);

    *out = 0;
    if (rc == 0)
        rc = valise_scan_next(&row, scan, err);
    if (rc > 0)
        *out = row.ref.version;
    valise_scan_close(scan);
    if (rc >= 0)
        rc = valise_view_get(&node, view, &vls_nodes, err);
    if (rc > 0)
        *out = VLS_MAX(*out, node.last);
    return vls_settle(rc);
}

static int name_version(vls_turn_ref *out, valise_view *view, const vls_turn_new *turn,
                        valise_error *err)
{
    int64_t last;
    vls_turn_row row;
    int rc;

    *out = (vls_turn_ref){turn->id, turn->version};
    if (vls_uuid_is_none(&turn->id)) {
        out->version = 1;
        return valise_view_uuid(&out->id, view, err);
    }
    if (turn->version != 0) {
        rc = vls_turn_get(&row, view, out, err);
        return rc <= 0 ? rc
                       : vls_fail(err, VALISE_E_EXISTS, "turn %s already exists",
                                  vls_turn_ref_write(out).s);
    }
    rc = last_version(&last, view, &turn->id, err);
    out->version = last + 1;
    return rc;
}

/* Lanes are ids that nobody else has: the first version of a turn lends its own. */
static int fresh_lane(valise_uuid *out, valise_view *view, const vls_turn_ref *ref,
                      valise_error *err)
{
    *out = ref->id;
    return ref->version == 1 ? 0 : valise_view_uuid(out, view, err);
}

/* ---- what goes with it ---- */

static int put_edge(valise_view *view, const vls_turn_row *row, const vls_turn_row *parent,
                    size_t position, valise_error *err)
{
    const vls_edge_row edge = {.parent = parent->ref,
                               .child = row->ref,
                               .position = (int64_t)position,
                               .above = parent->place,
                               .below = row->place};

    return valise_view_put(view, &vls_edges, &edge, err);
}

static int put_edges(valise_view *view, const vls_turn_row *row, const vls_said *said,
                     valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < said->parent_count; i++) {
        const vls_turn_row *parent = &said->parents[i];
        if (i > 0 || !vls_uuid_equal(&parent->place.lane, &row->place.lane))
            rc = put_edge(view, row, parent, i, err);
    }
    return rc;
}

static int hold_blobs(valise_view *view, const vls_turn_row *row, const vls_blocks *blocks,
                      const valise_list *told, valise_error *err)
{
    static const valise_list none = {.count = 0};
    vls_turn_ref_text text;
    int rc = 0;

    if (blocks->blobs.len == 0)
        return 0;
    text = vls_turn_ref_write(&row->ref);
    for (size_t i = 0; rc >= 0 && i < blocks->blobs.len; i++) {
        const vls_blob_hold hold = {blocks->blobs.ptr[i], VLS_HOLD_TURN, valise_str_of(text.s)};
        const vls_blob_about about = vls_blob_told_of(told ? told : &none, &hold.blob);
        rc = vls_blob_take(view, &hold, &about, err);
    }
    return vls_settle(rc);
}

/* ---- all of it ---- */

static int fill(vls_turn_row *row, valise_view *view, const vls_turn_new *turn,
                const vls_said *said, valise_error *err)
{
    const valise_stamp *stamp = valise_view_stamp(view);
    valise_uuid lane;
    int rc;

    *row = (vls_turn_row){.role = turn->role,
                          .blocks = turn->blocks->id,
                          .merges = said->parent_count > 1,
                          .calls = said->blocks.calls.len > 0,
                          .hidden = turn->hidden,
                          .noprompt = turn->noprompt,
                          .time = turn->time == VALISE_NONE ? stamp->time : turn->time,
                          .actor = turn->actor.ptr ? turn->actor : stamp->actor,
                          .metadata = turn->metadata,
                          .source = turn->source};
    if (said->parent_count > 0)
        row->parent = said->parents[0].ref;
    rc = name_version(&row->ref, view, turn, err);
    if (rc == 0)
        rc = vls_said_force(&row->in_force, said, view, err);
    if (rc == 0)
        rc = fresh_lane(&lane, view, &row->ref, err);
    return rc < 0 ? rc : vls_turn_link(row, view, said->parents, &lane, err);
}

int vls_turn_append(vls_turn_row *out, valise_view *view, const vls_turn_new *turn,
                    valise_error *err)
{
    vls_said said = {.role = turn->role};
    vls_turn_row row;
    int rc = vls_said_read(&said, view, turn->blocks, err);

    if (rc == 0)
        rc = get_parents(&said, view, turn, err);
    if (rc == 0)
        rc = vls_said_check(&said, view, err);
    if (rc == 0)
        rc = fill(&row, view, turn, &said, err);
    if (rc == 0)
        rc = valise_view_put(view, &vls_turns, &row, err);
    if (rc == 0)
        rc = put_edges(view, &row, &said, err);
    if (rc == 0)
        rc = hold_blobs(view, &row, &said.blocks, turn->blobs, err);
    if (rc == 0)
        *out = row;
    return rc;
}
