/* node_path.c -- which node is meant: a whole id, or the end of one.
 *
 * In flows the id of a node is its path, "agent/search/chat". Who looks at the past may write the
 * end of it, "chat" or "search/chat". An id that is there as it stands is always that one: it is
 * looked up, and only where it is not found everything is looked through for those that end in it.
 * Who acts, or says what a node may, writes the whole id: a node that is new must not become
 * another one. */
#include "backpack/look.h"

#define CANDIDATES 8 /* that are told */

typedef struct search {
    valise_str id;
    vls_arena *arena;
    bool exact;
    valise_str found[CANDIDATES];
    size_t count;
    bool more; /* there are more than that */
} search;

static bool ends_in(valise_str path, valise_str id)
{
    return path.len > id.len && path.ptr[path.len - id.len - 1] == '/' &&
           vls_str_equal(vls_str_from(path, path.len - id.len), id);
}

/* 1: nothing more is to be found out. */
static int note(search *s, valise_str path, valise_error *err)
{
    int rc;

    if (vls_str_equal(path, s->id)) {
        s->exact = true;
        return 1;
    }
    if (!ends_in(path, s->id))
        return 0;
    for (size_t i = 0; i < s->count; i++) {
        if (vls_str_equal(s->found[i], path))
            return 0;
    }
    if (s->count == CANDIDATES) {
        s->more = true;
        return 0;
    }
    rc = vls_arena_dup(&s->found[s->count], s->arena, path, err);
    s->count += rc == 0;
    return rc;
}

static int on_run(void *arg, const void *row, valise_error *err)
{
    return note(arg, ((const vls_run_row *)row)->node_id, err);
}

static int on_permission(void *arg, const void *row, valise_error *err)
{
    return note(arg, ((const vls_permission_row *)row)->node_id, err);
}

static int on_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    return note(arg, commit->node_id, err);
}

static int on_read(void *arg, const vls_ledger_read *read, valise_error *err)
{
    return note(arg, read->node_id, err);
}

/* Is it there as it stands? 1, or 0 when it takes more to say so. */
static int is_there(const vls_ledger *ledger, valise_str id, bool runs, valise_error *err)
{
    vls_permission_row row = {.node_id = id};
    vls_ledger_head head;
    int rc;

    ledger->ops->enter(ledger->self);
    rc = ledger->ops->ran(ledger->self, id, err);
    if (rc == 0 && !runs) {
        rc = ledger->ops->head(&head, ledger->self, err);
        row.backpack = head.id;
        if (rc == 0)
            rc = ledger->ops->row_get(&row, ledger->self, &vls_bag_permissions, err);
    }
    ledger->ops->leave(ledger->self);
    return rc;
}

static int look_through(search *s, const vls_ledger *ledger, bool runs, valise_error *err)
{
    int rc = ledger->ops->each_row(ledger->self, &vls_bag_runs, on_run, s, err);

    if (rc != 0 || runs)
        return rc;
    rc = ledger->ops->each_row(ledger->self, &vls_bag_permissions, on_permission, s, err);
    if (rc == 0)
        rc = ledger->ops->each_commit(ledger->self, 1, INT64_MAX, true, on_commit, s, err);
    return rc != 0 ? rc : ledger->ops->each_read(ledger->self, on_read, s, err);
}

/* Which there are is for the owner: a node hears only that it must say more. */
static int fail_several(const search *s, const vls_scope *scope, valise_error *err)
{
    char list[CANDIDATES * (VLS_BAG_NODE_MAX + 2) + 8] = "";
    size_t len = 0;

    for (size_t i = 0; i < s->count && vls_scope_is_owner(scope); i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%.*s", i ? ", " : ": ",
                                VALISE_STR_ARG(s->found[i]));
    (void)vls_fail(err, VALISE_E_CONFLICT, "the ids of several nodes end in '%.*s'%s%s",
                   VALISE_STR_ARG(s->id), list, s->more && len > 0 ? ", ..." : "");
    vls_hint(err, "write more of its path");
    return VALISE_E_CONFLICT;
}

int vls_bag_find_node(valise_str *out, const vls_ledger *ledger, const vls_scope *scope,
                      valise_str id, bool runs, vls_arena *arena, valise_error *err)
{
    search s = {.id = id, .arena = arena};
    int rc = id.len > VLS_BAG_NODE_MAX ? 1 : is_there(ledger, id, runs, err);

    if (rc == 0)
        rc = look_through(&s, ledger, runs, err);
    if (rc < 0)
        return rc;
    if (!s.exact && s.count > 1)
        return fail_several(&s, scope, err);
    *out = !s.exact && s.count == 1 ? s.found[0] : id;
    return 0;
}
