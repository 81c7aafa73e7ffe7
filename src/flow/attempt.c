/* attempt.c -- what a failed attempt wrote goes out of the state. [F2] [B25]
 *
 * Each key that it packed is quarantined, with the error, and what was there before is packed again
 * as it was: as by who had packed it, with its tags and lists. An attempt that wrote nothing leaves
 * an entry that says why it failed, under a key that nobody packs: "search#1". All of it is done by
 * the flow and said to be the node's: a node need not be allowed to write that. */
#include "base/text.h"
#include "flow/level.h"
#include "json/make.h"

/* ---- the state before ---- */

static int take_seq(void *arg, const vls_glance *at, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, &at->ledgers[0], err);

    if (rc == 0)
        *(int64_t *)arg = head.last;
    return rc;
}

int vls_flow_seq(int64_t *seq, const vls_flow_run *run, valise_error *err)
{
    return vls_handle_read(run->bag, take_seq, seq, err);
}

/* ---- one key ---- */

typedef struct undoing {
    valise_node_run *at;
    valise_backpack *before;
    valise_str reason, error;
    valise_list marks; /* of the node, whose error it is */
} undoing;

int vls_flow_pack_again(void *bag, const valise_item *item, valise_error *err)
{
    static const valise_uuid said = {{0}};
    const valise_commit *commit = item->commit;
    valise_pack_options options = VALISE_PACK_OPTIONS_INIT;
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_list taints = {NULL, 0};
    int rc;

    if (!item->value) /* it was erased: there is nothing to come back to */
        return 0;
    vls_arena_init(&arena, ((const valise_backpack *)bag)->env, (size_t)1 << 20);
    if (vls_commit_gives_value(commit)) /* else they would make it the output of who released it */
        taints = commit->taints;
    rc = vls_taints_move(&taints, &commit->backpack, &said, &arena, err);
    if (rc < 0)
        return rc;
    options.node_id = commit->node_id;
    options.node_name = commit->node_name;
    options.namespace_name = commit->namespace_name;
    options.tags = commit->tags;
    options.read = commit->read;
    options.write = commit->write;
    return vls_handle_pack(NULL, bag, commit->key, vls_blob_bytes(item->value), &options, taints,
                           err);
}

static int quarantine(const undoing *u, valise_str key, valise_error *err)
{
    const valise_quarantine_options options = {.size = sizeof(options),
                                               .reason = u->reason,
                                               .error = u->error,
                                               .node_id = u->at->path,
                                               .node_name = valise_str_of(u->at->node->type->name)};

    return vls_handle_quarantine(NULL, u->at->run->bag, key.ptr, &options, u->marks, err);
}

static int undo_key(undoing *u, valise_str key, valise_error *err)
{
    int rc = valise_has(u->at->run->bag, key.ptr, err);

    if (rc > 0)
        rc = quarantine(u, key, err);
    if (rc >= 0)
        rc = valise_item_get(u->before, key.ptr, vls_flow_pack_again, u->at->run->bag, err);
    return vls_settle(rc);
}

/* ---- all of them ---- */

static bool is_write(const vls_touch *seen)
{
    return seen->action != VALISE_ACTION_UNPACK && seen->outcome != VALISE_READ_DENIED;
}

/* Once for each key, though it was written often. */
static bool was_before(const valise_node_run *at, size_t from, size_t i)
{
    for (size_t k = from; k < i; k++) {
        if (is_write(&at->seen.ptr[k]) && vls_str_equal(at->seen.ptr[k].key, at->seen.ptr[i].key))
            return true;
    }
    return false;
}

static int describe(undoing *u, const valise_error *why, valise_error *err)
{
    vls_arena *arena = u->at->arena;
    vls_buf reason;
    vls_json error;
    int rc =
        VLS_PAIRS(&error, arena, err,
                  {"code", vls_json_string(valise_str_of(valise_error_name(why->code))), false},
                  {"message", vls_json_string(valise_str_of(why->message)), false});

    if (rc == 0)
        rc = vls_json_text(&u->error, arena, error, err);
    if (rc < 0)
        return rc;
    vls_buf_init_in(&reason, arena, VLS_BAG_REASON_MAX);
    vls_buf_printf(&reason, "attempt %lld of '%.*s' failed", (long long)u->at->attempt,
                   VALISE_STR_ARG(u->at->path));
    return vls_buf_keep(&u->reason, &reason, err);
}

static int leave_entry(const undoing *u, valise_error *err)
{
    valise_str key;
    vls_buf text;
    int rc;

    vls_buf_init_in(&text, u->at->arena, VLS_BAG_KEY_MAX);
    vls_buf_printf(&text, "%.*s#%lld", VALISE_STR_ARG(u->at->path), (long long)u->at->attempt);
    rc = vls_buf_keep(&key, &text, err);
    return rc < 0 ? rc : quarantine(u, key, err);
}

int vls_flow_quarantine(valise_node_run *at, int64_t seq, size_t from, const valise_error *why,
                        valise_error *err)
{
    undoing u = {.at = at};
    size_t count = at->seen.len;
    bool wrote = false;
    int rc = describe(&u, why, err);

    if (rc == 0)
        rc = vls_handle_marks(&u.marks, at->view, at->arena, err);
    for (size_t i = from; i < count && rc == 0; i++) {
        if (!is_write(&at->seen.ptr[i]) || was_before(at, from, i))
            continue;
        if (!u.before)
            rc = valise_snapshot_at_seq(&u.before, at->run->bag, seq, err);
        if (rc == 0)
            rc = undo_key(&u, at->seen.ptr[i].key, err);
        wrote = true;
    }
    if (rc == 0 && !wrote)
        rc = leave_entry(&u, err);
    valise_backpack_close(u.before);
    return rc;
}
