/* clear.c -- remove what carries a tag or lies in a namespace: one commit each. */
#include "backpack/decide_impl.h"

#include "base/glob.h"
#include "base/vec.h"

typedef struct clearing {
    vls_arena *arena;
    valise_str tag;
    vls_vec(valise_str) keys;
    vls_vec(vls_done) done;
    vls_vec(valise_str) denied; /* of those that can be read */
} clearing;

static bool has_tag(const valise_commit *commit, valise_str tag)
{
    return tag.len == 0 || vls_bag_has_name(commit->tags, tag);
}

static int collect(void *arg, const valise_commit *commit, valise_error *err)
{
    clearing *c = arg;
    valise_str key;
    int rc;

    if (!has_tag(commit, c->tag))
        return 0;
    rc = vls_arena_dup(&key, c->arena, commit->key, err);
    if (rc == 0 && !vls_vec_push(&c->keys, c->arena->env, key))
        rc = vls_fail_memory(err);
    return rc;
}

/* Who may not read it does not learn its name either. */
static int deny_some(const vls_scope *scope, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_DENIED, "node '%.*s' may not remove some of these items",
                   VALISE_STR_ARG(vls_scope_node_id(scope)));
    vls_hint(err, "clear them as the owner of the backpack, or let the owner allow it");
    return VALISE_E_DENIED;
}

/* Is it still what was looked for, and may it go? Those that may not are taken off the list. */
static int check_all(clearing *c, vls_write *w, valise_str pattern, valise_error *err)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < c->keys.len && rc >= 0; i++) {
        rc = vls_write_find(w, c->keys.ptr[i], VALISE_ACTION_DELETE, err);
        if (rc < 0 || !w->live || !has_tag(&w->newest, c->tag) ||
            (pattern.len > 0 &&
             !vls_glob_match(&vls_glob_dotted, pattern, w->newest.namespace_name)))
            continue;
        rc = vls_write_check(w, "remove", &w->newest, w->newest.namespace_name, err);
        if (rc == VALISE_E_DENIED &&
            !vls_scope_may_read(w->scope, w->newest.key, &w->newest, &w->newest))
            rc = deny_some(w->scope, err);
        if (rc == 1)
            c->keys.ptr[kept++] = c->keys.ptr[i];
        else if (rc == 0 && vls_scope_may_read(w->scope, w->newest.key, &w->newest, &w->newest) &&
                 !vls_vec_push(&c->denied, c->arena->env, c->keys.ptr[i]))
            rc = vls_fail_memory(err);
    }
    c->keys.len = kept;
    return rc < 0 ? rc : 0;
}

static int remove_all(clearing *c, vls_write *w, valise_error *err)
{
    int rc = 0;

    if (!vls_vec_reserve(&c->done, c->arena->env, c->keys.len))
        return vls_fail_memory(err);
    for (size_t i = 0; i < c->keys.len && rc == 0; i++) {
        rc = vls_write_find(w, c->keys.ptr[i], VALISE_ACTION_DELETE, err);
        if (rc == 0)
            rc = vls_write_keep_item(w, &w->newest, err);
        if (rc == 0)
            rc = vls_write_append(w, NULL, err);
        if (rc == 0)
            vls_write_done(&c->done.ptr[c->done.len++], w);
    }
    return rc;
}

static int clear(clearing *c, const vls_ledger *ledger, vls_scope *scope, valise_str pattern,
                 valise_str node_id, valise_str node_name, const vls_change_call *call,
                 valise_error *err)
{
    vls_write w;
    int rc = pattern.len > 0 ? ledger->ops->each_named(ledger->self, pattern, collect, c, err)
                             : ledger->ops->each_item(ledger->self, collect, c, err);

    if (rc == 0)
        rc = vls_write_begin(&w, ledger, scope, node_id, node_name, call, err);
    if (rc < 0)
        return rc;
    rc = check_all(c, &w, pattern, err);
    if (rc == 0)
        rc = remove_all(c, &w, err);
    vls_write_end(&w);
    return rc;
}

/* Everything at once is nothing that happens by mistake. */
static int refuse_all(valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID,
                   "no tag and no namespace given: nothing says what to clear");
    vls_hint(err, "give --tag TAG or --namespace PATTERN; '**' is every namespace");
    return VALISE_E_INVALID;
}

int vls_bag_clear(const vls_ledger *ledger, vls_scope *scope, valise_str tag, valise_str pattern,
                  valise_str node_id, valise_str node_name, const vls_change_call *call,
                  vls_done_fn *fn, void *arg, valise_error *err)
{
    clearing c = {.arena = call->arena, .tag = tag};
    int rc = 0;

    if (tag.len == 0 && pattern.len == 0)
        return refuse_all(err);
    if (pattern.len > 0)
        rc = vls_glob_check(&vls_glob_dotted, pattern, err);
    if (rc == 0)
        rc = clear(&c, ledger, scope, pattern, node_id, node_name, call, err);
    for (size_t i = 0; i < c.done.len; i++) {
        int told = fn(arg, &c.done.ptr[i], rc == 0 ? err : NULL);
        rc = rc == 0 ? told : rc;
    }
    for (size_t i = 0; i < c.denied.len && rc == 0; i++)
        rc = fn(arg,
                &(vls_done){.denied = true,
                            .commit = {.action = VALISE_ACTION_DELETE, .key = c.denied.ptr[i]}},
                err);
    vls_vec_release(&c.denied, call->arena->env);
    vls_vec_release(&c.keys, call->arena->env);
    vls_vec_release(&c.done, call->arena->env);
    return rc;
}
