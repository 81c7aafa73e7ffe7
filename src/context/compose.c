/* compose.c -- from slots to entries; see compose.h. */
#include "context/compose.h"

#include "base/str.h"
#include "base/tokens.h"
#include "base/vec.h"
#include "context/compose_impl.h"
#include "context/doubt.h"
#include "context/lens_impl.h"
#include "context/slot.h"
#include "store/view.h"

typedef struct leaving {
    vls_vec(const valise_left_out *) list;
    int64_t count;
} leaving;

typedef struct composing {
    valise_view *view;
    const vls_compose_request *request;
    vls_vec(vls_candidate) kept; /* at most twice as many as are kept in the end */
    vls_candidate worst;         /* of those that were kept when there were too many */
    bool full;                   /* that has happened */
    int64_t candidates, matched;
    leaving cut, missing, corrupt;
    bool doubted; /* whoever is not doubted is fresh */
} composing;

/* ---- what is left out ---- */

static int leave_out(composing *c, leaving *where, const vls_candidate *one, int64_t reason,
                     valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    valise_left_out *left;
    int rc;

    where->count++;
    if (where->list.len == VLS_COMPOSE_LISTED)
        return 0;
    left = vls_arena_zalloc(arena, sizeof(*left));
    if (!left || !vls_vec_push_in(&where->list, arena, left))
        return vls_arena_fail(arena, err);
    left->frame = one->head;
    left->reason = reason;
    rc = vls_arena_dup(&left->path, arena, one->path, err);
    return rc < 0 ? rc : vls_arena_dup(&left->type, arena, one->type, err);
}

/* What reading it came to: 1; or 0, where it is damaged or was erased, and is listed. */
static int judge(composing *c, const vls_candidate *one, int rc, valise_error *err)
{
    if (rc >= 0)
        return 1;
    if (rc != VALISE_E_CORRUPT && rc != VALISE_E_NOT_FOUND)
        return rc;
    vls_error_clear(err);
    return rc == VALISE_E_CORRUPT ? leave_out(c, &c->corrupt, one, VALISE_CUT_DAMAGED, err)
                                  : leave_out(c, &c->missing, one, VALISE_CUT_ERASED, err);
}

/* ---- cheap ---- */

static int get_frame(vls_frame_row *out, valise_view *view, const vls_slot_row *slot,
                     valise_error *err)
{
    int rc = vls_frame_get(out, view, &slot->head, err);

    return rc == 0 ? vls_slot_fail_missing(view, slot, "a frame of a slot is missing", err)
                   : vls_settle(rc);
}

static bool needs_agent(const vls_compose_policy *policy)
{
    return policy->lens.agents.count > 0 || policy->agents.count > 0 ||
           policy->order == VLS_COMPOSE_BY_AGENT;
}

static bool needs_entry(const vls_compose_policy *policy)
{
    const vls_lens *lens = &policy->lens;

    return policy->order == VLS_COMPOSE_BY_RECENCY || lens->seq_from != VALISE_NONE ||
           lens->seq_to != VALISE_NONE || lens->time_from != VALISE_NONE ||
           lens->time_to != VALISE_NONE;
}

/* Agent and entry, where they are asked for; does it pass the filters? 1, or 0. */
static int look_up(composing *c, vls_candidate *one, const vls_slot_row *slot, valise_error *err)
{
    const vls_compose_policy *policy = c->request->policy;
    const vls_lens *lens = &policy->lens;
    vls_slot_entry_row entry = {.number = 0};
    vls_lens_item item = {.path = one->path, .type = one->type};
    int rc = 0;

    if (!vls_lens_fits_any(&lens->types, &vls_glob_flat, one->type) ||
        !vls_lens_fits_any(&lens->paths, &vls_glob_path, one->path))
        return 0;
    if (needs_agent(policy))
        rc = get_frame(&one->frame, c->view, slot, err);
    if (rc == 0 && needs_entry(policy)) {
        rc = vls_slot_entry(&entry, c->view, &slot->id, slot->head_entry, err);
        if (rc == 0)
            rc = vls_slot_fail_missing(c->view, slot, "an entry of a slot is missing", err);
    }
    rc = judge(c, one, rc, err);
    if (rc <= 0)
        return rc;
    one->agent = item.agent = one->frame.agent;
    one->seq = item.seq = entry.seq;
    item.time = entry.time;
    return vls_lens_fits(lens, &item);
}

static int compare(const void *a, const void *b)
{
    return vls_compose_compare(a, b);
}

static void sort(composing *c)
{
    if (c->kept.len > 1)
        qsort(c->kept.ptr, c->kept.len, sizeof(*c->kept.ptr), compare);
}

/* Which of them are considered; from now on only who is better than the last of them may come. */
static void shrink(composing *c)
{
    sort(c);
    if (c->kept.len < VLS_COMPOSE_KEPT)
        return;
    c->kept.len = VLS_COMPOSE_KEPT;
    c->worst = c->kept.ptr[c->kept.len - 1];
    c->full = true;
}

/* What it borrows is valid only now. */
static int keep(composing *c, vls_candidate *one, valise_error *err)
{
    vls_arena *arena = &c->view->arena;
    int rc;

    if (c->full && vls_compose_compare(one, &c->worst) > 0)
        return 0;
    rc = vls_arena_dup(&one->path, arena, one->path, err);
    if (rc == 0)
        rc = vls_arena_dup(&one->type, arena, one->type, err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push_in(&c->kept, arena, *one))
        return vls_arena_fail(arena, err);
    if (c->kept.len == (size_t)2 * VLS_COMPOSE_KEPT)
        shrink(c);
    return 0;
}

static int consider(void *arg, const vls_slot_row *slot, int64_t relation, int64_t steps,
                    valise_error *err)
{
    composing *c = arg;
    vls_candidate one = {.request = c->request,
                         .path = slot->path,
                         .type = slot->type,
                         .head = slot->head,
                         .relation = relation,
                         .steps = steps};
    int rc = vls_slot_has_head(slot) ? vls_path_readable(c->view, slot->path, slot->type, err) : 0;

    if (rc <= 0)
        return rc;
    c->candidates++;
    rc = look_up(c, &one, slot, err);
    if (rc <= 0)
        return rc;
    c->matched++;
    vls_compose_score_cheap(&one);
    return keep(c, &one, err);
}

/* ---- load ---- */

static bool asks_words(const composing *c)
{
    const vls_compose_policy *policy = c->request->policy;

    return policy->query.count > 0 &&
           (c->request->explain || policy->order == VLS_COMPOSE_BY_RELEVANCE ||
            policy->order == VLS_COMPOSE_BY_CUSTOM);
}

static int load_score(composing *c, vls_candidate *one, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_str content = {NULL, 0};
    int rc = 0;

    if (asks_words(c))
        rc = vls_view_blob(&blob, c->view, &one->frame.content, err);
    if (rc < 0)
        return rc;
    if (blob)
        content = vls_blob_bytes(blob);
    vls_compose_score(one, one->entry->shown.state.state, content);
    return 0;
}

/* Is its state known without a look? For the node itself what lies on the disk may count. */
static int is_trusted(const composing *c, const vls_candidate *one, valise_error *err)
{
    const vls_place *here = c->request->place;
    int rc;

    if (!c->doubted || vls_str_equal(one->path, here->path))
        return 0;
    rc = vls_doubt_has(c->view, &here->tree.id, one->path, one->type, err);
    return rc < 0 ? rc : rc == 0;
}

static int load_frame(composing *c, vls_candidate *one, valise_error *err)
{
    const vls_place *here = c->request->place;
    vls_place place = {.tree = here->tree, .version = here->version, .path = one->path};
    vls_slot_row slot;
    int rc = vls_slot_get(&slot, c->view, &here->tree.id, one->path, one->type, err);

    if (rc == 0)
        rc = vls_fail(err, VALISE_E_CORRUPT, "a slot is missing");
    if (rc > 0)
        rc = get_frame(&one->frame, c->view, &slot, err);
    if (rc == 0 && vls_id_is_none(&one->frame.content))
        return VALISE_E_NOT_FOUND;
    if (rc == 0)
        rc = vls_tree_get(&place.node, c->view, &place.tree, place.version, place.path, err);
    place.there = rc > 0;
    if (vls_str_equal(one->path, here->path))
        place.tree_is = here->tree_is;
    if (rc >= 0)
        rc = is_trusted(c, one, err);
    place.trusted = rc > 0;
    if (rc >= 0)
        rc = vls_shown_fill(&one->entry->shown, c->view, &place, &slot, &one->frame, err);
    return rc < 0 ? rc : load_score(c, one, err);
}

/* Frame, state and score. 1; or 0: it is not wanted, or listed as what cannot be read. */
static int load(composing *c, vls_candidate *one, valise_error *err)
{
    int rc;

    if (one->entry)
        return 1;
    one->entry = vls_arena_zalloc(&c->view->arena, sizeof(*one->entry));
    if (!one->entry)
        return vls_arena_fail(&c->view->arena, err);
    one->entry->relation = one->relation;
    rc = judge(c, one, load_frame(c, one, err), err);
    if (rc > 0)
        rc = vls_lens_wants_state(&c->request->policy->lens, (int)one->entry->shown.state.state);
    return rc;
}

/* What a comparator of the host's sees: 1. */
static int make_seen(composing *c, vls_candidate *one, valise_error *err)
{
    valise_composed *seen = vls_arena_zalloc(&c->view->arena, sizeof(*seen));

    if (!seen)
        return vls_arena_fail(&c->view->arena, err);
    *seen = (valise_composed){.frame = vls_shown_frame(&one->entry->shown),
                              .relation = one->relation,
                              .score = one->score};
    one->seen = seen;
    return 1;
}

/* Does the order, or which of them are wanted, depend on more than was looked at? */
static bool must_load_all(const composing *c)
{
    const vls_compose_policy *policy = c->request->policy;

    return policy->order == VLS_COMPOSE_BY_RELEVANCE || policy->order == VLS_COMPOSE_BY_CUSTOM ||
           policy->lens.states != 0;
}

static int load_all(composing *c, valise_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->kept.len; i++) {
        vls_candidate *one = &c->kept.ptr[i];
        int rc = load(c, one, err);
        if (rc > 0 && c->request->order)
            rc = make_seen(c, one, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            c->kept.ptr[kept++] = *one;
    }
    c->kept.len = kept;
    sort(c);
    return 0;
}

/* ---- take ---- */

/* What it would cost, without keeping the content of what may not fit. */
static int count_tokens(int64_t *out, composing *c, const vls_candidate *one, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    int rc = vls_view_blob(&blob, c->view, &one->frame.content, err);

    if (rc == 0)
        *out = vls_tokens(vls_blob_bytes(blob));
    return rc;
}

static int read_content(composing *c, vls_candidate *one, valise_error *err)
{
    vls_composed *entry = one->entry;
    int rc = vls_shown_content(&entry->shown, &entry->tokens, c->view, &one->frame, err);

    if (rc == 0 && entry->shown.erased)
        return VALISE_E_NOT_FOUND;
    if (rc == 0 && (int64_t)(entry->shown.text.len + entry->shown.data.len) != one->frame.size)
        return vls_fail(err, VALISE_E_CORRUPT, "a frame does not have the size that it records");
    return rc;
}

/* 1: it is in; 0: it is not. */
static int take(vls_composition *out, composing *c, vls_candidate *one, valise_error *err)
{
    const vls_lens *lens = &c->request->policy->lens;
    int64_t tokens = 0;
    int rc;

    if ((int64_t)out->entries.count == lens->max_frames)
        return leave_out(c, &c->cut, one, VALISE_CUT_FRAMES, err);
    rc = load(c, one, err);
    if (rc <= 0)
        return rc;
    if (lens->max_bytes > 0 && one->frame.size > lens->max_bytes - out->bytes)
        return leave_out(c, &c->cut, one, VALISE_CUT_BYTES, err);
    if (lens->max_tokens > 0)
        rc = judge(c, one, count_tokens(&tokens, c, one, err), err);
    if (rc > 0 && lens->max_tokens > 0 && tokens > lens->max_tokens - out->tokens)
        return leave_out(c, &c->cut, one, VALISE_CUT_TOKENS, err);
    if (rc > 0)
        rc = judge(c, one, read_content(c, one, err), err);
    if (rc <= 0)
        return rc;
    out->bytes += one->frame.size;
    out->tokens += one->entry->tokens;
    if (c->request->explain)
        one->entry->score = &one->score;
    return 1;
}

static int take_all(vls_composition *out, composing *c, valise_error *err)
{
    const vls_composed **entries =
        vls_arena_array(&c->view->arena, VLS_MAX(c->kept.len, 1), sizeof(*entries));

    if (!entries)
        return vls_arena_fail(&c->view->arena, err);
    for (size_t i = 0; i < c->kept.len; i++) {
        vls_candidate *one = &c->kept.ptr[i];
        int rc = take(out, c, one, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            entries[out->entries.count++] = one->entry;
    }
    out->entries.items = entries;
    return 0;
}

static vls_compose_left left_of(const leaving *l)
{
    return (vls_compose_left){{l->list.ptr ? (const void *)l->list.ptr : "", l->list.len},
                              l->count};
}

int vls_compose(vls_composition *out, valise_view *view, const vls_compose_request *request,
                valise_error *err)
{
    const vls_place *place = request->place;
    composing c = {.view = view, .request = request};
    vls_composition done = {.bytes = 0};
    int rc = vls_compose_each(view, request, consider, &c, err);

    if (rc == 0 && place->version == place->tree.version)
        rc = vls_doubt_is_kept(view, &place->tree.id, err);
    if (rc < 0)
        return rc;
    c.doubted = rc > 0;
    rc = 0;
    sort(&c);
    c.kept.len = VLS_MIN(c.kept.len, (size_t)VLS_COMPOSE_KEPT);
    done.candidates = c.candidates;
    done.considered = (int64_t)c.kept.len;
    c.cut.count = c.matched - done.considered;
    if (must_load_all(&c))
        rc = load_all(&c, err);
    if (rc == 0)
        rc = take_all(&done, &c, err);
    if (rc < 0)
        return rc;
    done.cut = left_of(&c.cut);
    done.missing = left_of(&c.missing);
    done.corrupt = left_of(&c.corrupt);
    *out = done;
    return 0;
}
