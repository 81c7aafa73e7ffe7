/* bundle.c -- see bundle.h; what arrives is looked at in arrive.c. */
#include "chat/bundle.h"

#include "base/hex.h"
#include "base/str.h"
#include "blob/hold.h"
#include "chat/append.h"
#include "chat/graph.h"
#include "chat/move.h"
#include "memory/memory.h"
#include "store/view.h"

#define TIPS_MAX 64 /* of a session, that are compared with each other */

static const valise_id no_id;

int vls_turn_blocks(vls_blocks *out, valise_blob **blob, valise_view *view, vls_arena *arena,
                    const vls_turn_row *turn, valise_error *err)
{
    valise_error failure = VALISE_ERROR_INIT;
    int rc;

    *out = (vls_blocks){.unknown = 0};
    if (vls_id_equal(&turn->blocks, &no_id))
        return 0;
    rc = vls_view_blob(blob, view, &turn->blocks, &failure);
    if (rc == VALISE_E_NOT_FOUND) /* it was erased elsewhere */
        return 0;
    if (rc < 0) {
        if (err)
            *err = failure;
        return rc;
    }
    rc = vls_blocks_read(out, arena, valise_blob_bytes(*blob), err);
    return rc < 0 ? rc : 1;
}

/* ---- what leads where ---- */

static int lead_turn(const vls_turn_ref *ref, valise_lead_fn *fn, void *arg, valise_error *err)
{
    const vls_turn_row turn = {.ref = *ref};

    return ref->version > 0 ? fn(arg, &vls_turns, &turn, err) : 0;
}

static int lead_role(valise_str name, valise_lead_fn *fn, void *arg, valise_error *err)
{
    const vls_role_row role = {.name = name};

    return name.ptr ? fn(arg, &vls_roles, &role, err) : 0;
}

typedef struct tip_lead {
    valise_lead_fn *fn;
    void *arg;
} tip_lead;

static int lead_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    const tip_lead *lead = arg;

    return lead->fn(lead->arg, &vls_tips, tip, err);
}

/* What is preferred in this session and nowhere else. */
static int lead_preferences(valise_view *view, const valise_uuid *session, valise_lead_fn *fn,
                            void *arg, valise_error *err)
{
    vls_uuid_string id = vls_uuid_text(session);
    valise_scan *scan = NULL;
    vls_preference_row row;
    int rc = valise_view_scan(&scan, view, &vls_preferences, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        bool its = row.scope == VLS_SCOPE_SESSION && vls_str_equal(row.of, valise_str_of(id.s));
        rc = its ? fn(arg, &vls_preferences, &row, err) : 0;
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

/* Its role is a reference. */
int vls_session_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                      valise_error *err)
{
    const vls_session_row *session = row;
    tip_lead lead = {fn, arg};
    int rc = lead_turn(&session->head, fn, arg, err);

    if (rc == 0)
        rc = vls_tip_each(view, &session->id, lead_tip, &lead, err);
    if (rc == 0)
        rc = lead_preferences(view, &session->id, fn, arg, err);
    return rc != 0 ? rc : lead_role(session->first_role, fn, arg, err);
}

int vls_tip_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                  valise_error *err)
{
    (void)view;
    return lead_turn(&((const vls_tip_row *)row)->turn, fn, arg, err);
}

/* Edges by which a version has its parents; they lead to these. */
static int lead_edges(valise_view *view, const vls_turn_row *turn, valise_lead_fn *fn, void *arg,
                      valise_error *err)
{
    vls_edge_row edge = {.parent = turn->parent, .child = turn->ref};
    valise_select select = {.index = "child", .row = &edge, .equal = 2};
    valise_scan *scan = NULL;
    int rc;

    if (!turn->merges)
        return turn->parent.version > 0 ? fn(arg, &vls_edges, &edge, err) : 0;
    rc = valise_view_scan(&scan, view, &vls_edges, &select, err);
    while (rc >= 0 && (rc = valise_scan_next(&edge, scan, err)) > 0) {
        rc = fn(arg, &vls_edges, &edge, err);
        if (rc != 0)
            break;
    }
    valise_scan_close(scan);
    return rc;
}

static int lead_holds(valise_view *view, const vls_turn_row *turn, valise_lead_fn *fn, void *arg,
                      valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_turn_ref_text text = vls_turn_ref_write(&turn->ref);
    vls_blocks blocks;
    int rc;

    vls_arena_init(&arena, view->arena.env, VLS_VIEW_MAX_BYTES);
    rc = vls_turn_blocks(&blocks, &blob, view, &arena, turn, err);
    if (rc < 0)
        return rc;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < blocks.blobs.len; i++) {
        const vls_blob_hold hold = {blocks.blobs.ptr[i], VLS_HOLD_TURN, valise_str_of(text.s)};
        rc = fn(arg, &vls_blob_holds, &hold, err);
    }
    return rc;
}

int vls_turn_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                   valise_error *err)
{
    const vls_turn_row *turn = row;
    const vls_node_row node = {.id = turn->ref.id};
    int rc = lead_turn(&turn->parent, fn, arg, err);

    if (rc == 0)
        rc = lead_edges(view, turn, fn, arg, err);
    if (rc == 0)
        rc = lead_holds(view, turn, fn, arg, err);
    if (rc == 0)
        rc = lead_role(turn->in_force, fn, arg, err);
    return rc != 0 ? rc : fn(arg, &vls_nodes, &node, err);
}

int vls_edge_leads(valise_view *view, const void *row, valise_lead_fn *fn, void *arg,
                   valise_error *err)
{
    const vls_edge_row *edge = row;
    int rc = lead_turn(&edge->parent, fn, arg, err);

    (void)view;
    return rc != 0 ? rc : lead_turn(&edge->child, fn, arg, err);
}

/* ---- what holds where both sides have it ---- */

/* What came for a head that is not the head here waits for nobody any more. */
static int settle(valise_view *view, const vls_turn_ref *ref, valise_error *err)
{
    const vls_loose_row loose = {*ref};
    int rc = valise_view_delete(view, &vls_loose, &loose, err);

    return vls_settle(rc);
}

/* Tips of theirs have come by themselves: those that are before the head, or before others, are
 * none. */
typedef struct tips {
    valise_view *view;
    vls_turn_row rows[TIPS_MAX + 1]; /* the last one: the head */
    size_t count;
} tips;

static int add_tip(void *arg, const vls_tip_row *tip, valise_error *err)
{
    tips *all = arg;
    int rc = vls_turn_get(&all->rows[all->count], all->view, &tip->turn, err);

    all->count += rc > 0;
    return rc < 0 ? rc : all->count == TIPS_MAX;
}

static int is_tip(valise_view *view, const tips *all, size_t at, valise_error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        int rc = i == at ? 0 : vls_turn_is_before(view, &all->rows[at], &all->rows[i], err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return 1;
}

static int tidy(valise_view *view, const vls_session_row *session, const vls_turn_row *head,
                valise_error *err)
{
    void *room = NULL;
    tips *all;
    int rc = valise_view_alloc(&room, view, sizeof(*all), err);

    if (rc < 0)
        return rc;
    all = room;
    all->view = view;
    all->count = 0;
    rc = vls_tip_each(view, &session->id, add_tip, all, err);
    if (rc < 0)
        return rc;
    all->rows[all->count++] = *head;
    rc = 0;
    for (size_t i = 0; rc >= 0 && i + 1 < all->count; i++) {
        const vls_tip_row tip = {.session = session->id, .turn = all->rows[i].ref};
        rc = is_tip(view, all, i, err);
        if (rc == 0)
            rc = valise_view_delete(view, &vls_tips, &tip, err);
    }
    return vls_settle(rc);
}

static int meet_heads(vls_session_row *ours, valise_view *view, const vls_turn_row *theirs,
                      valise_error *err)
{
    vls_turn_row head = {.role = 0};
    int rc = ours->head.version == 0 ? 1 : vls_turn_get(&head, view, &ours->head, err);

    if (rc == 0)
        return vls_fail(err, VALISE_E_CORRUPT, "turn %s, the head of session %s, is missing",
                        vls_turn_ref_write(&ours->head).s, vls_uuid_text(&ours->id).s);
    if (rc > 0 && ours->head.version > 0)
        rc = vls_turn_is_before(view, &head, theirs, err);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        rc = vls_session_keep(view, ours, theirs, err);
    } else {
        bool same = vls_turn_ref_equal(&ours->head, &theirs->ref);
        rc = same ? 0 : vls_session_move(ours, view, theirs, err);
        head = *theirs;
    }
    return rc < 0 ? rc : tidy(view, ours, &head, err);
}

int vls_session_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    vls_session_row ours = *(const vls_session_row *)here;
    const vls_session_row *other = there;
    vls_turn_row theirs;
    int rc;

    if (other->head.version == 0)
        return 0;
    rc = vls_turn_get(&theirs, view, &other->head, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_INVALID,
                        "the head of session %s is neither in the bundle nor here",
                        vls_uuid_text(&other->id).s);
    if (rc > 0)
        rc = meet_heads(&ours, view, &theirs, err);
    return rc < 0 ? rc : settle(view, &other->head, err);
}

int vls_tip_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    (void)view, (void)here, (void)there, (void)err;
    return 0;
}

static bool is_same_turn(const vls_turn_row *a, const vls_turn_row *b)
{
    return a->role == b->role && vls_turn_ref_equal(&a->parent, &b->parent) &&
           a->merges == b->merges && vls_uuid_equal(&a->place.lane, &b->place.lane) &&
           vls_turn_has_links(a, b) && vls_str_equal(a->in_force, b->in_force) &&
           a->calls == b->calls && a->hidden == b->hidden && a->noprompt == b->noprompt &&
           a->time == b->time && vls_str_equal(a->actor, b->actor);
}

int vls_turn_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_turn_row *a = here, *b = there;

    (void)view;
    if (is_same_turn(a, b) && vls_memory_same_or_erased(&a->blocks, &b->blocks) &&
        vls_memory_same_or_erased(&a->metadata, &b->metadata) &&
        vls_memory_same_or_erased(&a->source, &b->source))
        return 0; /* as it is here: what was erased is not brought back */
    (void)vls_fail(err, VALISE_E_CONFLICT, "turn %s says something else here than in the bundle",
                   vls_turn_ref_write(&a->ref).s);
    vls_hint(err,
             "nothing was imported; a version must never change, so one of the two was altered");
    return VALISE_E_CONFLICT;
}

int vls_node_meet(valise_view *view, const void *here, const void *there, valise_error *err)
{
    const vls_node_row *a = here, *b = there;

    return b->last > a->last ? valise_view_put(view, &vls_nodes, b, err) : 0;
}

/* ---- erasing ---- */

int vls_turn_erased(valise_view *view, const void *row, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    const vls_turn_row *before = row;
    vls_turn_row now = {.ref = before->ref};
    vls_turn_ref_text text = vls_turn_ref_write(&before->ref);
    vls_blocks blocks;
    int rc = valise_view_get(&now, view, &vls_turns, err);

    if (rc < 0 || (rc > 0 && !vls_id_equal(&now.blocks, &no_id)))
        return vls_settle(rc); /* what it says is still there */
    if (vls_id_equal(&before->blocks, &no_id))
        return 0; /* it was gone before, and let go of its blobs then */
    rc = vls_turn_blocks(&blocks, &blob, view, &view->arena, before, err);
    for (size_t i = 0; rc >= 0 && i < blocks.blobs.len; i++) {
        const vls_blob_hold hold = {blocks.blobs.ptr[i], VLS_HOLD_TURN, valise_str_of(text.s)};
        rc = vls_blob_release(view, &hold, err);
        if (rc >= 0)
            rc = vls_blob_forget(view, &hold.blob, err);
    }
    return vls_settle(rc);
}
