/* api_read.c -- the C functions that read sessions and turns. */
#include <valise/session.h>

#include "base/hex.h"
#include "bus/held.h"
#include "chat/ops.h"
#include "chat/shown.h"

/* ---- as C programs see them ---- */

static void give_session(valise_session *out, const vls_session_shown *shown)
{
    *out = (valise_session){.id = shown->id,
                            .label = shown->label,
                            .role = shown->role,
                            .topics = shown->topics.items,
                            .topic_count = shown->topics.count,
                            .head = shown->head,
                            .turns = shown->turns,
                            .created = shown->created,
                            .updated = shown->updated};
}

static valise_str bytes_of(const valise_content *content)
{
    return content->size == VALISE_NONE ? (valise_str){NULL, 0} : content->bytes;
}

static void give_turn(valise_turn *out, const vls_turn_shown *shown)
{
    *out = (valise_turn){.ref = shown->ref,
                         .role = (int)shown->role,
                         .flags = (shown->hidden ? VALISE_TURN_HIDDEN : 0u) |
                                  (shown->noprompt ? VALISE_TURN_NOPROMPT : 0u),
                         .erased = shown->erased,
                         .blocks = bytes_of(&shown->blocks),
                         .metadata = bytes_of(&shown->metadata),
                         .parents = shown->parents.items,
                         .parent_count = shown->parents.count,
                         .time = shown->time,
                         .actor = shown->actor,
                         .content_hash = shown->hash,
                         .role_in_force = shown->in_force};
}

/* ---- sessions ---- */

typedef struct held_session {
    valise_session session; /* first: what the caller has */
    vls_held own;
    vls_session_show_result shown;
} held_session;

int valise_session_open(valise_session **out, valise *v, const char *session,
                        const valise_call *call, valise_error *err)
{
    held_session *held;
    int rc;

    VLS_ARG(out && v && session, err);
    held = vls_held_new(v->env, sizeof(*held), offsetof(held_session, own));
    if (!held)
        return vls_fail_memory(err);
    rc = vls_run(v, &vls_op_chat_session_show, &(vls_session_args){valise_str_of(session)},
                 &held->shown, &held->own.memory, call, NULL, err);
    if (rc < 0) {
        vls_held_free(held, &held->own);
        return rc;
    }
    if (held->shown.session.head.ptr) /* its text came along, and lies here now */
        held->shown.session.head = valise_str_of(held->shown.session.text.s);
    give_session(&held->session, &held->shown.session);
    *out = &held->session;
    return 0;
}

void valise_session_free(valise_session *session)
{
    held_session *held = (held_session *)(void *)session;

    if (held)
        vls_held_free(held, &held->own);
}

typedef struct listing {
    valise_session_fn *fn;
    void *arg;
    int said; /* by fn */
} listing;

static int list_one(void *arg, const void *row, valise_error *err)
{
    listing *l = arg;
    valise_session session;

    give_session(&session, row);
    l->said = l->fn(l->arg, &session, err);
    return l->said;
}

int valise_session_list(valise *v, valise_session_fn *fn, void *arg, const valise_call *call,
                        valise_error *err)
{
    listing l = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = list_one, .emit_arg = &l};
    int rc;

    VLS_ARG(v && fn, err);
    rc = vls_run(v, &vls_op_chat_session_list, &(vls_session_list_args){.limit = 0}, NULL, NULL,
                 call, &more, err);
    return rc == 0 ? l.said : rc;
}

/* ---- transcripts ---- */

typedef struct telling {
    valise_turn_fn *fn;
    void *arg;
    int said;
} telling;

static int tell_one(void *arg, const void *row, valise_error *err)
{
    telling *l = arg;
    valise_turn turn;

    give_turn(&turn, row);
    l->said = l->fn(l->arg, &turn, err);
    return l->said;
}

int valise_transcript(valise *v, const char *session, const char *turn, valise_turn_fn *fn,
                      void *arg, const valise_call *call, valise_error *err)
{
    telling l = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = tell_one, .emit_arg = &l};
    vls_turn_log_args args = {.version = VALISE_NONE, .all = true};
    int rc;

    VLS_ARG(v && session && fn, err);
    args.session = valise_str_of(session);
    if (turn)
        args.turn = valise_str_of(turn);
    rc = vls_run(v, &vls_op_chat_turn_log, &args, NULL, NULL, call, &more, err);
    return rc == 0 ? l.said : rc;
}

/* ---- snapshots ---- */

typedef struct held_snapshot {
    valise_conversation snapshot; /* first: what the caller has */
    vls_held own;
    vls_session_show_result shown;
    vls_vec(valise_turn) turns; /* in the arena */
} held_snapshot;

static int copy(valise_str *text, vls_arena *arena, valise_error *err)
{
    return text->ptr ? vls_arena_dup(text, arena, *text, err) : 0;
}

static int keep_parents(valise_turn *turn, vls_arena *arena, valise_error *err)
{
    valise_str *parents;
    int rc = 0;

    if (turn->parent_count == 0)
        return 0;
    parents = vls_arena_array(arena, turn->parent_count, sizeof(*parents));
    if (!parents)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; rc == 0 && i < turn->parent_count; i++) {
        parents[i] = turn->parents[i];
        rc = copy(&parents[i], arena, err);
    }
    turn->parents = parents;
    return rc;
}

static int keep_turn(void *arg, const valise_turn *turn, valise_error *err)
{
    held_snapshot *held = arg;
    vls_arena *arena = &held->own.arena;
    valise_turn kept = *turn;
    int rc = copy(&kept.ref, arena, err);

    if (rc == 0)
        rc = copy(&kept.blocks, arena, err);
    if (rc == 0)
        rc = copy(&kept.metadata, arena, err);
    if (rc == 0)
        rc = copy(&kept.actor, arena, err);
    if (rc == 0)
        rc = copy(&kept.role_in_force, arena, err);
    if (rc == 0)
        rc = keep_parents(&kept, arena, err);
    if (rc == 0 && !vls_vec_push_in(&held->turns, arena, kept))
        rc = vls_arena_fail(arena, err);
    return rc;
}

/* The turns up to the head that was seen: versions do not change, whatever is said meanwhile. Nor
 * does its id, while a label may go to another session. */
static int fill(held_snapshot *held, valise *v, const char *session, const valise_call *call,
                valise_error *err)
{
    vls_uuid_string id;
    valise_str head;
    int rc = vls_run(v, &vls_op_chat_session_show, &(vls_session_args){valise_str_of(session)},
                     &held->shown, &held->own.memory, call, NULL, err);

    if (rc < 0)
        return rc;
    head = held->shown.session.head;
    if (head.ptr)
        held->shown.session.head = valise_str_of(held->shown.session.text.s);
    give_session(&held->snapshot.session, &held->shown.session);
    if (!head.ptr)
        return 0;
    id = vls_uuid_text(&held->shown.session.id);
    rc = valise_transcript(v, id.s, held->shown.session.text.s, keep_turn, held, call, err);
    held->snapshot.turns = held->turns.ptr;
    held->snapshot.turn_count = held->turns.len;
    return rc;
}

int valise_session_snapshot(valise_conversation **out, valise *v, const char *session,
                            const valise_call *call, valise_error *err)
{
    held_snapshot *held;
    int rc;

    VLS_ARG(out && v && session, err);
    held = vls_held_new(v->env, sizeof(*held), offsetof(held_snapshot, own));
    if (!held)
        return vls_fail_memory(err);
    rc = fill(held, v, session, call, err);
    if (rc == 0)
        *out = &held->snapshot;
    else
        vls_held_free(held, &held->own);
    return rc;
}

void valise_conversation_free(valise_conversation *snapshot)
{
    held_snapshot *held = (held_snapshot *)(void *)snapshot;

    if (held)
        vls_held_free(held, &held->own);
}

/* ---- branches ---- */

typedef struct branching {
    valise_branch_fn *fn;
    void *arg;
    vls_arena arena;
    int said;
} branching;

static int tell_branch(void *arg, const void *row, valise_error *err)
{
    branching *b = arg;
    const vls_branch_row *shown = row;
    const vls_branch_holder *const *holders = shown->sessions.items;
    size_t count = shown->sessions.count;
    valise_uuid *ids = NULL;
    valise_branch branch = {.children = shown->children.items,
                            .child_count = shown->children.count,
                            .session_count = count,
                            .active = shown->active};

    give_turn(&branch.turn, &shown->turn);
    if (count > 0) {
        ids = vls_arena_array(&b->arena, count, sizeof(*ids));
        if (!ids)
            return vls_arena_fail(&b->arena, err);
        for (size_t i = 0; i < count; i++)
            ids[i] = holders[i]->id;
    }
    branch.sessions = ids;
    b->said = b->fn(b->arg, &branch, err);
    return b->said;
}

int valise_branch_info(valise *v, const char *session, const char *turn, valise_branch_fn *fn,
                       void *arg, const valise_call *call, valise_error *err)
{
    branching b = {.fn = fn, .arg = arg};
    const vls_run_more more = {.emit = tell_branch, .emit_arg = &b};
    vls_branches_args args = {.place = {.version = VALISE_NONE}};
    int rc;

    VLS_ARG(v && turn && fn, err);
    args.place.turn = valise_str_of(turn);
    if (session)
        args.place.session = valise_str_of(session);
    vls_arena_init(&b.arena, v->env, VLS_VIEW_MAX_BYTES);
    rc = vls_run(v, &vls_op_chat_turn_branches, &args, NULL, NULL, call, &more, err);
    vls_arena_release(&b.arena);
    return rc == 0 ? b.said : rc;
}
