/* said.c -- see said.h. What is looked for lies mostly one turn above: a few first parents are
 * looked at before a trail is made. */
#include "chat/said.h"

#include "base/hex.h"
#include "base/map.h"
#include "base/str.h"
#include "base/text.h"
#include "chat/graph.h"
#include "json/make.h"
#include "store/view.h"
#include "wire/neutral.h"

#define NEAR 8u /* first parents that are looked at one by one */

static const valise_id no_id;

int vls_said_read(vls_said *out, valise_view *view, const valise_content *blocks, valise_error *err)
{
    valise_str text = blocks->bytes;
    int rc = text.ptr ? 0 : valise_view_object(&text, view, &blocks->id, err);

    if (rc == 0)
        rc = vls_blocks_read(&out->blocks, &view->arena, text, err);
    /* Else no prompt could be built from here on. */
    return rc < 0 ? rc : vls_neutral_check_blocks(out->blocks.all, err);
}

int vls_said_read_of(vls_blocks *out, valise_view *view, const vls_turn_row *turn,
                     valise_error *err)
{
    valise_str text;
    int rc;

    *out = (vls_blocks){.unknown = 0};
    if (vls_id_equal(&turn->blocks, &no_id))
        return 0;
    rc = valise_view_object(&text, view, &turn->blocks, err);
    return rc < 0 ? rc : vls_blocks_read(out, &view->arena, text, err);
}

int vls_role_check(valise_view *view, valise_str name, valise_error *err)
{
    vls_role_row role = {.name = name};
    int rc = valise_view_get(&role, view, &vls_roles, err);

    if (rc != 0)
        return vls_settle(rc);
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no role '%s'", vls_text_short(name).s);
    vls_hint(err, "'valise role list' lists them; 'valise role add' adds one");
    return VALISE_E_NOT_FOUND;
}

/* ---- sets of ids ---- */

/* Turns may have thousands of calls, and a path has many turns. */
typedef struct ids {
    vls_map map;
    uint64_t seed;
} ids;

static void ids_init(ids *set, const valise_view *view)
{
    vls_map_init(&set->map, view->arena.env, vls_str_is);
    set->seed = view->changes.seed;
}

static bool ids_have(const ids *set, const valise_str *id)
{
    return vls_map_get(&set->map, vls_str_hash(*id, set->seed), id) != NULL;
}

/* They must stay where they are. */
static int ids_add(ids *set, valise_str *list, size_t count, valise_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (vls_map_put(NULL, &set->map, vls_str_hash(list[i], set->seed), &list[i], &list[i]) < 0)
            return vls_fail_memory(err);
    }
    return 0;
}

/* ---- calls ---- */

typedef struct wanting {
    valise_view *view;
    ids missing;  /* results whose call was not met */
    int64_t left; /* turns to look at */
} wanting;

static void strike(wanting *w, const valise_str *calls, size_t count)
{
    for (size_t i = 0; i < count && w->missing.map.len > 0; i++)
        (void)vls_map_remove(&w->missing.map, vls_str_hash(calls[i], w->missing.seed), &calls[i]);
}

/* 1: nothing is missing any more, or enough was looked at. */
static int look_at(void *arg, const vls_turn_row *turn, valise_error *err)
{
    wanting *w = arg;
    vls_blocks blocks;
    int rc;

    if (turn->calls) {
        rc = vls_said_read_of(&blocks, w->view, turn, err);
        if (rc < 0)
            return rc;
        strike(w, blocks.calls.ptr, blocks.calls.len);
    }
    return w->missing.map.len == 0 || --w->left <= 0;
}

/* 1: found; 0: not so near. */
static int look_near(wanting *w, const vls_turn_row *turn, valise_error *err)
{
    vls_turn_row row = *turn;

    for (unsigned i = 0; i < NEAR; i++) {
        int rc = look_at(w, &row, err);
        if (rc != 0)
            return rc;
        if (row.parent.version == 0)
            return 0;
        vls_turn_ref up = row.parent;
        rc = vls_turn_get(&row, w->view, &up, err);
        if (rc <= 0)
            return rc;
    }
    return 0;
}

static int look_far(wanting *w, const vls_turn_row *turn, valise_error *err)
{
    vls_trail trail = {.count = 0};
    int rc = vls_trail_make(&trail, w->view, turn, NULL, false, err);

    if (rc == 0)
        rc = vls_trail_each(&trail, w->view, 0, true, look_at, w, err);
    vls_trail_release(&trail);
    return rc;
}

static int fail_result(const wanting *w, const vls_blocks *blocks, valise_error *err)
{
    size_t i = 0;

    while (!ids_have(&w->missing, &blocks->results.ptr[i]))
        i++;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "there is a tool_result for the call '%s', but no tool_use with this callId "
                   "before it on the path",
                   vls_text_short(blocks->results.ptr[i]).s);
    vls_hint(err, "add it after the turn with the call");
    return VALISE_E_INVALID;
}

/* Results whose call does not stand before them in the same turn. */
static int want_calls(wanting *w, const vls_blocks *blocks, valise_error *err)
{
    size_t calls = 0, results = 0;
    ids own;
    int rc = 0;

    ids_init(&own, w->view);
    for (uint32_t i = 0; rc == 0 && i < blocks->all.len; i++) {
        valise_str type = vls_text_of(blocks->all.items[i], "type");
        valise_str *result;

        if (vls_str_equal(type, VLS_STR("tool_use")))
            rc = ids_add(&own, &blocks->calls.ptr[calls++], 1, err);
        if (!vls_str_equal(type, VLS_STR("tool_result")))
            continue;
        result = &blocks->results.ptr[results++];
        if (!ids_have(&own, result))
            rc = ids_add(&w->missing, result, 1, err);
    }
    vls_map_release(&own.map);
    return rc;
}

static int check_results(const vls_said *said, valise_view *view, valise_error *err)
{
    const vls_blocks *blocks = &said->blocks;
    wanting w = {.view = view, .left = VLS_SAID_LOOK_MAX};
    int rc;

    if (blocks->results.len == 0)
        return 0;
    ids_init(&w.missing, view);
    rc = want_calls(&w, blocks, err);
    for (size_t i = 0; rc >= 0 && w.missing.map.len > 0 && i < said->parent_count; i++)
        rc = look_near(&w, &said->parents[i], err);
    for (size_t i = 0; rc >= 0 && w.missing.map.len > 0 && i < said->parent_count; i++)
        rc = look_far(&w, &said->parents[i], err);
    if (rc >= 0)
        rc = w.missing.map.len > 0 ? fail_result(&w, blocks, err) : 0;
    vls_map_release(&w.missing.map);
    return rc;
}

/* ---- ranges ---- */

enum { BEFORE, WITHIN, BEHIND };

typedef struct covering {
    valise_view *view;
    const vls_block_covers *covers;
    int where;
    ids calls;                  /* in the range */
    ids later;                  /* behind it: a result belongs to the nearest call of its id */
    vls_vec(valise_id) content; /* the hash of each turn in it; zero: erased */
    valise_str split;           /* ptr NULL: none */
} covering;

/* A result behind the range: is its call in it? */
static bool is_split(const covering *c, const valise_str *id)
{
    return !ids_have(&c->later, id) && ids_have(&c->calls, id);
}

static int gather(covering *c, const vls_blocks *blocks, valise_error *err)
{
    int rc = ids_add(&c->calls, blocks->calls.ptr, blocks->calls.len, err);

    for (size_t i = 0; i < blocks->results.len && rc == 0; i++) {
        if (!ids_have(&c->calls, &blocks->results.ptr[i]))
            c->split = blocks->results.ptr[i];
    }
    return rc;
}

/* Only where a hash was given. */
static int gather_hash(covering *c, const vls_turn_row *turn, valise_error *err)
{
    valise_id hash = no_id;

    if (!c->covers->hash.ptr)
        return 0;
    if (!vls_id_equal(&turn->blocks, &no_id))
        vls_turn_hash(&hash, turn->role, &turn->blocks);
    return vls_vec_push_in(&c->content, &c->view->arena, hash)
               ? 0
               : vls_arena_fail(&c->view->arena, err);
}

static int cover(void *arg, const vls_turn_row *turn, valise_error *err)
{
    covering *c = arg;
    vls_turn_ref_text text = vls_turn_ref_write(&turn->ref);
    valise_str ref = valise_str_of(text.s);
    vls_blocks blocks;
    int rc;

    if (c->where == BEFORE && vls_str_equal(ref, c->covers->from))
        c->where = WITHIN;
    if (c->where == BEFORE)
        return 0;
    rc = vls_said_read_of(&blocks, c->view, turn, err);
    if (rc < 0)
        return rc;
    if (c->where == WITHIN) {
        rc = gather(c, &blocks, err);
        if (rc == 0)
            rc = gather_hash(c, turn, err);
        if (rc == 0 && vls_str_equal(ref, c->covers->to))
            c->where = BEHIND;
        return rc;
    }
    for (size_t i = 0; i < blocks.results.len; i++) {
        if (is_split(c, &blocks.results.ptr[i]))
            c->split = blocks.results.ptr[i];
    }
    return ids_add(&c->later, blocks.calls.ptr, blocks.calls.len, err);
}

static int fail_covers(const covering *c, valise_error *err)
{
    const vls_block_covers *covers = c->covers;

    if (c->split.ptr) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "blocks[%zu].covers: the range has only one of the call '%s' and its result",
                       covers->block, vls_text_short(c->split).s);
        vls_hint(err, "a summary must cover a call together with its result");
        return VALISE_E_INVALID;
    }
    if (c->where == BEFORE)
        (void)vls_fail(err, VALISE_E_INVALID, "blocks[%zu].covers.from: %s is not on the path",
                       covers->block, vls_text_short(covers->from).s);
    else
        (void)vls_fail(err, VALISE_E_INVALID,
                       "blocks[%zu].covers.to: %s is not on the path, or before `from`",
                       covers->block, vls_text_short(covers->to).s);
    vls_hint(err, "give both as ID@VERSION of turns before this one, the older one first");
    return VALISE_E_INVALID;
}

/* The results of this version itself belong to the path too. */
static int cover_last(covering *c, const vls_blocks *own)
{
    for (size_t i = 0; c->where == BEHIND && i < own->results.len; i++) {
        if (is_split(c, &own->results.ptr[i]))
            c->split = own->results.ptr[i];
    }
    return c->where == BEHIND && !c->split.ptr;
}

/* 1: it is a range of the path of this parent. */
static int covers_of(covering *c, const vls_turn_row *parent, const vls_blocks *own,
                     valise_error *err)
{
    vls_trail trail = {.count = 0};
    int rc = vls_trail_make(&trail, c->view, parent, NULL, false, err);

    ids_init(&c->calls, c->view);
    ids_init(&c->later, c->view);
    if (rc == 0)
        rc = vls_trail_each(&trail, c->view, 0, false, cover, c, err);
    if (rc >= 0)
        rc = cover_last(c, own);
    vls_trail_release(&trail);
    vls_map_release(&c->calls.map);
    vls_map_release(&c->later.map);
    return rc;
}

/* What was summarized must be what is there (docs/formats.md, "Turns"). */
static int check_hash(const covering *c, valise_error *err)
{
    const vls_block_covers *covers = c->covers;
    valise_id given, found = no_id;
    int rc;

    if (!covers->hash.ptr)
        return 0;
    rc = vls_id_parse(&given, covers->hash, err);
    if (rc == 0)
        vls_covers_hash(&found, c->content.ptr, c->content.len);
    if (rc < 0 || vls_id_equal(&given, &found))
        return rc;
    (void)vls_fail(err, VALISE_E_INVALID,
                   "blocks[%zu].covers.hash: it does not match the turns from %s to %s",
                   covers->block, vls_text_short(covers->from).s, vls_text_short(covers->to).s);
    vls_hint(err, "their hash is %s: read them again, or leave the hash out", vls_id_hex(&found).s);
    return VALISE_E_INVALID;
}

/* A summary stands where what it covers stood: other words of its turn would move with it. */
static int check_alone(const vls_blocks *blocks, valise_error *err)
{
    for (uint32_t i = 0; i < blocks->all.len; i++) {
        if (vls_str_equal(vls_text_of(blocks->all.items[i], "type"), VLS_STR("summary")))
            continue;
        (void)vls_fail(err, VALISE_E_INVALID,
                       "blocks[%u]: the turn has a summary that covers others, and so must have "
                       "nothing else",
                       i);
        vls_hint(err, "say it in a turn of its own");
        return VALISE_E_INVALID;
    }
    return 0;
}

static int check_covers(const vls_said *said, valise_view *view, valise_error *err)
{
    int alone = said->blocks.covers.len > 0 ? check_alone(&said->blocks, err) : 0;

    if (alone < 0)
        return alone;
    for (size_t i = 0; i < said->blocks.covers.len; i++) {
        covering c = {.view = view, .covers = &said->blocks.covers.ptr[i]};
        int rc = 0;
        for (size_t k = 0; rc == 0 && k < said->parent_count; k++) {
            c = (covering){.view = view, .covers = &said->blocks.covers.ptr[i]};
            rc = covers_of(&c, &said->parents[k], &said->blocks, err);
        }
        if (rc == 0)
            rc = fail_covers(&c, err);
        if (rc > 0)
            rc = check_hash(&c, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- roles ---- */

static int check_transition(const vls_said *said, valise_view *view, valise_error *err)
{
    if (!said->blocks.to.ptr)
        return 0;
    if (said->role != VLS_TURN_SYSTEM) {
        (void)vls_fail(err, VALISE_E_INVALID,
                       "a role:transition must come from the role system, not from %s",
                       vls_turn_roles[said->role]);
        vls_hint(err, "use: valise session role switch SESSION ROLE");
        return VALISE_E_INVALID;
    }
    return vls_role_check(view, said->blocks.to, err);
}

int vls_said_check(const vls_said *said, valise_view *view, valise_error *err)
{
    int rc = check_transition(said, view, err);

    if (rc == 0)
        rc = check_results(said, view, err);
    return rc < 0 ? rc : check_covers(said, view, err);
}

/* Is it a transition? 1 and its role. One that was erased shows by what it changed. */
static int is_transition(valise_str *to, valise_view *view, const vls_turn_row *turn,
                         valise_error *err)
{
    vls_turn_row parent = {.role = 0};
    vls_blocks blocks;
    int rc;

    if (turn->role != VLS_TURN_SYSTEM || !turn->in_force.ptr)
        return 0;
    if (!vls_id_equal(&turn->blocks, &no_id)) {
        rc = vls_said_read_of(&blocks, view, turn, err);
        if (rc < 0 || !blocks.to.ptr)
            return rc;
        *to = blocks.to;
        return 1;
    }
    if (turn->merges)
        return 0;
    rc = turn->parent.version == 0 ? 0 : vls_turn_get(&parent, view, &turn->parent, err);
    if (rc < 0 || vls_str_equal(parent.in_force, turn->in_force))
        return vls_settle(rc);
    rc = vls_arena_dup(to, &view->arena, turn->in_force, err);
    return rc < 0 ? rc : 1;
}

typedef struct forcing {
    valise_view *view;
    const vls_turn_row *others; /* what is before one of them counts there */
    size_t count;
    valise_str to;
} forcing;

static int find_force(void *arg, const vls_turn_row *turn, valise_error *err)
{
    forcing *f = arg;
    int rc = is_transition(&f->to, f->view, turn, err);

    for (size_t i = 0; rc > 0 && i < f->count; i++) {
        int before = vls_turn_is_before(f->view, turn, &f->others[i], err);
        if (before != 0)
            return VLS_MIN(before, 0);
    }
    return rc;
}

/* The last transition that this parent brings, and none before it. 1, or 0. */
static int force_of(valise_str *out, const vls_said *said, size_t i, valise_view *view,
                    valise_error *err)
{
    forcing f = {.view = view, .others = said->parents + 1, .count = i - 1};
    vls_trail trail = {.count = 0};
    int rc = vls_trail_make(&trail, view, &said->parents[i], &said->parents[0], false, err);

    if (rc == 0)
        rc = vls_trail_each(&trail, view, 0, true, find_force, &f, err);
    vls_trail_release(&trail);
    if (rc > 0)
        *out = f.to;
    return rc;
}

int vls_said_force(valise_str *out, const vls_said *said, valise_view *view, valise_error *err)
{
    const vls_turn_row *parents = said->parents;
    bool same = true;
    int rc;

    *out = (valise_str){NULL, 0};
    if (said->blocks.to.ptr) {
        *out = said->blocks.to;
        return 0;
    }
    /* Where paths met already, what one brings may end with another transition than the path. */
    for (size_t i = 1; i < said->parent_count; i++)
        same &= vls_str_equal(parents[i].in_force, parents[0].in_force) &&
                parents[i].merge.version == 0;
    for (size_t i = said->parent_count; !same && i-- > 1;) {
        rc = force_of(out, said, i, view, err);
        if (rc != 0)
            return vls_settle(rc);
    }
    if (said->parent_count > 0)
        *out = parents[0].in_force;
    return 0;
}
