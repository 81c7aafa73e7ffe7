/* merging.c -- see merging.h.
 *
 * The past of a state is what led to it: the commits of its backpack, the state that this was
 * forked from, and the states that were merged into it (vls_merge_row), each with its own past.
 *
 *     main   --1--2-----3--M--4        fork@2 is in main from M on: a second merge compares with
 *               \        /             that, in either direction
 *     fork       1--2---'--3
 */
#include "backpack/merging.h"

#include "base/hex.h"
#include "base/map.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"

const valise_field vls_merge_in[] = {
    VLS_WHO_FIELDS(vls_merge_args),
    VALISE_FIELD_WITH(vls_merge_args, theirs, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "The backpack to merge from.", .min = 1, .max = VLS_BAG_NAME_MAX,
                      .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_WITH(vls_merge_args, base, STR, 0,
                      "The common ancestor (default: the newest state that both share).",
                      .max = VLS_BAG_NAME_MAX, .ref = VLS_REF_BACKPACK),
    VALISE_FIELD_AS(vls_merge_args, base_point, "basePoint", STR, 0, "The state of the base."),
    VALISE_FIELD_AS(vls_merge_args, theirs_point, "theirsPoint", STR, 0,
                    "The state to merge from (default: the newest)."),
    VALISE_FIELD_AS(vls_merge_args, theirs_id, "theirsId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,
                    "The name must still be that of this backpack."),
    VALISE_FIELD_AS(vls_merge_args, base_id, "baseId", UUID, VALISE_NULLABLE | VALISE_HIDDEN,
                    "The name must still be that of this backpack."),
    VALISE_FIELD(vls_merge_args, passing, BOOL, VALISE_HIDDEN,
                 "The other backpack will be dropped: do not record the merge."),
    VALISE_FIELD_END,
};

/* ---- the past ---- */

#define OPENED_MAX VLS_BAG_DEPTH_MAX /* backpacks that one past is looked for in */
#define NEWEST_MAX 64                /* states that are the newest, since merges crossed */

/* What a state has in it: of each backpack the commits up to one. */
typedef struct step {
    valise_uuid backpack;
    int64_t upto;
    int64_t last;    /* the newest commit there is, once it has a name */
    valise_str name; /* ptr NULL: not opened yet, or dropped */
    bool open;       /* what it comes from is not in the past yet */
    bool forked;     /* a fork starts there, and holds it */
} step;

typedef struct past {
    valise_view *view;
    vls_map map;
    vls_vec(step *) steps; /* of the view's arena */
    vls_vec(step *) open;  /* the last one is opened next */
    const step *from;      /* whose merges are walked over */
} past;

static bool is_step(const void *item, const void *key)
{
    return vls_uuid_equal(&((const step *)item)->backpack, key);
}

static uint64_t hash_of(const valise_uuid *backpack)
{
    return vls_str_hash((valise_str){(const char *)backpack, sizeof(*backpack)}, 0);
}

static step *find_step(const past *p, const valise_uuid *backpack)
{
    return vls_map_get(&p->map, hash_of(backpack), backpack);
}

static bool has(const past *p, const valise_uuid *backpack, int64_t upto)
{
    const step *s = find_step(p, backpack);

    return s && s->upto >= upto;
}

static void begin_past(past *out, valise_view *view)
{
    *out = (past){.view = view};
    vls_map_init(&out->map, view->arena.env, is_step);
}

static void end_past(past *p)
{
    vls_map_release(&p->map);
    vls_vec_release(&p->steps, p->view->arena.env);
    vls_vec_release(&p->open, p->view->arena.env);
}

static int add_step(past *p, const valise_uuid *backpack, int64_t upto, bool forked,
                    valise_error *err)
{
    step *s = find_step(p, backpack);

    if (s && s->name.ptr)
        upto = VLS_MIN(upto, s->last); /* an import may say anything */
    if (s && s->upto >= upto) {
        s->forked |= forked && s->upto == upto;
        return 0;
    }
    if (!s) {
        s = vls_arena_zalloc(&p->view->arena, sizeof(*s));
        if (!s)
            return vls_arena_fail(&p->view->arena, err);
        s->backpack = *backpack;
        if (!vls_vec_push(&p->steps, p->view->arena.env, s) ||
            vls_map_put(NULL, &p->map, hash_of(backpack), backpack, s) < 0)
            return vls_fail_memory(err);
    }
    if (!s->open && !vls_vec_push(&p->open, p->view->arena.env, s))
        return vls_fail_memory(err);
    s->upto = upto;
    s->open = true;
    s->forked = forked;
    return 0;
}

static int add_merge(void *arg, const void *row, valise_error *err)
{
    const vls_merge_row *merge = row;
    past *p = arg;

    return merge->seq > p->from->upto ? 0 : add_step(p, &merge->theirs, merge->upto, false, err);
}

/* What was merged into it, and what it was forked from. Nothing of it is shown yet: the actor is
 * asked for what is. 1; 0: it was dropped. */
static int open_step(past *p, step *s, valise_error *err)
{
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    vls_ledger_head head;
    int rc;

    s->open = false;
    rc = vls_use_begin_id(&use, p->view, &s->backpack, err);
    if (rc < 0)
        return rc == VALISE_E_NOT_FOUND ? 0 : rc;
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    if (rc == 0)
        rc = vls_arena_dup(&s->name, &p->view->arena, head.name, err);
    ledger->ops->leave(ledger->self);
    if (rc < 0)
        return rc;
    s->last = head.last;
    s->upto = VLS_MIN(s->upto, s->last);
    p->from = s;
    rc = ledger->ops->each_row(ledger->self, &vls_bag_merges, add_merge, p, err);
    if (rc == 0 && !vls_uuid_is_none(&head.origin))
        rc = add_step(p, &head.origin, head.origin_seq, true, err);
    return rc < 0 ? rc : 1;
}

/* All that is in the state after a commit. Forks and what was merged last are looked at first, for
 * there is an end to how many are. */
static int gather(past *out, const valise_uuid *backpack, int64_t upto, valise_error *err)
{
    int rc = add_step(out, backpack, upto, false, err);

    for (int opened = 0; opened < OPENED_MAX && out->open.len > 0 && rc >= 0; opened += rc > 0)
        rc = open_step(out, out->open.ptr[--out->open.len], err);
    return rc < 0 ? rc : 0;
}

/* Behind what was not opened there may be a newer state that both have in common. */
static int check_all_open(const past *p, valise_error *err)
{
    if (p->open.len == 0)
        return 0;
    (void)vls_fail(err, VALISE_E_LIMIT,
                   "more than %d backpacks were merged into '%s', directly or through others",
                   OPENED_MAX, vls_text_short(p->steps.ptr[0]->name).s);
    vls_hint(err, "give the state to compare with as --base and --base-point; backpacks that were "
                  "dropped do not count");
    return VALISE_E_LIMIT;
}

static int gather_shown(past *out, const vls_ledger *ledger, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, ledger, err);

    return rc < 0 ? rc : gather(out, &head.id, head.last, err);
}

/* ---- the base ---- */

/* A state that is in both, and all that is in it. */
typedef struct common {
    step at;
    past of;
} common;

typedef struct meeting {
    const past *ours;
    vls_vec(common) newest; /* none of them is in another */
} meeting;

/* Where a backpack of theirs is in both. False: nowhere that could be shown. */
static bool is_common(step *out, const past *ours, const step *their)
{
    const step *our = find_step(ours, &their->backpack);

    if (!our || !their->name.ptr)
        return false;
    *out = *their;
    if (our->upto < their->upto)
        out->forked = our->forked;
    else if (our->upto == their->upto)
        out->forked |= our->forked;
    out->upto = VLS_MIN(their->upto, our->upto);
    return true;
}

static int add_newest(meeting *m, const common *c, valise_error *err)
{
    size_t left = 0;

    for (size_t i = 0; i < m->newest.len; i++) {
        common *old = &m->newest.ptr[i];
        if (has(&c->of, &old->at.backpack, old->at.upto))
            end_past(&old->of);
        else
            m->newest.ptr[left++] = *old;
    }
    m->newest.len = left;
    if (left == NEWEST_MAX) {
        (void)vls_fail(err, VALISE_E_LIMIT,
                       "the two backpacks have more than %d newest states in common", NEWEST_MAX);
        vls_hint(err, "give the state to compare with as --base and --base-point");
        return VALISE_E_LIMIT;
    }
    return vls_vec_push(&m->newest, c->of.view->arena.env, *c) ? 0 : vls_fail_memory(err);
}

/* Is it in one that can be shown? */
static bool is_covered(const meeting *m, const valise_uuid *backpack, int64_t upto)
{
    for (size_t i = 0; i < m->newest.len; i++) {
        if (has(&m->newest.ptr[i].of, backpack, upto))
            return true;
    }
    return false;
}

static int try_step(meeting *m, const step *their, valise_error *err)
{
    common c;
    int rc;

    if (!is_common(&c.at, m->ours, their) || is_covered(m, &c.at.backpack, c.at.upto))
        return 0;
    begin_past(&c.of, m->ours->view);
    rc = gather(&c.of, &c.at.backpack, c.at.upto, err);
    if (rc == 0)
        rc = check_all_open(&c.of, err);
    if (rc == 0)
        rc = add_newest(m, &c, err);
    if (rc < 0)
        end_past(&c.of);
    return rc;
}

/* Both have something of a backpack that was dropped: with a base that has not got it, what one
 * side took back would come again. */
static int check_dropped(const meeting *m, const past *theirs, valise_error *err)
{
    for (size_t i = 0; i < theirs->steps.len; i++) {
        const step *their = theirs->steps.ptr[i];
        const step *our = their->name.ptr ? NULL : find_step(m->ours, &their->backpack);
        if (!our || is_covered(m, &our->backpack, VLS_MIN(our->upto, their->upto)))
            continue;
        (void)vls_fail(
            err, VALISE_E_LIMIT,
            "the newest state that both have in common belongs to a backpack that was dropped: %s",
            vls_uuid_text(&our->backpack).s);
        vls_hint(err, "give another common state as --base and --base-point; a change from the "
                      "dropped one that one side has undone may then return");
        return VALISE_E_LIMIT;
    }
    return 0;
}

/* The states that are in both, and in no other that is. What each has of the other is tried before
 * the rest: mostly that has all of it. */
static int meet(meeting *m, const past *theirs, valise_error *err)
{
    const step *own = find_step(theirs, &m->ours->steps.ptr[0]->backpack);
    int rc = try_step(m, theirs->steps.ptr[0], err);

    if (rc == 0 && own)
        rc = try_step(m, own, err);
    for (size_t i = 1; i < theirs->steps.len && rc == 0; i++)
        rc = try_step(m, theirs->steps.ptr[i], err);
    if (rc == 0)
        rc = check_dropped(m, theirs, err);
    if (rc == 0 && m->newest.len == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "the two backpacks have no past in common");
        vls_hint(err, "give the state that both started from as --base and --base-point");
    }
    return rc;
}

static void end_meeting(meeting *m)
{
    for (size_t i = 0; i < m->newest.len; i++)
        end_past(&m->newest.ptr[i].of);
    vls_vec_release(&m->newest, m->ours->view->arena.env);
}

/* From here on the base shows that state: if it is behind the edge, or something holds it. */
static int show_base(vls_use *use, const step *base, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, &use->ledger, err);

    if (rc == 0)
        rc = base->forked || base->upto >= head.edge
                 ? 1
                 : vls_point_held(&use->ledger, base->upto, err);
    if (rc >= 0)
        rc = rc > 0 ? vls_use_seq(use, base->upto, err) : VALISE_E_LIMIT;
    if (rc != VALISE_E_LIMIT)
        return rc;
    (void)vls_fail(err, VALISE_E_LIMIT,
                   "the newest state that both have in common is no longer kept: '%s' after commit "
                   "%lld",
                   vls_text_short(base->name).s, (long long)base->upto);
    vls_hint(err, "give the state to compare with as --base and --base-point; a checkpoint keeps a "
                  "state for longer");
    return VALISE_E_LIMIT;
}

static int open_state(vls_use *out, valise_view *view, const step *at, const vls_merge_args *args,
                      valise_error *err)
{
    const vls_who who = {.backpack = at->name, .node = args->who.node, .id = at->backpack};
    int rc = vls_use_begin_other(out, view, &who, "base", err);

    if (rc == 0)
        rc = show_base(out, at, err);
    if (rc < 0)
        vls_use_end(out);
    return rc;
}

/* Is the state in the past of that step? Then, if that is in its own, they are the same. 1, 0. */
static int is_in(const step *at, valise_view *view, const step *other, valise_error *err)
{
    past of;
    int rc;

    begin_past(&of, view);
    rc = gather(&of, &other->backpack, other->upto, err);
    if (rc == 0)
        rc = has(&of, &at->backpack, at->upto);
    end_past(&of);
    return rc;
}

/* The same state in another backpack: 1 where it is not the same. */
static int open_same(vls_use *out, const step *at, valise_view *view, const step *other,
                     const vls_merge_args *args, valise_error *err)
{
    int rc = other->name.ptr ? is_in(at, view, other, err) : 0;

    if (rc <= 0)
        return rc < 0 ? rc : 1;
    return open_state(out, view, other, args, err);
}

static bool is_closed(int rc)
{
    return rc == VALISE_E_LIMIT || rc == VALISE_E_DENIED;
}

/* The state, or the same one in another backpack where it is not kept or not for this actor: then
 * that is taken for it. Which of them was found first is chance, so the error does not depend on
 * it: one that is not kept is told before one that is not for the actor. */
static int open_base(vls_use *out, common *c, const vls_merge_args *args, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int rc = open_state(out, c->of.view, &c->at, args, &why);

    for (size_t i = 1; i < c->of.steps.len && is_closed(rc); i++) {
        const step *other = c->of.steps.ptr[i];
        valise_error its = VALISE_ERROR_INIT;
        int same = open_same(out, &c->at, c->of.view, other, args, &its);
        if (same == 0)
            c->at = *other;
        if (same == 1 || (rc == VALISE_E_LIMIT && is_closed(same)))
            continue;
        rc = same;
        why = its;
    }
    if (rc < 0 && err)
        *err = why;
    return rc;
}

static int note_doubt(void *arg, const valise_change *c, valise_error *err)
{
    vls_merge_uses *uses = arg;
    vls_arena *arena = &uses->ours.view->arena;
    valise_str key;
    int rc = c->before || c->after ? vls_arena_dup(&key, arena, c->key, err) : 1;

    if (rc != 0)
        return rc < 0 ? rc : 0;
    return vls_vec_push(&uses->noted, arena->env, key) ? 0 : vls_fail_memory(err);
}

/* In which keys is this one different from the base? */
static int add_doubts(vls_merge_uses *uses, common *newest, const vls_merge_args *args,
                      valise_error *err)
{
    VLS_AUTO(scope) vls_scope *owner = NULL;
    VLS_AUTO(use) vls_use other = {0};
    const vls_ledger *base = &uses->base.ledger;
    int rc = open_base(&other, newest, args, err);

    if (rc == 0)
        rc = vls_scope_new(&owner, uses->ours.view->arena.env, base, NULL, err);
    if (rc == 0)
        rc = vls_bag_diff(&(vls_scoped){base, owner}, &(vls_scoped){&other.ledger, owner}, true,
                          note_doubt, uses, err);
    return rc;
}

/* For who lists the conflicts afterwards. */
static int tell_base(vls_merge_base *out, const vls_merge_uses *uses, const step *at,
                     valise_error *err)
{
    valise_list doubts = uses->doubts;
    int rc = vls_bag_copy_names(&doubts, out->arena, err);

    if (rc < 0)
        return rc;
    out->seq = at->upto;
    out->doubts = doubts;
    (void)snprintf(out->name, sizeof(out->name), "%.*s", VALISE_STR_ARG(at->name));
    return 0;
}

static int find_base(vls_merge_uses *uses, const past *ours, const past *theirs,
                     const vls_merge_args *args, valise_error *err)
{
    meeting m = {.ours = ours};
    int rc = check_all_open(ours, err);

    if (rc == 0)
        rc = check_all_open(theirs, err);
    if (rc == 0)
        rc = meet(&m, theirs, err);
    if (rc == 0)
        rc = open_base(&uses->base, &m.newest.ptr[0], args, err);
    for (size_t i = 1; i < m.newest.len && rc == 0; i++)
        rc = add_doubts(uses, &m.newest.ptr[i], args, err);
    if (rc == 0)
        rc = vls_bag_sort_names(&uses->doubts, (valise_list){uses->noted.ptr, uses->noted.len},
                                &ours->view->arena, err);
    if (rc == 0 && args->found)
        rc = tell_base(args->found, uses, &m.newest.ptr[0].at, err);
    end_meeting(&m);
    return rc;
}

/* ---- the three ---- */

/* From here on the use shows what a handle holds, or the state at the point. */
static int take_state(vls_use *use, const vls_ledger *held, valise_str point, valise_error *err)
{
    vls_ledger state = {NULL, NULL, false};
    vls_ledger_head head;
    int rc;

    if (!held)
        return vls_use_point(use, point, err);
    rc = vls_look_head(&head, held, err);
    if (rc == 0)
        rc = held->ops->freeze(&state, held->self, head.last, err);
    if (rc == 0)
        use->ledger = state;
    return rc;
}

static int take_base(vls_merge_uses *out, const vls_merge_args *args, valise_error *err)
{
    const vls_who base = {.backpack = args->base, .node = args->who.node, .id = args->base_id};
    int rc = vls_use_begin_other(&out->base, out->ours.view, &base, "base", err);

    return rc < 0 ? rc : take_state(&out->base, args->held_base, args->base_point, err);
}

/* Ours has all of theirs afterwards, if it has the base: theirs, and what is in its past. That is
 * noted too, for theirs may be dropped. It may have it now. */
static int look_back(vls_merge_uses *out, const past *ours, const past *theirs, valise_error *err)
{
    vls_ledger_head base;
    int rc = vls_look_head(&base, &out->base.ledger, err);

    if (rc < 0 || !has(ours, &base.id, base.last))
        return rc;
    for (size_t i = 0; i < theirs->steps.len; i++) {
        const step *s = theirs->steps.ptr[i];
        const vls_merge_row row = {.theirs = s->backpack, .upto = s->upto};
        if (has(ours, &s->backpack, s->upto)) {
            if (i == 0)
                return 0;
            continue;
        }
        if (!vls_vec_push(&out->brought, ours->view->arena.env, row))
            return vls_fail_memory(err);
    }
    return 0;
}

/* The base, and what ours has afterwards. A map brings back thousands, and each would be looked for
 * in the pasts of all that come later. */
static int compare_pasts(vls_merge_uses *out, past *ours, past *theirs, const vls_merge_args *args,
                         valise_error *err)
{
    int rc;

    if (args->passing && args->base.len > 0)
        return take_base(out, args, err);
    rc = gather_shown(ours, &out->ours.ledger, err);
    if (rc == 0)
        rc = gather_shown(theirs, &out->theirs.ledger, err);
    if (rc == 0)
        rc = args->base.len == 0 ? find_base(out, ours, theirs, args, err)
                                 : take_base(out, args, err);
    return rc < 0 ? rc : look_back(out, ours, theirs, err);
}

int vls_merge_begin(vls_merge_uses *out, valise_view *view, const vls_merge_args *args,
                    valise_error *err)
{
    const vls_who theirs = {
        .backpack = args->theirs, .node = args->who.node, .id = args->theirs_id};
    past our_past, their_past;
    int rc = vls_use_begin(&out->ours, view, &args->who, err);

    if (rc == 0)
        rc = vls_use_begin_other(&out->theirs, view, &theirs, "theirs", err);
    if (rc == 0)
        rc = take_state(&out->theirs, args->held_theirs, args->theirs_point, err);
    if (rc < 0)
        return rc;
    begin_past(&our_past, view);
    begin_past(&their_past, view);
    rc = compare_pasts(out, &our_past, &their_past, args, err);
    end_past(&our_past);
    end_past(&their_past);
    return rc;
}

void vls_merge_end(vls_merge_uses *uses)
{
    if (uses->noted.ptr)
        vls_vec_release(&uses->noted, uses->ours.view->arena.env);
    if (uses->brought.ptr)
        vls_vec_release(&uses->brought, uses->ours.view->arena.env);
    vls_use_end(&uses->theirs);
    vls_use_end(&uses->base);
    vls_use_end(&uses->ours);
}
