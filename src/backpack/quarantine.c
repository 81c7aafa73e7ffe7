/* quarantine.c -- taking items out of the active state, and bringing them back. */
#include "backpack/decide_impl.h"
#include "backpack/look_impl.h"

#include "base/utf8.h"

static const valise_id no_value;

/* ---- in ---- */

static int check_args(const vls_quarantine_args *args, valise_error *err)
{
    int rc = vls_bag_check_key(args->key, err);

    if (rc < 0)
        return rc;
    if (args->reason.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "'%.*s' needs a reason to be quarantined",
                        VALISE_STR_ARG(args->key));
    if (args->reason.len > VLS_BAG_REASON_MAX || !vls_utf8_valid(args->reason))
        return vls_fail(err, VALISE_E_INVALID, "a reason is UTF-8 of at most %d bytes",
                        VLS_BAG_REASON_MAX);
    if (args->error.len > VLS_BAG_ERROR_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "the error has %zu bytes: %zu are allowed",
                        args->error.len, VLS_BAG_ERROR_MAX);
    return 0;
}

/* The item's value, for the commit: none when it was erased or is to be forgotten. */
static int take_value(valise_blob **value, vls_write *w, const vls_quarantine_args *args,
                      valise_error *err)
{
    int rc;

    if (args->forget)
        w->commit.previous_value = no_value;
    if (!w->live || args->forget)
        return 0;
    rc = vls_look_value(value, w->ledger, &w->newest, err);
    if (rc < 0 || !*value)
        return rc;
    w->commit.value = w->newest.value;
    return vls_arena_dup(&w->commit.summary, w->call->arena,
                         vls_commit_summary(vls_blob_bytes(*value), w->commit.tags), err);
}

int vls_write_quarantine(vls_write *w, const vls_quarantine_args *args, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    const vls_ledger *ledger = w->ledger;
    vls_quarantine_row row = {.backpack = w->head.id, .seq = w->head.last + 1, .key = args->key};
    int rc = 0;

    w->commit.namespace_name = vls_scope_namespace(w->scope);
    if (w->live) {
        row.item_backpack = w->newest.backpack;
        row.item = w->newest.seq;
        rc = vls_write_keep_item(w, &w->newest, err);
    }
    w->commit.reason = args->reason;
    w->commit.error = args->error.len > 0 ? args->error : (valise_str){NULL, 0};
    if (rc == 0) /* what the reason says may come from what was read */
        rc = vls_write_taint(w, NULL, args->taints, (valise_list){NULL, 0}, err);
    if (rc == 0)
        rc = take_value(&value, w, args, err);
    if (rc == 0 && !args->forget)
        rc = ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &row, err);
    if (rc < 0)
        return rc;
    rc = vls_write_append(w, value, err);
    if (rc < 0 && !args->forget)
        (void)ledger->ops->row_delete(ledger->self, &vls_bag_quarantines, &row, NULL);
    /* Once more, now that there is the commit: the entry holds it. Without memory for that the
     * entry stays, and the reason goes with the history. */
    if (rc == 0 && !args->forget)
        (void)ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &row, NULL);
    return rc;
}

int vls_bag_quarantine(vls_done *out, const vls_ledger *ledger, vls_scope *scope,
                       const vls_quarantine_args *args, const vls_change_call *call,
                       valise_error *err)
{
    vls_write w;
    int rc = check_args(args, err);

    if (rc == 0)
        rc = vls_taints_check(args->taints, scope, err);
    if (rc == 0)
        rc = vls_write_begin(&w, ledger, scope, args->node_id, args->node_name, call, err);
    if (rc < 0)
        return rc;
    rc = vls_write_find(&w, args->key, VALISE_ACTION_QUARANTINE, err);
    if (rc == 0) {
        rc = vls_write_check(&w, "quarantine", w.live ? &w.newest : NULL,
                             w.live ? w.newest.namespace_name : vls_scope_namespace(scope), err);
        if (rc == 0)
            *out = (vls_done){.denied = true};
        else if (rc == 1)
            rc = vls_write_quarantine(&w, args, err);
        if (rc == 0 && w.commit.seq > 0)
            vls_write_done(out, &w);
    }
    vls_write_end(&w);
    return rc;
}

/* ---- out ---- */

/* Which entry of a key is meant: the newest that has an item, else the newest; or the one with this
 * number. A release that failed half-way may have left a number behind that no commit has. */
typedef struct search {
    const vls_ledger *ledger;
    valise_str key;
    int64_t last, wanted; /* 0: any */
    int64_t seq;          /* of what was found; 0: nothing */
    bool has_item;
} search;

static int find_entry(void *arg, const void *row, valise_error *err)
{
    const vls_quarantine_row *entry = row;
    search *s = arg;

    (void)err;
    if (!vls_str_equal(entry->key, s->key) || !vls_entry_is_there(entry, s->last) ||
        (s->wanted != 0 && entry->seq != s->wanted) || (s->has_item && entry->item == 0))
        return 0;
    s->seq = entry->seq; /* they come in the order of numbers */
    s->has_item = entry->item > 0;
    return 0;
}

static int choose_entry(search *s, valise_error *err)
{
    vls_ledger_head head;
    int rc = vls_look_head(&head, s->ledger, err);

    s->last = head.last;
    return rc < 0 ? rc
                  : s->ledger->ops->each_row(s->ledger->self, &vls_bag_quarantines, find_entry, s,
                                             err);
}

int vls_entry_newest(int64_t *out, const vls_ledger *ledger, valise_str key, valise_error *err)
{
    search s = {.ledger = ledger, .key = key};
    int rc = choose_entry(&s, err);

    if (rc < 0 || s.seq == 0 || !s.has_item)
        return rc < 0 ? rc : 0;
    *out = s.seq;
    return 1;
}

/* The entry, and the item that it holds. */
static int get_entry(vls_quarantine_row *row, valise_commit *item, vls_write *w, const search *s,
                     valise_error *err)
{
    const vls_ledger *ledger = w->ledger;
    valise_str key = w->commit.key;
    int rc = 0;

    *row = (vls_quarantine_row){.backpack = w->head.id, .seq = s->seq};
    if (s->seq != 0)
        rc = ledger->ops->row_get(row, ledger->self, &vls_bag_quarantines, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || !vls_entry_is_there(row, w->head.last)) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "'%.*s' is not in quarantine", VALISE_STR_ARG(key));
        vls_hint(err, "'valise bp ls --quarantined' lists what is in quarantine");
        return VALISE_E_NOT_FOUND;
    }
    rc = row->item == 0
             ? 0
             : ledger->ops->commit(item, ledger->self, &row->item_backpack, row->item, err);
    if (rc == 0)
        return vls_fail(err, VALISE_E_NOT_FOUND,
                        "entry %lld of '%.*s' holds no item: the key was quarantined before it was "
                        "packed",
                        (long long)s->seq, VALISE_STR_ARG(key));
    return rc < 0 ? rc : 0;
}

static int bring_back(vls_done *out, vls_write *w, vls_quarantine_row *row,
                      const valise_commit *item, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    const vls_ledger *ledger = w->ledger;
    vls_quarantine_row before = *row;
    valise_commit copy = {0};
    int rc = vls_look_value(&value, ledger, item, err);

    if (rc == 0 && !value)
        rc = vls_look_fail_erased(item->key, err);
    if (rc == 0)
        rc = vls_commit_copy(&copy, item, w->call->arena, err);
    if (rc == 0)
        rc = vls_taints_move(&copy.taints, &item->backpack, &w->head.id, w->call->arena, err);
    if (rc < 0)
        return rc;
    w->commit.entry = row->seq;
    w->commit.value = copy.value;
    w->commit.summary = copy.summary;
    w->commit.namespace_name = copy.namespace_name;
    w->commit.tags = copy.tags;
    w->commit.read = copy.read;
    w->commit.write = copy.write;
    w->commit.taints = copy.taints;
    row->released = w->head.last + 1;
    rc = ledger->ops->row_put(ledger->self, &vls_bag_quarantines, row, err);
    if (rc < 0)
        return rc;
    rc = vls_write_append(w, value, err);
    if (rc < 0)
        (void)ledger->ops->row_put(ledger->self, &vls_bag_quarantines, &before, NULL);
    else
        vls_write_done(out, w);
    return rc;
}

static int release_entry(vls_done *out, vls_write *w, valise_str key, const search *s,
                         valise_error *err)
{
    valise_error missing = VALISE_ERROR_INIT;
    vls_quarantine_row row;
    valise_commit item;
    int rc = vls_write_find(w, key, VALISE_ACTION_RELEASE, err), found;

    if (rc < 0)
        return rc;
    found = get_entry(&row, &item, w, s, &missing);
    if (found < 0 && err)
        *err = missing;
    if (found < 0 && found != VALISE_E_NOT_FOUND)
        return found;
    rc = vls_write_check(w, "release", found == 0 ? &item : NULL,
                         found == 0 ? item.namespace_name : vls_scope_namespace(w->scope), err);
    if (rc == 0)
        *out = (vls_done){.denied = true};
    if (rc <= 0)
        return rc;
    if (found < 0)
        return found;
    if (w->live) {
        (void)vls_fail(err, VALISE_E_EXISTS,
                       "the active state already has '%.*s', with version %lld",
                       VALISE_STR_ARG(key), (long long)w->newest.version);
        vls_hint(err, "remove or quarantine it first");
        return VALISE_E_EXISTS;
    }
    return bring_back(out, w, &row, &item, err);
}

int vls_bag_release(vls_done *out, const vls_ledger *ledger, vls_scope *scope, valise_str key,
                    int64_t seq, valise_str node_id, valise_str node_name,
                    const vls_change_call *call, valise_error *err)
{
    vls_write w;
    search s = {.ledger = ledger, .key = key, .wanted = seq};
    int rc = vls_bag_check_key(key, err);

    if (rc == 0)
        rc = choose_entry(&s, err);
    if (rc == 0)
        rc = vls_write_begin(&w, ledger, scope, node_id, node_name, call, err);
    if (rc < 0)
        return rc;
    rc = release_entry(out, &w, key, &s, err);
    vls_write_end(&w);
    return rc;
}

/* ---- seeing ---- */

typedef struct listing {
    const vls_ledger *ledger;
    const valise_env *env;
    vls_ledger_head head;
    valise_item_fn *fn;
    void *arg;
} listing;

/* The commit that put it there, with the value of the item that it holds. */
static int list_entry(void *arg, const void *row, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(blob) valise_blob *value = NULL;
    const vls_quarantine_row *entry = row;
    const listing *l = arg;
    const vls_ledger *ledger = l->ledger;
    valise_commit commit = {0}, item;
    int rc;

    if (!vls_entry_is_there(entry, l->head.last))
        return 0;
    vls_arena_init(&arena, l->env, SIZE_MAX);
    ledger->ops->enter(ledger->self);
    rc = entry->item == 0
             ? 0
             : ledger->ops->commit(&item, ledger->self, &entry->item_backpack, entry->item, err);
    if (rc == 1)
        rc = vls_look_value(&value, ledger, &item, err);
    if (rc >= 0)
        rc = ledger->ops->commit(&commit, ledger->self, vls_entry_backpack(entry),
                                 vls_entry_seq(entry), err);
    if (rc == 1)
        rc = vls_commit_copy(&commit, &commit, &arena, err);
    else if (rc == 0) /* dropped from history since: what the row says */
        commit = (valise_commit){.backpack = *vls_entry_backpack(entry),
                                 .seq = vls_entry_seq(entry),
                                 .action = VALISE_ACTION_QUARANTINE,
                                 .key = entry->key};
    ledger->ops->leave(ledger->self);
    commit.entry = entry->seq;
    return rc < 0 ? rc : l->fn(l->arg, &(valise_item){&commit, value}, err);
}

int vls_bag_quarantined(const vls_ledger *ledger, vls_scope *scope, valise_item_fn *fn, void *arg,
                        valise_error *err)
{
    listing l = {.ledger = ledger, .env = vls_scope_env(scope), .fn = fn, .arg = arg};
    int rc;

    if (!vls_scope_is_owner(scope))
        return vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not see the quarantine",
                        VALISE_STR_ARG(vls_scope_node_id(scope)));
    rc = vls_look_head(&l.head, ledger, err);
    return rc < 0 ? rc
                  : ledger->ops->each_row(ledger->self, &vls_bag_quarantines, list_entry, &l, err);
}
