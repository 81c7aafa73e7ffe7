/* seen.c -- see seen.h. */
#include "chat/seen.h"

static bool has_lane(const void *item, const void *lane)
{
    return vls_uuid_equal(&((const vls_seen_low *)item)->row.place.lane, lane);
}

void vls_met_init(vls_met *met, valise_view *view)
{
    *met = (vls_met){.view = view};
    vls_arena_init(&met->arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    vls_map_init(&met->lanes, view->arena.env, has_lane);
}

void vls_met_release(vls_met *met)
{
    vls_map_release(&met->lanes);
    vls_arena_release(&met->arena);
}

int vls_met_add(vls_met *met, const vls_turn_row *low, const vls_turn_ref *above, valise_error *err)
{
    const valise_uuid *lane = &low->place.lane;
    uint64_t hash = vls_lane_hash(met->view, lane);
    vls_seen_low *first = vls_map_get(&met->lanes, hash, lane);
    vls_seen_low *fresh;

    for (vls_seen_low *at = first; at; at = at->next) {
        if (vls_turn_ref_equal(&at->row.ref, above)) {
            at->row = *low;
            return 0;
        }
    }
    fresh = vls_arena_alloc(&met->arena, sizeof(*fresh));
    if (!fresh)
        return vls_arena_fail(&met->arena, err);
    *fresh = (vls_seen_low){NULL, *low};
    if (first) {
        fresh->next = first->next;
        first->next = fresh;
        return 0;
    }
    return vls_map_put(NULL, &met->lanes, hash, lane, fresh) < 0 ? vls_fail_memory(err) : 0;
}

int vls_met_has(const vls_met *met, const vls_turn_row *turn, valise_error *err)
{
    const valise_uuid *lane = &turn->place.lane;
    const vls_seen_low *at = vls_map_get(&met->lanes, vls_lane_hash(met->view, lane), lane);
    int rc = met->line ? vls_turn_is_on(met->view, turn, met->line, err) : 0;

    for (; at && rc == 0; at = at->next)
        rc = vls_turn_is_on(met->view, turn, &at->row, err);
    return rc;
}

/* Up from `at`, which was not met, as far as that is so. */
static int climb(vls_turn_row *at, const vls_met *met, valise_error *err)
{
    while (at->parent.version > 0) {
        const vls_turn_ref ways[] = {at->jump, at->parent};
        bool moved = false;

        for (size_t i = 0; i < VLS_COUNT(ways) && !moved; i++) {
            vls_turn_row next = {0};
            int rc;
            if (ways[i].version == 0)
                continue;
            rc = vls_turn_need(&next, met->view, &ways[i], at, err);
            if (rc == 0 && next.place.depth >= at->place.depth)
                rc = vls_fail(err, VALISE_E_CORRUPT, "turn %s does not lead up",
                              vls_turn_ref_write(&at->ref).s);
            if (rc == 0)
                rc = vls_met_has(met, &next, err);
            if (rc < 0)
                return rc;
            moved = rc == 0;
            if (moved)
                *at = next;
        }
        if (!moved)
            return 0;
    }
    return 0;
}

int vls_met_edge(vls_turn_row *out, const vls_met *met, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_row at = *turn;
    int rc;

    if (!met->line && met->lanes.len == 0)
        return vls_turn_up(out, met->view, turn, 0, err);
    rc = climb(&at, met, err);
    if (rc == 0)
        *out = at;
    return rc;
}

int vls_met_last(vls_turn_row *out, const vls_met *met, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_row at = *turn;
    int rc = vls_met_has(met, turn, err);

    if (rc == 0) {
        rc = climb(&at, met, err);
        if (rc == 0 && at.parent.version == 0)
            return 0;
        if (rc == 0)
            rc = vls_turn_need(&at, met->view, &at.parent, &at, err);
    }
    if (rc < 0)
        return rc;
    *out = at;
    return 1;
}
