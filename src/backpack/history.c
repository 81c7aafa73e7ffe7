/* history.c -- commits and reads, by filter; blame.
 *
 * Commits come from the ledger in the order of their seq. Reads have a log of their own, newest
 * first; where both are asked for, the reads that match are collected first and go between the
 * commits by time. At the same time a read comes after the commit that it has read. */
#include "backpack/look_impl.h"

#include "base/glob.h"
#include "base/uuid.h"
#include "base/vec.h"

#define BIT(action) (1u << (action))
#define WRITES (~BIT(VALISE_ACTION_UNPACK))

typedef struct search {
    const vls_ledger *ledger;
    vls_scope *scope;
    const valise_history *filter;
    valise_str node;    /* of the filter, in full; "": any */
    unsigned actions;   /* that are wanted, of commits */
    bool reads, denied; /* reads are, and writes that were denied */
    valise_uuid id;     /* of the backpack */
    int64_t edge;
    int64_t left; /* how many more */
    valise_commit_fn *fn;
    void *arg;
    vls_arena arena;
    vls_vec(valise_commit) found; /* reads in the order they are to be told, or versions of a key */
    size_t told;                  /* of the reads */
} search;

/* ---- what matches ---- */

static bool matches(const search *s, const valise_commit *c)
{
    const valise_history *f = s->filter;

    return (s->node.len == 0 || vls_str_equal(s->node, c->node_id)) &&
           (f->key.len == 0 || vls_str_equal(f->key, c->key)) &&
           (f->tag.len == 0 || vls_bag_has_name(c->tags, f->tag)) &&
           (f->namespace_pattern.len == 0 ||
            (c->namespace_name.ptr &&
             vls_glob_match(&vls_glob_dotted, f->namespace_pattern, c->namespace_name))) &&
           (f->since == VALISE_NONE || c->time >= f->since) &&
           (f->until == VALISE_NONE || c->time <= f->until) &&
           (f->first == 0 || c->seq >= f->first) && (f->last == 0 || c->seq <= f->last);
}

/* One that passes; 1 ends the walk because it is enough. */
static int tell(search *s, const valise_commit *commit, valise_error *err)
{
    int rc = s->fn(s->arg, commit, err);

    if (rc == 0 && s->left > 0 && --s->left == 0)
        rc = 1;
    return rc;
}

/* ---- reads ---- */

static int collect_read(void *arg, const vls_ledger_read *read, valise_error *err)
{
    search *s = arg;
    valise_commit c = {.seq = read->seq,
                       .backpack = s->id,
                       .time = read->time,
                       .action = read->action,
                       .key = read->key,
                       .version = read->version,
                       .node_id = read->node_id,
                       .node_name = read->node_name,
                       .namespace_name = read->namespace_name,
                       .tags = read->tags,
                       .outcome = read->outcome};
    bool is_read = read->action == VALISE_ACTION_UNPACK;
    int rc;

    if (is_read ? !s->reads : (!s->denied || !(s->actions & BIT(read->action))))
        return 0;
    if (!matches(s, &c))
        return 0;
    if (!vls_scope_is_owner(s->scope) && !vls_str_equal(read->node_id, vls_scope_node_id(s->scope)))
        return 0;
    rc = vls_commit_copy(&c, &c, &s->arena, err);
    if (rc == 0 && !vls_vec_push(&s->found, s->arena.env, c))
        rc = vls_fail_memory(err);
    return rc;
}

static void reverse(search *s)
{
    for (size_t i = 0; i < s->found.len / 2; i++) {
        valise_commit *a = &s->found.ptr[i], *b = &s->found.ptr[s->found.len - 1 - i], c = *a;
        *a = *b;
        *b = c;
    }
}

/* The reads that come before this commit, in the order that was asked for. */
static int tell_reads(search *s, const valise_commit *next, valise_error *err)
{
    int rc = 0;

    while (rc == 0 && s->told < s->found.len) {
        const valise_commit *r = &s->found.ptr[s->told];
        if (next) {
            bool later = r->time > next->time || (r->time == next->time && r->seq >= next->seq);
            if (later == s->filter->oldest_first)
                break;
        }
        s->told++;
        rc = tell(s, r, err);
    }
    return rc;
}

/* ---- commits ---- */

static int on_commit(void *arg, const valise_commit *commit, valise_error *err)
{
    search *s = arg;
    valise_commit shown;
    int rc;

    if (!(s->actions & BIT(commit->action)) || !matches(s, commit))
        return 0;
    rc = vls_look_show(NULL, &shown, s->ledger, s->scope, commit, err);
    if (rc <= 0)
        return rc;
    rc = tell_reads(s, commit, err);
    return rc != 0 ? rc : tell(s, &shown, err);
}

static int collect_version(void *arg, const valise_commit *commit, valise_error *err)
{
    search *s = arg;
    valise_commit copy = {0};
    int rc;

    if (!vls_uuid_equal(&commit->backpack, &s->id) || commit->seq <= s->edge)
        return 0;
    rc = vls_commit_copy(&copy, commit, &s->arena, err);
    if (rc == 0 && !vls_vec_push(&s->found, s->arena.env, copy))
        rc = vls_fail_memory(err);
    return rc;
}

/* With a key only its versions are looked at. */
static int walk_versions(search *s, valise_error *err)
{
    int rc = s->ledger->ops->each_version(s->ledger->self, s->filter->key, collect_version, s, err);

    if (s->filter->oldest_first)
        reverse(s);
    s->told = s->found.len; /* these are no reads */
    for (size_t i = 0; i < s->found.len && rc == 0; i++)
        rc = on_commit(s, &s->found.ptr[i], err);
    return rc;
}

static int walk_commits(search *s, valise_error *err)
{
    const valise_history *f = s->filter;

    return s->ledger->ops->each_commit(s->ledger->self, f->first > 0 ? f->first : 1,
                                       f->last > 0 ? f->last : INT64_MAX, !f->oldest_first,
                                       on_commit, s, err);
}

static int walk_both(search *s, valise_error *err)
{
    int rc = s->ledger->ops->each_read(s->ledger->self, collect_read, s, err);

    if (s->filter->oldest_first)
        reverse(s);
    if (rc == 0 && s->actions != 0)
        rc = walk_commits(s, err);
    return rc != 0 ? rc : tell_reads(s, NULL, err);
}

static int walk(search *s, valise_error *err)
{
    if (s->reads || s->denied)
        return walk_both(s, err);
    return s->filter->key.len > 0 ? walk_versions(s, err) : walk_commits(s, err);
}

static int run(search *s, valise_error *err)
{
    vls_ledger_head head;
    int rc = 0;

    s->node = s->filter->node_id;
    if (s->filter->namespace_pattern.len > 0)
        rc = vls_glob_check(&vls_glob_dotted, s->filter->namespace_pattern, err);
    if (rc == 0 && s->filter->limit < 0)
        rc = vls_fail(err, VALISE_E_INVALID, "a limit must not be negative");
    if (rc == 0)
        rc = vls_look_head(&head, s->ledger, err);
    if (rc != 0)
        return rc;
    s->id = head.id;
    s->edge = head.edge;
    s->left = s->filter->limit;
    vls_arena_init(&s->arena, vls_scope_env(s->scope), SIZE_MAX);
    if (s->node.len > 0)
        rc = vls_bag_find_node(&s->node, s->ledger, s->scope, s->node, false, &s->arena, err);
    if (rc == 0)
        rc = walk(s, err);
    vls_vec_release(&s->found, s->arena.env);
    vls_arena_release(&s->arena);
    return rc == 1 && s->filter->limit > 0 && s->left == 0 ? 0 : rc;
}

int vls_bag_history(const vls_ledger *ledger, vls_scope *scope, const valise_history *filter,
                    valise_commit_fn *fn, void *arg, valise_error *err)
{
    unsigned actions = filter->actions != 0 ? filter->actions : WRITES;
    search s = {.ledger = ledger,
                .scope = scope,
                .filter = filter,
                .actions = actions & WRITES,
                .reads = (actions & BIT(VALISE_ACTION_UNPACK)) != 0,
                .denied = (actions & BIT(VALISE_ACTION_UNPACK)) != 0,
                .fn = fn,
                .arg = arg};

    return run(&s, err);
}

int vls_bag_access_log(const vls_ledger *ledger, vls_scope *scope, valise_str node_id, bool writes,
                       valise_commit_fn *fn, void *arg, valise_error *err)
{
    valise_history filter = VALISE_HISTORY_INIT;
    search s = {.ledger = ledger,
                .scope = scope,
                .filter = &filter,
                .actions = writes ? WRITES : 0,
                .reads = !writes,
                .denied = writes,
                .fn = fn,
                .arg = arg};

    filter.node_id = node_id;
    filter.oldest_first = true;
    return run(&s, err);
}

/* ---- blame ---- */

typedef struct blame {
    const vls_ledger *ledger;
    vls_scope *scope;
    valise_commit_fn *fn;
    void *arg;
    bool over;
} blame;

static int on_version(void *arg, const valise_commit *commit, valise_error *err)
{
    blame *b = arg;
    valise_commit shown;
    int rc;

    if (commit->action == VALISE_ACTION_DELETE) {
        b->over = true;
        return 1;
    }
    rc = vls_look_show(NULL, &shown, b->ledger, b->scope, commit, err);
    return rc == 1 ? b->fn(b->arg, &shown, err) : rc;
}

int vls_bag_blame(const vls_ledger *ledger, vls_scope *scope, valise_str key, int64_t now,
                  valise_commit_fn *fn, void *arg, valise_error *err)
{
    blame b = {ledger, scope, fn, arg, false};
    valise_commit newest;
    vls_ledger_head head;
    int rc = vls_bag_check_key(key, err), sees = 0;
    bool live = false;

    if (rc == 0)
        rc = vls_scope_enter(&head, scope, ledger, err);
    if (rc != 0)
        return rc;
    rc = ledger->ops->newest(&newest, ledger->self, key, err);
    live = rc == 1 && vls_commit_is_live(&newest);
    sees = live ? vls_scope_sees(scope, ledger, &newest, err)
                : vls_scope_may_read(scope, key, NULL, NULL);
    if (rc >= 0 && sees == 0)
        vls_look_denied(ledger, scope, key, now);
    vls_scope_leave(ledger);
    if (rc < 0 || sees < 0)
        return rc < 0 ? rc : sees;
    if (sees == 0 && !head.lenient)
        return vls_scope_deny(scope, "read", key, err);
    if (sees == 0 || !live) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no '%.*s' in the backpack",
                       VALISE_STR_ARG(key));
        vls_hint(err, "'valise bp ls' lists what is there");
        return VALISE_E_NOT_FOUND;
    }
    rc = ledger->ops->each_version(ledger->self, key, on_version, &b, err);
    return b.over && rc == 1 ? 0 : rc;
}
