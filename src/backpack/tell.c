/* tell.c -- events of ephemeral backpacks, and of reads: live ones, for who happens to listen. */
#include "backpack/tell.h"

#include "backpack/handle.h"
#include "base/vec.h"
#include "bus/told.h"

/* ---- events ---- */

int vls_live_event(valise_event *out, const valise_commit *commit, valise_str name,
                   vls_arena *arena)
{
    static const char *const verbs[] = {"write", "remove", "quarantine", "release",
                                        "write", "write",  "read"};
    char why[VLS_BAG_NODE_MAX + VLS_BAG_KEY_MAX + 64];
    valise_commit told = *commit;
    bool denied = commit->seq == 0 && commit->outcome == VALISE_READ_DENIED;
    int rc;

    if (denied) {
        (void)snprintf(why, sizeof(why), "node '%.*s' may not %s '%.*s'",
                       VALISE_STR_ARG(commit->node_id), verbs[commit->action],
                       VALISE_STR_ARG(commit->key));
        told.reason = valise_str_of(why);
    }
    rc = vls_commit_event(out, &told, name, arena, NULL);
    if (rc == 0 && denied && commit->action != VALISE_ACTION_UNPACK)
        out->type = VLS_STR("BACKPACK_DENIED");
    return rc;
}

valise_commit vls_attempt(const vls_scope *scope, valise_str key, int64_t action, int64_t outcome,
                          int64_t now)
{
    return (valise_commit){.action = action,
                           .key = key,
                           .time = now,
                           .outcome = outcome,
                           .node_id = vls_scope_node_id(scope),
                           .node_name = vls_scope_node_name(scope),
                           .namespace_name = vls_scope_namespace(scope)};
}

/* Nothing here fails: whoever cannot be told is not told, and what was done stays done. */
static void publish(valise_backpack *bag, const valise_event *event)
{
    (void)valise_publish(bag->v, bag->actor, event, NULL);
}

static void tell_listeners(valise_backpack *bag, const valise_commit *commit)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_event event = {.size = sizeof(event)};

    vls_arena_init(&arena, bag->env, (size_t)1 << 21);
    if (vls_live_event(&event, commit, bag->name, &arena) == 0)
        publish(bag, &event);
}

static bool is_heard(const valise_backpack *bag)
{
    return VLS_UNLIKELY(vls_bus_listens(bag->v));
}

/* ---- the archive ---- */

typedef struct archiving {
    vls_ephemeral *memory;
    valise *v;
    valise_str actor;
    bool more;  /* something was put: there may be more */
    bool tried; /* it was this thread that put it */
    vls_arena arena;
    vls_vec(vls_append_item *) items;
} archiving;

static int gather(void *arg, const valise_commit *commit, valise_blob *value, valise_error *err)
{
    archiving *a = arg;
    vls_append_item *item = vls_arena_zalloc(&a->arena, sizeof(*item));
    valise_commit *copy = vls_arena_alloc(&a->arena, sizeof(*copy));
    int rc;

    if (!item || !copy)
        return vls_arena_fail(&a->arena, err);
    rc = vls_commit_copy(copy, commit, &a->arena, err);
    item->commit = copy;
    item->value.size = VALISE_NONE;
    if (rc == 0 && value) {
        rc = vls_arena_dup(&item->value.bytes, &a->arena, vls_blob_bytes(value), err);
        item->value.size = (int64_t)item->value.bytes.len;
    }
    if (rc == 0 && !vls_vec_push(&a->items, a->arena.env, item))
        rc = vls_fail_memory(err);
    return rc;
}

static int put(void *arg, valise_error *err)
{
    archiving *a = arg;
    vls_append_args args = {.who = {.backpack = vls_ephemeral_archive_name(a->memory)},
                            .items = {a->items.ptr, a->items.len}};
    valise_call call = VALISE_CALL_INIT;

    call.actor = a->actor;
    a->more = a->tried = true;
    return vls_run_own(a->v, &vls_op_backpack_append, &args, NULL, NULL, &call, err);
}

/* An archive that fails is tried again with the next pack, then after 2, 4, ... of them. */
static void note_outcome(vls_ephemeral *e, bool failed)
{
    unsigned failures = failed ? atomic_load_explicit(&e->failures, memory_order_relaxed) + 1 : 0;

    atomic_store_explicit(&e->failures, failures, memory_order_relaxed);
    atomic_store_explicit(&e->retry_in,
                          failed ? VLS_MIN(1u << VLS_MIN(failures - 1, 10u), e->retry_max) : 0,
                          memory_order_relaxed);
}

bool vls_ephemeral_must_archive(vls_ephemeral *e, bool dropped)
{
    unsigned left = atomic_load_explicit(&e->retry_in, memory_order_relaxed);

    if (VLS_LIKELY(left == 0))
        return dropped;
    atomic_store_explicit(&e->retry_in, VLS_MAX(left - 1, 1u), memory_order_relaxed);
    return left == 1;
}

/* They are let go of only once they are in the archive. */
static int archive(vls_ephemeral *e, bool wait, valise *v, valise_str actor, valise_error *err)
{
    archiving a = {.memory = e, .v = v, .actor = actor, .more = true};
    int rc = 0;

    if (e->archive_len == 0)
        return 0;
    vls_arena_init(&a.arena, e->env, VLS_VIEW_MAX_BYTES);
    while (rc == 0 && a.more) {
        a.more = false;
        a.items.len = 0;
        vls_arena_reset(&a.arena);
        rc = vls_ring_dropped(e->ring, wait, gather, put, &a, err);
    }
    if (a.tried || rc < 0)
        note_outcome(e, rc < 0);
    vls_vec_release(&a.items, e->env);
    vls_arena_release(&a.arena);
    return rc;
}

void vls_ephemeral_archive(vls_ephemeral *e, valise *v, valise_str actor)
{
    (void)archive(e, false, v, actor, NULL);
}

int vls_ephemeral_flush(vls_ephemeral *e, valise *v, valise_str actor, valise_error *err)
{
    valise_str name = vls_ephemeral_archive_name(e);
    int rc = archive(e, true, v, actor, err);
    int64_t lost = rc == 0 ? vls_ring_take_lost(e->ring) : 0;

    if (lost == 0)
        return rc;
    (void)vls_fail(err, VALISE_E_LIMIT,
                   "%lld commits are lost: the archive '%.*s' did not accept them", (long long)lost,
                   VALISE_STR_ARG(name));
    vls_hint(
        err,
        "find out why the archive fails; no more commits wait for it than the history may hold");
    return VALISE_E_LIMIT;
}

/* ---- handles ---- */

void vls_handle_tell(valise_backpack *bag, const vls_done *done)
{
    valise_event event = {.size = sizeof(event)};
    vls_ring_pruned pruned;
    char room[VLS_PRUNE_MAX];

    if (done->commit.seq > 0 && is_heard(bag))
        tell_listeners(bag, &done->commit);
    vls_ring_take_pruned(&pruned, bag->ring);
    if (pruned.commits > 0 && is_heard(bag)) {
        vls_prune_event(&event, room, &bag->id, bag->name, pruned.edge);
        publish(bag, &event);
    }
    if (vls_ephemeral_must_archive(bag->memory, pruned.commits > 0))
        vls_ephemeral_archive(bag->memory, bag->v, bag->actor);
}

void vls_handle_tell_access(valise_backpack *bag, valise_str key, int64_t action, int64_t outcome,
                            int64_t now)
{
    valise_commit tried;

    if (!is_heard(bag))
        return;
    tried = vls_attempt(bag->scope, key, action, outcome, now);
    tell_listeners(bag, &tried);
}

void vls_handle_tell_snapshot(valise_backpack *bag)
{
    valise_event event = {.size = sizeof(event),
                          .type = VLS_STR("BACKPACK_SNAPSHOT"),
                          .node_id = bag->who.node,
                          .namespace_name = bag->who.namespace_name,
                          .run_id = bag->name};
    char text[48];

    if (!vls_bus_listens(bag->v))
        return;
    (void)snprintf(text, sizeof(text), "{\"seq\":%lld}", (long long)bag->upto);
    event.payload = valise_str_of(text);
    publish(bag, &event);
}
