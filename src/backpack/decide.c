/* decide.c -- making commits: what all changes share, and remove. */
#include "backpack/decide_impl.h"

#include "base/text.h"
#include "base/uuid.h"

/* ---- who, and in which run ---- */

/* The run that the next commit belongs to: the one that was started for the scope; else that of the
 * newest commit, if the same node made it and the run is not over; else a new one. [B12] */
static void find_run(vls_write *w)
{
    w->run = vls_scope_run(w->scope);
    if (w->run == 0 && vls_str_equal(w->head.last_node, w->node_id))
        w->run = w->head.open_run;
    w->new_run = w->run == 0;
    if (w->new_run)
        w->run = w->head.last_run + 1;
}

int vls_write_begin(vls_write *w, const vls_ledger *ledger, vls_scope *scope, valise_str node_id,
                    valise_str node_name, const vls_change_call *call, valise_error *err)
{
    int rc = 0;

    /* Its commits are large, and filled when there is one. */
    w->ledger = ledger;
    w->scope = scope;
    w->call = call;
    w->node_id = vls_scope_node_id(scope);
    w->node_name = vls_scope_node_name(scope);
    w->known = w->live = false;
    if (ledger->frozen)
        return vls_fail(err, VALISE_E_INVALID, "a snapshot cannot be changed: fork it");
    if (vls_scope_is_owner(scope) && node_id.len > 0) {
        rc = vls_bag_check_node(node_id, err);
        w->node_id = node_id;
    }
    if (rc == 0 && vls_scope_is_owner(scope) && node_name.len > 0) {
        rc = vls_bag_check_node(node_name, err);
        w->node_name = node_name;
    }
    if (rc == 0)
        rc = vls_scope_enter(&w->head, scope, ledger, err);
    if (rc == 0)
        find_run(w);
    return rc;
}

void vls_write_as(vls_write *w, valise_str node_id, valise_str node_name)
{
    if (!vls_scope_is_owner(w->scope))
        return;
    w->node_id = node_id;
    w->node_name = node_name;
    w->run = 0;
    w->new_run = false;
}

void vls_write_end(vls_write *w)
{
    vls_scope_leave(w->ledger);
}

int vls_write_find(vls_write *w, valise_str key, int64_t action, valise_error *err)
{
    int rc = w->ledger->ops->newest(&w->newest, w->ledger->self, key, err);

    if (rc < 0)
        return rc;
    w->known = rc == 1;
    w->live = w->known && vls_commit_is_live(&w->newest);
    w->commit = (valise_commit){.action = action,
                                .key = key,
                                .node_id = w->node_id,
                                .node_name = w->node_name,
                                .time = VLS_MAX(w->call->now, w->head.last_time),
                                .run = w->run,
                                .outcome = VALISE_NONE};
    if (w->known) {
        w->commit.version = w->newest.version;
        if (vls_uuid_equal(&w->newest.backpack, &w->head.id))
            w->commit.previous = w->newest.seq;
    } else {
        rc = w->ledger->ops->version(&w->commit.version, w->ledger->self, key, err);
        if (rc < 0)
            return rc;
    }
    if (w->live)
        w->commit.previous_value = w->newest.value;
    if (w->commit.version < 0 || w->commit.version >= VLS_BAG_ROW_NUMBER_MAX)
        return vls_fail(err, VALISE_E_CORRUPT, "'%s' is damaged: version %lld is impossible",
                        vls_text_short(key).s, (long long)w->commit.version);
    if (vls_commit_is_live(&w->commit))
        w->commit.version++;
    return 0;
}

/* ---- access ---- */

int vls_write_check(vls_write *w, const char *verb, const valise_commit *present,
                    valise_str new_namespace, valise_error *err)
{
    vls_ledger_read denied = {.node_id = w->node_id,
                              .node_name = w->node_name,
                              .key = w->commit.key,
                              .action = w->commit.action,
                              .outcome = VALISE_READ_DENIED,
                              .time = w->call->now};

    if (vls_scope_may_write(w->scope, w->commit.key, present, new_namespace))
        return 1;
    w->ledger->ops->read_add(w->ledger->self, &denied);
    return w->head.lenient ? 0 : vls_scope_deny(w->scope, verb, w->commit.key, err);
}

int vls_write_expect(const vls_write *w, int64_t expect, valise_error *err)
{
    int64_t version = w->live ? w->newest.version : 0;

    if (expect == VALISE_NONE || expect == version)
        return 0;
    (void)vls_fail(err, VALISE_E_CONFLICT, "'%.*s' has version %lld, not %lld",
                   VALISE_STR_ARG(w->commit.key), (long long)version, (long long)expect);
    vls_hint(err, "read it again, then decide again");
    return VALISE_E_CONFLICT;
}

int vls_write_keep_item(vls_write *w, const valise_commit *item, valise_error *err)
{
    valise_commit copy = {0};
    int rc = vls_commit_copy(&copy, item, w->call->arena, err);

    if (rc < 0)
        return rc;
    w->commit.namespace_name = copy.namespace_name;
    w->commit.tags = copy.tags;
    w->commit.read = copy.read;
    w->commit.write = copy.write;
    return 0;
}

/* ---- taint ---- */

int vls_taints_check(valise_list taints, const vls_scope *scope, valise_error *err)
{
    const valise_taint *const *taint = taints.items;
    int rc = taints.count > 0 ? vls_scope_owner_only(scope, "say what it has read", err) : 0;

    for (size_t i = 0; i < taints.count && rc == 0; i++)
        rc = vls_bag_check_tag(taint[i]->tag, err);
    return rc;
}

static int add_tags(valise_list *tags, valise_list taints, vls_arena *arena, valise_error *err)
{
    const valise_taint *const *taint = taints.items;
    size_t count = tags->count;
    valise_str *all = vls_arena_array(arena, count + taints.count + 1, sizeof(*all));
    int rc;

    if (!all)
        return vls_arena_fail(arena, err);
    if (count > 0)
        memcpy(all, tags->items, count * sizeof(*all));
    for (size_t i = 0; i < taints.count; i++)
        all[count++] = taint[i]->tag;
    rc = vls_bag_sort_names(tags, (valise_list){all, count}, arena, err);
    if (rc == 0 && tags->count > VLS_BAG_TAGS_MAX)
        rc = vls_fail(err, VALISE_E_LIMIT, "the item would have %zu tags; at most %d are allowed",
                      tags->count, VLS_BAG_TAGS_MAX);
    return rc;
}

static bool has_taint(const valise_taint *const *taints, size_t count, valise_str tag)
{
    for (size_t i = 0; i < count; i++) {
        if (vls_str_equal(taints[i]->tag, tag))
            return true;
    }
    return false;
}

/* Those of `from`, a backpack, join the others, unless their tag has a taint already or is one of
 * `without`. */
static int join_taints(vls_write *w, valise_list *taints, valise_list more, const valise_uuid *from,
                       valise_list without, valise_error *err)
{
    const valise_taint *const *given;
    const valise_taint **all =
        vls_arena_array(w->call->arena, taints->count + more.count + 1, sizeof(*all));
    size_t count = taints->count;
    int rc = vls_taints_move(&more, from, &w->head.id, w->call->arena, err);

    if (rc < 0)
        return rc;
    if (!all)
        return vls_arena_fail(w->call->arena, err);
    if (count > 0)
        memcpy(all, taints->items, count * sizeof(*all));
    given = more.items;
    for (size_t i = 0; i < more.count; i++) {
        if (!vls_bag_has_name(without, given[i]->tag) && !has_taint(all, count, given[i]->tag))
            all[count++] = given[i];
    }
    *taints = (valise_list){all, count};
    return 0;
}

/* Tags that stay with the item also keep the commit they came from; those that are declassified go.
 */
static int inherit(vls_write *w, const valise_commit *item, valise_list declassify,
                   valise_list *taints, valise_list *left_out, valise_error *err)
{
    const valise_str *tag = item->tags.items;
    valise_str *tags = vls_arena_array(w->call->arena, item->tags.count + 1, sizeof(*tags));
    valise_str *gone =
        vls_arena_array(w->call->arena, item->tags.count + left_out->count + 1, sizeof(*gone));
    size_t tag_count = 0, gone_count = left_out->count;
    int rc = join_taints(w, taints, item->taints, &item->backpack, declassify, err);

    if (rc < 0)
        return rc;
    if (!tags || !gone)
        return vls_arena_fail(w->call->arena, err);
    if (gone_count > 0)
        memcpy(gone, left_out->items, gone_count * sizeof(*gone));
    for (size_t i = 0; i < item->tags.count; i++) {
        if (vls_bag_has_name(declassify, tag[i]))
            gone[gone_count++] = tag[i];
        else
            tags[tag_count++] = tag[i];
    }
    w->commit.tags = (valise_list){tags, tag_count};
    return vls_bag_sort_names(left_out, (valise_list){gone, gone_count}, w->call->arena, err);
}

int vls_write_taint(vls_write *w, const valise_commit *inherited, valise_list given,
                    valise_list declassify, valise_error *err)
{
    static const valise_uuid said = {{0}}; /* each of them says whose it is */
    valise_list taints, left_out;
    int rc = vls_scope_taints(&taints, &left_out, w->scope, w->ledger, &w->head, w->new_run,
                              declassify, w->call->arena, err);

    if (rc == 0 && given.count > 0)
        rc = join_taints(w, &taints, given, &said, (valise_list){NULL, 0}, err);
    if (rc == 0 && inherited)
        rc = inherit(w, inherited, declassify, &taints, &left_out, err);
    if (rc == 0 && taints.count > 0)
        rc = add_tags(&w->commit.tags, taints, w->call->arena, err);
    if (rc < 0)
        return rc;
    w->commit.taints = taints;
    w->commit.declassified = left_out;
    return 0;
}

/* ---- the commit ---- */

int vls_write_append(vls_write *w, valise_blob *value, valise_error *err)
{
    const vls_ledger *ledger = w->ledger;
    vls_run_row run = {
        .backpack = w->head.id, .number = w->run, .node_id = w->node_id, .start = w->head.last};
    int rc = 0;

    if (value)
        w->commit.value_size = (int64_t)vls_blob_bytes(value).len;
    if (w->new_run)
        rc = ledger->ops->row_put(ledger->self, &vls_bag_runs, &run, err);
    if (rc == 0)
        rc = ledger->ops->append(ledger->self, &w->commit, value, err);
    if (rc < 0) {
        if (w->new_run)
            (void)ledger->ops->row_delete(ledger->self, &vls_bag_runs, &run, NULL);
        return rc;
    }
    rc = vls_scope_wrote(w->scope, ledger, &w->head, w->new_run, err);
    if (rc < 0)
        return rc;
    w->head.last = w->commit.seq;
    w->head.last_time = w->commit.time;
    w->head.last_node = w->node_id;
    w->head.open_run = w->run;
    if (w->new_run)
        w->head.last_run = w->run;
    w->new_run = false;
    return 0;
}

void vls_write_done(vls_done *out, const vls_write *w)
{
    const valise_commit *commit = &w->commit;

    out->packed = (valise_packed){.applied = true,
                                  .seq = commit->seq,
                                  .version = commit->version,
                                  .commit = commit->id,
                                  .value = commit->value};
    out->denied = false;
    out->commit = *commit;
    /* Who moves a value that it may not read does not learn its hash either. */
    if (commit->action != VALISE_ACTION_PACK &&
        !vls_scope_may_read(w->scope, commit->key, commit, commit))
        out->packed.value = (valise_id){{0}};
}

/* ---- remove ---- */

static int remove_item(vls_done *out, vls_write *w, valise_str key, int64_t expect,
                       valise_error *err)
{
    int rc = vls_write_find(w, key, VALISE_ACTION_DELETE, err);

    if (rc < 0)
        return rc;
    rc = vls_write_check(w, "remove", w->live ? &w->newest : NULL,
                         w->live ? w->newest.namespace_name : vls_scope_namespace(w->scope), err);
    if (rc == 0)
        *out = (vls_done){.denied = true};
    if (rc > 0)
        rc = vls_write_expect(w, expect, err) < 0 ? VALISE_E_CONFLICT : 1;
    if (rc <= 0)
        return rc;
    if (!w->live) {
        *out = (vls_done){.denied = false};
        return 0;
    }
    rc = vls_write_keep_item(w, &w->newest, err);
    if (rc == 0)
        rc = vls_write_append(w, NULL, err);
    if (rc < 0)
        return rc;
    vls_write_done(out, w);
    return 1;
}

int vls_bag_remove(vls_done *out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                   int64_t expect, valise_str node_id, valise_str node_name,
                   const vls_change_call *call, valise_error *err)
{
    vls_write w;
    int rc = vls_bag_check_key(key, err);

    if (rc == 0)
        rc = vls_write_begin(&w, ledger, scope, node_id, node_name, call, err);
    if (rc < 0)
        return rc;
    rc = remove_item(out, &w, key, expect, err);
    vls_write_end(&w);
    return rc;
}
