/* history.c -- stage 1: from the head to the root, and what of it is sent. [P1] [P7]
 *
 * The path is walked from its end, and no further than the window reaches. A summary stands where
 * the first turn stood that it covers; where it covers an older summary it stands for what that one
 * covered as well. Of what is covered not even the blocks are read, unless an older summary among
 * them could reach further up. */
#include "chat/graph.h"
#include "json/make.h"
#include "prompt/build.h"
#include "prompt/cost.h"
#include "prompt/stage.h"
#include "prompt/trim.h"
#include "store/view.h"

/* Policies shorten what is read: so much more of it is looked at. */
#define POLICY_REACH 4

/* A summary that was met on the way up, and has not found its place yet. */
typedef struct summary {
    vls_part part;
    size_t open; /* ranges whose beginning was not met yet */
    bool needed; /* one of them does not lie in what a newer summary covers */
} summary;

/* What a summary covers. */
typedef struct range {
    size_t summary;
    vls_turn_ref from, to;
    vls_turn_row end; /* the range is one of the path to this turn, a parent of the summary */
    bool first;       /* it begins with the first turn: nothing reaches further up */
    bool inside;      /* `to` was met */
    int64_t met;      /* where on the path that was */
} range;

typedef struct walking {
    valise_view *view;
    const vls_request *request;
    vls_choice *choice;
    vls_parts parts; /* the newest first */
    vls_vec(vls_place_of) places;
    vls_vec(summary) summaries;
    vls_vec(range) ranges; /* of those that wait */
    int64_t position;      /* of the turn at hand */
    int64_t tokens, reach; /* read so far; where to stop, or INT64_MAX */
} walking;

static int add(walking *w, const vls_part *part, valise_error *err)
{
    vls_arena *arena = &w->view->arena;

    if (!vls_vec_push_in(&w->parts, arena, *part) ||
        !vls_vec_push_in(&w->places, arena, (vls_place_of){.position = w->position}))
        return vls_arena_fail(arena, err);
    w->parts.ptr[w->parts.len - 1].stands = w->position;
    w->tokens += part->tokens;
    return 0;
}

/* ---- summaries ---- */

/* Does the turn lie in the range? Where paths meet, turns of another one may stand between. */
static int is_covered(const walking *w, const range *r, const vls_turn_row *turn, valise_error *err)
{
    if (!r->inside || w->request->head.merge.version == 0)
        return r->inside;
    return vls_turn_is_before(w->view, turn, &r->end, err);
}

/* Does all of it lie in what a newer summary covers? Both begin here, or the other one goes on. */
static bool is_within(const walking *w, const range *r)
{
    for (size_t i = 0; i < w->ranges.len; i++) {
        const range *other = &w->ranges.ptr[i];

        if (other->summary < r->summary && other->inside && other->met >= r->met)
            return true;
    }
    return false;
}

/* A range is over; with the last one the summary has its place, or is not needed. */
static int end_range(walking *w, const range *r, valise_error *err)
{
    summary *s = &w->summaries.ptr[r->summary];

    if (--s->open > 0)
        return 0;
    return s->needed ? add(w, &s->part, err)
                     : vls_leave(w->choice, w->view, VLS_PART_TURN, s->part.name, "summarized",
                                 s->part.tokens, err);
}

static int open_ranges(walking *w, const vls_turn_row *turn, vls_json value, size_t whose,
                       valise_error *err);

/* A turn is covered by this range: if it is a summary, what it covers is that of who covers it. */
static int take_over(walking *w, const range *by, const vls_turn_row *turn, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    const size_t whose = by->summary;
    valise_str text = {NULL, 0};
    vls_json value = vls_json_null();
    int rc;

    if (by->first || turn->noprompt || vls_id_is_none(&turn->blocks))
        return 0;
    rc = valise_view_object(&text, w->view, &turn->blocks, err);
    if (rc < 0 || vls_str_find(text, VLS_STR("\"covers\"")) >= text.len)
        return rc;
    rc = vls_json_parse(&value, &w->view->arena, text, &limits, err);
    if (rc == 0)
        rc = open_ranges(w, turn, value, whose, err);
    if (rc > 0)
        w->summaries.ptr[whose].open += (size_t)rc;
    return vls_settle(rc);
}

/* The range that covers the turn: 1; 0: none does. */
static int find_cover(range *out, walking *w, const vls_turn_row *turn, valise_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < w->ranges.len; i++) {
        range *r = &w->ranges.ptr[i];

        if (vls_turn_ref_equal(&r->to, &turn->ref)) {
            r->inside = true;
            r->met = w->position;
        }
        if (rc != 0)
            continue;
        rc = is_covered(w, r, turn, err);
        *out = *r;
    }
    return rc;
}

/* Is the turn covered? Summaries whose range begins here stand here. */
static int pass_ranges(bool *covered, walking *w, const vls_turn_row *turn, valise_error *err)
{
    range by = {.summary = 0};
    size_t kept = 0;
    int rc = find_cover(&by, w, turn, err);

    *covered = rc > 0;
    if (rc > 0)
        rc = take_over(w, &by, turn, err);
    for (size_t i = 0; i < w->ranges.len; i++) {
        const range *r = &w->ranges.ptr[i];

        if (vls_turn_ref_equal(&r->from, &turn->ref) && !(r->inside && is_within(w, r)))
            w->summaries.ptr[r->summary].needed = true;
    }
    for (size_t i = 0; i < w->ranges.len && rc >= 0; i++) {
        range r = w->ranges.ptr[i];

        /* One whose end comes before its beginning (as seen from another merge) covers nothing. */
        if (vls_turn_ref_equal(&r.from, &turn->ref))
            rc = end_range(w, &r, err);
        else
            w->ranges.ptr[kept++] = r;
    }
    w->ranges.len = kept;
    return vls_settle(rc);
}

/* Is it on the path that is walked, at or above this turn? */
static int is_on_path(const walking *w, const vls_turn_row *turn, const vls_turn_row *end,
                      valise_error *err)
{
    vls_turn_row at = {0};
    int rc = vls_turn_is_before(w->view, turn, end, err);

    if (rc <= 0 || !w->request->first_parents || w->request->head.merge.version == 0)
        return rc;
    if (turn->place.depth > w->request->head.place.depth)
        return 0;
    rc = vls_turn_up(&at, w->view, &w->request->head, turn->place.depth, err);
    return rc < 0 ? rc : vls_turn_ref_equal(&at.ref, &turn->ref);
}

/* Which of its parents the range leads to: 1; 0 where it is not on this path. */
static int find_range(range *r, walking *w, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_row from = {0}, to = {0};
    vls_turn_ref *parents = NULL;
    size_t count = 0;
    int rc = vls_turn_get(&from, w->view, &r->from, err);

    if (rc > 0)
        rc = vls_turn_get(&to, w->view, &r->to, err);
    if (rc <= 0)
        return rc;
    r->first = from.parent.version == 0 && w->request->head.merge.version == 0;
    rc = vls_turn_parents(&parents, &count, w->view, turn, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = vls_turn_get(&r->end, w->view, &parents[i], err);
        if (rc > 0)
            rc = is_on_path(w, &from, &r->end, err);
        if (rc > 0)
            rc = is_on_path(w, &to, &r->end, err);
    }
    return rc;
}

/* The ranges that a turn with summaries covers: they wait for their turns, for this summary. How
 * many, or less. */
static int open_ranges(walking *w, const vls_turn_row *turn, vls_json value, size_t whose,
                       valise_error *err)
{
    int count = 0;

    for (uint32_t i = 0; value.type == VLS_JSON_ARRAY && i < value.len; i++) {
        range r = {.summary = whose};
        vls_json covers;
        int rc;

        if (!vls_str_equal(vls_text_of(value.items[i], "type"), VLS_STR("summary")))
            continue;
        covers = vls_member_of(value.items[i], "covers");
        if (!vls_turn_ref_read(&r.from, vls_text_of(covers, "from")) ||
            !vls_turn_ref_read(&r.to, vls_text_of(covers, "to")))
            continue;
        rc = find_range(&r, w, turn, err);
        if (rc > 0 && !vls_vec_push_in(&w->ranges, &w->view->arena, r))
            rc = vls_arena_fail(&w->view->arena, err);
        if (rc < 0)
            return rc;
        count += rc > 0;
    }
    return count;
}

/* ---- turns ---- */

static int drop_thinking(walking *w, vls_part *part, valise_error *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < part->value.len && rc == 0; i++) {
        vls_prompt_edit edit = {.kind = VLS_EDIT_DROP,
                                .block = (int32_t)i,
                                .inner = -1,
                                .reason = "thinking is not sent"};

        if (vls_str_equal(vls_text_of(part->value.items[i], "type"), VLS_STR("thinking"))) {
            int64_t cost = vls_block_cost(part->value.items[i]);

            part->tokens -= VLS_MIN(part->tokens, cost);
            rc = vls_part_edit(part, &w->view->arena, &edit, err);
        }
    }
    return rc;
}

static int read_turn(vls_part *out, walking *w, const vls_turn_row *turn, valise_str name,
                     valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    vls_arena *arena = &w->view->arena;
    int rc = vls_arena_dup(&out->name, arena, name, err);

    out->section = VLS_SECTION_HISTORY;
    out->kind = VLS_PART_TURN;
    out->says = (uint8_t)turn->role;
    out->kept = true;
    out->version = VALISE_NONE;
    out->id = turn->blocks;
    out->reason = VLS_STR("said in this session");
    if (rc == 0)
        rc = vls_arena_dup(&out->author, arena, turn->actor, err);
    if (rc == 0)
        rc = valise_view_object(&out->text, w->view, &turn->blocks, err);
    if (rc == 0)
        rc = vls_json_parse(&out->value, arena, out->text, &limits, err);
    if (rc == 0 && out->value.type != VLS_JSON_ARRAY)
        rc = vls_fail(err, VALISE_E_CORRUPT, "the blocks of turn %.*s are no list",
                      VALISE_STR_ARG(name));
    if (rc < 0)
        return rc;
    out->tokens = vls_turn_cost(out->value);
    return vls_part_assets(out, w->view, w->request, err);
}

static int take_turn(walking *w, const vls_turn_row *turn, valise_str name, valise_error *err)
{
    summary s = {0};
    int rc = read_turn(&s.part, w, turn, name, err);

    if (rc == 0 && w->request->thinking == VLS_THINKING_DROP)
        rc = drop_thinking(w, &s.part, err);
    if (rc == 0)
        rc = open_ranges(w, turn, s.part.value, w->summaries.len, err);
    if (rc <= 0)
        return rc < 0 ? rc : add(w, &s.part, err);
    s.open = (size_t)rc;
    s.part.reason = VLS_STR("a summary of what was said before");
    return vls_vec_push_in(&w->summaries, &w->view->arena, s)
               ? 0
               : vls_arena_fail(&w->view->arena, err);
}

static int walk_turn(void *arg, const vls_turn_row *turn, valise_error *err)
{
    walking *w = arg;
    vls_turn_ref_text ref = vls_turn_ref_write(&turn->ref);
    valise_str name = valise_str_of(ref.s);
    bool covered = false;
    int rc = pass_ranges(&covered, w, turn, err);

    if (rc == 0 && covered)
        rc = vls_leave(w->choice, w->view, VLS_PART_TURN, name, "summarized", 0, err);
    else if (rc == 0 && turn->noprompt)
        rc = vls_leave(w->choice, w->view, VLS_PART_TURN, name, "not for models", 0, err);
    else if (rc == 0 && vls_id_is_none(&turn->blocks))
        rc = vls_leave(w->choice, w->view, VLS_PART_TURN, name, "erased", 0, err);
    else if (rc == 0)
        rc = take_turn(w, turn, name, err);
    w->position--;
    if (rc < 0)
        return rc;
    return w->tokens > w->reach && w->ranges.len == 0;
}

/* ---- all of it ---- */

static void turn_around(walking *w)
{
    for (size_t i = 0, k = w->parts.len; i + 1 < k; i++) {
        vls_part part = w->parts.ptr[i];
        vls_place_of place = w->places.ptr[i];

        k--;
        w->parts.ptr[i] = w->parts.ptr[k];
        w->places.ptr[i] = w->places.ptr[k];
        w->parts.ptr[k] = part;
        w->places.ptr[k] = place;
    }
}

static int walk(walking *w, valise_error *err)
{
    vls_trail trail = {.env = NULL};
    int rc =
        vls_trail_make(&trail, w->view, &w->request->head, NULL, w->request->first_parents, err);

    /* Without a window all of it is taken: room for it once, not twice and again. */
    if (rc == 0 && w->reach == INT64_MAX && trail.count > 0 &&
        !vls_vec_reserve_in(&w->parts, &w->view->arena, (size_t)trail.count))
        rc = vls_arena_fail(&w->view->arena, err);
    if (rc == 0) {
        w->position = trail.count - 1;
        rc = vls_settle(vls_trail_each(&trail, w->view, 0, true, walk_turn, w, err));
    }
    vls_trail_release(&trail);
    if (rc == 0)
        turn_around(w); /* else there may be a part without a place */
    return rc;
}

/* Before parts[first]: told, as far as there is room. */
static int leave_before(walking *w, size_t first, valise_error *err)
{
    int rc = 0;

    w->choice->trimmed = first < w->places.len ? w->places.ptr[first].position : 0;
    for (size_t i = first; i > 0 && rc == 0; i--)
        rc = vls_leave(w->choice, w->view, VLS_PART_TURN, w->parts.ptr[i - 1].name, "does not fit",
                       w->parts.ptr[i - 1].tokens, err);
    return rc;
}

static int trim(size_t *first, walking *w, int64_t room, valise_error *err)
{
    bool whole = w->position < 0;
    size_t count = w->parts.len, at = count;
    int64_t unit = 0;
    int rc = vls_trim_opens(w->places.ptr, w->parts.ptr, count, whole, &w->view->arena, err);

    if (rc < 0)
        return rc;
    *first = vls_trim(w->places.ptr, w->parts.ptr, count, whole, room);
    if (*first < count || count == 0)
        return leave_before(w, *first, err);
    while (at > 0 && w->places.ptr[at - 1].opens == VLS_OPENS_NEVER)
        unit += w->parts.ptr[--at].tokens;
    if (at > 0)
        unit += w->parts.ptr[at - 1].tokens;
    rc = vls_fail(err, VALISE_E_LIMIT,
                  "the last turns take %s%lld tokens; there is room for %lld tokens of "
                  "history",
                  at > 0 || whole ? "" : "more than ", (long long)unit, (long long)room);
    vls_hint(err, "give a larger window, cut results with a policy, or compact the session");
    return rc;
}

/* Lots are counted from where looking begins. Where that is not the beginning of the path it must
 * not move with each turn either: it is a round number, as that of a trimmed history is. */
static int apply_policies(walking *w, valise_error *err)
{
    size_t count = w->parts.len, first = 0;
    int64_t from;

    if (w->position >= 0 && count > 0) {
        from = w->places.ptr[0].position;
        from = vls_trim_round(from, from + (w->places.ptr[count - 1].position - from) / 4);
        while (first < count && w->places.ptr[first].position < from)
            first++;
    }
    return vls_policies_apply(NULL, &w->view->arena, &w->request->policies, w->parts.ptr + first,
                              count - first, err);
}

/* From parts[first] on. They may be many, so they are not copied unless others stand before. */
static int hand_over(vls_choice *out, walking *w, size_t first, valise_error *err)
{
    size_t count = w->parts.len - first;

    if (count == 0)
        return 0;
    if (out->parts.len == 0) {
        out->parts.ptr = w->parts.ptr + first;
        out->parts.len = out->parts.cap = count;
        return 0;
    }
    if (!vls_vec_reserve_in(&out->parts, &w->view->arena, out->parts.len + count))
        return vls_arena_fail(&w->view->arena, err);
    memcpy(out->parts.ptr + out->parts.len, w->parts.ptr + first, count * sizeof(*w->parts.ptr));
    out->parts.len += count;
    return 0;
}

int vls_choose_history(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                       valise_error *err)
{
    bool policies = request->policies.clear_results || request->policies.drop_thinking ||
                    request->policies.newest_read || request->policies.cut_results;
    walking w = {.view = view, .request = request, .choice = out, .reach = INT64_MAX};
    size_t first = 0;
    int rc;

    if (request->head.ref.version == 0)
        return 0;
    if (room != VALISE_NONE)
        w.reach =
            room > INT64_MAX / POLICY_REACH ? INT64_MAX : room * (policies ? POLICY_REACH : 1);
    rc = walk(&w, err);
    if (rc == 0 && policies)
        rc = apply_policies(&w, err);
    if (rc == 0 && room != VALISE_NONE)
        rc = trim(&first, &w, room, err);
    return rc < 0 ? rc : hand_over(out, &w, first, err);
}
